/* @NOTICE@
 * robot: @ROBOT@
 */
#include "@NAME@.h"

@TABLES@

static const double gain[@TAU@][4] = @GAINS@; /* kp, kd, ki, limit (0: none) */

/* Positions and rates of the path at t: piecewise quintics */
static void path(double t, double *x, double *xd)
{
    int low = 0, high = PIECES - 1, k;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (knot[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    const double inside = t < knot[0] ? knot[0] : t > knot[PIECES] ? knot[PIECES] : t, u = inside - knot[low];
    const double moving = inside == t ? 1.0 : 0.0;
    for (k = 0; k < @TAU@; k++) {
        const double *c = piece[low][k];
        x[k] = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))));
        xd[k] = moving * (c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5]))));
    }
}

void @NAME@_init(@NAME@ *c)
{
    int i;
    c->ticks = 0;
    for (i = 0; i < @TAU@; i++)
        c->integral[i] = 0.0;
}

void @NAME@_step(@NAME@ *c, const double *q, const double *v, double *tau)
{
    double x[@TAU@], xd[@TAU@];
    int i;
    path((double)c->ticks * @MACRO@_SAMPLE, x, xd);
    for (i = 0; i < @TAU@; i++) {
        const double limit = gain[i][3];
        tau[i] = gain[i][0] * (x[i] - q[i]) + gain[i][1] * (xd[i] - v[i]) + gain[i][2] * c->integral[i];
        if (limit > 0.0 && tau[i] > limit)
            tau[i] = limit;
        if (limit > 0.0 && tau[i] < -limit)
            tau[i] = -limit;
        c->integral[i] += @MACRO@_SAMPLE * (x[i] - q[i]);
    }
    c->ticks++;
}
