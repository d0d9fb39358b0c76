/* SpMV kernels (matrix-vector products) for SC-CSR: a warp takes an SC-row, which holds c interleaved rows; one launch
   per segment. */
#include "base/mem.h"
#include "formats/fmt_sccsr.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256 };

/* The position of a segment in the arrays. */
struct segment {
    int sc_row, sc_rows; /* index of the segment's first SC-row, and number of SC-rows */
    int place;           /* index of the segment's first row in row_index */
};

/* One SC-row per warp: lane l takes row l % C and reads its elements l / C, l / C + 32 / C and so on. In each step, the
   warp therefore reads 32 neighbouring slots. Then log2(32/C) shuffle steps add the sums of a row, and lanes 0 to C-1
   write y at row_index by scattered stores; with SORTED they write y by coalesced stores, in the order of the sort.
   Rows with index -1 pad the last SC-row. */
template <typename T, int C, bool SORTED>
__global__ void sccsr(struct segment g, GPTR(const int) row_index, GPTR(const T) val, GPTR(const int) col_ind,
                      GPTR(const int) row_ptr, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % WARP, s = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (s >= g.sc_rows) return; /* the whole warp: all lanes share the SC-row */
    int64_t end = row_ptr[g.sc_row + s + 1];
    T sum = 0;
    UNROLL(1)
    for (int64_t k = row_ptr[g.sc_row + s] + lane; k < end; k += WARP) {
        int c = col_ind[k];
        if (c >= 0) sum += val[k] * x[c];
    }
    for (int d = WARP / 2; d >= C; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane >= C) return;
    int place = g.place + s * C + lane, row = SORTED ? place : row_index[place];
    if (row >= 0) store(y, row, alpha, sum, beta);
}

/* ---- on the host ---- */

static int rows_per_sc_row(int number)
{
    return WARP >> number;
}

/* Uses the host's copy of the matrix, because reading an array on the device would wait for the device. */
static struct segment segment_of(const struct stored *S, int number)
{
    const int *place = (const int *)S->a[SCCSR_SEGMENT].data;
    struct segment g = {0, 0, 0};
    for (int k = 0; k <= number; k++) {
        g.sc_row += g.sc_rows;
        g.sc_rows = (place[k + 1] - place[k]) / rows_per_sc_row(k);
        g.place = place[k];
    }
    return g;
}

template <typename T>
using sccsr_kernel = void(struct segment, GPTR(const int), GPTR(const T), GPTR(const int), GPTR(const int), T,
                          GPTR(const T), T, GPTR(T));

template <typename T, bool SORTED> static void launch_segments(const struct launch *L, T beta, GPTR(T) y)
{
    static KERNEL_POINTER(sccsr_kernel<T>) const kernel[] = {KERNEL(sccsr<T, 32, SORTED>), KERNEL(sccsr<T, 16, SORTED>),
                                                             KERNEL(sccsr<T, 8, SORTED>), KERNEL(sccsr<T, 4, SORTED>)};
    const struct stored *S = L->A->of;
    for (int number = 0; number < SCCSR_SEGMENTS; number++) {
        struct segment g = segment_of(S, number);
        LAUNCH(L->A->dev, blocks_for(g.sc_rows, BLOCK / WARP), BLOCK, kernel[number])
        (g, ARRAY(L, SCCSR_ROW_INDEX, int), ARRAY(L, SCCSR_VAL, T), ARRAY(L, SCCSR_COL_IND, int),
         ARRAY(L, SCCSR_ROW_PTR, int), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), beta, y);
    }
}

template <typename T> static bool segments(const struct launch *L, struct err *)
{
    launch_segments<T, false>(L, (T)L->beta, VECTOR("y", ROLE_Y, L->y, L->A->of->rows, T));
    return true;
}

/* ---- the paper's last step: the host permutes the results ---- */

static int64_t places_of(const struct stored *S)
{
    return S->a[SCCSR_ROW_INDEX].n;
}

/* Bytes of the results in sorted order, on the device. */
static int64_t sorted_bytes(const struct mat *M)
{
    return places_of(M->of) * (int64_t)type_size(precisions[M->of->real].vector);
}

/* Allocates host memory for the results in sorted order, then for y, and sets the launch's note to its address. */
static bool host_copies(const struct launch *L, struct err *e)
{
    const struct stored *S = L->A->of;
    void *p = mem_new(places_of(S) + S->rows, type_size(precisions[S->real].vector), "the results on the host", e);
    *L->note = (uint64_t)(uintptr_t)p;
    return p != nullptr;
}

static void host_copies_free(struct device *, uint64_t note)
{
    mem_free((void *)(uintptr_t)note);
}

template <typename T> static bool order_on_host(const struct launch *L, struct err *e)
{
    const struct stored *S = L->A->of;
    const int *index = (const int *)S->a[SCCSR_ROW_INDEX].data;
    struct device *d = L->A->dev;
    int64_t places = places_of(S), bytes = S->rows * (int64_t)sizeof(T);
    T *sum = (T *)(uintptr_t)*L->note, *y = sum + places, beta = (T)L->beta;
    launch_segments<T, true>(L, 0, VECTOR("sorted", ROLE_WORK, L->scratch, places, T));
    if (!d->ops->get(d, sum, L->scratch, sorted_bytes(L->A), e)) return false;
    if (beta != 0 && !d->ops->get(d, y, L->y, bytes, e)) return false;
    for (int64_t k = 0; k < places; k++)
        if (index[k] >= 0) y[index[k]] = beta == 0 ? sum[k] : sum[k] + beta * y[index[k]];
    return d->ops->put(d, L->y, y, bytes, e);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(sccsr_host_order) = {
    .name = "sc-csr-host-order",
    .about = "sc-csr as in the paper, where the host permutes the results: shows the cost of the copies",
    .format = &format_sccsr,
    .source = "THESIS, sec. 2.2.2, fig. 2.5",
    .work = "the work of sc-csr; then the host permutes the results",
    .lesson = "Like sc-csr, but y is written in the order of the sorted rows, and the host permutes y, as in the\n"
              "paper. On the 4x4 example, the sorted rows are 0 1 3 2:\n"
              "    device   y[0] y[1] y[3] y[2]     copied to the host, permuted, copied back\n"
              "The kernel does not read row_index and writes y coalesced, while sc-csr scatters its stores.\n"
              "The cost is two copies over the bus, each of 8 bytes per row and with a wait for the device: on most\n"
              "machines, the copies take many times as long as the product. The kernel sc-csr reads one more index\n"
              "per row and permutes in its last step. Use sc-csr-host-order only for comparison with sc-csr.\n",
    .functions = {{"sccsr", BLOCK}},
    .deterministic = true,
    .host_part = true,
    .scratch = sorted_bytes,
    .prepare = host_copies,
    .release = host_copies_free,
    .product = {VALUE_TYPES(order_on_host)},
};

KERNEL_ENTRY(sccsr) = {
    .name = "sc-csr",
    .about = "coalesced even for short rows: no lane idles if neighbouring rows have equal length; y is scattered",
    .format = &format_sccsr,
    .source = "THESIS, sec. 2.2.2; order of y restored on the device [ours]",
    .work = "every 1st, 2nd, 4th or 8th element of one row; a warp takes 32, 16, 8 or 4 rows",
    .lesson = "Rows are sorted by length, and c neighbouring rows are interleaved: their first elements come first,\n"
              "then their second elements, and so on. A warp takes such an SC-row; lane l takes row l % c. On the\n"
              "4x4 example with c = 4:\n"
              "    slot  1  2  6  5 | 7  8  4  3 | *  *  *  9\n"
              "    lane  0  1  2  3   4  5  6  7   8  9 10 11\n"
              "Slots marked * are padding. Every step reads 32 neighbouring slots: 4 sectors of columns and 8 of\n"
              "fp64 values, even for short rows. c is 32 for rows below 8 elements, 16 below 16, 8 below 32, else\n"
              "4; all rows with the same c form a segment with its own launch. log2(32 / c) shuffles add the sums,\n"
              "and c lanes write y at row_index: scattered, up to c sectors.\n"
              "Sorting costs time up front, and it separates rows that read the same elements of x. Padding rows of\n"
              "a warp to equal length is expensive if one row is much longer: use csr-ends for such matrices.\n"
              "THESIS: clearly faster than csr-vector. In the thesis, the host permutes y: see sc-csr-host-order.\n",
    .functions = {{"sccsr", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(segments)},
};

#ifndef __CUDACC__
/* Multiplies the c interleaved rows of SC-row s of a segment at the same time. */
template <typename T> static void host_sc_row(const struct launch *L, const struct segment &g, int c, int64_t s)
{
    const int *index = (const int *)L->A->ptr[SCCSR_ROW_INDEX] + g.place + s * c;
    const int *col = (const int *)L->A->ptr[SCCSR_COL_IND], *ptr = (const int *)L->A->ptr[SCCSR_ROW_PTR] + g.sc_row + s;
    const T *val = (const T *)L->A->ptr[SCCSR_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta, sum[WARP] = {0};
    for (int64_t k = ptr[0]; k < ptr[1]; k += c)
        for (int r = 0; r < c; r++)
            if (col[k + r] >= 0) sum[r] += val[k + r] * x[col[k + r]];
    for (int r = 0; r < c; r++)
        if (index[r] >= 0) store(y, index[r], alpha, sum[r], beta);
}

template <typename T> static void sccsr_host(const struct launch *L, int threads)
{
    for (int number = 0; number < SCCSR_SEGMENTS; number++) {
        struct segment g = segment_of(L->A->of, number);
        host_shares(L, threads, g.sc_rows, 128, [=](int64_t from, int64_t to) {
            for (int64_t s = from; s < to; s++) host_sc_row<T>(L, g, rows_per_sc_row(number), s);
        });
    }
}

HOST_ENTRIES(sccsr, "sc-csr", sccsr_host, "the serial host loop, all rows of an SC-row together", "[ours]",
             "128 SC-rows at a time",
             "The interleaved rows of an SC-row are summed at the same time, as by the lanes of a warp:\n"
             "neighbouring slots, several sums together. y is written in the order of the sort.\n");
#endif
