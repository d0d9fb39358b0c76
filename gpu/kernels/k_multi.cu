/* The launches of a product on several members: push, wait, check (emulator), add, take, scale; and flag_rounds, which
   measures a link.
   push: neighbouring threads read the list of items in order, gather x, and store to neighbouring places of the
   receiver's halo. add: a vector of threads per row that has entries outside its member's columns. */
#include "vec.h"

#include "gpu/halo.h"

namespace KERNEL_SPACE
{

enum { SEND_BLOCK = 256 };

template <typename T> struct push_targets {
    int n, nflags, rank;
    struct exchange number;
    int64_t first[MEMBERS_MAX + 1]; /* items first[k] .. first[k + 1] - 1 go to target k */
    int64_t odd[MEMBERS_MAX];       /* items between the place for even products and that for odd ones */
    GPTR(T) to[MEMBERS_MAX];        /* the place for even products */
    GPTR(unsigned) flag[MEMBERS_MAX];
};

/* One item per thread, with a grid stride. The last block to arrive sets the flags. */
template <typename T>
__global__ void halo_push(int64_t n, GPTR(const int) send, GPTR(const T) x, GPTR(unsigned) ticket,
                          struct push_targets<T> t)
{
    int k = 0;
    unsigned epoch = exchange_next(t.number);
    for (int64_t i = (int64_t)blockIdx.x * SEND_BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * SEND_BLOCK) {
        while (i >= t.first[k + 1]) k++;
        t.to[k][(epoch % 2) * t.odd[k] + i - t.first[k]] = x[send[i]];
    }
    if (t.nflags == 0) return;
    __syncthreads(); /* all threads of the block: its items have been stored */
    if (threadIdx.x == 0) fence_system();
    if (!vec_last_block(ticket) || threadIdx.x != 0) return;
    for (int f = 0; f < t.nflags; f++) flag_set(t.flag[f], t.rank, epoch);
    if (t.number.counted) t.number.count[0] = epoch;
}

/* Whose flags to wait for: those of the members whose bits are set. */
struct flags_awaited {
    unsigned neighbours;
    GPTR(unsigned) flag;
    GPTR(int) late;
};

/* The first MEMBERS_MAX threads; thread r waits for member r if its bit is set. */
template <typename FLAGS> __device__ void halo_arrives(const FLAGS &f, unsigned epoch)
{
    int r = (int)threadIdx.x;
    if (r >= MEMBERS_MAX || !(f.neighbours >> r & 1)) return;
    if (!flag_arrives(f.flag, r, epoch)) f.late[LATE_HALO] = r + 1;
}

/* One warp. */
__global__ void halo_wait(struct flags_awaited f, struct exchange number)
{
    halo_arrives(f, exchange_now(number));
}

/* An index as `late` reports it: not 0, and within an int. */
static __device__ int late_item(int64_t i)
{
    return (int)(i % 1000000000) + 1;
}

/* One item per thread: report an item that has not been written since the halo was filled with the mark. */
template <typename T> __global__ void halo_check(int64_t n, GPTR(const T) halo, GPTR(int) late)
{
    int64_t i = (int64_t)blockIdx.x * SEND_BLOCK + threadIdx.x;
    if (i >= n) return;
    T v = halo[i];
    unsigned char byte[sizeof(T)];
    memcpy(byte, &v, sizeof v);
    bool all = true;
    for (int b = 0; b < (int)sizeof(T); b++) all = all && byte[b] == 0xff;
    if (all) late[LATE_UNWRITTEN] = late_item(i);
}

/* y[row[r]] += alpha * (the entries of row r) * halo, V threads per row. Rows are listed only if they have entries, and
   only once, so that no two vectors add to one element. What the halo is multiplied by is read while it arrives. */
template <typename T, int V>
__global__ void halo_add(int64_t rows, GPTR(const int) row, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                         T alpha, struct exchange number, struct flags_awaited flags, int64_t items, GPTR(const T) halo,
                         GPTR(T) y)
{
    unsigned epoch = exchange_now(number);
    int64_t begin = (epoch % 2) * items, r = ((int64_t)blockIdx.x * SEND_BLOCK + threadIdx.x) / V;
    int lane = (int)(threadIdx.x % V), at = 0, k = 0, end = 0, first = 0;
    T sum = 0, value = 0, before = 0;
    if (r < rows) {
        at = row[r], end = ptr[r + 1], k = ptr[r] + lane;
        if (k < end) first = col[k], value = val[k];
        if (lane == 0) before = y[at];
    }
    if (flags.neighbours != 0) {
        halo_arrives(flags, epoch);
        __syncthreads(); /* all threads of the block: the halo has arrived */
    }
    if (k < end) sum = value * fresh(halo, begin + first);
    for (k += V; k < end; k += V) sum += val[k] * fresh(halo, begin + col[k]);
    if (V > 1) /* all lanes of the warp, also those without a row */
        for (int d = V / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d, V);
    if (r < rows && lane == 0) y[at] = before + alpha * sum;
}

template <typename T> __global__ void halo_take(int64_t items, struct exchange number, GPTR(const T) halo, GPTR(T) now)
{
    int64_t i = (int64_t)blockIdx.x * SEND_BLOCK + threadIdx.x;
    if (i < items) now[i] = halo[(exchange_now(number) % 2) * items + i];
}

/* y = beta y; y is not read if beta is 0. */
template <typename T> __global__ void halo_scale(int64_t n, T beta, GPTR(T) y)
{
    int64_t i = (int64_t)blockIdx.x * SEND_BLOCK + threadIdx.x;
    if (i < n) y[i] = beta == 0 ? T(0) : beta * y[i];
}

#ifdef __CUDACC__
/* One thread of one block. */
__global__ void flag_rounds(struct flag_bounce b)
{
    for (int r = 1; r <= b.rounds; r++) {
        if (b.first) flag_set(b.theirs, 0, b.epoch + (unsigned)r);
        if (!flag_arrives(b.own, 0, b.epoch + (unsigned)r)) {
            *b.late = 1;
            return;
        }
        if (!b.first) flag_set(b.theirs, 0, b.epoch + (unsigned)r);
    }
}
#endif

/* ---- the launches ---- */

#define ITEMS(name, p, n, ...) VECTOR(name, ROLE_WORK, p, n, __VA_ARGS__)

template <typename T> static void push(struct device *d, const struct halo_push *p)
{
    unsigned blocks = vec_grid(d, p->n);
    struct push_targets<T> t;
    t.n = p->targets, t.nflags = p->flags, t.rank = p->rank;
    t.number = EXCHANGE(p->number.count, p->number.epoch);
    memcpy(t.first, p->first, sizeof t.first);
    memcpy(t.odd, p->odd, sizeof t.odd);
    for (int k = 0; k < MEMBERS_MAX; k++) {
        int64_t n = k < p->targets ? p->first[k + 1] - p->first[k] : 0;
        t.to[k] = ITEMS("halo", n ? p->to[k] : nullptr, n ? n + p->odd[k] : 0, T);
        t.flag[k] = ITEMS("flag", k < p->flags ? p->flag[k] : nullptr, k < p->flags ? MEMBERS_MAX : 0, unsigned);
    }
    LAUNCH(d, blocks, SEND_BLOCK, halo_push<T>)
    (p->n, ITEMS("send", p->send, p->n, const int), VECTOR("x", ROLE_X, p->x, p->cols, const T),
     ITEMS("ticket", p->ticket, 1, unsigned), t);
}

static struct flags_awaited awaited(unsigned neighbours, const unsigned *flag, int *late)
{
    return {neighbours,
            ITEMS("flag", neighbours ? const_cast<unsigned *>(flag) : nullptr, neighbours ? MEMBERS_MAX : 0, unsigned),
            ITEMS("late", neighbours ? late : nullptr, neighbours ? LATES : 0, int)};
}

static void wait(struct device *d, const unsigned *flag, unsigned neighbours, struct halo_number number, int *late)
{
    LAUNCH(d, 1, WARP, halo_wait)(awaited(neighbours, flag, late), EXCHANGE(number.count, number.epoch));
}

template <typename T> static void check(struct device *d, int64_t n, const void *halo, int *late)
{
    LAUNCH(d, blocks_for(n, SEND_BLOCK), SEND_BLOCK, halo_check<T>)
    (n, ITEMS("halo", halo, n, const T), ITEMS("late", late, LATES, int));
}

template <typename T, int V> static void add_by(struct device *d, const struct halo_add *p)
{
    LAUNCH(d, blocks_for(p->rows * V, SEND_BLOCK), SEND_BLOCK, halo_add<T, V>)
    (p->rows, ITEMS("row", p->row, p->rows, const int), ITEMS("ptr", p->ptr, p->rows + 1, const int),
     ITEMS("col", p->col, p->nnz, const int), ITEMS("val", p->val, p->nnz, const T), (T)p->alpha,
     EXCHANGE(p->number.count, p->number.epoch), awaited(p->neighbours, p->flag, p->late), p->items,
     ITEMS("halo", p->halo, 2 * p->items, const T), VECTOR("y", ROLE_Y, p->y, p->y_rows, T));
}

/* A warp per row pays if the rows are long. */
template <typename T> static void add(struct device *d, const struct halo_add *p)
{
    (p->nnz > 8 * p->rows ? add_by<T, WARP> : add_by<T, 1>)(d, p);
}

template <typename T>
static void take(struct device *d, int64_t items, struct halo_number number, const void *halo, void *now)
{
    LAUNCH(d, blocks_for(items, SEND_BLOCK), SEND_BLOCK, halo_take<T>)
    (items, EXCHANGE(number.count, number.epoch), ITEMS("halo", halo, 2 * items, const T), ITEMS("now", now, items, T));
}

template <typename T> static void scale(struct device *d, int64_t n, double beta, void *y)
{
    LAUNCH(d, blocks_for(n, SEND_BLOCK), SEND_BLOCK, halo_scale<T>)(n, (T)beta, VECTOR("y", ROLE_Y, y, n, T));
}

#ifdef __CUDACC__
static void bounce(struct device *d, const struct flag_bounce *b)
{
    LAUNCH(d, 1, 1, flag_rounds)(*b);
}
#endif

/* ---- the same on the host ---- */

#ifndef __CUDACC__
namespace host
{

template <typename T> static void push(struct device *, const struct halo_push *p)
{
    const T *x = (const T *)p->x;
    unsigned epoch = p->number.count ? ++*p->number.count : p->number.epoch;
    for (int k = 0; k < p->targets; k++) {
        T *to = (T *)p->to[k] + (epoch % 2) * p->odd[k];
        for (int64_t i = p->first[k]; i < p->first[k + 1]; i++) to[i - p->first[k]] = x[p->send[i]];
    }
    for (int f = 0; f < p->flags; f++) __atomic_store_n(&p->flag[f][p->rank], epoch, __ATOMIC_RELEASE);
}

static void wait(struct device *, const unsigned *flag, unsigned neighbours, struct halo_number number, int *late)
{
    unsigned epoch = halo_epoch(&number);
    for (int r = 0; r < MEMBERS_MAX; r++)
        if ((neighbours >> r & 1) && (int)(__atomic_load_n(&flag[r], __ATOMIC_ACQUIRE) - epoch) < 0)
            late[LATE_HALO] = r + 1;
}

template <typename T> static void check(struct device *, int64_t n, const void *halo, int *late)
{
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *v = (const unsigned char *)halo + i * (int64_t)sizeof(T);
        size_t b = 0;
        while (b < sizeof(T) && v[b] == 0xff) b++;
        if (b == sizeof(T)) late[LATE_UNWRITTEN] = late_item(i);
    }
}

template <typename T> static void add(struct device *d, const struct halo_add *p)
{
    wait(d, p->flag, p->neighbours, p->number, p->late);
    const T *val = (const T *)p->val, alpha = (T)p->alpha;
    const T *halo = (const T *)p->halo + (halo_epoch(&p->number) % 2) * p->items;
    T *y = (T *)p->y;
#pragma omp parallel for if (p->nnz > ALONE)
    for (int64_t r = 0; r < p->rows; r++) {
        T sum = 0;
        for (int k = p->ptr[r]; k < p->ptr[r + 1]; k++) sum += val[k] * halo[p->col[k]];
        y[p->row[r]] += alpha * sum;
    }
}

template <typename T>
static void take(struct device *, int64_t items, struct halo_number number, const void *halo, void *now)
{
    memcpy(now, (const T *)halo + (halo_epoch(&number) % 2) * items, (size_t)items * sizeof(T));
}

template <typename T> static void scale(struct device *, int64_t n, double beta, void *y)
{
    T *to = (T *)y;
    for (int64_t i = 0; i < n; i++) to[i] = beta == 0 ? T(0) : (T)beta * to[i];
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

#ifdef __CUDACC__
#define BOUNCE bounce
#else
#define BOUNCE nullptr
#endif

#define HALO_ENTRY(id, space, T)                          \
    extern "C" const struct halo_ops id;                  \
    const struct halo_ops id = {.push = space::push<T>,   \
                                .wait = space::wait,      \
                                .check = space::check<T>, \
                                .add = space::add<T>,     \
                                .take = space::take<T>,   \
                                .scale = space::scale<T>, \
                                .bounce = BOUNCE}

HALO_ENTRY(VEC_SYMBOL(halo_f32), KERNEL_SPACE, float);
HALO_ENTRY(VEC_SYMBOL(halo_f64), KERNEL_SPACE, double);
HALO_ENTRY(VEC_SYMBOL(halo_c32), KERNEL_SPACE, cplx<float>);
HALO_ENTRY(VEC_SYMBOL(halo_c64), KERNEL_SPACE, cplx<double>);
#ifndef __CUDACC__
HALO_ENTRY(cpu_vec_halo_f32, KERNEL_SPACE::host, float);
HALO_ENTRY(cpu_vec_halo_f64, KERNEL_SPACE::host, double);
HALO_ENTRY(cpu_vec_halo_c32, KERNEL_SPACE::host, cplx<float>);
HALO_ENTRY(cpu_vec_halo_c64, KERNEL_SPACE::host, cplx<double>);
#endif
