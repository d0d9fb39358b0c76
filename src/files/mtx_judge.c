/* Checks that need the whole file: does the number of entries agree with the size line, and does a file with a symmetry
   contain only one triangle? */
#include "base/mem.h"
#include "base/text.h"
#include "mtx.h"

#include <stdlib.h>
#include <string.h>

static struct block *block_of(const struct body *b, int64_t entry)
{
    struct block *k = b->first;
    while (entry >= k->entry0 + k->n) k = k->next;
    return k;
}

int64_t body_line(const struct body *b, int64_t entry)
{
    const struct block *k = block_of(b, entry);
    int64_t line = k->line0 + entry - k->entry0 + 1;
    for (int64_t g = 0; g < k->ngaps && k->gap[g].at <= entry - k->entry0; g++) line += k->gap[g].lines;
    return line;
}

/* Drop the blocks after block k, which has the fault. Other threads may already have read some blocks after k. */
static void cut_after(struct block *k)
{
    for (struct block *later = k->next, *next; later; later = next) {
        next = later->next;
        block_free(later);
        mem_free(later);
    }
    k->next = NULL;
}

/* Set the numbers of lines and entries before each block. Returns the total number of entries; *lines receives the
   total number of lines. */
static int64_t number_blocks(struct body *b, struct notes *t, int64_t *lines)
{
    int64_t entries = 0;
    *lines = b->head->lines;
    if (b->fault.block) cut_after(b->fault.block);
    for (struct block *k = b->first; k; k = k->next) {
        k->line0 = *lines;
        k->entry0 = entries;
        for (int i = 0; i < NOTES; i++)
            if (k->notes.n[i]) {
                note(t, (enum note)i, k->line0 + k->notes.line[i]);
                t->n[i] += k->notes.n[i] - 1;
            }
        *lines += k->lines;
        entries += k->n;
    }
    return entries;
}

struct twin { /* an entry above the diagonal */
    int row, col;
    int64_t at;
};

static int by_place(const void *a, const void *b)
{
    const struct twin *p = a, *q = b;
    if (p->col != q->col) return p->col < q->col ? -1 : 1;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    return 0;
}

static int by_place_then_order(const void *a, const void *b)
{
    const struct twin *p = a, *q = b;
    int c = by_place(a, b);
    return c ? c : (p->at > q->at) - (p->at < q->at);
}

/* The earliest entry at (row, col) in u, or NULL. `u` has the entries above the diagonal; it is sorted and may contain
   duplicates. */
static const struct twin *find_twin(const struct twin *u, int64_t n, int row, int col)
{
    struct twin key = {.row = row, .col = col};
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (by_place(&u[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && !by_place(&u[low], &key) ? &u[low] : NULL;
}

static int64_t collect_upper(const struct body *b, int64_t entries, struct twin *u)
{
    const int *row = b->all.row, *col = b->all.col;
    int64_t n = 0;
    for (int64_t i = 0; i < entries; i++)
        if (row[i] < col[i]) u[n++] = (struct twin){row[i], col[i], i};
    return n;
}

/* Set *at to the first entry whose mirror image precedes it, or to `entries` if there is none. */
static bool find_both(const struct body *b, int64_t entries, int64_t *at, struct err *e)
{
    int64_t upper = 0, lower = 0;
    *at = entries;
    for (const struct block *k = b->first; k; k = k->next) upper += k->upper, lower += k->lower;
    if (!upper || !lower) return true;
    struct twin *u = mem_new(upper, sizeof *u, "entries above the diagonal", e);
    if (!u) return false;
    int64_t n = collect_upper(b, entries, u);
    qsort(u, (size_t)n, sizeof *u, by_place_then_order);
    const int *row = b->all.row, *col = b->all.col;
    for (int64_t i = 0; i < entries; i++) {
        const struct twin *t = row[i] > col[i] ? find_twin(u, n, col[i], row[i]) : NULL;
        int64_t later = t && t->at > i ? t->at : i;
        if (t && later < *at) *at = later;
    }
    mem_free(u);
    return true;
}

/* The index of the first diagonal entry of a hermitian array whose value is not real, or `entries` if all diagonal
   entries are real. */
static int64_t find_unreal(const struct body *b, int64_t entries)
{
    for (int64_t c = 0; c < b->head->cols; c++) {
        int64_t at = column_start(b->head, c);
        if (at >= entries) break;
        if (!(b->all.imag[at] == 0)) return at;
    }
    return entries;
}

/* Find the first entry that contradicts the symmetry of the file, and the message for it. */
static bool find_contradiction(const struct body *b, int64_t entries, int64_t *at, const char **what, struct err *e)
{
    const struct head *h = b->head;
    *at = entries;
    if (h->array && h->symmetry == HERMITIAN) {
        *what = "the diagonal of a hermitian matrix must be real, but this value has an imaginary part";
        *at = find_unreal(b, entries);
    } else if (!h->array && h->symmetry != GENERAL) {
        *what = "this is the mirror image of an earlier entry, but a file with a symmetry must hold only one triangle; "
                "if it holds both triangles, its symmetry must be general";
        return find_both(b, entries, at, e);
    }
    return true;
}

int64_t body_lines(const struct body *b)
{
    int64_t lines = b->head->lines;
    for (const struct block *k = b->first; k; k = k->next) lines += k->lines;
    return lines;
}

static bool judge_count(const struct body *b, int64_t entries, int64_t lines, struct err *e)
{
    char where[PATH_LINE];
    const struct head *h = b->head;
    if (entries == h->entries) return true;
    if (entries < h->entries)
        return fail_at(e, E_INPUT, path_line(b->path, h->lines, where),
                       "this size line declares %s, but the file ends at line %lld after %s; the file is truncated or "
                       "the count is wrong",
                       how_many(h->entries, "entry").text, (long long)lines, how_many(entries, "entry").text);
    if (h->array && h->symmetry != GENERAL)
        return fail_at(e, E_INPUT, path_line(b->path, body_line(b, h->entries), where),
                       "this is one value too many: a %s array of %lld x %lld holds only the %slower triangle, %s; if "
                       "the file holds all values, write `general` in the banner",
                       h->symmetry_word, (long long)h->rows, (long long)h->cols, h->symmetry == SKEW ? "strict " : "",
                       how_many(h->entries, "value").text);
    return fail_at(e, E_INPUT, path_line(b->path, body_line(b, h->entries), where),
                   "this is one entry too many: the size line (line %lld) declares only %s", (long long)h->lines,
                   how_many(h->entries, "entry").text);
}

bool body_judge(struct body *b, struct notes *t, struct err *e)
{
    char where[PATH_LINE];
    const char *what = NULL;
    const struct fault *f = &b->fault;
    int64_t lines, wrong;
    if (f->why.code && !f->block) return fail(e, f->why.code, "%s", f->why.text);
    int64_t entries = number_blocks(b, t, &lines), counted = entries < b->head->entries ? entries : b->head->entries;
    if (!find_contradiction(b, counted, &wrong, &what, e)) return false;
    if (wrong < counted) return fail_at(e, E_INPUT, path_line(b->path, body_line(b, wrong), where), "%s", what);
    if (f->block && entries <= b->head->entries)
        return fail_at(e, f->why.code, path_line(b->path, f->block->line0 + f->line, where), "%s", f->why.text);
    return judge_count(b, entries, lines, e);
}
