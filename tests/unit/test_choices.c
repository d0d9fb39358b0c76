/* The ranking of kernels by `advise`: the fits of library kernels, and measurements on a GPU, whose times the tests
   state. */
#include "advice/advice.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "microscope/black_box.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "session/matrix.h"
#include "session/spmv.h"

#include <math.h>
#include <string.h>

enum { CALLS_MAX = 200, NEVER = -1 };

static struct scene {
    struct talk t;
    struct fake gpu;
    struct predictions a;
    struct choices c;
    struct spmv_request w;
    int calls, refused_call, stopped_call; /* counted from 0; NEVER */
    enum code stop_code;
    const struct kernel *called[CALLS_MAX];
    double us[CALLS_MAX]; /* the times that are "measured" */
} scene;

static void open_scene(int64_t products)
{
    struct scene *z = &scene;
    struct err e = {0};
    struct machine g;
    memset(z, 0, sizeof *z);
    z->refused_call = z->stopped_call = NEVER;
    for (int i = 0; i < CALLS_MAX; i++) z->us[i] = 1000;
    talk_open(&z->t, OUT_TEXT);
    assert_true(fake_open(&z->gpu, "fake-gpu", "emu", 1 << 26, &e));
    z->gpu.dev.kind = DEV_CUDA;
    z->gpu.dev.ceilings = machine_of(NULL).c;
    z->gpu.dev.ceilings.measured = true;
    assert_true(talk_line(&z->t, "gen poisson2d 12 as A; device fake-gpu"));
    struct matrix *m = session_matrix(&z->t.s, NULL, &e);
    assert_true(modeled_machine(&z->t.s, &g, &e) && g.here);
    z->w = (struct spmv_request){.matrix = m, .dev = &z->gpu.dev, .real = P_F64};
    assert_true(predictions_of(&z->t.s, m, NULL, 0, P_F64, &g, &z->a, &e));
    assert_true(choices_of(&z->t.s, m, &z->a, products, &z->c, &e));
    assert_true(choices_fit(&z->c, &z->t.s, m, P_F64, &e));
}

static void close_scene(void)
{
    choices_free(&scene.c);
    predictions_free(&scene.a);
    talk_close(&scene.t);
    devices_close();
}

/* Stands for spmv_measure. */
static bool state_time(struct session *s, const struct spmv_request *w, struct run *out, struct err *e)
{
    const struct kernel *k = w->kernel;
    int call = scene.calls++;
    scene.called[call] = k;
    if (call == scene.stopped_call) return (fail)(e, scene.stop_code, "stopped, as the test requested");
    if (call == scene.refused_call) return (fail)(e, E_MEMORY, "%s: too large, as the test requested", k->name);
    *out = (struct run){.kernel = k, .us = scene.us[call]};
    return true;
}

static bool measure(struct err *e)
{
    return choices_measure(&scene.c, &scene.t.s, &scene.w, state_time, e);
}

static int count_library(void)
{
    int n = 0;
    for (int i = 0; kernels[i]; i++) n += kernels[i]->vendor;
    return n;
}

static bool was_measured(const struct choice *c)
{
    return !isnan(c->measured_us);
}

static int count_measured(void)
{
    int n = 0;
    for (int i = 0; i < scene.c.n; i++) n += was_measured(&scene.c.c[i]);
    return n;
}

/* The first kernels of the advice are measured, and the fastest of them comes first. Kernels that were predicted to be
   slower come after all of them, in the order of the predictions, even if the predicted times are shorter than the
   measured times. */
TEST(the_first_predictions_are_measured)
{
    struct err e = {0};
    open_scene(0);
    memcpy(scene.us, (double[]){90, 30, 60}, 3 * sizeof *scene.us);
    if (!measure(&e)) fail_msg("%s", e.text);
    assert_int_equal(scene.calls, MEASURED_FIRST + count_library());
    for (int i = 0; i < MEASURED_FIRST; i++) assert_ptr_equal(scene.called[i], scene.a.k[i].kernel);
    static const int order[] = {1, 2, 0};
    for (int i = 0; i < COUNT(order); i++) assert_ptr_equal(scene.c.c[i].kernel, scene.called[order[i]]);
    for (int i = MEASURED_FIRST + 1; i < scene.c.n; i++) {
        const struct choice *before = &scene.c.c[i - 1], *c = &scene.c.c[i];
        if (!was_measured(before) && !was_measured(c) && isnan(before->least_us) == isnan(c->least_us))
            assert_true(choice_us(before) <= choice_us(c));
        assert_true(isnan(before->least_us) || !isnan(c->least_us)); /* lower bounds come last */
    }
    close_scene();
}

/* With a number of SpMVs, the cost of the conversion counts beside the measured time. */
TEST(conversions_count_beside_measured_times)
{
    struct err e = {0};
    open_scene(10);
    for (int i = 0; i < scene.c.n; i++) {
        const struct choice *c = &scene.c.c[i];
        assert_true(c->ranked_us == (isnan(c->least_us) ? choice_total(&scene.c, c) : INFINITY));
    }
    const struct kernel *first = scene.c.c[0].kernel;
    assert_true(measure(&e));
    if (scene.c.c[0].model) assert_ptr_equal(scene.called[0], first);
    for (int i = 1; i < scene.c.n; i++) {
        const struct choice *before = &scene.c.c[i - 1], *c = &scene.c.c[i];
        assert_true(before->ranked_us <= c->ranked_us);
        if (was_measured(c)) assert_true(c->ranked_us == c->prep_us + 10 * c->measured_us);
    }
    close_scene();
}

/* A kernel that cannot be measured is refused with the reason, and the next prediction is measured in its place. */
TEST(a_refused_kernel_is_replaced)
{
    struct err e = {0};
    open_scene(0);
    int n = scene.c.n, refused = scene.c.nrefused;
    scene.refused_call = 1;
    assert_true(measure(&e));
    assert_int_equal(scene.calls, MEASURED_FIRST + 1 + count_library());
    assert_int_equal(scene.c.nrefused, refused + 1);
    assert_string_equal(scene.c.refused[refused].name, scene.a.k[1].kernel->name);
    assert_string_equal(scene.c.refused[refused].why, "too large, as the test requested");
    assert_true(scene.c.n >= n - 1);
    for (int i = 0; i < scene.c.n; i++) assert_ptr_not_equal(scene.c.c[i].kernel, scene.called[1]);
    close_scene();
}

/* After Ctrl-C, and if the device is lost, the kernels that were measured before it are ranked. */
TEST(what_was_measured_is_kept)
{
    static const enum code codes[] = {E_CANCELLED, E_DEVICE};
    for (int i = 0; i < COUNT(codes); i++) {
        struct err e = {0};
        open_scene(0);
        int n = scene.c.n;
        scene.stopped_call = 2;
        scene.stop_code = codes[i];
        scene.gpu.dev.lost = codes[i] == E_DEVICE;
        assert_false(measure(&e));
        assert_int_equal(e.code, codes[i]);
        assert_int_equal(scene.c.n, n);
        assert_int_equal(count_measured(), 2);
        scene.gpu.dev.lost = false;
        close_scene();
    }
}

/* Is one of our kernels of f predicted? */
static bool is_predicted(const struct format *f)
{
    for (int i = 0; i < scene.a.n; i++)
        if (scene.a.k[i].kernel->format == f) return true;
    return false;
}

/* Library kernels have fitted times, except if their format is refused. */
TEST(library_kernels_are_fitted)
{
    open_scene(0);
    for (const struct black_box *b = black_boxes; b->name; b++) {
        const struct choice *c = NULL;
        for (int i = 0; i < scene.c.n; i++)
            if (scene.c.c[i].box == b) c = &scene.c.c[i];
        assert_non_null(c);
        assert_null(c->model);
        assert_true(c->predicted_us > b->launch_us);
        bool converted = b->format->interchange || is_predicted(b->format);
        assert_true(converted ? c->prep_us >= 0 : isnan(c->prep_us));
    }
    for (int i = 1; i < scene.c.n; i++) assert_true(scene.c.c[i - 1].ranked_us <= scene.c.c[i].ranked_us);
    close_scene();
}

TEST(fits_are_marked)
{
    struct talk *t = &scene.t;
    open_scene(0);
    talk_says(t, "advise predicted", "Fits to times measured on an NVIDIA H200 in fp64, not models: cusparse-");
    assert_non_null(strstr(t->out, "None of these kernels was measured on this matrix"));
    assert_null(strstr(t->out, "Measured:"));
    talk_says(t, "device emu; advise", "mean error");
    talk_says(t, "load tests/golden/complex.mtx as Z; advise Z",
              "cusparse-csr1: its time was fitted to real matrices only");
    close_scene();
}
