/* Finds what the help text of a command says about one of its keywords. */
#include "help_words.h"
#include "language/option_words.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { EXPLAINED_MAX = 3 }; /* commands whose text is shown; if more have the keyword, only their grammar is */
enum { TEXT_MAX = 4000 };

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Is `word` a whole word of the n characters at p? */
static bool contains(const char *p, size_t n, const char *word)
{
    size_t k = strlen(word);
    for (size_t i = 0; i + k <= n; i++)
        if (!strncmp(p + i, word, k) && !(i && is_of_word(p[i - 1])) && !(i + k < n && is_of_word(p[i + k])))
            return true;
    return false;
}

static bool is_example(const char *line)
{
    return !strncmp(line, "    ", 4);
}

/* The length of the paragraph at p: its last line ends with a full stop, or an example follows. */
static size_t paragraph_length(const char *p)
{
    size_t n = 0;
    while (p[n]) {
        n += strcspn(p + n, "\n");
        bool ends = n && p[n - 1] == '.';
        n += p[n] == '\n';
        if (ends || is_example(p + n)) break;
    }
    return n;
}

/* The length of the first sentence of the n characters at p, with the blanks that follow it. */
static size_t sentence_length(const char *p, size_t n)
{
    size_t k = 0;
    while (k < n && !(p[k] == '.' && (k + 1 == n || isspace((unsigned char)p[k + 1])))) k++;
    k += k < n;
    while (k < n && isspace((unsigned char)p[k])) k++;
    return k;
}

/* Append n characters at p to the text; their lines are joined. */
static void append(char *text, const char *p, size_t n)
{
    size_t at = strlen(text);
    if (at && at + 1 < TEXT_MAX && text[at - 1] != '\n' && text[at - 1] != ' ') text[at++] = ' ';
    for (size_t i = 0; i < n && at + 1 < TEXT_MAX; i++) text[at++] = p[i] == '\n' ? ' ' : p[i];
    while (at && text[at - 1] == ' ') at--;
    text[at] = 0;
}

/* The sentences about the word: a whole paragraph if its first sentence has the word. */
static void take_paragraph(char *text, const char *p, size_t n, const char *word)
{
    size_t k = sentence_length(p, n);
    if (contains(p, k, word)) {
        append(text, p, n);
        return;
    }
    for (size_t i = k; i < n; i += k) {
        k = sentence_length(p + i, n - i);
        if (contains(p + i, k, word)) append(text, p + i, k);
    }
}

static void take_example(char *text, const char *line, size_t n, const char *word)
{
    size_t at = strlen(text);
    if (contains(line, n, word)) snprintf(text + at, TEXT_MAX - at, "%s%.*s", at ? "\n" : "", (int)n, line);
}

/* What the help of the command says about the word: sentences, then lines of examples. */
static void find_text(const char *help, const char *word, char *text)
{
    text[0] = 0;
    for (const char *p = help; *p;) {
        size_t n = is_example(p) ? strcspn(p, "\n") : paragraph_length(p);
        if (is_example(p))
            take_example(text, p, n, word);
        else
            take_paragraph(text, p, n, word);
        p += n + (is_example(p) && p[n] == '\n');
    }
}

static void out_word(struct out *o, const struct command *c, const char *word, bool brief)
{
    char text[TEXT_MAX];
    size_t n;
    const char *part = option_word_in(c, word, &n);
    if (out_mode(o) == OUT_TEXT && brief) {
        out_text(o, "  %-10s %.*s", c->name, (int)n, part);
        return;
    }
    find_text(c->help, word, text);
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%s ... %.*s", c->name, (int)n, part);
        out_prose(o, *text ? text : c->about);
        return;
    }
    char grammar[400];
    snprintf(grammar, sizeof grammar, "%.*s", (int)n, part);
    out_row(o);
    out_str(o, "kind", NULL, "word");
    out_str(o, "name", NULL, word);
    out_str(o, "of", NULL, c->name);
    out_str(o, "grammar", NULL, grammar);
    out_str(o, "help", NULL, text);
}

bool help_word_of(struct out *o, const struct command *c, const char *word)
{
    size_t n;
    if (!option_word_in(c, word, &n)) return false;
    out_word(o, c, word, false);
    out_text(o, "`help %s` explains the whole command.", c->name);
    return true;
}

void help_word(struct out *o, const char *word)
{
    size_t n;
    int having = 0;
    const struct command *last = NULL;
    for (int i = 0; commands[i]; i++)
        if (option_word_in(commands[i], word, &n)) having++, last = commands[i];
    if (having == 1) {
        help_word_of(o, last, word);
        return;
    }
    bool brief = having > EXPLAINED_MAX;
    if (brief) out_text(o, "%s is a word of these commands:", word);
    for (int i = 0; commands[i]; i++)
        if (option_word_in(commands[i], word, &n)) out_word(o, commands[i], word, brief);
    if (having) out_text(o, "`help COMMAND %s` explains it for one command, `help COMMAND` the whole command.", word);
}

/* ---- the keys of the rows ---- */

static const struct field help_word_fields[] = {
    {"kind", F_TEXT, "a keyword of a command", .words = "word"},
    {"name", F_TEXT, "the keyword"},
    {"of", F_TEXT, "the command that has it"},
    {"grammar", F_TEXT, "the part of the command's grammar that has it"},
    {"help", F_TEXT, "the sentences of the command's help that name it, and examples"},
    {0},
};
const struct row_kind row_help_word = {"word", "a keyword of a command", help_word_fields};
