/* The panel of the blocked method: several columns from the diagonal down, held in the registers of one block or of the
   blocks of a cluster; or, if they do not fit, one column in memory. */
#include "base/base.h"
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

/* LU_ROWS: maximum number of rows per thread in the panel. LU_DOWN: number of rows per thread in the update. */
enum { LU_ROWS = 32, LU_DOWN = 8 };

/* LU_ALONE: maximum number of rows of a panel that one block factors alone; the barriers of a cluster take longer than
   those of a block. LU_PANEL_BLOCKS: number of blocks that share a larger panel, if their registers hold LU_WIDTH
   columns of it; otherwise LU_PANEL_BLOCKS_MAX blocks share it. Measured on an H200: one block alone takes 4 % longer
   from 1024 to 4096 rows in fp64, 11 % in fp32, and 30 % up to 8192 rows, where it holds only 3 columns. */
enum { LU_ALONE = 1024, LU_PANEL_BLOCKS = 4, LU_PANEL_BLOCKS_MAX = 8 };

/* The maximum number of values that a thread of the panel holds, so that they fit in 255 registers. */
template <typename T> struct lu_registers {
    enum { VALUES = 768 / sizeof(T) };
};
/* The number of columns of a panel if each thread holds R rows. */
template <typename T, int R> struct lu_shape {
    enum { FIT = lu_registers<T>::VALUES / R, W = FIT > LU_WIDTH ? +LU_WIDTH : +FIT };
};

/* The factor by which a pivot is multiplied before its inversion: 1, unless the inverse could overflow. */
static __device__ double lu_lift(double v)
{
    return lu_abs(v) < DBL_MIN ? 0x1p200 : 1;
}
static __device__ float lu_lift(float v)
{
    return lu_abs(v) < FLT_MIN ? 0x1p60f : 1;
}

/* 1 / (lift pivot), where `size` is |pivot|. If the pivot is not in a register yet, only its sign or phase waits. */
template <typename T> __device__ T lu_inverse(lu_size<T> size, lu_size<T> lift, T pivot)
{
    lu_size<T> inverse = (lu_size<T>)1 / (size * lift);
    if constexpr (std::is_floating_point_v<T>)
        return pivot < 0 ? -inverse : inverse;
    else
        return {pivot.re * lift * inverse * inverse, -(pivot.im * lift * inverse * inverse)};
}

/* The rows of a panel that a thread holds: x[r] is row lu_row(r) of the panel. Loops are unrolled and functions
   inlined, so that x stays in registers. */
template <typename T, int R> struct lu_rows {
    enum { W = lu_shape<T, R>::W };
    T x[R][W];
};

static __device__ int lu_row(int r)
{
    return (int)(threadIdx.x + (blockIdx.x + r * gridDim.x) * blockDim.x);
}

/* The thread's best pivot candidate for column k, which is now the first column that it holds. Rows beyond the panel
   hold zeros, which are no candidates; only the first row of a thread may be above row k. */
template <typename T, int R>
__device__ void lu_thread_argmax(const lu_rows<T, R> &own, int k, lu_size<T> &best, int &at)
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        lu_size<T> v = r == 0 && lu_row(0) < k ? (lu_size<T>)0 : lu_abs(own.x[r][0]);
        if (!(v > best)) continue;
        best = v;
        at = lu_row(r);
    }
}

/* The thread's rows of columns j .. j+w-1 from row j down; 0 beyond the panel. */
template <typename T, int R> __device__ void lu_load_rows(lu_rows<T, R> &own, int64_t n, int64_t j, int w, GPTR(T) a)
{
    enum { W = lu_rows<T, R>::W };
    int m = (int)(n - j);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < W; c++) own.x[r][c] = c < w && lu_row(r) < m ? a[(j + c) * n + j + lu_row(r)] : (T)0;
}

/* One thread: note that step k of the panel at row j exchanges rows k and p of the panel. */
template <typename T> __device__ void lu_note_pivot(int64_t j, int k, int p, T pivot, GPTR(int) piv, GPTR(int) info)
{
    piv[j + k] = (int)j + p;
    if (pivot == 0 && info[0] < 0) info[0] = (int)j + k;
}

/* to[0 .. W-1] = row `row` of the panel, in the thread that holds it. */
template <typename T, int R, typename P> __device__ void lu_show_row(const lu_rows<T, R> &own, int row, P to)
{
    enum { W = lu_rows<T, R>::W };
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < W; c++)
            if (lu_row(r) == row) to[c] = own.x[r][c];
}

/* Row `row` of the panel, in the thread that holds it, becomes from[0 .. W-1]. */
template <typename T, int R, typename P> __device__ void lu_take_row(lu_rows<T, R> &own, int row, P from)
{
    enum { W = lu_rows<T, R>::W };
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < W; c++)
            if (lu_row(r) == row) own.x[r][c] = from[c];
}

/* Exchange rows k and p through shared memory: rows[0..W-1] is the pivot row p, for all threads; rows[W..2W-1] is row
   k. mine: this thread holds row p. Warps that hold neither row do nothing. */
template <typename T, int R, typename P>
__device__ void lu_swap_rows(lu_rows<T, R> &own, int k, int p, bool mine, P rows)
{
    enum { W = lu_rows<T, R>::W };
    if ((int)threadIdx.x == k)
#pragma unroll
        for (int c = 0; c < W; c++) rows[W + c] = own.x[0][c];
    if (mine) lu_show_row(own, p, rows);
    __syncthreads(); /* all threads of the block: both rows are in shared memory */
    if (mine && p != k) lu_take_row(own, p, rows + W);
}

/* The first column becomes column k of L, written to `column`. A multiple of column k is subtracted from the columns to
   its right. These columns then move one position to the left: each step runs the same code, which stays in the
   instruction cache. size: |pivot|, in a register, so that 1 / |pivot| is computed without waiting for the pivot row;
   if size is 0, there is no pivot, and nothing changes. */
template <typename T, int R, typename P>
__device__ void lu_eliminate(lu_rows<T, R> &own, int k, int m, lu_size<T> size, P pivots, GPTR(T) column)
{
    enum { W = lu_rows<T, R>::W };
    lu_size<T> lift = lu_lift(size);
    T inverse = lu_inverse<T>(size, lift, pivots[0]), u[W];
    bool none = size == 0;
#pragma unroll
    for (int c = 0; c < W; c++) u[c] = none ? (T)0 : pivots[c];
#pragma unroll
    for (int r = 0; r < R; r++) {
        T l = none ? own.x[r][0] : own.x[r][0] * (T)lift * inverse;
        if (lu_row(r) > k && lu_row(r) < m) column[lu_row(r)] = l;
        if (none) l = 0;
#pragma unroll
        for (int c = 1; c < W; c++) own.x[r][c - 1] = own.x[r][c] - l * u[c];
    }
}

/* Each column of L was written in its own step: apply the swaps of the steps that followed. `swap` holds row
   numbers within the panel. 2w threads work on a column; all elements are read before any is written. */
template <typename T, typename P> __device__ void lu_catch_up(int64_t n, int w, P swap, GPTR(T) panel)
{
    int rows = 2 * w, each = (int)blockDim.x / rows, mine = (int)threadIdx.x / rows, i = (int)threadIdx.x % rows;
    __syncthreads(); /* all threads of the block: the columns and the last swap are written */
    int row = i < w ? i : swap[i - w];
    bool writes = i < w || lu_writes(swap, w, i - w);
    for (int first = 0; first < w; first += each) {
        int c = first + mine;
        bool busy = writes && mine < each && c < w;
        T v = busy ? panel[c * n + lu_origin(swap, c + 1, w, row)] : (T)0;
        __syncthreads(); /* all threads of the block: the elements to exchange have been read */
        if (busy && row > c) panel[c * n + row] = v;
    }
}

/* Factor rows j and below of columns j .. j+w-1 with one block. A column costs two barriers: one after each warp has
   stored its best candidate, and one after the two rows to exchange are stored. Each barrier also protects the shared
   memory of the previous step: all threads have read it before any thread reaches the next step. */
template <typename T, int R>
__global__ void __launch_bounds__(LU_PANEL_THREADS)
    lu_panel(int64_t n, int64_t j, int w, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    enum { W = lu_rows<T, R>::W };
    SHARED(lu_size<T>, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    SHARED(T, rows, 2 * W);
    SHARED(int, swap, W);
    int m = (int)(n - j);
    lu_rows<T, R> own;
    follow();
    lu_load_rows(own, n, j, w, a);
#pragma unroll 1
    for (int k = 0; k < w; k++) {
        lu_size<T> best = 0;
        int at = INT32_MAX;
        lu_thread_argmax(own, k, best, at);
        int candidate = at;
        lu_block_argmax(best, at, high, where);
        bool found = at < m; /* false: all candidates are 0 or NaN */
        int p = found ? at : k;
        lu_swap_rows(own, k, p, found && candidate == p, rows);
        auto pivots = rows + (p == k ? +W : 0);
        T pivot = pivots[0];
        if (threadIdx.x == 0) {
            swap[k] = p;
            lu_note_pivot(j, k, p, pivot, piv, info);
        }
        if ((int)threadIdx.x < w - k) a[(j + k + threadIdx.x) * n + j + k] = pivots[threadIdx.x];
        lu_eliminate(own, k, m, found ? best : lu_abs(pivot), pivots, a + ((j + k) * n + j));
    }
    lu_catch_up(n, w, swap, a + (j * n + j));
}

/* The same with the blocks of one cluster: row lu_row(r) may be in any of them. A column costs a barrier of the block
   and one of the cluster. What a block shows lies in two places in turn, so that the others may read it until the next
   barrier of the cluster. */
template <typename T, int R>
__global__ void __launch_bounds__(LU_PANEL_THREADS)
    lu_panel_shared(int64_t n, int64_t j, int w, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    enum { W = lu_rows<T, R>::W };
    SHARED(lu_size<T>, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    SHARED(lu_size<T>, best_of, 2); /* of the block */
    SHARED(int, at_of, 2);
    SHARED(T, rows, 4 * W); /* twice: row at_of of the panel; row k, in the first block */
    SHARED(T, pivots, W);   /* the pivot row */
    SHARED(int, swap, W);
    int m = (int)(n - j), lane = threadIdx.x % WARP;
    lu_rows<T, R> own;
    lu_load_rows(own, n, j, w, a);
#pragma unroll 1
    for (int k = 0; k < w; k++) {
        int turn = k % 2;
        auto shown = rows + turn * 2 * W;
        lu_size<T> best = 0;
        int at = INT32_MAX;
        lu_thread_argmax(own, k, best, at);
        int candidate = at;
        lu_block_argmax(best, at, high, where);
        bool mine = at < m && candidate == at;
        if (mine) lu_show_row(own, at, shown);
        if (lu_row(0) == k)
#pragma unroll
            for (int c = 0; c < W; c++) shown[W + c] = own.x[0][c];
        if (threadIdx.x == 0) {
            best_of[turn] = best;
            at_of[turn] = at;
        }
        cluster_sync(); /* all threads of the cluster: the candidates and the rows are shown */
        bool is_block = lane < (int)gridDim.x;
        best = is_block ? in_block(best_of, lane)[turn] : (lu_size<T>)0;
        at = is_block ? in_block(at_of, lane)[turn] : INT32_MAX;
        lu_warp_argmax(best, at);
        bool found = at < m; /* false: all candidates are 0 or NaN */
        int p = found ? at : k, owner = p / (int)blockDim.x % (int)gridDim.x;
        if ((int)threadIdx.x < W)
            pivots[threadIdx.x] = in_block(rows, owner)[turn * 2 * W + (p == k ? +W : 0) + threadIdx.x];
        if (mine && p == candidate && p != k) lu_take_row(own, p, in_block(rows, 0) + (turn * 2 * W + W));
        __syncthreads(); /* all threads of the block: the pivot row is in shared memory */
        T pivot = pivots[0];
        if (threadIdx.x == 0) swap[k] = p;
        if (blockIdx.x == 0 && threadIdx.x == 0) lu_note_pivot(j, k, p, pivot, piv, info);
        if (blockIdx.x == 0 && (int)threadIdx.x < w - k) a[(j + k + threadIdx.x) * n + j + k] = pivots[threadIdx.x];
        lu_eliminate(own, k, m, found ? best : lu_abs(pivot), pivots, a + ((j + k) * n + j));
    }
    cluster_sync(); /* all threads of the cluster: the columns are written, and nothing more is read from other blocks
                     */
    if (blockIdx.x == 0) lu_catch_up(n, w, swap, a + (j * n + j));
}

/* A panel of one column, used if not even two columns fit in the registers of a block. The block also swaps the rows of
   columns [from, to), so that several blocks can work on one column in the update that follows. */
template <typename T>
__global__ void __launch_bounds__(LU_THREADS)
    lu_column(int64_t n, int64_t j, int64_t from, int64_t to, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    SHARED(lu_size<T>, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    lu_size<T> best = 0;
    int at = INT32_MAX;
#pragma unroll 4
    for (int64_t i = j + threadIdx.x; i < n; i += blockDim.x) lu_larger(best, at, lu_abs<T>(a[j * n + i]), (int)i);
    lu_block_argmax(best, at, high, where);
    int64_t p = at < n ? at : j;
    T top = a[j * n + j], pivot = a[j * n + p];
    __syncthreads(); /* all threads of the block: both elements have been read */
    if (threadIdx.x == 0) {
        a[j * n + j] = pivot;
        piv[j] = (int)p;
        if (pivot == 0 && info[0] < 0) info[0] = (int)j;
    }
    if (pivot == 0) return; /* pivot is the same in all threads; if it is 0, p is j */
    for (int64_t c = from + threadIdx.x; c < to; c += blockDim.x) {
        if (c == j || p == j) continue;
        T v = a[c * n + j];
        a[c * n + j] = a[c * n + p];
        a[c * n + p] = v;
    }
    lu_size<T> lift = lu_lift(lu_abs(pivot));
    T inverse = (T)1 / (pivot * (T)lift);
#pragma unroll 4
    for (int64_t i = j + 1 + threadIdx.x; i < n; i += blockDim.x) {
        T v = i == p ? top : a[j * n + i];
        a[j * n + i] = v * (T)lift * inverse;
    }
}

/* The update by one column: a grid of blocks over the columns to its right and their rows, LU_DOWN rows per thread. */
template <typename T> __global__ void lu_rank_one(int64_t n, int64_t j, GPTR(T) a)
{
    int64_t c = j + 1 + blockIdx.x, first = j + 1 + (int64_t)blockIdx.y * LU_BLOCK * LU_DOWN + threadIdx.x;
    T u = a[c * n + j];
#pragma unroll
    for (int s = 0; s < LU_DOWN; s++) {
        int64_t i = first + s * LU_BLOCK;
        if (i < n) a[c * n + i] -= a[j * n + i] * u;
    }
}

/* ---- the launches ---- */

/* How a panel of this number of rows is cut: blocks, which form a cluster, threads per block, and rows per thread,
   rounded up to a number for which there is a kernel; above LU_ROWS: too many rows. */
struct panel_cut {
    unsigned blocks, threads;
    int each;
};

/* The number of blocks that share a panel of this number of rows. */
template <typename T> static int blocks_of(int64_t rows, int64_t threads)
{
    int blocks = lu_hook.blocks                                                              ? lu_hook.blocks
                 : rows <= LU_ALONE                                                          ? 1
                 : rows <= LU_PANEL_BLOCKS * threads * (lu_registers<T>::VALUES / +LU_WIDTH) ? +LU_PANEL_BLOCKS
                                                                                             : +LU_PANEL_BLOCKS_MAX;
    return blocks > cluster_blocks() ? 1 : blocks;
}

template <typename T> static panel_cut cut_of(int64_t rows)
{
    static const int each[] = {1, 2, 4, 6, 8, 12, 16, 24, LU_ROWS};
    int most = lu_hook.threads ? lu_hook.threads : +LU_PANEL_THREADS;
    int64_t threads = rows >= most ? most : (rows + WARP - 1) / WARP * WARP;
    int blocks = blocks_of<T>(rows, threads);
    int64_t need = (rows + blocks * threads - 1) / (blocks * threads);
    panel_cut cut = {(unsigned)blocks, (unsigned)threads, LU_ROWS + 1};
    for (int i = COUNT(each) - 1; i >= 0 && !(lu_hook.rows && rows > lu_hook.rows); i--)
        if (need <= each[i]) cut.each = each[i];
    return cut;
}

template <typename T> int lu_launch_panel_width(int64_t rows, int most)
{
    int each = cut_of<T>(rows).each, fit = lu_registers<T>::VALUES / each;
    if (each > LU_ROWS || fit < 2) return 0;
    if (fit > LU_WIDTH) fit = LU_WIDTH;
    return fit < most ? fit : most;
}

template <typename T>
using panel_launch = void(struct device *d, struct panel_cut cut, struct lu_at A, int64_t j, int w);

template <typename T, int R>
static void launch_panel(struct device *d, struct panel_cut cut, struct lu_at A, int64_t j, int w)
{
    if (cut.blocks == 1)
        FOLLOW(d, 1, cut.threads, lu_panel<T, R>)(A.n, j, w, MATRIX(A), PIVOTS(A), INFO(A));
    else
        LAUNCH_CLUSTER(d, cut.blocks, cut.threads, 0, lu_panel_shared<T, R>)
    (A.n, j, w, MATRIX(A), PIVOTS(A), INFO(A));
}

template <typename T> void lu_launch_column(struct device *d, struct lu_at A, int64_t j, int64_t from, int64_t to)
{
    dim3 blocks((unsigned)(to - j - 1), blocks_for(A.n - j - 1, +LU_BLOCK * +LU_DOWN));
    LAUNCH(d, 1, lu_hook.threads ? lu_hook.threads : +LU_THREADS, lu_column<T>)
    (A.n, j, from, to, MATRIX(A), PIVOTS(A), INFO(A));
    if (blocks.x && blocks.y) LAUNCH(d, blocks, LU_BLOCK, lu_rank_one<T>)(A.n, j, MATRIX(A));
}

template <typename T> void lu_launch_panel(struct device *d, struct lu_at A, int64_t j, int w)
{
    static const struct {
        int rows;
        panel_launch<T> *launch;
    } shape[] = {{1, launch_panel<T, 1>},   {2, launch_panel<T, 2>},   {4, launch_panel<T, 4>},
                 {6, launch_panel<T, 6>},   {8, launch_panel<T, 8>},   {12, launch_panel<T, 12>},
                 {16, launch_panel<T, 16>}, {24, launch_panel<T, 24>}, {32, launch_panel<T, 32>}};
    struct panel_cut cut = cut_of<T>(A.n - j);
    for (int i = 0; i < COUNT(shape); i++)
        if (shape[i].rows == cut.each) shape[i].launch(d, cut, A, j, w);
}

template int lu_launch_panel_width<float>(int64_t, int);
template int lu_launch_panel_width<double>(int64_t, int);
template int lu_launch_panel_width<cplx<float>>(int64_t, int);
template int lu_launch_panel_width<cplx<double>>(int64_t, int);
INSTANTIATE(lu_launch_panel, struct device *, struct lu_at, int64_t, int);
INSTANTIATE(lu_launch_column, struct device *, struct lu_at, int64_t, int64_t, int64_t);

} // namespace KERNEL_SPACE
