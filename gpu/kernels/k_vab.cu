/* Kernels over VAB: four products per thread, whatever the rows are; then the sums of the pieces by rows. */
#include "texture.h"
#include "formats/fmt_vab.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, BLOCK_MOST = 1024 };

/* One piece per thread. Element e of all pieces of a thread block lies side by side, so that each of the four steps
   reads 32 neighbouring slots of val and of col; x is gathered. The partial sums are written side by side. */
template <typename T>
__global__ void __launch_bounds__(BLOCK_MOST)
    vab_pieces(GPTR(const T) val, GPTR(const int) col, GPTR(const T) x, GPTR(T) partial)
{
    int64_t slot = (int64_t)blockIdx.x * VAB_PIECE * blockDim.x + threadIdx.x;
    T sum = 0;
    AHEAD(UNROLL_AUTO)
    for (int e = 0; e < VAB_PIECE; e++, slot += blockDim.x) sum += val[slot] * x[col[slot]];
    partial[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* One row per thread, which reads the partial sums of its pieces, from memory or by way of the texture units:
   neighbouring rows read a row's pieces apart. */
template <typename T, typename SUMS>
__global__ void vab_rows(unsigned rows, GPTR(const int) row_piece, SUMS partial, T alpha, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = row_piece[row + 1];
    T sum = 0;
    UNROLL(1)
    for (int p = row_piece[row]; p < end; p++) sum += texel<T>(partial, p);
    store(y, row, alpha, sum, beta);
}

/* ---- on the host: the partial sums that are kept, their texture, and the launches ---- */

static int64_t pieces_of(const struct stored *S)
{
    return S->a[VAB_VAL].n / VAB_PIECE;
}

static int64_t partial_bytes(const struct mat *M)
{
    return pieces_of(M->of) * (int64_t)type_size(M->of->real);
}

template <typename T> static void launch_pieces(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t pieces = pieces_of(S);
    LAUNCH(L->A->dev, (unsigned)(pieces / S->param[0]), (unsigned)S->param[0], vab_pieces<T>)
    (ARRAY(L, VAB_VAL, T), ARRAY(L, VAB_COL, int), VECTOR("x", ROLE_X, L->x, S->cols, const T),
     VECTOR("partial", ROLE_WORK, L->scratch, pieces, T));
}

template <typename T, typename SUMS> static void launch_rows(const struct launch *L, SUMS partial)
{
    int64_t rows = L->A->of->rows;
    LAUNCH(L->A->dev, blocks_for(rows, BLOCK), BLOCK, vab_rows<T, SUMS>)
    ((unsigned)rows, ARRAY(L, VAB_ROW_PIECE, int), partial, (T)L->alpha, (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, rows, T));
}

template <typename T> static bool plain(const struct launch *L, struct err *)
{
    launch_pieces<T>(L);
    launch_rows<T>(L, VECTOR("partial", ROLE_WORK, L->scratch, pieces_of(L->A->of), const T));
    return true;
}

static bool fits_texture(const struct stored *S, struct err *e)
{
    if (pieces_of(S) <= TEXTURE_MOST) return true;
    return fail(e, E_LIMIT,
                "vab-texture: a texture has at most %d elements, the matrix has %lld pieces; use the kernel vab",
                +TEXTURE_MOST, (long long)pieces_of(S));
}

/* Without pieces no row fetches anything. */
static bool make_texture(const struct launch *L, struct err *e)
{
    const struct stored *S = L->A->of;
    return !pieces_of(S) || texture_new(L->A->dev, L->scratch, pieces_of(S), S->real, L->note, e);
}

template <typename T> static bool textured(const struct launch *L, struct err *)
{
    launch_pieces<T>(L);
    launch_rows<T>(L, TEXTURE_OF("partial", *L->note, L->scratch, pieces_of(L->A->of), T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(vab_texture) = {
    .name = "vab-texture",
    .about = "vab with its partial sums read as a texture, as the paper does: to measure what that brings",
    .format = &format_vab,
    .source = "Liang 2012, sec. 2.4.2",
    .work = "four elements of one row per thread, then one row per thread",
    .lesson = "The first pass is that of vab. In the second, where a thread adds up the partial sums of its row,\n"
              "they are fetched by way of the texture units, as the paper does:\n"
              "    partial  p0 | p1 p2 p3 | p4 | p5 p6     rows 0, 1, 2, 3: thread t adds up those of row t\n"
              "The GPU of the paper cached textures but not plain reads of global memory: scattered reads gained.\n"
              "Today plain reads go through the same cache, and a double must be fetched as two halves of 4 bytes.\n"
              "What it needs on top is a texture object, made once, of at most 2^27 elements.\n"
              "NOTES tried textures for x and found that they harm. Compare with vab on your own device; use vab.\n",
    .deterministic = true,
    .fits = fits_texture,
    .scratch = partial_bytes,
    .prepare = make_texture,
    .release = texture_free,
    .f32 = textured<float>,
    .f64 = textured<double>,
};

KERNEL_ENTRY(vab) = {
    .name = "vab",
    .about = "every thread has four products and a warp's reads coalesce; the partial sums cost a second pass",
    .format = &format_vab,
    .source = "Liang 2012, sec. 2.3",
    .work = "four elements of one row per thread, then one row per thread",
    .lesson = "Rows are cut in pieces of 4 elements, a thread has a piece. The 4x4 example (* padding):\n"
              "    step 1      step 2      step 3      step 4\n"
              "    1 2 5 6     7 8 3 4     * * 9 *     * * * *\n"
              "    0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     thread, one for each row here\n"
              "Elements lie so that each step reads 32 neighbouring slots, 4 sectors of columns and 8 of fp64\n"
              "values; every thread has the same work, and a long row is spread over many threads and blocks.\n"
              "The sums of the pieces go to memory, and a second launch adds them up, a thread a row: that is 16\n"
              "more bytes a piece, and with one very long row, one thread that adds for long. Rows of 1 or 2\n"
              "elements fill a piece to a half at most: use csr-scalar there, sell where rows are alike, csr-merge\n"
              "for long rows.\n"
              "THESIS: 102158 rows of about 4 elements: 115 us, CSR 632 us; 4307 such rows: 55 us, CSR 51 us.\n",
    .deterministic = true,
    .scratch = partial_bytes,
    .f32 = plain<float>,
    .f64 = plain<double>,
};

#ifndef __CUDACC__
template <typename T> static T piece_sum(const T *val, const int *col, const T *x, int64_t block)
{
    T sum = 0;
    for (int e = 0; e < VAB_PIECE; e++) sum += val[e * block] * x[col[e * block]];
    return sum;
}

template <typename T> static void vab_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *row_piece = (const int *)L->A->ptr[VAB_ROW_PIECE], *col = (const int *)L->A->ptr[VAB_COL];
    const T *val = (const T *)L->A->ptr[VAB_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t block = S->param[0];
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) if (threads > 1)
    for (int64_t row = 0; row < S->rows; row++) {
        T sum = 0;
        for (int p = row_piece[row]; p < row_piece[row + 1]; p++) {
            int64_t slot = p / block * VAB_PIECE * block + p % block;
            sum += piece_sum(val + slot, col + slot, x, block);
        }
        store(y, row, alpha, sum, beta);
    }
}

HOST_ENTRIES(vab, "vab", vab_host, "the serial host loop over the pieces of each row", "[ours]", "1024 rows at a time",
             "A row's pieces are added up in order; their elements lie a thread block's width apart, so each one\n"
             "comes from another cache line, which the next pieces use again. No partial sums are kept.\n");
#endif
