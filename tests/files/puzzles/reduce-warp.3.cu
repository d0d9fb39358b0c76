// shared: orders shared memory by __syncwarp
// TRY(csr, blocks_for(rows * 32, 128), 128)
__global__ void reduce_warp(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double part[128];
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return; // a whole warp returns
    double sum = 0;
    for (int k = ptr[row] + lane; k < ptr[row + 1]; k += 32) sum += val[k] * x[col[k]];
    part[threadIdx.x] = sum;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncwarp();
    }
    if (lane == 0) y[row] = part[threadIdx.x];
}
