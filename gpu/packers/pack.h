/* What the packers, p_FORMAT.cu, are made of: a conversion's arrays as kernels take them, and steps that several share.
 */
#ifndef PACK_H
#define PACK_H

#include "gpu/kernels/tiles.h"

#include "machine/packer.h"
#include "formats/fmt_csr.h"

#ifdef __CUDACC__
#define PACKER_SYMBOL(id) cuda_packer_##id
#else
#define PACKER_SYMBOL(id) emu_packer_##id
#endif
/* The entry that ends a packer's file. */
#define PACKER_ENTRY(id)                              \
    extern "C" const struct packer PACKER_SYMBOL(id); \
    const struct packer PACKER_SYMBOL(id)

/* The CSR matrix, the result's array k, a room of n items. */
#define PACK_PTR(p) VECTOR("ptr", ROLE_POINTERS, (p)->A->ptr[CSR_PTR], (p)->rows + 1, const int)
#define PACK_COL(p) VECTOR("col", ROLE_COLUMNS, (p)->A->ptr[CSR_COL], (p)->nnz, const int)
#define PACK_VAL(p, ...) VECTOR("val", ROLE_VALUES, (p)->A->ptr[CSR_VAL], (p)->nnz, const __VA_ARGS__)
#define PACK_OUT(p, k, ...) VECTOR((p)->S.a[k].name, (p)->S.a[k].role, (p)->out[k], (p)->S.a[k].n, __VA_ARGS__)
#define PACK_ROOM(p, r, n, ...) VECTOR(#r, ROLE_WORK, (p)->room[r].p, n, __VA_ARGS__)

/* LAUNCH_TILES(p, kernel<T>)(arguments): after cut_rows; the kernel's first arguments are PACK_TILES(p). */
#define LAUNCH_TILES(p, ...) LAUNCH((p)->dev, (unsigned)(p)->tiles, TILE_BLOCK, __VA_ARGS__)
#define PACK_TILES(p) \
    (p)->rows + (p)->nnz, PACK_ROOM(p, ROOM_CUT, 2 * ((p)->tiles + 1), const int), PACK_PTR(p), PACK_COL(p)

namespace KERNEL_SPACE
{

enum { PACK_BLOCK = 256, PACK_ROUNDS = 8 };

/* counts[key] += how many lanes have that key; -1: none. Few keys in a warp are counted by it before they meet others
   in memory. Participants: the whole warp. */
template <typename C> __device__ void count_keys(C counts, int64_t key)
{
    int lane = (int)(threadIdx.x % WARP);
    unsigned left = __ballot_sync(FULL_MASK, key >= 0);
    for (int round = 0; round < PACK_ROUNDS && left; round++) {
        int leader = __ffs((int)left) - 1;
        int64_t theirs = __shfl_sync(FULL_MASK, key, leader);
        unsigned same = __ballot_sync(FULL_MASK, key == theirs);
        if (lane == leader) atomicAdd(counts + theirs, __popc(same));
        left &= ~same;
    }
    if (left >> lane & 1) atomicAdd(counts + key, 1);
}

/* The last s of low .. high with at[s] <= i; at[low] is. */
template <typename P> __device__ int64_t last_not_above(P at, int64_t low, int64_t high, int64_t i)
{
    while (low < high) {
        int64_t mid = (low + high + 1) / 2;
        if (at[mid] <= i)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* ---- p_parts.cu ---- */

/* For a format whose sizes hang on rows, columns and number of entries alone. */
bool plan_by_shape(struct packing *p, struct err *e);
/* Cut the rows of A in tiles. */
bool cut_rows(struct packing *p, struct err *e);
bool longest_of(struct packing *p, int64_t *longest, struct err *e);
template <typename T> void launch_zero(struct device *d, void *to, int64_t n);
/* ptr[i] = at[i] for i <= n */
void launch_pointers(struct packing *p, enum room at, int64_t n, void *ptr);
/* start[b] = at[k] for the first entry k of each band of `height` rows, one more for the end; at has a place an entry.
 */
void launch_band_starts(struct packing *p, enum room at, int64_t bands, int64_t height, void *start);
/* to[i] = the int i of a room */
void launch_copy(struct packing *p, enum room from, int64_t n, void *to);
/* The diagonals that have an entry, numbered by the sums of their marks in ROOM_AT: diagonal d - rows is number at[d]
   if at[d + 1] is more. */
bool number_diagonals(struct packing *p, int64_t *diagonals, struct err *e);
/* The offsets of the diagonals that the sums of marks in ROOM_AT number, one a diagonal, to array k. */
void launch_offsets(struct packing *p, int k);
/* The first `width` entries of each row, element k of row i at k*rows + i, to array k_col and the next. */
template <typename T> void launch_ell_pack(struct packing *p, int64_t width, int k_col, int k_val);

} // namespace KERNEL_SPACE

#endif
