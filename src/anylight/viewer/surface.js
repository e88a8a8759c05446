// The surface as it is sent: a coarse grid of vertices and which triangles there are.
export function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// Vertices of all triangles; bits of a cell as report/relief.py writes them.
export function triangles(cells, [rows, columns]) {
  const numbers = new Int32Array(rows * columns);
  let vertices = 0;
  let count = 0;
  for (let i = 0; i < cells.length; i++) {
    numbers[i] = cells[i] & 1 ? vertices++ : -1;
    for (let bit = 2; bit <= 16; bit *= 2) if (cells[i] & bit) count++;
  }
  const result = new Uint32Array(3 * count);
  let at = 0;
  for (let row = 0; row < rows - 1; row++) {
    for (let column = 0; column < columns - 1; column++) {
      const i = row * columns + column;
      const bits = cells[i];
      if (bits < 2) continue;
      const a = numbers[i], b = numbers[i + 1];
      const c = numbers[i + columns], d = numbers[i + columns + 1];
      if (bits & 2) { result[at++] = a; result[at++] = c; result[at++] = b; }
      if (bits & 4) { result[at++] = b; result[at++] = c; result[at++] = d; }
      if (bits & 8) { result[at++] = a; result[at++] = c; result[at++] = d; }
      if (bits & 16) { result[at++] = a; result[at++] = d; result[at++] = b; }
    }
  }
  return result;
}

export function loadImage(address) {
  return new Promise((done, failed) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => failed(new Error("a texture cannot be read"));
    image.src = address;
  });
}
