/* struct transfer_ops for CUDA: page-locked memory, streams and asynchronous copies. */
#include "machine/transfer.h"

#include "base/err.h"
#include "machine/device.h"

#include <cuda_runtime.h>

/* Report a failed call. The sync then detects whether the device is lost. */
static bool succeeded(struct device *d, const char *what, cudaError_t status, struct err *e)
{
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    enum code code = status == cudaErrorMemoryAllocation ? E_MEMORY : E_DEVICE;
    fail(e, code, "%s: %s: %s", d->name, what, cudaGetErrorString(status));
    d->ops->sync(d, NULL);
    return false;
}

static cudaStream_t stream_of(const struct device *d, void *stream)
{
    return static_cast<cudaStream_t>(stream ? stream : d->stream);
}

/* The sync also makes d the current device of this thread. */
static void *pin(struct device *d, int64_t bytes, struct err *e)
{
    void *p = NULL;
    if (!d->ops->sync(d, e)) return NULL;
    return succeeded(d, "page-locked memory", cudaMallocHost(&p, bytes ? (size_t)bytes : 1), e) ? p : NULL;
}

static void unpin(struct device *d, void *p)
{
    if (!d->lost) cudaFreeHost(p);
}

static void *stream(struct device *d, struct err *e)
{
    cudaStream_t s = NULL;
    if (!d->ops->sync(d, e)) return NULL;
    return succeeded(d, "a stream", cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), e) ? s : NULL;
}

static void close_stream(struct device *d, void *s)
{
    if (!d->lost) cudaStreamDestroy(static_cast<cudaStream_t>(s));
}

static bool copy(struct device *d, void *s, void *to, const void *from, int64_t bytes, bool back, struct err *e)
{
    cudaMemcpyKind kind = back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    return succeeded(d, "a copy", cudaMemcpyAsync(to, from, (size_t)bytes, kind, stream_of(d, s)), e);
}

static bool wait(struct device *d, void *s, struct err *e)
{
    return succeeded(d, "a stream", cudaStreamSynchronize(stream_of(d, s)), e);
}

extern "C" const struct transfer_ops cuda_transfer;
const struct transfer_ops cuda_transfer = {
    .pin = pin,
    .unpin = unpin,
    .stream = stream,
    .close = close_stream,
    .copy = copy,
    .wait = wait,
};
