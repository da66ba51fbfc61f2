/* A x = mu B x of symmetric A and positive definite B, for all mu: Cholesky, Householder's tridiagonal form, implicit QL. */

/* L of B = L L^T in its lower half and L^T in its upper half; returns the poses where B is not positive definite */
static mask cholesky(entry *B, int n)
{
    entry before[MOST_FREE];
    mask bad = NO_POSE;
    for (int j = 0; j < n; j++)
        before[j] = B[j * (n + 1)];
    for (int first = 0; first < n; first += PANEL) { /* some rows at a time, then what they take from the rest */
        const int end = first + PANEL < n ? first + PANEL : n;
        for (int j = first; j < end; j++) {
            entry *row = B + j * n;
            bad |= not_below(num(1e-14) * size(before[j]), row[j]);
            const entry root = supple_sqrt(row[j]), inverse = num(1) / root;
            row[j] = root;
            for (int k = j + 1; k < n; k++)
                row[k] *= inverse;
            for (int i = j + 1; i < end; i++)
                add_times(B + i * n + i, -row[i], row + i, n - i);
        }
        if (end < n)
            less_panel(B, n, end, B + first * n, B + first * n);
    }
    mirror(B, n);
    return bad;
}

/* x = L^-T L^-1 x, of some vectors one after the other, four rows of L at a time */
SUPPLE_APART void cholesky_solve(const entry *L, int n, entry *x, int count)
{
    for (int first = 0; first < n; first += 4)
        for (int c = 0, end = first + 4 < n ? first + 4 : n; c < count; c++) {
            entry *v = x + c * n, less[4];
            for (int i = first; i < end; i++) {
                v[i] /= L[i * n + i];
                less[i - first] = -v[i];
                add_times(v + i + 1, -v[i], L + i * n + i + 1, end - i - 1);
            }
            if (end < n)
                add_four(v + end, less, L + first * n + end, n, n - end);
        }
    for (int end = n; end > 0; end -= 4)
        for (int c = 0, first = end > 4 ? end - 4 : 0; c < count; c++) {
            entry *v = x + c * n, less[4];
            for (int i = end - 1; i >= first; i--) {
                v[i] /= L[i * n + i];
                less[i - first] = -v[i];
                add_times(v + first, -v[i], L + i * n + first, i - first);
            }
            if (first)
                add_four(v, less, L + first * n, n, first);
        }
}

/* A = L^-1 A L^-T */
static void whiten(const entry *L, int n, entry *A)
{
    for (int i = 0; i < n; i++) { /* rows of L^-1 A */
        const entry inverse = num(1) / L[i * n + i];
        for (int j = 0; j < n; j++)
            A[i * n + j] *= inverse;
        for (int k = i + 1; k < n; k++)
            add_times(A + k * n, -L[i * n + k], A + i * n, n);
    }
    for (int i = 0; i < n; i++) /* and of its columns; half of it, for it is symmetric */
        for (int j = 0; j <= i; j++) {
            A[i * n + j] /= L[j * n + j];
            add_times(A + i * n + j + 1, -A[i * n + j], L + j * n + j + 1, i - j);
            A[j * n + i] = A[i * n + j];
        }
}

/* A = Q T Q^T: diagonal d and off-diagonal e (e[i] between i-1 and i) of T, and Q in place of A */
static void tridiagonal(entry *A, int n, entry *d, entry *e, entry *u, entry *p)
{
    for (int i = n - 1; i > 0; i--) { /* reflect row i on its element before the diagonal */
        entry *row = A + i * n;
        entry sum = fill(0);
        for (int k = 0; k < i; k++)
            sum += row[k] * row[k];
        const entry last = row[i - 1], norm = supple_sqrt(sum);
        const entry alpha = pick(below(last, fill(0)), norm, -norm);
        const entry h = sum - alpha * last;
        const mask none = not_below(fill(DBL_MIN), h);
        e[i] = pick(none, last, alpha);
        for (int k = 0; k < i; k++)
            u[k] = row[k];
        u[i - 1] -= alpha;
        const entry inverse = pick(none, fill(0), num(1) / h);
        for (int k = 0; k < i; k++) {
            entry product = fill(0);
            for (int j = 0; j < i; j++)
                product += A[k * n + j] * u[j];
            p[k] = product * inverse;
        }
        entry along = fill(0);
        for (int k = 0; k < i; k++)
            along += u[k] * p[k];
        for (int k = 0; k < i; k++)
            p[k] -= num(0.5) * along * inverse * u[k];
        for (int k = 0; k < i; k++)
            for (int j = 0; j < i; j++)
                A[k * n + j] -= u[k] * p[j] + p[k] * u[j];
        for (int k = 0; k < i; k++) { /* kept to make Q: row holds u, column u / h */
            row[k] = u[k];
            A[k * n + i] = u[k] * inverse;
        }
    }
    e[0] = fill(0);
    for (int i = 0; i < n; i++)
        d[i] = A[i * n + i];
}

/* Q^T of `tridiagonal` in place of what it kept: rows are the vectors */
static void reflections(entry *A, int n, entry *p)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) { /* apply reflection i to the part made so far */
            p[j] = fill(0);
            for (int k = 0; k < i; k++)
                p[j] += A[j * n + k] * A[k * n + i];
        }
        for (int j = 0; j < i; j++)
            for (int k = 0; k < i; k++)
                A[j * n + k] -= p[j] * A[i * n + k];
        for (int k = 0; k < i; k++)
            A[i * n + k] = A[k * n + i] = fill(0);
        A[i * n + i] = fill(1);
    }
}

/* One sweep of QL on rows l..m of every pose that is busy (m differs between poses); rows of R turn with it */
static void sweep(entry *d, entry *e, entry *R, int n, int l, entry m, mask busy)
{
    const entry apart = (d[l + 1] - d[l]) / (num(2) * e[l]), root = supple_sqrt(apart * apart + num(1));
    const entry shift = d[l] - e[l] / (apart + pick(below(apart, fill(0)), -root, root));
    entry s = fill(1), c = fill(1), p = fill(0), g = fill(0);
    for (int i = n - 2; i >= l; i--) {
        const mask act = busy & below(fill(i), m), start = act & SUPPLE_MASK(fill(i + 1) == m);
        if (!some(act))
            continue;
        g = pick(start, d[i + 1] - shift, g);
        const entry f = s * e[i], b = c * e[i], r = supple_sqrt(f * f + g * g);
        const mask none = SUPPLE_MASK(r == fill(0)), turns = act & ~none;
        e[i + 1] = pick(act, r, e[i + 1]);
        s = pick(act, pick(none, fill(0), f / r), s);
        c = pick(act, pick(none, fill(1), g / r), c);
        const entry from = d[i + 1] - p, step = (d[i] - from) * s + num(2) * c * b;
        p = pick(act, s * step, p);
        d[i + 1] = pick(act, from + p, d[i + 1]);
        g = pick(act, c * step - b, g);
        const entry sine = pick(turns, s, fill(0)), cosine = pick(turns, c, fill(1));
        entry *first = R + i * n, *second = first + n;
        for (int k = 0; k < n; k++) {
            const entry x = first[k], y = second[k];
            second[k] = sine * x + cosine * y;
            first[k] = cosine * x - sine * y;
        }
    }
    d[l] = pick(busy, d[l] - p, d[l]);
    e[l] = pick(busy, g, e[l]);
    for (int k = l + 1; k < n; k++)
        e[k] = pick(busy & SUPPLE_MASK(fill(k) == m), fill(0), e[k]);
}

/* Eigenvalues d of the tridiagonal d, e, and its vectors times R in the rows of R; returns poses that did not converge */
static mask implicit_ql(entry *d, entry *e, entry *R, int n)
{
    for (int i = 1; i < n; i++)
        e[i - 1] = e[i];
    e[n - 1] = fill(0);
    mask left = NO_POSE;
    for (int l = 0; l < n - 1; l++)
        for (int round = 0;; round++) {
            entry m = fill(n - 1);
            for (int k = n - 2; k >= l; k--)
                m = pick(not_below(num(DBL_EPSILON) * (size(d[k]) + size(d[k + 1])), size(e[k])), fill(k), m);
            const mask busy = below(fill(l), m);
            if (!some(busy))
                break;
            if (round == 60) {
                left |= busy;
                break;
            }
            sweep(d, e, R, n, l, m, busy);
        }
    return left;
}

/* Places of the `count` largest of d, in every pose on its own: place[c * SUPPLE_LANES + lane] */
static void ranked(const entry *d, int n, int count, short *place)
{
    for (int lane = 0; lane < SUPPLE_LANES; lane++)
        for (int c = 0; c < count; c++) {
            int best = -1;
            for (int k = 0; k < n; k++) {
                int taken = 0;
                for (int before = 0; before < c; before++)
                    taken |= place[before * SUPPLE_LANES + lane] == k;
                if (!taken && (best < 0 || SUPPLE_LANE(d[k], lane) > SUPPLE_LANE(d[best], lane)))
                    best = k;
            }
            place[c * SUPPLE_LANES + lane] = (short)best;
        }
}

/* mu (largest first) and x with x B x = 1 of the `count` largest; A and B are used up. Returns poses without an answer */
static mask pencil(entry *A, entry *B, int n, int count, entry *mu, entry *x, Pencil *work)
{
    mask bad = cholesky(B, n);
    whiten(B, n, A);
    tridiagonal(A, n, work->d, work->e, work->u, work->p);
    reflections(A, n, work->p);
    bad |= implicit_ql(work->d, work->e, A, n);
    ranked(work->d, n, count, work->place);
    for (int c = 0; c < count; c++) {
        entry *vector = x + c * n;
        for (int lane = 0; lane < SUPPLE_LANES; lane++) {
            const int k = work->place[c * SUPPLE_LANES + lane];
            SUPPLE_LANE(mu[c], lane) = SUPPLE_LANE(work->d[k], lane);
            for (int i = 0; i < n; i++)
                SUPPLE_LANE(vector[i], lane) = SUPPLE_LANE(A[k * n + i], lane);
        }
        for (int i = n - 1; i >= 0; i--) {
            vector[i] /= B[i * n + i];
            add_times(vector, -vector[i], B + i * n, i);
        }
    }
    return bad;
}
