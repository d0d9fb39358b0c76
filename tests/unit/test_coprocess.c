/* Another program that works for this one (base/coprocess.h): lines, the end, programs that do not end. */
#include "base/clock.h"
#include "base/coprocess.h"
#include "base/err.h"
#include "kits/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

static struct coprocess begin(const char *script)
{
    struct coprocess c;
    struct err e = {0};
    bool missing;
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    assert_true(coprocess_start(&c, argv, &missing, &e));
    assert_false(missing);
    return c;
}

static char *next(struct coprocess *c)
{
    char *line = NULL;
    for (double start = steady_us(); !line && !c->ended && steady_us() - start < 5e6;) line = coprocess_line(c, 1e5);
    return line;
}

TEST(test_lines_go_there_and_back)
{
    struct coprocess c = begin("while read x; do echo \"<$x>\"; done; echo end; echo sorry >&2");
    assert_true(coprocess_send(&c, "one\ntwo\nthr"));
    assert_string_equal(next(&c), "<one>");
    assert_string_equal(next(&c), "<two>");
    assert_null(coprocess_line(&c, 1000));
    assert_false(c.ended);
    assert_true(coprocess_send(&c, "ee\n"));
    assert_string_equal(next(&c), "<three>");
    coprocess_end(&c, 5e6);
    assert_true(WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0);
    assert_non_null(strstr(c.said, "sorry"));
}

TEST(test_long_lines_arrive_whole)
{
    struct coprocess c = begin("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo y; exit 3");
    char *line = next(&c);
    assert_non_null(line);
    assert_int_equal(strlen(line), 1000000);
    assert_string_equal(next(&c), "y");
    assert_null(next(&c));
    assert_true(c.ended);
    coprocess_end(&c, 5e6);
    assert_int_equal(WEXITSTATUS(c.status), 3);
}

TEST(test_a_missing_program_is_named)
{
    struct coprocess c;
    struct err e = {0};
    bool missing;
    char *argv[] = {"no-such-program-anywhere", NULL};
    assert_false(coprocess_start(&c, argv, &missing, &e));
    assert_true(missing);
    assert_non_null(strstr(e.text, "no-such-program-anywhere"));
}

/* A program that ended does not end this one by SIGPIPE. */
TEST(test_writing_to_an_ended_program_fails)
{
    struct coprocess c = begin("exit 0");
    for (double start = steady_us(); !coprocess_is_over(&c) && steady_us() - start < 5e6;) continue;
    assert_false(coprocess_send(&c, "hello\n") && coprocess_send(&c, "hello\n"));
    coprocess_end(&c, 0);
}

/* The program and what it started ignore the end of their input and SIGTERM. */
TEST(test_stubborn_programs_are_killed)
{
    struct coprocess c = begin("trap '' TERM; echo $$; sleep 60 & wait; sleep 60");
    pid_t group = c.pid;
    assert_non_null(next(&c));
    double start = steady_us();
    coprocess_end(&c, 1000);
    assert_true(steady_us() - start < 5e6);
    assert_true(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
    for (start = steady_us(); !kill(-group, 0) && steady_us() - start < 5e6;) continue;
    assert_int_equal(kill(-group, 0), -1);
}

TEST(test_ending_nothing_does_nothing)
{
    struct coprocess c = {0};
    coprocess_end(&c, 0); /* must not close the standard streams, whose numbers are those of a struct of zeros */
    assert_true(coprocess_is_over(&c));
    assert_int_equal(fcntl(0, F_GETFD), 0);
}
