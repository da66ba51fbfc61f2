/* Lagrange's equations of the first type: accelerations and multipliers at once, of all coordinates that are not given.
 *
 *     [ M  -J^T ] [ a   ]   [ applied - c - M a_given ]
 *     [ J   0   ] [ lam ] = [ wanted                  ]
 */
#ifdef MULTIPLIERS
#define N_SADDLE (N_FREE + N_LOOP)

/* The matrix above, scaled by `size` on both sides */
static void saddle(const Sim *z, const real *M, const real *J, real *size, real *whole)
{
    memset(whole, 0, N_SADDLE * N_SADDLE * sizeof(real));
    for (int i = 0; i < N_FREE; i++)
        size[i] = unit_of(M[z->chosen.free_v[i] * (N_V + 1)]);
    for (int r = 0; r < N_LOOP; r++) {
        real sum = fill(0);
        for (int i = 0; i < N_FREE; i++) {
            const real x = J[z->chosen.free_v[i] * N_ROW + LOOP_ROW[r]] * size[i];
            sum += x * x;
        }
        size[N_FREE + r] = unit_of(sum);
    }
    for (int j = 0; j < N_FREE; j++) {
        for (int i = 0; i < N_FREE; i++)
            whole[j * N_SADDLE + i] = M[z->chosen.free_v[j] * N_V + z->chosen.free_v[i]] * size[i] * size[j];
        for (int r = 0; r < N_LOOP; r++) {
            const real x = J[z->chosen.free_v[j] * N_ROW + LOOP_ROW[r]] * size[j] * size[N_FREE + r];
            whole[j * N_SADDLE + N_FREE + r] = x;
            whole[(N_FREE + r) * N_SADDLE + j] = -x;
        }
    }
}

static int coupled(Sim *z, Posture *p, const real *given, const real *g, const real *wrench)
{
    static SUPPLE_THREAD real M[N_V * N_V], J[N_V * N_ROW], whole[N_SADDLE * N_SADDLE];
    int order[N_SADDLE];
    real c[N_V], x[N_SADDLE], size[N_SADDLE];
    model_tree(p->q, p->v, g, wrench, z->parameters, M, c);
    ask(z, p, given, J, x + N_FREE);
    for (int i = 0; i < N_FREE; i++) {
        x[i] = -c[z->chosen.free_v[i]];
        for (int k = 0; k < N_GIVEN; k++)
            x[i] -= M[z->chosen.free_v[i] * N_V + GIVEN_V[k]] * given[GIVEN_V[k]];
    }
    for (int i = 0; i < N_TAU; i++)
        x[V_FREE[TAU_V[i]]] += p->effort[i];
    saddle(z, M, J, size, whole);
    for (int i = 0; i < N_SADDLE; i++)
        x[i] *= size[i];
    if (!(factorise(whole, order, N_SADDLE, z->live) > 0.0))
        return ILL_POSED;
    solve(whole, order, N_SADDLE, x);
    for (int i = 0; i < N_SADDLE; i++)
        x[i] *= size[i];
    memcpy(p->free_a, x, N_FREE * sizeof(real));
    for (int i = 0; i < N_GIVEN; i++) {
        const int k = GIVEN_V[i];
        p->given_effort[i] = c[k];
        for (int j = 0; j < N_FREE; j++)
            p->given_effort[i] += M[k * N_V + z->chosen.free_v[j]] * x[j];
        for (int j = 0; j < N_GIVEN; j++)
            p->given_effort[i] += M[k * N_V + GIVEN_V[j]] * given[GIVEN_V[j]];
        for (int r = 0; r < N_LOOP; r++)
            p->given_effort[i] -= J[k * N_ROW + LOOP_ROW[r]] * x[N_FREE + r];
    }
    return FINE;
}
#endif
