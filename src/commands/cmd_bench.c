/* bench: times every kernel that fits a matrix, prints each result when it is known, and a table at the end. */
#include "cmd_bench.h"
#include "base/busy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/watch.h"
#include "bench_chain.h"
#include "bench_order.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>
#include <string.h>

struct refusal {
    const struct kernel *kernel;
    enum precision real;
    char why[sizeof((struct err *)0)->text];
};
struct results {
    struct entrant *entrant; /* the kernels to measure, in this order */
    struct run *run;
    struct refusal *refused;
    int nentrants, nruns, nrefused;
    int done;   /* entrants that were measured or refused */
    bool wrong; /* the result of a kernel was wrong */
    int top;    /* show this many of the fastest; 0: all */
    bool by_precision;
    bool chain; /* also measure each kernel in a chain of products */
    struct bench_shared shared;
    struct watch above; /* the watch of the session: its progress is that of the whole bench */
};

static bool results_new(struct results *r, struct err *e)
{
    int n = registry_count(&kernel_registry) * registry_count(&precision_registry);
    r->run = mem_zero(n, sizeof *r->run, "the results", e);
    r->refused = r->run ? mem_zero(n, sizeof *r->refused, "the results", e) : NULL;
    r->entrant = r->refused ? mem_zero(n, sizeof *r->entrant, "the kernels to measure", e) : NULL;
    return r->entrant != NULL;
}

static void results_free(struct results *r)
{
    mem_free(r->run);
    mem_free(r->refused);
    mem_free(r->entrant);
    bench_shared_free(&r->shared);
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
    if (!arg_flag(a, "precisions")) return named || !precisions[w->real].narrow || kernel_takes(k, w->real, NULL);
    return kernel_takes(k, P_NARROW, NULL) && (named || k == kernel_default(k->format, &w->matrix->csr, w->dev));
}

static void add_entrants(struct results *r, const struct spmv_request *w, const struct args *a, int precision)
{
    for (int i = 0; kernels[i]; i++)
        if (is_measured(kernels[i], w, a))
            r->entrant[r->nentrants++] =
                (struct entrant){.kernel = kernels[i], .real = w->real, .precision = precision};
}

/* List all kernels that the command names, those that are likely to be fast first. */
static void find_entrants(struct results *r, const struct spmv_request *w, const struct args *a)
{
    struct spmv_request one = *w;
    if (!r->by_precision) add_entrants(r, w, a, 0);
    for (int i = 0; r->by_precision && named_precisions[i]; i++) {
        one.real = named_precisions[i]->index;
        add_entrants(r, &one, a, i);
    }
    bench_order(r->entrant, r->nentrants, &w->matrix->csr, w->dev, w->param);
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
    return asked ? kernel_takes(asked, P_NARROW, e)
                 : fail(e, E_UNSUPPORTED, "none of the named kernels runs on %s; name another device after `on`",
                        w->dev->name);
}

/* Report that a kernel does not fit the matrix, and why: in text below the table, in JSON and CSV as a row. A table of
   precisions gives the same reason once for all kernels. */
static void out_refused(struct out *o, const struct spmv_request *w, const struct results *r, int i)
{
    const struct refusal *no = &r->refused[i], *before = no - 1;
    const char *what = r->by_precision ? precision_of(&w->matrix->csr, no->real) : no->kernel->name;
    bool again = r->by_precision && i > 0 && before->real == no->real && !strcmp(before->why, no->why);
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

static void out_measured(struct out *o, const struct results *r, const struct matrix *m, const struct run *run)
{
    out_row(o);
    out_run(o, m, run, r->by_precision ? RUN_BY_PRECISION : RUN_ROW);
    out_fitting(o, NULL);
}

/* ---- results as they come ---- */

/* Is each row of JSON printed when its kernel was measured? The fastest few are known at the end only. */
static bool is_streamed(const struct out *o, const struct results *r)
{
    return out_mode(o) == OUT_JSON && !r->top;
}

/* On a terminal, print a line for each kernel that is the fastest so far. */
static void out_fastest(struct out *o, const struct results *r, const struct run *run)
{
    char us[32];
    for (int i = 0; i < r->nruns; i++)
        if (!(run->us < r->run[i].us)) return;
    if (isfinite(run->us) && r->nentrants > 1)
        out_live(o, "fastest so far: %s, %s (%d of %d kernels)", run->kernel->name, show_us(run->us, us, sizeof us),
                 r->done + 1, r->nentrants);
}

static void add_run(struct session *s, const struct spmv_request *w, struct results *r)
{
    const struct run *run = &r->run[r->nruns];
    if (is_streamed(s->out, r)) {
        out_measured(s->out, r, w->matrix, run);
        out_send(s->out);
    } else
        out_fastest(s->out, r, run);
    r->nruns++;
}

static void add_refusal(struct session *s, const struct spmv_request *w, struct results *r, const struct err *why)
{
    struct refusal *no = &r->refused[r->nrefused++];
    r->wrong |= why->code == E_NUMERIC;
    no->kernel = w->kernel;
    no->real = w->real;
    snprintf(no->why, sizeof no->why, "%s", why->text);
    if (!is_streamed(s->out, r)) return;
    out_refused(s->out, w, r, r->nrefused - 1);
    out_send(s->out);
}

/* ---- all kernels ---- */

/* Measure the kernel of w. If only this kernel fails, record the failure and return true. If the function returns
   false, the command ends. */
static bool bench_one(struct session *s, const struct spmv_request *w, struct results *r, struct err *e)
{
    struct err why = {0};
    struct run *run = &r->run[r->nruns];
    if (spmv_measure(s, w, run, &why) && (!r->chain || chain_measure(s, w, run, &why)))
        add_run(s, w, r);
    else if (!err_is_refusal(&why) || w->dev->lost)
        return fail_at(e, why.code, why.where, "%s", why.text);
    else
        add_refusal(s, w, r, &why);
    r->done++;
    return true;
}

/* Whatever part of the work ticks, show how many kernels are done. */
static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct results *r = w->user;
    return !r->above.tick || r->above.tick(&r->above, "kernels", r->done, r->nentrants);
}

static bool bench_all(struct session *s, const struct spmv_request *w, struct results *r, struct err *e)
{
    struct spmv_request one = *w;
    one.bench = &r->shared;
    bool ok = true;
    r->above = s->watch;
    s->watch = (struct watch){tick, r};
    for (int i = 0; ok && i < r->nentrants; i++) {
        one.real = r->entrant[i].real;
        one.kernel = r->entrant[i].kernel;
        ok = watch_tick(&s->watch, one.kernel->name, 0, 0, e) && bench_one(s, &one, r, e);
    }
    s->watch = r->above;
    return ok;
}

/* Print what was not printed yet: the first r->top runs, or all, as a table, and what is below it. */
static void out_results(struct session *s, const struct spmv_request *w, const struct results *r, const struct args *a)
{
    const struct matrix *m = w->matrix;
    int shown = r->top && r->top < s->nruns ? r->top : s->nruns;
    bool streamed = is_streamed(s->out, r);
    const struct operation *op = &w->operation->op;
    char text[160];
    out_text(s->out, "%s, %s, %s, on %s (%s)", m->name, how_many(m->csr.nnz, "nonzero").text,
             r->by_precision ? "by precision" : precision_of(&w->matrix->csr, w->real), w->dev->name, w->dev->about);
    if (!operation_is_product(op) || m->transpose_of)
        out_text(s->out, "y = %s",
                 operation_text(m->transpose_of, op->alpha, op->beta, w->operation->y0_word, text, sizeof text));
    if (w->param && shown)
        out_text(s->out, "%s with %s", s->runs->of->format->name, stored_params(s->runs->of, text, sizeof text));
    for (int i = 0; i < shown && !streamed; i++) out_measured(s->out, r, m, &s->runs[i]);
    out_remarks(s->out, s->runs, shown);
    out_chains(s->out, s->runs, shown);
    if (has_choice(a) && !r->by_precision) out_diagonals(s->out, s->runs, shown);
    out_transposing(s->out, m, s->runs, shown);
    out_prepared(s->out, s->runs, shown);
    out_copied(s->out, s->runs, shown);
    for (int i = 0; i < r->nrefused && !r->top && !streamed; i++) out_refused(s->out, w, r, i);
}

static bool ceilings_known(struct session *s, struct device *d, struct err *e)
{
    if (d->kind == DEV_EMU || d->ceilings.measured) return true;
    return device_ceilings(d, &s->watch, e);
}

/* Measure all kernels that the command names, and print the table. */
static bool rank(struct session *s, const struct args *a, const struct spmv_request *w, struct spmv_operation *o,
                 struct err *e)
{
    struct results r = {.by_precision = arg_flag(a, "precisions"), .chain = arg_flag(a, "chain")};
    struct busy from = busy_now("");
    int64_t top;
    if (!arg_within(a, "top", 0, 1, 1000, &top, e) || !check_choices(a, w->dev, e) || !check_precisions(a, w, e) ||
        (r.chain && !chain_allowed(a, w, e)))
        return false;
    r.top = (int)top;
    r.shared.alone = matrix_in_parts(w->matrix); /* its vectors are large */
    bool ok = results_new(&r, e);
    if (ok) find_entrants(&r, w, a);
    ok = ok && ceilings_known(s, w->dev, e) && bench_all(s, w, &r, e);
    if (ok || r.nruns) { /* show the kernels that were measured before a cancellation */
        bool kept = spmv_keep(s, w->matrix, r.run, r.nruns, o, e);
        if (kept) out_results(s, w, &r, a);
        if (kept && w->dev->kind == DEV_CPU)
            out_busy(s->out, &from, "Measured times are therefore too long, and measured ceilings too low.");
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

/* ---- the keys of the rows ---- */

static const struct field bench_refusal_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {"kernel", F_TEXT, "kernel"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"fits", F_FALSE, "false"},
    {"reason", F_TEXT, "why the format does not fit, or why the kernel failed"},
    {0},
};
static const struct row_kind row_bench_refusal = {"refusal", "a kernel that does not fit, and why",
                                                  bench_refusal_fields};

static const struct field bench_timed_fields[] = {
    {.include = &row_run},
    {.include = &row_diagonals},
    {"gflops_padded", F_AMOUNT | OR_NULL, "2 operands / time_us, in GFLOP/s; null for other formats and on emu"},
    {"gflops_padded_less_rows", F_AMOUNT | OR_NULL,
     "(2 operands - rows) / time_us, in GFLOP/s; null for other formats and on emu"},
    {"chain_us", F_AMOUNT | OR_NULL,
     "with `chain`: time of a product in a chain of 64, each of which reads what the one before wrote, in us; time_us "
     "is that of a product alone; null without `chain`, on emu, or if chain_reason says why"},
    {"chain_reason", F_TEXT | OR_NULL, "why the kernel cannot run in a chain; null if it can, and without `chain`",
     .on = "cuda"},
    {"fits", F_TRUE, "true"},
    {"reason", F_NULL, "why the format does not fit; always null here, since it fits"},
    {0},
};
const struct row_kind row_bench_timed = {"timed", "a kernel that fits, checked and timed", bench_timed_fields};

const struct command command_bench = {
    .name = "bench",
    .aliases = "benchmark",
    .grammar =
        "[chain] [MATRIX] [transposed] [precisions] [CHOICE...] [using FORMAT] [PARAMS] [alpha R] [beta R] [y0 START] "
        "[on DEVICE] [top N] [reps N] [f32|f64|[precision] PRECISION] [force]",
    .about = "check and time every kernel that fits on a device, fastest first",
    .help =
        "us is the median of the repetitions, +- is half the interquartile range, and prep us is the packing\n"
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
        "`bench chain` also times each kernel as a solver uses it: in a graph of 64 products, each of which reads\n"
        "what the one before wrote, scaled so that nothing overflows or vanishes. A graph starts a product\n"
        "sooner than the host does, which shows where a product takes a few us. The column \"in a chain us\" is\n"
        "the median of 11 graphs, or fewer slow ones, divided by 64. On cpu, which has no graphs, it is the median\n"
        "of the products; on emu, nothing is timed, and the first two products are checked. A must be square.\n"
        "alpha, beta, y0 and transposed are as in spmv.\n"
        "The default kernel of csr comes first, then that of each format, and then the other kernels; those that\n"
        "move the fewest bytes for a sample of the rows come first. A terminal shows each kernel that is the\n"
        "fastest so far. JSON has a line for each kernel as soon as it is measured, in that order; sort the lines\n"
        "by time_us. `top N`, text and CSV are sorted, and printed at the end. A kernel is timed for 0.2 s, or for\n"
        "less if it is more than 1.25 times slower than the fastest so far: it then takes 20 ms, beyond 3 times\n"
        "5 ms or 5 launches, and beyond 10 times 2 ms or 3 launches. `reps N` times N launches of each. Ctrl-C\n"
        "keeps the results so far.\n"
        "    bench A on cuda:0 f32; bench csr-vector ell sell on emu; bench bsr block 8; bench A transposed;\n"
        "    bench chain csr-vector csr-ends",
    .rows = (const struct row_kind *const[]){&row_bench_timed, &row_bench_refusal, NULL},
    .run = run_bench,
    .sweeps = true,
    .large = true,
    .several = true,
};
