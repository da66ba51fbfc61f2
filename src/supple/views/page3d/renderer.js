// Drawing by WebGL 2: lit surfaces on sections, their edges and shadows, a floor, and wide lines.

const SURFACE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 at;
layout(location = 1) in vec3 normal;
layout(location = 3) in vec4 tint;
layout(location = 4) in float value;
uniform mat4 camera;
uniform vec3 up, sun;
uniform float floor_height, flattened;
out vec3 place, facing;
out vec4 colour;
out float level;
void main() {
  place = at;
  if (flattened > 0.5) place -= sun * ((dot(place, up) - floor_height) / dot(sun, up));
  facing = normal;
  colour = tint;
  level = value;
  gl_Position = camera * vec4(place, 1.0);
}`;
const PALETTE = [[0.16, 0.24, 0.52], [0.13, 0.52, 0.66], [0.37, 0.73, 0.5], [0.96, 0.83, 0.33], [0.93, 0.49, 0.2], [0.72, 0.13, 0.19]];
const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 place, facing;
in vec4 colour;
in float level;
uniform vec3 eye, sun, up;
uniform float mapped;
uniform vec3 palette[6];
out vec4 shown;
void main() {
  vec3 n = normalize(facing), to_eye = normalize(eye - place);
  if (dot(n, to_eye) < 0.0) n = -n;
  vec3 base = colour.rgb;
  if (mapped > 0.5 && level >= 0.0) {
    float t = clamp(level, 0.0, 1.0) * 5.0;
    int k = min(int(t), 4);
    base = mix(palette[k], palette[k + 1], t - float(k));
  }
  float key = max(dot(n, sun), 0.0), sky = 0.5 + 0.5 * dot(n, up);
  vec3 half_way = normalize(sun + to_eye);
  float shine = pow(max(dot(n, half_way), 0.0), 42.0) * 0.32, rim = pow(1.0 - max(dot(n, to_eye), 0.0), 3.0) * 0.16;
  float lamp = max(dot(n, to_eye), 0.0);
  vec3 lit = base * (0.22 + 0.3 * sky + 0.46 * key + 0.2 * lamp) + vec3(shine + rim);
  shown = vec4(lit * colour.a, colour.a);
}`;
// The same light, found for every point beforehand: x times the colour, and y of white.
const QUICK_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 at;
layout(location = 2) in vec2 light;
layout(location = 3) in vec4 tint;
layout(location = 4) in float value;
uniform mat4 camera;
out vec4 colour;
out vec3 lit;
void main() {
  colour = tint;
  lit = vec3(light, value);
  gl_Position = camera * vec4(at, 1.0);
}`;
const QUICK_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
in vec3 lit;
uniform float mapped;
uniform vec3 palette[6];
out vec4 shown;
void main() {
  vec3 base = colour.rgb;
  if (mapped > 0.5 && lit.z >= 0.0) {
    float t = clamp(lit.z, 0.0, 1.0) * 5.0;
    int k = min(int(t), 4);
    base = mix(palette[k], palette[k + 1], t - float(k));
  }
  shown = vec4((base * lit.x + lit.y) * colour.a, colour.a);
}`;
const EDGE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 place, facing;
in vec4 colour;
in float level;
uniform vec4 ink;
out vec4 shown;
void main() { shown = vec4(ink.rgb * ink.a, ink.a); }`;
// What is behind everything: light around the middle, darker towards the corners.
const SKY_VERTEX = `#version 300 es
precision highp float;
out vec2 away;
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  away = vec2(corner.x, (corner.y - 0.3) / 1.3) * 0.7071;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;
const SKY_FRAGMENT = `#version 300 es
precision mediump float;
in vec2 away;
uniform vec3 bright, dim;
out vec4 shown;
void main() { shown = vec4(mix(bright, dim, min(length(away), 1.0)), 1.0); }`;
const SKIES = [{ bright: [0.969, 0.976, 0.988], dim: [0.851, 0.882, 0.918] }, { bright: [0.161, 0.196, 0.239], dim: [0.055, 0.071, 0.09] }];
const FLOOR_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 corner;
uniform mat4 camera;
uniform vec3 middle, along, across;
uniform float reach;
out vec2 at;
out float weight;
void main() {
  at = corner.xy / reach;
  weight = corner.z;
  gl_Position = camera * vec4(middle + along * corner.x + across * corner.y, 1.0);
}`;
const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
in float weight;
uniform vec4 ink;
out vec4 shown;
void main() {
  float alpha = ink.a * weight * smoothstep(1.0, 0.1, length(at));
  shown = vec4(ink.rgb * alpha, alpha);
}`;
const LINE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 a;
layout(location = 1) in vec3 b;
layout(location = 2) in vec4 tint;
layout(location = 3) in vec2 widths;
uniform mat4 camera;
uniform vec2 size;
out vec4 colour;
const vec2 corner[6] = vec2[6](vec2(0, -1), vec2(1, -1), vec2(1, 1), vec2(0, -1), vec2(1, 1), vec2(0, 1));
void main() {
  vec4 p = camera * vec4(a, 1.0), q = camera * vec4(b, 1.0);
  vec2 way = (q.xy / q.w - p.xy / p.w) * size;
  vec2 side = normalize(vec2(-way.y, way.x) + vec2(1e-9, 0.0));
  vec2 c = corner[gl_VertexID];
  vec4 at = mix(p, q, c.x);
  at.xy += side * c.y * mix(widths.x, widths.y, c.x) / size * at.w;
  colour = tint;
  gl_Position = at;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
out vec4 shown;
void main() { shown = vec4(colour.rgb * colour.a, colour.a); }`;

function compiled(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const where = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const name = gl.getActiveUniform(program, i).name.replace("[0]", "");
    where[name] = gl.getUniformLocation(program, name);
  }
  return { program, where };
}

// Software renderers pay for every sample of a pixel: pages draw without, and finer where nothing moves.
function bySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2"), about = gl?.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software|basic render/i.test(about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "");
}

// Vectors (3 numbers each) turned by their sections, and with w = 1 moved by them.
function turnedBy(sections, section, vectors, w, out) {
  for (let v = 0, k = 0; v < section.length; v++, k += 3) {
    const s = 12 * section[v], x = vectors[k], y = vectors[k + 1], z = vectors[k + 2];
    out[k] = sections[s] * x + sections[s + 1] * y + sections[s + 2] * z + w * sections[s + 3];
    out[k + 1] = sections[s + 4] * x + sections[s + 5] * y + sections[s + 6] * z + w * sections[s + 7];
    out[k + 2] = sections[s + 8] * x + sections[s + 9] * y + sections[s + 10] * z + w * sections[s + 11];
  }
}

// Light of points as SURFACE_FRAGMENT has it: two numbers each.
function lightOf(place, facing, { eye, sun, up }, out) {
  for (let k = 0, m = 0; k < place.length; k += 3, m += 2) {
    let x = eye[0] - place[k], y = eye[1] - place[k + 1], z = eye[2] - place[k + 2], nx = facing[k], ny = facing[k + 1], nz = facing[k + 2];
    const far = 1 / Math.sqrt(x * x + y * y + z * z);
    [x, y, z] = [x * far, y * far, z * far];
    let long = 1 / (Math.sqrt(nx * nx + ny * ny + nz * nz) || 1), lamp = long * (nx * x + ny * y + nz * z);
    if (lamp < 0) [long, lamp] = [-long, -lamp];
    [nx, ny, nz] = [nx * long, ny * long, nz * long];
    const [hx, hy, hz] = [sun[0] + x, sun[1] + y, sun[2] + z], toSun = nx * sun[0] + ny * sun[1] + nz * sun[2];
    const half = Math.max(nx * hx + ny * hy + nz * hz, 0) / (Math.sqrt(hx * hx + hy * hy + hz * hz) || 1), rim = 1 - lamp;
    out[m] = 0.37 + 0.15 * (nx * up[0] + ny * up[1] + nz * up[2]) + 0.46 * Math.max(toSun, 0) + 0.2 * lamp;
    out[m + 1] = (half > 0.8 ? 0.32 * half ** 42 : 0) + 0.16 * rim * rim * rim;
  }
}

// Whether a triangle is of a wall inside of a hollow beam: all its normals point to the axis.
function inside(part, first) {
  if (part.kind !== "beam") return false;
  for (let k = first; k < first + 3; k++) {
    const v = 3 * part.triangles[k];
    if (Math.abs(part.normal[v]) > 20 || part.normal[v + 1] * part.offset[v + 1] + part.normal[v + 2] * part.offset[v + 2] >= 0) return false;
  }
  return true;
}

class Renderer {
  constructor(canvas, robot, tints, grid) {
    this.software = bySoftware();
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: !this.software, stencil: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    Object.assign(this, { gl, canvas, robot });
    this.surface = compiled(gl, SURFACE_VERTEX, SURFACE_FRAGMENT);
    this.quick = compiled(gl, QUICK_VERTEX, QUICK_FRAGMENT);
    this.edge = compiled(gl, SURFACE_VERTEX, EDGE_FRAGMENT);
    this.sky = compiled(gl, SKY_VERTEX, SKY_FRAGMENT);
    this.ground = compiled(gl, FLOOR_VERTEX, FLOOR_FRAGMENT);
    this.line = compiled(gl, LINE_VERTEX, LINE_FRAGMENT);
    this.buffers(tints, grid);
  }

  buffers(tints, grid) {
    const { gl, robot } = this;
    const n = robot.vertices, offset = new Float32Array(3 * n), normal = new Float32Array(3 * n), section = new Uint32Array(n);
    const tint = new Uint8Array(4 * n), solid = [], within = [], open = [], edges = [];
    robot.parts.forEach((part, k) => {
      offset.set(part.offset, 3 * part.base);
      for (let v = 0; v < part.station.length; v++) {
        for (let c = 0; c < 3; c++) normal[3 * (part.base + v) + c] = part.normal[3 * v + c] / 127;
        section[part.base + v] = part.first + part.station[v];
        tint.set(tints[k], 4 * (part.base + v));
      }
      for (let i = 0; i < part.triangles.length; i += 3) {
        const triangles = !part.solid ? open : inside(part, i) ? within : solid;
        for (let c = 0; c < 3; c++) triangles.push(part.base + part.triangles[i + c]);
      }
      for (const i of part.edges) edges.push(part.base + i);
    });
    this.vao = gl.createVertexArray();
    gl.bindVertexArray(this.vao);
    const attribute = (place, data, size, type, normalised = false) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, normalised, 0, 0);
      return buffer;
    };
    Object.assign(this, { offset, normal, section, place: new Float32Array(3 * n), facing: new Float32Array(3 * n), light: new Float32Array(2 * n) });
    this.places = attribute(0, this.place, 3, gl.FLOAT);
    this.facings = attribute(1, this.facing, 3, gl.FLOAT);
    this.lights = attribute(2, this.light, 2, gl.FLOAT);
    attribute(3, tint, 4, gl.UNSIGNED_BYTE, true);
    this.values = attribute(4, new Float32Array(n), 1, gl.FLOAT);
    for (const [name, list] of Object.entries({ solid, within, open, edges })) {
      const own = (this[name] = { buffer: gl.createBuffer(), count: list.length });
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, own.buffer);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(list), gl.STATIC_DRAW);
    }
    this.floorVao = gl.createVertexArray();
    gl.bindVertexArray(this.floorVao);
    attribute(0, new Float32Array(grid), 3, gl.FLOAT);
    this.gridCount = grid.length / 3;
    this.lineVao = gl.createVertexArray();
    gl.bindVertexArray(this.lineVao);
    this.lines = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lines);
    [[0, 3, 0], [1, 3, 12], [2, 4, 24], [3, 2, 40]].forEach(([place, size, from]) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 48, from);
      gl.vertexAttribDivisor(place, 1);
    });
    gl.bindVertexArray(null);
  }

  colourBy(values) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.values);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  // Points where sections have them. Done here and not by the vertex shader, which software renderers run once for every
  // corner of every triangle and pass.
  upload(sections) {
    turnedBy(sections, this.section, this.offset, 1, this.place);
    this.send(this.places, this.place);
  }

  // Their normals, or, where it must be quick, the light that falls on them.
  uploadLit(sections, view) {
    this.upload(sections);
    turnedBy(sections, this.section, this.normal, 0, this.facing);
    if (!view.quick) return this.send(this.facings, this.facing);
    lightOf(this.place, this.facing, { eye: view.eye, sun: view.sun, up: view.up }, this.light);
    this.send(this.lights, this.light);
  }

  send(buffer, data) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferSubData(this.gl.ARRAY_BUFFER, 0, data);
  }

  use({ program, where }, values) {
    const { gl } = this;
    gl.useProgram(program);
    for (const [name, x] of Object.entries(values)) {
      const at = where[name];
      if (!at) continue;
      if (typeof x === "number") gl.uniform1f(at, x);
      else if (x.length === 16) gl.uniformMatrix4fv(at, false, x);
      else if (x.length === 18) gl.uniform3fv(at, x);
      else gl[`uniform${x.length}fv`](at, x);
    }
  }

  // Of solid parts, triangles that are seen from within lie behind others; walls inside of tubes can wait where it must be quick.
  surfaces(quick) {
    const { gl } = this;
    gl.enable(gl.CULL_FACE);
    this.elements(this.solid, gl.TRIANGLES);
    if (!quick) this.elements(this.within, gl.TRIANGLES);
    gl.disable(gl.CULL_FACE);
    this.elements(this.open, gl.TRIANGLES);
  }

  elements(own, mode) {
    if (!own.count) return;
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, own.buffer);
    this.gl.drawElements(mode, own.count, this.gl.UNSIGNED_INT, 0);
  }

  draw(view) {
    const { gl, canvas } = this;
    const dark = view.dark;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.use(this.sky, SKIES[dark ? 1 : 0]);
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const common = { camera: view.camera, eye: view.eye, up: view.up, sun: view.sun, floor_height: view.floor, flattened: 0,
      palette: PALETTE.flat(), mapped: view.mapped ? 1 : 0, ink: [0, 0, 0, 1] };
    if (view.showFloor) this.drawFloor(view, common, dark);
    gl.bindVertexArray(this.vao);
    if (view.ghost) {
      this.upload(view.ghost);
      this.use(this.edge, { ...common, ink: dark ? [0.75, 0.82, 0.9, 0.34] : [0.2, 0.26, 0.33, 0.3] });
      this.elements(this.edges, gl.LINES);
    }
    this.uploadLit(view.sections, view);
    if (view.showFloor) this.drawShadow(common, dark);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 2);
    this.use(view.quick ? this.quick : this.surface, common);
    this.surfaces(view.quick);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    if (view.showEdges) {
      this.use(this.edge, { ...common, ink: dark ? [0.02, 0.03, 0.05, 0.75] : [0.06, 0.09, 0.13, 0.55] });
      this.elements(this.edges, gl.LINES);
    }
    this.drawLines(view);
    gl.bindVertexArray(null);
  }

  drawFloor(view, common, dark) {
    const { gl } = this;
    gl.bindVertexArray(this.floorVao);
    gl.depthMask(false);
    this.use(this.ground, { ...common, ...view.ground, ink: dark ? [0.62, 0.7, 0.8, 0.32] : [0.28, 0.36, 0.46, 0.36] });
    gl.drawArrays(gl.LINES, 0, this.gridCount);
    gl.depthMask(true);
  }

  // Every point of the floor is darkened once, however many surfaces shade it.
  drawShadow(common, dark) {
    const { gl } = this;
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    this.use(this.edge, { ...common, flattened: 1, ink: [0, 0.02, 0.05, dark ? 0.34 : 0.13] });
    this.surfaces(true);
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
  }

  drawLines(view) {
    const { gl, canvas } = this;
    if (!view.lines.length) return;
    gl.bindVertexArray(this.lineVao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lines);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(view.lines), gl.DYNAMIC_DRAW);
    this.use(this.line, { camera: view.camera, size: [canvas.clientWidth, canvas.clientHeight] });
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, view.lines.length / 12);
  }
}
