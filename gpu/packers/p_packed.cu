/* CSR to packed on a device: rows are sorted by window and length if that saves padding, one warp per slice measures
   the slice, and one thread per slot fills it. The host collects the distinct values from a sample; the device then
   searches all entries for values that the sample missed. */
#include "base/mem.h"
#include "base/precision.h"
#include "formats/fmt_packed.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* Values are handled as bits: a number of 2, 4 or 8 bytes, or two numbers of 8 bytes. */
struct alignas(16) bits16 {
    uint64_t re, im;
};
template <typename T> struct bits_type;
template <> struct bits_type<uint16_t> {
    using type = uint16_t;
};
template <> struct bits_type<float> {
    using type = uint32_t;
};
template <> struct bits_type<double> {
    using type = uint64_t;
};
template <> struct bits_type<cplx<float>> {
    using type = uint64_t; /* the imaginary part is in the upper half */
};
template <> struct bits_type<cplx<double>> {
    using type = bits16;
};

static __device__ bool after(uint16_t a, uint16_t b)
{
    return a > b;
}
static __device__ bool after(uint32_t a, uint32_t b)
{
    return a > b;
}
static __device__ bool after(uint64_t a, uint64_t b)
{
    return a > b;
}
static __device__ bool after(bits16 a, bits16 b)
{
    return a.im != b.im ? a.im > b.im : a.re > b.re;
}

/* The index of v among the n sorted values, or of the last value before v; 0 if v comes before all values. */
template <typename P, typename W> __device__ int code_of(P value, int n, W v)
{
    int low = 0, high = n - 1;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        W at = value[mid];
        if (after(at, v))
            high = mid - 1;
        else
            low = mid;
    }
    return low;
}

/* ---- distinct values ---- */

enum { SAMPLE = 4096 };

/* Thread i: value i of a sample that is spread evenly over the n values. */
template <typename W> __global__ void packed_sample(int64_t n, int64_t sample, GPTR(const W) val, GPTR(W) out)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < sample) out[i] = val[i * n / sample];
}

/* Count the entries whose value is not in the dictionary, and list up to SAMPLE of their values. */
template <typename W>
__global__ void packed_missing(int64_t n, GPTR(const W) val, int values, GPTR(const W) dictionary, GPTR(int) count,
                               GPTR(W) out)
{
    SHARED(W, value, PACKED_CODES);
    for (int i = threadIdx.x; i < values; i += PACK_BLOCK) value[i] = dictionary[i];
    __syncthreads(); /* all threads of the block: `value` is complete */
    for (int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x; k < n; k += (int64_t)gridDim.x * PACK_BLOCK) {
        W v = val[k], found = value[code_of(value, values, v)];
        if (!after(v, found) && !after(found, v)) continue;
        int at = atomicAdd(count + 0, 1);
        if (at < SAMPLE) out[at] = v;
    }
}

static struct packed_dictionary *dictionary_of(struct packing *p)
{
    return static_cast<struct packed_dictionary *>(p->state);
}

/* Add the n values in ROOM_NUMBER to the dictionary. */
static bool add_values(struct packing *p, int64_t n, struct err *e)
{
    enum type stored = precisions[p->S.real].stored;
    int64_t size = (int64_t)type_size(stored);
    void *list = mem_new(n, (size_t)size, "a sample of the values", e);
    bool ok = list && packing_read(p, list, p->room[ROOM_NUMBER].p, n * size, e);
    for (int64_t i = 0; ok && i < n; i++)
        if (!packed_add(dictionary_of(p), packed_get(stored, list, i))) break;
    mem_free(list);
    return ok;
}

/* Copy the sorted dictionary to `to`, on the device. */
static bool put_values(struct packing *p, void *to, struct err *e)
{
    struct packed_dictionary *d = dictionary_of(p);
    enum type stored = precisions[p->S.real].stored;
    uint64_t list[2 * PACKED_CODES];
    packed_sort(d);
    for (int64_t i = 0; i < d->n; i++) packed_put(stored, list, i, d->value[i]);
    return p->dev->ops->put(p->dev, to, list, d->n * (int64_t)type_size(stored), e);
}

/* Add values of the matrix that the dictionary lacks. *missing: the number of entries with such values. */
template <typename W> static bool add_missing(struct packing *p, int64_t *missing, struct err *e)
{
    enum { BLOCKS = 2048 };
    unsigned blocks = blocks_for(p->nnz, PACK_BLOCK);
    int count = 0, values = (int)dictionary_of(p)->n;
    launch_zero<int>(p->dev, p->room[ROOM_FOUND].p, 1);
    if (!put_values(p, p->room[ROOM_BASE].p, e)) return false;
    LAUNCH(p->dev, blocks < BLOCKS ? blocks : +BLOCKS, PACK_BLOCK, packed_missing<W>)
    (p->nnz, PACK_VAL(p, W), values, PACK_ROOM(p, ROOM_BASE, values, const W), PACK_ROOM(p, ROOM_FOUND, 1, int),
     PACK_ROOM(p, ROOM_NUMBER, SAMPLE, W));
    if (!packing_read(p, &count, p->room[ROOM_FOUND].p, sizeof count, e)) return false;
    *missing = count;
    return !count || add_values(p, count < SAMPLE ? count : +SAMPLE, e);
}

/* Each round adds at least one value, so there are at most PACKED_CODES rounds; usually there is one. */
template <typename W> static bool find_values(struct packing *p, struct err *e)
{
    int64_t sample = p->nnz < SAMPLE ? p->nnz : +SAMPLE, missing = 1;
    *dictionary_of(p) = {};
    if (p->nnz == 0) return true;
    if (!packing_room(p, ROOM_NUMBER, SAMPLE, sizeof(W), e) || !packing_room(p, ROOM_FOUND, 2, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_BASE, PACKED_CODES, sizeof(W), e))
        return false;
    LAUNCH(p->dev, blocks_for(sample, PACK_BLOCK), PACK_BLOCK, packed_sample<W>)
    (p->nnz, sample, PACK_VAL(p, W), PACK_ROOM(p, ROOM_NUMBER, sample, W));
    bool ok = add_values(p, sample, e);
    while (ok && missing && dictionary_of(p)->n <= PACKED_CODES) ok = add_missing<W>(p, &missing, e);
    packed_sort(dictionary_of(p));
    return ok;
}

static bool find_values_of(struct packing *p, struct err *e)
{
    size_t size = type_size(precisions[p->S.real].stored);
    return size == 2   ? find_values<uint16_t>(p, e)
           : size == 4 ? find_values<uint32_t>(p, e)
           : size == 8 ? find_values<uint64_t>(p, e)
                       : find_values<bits16>(p, e);
}

/* ---- slices ---- */

/* The row at position k of the order. */
template <bool SORTED> __device__ int64_t row_at(GPTR(const int64_t) sorted, int64_t k)
{
    if constexpr (SORTED)
        return sorted[k];
    else
        return k;
}

/* One warp per slice, one lane per row: at16[s] and at32[s] = slots of slice s in col16 and col32; head = steps and
   base. No lane returns early, because the shuffles need the whole warp. */
template <bool SORTED>
__global__ void packed_measure(int64_t rows, int64_t C, int64_t slices, GPTR(const int) ptr, GPTR(const int) col,
                               GPTR(const int64_t) sorted, GPTR(int64_t) at16, GPTR(int64_t) at32, GPTR(int) head)
{
    int64_t s = ((int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x) / WARP, lane = threadIdx.x % WARP, V = WARP / C;
    int longest = 0, first = INT32_MAX, last = 0;
    if (s < slices && lane < C && s * C + lane < rows) {
        int64_t row = row_at<SORTED>(sorted, s * C + lane);
        int from = ptr[row], end = ptr[row + 1];
        longest = end - from;
        if (longest) first = col[from], last = col[end - 1];
    }
    for (int d = WARP / 2; d > 0; d /= 2) {
        longest = max(longest, __shfl_down_sync(FULL_MASK, longest, d));
        first = min(first, __shfl_down_sync(FULL_MASK, first, d));
        last = max(last, __shfl_down_sync(FULL_MASK, last, d));
    }
    if (s >= slices || lane) return;
    if (!longest) first = 0;
    bool wide = last - first >= PACKED_SPAN;
    int64_t steps = (longest + V - 1) / V;
    at16[s] = wide ? 0 : WARP * steps;
    at32[s] = wide ? WARP * steps : 0;
    head[s * PACKED_HEAD + PACKED_STEPS] = (int)steps;
    head[s * PACKED_HEAD + PACKED_BASE] = wide ? -1 : first;
}

static int64_t slices_of(const struct packing *p)
{
    return (p->rows + p->S.param[0] - 1) / p->S.param[0];
}

#define PACKED_STARTS(p, r, ...) PACK_ROOM(p, r, slices_of(p) + 1, __VA_ARGS__)
#define PACKED_HEADS(p, ...) PACK_ROOM(p, ROOM_BAND, slices_of(p) * PACKED_HEAD, __VA_ARGS__)

/* Measure the slices: ROOM_AT and ROOM_MORE receive the first slots of the slices in col16 and col32. */
template <bool SORTED> static bool measure(struct packing *p, struct packed_counts *n, struct err *e)
{
    int64_t slices = slices_of(p);
    if (!packing_room(p, ROOM_AT, slices + 1, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_MORE, slices + 1, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_BAND, slices * PACKED_HEAD, sizeof(int), e))
        return false;
    LAUNCH(p->dev, blocks_for(slices * WARP, PACK_BLOCK), PACK_BLOCK, packed_measure<SORTED>)
    (p->rows, p->S.param[0], slices, PACK_PTR(p), PACK_COL(p),
     PACK_ROOM(p, order_of(p), SORTED ? p->rows : 0, const int64_t), PACKED_STARTS(p, ROOM_AT, int64_t),
     PACKED_STARTS(p, ROOM_MORE, int64_t), PACKED_HEADS(p, int));
    return packing_exclusive_scan(p, ROOM_AT, slices, &n->slots16, e) &&
           packing_exclusive_scan(p, ROOM_MORE, slices, &n->slots32, e);
}

/* The same decisions as on the host. */
static bool plan_slices(struct packing *p, struct packed_counts *n, struct err *e)
{
    int64_t sigma = p->S.param[1];
    p->sorted = 0;
    if (sigma <= 1) {
        if (!measure<false>(p, n, e)) return false;
        int64_t slots = n->slots16 + n->slots32;
        if (sigma == 1 || !packed_sorts(slots, p->nnz)) return p->S.param[1] = 1, true;
        if (!sort_by_length(p, p->A->ptr[CSR_PTR], p->rows, PACKED_WINDOW, e) || !measure<true>(p, n, e)) return false;
        if (packed_sorts(slots, n->slots16 + n->slots32)) return p->S.param[1] = PACKED_WINDOW, true;
        p->S.param[1] = 1;
        return measure<false>(p, n, e);
    }
    return sort_by_length(p, p->A->ptr[CSR_PTR], p->rows, sigma, e) && measure<true>(p, n, e);
}

static bool plan(struct packing *p, struct err *e)
{
    struct packed_counts n = {};
    if (!packing_state(p, sizeof(struct packed_dictionary), NULL, e) || !packed_shape(&p->S, e) ||
        !plan_slices(p, &n, e) || !find_values_of(p, e))
        return false;
    n.values = dictionary_of(p)->n;
    return packed_sizes(&p->S, &n, e);
}

/* ---- filling the arrays ---- */

/* Thread s: the numbers of slice s, and start[s] = its first slot among the values. */
__global__ void packed_heads(int64_t slices, GPTR(const int64_t) at16, GPTR(const int64_t) at32, GPTR(const int) head,
                             GPTR(int64_t) start, GPTR(int) out)
{
    int64_t s = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (s >= slices) return;
    int64_t narrow = at16[s], wide = at32[s];
    start[s] = narrow + wide;
    out[s * PACKED_HEAD + PACKED_AT16] = (int)narrow;
    out[s * PACKED_HEAD + PACKED_AT32] = (int)wide;
    out[s * PACKED_HEAD + PACKED_STEPS] = head[s * PACKED_HEAD + PACKED_STEPS];
    out[s * PACKED_HEAD + PACKED_BASE] = head[s * PACKED_HEAD + PACKED_BASE];
}

__global__ void packed_perm(int64_t rows, int64_t sigma, GPTR(const int64_t) sorted, GPTR(uint16_t) perm)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k < rows) perm[k] = (uint16_t)(sorted[k] - k / sigma * sigma);
}

/* The entry of a slice's step and lane; -1: padding. */
template <bool SORTED>
__device__ int64_t entry_at(int64_t rows, int C, int64_t s, int step, int lane, GPTR(const int) ptr,
                            GPTR(const int64_t) sorted)
{
    int V = WARP / C, j = step * V + lane % V;
    int64_t k = s * C + lane / V;
    if (k >= rows) return -1;
    int64_t row = row_at<SORTED>(sorted, k), from = ptr[row];
    return j < ptr[row + 1] - from ? from + j : -1;
}

/* One block per TILE slots, one thread per slot: the column and the code at the slot, and, if each slot has its own
   value, the value that lies at the same index of val, which belongs to another entry of the slice. */
template <typename W, bool SORTED>
__global__ void packed_pack(int64_t rows, int C, int64_t slices, int64_t slots, GPTR(const int) ptr,
                            GPTR(const int) col, GPTR(const W) val, GPTR(const int64_t) sorted,
                            GPTR(const int64_t) start, GPTR(const int) head, int values, GPTR(const W) dictionary,
                            bool per_slot, GPTR(uint16_t) col16, GPTR(int) col32, GPTR(uint8_t) code, GPTR(W) out)
{
    SHARED(int, ends, 2);
    SHARED(W, value, PACKED_CODES);
    int64_t first = (int64_t)blockIdx.x * TILE, end = min(first + TILE, slots);
    for (int i = threadIdx.x; i < values; i += PACK_BLOCK) value[i] = dictionary[i];
    if (threadIdx.x < 2) ends[threadIdx.x] = (int)last_not_above(start, 0, slices - 1, threadIdx.x ? end - 1 : first);
    __syncthreads(); /* all threads of the block: `value` and `ends` are complete */
    for (int64_t g = first + threadIdx.x; g < end; g += PACK_BLOCK) {
        int64_t s = last_not_above(start, ends[0], ends[1], g);
        int in = (int)(g - start[s]), base = head[s * PACKED_HEAD + PACKED_BASE];
        struct packed_group group = packed_group_of(head[s * PACKED_HEAD + PACKED_STEPS], in / WARP, base < 0);
        int first_step = (int)group.first, width = (int)group.width, part = in - first_step * WARP;
        int64_t k = entry_at<SORTED>(rows, C, s, first_step + part % width, part / width, ptr, sorted);
        if (base < 0)
            col32[head[s * PACKED_HEAD + PACKED_AT32] + in] = k < 0 ? -1 : col[k];
        else
            col16[head[s * PACKED_HEAD + PACKED_AT16] + in] = (uint16_t)(k < 0 ? PACKED_PAD16 : col[k] - base);
        if (values) code[g] = (uint8_t)(k < 0 ? 0 : code_of(value, values, val[k]));
        if (!per_slot) continue;
        k = entry_at<SORTED>(rows, C, s, in / WARP, in % WARP, ptr, sorted);
        out[g] = k < 0 ? W{} : val[k];
    }
}

template <typename W, bool SORTED> static bool fill(struct packing *p, struct err *e)
{
    int64_t slices = slices_of(p), slots = p->S.a[PACKED_COL16].n + p->S.a[PACKED_COL32].n;
    bool coded = p->S.a[PACKED_CODE].n > 0, per_slot = !coded && p->S.a[PACKED_VAL].n > 1;
    int values = coded ? (int)p->S.a[PACKED_VAL].n : 0;
    if (!packing_room(p, ROOM_BASE, slices + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(slices, PACK_BLOCK), PACK_BLOCK, packed_heads)
    (slices, PACKED_STARTS(p, ROOM_AT, const int64_t), PACKED_STARTS(p, ROOM_MORE, const int64_t),
     PACKED_HEADS(p, const int), PACKED_STARTS(p, ROOM_BASE, int64_t), PACK_OUT(p, PACKED_SLICE, int));
    if (SORTED) LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, packed_perm)
    (p->rows, p->S.param[1], PACK_ROOM(p, order_of(p), p->rows, const int64_t), PACK_OUT(p, PACKED_PERM, uint16_t));
    if (!per_slot && !put_values(p, p->out[PACKED_VAL], e)) return false;
    if (coded && !put_values(p, p->room[ROOM_NUMBER].p, e)) return false;
    LAUNCH(p->dev, blocks_for(slots, TILE), PACK_BLOCK, packed_pack<W, SORTED>)
    (p->rows, (int)p->S.param[0], slices, slots, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, W),
     PACK_ROOM(p, order_of(p), SORTED ? p->rows : 0, const int64_t), PACKED_STARTS(p, ROOM_BASE, const int64_t),
     PACK_OUT(p, PACKED_SLICE, const int), values, PACK_ROOM(p, ROOM_NUMBER, values, const W), per_slot,
     PACK_OUT(p, PACKED_COL16, uint16_t), PACK_OUT(p, PACKED_COL32, int), PACK_OUT(p, PACKED_CODE, uint8_t),
     PACK_OUT(p, PACKED_VAL, W));
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    using W = typename bits_type<T>::type;
    return p->S.param[1] > 1 ? fill<W, true>(p, e) : fill<W, false>(p, e);
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(packed) = {
    .format = &format_packed,
    .about = "one warp per slice measures it; the host collects distinct values; one thread per slot finds its entry",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack), BITS_16(KERNEL_SPACE::pack)},
};
