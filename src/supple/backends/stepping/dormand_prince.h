/* Dormand & Prince's explicit Runge-Kutta pair 5(4), for motions that are not stiff. */
static const double DP_C[7] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
static const double DP_A[7][6] = {
    {0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double DP_E[7] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0,
};

static int dormand_prince_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    real F[7][AT_LEAST_ONE(N_FREE)], R[7][AT_LEAST_ONE(N_FREE)], s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        F[0][i] = z->now.free_a[i];
        R[0][i] = z->now.v[z->chosen.free_v[i]];
    }
    z->step_work = h * DP_A[6][0] * z->power;
    for (int p = 1; p < 7; p++) {
        for (int i = 0; i < N_FREE; i++) {
            s[i] = fill(0);
            u[i] = z->now.v[z->chosen.free_v[i]];
            for (int q = 0; q < p; q++) {
                s[i] += h * DP_A[p][q] * R[q][i];
                u[i] += h * DP_A[p][q] * F[q][i];
            }
        }
        foresee(z, DP_C[p] * h, end);
        const int outcome = evaluate(z, d, fill(z->t + DP_C[p] * h), z->now.q, s, u, end);
        if (outcome != FINE)
            return outcome;
        if (p < 6)
            z->step_work += h * DP_A[6][p] * power_of(z, d, z->t + DP_C[p] * h, end);
        memcpy(F[p], end->free_a, sizeof F[p]);
        memcpy(R[p], end->free_rate, sizeof R[p]);
    }
    double largest = 0.0;
    for (int i = 0; i < N_FREE; i++) {
        real rate = fill(0), place = fill(0);
        for (int q = 0; q < 7; q++) {
            rate += DP_E[q] * F[q][i];
            place += DP_E[q] * R[q][i];
        }
        const double scale = z->scale[z->chosen.free_unit[i]];
        largest = larger(largest, size_of(rate, z->live) / scale);
        largest = larger(largest, size_of(place, z->live) / (scale * larger(h, 1e-3)));
    }
    *error = largest;
    return FINE;
}
