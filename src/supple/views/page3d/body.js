// The robot: its parts, and where their sections are when frames move and bodies bend.
//
// A section is a 3 x 4 matrix, row by row: the rotation of a rigid slice of a part, and its place. Everything that is drawn
// hangs on sections. They are linear in what moves them: in the amplitude of a mode, and between a straight and a bent robot.

const KINDS = { f4: Float32Array, f8: Float64Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array };

function decoded(packed) {
  const text = atob(packed.d);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new KINDS[packed.t](bytes.buffer);
}

class Robot {
  constructor(data) {
    this.data = data;
    const known = new Map();
    this.array = (k) => {
      if (k === null || k === undefined) return null;
      if (!known.has(k)) known.set(k, decoded(data.arrays[k]));
      return known.get(k);
    };
    this.frames = data.frames.length;
    this.parts = data.parts.map((part) => ({ ...part, stations: this.array(part.stations), shapes: this.array(part.shapes),
      second: this.array(part.second), station: this.array(part.station), offset: this.array(part.offset),
      normal: this.array(part.normal), triangles: this.array(part.triangles), edges: this.array(part.edges) }));
    this.count = 0;
    this.vertices = 0;
    for (const part of this.parts) {
      part.first = this.count;
      part.base = this.vertices;
      part.sections = part.stations.length / 3;
      part.unknowns = part.shapes.length / (6 * part.sections);
      this.count += part.sections;
      this.vertices += part.offset.length / 3;
    }
    this.rest = this.placed(data.rest);
    this.atRest = this.sections(this.rest);
  }

  placed(given) {
    return { R: this.array(given.rotation), p: this.array(given.position), e: this.array(given.elastic), x: this.array(given.strain) };
  }

  // Displacement and rotation of the sections of a part by its elastic coordinates, from `from` on in e.
  bent(part, e, out) {
    const n = part.unknowns, from = part.elastic;
    for (let s = 0; s < part.sections; s++)
      for (let c = 0; c < 6; c++) {
        let sum = 0;
        const row = (6 * s + c) * n;
        for (let k = 0; k < n; k++) sum += part.shapes[row + k] * e[from + k];
        out[6 * s + c] = sum;
      }
    return out;
  }

  // Second-order displacement: e.S f of every component of every section.
  drawnBack(part, e, f, s, c) {
    const n = part.unknowns, first = (3 * s + c) * n * n;
    let sum = 0;
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) sum += part.second[first + i * n + j] * e[part.elastic + i] * f[part.elastic + j];
    return sum;
  }

  // Sections (12 numbers each) of a robot whose frames are at R, p and whose bodies have the elastic coordinates e.
  sections({ R, p, e }, out = new Float32Array(12 * this.count)) {
    const small = new Float64Array(6 * this.count);
    for (const part of this.parts) {
      const f = part.frame, u = this.bent(part, e, small);
      for (let s = 0; s < part.sections; s++) {
        const at = 12 * (part.first + s), [wx, wy, wz] = [u[6 * s + 3], u[6 * s + 4], u[6 * s + 5]];
        const x = [0, 1, 2].map((c) => part.stations[3 * s + c] + u[6 * s + c] - (part.second ? 0.5 * this.drawnBack(part, e, e, s, c) : 0));
        for (let r = 0; r < 3; r++) {
          const a = f < 0 ? +(r === 0) : R[9 * f + 3 * r], b = f < 0 ? +(r === 1) : R[9 * f + 3 * r + 1];
          const c = f < 0 ? +(r === 2) : R[9 * f + 3 * r + 2];
          out[at + 4 * r] = a + b * wz - c * wy;
          out[at + 4 * r + 1] = b - a * wz + c * wx;
          out[at + 4 * r + 2] = c + a * wy - b * wx;
          out[at + 4 * r + 3] = (f < 0 ? 0 : p[3 * f + r]) + a * x[0] + b * x[1] + c * x[2];
        }
      }
    }
    return out;
  }

  // How fast the sections change about a robot at rest while frames and elastic coordinates have these rates.
  rates(rest, moves, out = new Float32Array(12 * this.count)) {
    const small = new Float64Array(6 * this.count), quick = new Float64Array(6 * this.count);
    for (const part of this.parts) {
      const f = part.frame;
      if (f < 0) continue;
      const u = this.bent(part, rest.e, small), v = this.bent(part, moves.e, quick);
      for (let s = 0; s < part.sections; s++) {
        const at = 12 * (part.first + s), w = u.subarray(6 * s + 3, 6 * s + 6), d = v.subarray(6 * s + 3, 6 * s + 6);
        const x = [0, 1, 2].map((c) => part.stations[3 * s + c] + u[6 * s + c] - (part.second ? 0.5 * this.drawnBack(part, rest.e, rest.e, s, c) : 0));
        const y = [0, 1, 2].map((c) => v[6 * s + c] - (part.second ? this.drawnBack(part, rest.e, moves.e, s, c) : 0));
        for (let r = 0; r < 3; r++) {
          const [a, b, c] = [0, 1, 2].map((k) => moves.R[9 * f + 3 * r + k]);
          const [g, h, i] = [0, 1, 2].map((k) => rest.R[9 * f + 3 * r + k]);
          out[at + 4 * r] = a + b * w[2] - c * w[1] + h * d[2] - i * d[1];
          out[at + 4 * r + 1] = b - a * w[2] + c * w[0] - g * d[2] + i * d[0];
          out[at + 4 * r + 2] = c + a * w[1] - b * w[0] + g * d[1] - h * d[0];
          out[at + 4 * r + 3] = moves.p[3 * f + r] + a * x[0] + b * x[1] + c * x[2] + g * y[0] + h * y[1] + i * y[2];
        }
      }
    }
    return out;
  }

  // How far every point of the surfaces moves when sections change by `change`.
  distances(change, out = new Float32Array(this.vertices)) {
    for (const part of this.parts)
      for (let v = 0; v < part.station.length; v++) {
        const at = 12 * (part.first + part.station[v]);
        const [x, y, z] = [part.offset[3 * v], part.offset[3 * v + 1], part.offset[3 * v + 2]];
        let sum = 0;
        for (let r = 0; r < 3; r++)
          sum += (change[at + 4 * r] * x + change[at + 4 * r + 1] * y + change[at + 4 * r + 2] * z + change[at + 4 * r + 3]) ** 2;
        out[part.base + v] = Math.sqrt(sum);
      }
    return out;
  }

  // Displacements of the points of a part, in the axes of its body, linear in what they are of.
  displacements(part, x) {
    const u = this.bent(part, x, new Float64Array(6 * part.sections)), made = new Float64Array(3 * part.station.length);
    for (let v = 0; v < part.station.length; v++) {
      const s = part.station[v], turn = cross(u.subarray(6 * s + 3, 6 * s + 6), part.offset.subarray(3 * v, 3 * v + 3));
      for (let c = 0; c < 3; c++) made[3 * v + c] = u[6 * s + c] + turn[c];
    }
    return made;
  }

  // The largest strain along the surface, at every point of it, of bodies with the strain coordinates x.
  strains(x, out = new Float32Array(this.vertices)) {
    out.fill(0);
    for (const part of this.parts) {
      if (!part.unknowns || !["beam", "plate", "solid"].includes(part.kind)) continue;
      const points = part.station.length, place = new Float64Array(3 * points), times = new Float32Array(points);
      for (let i = 0; i < 3 * points; i++) place[i] = part.stations[3 * part.station[Math.floor(i / 3)] + (i % 3)] + part.offset[i];
      const move = this.displacements(part, x);
      for (let t = 0; t < part.triangles.length; t += 3) {
        const corners = part.triangles.subarray(t, t + 3), found = triangleStrain(place, move, corners);
        for (const v of corners) {
          out[part.base + v] += found;
          times[v]++;
        }
      }
      for (let v = 0; v < points; v++) out[part.base + v] /= times[v] || 1;
    }
    return out;
  }
}

// The largest strain along the sides of a triangle whose corners move. Sides, because a shear between the stations of a
// thin beam would come from its drawing, not from its bending.
function triangleStrain(place, move, [a, b, c]) {
  let most = 0;
  for (const [i, j] of [[a, b], [b, c], [c, a]]) {
    let long = 0, growth = 0;
    for (let k = 0; k < 3; k++) {
      const way = place[3 * j + k] - place[3 * i + k];
      long += way * way;
      growth += way * (move[3 * j + k] - move[3 * i + k]);
    }
    if (long > 0) most = Math.max(most, Math.abs(growth) / long);
  }
  return most;
}
