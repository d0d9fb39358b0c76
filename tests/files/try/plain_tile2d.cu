// 2-D shared memory, constants, volatile, min and max, a macro. TRY(csr, blocks_for(rows, 8), dim3(32, 8))
#define ROWS 8
const int LANES = 32;
__global__ void plain_tile2d(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double tile[ROWS][LANES + 1];
    int row = blockIdx.x * ROWS + threadIdx.y, lane = threadIdx.x;
    double sum = 0;
    if (row < rows) {
        int from = ptr[row], to = min(ptr[row + 1], ptr[rows]);
        for (int k = from + lane; k < to; k += LANES) sum += val[k] * x[col[k]];
    }
    tile[threadIdx.y][lane] = sum;
    __syncthreads();
    if (lane == 0 && row < rows) {
        double all = 0;
        for (int i = 0; i < LANES; i++) all += tile[threadIdx.y][i];
        y[row] = all;
    }
}
