/* Prints what nvcc made of a user's kernel: registers, memory, and the accesses that it hoisted out of loops or merged.
 */
#include "try_compiled.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "lab_code.h"
#include "lab_private.h"
#include "machine/mat.h"
#include "machine/toolkit.h"
#include "matrix/csr.h"
#include "microscope/model.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/matrix.h"
#include "session/session.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the accesses ---- */

/* The requests of a line of the file to an array, in the source and as compiled. */
struct changed_line {
    const struct access_site *site;
    int64_t source, compiled;
    bool hoisted, merged, unknown;
};

static const struct elision *elision_of(const struct lab_code *c, int function, const struct scope *s,
                                        const struct access_site *p)
{
    for (int i = 0; i < c->as.n; i++)
        if (elision_is_of(&c->as.of[i], function, s, p)) return &c->as.of[i];
    return NULL;
}

/* Is the access in the machine code? */
static bool is_found(const struct lab_code *c, int function, const struct access_site *p, int bytes)
{
    for (int i = 0; i < c->naccesses; i++) {
        const struct code_access *a = &c->access[i];
        if (a->function == function && (a->kind == p->kind || p->kind == ACCESS_ATOMIC) &&
            (a->bytes == bytes || p->kind == ACCESS_ATOMIC) && text_part_has(&a->part, p->line, p->column))
            return true;
    }
    return false;
}

static bool is_same(const struct changed_line *a, const struct access_site *p, bool unknown)
{
    return a->site->line == p->line && a->site->kind == p->kind && a->site->array == p->array && a->unknown == unknown;
}

/* The requests of the same site in the counts of the source. */
static int64_t requests_of(const struct counts *source, const struct counts *n, const struct access_site *p)
{
    int64_t requests = 0;
    for (int k = 0; k < source->scope.nsites; k++) {
        const struct access_site *q = &source->scope.site[k];
        if (q->launch == p->launch && q->kind == p->kind && q->line == p->line && q->column == p->column &&
            q->array >= 0 && !strcmp(q->file, p->file) &&
            !strcmp(source->scope.array[q->array].name, n->scope.array[p->array].name))
            requests += source->by_site[k].requests;
    }
    return requests;
}

/* The lines whose requests differ, or that were not found in the machine code. */
static int changed_lines(const struct lab_code *c, const struct counts *n, const struct counts *source,
                         struct changed_line out[SCOPE_SITES])
{
    int found = 0;
    for (int k = 0; k < n->scope.nsites; k++) {
        const struct access_site *p = &n->scope.site[k];
        const struct code_function *f = code_function_of(c, n->scope.launch[p->launch].function);
        const struct tally *t = &n->by_site[k];
        if (!f || p->array < 0 || !accesses_global(p->kind) || strcmp(p->file, c->as.file)) continue;
        int function = (int)(f - c->function), bytes = p->elements * n->scope.array[p->array].size;
        const struct elision *by = elision_of(c, function, &n->scope, p);
        bool unknown = !by && !is_found(c, function, p, bytes);
        if ((!by || !t->elided) && !unknown) continue;
        int i = 0;
        while (i < found && !is_same(&out[i], p, unknown)) i++;
        if (i == found) out[found++] = (struct changed_line){.site = p, .unknown = unknown};
        out[i].source += requests_of(source, n, p);
        out[i].compiled += t->requests;
        out[i].hoisted |= by && !by->merged;
        out[i].merged |= by && by->merged;
    }
    return found;
}

static const char *how_changed(const struct changed_line *l)
{
    if (l->unknown) return "not found";
    return l->hoisted && l->merged ? "hoisted and merged" : l->hoisted ? "hoisted" : "merged";
}

static const char *said_of(const struct changed_line *l)
{
    static const char *const hoisted[] = {
        [ACCESS_LOAD] = "loaded before its loop", [ACCESS_STORE] = "stored after its loop"};
    if (l->unknown) return "not found in the machine code, so it is counted as in the source";
    return l->hoisted ? hoisted[l->site->kind] : "the value is in a register already";
}

static void out_changes(struct out *o, const struct counts *n, const struct changed_line *l, int count)
{
    char requests[32], source[32];
    out_list(o, "changes");
    for (int i = 0; i < count; i++) {
        const struct access_site *p = l[i].site;
        const char *array = n->scope.array[p->array].name;
        if (out_mode(o) == OUT_TEXT && l[i].unknown)
            out_text(o, "Line %d, %s of %s: %s.", p->line, access_names[p->kind], array, said_of(&l[i]));
        else if (out_mode(o) == OUT_TEXT)
            out_text(o, "Line %d, %s of %s: %s requests instead of %s; %s.", p->line, access_names[p->kind], array,
                     show_count(l[i].compiled, requests, sizeof requests),
                     show_count(l[i].source, source, sizeof source), said_of(&l[i]));
        if (!out_within(o, "changes")) continue;
        out_int(o, "line", NULL, p->line);
        out_str(o, "does", NULL, access_names[p->kind]);
        out_str(o, "array", NULL, array);
        out_int(o, "requests", NULL, l[i].compiled);
        out_int(o, "requests_in_source", NULL, l[i].source);
        out_str(o, "how", NULL, how_changed(&l[i]));
    }
    out_without(o);
}

/* ---- the record ---- */

/* The function of the launch with most steps. */
static const struct code_function *main_function(const struct lab_code *c, const struct counts *n)
{
    int most = 0;
    for (int l = 1; l < n->scope.nlaunches; l++)
        if (n->launch[l].steps > n->launch[most].steps) most = l;
    return n->scope.nlaunches ? code_function_of(c, n->scope.launch[most].function) : NULL;
}

struct totals {
    int64_t requests, sectors;
};

static struct totals totals_of(const struct counts *n)
{
    struct totals t = {0};
    for (int kind = 0; kind < ACCESS_KINDS; kind++) {
        struct tally of = counts_of(n, (enum access_kind)kind, -1, -1);
        if (accesses_global((enum access_kind)kind)) t.requests += of.requests, t.sectors += of.sectors;
    }
    return t;
}

static const char *local_text(const struct code_function *f, bool read, char *out, size_t size)
{
    int spills = f->spill_loads + f->spill_stores;
    if (!f->made.local_bytes)
        snprintf(out, size, "none: no value is spilled");
    else if (read)
        snprintf(out, size, "%d bytes, %s", f->made.local_bytes, how_many(spills, "spill instruction").text);
    else
        snprintf(out, size, "%d bytes", f->made.local_bytes);
    return out;
}

static void out_code(struct out *o, const struct lab_code *c, const struct code_function *f)
{
    char text[140], target[16];
    bool read = c->listed, text_mode = out_mode(o) == OUT_TEXT;
    snprintf(target, sizeof target, "sm_%d", c->capability);
    out_str(o, "compiler", "compiled by", c->compiler);
    out_str(o, "architecture", "for", target);
    out_int(o, "registers", "registers", f->made.registers);
    out_int(o, "shared_bytes", f->made.shared_bytes ? "shared memory, bytes" : NULL, f->made.shared_bytes);
    if (text_mode) out_str(o, NULL, "local memory", local_text(f, read, text, sizeof text));
    out_int(o, "local_bytes", NULL, f->made.local_bytes);
    out_int_if(o, "local_accesses", NULL, read, f->spill_loads + f->spill_stores);
    out_int_if(o, "instructions", "instructions", read, f->instructions);
    out_int_if(o, "unrolled", read && f->unrolled > 1 ? "unrolled" : NULL, read && f->unrolled, f->unrolled);
}

static void out_counted(struct out *o, const struct lab_code *c, const struct counts *n, const struct counts *in_source,
                        const struct lab_report *r)
{
    struct changed_line line[SCOPE_SITES];
    struct totals t = totals_of(n);
    char text[80], requests[32], source[32];
    bool known = !*c->as_source, text_mode = out_mode(o) == OUT_TEXT;
    if (text_mode && known) {
        snprintf(text, sizeof text, t.requests == r->requests ? "%s, as in the source" : "%s instead of %s",
                 show_count(t.requests, requests, sizeof requests), show_count(r->requests, source, sizeof source));
        out_str(o, NULL, "global requests", text);
        out_int(o, NULL, "sectors", t.sectors);
    }
    out_int_if(o, "requests", NULL, known, t.requests);
    out_int(o, "requests_in_source", NULL, r->requests);
    out_int_if(o, "sectors", NULL, known, t.sectors);
    out_int(o, "sectors_in_source", NULL, r->sectors);
    out_str(o, "counted_as_source", NULL, known ? NULL : c->as_source);
    out_changes(o, n, line, known ? changed_lines(c, n, in_source, line) : 0);
    if (!known && text_mode) out_text(o, "Counted as in the source: %s.", c->as_source);
}

/* The counts of all blocks, as compiled and as in the source. */
static bool count_both(struct session *s, const struct tried *t, struct counts out[2], struct err *e)
{
    struct lab_kernel *l = lab_kernel_of(t->kernel);
    bool ok = count_kernel(t->kernel, t->M, 0, NULL, &s->watch, &out[0], e);
    l->as_source = true;
    ok = ok && count_kernel(t->kernel, t->M, 0, NULL, &s->watch, &out[1], e);
    l->as_source = false;
    return ok;
}

static bool out_without_code(struct session *s, const struct tried *t, const struct err *why)
{
    struct out *o = s->out;
    if (out_mode(o) == OUT_TEXT) return out_text(o, "Counted as in the source: %s.", why->text), true;
    return true;
}

bool try_out_compiled(struct session *s, const struct tried *t, const struct machine *g, struct err *e)
{
    struct lab_kernel *l = lab_kernel_of(t->kernel);
    struct err why = {0};
    const struct lab_code *c = lab_code_for(l, NULL, g->is.capability, t->report->real, &s->watch, &why);
    if (!c && why.code == E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    if (!c) return out_without_code(s, t, &why);
    l->counted_for = g->is.capability;
    struct counts *n = mem_new(2, sizeof *n, "the counts of a kernel", e);
    bool ok = n && count_both(s, t, n, e);
    const struct code_function *f = ok ? main_function(c, n) : NULL;
    if (f) {
        out_record(s->out);
        out_str(s->out, "kind", NULL, "compiled");
        out_str(s->out, "kernel", NULL, t->kernel->name);
        out_code(s->out, c, f);
        out_counted(s->out, c, n, &n[1], t->report);
    }
    mem_free(n);
    return ok;
}

/* ---- several compilers ---- */

static bool predict_with(struct session *s, const struct tried *t, const struct machine *g, const char *nvcc,
                         const struct lab_code **c, const struct code_function **f, double *us, struct err *e)
{
    struct lab_kernel *l = lab_kernel_of(t->kernel);
    struct counts *n = mem_new(1, sizeof *n, "the counts of a kernel", e);
    struct workload *w = n ? mem_new(1, sizeof *w, "the work of a kernel", e) : NULL;
    *c = w ? lab_code_for(l, nvcc, g->is.capability, t->report->real, &s->watch, e) : NULL;
    l->nvcc = nvcc;
    bool ok = *c && model_watch(t->kernel, &t->matrix->csr, t->M, g, 0, &s->watch, n, w, e);
    l->nvcc = NULL;
    if (ok) *us = model_predict(w, g).us;
    if (ok) *f = main_function(*c, n);
    mem_free(n);
    mem_free(w);
    return ok;
}

static bool out_compiler(struct session *s, const struct tried *t, const struct machine *g, const char *nvcc,
                         struct err *e)
{
    const struct lab_code *c;
    const struct code_function *f = NULL;
    double us = NAN;
    char target[16], safe[200];
    if (!predict_with(s, t, g, nvcc, &c, &f, &us, e)) return false;
    if (!f) return true;
    bool read = c->listed;
    snprintf(target, sizeof target, "sm_%d", c->capability);
    out_row(s->out);
    out_str(s->out, "kind", NULL, "compiler");
    out_str(s->out, "kernel", NULL, t->kernel->name);
    out_str(s->out, "compiler", "compiler", c->compiler);
    out_str(s->out, "architecture", "for", target);
    out_int(s->out, "registers", "registers", f->made.registers);
    out_int(s->out, "local_bytes", "local bytes", f->made.local_bytes);
    out_int_if(s->out, "local_accesses", "spills", read, f->spill_loads + f->spill_stores);
    out_int_if(s->out, "instructions", "instructions", read, f->instructions);
    out_int_if(s->out, "unrolled", "unrolled", read && f->unrolled, f->unrolled);
    out_num(s->out, "predicted_us", "predicted us", us, "%.2f");
    out_str(s->out, "path", "nvcc", print_safe(nvcc, strlen(nvcc), 190, safe, sizeof safe));
    return true;
}

bool try_out_compilers(struct session *s, const struct tried *t, const struct machine *g, const char *const *paths,
                       int n, struct err *e)
{
    char nvcc[PATH_MAX], path[PATH_MAX];
    const char *used = toolkit_nvcc();
    if (used) {
        snprintf(nvcc, sizeof nvcc, "%s", used);
        if (!out_compiler(s, t, g, nvcc, e)) return false;
    }
    for (int i = 0; i < n; i++) {
        if (!paths[i]) continue;
        if (!session_path(s, paths[i], path, sizeof path, e)) return false;
        if (!toolkit_find(path, nvcc, sizeof nvcc))
            return fail(e, E_USAGE,
                        "%.200s is no nvcc, and has none below it; the packages of CUDA 12 on PyPI do not contain nvcc",
                        paths[i]);
        if (!out_compiler(s, t, g, nvcc, e)) return false;
    }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field change_fields[] = {
    {"line", F_COUNT, "line of the file", .min = 1},
    {"does", F_TEXT, "what the line does", .words = "load, store, atomic, texture load"},
    {"array", F_TEXT, "array"},
    {"requests", F_COUNT, "requests as compiled"},
    {"requests_in_source", F_COUNT, "requests in the source"},
    {"how", F_TEXT,
     "what the compiler did; hoisted: the access is done outside of its loop, merged: the value was in a register "
     "already, not found: the machine code does not show it, so it is counted as in the source",
     .words = "hoisted, merged, hoisted and merged, not found"},
    {0},
};
static const struct field code_fields[] = {
    {"kernel", F_TEXT, "name of the kernel"},
    {"compiler", F_TEXT, "the compiler and its version"},
    {"architecture", F_TEXT, "the architecture that it compiled for", .pattern = "^sm_[0-9]+$"},
    {"registers", F_COUNT, "registers of a thread"},
    {"local_bytes", F_COUNT, "local memory of a thread, for values that have no registers, in bytes"},
    {"local_accesses", F_COUNT | OR_NULL, "instructions that access it; null: the machine code was not read"},
    {"instructions", F_COUNT | OR_NULL, "machine instructions; null: the machine code was not read"},
    {"unrolled", F_COUNT | OR_NULL,
     "copies of the source in the loop with most loads; null: the machine code was not read, or has no such loop"},
    {0},
};
static const struct row_kind row_code = {"code", "what a compiler made of a kernel", code_fields};

static const struct field try_compiled_fields[] = {
    {"kind", F_TEXT, "the kernel as nvcc compiles it", .words = "compiled"},
    {.include = &row_code},
    {"shared_bytes", F_COUNT, "shared memory of a block, without the bytes that the launch gives"},
    {"requests", F_COUNT | OR_NULL, "requests to global memory, as compiled; null: counted as in the source"},
    {"requests_in_source", F_COUNT, "requests to global memory, as in the source"},
    {"sectors", F_COUNT | OR_NULL, "their sectors, as compiled; null: counted as in the source"},
    {"sectors_in_source", F_COUNT, "their sectors, as in the source"},
    {"as_source", F_TEXT | OR_NULL, "why accesses are counted as in the source; null: they are counted as compiled"},
    {"changes", F_LIST, "lines whose requests differ", .item = F_OBJECT, .of = change_fields},
    {0},
};
const struct row_kind row_try_compiled = {"compiled", "the kernel as nvcc compiles it", try_compiled_fields,
                                          .on = "nvcc"};

static const struct field try_compiler_fields[] = {
    {"kind", F_TEXT, "the kernel as one of several compilers compiles it", .words = "compiler"},
    {.include = &row_code},
    {"predicted_us", F_AMOUNT, "predicted time of one SpMV, us"},
    {"path", F_TEXT, "the nvcc"},
    {0},
};
const struct row_kind row_try_compiler = {"compiler", "the kernel as one of several compilers compiles it",
                                          try_compiler_fields, .on = "nvcc"};
