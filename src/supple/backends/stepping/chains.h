/* SCDD: the direct dynamics of every chain by itself, coupled by a small system for the loop forces.
 *
 *     M_i a_i + c_i = applied_i + J_i^T lam    for every chain i,    sum of J_i a_i = wanted
 *
 * Arrays are in the order of the chains' coordinates (CHAIN_V: their places in v). `IS_HEAVY` are those a chain is solved
 * for; what moves no mass (LIGHT) is solved for together with lam, and the given ones are known.
 */
#ifdef CHAINS
#define N_SMALL (N_LIGHT + N_LOOP)
#define CHAIN_ROOM (MOST_CHAIN * MOST_CHAIN)

typedef struct {
    real M[N_CHAINS * CHAIN_ROOM], c[N_V], load[N_V], J[N_V * N_ROW];
} Parts;

static void chain_models(const Sim *z, const real *q, const real *v, const real *g, const real *wrench, Parts *to)
{
    for (int k = 0; k < N_CHAINS; k++) {
        const int at = CHAIN_AT[k];
        real *M = to->M + k * CHAIN_ROOM, *J = to->J + at * N_ROW;
        CHAIN_MODEL[k](q, v, g, wrench, z->parameters, M, to->c + at, to->load + at, J);
    }
#ifdef FURTHER_DAMPING
    real all[N_V]; /* forces that velocities of one chain may have on another */
    further_damping(q, v, all);
    for (int i = 0; i < N_V; i++)
        to->c[V_CHAIN[i]] += all[i];
#endif
}

/* M a of every chain, and of it the rows of one coordinate: place i of chain k */
SUPPLE_LOCAL real inertia_of(const Parts *parts, int k, int i, const real *a)
{
    const int first = CHAIN_AT[k], n = CHAIN_AT[k + 1] - first;
    real sum = fill(0);
    for (int j = 0; j < n; j++)
        sum += parts->M[k * CHAIN_ROOM + (i - first) * n + j] * a[first + j];
    return sum;
}

/* Forces on every chain by itself, the given accelerations taken off; they go to a */
static void chain_forces(const Posture *p, const Parts *parts, const real *given, real *a, real *force)
{
    memset(a, 0, N_V * sizeof(real));
    for (int i = 0; i < N_V; i++)
        if (V_FREE[CHAIN_V[i]] < 0)
            a[i] = given[CHAIN_V[i]];
    for (int k = 0; k < N_CHAINS; k++)
        for (int i = CHAIN_AT[k]; i < CHAIN_AT[k + 1]; i++)
            force[i] = parts->load[i] - parts->c[i] - inertia_of(parts, k, i, a);
    for (int i = 0; i < N_TAU; i++)
        force[V_CHAIN[TAU_V[i]]] += p->effort[i];
}

/* x (columns of N_V numbers) become what each chain makes of them by itself, zero where it is not solved; 0: it cannot */
static int yield_of(const Sim *z, const Parts *parts, real *x, int columns)
{
    static SUPPLE_THREAD real m[CHAIN_ROOM];
    int order[MOST_CHAIN], at[MOST_CHAIN];
    real size[MOST_CHAIN], b[MOST_CHAIN];
    for (int k = 0; k < N_CHAINS; k++) {
        const int first = CHAIN_AT[k], n = CHAIN_AT[k + 1] - first;
        const real *M = parts->M + k * CHAIN_ROOM;
        int h = 0;
        for (int i = 0; i < n; i++)
            if (IS_HEAVY[first + i]) {
                size[h] = unit_of(M[i * (n + 1)]);
                at[h++] = i;
            }
        for (int j = 0; j < h; j++)
            for (int i = 0; i < h; i++)
                m[j * h + i] = M[at[i] * n + at[j]] * size[i] * size[j];
        if (h && !(factorise(m, order, h, z->live) > 0.0))
            return 0;
        for (int c = 0; c < columns; c++) {
            real *own = x + c * N_V + first;
            for (int i = 0; i < h; i++)
                b[i] = own[at[i]] * size[i];
            solve(m, order, h, b);
            memset(own, 0, n * sizeof(real));
            for (int i = 0; i < h; i++)
                own[at[i]] = b[i] * size[i];
        }
    }
    return 1;
}

/* [0 A^T; A S], scaled and factorised: S is what the chains yield to the loop forces, A the columns of J without mass */
static int small_system(const Sim *z, const Parts *parts, const real *yield, real *size, real *small, int *order)
{
    for (int i = 0; i < N_SMALL; i++)
        for (int j = 0; j < N_SMALL; j++) {
            real sum = fill(0);
            if (i >= N_LIGHT && j >= N_LIGHT)
                for (int k = 0; k < N_V; k++)
                    sum += parts->J[k * N_ROW + LOOP_ROW[i - N_LIGHT]] * yield[(j - N_LIGHT) * N_V + k];
            else if (i >= N_LIGHT)
                sum = parts->J[LIGHT[j] * N_ROW + LOOP_ROW[i - N_LIGHT]];
            else if (j >= N_LIGHT)
                sum = parts->J[LIGHT[i] * N_ROW + LOOP_ROW[j - N_LIGHT]];
            small[j * N_SMALL + i] = sum;
        }
    for (int i = 0; i < N_SMALL; i++)
        size[i] = i < N_LIGHT ? fill(1) : unit_of(small[i * (N_SMALL + 1)]);
    for (int j = 0; j < N_SMALL; j++)
        for (int i = 0; i < N_SMALL; i++)
            small[j * N_SMALL + i] *= size[i] * size[j];
    return factorise(small, order, N_SMALL, z->live) > 0.0;
}

/* Accelerations and loop forces of this very evaluation; a holds the given ones */
static int exact_forces(const Sim *z, const Parts *parts, const real *wanted, const real *force, real *a, real *lam)
{
    static SUPPLE_THREAD real yield[(N_LOOP + 1) * N_V], small[N_SMALL * N_SMALL];
    int order[N_SMALL];
    real size[N_SMALL], left[N_SMALL];
    for (int k = 0; k < N_V; k++) {
        for (int r = 0; r < N_LOOP; r++)
            yield[r * N_V + k] = parts->J[k * N_ROW + LOOP_ROW[r]];
        yield[N_LOOP * N_V + k] = force[k];
    }
    if (!yield_of(z, parts, yield, N_LOOP + 1) || !small_system(z, parts, yield, size, small, order))
        return 0;
    real made[N_V]; /* without the given ones, whose share is in `wanted` */
    memcpy(made, yield + N_LOOP * N_V, sizeof made);
    memset(lam, 0, N_LOOP * sizeof(real));
    for (int pass = 0; pass < 2; pass++) { /* the second takes off what large, opposite terms have lost */
        for (int i = 0; i < N_LIGHT; i++) {
            left[i] = -force[LIGHT[i]];
            for (int r = 0; r < N_LOOP; r++)
                left[i] -= parts->J[LIGHT[i] * N_ROW + LOOP_ROW[r]] * lam[r];
        }
        for (int r = 0; r < N_LOOP; r++) {
            left[N_LIGHT + r] = wanted[r];
            for (int k = 0; k < N_V; k++)
                left[N_LIGHT + r] -= parts->J[k * N_ROW + LOOP_ROW[r]] * made[k];
        }
        for (int i = 0; i < N_SMALL; i++)
            left[i] *= size[i];
        solve(small, order, N_SMALL, left);
        for (int i = 0; i < N_SMALL; i++)
            left[i] *= size[i];
        for (int i = 0; i < N_LIGHT; i++)
            made[LIGHT[i]] += left[i];
        for (int r = 0; r < N_LOOP; r++) {
            lam[r] += left[N_LIGHT + r];
            for (int k = 0; k < N_V; k++)
                made[k] += yield[r * N_V + k] * left[N_LIGHT + r];
        }
    }
    for (int k = 0; k < N_V; k++)
        a[k] += made[k];
    return 1;
}

/* Accelerations and forces of given ones into p */
static void chain_results(const Parts *parts, const real *a, const real *lam, Posture *p)
{
    for (int i = 0; i < N_V; i++)
        if (V_FREE[CHAIN_V[i]] >= 0)
            p->free_a[V_FREE[CHAIN_V[i]]] = a[i];
    for (int n = 0; n < N_GIVEN; n++) {
        const int i = V_CHAIN[GIVEN_V[n]];
        int k = 0;
        while (CHAIN_AT[k + 1] <= i)
            k++;
        p->given_effort[n] = inertia_of(parts, k, i, a) + parts->c[i] - parts->load[i];
        for (int r = 0; r < N_LOOP; r++)
            p->given_effort[n] -= parts->J[i * N_ROW + LOOP_ROW[r]] * lam[r];
    }
}

#ifndef PRINTED
static int coupled(Sim *z, Posture *p, const real *given, const real *g, const real *wrench)
{
    static SUPPLE_THREAD Parts parts;
    static SUPPLE_THREAD real J[N_V * N_ROW];
    real a[N_V], force[N_V], wanted[N_LOOP], lam[N_LOOP];
    chain_models(z, p->q, p->v, g, wrench, &parts);
    ask(z, p, given, J, wanted);
    chain_forces(p, &parts, given, a, force);
    if (!exact_forces(z, &parts, wanted, force, a, lam))
        return ILL_POSED;
    chain_results(&parts, a, lam, p);
    return FINE;
}
#endif
#endif
