/* Solves with known results, and checks of any solve on any device. */
#include "solve_kit.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/gmres_work.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

/* ---- problems ---- */

#define DENSE(n, ...) .problem = {n, n, .a = (const double[]){__VA_ARGS__}}
#define GRID(nx, ny) .problem = {.generator = "poisson2d", .p = {nx, ny}}
#define CONVECTION(nx, ny) .problem = {.upwind = {nx, ny}}
#define B(...)            \
    .b = (const double[]) \
    {                     \
        __VA_ARGS__       \
    }

const struct known_end known_ends[] = {
    {.name = "a diagonal matrix is solved by one sweep",
     .solver = "jacobi",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, -8, 0, 0, 0, 0, 0.5)},
    {.name = "three eigenvalues take cg three steps",
     .solver = "cg",
     .reason = CONVERGED,
     .iterations = 3,
     DENSE(4, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 2)},
    {.name = "one unknown, jacobi", .solver = "jacobi", .reason = CONVERGED, .iterations = 1, DENSE(1, 4)},
    {.name = "one unknown, cg", .solver = "cg", .reason = CONVERGED, .iterations = 1, DENSE(1, 4)},
    {.name = "no unknown, jacobi", .solver = "jacobi", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "no unknown, cg", .solver = "cg", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "b = 0",
     .solver = "cg",
     .reason = CONVERGED,
     .iterations = 0,
     .why = "b = 0",
     DENSE(2, 2, 1, 1, 3),
     B(0, 0)},
    {.name = "cg on a grid", .solver = "cg", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "jacobi on a grid", .solver = "jacobi", .reason = CONVERGED, .iterations = -1, GRID(9, 8)},
    {.name = "convection and diffusion",
     .solver = "jacobi",
     .reason = CONVERGED,
     .iterations = -1,
     DENSE(5, 3, -.5, 0, 0, 0, -2, 3, -.5, 0, 0, 0, -2, 3, -.5, 0, 0, 0, -2, 3, -.5, 0, 0, 0, -2, 3)},
    {.name = "a consistent singular system",
     .solver = "cg",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "an inconsistent singular system, projected",
     .solver = "cg",
     .projects = true,
     .reason = CONVERGED,
     .iterations = 0,
     .why = "b lies in the null space, and the x for the rest of it is 0",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "an inconsistent singular system",
     .solver = "cg",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "not positive definite: p'Ap = 0.00e+00 at iteration 1",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "an indefinite matrix",
     .solver = "cg",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "not positive definite: p'Ap = -2.00e+00 at iteration 1",
     DENSE(2, 1, 0, 0, -3),
     B(1, 1)},
    {.name = "indefinite later on",
     .solver = "cg",
     .reason = BROKE_DOWN,
     .iterations = 1,
     .why = "at iteration 2",
     DENSE(2, 4, 0, 0, -1),
     B(1, 1)},
    {.name = "cg, negative definite",
     .solver = "cg",
     .reason = CONVERGED,
     .iterations = 4,
     DENSE(4, -2, 1, 0, 0, 1, -3, 1, 0, 0, 1, -4, 1, 0, 0, 1, -2)},
    {.name = "cg with jacobi, negative definite",
     .solver = "cg",
     .precond = "jacobi",
     .reason = CONVERGED,
     .iterations = 4,
     DENSE(4, -2, 1, 0, 0, 1, -3, 1, 0, 0, 1, -4, 1, 0, 0, 1, -2)},
    {.name = "cg with ic0, negative definite",
     .solver = "cg",
     .precond = "ic0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, -2, 1, 0, 0, 1, -3, 1, 0, 0, 1, -4, 1, 0, 0, 1, -2)},
    {.name = "cg, a negative diagonal does not make it definite",
     .solver = "cg",
     .reason = BROKE_DOWN,
     .iterations = 1,
     .why = "not negative definite",
     DENSE(2, -1, 3, 3, -2),
     B(1, 0)},
    {.name = "jacobi diverges",
     .solver = "jacobi",
     .reason = DIVERGED,
     .iterations = 15,
     .why = "`force` iterates beyond this limit",
     DENSE(2, 1, 5, 5, 1)},
    {.name = "gmres without an m does not restart too soon",
     .solver = "gmres",
     .reason = CONVERGED,
     .iterations = 10,
     .f64_only = true,
     DENSE(10, 1e6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3,
           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0,
           0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)},
    {.name = "jacobi, a residual that grows by 1e8 and then vanishes",
     .solver = "jacobi",
     .reason = CONVERGED,
     .iterations = 5,
     DENSE(5, 1, 100, 0, 0, 0, 0, 1, 100, 0, 0, 0, 0, 1, 100, 0, 0, 0, 0, 1, 100, 0, 0, 0, 0, 1),
     B(0, 0, 0, 0, 1)},
    {.name = "force goes on",
     .solver = "jacobi",
     .reason = MAX_ITERATIONS,
     .iterations = 12,
     .maxit = 12,
     .force = true,
     .why = "limit of 12 iterations",
     DENSE(2, 1, 5, 5, 1)},
    {.name = "jacobi stands still",
     .solver = "jacobi",
     .reason = STAGNATED,
     .iterations = 1000,
     .why = "1% gained",
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "the limit of iterations",
     .solver = "cg",
     .reason = MAX_ITERATIONS,
     .iterations = 5,
     .maxit = 5,
     .why = "limit of 5 iterations",
     GRID(23, 17)},
    {.name = "no iteration allowed",
     .solver = "jacobi",
     .reason = MAX_ITERATIONS,
     .iterations = 0,
     .maxit = -1,
     GRID(3, 3)},
    {.name = "the change as the stop rule",
     .solver = "jacobi",
     .reason = CONVERGED,
     .iterations = -1,
     .eps = 1e-3,
     .tol = -1,
     .why = "max |x' - x|",
     GRID(9, 8)},
    {.name = "a recursive residual that drifts",
     .solver = "cg",
     .reason = DRIFTED,
     .iterations = -1,
     .tol = 1e-30,
     .why = "the true residual is",
     .f64_only = true,
     GRID(23, 17)},
    {.name = "a zero on the diagonal",
     .solver = "jacobi",
     .error = "row 1 (counted from 0) has no entry there (2 such rows)",
     DENSE(3, 1, 0, 0, 2, 0, 1, 0, 1, 0)},
    {.name = "NaN in A", .solver = "cg", .error = "nan in row 1, column 0", DENSE(2, 1, 2, NAN, 1)},
    {.name = "NaN in A, forced",
     .solver = "cg",
     .force = true,
     .reason = NOT_A_NUMBER,
     .iterations = 0,
     .why = "not a number",
     DENSE(2, 1, 2, NAN, 1),
     B(1, 1)},
    {.name = "infinity in b", .solver = "jacobi", .error = "b has inf in row 1", DENSE(2, 1, 0, 0, 1), B(1, INFINITY)},
    {.name = "half a weight, half the way",
     .solver = "wjacobi",
     .omega = 0.5,
     .tol = 0.2,
     .reason = CONVERGED,
     .iterations = 3,
     DENSE(2, 2, 0, 0, -4),
     B(2, 4)},
    {.name = "wjacobi damps what jacobi cannot",
     .solver = "wjacobi",
     .reason = CONVERGED,
     .iterations = -1,
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "wjacobi, zero on the diagonal",
     .solver = "wjacobi",
     .error = "wjacobi divides by the diagonal, but row 0",
     DENSE(2, 0, 1, 1, 0)},
    {.name = "omega for cg", .solver = "cg", .omega = 0.5, .error = "cg has no omega", GRID(3, 3)},
    {.name = "omega of 2", .solver = "wjacobi", .omega = 2, .error = "above 0 and below 2", GRID(3, 3)},
    {.name = "gs, diagonal",
     .solver = "gs",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, -8, 0, 0, 0, 0, 0.5)},
    {.name = "gs, lower triangle: each row has all it needs",
     .solver = "gs",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(3, 2, 0, 0, 1, 4, 0, -1, 3, 8)},
    {.name = "one unknown, gs", .solver = "gs", .reason = CONVERGED, .iterations = 1, DENSE(1, 4)},
    {.name = "no unknown, gs", .solver = "gs", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "gs on a grid", .solver = "gs", .reason = CONVERGED, .iterations = -1, GRID(9, 8)},
    {.name = "gs, convection", .solver = "gs", .reason = CONVERGED, .iterations = -1, CONVECTION(14, 12)},
    {.name = "gs, singular but consistent: one sweep does",
     .solver = "gs",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "gs, inconsistent",
     .solver = "gs",
     .reason = STAGNATED,
     .iterations = 1000,
     .why = "1% gained",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "gs diverges",
     .solver = "gs",
     .reason = DIVERGED,
     .iterations = 8,
     .why = "Gauss-Seidel is certain to converge",
     DENSE(2, 1, 5, 5, 1)},
    {.name = "gs, forced on",
     .solver = "gs",
     .reason = MAX_ITERATIONS,
     .iterations = 12,
     .maxit = 12,
     .force = true,
     .why = "limit of 12 iterations",
     DENSE(2, 1, 5, 5, 1)},
    {.name = "gs, zero on the diagonal",
     .solver = "gs",
     .error = "gs divides by the diagonal, but row 1 (counted from 0) has no entry there (2 such rows)",
     DENSE(3, 1, 0, 0, 2, 0, 1, 0, 1, 0)},
    {.name = "gs, NaN in A, forced",
     .solver = "gs",
     .force = true,
     .reason = NOT_A_NUMBER,
     .iterations = 0,
     .why = "not a number",
     DENSE(2, 1, 2, NAN, 1),
     B(1, 1)},
    {.name = "gs, the change as the stop rule",
     .solver = "gs",
     .reason = CONVERGED,
     .iterations = -1,
     .eps = 1e-3,
     .tol = -1,
     .why = "max |x' - x|",
     GRID(9, 8)},
    {.name = "gs, no iteration allowed",
     .solver = "gs",
     .reason = MAX_ITERATIONS,
     .iterations = 0,
     .maxit = -1,
     GRID(3, 3)},
    {.name = "omega for gs", .solver = "gs", .omega = 0.5, .error = "gs has no omega", GRID(3, 3)},
    {.name = "sor, half a weight, half the way",
     .solver = "sor",
     .omega = 0.5,
     .tol = 0.2,
     .reason = CONVERGED,
     .iterations = 3,
     DENSE(2, 2, 0, 0, -4),
     B(2, 4)},
    {.name = "sor on a grid", .solver = "sor", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "sor with the omega of the grid",
     .solver = "sor",
     .omega = 1.7,
     .reason = CONVERGED,
     .iterations = -1,
     GRID(23, 17)},
    {.name = "omega of 2, sor", .solver = "sor", .omega = 2, .error = "above 0 and below 2", GRID(3, 3)},
    {.name = "minres: three eigenvalues take three steps",
     .solver = "minres",
     .reason = CONVERGED,
     .iterations = 3,
     DENSE(4, 2, 0, 0, 0, 0, -4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 2)},
    {.name = "one unknown, minres", .solver = "minres", .reason = CONVERGED, .iterations = 1, DENSE(1, -4)},
    {.name = "no unknown, minres", .solver = "minres", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "minres on a grid", .solver = "minres", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "minres, r0.A r0 = 0",
     .solver = "minres",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 0, 2, 2, 0),
     B(1, 0)},
    {.name = "minres, indefinite",
     .solver = "minres",
     .reason = CONVERGED,
     .iterations = 4,
     DENSE(4, 1, 2, 0, 0, 2, -3, 1, 0, 0, 1, 0.5, 4, 0, 0, 4, -2)},
    {.name = "minres, singular but consistent",
     .solver = "minres",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "minres, inconsistent",
     .solver = "minres",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "b is not in its range",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "minres, inconsistent later",
     .solver = "minres",
     .reason = BROKE_DOWN,
     .iterations = 1,
     .why = "A is singular up to rounding",
     DENSE(2, 2, 0, 0, 0),
     B(1, 1)},
    {.name = "minres with a preconditioner that is not positive definite",
     .solver = "minres",
     .precond = "ilu0",
     .no_shift = true,
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "preconditioner ilu0 is not positive definite",
     DENSE(2, 1, 0, 0, -3),
     B(1, 2)},
    {.name = "minres with |a_ii| of a diagonal matrix",
     .solver = "minres",
     .precond = "jacobi",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(4, 3, 0, 0, 0, 0, -5, 0, 0, 0, 0, 7, 0, 0, 0, 0, -2)},
    {.name = "minres, ic0 of a tridiagonal matrix is all of it",
     .solver = "minres",
     .precond = "ic0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "minres, stopped by its limit",
     .solver = "minres",
     .maxit = 9,
     .reason = MAX_ITERATIONS,
     .iterations = 9,
     GRID(23, 17)},
    {.name = "bicgstab, diagonal", .solver = "bicgstab", .reason = CONVERGED, .iterations = 2, DENSE(2, 2, 0, 0, 4)},
    {.name = "one unknown, bicgstab", .solver = "bicgstab", .reason = CONVERGED, .iterations = 1, DENSE(1, -4)},
    {.name = "bicgstab on a grid", .solver = "bicgstab", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "bicgstab, convection", .solver = "bicgstab", .reason = CONVERGED, .iterations = -1, CONVECTION(14, 12)},
    {.name = "bicgstab, indefinite",
     .solver = "bicgstab",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 1, 0, 0, -3),
     B(1, 2)},
    {.name = "r0.A r0 = 0",
     .solver = "bicgstab",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "r0.Ap = 0.00e+00 is 0 up to rounding",
     DENSE(2, 0, 1, -1, 0),
     B(1, 1)},
    {.name = "bicgstab, singular",
     .solver = "bicgstab",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "broke down",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "qmrcgstab, diagonal", .solver = "qmrcgstab", .reason = CONVERGED, .iterations = 2, DENSE(2, 2, 0, 0, 4)},
    {.name = "one unknown, qmrcgstab", .solver = "qmrcgstab", .reason = CONVERGED, .iterations = 1, DENSE(1, -4)},
    {.name = "no unknown, qmrcgstab", .solver = "qmrcgstab", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "qmrcgstab on a grid", .solver = "qmrcgstab", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "qmrcgstab, convection", .solver = "qmrcgstab", .reason = CONVERGED, .iterations = -1, CONVECTION(14, 12)},
    {.name = "qmrcgstab, indefinite",
     .solver = "qmrcgstab",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 1, 0, 0, -3),
     B(1, 2)},
    {.name = "qmrcgstab, r0.A r0 = 0",
     .solver = "qmrcgstab",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "r0.Ap = 0.00e+00 is 0 up to rounding",
     DENSE(2, 0, 1, -1, 0),
     B(1, 1)},
    {.name = "qmrcgstab, inconsistent",
     .solver = "qmrcgstab",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "broke down",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "gmres, diagonal", .solver = "gmres", .reason = CONVERGED, .iterations = 2, DENSE(2, 2, 0, 0, 4)},
    {.name = "one unknown, gmres", .solver = "gmres", .reason = CONVERGED, .iterations = 1, DENSE(1, -4)},
    {.name = "no unknown, gmres", .solver = "gmres", .reason = CONVERGED, .iterations = 0, DENSE(0, 0)},
    {.name = "gmres on a grid", .solver = "gmres", .reason = CONVERGED, .iterations = -1, GRID(23, 17)},
    {.name = "gmres, convection", .solver = "gmres", .reason = CONVERGED, .iterations = -1, CONVECTION(14, 12)},
    {.name = "gmres, in cycles of 7",
     .solver = "gmres",
     .m = 7,
     .reason = CONVERGED,
     .iterations = -1,
     CONVECTION(14, 12)},
    {.name = "gmres in one cycle, more than there are rows",
     .solver = "gmres",
     .m = 99,
     .reason = CONVERGED,
     .iterations = 3,
     DENSE(3, 1, 0, 2, 0, 5, 1, 3, 0, 1)},
    {.name = "gmres gains nothing, then all",
     .solver = "gmres",
     .reason = CONVERGED,
     .iterations = 4,
     DENSE(4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0),
     B(1, 0, 0, 0)},
    {.name = "in shorter cycles it never does",
     .solver = "gmres",
     .m = 3,
     .reason = STAGNATED,
     .iterations = 100,
     DENSE(4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0),
     B(1, 0, 0, 0)},
    {.name = "gmres, indefinite",
     .solver = "gmres",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 1, 0, 0, -3),
     B(1, 2)},
    {.name = "gmres, singular but consistent",
     .solver = "gmres",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(2, 1, -1, -1, 1),
     B(1, -1)},
    {.name = "gmres, inconsistent",
     .solver = "gmres",
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "A is singular",
     DENSE(2, 1, -1, -1, 1),
     B(1, 1)},
    {.name = "gmres, inconsistent later",
     .solver = "gmres",
     .reason = BROKE_DOWN,
     .iterations = 1,
     .why = "A is singular",
     DENSE(2, 2, 0, 0, 0),
     B(1, 1)},
    {.name = "gmres, stopped within a cycle",
     .solver = "gmres",
     .maxit = 9,
     .m = 20,
     .reason = MAX_ITERATIONS,
     .iterations = 9,
     GRID(23, 17)},
    {.name = "m for cg", .solver = "cg", .m = 5, .error = "cg does not restart", GRID(3, 3)},
    {.name = "m too large", .solver = "gmres", .m = 501, .error = "m is 501, but gmres takes 1 to 500", GRID(3, 3)},
    {.name = "m below 1", .solver = "gmres", .m = -1, .error = "m is -1, but gmres takes 1 to 500", GRID(3, 3)},
    {.name = "cg, ilu0 of a tridiagonal matrix is all of it",
     .solver = "cg",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "bicgstab, ilu0 of a tridiagonal matrix is all of it",
     .solver = "bicgstab",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "qmrcgstab, ilu0 of a tridiagonal matrix is all of it",
     .solver = "qmrcgstab",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "gmres, ilu0 of a tridiagonal matrix is all of it",
     .solver = "gmres",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "cg, ic0 of a tridiagonal matrix is all of it",
     .solver = "cg",
     .precond = "ic0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "cg, a block that is the matrix",
     .solver = "cg",
     .precond = "bjacobi",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(4, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2)},
    {.name = "cg, jacobi of a diagonal matrix",
     .solver = "cg",
     .precond = "jacobi",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(3, 2, 0, 0, 0, 4, 0, 0, 0, 8)},
    {.name = "one unknown, bicgstab with ilu0",
     .solver = "bicgstab",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(1, -4)},
    {.name = "cg with ilu0 on a grid",
     .solver = "cg",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = -1,
     GRID(23, 17)},
    {.name = "cg with ic0 on a grid",
     .solver = "cg",
     .precond = "ic0",
     .reason = CONVERGED,
     .iterations = -1,
     GRID(23, 17)},
    {.name = "cg with blocks of 5 on a grid",
     .solver = "cg",
     .precond = "bjacobi",
     .block = 5,
     .reason = CONVERGED,
     .iterations = -1,
     GRID(23, 17)},
    {.name = "bicgstab with ilu0, convection",
     .solver = "bicgstab",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = -1,
     CONVECTION(14, 12)},
    {.name = "qmrcgstab with ilu0, convection",
     .solver = "qmrcgstab",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = -1,
     CONVECTION(14, 12)},
    {.name = "gmres with ilu0, convection",
     .solver = "gmres",
     .precond = "ilu0",
     .reason = CONVERGED,
     .iterations = -1,
     CONVECTION(14, 12)},
    {.name = "gmres with blocks, convection",
     .solver = "gmres",
     .precond = "bjacobi",
     .reason = CONVERGED,
     .iterations = -1,
     CONVECTION(14, 12)},
    {.name = "ic0 whose pivots need more on the diagonal",
     .solver = "cg",
     .precond = "ic0",
     .reason = CONVERGED,
     .iterations = -1,
     DENSE(4, 3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3)},
    {.name = "cg with a preconditioner that is not positive definite",
     .solver = "cg",
     .precond = "ilu0",
     .no_shift = true,
     .reason = BROKE_DOWN,
     .iterations = 0,
     .why = "preconditioner ilu0 is not positive definite",
     DENSE(2, 1, 0, 0, -3),
     B(1, 2)},
    {.name = "ilu0, zero pivot",
     .solver = "gmres",
     .precond = "ilu0",
     .no_shift = true,
     .error = "ilu0: zero pivot in row 1",
     DENSE(2, 1, 1, 1, 1)},
    {.name = "ic0, not symmetric",
     .solver = "gmres",
     .precond = "ic0",
     .error = "ic0 needs a symmetric matrix",
     DENSE(2, 1, 1, 0, 1)},
    {.name = "bjacobi, singular block",
     .solver = "gmres",
     .precond = "bjacobi",
     .error = "rows 0 to 1 (counted from 0) is singular",
     DENSE(2, 1, 1, 1, 1)},
    {.name = "blocks of 33",
     .solver = "gmres",
     .precond = "bjacobi",
     .block = 33,
     .error = "block is 33, but blocks must have 1 to 32 rows",
     GRID(3, 3)},
    {.name = "gs with a preconditioner",
     .solver = "gs",
     .precond = "ilu0",
     .error = "gs takes no preconditioner",
     GRID(3, 3)},
    {.name = "sor with a preconditioner",
     .solver = "sor",
     .precond = "ilu0",
     .error = "sor takes no preconditioner",
     GRID(3, 3)},
    {.name = "jacobi with a preconditioner",
     .solver = "jacobi",
     .precond = "ilu0",
     .error = "jacobi takes no preconditioner",
     GRID(3, 3)},
    {.name = "not square",
     .solver = "cg",
     .error = "2 rows and 3 columns",
     .problem = {2, 3, .a = (const double[]){1, 2, 3, 4, 5, 6}}},
    {.name = "eps for cg", .solver = "cg", .eps = 1e-3, .error = "use tol instead", GRID(3, 3)},
    {.name = "a tol that no precision reaches",
     .solver = "cg",
     .tol = 1e-150,
     .error = "below what",
     DENSE(1, 1),
     B(1)},
    {.name = "numbers whose squares are none",
     .solver = "cg",
     .reason = CONVERGED,
     .iterations = 1,
     DENSE(1, 1),
     B(1e30)},
    {.name = "gmres, numbers whose squares overflow",
     .solver = "gmres",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 2e30, -1e30, -1e30, 3e30),
     B(1e-30, 2e-30)},
    {.name = "bicgstab, numbers whose squares underflow",
     .solver = "bicgstab",
     .reason = CONVERGED,
     .iterations = 2,
     DENSE(2, 2e-30, 1e-30, -1e-30, 3e-30),
     B(3e-30, 2e-30)},
    {0},
};

/* ---- a session with one matrix ---- */

static bool make_dense(const struct problem *p, struct csr *A, struct err *e)
{
    int size = p->rows * p->cols, n = 0;
    int *row = mem_new(size, sizeof *row, "rows", e), *col = mem_new(size, sizeof *col, "columns", e);
    double *val = mem_new(size, sizeof *val, "values", e);
    for (int i = 0; i < size; i++) {
        if (p->a[i] == 0) continue;
        row[n] = i / p->cols;
        col[n] = i % p->cols;
        val[n++] = p->a[i];
    }
    bool ok = csr_from_triplets(A, p->rows, p->cols, n, row, col, val, NULL, NULL, e);
    mem_free(row);
    mem_free(col);
    mem_free(val);
    return ok;
}

/* Convection with velocity (20, 5), discretised by upwind differences, and diffusion with coefficient 1, on an nx by ny
   grid. The matrix is diagonally dominant but not symmetric. */
static bool make_upwind(const int *size, struct csr *A, struct err *e)
{
    static const double to_west = -21, to_east = -1, to_south = -6, to_north = -1, own = 29;
    int nx = size[0], n = 0, rows = nx * size[1], row[1024], col[1024];
    double val[1024];
    for (int i = 0; i < rows; i++) {
        const struct {
            bool inside;
            int col;
            double val;
        } near[] = {{i >= nx, i - nx, to_south},
                    {i % nx > 0, i - 1, to_west},
                    {true, i, own},
                    {i % nx < nx - 1, i + 1, to_east},
                    {i + nx < rows, i + nx, to_north}};
        for (int k = 0; k < COUNT(near); k++) {
            if (!near[k].inside) continue;
            row[n] = i;
            col[n] = near[k].col;
            val[n++] = near[k].val;
        }
    }
    return csr_from_triplets(A, rows, rows, n, row, col, val, NULL, NULL, e);
}

static bool make_problem(const struct problem *p, struct csr *A, struct err *e)
{
    if (p->generator) return generator_find(p->generator)->make(p->p, 1, NULL, A, e);
    return p->upwind[0] ? make_upwind(p->upwind, A, e) : make_dense(p, A, e);
}

void bed_make(struct bed *bed, const struct problem *p)
{
    struct err e = {0};
    struct csr A = {0};
    struct load_info info = {.file = "case"};
    bed->data = tmpfile();
    bed->messages = tmpfile();
    assert_true(session_new(&bed->s, bed->data, bed->messages, OUT_TEXT, &e));
    if (!make_problem(p, &A, &e)) fail_msg("%s", e.text);
    assert_true(session_add(&bed->s, NULL, &A, &info, &e));
}

void bed_free(struct bed *bed)
{
    session_free(&bed->s);
    fclose(bed->data);
    fclose(bed->messages);
}

/* The right-hand side: b, or A * ones if b is NULL. The caller frees it. */
static double *right_side(const struct csr *A, const double *b)
{
    double *ones = mem_new(A->cols, sizeof *ones, "ones", NULL), *out = mem_new(A->rows, sizeof *out, "b", NULL);
    for (int64_t i = 0; i < A->cols; i++) ones[i] = 1;
    if (b)
        memcpy(out, b, (size_t)A->rows * sizeof *b);
    else
        reference_spmv(A, 1, ones, 0, out, P_F64, NULL);
    mem_free(ones);
    return out;
}

static bool try_begin(struct bed *bed, struct solve_options o, const char *device, struct err *e)
{
    const struct csr *A = &bed->s.current->csr;
    double *b = right_side(A, o.b);
    o.known_ones = !o.b;
    o.b = b;
    o.dev = device_open(device, e);
    bool ok = o.dev && session_solve(&bed->s.solve, &bed->s, bed->s.current, &o, e);
    mem_free(b);
    return ok;
}

static void run_to_end(struct solve *v, double us)
{
    struct err e = {0};
    while (v->reason == RUNNING)
        if (!solve_slice(v, us, &e)) fail_msg("%s", e.text);
    if (!solve_end(v, &e)) fail_msg("%s", e.text);
}

static void free_solve(struct bed *bed)
{
    solve_free(bed->s.solve);
    bed->s.solve = NULL;
}

void bed_solve(struct bed *bed, struct solve_options o, const char *device, double us)
{
    struct err e = {0};
    free_solve(bed);
    if (!try_begin(bed, o, device, &e)) fail_msg("%s", e.text);
    run_to_end(bed->s.solve, us);
}

bool takes_definite(const struct solver *s, const struct precond *pre)
{
    return solver_takes(s, pre) && !pre->saddle;
}

/* ---- known ends ---- */

static struct solve_options options_of(const struct known_end *k, enum precision real)
{
    double tol_default = real == P_F32 ? 1e-5 : 1e-9;
    return (struct solve_options){
        .solver = solver_find(k->solver),
        .real = real,
        .b = k->b,
        .tol = k->tol > 0   ? k->tol
               : k->tol < 0 ? 0
                            : tol_default,
        .eps = k->eps,
        .maxit = k->maxit > 0   ? k->maxit
                 : k->maxit < 0 ? 0
                                : 5000,
        .force = k->force,
        .omega = k->omega,
        .m = k->m,
        .pre = k->precond ? precond_find(k->precond) : NULL,
        .pre_block = k->block,
        .triangles.shift.set = k->no_shift,
        .null = k->projects ? NULL_FOUND : NULL_NOTHING,
    };
}

static void check_end(const struct known_end *k, const struct solve *v, enum precision real)
{
    double close = real == P_F32 ? 1e-3 : 1e-6;
    if (v->reason != k->reason) fail_msg("%s: ended with: %s", k->name, v->why);
    if (k->iterations >= 0 && v->iterations != k->iterations)
        fail_msg("%s: %lld iterations", k->name, (long long)v->iterations);
    if (k->why && !strstr(v->why, k->why)) fail_msg("%s: %s", k->name, v->why);
    if (v->reason == MAX_ITERATIONS && isfinite(v->result.residual_true))
        assert_true(fabs(v->result.residual_true - v->residual) <= close * v->residual);
    if (k->reason != CONVERGED) return;
    if (v->result.known && k->eps == 0 && !(v->result.error_known < close))
        fail_msg("%s: error %g", k->name, v->result.error_known);
    assert_true(v->result.residual_true <= 2 * v->set.tol || k->eps > 0);
    assert_true(v->history.residual[v->iterations] == v->residual);
}

/* The same end with launches that do many iterations, if the device and the preconditioner allow such launches. */
static void check_end_of_one_launch(const struct known_end *k, struct bed *bed, struct solve_options o,
                                    const char *device)
{
    struct err e = {0};
    o.launches = LAUNCHES_ONE;
    free_solve(bed);
    if (try_begin(bed, o, device, &e)) {
        run_to_end(bed->s.solve, 2e4);
        check_end(k, bed->s.solve, o.real);
    } else if (!strstr(e.text, "launches one: ")) {
        fail_msg("%s: %s", k->name, e.text);
    }
}

static void check_known_end(const struct known_end *k, const char *device, enum precision real)
{
    struct bed bed;
    struct err e = {0};
    struct solve_options o = options_of(k, real);
    bed_make(&bed, &k->problem);
    if (k->error) {
        if (try_begin(&bed, o, device, &e)) fail_msg("%s: not refused", k->name);
        if (!strstr(e.text, k->error)) fail_msg("%s: %s", k->name, e.text);
    } else {
        bed_solve(&bed, o, device, 2e4);
        check_end(k, bed.s.solve, real);
        if (o.solver->steps) check_end_of_one_launch(k, &bed, o, device);
    }
    bed_free(&bed);
}

void check_known_ends(const char *device, enum precision real)
{
    for (const struct known_end *k = known_ends; k->name; k++)
        if (real == P_F64 || !k->f64_only) check_known_end(k, device, real);
}

/* ---- invariants of any solve ---- */

static double *copy_of(const double *x, int64_t n)
{
    double *y = mem_new(n, sizeof *y, "a copy", NULL);
    memcpy(y, x, (size_t)n * sizeof *y);
    return y;
}

static void check_same_bits(struct bed *bed, const struct solve_options *o, const char *device)
{
    static const double slices[] = {0, 1e9, 1e9, 200};
    const struct solve *v;
    bed_solve(bed, *o, device, slices[0]);
    v = bed->s.solve;
    double *x = copy_of(v->result.x, v->n), *hist = copy_of(v->history.residual, v->iterations + 1);
    int64_t iterations = v->iterations;
    assert_int_equal(v->reason, CONVERGED);
    assert_int_equal(v->schedule.queued, iterations);
    for (int i = 1; i < COUNT(slices); i++) {
        bed_solve(bed, *o, device, slices[i]);
        v = bed->s.solve;
        assert_int_equal(v->iterations, iterations);
        assert_memory_equal(v->result.x, x, (size_t)v->n * sizeof *x);
        assert_memory_equal(v->history.residual, hist, (size_t)(iterations + 1) * sizeof *hist);
        /* a GPU is ahead of the host; on the host, single iterations end with the solve */
        if (i == 1 && v->dev->ops->idle) assert_true(v->schedule.queued > iterations);
    }
    mem_free(x);
    mem_free(hist);
}

void check_frozen(const char *device, enum precision real)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {9, 7}};
    struct solve_options o = {.real = real, .tol = 1e-4, .maxit = 100000};
    for (int i = 0; solvers[i]; i++) {
        struct bed bed;
        bed_make(&bed, &grid);
        o.solver = solvers[i];
        check_same_bits(&bed, &o, device);
        o.form_matrix = solvers[i]->form_bytes != NULL;
        if (o.form_matrix) check_same_bits(&bed, &o, device);
        o.form_matrix = false;
        bed_free(&bed);
    }
}

/* ---- the matrix form of Jacobi ---- */

/* The number of formats in which the matrix form was compared with the update form. */
static int compare_forms(struct bed *bed, struct solve_options o, const char *device)
{
    double rounding = o.real == P_F32 ? 2e-5 : 4e-14;
    int done = 0;
    bed_solve(bed, o, device, 1e9);
    const struct solve *v = bed->s.solve;
    int64_t n = v->n, iterations = v->iterations;
    double *x = copy_of(v->result.x, n), *hist = copy_of(v->history.residual, iterations + 1);
    o.form_matrix = true;
    for (int i = -1; i < 0 || formats[i]; i++) {
        o.format = i < 0 ? NULL : formats[i];
        if (o.format && !kernel_default(o.format, NULL, device_open(device, NULL))) continue;
        bed_solve(bed, o, device, 1e9);
        v = bed->s.solve;
        assert_string_equal(v->matrix.kernel->format->name, o.format ? o.format->name : "vab");
        assert_int_equal(v->iterations, iterations);
        for (int64_t k = 0; k < n; k++) assert_true(fabs(v->result.x[k] - x[k]) <= rounding * (1 + fabs(x[k])));
        for (int64_t k = 0; k <= iterations; k++)
            assert_true(fabs(v->history.residual[k] - hist[k]) <= rounding * (1 + hist[k]));
        assert_true(fabs(v->result.residual_true - v->residual) <= rounding * (1 + v->residual));
        assert_true(solve_bytes(v) > 0 && solve_memory(v) > 0);
        done++;
    }
    mem_free(x);
    mem_free(hist);
    return done;
}

void check_forms(const char *device, enum precision real)
{
    static const double dense[] = {4, -1, 0, 2, 5, 1, 0, 0.5, -3};
    static const struct problem problems[] = {
        {.generator = "poisson2d", .p = {19, 14}}, {.generator = "poisson3d", .p = {6, 5, 7}},
        {.generator = "circuit", .p = {200, 4}},   {.upwind = {9, 8}},
        {.rows = 3, .cols = 3, .a = dense},
    };
    struct err e = {0};
    for (int i = 0; solvers[i]; i++) {
        struct solve_options o = {.solver = solvers[i], .real = real, .maxit = 10};
        for (int k = 0; k < COUNT(problems) && solvers[i]->form_bytes; k++) {
            struct bed bed;
            bed_make(&bed, &problems[k]);
            assert_true(compare_forms(&bed, o, device) > 2);
            bed_free(&bed);
        }
        static const double zero[] = {2, 1, 0, 1, 0, 1, 0, 1, 2};
        struct bed bed;
        bed_make(&bed, &(struct problem){.rows = 3, .cols = 3, .a = zero});
        o.form_matrix = true;
        assert_false(try_begin(&bed, o, device, &e));
        const char *says =
            solvers[i]->form_bytes ? "row 1 (counted from 0) has no entry there" : "`form matrix` is for";
        if (!strstr(e.text, says)) fail_msg("%s: %s", solvers[i]->name, e.text);
        err_clear(&e);
        bed_free(&bed);
    }
}

/* ---- launches of many iterations ---- */

static void compare_launches(struct bed *bed, struct solve_options o, const char *device)
{
    enum { COMPARED = 8 };
    double close = o.real == P_F32 ? 1e-3 : 1e-9, before[COMPARED];
    o.launches = LAUNCHES_MANY;
    o.kernel = kernel_find("csr-stream"); /* which adds the products of a row in the same order */
    bed_solve(bed, o, device, 1e9);
    o.kernel = NULL;
    int64_t iterations = bed->s.solve->iterations;
    assert_false(cluster_used(bed->s.solve));
    int compared = iterations < COMPARED ? (int)iterations : COMPARED;
    memcpy(before, bed->s.solve->history.residual, (size_t)compared * sizeof *before);
    o.launches = LAUNCHES_ONE;
    check_same_bits(bed, &o, device);
    const struct solve *v = bed->s.solve;
    assert_true(cluster_used(v) && llabs(v->iterations - iterations) <= 1);
    assert_true(v->result.residual_true <= 2 * o.tol);
    for (int i = 0; i < compared; i++)
        if (!(fabs(v->history.residual[i] - before[i]) <= close * before[i]))
            fail_msg("%s on %s: residual %g in one launch, %g in many, at iteration %d", o.solver->name, device,
                     v->history.residual[i], before[i], i);
}

/* A symmetric matrix, diagonally dominant, two rows of which are full, and more rows next to each other are long than a
   block has room to list. The caller frees it. */
static double *long_rows(int n)
{
    double *a = mem_zero((int64_t)n * n, sizeof *a, "a matrix", NULL);
    assert_non_null(a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            bool full = j == 3 || i == n / 2, is_long = i >= 220 && i < 280 && (i - j) % 4 == 0;
            if (full || is_long || i - j == 1) a[(int64_t)i * n + j] = a[(int64_t)j * n + i] = -0.1 - 0.01 * (j % 7);
        }
    for (int i = 0; i < n; i++) {
        double sum = 1;
        for (int j = 0; j < n; j++) sum += fabs(a[(int64_t)i * n + j]);
        a[(int64_t)i * n + i] = sum;
    }
    return a;
}

static void check_refused_launches(const char *device, struct solve_options o, const char *says)
{
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {700, 200}});
    o.launches = LAUNCHES_ONE;
    assert_false(try_begin(&bed, o, device, &e));
    if (!strstr(e.text, says)) fail_msg("%s: %s", o.solver->name, e.text);
    bed_free(&bed);
}

void check_clusters(const char *device, enum precision real)
{
    enum { LONG = 450 };
    double *a = long_rows(LONG);
    /* short rows, rows that have several threads each, and rows that are taken to pieces */
    const struct problem problems[] = {
        {.generator = "poisson2d", .p = {23, 19}},
        {.generator = "fem", .p = {9, 8}},
        {.generator = "poisson2d", .p = {40, 1}},
        {.rows = LONG, .cols = LONG, .a = a},
    };
    for (int i = 0; solvers[i]; i++) {
        bool slow = solvers[i]->diff; /* a stationary method converges slowly on a grid */
        struct solve_options o = {.solver = solvers[i],
                                  .real = real,
                                  .maxit = 1000,
                                  .tol = slow            ? 0.05
                                         : real == P_F32 ? 1e-4
                                                         : 1e-9};
        for (int k = 0; k < COUNT(problems) && o.solver->steps; k++) {
            struct bed bed;
            bed_make(&bed, &problems[k]);
            compare_launches(&bed, o, device);
            o.pre = precond_find("jacobi");
            if (cluster_takes_diagonal(o.solver)) compare_launches(&bed, o, device);
            o.pre = NULL;
            bed_free(&bed);
        }
        check_refused_launches(device, o, o.solver->steps ? "of shared memory in each of" : "no such launch");
    }
    mem_free(a);
}

void check_formats(const char *device, enum precision real)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {12, 11}};
    struct solve_options o = {.real = real, .tol = 1e-5, .maxit = 1000, .solver = solver_find("cg")};
    struct bed bed;
    int done = 0;
    bed_make(&bed, &grid);
    for (int i = 0; formats[i]; i++) {
        o.format = formats[i];
        if (!kernel_default(formats[i], NULL, device_open(device, NULL))) continue;
        bed_solve(&bed, o, device, 2e4);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
        assert_string_equal(bed.s.solve->matrix.mat->of->format->name, formats[i]->name);
        done++;
    }
    assert_true(done > 0);
    bed_free(&bed);
}

/* gmres multiplies by every kernel. 143 rows: there are gaps between the columns of its basis. */
/* Does the library in use lack the function of this kernel, so that every solve with it is refused? */
static bool library_lacks(struct bed *bed, const struct solve_options *o, const char *device)
{
    struct err e = {0};
    bool lacks = o->kernel->vendor && !try_begin(bed, *o, device, &e) && e.code == E_UNSUPPORTED &&
                 strstr(e.text, " has no SpMV");
    if (lacks) printf("skip %s: %s\n", o->kernel->name, e.text);
    free_solve(bed);
    return lacks;
}

void check_kernels(const char *device, enum precision real)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {12, 11}};
    struct solve_options o = {.real = real, .tol = 1e-5, .maxit = 1000, .m = 8, .solver = solver_find("gmres")};
    const struct device *d = device_open(device, NULL);
    struct bed bed;
    int done = 0;
    bed_make(&bed, &grid);
    for (int i = 0; d && kernels[i]; i++) {
        if (!kernel_runs_on(kernels[i], d) || kernels[i]->param) continue; /* a solve uses the default parameters */
        o.kernel = kernels[i];
        if (library_lacks(&bed, &o, device)) continue;
        bed_solve(&bed, o, device, 2e4);
        if (bed.s.solve->reason != CONVERGED) fail_msg("%s: %s", kernels[i]->name, bed.s.solve->why);
        assert_ptr_equal(bed.s.solve->matrix.kernel, kernels[i]);
        done++;
    }
    assert_true(done > 0);
    bed_free(&bed);
}

/* The number of iterations for which two devices agree: the number is smaller for solvers that divide by sums, because
   rounding errors grow faster. */
static int64_t agreeing(const struct solver *s)
{
    static const struct {
        const char *name;
        int64_t iterations;
    } few[] = {{"bicgstab", 12}, {"qmrcgstab", 12}};
    for (int i = 0; i < COUNT(few); i++)
        if (!strcmp(few[i].name, s->name)) return few[i].iterations;
    return 40;
}

/* The device cpu processes the rows of Gauss-Seidel in a different order. */
static bool comparable(const struct solver *s, const char *one, const char *other)
{
    return !strcmp(one, "cpu") == !strcmp(other, "cpu") || (strcmp(s->name, "gs") != 0 && strcmp(s->name, "sor") != 0);
}

/* Compare x after this many iterations, ignoring the stopping rule: the devices differ only in the order of their sums.
 */
void check_agreement(const char *one, const char *other, enum precision real)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {41, 33}};
    double close = real == P_F32 ? 1e-4 : 1e-12;
    struct solve_options o = {.real = real};
    for (int i = 0; solvers[i]; i++) {
        struct bed bed;
        o.solver = solvers[i];
        if (!comparable(o.solver, one, other)) continue;
        o.maxit = agreeing(o.solver);
        bed_make(&bed, &grid);
        bed_solve(&bed, o, one, 1e9);
        double *x = copy_of(bed.s.solve->result.x, bed.s.solve->n);
        bed_solve(&bed, o, other, 1e9);
        assert_int_equal(bed.s.solve->iterations, o.maxit);
        for (int64_t k = 0; k < bed.s.solve->n; k++) assert_true(fabs(bed.s.solve->result.x[k] - x[k]) < close);
        mem_free(x);
        bed_free(&bed);
    }
}

/* ---- sums that the host adds ---- */

/* Sums that are added in another order change the iterates only by rounding. */
static void compare_host_sums(struct bed *bed, struct solve_options o, const char *device)
{
    double close = o.real == P_F32 ? 1e-4 : 1e-11;
    o.maxit = agreeing(o.solver) / 2;
    bed_solve(bed, o, device, 1e9);
    double *x = copy_of(bed->s.solve->result.x, bed->s.solve->n);
    o.sums_host = true;
    bed_solve(bed, o, device, 1e9);
    const struct solve *v = bed->s.solve;
    assert_int_equal(v->iterations, o.maxit);
    for (int64_t k = 0; k < v->n; k++)
        if (!(fabs(v->result.x[k] - x[k]) < close)) fail_msg("%s: x[%lld]", v->solver->name, (long long)k);
    assert_true(fabs(v->result.residual_true - v->residual) <= close * (1 + v->residual));
    assert_int_equal(v->dev->sums.users, 0);
    assert_null(v->dev->sums.host);
    mem_free(x);
}

void check_host_sums(const char *device, enum precision real)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {23, 17}};
    for (int i = 0; solvers[i]; i++)
        for (int way = 0; way < 3; way++) {
            struct bed bed;
            struct solve_options o = {.solver = solvers[i], .real = real, .m = solvers[i]->restarts ? 7 : 0};
            o.modified = way == 1 && solvers[i]->arnoldi;
            o.form_matrix = way == 1 && solvers[i]->form_bytes;
            o.pre = way == 2 ? precond_find(solvers[i]->least_squares ? "columns" : "jacobi") : NULL;
            if (o.pre && !solver_takes(solvers[i], o.pre)) o.pre = NULL;
            if (way && !o.modified && !o.form_matrix && !o.pre) continue;
            bed_make(&bed, &grid);
            compare_host_sums(&bed, o, device);
            bed_free(&bed);
        }
}

/* ---- vector operations ---- */

enum { FREE = SCALARS - 3 }; /* the first of three scalars that no operation here uses */

struct vectors {
    struct device *d;
    const struct vec_ops *ops;
    enum type type;
    bool host_sums;
    int64_t n;
    double *host[3]; /* a, b, and the result */
    void *dev[3];
    double *s;
};

static void put(struct vectors *t, int k)
{
    float *f = mem_new(t->n, sizeof *f, "floats", NULL);
    for (int64_t i = 0; i < t->n; i++) f[i] = (float)t->host[k][i];
    const void *from = t->type == T_F32 ? (const void *)f : t->host[k];
    assert_true(t->d->ops->put(t->d, t->dev[k], from, t->n * (int64_t)type_size(t->type), NULL));
    mem_free(f);
}

static void get(struct vectors *t, int k)
{
    double *to = t->host[2];
    assert_true(t->d->ops->get(t->d, to, t->dev[k], t->n * (int64_t)type_size(t->type), NULL));
    assert_true(t->d->ops->sync(t->d, NULL));
    for (int64_t i = t->n - 1; i >= 0 && t->type == T_F32; i--) to[i] = (double)((const float *)to)[i];
}

/* With host_sums, the host adds the sums of thread blocks. */
static void vectors_make(struct vectors *t, const char *device, enum type type, int64_t n, bool host_sums)
{
    struct err e = {0};
    uint64_t state = 5;
    t->d = device_open(device, &e);
    if (!t->d) fail_msg("%s", e.text);
    t->ops = (host_sums ? vec_ops_host_sums : vec_ops_of)(t->d, type);
    t->host_sums = host_sums;
    assert_true(device_sums_take(t->d, VEC_SUMS, &e));
    t->type = type;
    t->n = n;
    for (int k = 0; k < 3; k++) {
        t->host[k] = mem_new(n, sizeof(double), "a vector", &e);
        t->dev[k] = t->d->ops->alloc(t->d, n * (int64_t)sizeof(double), "a vector", &e);
        for (int64_t i = 0; i < n; i++) t->host[k][i] = (double)(float)random_unit(&state);
        put(t, k);
    }
    double s[VEC_WORK] = {[FREE] = 3, [S_ALPHA] = 0.5};
    t->s = t->d->ops->alloc(t->d, sizeof s, "scalars", &e);
    assert_true(t->d->ops->put(t->d, t->s, s, sizeof s, &e));
}

static void vectors_free(struct vectors *t)
{
    for (int k = 0; k < 3; k++) {
        mem_free(t->host[k]);
        t->d->ops->free(t->d, t->dev[k]);
    }
    t->d->ops->free(t->d, t->s);
    device_sums_give(t->d);
}

static double scalar(struct vectors *t, int k)
{
    double s[SCALARS];
    assert_true(t->d->ops->get(t->d, s, t->s, sizeof s, NULL) && t->d->ops->sync(t->d, NULL));
    return s[k];
}

enum operation { COPY, ZERO, AXPY, XPBY, MUL, OPERATIONS };

static double expected(enum operation op, double a, double b)
{
    return op == COPY ? a : op == ZERO ? 0 : op == AXPY ? b - 3 * a : op == XPBY ? a + 3 * b : a * b;
}

static void launch(struct vectors *t, enum operation op)
{
    if (op == COPY) t->ops->copy(t->d, t->n, t->dev[0], t->dev[2]);
    if (op == ZERO) t->ops->zero(t->d, t->n, t->dev[2]);
    if (op == AXPY) t->ops->axpy(t->d, t->n, t->s, FREE, -1, t->dev[0], t->dev[1]);
    if (op == XPBY) t->ops->xpby(t->d, t->n, t->s, t->dev[0], FREE, t->dev[1]);
    if (op == MUL) t->ops->mul(t->d, t->n, t->s, t->dev[0], t->dev[1], t->dev[2]);
}

static void check_operation(struct vectors *t, enum operation op)
{
    double eps = t->type == T_F32 ? 1e-6 : 1e-15;
    put(t, 1);
    launch(t, op);
    get(t, op == AXPY || op == XPBY ? 1 : 2);
    for (int64_t i = 0; i < t->n; i++)
        assert_true(fabs(t->host[2][i] - expected(op, t->host[0][i], t->host[1][i])) <= 4 * eps);
}

/* Sum in double precision, so that sums of floats also agree with the host's sums. */
static void check_dot(struct vectors *t)
{
    double sum = 0, size = 0;
    put(t, 1);
    for (int64_t i = 0; i < t->n; i++) {
        sum += t->host[0][i] * t->host[1][i];
        size += fabs(t->host[0][i] * t->host[1][i]);
    }
    t->ops->dot(t->d, t->n, t->s, t->dev[0], t->dev[1], FREE + 1);
    double first = scalar(t, FREE + 1);
    assert_true(fabs(first - sum) <= 1e-14 * size);
    t->ops->dot(t->d, t->n, t->s, t->dev[0], t->dev[1], FREE + 1);
    assert_true(scalar(t, FREE + 1) == first);
    t->ops->div(t->d, t->s, FREE + 2, FREE + 1, S_ALPHA);
    assert_true(scalar(t, FREE + 2) == first / 0.5);
}

/* Run a pass on the vectors; c holds its arguments. */
static void run(struct vectors *t, const struct passes *of, const char *name, struct pass_call c)
{
    struct err e = {0};
    c.d = t->d;
    c.type = t->type;
    c.sums = t->host_sums ? SUMS_BY_HOST : SUMS_BY_DEVICE;
    c.n = t->n;
    c.s = t->s;
    if (!pass_run(of, name, &c, &e)) fail_msg("%s", e.text);
}
#define RUN(t, of, name, ...) run(t, &passes_##of, #name, (struct pass_call){__VA_ARGS__})

static void check_bicg_guard(struct vectors *t)
{
    void *a = t->dev[0], *b = t->dev[1];
    RUN(t, bicgstab, begin, VECTORS(a, a, b, b, b));
    RUN(t, bicgstab, alpha, VECTORS(a, a));
    RUN(t, bicgstab, half, VECTORS(a, b));
    RUN(t, bicgstab, omega, VECTORS(a, a));
    RUN(t, bicgstab, update, VECTORS(a, a, a, b, b));
    RUN(t, bicgstab, direction, VECTORS(a, a, b));
    RUN(t, qmrcgstab, begin, VECTORS(a, b, b, b));
    RUN(t, qmrcgstab, residual, VECTORS(a, a, b));
    RUN(t, qmrcgstab, update, VECTORS(a, a, a, b, b, b, b, b));
}

static void check_cg_guard(struct vectors *t)
{
    void *a = t->dev[0], *b = t->dev[1];
    for (int k = 0; k < 2; k++) {
        RUN(t, cg, dots, VECTORS(a, a, a, k ? a : NULL));
        RUN(t, cg, step, VECTORS(a, k ? a : NULL, b, b, b));
    }
    RUN(t, cg, update, VECTORS(a, a, b, b));
    RUN(t, cg, rho, VECTORS(a, a));
    RUN(t, cg, direction, VECTORS(a, b));
}

/* One step of cg from r and p, with q = p in place of A p; returns the resulting scalars. */
static void cg_step(struct vectors *t, void *r, void *p, void *x, double careful, double out[SCALARS])
{
    double s[VEC_WORK] = {[S_CAREFUL] = careful, [S_ONE] = 1};
    put(t, 0);
    put(t, 1);
    assert_true(t->d->ops->put(t->d, t->s, s, sizeof s, NULL));
    t->ops->copy(t->d, t->n, p, t->dev[2]);
    t->ops->dot(t->d, t->n, t->s, r, r, S_RR);
    RUN(t, cg, dots, VECTORS(p, t->dev[2], r, NULL));
    RUN(t, cg, step, VECTORS(t->dev[2], NULL, r, p, x));
    assert_true(t->d->ops->get(t->d, out, t->s, SCALARS * sizeof *out, NULL) && t->d->ops->sync(t->d, NULL));
}

/* If r.q differs from p.q, a step of cg detects that its predicted residual norm is wrong; from then on, its
   predictions are right. */
static void check_cg_careful(struct vectors *t)
{
    double s[SCALARS], rr = 0, eps = t->type == T_F32 ? 1e-5 : 1e-12;
    void *x = t->d->ops->alloc(t->d, t->n * (int64_t)sizeof(double), "x", NULL);
    for (int64_t i = 0; i < t->n; i++) rr += t->host[0][i] * t->host[0][i];
    t->ops->copy(t->d, t->n, t->dev[0], x);
    cg_step(t, t->dev[0], t->dev[1], x, 0, s);
    assert_true(s[S_CAREFUL] == 1 && s[S_RQ] == 0);
    cg_step(t, t->dev[0], t->dev[1], x, 1, s);
    assert_true(s[S_CAREFUL] == 1 && fabs(s[S_BETA] * rr - s[S_RR]) <= eps * (rr + s[S_RR]));
    t->d->ops->free(t->d, x);
}

static void check_gmres_guard(struct vectors *t)
{
    void *a = t->dev[0], *b = t->dev[1];
    double *w = t->d->ops->alloc(t->d, GMRES_WORK(2) * (int64_t)sizeof *w, "a work space", NULL);
    RUN(t, gmres, dots, VECTORS(w, a, a), NUMBERS(2, 0, 1, GM_H));
    RUN(t, gmres, subtract, VECTORS(w, a, b), NUMBERS(2, 0, 1, GM_H, true));
    RUN(t, gmres, column, VECTORS(w), NUMBERS(2, 1, true));
    RUN(t, gmres, solve, VECTORS(w), NUMBERS(2));
    RUN(t, gmres, add, VECTORS(w, a, b), NUMBERS(2));
    RUN(t, gmres, residual, VECTORS(w, a, b), NUMBERS(2));
    RUN(t, gmres, scale, VECTORS(a, b));
    assert_true(t->d->ops->sync(t->d, NULL));
    t->d->ops->free(t->d, w);
}

/* Nothing is written after `done` is set. */
static void check_guard(struct vectors *t)
{
    double done = CONVERGED;
    put(t, 1);
    assert_true(t->d->ops->put(t->d, t->s + S_DONE, &done, sizeof done, NULL));
    double before = scalar(t, FREE + 1);
    launch(t, AXPY);
    launch(t, XPBY);
    t->ops->dot(t->d, t->n, t->s, t->dev[0], t->dev[0], FREE + 1);
    t->ops->probe(t->d, t->n, t->s, t->dev[0], t->dev[1]);
    t->ops->jacobi(t->d, t->n, t->s, t->dev[0], t->dev[0], t->dev[0], t->dev[0], t->dev[1]);
    t->ops->record(t->d, t->s);
    check_cg_guard(t);
    check_bicg_guard(t);
    check_gmres_guard(t);
    assert_true(scalar(t, FREE + 1) == before && scalar(t, S_ITER) == 0 && scalar(t, S_RHO) == 0 &&
                scalar(t, S_COLUMNS) == 0 && scalar(t, S_PQ) == 0 && scalar(t, S_TRUE) == 0);
    get(t, 1);
    for (int64_t i = 0; i < t->n; i++) assert_true(t->host[2][i] == t->host[1][i]);
}

/* Some kernels compute the sums of cg together with y = A x. Check that these sums equal the sums computed here from
   the vectors. If `careful` is 0, the kernel reports 0 for the dot product of r and q. With a diagonal, the products of
   r and q with q are those of the diagonal. */
static void check_sums_of(const struct kernel *k, enum precision precision, const struct csr *A, struct vectors *t,
                          double careful, bool diagonal)
{
    struct stored S = {0};
    struct mat M = {0};
    struct err e = {0};
    double s[VEC_WORK] = {[S_CAREFUL] = careful}, pq = 0, rq = 0, qq = 0, all = 0,
           eps = t->type == T_F32 ? 1e-5 : 1e-12;
    if (!format_pack(A, k->format, k->param, precision, false, &S, &e) || !mat_put(&M, &S, t->d, &e))
        fail_msg("%s: %s", k->name, e.text);
    struct launch L = {.A = &M, .alpha = 1, .x = t->dev[0], .y = t->dev[2], .s = t->s, .r = t->dev[1]};
    if (diagonal) L.dinv = t->dev[0];
    assert_true(t->d->ops->put(t->d, t->s, s, sizeof s, NULL) && kernel_launch(k, &L, &e));
    get(t, 2);
    for (int64_t i = 0; i < t->n; i++) {
        double weight = diagonal ? t->host[0][i] : 1;
        pq += t->host[0][i] * t->host[2][i];
        rq += weight * t->host[1][i] * t->host[2][i];
        qq += weight * t->host[2][i] * t->host[2][i];
        all += t->host[2][i] * t->host[2][i];
    }
    if (!(fabs(scalar(t, S_PQ) - pq) <= eps * all) || !(fabs(scalar(t, S_RQ) - careful * rq) <= eps * all) ||
        !(fabs(scalar(t, S_QQ) - qq) <= eps * all))
        fail_msg("%s in %s on %s%s: the sums of cg are wrong", k->name, precisions[precision].name, t->d->name,
                 diagonal ? " with a diagonal" : "");
    mat_free(&M);
    stored_free(&S);
}

void check_cg_sums(const char *device, enum precision real)
{
    struct csr A = {0};
    struct vectors t;
    int64_t p[PARAMS_MAX] = {37, 23};
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, NULL));
    vectors_make(&t, device, precisions[real].vector, A.rows, false);
    for (int i = 0; kernels[i]; i++)
        for (int k = 0; named_precisions[k]; k++) {
            enum precision precision = named_precisions[k]->index;
            bool has = precisions[precision].vector == precisions[real].vector && kernel_sums(kernels[i], precision) &&
                       kernel_runs_on(kernels[i], t.d);
            for (int c = 0; has && c < 4; c++) check_sums_of(kernels[i], precision, &A, &t, c % 2, c / 2);
        }
    vectors_free(&t);
    csr_free(&A);
}

void check_vectors(const char *device, enum precision real)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 5000, 270001};
    int last = !strcmp(device, "emu") ? 1 : 0; /* the longest vector is too slow for the emulator */
    for (int i = 0; i < 2 * (COUNT(sizes) - last); i++) {
        struct vectors t;
        vectors_make(&t, device, precisions[real].vector, sizes[i / 2], i % 2);
        for (enum operation op = 0; op < OPERATIONS; op++) check_operation(&t, op);
        check_dot(&t);
        check_guard(&t);
        if (t.n > 0) check_cg_careful(&t);
        vectors_free(&t);
    }
}
