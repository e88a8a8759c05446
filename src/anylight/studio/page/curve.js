// Small curves.
import { svg } from "./dom.js";

const path = (points) => points.map(([x, y], index) =>
  `${index ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");

// How well the photos are explained, step by step: logarithmic, each attempt a line of its own.
export function energyCurve(energies) {
  const picture = svg("svg", { class: "curve", viewBox: "0 0 100 100", preserveAspectRatio: "none",
    role: "img", "aria-label": `What is not explained yet, over ${energies.length} steps` });
  const steps = energies.filter(([, energy]) => energy > 0);
  if (!steps.length) return picture;
  const logs = steps.map(([, energy]) => Math.log10(energy));
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const span = Math.max(high - low, 1e-6);
  for (const y of [25, 50, 75]) picture.append(svg("line", { x1: 0, x2: 100, y1: y, y2: y }));
  const attempt = (stage) => stage.split(",")[0];
  let line = [];
  const finish = () => {
    if (line.length === 1) line.push([line[0][0] + 0.4, line[0][1]]);
    if (line.length) picture.append(svg("path", { d: path(line) }));
    line = [];
  };
  steps.forEach(([stage], index) => {
    if (index && attempt(stage) !== attempt(steps[index - 1][0])) finish();
    line.push([2 + 96 * (index + 0.5) / steps.length, 94 - 86 * (logs[index] - low) / span]);
  });
  finish();
  return picture;
}

// Heights along a line, gaps where there is no surface.
export function profileCurve({ along, heights }) {
  const picture = svg("svg", { class: "curve profile", viewBox: "0 0 100 100",
    preserveAspectRatio: "none", role: "img", "aria-label": "Heights along the line" });
  const known = heights.filter((height) => height !== null);
  if (known.length < 2) return picture;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const far = Math.max(...along.filter((place) => place !== null));
  const place = (index) => [2 + 96 * along[index] / Math.max(far, 1e-9),
    94 - 86 * (heights[index] - low) / Math.max(high - low, 1e-9)];
  let line = [];
  const finish = () => {
    if (line.length > 1) {
      const [first, last] = [line[0][0], line[line.length - 1][0]];
      picture.append(svg("path", { class: "fill", d: `${path(line)}L${last} 100L${first} 100Z` }));
      picture.append(svg("path", { d: path(line) }));
    }
    line = [];
  };
  heights.forEach((height, index) => { if (height === null) finish(); else line.push(place(index)); });
  finish();
  return picture;
}
