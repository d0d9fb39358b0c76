/* Complex matrices in commands: the names of precisions, and numbers that show both parts. */
#include "kits/talk.h"

#include <ctype.h>

static void load(struct talk *t, enum out_mode mode)
{
    talk_open(t, mode);
    assert_true(talk_line(t, "load tests/files/hermitian.mtx as H; load tests/files/complex.rb as Z"));
}

/* ---- precisions ---- */

/* Every line that names a precision. The machine of the cost model was measured in fp64. */
static const char *const lines[] = {
    "advise",
    "bench on emu",
    "convert ell",
    "count csr-scalar",
    "count",
    "explain dia",

    "layout csr slots 0",
    "lu on cpu",
    "lu all on cpu",
    "predict dia",
    "race csr-scalar coo-atomic on emu",
    "solve gmres",
    "race gmres cg",
    "spmv on emu",
    "trace csr-scalar",

    "whatif ell",
    "why not ell",
    "whatif format sell 2",
};

static bool ends(const char *text, const char *at, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(at - text) >= n && !strncmp(at - n, word, n);
}

static int check_names(const char *line, const char *text)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, "fp")); at++) {
        if (!isdigit((unsigned char)at[2]) || ends(text, at, "matrices, ")) continue;
        if (!ends(text, at, "complex ")) fail_msg("%s: %.60s", line, at > text + 30 ? at - 30 : text);
        n++;
    }
    return n;
}

static void precisions_are_complex(void **state)
{
    (void)state;
    for (int mode = OUT_TEXT; mode <= OUT_JSON; mode++) {
        struct talk t;
        load(&t, mode);
        for (int i = 0; i < COUNT(lines); i++) {
            talk_forget(&t);
            if (!talk_line(&t, lines[i])) fail_msg("%s: %s%s", lines[i], t.out, t.err);
            int names = check_names(lines[i], t.out);
            if (mode == OUT_JSON && !names) fail_msg("%s: no precision in %s", lines[i], t.out);
        }
        talk_close(&t);
    }
}

/* ---- find ---- */

static void find_shows_both_parts(void **state)
{
    struct talk t;
    (void)state;
    load(&t, OUT_TEXT);
    talk_says(&t, "find rows of Z", "row  length  sum       |sum|  diagonal  |diagonal|  largest |a|\n");
    talk_close(&t);
    load(&t, OUT_JSON);
    talk_says(&t, "find rows sum > 4 of Z", "\"sum_real\":2.5,\"sum_imag\":-4,\"sum\":4.7169");
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precisions_are_complex),
        cmocka_unit_test(find_shows_both_parts),
    };
    return cmocka_run_group_tests_name("complex", tests, NULL, NULL);
}
