/* LightSpMV, a matrix-vector product for CSR: rows are not assigned in advance but taken from a counter, so that a
   vector that had a short row takes another row while its neighbour still works on a long row. */
#include "csr_rows.h"
#include "formats/fmt_csr.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, BLOCKS_PER_UNIT = 8 };

static __global__ void reset_counter(GPTR(int) counter)
{
    counter[0] = 0;
}

/* One row at a time per vector of V threads; its first lane takes the row's number and broadcasts it. x is an array or
   a texture. */
template <typename T, int V, typename X>
__global__ void light_vector(int rows, GPTR(int) counter, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                             T alpha, X x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    for (;;) {
        int row = lane == 0 ? atomicAdd(counter + 0, 1) : 0;
        row = __shfl_sync(vector_mask<V>(), row, 0, V);
        if (row >= rows) return; /* the whole vector returns */
        int begin = ptr[row], end = ptr[row + 1];
        T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
        if (lane == 0) store(y, row, alpha, sum, beta);
    }
}

/* 32/V rows at a time per warp, one for each of its vectors; one atomic addition takes all these rows. */
template <typename T, int V, typename X>
__global__ void light_warp(int rows, GPTR(int) counter, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           T alpha, X x, T beta, GPTR(T) y)
{
    int in_warp = threadIdx.x % WARP, lane = threadIdx.x % V;
    for (;;) {
        int first = in_warp == 0 ? atomicAdd(counter + 0, WARP / V) : 0;
        first = __shfl_sync(FULL_MASK, first, 0);
        if (first >= rows) return; /* the whole warp returns */
        int row = first + in_warp / V;
        if (row < rows) { /* `row` is the same for a whole vector */
            int begin = ptr[row], end = ptr[row + 1];
            T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
            if (lane == 0) store(y, row, alpha, sum, beta);
        }
        __syncwarp();
    }
}

template <typename T, typename X>
using light_kernel = void(int, GPTR(int), GPTR(const int), GPTR(const int), GPTR(const T), T, X, T, GPTR(T));

static int64_t counter_bytes(const struct mat *)
{
    return sizeof(int);
}

/* Enough blocks to fill the device, but no more than the rows need. */
static unsigned light_grid(const struct mat *M, int rows_per_block)
{
    unsigned most = (unsigned)M->dev->units * BLOCKS_PER_UNIT, needed = blocks_for(M->of->rows, rows_per_block);
    return needed < most ? needed : most;
}

/* kernel: one per vector size, see vector_choice */
template <typename T, typename X>
static void launch_light(const struct launch *L, X x, KERNEL_POINTER(light_kernel<T, X>) const *kernel)
{
    const struct stored *S = L->A->of;
    int k = vector_choice(S->rows, S->nnz);
    LAUNCH(L->A->dev, 1, 1, reset_counter)(VECTOR("counter", ROLE_WORK, L->scratch, 1, int));
    LAUNCH(L->A->dev, light_grid(L->A, BLOCK / (2 << k)), BLOCK, kernel[k])
    ((int)S->rows, VECTOR("counter", ROLE_WORK, L->scratch, 1, int), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int),
     ARRAY(L, CSR_VAL, T), (T)L->alpha, x, (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

template <typename T, typename X> static void launch_by_vector(const struct launch *L, X x)
{
    static KERNEL_POINTER(light_kernel<T, X>)
        const kernel[] = {KERNEL(light_vector<T, 2, X>), KERNEL(light_vector<T, 4, X>), KERNEL(light_vector<T, 8, X>),
                          KERNEL(light_vector<T, 16, X>), KERNEL(light_vector<T, 32, X>)};
    launch_light<T>(L, x, kernel);
}

template <typename T, typename X> static void launch_by_warp(const struct launch *L, X x)
{
    static KERNEL_POINTER(light_kernel<T, X>)
        const kernel[] = {KERNEL(light_warp<T, 2, X>), KERNEL(light_warp<T, 4, X>), KERNEL(light_warp<T, 8, X>),
                          KERNEL(light_warp<T, 16, X>), KERNEL(light_warp<T, 32, X>)};
    launch_light<T>(L, x, kernel);
}

/* ---- x as an array ---- */

template <typename T> static bool by_vector(const struct launch *L, struct err *)
{
    launch_by_vector<T>(L, VECTOR("x", ROLE_X, L->x, L->A->of->cols, const T));
    return true;
}

template <typename T> static bool by_warp(const struct launch *L, struct err *)
{
    launch_by_warp<T>(L, VECTOR("x", ROLE_X, L->x, L->A->of->cols, const T));
    return true;
}

/* ---- x as a texture ---- */

static bool fits_texture(const struct stored *S, struct err *e)
{
    if (S->cols <= TEXTURE_MAX) return true;
    return fail(e, E_LIMIT,
                "x has %lld elements, more than the %d elements of a texture; use the kernel csr-light-vector or "
                "csr-light-warp",
                (long long)S->cols, +TEXTURE_MAX);
}

static const struct bound *bind_x(const struct launch *L, struct err *e)
{
    return texture_bind(L, L->x, L->A->of->cols, e);
}

static bool make_texture(const struct launch *L, struct err *e)
{
    return bind_x(L, e) != nullptr;
}

template <typename T> static bool by_vector_textured(const struct launch *L, struct err *e)
{
    const struct bound *b = bind_x(L, e);
    if (b) launch_by_vector<T>(L, TEXTURE_OF("x", ROLE_X, b, L->x, L->A->of->cols, T));
    return b != nullptr;
}

template <typename T> static bool by_warp_textured(const struct launch *L, struct err *e)
{
    const struct bound *b = bind_x(L, e);
    if (b) launch_by_warp<T>(L, TEXTURE_OF("x", ROLE_X, b, L->x, L->A->of->cols, T));
    return b != nullptr;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_light_vector) = {
    .name = "csr-light-vector",
    .about = "like csr-cusp, but every vector takes its next row from a counter: balances uneven rows",
    .format = &format_csr,
    .source = "NOTES (LightSpMV, vector level)",
    .work = "one row at a time per 2 to 32 threads, taken by atomicAdd",
    .lesson = "Like csr-cusp, but rows are not assigned to vectors in advance: the first lane of a vector takes the\n"
              "number of the next row from a counter by atomicAdd and broadcasts it, until no rows are left.\n"
              "    counter  0 1 2 3 4 5 ...     a vector with a long row takes few numbers, other vectors take more\n"
              "Memory is read as in csr-cusp. Which vector takes which row changes from run to run, but the sum\n"
              "of a row does not depend on that: the result has the same bits every time.\n"
              "The counter is the bottleneck: an H200 performs about one warp's addition per nanosecond at one\n"
              "address. A million short rows took 121 us with V = 4 (csr-cusp: 37 us), and a\n"
              "row of 100000 entries is still one vector's work (use csr-ends).\n"
              "NOTES: both LightSpMV kernels were the slowest on all eight matrices, with similar times. There x is\n"
              "read through a texture: see csr-light-vector-texture.\n",
    .functions = {{"reset_counter", 1}, {"light_vector<*const[*]>", BLOCK}},
    .deterministic = true,
    .together = true,
    .shares = true,
    .scratch = counter_bytes,
    .product = {VALUE_TYPES(by_vector)},
};

KERNEL_ENTRY(csr_light_warp) = {
    .name = "csr-light-warp",
    .about = "like csr-light-vector, but a warp takes the rows of all its vectors with one atomic addition",
    .format = &format_csr,
    .source = "NOTES (LightSpMV, warp level)",
    .work = "32/T rows at a time per warp, one per T = 2 to 32 threads",
    .lesson = "Like csr-light-vector, but lane 0 takes 32/V rows with one atomicAdd, one row for each vector:\n"
              "    V = 8    counter += 4    rows r, r+1, r+2, r+3 for lanes 0-7, 8-15, 16-23, 24-31\n"
              "Memory is read as in csr-cusp. The vectors of a warp wait for the longest of their rows before\n"
              "they take the next rows, so the balance is a little coarser.\n"
              "The purpose of this kernel is fewer atomics. On an H200, it takes as long as csr-light-vector, most\n"
              "likely because the hardware combines a warp's additions to one address anyway. About one warp's\n"
              "addition per nanosecond is too slow for short rows (poisson2d 1000 999 with V = 4: 121 us, csr-cusp\n"
              "37 us).\n"
              "Use csr-cusp for rows of similar length, and csr-merge for uneven rows.\n",
    .functions = {{"reset_counter", 1}, {"light_warp<*const[*]>", BLOCK}},
    .deterministic = true,
    .together = true,
    .shares = true,
    .scratch = counter_bytes,
    .product = {VALUE_TYPES(by_warp)},
};

KERNEL_ENTRY(csr_light_vector_texture) = {
    .name = "csr-light-vector-texture",
    .about = "csr-light-vector with x read through a texture, as in the authors' program: shows the effect of textures",
    .format = &format_csr,
    .source = "NOTES (LightSpMV, vector level)",
    .work = "one row at a time per 2 to 32 threads, taken by atomicAdd; x through a texture",
    .lesson = "The kernel csr-light-vector, but a lane fetches its element of x through the texture units:\n"
              "    col[k] = 7    texel 7 of the texture over x\n"
              "When the kernel was written, textures used a cache next to the cores that plain loads did not use,\n"
              "so scattered reads of x were faster. Today plain loads use the same cache. A double has no texture\n"
              "type: it is fetched as two halves of 4 bytes. x may have at most 2^27 - 128 elements.\n"
              "A texture object belongs to one address: the first product with each x makes an object on the host.\n"
              "`bench` shows the time of the first one as preparation.\n"
              "NOTES: the texture made the product slower, and with the time to bind it, one product took 8 to 25\n"
              "times as long as with csr-cusp. Use this kernel only to compare it with csr-light-vector.\n",
    .functions = {{"reset_counter", 1}, {"light_vector<*texture<*>>", BLOCK}},
    .deterministic = true,
    .together = true,
    .shares = true,
    .fits = fits_texture,
    .scratch = counter_bytes,
    .prepare = make_texture,
    .release = textures_free,
    .product = {VALUE_TYPES(by_vector_textured)},
};

KERNEL_ENTRY(csr_light_warp_texture) = {
    .name = "csr-light-warp-texture",
    .about = "csr-light-warp with x read through a texture, as in the authors' program: shows the effect of textures",
    .format = &format_csr,
    .source = "NOTES (LightSpMV, warp level)",
    .work = "32/T rows at a time per warp, one per T = 2 to 32 threads; x through a texture",
    .lesson = "The kernel csr-light-warp, but a lane fetches its element of x through the texture units:\n"
              "    V = 8    counter += 4    lane l fetches texel col[ptr[row] + l % 8] of the texture over x\n"
              "The requests for ptr, col, val and y are those of csr-light-warp; the requests for x cover the same\n"
              "sectors, but go through the texture units, a double as two halves of 4 bytes. See the kernel\n"
              "csr-light-vector-texture for what a texture costs.\n"
              "NOTES: as slow as the vector level, and slower than csr-cusp on all eight matrices. Use this kernel\n"
              "only to compare it with csr-light-warp.\n",
    .functions = {{"reset_counter", 1}, {"light_warp<*texture<*>>", BLOCK}},
    .deterministic = true,
    .together = true,
    .shares = true,
    .fits = fits_texture,
    .scratch = counter_bytes,
    .prepare = make_texture,
    .release = textures_free,
    .product = {VALUE_TYPES(by_warp_textured)},
};
