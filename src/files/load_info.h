/* The report of a load: properties of the file that the matrix does not hold. */
#ifndef LOAD_INFO_H
#define LOAD_INFO_H

#include <stdint.h>

enum { WARNINGS_MAX = 16 };
struct load_info {
    char file[512];
    char field[16], symmetry[16], object[16]; /* words of the banner: real, integer, pattern, complex; ... */
    int64_t nnz_stored;                       /* entries in the file */
    int64_t duplicates, explicit_zeros;       /* duplicates that were summed; zeros that are stored, after summing */
    int64_t text_bytes, text_ns;              /* size and time stamp of a Matrix Market file; 0 for other kinds */
    int nwarnings;
    char warning[WARNINGS_MAX][200];
    double ms;
};

#endif
