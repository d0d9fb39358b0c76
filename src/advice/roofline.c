/* Computes the roofline of a matrix from the model's predictions and the measurements of the session. */
#include "roofline.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "predictions.h"
#include "report/fields.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>

/* ---- the roofs ---- */

const char *roof_name(const struct roofline *r, enum roof k)
{
    static const char *const names[] = {[ROOF_MEMORY] = "memory", [ROOF_L2] = "L2", [ROOF_L1] = "L1"};
    return k == ROOF_COMPUTE ? precisions[r->real].part == T_F32 ? "fp32" : "fp64" : names[k];
}

double roof_rate(const struct roofline *r, enum roof k)
{
    return r->rate[k];
}

/* What was measured; otherwise L1 delivers L1_WIDTH bytes per clock, and the arithmetic is that of the specification.
 */
static void find_rates(struct roofline *r, const struct machine *g)
{
    enum { L1_WIDTH = 128 };
    bool single = precisions[r->real].part == T_F32;
    double measured = single ? g->c.fp32_gflops : g->c.fp64_gflops;
    r->rate[ROOF_MEMORY] = g->c.read_gbs;
    r->rate[ROOF_L2] = g->c.cache_gbs;
    r->rate[ROOF_L1] = g->c.l1_gbs > 0 ? g->c.l1_gbs : g->sms * L1_WIDTH * g->is.clock_ghz;
    r->rate[ROOF_COMPUTE] = measured > 0 ? measured : single ? g->is.fp32_gflops : g->is.fp64_gflops;
}

double roof_at(const struct roofline *r, enum roof k, double intensity)
{
    double flat = roof_rate(r, ROOF_COMPUTE);
    return k == ROOF_COMPUTE ? flat : fmin(flat, roof_rate(r, k) * intensity);
}

/* ---- the points ---- */

double point_us(const struct roof_point *p)
{
    return isnan(p->measured_us) ? p->predicted_us : p->measured_us;
}

double point_gflops(const struct roof_point *p)
{
    return p->flops / point_us(p) / 1000;
}

double point_intensity(const struct roof_point *p, enum roof_bytes by)
{
    return p->bytes[by] > 0 ? p->flops / p->bytes[by] : NAN;
}

static int by_time(const void *a, const void *b)
{
    double x = point_us(a), y = point_us(b);
    return (x > y) - (x < y);
}

/* The 32-byte sectors that the loads of all launches request. */
static double requested(const struct workload *w)
{
    double sectors = 0;
    for (int l = 0; l < w->n; l++) sectors += w->launch[l].sectors;
    return sectors * SECTOR;
}

static struct roof_point point_of(const struct session *s, const struct matrix *m, const struct modeled *k)
{
    const struct run *measured = modeled_run(s, m, k->kernel, k->real);
    return (struct roof_point){.kernel = k->kernel,
                               .flops = type_flops(precisions[k->real].vector) * (double)m->csr.nnz,
                               .bytes = {(double)k->bytes, k->time.l2_bytes, requested(&k->work)},
                               .predicted_us = k->time.us,
                               .measured_us = measured ? measured->us : NAN,
                               .bound = bound_names[k->time.bound]};
}

/* Library kernels cannot be emulated, but they may have been measured. */
static void add_measured(struct roofline *r, const struct session *s, const struct matrix *m)
{
    for (int i = 0; kernels[i]; i++) {
        const struct run *run = kernels[i]->vendor ? modeled_run(s, m, kernels[i], r->real) : NULL;
        if (!run) continue;
        r->point[r->n++] = (struct roof_point){.kernel = kernels[i],
                                               .flops = type_flops(precisions[r->real].vector) * (double)m->csr.nnz,
                                               .bytes = {(double)run->bytes, NAN, NAN},
                                               .predicted_us = NAN,
                                               .measured_us = run->us};
    }
}

static struct roofline *make(const struct session *s, const struct matrix *m, const struct predictions *a,
                             enum precision real, const struct machine *g, struct err *e)
{
    struct roofline *r = mem_zero(1, sizeof *r, "a roofline", e);
    int most = registry_count(&kernel_registry);
    struct roof_point *points = r ? mem_new(most, sizeof *points, "a roofline", e) : NULL;
    const struct kernel **slow = points ? mem_new(most, sizeof *slow, "a roofline", e) : NULL;
    if (!slow) return mem_free(points), mem_free(r), NULL;
    *r = (struct roofline){.matrix = m,
                           .real = precision_of_values(real, m->csr.imag != NULL),
                           .here = g->here,
                           .scaled = g->scaled,
                           .point = points,
                           .slow = slow};
    snprintf(r->machine, sizeof r->machine, "%s", g->name);
    find_rates(r, g);
    for (int i = 0; i < a->n; i++) {
        points[r->n++] = point_of(s, m, &a->k[i]);
        r->sampled |= a->k[i].work.sampled;
    }
    for (int i = 0; i < a->nslow; i++) r->slow[r->nslow++] = a->slow[i].kernel;
    add_measured(r, s, m);
    qsort(points, (size_t)r->n, sizeof *points, by_time);
    return r;
}

static void put(struct session *s, struct roofline *r)
{
    struct roofline *before = s->roofline;
    SCREEN_EDIT;
    s->roofline = r;
    if (before) mem_free(before->point);
    if (before) mem_free(before->slow);
    mem_free(before);
}

static void drop(struct session *s)
{
    put(s, NULL);
}

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->roofline && s->roofline->matrix == m;
}

const struct holding holding_roofline = {.drop = drop, .belongs_to = is_of};

bool roofline_begin(struct session *s, struct matrix *m, enum precision real, struct err *e)
{
    struct machine g;
    struct predictions a = {0};
    bool ok = modeled_matrix(m, e) && modeled_machine(s, &g, e) && predictions_of(s, m, NULL, 0, real, &g, &a, e);
    struct roofline *r = ok ? make(s, m, &a, real, &g, e) : NULL;
    predictions_free(&a);
    if (!r) return false;
    put(s, r);
    return true;
}

/* ---- output ---- */

static void out_common(struct out *o, const struct roofline *r, const char *kind, const char *name)
{
    out_row(o);
    out_str(o, "kind", NULL, kind);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "name", "kernel", name);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, "matrix", NULL, r->matrix->name);
    out_str(o, "precision", NULL, precision_of(&r->matrix->csr, r->real));
    out_str(o, "machine", NULL, r->machine);
    out_bool(o, "machine_here", NULL, r->here);
}

/* The roofs are rows of JSON and CSV; text names them in a sentence. */
static void out_roof(struct out *o, const struct roofline *r, enum roof k)
{
    out_common(o, r, "roof", roof_name(r, k));
    out_str(o, "format", NULL, NULL);
    out_num(o, "flops", NULL, NAN, NULL);
    out_num(o, "bytes", NULL, NAN, NULL);
    out_num(o, "l2_bytes", NULL, NAN, NULL);
    out_num(o, "l1_bytes", NULL, NAN, NULL);
    out_num(o, "flops_per_byte", NULL, NAN, NULL);
    out_num(o, "gflops", NULL, k == ROOF_COMPUTE ? roof_rate(r, k) : NAN, NULL);
    out_num(o, "gbs", NULL, k == ROOF_COMPUTE ? NAN : roof_rate(r, k), NULL);
    out_str(o, "time_by", NULL, r->here ? "measured" : "constants");
    out_num(o, "predicted_us", NULL, NAN, NULL);
    out_num(o, "measured_us", NULL, NAN, NULL);
    out_num(o, "roof_percent", NULL, NAN, NULL);
    out_str(o, "bound", NULL, NULL);
}

static void out_point(struct out *o, const struct roofline *r, const struct roof_point *p)
{
    double least = point_intensity(p, BYTES_MIN), roof = roof_at(r, ROOF_MEMORY, least);
    out_common(o, r, "kernel", p->kernel->name);
    out_str(o, "format", NULL, p->kernel->format->name);
    out_num(o, "flops", NULL, p->flops, NULL);
    out_num(o, "bytes", NULL, p->bytes[BYTES_MIN], NULL);
    out_num(o, "l2_bytes", NULL, p->bytes[BYTES_L2], NULL);
    out_num(o, "l1_bytes", NULL, p->bytes[BYTES_L1], NULL);
    out_num(o, "flops_per_byte", "flops/byte", least, "%.4f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, NULL, "of L2", point_intensity(p, BYTES_L2), "%.4f");
    out_num(o, NULL, "of L1", point_intensity(p, BYTES_L1), "%.4f");
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "gflops", "GFLOP/s", point_gflops(p), "%.1f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "gbs", NULL, p->bytes[BYTES_MIN] / point_us(p) / 1000, NULL);
    out_str(o, "time_by", "by", isnan(p->measured_us) ? "predicted" : "measured");
    out_num(o, "predicted_us", NULL, p->predicted_us, NULL);
    out_num(o, "measured_us", NULL, p->measured_us, NULL);
    out_num(o, "roof_percent", "% of memory roof", 100 * point_gflops(p) / roof, "%.0f");
    out_str(o, "bound", "bound by", p->bound);
}

static void say_roofs(struct out *o, const struct roofline *r)
{
    out_text(o, "Roofs of %s%s, %s: memory %.0f GB/s, L2 %.0f GB/s, L1 %.0f GB/s, %s %.0f GFLOP/s.",
             r->here ? "" : "an ", r->machine, r->here ? "measured" : "the model's constants",
             roof_rate(r, ROOF_MEMORY), roof_rate(r, ROOF_L2), roof_rate(r, ROOF_L1), roof_name(r, ROOF_COMPUTE),
             roof_rate(r, ROOF_COMPUTE));
    out_text(o, "flops/byte counts the bytes that must move, then those that L2 moves, and those requested from L1.");
}

/* Name the kernels that are missing. */
static void say_slow(struct out *o, const struct roofline *r)
{
    char text[800];
    int n = snprintf(text, sizeof text, "Not predicted, because at least three kernels are faster for certain:");
    for (int i = 0; i < r->nslow && n < (int)sizeof text; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %s", i ? "," : "", r->slow[i]->name);
    if (r->nslow) out_text(o, "%s.", text);
}

static bool some_above(const struct roofline *r)
{
    for (int i = 0; i < r->n; i++)
        if (point_gflops(&r->point[i]) > roof_at(r, ROOF_MEMORY, point_intensity(&r->point[i], BYTES_MIN))) return true;
    return false;
}

void out_roofline(struct session *s, const struct roofline *r)
{
    struct machine g = {.here = r->here, .scaled = r->scaled};
    snprintf(g.name, sizeof g.name, "%s", r->machine);
    struct out *o = s->out;
    for (int k = 0; k < ROOFS && out_mode(o) != OUT_TEXT; k++) out_roof(o, r, (enum roof)k);
    for (int i = 0; i < r->n; i++) out_point(o, r, &r->point[i]);
    say_roofs(o, r);
    say_slow(o, r);
    if (some_above(r)) out_text(o, "Above 100%%: L2 keeps data between the products, so that less comes from memory.");
    modeled_remarks(s, &g, r->sampled);
}

/* ---- the keys of the rows ---- */

static const struct field roofline_fields[] = {
    {"kind", F_TEXT, "a limit, or a kernel", .words = "roof, kernel"},
    {"name", F_TEXT, "the limit (memory, L2, L1, fp64 or fp32) or the kernel"},
    {"matrix", F_TEXT, "name of the matrix"},
    {.include = &row_precision},
    {"machine", F_TEXT, "the GPU"},
    {"machine_here", F_BOOLEAN, "whether the limits were measured on a GPU of this machine"},
    {"format", F_TEXT | OR_NULL, "storage format; null for a limit"},
    {"flops", F_AMOUNT | OR_NULL, "operations of one SpMV; null for a limit"},
    {"bytes", F_AMOUNT | OR_NULL, "bytes that one SpMV must move; null for a limit"},
    {"l2_bytes", F_AMOUNT | OR_NULL, "bytes to and from L2, by the model; null for a limit and for library kernels"},
    {"l1_bytes", F_AMOUNT | OR_NULL, "bytes of the sectors that loads request, by the model; null as for l2_bytes"},
    {"flops_per_byte", F_AMOUNT | OR_NULL, "flops / bytes; null for a limit"},
    {"gflops", F_AMOUNT | OR_NULL, "10^9 operations per second; null for the limits memory, L2 and L1"},
    {"gbs", F_AMOUNT | OR_NULL, "GB/s: a limit, or bytes / time; null for the limit of arithmetic"},
    {"time_by", F_TEXT, "how the row was found; constants: those of the model",
     .words = "measured, predicted, constants"},
    {"predicted_us", F_AMOUNT | OR_NULL, "predicted time, in us; null for a limit and for library kernels"},
    {"measured_us", F_AMOUNT | OR_NULL, "time measured on this GPU in this session, in us; null: not measured",
     .on = "cuda"},
    {"roof_percent", F_AMOUNT | OR_NULL,
     "gflops as a percentage of the memory roof at flops_per_byte; null for a limit"},
    {"bound", F_TEXT | OR_NULL, "what limits the predicted kernel; null: not predicted", .names = bound_names,
     .name_count = BOUNDS + 1},
    {0},
};
const struct row_kind row_roofline = {"roofline", "the limits of a GPU, and all kernels of a matrix below them",
                                      roofline_fields};
