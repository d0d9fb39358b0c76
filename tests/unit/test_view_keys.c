/* A key has the same meaning in all views: compare the key bars of the views with the table in ui/views/README.md. */
#include "kits/talk.h"
#include "kits/test.h"
#include "ui/screen.h"
#include "ui/screen_private.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <ctype.h>

enum { ROWS_MAX = 64, TEXT = 160 };

/* A row of the table: its keys, each preceded and followed by a blank. */
static struct row {
    char keys[TEXT], meaning[TEXT];
    bool local;
} table[ROWS_MAX];
static int rows;

static void cell(const char **p, char *out, size_t size)
{
    const char *end = strstr(*p, " |");
    assert_non_null(end);
    snprintf(out, size, "%.*s", (int)(end - *p), *p);
    *p = end + strlen(" |") + (end[2] == ' ');
}

static int read_table(void **state)
{
    char line[400], local[TEXT];
    FILE *f = fopen("ui/views/README.md", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *p = line + 2;
        if (strncmp(line, "| ", 2) || !strncmp(line, "| key", 5)) continue;
        struct row *r = &table[rows++];
        if (rows == ROWS_MAX) return -1;
        char keys[TEXT - 2];
        cell(&p, keys, sizeof keys);
        snprintf(r->keys, sizeof r->keys, " %s ", keys);
        cell(&p, r->meaning, sizeof r->meaning);
        snprintf(local, sizeof local, "%s", p);
        r->local = !strncmp(local, "local", 5);
    }
    if (f) fclose(f);
    return rows > 20 ? 0 : -1;
}

static const struct row *row_of(const char *key)
{
    char word[40];
    const struct row *found = NULL;
    snprintf(word, sizeof word, " %s ", key);
    for (int i = 0; i < rows; i++) {
        if (!strstr(table[i].keys, word)) continue;
        if (found) fail_msg("%s has two rows", key);
        found = &table[i];
    }
    return found;
}

/* Check one key that the key bar of v describes by `text`. */
static void check_key(const struct view *v, const char *key, const char *text)
{
    const struct row *r = row_of(key);
    if (!r) fail_msg("%s: the key `%s` (%s) is not in the table", v->name, key, text);
    if (!r->local && strncmp(text, r->meaning, strlen(r->meaning)))
        fail_msg("%s: the key `%s` means `%s`, elsewhere `%s`", v->name, key, text, r->meaning);
}

/* Check "s/b step, back": all keys of one entry share its text. */
static void check_entry(const struct view *v, const char *entry)
{
    char keys[40];
    size_t n = strcspn(entry, " ");
    snprintf(keys, sizeof keys, "%.*s", (int)n, entry);
    if (!strcmp(keys, "/")) return check_key(v, keys, entry + n + 1);
    for (char *key = strtok(keys, "/"); key; key = strtok(NULL, "/")) check_key(v, key, entry + n + 1);
}

/* An entry such as "continue at the prompt resumes" describes a command, not a key. */
static bool is_sentence(const char *entry)
{
    return strstr(entry, " at the prompt ");
}

static void check_bar(const struct view *v, const char *keys)
{
    while (*keys) {
        char entry[TEXT];
        const char *end = strstr(keys, "  ");
        int n = end ? (int)(end - keys) : (int)strlen(keys);
        snprintf(entry, sizeof entry, "%.*s", n, keys);
        if (!is_sentence(entry)) check_entry(v, entry);
        keys += n + (end ? 2 : 0);
    }
}

TEST(a_key_has_one_meaning)
{
    struct talk t;
    talk_open_screen(&t);
    for (int i = 0; views[i]; i++) {
        check_bar(views[i], views[i]->keys);
        if (views[i]->keys_now) check_bar(views[i], views[i]->keys_now(&t.s));
    }
    talk_close_screen(&t);
}

/* Is the key in the bar of the view, or does view_key handle it for all views? The key = counts as the key +, because
   it is the same key without Shift. */
static bool is_listed(const struct view *v, char key)
{
    if (key == '=') return is_listed(v, '+');
    char word[] = {' ', ' ', key, ' ', 0}, first[] = {' ', ' ', key, '/', 0}, second[] = {'/', key, ' ', 0};
    char bar[1000];
    snprintf(bar, sizeof bar, "  %s  ", v->keys);
    bool digit = isdigit((unsigned char)key) && strstr(bar, " 0-9 "), blank = key == ' ' && strstr(bar, " space ");
    return digit || blank || strchr("?q/x", key) || strstr(bar, word) || strstr(bar, first) || strstr(bar, second);
}

static char *drawn(struct talk *t, const struct view *v)
{
    struct canvas c;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_true(f && canvas_new(&c, 100, 30, false, NULL));
    view_draw(v, &c, &t->s, screen_view_state(&t->s, v));
    canvas_print(&c, f, COLOURS_NONE);
    canvas_free(&c);
    fclose(f);
    return text;
}

/* A letter that the bar of a view does not list does nothing in the view. */
TEST(other_keys_do_nothing)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t,
                          "gen dense 12; lu step; gen poisson2d 12; trace csr-vector; race cg jacobi maxit 5 on cpu; "
                          "bench csr top 2 reps 1 on cpu; solve cg step on cpu; step 3"));
    for (int i = 0; views[i]; i++) {
        struct view_state *st = screen_view_state(&t.s, views[i]);
        struct err e = {0};
        view_reset(st, t.s.current);
        st->full = true;
        if (views[i]->prepare && !views[i]->prepare(&t.s, st, &e)) fail_msg("%s: %s", views[i]->name, e.text);
        char *before = drawn(&t, views[i]);
        for (char key = ' '; key < 0x7f; key++) {
            if (is_listed(views[i], key)) continue;
            assert_true(view_key(&t.s, views[i], key));
            char *after = drawn(&t, views[i]);
            if (strcmp(before, after))
                fail_msg("%s: the key `%c` is not listed, but changes the picture", views[i]->name, key);
            free(after);
        }
        free(before);
    }
    talk_close_screen(&t);
}

/* The key x stops work, and never leaves a view. */
TEST(x_never_leaves)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 12"));
    for (int i = 0; views[i]; i++) assert_true(view_key(&t.s, views[i], 'x'));
    talk_says(&t, "keys x view rows; screendump", "nothing runs in this view that x could stop; q leaves");
    assert_true(talk_line(&t, "solve cg step on cpu; keys x view solve"));
    talk_refuses(&t, "step", "no solve is paused");
    talk_close_screen(&t);
}

SUITE(.setup = read_table);
