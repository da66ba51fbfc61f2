/* Quasi-static motion: free coordinates where their accelerations vanish while the given ones move. */
static int quasi_static_step(Sim *z, const Drive *d, double h, Posture *end)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], step[AT_LEAST_ONE(N_FREE)];
    int outcome = FINE;
    for (int i = 0; i < N_FREE; i++)
        s[i] = u[i] = fill(0);
    foresee(z, h, end);
    for (int fresh = 0; fresh < 2; fresh++) {
        double size = HUGE_VAL;
        if (fresh || !z->have_jacobian) {
            if ((outcome = differentiate(z, d)) != FINE)
                return outcome;
            memcpy(z->matrix, z->Fx, sizeof z->Fx);
            if (N_FREE > 0 && !(factorise(z->matrix, z->pivot, N_FREE, z->live) > 0.0))
                return ILL_POSED;
        }
        for (int iteration = 0; iteration < 20; iteration++) {
            if ((outcome = evaluate(z, d, z->t + h, z->now.q, s, u, end)) != FINE)
                break;
            z->iterations++;
            const double before = size;
            size = measure(z, end->f);
            if (size < 1e-9 || (size < 1e-6 && size > 0.5 * before))
                return FINE;
            if (!(size < 2.0 * before))
                break;
            memcpy(step, end->f, sizeof step);
            solve(z->matrix, z->pivot, N_FREE, step);
            for (int i = 0; i < N_FREE; i++)
                s[i] -= step[i];
        }
        for (int i = 0; i < N_FREE; i++)
            s[i] = fill(0);
        foresee(z, h, end);
    }
    return outcome == FINE ? DIVERGED : outcome;
}
