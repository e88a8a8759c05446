// Options as the declarations have them, help included.
import { h } from "./dom.js";
import { choose } from "./store.js";

const plain = (name) => name.replaceAll("_", " ");

function asked(field, value, onChange) {
  const label = plain(field.name);
  if (field.kind === "switch") {
    return h("input", { type: "checkbox", "aria-label": label, checked: Boolean(value ?? field.default),
      onchange: (event) => onChange(event.target.checked === field.default ? null : event.target.checked) });
  }
  if (field.kind === "choice") {
    const choices = field.default === null ? [null, ...field.choices] : field.choices;
    const select = h("select", { "aria-label": label, onchange: () => {
      const chosen = choices[select.selectedIndex];
      onChange(chosen === field.default ? null : chosen);
    } }, choices.map((choice) => h("option", {}, choice === null ? "automatic" : String(choice))));
    select.selectedIndex = Math.max(choices.indexOf(value ?? field.default), 0);
    return select;
  }
  const number = field.kind !== "text";
  return h("input", { type: number ? "number" : "text", step: field.kind === "integer" ? 1 : "any",
    "aria-label": label, placeholder: field.default === null ? "automatic" : String(field.default),
    value: value ?? "",
    onchange: (event) => {
      const text = event.target.value.trim();
      onChange(text === "" ? null : number ? Number(text) : text);
    } });
}

// All fields of a group; the path says where its values are among the choices.
export function fields(list, values, path) {
  return list.map((field) => {
    const input = asked(field, values[field.name], (value) => choose([...path, field.name], value));
    input.id = `option-${[...path, field.name].join("-")}`;
    return h("div", { class: `field ${field.name in values ? "changed" : ""}` },
      h("div", {}, h("label", { htmlFor: input.id }, plain(field.name)), input),
      h("small", {}, field.help));
  });
}
