// The page: seven steps, one clear next one at each moment.
import { byId, h, toast } from "./dom.js";
import { on, open, store } from "./store.js";
import * as camera from "./camera.js";
import * as exporting from "./exporting.js";
import * as look from "./look.js";
import * as mask from "./mask.js";
import * as photos from "./photos.js";
import * as shape from "./shape.js";
import * as solve from "./solve.js";

const STEPS = [
  ["photos", "Photos", photos],
  ["mask", "Mask", mask],
  ["camera", "Camera", camera],
  ["shape", "First shape", shape],
  ["solve", "Compute", solve],
  ["look", "Look", look],
  ["export", "Export", exporting],
];
let current = null;

function mayEnter(name) {
  const { session } = store.state;
  if (name === "photos") return true;
  if (name === "look" || name === "export") return Boolean(session && session.results.length);
  return Boolean(session);
}

function isDone(name) {
  const { session } = store.state;
  if (!session) return false;
  const order = STEPS.map(([step]) => step);
  if (["look", "export"].includes(name)) return false;
  if (session.results.length) return true;
  return order.indexOf(name) < order.indexOf(current && current.name);
}

export function go(name) {
  if (location.hash === `#${name}`) enter();
  else location.hash = name;
}

function enter() {
  const wanted = location.hash.slice(1);
  const known = STEPS.find(([name]) => name === wanted && mayEnter(name)) || STEPS[0];
  if (current && current.name === known[0]) { drawSteps(); return; }
  if (current && current.step.leave) current.step.leave();
  byId("flat").replaceChildren();
  byId("controls").replaceChildren();
  byId("stage").classList.remove("tall");
  current = { name: known[0], step: known[2] };
  current.step.enter(byId("flat"), byId("controls"));
  update();
}

function drawSteps() {
  const key = STEPS.map(([name]) => `${name === current.name} ${mayEnter(name)} ${isDone(name)}`).join();
  if (byId("steps").dataset.key === key) return;
  byId("steps").dataset.key = key;
  const held = byId("steps").contains(document.activeElement);
  byId("steps").replaceChildren(...STEPS.map(([name, title], index) => {
    const button = h("button", {
      type: "button",
      class: isDone(name) && current.name !== name ? "done" : "",
      disabled: !mayEnter(name),
      onclick: () => go(name),
    }, h("i", {}, isDone(name) && current.name !== name ? "✓" : String(index + 1)), title);
    if (current.name === name) button.setAttribute("aria-current", "step");
    return button;
  }));
  const chip = byId("steps").querySelector("[aria-current]");
  if (held) chip.focus();
  byId("steps").scrollLeft = chip.offsetLeft - (byId("steps").clientWidth - chip.offsetWidth) / 2;
}

function drawNext() {
  const next = current.step.next ? current.step.next(store.state) : null;
  const before = byId("next").firstChild;
  const text = next ? `${next.text}|${Boolean(next.disabled)}|${next.extra ? next.extra.length : 0}|${current.name}` : "";
  if (before && byId("next").dataset.text === text && !(next && next.fresh)) return;
  byId("next").dataset.text = text;
  byId("next").replaceChildren(...(next ? [...(next.extra || []),
    h("button", { type: "button", class: "main", disabled: next.disabled, onclick: next.go },
      next.text)] : []));
}

function drawPill(run) {
  const busy = run && !["finished", "failed"].includes(run.state);
  byId("pill").hidden = !busy || (current && current.name === "solve");
  if (busy) {
    const percent = Math.round(100 * run.share);
    byId("pill").textContent = run.state === "paused" ? `Paused at ${percent} %` : `Computing ${percent} %`;
  }
}

function update() {
  const { state } = store;
  const { session } = state;
  byId("title").textContent = session
    ? `${session.facts.name} · ${session.facts.names.length} photos` : "";
  document.title = session ? `${session.facts.name} · anylight studio` : "anylight studio";
  if (!current || !mayEnter(current.name)) { enter(); return; }
  drawSteps();
  current.step.update(state);
  drawNext();
  drawPill(state.run);
}

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* a private window */ }
}

function startTheme() {
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* a private window */ }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = kept || (dark.matches ? "dark" : "light");
  byId("theme").addEventListener("click", () =>
    chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

let finished = null;
function celebrate(state) {
  const run = state.run;
  if (!run) { finished = null; return; }
  const key = `${run.number} ${run.state}`;
  if (finished !== null && finished !== key && run.state === "finished") {
    toast("Done. Turn it, relight it, compare it with your photos.", "good");
    if (current && current.name === "solve") go("look");
  }
  finished = key;
}

async function begin() {
  startTheme();
  if (new URLSearchParams(location.search).has("token")) {
    history.replaceState(null, "", `/${location.hash}`);
  }
  await open();
  on("state", (state) => { celebrate(state); update(); });
  on("step", (run) => {
    drawPill(run);
    if (!current.step.step) return;
    current.step.step(run);
    drawNext();
  });
  window.addEventListener("hashchange", enter);
  byId("pill").addEventListener("click", () => go("solve"));
  celebrate(store.state);
  const { run, session } = store.state;
  if (!location.hash && run && !["finished", "failed"].includes(run.state)) location.hash = "solve";
  else if (!location.hash && session && session.results.length) location.hash = "look";
  enter();
  document.documentElement.dataset.ready = "true";
}

begin();
