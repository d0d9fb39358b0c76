// occupancy: needs less shared memory, but has one warp per block
// TRY(csr, blocks_for(rows, 32), 32)
__global__ void occupancy(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double tile[32][9];
    int lane = threadIdx.x, first = blockIdx.x * 32;
    double sum = 0;
    for (int k = 0; k < 32; k += 8) {
        for (int r = lane / 8; r < 32; r += 4) {
            int at = ptr[first + r] + k + lane % 8;
            tile[r][lane % 8] = val[at] * x[col[at]];
        }
        __syncwarp();
        for (int i = 0; i < 8; i++) sum += tile[lane][i];
        __syncwarp();
    }
    y[first + lane] = sum;
}
