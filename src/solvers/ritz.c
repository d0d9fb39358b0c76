/* Ritz values. Bisection finds the extreme Ritz values of conjugate gradients; shifted QR finds all Ritz values of
   GMRES. */
#include "ritz.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "solve.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- conjugate gradients ---- */

/* an edge is settled when the relative distance between inner and outer is at most this value */
static const double fine = 1e-7;

enum { LOW, HIGH };   /* the ends of the spectrum */
enum { OUTWARD = 8 }; /* factor by which the reach beyond inner grows from one try to the next */

/* Compare p->x with the spectrum of T. Processes rows p->row .. k-1, but at most *budget rows. T = L D L' with D_j = 1
   / alpha_j and L_j+1,j = sqrt(beta_j), so the pivots of T - x I can be computed from the pivots of T alone (the
   stationary qd transform), each with a small relative error. Therefore, the smallest eigenvalue stays accurate,
   however large the largest eigenvalue is. All pivots are positive if x is below the spectrum, and negative if x is
   above it. Returns false if an eigenvalue is at x or farther out. */
static bool advance(struct ritz_probe *p, int side, const double *alpha, const double *beta, int64_t k, int64_t *budget)
{
    double sign = side == LOW ? 1 : -1, x = p->x, ratio = p->ratio;
    int64_t j = p->row, end = k - j < *budget ? k : j + *budget;
    bool beyond = true;
    for (; j < end && beyond; j++) {
        double s = j ? beta[j - 1] / alpha[j - 1] * ratio - x : -x, pivot = s + 1 / alpha[j];
        beyond = sign * pivot > 0;
        ratio = s / pivot;
    }
    *budget -= j - p->row;
    p->row = j;
    p->ratio = ratio;
    return beyond;
}

/* The next value to try: the geometric mean of inner and outer, or, if there is no outer yet, a value beyond inner. */
static double next_of(const struct ritz_edge *g, int side)
{
    double out = 1 + g->reach;
    if (g->outer.x > 0) return sqrt(g->inner) * sqrt(g->outer.x);
    return side == LOW ? g->inner / out : g->inner * out;
}

/* Compare one value with the spectrum of T. Returns false if the budget is spent. */
static bool try_next(struct ritz_edge *g, int side, const double *alpha, const double *beta, int64_t k, int64_t *budget)
{
    if (!(g->next.x > 0)) g->next = (struct ritz_probe){.x = next_of(g, side)};
    bool within = isfinite(g->next.x) && advance(&g->next, side, alpha, beta, k, budget);
    if (within && g->next.row < k) return false;
    if (within) g->outer = g->next;
    if (!within) g->inner = g->next.x;
    if (!within && !(g->outer.x > 0)) g->reach *= OUTWARD;
    g->next.x = 0;
    return true;
}

/* New rows of T can move an extreme eigenvalue only outwards. If the eigenvalue has moved beyond outer, search for a
   new outer. */
static bool still_outside(struct ritz_edge *g, int side, const double *alpha, const double *beta, int64_t k,
                          int64_t *budget)
{
    if (!(g->outer.x > 0)) return true;
    if (advance(&g->outer, side, alpha, beta, k, budget)) return g->outer.row == k;
    g->inner = g->outer.x;
    g->outer.x = 0;
    g->reach = fine / 2;
    return true;
}

static bool near(const struct ritz_edge *g)
{
    double a = g->inner, b = g->outer.x;
    return b > 0 && fabs(a - b) <= fine * fmin(a, b);
}

static bool settle(struct ritz_edge *g, int side, const double *alpha, const double *beta, int64_t k, int64_t *budget)
{
    while (still_outside(g, side, alpha, beta, k, budget)) {
        if (near(g) || !(g->inner > DBL_MIN && g->inner < DBL_MAX)) return true;
        if (!try_next(g, side, alpha, beta, k, budget)) return false;
    }
    return false;
}

static bool row_is_sound(const double *alpha, const double *beta, int64_t j)
{
    if (!(alpha[j] > 0 && isfinite(1 / alpha[j]) && isfinite(alpha[j]))) return false;
    return j == 0 || (beta[j - 1] >= 0 && isfinite(beta[j - 1]));
}

void ritz_grow(struct ritz *r, const double *alpha, const double *beta, int64_t k, int64_t budget)
{
    if (r->rows && (k < r->rows || alpha[0] != r->first || alpha[r->rows - 1] != r->last)) *r = (struct ritz){0};
    int64_t rows = r->rows;
    while (rows < k && row_is_sound(alpha, beta, rows)) rows++;
    if (!rows) r->low = r->high = NAN;
    if (!rows) return;
    if (!r->rows)
        for (int i = LOW; i <= HIGH; i++) r->edge[i] = (struct ritz_edge){.inner = 1 / alpha[0], .reach = fine / 2};
    r->rows = rows;
    r->first = alpha[0];
    r->last = alpha[rows - 1];
    r->settled = true;
    for (int i = LOW; i <= HIGH; i++) {
        int64_t share = budget > 0 ? (budget + 1) / 2 : INT64_MAX;
        r->settled &= settle(&r->edge[i], i, alpha, beta, rows, &share);
    }
    r->low = r->edge[LOW].inner;
    r->high = r->edge[HIGH].inner;
}

void ritz_of(struct ritz *r, const struct solve *v, int64_t budget)
{
    int64_t from = solve_started_at(v) + 1, k = v->iterations - solve_started_at(v);
    bool means = v->solver->lanczos && fact_symmetric(v->matrix.facts) != FACT_NO;
    bool has = means && v->history.alpha && v->history.beta && k > 0;
    ritz_grow(r, has ? v->history.alpha + from : NULL, has ? v->history.beta + from : NULL, has ? k : 0, budget);
    if (v->pre.method) return; /* M^-1 A does not change if A is scaled */
    r->low = ldexp(r->low, v->matrix.exponents.a);
    r->high = ldexp(r->high, v->matrix.exponents.a);
}

const char *ritz_matrix(const struct solve *v)
{
    if (v->pre.method) return v->negated ? "-M^-1 A" : "M^-1 A";
    if (v->scaling.row) return v->negated ? "the scaled -A" : "the scaled A";
    return v->negated ? "-A" : "A";
}

/* ---- Hessenberg matrices ---- */

/* maximum number of QR steps per eigenvalue; every ODD-th step uses exceptional shifts */
enum { PATIENCE = 30, ODD = 10 };

/* A square matrix, stored row by row and divided by 2^exponent. */
struct square {
    int64_t n;
    double *a;
    int exponent;
};

static double *at(const struct square *s, int64_t i, int64_t j)
{
    return s->a + i * s->n + j;
}

/* Copy the square part of H, times the power of 2 that brings its largest element near 1, so that no square overflows
   or becomes 0. Fails if an element is not finite. */
static bool take(const double *H, int64_t ld, struct square *s, struct err *e)
{
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->n; i++) {
            double h = i <= j + 1 ? H[j * ld + i] : 0;
            if (!isfinite(h)) return fail(e, E_NUMERIC, "the Hessenberg matrix has a value that is not finite");
            *at(s, i, j) = h;
        }
    double most = magnitudes_of(s->n * s->n, s->a).most;
    s->exponent = most > 0 ? ilogb(most) : 0;
    scale_by_power(s->n * s->n, s->a, -s->exponent, s->a);
    return true;
}

/* A Householder reflection of n values: I - beta v v' with v[0] = 1. */
struct mirror {
    double v[3], beta;
    int n;
};

/* The reflection that maps x[n] onto the first axis. Returns false if x is 0. */
static bool mirror_of(const double *x, int n, struct mirror *m)
{
    double most = 0, sum = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    *m = (struct mirror){.v = {1}, .n = n};
    if (most == 0) return false;
    for (int i = 0; i < n; i++) sum += x[i] / most * (x[i] / most);
    double first = x[0] / most, length = copysign(sqrt(sum), first), v0 = first + length;
    for (int i = 1; i < n; i++) m->v[i] = x[i] / most / v0;
    m->beta = v0 / length;
    return true;
}

static void mirror_rows(const struct square *s, const struct mirror *m, int64_t row, int64_t from, int64_t to)
{
    for (int64_t j = from; j < to; j++) {
        double dot = 0;
        for (int i = 0; i < m->n; i++) dot += m->v[i] * *at(s, row + i, j);
        for (int i = 0; i < m->n; i++) *at(s, row + i, j) -= m->beta * dot * m->v[i];
    }
}

static void mirror_columns(const struct square *s, const struct mirror *m, int64_t col, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        double dot = 0, *a = at(s, i, col);
        for (int j = 0; j < m->n; j++) dot += m->v[j] * a[j];
        for (int j = 0; j < m->n; j++) a[j] -= m->beta * dot * m->v[j];
    }
}

/* The first column of (B - s1 I)(B - s2 I), divided by b21. B is the block that begins at row lo; sum = s1 + s2,
   product = s1 s2. */
static void first_column(const struct square *s, int64_t lo, double sum, double product, double *x)
{
    double b11 = *at(s, lo, lo), b12 = *at(s, lo, lo + 1), b21 = *at(s, lo + 1, lo), b22 = *at(s, lo + 1, lo + 1);
    x[0] = (b11 * (b11 - sum) + product) / b21 + b12;
    x[1] = b11 + b22 - sum;
    x[2] = *at(s, lo + 2, lo + 1);
}

/* A double-shift QR step (Francis 1961) on the block lo .. hi, of three rows or more, in place; elements outside the
   block do not affect its eigenvalues. */
static void francis(const struct square *s, int64_t lo, int64_t hi, bool odd)
{
    double a = *at(s, hi - 1, hi - 1), b = *at(s, hi - 1, hi), c = *at(s, hi, hi - 1), d = *at(s, hi, hi);
    double wild = fabs(c) + fabs(*at(s, hi - 1, hi - 2));
    double x[3];
    first_column(s, lo, odd ? 1.5 * wild : a + d, odd ? wild * wild : a * d - b * c, x);
    for (int64_t k = lo; k < hi; k++) {
        int n = k + 2 <= hi ? 3 : 2;
        struct mirror m;
        if (mirror_of(x, n, &m)) {
            mirror_rows(s, &m, k, k > lo ? k - 1 : lo, hi + 1);
            mirror_columns(s, &m, k, lo, (k + 3 < hi ? k + 3 : hi) + 1);
        }
        for (int i = 0; i < 3; i++) x[i] = k + 1 + i <= hi ? *at(s, k + 1 + i, k) : 0;
    }
}

/* The eigenvalues of a 2 x 2 block. */
static void two_values(double a, double b, double c, double d, double *re, double *im)
{
    double half = (a - d) / 2, disc = half * half + b * c, root = sqrt(fabs(disc));
    double far = half + copysign(root, half); /* no cancellation */
    re[0] = re[1] = d + half;
    im[0] = disc < 0 ? root : 0;
    im[1] = -im[0];
    if (disc < 0) return;
    re[0] = d + far;
    re[1] = far != 0 ? d - b / far * c : d;
}

/* The first row of the block that ends at hi. A block begins where the subdiagonal entry is negligible. */
static int64_t block_begin(const struct square *s, int64_t hi)
{
    for (int64_t i = hi; i > 0; i--) {
        double around = fabs(*at(s, i - 1, i - 1)) + fabs(*at(s, i, i));
        if (fabs(*at(s, i, i - 1)) <= DBL_EPSILON * around || fabs(*at(s, i, i - 1)) < DBL_MIN) return i;
    }
    return 0;
}

static bool shrink(const struct square *s, double *re, double *im, struct err *e)
{
    int64_t hi = s->n - 1;
    for (int turn = 0; hi >= 0; turn++) {
        int64_t lo = block_begin(s, hi);
        if (turn > PATIENCE) return fail(e, E_NUMERIC, "the QR algorithm does not converge on this matrix");
        if (lo < hi - 1) {
            francis(s, lo, hi, turn % ODD == ODD - 1);
            continue;
        }
        if (lo == hi) re[hi] = *at(s, hi, hi), im[hi] = 0;
        if (lo < hi) two_values(*at(s, lo, lo), *at(s, lo, hi), *at(s, hi, lo), *at(s, hi, hi), re + lo, im + lo);
        hi = lo - 1;
        turn = -1;
    }
    return true;
}

bool ritz_hessenberg(const double *H, int64_t ld, int64_t k, double *re, double *im, struct err *e)
{
    struct square s = {k, mem_new(k * k, sizeof *s.a, "a Hessenberg matrix", e), 0};
    bool ok = s.a && take(H, ld, &s, e) && shrink(&s, re, im, e);
    if (ok) scale_by_power(k, re, s.exponent, re);
    if (ok) scale_by_power(k, im, s.exponent, im);
    mem_free(s.a);
    return ok;
}

/* ---- the condition ---- */

enum { ROUNDS = 300 }; /* maximum number of steps of a power iteration */
/* a power iteration ends when the relative change of the singular value is at most this value */
static const double enough = 1e-5;

/* Rotate H to the upper triangular form R. `below` is the entry of H in row k+1, column k. */
static void triangle(const struct square *s, double below)
{
    for (int64_t i = 0; i < s->n; i++) {
        double a = *at(s, i, i), b = i + 1 < s->n ? *at(s, i + 1, i) : below, length = hypot(a, b);
        double c = length > 0 ? a / length : 1, d = length > 0 ? b / length : 0;
        *at(s, i, i) = length;
        if (i + 1 == s->n) return;
        *at(s, i + 1, i) = 0;
        for (int64_t j = i + 1; j < s->n; j++) {
            double x = *at(s, i, j), y = *at(s, i + 1, j);
            *at(s, i, j) = c * x + d * y;
            *at(s, i + 1, j) = c * y - d * x;
        }
    }
}

static bool singular(const struct square *s)
{
    for (int64_t i = 0; i < s->n; i++)
        if (*at(s, i, i) == 0) return true;
    return false;
}

/* multiply: x = R'R x; divide: x = (R'R)^-1 x. */
static void multiply(const struct square *s, double *x)
{
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t j = i; j < s->n; j++) sum += *at(s, i, j) * x[j];
        x[i] = sum;
    }
    for (int64_t i = s->n - 1; i >= 0; i--) {
        double xi = x[i];
        x[i] = 0;
        for (int64_t j = i; j < s->n; j++) x[j] += *at(s, i, j) * xi;
    }
}

static void divide(const struct square *s, double *x)
{
    for (int64_t i = 0; i < s->n; i++) {
        x[i] /= *at(s, i, i);
        for (int64_t j = i + 1; j < s->n; j++) x[j] -= *at(s, i, j) * x[i];
    }
    for (int64_t i = s->n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < s->n; j++) x[i] -= *at(s, i, j) * x[j];
        x[i] /= *at(s, i, i);
    }
}

/* Power iteration: estimates the largest factor by which `go` lengthens a vector. */
static double power(const struct square *s, void (*go)(const struct square *s, double *x), double *x)
{
    double before = 0, now = 0;
    random_fill(x, s->n, 1);
    for (int round = 0; round < ROUNDS; round++) {
        double length = norm2(s->n, x);
        if (!(length > 0)) break;
        for (int64_t i = 0; i < s->n; i++) x[i] /= length;
        go(s, x);
        now = norm2(s->n, x);
        if (fabs(now - before) <= enough * now) break;
        before = now;
    }
    return now;
}

bool ritz_condition(const double *H, int64_t ld, int64_t k, double *condition, struct err *e)
{
    struct square s = {k, mem_new(k * k, sizeof *s.a, "a Hessenberg matrix", e), 0};
    double *x = mem_new(k, sizeof *x, "a vector", e), below = k ? H[(k - 1) * ld + k] : 0;
    bool ok = s.a && x && take(H, ld, &s, e);
    if (ok && !isfinite(below)) ok = fail(e, E_NUMERIC, "the Hessenberg matrix has a number that is not finite");
    if (ok) {
        triangle(&s, ldexp(below, -s.exponent));
        *condition = singular(&s) ? INFINITY : sqrt(power(&s, multiply, x)) * sqrt(power(&s, divide, x));
    }
    mem_free(s.a);
    mem_free(x);
    return ok;
}
