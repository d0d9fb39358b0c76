/* Batches: the numbers of their rows, ten systems with the x of numpy, and operations by column. */
#include "batch_kit.h"
#include "base/mem.h"
#include "base/precision.h"
#include "kernel_loops.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/random.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "test.h"

#include <math.h>

enum { SYSTEMS = 10 };

static const struct {
    const char *file;
    const char *solvers; /* "cmbq": the solvers that converge, by their first letters; in f32, those of `single` */
    const char *single;
} systems[SYSTEMS] = {{"spd0", "cmbq", "cmbq"},    {"spd1", "cmbq", "cmbq"},      {"spd2", "cmbq", "cmbq"},
                      {"spd3", "cmbq", "cmbq"},    {"negative4", "cmbq", "cmbq"}, {"indefinite5", "mbq", "m"},
                      {"indefinite6", "mbq", "m"}, {"general7", "bq", "bq"},      {"general8", "bq", "bq"},
                      {"general9", "bq", "bq"}};

int batch_numbers(const struct talk *t, const char *key, double *to, int room)
{
    char quoted[64];
    int n = 0;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (const char *at = t->out; (at = strstr(at, quoted)) && n < room; at++) {
        at += strlen(quoted);
        to[n++] = *at == 'n' || *at == '"' ? NAN : strtod(at, NULL);
    }
    return n;
}

void batch_line(struct talk *t, const char *line)
{
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    if (strstr(t->out, "\"converged\":false")) fail_msg("%s: %s", line, t->out);
}

/* ---- numpy ---- */

static void check_system(struct talk *t, int i, const struct solver *s, const char *words, double least)
{
    char line[160];
    double error[BATCH_SIDES + 1];
    if (!strchr(strstr(words, "f32") ? systems[i].single : systems[i].solvers, s->name[0])) return;
    snprintf(line, sizeof line, "batch %s %s", s->name, words);
    batch_line(t, line);
    assert_int_equal(batch_numbers(t, "error_known", error, BATCH_SIDES + 1), BATCH_SIDES);
    for (int c = 0; c < BATCH_SIDES; c++)
        if (!(error[c] <= least)) fail_msg("%s of %s: column %d is wrong by %g", line, systems[i].file, c, error[c]);
}

void check_batch(const char *device)
{
    static const struct {
        const char *words;
        double least;
    } ways[] = {{"tol 1e-12", 1e-11},
                {"tol 1e-12 precond jacobi", 1e-11},
                {"tol 1e-4 f32", 3e-3},
                {"tol 1e-4 precond jacobi f32", 3e-3},
                {"tol 1e-12 x0 random", 1e-11}};
    struct talk t;
    char line[160];
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < SYSTEMS; i++) {
        snprintf(line, sizeof line, "load tests/files/batch/%s.npz as A%d; device %s", systems[i].file, i, device);
        assert_true(talk_line(&t, line));
        for (int k = 0; solvers[k]; k++)
            for (int w = 0; solvers[k]->columns && w < COUNT(ways); w++)
                check_system(&t, i, solvers[k], ways[w].words, ways[w].least);
    }
    talk_close(&t);
}

/* ---- operations by column ---- */

struct columns {
    struct device *d;
    enum type type;
    int64_t rows;
    int n;
    double *host[2];
    void *dev[2];
    double *s;
};

static void columns_make(struct columns *t, const char *device, enum type type, int64_t rows, int n)
{
    uint64_t state = 3;
    struct err e = {0};
    *t = (struct columns){.d = open_or_fail(device), .type = type, .rows = rows, .n = n};
    t->s = t->d->ops->alloc(t->d, COLUMNS_WORK * (int64_t)sizeof *t->s, "scalars", &e);
    for (int c = 0; c < n; c++) {
        double s[SCALARS] = {[S_COLS] = n, [S_ALPHA] = c + 1, [S_BETA] = 2};
        assert_true(t->d->ops->put(t->d, t->s + c * SCALARS, s, sizeof s, &e));
    }
    for (int k = 0; k < 2; k++) {
        t->host[k] = mem_new(rows * n, sizeof(double), "a vector", &e);
        t->dev[k] = t->d->ops->alloc(t->d, rows * n * (int64_t)sizeof(double), "a vector", &e);
        float *f = mem_new(rows * n, sizeof *f, "floats", &e);
        for (int64_t i = 0; i < rows * n; i++) f[i] = (float)(t->host[k][i] = (double)(float)random_unit(&state));
        const void *from = type == T_F32 ? (const void *)f : t->host[k];
        assert_true(t->d->ops->put(t->d, t->dev[k], from, rows * n * (int64_t)type_size(type), &e));
        mem_free(f);
    }
}

static void columns_free(struct columns *t)
{
    for (int k = 0; k < 2; k++) {
        mem_free(t->host[k]);
        t->d->ops->free(t->d, t->dev[k]);
    }
    t->d->ops->free(t->d, t->s);
}

void check_columns(const char *device, enum type type, int64_t rows, int n)
{
    struct columns t;
    struct err e = {0};
    int done = n / 2;
    columns_make(&t, device, type, rows, n);
    const struct vec_ops *ops = vec_ops_by_column(t.d, type);
    double stop = STOPPED, s[SCALARS];
    if (n > 1) assert_true(t.d->ops->put(t.d, t.s + done * SCALARS + S_DONE, &stop, sizeof stop, &e));
    ops->dot(t.d, rows * n, t.s, t.dev[0], t.dev[1], S_RR);
    ops->div(t.d, t.s, S_RHO, S_ALPHA, S_BETA);
    ops->axpy(t.d, rows * n, t.s, S_ALPHA, -1, t.dev[0], t.dev[1]);
    double *y = mem_new(rows * n, sizeof *y, "y", &e);
    assert_true(t.d->ops->get(t.d, y, t.dev[1], rows * n * (int64_t)type_size(type), &e));
    for (int c = 0; c < n; c++) {
        double sum = 0;
        bool on = n == 1 || c != done;
        assert_true(t.d->ops->get(t.d, s, t.s + c * SCALARS, sizeof s, &e) && t.d->ops->sync(t.d, &e));
        for (int64_t i = c; i < rows * n; i += n) {
            sum += t.host[0][i] * t.host[1][i];
            double to = type == T_F32 ? (double)((float *)y)[i] : y[i];
            double right = t.host[1][i] - (on ? (c + 1) * t.host[0][i] : 0);
            if (fabs(to - right) > 1e-5)
                fail_msg("%s: %lld rows, %d columns: %g, not %g", device, (long long)rows, n, to, right);
        }
        if (fabs(s[S_RR] - (on ? sum : 0)) > 1e-12 * (double)rows)
            fail_msg("%s: %lld rows, column %d of %d: %g, not %g", device, (long long)rows, c, n, s[S_RR], sum);
        assert_true(s[S_RHO] == (on ? (c + 1) / 2. : 0));
    }
    mem_free(y);
    columns_free(&t);
}
