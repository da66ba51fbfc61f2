/* Ends of a motion of a double pendulum with 20, 40, ... steps; see test_fmu.py. */
#include <stdio.h>
#include "model.h"
#include "robot.h"
#include "rodas.h"
int main(void)
{
    static Workspace w;
    for (int count = 20; count <= 640; count *= 2) {
        static Robot r;
        double y[N_STATES] = {0.3, -0.5, 1.0, 2.0}, made[N_STATES], f[N_INDEPENDENT], f_t[N_INDEPENDENT];
        const double h = 0.5 / count;
        r.tolerance = 1e-6;
        start(&r);
        r.slope[0] = 3.0;
        r.slope[1] = -1.0;
        for (int k = 0; k < count; k++) {
            slope_of(&r, k * h, y, f);
            linearise(&r, &w, k * h, h, y, f, f_t);
            attempt(&r, &w, k * h, h, y, f, f_t, made);
            memcpy(y, made, sizeof y);
        }
        printf("%.17g %.17g %.17g %.17g\n", y[0], y[1], y[2], y[3]);
    }
    return 0;
}
