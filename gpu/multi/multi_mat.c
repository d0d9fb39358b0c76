/* A matrix on a device with members: its rows are divided, and each member gets its rows, packed in the format of the
   matrix as far as their columns are its own. The other entries are kept by rows, with the columns of the halo. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_csr64.h"
#include "formats/format.h"
#include "machine/vector_pitch.h"
#include "matrix/csr.h"
#include "matrix/row_source.h"
#include "multi.h"
#include "parts/part.h"

#include <string.h>

static const char *chosen_way = "bytes";

void split_by(const char *way)
{
    chosen_way = way_find(way)->name;
}

/* ---- the entries of a stored matrix by rows ---- */

/* S as rows. `own` says whether out owns its arrays: those of a csr or csr64 in fp64 are used as they are. */
static bool rows_of(const struct stored *S, struct csr *out, bool *own, struct err *e)
{
    bool wide = S->format == &format_csr64;
    *own = (S->format != &format_csr && !wide) || S->real != P_F64;
    if (*own) return format_unpack(S, out, e);
    *out = (struct csr){.rows = S->rows, .cols = S->cols, .nnz = S->nnz};
    if (wide) out->rowptr64 = S->a[CSR64_PTR].data;
    if (!wide) out->rowptr = S->a[CSR_PTR].data;
    out->col = S->a[wide ? +CSR64_COL : +CSR_COL].data;
    out->val = S->a[wide ? +CSR64_VAL : +CSR_VAL].data;
    return true;
}

/* Members of different kinds share the nonzeros in proportion to their bandwidth, which is measured once. The emulator
   has none: then the shares are equal. */
static bool shares_of(const struct device *d, double *share, struct err *e)
{
    const struct multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++) {
        struct device *of = m->member[k];
        if (d->kind != DEV_EMU && !of->ceilings.measured && !device_ceilings(of, loop_watch(), e)) return false;
        share[k] = of->ceilings.measured ? of->ceilings.read_gbs : 1;
    }
    return true;
}

static bool divide(const struct device *d, const struct csr *A, struct partition *P, struct err *e)
{
    const struct multi *m = multi_of(d);
    double share[MEMBERS_MAX];
    if (m->mixed) return shares_of(d, share, e) && partition_shares(P, A, m->n, share, e);
    return partition_new(P, way_find(chosen_way), A, m->n, loop_watch(), e);
}

/* ---- one member ---- */

/* The rows of `outside` that have entries: their numbers, and where their entries begin. */
static bool list_rows(const struct csr *outside, struct piece *q, int **row, int **ptr, struct err *e)
{
    *row = mem_new(outside->rows, sizeof **row, "the rows with outer entries", e);
    *ptr = *row ? mem_new(outside->rows + 1, sizeof **ptr, "the rows with outer entries", e) : NULL;
    if (!*ptr) return false;
    (*ptr)[0] = 0;
    struct loop l = loop_of("rows with outer entries", outside->rows);
    for (int64_t i = 0; i < outside->rows && loop_goes(&l, i); i++) {
        int64_t end = csr_start(outside, i + 1);
        if (csr_start(outside, i) == end) continue;
        (*row)[q->out_rows++] = (int)i;
        (*ptr)[q->out_rows] = (int)end;
    }
    return loop_end(&l, e);
}

static int64_t rows_with_entries(const struct csr *outside)
{
    int64_t n = 0;
    struct loop l = loop_of("rows with outer entries", outside->rows);
    for (int64_t i = 0; i < outside->rows && loop_goes(&l, i); i++) n += csr_row_length(outside, i) > 0;
    return n;
}

/* The outer entries' values in the type of the vectors. */
static void *values_of(const struct csr *outside, enum type type, struct err *e)
{
    struct array a = {.type = type, .n = outside->nnz};
    a.data = mem_new(a.n, type_size(type), "outer entries", e);
    if (a.data) put_values(&a, outside);
    return a.data;
}

static bool put_outer_matrix(struct piece *q, struct device *d, struct csr *outside, enum type type, struct err *e)
{
    return format_pack(outside, outer_format(outside), NULL, precision_of_type(type), true, &q->outer_S, e) &&
           mat_put(&q->outer, &q->outer_S, d, e) && outer_matrix_new(q, d, outside, type, e);
}

static bool put_outside(struct piece *q, struct device *d, struct csr *outside, enum type type, struct err *e)
{
    int *row = NULL, *ptr = NULL;
    static const char what[] = "the entries in columns of other members";
    q->out_nnz = outside->nnz;
    if (!outside_allowed(d, q->out_nnz, e)) return false;
    void *val = list_rows(outside, q, &row, &ptr, e) ? values_of(outside, type, e) : NULL;
    int64_t words = (int64_t)sizeof(int), n = outside->nnz;
    bool ok = val && (q->row = put_array(d, row, q->out_rows * words, what, &q->bytes, e)) &&
              (q->ptr = put_array(d, ptr, (q->out_rows + 1) * words, what, &q->bytes, e)) &&
              (q->col = put_array(d, outside->col, n * words, what, &q->bytes, e)) &&
              (q->val = put_array(d, val, n * (int64_t)type_size(type), what, &q->bytes, e));
    mem_free(row);
    mem_free(ptr);
    mem_free(val);
    return ok;
}

/* Pack the inner entries with the parameters of the whole matrix or, if the format refuses them for a part, with its
   own defaults. */
static bool pack_inside(struct piece *q, const struct csr *inside, const struct stored *S, struct err *e)
{
    struct err why = {0};
    if (inside->nnz == 0) return true;
    if (format_pack(inside, S->format, S->param, S->real, true, &q->S, &why)) return true;
    if (why.code == E_CANCELLED || why.code == E_MEMORY) return fail_at(e, why.code, why.where, "%s", why.text);
    return format_pack(inside, S->format, NULL, S->real, true, &q->S, e);
}

/* The arrays of a large part are those of A (format.of_large), which *lends keeps if launches read them there;
   otherwise they were copied. */
static bool keep_lent(struct stored *S, struct csr **lends, struct csr *A, const struct device *d, struct err *e)
{
    bool lent = false;
    for (int k = 0; k < S->narrays; k++) lent |= S->a[k].lent;
    for (int k = 0; k < S->narrays && !d->ops->plain; k++)
        if (S->a[k].lent) S->a[k].data = NULL;
    if (!lent || !d->ops->plain) return true;
    if (!(*lends = mem_new(1, sizeof **lends, "the parts of a matrix", e))) return false;
    **lends = *A;
    *A = (struct csr){0};
    return true;
}

/* ---- the whole ---- */

static bool put_piece(struct pieces *p, int k, struct part *all, enum type type, struct err *e)
{
    struct piece *q = &p->piece[k];
    struct device *d = multi_of(p->dev)->member[k];
    if (q->S.format && !mat_put(&q->local, &q->S, d, e)) return false;
    q->bytes += stored_bytes(&q->S);
    return pieces_link(p, k, all, (int64_t)type_size(type), e) &&
           (is_outer_matrix(&all[k].outside) ? put_outer_matrix : put_outside)(q, d, &all[k].outside, type, e);
}

/* Flags go both ways between two members if items go one way: a member that has the flag of its neighbours may
   overwrite the halo that they read two products ago. */
static void pair_neighbours(struct pieces *p)
{
    for (int a = 0; a < p->n; a++)
        for (int b = 0; b < p->n; b++)
            if (p->piece[a].neighbours >> b & 1) p->piece[b].neighbours |= 1u << a;
}

static bool put_all(struct pieces *p, const struct csr *A, const struct stored *S, struct err *e)
{
    enum type type = precisions[S->real].vector;
    struct part *part = parts_extract(A, &p->P, e);
    int64_t rows_outside[MEMBERS_MAX];
    bool ok = part != NULL;
    for (int k = 0; ok && k < p->n; k++) ok = pack_inside(&p->piece[k], &part[k].inside, S, e);
    for (int k = 0; ok && k < p->n; k++) rows_outside[k] = rows_with_entries(&part[k].outside);
    ok = ok && pieces_fit(p, part, rows_outside, (int64_t)type_size(type), e);
    for (int k = 0; ok && k < p->n; k++) ok = put_piece(p, k, part, type, e);
    for (int k = 0; ok && k < p->n; k++) {
        struct piece *q = &p->piece[k];
        const struct device *on = multi_of(p->dev)->member[k];
        ok = keep_lent(&q->S, &q->lends, &part[k].inside, on, e) &&
             keep_lent(&q->outer_S, &q->outer_lends, &part[k].outside, on, e);
    }
    parts_free(part, p->n);
    return ok;
}

bool pieces_put(struct mat *M, const struct stored *S, struct device *d, struct err *e)
{
    struct csr A = {0};
    bool own = false;
    struct pieces *p = mem_zero(1, sizeof *p, "the parts of a matrix", e);
    *M = (struct mat){.of = S, .dev = d, .pieces = p};
    if (!p) return false;
    p->dev = d;
    p->n = multi_of(d)->n;
    bool ok = multi_start(d, e) && (S->made ? row_source_count(S->made->source, e) : rows_of(S, &A, &own, e)) &&
              divide(d, S->made ? S->made : &A, &p->P, e) && (S->made ? pieces_make(p, S, e) : put_all(p, &A, S, e));
    if (ok) pair_neighbours(p);
    if (own) csr_free(&A);
    M->scratch = ok ? mem_zero(1, sizeof *M->scratch, "a matrix on a device", e) : NULL;
    for (int k = 0; k < p->n; k++) {
        M->copied.bytes += p->piece[k].local.copied.bytes;
        M->copied.us += p->piece[k].local.copied.us;
    }
    multi_note_lost(d);
    if (!M->scratch) mat_free(M);
    return M->scratch != NULL;
}

void pieces_free(struct pieces *p)
{
    if (!p) return;
    for (int k = 0; k < p->n; k++) piece_free(&p->piece[k], multi_of(p->dev)->member[k]);
    partition_free(&p->P);
    mem_free(p);
}

/* ---- vectors ---- */

static void *vectors(const struct mat *M, bool cols, int64_t n, int64_t size, const char *what, struct err *e)
{
    struct device *d = M->dev;
    if (!M->pieces) return d->ops->alloc(d, vectors_bytes(n, (cols ? M->of->cols : M->of->rows) * size), what, e);
    return multi_vectors(d, cols ? M->pieces->P.first_col : M->pieces->P.first, n, size, what, e);
}

void *mat_row_vectors(const struct mat *M, int64_t n, int64_t size, const char *what, struct err *e)
{
    return vectors(M, false, n, size, what, e);
}

void *mat_col_vectors(const struct mat *M, int64_t n, int64_t size, const char *what, struct err *e)
{
    return vectors(M, true, n, size, what, e);
}

/* ---- what the members have ---- */

static int bits_of(unsigned v)
{
    return __builtin_popcount(v);
}

int mat_split(const struct mat *M, struct split_member out[SPLIT_MAX])
{
    const struct pieces *p = M->pieces;
    for (int k = 0; p && k < p->n; k++) {
        const struct piece *q = &p->piece[k];
        out[k] = (struct split_member){.dev = multi_of(p->dev)->member[k],
                                       .rows = q->rows,
                                       .cols = q->cols,
                                       .nnz = q->S.nnz,
                                       .outside = q->out_nnz,
                                       .halo = q->halo,
                                       .sends = q->sends,
                                       .bytes = q->bytes,
                                       .neighbours = bits_of(q->neighbours)};
    }
    return p ? p->n : 0;
}

int64_t mat_halo_bytes(const struct mat *M)
{
    int64_t items = 0;
    for (int k = 0; M->pieces && k < M->pieces->n; k++) items += M->pieces->piece[k].halo;
    return items * (int64_t)type_size(precisions[M->of->real].vector);
}
