/* `advise` on cuda:0: the first predictions and every library kernel that fits are measured and ranked by their
   measured times. */
#include "advice/advice.h"
#include "base/array.h"
#include "kits/talk.h"
#include "machine/device.h"
#include "machine/kernel.h"

#include <cjson/cJSON.h>
#include <math.h>

enum { ROWS_MAX = 200 };

static struct talk t;
static cJSON *row[ROWS_MAX];
static int nrows;

/* Run a line and keep the rows that it prints. */
static void advise(const char *line)
{
    talk_forget(&t);
    if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
    nrows = 0;
    for (const char *at = t.out; *at && nrows < ROWS_MAX; at += strcspn(at, "\n") + 1)
        if ((row[nrows] = cJSON_ParseWithLength(at, strcspn(at, "\n")))) nrows++;
}

static void forget_rows(void)
{
    for (int i = 0; i < nrows; i++) cJSON_Delete(row[i]);
}

static const char *text_of(const cJSON *r, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(r, key));
    return text ? text : "";
}

/* NaN: null */
static double number_of(const cJSON *r, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(r, key));
}

static bool is_ranked(const cJSON *r)
{
    return cJSON_IsTrue(cJSON_GetObjectItem(r, "fits"));
}

static const cJSON *row_of(const struct kernel *k)
{
    for (int i = 0; i < nrows; i++)
        if (!strcmp(text_of(row[i], "kernel"), k->name)) return row[i];
    fail_msg("%s is neither ranked nor refused", k->name);
    return NULL;
}

/* How many of our kernels were measured? The measured times of all kernels ascend. */
static int count_own(void)
{
    double last = 0;
    int n = 0;
    for (int i = 0; i < nrows; i++) {
        double us = number_of(row[i], "measured_us");
        if (!is_ranked(row[i]) || isnan(us)) continue;
        assert_true(us >= last);
        last = us;
        n += !kernel_find(text_of(row[i], "kernel"))->vendor;
    }
    return n;
}

static void check(const char *matrix)
{
    assert_true(talk_line(&t, matrix));
    advise("advise");
    for (int i = 0; kernels[i]; i++) {
        const cJSON *r = kernels[i]->vendor ? row_of(kernels[i]) : NULL;
        if (r && is_ranked(r)) assert_true(number_of(r, "measured_us") > 0);
        if (r && !is_ranked(r)) print_message("%s: %s\n", kernels[i]->name, text_of(r, "reason"));
    }
    assert_true(count_own() >= MEASURED_FIRST);
    print_message("%s: %s, %.2f us\n", matrix, text_of(row[0], "kernel"), number_of(row[0], "measured_us"));
    assert_true(number_of(row[0], "measured_us") > 0);
    forget_rows();
    advise("advise predicted");
    assert_int_equal(count_own(), 0);
    forget_rows();
}

static void the_first_and_the_library_are_measured(void **state)
{
    static const char *const matrices[] = {"gen poisson2d 100", "gen circuit 20000 2", "gen fem 30",
                                           "gen random 3000 9"};
    if (!device_count(DEV_CUDA)) {
        print_message("skip: there is no GPU\n");
        return;
    }
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "device cuda:0"));
    for (int i = 0; i < COUNT(matrices); i++) check(matrices[i]);
    for (int i = 0; kernels[i]; i++) {
        char line[64];
        snprintf(line, sizeof line, "why not %s", kernels[i]->name);
        if (!kernels[i]->vendor) continue;
        assert_false(talk_line(&t, line));
        if (!strstr(t.out, "`advise` ranks it")) fail_msg("%s: %s", line, t.out);
    }
    talk_close(&t);
    devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_and_the_library_are_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
