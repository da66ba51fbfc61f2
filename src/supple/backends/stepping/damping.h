/* Damping beside the equations of a plant: forces T^T D (T v) of blocks of elastic coordinates, by tables.
 *
 * T is 1 but where bending stretches them: a row of STRETCHED is what adds v.G e to the strain rates of a block from one of
 * them on, e being coordinates that bend. Rows are in the order of what they stretch.
 */

/* G e of all that stretches a block */
static SUPPLE_WIDE void slopes_of(const Damped *block, const real *q, real *restrict slope)
{
    for (const Stretched *t = STRETCHED + block->stretch; t < STRETCHED + block->stretch + block->stretches; t++) {
        const double *G = STRETCHED_BY + t->G;
        const int *at = BENDING_Q + BENDING * (t - STRETCHED);
        for (int i = 0; i < BENDING; i++)
            slope[i] = G[i] * q[at[0]];
        for (int k = 1; k < BENDING; k++)
            for (int i = 0; i < BENDING; i++)
                slope[i] = slope[i] + G[BENDING * k + i] * q[at[k]];
        slope += BENDING;
    }
}

/* v of a block, in `rate`, become rates of its strains */
static void strain_rates(const Damped *block, const real *slope, const real *v, real *rate)
{
    real taken = fill(0.0);
    int k = block->n;
    for (const Stretched *t = STRETCHED + block->stretch; t < STRETCHED + block->stretch + block->stretches; t++) {
        for (; k < t->first; k++)
            rate[k] = rate[k] + taken;
        k = t->first;
        for (int i = 0; i < BENDING; i++, slope++)
            taken = taken + *slope * v[BENDING_V[BENDING * (t - STRETCHED) + i]];
    }
    for (; k < block->n; k++)
        rate[k] = rate[k] + taken;
}

/* Forces on the strains of a block, as forces on what stretches them */
static void strain_forces(const Damped *block, const real *slope, const real *force, real *all)
{
    real pull = fill(0.0);
    int k = block->n;
    for (int s = block->stretches - 1; s >= 0; s--) {
        const int t = block->stretch + s;
        while (k > STRETCHED[t].first)
            pull = pull + force[--k];
        for (int i = 0; i < BENDING; i++) {
            real *at = all + BENDING_V[BENDING * t + i];
            *at = *at + pull * slope[BENDING * s + i];
        }
    }
}

/* Forces on all coordinates */
static SUPPLE_WIDE void further_damping(const real *q, const real *v, real *restrict all)
{
    for (int i = 0; i < DAMPED_V; i++)
        all[i] = fill(0.0);
    for (int b = 0; b < DAMPED_BLOCKS; b++) {
        const Damped *block = DAMPED_BLOCK + b;
        const int n = block->n, *at = DAMPED_AT + block->at;
        const double *a = DAMPING + block->D;
        real rate[MOST_DAMPED + 3], sum[MOST_DAMPED], slope[MOST_STRETCHES * BENDING];
        for (int i = 0; i < n; i++) {
            rate[i] = v[at[i]];
            sum[i] = fill(0.0);
        }
        rate[n] = rate[n + 1] = rate[n + 2] = fill(0.0);
        slopes_of(block, q, slope);
        strain_rates(block, slope, v, rate);
        for (int k = 0; k < n; k += 4, a += 4 * n) /* four at a time: fewer sums are read and written */
            for (int i = 0; i < n; i++)
                sum[i] = sum[i] + (a[i] * rate[k] + a[n + i] * rate[k + 1])
                    + (a[2 * n + i] * rate[k + 2] + a[3 * n + i] * rate[k + 3]);
        for (int i = 0; i < n; i++)
            all[at[i]] = all[at[i]] + sum[i];
        strain_forces(block, slope, sum, all);
    }
}
