/* Givens rotations turn H into a triangle, element by element; then y is found from its last element to its first. */
#include "hessenberg.h"

#include <math.h>

/* Operations: a rotation of two elements has four multiplications and two additions; a new rotation has the length of
   two elements (4), the cosine and the sine (2), and turns g, whose second element is 0 (2). */
enum { TURN = 6, NEW_TURN = 8 };

/* The rotation that makes element j + 1 of column j zero, applied to all columns from j on, and to g. */
static int64_t remove_below(int64_t j, int64_t k, double *h, int64_t ld, double *g)
{
    double *a = &h[j * ld + j], *b = a + 1, length = sqrt(*a * *a + *b * *b), c = *a / length, s = *b / length;
    *a = length;
    *b = 0;
    g[j + 1] = -s * g[j];
    g[j] *= c;
    for (int64_t i = j + 1; i < k; i++) {
        double up = h[i * ld + j], low = h[i * ld + j + 1];
        h[i * ld + j] = c * up + s * low;
        h[i * ld + j + 1] = c * low - s * up;
    }
    return NEW_TURN + TURN * (k - 1 - j);
}

/* Element j of y, by whose column g is reduced. */
static int64_t solve_row(int64_t j, const double *h, int64_t ld, double *g, double *y)
{
    y[j] = g[j] / h[j * ld + j];
    for (int64_t i = 0; i < j; i++) g[i] -= y[j] * h[j * ld + i];
    return 1 + 2 * j;
}

int64_t hessenberg_minimise(int64_t k, double *h, int64_t ld, double beta, double *g, double *y)
{
    int64_t operations = 0;
    for (int64_t i = 0; i <= k; i++) g[i] = i ? 0 : beta;
    for (int64_t j = 0; j < k; j++) operations += remove_below(j, k, h, ld, g);
    for (int64_t j = k - 1; j >= 0; j--) operations += solve_row(j, h, ld, g, y);
    return operations;
}
