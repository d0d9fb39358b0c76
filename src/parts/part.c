/* Extract the parts of a matrix: local and non-local columns, halos, and the lists of what each part sends. */
#include "part.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "partition.h"

#include <limits.h>
#include <string.h>

/* What part_extract works with. Columns are called by their positions (partition.h). */
struct extraction {
    const struct csr *A;
    const struct partition *P;
    int64_t row0, row1; /* positions of the part's rows */
    int64_t col0, col1; /* positions of the part's columns */
    int *slot;          /* [cols], all -1 between two parts: where each column of the halo is found in `halo` */
    int *halo;          /* positions of the columns of the halo */
    int64_t halo_n, halo_room;
    int64_t inside, outside; /* entries */
    uint64_t *key;           /* [2 * longest]: keys of a row, and room to sort them */
    int64_t longest;
};

static const char *const extracting = "extracting parts";

static bool is_mine(const struct extraction *x, int64_t position)
{
    return position >= x->col0 && position < x->col1;
}

/* ---- the halo ---- */

static bool halo_grow(struct extraction *x, struct err *e)
{
    if (x->halo_n < x->halo_room) return true;
    int64_t room = x->halo_room ? 2 * x->halo_room : 256;
    int *halo = mem_resize(x->halo, room, sizeof *halo, "a halo", e);
    if (!halo) return false;
    x->halo = halo;
    x->halo_room = room;
    return true;
}

static bool find_entry(struct extraction *x, int64_t position, struct err *e)
{
    if (is_mine(x, position)) return x->inside++, true;
    x->outside++;
    if (x->slot[position] >= 0) return true;
    if (!halo_grow(x, e)) return false;
    x->slot[position] = (int)x->halo_n;
    x->halo[x->halo_n++] = (int)position;
    return true;
}

/* Count the entries of the part, and list the columns of its halo in the order in which they are met. */
static bool find_halo(struct extraction *x, struct err *e)
{
    struct loop l = loop_of(extracting, x->A->nnz);
    for (int64_t r = x->row0; r < x->row1 && loop_runs(&l); r++) {
        int64_t i = partition_row(x->P, r), end = csr_start(x->A, i + 1);
        for (int64_t k = csr_start(x->A, i); k < end && loop_goes(&l, k); k++)
            if (!find_entry(x, partition_position(x->P, x->A->col[k]), e)) return false;
        if (csr_row_length(x->A, i) > x->longest) x->longest = csr_row_length(x->A, i);
    }
    return loop_end(&l, e);
}

/* Sort a halo that is a large share of all columns: look at every column. */
static void sweep_halo(struct extraction *x)
{
    struct loop l = loop_of("", x->P->cols);
    int64_t n = 0;
    for (int64_t j = 0; j < x->P->cols && loop_goes(&l, j); j++)
        if (x->slot[j] >= 0) x->halo[n++] = (int)j;
}

static bool sort_small_halo(struct extraction *x, struct err *e)
{
    uint64_t *key = mem_new(2 * x->halo_n, sizeof *key, "a halo", e);
    if (!key) return false;
    for (int64_t h = 0; h < x->halo_n; h++) key[h] = (uint64_t)x->halo[h] << 32;
    csr_sort_keys(key, key + x->halo_n, x->halo_n, x->P->cols);
    for (int64_t h = 0; h < x->halo_n; h++) x->halo[h] = (int)(key[h] >> 32);
    mem_free(key);
    return true;
}

enum { SWEEP_FROM = 16 }; /* columns per item of the halo for which a sort is cheaper than a look at every column */

static bool sort_halo(struct extraction *x, struct err *e)
{
    struct loop l = loop_of("", x->halo_n);
    if (x->P->cols / SWEEP_FROM > x->halo_n) {
        if (!sort_small_halo(x, e)) return false;
    } else {
        sweep_halo(x);
    }
    for (int64_t h = 0; h < x->halo_n && loop_goes(&l, h); h++) x->slot[x->halo[h]] = (int)h;
    return loop_unbroken(extracting, e);
}

/* ---- entries ---- */

static void put(struct csr *to, int64_t at, int64_t col, const struct csr *A, int64_t k)
{
    to->col[at] = (int)col;
    to->val[at] = A->val[k];
    if (to->imag) to->imag[at] = A->imag[k];
}

/* Write entry k of A to the next place of the row in `inside`, or note its key among those of the row in `outside`. */
static void split_entry(struct extraction *x, struct part *out, int64_t k, int64_t *in, int64_t *keys)
{
    int64_t position = partition_position(x->P, x->A->col[k]);
    if (is_mine(x, position))
        put(&out->inside, (*in)++, position - x->col0, x->A, k);
    else
        x->key[(*keys)++] = (uint64_t)x->slot[position] << 32;
}

/* The entries of `outside` of row i; their keys are in x->key in the order of A. */
static void write_outside(struct extraction *x, struct part *out, int64_t i, int64_t n, int64_t at)
{
    int64_t found = 0;
    for (int64_t k = csr_start(x->A, i); found < n; k++)
        if (!is_mine(x, partition_position(x->P, x->A->col[k]))) x->key[found++] |= (uint64_t)(k - csr_start(x->A, i));
    csr_sort_keys(x->key, x->key + x->longest, n, x->halo_n);
    for (int64_t m = 0; m < n; m++)
        put(&out->outside, at + m, (int64_t)(x->key[m] >> 32), x->A, csr_start(x->A, i) + (uint32_t)x->key[m]);
}

static bool split_rows(struct extraction *x, struct part *out, struct err *e)
{
    int64_t in = 0, outside = 0;
    struct loop l = loop_of(extracting, x->row1 - x->row0);
    for (int64_t r = x->row0; r < x->row1 && loop_check(&l, r - x->row0); r++) {
        int64_t i = partition_row(x->P, r), end = csr_start(x->A, i + 1), n = 0;
        for (int64_t k = csr_start(x->A, i); k < end && loop_goes(&l, k); k++) split_entry(x, out, k, &in, &n);
        if (loop_runs(&l)) write_outside(x, out, i, n, outside);
        outside += n;
        csr_set_start(&out->inside, r - x->row0 + 1, in);
        csr_set_start(&out->outside, r - x->row0 + 1, outside);
    }
    return loop_end(&l, e);
}

/* ---- neighbours ---- */

static void neighbours_free(struct neighbours *n)
{
    mem_free(n->part);
    mem_free(n->first);
    *n = (struct neighbours){0};
}

static bool neighbours_new(struct neighbours *n, int count, struct err *e)
{
    *n = (struct neighbours){.n = count};
    n->part = mem_new(count, sizeof *n->part, "a part's neighbours", e);
    n->first = n->part ? mem_zero((int64_t)count + 1, sizeof *n->first, "a part's neighbours", e) : NULL;
    return n->first != NULL;
}

/* The item of the sorted halo at which the items of the next owner begin. */
static int64_t next_owner(const struct extraction *x, int64_t h, int owner)
{
    int64_t high = x->halo_n, end = x->P->first_col[owner + 1];
    while (h < high) {
        int64_t middle = h + (high - h) / 2;
        if (x->halo[middle] < end)
            h = middle + 1;
        else
            high = middle;
    }
    return h;
}

static bool find_owners(const struct extraction *x, struct neighbours *from, struct err *e)
{
    int n = 0;
    for (int64_t h = 0; h < x->halo_n; n++) h = next_owner(x, h, partition_owner_at(x->P, x->halo[h]));
    if (!neighbours_new(from, n, e)) return false;
    for (int i = 0; i < n; i++) {
        from->part[i] = partition_owner_at(x->P, x->halo[from->first[i]]);
        from->first[i + 1] = next_owner(x, from->first[i], from->part[i]);
    }
    return true;
}

/* The halo as columns of A. */
static bool keep_halo(const struct extraction *x, struct part *out, struct err *e)
{
    struct loop l = loop_of("", x->halo_n);
    out->halo = mem_new(x->halo_n, sizeof *out->halo, "a halo", e);
    for (int64_t h = 0; out->halo && h < x->halo_n && loop_goes(&l, h); h++)
        out->halo[h] = (int)partition_row(x->P, x->halo[h]);
    return out->halo && loop_unbroken(extracting, e);
}

/* ---- one part ---- */

static bool extraction_new(struct extraction *x, const struct csr *A, const struct partition *P, struct err *e)
{
    *x = (struct extraction){.A = A, .P = P};
    x->slot = mem_new(A->cols, sizeof *x->slot, "the halo's columns", e);
    return x->slot && loop_fill(x->slot, A->cols, -1, extracting, e);
}

static void extraction_free(struct extraction *x)
{
    mem_free(x->slot);
    mem_free(x->halo);
    mem_free(x->key);
}

static bool split_new(struct extraction *x, struct part *out, struct err *e)
{
    bool complex_values = x->A->imag != NULL;
    int64_t rows = x->row1 - x->row0;
    if (x->longest > UINT32_MAX)
        return fail(e, E_LIMIT, "a row has %lld entries; a part takes rows of at most %u", (long long)x->longest,
                    UINT32_MAX);
    x->key = mem_new(2 * x->longest, sizeof *x->key, "keys of a row", e);
    return x->key && csr_new_any(&out->inside, rows, x->col1 - x->col0, x->inside, complex_values, e) &&
           csr_new_any(&out->outside, rows, x->halo_n, x->outside, complex_values, e);
}

static bool extract(struct extraction *x, struct part *out, int k, struct err *e)
{
    *out = (struct part){.number = k};
    x->row0 = x->P->first[k];
    x->row1 = x->P->first[k + 1];
    x->col0 = x->P->first_col[k];
    x->col1 = x->P->first_col[k + 1];
    x->halo_n = x->inside = x->outside = x->longest = 0;
    bool ok = find_halo(x, e) && sort_halo(x, e) && split_new(x, out, e) && split_rows(x, out, e) &&
              find_owners(x, &out->from, e) && keep_halo(x, out, e);
    for (int64_t h = 0; h < x->halo_n; h++) x->slot[x->halo[h]] = -1;
    mem_free(x->key);
    x->key = NULL;
    if (!ok) part_free(out);
    return ok;
}

bool part_extract(struct part *out, const struct csr *A, const struct partition *P, int k, struct err *e)
{
    struct extraction x;
    *out = (struct part){0};
    bool ok = extraction_new(&x, A, P, e) && extract(&x, out, k, e);
    extraction_free(&x);
    return ok;
}

void part_free(struct part *part)
{
    csr_free(&part->inside);
    csr_free(&part->outside);
    mem_free(part->halo);
    mem_free(part->send);
    neighbours_free(&part->from);
    neighbours_free(&part->to);
    *part = (struct part){0};
}

/* ---- all parts ---- */

static int64_t from_neighbour(const struct part *part, int i)
{
    return part->from.first[i + 1] - part->from.first[i];
}

/* Give each part room for its list of what it sends, and its number of receivers. to.n is 0 again afterwards. */
static bool send_room(struct part *part, int parts, struct err *e)
{
    int64_t *items = mem_zero(parts, sizeof *items, "what parts send", e);
    int *receivers = items ? mem_zero(parts, sizeof *receivers, "what parts send", e) : NULL;
    bool ok = receivers != NULL;
    for (int p = 0; ok && p < parts; p++)
        for (int i = 0; i < part[p].from.n; i++) {
            receivers[part[p].from.part[i]]++;
            items[part[p].from.part[i]] += from_neighbour(&part[p], i);
        }
    for (int p = 0; ok && p < parts; p++) {
        ok = neighbours_new(&part[p].to, receivers[p], e) &&
             (part[p].send = mem_new(items[p], sizeof *part[p].send, "what parts send", e));
        part[p].to.n = 0;
    }
    mem_free(items);
    mem_free(receivers);
    return ok;
}

/* Append what `receiver` needs of its neighbour i to the neighbour's list. */
static void send_append(struct part *part, const struct partition *P, const struct part *receiver, int i)
{
    struct part *sender = &part[receiver->from.part[i]];
    struct neighbours *to = &sender->to;
    int64_t at = to->first[to->n], h0 = receiver->from.first[i], n = from_neighbour(receiver, i);
    for (int64_t m = 0; m < n; m++)
        sender->send[at + m] =
            (int)(partition_position(P, receiver->halo[h0 + m]) - P->first_col[receiver->from.part[i]]);
    to->part[to->n] = receiver->number;
    to->first[++to->n] = at + n;
}

static void links_free(struct part *part, int parts)
{
    for (int p = 0; p < parts; p++) {
        neighbours_free(&part[p].to);
        mem_free(part[p].send);
        part[p].send = NULL;
    }
}

bool parts_link(struct part *part, const struct partition *P, struct err *e)
{
    struct loop l = loop_of("linking parts", P->parts);
    links_free(part, P->parts);
    bool ok = send_room(part, P->parts, e);
    for (int p = 0; ok && p < P->parts && loop_check(&l, p); p++)
        for (int i = 0; i < part[p].from.n; i++) send_append(part, P, &part[p], i);
    ok = ok && loop_end(&l, e);
    if (!ok) links_free(part, P->parts);
    return ok;
}

struct part *parts_extract(const struct csr *A, const struct partition *P, struct err *e)
{
    struct extraction x;
    struct part *part = mem_zero(P->parts, sizeof *part, "parts", e);
    if (!part) return NULL;
    bool ok = extraction_new(&x, A, P, e);
    for (int p = 0; ok && p < P->parts; p++) ok = extract(&x, &part[p], p, e);
    extraction_free(&x);
    if (ok && parts_link(part, P, e)) return part;
    parts_free(part, P->parts);
    return NULL;
}

void parts_free(struct part *part, int parts)
{
    for (int p = 0; part && p < parts; p++) part_free(&part[p]);
    mem_free(part);
}
