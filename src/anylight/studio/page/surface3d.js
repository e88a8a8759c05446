// The one view in three dimensions, shared by the steps that need it, and a second beside it.
import { loadImage } from "./viewer/surface.js";
import { LOOKS, View } from "./viewer/view.js";
import { byId, hint } from "./dom.js";

let main = null;
let other = null;
let failure = "";

function made(canvas, ball, tell) {
  try {
    return new View(canvas, ball, tell);
  } catch (error) {
    failure = `The view cannot be shown: ${error.message}.`;
    return null;
  }
}

export function view() {
  if (!main && !failure) {
    main = made(byId("view"), byId("ball"), {
      hint,
      state: (state) => { byId("surface").dataset.state = state; },
      posed: () => { if (other) follow(other, main); },
      lit: () => lamp.listener && lamp.listener(),
    });
    if (failure) hint(failure);
  }
  return main;
}

export const lamp = { listener: null };

function follow(one, leader) {
  const { yaw, pitch, zoom, x, y, light } = leader.pose;
  Object.assign(one.pose, { yaw, pitch, zoom, x, y, light: [...light] });
  one.redraw();
}

export function second() {
  if (!other && view()) {
    other = made(byId("view2"), null, { hint, posed: () => follow(main, other) });
  }
  return other;
}

export function both(change) {
  for (const one of [main, byId("other").hidden ? null : other]) if (one) change(one);
}

export function showSurface(shown) {
  byId("surface").hidden = !shown;
  byId("flat").hidden = shown;
  byId("stage").classList.toggle("tall", false);
  if (shown) view();
}

export function showOther(shown) {
  byId("other").hidden = byId("label").hidden = !shown;
  if (shown && second()) follow(other, main);
}

// A map of a result on its surface: the picture covers the scene's window.
export async function drape(one, address) {
  const image = await loadImage(address);
  one.picture(image, one.scene.window);
  one.set({ look: LOOKS.picture });
}

export { LOOKS };
