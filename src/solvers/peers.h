/* How other libraries name a solver, a preconditioner or a direct solver. */
#ifndef PEERS_H
#define PEERS_H

/* NULL: the library has no such method. */
struct peers {
    const char *petsc;  /* words for the command line or PETSC_OPTIONS */
    const char *hypre;  /* a solver: NAME in HYPRE_ParCSR<NAME>Create; a preconditioner: the function that applies it */
    const char *amgx;   /* members of a JSON object, such as "solver": "PCG" */
    const char *ginkgo; /* the same, such as "type": "solver::Cg" */
    /* hypre: the function that sets up the preconditioner; lines of C that create `precond`, or NULL: precond is NULL
     */
    const char *hypre_setup, *hypre_make;
    /* Lines of programs (advice/recipe.h). scipy: a solver: lines that solve A x = b, in Python; a preconditioner:
       lines that make M. cuda: the same in C, with the functions of advice/recipe_cuda.c. */
    const char *scipy, *cuda;
};

#endif
