/* Files made for a test, and matrices as text, for the tests of the Matrix Market reader. */
#ifndef MTX_KIT_H
#define MTX_KIT_H

#include <stdbool.h>
#include <stddef.h>

struct csr;

/* A path in the test's own directory, which scratch_remove empties and removes; good until the next eight calls. */
const char *scratch_path(const char *name);
void scratch_remove(void);
int tidy(void **state);                                               /* the same, as a group's teardown */
int scratch_files(void);                                              /* how many there are */
const char *write_file(const char *name, const void *data, size_t n); /* returns its path */
/* The whole file, n bytes, to be released with mem_free. */
char *read_whole(const char *path, size_t *n);

struct member {
    const char *name, *data;
    size_t n;
};
/* Write members as a tar, or the one member raw, through one of libarchive's filters; returns the path. */
const char *pack_file(const char *name, int filter, bool tar, const struct member *m, int n);

/* "2x3: 1 1 0.5; 2 3 -1" with 1-based indices; a complex entry has two values. */
void show_matrix(const struct csr *A, char *out, size_t size);
/* What a load came to, on one line: the matrix and the warnings, or "code LINE: text". */
void show_load(const char *path, char *out, size_t size);

#endif
