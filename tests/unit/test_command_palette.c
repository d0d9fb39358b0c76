/* The palette: which items match, in which order, and what a choice does in the explorer. */
#include "base/base.h"
#include "kits/keys_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "ui/command_palette.h"
#include "ui/explorer.h"
#include "ui/screen.h"
#include "ui/term.h"

static int score(const char *typed, const char *name, const char *about)
{
    struct palette_item item = {PALETTE_TOPIC, (char *)name, (char *)about};
    return palette_score(typed, &item);
}

TEST(better_matches_have_higher_scores)
{
    int exact = score("csr", "csr", ""), prefix = score("csr", "csr-vector", ""), start = score("csr", "x-csr", ""),
        inside = score("csr", "sccsr", ""), letters = score("cvec", "csr-vector", ""),
        about = score("csr", "ell", "as in CSR");
    assert_true(exact > prefix && prefix > start && start > inside && inside > letters && letters > about && about > 0);
    assert_true(score("csr", "csr-ends", "") > score("csr", "csr-vector-texture", ""));
    assert_int_equal(score("csr", "ell", "padded"), 0);
    assert_int_equal(score("cz", "csr-vector", ""), 0);
    assert_int_equal(score("ce", "c............e", ""), 0);
    assert_int_equal(score("v", "csr-x", ""), 0);
    assert_true(score("VEC csr", "csr-vector", "") > 0);
    assert_int_equal(score("vec ell", "csr-vector", ""), 0);
    assert_true(score("", "csr", "") > 0 && score("  ", "csr", "") > 0);
}

TEST(commands_come_before_other_items_of_the_same_name)
{
    struct palette_item command = {PALETTE_COMMAND, "spy", ""}, view = {PALETTE_VIEW, "spy", ""};
    assert_true(palette_score("spy", &command) > palette_score("spy", &view));
}

TEST(a_choice_becomes_a_line)
{
    static const struct {
        enum palette_sort sort;
        const char *line;
        bool runs;
    } cases[] = {{PALETTE_COMMAND, "spy ", false},
                 {PALETTE_ALIAS, "spy ", false},
                 {PALETTE_VIEW, "view spy", true},
                 {PALETTE_TOPIC, "help spy", true},
                 {PALETTE_LINE, "spy", false}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct palette_item item = {cases[i].sort, "spy", ""};
        char line[40];
        bool runs;
        palette_line(&item, line, sizeof line, &runs);
        assert_string_equal(line, cases[i].line);
        assert_int_equal(runs, cases[i].runs);
    }
}

TEST(keys_choose_and_leave)
{
    struct talk t;
    struct palette p;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "alias zzz = version"));
    assert_true(palette_open(&p, &t.s, NULL));
    int all = p.nfound;
    assert_true(all > 300);
    assert_string_equal(palette_choice(&p)->name, "load");
    palette_key(&p, UI_DOWN);
    palette_key(&p, 'N' & 0x1f);
    assert_string_equal(palette_choice(&p)->name, "list");
    palette_key(&p, UI_UP);
    palette_key(&p, UI_UP);
    palette_key(&p, UI_UP);
    assert_string_equal(palette_choice(&p)->name, "load");
    palette_key(&p, UI_END);
    palette_key(&p, UI_DOWN);
    assert_int_equal(p.at, all - 1);
    for (const char *c = "zzz"; *c; c++) assert_int_equal(palette_key(&p, *c), PALETTE_ON);
    assert_int_equal(p.nfound, 1);
    assert_string_equal(palette_choice(&p)->about, "version");
    palette_key(&p, 'z');
    assert_int_equal(p.nfound, 0);
    assert_int_equal(palette_key(&p, UI_ENTER), PALETTE_ON);
    for (int i = 0; i < 4; i++) assert_int_equal(palette_key(&p, 0x7f), PALETTE_ON);
    assert_int_equal(p.nfound, all);
    assert_int_equal(palette_key(&p, 0x7f), PALETTE_LEFT);
    assert_int_equal(palette_key(&p, UI_ESC), PALETTE_LEFT);
    assert_int_equal(palette_key(&p, UI_ENTER), PALETTE_CHOSEN);
    palette_close(&p);
    palette_close(&p);
    assert_true(talk_line(&t, "alias zzz off"));
    talk_close_screen(&t);
}

static void shows(struct talk *t, const char *line, const char *part)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    talk_says(t, "screendump", part);
}

TEST(the_explorer_has_the_palette)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    shows(&t, "keys C-p view spy", " palette ");
    shows(&t, "keys F1 'roofl' Down view spy", " > roofl");
    shows(&t, "keys F1 'rows' Down Enter view spy", "[2 rows]");
    shows(&t, "keys C-p 'roof' Down Enter view spy", "13 roofline: no roofline yet");
    shows(&t, "keys C-p 'gmr' Enter view spy", ":help gmres");
    shows(&t, "keys C-p 'exten' C-u 'gen' Enter view spy", ":gen ");
    shows(&t, "keys C-p Esc view spy", "[1 spy]");
    shows(&t, "keys C-p 'qqqq' Enter view spy", "nothing has these letters");
    shows(&t, "keys v C-p view spy", " palette ");
    shows(&t, "keys / C-p view spy", "row [column]");
    shows(&t, "keys C-p size 40x10 view spy", "Enter choose");
    talk_close_screen(&t);
}

SUITE(0);
