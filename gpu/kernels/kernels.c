/* The kernel registry, built from kernels.def, and the launching of kernels. Each kernel has an entry for the emulator
   or the host, and in builds with CUDA a second entry that nvcc compiled from the same source. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "formats/format.h"
#include "gpu/dev.h"
#include "gpu/emu/emu.h"
#include "gpu/emu/scope.h"
#include "gpu/multi/multi.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/remote.h"

#include <string.h>

#define KERNEL(id) extern const struct kernel emu_kernel_##id, cuda_kernel_##id;
#define HOST_KERNEL(id) extern const struct kernel emu_kernel_##id;
#define VENDOR_KERNEL(id) extern const struct kernel cuda_kernel_##id;
#include "kernels.def"
#undef KERNEL
#undef HOST_KERNEL
#undef VENDOR_KERNEL

#ifdef HAVE_CUDA
#define CUDA_ENTRY(id) &cuda_kernel_##id
#else
#define CUDA_ENTRY(id) NULL
#endif

/* The number of kernels in kernels.def, and the most that kernel_add adds. */
enum {
#define KERNEL(id) COUNTED_##id,
#define HOST_KERNEL(id) COUNTED_##id,
#undef VENDOR_KERNEL
#ifdef HAVE_CUDA
#define VENDOR_KERNEL(id) COUNTED_##id,
#else
#define VENDOR_KERNEL(id)
#endif
#include "kernels.def"
    BUILT_IN,
    ADDED_MAX = 64
#undef KERNEL
#undef HOST_KERNEL
#undef VENDOR_KERNEL
};

#ifdef HAVE_CUDA
#define VENDOR_KERNEL(id) &cuda_kernel_##id,
#else
#define VENDOR_KERNEL(id)
#endif

#define KERNEL(id) &emu_kernel_##id,
#define HOST_KERNEL(id) &emu_kernel_##id,
const struct kernel *kernels[] = {
#include "kernels.def"
    [BUILT_IN + ADDED_MAX] = NULL};
#undef KERNEL
#undef HOST_KERNEL

#define KERNEL(id) CUDA_ENTRY(id),
#define HOST_KERNEL(id) NULL,
static const struct kernel *cuda_kernels[] = {
#include "kernels.def"
    [BUILT_IN + ADDED_MAX] = NULL};

const struct registry kernel_registry = {.entries = kernels};

const struct kernel *kernel_find(const char *name)
{
    return registry_find(&kernel_registry, name);
}

/* The identifiers of the kernels that this build lacks: their names with _ in place of -. */
#undef KERNEL
#undef HOST_KERNEL
#undef VENDOR_KERNEL
#define KERNEL(id)
#define HOST_KERNEL(id)
#ifdef HAVE_CUDA
#define VENDOR_KERNEL(id)
#else
#define VENDOR_KERNEL(id) #id,
#endif
static const char *const lacking[] = {
#include "kernels.def"
    NULL};

static bool same_but_for_dashes(const char *id, const char *name)
{
    while (*id && (*name == '-' ? '_' : *name) == *id) id++, name++;
    return !*id && !*name;
}

bool kernel_needs_cuda(const char *name)
{
    for (int i = 0; lacking[i]; i++)
        if (same_but_for_dashes(lacking[i], name)) return true;
    return false;
}

bool kernel_add(const struct kernel *k, const struct kernel *on_gpu, struct err *e)
{
    int n = registry_count(&kernel_registry);
    SCREEN_EDIT;
    if (n == BUILT_IN + ADDED_MAX) return fail(e, E_LIMIT, "there are %d kernels of yours already", +ADDED_MAX);
    kernels[n] = k;
    cuda_kernels[n] = on_gpu ? on_gpu : k;
    return true;
}

void kernel_remove(const struct kernel *k)
{
    int i = BUILT_IN;
    SCREEN_EDIT;
    while (kernels[i] && kernels[i] != k) i++;
    for (; kernels[i]; i++) {
        kernels[i] = kernels[i + 1];
        cuda_kernels[i] = cuda_kernels[i + 1];
    }
}

bool kernel_runs_on(const struct kernel *k, const struct device *d)
{
    if (d->members && k->remote) return false; /* a user's kernel runs in a process that has one device */
    for (int i = 0; i < d->members; i++)
        if (kernel_runs_on(k, d->member[i])) return true;
    if (d->members) return false;
    if (k->emulated_only) return d->kind == DEV_EMU;
    return k->vendor ? d->kind == DEV_CUDA : k->host == (d->kind == DEV_CPU);
}

const struct kernel *kernel_default(const struct format *f, const struct csr *A, const struct device *d)
{
    const struct kernel *chosen = NULL;
    for (int i = 0; i < d->members; i++) /* that of a GPU, if a member is one */
        if (d->member[i]->kind == d->kind) return kernel_default(f, A, d->member[i]);
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (k->vendor || k->remote || !kernel_runs_on(k, d) || k->format != f) continue;
        chosen = k;
        if (A && k->best && k->best(A)) break;
    }
    return chosen;
}

/* The entry of k that was compiled for d; NULL if this build has no such entry. */
static const struct kernel *compiled_for(const struct kernel *k, const struct device *d)
{
    if (d->kind != DEV_CUDA) return k;
    int i = 0;
    while (kernels[i] && kernels[i] != k) i++;
    return cuda_kernels[i];
}

static struct scratch *scratch_of(const struct kernel *k, const struct mat *M)
{
    struct scratch *s = M->scratch ? *M->scratch : NULL;
    while (s && s->kernel != k) s = s->next;
    return s;
}

double kernel_prepared_us(const struct kernel *k, const struct mat *M)
{
    const struct scratch *s = scratch_of(k, M);
    return s ? s->us : 0;
}

int64_t kernel_prepared_bytes(const struct kernel *k, const struct mat *M)
{
    const struct scratch *s = scratch_of(k, M);
    const struct kernel *c = s ? compiled_for(k, M->dev) : NULL;
    if (!c) return 0;
    return (s->p ? c->scratch(M) : 0) + (c->workspace && s->note ? c->workspace(s->note) : 0);
}

const char *kernel_library(const struct kernel *k, const struct mat *M)
{
    const struct scratch *s = k->library ? scratch_of(k, M) : NULL;
    return s && s->note ? k->library(s->note) : NULL;
}

static void scratch_release(struct device *d, struct scratch *s)
{
    const struct kernel *c = compiled_for(s->kernel, d);
    if (c->release && s->note) c->release(d, s->note);
    if (s->p) d->ops->free(d, s->p);
    mem_free(s);
}

void scratch_drop(const struct mat *M, const struct kernel *k)
{
    struct scratch **at = M->scratch, *s = scratch_of(k, M);
    if (!s) return;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    scratch_release(M->dev, s);
}

void scratch_free(struct mat *M)
{
    while (M->scratch && *M->scratch) {
        struct scratch *s = *M->scratch;
        *M->scratch = s->next;
        scratch_release(M->dev, s);
    }
    mem_free(M->scratch);
    M->scratch = NULL;
}

/* Measured with diagonals on an H200: arrays that are read by plain loads stay in seven tenths of the L2 cache, less
   twice the size of x and y. Of arrays of more than `most_times` this size, nothing stays. Elsewhere, nothing is
   known. */
double share_staying(const struct mat *A, int most_times)
{
    const struct stored *S = A->of;
    const struct device_maker *m = device_maker_of(A->dev);
    double most = m && m->cache ? 0.7 * (double)m->cache(A->dev) : 0;
    double vectors = (double)type_size(precisions[S->real].vector) * (double)(S->rows + S->cols),
           room = most - 2 * vectors;
    double arrays = (double)stored_bytes(S);
    if (room <= 0 || arrays > most_times * most) return 0;
    return arrays < room ? 1 : room / arrays;
}

/* Checks that kernel k can handle the matrix, and allocates and fills the scratch memory of k. s->us receives the
   time that these steps take, including the wait for the device. c is the entry of k compiled for the device. */
static bool prepare(const struct kernel *k, const struct kernel *c, const struct launch *L, struct scratch *s,
                    struct err *e)
{
    struct device *d = L->A->dev;
    struct launch with = *L;
    if (k->fits && !k->fits(L->A->of, e)) return false;
    if (!c->scratch && !c->prepare) return true;
    double start = now_us();
    if (c->scratch && !(s->p = d->ops->alloc(d, c->scratch(L->A), k->name, e))) return false;
    with.scratch = s->p;
    with.note = &s->note;
    if ((c->prepare && !c->prepare(&with, e)) || !d->ops->sync(d, e)) return false;
    s->us = now_us() - start;
    return true;
}

/* A launch on the emulator that is left early, as those of traces are, may leave counters that its blocks share in any
   state; so may those of which only some blocks run. Put the scratch memory back as it was, or drop it if there is no
   copy of it. */
static bool launch_and_restore(const struct kernel *k, const struct kernel *c, launch_fn *go, const struct launch *L,
                               struct err *e)
{
    bool emulated = L->A->dev->kind == DEV_EMU;
    bool skips = emulated && k->separable && emu_skips();
    int64_t bytes = emulated && (emu_traces() || skips) && L->scratch ? c->scratch(L->A) : 0;
    void *before = bytes ? mem_new(bytes, 1, "a copy of a kernel's scratch", NULL) : NULL;
    if (before) memcpy(before, L->scratch, (size_t)bytes);
    bool ok = go(L, e);
    bool left = emulated && (emu_left_early() || skips);
    if (left && before) memcpy(L->scratch, before, (size_t)bytes);
    if (left && !before) scratch_drop(L->A, k);
    mem_free(before);
    return ok;
}

/* Launches a kernel that needs preparation. The preparation runs once per matrix and is kept with the matrix. */
static bool launch_with_scratch(const struct kernel *k, const struct kernel *c, launch_fn *go, struct launch L,
                                struct err *e)
{
    struct scratch *s = scratch_of(k, L.A);
    if (!s) {
        s = mem_zero(1, sizeof *s, "a kernel's scratch", e);
        if (!s) return false;
        *s = (struct scratch){.kernel = k, .next = *L.A->scratch};
        if (!prepare(k, c, &L, s, e)) {
            scratch_release(L.A->dev, s);
            return false;
        }
        *L.A->scratch = s;
    }
    L.scratch = s->p;
    L.note = &s->note;
    emu_scope_kernel(true);
    return launch_and_restore(k, c, go, &L, e);
}

static launch_fn *sums_of(const struct kernel *c, enum precision real)
{
    bool by_product = c->host_sums && precisions[real].vector == T_F32;
    launch_fn *const *launches = by_product ? c->product : c->sums;
    return launches[real];
}

static launch_fn *entry_of(const struct kernel *c, const struct launch *L)
{
    return L->s ? sums_of(c, L->A->of->real) : c->product[L->A->of->real];
}

bool kernel_sums(const struct kernel *k, enum precision real)
{
    return sums_of(k, real) != NULL;
}

const int64_t *kernel_params(const struct kernel *k, const int64_t *param, const struct csr *A, enum precision real,
                             int multiprocessors, int64_t own[PARAMS_MAX])
{
    if (param || k->param) return param ? param : k->param;
    return format_suit(k->format, A, real, multiprocessors, own);
}

bool kernel_takes(const struct kernel *k, enum precision real, struct err *e)
{
    struct message able = {0};
    if (k->product[real]) return true;
    if (!precisions[real].narrow)
        return fail(e, E_UNSUPPORTED, "%s does not multiply matrices in %s", k->name, precisions[real].name);
    for (int i = 0; kernels[i]; i++)
        if (kernels[i]->host == k->host && kernels[i]->product[real]) message_list(&able, kernels[i]->name);
    return fail(e, E_UNSUPPORTED, "%s does not multiply in %s; these kernels do: %s", k->name, precisions[real].name,
                able.text);
}

bool kernel_launch(const struct kernel *k, const struct launch *L, struct err *e)
{
    const struct device *d = L->A->dev;
    if (L->A->pieces) return multi_launch(k, L, e);
    const struct kernel *c = compiled_for(k, d);
    if (!c || !kernel_runs_on(k, d))
        return fail(e, E_UNSUPPORTED, "kernel %s does not run on %s; `kernels` shows where kernels run", k->name,
                    d->name);
    launch_fn *go = entry_of(c, L);
    if (k->product_only && (L->alpha != 1 || L->beta != 0))
        return fail(e, E_UNSUPPORTED, "%s computes A x only, because its function has no parameters alpha and beta",
                    k->name);
    if (!go && L->s) return fail(e, E_INTERNAL, "kernel %s does not compute the sums that cg needs", k->name);
    if (!go) return kernel_takes(k, L->A->of->real, e) || fail(e, E_INTERNAL, "%s lacks an entry", k->name);
    if (k->remote) return k->remote->launch(k, L, e);
    bool prepared = k->fits || c->scratch || c->prepare;
    emu_name(k->name);
    emu_side_by_side(k->deterministic);
    emu_scope_kernel(!prepared);
    bool ok = prepared ? launch_with_scratch(k, c, go, *L, e) : go(L, e);
    emu_side_by_side(false);
    emu_scope_kernel(false);
    emu_name(NULL);
    return ok;
}
