// First shape: a balloon over the mask, seen at once.
import { h, head, slider } from "./dom.js";
import { go } from "./main.js";
import { choose, on, send, store } from "./store.js";
import { LOOKS, showOther, showSurface, view } from "./surface3d.js";

const USUAL = 0.15;
let parts = {}, number = 0, off = null, asked = null, waitingSince = 0;

export function enter(stage, panel) {
  showSurface(true);
  showOther(false);
  const shown = view();
  if (shown) shown.set({ look: LOOKS.clay, relief: 1, coefficients: null, ambient: 0.22 });
  off = on("frame", (scene) => { if (scene.kind === "balloon") take(scene); });
  parts.automatic = h("input", { type: "radio", name: "volume", value: "automatic",
    onchange: () => choose(["volume"], null) });
  parts.own = h("input", { type: "radio", name: "volume", value: "own",
    onchange: () => choose(["volume"], Number(parts.volume.input.value)) });
  parts.volume = slider("Volume", { min: 0, max: 0.37, step: 0.0025, value: USUAL, said: (x) => x.toFixed(3) },
    (x) => { parts.own.checked = true; ask(x); }, (x) => choose(["volume"], x));
  parts.volume.input.id = "volume";
  panel.replaceChildren(
    head("First shape", "Computing begins with a balloon over the mask. Automatic is right nearly always: several are tried, and the photos choose."),
    h("div", { class: "group", role: "radiogroup", "aria-label": "First shape" },
      h("label", { class: "choice" }, parts.automatic, h("span", {}, "Automatic"),
        h("small", {}, "Several volumes are tried; the one that explains the photos best is kept.")),
      h("label", { class: "choice" }, parts.own, h("span", {}, "By eye"),
        h("small", {}, "About as round as the object is."))),
    h("div", { class: "group" }, parts.volume, h("div", { class: "ends" }, h("span", {}, "flat"), h("span", {}, "round"))),
    h("p", { class: "faint" }, "Turn the balloon by dragging; it shows the side that the camera saw."));
  asked = null;
}

export function leave() { off(); }

export function next() {
  return { text: "Next: compute", go: () => go("solve") };
}

export function update({ session }) {
  if (!session) return;
  const { volume } = session.choices;
  parts.automatic.checked = volume === null;
  parts.own.checked = volume !== null;
  if (document.activeElement !== parts.volume.input) parts.volume.set(volume ?? USUAL);
  const key = `${session.folder} ${session.mask.number} ${volume} ${session.choices.camera} ${session.choices.focal_35mm}`;
  if (key !== asked) {
    asked = key;
    ask(volume ?? Number(parts.volume.input.value));
  }
}

function ask(volume) {
  number += 1;
  if (!waitingSince) waitingSince = performance.now();
  send({ kind: "volume", volume, number });
}

function take(scene) {
  if (!view()) return;
  view().show(scene);
  const { dataset } = document.getElementById("surface");
  dataset.balloon = scene.number;
  dataset.thickness = (scene.size[2] / Math.max(scene.size[0], scene.size[1])).toFixed(4);
  if (scene.number === number) waitingSince = 0;
}
