/* Split one command of a line into words at blanks; handle quotes, backslashes and comments. */
#include "words.h"
#include "err.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static bool put(struct words *w, const char *text, size_t n, struct err *e)
{
    if (w->used + n >= sizeof w->text - 1)
        return fail(e, E_LIMIT, "the command is longer than %d bytes; split it", LINE_LIMIT);
    memcpy(w->text + w->used, text, n);
    w->used += n;
    return true;
}

/* Append the text inside quotes to the word; *p is after the opening quote. An unclosed quote ends with the line. */
static bool quoted(struct words *w, const char **p, char quote, struct err *e)
{
    for (; **p && **p != quote; ++*p) {
        if (quote == '"' && **p == '\\' && ((*p)[1] == '"' || (*p)[1] == '\\')) ++*p;
        if (!put(w, *p, 1, e)) return false;
    }
    if (**p)
        ++*p;
    else
        w->open = quote;
    return true;
}

/* Replace the ~ of a leading ~/ with the home directory. */
static bool home(struct words *w, const char **p, struct err *e)
{
    const char *dir = getenv("HOME");
    if ((*p)[0] != '~' || (*p)[1] != '/' || !dir) return true;
    ++*p;
    return put(w, dir, strlen(dir), e);
}

static bool one_word(struct words *w, const char **p, struct err *e)
{
    if (w->n == WORDS_MAX) return fail(e, E_LIMIT, "the command has more than %d words; split it", WORDS_MAX);
    struct word *word = &w->w[w->n++];
    *word = (struct word){w->text + w->used, false, false};
    if (!home(w, p, e)) return false;
    while (**p && !is_blank(**p) && **p != ';') {
        char c = **p;
        bool ok;
        ++*p;
        if (c == '"' || (c == '\'' && !w->formula)) {
            word->quoted = true;
            ok = quoted(w, p, c, e);
        } else {
            bool escapes = c == '\\' && **p;
            ok = put(w, escapes ? (*p)++ : *p - 1, 1, e);
            word->quoted |= escapes;
        }
        if (!ok) return false;
    }
    w->text[w->used++] = 0;
    return true;
}

/* The length of a > or >> at p, or 0. >= is an ordinary word. */
static size_t arrow_length(const char *p)
{
    size_t n = strspn(p, ">");
    return n > 2 || p[n] == '=' ? 0 : n;
}

static bool take_arrow(struct words *w, const char **p, size_t n, struct err *e)
{
    if (w->n == WORDS_MAX) return fail(e, E_LIMIT, "the command has more than %d words; split it", WORDS_MAX);
    w->w[w->n++] = (struct word){w->text + w->used, false, true};
    if (!put(w, *p, n, e)) return false;
    w->text[w->used++] = 0;
    *p += n;
    return true;
}

/* Read the shell command after |. Quotes and backslashes stay in the text. */
static bool take_pipe(struct words *w, const char **line, struct err *e)
{
    const char *first = *line + 1 + strspn(*line + 1, " \t"), *p = first;
    for (; *p && (w->open || *p != ';'); p++) {
        if (*p == '\\' && w->open != '\'' && p[1])
            p++;
        else if (w->open ? *p == w->open : *p == '"' || *p == '\'')
            w->open = w->open ? 0 : *p;
    }
    w->pipe = w->text + w->used;
    *line = p;
    if (!put(w, first, (size_t)(p - first), e)) return false;
    w->text[w->used++] = 0;
    return true;
}

static void put_at(char *out, size_t size, size_t *n, char c)
{
    if (*n + 1 < size) out[*n] = c;
    ++*n;
}

/* Can a word contain this character without quotes? */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_+-.,/:=@%^", c);
}

static void put_all(char *out, size_t size, size_t *n, const char *text)
{
    for (; *text; text++) put_at(out, size, n, *text);
}

static void put_quoted(char *out, size_t size, size_t *n, const char *text)
{
    put_at(out, size, n, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put_at(out, size, n, '\\');
        put_at(out, size, n, *text);
    }
    put_at(out, size, n, '"');
}

static bool needs_quotes(const char *text, bool formula)
{
    bool needs = !*text;
    for (; *text; text++) needs |= !is_plain(*text) && !(formula && strchr("*()'", *text));
    return needs;
}

const char *word_join(const char *text, char *out, size_t size)
{
    size_t n = 0;
    (needs_quotes(text, false) ? put_quoted : put_all)(out, size, &n, text);
    out[n < size ? n : size - 1] = 0;
    return out;
}

size_t words_join(const struct words *w, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < w->n; i++) {
        const struct word *word = &w->w[i];
        /* No keyword contains a dot or a slash. */
        bool quote =
            (i && word->quoted && !strpbrk(word->text, "./")) || (!word->arrow && needs_quotes(word->text, w->formula));
        if (i) put_at(out, size, &n, ' ');
        (quote ? put_quoted : put_all)(out, size, &n, word->text);
    }
    if (w->pipe) put_all(out, size, &n, " | ");
    if (w->pipe) put_all(out, size, &n, w->pipe);
    out[n < size ? n : size - 1] = 0;
    return n;
}

static bool split(struct words *w, const char **line, bool formula, struct err *e)
{
    w->n = 0;
    w->formula = formula;
    w->used = 0;
    w->open = 0;
    w->more = w->comment = false;
    w->pipe = NULL;
    for (;;) {
        const char *start = *line;
        while (is_blank(**line)) ++*line;
        w->ended = *line > start;
        w->comment = **line == '#';
        if (w->comment) *line += strlen(*line);
        if (!**line || **line == ';') break;
        size_t arrow = arrow_length(*line);
        bool pipe = **line == '|' && w->n;
        if (!(pipe ? take_pipe(w, line, e) : arrow ? take_arrow(w, line, arrow, e) : one_word(w, line, e)))
            return false;
        if (pipe) break;
    }
    w->more = **line == ';';
    if (w->more) ++*line;
    if (w->open) return fail(e, E_USAGE, "the line ends inside a quote; add a closing %c", w->open);
    return true;
}

bool words_split(struct words *w, const char **line, struct err *e)
{
    return split(w, line, false, e);
}

bool words_split_formula(struct words *w, const char **line, struct err *e)
{
    return split(w, line, true, e);
}
