/* Finds which small blocks or diagonals occur in each band of `height` rows, for BSR and for the formats that store
   diagonals by blocks of rows.

   Each entry has a key: its block column (BSR) or the offset of its diagonal. An entry is an opener if it is the first
   entry with this key in its band. Each opener is marked by 1; the exclusive prefix sum of the marks, in the order of
   entries, counts the keys of all earlier bands. Within a band, the index of a key is the number of openers with
   smaller keys; a binary search per row finds this number, because columns ascend. No two threads write the same
   element, and no sort is needed. */
#ifndef OPENERS_H
#define OPENERS_H

#include "pack.h"

namespace KERNEL_SPACE
{

/* The key is the number of the block column; a block column is `width` columns wide. All columns from `from` to `to`
   have the same key as column c. */
struct by_block {
    /* columns have 31 bits, and a division of 32 bits takes half the time of one of 64 bits */
    static __device__ int number(int64_t c, int64_t width) { return (int)((unsigned)c / (unsigned)width); }
    static __device__ int key(int64_t, int64_t c, int64_t width) { return number(c, width); }
    static __device__ int64_t from(int64_t, int64_t, int64_t c, int64_t width) { return number(c, width) * width; }
    static __device__ int64_t to(int64_t, int64_t, int64_t c, int64_t width)
    {
        return number(c, width) * width + width - 1;
    }
};

/* The key is the diagonal. The diagonal through (i, c) crosses row r in column c + r - i. */
struct by_diagonal {
    static __device__ int key(int64_t i, int64_t c, int64_t) { return (int)(c - i); }
    static __device__ int64_t from(int64_t r, int64_t i, int64_t c, int64_t) { return c + r - i; }
    static __device__ int64_t to(int64_t r, int64_t i, int64_t c, int64_t) { return c + r - i; }
};

/* Among the entries [from, end) of a row: the first entry whose column is at least c, or `end` if there is none. */
template <typename P> __device__ int64_t first_not_below(P col, int64_t from, int64_t end, int64_t c)
{
    while (from < end) {
        int64_t mid = (from + end) / 2;
        if (col[mid] < c)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

/* Does row r have an entry with the same key as (i, c), which is entry number k of row i? Tries entry number k of row r
   first, because in a band matrix that entry has the key. */
template <typename KEYS, typename P, typename Q>
__device__ bool row_has(P ptr, Q col, int64_t r, int64_t i, int64_t c, int64_t width, int64_t k)
{
    int64_t first = ptr[r], end = ptr[r + 1], from = KEYS::from(r, i, c, width), to = KEYS::to(r, i, c, width);
    if (first == end) return false;
    int64_t there = col[min(first + k, end - 1)];
    if (there >= from && there <= to) return true;
    int64_t at = first_not_below(col, first, end, from);
    return at < end && col[at] <= to;
}

/* Is entry `here`, which is in row i, an opener? Searches the rows above the entry, nearest first. */
template <typename KEYS, typename P, typename Q>
__device__ bool opens(P ptr, Q col, int64_t i, int64_t here, int64_t height, int64_t width)
{
    int64_t in_row = here - ptr[i], c = col[here];
    if (in_row > 0 && KEYS::key(i, col[here - 1], width) == KEYS::key(i, c, width)) return false;
    for (int64_t r = i - 1; r >= i / height * height; r--)
        if (row_has<KEYS>(ptr, col, r, i, c, width, in_row)) return false;
    return true;
}

/* One thread per entry of a tile: at[k] = 1 if entry k is an opener. */
template <typename KEYS>
__global__ void openers_mark(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                             int64_t height, int64_t width, GPTR(int64_t) at)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t here = t.from + k;
        at[here] = opens<KEYS>(ptr, col, t.row + row_of[k], here, height, width);
    }
}

/* The same without a list: count[0] += the number of openers of the tile. */
template <typename KEYS>
__global__ void openers_count(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                              int64_t height, int64_t width, GPTR(unsigned long long) count)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    unsigned n = 0;
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK)
        n += opens<KEYS>(ptr, col, t.row + row_of[k], t.from + k, height, width);
    for (int d = WARP / 2; d > 0; d /= 2) n += __shfl_down_sync(FULL_MASK, n, d);
    if (threadIdx.x % WARP == 0 && n > 0) atomicAdd(count + 0, (unsigned long long)n);
}

/* One thread per entry of a tile: an opener counts the smaller keys of its band, then writes its own key. */
template <typename KEYS>
__global__ void openers_keys(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
                             int64_t height, int64_t width, GPTR(const int64_t) at, GPTR(int) keys)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t i = t.row + row_of[k], here = t.from + k;
        if (at[here] == at[here + 1]) continue;
        int64_t c = col[here], top = i / height * height, place = at[ptr[top]];
        for (int64_t r = top; r < min(top + height, rows); r++) {
            int64_t first = ptr[r], end = ptr[r + 1], before = at[first];
            if (at[end] == before) continue; /* no openers in this row */
            place += at[first_not_below(col, first, end, KEYS::from(r, i, c, width))] - before;
        }
        keys[place] = KEYS::key(i, c, width);
    }
}

/* The index of a key in keys[from .. end-1]; the key must be in this range. */
template <typename P> __device__ int64_t place_of_key(P keys, int64_t from, int64_t end, int key)
{
    return last_not_above(keys, from, end - 1, key);
}

/* *n: the number of keys of all bands. The prefix sums of the marks stay in ROOM_AT. */
template <typename KEYS>
static bool count_openers(struct packing *p, int64_t height, int64_t width, int64_t *n, struct err *e)
{
    if (!cut_rows(p, e) || !packing_room(p, ROOM_AT, p->nnz + 1, sizeof(int64_t), e)) return false;
    LAUNCH_TILES(p, openers_mark<KEYS>)
    (PACK_TILES(p), height, width, PACK_ROOM(p, ROOM_AT, p->nnz + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, p->nnz, n, e);
}

/* Call this after count_openers. Write to band[b] the index at which the keys of band b begin, and write the keys of
   all bands to `keys`. */
template <typename KEYS>
static void put_openers(struct packing *p, int64_t height, int64_t width, int64_t n, void *band, void *keys)
{
    (void)n; /* used only by the emulator's bounds check */
    launch_band_starts(p, ROOM_AT, (p->rows + height - 1) / height, height, band);
    LAUNCH_TILES(p, openers_keys<KEYS>)
    (PACK_TILES(p), p->rows, height, width, PACK_ROOM(p, ROOM_AT, p->nnz + 1, const int64_t),
     VECTOR("keys", ROLE_WORK, keys, n, int));
}

/* Count and write the keys, for formats whose sizes depend on them: the bands' starts go to ROOM_BAND, and the p->found
   keys go to ROOM_NUMBER. */
template <typename KEYS> static bool find_openers(struct packing *p, int64_t height, int64_t width, struct err *e)
{
    int64_t bands = (p->rows + height - 1) / height;
    if (!count_openers<KEYS>(p, height, width, &p->found, e) ||
        !packing_room(p, ROOM_BAND, bands + 1, sizeof(int), e) ||
        !packing_room(p, ROOM_NUMBER, p->found, sizeof(int), e))
        return false;
    put_openers<KEYS>(p, height, width, p->found, p->room[ROOM_BAND].p, p->room[ROOM_NUMBER].p);
    return true;
}

/* One thread per entry of a tile: the entry in row t of its band and on diagonal d goes to slot d*height + t, where
   d counts the diagonals of all bands. */
template <typename T>
__global__ void bands_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                           GPTR(const T) val, int64_t height, GPTR(const int) band, GPTR(const int) offsets,
                           GPTR(T) out)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t row = t.row + row_of[k], b = row / height;
        int64_t d = place_of_key(offsets, band[b], band[b + 1], (int)(col[t.from + k] - row));
        out[d * height + row % height] = val[t.from + k];
    }
}

} // namespace KERNEL_SPACE

#endif
