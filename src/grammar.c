/* Grammars: one string per command drives the parsing of its words, the errors, and what completion offers. */
#include "grammar.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- from the string to items ---- */

/* One VALUE, VALUE... or word at p[n]. */
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

/* The second value of a kind is called matrix2. */
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

/* [key KIND], or the alternatives of [a|b]; p[n] is the inside. */
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

/* ---- what was expected ---- */

struct match {
    struct args *a;
    struct words *w;
    int next;                /* word to be matched */
    int place;               /* item of the next value in its place */
    bool some;               /* a repeated value has one already */
    bool used[ITEMS_MAX];    /* keywords, by group */
    const struct item *open; /* a key whose value comes next */
    bool lenient;            /* completion: do not check values */
};

static bool in_place(const struct item *it)
{
    return it->type == ITEM_VALUE || it->type == ITEM_WORD;
}

static bool is_params(const struct item *it)
{
    return it->type == ITEM_VALUE && !strcmp(it->value->name, "PARAMS");
}

/* Visit the items that may come next: alone the value that must come, else also the keywords. */
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

struct message {
    char text[sizeof((struct err *)0)->text];
    size_t n;
    int items, of; /* listed so far, and in all where that is known */
};

static void add(struct message *t, const char *fmt, ...) PRINTF(2, 3);
static void add(struct message *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->text + t->n, sizeof t->text - t->n, fmt, ap);
    va_end(ap);
    t->n += n > 0 ? (size_t)n : 0;
    if (t->n >= sizeof t->text) t->n = sizeof t->text - 1;
}

enum { LIST_MOST = 12 };

static void list_one(void *user, const char *name)
{
    struct message *t = user;
    if (t->items++ < LIST_MOST)
        add(t, "%s%s", t->items > 1 ? ", " : "", name);
    else if (t->items == LIST_MOST + 1)
        add(t, ", ...");
}

/* "; one of cpu, emu", or what is said when there are none. */
static void add_choices(struct message *t, const struct session *s, const struct args *a, const struct kind *k)
{
    struct message choices = {0};
    if (k->list) k->list(s, a, list_one, &choices);
    if (choices.items)
        add(t, "; one of %s", choices.text);
    else if (k->none)
        add(t, "; %s", k->none);
}

static void quote(struct message *t, const char *text)
{
    char safe[256];
    if (text)
        add(t, "`%s`", print_safe(text, strlen(text), 60, safe, sizeof safe));
    else
        add(t, "the end");
}

static void name_item(void *user, const struct item *it, bool value)
{
    struct message *t = user;
    if (t->items++) add(t, t->items == t->of ? " or " : ", ");
    if (value)
        add(t, "%s", it->value->what);
    else
        add(t, "`%s`", it->word);
}

struct offer {
    const struct match *m;
    struct suggest *to;
    const struct kind *only; /* the one kind with a list among what is expected */
    int items;
};

static void offer_item(void *user, const struct item *it, bool value)
{
    struct offer *o = user;
    o->items++;
    if (value) o->only = it->value;
    if (!value)
        suggest_offer(o->to, it->word);
    else if (it->value->list)
        it->value->list(o->m->a->session, o->m->a, suggest_offer, o->to);
}

static void add_suggestion(struct message *t, const struct suggest *s)
{
    if (*s->best) add(t, " (did you mean `%s`?)", s->best);
}

/* Say what should have stood where the next word is, or where the words end. */
static bool unexpected(const struct match *m, struct err *e)
{
    const char *found = m->next < m->w->n ? m->w->w[m->next].text : NULL;
    struct suggest near = suggest_for(found ? found : "");
    struct offer o = {m, &near, NULL, 0};
    struct message t = {0};
    add(&t, "expected ");
    expected(m, offer_item, &o);
    t.of = o.items;
    expected(m, name_item, &t);
    if (!t.items) add(&t, "the end");
    add(&t, " after ");
    quote(&t, m->w->w[m->next - 1].text);
    add(&t, ", found ");
    quote(&t, found);
    add_suggestion(&t, &near);
    if (o.only && o.items <= 1) add_choices(&t, m->a->session, m->a, o.only);
    return fail(e, E_USAGE, "%s", t.text);
}

bool kind_check(const char *kind, const struct session *s, const char *after, const char *text, struct err *e)
{
    const struct kind *k = kind_find(kind, strlen(kind));
    struct suggest near = suggest_for(text);
    struct message t = {0};
    if (k->check(s, text)) return true;
    add(&t, "expected %s after `%s`, found ", k->what, after);
    quote(&t, text);
    if (k->list) k->list(s, NULL, suggest_offer, &near);
    add_suggestion(&t, &near);
    add_choices(&t, s, NULL, k);
    return fail(e, E_USAGE, "%s", t.text);
}

/* ---- matching ---- */

static void store(struct match *m, const char *key, const char *value)
{
    m->a->v[m->a->n].key = key;
    m->a->v[m->a->n++].value = value;
}

/* The keyword that the next word is, used before or not; NULL if it is none or was quoted. */
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
        bool alone = !arg(m->a, it->key);
        return fail(e, E_USAGE, alone ? "`%s` cannot be given with what was given before it" : "`%s` is given twice",
                    it->word);
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
    if (!m->lenient && !it->value->check(m->a->session, text)) return unexpected(m, e);
    store(m, it->key, text);
    m->open = NULL;
    m->next++;
    return true;
}

/* An integer, or a word with an integer behind it. */
static bool like_param(const struct match *m)
{
    const struct word *w = &m->w->w[m->next];
    bool more = m->next + 1 < m->w->n;
    return is_integer(w->text, NULL) || (!w->quoted && more && is_integer(w[1].text, NULL));
}

static bool accepts(const struct match *m, const struct item *it)
{
    const char *text = m->w->w[m->next].text;
    if (it->type == ITEM_WORD) return !strcmp(it->word, text);
    if (is_params(it)) return params_of(m->a) && like_param(m);
    return it->value->check(m->a->session, text);
}

/* The rest of the words as one, with single blanks. */
static void join_rest(struct match *m)
{
    for (int i = m->next; i + 1 < m->w->n; i++) m->w->w[i].text[strlen(m->w->w[i].text)] = ' ';
    m->w->n = m->next + 1;
}

/* Take the next word for item i; those before it stay without a value. */
static void take_place(struct match *m, int i)
{
    const struct item *it = &m->a->grammar.item[i];
    bool params = is_params(it);
    if (it->type == ITEM_VALUE && !strcmp(it->value->name, "TEXT")) join_rest(m);
    m->place = it->repeated || params ? i : i + 1;
    m->some = it->repeated || params;
    store(m, it->key, m->w->w[m->next++].text);
    if (params && !is_integer(m->w->w[m->next - 1].text, NULL)) {
        bool value = m->next < m->w->n && is_integer(m->w->w[m->next].text, NULL);
        store(m, it->key, value ? m->w->w[m->next++].text : "");
    }
}

/* The first item in its place that takes the next word; optional ones may be passed over. */
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

/* Do the words end where they may? */
static bool match_end(const struct match *m, struct err *e)
{
    const struct grammar *g = &m->a->grammar;
    if (m->open) return unexpected(m, e);
    for (int i = m->place; i < g->n; i++) {
        bool had = i == m->place && m->some;
        if (in_place(&g->item[i]) && !g->item[i].optional && !had) return unexpected(m, e);
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

/* ---- what commands ask ---- */

const char *arg_at(const struct args *a, const char *key, int i)
{
    for (int k = 0; k < a->n; k++)
        if (!strcmp(a->v[k].key, key) && i-- == 0) return a->v[k].value;
    return NULL;
}

const char *arg(const struct args *a, const char *key)
{
    return arg_at(a, key, 0);
}

int arg_count(const struct args *a, const char *key)
{
    int n = 0;
    for (int k = 0; k < a->n; k++) n += !strcmp(a->v[k].key, key);
    return n;
}

bool arg_flag(const struct args *a, const char *word)
{
    return arg(a, word) != NULL;
}

int64_t arg_int(const struct args *a, const char *key, int64_t otherwise)
{
    const char *text = arg(a, key);
    if (text) is_integer(text, &otherwise);
    return otherwise;
}

double arg_real(const struct args *a, const char *key, double otherwise)
{
    const char *text = arg(a, key);
    if (text) is_real(text, &otherwise);
    return otherwise;
}

enum type arg_precision(const struct args *a)
{
    return arg_flag(a, "f32") ? T_F32 : T_F64;
}

static bool unknown_param(const struct param *list, const char *name, struct err *e)
{
    struct suggest near = suggest_for(name);
    struct message choices = {0}, t = {0};
    for (const struct param *p = list; p && p->name; p++) {
        suggest_offer(&near, p->name);
        list_one(&choices, p->name);
    }
    add(&t, "expected a parameter, found ");
    quote(&t, name);
    add_suggestion(&t, &near);
    if (choices.items)
        add(&t, "; one of %s", choices.text);
    else
        add(&t, "; there are none here");
    return fail(e, E_USAGE, "%s", t.text);
}

static bool set_param(const struct param *p, const char *text, int64_t *v, struct err *e)
{
    if (is_integer(text, v) && *v >= p->min && *v <= p->max) return true;
    struct message t = {0};
    add(&t, "expected %lld to %lld for %s (%s), found ", (long long)p->min, (long long)p->max, p->name, p->about);
    quote(&t, *text ? text : NULL);
    return fail(e, E_USAGE, "%s", t.text);
}

static int param_index(const struct param *list, const char *name)
{
    for (int i = 0; list && list[i].name; i++)
        if (!strcmp(list[i].name, name)) return i;
    return -1;
}

bool arg_params(const struct args *a, const struct param *list, int64_t *v, struct err *e)
{
    int n = 0, at = 0; /* parameters there are; the next one to be set by place */
    const char *text;
    for (int i = 0; i < PARAMS_MAX; i++) v[i] = 0;
    for (; list && list[n].name; n++) v[n] = list[n].usual;
    for (int i = 0; (text = arg_at(a, "params", i)); i++) {
        int k = at;
        if (!is_integer(text, NULL)) {
            k = param_index(list, text);
            if (k < 0) return unknown_param(list, text, e);
            text = arg_at(a, "params", ++i);
        }
        if (k >= n) return fail(e, E_USAGE, "expected nothing after the last parameter, found `%s`", text);
        if (!set_param(&list[k], text, &v[k], e)) return false;
        at = k + 1;
    }
    return true;
}
