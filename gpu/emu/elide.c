/* Leaves out requests that compiled code does not make: loads that the compiler hoisted out of a loop, and loads that
   it merged with another one. The code says where; whether a request is repeated is seen from the addresses of its
   lanes. */
#include "elide.h"
#include "base/mem.h"
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

static const struct as_compiled *counted_as;

void emu_count_as(const struct as_compiled *c)
{
    counted_as = c;
}

const struct as_compiled *elide_code(void)
{
    return counted_as;
}

static int function_of(const struct as_compiled *c, const char *name)
{
    for (int i = 0; i < c->nfunctions; i++)
        if (!strcmp(c->function[i].name, name)) return i;
    return -1;
}

int elide_registers(const struct scope_run *run, const char *function)
{
    int i = run->compiled ? function_of(run->compiled, function) : -1;
    return i < 0 ? 0 : run->compiled->function[i].registers;
}

static bool is_unrolled(const struct unrolling *u, int function, const struct access_site *p)
{
    return u->function == function && u->kind == p->kind && text_part_has(&u->part, p->line, p->column);
}

void elide_site(struct scope_run *run, int site)
{
    const struct as_compiled *c = run->compiled;
    struct access_site *p = &run->scope.site[site];
    if (!c || strcmp(p->file, c->file)) return;
    int function = function_of(c, run->scope.launch[p->launch].function);
    for (int i = 0; i < c->nunrolled && p->unroll == 1; i++)
        if (is_unrolled(&c->unrolled[i], function, p)) p->unroll = c->unrolled[i].n;
    for (int i = 0; i < c->n && !run->elision[site]; i++)
        if (elision_is_of(&c->of[i], function, &run->scope, p)) run->elision[site] = &c->of[i];
}

/* The last element of each lane of a warp at each site, plus 1; 0: none yet. It is negative if the site will access it
   again, as the lane has left its loop or stored something since. */
static int64_t (*last_of(struct scope_thread *s, int warp))[LANES]
{
    return (int64_t(*)[LANES])(s->last + (size_t)warp * SCOPE_SITES * LANES);
}

static bool writes(enum access_kind kind)
{
    return kind == ACCESS_STORE || kind == ACCESS_ATOMIC;
}

/* Do the lanes that make a request at site p leave the loop of elision e, or store something, so that its site will
   access again? */
static bool ends(const struct scope_run *run, const struct elision *e, const struct access_site *p)
{
    bool own = !strcmp(p->file, run->compiled->file);
    return (own && e->loop.end_line && !text_part_has(&e->loop, p->line, p->column)) ||
           ((e->merged || e->after_stores) && writes(p->kind));
}

static void leave_loops(const struct scope_run *run, int64_t (*last)[LANES], const struct request *r)
{
    for (int k = 0; k < run->scope.nsites; k++) {
        const struct elision *e = run->elision[k];
        if (!e || k == r->site || !ends(run, e, &run->scope.site[r->site])) continue;
        for (int lane = 0; lane < LANES; lane++)
            if (r->mask >> lane & 1 && last[k][lane] > 0) last[k][lane] = -last[k][lane];
    }
}

/* ---- requests that lanes make at different rounds, and the compiled code once for all of them ---- */

static struct request *gathered_of(struct scope_thread *s, int warp)
{
    return s->gathered + (size_t)warp * SCOPE_SITES;
}

/* Add r to the requests that are gathered; false: the compiled code makes it where the source does. */
static bool gather(struct scope_thread *s, int warp, const struct request *r)
{
    const struct elision *e = s->run->elision[r->site];
    struct request *g = &gathered_of(s, warp)[r->site];
    if (!e || !(e->merged || e->invariant) || s->run->loops[r->site].twin) return false;
    if (!rounds_within(s, warp, __builtin_ctz(r->mask))) return false;
    for (uint32_t left = r->mask & g->mask; left; left &= left - 1)
        if (g->at[__builtin_ctz(left)] != r->at[__builtin_ctz(left)]) return false;
    g->site = r->site;
    g->mask |= r->mask;
    for (int lane = 0; lane < LANES; lane++)
        if (r->mask >> lane & 1) g->at[lane] = r->at[lane];
    return true;
}

/* Is a lane that makes a request at site p no longer in the loop of site k? */
static bool has_left(const struct scope_run *run, int k, const struct access_site *p)
{
    return !strcmp(p->file, run->compiled->file) && !text_part_has(rounds_part(run, k), p->line, p->column);
}

bool elide_gathered(struct scope_thread *s, int warp, const struct request *r, struct request *out)
{
    const struct scope_run *run = s->run;
    for (int k = 0; s->gathered && k < run->scope.nsites; k++) {
        struct request *g = &gathered_of(s, warp)[k];
        const struct access_site *p = r ? &run->scope.site[r->site] : NULL;
        if (!g->mask || (p && (r->site == k || !(has_left(run, k, p) || ends(run, run->elision[k], p))))) continue;
        *out = *g;
        *g = (struct request){0};
        return true;
    }
    return false;
}

/* ---- requests ---- */

/* Has the lane the value of this element of the array, because it has loaded or stored it? */
static bool has_value(const struct scope *s, int64_t (*last)[LANES], const struct request *r, int lane)
{
    const struct access_site *p = &s->site[r->site];
    for (int k = 0; k < s->nsites; k++) {
        const struct access_site *q = &s->site[k];
        if (q->array == p->array && q->elements == p->elements && q->launch == p->launch &&
            (q->kind == p->kind || q->kind == ACCESS_STORE) &&
            (k == r->site ? last[k][lane] : llabs(last[k][lane])) == r->at[lane] + 1)
            return true;
    }
    return false;
}

bool elide_request(struct scope_thread *s, int warp, const struct request *r)
{
    const struct scope_run *run = s->run;
    if (!run->compiled || !run->compiled->n || run->trace) return false;
    if (!s->last) s->last = mem_zero((int64_t)1024 / LANES * SCOPE_SITES * LANES, sizeof *s->last, "the counts", NULL);
    if (!s->gathered)
        s->gathered = mem_zero((int64_t)1024 / LANES * SCOPE_SITES, sizeof *s->gathered, "the counts", NULL);
    if (!s->last || !s->gathered) return false;
    int64_t(*last)[LANES] = last_of(s, warp);
    const struct elision *e = run->elision[r->site];
    bool elided = e != NULL;
    leave_loops(run, last, r);
    for (int lane = 0; lane < LANES; lane++) {
        if (!(r->mask >> lane & 1)) continue;
        if (elided) elided = e->merged ? has_value(&run->scope, last, r, lane) : last[r->site][lane] == r->at[lane] + 1;
        last[r->site][lane] = r->at[lane] + 1;
    }
    return elided || gather(s, warp, r);
}

void elide_block_end(struct scope_thread *s, int warps)
{
    for (int w = 0; s->last && w < warps; w++)
        memset(last_of(s, w), 0, (size_t)s->run->scope.nsites * LANES * sizeof *s->last);
}
