/* SpMV kernels (matrix-vector products) for packed: one slice per warp, 16-bit columns, and codes for the values if
   there are few of them. */
#include "formats/fmt_packed.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* Where a slot's value is: in val, in val at the slot's code, or in val[0]. */
enum value_kind { VALUE_PER_SLOT, VALUE_BY_CODE, ONE_VALUE };

/* One slice: the arrays, and the slots of the arrays at which the slice begins. C is uint16_t or, if the slice is wide,
   unsigned. The column of a slot is col + base. */
template <typename C, typename T, typename U> struct slots {
    GPTR(const C) col;
    GPTR(const uint8_t) code;
    GPTR(const U) val;
    FRESH(const T) x;
    int col_at, at, base;
    bool stay; /* in the cache, until the next product */
};

/* Add the products of N steps of a lane to its sum. The lane loads its N columns at once, and its N codes; values of
   slots lie step by step, lane by lane. Padding multiplies nothing, because x or the value may be inf or NaN. */
template <int N, enum value_kind KIND, typename C, typename T, typename U>
__device__ T add_steps(slots<C, T, U> s, int step, T one, T sum)
{
    int lane = (int)(threadIdx.x % WARP), in = step * WARP + lane * N;
    T value[N];
    several<uint8_t, N> code = {};
    several<C, N> col = once<N>(s.col, s.col_at + in, s.stay);
    if (KIND == VALUE_BY_CODE) code = once<N>(s.code, s.at + in, s.stay);
    UNROLL_WHOLE
    for (int j = 0; j < N; j++)
        value[j] = KIND == VALUE_PER_SLOT  ? (T)once(s.val, s.at + (step + j) * WARP + lane, s.stay)
                   : KIND == VALUE_BY_CODE ? (T)s.val[code.of[j]]
                                           : one;
    await_previous();
    UNROLL_WHOLE
    for (int j = 0; j < N; j++) {
        if (col.of[j] != (C)-1) sum += value[j] * s.x[s.base + (int)col.of[j]];
        reconverge();
    }
    return sum;
}

/* The sum of a lane's products: a group of steps at a time, then smaller groups, as the columns are stored. */
template <enum value_kind KIND, typename C, typename T, typename U>
__device__ T sum_steps(slots<C, T, U> s, int steps, T one)
{
    enum { GROUP = sizeof(C) == sizeof(uint16_t) ? PACKED_GROUP16 : PACKED_GROUP32 };
    int step = 0;
    T sum = 0;
    UNROLL(1)
    for (; step + GROUP <= steps; step += GROUP) sum = add_steps<GROUP, KIND>(s, step, one, sum);
    if (GROUP > 4 && steps & 4) sum = add_steps<4, KIND>(s, step, one, sum), step += 4;
    if (steps & 2) sum = add_steps<2, KIND>(s, step, one, sum), step += 2;
    if (steps & 1) sum = add_steps<1, KIND>(s, step, one, sum);
    return sum;
}

/* One slice per warp, and V = 2^bits neighbouring lanes per row, which add their sums at the end. In each step, a warp
   reads 32 neighbouring slots. */
template <typename T, typename U, enum value_kind KIND>
__global__ void packed(int rows, int slices, int stay, int bits, int sigma, GPTR(const uint16_t) perm,
                       GPTR(const int) slice, GPTR(const uint16_t) col16, GPTR(const unsigned) col32,
                       GPTR(const uint8_t) code, GPTR(const U) val, T alpha, FRESH(const T) x, T beta, GPTR(T) y)
{
    begin_next();
    int s = (int)((blockIdx.x * BLOCK + threadIdx.x) / WARP), lane = (int)(threadIdx.x % WARP);
    if (s >= slices) return; /* the whole warp returns */
    several<int, PACKED_HEAD> head = together<PACKED_HEAD>(slice, s * PACKED_HEAD);
    int at16 = head.of[PACKED_AT16], at32 = head.of[PACKED_AT32], steps = head.of[PACKED_STEPS],
        base = head.of[PACKED_BASE];
    int at = (s * WARP + lane) >> bits, row = at;
    if (sigma > 1 && at < rows) row = at / sigma * sigma + perm[at];
    T sum, one = 0;
    if (KIND == ONE_VALUE) one = (T)val[0];
    if (base < 0)
        sum = sum_steps<KIND>(slots<unsigned, T, U>{col32, code, val, x, at32, at16 + at32, 0, s < stay}, steps, one);
    else
        sum =
            sum_steps<KIND>(slots<uint16_t, T, U>{col16, code, val, x, at16, at16 + at32, base, s < stay}, steps, one);
    await_previous();
    for (int d = (1 << bits) / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d, 1 << bits);
    if (at < rows && (lane & ((1 << bits) - 1)) == 0) store(y, row, alpha, sum, beta);
}

template <typename T, typename U, enum value_kind KIND> static void launch_packed(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t slices = S->a[PACKED_SLICE].n / PACKED_HEAD;
    FOLLOW(L->A->dev, blocks_for(slices * WARP, BLOCK), BLOCK, packed<T, U, KIND>)
    ((int)S->rows, (int)slices, staying(L, slices), __builtin_ctz((unsigned)(WARP / S->param[0])), (int)S->param[1],
     ARRAY(L, PACKED_PERM, uint16_t), ARRAY(L, PACKED_SLICE, int), ARRAY(L, PACKED_COL16, uint16_t),
     ARRAY(L, PACKED_COL32, unsigned), ARRAY(L, PACKED_CODE, uint8_t), ARRAY(L, PACKED_VAL, U), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

template <typename T, typename U = T> static bool slices_by_warps(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    if (S->a[PACKED_CODE].n)
        launch_packed<T, U, VALUE_BY_CODE>(L);
    else if (S->a[PACKED_VAL].n == 1)
        launch_packed<T, U, ONE_VALUE>(L);
    else
        launch_packed<T, U, VALUE_PER_SLOT>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(packed) = {
    .name = "packed",
    .about = "2 to 10 bytes per entry instead of 12: 16-bit columns, 8-bit codes for few distinct values",
    .format = &format_packed,
    .source = "[ours]",
    .work = "every 32/C-th entry of a row, in slices of C rows per warp",
    .lesson = "An fp64 value and a 32-bit column are 12 bytes, for two flops. packed stores the same matrix in\n"
              "fewer bytes, without rounding, and the kernel takes correspondingly less time:\n"
              "    10 bytes  16-bit columns, counted from the first column of the slice\n"
              "     3 bytes  16-bit columns and 8-bit codes: at most 256 distinct values, each stored once in val\n"
              "     2 bytes  16-bit columns only: all values are equal, as in a pattern\n"
              "A slice whose columns span more than 65535 keeps 32-bit columns. The array `slice` has four numbers\n"
              "per slice: its first slot in col16, its first slot in col32, its number of steps, and its base. The\n"
              "base is the column from which the slice counts, or -1 if it keeps 32-bit columns.\n"
              "A warp takes a slice of C rows, with 32/C lanes per row, which add their sums by shuffles. A load of\n"
              "16 bits per lane would move only 64 bytes per warp. Therefore the columns of eight steps lie\n"
              "together: a lane loads them as 16 bytes, their codes as 8, all before the group's first product.\n"
              "One lane per row pads short rows least; more lanes keep a small matrix's warps busy. Once values\n"
              "take no bytes, x is the limit: every entry still gathers a value of x. A slice is as wide as its\n"
              "longest row: for a few very long rows, use csr-ends.\n",
    .functions = {{"packed", BLOCK}},
    .deterministic = true,
    .follows = true,
    .product = {VALUE_TYPES(slices_by_warps), NARROW_TYPES(slices_by_warps)},
};

#ifndef __CUDACC__
/* The entries of the row at position p of the order, until its padding begins. C is uint16_t or unsigned. */
template <typename U, typename C, typename T>
static T packed_row(const struct mat *M, const C *col, int64_t slot, int64_t steps, int64_t p, const T *x)
{
    const struct stored *S = M->of;
    const uint8_t *code = (const uint8_t *)M->ptr[PACKED_CODE] + slot;
    const U *val = (const U *)M->ptr[PACKED_VAL];
    bool coded = S->a[PACKED_CODE].n > 0, one = S->a[PACKED_VAL].n == 1;
    int64_t V = WARP / S->param[0], lane = p % S->param[0] * V;
    T sum = 0;
    for (int64_t k = 0; k < steps * V; k++) {
        int64_t step = k / V;
        struct packed_group g = packed_group_of(steps, step, sizeof(C) > sizeof(uint16_t));
        int64_t at = g.first * WARP + (lane + k % V) * g.width + step - g.first;
        if (col[at] == (C)-1) break;
        sum += (T)val[coded ? code[at] : one ? 0 : slot + step * WARP + lane + k % V] * x[col[at]];
    }
    return sum;
}

template <typename T, typename U = T> static void packed_host(const struct launch *L, int threads)
{
    const struct mat *M = L->A;
    const struct stored *S = M->of;
    const int *slice = (const int *)M->ptr[PACKED_SLICE];
    const uint16_t *perm = (const uint16_t *)M->ptr[PACKED_PERM], *col16 = (const uint16_t *)M->ptr[PACKED_COL16];
    const unsigned *col32 = (const unsigned *)M->ptr[PACKED_COL32];
    const T *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t C = S->param[0], sigma = S->param[1];
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t p = from; p < to; p++) {
            const int *head = slice + p / C * PACKED_HEAD;
            int64_t at16 = head[PACKED_AT16], at32 = head[PACKED_AT32], steps = head[PACKED_STEPS],
                    base = head[PACKED_BASE];
            T sum = base < 0 ? packed_row<U>(M, col32 + at32, at16 + at32, steps, p, x)
                             : packed_row<U>(M, col16 + at16, at16 + at32, steps, p, x + base);
            store(y, sigma > 1 ? p / sigma * sigma + perm[p] : p, alpha, sum, beta);
        }
    });
}

HOST_NARROW_ENTRIES(
    packed, "packed", packed_host, "the serial host loop over the slices' rows", "[ours]", "1024 stored rows at a time",
    "The loop reads 2 to 10 bytes per entry instead of 12, but computes the place of each entry, so it is\n"
    "slower than csr unless the memory is the limit. It exists to check the kernel.\n");
#endif
