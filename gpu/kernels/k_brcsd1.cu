/* SpMV kernels (matrix-vector products) for BRCSD-I: a thread block takes several pieces of rows, one row per thread.
 */
#include "diagonal_rows.h"
#include "formats/fmt_brcsd1.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256 }; /* threads per thread block; more if a piece has more rows */

/* A piece per row of the thread block, one row of the matrix per thread. All threads of a piece read the same pointers
   and offsets; a warp reads neighbouring values of a diagonal and neighbouring elements of x, and has idle lanes only
   at the end of a piece. The height of a piece is the distance to the start row of the next record. */
template <typename T>
__global__ void brcsd1(unsigned rows, unsigned cols, int pieces, int stay, GPTR(const int) offsets, GPTR(const T) data,
                       GPTR(const int) ptr, GPTR(const int64_t) start, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int k = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    if (k >= pieces) return;
    int record = ptr[k], next = ptr[k + 1];
    unsigned first = (unsigned)offsets[record], last = k + 1 < pieces ? (unsigned)offsets[next] : rows;
    unsigned row = first + threadIdx.x;
    if (row >= last) return;
    int n = next - record - 1;
    T sum = diagonals_sum<T>(row, cols, n, k < stay ? n : 0, offsets + (record + 1), data + (start[k] + threadIdx.x),
                             last - first, x);
    store(y, row, alpha, sum, beta);
}

template <typename T> void launch_brcsd1(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t pieces = S->a[BRCSD1_PTR].n - 1;
    unsigned height = (unsigned)brcsd1_piece(S), together = height < BLOCK ? BLOCK / height : 1;
    LAUNCH(L->A->dev, blocks_for(pieces, (int)together), dim3(height, together), brcsd1<T>)
    ((unsigned)S->rows, (unsigned)S->cols, (int)pieces, staying(L, pieces), ARRAY(L, BRCSD1_OFFSETS, int),
     ARRAY(L, BRCSD1_DATA, T), ARRAY(L, BRCSD1_PTR, int), ARRAY(L, BRCSD1_START, int64_t), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

INSTANTIATE(launch_brcsd1, const struct launch *);

template <typename T> static bool pieces_by_blocks(const struct launch *L, struct err *)
{
    launch_brcsd1<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(brcsd1) = {
    .name = "brcsd1",
    .about = "coalesced like DIA, and hardly any slots outside the matrix are stored; the pieces' work is uneven",
    .format = &format_brcsd1,
    .source = "Gao et al.; DRM, sec. 3.3; eight diagonals at once [ours]",
    .work = "one row per thread, four pieces of at most 64 rows per thread block",
    .lesson = "Like dia, but the rows are cut into blocks wherever a diagonal enters or leaves the matrix, so that\n"
              "every diagonal of a block spans all its rows. The 4x4 example (with blocks of any height):\n"
              "    rows 0-1   offset 0   1 2    offset 1   7 8\n"
              "    row  2     offset -2  5      offset 0   3      offset 1   9\n"
              "    row  3     offset -2  6      offset 0   4\n"
              "Blocks are cut again into pieces of at most 64 rows, and each piece stores only the diagonals that\n"
              "have an entry in it. A thread block takes four pieces, one row per thread. Each of the two warps of\n"
              "a piece reads one offset, 32 neighbouring values and 32 neighbouring elements of x per step: 8\n"
              "sectors each in fp64. No slot outside the matrix is stored, if no cut is omitted.\n"
              "A single entry on a diagonal costs 63 slots of padding, twice as many as in the blocks of 32 rows of\n"
              "brcsd2, hdia and drm. Pieces shorter than a warp would leave lanes idle, so cuts closer together\n"
              "than 64 rows are omitted, which costs some padding too. Pieces have different numbers of diagonals\n"
              "and rows: the work is uneven, and drm balances it.\n",
    .functions = {{"brcsd1"}},
    .deterministic = true,
    .product = {VALUE_TYPES(pieces_by_blocks)},
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

template <typename T> static struct diagonal_rows<T> piece_at(const struct launch *L, int64_t k) {
    const struct stored *S = L->A->of;
    const int *offsets = (const int *)L->A->ptr[BRCSD1_OFFSETS], *ptr = (const int *)L->A->ptr[BRCSD1_PTR];
    int64_t first = offsets[ptr[k]], last = k + 2 < S->a[BRCSD1_PTR].n ? offsets[ptr[k + 1]] : S->rows;
    return {
        .first = first,
        .last = last,
        .n = ptr[k + 1] - ptr[k] - 1,
        .height = last - first,
        .offsets = offsets + ptr[k] + 1,
        .data = (const T *)L->A->ptr[BRCSD1_DATA] + ((const int64_t *)L->A->ptr[BRCSD1_START])[k],
    };
}

template <typename T>
void host_brcsd1(const struct launch *L, int threads)
{
    host_pieces<T>(L, threads, L->A->of->a[BRCSD1_PTR].n - 1, piece_at<T>);
}

INSTANTIATE(host_brcsd1, const struct launch *, int);

} // namespace KERNEL_SPACE

HOST_ENTRIES(brcsd1, "brcsd1", host_brcsd1, "the serial host loop along the diagonals, one piece at a time", "[ours]",
             "several pieces at a time",
             "The loop runs along the diagonals of a piece of at most 64 rows. It reads neighbouring values and\n"
             "elements of x, but no column indices and nothing outside the matrix. A thread that is free takes the\n"
             "next piece.\n");
#endif
