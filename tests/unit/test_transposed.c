/* A' x of the commands spmv and bench: every kernel gives the product with the transpose; the csc of A' uses the arrays
   of the csr of A, on the host and on devices; and the output shows what storing A' takes. */
#include "formats/format.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/vectors.h"

#include <math.h>

enum { ROWS = 30, COLS = 20 };

static struct vector vector_named(struct talk *t, const char *name, int64_t n)
{
    struct vector v;
    struct err e = {0};
    if (!vector_of(&t->s, name, &v, &e)) fail_msg("%s: %s", name, e.text);
    assert_int_equal(v.n, n);
    return v;
}

/* A' x by columns, without csr_transpose: value is y[col], magnitude is the sum of the absolute products. */
static void product_of(const struct csr *A, const double *x, double alpha, double beta, double *value,
                       double *magnitude)
{
    for (int64_t j = 0; j < A->cols; j++) magnitude[j] = fabs(value[j] = beta);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double term = alpha * A->val[k] * x[i];
            value[A->col[k]] += term;
            magnitude[A->col[k]] += fabs(term);
        }
}

static void check_kernel(struct talk *t, const struct kernel *k, bool single, double alpha, double beta)
{
    char line[200];
    double want[COLS], magnitude[COLS];
    snprintf(line, sizeof line, "spmv B kernel %s on %s reps 1", k->name, k->host ? "cpu" : "emu");
    if (!talk_line(t, line)) return; /* the kernel does not fit the transpose */
    snprintf(line, sizeof line, "spmv A transposed kernel %s alpha %g beta %g y0 ones on %s reps 1 %s", k->name, alpha,
             beta, k->host ? "cpu" : "emu", single ? "f32" : "f64");
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    struct vector x = vector_named(t, "x", ROWS), y = vector_named(t, "y", COLS);
    product_of(&t->s.current->csr, x.value, alpha, beta, want, magnitude);
    for (int j = 0; j < COLS; j++)
        if (!(fabs(y.value[j] - want[j]) <= (single ? 1e-5 : 1e-13) * magnitude[j]))
            fail_msg("%s: y[%d] is %g, not %g", line, j, y.value[j], want[j]);
    vector_free(&x);
    vector_free(&y);
}

TEST(every_kernel_multiplies_by_the_transpose)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 30 3 20 as A; transpose A as B; use A"));
    for (int k = 0; kernels[k]; k++) {
        if (kernels[k]->vendor) continue;
        check_kernel(&t, kernels[k], k % 2, 1, 0);
        check_kernel(&t, kernels[k], (k + 1) % 2, -1.5, 0.5);
    }
    talk_close(&t);
}

static const struct product *stored_as(const struct matrix *m, const char *format)
{
    const struct product *p = m->products;
    while (p && strcmp(p->S.format->name, format)) p = p->next;
    return p;
}

/* Of A' in every format, only those with a `transposed` use arrays of A. */
TEST(formats_of_the_transpose_share_arrays)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 30 3 20 as A; bench transposed on cpu reps 1"));
    const struct matrix *A = t.s.current;
    int shared = 0;
    assert_non_null(A->transposed);
    for (const struct product *p = A->transposed->products; p; p = p->next) {
        const struct product *lender = p->S.format->transposed ? stored_as(A, p->S.format->transposed->name) : NULL;
        assert_ptr_equal(p->lender, lender);
        for (int k = 0; lender && k < p->S.narrays; k++) {
            assert_int_equal(p->S.a[k].n, lender->S.a[k].n);
            assert_ptr_equal(p->S.a[k].data, lender->S.a[k].data);
            assert_ptr_equal(p->mat[0].ptr[k], lender->mat[0].ptr[k]);
        }
        if (lender) assert_true(p->prep_us == 0);
        shared += lender != NULL;
    }
    assert_true(shared > 0);
    talk_says(&t, "drop A; undo; spmv transposed csc on cpu reps 1", "A' stored            no");
    talk_close(&t);
}

TEST(output_shows_what_the_transpose_takes)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 30 3 20 as A; spmv A on cpu reps 1"));
    assert_null(strstr(t.out, "A'"));
    talk_forget(&t);
    talk_says(&t, "spmv A transposed on cpu reps 2", "A' stored            no, the kernel reads the csr of A");
    assert_non_null(strstr(t.out, "y                    A' x\n"));
    assert_non_null(strstr(t.out, "A' stored            1.16 kB"));
    assert_non_null(strstr(t.out, "transposed in"));
    talk_says(&t, "spmv transposed alpha -2 beta 1 on emu", "y                    -2 A' x + y0 (y0 random)");
    talk_says(&t, "bench transposed csc csr on cpu reps 2", "\ny = A' x\n");
    assert_non_null(strstr(t.out, "The csc of A' has the arrays of the csr of A"));
    assert_non_null(strstr(t.out, "Other formats store A' beside A. Transposing took "));
    talk_says(&t, "print y", "20 elements, A' x by ");
    talk_says(&t, "bench transposed csc csr on emu", "The csc of A' has the arrays of the csr of A");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen random 30 3 20 as A; spmv transposed csc on cpu reps 1"));
    assert_non_null(strstr(t.out, "\"matrix\":\"A\",\"rows\":30,\"cols\":20,"));
    assert_non_null(strstr(t.out, "\"transposed\":true,\"transpose_bytes\":0,\"transpose_us\":0"));
    talk_says(&t, "spmv on cpu reps 1", "\"transposed\":false,\"transpose_bytes\":null,\"transpose_us\":null");
    talk_close(&t);
}

TEST(other_matrices_have_a_transpose)
{
    static const char *const lines[] = {
        "load tests/golden/empty.mtx as E; bench transposed on cpu reps 1; bench transposed on emu",
        "load tests/golden/complex.mtx as Z; bench transposed on cpu reps 1; bench transposed on emu",
        "load tests/golden/nan.mtx as N; spmv transposed on cpu; spmv transposed on emu",
        "gen poisson2d 9 as P; bench transposed on emu; bench P on emu; drop all",
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(lines); i++)
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.err);
    assert_true(!t.s.runs_of && !t.s.nruns);
    talk_close(&t);
}

/* The parts of A on the members of a device do not serve A'. */
TEST(members_get_parts_of_the_transpose)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 40 30 200 as A; spmv A on emu*2"));
    talk_says(&t, "spmv A transposed csc on emu*2", "y                    A' x\n");
    talk_says(&t, "spmv A transposed csr on emu*2 f32", "y                    A' x\n");
    assert_true(talk_line(&t, "bench A transposed on emu*2; spmv A transposed on emu*3; spmv A transposed on emu"));
    assert_true(talk_line(&t, "drop A; undo; spmv A transposed on emu*2"));
    talk_close(&t);
}

/* If the arrays of A leave a device, the borrowed copy of A' leaves it too. */
TEST(borrowed_arrays_leave_with_their_owner)
{
    static struct fake f;
    struct talk t;
    struct err e = {0};
    assert_true(fake_open(&f, "fake0", "cpu", 1 << 20, &e));
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 30 3 20 as A"));
    struct matrix *A = t.s.current, *T = session_transposed(A, &f.dev, &e);
    assert_true(T && session_transposed(A, &f.dev, &e) == T);
    struct product *csc = session_product(&t.s, form_of(T, format_find("csc"), NULL, P_F64), &e);
    struct product *ell = session_product(&t.s, form_of(A, format_find("ell"), NULL, P_F64), &e);
    assert_true(csc && csc->lender && csc->lender->borrower == csc && ell);
    assert_non_null(session_mat(&t.s, csc, &f.dev, &e));
    assert_int_equal(csc->lender->nmats, 1);
    int64_t held = f.used;
    f.budget = f.used; /* the next matrix evicts the others */
    assert_non_null(session_mat(&t.s, ell, &f.dev, &e));
    assert_true(held > 0 && f.used <= held && csc->nmats == 0 && csc->lender->nmats == 0);
    f.budget = 1 << 20;
    assert_non_null(session_mat(&t.s, csc, &f.dev, &e));
    assert_true(talk_line(&t, "drop A"));
    talk_close(&t);
    assert_int_equal(f.used, 0);
}
