/* A machine for operations given as numbers: models that are used once or twice are not worth a compiler's time.
 *
 * Sums, differences, products and negations are one operation, r[o] = r[a] * r[b] + r[c], with 1, -1 and -0 among the
 * operands: no branch has to be guessed, and without fusing (-ffp-contract=off) it gives the bits of each of them.
 * Others end a stretch of these. Some states (WIDE) are computed side by side. To stand behind real.h, whose sines and
 * cosines have the same bits for any number of states. */

#include <stdlib.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define WIDE SUPPLE_LANES
typedef double wide __attribute__((vector_size(8 * WIDE), aligned(8)));

enum { DIVIDE = 3, SINE = 5, COSINE = 6, ROOT = 7, SIGN = 8 };

typedef struct {
    long long registers, loads, constants, stretches, results;
    const int *load_to;        /* register of each input element that is used, */
    const int *load_from;      /* the input that it is of, */
    const int *load_at;        /* and where it is in that */
    const int *constant_to;    /* register of each constant */
    const double *constant;
    const int *begin;          /* stretches + 1: where stretches of plain operations begin */
    const int *plain;          /* four registers each: o a b c */
    const int *other;          /* one after each stretch but the last: o a b code */
    const int *result;         /* register of each element of the outputs */
} Tape;

/* sines or cosines of some numbers, as many as there are lanes */
static void turned(int code, const double *x, double *to)
{
    real all, sine, cosine;
    memcpy(&all, x, sizeof all);
    supple_sincos(all, &sine, &cosine);
    memcpy(to, code == SINE ? &sine : &cosine, sizeof all);
}

static double turned_one(int code, double x)
{
    double all[WIDE];
    for (int k = 0; k < WIDE; k++)
        all[k] = x;
    turned(code, all, all);
    return all[0];
}

static double other_of(int code, double a, double b)
{
    switch (code) {
    case DIVIDE: return a / b;
    case ROOT: return sqrt(a);
    default: return a != a ? a : (double)((a > 0) - (a < 0));
    }
}

#define RUN(name, kind, width, PUT, GET, TURN)                                                              \
    static void name(const Tape *t, kind *r, const double *const *in, const long long *step,          \
                     double *out, long long first, long long count)                                   \
    {                                                                                                 \
        for (long long i = 0; i < t->loads; i++)                                                      \
            for (int k = 0; k < width; k++)                                                           \
                PUT(r[t->load_to[i]], k, BEGIN_OF(i)[(first + (k < count ? k : count - 1)) * STEP_OF(i)]); \
        for (long long s = 0; s < t->stretches; s++) {                                                \
            const int *p = t->plain + 4LL * t->begin[s], *end = t->plain + 4LL * t->begin[s + 1];     \
            for (; p < end; p += 4)                                                                   \
                r[p[0]] = r[p[1]] * r[p[2]] + r[p[3]];                                                \
            if (s + 1 < t->stretches) {                                                               \
                const int *x = t->other + 4 * s;                                                      \
                if (x[3] == SINE || x[3] == COSINE)                                                   \
                    TURN(x[3], r[x[1]], r[x[0]]);                                                     \
                else                                                                                  \
                    for (int k = 0; k < width; k++)                                                   \
                        PUT(r[x[0]], k, other_of(x[3], GET(r[x[1]], k), GET(r[x[2]], k)));            \
            }                                                                                         \
        }                                                                                             \
        for (long long k = 0; k < width && k < count; k++)                                            \
            for (long long i = 0; i < t->results; i++)                                                \
                out[(first + k) * t->results + i] = GET(r[t->result[i]], k);                          \
    }

#define BEGIN_OF(i) (in[t->load_from[i]] + t->load_at[i])
#define STEP_OF(i) (step[t->load_from[i]])
#define PUT_ONE(x, k, value) ((x) = (value))
#define GET_ONE(x, k) (x)
#define PUT_LANE(x, k, value) ((x)[k] = (value))
#define GET_LANE(x, k) ((x)[k])

#define TURN_ONE(code, x, to) ((to) = turned_one(code, x))
#define TURN_LANES(code, x, to) turned(code, (const double *)&(x), (double *)&(to))

RUN(run_one, double, 1, PUT_ONE, GET_ONE, TURN_ONE)
RUN(run_wide, wide, WIDE, PUT_LANE, GET_LANE, TURN_LANES)

/* States first .. first + count; in, step: each input and its distance from state to state. 0: no memory. */
EXPORT int supple_tape(const Tape *t, const double *const *in, const long long *step, double *out, long long first,
                       long long count)
{
    int single = count == 1;
    double *memory = malloc(sizeof(double) * (size_t)(t->registers * (single ? 1 : WIDE) + 8));
    if (!memory) return 0;
    double *one = memory;
    wide *many = (wide *)(((size_t)memory + 63) / 64 * 64);
    for (long long i = 0; i < t->constants; i++) {
        if (single) one[t->constant_to[i]] = t->constant[i];
        else for (int k = 0; k < WIDE; k++) many[t->constant_to[i]][k] = t->constant[i];
    }
    if (single) run_one(t, one, in, step, out, first, count);
    else for (long long i = 0; i < count; i += WIDE) run_wide(t, many, in, step, out, first + i, count - i);
    free(memory);
    return 1;
}

/* Registers for `values` values in their order of making, each free again after its last use (`last`; -1: never used;
 * values: always); those below `fixed` keep theirs. Returns how many there are. */
EXPORT long long supple_registers(long long values, long long fixed, const int *first, const int *second, const int *last,
                                  int *place)
{
    long long used = fixed, waiting = 0;
    int *idle = malloc(sizeof(int) * (size_t)(values + 1));
    if (!idle) return -1;
    for (long long i = 0; i < fixed; i++) place[i] = (int)i;
    for (long long i = fixed; i < values; i++) {
        int a = first[i - fixed], b = second[i - fixed];
        if (a >= fixed && last[a] == i) idle[waiting++] = place[a];
        if (b >= fixed && b != a && last[b] == i) idle[waiting++] = place[b];
        place[i] = waiting ? idle[--waiting] : (int)used++;
    }
    free(idle);
    return used;
}
