// A hammer: the robot is hit where it is clicked, and its own integrators say what rings.

const FINE = 0, DONE = 1, FULL = 2, YIELDED = 3;
const ROWS = 512; // of samples that are fetched at once

class HammerShow {
  constructor(page, live, code, gravity) {
    Object.assign(this, { page, live, code, about: live.about.hammer, point: 0, time: 0, running: false, samples: [] });
    const { nq, nv, loads } = this.about, most = Math.max(...Object.values(this.about.blows).map((b) => b.knots.length));
    const row = code.calls.hammer_row();
    this.row = row;
    this.at = { q: code.numbers(nq), p: code.numbers(live.p.length), gravity: code.put(code.numbers(3), gravity), knots: code.numbers(most), coefficients: code.numbers(most * loads * 6), breaks: code.numbers(64),
      rows: code.numbers(ROWS * row), sides: code.numbers(ROWS), observed: code.numbers(ROWS * (nq + 2 * nv)), load: code.numbers(loads), position: code.numbers(loads / 2), acceleration: code.numbers(loads / 2) };
    const { points, hits } = live.about;
    points.forEach((name, k) => {
      $("hammer-at").append(make("option", hits[name] ?? name, { value: String(k) }));
      $("hammer-answer").append(make("option", hits[name] ?? name, { value: String(k) }));
    });
    for (const tip of Object.keys(this.about.blows)) $("hammer-tip").append(make("option", `${tip}, ${seen(1e3 * this.about.blows[tip].width, 3)} ms`, { value: tip }));
    $("hammer-tip").value = "medium";
    $("hammer-hit").addEventListener("click", () => this.hit(+$("hammer-at").value));
    for (const id of ["hammer-answer", "hammer-axis"]) $(id).addEventListener("change", () => this.plot(true));
    $("hammer-scale").addEventListener("input", () => (page.stale = true));
    if (this.about.damped) $("hammer-note").textContent = "Structural damping: viscous, with half the loss factor of every mode of the pose that is hit.";
    this.listen();
  }

  // A click that turns nothing is a blow.
  listen() {
    let from = null;
    $("view").addEventListener("pointerdown", (event) => (from = [event.clientX, event.clientY]));
    $("view").addEventListener("pointerup", (event) => {
      if (this.page.choice.tab !== "hammer" || !from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) return;
      const k = this.nearest(event.offsetX, event.offsetY);
      if (k !== null) this.hit(k);
    });
  }

  // The point that can be hit nearest to where a section is seen under the pointer.
  nearest(x, y) {
    const { page } = this, [width, height] = [$("view").clientWidth, $("view").clientHeight];
    let best = [24, null];
    for (const part of page.robot.parts)
      for (let s = 0; part.frame >= 0 && s < part.sections; s++) {
        const k = 12 * (part.first + s), place = [page.current[k + 3], page.current[k + 7], page.current[k + 11]];
        const at = projected(page.matrix, place, width, height), away = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
        if (away < best[0]) best = [away, place];
      }
    if (!best[1]) return null;
    const places = this.live.found.bent_places, far = this.live.about.points.map((_, k) => norm(sub(best[1], [...places.subarray(3 * k, 3 * k + 3)])));
    return far.indexOf(Math.min(...far));
  }

  // The direction of a blow: an axis, or away from the eye.
  get direction() {
    const chosen = $("hammer-direction").value;
    const axes = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1], "-x": [-1, 0, 0], "-y": [0, -1, 0], "-z": [0, 0, -1] };
    if (axes[chosen]) return axes[chosen];
    const away = scale(-1, this.page.camera.direction), { planar, facing } = this.page.data;
    if (!planar) return away;
    const normal = unit(facing.map((x) => (Math.abs(x) === Math.max(...facing.map(Math.abs)) ? 1 : 0))), flat = sub(away, scale(dot(away, normal), normal));
    return norm(flat) > 1e-6 ? unit(flat) : [1, 0, 0];
  }

  hit(point, direction = this.direction, area = +$("hammer-area").value) {
    const { live, code, at, about } = this, { calls } = code, blow = about.blows[$("hammer-tip").value];
    if (!live.found) return;
    Object.assign(this, { point, force: direction, time: 0, samples: [{ t: 0, q: live.found.q.slice() }], running: false, done: false, plotted: false, answers: [] });
    $("hammer-at").value = String(point);
    const pieces = blow.knots.length - 1, table = new Float64Array(pieces * about.loads * 6);
    for (let k = 0; k < pieces; k++)
      for (let c = 0; c < 3; c++)
        for (let i = 0; i < 6; i++) table[(k * about.loads + 6 * point + c) * 6 + i] = area * direction[c] * blow.coefficients[k][i];
    code.put(at.knots, blow.knots), code.put(at.coefficients, table), code.put(at.breaks, blow.breaks);
    this.damp();
    const outcome = calls.hammer_start(code.put(at.q, live.found.q), code.put(at.p, live.p), at.gravity, at.knots, at.coefficients, pieces, at.breaks, blow.breaks.length, about.duration, about.every);
    this.running = outcome === FINE;
    $("hammer-say").textContent = this.running ? `${this.page.data.robot} rings.` : "The integrators cannot start here.";
    if (this.running) this.page.play(true);
    this.page.pick("hammer");
  }

  // Structural damping of the pose, for the integrators.
  damp() {
    const { code, about, live } = this, { found, engine } = live;
    if (!about.damped || this.dampedFor === found) return;
    this.dampedFor = found;
    const { elastic, bodies } = about.damped, m = elastic.length, { active, independent, dependent } = engine.about, n = independent.length;
    const own = [...independent.keys()].filter((k) => !active.includes(independent[k])), count = own.length; // actuators are held
    const part = (A) => Float64Array.from({ length: count * count }, (_, k) => A[own[Math.floor(k / count)] * n + own[k % count]]);
    const even = (A) => A.map((x, k) => (x + A[(k % count) * count + Math.floor(k / count)]) / 2);
    const bending = new Float64Array(m * count);
    elastic.forEach((v, i) => own.forEach((k, j) => {
      const d = dependent.indexOf(v);
      bending[i * count + j] = d < 0 ? +(independent[k] === v) : found.S[d * n + k];
    }));
    const size = bodies.reduce((sum, x) => sum + x * x, 0), K = (this.at.K ??= code.numbers(size));
    code.calls.elastic_stiffness(code.put(this.at.p, live.p), K);
    const D = viscousEquivalent(part(found.M), even(part(found.K)), part(found.H), bending, rootOf(code.at(K, size), bodies, m), count, m);
    if (D) code.put(code.calls.hammer_damping(), D);
  }

  stop() {
    Object.assign(this, { running: false, samples: [], answers: [] });
  }

  // Some steps of the integrators, and what was seen of points at the samples.
  integrate(milliseconds) {
    const { code, at, about } = this, { calls } = code, until = performance.now() + milliseconds;
    while (this.running && performance.now() < until) {
      const outcome = calls.hammer_run(about.duration, 12, at.rows, ROWS), count = calls.hammer_rows();
      if (count) this.take(count);
      if (outcome !== YIELDED && outcome !== FULL) {
        this.running = false;
        this.done = outcome === DONE;
        if (!this.done) $("hammer-say").textContent = `The integrators stopped at ${seen(this.samples.at(-1).t, 4)} s.`;
      }
    }
  }

  take(count) {
    const { code, at, about, row } = this, { calls } = code, { nq, nv, loads } = about;
    code.at(at.sides, count).fill(-1);
    calls.hammer_observe(count, at.rows, at.sides, at.observed);
    for (let k = 0; k < count; k++) {
      const t = code.at(at.rows + 8 * k * row, 1)[0], from = at.observed + 8 * k * (nq + 2 * nv);
      calls.observed_points(from, from + 8 * nq, from + 8 * (nq + nv), at.gravity, at.p, at.position, at.acceleration);
      this.samples.push({ t, q: code.at(from, nq).slice() });
      this.answers.push({ t, position: code.at(at.position, loads / 2).slice(), acceleration: code.at(at.acceleration, loads / 2).slice() });
    }
  }

  advance(step) {
    if (!this.samples.length) return false;
    if (this.running) {
      this.integrate(9);
      this.plot(false);
    } else if (!this.plotted) {
      this.plotted = true;
      this.plot(true);
    }
    const end = this.samples.at(-1).t;
    if (step) this.time = Math.min(this.time + step * +$("hammer-speed").value, end);
    if (step && this.time >= end && !this.running) this.time = 0;
    return true;
  }

  // Vibrations are drawn 1 to 10000 times as large.
  get factor() {
    return 10 ** +$("hammer-scale").value;
  }

  place(out) {
    const { robot } = this.page, { samples } = this;
    out.set(robot.atRest);
    if (samples.length < 2) return out;
    const k = clamp(Math.floor(this.time / this.about.every), 0, samples.length - 2), [a, b] = [samples[k], samples[k + 1]];
    const t = clamp((this.time - a.t) / (b.t - a.t || 1), 0, 1), q = a.q.map((x, i) => x + t * (b.q[i] - x));
    const now = robot.sections(this.live.engine.frames(q, this.live.p), (this.sections ??= new Float32Array(out.length)));
    let most = 0;
    for (let i = 0; i < out.length; i++) out[i] += this.factor * (now[i] - robot.atRest[i]);
    for (let i = 3; i < out.length; i += 12) most = Math.max(most, Math.hypot(now[i] - robot.atRest[i], now[i + 4] - robot.atRest[i + 4], now[i + 8] - robot.atRest[i + 8]));
    this.most = most;
    return out;
  }

  ghost() {
    return this.page.robot.atRest;
  }

  // The blow as an arrow.
  lines() {
    if (!this.live.found) return [];
    const at = [...this.live.found.bent_places.subarray(3 * this.point, 3 * this.point + 3)], way = this.force ?? this.direction;
    const tail = sub(at, scale(0.12 * this.page.size, way));
    return [...tail, ...at, 0.9, 0.2, 0.1, 1, 3, 8];
  }

  // Plots ------------------------------------------------------------------------------------------------------------------

  get axis() {
    return "xyz".indexOf($("hammer-axis").value);
  }

  plot(whole) {
    if (!this.answers?.length || this.page.choice.tab !== "hammer") return;
    const k = 3 * +$("hammer-answer").value + this.axis, time = this.answers.map((x) => x.t), values = this.answers.map((x) => x.acceleration[k]);
    drawPlot($("hammer-plot"), time, [values], this.time);
    if (whole && !this.running) drawResponse($("hammer-frf"), this.response(), (f) => this.linear(f));
  }

  // The response of the chosen point to the force, from the record alone: |acceleration / force| at frequencies (Hz), by
  // transforms of the displacement (what is fast in the acceleration would fold back) and of the force.
  response() {
    const { answers, about, code, at } = this, k = 3 * +$("hammer-answer").value + this.axis, found = this.live.engine.modes(this.live.found);
    const highest = Math.min(0.3 / about.every, 1.3 * (found.at(-1)?.frequency || 500)), lines = [], { width } = about.blows[$("hammer-tip").value];
    const rest = this.live.found.bent_places[k], force = Array.from({ length: 201 }, (_, i) => {
      const t = about.at + (width * i) / 200;
      code.calls.hammer_load(t, at.load);
      return [t, (dot([...code.at(at.load + 48 * this.point, 3)], this.force) * width) / 200];
    });
    const transform = (list, f) => {
      let [re, im] = [0, 0];
      for (const [t, y] of list) [re, im] = [re + y * Math.cos(2 * Math.PI * f * t), im - y * Math.sin(2 * Math.PI * f * t)];
      return Math.hypot(re, im);
    };
    const moved = answers.map((x) => [x.t, (x.position[k] - rest) * about.every]);
    for (let i = 1; i <= 400; i++) {
      const f = (highest * i) / 400;
      lines.push([f, ((2 * Math.PI * f) ** 2 * transform(moved, f)) / transform(force, f)]);
    }
    return lines;
  }

  // The same of the linear model, by the modes that the page knows.
  linear(f) {
    const { engine, found } = this.live, { v } = engine.sizes, omega = 2 * Math.PI * f, k = 6 * +$("hammer-answer").value + this.axis;
    this.modal = this.modal?.found === found ? this.modal : { found, modes: engine.modes(found) };
    let [re, im] = [0, 0];
    for (const { frequency, damping, shape } of this.modal.modes) {
      let answer = 0, push = 0;
      for (let i = 0; i < v; i++) {
        answer += found.points[k * v + i] * shape[i];
        for (let c = 0; c < 3; c++) push += this.force[c] * found.points[(6 * this.point + c) * v + i] * shape[i];
      }
      const own = 2 * Math.PI * frequency, a = own ** 2 - omega ** 2, b = 2 * damping * own * omega, size = a * a + b * b || 1;
      re += (answer * push * a) / size;
      im -= (answer * push * b) / size;
    }
    return omega ** 2 * Math.hypot(re, im);
  }

  caption() {
    if (!this.samples.length) return "Click the robot: it is hit there.";
    return `${$("hammer-at").selectedOptions[0].textContent} is hit; ${this.time.toFixed(4)} s${this.running ? ", integrating" : ""}\nvibrations × ${seen(this.factor, 3)}, now ${metres(this.most ?? 0)} at most`;
  }
}

// Sizes of a response over frequencies, logarithmic: what rang, and what the linear model says.
function drawResponse(canvas, lines, linear) {
  const shown = [lines.map(([, y]) => Math.log10(y || 1e-12)), lines.map(([f]) => Math.log10(linear(f) || 1e-12))];
  drawPlot(canvas, lines.map(([f]) => f), shown, NaN);
}
