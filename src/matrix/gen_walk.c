/* The random walk on a triangular grid, as a Markov chain: rw496 and rw5151 of the SuiteSparse collection, and the same
   matrix at other sizes.

   The grid has m points per side, numbered line by line from 0; here m = 4:

       line 4   9
            3   7 8
            2   4 5 6
            1   0 1 2 3

   Let d be the number of lines below a point plus the number of points to its left. The walk steps right and up with
   probability (m-1-d) / (2 (m-1)) each, and left and down with probability d / (2 (m-1)) each. On the left side and in
   line 1, only one of the steps left and down exists, with the probabilities of both. Row
   k contains the probabilities of the steps from point k. Three details are those of rw496:
   - A step down ends one point further to the right: from 4 to 1.
   - The last step to the right in a line ends one number further, in the next line: from 2 to 4.
   - In line m-1, this step ends where the step up ends, from 7 to 9, and the matrix contains only one probability. */
#include "gen.h"

/* The point being visited: its number `at`, its line, the number of points in that line, and its place in the line;
   lines and places are counted from 1. */
struct spot {
    int64_t m, line, width, point, at;
};

static void walk_row(struct csr *A, int64_t *k, const struct spot *p)
{
    double scale = 2 * (double)(p->m - 1), d = (double)(p->line + p->point - 2);
    double back = d / scale, forth = ((double)(p->m - 1) - d) / scale;
    if (p->line > 1) gen_put(A, k, p->at - p->width, p->point == 1 ? 2 * back : back);
    if (p->point > 1) gen_put(A, k, p->at - 1, p->line == 1 ? 2 * back : back);
    if (p->point == p->width) return;
    if (p->width > 2) gen_put(A, k, p->at + (p->point == p->width - 1 ? 2 : 1), forth);
    gen_put(A, k, p->at + p->width, forth);
}

/* Each of the four directions has m (m-1) / 2 steps; two steps of line m-1 share an entry. */
static int64_t count_entries(int64_t m)
{
    return m > 1 ? 2 * m * (m - 1) - 1 : 0;
}

static bool make_walk(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    struct spot at = {.m = p[0], .line = 1, .width = p[0], .point = 1};
    int64_t m = p[0], k = 0;
    if (!gen_params(&generator_walk, p, e)) return false;
    int64_t n = m * (m + 1) / 2;
    if (!csr_limits(n, n, count_entries(m), e) || !csr_new(out, n, n, count_entries(m), false, e)) return false;
    for (; at.at < n; at.at++, at.point++) {
        if (!gen_tick(w, &generator_walk, at.at, n, out, e)) return false;
        if (at.point > at.width) at.line++, at.width--, at.point = 1;
        walk_row(out, &k, &at);
        out->rowptr[at.at + 1] = (int)k;
    }
    return true;
}

const struct generator generator_walk = {
    .name = "walk",
    .about = "Markov chain of a random walk on a triangular grid; walk 31 is rw496, walk 101 is rw5151",
    .usage = "walk M",
    .params = {{"m", 101, 1, 1 << 30, "points per side of the triangle"}},
    .make = make_walk,
};
