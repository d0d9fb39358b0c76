/* symmetrize and transpose: make a new matrix from a matrix of the session, on a device, and report the time. */
#include "base/clock.h"
#include "base/err.h"
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/symmetrize.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/spmv.h"
#include "sym_steps.h"

#include <math.h>

enum { TIMED_RUNS = 5 };

/* Times of a run in us; NaN: unknown, as on the emulator. */
struct sym_times {
    double run_us, get_us, spmv_us;
};

/* ---- times ---- */

static bool run_again(void *ctx, struct err *e)
{
    return sym_run(ctx, e);
}

/* Symmetrize and measure the time. A GPU loads its kernels in the first run, so only later runs are timed. The times of
   the steps come from a separate run that waits after each step. */
static bool timed_run(struct sym *v, struct sym_times *t, struct err *e)
{
    struct device *d = v->o.dev;
    double us[TIMED_RUNS], from = now_us();
    if (v->copied || d->kind != DEV_CUDA) {
        bool ok = v->copied ? sym_run(v, e) : sym_sample(v, e);
        t->run_us = d->kind == DEV_EMU ? NAN : now_us() - from;
        return ok;
    }
    if (!sym_run(v, e) || !d->ops->sync(d, e) || !sym_sample(v, e)) return false;
    if (!d->ops->time(d, run_again, v, TIMED_RUNS, us, e)) return false;
    t->run_us = times_median(TIMED_RUNS, us, NULL);
    return true;
}

/* The time of one SpMV with the original matrix in us. The report gives the cost of symmetrizing in
   multiples of this time. NaN: not available. */
static double product_us(struct session *s, struct matrix *m, struct device *d)
{
    struct run r;
    struct err unseen = {0};
    const struct kernel *k = kernel_default(&format_csr, &m->csr, d);
    struct spmv_request w = {.matrix = m, .kernel = k, .dev = d, .real = P_F64, .reps = TIMED_RUNS};
    if (d->kind == DEV_EMU || m->csr.nnz == 0 || !k || !spmv_measure(s, &w, &r, &unseen)) return NAN;
    return r.us;
}

/* ---- symmetrize ---- */

static void out_steps(struct out *o, const struct sym *v, bool emu)
{
    for (int i = 0; i < SYM_STEPS; i++) {
        char key[32];
        bool has = v->step_us[i] > 0 && !emu;
        snprintf(key, sizeof key, "%s_us", sym_step_name[i]);
        if (has)
            out_time(o, key, sym_step_name[i], v->step_us[i]);
        else if (out_mode(o) != OUT_TEXT)
            out_num(o, key, NULL, NAN, NULL);
    }
}

static const char *text_of_symmetry(const struct sym *v)
{
    if (v->value_symmetric) return "yes, pattern and values";
    return v->pattern_symmetric ? "the pattern is symmetric, but the values are not" : "no";
}

static void out_times(struct out *o, const struct sym *v, const struct sym_times *t)
{
    struct device *d = v->o.dev;
    bool emu = d->kind == DEV_EMU;
    double all = t->run_us + v->fingerprint_us;
    bool away = d->kind == DEV_CUDA, back = away && !v->copied;
    out_time(o, "put_us", away ? "copied there in" : NULL, away ? v->put_us : NAN);
    out_time(o, "fingerprint_us", emu ? NULL : "fingerprint", emu ? NAN : v->fingerprint_us);
    out_steps(o, v, emu);
    out_time(o, "time_us", emu ? NULL : v->copied ? "copying" : "method", t->run_us);
    out_time(o, "get_us", back ? "copied back in" : NULL, back ? t->get_us : NAN);
    out_time(o, "spmv_us", NULL, t->spmv_us);
    out_num(o, "spmvs", isfinite(t->spmv_us) ? "in SpMVs with A" : NULL, emu ? NAN : all / t->spmv_us, "%.1f");
}

static void report(struct session *s, const struct matrix *m, const char *from, int64_t before, const struct sym *v,
                   const struct sym_times *t)
{
    struct out *o = s->out;
    out_record(o);
    out_str(o, "name", "name", m->name);
    out_str(o, "of", "made of", from);
    out_str(o, "method", "method", v->copied ? "copy" : v->o.method->name);
    out_str(o, "mode", "mode", sym_modes[v->o.mode].name);
    out_str(o, "device", "device", v->o.dev->name);
    out_int(o, "rows", "rows", m->csr.rows);
    out_int(o, "nnz_before", "nonzeros before", before);
    out_int(o, "nnz", "nonzeros", m->csr.nnz);
    out_int(o, "added", "added", m->csr.nnz - before);
    out_bool(o, "pattern_symmetric", NULL, v->pattern_symmetric);
    out_bool(o, "value_symmetric", NULL, v->value_symmetric);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "symmetric before", text_of_symmetry(v));
    out_bool(o, "copied", NULL, v->copied);
    out_times(o, v, t);
}

static bool make(struct session *s, const struct args *a, struct matrix *m, const struct sym_options *o, struct err *e)
{
    static const struct carried same = {0};
    struct sym *v;
    struct csr A = {0};
    struct sym_times t = {NAN, NAN, NAN};
    char from[sizeof m->name];
    snprintf(from, sizeof from, "%s", m->name);
    bool begun = sym_begin(&v, &m->csr, o, e), ok = begun && timed_run(v, &t, e);
    double begin = now_us();
    ok = ok && sym_get(v, &A, e);
    t.get_us = now_us() - begin;
    if (!begun) return false;
    if (ok) t.spmv_us = product_us(s, m, o->dev);
    ok = ok && session_add_derived(s, arg(a, "as"), m, "sym", &A, v->copied ? &same : NULL, t.run_us, e);
    if (ok) report(s, s->current, from, v->nnz, v, &t);
    csr_free(&A);
    sym_free(v);
    return ok;
}

/* Make the matrix on the device named after `on`, or on the session's device. If that device is out of memory, make the
   matrix on cpu. */
typedef bool make_on(struct session *s, const struct args *a, struct matrix *m, struct device *d, struct err *e);

static bool make_somewhere(struct session *s, const struct args *a, struct matrix *m, make_on *makes, struct err *e)
{
    struct err why = {0};
    struct device *d = session_device(s, arg(a, "on"), e);
    if (!d || makes(s, a, m, d, &why)) return d != NULL;
    if (why.code != E_MEMORY || arg(a, "on") || d->kind == DEV_CPU)
        return fail_at(e, why.code, why.where, "%s", why.text);
    out_note(s->out, "%s; using cpu", why.text);
    return (d = session_device(s, "cpu", e)) && makes(s, a, m, d, e);
}

static bool symmetrize_on(struct session *s, const struct args *a, struct matrix *m, struct device *d, struct err *e)
{
    struct sym_options o = {.watch = &s->watch, .method = sym_methods[0], .dev = d};
    if (arg(a, "method")) o.method = sym_find(arg(a, "method"));
    if (arg(a, "mode")) o.mode = (enum sym_mode)sym_mode_find(arg(a, "mode"));
    return make(s, a, m, &o, e);
}

/* Without a named device, cpu, which has no arrays to show, is replaced by emu. */
static bool show_steps(struct session *s, const struct args *a, struct matrix *m, struct err *e)
{
    const struct sym_method *method = arg(a, "method") ? sym_find(arg(a, "method")) : NULL;
    int mode = arg(a, "mode") ? sym_mode_find(arg(a, "mode")) : SYM_UNION;
    struct device *d = session_device(s, arg(a, "on"), e);
    if (method && !method->has_steps)
        return fail(e, E_USAGE, "%s does not have the steps of the patent; leave out `method`", method->name);
    if (arg(a, "as")) return fail(e, E_USAGE, "`step` shows arrays and makes no matrix; leave out `as` or `step`");
    if (d && !sym_ops_of(d) && !arg(a, "on")) d = session_device(s, "emu", e);
    return d && sym_steps_print(s, m, (enum sym_mode)mode, d, e);
}

static bool run_symmetrize(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (m && arg_flag(a, "step")) return show_steps(s, a, m, e);
    return m && make_somewhere(s, a, m, symmetrize_on, e);
}

/* ---- the keys of the rows ---- */

static const struct field symmetrize_made_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"method", F_TEXT, "method; copy where the matrix was symmetric already", .words = "sym, sym-paper, copy"},
    {"mode", F_TEXT, "how the result is computed from A and its transpose", .entries = &sym_mode_registry},
    {"device", F_TEXT, "device that made it"},
    {"rows", F_COUNT, "rows"},
    {"nnz_before", F_COUNT, "stored entries of the given matrix"},
    {"nnz", F_COUNT, "stored entries"},
    {"added", F_COUNT, "nnz - nnz_before"},
    {"pattern_symmetric", F_BOOLEAN, "whether the given matrix has a symmetric pattern"},
    {"value_symmetric", F_BOOLEAN, "whether the given matrix has symmetric values"},
    {"copied", F_BOOLEAN, "whether the given matrix was symmetric and therefore copied"},
    {"put_us", F_AMOUNT | OR_NULL, "copying to the GPU, in us; null elsewhere", .on = "cuda"},
    {"fingerprint_us", F_AMOUNT | OR_NULL, "time of the symmetry check, in us; null on emu"},
    {"expand_us", F_AMOUNT | OR_NULL,
     "time to write all triples and mirror images, in us; null if the method has no such step, and on emu",
     .on = "cuda"},
    {"sort_us", F_AMOUNT | OR_NULL, "time to sort, in us; null if the method has no such step, and on emu",
     .on = "cuda"},
    {"transpose_us", F_AMOUNT | OR_NULL, "time to transpose, in us; null if the method has no such step, and on emu"},
    {"count_us", F_AMOUNT | OR_NULL, "time to count rows, in us; null if the method has no such step, and on emu"},
    {"fill_us", F_AMOUNT | OR_NULL, "time to fill rows, in us; null if the method has no such step, and on emu"},
    {"time_us", F_AMOUNT | OR_NULL, "the method without the fingerprint, in us; null on emu"},
    {"get_us", F_AMOUNT | OR_NULL, "copying back from the GPU, in us; null elsewhere", .on = "cuda"},
    {"spmv_us", F_AMOUNT | OR_NULL, "time of one SpMV with the given matrix, in us; null on emu"},
    {"spmvs", F_AMOUNT | OR_NULL, "(time_us + fingerprint_us) / spmv_us; null on emu"},
    {0},
};
static const struct row_kind row_symmetrize_made = {"made", "a matrix made symmetric, and what that cost",
                                                    symmetrize_made_fields};

static const struct field transpose_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"device", F_TEXT, "device that made it"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"time_us", F_AMOUNT | OR_NULL, "transposing, in us; null on emu"},
    {0},
};
static const struct row_kind row_transpose = {"transpose", "a matrix transposed", transpose_fields};

const struct command command_symmetrize = {
    .name = "symmetrize",
    .aliases = "symmetrise",
    .grammar = "[MATRIX] [method SYMMETHOD] [mode SYMMODE] [on DEVICE] [as NAME] [step]",
    .about = "a new matrix with the combined pattern of A and its transpose",
    .help =
        "mode selects the value at (p, q): union (default) is the stored entry or, if there is none, the entry at\n"
        "(q, p), so the values need not become symmetric; average is (A + A')/2; sum is A + A'; max is the larger\n"
        "of the stored entries. The method sym (default) sorts by columns and merges rows; sym-paper sorts all\n"
        "triples and their mirror images by 64-bit keys, as in the patent; both give bit-identical results. A\n"
        "fingerprint of 64 bits first shows whether A is symmetric already; if so, A is only copied. The new\n"
        "matrix becomes the current one, named A-sym by default. If the device has too little memory, cpu is\n"
        "used. With step, no matrix is made: the arrays of sym-paper are shown after each step of the patent, for a\n"
        "matrix of at most 100 entries, as the kernels on emu or cuda leave them.\n"
        "    symmetrize A; symmetrize A mode average on cuda as S; symmetrize method sym-paper; symmetrize A step",
    .rows = (const struct row_kind *const[]){&row_symmetrize_made, &row_symmetrize_step, NULL},
    .run = run_symmetrize,
    .sweeps = true,
};

/* ---- transpose ---- */

static bool transpose_on(struct session *s, const struct args *a, struct matrix *m, struct device *d, struct err *e)
{
    struct csr T = {0};
    double us = NAN;
    if (!sym_transpose(&T, &m->csr, d, &us, e)) return false;
    bool ok = session_add_derived(s, arg(a, "as"), m, "t", &T, NULL, us, e);
    csr_free(&T);
    if (!ok) return false;
    out_record(s->out);
    out_str(s->out, "name", "name", s->current->name);
    out_str(s->out, "of", "made of", m->name);
    out_str(s->out, "device", "device", d->name);
    out_int(s->out, "rows", "rows", s->current->csr.rows);
    out_int(s->out, "cols", "cols", s->current->csr.cols);
    out_int(s->out, "nnz", "nonzeros", s->current->csr.nnz);
    out_time(s->out, "time_us", d->kind == DEV_EMU ? NULL : "time", d->kind == DEV_EMU ? NAN : us);
    return true;
}

static bool run_transpose(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    return m && make_somewhere(s, a, m, transpose_on, e);
}

const struct command command_transpose = {
    .name = "transpose",
    .grammar = "[MATRIX] [on DEVICE] [as NAME]",
    .about = "a new matrix: rows become columns",
    .help = "On cuda and emu, kernels sort stably by column; on cpu, all threads share the work. A complex matrix is\n"
            "transposed by one thread, and its values are not conjugated. The new matrix becomes the current one,\n"
            "named A-t by default. If the device has too little memory, cpu is used.\n"
            "    transpose A; transpose A on cuda as T",
    .rows = (const struct row_kind *const[]){&row_transpose, NULL},
    .run = run_transpose,
    .sweeps = true,
};
