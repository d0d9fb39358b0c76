/* Right-hand sides and starting guesses by name. */
#include "right_side.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "files/matrix_market.h"
#include "matrix.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "matrix/row_slices.h"
#include "report/output.h"
#include "solvers/solve.h"

#include <math.h>
#include <string.h>

struct named_vector {
    const char *name;
    bool known_ones;   /* with this right-hand side, all elements of the solution are 1 */
    bool known_varied; /* with this right-hand side, the solution is make_varied's */
    /* n: the elements of x, which are the rows of A for a right side, and the columns for a start vector */
    bool (*make)(const struct csr *A, int64_t n, uint64_t seed, double *x, struct err *e);
};

/* If A is complex, the vectors hold pairs of a real and an imaginary part. */
static int64_t parts_of(const struct csr *A)
{
    return A->imag ? 2 : 1;
}

static bool fill(int64_t n, int64_t parts, double value, double *x, struct err *e)
{
    struct loop l = loop_of("a vector", n * parts);
    for (int64_t i = 0; i < n * parts && loop_goes(&l, i); i++) x[i] = i % parts ? 0 : value;
    return loop_end(&l, e);
}

static bool make_zero(const struct csr *A, int64_t n, uint64_t seed, double *x, struct err *e)
{
    return fill(n, parts_of(A), 0, x, e);
}

static bool make_ones(const struct csr *A, int64_t n, uint64_t seed, double *x, struct err *e)
{
    return fill(n, parts_of(A), 1, x, e);
}

static bool make_random(const struct csr *A, int64_t n, uint64_t seed, double *x, struct err *e)
{
    int64_t numbers = parts_of(A) * n;
    struct loop l = loop_of("a random vector", numbers);
    for (int64_t i = 0; i < numbers && loop_goes(&l, i); i++) x[i] = random_unit(&seed);
    return loop_end(&l, e);
}

static bool make_aones(const struct csr *A, int64_t n, uint64_t seed, double *b, struct err *e)
{
    double *ones = mem_new(parts_of(A) * A->cols, sizeof *ones, "a vector of ones", e);
    if (!ones) return false;
    bool ok = fill(A->cols, parts_of(A), 1, ones, e) && reference_product(A, 1, ones, 0, b, P_F64, NULL, e);
    mem_free(ones);
    return ok;
}

/* An element of the varied x before the mean is subtracted, a multiple of 2^-16. 40503 i (i + 1) / 2 mod 65536 visits
   all numbers below 65536 in an order that has no frequency of its own, so that every eigenvector has a share of x. */
static double varied_at(int64_t i)
{
    uint64_t k = (uint64_t)i;
    k = k % 2 ? k * ((k + 1) / 2) : k / 2 * (k + 1);
    return (double)(k * 40503 % 65536) / 65536;
}

/* Without the mean, x has no share in a null space of constants: a solver that starts from 0 can find all of x. The sum
   is exact, so that x is the same on every machine. An x of one element is 1. */
static bool make_varied(const struct csr *A, double *x, struct err *e)
{
    int64_t n = A->cols, parts = parts_of(A);
    double sum = 0;
    struct loop l = loop_of("a vector", 2 * n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) sum += varied_at(i);
    for (int64_t i = 0; i < n && loop_goes(&l, n + i); i++) {
        x[i * parts] = n == 1 ? 1 : varied_at(i) - sum / (double)n;
        if (parts == 2) x[2 * i + 1] = 0;
    }
    return loop_end(&l, e);
}

static bool make_avaried(const struct csr *A, int64_t n, uint64_t seed, double *b, struct err *e)
{
    double *x = mem_new(parts_of(A) * A->cols, sizeof *x, "a varied vector", e);
    if (!x) return false;
    bool ok = make_varied(A, x, e) && reference_product(A, 1, x, 0, b, P_F64, NULL, e);
    mem_free(x);
    return ok;
}

static const struct named_vector right_sides[] = {{"aones", true, false, make_aones},
                                                  {"avaried", false, true, make_avaried},
                                                  {"ones", false, false, make_ones},
                                                  {"random", false, false, make_random},
                                                  {"zero", false, false, make_zero}};
static const struct named_vector starts[] = {
    {"zero", false, false, make_zero}, {"ones", false, false, make_ones}, {"random", false, false, make_random}};

/* ---- does A * ones test anything? ---- */

/* Of the rows of A that have entries, with a real x: the sum of the squares of |A x|_i / (|A| |x|)_i, and the same
   after the first element of A x was subtracted from each element. */
struct share {
    const double *x; /* [cols], or pairs if A is complex; NULL: ones */
    int64_t rows;
    double re, im; /* the first element of A x */
    double zero, constant;
    double most; /* the largest |A x|_i / (|A| |x|)_i */
};

static bool add_shares(void *user, const struct csr *A, int64_t first, struct err *e)
{
    struct share *s = user;
    int64_t parts = parts_of(A);
    struct loop l = loop_of("the row sums", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++) {
        double re = 0, im = 0, size = 0;
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1) && loop_goes(&l, k); k++) {
            double x = s->x ? s->x[A->col[k] * parts] : 1;
            re += A->val[k] * x;
            im += A->imag ? A->imag[k] * x : 0;
            size += csr_abs(A, k) * fabs(x);
        }
        if (size == 0) continue;
        if (!s->rows++) s->re = re, s->im = im;
        double zero = hypot(re / size, im / size), constant = hypot(re / size - s->re / size, im / size - s->im / size);
        s->zero += zero * zero;
        s->constant += constant * constant;
        s->most = max_or_nan(s->most, zero);
    }
    return loop_end(&l, e);
}

static bool share_of(const struct csr *A, const double *x, struct share *s, struct err *e)
{
    *s = (struct share){.x = x};
    return csr_visit_all(A, add_shares, s, e);
}

static bool is_little(double squares, int64_t rows)
{
    static const double little = 1e-3;
    return rows > 0 && sqrt(squares / (double)rows) < little;
}

/* Is A * ones 0, or a multiple of ones, up to about 1e-3? Then ones are close to an eigenvector, and every method is
   done at once: A * ones tests nothing. */
static bool ones_test_nothing(const struct csr *A, const struct share *s)
{
    bool square = A->rows == A->cols;
    return A->cols > 1 && is_little(square && s->constant < s->zero ? s->constant : s->zero, s->rows);
}

/* Is A * ones 0 up to rounding errors? Then x + c solves the system, too, for any constant c. */
static bool has_constant_null(const struct share *s)
{
    static const double rounding = 1e-13;
    return s->most <= rounding;
}

/* Without a word, the first entry. */
static const struct named_vector *find(const struct named_vector *list, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!word || !strcmp(list[i].name, word)) return &list[i];
    return NULL;
}

/* A word that is neither a name in the list nor a path was probably meant as a name, so the error lists the names. */
static bool load_failed(const char *names, const char *word, const struct err *why, struct err *e)
{
    if (why->code == E_IO && !strpbrk(word, "./"))
        return fail(e, E_USAGE, "`%s` is neither a readable file nor one of %s", word, names);
    return fail_at(e, why->code, why->where, "%s", why->text);
}

/* ---- right sides ---- */

static const char given[] = "given";

static bool take_given(const struct matrix *m, struct right_sides *r, struct err *e)
{
    const struct sides *t = &m->sides;
    if (!t->n)
        return fail(e, E_USAGE,
                    "%s has no right side of its own; `b` takes aones, avaried, ones, random, zero or a file", m->name);
    r->name = given;
    r->from_file = true;
    r->n = t->n;
    r->b = t->b;
    r->x = t->x;
    r->x_from = "file";
    return true;
}

static bool make_named(const struct matrix *m, const struct named_vector *v, uint64_t seed, struct right_sides *r,
                       struct err *e)
{
    r->name = v->name;
    r->n = 1;
    r->known_ones = v->known_ones;
    r->b = r->own = mem_new(r->each, sizeof *r->own, "the right side", e);
    if (!r->own || !v->make(&m->csr, m->csr.rows, seed, r->own, e)) return false;
    if (!v->known_varied) return true;
    struct share ones;
    if (!share_of(&m->csr, NULL, &ones, e)) return false;
    r->up_to_constant = has_constant_null(&ones);
    r->x_from = "varied";
    r->x = r->own_x = mem_new(r->x_each, sizeof *r->own_x, "a varied vector", e);
    return r->own_x && make_varied(&m->csr, r->own_x, e);
}

/* aones, unless it tests nothing and avaried does. A matrix of equal rows maps the varied x to 0, but not ones. */
static bool make_default(const struct matrix *m, struct right_sides *r, struct err *e)
{
    struct share ones, varied;
    if (!share_of(&m->csr, NULL, &ones, e)) return false;
    if (!ones_test_nothing(&m->csr, &ones))
        return make_named(m, find(right_sides, COUNT(right_sides), "aones"), 0, r, e);
    if (!make_named(m, find(right_sides, COUNT(right_sides), "avaried"), 0, r, e) ||
        !share_of(&m->csr, r->x, &varied, e))
        return false;
    if (!is_little(varied.zero, varied.rows)) return r->replaces_ones = true;
    right_sides_free(r);
    r->x_from = NULL;
    r->up_to_constant = false;
    return make_named(m, find(right_sides, COUNT(right_sides), "aones"), 0, r, e);
}

static bool load_right_sides(const struct matrix *m, const char *word, struct right_sides *r, struct err *e)
{
    struct err why = {0};
    r->name = word;
    r->from_file = true;
    bool ok = mtx_load_columns(word, m->csr.rows, m->csr.imag, &r->own, &r->n, &why);
    r->b = r->own;
    return ok || load_failed("aones, avaried, ones, random, zero, given", word, &why, e);
}

bool right_sides_make(const struct matrix *m, const char *word, uint64_t seed, struct right_sides *r, struct err *e)
{
    const struct csr *A = &m->csr;
    *r = (struct right_sides){.each = A->rows * parts_of(A), .x_each = A->cols * parts_of(A)};
    if (word ? !strcmp(word, given) : m->sides.n > 0) return take_given(m, r, e);
    const struct named_vector *v = word ? find(right_sides, COUNT(right_sides), word) : NULL;
    bool ok = !word ? make_default(m, r, e) : v ? make_named(m, v, seed, r, e) : load_right_sides(m, word, r, e);
    if (!ok) right_sides_free(r);
    return ok;
}

void right_sides_note(struct out *o, const struct right_sides *r)
{
    if (r->replaces_ones)
        out_note(o, "b is avaried: A times a varied x, because A * ones is 0 or nearly a multiple of ones");
}

void right_sides_free(struct right_sides *r)
{
    mem_free(r->own);
    mem_free(r->own_x);
    r->own = r->own_x = NULL;
    r->b = r->x = NULL;
}

/* ---- starting guesses ---- */

bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e)
{
    struct err why = {0};
    const struct named_vector *v = find(starts, COUNT(starts), word);
    if (v) return v->make(A, A->cols, seed, x0, e);
    if ((A->imag ? mtx_load_complex_vector : mtx_load_vector)(word, A->cols, x0, &why)) return true;
    return load_failed("zero, ones, random", word, &why, e);
}

bool guess_make(const struct matrix *m, const char *word, uint64_t seed, int64_t i, double *x0, struct err *e)
{
    const double *guess = sides_guess(&m->sides, i), *x = guess ? guess : sides_x(&m->sides, i);
    if (!word || strcmp(word, given)) return start_vector_make(&m->csr, word, seed, x0, e);
    if (!x)
        return fail(e, E_USAGE,
                    "%s has no guess or solution of its own to start from; `x0` takes zero, ones, random or a file",
                    m->name);
    return loop_copy(x0, x, m->sides.x_each * (int64_t)sizeof *x, "copying x0", e);
}

void right_sides_list(give_fn *give, void *user)
{
    give(user, given);
    for (int i = 0; i < COUNT(right_sides); i++) give(user, right_sides[i].name);
}

void start_vectors_list(give_fn *give, void *user)
{
    for (int i = 0; i < COUNT(starts); i++) give(user, starts[i].name);
}

void guesses_list(give_fn *give, void *user)
{
    start_vectors_list(give, user);
    give(user, given);
}
