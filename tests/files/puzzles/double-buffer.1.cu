// races: leaves out a barrier, with one tile only
// TRY(csr, blocks_for(rows, 64), 64)
__global__ void double_buffer(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double tile[64][9];
    int t = threadIdx.x, first = blockIdx.x * 64;
    double sum = 0;
    for (int k = 0; k < 32; k += 8) {
        for (int r = t / 8; r < 64; r += 8) {
            int at = ptr[first + r] + k + t % 8;
            tile[r][t % 8] = val[at] * x[col[at]];
        }
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += tile[t][i];
    }
    y[first + t] = sum;
}
