/* Make or load the matrices on which kernels are compared. */
#include <stdio.h>

#include "problems.h"
#include "files/file.h"
#include "files/load_info.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "session/session.h"

const struct problem problems[] = {
    {"5-point 1000 x 999", "stencil", {5, 1000, 999, 0, 1}},
    {"7-point 128^3", "stencil", {7, 128, 0, 0, 1}},
    {"27-point 96^3", "stencil", {27, 96, 0, 0, 1}},
    {"27-point 48^3 x 3", "stencil", {27, 48, 0, 0, 3}},
    {"R-MAT 2^20 x 16", "rmat", {20, 16}},
    {"circuit 10^6, 4 dense", "circuit", {1000000, 4}},
    {"broken diagonals", "brokendiag", {200000, 20}},
    {"random 10^6 x 16", "random", {1000000, 16, 0}},
    {"4284 x 1.1M, 2600", "random", {4284, 2600, 1100000}},
    {"band 100k, half 20", "band", {100000, 20, 100}},
    {"27-point 24^3", "stencil", {27, 24, 0, 0, 1}},
    {"5-point 64^2", "stencil", {5, 64, 64, 0, 1}},
    {0},
};

bool problem_make(const struct problem *p, struct csr *A, struct err *e)
{
    return generator_find(p->generator)->make(p->p, 1, NULL, A, e);
}

bool problem_open(struct session *s, const struct problem *p, struct err *e)
{
    struct load_info info = {0};
    struct csr A = {0};
    snprintf(info.file, sizeof info.file, "%s", p->generator);
    return problem_make(p, &A, e) && session_add(s, NULL, &A, &info, e);
}

bool problem_load(const char *folder, const char *name, struct csr *A, bool *skip, struct err *e)
{
    char path[1024];
    struct load_info info = {0};
    snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, name);
    *skip = false;
    if (!file_load(path, NULL, NULL, A, &info, e)) return false;
    if (!A->imag && A->nnz > PROBLEM_SMALLEST) return true;
    csr_free(A);
    *skip = true;
    return false;
}
