/* What reading a file showed beside its matrix. */
#ifndef LOAD_INFO_H
#define LOAD_INFO_H

#include <stdint.h>

enum { WARNINGS_MAX = 16 };
struct load_info {
    char file[512];
    char field[16], symmetry[16], object[16]; /* as the banner says: real, integer, pattern, complex; ... */
    int64_t nnz_stored;                       /* entries in the file */
    int64_t duplicates, explicit_zeros;       /* summed away; kept (after summing) */
    int64_t text_bytes,
        text_ns; /* of a Matrix Market file, which has lines: its size, and when it was written; else 0 */
    int nwarnings;
    char warning[WARNINGS_MAX][200];
    double ms;
};

#endif
