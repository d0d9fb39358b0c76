/* transfer: measures the cost of copying to a device by each method, and how much of that cost is hidden by
   overlapping. */
#include "advice/predicted.h"
#include "base/err.h"
#include "base/precision.h"
#include "base/text.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/transfer.h"
#include "matrix/gen.h"
#include "microscope/link.h"
#include "microscope/model.h"
#include "microscope/transfer_model.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>

enum { MB = 1000000, DEFAULT_MB = 64, MAX_MB = 8192, HALF_BAND = 8 };

static bool in_range(const struct args *a, const char *key, int64_t default_value, int64_t least, int64_t most, int *v,
                     struct err *e)
{
    int64_t n = arg_int(a, key, default_value);
    *v = (int)n;
    if (n >= least && n <= most) return true;
    return fail(e, E_USAGE, "%lld %s is outside %lld .. %lld", (long long)n, key[1] ? key : "MB", (long long)least,
                (long long)most);
}

/* Make a band matrix that takes about `mb` MB as CSR, with 17 entries per row. */
static bool make_matrix(struct session *s, int mb, enum precision real, struct csr *A, struct err *e)
{
    int64_t row = (2 * HALF_BAND + 1) * (4 + (int64_t)type_size(precisions[real].vector)) + 4;
    int64_t param[PARAMS_MAX] = {(int64_t)mb * MB / row, HALF_BAND, 100};
    return generator_find("band")->make(param, 1, &s->watch, A, e);
}

/* ---- what is printed ---- */

/* The GPU of the times, and whether they are predicted. */
struct timed_on {
    const char *name, *about;
    bool predicted;
};

static void out_way(struct out *o, const struct transfer_plan *p, const struct transfer *t, const struct timed_on *on,
                    enum way k)
{
    const struct transfer_way *w = &transfer_ways[k];
    int64_t bytes = transfer_way_bytes(t, k);
    out_row(o);
    out_str(o, "way", "way", w->name);
    out_str(o, "about", NULL, w->about);
    out_str(o, "device", NULL, on->name);
    out_str(o, "kernel", NULL, t->kernel->name);
    out_str(o, "precision", NULL, precision_of(p->A, p->real));
    out_int(o, "pieces", "pieces", w->whole || w->all_back ? 1 : p->pieces);
    out_int(o, "streams", "streams", w->streamed ? p->streams : 1);
    out_bool(o, "page_locked", NULL, w->pinned);
    out_int(o, "bytes", NULL, bytes);
    out_num(o, "time_us", NULL, t->way[k].us, NULL);
    out_time(o, NULL, "time", t->way[k].us);
    if (on->predicted) out_str(o, NULL, "how", isfinite(t->way[k].us) ? "predicted" : "-");
    out_str(o, "how", NULL, on->predicted ? "predicted" : "measured");
    out_num(o, "spread_us", on->predicted ? NULL : "+- us", t->way[k].spread_us, "%.1f");
    out_num(o, "gbs", "GB/s", bytes ? t->way[k].gbs : NAN, "%.2f");
    out_int(o, "reps", on->predicted ? NULL : "repetitions", t->way[k].reps);
    out_num(o, "pin_us", NULL, t->pin_us, NULL);
    out_num(o, "without_overlap_us", NULL, t->without_us, NULL);
    out_num(o, "hidden", NULL, k == WAY_OVERLAPPED ? t->hidden : NAN, NULL);
}

static void out_conclusion(struct out *o, const struct transfer_plan *p, const struct transfer *t)
{
    double execution = t->way[WAY_EXECUTION].us, transfer = t->transfer_us;
    double streamed = t->way[WAY_EXECUTION_STREAMS].us;
    out_text(o, "Without overlap: transfer + execution = %.3f + %.3f = %.3f ms; piece by piece: %.3f ms.",
             transfer / 1000, execution / 1000, t->without_us / 1000, t->way[WAY_TURNS_PINNED].us / 1000);
    out_text(o, "With overlap, the rule execution + transfer / streams (Liang 2012) predicts %.3f ms.",
             (execution + transfer / p->streams) / 1000);
    if (streamed < 0.9 * execution)
        out_text(o, "One piece does not use the whole device: with %d concurrent streams, execution takes %.3f ms.",
                 p->streams, streamed / 1000);
    double overlapped = t->way[WAY_OVERLAPPED].us / 1000, least = fmax(transfer, streamed) / 1000;
    if (t->hidden == 1)
        out_text(o, "The total with overlap is %.3f ms: all of the shorter time is hidden.", overlapped);
    else if (t->hidden > 0)
        out_text(o, "With overlap: %.3f ms; %.0f %% of the shorter time is hidden; the best possible is %.3f ms.",
                 overlapped, 100 * t->hidden, least);
    else
        out_text(o, "With overlap: %.3f ms; nothing is hidden; the best possible is %.3f ms.", overlapped, least);
    if (isfinite(t->pin_us))
        out_text(o, "Page-locking the matrix's memory took %.3f ms (done once).", t->pin_us / 1000);
}

static void report(struct out *o, const struct transfer_plan *p, const struct transfer *t, const struct timed_on *on)
{
    char in[32], back[32];
    out_text(o, "%s copied in, %s copied back, %s, %d SpMV%s per piece with %s, on %s (%s)",
             show_bytes((double)t->matrix_bytes, in, sizeof in), show_bytes((double)t->result_bytes, back, sizeof back),
             precision_of(p->A, p->real), p->products, p->products == 1 ? "" : "s", t->kernel->name, on->name,
             on->about);
    for (int k = 0; k < WAYS; k++) out_way(o, p, t, on, (enum way)k);
    out_conclusion(o, p, t);
}

/* Print the result for a device that uses the host's memory. */
static bool nothing_to_copy(struct out *o, const struct device *d)
{
    out_text(o, "%s uses the host's own memory: there is nothing to copy.", d->name);
    out_text(o, "On a GPU, `transfer` measures copies from pageable and page-locked memory,");
    out_text(o, "and how much of the copying is hidden by streams.");
    if (out_mode(o) == OUT_TEXT) return true;
    out_row(o);
    out_str(o, "device", NULL, d->name);
    out_bool(o, "copies", NULL, false);
    out_str(o, "reason", NULL, "the device uses the host's own memory: there is nothing to copy");
    return true;
}

/* ---- the command ---- */

static bool measure(struct session *s, const struct transfer_plan *p, struct err *e)
{
    struct transfer t;
    struct timed_on on = {p->dev->name, p->dev->about, false};
    if (!transfer_measure(p, &t, e)) return false;
    report(s->out, p, &t, &on);
    return true;
}

/* Without a GPU: predict for the GPU of the session's predictions, behind PCI Express. */
static bool predict(struct session *s, struct transfer_plan *p, struct err *e)
{
    struct transfer t;
    struct machine g;
    const struct link *link = link_find("pcie");
    if (!modeled_machine(s, &g, e) || !(p->dev = device_open("emu", e))) return false;
    if (!transfer_predict(p, link, &g, &t, e)) return false;
    report(s->out, p, &t, &(struct timed_on){g.name, "predicted", true});
    out_text(s->out, "Predicted: copies by %s at %.0f GB/s (%s), SpMVs by the cost model;", link->about, link->gbs,
             link_origin(link));
    out_text(s->out, "measured on an H200, copies took 1.15 times and an overlapped product 1.24 times as long.");
    out_text(s->out, "Pageable copies (-) depend on the host's memory and driver.");
    modeled_remarks(s, &g, false);
    return true;
}

static bool read_plan(const struct args *a, struct transfer_plan *p, int *mb, struct err *e)
{
    p->real = arg_precision(a);
    return in_range(a, "n", DEFAULT_MB, 1, MAX_MB, mb, e) && in_range(a, "pieces", 16, 1, PIECES_MAX, &p->pieces, e) &&
           in_range(a, "streams", 4, 1, STREAMS_MAX, &p->streams, e) &&
           in_range(a, "products", 1, 1, 100000, &p->products, e) && in_range(a, "reps", 0, 0, 50, &p->reps, e);
}

static bool run_transfer(struct session *s, const struct args *a, struct err *e)
{
    struct transfer_plan p = {.watch = &s->watch};
    struct csr made = {0};
    int mb;
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    if ((arg(a, "matrix") && !m) || !read_plan(a, &p, &mb, e)) return false;
    if (m && arg(a, "n")) return fail(e, E_USAGE, "give a size or a matrix, not both: %d and %s", mb, m->name);
    p.dev = session_device(s, arg(a, "on"), e);
    p.ops = p.dev ? transfer_ops_of(p.dev) : NULL;
    if (!p.dev) return false;
    if (!p.ops && arg(a, "on")) return nothing_to_copy(s->out, p.dev);
    if (m && (m->csr.imag || !m->csr.nnz))
        return fail(e, E_UNSUPPORTED, "%s cannot be used: a real matrix with nonzeros is needed", m->name);
    if (!m && !make_matrix(s, mb, p.real, &made, e)) return false;
    p.A = m ? &m->csr : &made;
    bool ok = p.ops ? measure(s, &p, e) : predict(s, &p, e);
    csr_free(&made);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field transfer_nothing_fields[] = {
    {"device", F_TEXT, "the device"},
    {"copies", F_FALSE, "whether data is copied; false: the device works in host memory"},
    {"reason", F_TEXT, "the same as a sentence"},
    {0},
};
static const struct row_kind row_transfer_nothing = {"nothing", "a device to which nothing is copied",
                                                     transfer_nothing_fields};

static const struct field transfer_way_fields[] = {
    {"way", F_TEXT, "name of the way"},
    {"about", F_TEXT, "what it does"},
    {"device", F_TEXT, "the device"},
    {"kernel", F_TEXT, "kernel of the SpMVs"},
    {.include = &row_precision},
    {"pieces", F_COUNT, "number of pieces in which the matrix is copied"},
    {"streams", F_COUNT, "streams"},
    {"page_locked", F_BOOLEAN, "whether the host's memory is page-locked"},
    {"bytes", F_COUNT, "bytes copied"},
    {"time_us", F_AMOUNT | OR_NULL, "median, in us; null: not predicted"},
    {"how", F_TEXT, "measured, or predicted without a GPU", .words = "measured, predicted"},
    {"spread_us", F_AMOUNT | OR_NULL, "half the interquartile range, in us; null if predicted", .on = "cuda"},
    {"gbs", F_AMOUNT | OR_NULL, "bytes / time_us, in GB/s; null if nothing is copied"},
    {"reps", F_COUNT, "repetitions; 0 if predicted"},
    {"pin_us", F_AMOUNT | OR_NULL, "page-locking the matrix's memory, in us; null if predicted", .on = "cuda"},
    {"without_overlap_us", F_AMOUNT, "time of transfer and execution one after the other, in us"},
    {"hidden", F_AMOUNT | OR_NULL,
     "share of the shorter time (transfer or execution) that overlapping saves, from 0 to 1; null for ways that do not "
     "overlap"},
    {0},
};
static const struct row_kind row_transfer_way = {"way", "a way to copy to a GPU and back, timed", transfer_way_fields};

const struct command command_transfer = {
    .name = "transfer",
    .grammar = "[N] [MATRIX] [on DEVICE] [pieces N] [streams N] [products N] [reps N] [f32|f64]",
    .about = "the cost of copying to a GPU, and how much of that cost is hidden by streams",
    .help =
        "Copies a band matrix of N MB (default 64), or the named matrix, as CSR, in pieces of rows (default 16),\n"
        "from pageable and from page-locked memory, and back. Each piece is multiplied after its arrival (N times\n"
        "with `products N`), and the result is copied back. The pieces use first one stream, then several streams\n"
        "(default 4), so that the copy of one piece overlaps the SpMV of another. Every method is checked and\n"
        "warmed up first. The time of a method runs from the first call until all data has arrived; times are\n"
        "medians. hidden is the percentage of the shorter time (transfer or execution, with streams) that\n"
        "overlapping saves: at 100 %, only the longer time remains. Without a GPU, copies from page-locked memory and\n"
        "SpMVs are predicted for that of `set gpu`, on PCI Express; `on cpu` and `on emu` have nothing to copy.\n"
        "    transfer 256 on cuda:0; transfer A products 50 streams 8 f32",
    .rows = (const struct row_kind *const[]){&row_transfer_nothing, &row_transfer_way, NULL},
    .run = run_transfer,
    .sweeps = true,
};
