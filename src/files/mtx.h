/* What the files of the Matrix Market reader share. */
#ifndef MTX_H
#define MTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct csr;
struct err;
struct load_info;
struct stream;
struct watch;

/* ---- what is warned of: counted, and said once per kind ---- */

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
    NOTE_FRACTION,
    NOTE_UPPER,
    NOTE_DIAGONAL,
    NOTE_DUPLICATE,
    NOTE_EOF_BYTE,
    NOTE_GARBAGE,
    NOTES
};
struct notes {
    int64_t n[NOTES], line[NOTES]; /* how often; where first, 0 = nowhere in particular */
};
void note(struct notes *t, enum note kind, int64_t line);
void notes_say(const struct notes *t, struct load_info *info);

/* ---- mtx.c ---- */

/* The matrix in a stream of which the first n bytes were read already: `begin`. A and *info are empty. */
bool mtx_load_stream(struct stream *stream, const char *begin, int64_t n, const char *path, struct watch *w,
                     struct csr *A, struct load_info *info, struct err *e);

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
    return is_blank(c) || is_eol(c) || c == '%';
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
const char *line_end(const char *p, const char *end);      /* the first CR or LF, or end */
const char *next_line(const char *eol, const char *end);   /* past CR, LF or CRLF; not beyond end */
bool same_word(const char *a, size_t n, const char *word); /* ASCII letters in any case; word in lower case */

/* Why [s, s+n) is no integer, NULL if it is one. Any sign, leading zeros. */
const char *read_integer(const char *s, size_t n, int64_t *value);
/* "PATH:LINE", safe to print. */
enum { PLACE = 256, QUOTE = 60 * 4 + 8 };
const char *place_of(const char *path, int64_t line, char *out);
/* Foreign text between quotes, at most 60 bytes of it. */
const char *quoted(const char *s, const char *end, char *out);

/* ---- mtx_lines.c: the text in blocks of whole lines ---- */

struct text {
    char *s; /* n bytes, then a line end that is not part of it */
    int64_t n, room;
};
struct lines {
    struct stream *stream;
    int64_t block; /* bytes that a block aims at */
    char *kept;    /* read but not given out yet: [at, n) */
    int64_t at, n, room;
    int64_t streamed;     /* bytes that came from the stream */
    bool ended, eof_byte; /* the stream is drained; it ended in a DOS end-of-file byte */
};
/* The next whole lines (the last may lack its end); t->n is 0 at the end of the text. A comment line without end in
   sight loses what is beyond its first kilobytes, so memory does not follow its length. */
bool lines_next(struct lines *l, struct text *t, struct err *e);
bool lines_back(struct lines *l, const char *s, int64_t n, struct err *e); /* to be given out again, first */
int64_t lines_left(const struct lines *l); /* bytes still to come of a plain file; INT64_MAX if unknown */
void lines_free(struct lines *l);
void text_free(struct text *t);

enum { MTX_BLOCK = 1 << 18 }; /* bytes of text; fits a cache, with what is parsed from it */

/* ---- mtx_head.c: banner and size line ---- */

enum field { REAL, INTEGER, PATTERN, COMPLEX };
enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN };
struct head {
    bool array, vector;
    enum field field;
    enum symmetry symmetry;
    int indices, values; /* numbers of each kind on a line */
    int64_t rows, cols, entries;
    int64_t lines; /* read so far; when done, the number of the size line */
    char object[16], field_word[16], symmetry_word[16];
};
bool head_read(struct lines *l, const char *path, struct watch *w, struct head *h, struct notes *t, struct err *e);
/* What the file is when its first bytes are known ones but not Matrix Market's; else NULL. */
const char *foreign_kind(const char *s, int64_t n);
/* Array files: the number of values before column c; the row of its first value. */
int64_t column_start(const struct head *h, int64_t c);
int64_t column_top(const struct head *h, int64_t c);

/* ---- mtx_parse.c and mtx_body.c: the entries, parsed in parallel ---- */

/* Lines that are no entries, so that an entry's line can be told: `lines` of them stand before entry `at`. */
struct gap {
    int64_t at, lines;
};
/* Entries in the file's order, or those of a block by bands of rows. */
struct entries {
    int64_t room;       /* of each array below */
    int *row, *col;     /* 0-based; NULL in array files until their places are known */
    double *val, *imag; /* NULL where all are 1; NULL unless complex */
};
bool entries_new(struct entries *t, const struct head *h, int64_t room, struct err *e);
void entries_free(struct entries *t);
struct block {
    struct block *next;
    int64_t seq, lines, n; /* position; lines and entries in it */
    int64_t line0, entry0; /* lines and entries of the file before it */
    int64_t upper, lower;  /* entries above and below the diagonal, in files with a symmetry */
    struct gap *gap;
    int64_t ngaps;
    int *band; /* [BANDS + 1] where the entries of each band of rows begin; NULL: they are in the file's order */
    struct notes notes; /* lines counted in the block */
};
/* Parse the text of a block into `to`, which has room for all it can hold; k counts lines, entries and remarks. */
bool lines_parse(struct block *k, const struct head *h, const struct text *t, struct entries *to, struct err *e);
/* So many bands at most, of as many rows each as a power of two: what belongs to a band fits a cache. */
enum { BANDS = 128 };
int band_shift(const struct head *h); /* row >> shift is its band */
struct fault {
    struct block *block; /* NULL: of no line */
    int64_t line;        /* in the block */
    struct err why;
};
struct body {
    const struct head *head;
    const char *path;
    struct lines *lines;
    struct watch *watch;
    int threads;
    struct block *first, *last;
    struct entries all; /* of the file, as many as its size line says */
    struct fault fault; /* the earliest in the file */
    int64_t turn;       /* the block that delivers its entries next */
    int64_t delivered;  /* entries before it */
    int delivering;     /* threads that still copy theirs */
    bool stop;
};
/* Parse all; a fault stays in b->fault. */
void body_parse(struct body *b);
void block_free(struct block *k);
void body_free(struct body *b);

/* ---- mtx_judge.c: counts and symmetry checked ---- */

/* Number the blocks, count entries against the size line, and report the earliest fault of the file. */
bool body_judge(struct body *b, struct notes *t, struct err *e);

/* ---- mtx_build.c: from entries to rows ---- */

/* Expand and compress; takes the entries. Holds at most twice the memory of A. *duplicates counts entries of the
   file. */
bool body_build(struct body *b, struct csr *A, int64_t *duplicates, struct err *e);

#endif
