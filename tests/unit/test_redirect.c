/* Redirection: > FILE, >> FILE and | COMMAND at the end of a line, in text, JSON and CSV. */
#include "base/base.h"
#include "base/words.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/redirect.h"
#include "session/command.h"

#include <cjson/cJSON.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/warpspy-redirect-XXXXXX";

/* ---- lines ---- */

/* words: the words of the line without the redirection, joined and quoted so that they can be typed again */
static const struct {
    const char *line;
    bool compares;
    enum redirect_to to;
    const char *target;
    bool force;
    const char *words, *error;
} lines[] = {
    {"stats", false, REDIRECT_NONE, NULL, false, "stats", NULL},
    {"stats > a.txt", false, REDIRECT_NEW, "a.txt", false, "stats", NULL},
    {"stats >a.txt", false, REDIRECT_NEW, "a.txt", false, "stats", NULL},
    {"stats A >> 'a b'", false, REDIRECT_APPEND, "a b", false, "stats A", NULL},
    {"stats > a force", false, REDIRECT_NEW, "a", true, "stats", NULL},
    {"stats > force", false, REDIRECT_NEW, "force", false, "stats", NULL},
    {"convert ell force > a", false, REDIRECT_NEW, "a", false, "convert ell force", NULL},
    {"stats > 100", false, REDIRECT_NEW, "100", false, "stats", NULL},
    {"load a>b", false, REDIRECT_NONE, NULL, false, "load \"a>b\"", NULL},
    {"load '>' a", false, REDIRECT_NONE, NULL, false, "load \">\" a", NULL},
    {"load \\> a", false, REDIRECT_NONE, NULL, false, "load \">\" a", NULL},
    {"stats >", false, REDIRECT_NONE, NULL, false, NULL, "a file is missing after `>`"},
    {"stats > a b", false, REDIRECT_NONE, NULL, false, NULL,
     "`> FILE` or `> FILE force` must be the end of the command"},
    {"stats > a > b", false, REDIRECT_NONE, NULL, false, NULL,
     "`> FILE` or `> FILE force` must be the end of the command"},
    {"find rows > 100", true, REDIRECT_NONE, NULL, false, "find rows > 100", NULL},
    {"find rows >1e-3", true, REDIRECT_NONE, NULL, false, "find rows > 1e-3", NULL},
    {"find rows >= 100", true, REDIRECT_NONE, NULL, false, "find rows \">=\" 100", NULL},
    {"find rows > 100 > a", true, REDIRECT_NEW, "a", false, "find rows > 100", NULL},
    {"find rows > 100 > a force", true, REDIRECT_NEW, "a", true, "find rows > 100", NULL},
    {"find rows > ./100", true, REDIRECT_NEW, "./100", false, "find rows", NULL},
    {"find rows > '100'", true, REDIRECT_NEW, "100", false, "find rows", NULL},
    {"find rows > abc", true, REDIRECT_NONE, NULL, false, "find rows > abc", NULL},
    {"find rows length > 1O0", true, REDIRECT_NONE, NULL, false, "find rows length > 1O0", NULL},
    {"find rows > 1.5k force", true, REDIRECT_NONE, NULL, false, "find rows > 1.5k force", NULL},
    {"find rows > 5 and sum > abc", true, REDIRECT_NONE, NULL, false, "find rows > 5 and sum > abc", NULL},
    {"find rows > 5 and sum > 6 > abc", true, REDIRECT_NEW, "abc", false, "find rows > 5 and sum > 6", NULL},
    {"find rows length < 5 of A > abc", true, REDIRECT_NEW, "abc", false, "find rows length \"<\" 5 of A", NULL},
    {"find rows > 'abc'", true, REDIRECT_NEW, "abc", false, "find rows", NULL},
    {"find rows > abc.csv", true, REDIRECT_NEW, "abc.csv", false, "find rows", NULL},
    {"find rows > /tmp/abc", true, REDIRECT_NEW, "/tmp/abc", false, "find rows", NULL},
    {"find rows >> abc", true, REDIRECT_APPEND, "abc", false, "find rows", NULL},
    {"find rows > 100 force", true, REDIRECT_NONE, NULL, false, "find rows > 100 force", NULL},
    {"find rows > 100 | less", true, REDIRECT_SHELL, "less", false, "find rows > 100", NULL},
    {"kernels | less", false, REDIRECT_SHELL, "less", false, "kernels", NULL},
    {"kernels |grep 'a;b' \"c\" | wc -l ; stats", false, REDIRECT_SHELL, "grep 'a;b' \"c\" | wc -l ", false, "kernels",
     NULL},
    {"kernels | cat > a", false, REDIRECT_SHELL, "cat > a", false, "kernels", NULL},
    {"load a|b", false, REDIRECT_NONE, NULL, false, "load \"a|b\"", NULL},
    {"kernels |", false, REDIRECT_NONE, NULL, false, NULL, "a shell command is missing after `|`"},
    {"kernels > a | cat", false, REDIRECT_NONE, NULL, false, NULL,
     "the output goes to a file or to a shell command, not to both; use `| tee FILE`"},
};

TEST(a_redirection_ends_the_line)
{
    static struct words w;
    for (int i = 0; i < COUNT(lines); i++) {
        struct redirect r = {0};
        struct err e = {0};
        char joined[200];
        const char *line = lines[i].line;
        assert_true(words_split(&w, &line, &e));
        bool ok = redirect_take(&r, &w, lines[i].compares, &e);
        if (ok != !lines[i].error) fail_msg("%s: %s", lines[i].line, e.text);
        if (!ok) assert_string_equal(e.text, lines[i].error);
        if (!ok) continue;
        w.pipe = NULL;
        words_join(&w, joined, sizeof joined);
        if (r.to != lines[i].to || r.force != lines[i].force) fail_msg("%s", lines[i].line);
        if (r.to) assert_string_equal(r.target, lines[i].target);
        assert_string_equal(joined, lines[i].words);
    }
}

TEST(redirected_lines_can_be_typed_again)
{
    static const char *const typed[] = {"stats > a force", "stats A >> \"a b\"", "kernels | grep 'a b'"};
    static struct words w;
    char joined[200];
    for (int i = 0; i < COUNT(typed); i++) {
        const char *line = typed[i];
        assert_true(words_split(&w, &line, NULL));
        words_join(&w, joined, sizeof joined);
        assert_string_equal(joined, typed[i]);
    }
}

TEST(a_grammar_with_comparisons_has_the_trait)
{
    for (int i = 0; commands[i]; i++)
        if (strchr(commands[i]->grammar, '>') && !commands[i]->compares) fail_msg("%s", commands[i]->name);
}

/* ---- files ---- */

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Run a line in which %s is the folder. */
static bool run_in(struct talk *t, const char *line)
{
    char text[400];
    snprintf(text, sizeof text, line, folder, folder);
    return talk_line(t, text);
}

static const char *content(const char *name)
{
    static char text[1 << 16];
    FILE *f = fopen(path_of(name), "r");
    if (!f) return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

TEST(a_file_holds_what_the_command_prints)
{
    for (enum out_mode mode = OUT_TEXT; mode <= OUT_CSV; mode++) {
        struct talk t;
        char printed[1 << 16], twice[1 << 17];
        talk_open(&t, mode);
        assert_true(talk_line(&t, "kernels"));
        snprintf(printed, sizeof printed, "%s", t.out + (mode == OUT_CSV && *t.out == '\n'));
        assert_true(run_in(&t, "kernels > %s/out force"));
        assert_string_equal(t.out, "");
        assert_string_equal(content("out"), printed);
        assert_true(run_in(&t, "kernels >> %s/out"));
        snprintf(twice, sizeof twice, "%s%s%s", printed, mode == OUT_CSV ? "\n" : "", printed);
        assert_string_equal(content("out"), twice);
        assert_true(talk_line(&t, "kernels"));
        assert_string_equal(t.out + (mode == OUT_CSV && *t.out == '\n'), printed);
        talk_close(&t);
    }
}

/* The end of the file's name chooses the form, whatever the session prints; a .json file is one array. */
TEST(the_name_of_a_file_chooses_its_form)
{
    for (enum out_mode mode = OUT_TEXT; mode <= OUT_CSV; mode++) {
        struct talk t, csv;
        int n = 0;
        talk_open(&csv, OUT_CSV);
        assert_true(talk_line(&csv, "kernels"));
        talk_open(&t, mode);
        assert_true(run_in(&t, "kernels > %s/k.csv force; kernels > %s/k.JSONL force"));
        assert_string_equal(t.out, "");
        assert_string_equal(content("k.csv"), csv.out);
        for (const char *at = content("k.JSONL"); (at = strchr(at, '\n')); at++) n++;
        assert_true(run_in(&t, "kernels > %s/k.json force"));
        cJSON *all = cJSON_Parse(content("k.json"));
        if (mode == OUT_JSON)
            assert_int_equal(strncmp(content("k.json"), "{\"command\":\"kernels\"", 20), 0);
        else
            assert_int_equal(cJSON_GetArraySize(all), n);
        cJSON_Delete(all);
        assert_true(talk_line(&t, "kernels")); /* the session's own mode is back */
        bool back = mode == OUT_JSON  ? t.out[0] == '{'
                    : mode == OUT_CSV ? strchr(t.out, ',') != NULL
                                      : !strchr(t.out, '"');
        assert_true(back);
        assert_false(run_in(&t, "stats > %s/none.json"));
        assert_null(content("none.json"));
        talk_close(&t);
        talk_close(&csv);
    }
}

TEST(an_existing_file_needs_force)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4 as A"));
    assert_true(run_in(&t, "version > %s/kept"));
    assert_false(run_in(&t, "stats > %s/kept"));
    assert_non_null(strstr(t.err, "file exists; add `force` to the command to overwrite it"));
    assert_int_equal(strncmp(content("kept"), "warpspy", 7), 0);
    assert_true(run_in(&t, "stats > %s/kept force"));
    assert_non_null(strstr(content("kept"), "nonzeros"));
    talk_close(&t);
}

TEST(a_failed_command_writes_no_file)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_false(run_in(&t, "stats > %s/none"));
    assert_non_null(strstr(t.err, "no matrix is loaded"));
    assert_false(run_in(&t, "nonsense > %s/none"));
    assert_null(content("none"));
    assert_false(run_in(&t, "version > %s/nowhere/at/all"));
    assert_non_null(strstr(t.err, "no such directory"));
    assert_false(run_in(&t, "version > %s"));
    assert_non_null(strstr(t.err, "a directory"));
    assert_true(talk_line(&t, "version > /dev/null"));
    talk_says(&t, "version", "warpspy");
    talk_close(&t);
}

/* Of short and of long output, which is written in several parts. */
TEST(a_full_disk_is_named)
{
    static const char *const full[] = {"stats > /dev/full", "stats >> /dev/full", "kernels > /dev/full",
                                       "kernels >> /dev/full"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 40"));
    for (int i = 0; i < COUNT(full); i++) talk_refuses(&t, full[i], "cannot write the file: No space left on device");
    talk_close(&t);
}

/* The output of a script goes to one file, unless a line of the script redirects its own output. */
TEST(redirections_nest)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    FILE *f = fopen(path_of("script.ws"), "w");
    fprintf(f, "gen poisson2d 3 as A\nversion > %s/inner\ndevices\n", folder);
    fclose(f);
    assert_true(run_in(&t, "source %s/script.ws allow files > %s/outer"));
    assert_string_equal(t.out, "");
    assert_int_equal(strncmp(content("inner"), "warpspy", 7), 0);
    assert_non_null(strstr(content("outer"), "cpu"));
    assert_null(strstr(content("outer"), "warpspy"));
    talk_close(&t);
}

/* ---- shell commands ---- */

TEST(a_shell_command_reads_the_output)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(run_in(&t, "kernels | grep 'csr-[v]ector' > %s/found; version"));
    assert_non_null(strstr(content("found"), "csr-vector"));
    assert_non_null(strstr(t.out, "warpspy"));
    assert_false(talk_line(&t, "kernels | grep no-such-kernel"));
    assert_string_equal(t.err, "kernels: the shell command ended with status 1\n");
    assert_false(talk_line(&t, "kernels | kill -TERM $$"));
    assert_non_null(strstr(t.err, "a signal ended it"));
    talk_close(&t);
}

/* More output than a pipe holds, for a command that reads none of the output. */
TEST(unread_output_is_harmless)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 300 as A"));
    for (int i = 0; i < 20; i++) assert_true(talk_line(&t, "help | true"));
    talk_close(&t);
}

TEST(an_interrupt_ends_the_shell_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_false(talk_line(&t, "version | kill -INT $$"));
    assert_non_null(strstr(t.err, "cancelled"));
    talk_close(&t);
}

TEST(scripts_need_permission_for_the_shell)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    FILE *f = fopen(path_of("sly.ws"), "w");
    fprintf(f, "version | touch %s/made\n", folder);
    fclose(f);
    assert_false(run_in(&t, "source %s/sly.ws"));
    assert_non_null(strstr(t.err, "a script may not run shell commands"));
    assert_null(content("made"));
    assert_true(run_in(&t, "source %s/sly.ws allow shell"));
    assert_non_null(content("made"));
    talk_close(&t);
}

static int in_a_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int without_it(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

SUITE(.setup = in_a_folder, .teardown = without_it);
