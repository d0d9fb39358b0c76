/* lu: factors a matrix as a dense matrix, with one method or with all methods, or shows the factorisation column by
   column. */
#include "cmd_lu.h"
#include "base/err.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "formats/format.h"
#include "language/args.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/pattern.h"
#include "session/product.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

enum { STEP_NUMBERS = 12, HOST_MAX = 4096, EMU_MAX = 200 };

/* One method's time and results. */
struct timed {
    const struct lu_method *method;
    struct device *dev;
    double us, spread;
    struct lu sum; /* use only the numbers: the memory behind the pointers is already freed */
};

/* ---- one method ---- */

/* Print the share of each part in the total time, if the parts were timed. */
static void out_parts(struct out *o, const struct lu *v, bool sampled)
{
    char text[128] = "";
    double all = 0;
    for (int i = 0; sampled && i < LU_PARTS; i++) all += v->part_us[i];
    out_strs(o, "parts", all > 0 ? LU_PARTS : 0, lu_part_name);
    out_nums(o, "part_us", all > 0 ? LU_PARTS : 0, v->part_us);
    if (!(all > 0)) return;
    for (int i = 0; i < LU_PARTS; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s %.0f%%", i ? ", " : "", lu_part_name[i], 100 * v->part_us[i] / all);
    }
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "spent on", text);
}

static void out_determinant(struct out *o, const struct lu *v)
{
    char text[128];
    int n;
    out_int_if(o, "det_sign", NULL, (!type_is_complex(v->real) || !v->sign) && !v->rounded, v->sign);
    out_num(o, "det_log10", NULL, v->sign ? v->log10_det : NAN, NULL);
    if (out_mode(o) != OUT_TEXT) return;
    if (v->sign && fabs(v->log10_det) < 15)
        n = snprintf(text, sizeof text, "%.6g", v->sign * pow(10, v->log10_det));
    else if (v->sign)
        n = snprintf(text, sizeof text, "%s10^%.4f", v->sign < 0 ? "-" : "", v->log10_det);
    else
        n = snprintf(text, sizeof text, "0");
    if (v->rounded)
        snprintf(text + n, sizeof text - (size_t)n,
                 ", but no digit is certain: a pivot is as small as rounding errors");
    out_str(o, NULL, type_is_complex(v->real) ? "|determinant|" : "determinant", text);
}

static const char *singular_text(const struct lu *v, char *out, size_t size)
{
    snprintf(out, size, "to %s: column %lld (counted from 0) has no nonzero pivot", type_name(type_of_parts(v->real)),
             (long long)v->singular);
    return v->singular < 0 ? "no" : out;
}

static double gflops(const struct timed *t)
{
    double each = type_flops(t->sum.real) / 2; /* a complex operation counts as 4 */
    return t->us > 0 ? each * lu_flops(t->sum.n) / t->us * 1e-3 : NAN;
}

static void report(struct session *s, const struct matrix *m, const struct timed *t)
{
    char text[80];
    struct out *o = s->out;
    const struct lu *v = &t->sum;
    out_record(o);
    out_str(o, "matrix", "matrix", m->name);
    out_str(o, "method", "method", t->method->name);
    out_str(o, "device", "device", t->dev->name);
    out_str(o, "precision", "precision", type_name(v->real));
    out_int(o, "rows", "rows", v->n);
    out_num(o, "b", v->b ? "b" : NULL, v->b ? v->b : NAN, "%.0f");
    out_str(o, "version", t->method->vendor ? "version" : NULL, lu_version(t->method));
    out_time(o, "time_us", "time", t->us);
    out_time(o, "spread_us", "+-", t->spread);
    out_num(o, "gflops", "GFLOP/s", gflops(t), "%.1f");
    out_time(o, "put_us", t->dev->kind == DEV_CUDA ? "copied there in" : NULL,
             t->dev->kind == DEV_EMU ? NAN : v->put_us);
    out_time(o, "solve_us", "substitution", t->dev->kind == DEV_EMU ? NAN : v->solve_us);
    out_parts(o, v, t->dev->kind != DEV_EMU);
    out_bool(o, "singular", NULL, v->singular >= 0);
    out_num(o, "singular_column", NULL, v->singular >= 0 ? (double)v->singular : NAN, NULL);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "singular", singular_text(v, text, sizeof text));
    out_determinant(o, v);
    out_num(o, "growth", "growth", v->growth, "%.4g");
    out_num(o, "backward_error", "backward error", v->backward, "%.3e");
    out_num(o, "error_known", "error in x", v->error, "%.3e");
}

/* Factor the matrix, measure the time, and compute the errors. If `parts` is set, also time each part of the method. */
static bool run_one(const struct matrix *m, const struct lu_options *o, int reps, bool parts, struct timed *t,
                    struct err *e)
{
    struct lu *v = NULL;
    *t = (struct timed){0};
    bool begun = lu_begin(&v, &m->csr, o, e);
    bool sampled = begun && parts && v->dev->kind != DEV_EMU && v->method->has_parts;
    bool ok = begun && lu_time(v, reps, &t->us, &t->spread, e) && (!sampled || lu_sample(v, e)) && lu_measure(v, e);
    if (!begun) return false;
    t->method = v->method;
    t->dev = v->dev;
    t->sum = *v;
    lu_free(v);
    return ok;
}

/* ---- all methods ---- */

static void out_timed(struct out *o, const struct matrix *m, const struct timed *t, double baseline_us)
{
    const struct lu *v = &t->sum;
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "method", "method", t->method->name);
    out_str(o, "device", "device", t->dev->name);
    out_str(o, "precision", NULL, type_name(v->real));
    out_int(o, "rows", NULL, v->n);
    out_num(o, "b", NULL, v->b ? v->b : NAN, NULL);
    out_str(o, "version", NULL, lu_version(t->method));
    out_time(o, "time_us", "time", t->us);
    out_num(o, "gflops", "GFLOP/s", gflops(t), "%.1f");
    out_num(o, "speedup", "speed-up", baseline_us > 0 ? baseline_us / t->us : NAN, "%.2f");
    out_num(o, "backward_error", "backward error", v->backward, "%.1e");
    out_num(o, "growth", "growth", v->growth, "%.3g");
    out_bool(o, "singular", NULL, v->singular >= 0);
}

/* If the matrix is singular, the table has no errors to show, so print a line below the table. */
static void out_all_singular(struct out *o, const struct matrix *m, const struct timed *t, int n)
{
    for (int i = 0; i < n; i++)
        if (t[i].sum.singular >= 0) {
            out_text(o, "%s is singular to %s: column %lld (counted from 0) has no nonzero pivot", m->name,
                     type_name(type_of_parts(t[i].sum.real)), (long long)t[i].sum.singular);
            return;
        }
}

/* Methods that would take minutes are left out, with a note. */
static bool too_long(struct session *s, const struct lu_method *m, const struct device *d, int64_t n)
{
    int64_t most = d->kind == DEV_CPU ? HOST_MAX : d->kind == DEV_EMU ? EMU_MAX : INT64_MAX;
    if (n <= most) return false;
    out_note(s->out, "skipped %s on %s: more than %lld rows; run it with `lu %s on %s`", m->name, d->name,
             (long long)most, m->name, d->name);
    return true;
}

static bool run_on(struct session *s, const struct matrix *m, struct lu_options o, int reps, struct timed *t, int *n,
                   struct err *e)
{
    for (int i = 0; lu_methods[i]; i++) {
        struct err why = {0};
        if (!lu_runs_on(lu_methods[i], o.dev) || too_long(s, lu_methods[i], o.dev, m->csr.rows)) continue;
        o.method = lu_methods[i];
        if (run_one(m, &o, reps, false, &t[*n], &why)) {
            ++*n;
            continue;
        }
        if (why.code == E_CANCELLED || o.dev->lost || !o.method->vendor)
            return fail_at(e, why.code, why.where, "%s", why.text);
        out_note(s->out, "%s: %s", o.method->name, why.text);
    }
    return true;
}

static bool run_all(struct session *s, const struct matrix *m, struct lu_options o, const char *on, int reps,
                    struct err *e)
{
    struct timed t[2 * 8];
    int n = 0;
    double baseline_us = NAN;
    struct device *first = o.dev, *cpu = device_open("cpu", e), *emu = device_open("emu", e);
    if (!cpu || !emu) return false;
    if (!on && first->kind != DEV_CUDA) first = emu;
    bool ok = true;
    if (!on) {
        o.dev = cpu;
        ok = run_on(s, m, o, reps, t, &n, e);
    }
    o.dev = first;
    ok = ok && run_on(s, m, o, reps, t, &n, e);
    for (int i = 0; i < n; i++)
        if (t[i].method->baseline) baseline_us = t[i].us;
    if (n)
        out_text(s->out, "%s, %s, dense, %s", m->name, how_many(m->csr.rows, "row").text,
                 precision_of(&m->csr, o.real));
    for (int i = 0; i < n; i++) out_timed(s->out, m, &t[i], baseline_us);
    for (int i = 0; i < n; i++)
        if (t[i].method->vendor) out_text(s->out, "%s: %s", t[i].method->name, lu_version(t[i].method));
    out_all_singular(s->out, m, t, n);
    if (ok && first == emu && n)
        out_text(s->out, "The emulator checks memory accesses and results; it does not model time.");
    return ok;
}

/* ---- a column at a time ---- */

static void print_state(struct out *o, const struct lu_steps *v)
{
    char line[16 * STEP_NUMBERS];
    for (int64_t i = 0; i < v->n; i++) {
        size_t at = 0;
        for (int64_t j = 0; j < v->n; j++) {
            const char *before = j == v->k ? (i >= v->k ? " |" : "  ") : "";
            at += (size_t)snprintf(line + at, sizeof line - at, "%s %8.4g", before, v->a[j * v->n + i]);
        }
        out_text(o, "  row %2d %s", v->row[i], line);
    }
}

static void out_step(struct out *o, const struct matrix *m, const struct lu_steps *v)
{
    int64_t k = v->k - 1;
    double pivot = k < 0 ? NAN : v->a[k * v->n + k];
    if (out_mode(o) == OUT_TEXT && v->n <= STEP_NUMBERS) {
        if (k < 0)
            out_text(o, "%s: L and U fill in from the left; the part to the right of | is still to be eliminated",
                     m->name);
        if (k >= 0 && v->pivot != k)
            out_text(o, "column %lld: pivot %.4g; rows %lld and %lld are exchanged", (long long)k, pivot, (long long)k,
                     (long long)v->pivot);
        if (k >= 0 && v->pivot == k) out_text(o, "column %lld: pivot %.4g, already in place", (long long)k, pivot);
        print_state(o, v);
        return;
    }
    if (k < 0) return;
    out_row(o);
    out_int(o, "column", "column", k);
    out_int(o, "pivot_row", "pivot's row", v->pivot);
    out_num(o, "pivot", "pivot", pivot, "%.6g");
    out_values(o, "state", v->n <= STEP_NUMBERS ? v->n * v->n : 0, v->a);
}

static bool check_steps(const struct matrix *m, bool force, struct err *e)
{
    const struct csr *A = &m->csr;
    if (A->imag || A->rows != A->cols || !A->rows)
        return fail(e, E_UNSUPPORTED, "`lu step` takes real square matrices only, and %s is not one", m->name);
    if (A->rows <= LU_STEPS_MAX) return force || csr_finite(A, "eliminate", e);
    return fail(e, E_LIMIT, "%s has %s; `lu step` accepts matrices of up to %d", m->name, how_many(A->rows, "row").text,
                +LU_STEPS_MAX);
}

bool lu_steps_begin(struct session *s, struct matrix *m, bool force, struct err *e)
{
    struct lu_steps *v = NULL;
    if (!check_steps(m, force, e) || !lu_steps_new(&v, &m->csr, e)) return false;
    SCREEN_EDIT;
    lu_steps_free(s->lu);
    s->lu = v;
    return true;
}

static void go_to(struct lu_steps *v, int64_t k)
{
    SCREEN_EDIT;
    lu_steps_to(v, k);
}

/* At a terminal, show the steps full screen; in a script or a lesson, print every column. */
static bool run_steps(struct session *s, struct matrix *m, bool force, struct err *e)
{
    if (!lu_steps_begin(s, m, force, e)) return false;
    out_note(s->out,
             "these steps are the textbook algorithm on a host copy; `trace lu-paper` shows the paper's kernels");
    if (s->interactive && !s->folder && s->front && s->front->show) {
        session_use(s, m); /* the view shows the current matrix */
        return s->front->show(s, "lu", true, e);
    }
    for (int64_t k = 0; k <= s->lu->n; k++) {
        go_to(s->lu, k);
        out_step(s->out, m, s->lu);
        if (!watch_tick(&s->watch, "lu", k, s->lu->n, e)) return false;
    }
    if (s->lu->singular >= 0)
        out_text(s->out, "singular to fp64: column %lld (counted from 0) has no nonzero pivot",
                 (long long)s->lu->singular);
    go_to(s->lu, 0);
    return true;
}

static bool run_lu(struct session *s, const struct args *a, struct err *e)
{
    struct timed t;
    struct lu_options o = {.real = arg_precision(a), .force = arg_flag(a, "force"), .watch = &s->watch};
    int64_t b = arg_int(a, "b", 0), reps;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (arg_flag(a, "step") && (arg(a, "method") || arg(a, "b") || arg(a, "reps") || arg_flag(a, "all")))
        return fail(e, E_USAGE, "`step` is the textbook algorithm: it takes no method, b, reps or all");
    if (arg_flag(a, "step")) return run_steps(s, m, arg_flag(a, "force"), e);
    if (!arg_within(a, "reps", 0, 0, 1000, &reps, e)) return false;
    if (b < 0 || b > INT32_MAX || (arg(a, "b") && !b))
        return fail(e, E_USAGE, "b is %lld: give a power of two", (long long)b);
    o.b = (int)b;
    o.method = arg(a, "method") ? lu_find(arg(a, "method")) : NULL;
    o.dev = session_device(s, arg(a, "on"), e);
    if (!o.dev || (!o.force && !format_fits_values(&m->csr, o.real, e))) return false;
    session_say_vanishing(s, m->name, &m->csr, o.real);
    note_pattern(s, m);
    if (arg_flag(a, "all")) {
        if (o.b || o.method)
            return fail(e, E_USAGE, "`all` runs every method with its default b; do not name a method");
        return run_all(s, m, o, arg(a, "on"), (int)reps, e);
    }
    if (!run_one(m, &o, (int)reps, true, &t, e)) return false;
    report(s, m, &t);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field lu_factored_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"method", F_TEXT, "method"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"rows", F_COUNT, "rows"},
    {"b", F_COUNT | OR_NULL, "width b of tiles or panels, in columns; null: the method has none"},
    {"version", F_TEXT | OR_NULL, "version of the library; null for our own methods", .on = "cuda"},
    {"time_us", F_AMOUNT | OR_NULL, "median of the factorisations, in us; null on emu"},
    {"spread_us", F_AMOUNT | OR_NULL, "half the interquartile range, in us; null on emu"},
    {"gflops", F_AMOUNT | OR_NULL, "2/3 rows^3 / time_us, in GFLOP/s; null on emu"},
    {"put_us", F_AMOUNT | OR_NULL, "copying the matrix to the device, in us; null on emu"},
    {"solve_us", F_AMOUNT | OR_NULL, "forward and backward substitution, in us; null on emu"},
    {"parts", F_LIST, "the parts of the time, if they are known", .item = F_TEXT},
    {"part_us", F_LIST, "time of each part, in us", .item = F_NUMBER | OR_NULL},
    {"singular", F_BOOLEAN, "whether a column has no pivot but 0, to the precision"},
    {"singular_column", F_COUNT | OR_NULL, "the first such column, from 0; null: none"},
    {"det_sign", F_INTEGER | OR_NULL,
     "sign of the determinant, as computed; null: it is complex, or a pivot is 0 or as small as rounding errors"},
    {"det_log10", F_NUMBER | OR_NULL,
     "base-10 logarithm of the absolute value of the determinant, as computed; null: a pivot is 0"},
    {"growth", F_AMOUNT | OR_NAN | OR_NULL, "max |U| / max |A|; null: not known"},
    {"backward_error", F_AMOUNT | OR_NAN | OR_NULL, "||b - A x|| / (||A|| ||x|| + ||b||); null for a singular matrix"},
    {"error_known", F_AMOUNT | OR_NAN | OR_NULL, "relative error of x if b = A * ones; null for a singular matrix"},
    {0},
};
static const struct row_kind row_lu_factored = {"factored", "a matrix factored by one method", lu_factored_fields};

static const struct field lu_compared_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"method", F_TEXT, "method"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"rows", F_COUNT, "rows"},
    {"b", F_COUNT | OR_NULL, "width b of tiles or panels, in columns; null: the method has none"},
    {"version", F_TEXT | OR_NULL, "version of the library; null for our own methods", .on = "cuda"},
    {"time_us", F_AMOUNT | OR_NULL, "median of the factorisations, in us; null on emu"},
    {"gflops", F_AMOUNT | OR_NULL, "2/3 rows^3 / time_us, in GFLOP/s; null on emu"},
    {"speedup", F_AMOUNT | OR_NULL, "time of lu-serial divided by the time of this method; null on emu"},
    {"backward_error", F_AMOUNT | OR_NAN | OR_NULL, "||b - A x|| / (||A|| ||x|| + ||b||); null for a singular matrix"},
    {"growth", F_AMOUNT | OR_NAN | OR_NULL, "max |U| / max |A|; null: not known"},
    {"singular", F_BOOLEAN, "whether a column has no pivot but 0, to the precision"},
    {0},
};
static const struct row_kind row_lu_compared = {"compared", "a method, compared with the others", lu_compared_fields};

static const struct field lu_step_fields[] = {
    {"column", F_COUNT, "the column, from 0"},
    {"pivot_row", F_COUNT, "row in which the pivot was found, from 0"},
    {"pivot", F_NUMBER, "the pivot"},
    {"state", F_LIST,
     "L and U so far and the part still to be eliminated, column by column; omitted if there are more than 12 rows",
     .item = F_NUMBER | OR_NAN},
    {0},
};
static const struct row_kind row_lu_step = {"step", "a column that was eliminated", lu_step_fields};

const struct command command_lu = {
    .name = "lu",
    .aliases = "factor factorize factorise",
    .grammar = "[METHOD] [MATRIX] [on DEVICE] [b N] [reps N] [all] [step] [force] [f32|f64]",
    .about = "factor a matrix as a dense matrix, P A = L U, by one method or by all methods",
    .help =
        "The methods are lu-serial and lu-openmp on cpu; lu-paper, with tiles of b x b threads, and lu, with\n"
        "panels of b columns, on cuda and emu; lu-cusolver on cuda. The default is warpspy's fastest method on\n"
        "the device. `help METHOD` explains a method. After the factorisation, A x = b is solved for b = A *\n"
        "ones, so that the error in x is known; the backward error is ||b - A x|| / (||A|| ||x|| + ||b||) in\n"
        "double; growth is max |U| / max |A|. time is the median of reps factorisations, without the copy to the\n"
        "device; GFLOP/s counts 2/3 n^3. If a column has no pivot but 0 to the precision, the first one is\n"
        "reported: the matrix is singular, or rounding errors hide that it is not (`check only singular` decides).\n"
        "`all` runs every method that is available here and prints one table; without a GPU, the emulator runs\n"
        "the GPU methods on small matrices. `step` factors one column at a time by the textbook algorithm, for\n"
        "matrices of up to 512 rows; at a terminal it opens a full screen (`view lu`), otherwise it prints each\n"
        "column. `force` accepts NaN and inf, and values beyond fp32.\n"
        "    gen dense 1000; lu; lu all; lu lu-paper on emu b 16\n"
        "    gen dense 6; lu step",
    .rows = (const struct row_kind *const[]){&row_lu_factored, &row_lu_compared, &row_lu_step, NULL},
    .run = run_lu,
    .sweeps = true,
};

/* ---- what the session keeps ---- */

static void drop_steps(struct session *s)
{
    SCREEN_EDIT;
    lu_steps_free(s->lu);
    s->lu = NULL;
}

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->lu && s->lu->of == &m->csr;
}

const struct holding holding_lu = {.drop = drop_steps, .belongs_to = is_of};
