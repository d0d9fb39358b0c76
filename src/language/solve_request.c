/* Reads what the line of a command that solves asks for: the options, the right sides and the start vector. */
#include "solve_request.h"
#include "args.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "base/words.h"
#include "files/matrix_market.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/reorder.h"
#include "session/generated.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <stdio.h>
#include <string.h>

/* The words after `nullspace` that are no files. */
static const char *const null_words[] = {"none", "constant"};

/* ---- options ---- */

static struct given given_of(const struct args *a, const char *key)
{
    return (struct given){arg(a, key) != NULL, arg_real(a, key, 0)};
}

struct triangle_settings triangle_settings_of(const struct args *a)
{
    struct triangle_settings t = {.sweeps = arg_int(a, "sweeps", 0)};
    if (arg(a, "triangles"))
        t.way = !strcmp(arg(a, "triangles"), "levels") ? TRIANGLES_LEVELS : TRIANGLES_SYNC_FREE;
    else if (arg(a, "sweeps"))
        t.way = TRIANGLES_SWEEPS;
    if (arg(a, "order")) t.order = ordering_find(arg(a, "order"));
    t.natural = arg(a, "order") && !t.order;
    t.shift = given_of(a, "shift");
    t.drop = given_of(a, "drop");
    t.fill = given_of(a, "fill");
    return t;
}

/* ---- the near-null vectors of multigrid, and the null space of A ---- */

static bool near_numbers(const struct args *a, struct near_settings *n, struct err *e)
{
    if (arg(a, "vectors") && n->kind != NEAR_ADAPTIVE)
        return fail(e, E_USAGE, "`vectors` is the number of vectors of `near adaptive`");
    if ((n->kind == NEAR_RIGID) != (arg(a, "coordinates") != NULL))
        return fail(e, E_USAGE,
                    "`near rigid` needs the coordinates of the nodes, and only `near rigid` does: `near rigid "
                    "coordinates FILE`");
    return arg_within(a, "vectors", 0, 1, NEAR_VECTORS, &n->vectors, e);
}

bool near_settings_of(const struct args *a, struct near_settings *n, struct err *e)
{
    static const char *const words[] = {
        [NEAR_CONSTANT] = "constant", [NEAR_RIGID] = "rigid", [NEAR_ADAPTIVE] = "adaptive"};
    const char *word = arg(a, "near"), *file = arg(a, "coordinates");
    *n = (struct near_settings){0};
    for (int k = NEAR_CONSTANT; word && k < COUNT(words); k++)
        if (!strcmp(word, words[k])) n->kind = (enum near_kind)k;
    if (!near_numbers(a, n, e)) return false;
    if (!file) return true;
    snprintf(n->from, sizeof n->from, "%s", file);
    if (!columns_load(file, &n->coordinates, &n->points, &n->axes, e)) return false;
    if (n->axes == 2 || n->axes == 3) return true;
    mem_free(n->coordinates);
    n->coordinates = NULL;
    return fail(e, E_INPUT, "%s has %lld columns, but coordinates have 2 or 3: a row for each node", file,
                (long long)n->axes);
}

/* `nullspace none`, `nullspace constant`, or a file. */
static bool nullspace_of(const struct matrix *m, const struct args *a, struct solve_options *o, struct err *e)
{
    const char *word = arg(a, "nullspace");
    int64_t rows;
    if (!word) return true;
    o->null = !strcmp(word, null_words[0]) ? NULL_NOTHING : !strcmp(word, null_words[1]) ? NULL_CONSTANTS : NULL_GIVEN;
    if (o->null != NULL_GIVEN) return true;
    o->null_from = word;
    if (!columns_load(word, &o->null_vectors, &rows, &o->null_columns, e)) return false;
    if (rows == m->csr.rows && o->null_columns > 0 && o->null_columns <= NULL_ON_DEVICE) return true;
    return fail(e, E_INPUT, "%s is %lld x %lld, but a null space of %s needs %lld rows and 1 to %d columns", word,
                (long long)rows, (long long)o->null_columns, m->name, (long long)m->csr.rows, NULL_ON_DEVICE);
}

void null_words_list(give_fn *give, void *user)
{
    for (int i = 0; i < COUNT(null_words); i++) give(user, null_words[i]);
}

void solve_options_free(struct solve_options *o)
{
    mem_free(o->near.coordinates);
    mem_free(o->null_vectors);
    o->near.coordinates = o->null_vectors = NULL;
}

struct schur_settings schur_settings_of(const struct args *a)
{
    return (struct schur_settings){.inner = arg(a, "inner") ? precond_find(arg(a, "inner")) : NULL,
                                   .complement = arg(a, "complement") ? precond_find(arg(a, "complement")) : NULL};
}

/* Was `word` given after the keyword `key`? */
static bool chose(const struct args *a, const char *key, const char *word)
{
    return arg(a, key) && !strcmp(arg(a, key), word);
}

/* What `refine` names: the type of the values; the vectors of the inner solves are in fp32. */
static enum precision inner_precision(const char *word)
{
    static const enum precision inner[] = {P_F32, P_F16_F32, P_BF16_F32};
    for (int i = 0; i < COUNT(inner); i++)
        if (!strcmp(word, type_name(precisions[inner[i]].stored))) return inner[i];
    return P_F32;
}

bool solve_options_of(struct session *s, const struct matrix *m, const struct args *a, struct solve_options *o,
                      struct err *e)
{
    *o = (struct solve_options){0};
    o->solver = arg(a, "solver") ? solver_find(arg(a, "solver")) : NULL;
    o->format = arg(a, "using") ? format_find(arg(a, "using")) : NULL;
    o->kernel = arg(a, "kernel") ? kernel_find(arg(a, "kernel")) : NULL;
    o->dev = session_device_for(s, m, arg(a, "on"), e);
    o->real = arg_precision(a);
    o->eps = arg_real(a, "eps", 0);
    o->refine = arg(a, "refine") != NULL;
    if (o->refine) o->stored = inner_precision(arg(a, "refine"));
    o->tol = arg_real(a, "tol", o->eps > 0 ? 0 : o->real == P_F32 && !o->refine ? 1e-5 : 1e-8);
    if (o->refine) o->real = P_F32;
    o->conlim = arg_real(a, "conlim", 0);
    o->omega = arg_real(a, "omega", 0);
    o->pre = arg(a, "precond") ? precond_find(arg(a, "precond")) : NULL;
    o->pre_block = arg_int(a, "block", 0);
    o->triangles = triangle_settings_of(a);
    o->schur = schur_settings_of(a);
    o->keeps = s->interactive || arg_flag(a, "step");
    o->m = arg_int(a, "m", 0);
    o->maxit = arg_int(a, "maxit", 10000);
    o->force = arg_flag(a, "force");
    o->scaled = arg_flag(a, "scaled");
    o->reorder = arg(a, "reorder") ? ordering_find(arg(a, "reorder")) : NULL;
    o->modified = chose(a, "orth", "modified");
    o->sums_host = chose(a, "sums", "host");
    o->least_host = chose(a, "least", "host");
    o->form_matrix = chose(a, "form", "matrix");
    o->launches = chose(a, "launches", "one")    ? LAUNCHES_ONE
                  : chose(a, "launches", "many") ? LAUNCHES_MANY
                                                 : LAUNCHES_AUTO;
    bool ok = o->dev && near_settings_of(a, &o->near, e) && nullspace_of(m, a, o, e);
    if (!ok) solve_options_free(o);
    return ok;
}

/* Append " KEY VALUE" if the line gives a value. */
static void same_word(const struct args *a, const char *key, char *out, size_t size)
{
    const char *text = arg(a, key);
    char word[160];
    size_t n = strlen(out);
    if (text) snprintf(out + n, size - n, " %s %s", key, word_join(text, word, sizeof word));
}

struct solve_same solve_same_of(const struct args *a, const struct solve_options *o)
{
    static const char *const keys[] = {"b", "column", "seed"};
    struct solve_same same = {0};
    same_word(a, "on", same.device, sizeof same.device);
    if (o->dev && o->dev->kind == DEV_CPU) same_word(a, "on", same.host, sizeof same.host);
    for (int i = 0; i < COUNT(keys); i++) same_word(a, keys[i], same.system, sizeof same.system);
    same_word(a, "tol", same.tol, sizeof same.tol);
    text_append(same.form, sizeof same.form, "%s", solve_form_of(o).text);
    if (o->real == P_F32 && !o->refine) snprintf(same.precision, sizeof same.precision, " f32");
    return same;
}

/* ---- vectors ---- */

/* The column that the user chose with `column N`; 0 if there was no such word. */
static bool column_of(const struct args *a, const struct right_sides *r, int64_t *i, struct err *e)
{
    if (r->n == 1 && arg_int(a, "column", 0) != 0)
        return fail(e, E_USAGE, "the right side has 1 column, so `column` can only be 0");
    return arg_within(a, "column", 0, 0, r->n - 1, i, e);
}

static uint64_t seed_of(const struct args *a)
{
    return (uint64_t)arg_int(a, "seed", 1);
}

bool sides_request_of(const struct matrix *m, const struct args *a, struct sides_request *out, struct err *e)
{
    *out = (struct sides_request){0};
    if (!right_sides_make(m, arg(a, "b"), seed_of(a), &out->all, e)) return false;
    if (!column_of(a, &out->all, &out->column, e)) return right_sides_free(&out->all), false;
    out->several = out->all.n > 1 && !arg(a, "column");
    return true;
}

double *guess_of(const struct matrix *m, const struct args *a, int64_t i, struct err *e)
{
    double *x0 = mem_new(solve_numbers(&m->csr), sizeof *x0, "the vectors of a solve", e);
    if (x0 && guess_make(m, arg(a, "x0"), seed_of(a) + 1, i, x0, e)) return x0;
    mem_free(x0);
    return NULL;
}
