/* Accelerations from the matrices of the virtual tree: any mechanism and any choice of free coordinates.
 *
 * M a + c = applied + J^T lambda with J a + b = 0: the motions that keep the loops closed are a = T a_free + bias.
 */
/* b becomes the solution of m^T x = b */
SUPPLE_LOCAL void solve_transposed(const real *m, const int *pivot, int n, real *b)
{
    for (int i = 0; i < n; i++) {
        real sum = b[i];
        for (int j = 0; j < i; j++)
            sum -= m[i * n + j] * b[j];
        b[i] = sum * m[i * n + i];
    }
    for (int i = n - 2; i >= 0; i--) {
        real sum = b[i];
        for (int j = i + 1; j < n; j++)
            sum -= m[i * n + j] * b[j];
        b[i] = sum;
    }
    for (int k = n - 1; k >= 0; k--) {
        const real kept = b[pivot[k]];
        b[pivot[k]] = b[k];
        b[k] = kept;
    }
}

#if defined(DENSE) && N_LOOP == 0

/* to = M x */
static void apply(const real *M, const real *x, real *to)
{
    for (int i = 0; i < N_V; i++) {
        real sum = fill(0);
        for (int j = 0; j < N_V; j++)
            sum += M[i * N_V + j] * x[j];
        to[i] = sum;
    }
}

/* sum += factor x, n numbers */
SUPPLE_LOCAL void add(real *restrict sum, real factor, const real *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] += factor * x[i];
}

/* reduced = T^T M T, f = T^T force; T has ones for the free coordinates, and `tied` (N_DEP x N_FREE) for the dependent */
SUPPLE_LOCAL void reduce(const Sim *z, const real *M, const real *tied, const real *force, real *reduced, real *f)
{
    real MT[N_V]; /* one column of M T; M is symmetric */
    for (int k = 0; k < N_FREE; k++) {
        memcpy(MT, M + z->chosen.free_v[k] * N_V, sizeof MT);
        f[k] = force[z->chosen.free_v[k]];
        for (int i = 0; i < N_DEP; i++) {
            add(MT, tied[i * N_FREE + k], M + z->chosen.dependent_v[i] * N_V, N_V);
            f[k] += tied[i * N_FREE + k] * force[z->chosen.dependent_v[i]];
        }
        for (int l = 0; l < N_FREE; l++)
            reduced[k * N_FREE + l] = MT[z->chosen.free_v[l]];
        for (int i = 0; i < N_DEP; i++)
            add(reduced + k * N_FREE, MT[z->chosen.dependent_v[i]], tied + i * N_FREE, N_FREE);
    }
}

static int dense(Sim *z, Posture *p, const real *given, const real *g, const real *wrench, Loops *loops)
{
    static SUPPLE_THREAD real M[N_V * N_V], tied[AT_LEAST_ONE(N_DEP * N_FREE)], reduced[AT_LEAST_ONE(N_FREE * N_FREE)];
    static SUPPLE_THREAD int order[AT_LEAST_ONE(N_FREE)];
    real c[N_V], a[N_V], force[N_V];
    model_tree(p->q, p->v, g, wrench, z->parameters, M, c);
    memcpy(a, given, sizeof a);
    follow_on(z, p, a, loops);
#if N_DEP > 0
    real pull[N_DEP];
    for (int k = 0; k < N_FREE; k++) { /* how the dependent coordinates tied the free one k */
        for (int i = 0; i < N_DEP; i++)
            pull[i] = loops->wide[z->chosen.free_v[k] * N_ROW + z->chosen.closure_row[i]];
        solve(loops->square, loops->pivot, N_DEP, pull);
        for (int i = 0; i < N_DEP; i++)
            tied[i * N_FREE + k] = -pull[i];
    }
#endif
    apply(M, a, force);
    for (int i = 0; i < N_V; i++)
        force[i] = -c[i] - force[i];
    for (int i = 0; i < N_TAU; i++)
        force[TAU_V[i]] += p->effort[i];
    reduce(z, M, tied, force, reduced, p->free_a);
    if (N_FREE > 0 && !(factorise(reduced, order, N_FREE, z->live) > 0.0))
        return 0;
    solve(reduced, order, N_FREE, p->free_a);
#if N_GIVEN > 0
    for (int k = 0; k < N_FREE; k++) {
        a[z->chosen.free_v[k]] += p->free_a[k];
        for (int i = 0; i < N_DEP; i++)
            a[z->chosen.dependent_v[i]] += tied[i * N_FREE + k] * p->free_a[k];
    }
    apply(M, a, force);
    for (int i = 0; i < N_V; i++)
        force[i] += c[i];
    for (int i = 0; i < N_TAU; i++)
        force[TAU_V[i]] -= p->effort[i];
#if N_DEP > 0
    for (int i = 0; i < N_DEP; i++)
        pull[i] = force[z->chosen.dependent_v[i]];
    solve_transposed(loops->square, loops->pivot, N_DEP, pull); /* reactions of the loops */
#endif
    for (int i = 0; i < N_GIVEN; i++) {
        p->given_effort[i] = force[GIVEN_V[i]];
#if N_DEP > 0
        for (int j = 0; j < N_DEP; j++)
            p->given_effort[i] -= loops->wide[GIVEN_V[i] * N_ROW + z->chosen.closure_row[j]] * pull[j];
#endif
    }
#endif
    return 1;
}
#endif
