// races: is atomic, but has no barriers
// TRY(csr, blocks_for(rows, 64), 64)
__device__ int row_of(const int *ptr, int first, int n, int k)
{
    int low = 0, high = n; // the row is in first + low .. first + high - 1
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (ptr[first + middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

__global__ void atomics(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double sum[64];
    int first = blockIdx.x * 64, n = min(64, rows - first);
    int begin = ptr[first], end = ptr[first + n];
    sum[threadIdx.x] = 0;
    for (int k = begin + threadIdx.x; k < end; k += 64)
        atomicAdd(&sum[row_of(ptr, first, n, k)], val[k] * x[col[k]]);
    if (threadIdx.x < n) y[first + threadIdx.x] = sum[threadIdx.x];
}
