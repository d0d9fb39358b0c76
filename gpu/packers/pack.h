/* Used by the packers (p_FORMAT.cu): macros that pass the arrays of a conversion to kernels, and steps that several
   packers share. */
#ifndef PACK_H
#define PACK_H

#include "gpu/kernels/tiles.h"

#include "formats/fmt_csr.h"
#include "machine/packer.h"

#ifdef __CUDACC__
#define PACKER_SYMBOL(id) cuda_packer_##id
#else
#define PACKER_SYMBOL(id) emu_packer_##id
#endif
/* The packer's registry entry, at the end of each packer's file. */
#define PACKER_ENTRY(id)                              \
    extern "C" const struct packer PACKER_SYMBOL(id); \
    const struct packer PACKER_SYMBOL(id)

/* {VALUE_TYPES(pack), BITS_16(pack)}: a packer moves values without computing with them, so only their size matters. */
#define BITS_16(pack) pack<uint16_t>, pack<uint16_t>

/* Launch arguments: the arrays of the CSR matrix, array k of the result, and the first n items of work area r. */
#define PACK_PTR(p) VECTOR("ptr", ROLE_POINTERS, (p)->A->ptr[CSR_PTR], (p)->rows + 1, const int)
#define PACK_COL(p) VECTOR("col", ROLE_COLUMNS, (p)->A->ptr[CSR_COL], (p)->nnz, const int)
#define PACK_VAL(p, ...) VECTOR("val", ROLE_VALUES, (p)->A->ptr[CSR_VAL], (p)->nnz, const __VA_ARGS__)
#define PACK_OUT(p, k, ...) VECTOR((p)->S.a[k].name, (p)->S.a[k].role, (p)->out[k], (p)->S.a[k].n, __VA_ARGS__)
#define PACK_ROOM(p, r, n, ...) VECTOR(#r, ROLE_WORK, (p)->room[r].p, n, __VA_ARGS__)

/* LAUNCH_TILES(p, kernel<T>)(arguments): one block per tile, after cut_rows. The kernel's first arguments are
   PACK_TILES(p). */
#define LAUNCH_TILES(p, ...) LAUNCH((p)->dev, (unsigned)(p)->tiles, TILE_BLOCK, __VA_ARGS__)
#define PACK_TILES(p) \
    (p)->rows + (p)->nnz, PACK_ROOM(p, ROOM_CUT, 2 * ((p)->tiles + 1), const int), PACK_PTR(p), PACK_COL(p)

namespace KERNEL_SPACE
{

enum { PACK_BLOCK = 256, PACK_ROUNDS = 8 };

/* counts[key] += 1 for the key of each lane; -1: no key. Equal keys of a warp are counted within the warp first, for up
   to PACK_ROUNDS keys, which saves atomic additions. Participants: the whole warp. */
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

/* The last s in low .. high with at[s] <= i. Requires at[low] <= i. */
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

/* The plan of a format whose sizes depend only on rows, columns and nnz. */
bool plan_by_shape(struct packing *p, struct err *e);
/* Divide the rows of A into tiles of TILE steps; the result goes to ROOM_CUT and p->tiles. */
bool cut_rows(struct packing *p, struct err *e);
/* *longest: the length of the longest row. */
bool longest_of(struct packing *p, int64_t *longest, struct err *e);
/* The same for rows that begin at ptr[0 .. rows], on the device. */
bool longest_between(struct packing *p, const void *ptr, int64_t rows, int64_t *longest, struct err *e);
template <typename T> void launch_zero(struct device *d, void *to, int64_t n);
/* ptr[i] = at[i] for i <= n */
void launch_pointers(struct packing *p, enum room at, int64_t n, void *ptr);
/* start[b] = at[k] for the first entry k of each band of `height` rows, plus one value for the end. The work area `at`
   has one value per entry. */
void launch_band_starts(struct packing *p, enum room at, int64_t bands, int64_t height, void *start);
/* to[i] = integer i of work area `from`, i < n */
void launch_copy(struct packing *p, enum room from, int64_t n, void *to);
/* Mark and count the diagonals that have an entry. ROOM_AT receives the prefix sums of the marks: the diagonal with
   offset d - rows has number at[d] if at[d + 1] > at[d]; otherwise it has no entry. */
bool number_diagonals(struct packing *p, int64_t *diagonals, struct err *e);
/* Write the offsets of the diagonals numbered by ROOM_AT to array k of the result. */
void launch_offsets(struct packing *p, int k);
/* Write the first `width` entries of each row to arrays k_col and k_val; element k of row i is slot k*rows + i. */
template <typename T> void launch_ell_pack(struct packing *p, int64_t width, int k_col, int k_val);

/* ---- p_slices.cu: rows that begin at ptr[0 .. rows], on the device, sorted and cut into slices ---- */

/* Sort the rows by length, longest first, in windows of sigma rows. The work area order_of(p) then holds the row at
   each position, int64. */
bool sort_by_length(struct packing *p, const void *ptr, int64_t rows, int64_t sigma, struct err *e);
enum room order_of(const struct packing *p);
/* After sort_by_length: ROOM_AT receives the prefix sums of the widths of the slices of C rows, and *sum the total, in
   units of 1 / `unit` elements. */
bool sum_widths(struct packing *p, const void *ptr, int64_t rows, int64_t C, int64_t unit, int64_t *sum, struct err *e);

} // namespace KERNEL_SPACE

#endif
