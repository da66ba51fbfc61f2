/* Numbers of several poses side by side: `entry` is one number of each of SUPPLE_LANES poses, `mask` a choice among them. */
#include <float.h>

typedef real entry;
typedef supple_bits mask;
#define NO_POSE ((mask)SUPPLE_MASK(fill(0) != fill(0)))
#define EVERY_POSE ((mask)SUPPLE_MASK(fill(0) == fill(0)))

SUPPLE_LOCAL mask below(entry a, entry b) { return SUPPLE_MASK(a < b); }

SUPPLE_LOCAL mask not_below(entry a, entry b) { return ~below(a, b); } /* true of what is not a number */

SUPPLE_LOCAL entry pick(mask m, entry a, entry b)
{
    return supple_from_bits((supple_to_bits(a) & m) | (supple_to_bits(b) & ~m));
}

SUPPLE_LOCAL entry size(entry x) { return supple_from_bits(supple_to_bits(x) & ~SUPPLE_SIGN_BIT); }

/* the larger; not a number if one of them is not */
SUPPLE_LOCAL entry larger(entry a, entry b) { return pick(SUPPLE_MASK(a > b) | SUPPLE_MASK(a != a), a, b); }

SUPPLE_LOCAL entry smaller(entry a, entry b) { return pick(below(a, b), a, b); }

SUPPLE_LOCAL int some(mask m)
{
    supple_word any = 0;
    for (int i = 0; i < SUPPLE_LANES; i++)
        any |= SUPPLE_LANE(m, i);
    return any != 0;
}

SUPPLE_LOCAL entry largest(const entry *x, int n)
{
    entry most = fill(0);
    for (int i = 0; i < n; i++)
        most = larger(size(x[i]), most);
    return most;
}

/* y += a x */
SUPPLE_LOCAL void add_times(entry *restrict y, entry a, const entry *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

SUPPLE_LOCAL void clear(entry *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = fill(0);
}

/* y += the sum of four a x, rows of x `apart`, one after the other */
SUPPLE_LOCAL void add_four(entry *restrict y, const entry *a, const entry *restrict x, int apart, int n)
{
    const entry a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const entry *restrict x1 = x + apart, *restrict x2 = x + 2 * apart, *restrict x3 = x + 3 * apart;
    for (int i = 0; i < n; i++) {
        entry sum = y[i] + a0 * x[i];
        sum += a1 * x1[i];
        sum += a2 * x2[i];
        y[i] = sum + a3 * x3[i];
    }
}

/* y += the sum of `count` a x, weights `step` and rows of x `apart`, in this order */
SUPPLE_LOCAL void add_rows(entry *y, const entry *a, int step, const entry *x, int apart, int count, int n)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const entry weight[4] = {a[k * step], a[(k + 1) * step], a[(k + 2) * step], a[(k + 3) * step]};
        add_four(y, weight, x + k * apart, apart, n);
    }
    for (; k < count; k++)
        add_times(y, a[k * step], x + k * apart, n);
}

/* four rows of y, `apart`, each less the sum of four a x: weights of a row of x `apart` too */
SUPPLE_LOCAL void less_outer(entry *y, const entry *a, const entry *x, int apart, int n)
{
    entry w[16];
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 4; k++)
            w[4 * r + k] = -a[k * apart + r];
    entry *restrict y0 = y, *restrict y1 = y + apart, *restrict y2 = y + 2 * apart, *restrict y3 = y + 3 * apart;
    const entry *restrict x0 = x, *restrict x1 = x + apart, *restrict x2 = x + 2 * apart, *restrict x3 = x + 3 * apart;
    for (int i = 0; i < n; i++) {
        const entry b0 = x0[i], b1 = x1[i], b2 = x2[i], b3 = x3[i];
        y0[i] = (((y0[i] + w[0] * b0) + w[1] * b1) + w[2] * b2) + w[3] * b3;
        y1[i] = (((y1[i] + w[4] * b0) + w[5] * b1) + w[6] * b2) + w[7] * b3;
        y2[i] = (((y2[i] + w[8] * b0) + w[9] * b1) + w[10] * b2) + w[11] * b3;
        y3[i] = (((y3[i] + w[12] * b0) + w[13] * b1) + w[14] * b2) + w[15] * b3;
    }
}

#define PANEL 8 /* rows that are taken from the rest of a matrix together: as many as stay close to the processor */

/* rows of an upper half, `width` long, from row `first` on, less what PANEL rows before them, with their weights, take away */
SUPPLE_LOCAL void less_panel(entry *A, int width, int first, const entry *weights, const entry *panel)
{
    int i = first;
    for (; i + 4 <= width; i += 4)
        for (int k = 0; k < PANEL; k += 4)
            less_outer(A + i * width + i, weights + k * width + i, panel + k * width + i, width, width - i);
    for (; i < width; i++)
        for (int k = 0; k < PANEL; k++)
            add_times(A + i * width + i, -weights[k * width + i], panel + k * width + i, width - i);
}
