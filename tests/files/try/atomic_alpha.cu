// TRY(coo, blocks_for(nnz, 256), 256)
__global__ void add(int nnz, const int *row, const int *col, const double *val, double alpha, const double *x, double *y)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz) atomicAdd(&y[row[k]], alpha * val[k] * x[col[k]]);
}
