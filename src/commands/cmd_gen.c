/* gen: generates a matrix; the same seed gives the same matrix. */
#include "session/args.h"
#include "base/screen_lock.h"
#include "base/clock.h"
#include "session/command.h"
#include "matrix/gen.h"
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
    out_num(o, "time_ms", "ms", m->info.ms, "%.1f");
}

/* The load_info of a generated matrix. */
static struct load_info info_of(const struct generator *g, const struct csr *A, double ms)
{
    struct load_info info = {
        .field = "real", .symmetry = "general", .object = "matrix", .nnz_stored = A->nnz, .ms = ms};
    snprintf(info.file, sizeof info.file, "%s", g->name);
    return info;
}

static bool run_gen(struct session *s, const struct args *a, struct err *e)
{
    const struct generator *g = generator_find(arg(a, "generator"));
    int64_t param[PARAMS_MAX], seed = arg_int(a, "seed", 1);
    struct csr A = {0};
    double start = now_us();
    if (!arg_params(a, g->params, param, e)) return false;
    bool gave = screen_lock_give();
    bool made = g->make(param, (uint64_t)seed, &s->watch, &A, e);
    screen_lock_back(gave);
    if (!made) return false;
    struct load_info info = info_of(g, &A, (now_us() - start) / 1000);
    bool ok = session_add(s, arg(a, "as"), &A, &info, e);
    csr_free(&A);
    if (ok) out_generated(s->out, s->current, g, seed);
    return ok;
}

const struct command command_gen = {
    .name = "gen",
    .aliases = "generate",
    .grammar = "GENERATOR [PARAMS] [seed N] [as NAME]",
    .about = "generate a matrix: a grid, a graph, a band, random rows",
    .help = "Give parameters in order or by name. The same seed (default 1; any integer) gives the same matrix on\n"
            "every machine. band, dense, poisson2d, poisson3d, random and stencil make matrices with more than\n"
            "2,147,483,647 nonzeros, if there is enough memory; a matrix has at most 2,147,483,647 columns.\n"
            "    gen poisson2d 100 100 as P; gen random n 5000 seed 7",
    .run = run_gen,
    .large = true,
};
