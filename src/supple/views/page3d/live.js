// A robot that answers: sliders and the pointer move it, and what it is in every pose comes from its own code.

const WANTED = ["posture", "q", "tau", "bent_places", "places", "mu", "shapes", "M", "K", "S", "D", "H", "points"];

// The value of a coordinate of the platform: a place in q, or a component of the rotation vector of a quaternion there.
function coordinate(q, { q: at, axis }) {
  if (axis < 0) return q[at];
  const sign = q[at] < 0 ? -1 : 1, size = Math.hypot(q[at + 1], q[at + 2], q[at + 3]);
  const times = size > 1e-12 ? (2 * Math.atan2(size, sign * q[at])) / size : 2;
  return sign * times * q[at + 1 + axis];
}

class Live {
  // Reads the code of the file; the page stays as it is drawn where a browser does not take it.
  static async begin(page) {
    const { live } = page.data;
    if (!live) return null;
    try {
      const read = (module) => Object.fromEntries(Object.entries(module.arrays).map(([name, k]) => [name, page.robot.array(k)]));
      const engine = new Engine(await CompiledC.of(live.core.code), live, read(live.core));
      const made = new Live(page, engine);
      if (live.stepper) page.hammer = new HammerShow(page, made, await CompiledC.of(live.stepper.code), page.robot.array(live.core.arrays.gravity));
      return made;
    } catch (problem) {
      $("notices").append(make("p", `The robot cannot be moved in this browser: ${problem.message}`));
      return null;
    }
  }

  constructor(page, engine) {
    Object.assign(this, { page, engine, about: engine.about, given: Float64Array.from(engine.about.pose), p: engine.own.slice() });
    this.point = 0;
    this.found = engine.answer(this.given, this.p, WANTED, { modes: this.about.modes });
    this.rows = this.leading();
    this.sliders = [];
    this.fill();
    if (this.found) this.tell();
    else this.say("Nothing holds the robot in this pose: it has no modes, and it cannot be hit.");
    page.camera.taken = (event) => this.grab(event);
  }

  // Postures without weight, for what has to be quick.
  posture(given) {
    return this.engine.answer(given, this.p, ["posture", "places"], { stage: POSTURES });
  }

  // Derivatives of what `of` takes from a posture by what is given (rows), by central differences.
  slopes(of, given = this.given) {
    const n = given.length, columns = [];
    for (let k = 0; k < n; k++) {
      const ends = [1e-6, -1e-6].map((h) => {
        const moved = given.slice();
        moved[k] += h;
        const found = this.posture(moved);
        return found && of(found);
      });
      if (!ends[0] || !ends[1]) return null;
      columns.push(ends[0].map((x, i) => (x - ends[1][i]) / 2e-6));
    }
    return columns.length ? columns[0].map((_, i) => columns.map((c) => c[i])) : [];
  }

  // Coordinates of the platform that can be chosen at will, as many as there are actuators.
  leading() {
    const J = this.slopes((found) => this.about.platform.map((c) => coordinate(found.posture, c)));
    if (!J) return [];
    const left = J.map((row) => [...row]), chosen = [];
    for (let k = 0; k < this.given.length; k++) {
      const sizes = left.map((row) => norm(row)), best = sizes.indexOf(Math.max(...sizes));
      if (!(sizes[best] > 1e-4)) break;
      const along = unit(left[best]);
      chosen.push(best);
      left.forEach((row, i) => (left[i] = sub(row, scale(dot(row, along), along))));
    }
    return chosen.sort((a, b) => a - b).map((k) => this.about.platform[k]);
  }

  // The pose in which `of` has these values, by Newton's method on postures; null where there is none near.
  reach(of, target) {
    let given = this.given.slice();
    for (let round = 0; round < 12; round++) {
      const now = this.posture(given);
      if (!now) return null;
      const off = sub(target, of(now));
      if (norm(off) < 1e-11) return given;
      const J = this.slopes(of, given), step = J && leastSquares(J, off, given.length);
      if (!step) return null;
      const most = Math.max(...step.map(Math.abs)), less = Math.min(1, 0.3 / (most || 1));
      given = given.map((x, k) => x + less * step[k]);
      if (most < 1e-11) return given;
    }
    return given;
  }

  // What the robot is in a pose of a design; false, and words, where there is no answer.
  move(given, p = this.p) {
    const found = given && this.engine.answer(given, p, WANTED, { modes: this.about.modes });
    this.say(found ? "" : "This pose cannot be reached from home without passing a singular one, or nothing holds the robot there: it stays where it was.");
    if (!found) return false;
    Object.assign(this, { given: Float64Array.from(given), p: Float64Array.from(p), found });
    this.show();
    return true;
  }

  say(text) {
    if ($("live-say").textContent !== text) $("live-say").textContent = text;
  }

  // Parts of the robot as the parameters have them: lengths are linear in them.
  reshape() {
    const { robot } = this.page;
    this.drawn ??= robot.parts.map(({ stations, shapes, second }) => ({ stations, shapes, second }));
    const changed = new Set(this.page.data.live.changes.flat().map((change) => change.part));
    for (const k of changed) for (const what of ["stations", "shapes", "second"]) robot.parts[k][what] = this.drawn[k][what]?.slice() ?? null;
    this.page.data.live.changes.forEach((by, n) => by.forEach((change) => {
      const off = this.p[n] - this.engine.own[n], part = robot.parts[change.part];
      for (const what of ["stations", "shapes", "second"]) robot.array(change[what])?.forEach((slope, i) => (part[what][i] += off * slope));
    }));
  }

  // The page about the pose that was found.
  show() {
    const { page, engine, found, p } = this, { robot } = page;
    this.reshape();
    robot.rest = engine.frames(found.q, p);
    robot.sections(robot.rest, robot.atRest);
    if (page.modes) page.modes.renew(this.modes());
    page.hammer?.stop();
    this.tell();
    page.recolour();
    page.stale = true;
  }

  // Modes as the page has them; shapes keep their sign from pose to pose.
  modes() {
    const { engine, found, p } = this, found_modes = engine.modes(found), bodies = this.page.data.modes.bodies;
    found_modes.forEach((mode, k) => {
      const before = this.shapes?.[k];
      if (before && dot([...before], [...mode.shape]) < 0) mode.shape = mode.shape.map((x) => -x);
    });
    this.shapes = found_modes.map((mode) => mode.shape);
    const moves = found_modes.map((mode) => engine.moves(found.q, mode.shape, p));
    const shares = (kind) => {
      const table = bodies.map(() => moves.map(() => 0));
      moves.forEach((m, k) => {
        this.about.parts.forEach((part, f) => (table[bodies.indexOf(part)][k] += m[kind][f]));
        const total = table.reduce((sum, row) => sum + row[k], 0) || 1;
        table.forEach((row) => (row[k] /= total));
      });
      return table;
    };
    return { moves, frequencies: found_modes.map((m) => m.frequency), damping: found_modes.map((m) => m.damping), elastic: shares("elastic"), kinetic: shares("kinetic") };
  }

  // Sliders and words ------------------------------------------------------------------------------------------------------

  fill() {
    const { about } = this, size = this.page.size;
    $("live").hidden = false;
    const home = about.given.map((x) => this.engine.home[x.q]);
    about.given.forEach((c, k) => this.slider("live-joints", c, () => this.given[k], [home[k] - c.reach, home[k] + c.reach], (x) => {
      const given = this.given.slice();
      given[k] = x;
      return this.move(given);
    }));
    for (const c of this.rows) {
      const of = (found) => this.rows.map((row) => coordinate(found.posture, row)), own = this.rows.indexOf(c);
      const reach = c.unit === "rad" ? 0.5 : 0.3 * size, at = coordinate(this.engine.home, c);
      this.slider("live-platform", c, () => coordinate(this.found?.posture ?? this.engine.home, c), [at - reach, at + reach], (x) => {
        const target = of(this.found);
        target[own] = x;
        return this.move(this.reach(of, target));
      });
    }
    about.parameters.forEach((c, k) => this.slider("live-parameters", { ...c, unit: "" }, () => this.p[k], [c.low, c.high], (x) => {
      const p = this.p.slice();
      p[k] = x;
      return this.move(this.given, p);
    }));
    about.points.forEach((name, k) => about.hits[name] || $("live-point").append(make("option", name, { value: String(k) })));
    $("live-ellipsoid").hidden = !$("live-point").options.length || about.free;
    $("live-point").addEventListener("change", () => this.tell());
    $("live-home").addEventListener("click", () => this.move(Float64Array.from(about.pose), this.engine.own.slice()));
    for (const id of ["live-joints", "live-platform", "live-parameters"]) $(id).hidden = !$(id).querySelector("input");
  }

  slider(where, c, value, [low, high], move) {
    const angle = c.unit === "rad", factor = angle ? 180 / Math.PI : 1, unit = angle ? "°" : c.unit;
    const row = make("label", "", { className: "slider" }), name = make("span", c.name, { title: c.about || c.name });
    name.dir = "auto";
    const range = make("input", "", { type: "range", min: low * factor, max: high * factor, step: "any" });
    const number = make("input", "", { type: "number", step: "any" });
    number.setAttribute("aria-label", `${c.name} (${unit || "SI"})`);
    range.setAttribute("aria-label", c.name);
    row.append(name, range, number, make("small", unit));
    $(where).append(row);
    for (const input of [range, number]) input.addEventListener(input === range ? "input" : "change", () => Number.isFinite(input.valueAsNumber) && move(input.valueAsNumber / factor));
    this.sliders.push(() => {
      const now = value() * factor;
      if (document.activeElement !== range || Math.abs(range.valueAsNumber - now) > 1e-3 * Math.abs(high - low) * factor) range.value = now;
      if (document.activeElement !== number) number.value = Math.abs(now) < 1e-9 * Math.abs(high - low) * factor ? 0 : +now.toPrecision(7);
    });
  }

  tell() {
    for (const refresh of this.sliders) refresh();
    $("pose-table").replaceChildren();
    this.point = +$("live-point").value || 0;
    const C = this.found && !this.about.free && this.about.points.length ? this.engine.compliance(this.found, this.point) : null;
    this.axes = C ? principal(C) : null;
    const stiff = this.axes?.filter((a) => a.value > 1e-13 * this.axes[0].value).map((a) => `${seen(1e-3 / a.value, 4)}`) ?? [];
    $("live-stiffness").textContent = stiff.length ? `Stiffness ${stiff.join(", ")} N/mm along the axes of the ellipsoid, softest first.` : "";
    this.page.stale = true;
  }

  get tool() {
    return this.found.bent_places.subarray(3 * this.point, 3 * this.point + 3);
  }

  // The compliance ellipsoid at the point: how far it gives way to a force in every direction.
  lines() {
    if (!this.axes || this.page.choice.tab !== "pose" || !$("live-show").checked) return [];
    const size = (0.12 * this.page.size) / this.axes[0].value, axes = this.axes.map((a) => scale(size * a.value, a.axis)), made = [];
    for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
      let last = null;
      for (let k = 0; k <= 40; k++) {
        const t = (2 * Math.PI * k) / 40, at = add([...this.tool], add(scale(Math.cos(t), axes[i]), scale(Math.sin(t), axes[j])));
        if (last) made.push(...last, ...at, 0.85, 0.25, 0.5, 0.9, 2, 2);
        last = at;
      }
    }
    return made;
  }

  // The pointer takes hold of a named point that it is near, and the robot follows.
  grab(event) {
    if (this.page.choice.tab !== "pose" || event.button || event.shiftKey || !this.found) return false;
    const [width, height] = [$("view").clientWidth, $("view").clientHeight];
    const near = this.about.points.map((name, k) => [k, projected(this.page.matrix, [...this.found.bent_places.subarray(3 * k, 3 * k + 3)], width, height)])
      .filter(([k, at]) => !this.about.hits[this.about.points[k]] && at && Math.hypot(at[0] - event.offsetX, at[1] - event.offsetY) < 22);
    if (!near.length || !this.given.length) return false;
    const k = near[0][0], of = (found) => [...found.places.subarray(3 * k, 3 * k + 3)];
    let last = [event.clientX, event.clientY];
    const drag = (move) => {
      const { camera } = this.page, right = unit(cross(camera.up, camera.direction)), over = cross(camera.direction, right);
      const depth = dot(sub(camera.eye, of(this.found)), camera.direction), step = (2 * depth * Math.tan(camera.angle / 2)) / height;
      const target = add(of(this.found), add(scale(step * (move.clientX - last[0]), right), scale(-step * (move.clientY - last[1]), over)));
      if (this.drag(of, target)) last = [move.clientX, move.clientY];
    };
    const end = () => {
      $("view").removeEventListener("pointermove", drag);
      document.body.classList.remove("dragging");
    };
    $("view").addEventListener("pointermove", drag);
    for (const over of ["pointerup", "pointercancel"]) $("view").addEventListener(over, end, { once: true });
    document.body.classList.add("dragging");
    return true;
  }

  // One step of the way to a place: as near as the robot can come.
  drag(of, target) {
    const J = this.slopes(of), step = J && leastSquares(J, sub(target, of(this.found)), this.given.length, 1e-6);
    if (!step) return false;
    const less = Math.min(1, 0.2 / (Math.max(...step.map(Math.abs)) || 1));
    return this.move(this.given.map((x, k) => x + less * step[k]));
  }
}
