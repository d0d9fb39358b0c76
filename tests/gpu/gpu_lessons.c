/* Lessons on cuda:0: all lessons of the program run, and each row of a table has the time of the kernel that it names,
   measured where this kernel runs, or a reason why it has no number. */
#include "base/array.h"
#include "kits/talk.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "ui/run.h"

#include <cjson/cJSON.h>
#include <glob.h>
#include <math.h>

static const char device[] = "cuda:0";

static void open_here(struct talk *t, enum out_mode mode)
{
    struct err e = {0};
    char line[64];
    talk_open(t, mode);
    assert_true(ui_attach(&t->s, &e));
    snprintf(line, sizeof line, "device %s", device);
    assert_true(talk_line(t, line));
    talk_forget(t);
}

static void shut(struct talk *t)
{
    ui_detach(&t->s);
    talk_close(t);
}

static const char *text_of(const cJSON *row, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(row, key));
    return text ? text : "";
}

/* Where a row with one kernel was measured. */
static void check_row(const char *path, const cJSON *row)
{
    bool any = cJSON_IsNumber(cJSON_GetObjectItem(row, "ours"));
    const struct kernel *k = kernel_find(text_of(row, "kernel")), *named = kernel_find(text_of(row, "of"));
    bool counted = !strcmp(text_of(row, "how"), "counted");
    if (strstr(text_of(row, "how"), "predicted")) fail_msg("%s: a prediction on a GPU: %s", path, text_of(row, "of"));
    if (k && named && k != named) fail_msg("%s: %s answers for %s", path, k->name, named->name);
    if (!any || !k || counted) return;
    const char *on = k->host ? "cpu" : device;
    if (strcmp(text_of(row, "device"), on)) fail_msg("%s: %s on %s", path, k->name, text_of(row, "device"));
}

static int check_rows(const struct talk *t, const char *path)
{
    int n = 0;
    for (const char *at = t->out, *end; (end = strchr(at, '\n')); at = end + 1) {
        cJSON *row = cJSON_ParseWithLength(at, (size_t)(end - at));
        assert_non_null(row);
        bool is_row = cJSON_GetObjectItem(row, "ours") != NULL;
        if (is_row) check_row(path, row);
        n += is_row;
        cJSON_Delete(row);
    }
    return n;
}

static void the_lessons_run(void **state)
{
    glob_t found;
    int rows = 0;
    assert_int_equal(glob("samples/lessons/*.txt", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char line[300];
        struct talk t;
        open_here(&t, OUT_JSON);
        snprintf(line, sizeof line, "lesson %s reps 1", found.gl_pathv[i]);
        if (!talk_line(&t, line)) fail_msg("%s: %s%s", found.gl_pathv[i], t.err, t.out);
        rows += check_rows(&t, found.gl_pathv[i]);
        shut(&t);
    }
    assert_true(rows > 200);
    globfree(&found);
}

/* Run a lesson with this text. */
static void run_text(struct talk *t, const char *text, int reps)
{
    char name[] = "/tmp/warpspy-gpu-lesson-XXXXXX", line[128];
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_true(f && fputs(text, f) >= 0 && !fclose(f));
    snprintf(line, sizeof line, "lesson %s reps %d", name, reps);
    bool ok = talk_line(t, line);
    remove(name);
    if (!ok) fail_msg("%s", t->err);
}

/* A table with one row for each kernel. */
static void each_kernel_answers_for_itself(void **state)
{
    static char text[32768];
    struct talk t;
    size_t n = (size_t)snprintf(text, sizeof text, "> gen poisson2d 40 as P\n| matrix | of | what | p |\n");
    for (int i = 0; kernels[i]; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "| P | %s | us f32 | - |\n", kernels[i]->name);
    assert_true(n < sizeof text);
    open_here(&t, OUT_JSON);
    run_text(&t, text, 3);
    assert_true(check_rows(&t, "each kernel") > 40);
    shut(&t);
}

/* The second table shares a measurement with the first, but has no row that was measured on cpu. */
static void remarks_name_the_devices_of_the_rows(void **state)
{
    static const char text[] = "> gen poisson2d 40 as P\n| matrix | of | what | p |\n| P | jacobi | speed-up | - |\n\n"
                               "Without the host:\n\n| matrix | of | what | p |\n| P | jacobi | iteration us | - |\n"
                               "| P | sym | symmetrize ms | - |\n";
    struct talk t;
    open_here(&t, OUT_TEXT);
    run_text(&t, text, 3);
    const char *second = strstr(t.out, "Without the host");
    assert_non_null(second);
    assert_true(strstr(t.out, "Measured on cpu: ") && strstr(t.out, "Measured on cpu: ") < second);
    assert_non_null(strstr(second, "Measured on cuda:0: "));
    assert_null(strstr(second, "Measured on cpu: "));
    shut(&t);
}

static int end(void **state)
{
    devices_close();
    return 0;
}

/* The spread of the nth row of a table; NaN: not known. */
static double spread_of(const struct talk *t, int nth)
{
    for (const char *at = t->out, *end; (end = strchr(at, '\n')); at = end + 1) {
        cJSON *row = cJSON_ParseWithLength(at, (size_t)(end - at));
        const cJSON *spread = cJSON_GetObjectItem(row, "spread");
        double value = cJSON_IsNumber(spread) ? spread->valuedouble : NAN;
        bool is_row = cJSON_GetObjectItem(row, "ours") != NULL;
        cJSON_Delete(row);
        if (is_row && !nth--) return value;
    }
    fail_msg("too few rows in %s", t->out);
    return NAN;
}

/* A preparation is timed once: a total that includes one has no spread, and another total has that of the product. */
static void a_total_claims_no_spread_of_a_single_time(void **state)
{
    struct talk t;
    open_here(&t, OUT_JSON);
    run_text(&t,
             "> gen poisson2d 300 as P\n| matrix | of | what | p |\n| P | csr-merge | total us | - |\n"
             "| P | csr-cusp | total us | - |\n| P | csr-cusp | us | - |\n",
             20);
    double total = spread_of(&t, 1), product = spread_of(&t, 2);
    assert_true(isnan(spread_of(&t, 0)));
    assert_true(total == product || (isnan(total) && isnan(product)));
    shut(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_answers_for_itself),
        cmocka_unit_test(the_lessons_run),
        cmocka_unit_test(a_total_claims_no_spread_of_a_single_time),
        cmocka_unit_test(remarks_name_the_devices_of_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
