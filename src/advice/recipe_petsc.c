/* A solve as a program in C that uses PETSc, with the options that `advise solver options petsc` writes. */
#include "base/err.h"
#include "base/text.h"
#include "direct/direct.h"
#include "recipe.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <stdlib.h>
#include <string.h>

static const char start[] =
    "int main(int argc, char **argv)\n"
    "{\n"
    "    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));\n"
    "    PetscCall(PetscOptionsInsertString(NULL, options));\n"
    "    PetscCall(PetscOptionsInsert(NULL, &argc, &argv, NULL)); // again: the command line wins\n"
    "    struct entries entries = read_matrix(argc > 1 && argv[1][0] != '-' ? argv[1] : file);\n"
    "\n"
    "    // One process holds all of A; nothing is divided among ranks.\n"
    "    Mat A;\n"
    "    PetscInt *count = (PetscInt *)calloc(entries.rows + 1, sizeof *count);\n"
    "    if (!count) STOP(\"not enough memory\");\n"
    "    for (long k = 0; k < entries.n; k++) count[entries.row[k]]++;\n"
    "    PetscCall(MatCreate(PETSC_COMM_SELF, &A));\n"
    "    PetscCall(MatSetSizes(A, entries.rows, entries.cols, entries.rows, entries.cols));\n"
    "    PetscCall(MatSetType(A, MATSEQAIJ));\n"
    "    PetscCall(MatSetFromOptions(A));\n"
    "    PetscCall(MatSeqAIJSetPreallocation(A, 0, count));\n"
    "    for (long k = 0; k < entries.n; k++)\n"
    "        PetscCall(MatSetValue(A, entries.row[k], entries.col[k], entries.value[k], ADD_VALUES));\n"
    "    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));\n"
    "    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));\n";

static const char vectors[] = "\n"
                              "    Vec x, b, r;\n"
                              "    PetscScalar *values;\n"
                              "    PetscCall(MatCreateVecs(A, &x, &b));\n"
                              "    PetscCall(VecDuplicate(b, &r));\n"
                              "    PetscCall(VecGetArray(b, &values));\n"
                              "    right_side(&entries, values);\n";

static const char end[] = "    PetscCall(VecRestoreArray(b, &values));\n"
                          "\n"
                          "    KSP ksp;\n"
                          "    PetscInt iterations;\n"
                          "    PetscReal norm, of_b;\n"
                          "    KSPConvergedReason reason;\n"
                          "    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));\n"
                          "    PetscCall(KSPSetOperators(ksp, A, A));\n"
                          "    PetscCall(KSPSetFromOptions(ksp));\n"
                          "    PetscCall(KSPSolve(ksp, b, x));\n"
                          "    PetscCall(KSPGetIterationNumber(ksp, &iterations));\n"
                          "    PetscCall(KSPGetConvergedReason(ksp, &reason));\n"
                          "\n"
                          "    PetscCall(MatMult(A, x, r));\n"
                          "    PetscCall(VecAYPX(r, -1, b));\n"
                          "    PetscCall(VecNorm(r, NORM_2, &norm));\n"
                          "    PetscCall(VecNorm(b, NORM_2, &of_b));\n"
                          "    printf(\"%s\\niterations %d\\ntrue residual %.3e\\n\", KSPConvergedReasons[reason], "
                          "(int)iterations, norm / of_b);\n"
                          "    return PetscFinalize();\n"
                          "}\n";

static bool has_solver(const void *entry)
{
    return ((const struct solver *)entry)->peers.petsc;
}

static bool has_direct(const void *entry)
{
    return ((const struct direct_method *)entry)->peers.petsc;
}

static bool has_precond(const void *entry)
{
    return ((const struct precond *)entry)->peers.petsc;
}

/* The rows of a block, as the options state them; 1: they state none. */
static int block_of(const struct precond *pre)
{
    static const char option[] = "-mat_block_size ";
    const char *at = pre ? strstr(pre->peers.petsc, option) : NULL;
    return at ? atoi(at + strlen(option)) : 1;
}

static bool accepts(const struct recipe_request *q, struct err *e)
{
    if (q->solve && q->solve->negated)
        return fail(e, E_UNSUPPORTED, "%s is negative definite, and PETSc's %s wants a positive definite matrix",
                    q->solve->matrix.name, q->solver->name);
    if (q->m->csr.rows % block_of(q->pre))
        return fail(e, E_UNSUPPORTED, "PETSc needs blocks of %d rows to divide %s, which has %lld rows",
                    block_of(q->pre), q->m->name, (long long)q->m->csr.rows);
    return true;
}

static void write_program(const struct recipe_request *q, char *out, size_t size)
{
    char options[800] = "";
    peer_petsc->write(&q->peer, options, sizeof options);
    options[strcspn(options, "\n")] = 0;
    recipe_c_comment(q, "PETSc 3.17 or later, of real numbers", "mpicc", "$(pkg-config --cflags --libs PETSc)", out,
                     size);
    text_append(out, size, "#include <petscksp.h>\n\n");
    text_append(out, size,
                "// What `advise solver options petsc` writes; options of the command line win.\n"
                "static const char options[] = \"%s\";\n",
                options);
    recipe_c_input(q, out, size);
    text_append(out, size, "%s", start);
    if (q->symmetric) text_append(out, size, "    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));\n");
    text_append(out, size, "%s%s", vectors, end);
}

const struct recipe recipe_petsc = {
    .name = "petsc",
    .about = "a program in C that uses PETSc, for one process",
    .reads = ".mtx",
    .has_solver = has_solver,
    .has_direct = has_direct,
    .has_precond = has_precond,
    .accepts = accepts,
    .write = write_program,
};
