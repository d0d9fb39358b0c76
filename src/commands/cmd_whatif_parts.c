/* whatif parts: predicts the time of a product and of an iteration of cg when a matrix is divided among GPUs. */
#include "cmd_whatif_parts.h"
#include "advice/advice.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/numeral.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "matrix/csr.h"
#include "microscope/link.h"
#include "microscope/modeled.h"
#include "microscope/scaling.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"
#include "session/stale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the GPUs' time that is used; the share of the largest gain. */
static const double pays_from = 0.5, nearly = 0.95;

/* ---- the numbers of GPUs ---- */

struct gpus {
    int n, parts[SCALING_MAX];
};

static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool read_gpus(const struct args *a, const struct csr *A, struct gpus *g, struct err *e)
{
    int64_t most = A->rows < PARTS_MAX ? A->rows : PARTS_MAX;
    g->n = 0;
    for (int i = 0; i < arg_count(a, "n"); i++) {
        int64_t v = 0;
        if (!is_integer(arg_at(a, "n", i), &v) || v < 1 || v > most)
            return fail(e, E_USAGE, "%s GPUs: give numbers from 1 to %lld, the rows of the matrix", arg_at(a, "n", i),
                        (long long)most);
        if (g->n == SCALING_MAX) return fail(e, E_LIMIT, "too many numbers of GPUs; give at most %d", SCALING_MAX);
        g->parts[g->n++] = (int)v;
    }
    for (int p = 1; !arg_count(a, "n") && p <= 16 && p <= most; p *= 2) g->parts[g->n++] = p;
    qsort(g->parts, (size_t)g->n, sizeof *g->parts, by_size);
    int kept = 0;
    for (int i = 0; i < g->n; i++)
        if (!kept || g->parts[i] != g->parts[kept - 1]) g->parts[kept++] = g->parts[i];
    g->n = kept;
    return true;
}

/* ---- output ---- */

static void out_point(struct session *s, const struct matrix *m, const struct scaling *c, int i)
{
    struct out *o = s->out;
    const struct scaling_point *p = &c->point[i];
    bool square = isfinite(p->cg_us);
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "kernel", NULL, c->kernel->name);
    out_str(o, "format", NULL, c->kernel->format->name);
    out_str(o, "precision", NULL, precision_of(&m->csr, c->real));
    out_str(o, "machine", NULL, c->machine);
    out_bool(o, "machine_here", NULL, c->machine_here);
    out_str(o, "way", NULL, c->way->name);
    out_str(o, "link", NULL, c->link->name);
    out_str(o, "link_known_by", NULL, link_origin(c->link));
    out_num(o, "link_start_us", NULL, c->link->start_us, NULL);
    out_num(o, "link_hop_us", NULL, c->link->hop_us, NULL);
    out_num(o, "link_gbs", NULL, c->link->gbs, NULL);
    out_rank(o, COLUMN_ANSWER);
    out_int(o, "parts", "GPUs", p->parts);
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "imbalance", "imbalance", p->imbalance, "%.2f");
    out_int(o, "halo", NULL, p->halo);
    out_int(o, "halo_most", "halo", p->halo_most);
    out_rank(o, COLUMN_NORMAL);
    out_time(o, "inside_us", "local", p->inside_us);
    out_time(o, "exchange_us", "exchange", p->exchange_us);
    out_time(o, "outside_us", "outside", p->outside_us);
    out_rank(o, COLUMN_ANSWER);
    out_time(o, "spmv_us", "spmv", p->spmv_us);
    out_num(o, "spmv_gain", "gain", scaling_gain(c, i), "%.2f");
    out_str(o, "spmv_limit", "limited by", limit_names[p->spmv_limit]);
    out_rank(o, COLUMN_DETAIL);
    out_time(o, "vectors_us", NULL, square ? p->vectors_us : NAN);
    out_time(o, "reduce_us", "all-reduces", square ? p->reduce_us : NAN);
    out_time(o, "cg_us", "cg", p->cg_us);
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "cg_gain", "cg gain", scaling_cg_gain(c, i), "%.2f");
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "cg_limit", "cg limited by", square ? limit_names[p->cg_limit] : NULL);
    out_bool(o, "sampled", NULL, p->sampled);
}

/* The index of the point with the largest gain. */
static int best_of(const struct scaling *c)
{
    int best = 0;
    for (int i = 1; i < c->n; i++)
        if (scaling_gain(c, i) > scaling_gain(c, best)) best = i;
    return best;
}

/* The most GPUs of which at least half of the time is used; 1: it does not pay. */
static int pays_up_to(const struct scaling *c)
{
    int pays = 1;
    for (int i = 0; i < c->n; i++)
        if (scaling_gain(c, i) >= pays_from * c->point[i].parts) pays = c->point[i].parts;
    return pays;
}

/* The fewest GPUs that give nearly the largest gain. */
static int enough_of(const struct scaling *c, double best)
{
    int i = 0;
    while (scaling_gain(c, i) < nearly * best) i++;
    return c->point[i].parts;
}

static void out_verdict(struct out *o, const struct scaling *c)
{
    char us[32], one[32];
    int best = best_of(c), pays = pays_up_to(c);
    const struct scaling_point *p = &c->point[best];
    double gain = scaling_gain(c, best);
    if (gain <= 1) {
        out_text(o, "More GPUs do not pay: no product is faster than the %s on one GPU.",
                 show_us(c->one_us, one, sizeof one));
        return;
    }
    out_text(o, "A product is at most %.2f times as fast, on %s: %s instead of %s, limited by the %s.", gain,
             how_many(p->parts, "GPU").text, show_us(p->spmv_us, us, sizeof us), show_us(c->one_us, one, sizeof one),
             limit_names[p->spmv_limit]);
    if (enough_of(c, gain) < p->parts)
        out_text(o, "%s %s %.0f%% of that or more.", how_many(enough_of(c, gain), "GPU").text,
                 enough_of(c, gain) == 1 ? "gives" : "give", 100 * nearly);
    if (c->point[c->n - 1].parts > pays)
        out_text(o, "With more than %s, less than half of their time is used.", how_many(pays, "GPU").text);
}

static void out_link(struct out *o, const struct scaling *c)
{
    const struct link *l = c->link;
    double gbs = link_items_gbs(l);
    out_text(o, "%s (%s): start %.3g us + hop %.3g us + bytes / %.3g GB/s%s. %s: %s.", l->name, l->about, l->start_us,
             l->hop_us, gbs, gbs < l->gbs ? " for listed items" : "", l->measured ? "Measured" : "Specification",
             l->source);
    if (!l->measured) out_text(o, "Software adds to a specification, so these times are lower bounds.");
    if (l->most && c->point[c->n - 1].parts > l->most)
        out_text(o, "One machine joins at most %d GPUs by %s; larger numbers suppose that all GPUs are joined so.",
                 l->most, l->name);
}

/* ---- the prediction ---- */

/* The fastest kernel of the format on one GPU. */
static bool choose_kernel(struct session *s, struct matrix *m, const struct args *a, const struct machine *on,
                          struct scaling *c, struct err *e)
{
    struct predictions all = {0};
    const struct format *f = format_find(arg(a, "format") ? arg(a, "format") : "csr");
    bool ok = modeled_matrix(m, e) && predictions_of(s, m, f, 0, c->real, on, &all, e);
    if (ok)
        ok = all.n > 0 || fail(e, E_UNSUPPORTED, "%s: %s", m->name, all.nno ? all.no->why : "no kernel of the format");
    if (ok) c->kernel = all.k->kernel;
    predictions_free(&all);
    return ok;
}

static bool predict(struct session *s, const struct matrix *m, const struct gpus *g, const struct machine *on,
                    struct scaling *c, struct err *e)
{
    bool ok = scaling_begin(c, &m->csr, on, &s->watch, e);
    for (int i = 0; ok && i < g->n; i++) ok = scaling_add(c, &m->csr, g->parts[i], on, &s->watch, e);
    return ok;
}

static bool refuse_others(const struct args *a, struct err *e)
{
    const char *word = arg(a, "reorder") ? "reorder" : arg_count(a, "params") ? "the parameters of a format" : NULL;
    return !word || fail(e, E_USAGE, "`whatif parts` does not take %s; numbers of GPUs come before the format", word);
}

static const struct way *way_of(const struct args *a, const struct matrix *m)
{
    if (arg(a, "by")) return way_find(arg(a, "by"));
    return m->parting && m->parting->P.way ? m->parting->P.way : way_find("bytes");
}

/* The link that the profile in use states, or that `ceilings` measured. apart: only between different GPUs. */
static bool find_measured(const struct machine *on, bool apart, struct measured_link *out)
{
    const struct device *d = device_with_links(apart);
    if (on->link.measured)
        link_of_profile(on, out);
    else if (d)
        link_of_device(d, out);
    return on->link.measured || d;
}

/* The named link; without a name, one that was measured, or else NVLink, or PCI Express if the GPU has no NVLink. */
static bool choose_link(const struct args *a, const struct machine *on, struct scaling *c, struct err *e)
{
    const char *name = arg(a, "link");
    bool measured = name && !strcmp(name, link_measured);
    bool found = (!name || measured) && find_measured(on, !name, &c->own);
    if (measured && !found)
        return fail(e, E_USAGE,
                    "no link was measured; `ceilings on cuda:0+1` measures the link between two GPUs, and `save FILE` "
                    "keeps it for `set gpu FILE`");
    c->link = found ? &c->own.link : link_find(name ? name : on->pcie_only ? "pcie" : "nvlink");
    return true;
}

static void out_scaling(struct session *s, const struct matrix *m, const struct scaling *c, const struct machine *on)
{
    bool sampled = false;
    for (int i = 0; i < c->n; i++) {
        out_point(s, m, c, i);
        sampled |= c->point[i].sampled;
    }
    out_verdict(s->out, c);
    out_text(s->out,
             "%s in %s, rows divided by %s; each point is the slowest of the part with the most nonzeros and the "
             "part with the largest halo.",
             c->kernel->name, precision_of(&m->csr, c->real), c->way->name);
    out_link(s->out, c);
    modeled_remarks(s, on, sampled);
}

/* Views may have kept pointers to the old predictions. */
static void put_scaling(struct matrix *m, struct scaling *c)
{
    SCREEN_EDIT;
    stale_all();
    mem_free(m->scaling);
    m->scaling = c;
}

bool run_whatif_parts(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    struct gpus g;
    struct machine on;
    if (!m || !refuse_others(a, e) || !read_gpus(a, &m->csr, &g, e)) return false;
    struct scaling *c = mem_zero(1, sizeof *c, "the predictions", e);
    if (!c) return false;
    c->way = way_of(a, m);
    c->real = arg_precision(a);
    bool ok = modeled_machine(s, &on, e) && choose_link(a, &on, c, e) && choose_kernel(s, m, a, &on, c, e) &&
              predict(s, m, &g, &on, c, e);
    if (!ok) {
        mem_free(c);
        return false;
    }
    put_scaling(m, c);
    out_scaling(s, m, c, &on);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field speedup_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "the emulated kernel"},
    {"machine", F_TEXT, "GPU that the prediction is for"},
    {"way", F_TEXT, "how the rows were divided: rows, nnz, metis, scotch"},
    {"link", F_TEXT, "link between the GPUs"},
    {"link_known_by", F_TEXT, "where the constants of the link come from", .words = "measured, specification"},
    {"parts", F_COUNT, "number of GPUs", .min = 1},
    {"spmv_us", F_AMOUNT, "the whole product, in us"},
    {"spmv_gain", F_AMOUNT, "time on one GPU / this time"},
    {"spmv_limit", F_TEXT, "what limits the product", .names = limit_names, .name_count = LIMIT_VECTORS},
    {"cg_us", F_AMOUNT | OR_NULL, "an iteration of cg, in us; null: the matrix is not square"},
    {"cg_gain", F_AMOUNT | OR_NULL, "time on one GPU / this time; null: the matrix is not square"},
    {"cg_limit", F_TEXT | OR_NULL, "what limits the iteration; null: the matrix is not square", .names = limit_names,
     .name_count = LIMITS},
    {0},
};
const struct row_kind row_speedup = {"speedup", "the gain of a number of GPUs over one", speedup_fields};

static const struct field whatif_parts_fields[] = {
    {.include = &row_speedup},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"machine_here", F_BOOLEAN,
     "whether the GPU is in this machine and its ceilings were measured; false: the built-in GPU"},
    {"link_start_us", F_AMOUNT, "time of an exchange or all-reduce in software, in us"},
    {"link_hop_us", F_AMOUNT, "time from one GPU to another, in us"},
    {"link_gbs", F_AMOUNT, "bandwidth of one GPU in one direction, in GB/s"},
    {"imbalance", F_AMOUNT, "the most nonzeros of a GPU / their mean", .min = 1},
    {"halo", F_COUNT, "items of x that all GPUs receive in a product"},
    {"halo_most", F_COUNT, "the most that one GPU receives"},
    {"inside_us", F_AMOUNT, "product with the columns that the slowest GPU owns, in us"},
    {"exchange_us", F_AMOUNT, "exchange of the halo, at the same time, in us"},
    {"outside_us", F_AMOUNT, "product with the columns of other GPUs, in us"},
    {"vectors_us", F_AMOUNT | OR_NULL, "passes of cg over vectors, in us; null: the matrix is not square"},
    {"reduce_us", F_AMOUNT | OR_NULL, "all-reduces of an iteration of cg, in us; null: the matrix is not square"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {0},
};
const struct row_kind row_whatif_parts = {"parts", "a number of GPUs", whatif_parts_fields};
