/* SpMV kernel (matrix-vector product) for sliced blocks: one row per thread, and the steps of a slice shared by the
   groups of a thread block. */
#include "gpu/dialect.h"
#include "formats/fmt_bsell.h"

namespace KERNEL_SPACE
{

/* The groups of threads that share a slice: enough that short slices keep a GPU busy, and that the last slices of a
   large matrix end at about the same time. */
enum { GROUPS = 4 };

/* One slice per thread block of GROUPS groups of C*b threads; thread `at` of each group computes row `at` of the
   slice. Group g takes the steps g, g + GROUPS, ... of the slice. In each step, the threads of a group read C
   neighbouring block columns, b times C*b neighbouring values, and runs of b elements of x. A column beyond the matrix,
   and the column of a padding block, is not read from x. Group 0 adds the sums of the groups in their order. */
template <typename T, int b>
__global__ void bsell(unsigned cols, int C, GPTR(const int) perm, GPTR(const int) ptr, GPTR(const int) col,
                      GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    SHARED(T, part, GROUPS * b * BSELL_C_MAX);
    int tall = C * b, group = threadIdx.x / tall, at = threadIdx.x % tall, end = ptr[blockIdx.x + 1];
    T sum = 0;
    UNROLL(2)
    for (int64_t step = ptr[blockIdx.x] + group; step < end; step += GROUPS) {
        unsigned first = (unsigned)once(col, step * C + at / b) * b; /* padding: larger than any column */
        UNROLL_WHOLE
        for (int c = 0; c < b; c++) {
            T v = once(val, (step * b + c) * tall + at);
            if (first + c < cols) sum += v * x[first + c];
        }
    }
    part[threadIdx.x] = sum;
    __syncthreads(); /* all threads of the block: `part` is complete */
    int row = perm[(int64_t)blockIdx.x * tall + at];
    if (group > 0 || row < 0) return;
    for (int g = 1; g < GROUPS; g++) sum += part[g * tall + at];
    store(y, row, alpha, sum, beta);
}

template <typename T, int b> static void launch_blocks(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int C = (int)S->param[1];
    LAUNCH(L->A->dev, (unsigned)(S->a[BSELL_PTR].n - 1), GROUPS * C * b, bsell<T, b>)
    ((unsigned)S->cols, C, ARRAY(L, BSELL_PERM, int), ARRAY(L, BSELL_PTR, int), ARRAY(L, BSELL_COL, int),
     ARRAY(L, BSELL_VAL, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* The kernel for each block size, so that the loop over the columns of a block is unrolled. */
template <typename T> static bool by_size(const struct launch *L, struct err *)
{
    static void (*const launches[])(const struct launch *) = {launch_blocks<T, 1>, launch_blocks<T, 2>,
                                                              launch_blocks<T, 3>, launch_blocks<T, 4>};
    launches[L->A->of->param[0] - 1](L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(bsell) = {
    .name = "bsell",
    .about = "blocks interleaved over slices: coalesced like sell, with one column per block",
    .format = &format_bsell,
    .source = "[ours]",
    .work = "one row per thread; four groups of threads share the steps of a slice",
    .lesson = "Like sell, but the elements are blocks of 2 x 2, 3 x 3 or 4 x 4, and a thread computes one row of a\n"
              "row of blocks. The 4x4 example with blocks of 2 x 2 and one slice of C = 2 rows of blocks:\n"
              "    1  7 | 0  0     step 0   col 0 0   val 1 0 5 0   7 2 0 6\n"
              "    0  2 | 8  0     step 1   col 1 1   val 0 8 3 0   0 0 9 4\n"
              "    5  0 | 3  9     thread                 0 1 2 3   0 1 2 3\n"
              "    0  6 | 0  4\n"
              "In each step, the threads of a slice read one column of their blocks after another: C*b neighbouring\n"
              "values. A block has one column index: 3 x 3 blocks need 8.4 bytes per nonzero in fp64, CSR needs 12.\n"
              "Values and block columns are read once, by loads that do not displace x from the cache.\n"
              "Four groups of C*b threads share a slice: group g takes the steps g, g + 4, ..., and the sums of the\n"
              "groups are added in order. Without groups, a thread would read the 27 blocks of a 27-point grid one\n"
              "after another, and the last slices of the matrix would run on a nearly empty GPU.\n"
              "Zeros inside blocks are stored and multiplied, as in bsr: the format pays only if blocks are mostly\n"
              "full, as in finite elements with several unknowns per node. If they are not, use sell.\n",
    .deterministic = true,
    VALUE_TYPES(by_size),
};

#ifndef __CUDACC__
/* The rows at position `place` of the slices: one block row, block after block. */
template <typename T> static void host_block_row(const struct launch *L, int64_t place)
{
    const struct stored *S = L->A->of;
    const int *perm = (const int *)L->A->ptr[BSELL_PERM], *ptr = (const int *)L->A->ptr[BSELL_PTR],
              *col = (const int *)L->A->ptr[BSELL_COL];
    const T *val = (const T *)L->A->ptr[BSELL_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta, sum[BSELL_MOST] = {0};
    int64_t b = S->param[0], C = S->param[1], at = place % C;
    for (int64_t step = ptr[place / C]; step < ptr[place / C + 1] && col[step * C + at] >= 0; step++) {
        int64_t first = col[step * C + at] * b, width = min(b, S->cols - first);
        for (int64_t c = 0; c < width; c++)
            for (int64_t r = 0; r < b; r++) sum[r] += val[((step * b + c) * C + at) * b + r] * x[first + c];
    }
    for (int64_t r = 0; r < b; r++)
        if (perm[place * b + r] >= 0) store(y, perm[place * b + r], alpha, sum[r], beta);
}

template <typename T> static void bsell_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    host_shares(L, threads, (S->a[BSELL_PTR].n - 1) * S->param[1], 256, [=](int64_t from, int64_t to) {
        for (int64_t place = from; place < to; place++) host_block_row<T>(L, place);
    });
}

HOST_ENTRIES(bsell, "bsell", bsell_host, "the serial host loop, one block row after another", "[ours]",
             "256 block rows at a time",
             "The blocks of a block row lie C blocks apart, and the columns of a block C*b values apart: the block\n"
             "rows of a slice use the same cache lines one after another, so the stride costs less than in ell.\n");
#endif
