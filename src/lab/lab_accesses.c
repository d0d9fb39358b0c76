/* Compares the accesses in machine code with the loops of the source: which ones did the compiler hoist out of a loop,
   and which ones did it merge with others? What cannot be decided stays as in the source. */
#include "lab_accesses.h"
#include "base/base.h"
#include "lab_arrays.h"
#include "machine/sass.h"

#include <stdio.h>
#include <string.h>
#include <sys/param.h>

/* The functions by which nvcc divides and the like access no global memory. */
static bool calls_users(const struct sass *s)
{
    for (int k = 0; k < s->n; k++) {
        const struct sass_instruction *in = &s->at[k];
        if (!strcmp(in->opcode, "CALL") && !strstr(in->operands, "__internal") && !strstr(in->operands, "__cuda_"))
            return true;
    }
    return false;
}

int access_depth(const struct sass *s, const struct sass_instruction *in)
{
    int depth = 0;
    for (int l = in->loop; l >= 0; l = s->loop[l].parent) depth++;
    return depth;
}

bool access_kind_of(const struct sass_instruction *in, enum access_kind *kind)
{
    if (in->space != SASS_GLOBAL) return false;
    *kind = in->reads && in->writes ? ACCESS_ATOMIC : in->writes ? ACCESS_STORE : ACCESS_LOAD;
    return in->reads || in->writes;
}

struct code_access *access_at(struct lab_code *c, int function, int line, enum access_kind kind, int bytes)
{
    for (int k = 0; k < c->naccesses; k++) {
        struct code_access *a = &c->access[k];
        if (a->function == function && a->line == line && a->kind == kind && (!bytes || a->bytes == bytes)) return a;
    }
    return NULL;
}

static void collect(struct lab_code *c, int function, const struct sass *s, const struct apart *a)
{
    for (int k = 0; k < s->n; k++) {
        const struct sass_instruction *in = &s->at[k];
        enum access_kind kind;
        bool own = in->file && !strcmp(in->file, c->as.file) && in->line > 0 && in->line <= a->nlines;
        if (!own || !access_kind_of(in, &kind)) continue;
        struct code_access *at = access_at(c, function, in->line, kind, in->bytes);
        if (!at && c->naccesses == CODE_ACCESSES) {
            snprintf(c->as_source, sizeof c->as_source, "the file has more than %d accesses", +CODE_ACCESSES);
            return;
        }
        if (!at) {
            at = &c->access[c->naccesses++];
            *at = (struct code_access){.function = function,
                                       .line = in->line,
                                       .part = a->line[in->line],
                                       .kind = kind,
                                       .bytes = in->bytes,
                                       .loop = -1};
        }
        at->here = in->loop == at->loop ? at->here + 1 : 1;
        at->loop = in->loop;
        if (in->loop >= 0) at->unrolled = MAX(at->unrolled, at->here);
        int depth = access_depth(s, in);
        if (depth > at->depth) at->depth = depth;
        at->copies++;
    }
}

static void add(struct as_compiled *as, struct elision e)
{
    if (as->n < ELISIONS_MAX) as->of[as->n++] = e;
}

/* An access with fewer loops around it than in the source was hoisted. The loops of a function that others call are not
   known; if all of its calls became one access outside of loops, a thread does that once. */
static void find_hoisted(struct lab_code *c, const struct code_access *at, const struct apart *a, bool own, bool calls)
{
    struct elision e = {.function = at->function,
                        .part = at->part,
                        .kind = at->kind,
                        .bytes = at->bytes,
                        .after_stores = at->copies > 1};
    if (at->kind != ACCESS_LOAD && at->kind != ACCESS_STORE) return;
    if (calls && !own) return;
    const struct text_part *loop = a->depth[at->line] > at->depth ? apart_loop(a, at->line, at->depth) : NULL;
    if (loop)
        e.loop = *loop;
    else if (own || at->depth || at->copies > 1)
        return;
    add(&c->as, e);
}

/* As for built-in kernels, the loads of 4 rounds are counted as in flight together: nvcc does the rest of an unrolled
   loop by 4 and one by one, and only lanes with enough entries go through the longer rounds. */
enum { TOGETHER = 4 };

static void note_unrolled(struct as_compiled *as, const struct code_access *at)
{
    if (at->unrolled < 2 || as->nunrolled == ELISIONS_MAX) return;
    as->unrolled[as->nunrolled++] = (struct unrolling){at->function, at->part, at->kind, MIN(at->unrolled, TOGETHER)};
}

/* A load that is on no instruction's line was merged. A line may load several arrays, whose elements have several
   sizes. */
static void find_merged(struct lab_code *c, int i, const struct function *f, const struct apart *a, int line)
{
    int size[4], n = arrays_sizes(f, a, line, size);
    struct elision e = {.function = i, .part = a->line[line], .kind = ACCESS_LOAD, .merged = true};
    if (!access_at(c, i, line, ACCESS_LOAD, 0)) {
        add(&c->as, e);
        return;
    }
    for (int k = 0; k < n; k++) {
        e.bytes = size[k];
        if (e.bytes && !access_at(c, i, line, ACCESS_LOAD, e.bytes)) add(&c->as, e);
    }
}

void accesses_find(struct lab_code *c, int i, const struct function *f, const struct sass *s, const struct apart *a)
{
    const struct apart_body *body = &a->body[i];
    bool calls = calls_users(s);
    int before = c->naccesses;
    collect(c, i, s, a);
    if (c->naccesses == before) return;
    for (int k = before; k < c->naccesses; k++) {
        int line = c->access[k].line;
        note_unrolled(&c->as, &c->access[k]);
        find_hoisted(c, &c->access[k], a, line >= body->first && line <= body->last, calls);
    }
    for (int line = body->first; line <= body->last; line++)
        if (a->accesses[line]) find_merged(c, i, f, a, line);
}
