/* Lessons: the lessons that come with the program, the syntax, the questions, and the messages about mistakes in
   lessons. The measures in the tables are compared with other commands. */
#include "base/mem.h"
#include "base/text.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "lessons/paper_tables.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "machine/transfer.h"
#include "session/front.h"
#include "session/output_run.h"
#include "ui/run.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 100 };

/* ---- helpers ---- */

static char folder[] = "/tmp/warpspy-lessons-XXXXXX";

/* The text is valid until the fourth call after this one. */
static const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Run this text as a lesson, with one repetition. */
static bool lesson(struct talk *t, const char *text)
{
    char line[160];
    write_file("lesson.txt", text, strlen(text));
    snprintf(line, sizeof line, "lesson %s reps 1", path_of("lesson.txt"));
    return talk_line(t, line);
}

/* A session with a screen, so that lessons may contain pictures. */
static void open_on_cpu(struct talk *t, enum out_mode mode)
{
    struct err e = {0};
    talk_open(t, mode);
    assert_true(ui_attach(&t->s, &e));
    assert_true(talk_line(t, "device cpu"));
}

static void shut(struct talk *t)
{
    ui_detach(&t->s);
    talk_close(t);
}

/* The nth JSON object in the output that has this value under the key `command`; the caller deletes the object. */
static cJSON *object(const struct talk *t, const char *command, int nth)
{
    for (const char *at = t->out; *at; at += strcspn(at, "\n") + 1) {
        cJSON *j = cJSON_Parse(at);
        assert_non_null(j);
        const cJSON *c = cJSON_GetObjectItem(j, "command");
        if (c && !strcmp(c->valuestring, command) && !nth--) return j;
        cJSON_Delete(j);
    }
    fail_msg("no such line in: %s", t->out);
    return NULL;
}

/* The number under this key in the nth object of the command; NaN for null. */
static double number(const struct talk *t, const char *command, int nth, const char *key)
{
    cJSON *j = object(t, command, nth);
    const cJSON *v = cJSON_GetObjectItem(j, key);
    if (!v) fail_msg("no %s in: %s", key, t->out);
    bool infinite = cJSON_IsString(v) && !strcmp(v->valuestring, "inf");
    double value = cJSON_IsNull(v) ? NAN : infinite ? INFINITY : v->valuedouble;
    cJSON_Delete(j);
    return value;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("expected `%s` in: %s", part, text);
}

static bool begins(const char *text, const char *part)
{
    return !strncmp(text, part, strlen(part));
}

static void assert_narrow(const char *text)
{
    char line[1024];
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (text_width(line) > COLUMNS) fail_msg("more than %d columns: %s", COLUMNS, line);
    }
}

/* ---- the lessons that come with the program ---- */

/* Without a GPU, too, each table has a number of ours: a number that is not measured is predicted or counted. Rows
   about library kernels, and about matrices that are not here, stand in tables with other rows. */
static void assert_tables_have_numbers(const struct session *s, const char *path)
{
    for (int i = 0; s->tables && i < s->tables->n; i++) {
        const struct paper_table *t = &s->tables->table[i];
        int numbers = 0;
        for (int r = 0; r < t->n; r++) numbers += t->row[r].how[0] != 0;
        if (t->n && !numbers) fail_msg("%s: the table below `%s` has rows of - only", path, t->title);
    }
}

static void read_it(const char *path, const char *device, enum out_mode mode, int times)
{
    char line[300];
    struct talk t;
    open_on_cpu(&t, mode);
    snprintf(line, sizeof line, "device %s; lesson %s reps 1", device, path);
    for (int i = 0; i < times; i++)
        if (!talk_line(&t, line)) fail_msg("%s: %s%s", path, t.err, mode == OUT_JSON ? t.out : "");
    if (mode == OUT_TEXT) assert_narrow(t.out);
    if (mode == OUT_JSON) assert_says(t.out, "\"ok\":true,");
    assert_tables_have_numbers(&t.s, path);
    shut(&t);
}

/* Of the copies that lesson transfer times without a GPU, all but the pageable ones are predicted. */
TEST(copies_are_predicted)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "transfer 2 pieces 4 products 3"));
    for (int k = 0; k < WAYS; k++) {
        bool pageable = transfer_ways[k].in + transfer_ways[k].all_back && !transfer_ways[k].pinned;
        if (isnan(number(&t, "transfer", k, "time_us")) != pageable) fail_msg("way %s", transfer_ways[k].name);
    }
    shut(&t);
}

TEST(the_lessons_of_the_program_run)
{
    glob_t found;
    assert_int_equal(glob("samples/lessons/*.txt", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 15);
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_it(found.gl_pathv[i], "cpu", OUT_TEXT, strstr(found.gl_pathv[i], "reductions") ? 2 : 1);
    globfree(&found);
}

/* Tables and drawings of the lessons (lines that begin with a blank and have gaps further on) fit into 80 columns;
   other lines are filled or wrapped. */
TEST(drawings_are_narrow)
{
    glob_t found;
    char line[4096];
    assert_int_equal(glob("samples/lessons/*.txt", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *f = fopen(found.gl_pathv[i], "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f)) {
            line[strcspn(line, "\n")] = 0;
            /* skip the "  1  " of a numbered list */
            const char *text = line + strspn(line, " ") + (*line == ' ' ? 6 : 0);
            bool drawing = *line == ' ' && strlen(line) > 80 && strstr(text, "   ");
            if (drawing) fail_msg("%s: more than 80 columns: %s", found.gl_pathv[i], line);
        }
        fclose(f);
    }
    globfree(&found);
}

/* The lessons about formats are left out, because they check every kernel, which takes too long on the emulator. */
TEST(solver_lessons_run_on_the_emulator)
{
    static const char *const names[] = {"lu-tables", "reductions", "side-by-side", "thesis-4-3", "thesis-solvers",
                                        "transfer",  "microscope", "coalescing",   "lu-steps",   "symmetrize"};
    for (int i = 0; i < COUNT(names); i++) {
        char path[64];
        snprintf(path, sizeof path, "samples/lessons/%s.txt", names[i]);
        read_it(path, "emu", OUT_JSON, 1);
    }
}

/* Results that do not depend on the machine: add32 of the DRM paper. */
TEST(add32_pads_as_the_paper_says)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "lesson samples/lessons/drm.txt reps 1"));
    assert_float_equal(number(&t, "lesson", 0, "ratio"), 1, 0);
    assert_float_equal(number(&t, "lesson", 1, "ratio"), 1, 1e-3);
    assert_float_equal(number(&t, "lesson", 3, "ratio"), 1, 1e-3);
    shut(&t);
}

/* Table 3.1 for m = 4: what a cycle launches is counted, and the operations of the host are 4 m^2 + 5 m. */
TEST(cycles_are_counted)
{
    static const char text[] = "> gen poisson2d 6 5 as grid\n\n"
                               "| matrix | of | what | - |\n"
                               "| grid | gmres 4 orth modified | SpMVs/cycle | - |\n"
                               "| grid | gmres 4 orth modified | inner products/cycle | - |\n"
                               "| grid | gmres 4 | inner products/cycle | - |\n"
                               "| grid | gmres 4 orth modified | vector updates/cycle | - |\n"
                               "| grid | gmres 4 orth modified least host | least-squares operations | - |\n"
                               "| grid | cg | SpMVs/cycle | - |\n";
    static const double ours[] = {5, 15, 25, 16, 84};
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    for (int i = 0; i < COUNT(ours); i++) assert_float_equal(number(&t, "lesson", i, "ours"), ours[i], 0);
    assert_non_null(strstr(t.out, "cg has no cycles"));
    shut(&t);
}

/* The plan of a format is a part of its packing. */
TEST(plans_are_timed)
{
    static const char text[] = "> gen band 9509 36 98 as A\n\n| matrix | of | what | - |\n"
                               "| A | drm | planning ms | - |\n| A | drm | packing ms | - |\n";
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    double plan = number(&t, "lesson", 0, "ours"), pack = number(&t, "lesson", 1, "ours");
    assert_true(plan > 0 && plan < pack);
    shut(&t);
}

/* ---- contents of a lesson ---- */

TEST(prose_is_wrapped_and_indented_lines_are_kept)
{
    static const char text[] = "% not shown\n# A title\none two\nthree\r\n\n  as   it stands\n"
                               "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
                               "0123456789\n> version\n";
    static const char expected[] = "A title\n=======\none two three\n\n  as   it stands\n"
                                   "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
                                   "0123456789\n> version\nwarpspy ";
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, text));
    if (strncmp(t.out, expected, strlen(expected))) fail_msg("found: %s", t.out);
    shut(&t);
}

static const char three[] = "> gen poisson2d 4 as P\n> gen poisson2d 6 as Q\n> gen band 20 0 as R\n"
                            "| matrix | of | what | a GPU |\n";

/* P and Q: 5-point grids of 16 and 36 rows. */
static const struct {
    const char *row;
    double paper, ours;
} rows[] = {
    {"| P | - | rows | 8 |", 8, 16},
    {"| Q | - | nonzeros | 156 |", 156, 156},
    {"| Q | - | diagonals | - |", NAN, 5},
    {"| P | ell | padding | 16 |", 16, 16},
    {"| P | ell | padding/nonzero | 0.25 |", 0.25, 0.25},
    {"| R | dia | operands | 40 |", 40, 20},
    {"| R | dia | variance | 0 |", 0, 0},
    {"| P | ell / csr-vector | padding | - |", NAN, INFINITY},
    {"| Q | dia / ell | padding | 1 |", 1, 1},
    {"| mean | - | rows | 24 |", 24, 24},
    {"| highest | - | rows | 3.6e1 |", 36, 36},
    {"| lowest | - | rows | -1 |", -1, 16},
    {"| mean | dia / ell | padding f32 | 1 |", 1, 1},
};

static void same(double a, double b)
{
    if (!(isnan(b) ? isnan(a) : a == b || fabs(a - b) <= 1e-12)) fail_msg("expected %g, found %g", b, a);
}

TEST(tables_are_filled)
{
    char text[2048];
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    size_t n = (size_t)snprintf(text, sizeof text, "%s", three);
    for (int i = 0; i < COUNT(rows); i++) n += (size_t)snprintf(text + n, sizeof text - n, "%s\n", rows[i].row);
    assert_true(lesson(&t, text));
    for (int i = 0; i < COUNT(rows); i++) {
        double ours = rows[i].ours;
        same(number(&t, "lesson", i, "paper"), rows[i].paper);
        same(number(&t, "lesson", i, "line"), 5 + i);
        same(number(&t, "lesson", i, "ours"), ours);
        same(number(&t, "lesson", i, "ratio"), rows[i].paper ? ours / rows[i].paper : NAN);
    }
    shut(&t);
}

static const char timed[] = "> gen poisson2d 20 as P\n| matrix | of | what | GTX 260+ |\n| P | csr-vector | us | 51 |\n"
                            "| P | csr-merge / csr-vector | total us f32 | 2 |\n"
                            "| P | drm | padded GFLOP/s | 8 |\n| P | drm | GFLOP/s | 7 |\n"
                            "| P | drm | packing ms | 0.1 |\n| P | cusparse-csr1 | us | 1 |\n";

TEST(kernels_of_other_builds_are_known)
{
    assert_true(kernel_needs_cuda("cusparse-csr1-prep") != (kernel_find("cusparse-csr1-prep") != NULL));
    assert_false(kernel_needs_cuda("cusparse-"));
    assert_false(kernel_needs_cuda("csr-vector"));
    assert_false(kernel_needs_cuda(""));
}

TEST(times_need_a_device_that_measures)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, timed));
    assert_says(t.out, "GTX 260+");
    assert_says(t.out, "Measured on cpu: "); /* packing */
    assert_says(t.out, "Predicted for an NVIDIA H200");
    assert_true(talk_line(&t, "device emu"));
    assert_true(lesson(&t, timed));
    bool lacks = kernel_needs_cuda("cusparse-csr1");
    assert_says(t.out, lacks ? "needs a build with CUDA" : "is a library kernel, which runs only on a GPU");
    shut(&t);
    for (int i = 0; i < 2; i++) {
        open_on_cpu(&t, OUT_JSON);
        assert_true(talk_line(&t, i ? "device emu" : "device cpu"));
        talk_forget(&t);
        assert_true(lesson(&t, timed));
        for (int row = 0; row < 5; row++) assert_true((number(&t, "lesson", row, "ours") > 0) == (row != 1));
        assert_says(t.out, "the cost model does not cover the preparation of csr-merge");
        assert_true(number(&t, "lesson", 2, "ours") >= number(&t, "lesson", 3, "ours"));
        shut(&t);
    }
}

static void assert_text(const struct talk *t, int nth, const char *key, const char *text)
{
    cJSON *j = object(t, "lesson", nth);
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(j, key));
    if (text ? !found || strcmp(found, text) : found != NULL)
        fail_msg("row %d: %s is %s instead of %s", nth, key, found ? found : "null", text ? text : "null");
    cJSON_Delete(j);
}

/* A table with one row for each kernel. */
static void write_kernels(char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "> gen poisson2d 20 as P\n| matrix | of | what | p |\n");
    for (int i = 0; kernels[i]; i++)
        n += (size_t)snprintf(text + n, size - n, "| P | %s | us | - |\n", kernels[i]->name);
    assert_true(n < size);
}

/* Each row has the time of the kernel that it names, or a reason why there is none. */
TEST(rows_never_name_another_kernel)
{
    static const char *const devices[] = {"cpu", "emu", "fake-cuda"};
    static struct fake fake;
    static char text[16384];
    assert_true(fake_open(&fake, "fake-cuda", "emu", 1 << 24, NULL));
    fake.dev.kind = DEV_CUDA;
    write_kernels(text, sizeof text);
    for (int d = 0; d < COUNT(devices); d++) {
        struct talk t;
        char line[64];
        /* kernels compiled for a GPU do not run on the fake one; tests/gpu/gpu_lessons.c checks them */
        if (d == 2 && !kernel_needs_cuda("cusparse-csr1")) continue;
        open_on_cpu(&t, OUT_JSON);
        snprintf(line, sizeof line, "device %s", devices[d]);
        assert_true(talk_line(&t, line));
        talk_forget(&t);
        assert_true(lesson(&t, text));
        for (int i = 0; kernels[i]; i++) {
            bool any = !isnan(number(&t, "lesson", i, "ours"));
            assert_text(&t, i, "kernel", any ? kernels[i]->name : NULL);
            if (any) assert_text(&t, i, "reason", NULL);
            if (kernels[i]->host) assert_text(&t, i, "device", "cpu");
            if (any && !kernels[i]->host) assert_text(&t, i, "how", d == 2 ? "measured" : "predicted");
            if (any && !kernels[i]->host) assert_text(&t, i, "device", d == 2 ? "fake-cuda" : "NVIDIA H200");
        }
        shut(&t);
    }
}

/* Both methods of symmetrization are timed, on cpu if the device is the emulator, which has no clock. */
TEST(symmetrizations_are_timed)
{
    static const char text[] =
        "> gen random 300 4 as P\n| matrix | of | what | p |\n| P | sym-paper | symmetrize ms | - |\n"
        "| P | sym | symmetrize ms | - |\n| P | sym-paper / sym | symmetrize ms | - |\n";
    static const char *const devices[] = {"cpu", "emu"};
    char line[160];
    write_file("lesson.txt", text, strlen(text));
    for (int d = 0; d < COUNT(devices); d++) {
        struct talk t;
        open_on_cpu(&t, OUT_JSON);
        snprintf(line, sizeof line, "device %s; lesson %s reps 5", devices[d], path_of("lesson.txt"));
        assert_true(talk_line(&t, line));
        int n = 0;
        for (const char *at = t.out; (at = strstr(at, "\"how\":\"measured\",\"device\":\"cpu\"")); at++) n++;
        assert_int_equal(n, 3);
        shut(&t);
    }
    struct talk t;
    static const char wrong[] = "> gen random 30 4 as P\n| matrix | of | what | p |\n| P | csr | symmetrize ms | - |\n";
    write_file("lesson.txt", wrong, strlen(wrong));
    open_on_cpu(&t, OUT_TEXT);
    snprintf(line, sizeof line, "lesson %s", path_of("lesson.txt"));
    talk_refuses(&t, line, "`csr` is not a method of symmetrization");
    shut(&t);
}

/* How a number was found, and its spread. */
TEST(rows_say_where_they_come_from)
{
    static const char text[] =
        "> gen poisson2d 30 as P\n| matrix | of | what | p |\n| P | ell | padding | - |\n| P | csr-serial | us | - |\n"
        "| P | csr-serial / csr-vector | us f32 | - |\n| P | jacobi | speed-up | - |\n| P | ell | packing ms | - |\n"
        "| P | ell | us | - |\n| P | csr-vector | lanes | - |\n| P | csr-vector | sectors/nonzero | - |\n";
    struct talk t;
    char line[160];
    open_on_cpu(&t, OUT_JSON);
    write_file("lesson.txt", text, strlen(text));
    snprintf(line, sizeof line, "lesson %s reps 5", path_of("lesson.txt"));
    assert_true(talk_line(&t, line));
    static const char *const how[][3] = {{"counted", NULL, NULL},
                                         {"measured", "cpu", "csr-serial"},
                                         {"measured / predicted", "cpu / NVIDIA H200", "csr-serial / csr-vector"},
                                         {"measured / predicted", "cpu / NVIDIA H200", NULL},
                                         {"measured", "cpu", NULL},
                                         {"predicted", "NVIDIA H200", "ell"},
                                         {"counted", "emu", "csr-vector"},
                                         {"counted", "emu", "csr-vector"}};
    for (int i = 0; i < COUNT(how); i++) {
        assert_text(&t, i, "how", how[i][0]);
        assert_text(&t, i, "device", how[i][1]);
        assert_text(&t, i, "kernel", how[i][2]);
    }
    same(number(&t, "lesson", 0, "spread"), 0);
    assert_true(isnan(number(&t, "lesson", 3, "spread")) && number(&t, "lesson", 4, "spread") >= 0);
    assert_true(isnan(number(&t, "lesson", 2, "spread")) && isnan(number(&t, "lesson", 5, "spread")));
    double lanes = number(&t, "lesson", 6, "ours"), sectors = 4380 * number(&t, "lesson", 7, "ours");
    talk_forget(&t);
    assert_true(talk_line(&t, "count csr-vector of P f64"));
    assert_float_equal(number(&t, "count", 0, "active_mean"), lanes, 1e-9);
    assert_float_equal(number(&t, "count", 0, "sectors"), sectors, 1e-6);
    shut(&t);
}

/* ---- conditions on a table ---- */

/* the beginning of a lesson */
#define TABLE "> gen poisson2d 4 as P\n| matrix | of | what | p |\n| P | ell | padding | 8 |\n| P | - | rows | - |\n"

static const struct {
    const char *condition;
    bool holds;
} conditions[] = {
    {"ours > 15", true},
    {"ours >16", false},
    {"ours >= 16 and ours <= 16", true},
    {"ours[of=ell] < 17 and ours[what=rows] < 16", false},
    {"ours > 16 and ours > 15", false},
    {"ratio[matrix=P,of=ell] = 2", true},
    {"ratio[what=rows] > 0", false}, /* unknown */
    {"ratio[what=rows] <= 0", false},
    {"ours[of=ell] - 1 > ours[what=rows] - 2 and how = counted", true},
    {"how[of=ell] = predicted", false},
    {"how[of=ell] = counted and what[of=ell] = padding", true},
    {"otherwise", true},
};

TEST(text_follows_from_a_table)
{
    char text[1024];
    for (int i = 0; i < COUNT(conditions); i++) {
        struct talk t;
        open_on_cpu(&t, OUT_TEXT);
        snprintf(text, sizeof text, TABLE "\nBefore.\n\n: %s\nIt\nholds.\n\nAfter.\n", conditions[i].condition);
        assert_true(lesson(&t, text));
        assert_says(t.out, conditions[i].holds ? "Before.\n\nIt holds.\n\nAfter." : "Before.\n\nAfter.");
        shut(&t);
    }
}

TEST(the_first_condition_that_holds_is_shown)
{
    static const char text[] = TABLE "\nAlways.\n: ours > 20\nMany.\n: ours > 10\nSome.\n: ours > 5\nFew.\n"
                                     ": otherwise\nNone.\n\nThe end.\n";
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, text));
    assert_says(t.out, "\nAlways.\nSome.\n\nThe end.\n");
    assert_null(strstr(t.out, "Many") ? strstr(t.out, "Many") : strstr(t.out, "Few"));
    assert_null(strstr(t.out, "None"));
    talk_forget(&t);
    assert_true(lesson(&t, TABLE "\n: ratio[what=rows] > 2\nMany.\n: otherwise\nFew.\n")); /* unknown */
    assert_null(strstr(t.out, "Few"));
    shut(&t);
}

static const char solved[] = "> gen poisson2d 12 as P\n> gen dense 24 as D\n| matrix | of | what | GTX 260+ |\n"
                             "| P | jacobi | one thread us | - |\n| P | jacobi | iteration us | - |\n"
                             "| P | jacobi | speed-up | 20 |\n| P | gmres 5 | iteration us f32 | - |\n"
                             "| P | gmres 5 sums host / gmres 5 | iteration us f32 | - |\n"
                             "| D | lu-serial | solve ms f32 | 1.37 |\n| D | lu-serial | factor ms f32 | 1 |\n"
                             "| D | lu-openmp / lu-serial | factor ms f32 | 1 |\n| D | lu-paper | factor ms | 1 |\n"
                             "| P | gmres 5000 | speed-up | 1 |\n";

TEST(solvers_and_lu_are_timed)
{
    struct talk t;
    double ours[10];
    for (int reps = 0; reps < 2; reps++) {
        open_on_cpu(&t, OUT_JSON);
        assert_true(lesson(&t, solved)); /* reps 1 */
        char line[160];
        snprintf(line, sizeof line, "lesson %s reps %d", path_of("lesson.txt"), reps);
        assert_true(talk_line(&t, line));
        for (int i = 0; i < 10; i++) ours[i] = number(&t, "lesson", i, "ours");
        for (int i = 0; i < 8; i++) assert_true(ours[i] > 0 && isfinite(ours[i]));
        assert_float_equal(ours[2], ours[0] / ours[1], 1e-9 * ours[2]);
        assert_true(ours[5] > ours[6]);
        assert_true(ours[8] > 0 && isnan(ours[9]));
        assert_text(&t, 0, "how", "measured");
        assert_text(&t, 1, "how", "predicted");
        assert_text(&t, 2, "how", "measured / predicted");
        assert_text(&t, 8, "how", "predicted");
        assert_true(ours[4] > 1); /* the overhead of each launch */
        assert_says(t.out, "gmres takes 1 to 500");
        shut(&t);
    }
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, solved));
    assert_says(t.out, "Iterations are predicted");
    assert_says(t.out, "a lower bound");
    assert_null(strstr(t.out, "named kernels"));
    assert_true(talk_line(&t, "device emu"));
    assert_true(lesson(&t, solved));
    assert_says(t.out, "Iterations are predicted");
    shut(&t);
}

/* A loaded matrix takes the rows of the generated one that stands in for it. */
TEST(an_original_takes_the_rows_of_its_stand_in)
{
    static const char text[] =
        "> gen poisson2d 5 as like-crystk\n> gen poisson2d 6 as like-an\n| matrix | of | what | p |\n"
        "| like-crystk | - | rows | - |\n| like-an | - | rows | - |\n";
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    assert_int_equal(number(&t, "lesson", 0, "ours"), 25);
    talk_forget(&t);
    assert_true(talk_line(&t, "gen poisson2d 4 as crystk02; gen poisson2d 7 as and"));
    talk_forget(&t);
    assert_true(lesson(&t, text));
    assert_int_equal(number(&t, "lesson", 0, "ours"), 16);
    assert_int_equal(number(&t, "lesson", 1, "ours"), 36); /* two letters are too few */
    shut(&t);
}

/* lu-paper on n = 2048 in fp32: 3 launches per column, and 2048^3 2/3 elements read and written twice, from L2. An
   iteration of jacobi has one product and one pass, which gains with the precision, and one of cg reads more vectors.
 */
TEST(iterations_and_lu_are_predicted)
{
    static const char text[] = "> gen dense 2048 as D\n> gen poisson2d 700 as P\n| matrix | of | what | p |\n"
                               "| D | lu-paper | factor ms f32 | - |\n| D | lu-paper | solve ms f32 | - |\n"
                               "| P | csr | us f32 | - |\n| P | jacobi | iteration us f32 | - |\n"
                               "| P | jacobi | iteration us | - |\n| P | cg | iteration us | - |\n"
                               "| P | jacobi form matrix | iteration us | - |\n| P | gmres 30 | iteration us | - |\n"
                               "| P | bicgstab | iteration us | - |\n";
    struct talk t;
    double ours[9];
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    for (int i = 0; i < 9; i++) ours[i] = number(&t, "lesson", i, "ours");
    double launches = 3 * 2048 * 2.22e-3, bytes = 4 * (2.0 / 3 * 2048.0 * 2048 * 2048 + 2 * 2048.0 * 2048);
    assert_float_equal(ours[0], launches + bytes / 8525e6, 0.05 * ours[0]);
    assert_true(ours[1] > ours[0] && ours[1] < 1.1 * ours[0]);
    assert_true(ours[3] < ours[4] && ours[4] < ours[5] && ours[5] < ours[8] && ours[8] < ours[7]);
    assert_true(ours[3] > 1.3 && ours[3] < 2 * ours[2]);
    assert_true(isfinite(ours[6]) && ours[6] > 1.3);
    shut(&t);
}

/* The spread of `solve ms` is that of both of its parts: it is larger than the spread of the factorisation alone. */
TEST(a_solve_has_the_spread_of_its_parts)
{
    static const char text[] = "> gen dense 64 as D\n| matrix | of | what | p |\n"
                               "| D | lu-serial | factor ms | - |\n| D | lu-serial | solve ms | - |\n";
    struct talk t;
    char line[160];
    double ms[2];
    open_on_cpu(&t, OUT_JSON);
    write_file("lesson.txt", text, strlen(text));
    snprintf(line, sizeof line, "lesson %s reps 5", path_of("lesson.txt"));
    assert_true(talk_line(&t, line));
    for (int i = 0; i < 2; i++) ms[i] = number(&t, "lesson", i, "ours") * number(&t, "lesson", i, "spread");
    if (isfinite(ms[0]) && isfinite(ms[1])) assert_true(ms[1] >= ms[0] * (1 - 1e-9)); /* NaN: all times were equal */
    shut(&t);
}

/* The share of filled places of a 4 x 9 matrix, and a predicted rate of two operations for each nonzero. */
TEST(shares_and_rates_are_those_of_their_definitions)
{
    static const char text[] = "> gen random 4 2 9 as W\n> gen poisson2d 20 as P\n| matrix | of | what | p |\n"
                               "| W | - | nonzeros | - |\n| W | - | density | - |\n"
                               "| P | csr-vector | us | - |\n| P | csr-vector | GFLOP/s | - |\n";
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    assert_float_equal(number(&t, "lesson", 1, "ours"), number(&t, "lesson", 0, "ours") / (4 * 9), 1e-12);
    assert_text(&t, 3, "how", "predicted");
    double us = number(&t, "lesson", 2, "ours"), operations = 2 * (5 * 400 - 4 * 20);
    assert_float_equal(number(&t, "lesson", 3, "ours"), 1e-3 * operations / us, 1e-9 * operations / us);
    shut(&t);
}

/* The spreads of both times of a quotient are independent. */
TEST(a_quotient_has_the_spread_of_both_times)
{
    static const char text[] =
        "> gen poisson2d 20 as P\n| matrix | of | what | p |\n| P | jacobi | one thread us | - |\n"
        "| P | jacobi | iteration us | - |\n| P | jacobi | speed-up | - |\n";
    struct talk t;
    char line[160];
    double spread[3];
    open_on_cpu(&t, OUT_JSON);
    write_file("lesson.txt", text, strlen(text));
    snprintf(line, sizeof line, "lesson %s reps 5", path_of("lesson.txt"));
    assert_true(talk_line(&t, line));
    for (int i = 0; i < 3; i++) spread[i] = number(&t, "lesson", i, "spread");
    if (isfinite(spread[0]) && isfinite(spread[1])) /* NaN: all times were equal */
        assert_float_equal(spread[2], hypot(spread[0], spread[1]), 1e-9 * spread[2]);
    shut(&t);
}

/* The remarks below a table name the devices that measured its rows, and no others. */
TEST(remarks_name_the_devices_of_the_rows)
{
    static const struct {
        const char *device, *row;
        bool cpu;
    } tables[] = {
        {"cpu", "| P | sym | symmetrize ms | - |", true},       {"emu", "| P | sym | symmetrize ms | - |", true},
        {"cpu", "| P | jacobi | iteration us | - |", false},    {"emu", "| P | jacobi | iteration us | - |", false},
        {"emu", "| P | jacobi | one thread us | - |", true},    {"emu", "| P | jacobi | speed-up | - |", true},
        {"cpu", "| P | ell | packing ms | - |", true},          {"cpu", "| P | ell | padding | - |", false},
        {"emu", "| P | lu-serial | factor ms f32 | - |", true},
    };
    for (int i = 0; i < COUNT(tables); i++) {
        struct talk t;
        char text[256], line[64];
        snprintf(line, sizeof line, "device %s", tables[i].device);
        snprintf(text, sizeof text, "> gen poisson2d 9 as P\n| matrix | of | what | p |\n%s\n", tables[i].row);
        open_on_cpu(&t, OUT_TEXT);
        assert_true(talk_line(&t, line));
        assert_true(lesson(&t, text));
        if ((strstr(t.out, "Measured on cpu: ") != NULL) != tables[i].cpu)
            fail_msg("%s: %s: %s", tables[i].device, tables[i].row, t.out);
        shut(&t);
    }
}

/* A case that a solver or LU refuses is reported in its row; the other cases are run. */
TEST(a_refusing_solver_affects_only_its_row)
{
    static const char text[] = "> gen random 40 3 as R\n> gen random 4 2 9 as W\n| matrix | of | what | p |\n"
                               "| R | jacobi | speed-up | 1 |\n| R | gmres 3 | one thread us | 1 |\n"
                               "| W | lu-serial | factor ms | 1 |\n| W | bicgstab | speed-up | 1 |\n";
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, text));
    assert_true(isnan(number(&t, "lesson", 0, "ours")) && number(&t, "lesson", 1, "ours") > 0);
    assert_true(isnan(number(&t, "lesson", 2, "ours")) && isnan(number(&t, "lesson", 3, "ours")));
    assert_says(t.out, "diagonal");
    assert_says(t.out, "square");
    shut(&t);
}

/* The heading of the paper's column is printed even if nothing was timed. */
TEST(headings_are_kept)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, "> gen poisson2d 4 as P\n| matrix | of | what | the paper |\n| P | - | rows | 8 |\n"));
    assert_says(t.out, "the paper");
    shut(&t);
}

TEST(paths_are_relative_to_the_lesson)
{
    static const char tiny[] = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n", script[] = "stats\n";
    struct talk t;
    write_file("tiny.mtx", tiny, sizeof tiny - 1);
    write_file("script", script, sizeof script - 1);
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, "> load tiny.mtx\n> source script\n"));
    assert_non_null(session_matrix(&t.s, "tiny", NULL));
    /* in a lesson, paths are relative to the lesson's folder; here, the path is relative to the working folder */
    assert_false(talk_line(&t, "load tiny.mtx"));
    shut(&t);
}

TEST(matrices_stay_until_the_next_lesson)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as mine"));
    assert_true(lesson(&t, three));
    assert_true(session_matrix(&t.s, "P", NULL) && session_matrix(&t.s, "mine", NULL));
    assert_true(lesson(&t, "> gen poisson2d 3 as S\n"));
    assert_null(session_matrix(&t.s, "P", NULL));
    assert_non_null(session_matrix(&t.s, "mine", NULL));
    assert_false(lesson(&t, "> gen poisson2d 3 as mine\n"));
    assert_says(t.err, "is called mine already");
    shut(&t);
}

/* The mean, the highest and the lowest value are those of the lesson's matrices, not of others in the session. */
TEST(means_cover_the_matrices_of_the_lesson)
{
    static const char table[] = "> gen poisson2d 3 as S\n> gen poisson2d 4 as T\n| matrix | of | what | p |\n"
                                "| mean | - | rows | 9 |\n| highest | - | rows | 9 |\n| lowest | - | rows | 9 |\n";
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 2 as few; gen poisson2d 9 as many"));
    talk_forget(&t);
    assert_true(lesson(&t, table));
    same(number(&t, "lesson", 0, "ours"), 12.5);
    same(number(&t, "lesson", 1, "ours"), 16);
    same(number(&t, "lesson", 2, "ours"), 9);
    shut(&t);
}

/* ---- lessons by name ---- */

static void make_folder(const char *name)
{
    assert_false(mkdir(path_of(name), 0700) && errno != EEXIST);
}

/* A data folder of the user with one lesson. */
static void add_own_lesson(void)
{
    static const char text[] = "% 3 My own\n# Mine\n? Which?\n?  a  this\n= a\n\n? How many?\n= 2\n";
    make_folder("warpspy");
    make_folder("warpspy/lessons");
    write_file("warpspy/lessons/mine.txt", text, sizeof text - 1);
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("XDG_DATA_DIRS", folder, 1); /* each lesson is listed once */
}

/* From any working folder, `lesson` finds the lessons of the source tree and of the user. */
TEST(lessons_are_found_by_name)
{
    struct talk t;
    char here[4096];
    add_own_lesson();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir("/"), 0);
    open_on_cpu(&t, OUT_TEXT);
    talk_says(&t, "lesson", "looks");
    assert_says(t.out, "2 questions   My own\n");
    assert_true(strstr(t.out, "mine ") > strstr(t.out, "dense-row ") &&
                strstr(t.out, "mine ") < strstr(t.out, "races "));
    assert_null(strstr(strstr(t.out, "mine ") + 1, "mine "));
    assert_narrow(t.out);
    talk_says(&t, "lesson min", "Mine\n====\n");
    talk_says(&t, "lesson transfer reps 1", "Page-locked memory.");
    talk_refuses(&t, "lesson mien", "there is no lesson `mien` (did you mean `mine`?)");
    shut(&t);
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "lesson"));
    same(number(&t, "lesson", 0, "place"), 1);
    same(number(&t, "lesson", 0, "answered"), 0);
    shut(&t);
    assert_int_equal(chdir(here), 0);
}

static void keep_word(void *user, const char *word)
{
    char *all = user;
    snprintf(all + strlen(all), 256 - strlen(all), "%s ", word);
}

TEST(names_of_lessons_are_completed)
{
    static const char *const lines[][2] = {{"lesson mi", "microscope mine "},
                                           {"lesson samples/lessons/lo", "samples/lessons/looks.txt "},
                                           {"lesson xy", ""}};
    struct talk t;
    add_own_lesson();
    open_on_cpu(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(lines); i++) {
        char words[256] = "";
        complete(&t.s, lines[i][0], strlen(lines[i][0]), keep_word, words);
        assert_string_equal(words, lines[i][1]);
    }
    shut(&t);
}

/* ---- mistakes ---- */

static const struct {
    const char *text, *line, *says;
} mistakes[] = {
    {"\n> nonsense\n", ":2: ", "no such command"},
    {"> version\n@ nothing\n", ":2: ", "the output has no line `nothing`; the nearest is `warpspy"},
    {"> version\n@ warpspy*\n@ warpspy*\n", ":3: ", "no line `warpspy*`"},
    {"> device cpu\n@ * dev\n", ":2: ", "the output has no line"},
    {"prose\n@ prose\n", ":2: ", "an expected line needs a command above it"},
    {"> version\n\n@ warpspy*\n", ":3: ", "an expected line needs a command above it"},
    {"> version\n@\n", ":2: ", "the expected line is empty"},
    {"> version\n@! warpspy*\n", ":2: ", "it should have been refused"},
    {"> nonsense\n@ *no such command*\n", ":1: ", "no such command"},
    {"> nonsense\n@! something else\n", ":2: ", "no line `something else`"},
    {"= 3\n", ":1: ", "an answer needs a question above it"},
    {"? How many?\n\n= 3\n", ":3: ", "an answer needs a question above it"},
    {"~ Think.\n", ":1: ", "a hint needs a question above it"},
    {"! So it is.\n", ":1: ", "an explanation needs a question above it"},
    {"? How many?\n=\n", ":2: ", "the answer is missing"},
    {": ours > 1\n", ":1: ", "a condition needs a table above it"},
    {TABLE ": our > 1\n", ":5: ", "has no `our`"},
    {TABLE ": ours[of=dia] > 1\n", ":5: ", "has no `ours[of=dia]`"},
    {TABLE ": ours\n", ":5: ", "needs one of < <= > >= ="},
    {TABLE ": ours > 1 or ours < 2\n", ":5: ", "`or ours < 2` follows a complete condition"},
    {TABLE "? How many?\n= ours of it\n\n| matrix | of | what | p |\n", ":6: ", "below the question, or a table"},
    {"? How many?\n= 3 apples\n", ":2: ", "`3 apples` is not a number: put quotes around words"},
    {"? How many?\n= 3 +- some\n", ":2: ", "is not a number or percentage"},
    {"? How many?\n= 3 +- -1\n", ":2: ", "is not a number or percentage"},
    {"? Which?\n?  a  this\n?  b  that\n= c\n", ":4: ", "`c` is not one of the question's choices"},
    {"? How many?\n= bandwidth of it\n! Why?\n", ":2: ", "needs a command below the question"},
    {"? How many?\n= bandwidth of it\n\n> stats\n", ":2: ", "needs a command below the question"},
    {"> gen poisson2d 4 as P\n? How many?\n= height of stats P\n", ":3: ", "output has no `height`"},
    {"> gen poisson2d 4 as P\n? How many?\n= rows[matrix=Q] of stats P\n", ":3: ", "has no `rows[matrix=Q]`"},
    {"> gen poisson2d 4 as P\n? How many?\n= rows rows of stats P\n", ":3: ", "follows a complete expression"},
    {"> gen poisson2d 4 as P\n? How many?\n= (rows of stats P\n", ":3: ", "a `)` is missing"},
    {"> gen poisson2d 4 as P\n? How many?\n= 2 * matrix of stats P\n", ":3: ", "is not a finite number"},
    {"> gen poisson2d 4 as P\n? How many?\n= rows / empty_rows of stats P\n", ":3: ", "is not a finite number"},
    {"? How many?\n= rows of stats nobody\n", ":2: ", "`stats nobody` fails: "},
    {"> gen poisson2d 4 as P\n? How many?\n= 15\n= rows of stats P\n",
     ":3: ", "written as 15, but the program computes 16"},
    {"> gen poisson2d 4 as P\n? How many?\n= 15 +- 5%\n= rows of stats P\n", ":3: ", "computes 16"},
    {"> gen poisson2d 4 as P\n? Which?\n= Q | R\n= matrix of stats P\n",
     ":3: ", "written as Q, but the program computes P"},
    {"> gen poisson2d 4 as P\n? Which?\n= 4\n= matrix of stats P\n",
     ":3: ", "written as 4, but the program computes P"},
    {"? 1\n= 1\n= 2\n= 3\n= 4\n= 5\n= 6\n= 7\n= 8\n= 9\n", ":10: ", "at most 8 answers"},
    {"> gen poisson2d 4 as P\n> spmv P kernel nothing\n", ":2: ", "is not a kernel"},
    {"| matrix | of | what |\n", ":1: ", "write 4 cells between bars"},
    {"| matrix | of | what | GPU | more |\n", ":1: ", "the row has 5 cells"},
    {"| matrix | of | what | GPU\n", ":1: ", "write 4 cells between bars"},
    {"| name | of | what | GPU |\n", ":1: ", "`name` instead of `matrix`"},
    {"| matrix | of | what | GPU |\n| P | - | rows | 1 |\n", ":2: ", "no matrix is called P"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | - | height | 1 |\n",
     ":3: ", "`height` is not a quantity"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | - | rows | many |\n",
     ":3: ", "`many` is not a number"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | nothing | us | 1 |\n",
     ":3: ", "`nothing` is neither a kernel nor a format"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | nothing | padding | 1 |\n",
     ":3: ", "`nothing` is neither a kernel nor a format"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | nothing | speed-up | 1 |\n",
     ":3: ", "`nothing` is not a solver"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | gmres 5 sums guest | speed-up | 1 |\n",
     ":3: ", "is not a solver"},
    {"> gen poisson2d 4 as P\n| matrix | of | what | GPU |\n| P | lu-nothing | solve ms | 1 |\n",
     ":3: ", "is not an LU method"},
    {"> lesson samples/lessons/drm.txt\n", ":1: ", "cannot contain another"},
    {"> load none.mtx\n", "/none.mtx", "cannot open the file"},
};

TEST(mistakes_name_their_line)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(mistakes); i++) {
        assert_false(lesson(&t, mistakes[i].text));
        assert_says(t.err, mistakes[i].line);
        assert_says(t.err, mistakes[i].says);
        assert_null(t.s.folder);
        assert_null(t.s.script);
    }
    assert_false(talk_line(&t, "lesson /nowhere/x.txt"));
    assert_says(t.err, "/nowhere/x.txt");
    assert_false(talk_line(&t, "lesson samples/lessons/drm.txt reps -1"));
    write_file("lesson.txt", "a\0b\n", 4);
    char line[160];
    snprintf(line, sizeof line, "lesson %s", path_of("lesson.txt"));
    assert_false(talk_line(&t, line));
    assert_says(t.err, "NUL byte");
    shut(&t);
}

/* A question that is too long, and a question with too many choices. */
TEST(long_questions_are_refused)
{
    static char text[8192];
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    snprintf(text, sizeof text, "? %3000s?\n", "x");
    memset(text + 2, 'x', 3000);
    assert_false(lesson(&t, text));
    assert_says(t.err, "at most 2046 bytes");
    *text = 0;
    for (int i = 0; i < 17; i++) strcat(text, "?  a  b\n");
    assert_false(lesson(&t, text));
    assert_says(t.err, ":17: a question has at most 16 choices");
    shut(&t);
}

/* ---- questions ---- */

static const char asking[] =
    "> gen poisson2d 16 as grid\n\n"
    "? How many points has\n? the grid?\n= 256\n= rows of stats grid\n! Sixteen by sixteen.\n\n"
    "? Which is wide?\n?  a  the band\n?  b  the web\n= b | the web\n\n"
    "? What do you see?\n! A grid.\n\n"
    "? How many iterations?\n= iterations[solver=cg] +- 20% of it\n"
    "> race cg of grid\n@ *cg*converged*\n! About twice\n! sixteen.\n"
    "The end.\n";

TEST(questions_are_printed_without_a_terminal)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, asking));
    assert_says(t.out, "\n\nQuestion 1: How many points has the grid?\nAnswer: 256.\nSixteen by sixteen.\n\n"
                       "Question 2: Which is wide?\n  a  the band\n  b  the web\nAnswer: b  the web.\n\n"
                       "Question 3: What do you see?\nA grid.\n\nQuestion 4: How many iterations?\n> race ");
    assert_says(t.out, "\nAnswer: 29.\nAbout twice sixteen.\nThe end.\n\n"
                       "Questions: 4, 1 to think about. At a terminal, the questions are interactive.\n");
    shut(&t);
}

TEST(questions_are_rows_of_json)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, asking));
    cJSON *j = object(&t, "lesson", 1);
    assert_string_equal(cJSON_GetObjectItem(j, "kind")->valuestring, "question");
    assert_string_equal(cJSON_GetObjectItem(j, "question")->valuestring, "Which is wide?");
    assert_string_equal(cJSON_GetObjectItem(j, "answer")->valuestring, "b");
    assert_string_equal(cJSON_GetObjectItem(j, "verdict")->valuestring, "shown");
    assert_string_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(j, "choices"), 1)->valuestring, "b  the web");
    cJSON_Delete(j);
    same(number(&t, "lesson", 0, "value"), 256);
    same(number(&t, "lesson", 0, "line"), 3);
    same(number(&t, "lesson", 3, "value"), 29);
    same(number(&t, "lesson", 4, "questions"), 3);
    same(number(&t, "lesson", 4, "shown"), 3);
    shut(&t);
    open_on_cpu(&t, OUT_CSV);
    assert_true(lesson(&t, asking));
    assert_says(t.out, "kind,file,line,question,answer,value,verdict\nquestion,");
    assert_says(t.out, ",Which is wide?,b,,shown\n");
    shut(&t);
}

/* The lines that a reader types, one per prompt; after the last line, the input ends. */
static const char *const *typed;
static char prompts[1024];

static char *type_next(struct session *s, const char *prompt)
{
    strncat(prompts, prompt, sizeof prompts - strlen(prompts) - 1);
    return *typed ? mem_str(*typed++, NULL) : NULL;
}

/* Run the lesson with these answers, from its beginning or from where its reader left off. */
static bool answered_on(struct talk *t, const char *text, const char *const *lines)
{
    open_on_cpu(t, OUT_TEXT);
    t->s.front->ask = type_next;
    t->s.interactive = true;
    typed = lines;
    *prompts = 0;
    return lesson(t, text);
}

static bool answered(struct talk *t, const char *text, const char *const *lines)
{
    unlink(path_of("warpspy/lessons/lesson"));
    return answered_on(t, text, lines);
}

TEST(questions_are_asked)
{
    struct talk t;
    assert_true(answered(&t, asking, (const char *const[]){"256 points", "The  WEB.", "stripes", "30", NULL}));
    assert_true(begins(prompts, "answer> answer> think, then Enter> your guess> Your name (Enter: "));
    assert_says(t.out, "Question 1 of 4: How many points has the grid?\n"
                       "(`show` shows the answer, Ctrl-C quits the lesson.)\nRight: 256.\nSixteen by");
    assert_says(t.out, "\nRight: b  the web.\n");
    assert_says(t.out, "\nRight: 29. You said 30, 3.4% more.\nAbout twice");
    assert_says(t.out, "Questions: 3 right, 0 wrong, 0 skipped, 1 to think about.\n");
    shut(&t);
}

/* After a wrong answer, the lesson gives a hint and a second try. */
TEST(a_wrong_answer_has_a_second_try)
{
    static const char hinted[] = "? How many?\n= 7\n~ The days\n~ of a week.\n\n? Yes or no?\n= no\n";
    struct talk t;
    assert_true(answered(&t, asking, (const char *const[]){"many", "250", "256", "a", "b", "", " ", "show", NULL}));
    assert_true(begins(prompts, "answer> answer> second try> answer> second try> think, then Enter> your guess> your "
                                "guess> "));
    assert_says(t.out, "Type a number, or `show` to see the answer.\nNot 250: that is too small.\nRight: 256.\n");
    assert_says(t.out, "\nNot a  the band.\nRight: b  the web.\n");
    assert_says(t.out, "\nType a number, or `show` to see the answer.\n");
    assert_says(t.out, "\nIt is 29.\n");
    assert_says(t.out, "Questions: 2 right, 2 of them on the second try, 0 wrong, 1 skipped, 1 to think about.\n");
    shut(&t);
    assert_true(answered(&t, asking, (const char *const[]){"1,000", "250", "a", "", "show", "", "29000", "2", NULL}));
    assert_says(t.out, "Not 1000: that is too large.\nClose: it is 256. You said 250, 2.3% less.\n");
    assert_says(t.out, "\nNot a  the band.\nType a letter, or `show` to see the answer.\nWrong: it is b  the web.\n");
    assert_says(t.out, "\nNot 29000: that is too large. Check the unit.\n> race");
    assert_says(t.out, "Far off: it is 29. You said 2; the answer is 14.5 times as much.\n");
    shut(&t);
    assert_true(answered(&t, asking, (const char *const[]){"quit", "256", NULL}));
    assert_says(t.out, "You left the lesson; its matrices remain.\n");
    shut(&t);
    assert_true(answered(&t, asking, (const char *const[]){"256", "a", "exit", "b", NULL}));
    assert_says(t.out, "You left the lesson; its matrices remain.\nQuestions: 1 right, 0 wrong, 0 skipped.\n");
    shut(&t);
    assert_true(answered(&t, hinted, (const char *const[]){"8", "7", "yes", "no", NULL}));
    assert_says(t.out, "Not 8: that is too large.\nHint: The days of a week.\nRight: 7.\n");
    assert_says(t.out, "Not yes.\nRight: no.\n");
    shut(&t);
}

/* A reader who left the lesson continues after the last answered question; the commands before that point run again
   without printing anything. */
TEST(a_lesson_goes_on_where_it_was_left)
{
    struct talk t;
    assert_true(answered(&t, asking, (const char *const[]){"250", "256", "a", "b", NULL}));
    assert_says(t.out, "You left the lesson");
    shut(&t);
    assert_true(answered_on(&t, asking, (const char *const[]){"lines", "30", NULL}));
    assert_true(begins(prompts, "think, then Enter> your guess> Your name"));
    assert_says(t.out, "You left this lesson after question 2 of 4; it continues from there.\n"
                       "`lesson lesson restart` begins the lesson again.\n\nQuestion 3 of 4: What do you see?\n");
    assert_says(t.out, "Questions: 3 right, 2 of them on the second try, 0 wrong, 0 skipped, 1 to think about.\n");
    assert_null(strstr(t.out, "How many points"));
    assert_non_null(session_matrix(&t.s, "grid", NULL));
    shut(&t);
    assert_true(answered_on(&t, asking, (const char *const[]){"256", NULL})); /* a finished lesson begins again */
    assert_says(
        t.out,
        " UTC: 3 right of 3, 2 of them on the second try, 0 wrong, 0 skipped. New answers replace the old answers.\n");
    assert_says(t.out, "Question 1 of 4");
    char line[200];
    snprintf(line, sizeof line, "lesson %s restart", path_of("lesson.txt"));
    talk_forget(&t);
    talk_says(&t, line, "Question 1 of 4");
    assert_null(strstr(t.out, "You left this lesson"));
    shut(&t);
    assert_true(answered(&t, asking, (const char *const[]){"256", NULL}));
    shut(&t);
    assert_true(answered_on(&t, "? Changed?\n= yes\n", (const char *const[]){"yes", NULL}));
    assert_says(t.out, "Question 1 of 1");
    shut(&t);
}

static const char guessing[] = "> gen poisson2d 4 as P\n\n? How many rows?\n= ours[what=rows] of it\n= 16\n"
                               "| matrix | of | what | p |\n| P | - | rows | 16 |\n: ratio = 1\n! As many.\n"
                               ": otherwise\n! Not so many.\n\nThe end.\n";

/* A table below a question is shown after the guess. */
TEST(a_table_can_be_guessed)
{
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, guessing));
    assert_says(t.out, "Question 1: How many rows?\nmatrix  of");
    assert_says(t.out, "exact  counted           1\nAnswer: 16.\nAs many.\n\nThe end.\n");
    shut(&t);
    assert_true(answered(&t, guessing, (const char *const[]){"15", "16", "", NULL}));
    assert_true(begins(prompts, "your guess> second try> "));
    assert_says(t.out, "Not 15: that is too small.\nmatrix  of");
    assert_says(t.out, "exact  counted           1\nRight: 16.\nAs many.\n\nThe end.\n");
    shut(&t);
}

/* If the state folder cannot be written, one note is printed. */
TEST(answers_are_lost_with_a_note)
{
    struct talk t;
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    assert_true(answered(&t, asking, (const char *const[]){"256", "b", "", "29", NULL}));
    setenv("XDG_STATE_HOME", folder, 1);
    const char *note = strstr(t.err, "the answers are not saved: /proc/nowhere/warpspy/lessons/lesson: ");
    if (!note || strstr(note + 5, "answers are not saved")) fail_msg("found: %s", t.err);
    assert_says(t.out, "Questions: 3 right");
    shut(&t);
}

/* ---- hand-in files ---- */

static const char *read_file(const char *name)
{
    static char text[8192];
    FILE *f = fopen(path_of(name), "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    assert_int_equal(fclose(f), 0);
    return text;
}

/* Answer the questions of the lesson, and write a hand-in file under a name that no other file has. */
static void hand_in(struct talk *t)
{
    char taken[128], file[160];
    write_file("taken.txt", "mine", 4);
    snprintf(taken, sizeof taken, "%s", path_of("taken.txt"));
    snprintf(file, sizeof file, " %s ", path_of("ada.txt"));
    unlink(path_of("ada.txt"));
    assert_true(answered(
        t, asking, (const char *const[]){"250", "256", "a", "show", "a grid", "30", "Ada L.", taken, file, NULL}));
}

TEST(a_hand_in_file_is_written)
{
    struct talk t;
    char line[320];
    hand_in(&t);
    assert_says(prompts, "Your name (Enter: ");
    assert_says(prompts, "File (Enter: lesson-ada-l.txt)> File (Enter: lesson-ada-l.txt)> ");
    assert_says(t.out, "taken.txt: the file exists");
    assert_says(t.out, "ada.txt: 2 right of 3, 1 of them on the second try, 1 wrong, 0 skipped.\n");
    assert_string_equal(read_file("taken.txt"), "mine");
    const char *text = read_file("ada.txt");
    assert_says(text, "\nquestion   right\nasked      How many points has the grid?\nsaid       250\nsaid       256\n");
    assert_says(text, "\nquestion   thought\nasked      What do you see?\nsaid       a grid\n");
    assert_says(text, "\nprogram    warpspy " WARPSPY_VERSION "\n");
    snprintf(line, sizeof line, "lesson %s handin %s", path_of("lesson.txt"), path_of("ada.txt"));
    talk_refuses(&t, line, "file exists; add `force`");
    strcat(line, " force");
    talk_says(&t, line, "2 right of 3");
    assert_says(read_file("ada.txt"), "\nwho        Ada L.\n");
    shut(&t);
}

/* The line that checks the file. */
static const char *check_of(const char *name)
{
    static char line[160];
    snprintf(line, sizeof line, "lesson --check %s", path_of(name));
    return line;
}

TEST(a_hand_in_file_is_checked)
{
    struct talk t;
    hand_in(&t);
    talk_says(&t, check_of("ada.txt"), "who ");
    static const char *const parts[] = {
        "Ada L.",    "2 right of 3, 1 of them on the second try", "4 of 4", "warpspy ", "not found here", "250",
        "  thought "};
    for (int i = 0; i < COUNT(parts); i++) assert_says(t.out, parts[i]);
    assert_narrow(t.out);
    shut(&t);
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, check_of("ada.txt")));
    same(number(&t, "lesson", 1, "tries"), 2);
    shut(&t);
}

/* Three answers: right, skipped, and twice wrong, first by a factor of 8, then by 17 %. */
TEST(faults_are_named_and_counted)
{
    static const char text[] = "? A?\n= 256\n\n? B?\n= 1\n\n? C?\n= 3.14159\n";
    struct talk t;
    char line[320];
    unlink(path_of("three.txt"));
    assert_true(answered(&t, text, (const char *const[]){"256", "show", "0.3927", "2.6", NULL}));
    assert_says(t.out, "Not 0.3927: that is too small. Check the unit.\n");
    assert_says(t.out, "Not quite: it is 3.142. You said 2.6, 17% less.\n");
    assert_says(t.out, "Questions: 1 right, 1 wrong, 1 skipped.\n");
    snprintf(line, sizeof line, "lesson %s handin %s", path_of("lesson.txt"), path_of("three.txt"));
    talk_says(&t, line, ": 1 right of 3, 1 wrong, 1 skipped.");
    shut(&t);
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, check_of("three.txt")));
    cJSON *j = object(&t, "lesson", 3);
    assert_string_equal(cJSON_GetObjectItem(j, "first")->valuestring, "0.3927");
    assert_string_equal(cJSON_GetObjectItem(j, "second")->valuestring, "2.6");
    assert_string_equal(cJSON_GetObjectItem(j, "answer")->valuestring, "3.142");
    cJSON_Delete(j);
    shut(&t);
}

TEST(a_hand_in_file_of_an_unfinished_lesson_says_so)
{
    struct talk t;
    char line[320];
    unlink(path_of("early.txt"));
    assert_true(answered(&t, asking, (const char *const[]){"256", NULL}));
    snprintf(line, sizeof line, "lesson %s handin %s", path_of("lesson.txt"), path_of("early.txt"));
    assert_true(talk_line(&t, line));
    assert_says(t.err, "the lesson is not finished: 1 of 4 questions are answered");
    shut(&t);
}

/* The file that is proposed does not exist yet. */
TEST(a_new_hand_in_file_is_proposed)
{
    struct talk t;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    write_file("lesson-bob.txt", "mine", 4);
    write_file("lesson-bob-2.txt", "mine", 4);
    bool ok = answered(&t, "? A?\n= 256\n", (const char *const[]){"256", "Bob!", "", NULL});
    assert_int_equal(chdir(here), 0);
    assert_true(ok);
    assert_says(prompts, "File (Enter: lesson-bob-3.txt)> ");
    assert_says(t.out, "Written to lesson-bob-3.txt: 1 right of 1");
    assert_int_equal(unlink(path_of("lesson-bob-3.txt")), 0);
    shut(&t);
}

TEST(the_list_shows_what_was_answered)
{
    static const struct {
        const char *lines[3], *done;
    } table[] = {{{"show", "2", NULL}, "1 right of 2  My own"}, {{"a", NULL}, "1 of 2 done   My own"}};
    add_own_lesson();
    for (int i = 0; i < COUNT(table); i++) {
        struct talk t;
        open_on_cpu(&t, OUT_TEXT);
        t.s.front->ask = type_next;
        t.s.interactive = true;
        typed = table[i].lines;
        assert_true(talk_line(&t, "lesson mine restart"));
        talk_says(&t, "lesson", table[i].done);
        shut(&t);
    }
}

/* Each lesson comes after those that it needs, and takes a reader some minutes. */
TEST(a_course_has_an_order)
{
    enum { LESSONS = 60 };
    static char names[LESSONS][64];
    struct talk t;
    int n = 0;
    unsetenv("XDG_DATA_HOME");
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "lesson course"));
    for (const char *at = t.out; n < LESSONS && (at = strstr(at, "\"kind\":\"lesson\"")); at++, n++) {
        cJSON *j = object(&t, "lesson", n);
        const char *needs = cJSON_GetStringValue(cJSON_GetObjectItem(j, "needs"));
        for (size_t k; needs && *needs; needs += k + (needs[k] == ' ')) {
            k = strcspn(needs, " ");
            int i = 0;
            while (i < n && (strlen(names[i]) != k || strncmp(names[i], needs, k))) i++;
            if (i == n) fail_msg("%s is not before lesson %d", needs, n);
        }
        double minutes = cJSON_GetNumberValue(cJSON_GetObjectItem(j, "minutes"));
        double questions = cJSON_GetNumberValue(cJSON_GetObjectItem(j, "questions"));
        assert_true(minutes > questions && minutes < 60);
        snprintf(names[n], sizeof *names, "%s", cJSON_GetStringValue(cJSON_GetObjectItem(j, "lesson")));
        cJSON_Delete(j);
    }
    assert_true(n > 20);
    shut(&t);
}

/* 300 words, those of the questions included, and two questions take 4 minutes. */
TEST(a_course_says_what_is_next_and_a_review_what_was_wrong)
{
    char text[4000] = "% 1 Own\n% needs nothing else\n# Own\n";
    struct talk t;
    add_own_lesson();
    for (int i = 0; i < 291; i++) strcat(text, i % 10 ? "word " : "\nword ");
    strcat(text, "\n? Which?\n?  a  this\n= a\n\n? Many?\n= 2\n");
    write_file("warpspy/lessons/early.txt", text, strlen(text));
    open_on_cpu(&t, OUT_TEXT);
    t.s.front->ask = type_next;
    t.s.interactive = true;
    talk_says(&t, "lesson course", "nothing else");
    assert_says(t.out, "Next: `lesson early`.");
    typed = (const char *const[]){"a", "3", "show", NULL};
    assert_true(talk_line(&t, "lesson early restart"));
    talk_says(&t, "lesson course", "Next: `lesson looks`.");
    talk_says(&t, "lesson review", "early          2  wrong    3         2             Many?");
    talk_says(&t, "lesson early review", "Many?");
    assert_null(strstr(t.out, "Which?"));
    talk_says(&t, "lesson looks review", "No answer was wrong or skipped in lesson looks.");
    shut(&t);
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "lesson course"));
    assert_says(t.out, "\"lesson\":\"early\",\"place\":1,\"minutes\":4,\"needs\":\"nothing else\"");
    shut(&t);
    unlink(path_of("warpspy/lessons/early.txt"));
}

TEST(a_folder_of_hand_in_files_is_a_class)
{
    char text[8192], name[160], line[200];
    struct talk t;
    hand_in(&t);
    snprintf(text, sizeof text, "%s", read_file("ada.txt"));
    make_folder("class");
    write_file("class/ada.txt", text, strlen(text));
    strstr(text, "Ada L.")[0] = 'O';
    write_file("class/oda.txt", text, strlen(text));
    write_file("class/notes.txt", "Dear teacher\n", 13);
    write_file("class/picture.png", "no", 2);
    snprintf(name, sizeof name, "%s", path_of("class"));
    snprintf(line, sizeof line, "lesson --check %s", name);
    talk_says(&t, line, "1 of 3 files are hand-in files that nobody has changed by hand.");
    shut(&t);
    open_on_cpu(&t, OUT_CSV);
    assert_true(talk_line(&t, line));
    assert_says(t.out, "pupil,ada.txt,Ada L.,lesson,4,2,1,0,6,2,");
    assert_says(t.out, ",correct\n");
    assert_says(t.out, "pupil,oda.txt,,,,,,,,,,,the file was changed after it was written");
    assert_says(t.out, "pupil,notes.txt,,,,,,,,,,,this is not a hand-in file");
    assert_null(strstr(t.out, "picture"));
    shut(&t);
    make_folder("empty");
    open_on_cpu(&t, OUT_TEXT);
    talk_refuses(&t, check_of("empty"), "the folder has no hand-in files: their names end in .txt");
    shut(&t);
}

/* A file with a changed byte, a missing line or an additional line is refused; line ends of a different system are
   accepted. */
TEST(a_changed_hand_in_file_is_refused)
{
    char text[8192], other[16384];
    struct talk t;
    hand_in(&t);
    size_t n = (size_t)snprintf(text, sizeof text, "%s", read_file("ada.txt")), used = 0;
    for (size_t i = 0; i < n; i += 7) {
        memcpy(other, text, n);
        other[i] = other[i] == '7' ? '8' : '7';
        write_file("other.txt", other, n);
        talk_refuses(&t, check_of("other.txt"), "other.txt: ");
        assert_ptr_equal(strchr(t.err, '\n'), t.err + strlen(t.err) - 1); /* one line */
    }
    const char *last = strstr(text, "checksum");
    write_file("other.txt", text, (size_t)(last - text));
    talk_refuses(&t, check_of("other.txt"), "with its checksum, is missing");
    snprintf(other, sizeof other, "%squestion   right\n", text);
    write_file("other.txt", other, strlen(other));
    talk_refuses(&t, check_of("other.txt"), "the file was changed after it was written");
    write_file("other.txt", "Dear teacher\n", 13);
    talk_refuses(&t, check_of("other.txt"), "this is not a hand-in file");
    talk_refuses(&t, check_of("none.txt"), "none.txt: cannot open");
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n') other[used++] = '\r';
        other[used++] = text[i];
    }
    write_file("other.txt", other, used);
    talk_says(&t, check_of("other.txt"), "Ada L.");
    shut(&t);
}

/* The input ends at the third prompt: matrices stay, answered questions count, and the rest of the lesson does not
   run. */
TEST(a_lesson_can_be_quit)
{
    struct talk t;
    assert_true(answered(&t, asking, (const char *const[]){"256", "a", "a", "", NULL}));
    assert_null(strstr(t.out, "> race"));
    assert_null(strstr(t.out, "The end."));
    assert_says(t.out, "How many iterations?\nYou left the lesson; its matrices remain.\n"
                       "Questions: 1 right, 1 wrong, 0 skipped, 1 to think about.\n");
    assert_non_null(session_matrix(&t.s, "grid", NULL));
    assert_null(t.s.folder);
    assert_true(talk_line(&t, "version"));
    shut(&t);
    assert_true(answered(&t, asking, (const char *const[]){NULL}));
    assert_null(strstr(t.out, "Answer"));
    assert_null(strstr(t.out, "Questions:"));
    shut(&t);
}

/* Typed answers, and whether they are right. */
static const struct {
    const char *answer, *typed;
    bool right;
} judged[] = {
    {"12", "12", true},
    {"12", "12.0", true},
    {"12", "12.1", false},
    {"4054", "4,054", true},
    {"5.2", "5.15", true},
    {"5.2", "5.1", false},
    {"5.2 +- 10%", "4.7", true},
    {"5.2 +- 10%", "4.6", false},
    {"-3 +- 1", "-2", true},
    {"-3 +- 1", "-1.9", false},
    {"0", "0", true},
    {"0 +- 2", "-2", true},
    {"csr", "CSR", true},
    {"csr", "csc", false},
    {"a b | c", "a  b", true},
    {"a b | c", "C!", true},
    {"a b | c", "a b | c", false},
    {"yes", "y", true},
    {"no", "N", true},
    {"no", "yes", false},
    {"no", "n't", false},
    {"\"12 of it\"", "12 OF it", true},
    {"rows of stats P", "16", true},
    {"rows of stats P", "15", false},
    {"row_mean of stats P", "4", true},
    {"nnz / rows + 1 of stats P", "5", true},
    {"2 * (rows - 1) / 3 of stats P", "10", true},
    {"rows - 1 - 1 of stats P", "14", true},
    {"rows / 2 / 2 of stats P", "4", true},
    {"matrix of stats P", "p", true},
    {"pattern_symmetric of stats P", "yes", true},
    {"pattern_symmetric of stats P", "no", false},
    {"values[array=ptr][2] of layout csr of P", "7", true},
    {"length[kind=quantile,share=0.5] of rows P", "4", true},
    {"rows[kind=bin, length=3] of rows P", "8", false}, /* no blanks */
    {"rows[pattern_symmetric=yes] of stats P", "16", true},
    {"1 / value_min of stats low", "0", true}, /* -inf */
    {"rows +- 50% of stats P", "24", true},
    {"rows +- 50% of stats P", "25", false},
};

TEST(answers_are_judged)
{
    static const char infinite[] = "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 -inf\n1 2 3\n";
    char text[256];
    struct talk t;
    write_file("infinite.mtx", infinite, sizeof infinite - 1);
    for (int i = 0; i < COUNT(judged); i++) {
        snprintf(text, sizeof text, "> gen poisson2d 4 as P\n> load infinite.mtx as low\n? What?\n= %s\n",
                 judged[i].answer);
        bool ok = answered(&t, text, (const char *const[]){judged[i].typed, "", NULL});
        bool right = ok && strstr(t.out, "Questions: 1 right, 0 wrong");
        if (right != judged[i].right) fail_msg("= %s: %s: %s%s", judged[i].answer, judged[i].typed, t.out, t.err);
        shut(&t);
    }
}

/* The emulator measures no times: a question about a time then has no answer, and is skipped without an error. */
TEST(questions_without_an_answer_are_skipped)
{
    static const char text[] =
        "> gen poisson2d 4 as P\n? How long?\n= time_us of it\n> spmv P kernel csr-scalar on emu\n";
    struct talk t;
    assert_true(answered(&t, text, (const char *const[]){"3", NULL}));
    assert_says(t.out, "The answer is not known on this device.");
    assert_null(strstr(t.out, "Questions: 0 right"));
    shut(&t);
}

TEST(a_refusal_can_be_expected)
{
    static const char text[] = "> stats nobody\n@! *`nobody` after*\n> gen poisson2d 3 as P\n";
    struct talk t;
    for (enum out_mode mode = OUT_TEXT; mode <= OUT_CSV; mode++) {
        open_on_cpu(&t, mode);
        assert_true(lesson(&t, text));
        assert_non_null(session_matrix(&t.s, "P", NULL));
        shut(&t);
    }
}

/* Results that depend on the machine are left out; pictures are ordinary text. */
TEST(pictures_and_lines_are_expected)
{
    static const char text[] = "> gen poisson2d 4 as P\n@ P poisson2d 16 16 64 1 *\n> spy P\n@ spy P 16 x 16*\n"
                               "> layout ell of P\n@ row 1 0 1 2 5 * -1 4 -1 -1 *\n> rows P\n@ 4 8 *\n@ longest:*\n";
    struct talk t;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(lesson(&t, text));
    assert_says(t.out, " spy  P  16 x 16");
    assert_says(t.out, " ell  P  16 x 16");
    assert_says(t.out, " rows  P  16 x 16");
    shut(&t);
    open_on_cpu(&t, OUT_JSON); /* in JSON, the pictures are rows of data */
    assert_true(lesson(&t, text));
    shut(&t);
}

TEST(a_refused_row_gives_the_reason)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(lesson(&t, "> gen poisson2d 4 as P\n| matrix | of | what | p |\n| P | csr | variance | 3 |\n"));
    assert_true(isnan(number(&t, "lesson", 0, "ours")));
    assert_says(t.out, "stores no diagonals");
    shut(&t);
}

/* The lesson succeeds, or the error is about memory; in either case the session continues. */
static void allocations_fail(const char *text)
{
    bool ok = false;
    for (int64_t n = 1; !ok && n < 3000; n++) {
        struct talk t;
        open_on_cpu(&t, OUT_TEXT);
        write_file("lesson.txt", text, strlen(text));
        mem_fail_at(n);
        char line[160];
        snprintf(line, sizeof line, "lesson %s reps 1", path_of("lesson.txt"));
        ok = talk_line(&t, line) && !strstr(t.out, "memory");
        mem_fail_at(0);
        assert_true(ok || strstr(t.err, "memory") || strstr(t.out, "memory"));
        assert_true(talk_line(&t, "version"));
        shut(&t);
    }
    assert_true(ok);
}

TEST(every_allocation_may_fail)
{
    allocations_fail(timed);
    allocations_fail(solved);
    allocations_fail(asking);
}

/* If an allocation fails during a lesson with questions, the question, the saved answers or the hand-in file may be
   lost, but the session continues. */
TEST(every_allocation_of_a_reader_may_fail)
{
    char hand_in[160], here[4096];
    snprintf(hand_in, sizeof hand_in, "%s", path_of("kept.txt"));
    assert_true(getcwd(here, sizeof here) && !chdir(folder)); /* an answer may become the name of a hand-in file */
    for (int64_t n = 1; n < 400; n += 2) {
        struct talk t;
        unlink(hand_in);
        open_on_cpu(&t, OUT_TEXT);
        t.s.front->ask = type_next;
        t.s.interactive = true;
        typed = (const char *const[]){"250", "256", "a", "show", "", "30", "Ada", hand_in, NULL};
        *prompts = 0;
        write_file("lesson.txt", asking, strlen(asking));
        char line[160];
        snprintf(line, sizeof line, "lesson %s", path_of("lesson.txt"));
        mem_fail_at(n);
        bool ok = talk_line(&t, line); /* continues where the previous run ended */
        mem_fail_at(0);
        assert_true(ok || strstr(t.err, "memory") || strstr(t.out, "memory"));
        assert_true(talk_line(&t, "version"));
        shut(&t);
    }
    assert_int_equal(chdir(here), 0);
}

/* ---- the measures of the lessons' tables in other commands ---- */

/* The last two numbers but one, and the last, of a format's row below "Load balance": its pieces and thread blocks. */
static void pieces_and_blocks(const char *out, const char *format, long long *pieces, long long *blocks)
{
    char start[32], number[3][32];
    snprintf(start, sizeof start, "\n%s ", format);
    const char *table = strstr(out, "Load balance of the diagonal formats"), *row = table ? strstr(table, start) : NULL;
    assert_non_null(row);
    assert_int_equal(sscanf(row, " %*s %*s %*s %31s %31s %31s", number[0], number[1], number[2]), 3);
    *pieces = strtoll(number[0], NULL, 10);
    *blocks = strtoll(number[2], NULL, 10);
}

/* Only a thread block of drm takes exactly one piece: one of hdia or brcsd2 takes four blocks of 32 rows, one of brcsd1
   four pieces of at most 64 rows. dia's pieces have 128 rows, and its thread blocks 256, or 64 if there are few rows.
 */
TEST(thread_blocks_stand_beside_pieces)
{
    static const struct {
        const char *make, *format;
        long long pieces, blocks;
    } cases[] = {{"gen walk 101", "hdia", 161, 41},        {"gen walk 101", "drm", 41, 41},
                 {"gen walk 101", "brcsd1", 81, 21},       {"gen walk 101", "dia", 41, 81},
                 {"gen poisson2d 100", "hdia", 313, 79},   {"gen poisson2d 100", "drm", 156, 156},
                 {"gen poisson2d 100", "brcsd2", 313, 79}, {"gen poisson2d 100", "dia", 79, 40}};
    struct talk t;
    for (int i = 0; i < COUNT(cases); i++) {
        long long pieces, blocks;
        open_on_cpu(&t, OUT_TEXT);
        assert_true(talk_line(&t, cases[i].make));
        assert_true(talk_line(&t, "formats"));
        pieces_and_blocks(t.out, cases[i].format, &pieces, &blocks);
        assert_int_equal(pieces, cases[i].pieces);
        assert_int_equal(blocks, cases[i].blocks);
        shut(&t);
    }
}

/* formats.md: diag6 in hacks of 2 rows has 3, 3 and 2 diagonals: 6, 6 and 4 operands. */
TEST(measures_are_shown)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "load samples/diag6.mtx; convert hdia hack 2; spmv using hdia hack 2; spmv"));
    same(number(&t, "convert", 0, "operands"), 16);
    same(number(&t, "convert", 0, "pieces"), 3);
    same(number(&t, "convert", 0, "variance"), 8.0 / 9);
    same(number(&t, "spmv", 0, "operands"), 16);
    double ratio = number(&t, "spmv", 0, "gflops_padded") / number(&t, "spmv", 0, "gflops");
    assert_float_equal(ratio, 16.0 / 15, 1e-9);
    double less = number(&t, "spmv", 0, "gflops_padded_less_rows") / number(&t, "spmv", 0, "gflops_padded");
    assert_float_equal(less, (2 * 16.0 - 6) / (2 * 16.0), 1e-9);
    assert_true(isnan(number(&t, "spmv", 1, "operands")) && isnan(number(&t, "spmv", 1, "gflops_padded")));
    shut(&t);
    open_on_cpu(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/diag6.mtx; convert hdia hack 2; formats; bench hdia dia reps 1"));
    assert_says(t.out, "16 operands in 3 pieces, variance 0.8889");
    assert_says(t.out, "format        zero padding  operands  pieces  variance  thread blocks");
    assert_says(t.out, "padding included.");
    assert_says(t.out, "GFLOP/s  padded GFLOP/s");
    assert_says(t.out, "padded GFLOP/s is 2 P / t, and\n-N is (2 P - N) / t");
    /* the table of times above these lines is wider, and a terminal narrows it */
    assert_narrow(strstr(t.out, "Diagonal formats."));
    assert_true(talk_line(&t, "bench top 3 reps 1"));
    assert_null(strstr(t.out, "Diagonal formats.")); /* shown only if formats or kernels are named */
    shut(&t);
}

/* Every command that shows a format that chose among others also shows what each of the others would have padded. */
TEST(candidates_are_shown)
{
    static const char *const lines[] = {"convert dia-adaptive", "explain dia-adaptive", "layout dia-adaptive"};
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t;
        open_on_cpu(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen walk 101") && talk_line(&t, lines[i]));
        assert_says(t.out, "dia-adaptive uses brcsd1. Slots of padding: dia 1,015,152, brcsd1 16,640, brcsd2 9,017");
        shut(&t);
    }
}

TEST(totals_include_the_preparation)
{
    struct talk t;
    open_on_cpu(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 8; spmv reps 3; spmv kernel csr-merge on emu"));
    same(number(&t, "spmv", 0, "ready_us"), 0);
    same(number(&t, "spmv", 0, "total_us"), number(&t, "spmv", 0, "time_us"));
    assert_true(number(&t, "spmv", 1, "ready_us") > 0 && isnan(number(&t, "spmv", 1, "total_us")));
    shut(&t);
    open_on_cpu(&t, OUT_TEXT);
    struct run r[2] = {{.kernel = kernel_find("csr-merge"), .us = 2.5, .ready_us = 30, .ready_bytes = 200},
                       {.kernel = kernel_find("csr-cusp"), .us = 2.5}};
    talk_forget(&t);
    out_prepared(t.s.out, r, 2);
    assert_true(out_end(t.s.out, NULL));
    talk_refresh(&t);
    assert_says(t.out, "csr-merge        30.00   200 B  2.50     32.50\n");
    assert_null(strstr(t.out, "csr-cusp"));
    talk_forget(&t);
    assert_true(talk_line(&t, "gen poisson2d 8; spmv csr-merge on emu; bench csr-merge on emu"));
    assert_null(strstr(t.out, "on the device")); /* the emulator has no device time */
    shut(&t);
}

/* The default nw on a GPU is 0.5 * 8 blocks * 8 warps per multiprocessor: 132 * 32 = 4224. */
TEST(segments_depend_on_the_gpu)
{
    struct talk t;
    static struct fake fake;
    assert_true(fake_open(&fake, "like-cuda", "emu", 1 << 24, NULL));
    fake.dev.kind = DEV_CUDA;
    fake.dev.units = 132;
    open_on_cpu(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/thesis4.mtx; convert sc-csr"));
    assert_says(t.out, "(nw 2560)");
    assert_true(talk_line(&t, "device like-cuda; convert sc-csr; convert sc-csr nw 7"));
    assert_says(t.out, "(nw 4224)");
    assert_says(t.out, "(nw 7)");
    shut(&t);
}

static int in_a_folder(void **state)
{
    return mkdtemp(folder) && !setenv("XDG_STATE_HOME", folder, 1) ? 0 : -1;
}

static int without_it(void **state)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    assert_int_equal(system(line), 0);
    devices_close();
    return 0;
}

SUITE(.setup = in_a_folder, .teardown = without_it);
