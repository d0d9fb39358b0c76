/* A preconditioner for saddle points [F G; B -C], wherever their rows are (matrix/saddle.h). C is 0 unless A is
   symmetric. With S = C + B D^-1 G, where D is the diagonal of F, or a matrix of the user in its place: M = [|F| 0; 0
   |S|] for a solver that needs a positive definite M (Murphy, Golub and Wathen 2000), M = [F G; 0 -S] for others
   (Elman, Silvester and Wathen 2014). F and S are approximated by other preconditioners. Selection matrices put r in
   the order of the blocks, and z back in that of the user. */
#include "amg_factor.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "machine/amg_ops.h"
#include "machine/device.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/saddle.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

static const char who[] = "the preconditioner schur";

/* Indices in v->pre.note. The methods are places in preconds[]. */
enum { NOTE_ROWS, NOTE_INNER, NOTE_COMPLEMENT, NOTE_TRIANGULAR, NOTE_MASS, NOTE_BY_SIGN };

/* A block and its preconditioner, which sees a solve of this block. */
struct part {
    struct csr A;
    struct amg_factor on_device; /* for a preconditioner that multiplies by A */
    struct solve *inner;
};

struct selection {
    struct csr of;
    struct amg_factor on_device;
};

struct schur {
    unsigned char *is_second; /* [n] 1: the row is one of the second block */
    bool by_sign;             /* the diagonal of this block is not 0 */
    int *place;               /* [n] the row's number in its block */
    int64_t n[2];             /* rows of the blocks */
    int64_t second;           /* where the second block begins in r and z */
    bool triangular;
    double sign; /* -1: the diagonal of F is negative, and F stands for -F */
    struct part F, S;
    struct csr B;
    struct selection gather, scatter, G;
    char *r, *z, *q; /* on the device, in one allocation: r and z by blocks, z in the order of the user */
    int64_t bytes;
};

/* ---- the blocks ---- */

/* The entries of A in the rows and columns of two blocks, times `factor`. */
static bool take_block(const struct schur *s, const struct csr *A, int row, int col, double factor, struct csr *out,
                       struct err *e)
{
    int64_t nnz = 0, i = 0;
    struct loop l = loop_of("the blocks of a saddle point", A->rows);
    for (int64_t k = 0; k < A->rows; k++)
        for (int p = A->rowptr[k]; s->is_second[k] == row && p < A->rowptr[k + 1]; p++)
            nnz += s->is_second[A->col[p]] == col;
    if (!csr_new(out, s->n[row], s->n[col], nnz, false, e)) return false;
    nnz = 0;
    for (int64_t k = 0; k < A->rows && loop_goes(&l, k); k++) {
        if (s->is_second[k] != row) continue;
        for (int p = A->rowptr[k]; p < A->rowptr[k + 1]; p++) {
            if (s->is_second[A->col[p]] != col) continue;
            out->col[nnz] = s->place[A->col[p]];
            out->val[nnz++] = factor * A->val[p];
        }
        out->rowptr[++i] = (int)nnz;
    }
    return loop_end(&l, e);
}

static bool check_saddle(const struct saddle *of, int64_t rows, struct err *e)
{
    switch (saddle_lack(of, rows)) {
    case SADDLE_MIXED:
        return fail(
            e, E_NUMERIC,
            "%s needs rows with a zero diagonal and no entries among themselves, but %lld of the %s with a zero "
            "diagonal have some",
            who, (long long)of->mixed, how_many(of->zero, "row").text);
    case SADDLE_EMPTY:
        return fail(e, E_NUMERIC, "%s: %s without a nonzero entry, so the matrix is singular", who,
                    how_many(of->empty, "row").text);
    case SADDLE_MANY:
        return fail(e, E_NUMERIC, "%s: %lld of %lld rows have a zero diagonal, more than half: the matrix is singular",
                    who, (long long)of->zero, (long long)rows);
    case SADDLE_FULL:
        return fail(e, E_NUMERIC,
                    "%s needs rows with a zero diagonal or, if the matrix is symmetric, with both signs on the "
                    "diagonal; use ilu0 or amg",
                    who);
    case SADDLE_LACKS_NOTHING:
        break;
    }
    return true;
}

/* Number the rows of each block in the order of A. */
static bool number_rows(struct schur *s, const struct solve *v, const struct csr *A, struct err *e)
{
    struct saddle of;
    s->is_second = mem_zero(A->rows, sizeof *s->is_second, "the rows of a saddle point", e);
    s->place = s->is_second ? mem_new(A->rows, sizeof *s->place, "the rows of a saddle point", e) : NULL;
    if (!s->place || !saddle_of(A, facts_symmetric(v->matrix.facts, v->matrix.csr), &of, s->is_second, e) ||
        !check_saddle(&of, A->rows, e))
        return false;
    for (int64_t i = 0; i < A->rows; i++) s->place[i] = (int)s->n[s->is_second[i]]++;
    s->by_sign = of.by_sign;
    return true;
}

/* -1 if all entries of the diagonal of F are negative. */
static double sign_of(const struct schur *s, const struct csr *A)
{
    struct loop l = loop_of("the diagonal", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        if (!s->is_second[i] && A->val[csr_find(A, i, i)] > 0) return 1;
    return -1;
}

/* Divide each row of G by the entry of the diagonal of F; by its size if M must be definite. */
static void divide_rows(const struct schur *s, struct csr *G)
{
    struct loop l = loop_of("the diagonal", G->rows);
    for (int64_t i = 0; i < G->rows && loop_goes(&l, i); i++) {
        double d = s->F.A.val[csr_find(&s->F.A, i, i)];
        for (int k = G->rowptr[i]; k < G->rowptr[i + 1]; k++) G->val[k] /= s->triangular ? d : fabs(d);
    }
}

/* An empty row of B, which makes A singular, gets a 1 on the diagonal of S, so that M is regular. */
static bool fill_empty_rows(struct csr *S, struct err *e)
{
    struct csr ones = {0}, sum;
    int64_t n = 0;
    for (int64_t i = 0; i < S->rows; i++) n += S->rowptr[i] == S->rowptr[i + 1];
    if (!n) return true;
    if (!csr_new(&ones, S->rows, S->rows, n, false, e)) return false;
    for (int64_t i = n = 0; i < S->rows; i++) {
        if (S->rowptr[i] == S->rowptr[i + 1]) {
            ones.col[n] = (int)i;
            ones.val[n++] = 1;
        }
        ones.rowptr[i + 1] = (int)n;
    }
    bool ok = csr_sum(&sum, 1, S, 1, &ones, e);
    csr_free(&ones);
    if (!ok) return false;
    csr_free(S);
    *S = sum;
    return true;
}

/* S += C */
static bool add_second(const struct schur *s, const struct csr *A, struct csr *S, struct err *e)
{
    struct csr C = {0}, sum;
    bool ok = take_block(s, A, 1, 1, -s->sign, &C, e) && csr_sum(&sum, 1, S, 1, &C, e);
    csr_free(&C);
    if (!ok) return false;
    csr_free(S);
    *S = sum;
    return true;
}

static bool multiply_blocks(struct schur *s, const struct csr *A, struct err *e)
{
    struct csr G = {0};
    bool ok = csr_copy(&G, &s->G.of, e);
    if (ok) divide_rows(s, &G);
    ok = ok && csr_multiply(&s->S.A, &s->B, &G, e) &&
         (s->by_sign ? add_second(s, A, &s->S.A, e) : fill_empty_rows(&s->S.A, e));
    csr_free(&G);
    return ok;
}

/* The matrix of the user, scaled as A is. */
static bool take_mass(struct schur *s, const struct solve *v, struct err *e)
{
    const struct csr *mass = v->pre.schur.mass;
    if (mass->rows != s->n[1] || mass->cols != s->n[1] || mass->imag)
        return fail(e, E_INPUT, "%s: the mass matrix is %s%lld x %lld, but %lld rows have a zero diagonal", who,
                    mass->imag ? "complex, " : "", (long long)mass->rows, (long long)mass->cols, (long long)s->n[1]);
    return csr_multiple(&s->S.A, ldexp(1, -v->matrix.exponents.a), mass, e);
}

static bool take_blocks(struct schur *s, const struct solve *v, struct err *e)
{
    const struct csr *A = v->system.A;
    if (!number_rows(s, v, A, e)) return false;
    s->sign = sign_of(s, A);
    return take_block(s, A, 0, 0, s->sign, &s->F.A, e) && take_block(s, A, 0, 1, 1, &s->G.of, e) &&
           take_block(s, A, 1, 0, 1, &s->B, e) && (v->pre.schur.mass ? take_mass(s, v, e) : multiply_blocks(s, A, e));
}

/* ---- the preconditioners of the blocks ---- */

/* A solve of the block, as far as preconditioners look at it: of this device, solver and size. amg looks at b for the
   range of numbers only: with a norm of 0, its cycle is in fp64. In fp32, minres needs 204 iterations in place of 163
   on a Stokes problem of 1,679 rows. */
static struct solve *inner_new(const struct solve *v, struct part *p, const struct precond *method, struct err *e)
{
    struct solve *in = mem_zero(1, sizeof *in, "the preconditioner of a block", e);
    if (!in) return NULL;
    in->solver = v->solver;
    in->matrix = (struct solve_matrix){.csr = &p->A, .facts = &in->own_facts, .watch = v->matrix.watch};
    in->system = (struct solve_system){.A = &p->A, .b = v->system.b};
    if (v->solver->flexible) in->system.b_norm = v->system.b_norm;
    in->dev = v->dev;
    in->real = v->real;
    in->precision = v->precision;
    in->n = p->A.rows;
    in->set = v->set;
    in->ops = v->ops;
    in->scalars = v->scalars;
    in->pre.method = method;
    return in;
}

static void free_inner(struct part *p)
{
    if (p->inner) precond_drop(p->inner);
    mem_free(p->inner);
    p->inner = NULL;
    amg_factor_free(&p->on_device);
    p->on_device = (struct amg_factor){0};
}

static bool make_inner(const struct solve *v, struct part *p, const struct precond *method, struct err *e)
{
    p->inner = inner_new(v, p, method, e);
    if (!p->inner) return false;
    if (method->by_products) {
        if (!amg_factor_put(&p->on_device, v->dev, v->real, &p->A, e)) return false;
        p->inner->matrix.mat = &p->on_device.M;
        p->inner->matrix.kernel = p->on_device.kernel;
    }
    facts_symmetric(&p->inner->own_facts, &p->A);
    if (!method->make(p->inner, e)) return false;
    p->inner->pre.made = true;
    return true;
}

/* The methods to try in turn, the first that suits the block and the solver. */
static int methods_for(const struct solve *v, const struct csr *A, const struct precond *given,
                       const struct precond *out[4])
{
    static const char *const diagonal[] = {"jacobi", NULL}, *const symmetric[] = {"amg", "ic0", "jacobi", NULL},
                             *const others[] = {"ilut", "ilu0", "jacobi", NULL};
    struct facts f = {0};
    const char *const *names = A->nnz == A->rows ? diagonal : facts_symmetric(&f, A) ? symmetric : others;
    int n = 0;
    if (given) return out[0] = given, 1;
    for (int i = 0; names[i]; i++)
        if (solver_takes(v->solver, precond_find(names[i]))) out[n++] = precond_find(names[i]);
    return n;
}

static bool make_part(const struct solve *v, struct part *p, const struct precond *given, const char *what,
                      struct err *e)
{
    const struct precond *methods[4];
    int n = methods_for(v, &p->A, given, methods);
    for (int i = 0; i < n; i++) {
        struct err why = {0};
        if (make_inner(v, p, methods[i], &why)) return true;
        free_inner(p);
        bool next = i + 1 < n && (why.code == E_NUMERIC || why.code == E_UNSUPPORTED);
        if (!next) return fail_at(e, why.code, why.where, "%s, %s: %s", who, what, why.text);
    }
    return false;
}

/* ---- the order of the rows ---- */

static bool put(const struct solve *v, struct selection *m, struct err *e)
{
    return amg_factor_put(&m->on_device, v->dev, v->real, &m->of, e);
}

/* r by blocks, in rows of which some between the blocks are empty. */
static bool make_gather(const struct schur *s, int64_t n, struct csr *out, struct err *e)
{
    if (!csr_new(out, s->second + s->n[1], n, n, false, e)) return false;
    for (int64_t i = 0; i < n; i++) out->rowptr[1 + s->place[i] + s->is_second[i] * s->second] = 1;
    for (int64_t i = 0; i < out->rows; i++) out->rowptr[i + 1] += out->rowptr[i];
    for (int64_t i = 0; i < n; i++) {
        int k = out->rowptr[s->place[i] + s->is_second[i] * s->second];
        out->col[k] = (int)i;
        out->val[k] = 1;
    }
    return true;
}

static bool make_scatter(const struct schur *s, int64_t n, struct csr *out, struct err *e)
{
    double first = s->triangular ? s->sign : 1, second = s->triangular ? -s->sign : 1;
    if (!csr_new(out, n, s->second + s->n[1], n, false, e)) return false;
    for (int64_t i = 0; i < n; i++) {
        out->rowptr[i + 1] = (int)i + 1;
        out->col[i] = (int)(s->place[i] + s->is_second[i] * s->second);
        out->val[i] = s->is_second[i] ? second : first;
    }
    return true;
}

static bool put_order(struct schur *s, const struct solve *v, struct err *e)
{
    int64_t size = (int64_t)type_size(v->real), room, user = device_rounded(v->n * size);
    s->second = device_rounded(s->n[0] * size) / size;
    room = device_rounded((s->second + s->n[1]) * size);
    s->r = v->dev->ops->alloc(v->dev, 2 * room + user, "vectors of the blocks", e);
    if (!s->r) return false;
    s->bytes = 2 * room + user;
    s->z = s->r + room;
    s->q = s->z + room;
    return make_gather(s, v->n, &s->gather.of, e) && make_scatter(s, v->n, &s->scatter.of, e) &&
           put(v, &s->gather, e) && put(v, &s->scatter, e) && (!s->triangular || put(v, &s->G, e));
}

/* ---- the preconditioner ---- */

static void free_schur(struct device *d, struct schur *s)
{
    struct selection *const all[] = {&s->gather, &s->scatter, &s->G};
    struct part *const parts[] = {&s->F, &s->S};
    for (int i = 0; i < COUNT(parts); i++) {
        free_inner(parts[i]);
        csr_free(&parts[i]->A);
    }
    for (int i = 0; i < COUNT(all); i++) {
        amg_factor_free(&all[i]->on_device);
        csr_free(&all[i]->of);
    }
    csr_free(&s->B);
    if (s->r) d->ops->free(d, s->r);
    mem_free(s->is_second);
    mem_free(s->place);
    mem_free(s);
}

static int64_t place_of(const struct precond *p)
{
    int64_t i = 0;
    while (preconds[i] != p) i++;
    return i;
}

static void describe(struct solve *v, const struct schur *s)
{
    v->pre.note[NOTE_ROWS] = s->n[1];
    v->pre.note[NOTE_INNER] = place_of(s->F.inner->pre.method);
    v->pre.note[NOTE_COMPLEMENT] = place_of(s->S.inner->pre.method);
    v->pre.note[NOTE_TRIANGULAR] = s->triangular;
    v->pre.note[NOTE_MASS] = v->pre.schur.mass != NULL;
    v->pre.note[NOTE_BY_SIGN] = s->by_sign;
}

static bool make_parts(struct solve *v, struct schur *s, struct err *e)
{
    const struct schur_settings *set = &v->pre.schur;
    const char *what = set->mass ? "for the mass matrix" : "for the Schur complement";
    s->triangular = !v->solver->own_precond;
    return take_blocks(s, v, e) && make_part(v, &s->F, set->inner, "for the block F", e) &&
           make_part(v, &s->S, set->complement ? set->complement : set->inner, what, e) && put_order(s, v, e);
}

/* v->pre.host is set only after all parts are complete, because the screen may show the solve in the meantime. */
static bool make(struct solve *v, struct err *e)
{
    struct schur *s = mem_zero(1, sizeof *s, who, e);
    bool ok = s && make_parts(v, s, e);
    if (ok) {
        describe(v, s);
        v->pre.host = s;
    }
    if (s && !ok) free_schur(v->dev, s);
    return ok;
}

static void drop(struct solve *v)
{
    if (v->pre.host) free_schur(v->dev, v->pre.host);
    v->pre.host = NULL;
}

static bool apply_part(const struct part *p, const void *r, void *z, struct err *e)
{
    return p->inner->pre.method->apply(p->inner, r, z, e);
}

/* Products have an effect even if the solve is done, so the result is copied to z by a pass. */
static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    struct schur *s = v->pre.host;
    int64_t second = s->second * (int64_t)type_size(v->real);
    if (!amg_factor_multiply(&s->gather.on_device, 1, r, 0, s->r, e) ||
        !apply_part(&s->S, s->r + second, s->z + second, e) ||
        (s->triangular && !amg_factor_multiply(&s->G.on_device, s->sign, s->z + second, 1, s->r, e)) ||
        !apply_part(&s->F, s->r, s->z, e) || !amg_factor_multiply(&s->scatter.on_device, 1, s->z, 0, s->q, e))
        return false;
    amg_ops_of(v->dev, v->real)->scale(v->dev, v->n, v->scalars, 1, s->q, z);
    return true;
}

static bool restore_part(const struct part *p, struct err *e)
{
    const struct precond *method = p->inner->pre.method;
    return !method->restore || method->restore(p->inner, e);
}

static bool restore(struct solve *v, struct err *e)
{
    const struct schur *s = v->pre.host;
    return restore_part(&s->F, e) && restore_part(&s->S, e);
}

/* ---- figures ---- */

static double bytes(const struct solve *v)
{
    const struct schur *s = v->pre.host;
    double vector = (double)type_size(v->real) * (double)v->n;
    if (!s) return 2 * vector;
    double sum = s->F.inner->pre.method->bytes(s->F.inner) + s->S.inner->pre.method->bytes(s->S.inner);
    return sum + amg_factor_bytes(&s->gather.on_device) + amg_factor_bytes(&s->scatter.on_device) +
           amg_factor_bytes(&s->G.on_device) + 6 * vector;
}

static int64_t held_part(const struct part *p)
{
    return precond_held(p->inner) + amg_factor_held(&p->on_device);
}

static int64_t held(const struct solve *v)
{
    const struct schur *s = v->pre.host;
    if (!s) return 0;
    return s->bytes + held_part(&s->F) + held_part(&s->S) + amg_factor_held(&s->gather.on_device) +
           amg_factor_held(&s->scatter.on_device) + amg_factor_held(&s->G.on_device);
}

static void note(const struct solve *v, char *out, size_t size)
{
    const int64_t *number = v->pre.note;
    *out = 0;
    if (number[NOTE_ROWS])
        snprintf(
            out, size, "%s, %s with a %s; %s for the others, %s for %s",
            number[NOTE_TRIANGULAR] ? "block triangular" : "block diagonal", how_many(number[NOTE_ROWS], "row").text,
            number[NOTE_BY_SIGN] ? "diagonal of the other sign" : "zero diagonal", preconds[number[NOTE_INNER]]->name,
            preconds[number[NOTE_COMPLEMENT]]->name, number[NOTE_MASS] ? "the mass matrix" : "the Schur complement");
}

const struct precond precond_schur = {
    .name = "schur",
    .aliases = "fieldsplit saddle",
    .about =
        "for saddle points: other preconditioners for the block with a diagonal and for the Schur complement of the "
        "zero block",
    .source = "Murphy, Golub and Wathen 2000; Elman, Silvester and Wathen 2014",
    .needs = "a real saddle point: rows with a zero diagonal and no entries among themselves, or, if A is symmetric, a "
             "diagonal of both signs",
    .symmetric = true, /* for a solver that needs it */
    .saddle = true,
    .long_apply = true,
    .by_products = true,
    .inexact = true,
    .making = 250,
    .make = make,
    .apply = apply,
    .restore = restore,
    .drop = drop,
    .bytes = bytes,
    .held = held,
    .note = note,
    .peers = {.petsc = "-pc_type fieldsplit -pc_fieldsplit_detect_saddle_point -pc_fieldsplit_type schur "
                       "-pc_fieldsplit_schur_precondition selfp"},
};
