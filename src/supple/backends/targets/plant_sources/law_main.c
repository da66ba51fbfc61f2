/* @NOTICE@
 * Runs the controller over readings and compares its forces with those of supple.
 */
#include <math.h>
#include <stdio.h>

#include "@NAME@.h"

static const double readings[@TESTS@][@N_READINGS@] = @TEST_READINGS@;
static const double forces[@TESTS@][@N_FORCES@] = @TEST_FORCES@;

int main(void)
{
    static @NAME@ controller;
    double off = 0.0, size = 0.0;
    int k, i;
    @NAME@_init(&controller);
    for (k = 0; k < @TESTS@; k++) {
        double found[@N_FORCES@];
        @NAME@_step(&controller, readings[k], found);
        for (i = 0; i < @N_FORCES@; i++) {
            off = fmax(off, fabs(found[i] - forces[k][i]));
            size = fmax(size, fabs(forces[k][i]));
        }
    }
    printf("@NAME@: forces up to %.6g, off by %.3g at most\n", size, off);
    return off <= 1e-9 * (1.0 + size) ? 0 : 1;
}
