/* The registry of solvers. */
#include "solver.h"
#include "base/registry.h"
#include "precond.h"

#define SOLVER(id) extern const struct solver solver_##id;
#include "solvers.def"
#undef SOLVER
#define SOLVER(id) &solver_##id,
const struct solver *const solvers[] = {
#include "solvers.def"
    NULL};
#undef SOLVER

const struct registry solver_registry = {.entries = solvers, .aliases = offsetof(struct solver, aliases)};

bool solver_takes(const struct solver *s, const struct precond *p)
{
    if (s->no_precond || (s->least_squares && !p->least_squares) || (p->saddle && s->definite)) return false;
    return !s->own_precond || p->symmetric;
}

const struct solver *solver_find(const char *name)
{
    return registry_find(&solver_registry, name);
}
