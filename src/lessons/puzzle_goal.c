/* The quantities that goals limit: what the emulator counts, and which access is to blame if there is too much of it.
   To add one, add a line to quantities[]. */
#include "base/base.h"
#include "base/text.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "puzzle.h"
#include "report/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SECTOR_BYTES = 32 };

/* ---- what a report says ---- */

#define COUNTED(member)                                                            \
    static double get_##member(const struct lab_report *r, const struct counts *c) \
    {                                                                              \
        (void)c;                                                                   \
        return (double)r->member;                                                  \
    }
COUNTED(sectors)
COUNTED(requests)
COUNTED(loads)
COUNTED(atomics)
COUNTED(active_lanes)
COUNTED(steps)
COUNTED(longest_warp)
COUNTED(wavefronts)
COUNTED(shared_requests)
COUNTED(collectives)
COUNTED(barriers)
COUNTED(predicted_us)
#undef COUNTED

static bool is_atomic(enum access_kind k)
{
    return k == ACCESS_ATOMIC || k == ACCESS_SHARED_ATOMIC;
}

/* In %, without fractions, so that a limit means what it shows. */
static double get_occupancy(const struct lab_report *r, const struct counts *c)
{
    (void)c;
    return floor(r->occupancy + 1e-9);
}

/* Requests to global memory as the counts have them: as compiled, if nvcc was there, otherwise as in the source. */
static double get_compiled(const struct lab_report *r, const struct counts *c)
{
    int64_t n = 0;
    for (int i = 0; i < c->scope.nsites; i++)
        if (accesses_global(c->scope.site[i].kind)) n += c->by_site[i].requests;
    return (double)n;
}

/* Atomics in global and shared memory, counted by lane: lanes with the same address wait for one another. */
static double get_atomic_lanes(const struct lab_report *r, const struct counts *c)
{
    int64_t n = 0;
    for (int i = 0; i < c->scope.nsites; i++)
        if (is_atomic(c->scope.site[i].kind)) n += c->by_site[i].lanes;
    return (double)n;
}

/* ---- the site to blame ---- */

static const struct access_site *site_of(const struct counts *c, int i)
{
    return &c->scope.site[i];
}

static const char *array_of(const struct counts *c, int i)
{
    int a = site_of(c, i)->array;
    return a >= 0 ? c->scope.array[a].name : "";
}

static double cost_requests(const struct counts *c, int i)
{
    return accesses_global(site_of(c, i)->kind) ? (double)c->by_site[i].requests : 0;
}

static double cost_loads(const struct counts *c, int i)
{
    enum access_kind k = site_of(c, i)->kind;
    return k == ACCESS_LOAD || k == ACCESS_TEXTURE ? (double)c->by_site[i].requests : 0;
}

static double cost_atomics(const struct counts *c, int i)
{
    return site_of(c, i)->kind == ACCESS_ATOMIC ? (double)c->by_site[i].requests : 0;
}

/* The sectors that the lanes do not use; an access that uses all of its sectors is the last to blame. */
static double cost_sectors(const struct counts *c, int i)
{
    const struct tally *t = &c->by_site[i];
    if (!accesses_global(site_of(c, i)->kind)) return 0;
    return (double)t->sectors - (double)t->bytes / SECTOR_BYTES + 1e-6 * (double)t->sectors;
}

static double cost_lanes(const struct counts *c, int i)
{
    return (double)(LANES * c->by_site[i].requests - c->by_site[i].lanes);
}

static double cost_steps(const struct counts *c, int i)
{
    return (double)c->by_site[i].requests;
}

static double cost_wavefronts(const struct counts *c, int i)
{
    const struct tally *t = &c->by_site[i];
    return accesses_shared(site_of(c, i)->kind)
               ? (double)(t->wavefronts - t->wavefronts_least) + 1e-6 * (double)t->wavefronts
               : 0;
}

static double cost_shared(const struct counts *c, int i)
{
    return accesses_shared(site_of(c, i)->kind) ? (double)c->by_site[i].requests : 0;
}

static double cost_collectives(const struct counts *c, int i)
{
    return site_of(c, i)->kind == ACCESS_COLLECTIVE ? (double)c->by_site[i].requests : 0;
}

static double cost_atomic_lanes(const struct counts *c, int i)
{
    return is_atomic(site_of(c, i)->kind) ? (double)c->by_site[i].lanes : 0;
}

static double cost_barriers(const struct counts *c, int i)
{
    return site_of(c, i)->kind == ACCESS_BARRIER ? (double)c->by_site[i].requests : 0;
}

/* ---- what the site does ---- */

/* "the load of val", "__shfl_down_sync" */
static void say_site(const struct counts *c, int i, char *out, size_t size)
{
    const struct access_site *at = site_of(c, i);
    if (at->array >= 0)
        text_append(out, size, "the %s of %s", access_names[at->kind], array_of(c, i));
    else
        text_append(out, size, "%s", at->what ? at->what : access_names[at->kind]);
}

static void say_requests(const struct counts *c, int i, char *out, size_t size)
{
    say_site(c, i, out, size);
    text_append(out, size, " makes %s", how_many(c->by_site[i].requests, "request").text);
}

static void say_sectors(const struct counts *c, int i, char *out, size_t size)
{
    const struct tally *t = &c->by_site[i];
    double used = t->sectors ? 100.0 * (double)t->bytes / (SECTOR_BYTES * (double)t->sectors) : 0;
    say_site(c, i, out, size);
    text_append(out, size, " requests %s, %.1f per request; the lanes use %.0f %% of their bytes",
                how_many(t->sectors, "sector").text, t->requests ? (double)t->sectors / (double)t->requests : 0, used);
    if (t->refetched * 10 > t->sectors)
        text_append(out, size, ", and %.0f %% were requested before",
                    100.0 * (double)t->refetched / (double)t->sectors);
}

static void say_lanes(const struct counts *c, int i, char *out, size_t size)
{
    const struct tally *t = &c->by_site[i];
    say_site(c, i, out, size);
    text_append(out, size, " has %.1f active lanes of %d, in %s",
                t->requests ? (double)t->lanes / (double)t->requests : 0, +LANES,
                how_many(t->requests, "request").text);
}

static void explain_occupancy(const struct lab_report *r, char *out, size_t size)
{
    text_append(out, size, "a multiprocessor holds %s of %s and %s of shared memory: %s limit%s it",
                how_many(r->resident_blocks, "block").text, how_many(r->block_threads, "thread").text,
                how_many(r->block_shared_bytes, "byte").text, r->occupancy_by,
                r->occupancy_by[strlen(r->occupancy_by) - 1] == 's' ? "" : "s");
}

static void say_atomic_lanes(const struct counts *c, int i, char *out, size_t size)
{
    say_site(c, i, out, size);
    text_append(out, size, " is done by %s", how_many(c->by_site[i].lanes, "lane").text);
}

static void say_wavefronts(const struct counts *c, int i, char *out, size_t size)
{
    const struct tally *t = &c->by_site[i];
    char least[32];
    say_site(c, i, out, size);
    text_append(out, size, " needs %s, and %s without bank conflicts", how_many(t->wavefronts, "wavefront").text,
                show_count(t->wavefronts_least, least, sizeof least));
}

/* ---- the table ---- */

static const struct goal_quantity quantities[] = {
    {"sectors", "sectors", get_sectors, cost_sectors, say_sectors},
    {"requests", "requests", get_requests, cost_requests, say_requests},
    {"loads", "loads", get_loads, cost_loads, say_requests},
    {"atomics", "atomics", get_atomics, cost_atomics, say_requests},
    {"additions", NULL, get_atomic_lanes, cost_atomic_lanes, say_atomic_lanes, .about = "atomics, counted by lane"},
    {"lanes", "active_lanes", get_active_lanes, cost_lanes, say_lanes, .least = true},
    {"steps", "steps", get_steps, cost_steps, say_requests},
    {"longest", "longest_warp", get_longest_warp, cost_steps, say_requests},
    {"wavefronts", "wavefronts", get_wavefronts, cost_wavefronts, say_wavefronts},
    {"shared", "shared_requests", get_shared_requests, cost_shared, say_requests},
    {"collectives", "collectives", get_collectives, cost_collectives, say_requests},
    {"barriers", "barriers", get_barriers, cost_barriers, say_requests},
    {"time", "predicted_us", get_predicted_us, cost_sectors, say_sectors},
    {"compiled", NULL, get_compiled, cost_requests, say_requests, .about = "global requests, as compiled",
     .as_compiled = true},
    {"local", NULL, .about = "local memory per thread, bytes", .local = true},
    {"occupancy", NULL, get_occupancy, .explain = explain_occupancy, .least = true, .about = "occupancy, %"},
};

const struct goal_quantity *goal_quantity_find(const char *name)
{
    for (int i = 0; i < COUNT(quantities); i++)
        if (!strcmp(quantities[i].name, name)) return &quantities[i];
    return NULL;
}

static const struct field *field_of(const struct goal_quantity *q)
{
    const struct field *d = q->key ? row_field(&row_try_report, q->key) : NULL;
    return d || !q->key ? d : row_field(&row_try_kernel, q->key);
}

char *goal_quantity_about(const struct goal_quantity *q, char *out, size_t size)
{
    const struct field *d = field_of(q);
    if (d) return field_title(d, out, size);
    snprintf(out, size, "%s", q->about);
    return out;
}

bool goal_quantity_is_integer(const struct goal_quantity *q)
{
    const struct field *d = field_of(q);
    return !d || (d->kind & F_KIND) == F_COUNT;
}

void goal_quantity_names(char *out, size_t size)
{
    *out = 0;
    for (int i = 0; i < COUNT(quantities); i++) text_append(out, size, "%s%s", i ? ", " : "", quantities[i].name);
}

char *goal_limit(const struct goal *g, char *out, size_t size)
{
    char number[40];
    if (g->than)
        snprintf(out, size, "< %s", g->than->name);
    else if (!goal_quantity_is_integer(g->of))
        snprintf(out, size, "%s %g", g->of->least ? ">=" : "<=", g->limit);
    else
        snprintf(out, size, "%s %s", g->of->least ? ">=" : "<=", show_count((int64_t)g->limit, number, sizeof number));
    return out;
}
