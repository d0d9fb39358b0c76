/* Kernels over VAB: four products per thread, whatever the rows are; then the sums of the pieces by rows. */
#include "texture.h"

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
    for (int e = 0; e < VAB_PIECE; e++, slot += blockDim.x) sum += val[slot] * x[col[slot]];
    partial[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* One row per thread, which reads the partial sums of its pieces: neighbouring rows read a row's pieces apart. */
template <typename T>
__global__ void vab_rows(unsigned rows, GPTR(const int) row_piece, GPTR(const T) partial, T alpha, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = row_piece[row + 1];
    T sum = 0;
#pragma unroll 1
    for (int p = row_piece[row]; p < end; p++) sum += partial[p];
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

/* The same, but the partial sums are fetched by way of the texture units. */
template <typename T>
__global__ void vab_rows_texture(unsigned rows, GPTR(const int) row_piece, TEXTURE(T) partial, T alpha, T beta,
                                 GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = row_piece[row + 1];
    T sum = 0;
#pragma unroll 1
    for (int p = row_piece[row]; p < end; p++) sum += texel<T>(partial, p);
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
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
    (ARRAY(L, VAB_VAL, T), ARRAY(L, VAB_COL, int), VECTOR("x", L->x, S->cols, const T),
     VECTOR("partial", L->scratch, pieces, T));
}

template <typename T> static bool plain(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    launch_pieces<T>(L);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, vab_rows<T>)
    ((unsigned)S->rows, ARRAY(L, VAB_ROW_PIECE, int), VECTOR("partial", L->scratch, pieces_of(S), const T), (T)L->alpha,
     (T)L->beta, VECTOR("y", L->y, S->rows, T));
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
    const struct stored *S = L->A->of;
    launch_pieces<T>(L);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, vab_rows_texture<T>)
    ((unsigned)S->rows, ARRAY(L, VAB_ROW_PIECE, int), TEXTURE_OF("partial", *L->note, L->scratch, pieces_of(S), T),
     (T)L->alpha, (T)L->beta, VECTOR("y", L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(vab_texture) = {
    .name = "vab-texture",
    .format = "vab",
    .about = "vab with its partial sums read as a texture, as the paper does: to measure what that brings",
    .source = "Liang 2012, sec. 2.4.2",
    .work = "four elements of one row per thread, then one row per thread",
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
    .format = "vab",
    .about = "every thread has four products and a warp's reads coalesce; the partial sums cost a second pass",
    .source = "Liang 2012, sec. 2.3",
    .work = "four elements of one row per thread, then one row per thread",
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

template <typename T> static bool vab_host(const struct launch *L, int threads)
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
        y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
    }
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return vab_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return vab_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(vab_serial) = {
    .name = "vab-serial",
    .format = "vab",
    .about = "the serial host loop over the pieces of each row",
    .source = "[ours]",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(vab_openmp) = {
    .name = "vab-openmp",
    .format = "vab",
    .about = "the host loop on all cores",
    .source = "[ours]",
    .work = "1024 rows at a time per host thread",
    .deterministic = true,
    .host = true,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
