/* Kinds of matrix files. Each kind has one source file, file_KIND.c, and one line in files.def. */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct csr;
struct dense_array;
struct err;
struct load_info;
struct sides;
struct watch;

enum { FILE_BEGIN = 1 << 15 };

/* What the user says about a list of triplets, which has no header: the sizes, and the first index, 0 or 1; -1: the
   file decides. */
struct list_words {
    int64_t rows, cols;
    int first;
};

/* A file that is being read. */
struct source {
    const char *path;
    const char *part;              /* name of the variable to read; NULL: the first */
    const struct list_words *list; /* NULL: the user says nothing */
    char where[256];               /* the path, safe to print */
    struct stream *stream;         /* the unpacked bytes of the file; the first n of them are already in `begin` */
    char begin[FILE_BEGIN];
    int64_t n;
    struct sides *sides; /* receives the right sides of the file; empty at first; sides.h */
};

struct file_kind {
    const char *name;
    const char *endings; /* file name extensions, separated by blanks; file_save selects the kind by them */
    const char *about;
    bool packed;           /* can be read from a compressed file or an archive */
    bool has_parts;        /* contains named variables */
    bool lists;            /* lists of triplets, for which struct list_words is */
    bool graph;            /* saves only graphs: symmetric, without diagonal, positive integers as values */
    bool large;            /* loads and saves large matrices (matrix/csr.h) */
    bool notes_not_finite; /* `load` itself adds the notes about inf and NaN */
    /* Is a file that begins with these n bytes of this kind? NULL: this kind loads every file that no other kind
       recognises. */
    bool (*recognises)(const char *begin, int64_t n);
    /* Load the matrix. A and *info are empty at first; A stays empty on failure. The caller sets info->file and
       info->ms. */
    bool (*load)(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e);
    /* Write the whole file, or nothing on failure. `force` replaces a file that exists. `info` and `sides` may be NULL.
       If `save` is NULL, the kind is read-only. */
    bool (*save)(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e);
    /* Read the vectors of the file, as the columns of *d, which is empty at first. NULL: files of this kind contain no
       vectors of their own. */
    bool (*load_array)(struct source *s, struct dense_array *d, struct err *e);
    /* If a matrix is stored in several files: the endings of the first one, separated by blanks, which users may leave
       out. NULL: a matrix is one file. */
    const char *first_parts;
    bool saves_sides;   /* `save` writes the right sides and solutions too */
    bool saves_guesses; /* ... and the first guesses */
    const char
        *sides_word; /* but only if the user types this word, because other programs may not read them; or NULL */
};
extern const struct file_kind *const file_kinds[]; /* terminated by NULL */

/* Read a matrix; the content selects the kind. part: name of the variable to read; NULL: the first. */
bool file_load(const char *path, const char *part, struct watch *w, struct csr *A, struct load_info *info,
               struct err *e);
/* file_load, which also stores the right sides of the file in *sides; the caller frees them with sides_free. */
bool file_load_system(const char *path, const char *part, struct watch *w, struct csr *A, struct sides *sides,
                      struct load_info *info, struct err *e);
/* Read vectors from a file of a kind that has them; d->val is NULL if the file is of another kind. */
bool file_load_array(const char *path, struct dense_array *d, struct err *e);
/* file_load_system for a list of triplets; refuses files of other kinds, unless `list` is NULL. */
bool file_load_list(const char *path, const char *part, const struct list_words *list, struct watch *w, struct csr *A,
                    struct sides *sides, struct load_info *info, struct err *e);
/* Write a matrix; the file name extension selects the kind. `force`: replace a file that exists. */
bool file_save(const char *path, bool force, const struct csr *A, const struct load_info *info, const char *comment,
               struct watch *w, struct err *e);
/* file_save, which also writes the right sides and solutions; `sides` may be NULL or empty. Kinds without the trait
   saves_sides write only the matrix. */
bool file_save_system(const char *path, bool force, const struct csr *A, const struct sides *sides,
                      const struct load_info *info, const char *comment, struct watch *w, struct err *e);
/* Does any kind recognise a file by its first n bytes, so that it is more than numbers? A vector of plain numbers may
   look like a graph or a list of triplets, so these do not count. n should be FILE_BEGIN, or the whole file. */
bool file_is_recognised(const char *begin, int64_t n);
/* The graph of a matrix of any size: its pattern without the diagonal, whose entries are counted in *loops. */
bool file_graph_of(const struct csr *A, struct csr *G, int64_t *loops, struct err *e);
/* What a file of this kind would not store, in sentences for the user; returns their number. sides: those of the
   matrix; `written`: the save writes them, as far as the kind can. */
enum { LOSSES = 2, LOSS_ROOM = 200 };
int file_save_losses(const struct file_kind *kind, const struct sides *sides, bool written,
                     char text[LOSSES][LOSS_ROOM]);
/* The kind that file_save selects for a path; NULL: none. */
const struct file_kind *file_kind_of_path(const char *path);
/* Is this the path of a readable file, or does it end like the name of a matrix file? */
bool file_is_likely(const char *path);
/* Look in `folder`, which ends in a slash or is empty, for the path as it is, then with each extension. */
bool file_find_in(const char *folder, const char *path, char *out, size_t size);
/* Append lines that list the kinds of files, or those that can be saved: what they are, and their extensions. */
void file_list_kinds(bool saved, char *out, size_t size);
/* The length of a file name of n bytes without the extension of a kind of matrix file. */
size_t file_stem(const char *name, size_t n);
/* Write the path of a readable file that a user may have meant by a path without a file: the same name with the
   extension of a matrix file, here or in a folder `samples`. Returns false if there is no such file. */
bool file_near(const char *path, char *out, size_t size);
/* Fail with E_INPUT; the error names the file. Returns false. */
bool file_bad(const struct source *s, struct err *e, const char *fmt, ...) PRINTF(3, 4);
/* Copy the error `why` to e. If `why` does not say where the error is, add the file's name. Returns false. */
bool file_at(const struct source *s, const struct err *why, struct err *e);
/* Add a note for the user, unless `info` is full. */
void file_note(struct load_info *info, const char *fmt, ...) PRINTF(2, 3);

/* ---- file_arrays.c: from the arrays of a file to a matrix ---- */

/* A function that converts a number in memory, in this machine's byte order, to double. 64-bit integers beyond 2^53 are
   rounded, and so is the mantissa of f16, the 80-bit x87 format with 6 bytes of padding. `kind` is f (float), i
   (integer), u (unsigned) or b (boolean); `bytes` is the size of the number. Returns NULL if there is no such type. */
typedef double file_number(const void *at);
file_number *file_number_of(char kind, int bytes);

enum mirrored { MIRROR_NOT, MIRROR_SYMMETRIC, MIRROR_SKEW, MIRROR_HERMITIAN };
const char *mirrored_word(enum mirrored mirrored); /* as in the banner of a Matrix Market file */
/* Turn unchecked compressed arrays from a file into A. `arrays` has rowptr[rows + 1], and col, val and imag of nnz
   items each. If `by_columns` is set, these are column pointers and row indices. Takes ownership of the arrays, even on
   failure. Indices out of range are an error; unsorted rows are sorted; duplicates are summed in the order of the file.
   At any time, at most three copies of the matrix are in memory. */
bool file_finish(const struct source *s, struct csr *arrays, bool by_columns, enum mirrored mirrored, struct watch *w,
                 struct csr *A, struct load_info *info, struct err *e);
/* Like file_finish, but for triplets from a file. The triplets are not modified. */
bool file_finish_triplets(const struct source *s, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                          const double *val, const double *imag, struct watch *w, struct csr *A, struct load_info *info,
                          struct err *e);
/* Check csr_limits and the available memory before anything is allocated. */
bool file_sizes(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e);
/* The same for a matrix of any size: checks csr_limits_any. */
bool file_sizes_any(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e);

#endif
