// The page: what is chosen, what moves, and what is said about it. Names are text, never markup.

const $ = (id) => document.getElementById(id);
const TINTS = { beam: [74, 134, 204, 255], plate: [88, 150, 190, 255], solid: [96, 142, 196, 255], rod: [138, 150, 165, 255], platform: [222, 165, 62, 255],
  joint: [62, 71, 84, 255], motor: [206, 84, 48, 255], spring: [66, 158, 108, 255], base: [164, 173, 184, 255], rail: [150, 160, 172, 255], point: [224, 49, 90, 255] };

const make = (tag, text, more = {}) => {
  const element = Object.assign(document.createElement(tag), more);
  element.textContent = text;
  return element;
};
// Text that has not changed is left alone: what is set is laid out and painted again.
const tell = (id, text) => {
  if ($(id).textContent !== text) $(id).textContent = text;
};
const seen = (x, digits = 4) => (Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(digits - 1) : String(+x.toPrecision(digits)));
const metres = (x) => (Math.abs(x) >= 1 ? `${seen(x, 3)} m` : Math.abs(x) >= 1e-3 ? `${seen(1e3 * x, 3)} mm` : `${seen(1e6 * x, 3)} µm`);
const percent = (x) => `${(100 * x).toFixed(100 * x < 9.95 ? 1 : 0)} %`;

// Lines of a floor: x, y and weight of both ends; cells are round numbers from the base's origin on, every fifth line is strong.
function grid(cell, reach, origin) {
  const made = [];
  for (const [across, shift] of [[false, origin[0]], [true, origin[1]]])
    for (let k = Math.ceil((shift - reach) / cell); k * cell < shift + reach; k++) {
      const x = k * cell - shift, weight = k % 5 ? 0.4 : 1;
      made.push(...(across ? [-reach, x, weight, reach, x, weight] : [x, -reach, weight, x, reach, weight]));
    }
  return made;
}

class Page {
  constructor(data) {
    this.data = data;
    this.robot = new Robot(data);
    this.choice = { tab: data.modes ? "modes" : data.motion ? "motion" : "pose", mode: data.start - 1, playing: true, phase: 0, time: 0, speed: 1 };
    if (data.motion && data.prefer === "motion") this.choice.tab = "motion";
    if (data.map && data.prefer === "map") this.choice.tab = "map";
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.choice.playing = false;
    this.box = this.bounds();
    this.size = norm(sub(this.box.high, this.box.low));
    this.modes = data.modes ? new ModeShow(this) : null;
    this.motion = data.motion ? new MotionShow(this) : null;
    this.map = data.map ? new MapShow(this) : null;
    this.camera = new Camera($("view"), data.up, data.facing, this.box, () => $("view").clientWidth - this.covered(), () => (this.stale = true));
    this.ground = this.floor();
    this.renderer = new Renderer($("view"), this.robot, this.robot.parts.map((p) => TINTS[p.kind] ?? TINTS.rod), this.ground.lines);
    document.body.classList.toggle("software", this.renderer.software);
    this.current = Float32Array.from(this.robot.atRest);
    this.fill();
    this.listen();
    this.pick(this.choice.tab);
    Object.assign(this, { frames: 0, drawnAt: 0, late: 0, moving: 1, detail: 1, finest: this.renderer.software ? 2 : 1 });
    this.ready = Live.begin(this).then((live) => {
      this.live = live;
      this.stale = true;
    });
    requestAnimationFrame((t) => this.frame(t));
  }

  bounds() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], at = this.robot.atRest;
    for (const part of this.robot.parts)
      for (let v = 0; v < part.station.length; v++)
        for (let c = 0, k = 12 * (part.first + part.station[v]); c < 3; c++, k += 4) {
          const x = at[k + 3] + at[k] * part.offset[3 * v] + at[k + 1] * part.offset[3 * v + 1] + at[k + 2] * part.offset[3 * v + 2];
          low[c] = Math.min(low[c], x);
          high[c] = Math.max(high[c], x);
        }
    return { low, high };
  }

  floor() {
    const up = this.camera.up, middle = scale(0.5, add(this.box.low, this.box.high));
    const flat = this.data.planar && Math.abs(dot(up, this.data.facing)) < 0.5;
    const normal = flat ? this.data.facing : up;
    const height = flat ? dot(middle, normal) - 0.09 * this.size : this.data.floor;
    const along = unit(cross(normal, Math.abs(normal[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0])), across = cross(normal, along);
    const foot = add(middle, scale(height - dot(middle, normal), normal));
    const reach = 2.2 * this.size, power = 10 ** Math.floor(Math.log10(reach / 8)), cell = power * (reach / 8 / power > 4 ? 5 : reach / 8 / power > 2 ? 2 : 1);
    return { normal, height, lines: grid(cell, reach, [dot(foot, along), dot(foot, across)]), uniforms: { middle: foot, along, across, reach } };
  }

  // What stands in the panel --------------------------------------------------------------------------------------------

  fill() {
    const { data } = this;
    document.title = `${data.robot} · supple`;
    $("name").textContent = data.robot;
    $("about").textContent = data.about;
    const tabs = [["modes", "Modes", data.modes], ["motion", "Motion", data.motion], ["map", "Map", data.map], ["pose", "Pose", true], ["hammer", "Hammer", data.live?.stepper]];
    for (const [key, title, there] of tabs) {
      if (!there) continue;
      const button = make("button", title, { type: "button", onclick: () => this.pick(key) });
      button.setAttribute("role", "tab");
      button.dataset.tab = key;
      $("tabs").append(button);
    }
    for (const [name, value, unit] of data.pose) {
      const row = $("pose-table").insertRow();
      row.insertCell().textContent = name;
      const angle = unit === "rad" ? `${seen((value * 180) / Math.PI)}°` : `${seen(value)} ${unit}`;
      row.insertCell().textContent = angle;
    }
    for (const text of [...data.notices, ...(data.live?.notices ?? [])]) $("notices").append(make("p", text));
    this.labels = this.robot.parts.filter((p) => p.name && p.kind !== "base").map((part) => {
      const span = make("span", part.name);
      span.dir = "auto";
      $("labels").append(span);
      return { part, span };
    });
  }

  pick(tab) {
    this.choice.tab = tab;
    for (const button of $("tabs").children) button.setAttribute("aria-selected", String(button.dataset.tab === tab));
    for (const key of ["modes", "motion", "map", "pose", "hammer"]) $(key).hidden = key !== tab;
    const moving = tab === "motion" && this.motion;
    $("bar").hidden = !moving;
    document.body.classList.toggle("bar", Boolean(moving));
    this.announce();
    const options = { kind: "by part" };
    if (tab === "modes" || moving) Object.assign(options, { deflection: "deflection", strain: "bending strain", energy: "elastic energy" });
    const before = $("colour").value;
    $("colour").replaceChildren(...Object.entries(options).map(([value, text]) => make("option", text, { value })));
    $("colour").value = options[before] ? before : "kind";
    this.recolour();
  }

  // The show that runs: it says where sections are, and what colours mean.
  get show() {
    return { modes: this.modes, motion: this.motion, map: this.map, hammer: this.hammer }[this.choice.tab] ?? null;
  }

  recolour() {
    this.colours = $("colour").value === "kind" || !this.show?.colours ? null : this.show.colours($("colour").value);
    const bar = $("legend"), legend = this.colours ?? this.show?.legend?.() ?? null;
    bar.hidden = !legend;
    if (this.colours) this.renderer.colourBy(this.colours.values);
    if (legend) {
      $("legend-title").textContent = legend.title;
      $("legend-low").textContent = legend.low ?? "0";
      $("legend-high").textContent = legend.high;
      const stops = PALETTE.map((c) => `rgb(${c.map((x) => Math.round(255 * x)).join()})`);
      $("legend-bar").style.background = `linear-gradient(90deg, ${stops.join()})`;
    }
    this.stale = true;
  }

  listen() {
    new ResizeObserver(() => (this.stale = true)).observe($("view"));
    for (const id of ["ghost", "edges", "floor", "names", "trails", "arrows"]) $(id).addEventListener("change", () => (this.stale = true));
    $("colour").addEventListener("change", () => this.recolour());
    $("theme").addEventListener("click", () => this.theme(!document.documentElement.classList.contains("dark")));
    $("fold").addEventListener("click", () => this.fold());
    for (const button of document.querySelectorAll("[data-view]"))
      button.addEventListener("click", () => (button.dataset.view === "default" ? this.camera.reset() : this.camera.from(button.dataset.view)));
    for (const id of ["play", "mode-play"]) $(id).addEventListener("click", () => this.play(!this.choice.playing));
    $("view").addEventListener("pointermove", (event) => this.point(event));
    $("view").addEventListener("pointerleave", () => ($("tip").hidden = true));
    document.addEventListener("keydown", (event) => this.key(event));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.theme(dark.matches));
    this.theme(dark.matches);
    if (innerWidth <= 720) this.fold();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === " " && event.target.tagName !== "BUTTON") this.play(!this.choice.playing);
    else if (event.key === "d") $("theme").click();
    else if (event.key === "h") $("fold").click();
    else if ((event.key === "n" || event.key === "p") && this.modes) this.modes.choose(this.choice.mode + (event.key === "n" ? 1 : -1));
    else return;
    event.preventDefault();
  }

  theme(dark) {
    document.documentElement.classList.toggle("dark", dark);
    this.stale = true;
  }

  fold() {
    const folded = $("panel").classList.toggle("folded");
    $("fold").setAttribute("aria-expanded", String(!folded));
    $("fold").textContent = folded ? "⟨" : "⟩";
    this.stale = true;
  }

  play(playing) {
    this.choice.playing = playing;
    for (const id of ["play", "mode-play"]) tell(id, playing ? "❚❚" : "▶");
    this.announce();
  }

  // Readers of screens say the caption when it changes, but not a clock that runs.
  announce() {
    $("caption").setAttribute("aria-live", this.choice.playing && ["motion", "hammer"].includes(this.choice.tab) ? "off" : "polite");
  }

  // What moves ----------------------------------------------------------------------------------------------------------

  frame(now) {
    const passed = now - (this.before ?? now);
    this.before = now;
    if (this.show?.advance(this.choice.playing ? Math.min(passed / 1000, 0.1) : 0)) this.stale = true;
    if (this.stale) {
      this.pace(passed);
      this.drawnAt = now;
      this.draw();
    } else if (this.detail < this.finest && now - this.drawnAt > 200) {
      this.detail = this.finest; // all stands still: there is time for a finer picture
      this.draw();
    }
    requestAnimationFrame((t) => this.frame(t));
  }

  // Pixels drawn for one of the screen while something moves: fewer where the renderer does not follow.
  pace(passed) {
    this.late = clamp(this.late + (passed > 25 ? 1 : -1), 0, 8);
    if (this.late === 8 && this.moving > 0.5) [this.moving, this.late] = [this.moving - 0.25, 0];
    this.detail = this.moving;
  }

  // Pixels of the window that the panel covers on the right.
  covered() {
    return innerWidth > 720 && !$("panel").classList.contains("folded") ? 330 : 0;
  }

  resized() {
    const canvas = $("view"), ratio = Math.min(window.devicePixelRatio || 1, 2) * this.detail;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    return [canvas.clientWidth, canvas.clientHeight];
  }

  draw() {
    this.stale = false;
    this.frames++;
    const [width, height] = this.resized();
    if (!width || !height) return;
    const camera = this.camera.matrix(width, height, this.covered() / width), eye = this.camera.eye;
    this.show?.place(this.current) ?? this.current.set(this.robot.atRest);
    if (this.colours?.alive) this.recolourNow();
    this.matrix = camera;
    const { normal } = this.ground, right = unit(cross(this.camera.up, this.camera.direction));
    const sun = unit(add(add(scale(1.1, this.camera.up), scale(0.55, this.camera.direction)), scale(-0.5, right)));
    const quick = this.renderer.software && this.detail < this.finest;
    this.renderer.draw({ quick, camera, eye, up: normal, sun: dot(sun, normal) > 0.25 ? sun : unit(add(sun, scale(0.8, normal))), floor: this.ground.height, ground: this.ground.uniforms,
      showFloor: $("floor").checked, showEdges: $("edges").checked, ghost: $("ghost").checked && this.show?.ghost?.() ? this.show.ghost() : null, sections: this.current,
      mapped: Boolean(this.colours), dark: document.documentElement.classList.contains("dark"), lines: [...(this.show?.lines?.(this.current) ?? []), ...(this.live?.lines() ?? [])] });
    this.placeLabels(camera, width, height);
    tell("caption", this.show?.caption() ?? this.data.robot);
  }

  recolourNow() {
    this.colours = this.show.colours($("colour").value);
    this.renderer.colourBy(this.colours.values);
  }

  at(part, sections = this.current) {
    const k = 12 * (part.first + Math.floor((part.sections - 1) / 2));
    return [sections[k + 3], sections[k + 7], sections[k + 11]];
  }

  placeLabels(camera, width, height) {
    const wanted = $("names").value, taken = [];
    for (const { part, span } of this.labels) {
      const shown = wanted === "all" || (wanted === "points" && part.kind === "point");
      const at = shown ? projected(camera, this.at(part), width, height) : null;
      const free = at && at[0] > -50 && at[0] < width && at[1] > 0 && at[1] < height && !taken.some((t) => Math.abs(t[0] - at[0]) < 70 && Math.abs(t[1] - at[1]) < 17);
      span.hidden = !free;
      if (free) {
        taken.push(at);
        span.style.transform = `translate(${Math.round(at[0] + 9)}px, ${Math.round(at[1] - 24)}px)`;
      }
    }
  }

  // The part under the pointer: the nearest section on the screen.
  point(event) {
    const tip = $("tip");
    if (event.buttons || !this.matrix) return void (tip.hidden = true);
    const [width, height] = [$("view").clientWidth, $("view").clientHeight];
    let best = [16, null];
    for (const part of this.robot.parts)
      for (let s = 0; s < part.sections; s++) {
        const k = 12 * (part.first + s), at = projected(this.matrix, [this.current[k + 3], this.current[k + 7], this.current[k + 11]], width, height);
        const away = at ? Math.hypot(at[0] - event.offsetX, at[1] - event.offsetY) : Infinity;
        if (away < best[0] - (part.kind === "point" ? 0 : 3)) best = [away, part];
      }
    tip.hidden = !best[1];
    if (!best[1]) return;
    tip.textContent = `${best[1].name} · ${best[1].kind}`;
    tip.style.transform = `translate(${event.offsetX + 14}px, ${event.offsetY + 14}px)`;
  }
}
