/* reorder: makes a new matrix, P A P' or P A Q', from a square matrix by permuting its rows and columns. */
#include "advice/orders.h"
#include "advice/predicted.h"
#include "base/clock.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "microscope/gpu_profile.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"

struct moved {
    struct spread before, after;
    int64_t blocks, largest; /* as in struct moves */
    double order_us, move_us;
};

static bool move(struct csr *out, const struct csr *A, const struct ordering *o, struct moves *to, struct moved *m,
                 struct watch *w, struct err *e)
{
    double begin = now_us();
    bool ok = reorder_moves(o, A, to, w, e);
    m->order_us = now_us() - begin;
    begin = now_us();
    ok = ok && reorder_apply_moves(out, A, to->rows, to->cols, w, e);
    m->move_us = now_us() - begin;
    m->blocks = to->blocks;
    m->largest = to->largest;
    return ok;
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
    bool sides = ord->order_sides;
    out_int_if(o, "diagonal_before", sides ? "nonzero diagonal before" : NULL, sides, m->before.diagonal);
    out_int_if(o, "diagonal", sides ? "after" : NULL, sides, m->after.diagonal);
    out_int_if(o, "blocks", m->blocks ? "diagonal blocks" : NULL, m->blocks, m->blocks);
    out_int_if(o, "largest_block", m->blocks ? "rows of the largest" : NULL, m->blocks, m->largest);
    out_time(o, "order_us", "ordered in", m->order_us);
    out_time(o, "move_us", "moved in", m->move_us);
    if (ord->narrows && m->after.bandwidth > m->before.bandwidth)
        out_text(o, "The bandwidth is larger than before; `use %s` returns to the narrower order.", of->name);
}

static bool stay(const int *cols, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        if (cols[j] != j) return false;
    return true;
}

static const char *effect_on_sides(const int *rows, const int *cols, int64_t n)
{
    if (rows == cols) return "is permuted like the rows, so x of the new matrix is P x";
    return stay(cols, n) ? "is permuted like the rows; x stays the same"
                         : "is permuted like the rows, and x of the new matrix like the columns";
}

/* Add B, which is m in the order by o, to the session as the line says, and print it. Takes ownership of B. */
static bool add_moved(struct session *s, const struct args *a, const struct matrix *m, const struct ordering *o,
                      struct csr *B, const int *rows, const int *cols, struct moved *moved, struct err *e)
{
    struct carried c = {.rows = rows, .cols = cols, .says = effect_on_sides(rows, cols, m->csr.rows)};
    bool ok = spread_of(&m->csr, &moved->before, e) && spread_of(B, &moved->after, e) &&
              session_add_derived(s, arg(a, "as"), m, o->name, B, &c, moved->order_us + moved->move_us, e);
    csr_free(B);
    if (ok) report(s->out, s->current, m, o, moved);
    return ok;
}

static bool reorder_by(struct session *s, const struct args *a, struct matrix *m, const struct ordering *o,
                       struct err *e)
{
    struct moved moved;
    struct csr B = {0};
    struct moves by;
    bool ok = move(&B, &m->csr, o, &by, &moved, &s->watch, e) && add_moved(s, a, m, o, &B, by.rows, by.cols, &moved, e);
    moves_free(&by);
    return ok;
}

/* The best of the orders that were tried becomes the new matrix. If it is that of m, there is none, except a copy that
   the line names. */
static bool keep_best(struct session *s, const struct args *a, struct matrix *m, struct orders_tried *t, struct err *e)
{
    const struct order_tried *best = t->best;
    struct moved moved = {.order_us = best->order_us, .move_us = best->move_us};
    const int *perm = orders_best_perm(t);
    if (best->order) return add_moved(s, a, m, best->order, &t->moved, perm, perm, &moved, e);
    struct csr B = {0};
    struct carried same = {0};
    bool named = arg(a, "as");
    out_text(s->out, "A product is predicted to be the fastest in the order that %s has%s.", m->name,
             named ? ", so the new matrix is a copy" : ": no matrix was made");
    bool ok = !named || (csr_copy(&B, &m->csr, e) && session_add_derived(s, arg(a, "as"), m, "copy", &B, &same, 0, e));
    csr_free(&B);
    return ok;
}

static bool reorder_for_locality(struct session *s, const struct args *a, struct matrix *m, struct err *e)
{
    struct orders_tried tried = {0};
    struct machine g;
    if (!modeled_machine(s, &g, e)) return false;
    bool ok = orders_try(s, m, NULL, P_F64, &g, false, &tried, e);
    if (ok) out_orders_tried(s, m, P_F64, &g, &tried);
    ok = ok && keep_best(s, a, m, &tried, e);
    orders_free(&tried);
    return ok;
}

static bool run_reorder(struct session *s, const struct args *a, struct err *e)
{
    const struct ordering *o = ordering_find(arg(a, "ordering"));
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    return m && (o ? reorder_by(s, a, m, o, e) : reorder_for_locality(s, a, m, e));
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
    {"diagonal_before", F_COUNT | OR_NULL,
     "nonzero entries on the diagonal of the given matrix; null: the order moves rows and columns alike"},
    {"diagonal", F_COUNT | OR_NULL, "the same now"},
    {"blocks", F_COUNT | OR_NULL, "diagonal blocks of the block triangular form; null: the order is another one"},
    {"largest_block", F_COUNT | OR_NULL, "rows of the largest of them"},
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
        "one colour do not depend on each other in a triangular solve. These methods use the pattern of A + A'\n"
        "and apply the same permutation to rows and columns, P A P', so the matrix must be square.\n"
        "matching moves rows only (P A, so x stays the same): the product of the diagonal entries becomes as large as\n"
        "possible, so that ilu0 and jacobi can run on a matrix whose diagonal has zeros. `scale by matching` gives "
        "the\n"
        "scales with which these entries are 1 and all others at most 1. A matrix for which no order fills the\n"
        "diagonal is singular; it is refused with its structural rank. btf moves rows and columns (P A Q') to upper\n"
        "block triangular form: a matching on the diagonal, and as many blocks as possible; `spy` shows them, and a\n"
        "system can be solved block by block, the last one first. Stored zeros count as entries of a block.\n"
        "The profile is\n"
        "the sum of the distances from the diagonal to each row's first entry and to each column's first entry.\n"
        "The new matrix becomes the current one, named after the ordering (A-rcm) if no name is given.\n"
        "locality tries the order as it is, rcm, blocks and metis, predicts the fastest kernel for each on your GPU\n"
        "(or on an H200 if there is none), and applies the best, if it is faster by more than the error of the model,\n"
        "3%. Otherwise no matrix is made, unless you give a name.\n"
        "    reorder rcm A; reorder amd A as B; reorder colours; reorder locality; reorder matching; reorder btf",
    .rows = (const struct row_kind *const[]){&row_reorder, &row_order_tried, NULL},
    .run = run_reorder,
    .sweeps = true,
};
