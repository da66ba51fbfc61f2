/* @NOTICE@
 * robot: @ROBOT@
 */
#include "@NAME@.h"

#define STATES @STATES@
#define PARTS @PARTS@
#define READINGS @N_READINGS@
#define FORCES @N_FORCES@

typedef struct {
    int pieces, channels;
    const double *knot, *piece; /* piece: pieces x channels x 6 */
} Table;

@TABLES@

/* u = C x + D y, then x = A x + B y + E u, of every part */
@MATRICES@
static const double limit[FORCES] = @LIMITS@; /* 0: none */

/* Signals at t: piecewise quintics, held at both ends */
static void signals(const Table *s, double t, double *x)
{
    int low = 0, high = s->pieces - 1, k;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (s->knot[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    const double first = s->knot[0], last = s->knot[s->pieces];
    const double u = (t < first ? first : t > last ? last : t) - s->knot[low];
    for (k = 0; k < s->channels; k++) {
        const double *c = s->piece + (low * s->channels + k) * 6;
        x[k] = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))));
    }
}

/* The sum of a row of a matrix times a column */
static double row(const double *a, const double *x, int n)
{
    double sum = 0.0;
    int k;
    for (k = 0; k < n; k++)
        sum += a[k] * x[k];
    return sum;
}

void @NAME@_init(@NAME@ *c)
{
    int i, p;
    c->ticks = 0;
    for (p = 0; p < PARTS; p++)
        for (i = 0; i < STATES; i++)
            c->x[p][i] = 0.0;
}

void @NAME@_step(@NAME@ *c, const double *readings, double *forces)
{
    const double t = (double)c->ticks * @MACRO@_SAMPLE;
    double y[READINGS], u[FORCES], added[FORCES], weight[PARTS], next[@ROOM@];
    int i, p;
    signals(&rest, t, y);
    signals(&weights, t, weight);
    signals(&feedforward, t, added);
    for (i = 0; i < READINGS; i++)
        y[i] = readings[i] - y[i];
    for (i = 0; i < FORCES; i++) {
        u[i] = 0.0;
        for (p = 0; p < PARTS; p++)
            u[i] += weight[p] * (row(C[p][i], c->x[p], STATES) + row(D[p][i], y, READINGS));
        if (limit[i] > 0.0 && u[i] > limit[i])
            u[i] = limit[i];
        if (limit[i] > 0.0 && u[i] < -limit[i])
            u[i] = -limit[i];
    }
    for (p = 0; p < PARTS; p++) {
        for (i = 0; i < STATES; i++)
            next[i] = row(A[p][i], c->x[p], STATES) + row(B[p][i], y, READINGS) + row(E[p][i], u, FORCES);
        for (i = 0; i < STATES; i++)
            c->x[p][i] = next[i];
    }
    for (i = 0; i < FORCES; i++)
        forces[i] = u[i] + added[i];
    c->ticks++;
}
