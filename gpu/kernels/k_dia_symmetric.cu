/* Matrix-vector product with a symmetric matrix in DIA. Only the main diagonal and the diagonals above it are read from
   memory, because the diagonals below it have the same values. */
#include "vec.h"
#include "formats/fmt_dia.h"
#include "base/err.h"

namespace KERNEL_SPACE
{

/* Adds to `sum` the products of up to N diagonals, the first of which has number `first`, and of their mirror images in
   row i. Value (i, i - k) of the diagonal at -k equals value (i - k, i), which the diagonal at +k holds k slots
   earlier; that slot was read for row i - k and is still in the cache. Neighbouring threads read neighbouring values
   and neighbouring elements of x; a thread issues all loads before it needs the first result. */
template <int N, typename T>
__device__ T symmetric_sum(T sum, int64_t i, int first, int64_t rows, int diagonals, GPTR(const int) offsets,
                           GPTR(const T) data, GPTR(const T) x)
{
    T right[N], left[N], x_right[N], x_left[N];
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) {
        int d = first + t;
        int64_t k = d < diagonals ? offsets[d] : rows, at = d * rows + i;
        bool has_right = i + k<rows, has_left = k> 0 && i >= k;
        right[t] = has_right ? data[at] : (T)0;
        x_right[t] = has_right ? x[i + k] : (T)0;
        left[t] = has_left ? once(data, at - k) : (T)0;
        AHEAD(1) /* the cost model was calibrated with a wait for this load in each iteration */
        x_left[t] = has_left ? x[i - k] : (T)0;
    }
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) {
        sum += right[t] * x_right[t];
        sum += left[t] * x_left[t];
    }
    return sum;
}

/* The sum of row i: the main diagonal and the diagonals above it, four at a time. A 7-point grid has four such
   diagonals; a 5-point grid has three. */
template <typename T>
__device__ T symmetric_row(int64_t i, int64_t rows, int diagonals, GPTR(const int) offsets, GPTR(const T) data,
                           GPTR(const T) x)
{
    T sum = 0;
    int d = diagonals / 2;
    if (diagonals - d <= 3) return symmetric_sum<3, T>(sum, i, d, rows, diagonals, offsets, data, x);
    UNROLL(1)
    for (; d < diagonals; d += 4) sum = symmetric_sum<4, T>(sum, i, d, rows, diagonals, offsets, data, x);
    return sum;
}

template <typename T>
__global__ void dia_symmetric(int64_t rows, int diagonals, GPTR(const int) offsets, GPTR(const T) data, T alpha,
                              GPTR(const T) x, T beta, GPTR(T) y)
{
    int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = symmetric_row<T>(row, rows, diagonals, offsets, data, x);
    store(y, row, alpha, sum, beta);
}

template <typename AT> struct symmetric_rows : AT {
    enum { WIDE = 1 };
    int64_t rows;
    int diagonals;
    GPTR(const int) offsets;
    typename AT::in data;

    __device__ typename AT::real row(int64_t i, typename AT::in x) const
    {
        return symmetric_row<typename AT::real>(i, rows, diagonals, offsets, data, x);
    }
};

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, DIA_ROWS), DIA_ROWS, dia_symmetric<T>)
    (S->rows, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T> static bool sums(const struct launch *L, struct err *)
{
    typedef on_gpu<T> AT;
    const struct stored *S = L->A->of;
    int64_t n = S->rows;
    AT::run(L->A->dev, n, L->s,
            pass_cg_product<symmetric_rows<AT>>{
                {{}, n, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T)},
                AT::from("x", L->x, n),
                AT::from("r", L->r, n),
                AT::to("y", L->y, n)});
    return true;
}

/* The first row whose value on diagonal d (at or above the main diagonal) differs from its mirror image; `rows` if
   there is no such row. */
template <typename T> static int64_t unequal_row(const struct stored *S, int64_t d)
{
    const struct array *offsets = &S->a[DIA_OFFSETS];
    const T *data = (const T *)S->a[DIA_DATA].data, *above = data + d * S->rows;
    int64_t k = ((const int *)offsets->data)[d], first = S->rows;
    const T *below = data + (offsets->n - 1 - d) * S->rows + k;
#pragma omp parallel for reduction(min : first) if (S->rows > THREADS_FROM)
    for (int64_t i = 0; i < S->rows - k; i++)
        if (!(above[i] == below[i]) && i < first) first = i;
    return first;
}

static bool fits(const struct stored *S, struct err *e)
{
    static int64_t (*const unequal[])(const struct stored *, int64_t) = {
        unequal_row<float>, unequal_row<double>, unequal_row<cplx<float>>, unequal_row<cplx<double>>};
    const struct array *offsets = &S->a[DIA_OFFSETS];
    const int *k = (const int *)offsets->data;
    if (S->rows != S->cols) return fail(e, E_UNSUPPORTED, "the matrix is not square; use the kernel dia");
    if (!k || !S->a[DIA_DATA].data) return true; /* not packed yet: there are no values to compare */
    for (int64_t d = offsets->n / 2; d < offsets->n; d++) {
        int64_t row = 0;
        if (k[d] == -k[offsets->n - 1 - d]) row = unequal[S->real - T_F32](S, d);
        if (row < S->rows)
            return fail(e, E_UNSUPPORTED,
                        "the matrix is not symmetric in row %lld, column %lld (counted from 0); use the kernel dia",
                        (long long)row, (long long)row + k[d]);
    }
    return true;
}

static int64_t reads(const struct stored *S)
{
    int64_t all = S->a[DIA_OFFSETS].n, upper = all - all / 2;
    return all * (int64_t)sizeof(int) + upper * S->rows * (int64_t)type_size(S->real);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia_symmetric) = {
    .name = "dia-symmetric",
    .about = "for symmetric matrices: only the upper diagonals are read from memory",
    .format = &format_dia,
    .source = "[ours]",
    .work = "one row per thread",
    .lesson = "Like dia, but value (i, i - k) is read from the diagonal at +k, which stores it as value (i - k, i),\n"
              "k slots earlier. That slot was read for row i - k, so it comes from the cache: for a 7-point grid, 4\n"
              "diagonals are read from memory instead of 7. On a symmetric 4x4 matrix:\n"
              "    offset  0     1            row 2 is  data(+1)[1] x[1] + data(0)[2] x[2] + data(+1)[2] x[3]\n"
              "            1     5\n"
              "            2     6\n"
              "            3     7\n"
              "            4     *\n"
              "All diagonals are still stored. Before the first launch, the program checks that the matrix is\n"
              "symmetric.\n",
    .deterministic = true,
    .reads = reads,
    .fits = fits,
    VALUE_TYPES(rows_by_threads),
    .sums_f32 = sums<float>,
    .sums_f64 = sums<double>,
};
