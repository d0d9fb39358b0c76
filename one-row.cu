// warpspy puzzle: one-row; `puzzle check` checks this file
__global__ void one_row(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    // GAP: add the products of the row's entries to sum
    y[row] = sum;
}
