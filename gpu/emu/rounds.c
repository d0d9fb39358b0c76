/* The rounds of loops as compiled code does them. nvcc copies the rounds of a loop: for one of n rounds, the code may
 * do n mod 4 rounds one by one, then 16 at a time, then 8 once, and 4 once. A warp goes through these stages one after
 * another. In each stage it does as many rounds as the lane with most of them, while lanes that have fewer wait:
 *
 *     rounds      n mod 4   by 16   by 8   by 4
 *     lane 0: 5   .                        ....
 *     lane 1: 8                  ........
 *     warp: 13    .              ........  ....
 *
 * Each lane's notes tell the round: it begins at a site where the lane was in the round before. */
#include "rounds.h"
#include "base/mem.h"

#include <limits.h>
#include <string.h>

enum { SITE_WORDS = SCOPE_SITES / 64 + 1, STAGE_BITS = 40 };

/* A loop that a lane is in. */
struct lane_loop {
    int loop;
    int64_t round; /* of the lane; -1: none has begun */
    /* Its rounds from number `from` are those of a loop with `rounds` rounds whose stages begin with `stage`. rounds
       -1: it has more rounds than its notes show, and does those of `stage`. */
    int64_t from, rounds;
    int stage;
    int64_t turn;              /* of the warp: its lanes do this round together if it is the same */
    uint64_t seen[SITE_WORDS]; /* the sites of this round */
    uint64_t loops;            /* the loops inside that this round entered */
};

struct lane_rounds {
    int depth;
    bool placed;    /* the next note was looked at */
    bool uncertain; /* its turn is not known yet */
    struct lane_loop in[LOOPS_DEEP];
};

static struct lane_rounds *lane_of(const struct scope_thread *s, int warp, int k)
{
    return &s->rounds[(size_t)warp * LANES + (size_t)k];
}

/* ---- loops and sites ---- */

static int function_of(const struct as_compiled *c, const char *name)
{
    for (int i = 0; i < c->nfunctions; i++)
        if (!strcmp(c->function[i].name, name)) return i;
    return -1;
}

static bool are_twins(const struct twin *t, const struct access_site *p, const struct access_site *q)
{
    return (text_part_has(&t->part, p->line, p->column) && text_part_has(&t->other, q->line, q->column)) ||
           (text_part_has(&t->part, q->line, q->column) && text_part_has(&t->other, p->line, p->column));
}

static void find_twin(struct scope_run *run, int site, int function)
{
    const struct as_compiled *c = run->compiled;
    const struct access_site *p = &run->scope.site[site];
    struct site_loops *at = &run->loops[site];
    for (int t = 0; t < c->ntwins; t++) {
        const struct twin *w = &c->twin[t];
        if (w->function != function || p->kind != ACCESS_LOAD) continue;
        at->twin |= text_part_has(&w->part, p->line, p->column);
        for (int k = 0; k < site; k++) {
            const struct access_site *q = &run->scope.site[k];
            if (q->launch == p->launch && q->kind == p->kind && q->array == p->array && !strcmp(q->file, p->file) &&
                are_twins(w, p, q))
                at->as = run->loops[k].as;
        }
    }
}

void rounds_site(struct scope_run *run, int site)
{
    const struct as_compiled *c = run->compiled;
    const struct access_site *p = &run->scope.site[site];
    struct site_loops *at = &run->loops[site];
    int function = c && c->nloops > 0 ? function_of(c, run->scope.launch[p->launch].function) : -1;
    *at = (struct site_loops){.known = function >= 0, .as = site};
    if (function < 0 || strcmp(p->file, c->file)) return;
    at->own = text_part_has(&c->function[function].body, p->line, p->column);
    for (int l = 0; l < c->nloops && at->n < LOOPS_DEEP; l++)
        if (c->loop[l].function == function && text_part_has(&c->loop[l].part, p->line, p->column))
            at->loop[at->n++] = l;
    find_twin(run, site, function);
}

static bool is_inside(const struct scope_run *run, int site, int loop)
{
    const struct site_loops *at = &run->loops[site];
    for (int d = 0; d < at->n; d++)
        if (at->loop[d] == loop) return true;
    return !at->own; /* a function that the loop calls */
}

/* Is it an access of the loop's own rounds, neither of a loop inside nor one that the code does elsewhere? The loads of
   a loop's condition are done once more than there are rounds; if the loop is unrolled, they are elided or from shared
   memory. */
static bool is_of_rounds(const struct scope_run *run, int site, int loop)
{
    const struct site_loops *at = &run->loops[site];
    const struct elision *e = run->elision[site];
    bool unrolled = run->compiled->loop[loop].nstages > 1;
    if (e && (e->invariant || (unrolled && e->merged && !at->twin))) return false;
    if (unrolled && !accesses_global(run->scope.site[site].kind)) return false;
    return at->n ? at->loop[at->n - 1] == loop : !at->own;
}

/* ---- stages ---- */

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

int64_t loop_stage_rounds(const struct compiled_loop *l, int k, int64_t left)
{
    int of = l->stage[k].rounds, later = 0;
    for (int j = k + 1; j < l->nstages; j++)
        if (l->stage[j].rounds > of) later = common_divisor(later, l->stage[j].rounds);
    if (later) left %= later;
    if (!l->stage[k].repeats && left > of) left = of;
    return left / of * of;
}

static int64_t turn(int stage, int64_t round)
{
    return ((int64_t)stage << STAGE_BITS) + round;
}

/* The turn of the round; one that fits no stage comes last. */
static int64_t turn_of(const struct compiled_loop *l, const struct lane_loop *in)
{
    int64_t i = in->round - in->from, left = in->rounds;
    for (int k = in->stage; k < l->nstages; k++) {
        int64_t here = loop_stage_rounds(l, k, left);
        if (i < here) return turn(k, k == in->stage ? in->round : i);
        i -= here;
        left -= here;
    }
    return turn(l->nstages, i);
}

/* The stage with most rounds. */
static int main_stage(const struct compiled_loop *l)
{
    int k = 0;
    for (int j = 1; j < l->nstages; j++)
        if (l->stage[j].rounds > l->stage[k].rounds) k = j;
    return k;
}

/* The rounds of the loop that the lane's notes show, from the next note on; *all: it has no more than those. */
static int64_t rounds_seen(const struct scope_run *run, const struct lane_log *g, int loop, bool *all)
{
    uint64_t seen[SITE_WORDS] = {0};
    int64_t rounds = 0;
    int i = g->next;
    for (; i < g->n && is_inside(run, g->r[i].site, loop); i++) {
        int site = g->r[i].site;
        if (!is_of_rounds(run, site, loop)) continue;
        if (!rounds || seen[site / 64] >> site % 64 & 1) {
            memset(seen, 0, sizeof seen);
            rounds++;
        }
        seen[site / 64] |= 1ull << site % 64;
    }
    *all = i < g->n || !g->more;
    return rounds;
}

/* A round begins whose stage is not decided. false: the lane is to make more notes first. */
static bool decide_stage(const struct scope_run *run, const struct lane_log *g, struct lane_loop *in)
{
    const struct compiled_loop *l = &run->compiled->loop[in->loop];
    bool all;
    int64_t rounds = rounds_seen(run, g, in->loop, &all);
    int main = main_stage(l);
    if (all) {
        in->stage = in->round ? main : 0;
        in->from = in->round;
        in->rounds = rounds;
        return true;
    }
    in->stage = main;
    in->rounds = -1;
    return rounds >= l->stage[main].rounds || !g->next;
}

static void find_turn(const struct scope_run *run, const struct lane_log *g, struct lane_rounds *at,
                      struct lane_loop *in)
{
    const struct compiled_loop *l = &run->compiled->loop[in->loop];
    in->turn = in->round;
    at->uncertain = false;
    if (l->nstages < 2 || in->round < 0) return;
    bool undecided = in->rounds < 0 && in->round % l->stage[main_stage(l)].rounds == 0;
    at->uncertain = undecided && !decide_stage(run, g, in);
    in->turn = in->rounds < 0 ? turn(in->stage, in->round) : turn_of(l, in);
}

/* ---- the lane's next note ---- */

static void begin_round(struct lane_loop *in)
{
    in->round++;
    in->loops = 0;
    memset(in->seen, 0, sizeof in->seen);
}

static void enter(struct lane_rounds *at, int loop)
{
    struct lane_loop *in = &at->in[at->depth++];
    *in = (struct lane_loop){.loop = loop, .round = -1, .rounds = -1, .turn = -1};
    if (at->depth < 2) return;
    struct lane_loop *around = &in[-1];
    if (around->round < 0 || around->loops >> loop & 1) begin_round(around);
    around->loops |= 1ull << loop;
}

/* Leave the loops that do not contain the site, and enter those that do. */
static void follow(const struct site_loops *of, struct lane_rounds *at)
{
    int same = 0;
    while (same < of->n && same < at->depth && at->in[same].loop == of->loop[same]) same++;
    if (of->own) at->depth = same;
    for (int d = same; d < of->n && at->depth < LOOPS_DEEP; d++) enter(at, of->loop[d]);
}

static void place(const struct scope_run *run, const struct lane_log *g, struct lane_rounds *at)
{
    int site = g->r[g->next].site;
    if (!at->placed) follow(&run->loops[site], at);
    struct lane_loop *in = at->depth ? &at->in[at->depth - 1] : NULL;
    bool begins = false;
    if (in && !at->placed && is_of_rounds(run, site, in->loop)) {
        begins = in->round < 0 || in->seen[site / 64] >> site % 64 & 1;
        if (begins) begin_round(in);
        in->seen[site / 64] |= 1ull << site % 64;
    }
    if (begins || at->uncertain) find_turn(run, g, at, in);
    for (int d = 0; d + 1 < at->depth; d++) at->in[d].turn = at->in[d].round;
    at->placed = true;
}

void rounds_next(struct scope_thread *s, int warp, const struct lane_log *lane, int k)
{
    struct lane_rounds *at = lane_of(s, warp, k);
    at->placed = false;
    if (lane[k].next < lane[k].n) place(s->run, &lane[k], at);
}

bool rounds_begin(struct scope_thread *s, int warp, const struct lane_log *lane)
{
    const struct scope_run *run = s->run;
    if (!run->compiled || run->compiled->nloops <= 0 || run->trace) return false;
    for (int p = 0; p < run->scope.nsites; p++)
        if (run->scope.site[p].launch == run->scope.nlaunches - 1 && !run->loops[p].known) return false;
    if (!s->rounds) s->rounds = mem_zero(1024, sizeof *s->rounds, "the counts", NULL);
    for (int k = 0; k < LANES && s->rounds; k++) {
        struct lane_rounds *at = lane_of(s, warp, k);
        if (lane[k].next < lane[k].n && (!at->placed || at->uncertain)) place(run, &lane[k], at);
    }
    return s->rounds != NULL;
}

bool rounds_uncertain(const struct scope_thread *s, int warp, int k)
{
    return lane_of(s, warp, k)->uncertain;
}

/* ---- order ---- */

static int compare_places(int line, int column, int other_line, int other_column)
{
    return line != other_line ? line - other_line : column - other_column;
}

/* The position of what a lane does at this depth: a loop, or else the access. */
static void position(const struct scope_run *run, const struct lane_rounds *at, int depth, int site, int *line,
                     int *column)
{
    const struct text_part *part = depth < at->depth ? &run->compiled->loop[at->in[depth].loop].part : NULL;
    *line = part ? part->line : run->scope.site[site].line;
    *column = part ? part->column : run->scope.site[site].column;
}

int rounds_compare(const struct scope_thread *s, int warp, const struct lane_log *lane, int a, int b)
{
    const struct scope_run *run = s->run;
    const struct lane_rounds *p = lane_of(s, warp, a), *q = lane_of(s, warp, b);
    int site_a = lane[a].r[lane[a].next].site, site_b = lane[b].r[lane[b].next].site, d = 0;
    for (; d < p->depth && d < q->depth && p->in[d].loop == q->in[d].loop; d++)
        if (p->in[d].turn != q->in[d].turn) return p->in[d].turn < q->in[d].turn ? -1 : 1;
    if (d == p->depth && d == q->depth && run->loops[site_a].as == run->loops[site_b].as) return 0;
    int line_a, column_a, line_b, column_b;
    position(run, p, d, site_a, &line_a, &column_a);
    position(run, q, d, site_b, &line_b, &column_b);
    int order = compare_places(line_a, column_a, line_b, column_b);
    return order ? order : site_a - site_b;
}

bool rounds_within(const struct scope_thread *s, int warp, int k)
{
    const struct lane_rounds *at = s->rounds ? lane_of(s, warp, k) : NULL;
    const struct lane_loop *in = at && at->depth ? &at->in[at->depth - 1] : NULL;
    return in && in->round >= 0 && s->run->compiled->loop[in->loop].nstages > 1;
}

const struct text_part *rounds_part(const struct scope_run *run, int site)
{
    static const struct text_part nowhere;
    const struct site_loops *at = &run->loops[site];
    return at->n ? &run->compiled->loop[at->loop[at->n - 1]].part : &nowhere;
}

void rounds_block_end(struct scope_thread *s, int warps)
{
    for (int k = 0; s->rounds && k < warps * LANES; k++) {
        struct lane_rounds *at = &s->rounds[k];
        at->depth = 0;
        at->placed = at->uncertain = false;
    }
}
