/* Text for error messages about a wrong word: the nearest valid word, and a list of valid words. */
#include "suggest.h"
#include "text.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The smallest number of insertions, deletions, replacements and swaps of adjacent letters that turn a into b, ignoring
   case (optimal string alignment). */
static int distance(const char *a, const char *b)
{
    int m = (int)strlen(a), n = (int)strlen(b), d[3][LONGEST + 1] = {0};
    if (m > LONGEST || n > LONGEST) return LONGEST;
    for (int j = 0; j <= n; j++) d[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = d[i % 3], *above = d[(i + 2) % 3], *two_above = d[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped && two_above[j - 2] + 1 < row[j]) row[j] = two_above[j - 2] + 1;
        }
    }
    return d[m % 3][n];
}

struct suggest suggest_for(const char *word)
{
    /* accept one wrong letter per three letters, but at least one and at most three wrong letters */
    int most = (int)strlen(word) / 3;
    most = most < 1 ? 1 : most > 3 ? 3 : most;
    return (struct suggest){.word = word, .distance = most + 1};
}

void suggest_offer(void *user, const char *name)
{
    struct suggest *s = user;
    int d = distance(s->word, name);
    if (!strcmp(s->word, name)) return; /* the user quoted a keyword to use it as a name */
    if (d >= s->distance || d >= (int)strlen(name)) return;
    s->distance = d;
    snprintf(s->best, sizeof s->best, "%s", name);
}

static bool begins_with(const char *name, const char *typed)
{
    size_t n = strlen(typed);
    return n && !strncmp(name, typed, n);
}

void abbreviation_offer(void *user, const char *name)
{
    struct abbreviation *x = user;
    if (!begins_with(name, x->typed)) return;
    x->word = name;
    x->n++;
}

void give_beginning(void *user, const char *name)
{
    const struct begins *x = user;
    if (begins_with(name, x->typed)) x->give(x->user, name);
}

void message_add(struct message *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->text + t->n, sizeof t->text - t->n, fmt, ap);
    va_end(ap);
    t->n += n > 0 ? (size_t)n : 0;
    if (t->n >= sizeof t->text) t->n = sizeof t->text - 1;
}

void message_list(void *user, const char *name)
{
    struct message *t = user;
    if (t->items++ < LIST_MAX)
        message_add(t, "%s%s", t->items > 1 ? ", " : "", name);
    else if (t->items == LIST_MAX + 1)
        message_add(t, ", ...");
}

void message_quote(struct message *t, const char *text)
{
    char safe[256];
    if (text)
        message_add(t, "`%s`", print_safe(text, strlen(text), 60, safe, sizeof safe));
    else
        message_add(t, "the end");
}

void message_near(struct message *t, const struct suggest *s)
{
    if (*s->best) message_add(t, " (did you mean `%s`?)", s->best);
}

bool message_next(struct message *t)
{
    bool shown = !t->most || t->items < t->most;
    if (t->items == t->most && t->most) message_add(t, ", ...");
    if (t->items++ && shown) message_add(t, t->items == t->of ? " or " : ", ");
    return shown;
}

void message_choice(void *user, const char *name)
{
    if (message_next(user)) message_add(user, "%s", name);
}

void message_item(void *user, const char *name)
{
    if (message_next(user)) message_add(user, "`%s`", name);
}
