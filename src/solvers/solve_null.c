/* The null space of a singular A in a solve: it is projected out of b, so that there is an x, out of the vectors of the
   iteration, so that rounding errors in it do not grow, and out of x, which is then the x of least norm. */
#include "base/err.h"
#include "base/mem.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/facts.h"
#include "solve.h"
#include "solve_state.h"

#include <string.h>

/* If no more than this share of b is left, b is in the left null space, and the rest is rounding errors. */
static const double NOTHING_LEFT = 1e-12;

static const struct csr *matrix_of(const struct solve *v)
{
    return v->scaling.of ? v->scaling.of : v->matrix.csr;
}

/* ---- the vectors ---- */

static bool is_symmetric(struct solve *v)
{
    return !v->scaling.of && facts_symmetric(v->matrix.facts, v->matrix.csr);
}

static bool find_constants(struct solve *v, bool required, struct err *e)
{
    const struct csr *A = matrix_of(v);
    int64_t known = -1;
    if (!v->scaling.of && !facts_null_constants(v->matrix.facts, A, &known, e)) return false;
    if (known != 0 && !null_constants(&v->null.of, A, is_symmetric(v), e)) return false;
    if (v->null.of.right.count || !required) return true;
    return fail(e, E_USAGE,
                "%s does not map constants to 0: in no connected component do all rows sum to 0; `nullspace FILE` "
                "takes other vectors",
                v->matrix.name);
}

static bool find(struct solve *v, const struct solve_options *o, struct err *e)
{
    v->null.choice = o->null;
    if (o->null == NULL_NOTHING) return true;
    if (o->null == NULL_GIVEN)
        return null_given(&v->null.of, matrix_of(v), is_symmetric(v), o->null_vectors, o->null_columns, o->null_from,
                          e);
    return find_constants(v, o->null == NULL_CONSTANTS, e);
}

/* ---- b and the known solution ---- */

static bool project_b(struct solve *v, struct err *e)
{
    const struct null_basis *left = null_space_left(&v->null.of);
    double before = norm2(v->n, v->b), part;
    if (!left || !(before > 0)) return true;
    if (!null_basis_project(left, v->b, &part, e)) return false;
    v->null.share = part / before;
    if (norm2(v->n, v->b) <= NOTHING_LEFT * before) memset(v->b, 0, (size_t)v->n * sizeof *v->b);
    return true;
}

/* The solution that the solve can find is the known one without its part in the null space. */
static bool project_truth(struct solve *v, struct err *e)
{
    struct solve_result *r = &v->result;
    if (!r->known) return true;
    if (!r->truth) {
        r->truth = mem_new(v->n, sizeof *r->truth, "the known solution", e);
        for (int64_t i = 0; r->truth && i < v->n; i++) r->truth[i] = 1;
        r->truth_from = "ones";
    }
    r->up_to_constant = false;
    return r->truth && null_basis_project(&v->null.of.right, r->truth, NULL, e);
}

bool null_begin(struct solve *v, const struct solve_options *o, struct err *e)
{
    if (!find(v, o, e)) return false;
    return !v->null.of.right.count || (project_b(v, e) && project_truth(v, e));
}

/* ---- on the device ---- */

/* Vector j of a basis, as one of the system that the solver iterates on: A n = 0 becomes R A C (C^-1 n) = 0, and
   y' A = 0 becomes (R^-1 y)' R A C = 0. */
static void vector_inside(const struct solve *v, const struct null_basis *b, bool left, int64_t j, double *x)
{
    const struct solve_scaling *by = &v->scaling;
    null_basis_vector(b, j, x);
    if (by->of && left) scaling_map_b(by, false, !by->row, x);
    if (by->of && !left) scaling_map_x(by, false, true, x);
}

static bool put_basis(struct solve *v, const struct null_basis *b, bool left, void **to, struct err *e)
{
    double *full = mem_new(b->count * v->n, sizeof *full, "the null space", e);
    for (int64_t j = 0; full && j < b->count; j++) vector_inside(v, b, left, j, full + j * v->n);
    if (full) null_orthonormalise(v->n, b->count, full);
    *to = full ? solve_room(v, b->count, type_size(v->real), "the null space", e) : NULL;
    bool ok = *to != NULL;
    for (int64_t j = 0; ok && j < b->count; j++) ok = solve_put(v, null_vector(v, *to, j), full + j * v->n, e);
    mem_free(full);
    return ok;
}

bool null_put(struct solve *v, struct err *e)
{
    struct solve_null *s = &v->null;
    s->iterated = false;
    const struct null_basis *right = &s->of.right, *left = null_space_left(&s->of);
    if (!right->count || right->count > NULL_ON_DEVICE) return true;
    if (!put_basis(v, right, false, &s->right, e)) return false;
    s->on_device = right->count;
    s->iterated = true;
    if (left == right && !v->scaling.row)
        s->left = s->right;
    else if (left && !put_basis(v, left, true, &s->left, e))
        return false;
    return true;
}

void null_leave(struct solve *v)
{
    null_release(v);
    v->null.iterated = false;
}

/* Without memory, x keeps its part in the null space. */
void null_project_x(const struct solve *v, double *x)
{
    null_basis_project(&v->null.of.right, x, NULL, NULL);
}
