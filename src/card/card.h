/* The report card of a matrix: its lines, their results, and what the card_*.c files share. A line of the card is one
   table entry at the end of its topic's file, plus one line in card.def. */
#ifndef CARD_H
#define CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "matrix/facts.h"

struct csr;
struct err;

/* CARD_KEYS: the largest number of JSON keys per line. CARD_SMALL: a matrix with at most this many rows, columns and
   nonzeros is small. CARD_WIDTH: terminal columns available for the text of a line. */
enum { CARD_KEYS = 12, CARD_SMALL = 100000, CARD_WIDTH = 69 };

enum card_type { CARD_INT, CARD_NUM, CARD_BOOL, CARD_TEXT };
struct card_key {
    const char *name; /* in JSON; NULL ends the list */
    enum card_type type;
};
enum card_state {
    CARD_LEFT,     /* the line was cancelled before it ran, or another line was requested */
    CARD_FOUND,    /* the finding and the advice hold the result */
    CARD_UNFIT,    /* the line does not apply, because the matrix is not square */
    CARD_STOPPED,  /* the line was cancelled while it ran */
    CARD_LATE,     /* the line was skipped, or ended, because costly lines had no time left */
    CARD_FAILED,   /* the finding holds the reason: not enough memory, or no library */
    CARD_NO_VALUES /* the line judges values, but the file has none */
};
struct card_line;
struct card_row {
    const struct card_line *line;
    enum card_state state;
    char finding[256]; /* what was found */
    char advice[96];   /* what the finding means for formats and solvers; may be empty */
    struct {
        char text[48];
        unsigned unless; /* bits of enum card_unless: the advice is dropped if one of these facts holds for the card */
    } conditional;       /* further advice; its text may be empty */
    bool quiet;          /* nothing notable for a user: shown only if this line alone is requested */
    double us;           /* time that the line took */
    double needs_us;     /* in state CARD_LATE: estimated time that the line needs; 0: not known */
    bool known[CARD_KEYS];
    union {
        double num;       /* also holds integers, whose absolute value is below 2^53 */
        const char *text; /* a string constant */
    } value[CARD_KEYS];
};

/* Facts that make conditional advice wrong. */
enum card_unless { CARD_IF_SINGULAR = 1, CARD_IF_SIGN_KNOWN = 2, CARD_IF_DEFINITE = 4 };

struct card;
struct card_line {
    const char *name, *about;
    struct card_key keys[CARD_KEYS + 1];
    bool costly;      /* on a large matrix, the costly lines share a limited time; a line that the user requests is not
                         limited */
    bool square;      /* the line runs only for square matrices */
    bool empty;       /* the line also runs for a matrix without rows or columns */
    bool real;        /* the line's advice is for real matrices only, so it is dropped for complex matrices */
    bool finite;      /* the line does not examine a matrix with NaN or inf; it only reports that the matrix has them */
    bool for_solvers; /* the line's facts decide which solvers suit the matrix */
    /* Fills in r with card_set, card_say and card_advise. E_CANCELLED ends the card; any other error ends only this
       line. */
    bool (*run)(struct card *c, struct card_row *r, struct err *e);
};
extern const struct card_line *const card_lines[]; /* terminated by NULL, in the order of card.def */

double card_value_bytes(const struct csr *A); /* bytes of a value in fp64: 8, or 16 if A is complex */

/* Results that several lines use. The functions card_values, card_columns, ... compute each result once. */
struct card_values {
    int64_t zeros;              /* number of stored zeros */
    int64_t bad;                /* number of values that are NaN or inf */
    int64_t empty;              /* number of empty rows */
    int64_t zero_row, zero_col; /* position of the first stored zero; row INT64_MAX: no zero is stored */
    int64_t bad_row, bad_col;   /* position of the first NaN or inf; row INT64_MAX: no value is NaN or inf */
    int64_t empty_row;          /* first empty row; INT64_MAX: no row is empty */
};
struct card_columns {
    int *length; /* entries per column */
    int *first;  /* row of each column's first entry; -1: the column is empty */
    double *sum; /* sum of |a| per column */
};
struct card_symmetry {
    int64_t off;      /* entries (i, j) off the diagonal */
    int64_t mirrored; /* entries off the diagonal for which (j, i) is stored too */
    int64_t equal;    /* entries off the diagonal with a_ij == a_ji, where 0 is what is not stored */
    bool pattern;     /* the pattern is symmetric */
    bool values;      /* A equals its transpose; a real A: up to rounding */
    bool hermitian;   /* A = A' up to rounding; for a real matrix, the same as `values` */
};
struct card_fill {
    double nnz;      /* entries of the Cholesky factor L of A + A' in AMD's order, diagonal included */
    double flops;    /* operations of that factorisation */
    int64_t longest; /* largest number of entries in a column of L */
};
/* The Dulmage-Mendelsohn decomposition: A permuted to block triangular form with a wide, a square and a tall part. */
struct card_dm {
    int64_t rank; /* structural rank */
    int64_t wide_rows, wide_cols, square, tall_rows, tall_cols;
    int64_t blocks;  /* number of irreducible blocks of the square part */
    int64_t largest; /* number of rows of the largest block */
};
enum card_evenness { CARD_ROWS_UNKNOWN, CARD_ROWS_EVEN, CARD_ROWS_UNEVEN, CARD_ROWS_LONG_TAIL };
/* What the lines found for the choice of a format; 0 if the line did not run. */
struct card_shape {
    enum card_evenness rows;
    int block;          /* size of the best dense blocks */
    double block_ratio; /* bytes of bsr with these blocks, divided by the bytes of csr */
    int64_t diagonals;  /* number of diagonals with an entry */
};
enum { CARD_PROBLEMS = 3 };
/* The verdict: what kind of matrix it is, what solves it, what stores it, and what is wrong with it. */
struct card_verdict {
    char kind[160], solve[160], store[160];
    const char *format; /* the format of `store`: by rule of thumb, which a prediction from above replaces */
    char problem[CARD_PROBLEMS][96];
    int problems; /* number of problems that were found; at most CARD_PROBLEMS of them have a text */
};
struct card {
    const struct csr *A;
    const struct load_info *info;
    struct facts *facts; /* what is known of A; the lines add to it */
    bool pattern;        /* the file has no values: those of A are ones */
    struct watch *watch; /* reports progress and checks for Ctrl-C */
    struct card_values values;
    struct card_columns column;
    struct card_symmetry symmetry;
    struct card_fill fill;
    struct card_dm dm;
    bool has_values, has_columns, has_symmetry, has_fill, has_dm;
    bool looked_for_proof, looked_long; /* card_regularity has looked, with `near` */
    struct card_shape shape;
    double left_us;  /* time that is left for costly lines; INFINITY: no limit */
    double until_us; /* worked_us() (base/clock.h) at which the current line must end; INFINITY: no limit */
    bool late;       /* the current line ran out of time */
    double needs_us; /* estimated time of the work that the current line could not afford */
    bool stopped;    /* the user pressed Ctrl-C */
    int n;
    struct card_row *row; /* [n], one item per line of the card; owned */
};

/* Fills in a card of A: if `only` is not NULL, the line with that name; otherwise every line. Unless `all` is set or A
   is small, the costly lines together get card_limit_us; lines that need more are in state CARD_LATE. `facts` is what
   is known of A, to which the lines add, and must outlive the card. Call card_free afterwards, even after an error.
   Errors: E_MEMORY if memory runs out before the first line runs; E_USAGE if no line has the name `only`. */
bool card_make(struct card *c, const struct csr *A, const struct load_info *info, struct facts *facts, bool all,
               const char *only, struct watch *w, struct err *e);
/* Fills in the lines with the trait for_solvers. The costly lines together get limit_us, also if A is small. */
bool card_for_solvers(struct card *c, const struct csr *A, struct facts *facts, double limit_us, struct watch *w,
                      struct err *e);
void card_free(struct card *c);
/* time for the costly lines of a large matrix, in microseconds; tests change it */
extern double card_limit_us;
/* The verdict on a card that card_make filled in with all lines. The verdict needs no further computation. */
void card_judge(const struct card *c, struct card_verdict *out);
/* "symmetric positive definite", "not symmetric", ...: what the card of a square matrix knows about symmetry. */
const char *card_symmetry_text(const struct card *c);
extern const struct registry card_registry;
const struct card_line *card_find(const char *name);
/* The text that a user sees: the finding, followed by ": " and the advice if there is any. */
struct card_text {
    char text[sizeof(((struct card_row *)0)->finding) + 160];
};
struct card_text card_text(const struct card_row *r);
/* For tests. card_row returns the row of a line, or NULL if the card has no such row. card_value stores the value of a
   key, and returns false if the value is not known. */
const struct card_row *card_row(const struct card *c, const char *name);
bool card_value(const struct card *c, const char *line, const char *key, double *value);

/* ---- for card_*.c ---- */

void card_set(struct card_row *r, const char *key, double value);
void card_word(struct card_row *r, const char *key, const char *text);
/* Append to the finding or to the advice, or set the conditional advice. */
void card_say(struct card_row *r, const char *fmt, ...) PRINTF(2, 3);
void card_advise(struct card_row *r, const char *fmt, ...) PRINTF(2, 3);
void card_advise_unless(struct card_row *r, unsigned unless, const char *text);
/* Appends to the advice unless the line would become wider than CARD_WIDTH. */
void card_add_advice(struct card_row *r, const char *text);
/* The microseconds that are left for the current line; INFINITY: no limit. */
double card_time_left(const struct card *c);
/* Is there enough time for work that needs this many microseconds? */
bool card_has_time(const struct card *c, double us);
/* Like card_has_time, but if there is not enough time, the line ends with E_LIMIT and gets the state CARD_LATE. */
bool card_affords(struct card *c, double us, struct err *e);
/* "12,345". The text is returned by value, so that one call to card_say may contain several such texts. */
struct card_digits {
    char text[40];
};
struct card_digits card_count(int64_t n);
/* A number of a matrix without NaN and inf, by the format; inf is "beyond 1.8e308". */
struct card_digits card_size(double number, const char *format);

/* Visits all rows with several threads, in slices between which Ctrl-C is checked. On entry, *sum is the neutral
   element: each thread starts from a copy of it, and the copies are merged into *sum in the order of the threads. */
typedef void card_visit(const struct csr *A, int64_t row, void *part);
typedef void card_merge(void *sum, const void *part);
bool card_scan(struct card *c, const char *what, size_t size, void *sum, card_visit *visit, card_merge *merge,
               struct err *e);
const struct card_values *card_values(struct card *c, struct err *e);
const struct card_columns *card_columns(struct card *c, struct err *e);
const struct card_symmetry *card_symmetry(struct card *c, struct err *e);
const struct card_fill *card_fill(struct card *c, struct err *e);
/* The number of weakly connected components, and the size of the largest component in rows (rows plus columns if A is
   not square); in card_parts.c. */
bool card_weakly_connected(struct card *c, int64_t *n, int64_t *largest, struct err *e);

/* card_cholmod.c: CHOLMOD, loaded at its first use. */
/* a Cholesky factorisation that needs more operations than this is not started; tests lower this limit */
extern double card_flops_most;
extern const char *card_cholmod_name; /* file name of the library; tests set the name of a file that does not exist */
struct card_cholesky {
    bool positive;  /* L exists */
    int64_t failed; /* if not positive: the column of A, counted from 0, whose pivot was not positive */
    double nnz;     /* entries of L */
};
/* The diagonal is reduced, or increased, by more than the rounding errors of the factorisation can change it. */
enum card_margin { CARD_MARGIN_BELOW, CARD_MARGIN_ABOVE };
/* Factors the symmetric (or hermitian) matrix A - t diag(A) = L L', or A + t diag(A), with a positive diagonal. If A is
   symmetric only up to rounding, this is about (A + A') / 2, and t covers the difference. BELOW: if L exists, A is
   positive definite. ABOVE: if L does not exist, A has an eigenvalue below 0. Both are theorems
   (Demmel 1989, Rump 2006). E_UNSUPPORTED if libcholmod is not installed. */
bool card_cholesky(struct card *c, enum card_margin margin, struct card_cholesky *out, struct err *e);

/* Sets c->facts->dominance. */
bool card_dominance(struct card *c, struct err *e);
/* Stores that A was proved singular (or regular), unless that is known already. `proof` is a string constant. */
void card_prove_singular(struct card *c, const char *proof);
void card_prove_regular(struct card *c, const char *proof);
/* Looks for such a proof, for at most a few seconds and the time that is left. `near`: A is singular up to rounding
   errors, so that more proofs are worth their time. */
bool card_regularity(struct card *c, bool near, struct err *e);

#endif
