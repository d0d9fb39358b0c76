/* count: the memory traffic of whole kernels on the emulator: requests, sectors, active lanes, balance. */
#include "advice/predicted.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/text.h"
#include "count_rows.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "microscope/row_sample.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/product.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ACCESSES_MAX: the default limit on watched accesses. The emulator takes 20 to 50 ns to watch one lane's access.
   SMALL: matrices with fewer accesses are watched completely. ROWS_MAX: the limit on least_accesses for kernels that
   take work dynamically, which run on one host thread. */
enum { ACCESSES_MAX = 30 * 1000 * 1000, SMALL = 1000 * 1000, ROWS_MAX = 3 * 1000 * 1000 };
/* The accesses of kernels whose blocks depend on one another are 1.5 to 4 times the lower bound. */
enum { OF_TOGETHER = 3 };
enum { AUTOMATIC = -1 }; /* the number of blocks is chosen automatically */

struct count_request {
    struct matrix *matrix;
    struct device *emu;
    enum precision real;
    const int64_t *param; /* NULL: the defaults */
    int64_t sample;       /* blocks per launch; 0: all; or AUTOMATIC */
};

/* ---- how many blocks to watch ---- */

/* Sets *sample to the blocks to watch, as count_kernel takes it, so that the accesses stay below the limit. For a large
   matrix, the accesses are estimated from a few blocks. If blocks depend on one another, all blocks would run for these
   few, too; a multiple of the lower bound then replaces them. */
static bool choose_sample(const struct kernel *k, const struct mat *M, struct watch *watch, struct counts *c,
                          int64_t *sample, struct err *e)
{
    double all = least_accesses(M->of);
    *sample = 0;
    if (all < SMALL) return true;
    if (k->together && !k->remote)
        all *= OF_TOGETHER;
    else if (!pilot_accesses(k, M, watch, c, &all, e))
        return false;
    if (all > ACCESSES_MAX) *sample = -(int64_t)ceil(all / ACCESSES_MAX);
    return true;
}

static bool count_blocks(const struct kernel *k, const struct mat *M, int64_t sample, struct watch *watch,
                         struct counts *c, struct err *e)
{
    if (k->shares) sample = 0; /* one block may do all of the work, and another block none */
    if (sample == AUTOMATIC && !choose_sample(k, M, watch, c, &sample, e)) return false;
    return count_kernel(k, M, sample, NULL, watch, c, e);
}

static bool count_rows(const struct csr *A, const struct kernel *k, const struct mat *M, struct watch *watch,
                       struct counts *c, struct err *e)
{
    struct row_sample r;
    if (!row_sample_take(&r, k, A, M, ROWS_MAX / least_accesses(M->of), watch, e)) return false;
    bool ok = count_kernel(k, &r.M, 0, NULL, watch, c, e);
    if (ok) row_sample_scale_counts(&r, M, c);
    row_sample_free(&r);
    return ok;
}

static bool count_one(struct session *s, const struct count_request *w, const struct kernel *k, struct counts *c,
                      struct err *e)
{
    if (!kernel_runs_on(k, w->emu))
        return fail(e, E_UNSUPPORTED,
                    "%s does not run on the emulator, so it cannot be counted; `kernels` shows where kernels run",
                    k->name);
    struct product *p = session_product(s, form_for(w->matrix, k, w->param, w->real, 0), e);
    if (!p) refusal_without_force(e, k->format->name, w->real, true);
    struct mat *M = p ? session_mat(s, p, w->emu, e) : NULL;
    if (!M) return false;
    bool by_rows = w->sample == AUTOMATIC && row_sample_needed(k, M->of, ROWS_MAX);
    bool ok =
        by_rows ? count_rows(&w->matrix->csr, k, M, &s->watch, c, e) : count_blocks(k, M, w->sample, &s->watch, c, e);
    return ok;
}

/* ---- results from the counts ---- */

static double scale_of(const struct counts *c, int l)
{
    const struct scope_launch *at = &c->scope.launch[l];
    return at->seen ? (double)at->blocks / (double)at->seen : 0;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void add(struct tally *to, struct tally t)
{
    tally_add(to, &t, 1);
}

/* The sum over the access kinds `from` to `to`; array -1 stands for all arrays. */
static struct tally tally_of(const struct counts *c, enum access_kind from, enum access_kind to, int array)
{
    struct tally sum = {0};
    for (int t = (int)from; t <= (int)to; t++) add(&sum, counts_of(c, (enum access_kind)t, array, -1));
    return sum;
}

struct totals {
    int64_t blocks, seen, warps, steps;
    double active;           /* mean active lanes per step */
    double longest_warp;     /* steps of the longest warp / mean steps of a warp, in the launch with the most steps */
    double largest_block;    /* sectors of the largest block / mean sectors of a block, in the same launch */
    double busy;             /* mean share of a block's steps during which a warp is still running */
    double gather;           /* sectors of x per nonzero */
    bool of_blocks, of_rows; /* a sample of the blocks, or of the rows, was watched */
    struct tally global, shared;
};

static double gather_of(const struct counts *c)
{
    int64_t sectors = 0;
    for (int a = 0; a < c->scope.narrays; a++)
        if (c->scope.array[a].role == ROLE_X)
            sectors += counts_of(c, ACCESS_LOAD, a, -1).sectors + counts_of(c, ACCESS_TEXTURE, a, -1).sectors;
    return ratio((double)sectors, (double)c->scope.of->nnz);
}

/* The balance in the launch with the most steps; the balance of a launch that only cleans up would be meaningless. */
static void balance_of(const struct counts *c, struct totals *t)
{
    int most = 0;
    double steps = -1;
    t->longest_warp = t->largest_block = t->busy = NAN;
    if (c->scope.kernel->shares)
        return; /* on the emulator, the first block does all the work of a kernel that takes work dynamically */
    for (int l = 0; l < c->scope.nlaunches; l++) {
        double all = (double)c->launch[l].steps * scale_of(c, l);
        if (all > steps) most = l, steps = all;
    }
    const struct launch_counts *l = &c->launch[most];
    double seen = (double)c->scope.launch[most].seen, warps = (double)l->warps;
    t->longest_warp = ratio((double)l->longest_warp * warps, (double)l->steps);
    t->largest_block = ratio((double)l->sectors_most * seen, l->sectors_sum);
    t->busy = ratio((double)l->steps, (double)l->longest_block * ratio(warps, seen));
}

static struct totals totals_of(const struct counts *c)
{
    struct totals t = {.of_rows = c->rows_seen < c->scope.rows};
    double steps = 0, active = 0, warps = 0;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        const struct scope_launch *at = &c->scope.launch[l];
        t.blocks += at->blocks;
        t.seen += at->seen;
        t.of_blocks |= at->seen < at->blocks;
        warps += (double)c->launch[l].warps * scale_of(c, l);
        steps += (double)c->launch[l].steps * scale_of(c, l);
        active += (double)c->launch[l].active * scale_of(c, l);
    }
    t.warps = (int64_t)(warps + 0.5);
    t.steps = (int64_t)(steps + 0.5);
    t.active = ratio(active, steps);
    t.gather = gather_of(c);
    t.global = tally_of(c, ACCESS_LOAD, ACCESS_TEXTURE, -1);
    t.shared = tally_of(c, ACCESS_SHARED_LOAD, ACCESS_SHARED_ATOMIC, -1);
    balance_of(c, &t);
    return t;
}

/* ---- JSON ---- */

static void out_tally(struct out *o, const struct tally *t)
{
    out_int(o, "requests", NULL, t->requests);
    out_int(o, "lanes", NULL, t->lanes);
    out_int(o, "sectors", NULL, t->sectors);
    out_int(o, "bytes_useful", NULL, t->bytes - t->padding);
    out_int(o, "bytes_padding", NULL, t->padding);
    out_int(o, "sectors_again", NULL, t->refetched);
    out_int(o, "contended", NULL, t->contended);
    out_int(o, "elided", NULL, t->elided);
}

static void out_arrays(struct out *o, const struct counts *c)
{
    out_list(o, "arrays");
    for (int a = 0; a < c->scope.narrays; a++) {
        struct tally t = tally_of(c, ACCESS_LOAD, ACCESS_TEXTURE, a);
        if (c->scope.array[a].shared || !out_within(o, "arrays")) continue;
        out_str(o, "name", NULL, c->scope.array[a].name);
        out_int(o, "elements", NULL, c->scope.array[a].n);
        out_int(o, "element_bytes", NULL, c->scope.array[a].size);
        out_tally(o, &t);
    }
    out_list(o, "shared_arrays");
    for (int a = 0; a < c->scope.narrays; a++) {
        struct tally t = tally_of(c, ACCESS_SHARED_LOAD, ACCESS_SHARED_ATOMIC, a);
        if (!c->scope.array[a].shared || !out_within(o, "shared_arrays")) continue;
        out_str(o, "name", NULL, c->scope.array[a].name);
        out_int(o, "requests", NULL, t.requests);
        out_int(o, "turns", NULL, t.wavefronts);
        out_int(o, "turns_least", NULL, t.wavefronts_least);
    }
    out_without(o);
}

static void out_touches(struct out *o, const struct counts *c)
{
    struct tally load = counts_of(c, ACCESS_LOAD, -1, -1), store = counts_of(c, ACCESS_STORE, -1, -1);
    struct tally atomic = counts_of(c, ACCESS_ATOMIC, -1, -1), texture = counts_of(c, ACCESS_TEXTURE, -1, -1);
    out_int(o, "load_requests", NULL, load.requests);
    out_int(o, "load_sectors", NULL, load.sectors);
    out_int(o, "texture_requests", NULL, texture.requests);
    out_int(o, "texture_sectors", NULL, texture.sectors);
    out_int(o, "store_requests", NULL, store.requests);
    out_int(o, "store_sectors", NULL, store.sectors);
    out_int(o, "atomic_requests", NULL, atomic.requests);
    out_int(o, "atomic_sectors", NULL, atomic.sectors);
    out_int(o, "atomics_contended", NULL, atomic.contended);
}

/* ---- by lines of the source ---- */

struct line_counts {
    const struct access_site *site;
    struct tally t;
};

static bool same_line(const struct access_site *a, const struct access_site *b)
{
    return a->line == b->line && a->kind == b->kind && a->array == b->array && !strcmp(a->file, b->file) &&
           (a->what == b->what || (a->what && b->what && !strcmp(a->what, b->what)));
}

/* Sort by sectors, then by shared-memory wavefronts, then by requests, the largest number first. */
static int worse(const void *a, const void *b)
{
    const struct tally *x = &((const struct line_counts *)a)->t, *y = &((const struct line_counts *)b)->t;
    if (x->sectors != y->sectors) return x->sectors < y->sectors ? 1 : -1;
    if (x->wavefronts != y->wavefronts) return x->wavefronts < y->wavefronts ? 1 : -1;
    return (x->requests < y->requests) - (x->requests > y->requests);
}

static int lines_of(const struct counts *c, struct line_counts line[SCOPE_SITES])
{
    int n = 0;
    for (int p = 0; p < c->scope.nsites; p++) {
        const struct access_site *place = &c->scope.site[p];
        struct tally t = c->by_site[p];
        double scale = scale_of(c, place->launch);
        if (!t.requests && !t.elided) continue;
        for (size_t k = 0; k < sizeof t / sizeof(int64_t); k++)
            ((int64_t *)&t)[k] = (int64_t)((double)((int64_t *)&t)[k] * scale + 0.5);
        int k = 0;
        while (k < n && !same_line(line[k].site, place)) k++;
        if (k == n) line[n++] = (struct line_counts){.site = place};
        add(&line[k].t, t);
    }
    if (n > 1) qsort(line, (size_t)n, sizeof *line, worse);
    return n;
}

/* The source line of an access site, without its leading blanks. */
static char *source_text(const struct access_site *p, char *out, size_t size)
{
    int length = 0;
    const char *text = kernel_source_line(p->file, p->line, &length);
    while (text && length > 0 && *text == ' ') text++, length--;
    snprintf(out, size, "%.*s", text ? length : 0, text ? text : "");
    return out;
}

static const char *touched(const struct counts *c, const struct access_site *p)
{
    return p->array < 0 ? NULL : c->scope.array[p->array].name;
}

static void list_lines(struct out *o, const struct counts *c)
{
    struct line_counts line[SCOPE_SITES];
    char text[160];
    int n = lines_of(c, line);
    out_list(o, "lines");
    for (int k = 0; k < n && out_within(o, "lines"); k++) {
        const struct access_site *p = line[k].site;
        out_str(o, "file", NULL, p->file);
        out_int(o, "line", NULL, p->line);
        out_str(o, "touch", NULL, access_names[p->kind]);
        out_str(o, "array", NULL, touched(c, p));
        out_tally(o, &line[k].t);
        out_int(o, "turns", NULL, line[k].t.wavefronts);
        out_int(o, "turns_least", NULL, line[k].t.wavefronts_least);
        out_str(o, "source", NULL, source_text(p, text, sizeof text));
    }
    out_without(o);
}

/* Text and CSV. */
static void table_lines(struct out *o, const struct counts *c)
{
    struct line_counts line[SCOPE_SITES];
    char text[160];
    int n = lines_of(c, line);
    bool shares = tally_of(c, ACCESS_SHARED_LOAD, ACCESS_SHARED_ATOMIC, -1).requests > 0;
    bool elides = tally_of(c, ACCESS_LOAD, ACCESS_TEXTURE, -1).elided > 0;
    for (int k = 0; k < n; k++) {
        const struct access_site *p = line[k].site;
        const struct tally *t = &line[k].t;
        bool global = accesses_global(p->kind), shared = accesses_shared(p->kind);
        out_row(o);
        snprintf(text, sizeof text, "%s:%d", p->file, p->line);
        out_str(o, "where", "line", text);
        out_str(o, "touch", "does", access_names[p->kind]);
        out_str(o, "array", "array", touched(c, p));
        out_int(o, "requests", "requests", t->requests);
        out_int(o, "elided", elides ? "elided" : NULL, t->elided);
        out_num(o, "lanes_mean", "lanes", ratio((double)t->lanes, (double)t->requests), "%.1f");
        out_int_if(o, "sectors", "sectors", global, t->sectors);
        out_num(o, "sectors_a_request", "each", global ? ratio((double)t->sectors, (double)t->requests) : NAN, "%.1f");
        out_int_if(o, "turns", shares ? "wavefronts" : NULL, shared, t->wavefronts);
        out_rank(o, COLUMN_ANSWER);
        out_str(o, "source", "source", source_text(p, text, sizeof text));
    }
}

/* ---- one kernel, as a table row or as a record ---- */

static const char *of_all(int64_t seen, int64_t all, char *out, size_t size)
{
    char few[40], most[40];
    snprintf(out, size, seen < all ? "%s of %s" : "%s, all", show_count(seen, few, sizeof few),
             show_count(all, most, sizeof most));
    return out;
}

static void out_balance(struct out *o, const struct totals *t, bool at_length)
{
    out_num(o, "active_mean", at_length ? "active lanes, of 32" : "lanes", t->active, "%.1f");
    out_num(o, "longest_warp", at_length ? "longest warp / mean" : NULL, t->longest_warp, "%.2f");
    out_num(o, "largest_block", at_length ? "largest block / mean" : "block", t->largest_block, "%.2f");
    out_num(o, "busy_percent", at_length ? "warps still running in their block %" : NULL, 100 * t->busy, "%.1f");
}

static void out_bytes_of(struct out *o, const struct totals *t, bool at_length)
{
    double fetched = (double)t->global.sectors * SECTOR;
    int64_t useful = t->global.bytes - t->global.padding;
    out_int(o, "sectors", at_length ? NULL : "sectors", t->global.sectors);
    out_bytes(o, "bytes_asked", at_length ? "bytes fetched" : NULL, t->global.sectors * SECTOR);
    out_bytes(o, "bytes_useful", NULL, useful);
    out_bytes(o, "bytes_padding", NULL, t->global.padding);
    out_bytes(o, "bytes_again", NULL, t->global.refetched * SECTOR);
    out_num(o, "useful_percent", at_length ? "of them used %" : "used %", 100 * ratio((double)useful, fetched), "%.1f");
    out_num(o, "padding_percent", at_length ? "padding %" : "pad %", 100 * ratio((double)t->global.padding, fetched),
            "%.1f");
    out_num(o, "again_percent", at_length ? "fetched before %" : "refetched %",
            100 * ratio((double)t->global.refetched * SECTOR, fetched), "%.1f");
    out_num(o, "gather_sectors", at_length ? "sectors of x per nonzero" : "x/nz", t->gather, "%.3f");
}

static void out_shared(struct out *o, const struct totals *t, bool at_length)
{
    bool any = at_length && t->shared.requests;
    out_int(o, "shared_requests", any ? "shared-memory requests" : NULL, t->shared.requests);
    out_int(o, "shared_turns", any ? "shared-memory wavefronts" : NULL, t->shared.wavefronts);
    out_int(o, "shared_turns_least", any ? "without bank conflicts" : NULL, t->shared.wavefronts_least);
}

static void out_error_of(struct out *o, double error, const char *heading)
{
    out_num(o, "error_percent", heading, 100 * error, "%.2f");
}

/* How a kernel is reported. */
struct how {
    bool at_length; /* print a record, not a row of a table */
    bool lines;     /* also print the lines of the kernel's source */
    bool sampled;   /* the table lists a kernel whose blocks were sampled, so it needs a column for the error */
};

static void out_count(struct out *o, const struct matrix *m, enum precision real, const struct counts *c,
                      struct how how)
{
    bool at_length = how.at_length;
    struct totals t = totals_of(c);
    char text[100];
    double error = t.of_rows ? NAN : counts_error(c);
    out_str(o, "kernel", "kernel", c->scope.kernel->name);
    out_str(o, "matrix", at_length ? "matrix" : NULL, m->name);
    out_str(o, "format", NULL, c->scope.kernel->format->name);
    out_str(o, "precision", at_length ? "precision" : NULL, precision_of(&m->csr, real));
    out_int(o, "launches", at_length && c->scope.nlaunches > 1 ? "launches" : NULL, c->scope.nlaunches);
    if (out_mode(o) == OUT_TEXT && at_length) {
        out_str(o, NULL, "blocks watched", of_all(t.seen, t.blocks, text, sizeof text));
        if (t.of_rows) out_str(o, NULL, "rows watched", of_all(c->rows_seen, c->scope.rows, text, sizeof text));
    }
    out_int(o, "blocks", NULL, t.blocks);
    out_int(o, "blocks_seen", NULL, t.seen);
    out_int(o, "rows_seen", NULL, c->rows_seen);
    if (at_length) out_error_of(o, error, t.of_blocks ? "error of the sectors, 95 % +- %" : NULL);
    out_int(o, "warps", at_length ? "warps" : NULL, t.warps);
    out_int(o, "steps", at_length ? "steps of all warps" : NULL, t.steps);
    out_balance(o, &t, at_length);
    out_bytes_of(o, &t, at_length);
    if (!at_length) out_error_of(o, error, how.sampled ? "+- %" : NULL);
    out_touches(o, c);
    out_shared(o, &t, at_length);
    out_time(o, "emulation_us", NULL, c->us);
    out_int(o, "accesses", NULL, c->accesses);
    out_arrays(o, c);
    if (how.lines)
        list_lines(o, c);
    else if (out_mode(o) != OUT_CSV)
        out_str(o, "lines", NULL, NULL);
    out_fitting(o, NULL);
}

/* In text and CSV, print the accesses to each array. */
static void table_arrays(struct out *o, const struct counts *c)
{
    bool shares = tally_of(c, ACCESS_SHARED_LOAD, ACCESS_SHARED_ATOMIC, -1).requests > 0;
    bool adds = counts_of(c, ACCESS_ATOMIC, -1, -1).requests > 0;
    bool elides = tally_of(c, ACCESS_LOAD, ACCESS_TEXTURE, -1).elided > 0;
    for (int a = 0; a < c->scope.narrays; a++)
        for (int touch = 0; touch < ACCESS_COLLECTIVE; touch++) {
            struct tally t = counts_of(c, (enum access_kind)touch, a, -1);
            bool global = accesses_global((enum access_kind)touch);
            if (!t.requests && !t.elided) continue;
            double fetched = global ? (double)t.sectors * SECTOR : NAN;
            out_row(o);
            out_str(o, "array", "array", c->scope.array[a].name);
            out_str(o, "touch", "does", access_names[touch]);
            out_int(o, "requests", "requests", t.requests);
            out_int(o, "elided", elides ? "elided" : NULL, t.elided);
            out_rank(o, COLUMN_DETAIL);
            out_num(o, "lanes_mean", "lanes", ratio((double)t.lanes, (double)t.requests), "%.1f");
            out_rank(o, COLUMN_NORMAL);
            out_int_if(o, "sectors", "sectors", global, t.sectors);
            out_num(o, "sectors_a_request", "each", global ? ratio((double)t.sectors, (double)t.requests) : NAN,
                    "%.2f");
            out_num(o, "useful_percent", "used %", 100 * ratio((double)(t.bytes - t.padding), fetched), "%.1f");
            out_rank(o, COLUMN_DETAIL);
            out_num(o, "padding_percent", "pad %", 100 * ratio((double)t.padding, fetched), "%.1f");
            out_rank(o, COLUMN_NORMAL);
            out_num(o, "again_percent", "refetched %", 100 * ratio((double)t.refetched * SECTOR, fetched), "%.1f");
            out_int_if(o, "turns", shares ? "wavefronts" : NULL, !global, t.wavefronts);
            out_int_if(o, "contended", adds ? "contended" : NULL, touch == ACCESS_ATOMIC, t.contended);
        }
}

/* Print the legend: of the table of all kernels if `table` is set, otherwise of the report on one kernel. */
static void remarks(struct out *o, bool table, bool blocks, bool rows)
{
    out_prose(
        o,
        table ? "lanes: active lanes per step, of 32; block: sectors of the largest block / mean; used/pad/refetched:\n"
                "% of the bytes fetched that were used, were padding, or had been fetched before; x/nz: sectors of x\n"
                "per nonzero.\n"
              : "lanes: active lanes per request; each: 32-byte sectors per request; used/pad/refetched: %\n"
                "of the bytes fetched that were used, were padding, or had been fetched before in this launch\n"
                "(and may still be in a cache).\n");
    if (blocks)
        out_prose(o, "Blocks were sampled: the numbers are estimates, `refetched` is a lower bound, and an\n"
                     "atypical block may be missed; `count KERNEL all` covers every block.\n");
    if (rows)
        out_prose(o, "Kernels whose blocks take rows dynamically ran on a sample of the rows, in runs of 256: their\n"
                     "numbers are estimates, and `refetched` is a lower bound; `count KERNEL all` covers every row.\n");
}

static bool count_named(struct session *s, const struct count_request *w, const struct kernel *k, bool lines,
                        struct err *e)
{
    struct counts *c = mem_zero(1, sizeof *c, "the counts", e);
    bool ok = c && count_one(s, w, k, c, e);
    if (ok) {
        out_record(s->out);
        out_count(s->out, w->matrix, w->real, c, (struct how){.at_length = true, .lines = lines});
        if (out_mode(s->out) != OUT_JSON) (lines ? table_lines : table_arrays)(s->out, c);
        struct totals t = totals_of(c);
        say_counted_as(s->out, k);
        remarks(s->out, false, t.of_blocks, t.of_rows);
        if (counts_of(c, ACCESS_ATOMIC, -1, -1).contended)
            out_prose(
                s->out,
                "Atomics of several lanes at one address are serialised; each atomic requests its sectors again.\n");
    }
    mem_free(c);
    return ok;
}

/* ---- all kernels ---- */

struct refused {
    const struct kernel *kernel;
    char why[sizeof((struct err *)0)->text];
};
struct all_counts {
    struct counts *c;
    struct refused *no;
    int n, nno;
};

static void out_refused(struct out *o, const struct count_request *w, const struct refused *no)
{
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%s: %s", no->kernel->name, no->why);
        return;
    }
    out_row(o);
    out_str(o, "kernel", NULL, no->kernel->name);
    out_str(o, "matrix", NULL, w->matrix->name);
    out_str(o, "format", NULL, no->kernel->format->name);
    out_str(o, "precision", NULL, precision_of(&w->matrix->csr, w->real));
    out_fitting(o, no->why);
}

/* Count the next kernel. If only this kernel fails, record the failure and return true. If this function
   returns false, the command ends. */
static bool count_next(struct session *s, const struct count_request *w, const struct kernel *k, struct all_counts *all,
                       struct err *e)
{
    struct err why = {0};
    if (count_one(s, w, k, &all->c[all->n], &why)) {
        all->n++;
        return true;
    }
    if (why.code != E_LIMIT && why.code != E_UNSUPPORTED) return fail_at(e, why.code, why.where, "%s", why.text);
    struct refused *no = &all->no[all->nno++];
    no->kernel = k;
    snprintf(no->why, sizeof no->why, "%s", reason_without_name(k->name, why.text));
    return true;
}

static int by_sectors(const void *a, const void *b)
{
    int64_t x = tally_of(a, ACCESS_LOAD, ACCESS_TEXTURE, -1).sectors;
    int64_t y = tally_of(b, ACCESS_LOAD, ACCESS_TEXTURE, -1).sectors;
    return (x > y) - (x < y);
}

static bool count_all(struct session *s, const struct count_request *w, bool lines, struct err *e)
{
    int n = registry_count(&kernel_registry);
    bool blocks = false, rows = false;
    struct all_counts all = {.c = mem_new(n, sizeof *all.c, "the counts", e)};
    all.no = all.c ? mem_new(n, sizeof *all.no, "the counts", e) : NULL;
    bool ok = all.no != NULL;
    for (int i = 0; ok && kernels[i]; i++)
        if (kernel_runs_on(kernels[i], w->emu)) ok = count_next(s, w, kernels[i], &all, e);
    if (all.no) qsort(all.c, (size_t)all.n, sizeof *all.c, by_sectors);
    for (int i = 0; i < all.n; i++) {
        struct totals t = totals_of(&all.c[i]);
        blocks |= t.of_blocks;
        rows |= t.of_rows;
    }
    for (int i = 0; i < all.n; i++) {
        out_row(s->out);
        out_count(s->out, w->matrix, w->real, &all.c[i], (struct how){.lines = lines, .sampled = blocks});
    }
    if (all.n) remarks(s->out, true, blocks, rows);
    for (int i = 0; i < all.nno; i++) out_refused(s->out, w, &all.no[i]);
    mem_free(all.c);
    mem_free(all.no);
    return ok;
}

static bool run_count(struct session *s, const struct args *a, struct err *e)
{
    const struct kernel *k = arg(a, "kernel") ? kernel_find(arg(a, "kernel")) : NULL;
    int64_t param[PARAMS_MAX], sample = arg_int(a, "sample", AUTOMATIC);
    struct count_request w = {.matrix = session_matrix(s, arg(a, "of"), e), .real = arg_precision(a), .sample = sample};
    if (!w.matrix) return false;
    w.real = precision_of_values(w.real, w.matrix->csr.imag != NULL);
    if (arg(a, "sample") && sample < 1)
        return fail(e, E_USAGE, "`sample %lld` is too few blocks: give 1 or more, or `all` for all blocks",
                    (long long)sample);
    if (arg(a, "sample") && arg_flag(a, "all")) return fail(e, E_USAGE, "give either `sample` or `all`, not both");
    if (arg_flag(a, "all") && k) w.sample = 0;
    if (k && !arg_params(a, k->format->params, param, e)) return false;
    if (!k && arg_count(a, "params")) return fail(e, E_USAGE, "parameters need a kernel: name it before them");
    if (k && arg_count(a, "params")) w.param = param;
    if (!(w.emu = session_device(s, "emu", e))) return false;
    return k ? count_named(s, &w, k, arg_flag(a, "lines"), e) : count_all(s, &w, arg_flag(a, "lines"), e);
}

const struct command command_count = {
    .name = "count",
    .grammar = "[GPU_KERNEL] [PARAMS] [[of] MATRIX] [f32|f64|[precision] PRECISION] [sample N] [all] [lines]",
    .about = "memory traffic of a kernel or of all kernels: requests, sectors, idle lanes, balance",
    .help = "The emulator runs the kernel's real source and counts what its warps do: memory requests, the 32-byte\n"
            "sectors they fetch, and how much of that is used, is padding, or was fetched before; active lanes per\n"
            "step; the longest warp and the largest block relative to the mean; bank conflicts (shared-memory\n"
            "wavefronts) and atomics at one address (contended). `lines` shows source lines instead of arrays, the\n"
            "most expensive first. Blocks of a large matrix are sampled, so that counting takes 1 to 2 s, and the\n"
            "error of the estimate is shown; `sample N` counts N blocks per launch, `all` counts every block. Kernels\n"
            "whose blocks share out the work dynamically (csr-light-warp) are counted on a sample of the rows.\n"
            "Without a kernel, all kernels that fit are counted, and the kernel with the fewest sectors comes first.\n"
            "PARAMS are the parameters of the kernel's format.\n"
            "    count csr-scalar; count csr-vector of A f32 lines\n"
            "    count; count sell 4 of A; count ell sample 100",
    .rows = count_row_kinds,
    .run = run_count,
    .sweeps = true,
};
