// TRY(csr, blocks_for(rows, 128), 128)
template <typename T>
__global__ void templated(int rows, const int *ptr, const int *col, const T *val, const T *x, T *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
    y[row] = sum;
}
