/* Passes over several columns at a time (machine/vec_ops.h): columns_on_gpu and columns_on_host run a pass that is
   written for one vector, as on_gpu and on_host do (vec.h). Each column has its own scalars, sums and end. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "vec.h"

namespace KERNEL_SPACE
{

/* The rows of elements that a block works on at once: a thread per element; the threads left over have none. With 3
   columns, threads 0 .. 2 have row 0, threads 3 .. 5 row 1, and thread 255 has nothing. */
static __device__ int column_rows(int columns)
{
    return VEC_BLOCK / columns;
}

/* The sums of each column over the rows of the block, valid in row 0. All threads of the block take part. */
template <typename PASS> __device__ vec_sums column_block_sums(vec_sums t, int columns)
{
    SHARED(double, part, 3 * VEC_BLOCK);
    int me = (int)threadIdx.x, row = me / columns;
    __syncthreads(); /* all threads of the block: reads of `part` by the previous call are done */
    for (int rows = column_rows(columns); rows > 1;) {
        int half = (rows + 1) / 2, other = me + half * columns;
        part[me] = t.a;
        if (PASS::SUMS > 1) part[VEC_BLOCK + me] = t.b;
        if (PASS::SUMS > 2) part[2 * VEC_BLOCK + me] = t.c;
        __syncthreads(); /* all threads of the block: the sums of `rows` rows are in `part` */
        if (row < rows - half) {
            vec_sums more = {part[other], 0, 0};
            if (PASS::SUMS > 1) more.b = part[VEC_BLOCK + other];
            if (PASS::SUMS > 2) more.c = part[2 * VEC_BLOCK + other];
            t = vec_joined<PASS>(t, more);
        }
        __syncthreads(); /* all threads of the block: `part` has been read */
        rows = half;
    }
    return t;
}

/* The partial sums of a column begin here. */
static __device__ int64_t column_sums_at(int column)
{
    return COLUMN_SUMS + 3 * (int64_t)column * VEC_BLOCKS;
}

/* Add the sums of the blocks, in a fixed order; in the last block to arrive, row 0 ends the pass of its columns. `on`:
   the column of this thread is not done. All threads of the block take part. */
template <typename PASS>
__device__ void column_finish(GPTR(double) s, GPTR(unsigned) ticket, PASS &pass, vec_sums t, int columns, bool on)
{
    int row = (int)threadIdx.x / columns, column = (int)threadIdx.x % columns;
    int64_t at = column_sums_at(column);
    t = column_block_sums<PASS>(t, columns);
    if (row == 0) {
        s[at + blockIdx.x] = t.a;
        if (PASS::SUMS > 1) s[at + VEC_BLOCKS + blockIdx.x] = t.b;
        if (PASS::SUMS > 2) s[at + 2 * VEC_BLOCKS + blockIdx.x] = t.c;
    }
    if (!vec_last_block(ticket)) return;
    t = {0, 0, 0};
    for (int k = row; k < (int)gridDim.x && row < column_rows(columns); k += column_rows(columns)) {
        vec_sums more = {s[at + k], 0, 0};
        if (PASS::SUMS > 1) more.b = s[at + VEC_BLOCKS + k];
        if (PASS::SUMS > 2) more.c = s[at + 2 * VEC_BLOCKS + k];
        t = vec_joined<PASS>(t, more);
    }
    t = column_block_sums<PASS>(t, columns);
    if (row == 0 && on) pass.end(s + column * SCALARS, t);
}

/* Neighbouring threads access neighbouring elements, with a grid stride of whole rows, so that a thread stays in its
   column. */
template <typename PASS>
__global__ void __launch_bounds__(VEC_BLOCK, vec_blocks_per_sm<PASS>)
    column_pass(int64_t n, FRESH(double) s, GPTR(unsigned) ticket, PASS pass)
{
    follow();
    int columns = (int)s[S_COLS], column = (int)threadIdx.x % columns, each = column_rows(columns) * columns;
    vec_sums t = {0, 0, 0};
    bool on = (int)threadIdx.x < each && s[column * SCALARS + S_DONE] == 0;
    if (on) {
        pass.begin(s + column * SCALARS);
#pragma unroll 4
        for (int64_t i = (int64_t)blockIdx.x * each + threadIdx.x; i < n; i += (int64_t)gridDim.x * each)
            t = vec_joined<PASS>(t, pass.at(i));
    }
    if (PASS::SUMS > 0) column_finish(s, ticket, pass, t, columns, on);
}

template <typename T> struct columns_on_gpu : on_gpu<T> {
    enum { ALIGNED = 0 };

    template <typename PASS> static void run(struct device *d, int64_t n, double *s, PASS pass)
    {
        vec_launch(d, vec_grid(d, n, vec_blocks_per_sm<PASS>),
                   column_pass<PASS>)(n, VECTOR("s", ROLE_WORK, s, COLUMNS_WORK, double), TICKET_OF(s), pass);
    }
};

#ifndef __CUDACC__
namespace host
{

/* Elements of a vector that stay in the L1 cache while one column after another goes over them. */
enum { PIECE = 512 };

/* The passes of the columns that are not done. */
template <typename PASS> struct column_passes {
    int columns, n;
    int column[COLUMNS_MAX];
    PASS of[COLUMNS_MAX];

    column_passes(double *s, const PASS &pass) : columns((int)s[S_COLS]), n(0)
    {
        for (int c = 0; c < columns; c++) {
            if (s[c * SCALARS + S_DONE] != 0) continue;
            of[n] = pass;
            of[n].begin(s + c * SCALARS);
            column[n++] = c;
        }
    }
    /* The sums of pass k over the rows [from, end), with its scalars in registers. */
    vec_sums sum_piece(int k, int64_t from, int64_t end) const
    {
        const PASS own = of[k];
        vec_sums t = {0, 0, 0};
        for (int64_t i = from * columns + column[k]; i < end * columns; i += columns)
            t = vec_joined<PASS>(t, own.at(i));
        return t;
    }
    /* The sums over the rows [from, end), which go to element j of the sums of each column. */
    void sum_rows(int64_t from, int64_t end, double *part, int j)
    {
        vec_sums t[COLUMNS_MAX] = {};
        int64_t rows = PIECE / columns;
        for (int64_t row = from; row < end; row += rows)
            for (int k = 0; k < n; k++) t[k] = vec_joined<PASS>(t[k], sum_piece(k, row, std::min(row + rows, end)));
        for (int k = 0; k < n; k++) {
            double *to = part + 3 * (int64_t)column[k] * VEC_BLOCKS + j;
            to[0] = t[k].a, to[VEC_BLOCKS] = t[k].b, to[2 * VEC_BLOCKS] = t[k].c;
        }
    }
    void end(double *s, const double *part, int stretches)
    {
        for (int k = 0; k < n; k++) {
            const double *from = part + 3 * (int64_t)column[k] * VEC_BLOCKS;
            vec_sums t = {0, 0, 0};
            for (int j = 0; j < stretches; j++)
                t = vec_joined<PASS>(t, {from[j], from[VEC_BLOCKS + j], from[2 * VEC_BLOCKS + j]});
            of[k].end(s + column[k] * SCALARS, t);
        }
    }
};

} // namespace host

template <typename T> struct columns_on_host : on_host<T> {
    enum { ALIGNED = 0 };

    template <typename PASS> static void run(struct device *, int64_t n, double *s, PASS pass)
    {
        host::column_passes<PASS> passes(s, pass);
        int64_t rows = n / passes.columns;
        int k = host::stretches(rows);
        double *part = s + COLUMN_SUMS;
        host::checks check(n);
#pragma omp parallel for if (n > host::ALONE)
        for (int j = 0; j < k; j++)
            if (check.goes(j)) passes.sum_rows(host::start(rows, j), host::start(rows, j + 1), part, j);
        if (PASS::SUMS > 0 && check.complete()) passes.end(s, part, k);
    }
};
#endif

} // namespace KERNEL_SPACE

#endif
