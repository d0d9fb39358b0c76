/* Checks of devices with several members; for test_multi.c and gpu_multi.c. */
#ifndef MULTI_KIT_H
#define MULTI_KIT_H

#include "base/array.h"

/* Every format, by its default kernel, on awkward shapes: the product agrees with the reference, and has the same bits
   in every run, with every exchange, and when the matrix is copied again. Matrices with more slots are skipped. Returns
   the number of products. */
#include "base/precision.h"

int check_multi_formats(const char *device, enum precision real, int64_t most_slots);
/* The first 20 residuals of solvers agree with those on `one`, within 1e-12 (bicgstab: as far as cpu and emu
   agree), and have the same bits in every run;
   stepping back and forward gives the same residuals again. */
void check_multi_solves(const char *device, const char *one);
/* Matrices that are generated in parts on the device: SpMV agrees with the reference, and solves have the same bits as
   with the same matrix generated whole. */
void check_in_parts(const char *device);

#endif
