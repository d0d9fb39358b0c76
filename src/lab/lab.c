/* The kernels of the lab: from a file to an entry of the registry, and the report on it. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "formats/format.h"
#include "lab_code.h"
#include "lab_private.h"
#include "machine/bench.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "microscope/model.h"
#include "solvers/solver.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every kernel that a file made. */
static struct lab_kernel *lab_kernels;

/* ---- entries ---- */

/* Free what l refers to, and end the process that waits for its next launch. */
static void release(struct lab_kernel *l)
{
    lab_rest();
    if (l->object >= 0) close(l->object);
    if (l->gpu >= 0) close(l->gpu);
    mem_free(l->text);
    l->object = l->gpu = -1;
    l->text = NULL;
}

void lab_close(void)
{
    while (lab_kernels) {
        struct lab_kernel *l = lab_kernels;
        lab_kernels = l->next;
        kernel_remove(&l->entry);
        kernel_source_put(l->file, NULL, NULL);
        release(l);
        mem_free(l);
    }
    lab_forget_names();
    lab_code_close();
}

const char *lab_printed(const struct kernel *k)
{
    const struct lab_kernel *l = lab_kernel_of(k);
    return l ? l->printed : "";
}

/* ---- names ---- */

/* Is the name one of a kernel that is not of this file, or of a format or a solver? */
static bool taken(const char *name, const char *path)
{
    const struct kernel *k = kernel_find(name);
    const struct lab_kernel *l = k ? lab_kernel_of(k) : NULL;
    return (k && (!l || strcmp(l->path, path))) || format_find(name) || registry_find(&solver_registry, name);
}

/* "my-csr.cu" makes my-csr; a name that is taken gets "my-" before it, then a number after it. */
static void name_for(const char *file, const char *path, char *out, size_t size)
{
    char stem[40], base[48];
    snprintf(stem, sizeof stem, "%.*s", (int)(strrchr(file, '.') ? strrchr(file, '.') - file : (long)strlen(file)),
             file);
    for (char *c = stem; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') *c = '-';
    bool number = strspn(stem, "0123456789-") == strlen(stem);
    snprintf(base, sizeof base, "%s%s", number || taken(stem, path) ? "my-" : "", *stem ? stem : "kernel");
    snprintf(out, size, "%s", base);
    for (int i = 2; taken(out, path) && i < 1000; i++) snprintf(out, size, "%s-%d", base, i);
}

/* Messages and traces find the text of a file by its name alone, so that a file with the name of another one appears
   under the name of its kernel. */
static void name_file(struct lab_kernel *l)
{
    for (const struct lab_kernel *k = lab_kernels; k; k = k->next)
        if (!strcmp(k->file, l->file) && strcmp(k->path, l->path)) {
            snprintf(l->file, sizeof l->file, "%.50s.cu", l->name);
            return;
        }
}

/* ---- a file ---- */

static bool split_path(struct lab_kernel *l, const char *path, char *folder, size_t size, struct err *e)
{
    char whole[PATH_MAX], safe[128];
    if (!realpath(path, whole)) return fail(e, E_IO, "cannot find the file");
    char *slash = strrchr(whole, '/');
    snprintf(l->path, sizeof l->path, "%s", whole);
    print_safe(slash + 1, strlen(slash + 1), sizeof l->file - 8, safe, sizeof safe);
    snprintf(l->file, sizeof l->file, "%.63s", safe);
    for (char *c = l->file; *c; c++)
        if (*c == '"' || *c == '\\' || *c == ':') *c = '_';
    slash[slash == whole] = 0;
    snprintf(folder, size, "%s", whole);
    return true;
}

/* Stands for the launch function of each type that the kernel accepts: kernel_launch calls `remote` instead. */
static bool launched_here(const struct launch *L, struct err *e)
{
    return fail(e, E_INTERNAL, "a user's kernel was launched in the session");
}

/* The registry's entry, from what the shared object says of the kernel. */
static bool make_entry(struct lab_kernel *l, const struct described *d, struct err *e)
{
    const struct format *f = format_find(d->format);
    struct kernel *k = &l->entry;
    if (!f) return fail(e, E_USAGE, "%s: its entry names no format", l->file);
    snprintf(l->about, sizeof l->about, "yours, from %s", l->file);
    snprintf(l->work, sizeof l->work, "as in %s", l->file);
    memcpy(l->param, d->param, sizeof l->param);
    *k = (struct kernel){.name = l->name,
                         .about = l->about,
                         .format = f,
                         .source = "yours",
                         .work = l->work,
                         .lesson = "A kernel of yours; `trace` shows what it does.\n",
                         .deterministic = d->deterministic,
                         .together = d->together,
                         .shares = d->shares,
                         .host_part = d->host_part,
                         .skips_padding = d->skips_padding,
                         .product_only = d->product_only,
                         .emulated_only = !lab_has_nvcc(),
                         .param = d->has_param ? l->param : NULL,
                         .remote = &lab_remote};
    for (int i = 0; i < PRECISIONS; i++)
        if (d->takes[i]) k->product[i] = launched_here;
    return true;
}

static bool describe(struct lab_kernel *l, struct watch *w, struct err *e)
{
    struct lab_request q = {.op = OP_DESCRIBE};
    struct lab_reply reply;
    struct described d;
    bool ok = lab_run(l, &q, w, &reply, e);
    if (ok && reply.n != sizeof d) ok = fail(e, E_DEVICE, "%s has damaged its process while it was loaded", l->file);
    if (ok) {
        memcpy(&d, reply.bytes, sizeof d);
        d.format[sizeof d.format - 1] = 0;
        ok = make_entry(l, &d, e);
    }
    mem_free(reply.bytes);
    return ok;
}

static bool read_and_compile(struct lab_kernel *l, const char *path, const struct lab_options *o, struct watch *w,
                             struct err *e)
{
    char folder[PATH_MAX];
    if (!(l->text = lab_read(path, &l->st, e)) || !split_path(l, path, folder, sizeof folder, e)) return false;
    name_for(l->file, l->path, l->name, sizeof l->name);
    name_file(l);
    if (!source_read(&l->source, l->text, l->file, e) || !source_choose(&l->source, l->file, o->kernel, o->format, e))
        return false;
    char *text = source_for_emulator(&l->source, l->text, l->file, l->name, e);
    if (text) l->object = lab_compile(text, l->file, folder, l->text, (struct lab_target){.gpu = false}, w, e);
    mem_free(text);
    return l->object >= 0;
}

/* Put l into the registry. A kernel that the same file made before keeps its place, as traces point to it. */
static struct lab_kernel *put_in_registry(struct lab_kernel *l, struct err *e)
{
    struct lab_kernel *old = lab_kernels;
    lab_rest();
    SCREEN_EDIT; /* a view may show the text of the file */
    while (old && strcmp(old->path, l->path)) old = old->next;
    if (!old && !kernel_add(&l->entry, NULL, e)) return NULL;
    if (old) {
        struct lab_kernel *next = old->next;
        release(old);
        *old = *l;
        old->next = next;
        old->entry.name = old->name, old->entry.about = old->about, old->entry.work = old->work;
        if (old->entry.param) old->entry.param = old->param;
        mem_free(l);
        l = old;
    } else {
        l->next = lab_kernels;
        lab_kernels = l;
    }
    return kernel_source_put(l->file, l->text, e) ? l : NULL;
}

const struct kernel *lab_build(const char *path, const struct lab_options *o, struct watch *w, struct err *e)
{
    static const struct lab_options none;
    struct lab_kernel *l = mem_zero(1, sizeof *l, "a kernel", e);
    lab_messages_clear();
    if (!l) return NULL;
    l->object = l->gpu = -1;
    o = o ? o : &none;
    l->seconds = o->seconds;
    if (!read_and_compile(l, path, o, w, e) || !describe(l, w, e)) {
        release(l);
        mem_free(l);
        return NULL;
    }
    struct lab_kernel *kept = put_in_registry(l, e);
    if (!kept) release(l), mem_free(l);
    return kept ? &kept->entry : NULL;
}

/* ---- the report ---- */

/* x, y and the reference of a check, in double precision and in the precision of M. */
struct trial {
    int64_t nx, ny; /* numbers: two per complex element */
    double *x, *y, *ref, *bound;
    void *xs, *ys;
    double alpha, beta;
};

static void trial_free(struct trial *t)
{
    mem_free(t->x), mem_free(t->y), mem_free(t->ref), mem_free(t->bound), mem_free(t->xs), mem_free(t->ys);
}

static void fill_random(struct array *a, double *v, uint64_t *state)
{
    for (int64_t i = 0; i < a->n; i++) v[i] = random_unit(state);
    put_reals(a, v);
    for (int64_t i = 0; i < a->n; i++) v[i] = array_real(a, i);
}

/* A product y = alpha A x + beta y. If beta is 0, y is NaN before, so that a kernel that reads y gives a wrong result.
 */
static bool trial_new(struct trial *t, const struct csr *A, enum precision real, double alpha, double beta,
                      struct err *e)
{
    uint64_t state = 7;
    int64_t parts = type_parts(precisions[real].vector);
    size_t size = type_size(precisions[real].part);
    *t = (struct trial){.nx = parts * A->cols, .ny = parts * A->rows, .alpha = alpha, .beta = beta};
    t->x = mem_new(t->nx, sizeof *t->x, "x of a check", e);
    t->y = mem_new(t->ny, sizeof *t->y, "y of a check", e);
    t->ref = mem_new(t->ny, sizeof *t->ref, "the reference", e);
    t->bound = mem_new(t->ny, sizeof *t->bound, "the error bounds", e);
    t->xs = mem_new(t->nx, size, "x of a check", e);
    t->ys = mem_new(t->ny, size, "y of a check", e);
    if (!t->x || !t->y || !t->ref || !t->bound || !t->xs || !t->ys) return false;
    struct array x = {.type = precisions[real].part, .n = t->nx, .data = t->xs}, y = x;
    y.n = t->ny, y.data = t->ys;
    fill_random(&x, t->x, &state);
    fill_random(&y, t->y, &state);
    if (t->beta == 0)
        for (int64_t i = 0; i < t->ny; i++) t->y[i] = NAN;
    put_reals(&y, t->y);
    memcpy(t->ref, t->y, (size_t)t->ny * sizeof *t->ref);
    reference_spmv(A, t->alpha, t->x, t->beta, t->ref, real, t->bound);
    return loop_unbroken("the reference", e);
}

/* A fault of a built-in kernel, from the error alone. */
static void fault_of(const struct err *why, struct lab_fault *f)
{
    *f = (struct lab_fault){0};
    snprintf(f->where, sizeof f->where, "%.127s", why->where);
    snprintf(f->what, sizeof f->what, "%.399s", why->text);
}

/* Launch once; *ok: without a fault. Returns false if this process failed or the user cancelled. */
static bool launch_once(const struct kernel *k, const struct mat *M, struct trial *t, bool races, struct watch *w,
                        bool *ok, struct lab_fault *fault, struct err *e)
{
    struct lab_kernel *l = lab_kernel_of(k);
    struct err why = {0};
    struct lab_reply reply = {0};
    if (l) {
        struct lab_request q = {
            .op = OP_LAUNCH, .M = M, .x = t->xs, .y = t->ys, .alpha = t->alpha, .beta = t->beta, .races = races};
        *ok = lab_run(l, &q, w, &reply, &why);
        *fault = l->fault;
        mem_free(reply.bytes);
    } else {
        struct launch L = {.A = M, .alpha = t->alpha, .beta = t->beta, .x = t->xs, .y = t->ys};
        emu_look_for_races(races);
        *ok = kernel_launch(k, &L, &why) && M->dev->ops->sync(M->dev, &why);
        emu_look_for_races(false);
        if (!*ok) fault_of(&why, fault);
    }
    bool ours = why.code == E_CANCELLED || why.code == E_MEMORY || why.code == E_INTERNAL;
    return *ok || !ours || fail_at(e, why.code, why.where, "%s", why.text);
}

static void judge_result(const struct trial *t, enum precision real, struct lab_report *out)
{
    struct array y = {.type = precisions[real].part, .n = t->ny, .data = t->ys};
    for (int64_t i = 0; i < t->ny; i++) t->y[i] = array_real(&y, i);
    out->error = verdict_of(t->ny, t->y, t->ref, t->bound);
    out->correct = out->error.ok;
    if (out->error.at >= 0) {
        double got = t->y[out->error.at];
        out->got = isnan(got) ? NAN : got; /* a NaN has a sign */
        out->expected = t->ref[out->error.at];
    }
    out->reads_y = !out->correct && verdict_reads_y(&out->error, t->beta, t->y, t->ref);
    if (out->error.row >= 0) out->error.row /= type_parts(precisions[real].vector);
}

static void add_sites(const struct counts *c, struct lab_report *out)
{
    for (int kind = 0; kind < ACCESS_RECONVERGE; kind++) {
        struct tally t = counts_of(c, (enum access_kind)kind, -1, -1);
        enum access_kind a = (enum access_kind)kind;
        if (accesses_global(a)) {
            out->requests += t.requests, out->sectors += t.sectors, out->bytes += t.bytes;
            out->refetched += t.refetched;
        }
        if (a == ACCESS_LOAD || a == ACCESS_TEXTURE) out->loads += t.requests, out->load_sectors += t.sectors;
        if (a == ACCESS_STORE) out->stores += t.requests, out->store_sectors += t.sectors;
        if (a == ACCESS_ATOMIC) out->atomics += t.requests, out->atomic_sectors += t.sectors;
        if (accesses_shared(a)) {
            out->shared_requests += t.requests, out->wavefronts += t.wavefronts;
            out->wavefronts_least += t.wavefronts_least;
        }
        if (a == ACCESS_COLLECTIVE) out->collectives += t.requests;
        if (a == ACCESS_BARRIER) out->barriers += t.requests;
    }
}

/* What a multiprocessor holds of the launch with most steps. */
static void add_residency(const struct workload *work, const struct machine *g, struct lab_report *out)
{
    const struct work *w = workload_busiest(work);
    struct residency r = model_residency(g, w);
    out->occupancy = 100 * r.share;
    out->occupancy_by = residency_limit_names[r.by];
    out->resident_blocks = (int64_t)r.blocks;
    out->block_threads = w->threads;
    out->block_shared_bytes = w->shared_bytes;
}

static void add_launches(const struct counts *c, struct lab_report *out)
{
    int64_t active = 0;
    out->launches = c->scope.nlaunches;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        out->blocks += c->scope.launch[l].blocks;
        out->threads += c->scope.launch[l].blocks * c->scope.launch[l].threads;
        out->warps += c->launch[l].warps;
        out->steps += c->launch[l].steps;
        active += c->launch[l].active;
        if (c->launch[l].longest_warp > out->longest_warp) out->longest_warp = c->launch[l].longest_warp;
    }
    out->active_lanes = out->steps ? (double)active / (double)out->steps : 0;
}

/* Count all blocks as in the source, and predict the time: for all kernels without factors of their own, which a user's
   kernel lacks. */
static bool count_all(const struct kernel *k, const struct csr *A, const struct mat *M, struct watch *w,
                      struct lab_report *out, struct err *e)
{
    struct counts *c = mem_new(1, sizeof *c, "the counts of a kernel", e);
    struct workload *work = c ? mem_new(1, sizeof *work, "the work of a kernel", e) : NULL;
    struct machine g = machine_reference();
    struct err why = {0};
    struct lab_kernel *l = lab_kernel_of(k);
    if (l) l->as_source = true;
    bool ok = work && model_watch(k, A, M, &g, 0, w, c, work, &why);
    if (l) l->as_source = false;
    if (ok) {
        out->counted = work->plain = true;
        out->predicted_us = A->nnz ? model_predict(work, &g).us : NAN;
        add_sites(c, out);
        add_launches(c, out);
        add_residency(work, &g, out);
    }
    mem_free(c);
    mem_free(work);
    if (ok || !err_is_refusal(&why)) return ok || fail_at(e, why.code, why.where, "%s", why.text);
    return true; /* the counts stay unknown */
}

static bool judge_product(const struct kernel *k, const struct csr *A, const struct mat *M, double alpha, double beta,
                          struct watch *w, struct lab_report *out, struct err *e)
{
    struct trial t;
    double worst = out->error.worst; /* of an earlier product, which was right */
    bool ok =
        trial_new(&t, A, M->of->real, alpha, beta, e) && launch_once(k, M, &t, false, w, &out->ran, &out->fault, e);
    out->correct = false;
    if (ok && out->ran) judge_result(&t, M->of->real, out);
    if (out->correct && worst > out->error.worst) out->error.worst = worst;
    trial_free(&t);
    return ok;
}

static bool find_races(const struct kernel *k, const struct csr *A, const struct mat *M, struct watch *w,
                       struct lab_report *out, struct err *e)
{
    struct trial t;
    bool no_race = false;
    bool ok = trial_new(&t, A, M->of->real, 1, 0, e) && launch_once(k, M, &t, true, w, &no_race, &out->race_at, e);
    out->race = ok && !no_race;
    trial_free(&t);
    return ok;
}

/* A kernel that takes alpha and beta is launched with both, and once more with beta 0. */
bool lab_judge(const struct kernel *k, const struct csr *A, const struct mat *M, struct watch *w,
               struct lab_report *out, struct err *e)
{
    *out = (struct lab_report){.kernel = k, .real = M->of->real, .ran = true, .correct = true, .predicted_us = NAN};
    if (!kernel_takes(k, M->of->real, e)) return false;
    if (!k->product_only && !judge_product(k, A, M, 1.25, -0.5, w, out, e)) return false;
    if (out->ran && out->correct && !judge_product(k, A, M, 1, 0, w, out, e)) return false;
    return !out->ran || (find_races(k, A, M, w, out, e) && count_all(k, A, M, w, out, e));
}

bool lab_local_bytes(const struct kernel *k, enum precision real, struct watch *w, double *bytes, struct err *why,
                     struct err *e)
{
    int capability = machine_reference().is.capability;
    const struct lab_code *c = lab_code_for(lab_kernel_of(k), NULL, capability, real, w, why);
    *bytes = NAN;
    if (!c && why->code == E_CANCELLED) return fail_at(e, why->code, why->where, "%s", why->text);
    if (c && *c->failed) fail(why, E_UNSUPPORTED, "%s", c->failed);
    if (!c || *c->failed) return true;
    *bytes = 0;
    for (int i = 0; i < c->nfunctions; i++)
        if (*c->function[i].symbol && c->function[i].made.local_bytes > *bytes)
            *bytes = c->function[i].made.local_bytes;
    return true;
}
