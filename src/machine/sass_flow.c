/* The blocks and loops of a function. A loop begins at a header, which all paths to the loop's blocks pass; a branch
   back to the header closes it. Calls are taken to return, and what a warp does only when it has diverged is left out.
 */
#include "base/mem.h"
#include "sass_private.h"

#include <string.h>

static bool branches(const struct sass_instruction *i)
{
    return sass_is(i, "BRA BRX JMP JMX CALL RET EXIT KILL");
}

static bool diverged_only(const struct sass_instruction *i)
{
    return sass_is(i, "BRA") && !strncmp(i->modifiers, ".DIV", 4);
}

static bool make_blocks(struct sass *s, const struct sass_targets *t, struct err *e)
{
    bool *leads = mem_zero(s->n + 1, sizeof *leads, "the blocks of machine code", e);
    if (!leads) return false;
    for (int k = 0; k < t->n; k++) leads[t->at[k][1]] = true;
    for (int i = 0; i < s->n; i++)
        if (branches(&s->at[i])) leads[i + 1] = true;
    leads[0] = true;
    for (int i = 0; i < s->n; i++) s->nblocks += leads[i];
    s->block = mem_zero(s->nblocks + 1, sizeof *s->block, "the blocks of machine code", e);
    for (int i = 0, b = -1; s->block && i < s->n; i++) {
        if (leads[i]) s->block[++b] = (struct sass_block){i, i, -1};
        s->block[b].last = i;
        s->at[i].block = b;
    }
    mem_free(leads);
    return s->block != NULL;
}

/* ---- edges ---- */

typedef bool edge_fn(const struct sass_instruction *from); /* does an edge that leaves here count? */

static bool counts_in_loops(const struct sass_instruction *from)
{
    return !sass_is(from, "CALL") && !diverged_only(from);
}

static bool counts_always(const struct sass_instruction *from)
{
    return true;
}

static bool counts_undiverged(const struct sass_instruction *from)
{
    return !diverged_only(from);
}

/* Calls add edges back from the ends of functions to behind each call, if `calls`. */
static void each_edge(const struct sass *s, const struct sass_targets *t, edge_fn *counts, bool calls,
                      void (*give)(int from, int to, void *user), void *user)
{
    for (int b = 0; b < s->nblocks; b++) {
        const struct sass_instruction *last = &s->at[s->block[b].last];
        if ((!sass_ends_path(last) || *last->predicate) && b + 1 < s->nblocks) give(b, b + 1, user);
        if (!calls || !sass_is(last, "RET")) continue;
        for (int k = 0; k + 1 < s->nblocks; k++)
            if (sass_is(&s->at[s->block[k].last], "CALL")) give(b, k + 1, user);
    }
    for (int k = 0; k < t->n; k++)
        if (counts(&s->at[t->at[k][0]])) give(s->at[t->at[k][0]].block, s->at[t->at[k][1]].block, user);
}

static void count_edge(int from, int to, void *user)
{
    struct sass_flow *f = user;
    f->first[from + 1]++;
    f->n++;
}

static void put_edge(int from, int to, void *user)
{
    struct sass_flow *f = user;
    f->to[f->first[from]++] = to;
}

static bool make_edges(const struct sass *s, const struct sass_targets *t, edge_fn *counts, bool calls,
                       struct sass_flow *f, struct err *e)
{
    int n = s->nblocks;
    struct sass_flow sizes = {.first = mem_zero(n + 2, sizeof(int), "the paths of machine code", e)};
    *f = (struct sass_flow){0};
    if (!sizes.first) return false;
    each_edge(s, t, counts, calls, count_edge, &sizes);
    f->first = mem_zero(n + 2 + sizes.n, sizeof(int), "the paths of machine code", e);
    if (f->first) {
        f->n = sizes.n;
        f->to = f->first + n + 2;
        for (int b = 0; b < n; b++) f->first[b + 1] = f->first[b] + sizes.first[b + 1];
        each_edge(s, t, counts, calls, put_edge, f);
        memmove(f->first + 1, f->first, (size_t)n * sizeof(int)); /* put_edge moved each start to its end */
        f->first[0] = 0;
    }
    mem_free(sizes.first);
    return f->first != NULL;
}

bool sass_all_edges(const struct sass *s, const struct sass_targets *t, struct sass_flow *f, struct err *e)
{
    return make_edges(s, t, counts_always, true, f, e);
}

/* ---- dominators: Cooper, Harvey and Kennedy, A simple, fast dominance algorithm, 2001 ---- */

struct order {
    int *rank, *by_rank, n; /* of a block in postorder; -1: unreachable */
    int *dominator;         /* of a block */
    int *stack, *next;
};

static void start_order(const struct sass *s, struct order *o)
{
    o->n = 0;
    for (int b = 0; b < s->nblocks; b++) o->rank[b] = o->dominator[b] = -1, o->next[b] = 0;
}

/* Depth first from block 0. */
static void number_blocks(const struct sass_flow *f, struct order *o)
{
    int depth = 1;
    o->stack[0] = 0;
    o->rank[0] = -2; /* being visited */
    while (depth > 0) {
        int b = o->stack[depth - 1];
        if (f->first[b] + o->next[b] < f->first[b + 1]) {
            int to = f->to[f->first[b] + o->next[b]++];
            if (o->rank[to] == -1) o->rank[to] = -2, o->stack[depth++] = to;
            continue;
        }
        depth--;
        o->by_rank[o->n] = b;
        o->rank[b] = o->n++;
    }
}

static int common_dominator(const struct order *o, int a, int b)
{
    while (a != b) {
        while (o->rank[a] < o->rank[b]) a = o->dominator[a];
        while (o->rank[b] < o->rank[a]) b = o->dominator[b];
    }
    return a;
}

static void find_dominators(const struct sass_flow *f, struct order *o)
{
    o->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = o->n - 1; k >= 0; k--) {
            int b = o->by_rank[k];
            for (int i = f->first[b]; i < f->first[b + 1]; i++) {
                int to = f->to[i], was = o->dominator[to];
                int now = was < 0 ? b : common_dominator(o, was, b);
                if (to == 0 || now == was) continue;
                o->dominator[to] = now;
                changed = true;
            }
        }
    }
}

static bool dominates(const struct order *o, int a, int b)
{
    while (b != a && b != 0) b = o->dominator[b];
    return a == b;
}

/* ---- loops ---- */

/* The blocks from which `header` can be reached backwards from `tail`; in[] belongs to the loop. */
static void fill_loop(const struct sass_flow *back, struct order *o, int tail, bool *in)
{
    int depth = 0;
    if (!in[tail]) in[tail] = true, o->stack[depth++] = tail;
    while (depth > 0) {
        int b = o->stack[--depth];
        for (int i = back->first[b]; i < back->first[b + 1]; i++) {
            int from = back->to[i];
            if (o->rank[from] < 0 || in[from]) continue;
            in[from] = true;
            o->stack[depth++] = from;
        }
    }
}

/* f with its edges reversed. */
static bool reverse_edges(const struct sass *s, const struct sass_flow *f, struct sass_flow *back, struct err *e)
{
    int n = s->nblocks;
    back->first = mem_zero(n + 2 + f->n, sizeof(int), "the paths of machine code", e);
    if (!back->first) return false;
    back->to = back->first + n + 2;
    for (int i = 0; i < f->n; i++) back->first[f->to[i] + 2]++;
    for (int b = 0; b < n; b++) back->first[b + 2] += back->first[b + 1];
    for (int b = 0; b < n; b++)
        for (int i = f->first[b]; i < f->first[b + 1]; i++) back->to[back->first[f->to[i] + 1]++] = b;
    return true;
}

static int blocks_in(const struct sass *s, const bool *in)
{
    int n = 0;
    for (int b = 0; b < s->nblocks; b++) n += in[b];
    return n;
}

/* Loops are found by header; the blocks of a smaller loop override those of one around it. sizes: of the loop of each
   block. */
static void add_loop(struct sass *s, int header, const bool *in, int *sizes)
{
    struct sass_loop *l = &s->loop[s->nloops];
    int size = blocks_in(s, in);
    *l = (struct sass_loop){.header = header, .first = s->n, .last = 0, .parent = -1};
    for (int b = 0; b < s->nblocks; b++) {
        if (!in[b]) continue;
        if (s->block[b].first < l->first) l->first = s->block[b].first;
        if (s->block[b].last > l->last) l->last = s->block[b].last;
        if (s->block[b].loop >= 0 && sizes[b] <= size) continue;
        s->block[b].loop = s->nloops;
        sizes[b] = size;
    }
    s->nloops++;
}

static bool closes_loop(const struct sass_flow *f, const struct order *o, int tail, int header)
{
    if (o->rank[tail] < 0) return false;
    for (int i = f->first[tail]; i < f->first[tail + 1]; i++)
        if (f->to[i] == header) return dominates(o, header, tail);
    return false;
}

/* in[]: the blocks of the loop with this header; false: no branch closes a loop there. */
static bool loop_at(const struct sass *s, int header, const struct sass_flow *f, const struct sass_flow *back,
                    struct order *o, bool *in)
{
    bool any = false;
    if (o->rank[header] < 0) return false;
    memset(in, 0, (size_t)s->nblocks * sizeof *in);
    for (int i = back->first[header]; i < back->first[header + 1]; i++) {
        if (!closes_loop(f, o, back->to[i], header)) continue;
        in[header] = any = true;
        fill_loop(back, o, back->to[i], in);
    }
    return any;
}

/* in[]: the blocks of loop k. Loops inside it that have found no smaller loop around them lie in loop k. */
static void nest_loop(struct sass *s, int k, const bool *in, int *around)
{
    int size = blocks_in(s, in);
    s->loop[k].innermost = true;
    for (int j = 0; j < s->nloops; j++) {
        if (j == k || !in[s->loop[j].header]) continue;
        s->loop[k].innermost = false;
        if (s->loop[j].parent >= 0 && around[j] <= size) continue;
        s->loop[j].parent = k;
        around[j] = size;
    }
}

static void find_loops(struct sass *s, const struct sass_flow *f, const struct sass_flow *back, struct order *o,
                       bool *in, int *sizes)
{
    for (int header = 0; header < s->nblocks; header++)
        if (loop_at(s, header, f, back, o, in)) add_loop(s, header, in, sizes);
    for (int k = 0; k < s->nloops; k++)
        if (loop_at(s, s->loop[k].header, f, back, o, in)) nest_loop(s, k, in, sizes);
}

/* Follow calls and, with the others, the edges that count. */
static bool reach_blocks(struct sass *s, const struct sass_targets *t, edge_fn *counts, struct order *o, struct err *e)
{
    struct sass_flow f = {0};
    if (!make_edges(s, t, counts, true, &f, e)) return false;
    start_order(s, o);
    number_blocks(&f, o);
    mem_free(f.first);
    return true;
}

/* The instructions that nothing reaches, and those that only diverged warps reach. */
static bool find_diverged(struct sass *s, const struct sass_targets *t, struct order *o, struct err *e)
{
    if (!reach_blocks(s, t, counts_always, o, e)) return false;
    for (int i = 0; i < s->n; i++) s->at[i].unreachable = o->rank[s->at[i].block] < 0;
    if (!reach_blocks(s, t, counts_undiverged, o, e)) return false;
    for (int i = 0; i < s->n; i++) s->at[i].diverged = !s->at[i].unreachable && o->rank[s->at[i].block] < 0;
    return true;
}

bool sass_find_loops(struct sass *s, const struct sass_targets *t, struct err *e)
{
    struct sass_flow f = {0}, back = {0};
    struct order o = {0};
    if (!make_blocks(s, t, e)) return false;
    int n = s->nblocks;
    int *memory = mem_new(6 * (int64_t)n + 1, sizeof(int), "the loops of machine code", e);
    bool *in = mem_zero(n + 1, sizeof *in, "the loops of machine code", e);
    s->loop = mem_zero(n + 1, sizeof *s->loop, "the loops of machine code", e);
    bool ok =
        memory && in && s->loop && make_edges(s, t, counts_in_loops, false, &f, e) && reverse_edges(s, &f, &back, e);
    if (ok) {
        o = (struct order){memory, memory + n, 0, memory + 2 * n, memory + 3 * n, memory + 4 * n};
        start_order(s, &o);
        number_blocks(&f, &o);
        find_dominators(&f, &o);
        find_loops(s, &f, &back, &o, in, memory + 5 * n);
        for (int i = 0; i < s->n; i++) s->at[i].loop = s->block[s->at[i].block].loop;
        ok = find_diverged(s, t, &o, e);
    }
    mem_free(memory);
    mem_free(in);
    mem_free(f.first);
    mem_free(back.first);
    return ok;
}
