/* Quasi-static motion: free coordinates where their accelerations vanish while the given ones move. */

#define STATIC_CLOSE 1e-10 /* correction, relative to the free coordinates, at which Newton's method is done */
#define STATIC_ROUNDED 1e-6 /* corrections below this that no longer shrink, time after time, are rounding */
#define STATIC_MOST 40 /* iterations */
#define STATIC_LEAST 1e-9 /* m or rad: what corrections are relative to where nothing bends */

/* The largest correction, relative to the free coordinates of its unit. Not the accelerations that are left: along stiff
 * directions these are rounding of positions times 1e12/s^2, and never small */
static double correction(const Sim *z, const Posture *p, const real *step)
{
    double most[2] = {STATIC_LEAST, STATIC_LEAST}, largest = 0.0;
    for (int i = 0; i < N_FREE; i++) {
        const int unit = z->chosen.free_unit[i], k = z->chosen.free_q[i];
        most[unit] = larger(most[unit], k >= 0 ? size_of(p->q[k], z->live) : 1.0);
    }
    for (int i = 0; i < N_FREE; i++)
        largest = larger(largest, size_of(step[i], z->live) / most[z->chosen.free_unit[i]]);
    return largest;
}

/* Derivatives of the accelerations by the free coordinates in a posture at time t, factorised */
static int stiffness(Sim *z, const Drive *d, double t, const Posture *there)
{
    static SUPPLE_THREAD Posture kept;
    const double before = z->t;
    kept = z->now;
    z->now = *there;
    z->t = t;
    const int outcome = derive(z, d, N_FREE, NULL);
    z->now = kept;
    z->t = before;
    if (outcome != FINE)
        return outcome;
    memcpy(z->newton_matrix, z->a_by_x, N_FREE * N_FREE * sizeof(real));
    return N_FREE == 0 || factorise(z->newton_matrix, z->newton_pivot, N_FREE, z->live) > 0.0 ? FINE : ILL_POSED;
}

static int quasi_static_step(Sim *z, const Drive *d, double h, Posture *end)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], step[AT_LEAST_ONE(N_FREE)], last[AT_LEAST_ONE(N_FREE)];
    int outcome = FINE;
    for (int fresh = 0; fresh < 2; fresh++) {
        double size = HUGE_VAL;
        int stalled = 0;
        for (int i = 0; i < N_FREE; i++) { /* bending goes on as in the step before, whose rates are kept as a stage */
            s[i] = z->has_stages ? h * z->stages[i] : fill(0);
            u[i] = fill(0);
        }
        foresee(z, h, end);
        outcome = evaluate(z, d, fill(z->t + h), z->now.q, s, u, end);
        if (outcome == FINE && (fresh || !z->has_jacobian))
            outcome = stiffness(z, d, z->t + h, end);
        z->n_broyden = 0;
        for (int iteration = 0; iteration < STATIC_MOST && outcome == FINE; iteration++) {
            z->newton_iterations++;
            for (int i = 0; i < N_FREE; i++)
                step[i] = -end->free_a[i];
            solve(z->newton_matrix, z->newton_pivot, N_FREE, step);
            improve(z, 1, iteration ? last : NULL, step);
            memcpy(last, step, sizeof last);
            const double before = size;
            size = correction(z, end, step);
            stalled = size < STATIC_ROUNDED && size > 0.5 * before ? stalled + 1 : 0;
            if (size < STATIC_CLOSE || stalled > 2) {
                for (int i = 0; i < N_FREE; i++) {
                    z->stages[i] = s[i] / h;
                    end->free_a[i] = fill(0);
                }
                return FINE;
            }
            if (!(size < 10.0 * before))
                break;
            for (int i = 0; i < N_FREE; i++)
                s[i] += step[i];
            outcome = evaluate(z, d, fill(z->t + h), z->now.q, s, u, end);
        }
    }
    return outcome == FINE ? DIVERGED : outcome;
}
