/* Aliases: what their lines do, how they are saved, and who may use and change them. */
#include "base/base.h"
#include "kits/config_home.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "language/options.h"
#include "session/alias.h"
#include "session/matrix.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(a_line_takes_the_place_of_its_name)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "alias grid = gen poisson2d; grid 5 as G"));
    assert_string_equal(t.s.current->name, "G");
    assert_int_equal(t.s.current->csr.rows, 25);
    assert_true(talk_line(&t, "alias two = \"grid 3 as A; grid 4\"; two as B; alias two"));
    assert_string_equal(t.s.current->name, "B");
    assert_int_equal(t.s.current->csr.rows, 16);
    talk_says(&t, "alias", "grid   gen poisson2d\ntwo    grid 3 as A; grid 4");
    talk_says(&t, "use A;grid 2 as C", "C");
    assert_true(talk_line(&t, "alias short=use; short G"));
    assert_string_equal(t.s.current->name, "G");
    assert_true(talk_line(&t, "alias short =list; alias short"));
    assert_non_null(strstr(t.out, "short  list"));
    talk_refuses(&t, "gridd 5", "did you mean `grid`?");
    talk_close(&t);
}

TEST(aliases_are_saved_with_the_options)
{
    struct talk t;
    char warned[1024];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "set ascii on; alias sh = stats; alias shh = list; set mouse off; alias sh = check all"));
    assert_string_equal(config(), "ascii on\nalias sh = check all\nalias shh = list\nmouse off\n");
    assert_true(talk_line(&t, "alias shh off"));
    assert_string_equal(config(), "ascii on\nalias sh = check all\nmouse off\n");
    talk_close(&t);
    talk_open(&t, OUT_TEXT);
    options_load(&t.s, warned, sizeof warned);
    assert_string_equal(warned, "");
    assert_string_equal(alias_find(&t.s, "sh all", 2)->line, "check all");
    assert_null(alias_find(&t.s, "shh", 3));
    assert_null(alias_find(&t.s, "s", 1));
    talk_close(&t);
}

TEST(a_wrong_alias_in_the_file_is_one_warning)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"alias\n", ":1: write `alias NAME = LINE`"},
        {"alias p\n", ":1: write `alias NAME = LINE`"},
        {"alias stats = list\n", ":1: `stats` is a command"},
        {"alias a/b = list\n", ":1: `a/b` after `alias` is not a name"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        char path[128], warned[1024];
        snprintf(path, sizeof path, "%s/warpspy", config_folder);
        mkdir(path, 0700);
        FILE *f = fopen(config_file, "w");
        fputs(cases[i].text, f);
        fclose(f);
        talk_open(&t, OUT_TEXT);
        options_load(&t.s, warned, sizeof warned);
        if (!strstr(warned, cases[i].warning)) fail_msg("expected `%s` in: %s", cases[i].warning, warned);
        talk_close(&t);
    }
}

TEST(wrong_aliases_are_refused)
{
    static const char *const cases[][2] = {
        {"alias stats = list", "`stats` is a command; choose another name"},
        {"alias q = list", "`q` is a command"},
        {"alias nothing off", "there is no alias `nothing`"},
        {"alias off", "name the alias before `off`"},
        {"alias p =", "the line after = is missing"},
        {"alias p list", "the = is missing: `alias p = LINE`"},
        {"alias a/b = list", "not a name"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i][0], cases[i][1]);
    assert_string_equal(config(), "");
    assert_true(talk_line(&t, "alias one = two; alias two = one"));
    talk_refuses(&t, "one", "more than 10 aliases are nested; does `");
    char line[1100] = "alias long = ";
    memset(line + strlen(line), 'x', 1001);
    talk_refuses(&t, line, "at most 1000 bytes");
    talk_close(&t);
}

/* The line of an alias has the permissions of the user. */
TEST(only_lines_of_the_user_use_aliases)
{
    struct talk t;
    struct lines outer;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "alias one = version; one"));
    assert_true(lines_begin(&t.s, "a script", NULL, &outer, NULL));
    talk_refuses(&t, "one", "there is no such command; `help` lists");
    talk_refuses(&t, "alias one = list", "a script may not change aliases");
    talk_refuses(&t, "alias one off", "a script may not change aliases");
    lines_end(&t.s, &outer);
    assert_true(talk_line(&t, "one"));
    talk_close(&t);
}

struct given {
    char text[1000];
};

static void give(void *user, const char *word)
{
    struct given *g = user;
    strcat(strcat(g->text, word), " ");
}

static const char *completed(struct session *s, const char *line)
{
    static struct given g;
    g.text[0] = 0;
    complete(s, line, strlen(line), give, &g);
    return g.text;
}

TEST(completion_knows_aliases_and_their_lines)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "alias zeta = \"list; gen\"; alias ring = ring2; alias ring2 = ring"));
    assert_string_equal(completed(&t.s, "ze"), "zeta ");
    assert_string_equal(completed(&t.s, "zeta"), "zeta ");
    assert_string_equal(completed(&t.s, "zeta poisson2"), "poisson2d ");
    assert_string_equal(completed(&t.s, "list; zeta poisson2"), "poisson2d ");
    assert_string_equal(completed(&t.s, "ring p"), "");
    assert_string_equal(completed(&t.s, "alias ze"), "zeta ");
    assert_string_equal(completed(&t.s, "alias x = vers"), "version ");
    talk_close(&t);
}

TEST(the_template_of_the_prompt_has_known_fields)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "set prompt \"{foo}>\"",
                 "`{foo}` is not a field of the prompt; one of {matrix}, {device}, {time}");
    talk_refuses(&t, "set prompt \"{matrix\"", "`{matrix` is not a field");
    talk_refuses(&t, "set prompt \"\"", "is not a value");
    assert_true(talk_line(&t, "set prompt \"{matrix} {time}>\"; set prompt"));
    assert_non_null(strstr(t.out, "{matrix} {time}>"));
    assert_string_equal(config(), "prompt {matrix} {time}>\n");
    talk_close(&t);
}

TEST(scripts_cannot_read_the_history)
{
    struct talk t;
    struct lines outer;
    talk_open_screen(&t);
    assert_true(lines_begin(&t.s, "a script", NULL, &outer, NULL));
    talk_refuses(&t, "history", "a script may not read the lines that you typed");
    talk_refuses(&t, "edit", "an editor needs a terminal");
    t.s.interactive = true;
    talk_refuses(&t, "edit", "a script may not run shell commands");
    lines_end(&t.s, &outer);
    talk_close_screen(&t);
}

SUITE(.before = config_home_make, .after = config_home_remove);
