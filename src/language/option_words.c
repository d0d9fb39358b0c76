/* The keywords of commands are the items of their grammars that are not values alone. */
#include "option_words.h"
#include "grammar.h"
#include "session/command.h"

#include <string.h>

/* The length of the grammar's first part: a word, or everything within a pair of brackets. */
static size_t part_length(const char *p)
{
    size_t n = 0;
    for (int depth = 0; p[n] && (depth || p[n] != ' '); n++) depth += (p[n] == '[') - (p[n] == ']');
    return n;
}

static bool has_keyword(const struct grammar *g, const char *word)
{
    for (int i = 0; i < g->n; i++)
        if (g->item[i].type != ITEM_VALUE && !strcmp(g->item[i].word, word)) return true;
    return false;
}

const char *option_word_in(const struct command *c, const char *word, size_t *n)
{
    char part[400];
    struct grammar g;
    if (!*word || !strstr(c->grammar, word)) return NULL;
    for (const char *p = c->grammar + strspn(c->grammar, " "); *p; p += *n, p += strspn(p, " ")) {
        *n = part_length(p);
        if (*n >= sizeof part) continue;
        memcpy(part, p, *n);
        part[*n] = 0;
        if (grammar_parse(part, &g) && has_keyword(&g, word)) return p;
    }
    return NULL;
}

bool is_option_word(const char *word)
{
    size_t n;
    for (int i = 0; commands[i]; i++)
        if (option_word_in(commands[i], word, &n)) return true;
    return false;
}

/* Does a command before `end` have the keyword? */
static bool came_before(int end, const char *word)
{
    size_t n;
    for (int i = 0; i < end; i++)
        if (option_word_in(commands[i], word, &n)) return true;
    return false;
}

void option_words_list(const struct command *c, give_fn *give, void *user)
{
    struct grammar g;
    for (int i = 0; commands[i]; i++) {
        if ((c && c != commands[i]) || !grammar_parse(commands[i]->grammar, &g)) continue;
        for (int k = 0; k < g.n; k++)
            if (g.item[k].type != ITEM_VALUE && (c || !came_before(i, g.item[k].word))) give(user, g.item[k].word);
    }
}
