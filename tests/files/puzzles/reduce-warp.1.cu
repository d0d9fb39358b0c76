// barriers: puts a barrier after each shuffle
// TRY(csr, blocks_for(rows * 32, 128), 128)
__global__ void reduce_warp(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return; // a whole warp returns
    double sum = 0;
    for (int k = ptr[row] + lane; k < ptr[row + 1]; k += 32) sum += val[k] * x[col[k]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d), __syncthreads();
    if (lane == 0) y[row] = sum;
}
