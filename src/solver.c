/* The registry of solvers. */
#include "solver.h"

#include <string.h>

#define SOLVER(id) extern const struct solver solver_##id;
#include "solvers.def"
#undef SOLVER
#define SOLVER(id) &solver_##id,
const struct solver *const solvers[] = {
#include "solvers.def"
    NULL};
#undef SOLVER

const struct solver *solver_find(const char *name)
{
    for (int i = 0; solvers[i]; i++)
        if (!strcmp(solvers[i]->name, name)) return solvers[i];
    return NULL;
}
