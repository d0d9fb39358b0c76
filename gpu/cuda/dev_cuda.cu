/* The devices cuda:N, through the CUDA runtime, with one stream each. CUDA is not initialised before a device's first
   use, because starting the driver would delay the prompt. */
#include "gpu/dev.h"
#include "gpu/staging.h"

#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/transfer.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH = 64,              /* launches that are timed together */
    HOLD_NS = 8000,          /* time to queue one launch on a host that is not busy */
    HOLD_MAX = 16 * HOLD_NS, /* time to queue one launch on a busy host, at most */
    SHARED = 4               /* blocks of host memory that are kept (struct shared) */
};

/* A block of host memory that launches can write to. To allocate and free one takes 0.7 ms, longer than a small solve,
   so that a few blocks are kept for the next solve. */
struct shared {
    void *host, *on_device;
    int64_t bytes;
    bool used;
};

struct gpu {
    bool started;
    int64_t cache; /* bytes of L2 */
    cudaEvent_t mark[BATCH + 1];
    cudaEvent_t hand; /* orders copies between devices */
    cudaStream_t trunk, branch;
    cudaEvent_t forked, branched; /* the branch begins after the first, and ends with the second */
    struct staging staging;
    struct shared shared[SHARED];
    char why_lost[160];
};

extern "C" const struct transfer_ops cuda_transfer; /* transfer.cu */

static struct gpu *gpu_of(const struct device *d)
{
    return static_cast<struct gpu *>(d->impl);
}

static cudaStream_t stream_of(const struct device *d)
{
    return static_cast<cudaStream_t>(d->stream);
}

/* Does an error persist after it has been read? While a graph is recorded, no call can tell. */
static bool is_sticky(const struct device *d)
{
    cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
    cudaGetLastError();
    if (!gpu_of(d)->started) return false;
    if (cudaStreamIsCapturing(stream_of(d), &recording) == cudaSuccess && recording != cudaStreamCaptureStatusNone)
        return false;
    return cudaDeviceSynchronize() != cudaSuccess;
}

/* Report the error of a call. If the error is sticky, the device is lost. */
static bool broken(struct device *d, const char *call, cudaError_t status, struct err *e)
{
    if (is_sticky(d)) {
        d->lost = true;
        snprintf(gpu_of(d)->why_lost, sizeof gpu_of(d)->why_lost, "%.*s: %s", (int)strcspn(call, "("), call,
                 cudaGetErrorString(status));
    }
    bool first = e && !e->code;
    fail(e, E_DEVICE, "%s: %.*s: %s", d->name, (int)strcspn(call, "("), call, cudaGetErrorString(status));
    if (first && d->lost) err_advise(e, "the device was lost with everything on it: reset it, or use cpu or emu");
    return false;
}

#define CU(call)                                                       \
    do {                                                               \
        cudaError_t status = (call);                                   \
        if (status != cudaSuccess) return broken(d, #call, status, e); \
    } while (0)

/* ---- finding and starting ---- */

/* Is there a device node of an NVIDIA driver? The paths exist on a PC or server, on WSL and on a Jetson. */
static bool likely(void)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu"};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && (!*visible || *visible == '-')) return false;
    for (int i = 0; i < COUNT(nodes); i++)
        if (!access(nodes[i], F_OK)) return true;
    return false;
}

static int count(struct err *e)
{
    static int n = -1;
    static const char *why = "the driver finds no GPU";
    if (n < 0) {
        cudaError_t status = cudaGetDeviceCount(&n);
        if (status != cudaSuccess) {
            why = cudaGetErrorString(status);
            n = 0;
            cudaGetLastError();
        }
    }
    if (!n) fail(e, E_DEVICE, "no CUDA device is available: %s; use cpu or emu", why);
    return n;
}

static bool open_handles(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    int last, first; /* priorities */
    CU(cudaSetDevice(d->number));
    CU(cudaStreamCreateWithFlags(&g->trunk, cudaStreamNonBlocking));
    d->stream = g->trunk;
    CU(cudaDeviceGetStreamPriorityRange(&last, &first));
    CU(cudaStreamCreateWithPriority(&g->branch, cudaStreamNonBlocking, first));
    CU(cudaEventCreateWithFlags(&g->forked, cudaEventDisableTiming));
    CU(cudaEventCreateWithFlags(&g->branched, cudaEventDisableTiming));
    for (int i = 0; i <= BATCH; i++) CU(cudaEventCreate(&g->mark[i]));
    CU(cudaEventCreateWithFlags(&g->hand, cudaEventDisableTiming));
    return true;
}

/* Blocks that are used are freed by their users, or are lost with the device. */
static void forget_shared(struct gpu *g)
{
    for (struct shared &s : g->shared) {
        if (s.host && !s.used && cudaFreeHost(s.host) != cudaSuccess) cudaGetLastError();
        s = {};
    }
}

static void close_handles(struct device *d)
{
    struct gpu *g = gpu_of(d);
    forget_shared(g);
    for (int i = 0; i <= BATCH; i++) {
        if (g->mark[i]) cudaEventDestroy(g->mark[i]);
        g->mark[i] = NULL;
    }
    for (cudaEvent_t *event : {&g->hand, &g->forked, &g->branched}) {
        if (*event) cudaEventDestroy(*event);
        *event = NULL;
    }
    d->stream = g->trunk;
    staging_free(&g->staging, d, &cuda_transfer);
    for (cudaStream_t *stream : {&g->trunk, &g->branch}) {
        if (*stream) cudaStreamDestroy(*stream);
        *stream = NULL;
    }
    d->stream = NULL;
    g->started = false;
}

/* What the runtime does not report, by compute capability (CUDA C++ Programming Guide, and the white papers of the
   architectures). The entry with the highest capability that is not above that of the GPU counts. */
static const struct generation {
    int capability;       /* 10 * major + minor */
    double l1_kb;         /* L1 cache and shared memory of a multiprocessor */
    int l2_copies, lanes; /* fp32 operations per clock of a multiprocessor */
} generations[] = {{70, 128, 1, 64},  {75, 96, 1, 64},    {80, 192, 2, 64},  {86, 128, 1, 128},
                   {90, 256, 2, 128}, {100, 256, 2, 128}, {120, 128, 1, 128}};

static struct generation generation_of(int capability)
{
    struct generation found = generations[0];
    for (const struct generation &g : generations)
        if (g.capability <= capability) found = g;
    return found;
}

static bool attribute(struct device *d, cudaDeviceAttr which, int *value, struct err *e)
{
    CU(cudaDeviceGetAttribute(value, which, d->number));
    return true;
}

static bool find_facts(struct device *d, const cudaDeviceProp *p, struct err *e)
{
    int clock_khz, memory_khz, ratio;
    if (!attribute(d, cudaDevAttrClockRate, &clock_khz, e) ||
        !attribute(d, cudaDevAttrMemoryClockRate, &memory_khz, e) ||
        !attribute(d, cudaDevAttrSingleToDoublePrecisionPerfRatio, &ratio, e))
        return false;
    struct generation g = generation_of(10 * p->major + p->minor);
    struct gpu_facts *f = &d->facts;
    f->capability = 10 * p->major + p->minor;
    f->clock_ghz = clock_khz * 1e-6;
    f->threads = p->maxThreadsPerMultiProcessor;
    f->blocks = p->maxBlocksPerMultiProcessor;
    f->registers = p->regsPerMultiprocessor;
    f->shared_kb = (double)(p->sharedMemPerMultiprocessor - p->reservedSharedMemPerBlock) / 1024;
    f->l1_kb = g.l1_kb;
    f->l2_mb = p->l2CacheSize / 1048576.0;
    f->l2_copies = g.l2_copies;
    f->memory_gbs = 2.0 * memory_khz * p->memoryBusWidth / 8 * 1e-6;
    f->fp32_gflops = 2.0 * g.lanes * p->multiProcessorCount * f->clock_ghz;
    f->fp64_gflops = f->fp32_gflops / (ratio > 0 ? ratio : 1);
    return true;
}

static bool describe(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    cudaDeviceProp p;
    int driver, runtime;
    char memory[32];
    CU(cudaGetDeviceProperties(&p, d->number));
    CU(cudaDriverGetVersion(&driver));
    CU(cudaRuntimeGetVersion(&runtime));
    g->cache = p.l2CacheSize;
    d->units = p.multiProcessorCount;
    if (!find_facts(d, &p, e)) return false;
    snprintf(d->about, sizeof d->about, "%.64s, %d multiprocessors, %s, driver for CUDA %d.%d, runtime %d.%d", p.name,
             d->units, show_bytes((double)p.totalGlobalMem, memory, sizeof memory), driver / 1000, driver % 1000 / 10,
             runtime / 1000, runtime % 1000 / 10);
    return true;
}

static bool start(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    if (g->started) return true;
    if (!count(e)) return false;
    if (open_handles(d, e) && describe(d, e)) return g->started = true;
    close_handles(d);
    return false;
}

/* Make d the current device of this thread; fails if d is lost. */
static bool ready(struct device *d, struct err *e)
{
    if (d->lost)
        return fail(e, E_DEVICE, "%s was lost after an earlier error (%s); reset it, or use cpu or emu", d->name,
                    *gpu_of(d)->why_lost ? gpu_of(d)->why_lost : "another device on this GPU was reset");
    if (!start(d, e)) return false;
    CU(cudaSetDevice(d->number));
    return true;
}

/* ---- memory ---- */

static bool gpu_memory(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e)
{
    size_t left, all;
    if (!ready(d, e)) return false;
    CU(cudaMemGetInfo(&left, &all));
    *free_bytes = (int64_t)left;
    *total = (int64_t)all;
    return true;
}

static bool no_room(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    char need[32], have[32];
    size_t left = 0, all = 0;
    cudaGetLastError();
    cudaMemGetInfo(&left, &all);
    return fail(e, E_MEMORY,
                "%s: out of memory: %s needs %s, but only %s is free; drop a matrix or choose another format", d->name,
                what, show_bytes((double)bytes, need, sizeof need), show_bytes((double)left, have, sizeof have));
}

static void *gpu_alloc(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    void *p = NULL;
    if (!ready(d, e)) return NULL;
    cudaError_t status = cudaMalloc(&p, bytes > 0 ? (size_t)bytes : 1);
    if (status == cudaSuccess) return p;
    if (status == cudaErrorMemoryAllocation)
        no_room(d, bytes, what, e);
    else
        broken(d, "cudaMalloc", status, e);
    return NULL;
}

static void gpu_free(struct device *d, void *p)
{
    if (!p || d->lost || !ready(d, NULL)) return;
    if (cudaFree(p) != cudaSuccess) cudaGetLastError();
}

static bool copy(struct device *d, void *to, const void *from, int64_t bytes, cudaMemcpyKind way, struct err *e)
{
    if (!ready(d, e)) return false;
    CU(cudaMemcpyAsync(to, from, (size_t)bytes, way, stream_of(d)));
    CU(cudaStreamSynchronize(stream_of(d)));
    return true;
}

static bool gpu_sync(struct device *d, struct err *e);

/* Copy large arrays through page-locked buffers, and add the copy to the total of its direction. The sync reports
   errors of earlier launches, which the allocation of the buffers would discard. */
static bool copy_and_count(struct device *d, void *to, const void *from, int64_t bytes, bool back, struct err *e)
{
    struct staging *s = &gpu_of(d)->staging;
    struct copied *total = back ? &d->got : &d->put;
    if (!ready(d, e) || (bytes >= STAGED_FROM && !gpu_sync(d, e))) return false;
    double start = now_us();
    bool ok = staging_takes(s, d, &cuda_transfer, bytes)
                  ? staging_copy(s, d, &cuda_transfer, to, from, bytes, back, e)
                  : copy(d, to, from, bytes, back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, e);
    if (!ok) return false;
    total->bytes += bytes;
    total->us += now_us() - start;
    return true;
}

static bool gpu_put(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    return copy_and_count(d, to, from, bytes, false, e);
}

static bool gpu_get(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    return copy_and_count(d, to, from, bytes, true, e);
}

static bool new_shared(struct device *d, int64_t bytes, struct shared *s, struct err *e)
{
    s->bytes = bytes;
    cudaError_t status = cudaHostAlloc(&s->host, (size_t)bytes, cudaHostAllocMapped);
    if (status == cudaSuccess) status = cudaHostGetDevicePointer(&s->on_device, s->host, 0);
    if (status == cudaSuccess) return true;
    if (s->host) cudaFreeHost(s->host);
    *s = {};
    return broken(d, "cudaHostAlloc", status, e);
}

/* A kept block of this size that nobody uses; else an empty place for a new block; else NULL. */
static struct shared *kept(struct gpu *g, int64_t bytes)
{
    struct shared *empty = NULL;
    for (struct shared &s : g->shared) {
        if (s.host && !s.used && s.bytes == bytes) return &s;
        if (!s.host) empty = &s;
    }
    return empty;
}

/* Launches of the block's last user may still be running. */
static void *gpu_share(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e)
{
    struct shared own = {}, *s = kept(gpu_of(d), bytes);
    if (!s) s = &own;
    if (!ready(d, e) || !(s->host ? gpu_sync(d, e) : new_shared(d, bytes, s, e))) return NULL;
    s->used = true;
    *on_device = s->on_device;
    return memset(s->host, 0, (size_t)bytes);
}

static void gpu_unshare(struct device *d, void *host)
{
    if (!host || d->lost || !ready(d, NULL)) return;
    for (struct shared &s : gpu_of(d)->shared)
        if (s.host == host) {
            s.used = false;
            return;
        }
    if (cudaFreeHost(host) != cudaSuccess) cudaGetLastError();
}

/* ---- launches ---- */

/* A lost device counts as idle. */
static bool gpu_idle(struct device *d)
{
    return !ready(d, NULL) || cudaStreamQuery(stream_of(d)) != cudaErrorNotReady;
}

/* The mode allows that one graph is completed while those of other devices are still being recorded. */
static void *gpu_capture(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    if (!ready(d, NULL) || cudaStreamBeginCapture(stream_of(d), cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    bool queued = go(ctx, NULL) && ready(d, NULL); /* go may have selected another device */
    if (cudaStreamEndCapture(stream_of(d), &graph) == cudaSuccess && queued && graph &&
        cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess)
        exec = NULL;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    return exec;
}

static bool gpu_replay(struct device *d, void *graph, struct err *e)
{
    if (!ready(d, e)) return false;
    CU(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(d)));
    return true;
}

static void gpu_forget(struct device *d, void *graph)
{
    if (graph && !d->lost && ready(d, NULL)) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

static bool gpu_sync(struct device *d, struct err *e)
{
    if (!ready(d, e)) return false;
    cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) return broken(d, "a launch", launched, e);
    CU(cudaStreamSynchronize(stream_of(d)));
    return true;
}

static __device__ unsigned long long nanoseconds(void)
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

/* Keeps the stream busy while the host queues the following launches, so that two events measure the time of the device
   and not the time of the host. */
static __global__ void hold(unsigned long long ns)
{
    unsigned long long from = nanoseconds();
    while (nanoseconds() - from < ns) {
    }
}

static bool gpu_hold(struct device *d, double us, struct err *e)
{
    if (!ready(d, e)) return false;
    hold<<<1, 1, 0, stream_of(d)>>>((unsigned long long)(1000 * us));
    return true;
}

static bool queue_batch(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, int hold_ns,
                        struct err *e)
{
    struct gpu *g = gpu_of(d);
    if (reps > 1 && !gpu_hold(d, reps * hold_ns * 1e-3, e)) return false;
    CU(cudaEventRecord(g->mark[0], stream_of(d)));
    for (int i = 0; i < reps; i++) {
        if (!go(ctx, e)) return false;
        CU(cudaEventRecord(g->mark[i + 1], stream_of(d)));
    }
    return true;
}

/* Did the hold end before all launches were queued? The times are then those of the host. */
static bool held_too_short(const struct gpu *g)
{
    return cudaEventQuery(g->mark[0]) == cudaSuccess;
}

/* A busy host gets more time to queue the launches. */
static bool time_batch(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                       struct err *e)
{
    struct gpu *g = gpu_of(d);
    bool again = true;
    for (int ns = HOLD_NS; again; ns *= 4) {
        bool queued = ready(d, e) && queue_batch(d, go, ctx, reps, ns, e);
        again = queued && reps > 1 && ns < HOLD_MAX && held_too_short(g);
        if (!gpu_sync(d, e) || !queued) return false;
    }
    for (int i = 0; i < reps; i++) {
        float ms;
        CU(cudaEventElapsedTime(&ms, g->mark[i], g->mark[i + 1]));
        us[i] = 1000.0 * ms;
    }
    return true;
}

static bool gpu_time(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                     struct err *e)
{
    for (int done = 0; done < reps; done += BATCH)
        if (!time_batch(d, go, ctx, reps - done < BATCH ? reps - done : BATCH, us + done, e)) return false;
    return true;
}

/* ---- members of a device with several GPUs ---- */

/* Two members may be the same GPU. */
static bool gpu_reach(struct device *d, struct device *other)
{
    int can = 0;
    if (other->kind != DEV_CUDA || !ready(d, NULL)) return false;
    int from = d->number, to = other->number;
    if (from == to) return true;
    cudaError_t status = cudaDeviceCanAccessPeer(&can, from, to);
    if (status == cudaSuccess && can) status = cudaDeviceEnablePeerAccess(to, 0);
    cudaGetLastError();
    return can && (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled);
}

static bool record_hand(struct device *d, struct err *e)
{
    if (!ready(d, e)) return false;
    CU(cudaEventRecord(gpu_of(d)->hand, stream_of(d)));
    return true;
}

static bool wait_for_hand(struct device *d, const struct device *of, struct err *e)
{
    if (!ready(d, e)) return false;
    CU(cudaStreamWaitEvent(stream_of(d), gpu_of(of)->hand, 0));
    return true;
}

static bool gpu_carry(struct device *d, void *to, struct device *other, const void *from, int64_t bytes, struct err *e)
{
    if (!record_hand(other, e) || !wait_for_hand(d, other, e)) return false;
    CU(cudaMemcpyPeerAsync(to, d->number, from, other->number, (size_t)bytes, stream_of(d)));
    return record_hand(d, e) && wait_for_hand(other, d, e);
}

static bool gpu_branch(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    if (!ready(d, e)) return false;
    CU(cudaEventRecord(g->forked, g->trunk));
    CU(cudaStreamWaitEvent(g->branch, g->forked, 0));
    d->stream = g->branch;
    return true;
}

static bool gpu_trunk(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    if (!ready(d, e)) return false;
    d->stream = g->trunk;
    CU(cudaEventRecord(g->branched, g->branch));
    return true;
}

static bool gpu_join(struct device *d, struct err *e)
{
    struct gpu *g = gpu_of(d);
    if (!ready(d, e)) return false;
    CU(cudaStreamWaitEvent(g->trunk, g->branched, 0));
    return true;
}

static bool gpu_mark(struct device *d, int i, struct err *e)
{
    if (!ready(d, e)) return false;
    CU(cudaEventRecord(gpu_of(d)->mark[i], stream_of(d)));
    return true;
}

static double gpu_between(struct device *d, int from, int to)
{
    float ms = 0;
    if (!ready(d, NULL) || cudaEventElapsedTime(&ms, gpu_of(d)->mark[from], gpu_of(d)->mark[to]) != cudaSuccess) {
        cudaGetLastError();
        return NAN;
    }
    return 1000.0 * ms;
}

/* ---- reset and close ---- */

/* cudaDeviceReset also returns the error that made the reset necessary, so success is tested by starting the device. */
static bool gpu_reset(struct device *d, struct err *e)
{
    struct err why = {E_NONE};
    cudaSetDevice(d->number);
    close_handles(d);
    vendor_forget(d);
    cudaDeviceReset();
    cudaGetLastError();
    gpu_of(d)->why_lost[0] = '\0';
    d->lost = false;
    d->lost = !start(d, &why);
    return !d->lost || fail(e, E_DEVICE, "%s cannot be reset: %s; use cpu or emu", d->name, why.text);
}

static void gpu_close(struct device *d)
{
    if (gpu_of(d)->started) {
        cudaSetDevice(d->number);
        close_handles(d);
    }
    mem_free(d->impl);
    d->impl = NULL;
}

static const struct device_ops gpu_ops = {
    .alloc = gpu_alloc,
    .free = gpu_free,
    .put = gpu_put,
    .get = gpu_get,
    .sync = gpu_sync,
    .time = gpu_time,
    .memory = gpu_memory,
    .reset = gpu_reset,
    .share = gpu_share,
    .unshare = gpu_unshare,
    .idle = gpu_idle,
    .capture = gpu_capture,
    .replay = gpu_replay,
    .forget = gpu_forget,
    .close = gpu_close,
    .select = ready,
    .reach = gpu_reach,
    .carry = gpu_carry,
    .branch = gpu_branch,
    .trunk = gpu_trunk,
    .join = gpu_join,
    .hold = gpu_hold,
    .mark = gpu_mark,
    .between = gpu_between,
};

static bool make(struct device *d, int n, struct err *e)
{
    struct gpu *g = static_cast<struct gpu *>(mem_zero(1, sizeof *g, "a CUDA device", e));
    if (!g) return false;
    d->number = n;
    d->impl = g;
    d->ops = &gpu_ops;
    snprintf(d->about, sizeof d->about, "CUDA device %d, not used yet", n);
    return true;
}

static int64_t cache(const struct device *d)
{
    return gpu_of(d)->cache;
}

const struct device_maker maker_cuda = {
    .name = "cuda",
    .kind = DEV_CUDA,
    .numbered = true,
    .likely = likely,
    .count = count,
    .make = make,
    .start = start,
    .cache = cache,
    .ceilings = &cuda_kernel_ceilings,
};
