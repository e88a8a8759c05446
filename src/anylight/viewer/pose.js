// Where the surface is looked at from, and where the lamp is. The camera saw one side only, so the
// surface turns no further than what it saw can be seen.
export const FURTHEST_TURN = 1.2;
const OPENING = Math.tan((28 / 2) * Math.PI / 180);
const START = { yaw: 0, pitch: 0, zoom: 1, x: 0, y: 0, light: [-0.45, 0.5] };
const STEEPEST_LIGHT = 0.985;

export class Pose {
  constructor() {
    this.reset();
  }

  reset() {
    Object.assign(this, START, { light: [...START.light] });
  }

  // Whether it would have to turn further than it may.
  turnBy(yaw, pitch) {
    const wanted = [this.yaw + yaw, this.pitch + pitch];
    const length = Math.hypot(...wanted);
    const share = length > FURTHEST_TURN ? FURTHEST_TURN / length : 1;
    [this.yaw, this.pitch] = wanted.map((angle) => angle * share);
    return share < 1;
  }

  zoomBy(factor) {
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.3), 40);
  }

  moveBy(dx, dy, size, canvas) {
    const unit = 2 * OPENING * this.distance(size, canvas) / this.zoom
      / Math.max(canvas.clientHeight, 1);
    this.x += dx * unit;
    this.y -= dy * unit;
  }

  shine(x, y) {
    const length = Math.hypot(x, y);
    const share = length > STEEPEST_LIGHT ? STEEPEST_LIGHT / length : 1;
    this.light = [x * share, y * share];
  }

  direction() {
    const [x, y] = this.light;
    return [x, y, Math.sqrt(Math.max(1 - x * x - y * y, 0))];
  }

  rotation() {
    const [s, c, t, d] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch),
      Math.cos(this.pitch)];
    return [c, t * s, -d * s, 0, d, t, s, -t * c, d * c];
  }

  distance([width, height, thickness], canvas) {
    const aspect = Math.max(canvas.clientWidth, 1) / Math.max(canvas.clientHeight, 1);
    return 1.06 * Math.max(height, width / aspect) / 2 / OPENING + thickness / 2;
  }

  // Shift of the surface and the four numbers of the projection.
  lens(size, canvas, across, down) {
    const away = this.distance(size, canvas) / this.zoom;
    const radius = Math.hypot(...size) / 2;
    const near = Math.max(away - 2.2 * radius, away * 0.02);
    const far = away + 2.2 * radius;
    return {
      shift: [this.x, this.y, -away],
      lens: [down / across / OPENING, 1 / OPENING,
        (far + near) / (near - far), 2 * far * near / (near - far)],
    };
  }
}
