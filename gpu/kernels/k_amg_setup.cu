/* The levels of multigrid, made on a GPU: aggregates, the prolongation, and products of matrices by hash tables in
   shared memory. One thread takes a row, except in products, where a group of lanes takes a row. */
#include "gpu/dialect.h"

#include "machine/amg_setup_ops.h"

#include <cmath>

namespace KERNEL_SPACE
{

enum {
    SETUP_BLOCK = 128,
    PROLONG_MOST = 32, /* most entries of a row of P */
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

/* ---- the diagonal ---- */

template <typename T>
__global__ void setup_diagonal(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, GPTR(T) dinv,
                               GPTR(unsigned) flag, GPTR(unsigned long long) most)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int end = ptr[i + 1];
    double diagonal = 0, sum = 0;
    for (int k = ptr[i]; k < end; k++) {
        double a = (double)val[k];
        sum += fabs(a);
        if (col[k] == i) diagonal = a;
    }
    dinv[i] = (T)(1 / diagonal);
    int what = diagonal < 0 ? 0 : diagonal > 0 ? 1 : 2;
    atomicMax(flag + what, 1u);
    double ratio = sum / fabs(diagonal);
    unsigned long long bits;
    memcpy(&bits, &ratio, sizeof bits); /* the bits of positive numbers are ordered like the numbers */
    if (diagonal != 0) atomicMax(most + 0, bits);
}

/* ---- aggregates ---- */

template <typename T>
__global__ void setup_strong(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                             GPTR(const T) dinv, double theta2, GPTR(unsigned char) strong)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int end = ptr[i + 1];
    double own = (double)dinv[i];
    for (int k = ptr[i]; k < end; k++) {
        int j = col[k];
        double a = (double)val[k];
        strong[k] = j != i && a * a * own * (double)dinv[j] > theta2;
    }
}

__global__ void setup_begin(int64_t rows, GPTR(uint64_t) mark)
{
    int64_t i = setup_row();
    if (i < rows) mark[i] = setup_mark(OPEN, i);
}

__global__ void setup_spread(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const unsigned char) strong,
                             GPTR(const uint64_t) from, GPTR(uint64_t) to)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int end = ptr[i + 1];
    uint64_t most = from[i];
    for (int k = ptr[i]; k < end; k++) {
        if (!strong[k]) continue;
        uint64_t other = from[col[k]];
        most = other > most ? other : most;
    }
    to[i] = most;
}

__global__ void setup_decide(int64_t rows, GPTR(uint64_t) mark, GPTR(const uint64_t) most, GPTR(unsigned) open)
{
    int64_t i = setup_row();
    if (i >= rows || mark[i] >> 62 != OPEN) return;
    uint64_t best = most[i];
    if ((int64_t)(uint32_t)best == i)
        mark[i] = setup_mark(ROOT, i);
    else if (best >> 62 == ROOT)
        mark[i] = setup_mark(COVERED, i);
    else
        atomicMax(open + 0, 1u);
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

__global__ void setup_weigh(int64_t rows, GPTR(const int) of, bool ones, GPTR(const int) of_row, GPTR(int) weight)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int j = of[i];
    if (j >= 0) atomicAdd(weight + j, ones ? 1 : of_row[i]);
}

/* ---- the prolongation ---- */

template <typename T> struct setup_entries {
    int n, col[PROLONG_MOST]; /* ascending */
    double val[PROLONG_MOST];

    __device__ bool add(int c, double v)
    {
        int at = n;
        while (at > 0 && col[at - 1] > c) at--;
        if (at > 0 && col[at - 1] == c) return val[at - 1] += v, true;
        if (n == PROLONG_MOST) return false;
        for (int k = n++; k > at; k--) {
            col[k] = col[k - 1];
            val[k] = val[k - 1];
        }
        col[at] = c;
        val[at] = v;
        return true;
    }
};

/* The near-null vector at row j, divided by its norm over the aggregate. */
template <typename P> __device__ double setup_near(bool ones, P of_row, P weight, int64_t row, int aggregate)
{
    return sqrt((ones ? 1. : (double)of_row[row]) / (double)weight[aggregate]);
}

template <typename T, bool FILL>
__global__ void setup_prolong(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                              GPTR(const unsigned char) strong, GPTR(const int) of, bool ones, GPTR(const int) of_row,
                              GPTR(const int) weight, double omega, GPTR(int64_t) count, GPTR(const int) pptr,
                              GPTR(int) pcol, GPTR(T) pval, GPTR(unsigned) full)
{
    int64_t i = setup_row();
    if (i > rows) return;
    setup_entries<T> r;
    r.n = 0;
    int own = i < rows ? of[i] : -1;
    if (own >= 0) {
        int begin = ptr[i], end = ptr[i + 1];
        double diagonal = 0, sum = 0;
        for (int k = begin; k < end; k++) {
            double a = (double)val[k];
            if (col[k] == i) diagonal = a;
            if (!strong[k]) sum += a;
        }
        double scale = omega / (sum / diagonal > 0.1 ? sum : diagonal);
        r.add(own, (1 - omega) * setup_near(ones, of_row, weight, i, own));
        for (int k = begin; k < end; k++) {
            if (!strong[k]) continue;
            int j = col[k], aggregate = of[j];
            if (aggregate < 0) continue;
            if (!r.add(aggregate, -scale * (double)val[k] * setup_near(ones, of_row, weight, j, aggregate)))
                atomicMax(full + 0, 1u);
        }
    }
    if (!FILL) count[i] = r.n;
    if (!FILL || i >= rows) return;
    int at = pptr[i];
    for (int k = 0; k < r.n; k++) {
        pcol[at + k] = r.col[k];
        pval[at + k] = (T)r.val[k];
    }
}

/* ---- products ---- */

/* V lanes take row i of C = A B. They go along the rows of B that the entries of row i of A select, one row of B after
   another: its columns differ, so no two lanes add to the same slot, and the order of the additions is fixed. The slots
   are a hash table of `SLOTS` columns per row. The columns are then sorted by counting smaller ones. */
template <typename T, int V, int SLOTS, bool FILL>
__global__ void setup_multiply(int64_t rows, GPTR(const int) aptr, GPTR(const int) acol, GPTR(const T) aval,
                               GPTR(const int) bptr, GPTR(const int) bcol, GPTR(const T) bval, GPTR(int64_t) count,
                               GPTR(const int) cptr, GPTR(int) ccol, GPTR(T) cval, GPTR(unsigned) full)
{
    enum { GROUPS = SETUP_BLOCK / V };
    SHARED(int, key, GROUPS *SLOTS);
    SHARED(double, sum, FILL ? GROUPS *SLOTS : 1);
    SHARED(int, list, FILL ? GROUPS *SLOTS : 1);
    SHARED(int, listed, GROUPS);
    int group = (int)threadIdx.x / V, lane = (int)threadIdx.x % V, base = group * SLOTS;
    unsigned mask = V == WARP ? FULL_MASK : ((1u << V % WARP) - 1) << (threadIdx.x % WARP / V * V);
    int64_t i = (int64_t)blockIdx.x * GROUPS + group;
    if (i > rows) return; /* all lanes of the group */
    for (int s = lane; s < SLOTS; s += V) {
        key[base + s] = -1;
        if (FILL) sum[base + s] = 0;
    }
    if (lane == 0) listed[group] = 0;
    __syncwarp(mask); /* the lanes of the group: the table is empty */
    int begin = i < rows ? aptr[i] : 0, end = i < rows ? aptr[i + 1] : 0;
    for (int k = begin; k < end; k++) {
        int j = acol[k], last = bptr[j + 1];
        double a = FILL ? (double)aval[k] : 0;
        for (int m = bptr[j] + lane; m < last; m += V) {
            int c = bcol[m], slot = (int)((unsigned)c * 2654435761u >> 16) % SLOTS, tries = 0, there = -1;
            while (tries++ < SLOTS) {
                there = atomicCAS(key + (base + slot), -1, c);
                if (there == -1 || there == c) break;
                slot = (slot + 1) % SLOTS;
            }
            if (there != -1 && there != c) atomicMax(full + 0, 1u);
            if (FILL) {
                double b = (double)bval[m];
                sum[base + slot] = sum[base + slot] + a * b;
            }
        }
        __syncwarp(mask); /* the lanes of the group: the next row of B adds to the same slots */
    }
    int found = 0;
    for (int s = lane; s < SLOTS; s += V) {
        if (key[base + s] < 0) continue;
        found++;
        if (FILL) list[base + atomicAdd(listed + group, 1)] = s;
    }
    if (!FILL) {
        for (int d = V / 2; d > 0; d /= 2) found += __shfl_down_sync(mask, found, d, V);
        if (lane == 0) count[i] = found;
        return;
    }
    __syncwarp(mask); /* the lanes of the group: the list is complete */
    if (i >= rows) return;
    int n = listed[group], to = cptr[i];
    for (int s = lane; s < n; s += V) {
        int slot = list[base + s], c = key[base + slot], rank = 0;
        for (int other = 0; other < n; other++) {
            int o = list[base + other];
            rank += key[base + o] < c;
        }
        ccol[to + rank] = c;
        cval[to + rank] = (T)sum[base + slot];
    }
}

/* The value of each entry left of the diagonal becomes that of its mirror image, found by bisection. */
template <typename T> __global__ void setup_mirror(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(T) val)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int end = ptr[i + 1];
    for (int k = ptr[i]; k < end; k++) {
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

template <typename T>
__global__ void setup_keys(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(uint64_t) key, GPTR(double) payload)
{
    int64_t i = setup_row();
    if (i >= rows) return;
    int end = ptr[i + 1];
    for (int k = ptr[i]; k < end; k++) {
        key[k] = (uint64_t)col[k] << 32 | (uint64_t)i;
        payload[k] = (double)val[k];
    }
}

template <typename T> __global__ void setup_values(int64_t n, GPTR(const double) payload, GPTR(T) val)
{
    int64_t k = setup_row();
    if (k < n) val[k] = (T)payload[k];
}

/* ---- the launches ---- */

#define IN(p, n, ...) VECTOR(#p, ROLE_WORK, (void *)(p), n, const __VA_ARGS__)
#define OUT(p, n, ...) VECTOR(#p, ROLE_WORK, (void *)(p), n, __VA_ARGS__)
#define PATTERN(A) IN((A)->ptr, (A)->rows + 1, int), IN((A)->col, (A)->nnz, int)
#define MATRIX(A) PATTERN(A), IN((A)->val, (A)->nnz, T)
#define FLAG(facts, of) OUT(&(facts)->of, 1, unsigned)

template <typename T>
static void diagonal(struct device *d, const struct amg_csr *A, void *dinv, struct amg_facts *facts)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_diagonal<T>)
    (A->rows, MATRIX(A), OUT(dinv, A->rows, T), OUT(&facts->negative, 3, unsigned),
     OUT(&facts->most, 1, unsigned long long));
}

template <typename T>
static void strong_entries(struct device *d, const struct amg_csr *A, const void *dinv, double theta,
                           unsigned char *strong)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_strong<T>)
    (A->rows, MATRIX(A), IN(dinv, A->rows, T), theta * theta, OUT(strong, A->nnz, unsigned char));
}

static void begin(struct device *d, int64_t rows, uint64_t *mark)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_begin)(rows, OUT(mark, rows, uint64_t));
}

static void spread(struct device *d, const struct amg_csr *A, const unsigned char *strong, const uint64_t *from,
                   uint64_t *to)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_spread)
    (A->rows, PATTERN(A), IN(strong, A->nnz, unsigned char), IN(from, A->rows, uint64_t), OUT(to, A->rows, uint64_t));
}

static void decide(struct device *d, int64_t rows, uint64_t *mark, const uint64_t *most, struct amg_facts *facts)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_decide)
    (rows, OUT(mark, rows, uint64_t), IN(most, rows, uint64_t), FLAG(facts, open));
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

/* aggregates: the length of `weight`, which only the emulator checks */
static void weigh(struct device *d, int64_t rows, [[maybe_unused]] int64_t aggregates, const int *of, const int *of_row,
                  int *weight)
{
    LAUNCH(d, blocks_for(rows, SETUP_BLOCK), SETUP_BLOCK, setup_weigh)
    (rows, IN(of, rows, int), of_row == nullptr, IN(of_row, of_row ? rows : 0, int), OUT(weight, aggregates, int));
}

template <typename T>
static void prolong(struct device *d, const struct amg_csr *A, const unsigned char *strong, const int *of,
                    const int *of_row, const int *weight, double omega, int64_t *count, struct amg_csr *P,
                    struct amg_facts *facts)
{
    auto *go = P->ptr ? setup_prolong<T, true> : setup_prolong<T, false>;
    LAUNCH(d, blocks_for(A->rows + 1, SETUP_BLOCK), SETUP_BLOCK, go)
    (A->rows, MATRIX(A), IN(strong, A->nnz, unsigned char), IN(of, A->rows, int), of_row == nullptr,
     IN(of_row, of_row ? A->rows : 0, int), IN(weight, P->cols, int), omega, OUT(count, A->rows + 1, int64_t),
     IN(P->ptr, P->ptr ? A->rows + 1 : 0, int), OUT(P->col, P->nnz, int), OUT(P->val, P->nnz, T), FLAG(facts, full));
}

template <typename T, int V, int SLOTS>
static void multiply_by(struct device *d, const struct amg_csr *A, const struct amg_csr *B, int64_t *count,
                        struct amg_csr *C, struct amg_facts *facts)
{
    auto *go = C->ptr ? setup_multiply<T, V, SLOTS, true> : setup_multiply<T, V, SLOTS, false>;
    LAUNCH(d, blocks_for(A->rows + 1, SETUP_BLOCK / V), SETUP_BLOCK, go)
    (A->rows, MATRIX(A), MATRIX(B), OUT(count, A->rows + 1, int64_t), IN(C->ptr, C->ptr ? A->rows + 1 : 0, int),
     OUT(C->col, C->nnz, int), OUT(C->val, C->nnz, T), FLAG(facts, full));
}

template <typename T>
static void multiply(struct device *d, const struct amg_csr *A, const struct amg_csr *B, int wide, int64_t *count,
                     struct amg_csr *C, struct amg_facts *facts)
{
    if (wide)
        multiply_by<T, WARP, 512>(d, A, B, count, C, facts);
    else
        multiply_by<T, 8, 128>(d, A, B, count, C, facts);
}

template <typename T> static void mirror(struct device *d, struct amg_csr *A)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_mirror<T>)
    (A->rows, PATTERN(A), OUT(A->val, A->nnz, T));
}

static void pointers(struct device *d, int64_t rows, const int64_t *at, int *ptr)
{
    LAUNCH(d, blocks_for(rows + 1, SETUP_BLOCK), SETUP_BLOCK, setup_pointers)
    (rows, IN(at, rows + 1, int64_t), OUT(ptr, rows + 1, int));
}

template <typename T> static void keys(struct device *d, const struct amg_csr *A, uint64_t *key, double *payload)
{
    LAUNCH(d, blocks_for(A->rows, SETUP_BLOCK), SETUP_BLOCK, setup_keys<T>)
    (A->rows, MATRIX(A), OUT(key, A->nnz, uint64_t), OUT(payload, A->nnz, double));
}

template <typename T> static void values(struct device *d, int64_t n, const double *payload, void *val)
{
    LAUNCH(d, blocks_for(n, SETUP_BLOCK), SETUP_BLOCK, setup_values<T>)(n, IN(payload, n, double), OUT(val, n, T));
}

} // namespace KERNEL_SPACE

#define SETUP_ENTRY(id, T)                                                      \
    extern "C" const struct amg_setup_ops id;                                   \
    const struct amg_setup_ops id = {.diagonal = KERNEL_SPACE::diagonal<T>,     \
                                     .strong = KERNEL_SPACE::strong_entries<T>, \
                                     .begin = KERNEL_SPACE::begin,              \
                                     .spread = KERNEL_SPACE::spread,            \
                                     .decide = KERNEL_SPACE::decide,            \
                                     .roots = KERNEL_SPACE::roots,              \
                                     .number = KERNEL_SPACE::number,            \
                                     .join = KERNEL_SPACE::join<T>,             \
                                     .weigh = KERNEL_SPACE::weigh,              \
                                     .prolong = KERNEL_SPACE::prolong<T>,       \
                                     .multiply = KERNEL_SPACE::multiply<T>,     \
                                     .mirror = KERNEL_SPACE::mirror<T>,         \
                                     .pointers = KERNEL_SPACE::pointers,        \
                                     .keys = KERNEL_SPACE::keys<T>,             \
                                     .values = KERNEL_SPACE::values<T>}

SETUP_ENTRY(VEC_SYMBOL(amg_setup_f32), float);
SETUP_ENTRY(VEC_SYMBOL(amg_setup_f64), double);
