/* Complex numbers in the kernel dialect: cplx<float> and cplx<double>, for kernels and host loops. A kernel that is
   written for a value type T works for them without changes: a T converts from a number, has + - * / and ==, moves
   through shared memory, shuffles and atomicAdd, and one p[i] is one load or store of 8 or 16 bytes. */
#ifndef GPU_COMPLEX_H
#define GPU_COMPLEX_H

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* Aligned to its size, so that nvcc loads and stores both parts together. */
template <typename R> struct alignas(2 * sizeof(R)) cplx {
    R re, im;

    cplx() = default;
    ON_BOTH cplx(R re_, R im_ = 0) : re(re_), im(im_) {}
    friend ON_BOTH cplx operator+(cplx a, cplx b) { return {a.re + b.re, a.im + b.im}; }
    friend ON_BOTH cplx operator-(cplx a, cplx b) { return {a.re - b.re, a.im - b.im}; }
    friend ON_BOTH cplx operator-(cplx a) { return {-a.re, -a.im}; }
    friend ON_BOTH cplx operator*(cplx a, cplx b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
    /* Smith's method: no intermediate result overflows unless the quotient nearly does. */
    friend ON_BOTH cplx operator/(cplx a, cplx b)
    {
        if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
            R q = b.im / b.re, d = b.re + b.im * q;
            return {(a.re + a.im * q) / d, (a.im - a.re * q) / d};
        }
        R q = b.re / b.im, d = b.re * q + b.im;
        return {(a.re * q + a.im) / d, (a.im * q - a.re) / d};
    }
    friend ON_BOTH bool operator==(cplx a, cplx b) { return a.re == b.re && a.im == b.im; }
    friend ON_BOTH bool operator!=(cplx a, cplx b) { return !(a == b); }
    ON_BOTH cplx &operator+=(cplx b) { return *this = *this + b; }
    ON_BOTH cplx &operator-=(cplx b) { return *this = *this - b; }
    ON_BOTH cplx &operator*=(cplx b) { return *this = *this * b; }
    ON_BOTH cplx &operator/=(cplx b) { return *this = *this / b; }
};

/* The built-in functions of the dialect for complex numbers. */
#ifdef __CUDACC__
template <typename R> __device__ cplx<R> __shfl_down_sync(unsigned mask, cplx<R> v, unsigned delta, int width = 32)
{
    return {__shfl_down_sync(mask, v.re, delta, width), __shfl_down_sync(mask, v.im, delta, width)};
}
template <typename R> __device__ cplx<R> __shfl_up_sync(unsigned mask, cplx<R> v, unsigned delta, int width = 32)
{
    return {__shfl_up_sync(mask, v.re, delta, width), __shfl_up_sync(mask, v.im, delta, width)};
}
template <typename R> __device__ cplx<R> __shfl_xor_sync(unsigned mask, cplx<R> v, int flip, int width = 32)
{
    return {__shfl_xor_sync(mask, v.re, flip, width), __shfl_xor_sync(mask, v.im, flip, width)};
}
template <typename R> __device__ cplx<R> __shfl_sync(unsigned mask, cplx<R> v, int from, int width = 32)
{
    return {__shfl_sync(mask, v.re, from, width), __shfl_sync(mask, v.im, from, width)};
}

/* CUDA's vector types have the same layout and alignment, and loads and stores of their own. */
static inline __device__ float2 vector_of(cplx<float> v)
{
    return make_float2(v.re, v.im);
}
static inline __device__ double2 vector_of(cplx<double> v)
{
    return make_double2(v.re, v.im);
}
static inline __device__ cplx<float> complex_of(float2 v)
{
    return {v.x, v.y};
}
static inline __device__ cplx<double> complex_of(double2 v)
{
    return {v.x, v.y};
}
template <typename R> __device__ cplx<R> __ldg(const cplx<R> *p)
{
    return complex_of(__ldg(reinterpret_cast<const decltype(vector_of(*p)) *>(p)));
}
template <typename R> __device__ cplx<R> __ldcs(const cplx<R> *p)
{
    return complex_of(__ldcs(reinterpret_cast<const decltype(vector_of(*p)) *>(p)));
}
template <typename R> __device__ void __stcs(cplx<R> *p, cplx<R> v)
{
    __stcs(reinterpret_cast<decltype(vector_of(v)) *>(p), vector_of(v));
}

/* Two atomic additions: another thread may see the real part before the imaginary part changes. */
template <typename R> __device__ void atomicAdd(cplx<R> *p, cplx<R> v)
{
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
}
#else
/* Two atomic additions, as on a GPU. Each touches the sector that holds the element. */
template <typename R> void atomicAdd(simt::array<cplx<R>> p, cplx<R> v, simt::source at = HERE)
{
    cplx<R> *slot = p.slot(0, at);
    for (bool imaginary : {false, true}) {
        if (simt::now.watched) simt::wait_before_atomic();
        p.note(ACCESS_ATOMIC, slot, at);
        std::atomic_ref<R>(imaginary ? slot->im : slot->re).fetch_add(imaginary ? v.im : v.re);
    }
}
#endif

#endif
