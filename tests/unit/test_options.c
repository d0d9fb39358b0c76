/* The command set: the options that it saves in a file, their effects, and damaged files. */
#include "base/base.h"
#include "kits/config_home.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "language/options.h"
#include "machine/device.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_config(const char *text, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/warpspy", config_folder);
    mkdir(path, 0700);
    FILE *f = fopen(config_file, "w");
    assert_non_null(f);
    fwrite(text, 1, n, f);
    fclose(f);
}

static const char *config(void)
{
    static char text[4096];
    FILE *f = fopen(config_file, "r");
    text[0] = 0;
    if (!f) return text;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* A new session with the saved options; returns its messages. */
static const char *begin(struct talk *t)
{
    static char warned[1024];
    talk_open(t, OUT_TEXT);
    options_load(&t->s, warned, sizeof warned);
    return warned;
}

TEST(options_are_kept)
{
    struct talk t;
    assert_string_equal(begin(&t), "");
    talk_says(&t, "set", "saved in /tmp/warpspy-test-");
    talk_says(&t, "set", "one of\ndevice ");
    assert_null(strstr(t.out, "default precision of values"));
    talk_says(&t, "set precision", "f64");
    talk_says(&t, "set precision", "default precision of values");
    assert_true(talk_line(&t, "set precision f32; set colours 256; set device emu"));
    assert_string_equal(config(), "precision f32\ncolours 256\ndevice emu\n");
    assert_true(talk_line(&t, "set colours none"));
    assert_string_equal(config(), "precision f32\ncolours none\ndevice emu\n");
    talk_close(&t);
    assert_string_equal(begin(&t), "");
    assert_string_equal(t.s.dev->name, "emu");
    assert_string_equal(option_value(&t.s, OPTION_COLOURS), "none");
    assert_string_equal(option_value(&t.s, OPTION_ASCII), "auto");
    assert_true(talk_line(&t, "set device auto"));
    assert_null(t.s.dev);
    talk_close(&t);
}

TEST(commands_use_the_precision)
{
    struct talk t;
    begin(&t);
    assert_true(talk_line(&t, "set precision f32; gen poisson2d 4"));
    talk_says(&t, "formats", "fp32");
    talk_says(&t, "formats f64", "fp64");
    assert_true(talk_line(&t, "set precision f64"));
    talk_says(&t, "formats", "fp64");
    talk_says(&t, "formats f32", "fp32");
    talk_close(&t);
}

TEST(errors_list_the_valid_names_and_values)
{
    struct talk t;
    begin(&t);
    talk_refuses(&t, "set tint", "one of device, precision, colours, theme");
    talk_refuses(&t, "set colours 255", "one of auto, none, 8, 16, 256, true");
    talk_refuses(&t, "set colours 255", "did you mean `256`");
    talk_refuses(&t, "set devcie cpu", "`devcie` after `set` is not an option (did you mean `device`?)");
    talk_refuses(&t, "set device gpu", "one of auto, cpu, emu, emu*2");
    talk_refuses(&t, "set ascii ''", "one of auto, on, off");
    assert_string_equal(config(), "");
    assert_string_equal(option_value(&t.s, OPTION_COLOURS), "auto");
    talk_close(&t);
}

/* Every correct line takes effect, and one warning names the first incorrect line. */
TEST(a_broken_file_is_one_warning)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"", ""},
        {"# nothing\n\n   \n", ""},
        {"colours 256", ""},
        {"colours=256\r\n", ""},
        {"  colours  =  256  \nprecision f32\n", ""},
        {"colours 256\nnonsense\n", "/warpspy/config:2: there is no option `nonsense`"},
        {"colurs 16\ncolours 256\n", ":1: there is no option `colurs` (did you mean `colours`?)"},
        {"colours 256\nascii maybe\ndevice tpu\n",
         ":2: `maybe` is not a value of ascii; one of auto, on, off; 1 more line"},
        {"precision\ncolours 256\n", ":1: a value of precision is missing"},
        {"colours 256\n\033[2J \x9b\xff\n", ":2: there is no option `\\x1b[2J`"},
        {"device cuda:99\ncolours 256\n", ":1: "},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        write_config(cases[i].text, strlen(cases[i].text));
        const char *warning = begin(&t);
        if (!*cases[i].warning) assert_string_equal(warning, "");
        if (!strstr(warning, cases[i].warning)) fail_msg("expected `%s` in: %s", cases[i].warning, warning);
        assert_null(strchr(warning, '\n'));
        if (strstr(cases[i].text, "256")) assert_string_equal(option_value(&t.s, OPTION_COLOURS), "256");
        talk_close(&t);
    }
}

TEST(an_unreadable_file_is_one_warning)
{
    struct talk t;
    write_config("colours\0 16\n", 12);
    assert_non_null(strstr(begin(&t), "it contains a NUL byte; using the default options"));
    talk_close(&t);
    static char large[70000];
    memset(large, '#', sizeof large);
    write_config(large, sizeof large);
    assert_non_null(strstr(begin(&t), "at most 65536 bytes"));
    talk_refuses(&t, "set colours 16", "colours is 16 for this session only");
    talk_close(&t);
    unlink(config_file);
    mkdir(config_file, 0700);
    assert_non_null(strstr(begin(&t), "not a regular file"));
    talk_close(&t);
    rmdir(config_file);
    assert_int_equal(mkfifo(config_file, 0600), 0);
    /* the program does not wait for data if the file is a pipe */
    assert_non_null(strstr(begin(&t), "not a regular file"));
    talk_close(&t);
}

/* Comments, blank lines and unknown options are kept; an option that appears twice becomes one line. */
TEST(other_lines_are_kept)
{
    static const char text[] = "# mine\ncolours 16\n\nfuture thing\ncolours 8\nascii on";
    struct talk t;
    write_config(text, sizeof text - 1);
    begin(&t);
    assert_true(talk_line(&t, "set colours 256"));
    assert_string_equal(config(), "# mine\ncolours 256\n\nfuture thing\nascii on\n");
    talk_close(&t);
}

/* Sessions that save settings at the same time do not undo each other's. */
TEST(sessions_keep_each_others_options)
{
    enum { SESSIONS = 4, TIMES = 25 };
    static const struct {
        enum option_id option;
        const char *values[2];
    } sets[SESSIONS] = {{OPTION_MOUSE, {"on", "off"}},
                        {OPTION_PAGER, {"on", "off"}},
                        {OPTION_ASCII, {"on", "off"}},
                        {OPTION_COLOURS, {"8", "16"}}};
    write_config("# mine\n", 7);
    fflush(NULL);
    for (int i = 0; i < SESSIONS; i++) {
        if (fork()) continue;
        bool ok = true;
        for (int k = 0; ok && k < TIMES; k++) ok = options_keep(&options[sets[i].option], sets[i].values[k % 2], NULL);
        _exit(!ok);
    }
    for (int i = 0, status; i < SESSIONS; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s %s\n", options[sets[i].option].name, sets[i].values[(TIMES - 1) % 2]);
        if (!strstr(config(), line)) fail_msg("%s is missing: %s", line, config());
    }
    assert_int_equal(strncmp(config(), "# mine\n", 7), 0);
    unlink(config_file);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

TEST(a_script_sets_for_the_session_only)
{
    struct talk t;
    char script[128], line[200];
    snprintf(script, sizeof script, "%s/script.wsp", config_folder);
    snprintf(line, sizeof line, "source %s", script);
    write_text(script, "set precision f32\n");
    begin(&t);
    assert_true(talk_line(&t, line));
    assert_non_null(
        strstr(t.err, "precision is f32 for this session only: a script may not change the saved settings"));
    assert_string_equal(option_value(&t.s, OPTION_PRECISION), "f32");
    assert_true(t.s.single);
    assert_string_equal(config(), "");
    strcat(line, " allow files");
    assert_true(talk_line(&t, line));
    assert_string_equal(config(), "precision f32\n");
    talk_close(&t);
    unlink(config_file);
    unlink(script);
}

/* Also a lesson that fails or is left. */
TEST(what_a_lesson_sets_ends_with_it)
{
    static const char *const ends[] = {"", "> no such command\n", "> quit\n", "@ nothing above\n"};
    struct talk t;
    char lesson[128], line[200];
    snprintf(lesson, sizeof lesson, "%s/lesson.txt", config_folder);
    snprintf(line, sizeof line, "lesson %s", lesson);
    for (int i = 0; i < COUNT(ends); i++) {
        char text[200];
        snprintf(text, sizeof text, "> set precision f32\n> set pager off\n> set device emu\n%s", ends[i]);
        write_text(lesson, text);
        begin(&t);
        assert_true(talk_line(&t, "set pager \"cat -n\"; device cpu"));
        const struct device *cpu = t.s.dev;
        assert_int_equal(talk_line(&t, line), i == 0 || i == 2);
        assert_non_null(strstr(t.err, "precision is f32 until the lesson ends"));
        assert_string_equal(option_value(&t.s, OPTION_PRECISION), "f64");
        assert_string_equal(option_value(&t.s, OPTION_PAGER), "cat -n");
        assert_string_equal(option_value(&t.s, OPTION_DEVICE), "auto");
        assert_true(!t.s.single && t.s.dev == cpu);
        assert_string_equal(config(), "pager cat -n\n");
        talk_close(&t);
        unlink(config_file);
    }
    unlink(lesson);
}

TEST(unsaved_options_hold_for_the_session)
{
    struct talk t;
    begin(&t);
    setenv("XDG_CONFIG_HOME", "/proc/nowhere", 1);
    talk_refuses(&t, "set colours 16", "/proc/nowhere/warpspy/config: cannot create the folder of this file");
    assert_non_null(strstr(t.err, "colours is 16 for this session only"));
    assert_string_equal(option_value(&t.s, OPTION_COLOURS), "16");
    setenv("XDG_CONFIG_HOME", config_folder, 1);
    talk_close(&t);
}

TEST(a_missing_home_is_not_an_error)
{
    struct talk t;
    char *home = getenv("HOME"), kept[512];
    snprintf(kept, sizeof kept, "%s", home ? home : "");
    unsetenv("HOME");
    setenv("XDG_CONFIG_HOME", "not/absolute", 1);
    assert_string_equal(begin(&t), "");
    talk_refuses(&t, "set ascii on", "neither XDG_CONFIG_HOME nor HOME is set");
    talk_close(&t);
    setenv("HOME", kept, 1);
    setenv("XDG_CONFIG_HOME", config_folder, 1);
}

static void offer(void *user, const char *word)
{
    strcat(strcat(user, word), " ");
}

TEST(values_are_completed)
{
    struct talk t;
    char all[256] = "";
    begin(&t);
    complete(&t.s, "set as", 6, offer, all);
    assert_string_equal(all, "ascii ");
    all[0] = 0;
    complete(&t.s, "set ascii ", 10, offer, all);
    assert_string_equal(all, "auto on off ");
    talk_close(&t);
}

SUITE(.before = config_home_make, .after = config_home_remove);
