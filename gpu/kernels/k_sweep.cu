/* The sweeps of Gauss-Seidel and SOR over rows sorted by level, and the record of the residual after each sweep. */
#include "csr_rows.h"
#include "machine/level_ops.h"
#include "vec.h"

#include <cstring>

namespace KERNEL_SPACE
{

/* The bits of nonnegative numbers, read as integers, have the same order as the numbers; NaN is the largest. */
static __device__ unsigned long long sweep_bits(double v)
{
    unsigned long long bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* V threads per row read neighbouring entries; rows of one level are independent. If a launch has several levels, it
   has one block, with a barrier between levels. x is read and written through one pointer. */
template <typename T, int V>
__global__ void sweep_rows(int from, int to, GPTR(const double) s, GPTR(unsigned long long) diff, GPTR(const int) start,
                           GPTR(const int) row, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(const T) dinv, T omega, GPTR(const T) b, GPTR(T) x)
{
    if (s[S_DONE] != 0) return;
    double most = 0;
    int lane = (int)(threadIdx.x % V), each = (int)(gridDim.x * (VEC_BLOCK / V));
    int first = (int)(blockIdx.x * (VEC_BLOCK / V) + threadIdx.x / V);
    for (int level = from; level < to; level++) {
        int end = start[level + 1];
        for (int k = start[level] + first; k < end; k += each) {
            int i = row[k], last = ptr[k + 1];
            T sum = 0;
#pragma unroll 4
            for (int j = ptr[k] + lane; j < last; j += V) sum += val[j] * x[col[j]];
            sum = vector_joined<V>(sum);
            if (lane != 0) continue;
            T change = omega * dinv[k] * (b[i] - sum);
            x[i] += change;
            most = vec_join<true>(most, vec_abs(change));
        }
        if (level + 1 < to) __syncthreads(); /* all threads of the block: the level is complete */
    }
    most = vec_over_block<true>(most);
    if (threadIdx.x == 0) atomicMax(diff + 0, sweep_bits(most));
}

template <typename AT> struct pass_sweep_record {
    enum { SUMS = 1 };
    typename AT::in b, q;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real r = b[i] - q[i];
        return {(double)r * (double)r, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { vec_note_step(s, t.a, 0); }
};

/* ---- the launches ---- */

#define LEVEL_ARRAY(p, n, T) VECTOR(#p, ROLE_WORK, (void *)A->p, n, const T)

template <typename T>
static void sweep(struct device *d, const struct level_schedule *A, double *s, double omega, const void *b, void *x)
{
    auto diff = VECTOR("diff", ROLE_WORK, (void *)(s + S_NEXT_DIFF), 1, unsigned long long);
    for (int k = 0; k < A->nruns; k++) {
        const struct level_run *r = &A->run[k];
        auto *kernel = r->lanes == 1   ? sweep_rows<T, 1>
                       : r->lanes == 4 ? sweep_rows<T, 4>
                       : r->lanes == 8 ? sweep_rows<T, 8>
                                       : sweep_rows<T, WARP>;
        LAUNCH(d, r->blocks, VEC_BLOCK, kernel)
        (r->from, r->to, SCALARS_OF(s), diff, LEVEL_ARRAY(start, A->nlevels + 1, int), LEVEL_ARRAY(row, A->n, int),
         LEVEL_ARRAY(ptr, A->n + 1, int), LEVEL_ARRAY(col, A->nnz, int), LEVEL_ARRAY(val, A->nnz, T),
         LEVEL_ARRAY(dinv, A->n, T), (T)omega, VECTOR("b", ROLE_WORK, b, A->n, const T),
         VECTOR("x", ROLE_WORK, x, A->n, T));
    }
}

template <typename AT> static void record(struct device *d, int64_t n, double *s, const void *b, const void *q)
{
    AT::run(d, n, s, pass_sweep_record<AT>{PASS_IN(b), PASS_IN(q)});
}

/* ---- the same operations on the host, one row after another ---- */

#ifndef __CUDACC__
template <typename T>
static void sweep_host(struct device *, const struct level_schedule *A, double *s, double omega, const void *b, void *x)
{
    if (s[S_DONE] != 0) return;
    const T *val = (const T *)A->val, *dinv = (const T *)A->dinv, *right = (const T *)b;
    T *at = (T *)x;
    double most = s[S_NEXT_DIFF];
    struct loop l = loop_of("", A->n);
    bool checked = loop_worth(A->nnz);
    for (int64_t k = 0; k < A->n; k++) {
        if (checked && k % LOOP_SHARE == 0 && !loop_check(&l, k)) return;
        int i = A->row[k];
        T sum = 0;
        for (int j = A->ptr[k]; j < A->ptr[k + 1]; j++) sum += val[j] * at[A->col[j]];
        T change = (T)omega * dinv[k] * (right[i] - sum);
        at[i] += change;
        most = vec_join<true>(most, vec_abs(change));
    }
    s[S_NEXT_DIFF] = most;
}
#endif

} // namespace KERNEL_SPACE

#define SWEEP_ENTRY(id, sweep_, AT)       \
    extern "C" const struct sweep_ops id; \
    const struct sweep_ops id = {.sweep = KERNEL_SPACE::sweep_, .record = KERNEL_SPACE::record<KERNEL_SPACE::AT>}

SWEEP_ENTRY(VEC_SYMBOL(sweep_f32), sweep<float>, on_gpu<float>);
SWEEP_ENTRY(VEC_SYMBOL(sweep_f64), sweep<double>, on_gpu<double>);
SWEEP_ENTRY(VEC_SYMBOL(parts_sweep_f32), sweep<float>, gpu_then_host<float>);
SWEEP_ENTRY(VEC_SYMBOL(parts_sweep_f64), sweep<double>, gpu_then_host<double>);
/* The residual of pairs is recorded as that of twice as many real numbers. */
SWEEP_ENTRY(VEC_SYMBOL(sweep_c32), sweep<cplx<float>>, on_gpu<float>);
SWEEP_ENTRY(VEC_SYMBOL(sweep_c64), sweep<cplx<double>>, on_gpu<double>);
SWEEP_ENTRY(VEC_SYMBOL(parts_sweep_c32), sweep<cplx<float>>, gpu_then_host<float>);
SWEEP_ENTRY(VEC_SYMBOL(parts_sweep_c64), sweep<cplx<double>>, gpu_then_host<double>);
#ifndef __CUDACC__
SWEEP_ENTRY(cpu_vec_sweep_f32, sweep_host<float>, on_host<float>);
SWEEP_ENTRY(cpu_vec_sweep_f64, sweep_host<double>, on_host<double>);
SWEEP_ENTRY(cpu_vec_parts_sweep_f32, sweep_host<float>, host_then_host<float>);
SWEEP_ENTRY(cpu_vec_parts_sweep_f64, sweep_host<double>, host_then_host<double>);
SWEEP_ENTRY(cpu_vec_sweep_c32, sweep_host<cplx<float>>, on_host<float>);
SWEEP_ENTRY(cpu_vec_sweep_c64, sweep_host<cplx<double>>, on_host<double>);
SWEEP_ENTRY(cpu_vec_parts_sweep_c32, sweep_host<cplx<float>>, host_then_host<float>);
SWEEP_ENTRY(cpu_vec_parts_sweep_c64, sweep_host<cplx<double>>, host_then_host<double>);
#endif
