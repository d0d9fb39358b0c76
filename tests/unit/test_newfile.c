/* Files that are replaced: their modes and links stay, and a failure or a signal leaves the old file and nothing
   else. */
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "kits/mtx_kit.h"
#include "kits/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool put(const char *path, const char *text, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, true, e) && newfile_write(&f, text, (int64_t)strlen(text), e);
    return newfile_close(&f, ok, e);
}

static void put_well(const char *path, const char *text)
{
    struct err e = {0};
    if (!put(path, text, &e)) fail_msg("%s: %s", e.where, e.text);
}

static void assert_holds(const char *path, const char *text)
{
    size_t n;
    char *got = read_whole(path, &n);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(got, text, n);
    mem_free(got);
}

static struct stat stat_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st;
}

TEST(modes_stay)
{
    static const mode_t modes[] = {0600, 0444, 0755, 0640, 04711};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const char *path = write_file("mode", "old", 3);
        assert_int_equal(chmod(path, modes[i]), 0);
        put_well(path, "new text");
        assert_int_equal(stat_of(path).st_mode & 07777, modes[i]);
        assert_holds(path, "new text");
    }
    scratch_remove();
}

TEST(a_new_file_has_the_mode_of_the_mask)
{
    mode_t mask = umask(027);
    const char *path = scratch_path("fresh");
    put_well(path, "text");
    umask(mask);
    assert_int_equal(stat_of(path).st_mode & 07777, 0640);
    scratch_remove();
}

TEST(links_stay)
{
    const char *path = write_file("target", "old and longer", 14), *link = scratch_path("link");
    const char *other = scratch_path("other"), *hard = scratch_path("hard");
    assert_int_equal(symlink("target", link), 0);
    put_well(link, "through");
    assert_true(S_ISLNK(stat_of(link).st_mode));
    assert_holds(path, "through");

    write_file("hard", "old and longer", 14);
    assert_int_equal(linkat(-1, hard, -1, other, 0), 0);
    put_well(hard, "both");
    assert_holds(hard, "both");
    assert_holds(other, "both");
    assert_int_equal(stat_of(hard).st_ino, stat_of(other).st_ino);

    const char *dangling = scratch_path("dangling");
    assert_int_equal(symlink("made", dangling), 0);
    put_well(dangling, "made");
    assert_true(S_ISLNK(stat_of(dangling).st_mode));
    assert_holds(scratch_path("made"), "made");
    assert_int_equal(scratch_files(), 6);
    scratch_remove();
}

TEST(force_is_needed)
{
    struct err e = {0};
    const char *path = write_file("there", "old", 3);
    assert_false(newfile_allowed(path, false, &e));
    assert_non_null(strstr(e.text, "file exists; add `force` to the command to overwrite it"));
    assert_true(newfile_allowed(path, true, NULL));
    assert_true(newfile_allowed(scratch_path("none"), false, NULL));
    assert_false(newfile_allowed(scratch_path("no/such/place"), true, NULL));
    assert_int_equal(scratch_files(), 1);
    assert_holds(path, "old");
    scratch_remove();
}

TEST(the_first_of_two_new_files_wins)
{
    struct newfile first, second;
    struct err e = {0};
    const char *path = scratch_path("new");
    assert_true(newfile_open(&first, path, false, &e) && newfile_open(&second, path, false, &e));
    assert_int_equal(scratch_files(), 2);
    assert_true(newfile_write(&first, "first", 5, &e) && newfile_write(&second, "second", 6, &e));
    assert_true(newfile_close(&second, true, &e));
    assert_false(newfile_close(&first, true, &e));
    assert_int_equal(e.code, E_IO);
    assert_string_equal(e.text, "file exists; add `force` to the command to overwrite it");
    assert_holds(path, "second");
    assert_int_equal(scratch_files(), 1);
    err_clear(&e);
    assert_false(newfile_open(&first, path, false, &e));
    assert_non_null(strstr(e.text, "file exists"));
    /* A file that appears while it is written is replaced only with force. */
    unlink(path);
    assert_true(newfile_open(&first, path, true, NULL) && newfile_open(&second, path, true, NULL));
    assert_true(newfile_write(&first, "first", 5, NULL) && newfile_write(&second, "second", 6, NULL));
    assert_true(newfile_close(&second, true, NULL) && newfile_close(&first, true, NULL));
    assert_holds(path, "first");
    assert_int_equal(scratch_files(), 1);
    scratch_remove();
}

/* A link that is made while the file is written is not followed. */
TEST(a_link_that_appears_is_kept)
{
    struct newfile f;
    struct err e = {0};
    const char *path = scratch_path("new"), *other = write_file("other", "old", 3);
    assert_true(newfile_open(&f, path, false, NULL) && newfile_write(&f, "text", 4, NULL));
    assert_int_equal(symlink("other", path), 0);
    assert_false(newfile_close(&f, true, &e));
    assert_non_null(strstr(e.text, "file exists"));
    assert_holds(other, "old");
    scratch_remove();
}

/* The folder is found once: a link in the path that is changed later changes nothing. */
TEST(a_folder_that_is_exchanged_gets_nothing)
{
    struct newfile f;
    const char *here = scratch_path("here"), *there = scratch_path("there"), *link = scratch_path("link");
    assert_int_equal(mkdir(here, 0700) + mkdir(there, 0700) + symlink("here", link), 0);
    assert_true(newfile_open(&f, scratch_path("link/new"), false, NULL) && newfile_write(&f, "text", 4, NULL));
    assert_int_equal(unlink(link) + symlink("there", link), 0);
    assert_true(newfile_close(&f, true, NULL));
    assert_holds(scratch_path("here/new"), "text");
    assert_int_equal(access(scratch_path("there/new"), F_OK), -1);
    assert_int_equal(unlink(scratch_path("here/new")) + rmdir(scratch_path("here")) + rmdir(scratch_path("there")), 0);
    scratch_remove();
}

/* The status of a child that runs `work`. */
static int status_of(void (*work)(const char *path), const char *path)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        work(path);
        _exit(7);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static int sent;

static void be_ended(const char *path)
{
    struct newfile f, second;
    signal(sent, SIG_DFL); /* a caller such as nohup may have set this signal to be ignored */
    if (newfile_open(&f, path, true, NULL) && newfile_open(&second, path, true, NULL) &&
        newfile_write(&f, "half", 4, NULL))
        raise(sent);
}

TEST(signals_leave_no_temporary_file)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    const char *path = write_file("old", "old", 3);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sent = signals[i];
        int status = status_of(be_ended, path);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == sent);
        assert_int_equal(scratch_files(), 1);
        assert_holds(path, "old");
    }
    scratch_remove();
}

static void be_killed(const char *path)
{
    struct newfile f[3];
    for (int i = 0; i < 3; i++)
        if (!newfile_open(&f[i], path, true, NULL) || !newfile_write(&f[i], "half", 4, NULL)) return;
    newfile_close(&f[1], false, NULL); /* a gap in the numbers of the temporary files */
    raise(SIGKILL);
}

/* No handler runs for SIGKILL: the next save of the name removes what is left, but only that. */
TEST(the_next_save_removes_what_a_killed_one_left)
{
    struct newfile running;
    const char *path = write_file("m.mtx", "old", 3);
    write_file("m.mtx.backup", "mine", 4); /* these names are like those of temporary files */
    write_file("m.mtx.warpspy", "mine", 4);
    write_file("m.mtx2.warpspy-1", "mine", 4);
    int status = status_of(be_killed, path);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(scratch_files(), 4 + 2);
    put_well(scratch_path("another"), "new");
    assert_int_equal(scratch_files(), 4 + 2 + 1);
    assert_true(newfile_open(&running, path, true, NULL) && newfile_write(&running, "running", 7, NULL));
    assert_int_equal(scratch_files(), 4 + 1 + 1);
    put_well(path, "second");
    assert_holds(path, "second");
    assert_int_equal(scratch_files(), 4 + 1 + 1);
    assert_true(newfile_close(&running, true, NULL));
    assert_holds(path, "running");
    assert_int_equal(scratch_files(), 4 + 1);
    assert_holds(scratch_path("m.mtx.backup"), "mine");
    scratch_remove();
}

TEST(names_may_be_as_long_as_the_system_allows)
{
    char name[NAME_MAX + 1];
    memset(name, 'n', sizeof name - 1);
    name[NAME_MAX] = 0;
    const char *path = scratch_path("x");
    char longest[PATH_MAX];
    snprintf(longest, sizeof longest, "%.*s%s", (int)strlen(path) - 1, path, name);
    put_well(longest, "text");
    assert_holds(longest, "text");
    assert_int_equal(unlink(longest), 0);
    scratch_remove();
}

static void ignored(int sig)
{
    _exit(3);
}

/* The program's own handler runs after the new file is removed; an ignored signal stays ignored and removes nothing. */
static void keep_handlers(const char *path)
{
    struct newfile f;
    signal(SIGTERM, ignored);
    signal(SIGHUP, SIG_IGN);
    if (!newfile_open(&f, path, true, NULL)) return;
    raise(SIGHUP);
    if (access(f.temp, F_OK)) return;
    raise(SIGTERM);
}

static void restore_handlers(const char *path)
{
    signal(SIGTERM, ignored);
    if (!put(path, "new", NULL)) return;
    raise(SIGTERM);
}

TEST(other_handlers_still_run)
{
    const char *path = write_file("old", "old", 3);
    int status = status_of(keep_handlers, path);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_int_equal(scratch_files(), 1);
    assert_holds(path, "old");
    status = status_of(restore_handlers, path);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_holds(path, "new");
    scratch_remove();
}

static void exceed_limit(const char *path)
{
    static char text[5000];
    struct rlimit small = {1000, 1000};
    struct newfile f;
    struct err e = {0};
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = newfile_open(&f, path, true, &e) && newfile_write(&f, text, sizeof text, &e);
    ok = newfile_close(&f, ok, &e);
    _exit(!ok && e.code == E_IO && strstr(e.text, "cannot write the file: File too large") ? 3 : 4);
}

TEST(a_limit_of_file_sizes_is_an_error)
{
    const char *path = write_file("old", "old", 3);
    int status = status_of(exceed_limit, path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(scratch_files(), 1);
    assert_holds(path, "old");
    /* A failure or a signal also leaves the old file if only the content of the file is replaced. */
    assert_int_equal(link(path, scratch_path("again")), 0);
    status = status_of(exceed_limit, path);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_int_equal(scratch_files(), 2);
    assert_holds(path, "old");
    scratch_remove();
}

/* A large file that is given up disappears at once; another thread closes it. */
TEST(a_large_file_is_given_up)
{
    enum { BYTES = 1 << 21 };
    const char *path = write_file("old", "old", 3);
    struct newfile f;
    struct err e = {.code = E_CANCELLED};
    char *zeros = mem_zero(BYTES, 1, "zeros", NULL);
    assert_non_null(zeros);
    assert_true(newfile_open(&f, path, true, NULL) && newfile_write(&f, zeros, BYTES, NULL));
    int fd = f.fd;
    assert_false(newfile_close(&f, false, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_true(f.fd < 0 && !f.temp[0]);
    assert_int_equal(scratch_files(), 1);
    assert_holds(path, "old");
    for (int ms = 0; ms < 10000 && fcntl(fd, F_GETFD) >= 0; ms++) usleep(1000);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    put_well(path, "new");
    assert_holds(path, "new");
    mem_free(zeros);
    scratch_remove();
}

SUITE(.teardown = tidy);
