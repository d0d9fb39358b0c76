/* The pictures at the top of README.md are what `export` writes now, and its kernel does what it shows.
 * WARPSPY_GOLDEN=write rewrites them. */
#include "kits/golden_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lab/lab.h"
#include "machine/toolkit.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct picture {
    const char *file, *commands;
} pictures[] = {
    {"samples/pictures/trace.svg",
     "load samples/add32.mtx.gz; trace csr-scalar step 20; export trace %s size 84x24 force"},
    {"samples/pictures/solve.svg",
     "load samples/1138_bus.mtx; solve cg precond ic0 on emu; export solve %s size 84x24 force"},
};

static char *content(const char *path)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = fopen(path, "r"), *to = open_memstream(&text, &n);
    assert_true(f && to);
    for (int c; (c = getc(f)) != EOF;) putc(c, to);
    fclose(f);
    fclose(to);
    return text;
}

TEST(pictures_are_current)
{
    char path[] = "/tmp/test_readme.XXXXXX.svg", line[400];
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < COUNT(pictures); i++) {
        struct talk t;
        talk_open_screen(&t);
        snprintf(line, sizeof line, pictures[i].commands, path);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        char *found = content(path);
        assert_non_null(strstr(found, "</svg>"));
        assert_true(golden_same(pictures[i].file, found));
        free(found);
        talk_close_screen(&t);
    }
    unlink(path);
}

/* README.md begins with the pictures, and states the commands that make them. */
TEST(the_readme_shows_them)
{
    char *text = content("README.md"), command[200];
    for (int i = 0; i < COUNT(pictures); i++) {
        const char *at = strstr(text, pictures[i].file), *end = strstr(pictures[i].commands, "; export");
        assert_true(at && at < strstr(text, "## Quick start"));
        snprintf(command, sizeof command, "%.*s", (int)(end - pictures[i].commands), pictures[i].commands);
        if (!strstr(text, command)) fail_msg("README.md does not state `%s`", command);
    }
    free(text);
}

/* ---- the kernel of README.md ---- */

/* The kernel, with its mistake corrected, as a file in a new folder. */
static void write_kernel(const char *readme, char *path)
{
    static const char wrong[] = "if (row > rows)";
    const char *from = strstr(readme, "```cuda\n"), *end = from ? strstr(from + 8, "```") : NULL;
    const char *at = from ? strstr(from, wrong) : NULL;
    assert_true(end && at && at < end && mkdtemp(path));
    strcat(path, "/mine.cu");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    from += strlen("```cuda\n");
    fprintf(f, "%.*sif (row >= rows)", (int)(at - from), from);
    at += strlen(wrong);
    fprintf(f, "%.*s", (int)(end - at), at);
    fclose(f);
}

/* Each line that README.md shows is printed. */
static void assert_shown(const char *readme, const char *out)
{
    const char *first = strstr(readme, "> try mine.cu\n"), *from = first ? strstr(first + 1, "> try mine.cu\n") : NULL;
    assert_non_null(from);
    for (const char *p = strchr(from, '\n') + 1; !strncmp(p, "    ", 4); p = strchr(p, '\n') + 1) {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(p + 4, "\n"), p + 4);
        if (strcmp(line, "...") && !strstr(out, line)) fail_msg("README.md shows `%s`, but try prints: %s", line, out);
    }
}

TEST(the_kernel_of_the_readme_does_what_it_shows)
{
    struct talk t;
    char program[PATH_MAX], line[80], path[64] = "/tmp/test_readme.XXXXXX";
    unsetenv("WARPSPY_NVCC");
    if (!toolkit_nvcc() || !toolkit_nvdisasm(toolkit_nvcc())) skip();
    assert_true(find_warpspy(program));
    lab_set_program(program);
    char *readme = content("README.md");
    write_kernel(readme, path);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/1138_bus.mtx"));
    snprintf(line, sizeof line, "try %s", path);
    talk_says(&t, line, "result                 right");
    assert_shown(readme, t.out);
    setenv("WARPSPY_NVCC", "off", 1);
    talk_says(&t, line, "1364     9788");
    talk_close(&t);
    lab_close();
    unlink(path);
    *strrchr(path, '/') = 0;
    rmdir(path);
    free(readme);
}

SUITE(.setup = golden_begin, .teardown = golden_end);
