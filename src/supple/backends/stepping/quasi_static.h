/* Quasi-static motion: free coordinates where their accelerations vanish while the given ones move. */

#define STATIC_CLOSE 1e-10 /* correction, relative to the free coordinates, at which Newton's method is done */
#define STATIC_ROUNDED 1e-6 /* corrections below this that no longer shrink are rounding */
#define STATIC_MOST 40 /* iterations */
#define STATIC_ASIDE 3e-7 /* m or rad: step of differences; longer ones bend stiff bodies too far, shorter ones are rounding */
#define STATIC_LEAST 1e-9 /* m or rad: what corrections are relative to where nothing bends */

/* The largest correction, relative to the free coordinates of its unit. Not the accelerations that are left: along stiff
 * directions these are rounding of positions times 1e12/s^2, and never small */
static double correction(const Sim *z, const Posture *p, const real *step)
{
    double most[2] = {STATIC_LEAST, STATIC_LEAST}, largest = 0.0;
    for (int i = 0; i < N_FREE; i++)
        most[z->free_unit[i]] =
            larger(most[z->free_unit[i]], z->free_q[i] >= 0 ? size_of(p->q[z->free_q[i]], z->live) : 1.0);
    for (int i = 0; i < N_FREE; i++)
        largest = larger(largest, size_of(step[i], z->live) / most[z->free_unit[i]]);
    return largest;
}

/* Derivatives of the accelerations by the free coordinates at the displacement s, factorised */
static int stiffness(Sim *z, const Drive *d, double t, real *s, const real *u, const Posture *guess)
{
    static SUPPLE_THREAD Posture here, there;
    here = *guess;
    int outcome = evaluate(z, d, t, z->now.q, s, u, &here);
    for (int j = 0; outcome == FINE && j < N_FREE; j++) {
        const real before = s[j];
        s[j] = before + num(STATIC_ASIDE);
        there = here;
        outcome = evaluate(z, d, t, z->now.q, s, u, &there);
        s[j] = before;
        for (int i = 0; i < N_FREE; i++)
            z->matrix[j * N_FREE + i] = (there.f[i] - here.f[i]) / num(STATIC_ASIDE);
    }
    if (outcome != FINE)
        return outcome;
    z->jacobians++;
    z->have_jacobian = z->fresh = 1;
    return N_FREE == 0 || factorise(z->matrix, z->pivot, N_FREE, z->live) > 0.0 ? FINE : ILL_POSED;
}

/* The share of b along a, lane by lane */
static real share_along(const real *a, const real *b)
{
    real along = fill(0), square = fill(0);
    for (int i = 0; i < N_FREE; i++) {
        along += a[i] * b[i];
        square += a[i] * a[i];
    }
    for (int l = 0; l < SUPPLE_LANES; l++)
        SUPPLE_LANE(along, l) = SUPPLE_LANE(square, l) > 0.0 ? SUPPLE_LANE(along, l) / SUPPLE_LANE(square, l) : 0.0;
    return along;
}

/* Broyden's good update of the derivatives by the corrections taken so far, as Kelley (1995, section 7.3) writes it: turns
 * the correction that the old derivatives ask for into that of the updated ones */
static void updated(real taken[][AT_LEAST_ONE(N_FREE)], int count, real *step)
{
    for (int k = 0; k + 1 < count; k++) {
        const real share = share_along(taken[k], step);
        for (int i = 0; i < N_FREE; i++)
            step[i] += share * taken[k + 1][i];
    }
    if (count > 0) {
        const real left = num(1) - share_along(taken[count - 1], step);
        for (int i = 0; i < N_FREE; i++)
            step[i] /= left;
    }
}

static int quasi_static_step(Sim *z, const Drive *d, double h, Posture *end)
{
    static SUPPLE_THREAD real taken[STATIC_MOST][AT_LEAST_ONE(N_FREE)];
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    int outcome = FINE;
    for (int fresh = 0; fresh < 2; fresh++) {
        double size = HUGE_VAL;
        for (int i = 0; i < N_FREE; i++) { /* bending goes on as in the step before, whose rates are kept as a stage */
            s[i] = z->have_stages ? h * z->stage[i] : fill(0);
            u[i] = fill(0);
        }
        foresee(z, h, end);
        if ((fresh || !z->have_jacobian) && (outcome = stiffness(z, d, z->t + h, s, u, end)) != FINE)
            break;
        for (int iteration = 0; iteration < STATIC_MOST; iteration++) {
            real *step = taken[iteration];
            if ((outcome = evaluate(z, d, z->t + h, z->now.q, s, u, end)) != FINE)
                break;
            z->iterations++;
            for (int i = 0; i < N_FREE; i++)
                step[i] = -end->f[i];
            solve(z->matrix, z->pivot, N_FREE, step);
            updated(taken, iteration, step);
            const double before = size;
            size = correction(z, end, step);
            if (size < STATIC_CLOSE || (size < STATIC_ROUNDED && size > 0.5 * before)) {
                for (int i = 0; i < N_FREE; i++) {
                    z->stage[i] = s[i] / h;
                    end->f[i] = fill(0);
                }
                return FINE;
            }
            if (!(size < 10.0 * before))
                break;
            for (int i = 0; i < N_FREE; i++)
                s[i] += step[i];
        }
    }
    return outcome == FINE ? DIVERGED : outcome;
}
