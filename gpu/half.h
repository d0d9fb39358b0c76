/* 16-bit values in the kernel dialect: fp16 and bf16, the types of stored values that kernels convert to the type of x
   before they multiply: (T)val[k]. The conversion is exact, and one p[i] is one load of 2 bytes. */
#ifndef GPU_HALF_H
#define GPU_HALF_H

#include "base/half.h"

#ifdef __CUDACC__
struct fp16 {
    uint16_t bits;
    template <typename T> explicit __device__ operator T() const
    {
        float v;
        asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
        return (T)v;
    }
};
struct bf16 {
    uint16_t bits;
    template <typename T> explicit __device__ operator T() const { return (T)__uint_as_float((unsigned)bits << 16); }
};
static inline __device__ fp16 __ldg(const fp16 *p)
{
    return {__ldg(&p->bits)};
}
static inline __device__ bf16 __ldg(const bf16 *p)
{
    return {__ldg(&p->bits)};
}
static inline __device__ fp16 __ldcs(const fp16 *p)
{
    return {__ldcs(&p->bits)};
}
static inline __device__ bf16 __ldcs(const bf16 *p)
{
    return {__ldcs(&p->bits)};
}
#else
struct fp16 {
    uint16_t bits;
    template <typename T> explicit operator T() const { return (T)fp16_value(bits); }
};
struct bf16 {
    uint16_t bits;
    template <typename T> explicit operator T() const { return (T)bf16_value(bits); }
};
#endif

#endif
