/* struct tools for CUDA, by CUB: the radix sort of key-value pairs, and prefix sums. */
#include "machine/tools.h"

#include "base/err.h"
#include "machine/device.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

static bool succeeded(struct device *d, const char *what, cudaError_t status, struct err *e)
{
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    fail(e, E_DEVICE, "%s: %s: %s", d->name, what, cudaGetErrorString(status));
    d->ops->sync(d, NULL);
    return false;
}

static cudaStream_t stream_of(const struct device *d)
{
    return static_cast<cudaStream_t>(d->stream);
}

static cudaError_t sort_pairs(void *temp, size_t &bytes, cub::DoubleBuffer<uint64_t> &key,
                              cub::DoubleBuffer<double> &payload, int64_t n, int from, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(temp, bytes, key, payload, (int)n, from, bits, stream);
}

static int64_t bytes(struct device *d, int64_t sorted, int64_t added, struct err *e)
{
    size_t to_sort = 0, to_add = 0;
    cub::DoubleBuffer<uint64_t> key;
    cub::DoubleBuffer<double> payload;
    int64_t *at = NULL;
    if (!succeeded(d, "CUB's sort", sort_pairs(NULL, to_sort, key, payload, sorted, 0, 64, stream_of(d)), e) ||
        !succeeded(d, "CUB's scan", cub::DeviceScan::ExclusiveSum(NULL, to_add, at, at, (int)added, stream_of(d)), e))
        return -1;
    return (int64_t)(to_sort > to_add ? to_sort : to_add);
}

static bool sort(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e)
{
    size_t room = (size_t)temp_bytes;
    cub::DoubleBuffer<uint64_t> key(p->key[*k], p->key[!*k]);
    cub::DoubleBuffer<double> payload(p->payload[*k], p->payload[!*k]);
    if (!succeeded(d, "CUB's sort", sort_pairs(temp, room, key, payload, p->n, from, bits, stream_of(d)), e))
        return false;
    *k = key.Current() == p->key[1];
    return true;
}

static bool exclusive_scan(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e)
{
    size_t room = (size_t)temp_bytes;
    return succeeded(d, "CUB's scan", cub::DeviceScan::ExclusiveSum(temp, room, at, at, (int)n, stream_of(d)), e);
}

extern "C" const struct tools cuda_tools;
const struct tools cuda_tools = {
    .bytes = bytes,
    .sort = sort,
    .exclusive_scan = exclusive_scan,
};
