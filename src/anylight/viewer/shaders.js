// What the graphics card does. Frame: x right, y up, z to the viewer.
export const VERTEX = `#version 300 es
  in vec3 position;
  in vec2 pixel;
  uniform vec3 size;
  uniform mat3 turn;
  uniform vec3 shift;
  uniform vec4 lens;
  uniform float relief;
  out vec2 place;
  void main() {
    vec3 p = turn * ((position - 0.5) * size * vec3(1.0, 1.0, relief)) + shift;
    place = pixel + 0.5;
    gl_Position = vec4(p.x * lens.x, p.y * lens.y, p.z * lens.z + lens.w, -p.z);
  }`;

export const FRAGMENT = `#version 300 es
  precision highp float;
  in vec2 place;
  uniform sampler2D bumps, paint, picture;
  uniform vec2 bumpSpan, paintSpan, pictureSpan;
  uniform mat3 turn;
  uniform int look, estimated;
  uniform vec3 light;
  uniform float strength, ambient, relief;
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
    if (look == 4) {
      vec2 high = floor(place / 256.0);
      result = vec4(high.x, place.x - 256.0 * high.x, high.y, place.y - 256.0 * high.y) / 255.0;
      return;
    }
    vec3 n = texture(bumps, place / bumpSpan).xyz * 2.0 - 1.0;
    n = normalize(n * vec3(relief, relief, 1.0));
    float side = gl_FrontFacing ? 1.0 : -1.0;
    if (look == 2) {
      result = vec4((n * 0.5 + 0.5) * (side > 0.0 ? 1.0 : 0.3), 1.0);
      return;
    }
    if (look == 3) {
      result = vec4(texture(picture, place / pictureSpan).rgb * (side > 0.0 ? 1.0 : 0.3), 1.0);
      return;
    }
    vec3 colour = look == 1 ? vec3(0.65) : linear(texture(paint, place / paintSpan).rgb);
    vec3 lit = estimated == 1
      ? max(harmonic(n), 0.0) * strength
      : vec3(ambient + strength * max(dot(turn * n * side, light), 0.0));
    result = vec4(coded(colour * lit * (side > 0.0 ? 1.0 : 0.25)), 1.0);
  }`;
