/* spmm: multiplies several vectors at a time by every SpMM kernel, and shows the time per vector. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/watch.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/spmm.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_VECTORS = 8 };

/* One row of the table: an SpMM kernel, or one SpMV for each vector. */
struct row {
    const struct format *format;
    const char *kernel, *about;
    int at; /* position among the rows before they are sorted */
    int launches;
    double us, spread_us; /* of all launches */
    int reps;
    int64_t bytes; /* of all launches */
    double error, worst;
    bool deterministic;
    char why_not[sizeof((struct err *)0)->text]; /* empty: the kernel was measured */
};

struct task {
    struct session *s;
    struct matrix *m;
    struct device *dev;
    enum precision real;
    int vectors, reps;
    bool force;
    struct row *row;
    int nrows;
    bool wrong; /* the result of a kernel was wrong */
};

/* The matrix in the format, on the device. */
static struct mat *stored_on(const struct task *t, const struct format *f, struct err *e)
{
    struct form w = form_of(t->m, f, NULL, t->real);
    w.force = t->force;
    struct product *p = session_product(t->s, form_near(w, t->dev), e);
    return p ? session_mat(t->s, p, t->dev, e) : NULL;
}

/* The product of all vectors by one kernel. */
static bool measure_spmm(const struct task *t, const struct spmm_kernel *k, struct row *r, struct err *e)
{
    struct spmm_run run;
    *r = (struct row){
        .format = k->format, .kernel = k->name, .about = k->about, .launches = 1, .deterministic = k->deterministic};
    struct mat *M = stored_on(t, k->format, e);
    if (!M) return false;
    bool ok = spmm_measure(k, &t->m->csr, M, t->vectors, t->reps, &t->s->watch, NULL, &run, e);
    if (!ok) return false;
    r->us = run.us;
    r->spread_us = run.spread_us;
    r->reps = run.reps;
    r->bytes = run.bytes;
    r->error = run.error.relative;
    r->worst = run.error.worst;
    return true;
}

/* One SpMV for each vector, by the default kernel of csr. */
static bool measure_spmv(const struct task *t, struct row *r, struct err *e)
{
    const struct kernel *k = kernel_default(&format_csr, &t->m->csr, t->dev);
    struct spmv_request w = {
        .matrix = t->m, .kernel = k, .dev = t->dev, .real = t->real, .reps = t->reps, .force = t->force};
    struct run run;
    *r = (struct row){.format = k->format,
                      .kernel = k->name,
                      .about = k->about,
                      .launches = t->vectors,
                      .deterministic = k->deterministic};
    if (!spmv_measure(t->s, &w, &run, e)) return false;
    r->us = run.us * t->vectors;
    r->spread_us = run.spread_us * t->vectors;
    r->reps = run.reps;
    r->bytes = run.bytes * t->vectors;
    r->error = run.error.relative;
    r->worst = run.error.worst;
    return true;
}

/* Measure one kernel; k NULL: SpMVs. If only this kernel fails, its row says why. If the function returns false, the
   command ends. */
static bool measure(struct task *t, const struct spmm_kernel *k, struct err *e)
{
    struct err why = {0};
    struct row *r = &t->row[t->nrows];
    bool ok = k ? measure_spmm(t, k, r, &why) : measure_spmv(t, r, &why);
    r->at = t->nrows;
    if (ok) return ++t->nrows;
    if (!err_is_refusal(&why) || t->dev->lost) return fail_at(e, why.code, why.where, "%s", why.text);
    t->wrong |= why.code == E_NUMERIC;
    r->us = r->spread_us = r->error = r->worst = NAN;
    snprintf(r->why_not, sizeof r->why_not, "%s", why.text);
    return ++t->nrows;
}

static bool measure_all(struct task *t, const struct format *f, struct err *e)
{
    for (int i = 0; spmm_kernels[i]; i++) {
        const struct spmm_kernel *k = spmm_kernels[i];
        if (!spmm_runs_on(k, t->dev) || (f && k->format != f)) continue;
        if (!watch_tick(&t->s->watch, k->name, 0, 0, e) || !measure(t, k, e)) return false;
    }
    if (!t->nrows)
        return fail(e, E_UNSUPPORTED, "no kernel multiplies %s by several vectors on %s; leave out `using`", f->name,
                    t->dev->name);
    return measure(t, NULL, e);
}

/* The fastest first; kernels without a time keep their order at the end. */
static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (isnan(x->us) != isnan(y->us)) return isnan(x->us) ? 1 : -1;
    return x->us < y->us ? -1 : x->us > y->us ? 1 : x->at - y->at;
}

static void out_figures(struct out *o, const struct task *t, const struct row *r)
{
    bool known = !*r->why_not;
    double nnz = (double)t->m->csr.nnz;
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "time_us", "us", r->us, "%.2f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "spread_us", "+-", r->reps > 1 ? r->spread_us : NAN, "%.2f");
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "us_per_vector", "us per vector", r->us / t->vectors, "%.2f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "bytes", NULL, known ? (double)r->bytes : NAN, NULL);
    out_num(o, "bytes_per_vector", "bytes per vector", known ? (double)r->bytes / t->vectors : NAN, "%.0f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "gbs", "GB/s", (double)r->bytes / r->us / 1000, "%.2f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "gflops", "GFLOP/s", 2 * nnz * t->vectors / r->us / 1000, "%.2f");
    out_num(o, "error", "error", r->error, "%.1e");
    out_num(o, "error_of_bound", NULL, r->worst, NULL);
    out_int(o, "reps", NULL, r->reps);
}

/* In text, kernels that do not fit follow below the table. */
static void out_rows(const struct task *t)
{
    struct out *o = t->s->out;
    bool text = out_mode(o) == OUT_TEXT;
    for (int i = 0; i < t->nrows; i++) {
        const struct row *r = &t->row[i];
        if (text && *r->why_not) continue;
        out_row(o);
        out_str(o, "matrix", NULL, t->m->name);
        out_int(o, "rows", NULL, t->m->csr.rows);
        out_int(o, "cols", NULL, t->m->csr.cols);
        out_int(o, "nnz", NULL, t->m->csr.nnz);
        out_int(o, "vectors", NULL, t->vectors);
        out_str(o, "format", "format", r->format->name);
        out_rank(o, COLUMN_ANSWER);
        out_str(o, "kernel", "kernel", r->kernel);
        out_rank(o, COLUMN_NORMAL);
        out_int(o, "launches", "products", r->launches);
        out_str(o, "device", NULL, t->dev->name);
        out_str(o, "precision", NULL, precision_of(&t->m->csr, t->real));
        out_figures(o, t, r);
        out_bool(o, "deterministic", NULL, r->deterministic);
        out_bool(o, "fits", NULL, !*r->why_not);
        out_str(o, "reason", NULL, *r->why_not ? r->why_not : NULL);
    }
}

static void out_table(const struct task *t)
{
    struct out *o = t->s->out;
    out_text(o, "%s, %s, %s, on %s (%s)", t->m->name, how_many(t->m->csr.nnz, "nonzero").text,
             precision_of(&t->m->csr, t->real), t->dev->name, t->dev->about);
    out_text(o, "Y = A X for %s", how_many(t->vectors, "vector").text);
    out_rows(t);
    if (t->dev->kind == DEV_EMU)
        out_text(o, "The emulator models accesses, not time: results are checked, but nothing is timed.");
    for (int i = 0; i < t->nrows && out_mode(o) == OUT_TEXT; i++)
        if (*t->row[i].why_not) out_text(o, "%s: %s", t->row[i].kernel, t->row[i].why_not);
}

static bool multiply_all(struct task *t, const struct format *f, struct err *e)
{
    t->row = mem_zero(registry_count(&spmm_registry) + 1, sizeof *t->row, "the results", e);
    bool ok = t->row && measure_all(t, f, e);
    if (t->nrows) { /* show the kernels that were measured before a cancellation */
        qsort(t->row, (size_t)t->nrows, sizeof *t->row, by_time);
        out_table(t);
    }
    mem_free(t->row);
    if (ok && t->wrong) return fail(e, E_NUMERIC, "a kernel's result is wrong (see above); its time is not shown");
    return ok;
}

static bool run_spmm(struct session *s, const struct args *a, struct err *e)
{
    int64_t vectors, reps;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !arg_within(a, "k", DEFAULT_VECTORS, 1, SPMM_VECTORS_MAX, &vectors, e) ||
        !arg_within(a, "reps", 0, 0, SPMV_REPS_MAX, &reps, e))
        return false;
    if (m->csr.imag) return fail(e, E_UNSUPPORTED, "%s is complex; spmm multiplies real matrices, use spmv", m->name);
    struct task t = {.s = s,
                     .m = m,
                     .dev = session_device(s, arg(a, "on"), e),
                     .real = arg_precision(a),
                     .vectors = (int)vectors,
                     .reps = (int)reps,
                     .force = arg_flag(a, "force")};
    return t.dev && multiply_all(&t, arg(a, "using") ? format_find(arg(a, "using")) : NULL, e);
}

/* ---- the keys of the rows ---- */

static const struct field spmm_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"rows", F_COUNT, "rows of the matrix"},
    {"cols", F_COUNT, "columns of the matrix"},
    {"nnz", F_COUNT, "stored entries of the matrix"},
    {"vectors", F_COUNT, "number of vectors k", .min = 1, .max = 64},
    {"format", F_TEXT, "storage format"},
    {"kernel", F_TEXT, "kernel"},
    {"launches", F_COUNT, "products: 1 for all vectors, or k SpMVs", .min = 1},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"time_us", F_AMOUNT | OR_NULL, "median time for all vectors, in us; null on emu, and if the kernel does not fit"},
    {"spread_us", F_AMOUNT | OR_NULL, "half the interquartile range, in us; null for one repetition"},
    {"us_per_vector", F_AMOUNT | OR_NULL, "time_us / vectors"},
    {"bytes", F_COUNT | OR_NULL, "minimum number of bytes that move; null if the kernel does not fit", .on = "cuda"},
    {"bytes_per_vector", F_AMOUNT | OR_NULL, "bytes / vectors; null if the kernel does not fit", .on = "cuda"},
    {"gbs", F_AMOUNT | OR_NULL, "bytes / time_us, in GB/s; null on emu"},
    {"gflops", F_AMOUNT | OR_NULL, "2 nnz vectors / time_us, in GFLOP/s; null on emu"},
    {"error", F_AMOUNT | OR_NULL,
     "relative 2-norm of the worst vector's difference from the reference; null if the result has NaN or inf"},
    {"error_of_bound", F_AMOUNT | OR_NULL,
     "largest error of an element divided by its rounding-error bound; null if the kernel does not fit", .on = "cuda"},
    {"reps", F_COUNT, "repetitions; 0 on emu, where the result is checked once"},
    {"deterministic", F_BOOLEAN, "the same bits every run"},
    {"fits", F_BOOLEAN, "whether the kernel could multiply", .on = "cuda"},
    {"reason", F_TEXT | OR_NULL, "why not; null: it could", .on = "cuda"},
    {0},
};
static const struct row_kind row_spmm = {
    "spmm", "every kernel for several vectors, checked and timed, and one SpMV per vector", spmm_fields};

const struct command command_spmm = {
    .name = "spmm",
    .grammar = "[MATRIX] [k N] [[using] FORMAT] [on DEVICE] [reps N] [f32|f64] [force]",
    .about = "multiply with several vectors at a time: check and time every kernel",
    .help = "Y = A X for k vectors: X has k columns, stored row by row, so that the k values that an entry of A\n"
            "multiplies are neighbours. k is 1 to 64, 8 unless given. The table shows every SpMM kernel of csr, sell\n"
            "and bsr that runs on the device, cuSPARSE's SpMM on a GPU, and k SpMVs of the default kernel of csr. us\n"
            "is the time of all vectors. bytes per vector is the minimum traffic divided by k: the arrays of A, X\n"
            "and Y once, so that A costs less per vector the larger k is. error is that of the vector whose worst\n"
            "row is closest to its rounding-error bound. Every vector is checked, for a random X.\n"
            "    spmm k 8; spmm A k 32 using sell on emu f32",
    .rows = (const struct row_kind *const[]){&row_spmm, NULL},
    .run = run_spmm,
    .sweeps = true,
};
