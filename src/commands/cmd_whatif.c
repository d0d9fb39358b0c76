/* whatif: shows bytes, padding and predicted times of another format, parameters, precision or ordering, without
   converting the matrix. */
#include "advice/advice.h"
#include "advice/orders.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "cmd_whatif_parts.h"
#include "formats/fmt_csr.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "matrix/reorder.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

struct whatif {
    struct session *s;
    struct matrix *m;
    const struct format *format;
    const struct ordering *order; /* NULL: the order stays unchanged */
    const int64_t *param;         /* NULL: the defaults */
    enum precision real;
    struct machine on;
    double now_us; /* predicted time of the fastest csr kernel, for the unchanged matrix, in double precision */
    const struct kernel *now;
    struct plan now_plan;
    enum bound now_bound;
    bool sampled;
    struct packed last;
};

static double padding_percent(const struct plan *p)
{
    return p->slots ? 100 * (double)p->padding / (double)p->slots : 0;
}

/* In text output, the first row shows what is stored now, for comparison. */
static void out_now(const struct whatif *w)
{
    struct out *o = w->s->out;
    char params[160];
    if (out_mode(o) != OUT_TEXT) return;
    out_row(o);
    out_str(o, NULL, "", "before");
    out_rank(o, COLUMN_ANSWER);
    out_str(o, NULL, "kernel", w->now->name);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, NULL, "format", w->now->format->name);
    bool has_params = *stored_params(&w->now_plan.shape, params, sizeof params);
    if (w->format->params[0].name) out_str(o, NULL, "parameters", has_params ? params : "-");
    out_rank(o, COLUMN_DETAIL);
    if (w->order) out_str(o, NULL, "order", "as it is");
    out_str(o, NULL, "precision", precision_of(&w->m->csr, P_F64));
    out_rank(o, COLUMN_NORMAL);
    out_bytes(o, NULL, "stored", w->now_plan.bytes);
    out_num(o, NULL, "padding %", padding_percent(&w->now_plan), "%.1f");
    out_rank(o, COLUMN_ANSWER);
    out_time(o, NULL, "predicted", w->now_us);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, NULL, "bound by", bound_names[w->now_bound]);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, NULL, "x of now", 1, "%.2f");
}

/* Print a row. If k is NULL, `why` states why the kernel cannot be emulated. */
static void out_case(const struct whatif *w, const struct kernel *kernel, const struct plan *p, const struct modeled *k,
                     const char *why)
{
    struct out *o = w->s->out;
    char params[160];
    out_row(o);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "", "after");
    out_str(o, "matrix", NULL, w->m->name);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "kernel", "kernel", kernel->name);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, "format", "format", w->format->name);
    out_str(o, "params", *stored_params(&p->shape, params, sizeof params) ? "parameters" : NULL, params);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "order", w->order ? "order" : NULL, w->order ? w->order->name : NULL);
    out_str(o, "precision", "precision", precision_of(&w->m->csr, w->real));
    out_rank(o, COLUMN_NORMAL);
    out_machine(o, &w->on);
    out_bytes(o, "stored_bytes", "stored", p->bytes);
    out_num(o, "padding_percent", "padding %", padding_percent(p), "%.1f");
    out_rank(o, COLUMN_ANSWER);
    out_time(o, "predicted_us", "predicted", k ? k->time.us : NAN);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "bound", "bound by", k ? bound_names[k->time.bound] : NULL);
    out_str(o, "now_kernel", NULL, w->now->name);
    out_num(o, "now_us", NULL, w->now_us, NULL);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "times", "x of now", k ? k->time.us / w->now_us : NAN, "%.2f");
    out_bool(o, "sampled", NULL, k && k->work.sampled);
    out_fitting(o, why);
    if (why) out_text(o, "%s", why);
}

static bool one_kernel(struct whatif *w, const struct csr *A, const struct kernel *k, const struct plan *p,
                       struct err *e)
{
    struct err why = {0};
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    if (!t) return false;
    bool ok = modeled_csr(A, k, w->param, w->real, &w->on, &w->s->watch, &w->last, t, &why);
    bool only_this = why.code == E_LIMIT || why.code == E_UNSUPPORTED;
    refusal_without_force(&why, w->format->name, w->real, false);
    if (ok || only_this) out_case(w, k, ok ? &t->plan : p, ok ? t : NULL, ok ? NULL : why.text);
    if (ok) w->sampled |= t->work.sampled;
    mem_free(t);
    return ok || only_this || fail_at(e, why.code, why.where, "%s", why.text);
}

static bool all_kernels(struct whatif *w, const struct csr *A, struct err *e)
{
    struct plan p;
    if (!format_plan(A, w->format, w->param, w->real, &p, e)) return false;
    for (int i = 0; kernels[i]; i++)
        if (!kernels[i]->host && !kernels[i]->vendor && kernels[i]->format == w->format &&
            !one_kernel(w, A, kernels[i], &p, e))
            return false;
    return true;
}

static bool permuted(const struct whatif *w, struct csr *out, struct err *e)
{
    int *perm = mem_new(w->m->csr.rows, sizeof *perm, "an ordering", e);
    bool ok = perm && reorder_find(w->order, &w->m->csr, perm, &w->s->watch, e) &&
              reorder_apply(out, &w->m->csr, perm, &w->s->watch, e);
    mem_free(perm);
    return ok;
}

/* Predict the time for the unchanged matrix, for comparison. */
static bool predict_now(struct whatif *w, struct err *e)
{
    struct predictions csr = {0};
    bool ok = modeled_matrix(w->m, e) && predictions_of(w->s, w->m, &format_csr, 0, P_F64, &w->on, &csr, e);
    if (ok) ok = csr.n > 0 || fail(e, E_UNSUPPORTED, "%s: %s", w->m->name, csr.nno ? csr.no->why : "no kernel of csr");
    if (ok) {
        w->now = csr.k->kernel;
        w->now_us = csr.k->time.us;
        w->now_plan = csr.k->plan;
        w->now_bound = csr.k->time.bound;
        w->sampled |= csr.k->work.sampled;
    }
    predictions_free(&csr);
    return ok;
}

/* `link`, `by` and numbers of GPUs belong to `whatif parts`. */
static bool only_parts_refused(const struct args *a, struct err *e)
{
    const char *word = arg(a, "link") ? "link" : arg(a, "by") ? "by" : arg(a, "n") ? arg(a, "n") : NULL;
    return !word || fail(e, E_USAGE, "`%s` is for `whatif parts`, which predicts the time on several GPUs", word);
}

/* The line says `reorder locality`: show all orders that it would try. */
static bool whatif_orders(struct whatif *w, const struct args *a, struct err *e)
{
    const struct format *only = arg(a, "format") ? w->format : NULL;
    struct orders_tried tried = {0};
    if (w->param)
        return fail(e, E_USAGE, "`reorder locality` predicts formats with the parameters that suit them best");
    bool ok = orders_try(w->s, w->m, only, w->real, &w->on, false, &tried, e);
    if (ok) out_orders_tried(w->s, w->m, w->real, &w->on, &tried);
    if (ok) out_text(w->s->out, "Nothing was kept; `reorder locality` applies the best order.");
    orders_free(&tried);
    return ok;
}

static bool run_whatif(struct session *s, const struct args *a, struct err *e)
{
    if (arg_flag(a, "parts")) return run_whatif_parts(s, a, e);
    if (!only_parts_refused(a, e)) return false;
    char us[32];
    int64_t param[PARAMS_MAX];
    struct whatif w = {.s = s,
                       .m = session_matrix(s, arg(a, "of"), e),
                       .format = format_find(arg(a, "format") ? arg(a, "format") : "csr"),
                       .order = arg(a, "reorder") ? ordering_find(arg(a, "reorder")) : NULL,
                       .real = arg_precision(a)};
    struct csr B = {0};
    if (!w.m || !arg_params(a, w.format->params, param, e)) return false;
    if (!arg(a, "format") && arg_count(a, "params"))
        return fail(e, E_USAGE, "name a format before its parameters: `whatif format sell 32`");
    if (!modeled_machine(s, &w.on, e)) return false;
    w.param = arg_count(a, "params") ? param : NULL;
    if (arg(a, "reorder") && !w.order) return whatif_orders(&w, a, e);
    bool ok = predict_now(&w, e) && (!w.order || permuted(&w, &B, e));
    if (ok) out_now(&w);
    ok = ok && all_kernels(&w, w.order ? &B : &w.m->csr, e);
    packed_free(&w.last);
    csr_free(&B);
    if (!ok) return false;
    out_text(s->out, "Now, as csr in %s, the fastest csr kernel is %s, predicted to take %s. Nothing was kept.",
             precision_of(&w.m->csr, P_F64), w.now->name, show_us(w.now_us, us, sizeof us));
    modeled_remarks(s, &w.on, w.sampled);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field whatif_kernel_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "the emulated kernel"},
    {"format", F_TEXT, "storage format"},
    {"params", F_TEXT, "parameters of the format as resolved"},
    {"order", F_TEXT | OR_NULL, "ordering of rows and columns; null: as they are"},
    {.include = &row_precision},
    {.include = &row_machine},
    {"stored_bytes", F_COUNT, "of all arrays"},
    {"padding_percent", F_AMOUNT, "percentage of the slots of the format"},
    {"predicted_us", F_AMOUNT | OR_NULL, "predicted time of one SpMV, in us"},
    {"bound", F_TEXT | OR_NULL, "what limits the kernel", .names = bound_names, .name_count = BOUNDS + 1},
    {"now_kernel", F_TEXT, "the fastest csr kernel for the unchanged matrix"},
    {"now_us", F_AMOUNT, "predicted time of the fastest csr kernel for the unchanged matrix in fp64, in us"},
    {"times", F_AMOUNT | OR_NULL, "time divided by the time with which it is compared; null: not known"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {"fits", F_BOOLEAN, "whether the kernel can be used"},
    {"reason", F_TEXT | OR_NULL, "why not; null: there is no obstacle"},
    {0},
};
static const struct row_kind row_whatif_kernel = {"kernel", "a kernel of the format", whatif_kernel_fields};

const struct command command_whatif = {
    .name = "whatif",
    .grammar = "[[format] FORMAT] [PARAMS] [parts] [N...] [[of] MATRIX] [[reorder] ORDERING] "
               "[f32|f64|[precision] PRECISION] [link LINK] [by WAY]",
    .about = "predicted time with another format, precision or ordering, or on several GPUs",
    .help = "Sizes come from the plan of the format. Times come from its kernels, which the emulator runs on a copy\n"
            "of the matrix that is then discarded. `x of now` is the time divided by the time of the fastest csr\n"
            "kernel on the unchanged matrix. A format with too much padding is listed with its size, but not packed.\n"
            "Without `format`, the format is csr. `whatif reorder locality` shows the orders that `reorder locality`\n"
            "tries, each with its fastest kernel, what the order and the conversion cost on this host, and after how\n"
            "many products both have overtaken the fastest kernel in the order that the matrix has.\n"
            "`whatif parts 1 2 4 8` predicts the time of a product, and of an iteration of cg, when the rows are\n"
            "divided among these numbers of GPUs (1 to 16 if none is given): the local product by the cost model, for\n"
            "the part with the most nonzeros and the part with the largest halo; the exchange as latency + bytes /\n"
            "bandwidth of the `link` (without one, the link that `ceilings on cuda:0+1` measured in this session, or\n"
            "else nvlink); two all-reduces of cg in log2(GPUs) steps. The exchange runs beside the local product,\n"
            "except over NCCL; the columns of other GPUs follow. `by` is a way of `partition`: bytes by default, as\n"
            "devices divide rows, or that of the last `partition`.\n"
            "`view speedup` shows the curve. Numbers of GPUs come before a format.\n"
            "    whatif parts 1 2 4 8 link nccl\n"
            "    whatif format ell; whatif format sell 32 f32; whatif format bsr 4 reorder rcm; whatif reorder rcm\n"
            "    whatif reorder locality",
    .rows = (const struct row_kind *const[]){&row_whatif_kernel, &row_order_tried, &row_whatif_parts, NULL},
    .run = run_whatif,
    .sweeps = true,
};
