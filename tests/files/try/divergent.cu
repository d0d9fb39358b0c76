__global__ void k(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    y[row] = x[col[ptr[row]]] * val[0];
    __syncthreads();
}
