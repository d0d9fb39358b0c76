/* CSR to BRCSD-I on a device: the device lists the rows where cuts are possible, the host chooses the cuts, and a sort
   finds the diagonals of the pieces, because pieces have different heights. */
#include "base/mem.h"
#include "formats/fmt_brcsd1.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* Thread d marks the rows where diagonal d begins and ends, if the diagonal has an entry. */
__global__ void brcsd1_marks(int64_t rows, int64_t cols, GPTR(const int64_t) at, GPTR(int64_t) marks)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x, begins = rows - d, ends = cols + rows - d;
    if (d >= rows + cols || at[d + 1] == at[d]) return;
    if (begins > 0 && begins < rows) marks[begins] = 1;
    if (ends > 0 && ends < rows) marks[ends] = 1;
}

__global__ void brcsd1_list(int64_t rows, GPTR(const int64_t) marks, GPTR(int) list)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < rows && marks[i + 1] > marks[i]) list[marks[i]] = (int)i;
}

/* One thread per entry of a tile: the key is the piece in the upper bits and the diagonal in the lower bits. */
__global__ void brcsd1_keys(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
                            int64_t span, int64_t pieces, GPTR(const int) piece, GPTR(uint64_t) key)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t row = t.row + row_of[k], b = last_not_above(piece, 0, pieces - 1, row);
        key[t.from + k] = (uint64_t)(b * span + col[t.from + k] - row + rows);
    }
}

/* Thread k: at[k] = 1 if sorted key k differs from key k-1. */
__global__ void brcsd1_flag(int64_t n, GPTR(const uint64_t) key, GPTR(int64_t) at)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k < n) at[k] = k == 0 || key[k] != key[k - 1];
}

/* Thread k writes the offset of key k if key k is the first of equal keys. */
__global__ void brcsd1_offsets(int64_t n, int64_t rows, int64_t span, GPTR(const uint64_t) key, GPTR(const int64_t) at,
                               GPTR(int) offsets)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k < n && at[k + 1] > at[k]) offsets[at[k]] = (int)((int64_t)(key[k] % (uint64_t)span) - rows);
}

/* Thread b: the number of diagonals before piece b. Sorting keeps each piece's range of entries, so the index of the
   piece's first key is the number of entries in the rows before the piece. */
__global__ void brcsd1_dnum(int64_t pieces, GPTR(const int) piece, GPTR(const int) ptr, GPTR(const int64_t) at,
                            GPTR(int) dnum)
{
    int64_t b = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (b <= pieces) dnum[b] = (int)at[ptr[piece[b]]];
}

/* Thread d: offset d goes to its piece's record, after the head. */
__global__ void brcsd1_records(int64_t pieces, int64_t diagonals, GPTR(const int) dnum, GPTR(const int) offsets,
                               GPTR(const int) record, GPTR(int) out)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (d >= diagonals) return;
    int64_t b = last_not_above(dnum, 0, pieces - 1, d);
    out[record[b] + 1 + d - dnum[b]] = offsets[d];
}

/* Thread b writes the first row of piece b at the beginning of record b. */
__global__ void brcsd1_heads(int64_t pieces, GPTR(const int) piece, GPTR(const int) record, GPTR(int) out)
{
    int64_t b = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (b < pieces) out[record[b]] = piece[b];
}

/* One thread per entry of a tile writes the entry's value to the slot for its piece, diagonal and row. */
template <typename T>
__global__ void brcsd1_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                            GPTR(const T) val, int64_t pieces, GPTR(const int) piece, GPTR(const int) dnum,
                            GPTR(const int) offsets, GPTR(const int64_t) first, GPTR(T) out)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t row = t.row + row_of[k], b = last_not_above(piece, 0, pieces - 1, row), top = piece[b];
        int64_t d = last_not_above(offsets, dnum[b], dnum[b + 1] - 1, col[t.from + k] - row) - dnum[b];
        out[first[b] + d * (piece[b + 1] - top) + row - top] = val[t.from + k];
    }
}

/* The pieces chosen by the host: their number, and for each piece its first row and the number of diagonals before it.
 */
struct pieces {
    int64_t n;
    int *start, *dnum;
};

static struct pieces *pieces_of(struct packing *p)
{
    return static_cast<struct pieces *>(p->state);
}

static void release(void *state)
{
    mem_free(static_cast<struct pieces *>(state)->start);
    mem_free(static_cast<struct pieces *>(state)->dnum);
}

#define BRCSD1_PIECES(p) PACK_ROOM(p, ROOM_BASE, pieces_of(p)->n + 1, const int)
#define BRCSD1_DIAGONALS(p) PACK_ROOM(p, ROOM_BAND, pieces_of(p)->n + 1, const int)
#define BRCSD1_OFFSETS_OF(p) PACK_ROOM(p, ROOM_NUMBER, (p)->found, const int)

/* List the rows where a diagonal begins or ends. The list goes to ROOM_BASE, which also has room for the starts of the
   pieces, and *n receives the length of the list. */
static bool list_cuts(struct packing *p, int64_t *n, struct err *e)
{
    int64_t span = p->rows + p->cols, diagonals;
    if (!number_diagonals(p, &diagonals, e) || !packing_room(p, ROOM_MORE, p->rows + 1, sizeof(int64_t), e))
        return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_MORE].p, p->rows + 1);
    LAUNCH(p->dev, blocks_for(span, PACK_BLOCK), PACK_BLOCK, brcsd1_marks)
    (p->rows, p->cols, PACK_ROOM(p, ROOM_AT, span + 1, const int64_t), PACK_ROOM(p, ROOM_MORE, p->rows + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_MORE, p->rows, n, e) ||
        !packing_room(p, ROOM_BASE, brcsd1_most_starts(*n, &p->S), sizeof(int), e))
        return false;
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, brcsd1_list)
    (p->rows, PACK_ROOM(p, ROOM_MORE, p->rows + 1, const int64_t), PACK_ROOM(p, ROOM_BASE, *n, int));
    return true;
}

/* The host chooses cuts from this list one after another. The pieces' first rows go to B->start and ROOM_BASE. */
static bool cut_pieces(struct packing *p, struct err *e)
{
    struct pieces *B = pieces_of(p);
    int64_t n = 0;
    if (!list_cuts(p, &n, e)) return false;
    mem_free(B->start);
    B->start = static_cast<int *>(mem_new(brcsd1_most_starts(n, &p->S), sizeof *B->start, "the starts of pieces", e));
    int *list = static_cast<int *>(mem_new(n, sizeof *list, "the cuts of rows", e));
    bool ok = B->start && list && packing_read(p, list, p->room[ROOM_BASE].p, n * (int64_t)sizeof *list, e);
    if (ok) B->n = brcsd1_starts(n, list, &p->S, B->start);
    mem_free(list);
    return ok && p->dev->ops->put(p->dev, p->room[ROOM_BASE].p, B->start, (B->n + 1) * (int64_t)sizeof(int), e);
}

/* Find the diagonals of all pieces: ROOM_NUMBER receives p->found offsets, and ROOM_BAND receives the index at which
   the offsets of each piece begin. */
static bool find_diagonals(struct packing *p, struct err *e)
{
    const struct pieces *B = pieces_of(p);
    int64_t n = p->nnz, span = p->rows + p->cols;
    if (!packing_pairs(p, n, e) || !packing_room(p, ROOM_AT, n + 1, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_BAND, B->n + 1, sizeof(int), e))
        return false;
    LAUNCH_TILES(p, brcsd1_keys)
    (PACK_TILES(p), p->rows, span, B->n, BRCSD1_PIECES(p), PACK_ROOM(p, ROOM_KEY, n, uint64_t));
    if (!packing_sort(p, n, 0, bits_of(B->n * span), e)) return false;
    auto key = PACK_ROOM(p, p->sorted ? ROOM_KEY2 : ROOM_KEY, n, const uint64_t);
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, brcsd1_flag)(n, key, PACK_ROOM(p, ROOM_AT, n + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_AT, n, &p->found, e) || !packing_room(p, ROOM_NUMBER, p->found, sizeof(int), e))
        return false;
    auto at = PACK_ROOM(p, ROOM_AT, n + 1, const int64_t);
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, brcsd1_offsets)
    (n, p->rows, span, key, at, PACK_ROOM(p, ROOM_NUMBER, p->found, int));
    LAUNCH(p->dev, blocks_for(B->n + 1, PACK_BLOCK), PACK_BLOCK, brcsd1_dnum)
    (B->n, BRCSD1_PIECES(p), PACK_PTR(p), at, PACK_ROOM(p, ROOM_BAND, B->n + 1, int));
    return true;
}

static bool plan(struct packing *p, struct err *e)
{
    struct pieces *B = static_cast<struct pieces *>(packing_state(p, sizeof *B, release, e));
    if (!B || !cut_pieces(p, e) || !find_diagonals(p, e)) return false;
    int64_t bytes = (B->n + 1) * (int64_t)sizeof(int);
    mem_free(B->dnum);
    B->dnum = static_cast<int *>(mem_new(B->n + 1, sizeof(int), "numbers of diagonals", e));
    if (!B->dnum || !packing_read(p, B->dnum, p->room[ROOM_BAND].p, bytes, e)) return false;
    struct brcsd1_numbers N = brcsd1_count(B->n, B->start, B->dnum);
    return brcsd1_sizes(&p->S, &N, e);
}

static bool put(struct packing *p, int k, const void *from, struct err *e)
{
    return p->dev->ops->put(p->dev, p->out[k], from, p->S.a[k].n * (int64_t)type_size(p->S.a[k].type), e);
}

/* The host computes the pointers of the pieces, because there are few: one per piece and one per cut. */
static bool put_pointers(struct packing *p, struct err *e)
{
    const struct pieces *B = pieces_of(p);
    static const char what[] = "the pointers of pieces";
    int *ptr = static_cast<int *>(mem_new(p->S.a[BRCSD1_PTR].n, sizeof *ptr, what, e));
    int64_t *first = static_cast<int64_t *>(mem_new(p->S.a[BRCSD1_START].n, sizeof *first, what, e));
    bool ok = ptr && first;
    if (ok) brcsd1_point(B->n, B->start, B->dnum, ptr, first);
    ok = ok && put(p, BRCSD1_PTR, ptr, e) && put(p, BRCSD1_START, first, e);
    mem_free(ptr);
    mem_free(first);
    return ok;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    const struct pieces *B = pieces_of(p);
    int64_t n = B->n;
    if (!put_pointers(p, e)) return false;
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, brcsd1_heads)
    (n, BRCSD1_PIECES(p), PACK_OUT(p, BRCSD1_PTR, const int), PACK_OUT(p, BRCSD1_OFFSETS, int));
    LAUNCH(p->dev, blocks_for(p->found, PACK_BLOCK), PACK_BLOCK, brcsd1_records)
    (n, p->found, BRCSD1_DIAGONALS(p), BRCSD1_OFFSETS_OF(p), PACK_OUT(p, BRCSD1_PTR, const int),
     PACK_OUT(p, BRCSD1_OFFSETS, int));
    launch_zero<T>(p->dev, p->out[BRCSD1_DATA], p->S.a[BRCSD1_DATA].n);
    LAUNCH_TILES(p, brcsd1_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), n, BRCSD1_PIECES(p), BRCSD1_DIAGONALS(p), BRCSD1_OFFSETS_OF(p),
     PACK_OUT(p, BRCSD1_START, const int64_t), PACK_OUT(p, BRCSD1_DATA, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(brcsd1) = {
    .format = &format_brcsd1,
    .about = "the device lists possible cuts, the host chooses; entries are radix-sorted by piece and diagonal",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
