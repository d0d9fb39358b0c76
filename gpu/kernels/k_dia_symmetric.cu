/* Matrix-vector product with a symmetric matrix in DIA. Only the main diagonal and the diagonals above it are read from
   memory, because the diagonals below it have the same values. */
#include "base/err.h"
#include "diagonal_rows.h"
#include "formats/fmt_dia.h"
#include "vec.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, AT_ONCE = 4, BLOCKS_A_UNIT = 4 };

/* Adds to `sum` the products of N diagonals, the first of which has number `first`, and of their mirror images in row
   i. Value (i, i - k) of the diagonal at -k equals value (i - k, i), which the diagonal at +k holds k slots earlier;
   that slot was read for row i - k and is still in the cache. Neighbouring threads read neighbouring values and
   neighbouring elements of x. No load waits for the sum. T is the type of the products. */
template <int N, typename T, typename OFFSETS, typename U>
__device__ T symmetric_sum(T sum, unsigned i, int first, unsigned rows, const OFFSETS &offsets, GPTR(const U) data,
                           GPTR(const U) x)
{
    T right[N], left[N], x_right[N], x_left[N];
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) {
        unsigned k = (unsigned)offsets[first + t];
        int64_t at = (int64_t)(first + t) * rows + i;
        bool has_right = i + k<rows, has_left = k> 0 && i >= k;
        right[t] = has_right ? (T)data[at] : (T)0;
        x_right[t] = has_right ? (T)x[i + k] : (T)0;
        left[t] = has_left ? (T)data[at - k] : (T)0;
        x_left[t] = has_left ? (T)x[i - k] : (T)0;
    }
    UNROLL_WHOLE
    for (int t = 0; t < N; t++) {
        sum += right[t] * x_right[t];
        sum += left[t] * x_left[t];
    }
    return sum;
}

/* The sum of row i: the main diagonal and the diagonals above it, REST diagonals at once and then AT_ONCE. */
template <int REST, typename T, typename OFFSETS, typename U>
__device__ T symmetric_row(unsigned i, unsigned rows, int diagonals, const OFFSETS &offsets, GPTR(const U) data,
                           GPTR(const U) x)
{
    T sum = 0;
    int d = diagonals / 2;
    if constexpr (REST > 0) sum = symmetric_sum<REST, T>(sum, i, d, rows, offsets, data, x);
    UNROLL(1)
    for (d += REST; d < diagonals; d += AT_ONCE) sum = symmetric_sum<AT_ONCE, T>(sum, i, d, rows, offsets, data, x);
    return sum;
}

/* The rows of a thread are `far` apart: what the thread reads to the right of one row, at offset `far`, lies to the
   left of its next row, and is still in the L1 cache. A thread block takes neighbouring rows, then the rows `far`
   below, `steps` times; `tiles` thread blocks take `far` neighbouring rows. */
struct march {
    unsigned far, tiles;
    int steps;
};

template <typename T, int REST, typename OFFSETS>
__global__ void __launch_bounds__(BLOCK, sizeof(T) > sizeof(double) ? BLOCKS_A_UNIT / 2 : +BLOCKS_A_UNIT)
    dia_symmetric(unsigned rows, int diagonals, OFFSETS offsets, GPTR(const T) data, T alpha, GPTR(const T) x, T beta,
                  GPTR(T) y, struct march m)
{
    unsigned in_tiles = blockIdx.x % m.tiles * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.x / m.tiles * m.far * (unsigned)m.steps + in_tiles;
    if (in_tiles >= m.far) return;
    UNROLL(1)
    for (int s = 0; s < m.steps && row < rows; s++, row += m.far) {
        T sum = symmetric_row<REST, T>(row, rows, diagonals, offsets, data, x);
        store_once(y, row, alpha, sum, beta);
    }
}

/* The middle one of the offsets that are more than half as large as the largest. In a grid, these are the neighbours in
   the next line or plane. */
static int64_t far_offset(const struct stored *S)
{
    const struct array *offsets = &S->a[DIA_OFFSETS];
    const int *k = (const int *)offsets->data;
    int64_t last = offsets->n - 1, from = last;
    if (!k || last < 0) return 0;
    while (from > 0 && k[from - 1] > k[last] / 2) from--;
    return k[(from + last) / 2];
}

static int64_t blocks_of(const struct march *m, int64_t rows)
{
    int64_t band = (int64_t)m->far * m->steps;
    return (rows + band - 1) / band * m->tiles;
}

/* Threads of a block: whole warps, and all blocks have about the same number of rows. */
static unsigned threads_of(const struct march *m)
{
    return ((m->far + m->tiles - 1) / m->tiles + WARP - 1) / WARP * WARP;
}

/* As many steps as it takes for all blocks to run at the same time, BLOCKS_A_UNIT per multiprocessor: a second round
   of blocks would read the values to the left of its first rows again, and keep only a part of the GPU busy. One step,
   if `far` is less than a thread block. */
static struct march march_of(const struct launch *L)
{
    int64_t rows = L->A->of->rows, far = far_offset(L->A->of), most = (int64_t)BLOCKS_A_UNIT * L->A->dev->units;
    struct march m = {(unsigned)far, blocks_for(far, BLOCK), 1};
    while (far >= BLOCK && blocks_of(&m, rows) > most && (int64_t)far * m.steps < rows) m.steps++;
    if (far < BLOCK || m.steps == 1) m = {(unsigned)rows, blocks_for(rows, BLOCK), 1};
    return m;
}

template <typename T, typename OFFSETS>
using symmetric_kernel = void(unsigned, int, OFFSETS, GPTR(const T), T, GPTR(const T), T, GPTR(T), struct march);

template <typename T, typename OFFSETS> static void launch_with(const struct launch *L, OFFSETS offsets)
{
    static KERNEL_POINTER(symmetric_kernel<T, OFFSETS>)
        const kernel[AT_ONCE] = {KERNEL(dia_symmetric<T, 0, OFFSETS>), KERNEL(dia_symmetric<T, 1, OFFSETS>),
                                 KERNEL(dia_symmetric<T, 2, OFFSETS>), KERNEL(dia_symmetric<T, 3, OFFSETS>)};
    const struct stored *S = L->A->of;
    int diagonals = (int)S->a[DIA_OFFSETS].n;
    struct march m = march_of(L);
    if (S->rows == 0) return;
    LAUNCH(L->A->dev, (unsigned)blocks_of(&m, S->rows), threads_of(&m), kernel[(diagonals - diagonals / 2) % AT_ONCE])
    ((unsigned)S->rows, diagonals, offsets, ARRAY(L, DIA_DATA, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T), m);
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    struct few_offsets few;
    if (are_few(&L->A->of->a[DIA_OFFSETS], &few))
        launch_with<T>(L, few);
    else
        launch_with<T>(L, ARRAY(L, DIA_OFFSETS, int));
    return true;
}

template <typename AT> struct symmetric_rows : AT {
    enum { WIDE = 1 };
    unsigned rows;
    int diagonals;
    GPTR(const int) offsets;
    typename AT::in data;

    __device__ double row(int64_t i, typename AT::in x) const
    {
        typedef double T;
        switch ((diagonals - diagonals / 2) % AT_ONCE) {
        case 0:
            return symmetric_row<0, T>((unsigned)i, rows, diagonals, offsets, data, x);
        case 1:
            return symmetric_row<1, T>((unsigned)i, rows, diagonals, offsets, data, x);
        case 2:
            return symmetric_row<2, T>((unsigned)i, rows, diagonals, offsets, data, x);
        default:
            return symmetric_row<3, T>((unsigned)i, rows, diagonals, offsets, data, x);
        }
    }
};

template <typename T, bool DIAGONAL> static void launch_sums(const struct launch *L)
{
    typedef on_gpu<T> AT;
    const struct stored *S = L->A->of;
    int64_t n = S->rows;
    AT::run(L->A->dev, n, L->s,
            pass_cg_product<symmetric_rows<AT>, DIAGONAL>{
                {{}, (unsigned)n, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T)},
                AT::from("x", L->x, n),
                AT::from("r", L->r, n),
                AT::from("dinv", L->dinv, n),
                AT::to("y", L->y, n)});
}

template <typename T> static bool sums(const struct launch *L, struct err *)
{
    L->dinv ? launch_sums<T, true>(L) : launch_sums<T, false>(L);
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

/* The first row with a value other than 0 on diagonal d; `rows` if there is no such row. */
template <typename T> static int64_t first_row(const struct stored *S, int64_t d)
{
    int64_t k = ((const int *)S->a[DIA_OFFSETS].data)[d], first = k < 0 ? -k : 0;
    const T *data = (const T *)S->a[DIA_DATA].data + d * S->rows;
    for (int64_t i = first; i < S->rows && i + k < S->cols; i++)
        if (!(data[i] == T(0))) return i;
    return S->rows;
}

/* The number of a diagonal that has no mirror image among the n offsets k, which ascend; -1: there is none. */
static int64_t unpaired(const int *k, int64_t n)
{
    for (int64_t i = 0, j = n - 1; i <= j; i++, j--)
        if (k[i] != -k[j]) return -(int64_t)k[i] > k[j] ? i : j;
    return -1;
}

static bool refused_at(const struct stored *S, int64_t row, int64_t d, struct err *e)
{
    int64_t col = row + ((const int *)S->a[DIA_OFFSETS].data)[d];
    return fail(e, E_UNSUPPORTED,
                "the matrix is not symmetric in row %lld, column %lld (counted from 0); use the kernel dia",
                (long long)row, (long long)col);
}

/* Diagonal d has no mirror image, and its first value other than 0 is in `row`; the rows of S if all are 0. */
static bool refuse_alone(const struct stored *S, int64_t row, int64_t d, struct err *e)
{
    if (row < S->rows) return refused_at(S, row, d, e);
    return fail(e, E_UNSUPPORTED,
                "the diagonal at offset %d stores only zeros, and its mirror image is not stored; `prune` the matrix, "
                "or use the kernel dia",
                ((const int *)S->a[DIA_OFFSETS].data)[d]);
}

static bool fits(const struct stored *S, struct err *e)
{
    static int64_t (*const first[])(const struct stored *, int64_t) = {first_row<float>, first_row<double>,
                                                                       first_row<cplx<float>>, first_row<cplx<double>>};
    static int64_t (*const unequal[])(const struct stored *, int64_t) = {
        unequal_row<float>, unequal_row<double>, unequal_row<cplx<float>>, unequal_row<cplx<double>>};
    const struct array *offsets = &S->a[DIA_OFFSETS];
    const int *k = (const int *)offsets->data;
    if (S->rows != S->cols) return fail(e, E_UNSUPPORTED, "the matrix is not square; use the kernel dia");
    if (!k || !S->a[DIA_DATA].data) return true; /* not packed yet: there are no values to compare */
    int64_t alone = unpaired(k, offsets->n);
    if (alone >= 0) return refuse_alone(S, first[S->real](S, alone), alone, e);
    for (int64_t d = offsets->n / 2; d < offsets->n; d++) {
        int64_t row = unequal[S->real](S, d);
        if (row < S->rows) return refused_at(S, row, d, e);
    }
    return true;
}

static int64_t reads(const struct stored *S)
{
    int64_t all = S->a[DIA_OFFSETS].n, upper = all - all / 2;
    return all * (int64_t)sizeof(int) + upper * S->rows * (int64_t)type_size(precisions[S->real].vector);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia_symmetric) = {
    .name = "dia-symmetric",
    .about = "for symmetric matrices: only the upper diagonals are read from memory",
    .format = &format_dia,
    .source = "[ours]",
    .work = "one row per thread, or several rows far apart",
    .lesson = "Like dia, but value (i, i - k) is read from the diagonal at +k, which stores it as value (i - k, i),\n"
              "k slots earlier. That slot was read for row i - k, so it comes from the cache: for a 7-point grid, 4\n"
              "diagonals are read from memory instead of 7. On a symmetric 4x4 matrix:\n"
              "    offset  0     1            row 2 is  data(+1)[1] x[1] + data(0)[2] x[2] + data(+1)[2] x[3]\n"
              "            1     5\n"
              "            2     6\n"
              "            3     7\n"
              "            4     *\n"
              "On a large grid, a thread takes several rows, which lie a grid line or plane apart: what it reads to\n"
              "the right of one row lies to the left of its next row, and is still in the L1 cache.\n"
              "All diagonals are still stored. Before the first launch, the program checks that the matrix is\n"
              "symmetric.\n",
    .functions = {{"dia_symmetric"}},
    .deterministic = true,
    .reads = reads,
    .fits = fits,
    .fits_values = true,
    .product = {VALUE_TYPES(rows_by_threads)},
    .sums = {REALS(sums)},
};
