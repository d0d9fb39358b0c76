/* Kernels for the emulator's own tests. */
#ifndef EMU_KERNELS_H
#define EMU_KERNELS_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

/* Run the kernel called `name` on 256 ints; emu_sync then reports its findings. */
void emu_test_run(const char *name, int *y);
/* Read `times` elements of y on the host, through simt::array, as the solvers of the device cpu do. */
void emu_test_read(int *y, int64_t times);
/* The threads per row that csr-cusp, LightSpMV and the CSR part of hdc choose. */
int emu_test_vector(int64_t rows, int64_t nnz);
/* The number of the first source line of the kernels that contains `text`, or 0. */
int emu_test_line(const char *text);
/* Kernels for the microscope, on the rows of a CSR matrix. In the first kernel, each thread walks its row in two loops,
   with more loads if a column is odd. The second kernel has an index outside x in its last row. The third kernel uses
   the names `xs` and `ys` for x and y, and the name `x` for another vector. */
extern const struct kernel emu_test_nested, emu_test_outside, emu_test_renamed;

C_END
#endif
