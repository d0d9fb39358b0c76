/* Transcripts: replaying them under a clock that ticks alike everywhere, and comparing the output line by line. */
#include "transcript_kit.h"
#include "base/base.h"
#include "base/clock.h"
#include "golden_kit.h"
#include "lab/lab.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "ui/run.h"

#include <limits.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 100, HEIGHT = 30, LINES_MAX = 400 };

/* ---- what differs between machines ---- */

static char folder[] = "/tmp/warpspy-transcript-XXXXXX", home[PATH_MAX];

/* What the brackets of a pattern enclose is replaced: versions of libraries, rounding errors, and the digits after
   eight decimals, which rounding changes. A line of output that looks like a typed line is moved. */
static const struct {
    const char *pattern, *by;
} masks[] = {
    {"\\.so(\\.[0-9]+)", ""},
    {"([0-9]\\.?[0-9]*e-(1[4-9]|[23][0-9]))", "ROUNDING"},
    {"[0-9]\\.[0-9]{8}([0-9]{3,})", ""},
    {"^(> )", " > "},
};

/* Replace *text, which is freed, by what was written to *done through f. */
static void take_over(char **text, char **done, FILE *f)
{
    assert_int_equal(fclose(f), 0);
    free(*text);
    *text = *done;
}

static void replace_pattern(char **text, const char *pattern, const char *by)
{
    char *done = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&done, &size);
    regex_t r;
    regmatch_t found[2];
    assert_true(f && !regcomp(&r, pattern, REG_EXTENDED | REG_NEWLINE));
    const char *at = *text;
    for (; !regexec(&r, at, 2, found, at == *text ? 0 : REG_NOTBOL); at += found[1].rm_eo)
        fprintf(f, "%.*s%s", (int)found[1].rm_so, at, by);
    fputs(at, f);
    regfree(&r);
    take_over(text, &done, f);
}

static void replace_words(char **text, const char *words, const char *by)
{
    char *done = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&done, &size);
    assert_non_null(f);
    const char *at = *text;
    for (const char *next; (next = strstr(at, words)); at = next + strlen(words))
        fprintf(f, "%.*s%s", (int)(next - at), at, by);
    fputs(at, f);
    take_over(text, &done, f);
}

char *transcript_mask(const char *text)
{
    char *masked = strdup(text);
    assert_non_null(masked);
    replace_words(&masked, folder, "FOLDER");
    replace_words(&masked, device_open("cpu", NULL)->about, "PROCESSOR");
    for (int i = 0; i < COUNT(masks); i++) replace_pattern(&masked, masks[i].pattern, masks[i].by);
    return masked;
}

/* ---- the folder ---- */

static void link_to(const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", home, name);
    assert_int_equal(symlink(path, name), 0);
}

int transcript_begin(void **state)
{
    static const char *const homes[] = {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"};
    assert_int_equal(golden_begin(state), 0);
    assert_true(mkdtemp(folder) && getcwd(home, sizeof home) && !chdir(folder));
    for (int i = 0; i < COUNT(homes); i++) setenv(homes[i], folder, 1);
    link_to("samples");
    link_to("tests");
    return 0;
}

int transcript_end(void **state)
{
    char command[80];
    assert_int_equal(chdir(home), 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    return golden_end(state);
}

/* Remove what the commands of a transcript have written; the links stay. */
static void empty_folder(void)
{
    assert_int_equal(system("find . -mindepth 1 -maxdepth 1 ! -type l -exec rm -rf {} +"), 0);
}

/* ---- files ---- */

static bool add_file(FILE *to, const char *path)
{
    FILE *f = fopen(path, "r");
    char buffer[4096];
    if (!f) return false;
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f));) fwrite(buffer, 1, n, to);
    return !fclose(f);
}

/* The content of a file; the caller frees it. */
static char *content(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    if (!add_file(f, path)) fail_msg("%s cannot be read", path);
    fclose(f);
    return text;
}

/* ---- a transcript ---- */

/* A typed line, and its output up to the next typed line. */
struct said {
    char *line, *output;
};

static const char *next_typed(const char *at)
{
    const char *next = strstr(at, "\n> ");
    return next ? next + 1 : at + strlen(at);
}

/* Split a transcript; returns the number of typed lines. */
static int split(const char *text, struct said *said)
{
    int n = 0;
    for (const char *at = text, *end; *at; at = end, n++) {
        if (strncmp(at, "> ", 2) != 0 || n == LINES_MAX) fail_msg("expected a line after `> `: %.60s", at);
        const char *output = at + strcspn(at, "\n");
        end = next_typed(output);
        said[n].line = strndup(at + 2, (size_t)(output - at - 2));
        said[n].output = output < end ? strndup(output + 1, (size_t)(end - output - 1)) : strdup("");
    }
    return n;
}

static void free_said(struct said *said, int n)
{
    for (int i = 0; i < n; i++) free(said[i].line), free(said[i].output);
}

/* ---- replaying ---- */

static double ticks_us;

static double ticking(void)
{
    return ticks_us += 100;
}

static enum out_mode mode_of(const char *path)
{
    return strstr(path, ".json.txt") ? OUT_JSON : strstr(path, ".csv.txt") ? OUT_CSV : OUT_TEXT;
}

static void begin_session(struct session *s, FILE *f, enum out_mode mode)
{
    struct err e = {0};
    assert_true(session_new(s, f, f, mode, &e));
    assert_true(ui_attach(s, &e));
    golden_views(s, NULL);
    s->batch = true;
    s->front->ascii = false;
    s->front->width = WIDTH;
    s->front->height = HEIGHT;
    assert_non_null(s->dev = device_open("cpu", &e));
}

/* Run a line. It begins at a whole second, so that the times of later lines do not depend on the readings of this
   one. */
static void type(struct session *s, FILE *f, const char *line)
{
    ticks_us = 1e6 * (floor(ticks_us / 1e6) + 1);
    if (strncmp(line, "cat ", 4) != 0)
        run_line(s, line);
    else if (!add_file(f, line + 4))
        fprintf(f, "no file\n");
}

/* The output of a line; it ends with a line end unless it is empty. */
static char *output_of(struct session *s, FILE *f, char **all, const char *line)
{
    fflush(f);
    rewind(f);
    type(s, f, line);
    fputc(0, f);
    fflush(f);
    char *masked = transcript_mask(*all), *ended = NULL;
    size_t n = strlen(masked);
    bool ends = !n || masked[n - 1] == '\n';
    assert_true(asprintf(&ended, "%s%s", masked, ends ? "" : "\n") >= 0);
    free(masked);
    return ended;
}

/* The printed output of each of the lines of `said`. */
static void replay(const char *path, const struct said *said, int n, char **printed)
{
    struct session s;
    char *all = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&all, &size);
    assert_non_null(f);
    ticks_us = 0;
    now_replace(ticking);
    begin_session(&s, f, mode_of(path));
    for (int i = 0; i < n; i++) printed[i] = output_of(&s, f, &all, said[i].line);
    ui_detach(&s);
    session_free(&s);
    lab_close();
    now_replace(NULL);
    fclose(f);
    free(all);
    empty_folder();
}

static bool is_writing(void)
{
    const char *mode = getenv("WARPSPY_GOLDEN");
    return mode && !strcmp(mode, "write");
}

static void write_transcript(const char *path, const struct said *said, int n, char **printed)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++) fprintf(f, "> %s\n%s", said[i].line, printed[i]);
    assert_int_equal(fclose(f), 0);
}

static bool compare(const char *path, const struct said *said, int n, char **printed)
{
    bool same = true;
    for (int i = 0; i < n; i++) {
        if (!strcmp(said[i].output, printed[i])) continue;
        printf("%s: > %s\nexpected:\n%sgot:\n%s", path, said[i].line, said[i].output, printed[i]);
        same = false;
    }
    return same;
}

bool transcript_same(const char *path)
{
    static struct said said[LINES_MAX];
    static char *printed[LINES_MAX];
    char *text = content(path);
    int n = split(text, said);
    free(text);
    replay(path, said, n, printed);
    bool same = true;
    if (is_writing())
        write_transcript(path, said, n, printed);
    else
        same = compare(path, said, n, printed);
    for (int i = 0; i < n; i++) free(printed[i]);
    free_said(said, n);
    return same;
}
