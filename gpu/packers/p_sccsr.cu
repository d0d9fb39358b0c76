/* CSR to SC-CSR on a device: rows are sorted by length, the host computes the segments from three counts, then the
   slots are written, one thread per slot. */
#include "formats/fmt_sccsr.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* Thread i: the key of row i is its length, and the payload is i. */
__global__ void sccsr_keys(int64_t rows, GPTR(const int) ptr, GPTR(uint64_t) key, GPTR(int64_t) with)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i >= rows) return;
    key[i] = (uint64_t)(ptr[i + 1] - ptr[i]);
    with[i] = i;
}

/* Thread g: the number of sorted rows with fewer than 8 << g entries. */
__global__ void sccsr_shorter(int64_t rows, GPTR(const uint64_t) length, GPTR(int64_t) found)
{
    int64_t low = 0, high = rows;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (length[mid] < (uint64_t)8 << threadIdx.x)
            low = mid + 1;
        else
            high = mid;
    }
    found[threadIdx.x] = low;
}

static __device__ sccsr_segment sccsr_of_row(const sccsr_layout &L, int64_t s)
{
    int g = 0;
    while (g < SCCSR_SEGMENTS - 1 && s >= L.segment[g].sc + L.segment[g].n) g++;
    return L.segment[g];
}

/* Thread s: the number of slots of SC-row s; the last row of an SC-row is the longest. */
__global__ void sccsr_slots(sccsr_layout L, GPTR(const uint64_t) length, GPTR(int64_t) at)
{
    int64_t s = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (s >= L.n) return;
    sccsr_segment g = sccsr_of_row(L, s);
    int64_t end = min((s - g.sc + 1) * g.c, g.rows);
    at[s] = g.c * (int64_t)length[g.first + end - 1];
}

/* Thread k: write element k of row_index, and the length of that row; -1 and 0 for fillers at the end of a segment. */
__global__ void sccsr_places(sccsr_layout L, GPTR(const uint64_t) length, GPTR(const int64_t) sorted,
                             GPTR(int) out_length, GPTR(int) out_index)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k >= L.places) return;
    int g = 0;
    while (g < SCCSR_SEGMENTS - 1 && k >= L.segment[g].place + L.segment[g].n * L.segment[g].c) g++;
    int64_t in = k - L.segment[g].place, from = L.segment[g].first + in;
    bool has = in < L.segment[g].rows;
    out_index[k] = has ? (int)sorted[from] : -1;
    out_length[k] = has ? (int)length[from] : 0;
}

/* One block per TILE slots, one thread per slot: neighbouring threads write neighbouring slots. */
template <typename T>
__global__ void sccsr_pack(sccsr_layout L, int64_t slots, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(const int) length, GPTR(const int) index, GPTR(const int) row_ptr, GPTR(int) out_col,
                           GPTR(T) out_val)
{
    SHARED(int, ends, 2);
    int64_t first = (int64_t)blockIdx.x * TILE, end = min(first + TILE, slots);
    if (threadIdx.x < 2) ends[threadIdx.x] = (int)last_not_above(row_ptr, 0, L.n, threadIdx.x ? end - 1 : first);
    __syncthreads(); /* all threads of the block: `ends` is complete */
    for (int64_t slot = first + threadIdx.x; slot < end; slot += PACK_BLOCK) {
        int64_t s = last_not_above(row_ptr, ends[0], ends[1], slot), in = slot - row_ptr[s];
        sccsr_segment g = sccsr_of_row(L, s);
        int64_t place = g.place + (s - g.sc) * g.c + in % g.c, k = in / g.c;
        bool has = k < length[place];
        int64_t from = has ? ptr[index[place]] + k : 0;
        out_col[slot] = has ? col[from] : -1;
        out_val[slot] = has ? val[from] : T(0);
    }
}

static bool sort_rows(struct packing *p, struct err *e)
{
    int64_t longest = 0;
    if (!longest_of(p, &longest, e) || !packing_pairs(p, p->rows, e)) return false;
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, sccsr_keys)
    (p->rows, PACK_PTR(p), PACK_ROOM(p, ROOM_KEY, p->rows, uint64_t), PACK_ROOM(p, ROOM_PAYLOAD, p->rows, int64_t));
    return packing_sort(p, p->rows, 0, bits_of(longest + 1), e);
}

#define SCCSR_LENGTHS(p) PACK_ROOM(p, (p)->sorted ? ROOM_KEY2 : ROOM_KEY, (p)->rows, const uint64_t)
#define SCCSR_ROWS(p) PACK_ROOM(p, (p)->sorted ? ROOM_PAYLOAD2 : ROOM_PAYLOAD, (p)->rows, const int64_t)

/* The host computes the segments. */
static bool lay(struct packing *p, struct sccsr_layout *L, struct err *e)
{
    int64_t below[SCCSR_SEGMENTS - 1], rows[SCCSR_SEGMENTS];
    if (!packing_room(p, ROOM_FOUND, SCCSR_SEGMENTS, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, 1, SCCSR_SEGMENTS - 1, sccsr_shorter)
    (p->rows, SCCSR_LENGTHS(p), PACK_ROOM(p, ROOM_FOUND, SCCSR_SEGMENTS - 1, int64_t));
    if (!packing_read(p, below, p->room[ROOM_FOUND].p, sizeof below, e)) return false;
    rows[0] = below[0];
    for (int g = 1; g < SCCSR_SEGMENTS; g++) rows[g] = (g < SCCSR_SEGMENTS - 1 ? below[g] : p->rows) - below[g - 1];
    sccsr_lay(rows, p->S.param[0], L);
    return true;
}

static bool plan(struct packing *p, struct err *e)
{
    struct sccsr_layout *L = static_cast<struct sccsr_layout *>(packing_state(p, sizeof *L, NULL, e));
    int64_t slots = 0;
    if (!L || !sort_rows(p, e) || !lay(p, L, e) || !packing_room(p, ROOM_AT, L->n + 1, sizeof(int64_t), e))
        return false;
    LAUNCH(p->dev, blocks_for(L->n, PACK_BLOCK), PACK_BLOCK, sccsr_slots)
    (*L, SCCSR_LENGTHS(p), PACK_ROOM(p, ROOM_AT, L->n + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, L->n, &slots, e) && sccsr_sizes(&p->S, L, slots, e);
}

static const struct sccsr_layout *layout_of(const struct packing *p)
{
    return static_cast<const struct sccsr_layout *>(p->state);
}

static bool put_segments(struct packing *p, struct err *e)
{
    const struct sccsr_layout *L = layout_of(p);
    int segment[SCCSR_SEGMENTS + 1];
    for (int g = 0; g < SCCSR_SEGMENTS; g++) segment[g] = (int)L->segment[g].place;
    segment[SCCSR_SEGMENTS] = (int)L->places;
    return p->dev->ops->put(p->dev, p->out[SCCSR_SEGMENT], segment, sizeof segment, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    const struct sccsr_layout *L = layout_of(p);
    int64_t slots = p->S.a[SCCSR_VAL].n;
    if (!put_segments(p, e)) return false;
    LAUNCH(p->dev, blocks_for(L->places, PACK_BLOCK), PACK_BLOCK, sccsr_places)
    (*L, SCCSR_LENGTHS(p), SCCSR_ROWS(p), PACK_OUT(p, SCCSR_LENGTH, int), PACK_OUT(p, SCCSR_ROW_INDEX, int));
    launch_pointers(p, ROOM_AT, L->n, p->out[SCCSR_ROW_PTR]);
    LAUNCH(p->dev, blocks_for(slots, TILE), PACK_BLOCK, sccsr_pack<T>)
    (*L, slots, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, SCCSR_LENGTH, const int),
     PACK_OUT(p, SCCSR_ROW_INDEX, const int), PACK_OUT(p, SCCSR_ROW_PTR, const int), PACK_OUT(p, SCCSR_COL_IND, int),
     PACK_OUT(p, SCCSR_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(sccsr) = {
    .format = &format_sccsr,
    .about = "a radix sort of the rows by length; three counts give the segments; then each thread writes one slot",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
