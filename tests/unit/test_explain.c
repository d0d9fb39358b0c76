/* The experiments that test the causes of `explain`, on the counts of the emulator: each cause has an experiment, and
   on a small matrix that has the cause, the experiment removes the cause and keeps what it must keep. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "kits/experiments.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/gen.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *cause, *kernel, *generator;
    int64_t param[PARAMS_MAX];
} planted[] = {
    {"padding", "ell-padded", "brokendiag", {20000, 12}},
    {"long row", "csr-vector", "circuit", {20000, 2}},
    {"imbalance", "ell", "brokendiag", {100000, 12}},
    {"idle lanes", "csr-vector", "poisson2d", {200, 200}},
    {"uncoalesced loads", "csr-scalar", "stencil", {27, 36, 0, 0, 1}},
    {"x gather", "csr-stream", "random", {20000, 8, 0}},
    {"atomics", "coo-atomic", "stencil", {27, 20, 0, 0, 1}},
    {"atomics", "csc-vector", "circuit", {20000, 2}},
    {"atomics", "csr-light-vector", "stencil", {27, 20, 0, 0, 1}},
    {"bank conflicts", "csr-stream", "random", {5000, 32, 0}},
    {"launches", "csr-vector", "poisson2d", {100, 100}},
    {"waits", "csr-vector", "poisson2d", {64, 64}},
    {"bytes", "csr-stream", "poisson2d", {200, 200}},
};

static void make(int i, struct trial *t, const struct machine *g)
{
    struct err e = {0};
    *t = (struct trial){.kernel = kernel_find(planted[i].kernel), .real = P_F64};
    if (!generator_find(planted[i].generator)->make(planted[i].param, 1, NULL, &t->A, &e) || !trial_watch(t, g, &e))
        fail_msg("%s: %s", planted[i].generator, e.text);
}

/* What explain claims for the cause; a small cause has no claim. */
static struct finding claim_of(const char *cause, const struct trial *t)
{
    struct finding f[FINDINGS_MAX];
    int n = findings_of(t->k, &t->A, f);
    for (int i = 0; i < n; i++)
        if (!strcmp(f[i].cause, cause)) return f[i];
    return (struct finding){.cause = cause, .us = 0};
}

TEST(test_experiments_are_clean)
{
    struct machine g = machine_of(NULL);
    for (int i = 0; i < COUNT(planted); i++) {
        struct trial with, without = {0};
        struct err e = {0};
        struct trial_us left = {0};
        make(i, &with, &g);
        struct finding f = claim_of(planted[i].cause, &with);
        const struct experiment *x = experiment_find(&f, &with, &g, &without, &e);
        if (!x) fail_msg("%s of %s on %s: %s", f.cause, planted[i].kernel, planted[i].generator, e.text);
        if (x->rest && !x->rest(&with, &g, NULL, &left, &e)) fail_msg("%s: %s", f.cause, e.text);
        if (x->rest) assert_true(left.us > 0 && left.us < with.k->time.us);
        if (!x->rest) assert_true(experiment_removed(x, &with, &without) >= 1 - x->left);
        trial_free(&without);
        trial_free(&with);
    }
}

/* A new cause needs an experiment, and a line in `planted`. */
TEST(test_each_cause_has_an_experiment)
{
    for (int c = 0; finding_cause(c); c++) {
        int i = 0;
        while (i < COUNT(planted) && strcmp(planted[i].cause, finding_cause(c)) != 0) i++;
        if (!experiment_next(finding_cause(c), NULL)) fail_msg("there is no experiment for %s", finding_cause(c));
        if (i == COUNT(planted)) fail_msg("no matrix is planted for %s", finding_cause(c));
    }
    for (const struct experiment *x = experiments; x->cause; x++) {
        int c = 0;
        while (finding_cause(c) && strcmp(finding_cause(c), x->cause) != 0) c++;
        if (!finding_cause(c)) fail_msg("explain does not know the cause %s", x->cause);
    }
}

/* The claim is what the model says that the experiment gains. Of scattered x, each lane looks up a line of its own;
   atomics that do not meet still update one sector for each four numbers; lanes that have a row each look up as many
   lines in rows of equal length. */
static const struct {
    const char *cause, *kernel, *generator;
    int64_t param[PARAMS_MAX];
} judged[] = {
    {"x gather", "csr-ends", "random", {300000, 10, 0}},
    {"x gather", "ell", "random", {300000, 10, 0}},
    {"atomics", "coo-atomic", "band", {50000, 20, 100}},
    {"idle lanes", "csc-atomic", "random", {300000, 10, 0}},
};

TEST(test_claims_are_what_the_experiment_gains)
{
    struct machine g = machine_of(NULL);
    for (int i = 0; i < COUNT(judged); i++) {
        struct trial with = {.kernel = kernel_find(judged[i].kernel), .real = P_F64}, without;
        struct err e = {0};
        bool made = generator_find(judged[i].generator)->make(judged[i].param, 1, NULL, &with.A, &e);
        if (!made || !trial_watch(&with, &g, &e)) fail_msg("%s: %s", judged[i].generator, e.text);
        struct finding f = claim_of(judged[i].cause, &with);
        struct finding listed = f; /* a cause that is not listed has an experiment, too */
        listed.us = fmax(f.us, 0.05 * with.k->time.us);
        const struct experiment *x = experiment_find(&listed, &with, &g, &without, &e);
        if (!x) fail_msg("%s of %s on %s: %s", f.cause, judged[i].kernel, judged[i].generator, e.text);
        struct gained gained = {&with,
                                &without,
                                with.k->time.us,
                                without.k->time.us,
                                with.k->time.launch_us,
                                without.k->time.launch_us,
                                experiment_removed(x, &with, &without)};
        double us = x->gain(&gained);
        if (fabs(f.us - us) > 0.1 * us + 0.025 * with.k->time.us)
            fail_msg("%s of %s on %s: %.2f us claimed, %.2f us gained of %.2f", f.cause, judged[i].kernel,
                     judged[i].generator, f.us, us, with.k->time.us);
        trial_free(&without);
        trial_free(&with);
    }
}

/* The same matrix has the same counts, so that nothing was removed from it. */
TEST(test_nothing_removed_is_not_clean)
{
    struct machine g = machine_of(NULL);
    for (int i = 0; i < COUNT(planted); i++) {
        struct trial with;
        struct err e = {0};
        make(i, &with, &g);
        for (const struct experiment *x = NULL; (x = experiment_next(planted[i].cause, x));)
            if (!x->rest && experiment_is_clean(x, &with, &with, 1, &e))
                fail_msg("%s: an experiment without a change passes", planted[i].cause);
        trial_free(&with);
    }
}

/* Without atomics that meet, but with half of the entries: the experiment does not count. */
TEST(test_side_effects_are_found)
{
    struct machine g = machine_of(NULL);
    struct trial with, without = {.kernel = kernel_find("csr-cusp"), .real = P_F64};
    struct err e = {0};
    int i = 0;
    while (strcmp(planted[i].kernel, "csr-light-vector") != 0) i++;
    make(i, &with, &g);
    assert_true(generator_find("stencil")->make((int64_t[PARAMS_MAX]){9, 80, 100, 0, 1}, 1, NULL, &without.A, &e));
    assert_true(trial_watch(&without, &g, &e));
    const struct experiment *x = experiment_next("atomics", experiment_next("atomics", NULL));
    assert_false(experiment_is_clean(x, &with, &without, 1, &e));
    if (!strstr(e.text, "entries")) fail_msg("%s", e.text);
    trial_free(&without);
    trial_free(&with);
}
