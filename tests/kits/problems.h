/* The matrices on which kernels are compared with cuSPARSE's: twelve generated ones, and the real matrices of the
   collection with more than PROBLEM_SMALLEST nonzeros. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"

struct csr;
struct err;
struct session;

enum { PROBLEM_SMALLEST = 8000 };

struct problem {
    const char *name, *generator;
    int64_t p[PARAMS_MAX];
};
/* Both lists are terminated by an entry without a name. The second one has other sizes of the same kinds, for the cost
   model. */
extern const struct problem problems[], more_problems[];

bool problem_make(const struct problem *p, struct csr *A, struct err *e);
/* Make the matrix and add it to the session, as its current matrix. */
bool problem_open(struct session *s, const struct problem *p, struct err *e);
/* Load NAME.mtx.gz of the collection. Returns false and sets *skip if the matrix is complex or too small. */
bool problem_load(const char *folder, const char *name, struct csr *A, bool *skip, struct err *e);

#endif
