/* The preconditioners and direct solvers that PETSc has and warpspy has not. */
#include "base/registry.h"
#include "ranks.h"

#define RANK_METHOD(id, its_options, its_source, its_about) {#id, its_about, its_source, its_options},
static const struct rank_method preconds[] = {
#include "ranks_preconds.def"
    {0}};
static const struct rank_method directs[] = {
#include "ranks_directs.def"
    {0}};
#undef RANK_METHOD

const struct registry rank_precond_registry = {.entries = preconds, .size = sizeof *preconds};
const struct registry rank_direct_registry = {.entries = directs, .size = sizeof *directs};

const struct rank_method *rank_precond_find(const char *name)
{
    return registry_find(&rank_precond_registry, name);
}

const struct rank_method *rank_direct_find(const char *name)
{
    return registry_find(&rank_direct_registry, name);
}
