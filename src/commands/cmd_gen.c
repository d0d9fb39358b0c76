/* gen: generates a matrix; the same seed gives the same matrix. */
#include "base/clock.h"
#include "base/screen_lock.h"
#include "language/args.h"
#include "machine/device.h"
#include "matrix/gen.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/generated.h"
#include "session/matrix.h"
#include "session/session.h"

#include <string.h>

static void out_generated(struct out *o, const struct matrix *m, const struct generator *g, int64_t seed)
{
    out_row(o);
    out_str(o, "name", "name", m->name);
    out_str(o, "generator", "generator", g->name);
    out_int(o, "rows", "rows", m->csr.rows);
    out_int(o, "cols", "cols", m->csr.cols);
    out_int(o, "nnz", "nonzeros", m->csr.nnz);
    out_int(o, "seed", "seed", seed);
    out_str(o, "in_parts_on", m->parts_on ? "in parts on" : NULL, m->parts_on ? m->parts_on->name : NULL);
    out_num(o, "time_ms", "ms", m->info.ms, "%.1f");
}

/* The load_info of a generated matrix. */
static struct load_info info_of(const struct generator *g, int64_t nnz, double ms)
{
    struct load_info info = {.field = "real", .symmetry = "general", .object = "matrix", .nnz_stored = nnz, .ms = ms};
    snprintf(info.file, sizeof info.file, "%s", g->name);
    return info;
}

static bool generate_whole(struct session *s, const struct args *a, const struct generator *g, const int64_t *param,
                           struct err *e)
{
    struct csr A = {0};
    double start = now_us();
    if (!g->make(param, (uint64_t)arg_int(a, "seed", 1), &s->watch, &A, e)) return false;
    struct load_info info = info_of(g, A.nnz, (now_us() - start) / 1000);
    bool ok = session_add(s, arg(a, "as"), &A, &info, e);
    csr_free(&A);
    return ok;
}

/* The members of the device generate their own rows. */
static bool generate_parts(struct session *s, const struct args *a, const struct generator *g, const int64_t *param,
                           struct err *e)
{
    struct device *d = session_device(s, arg(a, "on"), e);
    struct load_info info = info_of(g, 0, 0);
    double start = now_us();
    if (!d || !session_add_in_parts(s, arg(a, "as"), g, param, (uint64_t)arg_int(a, "seed", 1), &info, d, e))
        return false;
    info = info_of(g, s->current->csr.nnz, (now_us() - start) / 1000);
    snprintf(info.file, sizeof info.file, "%s on %s", g->name, d->name);
    SCREEN_EDIT;
    s->current->info = info;
    return true;
}

static bool run_gen(struct session *s, const struct args *a, struct err *e)
{
    const struct generator *g = generator_find(arg(a, "generator"));
    int64_t param[PARAMS_MAX];
    if (!arg_params(a, g->params, param, e)) return false;
    if (!(arg(a, "on") ? generate_parts : generate_whole)(s, a, g, param, e)) return false;
    out_generated(s->out, s->current, g, arg_int(a, "seed", 1));
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field gen_fields[] = {
    {"name", F_TEXT, "name of the matrix"},
    {"generator", F_TEXT, "generator"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"seed", F_INTEGER, "seed of its random numbers"},
    {"in_parts_on", F_TEXT | OR_NULL, "the device whose members made their own rows; null: made whole"},
    {"time_ms", F_AMOUNT, "making it, in ms"},
    {0},
};
static const struct row_kind row_gen = {"gen", "a matrix made by a generator", gen_fields};

const struct command command_gen = {
    .name = "gen",
    .aliases = "generate",
    .grammar = "GENERATOR [PARAMS] [seed N] [on DEVICE] [as NAME]",
    .about = "generate a matrix: a grid, a graph, a band, random rows",
    .help =
        "Give parameters in order or by name. The same seed (default 1; any integer) gives the same matrix on\n"
        "every machine. band, chain, convection, dense, poisson2d, poisson3d, random and stencil make matrices with\n"
        "more than 2,147,483,647 nonzeros, if there is enough memory; a matrix has at most 2,147,483,647 columns.\n"
        "The eigenvalues of chain N are 2 - 2 cos(i pi / (N + 1)), and those of convection NX NY, with w = W / 100,\n"
        "4 - 2 sqrt(1 - w^2) (cos(i pi / (NX + 1)) + cos(j pi / (NY + 1))), for i and j from 1.\n"
        "With `on` and a device with several members, such as cuda:0+1 or emu*2, the matrix is generated in\n"
        "parts: each member gets its rows as they are made, so the matrix may be larger than the memory of the\n"
        "host or of one GPU. Such a matrix is multiplied and solved on devices with members (`spmv`, `solve`\n"
        "with a named solver, `timeline`); no command sees its entries. band, chain, convection, elasticity,\n"
        "poisson2d, poisson3d, random and stencil generate in parts.\n"
        "    gen poisson2d 100 100 as P; gen random n 5000 seed 7; gen poisson3d 40 on emu*2",
    .rows = (const struct row_kind *const[]){&row_gen, NULL},
    .run = run_gen,
    .sweeps = true,
    .large = true,
    .several = true,
};
