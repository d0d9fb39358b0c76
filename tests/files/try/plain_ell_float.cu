// TRY(ell, blocks_for(rows, 256), 256)
__global__ void plain_ell_float(int rows, int width, const int *col, const float *val, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float sum = 0.f;
    for (int j = 0; j < width; j++) {
        int c = col[j * rows + i];
        if (c >= 0) sum += val[j * rows + i] * x[c];
    }
    y[i] = sum;
}
