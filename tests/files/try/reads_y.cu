// Reads y even if beta is 0. TRY(csr, rows, 64, 64 * sizeof(double))
template <typename T>
__global__ void reads_y(int rows, const int *ptr, const int *col, const T *val, T alpha, const T *x, T beta, T *y)
{
    extern __shared__ unsigned char bytes[];
    T *part = (T *)bytes;
    int row = blockIdx.x;
    T sum = 0;
    for (int k = ptr[row] + threadIdx.x; k < ptr[row + 1]; k += blockDim.x) sum += val[k] * x[col[k]];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        T all = 0;
        for (int i = 0; i < blockDim.x; i++) all += part[i];
        y[row] = alpha * all + beta * y[row];
    }
}
