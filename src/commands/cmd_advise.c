/* advise: ranks all kernels by predicted time, and shows what the conversion to their format costs and when it pays for
   itself. */
#include "session/args.h"
#include "base/screen_lock.h"
#include "machine/bench.h"
#include "session/command.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "microscope/modeled.h"
#include "session/output_run.h"
#include "session/predicted.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void advice_free(struct advice *a)
{
    mem_free(a->k);
    mem_free(a->no);
    *a = (struct advice){0};
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct modeled *)a)->time.us, y = ((const struct modeled *)b)->time.us;
    return (x > y) - (x < y);
}

static bool advise_one(struct session *s, struct matrix *m, const struct kernel *k, enum type real,
                       const struct machine *g, struct packed *last, struct advice *out, struct err *e)
{
    struct err why = {0};
    bool gave = screen_lock_give();
    bool modeled = modeled_csr(&m->csr, k, NULL, real, g, &s->watch, last, &out->k[out->n], &why);
    screen_lock_back(gave);
    if (modeled) {
        out->n++;
        return true;
    }
    bool only_this = why.code == E_LIMIT || why.code == E_UNSUPPORTED || why.code == E_MEMORY;
    if (!only_this) return fail_at(e, why.code, why.where, "%s", why.text);
    refusal_without_force(&why, k->format->name, real, false);
    out->no[out->nno].kernel = k;
    snprintf(out->no[out->nno++].why, sizeof out->no->why, "%s", reason_without_name(k->name, why.text));
    return true;
}

bool advice_of(struct session *s, struct matrix *m, const char *format, enum type real, const struct machine *g,
               struct advice *out, struct err *e)
{
    int n = 0;
    struct packed last = {0};
    while (kernels[n]) n++;
    *out = (struct advice){.k = mem_new(n, sizeof *out->k, "the predictions", e)};
    out->no = out->k ? mem_new(n, sizeof *out->no, "the predictions", e) : NULL;
    bool ok = out->no != NULL;
    for (int i = 0; ok && i < n; i++) {
        const struct kernel *k = kernels[i];
        if (k->host || k->vendor || (format && strcmp(k->format->name, format) != 0)) continue;
        ok = watch_tick(&s->watch, k->name, i, n, e) && advise_one(s, m, k, real, g, &last, out, e);
    }
    packed_free(&last);
    if (out->k) qsort(out->k, (size_t)out->n, sizeof *out->k, by_time);
    return ok;
}

/* ---- the cost of a conversion, and when it pays for itself ---- */

struct advising {
    struct session *s;
    const struct matrix *m;
    const struct modeled *csr; /* the fastest kernel that needs no conversion; NULL: no such kernel */
    enum type real;
    int64_t products; /* number of SpMVs to plan for; 0: unlimited */
    int measured;     /* number of shown kernels that were measured on this GPU */
};

static bool needs_no_conversion(const struct modeled *k)
{
    return k->plan.shape.format->interchange;
}

/* The cost of packing; 0 for csr, which is stored already. */
static double cost_us(const struct modeled *k)
{
    return needs_no_conversion(k) ? 0 : k->prep_us;
}

/* The number of SpMVs after which k has overtaken the fastest csr kernel; infinite if k never overtakes it, NaN if k is
   a csr kernel itself. */
static double pays_after(const struct advising *v, const struct modeled *k)
{
    if (!v->csr || needs_no_conversion(k)) return NAN;
    if (k->time.us >= v->csr->time.us) return INFINITY;
    return ceil(cost_us(k) / (v->csr->time.us - k->time.us));
}

static double total_of(const struct advising *v, const struct modeled *k)
{
    return cost_us(k) + (double)v->products * k->time.us;
}

/* Sort by total time, the smallest first. */
static void sort_for(const struct advising *v, struct advice *a, int *order)
{
    for (int i = 0; i < a->n; i++) {
        int k = i;
        while (k > 0 && v->products && total_of(v, &a->k[order[k - 1]]) > total_of(v, &a->k[i])) {
            order[k] = order[k - 1];
            k--;
        }
        order[k] = i;
    }
}

static void out_pays(struct out *o, double after)
{
    char text[32];
    out_str(o, "pays", NULL, isnan(after) ? NULL : isinf(after) ? "never" : "after");
    out_num(o, "pays_after", NULL, isinf(after) ? NAN : after, "%.0f");
    snprintf(text, sizeof text, "%.0f", after);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "pays after", isnan(after) ? "-" : isinf(after) ? "never" : text);
}

static void out_advised(const struct advising *v, const struct modeled *k, int rank)
{
    struct out *o = v->s->out;
    const struct run *r = modeled_run(v->s, v->m, k->kernel, k->real);
    out_row(o);
    out_int(o, "rank", NULL, rank);
    out_str(o, "matrix", NULL, v->m->name);
    out_str(o, "kernel", "kernel", k->kernel->name);
    out_str(o, "format", "format", k->kernel->format->name);
    out_str(o, "precision", NULL, precision_of(&v->m->csr, k->real));
    out_str(o, "machine", NULL, k->on.name);
    out_bool(o, "machine_here", NULL, k->on.here);
    out_rank(o, COLUMN_ANSWER);
    out_time(o, "predicted_us", "predicted", k->time.us);
    out_num(o, "measured_us", v->measured ? "measured us" : NULL, r ? r->us : NAN, "%.2f");
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "bound", "bound by", bound_names[k->time.bound]);
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "prep_us", "conversion us", cost_us(k), "%.0f");
    out_rank(o, COLUMN_ANSWER);
    out_pays(o, pays_after(v, k));
    out_int(o, "products", NULL, v->products);
    out_num(o, "total_us", v->products ? "total us" : NULL, v->products ? total_of(v, k) : NAN, "%.0f");
    out_bool(o, "sampled", NULL, k->work.sampled);
    out_fitting(o, NULL);
}

static void out_not(const struct advising *v, const struct not_advised *no, enum type real)
{
    struct out *o = v->s->out;
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%s: %s", no->kernel->name, no->why);
        return;
    }
    out_row(o);
    out_str(o, "matrix", NULL, v->m->name);
    out_str(o, "kernel", NULL, no->kernel->name);
    out_str(o, "format", NULL, no->kernel->format->name);
    out_str(o, "precision", NULL, precision_of(&v->m->csr, real));
    out_fitting(o, no->why);
}

/* How many of the kernels shown did `bench` or `spmv` measure on this GPU? */
static int count_measured(const struct advising *v, const struct advice *a, const int *order, int shown)
{
    int n = 0;
    for (int i = 0; i < shown; i++) {
        const struct modeled *k = &a->k[order[i]];
        n += modeled_run(v->s, v->m, k->kernel, k->real) != NULL;
    }
    return n;
}

static void say_measured(const struct advising *v, const struct machine *g, int shown)
{
    if (!v->measured && g->here)
        out_text(v->s->out, "None of these kernels was measured on this matrix: `bench` does.");
    if (v->measured && v->measured < shown)
        out_text(v->s->out, "Not measured on this matrix (-): `bench` measures all kernels.");
}

static bool say(struct advising *v, struct advice *a, const struct machine *g, int top, struct err *e)
{
    int *order = mem_new(a->n, sizeof *order, "the ranking", e), shown = top && top < a->n ? top : a->n;
    bool sampled = false;
    if (!order) return false;
    sort_for(v, a, order);
    v->measured = count_measured(v, a, order, shown);
    for (int i = 0; i < shown; i++) {
        out_advised(v, &a->k[order[i]], i + 1);
        sampled |= a->k[order[i]].work.sampled;
    }
    modeled_remarks(v->s, g, sampled);
    say_measured(v, g, shown);
    if (!v->s->explained.conversions || out_stands_alone(v->s->out))
        out_text(v->s->out,
                 "Conversions are timed on this host, from csr. The emulator cannot run cuSPARSE: use `bench`.");
    v->s->explained.conversions |= !out_stands_alone(v->s->out);
    for (int i = 0; i < a->nno && !top; i++) out_not(v, &a->no[i], v->real);
    mem_free(order);
    return true;
}

static bool run_advise(struct session *s, const struct args *a, struct err *e)
{
    int64_t products = arg_int(a, "for", 0), top;
    struct advising v = {.s = s, .real = arg_precision(a), .products = products};
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct advice all = {0};
    struct machine g;
    if (arg(a, "for") && products < 1)
        return fail(e, E_USAGE, "`for %lld` is too few products: give 1 or more", (long long)products);
    if (!arg_within(a, "top", 0, 1, 1000, &top, e) || !m || !modeled_machine(s, &g, e)) return false;
    bool ok = modeled_matrix(m, e) && advice_of(s, m, NULL, v.real, &g, &all, e);
    v.m = m;
    for (int i = all.n - 1; i >= 0; i--)
        if (needs_no_conversion(&all.k[i])) v.csr = &all.k[i];
    /* After a cancellation, show the kernels that were ranked before it. */
    if (ok || all.n) ok = say(&v, &all, &g, (int)top, e) && ok;
    advice_free(&all);
    return ok;
}

const struct command command_advise = {
    .name = "advise",
    .grammar = "[MATRIX] [for N] [products] [top N] [f32|f64]",
    .about = "rank all kernels by predicted GPU time, with the cost of converting to their format",
    .help = "The emulator runs every kernel whose format fits, and the model predicts its time; the fastest is first.\n"
            "The conversion is timed on this host. `pays after` is the number of SpMVs after which the kernel has\n"
            "overtaken the fastest csr kernel, which needs no conversion. With `for N products` (SpMVs), kernels are\n"
            "sorted by the total time of the conversion and N SpMVs. Times that `bench` or `spmv` measured on a GPU\n"
            "are shown too. `top N` shows only the first N.\n"
            "    advise; advise A for 100 products f32; advise top 3",
    .run = run_advise,
};
