// The eye: it looks at a target from a direction and turns about the vertical.

class Camera {
  // box: what there is to see; room(): how wide the part of the window is that nothing covers.
  constructor(canvas, up, facing, box, room, changed) {
    Object.assign(this, { canvas, up: unit(up), box, room, changed });
    const level = sub(facing, scale(dot(facing, this.up), this.up));
    this.flat = norm(level) > 0.2;
    this.front = this.flat ? unit(level) : unit(cross(this.up, [0.36, 0.48, 0.8]));
    this.side = cross(this.up, this.front);
    this.home = { yaw: 0, pitch: Math.asin(clamp(dot(unit(facing), this.up), -1, 1)) };
    this.angle = 0.6;
    this.reset();
    this.listen();
  }

  reset() {
    this.look(this.home.yaw, this.home.pitch);
  }

  // Everything in view, from a direction.
  look(yaw, pitch) {
    Object.assign(this, { yaw, pitch, target: scale(0.5, add(this.box.low, this.box.high)), shift: [0, 0] });
    const right = unit(cross(this.up, this.direction)), over = cross(this.direction, right);
    const tall = Math.tan(this.angle / 2), wide = (tall * this.room()) / Math.max(this.canvas.clientHeight, 1);
    this.distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = sub([0, 1, 2].map((c) => ((k >> c) & 1 ? this.box.high[c] : this.box.low[c])), this.target);
      const needed = Math.max(Math.abs(dot(corner, right)) / wide, Math.abs(dot(corner, over)) / tall);
      this.distance = Math.max(this.distance, 1.12 * needed + dot(corner, this.direction));
    }
    this.changed();
  }

  from(axis) {
    const direction = { x: [1, 0, 0], y: [0, -1, 0], z: [0, 0, 1] }[axis];
    const high = dot(direction, this.up);
    this.look(Math.atan2(dot(direction, this.side), dot(direction, this.front)), Math.asin(clamp(high, -1, 1)) * 0.9999);
  }

  get direction() {
    const flat = add(scale(Math.cos(this.yaw), this.front), scale(Math.sin(this.yaw), this.side));
    return add(scale(Math.cos(this.pitch), flat), scale(Math.sin(this.pitch), this.up));
  }

  get eye() {
    return add(this.target, scale(this.distance, this.direction));
  }

  // The camera matrix; `free` is how much of the width a panel covers on the right.
  matrix(width, height, free) {
    const near = this.distance * 0.02, far = this.distance * 8 + 4 * norm(sub(this.box.high, this.box.low));
    const lens = perspective(this.angle, width / height, near, far);
    lens[8] += free; // shifts the picture to the part of the window that nothing covers
    return product(lens, lookAt(this.eye, this.target, this.up));
  }

  turn(dx, dy) {
    this.yaw -= dx;
    this.pitch = clamp(this.pitch + dy, -1.55, 1.55);
    this.changed();
  }

  zoom(factor) {
    const size = norm(sub(this.box.high, this.box.low));
    this.distance = clamp(this.distance * factor, 0.02 * size, 20 * size);
    this.changed();
  }

  pan(dx, dy) {
    const right = unit(cross(this.up, this.direction)), over = cross(this.direction, right);
    const step = (2 * this.distance * Math.tan(this.angle / 2)) / this.canvas.clientHeight;
    this.target = add(this.target, add(scale(-dx * step, right), scale(dy * step, over)));
    this.changed();
  }

  listen() {
    const { canvas } = this, touching = new Map();
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      if (this.taken?.(event)) return; // something else than the camera moves with the pointer
      touching.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => touching.delete(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      const last = touching.get(event.pointerId);
      if (!last) return;
      const dx = event.clientX - last[0], dy = event.clientY - last[1];
      if (touching.size === 2) {
        const other = [...touching].find(([id]) => id !== event.pointerId)[1];
        const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
        const now = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
        if (before > 0 && now > 0) this.zoom(before / now);
        this.pan(dx / 2, dy / 2);
      } else if (event.shiftKey || event.buttons === 2 || event.buttons === 4) this.pan(dx, dy);
      else this.turn((3 * dx) / canvas.clientHeight, (3 * dy) / canvas.clientHeight);
      touching.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(clamp(event.deltaY, -120, 120) * 0.0016));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) {
      const [x, y] = ways[event.key];
      if (event.shiftKey) this.pan(-24 * x, -24 * y);
      else this.turn(0.08 * x, 0.08 * y);
    } else if (event.key === "+" || event.key === "=") this.zoom(0.9);
    else if (event.key === "-") this.zoom(1.11);
    else if (event.key === "Home" || event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }
}
