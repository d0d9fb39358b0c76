/* Shared by the passes of bicgstab and qmrcgstab in real and in complex arithmetic: the tests for breakdown. */
#ifndef BICG_H
#define BICG_H

#include "vec.h"

#include "machine/bicg_ops.h"

namespace KERNEL_SPACE
{

/* Whether an inner product is 0 up to rounding, given the squared norms aa and bb of its two vectors. */
template <typename P> __device__ bool bicg_none(P s, double sum, double aa, double bb)
{
    return !(fabs(sum) > s[S_NONE] * sqrt(aa) * sqrt(bb));
}

template <typename P> __device__ void bicg_break(P s, int what, double value)
{
    s[S_DONE] = value != value ? NOT_A_NUMBER : BROKE_DOWN;
    s[S_WHAT] = what;
    s[S_PQ] = value;
}

} // namespace KERNEL_SPACE

#endif
