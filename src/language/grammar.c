/* Grammars: parse the grammar string of a command into items, which match.c compares with the words of a line. */
#include <stdio.h>

#include "base/base.h"
#include "grammar.h"
#include "kinds.h"

#include <ctype.h>
#include <string.h>

static const struct keyword keywords[] = {
    {"all", "", true},
    {"force", "", true},
    {"within", "", true}, /* "with" may begin a phrase */
    {"using", "format", false},
    {"precond", "preconditioner pc", false},
    {"maxit", "maxiter iterations", false},
    {"tol", "tolerance rtol", false},
    {"omega", "relax", false},
    {"m", "restart", false},
    {"colours", "colors color colour", false},
    {"f64", "fp64 double", false},
    {"f32", "fp32 single float", false},
};

const struct keyword *keyword_find(const char *word)
{
    for (int i = 0; i < COUNT(keywords); i++)
        if (!strcmp(keywords[i].word, word)) return &keywords[i];
    return NULL;
}

/* Parse one item, the n characters at p: `VALUE`, `VALUE...` or a word. */
static bool item_of(const char *p, size_t n, struct item *it)
{
    it->repeated = n > 3 && !strncmp(p + n - 3, "...", 3);
    n -= it->repeated ? 3 : 0;
    if (!isupper((unsigned char)*p)) {
        it->type = it->optional ? ITEM_FLAG : ITEM_WORD;
        snprintf(it->word, sizeof it->word, "%.*s", (int)n, p);
        memcpy(it->key, it->word, sizeof it->word);
        return n && n < sizeof it->word;
    }
    it->type = ITEM_VALUE;
    it->value = kind_find(p, n);
    if (it->value) snprintf(it->key, sizeof it->key, "%s", it->value->key);
    return it->value != NULL;
}

/* The key of the second value of a kind ends in 2: matrix2. */
static void number_key(const struct grammar *g, struct item *it)
{
    int before = 0;
    for (int i = 0; i < g->n; i++)
        before += g->item[i].type == ITEM_VALUE && it->type == ITEM_VALUE && g->item[i].value == it->value;
    if (before) snprintf(it->key, sizeof it->key, "%s%d", it->value->key, before + 1);
}

static bool add_item(struct grammar *g, const char *p, size_t n, bool optional, int group)
{
    if (g->n == ITEMS_MAX) return false;
    struct item *it = &g->item[g->n];
    *it = (struct item){.optional = optional, .group = group};
    if (!item_of(p, n, it)) return false;
    number_key(g, it);
    g->n++;
    return true;
}

/* Parse the n characters of `key KIND`, `[key] KIND` or `key a|b`. The key ends before p[word]. */
static bool add_pair(struct grammar *g, const char *p, size_t n, size_t word, int group)
{
    bool bare = *p == '[';
    if (!add_item(g, p + bare, word - 2 * bare, true, group)) return false;
    struct item *it = &g->item[g->n - 1];
    const char *value = p + word + 1;
    size_t length = n - word - 1;
    it->type = ITEM_PAIR;
    it->bare = bare;
    it->value = kind_find(value, length);
    if (it->value) return true;
    it->value = kind_find("WORD", strlen("WORD"));
    it->words = value;
    it->words_length = (int)length;
    return length && !isupper((unsigned char)*value);
}

/* Parse [key KIND], [[key] KIND], [key a|b], or alternatives such as [a|b] and [a|b|[key] KIND]; p[n] is the text
   inside the outer brackets. */
static bool add_optional(struct grammar *g, const char *p, size_t n)
{
    int group = g->n;
    for (const char *end = p + n; p < end;) {
        size_t k = strcspn(p, " |]");
        if (*p == '[' || p[k] == ' ') return add_pair(g, p, (size_t)(end - p), strcspn(p, " "), group);
        if (!add_item(g, p, k, true, group)) return false;
        p += k + (p[k] == '|');
    }
    return true;
}

/* The index of the bracket that closes the bracket *p, or of the end of the text. */
static size_t closing(const char *p)
{
    size_t n = 0;
    for (int depth = 0; p[n]; n++) {
        depth += (p[n] == '[') - (p[n] == ']');
        if (!depth) break;
    }
    return n;
}

bool grammar_parse(const char *text, struct grammar *g)
{
    g->n = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        bool optional = *p == '[';
        size_t n = optional ? closing(p) : strcspn(p, " ");
        if (optional && !p[n]) return false;
        if (!(optional ? add_optional(g, p + 1, n - 1) : add_item(g, p, n, false, g->n))) return false;
        p += n + optional;
    }
    return true;
}

/* ---- values ---- */

/* The length of the first of the alternative words, such as a|b, in the n characters at p. */
static int word_length(const char *p, int n)
{
    int length = 0;
    while (length < n && p[length] != '|') length++;
    return length;
}

const char *item_value(const struct item *it, const struct session *s, const char *text)
{
    int n = (int)strlen(text), length;
    if (!it->words) return kind_value(it->value, s, text);
    for (int i = 0; i < it->words_length; i += length + 1) {
        length = word_length(it->words + i, it->words_length - i);
        if (n == length && !strncmp(it->words + i, text, (size_t)n)) return text;
    }
    return NULL;
}

bool item_has_list(const struct item *it)
{
    return it->words || kind_has_list(it->value);
}

void item_list(const struct item *it, const struct session *s, const struct args *a, give_fn *give, void *user)
{
    if (!it->words) {
        kind_list(it->value, s, a, give, user);
        return;
    }
    for (int i = 0, length; i < it->words_length; i += length + 1) {
        char word[32];
        length = word_length(it->words + i, it->words_length - i);
        snprintf(word, sizeof word, "%.*s", length, it->words + i);
        give(user, word);
    }
}
