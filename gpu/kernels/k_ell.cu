/* SpMV kernels (matrix-vector products) for ELL: one row per thread, to its first padding slot or through all slots. */
#include "formats/fmt_ell.h"
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. Element k of neighbouring rows is stored in neighbouring slots, so a warp reads 32 neighbouring
   slots of col and of val. A row ends at its first padding slot; the warp runs until its longest row ends. */
template <typename T, typename U>
__global__ void ell(unsigned rows, int64_t slots, GPTR(const int) col, GPTR(const U) val, T alpha, GPTR(const T) x,
                    T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    UNROLL(1)
    for (int64_t k = row; k < slots; k += rows) {
        int c = col[k];
        if (c < 0) break;
        sum += (T)val[k] * x[c];
    }
    store(y, row, alpha, sum, beta);
}

/* Like ell, but every thread multiplies all slots of its row, padding included. */
template <typename T>
__global__ void ell_padded(unsigned rows, int64_t slots, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    store(y, row, alpha, padded_row(row, rows, slots, col, val, x), beta);
}

template <typename T, typename U> static void launch_part(const struct launch *L, struct ell_part p)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, ell<T, U>)
    ((unsigned)S->rows, S->a[p.val].n, ARRAY(L, p.col, int), ARRAY(L, p.val, U), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

template <typename T> void launch_ell(const struct launch *L, struct ell_part p)
{
    launch_part<T, T>(L, p);
}

INSTANTIATE(launch_ell, const struct launch *, struct ell_part);

static const struct ell_part whole = {ELL_COL, ELL_VAL};

template <typename T, typename U = T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_part<T, U>(L, whole);
    return true;
}

template <typename T> static bool all_slots(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, ell_padded<T>)
    ((unsigned)S->rows, padded_slots(S, ELL_VAL), ARRAY(L, ELL_COL, int), ARRAY(L, ELL_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(ell_padded) = {
    .name = "ell-padded",
    .about = "ell as in the notes: the padding is read and multiplied, too, which shows what padding costs",
    .format = &format_ell,
    .source = "NOTES",
    .work = "one row per thread, padding included",
    .lesson = "Thread t walks along all slots of row t, as many as the longest row has entries. On the 4x4 example,\n"
              "where 0 is padding, which is multiplied by x[0]:\n"
              "    step 1          step 2          step 3\n"
              "    1  2  5  6      7  8  3  4      0  0  9  0\n"
              "    0  1  2  3      0  1  2  3      0  1  2  3    thread\n"
              "No lane idles and no thread tests for the end of its row, but step 3 has one useful product out of\n"
              "four. A padding slot costs what an entry costs: a column and a value are read, and x[0], which all\n"
              "padding lanes of a request share. If x[0] is infinite, 0 * x[0] is NaN.\n"
              "Compare `count ell-padded` with `count ell`, which stops at the first padding slot of a row: the\n"
              "column pad % shows the waste.\n"
              "NOTES: less divergence than with csr-scalar, but padding causes many useless products.\n",
    .functions = {{"ell_padded", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(all_slots)},
};

KERNEL_ENTRY(ell) = {
    .name = "ell",
    .about = "coalesced without shuffles or shared memory; the longest row determines the padding",
    .format = &format_ell,
    .source = "NOTES; end of a row at its padding [ours]",
    .work = "one row per thread",
    .lesson = "Thread t walks along row t, whose element k is at k * rows + t. The 4x4 example (* is padding):\n"
              "    step 1          step 2          step 3\n"
              "    1  2  5  6      7  8  3  4      *  *  9  *\n"
              "    0  1  2  3      0  1  2  3      0  1  2  3    thread\n"
              "In each step, a warp reads 32 neighbouring slots: 4 sectors of columns, 8 of fp64 values, none of\n"
              "them wasted. x is gathered. No shuffles are needed, and y is written coalesced: ideal for rows of\n"
              "equal length.\n"
              "A row ends at its first padding slot, whose column is -1, but the warp waits for its longest row,\n"
              "and the arrays have rows * (longest row) slots. A single long row makes the arrays so large that the\n"
              "program refuses the conversion. For uneven rows, use sell, in which only the\n"
              "longest of 32 rows matters, or hyb, which stores the excess of long rows separately.\n",
    .functions = {{"ell", BLOCK}},
    .deterministic = true,
    .skips_padding = true,
    .product = {VALUE_TYPES(rows_by_threads), NARROW_TYPES(rows_by_threads)},
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

template <typename T, typename U> static void host_part(const struct launch *L, struct ell_part p, int threads)
{
    const int *col = (const int *)L->A->ptr[p.col];
    const U *val = (const U *)L->A->ptr[p.val];
    const T *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t rows = L->A->of->rows, slots = L->A->of->a[p.val].n;
    host_shares(L, threads, rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            T sum = 0;
            for (int64_t k = row; k < slots && col[k] >= 0; k += rows) sum += (T)val[k] * x[col[k]];
            store(y, row, alpha, sum, beta);
        }
    });
}

template <typename T> void host_ell(const struct launch *L, struct ell_part p, int threads)
{
    host_part<T, T>(L, p, threads);
}

INSTANTIATE(host_ell, const struct launch *, struct ell_part, int);

} // namespace KERNEL_SPACE

template <typename T, typename U = T> static void ell_host(const struct launch *L, int threads)
{
    host_part<T, U>(L, whole, threads);
}

HOST_NARROW_ENTRIES(ell, "ell", ell_host, "the serial host loop; each step jumps by a whole column of slots", "[ours]",
                    "1024 rows at a time",
                    "A layout that is coalesced for a warp is strided for a core: the elements of a row lie a whole\n"
                    "column of slots apart, so each element is in a different cache line. The next rows use the same\n"
                    "lines while they are still in the cache. A layout that is good for a GPU is bad for a CPU: see\n"
                    "csr-serial.\n",
                    .skips_padding = true);
#endif
