/* Report card: the positions of the entries: bandwidth, profile, row and column lengths, small dense blocks. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "card.h"
#include "matrix/csr.h"

#include <math.h>
#include <omp.h>

/* ---- bandwidth and profile ---- */

struct band {
    int64_t lower; /* largest distance in columns from the diagonal to an entry on its left */
    int64_t upper; /* largest distance in columns from the diagonal to an entry on its right */
    int64_t left;  /* sum over all rows of the number of columns between the row's first entry and the diagonal */
    char *seen;    /* [rows + cols]; seen[rows + d] is 1 if the diagonal column - row = d has an entry; shared by all
                      threads */
};

static void visit_band(const struct csr *A, int64_t row, void *part)
{
    struct band *b = part;
    if (A->rowptr[row] == A->rowptr[row + 1]) return;
    int64_t left = row - A->col[A->rowptr[row]], right = A->col[A->rowptr[row + 1] - 1] - row;
    if (left > b->lower) b->lower = left;
    if (right > b->upper) b->upper = right;
    if (left > 0) b->left += left;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
        __atomic_store_n(&b->seen[A->rows + A->col[k] - row], 1, __ATOMIC_RELAXED);
}

static void merge_band(void *sum, const void *part)
{
    struct band *a = sum;
    const struct band *b = part;
    if (b->lower > a->lower) a->lower = b->lower;
    if (b->upper > a->upper) a->upper = b->upper;
    a->left += b->left;
}

static int64_t profile_above(const struct csr *A, const struct card_columns *col)
{
    int64_t sum = 0;
    struct loop l = loop_of("the profile", A->cols);
    for (int64_t j = 0; j < A->cols && loop_goes(&l, j); j++)
        if (col->first[j] >= 0 && j > col->first[j]) sum += j - col->first[j];
    return sum;
}

/* Only a square matrix can be reordered by rcm. */
static void advise_wide(const struct csr *A, struct card_row *r)
{
    bool square = A->rows == A->cols;
    card_advise(r, square ? "reorder" : "reads of x are scattered");
    if (square) card_add_advice(r, " rcm may narrow it");
}

static void count_diagonals(struct card *c, const char *seen)
{
    const struct csr *A = c->A;
    int64_t n = 0;
    struct loop l = loop_of("diagonals", A->rows + A->cols);
    for (int64_t i = 0; i < A->rows + A->cols && loop_goes(&l, i); i++) n += seen[i];
    c->shape.diagonals = n;
}

static bool measure_band(struct card *c, struct band *b, struct err *e)
{
    b->seen = mem_zero(c->A->rows + c->A->cols, 1, "the bandwidth", e);
    bool ok = b->seen && card_scan(c, "bandwidth", sizeof *b, b, visit_band, merge_band, e);
    if (ok) count_diagonals(c, b->seen);
    mem_free(b->seen);
    return ok;
}

static bool run_band(struct card *c, struct card_row *r, struct err *e)
{
    const struct csr *A = c->A;
    struct band b = {0};
    char bytes[32];
    const struct card_columns *col = card_columns(c, e);
    if (!col || !measure_band(c, &b, e)) return false;
    int64_t width = b.lower > b.upper ? b.lower : b.upper, above = profile_above(A, col);
    double full = ((double)b.lower + (double)b.upper + 1) * (double)A->rows;
    double share = full > 0 ? (double)A->nnz / full : 0;
    card_set(r, "bandwidth", (double)width);
    card_set(r, "bandwidth_lower", (double)b.lower);
    card_set(r, "bandwidth_upper", (double)b.upper);
    card_set(r, "profile_lower", (double)b.left);
    card_set(r, "profile_upper", (double)above);
    card_say(r, "%s left, %s right, profile %s", card_count(b.lower).text, card_count(b.upper).text,
             card_count(b.left + above).text);
    if (share > 0.5)
        card_advise(r, "%.3g%% of the band stored", 100 * share);
    else if (width > A->cols / 4 && A->cols > 64)
        advise_wide(A, r);
    else
        card_advise(r, "rows reach %s of x",
                    show_bytes(card_value_bytes(A) * ((double)b.lower + (double)b.upper + 1), bytes, sizeof bytes));
    return true;
}

/* ---- quantiles of lengths ---- */

/* q[i] = the smallest length L such that at least p[i] * n of the n rows or columns have a length of at most L. */
static bool quantiles(const int *length, int64_t n, int most, const double *p, int64_t *q, int np, struct err *e)
{
    int64_t *count = mem_zero((int64_t)most + 1, sizeof *count, "lengths", e);
    if (!count) return false;
    struct loop l = loop_of("lengths", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) count[length[i]]++;
    if (!loop_end(&l, e)) {
        mem_free(count);
        return false;
    }
    for (int i = 0; i < np; i++) {
        int64_t need = (int64_t)ceil(p[i] * (double)n), have = 0;
        q[i] = -1;
        do have += count[++q[i]];
        while (have < (need > 0 ? need : 1) && q[i] < most);
    }
    mem_free(count);
    return true;
}

static const double shares[] = {0, 0.5, 0.9, 0.99, 1};
static const char *const row_keys[] = {"row_min", "row_median", "row_p90", "row_p99", "row_max"};
static const char *const col_keys[] = {"col_min", "col_median", "col_p90", "col_p99", "col_max"};

static bool lengths(struct card_row *r, const int *length, int64_t n, const char *const *keys, int64_t *q,
                    struct err *e)
{
    int most = 0;
    struct loop l = loop_of("lengths", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) most = length[i] > most ? length[i] : most;
    if (!loop_end(&l, e)) return false;
    if (n == 0) {
        card_say(r, "none");
        return true;
    }
    if (!quantiles(length, n, most, shares, q, COUNT(shares), e)) return false;
    for (int i = 0; i < COUNT(shares); i++) card_set(r, keys[i], (double)q[i]);
    card_say(r, "min %s, 50%% %s, 90%% %s, 99%% %s, max %s", card_count(q[0]).text, card_count(q[1]).text,
             card_count(q[2]).text, card_count(q[3]).text, card_count(q[4]).text);
    return true;
}

static enum card_evenness evenness_of(int64_t longest, double mean)
{
    if (!longest) return CARD_ROWS_UNKNOWN;
    if ((double)longest <= 1.5 * mean) return CARD_ROWS_EVEN;
    return (double)longest > 32 * (mean + 1) ? CARD_ROWS_LONG_TAIL : CARD_ROWS_UNEVEN;
}

static bool run_rows(struct card *c, struct card_row *r, struct err *e)
{
    const struct csr *A = c->A;
    int64_t q[COUNT(shares)];
    int *length = mem_new(A->rows, sizeof *length, "row lengths", e);
    if (!length) return false;
    struct loop l = loop_of("row lengths", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) length[i] = (int)csr_row_length(A, i);
    bool ok = loop_end(&l, e) && lengths(r, length, A->rows, row_keys, q, e);
    mem_free(length);
    if (!ok || !A->rows) return ok;
    double mean = (double)A->nnz / (double)A->rows;
    card_set(r, "row_mean", mean);
    static const char *const words[] = {"all empty", "even", "uneven", "long tail"};
    c->shape.rows = evenness_of(q[4], mean);
    card_advise(r, "%s", words[c->shape.rows]);
    if (q[4]) card_advise(r, ", ell %.2g%% padding", 100 * (1 - mean / (double)q[4]));
    return true;
}

static bool run_columns(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_columns *col = card_columns(c, e);
    int64_t q[COUNT(shares)];
    if (!col || !lengths(r, col->length, c->A->cols, col_keys, q, e)) return false;
    if (!c->A->cols) return true;
    int64_t empty = 0;
    struct loop l = loop_of("columns", c->A->cols);
    for (int64_t j = 0; j < c->A->cols && loop_goes(&l, j); j++) empty += col->length[j] == 0;
    double mean = (double)c->A->nnz / (double)c->A->cols;
    bool tail = (double)q[4] > 32 * (mean + 1);
    card_set(r, "empty_cols", (double)empty);
    c->facts->singular = c->facts->singular || (empty && c->A->rows == c->A->cols);
    if (empty)
        card_advise(r, "%s empty", card_count(empty).text);
    else
        card_advise(r, tail ? "some long" : "x read evenly");
    if (empty) card_add_advice(r, ", their x never read");
    if (tail) card_add_advice(r, ", csc uneven");
    return true;
}

/* ---- blocks ---- */

enum { BLOCK_MIN = 2, BLOCK_MAX = 8, BLOCK_ROWS = 1 << 16 };

/* Counts the b x b blocks that have at least one entry, in the block rows from .. to-1. `mark` has cols / b + 1
   elements: mark[j] is the last block row in which block column j was counted. Fill `mark` with -1 before the first
   call. */
static int64_t count_blocks(const struct csr *A, int b, int64_t from, int64_t to, int *mark)
{
    int64_t n = 0;
    for (int64_t row = from; row < to; row++) {
        int64_t end = (row + 1) * b < A->rows ? (row + 1) * b : A->rows;
        for (int64_t k = A->rowptr[row * b]; k < A->rowptr[end]; k++) {
            int j = A->col[k] / b;
            n += mark[j] != row;
            mark[j] = (int)row;
        }
    }
    return n;
}

static bool blocks_of(struct card *c, int b, int *mark, int64_t *n, struct err *e)
{
    const struct csr *A = c->A;
    int64_t rows = (A->rows + b - 1) / b;
    for (int64_t j = 0; j <= A->cols / b; j++) mark[j] = -1;
    *n = 0;
    for (int64_t from = 0; from < rows; from += BLOCK_ROWS) {
        int64_t to = from + BLOCK_ROWS < rows ? from + BLOCK_ROWS : rows;
        *n += count_blocks(A, b, from, to, mark);
        if (!watch_tick(c->watch, "blocks", (b - BLOCK_MIN) * rows + to, (BLOCK_MAX - BLOCK_MIN + 1) * rows, e))
            return false;
    }
    return true;
}

/* Bytes of n blocks of b x b values of A in bsr: fp64 values and int32 column indices, without row pointers. */
static double block_bytes(const struct csr *A, int64_t n, int b)
{
    return (double)n * (card_value_bytes(A) * b * b + 4);
}

static bool run_blocks(struct card *c, struct card_row *r, struct err *e)
{
    const struct csr *A = c->A;
    static const char *const keys[] = {"fill2", "fill3", "fill4", "fill5", "fill6", "fill7", "fill8"};
    int *mark = mem_new(A->cols / BLOCK_MIN + 1, sizeof *mark, "blocks", e), best = 0;
    int64_t n, least = 0;
    bool ok = mark != NULL;
    for (int b = BLOCK_MIN; ok && b <= BLOCK_MAX; b++) {
        ok = blocks_of(c, b, mark, &n, e);
        if (ok && n) card_set(r, keys[b - BLOCK_MIN], (double)A->nnz / ((double)n * b * b));
        if (ok && n && (!best || block_bytes(A, n, b) < block_bytes(A, least, best))) best = b, least = n;
    }
    mem_free(mark);
    if (!ok) return false;
    if (!best) {
        card_say(r, "none");
        return true;
    }
    double fill = (double)A->nnz / ((double)least * best * best),
           gain = block_bytes(A, least, best) / block_bytes(A, A->nnz, 1);
    card_set(r, "block", best);
    c->shape.block = best;
    c->shape.block_ratio = gain;
    card_set(r, "block_fill", fill);
    card_say(r, "best %d x %d, %.3g%% full", best, best, 100 * fill);
    if (gain < 1)
        card_advise(r, "bsr takes %.2g times csr's bytes", gain);
    else
        card_advise(r, "bsr would take %.2g times csr's bytes", gain);
    return true;
}

const struct card_line card_line_band = {
    .name = "band",
    .about = "the largest distances of entries from the diagonal; the profile is the sum of the distances from the "
             "diagonal to each row's first entry and to each column's first entry",
    .keys = {{"bandwidth", CARD_INT},
             {"bandwidth_lower", CARD_INT},
             {"bandwidth_upper", CARD_INT},
             {"profile_lower", CARD_INT},
             {"profile_upper", CARD_INT}},
    .run = run_band,
};
const struct card_line card_line_rows = {
    .name = "rows",
    .about = "row lengths in entries: minimum, median, 90% and 99% quantiles, maximum",
    .keys = {{"row_min", CARD_INT},
             {"row_median", CARD_INT},
             {"row_p90", CARD_INT},
             {"row_p99", CARD_INT},
             {"row_max", CARD_INT},
             {"row_mean", CARD_NUM}},
    .run = run_rows,
};
const struct card_line card_line_columns = {
    .name = "columns",
    .about = "column lengths in entries: minimum, median, 90% and 99% quantiles, maximum",
    .keys = {{"col_min", CARD_INT},
             {"col_median", CARD_INT},
             {"col_p90", CARD_INT},
             {"col_p99", CARD_INT},
             {"col_max", CARD_INT},
             {"empty_cols", CARD_INT}},
    .run = run_columns,
};
const struct card_line card_line_blocks = {
    .name = "blocks",
    .about = "dense blocks of 2 x 2 to 8 x 8: the size that needs the fewest bytes in bsr, and how full its blocks are",
    .keys = {{"block", CARD_INT},
             {"block_fill", CARD_NUM},
             {"fill2", CARD_NUM},
             {"fill3", CARD_NUM},
             {"fill4", CARD_NUM},
             {"fill5", CARD_NUM},
             {"fill6", CARD_NUM},
             {"fill7", CARD_NUM},
             {"fill8", CARD_NUM}},
    .run = run_blocks,
};
