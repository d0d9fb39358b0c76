/* Right-hand sides and starting guesses by name. */
#include "right_side.h"
#include "matrix/csr.h"
#include "base/err.h"
#include "files/matrix_market.h"
#include "base/loop.h"
#include "base/mem.h"
#include "matrix.h"
#include "matrix/random.h"
#include "matrix/reference.h"

#include <string.h>

struct named_vector {
    const char *name;
    bool known_ones; /* with this right-hand side, all elements of the solution are 1 */
    bool (*make)(const struct csr *A, uint64_t seed, double *x, struct err *e);
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

static bool make_zero(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    (void)seed;
    return fill(A->rows, parts_of(A), 0, x, e);
}

static bool make_ones(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    (void)seed;
    return fill(A->rows, parts_of(A), 1, x, e);
}

static bool make_random(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    int64_t n = parts_of(A) * A->rows;
    struct loop l = loop_of("a random vector", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) x[i] = random_unit(&seed);
    return loop_end(&l, e);
}

static bool make_aones(const struct csr *A, uint64_t seed, double *b, struct err *e)
{
    (void)seed;
    double *ones = mem_new(parts_of(A) * A->cols, sizeof *ones, "a vector of ones", e);
    if (!ones) return false;
    bool ok = fill(A->cols, parts_of(A), 1, ones, e) && reference_product(A, 1, ones, 0, b, T_F64, NULL, e);
    mem_free(ones);
    return ok;
}

/* The first entry is the default if the matrix has no right sides of its own. */
static const struct named_vector right_sides[] = {{"aones", true, make_aones},
                                                  {"ones", false, make_ones},
                                                  {"random", false, make_random},
                                                  {"zero", false, make_zero}};
static const struct named_vector starts[] = {
    {"zero", false, make_zero}, {"ones", false, make_ones}, {"random", false, make_random}};

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
        return fail(e, E_USAGE, "%s has no right side of its own; `b` takes aones, ones, random, zero or a file",
                    m->name);
    r->name = given;
    r->from_file = true;
    r->n = t->n;
    r->b = t->b;
    r->x = t->x;
    return true;
}

static bool make_named(const struct matrix *m, const struct named_vector *v, uint64_t seed, struct right_sides *r,
                       struct err *e)
{
    r->name = v->name;
    r->n = 1;
    r->known_ones = v->known_ones;
    r->b = r->own = mem_new(r->each, sizeof *r->own, "the right side", e);
    return r->own && v->make(&m->csr, seed, r->own, e);
}

static bool load_right_sides(const struct matrix *m, const char *word, struct right_sides *r, struct err *e)
{
    struct err why = {0};
    r->name = word;
    r->from_file = true;
    bool ok = mtx_load_columns(word, m->csr.rows, m->csr.imag, &r->own, &r->n, &why);
    r->b = r->own;
    return ok || load_failed("aones, ones, random, zero, given", word, &why, e);
}

bool right_sides_make(const struct matrix *m, const char *word, uint64_t seed, struct right_sides *r, struct err *e)
{
    const struct csr *A = &m->csr;
    *r = (struct right_sides){.each = A->rows * parts_of(A), .x_each = A->cols * parts_of(A)};
    if (word ? !strcmp(word, given) : m->sides.n > 0) return take_given(m, r, e);
    const struct named_vector *v = find(right_sides, COUNT(right_sides), word);
    bool ok = v ? make_named(m, v, seed, r, e) : load_right_sides(m, word, r, e);
    if (!ok) right_sides_free(r);
    return ok;
}

void right_sides_free(struct right_sides *r)
{
    mem_free(r->own);
    r->own = NULL;
    r->b = r->x = NULL;
}

/* ---- starting guesses ---- */

bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e)
{
    struct err why = {0};
    const struct named_vector *v = find(starts, COUNT(starts), word);
    if (v) return v->make(A, seed, x0, e);
    if ((A->imag ? mtx_load_complex_vector : mtx_load_vector)(word, A->rows, x0, &why)) return true;
    return load_failed("zero, ones, random", word, &why, e);
}

bool guess_make(const struct matrix *m, const char *word, uint64_t seed, int64_t i, double *x0, struct err *e)
{
    const double *x = sides_x(&m->sides, i);
    if (!word || strcmp(word, given)) return start_vector_make(&m->csr, word, seed, x0, e);
    if (!x || m->csr.rows != m->csr.cols)
        return fail(e, E_USAGE, "%s has no solution of its own to start from; `x0` takes zero, ones, random or a file",
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
