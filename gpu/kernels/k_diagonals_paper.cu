/* SpMV kernels (matrix-vector products) for the diagonal formats as the papers print or describe them: one row per
   thread, one diagonal after another, and one thread block per piece of rows. The kernels of the same formats without
   -paper read the same arrays faster. */
#include "diagonals_paper.h"
#include "formats/fmt_brcsd1.h"
#include "formats/fmt_brcsd2.h"
#include "formats/fmt_dia.h"
#include "formats/fmt_dia_adaptive.h"
#include "formats/fmt_drm.h"
#include "formats/fmt_hdia.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256 };

/* ---- DIA ---- */

/* One row per thread: all diagonals of the matrix. */
template <typename T>
__global__ void dia_paper(unsigned rows, unsigned cols, int diagonals, GPTR(const int) offsets, GPTR(const T) data,
                          T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    store(y, row, alpha, diagonals_one_by_one<T>(row, cols, diagonals, offsets, data + row, rows, x), beta);
}

template <typename T> void launch_dia_paper(const struct launch *L)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, dia_paper<T>)
    ((unsigned)S->rows, (unsigned)S->cols, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T),
     (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

INSTANTIATE(launch_dia_paper, const struct launch *);

/* ---- HDIA ---- */

/* A hack per thread block, one row per thread: the diagonals of the hack. */
template <typename T>
__global__ void hdia_paper(unsigned rows, unsigned cols, GPTR(const int) dnum, GPTR(const int) offsets,
                           GPTR(const T) data, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int hack = (int)blockDim.x;
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[blockIdx.x], n = dnum[blockIdx.x + 1] - first;
    T sum =
        diagonals_one_by_one<T>(row, cols, n, offsets + first, data + ((int64_t)first * hack + threadIdx.x), hack, x);
    store(y, row, alpha, sum, beta);
}

template <typename T> static void launch_hdia_paper(const struct launch *L)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, (unsigned)(S->a[HDIA_HACKOFFSETS].n - 1), (unsigned)S->param[0], hdia_paper<T>)
    ((unsigned)S->rows, (unsigned)S->cols, ARRAY(L, HDIA_HACKOFFSETS, int), ARRAY(L, HDIA_OFFSETS, int),
     ARRAY(L, HDIA_DATA, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* ---- BRCSD-I ---- */

/* A piece per thread block, one row per thread: the diagonals of the piece, whose height is the distance to the start
   row of the next record. */
template <typename T>
__global__ void brcsd1_paper(unsigned rows, unsigned cols, int pieces, GPTR(const int) offsets, GPTR(const T) data,
                             GPTR(const int) ptr, GPTR(const int64_t) start, T alpha, GPTR(const T) x, T beta,
                             GPTR(T) y)
{
    int k = (int)blockIdx.x, record = ptr[k], next = ptr[k + 1];
    unsigned first = (unsigned)offsets[record], last = k + 1 < pieces ? (unsigned)offsets[next] : rows;
    unsigned row = first + threadIdx.x;
    if (row >= last) return;
    T sum = diagonals_one_by_one<T>(row, cols, next - record - 1, offsets + (record + 1),
                                    data + (start[k] + threadIdx.x), last - first, x);
    store(y, row, alpha, sum, beta);
}

template <typename T> static void launch_brcsd1_paper(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t pieces = S->a[BRCSD1_PTR].n - 1;
    LAUNCH(L->A->dev, (unsigned)pieces, (unsigned)brcsd1_piece(S), brcsd1_paper<T>)
    ((unsigned)S->rows, (unsigned)S->cols, (int)pieces, ARRAY(L, BRCSD1_OFFSETS, int), ARRAY(L, BRCSD1_DATA, T),
     ARRAY(L, BRCSD1_PTR, int), ARRAY(L, BRCSD1_START, int64_t), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* ---- BRCSD-II ---- */

/* A block of rows per thread block, one row per thread: the diagonals of the block. */
template <typename T>
__global__ void brcsd2_paper(unsigned rows, unsigned cols, GPTR(const int) offsets, GPTR(const T) data,
                             GPTR(const int) ptr, GPTR(const int) dnum, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int b = (int)blockIdx.x, nrows = (int)blockDim.x;
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[b], n = dnum[b + 1] - first;
    int64_t slot = (int64_t)first * nrows + threadIdx.x;
    store(y, row, alpha, diagonals_one_by_one<T>(row, cols, n, offsets + (ptr[b] + 1), data + slot, nrows, x), beta);
}

template <typename T> static void launch_brcsd2_paper(const struct launch *L)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, (unsigned)(S->a[BRCSD2_DNUM].n - 1), (unsigned)S->param[0], brcsd2_paper<T>)
    ((unsigned)S->rows, (unsigned)S->cols, ARRAY(L, BRCSD2_OFFSETS, int), ARRAY(L, BRCSD2_DATA, T),
     ARRAY(L, BRCSD2_PTR, int), ARRAY(L, BRCSD2_DNUM, int), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T),
     (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* ---- DRM ---- */

/* Algorithm 2: a sub-block per thread block, one row per thread. Thread t takes row t % nrows of segment t / nrows. */
template <typename T>
__global__ void __launch_bounds__(DRM_ROWS)
    drm_paper(unsigned rows, unsigned cols, int nrows, GPTR(const int) dnum, GPTR(const int) index, GPTR(const int) blo,
              GPTR(const int) off, GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int t = (int)threadIdx.x, r = t / nrows, s = r + blo[blockIdx.x];
    if (s >= blo[blockIdx.x + 1]) return;
    unsigned row = (unsigned)(t + (index[s] - r) * nrows);
    if (row >= rows) return;
    int first = dnum[s], n = dnum[s + 1] - first;
    auto values = val + ((int64_t)first * nrows + (t - r * nrows));
    store(y, row, alpha, diagonals_one_by_one<T>(row, cols, n, off + first, values, nrows, x), beta);
}

/* Sets the launch's note to the number of segments of the largest sub-block. */
static bool largest_subblock(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    const int *blo = (const int *)S->a[DRM_BLO].data;
    int most = 1;
    for (int64_t b = 0; b + 1 < S->a[DRM_BLO].n; b++) most = max(most, blo[b + 1] - blo[b]);
    *L->note = (uint64_t)most;
    return true;
}

template <typename T> static void launch_drm_paper(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int nrows = (int)S->param[0];
    LAUNCH(L->A->dev, (unsigned)(S->a[DRM_BLO].n - 1), (unsigned)(nrows * (int)*L->note), drm_paper<T>)
    ((unsigned)S->rows, (unsigned)S->cols, nrows, ARRAY(L, DRM_DNUM, int), ARRAY(L, DRM_INDEX, int),
     ARRAY(L, DRM_BLO, int), ARRAY(L, DRM_OFF, int), ARRAY(L, DRM_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* ---- the launches ---- */

template <typename T> static bool dia_go(const struct launch *L, struct err *)
{
    launch_dia_paper<T>(L);
    return true;
}

template <typename T> static bool hdia_go(const struct launch *L, struct err *)
{
    launch_hdia_paper<T>(L);
    return true;
}

template <typename T> static bool brcsd1_go(const struct launch *L, struct err *)
{
    launch_brcsd1_paper<T>(L);
    return true;
}

template <typename T> static bool brcsd2_go(const struct launch *L, struct err *)
{
    launch_brcsd2_paper<T>(L);
    return true;
}

template <typename T> static bool adaptive_go(const struct launch *L, struct err *)
{
    static void (*const kernel[])(const struct launch *) = {nullptr, launch_dia_paper<T>, launch_brcsd1_paper<T>,
                                                            launch_brcsd2_paper<T>};
    kernel[L->A->of->param[ADAPTIVE_AS]](L);
    return true;
}

template <typename T> static bool drm_go(const struct launch *L, struct err *)
{
    launch_drm_paper<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia_paper) = {
    .name = "dia-paper",
    .about = "dia as in the papers: one diagonal after another, so the next load waits for the sum",
    .format = &format_dia,
    .source = "DRM, sec. 1 (Bell and Garland)",
    .work = "one row per thread, one diagonal at a time",
    .lesson = "Thread t takes row t, one diagonal per step; diagonal d has its value for row t at d * rows + t. On\n"
              "the 4x4 example (* is outside the matrix):\n"
              "    offset -2     offset 0      offset 1\n"
              "    *  *  5  6    1  2  3  4    7  8  9  *\n"
              "    0  1  2  3    0  1  2  3    0  1  2  3    thread\n"
              "A step reads the offset, the value, and then x: coalesced, but the loads of the next diagonal begin\n"
              "after this product is added. A matrix with 3767 diagonals takes 3767 waits for memory, one after\n"
              "another; few rows have too few warps to fill these waits. Our kernel dia has the loads of 9\n"
              "diagonals in flight together, and up to 8 threads per row if there are few rows.\n"
              "DRM paper: for add32, DIA took 155.4 times as long as DRM. The lesson drm compares this kernel with\n"
              "drm-paper first, and then dia with drm.\n",
    .functions = {{"dia_paper", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(dia_go)},
};

KERNEL_ENTRY(hdia_paper) = {
    .name = "hdia-paper",
    .about = "hdia as in the papers: one hack per thread block, one diagonal after another",
    .format = &format_hdia,
    .source = "Barbieri et al.; DRM, sec. 3.2; one hack per thread block [ours]",
    .work = "one row per thread, all diagonals of its hack, one at a time",
    .lesson = "Like hdia, but a thread block takes one hack, and the loads of a diagonal begin after the product of\n"
              "the one before is added. With hacks of 2 rows:\n"
              "    block 0   rows 0-1   offset 0   1 2    offset 1   7 8\n"
              "    block 1   rows 2-3   offset -2  5 6    offset 0   3 4    offset 1   9 *\n"
              "A thread block of 32 threads is one warp. Its step reads the offset, 32 neighbouring values and 32\n"
              "neighbouring elements of x. Our kernel hdia has four hacks per thread block and the loads of 8\n"
              "diagonals in flight together.\n"
              "The paper prints no kernel for HDIA. It compares the work of hacks as that of thread blocks, so one\n"
              "thread block takes one hack here. DRM paper, fp64: DRM was 1.13 times as fast on average.\n",
    .functions = {{"hdia_paper"}},
    .deterministic = true,
    .product = {VALUE_TYPES(hdia_go)},
};

KERNEL_ENTRY(brcsd1_paper) = {
    .name = "brcsd1-paper",
    .about = "brcsd1 as in the papers: one piece per thread block, one diagonal after another",
    .format = &format_brcsd1,
    .source = "Gao et al.; DRM, sec. 3.3; one piece per thread block [ours]",
    .work = "one row per thread, all diagonals of its piece, one at a time",
    .lesson = "Like brcsd1, but a thread block takes one piece, and the loads of a diagonal begin after the product\n"
              "of the one before is added. The 4x4 example (with blocks of any height):\n"
              "    block 0   rows 0-1   offset 0   1 2    offset 1   7 8\n"
              "    block 1   row  2     offset -2  5      offset 0   3      offset 1   9\n"
              "    block 2   row  3     offset -2  6      offset 0   4\n"
              "Each of the two warps of a piece of 64 rows reads one offset, 32 neighbouring values and 32\n"
              "neighbouring elements of x per step. Our kernel brcsd1 has four pieces per thread block and the\n"
              "loads of 8 diagonals in flight together.\n"
              "The DRM paper prints no kernel for BRCSD-I; it compares the work of pieces as that of thread blocks.\n",
    .functions = {{"brcsd1_paper"}},
    .deterministic = true,
    .product = {VALUE_TYPES(brcsd1_go)},
};

KERNEL_ENTRY(brcsd2_paper) = {
    .name = "brcsd2-paper",
    .about = "brcsd2 as in the papers: one block of rows per thread block, one diagonal after another",
    .format = &format_brcsd2,
    .source = "Gao et al.; DRM, sec. 3.3; one block of rows per thread block [ours]",
    .work = "one row per thread, all diagonals of its block of rows, one at a time",
    .lesson = "Like brcsd2, but a thread block takes one block of rows, and the loads of a diagonal begin after the\n"
              "product of the one before is added. The 4x4 example with blocks of 2 rows:\n"
              "    block 0   rows 0-1   offsets 0, 1       data 1 2 | 7 8\n"
              "    block 1   rows 2-3   offsets -2, 0, 1   data 5 6 | 3 4 | 9 *\n"
              "A thread block of 32 threads is one warp. Its step reads one offset, 32 neighbouring values and 32\n"
              "neighbouring elements of x: 8 sectors each in fp64. Our kernel brcsd2 has four blocks of rows per\n"
              "thread block and the loads of 8 diagonals in flight together.\n"
              "The DRM paper prints no kernel for BRCSD-II; it compares the work of blocks of rows as that of\n"
              "thread blocks.\n",
    .functions = {{"brcsd2_paper"}},
    .deterministic = true,
    .product = {VALUE_TYPES(brcsd2_go)},
};

KERNEL_ENTRY(dia_adaptive_paper) = {
    .name = "dia-adaptive-paper",
    .about = "runs dia-paper, brcsd1-paper or brcsd2-paper, whichever format was chosen",
    .format = &format_dia_adaptive,
    .source = "Gao et al.; DRM, sec. 3.3",
    .work = "one row per thread, one diagonal at a time",
    .lesson = "The kernel that the papers describe for the format that was chosen:\n"
              "    DIA       one row per thread, all diagonals of the matrix     see dia-paper\n"
              "    BRCSD-I   one piece of rows per thread block                  see brcsd1-paper\n"
              "    BRCSD-II  one block of 32 rows per thread block               see brcsd2-paper\n"
              "A warp reads one offset, 32 neighbouring values and 32 neighbouring elements of x per step: 8\n"
              "sectors each in fp64. The loads of a diagonal begin after the product of the one before is added,\n"
              "which makes this kernel slower than dia-adaptive. `convert dia-adaptive` shows which format was\n"
              "chosen.\n"
              "DRM paper, fp64: SpMV took 2.26 times as long as with DRM on average, and 4.07 times as long at\n"
              "worst.\n",
    .functions = {{"dia_paper", BLOCK}, {"brcsd1_paper"}, {"brcsd2_paper"}},
    .deterministic = true,
    .product = {VALUE_TYPES(adaptive_go)},
};

KERNEL_ENTRY(drm_paper) = {
    .name = "drm-paper",
    .about = "drm as algorithm 2 of the paper prints it: one sub-block per thread block, one diagonal after another",
    .format = &format_drm,
    .source = "DRM, sec. 4.4, algorithm 2",
    .work = "one row per thread, a sub-block of at most 1024 rows per thread block, one diagonal at a time",
    .lesson = "Algorithm 2 of the paper: a thread block takes a sub-block; thread t takes row t % nrows of the\n"
              "sub-block's segment t / nrows. With segments of 8, 6, 4 and 2 operands (stored slots):\n"
              "    block 0   8 + 2 = 10     block 1   6 + 4 = 10     variance 0\n"
              "A step reads one offset per warp, 32 neighbouring values and 32 neighbouring elements of x, and the\n"
              "loads of the next diagonal begin after this product is added. Our kernel drm reads the same arrays,\n"
              "but has the loads of 8 diagonals in flight together.\n"
              "Two tests are ours, because the algorithm prints none: columns outside the matrix are skipped, where\n"
              "the paper would read past the ends of x, and so are rows beyond the last one. y = alpha A x + beta y\n"
              "replaces result = A x.\n"
              "DRM paper, fp64: the average speed-up was 20.8 over DIA, 1.94 over HDC, 2.26 over DIA-Adaptive, 1.13\n"
              "over HDIA and 2.46 over CSR.\n",
    .functions = {{"drm_paper"}},
    .deterministic = true,
    .prepare = largest_subblock,
    .product = {VALUE_TYPES(drm_go)},
};
