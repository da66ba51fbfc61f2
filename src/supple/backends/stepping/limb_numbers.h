/* Numbers of matrices body by body: real ones, and those of a step, in which all matrices of collocation stand side by side in a
 * vector. With three stages these are a real number, real and imaginary part of the pair, and nothing; what is multiplied
 * with (a factor, a pivot's inverse) has minus the imaginary part in place of nothing. With four they are two complex numbers.
 */
#if LIMBS > 0 && SUPPLE_LANES == 1
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi" /* all that takes or gives vectors is inlined */
typedef double Step __attribute__((vector_size(STEP_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define PICKED(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef long long Picks __attribute__((vector_size(STEP_LANES * sizeof(long long))));
#define PICKED(x, y, i, j, k, l) __builtin_shuffle(x, y, (Picks){i, j, k, l})
#endif
#define PART(x, i) (x)[i]
SUPPLE_INLINE Step step_of(double a, double b, double c, double d) { return (Step){a, b, c, d}; }
SUPPLE_INLINE Step sum_step(Step x, Step y) { return x + y; }
SUPPLE_INLINE Step more_step(Step t, double k, Step x) { return t + k * x; }
#if STAGES % 2
SUPPLE_INLINE Step times_step(Step a, Step x)
{
    return PICKED(a, a, 0, 1, 1, 1) * x + PICKED(a, a, 0, 3, 2, 0) * PICKED(x, x, 3, 2, 1, 3);
}
SUPPLE_INLINE Step less_step(Step t, Step a, Step x)
{
    return t - PICKED(a, a, 0, 1, 1, 1) * x - PICKED(a, a, 0, 3, 2, 0) * PICKED(x, x, 3, 2, 1, 3);
}
#else
SUPPLE_INLINE Step times_step(Step a, Step x)
{
    const Step one = PICKED(a, a, 0, 0, 2, 2) * x, other = PICKED(a, a, 1, 1, 3, 3) * PICKED(x, x, 1, 0, 3, 2);
    return PICKED(one - other, one + other, 0, 5, 2, 7);
}
SUPPLE_INLINE Step less_step(Step t, Step a, Step x) { return t - times_step(a, x); }
#endif
#else
typedef struct {
    double part[STEP_LANES];
} Step;
#define PART(x, i) (x).part[i]
SUPPLE_INLINE Step step_of(double a, double b, double c, double d) { return (Step){{a, b, c, d}}; }
SUPPLE_INLINE Step more_step(Step t, double k, Step x)
{
    for (int i = 0; i < STEP_LANES; i++)
        PART(t, i) += k * PART(x, i);
    return t;
}
SUPPLE_INLINE Step sum_step(Step x, Step y) { return more_step(x, 1.0, y); }
SUPPLE_INLINE Step times_step(Step a, Step x)
{
    Step made = step_of(PART(a, 0) * PART(x, 0), 0.0, 0.0, 0.0);
    for (int i = STAGES % 2; i < STAGES; i += 2) {
        PART(made, i) = PART(a, i) * PART(x, i) - PART(a, i + 1) * PART(x, i + 1);
        PART(made, i + 1) = PART(a, i) * PART(x, i + 1) + PART(a, i + 1) * PART(x, i);
    }
    return made;
}
SUPPLE_INLINE Step less_step(Step t, Step factor, Step x) { return more_step(t, -1.0, times_step(factor, x)); }
#endif
#if STAGES % 2
SUPPLE_INLINE Step number_step(double x) { return step_of(x, x, 0.0, 0.0); }
SUPPLE_INLINE Step factor_step(Step x) { return step_of(PART(x, 0), PART(x, 1), PART(x, 2), -PART(x, 2)); }
#else
SUPPLE_INLINE Step number_step(double x) { return step_of(x, 0.0, x, 0.0); }
SUPPLE_INLINE Step factor_step(Step x) { return x; }
#endif
SUPPLE_INLINE int is_none_step(Step x)
{
    return PART(x, 0) == 0.0 && PART(x, 1) == 0.0 && PART(x, 2) == 0.0 && PART(x, 3) == 0.0;
}

/* 1 / x as a factor, and whether it is finite */
SUPPLE_INLINE Step inverse_step(Step x, int *finite)
{
    Step made = step_of(1.0 / PART(x, 0), 0.0, 0.0, 0.0);
    for (int i = STAGES % 2; i < STAGES; i += 2) {
        const double square = PART(x, i) * PART(x, i) + PART(x, i + 1) * PART(x, i + 1);
        PART(made, i) = PART(x, i) / square;
        PART(made, i + 1) = -PART(x, i + 1) / square;
    }
    *finite = 1;
    for (int i = 0; i < STAGES; i++)
        *finite &= fabs(PART(made, i)) <= DBL_MAX;
    return factor_step(made);
}

SUPPLE_INLINE double sum_real(double x, double y) { return x + y; }
SUPPLE_INLINE double more_real(double t, double k, double x) { return t + k * x; }
SUPPLE_INLINE double times_real(double factor, double x) { return factor * x; }
SUPPLE_INLINE double less_real(double t, double factor, double x) { return t - factor * x; }
SUPPLE_INLINE double number_real(double x) { return x; }
SUPPLE_INLINE double factor_real(double x) { return x; }
SUPPLE_INLINE int is_none_real(double x) { return x == 0.0; }
SUPPLE_INLINE double inverse_real(double x, int *finite)
{
    *finite = fabs(1.0 / x) <= DBL_MAX;
    return 1.0 / x;
}

/* Forces in loops that are solved together, n of them: matrices with pivots of their own, one after the other */
static int factorise_loops_real(Sim *z, int n, double *square, double *factors, int *const *pivot)
{
    const int regular = factorise(square, pivot[0], n, z->live) > 0.0;
    memcpy(factors, square, n * n * sizeof *square);
    return regular;
}

static void solve_loops_real(int n, const double *factors, int *const *pivot, double *x) { solve(factors, pivot[0], n, x); }

static int factorise_loops_step(Sim *z, int n, Step *square, double *factors, int *const *pivot)
{
    int regular = 1;
    for (int i = 0; i < n * n; i++)
        for (int p = 0; p < STAGES; p++)
            factors[p * n * n + i] = PART(square[i], p);
    if (STAGES % 2)
        regular = factorise(factors, pivot[0], n, z->live) > 0.0;
    for (int p = STAGES % 2; p < STAGES && regular; p += 2)
        regular = factorise_complex(factors + p * n * n, factors + (p + 1) * n * n, pivot[(p + 1) / 2], n, z->live);
    for (int i = 0; i < n * n; i++) { /* as legs that are alike read them */
        for (int p = 0; p < STAGES; p++)
            PART(square[i], p) = factors[p * n * n + i];
        square[i] = factor_step(square[i]);
    }
    return regular;
}

static void solve_loops_step(int n, const double *factors, int *const *pivot, Step *x)
{
    double part[STAGES][AT_LEAST_ONE(N_LOOPED)];
    for (int i = 0; i < n; i++)
        for (int p = 0; p < STAGES; p++)
            part[p][i] = PART(x[i], p);
    if (STAGES % 2)
        solve(factors, pivot[0], n, part[0]);
    for (int p = STAGES % 2; p < STAGES; p += 2)
        solve_complex(factors + p * n * n, factors + (p + 1) * n * n, pivot[(p + 1) / 2], n, part[p], part[p + 1]);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < STAGES; p++)
            PART(x[i], p) = part[p][i];
}

/* Where matrices are kept: columns, what is not zero of those of elastic coordinates, factors of forces in loops */
SUPPLE_LOCAL double *columns_of_real(Sim *z, int which) { return z->limb_factor[which]; }
SUPPLE_LOCAL double *packed_of_real(Sim *z, int which) { return z->limb_packed[which]; }
SUPPLE_LOCAL double *loops_of_real(Sim *z, int which) { return z->limb_loops[which]; }
SUPPLE_LOCAL Step *columns_of_step(Sim *z, int which) { return (void)which, (Step *)z->limb_step; }
SUPPLE_LOCAL Step *packed_of_step(Sim *z, int which) { return (void)which, (Step *)z->limb_packed_step; }
SUPPLE_LOCAL double *loops_of_step(Sim *z, int which) { return (void)which, z->limb_loops_step; }
enum { PARTS_OF_real = 1, PARTS_OF_step = STAGES };

/* Legs that are alike: what they read of factors, and what is solved by them, in the numbers at x */
#if N_TEAMS > 0
SUPPLE_LOCAL void pack_teams_real(Sim *z, int which) { pack_teams(z, which, 1, columns_of_real(z, which), 1); }
SUPPLE_LOCAL void pack_teams_step(Sim *z, int which)
{
    pack_teams(z, which, FIRST_PARTS, z->limb_step, STEP_LANES);
    pack_teams(z, LIMB_PAIR, 2, z->limb_step + FIRST_PARTS, STEP_LANES);
}
static SUPPLE_WIDE void teams_down_real(Sim *z, int which, double *x) { teams_down(z, which, 1, (Strided){x, 1}); }
static SUPPLE_WIDE void teams_up_real(Sim *z, int which, double *x) { teams_up(z, which, 1, (Strided){x, 1}); }
static SUPPLE_WIDE void teams_down_step(Sim *z, int which, double *x)
{
    teams_down(z, which, FIRST_PARTS, (Strided){x, STEP_LANES});
    teams_down(z, LIMB_PAIR, 2, (Strided){x + FIRST_PARTS, STEP_LANES});
}
static SUPPLE_WIDE void teams_up_step(Sim *z, int which, double *x)
{
    teams_up(z, which, FIRST_PARTS, (Strided){x, STEP_LANES});
    teams_up(z, LIMB_PAIR, 2, (Strided){x + FIRST_PARTS, STEP_LANES});
}
#else
SUPPLE_LOCAL void pack_teams_real(Sim *z, int which) { (void)z, (void)which; }
SUPPLE_LOCAL void pack_teams_step(Sim *z, int which) { (void)z, (void)which; }
SUPPLE_LOCAL void teams_down_real(Sim *z, int which, double *x) { (void)z, (void)which, (void)x; }
SUPPLE_LOCAL void teams_up_real(Sim *z, int which, double *x) { (void)z, (void)which, (void)x; }
SUPPLE_LOCAL void teams_down_step(Sim *z, int which, double *x) { (void)z, (void)which, (void)x; }
SUPPLE_LOCAL void teams_up_step(Sim *z, int which, double *x) { (void)z, (void)which, (void)x; }
#endif

#define NUMBER double
#define OF(name) name##_real
#endif
