/* Shell commands in scripts, recordings, lessons and `keys` are refused until the user allows them. */
#include "base/base.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/command.h"

#include <unistd.h>

static char folder[] = "/tmp/warpspy-allow-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[2][128];
    static int which;
    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
    return path[which];
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fprintf(f, text, path_of("made"), path_of("inner.ws"));
    assert_int_equal(fclose(f), 0);
}

/* Did a shell command run? Each shell command leaves a file behind. */
static bool ran(void)
{
    return !unlink(path_of("made"));
}

/* Run `line`, in which %s is the path of the file `name`. */
static bool run_with(struct talk *t, const char *line, const char *name)
{
    char text[400];
    snprintf(text, sizeof text, line, path_of(name));
    return talk_line(t, text);
}

/* The commands that run lines which the user did not type; each file runs `!touch FOLDER/made`. */
static const struct {
    const char *line, *file, *who;
} foreign[] = {
    {"source %s", "script.ws", "a script"},  {"replay %s", "script.ws", "a recording"},
    {"lesson %s", "lesson.txt", "a lesson"}, {"lesson %s", "answer.txt", "a lesson"},
    {"source %s", "outer.ws", "a script"},
};

static void open_files(struct talk *t)
{
    write_file("script.ws", "version\n!touch %s\n");
    write_file("inner.ws", "!touch %s\n");
    write_file("outer.ws", "# %s\nsource %s\n");
    write_file("lesson.txt", "Some prose.\n\n> !touch %s\n");
    write_file("answer.txt", "? How many?\n= 16\n= rows of stats ; !touch %s\n");
    talk_open_screen(t);
    assert_true(talk_line(t, "gen poisson2d 4"));
}

TEST(a_file_runs_no_shell_command_unasked)
{
    struct talk t;
    open_files(&t);
    for (int i = 0; i < COUNT(foreign); i++) {
        assert_false(run_with(&t, foreign[i].line, foreign[i].file));
        if (!strstr(t.err, foreign[i].who) ||
            !strstr(t.err, " may not run shell commands; if you trust it, type `allow shell` and repeat the command\n"))
            fail_msg("%s: %s", foreign[i].file, t.err);
        assert_false(ran());
    }
    talk_close_screen(&t);
}

TEST(the_message_names_the_line)
{
    struct talk t;
    char expected[300];
    open_files(&t);
    assert_false(run_with(&t, "source %s", "script.ws"));
    snprintf(
        expected, sizeof expected,
        "!: %s:2: a script may not run shell commands; if you trust it, type `allow shell` and repeat the command\n",
        path_of("script.ws"));
    assert_string_equal(t.err, expected);
    talk_close_screen(&t);
}

TEST(one_command_may_be_allowed)
{
    struct talk t;
    char line[100];
    open_files(&t);
    for (int i = 0; i < COUNT(foreign); i++) {
        snprintf(line, sizeof line, "%s allow shell", foreign[i].line);
        run_with(&t, line, foreign[i].file); /* the lesson itself may fail for another reason */
        if (!ran()) fail_msg("%s: %s", line, t.err);
        assert_false(run_with(&t, foreign[i].line, foreign[i].file));
        assert_false(ran());
    }
    assert_false(run_with(&t, "source %s allow everything", "script.ws"));
    assert_non_null(strstr(t.err, "`everything` after `allow` is not a permission; one of shell, files\n"));
    talk_close_screen(&t);
}

TEST(a_session_may_be_allowed)
{
    struct talk t;
    open_files(&t);
    talk_says(&t, "allow", "shell  no");
    talk_says(&t, "allow shell", "shell  yes");
    for (int i = 0; i < COUNT(foreign); i++) {
        run_with(&t, foreign[i].line, foreign[i].file);
        if (!ran()) fail_msg("%s: %s", foreign[i].file, t.err);
    }
    talk_says(&t, "allow shell off", "shell  no");
    assert_false(run_with(&t, "source %s", "script.ws"));
    assert_false(ran());
    talk_refuses(&t, "allow off", "type `allow shell off`");
    talk_close_screen(&t);
    open_files(&t); /* the permission is not kept for the next session */
    assert_false(run_with(&t, "source %s", "script.ws"));
    assert_false(ran());
    talk_close_screen(&t);
}

TEST(a_file_cannot_allow_itself)
{
    static const char *const lines[] = {"allow shell\n!touch %s\n", "source %2$s allow shell\n# %1$s\n",
                                        "keys \"':!touch %s' Enter\" view spy allow shell\n"};
    struct talk t;
    open_files(&t);
    for (int i = 0; i < COUNT(lines); i++) {
        write_file("sly.ws", lines[i]);
        assert_false(run_with(&t, "source %s", "sly.ws"));
        if (!strstr(t.err, ":1: a script cannot allow shell commands; if you trust it, type `allow shell`"))
            fail_msg("%s: %s", lines[i], t.err);
        assert_false(ran());
    }
    write_file("sly.ws", "allow shell\n");
    /* The option of `source` allows shell commands in that file only, not in the session. */
    assert_false(run_with(&t, "source %s allow shell", "sly.ws"));
    write_file("sly.txt", "> allow shell\n> !touch %s\n");
    assert_false(run_with(&t, "lesson %s", "sly.txt"));
    assert_non_null(strstr(t.err, "a lesson cannot allow"));
    assert_false(run_with(&t, "source %s", "script.ws"));
    assert_false(ran());
    talk_close_screen(&t);
}

TEST(keys_run_no_shell_command_unasked)
{
    struct talk t;
    open_files(&t);
    assert_true(run_with(&t, "keys \"':!touch %s' Enter\" view spy size 150x30", "made"));
    assert_false(ran());
    talk_says(&t, "screendump", "`keys` may not run shell commands; if you trust it, type `allow shell`");
    assert_true(run_with(&t, "keys \"':allow shell' Enter ':!touch %s' Enter\" view spy size 150x30", "made"));
    assert_false(ran());
    assert_true(run_with(&t, "keys \"':!touch %s' Enter\" view spy allow shell", "made"));
    assert_true(ran());
    talk_close_screen(&t);
}

TEST(what_the_user_types_is_run)
{
    struct talk t;
    open_files(&t);
    assert_true(run_with(&t, "version; !touch %s", "made"));
    assert_true(ran());
    assert_false(run_with(&t, "source %s", "script.ws"));
    assert_true(run_with(&t, "!touch %s", "made")); /* a refusal has no effect on later commands */
    assert_true(ran());
    talk_says(&t, "help allow", "A script cannot give itself permission");
    talk_says(&t, "help shell", "!COMMAND");
    talk_close_screen(&t);
}

static int in_a_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int without_it(void **state)
{
    static const char *const files[] = {"script.ws",  "inner.ws", "outer.ws", "lesson.txt",
                                        "answer.txt", "sly.ws",   "sly.txt"};
    for (int i = 0; i < COUNT(files); i++) unlink(path_of(files[i]));
    return rmdir(folder);
}

SUITE(.setup = in_a_folder, .teardown = without_it);
