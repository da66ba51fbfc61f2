// Structural damping of a pose as the integrators take it: the viscous damping under which every mode decays as its loss factor
// says, D_jk = H_jk / sqrt(w_j w_k) of mass-normalised modes, put on the elastic coordinates (model/structural.py says more).

// Squared frequencies and shapes (columns) of K x = w^2 M x; null where M is not positive definite.
function pencilModes(M, K, n) {
  const L = Float64Array.from(M);
  if (!cholesky(L, n)) return null;
  const forward = (b) => {
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
      b[i] /= L[i * n + i];
    }
    return b;
  };
  const solved = (A) => Float64Array.from({ length: n * n }, (_, i) => A[Math.floor(i / n)][i % n]); // rows
  const columns = (A) => Array.from({ length: n }, (_, j) => forward(Float64Array.from({ length: n }, (_, i) => A[i * n + j])));
  const { values, V } = symmetricEigen(solved(columns(solved(columns(K)))), n), shapes = new Float64Array(n * n);
  for (let j = 0; j < n; j++)
    for (let i = n - 1; i >= 0; i--) {
      let sum = V[i * n + j];
      for (let k = i + 1; k < n; k++) sum -= L[k * n + i] * shapes[k * n + j];
      shapes[i * n + j] = sum / L[i * n + i];
    }
  return { squares: values, shapes };
}

// R of K = R R', K_ee of the bodies side by side (m x m); `blocks`: one after another, of these sizes.
function rootOf(blocks, sizes, m) {
  const made = new Float64Array(m * m);
  let from = 0, at = 0;
  for (const n of sizes) {
    const { values, V } = symmetricEigen(blocks.subarray(from, from + n * n), n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) made[(at + i) * m + at + j] = V[i * n + j] * Math.sqrt(Math.max(values[j], 0));
    [from, at] = [from + n * n, at + n];
  }
  return made;
}

// D (m x m) on the elastic coordinates. M, K, H: n x n, of motions with the actuators held; `elastic` (m x n): how these bend
// bodies; R: root of the bodies' stiffness.
function viscousEquivalent(M, K, H, elastic, R, n, m) {
  const found = pencilModes(M, K, n);
  if (!found) return null;
  const { squares, shapes } = found, losses = times(transposed(shapes, n, n), times(H, shapes, n, n, n), n, n, n);
  const omega = squares.map((x, i) => Math.sqrt(Math.max(Math.abs(x), losses[i * n + i])));
  const share = times(transposed(R, m, m), times(elastic, shapes, m, n, n), m, m, n), bends = [];
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let i = 0; i < m; i++) sum += (share[i * n + j] /= omega[j]) ** 2;
    if (Math.sqrt(sum) > 1e-9 && Number.isFinite(sum)) bends.push(j);
  }
  const b = bends.length, back = pseudoinverse(Float64Array.from({ length: m * b }, (_, i) => share[Math.floor(i / b) * n + bends[i % b]]), m, b);
  const inner = Float64Array.from({ length: b * b }, (_, k) => {
    const [i, j] = [bends[Math.floor(k / b)], bends[k % b]];
    return ((losses[i * n + j] + losses[j * n + i]) / 2) * (omega[i] * omega[j]) ** -1.5;
  });
  const root = times(R, transposed(back, b, m), m, m, b);
  return times(root, times(inner, transposed(root, m, b), b, b, m), m, b, m);
}
