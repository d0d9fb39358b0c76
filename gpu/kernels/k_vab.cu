/* SpMV kernels (matrix-vector products) for VAB. In the first launch, each thread computes four
   products. In the second launch, each thread adds the sums of the pieces of one row. */
#include "formats/fmt_vab.h"
#include "texture.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, BLOCK_MAX = 1024 };

/* One piece per thread. Elements with the same index in neighbouring pieces are stored in
   neighbouring slots, so a warp reads 32 neighbouring slots of val and of col in each of the four
   steps; x is gathered. Coalesced stores write the partial sums. */
template <typename T>
__global__ void __launch_bounds__(BLOCK_MAX)
    vab_pieces(GPTR(const T) val, GPTR(const int) col, GPTR(const T) x, GPTR(T) partial)
{
    int64_t slot = (int64_t)blockIdx.x * VAB_PIECE * blockDim.x + threadIdx.x;
    T sum = 0;
    AHEAD(UNROLL_AUTO)
    for (int e = 0; e < VAB_PIECE; e++, slot += blockDim.x) sum += val[slot] * x[col[slot]];
    partial[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* One thread per row: the thread reads the row's partial sums from memory or through texture
   units. If each row has n pieces, neighbouring threads read partial sums that are n slots apart. */
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

/* ---- on the host: memory for the partial sums, their texture, and the launches ---- */

static int64_t pieces_of(const struct stored *S)
{
    return S->a[VAB_VAL].n / VAB_PIECE;
}

static int64_t partial_bytes(const struct mat *M)
{
    return pieces_of(M->of) * (int64_t)type_size(precisions[M->of->real].vector);
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
    if (pieces_of(S) <= TEXTURE_MAX) return true;
    return fail(e, E_LIMIT,
                "vab-texture: the matrix has %lld pieces, more than the %d elements of a texture; use the kernel vab",
                (long long)pieces_of(S), +TEXTURE_MAX);
}

static const struct bound *bind_sums(const struct launch *L, struct err *e)
{
    return texture_bind(L, L->scratch, pieces_of(L->A->of), e);
}

static bool make_texture(const struct launch *L, struct err *e)
{
    return bind_sums(L, e) != nullptr;
}

template <typename T> static bool textured(const struct launch *L, struct err *e)
{
    [[maybe_unused]] const struct bound *b = bind_sums(L, e);
    if (!b) return false;
    launch_pieces<T>(L);
    launch_rows<T>(L, TEXTURE_OF("partial", ROLE_WORK, b, L->scratch, pieces_of(L->A->of), T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(vab_texture) = {
    .name = "vab-texture",
    .about = "vab with its partial sums read through a texture, as in the paper: shows the effect of textures",
    .format = &format_vab,
    .source = "THESIS, sec. 2.4.2, fig. 2.10",
    .work = "four elements of one row per thread, then one row per thread",
    .lesson = "The first pass works like vab. In the second pass, a thread adds the partial sums of its row, which\n"
              "it fetches through the texture units, as in the paper:\n"
              "    partial  p0 | p1 p2 p3 | p4 | p5 p6     rows 0, 1, 2, 3: thread t adds the sums of row t\n"
              "The GPU of the paper cached textures but not plain reads of global memory, so textures made\n"
              "scattered reads faster. Today plain reads use the same cache, and a double must be fetched as two\n"
              "halves of 4 bytes. The kernel also needs a texture object of at most 2^27 elements, which is made\n"
              "once.\n"
              "NOTES: textures for x made the product slower. Use this kernel only to compare it with vab.\n",
    .functions = {{"vab_pieces"}, {"vab_rows<*texture<*>>", BLOCK}},
    .deterministic = true,
    .fits = fits_texture,
    .scratch = partial_bytes,
    .prepare = make_texture,
    .release = textures_free,
    .product = {VALUE_TYPES(textured)},
};

KERNEL_ENTRY(vab) = {
    .name = "vab",
    .about = "every thread has four products and reads are coalesced; the partial sums need a second pass",
    .format = &format_vab,
    .source = "THESIS, sec. 2.3.2",
    .work = "four elements of one row per thread, then one row per thread",
    .lesson = "Rows are cut into pieces of 4 elements, one piece per thread. The 4x4 example (* is padding):\n"
              "    step 1      step 2      step 3      step 4\n"
              "    1 2 5 6     7 8 3 4     * * 9 *     * * * *\n"
              "    0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     thread, one for each row here\n"
              "In each step, a warp reads 32 neighbouring slots: 4 sectors of columns and 8 sectors of fp64 values.\n"
              "Every thread has the same work, and a long row is spread over many threads and blocks.\n"
              "The sums of the pieces are written to memory, and a second launch adds them, one thread per row.\n"
              "This moves 16 more bytes per piece, and a very long row keeps one thread busy for a long time.\n"
              "Rows of 1 or 2 elements fill at most half a piece: use csr-scalar for them, sell for rows of similar\n"
              "length, and csr-ends for long rows.\n"
              "THESIS: 102158 rows of about 4 elements took 115 us (CSR: 632 us); 4307 such rows took 55 us\n"
              "(CSR: 51 us).\n",
    .functions = {{"vab_pieces"}, {"vab_rows<*const[*]>", BLOCK}},
    .deterministic = true,
    .scratch = partial_bytes,
    .product = {VALUE_TYPES(plain)},
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
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            T sum = 0;
            for (int p = row_piece[row]; p < row_piece[row + 1]; p++) {
                int64_t slot = p / block * VAB_PIECE * block + p % block;
                sum += piece_sum(val + slot, col + slot, x, block);
            }
            store(y, row, alpha, sum, beta);
        }
    });
}

HOST_ENTRIES(vab, "vab", vab_host, "the serial host loop over the pieces of each row", "[ours]", "1024 rows at a time",
             "The pieces of a row are added in order. If a thread block has n threads, the elements of a piece are\n"
             "n slots apart, so each element is in a different cache line; the next pieces use the same lines.\n"
             "No partial sums are stored.\n");
#endif
