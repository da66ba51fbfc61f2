/* Newton's matrices of a robot of equal legs, leg by leg: I - v Fv - x Fx without an N_FREE x N_FREE matrix.
 *
 * Elastic accelerations d of all legs, those that close loops among them, change by A W d + G s with W = v D + x K and
 * s = R sum P W d (see compliance.h), so
 *
 *     (1 - A W) d = r + G s    leg by leg,    and 1 - R sum P W (1 - A W)^-1 G is a matrix of the platform's size.
 *
 * Forces that depend on motion otherwise (inertia, gravity, friction, controllers) are left out: Newton's method takes more
 * iterations for them, or goes back to the whole matrix.
 */
enum { LEG_REAL, LEG_SIEVE, LEG_PAIR };

#if LEGS > 0 && SUPPLE_LANES == 1
#define LEG_ALL (LEGS * LEG_E)
#define MOST_TROUBLE 30 /* steps that do not converge leg by leg, and one in three, before the whole matrix is used */
#define GIVEN_UP 1000000000

static Complies *complies;

/* whether matrices are made leg by leg */
SUPPLE_LOCAL int by_legs(const Sim *z)
{
    const int collocated = z->settings.method == RADAU || z->settings.method == GAUSS;
    return complies && collocated && z->leg_trouble < GIVEN_UP;
}

/* A step did not converge with fresh matrices: after some of those, the whole matrix is used from then on */
SUPPLE_LOCAL void note_trouble(Sim *z)
{
    if (by_legs(z) && ++z->leg_trouble > MOST_TROUBLE + z->steps / 3) {
        z->leg_trouble = GIVEN_UP;
        z->has_jacobian = 0;
    }
}

/* to (rows x LEG_E) = left (rows x LEG_E) times right (LEG_E x LEG_E), whose empty parts cost nothing */
static SUPPLE_WIDE void times(const double *left, const double *right, int rows, double *restrict to)
{
    memset(to, 0, rows * LEG_E * sizeof *to);
    for (int j = 0; j < LEG_E; j++)
        for (int k = 0; k < LEG_E; k += PANEL) {
            const double *b = right + j * LEG_E + k, *a = left + k * rows;
            double *restrict sum = to + j * rows;
            if (k + PANEL > LEG_E) {
                for (; k < LEG_E; k++, b++, a += rows)
                    for (int i = 0; i < rows; i++)
                        sum[i] += a[i] * b[0];
            } else if (b[0] != 0.0 || b[1] != 0.0 || b[2] != 0.0 || b[3] != 0.0)
                for (int i = 0; i < rows; i++)
                    sum[i] += a[i] * b[0] + a[rows + i] * b[1] + a[2 * rows + i] * b[2] + a[3 * rows + i] * b[3];
        }
}

/* What legs yield at the present posture */
static int leg_derivatives(Sim *z)
{
    static SUPPLE_THREAD double A[LEG_ALL * LEG_OUT], P[LEG_ALL * SLOTS], K[LEG_ALL * LEG_E], D[LEG_ALL * LEG_E];
    const Moment at = moment(z);
    const Compliance to = {A, P, z->leg_carried, z->leg_meeting, K, D, z->leg_tied};
    const int outcome = complies(&at, &to);
    for (int leg = 0; leg < LEGS && outcome == FINE; leg++) {
        const double *a = A + leg * LEG_E * LEG_OUT, *p = P + leg * LEG_E * SLOTS;
        const double *k = K + leg * LEG_E * LEG_E, *d = D + leg * LEG_E * LEG_E;
        times(a, k, LEG_OUT, z->leg_by_x + leg * LEG_E * LEG_OUT);
        times(a, d, LEG_OUT, z->leg_by_v + leg * LEG_E * LEG_OUT);
        times(p, k, SLOTS, z->leg_pull_x + leg * LEG_E * SLOTS);
        times(p, d, SLOTS, z->leg_pull_v + leg * LEG_E * SLOTS);
    }
    return outcome;
}

/* elastic coordinates of all legs by the free ones */
static void spread_to_legs(const Sim *z, const double *r, double *e)
{
    for (int leg = 0; leg < LEGS; leg++)
        for (int i = 0; i < LEG_E; i++) {
            const int k = LEG_FREE[leg * LEG_OUT + i];
            e[leg * LEG_E + i] = k < 0 ? 0.0 : r[k];
        }
    for (int j = 0; j < N_FREE; j++)
        for (int i = 0; i < N_TIED; i++)
            e[TIED_AT[i]] += z->leg_tied[j * AT_LEAST_ONE(N_TIED) + i] * r[j];
}

/* s += v D + x K of a part of a product: sum of columns k of `by_v` and `by_x` (rows each) with shares */
SUPPLE_LOCAL SUPPLE_WIDE void add_columns(const double *by_v, const double *by_x, double v, double x, int rows, int columns,
                                          const double *share, double *restrict sum)
{
    for (int k = 0; k < columns; k++) {
        const double sv = v * share[k], sx = x * share[k];
        for (int i = 0; i < rows; i++)
            sum[i] += sv * by_v[k * rows + i] + sx * by_x[k * rows + i];
    }
}

/* What the legs pull at the platform with, made its accelerations: R sum P W e */
static void platform_of(const Sim *z, double v, double x, const double *e, double *s)
{
    double pull[SLOTS] = {0};
    add_columns(z->leg_pull_v, z->leg_pull_x, v, x, SLOTS, LEG_ALL, e, pull);
    for (int i = 0; i < SLOTS; i++)
        s[i] = 0.0;
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < SLOTS; i++)
            s[i] += z->leg_meeting[k * SLOTS + i] * pull[k];
}

/* 1 - A W of every leg and the platform's matrix, factorised, for real v and x */
static int leg_factors(Sim *z, int which, double v, double x)
{
    double *small = z->leg_small[which], s[SLOTS];
    static SUPPLE_THREAD double all[LEG_ALL];
    for (int leg = 0; leg < LEGS; leg++) {
        double *m = z->leg_matrix[which] + leg * LEG_E * LEG_E;
        int *pivot = z->leg_pivot[which] + leg * LEG_E;
        const double *by_v = z->leg_by_v + leg * LEG_E * LEG_OUT, *by_x = z->leg_by_x + leg * LEG_E * LEG_OUT;
        for (int j = 0; j < LEG_E; j++)
            for (int i = 0; i < LEG_E; i++)
                m[j * LEG_E + i] = (i == j) - v * by_v[j * LEG_OUT + i] - x * by_x[j * LEG_OUT + i];
        if (!(factorise(m, pivot, LEG_E, z->live) > 0.0))
            return 0;
        for (int k = 0; k < SLOTS; k++) {
            double *bent = z->leg_bent[which] + (k * LEGS + leg) * LEG_E;
            memcpy(bent, z->leg_carried + (leg * SLOTS + k) * LEG_OUT, LEG_E * sizeof *bent);
            solve(m, pivot, LEG_E, bent);
        }
    }
    for (int k = 0; k < SLOTS; k++) {
        memcpy(all, z->leg_bent[which] + k * LEG_ALL, sizeof all);
        platform_of(z, v, x, all, s);
        for (int i = 0; i < SLOTS; i++)
            small[k * SLOTS + i] = (i == k) - s[i];
    }
    return factorise(small, z->leg_small_pivot[which], SLOTS, z->live) > 0.0;
}

/* elastic accelerations of the legs, to the free ones among them */
static void gather_from_legs(const double *e, double *r)
{
    for (int leg = 0; leg < LEGS; leg++)
        for (int i = 0; i < LEG_E; i++)
            if (LEG_FREE[leg * LEG_OUT + i] >= 0)
                r[LEG_FREE[leg * LEG_OUT + i]] = e[leg * LEG_E + i];
}

/* r plus what A W e and G s (if there is one) make of the actuators' accelerations */
static void push_actuators(const Sim *z, double v, double x, const double *e, const double *s, double *r)
{
    for (int leg = 0; leg < LEGS; leg++) {
        const double *by_v = z->leg_by_v + leg * LEG_E * LEG_OUT, *by_x = z->leg_by_x + leg * LEG_E * LEG_OUT;
        for (int i = LEG_E; i < LEG_OUT; i++) {
            const int k = LEG_FREE[leg * LEG_OUT + i];
            for (int j = 0; j < LEG_E && k >= 0; j++)
                r[k] += (v * by_v[j * LEG_OUT + i] + x * by_x[j * LEG_OUT + i]) * e[leg * LEG_E + j];
            for (int j = 0; j < SLOTS && k >= 0 && s; j++)
                r[k] += z->leg_carried[(leg * SLOTS + j) * LEG_OUT + i] * s[j];
        }
    }
}

/* r becomes the solution of (1 - v Fv - x Fx) d = r */
static void leg_solve(const Sim *z, int which, double v, double x, double *r)
{
    static SUPPLE_THREAD double e[LEG_ALL];
    double s[SLOTS];
    spread_to_legs(z, r, e);
    for (int leg = 0; leg < LEGS; leg++)
        solve(z->leg_matrix[which] + leg * LEG_E * LEG_E, z->leg_pivot[which] + leg * LEG_E, LEG_E, e + leg * LEG_E);
    platform_of(z, v, x, e, s);
    solve(z->leg_small[which], z->leg_small_pivot[which], SLOTS, s);
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < LEG_ALL; i++)
            e[i] += z->leg_bent[which][k * LEG_ALL + i] * s[k];
    gather_from_legs(e, r);
    push_actuators(z, v, x, e, s, r);
}

/* felt = v Fv r + x Fx r */
static void leg_felt(const Sim *z, double v, double x, const double *r, double *felt)
{
    static SUPPLE_THREAD double e[LEG_ALL], out[LEG_OUT];
    double s[SLOTS];
    spread_to_legs(z, r, e);
    platform_of(z, v, x, e, s);
    for (int leg = 0; leg < LEGS; leg++) {
        const int at = leg * LEG_E * LEG_OUT;
        memset(out, 0, sizeof out);
        add_columns(z->leg_by_v + at, z->leg_by_x + at, v, x, LEG_OUT, LEG_E, e + leg * LEG_E, out);
        for (int i = 0; i < LEG_OUT; i++) {
            for (int k = 0; k < SLOTS; k++)
                out[i] += z->leg_carried[(leg * SLOTS + k) * LEG_OUT + i] * s[k];
            if (LEG_FREE[leg * LEG_OUT + i] >= 0)
                felt[LEG_FREE[leg * LEG_OUT + i]] = out[i];
        }
    }
}

/* The platform's accelerations for complex v, x and e; s: real parts, then imaginary ones */
static void platform_of_pair(const Sim *z, const double *v, const double *x, const double *re, const double *im, double *s)
{
    double a[SLOTS], b[SLOTS];
    platform_of(z, v[0], x[0], re, s);
    platform_of(z, v[1], x[1], im, a);
    platform_of(z, v[0], x[0], im, s + SLOTS);
    platform_of(z, v[1], x[1], re, b);
    for (int i = 0; i < SLOTS; i++) {
        s[i] -= a[i];
        s[SLOTS + i] += b[i];
    }
}

/* The same factors for the complex v and x of the pair */
static int leg_pair_factors(Sim *z, const double *v, const double *x)
{
    double *small = z->leg_small[LEG_PAIR], *small_im = z->leg_small[LEG_PAIR + 1], s[2 * SLOTS];
    for (int leg = 0; leg < LEGS; leg++) {
        double *m = z->leg_matrix[LEG_PAIR] + leg * LEG_E * LEG_E, *im = z->leg_matrix[LEG_PAIR + 1] + leg * LEG_E * LEG_E;
        int *pivot = z->leg_pivot[LEG_PAIR] + leg * LEG_E;
        const double *by_v = z->leg_by_v + leg * LEG_E * LEG_OUT, *by_x = z->leg_by_x + leg * LEG_E * LEG_OUT;
        for (int j = 0; j < LEG_E; j++)
            for (int i = 0; i < LEG_E; i++) {
                m[j * LEG_E + i] = (i == j) - v[0] * by_v[j * LEG_OUT + i] - x[0] * by_x[j * LEG_OUT + i];
                im[j * LEG_E + i] = -v[1] * by_v[j * LEG_OUT + i] - x[1] * by_x[j * LEG_OUT + i];
            }
        if (!factorise_complex(m, im, pivot, LEG_E, z->live))
            return 0;
        for (int k = 0; k < SLOTS; k++) {
            double *bent = z->leg_bent[LEG_PAIR] + (k * LEGS + leg) * LEG_E;
            double *bent_im = z->leg_bent[LEG_PAIR + 1] + (k * LEGS + leg) * LEG_E;
            memcpy(bent, z->leg_carried + (leg * SLOTS + k) * LEG_OUT, LEG_E * sizeof *bent);
            memset(bent_im, 0, LEG_E * sizeof *bent_im);
            solve_complex(m, im, pivot, LEG_E, bent, bent_im);
        }
    }
    for (int k = 0; k < SLOTS; k++) {
        platform_of_pair(z, v, x, z->leg_bent[LEG_PAIR] + k * LEG_ALL, z->leg_bent[LEG_PAIR + 1] + k * LEG_ALL, s);
        for (int i = 0; i < SLOTS; i++) {
            small[k * SLOTS + i] = (i == k) - s[i];
            small_im[k * SLOTS + i] = -s[SLOTS + i];
        }
    }
    return factorise_complex(small, small_im, z->leg_small_pivot[LEG_PAIR], SLOTS, z->live);
}

/* re + i im becomes the solution with them */
static void leg_pair_solve(const Sim *z, const double *v, const double *x, double *re, double *im)
{
    static SUPPLE_THREAD double a[LEG_ALL], b[LEG_ALL];
    const double *bent = z->leg_bent[LEG_PAIR], *bent_im = z->leg_bent[LEG_PAIR + 1];
    double s[2 * SLOTS];
    spread_to_legs(z, re, a);
    spread_to_legs(z, im, b);
    for (int leg = 0; leg < LEGS; leg++)
        solve_complex(z->leg_matrix[LEG_PAIR] + leg * LEG_E * LEG_E, z->leg_matrix[LEG_PAIR + 1] + leg * LEG_E * LEG_E,
                      z->leg_pivot[LEG_PAIR] + leg * LEG_E, LEG_E, a + leg * LEG_E, b + leg * LEG_E);
    platform_of_pair(z, v, x, a, b, s);
    solve_complex(z->leg_small[LEG_PAIR], z->leg_small[LEG_PAIR + 1], z->leg_small_pivot[LEG_PAIR], SLOTS, s, s + SLOTS);
    for (int k = 0; k < SLOTS; k++)
        for (int i = 0; i < LEG_ALL; i++) {
            a[i] += bent[k * LEG_ALL + i] * s[k] - bent_im[k * LEG_ALL + i] * s[SLOTS + k];
            b[i] += bent[k * LEG_ALL + i] * s[SLOTS + k] + bent_im[k * LEG_ALL + i] * s[k];
        }
    gather_from_legs(a, re);
    gather_from_legs(b, im);
    push_actuators(z, v[0], x[0], a, s, re);
    push_actuators(z, -v[1], -x[1], b, NULL, re);
    push_actuators(z, v[0], x[0], b, s + SLOTS, im);
    push_actuators(z, v[1], x[1], a, NULL, im);
}
#else
SUPPLE_LOCAL int by_legs(const Sim *z) { return (void)z, 0; }
SUPPLE_LOCAL void note_trouble(Sim *z) { (void)z; }
#endif
