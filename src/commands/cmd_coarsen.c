/* coarsen: shows the levels of multigrid for a matrix, or makes the matrix of one level. */
#include "base/clock.h"
#include "base/text.h"
#include "language/args.h"
#include "matrix/csr.h"
#include "matrix/symmetry.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"

#include <math.h>
#include <stdio.h>

static void out_level(struct out *o, const struct matrix *m, const struct amg *g, const struct amg_trial *trial, int k,
                      double us)
{
    const struct amg_level *l = &g->level[k];
    int64_t rows = l->A->rows;
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_int(o, "level", "level", k);
    out_int(o, "rows", "rows", rows);
    out_int(o, "nnz", "nonzeros", l->A->nnz);
    out_num(o, "row_mean", "per row", rows ? (double)l->A->nnz / (double)rows : 0, "%.1f");
    out_bytes(o, "bytes", "bytes", amg_level_bytes(g, k));
    out_num(o, "smoothed", "smoothed", trial[k].smoothed, "%.3f");
    out_num(o, "corrected", "corrected", trial[k].corrected, "%.3f");
    out_num(o, "after", "after", trial[k].after, "%.3f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "largest", "eigenvalues to", l->bound, "%.3f");
    out_int(o, "p_nnz", "nonzeros of P", l->P.nnz);
    out_num(o, "entries_ratio", NULL, amg_entries_ratio(g), NULL);
    out_num(o, "rows_ratio", NULL, amg_rows_ratio(g), NULL);
    out_num(o, "setup_us", NULL, us, NULL);
}

static void out_sums(struct out *o, const struct amg *g, double us)
{
    char made[32];
    if (!g->level[0].A->nnz) return;
    out_text(o, "All levels have %.2f times the nonzeros and %.2f times the rows of level 0; made in %s.",
             amg_entries_ratio(g), amg_rows_ratio(g), show_us(us, made, sizeof made));
    out_prose(o,
              "smoothed, corrected, after: ||r|| / ||b|| on each level in one cycle, for a random b: after the first\n"
              "smoother, after the correction from the next level, and after the second smoother.");
}

static bool show(struct session *s, const struct matrix *m, const struct amg *g, double us, struct err *e)
{
    struct amg_trial trial[AMG_LEVELS];
    if (!amg_try(g, trial, e)) return false;
    for (int k = 0; k < g->n; k++) out_level(s->out, m, g, trial, k, us);
    if (!out_flush(s->out, e)) return false;
    out_sums(s->out, g, us);
    return true;
}

/* Take the matrix of level k out of the hierarchy. The first level belongs to the session, so it is copied. */
static bool take_level(struct csr *B, struct amg *g, int64_t k, struct err *e)
{
    if (k == 0) return csr_copy(B, g->level[0].A, e);
    *B = g->level[k].own;
    g->level[k].own = (struct csr){0};
    return true;
}

/* Make the matrix of level k. The hierarchy loses it. */
static bool keep(struct session *s, const struct args *a, const struct matrix *m, struct amg *g, int64_t k, double us,
                 struct err *e)
{
    static const struct carried same = {0};
    char ending[32];
    struct csr B;
    if (k < 0 || k >= g->n)
        return fail(e, E_USAGE, "there is no level %lld: multigrid has %s for %s, counted from 0", (long long)k,
                    how_many(g->n, "level").text, m->name);
    snprintf(ending, sizeof ending, "level%lld", (long long)k);
    if (!take_level(&B, g, k, e)) return false;
    bool ok = session_add_derived(s, arg(a, "as"), m, ending, &B, k == 0 ? &same : NULL, us, e);
    csr_free(&B);
    if (!ok) return false;
    out_record(s->out);
    out_str(s->out, "name", "name", s->current->name);
    out_str(s->out, "matrix", "made of", m->name);
    out_int(s->out, "level", "level", k);
    out_int(s->out, "rows", "rows", s->current->csr.rows);
    out_int(s->out, "nnz", "nonzeros", s->current->csr.nnz);
    out_time(s->out, "setup_us", "made in", us);
    return true;
}

static bool make(struct amg *g, const struct csr *A, double *us, struct err *e)
{
    double begin = now_us();
    bool ok = symmetry_needed(A, "coarsen", "use `symmetrize` first", e) && amg_make(g, A, e);
    *us = now_us() - begin;
    return ok;
}

static bool run_coarsen(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct amg g;
    double us;
    if (!m) return false;
    if (m->csr.rows != m->csr.cols || m->csr.imag)
        return fail(e, E_UNSUPPORTED, "multigrid needs a square real matrix, but %s is %s", m->name,
                    m->csr.imag ? "complex" : "not square");
    if (!csr_finite(&m->csr, "coarsen", e) || !make(&g, &m->csr, &us, e)) return false;
    bool ok = arg(a, "level") ? keep(s, a, m, &g, arg_int(a, "level", 0), us, e) : show(s, m, &g, us, e);
    amg_free(&g);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field coarsen_level_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"level", F_COUNT, "0: the matrix itself"},
    {"rows", F_COUNT, "rows of the matrix of the level"},
    {"nnz", F_COUNT, "stored entries of the matrix of the level"},
    {"row_mean", F_AMOUNT, "entries of a row on average"},
    {"bytes", F_COUNT, "bytes of A, P and R in CSR"},
    {"smoothed", F_NUMBER | OR_NULL, "||r|| / ||b|| after the first smoother; null: none"},
    {"corrected", F_NUMBER | OR_NULL, "||r|| / ||b|| after the correction; null: none"},
    {"after", F_NUMBER, "||r|| / ||b|| at the end of the cycle"},
    {"largest", F_NUMBER, "upper bound on the eigenvalues of D^-1 A, estimated"},
    {"p_nnz", F_COUNT, "entries of P, from the next level; 0: none"},
    {"entries_ratio", F_NUMBER, "entries of all levels / entries of level 0"},
    {"rows_ratio", F_NUMBER, "rows of all levels / rows of level 0"},
    {"setup_us", F_AMOUNT, "time to make all levels"},
    {0},
};
static const struct row_kind row_coarsen_level = {"level", "a level of multigrid", coarsen_level_fields};

static const struct field coarsen_made_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"level", F_COUNT, "level of the new matrix"},
    {"rows", F_COUNT, "rows of the new matrix"},
    {"nnz", F_COUNT, "stored entries of the new matrix"},
    {"setup_us", F_AMOUNT, "time to make all levels"},
    {0},
};
static const struct row_kind row_coarsen_made = {"made", "the matrix of a level, as a new matrix", coarsen_made_fields};

const struct command command_coarsen = {
    .name = "coarsen",
    .aliases = "levels",
    .grammar = "[MATRIX] [level N] [as NAME]",
    .about = "the levels of multigrid (precond amg): sizes and residuals",
    .help =
        "Makes the hierarchy of `precond amg` and prints a row per level: its rows and nonzeros, the bytes of its\n"
        "matrices A, P and R in CSR, and the residual in the parts of one cycle. Level 0 is the matrix itself; the\n"
        "matrix of the next level is P' A P. With `level`, the matrix of that level becomes the current matrix, named\n"
        "A-level1 if no name is given, so that `spy`, `stats` and `rows` show it. The matrix must be symmetric.\n"
        "    coarsen A; coarsen A level 1 as C; spy C",
    .rows = (const struct row_kind *const[]){&row_coarsen_level, &row_coarsen_made, NULL},
    .run = run_coarsen,
    .sweeps = true,
};
