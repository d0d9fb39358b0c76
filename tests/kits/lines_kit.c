/* Command lines made from grammars. */
#include "lines_kit.h"
#include "base/base.h"
#include "language/grammar.h"
#include "language/kinds.h"
#include "matrix/random.h"
#include "session/command.h"

#include <stdio.h>
#include <string.h>

enum { CHOICES_MAX = 256, CHOICE_ROOM = 64 };

/* What may follow the words of a command: keywords, and values of certain kinds. */
struct choice {
    const struct item *item;
    bool value;
};
struct expected {
    struct words w;
    struct args a;
    struct choice choice[ITEMS_MAX];
    int n;
};

/* The names that a kind of value lists. */
struct names {
    char name[CHOICES_MAX][CHOICE_ROOM];
    int n;
};

static void note_choice(void *user, const struct item *it, enum next next)
{
    struct expected *x = user;
    if (x->n < ITEMS_MAX) x->choice[x->n++] = (struct choice){it, next != NEXT_KEYWORD};
}

static void note_name(void *user, const char *name)
{
    struct names *all = user;
    if (all->n < CHOICES_MAX) snprintf(all->name[all->n++], CHOICE_ROOM, "%s", name);
}

static struct names *names_of(const struct kind *k, const struct session *s, const struct args *a)
{
    static struct names all;
    all.n = 0;
    kind_list(k, s, a, note_name, &all);
    return &all;
}

/* What may follow `command`, a single command without `;`. */
static struct expected *expected_after(struct session *s, const struct command *c, const char *command)
{
    static struct expected x; /* static, because the array is too large for the stack */
    x.n = 0;
    if (words_split(&x.w, &command, NULL)) args_expected(&x.a, s, c, &x.w, x.w.n, note_choice, &x);
    return &x;
}

static void add(char *line, size_t size, const char *word)
{
    size_t n = strlen(line);
    if (n + strlen(word) + 2 < size) snprintf(line + n, size - n, "%s%s", n ? " " : "", word);
}

/* ---- plain lines ---- */

/* A word of a kind that has no list of values. */
static const char *plain_word(const struct kind *k, const struct session *s)
{
    if (k->role == KIND_FILE) return "a.json";
    return kind_value(k, s, "1") ? "1" : "Z";
}

bool plain_line(const struct command *c, struct session *s, int nth, char *line, size_t size)
{
    struct grammar g;
    bool chosen = false;
    line[0] = 0;
    add(line, size, c->name);
    if (!grammar_parse(c->grammar, &g)) return false;
    for (int i = 0; i < g.n; i++) {
        const struct item *it = &g.item[i];
        /* Do not choose files from a list, because the command might run the file (for example, a lesson). */
        bool listed = it->type == ITEM_VALUE && it->value->role != KIND_PARAMS && it->value->role != KIND_FILE &&
                      kind_has_list(it->value);
        if (it->type == ITEM_WORD) add(line, size, it->word);
        if (it->type != ITEM_VALUE || (it->optional && (!listed || chosen))) continue;
        struct names *all = names_of(it->value, s, NULL);
        int at = listed && !chosen ? nth : 0;
        if (listed && !chosen && nth && nth >= all->n) return false;
        add(line, size, all->n ? all->name[at] : plain_word(it->value, s));
        chosen |= listed;
    }
    return chosen || !nth;
}

/* ---- random lines ---- */

static const char *const small[] = {"1", "1", "2", "3", "4", "5", "6", "8", "12"};
static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "5",
                                      "7",
                                      "12",
                                      "30",
                                      "-1",
                                      "0x10",
                                      "2e1",
                                      "1e-6",
                                      "0.5",
                                      "1e308",
                                      "-0",
                                      "nan",
                                      "inf",
                                      "1e400",
                                      "3000000000",
                                      "9223372036854775807",
                                      "99999999999999999999"};
static const char *const files[] = {
    "thesis4.mtx",  "diag6.mtx", "nos3.mtx.gz", "coo.npz",  "level5.mat", "complex.rb", "empty.mtx",  "nan.mtx",
    "singular.mtx", "odd.mtx",   "a.mtx",       "b.mtx.gz", "c.wsb",      "d.npz",      "e.txt",      "f.svg",
    "g.png",        "h.json",    "i.csv",       "j.html",   "k.ansi",     "lesson.txt", "script.txt", "nowhere"};
static const char *const words[] = {"Down", "t",      "Enter", "Tab",   "?",     ":list",   ":quit",     "svg",
                                    "json", "csv",    "txt",   "40x10", "80x24", "400x400", "row",       "col",
                                    "auto", "none",   "8",     "on",    "off",   "A",       "Click:3,4", "=",
                                    "A'",   "B=A*A'", "2*I",   "(A",    "0:3",   "> 3",     "sum < 0"};
static const char *const hostile[] = {
    "''",           "\"",      "'",   "\\",    "#",       "\x01",   "\x1b[2J", "\xff\xfe",
    "\xe2\x80\xae", "%s%n%n",  "%",   "[a]",   "-",       "--json", "a=b",     "..",
    "'two words'",  "\"a;b\"", "\\;", "\t",    "$(true)", "`true`", "*",       "\xf0\x9f\x98\x80",
    "\xc2\x9b",     "9x9",     "0x0", "-1x-1", "NaN",     "e",      "+",       "1_000",
    "of",           "on",      "as",  ">",     ">>"};

static uint64_t below(uint64_t *random, int n)
{
    return random_next(random) % (uint64_t)n;
}

static const char *any_of(uint64_t *random, const char *const *list, int n)
{
    return list[below(random, n)];
}

/* Hostile text of arbitrary bytes, except bytes with which a command could run a shell or leave the folder. */
static const char *any_bytes(uint64_t *random)
{
    static char text[600];
    int n = (int)below(random, below(random, 20) ? 20 : (int)sizeof text);
    for (int i = 0; i < n; i++) {
        text[i] = (char)(1 + below(random, 255));
        if (strchr("!|/~\n\r", text[i])) text[i] = '.';
    }
    text[n] = 0;
    return text;
}

static const char *hostile_word(uint64_t *random)
{
    switch (below(random, 6)) {
    case 0:
        return any_bytes(random);
    case 1:
        return any_of(random, numbers, COUNT(numbers));
    case 2:
        return any_of(random, files, COUNT(files));
    case 3:
        return any_of(random, words, COUNT(words));
    default:
        return any_of(random, hostile, COUNT(hostile));
    }
}

/* A random value for an argument of kind k. If the kind lists values, return one of these values. Otherwise, return a
   file, a number or a word; most of the words are valid values of the kind. */
static const char *value_of(uint64_t *random, const struct kind *k, const struct session *s, const struct args *a)
{
    struct names *all = names_of(k, s, a);
    const char *word = "";
    if (all->n && (k->role != KIND_PARAMS || below(random, 2))) return all->name[below(random, all->n)];
    if (k->role == KIND_FILE) return any_of(random, files, COUNT(files));
    for (int tries = 0; tries < 8; tries++) {
        uint64_t from = below(random, 10);
        word = from < 5   ? any_of(random, small, COUNT(small))
               : from < 7 ? any_of(random, numbers, COUNT(numbers))
                          : any_of(random, words, COUNT(words));
        if (kind_value(k, s, word)) break;
    }
    return word;
}

/* Add words until the line is complete; sometimes stop earlier. */
static void random_command(uint64_t *random, struct session *s, char *line, size_t size)
{
    const struct command *c = commands[below(random, registry_count(&command_registry))];
    line[0] = 0;
    add(line, size, c->name);
    for (int n = 0; n < 24 && below(random, 8); n++) {
        struct expected *x = expected_after(s, c, line);
        if (!x->n && below(random, 10)) return;
        struct choice pick = x->n ? x->choice[below(random, x->n)] : (struct choice){0};
        bool more = x->n && (pick.item->repeated || (pick.value && pick.item->value->role == KIND_PARAMS));
        if (more && below(random, 3)) continue; /* most take few */
        if (!x->n || !below(random, 25))
            add(line, size, hostile_word(random));
        else
            add(line, size, pick.value ? value_of(random, pick.item->value, s, &x->a) : pick.item->word);
    }
}

void random_line(uint64_t *random, struct session *s, char *line, size_t size)
{
    char command[LINE_LIMIT];
    line[0] = 0;
    for (uint64_t n = below(random, 6) ? 1 : 1 + below(random, 3); n; n--) {
        random_command(random, s, command, sizeof command);
        size_t used = strlen(line);
        if (used + strlen(command) + 4 < size)
            snprintf(line + used, size - used, "%s%s", used ? "; " : "",
                     below(random, 40) ? command : hostile_word(random));
    }
}
