// A photo on the stage, as large as fits, with layers on top.
import { h } from "./dom.js";

export class Easel {
  constructor(stage, [width, height], ...layers) {
    [this.width, this.height, this.stage] = [width, height, stage];
    this.photo = h("canvas", { width, height });
    this.sheet = h("div", { class: "sheet" }, this.photo, ...layers);
    this.element = h("div", { class: "easel" }, this.sheet);
    stage.replaceChildren(this.element);
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.element);
  }

  fit() {
    const box = this.element.getBoundingClientRect();
    const scale = Math.min(box.width / this.width, box.height / this.height);
    this.sheet.style.width = `${Math.floor(this.width * scale)}px`;
    this.sheet.style.height = `${Math.floor(this.height * scale)}px`;
    this.photo.style.width = this.photo.style.height = "100%";
  }

  show(address) {
    const image = new Image();
    this.wanted = address;
    image.onload = () => {
      if (this.wanted !== address) return;
      this.photo.getContext("2d", { willReadFrequently: true })
        .drawImage(image, 0, 0, this.width, this.height);
    };
    image.src = address;
  }

  pixels() {
    return this.photo.getContext("2d", { willReadFrequently: true })
      .getImageData(0, 0, this.width, this.height).data;
  }

  // Where a pointer is, in pixels of the photo; centres at integers.
  place(event) {
    const box = this.sheet.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width * this.width - 0.5,
      (event.clientY - box.top) / box.height * this.height - 0.5];
  }

  close() {
    this.observer.disconnect();
  }
}

export function photoChooser(names, onChoose, label = "Photo") {
  const select = h("select", { "aria-label": label, onchange: () => onChoose(Number(select.value)) },
    names.map((name, index) => h("option", { value: index }, `${index + 1}: ${name}`)));
  const step = (by) => {
    select.value = String((Number(select.value) + by + names.length) % names.length);
    onChoose(Number(select.value));
  };
  const part = h("div", { class: "row tight" },
    h("button", { type: "button", "aria-label": "Photo before", onclick: () => step(-1) }, "←"), select,
    h("button", { type: "button", "aria-label": "Next photo", onclick: () => step(1) }, "→"));
  part.select = select;
  return part;
}
