/* why: explains why `advise` does not recommend a format or a kernel, or why a solve did not converge. */
#include "advice/advice.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "advice/stagnation.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "cmd_why_stagnates.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

struct answer {
    const struct format *format;
    const struct kernel *kernel; /* the kernel that the user named; NULL: the user named a format */
    const struct matrix *matrix;
    enum precision real;
    const int64_t *param;       /* parameters of the format; NULL: the defaults */
    const struct modeled *best; /* the fastest of all kernels; NULL: none */
    const struct modeled *own;  /* the named kernel, or the fastest kernel of the format; NULL: none */
    const char *reason;         /* why there is none */
    bool has_cause;
    struct finding cause; /* the main extra cost of `own` */
};

/* A kernel counts as slower if it takes more than AS_FAST times as long as the best kernel. A cause is ignored if its
   share of the difference is less than CAUSE_MIN. */
#define AS_FAST 1.03
#define CAUSE_MIN 0.2

/* Is k the kernel that the user named, or a kernel of the format that the user named? */
static bool is_meant(const struct answer *w, const struct kernel *k)
{
    return w->kernel ? k == w->kernel : k->format == w->format;
}

static const char *reason_of(const struct predictions *a, const struct answer *w)
{
    for (int i = 0; i < a->nno; i++)
        if (is_meant(w, a->no[i].kernel)) return a->no[i].why;
    return "none of its kernels can be emulated";
}

static double us_of(const struct finding *f, int n, const char *cause)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(f[i].cause, cause)) return f[i].us;
    return 0;
}

/* The main extra cost of the format's kernel: costs that the best kernel also has, such as launches, are subtracted. */
static void find_cause(const struct predictions *a, const struct matrix *m, struct answer *w)
{
    struct finding own[FINDINGS_MAX], best[FINDINGS_MAX];
    int n = findings_of(w->own, &m->csr, own), nbest = findings_of(w->best, &m->csr, best);
    double most = 0;
    for (int i = 0; i < n; i++) {
        double more = own[i].us - us_of(best, nbest, own[i].cause);
        if (more > most) most = more, w->cause = own[i];
    }
    w->has_cause = most > CAUSE_MIN * (w->own->time.us - w->best->time.us);
    if (w->has_cause) finding_finish(&w->cause, w->own, a->k, a->n);
}

static void find_answer(const struct predictions *a, struct answer *w)
{
    w->best = a->n ? &a->k[0] : NULL;
    for (int i = a->n - 1; i >= 0; i--)
        if (is_meant(w, a->k[i].kernel)) w->own = &a->k[i];
    if (!w->own) w->reason = reason_of(a, w);
    if (w->own && w->best && w->own != w->best) find_cause(a, w->matrix, w);
}

static double times(const struct answer *w)
{
    return w->own && w->best ? w->own->time.us / w->best->time.us : NAN;
}

static const char *verdict(const struct answer *w)
{
    return !w->own ? "does not fit" : w->own == w->best ? "is advised" : times(w) <= AS_FAST ? "as fast" : "slower";
}

static void out_answer(struct out *o, const struct answer *w)
{
    char params[160];
    out_row(o);
    out_str(o, "matrix", NULL, w->matrix->name);
    out_str(o, "format", NULL, w->format->name);
    out_str(o, "params", NULL, w->own ? stored_params(&w->own->plan.shape, params, sizeof params) : NULL);
    out_str(o, "precision", NULL, precision_of(&w->matrix->csr, w->real));
    out_str(o, "verdict", NULL, verdict(w));
    out_str(o, "reason", NULL, w->reason);
    out_str(o, "kernel", NULL, w->own ? w->own->kernel->name : NULL);
    out_num(o, "predicted_us", NULL, w->own ? w->own->time.us : NAN, NULL);
    out_str(o, "best_kernel", NULL, w->best ? w->best->kernel->name : NULL);
    out_num(o, "best_us", NULL, w->best ? w->best->time.us : NAN, NULL);
    out_num(o, "times", NULL, times(w), NULL);
    out_num(o, "padding_percent", NULL,
            w->own && w->own->plan.slots ? 100 * (double)w->own->plan.padding / (double)w->own->plan.slots : NAN, NULL);
    out_str(o, "cause", NULL, w->has_cause ? w->cause.cause : NULL);
    out_str(o, "text", NULL, w->has_cause ? w->cause.text : NULL);
    out_str(o, "remedy", NULL, w->has_cause && *w->cause.remedy ? w->cause.remedy : NULL);
}

/* The name that the user gave, followed by the parameters, if any: "bsr (block 8)". */
static void name_with_params(const struct answer *w, char *out, size_t size)
{
    char params[160];
    snprintf(out, size, "%s", w->kernel ? w->kernel->name : w->format->name);
    size_t n = strlen(out);
    if (w->param && w->own && *stored_params(&w->own->plan.shape, params, sizeof params))
        snprintf(out + n, size - n, " (%s)", params);
}

static void say_answer(struct out *o, const struct answer *w)
{
    const char *matrix = w->matrix->name;
    char own[32], best[32], name[200];
    name_with_params(w, name, sizeof name);
    if (!w->own) {
        out_text(o, "%s does not fit %s: %s", name, matrix, w->reason);
        return;
    }
    show_us(w->own->time.us, own, sizeof own);
    show_us(w->best->time.us, best, sizeof best);
    const struct kernel *fastest = w->best->kernel;
    const char *other = w->kernel ? fastest->name : fastest->format->name;
    if (w->own == w->best) {
        out_text(o, "%s is the advised %s for %s: %s is predicted to be fastest, %s", name,
                 w->kernel ? "kernel" : "format", matrix, w->own->kernel->name, own);
        return;
    }
    if (times(w) <= AS_FAST)
        out_text(o, "%s is predicted to be as fast as %s: %s %s, %s %s", name, other, w->own->kernel->name, own,
                 fastest->name, best);
    else
        out_text(o, "%s would take %.2f times as long as %s: %s %s, %s %s", name, times(w), other, w->own->kernel->name,
                 own, fastest->name, best);
    if (w->format != fastest->format)
        out_text(o, "%s takes %s of memory; %s takes %s.", w->format->name,
                 show_bytes((double)w->own->plan.bytes, own, sizeof own), fastest->format->name,
                 show_bytes((double)w->best->plan.bytes, best, sizeof best));
    if (!w->has_cause || times(w) <= AS_FAST) return;
    out_text(o, "Main extra cost over %s: %s, %s: %s.", fastest->name, w->cause.cause,
             show_us(w->cause.us, own, sizeof own), w->cause.text);
    if (*w->cause.remedy) out_text(o, "Remedy: %s.", w->cause.remedy);
}

/* Before anything is emulated, check that the format can be packed; if it cannot, `why` receives the reason. */
static bool can_be_packed(const struct csr *A, const struct format *f, const int64_t *param, enum precision real,
                          struct err *why)
{
    struct plan p;
    if (format_plan(A, f, param, real, &p, why) && format_allow_here(&p, false, why)) return true;
    refusal_without_force(why, f->name, real, false);
    return false;
}

/* Fails for a kernel that the emulator cannot run. k may be NULL. */
static bool is_emulated(const struct kernel *k, struct err *e)
{
    if (!k || (!k->host && !k->vendor)) return true;
    if (k->vendor)
        return fail(e, E_UNSUPPORTED,
                    "%s is a library's kernel, so its causes are unknown; `advise` ranks it, and `why not %s` explains "
                    "its format",
                    k->name, k->format->name);
    return fail(e, E_UNSUPPORTED,
                "%s is not ranked, because the emulator cannot run it; `why not %s` explains its format", k->name,
                k->format->name);
}

/* Predict the kernel k or, if it is NULL, the fastest kernel of f, also if they are slow. */
static bool predict_meant(struct session *s, struct matrix *m, const struct format *f, const struct kernel *k,
                          enum precision real, const struct machine *g, struct err *e)
{
    struct predictions own = {0};
    struct err why = {0};
    if (k && prediction_kept(m, k, real, g)) return true;
    struct modeled *one = k ? mem_new(1, sizeof *one, "a prediction", e) : NULL;
    bool ok = k ? one && (modeled_kernel(s, m, k, NULL, real, g, one, &why) || err_is_refusal(&why))
                : predictions_of(s, m, f, 0, real, g, &own, e);
    if (!ok && why.code) fail_at(e, why.code, why.where, "%s", why.text);
    mem_free(one);
    predictions_free(&own);
    return ok;
}

static bool run_why_not(struct session *s, const struct args *a, struct err *e)
{
    const struct format *f = format_find(arg(a, "choice"));
    const struct kernel *k = f ? NULL : kernel_find(arg(a, "choice"));
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    struct predictions all = {0};
    struct err why = {0};
    struct machine g;
    int64_t values[PARAMS_MAX], *param = arg_count(a, "params") ? values : NULL;
    if (!m || !arg_params(a, params_of(a), values, e) || !is_emulated(k, e) || !modeled_machine(s, &g, e)) return false;
    if (k) f = k->format;
    if (!modeled_matrix(m, e)) return false;
    bool fits = can_be_packed(&m->csr, f, param, arg_precision(a), &why);
    if (!fits && why.code != E_LIMIT && why.code != E_UNSUPPORTED) return fail(e, why.code, "%s", why.text);
    bool ok = !fits || (predict_meant(s, m, f, k, arg_precision(a), &g, e) &&
                        predictions_of(s, m, NULL, 0, arg_precision(a), &g, &all, e));
    if (ok && fits && param) ok = predictions_with(s, m, f, param, arg_precision(a), &g, &all, e);
    if (!ok) {
        predictions_free(&all);
        return false;
    }
    struct answer w = {.format = f,
                       .kernel = k,
                       .matrix = m,
                       .real = arg_precision(a),
                       .param = param,
                       .reason = fits ? NULL : why.text};
    if (fits) find_answer(&all, &w);
    if (out_mode(s->out) == OUT_TEXT)
        say_answer(s->out, &w);
    else
        out_answer(s->out, &w);
    if (w.own) modeled_remarks(s, &g, w.own->work.sampled);
    predictions_free(&all);
    return true;
}

static bool run_why(struct session *s, const struct args *a, struct err *e)
{
    const char *choice = arg(a, "choice");
    if (registry_find(&stagnates_registry, choice)) return run_why_stagnates(s, e);
    return run_why_not(s, a, e);
}

/* ---- the keys of the rows ---- */

static const struct field why_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {"params", F_TEXT | OR_NULL, "the format's parameters; null: the format does not fit"},
    {.include = &row_precision},
    {"verdict", F_TEXT, "the model's verdict on the format", .words = "is advised, as fast, slower, does not fit"},
    {"reason", F_TEXT | OR_NULL, "why not; null: there is no obstacle"},
    {"kernel", F_TEXT | OR_NULL, "the emulated kernel"},
    {"predicted_us", F_AMOUNT | OR_NULL, "predicted time of one SpMV, in us"},
    {"best_kernel", F_TEXT | OR_NULL, "the advised kernel; null: not determined, because the format does not fit"},
    {"best_us", F_AMOUNT | OR_NULL, "time of the advised kernel, in us"},
    {"times", F_AMOUNT | OR_NULL, "time divided by the time with which it is compared; null: not known"},
    {"padding_percent", F_AMOUNT | OR_NULL, "percentage of the slots of the format"},
    {"cause", F_TEXT | OR_NULL, "the cause of lost time", .word_at = finding_cause},
    {"text", F_TEXT | OR_NULL, "the cause in words, with numbers"},
    {"remedy", F_TEXT | OR_NULL, "what would help"},
    {0},
};
static const struct row_kind row_why = {"row", "a format, and what keeps it from being advised", why_fields};

const struct command command_why = {
    .name = "why",
    .grammar = "[not] REASON [PARAMS] [[of] MATRIX] [f32|f64]",
    .about = "explain why a format or kernel is not recommended, or why the last solve did not converge",
    .help =
        "why not ell, or why ell: all emulated kernels are ranked as in `advise predicted`. The format's best kernel, "
        "or the kernel, "
        "is\n"
        "compared with the best of all kernels: predicted times, memory, and the main extra cost, as found by\n"
        "`explain`. PARAMS are the parameters of the format.\n"
        "why stagnates: the evidence after a solve that did not converge. Each line has a cause, its figures, and\n"
        "a command that shows more: a solver that needs symmetry or definiteness; empty rows and columns; the\n"
        "structural rank; b outside the range of A (by a least-squares solve); a vector that A maps almost to 0,\n"
        "and its rows (by a direct solve); blocks that couple to nothing; rows of different sizes; rounding errors\n"
        "between the recursive and the true residual; Ritz values, of the solve's own recurrence (cg) or of the\n"
        "Krylov space of its residual; the rows that hold the residual; the rate. Direct solves that would take\n"
        "more than a second are left out.\n"
        "    why not ell; why not dia of A; why not bsr block 8; why not csr-vector\n"
        "    solve cg maxit 20; why stagnates",
    .rows = (const struct row_kind *const[]){&row_why, &row_why_evidence, NULL},
    .run = run_why,
};
