/* Report card: is a matrix singular? Decided by elimination modulo primes. A double is an integer times a power of 2,
   and 2 has an inverse modulo an odd prime p. So a matrix of doubles is, without any rounding error, a matrix of
   numbers modulo p, and its determinant modulo p is that of the matrix itself. */
#include "card_exact.h"
#include "base/err.h"
#include "base/library_thread.h"
#include "base/mem.h"
#include "card.h"
#include "card_graph.h"
#include "matrix/csr.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

enum { PRIME_BITS = 61 };                              /* each prime exceeds 2^61 */
static const uint64_t FIRST_PRIME = (1ull << 62) - 57; /* the largest prime below 2^62 */
enum { STEPS_PER_US = 100 };                           /* multiplications modulo p, on one core; a lower bound */

/* ---- numbers modulo p; x stands for x 2^64 mod p (Montgomery 1985) ---- */

struct modulus {
    uint64_t p, inverse;           /* inverse: -1 / p modulo 2^64 */
    uint64_t one, two, half, into; /* into: 2^128 mod p */
};

/* For a and b below p: a b / 2^64 mod p. */
static uint64_t times(const struct modulus *m, uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t q = (uint64_t)product * m->inverse, r = (uint64_t)((product + (unsigned __int128)q * m->p) >> 64);
    return r >= m->p ? r - m->p : r;
}

static uint64_t minus(const struct modulus *m, uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + m->p - b;
}

static uint64_t power(const struct modulus *m, uint64_t a, uint64_t n)
{
    uint64_t r = m->one;
    for (; n; n >>= 1, a = times(m, a, a))
        if (n & 1) r = times(m, r, a);
    return r;
}

static uint64_t inverse_of(const struct modulus *m, uint64_t a)
{
    return power(m, a, m->p - 2);
}

static struct modulus modulus_of(uint64_t p)
{
    struct modulus m = {.p = p, .inverse = 1};
    for (int i = 0; i < 6; i++) m.inverse *= 2 - p * m.inverse; /* Newton: 1, 2, 4, ... 64 correct bits of 1 / p */
    m.inverse = -m.inverse;
    m.one = (uint64_t)(((unsigned __int128)1 << 64) % p);
    m.into = (uint64_t)((unsigned __int128)m.one * m.one % p);
    m.two = minus(&m, m.one, p - m.one);
    m.half = inverse_of(&m, m.two);
    return m;
}

/* Miller and Rabin; the bases up to 37 decide for all p < 2^64. */
static bool is_prime(uint64_t p)
{
    struct modulus m = modulus_of(p);
    uint64_t minus_one = p - m.one, odd = p - 1, base = m.one;
    int twos = 0;
    for (; !(odd & 1); odd >>= 1) twos++;
    for (int b = 2; b <= 37; b++) {
        base = minus(&m, base, minus_one);
        uint64_t x = power(&m, base, odd);
        bool passes = x == m.one || x == minus_one;
        for (int i = 1; i < twos && !passes; i++) passes = (x = times(&m, x, x)) == minus_one;
        if (!passes) return false;
    }
    return true;
}

static uint64_t next_prime(uint64_t p)
{
    do p -= 2;
    while (!is_prime(p));
    return p;
}

/* |v| = integer * 2^*exponent, with an odd integer. v is finite and not 0. */
static uint64_t odd_part(double v, int *exponent)
{
    uint64_t integer = (uint64_t)ldexp(frexp(fabs(v), exponent), 53);
    int zeros = __builtin_ctzll(integer);
    *exponent += zeros - 53;
    return integer >> zeros;
}

static uint64_t residue(const struct modulus *m, double v)
{
    int exponent;
    if (v == 0) return 0;
    uint64_t r = times(m, odd_part(v, &exponent), m->into);
    r = times(m, r, power(m, exponent < 0 ? m->half : m->two, exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent));
    return v < 0 ? m->p - r : r;
}

/* ---- the factors L U, column by column (Gilbert and Peierls 1988) ---- */

struct elimination {
    cs_di A;                  /* its columns are the rows of the card's matrix */
    int *order;               /* [n] the columns in the order in which they are eliminated */
    int *entries;             /* [n] per row of A; a row with few entries is preferred as pivot */
    bool diagonal;            /* pivots on the diagonal are preferred */
    cs_di L;                  /* the pattern; the first entry of each column is the pivot */
    uint64_t *val;            /* [room] the values of L */
    uint64_t *x;              /* [n] a column of L U */
    int *reach;               /* [2 n] the rows of x with an entry, in an order in which they can be eliminated */
    int *pivot_of;            /* [n] the column whose pivot is in a row; -1: none yet */
    int64_t room;             /* entries of L */
    double steps, steps_most; /* multiplications */
};

static void elimination_free(struct elimination *v)
{
    cs_di_free(v->order);
    cs_di_free(v->entries);
    cs_di_free(v->L.p);
    cs_di_free(v->L.i);
    cs_di_free(v->val);
    cs_di_free(v->x);
    cs_di_free(v->reach);
    cs_di_free(v->pivot_of);
}

static bool elimination_new(struct elimination *v, cs_di A, bool symmetric, double steps_most)
{
    int n = A.n;
    *v = (struct elimination){.A = A, .diagonal = symmetric, .steps_most = steps_most};
    v->room = 4 * (int64_t)A.p[n] + n;
    v->L = (cs_di){.m = n, .n = n, .nz = -1, .p = cs_di_calloc(n + 1, sizeof(int))};
    v->order = cs_di_amd(symmetric ? 1 : 2, &A);
    v->entries = cs_di_calloc(n, sizeof(int));
    v->L.i = v->room < INT_MAX ? cs_di_malloc((int)v->room, sizeof(int)) : NULL;
    v->val = v->L.i ? cs_di_malloc((int)v->room, sizeof *v->val) : NULL;
    v->x = cs_di_malloc(n, sizeof *v->x);
    v->reach = cs_di_malloc(2 * n, sizeof(int));
    v->pivot_of = cs_di_malloc(n, sizeof(int));
    if (!v->L.p || !v->order || !v->entries || !v->val || !v->x || !v->reach || !v->pivot_of) return false;
    for (int k = 0; k < A.p[n]; k++) v->entries[A.i[k]]++;
    return true;
}

/* Make room for one more column of L. */
static bool grow(struct elimination *v, int64_t used)
{
    int ok_i = 1, ok_val = 1;
    if (used + v->A.n <= v->room) return true;
    v->room = 2 * v->room + v->A.n;
    if (v->room >= INT_MAX) return false;
    v->L.i = cs_di_realloc(v->L.i, (int)v->room, sizeof(int), &ok_i);
    v->val = cs_di_realloc(v->val, (int)v->room, sizeof *v->val, &ok_val);
    return ok_i && ok_val;
}

/* x = L^-1 column `col` of A; the rows with an entry are reach[*top .. n - 1]. */
static void solve_column(struct elimination *v, const struct modulus *m, int col, int *top)
{
    const cs_di *A = &v->A, *L = &v->L;
    *top = cs_di_reach(&v->L, A, col, v->reach, v->pivot_of);
    for (int at = *top; at < A->n; at++) v->x[v->reach[at]] = 0;
    for (int k = A->p[col]; k < A->p[col + 1]; k++) v->x[A->i[k]] = residue(m, A->x[k]);
    for (int at = *top; at < A->n; at++) {
        int row = v->reach[at], j = v->pivot_of[row];
        uint64_t factor = v->x[row];
        if (j < 0 || !factor) continue;
        for (int k = L->p[j] + 1; k < L->p[j + 1]; k++)
            v->x[L->i[k]] = minus(m, v->x[L->i[k]], times(m, v->val[k], factor));
        v->steps += L->p[j + 1] - L->p[j];
    }
    v->steps += A->n - *top;
}

/* The row of the pivot; -1: all elements that could be the pivot are 0. */
static int pivot_row(const struct elimination *v, int col, int top)
{
    int best = -1;
    if (v->diagonal && v->pivot_of[col] < 0)
        for (int at = top; at < v->A.n; at++)
            if (v->reach[at] == col && v->x[col]) return col;
    for (int at = top; at < v->A.n; at++) {
        int row = v->reach[at];
        bool can = v->pivot_of[row] < 0 && v->x[row];
        if (can && (best < 0 || v->entries[row] < v->entries[best])) best = row;
    }
    return best;
}

/* Appends column k of L, divided by its pivot. Returns the number of entries of L. */
static int store_column(struct elimination *v, const struct modulus *m, int k, int pivot, int top, int used)
{
    uint64_t inverse = inverse_of(m, v->x[pivot]);
    v->pivot_of[pivot] = k;
    v->L.i[used] = pivot;
    v->val[used++] = m->one;
    for (int at = top; at < v->A.n; at++) {
        int row = v->reach[at];
        if (v->pivot_of[row] >= 0 || !v->x[row]) continue;
        v->L.i[used] = row;
        v->val[used++] = times(m, v->x[row], inverse);
    }
    return used;
}

/* Is the determinant 0 modulo p? */
static enum card_exact eliminate(struct elimination *v, const struct modulus *m)
{
    int used = 0, n = v->A.n, top;
    for (int k = 0; k < n; k++) v->pivot_of[k] = -1;
    for (int k = 0; k <= n; k++) v->L.p[k] = 0;
    for (int k = 0; k < n; k++) {
        v->L.p[k] = used;
        if (v->steps > v->steps_most || !grow(v, used)) return CARD_EXACT_UNKNOWN;
        solve_column(v, m, v->order[k], &top);
        int pivot = pivot_row(v, v->order[k], top);
        if (pivot < 0) return CARD_EXACT_SINGULAR;
        used = store_column(v, m, k, pivot, top, used);
        v->L.p[k + 1] = used;
    }
    return CARD_EXACT_REGULAR;
}

/* ---- Hadamard: the determinant is at most the product of the 2-norms of the rows, or of the columns ---- */

/* A row of the matrix, after a multiplication by a power of 2 that makes its entries integers. */
struct integers {
    int entries, low, high; /* every entry is a multiple of 2^low, and below 2^high */
};

static void add_entry(struct integers *r, double v)
{
    int exponent, high;
    if (v == 0) return;
    odd_part(v, &exponent);
    frexp(v, &high);
    if (!r->entries || exponent < r->low) r->low = exponent;
    if (!r->entries || high > r->high) r->high = high;
    r->entries++;
}

/* The binary logarithm of the 2-norm is below this. */
static double bits_of(const struct integers *r)
{
    return r->entries ? r->high - r->low + 0.5 * log2(r->entries) : 0;
}

/* The determinant of A, with rows and columns multiplied by powers of 2 that make all entries integers, is below 2 to
   the power of this. Negative: out of memory. */
static double determinant_bits(const cs_di *A)
{
    struct integers *rows = cs_di_calloc(A->n, sizeof *rows);
    double by_cols = 0, by_rows = 0;
    if (!rows) return -1;
    for (int j = 0; j < A->n; j++) {
        struct integers col = {0};
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            add_entry(&col, A->x[k]);
            add_entry(&rows[A->i[k]], A->x[k]);
        }
        by_cols += bits_of(&col);
    }
    for (int i = 0; i < A->n; i++) by_rows += bits_of(&rows[i]);
    cs_di_free(rows);
    return fmin(by_cols, by_rows);
}

/* ---- the job of a worker thread ---- */

struct exact_job {
    struct card_graph g;
    bool symmetric; /* the pattern */
    double steps_most;
    enum card_exact found;
};

static enum card_exact by_primes(struct elimination *v)
{
    double bits = determinant_bits(&v->A), primes = floor(bits / PRIME_BITS) + 1;
    uint64_t p = FIRST_PRIME;
    if (bits < 0) return CARD_EXACT_UNKNOWN;
    for (double done = 0; done < primes; done++, p = next_prime(p)) {
        struct modulus m = modulus_of(p);
        enum card_exact found = eliminate(v, &m);
        if (found != CARD_EXACT_SINGULAR) return found;
        if (v->steps * primes > v->steps_most * (done + 1)) return CARD_EXACT_UNKNOWN;
    }
    return CARD_EXACT_SINGULAR;
}

static void exact_work(void *p)
{
    struct exact_job *job = p;
    struct elimination v;
    if (elimination_new(&v, card_graph_cs(&job->g), job->symmetric, job->steps_most)) job->found = by_primes(&v);
    elimination_free(&v);
}

static void exact_done(void *p)
{
    struct exact_job *job = p;
    card_graph_free(&job->g);
    mem_free(job);
}

bool card_exact(struct card *c, double limit_us, enum card_exact *out, struct err *e)
{
    struct exact_job *job = mem_zero(1, sizeof *job, "exact elimination", e);
    if (!job) return false;
    job->symmetric = c->has_symmetry && c->symmetry.pattern;
    job->steps_most = STEPS_PER_US * limit_us;
    if (!card_graph_new(&job->g, c->A, true, 64, "exact elimination", e)) {
        mem_free(job);
        return false;
    }
    if (!worker_run(exact_work, exact_done, job, "exact elimination", c->watch, e)) return false;
    *out = job->found;
    exact_done(job);
    return true;
}
