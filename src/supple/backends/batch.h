/* Batches of states, stored one state after the other, to lanes and back; or stored in lanes. */
#ifdef _WIN32
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif

SUPPLE_EXPORT void supple_batch(
    long long count, const supple_scalar *const *in, const long long *step, supple_scalar *const *out);
SUPPLE_EXPORT void supple_blocks(
    long long count, const supple_scalar *const *in, const long long *step, supple_scalar *const *out);

#if SUPPLE_LANES > 1
#ifdef SUPPLE_SINGLE
#define SUPPLE_BYTES (4 * SUPPLE_LANES)
#else
#define SUPPLE_BYTES (8 * SUPPLE_LANES)
#endif
typedef supple_scalar supple_four __attribute__((vector_size(4 * sizeof(supple_scalar))));

SUPPLE_LOCAL supple_four supple_load(const supple_scalar *from) { supple_four x; memcpy(&x, from, sizeof x); return x; }

/* supple_rows: four numbers of each of SUPPLE_TILE / 4 states, which fill a register; supple_rows_from and _to: of states 0, 4,
 * 8 ... ; SUPPLE_PICK: the same choice in every four, 0 to 3 of x, 4 to 7 of y */
#if SUPPLE_LANES == 4 || SUPPLE_BYTES > SUPPLE_WIDTH || (!defined(__clang__) && __GNUC__ < 12)
#define SUPPLE_TILE 4
typedef supple_four supple_rows;
#define supple_rows_from(from, apart) supple_load(from)
#define supple_rows_to(to, apart, x) memcpy(to, &(x), sizeof(x))
#if defined(__clang__) || __GNUC__ >= 12
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef supple_word supple_four_words __attribute__((vector_size(4 * sizeof(supple_word))));
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shuffle(x, y, (supple_four_words){a, b, c, d})
#endif
#else
#define SUPPLE_TILE SUPPLE_LANES
typedef real supple_rows;
#define SUPPLE_AT(k, i) (i) % 4 + 4 * (k) + (i) / 4 * SUPPLE_LANES
#define SUPPLE_EACH(k, a, b, c, d) SUPPLE_AT(k, a), SUPPLE_AT(k, b), SUPPLE_AT(k, c), SUPPLE_AT(k, d)
#define SUPPLE_TAKE(x, k) __builtin_shufflevector(x, x, 4 * (k), 4 * (k) + 1, 4 * (k) + 2, 4 * (k) + 3)
#define SUPPLE_JOIN(x, y) __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7)
#if SUPPLE_LANES == 8
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, SUPPLE_EACH(0, a, b, c, d), SUPPLE_EACH(1, a, b, c, d))
#define SUPPLE_LOAD(from, apart) SUPPLE_JOIN(supple_load(from), supple_load((from) + 4 * (apart)))
#define supple_rows_from(from, apart) SUPPLE_LOAD(from, apart)
#else
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, SUPPLE_EACH(0, a, b, c, d), \
    SUPPLE_EACH(1, a, b, c, d), SUPPLE_EACH(2, a, b, c, d), SUPPLE_EACH(3, a, b, c, d))
#define SUPPLE_LOAD(from, apart) SUPPLE_JOIN(supple_load(from), supple_load((from) + 4 * (apart)))
#define supple_rows_from(from, apart) __builtin_shufflevector(SUPPLE_LOAD(from, apart), \
    SUPPLE_LOAD((from) + 8 * (apart), apart), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

SUPPLE_LOCAL void supple_store(supple_scalar *to, supple_four x) { memcpy(to, &x, sizeof x); }

SUPPLE_LOCAL void supple_rows_to(supple_scalar *to, long long apart, supple_rows x)
{
    supple_store(to, SUPPLE_TAKE(x, 0));
    supple_store(to + 4 * apart, SUPPLE_TAKE(x, 1));
#if SUPPLE_LANES == 16
    supple_store(to + 8 * apart, SUPPLE_TAKE(x, 2));
    supple_store(to + 12 * apart, SUPPLE_TAKE(x, 3));
#endif
}
#endif

/* four rows a, b, c, d to columns, or columns to rows */
#define SUPPLE_TURN(a, b, c, d) \
    const supple_rows ab_even = SUPPLE_PICK(a, b, 0, 4, 2, 6), ab_odd = SUPPLE_PICK(a, b, 1, 5, 3, 7); \
    const supple_rows cd_even = SUPPLE_PICK(c, d, 0, 4, 2, 6), cd_odd = SUPPLE_PICK(c, d, 1, 5, 3, 7); \
    a = SUPPLE_PICK(ab_even, cd_even, 0, 1, 4, 5); \
    b = SUPPLE_PICK(ab_odd, cd_odd, 0, 1, 4, 5); \
    c = SUPPLE_PICK(ab_even, cd_even, 2, 3, 6, 7); \
    d = SUPPLE_PICK(ab_odd, cd_odd, 2, 3, 6, 7)

/* `wanted` of four numbers of every state */
SUPPLE_LOCAL void supple_gather_four(supple_scalar *to, const supple_scalar *from, long long step, int wanted)
{
    for (int lane = 0; lane < SUPPLE_LANES; lane += SUPPLE_TILE, from += SUPPLE_TILE * step, to += SUPPLE_TILE) {
        supple_rows a = supple_rows_from(from, step), b = supple_rows_from(from + step, step);
        supple_rows c = supple_rows_from(from + 2 * step, step), d = supple_rows_from(from + 3 * step, step);
        SUPPLE_TURN(a, b, c, d);
        memcpy(to, &a, sizeof a);
        if (wanted > 1)
            memcpy(to + SUPPLE_LANES, &b, sizeof b);
        if (wanted > 2)
            memcpy(to + 2 * SUPPLE_LANES, &c, sizeof c);
        if (wanted > 3)
            memcpy(to + 3 * SUPPLE_LANES, &d, sizeof d);
    }
}

/* lanes beyond the last live state repeat it; the last four numbers may be some of those before again, and beyond the end of
 * a state where others `follow` */
SUPPLE_LOCAL void supple_gather(real *to, const supple_scalar *from, int size, long long step, int live, int follow)
{
    supple_scalar *flat = (supple_scalar *)to;
    if (live == SUPPLE_LANES && size >= 4) {
        for (int j = 0; j + 4 < size; j += 4)
            supple_gather_four(flat + j * SUPPLE_LANES, from + j, step, 4);
        supple_gather_four(flat + (size - 4) * SUPPLE_LANES, from + size - 4, step, 4);
    } else if (live == SUPPLE_LANES && follow) {
        supple_gather_four(flat, from, step, size);
    } else
        for (int j = 0; j < size; j++)
            for (int lane = 0; lane < SUPPLE_LANES; lane++)
                flat[j * SUPPLE_LANES + lane] = from[(lane < live ? lane : live - 1) * step + j];
}

SUPPLE_LOCAL void supple_scatter_four(supple_scalar *to, const supple_scalar *from, long long size)
{
    for (int lane = 0; lane < SUPPLE_LANES; lane += SUPPLE_TILE, from += SUPPLE_TILE, to += SUPPLE_TILE * size) {
        supple_rows a, b, c, d;
        memcpy(&a, from, sizeof a);
        memcpy(&b, from + SUPPLE_LANES, sizeof b);
        memcpy(&c, from + 2 * SUPPLE_LANES, sizeof c);
        memcpy(&d, from + 3 * SUPPLE_LANES, sizeof d);
        SUPPLE_TURN(a, b, c, d);
        supple_rows_to(to, size, a);
        supple_rows_to(to + size, size, b);
        supple_rows_to(to + 2 * size, size, c);
        supple_rows_to(to + 3 * size, size, d);
    }
}

SUPPLE_LOCAL void supple_scatter(supple_scalar *to, const real *from, int size, int live)
{
    const supple_scalar *flat = (const supple_scalar *)from;
    if (live == SUPPLE_LANES && size >= 4) {
        for (int j = 0; j + 4 < size; j += 4)
            supple_scatter_four(to + j, flat + j * SUPPLE_LANES, size);
        supple_scatter_four(to + size - 4, flat + (size - 4) * SUPPLE_LANES, size);
    } else
        for (int lane = 0; lane < live; lane++)
            for (int j = 0; j < size; j++)
                to[(long long)lane * size + j] = flat[j * SUPPLE_LANES + lane];
}
#endif
