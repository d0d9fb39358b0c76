/* Tell text files of numbers without a banner apart; plain.h states the rules. */
#include "plain.h"
#include "base/number.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_SEEN = 512, NUMBERS_SEEN = 4, FMT_MOST = 111, WORDS = -1 };

/* A line that is not a comment. */
struct row {
    int64_t at, line;       /* its first byte; number of lines before it */
    int n;                  /* its numbers; WORDS if any word of it is not a number */
    int words;              /* its words, numbers included */
    bool integers;          /* all its numbers are integers without a point or exponent */
    double v[NUMBERS_SEEN]; /* its first numbers */
};
struct look {
    const char *end;
    bool whole;                 /* `row` has all lines of the file */
    int n;                      /* rows that were seen */
    struct row row[LINES_SEEN]; /* the first one is not blank */
    struct plain *t;
};

static const char *skip_separators(const char *p, const char *eol)
{
    while (p < eol && plain_separates(*p)) p++;
    return p;
}

static const char *skip_spaces(const char *p, const char *eol)
{
    while (p < eol && is_blank(*p)) p++;
    return p;
}

static const char *word_end(const char *p, const char *eol)
{
    while (p < eol && !plain_separates(*p)) p++;
    return p;
}

static bool only_digits(const char *p, const char *end)
{
    p += end - p > 1 && (*p == '-' || *p == '+');
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end;
}

static struct row row_of(const char *p, const char *eol)
{
    struct row r = {.integers = true};
    unsigned how;
    double v;
    for (p = skip_separators(p, eol); p < eol; p = skip_separators(p, eol), r.words++) {
        const char *after = word_end(p, eol);
        if (*p == '%' || *p == '#') break;
        if (number_parse(p, after, &v, &how) != after) r.n = WORDS;
        if (r.n == WORDS) return r.words++, r;
        r.integers &= only_digits(p, after);
        if (r.n < NUMBERS_SEEN) r.v[r.n] = v;
        r.n++;
        p = after;
    }
    return r;
}

/* ---- Octave's comments ---- */

static bool after_word(const char *p, const char *eol, const char *word, const char **rest)
{
    size_t n = strlen(word);
    if (p < eol && *p == '#') p = skip_spaces(p + 1, eol);
    if ((size_t)(eol - p) < n || memcmp(p, word, n)) return false;
    *rest = skip_spaces(p + n, eol);
    return true;
}

/* Octave writes # name: A, # type: sparse matrix, # nnz: 3, # rows: 2 and # columns: 2 before the entries. */
static void take_comment(struct plain *t, const char *p, const char *eol)
{
    static const char *const sizes[] = {"rows:", "columns:", "nnz:"};
    const char *rest;
    if (after_word(p, eol, "type:", &rest) && t->kind == PLAIN_NONE) {
        t->kind = PLAIN_OCTAVE;
        if (eol - rest < 6 || memcmp(rest, "sparse", 6))
            snprintf(t->variable, sizeof t->variable, "%.*s", (int)(eol - rest), rest);
    }
    for (int i = 0; t->kind == PLAIN_OCTAVE && i < 3; i++)
        if (after_word(p, eol, sizes[i], &rest) && read_integer(rest, (size_t)(eol - rest), &t->size[i]))
            t->size[i] = -1;
}

static bool is_banner(const char *p, const char *eol)
{
    while (p < eol && *p == '%') p++;
    return eol - p >= 12 && same_word(p, 12, "matrixmarket");
}

/* ---- the lines ---- */

/* Collect the lines up to the end or to LINES_SEEN of them. The last line does not count if it may go on after the
   bytes that were read, unless it is longer than any triplet already. Returns false if this is a file with a banner. */
static bool take_lines(struct look *l, const char *p)
{
    int64_t line = 0;
    const char *begin = p;
    for (; p < l->end && l->n < LINES_SEEN; line++) {
        const char *eol = line_end(p, l->end), *word = skip_spaces(p, eol), *next = next_line(eol, l->end);
        bool comment = word < eol && (*word == '%' || *word == '#');
        if (comment && !l->n && is_banner(word, eol)) return false;
        if (comment && !l->n) take_comment(l->t, word, eol);
        struct row r = row_of(p, eol);
        if (eol == l->end && !l->whole && r.n <= NUMBERS_SEEN) break;
        r.at = p - begin;
        r.line = line;
        if (!comment && (l->n || r.words)) l->row[l->n++] = r;
        p = next;
    }
    l->whole &= p == l->end;
    return true;
}

/* A line of words and separators, as in a table, precedes lines of as many numbers: drop it. */
static void drop_header(struct look *l, const char *begin)
{
    const struct row *r = l->row;
    int words = 0;
    if (l->n < 2 || r->n != WORDS || r[1].n < 2 || r[1].n > NUMBERS_SEEN) return;
    const char *p = begin + r->at, *eol = line_end(p, l->end);
    for (p = skip_separators(p, eol); p < eol; p = skip_separators(word_end(p, eol), eol)) words++;
    if (words != r[1].n) return;
    memmove(l->row, l->row + 1, (size_t)--l->n * sizeof *l->row);
    l->t->header = true;
}

/* Do all lines from `first` on have the same number of numbers, 2 to 4? Blank lines and lines with words do not count.
   Returns that number, or 0. */
static int even(const struct look *l, int first)
{
    int n = 0;
    for (int i = first; i < l->n; i++) {
        if (l->row[i].n <= 0) continue;
        if (n && l->row[i].n != n) return 0;
        n = l->row[i].n;
    }
    return n >= 2 && n <= NUMBERS_SEEN ? n : 0;
}

/* ---- graphs of METIS ---- */

/* The first line of a graph, and what the numbers of its other lines are. */
struct graph_head {
    double vertices, edges;
    int fmt, skip, step; /* numbers of a line before its neighbours; numbers per neighbour */
};

static bool graph_head(const struct row *r, struct graph_head *g)
{
    if (r->n < 2 || r->n > 4 || !r->integers) return false;
    for (int i = 0; i < r->n; i++)
        if (r->v[i] < 0) return false;
    double fmt = r->n > 2 ? r->v[2] : 0;
    *g = (struct graph_head){.vertices = r->v[0], .edges = r->v[1]};
    if (fmt > FMT_MOST) return false;
    g->fmt = (int)fmt;
    bool weights = g->fmt / 10 % 10 == 1;
    g->skip = (g->fmt >= 100) + (weights ? r->n > 3 && r->v[3] < 100 ? (int)r->v[3] : 1 : 0);
    g->step = 1 + g->fmt % 2;
    return g->fmt % 10 <= 1 && g->fmt / 10 % 10 <= 1 && g->vertices >= 1 &&
           g->edges <= g->vertices * (g->vertices - 1) / 2;
}

static bool names(const struct row *r, const struct graph_head *g, double vertex)
{
    for (int k = g->skip; k < r->n; k += g->step)
        if (r->v[k] == vertex) return true;
    return false;
}

/* All lines have at most NUMBERS_SEEN numbers: does each edge whose two lines were seen stand in both? If the file was
   seen to its end, the counts must agree, too. */
static bool both_ends(const struct look *l, const struct graph_head *g)
{
    double ends = 0;
    int64_t lines = l->n - 1;
    for (int v = 1; v < l->n; v++) {
        const struct row *r = &l->row[v];
        if (r->n == 0) continue;
        if (v > g->vertices || r->n < g->skip || (r->n - g->skip) % g->step) return false;
        for (int k = g->skip; k < r->n; k += g->step, ends++) {
            double u = r->v[k];
            if (u < 1 || u > g->vertices || u == v || u != floor(u)) return false;
            if (u <= (double)lines && !names(&l->row[(int)u], g, v)) return false;
        }
    }
    return !l->whole || (ends == 2 * g->edges && (double)lines >= g->vertices);
}

/* ---- size lines ---- */

/* Is the first line a size line: does no index exceed it, and are there no more entries than it declares? A first line
   with nothing after it declares 0 entries, or it is an entry itself. */
static bool size_line(struct look *l, int numbers)
{
    const struct row *r = l->row;
    bool square = r->n == 2 && numbers > 2;
    int64_t entries = 0;
    struct plain *t = l->t;
    if (!r->integers || r->n < 2 || r->n > 4 || (r->n == 2 && !square)) return false;
    double rows = r->v[0], cols = square ? rows : r->v[1], declared = r->v[square ? 1 : 2],
           stype = r->n > 3 ? r->v[3] : 0;
    if (rows < 0 || cols < 0 || declared < 0 || fabs(stype) > 1 || fmax(rows, fmax(cols, declared)) > 0x1p62)
        return false;
    for (int i = 1; i < l->n; i++) {
        if (l->row[i].n <= 0) continue;
        entries++;
        if (l->row[i].v[0] > rows || l->row[i].v[1] > cols) return false;
    }
    if (!numbers && (declared > 0 || !l->whole)) return false;
    if ((double)entries > declared) return false;
    t->size[0] = (int64_t)rows, t->size[1] = (int64_t)cols, t->size[2] = (int64_t)declared, t->size[3] = (int64_t)stype;
    return true;
}

static enum plain_kind kind_of(struct look *l)
{
    struct graph_head g;
    const struct row *r = l->row;
    bool two_pairs = l->n > 2 && r[1].n == 2 && r[2].n == 2;
    if (r->n == 1 && r->v[0] == 0 && two_pairs) return PLAIN_SCOTCH;
    if (r->n < 2 || r->n > NUMBERS_SEEN) return PLAIN_NONE;
    int all = even(l, 0), others = even(l, 1);
    bool regular = all || (others && size_line(l, others));
    if (graph_head(r, &g) && (regular ? both_ends(l, &g) : l->n > 1)) return PLAIN_METIS;
    l->t->sized = size_line(l, others);
    l->t->numbers = l->t->sized ? others : r->n;
    return PLAIN_TRIPLETS;
}

void plain_look(const char *begin, int64_t n, bool whole, struct plain *t)
{
    struct look l = {.end = begin + n, .whole = whole, .t = t};
    bool mark = n >= 3 && !memcmp(begin, "\xef\xbb\xbf", 3);
    memset(t, 0, sizeof *t);
    begin += mark ? 3 : 0;
    if (!take_lines(&l, begin)) return;
    if (t->kind == PLAIN_NONE && l.n) drop_header(&l, begin);
    if (t->kind == PLAIN_NONE && l.n) t->kind = kind_of(&l);
    if (t->kind == PLAIN_OCTAVE && l.n) t->numbers = l.row->n;
    t->start = t->first.at = (mark ? 3 : 0) + (l.n ? l.row->at : l.end - begin);
    t->lines = t->first.line = l.n ? l.row->line : 0;
    t->first.numbers = l.n ? l.row->n : 0;
    bool skips = t->kind == PLAIN_TRIPLETS && t->sized; /* the size line */
    if (skips) t->start = next_line(line_end(begin + l.row->at, l.end), l.end) - begin + (mark ? 3 : 0);
    t->lines += skips;
    t->sized |= t->kind == PLAIN_OCTAVE;
}

void plain_unsize(struct plain *t)
{
    t->sized = false;
    t->start = t->first.at;
    t->lines = t->first.line;
    t->numbers = t->first.numbers;
}

/* Most lists have only blanks. */
static bool only_blanks(const char *s, int64_t n)
{
    static const char others[] = "#,;()";
    bool only = true;
    for (int i = 0; others[i] && only; i++) only = !memchr(s, others[i], (size_t)n);
    return only;
}

void plain_blanks(char *s, int64_t n)
{
    char before = ' ';
    if (only_blanks(s, n)) return;
    for (int64_t i = 0; i < n; i++) {
        char c = s[i];
        bool comma = c == ',' || c == ';';
        if (c == '#')
            s[i] = '%';
        else if (plain_separates(c) && !(comma && before == ','))
            s[i] = ' ';
        before = comma ? ',' : is_blank(c) ? before : c;
    }
}
