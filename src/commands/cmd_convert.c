/* convert: store a matrix in a format, on the host or on a device, and report the cost and the benefit. */
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "formats/measures.h"
#include "language/args.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/packer.h"
#include "report/fields.h"
#include "report/output_candidates.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>

enum { TIMED_RUNS = 5, TIMED_PRODUCTS = 10 };

/* The times of a conversion for a device, in us; NaN: unknown, as on the emulator. */
struct cost {
    struct device *dev; /* NULL: no device was named, so nothing was timed */
    bool there;         /* the device packs the format itself; otherwise the host packs it */
    double pack_us;     /* if the device packs: the median of the runs after the first, with memory already allocated */
    double copy_us;     /* time to copy the host's result to the device */
    double copy_gbs;    /* rate of that copy without allocation */
    double csr_us;      /* time of one SpMV with csr */
    double own_us;      /* time of one SpMV with the format */
    const struct kernel *csr; /* default kernel of csr on the device */
    const struct kernel *own; /* default kernel of the format on the device */
};

static double conversion_us(const struct cost *c)
{
    return c->pack_us + c->copy_us;
}

/* Where and how fast the matrix was packed: "in 3.25 ms" (on the host), "on cuda:0 in 3.25 ms", "on emu". */
static void packed_how(const struct product *p, char *out, size_t size)
{
    if (p->packed_on && p->packed_on->kind == DEV_EMU)
        snprintf(out, size, "on emu");
    else
        snprintf(out, size, "%s%.32s%sin %.2f ms", p->packed_on ? "on " : "", p->packed_on ? p->packed_on->name : "",
                 p->packed_on ? " " : "", p->prep_us / 1000);
}

static void out_title(struct out *o, const struct matrix *m, const struct product *p)
{
    char params[160], bytes[32], time[64], empty[32];
    packed_how(p, time, sizeof time);
    const struct stored *S = &p->S;
    int64_t slots = stored_slots(S), padding = slots - S->nnz;
    stored_params(S, params, sizeof params);
    out_text(o, "%s as %s%s%s%s, %s: %s, %s of %s padding (%.1f%%), packed %s", m->name, S->format->name,
             *params ? " (" : "", params, *params ? ")" : "", precisions[S->real].name,
             show_bytes((double)stored_bytes(S), bytes, sizeof bytes), show_count(padding, empty, sizeof empty),
             how_many(slots, "slot").text, slots ? 100 * (double)padding / (double)slots : 0.0, time);
}

/* In text, print the load balance of a diagonal format. */
static void say_balance(struct out *o, const struct stored *S)
{
    struct measures m;
    if (format_measures(S, &m, NULL))
        out_text(o, "load balance: %s in %s, variance %.4g", how_many(m.operands, "operand").text,
                 how_many(m.pieces, "piece").text, m.variance);
}

/* ---- the cost ---- */

/* The time of one SpMV by k; NaN if k is NULL or fails. */
static double product_us(struct session *s, struct spmv_request w, const struct kernel *k)
{
    struct run r;
    struct err unseen = {0};
    w.kernel = k;
    w.reps = TIMED_PRODUCTS;
    if (!k || w.matrix->csr.nnz == 0 || !spmv_measure(s, &w, &r, &unseen)) return NAN;
    return r.us;
}

/* Time the packing by the device, with the requested parameters and with memory already allocated. */
static bool time_there(struct session *s, const struct spmv_request *w, const struct product *p, double *us,
                       struct err *e)
{
    struct packing *again;
    struct product *csr = session_product(s, form_of(w->matrix, &format_csr, NULL, w->real), e);
    struct mat *A = csr ? session_mat(s, csr, w->dev, e) : NULL;
    if (!A || !packing_begin(&again, p->S.format, A, p->requested, true, e)) return false;
    bool ok = packing_time(again, TIMED_RUNS, us, e);
    packing_free(again);
    return ok;
}

/* The time to pack on the host. If a device packed the stored result, the host packs the matrix again to measure the
   time. */
static bool time_host(const struct spmv_request *w, const struct product *p, double *us, struct err *e)
{
    struct stored S;
    double start = now_us();
    *us = p->prep_us;
    if (!p->packed_on) return true;
    if (!format_pack(&w->matrix->csr, p->S.format, p->requested, w->real, true, &S, e)) return false;
    *us = now_us() - start;
    stored_free(&S);
    return true;
}

/* M is the copy of the stored matrix on the device. The time to copy M is read first, because later uploads may move M.
   If the device does not have enough memory to pack the matrix a second time, the host's times are used. */
static bool cost_of(struct session *s, const struct spmv_request *w, struct product *p, struct cost *c, struct err *e)
{
    struct mat *M = session_mat(s, p, w->dev, e);
    struct spmv_request same = *w;
    struct err why = {0};
    if (!M) return false;
    *c = (struct cost){w->dev, false, NAN, NAN, NAN, NAN, NAN, NULL, NULL};
    if (w->dev->kind == DEV_EMU) return true;
    double put_us = p->put_us[M - p->mat];
    bool copied = M->copied.bytes > 0;
    c->copy_gbs = copied_gbs(&M->copied);
    c->there = packer_for(p->S.format, w->dev, w->real) && time_there(s, w, p, &c->pack_us, &why);
    c->copy_us = c->there || !copied ? 0 : put_us;
    if (why.code == E_CANCELLED || why.code == E_DEVICE) return fail(e, why.code, "%s", why.text);
    if (!c->there && !time_host(w, p, &c->pack_us, e)) return false;
    c->csr = kernel_default(&format_csr, &w->matrix->csr, w->dev);
    c->own = kernel_default(p->S.format, &w->matrix->csr, w->dev);
    if (c->own != c->csr) c->csr_us = product_us(s, *w, c->csr);
    same.param = p->requested;
    c->own_us = product_us(s, same, c->own);
    return true;
}

static void say_packing(struct out *o, const struct cost *c)
{
    char copy[96] = "", rate[32] = "";
    if (isfinite(c->copy_gbs)) snprintf(rate, sizeof rate, " (%.2f GB/s)", c->copy_gbs);
    if (c->copy_us > 0)
        snprintf(copy, sizeof copy, ", copied to %s in %.2f ms%s", c->dev->name, c->copy_us / 1000, rate);
    if (c->there)
        out_text(o, "%s packs it from the csr on the device in %.3f ms, with memory already allocated", c->dev->name,
                 c->pack_us / 1000);
    else
        out_text(o, "the host packs it in %.2f ms%s", c->pack_us / 1000, copy);
}

static void say_cost(struct out *o, const struct cost *c, const struct product *p)
{
    double all = conversion_us(c), after = conversion_pays_after(all, c->csr_us, c->own_us);
    if (isnan(c->pack_us)) {
        out_text(o, "The emulator models accesses, not time: nothing is timed.");
        return;
    }
    say_packing(o, c);
    if (isnan(after)) return;
    out_text(o, "one SpMV on the device: %.2f us by %s, %.2f us by %s; the conversion costs %.1f SpMVs with csr",
             c->csr_us, c->csr->name, c->own_us, c->own->name, conversion_spmvs(all, c->csr_us));
    if (isinf(after))
        out_text(o, "the conversion never pays for itself: %s is not faster than csr here", p->S.format->name);
    else
        out_text(o, "the conversion pays for itself after %.0f SpMVs", after);
}

/* ---- the arrays ---- */

static void out_cost(struct out *o, const struct cost *c)
{
    double all = conversion_us(c), after = conversion_pays_after(all, c->csr_us, c->own_us);
    out_str(o, "device", NULL, c->dev ? c->dev->name : NULL);
    out_str(o, "conversion_on", NULL, isnan(c->pack_us) ? NULL : c->there ? c->dev->name : "host");
    out_num(o, "pack_us", NULL, c->pack_us, NULL);
    out_num(o, "copy_us", NULL, c->copy_us, NULL);
    out_num(o, "copy_gbs", NULL, c->copy_gbs, NULL);
    out_num(o, "csr_spmv_us", NULL, c->csr_us, NULL);
    out_num(o, "spmv_us", NULL, c->own_us, NULL);
    out_num(o, "conversion_spmvs", NULL, conversion_spmvs(all, c->csr_us), NULL);
    out_str(o, "pays", NULL, isnan(after) ? NULL : isinf(after) ? "never" : "after");
    out_num(o, "pays_after", NULL, isinf(after) ? NAN : after, NULL);
}

static void out_array(struct out *o, const struct matrix *m, const struct product *p, const struct cost *c,
                      const struct candidates *others, const struct array *a)
{
    struct measures measures;
    bool diagonals = format_measures(&p->S, &measures, NULL);
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "format", NULL, p->S.format->name);
    out_str(o, "precision", NULL, precision_of(&m->csr, p->S.real));
    out_str(o, "array", "array", a->name);
    out_str(o, "type", "type", type_name(a->type));
    out_int(o, "n", "length", a->n);
    out_bytes(o, "bytes", "size", a->n * (int64_t)type_size(a->type));
    out_int(o, "stored_bytes", NULL, stored_bytes(&p->S));
    out_int(o, "padding", NULL, stored_slots(&p->S) - p->S.nnz);
    out_str(o, "packed_on", NULL, p->packed_on ? p->packed_on->name : "host");
    out_num(o, "prep_us", NULL, p->packed_on && p->packed_on->kind == DEV_EMU ? NAN : p->prep_us, NULL);
    out_cost(o, c);
    out_measures(o, diagonals ? &measures : NULL);
    out_candidates(o, others);
}

static bool run_convert(struct session *s, const struct args *a, struct err *e)
{
    const struct format *f = format_find(arg(a, "format"));
    const char *on = arg(a, "on");
    int64_t param[PARAMS_MAX], own[PARAMS_MAX];
    struct cost c = {NULL, false, NAN, NAN, NAN, NAN, NAN, NULL, NULL};
    struct candidates others;
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    if (!m || !arg_params(a, f->params, param, e)) return false;
    bool given = arg_count(a, "params") > 0;
    struct device *d = on ? session_device(s, on, e) : given || !f->suit ? NULL : session_device(s, NULL, NULL);
    if (on && !d) return false;
    struct spmv_request w = {.matrix = m,
                             .dev = d,
                             .real = arg_precision(a),
                             .force = arg_flag(a, "force"),
                             .param = given ? param
                                      : d   ? format_suit(f, &m->csr, arg_precision(a), multiprocessors_of(d), own)
                                            : NULL};
    struct form form = form_of(m, f, w.param, w.real);
    form.force = w.force;
    form.packer = on ? d : NULL;
    struct product *p = session_product(s, form, e);
    if (!p || (on && !cost_of(s, &w, p, &c, e)) || !candidates_of(&m->csr, &p->S, &others, e)) return false;
    m->converted = f;
    out_title(s->out, m, p);
    if (on) say_cost(s->out, &c, p);
    say_balance(s->out, &p->S);
    say_candidates(s->out, &p->S, &others);
    for (int k = 0; k < p->S.narrays; k++) out_array(s->out, m, p, &c, &others, &p->S.a[k]);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field convert_fields[] = {
    {.include = &row_diagonals},
    {.include = &row_candidates},
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"array", F_TEXT, "name of the array"},
    {"type", F_TEXT, "type of its values", .words = "int32, int64, fp16, bf16, fp32, fp64, complex fp32, complex fp64"},
    {"n", F_COUNT, "number of values in the array"},
    {"bytes", F_COUNT, "size in bytes"},
    {"stored_bytes", F_COUNT, "size of all arrays, in bytes"},
    {"padding", F_COUNT, "slots without an entry, in all arrays"},
    {"packed_on", F_TEXT, "device that packed the matrix, or host"},
    {"prep_us", F_AMOUNT | OR_NULL, "packing, in us; null on emu"},
    {"device", F_TEXT | OR_NULL, "device after `on`; null without `on`, and then all keys below are null"},
    {"conversion_on", F_TEXT | OR_NULL, "the device on which the conversion is fastest, or host; null on emu"},
    {"pack_us", F_AMOUNT | OR_NULL, "time to pack on that device, in us; null on emu"},
    {"copy_us", F_AMOUNT | OR_NULL, "copying the result to the device, in us; null on emu"},
    {"copy_gbs", F_AMOUNT | OR_NULL,
     "rate of that copy without allocation, in GB/s; null if nothing was copied, and on cpu and emu", .on = "cuda"},
    {"csr_spmv_us", F_AMOUNT | OR_NULL, "time of one SpMV with csr, in us; null if the format is csr, and on emu"},
    {"spmv_us", F_AMOUNT | OR_NULL, "time of one SpMV with the format, in us; null on emu"},
    {"conversion_spmvs", F_AMOUNT | OR_NULL,
     "time of the conversion in SpMVs with csr; null if the format is csr, and on emu"},
    {"pays", F_TEXT | OR_NULL, "whether the conversion pays for itself; null where that is not known",
     .words = "after, never"},
    {"pays_after", F_AMOUNT | OR_NULL, "number of SpMVs after which the conversion has paid for itself; null: never",
     .on = "cuda"},
    {0},
};
static const struct row_kind row_convert = {
    "convert", "an array of the matrix in its format, and what converting costs", convert_fields};

const struct command command_convert = {
    .name = "convert",
    .aliases = "pack",
    .grammar = "FORMAT [PARAMS] [[of] MATRIX] [on DEVICE] [f32|f64|[precision] PRECISION] [force]",
    .about = "store a matrix in a format and show its arrays and, for a device, the cost",
    .help = "`help FORMAT` lists the parameters of a format. spmv, bench and solve reuse the result. If a device is\n"
            "named, a GPU packs most formats itself, from its copy of the csr; the host packs the others and copies\n"
            "them. A few SpMVs are timed. The report gives the cost of the conversion in SpMVs with csr, and the\n"
            "number of SpMVs after which it has paid for itself.\n"
            "    convert hyb width 2 of A f32; convert sell on cuda",
    .rows = (const struct row_kind *const[]){&row_convert, NULL},
    .run = run_convert,
    .sweeps = true,
    .large = true,
};
