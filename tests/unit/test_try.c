/* Kernels of users: files that break every rule leave the session alive with one clear line; files that keep the rules
   give the right result; each built-in kernel compiles from its exported source and does the same. */
#include "advice/sm_lives.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lab/lab_private.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "microscope/tracing.h"
#include "session/command.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- helpers ---- */

static char files[PATH_MAX]; /* tests/files/try */

/* Find the program, which runs the kernels, and the files. */
static int find_program(void **state)
{
    char program[PATH_MAX];
    if (!find_warpspy(program)) return -1;
    lab_set_program(program);
    if (!realpath("tests/files/try", files)) return -1;
    return access(program, X_OK);
}

static void open_with_matrix(struct talk *t, enum out_mode mode)
{
    talk_open(t, mode);
    assert_true(talk_line(t, "gen poisson2d 8"));
    talk_forget(t);
}

static bool try_file(struct talk *t, const char *file, const char *more)
{
    char line[2 * PATH_MAX];
    snprintf(line, sizeof line, "try %s/%s.cu %s", files, file, more);
    talk_forget(t);
    return talk_line(t, line);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("expected `%s` in: %s", part, text);
}

/* ---- kernels that break a rule ---- */

static const struct {
    const char *file, *more, *says[3];
} bad[] = {
    {"endless", "seconds 0.5", {"endless.cu:", "thread 5: has not ended after 0.5 s", "block 0"}},
    {"endless_reads", "seconds 0.5", {"endless_reads.cu:8", "block 0", "has not ended after 0.5 s"}},
    {"long_loop", "seconds 0.5", {"long_loop.cu:8", "block 0", "has not ended after 0.5 s"}},
    {"stack", "", {"stack.cu:", "block 0, thread 0: overflows its stack of 256 KB"}},
    {"big_array", "", {"big_array.cu:", "block 0, thread 0: overflows its stack"}},
    {"wild", "", {"wild.cu:8", "block 0, thread 0: uses an address that is not its own"}},
    {"read_out", "", {"read_out.cu:8", "block 0, thread 0", "index 1000000 of val is outside the array"}},
    {"write_out", "", {"write_out.cu:8", "block 0, thread 0", "index -1 of y is outside the array"}},
    {"local_out", "", {"local_out.cu:9", "block 0, thread 4: uses an index outside a local array"}},
    {"race", "", {"race.cu:5", "block 0, thread 64", "__syncthreads() is missing"}},
    {"divergent", "", {"divergent.cu:6", "block 0", "__syncthreads: thread 0 waits here, but thread 64 has returned"}},
    {"barrier", "", {"barrier.cu:5", "block 0", "__syncthreads: thread 0 waits here"}},
    {"divide", "", {"divide.cu:8", "block 0, thread 0: divides an integer by zero"}},
    {"exits", "", {"exits.cu:9", "block 0, thread 9: calls exit"}},
    {"aborts", "", {"aborts.cu:9", "block 0, thread 9: calls abort"}},
    {"quits", "", {"quits", "ended its process with status 3"}},
    {"forks", "", {"forks.cu:9", "block 0, thread 0: calls fork"}},
    {"kills", "", {"kills.cu:10", "block 0, thread 0: calls kill, which a kernel must not do"}},
    {"writes", "", {"writes.cu:9", "block 0, thread 0: calls open, to write to a file"}},
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer reserves so many addresses that no limit can be set */
    {"memory", "", {"memory.cu:9", "block 0, thread 0: uses an address that is not its own"}},
#endif
    {"shared", "", {"shared.cu:3", "shared memory"}},
    {"constructor", "", {"constructor", "uses an address that is not its own"}},
    {"wrong", "", {"wrong is wrong in row"}},
    {"reads_y", "", {"reads_y is wrong in row", "y is nan", "y must not be read if beta is 0"}},
    {"half_of_y", "", {"half_of_y is wrong in row 0", "y is nan", "it was never written, or it was read"}},
    {"no_blocks", "", {"try: no_blocks: a grid of 0 blocks cannot be launched"}},
    {"divides_blocks", "", {"divides_blocks.cu: divides_blocks: divides an integer by zero"}},
    {"missing", "", {"missing.cu:1", "no_such_file.h"}},
    {"not_a_kernel", "", {"not_a_kernel.cu has no kernel: no function begins with __global__"}},
    {"types", "", {"types.cu:2", "col is `float *`, but the elements of col in csr are int"}},
    {"unknown", "", {"unknown.cu:2", "what is the parameter weights?"}},
    {"two", "", {"two.cu:11", "the file has 2 kernels: right, second"}},
    {"empty", "", {"empty.cu is empty"}},
    {"syntax", "", {"syntax.cu:", "expected"}},
    {"templates", "", {"templates.cu:2", "template instantiation depth"}},
    {"zero", "", {"zero.cu:1", "/dev/zero is not a file that can be included"}},
    {"stdin", "", {"stdin.cu:1", "/dev/stdin is not a file that can be included"}},
    {"host", "", {"host.cu:12", "<<<...>>>"}},
    {"no_such", "", {"cannot read", "No such file"}},
};

TEST(bad_kernels_leave_the_session_alive)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    unlink("/tmp/warpspy-try-was-here");
    for (int i = 0; i < COUNT(bad); i++) {
        double begin = now_us();
        if (try_file(&t, bad[i].file, bad[i].more)) fail_msg("%s succeeds: %s", bad[i].file, t.out);
        if (getenv("WARPSPY_TRY_SHOW")) printf("%5.0f ms  %s", (now_us() - begin) / 1000, t.err);
        for (int k = 0; k < COUNT(bad[i].says) && bad[i].says[k]; k++) assert_says(t.err, bad[i].says[k]);
        if (strchr(t.err, '\n') != t.err + strlen(t.err) - 1) fail_msg("%s: more than a line: %s", bad[i].file, t.err);
        if (strstr(t.err, "gpu/") || strstr(t.err, "simt.h")) fail_msg("%s: our headers: %s", bad[i].file, t.err);
    }
    assert_int_not_equal(access("/tmp/warpspy-try-was-here", F_OK), 0);
    talk_says(&t, "stats", "rows");
    assert_true(try_file(&t, "right", ""));
    talk_close(&t);
}

/* Files that are not text, or too much of it. */
TEST(files_that_are_no_source_are_refused)
{
    static const char bytes[] = "\177ELF\0\1\2\3";
    struct talk t;
    char line[200];
    open_with_matrix(&t, OUT_TEXT);
    char name[] = "/tmp/warpspy-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes);
    snprintf(line, sizeof line, "try %s", name);
    talk_refuses(&t, line, "is a binary file");
    assert_int_equal(ftruncate(fd, 100000000), 0);
    talk_refuses(&t, line, "has 100 MB; a file with a kernel has at most 1 MB");
    close(fd);
    unlink(name);
    talk_refuses(&t, "try /dev/zero", "is not a file with a kernel");
    talk_refuses(&t, "try /tmp", "is not a file with a kernel");
    assert_int_equal(mkfifo(name, 0600), 0);
    talk_refuses(&t, line, "is not a file with a kernel");
    unlink(name);
    talk_close(&t);
}

/* The compiler reads a device that a macro hides, until its limits end it. */
TEST(the_compiler_is_limited)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_false(try_file(&t, "hidden_zero", ""));
    assert_says(t.err, "the compiler needs too long or too much memory for hidden_zero.cu");
    talk_close(&t);
}

/* ---- kernels that are right ---- */

TEST(right_kernels_are_compared)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "right", ""));
    assert_says(t.out, "right, within");
    assert_says(t.out, "none found");
    assert_says(t.out, "csr-scalar");
    assert_true(try_file(&t, "vector", ""));
    assert_true(try_file(&t, "prints", ""));
    assert_says(t.out, "row 3 has the sum");
    assert_true(try_file(&t, "two", "kernel second"));
    talk_close(&t);
}

/* After a try, the kernel works in the other commands. */
TEST(a_tried_kernel_has_a_name)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "right", ""));
    talk_says(&t, "spmv kernel right on emu", "error");
    talk_says(&t, "count right", "sectors");
    talk_says(&t, "trace right", "right.cu:");
    talk_says(&t, "explain right", "predicted");
    talk_says(&t, "predict right", "predicted");
    talk_says(&t, "kernels csr", "\nright ");
    talk_says(&t, "bench right csr-scalar on emu", "right is yours, from right.cu");
    talk_refuses(&t, "spmv kernel right on emu alpha 2", "computes A x only");
    talk_refuses(&t, "spmv kernel right on cpu", "right");
    talk_close(&t);
}

/* A kernel that takes both alpha and beta is judged with both, and does the other products; a kernel that takes only
   one of them computes A x. */
TEST(alpha_and_beta_are_taken_together)
{
    static const struct {
        const char *file, *kernel;
        bool both;
    } cases[] = {{"right", "right", false},
                 {"atomic_alpha", "atomic_alpha", false},
                 {"beta_only", "beta_only", false},
                 {"plain_given", "plain_given", true}};
    struct talk t;
    char line[200];
    open_with_matrix(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        if (!try_file(&t, cases[i].file, "")) fail_msg("%s: %s", cases[i].file, t.err);
        assert_says(t.out, "right, within");
        static const char *const terms[] = {"alpha 2", "beta 3", "alpha 2 beta 3"};
        for (int k = 0; k < COUNT(terms); k++) {
            snprintf(line, sizeof line, "spmv kernel %s on emu %s", cases[i].kernel, terms[k]);
            if (cases[i].both)
                talk_says(&t, line, "error");
            else
                talk_refuses(&t, line, "computes A x only");
        }
    }
    talk_close(&t);
}

/* What a user's kernel stores in shared memory is followed in its process: row 0 of the grid has the columns 0, 1, 8.
 */
TEST(shared_memory_of_a_tried_kernel_has_places)
{
    int64_t found[3] = {-1, -1, -1};
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "plain_tile2d", ""));
    assert_true(talk_line(&t, "trace plain_tile2d"));
    const struct tracing *v = t.s.trace;
    for (int64_t k = 0; k < v->t.nsteps; k++) {
        struct lane_at at = tracing_lane(v, k, 0);
        if (at.state != LANE_ACTIVE || tracing_site(v, k)->kind != ACCESS_SHARED_LOAD || at.index > 2) continue;
        assert_int_equal(at.row, 0);
        found[at.index] = at.col;
    }
    assert_true(found[0] == 0 && found[1] == 1 && found[2] == 8);
    talk_close(&t);
    lab_close();
}

/* Plain CUDA C in the styles that are usual: the file needs no line for this program but TRY. */
TEST(plain_cuda_is_understood)
{
    static const char *const plain[] = {"warp_row", "block_row",  "given",     "given2", "stride",
                                        "vec2",     "coo_atomic", "ell_float", "tile2d", "votes"};
    struct talk t;
    char file[80];
    open_with_matrix(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(plain); i++) {
        snprintf(file, sizeof file, "plain_%s", plain[i]);
        if (!try_file(&t, file, "")) fail_msg("%s: %s%s", file, t.out, t.err);
        assert_says(t.out, "right, within");
    }
    try_file(&t, "plain_ell_float", "");
    assert_says(t.out, "fp32");
    assert_false(try_file(&t, "plain_ell_float", "f64"));
    assert_says(t.err, "does not multiply matrices in fp64");
    talk_close(&t);
    lab_close();
}

/* A template of two types multiplies stored values of one type by vectors of another. */
TEST(values_may_have_a_type_of_their_own)
{
    static const char *const precision[] = {"fp64", "fp32", "bf16-fp32", "fp32-fp64"};
    struct talk t;
    char more[40];
    open_with_matrix(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(precision); i++) {
        snprintf(more, sizeof more, "precision %s", precision[i]);
        if (!try_file(&t, "two_types", more)) fail_msg("%s: %s%s", more, t.out, t.err);
        assert_says(t.out, "right, within");
        assert_says(t.out, precision[i]);
    }
    assert_true(try_file(&t, "right", ""));
    assert_false(try_file(&t, "right", "precision bf16-fp32"));
    talk_close(&t);
    lab_close();
}

/* Every command that takes the name of a kernel takes the name of a tried one. */
static const struct {
    const char *command, *line, *says;
} by_name[] = {
    {"spmv", "spmv kernel right on emu", "deterministic  "},
    {"bench", "bench right csr-scalar on emu", "\ncsr     right"},
    {"race", "race right csr-scalar on emu", "  right "},
    {"solve", "solve cg kernel right on emu", "kernel         right\n"},
    {"eigs", "eigs 2 largest kernel plain_stride on emu", "plain_stride"},
    {"trace", "trace right", "right.cu:"},
    {"count", "count right", "right"},
    {"explain", "explain right", "right on "},
    {"explain", "explain right csr-scalar", "right"},
    {"explain", "explain csr-vector right", "right"},
    {"predict", "predict right", "right"},
    {"sm", "sm kernel right", "right on "},
    {"sm", "sm right", "right on "},
    {"roofline", "roofline", "\nright "},
    {"kernels", "kernels csr", "\nright "},
    {"help", "help right", "yours, from right.cu"},
    {"why", "why not right", "right would take"},
};

TEST(commands_take_a_tried_kernel)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "right", "") && try_file(&t, "plain_stride", ""));
    for (int i = 0; i < COUNT(by_name); i++) talk_says(&t, by_name[i].line, by_name[i].says);
    talk_refuses(&t, "timeline kernel right on emu*2", "right");
    talk_refuses(&t, "sass right", "right is a kernel of yours: `try` shows what nvcc makes of it");
    for (int c = 0; commands[c]; c++) {
        bool listed = !strcmp(commands[c]->name, "timeline") || !strcmp(commands[c]->name, "sass") ||
                      !strcmp(commands[c]->name, "try");
        for (int i = 0; i < COUNT(by_name); i++) listed |= !strcmp(by_name[i].command, commands[c]->name);
        if (!listed && strstr(commands[c]->grammar, "KERNEL")) fail_msg("%s takes a kernel", commands[c]->name);
    }
    talk_close(&t);
}

static double number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    if (!at) fail_msg("expected `%s` in: %s", word, text);
    return strtod(at + strlen(word), NULL);
}

/* A solve with a tried kernel is the solve with the built-in one. Its products are launches of one process. */
TEST(a_solve_uses_a_tried_kernel)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    talk_says(&t, "solve cg kernel csr-scalar on emu", "converged  ");
    double iterations = number_after(t.out, "iterations");
    assert_true(iterations > 10 && try_file(&t, "right", ""));
    talk_says(&t, "solve cg kernel right on emu", "converged  ");
    assert_true(number_after(t.out, "iterations") == iterations);
    talk_says(&t, "gen poisson2d 9; solve cg kernel right on emu", "converged  "); /* another matrix */
    assert_false(try_file(&t, "wrong", ""));
    talk_refuses(&t, "solve cg kernel wrong on emu", "the kernel wrong is wrong in row");
    talk_says(&t, "solve cg kernel wrong on emu force maxit 3", "kernel         wrong\n");
    talk_close(&t);
}

/* ---- files that come again ---- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static const char sum_of_row[] =
    "__global__ void mine(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)\n"
    "{\n"
    "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row >= rows) return;\n"
    "    double sum = 0;\n"
    "    for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += %s;\n"
    "    y[row] = sum;\n"
    "}\n";

/* A second try of a file after an edit replaces the kernel. */
TEST(a_file_can_be_tried_again)
{
    struct talk t;
    char text[1000], line[PATH_MAX], folder[] = "/tmp/warpspy-test-XXXXXX", path[64];
    lab_close();
    open_with_matrix(&t, OUT_TEXT);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.cu", folder);
    snprintf(line, sizeof line, "try %s", path);
    static const struct {
        const char *term, *says;
    } edits[] = {{"val[k] * x[col[k]]", "right, within"},
                 {"val[k] * x[row]", "mine is wrong in row"},
                 {"val[k] * x[col[k]] * one", "mine.cu:6: 'one' was not declared"},
                 {"val[k] * x[col[k] + 4 * rows]", "mine.cu:6: mine: block 0, thread 0: index"},
                 {"x[col[k]] * val[k]", "right, within"}};
    int before = registry_count(&kernel_registry);
    for (int i = 0; i < COUNT(edits); i++) {
        snprintf(text, sizeof text, sum_of_row, edits[i].term);
        write_file(path, text);
        bool right = i == 0 || i == COUNT(edits) - 1;
        if (talk_line(&t, line) != right) fail_msg("%s: %s%s", edits[i].term, t.out, t.err);
        talk_refresh(&t);
        assert_says(right ? t.out : t.err, edits[i].says);
        talk_forget(&t);
    }
    assert_int_equal(registry_count(&kernel_registry), before + 1);
    talk_says(&t, "count mine", "mine");
    unlink(path);
    rmdir(folder);
    talk_close(&t);
    lab_close();
}

/* Files of the same name are two kernels, and each trace shows its own source. */
TEST(files_of_one_name_are_two_kernels)
{
    struct talk t;
    char text[1000], line[PATH_MAX], folder[2][30] = {"/tmp/warpspy-test-XXXXXX", "/tmp/warpspy-test-XXXXXX"};
    static const char *const terms[] = {"val[k] * x[col[k]]", "x[col[k]] * val[k]"};
    open_with_matrix(&t, OUT_TEXT);
    for (int i = 0; i < 2; i++) {
        assert_non_null(mkdtemp(folder[i]));
        snprintf(line, sizeof line, "%s/mine.cu", folder[i]);
        snprintf(text, sizeof text, sum_of_row, terms[i]);
        write_file(line, text);
        snprintf(line, sizeof line, "try %s/mine.cu", folder[i]);
        talk_says(&t, line, i ? "my-mine" : "mine");
    }
    talk_says(&t, "trace mine step 2", " mine.cu:6:");
    talk_says(&t, "trace my-mine step 2", " my-mine.cu:6:");
    for (int i = 0; i < 2; i++) {
        int n;
        const char *source = kernel_source_line(i ? "my-mine.cu" : "mine.cu", 6, &n);
        if (!source || !memmem(source, (size_t)n, terms[i], strlen(terms[i]))) fail_msg("%d: %.*s", i, n, source);
    }
    talk_says(&t, "bench mine my-mine on emu", "my-mine");
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "%s/mine.cu", folder[i]);
        unlink(line);
        rmdir(folder[i]);
    }
    talk_close(&t);
    lab_close();
}

/* The kernel of README.md has the fault that is shown there, and is right after the change. */
TEST(the_kernel_of_the_readme)
{
    struct talk t;
    struct err e = {0};
    struct stat st;
    char line[64], path[] = "/tmp/warpspy-test-XXXXXX.cu";
    static const char wrong[] = "if (row > rows)", block[] = "```cuda\n";
    open_with_matrix(&t, OUT_TEXT);
    char *readme = lab_read("README.md", &st, &e), *code = strstr(readme, block) + strlen(block);
    *strstr(code, "```") = 0;
    char *at = strstr(code, wrong);
    assert_true(at && strstr(code, "TRY(csr, blocks_for(rows, 128), 128)"));
    close(mkstemps(path, 3));
    snprintf(line, sizeof line, "try %s", path);
    talk_says(&t, "load samples/1138_bus.mtx", "1138_bus");
    write_file(path, code);
    assert_false(talk_line(&t, line));
    assert_says(t.err, ".cu:7: ");
    assert_says(t.err, "block 8, thread 114: index 1139 of ptr is outside the array, which has 1139 elements");
    memmove(at + strlen("if (row >= rows)"), at + strlen(wrong), strlen(at + strlen(wrong)) + 1);
    memcpy(at, "if (row >= rows)", strlen("if (row >= rows)"));
    write_file(path, code);
    talk_says(&t, line, "right, within 0.245 of the rounding-error bound");
    unlink(path);
    mem_free(readme);
    talk_close(&t);
    lab_close();
}

/* ---- a watched file ---- */

static struct {
    const char *path, *text; /* the text that is saved while the command waits; NULL: no more, so Ctrl-C ends it */
    bool tried;              /* since the last save */
} watched;

/* The tick of the session's watch: save the next text when the command waits for it. */
static bool save_next(struct watch *w, const char *what, int64_t done, int64_t total)
{
    if (strcmp(what, "waiting for the file to be saved")) return watched.tried = true;
    if (!watched.tried) return true;
    if (!watched.text) return false;
    write_file(watched.path, watched.text);
    watched.text = NULL;
    watched.tried = false;
    return true;
}

static void watch_twice(struct talk *t, enum out_mode mode, const char *path)
{
    char line[PATH_MAX + 32], right[1000];
    struct stat st;
    struct err e = {0};
    snprintf(line, sizeof line, "%s/right.cu", files);
    char *text = lab_read(line, &st, &e);
    snprintf(right, sizeof right, "%s", text);
    mem_free(text);
    write_file(path, right);
    memcpy(strstr(right, "= sum;"), "= row;", 6);
    open_with_matrix(t, mode);
    watched.path = path, watched.text = right, watched.tried = false;
    t->s.watch.tick = save_next;
    snprintf(line, sizeof line, "try %s watch", path);
    if (!talk_line(t, line)) fail_msg("%s", t->err);
    assert_null(watched.text);
}

/* Each save is tried: a line of text for a kernel that is right, an error for one that is wrong. */
TEST(a_watched_file_is_tried_at_each_save)
{
    struct talk t;
    char path[] = "/tmp/warpspy-test-XXXXXX.cu";
    close(mkstemps(path, 3));
    watch_twice(&t, OUT_TEXT, path);
    const char *line = strstr(t.out, ": right; ");
    assert_true(line && strchr(line, '\n') == t.out + strlen(t.out) - 1);
    assert_true(strchr(t.out, '\n') > line); /* no other line */
    assert_says(t.err, "each save is tried at once");
    assert_says(t.err, " is wrong in row ");
    talk_close(&t);
    lab_close();
    watch_twice(&t, OUT_JSON, path);
    const char *first = strstr(t.out, "\"kind\":\"report\""), *second = first ? strstr(first + 1, "\"kind\":") : NULL;
    assert_true(second && !strncmp(second, "\"kind\":\"report\"", 15) && !strstr(second + 1, "\"kind\":"));
    assert_says(first, "\"correct\":true");
    assert_says(second, "\"correct\":false");
    talk_close(&t);
    unlink(path);
    lab_close();
}

/* Several errors are shown with their lines; of one, only the line. */
TEST(compiler_errors_show_their_lines)
{
    struct talk t;
    char text[1000], line[64], path[] = "/tmp/warpspy-test-XXXXXX.cu";
    open_with_matrix(&t, OUT_TEXT);
    close(mkstemps(path, 3));
    snprintf(line, sizeof line, "try %s", path);
    snprintf(text, sizeof text, sum_of_row, "one * x[col[k]]");
    write_file(path, text);
    assert_false(talk_line(&t, line));
    assert_int_equal(strncmp(t.out, "  > 6  for (int k", 17), 0);
    snprintf(text, sizeof text, sum_of_row, "one;\n    sum = two");
    write_file(path, text);
    talk_forget(&t);
    assert_false(talk_line(&t, line));
    assert_says(t.out, ".cu:6: 'one' was not declared");
    assert_says(t.out, "  > 7  sum = two;\n             ^");
    unlink(path);
    talk_close(&t);
}

/* Without g++, one line says what is missing and how to install it. */
TEST(a_missing_compiler_is_named)
{
    struct talk t;
    char *path = strdup(getenv("PATH"));
    open_with_matrix(&t, OUT_TEXT);
    assert_non_null(path);
    setenv("PATH", "/nowhere", 1);
    assert_false(try_file(&t, "right", ""));
    setenv("PATH", path, 1);
    free(path);
    assert_string_equal(t.err, "try: g++, which compiles kernels for the emulator, is not installed; on Debian, "
                               "`apt-get install g++` installs it\n");
    assert_string_equal(t.out, "");
    assert_true(try_file(&t, "right", ""));
    talk_close(&t);
}

/* ---- registers ---- */

/* A multiprocessor has 65,536 registers: one block of 1,024 threads with more than 32 each, two with fewer. */
TEST(nvcc_is_asked_for_registers)
{
    struct talk t;
    unsetenv("WARPSPY_NVCC");
    if (!lab_has_nvcc()) skip();
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "bound", ""));
    talk_says(&t, "explain bound", "Registers limit the occupancy");
    assert_true(talk_line(&t, "sm bound"));
    const struct sm_lives *l = t.s.sm;
    assert_true(l->registers > 32 && l->registers <= 64);
    assert_int_equal(l->blocks_most, 1);
    assert_string_equal(l->limited_by, "registers");
    assert_says(t.out, "registers, for sm_90.");
    assert_null(strstr(t.out, "upper bound"));
    assert_null(strstr(t.out, "a larger matrix shows"));
    talk_says(&t, "predict bound", "limited by registers");
    assert_true(try_file(&t, "plain_block_row", ""));
    talk_says(&t, "sm plain_block_row", "registers, for sm_90.");
    talk_says(&t, "set gpu samples/gpus/a100.txt; sm plain_block_row", "registers, for sm_80.");
    assert_true(talk_line(&t, "set gpu auto"));
    talk_close(&t);
    lab_close();
    setenv("WARPSPY_NVCC", "off", 1);
}

/* Without nvcc, the number of blocks is an upper bound, and sm says so. */
TEST(sm_without_nvcc_does_not_know_registers)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_true(try_file(&t, "bound", ""));
    talk_says(&t, "explain bound", "The registers of a thread are not known");
    talk_says(&t, "predict bound", "registers not known");
    assert_true(talk_line(&t, "sm bound"));
    assert_says(t.out,
                "The registers of a thread are not known: nvcc is not used, as `set nvcc off` or WARPSPY_NVCC says");
    assert_says(t.out, "is an upper bound");
    assert_int_equal(t.s.sm->registers, 0);
    assert_int_equal(t.s.sm->blocks_most, 2);
    talk_close(&t);
    lab_close();
}

/* A kernel that fails in one run is left out; the other kernels are still shown. */
TEST(commands_go_on_without_a_bad_kernel)
{
    struct talk t;
    open_with_matrix(&t, OUT_TEXT);
    assert_false(try_file(&t, "read_out", ""));
    talk_says(&t, "bench csr on emu", "index 1000000 of val is outside the array");
    talk_says(&t, "bench csr on emu", "csr-scalar");
    talk_refuses(&t, "spmv kernel read_out on emu", "read_out.cu:8");
    talk_refuses(&t, "trace read_out", "read_out.cu:8");
    talk_refuses(&t, "explain read_out", "read_out.cu:8");
    talk_close(&t);
    lab_close();
}

/* nvcc compiles what g++ compiles. Without a GPU, the code cannot be launched. */
TEST(kernels_compile_for_the_gpu)
{
    struct err e = {0};
    struct stat st;
    struct source s;
    char path[2 * PATH_MAX];
    unsetenv("WARPSPY_NVCC");
    if (!lab_has_nvcc()) skip();
    snprintf(path, sizeof path, "%s/vector.cu", files);
    char *text = lab_read(path, &st, &e);
    assert_true(text && source_read(&s, text, "vector.cu", &e) && source_choose(&s, "vector.cu", NULL, NULL, &e));
    char *for_gpu = source_for_gpu(&s, text, "vector.cu", "mine", &e);
    assert_non_null(for_gpu);
    int fd =
        lab_compile(for_gpu, "vector.cu", files, text, (struct lab_target){.gpu = true, .capability = 90}, NULL, &e);
    if (fd < 0) fail_msg("%s: %s", e.where, e.text);
    char *object = lab_memory_text(fd, 1 << 26, &e);
    off_t n = lseek(fd, 0, SEEK_END);
    assert_non_null(memmem(object, (size_t)n, "cuda_kernel_of_the_lab", 22));
    close(fd);
    mem_free(object);
    mem_free(for_gpu);
    mem_free(text);
    setenv("WARPSPY_NVCC", "off", 1);
}

TEST(a_changed_file_must_be_tried_again)
{
    struct talk t;
    char command[3 * PATH_MAX], line[200], name[] = "/tmp/warpspy-test-XXXXXX.cu";
    open_with_matrix(&t, OUT_TEXT);
    close(mkstemps(name, 3));
    snprintf(command, sizeof command, "cp %s/right.cu %s", files, name);
    assert_int_equal(system(command), 0);
    snprintf(line, sizeof line, "try %s", name);
    assert_true(talk_line(&t, line));
    snprintf(command, sizeof command, "echo '/* more */' >> %s", name);
    assert_int_equal(system(command), 0);
    char *stem = strrchr(name, '/') + 1;
    stem[strlen(stem) - 3] = 0;
    snprintf(line, sizeof line, "count %s", stem);
    talk_refuses(&t, line, "has changed since it was tried");
    strcat(name, ".cu");
    unlink(name);
    talk_close(&t);
}

static double number_of(const cJSON *row, const char *key)
{
    const cJSON *v = cJSON_GetObjectItem(row, key);
    if (!v) fail_msg("no key %s", key);
    return cJSON_IsNull(v) ? -1 : cJSON_IsBool(v) ? cJSON_IsTrue(v) : v->valuedouble;
}

/* The report has the numbers that the built-in kernel has. */
TEST(reports_are_json)
{
    struct talk t;
    open_with_matrix(&t, OUT_JSON);
    assert_true(try_file(&t, "right", ""));
    cJSON *report = cJSON_Parse(t.out);
    assert_non_null(report);
    assert_true(number_of(report, "correct") == 1 && number_of(report, "race") == 0);
    double sectors = number_of(report, "sectors"), requests = number_of(report, "requests");
    assert_true(sectors > 0);
    int same = 0;
    for (const char *p = t.out; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        cJSON *row = cJSON_Parse(p);
        const cJSON *kernel = row ? cJSON_GetObjectItem(row, "kernel") : NULL;
        if (kernel && !strcmp(kernel->valuestring, "right") && row && cJSON_GetObjectItem(row, "yours"))
            same += number_of(row, "sectors") == sectors && number_of(row, "requests") == requests;
        cJSON_Delete(row);
    }
    assert_int_equal(same, 1);
    cJSON_Delete(report);
    assert_false(try_file(&t, "read_out", ""));
    report = cJSON_Parse(t.out);
    assert_true(number_of(report, "ran") == 0);
    assert_string_equal(cJSON_GetObjectItem(report, "fault_at")->valuestring, "read_out.cu:8");
    assert_string_equal(cJSON_GetObjectItem(report, "fault_thread")->valuestring, "block 0, thread 0");
    cJSON_Delete(report);
    talk_close(&t);
}

/* The lines of the last try: the report, and the row of the table for this kernel. The caller frees both. */
static void read_lines(const struct talk *t, const char *name, cJSON **report, cJSON **row)
{
    *report = cJSON_Parse(t->out);
    *row = NULL;
    for (const char *p = t->out; p && *p && !*row; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        cJSON *line = cJSON_Parse(p);
        const cJSON *kernel = line ? cJSON_GetObjectItem(line, "kernel") : NULL;
        if (kernel && !strcmp(kernel->valuestring, name) && cJSON_GetObjectItem(line, "yours"))
            *row = line;
        else
            cJSON_Delete(line);
    }
    assert_true(*report && *row);
}

static void assert_near(double found, double expected)
{
    if (fabs(found - expected) > 0.05 * expected) fail_msg("%g, expected about %g", found, expected);
}

/* The report counts all blocks; the table counts a sample of a large matrix, and tells the same of all blocks. Without
   a line TRY, a block has 256 threads. */
TEST(the_table_tells_of_all_blocks)
{
    struct talk t;
    cJSON *report, *mine, *built_in;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 150"));
    assert_true(try_file(&t, "right", ""));
    read_lines(&t, "right", &report, &mine);
    assert_int_equal((int)number_of(report, "blocks"), (150 * 150 + 255) / 256);
    assert_int_equal((int)number_of(mine, "sampled"), 1);
    assert_near(number_of(mine, "steps"), number_of(report, "steps"));
    assert_near(number_of(mine, "requests"), number_of(report, "requests"));
    assert_near(number_of(mine, "active_lanes"), number_of(report, "active_lanes"));
    cJSON_Delete(report);
    read_lines(&t, "csr-scalar", &report, &built_in);
    /* csr-scalar loads the end of a row once, not before each of its 5 entries and after them: 5 steps less of 23 */
    assert_near(number_of(built_in, "steps"), 18.0 / 23 * number_of(report, "steps"));
    cJSON_Delete(report);
    cJSON_Delete(built_in);
    cJSON_Delete(mine);
    talk_close(&t);
}

/* y is zero before a kernel that adds to it by atomics but takes no beta. The report and the table count the atomics.
 */
TEST(atomics_are_added_to_zero_and_counted)
{
    struct talk t;
    cJSON *report, *mine;
    open_with_matrix(&t, OUT_JSON);
    if (!try_file(&t, "atomic_alpha", "")) fail_msg("%s", t.err);
    read_lines(&t, "atomic_alpha", &report, &mine);
    assert_int_equal((int)number_of(report, "launches"), 2);
    assert_int_equal((int)number_of(report, "blocks"), 1 + 2); /* of 256 threads: for 64 rows, then for 288 entries */
    assert_int_equal((int)number_of(report, "atomics"), (288 + 31) / 32); /* requests; 5 * 64 - 4 * 8 entries */
    assert_true(number_of(mine, "requests") == number_of(report, "requests"));
    assert_true(number_of(mine, "sectors") == number_of(report, "sectors"));
    cJSON_Delete(report);
    cJSON_Delete(mine);
    talk_close(&t);
}

/* ---- a file for each built-in kernel ---- */

/* The same counts at each site, but for the file's name and the lines. */
static void assert_same_counts(const struct kernel *a, const struct kernel *b, const struct counts *x,
                               const struct counts *y)
{
    if (x->scope.nsites != y->scope.nsites || x->scope.nlaunches != y->scope.nlaunches)
        fail_msg("%s: %d sites in %d launches, and %s: %d in %d", a->name, x->scope.nsites, x->scope.nlaunches, b->name,
                 y->scope.nsites, y->scope.nlaunches);
    for (int kind = 0; kind < ACCESS_RECONVERGE; kind++) {
        struct tally s = counts_of(x, (enum access_kind)kind, -1, -1), t = counts_of(y, (enum access_kind)kind, -1, -1);
        if (memcmp(&s, &t, sizeof s)) fail_msg("%s and %s differ in %ss", a->name, b->name, access_names[kind]);
    }
    for (int l = 0; l < x->scope.nlaunches; l++)
        if (x->launch[l].steps != y->launch[l].steps || x->launch[l].active != y->launch[l].active)
            fail_msg("%s and %s: launch %d differs in steps", a->name, b->name, l);
}

static void assert_same_kernel(const struct kernel *a, const struct kernel *b, const struct csr *A)
{
    struct err e = {0};
    struct stored S;
    struct mat M;
    struct verdict v;
    static struct counts x, y;
    double *p = mem_new(A->rows, sizeof *p, "y", NULL), *q = mem_new(A->rows, sizeof *q, "y", NULL);
    struct operation op = {1.25, -0.5, NULL};
    assert_non_null(p);
    assert_non_null(q);
    if (!format_pack(A, a->format, a->param, P_F64, true, &S, &e)) fail_msg("%s: %s", a->name, e.text);
    assert_true(mat_put(&M, &S, device_open("emu", NULL), &e));
    bool fits = !a->fits || a->fits(&S, NULL);
    if (fits && (!bench_result(a, A, &M, &op, 3, p, &v, &e) || !bench_result(b, A, &M, &op, 3, q, &v, &e)))
        fail_msg("%s: %s %s", b->name, e.where, e.text);
    if (fits && memcmp(p, q, (size_t)A->rows * sizeof *p)) fail_msg("%s and %s: different bits", a->name, b->name);
    if (fits && (!count_kernel(a, &M, 0, NULL, NULL, &x, &e) || !count_kernel(b, &M, 0, NULL, NULL, &y, &e)))
        fail_msg("%s: %s %s", b->name, e.where, e.text);
    if (fits) assert_same_counts(a, b, &x, &y);
    mat_free(&M);
    stored_free(&S);
    mem_free(p);
    mem_free(q);
}

static void export_and_compare(const struct kernel *k, const char *folder, const struct csr *A)
{
    char path[PATH_MAX], only[PATH_MAX];
    struct err e = {0};
    char *text = lab_export(k, &e);
    if (!text) fail_msg("%s: %s", k->name, e.text);
    snprintf(path, sizeof path, "%s/%s.cu", folder, k->name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    mem_free(text);
    const struct kernel *mine = lab_build(path, NULL, NULL, &e);
    if (!mine) fail_msg("%s: %s: %s\n%s", k->name, e.where, e.text, lab_messages());
    snprintf(only, sizeof only, "my-%s", k->name);
    assert_string_equal(mine->name, only);
    assert_ptr_equal(mine->format, k->format);
    assert_same_kernel(k, mine, A);
    unlink(path);
}

TEST(exported_kernels_are_the_built_in_ones)
{
    char folder[] = "/tmp/warpspy-test-XXXXXX";
    struct csr A;
    struct err e = {0};
    int64_t p[PARAMS_MAX] = {7, 6};
    lab_close();
    assert_non_null(mkdtemp(folder));
    assert_non_null(device_open("emu", &e));
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    for (int i = 0, n = 0; kernels[i] && !kernels[i]->remote; i++) {
        if (kernels[i]->host || kernels[i]->vendor) continue;
        export_and_compare(kernels[i], folder, &A);
        if (++n % 40 == 0) lab_close();
    }
    lab_close(); /* before the files are forgotten */
    csr_free(&A);
    rmdir(folder);
}

static int close_lab(void **state)
{
    lab_close();
    devices_close();
    return 0;
}

SUITE(.setup = find_program, .teardown = close_lab);
