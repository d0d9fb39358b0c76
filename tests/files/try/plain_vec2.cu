// reinterpret_cast and auto, long long indices, size_t
__global__ void plain_vec2(size_t rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        auto sum = 0.0;
        #pragma unroll 4
        for (auto k = ptr[i]; k < ptr[i + 1]; ++k) {
            const auto c = col[k];
            sum += val[k] * x[c];
        }
        y[i] = sum;
    }
}
