/* Newton's matrices of robots with many coordinates, body by body: M + v D + x K, with loops, in time that grows with the
 * number of bodies.
 *
 * A body moves by the twist V of its frame and its elastic coordinates e, whose matrices reach no farther from the diagonal
 * than a node's neighbours. From the tips on, e and the joint's coordinates are eliminated one by one; what is left of a body
 * is an inertia on the twist of the place that it hangs on, and so a part of the next body. (Articulated bodies, as
 * Featherstone has them, with springs and dampers of a step in their inertia.) Forces in loops, one for each closure
 * equation, stay until all that they hold on to is eliminated: those of a leg leave an inertia on the platform. Coordinates of
 * frames that move no mass, as between a joint and the loop that it closes, stay with them.
 *
 * Matrices are symmetric; the complex ones of collocation have their imaginary parts in a second plane. Their real parts can
 * be turned positive, so no pivots are chosen but among the forces in loops.
 */
SUPPLE_LOCAL int collocates(const Sim *z) { return z->settings.method == RADAU || z->settings.method == GAUSS; }

enum { LIMB_REAL, LIMB_MASS, LIMB_SIEVE, LIMB_PAIR, LIMB_FACTORS };

#if LIMBS > 0 && SUPPLE_LANES == 1
#define COLUMN(limb) (1 + (limb)->band + 6 + (limb)->last - (limb)->first) /* pivot, band, twist, forces in loops */
#define DOF(limb) (1 + 6 + (limb)->last - (limb)->first)
#define JOINT 8 /* numbers of a joint's coordinate: six of its axis, inertia, viscous friction */
#define NEARBY 2e-2 /* rad, m: what errors are told by is taken anew */
#define MOST_TROUBLE 30 /* steps that do not converge, and one in three, before the whole matrix is used */
#define MOST_TRIALS 5 /* of one step that do not converge, before the same */
#define GIVEN_UP 1000000000

/* Work of a factorisation: one plane */
typedef struct {
    double inertia[LIMBS][36], pull[AT_LEAST_ONE(PULL_SIZE)]; /* what is left on twists: itself, with forces in loops */
} Left;

SUPPLE_LOCAL int by_limbs(const Sim *z) { return collocates(z) && z->limb_trouble < GIVEN_UP; }

/* A step did not converge with fresh matrices, in one of its trials: after some of those, the whole matrix is used from then
 * on. Beside singular poses there are robots that these do not converge for, however small the step */
SUPPLE_LOCAL void note_trouble(Sim *z, int trial)
{
    if (by_limbs(z) && (++z->limb_trouble > MOST_TROUBLE + z->steps / 3 || trial > MOST_TRIALS)) {
        z->limb_trouble = GIVEN_UP;
        z->has_jacobian = 0;
        z->factorised_step = 0.0;
    }
}

/* Factors of a step may be those of another posture, which costs iterations; what errors are told by may not */
SUPPLE_LOCAL double *reach_of(Sim *z, int which)
{
    return z->limb_reach[which == LIMB_MASS || which == LIMB_SIEVE];
}

SUPPLE_LOCAL double *factor_of(Sim *z, int which) { return which == LIMB_PAIR ? z->limb_pair : z->limb_factor[which]; }

/* t -= l a, n numbers; imaginary parts are `far` behind in each */
SUPPLE_INLINE void less(int planes, int n, const double *l, const double *a, long far_a, double *restrict t, long far_t)
{
    if (planes == 1)
        for (int i = 0; i < n; i++)
            t[i] -= l[0] * a[i];
    else
        for (int i = 0; i < n; i++) {
            t[i] -= l[0] * a[i] - l[1] * a[far_a + i];
            t[far_t + i] -= l[0] * a[far_a + i] + l[1] * a[i];
        }
}

/* l = a times p */
SUPPLE_INLINE void ratio(int planes, double ar, double ai, const double *p, double *l)
{
    l[0] = planes == 1 ? ar * p[0] : ar * p[0] - ai * p[1];
    l[1] = planes == 1 ? 0.0 : ar * p[1] + ai * p[0];
}

/* a, of factors, times p */
SUPPLE_INLINE void scale_by(int planes, const double *p, double *a)
{
    double x[2];
    ratio(planes, a[0], planes > 1 ? a[LIMB_SIZE] : 0.0, p, x);
    for (int plane = 0; plane < planes; plane++)
        a[plane * LIMB_SIZE] = x[plane];
}

/* p = 1 / x; 0 if there is none */
SUPPLE_INLINE int inverted(int planes, double xr, double xi, double *p)
{
    const double square = planes == 1 ? xr : xr * xr + xi * xi;
    p[0] = planes == 1 ? 1.0 / xr : xr / square;
    p[1] = planes == 1 ? 0.0 : -xi / square;
    return square != 0.0 && fabs(p[0]) <= DBL_MAX && fabs(p[1]) <= DBL_MAX;
}

/* to (6) = R^T (first, second) of a twist or of a shape, rows of 3 */
SUPPLE_LOCAL void turned_back(const double *R, const double *x, double *to)
{
    for (int i = 0; i < 3; i++) {
        to[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
        to[3 + i] = R[i] * x[3] + R[3 + i] * x[4] + R[6 + i] * x[5];
    }
}

SUPPLE_LOCAL void turned(const double *R, const double *x, double *to)
{
    for (int i = 0; i < 3; i++) {
        to[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
        to[3 + i] = R[3 * i] * x[3] + R[3 * i + 1] * x[4] + R[3 * i + 2] * x[5];
    }
}

/* x (6): a twist, seen at a place r from its origin */
SUPPLE_LOCAL void moved_by(const double *r, double *x)
{
    x[0] += x[4] * r[2] - x[5] * r[1];
    x[1] += x[5] * r[0] - x[3] * r[2];
    x[2] += x[3] * r[1] - x[4] * r[0];
}

/* Columns (6 each) that make the twist of a frame, but for its joint, of its parent's twist and elastic coordinates; and the
 * rates of closures, of those of their anchors' frames */
static void take_posture(const Sim *z, double *reach)
{
    static SUPPLE_THREAD double posture[LIMB_POSTURE];
    model_posture(z->now.q, z->parameters, posture);
    for (int j = 0; j < LIMBS; j++) {
        const double *R = posture + 15 * j, *place = R + 9, *slide = R + 12;
        for (int k = 0; k < 6 + LIMB[j].marked; k++) {
            double x[6] = {0};
            if (k < 6)
                x[k] = 1.0;
            else
                memcpy(x, LIMB_NUMBERS + LIMB[j].phi + 6 * (k - 6), sizeof x);
            moved_by(k < 6 ? place : slide, x);
            turned_back(R, x, reach + LIMB_REACH[j] + 6 * k);
        }
    }
    for (int n = 0; n < N_TIES; n++) {
        const Tie *tie = TIES + n;
        const double *loop = posture + 15 * LIMBS + 27 * tie->closure, *R = loop + 12 * tie->second, *place = R + 9;
        for (int k = 0; k < 6 + tie->marked; k++) {
            double x[6] = {0}, *to = reach + TIE_REACH[n] + 6 * k;
            if (k < 6) {
                x[k] = 1.0;
                moved_by(place, x);
            } else
                memcpy(x, LIMB_NUMBERS + tie->phi + 6 * (k - 6), sizeof x);
            turned(R, x, to);
            if (tie->second)
                continue;
            moved_by(loop + 24, to);
            for (int i = 0; i < 6; i++)
                to[i] = -to[i];
        }
    }
}

/* Bodies by themselves, and the anchors of loops on them; v and x: real and imaginary parts */
static void set_out(const double *reach, int planes, const double *v, const double *x, double *m, Left *left)
{
    memset(m, 0, planes * LIMB_SIZE * sizeof *m);
    memset(left, 0, planes * sizeof *left);
    for (int j = 0; j < LIMBS; j++) {
        const Limb *limb = LIMB + j;
        const int wide = COLUMN(limb), band = limb->band + 1;
        const double *rigid = LIMB_NUMBERS + limb->rigid, *M = LIMB_NUMBERS + limb->mass;
        const double *K = LIMB_NUMBERS + limb->stiff, *D = LIMB_NUMBERS + limb->damped;
        memcpy(left[0].inertia[j], rigid, 36 * sizeof *rigid);
        for (int k = 0; k < limb->elastic; k++) {
            double *column = m + LIMB_STORE[j] + k * wide;
            for (int p = 0; p < planes; p++)
                for (int i = 0; i < band; i++)
                    column[p * LIMB_SIZE + i] = (p ? 0.0 : M[k * band + i]) + v[p] * D[k * band + i] + x[p] * K[k * band + i];
            memcpy(column + band, rigid + 36 + 6 * k, 6 * sizeof *rigid);
        }
    }
    for (int n = 0; n < N_TIES; n++) {
        const Tie *tie = TIES + n;
        const Limb *limb = LIMB + tie->frame;
        const int rows[6] = {tie->x, tie->y, tie->z, tie->rx, tie->ry, tie->rz}, wide = limb->last - limb->first;
        for (int k = 0; k < 6 + tie->marked; k++)
            for (int i = 0; i < 6; i++)
                if (rows[i] >= 0) {
                    const double rate = reach[TIE_REACH[n] + 6 * k + i];
                    if (tie->hosted)
                        m[LIMB_HELD + 6 * rows[i] + k] += rate;
                    else if (k < 6)
                        left[0].pull[LIMB_PULL[tie->frame] + k * wide + rows[i] - limb->first] += rate;
                    else
                        m[LIMB_STORE[tie->frame] + (tie->mark + k - 6) * COLUMN(limb) + limb->band + 7 + rows[i] - limb->first]
                            += rate;
                }
    }
}

/* Takes a coordinate off the inertia on its twist and off the forces in loops: its column on them, a, becomes l = a / pivot */
SUPPLE_INLINE void take_off(int planes, const Limb *limb, int j, const double *p, double *a, double *m, Left *left)
{
    const int forces = limb->last - limb->first;
    const long apart = sizeof(Left) / sizeof(double);
    double *inertia = left[0].inertia[j], *pull = left[0].pull + LIMB_PULL[j], *loops = m + LIMB_LOOPS;
    double l[2];
    for (int r = 0; r < 6; r++) {
        ratio(planes, a[r], planes > 1 ? a[LIMB_SIZE + r] : 0.0, p, l);
        less(planes, 6, l, a, LIMB_SIZE, inertia + 6 * r, apart);
        less(planes, forces, l, a + 6, LIMB_SIZE, pull + r * forces, apart);
    }
    for (int r = 0; r < forces; r++) {
        ratio(planes, a[6 + r], planes > 1 ? a[LIMB_SIZE + 6 + r] : 0.0, p, l);
        if (l[0] != 0.0 || l[1] != 0.0)
            less(planes, forces, l, a + 6, LIMB_SIZE, loops + (limb->first + r) * N_LOOPED + limb->first, LIMB_SIZE);
    }
    for (int r = 0; r < 6 + forces; r++)
        scale_by(planes, p, a + r);
}

/* A coordinate that moves no mass goes to the forces in loops, at a place i: its column a on them and on the twist */
SUPPLE_INLINE void lend(int planes, const Limb *limb, int j, int i, const double *a, double *m, Left *left)
{
    const int forces = limb->last - limb->first;
    for (int p = 0; p < planes; p++) {
        double *loops = m + p * LIMB_SIZE + LIMB_LOOPS;
        for (int r = 0; r < 6; r++)
            left[p].pull[LIMB_PULL[j] + r * forces + i - limb->first] += a[p * LIMB_SIZE + r];
        for (int r = 0; r < forces; r++) {
            loops[i * N_LOOPED + limb->first + r] += a[p * LIMB_SIZE + 6 + r];
            loops[(limb->first + r) * N_LOOPED + i] += a[p * LIMB_SIZE + 6 + r];
        }
    }
}

SUPPLE_INLINE void lend_elastic(int planes, const Limb *limb, int j, double *m, Left *left)
{
    const int wide = COLUMN(limb);
    for (int k = 0; k < limb->elastic; k++) {
        const double *a = m + LIMB_STORE[j] + k * wide;
        lend(planes, limb, j, limb->light + k, a + 1 + limb->band, m, left);
        for (int p = 0; p < planes; p++)
            for (int i = 0; i <= limb->band && k + i < limb->elastic; i++) {
                double *loops = m + p * LIMB_SIZE + LIMB_LOOPS;
                loops[(limb->light + k) * N_LOOPED + limb->light + k + i] += a[p * LIMB_SIZE + i];
                if (i)
                    loops[(limb->light + k + i) * N_LOOPED + limb->light + k] += a[p * LIMB_SIZE + i];
            }
    }
}

/* Elastic coordinates of a limb eliminated; 0: they have no inertia */
SUPPLE_INLINE int eliminate_elastic(int planes, const Limb *limb, int j, double *m, Left *left)
{
    const int wide = COLUMN(limb), rest = wide - 1 - limb->band;
    if (limb->light >= 0) {
        lend_elastic(planes, limb, j, m, left);
        return 1;
    }
    for (int k = 0; k < limb->elastic; k++) {
        double *a = m + LIMB_STORE[j] + k * wide, p[2], l[2];
        const int near = limb->elastic - 1 - k < limb->band ? limb->elastic - 1 - k : limb->band;
        if (!inverted(planes, a[0], planes > 1 ? a[LIMB_SIZE] : 0.0, p))
            return 0;
        for (int i = 1; i <= near; i++) {
            double *b = a + i * wide;
            ratio(planes, a[i], planes > 1 ? a[LIMB_SIZE + i] : 0.0, p, l);
            if (l[0] == 0.0 && l[1] == 0.0)
                continue;
            less(planes, near - i + 1, l, a + i, LIMB_SIZE, b, LIMB_SIZE);
            less(planes, rest, l, a + 1 + limb->band, LIMB_SIZE, b + 1 + limb->band, LIMB_SIZE);
        }
        take_off(planes, limb, j, p, a + 1 + limb->band, m, left);
        for (int i = 1; i <= near; i++)
            scale_by(planes, p, a + i);
        for (int plane = 0; plane < planes; plane++)
            a[plane * LIMB_SIZE] = p[plane];
    }
    return 1;
}

/* The same of a joint's coordinates, with stiffness and damping of a controller; v, x: as above */
SUPPLE_INLINE int eliminate_joint(int planes, const Limb *limb, int j, const double *v, const double *x,
                                  const double (*gain)[N_V], double *m, Left *left)
{
    const int forces = limb->last - limb->first;
    for (int k = 0; k < limb->dofs; k++) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        double *a = m + LIMB_STORE[j] + limb->elastic * COLUMN(limb) + k * DOF(limb), pivot[2] = {0}, p[2];
        for (int plane = 0; plane < planes; plane++) {
            double *u = a + 1 + plane * LIMB_SIZE;
            for (int i = 0; i < 6; i++) {
                const double *row = left[plane].inertia[j] + 6 * i, *pull = left[plane].pull + LIMB_PULL[j] + i * forces;
                u[i] = 0.0;
                for (int r = 0; r < 6; r++)
                    u[i] += row[r] * axis[r];
                for (int r = 0; r < forces; r++)
                    u[6 + r] = (i ? u[6 + r] : 0.0) + pull[r] * axis[i];
            }
            pivot[plane] = (plane ? 0.0 : axis[6]) + v[plane] * (axis[7] + gain[1][limb->q + k]);
            pivot[plane] += x[plane] * gain[0][limb->q + k];
            for (int i = 0; i < 6; i++)
                pivot[plane] += u[i] * axis[i];
        }
        if (limb->light >= 0) {
            const int at = limb->light + limb->elastic + k;
            lend(planes, limb, j, at, a + 1, m, left);
            for (int plane = 0; plane < planes; plane++)
                m[plane * LIMB_SIZE + LIMB_LOOPS + at * (N_LOOPED + 1)] += pivot[plane];
            continue;
        }
        if (!inverted(planes, pivot[0], pivot[1], p))
            return 0;
        take_off(planes, limb, j, p, a + 1, m, left);
        for (int plane = 0; plane < planes; plane++)
            a[plane * LIMB_SIZE] = p[plane];
    }
    return 1;
}

/* What is left of a limb becomes a part of the one that it hangs on */
SUPPLE_INLINE void hand_down(const double *reach, int planes, int j, double *m, Left *left)
{
    const Limb *limb = LIMB + j, *on = LIMB + limb->parent;
    const double *T = reach + LIMB_REACH[j];
    const int columns = 6 + limb->marked, forces = limb->last - limb->first, skip = limb->first - on->first;
    const int all = on->last - on->first, wide = COLUMN(on);
    for (int plane = 0; plane < planes; plane++) {
        const double *inertia = left[plane].inertia[j], *pull = left[plane].pull + LIMB_PULL[j];
        double *to = left[plane].inertia[limb->parent], *pulled = left[plane].pull + LIMB_PULL[limb->parent];
        double *own = m + plane * LIMB_SIZE + LIMB_STORE[limb->parent] + limb->mark * wide;
        for (int k = 0; k < columns; k++) {
            double x[6] = {0};
            for (int i = 0; i < 6; i++)
                for (int r = 0; r < 6; r++)
                    x[r] += inertia[6 * i + r] * T[6 * k + i];
            for (int c = 0; c < columns; c++) {
                const double *t = T + 6 * c;
                const double sum = x[0] * t[0] + x[1] * t[1] + x[2] * t[2] + x[3] * t[3] + x[4] * t[4] + x[5] * t[5];
                if (k < 6 && c < 6)
                    to[6 * k + c] += sum;
                else if (k >= 6 && c < 6)
                    own[(k - 6) * wide + 1 + on->band + c] += sum;
                else if (k >= 6 && c >= k)
                    own[(k - 6) * wide + c - k] += sum;
            }
            double *row = k < 6 ? pulled + k * all + skip : own + (k - 6) * wide + 7 + on->band + skip;
            for (int i = 0; i < 6; i++)
                for (int r = 0; r < forces; r++)
                    row[r] += pull[i * forces + r] * T[6 * k + i];
        }
    }
}

/* Forces in the loops of some limbs that meet at a frame (or all that are left), and what they leave on its twist */
static int meet_loops(Sim *z, int planes, const Meeting *at, int *pivot, double *m, Left *left)
{
    static SUPPLE_THREAD double square[2][AT_LEAST_ONE(N_LOOPED * N_LOOPED)];
    const int n = at->last - at->first;
    double *held = m + LIMB_HELD + 6 * at->first, *kept = m + LIMB_SOLVED + 6 * at->first;
    for (int p = 0; p < planes; p++)
        for (int k = 0; k < n; k++)
            memcpy(square[p] + k * n, m + p * LIMB_SIZE + LIMB_LOOPS + (at->first + k) * N_LOOPED + at->first,
                   n * sizeof(double));
    const int regular = planes == 1 ? factorise(square[0], pivot + at->first, n, z->live) > 0.0
                                    : factorise_complex(square[0], square[1], pivot + at->first, n, z->live);
    if (!regular)
        return 0;
    for (int p = 0; p < planes; p++)
        memcpy(m + p * LIMB_SIZE + LIMB_LOOPS + at->first * N_LOOPED, square[p], n * n * sizeof(double));
    for (int k = 0; k < 6 && at->host >= 0; k++) {
        double x[2][AT_LEAST_ONE(N_LOOPED)] = {{0}};
        for (int i = 0; i < n; i++)
            x[0][i] = held[6 * i + k];
        if (planes == 1)
            solve(square[0], pivot + at->first, n, x[0]);
        else
            solve_complex(square[0], square[1], pivot + at->first, n, x[0], x[1]);
        for (int p = 0; p < planes; p++)
            for (int i = 0; i < n; i++) {
                kept[p * LIMB_SIZE + 6 * i + k] = x[p][i];
                for (int r = 0; r < 6; r++)
                    left[p].inertia[at->host][6 * r + k] -= held[6 * i + r] * x[p][i];
            }
    }
    return 1;
}

/* M + v D + x K factorised; v and x: real and imaginary parts */
SUPPLE_INLINE int limb_factors(Sim *z, int which, int planes, const double *v, const double *x)
{
    static SUPPLE_THREAD Left left[2];
    static const double none[2][N_V];
    const double (*gain)[N_V] = which == LIMB_MASS || which == LIMB_SIEVE ? none : (const double (*)[N_V])z->joint_gain;
    double *m = factor_of(z, which);
    const double *reach = reach_of(z, which);
    set_out(reach, planes, v, x, m, left);
    for (int n = 0; n < LIMBS; n++) {
        const int j = LIMB_ORDER[n];
        for (int k = 0; k < N_MEETINGS && n == LIMBS_BEFORE; k++)
            if (MEETINGS[k].host >= 0 && !meet_loops(z, planes, MEETINGS + k, z->limb_pivot[which], m, left))
                return 0;
        if (!eliminate_elastic(planes, LIMB + j, j, m, left) || !eliminate_joint(planes, LIMB + j, j, v, x, gain, m, left))
            return 0;
        if (LIMB[j].parent >= 0)
            hand_down(reach, planes, j, m, left);
    }
    for (int k = 0; k < N_MEETINGS; k++)
        if (MEETINGS[k].host < 0 && !meet_loops(z, planes, MEETINGS + k, z->limb_pivot[which], m, left))
            return 0;
    return 1;
}
#else
SUPPLE_LOCAL int by_limbs(const Sim *z) { return (void)z, 0; }
SUPPLE_LOCAL void note_trouble(Sim *z, int trial) { (void)z, (void)trial; }
#endif
