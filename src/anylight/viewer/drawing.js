// One surface on the graphics card: program, buffers, textures. Everything is given back before it
// is replaced.
import { FRAGMENT, VERTEX } from "./shaders.js";

const UNIFORMS = ["turn", "shift", "lens", "look", "estimated", "light", "strength", "ambient",
  "coefficients", "relief", "size", "bumps", "paint", "picture", "bumpSpan", "paintSpan",
  "pictureSpan"];
const UNITS = { bumps: 0, paint: 1, picture: 2 };

export class Drawing {
  constructor(gl) {
    this.gl = gl;
    this.kept = [];
    this.textures = {};
    this.count = 0;
    this.program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(this.program) || "a shader does not link");
    }
    gl.useProgram(this.program);
    this.places = {};
    for (const name of UNIFORMS) this.places[name] = gl.getUniformLocation(this.program, name);
    for (const [name, unit] of Object.entries(UNITS)) {
      gl.uniform1i(this.places[name], unit);
      this.texture(name, null);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
  }

  surface({ positions, pixels, indices }) {
    const gl = this.gl;
    for (const giveBack of this.kept) giveBack();
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.kept = [() => gl.deleteVertexArray(array)];
    this.attribute("position", positions, 3, true);
    this.attribute("pixel", pixels, 2, false);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    this.count = indices.length;
  }

  buffer(kind, values) {
    const gl = this.gl;
    const buffer = gl.createBuffer();
    gl.bindBuffer(kind, buffer);
    gl.bufferData(kind, values, gl.STATIC_DRAW);
    this.kept.push(() => gl.deleteBuffer(buffer));
  }

  attribute(name, values, count, normalised) {
    const gl = this.gl;
    const place = gl.getAttribLocation(this.program, name);
    this.buffer(gl.ARRAY_BUFFER, values);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, count, gl.UNSIGNED_SHORT, normalised, 0, 0);
  }

  // An image, or bytes {data, width, height} of three channels; white where there is none.
  texture(name, image, span = [1, 1]) {
    const gl = this.gl;
    if (this.textures[name]) gl.deleteTexture(this.textures[name]);
    gl.activeTexture(gl.TEXTURE0 + UNITS[name]);
    this.textures[name] = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.textures[name]);
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    if (image && image.data) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, image.width, image.height, 0, gl.RGB,
        gl.UNSIGNED_BYTE, image.data);
    } else if (image) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
    } else {
      const white = new Uint8Array([255, 255, 255, 255]);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, white);
    }
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    const place = { bumps: "bumpSpan", paint: "paintSpan", picture: "pictureSpan" }[name];
    gl.uniform2fv(this.places[place], span);
  }

  draw(pose, size, canvas, state) {
    const { gl, places } = this;
    const [across, down] = [canvas.width, canvas.height];
    const { shift, lens } = pose.lens(size, canvas, across, down);
    gl.viewport(0, 0, across, down);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix3fv(places.turn, false, pose.rotation());
    gl.uniform3fv(places.shift, shift);
    gl.uniform4fv(places.lens, lens);
    gl.uniform3fv(places.size, size);
    gl.uniform1i(places.look, state.look);
    gl.uniform1i(places.estimated, state.coefficients ? 1 : 0);
    if (state.coefficients) gl.uniform3fv(places.coefficients, state.coefficients);
    gl.uniform3fv(places.light, pose.direction());
    gl.uniform1f(places.strength, state.strength);
    gl.uniform1f(places.ambient, state.ambient);
    gl.uniform1f(places.relief, state.relief);
    if (this.count) gl.drawElements(gl.TRIANGLES, this.count, gl.UNSIGNED_INT, 0);
  }
}
