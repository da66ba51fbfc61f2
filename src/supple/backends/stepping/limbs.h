/* Newton's matrices of robots with many coordinates, body by body: M + v D + x K, with loops, in time that grows with the
 * number of bodies.
 *
 * A body moves by the twist V of its frame and its elastic coordinates e, whose matrices reach no farther from the diagonal
 * than a node's neighbours. From the tips on, e and the joint's coordinates are eliminated one by one; what is left of a body
 * is an inertia on the twist of the place that it hangs on, and so a part of the next body. (Articulated bodies, as
 * Featherstone has them, with springs and dampers of a step in their inertia.) Forces in loops, one for each closure
 * equation, stay until all that they hold on to is eliminated: those of a leg leave an inertia on the platform. Coordinates of
 * frames that move no mass, as between a joint and the loop that it closes, stay with them.
 *
 * Matrices are symmetric; real parts of the complex ones of collocation can be turned positive, so no pivots are chosen but among the forces in loops.
 */
SUPPLE_LOCAL int collocates(const Sim *z) { return z->settings.method == RADAU || z->settings.method == GAUSS; }

/* matrices: mass and sieve; of the step, whose last pair stands apart from what is before where legs that are alike use it */
enum { FIRST_PARTS = STAGES - 2, LIMB_MASS = 0, LIMB_SIEVE, LIMB_STEP, LIMB_PAIR = LIMB_STEP + 2 };

#if LIMBS > 0 && SUPPLE_LANES == 1
#define COLUMN(limb) (1 + (limb)->band + TWISTS + (limb)->last - (limb)->first) /* pivot, band, twist, forces in loops */
#define DOF(limb) (1 + TWISTS + (limb)->last - (limb)->first)
#define JOINT (TWISTS + 2) /* numbers of a joint's coordinate: its axis, inertia, viscous friction */
#define NEARBY 2e-2 /* rad, m: what errors are told by is taken anew */
#define MOST_TROUBLE 30 /* steps that do not converge, and one in three, before the whole matrix is used */
#define MOST_TRIALS 5 /* of one step that do not converge, before the same */
#define GIVEN_UP 1000000000

SUPPLE_LOCAL int by_limbs(const Sim *z) { return collocates(z) && z->limb_trouble < GIVEN_UP; }

/* Whether what is out of balance is solved for there, accelerations and forces in loops together; else accelerations are
 * those of the model, and misfits of these are solved for */
#ifdef LIMB_BALANCE
SUPPLE_LOCAL int by_balance(const Sim *z) { return by_limbs(z); }
#else
SUPPLE_LOCAL int by_balance(const Sim *z) { return (void)z, 0; }
#endif

/* A step did not converge with fresh matrices, in one of its trials: after some of those, the whole matrix is used from then
 * on. Beside singular poses there are robots that these do not converge for, however small the step */
SUPPLE_LOCAL void note_trouble(Sim *z, int trial)
{
    if (by_limbs(z) && (++z->limb_trouble > MOST_TROUBLE + z->steps / 3 || trial > MOST_TRIALS)) {
        z->limb_trouble = GIVEN_UP;
        z->has_jacobian = 0;
        z->factorised_step = 0.0;
    }
}

/* Factors of a step may be those of another posture, which costs iterations; what errors are told by may not */
SUPPLE_LOCAL double *reach_of(Sim *z, int which)
{
    return z->limb_reach[which < LIMB_STEP];
}

/* to (6) = R^T (first, second) of a twist or of a shape, rows of 3 */
SUPPLE_LOCAL void turned_back(const double *R, const double *x, double *to)
{
    for (int i = 0; i < 3; i++) {
        to[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
        to[3 + i] = R[i] * x[3] + R[3 + i] * x[4] + R[6 + i] * x[5];
    }
}

SUPPLE_LOCAL void turned(const double *R, const double *x, double *to)
{
    for (int i = 0; i < 3; i++) {
        to[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
        to[3 + i] = R[3 * i] * x[3] + R[3 * i + 1] * x[4] + R[3 * i + 2] * x[5];
    }
}

/* x (6): a twist, seen at a place r from its origin */
SUPPLE_LOCAL void moved_by(const double *r, double *x)
{
    x[0] += x[4] * r[2] - x[5] * r[1];
    x[1] += x[5] * r[0] - x[3] * r[2];
    x[2] += x[3] * r[1] - x[4] * r[0];
}

/* Columns that make the twist of a frame, but for its joint, of its parent's twist and elastic coordinates; and the rates of
 * closures (6 each), of those of their anchors' frames. Bodies as bent */
static void take_posture(const Sim *z, const double *q, double *reach)
{
    static SUPPLE_THREAD double posture[LIMB_POSTURE];
    model_posture(q, z->parameters, posture);
    take_bending(q, reach);
    for (int j = 0; j < LIMBS; j++) {
        const double *R = posture + 15 * j, *place = R + 9, *slide = R + 12;
        for (int k = 0; k < TWISTS + LIMB[j].marked; k++) {
            double x[6] = {0}, to[6];
            if (k < TWISTS)
                x[TWIST[k]] = 1.0;
            else
                memcpy(x, LIMB_NUMBERS + LIMB[j].phi + 6 * (k - TWISTS), sizeof x);
            moved_by(k < TWISTS ? place : slide, x);
            turned_back(R, x, to);
            for (int i = 0; i < TWISTS; i++)
                reach[LIMB_REACH[j] + TWISTS * k + i] = to[TWIST[i]];
        }
    }
    for (int n = 0; n < N_TIES; n++) {
        const Tie *tie = TIES + n;
        const double *loop = posture + 15 * LIMBS + 27 * tie->closure, *R = loop + 12 * tie->second, *place = R + 9;
        for (int k = 0; k < TWISTS + tie->marked; k++) {
            double x[6] = {0}, *to = reach + TIE_REACH[n] + 6 * k;
            if (k < TWISTS) {
                x[TWIST[k]] = 1.0;
                moved_by(place, x);
            } else
                memcpy(x, LIMB_NUMBERS + tie->phi + 6 * (k - TWISTS), sizeof x);
            turned(R, x, to);
            if (tie->second)
                continue;
            moved_by(loop + 24, to);
            for (int i = 0; i < 6; i++)
                to[i] = -to[i];
        }
    }
}
#else
SUPPLE_LOCAL int by_limbs(const Sim *z) { return (void)z, 0; }
SUPPLE_LOCAL int by_balance(const Sim *z) { return (void)z, 0; }
SUPPLE_LOCAL void note_trouble(Sim *z, int trial) { (void)z, (void)trial; }
#endif
