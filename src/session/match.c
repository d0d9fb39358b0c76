/* Matches the words of a command with its grammar, and reports words that do not match. */
#include "args.h"
#include "command.h"
#include "grammar.h"
#include "kinds.h"
#include "base/numeral.h"
#include "base/suggest.h"

#include <string.h>

struct match {
    struct args *a;
    struct words *w;
    int next;                /* index of the next word to match */
    int place;               /* index of the next positional item */
    bool some;               /* the current repeated item has a value already */
    bool used[ITEMS_MAX];    /* the keyword that was given, for each group */
    const struct item *open; /* the keyword whose value comes next */
    bool lenient;            /* set during completion: do not check values */
};

static bool in_place(const struct item *it)
{
    return it->type == ITEM_VALUE || it->type == ITEM_WORD;
}

static bool is_params(const struct item *it)
{
    return it->type == ITEM_VALUE && it->value->role == KIND_PARAMS;
}

/* Visit the items that may come next. After a keyword that needs a value, and before a required value, only that value
   may come next; elsewhere, keywords may come next too. */
static void expected(const struct match *m, visit_fn *visit, void *user)
{
    const struct grammar *g = &m->a->grammar;
    if (m->open) {
        visit(user, m->open, true);
        return;
    }
    bool before = true, keywords = true;
    for (int i = m->place; i < g->n && before; i++) {
        const struct item *it = &g->item[i];
        if (!in_place(it) || (is_params(it) && !params_of(m->a))) continue;
        visit(user, it, it->type == ITEM_VALUE);
        before = it->optional || (i == m->place && m->some);
        keywords &= before || i > m->place;
    }
    for (int i = 0; i < g->n && keywords; i++)
        if (!in_place(&g->item[i]) && !m->used[g->item[i].group]) visit(user, &g->item[i], false);
}

/* The items that may come next, as text such as "a matrix, `using` or `force`". */
static void name_item(void *user, const struct item *it, bool value)
{
    struct message *t = user;
    if (t->items++) message_add(t, t->items == t->of ? " or " : ", ");
    if (value)
        message_add(t, "%s", it->value->what);
    else
        message_add(t, "`%s`", it->word);
}

/* What may come next: names for a suggestion, and the number of items. */
struct offer {
    const struct match *m;
    struct suggest *to;
    const struct kind *value; /* the last kind of value; NULL if only keywords may come next */
    const struct item *word;  /* the last keyword; NULL if only values may come next */
    int items;
};

static void offer_item(void *user, const struct item *it, bool value)
{
    struct offer *o = user;
    o->items++;
    if (value)
        o->value = it->value;
    else
        o->word = it;
    if (!value)
        suggest_offer(o->to, it->word);
    else
        kind_list(it->value, o->m->a->session, o->m->a, suggest_offer, o->to);
}

/* Report a missing word, for example "a matrix is missing after `use`". */
static void say_missing(const struct match *m, struct message *t)
{
    expected(m, name_item, t);
    message_add(t, " is missing after ");
    message_quote(t, m->w->w[m->next - 1].text);
}

/* Report a wrong word, for example "`Z` after `use` is not a matrix", or, if only keywords may follow, "`onn` cannot
   follow `cpu`; use `using` or `force`". */
static void say_wrong(const struct match *m, const struct offer *o, struct message *t)
{
    message_quote(t, m->w->w[m->next].text);
    message_add(t, o->value ? " after " : " cannot follow ");
    message_quote(t, m->w->w[m->next - 1].text);
    if (o->value)
        message_add(t, " is not ");
    else
        message_add(t, o->items ? "; use " : "; nothing can");
    expected(m, name_item, t);
}

/* Report that the next word is wrong, or that a word is missing, and list the words that would be right. */
static bool unexpected(const struct match *m, struct err *e)
{
    bool missing = m->next >= m->w->n;
    struct suggest near = suggest_for(missing ? "" : m->w->w[m->next].text);
    struct offer o = {.m = m, .to = &near};
    struct message t = {0};
    expected(m, offer_item, &o);
    t.of = o.items;
    if (missing) {
        say_missing(m, &t);
    } else if (o.items == 1 && o.word && o.word->type == ITEM_WORD) {
        message_add(&t, "the word `%s` is missing before ", o.word->word);
        message_quote(&t, m->w->w[m->next].text);
    } else {
        say_wrong(m, &o, &t);
    }
    message_near(&t, &near);
    if (o.value && o.items <= 1) message_choices(&t, m->a->session, m->a, o.value);
    return fail(e, E_USAGE, "%s", t.text);
}

/* ---- matching ---- */

static void store(struct match *m, const char *key, const char *value)
{
    m->a->v[m->a->n].key = key;
    m->a->v[m->a->n++].value = value;
}

/* The item whose keyword is the next word, even if the keyword was given before; NULL if the word is not a keyword or
   is quoted. */
static const struct item *keyword(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    const struct word *w = &m->w->w[m->next];
    for (int i = 0; i < g->n && !w->quoted; i++)
        if (!in_place(&g->item[i]) && !strcmp(g->item[i].word, w->text)) return &g->item[i];
    return NULL;
}

static bool take_keyword(struct match *m, const struct item *it, struct err *e)
{
    if (m->used[it->group] && !m->lenient) {
        bool contradicts = !arg(m->a, it->key);
        return fail(e, E_USAGE, contradicts ? "`%s` conflicts with an earlier word" : "`%s` is given twice", it->word);
    }
    m->used[it->group] = true;
    if (it->type == ITEM_PAIR)
        m->open = it;
    else
        store(m, it->key, it->word);
    m->next++;
    return true;
}

static bool take_value(struct match *m, const struct item *it, struct err *e)
{
    const char *text = m->w->w[m->next].text;
    if (!m->lenient && !kind_accepts(it->value, m->a->session, text)) return unexpected(m, e);
    store(m, it->key, text);
    m->open = NULL;
    m->next++;
    return true;
}

/* Is the next word a number, valid or not, or a word followed by a number? */
static bool like_param(const struct match *m)
{
    const struct word *w = &m->w->w[m->next];
    bool more = m->next + 1 < m->w->n;
    return like_number(w->text) || (!w->quoted && more && like_number(w[1].text));
}

static bool accepts(const struct match *m, const struct item *it)
{
    const char *text = m->w->w[m->next].text;
    if (it->type == ITEM_WORD) return !strcmp(it->word, text);
    if (is_params(it)) return params_of(m->a) && like_param(m);
    return kind_accepts(it->value, m->a->session, text);
}

/* Join the remaining words into one, separated by single blanks. */
static void join_rest(struct match *m)
{
    for (int i = m->next; i + 1 < m->w->n; i++) m->w->w[i].text[strlen(m->w->w[i].text)] = ' ';
    m->w->n = m->next + 1;
}

/* Take the next word as the value of item i; optional items before it have no value. */
static void take_place(struct match *m, int i)
{
    const struct item *it = &m->a->grammar.item[i];
    bool params = is_params(it);
    if (it->type == ITEM_VALUE && it->value->role == KIND_REST) join_rest(m);
    m->place = it->repeated || params ? i : i + 1;
    m->some = it->repeated || params;
    store(m, it->key, m->w->w[m->next++].text);
    if (params && !like_number(m->w->w[m->next - 1].text)) {
        bool known = param_index(params_of(m->a), m->w->w[m->next - 1].text) >= 0;
        bool value = m->next < m->w->n && (like_number(m->w->w[m->next].text) || (known && !keyword(m)));
        store(m, it->key, value ? m->w->w[m->next++].text : "");
    }
}

/* Find the first positional item that accepts the next word; optional items may be skipped. */
static bool match_place(struct match *m, struct err *e)
{
    const struct grammar *g = &m->a->grammar;
    int first = -1;
    bool reachable = true;
    for (int i = m->place; i < g->n && reachable; i++) {
        if (!in_place(&g->item[i])) continue;
        if (first < 0) first = i;
        if (accepts(m, &g->item[i])) {
            take_place(m, i);
            return true;
        }
        reachable = g->item[i].optional || (i == m->place && m->some);
    }
    bool params = first >= 0 && is_params(&g->item[first]);
    if (first < 0 || (!m->lenient && !(params && params_of(m->a)))) return unexpected(m, e);
    take_place(m, first);
    return true;
}

static bool match_word(struct match *m, struct err *e)
{
    if (m->open) return take_value(m, m->open, e);
    const struct item *it = keyword(m);
    return it ? take_keyword(m, it, e) : match_place(m, e);
}

/* Check that no required word is missing at the end. */
static bool match_end(const struct match *m, struct err *e)
{
    const struct grammar *g = &m->a->grammar;
    if (m->open) return unexpected(m, e);
    for (int i = m->place; i < g->n; i++) {
        bool has_value = i == m->place && m->some;
        if (in_place(&g->item[i]) && !g->item[i].optional && !has_value) return unexpected(m, e);
    }
    return true;
}

static struct match match_start(struct args *a, struct session *s, const struct command *c, struct words *w)
{
    a->session = s;
    a->command = c;
    a->n = 0;
    grammar_parse(c->grammar, &a->grammar);
    return (struct match){.a = a, .w = w, .next = 1};
}

bool args_match(struct args *a, struct session *s, const struct command *c, struct words *w, struct err *e)
{
    struct match m = match_start(a, s, c, w);
    while (m.next < w->n)
        if (!match_word(&m, e)) return false;
    return match_end(&m, e);
}

void args_expected(struct args *a, struct session *s, const struct command *c, struct words *w, int n, visit_fn *visit,
                   void *user)
{
    struct match m = match_start(a, s, c, w);
    int all = w->n;
    w->n = n;
    m.lenient = true;
    while (m.next < n && match_word(&m, NULL)) continue;
    if (m.next >= n) expected(&m, visit, user);
    w->n = all;
}
