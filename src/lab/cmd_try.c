/* try: compiles a user's kernel, checks it, counts what it does, and compares it with the built-in kernels. */
#include "advice/predicted.h"
#include "advice/traced.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/format.h"
#include "lab.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "microscope/modeled.h"
#include "microscope/tracing.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "try_compiled.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_US = 20000, LOOK_EVERY = 5 }; /* a file is looked at every 100 ms */

/* ---- a file to start from ---- */

static bool write_new(struct session *s, const struct args *a, struct err *e)
{
    const struct kernel *k = kernel_find(arg(a, "new"));
    char name[PATH_MAX], path[PATH_MAX];
    struct newfile f;
    snprintf(name, sizeof name, "%s%s", arg(a, "as") ? arg(a, "as") : k->name, arg(a, "as") ? "" : ".cu");
    if (!session_path(s, name, path, sizeof path, e) || !newfile_allowed(path, arg_flag(a, "force"), e)) return false;
    char *text = lab_export(k, e);
    if (!text) return false;
    int64_t bytes = (int64_t)strlen(text);
    bool ok = newfile_open(&f, path, arg_flag(a, "force"), e) && newfile_write(&f, text, bytes, e);
    ok = newfile_close(&f, ok, e);
    mem_free(text);
    if (!ok) return false;
    if (out_mode(s->out) == OUT_TEXT) {
        char safe[200];
        print_safe(name, strlen(name), 150, safe, sizeof safe);
        out_text(s->out, "%s: the source of %s. Change it, then `try %s`.", safe, k->name, safe);
        return true;
    }
    out_record(s->out);
    out_str(s->out, "kind", NULL, "file");
    out_str(s->out, "kernel", NULL, k->name);
    out_str(s->out, "file", NULL, name);
    out_int(s->out, "bytes", NULL, bytes);
    return true;
}

/* ---- one try: the request, then its result ---- */

struct trying {
    const char *file; /* as the user typed it */
    struct lab_options options;
    struct matrix *matrix;
    const struct mat *M;
    enum precision real;
    const char *nvcc[2];  /* paths of others to compare; NULL: none */
    bool precision_typed; /* the user asked for this precision */
    const struct kernel *kernel;
    struct lab_report report;
    bool traces;  /* trace a warp of the kernel */
    bool watched; /* one of many tries of a watched file: in text, only a line about a kernel that is right */
    bool quiet;   /* not even that line, because the trace is on the whole screen */
};

/* A kernel for float is tried in fp32, unless the user asks for another precision. */
static bool choose_precision(struct trying *t, const struct kernel *k, struct err *e)
{
    static const enum precision real[] = {P_F64, P_F32}, complex[] = {P_C64, P_C32};
    if (t->precision_typed || kernel_takes(k, t->real, NULL)) return kernel_takes(k, t->real, e);
    for (int i = 0; i < COUNT(real); i++) {
        enum precision other = t->matrix->csr.imag ? complex[i] : real[i];
        if (kernel_takes(k, other, NULL)) return t->real = other, true;
    }
    for (int other = P_NARROW; other < PRECISIONS; other++)
        if (kernel_takes(k, (enum precision)other, NULL)) return t->real = (enum precision)other, true;
    return kernel_takes(k, t->real, e);
}

/* The matrix on the emulator in the kernel's format. */
static const struct mat *stored_for(struct session *s, struct trying *t, const struct kernel *k, struct err *e)
{
    struct device *emu = session_device(s, "emu", e);
    if (!emu || !choose_precision(t, k, e)) return NULL;
    struct product *p = session_product(s, form_for(t->matrix, k, NULL, t->real, 0), e);
    return p ? session_mat(s, p, emu, e) : NULL;
}

/* ---- the report ---- */

static void out_fault(struct out *o, const char *key, const char *where, const char *thread, const struct lab_fault *f,
                      bool known)
{
    out_str(o, key, NULL, known ? f->what : NULL);
    out_str(o, where, NULL, known && *f->where ? f->where : NULL);
    out_str(o, thread, NULL, known && *f->thread ? f->thread : NULL);
}

static void out_counts(struct out *o, const struct lab_report *r)
{
    out_int_if(o, "launches", NULL, r->counted, r->launches);
    out_int_if(o, "blocks", "blocks", r->counted, r->blocks);
    out_int_if(o, "warps", "warps", r->counted, r->warps);
    out_int_if(o, "steps", "steps of warps", r->counted, r->steps);
    out_int_if(o, "longest_warp", "longest warp, steps", r->counted, r->longest_warp);
    out_num(o, "active_lanes", "active lanes of 32", r->counted ? r->active_lanes : NAN, "%.2f");
    out_int_if(o, "requests", "global requests", r->counted, r->requests);
    out_int_if(o, "loads", NULL, r->counted, r->loads);
    out_int_if(o, "stores", NULL, r->counted, r->stores);
    out_int_if(o, "atomics", NULL, r->counted, r->atomics);
    out_int_if(o, "sectors", "sectors", r->counted, r->sectors);
    out_int_if(o, "bytes", NULL, r->counted, r->bytes);
    out_int_if(o, "refetched", "sectors fetched again", r->counted, r->refetched);
    out_int_if(o, "shared_requests", NULL, r->counted, r->shared_requests);
    out_int_if(o, "wavefronts", "shared wavefronts", r->counted, r->wavefronts);
    out_int_if(o, "wavefronts_least", "without conflicts", r->counted, r->wavefronts_least);
    out_int_if(o, "collectives", NULL, r->counted, r->collectives);
    out_int_if(o, "barriers", NULL, r->counted, r->barriers);
}

static const char *race_text(const struct lab_report *r, char *out, size_t size)
{
    if (!r->ran) return NULL;
    if (!r->race) return "none found";
    snprintf(out, size, "%s%s%s %s", r->race_at.where, *r->race_at.where ? ", " : "", r->race_at.thread,
             r->race_at.what);
    return out;
}

static const char *result_text(const struct lab_report *r, char *out, size_t size)
{
    if (!r->ran) return NULL;
    if (r->correct)
        snprintf(out, size, "right, within %.3g of the rounding-error bound", r->error.worst);
    else
        snprintf(out, size, "wrong in row %lld: y is %.9g, not %.9g%s%s", (long long)r->error.row, r->got, r->expected,
                 r->reads_y ? "; " : "", r->reads_y ? reads_y_text : "");
    return out;
}

static void out_report(struct session *s, const struct trying *t)
{
    const struct lab_report *r = &t->report;
    struct out *o = s->out;
    const char *printed = lab_printed(t->kernel);
    char result[240], race[600];
    out_record(o);
    out_str(o, "kind", NULL, "report");
    out_str(o, "kernel", "kernel", t->kernel->name);
    out_str(o, "file", "file", t->file);
    out_str(o, "format", "format", t->kernel->format->name);
    out_str(o, "matrix", "matrix", t->matrix->name);
    out_str(o, "precision", "precision", precision_of(&t->matrix->csr, t->real));
    out_bool(o, "ran", NULL, r->ran);
    out_fault(o, "fault", "fault_at", "fault_thread", &r->fault, !r->ran);
    if (out_mode(o) == OUT_TEXT && r->ran) {
        out_str(o, NULL, "result", result_text(r, result, sizeof result));
        out_str(o, NULL, "races", race_text(r, race, sizeof race));
    }
    out_bool(o, "correct", NULL, r->correct);
    (r->ran ? out_value : out_num)(o, "worst", NULL, r->ran ? r->error.worst : NAN, NULL);
    out_num(o, "row", NULL, r->ran && !r->correct ? (double)r->error.row : NAN, NULL);
    (r->ran && !r->correct ? out_value : out_num)(o, "got", NULL, r->ran && !r->correct ? r->got : NAN, NULL);
    (r->ran && !r->correct ? out_value : out_num)(o, "expected", NULL, r->ran && !r->correct ? r->expected : NAN, NULL);
    out_bool(o, "reads_y", NULL, r->reads_y);
    out_bool(o, "race", NULL, r->race);
    out_fault(o, "race_text", "race_at", "race_thread", &r->race_at, r->race);
    if (r->counted || out_mode(o) != OUT_TEXT) out_counts(o, r);
    out_str(o, "printed", *printed ? "printed" : NULL, *printed ? printed : NULL);
}

/* ---- the comparison ---- */

struct compared {
    const struct kernel *kernel;
    double steps, active, requests, sectors, wavefronts, us;
    bool sampled;
};

static struct compared compared_of(const struct modeled *m)
{
    struct compared c = {.kernel = m->kernel, .us = m->time.us, .sampled = m->work.sampled};
    double active = 0;
    for (int i = 0; i < ACCESS_KINDS; i++) {
        enum access_kind kind = (enum access_kind)i;
        struct tally t = counts_of(&m->counts, kind, -1, -1);
        if (accesses_global(kind)) c.requests += (double)t.requests, c.sectors += (double)t.sectors;
        if (accesses_shared(kind)) c.wavefronts += (double)t.wavefronts;
    }
    for (int l = 0; l < m->counts.scope.nlaunches; l++) {
        const struct scope_launch *at = &m->counts.scope.launch[l];
        double scale = at->seen ? (double)at->blocks / (double)at->seen : 0;
        c.steps += scale * (double)m->counts.launch[l].steps;
        active += scale * (double)m->counts.launch[l].active;
    }
    c.active = c.steps > 0 ? active / c.steps : NAN;
    return c;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct compared *)a)->us, y = ((const struct compared *)b)->us;
    return (x > y) - (x < y);
}

static void out_compared(struct out *o, const struct compared *c, const struct kernel *yours)
{
    out_row(o);
    out_str(o, "kind", NULL, "kernel");
    out_str(o, "kernel", "kernel", c->kernel->name);
    out_bool(o, "yours", NULL, c->kernel == yours);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "", c->kernel == yours ? "yours" : "");
    out_num(o, "predicted_us", "predicted us", c->us, "%.2f");
    out_num(o, "steps", "steps", c->steps, "%.0f");
    out_num(o, "active_lanes", "lanes", c->active, "%.2f");
    out_num(o, "requests", "requests", c->requests, "%.0f");
    out_num(o, "sectors", "sectors", c->sectors, "%.0f");
    out_num(o, "wavefronts", "wavefronts", c->wavefronts, "%.0f");
    out_bool(o, "sampled", NULL, c->sampled);
}

/* Watch all kernels of the format that the emulator can run, the user's too. Kernels that do not fit are left out. */
static bool compare_all(struct session *s, const struct trying *t, const struct machine *g, struct compared *out,
                        int *n, struct finding *worst, bool *found, struct err *e)
{
    struct modeled *m = mem_new(1, sizeof *m, "a prediction", e);
    struct err why = {0};
    *n = 0;
    *found = false;
    for (int i = 0; m && kernels[i] && why.code != E_CANCELLED; i++) {
        const struct kernel *k = kernels[i];
        if (k->format != t->kernel->format || k->host || k->vendor || (k->remote && k != t->kernel)) continue;
        why = (struct err){0};
        if (!modeled_kernel(s, t->matrix, k, NULL, t->real, g, m, &why)) continue;
        out[(*n)++] = compared_of(m);
        if (k != t->kernel) continue;
        struct finding f[FINDINGS_MAX];
        if (findings_of(m, &t->matrix->csr, f) > 0) *worst = f[0], *found = true;
    }
    mem_free(m);
    return m && (why.code != E_CANCELLED || fail(e, why.code, "%s", why.text));
}

static bool compare(struct session *s, const struct trying *t, struct err *e)
{
    enum { MAX = 64 };
    struct compared *c = mem_new(MAX, sizeof *c, "the comparison", e);
    struct machine g;
    struct finding worst;
    bool found, sampled = false;
    int n;
    bool ok = c && modeled_machine(s, &g, e) && compare_all(s, t, &g, c, &n, &worst, &found, e);
    if (ok) qsort(c, (size_t)n, sizeof *c, by_time);
    for (int i = 0; ok && i < n; i++) {
        out_compared(s->out, &c[i], t->kernel);
        sampled |= c[i].sampled;
    }
    if (ok && found) {
        out_text(s->out, "What costs %s most is %s: %s.", t->kernel->name, worst.cause, worst.text);
        out_text(s->out, "`explain %s` lists all causes; `trace %s view` steps through it.", t->kernel->name,
                 t->kernel->name);
    }
    if (ok && n) modeled_remarks(s, &g, sampled);
    mem_free(c);
    return ok;
}

/* ---- a try ---- */

static void say_briefly(struct out *o, const struct trying *t)
{
    const struct lab_report *r = &t->report;
    char sectors[32], requests[32], us[32];
    out_text(o, "%s: right; %s sectors in %s requests, %.1f of 32 lanes, %s; predicted %s", t->kernel->name,
             show_count(r->sectors, sectors, sizeof sectors), show_count(r->requests, requests, sizeof requests),
             r->active_lanes, how_many(r->steps, "step").text,
             isnan(r->predicted_us) ? "nothing" : show_us(r->predicted_us, us, sizeof us));
}

/* In text, the line of the user's file that a fault is about. */
static void show_line(struct out *o, const struct lab_fault *f)
{
    char file[128];
    int length;
    if (!f->line) return;
    snprintf(file, sizeof file, "%.*s", (int)strcspn(f->where, ":"), f->where);
    const char *line = kernel_source_line(file, f->line, &length);
    char safe[300];
    if (line) out_text(o, "  > %d  %s", f->line, print_safe(line, (size_t)length, 200, safe, sizeof safe));
}

/* The verdict as the command's error: the exit status of a script depends on it. */
static bool verdict(struct session *s, const struct trying *t, struct err *e)
{
    const struct lab_report *r = &t->report;
    const struct lab_fault *f = r->ran ? &r->race_at : &r->fault;
    char text[200];
    if (!r->ran || r->race) {
        show_line(s->out, f);
        return fail_at(e, E_DEVICE, f->where, "%s: %s%s%s", t->kernel->name, f->thread, *f->thread ? ": " : "",
                       f->what);
    }
    if (!r->correct) return fail(e, E_NUMERIC, "%s is %s", t->kernel->name, result_text(r, text, sizeof text));
    return true;
}

/* Trace the warp that is traced already if it is one of this kernel; otherwise warp 0. The step stays. */
static bool trace_it(struct session *s, const struct trying *t, struct err *e)
{
    const struct tracing *v = s->trace;
    bool same = v && v->kernel == t->kernel && v->matrix == t->matrix;
    int64_t step = same ? v->at : 0;
    struct trace_request w = {.matrix = t->matrix, .kernel = t->kernel, .real = t->real, .launch = -1};
    if (same) w.launch = v->t.launch, w.block = v->t.block, w.warp = v->t.warp;
    struct err why = {0};
    if (!tracing_begin(s, &w, &why)) {
        w.launch = -1, w.block = 0, w.warp = 0; /* the new kernel may have fewer blocks */
        if (why.code != E_USAGE || !tracing_begin(s, &w, e))
            return e->code ? false : fail_at(e, why.code, why.where, "%s", why.text);
    }
    tracing_open(s->trace, step);
    return true;
}

static bool out_compilations(struct session *s, const struct trying *t, struct err *e)
{
    const struct tried tried = {t->matrix, t->M, t->kernel, &t->report};
    struct machine g;
    return modeled_machine(s, &g, e) && out_flush(s->out, e) && try_out_compiled(s, &tried, &g, e) &&
           (!t->nvcc[0] || (out_flush(s->out, e) && try_out_compilers(s, &tried, &g, t->nvcc, COUNT(t->nvcc), e) &&
                            out_flush(s->out, e)));
}

/* Print the result. Of a kernel that is wrong, `verdict` says the rest. */
static bool out_try(struct session *s, const struct trying *t, struct err *e)
{
    const struct lab_report *r = &t->report;
    bool known = r->ran && r->counted, right = known && r->correct && !r->race;
    if (right && t->quiet) return true;
    if (t->watched && out_mode(s->out) == OUT_TEXT) {
        if (right) say_briefly(s->out, t);
        return true;
    }
    out_report(s, t);
    return t->watched || !known || (out_compilations(s, t, e) && compare(s, t, e));
}

static bool try_once(struct session *s, struct trying *t, struct err *e)
{
    char path[PATH_MAX];
    if (!session_path(s, t->file, path, sizeof path, e)) return false;
    t->kernel = lab_build(path, &t->options, &s->watch, e);
    if (!t->kernel) {
        if (*lab_messages()) out_verbatim(s->out, lab_messages());
        return false;
    }
    const struct mat *M = stored_for(s, t, t->kernel, e);
    if (!M) return false;
    t->M = M;
    if (!lab_judge(t->kernel, &t->matrix->csr, M, &s->watch, &t->report, e) || !out_try(s, t, e)) return false;
    if (t->traces && t->report.ran && t->matrix->csr.rows && !trace_it(s, t, e)) return false;
    return verdict(s, t, e);
}

/* ---- watching the file ---- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_size == b->st_size && a->st_ino == b->st_ino;
}

/* Wait until the file is saved. false: the user ended the watch. */
static bool wait_for_save(struct session *s, const char *path, struct stat *st, bool view)
{
    struct stat now;
    for (int i = 0;; i++) {
        if (session_interrupted()) return false;
        if (view && s->front && s->front->live && s->front->live(s, "trace") != TURN_ON) return false;
        if (!view && !watch_tick(&s->watch, "waiting for the file to be saved", 0, 0, NULL)) return false;
        if (i % LOOK_EVERY == 0 && !stat(path, &now) && !same_file(&now, st)) return *st = now, true;
        usleep(POLL_US);
    }
}

static bool watch_file(struct session *s, struct trying *t, bool view, struct err *e)
{
    char path[PATH_MAX];
    struct stat st = {0};
    bool first = true;
    view = view && s->front && s->front->live;
    t->watched = true;
    t->quiet = view;
    if (!session_path(s, t->file, path, sizeof path, e)) return false;
    if (stat(path, &st)) return fail(e, E_IO, "there is no file %s to watch", t->file);
    for (;;) {
        struct err why = {0};
        bool ok = try_once(s, t, &why);
        if (!ok && why.code == E_CANCELLED) return fail(e, why.code, "%s", why.text);
        if (!ok && s->front && s->front->calm) s->front->calm(s); /* what is wrong replaces the view */
        if (!ok) out_error(s->out, &why);
        if (!out_flush(s->out, e)) return false;
        if (first) out_note(s->out, "Watching %s: each save is tried at once. Ctrl-C ends it.", t->file);
        first = false;
        if (!wait_for_save(s, path, &st, view && ok && s->trace)) return session_take_interrupt(), true;
    }
}

static bool run_try(struct session *s, const struct args *a, struct err *e)
{
    bool view = arg_flag(a, "view"), watch = arg_flag(a, "watch");
    if (arg(a, "new")) return write_new(s, a, e);
    struct trying t = {.file = arg(a, "file"),
                       .options = {arg(a, "format"), arg(a, "kernel"), arg_real(a, "seconds", 0)},
                       .matrix = session_matrix(s, arg(a, "of"), e),
                       .nvcc = {arg(a, "with"), arg(a, "and")},
                       .precision_typed = arg(a, "precision") || arg_flag(a, "f32") || arg_flag(a, "f64"),
                       .traces = view || watch};
    if (!t.file) return fail(e, E_USAGE, "try what? `try FILE.cu`, or `try new csr-scalar` for a file to start from");
    if (!t.matrix) return false;
    if (t.nvcc[1] && !t.nvcc[0]) return fail(e, E_USAGE, "`and` names a second nvcc: `with PATH and PATH`");
    if (t.options.seconds < 0 || t.options.seconds > 3600)
        return fail(e, E_USAGE, "seconds must be between 0 and 3600");
    t.real = precision_of_values(arg_precision(a), t.matrix->csr.imag != NULL);
    if (watch) return watch_file(s, &t, view, e);
    if (!try_once(s, &t, e)) return false;
    if (!view) return true;
    if (!s->front || !s->front->show) return fail(e, E_UNSUPPORTED, "there is no screen to draw `trace` on");
    return s->front->show(s, "trace", true, e);
}

/* ---- the keys of the rows ---- */

static const struct field try_report_fields[] = {
    {"kind", F_TEXT, "what was found out about the kernel", .words = "report"},
    {"kernel", F_TEXT, "name of the kernel in other commands"},
    {"file", F_TEXT, "the file, as it was typed"},
    {"format", F_TEXT, "storage format"},
    {"matrix", F_TEXT, "name of the matrix"},
    {.include = &row_precision},
    {"ran", F_BOOLEAN, "whether the kernel ended without a fault"},
    {"fault", F_TEXT | OR_NULL, "what it did wrong; null: it ran"},
    {"fault_at", F_TEXT | OR_NULL, "file:line of the fault; null: not known"},
    {"fault_thread", F_TEXT | OR_NULL, "block and thread of the fault; null: not known"},
    {"correct", F_BOOLEAN, "whether all rows are within the rounding-error bound"},
    {"worst", F_AMOUNT | OR_NAN | OR_NULL, "largest error, as a multiple of its bound; null: not known"},
    {"row", F_COUNT | OR_NULL, "row of the largest error; null: the result is right, or not known"},
    {"got", F_NUMBER | OR_NAN | OR_NULL, "y in that row"},
    {"expected", F_NUMBER | OR_NAN | OR_NULL, "the reference in that row"},
    {"reads_y", F_BOOLEAN,
     "whether the result is wrong only because y is used although beta is 0, where y may hold NaN"},
    {"race", F_BOOLEAN, "whether threads of a block race"},
    {"race_text", F_TEXT | OR_NULL, "the race; null: none was found"},
    {"race_at", F_TEXT | OR_NULL, "file:line of the race"},
    {"race_thread", F_TEXT | OR_NULL, "block and thread of the race"},
    {"launches", F_COUNT | OR_NULL, "launches of one SpMV; null: the kernel did not run"},
    {"blocks", F_COUNT | OR_NULL, "thread blocks of all launches; null: the kernel did not run"},
    {"warps", F_COUNT | OR_NULL, "warps of all launches; null: the kernel did not run"},
    {"steps", F_COUNT | OR_NULL,
     "steps of all warps; a step is an operation that the lanes of a warp do together; null: the kernel did not run"},
    {"longest_warp", F_COUNT | OR_NULL, "steps of the longest warp; null: the kernel did not run"},
    {"active_lanes", F_AMOUNT | OR_NULL, "active lanes of 32, mean; over the steps of all warps", .max = 32},
    {"requests", F_COUNT | OR_NULL, "requests to global memory"},
    {"loads", F_COUNT | OR_NULL, "loads from global memory"},
    {"stores", F_COUNT | OR_NULL, "stores to global memory"},
    {"atomics", F_COUNT | OR_NULL, "atomics on global memory"},
    {"sectors", F_COUNT | OR_NULL, "sectors of global memory; 32 bytes each, counted once per request"},
    {"bytes", F_COUNT | OR_NULL, "bytes that the lanes asked for, counted once per request"},
    {"refetched", F_COUNT | OR_NULL, "sectors that a warp had requested before"},
    {"shared_requests", F_COUNT | OR_NULL, "requests to shared memory"},
    {"wavefronts", F_COUNT | OR_NULL, "shared memory wavefronts; of these requests"},
    {"wavefronts_least", F_COUNT | OR_NULL, "wavefronts without bank conflicts"},
    {"collectives", F_COUNT | OR_NULL, "shuffles, votes, __syncwarp; counted per warp"},
    {"barriers", F_COUNT | OR_NULL, "warps at __syncthreads"},
    {"printed", F_TEXT | OR_NULL, "what the kernel printed in its last run, which may be cut; null: nothing"},
    {0},
};
const struct row_kind row_try_report = {"report", "the check of the kernel", try_report_fields};

static const struct field try_kernel_fields[] = {
    {"kind", F_TEXT, "a kernel of the same format, for comparison", .words = "kernel"},
    {"kernel", F_TEXT, "its name"},
    {"yours", F_BOOLEAN, "whether it is the kernel that was tried"},
    {"steps", F_AMOUNT, "operations of warps, estimated if sampled"},
    {"requests", F_AMOUNT, "requests to global memory, estimated if sampled"},
    {"sectors", F_AMOUNT, "their sectors, estimated if sampled"},
    {"wavefronts", F_AMOUNT, "wavefronts of shared memory, estimated if sampled"},
    {"active_lanes", F_AMOUNT, "active lanes of 32, the mean over the steps", .max = 32},
    {"predicted_us", F_AMOUNT, "predicted time, us; of one SpMV on a GPU"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {0},
};
const struct row_kind row_try_kernel = {"kernel", "a kernel of the same format, for comparison", try_kernel_fields};

static const struct field try_file_fields[] = {
    {"kind", F_TEXT, "a file was written", .words = "file"},
    {"kernel", F_TEXT, "the built-in kernel"},
    {"file", F_TEXT, "the file"},
    {"bytes", F_COUNT, "its size", .min = 1},
    {0},
};
static const struct row_kind row_try_file = {"file", "a file that was written", try_file_fields};

const struct command command_try = {
    .name = "try",
    .grammar =
        "[FILE] [new GPU_KERNEL] [as FILE] [of MATRIX] [format FORMAT] [kernel WORD] [f32|f64|[precision] PRECISION] "
        "[seconds R] [with FILE] [and FILE] [watch] [view] [force]",
    .about = "a kernel of yours: compiled, checked, counted, and compared with the built-in ones",
    .help =
        "The file has a kernel in CUDA C, for example\n"
        "    // TRY(csr, blocks_for(rows, 128), 128)\n"
        "    __global__ void mine(int rows, const int *ptr, const int *col,\n"
        "                         const double *val, const double *x, double *y)\n"
        "    {\n"
        "        int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "        if (row >= rows) return;\n"
        "        double sum = 0;\n"
        "        for (int k = ptr[row]; k < ptr[row + 1]; k++)\n"
        "            sum += val[k] * x[col[k]];\n"
        "        y[row] = sum;\n"
        "    }\n"
        "The names of the parameters say what they are: x, y, alpha, beta, rows, cols, nnz, the arrays of the\n"
        "format as `layout` shows them, and its parameters. Usual other names, such as rowptr and values, are\n"
        "known, too. If atomicAdd adds to y, y is zero before the kernel begins.\n"
        "A line TRY(format, blocks, threads, bytes), also in a comment, gives the format, the grid, the block,\n"
        "and the bytes of extern __shared__ memory. Without it, the format is csr, and one thread is launched\n"
        "per row, 256 per block.\n"
        "The kernel gets the name of its file, with `my-` before it if that name is taken. Once tried, it can\n"
        "be used by that name in spmv, bench, race, solve, trace, count, explain, predict, roofline and sm, until\n"
        "the file changes. These commands run it where the emulator runs, for example `bench mine csr on emu`.\n"
        "`try new csr-vector` writes the source of a built-in kernel into csr-vector.cu, or into the file after\n"
        "`as`; force replaces that file. That source is written in the dialect of CUDA C that the built-in\n"
        "kernels use; `help dialect` explains it.\n"
        "g++ compiles the file for the emulator, where the kernel runs in a process of its own: an endless loop\n"
        "(seconds R limits a run), a wrong index, or a crash ends that process only, and is reported by line,\n"
        "block and thread. If nvcc is there (`set nvcc` chooses one), it compiles the kernel for the GPU that is\n"
        "predicted: try shows registers, spills and unrolling, and each access that the compiler hoists out of a\n"
        "loop or merges, which then counts as often as it is done. nvdisasm of the toolkit reads the machine code;\n"
        "without it, and without nvcc, accesses are counted as in the source. `with` compares other compilers.\n"
        "With watch, each save of the file is tried at once; view shows the trace, which stays at its step.\n"
        "Only try files that you trust: they are programs.\n"
        "    try new csr-scalar; try csr-scalar.cu; try my.cu of A format ell watch view\n"
        "    try my.cu with /opt/cuda-12.9/bin/nvcc and venv/lib/python3.11/site-packages/nvidia",
    .rows = (const struct row_kind *const[]){&row_try_report, &row_try_compiled, &row_try_compiler, &row_try_kernel,
                                             &row_try_file, NULL},
    .run = run_try,
};
