/* The report card of a matrix: its lines, their results, and what the card_*.c files share. A line is one entry at the
   end of its topic's file, and one line in card.def. */
#ifndef CARD_H
#define CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct err;

/* Columns of a terminal that the text of a line may have. */
enum { CARD_KEYS = 12, CARD_SMALL = 100000, CARD_WIDTH = 69 };

enum card_type { CARD_INT, CARD_NUM, CARD_BOOL, CARD_TEXT };
struct card_key {
    const char *name; /* in JSON; ended by a NULL one */
    enum card_type type;
};
enum card_state {
    CARD_LEFT,    /* costly and not requested, or cancelled before it ran */
    CARD_FOUND,   /* text holds the result */
    CARD_UNFIT,   /* does not apply: the matrix is not square */
    CARD_STOPPED, /* cancelled while it ran */
    CARD_FAILED   /* text holds the reason: no memory, no library */
};
struct card_line;
struct card_row {
    const struct card_line *line;
    enum card_state state;
    char text[256]; /* what was found: what it means for formats and solvers */
    bool quiet;     /* nothing notable: shown only if this line alone is requested */
    double us;
    bool known[CARD_KEYS];
    union {
        double num;       /* integers below 2^53 too */
        const char *text; /* lives as long as the program */
    } value[CARD_KEYS];
};

struct card;
struct card_line {
    const char *name, *about;
    struct card_key keys[CARD_KEYS + 1];
    bool costly; /* runs on a large matrix only if requested */
    bool square; /* only for square matrices */
    bool empty;  /* also for a matrix without rows or columns */
    bool real;   /* its advice, after the last colon, holds only for real matrices: omitted for complex ones */
    bool finite; /* reports nothing for a matrix with NaN or inf except that it has them */
    /* Fill in r by card_set and card_say. E_CANCELLED ends the card, any other failure this line alone. */
    bool (*run)(struct card *c, struct card_row *r, struct err *e);
};
extern const struct card_line *const card_lines[]; /* ended by NULL, in the order of card.def */

/* What one line finds and others use, each made once by the functions below. */
struct card_values {
    int64_t zeros, bad, empty;                               /* stored zeros, NaN and inf, empty rows */
    int64_t zero_row, zero_col, bad_row, bad_col, empty_row; /* of the first; rows INT64_MAX: none */
};
struct card_columns {
    int *length, *first; /* of each column: entries, and the row of the first one (-1: it is empty) */
    double *sum;         /* of the absolute values */
};
struct card_symmetry {
    int64_t off, mirrored; /* entries off the diagonal, and those that have a mirror image */
    int64_t equal;         /* of them, those equal to it bit by bit */
    int64_t conjugate;     /* those that are its conjugate, diagonal entries that are real among them */
    double skew;           /* ||A - A'||_F / ||A||_F, without conjugation; NaN where A has NaN or inf */
    bool pattern, values;  /* A = A'; hermitian: A = conj(A') (of a real matrix the same) */
    bool hermitian;
};
enum card_sign { CARD_UNKNOWN, CARD_POSITIVE, CARD_INDEFINITE };
struct card_fill {
    double nnz, flops; /* of the L of A + A' in AMD's order, diagonal included; of the Cholesky factorisation */
    int64_t longest;   /* column of L */
};
struct card_dm { /* Dulmage-Mendelsohn: A permuted is block triangular, its parts wide, square and tall */
    int64_t rank, wide_rows, wide_cols, square, tall_rows, tall_cols;
    int64_t blocks, largest; /* of the square part: irreducible blocks on its diagonal */
};
struct card {
    const struct csr *A;
    const struct load_info *info;
    struct watch *watch;
    struct card_values values;
    struct card_columns column;
    struct card_symmetry symmetry;
    struct card_fill fill;
    struct card_dm dm;
    bool has_values, has_columns, has_symmetry, has_fill, has_dm;
    enum card_sign sign; /* what `definite` proved */
    bool positive_discs; /* all Gershgorin discs lie right of 0 */
    bool stopped;        /* by Ctrl-C */
    int n;
    struct card_row *row;
};

/* Fill in a card of A: every line if `all` or A is small, only the one called `only` if that is not NULL. Release with
   card_free, whatever comes back. false: E_MEMORY before anything was found; E_USAGE: there is no line `only`. */
bool card_make(struct card *c, const struct csr *A, const struct load_info *info, bool all, const char *only,
               struct watch *w, struct err *e);
void card_free(struct card *c);
extern const struct registry card_registry;
const struct card_line *card_find(const char *name);
/* The row of a line, or NULL; and whether the value of a key is known, in *value. For tests. */
const struct card_row *card_row(const struct card *c, const char *name);
bool card_value(const struct card *c, const char *line, const char *key, double *value);

/* ---- for card_*.c ---- */

void card_set(struct card_row *r, const char *key, double value);
void card_word(struct card_row *r, const char *key, const char *text);
void card_say(struct card_row *r, const char *fmt, ...) PRINTF(2, 3); /* appends */
void card_add(struct card_row *r, const char *text);                  /* the same, if the line has room for it */
double card_size(const struct csr *A, int64_t k);                     /* |a| of an entry */
/* "12,345"; a few may stand in one call. */
struct card_digits {
    char text[40];
};
struct card_digits card_count(int64_t n);

/* Visit all rows, in slices that may be cancelled, by many threads: each begins with a copy of *sum, which is neutral,
   and its part is merged into *sum in the threads' order. */
typedef void card_visit(const struct csr *A, int64_t row, void *part);
typedef void card_merge(void *sum, const void *part);
bool card_scan(struct card *c, const char *what, size_t size, void *sum, card_visit *visit, card_merge *merge,
               struct err *e);
const struct card_values *card_values(struct card *c, struct err *e);
const struct card_columns *card_columns(struct card *c, struct err *e);
const struct card_symmetry *card_symmetry(struct card *c, struct err *e);
const struct card_fill *card_fill(struct card *c, struct err *e);
/* The weakly connected components, and the rows (plus columns if not square) of the largest; card_parts.c. */
bool card_weakly_connected(struct card *c, int64_t *n, int64_t *largest, struct err *e);

/* card_cholmod.c: CHOLMOD, opened at its first use. */
extern double card_flops_most;        /* operations beyond which no Cholesky factorisation is begun; tests lower it */
extern const char *card_cholmod_name; /* of the library; tests name one that does not exist */
struct card_cholesky {
    bool positive;  /* L exists */
    int64_t failed; /* else the column of A, counted from 0, whose pivot was not positive */
    double nnz;     /* of L */
};
/* Factor the symmetric (hermitian) A = L L'. E_UNSUPPORTED: there is no libcholmod. */
bool card_cholesky(struct card *c, struct card_cholesky *out, struct err *e);

#endif
