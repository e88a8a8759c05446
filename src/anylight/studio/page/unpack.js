// Surfaces as packing.py writes them: length of the header, header, arrays.
export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const part = (name, kind) => {
    const place = header.arrays[name];
    return place && new kind(buffer, start + place.at, place.bytes / kind.BYTES_PER_ELEMENT);
  };
  const texture = (name) => {
    const data = part(name, Uint8Array);
    if (!data) return null;
    const [height, width] = header.arrays[name].shape;
    return { image: { data, width, height }, span: header.span };
  };
  return {
    ...header,
    cells: part("cells", Uint8Array),
    positions: part("positions", Uint16Array),
    pixels: part("pixels", Uint16Array),
    bumps: texture("bumps"),
    paint: texture("paint"),
  };
}
