/* The parts of GMRES(m) in complex arithmetic: like those of k_gmres.cu, but the coefficients of the basis vectors are
   complex, and an inner product conjugates its first vector. A rotation has a real cosine and a complex sine. The
   callers count the numbers in a vector, two for each element; a row of the work memory holds m + 1 pairs. */
#include "gmres.h"

namespace KERNEL_SPACE
{

/* The index at which row r of the work memory begins, and the index at which the partial sums begin: for each column,
   GM_BLOCKS real parts, then GM_BLOCKS imaginary parts. */
static __device__ int64_t pair_row(int m, int r)
{
    return 2 * (int64_t)r * (m + 1);
}

static __device__ int64_t pair_parts(int m)
{
    return 2 * GMRES_PARTS(m);
}

template <typename W> __device__ cplx<double> pair_at(W w, int64_t i)
{
    return {w[i], w[i + 1]};
}

template <typename W> __device__ void pair_put(W w, int64_t i, cplx<double> v)
{
    w[i] = v.re;
    w[i + 1] = v.im;
}

static __device__ cplx<double> pair_conj(cplx<double> v)
{
    return {v.re, -v.im};
}

static __device__ double pair_square(cplx<double> v)
{
    return v.re * v.re + v.im * v.im;
}

/* The real and the imaginary part of conj(a) b. */
template <typename T> __device__ double pair_re(T a, T b)
{
    return (double)a.re * (double)b.re + (double)a.im * (double)b.im;
}
template <typename T> __device__ double pair_im(T a, T b)
{
    return (double)a.re * (double)b.im - (double)a.im * (double)b.re;
}

/* Each block takes a segment of q, which stays in the cache while the block reads the same segment of each column of V:
   V and q are read once. Then the last block sums over the segments and uses one warp per number. */
template <typename T>
__global__ void gm_pair_dots(int64_t n, GPTR(double) s, GPTR(unsigned) ticket, GPTR(double) w, int m, int first,
                             int last, int row, GPTR(const T) V, GPTR(const T) q)
{
    if (s[S_DONE] != 0) return;
    int64_t from = n * blockIdx.x / gridDim.x, end = n * (blockIdx.x + 1) / gridDim.x, parts = pair_parts(m);
    for (int j = first; j < last; j++) {
        double re = 0, im = 0;
        for (int64_t i = from + threadIdx.x; i < end; i += VEC_BLOCK) {
            T a = V[j * n + i], b = q[i];
            re += pair_re(a, b);
            im += pair_im(a, b);
        }
        re = vec_over_block<false>(re);
        im = vec_over_block<false>(im);
        if (threadIdx.x == 0) w[parts + 2 * (int64_t)j * GM_BLOCKS + blockIdx.x] = re;
        if (threadIdx.x == 0) w[parts + (2 * (int64_t)j + 1) * GM_BLOCKS + blockIdx.x] = im;
    }
    if (!vec_last_block(ticket)) return;
    int lane = (int)(threadIdx.x % WARP);
    for (int j = 2 * first + (int)(threadIdx.x / WARP); j < 2 * last; j += VEC_BLOCK / WARP) {
        double sum = 0;
        for (int b = lane; b < (int)gridDim.x; b += WARP) sum += w[parts + (int64_t)j * GM_BLOCKS + b];
        for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
        if (lane == 0) w[pair_row(m, row) + j] = sum;
    }
}

/* With NORM, also the squared norm of the remainder. */
template <typename AT, bool NORM> struct pair_subtract {
    enum { SUMS = NORM ? 1 : 0 };
    typedef typename AT::real T;
    typedef decltype(T::re) R;
    typename AT::in V;
    typename AT::out q;
    typename AT::scalars w;
    int64_t n;
    int m, row, first, last;
    int64_t h; /* w[h + 2 j] and the next number are for column j */

    __device__ void begin(typename AT::scalars) { h = pair_row(m, row); }
    __device__ vec_sums at(int64_t i) const
    {
        T v = q[i];
        for (int j = first; j < last; j++) v -= T((R)w[h + 2 * j], (R)w[h + 2 * j + 1]) * V[j * n + i];
        q[i] = v;
        return {pair_re(v, v), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_PQ] = t.a; }
};

/* One thread: col holds the k + 1 inner products of column k; s[S_PQ] is the squared norm of the column's remainder.
   See gm_rotate in gmres.h. */
template <typename S, typename G, typename C, typename R>
__device__ void gm_pair_rotate(S s, G g, int64_t g0, C col, R cosine, C sine, int k, double tiny)
{
    double left = s[S_PQ], all = left;
    for (int j = 0; j <= k; j++) all += pair_square(col[j]);
    for (int j = 0; j < k; j++) {
        cplx<double> a = col[j], b = col[j + 1], turn = sine[j];
        double c = cosine[j];
        col[j] = c * a + turn * b;
        col[j + 1] = c * b - pair_conj(turn) * a;
    }
    if (left <= tiny * tiny * all) left = 0;
    cplx<double> a = col[k], last = pair_at(g, g0 + 2 * k);
    double size = sqrt(pair_square(a)), r = sqrt(size * size + left);
    if (!(r > tiny * sqrt(all))) {
        s[S_DONE] = r != r ? NOT_A_NUMBER : BROKE_DOWN;
        return;
    }
    cplx<double> phase = size > 0 ? cplx<double>(a.re / size, a.im / size) : cplx<double>(1);
    cplx<double> turn = phase * cplx<double>(sqrt(left) / r);
    col[k] = phase * cplx<double>(r);
    cosine[k] = size / r;
    sine[k] = turn;
    cplx<double> rest = -(pair_conj(turn) * last);
    pair_put(g, g0 + 2 * k, cplx<double>(size / r) * last);
    pair_put(g, g0 + 2 * k + 2, rest);
    s[S_COLUMNS] = k + 1;
    s[S_SCALE] = left > 0 ? 1 / sqrt(left) : 0;
    vec_note(s, pair_square(rest), s[S_MAXDIFF]);
}

/* One block copies what the rotations need to shared memory, then one of its threads applies the rotations. */
static __global__ void gm_pair_column(GPTR(double) s, GPTR(double) w, int m, int k, bool twice, double tiny)
{
    if (s[S_DONE] != 0) return;
    SHARED(cplx<double>, col, GM_MAX);
    SHARED(double, cosine, GM_MAX);
    SHARED(cplx<double>, sine, GM_MAX);
    for (int j = (int)threadIdx.x; j <= k; j += VEC_BLOCK) {
        cplx<double> h = pair_at(w, pair_row(m, GM_H) + 2 * j);
        if (twice) h += pair_at(w, pair_row(m, GM_H2) + 2 * j);
        col[j] = h;
        cosine[j] = w[pair_row(m, GM_COS) + j];
        sine[j] = pair_at(w, pair_row(m, GM_SIN) + 2 * j);
    }
    __syncthreads(); /* all threads of the block: the column is in shared memory */
    if (threadIdx.x == 0) gm_pair_rotate(s, w, pair_row(m, GM_G), col, cosine, sine, k, tiny);
    __syncthreads(); /* all threads of the block: the column is rotated */
    for (int j = (int)threadIdx.x; j <= k; j += VEC_BLOCK)
        pair_put<GPTR(double)>(w, pair_row(m, GM_R + k) + 2 * j, col[j]);
    if (threadIdx.x != 0) return;
    w[pair_row(m, GM_COS) + k] = cosine[k];
    pair_put<GPTR(double)>(w, pair_row(m, GM_SIN) + 2 * k, sine[k]);
}

/* One block: back substitution column by column, since columns are contiguous. */
static __global__ void gm_pair_solve(GPTR(double) s, GPTR(double) w, int m)
{
    if (s[S_DONE] != 0) return;
    SHARED(cplx<double>, y, GM_MAX);
    int k = (int)s[S_COLUMNS];
    for (int j = (int)threadIdx.x; j < k; j += VEC_BLOCK) y[j] = pair_at(w, pair_row(m, GM_G) + 2 * j);
    for (int c = k - 1; c >= 0; c--) {
        int64_t column = pair_row(m, GM_R + c);
        __syncthreads(); /* all threads of the block: y[c] is complete except for its division */
        cplx<double> value = y[c] / pair_at(w, column + 2 * c);
        __syncthreads(); /* all threads of the block: y[c] has been read */
        for (int j = (int)threadIdx.x; j <= c; j += VEC_BLOCK) {
            cplx<double> before = y[j];
            y[j] = j == c ? value : before - value * pair_at(w, column + 2 * j);
        }
    }
    __syncthreads(); /* all threads of the block: y is complete */
    for (int j = (int)threadIdx.x; j < k; j += VEC_BLOCK) pair_put<GPTR(double)>(w, pair_row(m, GM_Y) + 2 * j, y[j]);
}

template <typename AT> struct pair_add {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typedef decltype(T::re) R;
    typename AT::in V;
    typename AT::out x;
    typename AT::scalars w;
    int64_t n;
    int m, k;
    int64_t y; /* w[y + 2 j] and the next number are for column j */

    __device__ void begin(typename AT::scalars s)
    {
        k = (int)s[S_COLUMNS];
        y = pair_row(m, GM_Y);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T sum = 0;
        for (int j = 0; j < k; j++) sum += T((R)w[y + 2 * j], (R)w[y + 2 * j + 1]) * V[j * n + i];
        x[i] += sum;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pair_residual {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in b;
    typename AT::out q;
    typename AT::scalars w;
    int m;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T r = b[i] - q[i];
        q[i] = r;
        return {pair_re(r, r), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        int64_t records = (int64_t)s[S_ITER];
        w[pair_row(m, GM_G)] = sqrt(t.a);
        w[pair_row(m, GM_G) + 1] = 0;
        s[S_SCALE] = t.a > 0 ? 1 / sqrt(t.a) : 0;
        s[S_COLUMNS] = 0;
        s[S_RR] = t.a;
        if (!records) return;
        s[S_DONE] = t.a != t.a ? NOT_A_NUMBER : t.a <= s[S_TOL2] ? CONVERGED : RUNNING;
        vec_show(s, (double)(records - 1), t.a, s[S_DONE]);
    }
};

template <typename AT> struct pair_scale {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in q;
    typename AT::out v;
    T scale;

    __device__ void begin(typename AT::scalars s) { scale = (T)s[S_SCALE]; }
    __device__ vec_sums at(int64_t i) const
    {
        v[i] = scale * q[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the launches; numbers: two for each element ---- */

#define PAIR_COLUMNS(V, k) AT::from(#V, V, (k)*n)
#define PAIR_WORK(w) AT::numbers(#w, w, 2 * GMRES_WORK(m))
#define PAIR_WORK_OF(w) VECTOR("w", ROLE_WORK, w, 2 * GMRES_WORK(m), double)

/* A remainder counts as 0 if its norm is below this fraction of the norm of its column. */
template <typename T> static double pair_tiny()
{
    return 8 * (sizeof(T) == sizeof(cplx<float>) ? (double)FLT_EPSILON : DBL_EPSILON);
}

template <typename AT>
static void subtract(struct device *d, int64_t numbers, double *s, double *w, int m, int from, int to, int row,
                     bool norm, const void *V, void *q)
{
    int64_t n = numbers / 2;
    auto columns = PAIR_COLUMNS(V, to);
    if (norm)
        AT::run(d, n, s, pair_subtract<AT, true>{columns, PASS_OUT(q), PAIR_WORK(w), n, m, row, from, to, 0});
    else
        AT::run(d, n, s, pair_subtract<AT, false>{columns, PASS_OUT(q), PAIR_WORK(w), n, m, row, from, to, 0});
}

template <typename AT>
static void add(struct device *d, int64_t numbers, double *s, double *w, int m, const void *V, void *x)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_add<AT>{PAIR_COLUMNS(V, m), PASS_OUT(x), PAIR_WORK(w), n, m, 0, 0});
}

template <typename AT>
static void residual(struct device *d, int64_t numbers, double *s, double *w, int m, const void *b, void *q)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_residual<AT>{PASS_IN(b), PASS_OUT(q), PAIR_WORK(w), m});
}

template <typename AT> static void scale(struct device *d, int64_t numbers, double *s, const void *q, void *v)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_scale<AT>{PASS_IN(q), PASS_OUT(v), 0});
}

template <typename T>
static void dots(struct device *d, int64_t numbers, double *s, double *w, int m, int from, int to, int row,
                 const void *V, const void *q)
{
    int64_t n = numbers / 2;
    LAUNCH(d, gm_blocks(d, n), VEC_BLOCK, gm_pair_dots<T>)
    (n, SCALARS_OF(s), TICKET_OF(s), PAIR_WORK_OF(w), m, from, to, row, VECTOR("V", ROLE_WORK, V, to * n, const T),
     VECTOR("q", ROLE_WORK, q, n, const T));
}

template <typename T> static void column(struct device *d, double *s, double *w, int m, int k, bool twice)
{
    LAUNCH(d, 1, VEC_BLOCK, gm_pair_column)(SCALARS_OF(s), PAIR_WORK_OF(w), m, k, twice, pair_tiny<T>());
}

template <typename T> static void solve(struct device *d, double *s, double *w, int m)
{
    LAUNCH(d, 1, VEC_BLOCK, gm_pair_solve)(SCALARS_OF(s), PAIR_WORK_OF(w), m);
}

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

template <typename T>
static void dots(struct device *, int64_t numbers, double *s, double *w, int m, int first, int last, int row,
                 const void *V, const void *q)
{
    if (s[S_DONE] != 0) return;
    int64_t n = numbers / 2;
    const T *from = (const T *)V, *with = (const T *)q;
    double *part = w + pair_parts(m), *to = w + pair_row(m, row);
    int pieces = gm_pieces(n);
    checks check(n * (last - first));
#pragma omp parallel for if (n > ALONE)
    for (int p = 0; p < pieces; p++)
        for (int j = first; j < last && check.goes(p); j++) {
            double re = 0, im = 0;
            int64_t end = n * (p + 1) / pieces;
#pragma omp simd reduction(+ : re, im)
            for (int64_t i = n * p / pieces; i < end; i++) {
                re += pair_re(from[j * n + i], with[i]);
                im += pair_im(from[j * n + i], with[i]);
            }
            part[2 * (int64_t)j * GM_BLOCKS + p] = re;
            part[(2 * (int64_t)j + 1) * GM_BLOCKS + p] = im;
        }
    if (!check.complete()) return;
    for (int j = 2 * first; j < 2 * last; j++) to[j] = total(part + (int64_t)j * GM_BLOCKS, pieces);
}

template <typename T> static void column(struct device *, double *s, double *w, int m, int k, bool twice)
{
    if (s[S_DONE] != 0) return;
    cplx<double> *col = (cplx<double> *)(w + pair_row(m, GM_R + k));
    for (int j = 0; j <= k; j++) {
        col[j] = pair_at(w, pair_row(m, GM_H) + 2 * j);
        if (twice) col[j] += pair_at(w, pair_row(m, GM_H2) + 2 * j);
    }
    gm_pair_rotate(s, w, pair_row(m, GM_G), col, w + pair_row(m, GM_COS), (cplx<double> *)(w + pair_row(m, GM_SIN)), k,
                   pair_tiny<T>());
}

template <typename T> static void solve(struct device *, double *s, double *w, int m)
{
    if (s[S_DONE] != 0) return;
    int k = (int)s[S_COLUMNS];
    cplx<double> *y = (cplx<double> *)(w + pair_row(m, GM_Y));
    for (int j = 0; j < k; j++) y[j] = pair_at(w, pair_row(m, GM_G) + 2 * j);
    for (int c = k - 1; c >= 0; c--) {
        y[c] /= pair_at(w, pair_row(m, GM_R + c) + 2 * c);
        for (int j = 0; j < c; j++) y[j] -= y[c] * pair_at(w, pair_row(m, GM_R + c) + 2 * j);
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#define GMRES_PAIRS(id, space, AT, T)                                                     \
    extern "C" const struct gmres_ops id;                                                 \
    const struct gmres_ops id = {.dots = space::dots<T>,                                  \
                                 .subtract = KERNEL_SPACE::subtract<KERNEL_SPACE::AT<T>>, \
                                 .column = space::column<T>,                              \
                                 .solve = space::solve<T>,                                \
                                 .add = KERNEL_SPACE::add<KERNEL_SPACE::AT<T>>,           \
                                 .residual = KERNEL_SPACE::residual<KERNEL_SPACE::AT<T>>, \
                                 .scale = KERNEL_SPACE::scale<KERNEL_SPACE::AT<T>>}

GMRES_PAIRS(VEC_SYMBOL(gmres_c32), KERNEL_SPACE, on_gpu, cplx<float>);
GMRES_PAIRS(VEC_SYMBOL(gmres_c64), KERNEL_SPACE, on_gpu, cplx<double>);
#ifndef __CUDACC__
GMRES_PAIRS(cpu_vec_gmres_c32, KERNEL_SPACE::host, on_host, cplx<float>);
GMRES_PAIRS(cpu_vec_gmres_c64, KERNEL_SPACE::host, on_host, cplx<double>);
#endif
