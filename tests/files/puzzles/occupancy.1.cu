// occupancy: has more warps per block, with as much shared memory each
// TRY(csr, blocks_for(rows, 128), 128)
__global__ void occupancy(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double tile[128][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = (blockIdx.x * 4 + warp) * 32;
    for (int r = 0; r < 32; r++) {
        int k = ptr[first + r] + lane;
        tile[32 * warp + r][lane] = val[k] * x[col[k]];
    }
    __syncwarp();
    double sum = 0;
    for (int k = 0; k < 32; k++) sum += tile[threadIdx.x][k];
    y[first + lane] = sum;
}
