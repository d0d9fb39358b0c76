/* Write a Rutherford-Boeing or Harwell-Boeing file: columns of numbers as wide as the header says, in lines of at most
   80 characters. The values are the shortest decimal numbers that read back exactly. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/number.h"
#include "base/text.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "rb.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LINE = 80, TITLE = 72, VALUE_WIDTH = 26, VALUE_DIGITS = 16, ROOM = 1 << 16, TICK_EVERY = 1 << 12 };

struct writer {
    struct newfile file;
    struct watch *watch;
    int64_t done, total; /* numbers */
    char *text;          /* [ROOM]: what was not written yet */
    int64_t n;
};

/* The numbers of an array: their width, and how many fill a line. */
struct layout {
    int width, per_line;
    int64_t lines;
};

static struct layout layout_of(int width, int64_t n)
{
    int per_line = LINE / width;
    return (struct layout){width, per_line, (n + per_line - 1) / per_line};
}

static int digits_of(int64_t v)
{
    return snprintf(NULL, 0, "%lld", (long long)v);
}

/* ---- text ---- */

static bool flush(struct writer *w, struct err *e)
{
    int64_t n = w->n;
    w->n = 0;
    return newfile_write(&w->file, w->text, n, e);
}

/* Add number k of an array, at the right end of its field. */
static bool put_field(struct writer *w, const struct layout *a, int64_t k, int64_t n, const char *s, int length,
                      struct err *e)
{
    if (w->done++ % TICK_EVERY == 0 && !watch_tick(w->watch, "writing", w->done - 1, w->total, e)) return false;
    if (w->n + LINE > ROOM && !flush(w, e)) return false;
    memset(w->text + w->n, ' ', (size_t)a->width);
    memcpy(w->text + w->n + a->width - length, s, (size_t)length);
    w->n += a->width;
    if ((k + 1) % a->per_line == 0 || k + 1 == n) w->text[w->n++] = '\n';
    return true;
}

static bool put_indices(struct writer *w, const struct layout *a, const int *v, int64_t n, struct err *e)
{
    char s[24];
    for (int64_t k = 0; k < n; k++)
        if (!put_field(w, a, k, n, s, snprintf(s, sizeof s, "%lld", v[k] + 1ll), e)) return false;
    return true;
}

/* Without a decimal point, a format such as E26.16 would take the last 16 digits as the fraction. */
static int print_value(double v, char *s)
{
    int n = (int)number_print(v, s), mantissa = 0;
    while (mantissa < n && s[mantissa] != 'e') mantissa++;
    if (memchr(s, '.', (size_t)mantissa) || strpbrk(s, "in")) return n;
    memmove(s + mantissa + 1, s + mantissa, (size_t)(n - mantissa));
    s[mantissa] = '.';
    return n + 1;
}

/* Values, or pairs of values if there are imaginary parts. */
static bool put_values(struct writer *w, const double *re, const double *im, int64_t n, struct err *e)
{
    char s[NUMBER_ROOM + 2] = "";
    int parts = im ? 2 : 1;
    struct layout a = layout_of(VALUE_WIDTH, parts * n);
    for (int64_t k = 0; k < parts * n; k++) {
        memset(s, 0, sizeof s);
        int length = print_value(!im ? re[k] : k % 2 ? im[k / 2] : re[k / 2], s);
        if (!put_field(w, &a, k, parts * n, s, length, e)) return false;
    }
    return true;
}

/* ---- the file ---- */

struct output {
    const struct csr *C;       /* the columns of the matrix, as rows */
    const struct sides *sides; /* NULL: none are written */
    const char *comment;
    char type[4];
    bool harwell, pattern;
    struct layout ptr, idx, val, rhs;
};

static void put_head(struct writer *w, const struct output *o)
{
    char safe[TITLE * 8], format[3][24];
    const struct csr *C = o->C;
    const struct sides *t = o->sides;
    int64_t rhs = t ? (1 + (t->guess != NULL) + (t->x != NULL)) * o->rhs.lines : 0,
            total = o->ptr.lines + o->idx.lines + o->val.lines + rhs;
    const char *comment = o->comment ? o->comment : "";
    print_safe(comment, strcspn(comment, "\r\n"), TITLE - 4, safe, sizeof safe);
    snprintf(format[0], sizeof format[0], "(%dI%d)", o->ptr.per_line, o->ptr.width);
    snprintf(format[1], sizeof format[1], "(%dI%d)", o->idx.per_line, o->idx.width);
    snprintf(format[2], sizeof format[2], "(%dE%d.%d)", LINE / VALUE_WIDTH, VALUE_WIDTH, VALUE_DIGITS);
    text_append(w->text, ROOM, "%-72.72s%-8s\n%14lld%14lld%14lld%14lld", safe, "warpspy", (long long)total,
                (long long)o->ptr.lines, (long long)o->idx.lines, (long long)o->val.lines);
    if (o->harwell) text_append(w->text, ROOM, "%14lld", (long long)rhs);
    text_append(w->text, ROOM, "\n%-14s%14lld%14lld%14lld%14d\n", o->type, (long long)C->cols, (long long)C->rows,
                (long long)C->nnz, 0);
    text_append(w->text, ROOM, "%-16s%-16s%-20s%s\n", format[0], format[1], o->pattern ? "" : format[2],
                t ? format[2] : "");
    if (t)
        text_append(w->text, ROOM, "F%c%c%-11s%14lld%14d\n", t->guess ? 'G' : ' ', t->x ? 'X' : ' ', "",
                    (long long)t->n, 0);
    w->n = (int64_t)strlen(w->text);
}

static bool put_sides(struct writer *w, const struct sides *t, struct err *e)
{
    return !t || (put_values(w, t->b, NULL, t->n * t->b_each, e) &&
                  (!t->guess || put_values(w, t->guess, NULL, t->n * t->x_each, e)) &&
                  (!t->x || put_values(w, t->x, NULL, t->n * t->x_each, e)));
}

static bool write_file(struct writer *w, const char *path, bool force, const struct output *o, struct err *e)
{
    const struct csr *C = o->C;
    bool ok = newfile_open(&w->file, path, force, e) && (w->text = mem_zero(ROOM + 1, 1, "text to write", e));
    if (ok) put_head(w, o);
    ok = ok && put_indices(w, &o->ptr, C->rowptr, C->rows + 1, e) && put_indices(w, &o->idx, C->col, C->nnz, e) &&
         (o->pattern || put_values(w, C->val, C->imag, C->nnz, e)) && put_sides(w, o->sides, e) && flush(w, e);
    mem_free(w->text);
    return newfile_close(&w->file, ok, e);
}

/* ---- the type ---- */

/* The letters that an ending such as .rsa asks for; NULL if the ending leaves the type open. */
static const char *type_of_ending(const char *path)
{
    static const char *const types[] = {"RSA", "RUA", "PSA", "PUA"};
    size_t n = strlen(path);
    for (int i = 0; i < COUNT(types); i++)
        if (n > 4 && path[n - 4] == '.' && !strcasecmp(path + n - 3, types[i])) return types[i];
    return NULL;
}

/* The lower triangle of C, by columns. C becomes shorter. */
static bool keep_lower(struct csr *C, struct err *e)
{
    int64_t to = 0, k = 0;
    struct loop l = loop_of("", C->nnz);
    for (int64_t c = 0; c < C->rows && loop_runs(&l); c++) {
        for (int64_t end = C->rowptr[c + 1]; k < end && loop_goes(&l, k); k++) {
            C->col[to] = C->col[k];
            C->val[to] = C->val[k];
            to += C->col[k] >= c;
        }
        C->rowptr[c + 1] = (int)to;
    }
    C->nnz = to;
    return loop_end(&l, e);
}

/* Choose the type, and refuse what it cannot hold. *C is the transpose of A, and becomes what is written. */
static bool choose_type(const char *path, const struct csr *A, struct csr *C, struct output *o, struct err *e)
{
    const char *ending = type_of_ending(path);
    bool triangle = ending && ending[1] == 'S';
    if (ending && (A->imag || (ending[0] == 'P') != o->pattern))
        return fail(e, E_UNSUPPORTED, "the matrix has %s values, but the ending says %s; save it as %s",
                    A->imag      ? "complex"
                    : o->pattern ? "no"
                                 : "real",
                    ending, o->harwell && o->sides ? ".hb" : ".hb or .rb");
    if (triangle && !csr_equal(A, C))
        return fail(e, E_UNSUPPORTED, "the matrix is not symmetric, but the ending says %s; save it as %s", ending,
                    o->pattern ? ".pua" : ".rua");
    snprintf(o->type, sizeof o->type, "%c%cA",
             o->pattern ? 'P'
             : A->imag  ? 'C'
                        : 'R',
             triangle             ? 'S'
             : A->rows == A->cols ? 'U'
                                  : 'R');
    return !triangle || keep_lower(C, e);
}

static bool save_columns(struct writer *w, const char *path, bool force, const struct csr *A, struct csr *C,
                         struct output *o, struct err *e)
{
    int64_t parts = A->imag ? 2 : 1;
    if (!choose_type(path, A, C, o, e)) return false;
    o->C = C;
    o->ptr = layout_of(1 + digits_of(C->nnz + 1), C->rows + 1);
    o->idx = layout_of(1 + digits_of(C->cols), C->nnz);
    o->val = layout_of(VALUE_WIDTH, o->pattern ? 0 : C->nnz * parts);
    if (o->sides) o->rhs = layout_of(VALUE_WIDTH, o->sides->n * o->sides->b_each);
    w->total =
        C->rows + 1 + C->nnz * (1 + parts) + (o->sides ? o->sides->n * (o->sides->b_each + 2 * o->sides->x_each) : 0);
    return write_file(w, path, force, o, e);
}

bool rb_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool harwell, bool pattern,
             const char *comment, struct watch *watch, struct err *e)
{
    struct csr C = {0};
    struct writer w = {.watch = watch};
    struct output o = {
        .sides = sides && sides->n ? sides : NULL, .comment = comment, .harwell = harwell, .pattern = pattern};
    if (o.sides && (sides->x || sides->guess) && A->rows != A->cols)
        return fail(
            e, E_UNSUPPORTED,
            "Harwell-Boeing files hold solutions and guesses of square matrices only; save the matrix as .npz or .wsb");
    bool ok = csr_fits(A->cols, A->nnz, 0, A->imag, e) && csr_transpose(&C, A, e) &&
              save_columns(&w, path, force, A, &C, &o, e);
    csr_free(&C);
    return ok;
}
