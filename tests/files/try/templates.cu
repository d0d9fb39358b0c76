template <int N> struct deep {
    static const int value = deep<N + 1>::value;
};
__global__ void k(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = deep<0>::value * x[col[ptr[row]]] * val[0];
}
