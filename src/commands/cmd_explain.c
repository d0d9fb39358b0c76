/* explain: the causes of a kernel's time, the most expensive first, with remedies. */
#include "advice/predicted.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/kernel.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "microscope/versus.h"
#include "report/fields.h"
#include "report/output_candidates.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>

static void out_finding(struct out *o, const struct modeled *k, const struct finding *f, int rank)
{
    char us[32], of[32];
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%d. %s, %s of %s: %s.", rank, f->cause, show_us(f->us, us, sizeof us),
                 show_us(k->time.us, of, sizeof of), f->text);
        if (*f->remedy) out_text(o, "   Remedy: %s.", f->remedy);
        return;
    }
    out_row(o);
    out_str(o, "kind", NULL, "finding");
    out_str(o, "kernel", NULL, k->kernel->name);
    out_int(o, "rank", NULL, rank);
    out_str(o, "cause", NULL, f->cause);
    out_num(o, "us", NULL, f->us, NULL);
    out_num(o, "of_us", NULL, k->time.us, NULL);
    out_str(o, "text", NULL, f->text);
    out_str(o, "remedy", NULL, *f->remedy ? f->remedy : NULL);
}

static bool named(const struct finding *f, int n, const char *kernel)
{
    for (int i = 0; i < n; i++)
        if (finding_names(&f[i], kernel)) return true;
    return false;
}

/* Predict the times of the kernels that the remedies name, on the same matrix, and add the faster kernels to the
   remedies. Kernels that cannot be predicted are left out. */
static bool finish(struct session *s, const struct matrix *m, const struct modeled *k, struct finding *f, int n,
                   struct err *e)
{
    int all = registry_count(&kernel_registry), watched = 0;
    struct packed last = {0};
    struct err why = {0};
    struct modeled *other = mem_new(all, sizeof *other, "the predictions", e);
    for (int i = 0; other && i < all && why.code != E_CANCELLED; i++)
        if (kernels[i] != k->kernel && named(f, n, kernels[i]->name))
            watched += modeled_csr(&m->csr, kernels[i], NULL, k->real, &k->on, &s->watch, &last, &other[watched], &why);
    if (other) qsort(other, (size_t)watched, sizeof *other, modeled_by_time);
    for (int i = 0; other && i < n; i++) finding_finish(&f[i], k, other, watched);
    packed_free(&last);
    mem_free(other);
    return other && (why.code != E_CANCELLED || fail(e, why.code, "%s", why.text));
}

static bool say(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e)
{
    struct finding f[FINDINGS_MAX];
    int n = findings_of(k, &m->csr, f);
    char us[32], chain[32];
    struct candidates others;
    if (!candidates_of(&m->csr, &k->plan.shape, &others, e) || !finish(s, m, k, f, n, e)) return false;
    if (out_mode(s->out) == OUT_TEXT)
        out_text(s->out, "%s on %s, %s: %s predicted, bound by %s", k->kernel->name, m->name,
                 precision_of(&m->csr, k->real), show_us(k->time.us, us, sizeof us), bound_names[k->time.bound]);
    else {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "prediction");
        out_modeled(s, m, k);
        out_candidates(s->out, &others);
    }
    if (!isnan(k->time.chain_us))
        out_text(s->out, "In a chain of products, as in a solver, where a graph starts each launch: %s predicted.",
                 show_us(k->time.chain_us, chain, sizeof chain));
    say_candidates(s->out, &k->plan.shape, &others);
    say_registers(s->out, k);
    say_counted_as(s->out, k->kernel);
    for (int i = 0; i < n; i++) out_finding(s->out, k, &f[i], i + 1);
    out_text(s->out, "Each time shows how much the predicted time drops without that cause (bytes: with half of them); "
                     "causes overlap.");
    modeled_remarks(s, &k->on, k->work.sampled);
    return true;
}

/* ---- one kernel against another ---- */

static const double SHOWN_US = 0.005; /* smaller differences would be shown as 0 in text */

static void out_difference(struct out *o, const struct modeled k[2], const struct difference *d)
{
    out_row(o);
    out_str(o, "kind", NULL, "difference");
    out_str(o, "kernel", NULL, k[0].kernel->name);
    out_str(o, "against", NULL, k[1].kernel->name);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "term", "term", bound_names[d->term]);
    out_num(o, "us", "difference us", d->us, "%+.2f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "kernel_us", k[0].kernel->name, d->alone[0], "%.2f");
    out_num(o, "against_us", k[1].kernel->name, d->alone[1], "%.2f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "kernel_count", "first counts", d->count[0], "%.4g");
    out_num(o, "against_count", "second counts", d->count[1], "%.4g");
    out_str(o, "unit", "unit", difference_unit(d->term));
}

static bool predict_both(struct session *s, const struct args *a, struct matrix *m,
                         const struct kernel *const kernel[2], struct modeled k[2], struct err *e)
{
    int64_t param[PARAMS_MAX];
    struct machine g;
    if (!arg_params(a, kernel[0]->format->params, param, e) || !modeled_machine(s, &g, e)) return false;
    return modeled_kernel(s, m, kernel[0], arg_count(a, "params") ? param : NULL, arg_precision(a), &g, &k[0], e) &&
           modeled_kernel(s, m, kernel[1], NULL, arg_precision(a), &g, &k[1], e);
}

static void say_both(struct session *s, const struct matrix *m, const struct modeled k[2])
{
    struct difference d[DIFFERENCES];
    char first[32], second[32], by[32];
    int n = differences_of(&k[0], &k[1], d), faster = k[1].time.us < k[0].time.us;
    double ratio = k[!faster].time.us / k[faster].time.us;
    out_text(s->out, "%s on %s, %s: %s predicted; %s: %s. %s is %.2f times faster, by %s.", k[0].kernel->name, m->name,
             precision_of(&m->csr, k[0].real), show_us(k[0].time.us, first, sizeof first), k[1].kernel->name,
             show_us(k[1].time.us, second, sizeof second), k[faster].kernel->name, ratio,
             show_us(fabs(k[1].time.us - k[0].time.us), by, sizeof by));
    for (int i = 0; i < n; i++)
        if (out_mode(s->out) != OUT_TEXT || fabs(d[i].us) >= SHOWN_US) out_difference(s->out, k, &d[i]);
    out_text(s->out,
             "The differences add up to the time of %s minus that of %s. The columns with a kernel's name are its",
             k[1].kernel->name, k[0].kernel->name);
    out_text(s->out, "time in us if the term were the only limit; terms overlap.");
    for (int i = 0; i < 2; i++) say_counted_as(s->out, k[i].kernel);
    modeled_remarks(s, &k[0].on, k[0].work.sampled || k[1].work.sampled);
}

static bool explain_both(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    const struct kernel *const kernel[2] = {m ? kernel_meant(s, a, m, e) : NULL, kernel_find(arg(a, "against"))};
    if (!kernel[0]) return false;
    if (kernel[0] == kernel[1])
        return fail(e, E_USAGE, "both kernels are %s: name two different kernels", kernel[0]->name);
    struct modeled *k = mem_new(2, sizeof *k, "two predictions", e);
    bool ok = k && predict_both(s, a, m, kernel, k, e);
    if (ok) say_both(s, m, k);
    mem_free(k);
    return ok;
}

static bool run_explain(struct session *s, const struct args *a, struct err *e)
{
    return arg(a, "against") ? explain_both(s, a, e) : modeled_command(s, a, say, e);
}

/* ---- the keys of the rows ---- */

static const struct field explain_cause_fields[] = {
    {"kind", F_TEXT, "kind of this line"},
    {"kernel", F_TEXT, "the emulated kernel"},
    {"rank", F_COUNT, "from 1, the first is the most important"},
    {"cause", F_TEXT, "the cause of lost time", .word_at = finding_cause},
    {"us", F_AMOUNT, "time that the model predicts would be saved without the cause, in us"},
    {"of_us", F_AMOUNT, "predicted time of the kernel, in us"},
    {"text", F_TEXT, "the cause in words, with numbers"},
    {"remedy", F_TEXT | OR_NULL, "what would help; null: no remedy is known"},
    {0},
};
static const struct row_kind row_explain_cause = {"cause", "what slows the kernel down", explain_cause_fields};

static const struct field explain_term_fields[] = {
    {"kind", F_TEXT, "kind of this line"},
    {"kernel", F_TEXT, "the first kernel"},
    {"against", F_TEXT, "the second kernel"},
    {"term", F_TEXT, "the term of the model", .names = bound_names, .name_count = BOUNDS + 1},
    {"us", F_NUMBER,
     "part of the predicted time of the second kernel minus that of the first, in us; the parts add up to the "
     "difference"},
    {"kernel_us", F_AMOUNT, "time of the first kernel if this term were the only limit, in us"},
    {"against_us", F_AMOUNT, "time of the second kernel if this term were the only limit, in us"},
    {"kernel_count", F_AMOUNT, "what the term counts, for the first kernel"},
    {"against_count", F_AMOUNT, "what the term counts, for the second kernel"},
    {"unit", F_TEXT, "what is counted"},
    {0},
};
static const struct row_kind row_explain_term = {"term", "a term of the model, for two kernels", explain_term_fields};

static const struct field explain_kernel_fields[] = {
    {.include = &row_prediction},
    {.include = &row_candidates},
    {.include = &row_occupancy},
    {"kind", F_TEXT, "kind of this line"},
    {0},
};
static const struct row_kind row_explain_kernel = {"kernel", "the prediction for a kernel", explain_kernel_fields};

const struct command command_explain = {
    .name = "explain",
    .grammar = "[MODEL_KERNEL] [PARAMS] [[against] MODEL_KERNEL] [[of] MATRIX] [f32|f64|[precision] PRECISION]",
    .about = "what slows a kernel down, in words and numbers, and what would help",
    .help = "The emulator runs the kernel, and the model predicts its GPU time with and without each cause: padding,\n"
            "long rows, uneven blocks, idle lanes, uncoalesced loads, the gather of x, atomics, bank conflicts,\n"
            "launches, chains of dependent loads, half of the bytes. Causes of 5% or more are shown, the most\n"
            "expensive first. A remedy names other kernels only if they are predicted to be faster. PARAMS are the\n"
            "parameters of the kernel's format.\n"
            "Without a kernel, explain describes the one that is predicted to be the fastest.\n"
            "With a second kernel, explain splits the difference of the two predicted times over the terms of the\n"
            "model: waits, bytes from memory, sectors from L2, launches, and so on, with what each term counts.\n"
            "    explain; explain csr-scalar; explain ell of A f32; explain csr-scalar csr-vector",
    .rows = (const struct row_kind *const[]){&row_explain_kernel, &row_explain_cause, &row_explain_term, NULL},
    .run = run_explain,
    .sweeps = true,
};
