/* Gauss collocation with three stages: order six, symmetric in time, for reference solutions.
 *
 * Unknowns are the accelerations F of the stages; positions are s = c h v + h^2 A A F, rates v + h A F.
 */
#if STAGES == 3
#define ROOT15 3.872983346207417
static const double GAUSS_C[3] = {0.5 - ROOT15 / 10.0, 0.5, 0.5 + ROOT15 / 10.0};
static const double GAUSS_B[3] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
static const double GAUSS_A[3][3] = {
    {5.0 / 36.0, 2.0 / 9.0 - ROOT15 / 15.0, 5.0 / 36.0 - ROOT15 / 30.0},
    {5.0 / 36.0 + ROOT15 / 24.0, 2.0 / 9.0, 5.0 / 36.0 - ROOT15 / 24.0},
    {5.0 / 36.0 + ROOT15 / 30.0, 2.0 / 9.0 + ROOT15 / 15.0, 5.0 / 36.0},
};

static double gauss_squared(int i, int j)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += GAUSS_A[i][k] * GAUSS_A[k][j];
    return sum;
}

/* the polynomial through the stages, at x steps from the start: weight of stage j */
static double gauss_weight(int j, double x)
{
    double product = 1.0;
    for (int k = 0; k < 3; k++)
        if (k != j)
            product *= (x - GAUSS_C[k]) / (GAUSS_C[j] - GAUSS_C[k]);
    return product;
}

/* displacement and rates at a share x of a step: the quartic through the accelerations at its ends and stages, integrated */
SUPPLE_LOCAL void gauss_between(const Sim *z, double h, double x, const Posture *end, real *place, real *rate, real *f)
{
    const double node[5] = {0.0, GAUSS_C[0], GAUSS_C[1], GAUSS_C[2], 1.0};
    double by_rate[5] = {0}, by_place[5] = {0}, here[5];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 5; k++) {
            double weight = GAUSS_B[j];
            for (int l = 0; l < 5; l++)
                if (l != k)
                    weight *= (x * GAUSS_C[j] - node[l]) / (node[k] - node[l]);
            by_rate[k] += weight * x * h;
            by_place[k] += weight * x * x * h * h * (1.0 - GAUSS_C[j]);
        }
    for (int k = 0; k < 5; k++) {
        here[k] = 1.0;
        for (int l = 0; l < 5; l++)
            if (l != k)
                here[k] *= (x - node[l]) / (node[k] - node[l]);
    }
    for (int i = 0; i < N_FREE; i++) {
        const real F[5] = {z->now.f[i], z->stage[i], z->stage[N_FREE + i], z->stage[2 * N_FREE + i], end->f[i]};
        const real v = z->now.v[z->free_v[i]];
        place[i] = x * h * v;
        rate[i] = v;
        f[i] = fill(0);
        for (int k = 0; k < 5; k++) {
            f[i] += here[k] * F[k];
            place[i] += by_place[k] * F[k];
            rate[i] += by_rate[k] * F[k];
        }
    }
}

static int gauss_matrix(Sim *z, double h)
{
    const int n = N_FREE, m = 3 * N_FREE;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            const double by_v = h * GAUSS_A[p][q], by_x = h * h * gauss_squared(p, q);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    z->matrix[(q * n + j) * m + p * n + i] = -by_v * z->Fv[j * n + i] - by_x * z->Fx[j * n + i];
        }
    for (int i = 0; i < m; i++)
        z->matrix[i * m + i] += num(1);
    z->factorised_for = h;
    return m == 0 || factorise(z->matrix, z->pivot, m, z->live) > 0.0;
}

static int gauss_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    static SUPPLE_THREAD Posture at[3];
    real F[3][AT_LEAST_ONE(N_FREE)], extra[3][AT_LEAST_ONE(N_FREE)], r[AT_LEAST_ONE(3 * N_FREE)];
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    int outcome = FINE;
    if (!z->have_jacobian && (outcome = differentiate(z, d)) != FINE)
        return outcome;
    if (z->factorised_for != h && !gauss_matrix(z, h))
        return DIVERGED;
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < N_FREE; i++) {
            F[p][i] = z->now.f[i];
            extra[p][i] = fill(0);
            if (z->have_stages && !z->restart) {
                F[p][i] = fill(0);
                for (int q = 0; q < 3; q++)
                    F[p][i] += gauss_weight(q, 1.0 + GAUSS_C[p] * h / z->h_last) * z->stage[q * N_FREE + i];
            }
        }
    for (int p = 0; p < 3; p++)
        foresee(z, GAUSS_C[p] * h, &at[p]);
    double size = HUGE_VAL;
    for (int iteration = 0;; iteration++) {
        if (iteration > 15)
            return DIVERGED;
        for (int p = 0; p < 3; p++) {
            for (int i = 0; i < N_FREE; i++) {
                const real v = z->now.v[z->free_v[i]];
                s[i] = GAUSS_C[p] * h * v;
                u[i] = v;
                for (int q = 0; q < 3; q++) {
                    s[i] += h * h * gauss_squared(p, q) * F[q][i] + h * GAUSS_A[p][q] * extra[q][i];
                    u[i] += h * GAUSS_A[p][q] * F[q][i];
                }
            }
            if ((outcome = evaluate(z, d, z->t + GAUSS_C[p] * h, z->now.q, s, u, &at[p])) != FINE)
                return outcome;
            for (int i = 0; i < N_FREE; i++)
                r[p * N_FREE + i] = at[p].f[i] - F[p][i];
        }
        z->iterations++;
        double turned = 0.0;
        for (int p = 0; p < 3; p++)
            for (int i = 0; i < N_FREE; i++) {
                const real now = at[p].rate[i] - at[p].v[z->free_v[i]];
                turned = larger(turned, size_of(now - extra[p][i], z->live) / (h * z->scale[z->free_unit[i]]));
                extra[p][i] = now;
            }
        solve(z->matrix, z->pivot, 3 * N_FREE, r);
        const double before = size;
        size = turned;
        for (int p = 0; p < 3; p++)
            size = larger(size, measure(z, r + p * N_FREE));
        for (int p = 0; p < 3; p++)
            for (int i = 0; i < N_FREE; i++)
                F[p][i] += r[p * N_FREE + i];
        if (!(size < HUGE_VAL) || (iteration > 2 && size > 2.0 * before && size > 1e-6))
            return DIVERGED;
        z->contraction = iteration ? size / before : 0.0;
        const int rounding = size < ROUNDED && ((iteration > 2 && size > 0.3 * before) || iteration == 15);
        if (size < z->newton || rounding) {
            spend(z, 3 * (iteration - 3));
            break;
        }
    }
    real P[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        const real v = z->now.v[z->free_v[i]];
        s[i] = h * v;
        u[i] = v;
        P[i] = z->now.f[i];
        for (int q = 0; q < 3; q++) {
            s[i] += h * h * GAUSS_B[q] * (1.0 - GAUSS_C[q]) * F[q][i] + h * GAUSS_B[q] * extra[q][i];
            u[i] += h * GAUSS_B[q] * F[q][i];
            P[i] -= gauss_weight(q, 0.0) * F[q][i];
            z->stage[q * N_FREE + i] = F[q][i];
        }
    }
    z->step_work = fill(0);
    for (int q = 0; q < 3; q++)
        z->step_work += h * GAUSS_B[q] * power_of(z, d, z->t + GAUSS_C[q] * h, &at[q]);
    z->have_stages = 0; /* until the step is accepted */
    foresee(z, h, end);
    outcome = evaluate(z, d, z->t + h, z->now.q, s, u, end);
    const double low = measure(z, P); /* of order three; the method is twice as good */
    *error = low < 0.1 ? 10.0 * low * low : low;
    return outcome;
}
#endif
