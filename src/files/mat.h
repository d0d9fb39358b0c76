/* MATLAB's .mat files; shared by the reader without libraries, the writer and file_mat.c. */
#ifndef MAT_H
#define MAT_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;
struct sides;
struct source;
struct watch;

/* Level 5: the types of data, and the classes of arrays. */
enum { MAT_INT8 = 1, MAT_UINT8, MAT_INT32 = 5, MAT_UINT32, MAT_DOUBLE = 9, MAT_MATRIX = 14, MAT_COMPRESSED };
enum { CLASS_STRUCT = 2, CLASS_SPARSE = 5, CLASS_DOUBLE, CLASS_UINT64 = 15 };
enum { FLAG_LOGICAL = 0x200, FLAG_COMPLEX = 0x800 };
/* Bytes of the header of a file of level 5: text, then the version, 0x0100, and the letters MI in the byte order. */
enum { MAT_HEADER = 128, MAT_VERSION_AT = 124 };

/* mat_plain.c: read the matrix, unless the file is of level 5 and has a compressed variable or a structure. Then
 *plain is false, A is empty, and the result is true. */
bool mat_plain_load(struct source *s, bool level_4, bool *plain, struct watch *w, struct csr *A, struct load_info *info,
                    struct err *e);
/* mat_save.c: write A as the variable A of a file of level 5, uncompressed, and the right sides and solutions as b and
   x; `sides` may be NULL. The values of a pattern, which are ones, are written as a logical array. */
bool mat_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool pattern,
              const char *comment, struct watch *w, struct err *e);

#endif
