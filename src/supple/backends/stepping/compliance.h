/* What a robot of equal legs on a platform yields to forces on its elastic coordinates, leg by leg.
 *
 * Forces x, with the sign of a resistance, make accelerations A x of a leg by itself and G s by the platform's, where s = R times
 * the sum of P x over the legs. K and D are stiffness and damping of a leg as it is bent, the part of further damping within it
 * included. All by columns. `tied`: how elastic coordinates that close loops follow the free ones.
 */
#define LEG_PART (SLOTS * (SLOTS + 3) / 2)

typedef struct {
    double *A, *P, *G, *R, *K, *D, *tied; /* A: legs x columns x LEG_OUT, and so on */
} Compliance;

typedef int Complies(const Moment *at, const Compliance *to);

#if LEGS > 0 && STAGES == 0
SUPPLE_EXPORT Complies supple_comply;

/* A, P and G: responses to unit forces and to unit accelerations of the platform, in all legs at once */
static void yield_by_leg(const Sim *z, const Compliance *to, real *total)
{
    static SUPPLE_THREAD real part0[LEGS * LEG_PART], out0[LEGS * LEG_OUT], part[LEGS * LEG_PART], out[LEGS * LEG_OUT];
    real x[LEG_E], slots[SLOTS];
    legs_settled(z->now.q);
    for (int first = -1; first < LEG_E + SLOTS; first += first < 0 ? 1 : SUPPLE_LANES) {
        for (int i = 0; i < LEG_E; i++)
            x[i] = fill(0);
        for (int i = 0; i < SLOTS; i++)
            slots[i] = fill(0);
        for (int l = 0; l < SUPPLE_LANES && first >= 0 && first + l < LEG_E + SLOTS; l++)
            SUPPLE_LANE(*(first + l < LEG_E ? x + first + l : slots + first + l - LEG_E), l) = 1.0;
        legs_held(x, slots, first < 0 ? part0 : part, first < 0 ? out0 : out);
        for (int l = 0; l < SUPPLE_LANES && first >= 0 && first + l < LEG_E + SLOTS; l++)
            for (int leg = 0; leg < LEGS; leg++) {
                const int k = first + l, own = k < LEG_E;
                double *a = own ? to->A + (leg * LEG_E + k) * LEG_OUT : to->G + (leg * SLOTS + k - LEG_E) * LEG_OUT;
                for (int i = 0; i < LEG_OUT; i++)
                    a[i] = SUPPLE_LANE(out[leg * LEG_OUT + i], l) - SUPPLE_LANE(out0[leg * LEG_OUT + i], l);
                for (int i = 0; i < SLOTS && own; i++) {
                    const int at = (leg + 1) * LEG_PART - SLOTS + i;
                    to->P[(leg * LEG_E + k) * SLOTS + i] = SUPPLE_LANE(part[at], l) - SUPPLE_LANE(part0[at], l);
                }
            }
    }
    for (int i = 0; i < LEG_PART; i++) {
        total[i] = fill(0);
        for (int leg = 0; leg < LEGS; leg++)
            total[i] += part0[leg * LEG_PART + i];
    }
}

/* R, by the sum of the parts that the legs have without forces */
static void meet_by_leg(const Sim *z, const Compliance *to, const real *total)
{
    real changed[LEG_PART], slots0[SLOTS], slots[SLOTS];
    legs_met(z->now.q, total, slots0);
    for (int k = 0; k < SLOTS; k++) {
        memcpy(changed, total, sizeof changed);
        changed[LEG_PART - SLOTS + k] += num(1);
        legs_met(z->now.q, changed, slots);
        for (int i = 0; i < SLOTS; i++)
            to->R[k * SLOTS + i] = SUPPLE_LANE(slots[i], 0) - SUPPLE_LANE(slots0[i], 0);
    }
}

static void stiffness_by_leg(const Sim *z, const Compliance *to)
{
    static SUPPLE_THREAD real stiff[LEGS * LEG_E], damped[LEGS * LEG_E];
    real u[LEG_E];
    for (int first = 0; first < LEG_E; first += SUPPLE_LANES) {
        for (int i = 0; i < LEG_E; i++)
            u[i] = fill(0);
        for (int l = 0; l < SUPPLE_LANES && first + l < LEG_E; l++)
            SUPPLE_LANE(u[first + l], l) = 1.0;
        legs_stiff(z->now.q, u, stiff, damped);
        for (int l = 0; l < SUPPLE_LANES && first + l < LEG_E; l++)
            for (int leg = 0; leg < LEGS; leg++)
                for (int i = 0; i < LEG_E; i++) {
                    const int at = (leg * LEG_E + first + l) * LEG_E + i;
                    to->K[at] = SUPPLE_LANE(stiff[leg * LEG_E + i], l);
                    to->D[at] = SUPPLE_LANE(damped[leg * LEG_E + i], l);
#ifdef LEG_DAMPING
                    to->D[at] += DAMPING[put_a_elastic[leg][first + l]][put_a_elastic[leg][i]];
#endif
                }
    }
}

/* rates of the elastic coordinates that follow from loops, for unit rates of the free ones */
static int tie_by_leg(const Sim *z, const Compliance *to)
{
#if N_TIED > 0
    static SUPPLE_THREAD Loops factors, scratch;
    const Choice by = choice_of(z);
    real v[N_V], all[N_ROW], followed[N_DEP];
    memset(v, 0, sizeof v);
    model_rates(z->now.q, v, z->parameters, all, jacobian_of(&ROBOT, &factors));
    if (!(factorise_loops(&ROBOT, &by, z->live, &factors) > 0.0))
        return ILL_POSED;
    for (int first = 0; first < N_FREE; first += SUPPLE_LANES) {
        memset(v, 0, sizeof v);
        for (int l = 0; l < SUPPLE_LANES && first + l < N_FREE; l++)
            SUPPLE_LANE(v[z->chosen.free_v[first + l]], l) = 1.0;
        model_rates(z->now.q, v, z->parameters, all, jacobian_of(&ROBOT, &scratch));
        solve_loops(&ROBOT, &by, &factors, all, followed);
        for (int l = 0; l < SUPPLE_LANES && first + l < N_FREE; l++)
            for (int i = 0; i < N_TIED; i++)
                to->tied[(first + l) * N_TIED + i] = -SUPPLE_LANE(followed[TIED_DEPENDENT[i]], l);
    }
#endif
    (void)z, (void)to;
    return FINE;
}

int supple_comply(const Moment *at, const Compliance *to)
{
    static SUPPLE_THREAD Sim z;
    real total[LEG_PART];
    settle(&z, at);
    yield_by_leg(&z, to, total);
    meet_by_leg(&z, to, total);
    stiffness_by_leg(&z, to);
    return tie_by_leg(&z, to);
}
#endif
