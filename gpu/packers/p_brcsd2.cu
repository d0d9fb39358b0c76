/* CSR to BRCSD-II on a device: openers give the diagonals of each block; a block with the same offsets as the previous
   block shares the record of that block. */
#include "formats/fmt_brcsd2.h"
#include "openers.h"

namespace KERNEL_SPACE
{

/* Thread b: how many integers block b adds to the records: a count plus its offsets, or nothing if its offsets equal
   the offsets of the previous block. */
__global__ void brcsd2_records(int64_t blocks, GPTR(const int) dnum, GPTR(const int) offsets, GPTR(int64_t) at)
{
    int64_t b = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (b >= blocks) return;
    int first = dnum[b], n = dnum[b + 1] - first, before = b > 0 ? first - dnum[b - 1] : -1, d = 0;
    if (n == before)
        while (d < n && offsets[first + d] == offsets[first - n + d]) d++;
    at[b] = n == before && d == n ? 0 : 1 + n;
}

/* Thread b: the index at which block b's record begins; the last block of a record counts the blocks of the record. */
__global__ void brcsd2_ptr(int64_t blocks, GPTR(const int) dnum, GPTR(const int64_t) at, GPTR(int) ptr, GPTR(int) out)
{
    int64_t b = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (b >= blocks) return;
    int64_t record = at[b + 1] - 1 - (dnum[b + 1] - dnum[b]);
    ptr[b] = (int)record;
    if (b + 1 < blocks && at[b + 2] == at[b + 1]) return;
    out[record] = (int)(b + 1 - last_not_above(at, 0, b, record));
}

/* Thread d writes offset d if the block of offset d starts a record. */
__global__ void brcsd2_offsets(int64_t blocks, int64_t diagonals, GPTR(const int) dnum, GPTR(const int) offsets,
                               GPTR(const int64_t) at, GPTR(int) out)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (d >= diagonals) return;
    int64_t b = last_not_above(dnum, 0, blocks, d);
    if (at[b + 1] > at[b]) out[at[b] + 1 + d - dnum[b]] = offsets[d];
}

static int64_t blocks_of(const struct packing *p)
{
    return (p->rows + p->S.param[0] - 1) / p->S.param[0];
}

#define BRCSD2_BLOCKS(p) PACK_ROOM(p, ROOM_BAND, blocks_of(p) + 1, const int)
#define BRCSD2_KEYS(p) PACK_ROOM(p, ROOM_NUMBER, (p)->found, const int)

static bool plan(struct packing *p, struct err *e)
{
    int64_t n = blocks_of(p), records = 0;
    if (!find_openers<by_diagonal>(p, p->S.param[0], 1, e) || !packing_room(p, ROOM_MORE, n + 1, sizeof(int64_t), e))
        return false;
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, brcsd2_records)
    (n, BRCSD2_BLOCKS(p), BRCSD2_KEYS(p), PACK_ROOM(p, ROOM_MORE, n + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_MORE, n, &records, e) && brcsd2_sizes(&p->S, records, p->found, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t n = blocks_of(p);
    auto at = PACK_ROOM(p, ROOM_MORE, n + 1, const int64_t);
    (void)e;
    launch_copy(p, ROOM_BAND, n + 1, p->out[BRCSD2_DNUM]);
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, brcsd2_ptr)
    (n, BRCSD2_BLOCKS(p), at, PACK_OUT(p, BRCSD2_PTR, int), PACK_OUT(p, BRCSD2_OFFSETS, int));
    LAUNCH(p->dev, blocks_for(p->found, PACK_BLOCK), PACK_BLOCK, brcsd2_offsets)
    (n, p->found, BRCSD2_BLOCKS(p), BRCSD2_KEYS(p), at, PACK_OUT(p, BRCSD2_OFFSETS, int));
    launch_zero<T>(p->dev, p->out[BRCSD2_DATA], p->S.a[BRCSD2_DATA].n);
    LAUNCH_TILES(p, bands_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), p->S.param[0], BRCSD2_BLOCKS(p), BRCSD2_KEYS(p), PACK_OUT(p, BRCSD2_DATA, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(brcsd2) = {
    .format = &format_brcsd2,
    .about = "finds each block's diagonals as in hdia; one thread compares a block with the previous block",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
