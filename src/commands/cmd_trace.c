/* trace: shows what the lanes of one warp do on the emulator, step by step, as a table, as JSON or CSV, or full
   screen. */
#include "advice/predicted.h"
#include "advice/traced.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/requests.h"
#include "lu/lu.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "microscope/tracing.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/holding.h"

#include <math.h>
#include <string.h>

enum { STEPS_SHOWN = 20 };

static const char *const state_names[] = {
    [LANE_ACTIVE] = "active", [LANE_WAITS] = "waits", [LANE_DONE] = "done", [LANE_IDLE] = "idle"};

/* ---- one step ---- */

enum { ELEMENTS_WIDE = 17 }; /* width that is left for the elements on a screen of 100 columns */

/* Append "0, 7, 2, ..." after "x[", with as many elements as fit on the line. */
static size_t list_elements(const struct request *r, char *out, size_t size, size_t used)
{
    for (uint32_t left = r->mask; left; left &= left - 1) {
        char one[24];
        size_t n = (size_t)snprintf(one, sizeof one, "%s%lld", left == r->mask ? "" : ", ",
                                    (long long)r->at[__builtin_ctz(left)]);
        size_t rest = left & (left - 1) ? strlen(", ...]") : strlen("]");
        if (left != r->mask && used + n + rest > ELEMENTS_WIDE)
            return used + (size_t)snprintf(out + used, size - used, ", ...");
        used += (size_t)snprintf(out + used, size - used, "%s", one);
    }
    return used;
}

/* The elements that the lanes access, in lane order, for example "val[0..31]" or "x[0, 7, 2, ...]". The text is "x[3]"
   if all lanes access the same element. */
static char *show_elements(const struct tracing *v, int64_t k, char *out, size_t size)
{
    const struct request *r = &v->t.step[k];
    int64_t first = r->at[__builtin_ctz(r->mask)], last = first;
    bool run = true, same = true;
    size_t used = (size_t)snprintf(out, size, "%s[", tracing_array(v, k));
    for (uint32_t left = r->mask & (r->mask - 1); left; left &= left - 1) {
        int64_t next = r->at[__builtin_ctz(left)];
        run &= next == last + 1;
        same &= next == first;
        last = next;
    }
    if (same || run)
        used +=
            (size_t)snprintf(out + used, size - used, same ? "%lld" : "%lld..%lld", (long long)first, (long long)last);
    else
        used = list_elements(r, out, size, used);
    snprintf(out + used, size - used, "]");
    return out;
}

/* What a step does, for example "load x", "__shfl_down_sync" or "barrier". */
static char *show_touch(const struct tracing *v, int64_t k, char *out, size_t size)
{
    const struct access_site *p = tracing_site(v, k);
    snprintf(out, size, "%s%s%s", p->what ? p->what : access_names[p->kind], *tracing_array(v, k) ? " " : "",
             tracing_array(v, k));
    return out;
}

static void out_head(struct out *o, const struct tracing *v)
{
    out_str(o, "matrix", NULL, v->matrix->name);
    out_str(o, "kernel", NULL, v->name);
    out_num(o, "lu_column", NULL, v->kernel ? NAN : (double)v->lu.column, NULL);
    out_num(o, "lu_b", NULL, v->kernel ? NAN : v->lu.b, NULL);
    out_str(o, "precision", NULL, precision_of(&v->matrix->csr, v->real));
    out_int(o, "launch", NULL, v->t.launch);
    out_int(o, "block", NULL, v->t.block);
    out_int(o, "warp", NULL, v->t.warp);
}

static void out_place(struct out *o, const struct tracing *v, int64_t k)
{
    const struct access_site *p = tracing_site(v, k);
    char text[80];
    out_int(o, "step", "step", k);
    out_str(o, "file", NULL, p->file);
    out_int(o, "line", NULL, p->line);
    out_int(o, "column", NULL, p->column);
    snprintf(text, sizeof text, "%s:%d:%d", p->file, p->line, p->column);
    out_rank(o, COLUMN_DETAIL);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "source", text);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, "touch", NULL, access_names[p->kind]);
    out_str(o, "what", NULL, p->what);
    out_str(o, "array", NULL, p->array < 0 ? NULL : tracing_array(v, k));
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "does", show_touch(v, k, text, sizeof text));
}

static void out_mask(struct out *o, const char *key, const char *heading, uint32_t mask)
{
    char text[16];
    snprintf(text, sizeof text, "%08x", mask);
    out_str(o, key, heading, text);
}

static void out_facts(struct out *o, const struct tracing *v, int64_t k)
{
    struct request_facts f;
    int which[2 * LANES];
    const struct access_site *p = tracing_site(v, k);
    bool global = accesses_global(p->kind), shared = accesses_shared(p->kind);
    facts_of(&v->t.scope, &v->t.step[k], &f);
    out_mask(o, "mask", "mask", v->t.step[k].mask);
    out_mask(o, "alive", NULL, tracing_alive(v, k));
    out_int(o, "lanes", "lanes", f.lanes);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "sectors", "sectors", global ? tracing_sectors(&f, which) : NAN, "%.0f");
    out_num(o, "segments", NULL, global ? tracing_segments(&f) : NAN, NULL);
    out_num(o, "sectors_counted", NULL, global ? f.nsectors : NAN, NULL);
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "sectors_again", "refetch", global ? __builtin_popcountll(v->step[k].refetched) : NAN, "%.0f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "bytes", "bytes", global || shared ? f.bytes : NAN, "%.0f");
    out_num(o, "padding", "padding", global ? f.padding : NAN, "%.0f");
    out_num(o, "turns", NULL, shared ? f.wavefronts : NAN, NULL);
    out_num(o, "turns_least", NULL, shared ? f.wavefronts_least : NAN, NULL);
    out_int(o, "contended", NULL, f.contended);
    double at[2 * LANES];
    for (int i = 0; i < f.nsectors; i++) at[i] = (double)(f.sector[i] * SECTOR - v->t.scope.array[p->array].base);
    out_nums(o, "sector_offsets", f.nsectors, at);
}

/* In JSON, print an array of 32 elements for each property of a lane's access. */
static void out_lanes(struct out *o, const struct tracing *v, int64_t k)
{
    const char *state[LANES];
    double index[LANES], row[LANES], col[LANES], padding[LANES];
    for (int l = 0; l < LANES; l++) {
        struct lane_at at = tracing_lane(v, k, l);
        state[l] = state_names[at.state];
        index[l] = at.has_index ? (double)at.index : NAN;
        row[l] = at.row < 0 ? NAN : (double)at.row;
        col[l] = at.col < 0 ? NAN : (double)at.col;
        padding[l] = at.padding;
    }
    out_strs(o, "lane_state", LANES, state);
    out_nums(o, "lane_index", LANES, index);
    out_nums(o, "lane_row", LANES, row);
    out_nums(o, "lane_col", LANES, col);
    out_nums(o, "lane_padding", LANES, padding);
}

/* In CSV, print one line per active lane. */
static void out_lines(struct out *o, const struct tracing *v, int64_t k)
{
    for (int l = 0; l < LANES; l++) {
        struct lane_at at = tracing_lane(v, k, l);
        if (at.state != LANE_ACTIVE) continue;
        out_row(o);
        out_head(o, v);
        out_place(o, v, k);
        out_facts(o, v, k);
        out_int(o, "lane", NULL, l);
        out_num(o, "index", NULL, at.has_index ? (double)at.index : NAN, NULL);
        out_num(o, "row", NULL, at.row < 0 ? NAN : (double)at.row, NULL);
        out_num(o, "col", NULL, at.col < 0 ? NAN : (double)at.col, NULL);
        out_bool(o, "padding_slot", NULL, at.padding);
    }
}

static void out_step_of(struct out *o, const struct tracing *v, int64_t k)
{
    char text[160] = "";
    if (out_mode(o) == OUT_CSV) {
        out_lines(o, v, k);
        return;
    }
    out_row(o);
    out_str(o, "kind", NULL, "step");
    out_head(o, v);
    out_place(o, v, k);
    out_facts(o, v, k);
    if (out_mode(o) == OUT_JSON) out_lanes(o, v, k);
    if (tracing_site(v, k)->array >= 0) show_elements(v, k, text, sizeof text);
    out_rank(o, COLUMN_ANSWER);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "elements", text);
}

/* ---- all steps ---- */

static double share(int64_t a, int64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

/* Print the totals as the last row in JSON. */
static void out_totals(struct out *o, const struct tracing *v, const struct trace_sums *t)
{
    out_row(o);
    out_str(o, "kind", NULL, "totals");
    out_head(o, v);
    out_int(o, "steps", NULL, t->steps);
    out_bool(o, "cut", NULL, v->t.cut);
    out_num(o, "active_mean", NULL, share(t->lanes, t->steps), NULL);
    out_int(o, "steps_apart", NULL, t->diverged);
    out_int(o, "requests", NULL, t->requests);
    out_int(o, "sectors", NULL, t->sectors);
    out_int(o, "sectors_counted", NULL, t->counted);
    out_int(o, "sectors_least", NULL, t->least);
    out_int(o, "sectors_again", NULL, t->refetched);
    out_num(o, "sectors_per_request", NULL, t->requests ? share(t->sectors, t->requests) : 0, NULL);
    out_int(o, "bytes_fetched", NULL, t->sectors * SECTOR);
    out_int(o, "bytes_useful", NULL, t->bytes - t->padding);
    out_int(o, "bytes_padding", NULL, t->padding);
    out_int(o, "bytes_unused", NULL, t->unused);
    out_int(o, "bytes_again", NULL, t->refetched * SECTOR);
    out_int(o, "turns", NULL, t->wavefronts);
    out_int(o, "turns_least", NULL, t->wavefronts_least);
    out_int(o, "contended", NULL, t->contended);
}

static void say_totals(struct out *o, const struct trace_sums *t)
{
    char a[32], b[32], d[32], f[32], g[32];
    out_text(o, "%s, %.1f of 32 lanes active on average; %s divergent", how_many(t->steps, "step").text,
             share(t->lanes, t->steps), show_count(t->diverged, a, sizeof a));
    if (t->requests)
        out_text(o, "%s to global memory, %s, %.2f per request (%s in total if perfectly coalesced)",
                 how_many(t->requests, "request").text, how_many(t->sectors, "sector").text,
                 share(t->sectors, t->requests), show_count(t->least, a, sizeof a));
    if (t->requests)
        out_text(o, "%s B fetched: useful %s, padding %s, unused %s; fetched again %s",
                 show_count(t->sectors * SECTOR, a, sizeof a), show_count(t->bytes - t->padding, b, sizeof b),
                 show_count(t->padding, d, sizeof d), show_count(t->unused, f, sizeof f),
                 show_count(t->refetched * SECTOR, g, sizeof g));
    if (t->wavefronts)
        out_text(o, "shared-memory wavefronts: %s (%s without bank conflicts)", show_count(t->wavefronts, a, sizeof a),
                 show_count(t->wavefronts_least, b, sizeof b));
    if (t->contended)
        out_text(o, "atomics: %s serialised, because other lanes use the same address",
                 how_many(t->contended, "lane").text);
    if (t->counted > t->sectors)
        out_text(o, "on a GPU, serialised atomics add %s: %s in total",
                 how_many(t->counted - t->sectors, "sector").text, show_count(t->counted, a, sizeof a));
}

/* "block 3 of 0..39", counted from 0 as in the table; "block 0" if there is only one block. */
static char *show_which(const char *what, int64_t k, int64_t n, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s %lld", what, (long long)k);
    if (n > 1) snprintf(out + used, size - used, " of 0..%lld", (long long)n - 1);
    return out;
}

enum { HEAD_MAX = 100 }; /* largest width of a line, in columns */

/* "csr-scalar on A, 9 nonzeros, fp64:" or "lu-paper on A, column 2 of 0..5, tiles of 8 x 8, fp64:" */
static void say_what(const struct tracing *v, char *out, size_t size)
{
    char column[64];
    if (v->kernel)
        snprintf(out, size, "%s on %s, %s, %s:", v->name, v->matrix->name, how_many(v->matrix->csr.nnz, "nonzero").text,
                 precision_of(&v->matrix->csr, v->real));
    else
        snprintf(out, size, "%s on %s, %s, tiles of %d x %d, %s:", v->name, v->matrix->name,
                 show_which("column", v->lu.column, v->matrix->csr.rows, column, sizeof column), v->lu.b, v->lu.b,
                 precision_of(&v->matrix->csr, v->real));
}

static void say_head(struct out *o, const struct tracing *v)
{
    const struct scope_launch *l = &v->t.scope.launch[v->t.launch];
    char launch[64], block[64], warp[64], what[256], where[320];
    say_what(v, what, sizeof what);
    snprintf(where, sizeof where, "%s, %s, %s, %s", tracing_function(v),
             show_which("launch", v->t.launch, v->t.scope.nlaunches, launch, sizeof launch),
             show_which("block", v->t.block, l->blocks, block, sizeof block),
             show_which("warp", v->t.warp, v->t.warps, warp, sizeof warp));
    if (strlen(what) + strlen(where) < HEAD_MAX) {
        out_text(o, "%s %s", what, where);
    } else {
        out_text(o, "%s", what);
        out_text(o, "%s", where);
    }
    if (!v->t.nsteps) out_text(o, "this warp has nothing to do: none of its lanes accesses memory");
    if (v->t.cut) out_text(o, "the warp has more steps: only the first %lld steps were kept", (long long)v->t.nsteps);
}

static void say(struct out *o, const struct tracing *v, int64_t from, int64_t to)
{
    say_head(o, v);
    for (int64_t k = from; k <= to; k++) out_step_of(o, v, k);
    if (to + 1 < v->t.nsteps)
        out_text(o, "... steps %lld onwards: add `step N to N`, or `view trace`", (long long)to + 1);
    if (v->t.nsteps && out_mode(o) == OUT_JSON) out_totals(o, v, &v->step[v->t.nsteps - 1].sums);
    if (v->t.nsteps && out_mode(o) == OUT_TEXT) say_totals(o, &v->step[v->t.nsteps - 1].sums);
}

void out_trace(struct out *o, const struct tracing *v)
{
    say(o, v, 0, v->t.nsteps - 1);
}

/* ---- arguments ---- */

static bool not_negative(const struct args *a, const char *key, int64_t most, int64_t *v, struct err *e)
{
    int64_t n = arg_int(a, key, *v);
    if (arg(a, key) && n < 0) return fail(e, E_USAGE, "`%s %lld` is negative: give 0 or more", key, (long long)n);
    if (n > most) return fail(e, E_USAGE, "`%s %lld` is outside 0 .. %lld", key, (long long)n, (long long)most);
    *v = n;
    return true;
}

/* The steps to show; an empty trace is not an error. */
static bool range_of(const struct args *a, struct out *o, const struct tracing *v, int64_t *from, int64_t *to,
                     struct err *e)
{
    int64_t last = v->t.nsteps - 1, many = out_mode(o) == OUT_TEXT ? STEPS_SHOWN : v->t.nsteps;
    *from = 0;
    *to = -1;
    if (last < 0 && !arg(a, "step") && !arg(a, "to")) return true;
    if (last < 0) return fail(e, E_USAGE, "this warp has no steps: it has nothing to do");
    if (!not_negative(a, "step", last, from, e)) return false;
    *to = arg(a, "step") ? *from : many - 1;
    if (!not_negative(a, "to", INT64_MAX, to, e)) return false;
    if (*to > last) *to = last;
    if (*to >= *from) return true;
    return fail(e, E_USAGE, "`to %lld` is outside %lld .. %lld", (long long)*to, (long long)*from, (long long)last);
}

/* `column` and `b` belong to LU methods. */
static bool lu_arguments(const struct args *a, struct trace_request *w, struct err *e)
{
    static const char *const words[] = {"column", "b"};
    int64_t b = 0;
    for (int i = 0; w->kernel && i < COUNT(words); i++)
        if (arg(a, words[i]))
            return fail(e, E_USAGE, "`%s` is for LU methods; %s is a kernel", words[i], w->kernel->name);
    if (w->kernel) return true;
    w->lu = (struct traced_lu){.method = lu_find(arg(a, "kernel")), .column = -1};
    if (!not_negative(a, "column", INT64_MAX, &w->lu.column, e) || !not_negative(a, "b", INT32_MAX, &b, e))
        return false;
    w->lu.b = (int)b;
    return b || !arg(a, "b") || fail(e, E_USAGE, "b is 0: give a power of two");
}

static bool begin(struct session *s, const struct args *a, struct err *e)
{
    struct trace_request w = {.matrix = session_matrix(s, arg(a, "of"), e), .real = arg_precision(a)};
    int64_t param[PARAMS_MAX], launch = -1, warp = 0;
    const struct lu_method *lu = arg(a, "kernel") ? lu_find(arg(a, "kernel")) : NULL;
    if (!w.matrix || (!lu && !(w.kernel = kernel_meant(s, a, w.matrix, e))) || !lu_arguments(a, &w, e)) return false;
    if (w.kernel && !arg_params(a, w.kernel->format->params, param, e)) return false;
    if (arg_count(a, "params")) w.param = param;
    if (!not_negative(a, "launch", INT32_MAX, &launch, e) || !not_negative(a, "warp", INT32_MAX, &warp, e) ||
        !not_negative(a, "block", INT64_MAX, &w.block, e))
        return false;
    w.launch = (int)launch;
    w.warp = (int)warp;
    if (tracing_begin(s, &w, e)) return true;
    if (w.kernel) refusal_without_force(e, w.kernel->format->name, w.real, true);
    return false;
}

static void go_to(struct tracing *v, int64_t step)
{
    SCREEN_EDIT;
    tracing_open(v, step);
}

static bool run_trace(struct session *s, const struct args *a, struct err *e)
{
    int64_t from, to;
    if (!begin(s, a, e) || !range_of(a, s->out, s->trace, &from, &to, e)) return false;
    go_to(s->trace, from);
    if (!arg_flag(a, "view")) return say(s->out, s->trace, from, to), true;
    if (!s->front || !s->front->show)
        return fail(e, E_UNSUPPORTED, "there is no screen to draw `trace` on; use warpspy --json to get its data");
    return s->front->show(s, "trace", true, e);
}

/* ---- the keys of the rows ---- */

static const struct field trace_step_fields[] = {
    {"kind", F_TEXT, "a step of the warp", .words = "step"},
    {"matrix", F_TEXT, "matrix that the kernel multiplies by, or that the LU method factors"},
    {"kernel", F_TEXT, "kernel, or LU method"},
    {"lu_column", F_COUNT | OR_NULL, "column of the factorisation that the launches do; null for kernels"},
    {"lu_b", F_COUNT | OR_NULL, "width of a tile of an LU method; null for kernels", .min = 1},
    {.include = &row_precision},
    {"launch", F_COUNT, "launch of the kernel, from 0"},
    {"block", F_COUNT, "thread block of the launch, from 0"},
    {"warp", F_COUNT, "warp of the block, from 0"},
    {"step", F_COUNT, "its number, from 0"},
    {"file", F_TEXT, "source of the kernel"},
    {"line", F_COUNT, "line of the source, from 1", .min = 1},
    {"column", F_COUNT, "column of the line, from 1", .min = 1},
    {"touch", F_TEXT, "what the lanes do", .names = access_names, .name_count = ACCESS_RECONVERGE},
    {"what", F_TEXT | OR_NULL, "function of a collective"},
    {"array", F_TEXT | OR_NULL, "array that the step accesses; null for collectives and barriers"},
    {"mask", F_TEXT, "lanes that take part, hexadecimal, lane 0 the lowest bit", .pattern = "^[0-9a-f]{8}$"},
    {"alive", F_TEXT, "lanes that take part in this step or in a later step", .pattern = "^[0-9a-f]{8}$"},
    {"lanes", F_COUNT, "lanes that take part"},
    {"sectors", F_COUNT | OR_NULL, "distinct 32-byte sectors of global memory that the step fetches"},
    {"segments", F_COUNT | OR_NULL, "distinct segments of 128 bytes that hold these sectors"},
    {"sectors_counted", F_COUNT | OR_NULL,
     "the sectors as a GPU counts them: the sectors of an atomic count once for each of its serialised passes"},
    {"sectors_again", F_COUNT | OR_NULL, "the part of these sectors that this warp had fetched before"},
    {"bytes", F_COUNT | OR_NULL, "distinct bytes that the step requests; in shared memory, the bytes of all lanes"},
    {"padding", F_COUNT | OR_NULL, "bytes of slots that are padding"},
    {"turns", F_COUNT | OR_NULL, "wavefronts of shared memory"},
    {"turns_least", F_COUNT | OR_NULL, "wavefronts if there were no bank conflicts"},
    {"contended", F_COUNT, "lanes of an atomic that wait for another lane at the same address"},
    {"sector_offsets", F_LIST, "bytes from the beginning of the array to each sector", .item = F_COUNT},
    {"lane_state", F_LIST, "what each lane does", .item = F_TEXT, .words = "active, waits, done, idle", .least = 32,
     .most = 32},
    {"lane_index", F_LIST, "element of the array that each lane accesses", .item = F_COUNT | OR_NULL, .least = 32,
     .most = 32},
    {"lane_row", F_LIST,
     "row of the matrix that each lane works on; for shared memory, of what the element holds, or null",
     .item = F_COUNT | OR_NULL, .least = 32, .most = 32},
    {"lane_col", F_LIST, "column of the matrix that each lane works on", .item = F_COUNT | OR_NULL, .least = 32,
     .most = 32},
    {"lane_padding", F_LIST, "1: the lane works for padding", .item = F_INTEGER, .words = "0, 1", .least = 32,
     .most = 32},
    {0},
};
const struct row_kind row_trace_step = {"step", "what the lanes of a warp do in one step", trace_step_fields};

static const struct field trace_totals_fields[] = {
    {"kind", F_TEXT, "the totals of all steps of the warp", .words = "totals"},
    {"matrix", F_TEXT, "matrix that the kernel multiplies by, or that the LU method factors"},
    {"kernel", F_TEXT, "kernel, or LU method"},
    {"lu_column", F_COUNT | OR_NULL, "column of the factorisation that the launches do; null for kernels"},
    {"lu_b", F_COUNT | OR_NULL, "width of a tile of an LU method; null for kernels", .min = 1},
    {.include = &row_precision},
    {"launch", F_COUNT, "launch of the kernel, from 0"},
    {"block", F_COUNT, "thread block of the launch, from 0"},
    {"warp", F_COUNT, "warp of the block, from 0"},
    {"steps", F_COUNT, "steps"},
    {"cut", F_BOOLEAN, "the warp goes on for more steps than are kept"},
    {"active_mean", F_AMOUNT, "mean number of lanes that take part in a step", .max = 32},
    {"steps_apart", F_COUNT, "steps in which lanes wait because they have diverged"},
    {"requests", F_COUNT, "requests to global memory"},
    {"sectors", F_COUNT, "32-byte sectors that the requests fetch, each counted once per request"},
    {"sectors_counted", F_COUNT,
     "the sectors as a GPU counts them: the sectors of an atomic count once for each of its serialised passes"},
    {"sectors_least", F_COUNT, "sectors that the requested bytes would fill"},
    {"sectors_again", F_COUNT, "sectors that the warp had fetched before"},
    {"sectors_per_request", F_AMOUNT, "sectors / requests; 0 without any"},
    {"bytes_fetched", F_COUNT, "32 x sectors"},
    {"bytes_useful", F_COUNT, "requested bytes that are not padding"},
    {"bytes_padding", F_COUNT, "requested bytes of padding"},
    {"bytes_unused", F_COUNT, "bytes that were fetched but not requested"},
    {"bytes_again", F_COUNT, "bytes of sectors fetched before"},
    {"turns", F_COUNT, "wavefronts of shared memory"},
    {"turns_least", F_COUNT, "wavefronts if there were no bank conflicts"},
    {"contended", F_COUNT, "lanes of atomics that wait for another lane at the same address"},
    {0},
};
const struct row_kind row_trace_totals = {"totals", "the totals of the traced warp", trace_totals_fields};

const struct command command_trace = {
    .name = "trace",
    .grammar =
        "[KERNEL_OR_METHOD] [PARAMS] [[of] MATRIX] [launch N] [block N] [warp N] [column N] [b N] [step N] [to N] "
        "[f32|f64|[precision] PRECISION] [view]",
    .about = "what one warp of a kernel does, step by step: lanes, elements, sectors, padding",
    .help =
        "The emulator runs the kernel's real source and records each lane's accesses. A step is an operation that\n"
        "the lanes of a warp do together: one load, store, atomic, shuffle or barrier. For each step, the table\n"
        "shows the source line, the active lanes (mask, lane 0 is the lowest bit), the number of 32-byte sectors\n"
        "requested, how many of them this warp had fetched before (refetch), and the elements. The default is\n"
        "warp 0 of block 0 of the launch with the most work. `step N` and `to N` select the steps that are\n"
        "printed. PARAMS are the parameters of the kernel's format. view (or `view trace` afterwards) opens a\n"
        "full screen for stepping forwards and backwards; the views spy, layout and lu highlight the lanes'\n"
        "elements. warpspy --json has every lane's element, row and column. The kernels of spmm are not traced.\n"
        "lu-paper, the LU method of the paper, is traced for one column k of the factorisation. Launch 0 finds the\n"
        "pivot and swaps it to the diagonal; launch 1 exchanges the other elements of the two rows, which gives\n"
        "row k of U, and divides column k of L; launch 2 updates the part that is still to be eliminated. The\n"
        "default is launch 0. `column` is k, by default the column that `lu step` does next; `b` is the width of a\n"
        "tile. Rows are counted in the order in which the exchanges of the columns before k left them.\n"
        "    trace csr-scalar; trace ell of A block 2 warp 1 view\n"
        "    trace sell 4 step 10 to 30 f32\n"
        "    gen dense 12; trace lu-paper column 3 launch 2 b 4",
    .rows = (const struct row_kind *const[]){&row_trace_step, &row_trace_totals, &row_done, NULL},
    .run = run_trace,
};

/* ---- what the session keeps ---- */

static void drop_trace(struct session *s)
{
    SCREEN_EDIT;
    tracing_free(s->trace);
    s->trace = NULL;
}

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->trace && s->trace->matrix == m;
}

const struct holding holding_trace = {.drop = drop_trace, .belongs_to = is_of};
