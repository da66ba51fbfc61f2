/* Legs that are alike, solved side by side by the factors of limbs.h: a number of each in every lane.
 *
 * A leg's numbers stand together: forces on its coordinates, which become accelerations, forces in its loops, twists of its
 * limbs. What a solution reads is gathered when matrices are factorised, in the order in which it is read.
 */
#if LIMBS > 0 && SUPPLE_LANES == 1
#if N_TEAMS > 0
/* Numbers of `Forced` (see limb_solve.h), real ones or a part of those of a step, so far from one to the next */
typedef struct {
    double *x;
    int apart;
} Strided;
enum { TWISTS_FROM = N_V + AT_LEAST_ONE(N_LOOPED) };

#if defined(__GNUC__)
typedef double Lanes __attribute__((vector_size(TEAM_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
#define TOGETHER TEAM_LANES
#else
typedef double Lanes; /* one lane after the other */
#define TOGETHER 1
#endif
#define OF_LANES(x, i) (*(const Lanes *)((x) + TEAM_LANES * (i)))

/* t -= l x of one or of complex numbers, whose parts follow each other */
SUPPLE_INLINE void lanes_less(int planes, const double *l, const Lanes *x, Lanes *t)
{
    const Lanes re = OF_LANES(l, 0);
    if (planes == 1) {
        t[0] -= re * x[0];
        return;
    }
    const Lanes im = OF_LANES(l, 1);
    t[0] -= re * x[0] - im * x[1];
    t[1] -= re * x[1] + im * x[0];
}

/* x becomes l x */
SUPPLE_INLINE void lanes_times(int planes, const double *l, Lanes *x)
{
    const Lanes re = OF_LANES(l, 0), kept = x[0];
    x[0] = re * kept;
    if (planes == 1)
        return;
    const Lanes im = OF_LANES(l, 1);
    x[0] -= im * x[1];
    x[1] = re * x[1] + im * kept;
}

/* to += the sum of the products with the numbers of a twist */
SUPPLE_INLINE void lanes_twist(const double *l, int planes, const Lanes *x, Lanes *to)
{
    Lanes sum = OF_LANES(l, 0) * x[0], other = TWISTS > 1 ? OF_LANES(l, 1) * x[planes] : 0.0 * x[0];
    for (int i = 2; i < TWISTS; i++)
        if (i % 2)
            other += OF_LANES(l, i) * x[i * planes];
        else
            sum += OF_LANES(l, i) * x[i * planes];
    *to += sum + other;
}

/* Forces on elastic coordinates go on to what their columns reach, and are divided by their pivots */
SUPPLE_INLINE void team_elastic_down(int planes, const TeamLimb *limb, const double *a, Lanes *w)
{
    const int *end = TEAM_END + limb->column;
    Lanes *x = w + planes * limb->e;
    for (int k = 0; k < limb->elastic; k++, x += planes) {
        const double *pivot = a;
        const Lanes kept[2] = {x[0], x[planes - 1]};
        a += TEAM_LANES * planes;
        for (int t = end[k]; t < end[k + 1]; t++, a += TEAM_LANES * planes)
            lanes_less(planes, a, kept, w + planes * TEAM_TO[t]);
        lanes_times(planes, pivot, x);
    }
}

SUPPLE_INLINE void team_elastic_up(int planes, const TeamLimb *limb, const double *a, Lanes *w)
{
    const int *end = TEAM_END + limb->column;
    a += TEAM_LANES * planes * (end[limb->elastic] - end[0] + limb->elastic);
    for (int k = limb->elastic - 1; k >= 0; k--) {
        Lanes *x = w + planes * (limb->e + k), sum[2] = {x[0], x[planes - 1]};
        for (int t = end[k + 1] - 1; t >= end[k]; t--) {
            a -= TEAM_LANES * planes;
            lanes_less(planes, a, w + planes * TEAM_TO[t], sum);
        }
        a -= TEAM_LANES * planes;
        for (int p = 0; p < planes; p++)
            x[p] = sum[p];
    }
}

SUPPLE_INLINE void team_forces_down(int planes, const Team *team, const TeamLimb *limb, const double *a, const double *b,
                                    Lanes *w)
{
    Lanes *V = w + planes * limb->twist, *loops = w + planes * team->coordinates, *x = w + planes * limb->q;
    const double *column = a + TEAM_LANES * planes * limb->joint, *axis = b + TEAM_LANES * limb->axis;
    const int n = limb->last - limb->first;
    if (limb->light < 0)
        team_elastic_down(planes, limb, a + TEAM_LANES * planes * limb->factors, w);
    for (int i = 0; i < planes * limb->elastic && limb->light >= 0; i++)
        loops[planes * limb->light + i] += w[planes * limb->e + i];
    for (int k = 0; k < limb->dofs; k++, x += planes, axis += TEAM_LANES * TWISTS) {
        for (int p = 0; p < planes; p++) {
            lanes_twist(axis, planes, V + p, x + p);
            if (limb->light >= 0)
                loops[planes * (limb->light + limb->elastic + k) + p] += x[p];
        }
        if (limb->light >= 0)
            continue;
        for (int i = 0; i < TWISTS; i++)
            lanes_less(planes, column + TEAM_LANES * planes * (1 + i), x, V + planes * i);
        for (int i = 0; i < n; i++)
            lanes_less(planes, column + TEAM_LANES * planes * (1 + TWISTS + i), x, loops + planes * (limb->first + i));
        lanes_times(planes, column, x);
        column += TEAM_LANES * planes * (1 + TWISTS + n);
    }
    if (limb->parent < 0)
        return;
    const TeamLimb *on = TEAM_LIMB + team->limb + limb->parent;
    const double *T = b + TEAM_LANES * limb->reach;
    for (int k = 0; k < TWISTS + limb->marked; k++, T += TEAM_LANES * TWISTS) {
        Lanes *to = w + planes * (k < TWISTS ? on->twist + k : on->e + limb->mark + k - TWISTS);
        for (int p = 0; p < planes; p++)
            lanes_twist(T, planes, V + p, to + p);
    }
}

SUPPLE_INLINE void team_motions_up(int planes, const Team *team, const TeamLimb *limb, const double *a, const double *b,
                                   Lanes *w)
{
    Lanes *V = w + planes * limb->twist, *loops = w + planes * team->coordinates;
    const int n = limb->last - limb->first;
    const TeamLimb *on = TEAM_LIMB + team->limb + (limb->parent >= 0 ? limb->parent : 0);
    const double *T = b + TEAM_LANES * limb->reach;
    memset(V, 0, TWISTS * planes * sizeof *V);
    for (int k = 0; k < TWISTS + limb->marked && limb->parent >= 0; k++, T += TEAM_LANES * TWISTS) {
        const Lanes *from = w + planes * (k < TWISTS ? on->twist + k : on->e + limb->mark + k - TWISTS);
        for (int i = 0; i < TWISTS; i++)
            for (int p = 0; p < planes; p++)
                V[planes * i + p] += OF_LANES(T, i) * from[p];
    }
    for (int k = limb->dofs - 1; k >= 0; k--) {
        const double *axis = b + TEAM_LANES * (limb->axis + TWISTS * k);
        const double *column = a + TEAM_LANES * planes * (limb->joint + (1 + TWISTS + n) * k);
        Lanes *x = w + planes * (limb->q + k);
        for (int i = 0; i < TWISTS && limb->light < 0; i++)
            lanes_less(planes, column + TEAM_LANES * planes * (1 + i), V + planes * i, x);
        for (int i = 0; i < n && limb->light < 0; i++)
            lanes_less(planes, column + TEAM_LANES * planes * (1 + TWISTS + i), loops + planes * (limb->first + i), x);
        for (int p = 0; p < planes; p++) {
            x[p] = limb->light < 0 ? x[p] : loops[planes * (limb->light + limb->elastic + k) + p];
            for (int i = 0; i < TWISTS; i++)
                V[planes * i + p] += OF_LANES(axis, i) * x[p];
        }
    }
    if (limb->light < 0)
        team_elastic_up(planes, limb, a + TEAM_LANES * planes * limb->factors, w);
    for (int i = 0; i < planes * limb->elastic && limb->light >= 0; i++)
        w[planes * limb->e + i] = loops[planes * limb->light + i];
}

/* Forces in loops solved but for the host's twist; what they leave on that */
SUPPLE_INLINE void team_meet(int planes, const Team *team, int n_team, int lane, const int *pivot, const double *a,
                             const double *b, Lanes *w, Strided f)
{
    const int n = team->forces;
    Lanes *x = w + planes * team->coordinates;
    for (int l = 0; l < TOGETHER; l++)
        for (int k = 0; k < n; k++) {
            double *one = (double *)x + TOGETHER * planes * k + l;
            double *other = (double *)x + TOGETHER * planes * pivot[TEAM_LOOP[TEAM_LANES * n_team + lane + l] + k] + l;
            for (int p = 0; p < planes; p++) {
                const double kept = one[TOGETHER * p];
                one[TOGETHER * p] = other[TOGETHER * p];
                other[TOGETHER * p] = kept;
            }
        }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            lanes_less(planes, a + TEAM_LANES * planes * (k * n + i), x + planes * k, x + planes * i);
    for (int k = n - 1; k >= 0; k--) {
        lanes_times(planes, a + TEAM_LANES * planes * (k * n + k), x + planes * k);
        for (int i = 0; i < k; i++)
            lanes_less(planes, a + TEAM_LANES * planes * (k * n + i), x + planes * k, x + planes * i);
    }
    for (int p = 0; p < planes; p++)
        for (int k = 0; k < TWISTS; k++) {
            Lanes sum = x[p] * OF_LANES(b, k);
            for (int i = 1; i < n; i++)
                sum += x[planes * i + p] * OF_LANES(b, TWISTS * i + k);
            for (int l = 0; l < TOGETHER && lane + l < team->legs; l++)
                f.x[f.apart * (TWISTS_FROM + TWISTS * team->host + k) + p] -= ((const double *)&sum)[l];
        }
}

/* Where the numbers of a team's legs stand, from some lane on; those of the last pair behind others */
SUPPLE_INLINE Lanes *team_work(int which, int n, int lane)
{
    static SUPPLE_THREAD Lanes work[4 * TEAM_LANES / TOGETHER * TEAM_WORK];
    const int size = TEAMS[n].coordinates + TEAMS[n].forces + TWISTS * TEAMS[n].limbs;
    return work + 4 * (TEAMS[n].work * (TEAM_LANES / TOGETHER) + lane / TOGETHER * size) + (which == LIMB_PAIR ? 2 * size : 0);
}

/* Forces of all legs in some lanes, in and out */
SUPPLE_INLINE void team_down(Sim *z, int which, int planes, int n, int lane, Lanes *w, Strided f)
{
    const Team *team = TEAMS + n;
    const int *v = TEAM_V + TEAM_LANES * team->v + lane;
    const double *a = z->team_factor[which] + TEAM_LANES * planes * team->factors + lane;
    const double *b = z->team_rate[which < LIMB_STEP] + TEAM_LANES * team->rates + lane;
    double *to = (double *)w;
    for (int i = 0; i < team->coordinates; i++, v += TEAM_LANES)
        for (int p = 0; p < planes; p++, to += TOGETHER)
            for (int l = 0; l < TOGETHER; l++)
                to[l] = f.x[f.apart * v[l] + p];
    memset(to, 0, planes * (team->forces + TWISTS * team->limbs) * sizeof *w);
    for (int j = 0; j < team->limbs; j++)
        team_forces_down(planes, team, TEAM_LIMB + team->limb + j, a, b, w);
    a += TEAM_LANES * planes * team->meeting;
    team_meet(planes, team, n, lane, z->limb_pivot[which], a, b + TEAM_LANES * team->held, w, f);
}

SUPPLE_INLINE void team_up(Sim *z, int which, int planes, int n, int lane, Lanes *w, Strided f)
{
    const Team *team = TEAMS + n;
    const int *v = TEAM_V + TEAM_LANES * team->v + lane, *loop = TEAM_LOOP + TEAM_LANES * n + lane;
    const double *a = z->team_factor[which] + TEAM_LANES * planes * team->factors + lane;
    const double *b = z->team_rate[which < LIMB_STEP] + TEAM_LANES * team->rates + lane;
    const double *solved = a + TEAM_LANES * planes * (team->meeting + team->forces * team->forces), *from = (double *)w;
    Lanes *x = w + planes * team->coordinates, V[2 * TWISTS];
    for (int k = 0; k < TWISTS; k++)
        for (int p = 0; p < planes; p++)
            V[planes * k + p] = f.x[f.apart * (TWISTS_FROM + TWISTS * team->host + k) + p] - (Lanes){0};
    for (int i = 0; i < team->forces; i++)
        for (int k = 0; k < TWISTS; k++)
            lanes_less(planes, solved + TEAM_LANES * planes * (TWISTS * i + k), V + planes * k, x + planes * i);
    for (int j = team->limbs - 1; j >= 0; j--)
        team_motions_up(planes, team, TEAM_LIMB + team->limb + j, a, b, w);
    for (int i = 0; i < team->coordinates; i++, v += TEAM_LANES)
        for (int p = 0; p < planes; p++, from += TOGETHER)
            for (int l = 0; l < TOGETHER; l++)
                f.x[f.apart * v[l] + p] = from[l];
    for (int i = 0; i < team->forces; i++)
        for (int p = 0; p < planes; p++, from += TOGETHER)
            for (int l = 0; l < TOGETHER; l++)
                f.x[f.apart * (N_V + loop[l] + i) + p] = from[l];
}

/* What solutions of teams read, out of the columns m of factors; as many numbers stand together as there are parts */
SUPPLE_INLINE void pack_teams(Sim *z, int which, int planes, const double *m, int apart)
{
    const double *reach = reach_of(z, which);
    double *to = z->team_factor[which], *rate = z->team_rate[which < LIMB_STEP];
    for (int t = 0; t < TEAM_FACTORS; t++)
        for (int p = 0; p < planes; p++)
            for (int l = 0; l < TEAM_LANES; l++)
                *to++ = m[apart * TEAM_FACTOR[TEAM_LANES * t + l] + p];
    for (int t = 0; t < TEAM_LANES * TEAM_RATES; t++) {
        const int from = TEAM_RATE[t], other = from - REACH_SIZE;
        rate[t] = other < 0 ? reach[from] : other < LIMB_SIZE ? m[apart * other] : LIMB_NUMBERS[other - LIMB_SIZE];
    }
}

SUPPLE_INLINE void teams_down(Sim *z, int which, int planes, Strided f)
{
    for (int n = 0; n < N_TEAMS; n++)
        for (int lane = 0; lane < TEAM_LANES; lane += TOGETHER)
            team_down(z, which, planes, n, lane, team_work(which, n, lane), f);
}

SUPPLE_INLINE void teams_up(Sim *z, int which, int planes, Strided f)
{
    for (int n = 0; n < N_TEAMS; n++)
        for (int lane = 0; lane < TEAM_LANES; lane += TOGETHER)
            team_up(z, which, planes, n, lane, team_work(which, n, lane), f);
}
#endif
#endif
