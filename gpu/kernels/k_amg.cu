/* The passes of multigrid: the steps of Chebyshev's method between two products with the matrix of a level. Every
   vector is read once; neighbouring threads access neighbouring elements. */
#include "vec.h"

#include "machine/amg_ops.h"

namespace KERNEL_SPACE
{

template <typename AT> struct pass_amg_begin {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in b, dinv;
    typename AT::out r, z, x;
    T scale, c;
    bool copies;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T residual = scale * b[i], change = c * dinv[i] * residual;
        if (copies) r[i] = residual;
        z[i] = change;
        x[i] = change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_smooth {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, dinv;
    typename AT::out z, x;
    T a, c;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T change = a * z[i] + c * dinv[i] * r[i];
        z[i] = change;
        x[i] += change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_correct {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, dinv;
    typename AT::out z, x;
    T c;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T change = c * dinv[i] * r[i];
        x[i] += z[i] + change;
        z[i] = change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_scale {
    enum { SUMS = 0 };
    typename AT::in x;
    typename AT::out y;
    typename AT::real factor;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        y[i] = factor * x[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the launches ---- */

template <typename AT>
static void begin(struct device *d, int64_t n, double *s, double scale, double c, const void *b, const void *dinv,
                  void *r, void *z, void *x)
{
    typedef typename AT::real T;
    bool copies = r != nullptr;
    void *to = copies ? r : x;
    AT::run(d, n, s,
            pass_amg_begin<AT>{PASS_IN(b), PASS_IN(dinv), AT::to("r", to, n), PASS_OUT(z), PASS_OUT(x), (T)scale, (T)c,
                               copies});
}

template <typename AT>
static void smooth(struct device *d, int64_t n, double *s, double a, double c, const void *r, const void *dinv, void *z,
                   void *x)
{
    typedef typename AT::real T;
    AT::run(d, n, s, pass_amg_smooth<AT>{PASS_IN(r), PASS_IN(dinv), PASS_OUT(z), PASS_OUT(x), (T)a, (T)c});
}

template <typename AT>
static void correct(struct device *d, int64_t n, double *s, double c, const void *r, const void *dinv, void *z, void *x)
{
    typedef typename AT::real T;
    AT::run(d, n, s, pass_amg_correct<AT>{PASS_IN(r), PASS_IN(dinv), PASS_OUT(z), PASS_OUT(x), (T)c});
}

template <typename AT> static void scale(struct device *d, int64_t n, double *s, double factor, const void *x, void *y)
{
    AT::run(d, n, s, pass_amg_scale<AT>{PASS_IN(x), PASS_OUT(y), (typename AT::real)factor});
}

} // namespace KERNEL_SPACE

#define AMG_ENTRY(id, AT)                                                          \
    extern "C" const struct amg_ops id;                                            \
    const struct amg_ops id = {.begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT>,     \
                               .smooth = KERNEL_SPACE::smooth<KERNEL_SPACE::AT>,   \
                               .correct = KERNEL_SPACE::correct<KERNEL_SPACE::AT>, \
                               .scale = KERNEL_SPACE::scale<KERNEL_SPACE::AT>}

AMG_ENTRY(VEC_SYMBOL(amg_f32), on_gpu<float>);
AMG_ENTRY(VEC_SYMBOL(amg_f64), on_gpu<double>);
#ifndef __CUDACC__
AMG_ENTRY(cpu_vec_amg_f32, on_host<float>);
AMG_ENTRY(cpu_vec_amg_f64, on_host<double>);
#endif
