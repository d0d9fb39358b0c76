/* Run every command without the data that the command needs: a matrix, a solve, a race, a factorisation or a trace. The
   command works, or explains why it does not work. Each command runs after each view has been drawn, and in all forms
   of output. */
#include "kits/lines_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/command.h"
#include "ui/run.h"
#include "ui/view.h"

#include <unistd.h>

/* The commands that run before and after a view is drawn. */
static const struct scene {
    const char *name, *before, *after;
} scenes[] = {{"every_command_of_an_empty_session", "", ""},
              {"every_command_with_a_matrix_alone", "gen poisson2d 2", ""},
              {"every_command_after_the_matrix_is_dropped", "gen poisson2d 2", "drop all"}};

static void begin(struct talk *t, enum out_mode mode, const struct scene *at, const struct view *v)
{
    struct err e = {0};
    char keys[80];
    talk_open(t, mode);
    assert_true(ui_attach(&t->s, &e));
    assert_true(talk_line(t, at->before));
    snprintf(keys, sizeof keys, "keys j view %s", v->name);
    talk_line(t, keys);
    assert_true(talk_line(t, at->after));
    talk_forget(t);
    unlink("a.json");
}

/* Returns false if the command has no more lines to try. */
static bool try_line(enum out_mode mode, const struct scene *at, const struct view *v, const struct command *c, int nth)
{
    struct talk t;
    char line[200];
    begin(&t, mode, at, v);
    bool more = plain_line(c, &t.s, nth, line, sizeof line);
    if (more && !talk_line(&t, line) && !*t.err && !*t.out) fail_msg("`%s` after %s fails silently", line, v->name);
    talk_close_screen(&t);
    return more;
}

/* After the first view, try one line for each choice of the command's value; after every other view, try only the first
   choice. */
static void every_view(enum out_mode mode, const struct scene *at, const struct command *c)
{
    for (int i = 0; views[i]; i++)
        for (int nth = 0; nth < (i ? 1 : VIEWS_MAX) && try_line(mode, at, views[i], c, nth); nth++) continue;
}

TEST_OF_EACH(every_command, scenes)
{
    const struct scene *at = *state;
    for (int i = 0; commands[i]; i++)
        for (enum out_mode mode = OUT_TEXT; mode <= OUT_CSV; mode++) every_view(mode, at, commands[i]);
}

static char folder[] = "/tmp/warpspy-absent-XXXXXX";

static int in_a_folder(void **state)
{
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int without_it(void **state)
{
    unlink("a.json");
    return rmdir(folder);
}

SUITE(.setup = in_a_folder, .teardown = without_it);
