/* The pictures at the top of README.md are what `export` writes now. WARPSPY_GOLDEN=write rewrites them. */
#include "kits/golden_kit.h"
#include "kits/talk.h"
#include "kits/test.h"

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

SUITE(.setup = golden_begin, .teardown = golden_end);
