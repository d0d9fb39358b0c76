/* Information about a load: properties of the file that are not part of the matrix. A matrix that a command made has
   one, too. */
#ifndef LOAD_INFO_H
#define LOAD_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct csr;

enum { WARNINGS_MAX = 16 };
struct load_info {
    char file[512]; /* the path; of a matrix that a command made: its origin, as a matrix, a generator or an expression
                     */
    char field[16], symmetry[16], object[16]; /* named as in the banner of a Matrix Market file */
    int64_t nnz_stored;                       /* entries in the file */
    int64_t duplicates;                       /* number of duplicates that were summed */
    int64_t explicit_zeros;                   /* number of stored zeros after duplicates were summed */
    int64_t text_bytes;                       /* size of a Matrix Market file; 0 for other kinds */
    int64_t text_ns;                          /* time stamp of a Matrix Market file; 0 for other kinds */
    int nwarnings;
    char warning[WARNINGS_MAX][200];
    double ms; /* time to load or make the matrix */
};

/* Is `field` "pattern"? The file has no values then, and the entries of its matrix are ones. `info` may be NULL. */
bool load_info_is_pattern(const struct load_info *info);
/* Can the columns be right sides or solutions of A x = b? Those of an ordering, or of a system with the transpose of A,
   cannot. */
bool load_info_holds_sides(const struct load_info *info);
/* Is every value of A, which may be any size, a 1? false after Ctrl-C. */
bool values_are_ones(const struct csr *A);

#endif
