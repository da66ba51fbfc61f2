// The robot's own code, which stands in this file as WebAssembly: poses, equilibria, modes, linear models.

const ANSWERED = 0, POSTURES = 0, LINEAR = 2, WALKED = 0, CARRIED_OVER = 1;

// A module of the file, with room for numbers.
class CompiledC {
  static async of(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), { Math });
    return new CompiledC(instance.exports);
  }

  constructor(calls) {
    Object.assign(this, { calls, next: calls.__heap_base.value });
  }

  // The address of room for so many bytes.
  room(bytes) {
    const at = (this.next + 63) & ~63;
    this.next = at + bytes;
    const missing = this.next - this.calls.memory.buffer.byteLength;
    if (missing > 0) this.calls.memory.grow(Math.ceil(missing / 65536));
    return at;
  }

  numbers(n) {
    return this.room(8 * Math.max(n, 1));
  }

  at(address, n) {
    return new Float64Array(this.calls.memory.buffer, address, n);
  }

  put(address, values) {
    this.at(address, values.length).set(values);
    return address;
  }
}

class Engine {
  constructor(code, about, arrays) {
    Object.assign(this, { code, about, sizes: about.sizes });
    this.home = arrays.home;
    this.own = Float64Array.from(about.parameters, (x) => x.value);
    const { q, p, w, given, v, frames } = this.sizes;
    this.in = { seed: code.numbers(q), seed_p: code.numbers(p), shift: code.put(code.numbers(q), arrays.shift), given: code.numbers(given), p: code.numbers(p), load: code.put(code.numbers(w), about.loads) };
    this.out = Object.fromEntries(about.outputs.map(([name, size]) => [name, { size, at: code.numbers(size) }]));
    const ints = (values) => {
      const at = code.room(4 * values.length);
      new Int32Array(code.calls.memory.buffer, at, values.length).set(values);
      return at;
    };
    this.pointers = { in: ints(Object.values(this.in)), out: ints(about.outputs.map(() => 0)), options: ints([0, 0, 0]), stop: ints([0]) };
    this.steps = code.room(8 * 6);
    new BigInt64Array(code.calls.memory.buffer, this.steps, 6).fill(0n);
    this.work = code.room(Number(code.calls.supple_workspace()));
    this.drawn = { q: code.numbers(q), p: code.numbers(p), direction: code.numbers(v), R: code.numbers(9 * frames), x: code.numbers(3 * frames), strain: code.numbers(about.elastic.q.length), kinetic: code.numbers(frames), elastic: code.numbers(frames) };
  }

  // What is wanted of a pose, by name, or null where there is no answer.
  ask(given, p, wanted, { stage = LINEAR, modes = 0, way = WALKED, seed = null } = {}) {
    const { code } = this;
    code.put(this.in.seed, seed ? seed.q : this.home);
    code.put(this.in.seed_p, seed ? seed.p : p);
    code.put(this.in.given, given);
    code.put(this.in.p, p);
    const names = new Set(["status", ...wanted]);
    new Int32Array(code.calls.memory.buffer, this.pointers.out, this.about.outputs.length).set(this.about.outputs.map(([name]) => (names.has(name) ? this.out[name].at : 0)));
    new Int32Array(code.calls.memory.buffer, this.pointers.options, 3).set([stage, modes, way]);
    code.calls.supple_core(1n, this.pointers.in, this.steps, this.pointers.out, this.pointers.options, this.work, this.pointers.stop);
    const found = Object.fromEntries([...names].map((name) => [name, code.at(this.out[name].at, this.out[name].size).slice()]));
    return found.status[0] === ANSWERED ? found : null;
  }

  // A pose of a design; one whose loops differ from those of the robot as it was is first carried over at home.
  answer(given, p, wanted, options = {}) {
    if (this.about.alike || p.every((x, k) => x === this.own[k])) return this.ask(given, p, wanted, options);
    const home = Float64Array.from(this.about.given, (x) => this.home[x.q]);
    const carried = this.ask(home, p, ["posture"], { stage: POSTURES, way: CARRIED_OVER, seed: { q: this.home, p: this.own } });
    return carried && this.ask(given, p, wanted, { ...options, seed: { q: carried.posture, p } });
  }

  // Where frames are: rotations, places, and strain coordinates of bodies.
  frames(q, p) {
    const { code, drawn } = this;
    code.calls.drawn_frames(code.put(drawn.q, q), code.put(drawn.p, p), drawn.R, drawn.x, drawn.strain);
    const take = (at, n) => code.at(at, n).slice(), { frames } = this.sizes, elastic = this.about.elastic.q;
    return { R: take(drawn.R, 9 * frames), p: take(drawn.x, 3 * frames), e: Float64Array.from(elastic, (i) => q[i]), x: take(drawn.strain, elastic.length) };
  }

  // How a small motion moves them, and energies in it, frame by frame.
  moves(q, direction, p) {
    const { code, drawn } = this, { frames } = this.sizes;
    code.calls.drawn_moves(code.put(drawn.q, q), code.put(drawn.direction, direction), code.put(drawn.p, p), drawn.R, drawn.x, drawn.strain, drawn.kinetic, drawn.elastic);
    const take = (at, n) => code.at(at, n).slice(), elastic = this.about.elastic.v;
    return { R: take(drawn.R, 9 * frames), p: take(drawn.x, 3 * frames), e: Float64Array.from(elastic, (i) => direction[i]), x: take(drawn.strain, elastic.length),
      kinetic: take(drawn.kinetic, frames), elastic: take(drawn.elastic, frames) };
  }

  // Frequencies (Hz), damping ratios to first order, and shapes over all coordinates.
  modes(found) {
    const { v, independent: n } = this.sizes, count = this.about.modes, made = [];
    for (let k = 0; k < count; k++) {
      const square = this.about.free ? -found.mu[k] : 1 / found.mu[k], omega = Math.sign(square) * Math.sqrt(Math.abs(square));
      const shape = Float64Array.from({ length: v }, (_, i) => found.shapes[i * count + k]);
      const own = this.about.independent.map((i) => shape[i]);
      let viscous = 0, lossy = 0;
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          viscous += own[i] * found.D[i * n + j] * own[j];
          lossy += own[i] * found.H[i * n + j] * own[j];
        }
      const damping = omega > 0 ? (viscous / omega + lossy / omega ** 2) / 2 : 0;
      made.push({ frequency: omega / (2 * Math.PI), damping, shape });
    }
    return made;
  }

  // Compliance (3 x 3, m/N) of a point, actuators held; null where nothing holds it.
  compliance(found, point) {
    const { v, independent: n } = this.sizes, L = found.K.slice(), rows = [];
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) L[i * n + j] = L[j * n + i] = (L[i * n + j] + L[j * n + i]) / 2;
    if (!cholesky(L, n)) return null;
    for (let c = 0; c < 3; c++) {
      const row = found.points.subarray((6 * point + c) * v, (6 * point + c + 1) * v), made = new Float64Array(n);
      this.about.independent.forEach((i, k) => (made[k] = row[i]));
      this.about.dependent.forEach((i, d) => {
        for (let k = 0; k < n; k++) made[k] += row[i] * found.S[d * n + k];
      });
      rows.push(made);
    }
    return rows.map((a) => rows.map((b) => dot([...a], [...choleskySolve(L, n, b.slice())])));
  }
}
