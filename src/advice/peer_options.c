/* Writes the options with which other libraries solve a system by the same method. */
#include "peer_options.h"
#include "base/base.h"
#include "base/text.h"
#include "solvers/peers.h"

#include <string.h>

/* ---- PETSc ---- */

static bool petsc_has(const struct peer_request *q)
{
    return q->solver->petsc && (!q->pre || q->pre->petsc);
}

static void petsc_write(const struct peer_request *q, char *out, size_t size)
{
    text_append(out, size, "%s", q->solver->petsc);
    if (q->m) text_append(out, size, " -ksp_gmres_restart %lld", (long long)q->m);
    if (q->takes_precond) text_append(out, size, " %s", q->pre ? q->pre->petsc : "-pc_type none");
    if (q->krylov) text_append(out, size, " -ksp_rtol %.3g -ksp_atol 0 -ksp_max_it %lld", q->tol, (long long)q->maxit);
    text_append(out, size, "\n");
}

/* ---- hypre: lines of C, because it reads no options ---- */

static bool hypre_has(const struct peer_request *q)
{
    return q->solver->hypre && (!q->pre || q->pre->hypre);
}

static void hypre_write(const struct peer_request *q, char *out, size_t size)
{
    const char *name = q->solver->hypre;
    text_append(out, size, "HYPRE_Solver solver, precond = NULL;\n");
    if (q->pre && q->pre->hypre_make) text_append(out, size, "%s", q->pre->hypre_make);
    text_append(out, size, "HYPRE_ParCSR%sCreate(MPI_COMM_WORLD, &solver);\n", name);
    text_append(out, size, "HYPRE_ParCSR%sSetTol(solver, %.3g);\n", name, q->tol);
    text_append(out, size, "HYPRE_ParCSR%sSetMaxIter(solver, %lld);\n", name, (long long)q->maxit);
    if (q->m) text_append(out, size, "HYPRE_ParCSR%sSetKDim(solver, %lld);\n", name, (long long)q->m);
    if (q->pre)
        text_append(out, size, "HYPRE_ParCSR%sSetPrecond(solver, %s, %s, precond);\n", name, q->pre->hypre,
                    q->pre->hypre_setup);
    text_append(out, size, "HYPRE_ParCSR%sSetup(solver, A, b, x);\nHYPRE_ParCSR%sSolve(solver, A, b, x);\n", name,
                name);
}

/* ---- AMGX ---- */

static bool amgx_has(const struct peer_request *q)
{
    return q->solver->amgx && (!q->pre || q->pre->amgx);
}

static void amgx_write(const struct peer_request *q, char *out, size_t size)
{
    text_append(out, size, "{\n  \"config_version\": 2,\n  \"solver\": {\n    %s", q->solver->amgx);
    if (q->m) text_append(out, size, ",\n    \"gmres_n_restart\": %lld", (long long)q->m);
    if (q->krylov)
        text_append(
            out, size,
            ",\n    \"monitor_residual\": 1,\n    \"convergence\": \"RELATIVE_INI_CORE\",\n    \"norm\": \"L2\",\n"
            "    \"tolerance\": %.3g,\n    \"max_iters\": %lld",
            q->tol, (long long)q->maxit);
    if (q->takes_precond)
        text_append(out, size, ",\n    \"preconditioner\": {%s}", q->pre ? q->pre->amgx : "\"solver\": \"NOSOLVER\"");
    text_append(out, size, "\n  }\n}\n");
}

/* ---- Ginkgo ---- */

static bool ginkgo_has(const struct peer_request *q)
{
    return q->solver->ginkgo && (!q->pre || q->pre->ginkgo);
}

static void ginkgo_write(const struct peer_request *q, char *out, size_t size)
{
    text_append(out, size, "{\n  %s", q->solver->ginkgo);
    if (q->m) text_append(out, size, ",\n  \"krylov_dim\": %lld", (long long)q->m);
    if (q->krylov)
        text_append(out, size,
                    ",\n  \"criteria\": [\n    {\"type\": \"Iteration\", \"max_iters\": %lld},\n"
                    "    {\"type\": \"ResidualNorm\", \"baseline\": \"rhs_norm\", \"reduction_factor\": %.3g}\n  ]",
                    (long long)q->maxit, q->tol);
    if (q->pre) text_append(out, size, ",\n  \"preconditioner\": {%s}", q->pre->ginkgo);
    text_append(out, size, "\n}\n");
}

/* ---- */

static const struct peer peers[] = {
    {"petsc", "PETSc: words for the command line or PETSC_OPTIONS", petsc_has, petsc_write},
    {"hypre", "hypre: calls of the ParCSR interface, in C", hypre_has, hypre_write},
    {"amgx", "AMGX: a configuration file, in JSON", amgx_has, amgx_write},
    {"ginkgo", "Ginkgo 1.8 and later: a configuration file, in JSON", ginkgo_has, ginkgo_write},
    {0},
};
const struct peer *const peer_petsc = &peers[0];
const struct registry peer_registry = {.entries = peers, .size = sizeof *peers};

const struct peer *peer_find(const char *name)
{
    return registry_find(&peer_registry, name);
}
