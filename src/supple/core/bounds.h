/* How fast loops can turn: bounds on the second and third derivatives of their equations, from the lengths of their chains,
 * as model/curvature.py has them. Chains have MOST_LINKS places; numbers of all rigid coordinates stand at RIGID[...]. */

#define AT(chain, i) ((chain) * MOST_LINKS + (i))

/* per radian, how far each joint moves the end of its chain, by the rows of J that tell; a ball joint in all directions */
static void find_levers(const entry *J, entry *lever)
{
    clear(lever, N_LINKS);
    for (int k = 0; k < OPENING.entries; k++) {
        const int row = OPENING.row[k], chain = ROW_CHAIN[row], place = RIGID[OPENING.column[k]];
        const int i = place < 0 || ROW_TURNS[row] ? -1 : LINK_OF[chain * N_RIGID + place];
        if (i >= 0)
            lever[AT(chain, i)] += J[k] * J[k];
    }
    for (int c = 0; c < N_CHAINS; c++)
        for (int i = 0; i < LINK_COUNT[c]; i++) {
            entry *own = lever + AT(c, i);
            if (LINK_BALL[AT(c, i)]) {
                own[0] = own[1] = own[2] = num(0.5) * (own[0] + own[1] + own[2]);
                for (int k = 0; k < 3; k++)
                    own[k] = WHOLE[c] ? supple_sqrt(own[k]) : fill(DBL_MAX);
                i += 2;
            } else
                *own = WHOLE[c] ? supple_sqrt(*own) : fill(DBL_MAX);
        }
}

/* how much each column of a chain turns while its joints move by `width` */
static void bent(int chain, const entry *lever, const entry *width, double carried, entry *made)
{
    const int n = LINK_COUNT[chain];
    for (int i = 0; i < n; i++) {
        const short *pair = PAIR + AT(chain, i) * MOST_LINKS;
        entry sum = fill(0);
        for (int j = 0; j < n; j++) {
            if (pair[j] >= 0)
                sum += lever[pair[j]] * width[j];
            else if (pair[j] == CARRIED)
                sum += num(carried) * width[j];
        }
        made[i] = sum;
    }
}

static void widths(int chain, const entry *wide, entry *made)
{
    for (int i = 0; i < LINK_COUNT[chain]; i++)
        made[i] = wide[LINK_COLUMN[AT(chain, i)]];
}

/* levers at most, anywhere within `wide` of q */
static void levers_within(const Work *w, const entry *q, const entry *lever, const entry *wide, entry *most)
{
    for (int c = 0; c < N_CHAINS; c++) {
        entry reach[MOST_LINKS], width[MOST_LINKS], bends[MOST_LINKS];
        widths(c, wide, width);
        for (int i = 0; i < LINK_COUNT[c]; i++) {
            reach[i] = w->lengths[AT(c, i)];
            for (int s = 0; s < SLIDE_COUNT[c]; s++) {
                const int slide = c * MOST_SLIDES + s;
                if (SLIDE_ORDER[slide] > LINK_ORDER[AT(c, i)])
                    reach[i] += size(q[SLIDE_AT[slide]]) + wide[SLIDE_COLUMN[slide]];
            }
        }
        bent(c, reach, width, 1, bends);
        for (int i = 0; i < LINK_COUNT[c]; i++)
            most[AT(c, i)] = smaller(smaller(lever[AT(c, i)], reach[i]) + bends[i], reach[i]);
    }
}

static entry turn_of(int chain, const entry *width)
{
    entry sum = fill(0);
    for (int i = 0; i < LINK_COUNT[chain]; i++)
        if (LINK_TURNS[AT(chain, i)])
            sum += width[i];
    return sum;
}

/* `part` of the third derivative by a step of this size twice */
static void third_derivative(const entry *most, const entry *step, double part, Bound *made)
{
    for (int c = 0; c < N_CHAINS; c++) {
        entry longest[MOST_LINKS], width[MOST_LINKS], far = fill(0);
        widths(c, step, width);
        for (int i = LINK_COUNT[c] - 1; i >= 0; i--)
            longest[i] = far = larger(most[AT(c, i)], far);
        bent(c, longest, width, 2, made->column + AT(c, 0));
        const entry turn = turn_of(c, width);
        for (int i = 0; i < LINK_COUNT[c]; i++)
            made->column[AT(c, i)] *= num(part) * turn;
        made->turn[c] = num(part) * turn * turn;
    }
}

/* and the second derivative by a step of this size, added to it */
static void add_second_derivative(const entry *most, const entry *step, Bound *made)
{
    for (int c = 0; c < N_CHAINS; c++) {
        entry width[MOST_LINKS], bends[MOST_LINKS];
        widths(c, step, width);
        bent(c, most + AT(c, 0), width, 1, bends);
        for (int i = 0; i < LINK_COUNT[c]; i++)
            made->column[AT(c, i)] += bends[i];
        made->turn[c] += turn_of(c, width);
    }
}

/* y += |A| bound x: lengths are those of the rows of A on the positions and the turns of every chain (2 per row and chain) */
static void add_bound(const Bound *bound, const entry *lengths, const entry *x, entry *y)
{
    for (int c = 0; c < N_CHAINS; c++) {
        entry moved = fill(0), turned = fill(0);
        for (int i = 0; i < LINK_COUNT[c]; i++) {
            const entry width = x[LINK_COLUMN[AT(c, i)]];
            moved += bound->column[AT(c, i)] * width;
            if (LINK_TURNS[AT(c, i)])
                turned += width;
        }
        turned *= bound->turn[c];
        for (int r = 0; r < CLOSING.rows; r++)
            y[r] += lengths[2 * (r * N_CHAINS + c)] * moved + lengths[2 * (r * N_CHAINS + c) + 1] * turned;
    }
}
