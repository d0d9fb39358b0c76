/* Grammars: parse the grammar string of a command into items, which match.c compares with the words of a line. */
#include <stdio.h>

#include "grammar.h"
#include "kinds.h"

#include <ctype.h>
#include <string.h>

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

/* Parse [key KIND], or alternatives [a|b]; p[n] is the text inside the brackets. */
static bool add_optional(struct grammar *g, const char *p, size_t n)
{
    size_t word = strcspn(p, " ]");
    int group = g->n;
    if (word < n) {
        if (!add_item(g, p, word, true, group)) return false;
        struct item *it = &g->item[g->n - 1];
        it->type = ITEM_PAIR;
        it->value = kind_find(p + word + 1, n - word - 1);
        return it->value != NULL;
    }
    for (const char *end = p + n; p < end;) {
        size_t k = strcspn(p, "|]");
        if (!add_item(g, p, k, true, group)) return false;
        p += k + (p[k] == '|');
    }
    return true;
}

bool grammar_parse(const char *text, struct grammar *g)
{
    g->n = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        bool optional = *p == '[';
        size_t n = optional ? strcspn(p, "]") : strcspn(p, " ");
        if (optional && !p[n]) return false;
        if (!(optional ? add_optional(g, p + 1, n - 1) : add_item(g, p, n, false, g->n))) return false;
        p += n + optional;
    }
    return true;
}
