/* The time to draw one step of a traced warp, and the time of the trace itself, at 10^7 nonzeros. For three screen
   sizes, the mean and the maximum processor time of a redraw over all steps are printed. Usage: bench_trace
   [KERNEL]... */
#include "advice/traced.h"
#include "base/clock.h"
#include "base/err.h"
#include "language/run_lines.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "ui/canvas.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <locale.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 200 };

static const char *const matrices[] = {"gen poisson2d 1415", "gen rmat 20 10 seed 1"};
static const char *const defaults[] = {"csr-scalar", "csr-vector", "csr-merge", "coo-atomic",
                                       "ell",        "sell",       "hyb",       "dia"};
static const struct {
    int w, h;
} sizes[] = {{80, 24}, {120, 40}, {200, 60}};

/* Processor time of this thread only, so that other programs do not affect it. */
static double used_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static bool time_frames(struct session *s, int w, int h)
{
    const struct view *v = view_find("trace");
    struct view_state *st = screen_view_state(s, v);
    struct canvas c;
    double worst = 0, sum = 0;
    int n = 0;
    if (!canvas_new(&c, w, h, false, NULL)) return false;
    view_reset(st, s->current);
    st->full = true;
    for (int64_t k = 0; k < s->trace->t.nsteps; k += 1 + s->trace->t.nsteps / FRAMES, n++) {
        tracing_go(s->trace, k);
        double start = used_us();
        canvas_clear(&c);
        view_draw(v, &c, s, st);
        double us = used_us() - start;
        sum += us;
        if (us > worst) worst = us;
    }
    printf("  %6.0f %6.0f", n ? sum / n : 0, worst);
    canvas_free(&c);
    return true;
}

static void time_kernel(struct session *s, const char *name)
{
    struct err e = {0};
    struct trace_request w = {.matrix = s->current, .kernel = kernel_find(name), .real = P_F64, .launch = -1};
    double start = now_us();
    printf("%-18s", name);
    if (!w.kernel || !tracing_begin(s, &w, &e)) {
        printf(" %s\n", w.kernel ? e.text : "there is no such kernel");
        return;
    }
    double first = now_us() - start;
    start = now_us();
    if (!tracing_begin(s, &w, &e)) return;
    printf("%7lld %9.0f %9.0f", (long long)s->trace->t.nsteps, first / 1e3, (now_us() - start) / 1e3);
    for (int i = 0; i < COUNT(sizes) && time_frames(s, sizes[i].w, sizes[i].h);) i++;
    printf("\n");
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? argc - 1 : COUNT(defaults);
    setlocale(LC_CTYPE, "C.UTF-8");
    for (int m = 0; m < COUNT(matrices); m++) {
        struct session s;
        struct err e = {0};
        if (!session_new(&s, stdout, stderr, OUT_TEXT, &e) || !ui_attach(&s, &e) || !run_line(&s, matrices[m]))
            return 1;
        printf("\n%-18s%7s %9s %9s", "one warp", "steps", "first ms", "next ms");
        for (int i = 0; i < COUNT(sizes); i++) printf("   us %3dx%-4d", sizes[i].w, sizes[i].h);
        printf("\n");
        for (int k = 0; k < n; k++) time_kernel(&s, argc > 1 ? argv[k + 1] : defaults[k]);
        ui_detach(&s);
        session_free(&s);
    }
    return 0;
}
