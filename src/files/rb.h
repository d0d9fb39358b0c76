/* Declarations that the files of the Rutherford-Boeing and Harwell-Boeing reader share. */
#ifndef RB_H
#define RB_H

#include <stdbool.h>
#include <stdint.h>

#include "mtx.h"

struct csr;
struct err;
struct load_info;
struct source;
struct watch;

static inline char rb_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* ---- rb_format.c: Fortran's formats ---- */

enum { EDITS_MAX = 64, WIDTH_MAX = 64 };

/* Equal fields of a line, e.g. 8I9: what Fortran calls an edit descriptor. */
struct edit {
    char letter; /* I, F, E, D, G or Q */
    int repeat, width, digits, scale;
    int skip; /* columns before the first of the fields */
};
/* A format such as (1X,8I9) or (3(1P,E24.16)): the fields of a line. Later lines repeat the last group in parentheses
   and what follows it, as Fortran does. */
struct format {
    struct edit edit[EDITS_MAX];
    int n;      /* items of `edit` */
    int again;  /* the item with which all lines but the first begin */
    int before; /* columns of its `skip` that precede the group, and are skipped on the first line only */
};
/* Parse the text [p, end) between the outer parentheses, without blanks. */
bool format_parse(struct format *f, const char *p, const char *end);
/* Fields of a line that begins with item `from`. */
int64_t format_fields(const struct format *f, int from);
/* Read the value [s, s + n), which has no blanks, by Fortran's rules: if it has no decimal point, its last `digits`
   digits are the fraction; if it has no exponent, it is divided by 10^scale. The letter of an exponent is E, D or Q, or
   is absent if the exponent has a sign. */
bool edit_value(const struct edit *d, const char *s, size_t n, double *v);

/* ---- rb_read.c: lines and arrays ---- */

enum { HEAD_NUMBERS = 5, PTR_LINES = 1, RHS_LINES = 4, ROWS = 0, COLS = 1, ENTRIES = 2, ELEMENT_VALUES = 3 };

/* A file that is being read. */
struct rb {
    struct source *s;
    struct watch *watch;
    struct lines lines;
    struct text text;
    const char *p, *end;         /* the text that has not been read yet */
    const char *line, *line_end; /* the current line */
    int64_t number;              /* number of the current line, counted from 1 */
    /* The array that is being read. */
    const struct format *format;
    int item, repeated; /* the next field: its item, and how many fields of this item were read */
    int column;         /* the column after the last field, counted from 0 */
    int64_t left;       /* fields left in the array */
    bool words;         /* the fields of this line are separated by blanks, so their columns are ignored */
    const char *next;   /* the next word */
    int64_t blanks;     /* blank fields that were read as 0 */
    /* The header. */
    char type[4]; /* in upper case */
    int64_t lines_of[HEAD_NUMBERS], size[HEAD_NUMBERS];
    struct format ptr, idx, val, rhs;
    char rhs_type[4]; /* in upper case; "": no right sides */
    int64_t rhs_n, rhs_entries;
};
bool rb_open(struct rb *r, struct source *s, struct watch *w, struct err *e); /* rb_close also after a failure */
void rb_close(struct rb *r);
bool rb_line(struct rb *r, const char *needed, struct err *e); /* go to the next line */
bool rb_bad(const struct rb *r, struct err *e, const char *needed, const char *found, const char *found_end);
/* Parse the next format in parentheses of the line, beginning at *p. */
bool rb_format(struct rb *r, const char **p, const char *needed, struct format *f, struct err *e);
/* Read integers separated by blanks up to the end of the line. Returns their number, or -1 if there are more than
   `most` integers or any other text. */
int rb_integers(const char *p, const char *end, int64_t *v, int most);
/* Refuse arrays of rows * cols numbers, or pairs of them if the file is complex, for which the rest of an uncompressed
   file is too short: each number has at least one byte. */
bool rb_enough_bytes(struct rb *r, int64_t rows, int64_t cols, bool pairs, struct err *e);
/* Begin an array of n numbers on a new line. */
void rb_begin(struct rb *r, const struct format *f, int64_t n);
bool rb_value(struct rb *r, double *v, struct err *e);
/* Read n pointers or indices, and convert them from 1-based to 0-based. */
bool rb_indices(struct rb *r, const struct format *f, const char *what, int64_t n, int *to, struct err *e);
/* Read n values or, unless `im` is NULL, pairs of a real and an imaginary part. rb_more continues the array. */
bool rb_values(struct rb *r, const struct format *f, int64_t n, double *re, double *im, struct err *e);
bool rb_more(struct rb *r, int64_t n, double *re, double *im, struct err *e);
bool rb_complex(const struct rb *r);
const char *rb_field(const struct rb *r); /* the kind of values, as in the banner of a Matrix Market file */
void rb_note_blanks(const struct rb *r, struct load_info *info);

/* ---- rb_elements.c: unassembled matrices ---- */

/* The elements of a matrix, and the variables of each of them. */
struct elements {
    int64_t n;
    int *start;     /* owned: [n + 1], the first variable of each element */
    int *variable;  /* owned: [start[n]] */
    int64_t values; /* in the file */
};
/* Read the elements, and the arrays *C of the matrix that they add up to, by columns. *t is needed for right sides. */
bool elements_read(struct elements *t, struct rb *r, struct csr *C, struct err *e);
void elements_free(struct elements *t);
/* After the matrix was assembled: what was added, in `info`. */
void elements_describe(const struct elements *t, struct load_info *info);

/* ---- rb_sides.c: the right sides of Harwell-Boeing files ---- */

struct vectors {
    struct dense_array b, guess, x;
};
/* Read the right sides, guesses and solutions. `elements` is NULL if the matrix is assembled. */
bool rb_read_sides(struct rb *r, const struct elements *elements, struct vectors *v, struct err *e);
/* Store what fits A in *t, which is empty. */
bool vectors_finish(const struct vectors *v, struct sides *t, const struct csr *A, struct load_info *info,
                    struct err *e);
void vectors_free(struct vectors *v);

/* ---- rb_auxiliary.c: Rutherford-Boeing's auxiliary files ---- */

bool auxiliary_recognises(const char *begin, const char *end);
/* Load the vectors of the file as the columns of a matrix. */
bool auxiliary_load(struct rb *r, struct csr *A, struct load_info *info, struct err *e);

/* ---- rb_save.c ---- */

/* Write a Harwell-Boeing file, with right sides, or a Rutherford-Boeing file. `sides` and `info` may be NULL. */
bool rb_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool harwell, bool pattern,
             const char *comment, struct watch *w, struct err *e);

#endif
