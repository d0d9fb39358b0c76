/* What nvcc makes of users' kernels: the text that names accesses, the file with the code, the accesses that the
   compiler hoists out of loops or merges, and several compilers. Tests that need nvcc are skipped without it. */
#include "base/base.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/watch.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lab/lab_apart.h"
#include "lab/lab_code.h"
#include "lab/lab_private.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/toolkit.h"
#include "matrix/csr.h"
#include "session/matrix.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char files[PATH_MAX];

static int find_program(void **state)
{
    char program[PATH_MAX];
    if (!find_warpspy(program)) return -1;
    lab_set_program(program);
    return realpath("tests/files/code", files) ? 0 : -1;
}

static int close_lab(void **state)
{
    lab_close();
    devices_close();
    return 0;
}

/* Other tests see no nvcc: unit/main.c sees to it. */
static bool with_nvcc(void)
{
    unsetenv("WARPSPY_NVCC");
    return toolkit_nvcc() != NULL;
}

static int without_nvcc(void **state)
{
    setenv("WARPSPY_NVCC", "off", 1);
    return 0;
}

static bool try_code(struct talk *t, const char *file, const char *more)
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line, "try %s/%s.cu %s", files, file, more);
    talk_forget(t);
    return talk_line(t, line);
}

/* ---- the text in which each access has a line ---- */

static const char loops[] = "#define END(r) ptr[(r) + 1]\n"                                  /* 1 */
                            "__global__ void f(int rows, const int *ptr, double *y)\n"       /* 2 */
                            "{\n"                                                            /* 3 */
                            "    for (int k = ptr[0]; k < ptr[1]; k++) y[k] = ptr[2];\n"     /* 4 */
                            "    do y[3] = 1; while (y[4] > 0); /* [5] */\n"                 /* 5 */
                            "    while (y[6] > END(7)) if (rows) y[8] = 1; else y[9] = 2;\n" /* 6 */
                            "    y[10] = *y * 2;\n"                                          /* 7 */
                            "}\n";

/* The line of the text taken apart on which this is. */
static int line_with(const struct apart *a, const char *what)
{
    const char *at = strstr(a->text, what);
    assert_non_null(at);
    int line = 1;
    for (const char *p = a->text; p < at; p++) line += *p == '\n';
    return line;
}

TEST(each_access_has_a_line_and_its_loops)
{
    static const struct {
        const char *access;
        int written, depth;
    } expected[] = {{"[0]", 4, 0}, {"[1]", 4, 1}, {"[k]", 4, 1}, {"[2]", 4, 1},    {"[3]", 5, 1},  {"[4]", 5, 1},
                    {"[6]", 6, 1}, {"[8]", 6, 1}, {"[9]", 6, 1}, {"END(7)", 6, 1}, {"[10]", 7, 0}, {"*y *", 7, 0}};
    struct apart a;
    struct source s;
    struct err e = {0};
    assert_true(source_read(&s, loops, "f.cu", &e));
    assert_true(apart_new(&a, &s, loops, &e));
    assert_int_equal(a.nloops, 3);
    int before = 0;
    for (int i = 0; i < COUNT(expected) - 1; i++) {
        int line = line_with(&a, expected[i].access);
        if (a.written[line] != expected[i].written || a.depth[line] != expected[i].depth || !a.accesses[line])
            fail_msg("%s: line %d, depth %d", expected[i].access, a.written[line], a.depth[line]);
        if (strcmp(expected[i].access, "END(7)")) assert_int_not_equal(line, before);
        before = line;
    }
    assert_null(strstr(a.text, "\n[5]"));
    assert_true(strstr(a.text, "\n*y") && strstr(a.text, "\nEND(7)"));
    assert_true(a.accesses[line_with(&a, "*y ")]);
    assert_int_equal(a.written[line_with(&a, "*y ")], 7);
    /* the bracket that closes ptr[1] is in the part of its line, and in the loop */
    const struct text_part *part = &a.line[line_with(&a, "[1]")], *loop = apart_loop(&a, line_with(&a, "[1]"), 0);
    assert_true(text_part_has(part, 4, 34) && !text_part_has(part, 4, 23));
    assert_true(loop && text_part_has(loop, 4, 34) && !text_part_has(loop, 4, 23) && !text_part_has(loop, 5, 8));
    assert_null(apart_loop(&a, line_with(&a, "[0]"), 0));
    assert_true(a.body[0].first < line_with(&a, "[0]") && a.body[0].last > line_with(&a, "[10]"));
    apart_free(&a);
}

/* ---- the file with the code ---- */

TEST(damaged_cubins_are_refused)
{
    static const char text[] = "\177ELF is not enough";
    struct cubin c;
    size_t at = 0;
    assert_false(cubin_next(text, sizeof text, &at, &c));
}

TEST(instances_are_found_by_precision)
{
    static const char *const all[] = {"_ZN11of_the_user5boundEiPKiS1_PKdS3_Pd",
                                      "_ZN4cuda_3rowIfEEvT_",
                                      "_ZN4cuda_3rowIdfEEvT_",
                                      "_ZN4cuda_3rowIddEEvT_",
                                      "_Z13row_of_blocksv",
                                      "plain"};
    int n = COUNT(all);
    assert_ptr_equal(code_instance(n, all, "bound", P_F64), all[0]);
    assert_ptr_equal(code_instance(n, all, "row", P_F32), all[1]);
    assert_ptr_equal(code_instance(n, all, "row", P_F64), all[3]);
    assert_ptr_equal(code_instance(n, all, "row", P_C64), all[1]);
    assert_ptr_equal(code_instance(n, all, "row_of_blocks", P_F32), all[4]);
    assert_ptr_equal(code_instance(n, all, "plain", P_F64), all[5]);
    assert_null(code_instance(n, all, "ound", P_F64));
    assert_null(code_instance(n, all, "lain", P_F64));
}

/* ---- counts as compiled ---- */

static double number(const cJSON *row, const char *key)
{
    const cJSON *v = cJSON_GetObjectItem(row, key);
    if (!cJSON_IsNumber(v)) fail_msg("there is no number %s", key);
    return v->valuedouble;
}

/* The first row of this kind that the last line printed; the caller deletes it. */
static cJSON *row_of(const struct talk *t, const char *kind)
{
    for (const char *p = t->out; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        cJSON *row = cJSON_Parse(p);
        const char *is = cJSON_GetStringValue(cJSON_GetObjectItem(row, "kind"));
        if (is && !strcmp(is, kind)) return row;
        cJSON_Delete(row);
    }
    return NULL;
}

/* On 64 rows of the five-point stencil, 2 warps load in 5 rounds each: R = 10 rounds, W = 2. Where nvcc unrolls, it
   does n mod 4 of the 3, 4 or 5 rounds one by one, and then 4 together: 3 + 4 rounds, Q = 14. */
static const struct counted {
    const char *file;
    int source, compiled;
    const char *how; /* of the first line that differs; NULL: none */
} counted[] = {
    {"hoisted", 46, 48, "hoisted"}, /* 4R + 3W in the source; the bound is loaded before the loop: 3Q + 3W */
    {"stored", 66, 56, "merged"},   /* stores to y may change the bound, but y itself is in a register */
    {"sunk", 66, 50, "hoisted"},    /* by __restrict__, they may not; y is stored at first and at last */
    {"ldg", 46, 36, "merged"},      /* not unrolled */
    {"do_while", 46, 48, "merged"},    {"twice", 66, 48, "hoisted"},  {"reread", 50, 48, "hoisted"},
    {"pointer", 50, 48, "merged"},     {"stride", 46, 48, "hoisted"}, {"device", 46, 48, "hoisted"},
    {"macro", 46, 48, "hoisted"},      {"fixed", 46, 36, "merged"}, /* all lanes do the first 4 rounds, and the rest is
                                                                       at most 1 */
    {"nested", 66, 62, "hoisted"},     /* a load under a condition stays in its loop; col[k] is loaded once */
    {"unswitched", 56, 50, "hoisted"}, /* two versions of the loop: all lanes take the same one */
    {"peeled", 88, 38, "hoisted"},     /* the first round is before the loop; one load for both branches */
    {"branches", 76, 48, "hoisted"},   /* one load for both branches */
    {"left", 56, 36, "hoisted"},       /* not unrolled; col[k] is loaded once */
    {"atomic", 56, 56, NULL},          /* a launch makes y zero; an atomic may change the bound */
};

TEST_OF_EACH(accesses_are_counted_as_compiled, counted)
{
    const struct counted *c = *state;
    struct talk t;
    if (!with_nvcc()) skip();
    const char *nvcc = toolkit_nvcc();
    if (!toolkit_nvdisasm(nvcc)) skip();
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    if (!try_code(&t, c->file, "")) fail_msg("%s", t.err);
    cJSON *row = row_of(&t, "compiled");
    assert_non_null(row);
    assert_int_equal(number(row, "requests_in_source"), c->source);
    assert_int_equal(number(row, "requests"), c->compiled);
    const cJSON *change = cJSON_GetArrayItem(cJSON_GetObjectItem(row, "changes"), 0);
    const char *how = cJSON_GetStringValue(cJSON_GetObjectItem(change, "how"));
    assert_true(c->how ? how && !strcmp(how, c->how) : !change);
    cJSON *report = row_of(&t, "report");
    assert_int_equal(number(report, "requests"), c->source);
    cJSON_Delete(report);
    cJSON_Delete(row);
    talk_close(&t);
    lab_close();
}

/* Is it an nvcc whose code the numbers of this file are about? */
static bool is_named(void)
{
    char version[48] = "";
    struct err e = {0};
    return lab_nvcc_version(toolkit_nvcc(), version, sizeof version, NULL, &e) &&
           (!strcmp(version, "nvcc 13.0.88") || !strcmp(version, "nvcc 13.5.37"));
}

/* Requests on 1138_bus, whose rows have 2 to 18 entries, as ncu measured them on an H200 with the code of nvcc 13.0.88.
   atomic.cu: without the 36 requests of the launch that makes y zero. */
static const struct measured {
    const char *file;
    int requests;
} measured[] = {{"hoisted", 1452}, {"first", 2541},      {"fixed", 1227},      {"ldg", 1050},  {"nested", 1586},
                {"pointer", 1452}, {"stored", 1678},     {"stride", 1452},     {"sunk", 1488}, {"twice", 1452},
                {"device", 1452},  {"unswitched", 1488}, {"atomic", 1642 + 36}};

TEST_OF_EACH(lanes_go_through_unrolled_rounds_as_on_a_gpu, measured)
{
    const struct measured *m = *state;
    struct talk t;
    if (!with_nvcc() || !toolkit_nvdisasm(toolkit_nvcc()) || !is_named()) skip();
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "load samples/1138_bus.mtx"));
    if (!try_code(&t, m->file, "")) fail_msg("%s", t.err);
    cJSON *row = row_of(&t, "compiled");
    assert_non_null(row);
    assert_int_equal(number(row, "requests"), m->requests);
    cJSON_Delete(row);
    talk_close(&t);
    lab_close();
}

/* ---- what the emulator leaves out, without nvcc ---- */

/* The requests for x[0] in first.cu, as this code does them. */
static int64_t requests_of_first(const struct kernel *k, const struct mat *M, const struct as_compiled *code)
{
    struct lab_request q = {.op = OP_COUNT, .M = M, .code = code};
    struct lab_reply reply;
    struct err e = {0};
    struct counts *c = malloc(sizeof *c);
    int64_t found = 0;
    if (!c || !lab_run(lab_kernel_of(k), &q, NULL, &reply, &e)) fail_msg("%s", e.text);
    memcpy(c, reply.bytes, sizeof *c);
    for (int i = 0; i < c->scope.nsites; i++)
        if (text_part_has(&code->of[0].part, c->scope.site[i].line, c->scope.site[i].column)) {
            found += c->by_site[i].requests;
            assert_int_equal(c->by_site[i].requests + c->by_site[i].elided, 20);
            assert_int_equal(c->scope.site[i].unroll, code->nunrolled ? code->unrolled[0].n : 1);
        }
    mem_free(reply.bytes);
    free(c);
    return found;
}

/* Two blocks with half a warp each; both go through 2 rows per thread, in 5 rounds each. */
TEST(a_loop_is_entered_again)
{
    struct talk t;
    struct stored S;
    struct mat M;
    struct apart a;
    struct err e = {0};
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/first.cu", files);
    const struct kernel *k = lab_build(path, NULL, NULL, &e);
    if (!k) fail_msg("%s", e.text);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    assert_true(format_pack(&session_matrix(&t.s, NULL, &e)->csr, k->format, k->param, P_F64, true, &S, &e));
    assert_true(mat_put(&M, &S, device_open("emu", NULL), &e));
    assert_true(apart_new(&a, &lab_kernel_of(k)->source, lab_kernel_of(k)->text, &e));
    int line = line_with(&a, "[0]");
    assert_int_equal(a.depth[line], 2);
    struct as_compiled code = {.file = "first.cu", .nfunctions = 1, .function = {{"first", 30}}, .n = 1};
    code.of[0] = (struct elision){.part = a.line[line], .kind = ACCESS_LOAD, .bytes = 8};
    assert_int_equal(requests_of_first(k, &M, &code), 2); /* once per thread */
    code.of[0].loop = *apart_loop(&a, line, 1);
    assert_int_equal(requests_of_first(k, &M, &code), 4); /* once per row */
    code.of[0].loop = *apart_loop(&a, line, 0);
    assert_int_equal(requests_of_first(k, &M, &code), 2); /* before the loop over rows */
    code.of[0].after_stores = true;
    assert_int_equal(requests_of_first(k, &M, &code), 4); /* y is stored in that loop */
    code.of[0].bytes = 4;
    assert_int_equal(requests_of_first(k, &M, &code), 20); /* another access */
    code.nunrolled = 1;
    code.unrolled[0] = (struct unrolling){.part = a.line[line], .kind = ACCESS_LOAD, .n = 3};
    assert_int_equal(requests_of_first(k, &M, &code), 20);
    apart_free(&a);
    mat_free(&M);
    stored_free(&S);
    talk_close(&t);
    lab_close();
}

/* ---- rounds of unrolled loops, without nvcc ---- */

TEST(stages_do_all_rounds)
{
    static const struct {
        struct compiled_loop loop;
        int n, rounds[5];
    } cases[] = {
        {{.nstages = 4, .stage = {{1, true}, {16, true}, {8, false}, {4, false}}}, 3, {3}},
        {{.nstages = 4, .stage = {{1, true}, {16, true}, {8, false}, {4, false}}}, 47, {3, 32, 8, 4}},
        {{.nstages = 4, .stage = {{1, true}, {16, true}, {8, false}, {4, false}}}, 20, {0, 16, 0, 4}},
        {{.nstages = 4, .stage = {{1, false}, {1, false}, {1, false}, {4, true}}}, 6, {1, 1, 0, 4}},
        {{.nstages = 3, .stage = {{4, true}, {2, false}, {1, false}}}, 15, {12, 2, 1}},
        {{.nstages = 2, .stage = {{3, true}, {1, true}}}, 8, {6, 2}},
        {{.nstages = 2, .stage = {{1, true}, {3, true}}}, 8, {2, 6}},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        int64_t left = cases[i].n;
        for (int k = 0; k < cases[i].loop.nstages; k++) {
            int64_t here = loop_stage_rounds(&cases[i].loop, k, left);
            if (here != cases[i].rounds[k]) fail_msg("case %d: stage %d does %d rounds", i, k, (int)here);
            left -= here;
        }
        assert_int_equal(left, 0);
    }
}

/* The requests of a kernel for val, with rows of these lengths, if its loop has these stages; NULL: as in the source.
 */
static int64_t requests_of_rounds(const char *file, int nrows, const int *length, const struct compiled_loop *stages)
{
    struct stored S;
    struct mat M;
    struct apart a;
    struct err e = {0};
    struct csr A;
    int64_t nnz = 0, requests = 0;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s.cu", files, file);
    const struct kernel *k = lab_build(path, NULL, NULL, &e);
    if (!k) fail_msg("%s", e.text);
    for (int i = 0; i < nrows; i++) nnz += length[i];
    if (!csr_new(&A, nrows, 4000, nnz, false, &e)) fail_msg("%s", e.text);
    A.rowptr[0] = 0;
    for (int i = 0; i < nrows; i++) {
        A.rowptr[i + 1] = A.rowptr[i] + length[i];
        for (int j = 0; j < length[i]; j++) A.col[A.rowptr[i] + j] = j, A.val[A.rowptr[i] + j] = 1;
    }
    assert_true(format_pack(&A, k->format, k->param, P_F64, true, &S, &e));
    assert_true(mat_put(&M, &S, device_open("emu", NULL), &e));
    assert_true(apart_new(&a, &lab_kernel_of(k)->source, lab_kernel_of(k)->text, &e));
    struct as_compiled code = {
        .nfunctions = 1, .n = 1, .nloops = 1, .loop = {stages ? *stages : (struct compiled_loop){0}}};
    snprintf(code.file, sizeof code.file, "%s.cu", file);
    snprintf(code.function[0].name, sizeof code.function[0].name, "%s", file);
    code.function[0].body = (struct text_part){1, 1, 100, 1};
    code.loop[0].part = a.loop[0];
    int bound = line_with(&a, "[row + 1]"), val = line_with(&a, "[k] ");
    code.of[0] =
        (struct elision){.part = a.line[bound], .kind = ACCESS_LOAD, .bytes = 4, .loop = a.loop[0], .invariant = true};
    struct lab_request q = {.op = OP_COUNT, .M = &M, .code = stages ? &code : NULL};
    struct lab_reply reply;
    struct counts *c = malloc(sizeof *c);
    if (!c || !lab_run(lab_kernel_of(k), &q, NULL, &reply, &e)) fail_msg("%s", e.text);
    memcpy(c, reply.bytes, sizeof *c);
    for (int i = 0; i < c->scope.nsites; i++) {
        const struct access_site *p = &c->scope.site[i];
        if (text_part_has(&a.line[val], p->line, p->column)) requests += c->by_site[i].requests;
        if (stages && text_part_has(&a.line[bound], p->line, p->column)) assert_int_equal(c->by_site[i].requests, 1);
    }
    free(c);
    apart_free(&a);
    mat_free(&M);
    stored_free(&S);
    csr_free(&A);
    return requests;
}

/* Lanes that have noted as much as they can do not run ahead of what is known: one warp does 200 rows per lane, and
   waits for lane 0 in the first one. */
TEST(a_warp_waits_for_lanes_that_note_more)
{
    enum { ROWS = 32 * 200 };
    int *rows = malloc(ROWS * sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < ROWS; i++) rows[i] = 5;
    rows[0] = 3000;
    assert_int_equal(requests_of_rounds("stride", ROWS, rows, NULL), 3000 + 199 * 5);
    free(rows);
    lab_close();
}

TEST(a_warp_does_the_rounds_of_its_longest_lane_in_each_stage)
{
    const struct compiled_loop plain = {.nstages = 0},
                               usual = {.nstages = 4, .stage = {{1, true}, {16, true}, {8, false}, {4, false}}},
                               by4 = {.nstages = 2, .stage = {{4, true}, {1, true}}};
    int rows[] = {5, 8, 0, 35};
    assert_int_equal(requests_of_rounds("hoisted", 4, rows, &plain), 35);
    assert_int_equal(requests_of_rounds("hoisted", 2, rows, &usual), 1 + 8 + 4);      /* 5 = 1 + 4, 8 = 8 */
    assert_int_equal(requests_of_rounds("hoisted", 4, rows, &usual), 3 + 32 + 8 + 4); /* 35 = 3 + 2 * 16 */
    assert_int_equal(requests_of_rounds("hoisted", 4, rows, &by4), 32 + 3);
    assert_int_equal(requests_of_rounds("hoisted", 2, rows, &by4), 8 + 1);
    /* more rounds than a lane can note at a time: 3000 = 187 * 16 + 8 */
    int longer[] = {1, 3000, 4};
    assert_int_equal(requests_of_rounds("hoisted", 3, longer, &usual), 1 + 187 * 16 + 8 + 4);
    assert_int_equal(requests_of_rounds("hoisted", 3, longer, &plain), 3000);
    longer[2] = 2900; /* two lanes have to wait at different times */
    assert_int_equal(requests_of_rounds("hoisted", 3, longer, &plain), 3000);
    lab_close();
}

/* nvcc unrolls the loop of hoisted.cu, but not that of stored.cu, whose stores may change what is loaded. */
TEST(unrolled_loads_are_in_flight_together)
{
    static const struct {
        const char *file;
        int n;
    } cases[] = {{"hoisted.cu", 4}, {"stored.cu", 0}};
    if (!with_nvcc() || !toolkit_nvdisasm(toolkit_nvcc())) skip();
    for (int i = 0; i < COUNT(cases); i++) {
        char path[PATH_MAX + 16];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%s", files, cases[i].file);
        const struct kernel *k = lab_build(path, NULL, NULL, &e);
        const struct lab_code *c = k ? lab_code_for(lab_kernel_of(k), NULL, 90, P_F64, NULL, &e) : NULL;
        if (!c) fail_msg("%s: %s", cases[i].file, e.text);
        assert_int_equal(c->as.nunrolled > 0, cases[i].n > 0);
        for (int u = 0; u < c->as.nunrolled; u++) assert_int_equal(c->as.unrolled[u].n, cases[i].n);
    }
    lab_close();
}

/* ---- the rest ---- */

/* What cannot be decided is counted as in the source. */
TEST(the_rest_is_counted_as_in_the_source)
{
    struct talk t;
    if (!with_nvcc()) skip();
    const char *nvcc = toolkit_nvcc();
    if (!toolkit_nvdisasm(nvcc)) skip();
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    assert_true(try_code(&t, "templated", ""));
    if (!strstr(t.out, "Counted as in the source: the accesses of a template cannot be told apart."))
        fail_msg("%s", t.out);
    talk_says(&t, "count templated", "templated is counted as in the source");
    talk_close(&t);
}

/* The same command without nvcc, with it, and without nvdisasm. */
TEST(the_output_says_what_is_known)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    assert_true(try_code(&t, "hoisted", ""));
    if (!strstr(t.out, "Counted as in the source: nvcc is not used, as `set nvcc off` or WARPSPY_NVCC says."))
        fail_msg("%s", t.out);
    talk_says(&t, "explain hoisted", "hoisted is counted as in the source");
    if (!with_nvcc()) return talk_close(&t);
    char *path = strdup(getenv("PATH")), nvcc[PATH_MAX];
    snprintf(nvcc, sizeof nvcc, "%s", toolkit_nvcc());
    bool reads = toolkit_nvdisasm(nvcc) != NULL;
    assert_true(try_code(&t, "hoisted", ""));
    if (reads && !strstr(t.out, "48 instead of 46")) fail_msg("%s", t.out);
    if (reads && !strstr(t.out, "Line 8, load of ptr: 2 requests instead of 12; loaded before its loop."))
        fail_msg("%s", t.out);
    if (!strstr(t.out, "none: no value is spilled")) fail_msg("%s", t.out);
    talk_says(&t, "predict hoisted", reads ? "hoisted is counted as nvcc " : "hoisted is counted as in the source");
    talk_says(&t, "sm hoisted", "registers, for sm_90");
    if (reads) talk_says(&t, "count hoisted lines", "elided");
    free(path);
    talk_close(&t);
}

TEST(compilers_are_compared)
{
    struct talk t;
    char more[PATH_MAX + 32];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    assert_false(try_code(&t, "hoisted", "with /tmp"));
    if (!strstr(t.err, "/tmp is no nvcc, and has none below it")) fail_msg("%s", t.err);
    assert_false(try_code(&t, "hoisted", "and /tmp"));
    if (!with_nvcc()) return talk_close(&t);
    snprintf(more, sizeof more, "with %s", toolkit_nvcc());
    assert_true(try_code(&t, "hoisted", more));
    const char *first = strstr(t.out, "\ncompiler "), *row = first ? strstr(first, "\nnvcc ") : NULL;
    if (!row || !strstr(row + 1, "\nnvcc ")) fail_msg("%s", t.out);
    talk_close(&t);
}

static double cancelled_at;

static bool cancel_later(struct watch *w, const char *what, int64_t done, int64_t total)
{
    static double begin;
    if (!begin) begin = now_us();
    if (now_us() - begin < 100 * 1000) return true;
    if (!cancelled_at) cancelled_at = now_us();
    return false;
}

/* Make a program of this text called nvcc in a new folder, and use it. */
static void use_fake(const char *text, char *path)
{
    assert_non_null(mkdtemp(path));
    strcat(path, "/nvcc");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("WARPSPY_NVCC", path, 1);
}

static void remove_fake(char *path)
{
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

/* Ctrl-C while nvcc compiles. */
TEST(compiling_is_cancelled)
{
    struct err e = {0};
    char path[PATH_MAX + 16], fake[64] = "/tmp/warpspy-test-XXXXXX";
    struct watch w = {cancel_later, NULL};
    snprintf(path, sizeof path, "%s/hoisted.cu", files);
    const struct kernel *k = lab_build(path, NULL, NULL, &e);
    if (!k) fail_msg("%s", e.text);
    use_fake("#!/bin/sh\ncase $* in *--version*) echo 'release 1.2, V1.2.3';; *) sleep 60;; esac\n", fake);
    assert_null(lab_code_for(lab_kernel_of(k), NULL, 90, P_F64, &w, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_true(cancelled_at > 0 && now_us() - cancelled_at < 50 * 1000);
    remove_fake(fake);
    lab_close();
}

/* A compiler that refuses the file, or that is none, is asked once. */
TEST(a_compiler_that_fails_is_named)
{
    struct talk t;
    char fake[64] = "/tmp/warpspy-test-XXXXXX", other[64] = "/tmp/warpspy-test-XXXXXX";
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    use_fake(
        "#!/bin/sh\ncase $* in *--version*) echo 'release 1.2, V1.2.3';; *) echo 'hoisted.cu(8): error: no'; exit 1;; "
        "esac\n",
        fake);
    assert_true(try_code(&t, "hoisted", ""));
    if (!strstr(t.out, "Counted as in the source: hoisted.cu:8: no.")) fail_msg("%s", t.out);
    remove_fake(fake);
    use_fake("#!/bin/sh\necho hello\n", other);
    assert_true(try_code(&t, "hoisted", ""));
    if (!strstr(t.out, "/nvcc is not an nvcc: it does not say its version.")) fail_msg("%s", t.out);
    remove_fake(other);
    talk_close(&t);
}

TEST(an_nvcc_is_chosen)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "set nvcc /nowhere", "`/nowhere` is not a value of nvcc");
    assert_true(talk_line(&t, "set nvcc off"));
    assert_null(toolkit_nvcc());
    assert_true(talk_line(&t, "set nvcc auto"));
    if (with_nvcc()) {
        char nvcc[PATH_MAX], line[PATH_MAX + 32];
        snprintf(nvcc, sizeof nvcc, "%s", toolkit_nvcc());
        setenv("WARPSPY_NVCC", "off", 1);
        assert_null(toolkit_nvcc());
        snprintf(line, sizeof line, "set nvcc %.*s", (int)(strstr(nvcc, "/bin/nvcc") - nvcc), nvcc);
        assert_true(talk_line(&t, line));
        assert_string_equal(toolkit_nvcc(), nvcc);
        assert_true(talk_line(&t, "set nvcc auto"));
    }
    talk_close(&t);
}

/* Every beginning of a cubin is refused or read, but nothing behind it. */
TEST(cubins_are_read)
{
    struct err e = {0};
    if (!with_nvcc()) skip();
    static const char kernel[] =
        "extern \"C\" __global__ void f(double *y) { __shared__ double s[64]; s[threadIdx.x] = 1; "
        "__syncthreads(); y[0] = s[63 - threadIdx.x]; }";
    int fd = lab_compile(kernel, "f.cu", "/tmp", kernel,
                         (struct lab_target){.gpu = true, .capability = 90, .cubin = true}, NULL, &e);
    if (fd < 0) fail_msg("%s", e.text);
    int64_t n = lseek(fd, 0, SEEK_END);
    char *bytes = lab_memory_text(fd, n, &e);
    struct cubin c;
    char architecture[16];
    size_t at = 0, size;
    int section = 0;
    assert_true(bytes && cubin_next(bytes, (size_t)n, &at, &c));
    cubin_architecture(&c, architecture);
    assert_string_equal(architecture, "sm_90");
    const char *symbol = cubin_symbol(&c, &section, &size);
    assert_string_equal(symbol, "f");
    assert_null(cubin_symbol(&c, &section, &size));
    struct cubin_function f = cubin_function_of(&c, "f");
    assert_int_equal(f.shared_bytes, 512);
    assert_true(f.registers >= 4 && f.registers <= 32);
    assert_int_equal(f.local_bytes, 0);
    for (int64_t k = 0; k < n; k += 7) {
        char *part = malloc((size_t)k + 1);
        memcpy(part, bytes, (size_t)k);
        at = 0;
        if (cubin_next(part, (size_t)k, &at, &c)) cubin_function_of(&c, "f");
        free(part);
    }
    mem_free(bytes);
    close(fd);
}

/* ---- the lesson about the compiler ---- */

/* What samples/lessons/compiler.txt says of a loop, as a number of instructions. */
static const struct said {
    const char *name, *before, *counter, *body, *instruction;
    int count;
} said[] = {
    {"nothing is said", "", "int", "sum += val[k] * x[col[k]]", "DFMA", 29},
    {"unroll 4", "#pragma unroll 4\n", "int", "sum += val[k] * x[col[k]]", "DFMA", 5},
    {"unroll 1", "#pragma unroll 1\n", "int", "sum += val[k] * x[col[k]]", "DFMA", 1},
    {"int: all", "", "int", "sum += val[k] * x[col[k]]", "*/  ", 246},
    {"unsigned: all", "", "unsigned", "sum += val[k] * x[col[k]]", "*/  ", 343},
    {"unsigned: entries", "", "unsigned", "sum += val[k] * x[col[k]]", "DFMA", 33},
    {"unsigned: addresses", "", "unsigned", "sum += val[k] * x[col[k]]", "IMAD.WIDE", 3 * 33 + 1},
    {"int: addresses", "", "int", "sum += val[k] * x[col[k]]", "IMAD.WIDE", 29 + 5},
    {"not fused", "#pragma unroll 1\n", "int", "sum = __dadd_rn(sum, __dmul_rn(val[k], x[col[k]]))", "DADD", 1},
};

static char *listing_of(const struct said *s)
{
    struct err e = {0};
    char text[1000];
    snprintf(
        text, sizeof text,
        "__global__ void f(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)\n"
        "{\n    int row = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row >= rows) return;\n    double sum = 0;\n"
        "%s    for (%s k = ptr[row]; k < ptr[row + 1]; k++) %s;\n    y[row] = sum;\n}\n",
        s->before, s->counter, s->body);
    int fd = lab_compile(text, "f.cu", "/tmp", text, (struct lab_target){.gpu = true, .capability = 90, .cubin = true},
                         NULL, &e);
    if (fd < 0) fail_msg("%s", e.text);
    const char *argv[] = {toolkit_nvdisasm(toolkit_nvcc()), "-c", "/proc/self/fd/3", NULL};
    struct lab_process p = {.argv = argv, .keep = {fd}, .nkeep = 1, .cpu_seconds = 60};
    char *listing = lab_output(&p, "nvdisasm", 60, 1 << 24, NULL, &e);
    close(fd);
    return listing;
}

TEST(the_lesson_about_the_compiler_is_true)
{
    if (!with_nvcc() || !toolkit_nvdisasm(toolkit_nvcc()) || !is_named()) skip();
    char *listing = NULL;
    for (int i = 0; i < COUNT(said); i++) {
        const struct said *s = &said[i];
        bool same =
            i && !strcmp(s->before, s[-1].before) && !strcmp(s->counter, s[-1].counter) && s->body == s[-1].body;
        if (!same) {
            mem_free(listing);
            listing = listing_of(s);
        }
        int n = 0;
        for (const char *p = listing; p && (p = strstr(p, s->instruction)); p++)
            n += strncmp(p + strcspn(p, ";") - 3, "NOP", 3) != 0; /* these fill the space after the end */
        if (n != s->count) fail_msg("%s: %d of %s", s->name, n, s->instruction);
    }
    mem_free(listing);
}

SUITE(.setup = find_program, .teardown = close_lab, .before = without_nvcc, .after = without_nvcc);
