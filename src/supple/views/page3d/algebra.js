// Small dense algebra: what a page does with the matrices that the robot's own code gives it.

// Lower triangle L of A = L L' (n x n, row by row), in place; false if A is not positive definite.
function cholesky(A, n) {
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = A[i * n + j];
      for (let k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      if (i === j) {
        if (!(sum > 0)) return false;
        A[i * n + i] = Math.sqrt(sum);
      } else A[i * n + j] = sum / A[j * n + j];
    }
  }
  return true;
}

function choleskySolve(L, n, b) {
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
    b[i] /= L[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
    b[i] /= L[i * n + i];
  }
  return b;
}

// The step x that makes J x = r as nearly as it can be made (rows of J, damped least squares).
function leastSquares(J, r, n, damping = 1e-12) {
  const A = new Float64Array(n * n), b = new Float64Array(n);
  J.forEach((row, k) => {
    for (let i = 0; i < n; i++) {
      b[i] += row[i] * r[k];
      for (let j = 0; j < n; j++) A[i * n + j] += row[i] * row[j];
    }
  });
  let most = 0;
  for (let i = 0; i < n; i++) most = Math.max(most, A[i * n + i]);
  for (let i = 0; i < n; i++) A[i * n + i] += damping * (most || 1);
  return cholesky(A, n) ? choleskySolve(A, n, b) : null;
}

// Values, and vectors in the columns of V (n x n, row by row), of a symmetric matrix (Jacobi's method).
function symmetricEigen(A, n) {
  const a = Float64Array.from(A), V = new Float64Array(n * n), size = Math.hypot(...A) || 1;
  for (let i = 0; i < n; i++) V[i * n + i] = 1;
  for (let round = 0, off = 1; round < 60 && off > 1e-15; round++) {
    off = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        const apart = a[p * n + q];
        off = Math.max(off, Math.abs(apart) / size);
        if (apart === 0) continue;
        const [c, s] = jacobiTurn((a[q * n + q] - a[p * n + p]) / (2 * apart));
        for (let k = 0; k < n; k++) turnPair(a, k * n + p, k * n + q, c, s), turnPair(V, k * n + p, k * n + q, c, s);
        for (let k = 0; k < n; k++) turnPair(a, p * n + k, q * n + k, c, s);
      }
  }
  return { values: Float64Array.from({ length: n }, (_, i) => a[i * n + i]), V };
}

function jacobiTurn(t) {
  const tan = Math.sign(t || 1) / (Math.abs(t) + Math.hypot(t, 1)), c = 1 / Math.hypot(tan, 1);
  return [c, tan * c];
}

function turnPair(a, i, j, c, s) {
  const x = a[i], y = a[j];
  a[i] = c * x - s * y;
  a[j] = s * x + c * y;
}

// The pseudoinverse (n x m) of A (m x n): its columns are turned in pairs until they stand at right angles.
function pseudoinverse(A, m, n, least = 1e-12) {
  const U = Float64Array.from(A), V = new Float64Array(n * n), made = new Float64Array(n * m);
  const inner = (i, j) => {
    let sum = 0;
    for (let k = 0; k < m; k++) sum += U[k * n + i] * U[k * n + j];
    return sum;
  };
  for (let i = 0; i < n; i++) V[i * n + i] = 1;
  for (let round = 0, off = 1; round < 60 && off > 1e-15; round++) {
    off = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        const apart = inner(p, q), a = inner(p, p), b = inner(q, q);
        if (!(Math.abs(apart) > 1e-15 * Math.sqrt(a * b))) continue;
        off = Math.max(off, Math.abs(apart) / Math.sqrt(a * b));
        const [c, s] = jacobiTurn((b - a) / (2 * apart));
        for (let k = 0; k < m; k++) turnPair(U, k * n + p, k * n + q, c, s);
        for (let k = 0; k < n; k++) turnPair(V, k * n + p, k * n + q, c, s);
      }
  }
  const squares = Array.from({ length: n }, (_, i) => inner(i, i)), most = Math.max(...squares, 0);
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n && squares[j] > least * least * most; i++)
      for (let k = 0; k < m; k++) made[i * m + k] += (V[i * n + j] * U[k * n + j]) / squares[j];
  return made;
}

// A B (a x b and b x c, row by row), and the transpose of A.
function times(A, B, a, b, c) {
  const made = new Float64Array(a * c);
  for (let i = 0; i < a; i++)
    for (let k = 0; k < b; k++) for (let j = 0, x = A[i * b + k]; x && j < c; j++) made[i * c + j] += x * B[k * c + j];
  return made;
}

const transposed = (A, a, b) => Float64Array.from({ length: a * b }, (_, i) => A[(i % a) * b + Math.floor(i / a)]);

// Values, largest first, and vectors of a symmetric 3 x 3 matrix.
function principal(A) {
  const { values, V } = symmetricEigen(A.flat(), 3);
  return [0, 1, 2].map((k) => ({ value: values[k], axis: [V[k], V[3 + k], V[6 + k]] })).sort((x, y) => y.value - x.value);
}
