/* advise: ranks all kernels by predicted or measured time, and shows what the conversion to their format costs and when
   it pays for itself. */
#include "advice/advice.h"
#include "advice/correction.h"
#include "advice/orders.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/precision.h"
#include "base/text.h"
#include "cmd_advise_solver.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "matrix/reorder.h"
#include "microscope/black_box.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ADVISE_REPS = 20 }; /* launches that are timed for each measured kernel */

struct advising {
    struct session *s;
    const struct matrix *m;
    const struct machine *on;
    const struct choice *csr; /* the fastest kernel that needs no conversion; NULL: no such kernel */
    enum precision real;
    int top;                     /* number of kernels to show; 0: all */
    bool measured_here;          /* this command measured the first predictions and the library kernels */
    int shown, nmeasured;        /* numbers of kernels that are shown, and of those that were measured on this GPU */
    bool sampled, fitted;        /* a shown kernel was sampled; a shown kernel is ranked by a fit */
    bool bounded;                /* a lower bound stands for a shown kernel */
    struct correction corrected; /* of the predictions; 0 kernels: none */
};

static bool needs_no_conversion(const struct choice *c)
{
    return c->format->interchange;
}

/* The number of SpMVs after which c has overtaken the fastest csr kernel; infinite if c never overtakes it, NaN if c is
   a csr kernel itself or its conversion was not timed. */
static double pays_after(const struct advising *v, const struct choice *c)
{
    if (!v->csr || needs_no_conversion(c)) return NAN;
    if (isnan(c->prep_us) && choice_us(c) < choice_us(v->csr)) return NAN;
    if (choice_us(c) >= choice_us(v->csr)) return INFINITY;
    return ceil(c->prep_us / (choice_us(v->csr) - choice_us(c)));
}

static void find_csr(struct advising *v, const struct choices *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct choice *c = &all->c[i];
        if (needs_no_conversion(c) && (!v->csr || choice_us(c) < choice_us(v->csr))) v->csr = c;
    }
}

/* Two digits: more are not known, because the times of which `after` is computed are predicted or vary. */
static double two_digits(double after)
{
    double unit = pow(10, fmax(0, floor(log10(after)) - 1));
    return unit * round(after / unit);
}

static void out_pays(struct out *o, double after)
{
    char text[32];
    out_str(o, "pays", NULL, isnan(after) ? NULL : isinf(after) ? "never" : "after");
    out_num(o, "pays_after", NULL, isinf(after) ? NAN : after, "%.0f");
    snprintf(text, sizeof text, "%.0f", after >= 100 && !isinf(after) ? two_digits(after) : after);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "pays after", isnan(after) ? "-" : isinf(after) ? "never" : text);
}

/* What predicted the time. A fit has no bound. */
static void out_basis(struct out *o, const struct choice *c)
{
    const char *bound = c->model ? bound_names[c->model->time.bound] : NULL;
    out_str(o, "predicted_by", NULL, c->model ? "model" : c->box ? "fit" : NULL);
    out_num(o, "fit_error_percent", NULL, c->box ? c->box->error_percent : NAN, "%.0f");
    out_str(o, "bound", NULL, bound);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "bound by", bound ? bound : c->box ? "(a fit)" : "-");
}

/* In text, a lower bound stands in the place of a prediction. */
static void out_predicted(struct out *o, const struct choice *c)
{
    char us[32], text[48];
    out_num(o, "least_us", NULL, c->least_us, NULL);
    if (out_mode(o) != OUT_TEXT || isnan(c->least_us)) {
        out_time(o, "predicted_us", "predicted", c->predicted_us);
        return;
    }
    snprintf(text, sizeof text, ">= %s", show_us(c->least_us, us, sizeof us));
    out_str(o, NULL, "predicted", text);
}

/* In text, the format with the parameter that suits the matrix or the GPU, as `convert` takes it. */
static void out_format(struct out *o, const struct choice *c)
{
    char text[64];
    out_str(o, "format", "format", out_mode(o) == OUT_TEXT ? choice_stored(c, text, sizeof text) : c->format->name);
}

static void out_advised(const struct advising *v, const struct choices *all, int i)
{
    const struct choice *c = &all->c[i];
    struct out *o = v->s->out;
    out_row(o);
    out_int(o, "rank", NULL, i + 1);
    out_str(o, "matrix", NULL, v->m->name);
    out_str(o, "kernel", "kernel", c->name);
    out_format(o, c);
    out_str(o, "precision", NULL, precision_of(&v->m->csr, v->real));
    out_str(o, "machine", NULL, c->box ? BLACK_BOX_GPU : v->on->name);
    out_bool(o, "machine_here", NULL, v->on->here && !c->box);
    out_bool(o, "machine_scaled", NULL, v->on->scaled && !c->box);
    out_rank(o, COLUMN_ANSWER);
    out_predicted(o, c);
    out_num(o, "correction", NULL, c->model ? c->correction : NAN, "%.3f");
    out_num(o, "measured_us", v->nmeasured ? "measured us" : NULL, c->measured_us, "%.2f");
    out_rank(o, COLUMN_DETAIL);
    out_basis(o, c);
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "prep_us", "conversion us", c->prep_us, "%.0f");
    out_rank(o, COLUMN_ANSWER);
    out_pays(o, pays_after(v, c));
    out_int(o, "products", NULL, all->products);
    out_num(o, "total_us", all->products ? "total us" : NULL, all->products ? choice_total(all, c) : NAN, "%.0f");
    out_bool(o, "sampled", NULL, c->model && c->model->work.sampled);
    out_fitting(o, NULL);
}

static void out_not(const struct advising *v, const struct refused *no)
{
    struct out *o = v->s->out;
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%s: %s", no->name, no->why);
        return;
    }
    out_row(o);
    out_str(o, "matrix", NULL, v->m->name);
    out_str(o, "kernel", NULL, no->name);
    out_str(o, "format", NULL, no->format->name);
    out_str(o, "precision", NULL, precision_of(&v->m->csr, v->real));
    out_fitting(o, no->why);
}

static void look_at_shown(struct advising *v, const struct choices *all)
{
    v->shown = v->top && v->top < all->n ? v->top : all->n;
    for (int i = 0; i < v->shown; i++) {
        const struct choice *c = &all->c[i];
        v->nmeasured += !isnan(c->measured_us);
        v->fitted |= c->box && isnan(c->measured_us);
        v->sampled |= c->model && c->model->work.sampled;
        v->bounded |= !isnan(c->least_us);
    }
}

static void say_measured(const struct advising *v)
{
    const char *said = NULL;
    if (v->nmeasured < v->shown) said = "Not measured on this matrix (-): `bench` measures all kernels.";
    if (!v->nmeasured) said = v->on->here ? "None of these kernels was measured on this matrix: `bench` does." : NULL;
    if (v->measured_here)
        said = "Measured: the first three predictions and cuSPARSE's kernels; the others are predicted.";
    if (said) out_text(v->s->out, "%s", said);
}

/* Name the kernels that are ranked by a fit, with the errors of the fits. */
static void say_fitted(const struct advising *v, const struct choices *all)
{
    char text[400];
    bool wide = v->real == P_F64;
    int n = snprintf(text, sizeof text, "Fits to times measured on an %s in fp64, not models%s:", BLACK_BOX_GPU,
                     wide ? "" : " (extrapolated to this precision by the bytes)"),
        more = 0;
    for (int i = 0; i < v->shown && n < (int)sizeof text; i++) {
        const struct choice *c = &all->c[i];
        if (c->box && isnan(c->measured_us))
            n += snprintf(text + n, sizeof text - (size_t)n, "%s %s (%d matrices, mean error %d%%)", more++ ? "," : "",
                          c->name, c->box->matrices, c->box->error_percent);
    }
    if (v->fitted) out_text(v->s->out, "%s.", text);
}

static void say_conversions(const struct advising *v)
{
    if (v->s->explained.conversions && !out_stands_alone(v->s->out)) return;
    out_text(v->s->out, "Conversions are timed on this host, from csr.");
    v->s->explained.conversions |= !out_stands_alone(v->s->out);
}

static void say(struct advising *v, const struct choices *all)
{
    find_csr(v, all);
    look_at_shown(v, all);
    for (int i = 0; i < v->shown; i++) out_advised(v, all, i);
    modeled_remarks(v->s, v->on, v->sampled);
    if (v->corrected.kernels)
        out_text(v->s->out, "Predictions are corrected by the times that were measured for %s, a similar matrix.",
                 v->corrected.from);
    if (v->bounded)
        out_text(v->s->out, ">=: a lower bound, from the bytes that the kernel must move and its longest row; such a "
                            "kernel is not watched.");
    say_fitted(v, all);
    say_measured(v);
    say_conversions(v);
    for (int i = 0; i < all->nrefused && !v->top; i++) out_not(v, &all->refused[i]);
}

/* Measure the first kernels if the session's device is a GPU. */
static bool measure(struct advising *v, struct matrix *m, struct choices *all, struct err *e)
{
    struct spmv_request w = {.matrix = m,
                             .dev = session_device(v->s, NULL, e),
                             .real = precision_of_values(v->real, m->csr.imag != NULL),
                             .reps = ADVISE_REPS};
    return v->measured_here = w.dev && choices_measure(all, v->s, &w, spmv_measure, e);
}

/* Rank the kernels of `a` and show them. After a cancellation (!complete), rank those that were predicted before it. */
static bool rank_and_say(struct advising *v, struct matrix *m, const struct predictions *a, int64_t products,
                         bool complete, bool measured, struct err *e)
{
    struct choices all = {0};
    bool ok = complete ? choices_predicted(v->s, m, a, products, v->real, v->on, &all, &v->corrected, e)
                       : choices_of(v->s, m, a, products, &all, e);
    if (complete && measured) ok = ok && measure(v, m, &all, e);
    if (all.n || all.nrefused) say(v, &all);
    choices_free(&all);
    return ok && complete;
}

/* ---- another order of the rows ---- */

/* Another order and its format are proposed if both together are predicted to be faster than the fastest kernel now by
   more than this factor. */
#define ORDER_GAIN 1.1

static void say_order(const struct advising *v, const struct orders_tried *t)
{
    const struct order_tried *now = t->at, *best = t->best;
    double cost[] = {best->order_us, best->move_us, best->prep_us}, after = orders_pay_after(now, best);
    char us[2][32], costs[3][32];
    if (out_mode(v->s->out) != OUT_TEXT) {
        out_order_tried(v->s->out, v->m, v->real, v->on, t, best);
        return;
    }
    for (int i = 0; i < COUNT(cost); i++) show_us(cost[i], costs[i], sizeof costs[i]);
    out_text(
        v->s->out,
        "`reorder %s`, then `convert %s`: %s is predicted to take %s there, %.1f times as fast as %s now (%s). On "
        "this host, the order took %s, moving the entries %s and the conversion %s: pays after about %.0f products.",
        best->order->name, best->format->name, best->kernel->name, show_us(best->us, us[0], sizeof us[0]),
        now->us / best->us, now->kernel->name, show_us(now->us, us[1], sizeof us[1]), costs[0], costs[1], costs[2],
        two_digits(fmax(after, 1)));
}

/* Propose an order of the rows if it gains enough, also for this number of products (0: any number). Only orders that
   are quickly found are tried, and none if no order could gain enough. p: what was predicted for m. */
static bool propose_order(struct advising *v, struct matrix *m, const struct predictions *p, int64_t products,
                          struct err *e)
{
    struct err why = {0};
    const struct modeled *now = p->n ? p->k : NULL;
    if (!now || !orders_may_gain(&m->csr, now->kernel, v->real, now->time.us, ORDER_GAIN, v->on)) return true;
    const struct orders_tried *t = orders_quick(v->s, m, v->real, v->on, &why);
    bool gains = t && t->best->order && t->at->us > ORDER_GAIN * t->best->us;
    if (gains && (!products || orders_pay_after(t->at, t->best) <= (double)products)) say_order(v, t);
    return t || err_is_refusal(&why) || fail_at(e, why.code, why.where, "%s", why.text);
}

static bool run_advise_kernels(struct session *s, const struct args *a, struct err *e)
{
    int64_t products = arg_int(a, "for", 0), top = arg_int(a, "top", 0);
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct predictions predicted = {0};
    struct machine g;
    if (arg(a, "for") && products < 1)
        return fail(e, E_USAGE, "`for %lld` is too few products: give 1 or more", (long long)products);
    if (!m || !modeled_machine(s, &g, e)) return false;
    struct advising v = {.s = s, .m = m, .on = &g, .real = arg_precision(a), .top = (int)top};
    bool ok = modeled_matrix(m, e) && predictions_of(s, m, NULL, products, v.real, &g, &predicted, e);
    if (ok || predicted.n) ok = rank_and_say(&v, m, &predicted, products, ok, g.here && !arg_flag(a, "predicted"), e);
    ok = ok && propose_order(&v, m, &predicted, products, e);
    predictions_free(&predicted);
    return ok;
}

/* Refuse options of the advice on kernels in advice on solvers, and vice versa. */
static bool options_fit(const struct args *a, bool solver, struct err *e)
{
    static const char *const of_solvers[] = {"on", "precond", "tol", "maxit", "b", "x0", "seed", "within", "options"},
                             *const of_kernels[] = {"for", "products", "predicted"};
    const char *const *not_for = solver ? of_kernels : of_solvers;
    int n = solver ? COUNT(of_kernels) : COUNT(of_solvers);
    for (int i = 0; i < n; i++)
        if (arg(a, not_for[i]))
            return fail(e, E_USAGE,
                        solver ? "`%s` is for advice on kernels; `advise solver` takes tol, b, on and within"
                               : "`%s` is for `advise solver`; `advise` ranks kernels",
                        not_for[i]);
    return true;
}

static bool run_advise(struct session *s, const struct args *a, struct err *e)
{
    bool solver = arg_flag(a, "solver");
    int64_t top;
    return arg_within(a, "top", 0, 1, 1000, &top, e) && options_fit(a, solver, e) &&
           (solver ? run_advise_solver : run_advise_kernels)(s, a, e);
}

/* ---- the keys of the rows ---- */

static const struct field advise_kernel_fields[] = {
    {"rank", F_COUNT, "from 1, the first is the most important"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "the kernel"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"machine", F_TEXT, "GPU that the prediction is for; of a fit, the GPU on which its times were measured"},
    {"machine_here", F_BOOLEAN,
     "whether the GPU is in this machine and its ceilings were measured; false: the built-in GPU"},
    {"machine_scaled", F_BOOLEAN,
     "whether ceilings of the GPU were scaled from those of the built-in GPU, by its specifications"},
    {"predicted_us", F_AMOUNT | OR_NULL, "predicted time of one SpMV, in us; null: neither modeled nor fitted",
     .on = "cuda"},
    {"least_us", F_AMOUNT | OR_NULL,
     "lower bound of the time of one SpMV, in us, of a kernel that was not watched because it is slow; null: the "
     "kernel is predicted or fitted"},
    {"correction", F_AMOUNT | OR_NULL,
     "factor in predicted_us, from what was measured for a similar matrix; 1: none; null: a kernel of a library"},
    {"measured_us", F_AMOUNT | OR_NULL, "time measured on a GPU in this session, in us; null: not measured",
     .on = "cuda"},
    {"predicted_by", F_TEXT | OR_NULL,
     "model: the emulator watched the kernel; fit: to measured times of a library kernel; null: not predicted",
     .words = "model, fit", .on = "cuda"},
    {"fit_error_percent", F_COUNT | OR_NULL,
     "mean error of the fit on a matrix left out of it, in percent; null: not a fit"},
    {"bound", F_TEXT | OR_NULL, "what limits the kernel; null: not modeled", .names = bound_names,
     .name_count = BOUNDS + 1},
    {"prep_us", F_AMOUNT | OR_NULL,
     "conversion from csr on this host, us; null: not converted, because the kernels of the format were not watched"},
    {"pays", F_TEXT | OR_NULL,
     "after: the kernel overtakes the fastest kernel of csr; never: it does not; null: it is a kernel of csr",
     .words = "after, never"},
    {"pays_after", F_COUNT | OR_NULL,
     "number of SpMVs after which the kernel has overtaken csr; null: never, or it is a kernel of csr"},
    {"products", F_COUNT, "number of SpMVs to rank for; 0: no number is given"},
    {"total_us", F_AMOUNT | OR_NULL,
     "time of the conversion and of the given number of SpMVs, in us; null: no number is given"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {"fits", F_BOOLEAN, "whether the kernel can be used"},
    {"reason", F_NULL, "why not; null: there is no obstacle"},
    {0},
};
static const struct row_kind row_advise_kernel = {"kernel", "a kernel, by its time", advise_kernel_fields};

static const struct field advise_misfit_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "the kernel"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"fits", F_BOOLEAN, "whether the kernel can be used"},
    {"reason", F_TEXT, "why not; null: there is no obstacle"},
    {0},
};
static const struct row_kind row_advise_misfit = {"misfit", "a kernel that cannot be taken, and why",
                                                  advise_misfit_fields};

const struct command command_advise = {
    .name = "advise",
    .grammar = "[solver] [MATRIX] [for N] [products] [top N] [predicted] [on DEVICE] [[precond] PRECOND] [tol R] "
               "[maxit N] [b RIGHT_SIDE] [x0 GUESS] [seed N] "
               "[nullspace NULLSPACE] [within R] [options PEER] [f32|f64]",
    .about = "rank all kernels by their time on a GPU, or all solvers by a short trial of each",
    .help =
        "The emulator runs a sample of each kernel whose format fits, and the model predicts its time; the fastest\n"
        "is first. A kernel is not run if the bytes that it must move and its longest row show that three others are\n"
        "faster: `>=` is a lower bound of its time. Predictions are kept with the matrix until it is dropped.\n"
        "The times of cuSPARSE's kernels, which cannot be emulated, are fits to measured times. On a GPU, the\n"
        "first three predictions and cuSPARSE's kernels are then measured and ranked by the measured times;\n"
        "`predicted` measures nothing. Times that `bench` or `spmv` measured before count as measured, too, and\n"
        "correct the predictions for similar matrices.\n"
        "The conversion is timed on this host. `pays after` is the number of SpMVs after which the kernel has\n"
        "overtaken the fastest csr kernel, which needs no conversion. With `for N products` (SpMVs), kernels are\n"
        "sorted by the total time of the conversion and N SpMVs. `top N` shows only the first N. Ctrl-C keeps\n"
        "what was ranked.\n"
        "Where another order of the rows could gain more than 10%, rcm and blocks are tried; if order and format\n"
        "together gain that much, they are proposed, with the time that each step took on this host. Both times of\n"
        "the product are predicted. `whatif reorder locality` shows all orders.\n"
        "`advise solver` tries every solver with every preconditioner that suits the matrix, and `direct`, each\n"
        "for a short time, and shows what each reached, the iterations and the time that it needs, and which one\n"
        "to take. A method that converges in its trial needs the iterations that it did, and its time lies around\n"
        "the measured time, because the same work takes more or less time again. For the others, the history of\n"
        "the residual gives an interval: at the least, it goes on falling as fast as it did, or somewhat faster;\n"
        "at the most, it slows down as a power of the iterations does. `not yet known`: it did not fall steadily.\n"
        "For `direct`, the operations of the factorisation give the interval. Of methods that take about as long,\n"
        "the one with the least work is taken, counted in bytes and operations, so that every run takes the same.\n"
        "`us each` is the time of an iteration: of a method that converged, it is what `solve` calls\n"
        "`per iteration`; of the others, it is that of a short run. on, precond, tol, maxit, b, x0 and seed are as in\n"
        "`solve`. The trials end after 2 s, or within the given number of seconds. On cpu, all of these times are\n"
        "processor time of the main thread, so that other programs change no choice: a solve takes as long while\n"
        "no other program runs. The trials end after five times as many seconds in any case. Ctrl-C keeps the\n"
        "trials that were done. `solve` without a solver takes what `advise solver` would. Where rows or columns\n"
        "differ much in size, iterative methods are tried as `solve scaled`, as by `solve` without a solver.\n"
        "`advise solver options LIBRARY` writes the solver that is taken, or the best one that the library has,\n"
        "as options of petsc, hypre (calls in C), amgx or ginkgo (JSON).\n"
        "    advise; advise A for 100 products f32; advise top 3\n"
        "    advise solver; advise solver A b random tol 1e-10 within 20\n"
        "    advise solver options petsc; advise solver options ginkgo > ./config.txt",
    .rows = (const struct row_kind *const[]){&row_advise_kernel, &row_advise_misfit, &row_order_tried,
                                             &row_advise_trial, &row_advise_options, NULL},
    .run = run_advise,
};
