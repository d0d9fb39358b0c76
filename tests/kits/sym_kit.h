/* What holds of symmetrization on every device, beside a slow and plain reference. */
#ifndef SYM_KIT_H
#define SYM_KIT_H

#include <stdint.h>

#include "machine/symmetrize.h"

/* By sorting entries and mirror images with the library's qsort. */
struct csr sym_reference(const struct csr *A, enum sym_mode mode);
/* A generated matrix. */
struct csr sym_made(const char *generator, int64_t a, int64_t b);
/* One matrix: each method, each mode, copied where that is due and not, all equal to the reference to the bit; and the
   transpose. */
void sym_check(const char *what, const struct csr *A, const char *device);
/* Many of them. */
void sym_check_shapes(const char *device);   /* small and awkward */
void sym_check_tiles(const char *device);    /* pairs cut by a tile, long and missing rows */
void sym_check_values(const char *device);   /* NaN, inf, -0, sums beyond all numbers */
void sym_check_verdicts(const char *device); /* symmetric or not, and what is copied then */

#endif
