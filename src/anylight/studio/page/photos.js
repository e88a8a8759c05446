// Photos: drop them, look at them, leave bad ones out.
import { act, choose, store, take } from "./store.js";
import { post, put, tried } from "./api.js";
import { byId, finding, h, head, slider, toast } from "./dom.js";
import { droppedFiles } from "./dropping.js";
import { go } from "./main.js";
import { showSurface } from "./surface3d.js";

let flat, panel, shown = "", sending = null, again = false;
const tone = { bright: 0, gamma: 1 };

export function enter(stage, controls) {
  [flat, panel, shown] = [stage, controls, ""];
  showSurface(false);
}

export function leave() { again = false; }

export function update(state) {
  const { session, reading } = state;
  const key = JSON.stringify([session && session.folder, reading && reading.task, sending, again]);
  if (key !== shown) {
    shown = key;
    if (reading || sending) drawWaiting();
    else if (session && !again) drawThumbs(session);
    else drawDrop(session);
  }
  if (reading || sending) {
    const share = sending ? sending.done / sending.of : reading.share;
    flat.querySelector(".bar i").style.width = `${100 * share}%`;
    return;
  }
  if (session && !again) refresh(session);
}

export function next(state) {
  if (state.reading || sending || !state.session || again) return null;
  const left = state.session.facts.names.length - state.session.choices.left_out.length;
  return { text: left < 3 ? "Keep three photos at least" : "Next: mask", disabled: left < 3,
    go: () => go("mask") };
}

function drawWaiting() {
  const text = sending ? "Taking the photos over" : store.state.reading.task;
  byId("stage").classList.remove("tall");
  flat.replaceChildren(h("div", { class: "drop" }, h("div", { class: "waiting" },
    h("h2", { class: "pulse" }, `${text} …`), h("div", { class: "bar" }, h("i", {})))));
  panel.replaceChildren(head("One moment", "Photos are read and looked at: are they sharp, still, well exposed, under different light?"));
}

function drawDrop(session) {
  byId("stage").classList.remove("tall");
  const folder = h("input", { type: "file", multiple: true, hidden: true, id: "folder" });
  folder.webkitdirectory = true;
  const files = h("input", { type: "file", multiple: true, hidden: true, id: "files" });
  for (const input of [folder, files]) {
    input.addEventListener("change", () => openFiles([...input.files].map((file) => [file.name, file]),
      input.files[0] ? input.files[0].webkitRelativePath.split("/")[0] : ""));
  }
  const zone = h("div", { class: "zone" },
    h("img", { src: "/assets/icon.svg", alt: "", width: 72, height: 72 }),
    h("h2", {}, "Drop a folder of photos here"),
    h("p", { class: "faint" }, "10 to 25 photos from one tripod position, each under different light."),
    h("div", { class: "row" },
      h("button", { type: "button", class: "main", onclick: () => folder.click() }, "Choose a folder"),
      h("button", { type: "button", onclick: () => files.click() }, "Choose photos")),
    folder, files);
  const place = h("div", { class: "drop" }, zone,
    h("button", { type: "button", class: "plain", id: "example", onclick: () => openExample() },
      "No photos at hand? Try the example"),
    session ? h("button", { type: "button", class: "plain", onclick: () => { again = false; update(store.state); } },
      `Back to ${session.facts.name}`) : null);
  place.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  place.addEventListener("dragleave", () => zone.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const { files: dropped, title } = await droppedFiles(event.dataTransfer);
    openFiles(dropped, title);
  });
  flat.replaceChildren(place);
  panel.replaceChildren(head("Photos", "Photos of one object under changing light become its surface, its colours and the light of every photo. Nothing leaves this computer."),
    h("ul", { class: "findings" },
      finding({ severity: "note", text: "Tripod, fixed focus and exposure, no flash on the camera." }),
      finding({ severity: "note", text: "Move one lamp around the object: left, right, above, close to the lens." }),
      finding({ severity: "note", text: "JPEG, PNG, TIFF, EXR, HDR or camera RAW." })));
}

function openExample() {
  again = false;
  act("/api/example");
}

async function openFiles(files, title) {
  if (!files.length) return;
  const started = await tried(post("/api/uploads"));
  if (!started) return;
  sending = { done: 0, of: files.length };
  update(store.state);
  const skipped = [];
  try {
    for (const [name, file] of files) {
      try {
        await put(`/api/uploads/${started.key}/files/${encodeURIComponent(name)}`, file);
      } catch (error) {
        if (error.status !== 400) throw error;
        skipped.push(name);
      }
      sending.done += 1;
      update(store.state);
    }
    if (skipped.length < files.length) {
      again = false;
      take(await post(`/api/uploads/${started.key}/open`, { title: title || "photos" }));
    } else toast("None of these files is a photo that can be read.");
  } catch (error) {
    if (error.message !== "no answer") toast(error.message);
  } finally {
    sending = null;
    update(store.state);
  }
}

function drawThumbs(session) {
  const { facts } = session;
  byId("stage").classList.add("tall");
  flat.replaceChildren(h("div", { class: "thumbs" }, facts.names.map((name, index) => {
    const reasons = facts.photo_findings[index];
    return h("article", { class: "thumb", id: `thumb-${index}` },
      h("button", { type: "button", title: "Enlarge", "aria-label": `Enlarge ${name}`,
        onclick: () => enlarge(index) },
      h("img", { class: "toned", src: `/photos/${index}/thumb.jpg?${encodeURIComponent(session.folder)}`, alt: name, loading: "lazy" })),
      h("label", { title: name }, h("input", { type: "checkbox", checked: true,
        onchange: (event) => toggle(name, event.target.checked) }), h("span", {}, name)),
      h("ul", {}, reasons.length ? reasons.map((reason) =>
        h("li", { class: reason.severity }, reason.text)) : h("li", { class: "good" }, "fine")));
  })));
  const bad = facts.findings.filter((one) => ["problem", "warning"].includes(one.severity));
  const rest = facts.findings.filter((one) => !bad.includes(one));
  const flagged = facts.names.filter((_, index) => facts.photo_findings[index].length);
  panel.replaceChildren(...[
    head("Photos", `${facts.names.length} photos of ${facts.width} × ${facts.height} pixels. Switch off what is blurred, moved or wrongly exposed; click a photo to enlarge it.`),
    h("p", { id: "count", class: "faint" }),
    bad.length ? h("ul", { class: "findings" }, bad.map(finding))
      : h("ul", { class: "findings" }, finding({ severity: "good", text: "These photos look good." })),
    flagged.length && 2 * flagged.length < facts.names.length
      ? h("button", { type: "button", onclick: () => choose(["left_out"], flagged) },
        flagged.length === 1 ? "Leave out the flagged one" : `Leave out the ${flagged.length} flagged`) : null,
    h("div", { class: "group" },
      slider("Brightness", { min: -2, max: 3, step: 0.05, value: tone.bright, said: (x) => `${x > 0 ? "+" : ""}${x.toFixed(1)} stops` },
        (x) => retone({ bright: x })),
      slider("Gamma", { min: 0.4, max: 2.5, step: 0.05, value: tone.gamma, said: (x) => x.toFixed(2) },
        (x) => retone({ gamma: x })),
      h("p", { class: "faint" }, "Only for looking; the photos stay as they are.")),
    h("details", {}, h("summary", {}, "What else was found"), h("ul", { class: "findings" }, rest.map(finding))),
    h("button", { type: "button", class: "plain", onclick: () => { again = true; update(store.state); } },
      "Open other photos")].filter(Boolean));
  retone({});
}

function refresh(session) {
  const off = new Set(session.choices.left_out);
  session.facts.names.forEach((name, index) => {
    const card = byId(`thumb-${index}`);
    card.classList.toggle("off", off.has(name));
    card.querySelector("input").checked = !off.has(name);
  });
  byId("count").textContent = off.size
    ? `${session.facts.names.length - off.size} are used, ${off.size} left out.` : "All of them are used.";
}

function toggle(name, used) {
  const off = new Set(store.state.session.choices.left_out);
  if (used) off.delete(name); else off.add(name);
  choose(["left_out"], store.state.session.facts.names.filter((one) => off.has(one)));
}

function retone(changes) {
  Object.assign(tone, changes);
  for (const part of document.querySelectorAll("#tone feFuncR, #tone feFuncG, #tone feFuncB")) {
    part.setAttribute("exponent", 1 / tone.gamma);
    part.setAttribute("amplitude", 2 ** (tone.bright / 2.2));
    part.setAttribute("offset", 0);
  }
}

function enlarge(index) {
  const { names } = store.state.session.facts;
  const box = byId("lightbox");
  const step = (by) => enlarge((index + by + names.length) % names.length);
  box.replaceChildren(h("figure", {},
    h("img", { class: "toned", src: `/photos/${index}/view.jpg`, alt: names[index] }),
    h("figcaption", {}, h("span", {}, `${index + 1} of ${names.length}: ${names[index]}`),
      h("button", { type: "button", "aria-label": "Photo before", onclick: () => step(-1) }, "←"),
      h("button", { type: "button", "aria-label": "Next photo", onclick: () => step(1) }, "→"),
      h("button", { type: "button", onclick: () => box.close() }, "Close"))));
  box.onkeydown = (event) => {
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  };
  if (!box.open) box.showModal();
}
