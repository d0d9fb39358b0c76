#include <cuda_runtime.h>
// TRY(csr, blocks_for(rows * 32, 128), 128)
__global__ void spmv_vector(int n, const int *__restrict__ row_ptr, const int *__restrict__ col_idx,
                            const double *__restrict__ values, const double *__restrict__ x, double *y)
{
    __shared__ double part[128];
    int lane = threadIdx.x % warpSize, row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    double sum = 0;
    if (row < n)
        for (int k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += warpSize) sum += values[k] * __ldg(&x[col_idx[k]]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    double *out = y;
    if (lane == 0 && row < n) out[row] = part[threadIdx.x];
}
