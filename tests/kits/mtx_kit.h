/* Temporary files, and matrices as text, for the tests of the Matrix Market reader. */
#ifndef MTX_KIT_H
#define MTX_KIT_H

#include <stdbool.h>
#include <stddef.h>

struct csr;

/* A path in the test's own directory, which scratch_remove empties and removes. The text stays valid. */
const char *scratch_path(const char *name);
void scratch_remove(void);
int tidy(void **state);                                               /* scratch_remove as the teardown of a group */
int scratch_files(void);                                              /* the number of files in the test's directory */
const char *write_file(const char *name, const void *data, size_t n); /* returns the file's path */
/* Read the whole file, n bytes; release it with mem_free. */
char *read_whole(const char *path, size_t *n);

struct member {
    const char *name, *data;
    size_t n;
};
/* Write the members to a tar archive (if `tar` is set) or a single member to a plain file, compressed by one of
   libarchive's filters. Returns the path. */
const char *pack_file(const char *name, int filter, bool tar, const struct member *m, int n);

/* The matrix as "2x3: 1 1 0.5; 2 3 -1", with 1-based indices; a complex entry has two values. */
void show_matrix(const struct csr *A, char *out, size_t size);
/* The result of a load as one line of text: the matrix and the warnings, or "code LINE: text". */
void show_load(const char *path, char *out, size_t size);

#endif
