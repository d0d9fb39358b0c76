// One warp per row, with a shuffle reduction. TRY(csr, blocks_for(rows * 32, 128), 128)
#include <cuda_runtime.h>
#define FULL 0xffffffff

__device__ __forceinline__ double warp_sum(double v)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(FULL, v, offset);
    return v;
}

__global__ void __launch_bounds__(128) plain_warp_row(int n, int *ptr, int *col, double *val, double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    double sum = 0;
    for (int k = ptr[row] + lane; k < ptr[row + 1]; k += 32) sum += val[k] * __ldg(&x[col[k]]);
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}
