/* reorder: makes a new matrix, P A P', from a square matrix by permuting its rows and columns. */
#include "base/clock.h"
#include "base/mem.h"
#include "language/args.h"
#include "matrix/reorder.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"

struct moved {
    struct spread before, after;
    double order_us, move_us;
};

/* perm: A->rows items, becomes the ordering */
static bool move(struct csr *out, const struct csr *A, const struct ordering *o, int *perm, struct moved *m,
                 struct watch *w, struct err *e)
{
    double begin = now_us();
    bool ok = reorder_find(o, A, perm, w, e);
    m->order_us = now_us() - begin;
    begin = now_us();
    ok = ok && reorder_apply(out, A, perm, w, e);
    m->move_us = now_us() - begin;
    if (!ok) return false;
    if (spread_of(A, &m->before, e) && spread_of(out, &m->after, e)) return true;
    csr_free(out);
    return false;
}

static void report(struct out *o, const struct matrix *made, const struct matrix *of, const struct ordering *ord,
                   const struct moved *m)
{
    out_record(o);
    out_str(o, "name", "name", made->name);
    out_str(o, "of", "made of", of->name);
    out_str(o, "method", "method", ord->name);
    out_str(o, "about", "which does", ord->about);
    out_str(o, "source", "source", ord->source);
    out_int(o, "rows", "rows", made->csr.rows);
    out_int(o, "nnz", "nonzeros", made->csr.nnz);
    out_int(o, "bandwidth_before", "bandwidth before", m->before.bandwidth);
    out_int(o, "bandwidth", "after", m->after.bandwidth);
    out_int(o, "profile_before", "profile before", m->before.profile);
    out_int(o, "profile", "after", m->after.profile);
    out_time(o, "order_us", "ordered in", m->order_us);
    out_time(o, "move_us", "moved in", m->move_us);
    if (ord->narrows && m->after.bandwidth > m->before.bandwidth)
        out_text(o, "The bandwidth is larger than before; `use %s` returns to the narrower order.", of->name);
}

static bool run_reorder(struct session *s, const struct args *a, struct err *e)
{
    const struct ordering *o = ordering_find(arg(a, "ordering"));
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct moved moved;
    struct csr B = {0};
    int *perm = m ? mem_new(m->csr.rows, sizeof *perm, "an ordering", e) : NULL;
    if (!perm) return false;
    bool ok = move(&B, &m->csr, o, perm, &moved, &s->watch, e);
    struct carried c = {.rows = perm, .cols = perm, .says = "is permuted like the rows, so x of the new matrix is P x"};
    ok = ok && session_add_derived(s, arg(a, "as"), m, o->name, &B, &c, moved.order_us + moved.move_us, e);
    csr_free(&B);
    mem_free(perm);
    if (ok) report(s->out, s->current, m, o, &moved);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field reorder_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"method", F_TEXT, "ordering", .entries = &ordering_registry},
    {"about", F_TEXT, "what it does"},
    {"source", F_TEXT, "where it is published"},
    {"rows", F_COUNT, "rows"},
    {"nnz", F_COUNT, "stored entries"},
    {"bandwidth_before", F_COUNT, "largest |row - column| of an entry of the given matrix"},
    {"bandwidth", F_COUNT, "the same now"},
    {"profile_before", F_COUNT,
     "profile of the given matrix: sum of the distances from the first entry of each row and column to the diagonal"},
    {"profile", F_COUNT, "the same now"},
    {"order_us", F_AMOUNT, "finding the order, in us"},
    {"move_us", F_AMOUNT, "moving the entries, in us"},
    {0},
};
static const struct row_kind row_reorder = {"reorder", "a matrix in another order", reorder_fields};

const struct command command_reorder = {
    .name = "reorder",
    .aliases = "permute",
    .grammar = "ORDERING [MATRIX] [as NAME]",
    .about = "a new matrix: rows and columns in another order",
    .help =
        "rcm (reverse Cuthill-McKee) moves the entries close to the diagonal. blocks puts rows with the same columns\n"
        "side by side, such as the unknowns of a node that are numbered component after component, and orders\n"
        "these groups by rcm. It compares rows of A + A', does not look at the diagonal, and leaves out columns of\n"
        "more than 10 sqrt(rows) rows; if no two rows have the same columns, it gives the order of rcm. degree\n"
        "sorts the rows by their number of neighbours, fewest first. amd (approximate minimum degree) and metis\n"
        "(nested dissection, if libmetis is installed) keep the fill of a Cholesky factor small. fiedler sorts the\n"
        "rows of each connected part by the eigenvector of the second smallest eigenvalue of the graph's\n"
        "Laplacian, which puts neighbours close to each other and halves of the part to its ends; it factors the\n"
        "Laplacian.\n"
        "colours gives each row a colour that none of its neighbours has, and sorts the rows by colour: rows of\n"
        "one colour do not depend on each other in a triangular solve. All methods use the pattern of A + A'\n"
        "and apply the same permutation to rows and columns, P A P', so the matrix must be square. The profile is\n"
        "the sum of the distances from the diagonal to each row's first entry and to each column's first entry.\n"
        "The new matrix becomes the current one, named after the ordering (A-rcm) if no name is given.\n"
        "    reorder rcm A; reorder amd A as B; reorder colours",
    .rows = (const struct row_kind *const[]){&row_reorder, NULL},
    .run = run_reorder,
};
