/* Numbers with their indices: a grid in text, rows in JSON and CSV. */
#include "listing.h"
#include "base/loop.h"
#include "output.h"

#include <math.h>
#include <string.h>

/* WIDEST: the maximum width of a line of text. */
enum { GAP = 3, PLAIN_WIDTH = 80, WIDEST = 1000 };

char *number_digits(double re, double im, int digits, char out[NUMBER_TEXT])
{
    if (isnan(re)) re = NAN; /* without the sign that printf would show */
    if (isnan(im)) im = NAN;
    if (im == 0)
        snprintf(out, NUMBER_TEXT, "%.*g", digits, re);
    else
        snprintf(out, NUMBER_TEXT, "%.*g%+.*gi", digits, re, digits, im);
    return out;
}

char *number_text(double re, double im, char out[NUMBER_TEXT])
{
    return number_digits(re, im, 6, out);
}

int listing_width(const struct out *o)
{
    int width = out_columns(o);
    return !width ? PLAIN_WIDTH : width < WIDEST ? width : WIDEST;
}

void listing_row(struct out *o, const char *matrix, const char *what, int64_t row, int64_t col, double re, double im,
                 bool stored)
{
    if (!out_shows_rows(o)) return;
    out_row(o);
    out_str(o, "matrix", NULL, matrix);
    out_str(o, "what", NULL, what);
    out_int(o, "row", NULL, row);
    if (col < 0)
        out_str(o, "col", NULL, NULL);
    else
        out_int(o, "col", NULL, col);
    out_value(o, "value", NULL, re, NULL);
    out_value(o, "imag", NULL, im, NULL);
    out_bool(o, "stored", NULL, stored);
}

static int64_t index_of(const struct numbers *v, int64_t k)
{
    return v->at ? v->at[k] : v->first + k;
}

static double imag_of(const struct numbers *v, int64_t k)
{
    return v->im ? v->im[k] : 0;
}

/* ---- JSON and CSV ---- */

static bool print_rows(struct out *o, const struct numbers *v, int64_t n, struct err *e)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t i = index_of(v, k), row = v->line < 0 || v->column ? i : v->line;
        int64_t col = v->line < 0 ? -1 : v->column ? v->line : i;
        listing_row(o, v->matrix, v->what, row, col, v->re[k], imag_of(v, k), true);
        if (!loop_tick("printing", k, n, e)) return false;
    }
    return true;
}

/* ---- text ---- */

/* The widths of indices and of numbers, and how many numbers fit on one line. */
struct grid {
    int index, number, across;
};

static int width_of(const struct numbers *v, int64_t k)
{
    char text[NUMBER_TEXT];
    return (int)strlen(number_text(v->re[k], imag_of(v, k), text));
}

/* The grid for the first n numbers. */
static struct grid grid_of(const struct numbers *v, int64_t n, int width)
{
    char digits[24];
    struct grid g = {.index = n ? snprintf(digits, sizeof digits, "%lld", (long long)index_of(v, n - 1)) : 1};
    struct loop l = loop_of("printing", n);
    for (int64_t k = 0; k < n && loop_goes(&l, k); k++)
        if (width_of(v, k) > g.number) g.number = width_of(v, k);
    g.across = (width - 1) / (GAP + g.index + 2 + g.number);
    if (g.across < 1) g.across = 1;
    return g;
}

static bool print_grid(struct out *o, const struct numbers *v, int64_t n, struct grid g, struct err *e)
{
    for (int64_t from = 0; from < n; from += g.across) {
        char line[2 * WIDEST], text[NUMBER_TEXT];
        int at = 0;
        for (int64_t k = from; k < n && k < from + g.across; k++)
            at += snprintf(line + at, sizeof line - (size_t)at, "%*s%*lld: %*s", GAP, "", g.index,
                           (long long)index_of(v, k), g.number, number_text(v->re[k], imag_of(v, k), text));
        out_text(o, "%s", line);
        if (!loop_tick("printing", from, n, e)) return false;
    }
    return true;
}

/* Only n numbers are shown, and their widths set the columns of the grid. The columns in turn limit n, so the grid is
   computed twice. */
static bool print_text(struct out *o, const struct numbers *v, int lines, int64_t *shown, struct err *e)
{
    int width = listing_width(o);
    int64_t n = v->n;
    if (lines && n > (int64_t)lines * width) n = (int64_t)lines * width;
    struct grid g = grid_of(v, n, width);
    if (lines && n > (int64_t)lines * g.across) {
        n = (int64_t)lines * g.across;
        g = grid_of(v, n, width);
        if (v->n > (int64_t)lines * g.across) n = (int64_t)lines * g.across;
        if (n > v->n) n = v->n;
    }
    *shown = n;
    return (!out_shows_rows(o) || print_rows(o, v, n, e)) && print_grid(o, v, n, g, e);
}

bool listing_print(struct out *o, const struct numbers *v, int lines, int64_t *shown, struct err *e)
{
    *shown = v->n;
    return out_mode(o) == OUT_TEXT ? print_text(o, v, lines, shown, e) : print_rows(o, v, v->n, e);
}
