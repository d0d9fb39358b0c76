// TRY(coo, blocks_for(nnz, 128), 128)
__global__ void plain_coo_atomic(int nnz, const int *row, const int *col, const double *val, const double *x, double *y)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < nnz) atomicAdd(&y[row[k]], val[k] * x[col[k]]);
}
