/* bench: times every kernel that fits a matrix, and prints a table. */
#include "session/args.h"
#include "base/screen_lock.h"
#include "machine/bench.h"
#include "base/busy.h"
#include "session/command.h"
#include "machine/device.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "session/output_run.h"
#include "session/session.h"
#include "session/spmv.h"
#include "base/text.h"

#include <string.h>

struct refusal {
    const struct kernel *kernel;
    enum type real;
    char why[sizeof((struct err *)0)->text];
};
struct results {
    struct run *run;
    struct refusal *refused;
    int nruns, nrefused;
    bool wrong; /* the result of a kernel was wrong */
};

static bool results_new(struct results *r, struct err *e)
{
    int n = registry_count(&kernel_registry) * registry_count(&precision_registry);
    *r = (struct results){.run = mem_zero(n, sizeof *r->run, "the results", e)};
    r->refused = r->run ? mem_zero(n, sizeof *r->refused, "the results", e) : NULL;
    return r->refused != NULL;
}

static void results_free(struct results *r)
{
    mem_free(r->run);
    mem_free(r->refused);
}

/* Measure one kernel. If only this kernel fails, record the failure and return true. If the function returns false, the
   command ends. */
static bool bench_one(struct session *s, const struct spmv_request *w, const struct kernel *k, struct results *r,
                      struct err *e)
{
    struct err why = {0};
    if (spmv_measure(s, w, k, &r->run[r->nruns], &why)) {
        r->nruns++;
        return true;
    }
    if (!err_is_refusal(&why) || w->dev->lost) return fail_at(e, why.code, why.where, "%s", why.text);
    r->wrong |= why.code == E_NUMERIC;
    struct refusal *no = &r->refused[r->nrefused++];
    no->kernel = k;
    no->real = w->real;
    snprintf(no->why, sizeof no->why, "%s", why.text);
    return true;
}

/* Does `name`, the name of a format or of a kernel, select kernel k? */
static bool is_named(const struct kernel *k, const char *name)
{
    const struct format *f = format_find(name);
    return f ? k->format == f : kernel_find(name) == k;
}

static bool has_choice(const struct args *a)
{
    return arg(a, "using") || arg_count(a, "choice");
}

/* Without names, all kernels are measured. */
static bool is_chosen(const struct kernel *k, const struct args *a)
{
    const char *format = arg(a, "using");
    int n = arg_count(a, "choice");
    bool named = !has_choice(a);
    if (format) named = is_named(k, format);
    for (int i = 0; i < n; i++) named |= is_named(k, arg_at(a, "choice", i));
    return named;
}

/* Each name must stand for at least one kernel that runs on the device. */
static bool check_choices(const struct args *a, const struct device *d, struct err *e)
{
    for (int i = 0; i < arg_count(a, "choice"); i++) {
        const char *name = arg_at(a, "choice", i);
        bool runs = false;
        for (int k = 0; kernels[k]; k++) runs |= is_named(kernels[k], name) && kernel_runs_on(kernels[k], d);
        if (!runs)
            return fail(e, E_UNSUPPORTED, "%s%s %s on %s; name another device after `on`",
                        format_find(name) ? "no kernel of " : "", name, format_find(name) ? "runs" : "does not run",
                        d->name);
    }
    return true;
}

/* Without names, kernels that do not multiply in the precision are passed over, and a table of precisions has the
   default kernel of each format. */
static bool is_measured(const struct kernel *k, const struct spmv_request *w, const struct args *a)
{
    bool named = has_choice(a);
    if (!kernel_runs_on(k, w->dev) || !is_chosen(k, a)) return false;
    if (!arg_flag(a, "precisions")) return named || !type_is_narrow(w->real) || kernel_takes(k, w->real, NULL);
    return kernel_takes(k, T_NARROW, NULL) && (named || k == kernel_default(k->format, &w->matrix->csr, w->dev));
}

/* Measure all kernels that the command names. */
static bool bench_kernels(struct session *s, const struct spmv_request *w, const struct args *a, struct results *r,
                          struct err *e)
{
    for (int i = 0; kernels[i]; i++) {
        if (!is_measured(kernels[i], w, a)) continue;
        if (!watch_tick(&s->watch, kernels[i]->name, 0, 0, e) || !bench_one(s, w, kernels[i], r, e)) return false;
    }
    return true;
}

static bool bench_all(struct session *s, const struct spmv_request *w, const struct args *a, struct results *r,
                      struct err *e)
{
    struct spmv_request one = *w;
    if (!arg_flag(a, "precisions")) return bench_kernels(s, w, a, r, e);
    for (const struct precision *p = precisions; p->name; p++) {
        one.real = p->type;
        if (!bench_kernels(s, &one, a, r, e)) return false;
    }
    return true;
}

/* A table of precisions needs a real matrix, and at least one kernel that multiplies in several of them. */
static bool check_precisions(const struct args *a, const struct spmv_request *w, struct err *e)
{
    const struct kernel *asked = NULL;
    if (!arg_flag(a, "precisions")) return true;
    if (w->matrix->csr.imag)
        return fail(e, E_UNSUPPORTED, "%s is complex; narrow types store real values", w->matrix->name);
    for (int i = 0; kernels[i]; i++) {
        if (is_measured(kernels[i], w, a)) return true;
        if (!asked && kernel_runs_on(kernels[i], w->dev) && is_chosen(kernels[i], a)) asked = kernels[i];
    }
    return asked ? kernel_takes(asked, T_NARROW, e)
                 : fail(e, E_UNSUPPORTED, "none of the named kernels runs on %s; name another device after `on`",
                        w->dev->name);
}

/* Report that a kernel does not fit the matrix, and why: in text below the table, in JSON and CSV as a row. A table of
   precisions gives the same reason once for all kernels. */
static void out_refused(struct out *o, const struct spmv_request *w, const struct results *r, int i, bool by_precision)
{
    const struct refusal *no = &r->refused[i], *before = no - 1;
    const char *what = by_precision ? precision_of(&w->matrix->csr, no->real) : no->kernel->name;
    bool again = by_precision && i > 0 && before->real == no->real && !strcmp(before->why, no->why);
    if (out_mode(o) == OUT_TEXT) {
        if (!again) out_text(o, "%s: %s", what, no->why);
        return;
    }
    out_row(o);
    out_str(o, "matrix", NULL, w->matrix->transpose_of ? w->matrix->transpose_of->name : w->matrix->name);
    out_str(o, "format", NULL, no->kernel->format->name);
    out_str(o, "kernel", NULL, no->kernel->name);
    out_str(o, "device", NULL, w->dev->name);
    out_str(o, "precision", NULL, precision_of(&w->matrix->csr, no->real));
    out_fitting(o, no->why);
}

/* Print the first `top` runs; 0: all runs. */
static void out_results(struct session *s, const struct spmv_request *w, const struct results *r, int top,
                        const struct args *a)
{
    const struct matrix *m = w->matrix;
    int shown = top && top < s->nruns ? top : s->nruns;
    bool by_precision = arg_flag(a, "precisions");
    const struct operation *op = &w->operation->op;
    char text[160];
    out_text(s->out, "%s, %s, %s, on %s (%s)", m->name, how_many(m->csr.nnz, "nonzero").text,
             by_precision ? "by precision" : precision_of(&w->matrix->csr, w->real), w->dev->name, w->dev->about);
    if (!operation_is_product(op) || m->transpose_of)
        out_text(s->out, "y = %s",
                 operation_text(m->transpose_of, op->alpha, op->beta, w->operation->y0_word, text, sizeof text));
    if (w->param && shown)
        out_text(s->out, "%s with %s", s->runs->of->format->name, stored_params(s->runs->of, text, sizeof text));
    for (int i = 0; i < shown; i++) {
        out_row(s->out);
        out_run(s->out, m, &s->runs[i], by_precision ? RUN_BY_PRECISION : RUN_ROW);
        out_fitting(s->out, NULL);
    }
    out_remarks(s->out, s->runs, shown);
    if (has_choice(a) && !by_precision) out_diagonals(s->out, s->runs, shown);
    out_transposing(s->out, m, s->runs, shown);
    out_prepared(s->out, s->runs, shown);
    out_copied(s->out, s->runs, shown);
    for (int i = 0; i < r->nrefused && !top; i++) out_refused(s->out, w, r, i, by_precision);
}

static bool ceilings_known(struct session *s, struct device *d, struct err *e)
{
    if (d->kind == DEV_EMU || d->ceilings.measured) return true;
    bool gave = screen_lock_give();
    bool ok = device_ceilings(d, &s->watch, e);
    screen_lock_back(gave);
    return ok;
}

/* Measure all kernels that the command names, and print the table. */
static bool rank(struct session *s, const struct args *a, const struct spmv_request *w, struct spmv_operation *o,
                 struct err *e)
{
    struct results r = {0};
    struct busy from = busy_now("");
    int64_t top;
    if (!arg_within(a, "top", 0, 1, 1000, &top, e) || !check_choices(a, w->dev, e) || !check_precisions(a, w, e))
        return false;
    bool ok = ceilings_known(s, w->dev, e) && results_new(&r, e) && bench_all(s, w, a, &r, e);
    if (ok || r.nruns) { /* show the kernels that were measured before a cancellation */
        bool kept = spmv_keep(s, w->matrix, r.run, r.nruns, o, e);
        if (kept) out_results(s, w, &r, (int)top, a);
        if (kept && w->dev->kind == DEV_CPU) out_busy(s->out, &from);
        ok &= kept;
    }
    if (ok && r.wrong) ok = fail(e, E_NUMERIC, "a kernel's result is wrong (see above); its time is not shown");
    results_free(&r);
    return ok;
}

/* Parameters are those of the format that all names stand for. */
static bool read_params(const struct args *a, int64_t *param, struct spmv_request *w, struct err *e)
{
    if (!arg_count(a, "params")) return true;
    w->param = param;
    return arg_params(a, params_of(a), param, e);
}

static bool run_bench(struct session *s, const struct args *a, struct err *e)
{
    struct spmv_operation o;
    struct spmv_request w;
    int64_t param[PARAMS_MAX];
    if (!spmv_request_of(s, a, &o, &w, e)) return false;
    w.dev = session_device(s, arg(a, "on"), e);
    bool ok = w.dev && read_params(a, param, &w, e) && rank(s, a, &w, &o, e);
    spmv_operation_free(&o);
    return ok;
}

const struct command command_bench = {
    .name = "bench",
    .aliases = "benchmark",
    .grammar = "[MATRIX] [transposed] [precisions] [CHOICE...] [using FORMAT] [PARAMS] [alpha R] [beta R] [y0 START] "
               "[on DEVICE] [top N] [reps N] [f32|f64|[precision] PRECISION] [force]",
    .about = "check and time every kernel that fits on a device, fastest first",
    .help = "us is the median of the repetitions, +- is half the interquartile range, and prep us is the packing\n"
            "time, on a GPU from the csr that is already there (for csr, the time of copying it there). bytes is the\n"
            "minimum traffic; ceiling % is bytes / time as a percentage of the measured read bandwidth, or >100 if\n"
            "the matrix stays in the cache. bound us is the time below which the kernel cannot be at the measured\n"
            "ceilings: that of its bytes (what half of the cache keeps moves at the rate of the cache) or, on a GPU,\n"
            "of the sectors of x that it gathers (those that 2048 consecutive rows share are counted once) or of one\n"
            "launch, whichever is longest; it is left out if it is above the time, because the ceilings were measured\n"
            "on a busy machine. Below the table are the kernels that prepare data on the device, with the total time\n"
            "of the preparation and one SpMV; the formats that do not fit, with the reason; and, on cpu, how busy\n"
            "other programs kept the machine. If formats or kernels are named, the table shows only them, and another\n"
            "table shows the load balance of those that store diagonals; `top N` shows the fastest N. Parameters of\n"
            "the format may follow if all names stand for one format. `bench precisions` shows the kernels that store\n"
            "values in smaller types, in each precision: the bytes per nonzero, the time, and the error against the\n"
            "product of the unrounded matrix. Without names, these are the default kernels of the formats.\n"
            "`bench bf16-fp32` compares kernels in one precision.\n"
            "alpha, beta, y0 and transposed are as in spmv. Ctrl-C keeps the results so far.\n"
            "    bench A on cuda:0 f32; bench csr-vector ell sell on emu; bench bsr block 8; bench A transposed",
    .run = run_bench,
    .large = true,
    .several = true,
};
