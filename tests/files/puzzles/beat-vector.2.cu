// right: begins the shuffles at half a warp
// TRY(csr, blocks_for(rows * 4, 128), 128)
enum { THREADS = 4 };
__global__ void beat_vector(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / THREADS, lane = threadIdx.x % THREADS;
    int begin = row < rows ? ptr[row] : 0, end = row < rows ? ptr[row + 1] : 0;
    double sum = 0;
    for (int k = begin + lane; k < end; k += THREADS) sum += val[k] * x[col[k]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0 && row < rows) y[row] = sum;
}
