/* y = alpha A x + beta y0 of the commands spmv and bench: every kernel gives the reference's y for the factors and the
   y0 that the user named, on cpu and on the emulator. */
#include "formats/stored.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/vectors.h"

#include <math.h>
#include <unistd.h>

enum { SIDE = 5, ROWS = SIDE * SIDE };

static const struct {
    double alpha, beta;
    const char *y0;
} operations[] = {{2, 1, "ones"},    {-1.5, 0.5, "y0.mtx"}, {0, -1, "y0.mtx"}, {0.25, 3, "zero"},
                  {2, 0, "nan.mtx"}, {1, -0.5, "random"},   {1, 1, NULL}};

static double element(int i)
{
    return 0.375 * i - 4; /* exact in fp32 */
}

static void write_vector(const char *path, bool nan)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix array real general\n%d 1\n", ROWS);
    for (int i = 0; i < ROWS; i++) nan ? fputs("nan\n", f) : fprintf(f, "%g\n", element(i));
    fclose(f);
}

static struct vector vector_named(struct talk *t, const char *name)
{
    struct vector v;
    struct err e = {0};
    if (!vector_of(&t->s, name, &v, &e)) fail_msg("%s: %s", name, e.text);
    assert_int_equal(v.n, ROWS);
    return v;
}

/* y0 as operations[o] names it. A random y0 is read from y after alpha 0 beta 1. */
static void start_of(struct talk *t, int o, const char *on, double *y0)
{
    const char *word = operations[o].y0 ? operations[o].y0 : "random";
    char line[200];
    for (int i = 0; i < ROWS; i++) y0[i] = !strcmp(word, "ones") ? 1 : !strcmp(word, "y0.mtx") ? element(i) : 0;
    if (strcmp(word, "random")) return;
    snprintf(line, sizeof line, "spmv alpha 0 beta 1 %s", on);
    assert_true(talk_line(t, line));
    struct vector y = vector_named(t, "y");
    memcpy(y0, y.value, sizeof *y0 * ROWS);
    vector_free(&y);
}

static void check_kernel(struct talk *t, const struct kernel *k, int o, bool single)
{
    char line[200], on[40], y0_text[40] = "";
    double want[ROWS], bound[ROWS];
    snprintf(on, sizeof on, "on %s reps 1 %s", k->host ? "cpu" : "emu", single ? "f32" : "f64");
    start_of(t, o, on, want);
    if (operations[o].y0) snprintf(y0_text, sizeof y0_text, "y0 %s", operations[o].y0);
    snprintf(line, sizeof line, "spmv kernel %s alpha %g beta %g %s %s", k->name, operations[o].alpha,
             operations[o].beta, y0_text, on);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    struct vector x = vector_named(t, "x"), y = vector_named(t, "y");
    reference_spmv(&t->s.current->csr, operations[o].alpha, x.value, operations[o].beta, want, single ? P_F32 : P_F64,
                   bound);
    struct verdict v = verdict_of(ROWS, y.value, want, bound);
    if (!v.ok) fail_msg("%s: y[%d] is %g, not %g", line, (int)v.row, y.value[v.row], want[v.row]);
    for (int i = 0; i < ROWS; i++) assert_true(isfinite(y.value[i]));
    vector_free(&x);
    vector_free(&y);
}

TEST(every_kernel_computes_the_operation)
{
    struct talk t;
    char line[80], folder[] = "/tmp/operation-XXXXXX", *before = getcwd(NULL, 0);
    assert_true(before && mkdtemp(folder) && !chdir(folder));
    talk_open(&t, OUT_TEXT);
    write_vector("y0.mtx", false);
    write_vector("nan.mtx", true);
    snprintf(line, sizeof line, "gen poisson2d %d as A", SIDE);
    assert_true(talk_line(&t, line));
    for (int k = 0; kernels[k]; k++)
        for (int o = 0; o < COUNT(operations) && !kernels[k]->vendor; o++) check_kernel(&t, kernels[k], o, (k + o) % 2);
    talk_close(&t);
    assert_true(!unlink("y0.mtx") && !unlink("nan.mtx") && !chdir(before) && !rmdir(folder));
    free(before);
}

static double json_number(const struct talk *t, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(t->out, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

/* Reading y0 adds the bytes of one vector. */
TEST(bytes_count_the_y_that_is_read)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; spmv on cpu reps 1"));
    double bytes = json_number(&t, "bytes");
    assert_non_null(strstr(t.out, "\"alpha\":1,\"beta\":0,\"y0\":null"));
    assert_true(talk_line(&t, "spmv alpha 3 y0 ones on cpu reps 1"));
    assert_true(json_number(&t, "bytes") == bytes);
    assert_non_null(strstr(t.out, "\"alpha\":3,\"beta\":0,\"y0\":null"));
    assert_true(talk_line(&t, "spmv alpha 3 beta -1 y0 ones on cpu reps 1"));
    assert_true(json_number(&t, "bytes") == bytes + 8 * ROWS);
    assert_non_null(strstr(t.out, "\"alpha\":3,\"beta\":-1,\"y0\":\"ones\""));
    assert_true(talk_line(&t, "bench csr beta 1 on cpu reps 1 f32"));
    assert_non_null(strstr(t.out, "\"alpha\":1,\"beta\":1,\"y0\":\"random\""));
    talk_close(&t);
}

TEST(the_operation_is_shown)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; spmv on emu"));
    assert_null(strstr(t.out, "A x"));
    talk_says(&t, "spmv alpha 2 beta 1 on emu", "y                    2 A x + y0 (y0 random)\n");
    talk_says(&t, "print y", "25 elements, 2 A x + y0 (y0 random) by ");
    talk_says(&t, "spmv alpha -1 beta -0.5 y0 ones on emu", "y                    -A x - 0.5 y0 (y0 ones)\n");
    talk_says(&t, "bench csr alpha -1 beta -1 y0 zero on emu", "\ny = -A x - y0 (y0 zero)\n");
    talk_says(&t, "bench bsr-block bsr-column block 2 on emu", "\nbsr with block 2\n");
    for (int i = 0; i < t.s.nruns; i++) assert_int_equal(t.s.runs[i].of->param[0], 2);
    talk_refuses(&t, "bench bsr block 99", "is not a value of block");
    talk_says(&t, "spmv alpha 3 on emu", "y                    3 A x\n");
    talk_close(&t);
}

TEST(wrong_operations_are_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"spmv beta 1 y0 nothing", "`nothing` is neither a readable file nor one of zero, ones, random"},
        {"spmv beta 1 y0 ./none.mtx", "none.mtx"},
        {"spmv beta nan", "`nan`"},
        {"spmv alpha inf", "`inf`"},
        {"bench alpha", "alpha"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i].line, cases[i].message);
    talk_close(&t);
}

static void count(void *user, const char *word)
{
    static const char *const starts[] = {"zero", "ones", "random"};
    for (int i = 0; i < COUNT(starts); i++) *(int *)user += !strcmp(word, starts[i]);
}

TEST(starts_are_completed)
{
    struct talk t;
    int n = 0;
    talk_open(&t, OUT_TEXT);
    complete(&t.s, "spmv beta 1 y0 ", 15, count, &n);
    complete(&t.s, "bench y0 ", 9, count, &n);
    assert_int_equal(n, 6);
    talk_close(&t);
}
