/* Finds the stages of an unrolled loop: where the machine code contains one of the loop's accesses several times.
   Copies within one loop of the code repeat; copies in straight code, under one predicate, are done once. */
#include "lab_loops.h"
#include "base/base.h"
#include "lab_accesses.h"
#include "lab_arrays.h"
#include "machine/sass.h"

#include <string.h>
#include <sys/param.h>

/* ---- one access ---- */

/* The copies of an access, or of all accesses of a loop, in the order of the code. */
struct copies {
    int n, total;
    bool looped, full; /* one of them is in a loop of the code; there are too many stages */
    struct loop_stage stage[2 * LOOP_STAGES];
    int at[2 * LOOP_STAGES]; /* the stage's loop, or -1 - its block */
    const char *predicate[2 * LOOP_STAGES];
};

static void add_copy(struct copies *c, const struct sass_instruction *in, bool looped)
{
    int at = looped ? in->loop : -1 - in->block, k = c->n - 1;
    c->total++;
    c->looped |= looped;
    if (k >= 0 && c->at[k] == at && (looped || !strcmp(c->predicate[k], in->predicate))) {
        c->stage[k].rounds++;
    } else if (c->n == COUNT(c->stage)) {
        c->full = true;
    } else {
        c->at[c->n] = at;
        c->predicate[c->n] = in->predicate;
        c->stage[c->n++] = (struct loop_stage){1, looped};
    }
}

/* Which instructions access memory for a loop of the source: those of one access, or those of all of its lines (line 0)
   that access as many bytes. */
struct which {
    int loop, line, bytes;
    enum access_kind kind;
};

static bool is_one(const struct lab_code *c, const struct apart *a, const struct sass_instruction *in,
                   const struct which *w)
{
    enum access_kind kind;
    bool own = in->file && !strcmp(in->file, c->as.file) && in->line > 0 && in->line <= a->nlines;
    return own && access_kind_of(in, &kind) && kind == w->kind && in->bytes == w->bytes &&
           a->loop_of[in->line] == w->loop && (!w->line || in->line == w->line);
}

static struct copies copies_of(const struct lab_code *c, const struct sass *s, const struct apart *a,
                               const struct which *w)
{
    struct copies found = {.n = 0};
    for (int k = 0; k < s->n; k++) {
        const struct sass_instruction *in = &s->at[k];
        if (!is_one(c, a, in, w)) continue;
        int depth = access_depth(s, in), around = a->depth[in->line];
        if (depth >= around) add_copy(&found, in, true);
        if (depth == around - 1) add_copy(&found, in, false);
    }
    return found;
}

/* ---- a loop ---- */

/* Of code that has several versions of the loop, all with the same stages, the stages of one. */
static void merge_versions(struct copies *c)
{
    for (int n = 1; n <= c->n / 2; n++) {
        bool same = c->n % n == 0, repeats = false;
        for (int k = n; same && k < c->n; k++)
            same = c->stage[k].rounds == c->stage[k - n].rounds && c->stage[k].repeats == c->stage[k - n].repeats;
        for (int k = 0; k < n; k++) repeats |= c->stage[k].repeats;
        if (same && repeats) c->n = n;
    }
}

/* Do the stages do all rounds, however many there are? */
static bool is_whole(const struct compiled_loop *l)
{
    enum { ENOUGH = 300 };
    for (int64_t n = 1; n < ENOUGH; n++) {
        int64_t left = n;
        for (int k = 0; k < l->nstages; k++) left -= loop_stage_rounds(l, k, left);
        if (left) return false;
    }
    return true;
}

static void set_stages(struct compiled_loop *l, struct copies *c)
{
    merge_versions(c);
    l->nstages = !c->looped || c->full || c->n > LOOP_STAGES ? 0 : c->n;
    memcpy(l->stage, c->stage, (size_t)l->nstages * sizeof *l->stage);
    if (l->nstages < 2 || !is_whole(l)) l->nstages = 0;
}

/* Do the best with fewest copies: a line may load several arrays, with as many copies of each. */
static void find_stages(const struct lab_code *c, int function, struct compiled_loop *l, int loop, const struct sass *s,
                        const struct apart *a)
{
    int fewest = 0;
    for (int k = 0; k < c->naccesses; k++) {
        const struct code_access *at = &c->access[k];
        if (at->function != function || a->loop_of[at->line] != loop) continue;
        struct copies found = copies_of(c, s, a, &(struct which){loop, at->line, at->bytes, at->kind});
        if (!found.looped || (fewest && found.total >= fewest)) continue;
        fewest = found.total;
        set_stages(l, &found);
    }
}

/* A loop that contains another one goes round by round. */
static bool is_innermost(const struct apart *a, int loop)
{
    for (int l = 0; l < a->nloops; l++)
        if (l != loop && text_part_has(&a->loop[loop], a->loop[l].line, a->loop[l].column)) return false;
    return true;
}

/* ---- a function ---- */

static struct text_part body_part(const struct apart *a, int i)
{
    const struct text_part *first = &a->line[a->body[i].first], *last = &a->line[a->body[i].last];
    return a->body[i].first ? (struct text_part){first->line, first->column, last->end_line, last->end_column}
                            : (struct text_part){0};
}

/* Is the loop in another function that is launched? */
static bool is_elsewhere(const struct lab_code *c, int i, const struct apart *a, const struct text_part *loop)
{
    for (int j = 0; j < c->nfunctions; j++) {
        struct text_part body = body_part(a, j);
        if (j != i && text_part_has(&body, loop->line, loop->column)) return true;
    }
    return false;
}

static int most_copies(const struct lab_code *c, int function, int loop, const struct apart *a, int *depth)
{
    int most = 0;
    *depth = 0;
    for (int k = 0; k < c->naccesses; k++) {
        const struct code_access *at = &c->access[k];
        if (at->function != function || a->loop_of[at->line] != loop) continue;
        if (at->copies > most) most = at->copies;
        if (at->depth > *depth) *depth = at->depth;
    }
    return most;
}

/* An access with fewer loops around it than in the source, and fewer copies than others of its loop, was hoisted; with
   as many copies, all rounds were unrolled. */
static void mark_invariant(struct lab_code *c, int function, const struct apart *a)
{
    for (int i = 0; i < c->as.n; i++) {
        struct elision *e = &c->as.of[i];
        if (e->function != function || e->merged) continue;
        for (int k = 0; k < c->naccesses; k++) {
            const struct code_access *at = &c->access[k];
            if (at->function != function || at->kind != e->kind || at->bytes != e->bytes ||
                memcmp(&at->part, &e->part, sizeof at->part) != 0)
                continue;
            int depth, most = a->loop_of[at->line] < 0 ? 0 : most_copies(c, function, a->loop_of[at->line], a, &depth);
            e->invariant = !most || at->copies < most || depth >= a->depth[at->line];
        }
    }
}

/* The copies of an access in one version of the loop. */
static int copies_in(const struct as_compiled *as, int function, const struct text_part *loop)
{
    int copies = 0;
    for (int l = 0; loop && l < as->nloops; l++)
        if (as->loop[l].function == function && !memcmp(&as->loop[l].part, loop, sizeof *loop))
            for (int k = 0; k < as->loop[l].nstages; k++) copies += as->loop[l].stage[k].rounds;
    return copies ? copies : 1;
}

/* A load that is nowhere in the code, and the same one elsewhere in the loop: the compiler may have merged both
   branches of an `if`. It did not if the loop has a version for each branch. */
static void find_twin(struct lab_code *c, int i, const struct function *f, const struct apart *a, int line)
{
    struct as_compiled *as = &c->as;
    const struct text_part *loop = a->loop_of[line] < 0 ? NULL : &a->loop[a->loop_of[line]];
    for (int k = 0; k < c->naccesses && as->ntwins < TWINS_MAX; k++) {
        const struct code_access *at = &c->access[k];
        if (at->function != i || at->kind != ACCESS_LOAD || a->loop_of[at->line] != a->loop_of[line] ||
            at->copies != copies_in(as, i, loop) || !arrays_same_access(f, a, at->line, line))
            continue;
        as->twin[as->ntwins++] = (struct twin){i, a->line[line], at->part};
        return;
    }
}

void loops_find(struct lab_code *c, int i, const struct function *f, const struct sass *s, const struct apart *a)
{
    struct as_compiled *as = &c->as;
    as->function[i].body = body_part(a, i);
    mark_invariant(c, i, a);
    for (int l = 0; l < a->nloops && as->nloops >= 0; l++) {
        if (is_elsewhere(c, i, a, &a->loop[l])) continue;
        if (as->nloops == COMPILED_LOOPS) {
            as->nloops = -1;
            return;
        }
        struct compiled_loop *to = &as->loop[as->nloops++];
        *to = (struct compiled_loop){.function = i, .part = a->loop[l]};
        if (is_innermost(a, l)) find_stages(c, i, to, l, s, a);
    }
    for (int line = a->body[i].first; line <= a->body[i].last; line++)
        if (a->accesses[line] && !access_at(c, i, line, ACCESS_LOAD, 0)) find_twin(c, i, f, a, line);
}

int loops_unrolled(const struct as_compiled *as, int function)
{
    int most = 0;
    for (int l = 0; l < as->nloops; l++)
        for (int k = 0; k < as->loop[l].nstages && as->loop[l].function == function; k++)
            most = MAX(most, as->loop[l].stage[k].rounds);
    return most;
}
