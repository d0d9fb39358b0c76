/* Inner products and scalars of real and of complex vectors, in double precision: a pass that is written with them is
   that of both. */
#ifndef WIDE_H
#define WIDE_H

#include "vec.h"

namespace KERNEL_SPACE
{

/* For elements of type T: the type of an inner product, double or cplx<double>; the type of a number, of which an
   element has PARTS. */
template <typename T> struct wide_of {
    typedef double type;
    typedef T part;
    enum { PARTS = 1 };
};
template <typename R> struct wide_of<cplx<R>> {
    typedef cplx<double> type;
    typedef R part;
    enum { PARTS = 2 };
};
template <typename T> using wide = typename wide_of<T>::type;
template <typename T> using part_of = typename wide_of<T>::part;
template <typename T> constexpr bool is_pair = wide_of<T>::PARTS == 2;

/* on_gpu<wide<T>> for on_gpu<T>, and so on: where a pass over vectors of T has arrays of wide<T>. */
template <typename AT> struct wide_at;
template <template <typename> class AT, typename T> struct wide_at<AT<T>> {
    typedef AT<wide<T>> type;
};

static __device__ double conjugate(double v)
{
    return v;
}
static __device__ cplx<double> conjugate(cplx<double> v)
{
    return {v.re, -v.im};
}

/* conj(a) b */
template <typename T> __device__ wide<T> wide_product(T a, T b)
{
    if constexpr (is_pair<T>) {
        double ar = (double)a.re, ai = (double)a.im, br = (double)b.re, bi = (double)b.im;
        return {ar * br + ai * bi, ar * bi - ai * br};
    } else {
        return (double)a * (double)b;
    }
}

/* v, rounded to the precision of T. */
template <typename T> __device__ T narrowed(wide<T> v)
{
    if constexpr (is_pair<T>)
        return {(part_of<T>)v.re, (part_of<T>)v.im};
    else
        return (T)v;
}

/* The number that tells whether an inner product is 0: v itself, or |v| if v is complex. */
static __device__ double signed_size(double v)
{
    return v;
}
static __device__ double signed_size(cplx<double> v)
{
    return hypot(v.re, v.im);
}

/* ---- scalars that are complex if the vectors are: s[i], with the imaginary part s[i + S_IM] ---- */

template <typename T, typename P> __device__ wide<T> scalar_of(P s, int i)
{
    if constexpr (is_pair<T>)
        return {s[i], s[i + S_IM]};
    else
        return s[i];
}

template <typename T, typename P> __device__ void scalar_set(P s, int i, wide<T> v)
{
    if constexpr (is_pair<T>) {
        s[i] = v.re;
        s[i + S_IM] = v.im;
    } else {
        s[i] = v;
    }
}

/* ---- the sums of a pass with an inner product ---- */

template <typename T> constexpr int SQUARE_AND_PRODUCT = 1 + wide_of<T>::PARTS; /* the number of sums */

template <typename T> __device__ vec_sums square_and_product(double square, wide<T> product)
{
    if constexpr (is_pair<T>)
        return {square, product.re, product.im};
    else
        return {square, product, 0};
}

template <typename T> __device__ wide<T> product_of(vec_sums t)
{
    if constexpr (is_pair<T>)
        return {t.b, t.c};
    else
        return t.b;
}

} // namespace KERNEL_SPACE

#endif
