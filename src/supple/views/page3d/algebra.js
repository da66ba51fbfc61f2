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

// Values, largest first, and vectors of a symmetric 3 x 3 matrix (Jacobi's method).
function principal(A) {
  const a = A.map((row) => [...row]), V = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let round = 0; round < 60; round++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-300) continue;
      const t = (a[q][q] - a[p][p]) / (2 * a[p][q]), tan = Math.sign(t || 1) / (Math.abs(t) + Math.hypot(t, 1));
      const c = 1 / Math.hypot(tan, 1), s = tan * c;
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [V[k][p], V[k][q]] = [c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]];
    }
  return [0, 1, 2].map((k) => ({ value: a[k][k], axis: [V[0][k], V[1][k], V[2][k]] })).sort((x, y) => y.value - x.value);
}
