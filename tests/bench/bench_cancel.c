/* Measures how soon Ctrl-C ends a command. The program runs in a terminal. Every line of the table in kits/cancel_kit.c
   is interrupted at three random moments, and the time until the prompt returns is measured. Usage: bench_cancel
   [nonzeros N] [seed N] [times N] [within S] [part K/N] [TEXT...]; a TEXT selects the lines that contain it, `within S`
   sends the interrupts in the first S seconds (2 by default), and part K/N takes every Nth line from line K on, so that
   several processes can share the table. */
#include "base/base.h"
#include "base/clock.h"
#include "kits/cancel_kit.h"
#include "kits/drive.h"
#include "matrix/random.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 200, HEIGHT = 60, TRIES = 12, PATIENCE_MS = 20000, PREPARE_MS = 60000, BOUND_MS = 50, TIMES_MAX = 100 };
static const char prompt_end[] = "]\x1b[m> "; /* the end of the prompt, after the colour of the device */
static const double short_us = 4e3;           /* shorter commands are not interrupted */

struct options {
    double nonzeros;
    double within_us; /* maximum time from the start of a line to its interrupt */
    uint64_t seed;
    int times, part, parts, ntexts;
    char **text;
};

struct sample {
    double ms;       /* elapsed time from the interrupt to the prompt */
    double cpu_ms;   /* processor time from the interrupt to the prompt */
    double after_ms; /* time from the start of the command to the interrupt */
};

static struct driven driven;
static char program[PATH_MAX], samples[PATH_MAX], home[64] = "/tmp/bench_cancel.XXXXXX";

static int by_ms(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->ms, y = ((const struct sample *)b)->ms;
    return (x > y) - (x < y);
}

/* The given percentile of s. This function sorts s. */
static double quantile(struct sample *s, int n, int percent)
{
    int at = (n * percent + 99) / 100 - 1;
    qsort(s, (size_t)n, sizeof *s, by_ms);
    return n < 1 ? 0 : s[at < 0 ? 0 : at].ms;
}

static double cpu_most(const struct sample *s, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, s[i].cpu_ms);
    return most;
}

/* ---- one command ---- */

/* Processor time of the program so far, in us. On a busy machine, processor time is more reliable than elapsed time. */
static double used_us(void)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(driven.pid, &clock) || clock_gettime(clock, &t)) return 0;
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static bool at_prompt(int ms)
{
    return drive_until(&driven, prompt_end, ms);
}

/* Type a line and wait until the terminal has echoed it. */
static bool type(const char *line)
{
    drive_key(&driven, line);
    drive_until(&driven, "never", 3);
    drive_key(&driven, "\r");
    return drive_until(&driven, "\n", PATIENCE_MS);
}

/* Start the program and run the lines that come before the line to be interrupted. */
static bool begin(const struct cancel_line *l, const char *matrix)
{
    char *argv[] = {program, "--device", "cpu", NULL};
    if (system("rm -f b.*")) return false; /* files that an earlier line wrote */
    if (!drive_start(&driven, argv, WIDTH, HEIGHT, home)) return false;
    if (!at_prompt(PATIENCE_MS) || !type(matrix) || !at_prompt(PREPARE_MS)) return false;
    if (*l->before && !type(l->before)) return false;
    return !*l->before || at_prompt(PREPARE_MS);
}

/* Run the line and interrupt it after `wait_us`. Returns false if the line ended earlier; *ended_us is then its
   duration. */
static bool interrupt(const struct cancel_line *l, double wait_us, struct sample *out, double *ended_us)
{
    double from = now_us();
    *ended_us = 0;
    if (!type(l->line)) return false;
    while (now_us() - from < wait_us)
        if (drive_until(&driven, prompt_end, 2)) return *ended_us = driven.came_us - from, false;
    double sent = now_us(), used = used_us();
    kill(driven.pid, SIGINT);
    bool came = at_prompt(PATIENCE_MS);
    *out = (struct sample){came ? (driven.came_us - sent) / 1e3 : PATIENCE_MS, (used_us() - used) / 1e3,
                           (sent - from) / 1e3};
    return true;
}

/* Interrupt the line `times` times, at moments within the duration of the line. Returns the number of samples, or -1 if
   the program did not reach the line. */
static int measure(const struct options *o, const struct cancel_line *l, struct sample *s, double *span_us,
                   uint64_t *state)
{
    char matrix[CANCEL_LINE];
    int n = 0;
    cancel_matrix(o->nonzeros, matrix);
    *span_us = o->within_us;
    for (int i = 0; i < TRIES * o->times && n<o->times && * span_us> short_us; i++) {
        double ended = 0, wait = *span_us * fabs(random_unit(state));
        bool ok = begin(l, matrix);
        if (ok && interrupt(l, wait, &s[n], &ended)) n++;
        drive_end(&driven);
        if (!ok) return -1;
        if (ended > 0) *span_us = fmin(*span_us, ended);
    }
    return n;
}

static void put_times(const struct sample *sorted, int n, const char *what)
{
    struct sample s[TIMES_MAX];
    memcpy(s, sorted, (size_t)n * sizeof *s);
    double most = quantile(s, n, 100);
    printf("  %8.1f %8.1f %8.1f %s %8.1f  %s (interrupted after", quantile(s, n, 50), quantile(s, n, 99), most,
           most > BOUND_MS ? "LATE" : "    ", cpu_most(s, n), what);
    for (int i = 0; i < n; i++) printf(" %.0f", s[i].after_ms);
    printf(" ms; the last of these waited longest)\n");
}

static void put_line(const struct cancel_line *l, const struct sample *s, int n, double span_us)
{
    char what[2 * CANCEL_LINE + 8];
    snprintf(what, sizeof what, "%s", l->line);
    if (n > 0)
        put_times(s, n, what);
    else
        printf("  %26s                %s (%s)\n", "-", what,
               n < 0                ? "the program did not come as far"
               : span_us > short_us ? "never interrupted in time"
                                    : "ends by itself in less than 4 ms");
    fflush(stdout);
}

/* ---- all commands ---- */

static bool selected(const struct options *o, const struct cancel_line *l)
{
    bool is = !o->ntexts;
    for (int i = 0; i < o->ntexts; i++) is |= strstr(l->line, o->text[i]) != NULL;
    return is && *l->line;
}

static bool measure_all(const struct options *o, struct cancel_line *l, int n)
{
    struct sample *all = calloc((size_t)(n * o->times + o->times), sizeof *all);
    uint64_t state = o->seed;
    int have = 0, late = 0, long_cpu = 0;
    bool ok = all != NULL, all_came = true;
    printf("  %8s %8s %8s      %8s  ms from Ctrl-C to the prompt; bound %d ms\n", "p50", "p99", "max", "cpu, max",
           BOUND_MS);
    for (int i = 0; ok && i < n; i++) {
        double span = 0;
        if (i % o->parts != o->part || !selected(o, &l[i])) continue;
        int got = measure(o, &l[i], all + have, &span, &state);
        put_line(&l[i], all + have, got, span);
        have += got > 0 ? got : 0;
        all_came &= got >= 0;
    }
    for (int i = 0; i < have; i++) {
        late += all[i].ms > BOUND_MS;
        long_cpu += all[i].cpu_ms > BOUND_MS;
    }
    if (all)
        printf("all: p50 %.1f, p99 %.1f, max %.1f ms", quantile(all, have, 50), quantile(all, have, 99),
               quantile(all, have, 100));
    printf("; bound %d ms; %d of %d interrupts are late, %d use more processor time\n", BOUND_MS, late, have, long_cpu);
    free(all);
    return ok && all_came;
}

static void put_machine(const struct options *o)
{
    double load[3] = {0};
    getloadavg(load, 3);
    printf("cancel: %ld processors, load %.2f; %.3g nonzeros; seed %llu\n", sysconf(_SC_NPROCESSORS_ONLN), load[0],
           o->nonzeros, (unsigned long long)o->seed);
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.nonzeros = 1e7, .within_us = 2e6, .seed = 1, .times = 3, .parts = 1};
    int i = 1;
    for (; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "nonzeros"))
            o.nonzeros = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "seed"))
            o.seed = (uint64_t)atoll(argv[i + 1]);
        else if (!strcmp(argv[i], "times"))
            o.times = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "within"))
            o.within_us = 1e6 * atof(argv[i + 1]);
        else if (!strcmp(argv[i], "part"))
            sscanf(argv[i + 1], "%d/%d", &o.part, &o.parts);
        else
            break;
    }
    if (o.parts < 1) o.parts = 1;
    if (o.times < 1 || o.times > TIMES_MAX) o.times = 3;
    o.text = argv + i;
    o.ntexts = argc - i;
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    char built[PATH_MAX];
    const char *end = strrchr(argv[0], '/');
    int n = 0;
    if (cancel_missing()) return printf("cancel: kits/cancel_kit.c has no line for `%s`\n", cancel_missing()), 1;
    snprintf(built, sizeof built, "%.*s/../../warpspy", end ? (int)(end - argv[0]) : 1, end ? argv[0] : ".");
    if (!realpath(built, program) || !realpath("samples", samples) || !mkdtemp(home) || chdir(home))
        return fprintf(stderr, "bench_cancel: no program, no samples, or no folder in /tmp\n"), 1;
    put_machine(&o);
    struct cancel_line *l = cancel_lines(o.nonzeros, &n);
    bool ok = l && cancel_files(program, samples, o.nonzeros) && measure_all(&o, l, n);
    char clean[100];
    snprintf(clean, sizeof clean, "rm -r %s", home);
    if (system(clean)) printf("%s is left behind\n", home);
    free(l);
    return !ok;
}
