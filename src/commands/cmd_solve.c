/* solve: solves A x = b by iteration, or directly. */
#include "base/err.h"
#include "cmd_direct.h"
#include "cmd_ranks.h"
#include "files/file.h"
#include "files/load_info.h"
#include "language/args.h"
#include "matrix/reorder.h"
#include "report/fields.h"
#include "report/output_direct.h"
#include "report/output_solve.h"
#include "save_solution.h"
#include "session/command.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/pattern.h"
#include "session/session.h"
#include "solve_choice.h"
#include "solve_line.h"
#include "solve_sides.h"
#include "solvers/solver.h"

/* Host vectors of a solve: b twice, x0, the x and the residual of its end. */
enum { HOST_VECTORS = 5 };

/* A matrix in parts is solved by iteration on its device; everything else needs its entries on the host. */
static bool solvable(const struct matrix *m, const struct args *a, struct err *e)
{
    if (!matrix_in_parts(m)) return true;
    if (on_ranks(a)) return in_parts_refused(m, "ranks read from a file", e);
    if (direct_was_typed(a)) return in_parts_refused(m, "a direct solver factors; `solve cg` iterates", e);
    if (!arg(a, "solver")) return in_parts_refused(m, "`advise solver` looks at; name a solver, such as `solve cg`", e);
    return in_parts_vectors_fit(m, HOST_VECTORS, e);
}

/* In struct solve_options, 0 stands for the default; a user who types it does not mean the default. */
static bool zeros_absent(const struct args *a, struct err *e)
{
    static const struct {
        const char *key, *needs;
    } numbers[] = {{"omega", "a relaxation factor is above 0 and below 2"},
                   {"m", "a cycle has at least 1 iteration"},
                   {"block", "a block has at least 1 row"},
                   {"conlim", "it is at least 1"}};
    for (int i = 0; i < COUNT(numbers); i++)
        if (arg(a, numbers[i].key) && arg_real(a, numbers[i].key, 1) == 0)
            return fail(e, E_USAGE, "%s is 0, but %s; leave it out for the default", numbers[i].key, numbers[i].needs);
    return true;
}

/* `reorder` needs the name of one ordering, and changes what one solver iterates on. */
static bool reorder_suits(const struct args *a, struct err *e)
{
    const char *name = arg(a, "reorder");
    if (!name) return true;
    if (!ordering_find(name))
        return fail(e, E_USAGE, "`solve` needs one ordering; `whatif reorder %s` names the best for products", name);
    return arg(a, "solver") || fail(e, E_USAGE, "`reorder` needs a solver, such as `solve cg reorder %s`", name);
}

/* Solve by the solver that the line names. */
static bool solve_by_name(struct solve_line *l, struct err *e)
{
    if (arg(l->a, "within"))
        return fail(e, E_USAGE, "`within` is for `solve` without a solver; %s ends after maxit iterations",
                    l->o.solver->name);
    if (!save_allowed(l->a, e)) return false;
    return solve_sides(l, e);
}

/* Read the mass matrix that the line names. */
static bool load_mass(struct solve_line *l, struct err *e)
{
    struct load_info info = {0};
    if (!arg(l->a, "mass")) return true;
    if (!file_load(arg(l->a, "mass"), NULL, &l->s->watch, &l->mass, &info, e)) return false;
    l->o.schur.mass = &l->mass;
    return true;
}

static bool iterate(struct solve_line *l, struct err *e)
{
    if (!direct_options_absent(l->a, e) || !zeros_absent(l->a, e) || !reorder_suits(l->a, e)) return false;
    if (!solve_options_of(l->s, l->m, l->a, &l->o, e) || !sides_request_of(l->m, l->a, &l->right, e)) return false;
    if (!load_mass(l, e)) return false;
    return l->o.solver ? solve_by_name(l, e) : solve_by_choice(l, e);
}

static bool solve(struct solve_line *l, struct err *e)
{
    if (on_ranks(l->a)) return solve_on_ranks(l, e);
    if (!ranks_words_absent(l->a, e)) return false;
    return direct_was_typed(l->a) ? solve_direct_typed(l, e) : iterate(l, e);
}

static bool run_solve(struct session *s, const struct args *a, struct err *e)
{
    struct solve_line l = {.s = s, .a = a, .m = session_matrix(s, arg(a, "matrix"), e)};
    if (!l.m || !solvable(l.m, a, e)) return false;
    note_pattern(s, l.m);
    bool ok = solve(&l, e);
    right_sides_free(&l.right.all);
    solve_options_free(&l.o);
    csr_free(&l.mass);
    return ok;
}

const struct command command_solve = {
    .name = "solve",
    .grammar = "[SOLVER] [MATRIX] [on DEVICE] [[using] FORMAT] [[kernel] KERNEL] [[precond] SOLVE_PRECOND] [block N] "
               "[near constant|rigid|adaptive] [coordinates FILE] [vectors N] "
               "[triangles levels|sync-free] [sweeps N] [order ORDER] [shift R] [drop R] [fill N] "
               "[inner PRECOND] [complement PRECOND] [mass FILE] [tol R] "
               "[eps R] "
               "[conlim R] "
               "[omega R] [m N] [orth classical|modified] [sums device|host] [least device|host] [form update|matrix] "
               "[launches one|many] "
               "[maxit N] [refine fp32|fp16|bf16] [b RIGHT_SIDE] "
               "[column N] [x0 GUESS] [seed N] [nullspace NULLSPACE] "
               "[save FILE] [DIRECT] [plan|keep|again] [step] "
               "[scaled] [reorder ORDERING] [view] [force] [f32|f64] [within R] [options WORD]",
    .about = "solve A x = b by iteration, or directly",
    .help =
        "Without a solver, takes the method that `advise solver` would take for this system, and says why. If the\n"
        "solve misses the forecast of its trial threefold, or ends without a solution, the next method takes over;\n"
        "a method without a forecast gives way when its time is over, and goes on later. `within R` ends all of it\n"
        "after R seconds.\n"
        "b is given (the right side in the file of the matrix; the default if the file has one), aones (A * ones, so\n"
        "that the error in x is known; the default otherwise), avaried, ones, random or a file. avaried is A * x with\n"
        "x_i = v_i - mean(v) and v_i = (40503 i (i + 1) / 2 mod 65536) / 65536, i from 0. It is the default if A *\n"
        "ones is 0, as for a Laplacian, or a multiple of ones (up to 0.001 of |A| * ones, root mean square of the\n"
        "rows): with aones, every method would be done at once. x0 is zero, ones, random, given (a guess or x in the\n"
        "file of the matrix) or a file. If b has several columns, they are solved one after another (by `solve\n"
        "direct` with one factorisation; by `batch` together); column selects one, counted from 0.\n"
        "If A is singular because it maps constants to 0, on all of it or on connected components, as a Laplacian\n"
        "without boundary values does, these are projected out of b, of the residuals and of x, which is then the x\n"
        "of least norm. A row without entries, whose column has none, is such a component. A part of b that no x\n"
        "solves is shown. nullspace FILE names other vectors, one per column of a .mtx or .npy file; nullspace\n"
        "constant insists on constants, and nullspace none projects nothing.\n"
        "The solve stops when ||r|| / ||b|| <= tol (default 1e-8, in f32 1e-5) or after\n"
        "maxit iterations (default 10000). With eps, jacobi, wjacobi, gs and sor also stop when max |x' - x| <\n"
        "eps. omega, between 0 and 2, is the relaxation factor of wjacobi and sor (default 2/3 and 1.5). gmres\n"
        "restarts after m iterations (default 0: 30, or more by a short first cycle: the estimate of Liang 2012 from\n"
        "tau, the reduction of the residual, and delta, the entries per row, is printed). gmres orthogonalises by\n"
        "Gram-Schmidt: orth is classical (two passes) or modified. Inner products and norms are added up on the\n"
        "device; with sums host, at most 512 blocks write their sums to host memory, and the host adds them up\n"
        "(as in Liang 2012); with least host, the host solves the small least-squares problem of each cycle, as "
        "there.\n"
        "jacobi and wjacobi iterate x' = x + omega D^-1 (b - A x).\n"
        "With form matrix, they form B = I - omega D^-1 A and f = omega D^-1 b once and iterate x' = B x + f; B is\n"
        "stored in VAB (as in Liang 2012) or as using and kernel say, and the residual shown during the solve is\n"
        "D (x' - x) / omega, which equals b - A x up to rounding. On a GPU of compute capability 9, one launch of cg,\n"
        "minres, bicgstab, gmres (up to its restart), jacobi or wjacobi does many iterations if A and the vectors fit\n"
        "in the shared memory of 16 thread blocks (up to about 250,000 nonzeros), without a preconditioner or, except\n"
        "for minres, with precond jacobi; launches one or many makes this choice (one: also on emu). A kernel that\n"
        "you name is launched in every iteration; one of your own must first multiply A right, unless you say force.\n"
        "lsqr, lsmr and cgls minimise ||b - A x|| for A of any shape, also singular; they multiply by A' as well, and\n"
        "keep it in memory. They stop when ||r|| <= tol (||A|| ||x|| + ||b||): x solves A x = b; or when ||A' r|| <=\n"
        "tol ||A|| ||r||: x is the least-squares solution (Paige and Saunders 1982, with atol = btol = tol; ||A|| is\n"
        "an estimate of the Frobenius norm), or when the estimate of the condition of A reaches conlim (default "
        "4.5e14,\n"
        "in f32 8.4e5). From x0 = 0, x is the one of least norm if there are many. Their preconditioner is columns:\n"
        "they iterate on A D^-1, where D = diag(||a_j||), and the rules are those of A D^-1 and D x.\n"
        "precond selects a preconditioner, and block sets its block size if it has blocks; `solvers` lists the\n"
        "preconditioners. ilu0, ic0 and ilut consist of two triangles.\n"
        "ilut drops what is smaller than drop (default 1e-3) times the 2-norm of the row, and keeps fill (default 10)\n"
        "entries per row of L, and of U, more than A has. If a pivot is too small to divide by, ilu0 and ilut replace\n"
        "small pivots by 0.001, 0.01, 0.1 or 1 of the largest entry of the row, and ic0 increases the diagonal, by\n"
        "0.3% to 1000%: the least that works. For cg and minres, ilu0 makes negative pivots positive. shift R sets\n"
        "this size, and shift 0 leaves the pivots as they are. `structure of M` says what was done.\n"
        "schur is for saddle points: matrices with rows whose diagonal is 0 and that have no entries among "
        "themselves,\n"
        "or symmetric matrices with both signs on the diagonal.\n"
        "For minres, M is block diagonal; for gmres, fgmres, bicgstab and qmrcgstab, block triangular. inner names "
        "the\n"
        "preconditioner of the rows with a diagonal, complement that of the Schur complement B D^-1 B', where D is "
        "the\n"
        "diagonal; without them, amg, ic0 or jacobi, or ilut, as the blocks allow. mass names the file of a matrix "
        "that\n"
        "takes the place of this complement, such as the mass matrix of the pressure in Stokes' equations.\n"
        "fgmres is gmres for preconditioners that vary or are rounded (Saad 1993): it takes twice the memory, and amg\n"
        "then works in fp32 on a GPU.\n"
        "On a GPU, solves with triangles go by levels (a launch per level) or sync-free (one launch), as triangles "
        "says\n"
        "or as predicted to be faster; sweeps N solves approximately, by N sweeps of Jacobi's method. order reorders\n"
        "the rows before they are factored: with colours, a solve has few levels, but more iterations are needed. A\n"
        "GPU takes colours, for ilu0 only if the matrix is large, if that is predicted to be faster and none of these\n"
        "words is given.\n"
        "amg has one near-null vector, ones. For systems with several unknowns per node, such as linear elasticity,\n"
        "near gives it several and makes aggregates of nodes: constant (for each unknown, 1 for it and 0 for the\n"
        "others), rigid (rigid-body modes, from coordinates FILE, .mtx or .npy, with a row per node and 2 or 3\n"
        "columns) or adaptive (vectors N random vectors after sweeps of relaxation on A x = 0). block N, which alone\n"
        "means near constant, sets the rows of a node; without it, they are the rows with the same columns, however\n"
        "they are numbered, or 2 or 3 rows in one order for all nodes, if A maps the constants of each unknown to 0\n"
        "in most rows. The host makes the levels of such an amg, also for a GPU.\n"
        "break-even is the share of the iterations that the preconditioner must save. At the end, the true residual\n"
        "b - A x is computed in double: `converged` means that it is at most twice tol.\n"
        "digits of x says how many decimal digits of x, relative to its largest elements, are correct: by the known "
        "x;\n"
        "otherwise by the x of a direct solve, which may take half a second or a tenth of the time of the solve; for\n"
        "`solve direct` by a further step of refinement, or by the componentwise backward error times the condition.\n"
        "A solve also ends\n"
        "when its residual has grown by a factor of 1e10, or improved by less than 1% over many iterations\n"
        "(jacobi, wjacobi, gs, sor: 1000; cg, minres, bicgstab, qmrcgstab: 3 per row, between 100 and 2000;\n"
        "gmres: 1 per row, between 100 and 500; lsqr, lsmr, cgls: both residuals, 3 per column, between 1000 and\n"
        "10000). bicgstab and qmrcgstab start again from their x when they break\n"
        "down.\n"
        "force continues beyond these limits and breakdowns, accepts NaN and inf, and lets save replace an existing\n"
        "file. With step, the solve starts paused: `step N` does N iterations, `back N`\n"
        "undoes N iterations, `continue` resumes the solve, and `stop` ends it. `change` sets another tol, maxit,\n"
        "omega, m or preconditioner for a solve that is paused or has ended; an ended solve then continues from\n"
        "its x. view shows the residual full screen, also if the solve is paused. save writes x as a Matrix Market\n"
        "file. time is the whole time of the iterations, including the time that the host waits; `per iteration` is\n"
        "time divided by the number of iterations. A solve that does not converge is not a failed command: the\n"
        "exit status stays 0, and scripts read converged and status in --json or --csv. seed is any integer.\n"
        "With refine, the solver iterates in fp32 on A d = b - A x, with the values of A in fp32, fp16 or bf16; when "
        "d\n"
        "is accurate enough, x += d, and b - A x is computed again in fp64, until it meets tol. The iterations move\n"
        "about half the bytes, or less; there are more of them, because the solver starts again each time, and A must\n"
        "not be too ill-conditioned for the precision. For cg, minres, bicgstab and qmrcgstab.\n"
        "With scaled, the solver iterates on the equilibrated system R A C y = R b: rows and columns are multiplied "
        "by\n"
        "powers of two so that their 2-norms are about 1 (Ruiz 2001; R = C if A is symmetric), and x = C y. The\n"
        "residual during the solve is that of this system; the true residual is that of A x = b, and the solve goes\n"
        "on with a smaller tol until it meets tol. Without a solver, the line scales by itself if the largest |a| of\n"
        "rows or columns differ by more than a factor of 10000, and tries the methods on the scaled system.\n"
        "With reorder, the solver iterates on P A P' y = P b, in the order of an ordering of `reorder`; products,\n"
        "preconditioner and rows in messages are those of P A P'. x, b and the true residual are those of A x = b. "
        "(order\n"
        "changes only the order in which a preconditioner is factored.) With scaled reorder matching, it iterates on\n"
        "P R A C y = P R b: the largest entries become the diagonal, about 1, and no other entry is much larger (Duff\n"
        "and Koster 2001), so that ilu0 and jacobi can run where the diagonal of A has zeros. Without a solver, the\n"
        "line does this by itself if A is not symmetric, entries of its diagonal are missing or 0, and ilu0 cannot\n"
        "run. If no order fills the diagonal, A is singular, and the line says so.\n"
        "`solve direct` factors A on the host by a library of SuiteSparse: cholmod, klu, umfpack or spqr; without a\n"
        "name, each method that suits A is tried in this order until x is accurate, spqr last, which takes\n"
        "rectangular and singular matrices (least squares, rank). plan stops after the analysis and prints the fill,\n"
        "the operations and the memory of the factors; a factorisation that does not fit in memory is refused.\n"
        "keep keeps the factorisation until the next `solve direct`; again factors a matrix with the same pattern, "
        "such\n"
        "as that of the next time step, by the analysis that was kept, and keeps it.\n"
        "x is refined with residuals in higher precision, so later iterative solves with the same b show their\n"
        "error against it.\n"
        "`on ranks` solves by PETSc on the processes that `ranks` started; options passes it options of its own.\n"
        "    solve; solve A b random; solve precond jacobi\n"
        "    solve cg tol 1e-10\n"
        "    solve bicgstab precond ilu0\n"
        "    solve lsqr; solve lsmr precond columns tol 1e-10; solve cgls b random\n"
        "    solve cg precond ic0 sweeps 4; solve cg precond ic0 order colours\n"
        "    solve minres precond schur; solve gmres precond schur inner ic0 complement jacobi\n"
        "    solve bicgstab precond ilut drop 1e-2 fill 5; solve gmres precond ilu0 shift 1e-2\n"
        "    solve gmres m 30 orth modified\n"
        "    solve direct plan; solve direct; solve direct umfpack b random\n"
        "    solve direct keep; load next.mtx; solve direct again\n"
        "    solve jacobi form matrix; solve bicgstab scaled\n"
        "    solve gmres precond ilu0 scaled reorder matching\n"
        "    solve cg precond ic0 reorder blocks\n"
        "    solve cg precond amg near constant; solve cg precond amg near rigid coordinates points.npy block 3\n"
        "    solve cg nullspace modes.mtx\n"
        "    solve cg refine fp32; solve bicgstab precond ilu0 refine bf16 tol 1e-10\n"
        "    solve cg on ranks precond gamg; solve direct mumps on ranks; solve on ranks options \"-ksp_type fgmres\"\n"
        "    solve jacobi on cpu using ell b random seed 7 maxit 500 f32",
    .rows = (const struct row_kind *const[]){&row_solved, &row_iterate, &row_solve_column, &row_solve_direct,
                                             &row_solve_direct_column, NULL},
    .run = run_solve,
    .sweeps = true,
    .in_parts = true,
    .several = true,
};
