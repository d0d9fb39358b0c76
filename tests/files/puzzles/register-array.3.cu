// local: forbids to unroll the loop over the sums
__global__ void register_array(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum[4] = {0, 0, 0, 0};
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k += 4) {
#pragma unroll 1
        for (int i = 0; i < 4; i++)
            if (k + i < end) sum[i] += val[k + i] * x[col[k + i]];
    }
    y[row] = sum[0] + sum[1] + sum[2] + sum[3];
}
