/* Adds a matrix that a command derived from another matrix to the session, with its right sides. */
#include "derived.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "matrix.h"
#include "pattern.h"
#include "report/output.h"
#include "session.h"

/* Element i of the new vector is element from(i) of the old one, divided by the divisor or multiplied by it. */
struct vector_map {
    const int *from;
    int64_t first, n;
    const double *divisor;
    bool multiplies;
};

static double mapped(const struct vector_map *map, int64_t from, double value)
{
    double by = map->divisor ? map->divisor[from] : 1;
    return map->multiplies ? value * by : value / by;
}

/* to: n elements of `parts` numbers */
static void map_vector(const struct vector_map *map, int64_t parts, const double *old, double *to)
{
    for (int64_t i = 0; i < map->n; i++) {
        int64_t from = map->from ? map->from[i] : map->first + i;
        for (int64_t k = 0; k < parts; k++) to[i * parts + k] = mapped(map, from, old[from * parts + k]);
    }
}

static double *map_vectors(const struct vector_map *map, int64_t parts, int64_t n, int64_t old_each, const double *old,
                           struct err *e)
{
    double *to = mem_new(n * map->n * parts, sizeof *to, "the right sides of the new matrix", e);
    for (int64_t i = 0; to && i < n; i++) map_vector(map, parts, old + i * old_each, to + i * map->n * parts);
    return to;
}

static bool map_sides(struct matrix *m, const struct sides *t, const struct carried *c, struct err *e)
{
    int64_t parts = m->csr.imag ? 2 : 1;
    struct vector_map rows = {.from = c->rows, .first = c->row0, .n = m->csr.rows, .divisor = c->row_divisor};
    struct vector_map cols = {.from = c->cols, .n = m->csr.cols, .divisor = c->col_divisor, .multiplies = true};
    double *b = map_vectors(&rows, parts, t->n, t->b_each, t->b, e);
    if (!b) return false;
    m->sides = sides_of_columns(&m->csr, t->n, b);
    bool solved = t->x && !c->drops_x, guessed = t->guess && !c->drops_x;
    if (solved) m->sides.x = map_vectors(&cols, parts, t->n, t->x_each, t->x, e);
    if (guessed) m->sides.guess = map_vectors(&cols, parts, t->n, t->x_each, t->guess, e);
    if (!m->sides.x == !solved && !m->sides.guess == !guessed) return true;
    sides_free(&m->sides);
    return false;
}

bool session_carry_sides(struct session *s, const struct matrix *of, const struct carried *c, struct err *e)
{
    if (!of->sides.n) return true;
    if (!c)
        out_note(s->out, "b of %s is left out: %s is another system", of->name, s->current->name);
    else if (c->says)
        out_note(s->out, "b of %s %s", of->name, c->says);
    return !c || map_sides(s->current, &of->sides, c, e);
}

static void name_source(struct matrix *m, const struct matrix *of)
{
    SCREEN_EDIT;
    snprintf(m->info.file, sizeof m->info.file, "%s", of->name);
}

bool session_add_derived(struct session *s, const char *name, const struct matrix *of, const char *ending,
                         struct csr *A, const struct carried *c, double us, struct err *e)
{
    struct load_info info = {.object = "matrix", .symmetry = "general", .nnz_stored = A->nnz, .ms = us / 1000};
    snprintf(info.field, sizeof info.field, "%s", field_after(of, A));
    snprintf(info.file, sizeof info.file, "%s-%s", of->name, ending);
    if (!session_add(s, name, A, &info, e)) return false;
    name_source(s->current, of);
    return session_carry_sides(s, of, c, e);
}
