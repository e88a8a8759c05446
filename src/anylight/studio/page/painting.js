// A mask as bytes, and the tools that change it.
const MOST_UNDO = 30;

export class Painting {
  constructor(width, height) {
    [this.width, this.height] = [width, height];
    this.mask = new Uint8Array(width * height);
    this.past = [];
  }

  load(mask) {
    this.mask = mask;
    this.past = [];
  }

  remember() {
    this.past.push(this.mask.slice());
    if (this.past.length > MOST_UNDO) this.past.shift();
  }

  undo() {
    if (!this.past.length) return false;
    this.mask = this.past.pop();
    return true;
  }

  // A stroke of a round brush between two points.
  stroke([x0, y0], [x1, y1], radius, value) {
    const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / Math.max(radius / 3, 0.5)));
    for (let step = 0; step <= steps; step++) {
      this.dot(x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, radius, value);
    }
  }

  dot(x, y, radius, value) {
    const top = Math.max(Math.ceil(y - radius), 0);
    const bottom = Math.min(Math.floor(y + radius), this.height - 1);
    for (let row = top; row <= bottom; row++) {
      const half = Math.sqrt(Math.max(radius * radius - (row - y) ** 2, 0));
      const left = Math.max(Math.ceil(x - half), 0);
      const right = Math.min(Math.floor(x + half), this.width - 1);
      if (left <= right) this.mask.fill(value, row * this.width + left, row * this.width + right + 1);
    }
  }

  // The inside of an outline, even-odd.
  polygon(points, value) {
    for (let row = 0; row < this.height; row++) {
      const crossings = [];
      points.forEach(([x0, y0], index) => {
        const [x1, y1] = points[(index + 1) % points.length];
        if ((y0 <= row) !== (y1 <= row)) crossings.push(x0 + (row - y0) / (y1 - y0) * (x1 - x0));
      });
      crossings.sort((a, b) => a - b);
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        const left = Math.max(Math.ceil(crossings[i]), 0);
        const right = Math.min(Math.floor(crossings[i + 1]), this.width - 1);
        if (left <= right) this.mask.fill(value, row * this.width + left, row * this.width + right + 1);
      }
    }
  }

  // Connected pixels of about the colour of the first.
  flood([x, y], pixels, tolerance, value) {
    const { width, height } = this;
    const first = Math.round(y) * width + Math.round(x);
    const most = (tolerance * 4.42) ** 2;
    const [r, g, b] = [pixels[4 * first], pixels[4 * first + 1], pixels[4 * first + 2]];
    const alike = (i) => (pixels[4 * i] - r) ** 2 + (pixels[4 * i + 1] - g) ** 2
      + (pixels[4 * i + 2] - b) ** 2 <= most;
    const seen = new Uint8Array(width * height);
    const waiting = [first];
    seen[first] = 1;
    while (waiting.length) {
      const i = waiting.pop();
      this.mask[i] = value;
      const column = i % width;
      for (const [near, there] of [[i - 1, column > 0], [i + 1, column < width - 1],
        [i - width, i >= width], [i + width, i < width * (height - 1)]]) {
        if (there && !seen[near] && alike(near)) { seen[near] = 1; waiting.push(near); }
      }
    }
  }

  share() {
    let sum = 0;
    for (let i = 0; i < this.mask.length; i++) sum += this.mask[i];
    return sum / this.mask.length;
  }
}

// The surroundings tinted, the rim of the object drawn.
export function drawMask(canvas, painting, strength) {
  const { width, height, mask } = painting;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const tint = (Math.round(255 * strength) << 24 | 0x5a << 16 | 0x10 << 8 | 0x8c) >>> 0;
  const rim = 0xff4cb4f0;
  const wide = Math.ceil(Math.max(width, height) / 700);
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      if (!mask[i]) { words[i] = tint; continue; }
      const inner = column >= wide && column < width - wide && row >= wide && row < height - wide
        && mask[i - wide] && mask[i + wide] && mask[i - wide * width] && mask[i + wide * width];
      if (!inner) words[i] = rim;
    }
  }
  pen.putImageData(image, 0, 0);
}
