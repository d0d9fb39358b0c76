/* Messages: singular and plural, results that are no longer valid, and advice after a refusal. */
#include "base/clock.h"
#include "base/text.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/matrix.h"
#include "solvers/solver.h"

#include <unistd.h>

TEST(plurals)
{
    static const struct {
        int64_t n;
        const char *noun, *says;
    } cases[] = {{0, "row", "0 rows"},
                 {1, "row", "1 row"},
                 {1234567, "row", "1,234,567 rows"},
                 {1, "entry", "1 entry"},
                 {2, "entry", "2 entries"},
                 {2, "matrix", "2 matrices"},
                 {3, "explicit zero", "3 explicit zeros"},
                 {2, "pass", "2 passes"},
                 {2, "key", "2 keys"}};
    for (int i = 0; i < COUNT(cases); i++) assert_string_equal(how_many(cases[i].n, cases[i].noun).text, cases[i].says);
}

/* Messages about a matrix of one row, and about rows of one length. */
TEST(singular_for_one)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 1 as one"));
    talk_says(&t, "check one", "one: 1 x 1, 1 nonzero, real");
    talk_says(&t, "convert csr of one", "0 of 1 slot padding");
    talk_says(&t, "lu all one on cpu", "one, 1 row, dense");
    talk_says(&t, "bench one on emu using coo", "one, 1 nonzero, fp64");
    talk_close(&t);
}

TEST(help_knows_what_commands_can_name)
{
    static const char *const topics[][2] = {
        {"rcm", "ordering"}, {"union", "symmetrize mode"}, {"sym", "symmetrize method"}, {"precision", "option"},
        {"emu", "device"},   {"rank", "line of `check`"},  {"ic0", "preconditioner"},    {"poisson2d", "generator"}};
    struct talk t;
    char line[64];
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(topics); i++) {
        snprintf(line, sizeof line, "help %s", topics[i][0]);
        talk_says(&t, line, topics[i][1]);
    }
    for (int i = 0; solvers[i]; i++) {
        snprintf(line, sizeof line, "help %s", solvers[i]->name);
        talk_says(&t, line, solvers[i]->needs);
        assert_non_null(strstr(t.out, solvers[i]->when));
        assert_non_null(strstr(t.out, solvers[i]->cost));
        assert_non_null(strstr(t.out, solvers[i]->source));
    }
    assert_true(talk_line(&t, "gen poisson2d 4 as P"));
    talk_says(&t, "help cg", "per iteration, in fp64");
    talk_says(&t, "help reorder", "  rcm          reverse Cuthill-McKee");
    talk_refuses(&t, "help nothing", "`nothing` after `help` is not a command, or something that a command names");
    talk_close(&t);
}

TEST(old_results_are_marked)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as P"));
    talk_refuses(&t, "stop", "no solve is paused; `solve SOLVER step` starts a paused solve");
    assert_true(talk_line(&t, "race cg gmres on cpu"));
    talk_refuses(&t, "stop", "the race on P is over");
    talk_refuses(&t, "continue", "the race on P is over");
    assert_true(talk_line(&t, "solve cg on cpu"));
    talk_refuses(&t, "continue", "`change` continues the solve that has ended");
    talk_close(&t);
}

TEST(advice_on_complex_matrices_names_what_works)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/complex.mtx"));
    talk_says(&t, "check", "complex, only the pattern is symmetric");
    static const char *const said[] = {"Jacobi, GS and SOR can run", "Jacobi and GS converge", "orderings"};
    for (int i = 0; i < COUNT(said); i++)
        if (!strstr(t.out, said[i])) fail_msg("no %s in %s", said[i], t.out);
    static const char *const not_said[] = {"symmetrize", "one half"};
    for (int i = 0; i < COUNT(not_said); i++)
        if (strstr(t.out, not_said[i])) fail_msg("%s in %s", not_said[i], t.out);
    talk_close(&t);
}

TEST(prune_drops_zeros)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/odd.mtx as Z"));
    talk_says(&t, "check only valid", "`prune`");
    assert_true(talk_line(&t, "prune"));
    const struct csr *A = &t.s.current->csr;
    assert_string_equal(t.s.current->name, "Z-pruned");
    assert_int_equal(A->nnz, 6); /* NaN and inf are kept */
    assert_int_equal(csr_find(A, 1, 1), -1);
    assert_true(csr_check(A, NULL));
    assert_true(talk_line(&t, "prune Z below 4 as B"));
    assert_int_equal(t.s.current->csr.nnz, 4); /* 5, inf, -inf, NaN */
    talk_refuses(&t, "prune Z below -1", "`below -1` is not a limit");
    talk_close(&t);
}

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* After a breakdown, the command that is proposed can be typed, and solves the system. */
TEST(advice_after_a_breakdown_can_be_typed)
{
    static const char skew[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 -1\n";
    static const char *const broken[] = {"bicgstab", "qmrcgstab"};
    struct talk t;
    char path[64], line[96];
    snprintf(path, sizeof path, "/tmp/warpspy-%d.mtx", (int)getpid());
    snprintf(line, sizeof line, "load %s as S", path);
    put(path, skew, sizeof skew - 1);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, line));
    remove(path);
    for (int i = 0; i < COUNT(broken); i++) {
        snprintf(line, sizeof line, "solve %s S on cpu", broken[i]);
        talk_says(&t, line, "broke down");
        assert_null(strstr(t.out, "change maxit")); /* x has not moved: the same breakdown would follow */
        const char *at = strstr(t.out, "\"try\":\"");
        assert_non_null(at);
        at += strlen("\"try\":\"");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\""), at);
        talk_says(&t, line, "\"converged\":true");
    }
    talk_close(&t);
}

TEST(refusals_of_singular_matrices_suggest_next_step)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    static const char swaps[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n";
    char path[64], line[96];
    snprintf(path, sizeof path, "/tmp/warpspy-%d.mtx", (int)getpid());
    snprintf(line, sizeof line, "gen poisson2d 6 as P; load %s as S", path);
    put(path, swaps, sizeof swaps - 1);
    assert_true(talk_line(&t, line));
    remove(path);
    talk_refuses(&t, "solve jacobi S on cpu", "gmres and bicgstab without a preconditioner need no diagonal");
    talk_refuses(&t, "solve gmres S on cpu precond ilu0",
                 "gmres and bicgstab without a preconditioner need no diagonal");
    assert_true(talk_line(&t, "extract 1 4 4 7 P as O")); /* rows 0 and 1 are empty */
    talk_refuses(&t, "solve jacobi O on cpu b ones", "that row is empty, so A is singular");
    talk_says(&t, "solve cg O on cpu b ones", "row 0 is empty, so A is singular");
    assert_true(talk_line(&t, "load tests/files/indefinite.mtx"));
    talk_says(&t, "solve cg on cpu b random", "A is symmetric, but cg also needs positive definiteness: use minres");
    assert_true(talk_line(&t, "load samples/thesis4.mtx; scale by rows as T"));
    talk_says(&t, "solve cg T on cpu b random seed 3",
              "cg needs a symmetric matrix, but A is not symmetric: use bicgstab or gmres");
    talk_close(&t);
}

TEST(files_of_other_kinds_are_named)
{
    struct talk t;
    char path[64], line[96];
    talk_open(&t, OUT_TEXT);
    snprintf(path, sizeof path, "/tmp/warpspy-%d.bin", (int)getpid());
    snprintf(line, sizeof line, "load %s", path);
    put(path, "\x93NUMPY\1\0v\0{'descr': '<f8'", 26);
    talk_refuses(
        &t, line,
        "this is a dense NumPy array (.npy), not a sparse matrix; convert it in Python with scipy.sparse.save_npz(");
    remove(path);
    talk_close(&t);
}

TEST(new_matrices_are_made_on_the_current_device)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen band 20 as A; device emu"));
    talk_says(&t, "transpose A", "\"device\":\"emu\"");
    talk_says(&t, "symmetrize A", "\"device\":\"emu\"");
    talk_says(&t, "transpose A on cpu", "\"device\":\"cpu\"");
    talk_close(&t);
}

TEST(without_device_memory_they_are_made_on_cpu)
{
    struct talk t;
    struct fake f;
    talk_open(&t, OUT_JSON);
    assert_true(fake_open(&f, "small", "emu", 100, NULL));
    assert_true(talk_line(&t, "gen band 20 as A"));
    t.s.dev = &f.dev;
    static const char *const lines[][2] = {{"transpose A", "transpose A on small"},
                                           {"symmetrize A", "symmetrize A on small"}};
    for (int i = 0; i < COUNT(lines); i++) {
        talk_says(&t, lines[i][0], "\"device\":\"cpu\"");
        assert_non_null(strstr(t.err, "; using cpu"));
        talk_refuses(&t, lines[i][1], "");
    }
    talk_close(&t);
    devices_close();
}

static double slow_us;
static double slow_clock(void)
{
    return slow_us += 1e5;
}

/* The system may take the processor away for 100 ms at any moment. */
TEST(a_format_is_packed_on_a_busy_machine)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as A"));
    now_replace(slow_clock);
    talk_says(&t, "why not dia", "dia");
    talk_says(&t, "advise top 2", "predicted");
    now_replace(NULL);
    talk_close(&t);
    devices_close();
}
