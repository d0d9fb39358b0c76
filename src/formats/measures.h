/* Padding and load balance of a matrix stored by diagonals. */
#ifndef MEASURES_H
#define MEASURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct stored;

/* The measures of Wang et al. 2024. Operands are the stored values, including padding, because the SpMV multiplies all
   of them (definition 3). The load balance is the variance of the operands over pieces. Equation 13 of the paper
   defines it over row segments, and section 5.2 applies it to the pieces below; the equation is a picture in our copy,
   and we divide by the number of pieces. The paper's pieces are DRM's sub-blocks, the blocks of HDIA and of BRCSD-II,
   and BRCSD-I's pieces of at most 64 rows; HDIA and BRCSD-II have the same variance for the same block size. The paper
   does not measure DIA and HDC; here their pieces are DIA_ROWS rows. Our kernels process one sub-block of DRM per
   thread block. The pieces of HDIA, BRCSD-II and BRCSD-I are small, so a thread block processes several: four hacks or
   blocks of 32 rows, or four pieces of BRCSD-I. */
struct measures {
    int64_t padding, operands, pieces; /* padding = operands - nnz */
    double variance;                   /* 0 if there are no pieces */
};
/* Fails with E_UNSUPPORTED if the format stores no diagonals. */
bool format_measures(const struct stored *S, struct measures *out, struct err *e);

C_END
#endif
