// longest: lets one warp do the row
// TRY(csr, rows, 32)
__global__ void row_block(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double part[4];
    int row = blockIdx.x, end = ptr[row + 1];
    double sum = 0;
    for (int k = ptr[row] + threadIdx.x; k < end; k += blockDim.x) sum += val[k] * x[col[k]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[row] = part[0];
}
