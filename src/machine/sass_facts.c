/* What a function's loops and source lines show: loads in flight, loads that wait for each other, unrolling, loads
   moved out of the loop. */
#include "base/mem.h"
#include "sass_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- loads of a loop ---- */

static bool overlaps(const struct sass_set *a, const struct sass_set *b)
{
    for (int k = 0; k < SASS_WORDS; k++)
        if (a->bits[k] & b->bits[k]) return true;
    return false;
}

enum { QUEUE_MAX = 256 };
/* Loads in the order of their issue. Whoever waits for one has also waited for those before it. */
struct queue {
    const struct sass_instruction *load[QUEUE_MAX];
    int n;
};

/* Two loads of one register under predicates: at most one of them loads. */
static bool is_alternative(const struct sass_instruction *a, const struct sass_instruction *b)
{
    return sass_loads(a) && sass_loads(b) && *a->predicate && *b->predicate && overlaps(&a->set, &b->set) &&
           !overlaps(&a->set, &b->used);
}

static void pass_queue(struct queue *q, struct sass_instruction *i)
{
    bool alternative = false;
    for (int k = q->n - 1; k >= 0 && !alternative; k--) alternative = is_alternative(q->load[k], i);
    for (int k = q->n - 1; k >= 0; k--) {
        const struct sass_set *loaded = &q->load[k]->set;
        if (!overlaps(loaded, &i->used) && (alternative || !overlaps(loaded, &i->set))) continue;
        q->n -= k + 1;
        memmove(q->load, q->load + k + 1, (size_t)q->n * sizeof *q->load);
        break;
    }
    if (sass_loads(i) && !alternative && q->n < QUEUE_MAX) q->load[q->n++] = i;
    if (q->n > i->outstanding) i->outstanding = q->n;
}

/* Loads on which the value of each register depends, one after another. */
struct depths {
    unsigned char of[SASS_REGISTERS];
};

static void pass_depths(struct depths *d, struct sass_instruction *i, bool atomics)
{
    int deepest = 0;
    for (int r = 0; r < SASS_REGISTERS; r++)
        if (sass_has(&i->used, r) && d->of[r] > deepest) deepest = d->of[r];
    bool load = sass_loads(i) || (atomics && i->kind == INSTRUCTION_ATOMIC);
    if (load) i->depth = deepest;
    if (load && deepest < UINT8_MAX) deepest++;
    for (int r = 0; r < SASS_REGISTERS; r++)
        if (sass_has(&i->set, r) && (!*i->predicate || deepest > d->of[r])) d->of[r] = (unsigned char)deepest;
}

/* Two rounds, in the order of addresses: a value loaded in one round may be used in the next. */
static void walk_loop(struct sass *s, int loop)
{
    struct sass_loop *l = &s->loop[loop];
    struct queue q = {.n = 0};
    struct depths d = {{0}};
    for (int round = 0; round < 2; round++)
        for (int i = l->first; i <= l->last; i++) {
            struct sass_instruction *at = &s->at[i];
            if (at->loop != loop) continue;
            pass_queue(&q, at);
            if (round == 0) pass_depths(&d, at, false);
            if (at->outstanding > l->in_flight) l->in_flight = at->outstanding;
            if (sass_loads(at) && at->depth + 1 > l->depth) l->depth = at->depth + 1;
        }
}

/* ---- unrolling ---- */

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

bool sass_same_line(const struct sass_instruction *a, const struct sass_instruction *b)
{
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

/* Do the two come from the same access, or the same multiplication, of the source? */
static bool same_origin(const struct sass_instruction *a, const struct sass_instruction *b)
{
    return sass_same_line(a, b) && !strcmp(a->opcode, b->opcode) && !strcmp(a->modifiers, b->modifiers) &&
           a->depth == b->depth;
}

/* A line has a load, so that its multiplications are counted, too. */
static bool line_loads(const struct sass *s, int loop, int instruction)
{
    for (int i = s->loop[loop].first; i <= s->loop[loop].last; i++)
        if (s->at[i].loop == loop && sass_loads(&s->at[i]) && sass_same_line(&s->at[i], &s->at[instruction]))
            return true;
    return false;
}

static int copies_of(const struct sass *s, int loop, int instruction)
{
    int n = 0;
    for (int i = s->loop[loop].first; i <= s->loop[loop].last; i++)
        n += s->at[i].loop == loop && same_origin(&s->at[i], &s->at[instruction]);
    return n;
}

/* The greatest number that divides the copies of every load, and of every fused multiply-add on the loads' lines: one
   line may load several arrays, and a load has no name. */
static int unrolled(const struct sass *s, int loop)
{
    int n = 0;
    for (int i = s->loop[loop].first; i <= s->loop[loop].last; i++) {
        const struct sass_instruction *at = &s->at[i];
        if (at->loop != loop) continue;
        if (sass_loads(at) || (sass_is(at, "DFMA FFMA") && line_loads(s, loop, i)))
            n = common_divisor(n, copies_of(s, loop, i));
    }
    return n > 0 ? n : 1;
}

/* ---- loops ---- */

bool sass_in_loop(const struct sass *s, int loop, int instruction)
{
    for (int l = s->at[instruction].loop; l >= 0; l = s->loop[l].parent)
        if (l == loop) return true;
    return false;
}

static void count_loop(struct sass *s, int k)
{
    struct sass_loop *l = &s->loop[k];
    for (int i = l->first; i <= l->last; i++) {
        const struct sass_instruction *at = &s->at[i];
        l->instructions += at->loop == k;
        if (!sass_loads(at) || !sass_in_loop(s, k, i)) continue;
        l->loads++;
        l->load_bytes += at->bytes;
    }
}

static void find_hot(struct sass *s)
{
    s->hot = -1;
    for (int k = 0; k < s->nloops; k++) {
        const struct sass_loop *l = &s->loop[k];
        if (l->innermost && l->loads > (s->hot >= 0 ? s->loop[s->hot].loads : 0)) s->hot = k;
    }
}

/* ---- instructions outside of loops ---- */

static void walk_blocks(struct sass *s)
{
    for (int b = 0; b < s->nblocks; b++) {
        struct queue q = {.n = 0};
        int loop = s->block[b].loop;
        if (loop >= 0 && s->loop[loop].innermost) continue;
        for (int i = s->block[b].first; i <= s->block[b].last; i++) pass_queue(&q, &s->at[i]);
    }
}

/* Along the whole function, in the order of addresses; the depths in loops are found later. */
static void find_chain(struct sass *s)
{
    struct depths d = {{0}};
    for (int i = 0; i < s->n; i++) {
        struct sass_instruction *at = &s->at[i];
        if (at->diverged) continue;
        at->depth = -1;
        pass_depths(&d, at, true);
        if (at->depth + 1 > s->chain) s->chain = at->depth + 1;
        at->depth = 0;
    }
}

static void count_outside(struct sass *s)
{
    for (int i = 0; i < s->n; i++) {
        s->diverged += s->at[i].diverged;
        s->outside += !s->at[i].diverged && !s->at[i].unreachable && (s->hot < 0 || s->at[i].loop != s->hot);
    }
}

/* ---- source lines ---- */

static int by_place(const void *a, const void *b)
{
    const struct sass_source *p = a, *q = b;
    int files = strcmp(p->file, q->file);
    return files ? files : (p->line > q->line) - (p->line < q->line);
}

static void add_to_source(const struct sass *s, struct sass_source *p, int i)
{
    bool load = sass_loads(&s->at[i]), hot = s->hot >= 0 && s->at[i].loop == s->hot;
    p->instructions++;
    p->in_hot += hot;
    p->loads += load;
    p->loads_hot += load && hot;
    p->loads_before += load && s->hot >= 0 && i < s->loop[s->hot].first;
}

const struct sass_source *sass_source_of(const struct sass *s, int instruction)
{
    struct sass_source key = {.file = s->at[instruction].file, .line = s->at[instruction].line};
    if (!key.file || !s->nsources) return NULL;
    return bsearch(&key, s->source, (size_t)s->nsources, sizeof key, by_place);
}

static bool find_sources(struct sass *s, struct err *e)
{
    struct sass_source *p = s->source = mem_zero(s->n + 1, sizeof *p, "the source lines of machine code", e);
    int n = 0;
    if (!p) return false;
    for (int i = 0; i < s->n; i++)
        if (s->at[i].file) p[n++] = (struct sass_source){.file = s->at[i].file, .line = s->at[i].line};
    qsort(p, (size_t)n, sizeof *p, by_place);
    for (int i = 0; i < n; i++)
        if (!s->nsources || by_place(&p[s->nsources - 1], &p[i])) p[s->nsources++] = p[i];
    for (int i = 0; i < s->n; i++) {
        const struct sass_source *found = sass_source_of(s, i);
        if (found) add_to_source(s, &p[found - p], i);
    }
    for (int i = 0; i < s->nsources; i++) p[i].hoisted = p[i].in_hot && p[i].loads_before && !p[i].loads_hot;
    return true;
}

/* ---- the whole function ---- */

static void count_instructions(struct sass *s)
{
    for (int i = 0; i < s->n; i++) {
        const struct sass_instruction *at = &s->at[i];
        s->counts[at->kind] += !sass_is(at, "NOP");
        s->spill_loads += sass_is(at, "LDL");
        s->spill_stores += sass_is(at, "STL");
        for (int r = s->registers; r < SASS_REGISTERS - 1; r++)
            if (sass_has(&at->used, r) || sass_has(&at->set, r)) s->registers = r + 1;
    }
}

int sass_instructions(const struct sass *s)
{
    int n = 0;
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) n += s->counts[k];
    return n;
}

double sass_per_round(const struct sass *s)
{
    return s->hot < 0 ? 0 : (double)s->loop[s->hot].instructions / s->loop[s->hot].unrolled;
}

bool sass_find_facts(struct sass *s, struct err *e)
{
    count_instructions(s);
    find_chain(s);
    for (int k = 0; k < s->nloops; k++) count_loop(s, k);
    for (int k = 0; k < s->nloops; k++) {
        if (!s->loop[k].innermost) continue;
        walk_loop(s, k);
        s->loop[k].unrolled = unrolled(s, k);
    }
    walk_blocks(s);
    find_hot(s);
    count_outside(s);
    return find_sources(s, e);
}
