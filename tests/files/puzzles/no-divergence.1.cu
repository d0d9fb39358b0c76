// lanes: keeps the branch, for other rows
__global__ void no_divergence(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int begin = ptr[row], end = ptr[row + 1];
    double sum = 0;
    if (end - begin == 4)
        for (int k = begin; k < end; k++) sum += val[k] * x[col[k]];
    else
        for (int k = begin; k < end; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
