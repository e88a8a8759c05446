// Compute: start it, watch it, pause it.
import { energyCurve } from "./curve.js";
import { h, head, segments } from "./dom.js";
import { fields } from "./fields.js";
import { go } from "./main.js";
import { act, choose, on, send, store } from "./store.js";
import { LOOKS, showOther, showSurface, view } from "./surface3d.js";

const BUSY = ["starting", "running", "pausing", "paused", "stopping"];
const WORDS = [
  [/^(balloon|integrable).*level/, "Trying first shapes"],
  [/lens/, "Trying lenses"],
  [/^flip.*level/, "Trying hollows for hills"],
  [/, level \d/, "Refining the shape"],
  [/^normals of single/, "Finest detail"],
  [/^depth/, "Edges where depth jumps"],
  [/^albedo without/, "Colours without the light"],
  [/^albedo and light/, "Light of every photo"],
  [/shadow/, "Shadows that the object casts on itself"],
  [/^iteration/, "Refining shape, colours and light"],
  [/^reading|^finding|^looking|^writing/, null],
];
let parts = {}, shown = "", off = null, look = LOOKS.clay, ticking = 0;

export function enter(stage, panel) {
  showSurface(true);
  showOther(false);
  const surface = view();
  if (surface) surface.set({ look, relief: 1, coefficients: null, ambient: 0.22 });
  off = on("frame", (scene) => {
    if (scene.kind === "glimpse" && view()) show(scene);
    if (scene.kind === "balloon" && !store.glimpse && view()) view().show(scene);
  });
  if (store.glimpse && isBusy()) show(store.glimpse);
  else send({ kind: "volume", volume: store.state.session.choices.volume, number: 0 });
  parts = { panel };
  shown = "";
  ticking = setInterval(() => { if (isBusy()) tick(); }, 1000);
}

export function leave() {
  off();
  clearInterval(ticking);
}

const isBusy = () => Boolean(store.state.run && BUSY.includes(store.state.run.state));

function show(scene) {
  view().show(scene);
  document.getElementById("surface").dataset.glimpse = String(Number(document.getElementById("surface").dataset.glimpse || 0) + 1);
}

export function next(state) {
  if (!state.session) return null;
  const { run } = state;
  if (isBusy()) {
    const paused = run.state === "paused";
    return {
      text: paused ? "Go on" : run.state === "pausing" ? "Pausing after this step …" : "Pause",
      disabled: ["pausing", "starting", "stopping"].includes(run.state),
      go: () => act(`/api/run/${paused ? "resume" : "pause"}`),
      extra: [h("button", { type: "button", id: "stop", onclick: () => act("/api/run/stop") },
        run.state === "stopping" ? "End at once" : "Stop")],
    };
  }
  const { results } = state.session;
  return {
    text: results.length ? "Compute again" : "Start", disabled: Boolean(state.session.trouble),
    go: () => { store.glimpse = null; act("/api/run/start"); },
    extra: results.length ? [h("button", { type: "button", onclick: () => go("look") }, "Look at it")] : [],
  };
}

export function update(state) {
  const { session, run } = state;
  if (!session) return;
  const key = JSON.stringify([isBusy(), session.choices.options, session.choices.settings,
    session.choices.intake, session.choices.output, session.trouble, run && run.state === "failed" && run.message]);
  if (key !== shown) {
    shown = key;
    if (isBusy()) drawRun();
    else drawOptions(session, run);
  }
  if (isBusy()) step(run);
}

function drawRun() {
  parts.bar = h("i", {});
  parts.words = h("b", { id: "doing" });
  parts.time = h("span", { class: "faint" });
  parts.line = h("p", { class: "faint" });
  parts.curve = h("div", {});
  parts.look = segments("Seen as", [[LOOKS.clay, "clay"], [LOOKS.colours, "colours"], [LOOKS.normals, "normals"]],
    (value) => { look = value; view() && view().set({ look }); parts.look.set(value); });
  parts.look.set(look);
  parts.panel.replaceChildren(
    head("Computing", "The surface grows while you watch. You may close this page; the work goes on and is found again."),
    h("div", { class: "progress" }, h("div", { class: "row" }, parts.words, parts.time),
      h("div", { class: "bar", role: "progressbar" }, parts.bar)),
    h("div", { class: "group" }, h("h3", {}, "What is not explained yet"), parts.curve,
      h("p", { class: "faint" }, "Lower is better. Each line is an attempt.")),
    h("div", { class: "group" }, h("h3", {}, "Seen as"), parts.look),
    h("details", {}, h("summary", {}, "In the words of the method"), parts.line));
}

function said(run) {
  if (run.state === "paused") return "Paused";
  if (run.state === "stopping") return "Stopping, keeping what there is";
  const known = WORDS.find(([pattern]) => pattern.test(run.line));
  return known && known[1] ? known[1] : run.line[0].toUpperCase() + run.line.slice(1);
}

export function step(run) {
  if (!parts.bar || !isBusy()) return;
  parts.bar.style.width = `${100 * run.share}%`;
  parts.words.textContent = said(run);
  parts.line.textContent = run.line;
  parts.begun = performance.now() - 1000 * run.seconds;
  tick();
  parts.curve.replaceChildren(energyCurve(run.energies));
}

function tick() {
  if (!parts.begun) return;
  const seconds = Math.round((performance.now() - parts.begun) / 1000);
  parts.time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const PRESETS = {
  standard: { title: "Standard", text: "Everything found out from the photos, shadows included.", options: {}, shadows: null, downscale: null },
  quick: { title: "Quick look", text: "Half the size, without looking for cast shadows.", options: {}, shadows: "off", downscale: 2 },
  paper: { title: "As published", text: "The method of the paper, from the first shape you chose.", options: { method: "paper" }, shadows: null, downscale: null },
};

function presetOf({ options, settings, intake }) {
  const values = [options.method || "default", (settings.default || {}).shadows || null, intake.downscale || null];
  return Object.keys(PRESETS).find((name) => {
    const { options: own, shadows, downscale } = PRESETS[name];
    return values[0] === (own.method || "default") && (values[1] === shadows || name === "paper") && values[2] === downscale;
  });
}

async function usePreset(name) {
  const { options, shadows, downscale } = PRESETS[name];
  await choose(["options", "method"], options.method || null);
  await choose(["settings", "default", "shadows"], shadows);
  await choose(["intake", "downscale"], downscale);
}

function drawOptions(session, run) {
  const { choices, facts } = session;
  const { forms } = store;
  const preset = presetOf(choices);
  const forecast = facts.findings.find((one) => one.topic === "forecast");
  const held = document.activeElement && document.activeElement.id;
  parts.bar = null;
  parts.panel.replaceChildren(...[
    head("Compute", "Shape, colours and light of every photo, from the photos alone."),
    run && run.state === "failed" ? h("ul", { class: "findings" }, h("li", { class: "finding problem" }, run.message)) : null,
    session.trouble ? h("ul", { class: "findings" }, h("li", { class: "finding problem" }, session.trouble)) : null,
    h("div", { class: "group", role: "radiogroup", "aria-label": "How" }, Object.entries(PRESETS).map(([name, one]) =>
      h("label", { class: "choice" }, h("input", { type: "radio", name: "preset", id: `preset-${name}`, value: name, checked: preset === name,
        onchange: () => usePreset(name) }), h("span", {}, one.title), h("small", {}, one.text)))),
    forecast ? h("p", { class: "faint" }, forecast.text) : null,
    h("details", { open: parts.open, ontoggle: (event) => { parts.open = event.target.open; } },
      h("summary", {}, "All options"),
      h("h3", {}, "Method"), h("p", { class: "faint" }, forms.summaries[session.method]),
      fields(forms.options, choices.options, ["options"]),
      forms.settings[session.method].length ? h("h3", {}, `Numbers of the method ${session.method}`) : null,
      fields(forms.settings[session.method], choices.settings[session.method] || {}, ["settings", session.method]),
      h("h3", {}, "Reading the photos"), fields(forms.intake, choices.intake, ["intake"]),
      h("h3", {}, "Files"), fields(forms.output, choices.output, ["output"]))].filter(Boolean));
  if (held && document.getElementById(held)) document.getElementById(held).focus({ preventScroll: true });
}
