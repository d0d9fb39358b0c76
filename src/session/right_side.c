/* Right-hand sides and starting guesses by name. */
#include "right_side.h"
#include "matrix/csr.h"
#include "base/err.h"
#include "files/matrix_market.h"
#include "base/loop.h"
#include "base/mem.h"
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

static void fill(int64_t n, int64_t parts, double value, double *x)
{
    for (int64_t i = 0; i < n * parts; i++) x[i] = i % parts ? 0 : value;
}

static bool make_zero(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    (void)seed, (void)e;
    fill(A->rows, parts_of(A), 0, x);
    return true;
}

static bool make_ones(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    (void)seed, (void)e;
    fill(A->rows, parts_of(A), 1, x);
    return true;
}

static bool make_random(const struct csr *A, uint64_t seed, double *x, struct err *e)
{
    (void)e;
    for (int64_t i = 0; i < parts_of(A) * A->rows; i++) x[i] = random_unit(&seed);
    return true;
}

static bool make_aones(const struct csr *A, uint64_t seed, double *b, struct err *e)
{
    (void)seed;
    double *ones = mem_new(parts_of(A) * A->cols, sizeof *ones, "a vector of ones", e);
    if (!ones) return false;
    fill(A->cols, parts_of(A), 1, ones);
    reference_spmv(A, 1, ones, 0, b, T_F64, NULL);
    mem_free(ones);
    return loop_tick("the right side", 0, 0, e);
}

/* The first entry is the default. */
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
static bool load(const char *names, const char *word, const struct csr *A, double *x, struct err *e)
{
    struct err why = {0};
    if ((A->imag ? mtx_load_complex_vector : mtx_load_vector)(word, A->rows, x, &why)) return true;
    if (why.code == E_IO && !strpbrk(word, "./"))
        return fail(e, E_USAGE, "`%s` is neither a readable file nor one of %s", word, names);
    return fail_at(e, why.code, why.where, "%s", why.text);
}

bool right_side_make(const struct csr *A, const char *word, uint64_t seed, double *b, bool *known_ones, struct err *e)
{
    const struct named_vector *v = find(right_sides, COUNT(right_sides), word);
    *known_ones = v && v->known_ones;
    return v ? v->make(A, seed, b, e) : load("aones, ones, random, zero", word, A, b, e);
}

bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e)
{
    const struct named_vector *v = find(starts, COUNT(starts), word);
    return v ? v->make(A, seed, x0, e) : load("zero, ones, random", word, A, x0, e);
}

void right_sides_list(give_fn *give, void *user)
{
    for (int i = 0; i < COUNT(right_sides); i++) give(user, right_sides[i].name);
}

void start_vectors_list(give_fn *give, void *user)
{
    for (int i = 0; i < COUNT(starts); i++) give(user, starts[i].name);
}
