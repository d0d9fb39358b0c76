/* Puzzles: each solution passes all goals, each kernel with its gap fails, and typical wrong answers fail for the right
   reason. The first line of an answer, tests/files/puzzles/NAME.N.cu, has what it misses. Each puzzle is checked in a
   process of its own, several at a time, because a kernel takes half a second to compile. */
#include "base/base.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lab/lab.h"
#include "lessons/puzzle.h"
#include "machine/device.h"
#include "machine/microscope.h"
#include "machine/toolkit.h"
#include "matrix/csr.h"
#include "session/command.h"
#include "session/matrix.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWERS = 3 };
static char folder[] = "/tmp/warpspy-test-XXXXXX", answers[PATH_MAX];

static int prepare(void **state)
{
    char program[PATH_MAX];
    if (!find_warpspy(program) || !mkdtemp(folder) || !realpath("tests/files/puzzles", answers)) return -1;
    lab_set_program(program);
    setenv("XDG_STATE_HOME", folder, 1);
    return chdir(folder) || access(program, X_OK);
}

static int clean(void **state)
{
    char command[100];
    lab_close();
    devices_close();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- the files ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Judge the file; `missed` is what it must miss, "any", or NULL. Returns true if it does. */
static bool judges(struct talk *t, const struct puzzle *p, const char *path, const char *missed)
{
    struct judged j;
    struct err e = {0};
    if (!puzzle_judge(&t->s, p, path, &j, &e)) {
        fprintf(stderr, "%s: %s: %s\n", path, e.where, e.text);
        return false;
    }
    bool any = missed && !strcmp(missed, "any");
    bool same = any ? j.missed != NULL : missed ? j.missed && !strcmp(j.missed, missed) : !j.missed;
    if (!same || j.passed != !j.missed)
        fprintf(stderr, "%s misses %s (%s: %s), expected %s\n", path, j.missed ? j.missed : "nothing", j.fix.where,
                j.fix.what, missed ? missed : "nothing");
    bool told = !j.missed || *j.fix.what;
    if (!told) fprintf(stderr, "%s: nothing says what to correct\n", path);
    return same && told;
}

/* "// sectors: reads row by row" */
static bool judges_answer(struct talk *t, const struct puzzle *p, int number)
{
    char path[PATH_MAX + 100], line[200] = "", missed[40] = "";
    snprintf(path, sizeof path, "%s/%s.%d.cu", answers, p->name, number);
    FILE *f = fopen(path, "r");
    bool read = f && fgets(line, sizeof line, f) && sscanf(line, "// %39[a-z]:", missed) == 1;
    if (f) fclose(f);
    if (!read) fprintf(stderr, "%s: no such file, or its first line does not say what it misses\n", path);
    return read && judges(t, p, path, missed);
}

/* The first goal that only nvcc can judge; NULL: there is none. */
static const char *needs_nvcc(const struct puzzle *p)
{
    for (int i = 0; i < p->ngoals; i++)
        if (p->goal[i].of->local) return p->goal[i].of->name;
    return NULL;
}

/* Without nvcc, the solution of a puzzle that needs it is right, and misses only what is not known. */
static bool check_puzzle(const struct puzzle *p)
{
    char path[200];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    snprintf(path, sizeof path, "%s/%s-solution.cu", folder, p->name);
    write_text(path, p->solution);
    bool ok = judges(&t, p, path, toolkit_nvcc() ? NULL : needs_nvcc(p));
    snprintf(path, sizeof path, "%s/%s-gap.cu", folder, p->name);
    write_text(path, p->kernel);
    ok = judges(&t, p, path, "any") && ok;
    for (int i = 1; i <= ANSWERS; i++) ok = judges_answer(&t, p, i) && ok;
    talk_close(&t);
    lab_close();
    return ok;
}

/* ---- several at a time ---- */

struct running {
    int n, most, failed;
};

static void wait_for_one(struct running *r)
{
    int status;
    assert_true(wait(&status) > 0);
    r->n--;
    r->failed += !WIFEXITED(status) || WEXITSTATUS(status);
}

static bool begin_puzzle(void *user, const struct puzzle *p, struct err *e)
{
    struct running *r = user;
    if (r->n == r->most) wait_for_one(r);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(!check_puzzle(p));
    r->n++;
    return true;
}

TEST(puzzles_can_be_solved)
{
    struct running r = {.most = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct err e = {0}, broken = {0};
    bool ok = puzzle_each(begin_puzzle, &r, &broken, &e);
    while (r.n) wait_for_one(&r);
    if (!ok || broken.code) fail_msg("%s%s %s", e.text, broken.where, broken.text);
    if (r.failed) fail_msg("%d puzzles have mistakes, which are printed above", r.failed);
}

static bool begin_with_nvcc(void *user, const struct puzzle *p, struct err *e)
{
    bool compiled = false;
    for (int i = 0; i < p->ngoals; i++) compiled |= p->goal[i].of->as_compiled || p->goal[i].of->local;
    return !compiled || begin_puzzle(user, p, e);
}

/* The tests of this file see no nvcc; the puzzles about the compiler are also judged with it. */
TEST(puzzles_about_the_compiler_can_be_solved_with_it)
{
    struct running r = {.most = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct err e = {0};
    unsetenv("WARPSPY_NVCC");
    if (!toolkit_nvcc()) {
        setenv("WARPSPY_NVCC", "off", 1);
        skip();
    }
    bool ok = puzzle_each(begin_with_nvcc, &r, NULL, &e);
    while (r.n) wait_for_one(&r);
    setenv("WARPSPY_NVCC", "off", 1);
    assert_true(ok);
    if (r.failed) fail_msg("%d puzzles have mistakes, which are printed above", r.failed);
}

/* What the puzzle says about nvcc: it hoists the bound and stores y once if all pointers are __restrict__, and hoists
   the bound if the sum is in a register; without nvcc, neither is enough. */
TEST(what_nvcc_hoists_counts_only_with_nvcc)
{
    static const struct {
        const char *parameters, *loop;
        int source, compiled;
    } cases[] = {
        {"const int *ptr, const int *col, const double *val, const double *x, double *y",
         "y[row] = 0; for (int k = ptr[row]; k < ptr[row + 1]; k++) y[row] += val[k] * x[col[k]];", 1044, 886},
        {"const int *__restrict__ ptr, const int *__restrict__ col, const double *__restrict__ val, "
         "const double *__restrict__ x, double *__restrict__ y",
         "y[row] = 0; for (int k = ptr[row]; k < ptr[row + 1]; k++) y[row] += val[k] * x[col[k]];", 1044, 602},
        {"const int *ptr, const int *col, const double *val, const double *x, double *y",
         "double sum = 0; for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]]; y[row] = sum;", 728,
         570},
    };
    struct err e = {0};
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_true(puzzle_named("hoist-bound", p, &e));
    unsetenv("WARPSPY_NVCC");
    bool nvcc = toolkit_nvcc() && toolkit_nvdisasm(toolkit_nvcc());
    for (int i = 0; i < COUNT(cases); i++)
        for (int with = 0; with <= nvcc; with++) {
            struct talk t;
            struct judged j;
            char text[1000];
            snprintf(text, sizeof text,
                     "__global__ void hoist(int rows, %s)\n{\n    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "    if (row >= rows) return;\n    %s\n}\n",
                     cases[i].parameters, cases[i].loop);
            write_text("hoist.cu", text);
            with ? unsetenv("WARPSPY_NVCC") : setenv("WARPSPY_NVCC", "off", 1);
            talk_open(&t, OUT_TEXT);
            assert_true(puzzle_judge(&t.s, p, "hoist.cu", &j, &e));
            assert_int_equal((int)j.goal[0].counted, with ? cases[i].compiled : cases[i].source);
            assert_int_equal(j.passed, j.goal[0].counted <= 610);
            assert_int_equal(!strncmp(j.counted_as, with ? "as nvcc" : "as in the source: nvcc", with ? 7 : 22), 1);
            talk_close(&t);
            lab_close();
        }
    setenv("WARPSPY_NVCC", "off", 1);
    free(p);
}

/* 4 warps per block and 9 KB of shared memory: 16 blocks fill the 64 warps of an H200; one warp with 8,448 bytes: its
   228 KB, of which each block needs 1 KB more, hold 24. */
TEST(the_occupancy_is_that_of_the_model)
{
    struct talk t;
    struct judged j;
    struct err e = {0};
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_true(puzzle_named("occupancy", p, &e));
    talk_open(&t, OUT_TEXT);
    write_text("full.cu", p->solution);
    assert_true(puzzle_judge(&t.s, p, "full.cu", &j, &e));
    assert_true(j.passed && j.report.occupancy == 100 && j.report.resident_blocks == 16);
    write_text("low.cu", p->kernel);
    assert_true(puzzle_judge(&t.s, p, "low.cu", &j, &e));
    assert_true(!j.passed && j.goal[0].counted == 37 && j.report.resident_blocks == 24);
    assert_string_equal(j.fix.what,
                        "occupancy, %: 37, needed >= 75; a multiprocessor holds 24 blocks of 32 threads and "
                        "8,448 bytes of shared memory: shared memory limits it");
    talk_close(&t);
    free(p);
}

/* ---- the command ---- */

TEST(a_puzzle_is_played)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "puzzle check", "which puzzle?");
    talk_says(&t, "puzzle", "0 of 15 solved");
    talk_says(&t, "puzzle 1", "Fill the gap in one-row.cu");
    talk_says(&t, "puzzle one-row", "was kept");
    talk_refuses(&t, "puzzle solution", "after 3 failed checks, and 3 are missing");
    talk_refuses(&t, "puzzle check", "the result is wrong in row");
    talk_refuses(&t, "puzzle solution", "3 are missing"); /* the gap was not filled, so it was no try */
    for (int i = 0; i < 2; i++) {
        write_text("one-row.cu", i ? "__global__ void k(int rows, double *y)\n{\n    y[rows] = 0;\n}\n"
                                   : "__global__ void k(int rows, double *y)\n{\n    y[0] = ;\n}\n");
        talk_refuses(&t, "puzzle check", i ? "one-row.cu:3: block 0, thread 0: index 1024 of y" : "one-row.cu:3");
    }
    talk_refuses(&t, "puzzle check", "index 1024"); /* the same text again is not another try */
    talk_says(&t, "puzzle hint", "hint 1 of 3");
    talk_refuses(&t, "puzzle solution", "1 is missing; `puzzle hint`");
    talk_says(&t, "puzzle hint", "hint 2 of 3");
    write_text(
        "one-row.cu",
        "__global__ void k(int rows, double *y)\n{\n    if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = 1;\n}\n");
    talk_refuses(&t, "puzzle check", "the result is wrong");
    talk_says(&t, "puzzle solution", "for (int k = ptr[row]; k < end; k++)");
    talk_says(&t, "puzzle", "solution seen, 2 hints");
    talk_says(&t, "puzzle one-row force restart", "Fill the gap");
    talk_refuses(&t, "puzzle solution", "3 are missing");
    talk_close(&t);
}

TEST(answers_in_other_files_are_found)
{
    struct talk t;
    struct puzzle *p = calloc(1, sizeof *p);
    struct err e = {0};
    assert_non_null(p);
    talk_open(&t, OUT_JSON);
    assert_true(puzzle_named("no-div", p, &e));
    write_text("no-divergence-2.cu", p->solution);
    assert_true(talk_line(&t, "puzzle 5"));
    talk_forget(&t);
    assert_true(talk_line(&t, "puzzle check ./no-divergence-2.cu"));
    cJSON *row = cJSON_Parse(t.out);
    assert_string_equal(cJSON_GetObjectItem(row, "puzzle")->valuestring, "no-divergence");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(row, "passed")));
    cJSON_Delete(row);
    talk_close(&t);
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "puzzle check ./nowhere.cu", "cannot open");
    talk_refuses(&t, "puzzle 77", "there is no puzzle `77`");
    talk_refuses(&t, "puzzle no-divergenze", "did you mean `no-divergence`?");
    talk_refuses(&t, "puzzle 5 check hint", "only one of");
    talk_close(&t);
    free(p);
}

/* The first goal of a puzzle, with the number that its solution has as the limit, and with one less. */
TEST(a_goal_is_met_at_its_limit)
{
    struct talk t;
    struct judged j;
    struct err e = {0};
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    talk_open(&t, OUT_TEXT);
    assert_true(puzzle_named("one-row", p, &e));
    assert_true(!p->goal[0].of->least && !p->goal[0].than);
    write_text("limit.cu", p->solution);
    assert_true(puzzle_judge(&t.s, p, "limit.cu", &j, &e));
    double counted = p->goal[0].limit = j.goal[0].counted;
    assert_true(puzzle_judge(&t.s, p, "limit.cu", &j, &e));
    assert_true(j.goal[0].passed && j.goal[0].counted == counted);
    p->goal[0].limit = counted - 1;
    assert_true(puzzle_judge(&t.s, p, "limit.cu", &j, &e));
    assert_true(!j.goal[0].passed && !j.passed);
    assert_string_equal(j.missed, p->goal[0].of->name);
    talk_close(&t);
    free(p);
}

/* ---- what a goal counts ---- */

enum { SITE_LOAD, SITE_ATOMIC, SITE_SHARED, SITE_EXCHANGE, SITE_BARRIER, SITE_TEXTURE, SITE_ADD, SITES };

/* Sites of all kinds, with counts by hand; the caller frees them. */
static struct counts *made_counts(void)
{
    static const struct access_site site[SITES] = {
        [SITE_LOAD] = {.kind = ACCESS_LOAD, .array = 0},
        [SITE_ATOMIC] = {.kind = ACCESS_ATOMIC, .array = 1},
        [SITE_SHARED] = {.kind = ACCESS_SHARED_LOAD, .array = 2},
        [SITE_EXCHANGE] = {.kind = ACCESS_COLLECTIVE, .array = -1, .what = "__shfl_down_sync"},
        [SITE_BARRIER] = {.kind = ACCESS_BARRIER, .array = -1},
        [SITE_TEXTURE] = {.kind = ACCESS_TEXTURE, .array = 0},
        [SITE_ADD] = {.kind = ACCESS_SHARED_ATOMIC, .array = 2},
    };
    static const struct tally by_site[SITES] = {
        [SITE_LOAD] = {.requests = 10, .lanes = 240, .sectors = 100, .bytes = 1600, .refetched = 10},
        [SITE_ATOMIC] = {.requests = 1, .lanes = 20, .sectors = 20, .bytes = 160, .refetched = 11, .contended = 4},
        [SITE_SHARED] = {.requests = 6, .lanes = 192, .wavefronts = 1030, .wavefronts_least = 1006},
        [SITE_EXCHANGE] = {.requests = 5, .lanes = 160},
        [SITE_BARRIER] = {.requests = 4, .lanes = 128},
        [SITE_TEXTURE] = {.requests = 3, .lanes = 48, .sectors = 3, .bytes = 96},
        [SITE_ADD] = {.requests = 2, .lanes = 1, .wavefronts = 1, .wavefronts_least = 1},
    };
    struct counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    memcpy(c->scope.site, site, sizeof site);
    memcpy(c->by_site, by_site, sizeof by_site);
    c->scope.nsites = SITES;
    strcpy(c->scope.array[0].name, "val");
    strcpy(c->scope.array[1].name, "y");
    strcpy(c->scope.array[2].name, "part");
    return c;
}

/* The costs are whole numbers, plus a little that puts an access without waste last. */
TEST(each_goal_blames_its_accesses)
{
    static const struct {
        const char *name;
        double cost[SITES];
    } cases[] = {
        {"sectors", {50, 15, 0, 0, 0, 0, 0}},
        {"time", {50, 15, 0, 0, 0, 0, 0}},
        {"requests", {10, 1, 0, 0, 0, 3, 0}},
        {"loads", {10, 0, 0, 0, 0, 3, 0}},
        {"atomics", {0, 1, 0, 0, 0, 0, 0}},
        {"additions", {0, 20, 0, 0, 0, 0, 1}},
        {"lanes", {80, 12, 0, 0, 0, 48, 63}},
        {"steps", {10, 1, 6, 5, 4, 3, 2}},
        {"longest", {10, 1, 6, 5, 4, 3, 2}},
        {"wavefronts", {0, 0, 24, 0, 0, 0, 0}},
        {"shared", {0, 0, 6, 0, 0, 0, 2}},
        {"collectives", {0, 0, 0, 5, 0, 0, 0}},
        {"barriers", {0, 0, 0, 0, 4, 0, 0}},
        {"compiled", {10, 1, 0, 0, 0, 3, 0}},
        {"local", {0}},
        {"occupancy", {0}},
    };
    struct counts *c = made_counts();
    char names[400] = "";
    for (int i = 0; i < COUNT(cases); i++)
        for (int k = 0; k < SITES; k++) {
            const struct goal_quantity *q = goal_quantity_find(cases[i].name);
            double cost = q->cost ? q->cost(c, k) : 0;
            if (!(cost >= cases[i].cost[k] && cost < cases[i].cost[k] + 0.01))
                fail_msg("%s, site %d: %g, not %g", cases[i].name, k, cost, cases[i].cost[k]);
        }
    goal_quantity_names(names, sizeof names);
    int n = 1;
    for (const char *p = names; *p; p++) n += *p == ',';
    assert_int_equal(n, COUNT(cases));
    assert_int_equal((int)goal_quantity_find("additions")->of(NULL, c), 21);
    assert_int_equal((int)goal_quantity_find("compiled")->of(NULL, c), 14);
    free(c);
}

/* The texts come from the tables of the keys of `try`. */
TEST(each_goal_has_a_text)
{
    static const struct {
        const char *name, *about;
        bool fraction;
    } cases[] = {
        {"sectors", "sectors of global memory", false},
        {"requests", "requests to global memory", false},
        {"loads", "loads from global memory", false},
        {"atomics", "atomics on global memory", false},
        {"additions", "atomics, counted by lane", false},
        {"lanes", "active lanes of 32, mean", true},
        {"steps", "steps of all warps", false},
        {"longest", "steps of the longest warp", false},
        {"wavefronts", "shared memory wavefronts", false},
        {"shared", "requests to shared memory", false},
        {"collectives", "shuffles, votes, __syncwarp", false},
        {"barriers", "warps at __syncthreads", false},
        {"time", "predicted time, us", true},
        {"compiled", "global requests, as compiled", false},
        {"local", "local memory per thread, bytes", false},
        {"occupancy", "occupancy, %", false},
    };
    char names[400], text[GOAL_BYTES];
    goal_quantity_names(names, sizeof names);
    int n = 1;
    for (const char *p = names; *p; p++) n += *p == ',';
    assert_int_equal(n, COUNT(cases));
    for (int i = 0; i < COUNT(cases); i++) {
        const struct goal_quantity *q = goal_quantity_find(cases[i].name);
        assert_string_equal(goal_quantity_about(q, text, sizeof text), cases[i].about);
        assert_int_equal(goal_quantity_is_integer(q), !cases[i].fraction);
    }
}

TEST(each_goal_says_what_an_access_does)
{
    static const struct {
        const char *name;
        int site;
        const char *says;
    } cases[] = {
        {"lanes", SITE_LOAD, "the load of val has 24.0 active lanes of 32, in 10 requests"},
        {"lanes", SITE_ATOMIC, "the atomic of y has 20.0 active lanes of 32, in 1 request"},
        {"lanes", SITE_ADD, "the shared atomic of part has 0.5 active lanes of 32, in 2 requests"},
        {"lanes", SITE_BARRIER, "barrier has 32.0 active lanes of 32, in 4 requests"},
        {"additions", SITE_ATOMIC, "the atomic of y is done by 20 lanes"},
        {"additions", SITE_ADD, "the shared atomic of part is done by 1 lane"},
        {"steps", SITE_EXCHANGE, "__shfl_down_sync makes 5 requests"},
        {"requests", SITE_TEXTURE, "the texture load of val makes 3 requests"},
        {"wavefronts", SITE_SHARED, "the shared load of part needs 1,030 wavefronts, and 1,006 without bank conflicts"},
        {"wavefronts", SITE_ADD, "the shared atomic of part needs 1 wavefront, and 1 without bank conflicts"},
        {"sectors", SITE_LOAD, /* only a tenth was requested before */
         "the load of val requests 100 sectors, 10.0 per request; the lanes use 50 % of their bytes"},
        {"sectors", SITE_ATOMIC,
         "the atomic of y requests 20 sectors, 20.0 per request; the lanes use 25 % of their bytes, and 55 % were "
         "requested before"},
        {"time", SITE_TEXTURE,
         "the texture load of val requests 3 sectors, 1.0 per request; the lanes use 100 % of their bytes"},
    };
    struct counts *c = made_counts();
    for (int i = 0; i < COUNT(cases); i++) {
        char text[300] = "";
        goal_quantity_find(cases[i].name)->say(c, cases[i].site, text, sizeof text);
        assert_string_equal(text, cases[i].says);
    }
    char text[300] = "";
    c->by_site[SITE_LOAD].refetched = 11; /* more than a tenth */
    goal_quantity_find("sectors")->say(c, SITE_LOAD, text, sizeof text);
    assert_non_null(strstr(text, "of their bytes, and 11 % were requested before"));
    free(c);
}

/* One empty line stands between paragraphs, however many the file has. */
TEST(paragraphs_are_kept_apart)
{
    struct err e = {0};
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_true(puzzle_named("1", p, &e));
    assert_non_null(strstr(p->prose, "\n\n"));
    assert_null(strstr(p->prose, "\n\n\n"));
    free(p);
}

/* The next puzzle is the first unsolved one below the one that was solved. */
TEST(the_next_puzzle_is_not_solved_yet)
{
    struct talk t;
    struct err e = {0};
    struct puzzle *p = calloc(3, sizeof *p);
    char number[2] = "1", next[100];
    assert_non_null(p);
    for (int i = 0; i < 3; i++, number[0]++) assert_true(puzzle_named(number, &p[i], &e));
    struct puzzle_progress second = {.last = "-", .solved = true};
    snprintf(second.name, sizeof second.name, "%s", p[1].name);
    snprintf(second.sum, sizeof second.sum, "%s", p[1].sum);
    assert_true(progress_save(p[0].name, &second, &e));
    write_text("solved.cu", p[0].solution);
    talk_open(&t, OUT_TEXT);
    snprintf(next, sizeof next, "Next: `puzzle %s`", p[2].name);
    assert_true(talk_line(&t, "puzzle 1"));
    talk_says(&t, "puzzle check ./solved.cu", next);
    talk_close(&t);
    free(p);
}

/* Progress in a puzzle whose file has changed since then does not count. */
TEST(a_changed_puzzle_begins_again)
{
    static struct progress_list l = {.n = 1, .of[0] = {.name = "p", .sum = "1", .failed = 2, .solved = true}};
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    strcpy(p->name, "p");
    strcpy(p->sum, "1");
    assert_true(progress_of(&l, p)->solved && progress_of(&l, p)->failed == 2);
    strcpy(p->sum, "2");
    assert_true(!progress_of(&l, p)->solved && progress_of(&l, p)->failed == 0 && l.n == 1);
    free(p);
}

/* The matrix is the one that its line makes at the prompt. */
TEST(matrices_are_those_of_their_lines)
{
    static const char *const lines[] = {"gen random 40 3", "gen random 40 3 seed 5", "gen poisson2d 6"};
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t;
        struct csr A;
        struct err e = {0};
        char text[200];
        struct puzzle *p = calloc(1, sizeof *p);
        assert_non_null(p);
        snprintf(text, sizeof text, "# T\n> %s\nkernel\nx\nend\nsolution\ny\nend\n", lines[i]);
        write_text("made.txt", text);
        if (!puzzle_read("made", "made.txt", p, &e) || !puzzle_matrix(p, NULL, &A, &e)) fail_msg("%s", e.text);
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, lines[i]));
        assert_true(csr_equal(&A, &t.s.current->csr));
        talk_close(&t);
        csr_free(&A);
        free(p);
    }
}

/* ---- mistakes in files ---- */

static const struct {
    const char *text, *says;
} mistakes[] = {
    {"> gen nothing 3\n", "bad.txt:1: `nothing` is not a generator"},
    {"> load a.mtx\n", "bad.txt:1: the line makes no matrix: write `> gen"},
    {"> gen poisson2d 3 4 5\n", "bad.txt:1: poisson2d has no parameter 5"},
    {"> gen poisson2d x 5\n", "bad.txt:1: poisson2d has no parameter x"},
    {"\ngoal speed <= 3\n", "bad.txt:2: `speed` is not one of sectors"},
    {"goal sectors >= 3\n", "bad.txt:1: the goal has a wrong sign or number: write `goal sectors <= NUMBER`"},
    {"goal sectors < csr-vector\n", "bad.txt:1: only `goal time`"},
    {"goal sectors\n", "bad.txt:1: the goal is incomplete: write `goal QUANTITY"},
    {"format cool\n", "bad.txt:1: `cool` is not a format"},
    {"kernel\nx\n", "bad.txt:2: the line `end`"},
    {"kernel\nx\nend\nkernel\n", "bad.txt:4: the file has a second `kernel`"},
    {"# T\n", "bad.txt:1: the puzzle lacks a matrix"},
    {"# T\n> gen poisson2d 3\nkernel\nx\nend\n", "bad.txt:5: the puzzle lacks the solution"},
};

/* Sessions that save their progress at the same time do not undo each other's. */
TEST(sessions_keep_each_others_progress)
{
    enum { SESSIONS = 4, TIMES = 25 };
    static struct progress_list l;
    fflush(NULL);
    for (int i = 0; i < SESSIONS; i++) {
        if (fork()) continue;
        bool ok = true;
        for (int k = 1; ok && k <= TIMES; k++) {
            struct puzzle_progress one = {.sum = "1", .last = "-", .failed = k};
            snprintf(one.name, sizeof one.name, "session-%d", i);
            ok = progress_save(one.name, &one, NULL);
        }
        _exit(!ok);
    }
    for (int i = 0, status; i < SESSIONS; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    progress_load(&l);
    int found = 0;
    for (int i = 0; i < l.n; i++) found += !strncmp(l.of[i].name, "session-", 8) && l.of[i].failed == TIMES;
    assert_int_equal(found, SESSIONS);
}

TEST(mistakes_are_named_by_line)
{
    struct puzzle *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (int i = 0; i < COUNT(mistakes); i++) {
        struct err e = {0};
        char all[sizeof e.where + sizeof e.text + 4];
        write_text("bad.txt", mistakes[i].text);
        assert_false(puzzle_read("bad", "bad.txt", p, &e));
        snprintf(all, sizeof all, "%s: %s", e.where, e.text);
        if (!strstr(all, mistakes[i].says)) fail_msg("expected `%s` in: %s", mistakes[i].says, all);
    }
    free(p);
}

SUITE(.setup = prepare, .teardown = clean);
