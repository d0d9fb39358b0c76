/* Shared by the kernels over diagonals: the sum of a row on the GPU, the host's loop along the diagonals of a piece of
   rows, and the launches of DIA, BRCSD-I and BRCSD-II, which HDC and DIA-Adaptive use too. */
#ifndef DIAGONAL_ROWS_H
#define DIAGONAL_ROWS_H

#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

/* Up to FEW_OFFSETS offsets in a kernel's arguments, which a GPU keeps in constant memory: one read serves all lanes of
   a warp. */
enum { FEW_OFFSETS = 64 };
struct few_offsets {
    int at[FEW_OFFSETS];
    __device__ int operator[](int d) const { return at[d]; }
};
static inline bool are_few(const struct array *offsets, struct few_offsets *few)
{
    const int *at = (const int *)offsets->data;
    *few = {};
    if (!at || offsets->n > FEW_OFFSETS) return false;
    for (int64_t d = 0; d < offsets->n; d++) few->at[d] = at[d];
    return true;
}

enum { DIAGONALS_AT_ONCE = 8 };

/* Adds the products of the diagonals d .. d+N-1 of n in a row to `sum`; WHOLE: all of them exist. Diagonal d has its
   value at data[d * height] and its column at row + offsets[d]; for columns outside the matrix, x is not read and the
   product is 0. The values are loaded while the previous launch may still write x (see FOLLOW). Threads with
   neighbouring rows read the same offset, neighbouring values and neighbouring elements of x. No load waits for the
   sum, so as many loads are in flight as the registers allow. The values are read once, so they do not displace x from
   the cache; those of diagonals below `stay` stay there. T is the type of the products. Offsets: a GPTR or few_offsets.
 */
template <int N, bool WHOLE, typename T, typename U, typename OFFSETS, typename X>
__device__ T diagonals_at_once(T sum, int n, int stay, unsigned row, unsigned cols, const OFFSETS &offsets, int d,
                               GPTR(const U) data, int64_t height, FRESH(const X) x)
{
    auto first = data + d * height;
    unsigned column[N];
    T value[N], factor[N];
    UNROLL_WHOLE
    for (int t = 0; t < N; t++)
        if (WHOLE || d + t < n) column[t] = row + (unsigned)offsets[d + t]; /* left of column 0: at least 2^31 */
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) {
        bool is = WHOLE || d + t < n;
        value[t] = is ? (T)once(first, t * height, d + t < stay) : (T)0;
        if (!AWAITS) factor[t] = is && column[t] < cols ? (T)x[column[t]] : (T)0;
    }
    await_previous();
    UNROLL_WHOLE
    for (int t = 0; AWAITS && t < N; t++) factor[t] = (WHOLE || d + t < n) && column[t] < cols ? (T)x[column[t]] : (T)0;
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) sum += value[t] * factor[t];
    return sum;
}

/* The same for the last n diagonals, n <= N, with a body for each n: a body that looks at n before each load takes more
   registers, so that fewer warps hide the latencies. */
template <int N, typename T, typename U, typename OFFSETS, typename X>
__device__ T diagonals_left(T sum, int n, int stay, unsigned row, unsigned cols, const OFFSETS &offsets, int d,
                            GPTR(const U) data, int64_t height, FRESH(const X) x)
{
    if constexpr (N == 0)
        return sum;
    else if (n == N)
        return diagonals_at_once<N, true, T>(sum, n, stay, row, cols, offsets, d, data, height, x);
    else
        return diagonals_left<N - 1, T>(sum, n, stay, row, cols, offsets, d, data, height, x);
}

/* The sum of value * x over the n diagonals of a row, in the order of the diagonals. */
template <typename T, typename U, typename OFFSETS, typename X>
__device__ T diagonals_sum(unsigned row, unsigned cols, int n, int stay, const OFFSETS &offsets, GPTR(const U) data,
                           int64_t height, FRESH(const X) x)
{
    enum { ALL = DIAGONALS_AT_ONCE };
    T sum = 0;
    int d = 0;
    UNROLL(1)
    for (; d + ALL <= n; d += ALL)
        sum = diagonals_at_once<ALL, true, T>(sum, n, stay, row, cols, offsets, d, data, height, x);
    return diagonals_left<ALL - 1, T>(sum, n - d, stay, row, cols, offsets, d, data, height, x);
}

/* y = alpha A x + beta y. launch_dia also serves HDC, whose first two arrays are those of a DIA matrix. */
template <typename T> void launch_dia(const struct launch *L);
template <typename T> void launch_brcsd1(const struct launch *L);
template <typename T> void launch_brcsd2(const struct launch *L);

#ifndef __CUDACC__
/* A piece of the matrix for one host thread: rows first .. last-1 and their n diagonals. The value of row first + t on
   diagonal d is data[d * height + t]. */
template <typename T, typename U = T> struct diagonal_rows {
    int64_t first, last, n, height;
    const int *offsets;
    const U *data;
};

template <typename T, typename U> static void add_products(T alpha, const U *data, const T *x, T *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] += alpha * (T)data[i] * x[i];
}

template <typename T, typename U> static void host_rows(const struct launch *L, const struct diagonal_rows<T, U> &p)
{
    const T *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    for (int64_t i = p.first; i < p.last; i++) y[i] = beta == 0 ? 0 : beta * y[i];
    for (int64_t d = 0; d < p.n; d++) {
        int64_t off = p.offsets[d], from = max(p.first, -off), to = min(p.last, L->A->of->cols - off);
        if (from < to) add_products(alpha, p.data + d * p.height + from - p.first, x + from + off, y + from, to - from);
    }
}

/* Multiplies all n pieces; a thread takes the next piece when it is free. Ctrl-C stops a long SpMV. */
template <typename T, typename U = T>
static void host_pieces(const struct launch *L, int threads, int64_t n,
                        struct diagonal_rows<T, U> (*piece)(const struct launch *L, int64_t k))
{
    bool checked = loop_worth(stored_slots(L->A->of));
    struct loop l = loop_of("", n);
#pragma omp parallel for num_threads(threads) schedule(guided) if (threads > 1)
    for (int64_t k = 0; k < n; k++)
        if (!checked || (k % 16 ? !__atomic_load_n(&l.stopped, __ATOMIC_RELAXED) : loop_check(&l, k)))
            host_rows(L, piece(L, k));
}

/* Host loops that compute the same products as the launches above. */
template <typename T> void host_dia(const struct launch *L, int threads);
template <typename T> void host_brcsd1(const struct launch *L, int threads);
template <typename T> void host_brcsd2(const struct launch *L, int threads);
#endif

} // namespace KERNEL_SPACE

#endif
