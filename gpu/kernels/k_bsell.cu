/* SpMV kernel (matrix-vector product) for sliced blocks: one row per thread, and the steps of a slice shared by the
   groups of a thread block. */
#include "base/err.h"
#include "formats/fmt_bsell.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

/* C: block rows per slice. GROUPS: groups of threads that share a slice: enough that short slices keep a GPU busy, and
   that the last slices of a large matrix end at about the same time. A thread issues the loads of AHEAD_STEPS steps
   together, or of fewer steps if their values take more than AHEAD_BYTES of registers. */
enum { C = BSELL_C_MAX, GROUPS = 4, AHEAD_STEPS = 3, AHEAD_BYTES = 72 };

/* The sum over n steps of row `at` of a slice: step, step + GROUPS, ... All loads are issued before the first product.
   A column beyond the matrix, and the column of a padding block, is not read from x. */
template <typename T, int b, int n>
__device__ T sum_steps(int64_t step, int at, unsigned cols, GPTR(const int) col, GPTR(const T) val, FRESH(const T) x)
{
    unsigned first[n]; /* the first column of the block; padding: larger than any column */
    T v[n][b], xs[n][b], sum = 0;
    UNROLL_WHOLE
    for (int i = 0; i < n; i++) {
        first[i] = (unsigned)once(col, (step + i * GROUPS) * C + at / b) * b;
        UNROLL_WHOLE
        for (int c = 0; c < b; c++) v[i][c] = once(val, ((step + i * GROUPS) * b + c) * C * b + at);
    }
    await_previous();
    UNROLL_WHOLE
    for (int i = 0; i < n; i++) UNROLL_WHOLE
    for (int c = 0; c < b; c++) xs[i][c] = first[i] + c < cols ? x[first[i] + c] : T(0);
    UNROLL_WHOLE
    for (int i = 0; i < n; i++) UNROLL_WHOLE
    for (int c = 0; c < b; c++) sum += v[i][c] * xs[i][c];
    return sum;
}

/* One slice per thread block of GROUPS groups of C*b threads; thread `at` of each group computes row `at` of the
   slice. Group g takes the steps g, g + GROUPS, ... of the slice. In each step, the threads of a group read C
   neighbouring block columns, b times C*b neighbouring values, and runs of b elements of x. Group 0 adds the sums of
   the groups in their order. */
template <typename T, int b>
__global__ void bsell(unsigned cols, GPTR(const int) perm, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                      T alpha, FRESH(const T) x, T beta, GPTR(T) y)
{
    begin_next();
    SHARED(T, part, GROUPS * C * b);
    constexpr int fit = AHEAD_BYTES / (b * sizeof(T)), n = fit < 1 ? 1 : fit < AHEAD_STEPS ? fit : AHEAD_STEPS;
    int group = threadIdx.x / (C * b), at = threadIdx.x % (C * b), end = ptr[blockIdx.x + 1];
    int64_t step = ptr[blockIdx.x] + group;
    T sum = 0;
    UNROLL(1)
    for (; step + (n - 1) * GROUPS < end; step += n * GROUPS) sum += sum_steps<T, b, n>(step, at, cols, col, val, x);
    UNROLL(1)
    for (; step < end; step += GROUPS) sum += sum_steps<T, b, 1>(step, at, cols, col, val, x);
    await_previous();
    part[threadIdx.x] = sum;
    __syncthreads(); /* all threads of the block: `part` is complete */
    if (group > 0) return;
    int row = perm[(int64_t)blockIdx.x * C * b + at];
    for (int g = 1; g < GROUPS; g++) sum += part[g * C * b + at];
    if (row >= 0) store(y, row, alpha, sum, beta);
}

template <typename T, int b> static void launch_blocks(const struct launch *L)
{
    const struct stored *S = L->A->of;
    FOLLOW(L->A->dev, (unsigned)(S->a[BSELL_PTR].n - 1), GROUPS * C * b, bsell<T, b>)
    ((unsigned)S->cols, ARRAY(L, BSELL_PERM, int), ARRAY(L, BSELL_PTR, int), ARRAY(L, BSELL_COL, int),
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

static bool fits_slices(const struct stored *S, struct err *e)
{
    if (S->param[1] == C) return true;
    return fail(e, E_UNSUPPORTED, "slices have %lld block rows; this kernel needs %d: convert with C %d",
                (long long)S->param[1], C, C);
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
    .functions = {{"bsell"}},
    .deterministic = true,
    .follows = true,
    .fits = fits_slices,
    .product = {VALUE_TYPES(by_size)},
};

#ifndef __CUDACC__
/* The rows at position `place` of the slices: one block row, block after block. */
template <typename T> static void host_block_row(const struct launch *L, int64_t place)
{
    const struct stored *S = L->A->of;
    const int *perm = (const int *)L->A->ptr[BSELL_PERM], *ptr = (const int *)L->A->ptr[BSELL_PTR],
              *col = (const int *)L->A->ptr[BSELL_COL];
    const T *val = (const T *)L->A->ptr[BSELL_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta, sum[BSELL_MAX] = {0};
    int64_t b = S->param[0], height = S->param[1], at = place % height;
    for (int64_t step = ptr[place / height]; step < ptr[place / height + 1] && col[step * height + at] >= 0; step++) {
        int64_t first = col[step * height + at] * b, width = min(b, S->cols - first);
        for (int64_t c = 0; c < width; c++)
            for (int64_t r = 0; r < b; r++) sum[r] += val[((step * b + c) * height + at) * b + r] * x[first + c];
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
