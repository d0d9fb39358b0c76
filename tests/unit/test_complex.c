/* Complex matrices in commands: the names of precisions, and numbers that show both parts, and the complex
   matrices of the collection. */
#include "kits/complex_kit.h"
#include "kits/talk.h"
#include "kits/test.h"

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
        if (!isdigit((unsigned char)at[2]) || ends(text, at, "fitted, ")) continue;
        if (!ends(text, at, "complex ")) fail_msg("%s: %.60s", line, at > text + 30 ? at - 30 : text);
        n++;
    }
    return n;
}

TEST(precisions_are_complex)
{
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

TEST(find_shows_both_parts)
{
    struct talk t;
    load(&t, OUT_TEXT);
    talk_says(&t, "find rows of Z", "row  length  sum       |sum|  diagonal  |diagonal|  largest |a|\n");
    talk_close(&t);
    load(&t, OUT_JSON);
    talk_says(&t, "find rows sum > 4 of Z", "\"sum_real\":2.5,\"sum_imag\":-4,\"sum\":4.7169");
    talk_close(&t);
}

/* ---- print and let ---- */

TEST(print_and_let_show_both_parts)
{
    static const struct {
        const char *line, *part;
    } shown[] = {
        {"print row 1", "0: 1-0.5i   1:      5   2: 1-0.5i\n"},
        {"print col 2", "1: 1-0.5i   2:      6\n"},
        {"print 1 0", "H(1, 0) = 1-0.5i\n"},
        {"print 0:1 0:1 H", " 1  1-0.5i       5\n"},
        {"solve cg H on cpu; print x", "0: 1"},
        {"print b", "0: 5+0.5i   1:   7-1i   2: 7+0.5i\n"},
        {"print r", "b - A x after "},
        {"spmv H on cpu; print y", "0:  1.53014+2.32598i   1: 5.24036+0.450118i   2: 0.328823+3.51445i\n"},
        {"let B = H*H'; print B", " 0   17.25   9+4.5i     1.25\n"},
        {"let C = H + 2*I; print C", " 0       6  1+0.5i       .\n"},
        {"let D = 0.5*(H - H'); print D", " 1  0  0  0\n"},
    };
    struct talk t;
    load(&t, OUT_TEXT);
    assert_true(talk_line(&t, "use H"));
    for (int i = 0; i < COUNT(shown); i++) talk_says(&t, shown[i].line, shown[i].part);
    talk_close(&t);
}

/* ---- the collection ---- */

TEST(files_are_solved)
{
    check_complex_files("cpu");
    check_complex_files("emu");
}
