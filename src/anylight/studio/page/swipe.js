// A photo and its re-rendering under the same light, with an edge between them to drag.
import { h } from "./dom.js";
import { loadImage } from "./viewer/surface.js";

export async function drawSwipe(stage, number, index) {
  const base = `/results/${number}/photos/${index}`;
  const [photo, rendering] = await Promise.all(
    [loadImage(`${base}/photo.jpg`), loadImage(`${base}/rendering.jpg`)]);
  const edge = h("div", { class: "edge" });
  const range = h("input", { type: "range", id: "swipe", min: 0, max: 100, step: 0.5, value: 50,
    "aria-label": "Edge between photo and re-rendering" });
  const place = () => {
    edge.style.left = `${range.value}%`;
    rendering.style.clipPath = `inset(0 0 0 ${range.value}%)`;
  };
  range.addEventListener("input", place);
  photo.alt = "The photo";
  rendering.alt = "The computed surface under the light of the photo";
  const sheet = h("div", { class: "sheet" }, photo, rendering, range, edge,
    h("span", { class: "tag" }, "photo"), h("span", { class: "tag right" }, "computed"));
  const easel = h("div", { class: "easel swipe" }, sheet);
  stage.replaceChildren(easel);
  const fit = () => {
    const box = easel.getBoundingClientRect();
    const scale = Math.min(box.width / photo.naturalWidth, box.height / photo.naturalHeight);
    photo.style.width = `${Math.floor(photo.naturalWidth * scale)}px`;
    photo.style.height = `${Math.floor(photo.naturalHeight * scale)}px`;
  };
  new ResizeObserver(fit).observe(easel);
  place();
}
