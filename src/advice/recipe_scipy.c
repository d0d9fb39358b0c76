/* A solve as a program in Python that uses SciPy. The lines of the solver see A, b, M, tol, maxit, m, conlim and the
   function count, and make x; those of the preconditioner make M. */
#include "base/text.h"
#include "direct/direct.h"
#include "recipe.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "solvers/triangles.h"

/* As csr_equilibrate scales. */
static const char scaling[] =
    "\n"
    "# `scaled`: powers of 2 that bring the norms of all rows and columns near 1 (Ruiz 2001); tol is then that of\n"
    "# the scaled system\n"
    "A0, b0 = A, b\n"
    "R, C = np.ones(A.shape[0]), np.ones(A.shape[1])\n"
    "for k in range(33):\n"
    "    S = sparse.diags_array(R) @ A0 @ sparse.diags_array(C)\n"
    "    rows, cols = (linalg.norm(S, np.inf if k < 8 else 2, axis=axis) for axis in (1, 0))\n"
    "    R, C = R / np.sqrt(np.where(rows, rows, 1)), C / np.sqrt(np.where(cols, cols, 1))\n"
    "R, C = 2 ** np.round(np.log2(R)), 2 ** np.round(np.log2(C))\n"
    "A, b = sparse.csr_array(sparse.diags_array(R) @ A0 @ sparse.diags_array(C)), R * b0\n";

static bool has_solver(const void *entry)
{
    return ((const struct solver *)entry)->peers.scipy;
}

static bool has_direct(const void *entry)
{
    return ((const struct direct_method *)entry)->peers.scipy;
}

static bool has_precond(const void *entry)
{
    return ((const struct precond *)entry)->peers.scipy;
}

static void write_input(const struct recipe_request *q, char *out, size_t size)
{
    text_append(out, size,
                "import sys\n\nimport numpy as np\nfrom scipy import io, sparse\nfrom scipy.sparse import linalg\n\n"
                "file = sys.argv[1] if len(sys.argv) > 1 else \"%s\"\n",
                q->file);
    if (q->b_file) text_append(out, size, "b_file = \"%s\"\n", q->b_file);
    if (q->b_file || !q->right->c) text_append(out, size, "b_column = %lld\n", (long long)q->b_column);
    text_append(out, size,
                "A = sparse.csr_array(sparse.load_npz(file) if file.endswith(\".npz\") else io.mmread(file), "
                "dtype=float)\n%s",
                q->right->scipy);
}

/* The settings, and what counts iterations. */
static void write_settings(const struct recipe_request *q, char *out, size_t size)
{
    const struct solve *v = q->solve;
    text_append(out, size, "tol, maxit = %.15g, %lld\n", q->peer.tol, (long long)q->peer.maxit);
    if (q->peer.m) text_append(out, size, "m = %lld  # iterations per cycle\n", (long long)q->peer.m);
    if (q->solver->least_squares) text_append(out, size, "conlim = %.15g\n", v->set.conlim);
    if (q->pre && q->pre->drops)
        text_append(out, size, "drop, fill = %g, %lld\n",
                    v->pre.triangles.drop.set ? v->pre.triangles.drop.value : ilut_drop,
                    (long long)(v->pre.triangles.fill.set ? (int64_t)v->pre.triangles.fill.value : ilut_fill));
    text_append(out, size, "iterations = 0\n");
    if (q->solver->least_squares) return;
    text_append(out, size, "\n\ndef count(_):\n    global iterations\n    iterations += 1\n\n\n%s",
                q->pre ? q->pre->peers.scipy : "M = None\n");
    if (q->pre && q->pre->diagonal && q->symmetric)
        text_append(out, size, "M = abs(M)  # it must be positive definite\n");
}

static void write_result(const struct recipe_request *q, char *out, size_t size)
{
    bool least = q->solver && q->solver->least_squares;
    if (q->scaled) text_append(out, size, "\nA, b, x = A0, b0, C * x\n");
    text_append(out, size, "r = b - A @ x\n");
    if (q->solver) text_append(out, size, "print(\"iterations\", iterations)\n");
    text_append(out, size, "print(f\"true residual {np.linalg.norm(r) / np.linalg.norm(b):.3e}\")\n");
    if (least)
        text_append(out, size,
                    "print(f\"normal equations {np.linalg.norm(A.T @ r) / linalg.norm(A) / "
                    "np.linalg.norm(r):.3e}\")\n");
}

static void write_program(const struct recipe_request *q, char *out, size_t size)
{
    text_append(out, size,
                "#!/usr/bin/env python3\n\"\"\"Solves A x = b as warpspy did: %s.\n\nwarpspy: %s.\n"
                "Needs NumPy and SciPy 1.12 or later: python3 %s [FILE.mtx or FILE.npz]\n",
                q->method, q->reached, q->program);
    if (!q->there) text_append(out, size, "In warpspy, `save %s %s` writes the matrix.\n", q->file, q->m->name);
    text_append(out, size, "\"\"\"\n");
    write_input(q, out, size);
    if (q->scaled) text_append(out, size, "%s\n", scaling);
    if (q->solver) write_settings(q, out, size);
    text_append(out, size, "%s", q->solver ? q->solver->peers.scipy : q->direct->peers.scipy);
    write_result(q, out, size);
}

const struct recipe recipe_scipy = {
    .name = "scipy",
    .about = "a program in Python that uses SciPy",
    .reads = ".mtx .mtx.gz .npz",
    .scales = true,
    .reads_right = true,
    .has_solver = has_solver,
    .has_direct = has_direct,
    .has_precond = has_precond,
    .write = write_program,
};
