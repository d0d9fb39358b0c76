/* SpMV kernel (matrix-vector product) for CSR: every thread takes the same number of entries, whatever the row lengths,
   and one bit per entry says where the rows end. One launch, deterministic. */
#include "ends.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, WARPS = BLOCK / WARP };
static const struct ends_shape shape = {WARPS, 528, 12}; /* four blocks per multiprocessor */

/* One tile per block: see ends.h. Blocks after the tiles write the empty rows, one per thread. */
template <typename T, typename U, bool STAY>
__global__ void __launch_bounds__(BLOCK, sizeof(T) > sizeof(double) ? 2 : 4)
    ends_tile(struct ends_cut cut, GPTR(const unsigned) marks, GPTR(const int) borders, GPTR(const int) col,
              GPTR(const U) val, FRESH(const T) x, ends_result<T> out, GPTR(T) part, GPTR(unsigned) count)
{
    begin_next();
    if (blockIdx.x >= cut.tiles) {
        await_previous();
        put_empty(cut, out, (blockIdx.x - cut.tiles) * BLOCK + threadIdx.x);
        return; /* the whole block returns */
    }
    sum_tile<WARPS, STAY, false, T>(cut, marks, borders, col, val, ends_x<T>{x}, out, part, count);
}

static int64_t scratch_bytes(const struct mat *M)
{
    struct ends_cut cut = cut_of(M->of, &shape);
    return ends_bytes(&cut);
}

static int64_t bytes_read(const struct stored *S)
{
    return ends_bytes_read(S, &shape);
}

/* Sets the launch's note to the number of rows that have entries. */
static bool prepare(const struct launch *L, struct err *e)
{
    struct ends_cut cut = cut_of(L->A->of, &shape);
    if (!find_ends(L, parts_of(L->scratch, &cut), &cut, e)) return false;
    *L->note = (uint64_t)cut.ranks;
    return true;
}

template <typename T, typename U, bool STAY>
static void launch(const struct launch *L, const struct ends_cut &cut, const struct ends_parts &p)
{
    struct ends_result<T> out = {
        VECTOR("y", ROLE_Y, L->y, cut.rows, T), ENDS_ROWS(p, cut), (T)L->alpha, (T)L->beta
    };
    FOLLOW(L->A->dev, (unsigned)cut.tiles + blocks_for(cut.rows - cut.ranks, BLOCK), BLOCK, ends_tile<T, U, STAY>)
    (cut, ENDS_MARKS(p, const unsigned), ENDS_BORDERS(p, cut, const int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U),
     VECTOR("x", ROLE_X, L->x, L->A->of->cols, const T), out, VECTOR("part", ROLE_WORK, p.part, 2 * cut.tiles, T),
     ENDS_COUNT(p, cut));
}

template <typename T, typename U = T> static bool ends(const struct launch *L, struct err *)
{
    struct ends_cut cut = cut_of(L->A->of, &shape);
    struct ends_parts p = parts_of(L->scratch, &cut);
    cut.ranks = (int64_t)*L->note;
    cut.stay = staying(L, cut.tiles);
    (cut.stay ? launch<T, U, true> : launch<T, U, false>)(L, cut, p);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_ends) = {
    .name = "csr-ends",
    .about = "equal shares of the entries, and a bit per entry for the ends of rows: fast whatever the row lengths",
    .format = &format_csr,
    .source = "[ours]; end bits: Yan et al. 2014, Liu and Vinter 2015",
    .work = "4 neighbouring entries of each chunk of 128",
    .lesson = "Every lane takes 4 neighbouring entries, wherever rows begin and end. A bit per entry marks the last\n"
              "entry of each row. On the 4x4 example:\n"
              "    val   1  7  2  8 | 5  3  9  6 | 4         lanes 0, 1 and 2\n"
              "    end   0  1  0  1 | 0  0  1  0 | 1\n"
              "Lane 0 finishes rows 0 and 1, lane 1 finishes row 2. Its last sum, 6, goes to lane 2 in a scan over\n"
              "the lanes (5 shuffle steps), to which every row is equally expensive. A second word per 32 entries\n"
              "counts the rows before them, so that a lane knows where in y its sums belong: the kernel does not\n"
              "read ptr, and the loads of the matrix begin at once. The next 128 entries are loaded while 128 are\n"
              "summed. A lane's entries are loaded 16 bytes at a time.\n"
              "The sums of the warps meet in shared memory. A row that crosses the border of two blocks is finished\n"
              "by the second block, which reads the entries before the border again, if they are fewer than 1024.\n"
              "The blocks of a longer row write their pieces, and the last one to arrive adds them in the order of\n"
              "the blocks: one launch, and the same bits in every run.\n",
    .functions = {{"ends_tile", BLOCK}},
    .deterministic = true,
    .together = true,
    .separable = true,
    .follows = true,
    .reads = bytes_read,
    .scratch = scratch_bytes,
    .prepare = prepare,
    .product = {VALUE_TYPES(ends), NARROW_TYPES(ends)},
};
