/* Small work runs on one thread: no command starts a team of threads for a matrix of a few hundred nonzeros. */
#include "base/base.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "session/command.h"
#include "solvers/solver.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEAM = 4, REFUSED = 0, ALONE = 1, TOGETHER = 2 };

/* The number of threads of this process. The number includes the threads of earlier teams, which libgomp keeps. */
static int threads_now(void)
{
    char line[128];
    int n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &n) == 1) break;
    if (f) fclose(f);
    return n;
}

/* Do other threads remain? libgomp keeps the threads of a team, whereas a thread that ran a library call
   (base/library_thread.h) ends by itself. On a busy machine, that thread can end after the command, so wait for it for
   up to a second. */
static bool team_remains(void)
{
    for (int wait_ms = 1000; wait_ms > 0; wait_ms--) {
        if (threads_now() == 1) return false;
        usleep(1000);
    }
    return true;
}

/* Run `setup` and `line` in a child process, and find out whether a team of threads remains. */
static int threads_of(const char *setup, const char *line)
{
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct talk t;
        omp_set_num_threads(TEAM);
        talk_open_screen(&t);
        bool ok = talk_line(&t, setup) && talk_line(&t, line);
        if (!ok) fputs(t.err, stderr);
        _exit(team_remains() ? TOGETHER : ok ? ALONE : REFUSED);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Does `line` run on one thread? If it does not, print the line and the reason. */
static bool runs_alone(const char *setup, const char *line)
{
    int how = threads_of(setup, line);
    if (how != ALONE) print_message("%s; %s: %s\n", setup, line, how ? "starts a team of threads" : "is refused");
    return how == ALONE;
}

static const char small[] = "gen poisson2d 10 as A";

TEST(a_small_file_loads_alone)
{
    assert_true(runs_alone("version", "load samples/thesis4.mtx"));
    assert_true(runs_alone("version", "load tests/golden/complex.mtx"));
}

TEST(small_commands_run_alone)
{
    static const char *const lines[] = {"gen poisson3d 5",
                                        "gen dense 12",
                                        "gen random 100 4",
                                        "gen rmat 6 4",
                                        "gen band 100 4",
                                        "stats",
                                        "check all",
                                        "spy",
                                        "rows",
                                        "layout ell",
                                        "formats",
                                        "transpose",
                                        "symmetrize on cpu",
                                        "reorder rcm",
                                        "scale",
                                        "prune below 0.5",
                                        "extract 0 9 0 9",
                                        "print col 3",
                                        "let B = 2*A*A - A'",
                                        "advise",
                                        "lu on cpu",
                                        "keys \"Right + +\" view spy",
                                        "keys Down view rows",
                                        "race cg jacobi on cpu",
                                        "undo"};
    int wrong = 0;
    for (int i = 0; i < COUNT(lines); i++) wrong += !runs_alone(small, lines[i]);
    assert_int_equal(wrong, 0);
}

TEST(small_formats_are_packed_alone)
{
    char line[100];
    int wrong = 0;
    for (int i = 0; formats[i]; i++) {
        snprintf(line, sizeof line, "convert %s force", formats[i]->name);
        wrong += !runs_alone(small, line);
    }
    assert_int_equal(wrong, 0);
}

TEST(small_products_run_alone)
{
    char line[100];
    int wrong = 0;
    for (int i = 0; kernels[i]; i++) {
        if (!kernels[i]->host) continue;
        snprintf(line, sizeof line, "spmv kernel %s on cpu reps 2 force", kernels[i]->name);
        wrong += !runs_alone(small, line);
    }
    assert_int_equal(wrong, 0);
}

TEST(small_solves_run_alone)
{
    char line[100];
    int wrong = 0;
    for (int i = 0; solvers[i]; i++) {
        snprintf(line, sizeof line, "solve %s on cpu", solvers[i]->name);
        wrong += !runs_alone(small, line);
    }
    assert_int_equal(wrong, 0);
}
