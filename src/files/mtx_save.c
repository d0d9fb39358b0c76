/* Write a Matrix Market file of format coordinate and symmetry general, on demand with AMGX's sections
   (mtx_sections.c). The values are the shortest decimal numbers that read back exactly. The entries are divided into
   shares. All threads compose the text of shares and, if the name ends in .gz, compress it. The shares are written in
   order. The file is written completely or not at all. */
#include "base/err.h"
#include "base/gzip.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/number.h"
#include "base/text.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "matrix_market.h"
#include "sides.h"

#include <lpsolve/mmio.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARE = 1 << 14,                            /* number of entries in a piece of text */
    LINE_ROOM = 2 * 12 + 2 * (NUMBER_ROOM + 1), /* length of the longest line */
    TEXT_ROOM = SHARE * LINE_ROOM,
    NEAR = 64, /* number of rows that row_of tries one by one before it searches */
    AHEAD = 16,
    WAIT_US = 200
};

/* A piece of text that one thread composes, and its compressor. */
struct piece {
    char *text;
    int64_t n;
    struct gzip *gzip; /* NULL: not compressed */
    bool ready;        /* complete, but not written yet */
};

/* The file. Pieces may be composed in any order, but no thread composes a piece that is `depth` or more
   pieces ahead of the next piece to be written. The
   other threads can therefore continue for a while if the system interrupts a thread. */
struct writer {
    struct newfile file;
    const struct csr *A;
    const struct sides *sides; /* NULL: none */
    struct watch *watch;
    bool packs;    /* gzip */
    bool pattern;  /* the entries are written without their values */
    int64_t first; /* the index of the first row and column: 1, or 0 in hypre's files */
    struct gzip_sum sum;
    struct err why;     /* the first failure in any thread */
    bool stop;          /* read and written atomically */
    struct piece *slot; /* [depth]: piece i of the file is composed in slot i % depth */
    int64_t depth;
    int64_t taken; /* number of pieces that threads have begun; read and written atomically */
    int64_t next;  /* the next piece to be written; read and written atomically */
    bool writing;  /* true while a thread writes pieces */
};

static bool piece_new(struct piece *p, bool packs, struct err *e)
{
    *p = (struct piece){.text = mem_new(TEXT_ROOM, 1, "text to write", e)};
    return p->text && (!packs || (p->gzip = gzip_new(TEXT_ROOM, e)));
}

static void piece_free(struct piece *p)
{
    mem_free(p->text);
    gzip_free(p->gzip);
}

static void stop(struct writer *w, const struct err *why)
{
#pragma omp critical(mtx_save)
    fail_at(&w->why, why->code, why->where, "%s", why->text);
#pragma omp atomic write
    w->stop = true;
}

/* Returns false once a thread has failed or the user has cancelled. Only thread 0, which called mtx_save, checks
   whether the user cancelled. */
static bool goes_on(struct writer *w, int64_t done)
{
    struct err why = {0};
    bool stopped;
#pragma omp atomic read
    stopped = w->stop;
    if (stopped) return false;
    if (omp_get_thread_num() || watch_tick(w->watch, "writing", done, w->A->nnz, &why)) return true;
    stop(w, &why);
    return false;
}

/* Compress the text of p. In the file, `done` entries precede this text. */
static bool piece_pack(struct writer *w, struct piece *p, int64_t done)
{
    if (!p->gzip) return true;
    gzip_begin(p->gzip, p->text, p->n);
    while (gzip_goes_on(p->gzip))
        if (!goes_on(w, done)) return false;
    return true;
}

/* Write p as the next piece of the file. */
static bool piece_write(struct writer *w, struct piece *p, struct err *e)
{
    int64_t n = p->n;
    const void *data = p->gzip ? gzip_packed(p->gzip, &n) : p->text;
    if (p->gzip) gzip_add(&w->sum, p->gzip);
    p->n = 0;
    return newfile_write(&w->file, data, n, e);
}

static bool ends_in_gz(const char *path)
{
    size_t n = strlen(path);
    return n >= 3 && !strcmp(path + n - 3, ".gz");
}

/* ---- lines of text ---- */

static void put_text(struct piece *p, const char *s, size_t n)
{
    memcpy(p->text + p->n, s, n);
    p->n += (int64_t)n;
}

static void put_integer(struct piece *p, int64_t v)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    put_text(p, digits + at, sizeof digits - at);
}

static void put_value(struct piece *p, double v)
{
    p->text[p->n++] = ' ';
    p->n += (int64_t)number_print(v, p->text + p->n);
}

static int write_pattern_banner(FILE *f, const struct csr *A)
{
    MM_typecode code = {'M', 'C', 'P', 'G'}; /* matrix, coordinate, pattern, general */
    return mm_write_banner(f, code);
}

static int write_banner(FILE *f, const struct csr *A)
{
    MM_typecode code = {'M', 'C', A->imag ? 'C' : 'R', 'G'}; /* matrix, coordinate, field, general */
    return mm_write_banner(f, code);
}

static int write_size(FILE *f, const struct csr *A)
{
    if (csr_is_large(A)) /* mmio writes sizes of 32 bits */
        return fprintf(f, "%lld %lld %lld\n", (long long)A->rows, (long long)A->cols, (long long)A->nnz) < 0;
    return mm_write_mtx_crd_size(f, (int)A->rows, (int)A->cols, (int)A->nnz);
}

/* Add a line of text that mmio composes. */
static bool put_line(struct piece *p, int (*write)(FILE *f, const struct csr *A), const struct csr *A)
{
    char line[MM_MAX_LINE_LENGTH] = "";
    FILE *f = fmemopen(line, sizeof line, "w");
    bool ok = f && !write(f, A);
    if (f) ok &= !fclose(f);
    put_text(p, line, strlen(line));
    return ok;
}

/* Add each line of the comment, made safe to print. Lines are cut after 240 bytes. When half of the room for text is
   full, the remaining lines are left out. */
static void put_comment(struct piece *p, const char *comment)
{
    char safe[1024];
    for (const char *c = comment; c && *c && p->n < TEXT_ROOM / 2;) {
        size_t n = strcspn(c, "\r\n");
        print_safe(c, n, 240, safe, sizeof safe);
        put_text(p, "% ", 2);
        put_text(p, safe, strlen(safe));
        put_text(p, "\n", 1);
        c += n + (c[n] == '\r' && c[n + 1] == '\n') + (c[n] != 0);
    }
}

static void put_entry(struct piece *p, const struct writer *w, int64_t row, int64_t k)
{
    const struct csr *A = w->A;
    put_integer(p, row + w->first);
    put_text(p, " ", 1);
    put_integer(p, A->col[k] + w->first);
    if (!w->pattern) put_value(p, A->val[k]);
    if (A->imag) put_value(p, A->imag[k]);
    put_text(p, "\n", 1);
}

/* The row of entry k, which is `row` or a later row. There may be many empty rows between `row` and the row of
   entry k. */
static int64_t row_of(const struct csr *A, int64_t row, int64_t k)
{
    for (int i = 0; i < NEAR; i++, row++)
        if (k < csr_start(A, row + 1)) return row;
    return csr_row_of(A, k);
}

/* ---- the file ---- */

/* If a thread failed, fail with its error. */
static bool fine(const struct writer *w, struct err *e)
{
    return !w->why.code || fail_at(e, w->why.code, w->why.where, "%s", w->why.text);
}

/* hypre's first line: the first and the last row and column of the part, which is the whole matrix. */
static bool put_ranges(struct piece *p, const struct csr *A)
{
    p->n += snprintf(p->text + p->n, LINE_ROOM, "0 %lld 0 %lld\n", (long long)A->rows - 1, (long long)A->cols - 1);
    return true;
}

static bool put_head(struct piece *p, const struct writer *w, const char *comment)
{
    static const char amgx[] = "%%AMGX rhs", solution[] = " solution";
    const struct csr *A = w->A;
    const struct sides *sides = w->sides;
    if (!w->first) return put_ranges(p, A);
    if (!put_line(p, w->pattern ? write_pattern_banner : write_banner, A)) return false;
    if (sides) put_text(p, amgx, strlen(amgx));
    if (sides && sides->x) put_text(p, solution, strlen(solution));
    if (sides) put_text(p, "\n", 1);
    put_comment(p, comment);
    return put_line(p, write_size, A);
}

static bool write_head(struct writer *w, const char *comment, struct err *e)
{
    char head[GZIP_ENDS];
    struct piece p;
    gzip_head(head);
    bool ok = piece_new(&p, w->packs, e) && (!w->packs || newfile_write(&w->file, head, sizeof head, e));
    if (ok && !put_head(&p, w, comment))
        ok = fail_at(e, E_MEMORY, w->file.where, "out of memory for the banner and the size line");
    ok = ok && (piece_pack(w, &p, 0) || fine(w, e)) && piece_write(w, &p, e);
    piece_free(&p);
    return ok;
}

/* Write n numbers, or pairs of them, one a line. */
static bool write_numbers(struct writer *w, struct piece *p, const double *x, int64_t n, bool pairs, struct err *e)
{
    for (int64_t from = 0; from < n; from += SHARE) {
        for (int64_t i = from; i < n && i < from + SHARE; i++) {
            p->n += (int64_t)number_print(x[i], p->text + p->n);
            put_text(p, pairs && i % 2 == 0 ? " " : "\n", 1);
        }
        if (!goes_on(w, w->A->nnz) || !piece_pack(w, p, w->A->nnz)) return fine(w, e);
        if (!piece_write(w, p, e)) return false;
    }
    return true;
}

/* AMGX's sections. */
static bool write_sides(struct writer *w, struct err *e)
{
    struct piece p;
    const struct sides *t = w->sides;
    if (!t) return true;
    bool ok = piece_new(&p, w->packs, e) && write_numbers(w, &p, t->b, t->b_each, w->A->imag, e) &&
              (!t->x || write_numbers(w, &p, t->x, t->x_each, w->A->imag, e));
    piece_free(&p);
    return ok;
}

static bool write_tail(struct writer *w, struct err *e)
{
    char tail[GZIP_ENDS];
    gzip_tail(&w->sum, tail);
    return !w->packs || newfile_write(&w->file, tail, sizeof tail, e);
}

/* Compose the text of a share of the entries, and compress it if the file is to be compressed. */
static bool compose(struct writer *w, struct piece *p, int64_t share)
{
    const struct csr *A = w->A;
    int64_t k = share * SHARE, end = k + SHARE < A->nnz ? k + SHARE : A->nnz;
    int64_t row = csr_row_of(A, k);
    if (!goes_on(w, k)) return false;
    for (; k < end; k++) put_entry(p, w, row = row_of(A, row, k), k);
    return piece_pack(w, p, end);
}

/* Mark p as ready. If the next piece to be written is ready and no other thread is writing, write it and all ready
   pieces after it. */
static void hand_in(struct writer *w, struct piece *p)
{
    bool mine;
#pragma omp critical(mtx_save_turn)
    {
        p->ready = true;
        mine = !w->writing && w->slot[w->next % w->depth].ready;
        w->writing |= mine;
    }
    while (mine) {
        struct err why = {0};
        struct piece *first = &w->slot[w->next % w->depth];
        if (!piece_write(w, first, &why)) stop(w, &why);
#pragma omp critical(mtx_save_turn)
        {
            first->ready = false;
#pragma omp atomic update release
            w->next++;
            mine = !why.code && w->slot[w->next % w->depth].ready;
            w->writing = mine;
        }
    }
}

/* Wait until the slot of piece i is free. */
static bool wait_for_slot(struct writer *w, int64_t i)
{
    int64_t next;
    for (;;) {
#pragma omp atomic read acquire
        next = w->next;
        if (i < next + w->depth) return true;
        if (!goes_on(w, i * SHARE)) return false;
        usleep(WAIT_US);
    }
}

static void work(struct writer *w, int64_t pieces)
{
    for (;;) {
        int64_t i;
        struct err why = {0};
#pragma omp atomic capture
        i = w->taken++;
        if (i >= pieces || !wait_for_slot(w, i)) return;
        struct piece *p = &w->slot[i % w->depth];
        if (!p->text && !piece_new(p, w->packs, &why)) stop(w, &why);
        if (!goes_on(w, i * SHARE) || !compose(w, p, i)) return;
        hand_in(w, p);
    }
}

static bool write_entries(struct writer *w, struct err *e)
{
    int64_t pieces = (w->A->nnz + SHARE - 1) / SHARE;
    /* if there are few pieces, the other threads may begin all of them before thread 0 checks */
    if (!watch_tick(w->watch, "writing", 0, w->A->nnz, e)) return false;
    w->depth = omp_get_max_threads() + AHEAD;
    if (!(w->slot = mem_zero(w->depth, sizeof *w->slot, "text to write", e))) return false;
#pragma omp parallel if (pieces > 1)
    work(w, pieces);
    for (int64_t i = 0; i < w->depth; i++) piece_free(&w->slot[i]);
    mem_free(w->slot);
    return fine(w, e);
}

static bool write_file(struct writer *w, const char *path, bool force, const char *comment, struct err *e)
{
    bool ok = newfile_open(&w->file, path, force, e);
    w->packs = ok && ends_in_gz(w->file.target.path);
    ok = ok && write_head(w, comment, e) && write_entries(w, e) && write_sides(w, e) && write_tail(w, e);
    return newfile_close(&w->file, ok, e);
}

bool mtx_save_system(const char *path, bool force, const struct csr *A, const struct sides *sides, const char *comment,
                     struct watch *w, struct err *e)
{
    struct writer out = {.A = A, .first = 1, .sides = sides && sides->n ? sides : NULL, .watch = w};
    if (out.sides && sides->n > 1)
        return fail(e, E_UNSUPPORTED,
                    "AMGX's Matrix Market files hold one right side, but the matrix has %lld; save it as .npz or .wsb",
                    (long long)sides->n);
    return write_file(&out, path, force, comment, e);
}

bool mtx_save_pattern(const char *path, bool force, const struct csr *A, const char *comment, struct watch *w,
                      struct err *e)
{
    struct writer out = {.A = A, .first = 1, .pattern = true, .watch = w};
    return write_file(&out, path, force, comment, e);
}

bool mtx_save(const char *path, bool force, const struct csr *A, const char *comment, struct watch *w, struct err *e)
{
    return mtx_save_system(path, force, A, NULL, comment, w, e);
}

bool ij_save(const char *path, bool force, const struct csr *A, struct watch *w, struct err *e)
{
    struct writer out = {.A = A, .watch = w};
    return write_file(&out, path, force, NULL, e);
}
