/* Declarations that the files of the Matrix Market reader share. */
#ifndef MTX_H
#define MTX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sides.h"

struct csr;
struct err;
struct head;
struct lines;
struct load_info;
struct notes;
struct stream;
struct watch;

/* ---- mtx_note.c: warnings, counted and shown once per kind ---- */

enum note {
    NOTE_BOM,
    NOTE_LEADING,
    NOTE_CASE,
    NOTE_PERCENT,
    NOTE_EXTRA,
    NOTE_VECTOR,
    NOTE_HERMITIAN,
    NOTE_CROWDED,
    NOTE_COMMENT,
    NOTE_FORTRAN,
    NOTE_SPECIAL,
    NOTE_OVERFLOW,
    NOTE_UNDERFLOW,
    NOTE_ROUNDED,
    NOTE_FRACTION,
    NOTE_AS_REAL,
    NOTE_NEGATIVE,
    NOTE_UPPER,
    NOTE_DIAGONAL,
    NOTE_DUPLICATE,
    NOTE_EOF_BYTE,
    NOTE_GARBAGE,
    NOTES
};
struct notes {
    int64_t n[NOTES];    /* number of notes of each kind */
    int64_t line[NOTES]; /* line of the first note of each kind, or 0 if it has no line */
};
void note(struct notes *t, enum note kind, int64_t line);
void notes_show(const struct notes *t, struct load_info *info);

/* ---- mtx.c ---- */

/* Load the matrix and the right sides from a stream. The first n bytes of the stream have already been read and are in
   `begin`. A, *sides and *info must be empty. The caller sets info->file and info->ms. */
bool mtx_load_stream(struct stream *stream, const char *begin, int64_t n, const char *path, struct watch *w,
                     struct csr *A, struct sides *sides, struct load_info *info, struct err *e);

/* Load the entries that follow a head, and the right sides; *h describes the text. `path` is for errors. Adds the notes
   to *t, and describes the matrix in *info. */
bool mtx_load_entries(struct lines *l, struct head *h, const char *path, struct watch *w, struct csr *A,
                      struct sides *sides, struct notes *t, struct load_info *info, struct err *e);
/* The target size of a block of text in bytes. */
int64_t mtx_block(void);

/* ---- mtx_token.c: bytes, words and integers ---- */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool is_eol(char c)
{
    return c == '\n' || c == '\r';
}
static inline bool ends_token(char c)
{
    return is_blank(c) || is_eol(c);
}
/* Does the line end here, or does a comment begin here? A comment begins at the start of a line or after a blank. */
static inline bool ends_numbers(char c)
{
    return is_eol(c) || c == '%';
}
static inline const char *skip_blanks(const char *p)
{
    while (is_blank(*p)) p++;
    return p;
}
static inline const char *skip_token(const char *p)
{
    while (!ends_token(*p)) p++;
    return p;
}
const char *line_end(const char *p, const char *end); /* the position of the first CR or LF, or end */
/* The position after the CR, LF or CRLF at eol, but not beyond end. */
const char *next_line(const char *eol, const char *end);
/* Is a[0 .. n-1] this word? Ignores the case of ASCII letters; word is in lower case. */
bool same_word(const char *a, size_t n, const char *word);

/* Why a text is not a 64-bit integer. */
enum integer_fault { FAULT_NONE, FAULT_EMPTY, FAULT_CONTROL, FAULT_FRACTION, FAULT_TEXT, FAULT_TOO_LARGE };
extern const char *const integer_fault_text[]; /* ends the sentence "the index is ..." */
/* Read the bytes [s, s + n) as an integer; a sign and leading zeros are allowed. */
enum integer_fault read_integer(const char *s, size_t n, int64_t *value);
enum { PATH_LINE = 256, QUOTE = 60 * 4 + 8 };
/* Write "PATH:LINE", safe to print, to out[PATH_LINE], for the `where` of an error. Returns out. */
const char *path_line(const char *path, int64_t line, char *out);
/* Write at most 60 bytes of text from a file, safe to print, to out[QUOTE]. Returns out. */
const char *quoted(const char *s, const char *end, char *out);
/* Advice for an error message about the word [s, end): a hint about comments if the word contains a percent sign,
   otherwise empty. */
const char *comment_advice(const char *s, const char *end);

/* ---- mtx_lines.c: the text in blocks of whole lines ---- */

struct text {
    char *s; /* n bytes, then a line end that is not counted in n */
    int64_t n, room;
};
struct lines {
    struct stream *stream;
    int64_t block; /* target size of a block in bytes */
    char *kept;    /* bytes [at, n) have been read but not delivered yet */
    int64_t at, n, room;
    int64_t streamed;          /* number of bytes that the stream has delivered so far */
    int64_t streamed_at_entry; /* the value that `streamed` had when the last entry was found; read and written
                                  atomically */
    bool ended;                /* the stream has ended */
    bool eof_byte;             /* the last byte of the stream was a DOS end-of-file byte */
};
/* Get the next block of whole lines; the last line may lack its line end. t->n is 0 at the end of the text. A very long
   comment line is cut short, to save memory. */
bool lines_next(struct lines *l, struct text *t, struct err *e);
/* For tests: the maximum number of bytes of unpacked text without an entry; 0: the default. */
void lines_quiet(int64_t most);
/* Put back n bytes, which will be delivered again next. */
bool lines_back(struct lines *l, const char *s, int64_t n, struct err *e);
int64_t lines_left(const struct lines *l); /* bytes that remain to be delivered; INT64_MAX if unknown */
void lines_free(struct lines *l);
void text_free(struct text *t);

enum { MTX_BLOCK = 1 << 18 }; /* bytes of text in a block; a block and its entries fit in a cache */

/* ---- mtx_head.c: banner and size line ---- */

enum field { REAL, INTEGER, PATTERN, COMPLEX };
enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN };
/* The words of AMGX's comment line %%AMGX (formerly %%NVAMG), which comes before the size line. Source: readers.cu of
   AMGX. */
struct amgx {
    bool diagonal, rhs, solution; /* numbers that follow the entries, in this order */
    bool base0;                   /* indices start at 0 */
    int64_t block;                /* the diagonal consists of blocks of this size */
    int64_t numbers;              /* of all three sections together; a complex number counts as two */
};
/* A list of triplets, which has no banner, and usually no size line (plain.h). */
struct list {
    int first;          /* the first index in the file, 0 or 1; -1: 0 if it occurs in the file, otherwise 1 */
    int64_t rows, cols; /* -1: as the largest indices demand */
    int64_t entries;    /* -1: all lines up to the end of the file */
    int stype;          /* 1 or -1: only the upper or lower triangle counts, and is mirrored; 0: all entries count */
    bool square;        /* if the rows and columns are not known, there are as many rows as columns */
    bool stops;         /* the text after the last entry does not count */
};
/* The type on GraphBLAS's comment line. */
struct graphblas {
    char kind; /* b boolean, i integer, u unsigned, f float or complex; 0: there is no such line */
    int bits;  /* of a number, or of one part of a complex number */
};
struct head {
    bool array, vector;
    bool is_unsigned;        /* the banner says that no integer is negative */
    const struct list *list; /* NULL: the file has a banner */
    struct amgx amgx;
    struct graphblas graphblas;
    enum field field;
    enum symmetry symmetry;
    int indices, values; /* number of indices per line; number of values per line */
    int64_t rows, cols, entries;
    int64_t lines; /* number of lines read so far; in the end, the line number of the size line */
    char object[16], field_word[16], symmetry_word[16];
};
bool head_read(struct lines *l, const char *path, struct watch *w, struct head *h, struct notes *t, struct err *e);
static inline int64_t first_index(const struct head *h) /* of rows and columns in the file */
{
    return h->list ? h->list->first > 0 : !h->amgx.base0;
}
/* mtx_graphblas.c: read a comment line; returns false if it is not GraphBLAS's. Then give the values of A the precision
   of that type, and note those that it cannot store. */
bool graphblas_line(struct head *h, const char *s);
void graphblas_apply(const struct head *h, struct csr *A, struct load_info *info);
/* For array files. column_start: the number of values before column c. column_top: the row of the first value in column
   c. */
int64_t column_start(const struct head *h, int64_t c);
int64_t column_top(const struct head *h, int64_t c);

/* Does no index precede a smaller one? */
static inline bool ascends(const int *index, int64_t n)
{
    int64_t i = 1;
    while (i < n && index[i - 1] <= index[i]) i++;
    return i >= n;
}

/* ---- foreign.c ---- */

/* What the file is, and the cure, if its first bytes show that it is not Matrix Market; otherwise NULL. */
const char *foreign_kind(const char *s, int64_t n);
/* Does the text contain control characters, as text does not? */
bool is_binary(const char *s, const char *end);
/* The position after the byte order mark of UTF-8, if the text begins with one. */
const char *skip_mark(const char *s, const char *end);

/* ---- mtx_parse.c and mtx_body.c: the entries, parsed in parallel ---- */

/* `lines` lines without an entry precede entry `at`. These gaps are needed to compute the line number of an entry. */
struct gap {
    int64_t at, lines;
};
/* Entries in the order of the file, or sorted by bands of rows within each block. */
struct entries {
    int64_t room;   /* items of each array below */
    int *row, *col; /* 0-based; for array files, NULL until mtx_build.c sets them */
    double *val;    /* NULL if all values are 1 */
    double *imag;   /* NULL if the file is not complex */
};
bool entries_new(struct entries *t, const struct head *h, int64_t room, struct err *e);
void entries_free(struct entries *t);
struct block {
    struct block *next;
    int64_t seq;          /* number of the block */
    int64_t lines;        /* number of lines in the block */
    int64_t n;            /* number of entries in the block */
    int64_t streamed;     /* number of bytes that the stream had delivered by the end of the block */
    int64_t line0;        /* number of lines of the file before the block */
    int64_t entry0;       /* number of entries before the block */
    int64_t upper, lower; /* number of entries above the diagonal; number below it. Only for files with a symmetry */
    struct gap *gap;
    int64_t ngaps;
    int *band;          /* [BANDS + 1]: first entry of each band of rows; NULL: entries are in the order of the file */
    struct notes notes; /* notes on the block; line numbers are counted within the block */
};
/* Parse the text of a block into `to`, which has room for all its entries. The numbers of lines and entries, and the
   notes, are stored in k. */
bool lines_parse(struct block *k, const struct head *h, const struct text *t, struct entries *to, struct err *e);
/* There are at most BANDS bands. The number of rows in a band is a power of two, chosen so that the entries of a band
   fit in a cache. */
enum { BANDS = 128 };
int band_shift(const struct head *h); /* row r is in band r >> shift */
struct fault {
    struct block *block; /* NULL: the fault is not in a particular line */
    int64_t line;        /* number of the line, counted within the block */
    struct err why;
};
struct body {
    const struct head *head;
    const char *path;
    struct lines *lines;
    struct watch *watch;
    int threads;
    struct block *first, *last;
    int64_t lines_left; /* if sections follow the entries: lines of entries that were not delivered yet */
    struct entries all; /* all entries of the file, up to the number that the size line declares */
    struct fault fault; /* the earliest fault in the file */
    int64_t turn;       /* number of the block whose entries are delivered next */
    int64_t delivered;  /* entries delivered so far */
    int delivering;     /* number of threads that are still copying entries */
    bool stop;
    pthread_mutex_t reader; /* the thread that reads has this lock */
};
/* Parse all blocks. A fault is recorded in b->fault. */
void body_parse(struct body *b);
void block_free(struct block *k);
void body_free(struct body *b);

/* ---- mtx_judge.c: check counts and symmetry ---- */

/* Compute where each block begins in the file, compare the number of entries with the size line, and report the
   earliest fault of the file. */
bool body_judge(struct body *b, struct notes *t, struct err *e);
/* The number of the last line that was read. */
int64_t body_lines(const struct body *b);
/* The number of the line of an entry. */
int64_t body_line(const struct body *b, int64_t entry);

/* ---- mtx_list.c: lists of triplets ---- */

/* Prepare a head for reading the entries of h->list, whose number and largest indices may be unknown. `bytes` is the
   length of the text; INT64_MAX: unknown. */
void list_begin(struct head *h, int64_t bytes);
/* After the entries were read: find the first index and the sizes, make the entries 0-based, keep one triangle if stype
   says so, and describe what was found in *info. */
bool list_settle(struct body *b, struct head *h, struct load_info *info, struct err *e);

/* ---- mtx_sections.c: AMGX's sections, which follow the entries ---- */

/* Read the words of the comment line [s, end) if it is AMGX's. */
bool sections_line(struct head *h, const char *s, const char *where, struct err *e);
/* After the size line was read: check the words, and count the numbers. */
bool sections_count(struct head *h, const char *where, struct err *e);
/* Cut the text *t after `left` lines of entries and put back the rest, which belongs to the sections. */
bool sections_cut(struct lines *l, struct text *t, int64_t *left, struct err *e);
struct sections {
    double *diagonal, *rhs, *solution; /* owned; NULL: the file has none */
};
/* Read the sections. `line` is the number of the line that precedes them. */
bool sections_read(struct sections *t, struct lines *l, const struct head *h, const char *path, int64_t line,
                   struct watch *w, struct err *e);
/* Add the diagonal to A, and fill *sides with the right side and the solution. */
bool sections_apply(const struct sections *t, const struct head *h, struct csr *A, struct sides *sides,
                    struct load_info *info, struct err *e);
void sections_free(struct sections *t);

/* ---- mtx_build.c: from entries to rows ---- */

/* Mirror the entries, build the compressed rows of A from them, and free the entries. Needs at most twice the
   memory of *A. duplicates is the number of duplicates in the file. */
bool body_build(struct body *b, struct csr *A, int64_t *duplicates, struct err *e);

#endif
