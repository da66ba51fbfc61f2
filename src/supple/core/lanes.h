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
