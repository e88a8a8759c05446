// Mask: what is object and what is not.
import { bytes, put } from "./api.js";
import { h, head, hint, segments, slider, svg, toast } from "./dom.js";
import { Easel, photoChooser } from "./easel.js";
import { go } from "./main.js";
import { drawMask, Painting } from "./painting.js";
import { act, store, take } from "./store.js";
import { showSurface } from "./surface3d.js";

const TOOLS = [["brush", "Brush", "✎"], ["eraser", "Eraser", "◌"], ["outline", "Outline", "⬠"],
  ["colour", "Colour", "◍"]];
const HELP = {
  brush: "Paint over what belongs to the object.",
  eraser: "Paint over what does not belong to it.",
  outline: "Click corner after corner; double click, or Enter, closes the outline. Escape gives up.",
  colour: "Click a spot: everything connected of that colour follows.",
};
let easel = null, painting, overlay, marks, number = 0, tool = "brush", adds = true, size = 18;
let tolerance = 8, strength = 0.62, corners = [], before = null, saving = 0, parts = {}, asking = false;

export function enter(stage, panel) {
  const { session } = store.state;
  showSurface(false);
  [number, corners, asking] = [0, [], false];
  const [width, height] = session.view;
  painting = new Painting(width, height);
  overlay = h("canvas", { class: "overlay", width, height, tabIndex: 0, id: "paint",
    "aria-label": "The mask on the photo. Paint with the pointer." });
  marks = svg("svg", { viewBox: `0 0 ${width} ${height}` });
  easel = new Easel(stage, session.view, overlay, marks);
  easel.show("/photos/0/view.jpg");
  listen();
  drawPanel(panel, session);
}

export function leave() {
  flush();
  easel.close();
  document.removeEventListener("keydown", keys);
}

export function next() {
  return { text: "Next: camera", go: () => go("camera") };
}

export async function update(state) {
  const { session, reading } = state;
  if (!session) return;
  parts.propose.disabled = Boolean(reading);
  parts.propose.textContent = reading ? "Finding the object …" : "Propose automatically";
  parts.source.textContent = `${(100 * session.mask.share).toFixed(1)} % of the frame is object (${session.mask.source}).`;
  if (session.mask.number !== number && !before && !asking) await reload();
}

async function reload() {
  asking = true;
  try {
    const { buffer, headers } = await bytes("/api/mask");
    number = Number(headers.get("x-mask-number"));
    const kept = painting.past;
    painting.load(new Uint8Array(buffer));
    painting.past = kept;
    redraw();
  } finally { asking = false; }
}

function drawPanel(panel, session) {
  parts = {
    tools: h("div", { class: "tools", role: "group", "aria-label": "Tools" }, TOOLS.map(([name, text, sign]) => {
      const button = h("button", { type: "button", id: `tool-${name}`, onclick: () => chooseTool(name) },
        h("b", {}, sign), text);
      button.dataset.tool = name;
      return button;
    })),
    help: h("p", { class: "faint" }),
    size: slider("Size of the brush", { min: 1, max: 120, step: 1, value: size, said: (x) => `${x} px` }, (x) => { size = x; }),
    tolerance: slider("How alike colours must be", { min: 1, max: 40, step: 1, value: tolerance, said: (x) => `${x} %` }, (x) => { tolerance = x; }),
    mode: segments("Outline and colour", [["add", "adds to the object"], ["take", "takes away"]],
      (value) => { adds = value === "add"; parts.mode.set(value); }),
    undo: h("button", { type: "button", id: "undo", disabled: true, onclick: undo, title: "Ctrl-Z" }, "↶ Undo"),
    propose: h("button", { type: "button", id: "propose", onclick: () => { flush(); act("/api/mask/propose"); } },
      "Propose automatically"),
    source: h("p", { class: "faint", id: "mask-share" }),
  };
  parts.mode.set(adds ? "add" : "take");
  const photo = photoChooser(session.facts.names, (index) => easel.show(`/photos/${index}/view.jpg`));
  panel.replaceChildren(
    head("Mask", "Only the object counts. What is tinted is left out; look at it over several photos."),
    h("div", { class: "group" }, parts.propose, parts.source),
    h("div", { class: "group" }, parts.tools, parts.help, parts.size, parts.tolerance, parts.mode,
      h("div", { class: "row" }, parts.undo,
        h("button", { type: "button", class: "plain", onclick: invert }, "Invert"))),
    h("div", { class: "group" }, h("h3", {}, "Seen over"), photo,
      slider("Tint", { min: 0, max: 1, step: 0.02, value: strength, said: (x) => `${Math.round(100 * x)} %` },
        (x) => { strength = x; redraw(); })));
  chooseTool(tool);
}

function chooseTool(name) {
  tool = name;
  corners = [];
  drawCorners();
  for (const button of parts.tools.children) {
    button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  }
  parts.help.textContent = HELP[name];
  parts.size.hidden = !["brush", "eraser"].includes(name);
  parts.tolerance.hidden = name !== "colour";
  parts.mode.hidden = ["brush", "eraser"].includes(name);
}

function redraw() {
  drawMask(overlay, painting, strength);
  parts.undo.disabled = !painting.past.length;
}

function listen() {
  overlay.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const place = easel.place(event);
    if (tool === "outline") { corner(place); return; }
    painting.remember();
    if (tool === "colour") {
      painting.flood(place, easel.pixels(), tolerance, adds ? 1 : 0);
      changed();
      return;
    }
    overlay.setPointerCapture(event.pointerId);
    before = place;
    painting.stroke(place, place, size, tool === "brush" ? 1 : 0);
    redraw();
  });
  overlay.addEventListener("pointermove", (event) => {
    if (!before) return;
    const place = easel.place(event);
    painting.stroke(before, place, size, tool === "brush" ? 1 : 0);
    before = place;
    redraw();
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    overlay.addEventListener(kind, () => { if (before) { before = null; changed(); } });
  }
  overlay.addEventListener("dblclick", close);
  document.addEventListener("keydown", keys);
}

function keys(event) {
  if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.key.length === 1) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") undo();
  else if (event.key === "Enter" && corners.length && event.target.tagName !== "BUTTON") close();
  else if (event.key === "Escape" && corners.length) { corners = []; drawCorners(); }
  else if (event.key === "[" || event.key === "]") {
    size = Math.min(Math.max(Math.round(size * (event.key === "]" ? 1.25 : 0.8)), 1), 120);
    parts.size.set(size);
  } else return;
  event.preventDefault();
}

function corner(place) {
  corners.push(place);
  drawCorners();
}

function close() {
  if (corners.length < 3) { if (corners.length) hint("An outline needs three corners."); return; }
  painting.remember();
  painting.polygon(corners, adds ? 1 : 0);
  corners = [];
  drawCorners();
  changed();
}

function drawCorners() {
  const radius = Math.max(painting.width, painting.height) / 150;
  marks.replaceChildren(...corners.slice(1).map(([x, y], index) => svg("line", { class: "span",
    x1: corners[index][0] + 0.5, y1: corners[index][1] + 0.5, x2: x + 0.5, y2: y + 0.5 })),
  ...corners.map(([x, y]) => svg("circle", { class: "mark", cx: x + 0.5, cy: y + 0.5, r: radius })));
}

function undo() {
  if (painting.undo()) changed();
}

function invert() {
  painting.remember();
  for (let i = 0; i < painting.mask.length; i++) painting.mask[i] = 1 - painting.mask[i];
  changed();
}

function changed() {
  redraw();
  parts.source.textContent = `${(100 * painting.share()).toFixed(1)} % of the frame is object (painted by hand).`;
  clearTimeout(saving);
  saving = setTimeout(save, 300);
}

function flush() {
  if (!saving) return;
  clearTimeout(saving);
  save();
}

async function save() {
  saving = 0;
  const based = number;
  number += 1;
  try {
    take(await put(`/api/mask?number=${based}`, painting.mask.slice()));
  } catch (error) {
    if (error.message !== "no answer") toast(error.message);
    number = 0;
    if (error.status === 409) { painting.past = []; await reload(); }
  }
}
