// right: lets all lanes of a row add their partial sums
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

__global__ void segmented_sum(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double sum[64];
    int first = blockIdx.x * 64, n = min(64, rows - first), lane = threadIdx.x % 32;
    int begin = ptr[first], end = ptr[first + n];
    sum[threadIdx.x] = 0;
    __syncthreads();
    for (int k = begin + threadIdx.x; k - lane < end; k += 64) { // the same number of iterations for a whole warp
        int r = k < end ? row_of(ptr, first, n, k) : -1;
        double v = k < end ? val[k] * x[col[k]] : 0;
        for (int d = 1; d < 32; d *= 2) {
            double other = __shfl_down_sync(0xffffffff, v, d);
            int row = __shfl_down_sync(0xffffffff, r, d);
            if (lane + d < 32 && row == r) v += other;
        }
        int below = __shfl_up_sync(0xffffffff, r, 1);
        if (r >= 0 && (true || below != r)) atomicAdd(&sum[r], v);
    }
    __syncthreads();
    if (threadIdx.x < n) y[first + threadIdx.x] = sum[threadIdx.x];
}
