/* Report card: the lines of a Matrix Market file that hold NaN, inf, stored zeros and duplicates. */
#include "base/watch.h"
#include "card.h"
#include "files/load_info.h"
#include "files/mtx_find.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

enum { TICK_ROWS = 1 << 16 };

static bool is_bad(const struct csr *A, int64_t k)
{
    return !isfinite(A->val[k]) || (A->imag && !isfinite(A->imag[k]));
}

static bool is_zero(const struct csr *A, int64_t k)
{
    return A->val[k] == 0 && (!A->imag || A->imag[k] == 0);
}

/* Adds positions to the list f->place: if `zero` is set, those of the first `few` zeros at or after `row`, otherwise
   those of the first `few` values that are NaN or inf. Adds at most FIND_PLACES / 2 positions, so that both kinds
   fit. */
static bool add_places(struct card *c, struct mtx_find *f, bool zero, int64_t row, int64_t few, struct err *e)
{
    const struct csr *A = c->A;
    int n = 0, most = few < FIND_PLACES / 2 ? (int)few : FIND_PLACES / 2;
    for (; n < most && row < A->rows; row++) {
        if (row % TICK_ROWS == 0 && !watch_tick(c->watch, "values", row, A->rows, e)) return false;
        for (int64_t k = A->rowptr[row]; n < most && k < A->rowptr[row + 1]; k++)
            if ((zero ? is_zero : is_bad)(A, k)) {
                f->place[f->nplaces++] = (struct find_place){.row = row, .col = A->col[k], .zero = zero};
                n++;
            }
    }
    return true;
}

/* The lines of the file that hold entries of one kind. Each line appears once. */
struct found {
    int n;
    int64_t line[FIND_PLACES];
    bool more; /* the matrix has more entries of this kind than were searched for */
};

static struct found lines_of(const struct mtx_find *f, bool zero, int64_t all)
{
    struct found out = {0};
    int searched = 0;
    for (int i = 0; i < f->nplaces; i++) {
        bool skip = f->place[i].zero != zero;
        searched += !skip;
        for (int k = 0; k < out.n; k++) skip = skip || out.line[k] == f->place[i].line;
        if (!skip) out.line[out.n++] = f->place[i].line;
    }
    out.more = searched < all;
    for (int i = 1; i < out.n; i++)
        for (int k = i; k > 0 && out.line[k - 1] > out.line[k]; k--) {
            int64_t line = out.line[k];
            out.line[k] = out.line[k - 1];
            out.line[k - 1] = line;
        }
    return out;
}

static void say_lines(struct card_row *r, const char *what, const struct found *l, int few)
{
    if (!l->n) return;
    card_say(r, "%s%s: line%s ", *r->finding ? "; " : "", what, l->n > 1 ? "s" : "");
    for (int i = 0; i < l->n && i < few; i++) card_say(r, "%s%lld", i ? ", " : "", (long long)l->line[i]);
    if (l->n > few || l->more) card_say(r, ", ...");
}

static void say_duplicates(struct card_row *r, const struct mtx_find *f, int64_t all, int few)
{
    int n = f->ntwice < few ? f->ntwice : few;
    if (!n) return;
    card_say(r, "%sduplicates: lines ", *r->finding ? "; " : "");
    for (int i = 0; i < n; i++)
        card_say(r, "%s%lld and %lld", i ? ", " : "", (long long)f->twice[i].first, (long long)f->twice[i].again);
    if (all > n) card_say(r, ", ...");
}

/* For each kind of entry, lists as many lines of the file as fit in the width. */
static void say(const struct card *c, const struct mtx_find *f, struct card_row *r)
{
    struct found bad = lines_of(f, false, c->values.bad), zeros = lines_of(f, true, c->values.zeros);
    for (int few = FIND_TWICE; few > 0; few--) {
        r->finding[0] = 0;
        say_lines(r, "NaN, inf", &bad, few);
        say_lines(r, "zeros", &zeros, few);
        say_duplicates(r, f, c->info->duplicates, few);
        if (strlen(r->finding) <= CARD_WIDTH) return;
    }
}

static void set(const struct mtx_find *f, struct card_row *r)
{
    for (int i = f->nplaces; i-- > 0;) /* go backwards, so that the first entry of each kind is kept */
        card_set(r, f->place[i].zero ? "explicit_zero_line" : "nonfinite_line", (double)f->place[i].line);
    if (!f->ntwice) return;
    card_set(r, "duplicate_row", (double)f->twice[0].row);
    card_set(r, "duplicate_col", (double)f->twice[0].col);
    card_set(r, "duplicate_first_line", (double)f->twice[0].first);
    card_set(r, "duplicate_line", (double)f->twice[0].again);
}

static bool quiet(struct card_row *r, const char *why)
{
    card_say(r, "%s", why);
    return r->quiet = true;
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    struct mtx_find f = {0};
    const struct card_values *v = card_values(c, e);
    if (!v) return false;
    if (!c->info || !c->info->text_bytes) return quiet(r, "not from a Matrix Market file: there are no lines to list");
    if (!v->bad && !v->zeros && !c->info->duplicates)
        return quiet(r, "the file holds no NaN, inf, stored zero or duplicate");
    if (!add_places(c, &f, false, v->bad_row, v->bad, e) || !add_places(c, &f, true, v->zero_row, v->zeros, e))
        return false;
    if (!mtx_find(c->A, c->info, &f, c->watch, e)) return false;
    set(&f, r);
    say(c, &f, r);
    return true;
}

const struct card_line card_line_file = {
    .name = "file",
    .about = "the lines of a Matrix Market file that hold NaN, inf, stored zeros and duplicates",
    .keys = {{"nonfinite_line", CARD_INT},
             {"explicit_zero_line", CARD_INT},
             {"duplicate_row", CARD_INT},
             {"duplicate_col", CARD_INT},
             {"duplicate_first_line", CARD_INT},
             {"duplicate_line", CARD_INT}},
    .run = run,
};
