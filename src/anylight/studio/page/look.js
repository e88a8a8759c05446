// Look: turn it, relight it, compare it.
import { bytes, get, tried } from "./api.js";
import { profileCurve } from "./curve.js";
import { byId, finding, h, head, hint, segments, slider, svg } from "./dom.js";
import { photoChooser } from "./easel.js";
import { go } from "./main.js";
import { act, choose, store } from "./store.js";
import { both, drape, lamp, LOOKS, second, showOther, showSurface, view } from "./surface3d.js";
import { drawSwipe } from "./swipe.js";
import { unpacked } from "./unpack.js";

const VIEWS = [["colours", "Colours", "Colours under the lamp"], ["clay", "Shape", "The shape alone, as clay"],
  ["albedo", "Albedo", "Colours without any light"], ["normals", "Normals", "Which way the surface faces"],
  ["depth", "Depth", "Near is bright"], ["confidence", "Confidence", "White is certain"],
  ["openness", "Openness", "Dark parts see little of the sky"],
  ["error", "Error", "What the photos show and the surface does not: yellow is a twentieth of white"]];
let flat, panel, parts = {}, number = 0, rival = 0, shown = "colours", photo = 0, comparing = false;
let lights = {}, drawn = "", measuring = false, start = null, scenes = new Map(), lit = -1;

export function enter(stage, controls) {
  [flat, panel, drawn, measuring] = [stage, controls, "", false];
  lamp.listener = () => { lit = -1; if (parts.light) parts.light.value = "-1"; };
  if (view()) view().claims = claims;
  document.addEventListener("pointermove", stretch);
  document.addEventListener("pointerup", measure);
}

export function leave() {
  lamp.listener = null;
  showOther(false);
  byId("line").replaceChildren();
  byId("surface").classList.remove("drawing");
  if (view()) { view().claims = () => false; view().set({ relief: 1 }); }
  document.removeEventListener("pointermove", stretch);
  document.removeEventListener("pointerup", measure);
}

export function next() {
  return { text: "Next: export", go: () => go("export") };
}

const resultOf = (wanted) => store.state.session.results.find((one) => one.number === wanted);
const nameOf = (one) => `${one.number} · ${one.method}${one.flipped ? ", flipped" : ""}`;

export function update({ session }) {
  if (!session || !session.results.length) return;
  const key = `${session.folder} ${session.results.map((one) => one.number)}`;
  if (key === drawn) return;
  if (drawn.split(" ")[0] !== session.folder) scenes = new Map();
  drawn = key;
  number = session.results[session.results.length - 1].number;
  if (rival === number || !resultOf(rival)) rival = 0;
  drawPanel(session);
  showResult();
}

async function sceneOf(wanted) {
  const key = `${store.state.session.folder} ${wanted}`;
  if (!scenes.has(key)) {
    if (scenes.size > 3) scenes.delete(scenes.keys().next().value);
    scenes.set(key, unpacked((await bytes(`/results/${wanted}/scene`)).buffer));
  }
  return scenes.get(key);
}

async function showResult() {
  const result = resultOf(number);
  if (comparing) {
    showSurface(false);
    drawSwipe(flat, number, photo);
  } else {
    showSurface(true);
    showOther(Boolean(rival));
    const one = await tried(sceneOf(number));
    if (one && view()) { view().show(one); await dress(view(), number); }
    byId("label").textContent = nameOf(result);
    if (rival) byId("label2").textContent = nameOf(resultOf(rival));
    if (rival && second()) { second().show(await sceneOf(rival)); await dress(second(), rival); }
    byId("surface").dataset.result = number;
  }
  const list = await tried(get(`/results/${number}/lights`));
  lights[number] = list || [];
  relight();
  parts.findings.replaceChildren(...result.findings.map(finding));
}

async function dress(one, wanted) {
  const picture = { albedo: "albedo", depth: "depth", confidence: "confidence", openness: "openness", error: "error" }[shown];
  try {
    if (picture) await drape(one, `/results/${wanted}/pictures/${picture}.jpg`);
    else one.set({ look: LOOKS[shown] });
  } catch {
    hint(shown === "openness" ? "No shadows were found, so openness is not known." : "This result has no such map.");
    one.set({ look: LOOKS.clay });
  }
  byId("surface").dataset.look = shown;
}

function chooseView(name) {
  shown = name;
  parts.views.set(name);
  both((one) => dress(one, one === view() ? number : rival));
}

function relight() {
  const list = lights[number] || [];
  both((one) => one.set({ coefficients: lit >= 0 && list[lit] ? list[lit] : null,
    strength: Number(parts.strength.input.value), ambient: Number(parts.ambient.input.value) }));
}

function drawPanel(session) {
  const { results } = session;
  const result = resultOf(number);
  const has = (name) => result.files.some((file) => file.name === `${name}.png`);
  const views = VIEWS.filter(([name]) => !["confidence", "openness"].includes(name) || has(name));
  if (!views.some(([name]) => name === shown)) shown = "colours";
  parts.views = segments("View", views, chooseView);
  parts.views.set(shown);
  parts.light = h("select", { id: "light", "aria-label": "Light", onchange: () => { lit = Number(parts.light.value); relight(); } },
    h("option", { value: -1 }, "the lamp (drag the ball)"),
    result.photos.map((name, index) => h("option", { value: index }, `as in photo ${index + 1}: ${name}`)));
  parts.light.value = String(lit);
  parts.strength = slider("Strength", { min: 0, max: 2.5, step: 0.01, value: 1 }, relight);
  parts.ambient = slider("Fill light", { min: 0, max: 1, step: 0.01, value: 0.12 }, relight);
  parts.findings = h("ul", { class: "findings" });
  parts.mode = segments("What to look at", [["surface", "Surface"], ["photo", "Beside the photos"]], (mode) => {
    comparing = mode === "photo";
    parts.mode.set(mode);
    arrange();
    showResult();
  });
  parts.photo = h("div", { class: "group" }, h("h3", {}, "Photo"),
    photoChooser(result.photos, (index) => { photo = index; drawSwipe(flat, number, photo); }),
    h("p", { class: "faint" }, "Drag the edge: left the photo, right the same light on the computed surface."));
  parts.results = results.length > 1 ? h("div", { class: "group" }, h("h3", {}, "Result"), chooser("result", number, (chosen) => {
    number = chosen;
    if (rival === number) rival = 0;
    drawPanel(store.state.session);
    showResult();
  }), h("label", { class: "row" }, "beside it", chooser("rival", rival, (chosen) => { rival = chosen; showResult(); }, true))) : null;
  parts.heights = h("div", { id: "heights" });
  parts.measure = h("button", { type: "button", id: "measure-line", onclick: () => draw(!measuring) }, "Draw a line");
  parts.surface = h("div", { class: "group" }, h("h3", {}, "View"), parts.views,
    h("h3", {}, "Light"), parts.light, parts.strength, parts.ambient,
    h("p", { class: "faint" }, "Drag the ball to move the lamp; on the surface, the right button (or Shift) does it too. Light as in a photo is drawn softly, without cast shadows."),
    h("h3", {}, "Heights along a line"), h("div", { class: "row" }, parts.measure), parts.heights,
    h("h3", {}, "Hills or hollows?"),
    h("p", { class: "faint" }, "Under unknown light a shape and its counterpart can look alike. Preview it, then compute it."),
    h("div", { class: "row" },
      h("label", { class: "row" }, h("input", { type: "checkbox", id: "flip", onchange: (event) =>
        both((one) => one.set({ relief: event.target.checked ? -1 : 1 })) }), "Flip the view"),
      h("button", { type: "button", id: "flip-run", onclick: flipRun }, result.flipped ? "Compute unflipped" : "Compute flipped")));
  panel.replaceChildren(...[
    head("Look", `Computed in ${Math.round(result.seconds)} s from ${result.photos.length} photos${result.unit ? `, in ${result.unit}` : ""}${result.status === "stopped by the user" ? "; stopped early" : ""}.`),
    parts.results, parts.mode, parts.surface, parts.photo,
    h("details", { open: true }, h("summary", {}, "What to think of it"), parts.findings)].filter(Boolean));
  parts.mode.set(comparing ? "photo" : "surface");
  arrange();
}

function chooser(id, chosen, onChoose, none = false) {
  const select = h("select", { id, "aria-label": id === "rival" ? "Result beside it" : "Result",
    onchange: () => onChoose(Number(select.value)) },
  none ? h("option", { value: 0 }, "nothing") : null,
  store.state.session.results.filter((one) => !none || one.number !== number)
    .map((one) => h("option", { value: one.number }, nameOf(one))));
  select.value = String(chosen);
  return select;
}

function arrange() {
  parts.surface.hidden = comparing;
  parts.photo.hidden = !comparing;
}

async function flipRun() {
  const flipped = resultOf(number).flipped;
  await choose(["options", "method"], null);
  if (await choose(["settings", "default", "flip"], flipped ? null : true)) {
    if (await act("/api/run/start")) go("solve");
  }
}

function draw(wanted) {
  measuring = wanted;
  byId("surface").classList.toggle("drawing", wanted);
  parts.measure.textContent = wanted ? "Give up" : "Draw a line";
  if (wanted) hint("Drag a line over the surface.");
  else byId("line").replaceChildren();
}

function claims(event) {
  if (!measuring) return false;
  if (event.type === "pointerdown") {
    start = { event, place: view().pick(event.clientX, event.clientY) };
    if (!start.place) { hint("Begin on the surface."); start = null; }
    event.preventDefault();
  }
  return true;
}

function stretch(event) {
  if (!start) return;
  const box = byId("surface").getBoundingClientRect();
  const ends = { x1: start.event.clientX - box.left, y1: start.event.clientY - box.top,
    x2: event.clientX - box.left, y2: event.clientY - box.top };
  byId("line").replaceChildren(svg("line", ends), svg("line", ends));
}

async function measure(event) {
  if (!start) return;
  const place = view().pick(event.clientX, event.clientY);
  const from = start.place;
  start = null;
  if (!place) { hint("End on the surface."); return; }
  const [left, top] = view().scene.origin;
  const query = new URLSearchParams({ x0: from[0] + left, y0: from[1] + top, x1: place[0] + left, y1: place[1] + top });
  const profile = await tried(get(`/results/${number}/profile?${query}`));
  measuring = false;
  byId("surface").classList.remove("drawing");
  parts.measure.textContent = "Draw another line";
  if (!profile || profile.heights.length < 2) return;
  const known = profile.heights.filter((height) => height !== null);
  const span = Math.max(...known) - Math.min(...known);
  const far = Math.max(...profile.along.filter((one) => one !== null));
  parts.heights.replaceChildren(profileCurve(profile),
    h("p", { class: "faint" }, `${span.toPrecision(3)} ${profile.unit} high over ${far.toPrecision(3)} ${profile.unit}.`));
}
