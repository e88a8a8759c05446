// How things are, as the server tells it, and the line on which it does.
import { get, post, tried } from "./api.js";
import { toast } from "./dom.js";
import { unpacked } from "./unpack.js";

const listeners = { state: new Set(), step: new Set(), frame: new Set() };
let socket = null;
let waiting = 500;
export const store = { state: null, forms: null, glimpse: null };

export function on(kind, listener) {
  listeners[kind].add(listener);
  return () => listeners[kind].delete(listener);
}

function tell(kind, value) {
  for (const listener of [...listeners[kind]]) listener(value);
}

export function take(state) {
  if (!state || (store.state && state.revision < store.state.revision)) return;
  const before = store.state;
  store.state = state;
  if (state.message && (!before || before.message !== state.message)) toast(state.message);
  tell("state", state);
}

export async function choose(path, value) {
  const state = await tried(post("/api/choice", { path, value }));
  if (state) take(state);
  else tell("state", store.state);
  return state;
}

export async function act(path, body) {
  const state = await tried(post(path, body));
  take(state);
  return state;
}

let unsent = null;
export function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else unsent = message;
}

function heard(message) {
  if (message.data instanceof ArrayBuffer) {
    const scene = unpacked(message.data);
    if (scene.kind === "glimpse") store.glimpse = scene;
    tell("frame", scene);
    return;
  }
  const told = JSON.parse(message.data);
  if (told.kind === "state") take(told.state);
  if (told.kind === "sentence") toast(told.sentence);
  if (told.kind === "reading" && store.state) {
    store.state.reading = told.reading;
    tell("state", store.state);
  }
  if (told.kind === "step" && store.state) {
    const before = store.state.run ? store.state.run.energies : [];
    store.state.run = { ...told.run, energies: before };
    if (before.length < told.steps) before.push(...told.run.energies);
    tell("step", store.state.run);
  }
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/live`);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    waiting = 500;
    if (unsent) send(unsent);
    unsent = null;
  });
  socket.addEventListener("message", heard);
  socket.addEventListener("close", () => {
    waiting = Math.min(2 * waiting, 8000);
    if (waiting === 4000) toast("The studio does not answer any more. Is it still running in the terminal?");
    setTimeout(async () => {
      if (store.state) store.state.revision = -1;
      connect();
    }, waiting);
  });
}

export async function open() {
  store.forms = await get("/api/forms");
  take(await get("/api/state"));
  connect();
}
