/* CSR to sliced blocks on a device: openers give the blocks of each block row, block rows are sorted by window and
   length, then one thread per row of a block writes its values. */
#include "formats/fmt_bsell.h"
#include "openers.h"

namespace KERNEL_SPACE
{

/* One thread per position of a row. */
__global__ void bsell_perm(int64_t rows, int b, int64_t block_rows, int64_t places, GPTR(const int64_t) sorted,
                           GPTR(int) perm)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x, k = i / b;
    if (i >= places) return;
    int64_t row = k < block_rows ? sorted[k] * b + i % b : rows;
    perm[i] = row < rows ? (int)row : -1;
}

/* The entry in column c of a row, or `end` if there is none. Tries `guess` first, which is the entry if all blocks of
   the row are full. */
template <typename P> __device__ int64_t entry_at(P col, int64_t from, int64_t end, int64_t guess, int64_t c)
{
    if (guess < end && col[guess] == c) return guess;
    int64_t at = first_not_below(col, from, end, c);
    return at < end && col[at] == c ? at : end;
}

/* One thread per row of a block of the result, TILE of them per thread block: neighbouring threads write neighbouring
   values. The next step reads the next entries of the same rows, which are still in the cache. */
template <typename T>
__global__ void bsell_pack(int b, int C, int64_t slices, int64_t items, GPTR(const int) ptr, GPTR(const int) col,
                           GPTR(const T) val, GPTR(const int) perm, GPTR(const int) slice, GPTR(const int) block_ptr,
                           GPTR(const int) block_col, GPTR(int) out_col, GPTR(T) out_val)
{
    SHARED(int, ends, 2);
    int64_t tile = (int64_t)blockIdx.x * TILE, n = min((int64_t)TILE, items - tile);
    int tall = C * b, before = (int)(tile % tall);
    int64_t first = tile / tall, last = (tile + n - 1) / tall;
    if (threadIdx.x < 2) ends[threadIdx.x] = (int)last_not_above(slice, 0, slices, threadIdx.x ? last : first);
    __syncthreads(); /* all threads of the block: `ends` is complete */
    for (int i = threadIdx.x; i < n; i += PACK_BLOCK) {
        int64_t step = first + (before + i) / tall, s = last_not_above(slice, ends[0], ends[1], step);
        int at = (before + i) % tall, row = perm[s * tall + at], k = (int)step - slice[s], block = -1;
        int from = 0, end = 0;
        if (row >= 0 && k < block_ptr[row / b + 1] - block_ptr[row / b]) {
            block = block_col[block_ptr[row / b] + k];
            from = ptr[row];
            end = ptr[row + 1];
        }
        if (at % b == 0) out_col[step * C + at / b] = block; /* the first row of a block row is inside the matrix */
        for (int c = 0; c < b; c++) {
            int64_t entry = entry_at(col, from, end, from + (int64_t)k * b + c, (int64_t)block * b + c);
            out_val[(step * b + c) * tall + at] = entry < end ? val[entry] : T(0);
        }
    }
}

/* Count the blocks of each size, in ROOM_FOUND, and choose the size as the host does. */
static bool choose_block(struct packing *p, struct err *e)
{
    int64_t blocks[BSELL_CHOICES];
    if (!cut_rows(p, e) || !packing_room(p, ROOM_FOUND, BSELL_CHOICES, sizeof *blocks, e)) return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_FOUND].p, BSELL_CHOICES);
    for (int k = 0; k < BSELL_CHOICES; k++) {
        int b = BSELL_MIN + k;
        LAUNCH_TILES(p, openers_count<by_block>)
        (PACK_TILES(p), b, b, PACK_ROOM(p, ROOM_FOUND, BSELL_CHOICES, unsigned long long) + k);
    }
    if (!packing_read(p, blocks, p->room[ROOM_FOUND].p, sizeof blocks, e)) return false;
    p->S.param[0] = bsell_choice(blocks, p->S.real);
    return true;
}

static int64_t block_rows_of(const struct packing *p)
{
    return (p->rows + p->S.param[0] - 1) / p->S.param[0];
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t steps = 0;
    if (p->S.param[0] == 0 && !choose_block(p, e)) return false;
    int64_t b = p->S.param[0], n = block_rows_of(p);
    if (!find_openers<by_block>(p, b, b, e)) return false;
    const void *ptr = p->room[ROOM_BAND].p;
    if (!sort_by_length(p, ptr, n, p->S.param[2], e) || !sum_widths(p, ptr, n, p->S.param[1], 1, &steps, e))
        return false;
    bsell_sizes(&p->S, steps);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int b = (int)p->S.param[0], C = (int)p->S.param[1];
    int64_t n = block_rows_of(p), slices = p->S.a[BSELL_PTR].n - 1, items = p->S.a[BSELL_COL].n * b;
    (void)e;
    LAUNCH(p->dev, blocks_for(p->S.a[BSELL_PERM].n, PACK_BLOCK), PACK_BLOCK, bsell_perm)
    (p->rows, b, n, p->S.a[BSELL_PERM].n, PACK_ROOM(p, order_of(p), n, const int64_t), PACK_OUT(p, BSELL_PERM, int));
    launch_pointers(p, ROOM_AT, slices, p->out[BSELL_PTR]);
    LAUNCH(p->dev, blocks_for(items, TILE), PACK_BLOCK, bsell_pack<T>)
    (b, C, slices, items, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, BSELL_PERM, const int),
     PACK_OUT(p, BSELL_PTR, const int), PACK_ROOM(p, ROOM_BAND, n + 1, const int),
     PACK_ROOM(p, ROOM_NUMBER, p->found, const int), PACK_OUT(p, BSELL_COL, int), PACK_OUT(p, BSELL_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(bsell) = {
    .format = &format_bsell,
    .about =
        "openers as for bsr, a radix sort of the block rows by window and length, then one thread per row of a block",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
