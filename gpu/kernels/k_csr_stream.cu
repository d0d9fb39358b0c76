/* CSR-Stream, a matrix-vector product for CSR (Greathouse and Daga 2014): a block computes the products with coalesced
   reads and stores them in shared memory; then each thread sums one row. */
#include "formats/fmt_csr.h"
#include "matrix/csr.h"
#include "stream.h"

namespace KERNEL_SPACE
{

enum { ROUND = 128 }; /* bytes once around the 32 banks of shared memory */

/* One unused slot after every ROUND bytes, so that such rows begin in neighbouring banks:
       slot      0  1 .. 15 16  17 18 .. 32 33  34 ..     fp64
       product   0  1 .. 15  *  16 17 .. 31  *  32 ..     */
template <typename T> struct stream_padded {
    static __device__ constexpr int slot(int i) { return i + i / (ROUND / (int)sizeof(T)); }
};

template <typename T, typename U, typename LAYOUT>
__global__ void csr_stream(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                           FRESH(const T) x, T beta, GPTR(T) y)
{
    begin_next();
    int64_t first = (int64_t)blockIdx.x * VEC_BLOCK, row = first + threadIdx.x;
    T sum = stream_row<T, LAYOUT>(first, rows, ptr, col, val, x);
    if (row < rows) store(y, row, alpha, sum, beta);
}

/* The last block that finishes stores the sums for CG, as in CG's passes over vectors. */
struct stream_sums {
    enum { SUMS = 3 };
    __device__ void end(GPTR(double) s, vec_sums t) const { cg_keep(s, t); }
};

/* The products of a row are added in fp64, whatever the type of y: in fp32, cg would take more iterations. */
template <typename T, typename U, int V, bool DIAGONAL>
__global__ void __launch_bounds__(VEC_BLOCK, 5)
    csr_stream_sums(int64_t rows, FRESH(double) s, GPTR(unsigned) ticket, GPTR(const int) ptr, GPTR(const int) col,
                    GPTR(const U) val, FRESH(const T) x, FRESH(const T) r, GPTR(const T) dinv, GPTR(T) y)
{
    begin_next();
    bool begun = false, careful = false;
    vec_sums t = {0, 0, 0};
    for (int64_t first = (int64_t)blockIdx.x * (VEC_BLOCK / V); first < rows; first += vec_stride() / V) {
        double q = stream_row<double, stream_plain, V>(first, rows, ptr, col, val, x);
        if (!begun) {                   /* the scalars are there since the previous launch ended */
            if (s[S_DONE] != 0) return; /* all threads of the grid */
            careful = s[S_CAREFUL] != 0;
            begun = true;
        }
        int64_t row = first + threadIdx.x / V;
        if (row >= rows || threadIdx.x % V > 0) continue;
        y[row] = (T)q;
        t = vec_joined<stream_sums>(t, cg_terms<DIAGONAL>(row, x, q, r, dinv, careful));
    }
    await_previous();
    stream_sums end;
    vec_finish(s, ticket, end, t);
}

/* SEVERAL_ROWS: with at most this many rows, blocks of 256 rows would leave multiprocessors idle; four threads then sum
   a row, if it has at least SEVERAL_FROM entries on average. On an H200, cg takes 10.6 us per iteration for Dubcova1
   (one thread: 13.8), but 23.4 for fem 200 (22.9). */
enum { SEVERAL_ROWS = 1 << 16, SEVERAL_FROM = 8 };

/* Measured on an H200: with at most 32 entries per row, no CSR kernel after this one is faster. With few entries,
   blocks of 256 rows leave multiprocessors idle, and csr-adaptive is faster, but not in cg, where it takes 1.2 times as
   long: it computes no inner products, or has several times as many blocks whose sums are added. */
static bool short_rows(const struct csr *A)
{
    return !csr_has_row_above(A, 32);
}

#define OF_CSR(L, U) ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U)

template <typename T, typename U, typename LAYOUT> static bool stream(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    FOLLOW(L->A->dev, blocks_for(S->rows, VEC_BLOCK), VEC_BLOCK, csr_stream<T, U, LAYOUT>)
    (S->rows, OF_CSR(L, U), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T, typename U = T> static bool plain(const struct launch *L, struct err *e)
{
    return stream<T, U, stream_plain>(L, e);
}

template <typename T> static bool padded(const struct launch *L, struct err *e)
{
    return stream<T, T, stream_padded<T>>(L, e);
}

template <typename T, typename U, int V, bool DIAGONAL> static void launch_sums(const struct launch *L)
{
    int64_t n = L->A->of->rows;
    double *s = L->s;
    unsigned blocks = vec_grid(L->A->dev, V * n * VEC_EACH, 5); /* V threads take one row at a time */
    vec_launch(L->A->dev, blocks, csr_stream_sums<T, U, V, DIAGONAL>)(
        n, SCALARS_OF(s), TICKET_OF(s), OF_CSR(L, U), VECTOR("x", ROLE_X, L->x, n, const T),
        VECTOR("r", ROLE_WORK, L->r, n, const T), VECTOR("dinv", ROLE_WORK, L->dinv, n, const T),
        VECTOR("y", ROLE_Y, L->y, n, T));
}

template <typename T, typename U, int V> static void launch_sums_of(const struct launch *L)
{
    L->dinv ? launch_sums<T, U, V, true>(L) : launch_sums<T, U, V, false>(L);
}

template <typename T, typename U = T> static bool sums(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    bool several = S->nnz >= SEVERAL_FROM * S->rows && S->rows <= SEVERAL_ROWS;
    several ? launch_sums_of<T, U, 4>(L) : launch_sums_of<T, U, 1>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_stream) = {
    .name = "csr-stream",
    .about = "values and columns read coalesced, whatever the row lengths; rows are summed in shared memory",
    .format = &format_csr,
    .source = "Greathouse and Daga 2014",
    .work = "one row per thread for the sum; every 256th entry of the block's 256 rows for the products",
    .lesson = "A block has 256 neighbouring rows, whose entries are one stretch of val and col. Its threads read\n"
              "the stretch by coalesced loads and store the products in shared memory. Then thread t sums the\n"
              "products of row t. On the 4x4 example with blocks of 4 threads:\n"
              "    product  1  7  2  8 | 5  3  9  6 | 4     read by threads 0 1 2 3 | 0 1 2 3 | 0\n"
              "    sum      thread 0: 1 7   thread 1: 2 8   thread 2: 5 3 9   thread 3: 6 4\n"
              "Every request for val and col is coalesced, while a request of csr-scalar touches up to 32 sectors.\n"
              "Rows may start anywhere in shared memory at no cost. Only the reads of x stay uncoalesced.\n"
              "On an H200, csr-stream is the fastest CSR kernel for short rows: poisson2d 1000 999 takes 24 us\n"
              "(csr-scalar 28, cusparse-csr1-prep 36), and fem 200 200 takes 18 us (csr-scalar 25,\n"
              "cusparse-csr1-prep 20). A single thread sums a long row: use csr-ends for matrices with long rows.\n",
    .functions = {{"csr_stream<*stream_plain>", VEC_BLOCK}},
    .deterministic = true,
    .follows = true,
    .best = short_rows,
    .product = {VALUE_TYPES(plain), NARROW_TYPES(plain)},
    .sums = {REALS(sums), NO_PAIRS, NARROW_TYPES(sums)},
};

KERNEL_ENTRY(csr_stream_padded) = {
    .name = "csr-stream-padded",
    .about = "csr-stream with an unused slot after every 128 bytes of shared memory, against bank conflicts",
    .format = &format_csr,
    .source = "csr-stream; padding against bank conflicts: NVIDIA's guide",
    .work = "one row per thread for the sum; every 256th entry of the block's 256 rows for the products",
    .lesson = "Like csr-stream, but an unused slot follows every 128 bytes of products in shared memory. With 16\n"
              "entries per row, the products of a row go once around the 32 banks (fp64):\n"
              "    row             0   1   2   3 ..\n"
              "    csr-stream      0   0   0   0 ..    bank of the row's first product: all lanes use one bank\n"
              "    padded          0   2   4   6 ..\n"
              "csr-stream then needs 32 wavefronts to read one product per lane. The padded kernel needs two, the\n"
              "least for 8-byte values. Rows whose length is odd have no conflicts without padding, and some with\n"
              "padding: compare `count` of both kernels.\n"
              "The padding takes 1/16 more shared memory in fp64, and one more shift and addition per access.\n"
              "THESIS: the threads that read together should use different banks (sec. 3.4.2).\n",
    .functions = {{"csr_stream<*stream_padded<*>>", VEC_BLOCK}},
    .deterministic = true,
    .follows = true,
    .product = {VALUE_TYPES(padded)},
};
