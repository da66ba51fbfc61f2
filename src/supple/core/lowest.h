/* The largest mu of M x = mu K x of large pencils: Lanczos' method in blocks on K^-1 M, orthogonal in M, as a whole.
 *
 * That no mode is missing is counted: K - s M has as many negative pivots as there are modes below s (Sylvester). */

#define BLOCK 2     /* vectors that grow the basis together: modes as often repeated as that are found at once */
#define LOOKS 8     /* vectors between two looks at the modes of the basis */
#define MORE 6      /* modes beyond those asked for, to look for a gap behind them */
#define SETTLED 1e-10 /* what a mode may leave of its equation, relative; its frequency is good to the square of that */
#define SEEN 1e-3   /* and one behind those asked for */

static entry dot(const entry *a, const entry *b, int n)
{
    entry sums[8] = {fill(0), fill(0), fill(0), fill(0), fill(0), fill(0), fill(0), fill(0)};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* A x of some vectors one after the other, of symmetric A, a few of its rows at a time */
static void times(const entry *A, int n, const entry *x, entry *y, int count)
{
    clear(y, count * n);
    for (int i = 0; i < n; i += 8)
        for (int c = 0; c < count; c++)
            add_rows(y + c * n, x + c * n + i, 1, A + i * n, n, n - i < 8 ? n - i : 8, n);
}

/* v less its parts along some vectors of the basis */
static void part_from(const Lowest *o, int n, int first, int last, entry *v)
{
    for (int k = first; k < last; k++)
        add_times(v, -dot(o->MV + k * n, v, n), o->V + k * n, n);
}

/* the last block made orthogonal to all before it, and its vectors to each other and of unit length (nothing if nothing is
 * left of one); lengths: before that. M of them follows */
SUPPLE_APART void join_basis(Lowest *o, const entry *M, int n, int basis)
{
    entry *V = o->V + basis * n, *MV = o->MV + basis * n;
    for (int c = 0; c < BLOCK; c++) {
        part_from(o, n, 0, basis, V + c * n);
        part_from(o, n, 0, basis, V + c * n);
    }
    times(M, n, V, MV, BLOCK);
    for (int c = 0; c < BLOCK; c++) {
        entry *v = V + c * n, *Mv = MV + c * n;
        const entry before = supple_sqrt(larger(fill(0), dot(v, Mv, n)));
        o->lengths[c] = before;
        if (c) {
            part_from(o, n, 0, basis + c, v);
            part_from(o, n, 0, basis + c, v);
            times(M, n, v, Mv, 1);
        }
        const entry length = supple_sqrt(larger(fill(0), dot(v, Mv, n)));
        const mask none = not_below(fill(1e-150), length);
        const entry inverse = pick(none, fill(0), num(1) / pick(none, fill(1), length));
        for (int i = 0; i < n; i++) {
            v[i] *= inverse;
            Mv[i] *= inverse;
        }
    }
}

/* vectors to begin with, the same for all poses: no mode is likely to be orthogonal to all of them */
static void begin_basis(Lowest *o, const entry *M, int n)
{
    uint32_t state = 12345u;
    for (int i = 0; i < BLOCK * n; i++) {
        state = state * 1664525u + 1013904223u;
        o->V[i] = fill((double)(state >> 8) / 16777216.0 - 0.5);
    }
    join_basis(o, M, n, 0);
}

/* K^-1 M of the last block: its part of T, and the next block, whose lengths tell how far the basis is from complete */
static void grow_basis(Lowest *o, const entry *L, const entry *M, int n, int basis)
{
    entry *y = o->V + basis * n;
    for (int i = 0; i < BLOCK * n; i++)
        y[i] = o->MV[(basis - BLOCK) * n + i];
    cholesky_solve(L, n, y, BLOCK);
    for (int c = 0; c < BLOCK; c++)
        for (int k = 0; k < basis; k++) {
            const int column = basis - BLOCK + c;
            o->T[k * MOST_BASIS + column] = o->T[column * MOST_BASIS + k] = dot(o->MV + k * n, y + c * n, n);
        }
    join_basis(o, M, n, basis);
}

/* the `count` largest mu of T and some more, and its vectors in the rows of o->Z; returns poses in which they are not settled
 * yet */
SUPPLE_APART mask ritz(Lowest *o, int basis, int count)
{
    const int wanted = count + MORE;
    mask open;
    for (int i = 0; i < basis; i++)
        for (int k = 0; k < basis; k++)
            o->Z[i * basis + k] = num(0.5) * (o->T[i * MOST_BASIS + k] + o->T[k * MOST_BASIS + i]);
    tridiagonal(o->Z, basis, o->d, o->e, o->u, o->p);
    reflections(o->Z, basis, o->p);
    open = implicit_ql(o->d, o->e, o->Z, basis);
    ranked(o->d, basis, wanted, o->place);
    for (int c = 0; c < wanted; c++) {
        entry left = fill(0);
        for (int lane = 0; lane < SUPPLE_LANES; lane++) {
            const int k = o->place[c * SUPPLE_LANES + lane];
            SUPPLE_LANE(o->mu[c], lane) = SUPPLE_LANE(o->d[k], lane);
            for (int b = 0; b < BLOCK; b++)
                SUPPLE_LANE(left, lane) += fabs(SUPPLE_LANE(o->Z[k * basis + basis - BLOCK + b], lane)) * SUPPLE_LANE(o->lengths[b], lane);
        }
        open |= not_below(left, num(c < count ? SETTLED : SEEN) * o->mu[c]);
    }
    return open;
}

/* how many pivots of A are negative; A is used up. scaled: PANEL rows */
SUPPLE_APART entry negative_pivots(entry *A, int n, entry *scaled)
{
    entry count = fill(0);
    for (int first = 0; first < n; first += PANEL) {
        const int end = first + PANEL < n ? first + PANEL : n;
        for (int j = first; j < end; j++) {
            entry *row = A + j * n, *weight = scaled + (j - first) * n;
            const entry inverse = num(1) / row[j];
            count += pick(below(row[j], fill(0)), fill(1), fill(0));
            for (int i = j + 1; i < n; i++)
                weight[i] = row[i] * inverse;
            for (int i = j + 1; i < end; i++)
                add_times(A + i * n + i, -weight[i], row + i, n - i);
        }
        if (end < n)
            less_panel(A, n, end, scaled, A + first * n);
    }
    return count;
}

/* poses in which K, which is used up, and M have another number of modes below a gap behind the first `count` */
SUPPLE_APART mask miscounted(Lowest *o, entry *K, const entry *M, int n, int count)
{
    entry gap = fill(0), level = fill(0), wanted = fill(0);
    for (int c = count; c < count + MORE; c++) {
        const entry ratio = o->mu[c - 1] / o->mu[c];
        const mask wider = below(gap, ratio);
        gap = pick(wider, ratio, gap);
        level = pick(wider, num(1) / supple_sqrt(o->mu[c - 1] * o->mu[c]), level);
        wanted = pick(wider, fill(c), wanted);
    }
    for (int k = 0; k < n * n; k++)
        K[k] -= level * M[k];
    return ~SUPPLE_MASK(negative_pivots(K, n, o->MV) == wanted);
}

/* mu (largest first) and x with x K x = 1 of the `count` largest; L: Cholesky's factor of K, K: used up. Returns poses without
 * an answer, which is then to be found otherwise */
static mask lowest(Lowest *o, const entry *L, entry *K, const entry *M, int n, int count, entry *mu, entry *x)
{
    int basis = BLOCK;
    mask open = EVERY_POSE;
    begin_basis(o, M, n);
    for (; basis + BLOCK <= MOST_BASIS && basis + BLOCK <= n && some(open); basis += BLOCK) {
        grow_basis(o, L, M, n, basis);
        if (basis % LOOKS == 0 && basis >= 2 * count + LOOKS)
            open &= ritz(o, basis, count);
        if (!some(open))
            break;
    }
    if (some(open))
        return EVERY_POSE;
    clear(x, count * n);
    for (int c = 0; c < count; c++) {
        mu[c] = o->mu[c];
        for (int k = 0; k < basis; k++) {
            entry part;
            for (int lane = 0; lane < SUPPLE_LANES; lane++)
                SUPPLE_LANE(part, lane) = SUPPLE_LANE(o->Z[o->place[c * SUPPLE_LANES + lane] * basis + k], lane);
            add_times(x + c * n, part * supple_sqrt(mu[c]), o->V + k * n, n);
        }
    }
    return miscounted(o, K, M, n, count);
}
