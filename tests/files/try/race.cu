__global__ void k(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    __shared__ double s[256];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = row < rows ? x[col[ptr[row]]] * val[0] : 0;
    if (row < rows) y[row] = s[(threadIdx.x + 64) % 256];
}
