/* Batches of states, stored one state after the other, to lanes and back. */
#ifdef _WIN32
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif

SUPPLE_EXPORT void supple_batch(
    long long count, const supple_scalar *const *in, const long long *step, supple_scalar *const *out);

#if SUPPLE_LANES > 1
typedef supple_scalar supple_four __attribute__((vector_size(4 * sizeof(supple_scalar))));
#if defined(__clang__) || __GNUC__ >= 12
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef supple_word supple_four_words __attribute__((vector_size(4 * sizeof(supple_word))));
#define SUPPLE_PICK(x, y, a, b, c, d) __builtin_shuffle(x, y, (supple_four_words){a, b, c, d})
#endif

/* to = the transpose of a 4 x 4 block, rows `apart` scalars apart */
SUPPLE_LOCAL void supple_turn(supple_scalar *to, long long to_apart, const supple_scalar *from, long long from_apart)
{
    supple_four a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + from_apart, sizeof b);
    memcpy(&c, from + 2 * from_apart, sizeof c);
    memcpy(&d, from + 3 * from_apart, sizeof d);
    const supple_four ab_even = SUPPLE_PICK(a, b, 0, 4, 2, 6), ab_odd = SUPPLE_PICK(a, b, 1, 5, 3, 7);
    const supple_four cd_even = SUPPLE_PICK(c, d, 0, 4, 2, 6), cd_odd = SUPPLE_PICK(c, d, 1, 5, 3, 7);
    a = SUPPLE_PICK(ab_even, cd_even, 0, 1, 4, 5);
    b = SUPPLE_PICK(ab_odd, cd_odd, 0, 1, 4, 5);
    c = SUPPLE_PICK(ab_even, cd_even, 2, 3, 6, 7);
    d = SUPPLE_PICK(ab_odd, cd_odd, 2, 3, 6, 7);
    memcpy(to, &a, sizeof a);
    memcpy(to + to_apart, &b, sizeof b);
    memcpy(to + 2 * to_apart, &c, sizeof c);
    memcpy(to + 3 * to_apart, &d, sizeof d);
}

/* lanes beyond the last live state repeat it */
SUPPLE_LOCAL void supple_gather(real *to, const supple_scalar *from, int size, long long step, int live)
{
    supple_scalar *flat = (supple_scalar *)to;
    int done = 0;
    if (live == SUPPLE_LANES)
        for (; done + 4 <= size; done += 4)
            for (int lane = 0; lane < SUPPLE_LANES; lane += 4)
                supple_turn(flat + done * SUPPLE_LANES + lane, SUPPLE_LANES, from + lane * step + done, step);
    for (int j = done; j < size; j++)
        for (int lane = 0; lane < SUPPLE_LANES; lane++)
            flat[j * SUPPLE_LANES + lane] = from[(lane < live ? lane : live - 1) * step + j];
}

SUPPLE_LOCAL void supple_scatter(supple_scalar *to, const real *from, int size, int live)
{
    const supple_scalar *flat = (const supple_scalar *)from;
    int done = 0;
    if (live == SUPPLE_LANES)
        for (; done + 4 <= size; done += 4)
            for (int lane = 0; lane < SUPPLE_LANES; lane += 4)
                supple_turn(to + (long long)lane * size + done, size, flat + done * SUPPLE_LANES + lane, SUPPLE_LANES);
    for (int lane = 0; lane < live; lane++)
        for (int j = done; j < size; j++)
            to[(long long)lane * size + j] = flat[j * SUPPLE_LANES + lane];
}
#endif
