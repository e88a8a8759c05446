// Camera: which lens, and how large the object is.
import { h, head, slider, svg } from "./dom.js";
import { Easel, photoChooser } from "./easel.js";
import { go } from "./main.js";
import { choose, store } from "./store.js";
import { showSurface } from "./surface3d.js";

let easel, marks, points = [], parts = {};
const toSlider = (mm) => Math.log(mm / 12) / Math.log(600 / 12);
const fromSlider = (x) => { const mm = 12 * (600 / 12) ** x; return mm < 100 ? Math.round(mm) : 5 * Math.round(mm / 5); };

export function enter(stage, panel) {
  const { session } = store.state;
  showSurface(false);
  const [width, height] = session.view;
  marks = svg("svg", { viewBox: `0 0 ${width} ${height}` });
  const layer = h("canvas", { class: "overlay", width: 1, height: 1, id: "measure" });
  easel = new Easel(stage, session.view, layer, marks);
  easel.show("/photos/0/view.jpg");
  points = session.choices.scale_points ? pairs(session.choices.scale_points, session.factor) : [];
  layer.addEventListener("pointerdown", (event) => { if (!event.button) mark(easel.place(event)); });
  drawPanel(panel, session);
  drawMarks();
}

export function leave() { easel.close(); }

export function next() {
  return { text: "Next: first shape", go: () => go("shape") };
}

const pairs = ([x0, y0, x1, y1], factor) =>
  [[x0, y0], [x1, y1]].map(([x, y]) => [(x + 0.5) / factor - 0.5, (y + 0.5) / factor - 0.5]);

function option(value, title, text) {
  const input = h("input", { type: "radio", name: "camera", value, onchange: () => pick(value) });
  return h("label", { class: "choice" }, input, h("span", {}, title), h("small", {}, text));
}

function pick(value) {
  if (value === "focal" && !store.state.session.choices.focal_35mm) {
    choose(["focal_35mm"], Math.round(store.state.session.facts.focal_35mm || 50)).then(() => choose(["camera"], "focal"));
  } else choose(["camera"], value);
}

function drawPanel(panel, session) {
  const { facts } = session;
  const found = facts.camera_kind === "orthographic" ? "Parallel rays"
    : `${facts.focal_35mm.toFixed(0)} mm on 35 mm film`;
  parts.focal = slider("Focal length on 35 mm film", { min: 0, max: 1, step: 0.002, value: toSlider(facts.focal_35mm || 50),
    said: (x) => `${fromSlider(x)} mm` }, null, (x) => choose(["focal_35mm"], fromSlider(x)));
  parts.focal.input.id = "focal";
  parts.mm = h("input", { type: "number", min: 0, step: "any", placeholder: "mm", id: "millimetres",
    "aria-label": "Millimetres between the two points",
    onchange: () => choose(["scale_mm"], Number(parts.mm.value) > 0 ? Number(parts.mm.value) : null) });
  parts.told = h("p", { class: "faint" });
  panel.replaceChildren(
    head("Camera", "The lens decides how perspective bends what is seen. The files often say it."),
    h("div", { class: "group", role: "radiogroup", "aria-label": "Lens" },
      facts.lens_known ? option("found", `As the files say: ${found}`, `from ${facts.camera_source}`) : null,
      option("focal", "A focal length that I know", "On the lens, or in the camera’s data sheet."),
      option("orthographic", "Parallel rays", "Telecentric lens, scanner, or a very long lens from afar."),
      option(facts.lens_known ? "photos" : "found", "Let the photos decide", "Seven lenses are tried, and the result says what remains open.")),
    parts.focal,
    h("details", {}, h("summary", {}, "Intrinsics"), h("p", { class: "faint" }, intrinsics(facts))),
    h("div", { class: "group" }, h("h3", {}, "Real size (if you like)"),
      h("p", { class: "faint" }, "Click two points of the object in the photo and type how far apart they are. Then meshes are in millimetres."),
      h("div", { class: "row" }, parts.mm, h("span", {}, "mm apart"),
        h("button", { type: "button", class: "plain", onclick: forget }, "Forget")), parts.told),
    h("div", { class: "group" }, h("h3", {}, "Photo"),
      photoChooser(facts.names, (index) => easel.show(`/photos/${index}/view.jpg`))));
}

function intrinsics({ camera_kind: kind, camera_matrix: [[fu, , u], [, fv, v]], camera_source: source, lens_known: known }) {
  const middle = `middle of the image at ${u.toFixed(1)}, ${v.toFixed(1)} pixels`;
  if (kind === "orthographic") return `Parallel rays, ${middle} (from ${source}).`;
  const lens = `Focal length ${fu.toFixed(1)} × ${fv.toFixed(1)} pixels, ${middle}`;
  return known ? `${lens} (from ${source}).` : `${lens}. This is a guess: nothing says which lens it was.`;
}

export function update({ session }) {
  if (!session) return;
  const { choices } = session;
  for (const input of document.querySelectorAll("input[name=camera]")) input.checked = input.value === choices.camera;
  parts.focal.hidden = choices.camera !== "focal";
  if (choices.focal_35mm) parts.focal.set(toSlider(choices.focal_35mm));
  if (document.activeElement !== parts.mm) parts.mm.value = choices.scale_mm ?? "";
  parts.told.textContent = choices.scale_points && choices.scale_mm ? "The result will be in millimetres."
    : points.length === 2 ? "Now type the distance." : `${2 - points.length} point${points.length ? "" : "s"} to click.`;
  if (choices.scale_points) { points = pairs(choices.scale_points, session.factor); drawMarks(); }
}

function mark(place) {
  const { factor } = store.state.session;
  if (points.length === 2) points = [];
  points.push(place);
  drawMarks();
  if (points.length === 2) {
    const full = points.flat().map((x) => Math.round(100 * ((x + 0.5) * factor - 0.5)) / 100);
    choose(["scale_points"], full);
    parts.mm.focus();
  } else choose(["scale_points"], null);
}

function forget() {
  points = [];
  drawMarks();
  choose(["scale_points"], null).then(() => choose(["scale_mm"], null));
}

function drawMarks() {
  const radius = Math.max(easel.width, easel.height) / 110;
  const lines = points.length === 2 ? [svg("line", { class: "span", x1: points[0][0] + 0.5,
    y1: points[0][1] + 0.5, x2: points[1][0] + 0.5, y2: points[1][1] + 0.5 })] : [];
  marks.replaceChildren(...lines, ...points.map(([x, y]) =>
    svg("circle", { class: "mark", cx: x + 0.5, cy: y + 0.5, r: radius })));
}
