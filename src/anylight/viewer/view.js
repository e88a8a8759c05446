// A surface in a canvas: turn it, light it, ask what is under the pointer.
import { drawBall } from "./ball.js";
import { Drawing } from "./drawing.js";
import { listenToHands } from "./gestures.js";
import { Pose } from "./pose.js";
import { triangles } from "./surface.js";

export const LOOKS = { colours: 0, clay: 1, normals: 2, picture: 3 };
const PICK = 4;
const EDGE = "The camera saw only this side.";
// Milliseconds that a picture may take before pictures in motion get coarser, and may take before
// they get finer again; milliseconds after which a surface rests, and is drawn in full.
const SLOW = 40, FAST = 12, REST = 220;
const COARSEST = 0.35;

export class View {
  // tell: {state(name), hint(text), lit(), posed()}, each of them optional.
  constructor(canvas, ball, tell = {}) {
    this.canvas = canvas;
    this.ball = ball;
    this.tell = tell;
    this.pose = new Pose();
    this.state = { look: 0, strength: 1, ambient: 0.12, relief: 1, coefficients: null };
    this.follows = false;
    this.claims = () => false;
    this.scene = null;
    this.size = [2, 2, 1];
    this.asked = false;
    this.quality = 1;
    this.resting = 0;
    this.gl = canvas.getContext("webgl2",
      { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!this.gl) throw new Error("this browser offers no WebGL 2");
    this.drawing = new Drawing(this.gl);
    listenToHands(this);
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.drawing = null;
      this.say("lost");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.drawing = new Drawing(this.gl);
      if (this.scene) this.show(this.scene);
    });
    new ResizeObserver(() => this.redraw()).observe(canvas);
    window.addEventListener("resize", () => this.redraw());
  }

  say(state) {
    if (this.tell.state) this.tell.state(state);
  }

  hint(text) {
    if (this.tell.hint) this.tell.hint(text);
  }

  // Scene: cells, grid, positions, pixels, size, and textures bumps, paint, picture, each
  // {image, span}; the image of a picture may be set again later.
  show(scene) {
    this.scene = scene;
    const largest = Math.max(...scene.size);
    this.size = scene.size.map((side) => 2 * side / largest);
    if (!this.drawing) return;
    scene.indices ||= triangles(scene.cells, scene.grid);
    this.drawing.surface(scene);
    for (const name of ["bumps", "paint", "picture"]) {
      const texture = scene[name];
      this.drawing.texture(name, texture ? texture.image : null, texture ? texture.span : [1, 1]);
    }
    this.redraw();
  }

  picture(image, span) {
    if (!this.scene) return;
    this.scene.picture = { image, span };
    if (this.drawing) this.drawing.texture("picture", image, span);
    this.redraw();
  }

  set(changes) {
    Object.assign(this.state, changes);
    this.redraw();
  }

  redraw() {
    if (this.quality < 1) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => requestAnimationFrame(() => this.draw(1)), REST);
    }
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw(this.quality);
    });
  }

  draw(quality) {
    const { canvas, gl } = this;
    if (!this.scene || !this.drawing || gl.isContextLost() || !canvas.clientWidth) return;
    const sharpness = Math.min(window.devicePixelRatio || 1, 2.5) * quality;
    const across = Math.max(Math.round(canvas.clientWidth * sharpness), 1);
    const down = Math.max(Math.round(canvas.clientHeight * sharpness), 1);
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    const begin = performance.now();
    this.drawing.draw(this.pose, this.size, canvas, this.state);
    if (quality === this.quality) this.adapt(begin);
    if (this.ball) drawBall(this.ball, this.pose.direction(), Boolean(this.state.coefficients));
    this.say(quality < 1 ? "moving" : "ready");
  }

  // Computers without a graphics card draw coarser pictures while something moves.
  adapt(begin) {
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
    const taken = performance.now() - begin;
    if (taken > SLOW) this.quality = Math.max(0.7 * this.quality, COARSEST);
    else if (taken < FAST) this.quality = Math.min(this.quality / 0.7, 1);
  }

  // Column and row of the photo, within the scene's window, under a point of the screen; or null.
  pick(clientX, clientY) {
    if (!this.scene || !this.drawing) return null;
    const { canvas, gl } = this;
    const box = canvas.getBoundingClientRect();
    const x = Math.floor((clientX - box.left) / box.width * canvas.width);
    const y = Math.floor((box.bottom - clientY) / box.height * canvas.height);
    if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return null;
    const frame = gl.createFramebuffer();
    const [colour, depth] = [gl.createRenderbuffer(), gl.createRenderbuffer()];
    const found = new Uint8Array(4);
    gl.bindRenderbuffer(gl.RENDERBUFFER, colour);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, canvas.width, canvas.height);
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, canvas.width, canvas.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, colour);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    this.drawing.draw(this.pose, this.size, canvas, { ...this.state, look: PICK });
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(frame);
    gl.deleteRenderbuffer(colour);
    gl.deleteRenderbuffer(depth);
    const place = [256 * found[0] + found[1] - 0.5, 256 * found[2] + found[3] - 0.5];
    return found.some((byte) => byte > 0) ? place : null;
  }

  turnBy(yaw, pitch) {
    if (this.pose.turnBy(yaw, pitch)) this.hint(EDGE);
    this.moved();
  }

  zoomBy(factor) {
    this.pose.zoomBy(factor);
    this.moved();
  }

  moveBy(dx, dy) {
    this.pose.moveBy(dx, dy, this.size, this.canvas);
    this.moved();
  }

  shine(x, y) {
    this.pose.shine(x, y);
    this.state.coefficients = null;
    if (this.tell.lit) this.tell.lit();
    this.redraw();
  }

  reset() {
    this.pose.reset();
    if (this.tell.reset) this.tell.reset();
    this.moved();
  }

  moved() {
    if (this.tell.posed) this.tell.posed();
    this.redraw();
  }
}
