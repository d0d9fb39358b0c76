/* Orders of the rows by predicted time: `reorder locality`, `whatif reorder locality` and `advise`; and solves in
   another order. */
#include "advice/orders.h"
#include "advice/predicted.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/reorder.h"
#include "microscope/gpu_profile.h"
#include "session/matrix.h"
#include "solvers/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void try_all(struct talk *t, bool quick, struct orders_tried *tried)
{
    struct err e = {0};
    struct machine g;
    if (!modeled_machine(&t->s, &g, &e) || !orders_try(&t->s, t->s.current, NULL, P_F64, &g, quick, tried, &e))
        fail_msg("%s", e.text);
}

/* Component after component, elasticity is faster in another order; the matrix that is kept is in this order. */
TEST(the_best_order_of_elasticity)
{
    struct talk t;
    struct orders_tried tried;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen elasticity 16 components 1"));
    try_all(&t, true, &tried);
    const struct csr *A = &t.s.current->csr;
    assert_int_equal(tried.n, 3);
    assert_null(tried.at[0].order);
    assert_non_null(tried.best->order);
    assert_true(tried.best->us * 1.03 < tried.at[0].us);
    for (int i = 1; i < tried.n; i++)
        assert_true(tried.at[i].us >= tried.best->us && tried.at[i].order_us > 0 && tried.at[i].move_us > 0);
    assert_true(orders_pay_after(tried.at, tried.best) < INFINITY);
    struct csr moved;
    int *perm = malloc((size_t)A->rows * sizeof *perm);
    assert_non_null(perm);
    assert_true(reorder_find(tried.best->order, A, perm, NULL, NULL));
    assert_memory_equal(perm, orders_best_perm(&tried), (size_t)A->rows * sizeof *perm);
    assert_true(reorder_apply(&moved, A, perm, NULL, NULL));
    assert_true(csr_equal(&moved, &tried.moved));
    csr_free(&moved);
    free(perm);
    orders_free(&tried);
    talk_close(&t);
}

/* Orders that are the same are predicted once, and a small gain moves no rows. */
TEST(a_good_order_stays)
{
    struct talk t;
    struct orders_tried tried;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30 as P"));
    try_all(&t, true, &tried);
    assert_true(tried.best == tried.at && !tried.moved.rows && !orders_best_perm(&tried));
    assert_true(tried.n == 3 && tried.at[2].as == &tried.at[1] && tried.at[2].us == tried.at[1].us);
    orders_free(&tried);
    talk_says(&t, "reorder locality", "blocks gives the same order as rcm.");
    talk_says(&t, "reorder locality", "in the order that P has: no matrix was made");
    assert_string_equal(t.s.current->name, "P");
    talk_says(&t, "reorder locality as Q", "the new matrix is a copy");
    assert_string_equal(t.s.current->name, "Q");
    assert_int_equal(t.s.current->csr.nnz, 4380);
    talk_close(&t);
}

TEST(what_it_costs)
{
    struct order_tried now = {.us = 10, .prep_us = 100}, t = {.us = 8, .order_us = 300, .move_us = 50, .prep_us = 151};
    assert_true(orders_pay_after(&now, &t) == 201);
    t.prep_us = 0, t.order_us = 20;
    assert_true(orders_pay_after(&now, &t) == 0);
    t.us = 10;
    assert_true(isinf(orders_pay_after(&now, &t)));
}

TEST(commands)
{
    struct talk t;
    const char *name = reorder_metis_name;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen elasticity 16 components 1 as E"));
    talk_says(&t, "whatif reorder locality", "Nothing was kept");
    assert_string_equal(t.s.current->name, "E");
    talk_says(&t, "whatif format csr reorder locality f32", "csr");
    talk_refuses(&t, "whatif format sell 8 reorder locality", "parameters that suit them best");
    reorder_metis_name = "libmetis-that-is-not-there.so.5";
    talk_says(&t, "reorder locality as B", "metis needs libmetis-that-is-not-there.so.5, which is not installed");
    reorder_metis_name = name;
    assert_string_equal(t.s.current->name, "B");
    talk_says(&t, "check only pattern", "symmetric");
    assert_true(talk_line(&t, "gen random 9 2 12"));
    talk_refuses(&t, "reorder locality", "needs a square matrix");
    talk_refuses(&t, "whatif reorder locality", "needs a square matrix");
    assert_true(talk_line(&t, "gen random 9 0"));
    talk_refuses(&t, "reorder locality", "no entries");
    talk_close(&t);
}

/* Only values, x and y have to be moved in any order; a product that takes little longer cannot gain. */
TEST(advise_proposes_an_order)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen elasticity 20 components 1 as E; gen elasticity 12 as N; gen poisson3d 30 as P"));
    talk_says(&t, "advise E predicted top 1", "`reorder blocks`, then `convert ");
    talk_says(&t, "advise E predicted top 1", "times as fast as ");
    talk_says(&t, "advise E predicted top 1", "pays after about ");
    static const char *const none[] = {"advise E predicted top 1 for 2 products", "advise N predicted top 1",
                                       "advise P predicted top 1"};
    for (int i = 0; i < COUNT(none); i++) {
        talk_forget(&t);
        assert_true(talk_line(&t, none[i]));
        if (strstr(t.out, "reorder")) fail_msg("%s: %s", none[i], t.out);
    }
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen elasticity 20 components 1"));
    talk_says(&t, "advise predicted top 1", "\"order\":\"blocks\",\"best\":true");
    talk_close(&t);
}

/* ---- solves in another order ---- */

TEST(exchanges_permute_and_go_back)
{
    static const int perm[] = {3, 0, 5, 1, 4, 2};
    int swap[6], x[] = {10, 11, 12, 13, 14, 15};
    assert_true(reorder_swaps(perm, 6, swap, NULL));
    for (int i = 0; i < 6; i++) {
        int t = x[i];
        x[i] = x[swap[i]];
        x[swap[i]] = t;
    }
    for (int i = 0; i < 6; i++) assert_int_equal(x[i], 10 + perm[i]);
    for (int i = 6; i-- > 0;) {
        int t = x[i];
        x[i] = x[swap[i]];
        x[swap[i]] = t;
    }
    for (int i = 0; i < 6; i++) assert_int_equal(x[i], 10 + i);
}

static void solved(struct talk *t, const char *line, double *x, int64_t n)
{
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    struct solve *v = t->s.solve;
    if (v->reason != CONVERGED || v->n != n || !solve_fetch_x(v, NULL)) fail_msg("%s: %s", line, v->why);
    memcpy(x, v->result.x, (size_t)n * sizeof *x);
}

/* x is that of A x = b in the order of A, for every b and x0, on the host and on the emulator; complex ones too. */
TEST(a_reordered_solve_gives_x_in_the_order_of_the_matrix)
{
    static const struct {
        const char *matrix;
        int n;
        const char *solve;
    } table[] = {
        {"gen elasticity 5 components 1 as A", 375, "cg A on cpu"},
        {"gen elasticity 5 components 1 as A", 375, "cg A on cpu precond ic0 x0 random"},
        {"gen elasticity 3 components 1 as A", 81, "gmres A on emu precond ilu0"},
        {"gen elasticity 3 components 1 as A", 81, "bicgstab A on emu x0 ones precond bjacobi block 3"},
        {"gen circuit 300 as A", 300, "gmres A on cpu precond jacobi"},
        {"gen elasticity 3 components 1 as A", 81, "cg A on cpu refine fp32"},
        {"load tests/files/hermitian.mtx as C; let A = C + 40*I", 0, "gmres A on cpu"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        static const char *const orders[] = {"blocks", "rcm", "degree"};
        struct talk t;
        char line[200];
        talk_open(&t, OUT_JSON);
        assert_true(talk_line(&t, table[i].matrix));
        int64_t n = solve_numbers(&t.s.current->csr);
        double x[375], y[375];
        assert_true(n <= COUNT(x) && (!table[i].n || n == table[i].n));
        snprintf(line, sizeof line, "solve %s b random tol 1e-12", table[i].solve);
        solved(&t, line, x, n);
        for (int o = 0; o < COUNT(orders); o++) {
            snprintf(line, sizeof line, "solve %s b random tol 1e-12 reorder %s", table[i].solve, orders[o]);
            solved(&t, line, y, n);
            double most = 0, apart = 0;
            for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(x[k])), apart = fmax(apart, fabs(x[k] - y[k]));
            if (!(apart < 1e-8 * most)) fail_msg("%s: x differs by %g of %g", line, apart, most);
            if (!strstr(t.out, "\"reordered\":\"")) fail_msg("%s: %s", line, t.out);
        }
        talk_close(&t);
    }
}

/* A paused solve shows x, b and r in the order of the matrix; it goes back, on, and to another preconditioner. */
TEST(a_reordered_solve_pauses_and_changes)
{
    struct talk t;
    char b[4000];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen elasticity 4 components 1 as A; solve cg A on cpu b random; print b 0:9"));
    const char *shown = strstr(t.out, "b of A");
    assert_non_null(shown);
    snprintf(b, sizeof b, "%s", shown);
    assert_true(talk_line(&t, "solve cg A on cpu b random reorder blocks step; step 5"));
    talk_forget(&t);
    assert_true(talk_line(&t, "print b 0:9"));
    assert_non_null(strstr(t.out, b));
    assert_true(talk_line(&t, "back 2; change precond ic0; step 1; print x 0:3; print r 0:3; continue"));
    assert_int_equal(t.s.solve->reason, CONVERGED);
    assert_true(t.s.solve->result.residual_true < 2e-8);
    assert_true(talk_line(&t, "solve cg A on cpu scaled reorder rcm"));
    assert_true(t.s.solve->reason == CONVERGED && t.s.solve->scaling.row && t.s.solve->scaling.order);
    assert_true(talk_line(&t, "change tol 1e-10; continue; solve cg A on cpu reorder rcm; drop A; undo; solve cg A"));
    talk_refuses(&t, "solve cg A reorder locality", "needs one ordering");
    talk_refuses(&t, "solve A reorder rcm", "needs a solver");
    talk_refuses(&t, "solve direct A reorder rcm", "`reorder` is for iterative solvers");
    talk_refuses(&t, "race cg gmres A reorder rcm", "reorder");
    talk_close(&t);
}
