// The report's surface and its controls.
import { bytesOf, loadImage } from "./surface.js";
import { View } from "./view.js";

const byId = (id) => document.getElementById(id);
const surface = byId("surface");
const data = JSON.parse(byId("data").textContent);
byId("data").remove();
const lights = data.lights || [];
let fading = 0;

function say(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

function hint(text) {
  say(text);
  clearTimeout(fading);
  fading = setTimeout(() => say(""), 2600);
}

function onState(state) {
  surface.dataset.state = state;
  if (state === "lost") say("The graphics card was taken away; waiting for it.");
  else if (byId("notice").textContent.startsWith("The graphics card")) say("");
}

function stillInstead(text) {
  surface.dataset.state = "missing";
  byId("view").hidden = byId("ball").hidden = true;
  if (byId("still")) byId("still").hidden = false;
  say(text);
}

function look() {
  const chosen = Number(document.querySelector("input[name=look]:checked").value);
  return chosen === 0 && !data.paint ? 1 : chosen;
}

function takeControls(view) {
  const photo = Number(byId("lamp").value);
  view.follows = byId("follow").checked;
  view.set({
    look: look(),
    coefficients: photo >= 0 ? lights[photo].coefficients : null,
    strength: Number(byId("strength").value),
    ambient: Number(byId("ambient").value),
  });
}

function prepareControls() {
  const select = byId("lamp");
  lights.forEach((light, index) => {
    const option = document.createElement("option");
    option.value = String(index);
    option.textContent = "photo " + (index + 1) + ": " + light.name;
    select.append(option);
  });
  select.closest("label").hidden = lights.length === 0;
  if (!data.paint) {
    const [colours, clay] = document.querySelectorAll("input[name=look]");
    colours.disabled = true;
    colours.removeAttribute("checked");
    clay.setAttribute("checked", "");
    clay.checked = true;
  }
}

async function open() {
  if (!data.cells) {
    say("There is no depth with a camera: this is a still picture instead of the viewer.");
    return;
  }
  let view = null;
  const controls = byId("controls");
  const tell = {
    state: onState,
    hint,
    lit: () => { byId("lamp").value = "-1"; },
    reset: () => { controls.reset(); takeControls(view); },
  };
  try {
    view = new View(byId("view"), byId("ball"), tell);
  } catch (error) {
    const reason = error.message[0].toUpperCase() + error.message.slice(1);
    stillInstead(`${reason}: this is a still picture instead of the viewer.`);
    return;
  }
  try {
    const [bumps, paint] = await Promise.all(
      [data.bumps, data.paint].map((texture) => texture && loadImage(texture.address)));
    if (byId("still")) byId("still").hidden = true;
    for (const part of [byId("view"), byId("ball"), controls, byId("help")]) part.hidden = false;
    prepareControls();
    controls.addEventListener("input", () => takeControls(view));
    controls.addEventListener("submit", (event) => event.preventDefault());
    byId("again").addEventListener("click", () => view.reset());
    view.show({
      cells: bytesOf(data.cells),
      grid: data.grid,
      size: data.size,
      positions: new Uint16Array(bytesOf(data.positions).buffer),
      pixels: new Uint16Array(bytesOf(data.pixels).buffer),
      bumps: { image: bumps, span: data.bumps.span },
      paint: paint && { image: paint, span: data.paint.span },
    });
    takeControls(view);
  } catch (error) {
    stillInstead(`The viewer could not start (${error.message}): this is a still picture instead.`);
  }
}

open();
