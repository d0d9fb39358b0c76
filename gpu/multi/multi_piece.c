/* The part of a matrix that one member has: what it exchanges with others, whether it fits, and its outer entries if
   they are a matrix. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_csr64.h"
#include "formats/format.h"
#include "matrix/csr.h"
#include "multi.h"
#include "parts/part.h"

void *put_array(struct device *d, const void *from, int64_t bytes, const char *what, int64_t *sum, struct err *e)
{
    void *p = d->ops->alloc(d, bytes, what, e);
    if (!p) return NULL;
    *sum += bytes;
    if (!from || d->ops->put(d, p, from, bytes, e)) return p;
    d->ops->free(d, p);
    return NULL;
}

bool outside_allowed(const struct device *d, int64_t nnz, struct err *e)
{
    return nnz <= INT32_MAX ||
           fail(e, E_LIMIT,
                "%s would have %lld entries in columns of other members; at most %d are possible; take more members",
                d->name, (long long)nnz, INT32_MAX);
}

bool is_outer_matrix(const struct csr *outside)
{
    return outside->nnz >= outside->rows && outside->nnz > 0;
}

const struct format *outer_format(const struct csr *outside)
{
    return csr_size_is_large(outside->rows, outside->nnz) ? &format_csr64 : &format_csr;
}

bool outer_matrix_new(struct piece *q, struct device *d, const struct csr *outside, enum type type, struct err *e)
{
    q->out_nnz = outside->nnz;
    q->out_rows = outside->rows;
    q->bytes += stored_bytes(&q->outer_S);
    q->now = put_array(d, NULL, q->halo * (int64_t)type_size(type), "the items of x from others", &q->bytes, e);
    return q->now != NULL;
}

static bool put_lists(struct piece *q, struct device *d, const struct part *part, int64_t size, struct err *e)
{
    unsigned zero[MEMBERS_MAX] = {0};
    static const char what[] = "the items of x that members exchange";
    q->halo = part_halo(part);
    q->sends = part_sends(part);
    q->send = put_array(d, part->send, q->sends * (int64_t)sizeof(int), what, &q->bytes, e);
    q->packed = q->send ? put_array(d, NULL, q->sends * size, what, &q->bytes, e) : NULL;
    q->in[0] = q->packed ? put_array(d, NULL, 2 * q->halo * size, what, &q->bytes, e) : NULL;
    if (!q->in[0] || !(q->flag = put_array(d, zero, sizeof zero, "flags", &q->bytes, e))) return false;
    q->in[1] = (char *)q->in[0] + q->halo * size;
    return (q->ticket = put_array(d, zero, sizeof *zero, "a counter of blocks", &q->bytes, e)) &&
           (q->count = put_array(d, zero, sizeof *zero, "a counter of products", &q->bytes, e));
}

/* Where this part's items begin in the halo of part t. */
static int64_t place_in(const struct part *t, int number)
{
    for (int i = 0; i < t->from.n; i++)
        if (t->from.part[i] == number) return t->from.first[i];
    return 0;
}

static void take_neighbours(struct piece *q, const struct part *all, const struct part *part)
{
    q->targets = part->to.n;
    for (int t = 0; t < part->to.n; t++) {
        q->target[t] = part->to.part[t];
        q->first[t] = part->to.first[t];
        q->halo_at[t] = place_in(&all[part->to.part[t]], part->number);
        q->neighbours |= 1u << part->to.part[t];
    }
    for (int t = part->to.n; t <= MEMBERS_MAX; t++) q->first[t] = part_sends(part);
    for (int i = 0; i < part->from.n; i++) q->neighbours |= 1u << part->from.part[i];
}

bool pieces_link(struct pieces *p, int k, const struct part *all, int64_t size, struct err *e)
{
    struct piece *q = &p->piece[k];
    q->rows = all[k].inside.rows;
    q->cols = all[k].inside.cols;
    take_neighbours(q, all, &all[k]);
    return put_lists(q, multi_of(p->dev)->member[k], &all[k], size, e);
}

/* ---- memory ---- */

/* Bytes that a part takes on its member. */
static int64_t need_of(const struct piece *q, const struct part *part, int64_t rows_outside, int64_t size)
{
    int64_t words = (int64_t)sizeof(int);
    bool matrix = is_outer_matrix(&part->outside);
    int64_t outside = part->outside.nnz * (words + size) + (2 * rows_outside + 1) * words;
    if (matrix) outside += (part->outside.rows - 2 * rows_outside) * words + part_halo(part) * size;
    return stored_bytes(&q->S) + outside + part_sends(part) * (words + size) + 2 * part_halo(part) * size;
}

/* Members in one memory share what is free there, so the earlier ones among them count, too. */
static int64_t need_together(const struct pieces *p, const int64_t *need, int k)
{
    const struct multi *m = multi_of(p->dev);
    int64_t sum = need[k];
    for (int j = 0; j < k; j++)
        if (multi_one_memory(m->member[j], m->member[k])) sum += need[j];
    return sum;
}

/* Estimate before anything is allocated. */
bool pieces_fit(const struct pieces *p, const struct part *part, const int64_t *rows_outside, int64_t size,
                struct err *e)
{
    const struct multi *m = multi_of(p->dev);
    int64_t need[MEMBERS_MAX], left[MEMBERS_MAX], total, all = 0, least = INT64_MAX;
    for (int k = 0; k < p->n; k++) {
        if (!m->member[k]->ops->memory(m->member[k], &left[k], &total, e)) return false;
        need[k] = need_of(&p->piece[k], &part[k], rows_outside[k], size);
        all += need[k];
        least = left[k] < least ? left[k] : least;
    }
    for (int k = 0; k < p->n; k++) {
        char a[32], b[32], more[64] = "", before[64] = "";
        int64_t together = need_together(p, need, k);
        if (together <= left[k]) continue;
        long long enough = least > 0 ? (long long)(all / least + 1) : 0;
        if (together > need[k])
            snprintf(before, sizeof before, " after %s for the parts before it",
                     show_bytes((double)(together - need[k]), a, sizeof a));
        if (enough > p->n) snprintf(more, sizeof more, "; about %lld such members are enough", enough);
        return fail(e, E_MEMORY, "%s: part %d of %d needs %s on %s, which has %s free%s%s", p->dev->name, k + 1, p->n,
                    show_bytes((double)need[k], a, sizeof a), m->member[k]->name,
                    show_bytes((double)left[k], b, sizeof b), before, more);
    }
    return true;
}

void piece_free(struct piece *q, struct device *d)
{
    void *const own[] = {q->send, q->packed, q->in[0], q->flag, q->ticket, q->count,
                         q->row,  q->ptr,    q->col,   q->val,  q->now};
    for (int i = 0; i < COUNT(own); i++)
        if (own[i]) d->ops->free(d, own[i]);
    if (q->local.dev) mat_free(&q->local);
    if (q->outer.dev) mat_free(&q->outer);
    stored_free(&q->S);
    stored_free(&q->outer_S);
    if (q->lends) csr_free(q->lends);
    if (q->outer_lends) csr_free(q->outer_lends);
    mem_free(q->lends);
    mem_free(q->outer_lends);
}
