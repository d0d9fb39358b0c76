/* Complex matrices in commands: the names of precisions, and numbers that show both parts, and the complex
   matrices of the collection. */
#include "base/base.h"
#include "files/load_info.h"
#include "kits/complex_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "session/session.h"

#include <ctype.h>

static void load(struct talk *t, enum out_mode mode)
{
    talk_open(t, mode);
    assert_true(talk_line(t, "load tests/files/hermitian.mtx as H; load tests/files/complex.rb as Z"));
}

/* ---- the conjugate transpose ---- */

static void add_complex(struct talk *t, int n, int nnz, const int *row, const int *col, const double *re,
                        const double *im)
{
    struct csr A;
    struct load_info info = {.file = "case"};
    assert_true(csr_from_triplets(&A, n, n, nnz, row, col, re, im, NULL, NULL));
    assert_true(session_add(&t->s, "C", &A, &info, NULL));
}

/* ||A - A'||_F / ||A||_F: A' is the conjugate transpose. */
TEST(test_distance_from_hermitian)
{
    static const int row[] = {0, 0, 1, 1, 1, 2, 2}, col[] = {0, 1, 0, 1, 2, 1, 2};
    static const double re[] = {2, 1, 1, 3, 1, 1, 4}, symmetric[] = {1, 0, 0, 1, 0, 0, 1},
                        hermitian[] = {0, 3, -3, 0, -5, 5, 0}, off[] = {0, 3, 3, 0, 0, 0, 0};
    static const struct {
        const double *im;
        const char *says;
    } cases[] = {{symmetric, "\"skew\":0.57735026918962"},
                 {hermitian, "\"skew\":0,"},
                 {off, "\"skew\":1.1881770515720"}}; /* 2 sqrt(3) / 6, 0 and sqrt(72 / 51) */
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(cases); i++) {
        add_complex(&t, 3, 7, row, col, re, cases[i].im);
        talk_says(&t, "check only values", cases[i].says);
        assert_true(talk_line(&t, "drop C"));
    }
    talk_close(&t);
}

/* The determinant of i I is -1, i or 1: a complex determinant has no sign. */
TEST(test_sign_of_a_determinant)
{
    static const int at[] = {0, 1, 2, 3};
    static const double re[4] = {0}, im[] = {1, 1, 1, 1};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int n = 2; n <= 4; n++) {
        add_complex(&t, n, n, at, at, re, im);
        talk_says(&t, "lu lu-serial", "\"det_sign\":null");
        assert_true(talk_line(&t, "drop C"));
    }
    add_complex(&t, 3, 2, at, at, re, im);
    talk_says(&t, "lu lu-serial", "\"det_sign\":0");
    talk_close(&t);
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
