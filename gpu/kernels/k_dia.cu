/* SpMV kernels (matrix-vector products) for DIA: one row per thread, or per group of threads if there are few rows; no
   column index is read. */
#include "diagonal_rows.h"
#include "formats/fmt_dia.h"
#include "vec.h"

namespace KERNEL_SPACE
{

/* AT_ONCE: the diagonals whose loads are under way together; 9 suits the 27 diagonals of a grid. SHARED_ROWS: the rows
   of a block whose groups of threads, at most GROUPS, share the diagonals. A GPU with at most FEW_ROWS rows per
   multiprocessor is not kept busy by one thread per row. STAYING_OF: see staying; on an H200, keeping 2 of 27 diagonals
   of 191 MB takes 47.3 instead of 51.4 us. */
enum { BLOCK = 256, AT_ONCE = 9, SHARED_ROWS = 64, GROUPS = 8, FEW_ROWS = 256, STAYING_OF = 5 };

/* One row per thread. A warp reads 32 neighbouring values of a diagonal and 32 neighbouring elements of x, for REST
   diagonals at once and then for AT_ONCE; REST is the remainder of the number of diagonals. The offsets are
   the last argument, so that the others lie together in constant memory. */
template <typename T, int REST, typename OFFSETS>
__global__ void dia(unsigned rows, unsigned cols, int diagonals, int stay, GPTR(const T) data, T alpha,
                    FRESH(const T) x, T beta, GPTR(T) y, OFFSETS offsets)
{
    begin_next();
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    if constexpr (REST > 0)
        sum = diagonals_at_once<REST, true, T>(sum, REST, stay, row, cols, offsets, 0, data + row, rows, x);
    UNROLL(1)
    for (int d = REST; d < diagonals; d += AT_ONCE)
        sum = diagonals_at_once<AT_ONCE, true, T>(sum, diagonals, stay, row, cols, offsets, d, data + row, rows, x);
    await_previous();
    store_once(y, row, alpha, sum, beta);
}

/* Few rows: as many threads per row as there are groups, so that more loads are in flight. Group g takes the diagonals
   g * AT_ONCE and following ones; group 0 adds the sums of the groups in their order. */
template <typename T, typename U, typename OFFSETS>
__global__ void dia_by_groups(unsigned rows, unsigned cols, int diagonals, int stay, GPTR(const U) data, T alpha,
                              FRESH(const T) x, T beta, GPTR(T) y, OFFSETS offsets)
{
    begin_next();
    SHARED(T, part, GROUPS * SHARED_ROWS);
    int group = (int)threadIdx.y, groups = (int)blockDim.y, at = (int)threadIdx.x;
    unsigned own = blockIdx.x * SHARED_ROWS + threadIdx.x, row = own < rows ? own : rows - 1; /* lanes stay together */
    T sum = 0;
    UNROLL(1)
    for (int d = group * AT_ONCE; d < diagonals; d += groups * AT_ONCE)
        sum = diagonals_at_once<AT_ONCE, false, T>(sum, diagonals, stay, row, cols, offsets, d, data + row, rows, x);
    await_previous();
    part[group * SHARED_ROWS + at] = sum;
    __syncthreads(); /* all threads of the block: `part` is complete */
    if (group > 0 || own >= rows) return;
    for (int g = 1; g < groups; g++) sum += part[g * SHARED_ROWS + at];
    store(y, row, alpha, sum, beta);
}

template <typename T, typename U, typename OFFSETS>
using dia_kernel = void(unsigned, unsigned, int, int, GPTR(const U), T, FRESH(const T), T, GPTR(T), OFFSETS);

/* Launch by_groups if there are few rows and more than one group, otherwise by_rows. */
template <typename T, typename U, typename OFFSETS>
static void launch_rows(const struct launch *L, OFFSETS offsets, KERNEL_POINTER(dia_kernel<T, U, OFFSETS>) by_rows)
{
    static KERNEL_POINTER(dia_kernel<T, U, OFFSETS>) const by_groups = KERNEL(dia_by_groups<T, U, OFFSETS>);
    const struct stored *S = L->A->of;
    int diagonals = (int)S->a[DIA_OFFSETS].n, groups = (int)blocks_for(diagonals, AT_ONCE);
    bool few = groups > 1 && S->rows <= (int64_t)FEW_ROWS * L->A->dev->units;
    dim3 block = few ? dim3(SHARED_ROWS, (unsigned)(groups < GROUPS ? groups : GROUPS)) : dim3(BLOCK);
    KERNEL_POINTER(dia_kernel<T, U, OFFSETS>) kernel = few ? by_groups : by_rows;
    FOLLOW(L->A->dev, blocks_for(S->rows, (int)block.x), block, kernel)
    ((unsigned)S->rows, (unsigned)S->cols, diagonals, staying(L, diagonals, STAYING_OF), ARRAY(L, DIA_DATA, U),
     (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T),
     offsets);
}

template <typename T, typename OFFSETS> static void launch_with(const struct launch *L, OFFSETS offsets)
{
    static KERNEL_POINTER(dia_kernel<T, T, OFFSETS>)
        const kernel[AT_ONCE] = {KERNEL(dia<T, 0, OFFSETS>), KERNEL(dia<T, 1, OFFSETS>), KERNEL(dia<T, 2, OFFSETS>),
                                 KERNEL(dia<T, 3, OFFSETS>), KERNEL(dia<T, 4, OFFSETS>), KERNEL(dia<T, 5, OFFSETS>),
                                 KERNEL(dia<T, 6, OFFSETS>), KERNEL(dia<T, 7, OFFSETS>), KERNEL(dia<T, 8, OFFSETS>)};
    launch_rows<T, T, OFFSETS>(L, offsets, kernel[L->A->of->a[DIA_OFFSETS].n % AT_ONCE]);
}

/* Values stored in a smaller type: the same products in the same order, by one kernel for all numbers of diagonals. */
template <typename T, typename U, typename OFFSETS>
__global__ void dia_narrow(unsigned rows, unsigned cols, int diagonals, int stay, GPTR(const U) data, T alpha,
                           FRESH(const T) x, T beta, GPTR(T) y, OFFSETS offsets)
{
    begin_next();
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = diagonals_sum<T>(row, cols, diagonals, stay, offsets, data + row, (int64_t)rows, x);
    await_previous();
    store_once(y, row, alpha, sum, beta);
}

template <typename T, typename U, typename OFFSETS>
static void launch_narrow_with(const struct launch *L, OFFSETS offsets)
{
    launch_rows<T, U, OFFSETS>(L, offsets, KERNEL(dia_narrow<T, U, OFFSETS>));
}

template <typename T, typename U> static bool narrow_rows(const struct launch *L, struct err *)
{
    struct few_offsets few;
    if (are_few(&L->A->of->a[DIA_OFFSETS], &few))
        launch_narrow_with<T, U>(L, few);
    else
        launch_narrow_with<T, U>(L, ARRAY(L, DIA_OFFSETS, int));
    return true;
}

template <typename T> void launch_dia(const struct launch *L)
{
    struct few_offsets few;
    if (are_few(&L->A->of->a[DIA_OFFSETS], &few))
        launch_with<T>(L, few);
    else
        launch_with<T>(L, ARRAY(L, DIA_OFFSETS, int));
}

INSTANTIATE(launch_dia, const struct launch *);

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_dia<T>(L);
    return true;
}

/* One row of dia, for the product that also computes the sums of CG. */
template <typename AT, typename U> struct dia_rows : AT {
    enum { WIDE = 1 };
    int64_t rows, cols;
    int diagonals, stay;
    GPTR(const int) offsets;
    GPTR(const U) data;

    __device__ double row(int64_t i, typename AT::in x) const
    {
        return diagonals_sum<double>((unsigned)i, (unsigned)cols, diagonals, stay, offsets, data + i, rows, x);
    }
};

template <typename T, typename U, bool DIAGONAL> static void launch_sums(const struct launch *L)
{
    typedef on_gpu<T> AT;
    const struct stored *S = L->A->of;
    int64_t n = S->rows;
    int diagonals = (int)S->a[DIA_OFFSETS].n, stay = staying(L, diagonals, STAYING_OF);
    AT::run(L->A->dev, n, L->s,
            pass_cg_product<dia_rows<AT, U>, DIAGONAL>{
                {{}, n, S->cols, diagonals, stay, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, U)},
                AT::from("x", L->x, n),
                AT::from("r", L->r, n),
                AT::from("dinv", L->dinv, n),
                AT::to("y", L->y, n)});
}

template <typename T, typename U = T> static bool sums(const struct launch *L, struct err *)
{
    L->dinv ? launch_sums<T, U, true>(L) : launch_sums<T, U, false>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia) = {
    .name = "dia",
    .about = "every read is coalesced, x included, and no column index is read; for matrices with few, full diagonals",
    .format = &format_dia,
    .source = "DRM, sec. 1 (Bell and Garland); nine diagonals at once [ours]",
    .work = "one row per thread, or per 2 to 8 threads if there are few rows",
    .lesson = "Thread t takes row t, one diagonal per step; diagonal d has its value for row t at d * rows + t. On\n"
              "the 4x4 example (* is outside the matrix):\n"
              "    offset -2     offset 0      offset 1\n"
              "    *  *  5  6    1  2  3  4    7  8  9  *\n"
              "    0  1  2  3    0  1  2  3    0  1  2  3    thread\n"
              "In each step, a warp reads 32 neighbouring values and 32 neighbouring elements of x, 8 sectors each\n"
              "in fp64. No columns are stored: 8 bytes per entry, not 12. The loads of 9 diagonals wait neither for\n"
              "one another nor for a sum, so their latencies overlap; up to 64 offsets are arguments of the kernel\n"
              "and come from constant memory. If there are few rows, a row has a thread for every 9 diagonals.\n"
              "On full diagonals, no format is faster. But a single entry causes a whole diagonal to be stored.\n"
              "DRM paper: for add32, DIA stored 940 zeros per nonzero and took 155 times as long as DRM; over 20\n"
              "matrices, it took 20.8 times as long on average.\n"
              "For diagonals with gaps or scattered diagonals, use hdia, brcsd2 or drm; for a few stray entries,\n"
              "use hdc.\n",
    .functions = {{"dia", BLOCK}, {"dia_by_groups"}, {"dia_narrow", BLOCK}},
    .deterministic = true,
    .follows = true,
    .product = {VALUE_TYPES(rows_by_threads), NARROW_TYPES(narrow_rows)},
    .sums = {REALS(sums), NO_PAIRS, NARROW_TYPES(sums)},
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

enum { TILE = 1024 }; /* rows whose y stays in the L1 cache while all diagonals are added */

template <typename T, typename U> static struct diagonal_rows<T, U> tile(const struct launch *L, int64_t k) {
    const struct stored *S = L->A->of;
    int64_t first = k * TILE;
    return {
        .first = first,
        .last = min(first + TILE, S->rows),
        .n = S->a[DIA_OFFSETS].n,
        .height = S->rows,
        .offsets = (const int *)L->A->ptr[DIA_OFFSETS],
        .data = (const U *)L->A->ptr[DIA_DATA] + first,
    };
}

template <typename T, typename U>
static void host_tiles(const struct launch *L, int threads)
{
    host_pieces<T, U>(L, threads, (L->A->of->rows + TILE - 1) / TILE, tile<T, U>);
}

template <typename T> void host_dia(const struct launch *L, int threads)
{
    host_tiles<T, T>(L, threads);
}

INSTANTIATE(host_dia, const struct launch *, int);

} // namespace KERNEL_SPACE

template <typename T, typename U = T> static void dia_host(const struct launch *L, int threads)
{
    host_tiles<T, U>(L, threads);
}

HOST_NARROW_ENTRIES(
    dia, "dia", dia_host, "the serial host loop along the diagonals, 1024 rows at a time", "[ours]",
    "1024 rows at a time",
    "Goes along the diagonals for 1024 rows at a time, while their y stays in the L1 cache: three streams\n"
    "of neighbouring values and no index; the compiler turns the loop into vector instructions.\n");
#endif
