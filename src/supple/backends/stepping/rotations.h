/* Rotations: quaternions turned by rotation vectors, and their rates. */

#define LITTLE 4e-3 /* rad^2: what these series leave out is below rounding */
#define NEARLY_UNIT 1e-8 /* off one: 3/8 of its square is left out, which is below rounding */

/* sin(x/2)/x and cos(x/2) of x^2, x small enough for one step */
SUPPLE_LOCAL void half_angle(real square, real *sine, real *cosine)
{
#if SUPPLE_LANES == 1
    if (square < LITTLE) {
        *sine = 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0 - square / 645120.0));
        *cosine = 1.0 - square * (1.0 / 8.0 - square * (1.0 / 384.0 - square / 46080.0));
        return;
    }
#endif
    const real angle = supple_sqrt(square);
    real s, c;
    supple_sincos(num(0.5) * angle, &s, &c);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const supple_scalar x = SUPPLE_LANE(angle, l);
        SUPPLE_LANE(s, l) = x > 1e-6 ? SUPPLE_LANE(s, l) / x : 0.5 - x * x / 48.0;
    }
    *sine = s;
    *cosine = c;
}

/* 1 / sqrt(square), of a square near one: a root and a division only where they are needed */
SUPPLE_LOCAL real to_unit(real square)
{
#if SUPPLE_LANES == 1
    if (fabs(square - 1.0) < NEARLY_UNIT)
        return 1.5 - 0.5 * square;
#endif
    return num(1) / supple_sqrt(square);
}

/* to = from turned by a rotation vector of its own axes, of unit length */
static void turn(real *to, const real *from, const real *s)
{
    real f, w;
    half_angle(s[0] * s[0] + s[1] * s[1] + s[2] * s[2], &f, &w);
    const real x = f * s[0], y = f * s[1], z = f * s[2];
    const real a = from[0] * w - from[1] * x - from[2] * y - from[3] * z;
    const real b = from[0] * x + from[1] * w + from[2] * z - from[3] * y;
    const real c = from[0] * y - from[1] * z + from[2] * w + from[3] * x;
    const real d = from[0] * z + from[1] * y - from[2] * x + from[3] * w;
    const real shrink = to_unit(a * a + b * b + c * c + d * d);
    to[0] = a * shrink;
    to[1] = b * shrink;
    to[2] = c * shrink;
    to[3] = d * shrink;
}

/* rate of the rotation vector s whose rotation turns with the angular velocity w (of the turned axes) */
static void rotation_rate(const real *s, const real *w, real *rate)
{
    const real square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    real f, c, k;
    half_angle(square, &f, &c);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const supple_scalar x2 = SUPPLE_LANE(square, l);
        SUPPLE_LANE(k, l) = x2 > 1e-4 ? (1.0 - 0.5 * SUPPLE_LANE(c, l) / SUPPLE_LANE(f, l)) / x2 : 1.0 / 12.0 + x2 / 720.0;
    }
    const real cx = s[1] * w[2] - s[2] * w[1], cy = s[2] * w[0] - s[0] * w[2], cz = s[0] * w[1] - s[1] * w[0];
    rate[0] = w[0] + num(0.5) * cx + k * (s[1] * cz - s[2] * cy);
    rate[1] = w[1] + num(0.5) * cy + k * (s[2] * cx - s[0] * cz);
    rate[2] = w[2] + num(0.5) * cz + k * (s[0] * cy - s[1] * cx);
}

/* the inverse: angular velocity of the turned axes from the rate of the rotation vector */
SUPPLE_LOCAL void angular_velocity(const real *s, const real *rate, real *w)
{
    const real square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    real a, b;
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const double x2 = SUPPLE_LANE(square, l), x = sqrt(x2);
        SUPPLE_LANE(a, l) = x2 > 1e-4 ? (1.0 - cos(x)) / x2 : 0.5 - x2 / 24.0;
        SUPPLE_LANE(b, l) = x2 > 1e-4 ? (x - sin(x)) / (x2 * x) : 1.0 / 6.0 - x2 / 120.0;
    }
    const real cx = s[1] * rate[2] - s[2] * rate[1], cy = s[2] * rate[0] - s[0] * rate[2];
    const real cz = s[0] * rate[1] - s[1] * rate[0];
    w[0] = rate[0] - a * cx + b * (s[1] * cz - s[2] * cy);
    w[1] = rate[1] - a * cy + b * (s[2] * cx - s[0] * cz);
    w[2] = rate[2] - a * cz + b * (s[0] * cy - s[1] * cx);
}
