/* How well a format of diagonals stores a matrix. */
#ifndef MEASURES_H
#define MEASURES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct err;
struct stored;

/* How well a format of diagonals stores a matrix, as Wang et al. 2024 measure it: operands are the stored values,
   padding included, since all of them take part in the product (definition 3); the balance of work is the variance
   of the operands over the pieces that thread blocks process (eq. 13, which divides by the number of pieces). The
   paper's pieces are DRM's sub-blocks and the blocks of HDIA and BRCSD-II, whose variances are equal at one block
   size; BRCSD-I's are its blocks, cut into 64 rows. The paper does not measure DIA and HDC: here their pieces are
   DIA_ROWS rows. Our kernels give each thread block one piece; for HDIA and BRCSD-II, whose pieces are rarely more
   than a warp's work, they give it 128 rows, which is four hacks or blocks of 32. */
struct measures {
    int64_t padding, operands, pieces; /* padding = operands - nnz */
    double variance;                   /* 0 where there are no pieces */
};
/* E_UNSUPPORTED where the format stores no diagonals. */
bool format_measures(const struct stored *S, struct measures *out, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
