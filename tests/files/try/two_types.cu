/* T: the type of x, y and the sums; U: that of the stored values. */
template <typename T, typename U>
__global__ void two_types(int rows, const int *ptr, const int *col, const U *val, const T *x, T *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += (T)val[k] * x[col[k]];
    y[row] = sum;
}
