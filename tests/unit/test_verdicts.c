/* The counts and figures in sentences, counted again: by hand, from the matrix, or from the rows above the sentence. */
#include "advice/stagnation.h"
#include "base/base.h"
#include "base/clock.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/options.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "ui/views/view_solve.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <unistd.h>

/* ---- sentences of matrices that can be counted by hand ---- */

/* In poisson2d N, a row has an entry for itself and for each of its 2 to 4 neighbours; the values are 4 and -1. */
static const struct {
    const char *setup, *line, *says;
} sentences[] = {
    {"gen poisson2d 10", "find rows > 4", "64 of 100 rows match; `limit N` shows more than 20"},
    {"gen poisson2d 10", "find rows = 3", "4 of 100 rows match\n"},
    {"gen poisson2d 10; extract 0 12", "find rows > 4", "1 of 12 rows matches\n"}, /* row 11 alone is inside the grid */
    {"gen poisson2d 10; extract 0 12", "find rows > 5", "0 of 12 rows match\n"},
    {"gen poisson2d 1 1", "find rows > 5", "0 of 1 row matches\n"},
    {"gen poisson2d 10", "partition 2 rows", "10 of the 180 edges of the graph of A + A' are between parts (5.56%)."},
    {"gen poisson2d 10", "partition 2 rows", "moves 20 items of x between parts: 160 B in fp64"},
    {"gen poisson2d 10", "partition 2 rows", "The largest part has 1.00 times the mean of the nonzeros."},
    {"load tests/golden/complex.mtx", "partition 2 rows", "moves 2 items of x between parts: 32 B in fp64"},
    {"gen poisson2d 2 as A; let B = 2*A", "diff A B", "in both, not equal     12\n"},
    {"gen poisson2d 2 as A; let B = 2*A", "diff A B", "||A - B||_F / ||A||_F  1\n"},
    {"gen poisson2d 2 as A; let B = 2*A", "diff B A", "||A - B||_F / ||A||_F  0.5\n"},
    {"gen poisson2d 2 as A; let B = 2*A", "diff A B", "what differs           only values\n"},
    {"gen poisson2d 2 as A; prune below 2 as B", "diff A B", "what differs           pattern and values\n"},
    {"gen poisson2d 2 as A; prune below 2 as B", "diff A B", "entries only in A      8\n"},
    {"gen poisson2d 2 as A; let Z = A - A; prune Z as E", "diff Z E", "what differs           only the pattern\n"},
    {"gen poisson2d 2 as A; let Z = A - A; prune Z as E", "diff E Z", "only in B              12\n"},
    {"gen poisson2d 10", "prune below 2", "dropped            360\n"},
    {"gen poisson2d 10; solve cg step on cpu; step 3", "back 5", "went back by 3 iterations, not 5"},
    {"gen poisson2d 10; solve cg step on cpu; step 1", "back 2", "went back by 1 iteration, not 2"},
    {"load tests/files/sides.npz as A", "solve gmres on cpu maxit 1", "0 of 2 right sides converged"},
};

TEST(counts_by_hand)
{
    for (int i = 0; i < COUNT(sentences); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        if (!talk_line(&t, sentences[i].setup)) fail_msg("%s: %s", sentences[i].setup, t.err);
        talk_forget(&t);
        if (!talk_line(&t, sentences[i].line)) fail_msg("%s: %s", sentences[i].line, t.err);
        if (!strstr(t.out, sentences[i].says) && !strstr(t.err, sentences[i].says))
            fail_msg("%s; %s: %s%s", sentences[i].setup, sentences[i].line, t.out, t.err);
        talk_close(&t);
    }
    devices_close();
}

/* The quartiles of 1 2 3 4 9 are 2 and 4. */
TEST(the_spread_is_half_the_interquartile_range)
{
    double us[] = {9, 1, 4, 2, 3}, spread;
    assert_true(times_median(5, us, &spread) == 3 && spread == 1);
}

/* ---- sentences that agree with the rows of JSON ---- */

static const char *gpu = "auto"; /* for which times are predicted */

static void open_for_gpu(struct talk *t, enum out_mode mode)
{
    struct err e = {0};
    talk_open(t, mode);
    if (!option_set(&t->s, option_find("gpu"), gpu, &e)) fail_msg("%s", e.text);
}

/* The rows that the line prints as JSON. */
static cJSON *rows_of(const char *setup, const char *line)
{
    struct talk t;
    cJSON *rows = cJSON_CreateArray();
    open_for_gpu(&t, OUT_JSON);
    if (!talk_line(&t, setup)) fail_msg("%s: %s", setup, t.err);
    talk_forget(&t);
    if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
    char *all = strdup(t.out), *rest = all;
    for (char *row; (row = strsep(&rest, "\n"));)
        if (*row) cJSON_AddItemToArray(rows, cJSON_Parse(row));
    free(all);
    talk_close(&t);
    return rows;
}

static double number(const cJSON *row, const char *key)
{
    const cJSON *j = cJSON_GetObjectItem(row, key);
    if (!cJSON_IsNumber(j)) fail_msg("no number %s", key);
    return j->valuedouble;
}

/* The line prints, or refuses with, each of the sentences; the last one is NULL. */
static void says(const char *setup, const char *line, const char *const *sentence)
{
    struct talk t;
    open_for_gpu(&t, OUT_TEXT);
    assert_true(talk_line(&t, setup));
    talk_forget(&t);
    bool ok = talk_line(&t, line);
    for (; *sentence; sentence++)
        if (!strstr(ok ? t.out : t.err, *sentence)) fail_msg("%s: not `%s` but %s%s", line, *sentence, t.out, t.err);
    talk_close(&t);
}

TEST(levels_of_multigrid_are_counted)
{
    char line[32], sentence[80];
    cJSON *rows = rows_of("gen poisson2d 30", "coarsen");
    int n = cJSON_GetArraySize(rows);
    assert_true(n > 1);
    snprintf(line, sizeof line, "coarsen level %d", n);
    snprintf(sentence, sizeof sentence, "there is no level %d: multigrid has %d levels", n, n);
    says("gen poisson2d 30", line, (const char *const[]){sentence, NULL});
    cJSON_Delete(rows);
}

/* The verdict of `whatif parts`: the largest gain, the fewest GPUs that give 95% of it, and the most GPUs of which half
   of the time is used. */
TEST(the_verdict_on_several_gpus_is_that_of_the_rows)
{
    static const char *const setup = "gen poisson2d 250", *const line = "whatif parts 1 2 4 8 16 link nvlink";
    char most_gain[120], half_used[120], nearly[120];
    const cJSON *row, *best = NULL;
    int pays = 1, enough = 0, most = 0;
    gpu = "t4"; /* slow, so that several pay */
    cJSON *rows = rows_of(setup, line);
    cJSON_ArrayForEach(row, rows) if (!best || number(row, "spmv_gain") > number(best, "spmv_gain")) best = row;
    cJSON_ArrayForEach(row, rows)
    {
        double gain = number(row, "spmv_gain");
        most = (int)number(row, "parts");
        if (gain >= most / 2.0) pays = most;
        if (!enough && gain >= 0.95 * number(best, "spmv_gain")) enough = most;
    }
    assert_true(pays > 1 && pays < most && enough < number(best, "parts")); /* all sentences are there */
    snprintf(most_gain, sizeof most_gain, "A product is at most %.2f times as fast, on %.0f GPUs",
             number(best, "spmv_gain"), number(best, "parts"));
    snprintf(half_used, sizeof half_used, "With more than %d GPUs, less than half", pays);
    snprintf(nearly, sizeof nearly, "%d GPUs give 95%% of that or more.", enough);
    says(setup, line, (const char *const[]){most_gain, half_used, nearly, NULL});
    gpu = "auto";
    cJSON_Delete(rows);
}

static double ticks_us;
static double ticking(void)
{
    return ticks_us += 500;
}

/* Under a clock of equal steps, a second holds 1e6 / 500 products. */
TEST(the_rate_of_a_race_is_that_of_its_products)
{
    now_replace(ticking);
    cJSON *rows = rows_of("gen poisson2d 10", "race csr-serial csr-openmp on cpu reps 7");
    now_replace(NULL);
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
        assert_true(number(row, "products") == 7 && fabs(number(row, "products_per_s") - 2000) < 1e-6);
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    cJSON_Delete(rows);
    devices_close();
}

/* What symmetrizing costs in products includes the fingerprint, which shows whether there is anything to do. */
TEST(symmetrizing_costs_all_of_its_time)
{
    cJSON *rows = rows_of("gen random 500 4", "symmetrize on cpu");
    const cJSON *row = cJSON_GetArrayItem(rows, 0);
    double all = number(row, "fingerprint_us") + number(row, "time_us");
    assert_true(fabs(number(row, "spmvs") * number(row, "spmv_us") / all - 1) < 1e-6);
    cJSON_Delete(rows);
    devices_close();
}

/* Rates of an A100 by its specification, where nothing was measured; what a point shows follows from its flops, bytes
   and time, and its roof is the smaller of the arithmetic and the memory at its intensity. */
TEST(rooflines_follow_from_bytes_and_times)
{
    static const struct {
        const char *line, *arithmetic;
        double gflops;
    } cases[] = {{"roofline f64", "fp64", 9700}, {"roofline f32", "fp32", 19500}};
    for (int i = 0; i < COUNT(cases); i++) {
        gpu = "a100";
        cJSON *rows = rows_of("gen poisson2d 40", cases[i].line);
        double flat = 0, memory = 0;
        int points = 0;
        const cJSON *row;
        cJSON_ArrayForEach(row, rows)
        {
            const char *name = cJSON_GetObjectItem(row, "name")->valuestring;
            if (!strcmp(name, cases[i].arithmetic)) flat = number(row, "gflops");
            if (!strcmp(name, "memory")) memory = number(row, "gbs");
            if (strcmp(cJSON_GetObjectItem(row, "kind")->valuestring, "kernel") != 0) continue;
            double flops = number(row, "flops"), bytes = number(row, "bytes"), us = number(row, "predicted_us");
            double gflops = flops / us / 1000, roof = fmin(flat, memory * flops / bytes);
            assert_true(fabs(number(row, "gbs") / (bytes / us / 1000) - 1) < 1e-9);
            assert_true(fabs(number(row, "gflops") / gflops - 1) < 1e-9);
            assert_true(fabs(number(row, "flops_per_byte") / (flops / bytes) - 1) < 1e-9);
            assert_true(fabs(number(row, "roof_percent") / (100 * gflops / roof) - 1) < 1e-9);
            points++;
        }
        assert_true(flat == cases[i].gflops && memory > 0 && points > 5);
        cJSON_Delete(rows);
    }
    gpu = "auto";
}

/* If all rows have the same length, each warp runs as long as its block; otherwise some warps wait, but at least one of
   the up to 32 warps of a block runs. */
TEST(warps_of_equal_rows_run_as_long_as_their_block)
{
    cJSON *even = rows_of("gen band 8192 2", "count csr-scalar"),
          *uneven = rows_of("gen rmat 12 4", "count csr-scalar");
    double of_even = number(cJSON_GetArrayItem(even, 0), "busy_percent");
    double of_uneven = number(cJSON_GetArrayItem(uneven, 0), "busy_percent");
    if (!(of_even > 99 && of_even <= 100)) fail_msg("%g", of_even);
    if (!(of_uneven > 100.0 / 32 && of_uneven < 90)) fail_msg("%g", of_uneven);
    cJSON_Delete(even);
    cJSON_Delete(uneven);
}

/* While the equilibrated system is solved, b and r are those of A x = b. */
TEST(vectors_of_a_scaled_solve_are_not_scaled)
{
    static const char *const setup = "load samples/1138_bus.mtx; solve cg scaled b ones step on cpu; step 3";
    cJSON *b = rows_of(setup, "print b"), *r = rows_of(setup, "print r"), *x = rows_of(setup, "print x");
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, setup));
    const struct csr *A = &t.s.current->csr;
    for (int i = 0; i < A->rows; i++) {
        double sum = 1, size = 1;
        assert_true(number(cJSON_GetArrayItem(b, i), "value") == 1);
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double part = A->val[k] * number(cJSON_GetArrayItem(x, A->col[k]), "value");
            sum -= part;
            size += fabs(part);
        }
        if (i % 50 == 0) assert_true(fabs(number(cJSON_GetArrayItem(r, i), "value") - sum) <= 1e-12 * size);
    }
    talk_close(&t);
    cJSON_Delete(b);
    cJSON_Delete(r);
    cJSON_Delete(x);
    devices_close();
}

/* Where pairs are open, `eigs near` is offered at a number beyond the end of the spectrum. */
TEST(open_pairs_are_looked_for_beyond_the_end)
{
    static const char *const parts[] = {"", "smallest "};
    for (int i = 0; i < COUNT(parts); i++) {
        char line[80];
        double near;
        snprintf(line, sizeof line, "eigs 3 %son cpu maxit 0", parts[i]);
        cJSON *rows = rows_of("gen poisson2d 30", line);
        const cJSON *first = cJSON_GetArrayItem(rows, 0);
        const char *try = cJSON_GetObjectItem(first, "try")->valuestring;
        if (sscanf(try, "eigs 3 near %lf", &near) != 1) fail_msg("%s", try);
        double beyond = i ? number(first, "value") - near : near - number(first, "value");
        if (fabs(beyond / number(first, "residual") - 1) > 1e-3) fail_msg("%s: by %g", try, beyond);
        cJSON_Delete(rows);
    }
    devices_close();
}

/* A double for each element of b and of x, in each of the columns. 2 A has the entries of A, but no b. */
TEST(the_memory_of_a_matrix_includes_its_right_sides)
{
    cJSON *rows = rows_of("load tests/files/sides.npz as A; let B = 2*A", "list");
    const cJSON *A = cJSON_GetArrayItem(rows, 0), *B = cJSON_GetArrayItem(rows, 1);
    double b = number(A, "rows") * number(A, "right_sides"), x = number(A, "cols") * number(A, "solutions");
    assert_true(b > 0 && number(B, "right_sides") == 0 && number(A, "nnz") == number(B, "nnz"));
    assert_true(number(A, "bytes") - number(B, "bytes") == 8 * (b + x));
    cJSON_Delete(rows);
}

/* ---- the evidence of `why stagnates` ---- */

static const char *const unsolved[] = {
    "gen rmat 6 4; solve gmres on cpu b random maxit 9",
    "gen rmat 7 4; solve bicgstab on cpu b random maxit 9",
    "gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu",
    "gen poisson2d 30; solve gmres m 3 on cpu maxit 60",
    "load samples/1138_bus.mtx; solve cg on cpu maxit 20",
    "load tests/golden/singular.mtx; solve gmres on cpu b random",
};

/* Read "1,005" at *at, and move *at past it; -1: there is no count. */
static int64_t count_at(const char **at)
{
    char digits[32];
    int n = 0;
    for (; n < 31 && (isdigit((unsigned char)**at) || (**at == ',' && isdigit((unsigned char)(*at)[1]))); ++*at)
        if (**at != ',') digits[n++] = **at;
    digits[n] = 0;
    return n ? strtoll(digits, NULL, 10) : -1;
}

/* "in 1,043 rows ...: rows 7, 9, 12 and 1,040 more" */
static void check_rows(const char *text)
{
    const char *in = strstr(text, " is in "), *list = strstr(text, ": row");
    if (!in || !list) return;
    in += strlen(" is in ");
    list += strlen(": row") + (list[strlen(": row")] == 's');
    int64_t all = count_at(&in), listed = 0;
    do {
        list += 1 + (*list == ',');
        if (count_at(&list) >= 0) listed++;
    } while (*list == ',');
    list += strncmp(list, " and ", 5) ? 0 : 5;
    int64_t more = count_at(&list);
    if (listed + (more > 0 ? more : 0) != all) fail_msg("%lld rows are listed: %s", (long long)listed, text);
}

/* Empty rows, and those among them whose equation 0 = b_i cannot hold. */
static void check_empty(const char *text, const struct solve *v)
{
    const struct csr *A = v->matrix.csr;
    int64_t empty = 0, unsolvable = 0;
    char says[80];
    for (int64_t i = 0; i < A->rows; i++) {
        bool none = A->rowptr[i] == A->rowptr[i + 1];
        empty += none;
        unsolvable += none && v->b[i] != 0;
    }
    snprintf(says, sizeof says, "A is singular: %lld rows of zeros", (long long)empty);
    if (!strstr(text, says)) fail_msg("not %s: %s", says, text);
    snprintf(says, sizeof says, "b is not 0 in %lld of them", (long long)unsolvable);
    if (!strstr(text, says)) fail_msg("not %s: %s", says, text);
}

static const struct evidence *find(const struct stagnation *found, const char *cause)
{
    for (int i = 0; i < found->n; i++)
        if (!strcmp(found->at[i].cause, cause)) return &found->at[i];
    return NULL;
}

TEST(rows_in_the_evidence_are_counted)
{
    for (int i = 0; i < COUNT(unsolved); i++) {
        struct talk t;
        struct stagnation found;
        struct err e = {0};
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, unsolved[i]));
        assert_true(stagnation_of(&t.s, t.s.current, t.s.solve, 1e6, &found, &e));
        for (int k = 0; k < found.n; k++) check_rows(found.at[k].text);
        if (find(&found, "empty")) check_empty(find(&found, "empty")->text, t.s.solve);
        talk_close(&t);
    }
    devices_close();
}

/* A = diag(B, 3, 5, 7, 9) with B of 8 rows: after the first step, every block has a part of the residual. The share of
   the worst one is that of the norm, not of its square. */
TEST(the_share_of_a_block_is_that_of_the_norm)
{
    enum { B = 8, N = 12 };
    struct talk t;
    struct stagnation found;
    struct err e = {0};
    char path[64], line[200], share[60], place[60];
    double r[N], all = 0, of_block[N] = {0};
    int worst = 0;
    snprintf(path, sizeof path, "/tmp/warpspy-blocks-%d.mtx", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", N, N, 3 * B - 2 + N - B);
    for (int i = 0; i < N; i++)
        for (int k = i && i < B ? i - 1 : i; k <= i + (i + 1 < B); k++)
            fprintf(f, "%d %d %d\n", i + 1, k + 1, i != k ? -1 : i < B ? 2 : 2 * (i - B) + 3);
    assert_int_equal(fclose(f), 0);
    snprintf(line, sizeof line, "load %s as A; solve cg A b ones maxit 1 on cpu", path);
    talk_open(&t, OUT_TEXT);
    if (!talk_line(&t, line)) fail_msg("%s", t.err);
    assert_int_equal(remove(path), 0);
    assert_true(stagnation_of(&t.s, t.s.current, t.s.solve, 1e6, &found, &e));
    const struct solve *v = t.s.solve;
    memcpy(r, v->b, sizeof r);
    reference_spmv(v->matrix.csr, -1, v->result.x, 1, r, P_F64, NULL);
    for (int i = 0; i < N; i++) all += r[i] * r[i], of_block[i < B ? 0 : i] += r[i] * r[i];
    for (int i = 0; i < N; i++) worst = of_block[i] > of_block[worst] ? i : worst;
    assert_true(of_block[worst] < 0.9 * all);
    snprintf(share, sizeof share, "; %.3g%% of the residual is", 100 * sqrt(of_block[worst] / all));
    snprintf(place, sizeof place, "of %s from row %d on", worst ? "1 row" : "8 rows", worst);
    const struct evidence *x = find(&found, "blocks");
    assert_non_null(x);
    if (!strstr(x->text, share) || !strstr(x->text, place)) fail_msg("not %s %s: %s", share, place, x->text);
    assert_non_null(strstr(x->text, "consists of 5 independent blocks"));
    talk_close(&t);
    devices_close();
}

/* ---- progress ---- */

TEST(the_time_left_is_that_of_the_rest)
{
    static const struct {
        struct progress p;
        const char *says;
    } cases[] = {
        {{.what = "work", .total = 100, .done = 40, .reported_us = 2e6}, "work  40%, 3.0 s left"},
        {{.what = "work", .total = 100, .done = 40, .done_before = 20, .reported_us = 2e6}, "work  40%, 6.0 s left"},
        {{.what = "work", .total = 100, .done = 40, .began_us = 1e6, .reported_us = 3e6}, "work  40%, 3.0 s left"},
        {{.what = "work", .total = 1001, .done = 1, .reported_us = 2e6}, "work   0%, 2000 s left"},
        {{.what = "work", .total = 100, .done = 40, .reported_us = 1000}, "work  40%"},
        {{.what = "work", .done = 7, .reported_us = 2e6}, "work 7"},
        {{.what = "work", .reported_us = 2e6}, "work"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct session s = {.progress = cases[i].p};
        char text[100];
        session_progress(&s, text, sizeof text);
        assert_string_equal(text, cases[i].says);
    }
}

static double ticking_slowly(void)
{
    return ticks_us += 30000;
}

static const struct session *watched;
static int forecasts;

/* "cg: iteration 97, residual 1.41e-02, rate 0.9517, 3.1 s left": the iterations left, each as long as those before */
static void see_progress(const char *text)
{
    const struct solve *v = watched->solve;
    const char *end = strstr(text, " s left");
    double left, each_us = v ? v->time.us / (double)v->iterations : NAN;
    if (!end) return;
    while (end > text && end[-1] != ' ') end--;
    assert_int_equal(sscanf(end, "%lf s left", &left), 1);
    if (fabs(left - solve_left(v) * each_us / 1e6) > 0.0501) fail_msg("%s, with %g us per iteration", text, each_us);
    forecasts++;
}

static void clear_nothing(void) {}

TEST(the_forecast_of_a_solve_is_that_of_its_iterations)
{
    struct talk t;
    talk_open_screen(&t);
    watched = &t.s;
    forecasts = 0;
    t.s.terminal = true;
    out_progress_by(t.s.out, see_progress, clear_nothing);
    assert_true(talk_line(&t, "gen poisson2d 60"));
    now_replace(ticking_slowly);
    bool ok = talk_line(&t, "solve cg on cpu tol 1e-12");
    now_replace(NULL);
    out_progress_by(t.s.out, NULL, NULL);
    if (!ok) fail_msg("%s", t.err);
    assert_true(forecasts > 3);
    talk_close_screen(&t);
}
