/* NVIDIA's libraries for dense LU, opened at their first use: cuBLAS for our trailing update, and cuSOLVER for
   comparison. This file also holds the second stream, on which the next panel is factored. */
#include "library.h"

#include "base/array.h"
#include "base/err.h"
#include "machine/lu_ops.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <string.h>

/* ---- the libraries ---- */

#define BLAS_FUNCTIONS(F)  \
    F(cublasCreate_v2)     \
    F(cublasSetStream_v2)  \
    F(cublasGetVersion_v2) \
    F(cublasSgemm_v2)      \
    F(cublasDgemm_v2)

#define SOLVER_FUNCTIONS(F)        \
    F(cusolverDnCreate)            \
    F(cusolverDnSetStream)         \
    F(cusolverGetProperty)         \
    F(cusolverDnSgetrf_bufferSize) \
    F(cusolverDnDgetrf_bufferSize) \
    F(cusolverDnSgetrf)            \
    F(cusolverDnDgetrf)

#define F(name) decltype(&::name) name;
static struct {
    bool tried, there;
    BLAS_FUNCTIONS(F)
} blas;
static struct {
    bool there;
    SOLVER_FUNCTIONS(F)
} solver;
#undef F

static bool open_blas(void)
{
    static const int versions[] = {13, 12};
    if (blas.tried) return blas.there;
    blas.tried = true;
    void *library = library_open("cublas", versions, COUNT(versions));
    if (!library) return false;
    blas.there = true;
#define F(name) blas.there = (blas.name = (decltype(blas.name))dlsym(library, #name)) && blas.there;
    BLAS_FUNCTIONS(F)
#undef F
    return blas.there;
}

static bool open_solver(struct err *e)
{
    static const int versions[] = {12, 11};
    if (solver.there) return true;
    void *library = library_open("cusolver", versions, COUNT(versions));
    if (!library)
        return fail(e, E_DEVICE, "cuSOLVER cannot be opened (%s); add its folder to LD_LIBRARY_PATH", dlerror());
    bool whole = true;
#define F(name) whole = (solver.name = (decltype(solver.name))dlsym(library, #name)) && whole;
    SOLVER_FUNCTIONS(F)
#undef F
    if (!whole)
        return fail(e, E_DEVICE, "this cuSOLVER lacks getrf; add the folder of another version to LD_LIBRARY_PATH");
    return solver.there = true;
}

/* ---- handles and streams per device ---- */

enum { HELD_MAX = 16 };
static struct held {
    const struct device *d;
    cublasHandle_t blas, side_blas;
    cusolverDnHandle_t solver;
    cudaStream_t side;
    cudaEvent_t event;
} held[HELD_MAX];

void vendor_lu_forget(const struct device *d)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].d == d) memset(&held[i], 0, sizeof held[i]);
}

static struct held *unused(void)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (!held[i].d) return &held[i];
    return NULL;
}

/* d: a device, or the copy of a device that has the second stream. */
static struct held *known(const struct device *d)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (held[i].d && (held[i].d == d || (held[i].side && held[i].side == d->stream))) return &held[i];
    return NULL;
}

static struct held *held_of(const struct device *d, struct err *e)
{
    struct held *h = known(d);
    if (h) return h;
    if (!(h = unused())) {
        fail(e, E_LIMIT, "dense LU: %d devices are already in use", +HELD_MAX);
        return NULL;
    }
    h->d = d;
    return h;
}

static cudaStream_t stream_of(const struct device *d)
{
    return static_cast<cudaStream_t>(d->stream);
}

/* ---- cuBLAS ---- */

static cublasHandle_t blas_of(const struct device *d)
{
    struct held *h = open_blas() ? held_of(d, NULL) : NULL;
    if (!h) return NULL;
    cublasHandle_t *handle = h->d == d ? &h->blas : &h->side_blas;
    if (*handle) return *handle;
    if (blas.cublasCreate_v2(handle) == CUBLAS_STATUS_SUCCESS &&
        blas.cublasSetStream_v2(*handle, stream_of(d)) == CUBLAS_STATUS_SUCCESS)
        return *handle;
    return *handle = NULL;
}

static bool gemm(struct device *d, enum type real, struct lu_at A, int64_t j, int w, int64_t below, int64_t from,
                 int64_t to)
{
    if (type_is_complex(real)) return false;
    static const double less = -1, keep = 1;
    static const float less_f = -1, keep_f = 1;
    cublasHandle_t handle = blas_of(d);
    if (!handle) return false;
    int n = (int)A.n, rows = (int)(below - j - w), cols = (int)(to - from);
    int64_t l = j * A.n + j + w, u = from * A.n + j, c = from * A.n + j + w;
    double *a = static_cast<double *>(A.a);
    float *f = static_cast<float *>(A.a);
    cublasStatus_t status = real == T_F64 ? blas.cublasDgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, cols, w, &less,
                                                                a + l, n, a + u, n, &keep, a + c, n)
                                          : blas.cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, cols, w,
                                                                &less_f, f + l, n, f + u, n, &keep_f, f + c, n);
    return status == CUBLAS_STATUS_SUCCESS;
}

static const char *blas_version(void)
{
    static char text[48];
    int version = 0;
    for (int i = 0; i < HELD_MAX && blas.there && !version; i++)
        if (held[i].blas) blas.cublasGetVersion_v2(held[i].blas, &version);
    if (!version) return NULL;
    snprintf(text, sizeof text, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return text;
}

/* ---- cuSOLVER ---- */

#define SOLVER(call)                                                                                       \
    do {                                                                                                   \
        cusolverStatus_t status = (solver.call);                                                           \
        if (status != CUSOLVER_STATUS_SUCCESS)                                                             \
            return fail(e, E_DEVICE, "%.*s: cuSOLVER returned status %d", (int)strcspn(#call, "("), #call, \
                        (int)status);                                                                      \
    } while (0)

static bool solver_of(const struct device *d, cusolverDnHandle_t *handle, struct err *e)
{
    struct held *h = open_solver(e) ? held_of(d, e) : NULL;
    if (!h) return false;
    if (!h->solver) {
        SOLVER(cusolverDnCreate(&h->solver));
        SOLVER(cusolverDnSetStream(h->solver, stream_of(d)));
    }
    *handle = h->solver;
    return true;
}

static bool work(struct device *d, enum type real, int64_t n, int64_t *bytes, struct err *e)
{
    cusolverDnHandle_t handle = NULL;
    int values = 0, m = (int)n;
    if (!solver_of(d, &handle, e)) return false;
    if (real == T_F64)
        SOLVER(cusolverDnDgetrf_bufferSize(handle, m, m, NULL, m, &values));
    else
        SOLVER(cusolverDnSgetrf_bufferSize(handle, m, m, NULL, m, &values));
    *bytes = (int64_t)values * (int64_t)type_size(real);
    return true;
}

static bool factor(struct device *d, enum type real, struct lu_at A, void *space, struct err *e)
{
    cusolverDnHandle_t handle = NULL;
    int n = (int)A.n;
    if (!solver_of(d, &handle, e)) return false;
    if (real == T_F64)
        SOLVER(
            cusolverDnDgetrf(handle, n, n, static_cast<double *>(A.a), n, static_cast<double *>(space), A.piv, A.info));
    else
        SOLVER(
            cusolverDnSgetrf(handle, n, n, static_cast<float *>(A.a), n, static_cast<float *>(space), A.piv, A.info));
    return true;
}

static const char *version(void)
{
    static char text[48];
    int major = 0, minor = 0, patch = 0;
    if (!open_solver(NULL)) return NULL;
    solver.cusolverGetProperty(MAJOR_VERSION, &major);
    solver.cusolverGetProperty(MINOR_VERSION, &minor);
    solver.cusolverGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuSOLVER %d.%d.%d", major, minor, patch);
    return text;
}

/* ---- the second stream ---- */

/* A high-priority stream, because all other work waits for the panel. */
static bool make_side(struct held *h, struct err *e)
{
    int least, greatest;
    if (h->side) return true;
    if (cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess &&
        cudaStreamCreateWithPriority(&h->side, cudaStreamNonBlocking, greatest) == cudaSuccess &&
        cudaEventCreateWithFlags(&h->event, cudaEventDisableTiming) == cudaSuccess)
        return true;
    h->side = NULL;
    return fail(e, E_DEVICE, "dense LU: a second stream could not be created: %s",
                cudaGetErrorString(cudaGetLastError()));
}

static bool side_stream(struct device *d, struct device *side, struct err *e)
{
    *side = *d;
    if (d->kind != DEV_CUDA) return true;
    struct held *h = held_of(d, e);
    if (!h || !make_side(h, e)) return false;
    side->stream = h->side;
    return true;
}

/* Make the stream of `waits` wait until the work queued on the stream of `on` is done. One argument is the device
   itself; the other argument is the copy of this device that has the second stream. */
static void after(struct device *waits, struct device *on)
{
    if (waits->kind != DEV_CUDA) return;
    struct held *h = known(waits);
    cudaEventRecord(h->event, stream_of(on));
    cudaStreamWaitEvent(stream_of(waits), h->event, 0);
}

extern "C" const struct lu_vendor lu_vendor_cuda = {
    .gemm = gemm,
    .blas_version = blas_version,
    .work = work,
    .factor = factor,
    .version = version,
    .side = side_stream,
    .after = after,
};
