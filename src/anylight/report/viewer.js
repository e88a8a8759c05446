"use strict";
// Draws the surface of the report in plain WebGL 2. Frame: x right, y up, z to the viewer.
(function () {
  const byId = (id) => document.getElementById(id);
  const surface = byId("surface");
  const data = JSON.parse(byId("data").textContent);
  byId("data").remove();
  const view = byId("view");
  const ball = byId("ball");
  const notice = byId("notice");
  const still = byId("still");

  const VERTEX = `#version 300 es
    in vec3 position;
    in vec2 pixel;
    uniform vec3 size;
    uniform mat3 turn;
    uniform vec3 shift;
    uniform vec4 lens;
    out vec2 place;
    void main() {
      vec3 p = turn * ((position - 0.5) * size) + shift;
      place = pixel + 0.5;
      gl_Position = vec4(p.x * lens.x, p.y * lens.y, p.z * lens.z + lens.w, -p.z);
    }`;
  const FRAGMENT = `#version 300 es
    precision highp float;
    in vec2 place;
    uniform sampler2D bumps, paint;
    uniform vec2 bumpSpan, paintSpan;
    uniform mat3 turn;
    uniform int look, estimated;
    uniform vec3 light;
    uniform float strength, ambient;
    uniform vec3 coefficients[9];
    out vec4 result;
    vec3 linear(vec3 c) {
      return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
    }
    vec3 coded(vec3 c) {
      c = clamp(c, 0.0, 1.0);
      return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
    }
    vec3 harmonic(vec3 n) {
      float x = n.x, y = -n.y, z = -n.z;
      return 0.282095 * coefficients[0]
        + 0.488603 * (y * coefficients[1] + z * coefficients[2] + x * coefficients[3])
        + 1.092548 * (x * y * coefficients[4] + y * z * coefficients[5]
          + (3.0 * z * z - 1.0) * 0.288675 * coefficients[6]
          + x * z * coefficients[7] + 0.5 * (x * x - y * y) * coefficients[8]);
    }
    void main() {
      vec3 n = normalize(texture(bumps, place / bumpSpan).xyz * 2.0 - 1.0);
      float side = gl_FrontFacing ? 1.0 : -1.0;
      if (look == 2) {
        result = vec4((n * 0.5 + 0.5) * (side > 0.0 ? 1.0 : 0.3), 1.0);
        return;
      }
      vec3 colour = look == 1 ? vec3(0.65) : linear(texture(paint, place / paintSpan).rgb);
      vec3 lit = estimated == 1
        ? max(harmonic(n), 0.0) * strength
        : vec3(ambient + strength * max(dot(turn * n * side, light), 0.0));
      result = vec4(coded(colour * lit * (side > 0.0 ? 1.0 : 0.25)), 1.0);
    }`;

  if (!data.cells) {
    say("There is no depth with a camera: this is a still picture instead of the viewer.");
    return;
  }

  const decoded = (text, kind) => {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return new kind(bytes.buffer);
  };
  const positions = decoded(data.positions, Uint16Array);
  const pixels = decoded(data.pixels, Uint16Array);
  const indices = triangles(decoded(data.cells, Uint8Array), data.grid);
  const largest = Math.max(...data.size);
  const size = data.size.map((side) => 2 * side / largest);
  const [width, height, thickness] = size;
  const radius = Math.hypot(width, height, thickness) / 2;
  const lights = data.lights || [];

  const START = { yaw: 0, pitch: 0, zoom: 1, x: 0, y: 0, light: [-0.45, 0.5] };
  let pose = { ...START };
  let gl = null;
  let scene = null;
  let images = null;
  let asked = false;

  start();

  function start() {
    gl = view.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!gl) {
      surface.dataset.state = "missing";
      say("This browser offers no WebGL 2: this is a still picture instead of the viewer.");
      return;
    }
    const wanted = [load(data.bumps.address), data.paint ? load(data.paint.address) : null];
    Promise.all(wanted).then((loaded) => {
      images = loaded;
      scene = build();
      if (still) still.hidden = true;
      for (const part of [view, ball, byId("controls"), byId("help")]) part.hidden = false;
      listen();
      redraw();
    }).catch((error) => {
      surface.dataset.state = "missing";
      view.hidden = ball.hidden = true;
      if (still) still.hidden = false;
      say("The viewer could not start (" + error.message + "): this is a still picture instead.");
    });
  }

  function say(text) {
    notice.textContent = text;
    notice.hidden = !text;
  }

  function load(address) {
    return new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => done(image);
      image.onerror = () => failed(new Error("a texture cannot be read"));
      image.src = address;
    });
  }

  function triangles(cells, [rows, columns]) {
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

  function build() {
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(program) || "a shader does not link");
    }
    gl.useProgram(program);
    gl.bindVertexArray(gl.createVertexArray());
    attribute(program, "position", positions, 3, true);
    attribute(program, "pixel", pixels, 2, false);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    const find = (name) => gl.getUniformLocation(program, name);
    texture(0, images[0]);
    texture(1, images[1]);
    gl.uniform1i(find("bumps"), 0);
    gl.uniform1i(find("paint"), 1);
    gl.uniform2fv(find("bumpSpan"), data.bumps.span);
    gl.uniform2fv(find("paintSpan"), data.paint ? data.paint.span : [1, 1]);
    gl.uniform3fv(find("size"), size);
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
    const places = {};
    for (const name of ["turn", "shift", "lens", "look", "estimated", "light", "strength",
      "ambient", "coefficients"]) places[name] = find(name);
    return places;
  }

  function attribute(program, name, values, count, normalised) {
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, count, gl.UNSIGNED_SHORT, normalised, 0, 0);
  }

  function texture(unit, image) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    if (image) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
    } else {
      const white = new Uint8Array([255, 255, 255, 255]);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, white);
    }
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  }

  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (scene && !gl.isContextLost()) draw();
    });
  }

  function draw() {
    const sharpness = Math.min(window.devicePixelRatio || 1, 2.5);
    const across = Math.max(Math.round(view.clientWidth * sharpness), 1);
    const down = Math.max(Math.round(view.clientHeight * sharpness), 1);
    if (view.width !== across || view.height !== down) {
      view.width = across;
      view.height = down;
    }
    gl.viewport(0, 0, across, down);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const opening = Math.tan((28 / 2) * Math.PI / 180);
    const away = distance() / pose.zoom;
    const near = Math.max(away - 2.2 * radius, away * 0.02);
    const far = away + 2.2 * radius;
    gl.uniformMatrix3fv(scene.turn, false, rotation());
    gl.uniform3f(scene.shift, pose.x, pose.y, -away);
    gl.uniform4f(scene.lens, down / across / opening, 1 / opening,
      (far + near) / (near - far), 2 * far * near / (near - far));
    gl.uniform1i(scene.look, look());
    const photo = Number(byId("lamp").value);
    gl.uniform1i(scene.estimated, photo >= 0 ? 1 : 0);
    if (photo >= 0) gl.uniform3fv(scene.coefficients, lights[photo].coefficients);
    gl.uniform3fv(scene.light, direction());
    gl.uniform1f(scene.strength, Number(byId("strength").value));
    gl.uniform1f(scene.ambient, Number(byId("ambient").value));
    gl.drawElements(gl.TRIANGLES, indices.length, gl.UNSIGNED_INT, 0);
    drawBall();
    surface.dataset.state = "ready";
  }

  function distance() {
    const opening = Math.tan((28 / 2) * Math.PI / 180);
    const aspect = Math.max(view.clientWidth, 1) / Math.max(view.clientHeight, 1);
    return 1.06 * Math.max(height, width / aspect) / 2 / opening + thickness / 2;
  }

  function rotation() {
    const [s, c, t, d] = [Math.sin(pose.yaw), Math.cos(pose.yaw), Math.sin(pose.pitch),
      Math.cos(pose.pitch)];
    return [c, t * s, -d * s, 0, d, t, s, -t * c, d * c];
  }

  function direction() {
    const [x, y] = pose.light;
    return [x, y, Math.sqrt(Math.max(1 - x * x - y * y, 0))];
  }

  function look() {
    const chosen = Number(document.querySelector("input[name=look]:checked").value);
    return chosen === 0 && !data.paint ? 1 : chosen;
  }

  function drawBall() {
    const [x, y, z] = direction();
    const pen = ball.getContext("2d");
    const half = ball.width / 2;
    const bright = Number(byId("lamp").value) >= 0 ? 90 : 235;
    pen.clearRect(0, 0, ball.width, ball.height);
    const glow = pen.createRadialGradient(
      half + 0.62 * x * half, half - 0.62 * y * half, 2, half, half, half);
    glow.addColorStop(0, `rgb(${bright},${bright - 4},${bright - 14})`);
    glow.addColorStop(0.35 + 0.3 * z, "rgb(86,87,90)");
    glow.addColorStop(1, "rgb(30,31,33)");
    pen.fillStyle = glow;
    pen.beginPath();
    pen.arc(half, half, half - 3, 0, 2 * Math.PI);
    pen.fill();
    pen.strokeStyle = "rgb(120,121,124)";
    pen.lineWidth = 2;
    pen.stroke();
    pen.fillStyle = "rgb(224,164,88)";
    pen.beginPath();
    pen.arc(half + x * (half - 12), half - y * (half - 12), 9, 0, 2 * Math.PI);
    pen.fill();
  }

  function shine(x, y) {
    const length = Math.hypot(x, y);
    const most = 0.985;
    const scale = length > most ? most / length : 1;
    pose.light = [x * scale, y * scale];
    redraw();
  }

  function shineFrom(event, part) {
    const box = part.getBoundingClientRect();
    const half = Math.min(box.width, box.height) / 2;
    shine((event.clientX - box.left - box.width / 2) / half,
      -(event.clientY - box.top - box.height / 2) / half);
  }

  function turnBy(yaw, pitch) {
    pose.yaw += yaw;
    pose.pitch = Math.min(Math.max(pose.pitch + pitch, -1.55), 1.55);
    redraw();
  }

  function zoomBy(factor) {
    pose.zoom = Math.min(Math.max(pose.zoom * factor, 0.3), 40);
    redraw();
  }

  function moveBy(dx, dy) {
    const opening = Math.tan((28 / 2) * Math.PI / 180);
    const unit = 2 * opening * distance() / pose.zoom / Math.max(view.clientHeight, 1);
    pose.x += dx * unit;
    pose.y -= dy * unit;
    redraw();
  }

  function reset() {
    pose = { ...START };
    byId("controls").reset();
    redraw();
  }

  function oneLamp() {
    byId("lamp").value = "-1";
  }

  function listen() {
    const select = byId("lamp");
    lights.forEach((light, index) => {
      const option = document.createElement("option");
      option.value = String(index);
      option.textContent = "photo " + (index + 1) + ": " + light.name;
      select.append(option);
    });
    select.closest("label").hidden = lights.length === 0;
    if (!data.paint) {
      const [colours, clay] = document.querySelectorAll("input[name=look]");
      colours.disabled = true;
      colours.removeAttribute("checked");
      clay.setAttribute("checked", "");
      clay.checked = true;
    }
    const controls = byId("controls");
    controls.addEventListener("input", redraw);
    controls.addEventListener("submit", (event) => event.preventDefault());
    byId("again").addEventListener("click", reset);

    const fingers = new Map();
    let task = "";
    view.addEventListener("pointerdown", (event) => {
      view.focus({ preventScroll: true });
      view.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event);
      task = event.button === 2 || event.shiftKey ? "light"
        : event.button === 1 || event.ctrlKey ? "move" : "turn";
      if (task === "light") { oneLamp(); shineFrom(event, view); }
      event.preventDefault();
    });
    view.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) {
        if (byId("follow").checked) { oneLamp(); shineFrom(event, view); }
        return;
      }
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (fingers.size === 2) {
        const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
        const gap = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
        zoomBy(Math.max(gap(event), 1) / Math.max(gap(before), 1));
        moveBy(dx / 2, dy / 2);
      } else if (task === "light") {
        shineFrom(event, view);
      } else if (task === "move") {
        moveBy(dx, dy);
      } else {
        turnBy(dx * 0.007, dy * 0.007);
      }
      fingers.set(event.pointerId, event);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
      view.addEventListener(kind, (event) => fingers.delete(event.pointerId));
    }
    view.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      zoomBy(Math.exp(-event.deltaY * lines * 0.0015));
    }, { passive: false });
    view.addEventListener("contextmenu", (event) => event.preventDefault());
    view.addEventListener("dblclick", reset);

    ball.addEventListener("pointerdown", (event) => {
      ball.focus({ preventScroll: true });
      ball.setPointerCapture(event.pointerId);
      oneLamp();
      shineFrom(event, ball);
      event.preventDefault();
    });
    ball.addEventListener("pointermove", (event) => {
      if (ball.hasPointerCapture(event.pointerId)) shineFrom(event, ball);
    });

    const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    for (const part of [view, ball]) {
      part.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const arrow = ARROWS[event.key];
        if (arrow && (part === ball || event.shiftKey)) {
          oneLamp();
          shine(pose.light[0] + 0.06 * arrow[0], pose.light[1] + 0.06 * arrow[1]);
        } else if (arrow) {
          turnBy(0.08 * arrow[0], -0.08 * arrow[1]);
        } else if (event.key === "+" || event.key === "=") {
          zoomBy(1.15);
        } else if (event.key === "-") {
          zoomBy(1 / 1.15);
        } else if (event.key === "r" || event.key === "R") {
          reset();
        } else {
          return;
        }
        event.preventDefault();
      });
    }

    view.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      scene = null;
      surface.dataset.state = "lost";
      say("The graphics card was taken away; waiting for it.");
    });
    view.addEventListener("webglcontextrestored", () => {
      scene = build();
      say("");
      redraw();
    });
    new ResizeObserver(redraw).observe(view);
    window.addEventListener("resize", redraw);
  }
})();
