// Vectors, matrices (column-major, as WebGL wants them) and quaternions.
const add = (a, b) => a.map((x, i) => x + b[i]);
const sub = (a, b) => a.map((x, i) => x - b[i]);
const scale = (k, a) => a.map((x) => k * x);
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(...a);
const unit = (a) => scale(1 / (norm(a) || 1), a);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

function lookAt(eye, target, up) {
  const z = unit(sub(eye, target));
  const x = unit(cross(up, z));
  const y = cross(z, x);
  return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}

function product(a, b) {
  const made = new Array(16).fill(0);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) made[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return made;
}

// The point of the canvas (in pixels) at which a place is seen, and how deep it lies; null behind the eye.
function projected(matrix, p, width, height) {
  const [x, y, z, w] = [0, 1, 2, 3].map((r) => matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r]);
  return w <= 0 ? null : [(0.5 + (0.5 * x) / w) * width, (0.5 - (0.5 * y) / w) * height, z / w];
}

// Rotation matrices (row by row, 9 numbers each) of quaternions between two samples.
function turned(q, a, b, t, count, out) {
  for (let i = 0; i < count; i++) {
    const j = a + 4 * i, k = b + 4 * i;
    const flip = q[j] * q[k] + q[j + 1] * q[k + 1] + q[j + 2] * q[k + 2] + q[j + 3] * q[k + 3] < 0 ? -t : t;
    let w = (1 - t) * q[j] + flip * q[k], x = (1 - t) * q[j + 1] + flip * q[k + 1];
    let y = (1 - t) * q[j + 2] + flip * q[k + 2], z = (1 - t) * q[j + 3] + flip * q[k + 3];
    const n = 1 / Math.hypot(w, x, y, z);
    w *= n; x *= n; y *= n; z *= n;
    out.set([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
      2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 9 * i);
  }
}
