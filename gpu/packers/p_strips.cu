/* CSR to column strips on a device: a stable sort of the entries by strip; one warp per chunk finds where partial sums
   end; a second sort, by group of rows, orders the runs. */
#include "formats/fmt_strips.h"
#include "pack.h"

namespace KERNEL_SPACE
{

enum { CHUNKS_PER_BLOCK = PACK_BLOCK / WARP };

/* ---- the entries, in the order of the strips ---- */

/* One thread per entry of a tile: the key is strip << 32 | row, and the payload is the number of the entry. */
__global__ void strips_keys(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t width,
                            GPTR(uint64_t) key, GPTR(int64_t) entry)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t at = t.from + k;
        key[at] = (uint64_t)(col[at] / width) << 32 | (uint64_t)(t.row + row_of[k]);
        entry[at] = at;
    }
}

/* The first of n ascending keys that is at least `least`. */
template <typename P> __device__ int64_t first_from(P key, int64_t n, uint64_t least)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (key[mid] < least)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Thread i of n + 1: where the keys of item i begin, i << shift being the item's least key. */
__global__ void strips_starts(int64_t n, int64_t keys, int shift, GPTR(const uint64_t) key, GPTR(int) start)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i <= n) start[i] = (int)first_from(key, keys, (uint64_t)i << shift);
}

__global__ void strips_chunks(int64_t strips, GPTR(const int) start, GPTR(int64_t) at)
{
    int64_t s = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (s < strips) at[s] = (start[s + 1] - start[s] + STRIPS_CHUNK - 1) / STRIPS_CHUNK;
}

/* Where a chunk's entries are among the sorted entries. */
struct chunk_place {
    int64_t strip, first, end;
};

template <typename P, typename Q> __device__ chunk_place place_of(int64_t strips, int64_t c, P start, Q chunks)
{
    int64_t s = last_not_above(chunks, 0, strips - 1, c), first = start[s] + (c - chunks[s]) * STRIPS_CHUNK;
    return {s, first, min(first + STRIPS_CHUNK, (int64_t)start[s + 1])};
}

/* One chunk per warp. Word k of `ends` has a bit for entry 4l + k of each lane l that ends a partial sum: the last
   entry of the chunk, or of its row. */
__global__ void strips_ends(int64_t strips, int64_t chunks, GPTR(const int) start, GPTR(const int64_t) chunk_at,
                            GPTR(const uint64_t) key, GPTR(int) ends, GPTR(int64_t) sums)
{
    int64_t c = (int64_t)blockIdx.x * CHUNKS_PER_BLOCK + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP, n = 0;
    if (c >= chunks) return;
    chunk_place p = place_of(strips, c, start, chunk_at);
    for (int k = 0; k < STRIPS_WORDS; k++) {
        int64_t i = p.first + lane * STRIPS_WORDS + k;
        unsigned word = __ballot_sync(FULL_MASK, i < p.end && (i + 1 == p.end || key[i + 1] != key[i]));
        if (lane == 0) ends[c * STRIPS_WORDS + k] = (int)word;
        n += __popc(word);
    }
    if (lane == 0) sums[c] = n;
}

/* One chunk per warp: the key of each partial sum. */
__global__ void strips_sums(int64_t strips, int64_t chunks, GPTR(const int) start, GPTR(const int64_t) chunk_at,
                            GPTR(const uint64_t) key, GPTR(const int) ends, GPTR(const int64_t) before,
                            GPTR(uint64_t) sum_key)
{
    int64_t c = (int64_t)blockIdx.x * CHUNKS_PER_BLOCK + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    if (c >= chunks) return;
    chunk_place p = place_of(strips, c, start, chunk_at);
    int64_t at = before[c];
    for (int k = 0; k < STRIPS_WORDS; k++) at += __popc((unsigned)ends[c * STRIPS_WORDS + k] & ((1u << lane) - 1));
    for (int k = 0; k < STRIPS_WORDS; k++)
        if ((unsigned)ends[c * STRIPS_WORDS + k] >> lane & 1) {
            sum_key[at] = key[p.first + lane * STRIPS_WORDS + k];
            at++;
        }
}

/* opens[p] = 1 if partial sum p begins a run: the first of its strip and group, or a row repeats. */
__global__ void strips_opens(int64_t sums, GPTR(const uint64_t) sum_key, GPTR(int64_t) opens)
{
    int64_t p = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (p >= sums) return;
    uint64_t mine = sum_key[p], last = p > 0 ? sum_key[p - 1] : 0;
    opens[p] = p == 0 || mine == last || mine / STRIPS_GROUP_ROWS != last / STRIPS_GROUP_ROWS;
}

/* ---- the result ---- */

__global__ void strips_ints(int64_t n, GPTR(const int64_t) at, GPTR(int) out)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < n) out[i] = (int)at[i];
}

/* One slot per thread. */
template <typename T>
__global__ void strips_pack(int64_t strips, int64_t slots, int64_t width, GPTR(const int) start,
                            GPTR(const int64_t) chunk_at, GPTR(const int64_t) entry, GPTR(const int) col,
                            GPTR(const T) val, GPTR(uint16_t) out_col, GPTR(T) out_val)
{
    int64_t slot = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (slot >= slots) return;
    chunk_place p = place_of(strips, slot / STRIPS_CHUNK, start, chunk_at);
    int64_t in = slot % STRIPS_CHUNK, i = p.first + in % WARP * STRIPS_WORDS + in / WARP;
    int64_t k = i < p.end ? entry[i] : -1;
    out_col[slot] = (uint16_t)(k < 0 ? 0 : col[k] - p.strip * width);
    out_val[slot] = k < 0 ? T(0) : val[k];
}

__global__ void strips_row(int64_t sums, GPTR(const uint64_t) sum_key, GPTR(int) row)
{
    int64_t p = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (p < sums) row[p] = (int)(sum_key[p] & INT32_MAX);
}

/* One partial sum per thread: the first sum of a run gives the pair (group, partial sum). */
__global__ void strips_pairs(int64_t sums, GPTR(const int64_t) run_at, GPTR(const int) row, GPTR(uint64_t) key,
                             GPTR(int64_t) with)
{
    int64_t p = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (p >= sums) return;
    int64_t k = run_at[p];
    if (run_at[p + 1] == k) return;
    key[k] = (uint64_t)(row[p] / STRIPS_GROUP_ROWS);
    with[k] = p;
}

/* One run per thread. */
__global__ void strips_runs(int64_t runs, int64_t sums, GPTR(const int64_t) with, GPTR(const int64_t) run_at,
                            GPTR(const int) row, GPTR(int) run)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k >= runs) return;
    int64_t p = with[k], q = p;
    unsigned mask = 0;
    do mask |= 1u << row[q++] % STRIPS_GROUP_ROWS;
    while (q < sums && run_at[q + 1] == run_at[q]);
    run[2 * k] = (int)mask;
    run[2 * k + 1] = (int)p;
}

/* ---- on the host ----
   ROOM_BASE: where the strips begin among the sorted entries. ROOM_MORE: the chunks before each strip. ROOM_NUMBER: the
   words of end bits. ROOM_FOUND: the partial sums before each chunk. The key arrays that the sort leaves free hold the
   keys of the partial sums; ROOM_AT the runs before each partial sum. */

static enum room sorted_keys(const struct packing *p)
{
    return p->sorted ? ROOM_KEY2 : ROOM_KEY;
}

static enum room free_keys(const struct packing *p)
{
    return p->sorted ? ROOM_KEY : ROOM_KEY2;
}

static enum room sorted_payloads(const struct packing *p)
{
    return p->sorted ? ROOM_PAYLOAD2 : ROOM_PAYLOAD;
}

static bool sort_entries(struct packing *p, int64_t strips, struct err *e)
{
    int64_t n = p->nnz;
    if (!cut_rows(p, e) || !packing_pairs(p, n, e)) return false;
    LAUNCH_TILES(p, strips_keys)
    (PACK_TILES(p), p->S.param[0], PACK_ROOM(p, ROOM_KEY, n, uint64_t), PACK_ROOM(p, ROOM_PAYLOAD, n, int64_t));
    return packing_sort(p, n, 32, 32 + bits_of(strips), e);
}

static bool count_chunks(struct packing *p, int64_t strips, int64_t *chunks, struct err *e)
{
    if (!packing_room(p, ROOM_BASE, strips + 1, sizeof(int), e) ||
        !packing_room(p, ROOM_MORE, strips + 1, sizeof(int64_t), e))
        return false;
    LAUNCH(p->dev, blocks_for(strips + 1, PACK_BLOCK), PACK_BLOCK, strips_starts)
    (strips, p->nnz, 32, PACK_ROOM(p, sorted_keys(p), p->nnz, const uint64_t),
     PACK_ROOM(p, ROOM_BASE, strips + 1, int));
    LAUNCH(p->dev, blocks_for(strips, PACK_BLOCK), PACK_BLOCK, strips_chunks)
    (strips, PACK_ROOM(p, ROOM_BASE, strips + 1, const int), PACK_ROOM(p, ROOM_MORE, strips + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_MORE, strips, chunks, e);
}

static bool count_sums(struct packing *p, int64_t strips, struct strips_count *n, struct err *e)
{
    int64_t chunks = n->chunks;
    if (!packing_room(p, ROOM_NUMBER, chunks * STRIPS_WORDS, sizeof(int), e) ||
        !packing_room(p, ROOM_AT, chunks + 1, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_FOUND, chunks + 1, sizeof(int64_t), e))
        return false;
    LAUNCH(p->dev, blocks_for(chunks, CHUNKS_PER_BLOCK), PACK_BLOCK, strips_ends)
    (strips, chunks, PACK_ROOM(p, ROOM_BASE, strips + 1, const int), PACK_ROOM(p, ROOM_MORE, strips + 1, const int64_t),
     PACK_ROOM(p, sorted_keys(p), p->nnz, const uint64_t), PACK_ROOM(p, ROOM_NUMBER, chunks * STRIPS_WORDS, int),
     PACK_ROOM(p, ROOM_AT, chunks + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_AT, chunks, &n->sums, e)) return false;
    LAUNCH(p->dev, blocks_for(chunks, CHUNKS_PER_BLOCK), PACK_BLOCK, strips_sums)
    (strips, chunks, PACK_ROOM(p, ROOM_BASE, strips + 1, const int), PACK_ROOM(p, ROOM_MORE, strips + 1, const int64_t),
     PACK_ROOM(p, sorted_keys(p), p->nnz, const uint64_t), PACK_ROOM(p, ROOM_NUMBER, chunks * STRIPS_WORDS, const int),
     PACK_ROOM(p, ROOM_AT, chunks + 1, const int64_t), PACK_ROOM(p, free_keys(p), n->sums, uint64_t));
    LAUNCH(p->dev, blocks_for(chunks + 1, PACK_BLOCK), PACK_BLOCK, strips_ints)
    (chunks + 1, PACK_ROOM(p, ROOM_AT, chunks + 1, const int64_t), PACK_ROOM(p, ROOM_FOUND, chunks + 1, int));
    return true;
}

static bool count_runs(struct packing *p, struct strips_count *n, struct err *e)
{
    if (!packing_room(p, ROOM_AT, n->sums + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(n->sums, PACK_BLOCK), PACK_BLOCK, strips_opens)
    (n->sums, PACK_ROOM(p, free_keys(p), n->sums, const uint64_t), PACK_ROOM(p, ROOM_AT, n->sums + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, n->sums, &n->runs, e);
}

static bool plan(struct packing *p, struct err *e)
{
    struct strips_count n = {};
    if (!strips_width(&p->S, e)) return false;
    int64_t strips = strips_number(&p->S);
    bool ok = !p->nnz || (sort_entries(p, strips, e) && count_chunks(p, strips, &n.chunks, e) &&
                          count_sums(p, strips, &n, e) && count_runs(p, &n, e));
    p->found = n.runs;
    if (ok) strips_sizes(&p->S, &n);
    return ok;
}

template <typename T> static void pack_entries(struct packing *p, int64_t strips)
{
    int64_t slots = p->S.a[STRIPS_VAL].n, chunks = slots / STRIPS_CHUNK;
    LAUNCH(p->dev, blocks_for(strips + 1, PACK_BLOCK), PACK_BLOCK, strips_ints)
    (strips + 1, PACK_ROOM(p, ROOM_MORE, strips + 1, const int64_t), PACK_OUT(p, STRIPS_PTR, int));
    launch_copy(p, ROOM_NUMBER, chunks * STRIPS_WORDS, p->out[STRIPS_ENDS]);
    launch_copy(p, ROOM_FOUND, chunks + 1, p->out[STRIPS_BEFORE]);
    LAUNCH(p->dev, blocks_for(slots, PACK_BLOCK), PACK_BLOCK, strips_pack<T>)
    (strips, slots, p->S.param[0], PACK_ROOM(p, ROOM_BASE, strips + 1, const int),
     PACK_ROOM(p, ROOM_MORE, strips + 1, const int64_t), PACK_ROOM(p, sorted_payloads(p), p->nnz, const int64_t),
     PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, STRIPS_COL, uint16_t), PACK_OUT(p, STRIPS_VAL, T));
}

/* Overwrites the sorted entries. */
static bool pack_runs(struct packing *p, struct err *e)
{
    int64_t sums = p->S.a[STRIPS_ROW].n, runs = p->found, groups = p->S.a[STRIPS_GROUP].n - 1;
    LAUNCH(p->dev, blocks_for(sums, PACK_BLOCK), PACK_BLOCK, strips_row)
    (sums, PACK_ROOM(p, free_keys(p), sums, const uint64_t), PACK_OUT(p, STRIPS_ROW, int));
    LAUNCH(p->dev, blocks_for(sums, PACK_BLOCK), PACK_BLOCK, strips_pairs)
    (sums, PACK_ROOM(p, ROOM_AT, sums + 1, const int64_t), PACK_OUT(p, STRIPS_ROW, const int),
     PACK_ROOM(p, ROOM_KEY, runs, uint64_t), PACK_ROOM(p, ROOM_PAYLOAD, runs, int64_t));
    if (!packing_sort(p, runs, 0, bits_of(groups), e)) return false;
    LAUNCH(p->dev, blocks_for(runs, PACK_BLOCK), PACK_BLOCK, strips_runs)
    (runs, sums, PACK_ROOM(p, sorted_payloads(p), runs, const int64_t), PACK_ROOM(p, ROOM_AT, sums + 1, const int64_t),
     PACK_OUT(p, STRIPS_ROW, const int), PACK_OUT(p, STRIPS_RUN, int));
    LAUNCH(p->dev, blocks_for(groups + 1, PACK_BLOCK), PACK_BLOCK, strips_starts)
    (groups, runs, 0, PACK_ROOM(p, sorted_keys(p), runs, const uint64_t), PACK_OUT(p, STRIPS_GROUP, int));
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    if (!p->nnz) {
        for (int k : {STRIPS_PTR, STRIPS_BEFORE, STRIPS_GROUP}) launch_zero<int>(p->dev, p->out[k], p->S.a[k].n);
        return true;
    }
    pack_entries<T>(p, strips_number(&p->S));
    return pack_runs(p, e);
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(strips) = {
    .format = &format_strips,
    .about = "a stable sort of the entries by strip; a warp per chunk finds the ends; a second sort orders the runs",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
