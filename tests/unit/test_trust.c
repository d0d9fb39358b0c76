/* The digits of x that a solve claims: never more than one digit above the truth. The systems have integer entries and
   integer solutions, so that b = A x is exact, but the program reads b from a file and does not know x. */
#include "advice/solve_trust.h"
#include "base/mem.h"
#include "direct/direct.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/random.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "solvers/trust.h"

#include <math.h>

enum { N_MAX = 8 };

struct system {
    int n;
    double a[N_MAX][N_MAX], x[N_MAX], b[N_MAX];
};

static void set_b(struct system *s)
{
    for (int i = 0; i < s->n; i++) {
        s->b[i] = 0;
        for (int j = 0; j < s->n; j++) s->b[i] += s->a[i][j] * s->x[j];
    }
}

/* Load the matrix as `A`, and write b to the file whose name is the result. */
static const char *put(struct talk *t, const struct system *s)
{
    char text[8192], line[300];
    size_t n = (size_t)snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n%d %d\n", s->n, s->n);
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%.17g\n", s->a[i][j]);
    snprintf(line, sizeof line, "load %s as A", write_file("A.mtx", text, n));
    assert_true(talk_line(t, "drop all"));
    assert_true(talk_line(t, line));
    n = (size_t)snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n%d 1\n", s->n);
    for (int i = 0; i < s->n; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%.17g\n", s->b[i]);
    return write_file("b.mtx", text, n);
}

static double digits_of(const struct system *s, const double *x)
{
    double error = 0, size = 0;
    for (int i = 0; i < s->n; i++) {
        error += (x[i] - s->x[i]) * (x[i] - s->x[i]);
        size += s->x[i] * s->x[i];
    }
    return error > 0 ? fmax(0, -log10(sqrt(error / size))) : 16;
}

/* Solve, and compare the claim with the truth. Returns the claim. */
static int claim(struct talk *t, const struct system *s, const char *method, const char *b)
{
    char line[300];
    snprintf(line, sizeof line, "solve %s A b %s force", method, b);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    bool direct = t->s.direct_is_newer;
    const struct trust *claimed = direct ? &t->s.direct->trust : &t->s.solve->result.trust;
    const double *x = direct ? t->s.direct->x : t->s.solve->result.x;
    if (claimed->digits < 0 || !x) return -1;
    if (claimed->digits > digits_of(s, x) + 1)
        fail_msg("%s: %d digits claimed, %.1f are correct: %s", line, claimed->digits, digits_of(s, x), claimed->why);
    return claimed->digits;
}

static int random_int(uint64_t *seed, int most)
{
    return (int)(random_next(seed) % (uint64_t)(2 * most + 1)) - most;
}

/* Some of the matrices are nearly singular: a row is the sum of two others, up to 1, times a large number. */
static struct system random_system(uint64_t *seed)
{
    struct system s = {.n = 3 + (int)(random_next(seed) % (N_MAX - 2))};
    int size = random_next(seed) % 2 ? 10 : 1 << 20;
    for (int i = 0; i < s.n; i++) {
        s.x[i] = random_int(seed, 9);
        for (int j = 0; j < s.n; j++) s.a[i][j] = random_int(seed, size);
    }
    for (int j = 0; j < s.n && random_next(seed) % 3; j++) s.a[0][j] = s.a[1][j] + s.a[2][j] + random_int(seed, 1);
    s.x[0] = 7; /* x is not 0 */
    set_b(&s);
    return s;
}

TEST(no_solve_claims_digits_that_x_does_not_have)
{
    static const char *const methods[] = {"direct", "direct umfpack", "gmres", "bicgstab", "gmres tol 1e-3"};
    uint64_t seed = 7;
    int known = 0;
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < 60; i++) {
        struct system s = random_system(&seed);
        const char *b = put(&t, &s);
        for (int k = 0; k < COUNT(methods); k++) known += claim(&t, &s, methods[k], b) >= 0;
    }
    assert_true(known > 200);
    talk_close(&t);
}

/* Determinant -1 and condition 4e16: a direct solve that claims digits would be wrong. */
TEST(nearly_singular_systems_have_no_certain_digit)
{
    struct system s = {.n = 2, .a = {{1e8 + 1, 1e8}, {1e8, 1e8 - 1}}, .x = {3, 5}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    set_b(&s);
    const char *b = put(&t, &s);
    assert_true(claim(&t, &s, "direct umfpack", b) <= 0);
    talk_close(&t);
}

/* Rows of very different size leave all digits: the condition is that of the system with rows of equal size. */
TEST(bad_scaling_takes_no_digits)
{
    struct system s = {.n = 3, .a = {{4e12, 1e12, 0}, {1, 4, 1}, {0, 1 / 1048576.0, 4 / 1048576.0}}, .x = {3, 5, 7}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    set_b(&s);
    const char *b = put(&t, &s);
    assert_true(claim(&t, &s, "direct", b) >= 14);
    assert_true(claim(&t, &s, "gmres tol 1e-14", b) >= 0);
    talk_close(&t);
}

/* The residual is 1e-12 of b when the second element of x is still wrong. */
TEST(a_small_residual_with_a_wrong_x_says_so)
{
    struct system s = {.n = 2, .a = {{1, 0}, {0, 1e-12}}, .x = {1, 1}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    set_b(&s);
    const char *b = put(&t, &s);
    assert_int_equal(claim(&t, &s, "cg on cpu", b), 0);
    assert_true(t.s.solve->reason == CONVERGED);
    assert_non_null(strstr(t.out, "none is correct, although the residual met tol"));
    talk_says(&t, "solve cg A on cpu", "none is correct, although the residual met tol: error 7.1e-01");
    talk_close(&t);
}

TEST(a_known_x_gives_the_digits)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10; solve cg on cpu tol 1e-6"));
    const struct solve_result *r = &t.s.solve->result;
    assert_string_equal(r->trust.from, "known");
    assert_true(r->trust.digits == (int)floor(-log10(r->error_known)));
    assert_true(talk_line(&t, "solve cg on cpu tol 1e-6 b random"));
    r = &t.s.solve->result;
    assert_string_equal(r->trust.from, "direct");
    assert_true(r->trust.digits >= 4 && r->trust.digits <= 9);
    talk_says(&t, "solve cg on cpu b zero", "not known: b = 0");
    talk_says(&t, "load tests/golden/singular.mtx; solve direct b random", "not known");
    talk_close(&t);
}

/* The x of a direct solve has an error of its own, which adds to the distance of the two x. Both the direct solve that
   came before and the one that is made for the comparison count. */
TEST(the_error_of_the_direct_solve_counts)
{
    static const struct {
        double difference, error;
        int digits; /* -1: not known */
    } cases[] = {{6e-8, 5e-8, 6},  {6e-8, 3e-8, 7}, {1e-15, 4e-4, 3}, {0.9, 1e-15, 0}, {0, 0, 15},
                 {1e-9, 0.999, 0}, {1e-9, 1, -1},   {1e-9, 2, -1},    {1e-9, NAN, -1}};
    struct talk t;
    double difference, error;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10; solve cg b random tol 1e-15 on cpu"));
    struct trust *trust = &t.s.solve->result.trust;
    assert_int_equal(sscanf(trust->why, "x is %lf from that of `solve direct` (error %lf)", &difference, &error), 2);
    assert_true(error > 1e-16 && fabs(trust->error - difference - error) < 0.5 * error);
    assert_true(talk_line(&t, "solve direct b random; solve cg b random tol 1e-15 on cpu"));
    struct solve *v = t.s.solve;
    trust = &v->result.trust;
    assert_true(v->result.truth_error > 1e-16 && trust->error == v->result.error_known + v->result.truth_error);
    for (int i = 0; i < COUNT(cases); i++) {
        v->result.error_known = cases[i].difference;
        v->result.truth_error = cases[i].error;
        solve_find_trust(&t.s, v, false);
        if (trust->digits != cases[i].digits || isnan(trust->error) != (cases[i].digits < 0))
            fail_msg("%g and %g: %s", cases[i].difference, cases[i].error, trust->why);
    }
    talk_close(&t);
}

TEST(digits_are_those_of_the_error)
{
    static const struct {
        double error;
        int digits;
    } table[] = {{0, 15},  {1e-300, 15}, {2e-16, 15}, {9e-8, 7},     {1.1e-7, 6},
                 {0.5, 0}, {1, 0},       {1e9, 0},    {INFINITY, 0}, {NAN, -1}};
    for (int i = 0; i < COUNT(table); i++) {
        struct trust t;
        trust_set(&t, table[i].error, "known", "a test");
        assert_int_equal(t.digits, table[i].digits);
    }
}
