// Elements in one line: h("button", { class: "main", onclick: go }, "Start").
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  if (properties.class) element.className = properties.class;
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

let fading = 0;
export function hint(text) {
  byId("hint").textContent = text;
  byId("hint").hidden = !text;
  clearTimeout(fading);
  fading = setTimeout(() => { byId("hint").hidden = true; }, 2600);
}

export function toast(text, kind = "") {
  const waiting = [...byId("toasts").children].find((one) => one.dataset.text === text);
  if (waiting) return;
  const note = h("div", { class: `toast ${kind}` }, h("span", {}, text),
    h("button", { type: "button", "aria-label": "Close", onclick: () => note.remove() }, "×"));
  note.dataset.text = text;
  byId("toasts").append(note);
  setTimeout(() => note.remove(), kind === "good" ? 3500 : 12000);
}

export function head(title, text) {
  return h("div", { class: "head" }, h("h2", {}, title), h("p", { class: "faint" }, text));
}

export function slider(label, options, onInput, onChange) {
  const output = h("output", {});
  const input = h("input", { type: "range", "aria-label": label, ...options });
  const show = () => { output.textContent = options.said ? options.said(Number(input.value)) : ""; };
  input.addEventListener("input", () => { show(); onInput && onInput(Number(input.value)); });
  input.addEventListener("change", () => onChange && onChange(Number(input.value)));
  const part = h("label", { class: "slider" }, h("span", {}, label), output, input);
  part.input = input;
  part.set = (value) => { input.value = value; show(); };
  show();
  return part;
}

export function segments(label, choices, onChoose) {
  const part = h("div", { class: "segments", role: "group", "aria-label": label });
  part.set = (chosen) => {
    for (const button of part.children) {
      button.setAttribute("aria-pressed", String(button.dataset.value === String(chosen)));
    }
  };
  part.choices = (list) => {
    part.replaceChildren(...list.map(([value, text, title]) => {
      const button = h("button", { type: "button", title: title || "", onclick: () => onChoose(value) },
        text);
      button.dataset.value = value;
      return button;
    }));
  };
  part.choices(choices);
  return part;
}

// Remedies are written for the command line; here they are a click away.
const HERE = [
  [/Look at it with `anylight mask`, or give --mask\./, "Look at it under Mask."],
  [/give --focal-35mm, or measure how far .* --object-size\./, "choose it under Camera."],
  [/give --transfer (\w+)/, "set transfer to $1 under Compute, All options"],
  [/Use --downscale 2 for a quick look\./, "Take Quick look under Compute."],
  [/--downscale 2/, "Quick look"],
  [/--align/, "align, under Compute, All options,"],
  [/--(\w[\w-]*)/g, "$1 (under Compute, All options)"],
];

export function finding({ severity, text, remedy }) {
  const said = HERE.reduce((words, [pattern, instead]) => words.replace(pattern, instead), remedy || "");
  return h("li", { class: `finding ${severity}` }, h("p", {}, text),
    said ? h("p", { class: "remedy" }, said) : null);
}
