/* Information about a load: properties of the file that are not part of the matrix. */
#ifndef LOAD_INFO_H
#define LOAD_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct csr;

enum { WARNINGS_MAX = 16 };
struct load_info {
    char file[512];
    char field[16], symmetry[16], object[16]; /* named as in the banner of a Matrix Market file */
    int64_t nnz_stored;                       /* entries in the file */
    int64_t duplicates;                       /* number of duplicates that were summed */
    int64_t explicit_zeros;                   /* number of stored zeros after duplicates were summed */
    int64_t text_bytes;                       /* size of a Matrix Market file; 0 for other kinds */
    int64_t text_ns;                          /* time stamp of a Matrix Market file; 0 for other kinds */
    int nwarnings;
    char warning[WARNINGS_MAX][200];
    double ms;
};

/* Has the file no values? The entries of its matrix are then ones. `info` may be NULL. */
bool load_info_is_pattern(const struct load_info *info);
/* Is every value of A, which may be any size, a 1? false after Ctrl-C. */
bool values_are_ones(const struct csr *A);

#endif
