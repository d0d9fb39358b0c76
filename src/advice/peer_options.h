/* The same solver in other libraries: options text for PETSc, hypre, AMGX and Ginkgo. */
#ifndef PEER_OPTIONS_H
#define PEER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/registry.h"

struct peers;

/* What to express. solver: of the iterative or direct solver. */
struct peer_request {
    const struct peers *solver, *pre; /* pre NULL: no preconditioner */
    bool takes_precond;               /* the solver has a place for a preconditioner */
    bool krylov;                      /* false: a direct solver, to which tol and maxit do not apply */
    double tol;
    int64_t maxit, m; /* m: iterations per cycle; 0: the solver does not restart */
};
struct peer {
    const char *name, *about;
    /* Does the library have the solver, and the preconditioner if there is one? */
    bool (*has)(const struct peer_request *q);
    void (*write)(const struct peer_request *q, char *out, size_t size);
};
extern const struct registry peer_registry;
extern const struct peer *const peer_petsc;
const struct peer *peer_find(const char *name);

#endif
