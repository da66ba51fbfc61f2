/* Loops of many postures, some side by side: least squares, Newton's method on the joints that follow, rotation vectors.
 *
 * Reflections need no pivots, so that all postures take the same way and every one has the bits that it has alone. To stand
 * behind real.h. */

#include <stdlib.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { FEW = SUPPLE_LANES, MANY = 4 * FEW }; /* systems, and postures whose gaps are told, side by side */
static const double SINGULAR = 1e-13; /* of the largest entry: what a reflected column may have left */

static real larger(real x, real y) /* of two sizes; a number that is none wins */
{
    for (int l = 0; l < FEW; l++)
        x[l] = x[l] >= y[l] || x[l] != x[l] ? x[l] : y[l];
    return x;
}

static real size_of(real x)
{
    for (int l = 0; l < FEW; l++)
        x[l] = fabs(x[l]);
    return x;
}

static real root(real x)
{
    for (int l = 0; l < FEW; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* Column x less its part along the reflected v (rows j to m; v[j] is `head`), which has v v / 2 = 1 / share */
static void reflect(long long m, long long n, long long j, const real *A, real head, real share, real *x, long long apart)
{
    real along = head * x[j * apart];
    for (long long i = j + 1; i < m; i++)
        along += A[i * n + j] * x[i * apart];
    along *= share;
    x[j * apart] -= along * head;
    for (long long i = j + 1; i < m; i++)
        x[i * apart] -= along * A[i * n + j];
}

/* x with A x nearest to b (m x k, in whose first n rows it comes back), m >= n; A is lost. Where it is as good as singular
 * `poor` is set, and x is worth nothing. */
static void least(long long m, long long n, long long k, real *A, real *b, unsigned char *poor)
{
    real most = fill(0);
    for (long long i = 0; i < m * n; i++)
        most = larger(most, size_of(A[i]));
    for (long long j = 0; j < n; j++) {
        real square = fill(0);
        for (long long i = j; i < m; i++)
            square += A[i * n + j] * A[i * n + j];
        const real length = root(square);
        real left = length;
        for (int l = 0; l < FEW; l++) {
            left[l] = A[j * n + j][l] > 0.0 ? -length[l] : length[l];
            poor[l] |= length[l] <= SINGULAR * most[l];
        }
        const real head = A[j * n + j] - left, share = 1.0 / (length * (length + size_of(A[j * n + j])));
        for (long long c = j + 1; c < n; c++)
            reflect(m, n, j, A, head, share, A + c, n);
        for (long long c = 0; c < k; c++)
            reflect(m, n, j, A, head, share, b + c, k);
        A[j * n + j] = left;
    }
    for (long long i = n - 1; i >= 0; i--)
        for (long long c = 0; c < k; c++) {
            real sum = b[i * k + c];
            for (long long j = i + 1; j < n; j++)
                sum -= A[i * n + j] * b[j * k + c];
            b[i * k + c] = sum / A[i * n + i];
        }
}

/* Room for some lanes, to be given back by `memory` */
static real *room_for(long long count, void **memory)
{
    *memory = malloc(sizeof(real) * (size_t)(count + 1));
    return (real *)(((size_t)*memory + sizeof(real) - 1) / sizeof(real) * sizeof(real));
}

/* Numbers of postures `first` and after it, the last of `count` again where there are no more */
static void lanes_of(long long size, const double *from, const long long *apart, long long first, long long count, real *to)
{
    for (long long i = 0; i < size; i++)
        for (int l = 0; l < FEW; l++)
            to[i][l] = from[(first + l < count ? first + l : count - 1) * apart[0] + i * apart[1]];
}

/* x of `count` systems A x = b, as `least`; apart: how far numbers of A, b and x are, from system to system and from entry to
 * entry. 0: no memory. */
EXPORT int supple_least(long long count, long long m, long long n, long long k, const double *A, const double *b, double *x,
                        const long long *apart, unsigned char *poor)
{
    void *memory;
    real *room = room_for(m * (n + k), &memory);
    if (!memory) return 0;
    for (long long first = 0; first < count; first += FEW) {
        unsigned char bad[FEW] = {0};
        lanes_of(m * n, A, apart, first, count, room);
        lanes_of(m * k, b, apart + 2, first, count, room + m * n);
        least(m, n, k, room, room + m * n, bad);
        for (int l = 0; l < FEW && first + l < count; l++) {
            for (long long i = 0; i < n * k; i++)
                x[(first + l) * apart[4] + i * apart[5]] = room[m * n + i][l];
            poor[first + l] = bad[l];
        }
    }
    free(memory);
    return 1;
}

/* What the joints that follow are moved by: coordinates one by one, and ball joints, whose quaternions are turned */
typedef struct {
    long long nq, equations, follow, plain, balls, places, held;
    const int *plain_q, *plain_v;    /* place in q of coordinates that follow, and which of these they are */
    const int *ball_q, *ball_v;      /* where four numbers begin in q, and three among what follows */
    const int *held_q;               /* places in q that are zero, whatever is given */
    double near, closed;             /* gaps at which a posture is left as it is, and at which it counts as closed */
    int most;                        /* steps */
} Loops;

typedef int Machine(const void *tape, const double *const *in, const long long *step, double *const *rows, long long first,
                    long long count);

/* p turned by a rotation vector s of its own axes */
static void turn(double *p, const double *s)
{
    const double angle = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    const double c = cos(0.5 * angle), f = angle > 0.0 ? sin(0.5 * angle) / angle : 0.5;
    const double r[3] = {f * s[0], f * s[1], f * s[2]};
    const double made[4] = {p[0] * c - p[1] * r[0] - p[2] * r[1] - p[3] * r[2], p[0] * r[0] + p[1] * c + p[2] * r[2] - p[3] * r[1],
                            p[0] * r[1] - p[1] * r[2] + p[2] * c + p[3] * r[0], p[0] * r[2] + p[1] * r[1] - p[2] * r[0] + p[3] * c};
    const double size = sqrt(made[0] * made[0] + made[1] * made[1] + made[2] * made[2] + made[3] * made[3]);
    for (int i = 0; i < 4; i++)
        p[i] = made[i] / size;
}

/* One posture moved by minus its step */
static void move(const Loops *loops, double *q, const real *step, int lane)
{
    for (long long i = 0; i < loops->plain; i++)
        q[loops->plain_q[i]] -= step[loops->plain_v[i]][lane];
    for (long long i = 0; i < loops->balls; i++) {
        const real *s = step + loops->ball_v[i];
        turn(q + loops->ball_q[i], (double[3]){-s[0][lane], -s[1][lane], -s[2][lane]});
    }
}

/* One step of Newton's method on FEW postures q whose gaps and gradients are at `from` in their rows: those that are not near
 * are moved, or `poor`. Returns whether any was moved; `last`: none is. */
static int step_few(const Loops *loops, double *q, double *const *rows, long long from, real *A, int last,
                    unsigned char *poor)
{
    const long long m = loops->equations, n = loops->follow;
    unsigned char singular[FEW] = {0};
    real *b = A + m * n, most = fill(0);
    int waiting = 0;
    for (long long i = 0; i < m; i++) {
        memcpy(b + i, rows[i] + from, sizeof(real));
        most = larger(most, size_of(b[i]));
    }
    for (int l = 0; l < FEW; l++) {
        waiting |= most[l] >= loops->near && !poor[l];
        if (last) poor[l] |= !(most[l] < loops->closed);
    }
    if (last || !waiting) return 0;
    for (long long i = 0; i < m * n; i++)
        memcpy(A + i, rows[m + i] + from, sizeof(real));
    least(m, n, 1, A, b, singular);
    for (int l = 0; l < FEW; l++)
        if (most[l] >= loops->near) {
            poor[l] |= singular[l];
            if (!poor[l]) move(loops, q + l * loops->nq, b, l);
        }
    return 1;
}

/* Newton's method on MANY postures q; rows: gaps, gradient, places. `poor`: those that are not closed in the end */
static int close_many(const Loops *loops, Machine *machine, const void *tape, double *q, double *const *rows, real *A,
                      unsigned char *poor)
{
    const double *in = q;
    const long long step = loops->nq;
    for (int turns = 0, moved = 1; moved; turns++) {
        if (!machine(tape, &in, &step, rows, 0, MANY)) return 0;
        moved = 0;
        for (int k = 0; k < MANY && turns < loops->most; k += FEW)
            moved |= step_few(loops, q + k * step, rows, k, A, 0, poor + k);
    }
    for (int k = 0; k < MANY; k += FEW)
        step_few(loops, q + k * step, rows, k, A, 1, poor + k);
    return 1;
}

/* Postures q, `apart` from one another, with their loops closed by the joints that follow, where `poor` is not set: the places
 * that the tape tells last, a row each, and the postures (count x nq, or NULL). 0: no memory. */
EXPORT int supple_close(const Loops *loops, Machine *machine, const void *tape, long long count, const double *q,
                        long long apart, double *closed, double *places, unsigned char *poor)
{
    const long long m = loops->equations, n = loops->follow, nq = loops->nq, results = m + m * n + loops->places;
    void *memory;
    real *A = room_for(m * (n + 1) + (nq + results) * (MANY / FEW), &memory);
    double **rows = malloc(sizeof(double *) * (size_t)(results + 1)), *many = (double *)(A + m * (n + 1));
    int fine = memory && rows;
    for (long long i = 0; fine && i < results; i++)
        rows[i] = many + MANY * (nq + i);
    for (long long first = 0; fine && first < count; first += MANY) {
        const long long here = count - first < MANY ? count - first : MANY;
        unsigned char bad[MANY] = {0};
        for (long long k = 0; k < MANY; k++) {
            memcpy(many + k * nq, q + (first + (k < here ? k : here - 1)) * apart, sizeof(double) * (size_t)nq);
            for (long long i = 0; i < loops->held; i++)
                many[k * nq + loops->held_q[i]] = 0.0;
        }
        fine = close_many(loops, machine, tape, many, rows, A, bad);
        if (closed) memcpy(closed + first * nq, many, sizeof(double) * (size_t)(here * nq));
        memcpy(poor + first, bad, (size_t)here);
        for (long long i = 0; i < loops->places; i++)
            memcpy(places + i * count + first, rows[m + m * n + i], sizeof(double) * (size_t)here);
    }
    free(rows);
    free(memory);
    return fine;
}

static real either(real x, real y, const real *a, const real *b) /* a where x > y, else b */
{
    real made;
    for (int l = 0; l < FEW; l++)
        made[l] = x[l] > y[l] ? (*a)[l] : (*b)[l];
    return made;
}

/* Quaternions, of any length, of rotation matrices (nine lanes), by the largest of their parts */
static void quaternions(const real *R, real *p)
{
    const real trace = R[0] + R[4] + R[8], x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
    const real xy = R[3] + R[1], xz = R[6] + R[2], yz = R[7] + R[5];
    const real by[4][4] = {{1.0 + trace, x, y, z}, {x, 1.0 + 2.0 * R[0] - trace, xy, xz},
                           {y, xy, 1.0 + 2.0 * R[4] - trace, yz}, {z, xz, yz, 1.0 + 2.0 * R[8] - trace}};
    const real sizes[4] = {trace, R[0], R[4], R[8]};
    real most = sizes[1];
    memcpy(p, by[1], sizeof by[1]);
    for (int k = 2; k < 5; k++) {
        for (int i = 0; i < 4; i++)
            p[i] = either(sizes[k % 4], most, &by[k % 4][i], p + i);
        most = either(sizes[k % 4], most, sizes + k % 4, &most);
    }
}

/* Arc tangents of numbers from 0 to 1 (Cephes) */
static real arc(real x)
{
    real z, base;
    for (int l = 0; l < FEW; l++) {
        base[l] = x[l] > 0.66 ? 0.78539816339744830962 : 0.0;
        x[l] = x[l] > 0.66 ? (x[l] - 1.0) / (x[l] + 1.0) : x[l];
    }
    z = x * x;
    const real p = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z
                    - 1.228866684490136173410e2) * z - 6.485021904942025371773e1;
    const real q = ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z
                    + 4.853903996359136964868e2) * z + 1.945506571482613964425e2;
    return base + (x * (z * p / q) + x);
}

/* By how much the vector part of quaternions, of any length, is multiplied to be a rotation vector of at most half a turn */
static real turns_by(const real *p)
{
    const real sine = root(p[1] * p[1] + p[2] * p[2] + p[3] * p[3]), cosine = size_of(p[0]);
    real ratio, made;
    for (int l = 0; l < FEW; l++)
        ratio[l] = sine[l] <= cosine[l] ? sine[l] / cosine[l] : cosine[l] / sine[l];
    made = arc(ratio);
    for (int l = 0; l < FEW; l++) {
        const double half = sine[l] <= cosine[l] ? made[l] : 1.57079632679489661923 - made[l];
        made[l] = sine[l] < 1e-12 * cosine[l] ? 2.0 / p[0][l] : (p[0][l] >= 0.0 ? 2.0 : -2.0) * half / sine[l];
    }
    return made;
}

/* Rotation vectors (3 rows) of rotation matrices (9 rows) */
EXPORT void supple_turning(long long count, const double *R, double *out)
{
    for (long long first = 0; first < count; first += FEW) {
        const size_t size = sizeof(double) * (size_t)(count - first < FEW ? count - first : FEW);
        real few[9], p[4];
        memset(few, 0, sizeof few);
        for (int i = 0; i < 9; i++)
            if (size == sizeof *few) memcpy(few + i, R + i * count + first, sizeof *few);
            else memcpy(few + i, R + i * count + first, size);
        quaternions(few, p);
        const real factor = turns_by(p);
        for (int i = 0; i < 3; i++) {
            const real made = factor * p[1 + i];
            memcpy(out + i * count + first, &made, size);
        }
    }
}

/* The largest sizes of `width` numbers of all states, `apart` from one another; those that are no numbers left out. 0: no
 * memory. */
EXPORT int supple_largest(long long count, long long width, const double *x, long long apart, double *most)
{
    const long long blocks = (width + FEW - 1) / FEW, last = width < FEW ? 0 : width - FEW;
    const size_t size = sizeof(double) * (size_t)(width < FEW ? width : FEW);
    void *memory;
    real *all = room_for(blocks, &memory);
    if (!memory) return 0;
    memset(all, 0, sizeof(real) * (size_t)blocks);
    for (long long s = 0; s < count; s++, x += apart)
        for (long long k = 0; k < blocks; k++) {
            const double *from = x + (k * FEW < last ? k * FEW : last);
            real here = fill(0);
            if (size == sizeof here) memcpy(&here, from, sizeof here);
            else memcpy(&here, from, size);
            here = size_of(here);
            for (int l = 0; l < FEW; l++)
                all[k][l] = here[l] > all[k][l] ? here[l] : all[k][l];
        }
    for (long long k = 0; k < blocks; k++)
        memcpy(most + (k * FEW < last ? k * FEW : last), all + k, size);
    free(memory);
    return 1;
}
