/* Make or load the matrices on which kernels are compared. */
#include <stdio.h>

#include "files/file.h"
#include "files/load_info.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "problems.h"
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

const struct problem more_problems[] = {
    {"27-point 48^3", "stencil", {27, 48, 0, 0, 1}},
    {"27-point 32^3 x 3", "stencil", {27, 32, 0, 0, 3}},
    {"R-MAT 2^18 x 16", "rmat", {18, 16}},
    {"R-MAT 2^20 x 8", "rmat", {20, 8}},
    {"circuit 10^5, 4 dense", "circuit", {100000, 4}},
    {"random 300k x 10", "random", {300000, 10, 0}},
    {"band 200k, half 12", "band", {200000, 12, 100}},
    {"5-point 300^2", "poisson2d", {300, 300}},
    {"7-point 60^3", "poisson3d", {60, 60, 60}},
    {"fem 200", "fem", {200, 200}},
    {"fem 60", "fem", {60, 60}},
    {"5-point 700 x 300", "stencil", {5, 700, 300, 0, 1}},
    {"5-point 1100^2", "poisson2d", {1100, 1100}},
    {"9-point 400^2", "stencil", {9, 400, 0, 0, 1}},
    {"9-point 150^2 x 2", "stencil", {9, 150, 0, 0, 2}},
    {"7-point 80^3", "stencil", {7, 80, 0, 0, 1}},
    {"27-point 36^3", "stencil", {27, 36, 0, 0, 1}},
    {"fem 120", "fem", {120, 120}},
    {"band 50k, half 40", "band", {50000, 40, 100}},
    {"band 300k, half 6, 50%", "band", {300000, 6, 50}},
    {"broken diagonals 100k", "brokendiag", {100000, 12}},
    {"broken diagonals 400k", "brokendiag", {400000, 8}},
    {"random 500k x 6", "random", {500000, 6, 0}},
    {"random 100k x 40", "random", {100000, 40, 0}},
    {"random 20k x 3", "random", {20000, 3, 0}},
    {"20000 x 300k, 120", "random", {20000, 120, 300000}},
    {"R-MAT 2^17 x 12", "rmat", {17, 12}},
    {"R-MAT 2^15 x 8", "rmat", {15, 8}},
    {"circuit 300k, 6 dense", "circuit", {300000, 6}},
    {"circuit 40k, 2 dense", "circuit", {40000, 2}},
    {"walk 300", "walk", {300}},
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
