/* spmv: one kernel, checked against the reference and timed. */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The emulator has no time: check the result only. */
static bool check_only(const struct wanted *w, const struct kernel *k, const struct mat *M, struct run *out,
                       struct err *e)
{
    *out = (struct run){.kernel = k, .dev = w->dev, .of = M->of, .real = w->real, .bytes = kernel_bytes(k, M->of, 0)};
    out->us = out->spread_us = out->first_us = out->gbs = out->gflops = out->share = NAN;
    if (!bench_check(k, &w->matrix->csr, M, 1.25, -0.5, 1, NULL, &out->error, e)) return false;
    if (out->error.ok) return true;
    return fail(e, E_NUMERIC, "%s is wrong in row %lld, by %.3g times what rounding allows", k->name,
                (long long)out->error.row, out->error.worst);
}

const int64_t *params_on(const struct format *f, const struct device *d, int64_t *param)
{
    if (!f->suit || d->kind != DEV_CUDA) return NULL;
    for (int i = 0; i < PARAMS_MAX; i++) param[i] = f->params[i].name ? f->params[i].usual : 0;
    f->suit(d->units, param);
    return param;
}

bool measure(struct session *s, const struct wanted *w, const struct kernel *k, struct run *out, struct err *e)
{
    const struct format *f = format_find(k->format);
    if (w->matrix->csr.imag)
        return fail(e, E_UNSUPPORTED, "%s is complex and %s multiplies real matrices only", w->matrix->name, k->name);
    if (!f) return fail(e, E_INTERNAL, "kernel %s works on %s, which is no format", k->name, k->format);
    int64_t own[PARAMS_MAX];
    const int64_t *param = w->param ? w->param : k->param ? k->param : params_on(f, w->dev, own);
    /* The emulator would take its time over it; and a lesson's tables tell what packing on the host takes. */
    bool there = w->dev->kind == DEV_CUDA && !w->matrix->lesson;
    struct product *p = there ? session_product_on(s, w->matrix, f, param, w->real, w->force, w->dev, e)
                              : session_product(s, w->matrix, f, param, w->real, w->force, e);
    if (!p || (k->fits && !k->fits(&p->S, e))) return false;
    struct mat *M = session_mat(s, p, w->dev, e);
    if (!M) return false;
    bool ok = w->dev->kind == DEV_EMU ? check_only(w, k, M, out, e)
                                      : bench_kernel(k, &w->matrix->csr, M, w->reps, &s->watch, out, e);
    out->ready_us = kernel_prepared_us(k, M);
    out->prep_us = p->prep_us + out->ready_us;
    out->put_us = p->put_us[M - p->mat];
    out->packed_on = p->packed_on;
    return ok;
}

/* A record has room for units, a table has them in its headings; column NULL: not there. */
static void put_time(struct out *o, const char *key, const char *record, const char *column, double us, bool long_form)
{
    if (long_form)
        out_time(o, key, record, us);
    else
        out_num(o, key, column, us, "%.2f");
}

static void out_times(struct out *o, const struct run *r, bool long_form)
{
    put_time(o, "time_us", "time", "us", r->us, long_form);
    put_time(o, "spread_us", "+-", "+-", r->reps > 1 ? r->spread_us : NAN, long_form);
    put_time(o, "first_us", "first, cold", NULL, r->first_us, long_form);
    put_time(o, "prep_us", "prep", "prep us", r->prep_us, long_form);
    out_str(o, "packed_on", long_form && r->packed_on ? "packed on" : NULL, r->packed_on ? r->packed_on->name : "host");
    put_time(o, "ready_us", r->ready_us > 0 ? "of that on the device" : NULL, NULL, r->ready_us, long_form);
    put_time(o, "copy_us", "copy", NULL, r->put_us, long_form);
    put_time(o, "total_us", "total", NULL, total_us(r), long_form);
    out_bytes(o, "bytes", "bytes", r->bytes);
    out_num(o, "gbs", "GB/s", r->gbs, "%.2f");
    out_num(o, "ceiling_percent", "ceiling %", r->share > 0 ? 100 * r->share : NAN, "%.0f");
    out_num(o, "gflops", "GFLOP/s", r->gflops, "%.2f");
}

static void out_diagonal_keys(struct out *o, const struct run *r, bool shown)
{
    struct measures m;
    bool diagonals = format_measures(r->of, &m, NULL);
    out_measures(o, diagonals ? &m : NULL);
    if (diagonals && shown) out_measures_text(o, &m);
    out_num(o, "gflops_padded", diagonals && shown ? "padded GFLOP/s" : NULL, padded_gflops(r), "%.2f");
}

void out_run(struct out *o, const struct matrix *m, const struct run *r, bool long_form)
{
    out_str(o, "matrix", long_form ? "matrix" : NULL, m->name);
    out_int(o, "rows", NULL, m->csr.rows);
    out_int(o, "cols", NULL, m->csr.cols);
    out_int(o, "nnz", NULL, m->csr.nnz);
    out_str(o, "format", "format", r->kernel->format);
    out_str(o, "kernel", "kernel", r->kernel->name);
    out_str(o, "device", long_form ? "device" : NULL, r->dev->name);
    out_str(o, "precision", long_form ? "precision" : NULL, type_name(r->real));
    out_times(o, r, long_form);
    out_num(o, "error", "error", r->error.relative, "%.1e");
    out_num(o, "error_of_bound", long_form ? "worst error / bound" : NULL, r->error.worst, "%.3f");
    out_int(o, "reps", long_form && r->reps ? "repetitions" : NULL, r->reps);
    out_bool(o, "deterministic", long_form ? "deterministic" : NULL, r->kernel->deterministic);
    out_diagonal_keys(o, r, long_form);
}

void out_fitting(struct out *o, const char *why_not)
{
    out_bool(o, "fits", NULL, !why_not);
    out_str(o, "reason", NULL, why_not);
}

void out_remarks(struct out *o, const struct run *r, int n)
{
    bool cached = false, wild = false, there = false;
    for (int i = 0; i < n; i++) {
        cached |= r[i].share > 1;
        wild |= isnan(r[i].error.relative);
        there |= r[i].packed_on && r[i].packed_on->kind == DEV_CUDA;
    }
    if (n && r->dev->kind == DEV_EMU)
        out_text(o, "The emulator models accesses, not time: results are checked, nothing is timed.");
    if (there)
        out_text(o, "Packed on the GPU from the csr there: prep is that of the first time, with memory to ask for.");
    if (wild)
        out_text(o, "The product has NaN or inf, so no relative error: each of them was found where it should be.");
    if (cached)
        out_text(o, "Above 100 %%: the matrix stays in the cache; the ceiling is that of the memory behind it.");
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct run *)a)->us, y = ((const struct run *)b)->us;
    return (x > y) - (x < y);
}

bool keep_runs(struct session *s, struct matrix *m, const struct run *r, int n, struct err *e)
{
    struct run *kept = mem_new(n, sizeof *kept, "the results", e);
    if (!kept) return false;
    memcpy(kept, r, (size_t)n * sizeof *kept);
    qsort(kept, (size_t)n, sizeof *kept, by_time);
    mem_free(s->runs);
    s->runs = kept;
    s->nruns = n;
    s->runs_of = m;
    return true;
}

/* The device for k when none was asked for: the usual one if k runs there, else one on which it does. */
static struct device *device_for(struct session *s, const struct kernel *k, const char *on, struct err *e)
{
    struct device *d = session_device(s, on, e);
    if (!d || on || kernel_runs_on(k, d)) return d;
    const char *other = k->host ? "cpu" : k->vendor || device_count(DEV_CUDA) ? "cuda:0" : "emu";
    out_note(s->out, "%s does not run on %s; using %s", k->name, d->name, other);
    return session_device(s, other, e);
}

/* The kernel that was named, or the usual one of the format on the device. */
static const struct kernel *kernel_for(const struct args *a, const struct csr *A, const struct device *d, struct err *e)
{
    const char *name = arg(a, "kernel"), *format = arg(a, "using");
    const struct kernel *k = name ? kernel_find(name) : kernel_usual(format_find(format ? format : "csr"), A, d);
    if (!k)
        fail(e, E_UNSUPPORTED, "no kernel for %s runs on %s; `kernels` lists those there are", format ? format : "csr",
             d->name);
    if (!k || !format || !strcmp(k->format, format)) return k;
    fail(e, E_USAGE, "expected a kernel for %s, found %s, which works on %s", format, name, k->format);
    return NULL;
}

static bool out_measured(struct session *s, const struct matrix *m, const struct run *r)
{
    out_record(s->out);
    out_run(s->out, m, r, true);
    out_remarks(s->out, r, 1);
    return true;
}

static bool run_spmv(struct session *s, const struct args *a, struct err *e)
{
    const struct kernel *named = arg(a, "kernel") ? kernel_find(arg(a, "kernel")) : NULL;
    int64_t param[PARAMS_MAX], reps = arg_int(a, "reps", 0);
    struct wanted w = {
        session_matrix(s, arg(a, "matrix"), e), NULL, arg_precision(a), (int)reps, arg_flag(a, "force"), NULL};
    struct run r;
    if (!w.matrix) return false;
    if (reps < 0 || reps > 1000000)
        return fail(e, E_USAGE, "expected 0 to 1000000 after `reps`, found %lld", (long long)reps);
    w.dev = named ? device_for(s, named, arg(a, "on"), e) : session_device(s, arg(a, "on"), e);
    const struct kernel *k = w.dev ? kernel_for(a, &w.matrix->csr, w.dev, e) : NULL;
    if (!k || !arg_params(a, format_find(k->format)->params, param, e)) return false;
    if (arg_count(a, "params")) w.param = param;
    return measure(s, &w, k, &r, e) && keep_runs(s, w.matrix, &r, 1, e) && out_measured(s, w.matrix, &r);
}

const struct command command_spmv = {
    .name = "spmv",
    .grammar = "[MATRIX] [using FORMAT] [PARAMS] [kernel KERNEL] [on DEVICE] [reps N] [f32|f64] [force]",
    .about = "multiply by one kernel: checked against the reference, then timed",
    .help = "Without a kernel it takes the usual one of the format (csr if none is named) on the device. Kernel,\n"
            "packing and copying are timed apart; the error is the relative 2-norm, and the worst row's error is\n"
            "held against what rounding allows. Parameters follow the format.\n"
            "    spmv A kernel csr-vector on emu f32; spmv using hyb width 2",
    .run = run_spmv,
};
