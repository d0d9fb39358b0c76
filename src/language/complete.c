/* Completion: the words that the grammar allows at the end of a line, and file names. */
#include "complete.h"
#include "base/text.h"
#include "grammar.h"
#include "kinds.h"
#include "run_lines.h"
#include "session/alias.h"
#include "session/command.h"
#include "session/session.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

struct completion {
    struct session *session;
    const struct args *args;
    const char *prefix;
    bool quoted; /* inside quotes, nothing needs escaping */
    give_fn *give;
    void *user;
};

/* Offer the word if it begins with the typed prefix. */
static void give_matching(void *user, const char *word)
{
    struct completion *c = user;
    if (!strncmp(word, c->prefix, strlen(c->prefix))) c->give(c->user, word);
}

/* Offer a path as it is typed: characters with a special meaning get a backslash. */
static void give_path(struct completion *c, const char *dir, size_t ndir, const char *name, bool is_dir)
{
    char path[4096], typed[2 * sizeof path + 2];
    size_t n = 0;
    snprintf(path, sizeof path, "%.*s%s", (int)ndir, dir, name);
    for (const char *p = path; *p; p++) {
        if (!c->quoted && strchr(" \t\"'\\;#>|", *p)) typed[n++] = '\\';
        typed[n++] = *p;
    }
    if (is_dir) typed[n++] = '/';
    typed[n] = 0;
    c->give(c->user, typed);
}

static bool is_directory(const char *dir, size_t ndir, const char *name)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%.*s%s", (int)ndir, dir, name);
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Names with control bytes are not offered: they cannot be shown. */
static bool can_be_shown(const char *name)
{
    char safe[1100];
    size_t n = strlen(name);
    return !strcmp(print_safe(name, n, n, safe, sizeof safe), name);
}

static void give_files(struct completion *c)
{
    char dir[4096];
    const char *slash = strrchr(c->prefix, '/'), *name = slash ? slash + 1 : c->prefix;
    size_t ndir = (size_t)(name - c->prefix);
    if (ndir >= sizeof dir) return;
    snprintf(dir, sizeof dir, "%.*s", (int)ndir, c->prefix);
    DIR *d = opendir(ndir ? dir : ".");
    for (struct dirent *f; d && (f = readdir(d));) {
        bool hidden = f->d_name[0] == '.' && *name != '.';
        if (hidden || strncmp(f->d_name, name, strlen(name)) || !can_be_shown(f->d_name)) continue;
        if (!strcmp(f->d_name, ".") || !strcmp(f->d_name, "..")) continue;
        give_path(c, c->prefix, ndir, f->d_name, is_directory(c->prefix, ndir, f->d_name));
    }
    if (d) closedir(d);
}

static void count_value(void *user, const char *word)
{
    ++*(int *)user;
}

/* Before a letter is typed, long lists of values whose keyword may be left out would hide the other words, unless the
   value is what the command is mainly about: the first in its grammar. The keyword is offered. */
static bool is_hidden(const struct completion *c, const struct item *it, enum next next)
{
    enum { MANY = 12 };
    int n = 0;
    if (next != NEXT_BARE_VALUE || *c->prefix || it == c->args->grammar.item || !item_has_list(it)) return false;
    item_list(it, c->session, c->args, count_value, &n);
    return n > MANY;
}

static void give_item(void *user, const struct item *it, enum next next)
{
    struct completion *c = user;
    bool value = next != NEXT_KEYWORD, listed = value && item_has_list(it);
    if (is_hidden(c, it, next)) return;
    if (!value) give_matching(c, it->word);
    if (listed) item_list(it, c->session, c->args, give_matching, c);
    /* for a kind that has names, offer files only if the user has typed a folder */
    bool files = value && it->value->role == KIND_FILE && (!listed || strchr(c->prefix, '/'));
    if (files) give_files(c);
}

static bool last_command(const struct session *s, struct words *w, const char *line, int depth);

/* The same with the line of an alias in place of its name. */
static bool last_of_alias(const struct session *s, struct words *w, const struct alias *a, const char *rest, int depth)
{
    enum { DEPTH_MAX = 10 };
    char line[LINE_LIMIT + 1];
    return depth < DEPTH_MAX && snprintf(line, sizeof line, "%s%s", a->line, rest) <= LINE_LIMIT &&
           last_command(s, w, line, depth + 1);
}

/* The words of the command being typed, after the last `;`. Returns false for a shell command. */
static bool last_command(const struct session *s, struct words *w, const char *line, int depth)
{
    size_t n;
    do {
        line += strspn(line, " \t");
        if (*line == '!') return false;
        const struct alias *a = alias_typed(s, line, &n);
        if (a && line[n]) return last_of_alias(s, w, a, line + n, depth);
        command_split(w, &line, NULL);
    } while (w->more);
    return true;
}

/* If the line is complete up to a command that ends it, as after `sweep n 1..9 of`, leave the words before that command
   out. Returns how many of the `before` complete words are left. */
static int inner_command(struct words *w, int before)
{
    const struct command *c = before ? command_typed(w->w[0].text) : NULL;
    struct grammar g;
    if (!c || !grammar_parse(c->grammar, &g) || g.n < 2) return before;
    const struct item *rest = &g.item[g.n - 1];
    if (rest->type != ITEM_VALUE || rest->value->role != KIND_REST) return before;
    for (int k = 1; k < before; k++) {
        if (strcmp(w->w[k].text, rest[-1].word) != 0) continue;
        w->n -= k + 1;
        memmove(w->w, w->w + k + 1, (size_t)w->n * sizeof *w->w);
        return before - k - 1;
    }
    return before;
}

void complete(struct session *s, const char *line, size_t pos, give_fn *give, void *user)
{
    char head[LINE_LIMIT + 1];
    struct words w;
    struct args a;
    if (pos > LINE_LIMIT) return;
    snprintf(head, sizeof head, "%.*s", (int)pos, line);
    if (!last_command(s, &w, head, 0)) return;
    bool begun = w.n && (!w.ended || w.open) && !w.w[w.n - 1].arrow; /* the last word is to be completed */
    int before = w.n - begun;
    if (w.pipe || w.comment) return;
    before = inner_command(&w, before);
    struct completion c = {s, &a, begun ? w.w[before].text : "", w.open != 0, give, user};
    const struct command *command = before ? command_typed(w.w[0].text) : NULL;
    if (!before) registry_list(&command_registry, give_matching, &c);
    if (!before && !s->lines.from) alias_list(s, give_matching, &c);
    bool file = before > 1 && w.w[before - 1].arrow; /* a file to write */
    if (file) give_files(&c);
    if (command && (!file || command->compares)) args_expected(&a, s, command, &w, before, give_item, &c);
}
