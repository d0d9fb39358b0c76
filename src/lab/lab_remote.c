/* The functions by which the registry's entry of a user's kernel runs in another process (machine/remote.h). */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "lab_code.h"
#include "lab_private.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/shared_places.h"
#include "microscope/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- may it run? ---- */

/* A GPU needs code that nvcc compiled, which is made when it is first needed. */
static bool compile_for(struct lab_kernel *k, const struct device *d, struct watch *w, struct err *e)
{
    char folder[sizeof k->path];
    if (k->gpu >= 0 && k->capability == d->facts.capability) return true;
    if (k->gpu >= 0) close(k->gpu);
    k->gpu = -1;
    k->capability = d->facts.capability;
    lab_folder_of(k, folder, sizeof folder);
    char *text = source_for_gpu(&k->source, k->text, k->file, k->name, e);
    const struct lab_target gpu = {.gpu = true, .capability = k->capability};
    if (text) k->gpu = lab_compile(text, k->file, folder, k->text, gpu, w, e);
    mem_free(text);
    return k->gpu >= 0;
}

/* Has the file changed since lab_build read it? */
static bool changed(const struct lab_kernel *k)
{
    struct stat st;
    if (stat(k->path, &st)) return true;
    return st.st_size != k->st.st_size || st.st_mtim.tv_sec != k->st.st_mtim.tv_sec ||
           st.st_mtim.tv_nsec != k->st.st_mtim.tv_nsec || st.st_ino != k->st.st_ino;
}

/* A kernel that changed is not the one that was tried. */
static bool may_run(struct lab_kernel *k, const struct mat *M, struct watch *w, struct err *e)
{
    if (changed(k))
        return fail(e, E_UNSUPPORTED, "%s has changed since it was tried; `try %s` compiles it again", k->file,
                    k->file);
    return M->dev->kind != DEV_CUDA || compile_for(k, M->dev, w, e);
}

static bool run(const struct kernel *entry, const struct lab_request *q, struct watch *w, struct lab_reply *out,
                struct err *e)
{
    struct lab_kernel *k = lab_kernel_of(entry);
    struct err why = {0};
    *out = (struct lab_reply){0};
    if (!k) return fail(e, E_INTERNAL, "%s is not a kernel of the lab", entry->name);
    if (may_run(k, q->M, w, &why) && lab_run(k, q, w, out, &why)) return true;
    /* a fault of one kernel: `bench` and the like go on with the others */
    return fail_at(e, why.code == E_DEVICE ? E_UNSUPPORTED : why.code, why.where, "%s", why.text);
}

/* ---- launches ---- */

/* n elements of M's type that are on M's device, or a copy of them on the host; NULL: an error. */
static void *on_host(const struct mat *M, const void *p, int64_t n, const char *what, struct err *e)
{
    int64_t bytes = n * (int64_t)type_size(precisions[M->of->real].vector);
    if (M->dev->ops->plain) return (void *)p;
    void *copy = mem_new(bytes, 1, what, e);
    if (copy && M->dev->ops->get(M->dev, copy, p, bytes, e)) return copy;
    mem_free(copy);
    return NULL;
}

static bool launch(const struct kernel *k, const struct launch *L, struct err *e)
{
    const struct mat *M = L->A;
    struct lab_reply reply = {0};
    if (L->s) return fail(e, E_UNSUPPORTED, "%s does not compute the sums that cg needs", k->name);
    void *x = on_host(M, L->x, M->of->cols, "the vector x", e);
    void *y = x ? on_host(M, L->y, M->of->rows, "the vector y", e) : NULL;
    struct lab_request q = {.op = OP_LAUNCH, .M = M, .x = x, .y = y, .alpha = L->alpha, .beta = L->beta};
    bool ok = y && run(k, &q, loop_watch(), &reply, e);
    if (ok && y != L->y)
        ok = M->dev->ops->put(M->dev, L->y, y, M->of->rows * (int64_t)type_size(precisions[M->of->real].vector), e);
    mem_free(reply.bytes);
    if (x != L->x) mem_free(x);
    if (y != L->y) mem_free(y);
    return ok;
}

/* Vectors for launches whose result nobody reads. */
static bool time_launches(const struct kernel *k, const struct mat *M, double alpha, double beta, int reps,
                          struct watch *w, struct remote_times *out, struct err *e)
{
    size_t size = type_size(precisions[M->of->real].vector);
    struct lab_reply reply = {0};
    void *x = mem_zero(M->of->cols, size, "the vector x", e), *y = mem_zero(M->of->rows, size, "the vector y", e);
    struct lab_request q = {.op = OP_TIME, .M = M, .x = x, .y = y, .alpha = alpha, .beta = beta, .reps = reps};
    bool ok = x && y && run(k, &q, w, &reply, e);
    if (ok && reply.n != sizeof *out) ok = fail(e, E_INTERNAL, "%s: the process sent no times", k->name);
    if (ok) memcpy(out, reply.bytes, sizeof *out);
    mem_free(reply.bytes);
    mem_free(x);
    mem_free(y);
    return ok;
}

/* ---- the microscope ---- */

/* Strings that a trace points to are kept until the program ends: the traces may outlive the kernel. */
struct kept {
    struct kept *next;
    char text[];
};
static struct kept *kept;

static const char *keep(const char *text)
{
    size_t n = strlen(text) + 1;
    for (struct kept *s = kept; s; s = s->next)
        if (!strcmp(s->text, text)) return s->text;
    struct kept *s = mem_new(1, sizeof *s + n, "a name", NULL);
    if (!s) return "";
    memcpy(s->text, text, n);
    s->next = kept;
    kept = s;
    return s->text;
}

static void free_all(struct kept **list)
{
    while (*list) {
        struct kept *s = *list;
        *list = s->next;
        mem_free(s);
    }
}

void lab_forget_names(void)
{
    free_all(&kept);
}

/* Point the strings and pointers of a scope at what this process has. Returns false if the sizes cannot be right. */
static bool adopt(struct scope *s, const struct scope_names *names, const struct kernel *k, const struct mat *M)
{
    if (s->nsites < 0 || s->nsites > SCOPE_SITES || s->narrays < 0 || s->narrays > SCOPE_ARRAYS || s->nlaunches < 0 ||
        s->nlaunches > SCOPE_LAUNCHES)
        return false;
    s->name = k->name;
    s->kernel = k;
    s->of = M->of;
    for (int i = 0; i < s->nsites; i++) {
        char file[sizeof names->file[i]], what[sizeof names->what[i]];
        snprintf(file, sizeof file, "%.*s", (int)sizeof file - 1, names->file[i]);
        snprintf(what, sizeof what, "%.*s", (int)sizeof what - 1, names->what[i]);
        s->site[i].file = keep(file);
        s->site[i].what = *what ? keep(what) : NULL;
        if (s->site[i].array >= s->narrays || s->site[i].launch >= s->nlaunches) return false;
    }
    for (int a = 0; a < s->narrays; a++) s->array[a].name[sizeof s->array[a].name - 1] = 0;
    for (int l = 0; l < s->nlaunches; l++) {
        struct scope_launch *at = &s->launch[l];
        at->name[sizeof at->name - 1] = at->function[sizeof at->function - 1] = 0;
        at->instance[0] = 0; /* nvcc has not compiled a user's function into this program */
    }
    return true;
}

/* Copy n bytes from the front of a reply. */
static bool take(const struct lab_reply *r, uint64_t *at, void *to, uint64_t n)
{
    if (r->n - *at < n) return false;
    memcpy(to, r->bytes + *at, n);
    *at += n;
    return true;
}

static bool garbled(const struct kernel *k, struct err *e)
{
    return fail(e, E_DEVICE, "%s has damaged the memory of its process", k->name);
}

/* What is left of the reply: the accesses to shared memory. */
static bool unpack_shared(const struct lab_reply *r, uint64_t at, const struct kernel *k, const struct stored *A,
                          struct err *e)
{
    struct shared_places p = {.n = (int64_t)((r->n - at) / sizeof *p.of)};
    bool ok = !p.n || (p.of = mem_new(p.n, sizeof *p.of, "the accesses to shared memory", e));
    if (!ok) return false;
    if (p.n) take(r, &at, p.of, (uint64_t)p.n * sizeof *p.of);
    for (int64_t i = 0; i < p.n; i++) ok = ok && p.of[i].row < A->rows && p.of[i].col < A->cols;
    shared_places_give(&p);
    return ok || garbled(k, e);
}

static bool unpack_trace(const struct lab_reply *r, const struct kernel *k, const struct mat *M, struct trace *t,
                         struct err *e)
{
    struct scope_names *names = mem_new(1, sizeof *names, "the names of a trace", e);
    uint64_t at = 0;
    if (!names) return false;
    bool ok = take(r, &at, t, sizeof *t) && take(r, &at, names, sizeof *names) && t->nsteps >= 0 &&
              t->nsteps <= TRACE_MAX && adopt(&t->scope, names, k, M);
    mem_free(names);
    int64_t n = ok ? t->nsteps : 0;
    t->step = NULL;
    if (!ok) return *t = (struct trace){0}, garbled(k, e);
    t->step = mem_new(n, sizeof *t->step, "the steps of a warp", e);
    if (!t->step) return *t = (struct trace){0}, false;
    ok = take(r, &at, t->step, (uint64_t)n * sizeof *t->step);
    for (int64_t i = 0; i < n && ok; i++) ok = t->step[i].site >= 0 && t->step[i].site < t->scope.nsites;
    ok = ok ? unpack_shared(r, at, k, M->of, e) : garbled(k, e);
    if (!ok) trace_free(t);
    return ok;
}

static bool trace(const struct watched *of, int which, int64_t block, int warp, struct watch *w, struct trace *out,
                  struct err *e)
{
    struct lab_reply reply;
    struct lab_request q = {.op = OP_TRACE, .M = of->M, .launch = which, .block = block, .warp = warp};
    *out = (struct trace){0};
    bool ok = run(of->kernel, &q, w, &reply, e) && unpack_trace(&reply, of->kernel, of->M, out, e);
    mem_free(reply.bytes);
    return ok;
}

static bool unpack_counts(const struct lab_reply *r, uint64_t *at, const struct kernel *k, const struct mat *M,
                          struct counts *c, struct err *e)
{
    struct scope_names *names = mem_new(1, sizeof *names, "the names of a trace", e);
    bool ok = names && take(r, at, c, sizeof *c) && take(r, at, names, sizeof *names) && adopt(&c->scope, names, k, M);
    mem_free(names);
    return ok || garbled(k, e);
}

/* ---- as compiled ---- */

/* Note how the kernel is counted. */
static void note_code(struct lab_kernel *l, const struct lab_code *c, const char *why)
{
    if (c && !*c->as_source)
        snprintf(l->counted_as, sizeof l->counted_as, "as %s compiles it for sm_%d", c->compiler, c->capability);
    else
        snprintf(l->counted_as, sizeof l->counted_as, "as in the source: %.180s", c ? c->as_source : why);
}

/* *out: the code as which the kernel is counted for a GPU of this compute capability; NULL: it is counted as in the
   source. Returns false if the user cancelled. */
static bool code_for(struct lab_kernel *l, int capability, enum precision real, struct watch *w,
                     const struct as_compiled **out, struct err *e)
{
    struct err why = {0};
    *out = NULL;
    if (l->as_source) return true;
    const struct lab_code *c = lab_code_for(l, l->nvcc, capability, real, w, &why);
    if (!c && why.code == E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    l->counted_for = capability;
    note_code(l, c, why.text);
    *out = c ? &c->as : NULL;
    return true;
}

static bool find_code(const struct kernel *k, int capability, enum precision real, struct watch *w, struct err *e)
{
    return lab_code_for(lab_kernel_of(k), NULL, capability, real, w, e) != NULL;
}

static const char *counted_as(const struct kernel *k)
{
    return lab_kernel_of(k)->counted_as;
}

static bool count(const struct kernel *k, const struct mat *M, int64_t sample, struct watch *w, struct counts *out,
                  struct err *e)
{
    struct lab_kernel *l = lab_kernel_of(k);
    struct lab_reply reply;
    uint64_t at = 0;
    struct lab_request q = {.op = OP_COUNT, .M = M, .sample = sample};
    int capability = l->counted_for ? l->counted_for : machine_reference().is.capability;
    bool ok = code_for(l, capability, M->of->real, w, &q.code, e) && run(k, &q, w, &reply, e);
    if (!ok) return false;
    ok = unpack_counts(&reply, &at, k, M, out, e);
    mem_free(reply.bytes);
    return ok;
}

static bool model(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                  int64_t sample, struct watch *w, struct counts *counts, struct tape *tape, struct workload *out,
                  struct err *e)
{
    struct lab_reply reply;
    uint64_t at = 0;
    struct lab_request q = {.op = OP_MODEL, .M = M, .A = A, .machine = g, .sample = sample, .tape = tape};
    struct counts *own = counts ? NULL : mem_new(1, sizeof *own, "the counts of a kernel", e);
    bool ok = (counts || own) && code_for(lab_kernel_of(k), g->is.capability, M->of->real, w, &q.code, e) &&
              run(k, &q, w, &reply, e);
    if (!ok) return mem_free(own), false;
    ok = take(&reply, &at, out, sizeof *out) && out->n >= 0 && out->n <= SCOPE_LAUNCHES;
    ok = ok ? unpack_counts(&reply, &at, k, M, counts ? counts : own, e) : garbled(k, e);
    if (ok && tape) ok = lab_tape_unpack(reply.bytes + at, reply.n - at, tape, e) || garbled(k, e);
    out->kernel = k;
    mem_free(reply.bytes);
    mem_free(own);
    return ok;
}

const struct remote lab_remote = {.launch = launch,
                                  .trace = trace,
                                  .count = count,
                                  .model = model,
                                  .time = time_launches,
                                  .find_code = find_code,
                                  .counted_as = counted_as};
