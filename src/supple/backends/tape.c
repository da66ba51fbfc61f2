/* A machine for operations given as numbers: models that are used once or twice are not worth a compiler's time.
 *
 * Sums, differences, products, negations and products that are added are one operation, r[o] = r[a] * r[b] + r[c], with 1,
 * -1 and -0 among the operands: no branch has to be guessed, and without fusing (-ffp-contract=off) it gives the bits of
 * each of them. Others end a stretch of these. Some states are computed side by side. To stand behind real.h, whose sines
 * and cosines have the same bits for any number of states. */

#include <stdlib.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* States side by side, a few or many: stored results are waited for less among many, as long as all registers are near */
enum { FEW = SUPPLE_LANES, MANY = 4 * FEW, NEAR = 1 << 17 };
#define SPECIAL static inline __attribute__((always_inline)) /* to each number of states */
#define UNROLLED _Pragma("GCC unroll 8")
#define ALIKE _Pragma("GCC ivdep")
#define AT(place) (*(quad *)(place))
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

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

/* Sines or cosines of some numbers: one, FEW, or a multiple of that. Both come at once, so that the others are kept in `room`
 * for who asks for those of the same numbers (x) next; the last numbers are behind them */
static void turned(int code, const double *x, double *to, double *room, int width)
{
    const size_t size = sizeof(double) * (size_t)width;
    if (memcmp(room + 2 * width, x, size))
        for (int k = 0; k < width; k += FEW) {
            real all = fill(x[k]), sine, cosine;
            if (width > 1) memcpy(&all, x + k, sizeof all);
            supple_sincos(all, &sine, &cosine);
            memcpy(room + k, &sine, width > 1 ? sizeof all : sizeof *to);
            memcpy(room + width + k, &cosine, width > 1 ? sizeof all : sizeof *to);
        }
    memcpy(room + 2 * width, x, size);
    memcpy(to, code == SINE ? room : room + width, size);
}

SPECIAL void other(int code, const double *a, const double *b, double *to, double *room, int width)
{
    switch (code) {
    case DIVIDE: ALIKE for (int k = 0; k < width; k++) to[k] = a[k] / b[k]; break;
    case ROOT: ALIKE for (int k = 0; k < width; k++) to[k] = sqrt(a[k]); break;
    case SIGN: for (int k = 0; k < width; k++) to[k] = a[k] != a[k] ? a[k] : (double)((a[k] > 0) - (a[k] < 0)); break;
    default: turned(code, a, to, room, width);
    }
}

SPECIAL void plain(const double *a, const double *b, const double *c, double *to, int width)
{
    if (width == 1) *to = *a * *b + *c;
    UNROLLED for (int k = 0; k + 4 <= width; k += 4)
        AT(to + k) = AT(a + k) * AT(b + k) + AT(c + k);
}

/* Inputs to their registers; the last state again where there are no more */
SPECIAL void take(const Tape *t, double *r, const double *const *in, const long long *step, long long first, long long count,
                  int width)
{
    for (long long i = 0; i < t->loads; i++) {
        const long long apart = step[t->load_from[i]];
        const double *from = in[t->load_from[i]] + t->load_at[i] + first * apart;
        double *to = r + t->load_to[i] * width;
        if (count >= width && width > 1)
            UNROLLED for (int k = 0; k < width; k += 4, from += 4 * apart)
                AT(to + k) = (quad){from[0], from[apart], from[2 * apart], from[3 * apart]};
        else
            for (int k = 0; k < width; k++)
                to[k] = from[(k < count ? k : count - 1) * apart];
    }
}

/* Results of `count` states out of their registers, state by state */
SPECIAL void give(const Tape *t, const double *r, double *out, long long count, int width)
{
    long long i = 0;
    for (; i + 4 <= t->results; i += 4) {
        const double *a = r + t->result[i] * width, *b = r + t->result[i + 1] * width;
        const double *c = r + t->result[i + 2] * width, *d = r + t->result[i + 3] * width;
        for (long long k = 0; k < count; k++)
            AT(out + k * t->results + i) = (quad){a[k], b[k], c[k], d[k]};
    }
    for (; i < t->results; i++)
        for (long long k = 0; k < count; k++)
            out[k * t->results + i] = r[t->result[i] * width + k];
}

/* The same, result by result */
SPECIAL void give_rows(const Tape *t, const double *r, double *const *rows, long long first, long long count, int width)
{
    for (long long i = 0; i < t->results; i++) {
        const double *from = r + t->result[i] * width;
        if (count == width) memcpy(rows[i] + first, from, sizeof(double) * (size_t)width);
        else memcpy(rows[i] + first, from, sizeof(double) * (size_t)count);
    }
}

/* `width` states from `first`, of which `count` are left; r: registers, `width` numbers each; results to `out`, state by
 * state, or else to `rows` */
SPECIAL void run(const Tape *t, double *r, const double *const *in, const long long *step, double *out, double *const *rows,
                 long long first, long long count, int width)
{
    double room[3 * MANY]; /* of sines and cosines */
    memset(room, 0xff, sizeof room); /* not numbers */
    take(t, r, in, step, first, count, width);
    for (long long s = 0; s < t->stretches; s++) {
        const int *p = t->plain + 4LL * t->begin[s], *end = t->plain + 4LL * t->begin[s + 1], *x = t->other + 4 * s;
        for (; p < end; p += 4)
            plain(r + p[1] * width, r + p[2] * width, r + p[3] * width, r + p[0] * width, width);
        if (s + 1 < t->stretches)
            other(x[3], r + x[1] * width, r + x[2] * width, r + x[0] * width, room, width);
    }
    if (count > width) count = width;
    if (out) give(t, r, out + first * t->results, count, width);
    else give_rows(t, r, rows, first, count, width);
}

typedef void Run(const Tape *t, double *r, const double *const *in, const long long *step, double *out, double *const *rows,
                 long long first, long long count);

#define RUN(name, width)                                                                                               \
    static void name(const Tape *t, double *r, const double *const *in, const long long *step, double *out,            \
                     double *const *rows, long long first, long long count)                                            \
    {                                                                                                                  \
        run(t, r, in, step, out, rows, first, count, width);                                                           \
    }

RUN(run_one, 1)
RUN(run_few, FEW)
RUN(run_many, MANY)

static int evaluate(const Tape *t, const double *const *in, const long long *step, double *out, double *const *rows,
                    long long first, long long count)
{
    const int many = count > FEW && t->registers * (long long)(MANY * sizeof(double)) <= NEAR;
    const int width = count == 1 ? 1 : many ? MANY : FEW;
    Run *own = count == 1 ? run_one : many ? run_many : run_few;
    double *memory = malloc(sizeof(double) * (size_t)(t->registers * width + 8));
    if (!memory) return 0;
    double *r = (double *)(((size_t)memory + 63) / 64 * 64);
    for (long long i = 0; i < t->constants; i++)
        for (int k = 0; k < width; k++)
            r[t->constant_to[i] * width + k] = t->constant[i];
    for (long long i = 0; i < count; i += width)
        own(t, r, in, step, out, rows, first + i, count - i);
    free(memory);
    return 1;
}

/* States first .. first + count, results of each after the other; in, step: each input and its distance from state to
 * state. 0: no memory. */
EXPORT int supple_tape(const Tape *t, const double *const *in, const long long *step, double *out, long long first,
                       long long count)
{
    return evaluate(t, in, step, out, NULL, first, count);
}

/* The same with a row of all states for each result */
EXPORT int supple_tape_rows(const Tape *t, const double *const *in, const long long *step, double *const *rows,
                            long long first, long long count)
{
    return evaluate(t, in, step, NULL, rows, first, count);
}

/* Registers for `values` values in their order of making, of three others each (`operands`), free again after their last use
 * (`last`; -1: never used; values: always); those below `fixed` keep theirs. Returns how many there are. */
EXPORT long long supple_registers(long long values, long long fixed, const int *operands, const int *last, int *place)
{
    long long used = fixed, waiting = 0;
    int *idle = malloc(sizeof(int) * (size_t)(values + 1));
    if (!idle) return -1;
    for (long long i = 0; i < fixed; i++) place[i] = (int)i;
    for (long long i = fixed; i < values; i++, operands += 3) {
        const int a = operands[0], b = operands[1], c = operands[2];
        if (a >= fixed && last[a] == i) idle[waiting++] = place[a];
        if (b >= fixed && b != a && last[b] == i) idle[waiting++] = place[b];
        if (c >= fixed && c != a && c != b && last[c] == i) idle[waiting++] = place[c];
        place[i] = waiting ? idle[--waiting] : (int)used++;
    }
    free(idle);
    return used;
}
