/* What CUB does for symmetrization between our kernels: the radix sort of keys with their values, and prefix sums. */
#include "../src/symmetrize.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

static bool went(struct device *d, const char *what, cudaError_t status, struct err *e)
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

static cudaError_t sort_with(void *temp, size_t &bytes, cub::DoubleBuffer<uint64_t> &key,
                             cub::DoubleBuffer<double> &with, int64_t n, int from, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(temp, bytes, key, with, (int)n, from, bits, stream);
}

static int64_t bytes(struct device *d, int64_t sorted, int64_t added, struct err *e)
{
    size_t to_sort = 0, to_add = 0;
    cub::DoubleBuffer<uint64_t> key;
    cub::DoubleBuffer<double> with;
    int64_t *at = NULL;
    if (!went(d, "CUB's sort", sort_with(NULL, to_sort, key, with, sorted, 0, 64, stream_of(d)), e) ||
        !went(d, "CUB's scan", cub::DeviceScan::ExclusiveSum(NULL, to_add, at, at, (int)added, stream_of(d)), e))
        return -1;
    return (int64_t)(to_sort > to_add ? to_sort : to_add);
}

static bool sort(struct sym *v, int64_t n, int from, int bits, int *k, struct err *e)
{
    size_t room = (size_t)v->temp_bytes;
    cub::DoubleBuffer<uint64_t> key(v->key[*k], v->key[!*k]);
    cub::DoubleBuffer<double> with(v->with[*k], v->with[!*k]);
    if (!went(v->o.dev, "CUB's sort", sort_with(v->temp, room, key, with, n, from, bits, stream_of(v->o.dev)), e))
        return false;
    *k = key.Current() == v->key[1];
    return true;
}

static bool add_up(struct sym *v, int64_t n, struct err *e)
{
    size_t room = (size_t)v->temp_bytes;
    cudaError_t status = cub::DeviceScan::ExclusiveSum(v->temp, room, v->at, v->at, (int)n, stream_of(v->o.dev));
    return went(v->o.dev, "CUB's scan", status, e);
}

extern "C" const struct sym_tools cuda_sym_tools;
const struct sym_tools cuda_sym_tools = {
    .bytes = bytes,
    .sort = sort,
    .add_up = add_up,
};
