/* The levels of multigrid, made on a GPU: aggregates, the prolongation, and products of matrices by hash tables in
   shared memory. One thread takes a row, except in products, where a group of lanes takes a row. */
#include "gpu/dialect.h"

#include "machine/amg_setup_ops.h"

#include <cmath>

namespace KERNEL_SPACE
{

enum {
    SETUP_BLOCK = 128,
    SETUP_WARPS = SETUP_BLOCK / WARP,
    PROLONG_MAX = 32, /* most entries of a row of P */
    MOVE_LANES = 8,   /* lanes that go along a row */
    KEY_LANES = 4,    /* lanes that make the keys of a row of P */
    COVERED = 0,
    OPEN = 1,
    ROOT = 2
};

static __device__ int64_t setup_row()
{
    return (int64_t)blockIdx.x * SETUP_BLOCK + threadIdx.x;
}

/* The mark of a row: its state, a hash, and its number. The same as in amg_aggregate.c. */
static __device__ uint64_t setup_mark(uint64_t state, int64_t row)
{
    uint64_t x = (uint64_t)row * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
    return state << 62 | (x >> 34) << 32 | (uint64_t)row;
}

/* The first of the n places of each thread in a list to which all blocks append, with one atomic for each block; used
   counts the places. All threads of the block take part. */
static __device__ int64_t setup_places(int n, GPTR(unsigned long long) used)
{
    SHARED(int, counts, SETUP_WARPS);
    SHARED(int64_t, first, 1);
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), before = n;
    for (int d = 1; d < WARP; d *= 2) {
        int more = __shfl_up_sync(FULL_MASK, before, d);
        if (lane >= d) before += more;
    }
    if (lane == WARP - 1) counts[warp] = before;
    __syncthreads(); /* all threads of the block: the counts are complete */
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < SETUP_WARPS; w++) total += counts[w];
        first[0] = total > 0 ? (int64_t)atomicAdd(used + 0, (unsigned long long)total) : 0;
    }
    __syncthreads(); /* all threads of the block: first[0] is in shared memory */
    int64_t at = first[0] + before - n;
    for (int w = 0; w < warp; w++) at += counts[w];
    return at;
}

/* ---- the diagonal ---- */

enum { FACT_NEGATIVE = 1, FACT_POSITIVE = 2, FACT_MISSING = 4, FACT_EXTREME = 8 };

static __device__ unsigned setup_kind(double diagonal)
{
    double size = fabs(diagonal);
    if (!(size > 0)) return FACT_MISSING;
    unsigned sign = diagonal < 0 ? FACT_NEGATIVE : FACT_POSITIVE;
    return size > AMG_SMALLEST && size < 1 / AMG_SMALLEST ? sign : sign | FACT_EXTREME;
}

/* A block joins what its threads found, and needs one atomic for each fact. flag: negative, positive, missing, extreme
   of struct amg_facts. */
template <typename T>
__global__ void setup_diagonal(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, GPTR(T) dinv,
                               GPTR(unsigned) flag, GPTR(unsigned long long) most)
{
    SHARED(double, ratios, SETUP_WARPS);
    SHARED(unsigned, kinds, SETUP_WARPS);
    int64_t i = setup_row();
    int begin = i < rows ? ptr[i] : 0, end = i < rows ? ptr[i + 1] : 0;
    double diagonal = 0, sum = 0;
    for (int k = begin; k < end; k++) {
        double a = (double)val[k];
        sum += fabs(a);
        if (col[k] == i) diagonal = a;
    }
    if (i < rows) dinv[i] = (T)(1 / diagonal);
    unsigned kind = i < rows ? setup_kind(diagonal) : 0;
    double ratio = diagonal != 0 ? sum / fabs(diagonal) : 0;
    for (int d = WARP / 2; d > 0; d /= 2) {
        ratio = max(ratio, __shfl_down_sync(FULL_MASK, ratio, d));
        kind |= __shfl_down_sync(FULL_MASK, kind, d);
    }
    if (threadIdx.x % WARP == 0) {
        ratios[threadIdx.x / WARP] = ratio;
        kinds[threadIdx.x / WARP] = kind;
    }
    __syncthreads(); /* all threads of the block: ratios and kinds are complete */
    if (threadIdx.x > 0) return;
    for (int w = 1; w < SETUP_WARPS; w++) {
        double other = ratios[w];
        ratio = max(ratio, other);
        kind |= kinds[w];
    }
    for (int f = 0; f < 4; f++)
        if (kind >> f & 1) atomicMax(flag + f, 1u);
    unsigned long long bits;
    memcpy(&bits, &ratio, sizeof bits); /* the bits of positive numbers are ordered like the numbers */
    atomicMax(most + 0, bits);
}

/* The random vector from which the largest eigenvalue is estimated. */
template <typename T> __global__ void setup_random(int64_t rows, GPTR(T) x)
{
    int64_t i = setup_row();
    if (i < rows) x[i] = (T)amg_random(i);
}

/* ---- aggregates ---- */

template <typename T>
__global__ void setup_strong(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                             GPTR(const T) dinv, double theta2, GPTR(unsigned char) strong)
{
    int64_t i = setup_row() / MOVE_LANES;
    if (i >= rows) return;
    int end = ptr[i + 1];
    double own = (double)dinv[i];
    for (int k = ptr[i] + (int)(threadIdx.x % MOVE_LANES); k < end; k += MOVE_LANES) {
        int j = col[k];
        double a = (double)val[k];
        double share = a * own;
        strong[k] = j != i && share < 0 && share * a * (double)dinv[j] > theta2;
    }
}

__global__ void setup_begin(int64_t rows, GPTR(uint64_t) mark, GPTR(uint64_t) once, GPTR(int) open, GPTR(int) near)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    uint64_t first = setup_mark(OPEN, i);
    mark[i] = first;
    once[i] = first;
    open[i] = (int)i;
    near[i] = (int)i;
}

/* The largest mark of row i and its strong neighbours. */
static __device__ uint64_t setup_largest(int64_t i, GPTR(const int) ptr, GPTR(const int) col,
                                         GPTR(const unsigned char) strong, GPTR(const uint64_t) from)
{
    int end = ptr[i + 1];
    uint64_t most = from[i];
    for (int k = ptr[i]; k < end; k++) {
        if (!strong[k]) continue;
        uint64_t other = from[col[k]];
        most = other > most ? other : most;
    }
    return most;
}

/* A thread takes a row of the list. If the largest mark is not that of an open row, no later round changes it, and the
   row leaves the list: most rounds have few rows. All threads of a block take part in setup_places. */
__global__ void setup_spread(GPTR(const unsigned long long) length, GPTR(const int) list, GPTR(const int) ptr,
                             GPTR(const int) col, GPTR(const unsigned char) strong, GPTR(const uint64_t) mark,
                             GPTR(uint64_t) once, GPTR(int) rest, GPTR(unsigned long long) left)
{
    int64_t t = setup_row(), n = (int64_t)length[0];
    if (t - threadIdx.x >= n) return; /* all threads of the block */
    int i = t < n ? list[t] : -1;
    bool stays = false;
    if (i >= 0) {
        uint64_t most = setup_largest(i, ptr, col, strong, mark);
        once[i] = most;
        stays = most >> 62 == OPEN;
    }
    int64_t at = setup_places(stays, left);
    if (stays) rest[at] = i;
}

__global__ void setup_decide(GPTR(const unsigned long long) length, GPTR(const int) list, GPTR(const int) ptr,
                             GPTR(const int) col, GPTR(const unsigned char) strong, GPTR(const uint64_t) once,
                             GPTR(uint64_t) mark, GPTR(int) rest, GPTR(unsigned long long) left)
{
    int64_t t = setup_row(), n = (int64_t)length[0];
    if (t - threadIdx.x >= n) return; /* all threads of the block */
    int i = t < n ? list[t] : -1;
    bool stays = false;
    if (i >= 0) {
        uint64_t best = setup_largest(i, ptr, col, strong, once);
        bool root = (int)(uint32_t)best == i;
        stays = !root && best >> 62 != ROOT;
        if (!stays) mark[i] = setup_mark(root ? ROOT : COVERED, i);
    }
    int64_t at = setup_places(stays, left);
    if (stays) rest[at] = i;
}

__global__ void setup_roots(int64_t rows, GPTR(const int) ptr, GPTR(const unsigned char) strong,
                            GPTR(const uint64_t) mark, GPTR(int64_t) count)
{
    int64_t i = setup_row();
    if (i > rows) return;
    bool root = false;
    if (i < rows && mark[i] >> 62 == ROOT) {
        int end = ptr[i + 1];
        for (int k = ptr[i]; k < end && !root; k++) root = strong[k] != 0;
    }
    count[i] = root;
}

__global__ void setup_number(int64_t rows, GPTR(const int64_t) at, GPTR(int) of)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int64_t here = at[i];
    of[i] = at[i + 1] > here ? (int)here : -1;
}

template <typename T>
__global__ void setup_join(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(const unsigned char) strong, GPTR(const T) dinv, GPTR(const int) from, GPTR(int) to)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int best = from[i], end = ptr[i + 1];
    bool free = best < 0;
    double most = 0, own = (double)dinv[i];
    for (int k = ptr[i]; free && k < end; k++) {
        if (!strong[k]) continue;
        int j = col[k], other = from[j];
        double a = (double)val[k], strength = a * a * own * (double)dinv[j];
        if (other < 0 || strength <= most) continue;
        most = strength;
        best = other;
    }
    to[i] = best;
}

static __global__ void setup_clear(int64_t n, GPTR(int) x)
{
    int64_t i = setup_row();
    if (i < n) x[i] = 0;
}

__global__ void setup_weigh(int64_t rows, GPTR(const int) of, bool ones, GPTR(const int) of_row, GPTR(int) weight)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int j = of[i];
    if (j >= 0) atomicAdd(weight + j, ones ? 1 : of_row[i]);
}

/* The near-null vector at row j, divided by its norm over the aggregate. */
template <typename P> __device__ double setup_near(bool ones, P of_row, P weight, int64_t row, int aggregate)
{
    return sqrt((ones ? 1. : (double)of_row[row]) / (double)weight[aggregate]);
}

/* The near-null vector at row j, divided by that at row i. */
template <typename P> __device__ double setup_near_ratio(bool ones, P of_row, int64_t j, int64_t i)
{
    return ones ? 1. : sqrt((double)of_row[j] / (double)of_row[i]);
}

/* ---- rows in hash tables ---- */

/* A group of V lanes makes a row of a matrix in a hash table of SLOTS columns in shared memory. key: a column, or -1;
   sum: its value; list: the slots in use. `base` is the first slot of the group. */
template <int V, int SLOTS, typename KEY, typename SUM, typename LIST> struct setup_table {
    KEY key;
    SUM sum;
    LIST list;
    int base, lane;
    unsigned mask; /* the lanes of the group */

    __device__ void clear() const
    {
        for (int s = lane; s < SLOTS; s += V) {
            key[base + s] = -1;
            sum[base + s] = 0;
        }
    }
    /* The slot of column c, which several lanes may look up at the same time; -1: the table is full. */
    __device__ int find(int c) const
    {
        int slot = (int)((unsigned)c * 2654435761u >> 16) % SLOTS;
        for (int tries = 0; tries < SLOTS; tries++) {
            int there = atomicCAS(key + (base + slot), -1, c);
            if (there == -1 || there == c) return base + slot;
            slot = (slot + 1) % SLOTS;
        }
        return -1;
    }
    /* Fill the list, and return its length. All lanes of the group take part. */
    __device__ int gather() const
    {
        int found = 0;
        for (int s = lane; s < SLOTS; s += V) found += key[base + s] >= 0;
        int before = found;
        for (int d = 1; d < V; d *= 2) {
            int more = __shfl_up_sync(mask, before, d, V);
            if (lane >= d) before += more;
        }
        int next = before - found;
        for (int s = lane; s < SLOTS; s += V)
            if (key[base + s] >= 0) list[base + next++] = (unsigned short)s;
        return __shfl_sync(mask, before, V - 1, V);
    }
    /* The place of column c among the n columns. */
    __device__ int rank(int c, int n) const
    {
        int smaller = 0;
        for (int other = 0; other < n; other++) {
            int slot = (int)list[base + other];
            smaller += key[base + slot] < c;
        }
        return smaller;
    }
};

template <int V, int SLOTS, typename KEY, typename SUM, typename LIST>
__device__ setup_table<V, SLOTS, KEY, SUM, LIST> setup_table_of(KEY key, SUM sum, LIST list)
{
    int lane = (int)threadIdx.x % V;
    unsigned mask = V == WARP ? FULL_MASK : ((1u << V % WARP) - 1) << (threadIdx.x % WARP / V * V);
    return {key, sum, list, (int)threadIdx.x / V * SLOTS, lane, mask};
}

/* Append row i, which the table of the group holds, to a list: it receives length[i] entries from start[i] on, sorted
   by column if SORT. All threads of the block take part. */
template <typename T, int V, bool SORT, typename TABLE>
__device__ void setup_append(int64_t rows, int64_t i, const TABLE &table, int64_t room, GPTR(int) start,
                             GPTR(int64_t) length, GPTR(int) ccol, GPTR(T) cval, GPTR(unsigned long long) used,
                             GPTR(unsigned) full)
{
    enum { GROUPS = SETUP_BLOCK / V };
    SHARED(int, lengths, GROUPS);
    SHARED(int64_t, first, 1);
    int group = (int)threadIdx.x / V, n = table.gather();
    if (table.lane == 0) lengths[group] = n;
    __syncthreads(); /* all threads of the block: lists and lengths are complete */
    if (threadIdx.x == 0) {
        int total = 0;
        for (int g = 0; g < GROUPS; g++) total += lengths[g];
        first[0] = total > 0 ? (int64_t)atomicAdd(used + 0, (unsigned long long)total) : 0;
    }
    __syncthreads(); /* all threads of the block: first[0] is in shared memory */
    int64_t at = first[0];
    for (int g = 0; g < group; g++) at += lengths[g];
    bool fits = at + n <= room;
    if (i <= rows && table.lane == 0) {
        length[i] = n;
        if (i < rows) start[i] = fits ? (int)at : 0;
        if (!fits) atomicMax(full + 0, 1u);
    }
    for (int s = table.lane; i < rows && fits && s < n; s += V) {
        int slot = (int)table.list[table.base + s], c = table.key[table.base + slot];
        int64_t to = at + (SORT ? table.rank(c, n) : s);
        ccol[to] = c;
        cval[to] = (T)table.sum[table.base + slot];
    }
}

/* ---- the prolongation ---- */

/* omega divided by the diagonal of F, for row i. All lanes of the group take part. */
template <int V, typename T>
__device__ double setup_scale(int64_t i, int begin, int end, unsigned mask, GPTR(const int) col, GPTR(const T) val,
                              GPTR(const unsigned char) strong, bool ones, GPTR(const int) of_row, double omega)
{
    double diagonal = 0, sum = 0;
    for (int k = begin + (int)threadIdx.x % V; k < end; k += V) {
        double a = (double)val[k];
        if (col[k] == i) diagonal = a;
        if (!strong[k]) sum += a * setup_near_ratio(ones, of_row, col[k], i);
    }
    for (int d = V / 2; d > 0; d /= 2) {
        diagonal += __shfl_xor_sync(mask, diagonal, d, V);
        sum += __shfl_xor_sync(mask, sum, d, V);
    }
    return omega / (sum / diagonal > 0.1 ? sum : diagonal);
}

/* Row i of P, by V lanes; the rows form a list. The lanes look up the slots of V entries at the same time, and add to
   them one after another, so that the order of the additions is fixed. The first entry is that of the row itself. */
template <typename T, int V>
__global__ void setup_prolong(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                              GPTR(const unsigned char) strong, GPTR(const int) of, bool ones, GPTR(const int) of_row,
                              GPTR(const int) weight, double omega, int64_t room, GPTR(int) start, GPTR(int64_t) length,
                              GPTR(int) pcol, GPTR(T) pval, GPTR(unsigned long long) used, GPTR(unsigned) full)
{
    enum { SLOTS = PROLONG_MAX, GROUPS = SETUP_BLOCK / V };
    SHARED(int, key, GROUPS *SLOTS);
    SHARED(double, sum, GROUPS *SLOTS);
    SHARED(unsigned short, list, GROUPS *SLOTS);
    auto table = setup_table_of<V, SLOTS>(key, sum, list);
    int64_t i = setup_row() / V;
    table.clear();
    __syncwarp(table.mask); /* the lanes of the group: the table is empty */
    int own = i < rows ? of[i] : -1, begin = own >= 0 ? ptr[i] : 1, end = own >= 0 ? ptr[i + 1] : 0;
    double scale = 0;
    if (own >= 0) scale = setup_scale<V>(i, begin, end, table.mask, col, val, strong, ones, of_row, omega);
    for (int chunk = begin - 1; chunk < end; chunk += V) { /* begin - 1: the first entry */
        int k = chunk + table.lane, aggregate = -1;
        double value = 0;
        if (k < begin) {
            aggregate = own;
            value = (1 - omega) * setup_near(ones, of_row, weight, i, own);
        } else if (k < end && strong[k]) {
            int j = col[k];
            aggregate = of[j];
            if (aggregate >= 0) value = -scale * (double)val[k] * setup_near(ones, of_row, weight, j, aggregate);
        }
        int slot = aggregate >= 0 ? table.find(aggregate) : -1;
        if (aggregate >= 0 && slot < 0) atomicMax(full + 0, 1u);
        for (int turn = 0; turn < V; turn++) {
            if (turn == table.lane && slot >= 0) sum[slot] = sum[slot] + value;
            __syncwarp(table.mask); /* the lanes of the group: the next lane may add to the same slot */
        }
    }
    setup_append<T, V, true>(rows, i, table, room, start, length, pcol, pval, used, full);
}

/* ---- products ---- */

/* V lanes take row i of C = A B; the rows form a list. They go along the rows of B that the entries of row i of A
   select, one row of B after another: its columns differ, so no two lanes add to the same slot, and the order of the
   additions is fixed. Row j of B is at [bbegin[j], bend[j]). */
template <typename T, int V, int SLOTS, bool SORT>
__global__ void setup_multiply(int64_t rows, GPTR(const int) aptr, GPTR(const int) acol, GPTR(const T) aval,
                               GPTR(const int) bbegin, GPTR(const int) bend, GPTR(const int) bcol, GPTR(const T) bval,
                               int64_t room, GPTR(int) start, GPTR(int64_t) length, GPTR(int) ccol, GPTR(T) cval,
                               GPTR(unsigned long long) used, GPTR(unsigned) full)
{
    enum { GROUPS = SETUP_BLOCK / V };
    SHARED(int, key, GROUPS *SLOTS);
    SHARED(double, sum, GROUPS *SLOTS);
    SHARED(unsigned short, list, GROUPS *SLOTS);
    SHARED(unsigned, failed, 1);
    auto table = setup_table_of<V, SLOTS>(key, sum, list);
    int64_t i = setup_row() / V;
    table.clear();
    if (threadIdx.x == 0) failed[0] = full[0];
    __syncthreads();            /* all threads of the block: the tables are empty, and failed[0] is in shared memory */
    if (failed[0] != 0) return; /* all threads of the block: the result will not be used */
    int begin = i < rows ? aptr[i] : 0, end = i < rows ? aptr[i + 1] : 0;
    for (int chunk = begin; chunk < end; chunk += V) {
        /* each lane loads an entry of A, so that the loads of V entries overlap */
        bool has = chunk + table.lane < end;
        int of = has ? acol[chunk + table.lane] : 0, from = has ? bbegin[of] : 0, to = has ? bend[of] : 0;
        double mine = has ? (double)aval[chunk + table.lane] : 0;
        int entries = min(end - chunk, +V);
        for (int e = 0; e < entries; e++) {
            int last = __shfl_sync(table.mask, to, e, V);
            double a = __shfl_sync(table.mask, mine, e, V);
            for (int m = __shfl_sync(table.mask, from, e, V) + table.lane; m < last; m += V) {
                int slot = table.find(bcol[m]);
                double b = (double)bval[m];
                if (slot >= 0)
                    sum[slot] = sum[slot] + a * b;
                else
                    atomicMax(full + 0, 1u);
            }
            __syncwarp(table.mask); /* the lanes of the group: the next row of B adds to the same slots */
        }
    }
    setup_append<T, V, SORT>(rows, i, table, room, start, length, ccol, cval, used, full);
}

/* The end of each row of a list: for a product with the rows of the list. */
static __global__ void setup_ends(int64_t rows, GPTR(const int) start, GPTR(const int64_t) length, GPTR(int) end)
{
    int64_t i = setup_row();
    if (i < rows) end[i] = start[i] + (int)length[i];
}

/* Rows from a list to their places in CSR, MOVE_LANES lanes per row. */
template <typename T>
__global__ void setup_move(int64_t rows, GPTR(const int) start, GPTR(const int) fcol, GPTR(const T) fval,
                           GPTR(const int) ptr, GPTR(int) col, GPTR(T) val)
{
    int64_t i = setup_row() / MOVE_LANES;
    if (i >= rows) return;
    int from = start[i], to = ptr[i], n = ptr[i + 1] - to;
    for (int k = (int)(threadIdx.x % MOVE_LANES); k < n; k += MOVE_LANES) {
        int c = fcol[from + k];
        T v = fval[from + k];
        col[to + k] = c;
        val[to + k] = v;
    }
}

/* The value of each entry left of the diagonal becomes that of its mirror image, found by bisection.
   MOVE_LANES lanes per row. */
template <typename T> __global__ void setup_mirror(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(T) val)
{
    int64_t i = setup_row() / MOVE_LANES;
    if (i >= rows) return;
    int end = ptr[i + 1];
    for (int k = ptr[i] + (int)(threadIdx.x % MOVE_LANES); k < end; k += MOVE_LANES) {
        int j = col[k];
        if (j >= i) return;
        int low = ptr[j], last = ptr[j + 1], high = last;
        while (low < high) {
            int mid = low + (high - low) / 2;
            if (col[mid] < i)
                low = mid + 1;
            else
                high = mid;
        }
        if (low == last || col[low] != i) continue;
        T mirror = val[low];
        val[k] = mirror;
    }
}

/* ---- pointers and transposes ---- */

__global__ void setup_pointers(int64_t rows, GPTR(const int64_t) at, GPTR(int) ptr)
{
    int64_t i = setup_row();
    if (i <= rows) ptr[i] = (int)at[i];
}

/* MOVE_LANES lanes per row */
__global__ void setup_offsets(int64_t rows, double slope, GPTR(const int) ptr, GPTR(const int) col,
                              GPTR(unsigned short) near, GPTR(unsigned) far)
{
    int64_t i = setup_row() / MOVE_LANES;
    if (i >= rows) return;
    int end = ptr[i + 1], base = amg_base(i, slope);
    for (int k = ptr[i] + (int)(threadIdx.x % MOVE_LANES); k < end; k += MOVE_LANES) {
        int offset = col[k] - base;
        near[k] = (unsigned short)offset;
        if (offset >> 16 != 0) atomicMax(far + 0, 1u);
    }
}

template <typename T>
__global__ void setup_keys(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(uint64_t) key, GPTR(double) payload)
{
    int64_t i = setup_row() / KEY_LANES;
    if (i >= rows) return;
    int end = ptr[i + 1];
    for (int k = ptr[i] + (int)(threadIdx.x % KEY_LANES); k < end; k += KEY_LANES) {
        key[k] = (uint64_t)col[k] << 32 | (uint64_t)i;
        payload[k] = (double)val[k];
    }
}

template <typename T> __global__ void setup_values(int64_t n, GPTR(const double) payload, GPTR(T) val)
{
    int64_t k = setup_row();
    if (k < n) val[k] = (T)payload[k];
}

template <typename T> __global__ void setup_narrow(int64_t n, GPTR(const T) x, GPTR(float) y)
{
    int64_t k = setup_row();
    if (k < n) y[k] = (float)x[k];
}

/* ---- the coarsest matrix ---- */

/* One thread per element of a full n x n matrix: sign * A, for the Gauss-Jordan method without pivoting. The element of
   a row is found by bisection. */
template <typename T>
__global__ void setup_spread_full(int64_t n, double sign, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                                  GPTR(double) full)
{
    int64_t at = setup_row(), i = at / n, j = at % n;
    if (i >= n) return;
    int low = ptr[i], last = ptr[i + 1], high = last;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (col[mid] < j)
            low = mid + 1;
        else
            high = mid;
    }
    full[at] = low < last && col[low] == j ? sign * (double)val[low] : 0;
}

/* A step of the in-place inversion, the exchange of variable k, by the Gauss-Jordan method: the new element (i, j),
   given the old one, the old elements (i, k) and (k, j), and the pivot. A pivot of at most `least` is 0 up to rounding:
   the step is skipped, and its row and column become 0 at the end. */
static __device__ double setup_exchanged(bool in_row, bool in_column, double own, double ik, double kj, double inverse)
{
    if (inverse == 0) return own;
    if (in_row && in_column) return inverse;
    if (in_row) return own * inverse;
    if (in_column) return -own * inverse;
    return own - ik * inverse * kj;
}

/* Steps k and l = k + 1 in one launch; l = n: only step k. The elements that step l needs are computed again by every
   thread. One thread per element. */
static __global__ void setup_exchange(int64_t n, int64_t k, GPTR(const double) from, GPTR(const double) limit,
                                      GPTR(double) to, GPTR(int) dropped, GPTR(unsigned) negative)
{
    int64_t at = setup_row(), i = at / n, j = at % n, l = k + 1 < n ? k + 1 : k;
    if (i >= n) return;
    double least = limit[0], kk = from[k * n + k], ik = from[i * n + k], kj = from[k * n + j];
    double by = fabs(kk) <= least ? 0 : 1 / kk, ll = 1;
    double own = setup_exchanged(i == k, j == k, from[at], ik, kj, by);
    if (l > k) {
        double lk = from[l * n + k], kl = from[k * n + l];
        double il = setup_exchanged(i == k, false, from[i * n + l], ik, kl, by);
        double lj = setup_exchanged(false, j == k, from[l * n + j], lk, kj, by);
        ll = setup_exchanged(false, false, from[l * n + l], lk, kl, by);
        own = setup_exchanged(i == l, j == l, own, il, lj, fabs(ll) <= least ? 0 : 1 / ll);
    }
    to[at] = own;
    if (at > 0) return;
    dropped[k] = fabs(kk) <= least;
    bool wrong = kk < -least;
    if (l > k) {
        dropped[l] = fabs(ll) <= least;
        wrong = wrong || ll < -least;
    }
    if (wrong || kk != kk || ll != ll) atomicMax(negative + 0, 1u);
}

/* One warp: least[0] = what counts as a pivot of 0. */
static __global__ void setup_least(int64_t n, double epsilon, GPTR(const double) full, GPTR(double) least)
{
    double most = 0;
    for (int64_t i = threadIdx.x; i < n; i += WARP) {
        double entry = full[i * n + i];
        most = max(most, entry);
    }
    for (int d = WARP / 2; d > 0; d /= 2) most = max(most, __shfl_down_sync(FULL_MASK, most, d));
    if (threadIdx.x == 0) least[0] = most * (double)n * 16 * epsilon;
}

/* The inverse as CSR without zeros left out; the lower triangle is the mirror image of the upper one. */
template <typename T>
__global__ void setup_full_csr(int64_t n, GPTR(const double) full, GPTR(const int) dropped, GPTR(int) ptr,
                               GPTR(int) col, GPTR(T) val)
{
    int64_t at = setup_row(), i = at / n, j = at % n;
    if (at == 0) ptr[n] = (int)(n * n);
    if (i >= n) return;
    int64_t upper = i < j ? at : j * n + i;
    bool out = dropped[i] || dropped[j];
    double v = full[upper];
    if (j == 0) ptr[i] = (int)at;
    col[at] = (int)j;
    val[at] = out ? (T)0 : (T)v;
}

/* ---- the launches ---- */

#define IN(p, n, ...) VECTOR(#p, ROLE_WORK, (void *)(p), n, const __VA_ARGS__)
#define OUT(p, n, ...) VECTOR(#p, ROLE_WORK, (void *)(p), n, __VA_ARGS__)
#define PATTERN(A) IN((A)->ptr, (A)->rows + 1, int), IN((A)->col, (A)->nnz, int)
#define MATRIX(A) PATTERN(A), IN((A)->val, (A)->nnz, T)
#define FLAG(facts, of) OUT(&(facts)->of, 1, unsigned)

#define LIST(l, A)                                                                                            \
    (l)->room, OUT((l)->start, (A)->rows, int), OUT((l)->length, (A)->rows + 1, int64_t),                     \
        OUT((l)->col, (l)->room, int), OUT((l)->val, (l)->room, T), OUT(&facts->used, 1, unsigned long long), \
        FLAG(facts, full)

template <typename T>
static void diagonal(struct device *d, const struct amg_csr *A, void *dinv, struct amg_facts *facts)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_diagonal<T>)
    (A->rows, MATRIX(A), OUT(dinv, A->rows, T), OUT(&facts->negative, 4, unsigned),
     OUT(&facts->most, 1, unsigned long long));
}

template <typename T> static void random(struct device *d, int64_t rows, void *x)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_random<T>)(rows, OUT(x, rows, T));
}

template <typename T>
static void strong_entries(struct device *d, const struct amg_csr *A, const void *dinv, double theta,
                           unsigned char *strong)
{
    LAUNCH(d, blocks_for(A->rows * MOVE_LANES, SETUP_BLOCK), SETUP_BLOCK, setup_strong<T>)
    (A->rows, MATRIX(A), IN(dinv, A->rows, T), theta * theta, OUT(strong, A->nnz, unsigned char));
}

static void begin(struct device *d, int64_t rows, const struct amg_rounds *r)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_begin)
    (rows, OUT(r->mark, rows, uint64_t), OUT(r->once, rows, uint64_t), OUT(r->open[0], rows, int),
     OUT(r->near[0], rows, int));
}

#define LENGTH(facts, of, k) IN(&(facts)->of[k], 1, unsigned long long)
#define NEXT(facts, of, k) OUT(&(facts)->of[(k) + 1], 1, unsigned long long)

static void decide(struct device *d, const struct amg_csr *A, const unsigned char *strong, const struct amg_rounds *r,
                   int k, int64_t most, struct amg_facts *facts)
{
    [[maybe_unused]] int64_t n = A->rows;
    LAUNCH(d, blocks_for(most, SETUP_BLOCK), SETUP_BLOCK, setup_spread)
    (LENGTH(facts, near, k), IN(r->near[k % 2], n, int), PATTERN(A), IN(strong, A->nnz, unsigned char),
     IN(r->mark, n, uint64_t), OUT(r->once, n, uint64_t), OUT(r->near[1 - k % 2], n, int), NEXT(facts, near, k));
    LAUNCH(d, blocks_for(most, SETUP_BLOCK), SETUP_BLOCK, setup_decide)
    (LENGTH(facts, open, k), IN(r->open[k % 2], n, int), PATTERN(A), IN(strong, A->nnz, unsigned char),
     IN(r->once, n, uint64_t), OUT(r->mark, n, uint64_t), OUT(r->open[1 - k % 2], n, int), NEXT(facts, open, k));
}

static void roots(struct device *d, const struct amg_csr *A, const unsigned char *strong, const uint64_t *mark,
                  int64_t *count)
{
    LAUNCH(d, blocks_for(A->rows + 1, SETUP_BLOCK), SETUP_BLOCK, setup_roots)
    (A->rows, IN(A->ptr, A->rows + 1, int), IN(strong, A->nnz, unsigned char), IN(mark, A->rows, uint64_t),
     OUT(count, A->rows + 1, int64_t));
}

static void number(struct device *d, int64_t rows, const int64_t *at, int *of)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_number)
    (rows, IN(at, rows + 1, int64_t), OUT(of, rows, int));
}

template <typename T>
static void join(struct device *d, const struct amg_csr *A, const unsigned char *strong, const void *dinv,
                 const int *from, int *to)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_join<T>)
    (A->rows, MATRIX(A), IN(strong, A->nnz, unsigned char), IN(dinv, A->rows, T), IN(from, A->rows, int),
     OUT(to, A->rows, int));
}

static void weigh(struct device *d, int64_t rows, int64_t aggregates, const int *of, const int *of_row, int *weight)
{
    LAUNCH(d, blocks_for(aggregates, SETUP_BLOCK), SETUP_BLOCK, setup_clear)(aggregates, OUT(weight, aggregates, int));
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_weigh)
    (rows, IN(of, rows, int), of_row == nullptr, IN(of_row, of_row ? rows : 0, int), OUT(weight, aggregates, int));
}

template <typename T, int V>
static void prolong_by(struct device *d, const struct amg_csr *A, const unsigned char *strong, const int *of,
                       [[maybe_unused]] int64_t aggregates, const int *of_row, const int *weight, double omega,
                       const struct amg_list *P, struct amg_facts *facts)
{
    LAUNCH(d, blocks_for((A->rows + 1) * V, SETUP_BLOCK), SETUP_BLOCK, setup_prolong<T, V>)
    (A->rows, MATRIX(A), IN(strong, A->nnz, unsigned char), IN(of, A->rows, int), of_row == nullptr,
     IN(of_row, of_row ? A->rows : 0, int), IN(weight, aggregates, int), omega, LIST(P, A));
}

template <typename T>
static void prolong(struct device *d, const struct amg_csr *A, const unsigned char *strong, const int *of,
                    int64_t aggregates, const int *of_row, const int *weight, double omega, const struct amg_list *P,
                    struct amg_facts *facts)
{
    auto *by = A->nnz > 16 * A->rows ? prolong_by<T, 8> : prolong_by<T, 4>;
    by(d, A, strong, of, aggregates, of_row, weight, omega, P, facts);
}

template <typename T, int V, int SLOTS, bool SORT>
static void multiply_by(struct device *d, const struct amg_csr *A, const struct amg_rows *B, const struct amg_list *C,
                        struct amg_facts *facts)
{
    LAUNCH(d, blocks_for((A->rows + 1) * V, SETUP_BLOCK), SETUP_BLOCK, setup_multiply<T, V, SLOTS, SORT>)
    (A->rows, MATRIX(A), IN(B->begin, B->rows, int), IN(B->end, B->rows, int), IN(B->col, B->nnz, int),
     IN(B->val, B->nnz, T), LIST(C, A));
}

template <typename T>
static void multiply(struct device *d, const struct amg_csr *A, const struct amg_rows *B, int table, bool sort,
                     const struct amg_list *C, struct amg_facts *facts)
{
    static void (*const by[AMG_TABLES][2])(struct device *, const struct amg_csr *, const struct amg_rows *,
                                           const struct amg_list *, struct amg_facts *) = {
        {multiply_by<T, 4, 32, false>, multiply_by<T, 4, 32, true>},
        {multiply_by<T, 8, 64, false>, multiply_by<T, 8, 64, true>},
        {multiply_by<T, 8, 128, false>, multiply_by<T, 8, 128, true>},
        {multiply_by<T, WARP, 512, false>, multiply_by<T, WARP, 512, true>},
    };
    by[table][sort](d, A, B, C, facts);
}

static void ends(struct device *d, int64_t rows, const struct amg_list *l, int *end)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_ends)
    (rows, IN(l->start, rows, int), IN(l->length, rows + 1, int64_t), OUT(end, rows, int));
}

template <typename T> static void move(struct device *d, const struct amg_list *l, struct amg_csr *A)
{
    LAUNCH(d, blocks_for(A->rows * MOVE_LANES, SETUP_BLOCK), SETUP_BLOCK, setup_move<T>)
    (A->rows, IN(l->start, A->rows, int), IN(l->col, l->room, int), IN(l->val, l->room, T),
     IN(A->ptr, A->rows + 1, int), OUT(A->col, A->nnz, int), OUT(A->val, A->nnz, T));
}

template <typename T> static void mirror(struct device *d, struct amg_csr *A)
{
    LAUNCH(d, blocks_for(A->rows * MOVE_LANES, SETUP_BLOCK), SETUP_BLOCK, setup_mirror<T>)
    (A->rows, PATTERN(A), OUT(A->val, A->nnz, T));
}

static void pointers(struct device *d, int64_t rows, const int64_t *at, int *ptr)
{
    LAUNCH(d, blocks_for(rows + 1, SETUP_BLOCK), SETUP_BLOCK, setup_pointers)
    (rows, IN(at, rows + 1, int64_t), OUT(ptr, rows + 1, int));
}

template <typename T> static void keys(struct device *d, const struct amg_csr *A, uint64_t *key, double *payload)
{
    LAUNCH(d, blocks_for(A->rows * KEY_LANES, SETUP_BLOCK), SETUP_BLOCK, setup_keys<T>)
    (A->rows, MATRIX(A), OUT(key, A->nnz, uint64_t), OUT(payload, A->nnz, double));
}

template <typename T> static void values(struct device *d, int64_t n, const double *payload, void *val)
{
    LAUNCH(d, blocks_for(n, SETUP_BLOCK), SETUP_BLOCK, setup_values<T>)(n, IN(payload, n, double), OUT(val, n, T));
}

static void near(struct device *d, const struct amg_csr *A, int which, struct amg_facts *facts)
{
    double slope = A->rows ? (double)A->cols / (double)A->rows : 0;
    LAUNCH(d, blocks_for(A->rows * MOVE_LANES, SETUP_BLOCK), SETUP_BLOCK, setup_offsets)
    (A->rows, slope, PATTERN(A), OUT(A->near, A->nnz, unsigned short), FLAG(facts, far[which]));
}

static void forget(struct device *d, struct amg_facts *facts)
{
    int64_t n = sizeof *facts / sizeof(int);
    LAUNCH(d, 1, SETUP_BLOCK, setup_clear)(n, OUT(facts, n, int));
}

template <typename T> static void narrow(struct device *d, int64_t n, const void *x, float *y)
{
    LAUNCH(d, blocks_for(n, SETUP_BLOCK), SETUP_BLOCK, setup_narrow<T>)(n, IN(x, n, T), OUT(y, n, float));
}

template <typename T>
static void full(struct device *d, const struct amg_csr *A, double sign, double epsilon, double *to, double *least)
{
    [[maybe_unused]] int64_t n = A->rows;
    LAUNCH(d, blocks_for(n * n, SETUP_BLOCK), SETUP_BLOCK, setup_spread_full<T>)
    (n, sign, MATRIX(A), OUT(to, n * n, double));
    LAUNCH(d, 1, WARP, setup_least)(n, epsilon, IN(to, n * n, double), OUT(least, 1, double));
}

static void exchange(struct device *d, int64_t n, int64_t k, const double *from, const double *least, double *to,
                     int *dropped, struct amg_facts *facts)
{
    LAUNCH(d, blocks_for(n * n, SETUP_BLOCK), SETUP_BLOCK, setup_exchange)
    (n, k, IN(from, n * n, double), IN(least, 1, double), OUT(to, n * n, double), OUT(dropped, n, int),
     FLAG(facts, negative));
}

template <typename T> static void full_csr(struct device *d, const double *full, const int *dropped, struct amg_csr *A)
{
    int64_t n = A->rows;
    LAUNCH(d, blocks_for(n * n, SETUP_BLOCK), SETUP_BLOCK, setup_full_csr<T>)
    (n, IN(full, n * n, double), IN(dropped, n, int), OUT(A->ptr, n + 1, int), OUT(A->col, n * n, int),
     OUT(A->val, n * n, T));
}

} // namespace KERNEL_SPACE

#define SETUP_ENTRY(id, T)                                                      \
    extern "C" const struct amg_setup_ops id;                                   \
    const struct amg_setup_ops id = {.forget = KERNEL_SPACE::forget,            \
                                     .diagonal = KERNEL_SPACE::diagonal<T>,     \
                                     .random = KERNEL_SPACE::random<T>,         \
                                     .strong = KERNEL_SPACE::strong_entries<T>, \
                                     .begin = KERNEL_SPACE::begin,              \
                                     .decide = KERNEL_SPACE::decide,            \
                                     .roots = KERNEL_SPACE::roots,              \
                                     .number = KERNEL_SPACE::number,            \
                                     .join = KERNEL_SPACE::join<T>,             \
                                     .weigh = KERNEL_SPACE::weigh,              \
                                     .prolong = KERNEL_SPACE::prolong<T>,       \
                                     .multiply = KERNEL_SPACE::multiply<T>,     \
                                     .ends = KERNEL_SPACE::ends,                \
                                     .move = KERNEL_SPACE::move<T>,             \
                                     .mirror = KERNEL_SPACE::mirror<T>,         \
                                     .pointers = KERNEL_SPACE::pointers,        \
                                     .near = KERNEL_SPACE::near,                \
                                     .keys = KERNEL_SPACE::keys<T>,             \
                                     .values = KERNEL_SPACE::values<T>,         \
                                     .narrow = KERNEL_SPACE::narrow<T>,         \
                                     .full = KERNEL_SPACE::full<T>,             \
                                     .exchange = KERNEL_SPACE::exchange,        \
                                     .full_csr = KERNEL_SPACE::full_csr<T>}

SETUP_ENTRY(VEC_SYMBOL(amg_setup_f32), float);
SETUP_ENTRY(VEC_SYMBOL(amg_setup_f64), double);
