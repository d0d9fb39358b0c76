/* Ctrl-C ends every command of the registry: each line of kits/cancel_kit.c runs in a batch and is interrupted once.
   The batch must end within 5 s, and its exit status must not be 0. bench_cancel measures how soon the batch ends. */
#include "base/clock.h"
#include "kits/cancel_kit.h"
#include "kits/test.h"
#include "matrix/random.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NONZEROS = 500000, WAIT_US = 100000, PATIENCE_MS = 60000, ANSWER_MS = 5000, KEPT = 1 << 16 };

static char program[PATH_MAX], samples[PATH_MAX], home[64] = "/tmp/test_interrupt.XXXXXX";

struct batch {
    pid_t pid;
    int fd;
    size_t n;
    char out[KEPT + 1];
};

/* The line to interrupt runs between two `help` lines, whose output shows which lines of the batch have run. The solve
   at the end of the batch would run for hours. */
static void start(struct batch *b, const char *matrix, const struct cancel_line *l)
{
    int ends[2], nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(nowhere >= 0 && !pipe2(ends, O_CLOEXEC));
    b->n = 0;
    b->out[0] = 0;
    b->pid = fork();
    assert_true(b->pid >= 0);
    if (!b->pid) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(program, program, "--device", "cpu", "-c", matrix, "-c", l->before, "-c", "help exit", "-c", l->line,
              "-c", "help quit", "-c", "solve jacobi A on cpu tol 1e-100 maxit 100000000 force", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    close(nowhere);
    b->fd = ends[0];
}

/* Read for up to `ms` or until `what` is output. Returns false if the batch ended before that. */
static bool read_until(struct batch *b, const char *what, double ms)
{
    double end = now_us() + 1e3 * ms;
    while (!what || !strstr(b->out, what)) {
        struct pollfd in = {.fd = b->fd, .events = POLLIN};
        double left = (end - now_us()) / 1e3;
        if (left <= 0 || poll(&in, 1, (int)ceil(left)) <= 0) return true;
        if (b->n == KEPT) memmove(b->out, b->out + KEPT / 2, b->n = KEPT / 2);
        ssize_t got = read(b->fd, b->out + b->n, KEPT - b->n);
        if (got <= 0) return false;
        b->n += (size_t)got;
        b->out[b->n] = 0;
    }
    return true;
}

/* Run the line and interrupt it after wait_us. Returns false and prints a message if the interrupt did not end the
   batch. */
static bool one(const char *matrix, const struct cancel_line *l, double wait_us)
{
    static struct batch b;
    int status = 0;
    if (system("rm -f b.*")) fail_msg("the files of an earlier line cannot be removed");
    start(&b, matrix, l);
    bool came = read_until(&b, "the same as quit", PATIENCE_MS);
    if (!came) print_error("`%s` did not come as far\n", l->before);
    read_until(&b, NULL, wait_us / 1e3);
    double sent = now_us();
    kill(b.pid, SIGINT);
    bool late = read_until(&b, NULL, ANSWER_MS);
    double took = (now_us() - sent) / 1e3;
    if (late) kill(b.pid, SIGKILL);
    waitpid(b.pid, &status, 0);
    close(b.fd);
    if (late) print_error("`%s` ignores Ctrl-C for %d ms\n", l->line, ANSWER_MS);
    if (!status) print_error("`%s` ends with status 0, %.0f ms after Ctrl-C\n", l->line, took);
    return !late && status && came;
}

TEST(every_command_has_a_line)
{
    if (cancel_missing()) fail_msg("kits/cancel_kit.c has no line for `%s`", cancel_missing());
}

TEST(ctrl_c_ends_every_command)
{
    int n = 0;
    bool all = true;
    uint64_t seed = 1;
    char matrix[CANCEL_LINE];
    struct cancel_line *l = cancel_lines(NONZEROS, &n);
    assert_non_null(l);
    assert_true(cancel_files(program, samples, NONZEROS));
    cancel_matrix(NONZEROS, matrix);
    for (int i = 0; i < n; i++) {
        double wait = WAIT_US * fabs(random_unit(&seed));
        if (*l[i].line) all &= one(matrix, &l[i], wait);
    }
    free(l);
    assert_true(all);
}

static int go_home(void **state)
{
    if (!find_warpspy(program) || !realpath("samples", samples)) return -1;
    return !mkdtemp(home) || chdir(home);
}

static int clean_up(void **state)
{
    char clean[100];
    snprintf(clean, sizeof clean, "rm -r %s", home);
    return system(clean);
}

SUITE(.setup = go_home, .teardown = clean_up);
