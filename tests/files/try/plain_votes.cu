// Votes, bit counts, local arrays, a struct, a pointer that moves.
struct pair { double v; int c; };
__global__ void plain_votes(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < rows;
    unsigned mask = __ballot_sync(0xffffffffu, in);
    if (!in) return;
    double sum[2] = {0, 0};
    const int *c = col + ptr[i];
    const double *v = val + ptr[i];
    int n = ptr[i + 1] - ptr[i];
    while (n-- > 0) {
        pair p = {*v++, *c++};
        sum[n & 1] += p.v * x[p.c];
    }
    if (__popc(mask) > 0 && __any_sync(mask, n < 0)) y[i] = sum[0] + sum[1];
}
