/* The parts of GMRES(m): the inner products of one vector with all earlier vectors in one pass, the Givens rotations of
   a small triangular system that stays on the device, and the steps of a restart. If the vectors are complex, so are
   the coefficients of the basis, and an inner product conjugates its first vector. */
#include "gmres.h"
#include "passes.h"

namespace KERNEL_SPACE
{

/* The columns of which a block adds the products at the same time: their loads and sums overlap. */
enum { GM_AT_ONCE = 8, GM_WARPS = VEC_BLOCK / WARP };

/* Where segment `block` of `blocks` begins: at a multiple of the elements that a warp reads at a time. */
static __device__ int64_t gm_segment(int64_t n, int64_t block, int64_t blocks)
{
    int64_t from = (n + WARP - 1) / WARP * block / blocks * WARP;
    return from < n ? from : n;
}

/* Each block takes a segment of q, which stays in the cache while the block reads the same segment of each column of V:
   V and q are read once. Then the last block sums over the segments and uses one warp per column. */
template <typename T>
__global__ void gm_dots(int64_t n, FRESH(double) s, GPTR(unsigned) ticket, GPTR(wide<T>) w, int m, int first, int last,
                        int row, int64_t pitch, FRESH(const T) V, FRESH(const T) q)
{
    follow();
    if (s[S_DONE] != 0) return;
    int64_t from = gm_segment(n, blockIdx.x, gridDim.x), end = gm_segment(n, blockIdx.x + 1, gridDim.x);
    int64_t parts = gm_parts(m);
    SHARED(wide<T>, part, GM_AT_ONCE * GM_WARPS);
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), c = (int)threadIdx.x;
    for (int j = first; j < last; j += GM_AT_ONCE) {
        wide<T> sum[GM_AT_ONCE] = {};
        for (int64_t i = from + threadIdx.x; i < end; i += VEC_BLOCK) {
            T element = q[i];
            UNROLL_WHOLE
            for (int k = 0; k < GM_AT_ONCE; k++) {
                if (j + k < last) sum[k] += wide_product<T>(V[(j + k) * pitch + i], element);
                reconverge();
            }
        }
        UNROLL_WHOLE
        for (int k = 0; k < GM_AT_ONCE; k++)
            for (int d = WARP / 2; d > 0; d /= 2) sum[k] += __shfl_down_sync(FULL_MASK, sum[k], d);
        __syncthreads(); /* all threads of the block: `part` has been read */
        for (int k = 0; lane == 0 && k < GM_AT_ONCE; k++) part[k * GM_WARPS + warp] = sum[k];
        __syncthreads(); /* all threads of the block: `part` is complete */
        if (c >= GM_AT_ONCE || j + c >= last) continue;
        wide<T> all = part[c * GM_WARPS];
        for (int k = 1; k < GM_WARPS; k++) all += (wide<T>)part[c * GM_WARPS + k];
        w[parts + (int64_t)(j + c) * GM_BLOCKS + blockIdx.x] = all;
    }
    if (!vec_last_block(ticket)) return;
    for (int j = first + (int)(threadIdx.x / WARP); j < last; j += VEC_BLOCK / WARP) {
        wide<T> sum = 0;
        for (int b = lane; b < (int)gridDim.x; b += WARP) sum += (wide<T>)w[parts + (int64_t)j * GM_BLOCKS + b];
        for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
        if (lane == 0) w[gm_row(m, row) + j] = sum;
    }
}

struct gm_one_sum {
    enum { SUMS = 1 };
};

/* One block: the sums of its segment of q go to `part`. */
template <typename T, typename P, typename V_, typename Q>
__device__ void gm_part_of(int64_t n, int64_t each, int64_t pitch, P part, int first, int last, V_ V, Q q)
{
    int64_t from = blockIdx.x * each, end = from + each < n ? from + each : n;
    for (int j = first; j < last; j++) {
        vec_sums t = {0, 0, 0};
#pragma unroll 4
        for (int64_t i = from + threadIdx.x; i < end; i += blockDim.x) t.a += (double)V[j * pitch + i] * (double)q[i];
        __syncthreads(); /* all threads of the block: the sums of the previous column have been read */
        t = vec_block_sums<gm_one_sum, SUM_THREADS_MAX>(t);
        if (threadIdx.x == 0) part[(int64_t)j * SUM_BLOCKS + blockIdx.x] = t.a;
    }
}

/* Like gm_dots, but the sums of the blocks stay in `part`, which is host memory: the host adds them. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS_MAX)
    gm_parts_of(int64_t n, int64_t each, int64_t pitch, GPTR(const double) s, GPTR(double) part, int first, int last,
                GPTR(const T) V, GPTR(const T) q)
{
    if (s[S_DONE] == 0) gm_part_of<T>(n, each, pitch, part, first, last, V, q);
}

/* Where the inner products of all members go. */
struct gm_row_of {
    GPTR(double) w;
    int m, first, last, row;
};

/* All threads of one block, one column each: the inner products of all members, added in the order of the ranks. */
template <typename ROW, typename MAIL> __device__ void gm_take_row(const ROW &to, const MAIL &mail, unsigned epoch)
{
    for (int j = to.first + (int)threadIdx.x; j < to.last; j += (int)blockDim.x) {
        double sum = 0, more;
        for (int r = 0; r < mail.members; r++) {
            if (!mail_take<1>(mail.box, mail_slot(mail.members, epoch, r) + j - to.first, epoch, &more))
                return void(mail.late[LATE_SUMS] = r + 1);
            sum += more;
        }
        to.w[gm_row(to.m, to.row) + j] = sum;
    }
}

/* Like vec_pass_send, for inner products of q with several columns. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS_MAX)
    gm_parts_send(int64_t n, int64_t each, int64_t pitch, GPTR(const double) s, GPTR(double) part,
                  GPTR(unsigned) ticket, GPTR(const T) V, GPTR(const T) q, struct gm_row_of to, struct mail_targets t,
                  bool ends, struct vec_mail mail)
{
    if (s[S_DONE] != 0) return;
    gm_part_of<T>(n, each, pitch, part, to.first, to.last, V, q);
    if (!vec_last_block(ticket)) return;
    unsigned epoch =
        mail_send_sums(part + to.first * SUM_BLOCKS, SUM_BLOCKS, (int)gridDim.x, to.last - to.first, false, t);
    if (ends) gm_take_row(to, mail, epoch);
}

/* One block: the end of inner products. */
__global__ void gm_mail_row(GPTR(const double) s, struct gm_row_of to, struct vec_mail mail)
{
    if (s[S_DONE] == 0) gm_take_row(to, mail, exchange_now(mail.number));
}

/* With NORM, also the squared norm of the remainder. */
template <typename AT, bool NORM> struct pass_subtract {
    enum { SUMS = NORM ? 1 : 0 };
    typedef typename AT::real T;
    typename AT::in V;
    typename AT::out q;
    typename wide_at<AT>::type::out w;
    int64_t pitch;
    int m, row, first, last;
    int64_t h; /* w[h + j] is for column j */

    __device__ void begin(typename AT::scalars) { h = gm_row(m, row); }
    __device__ vec_sums at(int64_t i) const
    {
        T v = q[i];
        for (int j = first; j < last; j++) v -= narrowed<T>(w[h + j]) * V[j * pitch + i];
        q[i] = v;
        return {vec_square(v), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_PQ] = t.a; }
};

/* One block copies what the rotations need to shared memory, then one of its threads applies the rotations. H keeps
   the column as it was before the rotations. */
template <typename W> __global__ void gm_column(FRESH(double) s, FRESH(W) w, int m, int k, bool twice, double tiny)
{
    follow();
    if (s[S_DONE] != 0) return;
    SHARED(W, col, GM_MAX);
    SHARED(W, cosine, GM_MAX);
    SHARED(W, sine, GM_MAX);
    for (int j = (int)threadIdx.x; j <= k; j += VEC_BLOCK) {
        W once = w[gm_row(m, GM_H) + j], again = twice ? (W)w[gm_row(m, GM_H2) + j] : W(0), h = once + again;
        col[j] = h;
        w[gm_row(m, GM_R + m + k) + j] = h;
        cosine[j] = w[gm_row(m, GM_COS) + j];
        sine[j] = w[gm_row(m, GM_SIN) + j];
    }
    __syncthreads(); /* all threads of the block: the column is in shared memory */
    double rr = 0;
    if (threadIdx.x == 0 && gm_rotate<W>(s, w, gm_row(m, GM_G), col, cosine, sine, k, tiny, rr))
        vec_note(s, rr, s[S_MAXDIFF]);
    __syncthreads(); /* all threads of the block: the column is rotated */
    for (int j = (int)threadIdx.x; j <= k; j += VEC_BLOCK) w[gm_row(m, GM_R + k) + j] = col[j];
    if (threadIdx.x != 0) return;
    w[gm_row(m, GM_R + m + k) + k + 1] = W(sqrt((double)s[S_PQ]));
    w[gm_row(m, GM_COS) + k] = cosine[k];
    w[gm_row(m, GM_SIN) + k] = sine[k];
}

/* One block: back substitution column by column, since columns are contiguous. */
template <typename W> __global__ void gm_solve(FRESH(double) s, FRESH(W) w, int m)
{
    follow();
    if (s[S_DONE] != 0) return;
    SHARED(W, y, GM_MAX);
    int k = (int)s[S_COLUMNS];
    for (int j = (int)threadIdx.x; j < k; j += VEC_BLOCK) y[j] = w[gm_row(m, GM_G) + j];
    for (int c = k - 1; c >= 0; c--) {
        int64_t column = gm_row(m, GM_R + c);
        __syncthreads(); /* all threads of the block: y[c] is complete except for its division */
        W value = (W)y[c] / (W)w[column + c];
        __syncthreads(); /* all threads of the block: y[c] has been read */
        for (int j = (int)threadIdx.x; j <= c; j += VEC_BLOCK)
            y[j] = j == c ? value : (W)y[j] - value * (W)w[column + j];
    }
    __syncthreads(); /* all threads of the block: y is complete */
    for (int j = (int)threadIdx.x; j < k; j += VEC_BLOCK) w[gm_row(m, GM_Y) + j] = y[j];
}

template <typename AT> struct pass_add {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in V;
    typename AT::out x;
    typename wide_at<AT>::type::out w;
    int64_t pitch;
    int m, k;
    int64_t y; /* w[y + j] is for column j */

    __device__ void begin(typename AT::scalars s)
    {
        k = (int)s[S_COLUMNS];
        y = gm_row(m, GM_Y);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T sum = 0;
        for (int j = 0; j < k; j++) sum += narrowed<T>(w[y + j]) * V[j * pitch + i];
        x[i] += sum;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_residual {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in b;
    typename AT::out q;
    typename wide_at<AT>::type::out w;
    int m;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T r = b[i] - q[i];
        q[i] = r;
        return {vec_square(r), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        int64_t records = (int64_t)s[S_ITER];
        w[gm_row(m, GM_G)] = wide<T>(sqrt(t.a));
        s[S_SCALE] = t.a > 0 ? 1 / sqrt(t.a) : 0;
        s[S_COLUMNS] = 0;
        s[S_RR] = t.a;
        if (!records) return;
        s[S_DONE] = t.a != t.a ? NOT_A_NUMBER : t.a <= s[S_TOL2] ? CONVERGED : RUNNING;
        vec_show(s, (double)(records - 1), t.a, s[S_DONE]);
    }
};

template <typename AT> struct pass_scale {
    enum { SUMS = 0 };
    typename AT::in q;
    typename AT::out v;
    typename AT::real scale;

    __device__ void begin(typename AT::scalars s) { scale = (typename AT::real)s[S_SCALE]; }
    __device__ vec_sums at(int64_t i) const
    {
        v[i] = scale * q[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the passes ---- V: the m basis vectors; w: the work memory (gmres_work.h). Complex ones exist only if the device
   adds the sums. */

#define PASS_COLUMNS(V, k) AT::from(#V, V, vectors_extent(k, n, sizeof(typename AT::real)))
#define PASS_PITCH vector_stride(n, sizeof(typename AT::real))
#define PASS_WORK(w) wide_at<AT>::type::to(#w, w, GMRES_WORK(m))
#define WORK_OF(w) VECTOR("w", ROLE_WORK, (void *)w, GMRES_WORK(m), wide<T>)

/* q -= V row for the columns [from, to); with `norm`, also s[S_PQ] = q.q */
template <typename AT>
static void subtract(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, bool norm,
                     const void *V, void *q)
{
    auto columns = PASS_COLUMNS(V, to);
    if (norm)
        AT::run(d, n, s, pass_subtract<AT, true>{columns, PASS_OUT(q), PASS_WORK(w), PASS_PITCH, m, row, from, to, 0});
    else
        AT::run(d, n, s, pass_subtract<AT, false>{columns, PASS_OUT(q), PASS_WORK(w), PASS_PITCH, m, row, from, to, 0});
}

/* x += V y */
template <typename AT> static void add(struct device *d, int64_t n, double *s, double *w, int m, const void *V, void *x)
{
    AT::run(d, n, s, pass_add<AT>{PASS_COLUMNS(V, m), PASS_OUT(x), PASS_WORK(w), PASS_PITCH, m, 0, 0});
}

/* q = b - q, which is the true residual. The next cycle starts from this residual. The true residual replaces the
   residual in the last record, and may end the solve. */
template <typename AT>
static void residual(struct device *d, int64_t n, double *s, double *w, int m, const void *b, void *q)
{
    AT::run(d, n, s, pass_residual<AT>{PASS_IN(b), PASS_OUT(q), PASS_WORK(w), m});
}

/* v = s[S_SCALE] q */
template <typename AT> static void scale(struct device *d, int64_t n, double *s, const void *q, void *v)
{
    AT::run(d, n, s, pass_scale<AT>{PASS_IN(q), PASS_OUT(v), 0});
}

template <typename T>
static void dots_at(on_gpu<T>, struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row,
                    const void *V, const void *q)
{
    vec_launch(d, gm_blocks(d, n), gm_dots<T>)(
        n, SCALARS_OF(s), TICKET_OF(s), WORK_OF(w), m, from, to, row, vector_stride(n, sizeof(T)),
        VECTOR("V", ROLE_WORK, V, vectors_extent(to, n, sizeof(T)), const T), VECTOR("q", ROLE_WORK, q, n, const T));
}

static_assert(+GM_MAX <= +MAIL_MAX, "a mailbox holds the sums of a whole basis");

/* Add the sums of the blocks on the host, and copy the results to the row on the device. */
static void gm_put_row(struct device *d, double *w, int m, int from, int to, int row, int blocks)
{
    double sum[GM_MAX];
    for (int j = from; j < to; j++)
        sum[j] = vec_add_parts<gm_one_sum>(d->sums.host + (int64_t)j * SUM_BLOCKS, blocks).a;
    d->ops->put(d, w + (int64_t)row * (m + 1) + from, sum + from, (to - from) * (int64_t)sizeof *sum, nullptr);
}

template <typename T>
static void dots_seated(struct device *d, int64_t n, double *s, struct gm_row_of to, const void *V, const void *q)
{
    struct sum_tree tree = sum_tree_of(n);
    struct seat *t = d->seat;
    unsigned epoch = t->epoch + (unsigned)++t->sums;
    t->at += t->concurrent ? 1 : 2;
    if (t->stage == 1) LAUNCH(d, 1, WARP, gm_mail_row)(SCALARS_OF(s), to, vec_mail_of(t, epoch));
    if (t->stage != 0) return;
    LAUNCH(d, (unsigned)tree.blocks, (unsigned)tree.threads, gm_parts_send<T>)
    (n, tree.each, vector_stride(n, sizeof(T)), SCALARS_OF(s),
     VECTOR("part", ROLE_WORK, t->part, (int64_t)to.last * SUM_BLOCKS, double), TICKET_OF(s),
     VECTOR("V", ROLE_WORK, V, vectors_extent(to.last, n, sizeof(T)), const T), VECTOR("q", ROLE_WORK, q, n, const T),
     to, mail_targets_of(t, epoch), t->concurrent, vec_mail_of(t, epoch));
}

template <typename T>
static void dots_at(gpu_then_host<T>, struct device *d, int64_t n, double *s, double *w, int m, int from, int to,
                    int row, const void *V, const void *q)
{
    struct sum_tree tree = sum_tree_of(n);
    if (d->seat) return dots_seated<T>(d, n, s, {WORK_OF(w), m, from, to, row}, V, q);
    LAUNCH(d, (unsigned)tree.blocks, (unsigned)tree.threads, gm_parts_of<T>)
    (n, tree.each, vector_stride(n, sizeof(T)), SCALARS_OF(s),
     VECTOR("part", ROLE_WORK, d->sums.on_device, (int64_t)to * SUM_BLOCKS, double), from, to,
     VECTOR("V", ROLE_WORK, V, vectors_extent(to, n, sizeof(T)), const T), VECTOR("q", ROLE_WORK, q, n, const T));
    if (vec_sums_arrived(d)) gm_put_row(d, w, m, from, to, row, tree.blocks);
}

template <typename T> static void column_at(on_gpu<T>, struct device *d, double *s, double *w, int m, int k, bool twice)
{
    FOLLOW(d, 1, VEC_BLOCK, gm_column<wide<T>>)(SCALARS_OF(s), WORK_OF(w), m, k, twice, gm_tiny<T>());
}

template <typename T> static void solve_at(on_gpu<T>, struct device *d, double *s, double *w, int m)
{
    FOLLOW(d, 1, VEC_BLOCK, gm_solve<wide<T>>)(SCALARS_OF(s), WORK_OF(w), m);
}

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

/* part[j * SUM_BLOCKS + p]: the sum of piece p of the inner product with column j. false: Ctrl-C ended the sums. */
template <typename T>
static bool column_parts(int64_t n, int first, int last, const void *V, const void *q, double *part)
{
    const T *from = (const T *)V, *with = (const T *)q;
    struct sum_tree tree = sum_tree_of(n);
    checks check(n * (last - first));
#pragma omp parallel for if (n > ALONE)
    for (int p = 0; p < tree.blocks; p++)
        for (int j = first; j < last && check.goes(p); j++) {
            int64_t begin = p * tree.each, end = begin + tree.each < n ? begin + tree.each : n;
            part[(int64_t)j * SUM_BLOCKS + p] = gm_piece(begin, end, from + j * vector_stride(n, sizeof(T)), with);
        }
    return check.complete();
}

/* Stage 1 of a member's inner products: all members' sums, in the order of the ranks. */
static void add_mail(const struct seat *t, unsigned epoch, int n, double *to)
{
    for (int j = 0; j < n; j++)
        if (!mail_total(t, epoch, j, false, &to[j])) return;
}

static void dots_seated(struct seat *t, double *w, int m, int first, int last, int row, int blocks, bool summed)
{
    double sum[GM_MAX];
    unsigned epoch = t->epoch + (unsigned)++t->sums;
    if (t->stage == 1) add_mail(t, epoch, last - first, w + gm_row(m, row) + first);
    if (t->stage != 0 || !summed) return;
    for (int j = first; j < last; j++)
        sum[j - first] = vec_add_parts<gm_one_sum>(t->part + (int64_t)j * SUM_BLOCKS, blocks).a;
    mail_post(t, epoch, sum, last - first);
}

} // namespace host

template <typename T>
static void dots_at(on_host<T>, struct device *, int64_t n, double *s, double *w, int m, int first, int last, int row,
                    const void *V, const void *q)
{
    if (s[S_DONE] != 0) return;
    const T *from = (const T *)V, *with = (const T *)q;
    wide<T> *part = (wide<T> *)w + gm_parts(m), *to = (wide<T> *)w + gm_row(m, row);
    int pieces = host::gm_pieces(n);
    host::checks check(n * (last - first));
#pragma omp parallel for if (n > host::ALONE)
    for (int p = 0; p < pieces; p++)
        for (int j = first; j < last && check.goes(p); j++)
            part[(int64_t)j * GM_BLOCKS + p] =
                host::gm_piece(n * p / pieces, n * (p + 1) / pieces, from + j * vector_stride(n, sizeof(T)), with);
    if (!check.complete()) return;
    for (int j = first; j < last; j++) {
        wide<T> sum = 0;
        for (int p = 0; p < pieces; p++) sum += part[(int64_t)j * GM_BLOCKS + p];
        to[j] = sum;
    }
}

template <typename T>
static void dots_at(host_then_host<T>, struct device *d, int64_t n, double *s, double *w, int m, int first, int last,
                    int row, const void *V, const void *q)
{
    struct seat *t = d->seat;
    int blocks = sum_tree_of(n).blocks;
    if (t) t->at += 2;
    if (s[S_DONE] != 0) return;
    bool whole = (t && t->stage) || host::column_parts<T>(n, first, last, V, q, t ? t->part : d->sums.host);
    if (t)
        host::dots_seated(t, w, m, first, last, row, blocks, whole);
    else if (whole)
        gm_put_row(d, w, m, first, last, row, blocks);
}

template <typename T> static void column_at(on_host<T>, struct device *, double *s, double *w, int m, int k, bool twice)
{
    if (s[S_DONE] != 0) return;
    typedef wide<T> W;
    W *work = (W *)w, *col = work + gm_row(m, GM_R + k), *kept = work + gm_row(m, GM_R + m + k);
    const W *once = work + gm_row(m, GM_H), *again = work + gm_row(m, GM_H2);
    for (int j = 0; j <= k; j++) kept[j] = col[j] = once[j] + (twice ? again[j] : W(0));
    kept[k + 1] = W(sqrt(s[S_PQ]));
    double rr = 0;
    if (gm_rotate<W>(s, work, gm_row(m, GM_G), col, work + gm_row(m, GM_COS), work + gm_row(m, GM_SIN), k, gm_tiny<T>(),
                     rr))
        vec_note(s, rr, s[S_MAXDIFF]);
}

template <typename T> static void solve_at(on_host<T>, struct device *, double *s, double *w, int m)
{
    if (s[S_DONE] != 0) return;
    typedef wide<T> W;
    int k = (int)s[S_COLUMNS];
    W *work = (W *)w, *y = work + gm_row(m, GM_Y);
    for (int j = 0; j < k; j++) y[j] = work[gm_row(m, GM_G) + j];
    for (int c = k - 1; c >= 0; c--) {
        const W *R = work + gm_row(m, GM_R + c);
        y[c] /= R[c];
        for (int j = 0; j < c; j++) y[j] -= y[c] * R[j];
    }
}

#endif

/* Row `row` = V'q for the columns [from, to). */
template <typename AT>
static void dots(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, const void *V,
                 const void *q)
{
    dots_at(AT(), d, n, s, w, m, from, to, row, V, q);
}

/* Rotate column k of H into R and record the new residual. The column consists of row GM_H (plus GM_H2 if q was
   orthogonalised twice), followed by the square root of s[S_PQ]. If the column makes R singular, the solve ends with
   BROKE_DOWN and the column is not used. */
template <typename AT> static void column(struct device *d, int64_t, double *s, double *w, int m, int k, bool twice)
{
    column_at(AT(), d, s, w, m, k, twice);
}

/* Solve R y = g with s[S_COLUMNS] columns. */
template <typename AT> static void solve(struct device *d, int64_t, double *s, double *w, int m)
{
    solve_at(AT(), d, s, w, m);
}

} // namespace KERNEL_SPACE

PASSES_COMPLEX_ALONE(gmres, dots, subtract, column, solve, add, residual, scale)
