/* What is measured of eigenpairs, on the host. */
#ifndef EIGEN_MEASURE_H
#define EIGEN_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

struct eigen;
struct err;

/* v->norm = the largest sum of |a| of a row; ||A||_1 if A is symmetric or hermitian */
bool eigen_norm(struct eigen *v, struct err *e);
/* The 2-norm, without overflow or underflow. */
double eigen_size(int64_t n, const double *x);
/* Scale x to norm 1; the first of its largest elements becomes positive. A zero vector stays as it is. */
void eigen_normalise(int64_t n, double *x);
/* The distance of the value re + i im from the end of the spectrum, or from the number, that was asked for. */
double eigen_rank(const struct eigen *v, double re, double im);
/* Normalise the vectors, compute the Rayleigh quotients, the residuals and the orthogonality, and sort the pairs. The
   largest element of each vector becomes positive. If Ctrl-C ends the work, the pairs and vectors stay valid. */
bool eigen_measure(struct eigen *v, struct err *e);

#endif
