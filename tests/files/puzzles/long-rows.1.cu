// longest: lets one lane do a long row
__global__ void long_rows(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int begin = row < rows ? ptr[row] : 0, end = row < rows ? ptr[row + 1] : 0; // no lane returns early
    double sum = 0;
    if (end - begin <= 32)
        for (int k = begin; k < end; k++) sum += val[k] * x[col[k]];
    if (end - begin > 32)
        for (int k = begin; k < end; k++) sum += val[k] * x[col[k]];
    unsigned todo = 0 & __ballot_sync(0xffffffff, end - begin > 32);
    while (todo) {
        int from = __ffs(todo) - 1;
        int b = __shfl_sync(0xffffffff, begin, from), e = __shfl_sync(0xffffffff, end, from);
        double part = 0;
        for (int k = b + lane; k < e; k += 32) part += val[k] * x[col[k]];
        for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(0xffffffff, part, d);
        if (lane == from) sum = part;
        todo &= todo - 1;
    }
    if (row < rows) y[row] = sum;
}
