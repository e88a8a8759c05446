// Export: files for other programs, and the line that repeats all of it.
import { byId, h, head, toast } from "./dom.js";
import { store } from "./store.js";
import { showSurface } from "./surface3d.js";

const WORDS = {
  "report.html": ["Report", "One page to mail: turn it, relight it, all findings"],
  "mesh.glb": ["Mesh, GLB", "With colours; Blender, Windows, phones, the web"],
  "mesh.ply": ["Mesh, PLY", "MeshLab, CloudCompare"],
  "mesh.obj": ["Mesh, OBJ", "Nearly every program; take the two files below with it"],
  "mesh.mtl": ["Material of the OBJ", ""],
  "mesh_texture.png": ["Colours of the OBJ", ""],
  "depth.exr": ["Depth, EXR", "Exact values"],
  "normals.exr": ["Normals, EXR", "Exact values"],
  "albedo.exr": ["Albedo, EXR", "Colours without the light, linear"],
  "depth.png": ["Depth, PNG", "16 bit"],
  "normals.png": ["Normals, PNG", "16 bit, for game engines"],
  "albedo.png": ["Albedo, PNG", ""],
  "confidence.png": ["Confidence, PNG", ""],
  "openness.png": ["Openness, PNG", "Ambient occlusion"],
  "lighting.json": ["Light of every photo, JSON", ""],
  "lights.lp": ["Directions of the lights, LP", "For RTI programs"],
  "result.npz": ["Everything, NPZ", "For Python"],
  "run.json": ["Record of the run, JSON", ""],
};
const FIRST = ["report.html", "mesh.glb", "mesh.ply", "mesh.obj", "depth.exr", "normals.exr", "albedo.exr"];
let flat, panel, drawn = "", number = 0;

export function enter(stage, controls) {
  [flat, panel, drawn] = [stage, controls, ""];
  showSurface(false);
  byId("stage").classList.add("tall");
}

export function next() {
  return null;
}

export function update({ session }) {
  if (!session || !session.results.length) return;
  const key = `${session.folder} ${session.results.length} ${session.command} ${number}`;
  if (key === drawn) return;
  drawn = key;
  const result = session.results.find((one) => one.number === number) || session.results[session.results.length - 1];
  number = result.number;
  drawFiles(session, result);
  drawAbout(session, result);
}

const sized = (bytes) => bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(Math.round(bytes / 1e3), 1)} kB`;

function link(file) {
  const [title, text] = WORDS[file.name] || [file.name, ""];
  const report = file.name === "report.html";
  return h("a", { href: `/files/${file.key}${report ? "?download" : ""}`, download: file.name, "data-name": file.name },
    h("b", {}, title), h("span", {}, sized(file.bytes)), text ? h("small", {}, text) : null);
}

function drawFiles(session, result) {
  const first = result.files.filter((file) => FIRST.includes(file.name));
  const rest = result.files.filter((file) => !FIRST.includes(file.name));
  const select = h("select", { "aria-label": "Result", onchange: () => { number = Number(select.value); update(store.state); } },
    session.results.map((one) => h("option", { value: one.number }, `Result ${one.number} · ${one.method}${one.flipped ? ", flipped" : ""}`)));
  select.value = String(result.number);
  const report = result.files.find((file) => file.name === "report.html");
  panel.replaceChildren(...[
    head("Export", "Click a file to save a copy. All of them are in the result’s folder already."),
    session.results.length > 1 ? select : null,
    report ? h("a", { href: `/files/${report.key}`, target: "_blank", rel: "noopener", id: "open-report" }, "Open the report in a new tab") : null,
    h("div", { class: "files" }, first.map(link)),
    h("details", {}, h("summary", {}, "More files"), h("div", { class: "files" }, rest.map(link)))].filter(Boolean));
}

function copied(text) {
  navigator.clipboard.writeText(text).then(() => toast("Copied.", "good"),
    () => toast("Copying is not allowed here; mark the line and copy it."));
}

function drawAbout(session, result) {
  flat.replaceChildren(h("div", { class: "about" },
    h("h2", {}, session.facts.name),
    h("img", { src: `/results/${result.number}/pictures/shaded.jpg`, alt: "The shape under a lamp from the upper left" }),
    h("h3", {}, "Where it is"),
    h("p", { class: "faint" }, "The session with mask, camera and all choices is a folder that the command line understands:"),
    h("pre", { class: "command" }, session.folder),
    h("p", { class: "faint" }, "This result:"),
    h("pre", { class: "command" }, result.folder),
    h("h3", {}, "Repeat it without the studio"),
    h("p", { class: "faint" }, "This line computes this result again, with the mask and the photos that are chosen now."),
    h("pre", { class: "command", id: "command" }, result.command),
    h("div", {}, h("button", { type: "button", onclick: () => copied(result.command) }, "Copy the line"))));
}
