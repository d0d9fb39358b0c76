/* Aliases: names that the user gave to command lines. */
#include "alias.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "command.h"
#include "session.h"

#include <string.h>

/* The link that points to the alias of this name, or the last link, which points to none. */
static struct alias **link_of(struct alias **at, const char *name, size_t n)
{
    while (*at && (strncmp((*at)->name, name, n) || (*at)->name[n])) at = &(*at)->next;
    return at;
}

static void unlink_alias(struct alias **at)
{
    SCREEN_EDIT;
    struct alias *old = *at;
    *at = old->next;
    mem_free(old->name);
    mem_free(old->line);
    mem_free(old);
}

static void link_alias(struct alias **at, struct alias *made)
{
    SCREEN_EDIT;
    *at = made;
}

static struct alias *make(const char *name, const char *line, struct err *e)
{
    struct alias *a = mem_zero(1, sizeof *a, "an alias", e);
    if (a && (a->name = mem_str(name, e)) && (a->line = mem_str(line, e))) return a;
    if (a) mem_free(a->name);
    mem_free(a);
    return NULL;
}

static bool no_such_alias(const struct session *s, const char *name, struct err *e)
{
    struct suggest near = suggest_for(name);
    struct message t = {0};
    alias_list(s, suggest_offer, &near);
    message_add(&t, "there is no alias ");
    message_quote(&t, name);
    message_near(&t, &near);
    return fail(e, E_USAGE, "%s; `alias` lists all", t.text);
}

bool alias_set(struct session *s, const char *name, const char *line, struct err *e)
{
    struct alias **at = link_of(&s->aliases, name, strlen(name)), *made = NULL;
    if (command_find(name)) return fail(e, E_USAGE, "`%.40s` is a command; choose another name for the alias", name);
    if (!line && !*at) return no_such_alias(s, name, e);
    if (line && strlen(line) > ALIAS_LINE_MAX)
        return fail(e, E_LIMIT, "the line of an alias is too long: at most %d bytes; write a script", ALIAS_LINE_MAX);
    if (line && !(made = make(name, line, e))) return false;
    if (*at) unlink_alias(at);
    if (made) made->next = *at, link_alias(at, made);
    return true;
}

const struct alias *alias_find(const struct session *s, const char *word, size_t n)
{
    struct alias *first = s->aliases;
    struct alias *found = *link_of(&first, word, n);
    return found && n && !command_find(found->name) ? found : NULL;
}

void alias_list(const struct session *s, give_fn *give, void *user)
{
    for (const struct alias *a = s->aliases; a; a = a->next) give(user, a->name);
}

void aliases_free(struct session *s)
{
    while (s->aliases) unlink_alias(&s->aliases);
}
