// What a robot can do on the page: vibrate in a mode, go through a motion, stand in a map.

class ModeShow {
  constructor(page) {
    Object.assign(this, { page, data: page.data.modes, phase: Math.PI / 2, known: new Map() });
    this.frames = page.robot.frames;
    const all = page.robot.placed(this.data.moves), elastic = all.e.length / this.data.frequencies.length;
    this.moves = this.data.frequencies.map((_, k) => ({ R: all.R.subarray(9 * this.frames * k, 9 * this.frames * (k + 1)),
      p: all.p.subarray(3 * this.frames * k, 3 * this.frames * (k + 1)), e: all.e.subarray(elastic * k, elastic * (k + 1)), x: all.x.subarray(elastic * k, elastic * (k + 1)) }));
    this.data.frequencies.forEach((_, k) => {
      const button = make("button", "", { type: "button", className: "mode", onclick: () => this.choose(k) });
      button.setAttribute("role", "radio");
      $("mode-list").append(button);
    });
    this.list();
    $("amplitude").addEventListener("input", () => this.say());
    $("phase").addEventListener("input", () => {
      this.phase = ($("phase").value * Math.PI) / 180;
      page.play(false);
      page.stale = true;
    });
    this.choose(page.choice.mode);
  }

  // Frequencies and damping ratios in the list.
  list() {
    [...$("mode-list").children].forEach((button, k) => {
      const f = this.data.frequencies[k], about = this.data.near ? "ζ ≈" : "ζ";
      const damping = this.data.damping[k] > 0 ? `${about} ${(100 * this.data.damping[k]).toPrecision(3)} %` : "";
      button.replaceChildren(make("small", String(k + 1)), make("span", f === null ? "–" : `${seen(f, 5)} Hz`), make("small", damping));
    });
  }

  // Modes of another pose or design.
  renew({ moves, ...known }) {
    this.moves = moves;
    this.data = { ...this.data, ...known, near: true };
    this.known.clear();
    this.list();
    for (const kind of ["elastic", "kinetic"]) this.shares(kind);
    this.say();
  }

  choose(k) {
    const n = this.moves.length, { page } = this;
    page.choice.mode = (k + n) % n;
    [...$("mode-list").children].forEach((b, i) => b.setAttribute("aria-checked", String(i === page.choice.mode)));
    const chosen = $("mode-list").children[page.choice.mode];
    $("mode-list").scrollTop = Math.max(0, chosen.offsetTop - $("mode-list").offsetTop - 80);
    for (const kind of ["elastic", "kinetic"]) this.shares(kind);
    this.say();
    if (page.renderer) page.recolour();
  }

  // Sections per unit of the mode's amplitude, and the largest displacement of any point.
  get now() {
    const k = this.page.choice.mode;
    if (!this.known.has(k)) {
      const rates = this.page.robot.rates(this.page.robot.rest, this.moves[k]), distances = this.page.robot.distances(rates);
      this.known.set(k, { rates, distances, largest: distances.reduce((a, b) => Math.max(a, b), 0) });
    }
    return this.known.get(k);
  }

  get amplitude() {
    return ($("amplitude").value * 0.09 * this.page.size) / (this.now.largest || 1);
  }

  shares(kind) {
    const k = this.page.choice.mode, rows = this.data.bodies.map((name, i) => [name, this.data[kind][i][k]]);
    rows.sort((a, b) => b[1] - a[1]);
    $(`${kind}-shares`).replaceChildren(...rows.slice(0, 4).filter((r) => r[1] > 0.0005).map(([name, share]) => {
      const row = make("div", "", { className: "share" }), bar = make("i", "");
      bar.style.setProperty("--part", `${100 * share}%`);
      const label = make("b", name, { title: name });
      label.dir = "auto";
      row.append(label, bar, make("u", percent(share)));
      return row;
    }));
  }

  say() {
    $("amplified").textContent = `Drawn: ${metres(this.amplitude * this.now.largest)} at most, ${seen(this.amplitude, 3)} × the ${this.data.words.length ? "measured" : "mass-normalised"} shape.`;
    this.page.stale = true;
  }

  advance(step) {
    if (!step) return false;
    this.phase = (this.phase + 2 * Math.PI * 0.7 * step) % (2 * Math.PI);
    const shown = (this.phase * 180) / Math.PI;
    if (Math.abs($("phase").value - shown) > 10) $("phase").value = shown; // the panel is painted again
    return true;
  }

  place(out) {
    const rest = this.page.robot.atRest, { rates } = this.now, a = this.amplitude * Math.sin(this.phase);
    for (let i = 0; i < out.length; i++) out[i] = rest[i] + a * rates[i];
    return out;
  }

  ghost() {
    return this.page.robot.atRest;
  }

  // What sensors saw of a measured mode: arrows from where they are at rest.
  lines() {
    const k = this.page.choice.mode, a = this.amplitude * Math.sin(this.phase), made = [], tint = [0.15, 0.62, 0.42, 1];
    for (const arrow of this.data.arrows) {
      const at = 12 * this.page.robot.parts[arrow.part].first, moves = this.page.robot.array(arrow.moves), rest = this.page.robot.atRest;
      const from = [rest[at + 3], rest[at + 7], rest[at + 11]], way = [0, 1, 2].map((c) => a * moves[3 * k + c]), to = (t) => add(from, scale(t, way));
      made.push(...from, ...to(0.75), ...tint, 5, 5, ...to(0.75), ...to(1), ...tint, 14, 0);
    }
    return made;
  }

  // Colours of a mode do not change while it swings: they are those of its largest deflection.
  colours(kind) {
    const { robot } = this.page, { distances, largest } = this.now, k = this.page.choice.mode;
    if (kind === "deflection") return { values: onMoving(robot, (v) => distances[v] / (largest || 1)), title: "deflection", high: metres(this.amplitude * largest) };
    if (kind === "strain") {
      const strains = robot.strains(this.moves[k].x), most = strains.reduce((a, b) => Math.max(a, b), 0);
      const flexible = onFlexible(robot, (v) => strains[v] / (most || 1));
      return { values: flexible, title: "strain, if 1 mm is the largest deflection", high: `${seen((1e3 * most) / (largest || 1), 3)} µm/m` };
    }
    const share = new Map(this.data.bodies.map((name, i) => [name, this.data.elastic[i][k]])), most = Math.max(...share.values()) || 1;
    return { values: byPart(robot, (part) => (share.has(part.body) ? share.get(part.body) / most : -1)), title: "elastic energy of the body", high: percent(most) };
  }

  caption() {
    const k = this.page.choice.mode, f = this.data.frequencies[k], held = this.data.free ? "free" : "held";
    const damped = this.data.damping[k] > 0 ? `, damping ${percent(this.data.damping[k])}` : "";
    return `Mode ${k + 1} of ${this.moves.length}: ${f === null ? "–" : seen(f, 5)} Hz${damped}\nactuators ${held}, drawn ${metres(this.amplitude * this.now.largest)} at most${this.data.words[k] ? `\n${this.data.words[k]}` : ""}`;
  }
}

// Values of the points of some parts; the others keep their own colour.
const onParts = (robot, chosen, value) => {
  const made = new Float32Array(robot.vertices).fill(-1);
  for (const part of robot.parts) if (chosen(part)) for (let v = 0; v < part.station.length; v++) made[part.base + v] = value(part.base + v);
  return made;
};
const onFlexible = (robot, value) => onParts(robot, (part) => ["beam", "plate", "solid"].includes(part.kind), value);
const onMoving = (robot, value) => onParts(robot, (part) => part.frame >= 0, value);

const byPart = (robot, value) => {
  const made = new Float32Array(robot.vertices);
  for (const part of robot.parts) made.fill(value(part), part.base, part.base + part.station.length);
  return made;
};

class MotionShow {
  constructor(page) {
    Object.assign(this, { page, data: page.data.motion, robot: page.robot });
    const read = (given) => ({ q: this.robot.array(given.rotation), p: this.robot.array(given.position), e: this.robot.array(given.elastic), x: this.robot.array(given.strain) });
    this.time = this.robot.array(this.data.time);
    [this.bent, this.straight] = [read(this.data.placed), read(this.data.straight)];
    this.end = this.time[this.time.length - 1];
    const n = this.robot.frames;
    this.work = [0, 1].map(() => ({ R: new Float64Array(9 * n), p: new Float64Array(3 * n), e: new Float64Array(this.bent.e.length / this.time.length), x: new Float64Array(this.bent.e.length / this.time.length) }));
    this.sections = [0, 1].map(() => new Float32Array(12 * this.robot.count));
    this.tracks = this.robot.parts.filter((p) => p.kind === "point" && p.frame >= 0).map((part) => this.track(part));
    this.series = this.data.series.map((s) => ({ ...s, lines: s.lines.map((k) => this.robot.array(k)) }));
    this.forces = this.data.forces.map((f) => ({ ...f, values: this.robot.array(f.values) }));
    this.energy = this.robot.array(this.data.energy);
    this.series.forEach((s, k) => $("signal").append(make("option", `${s.name} (${s.unit})`, { value: String(k) })));
    $("motion-name").textContent = this.data.outcome === "complete" ? this.data.name : `${this.data.name}: ${this.data.outcome}`;
    Object.assign($("time"), { min: this.time[0], max: this.end });
    $("time").addEventListener("input", () => this.go(+$("time").value));
    $("speed").addEventListener("change", () => (page.choice.speed = +$("speed").value));
    $("signal").addEventListener("change", () => this.go(page.choice.time));
    $("motion-scale").addEventListener("input", () => this.go(page.choice.time));
    $("plot").addEventListener("pointerdown", (event) => this.seek(event));
    $("plot").addEventListener("pointermove", (event) => event.buttons && this.seek(event));
    page.choice.time = this.time[0];
  }

  // Deformations are drawn 1, 10, 100, 1000 times as large, and what is between.
  get factor() {
    return 10 ** +$("motion-scale").value;
  }

  seek(event) {
    if (this.timeAt) this.go(this.timeAt(event.offsetX));
  }

  go(time) {
    this.page.choice.time = clamp(time, this.time[0], this.end);
    this.page.stale = true;
  }

  advance(step) {
    if (!step) return false;
    const { choice } = this.page, next = choice.time + step * choice.speed;
    choice.time = next > this.end ? this.time[0] : next;
    return true;
  }

  sample(t) {
    let low = 0, high = this.time.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle;
    }
    const span = this.time[high] - this.time[low];
    return [low, high, span > 0 ? clamp((t - this.time[low]) / span, 0, 1) : 0];
  }

  // Frames and elastic coordinates between two samples.
  between(from, [a, b, t], out) {
    const n = this.robot.frames, m = out.e.length;
    turned(from.q, 4 * n * a, 4 * n * b, t, n, out.R);
    for (let i = 0; i < 3 * n; i++) out.p[i] = (1 - t) * from.p[3 * n * a + i] + t * from.p[3 * n * b + i];
    if (!from.e.length) return out; // nothing bends
    for (let i = 0; i < m; i++) {
      out.e[i] = (1 - t) * from.e[m * a + i] + t * from.e[m * b + i];
      out.x[i] = (1 - t) * from.x[m * a + i] + t * from.x[m * b + i];
    }
    return out;
  }

  place(out) {
    const where = this.sample(this.page.choice.time), k = this.factor;
    const bent = this.robot.sections(this.between(this.bent, where, this.work[0]), this.sections[0]);
    const straight = this.robot.sections(this.between(this.straight, where, this.work[1]), this.sections[1]);
    for (let i = 0; i < out.length; i++) out[i] = Number.isFinite(straight[i]) ? straight[i] + k * (bent[i] - straight[i]) : bent[i];
    this.tell(where);
    return out;
  }

  tell(where) {
    const { time } = this.page.choice;
    $("time").value = time;
    tell("clock", `${time.toFixed(3)} / ${seen(this.end, 4)} s`);
    const k = this.factor, most = this.largest();
    tell("motion-amplified", `Deformations drawn ${k < 1.005 ? "true to scale" : `${seen(k, 3)} times as large`}; now ${metres(most)} at most.`);
    if (this.page.choice.tab !== "motion") return;
    const chosen = this.series[+$("signal").value];
    if (!chosen) return;
    this.timeAt = drawPlot($("plot"), this.time, chosen.lines, time);
    const [a, b, t] = where;
    tell("plot-now", chosen.labels.map((l, i) => `${l} ${seen((1 - t) * chosen.lines[i][a] + t * chosen.lines[i][b], 4)}`).join("   "));
  }

  // The largest distance of a section from where it would be if nothing bent.
  largest() {
    const [bent, straight] = this.sections;
    let most = 0;
    for (let s = 3; s < bent.length; s += 12) most = Math.max(most, Math.hypot(bent[s] - straight[s], bent[s + 4] - straight[s + 4], bent[s + 8] - straight[s + 8]) || 0);
    return most;
  }

  ghost() {
    return this.factor > 1.005 ? this.sections[1] : null;
  }

  colours(kind) {
    const { robot } = this, [bent, straight] = this.sections;
    if (kind === "deflection") {
      const far = robot.distances(bent.map((x, i) => x - straight[i])), most = this.peaks.deflection;
      return { alive: true, values: onMoving(robot, (v) => far[v] / (most || 1)), title: "deflection", high: metres(most) };
    }
    if (kind === "strain") {
      const strains = robot.strains(this.work[0].x), most = this.peaks.strain;
      return { alive: true, values: onFlexible(robot, (v) => strains[v] / (most || 1)), title: "strain", high: `${seen(1e6 * most, 3)} µm/m` };
    }
    const [a, b, t] = this.sample(this.page.choice.time), n = robot.frames, most = this.energy.reduce((x, y) => Math.max(x, y), 0);
    const own = (f) => ((1 - t) * this.energy[n * a + f] + t * this.energy[n * b + f]) / (most || 1);
    return { alive: true, values: byPart(robot, (part) => (part.frame < 0 ? -1 : own(part.frame))), title: "elastic energy of the body", high: `${seen(most, 3)} J` };
  }

  // The largest deflection and strain of the whole motion, of up to 40 of its samples.
  get peaks() {
    if (this.known) return this.known;
    this.known = { deflection: 0, strain: 0 };
    const largest = (values) => values.reduce((a, b) => Math.max(a, b || 0), 0), step = Math.max(1, Math.floor(this.time.length / 40));
    const work = this.work.map((w) => ({ R: w.R.slice(), p: w.p.slice(), e: w.e.slice(), x: w.x.slice() }));
    for (let k = 0; k < this.time.length; k += step) {
      const bent = this.robot.sections(this.between(this.bent, [k, k, 0], work[0]));
      const straight = this.robot.sections(this.between(this.straight, [k, k, 0], work[1]));
      this.known.deflection = Math.max(this.known.deflection, largest(this.robot.distances(bent.map((x, i) => x - straight[i]))));
      this.known.strain = Math.max(this.known.strain, largest(this.robot.strains(work[0].x)));
    }
    return this.known;
  }

  track(part) {
    const made = [];
    for (let k = 0; k < this.time.length; k++) {
      const { R, p, e } = this.between(this.bent, [k, k, 0], this.work[0]), f = part.frame, u = this.robot.bent(part, e, new Float64Array(6));
      const x = [0, 1, 2].map((c) => part.stations[c] + u[c]);
      made.push([0, 1, 2].map((r) => p[3 * f + r] + R[9 * f + 3 * r] * x[0] + R[9 * f + 3 * r + 1] * x[1] + R[9 * f + 3 * r + 2] * x[2]));
    }
    return made;
  }

  lines() {
    const made = [];
    if ($("trails").checked)
      for (const track of this.tracks)
        for (let k = 1; k < track.length; k++)
          if (track[k].every(Number.isFinite)) made.push(...track[k - 1], ...track[k], 0.88, 0.19, 0.35, this.time[k] <= this.page.choice.time ? 0.95 : 0.3, 3, 3);
    if ($("arrows").checked) for (const force of this.forces) made.push(...this.arrow(force));
    return made;
  }

  // An arrow along the axis of an actuator, as long as its force or torque is large; torques with two heads.
  arrow(force) {
    const [a, b, t] = this.sample(this.page.choice.time), value = (1 - t) * force.values[a] + t * force.values[b];
    if (!(Math.abs(value) > 0) || !(force.most > 0)) return [];
    const { R, p } = this.work[0], f = force.frame, long = (0.22 * this.page.size * value) / force.most;
    const tip = [0, 1, 2].map((r) => long * (R[9 * f + 3 * r] * force.axis[0] + R[9 * f + 3 * r + 1] * force.axis[1] + R[9 * f + 3 * r + 2] * force.axis[2]));
    const from = [p[3 * f], p[3 * f + 1], p[3 * f + 2]], at = (k) => add(from, scale(k, tip)), tint = force.turns ? [0.55, 0.36, 0.78, 1] : [0.15, 0.62, 0.42, 1];
    const made = [...from, ...at(0.8), ...tint, 5, 5, ...at(0.8), ...at(1), ...tint, 16, 0];
    return force.turns ? [...made, ...at(0.62), ...at(0.8), ...tint, 16, 0] : made;
  }

  caption() {
    return `${this.data.name}\n${this.page.choice.time.toFixed(3)} s${this.factor > 1.005 ? `, deformations × ${seen(this.factor, 3)}` : ""}`;
  }
}

class MapShow {
  constructor(page) {
    Object.assign(this, { page, data: page.data.map, places: page.robot.array(page.data.map.places) });
    this.values = this.data.quantities.map((q) => page.robot.array(q.values));
    this.data.quantities.forEach((q, k) => $("quantity").append(make("option", `${q.name} (${q.unit})`, { value: String(k) })));
    $("quantity").addEventListener("change", () => page.recolour());
    $("map-note").textContent = this.data.about;
  }

  get chosen() {
    const k = +$("quantity").value || 0, values = this.values[k], known = values.filter(Number.isFinite);
    return { ...this.data.quantities[k], values, low: Math.min(...known), high: Math.max(...known) };
  }

  advance() {
    return false;
  }

  place(out) {
    out.set(this.page.robot.atRest);
    return out;
  }

  legend() {
    const { name, unit, low, high } = this.chosen;
    return { title: `${name} (${unit})`, low: seen(low, 4), high: seen(high, 4) };
  }

  lines() {
    const { values, low, high } = this.chosen, { places } = this, made = [], size = 0.004 * this.page.size;
    for (let k = 0; k < values.length; k++) {
      if (!Number.isFinite(values[k])) continue;
      const at = [places[3 * k], places[3 * k + 1], places[3 * k + 2]], t = 5 * clamp((values[k] - low) / (high - low || 1), 0, 0.9999);
      const [a, b] = [PALETTE[Math.floor(t)], PALETTE[Math.floor(t) + 1]], mix = a.map((x, i) => x + (b[i] - x) * (t % 1));
      made.push(...sub(at, scale(size, this.page.camera.up)), ...add(at, scale(size, this.page.camera.up)), ...mix, 0.85, 7, 7);
    }
    return made;
  }

  caption() {
    return this.data.about;
  }
}
