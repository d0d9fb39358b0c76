/* The table of rules: these facts, so this method. */
#include "rules.h"
#include "base/base.h"
#include "matrix/csr.h"
#include "matrix/facts.h"

enum {
    NOT_FINITE = 1 << 0, /* NaN or inf */
    NO_VALUES = 1 << 1,
    RECTANGULAR = 1 << 2,
    SINGULAR = 1 << 3,
    NEARLY_SINGULAR = 1 << 4, /* to fp64, even equilibrated */
    SYMMETRY_UNKNOWN = 1 << 5,
    SYMMETRIC = 1 << 6, /* if complex: hermitian; up to rounding */
    DEFINITENESS = 7,   /* one bit for each value of enum definiteness begins here */
    NEARLY_SYMMETRIC = 1 << 13,
    NO_DIAGONAL = 1 << 14, /* entries of the diagonal are missing or 0 */
    DOMINANT = 1 << 15,
    FILLABLE = 1 << 16,  /* but an order of the rows fills the diagonal */
    CONSTANTS = 1 << 17, /* are in the null space, and a solve projects them out */
    SADDLE = 1 << 18     /* real (matrix/saddle.h) */
};
#define IS(definite) (SYMMETRIC | 1u << (DEFINITENESS + (definite)))

static unsigned traits_of(const struct facts *f, const struct csr *A)
{
    static const double NEAR = 1e-12;
    enum fact symmetric = fact_symmetric(f);
    return (f->not_finite ? NOT_FINITE : 0u) | (f->no_values && !f->singular ? NO_VALUES : 0u) |
           (A->rows != A->cols ? RECTANGULAR : 0u) | (f->singular ? SINGULAR : 0u) |
           (digits_lost(f->equilibrated) == DIGITS_F64 ? NEARLY_SINGULAR : 0u) |
           (symmetric == FACT_UNKNOWN ? SYMMETRY_UNKNOWN : 0u) | (symmetric == FACT_YES ? IS(f->definite) : 0u) |
           (f->has_skew && f->skew < NEAR && !A->imag ? NEARLY_SYMMETRIC : 0u) | (f->no_diagonal ? NO_DIAGONAL : 0u) |
           (f->strict ? DOMINANT : 0u) | (f->fillable == FACT_YES ? FILLABLE : 0u) |
           (f->null_constants > f->null_rows ? CONSTANTS : 0u) |
           (f->has_saddle && is_saddle(&f->saddle, A->rows) && !A->imag ? SADDLE : 0u);
}

static const char definite[] = "A is symmetric positive definite, and cg makes use of that",
                  minus_definite[] = "A is symmetric negative definite, and cg makes use of that",
                  singular_semidefinite[] = "A is semidefinite, and the constants that it maps to 0 are projected out",
                  semidefinite[] = "for symmetric semidefinite matrices";
const char because_symmetric[] = "for symmetric matrices, definite or not", because_any[] = "for any matrix",
           because_never_grows[] = "its residual never grows within a cycle",
           because_filled[] = "the largest entries become the diagonal, which ilu0 needs",
           because_saddle[] = "A is a saddle point, which schur takes apart";

static const struct rule rules[] = {
    {NOT_FINITE, .verdict = "none, until NaN and inf are removed"},
    {NO_VALUES, .verdict = "not known: the file has no values"},
    {RECTANGULAR, .verdict = "lsqr or lsmr, or `solve direct`: least squares"},
    {CONSTANTS | IS(DEFINITE_SEMI), "cg", "ic0", singular_semidefinite,
     "cg: constants, which A maps to 0, are projected out"},
    {CONSTANTS | IS(DEFINITE_UNDECIDED), "cg", "ic0", singular_semidefinite,
     "cg or minres: constants, which A maps to 0, are projected out"},
    {CONSTANTS | SYMMETRIC, "minres", NULL, because_symmetric,
     "minres: constants, which A maps to 0, are projected out"},
    {CONSTANTS, "gmres", NULL, because_never_grows,
     "gmres or bicgstab: constants, which A maps to 0, are projected out"},
    {SINGULAR, .verdict = "none: A is singular, so x is not unique; lsqr: least squares"},
    {NEARLY_SINGULAR, .verdict = "`solve direct`; x may have no correct digit: nearly singular to fp64"},
    {SYMMETRY_UNKNOWN, .verdict = "not known, because the symmetry is not known"},
    {IS(DEFINITE_POSITIVE), "cg", "ic0", definite, "cg, with precond ic0 or jacobi"},
    {IS(DEFINITE_NEGATIVE), "cg", "ic0", minus_definite, "cg, which solves -A x = -b, with precond ic0 or jacobi"},
    {IS(DEFINITE_SEMI), "cg", "ic0", semidefinite, "cg or minres, if b is in the range of A"},
    {IS(DEFINITE_UNDECIDED), "cg", "ic0", semidefinite, "cg, probably: A is semidefinite to rounding; or minres"},
    {SYMMETRIC | SADDLE, "minres", "schur", because_saddle, "minres, with precond schur: A is a saddle point"},
    {IS(DEFINITE_NOT), "minres", NULL, because_symmetric, "minres; not cg, because A is not positive definite"},
    {SYMMETRIC, "minres", NULL, because_symmetric, "cg if positive definite, which is not proved; otherwise minres"},
    {NEARLY_SYMMETRIC, "bicgstab", "ilu0", because_any, "`symmetrize`, then cg if positive definite"},
    {SADDLE, "gmres", "schur", because_saddle, "gmres, with precond schur or ilut: zeros on the diagonal"},
    {NO_DIAGONAL | FILLABLE, "gmres", NULL, because_never_grows,
     "bicgstab or gmres, with precond ilu0 scaled reorder matching"},
    {NO_DIAGONAL, "gmres", NULL, because_never_grows,
     "gmres or bicgstab, but not with ilu0, which needs a nonzero diagonal"},
    {DOMINANT, "bicgstab", "ilu0", because_any, "bicgstab or gmres; jacobi and gs converge too"},
    {0, "bicgstab", "ilu0", because_any, "bicgstab or gmres, with precond ilu0"},
};

const struct rule *rule_for(const struct facts *f, const struct csr *A)
{
    unsigned has = traits_of(f, A);
    int i = 0;
    while (rules[i].traits & ~has) i++;
    return &rules[i];
}
