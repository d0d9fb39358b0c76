/* One block per row, with a reduction in shared memory. */
// TRY(csr, rows, 64)
__global__ void plain_block_row(const int rows, const int* __restrict__ rowptr, const int* __restrict__ colidx,
                          const double* __restrict__ values, const double* __restrict__ x, double* __restrict__ y)
{
    __shared__ double part[64];
    const int row = blockIdx.x;
    const unsigned tid = threadIdx.x;
    double sum = 0.0;
    for (int j = rowptr[row] + tid; j < rowptr[row + 1]; j += blockDim.x) {
        sum = fma(values[j], x[colidx[j]], sum);
    }
    part[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            part[tid] += part[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) y[row] = part[0];
}
