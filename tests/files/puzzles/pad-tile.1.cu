// wavefronts: pads by an even number
// TRY(csr, blocks_for(rows, 32), 32)
__global__ void pad_tile(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double tile[32][34];
    int lane = threadIdx.x, first = blockIdx.x * 32;
    for (int r = 0; r < 32; r++) {
        int k = ptr[first + r] + lane;
        tile[r][lane] = val[k] * x[col[k]];
    }
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < 32; k++) sum += tile[lane][k];
    y[first + lane] = sum;
}
