/* Matches the words of a command with its grammar, and reports words that do not match. */
#include "args.h"
#include "base/numeral.h"
#include "base/param.h"
#include "base/registry.h"
#include "base/suggest.h"
#include "direct/direct.h"
#include "formats/format.h"
#include "grammar.h"
#include "kinds.h"
#include "session/command.h"

#include <string.h>

struct match {
    struct args *a;
    struct words *w;
    int next;                /* index of the next word to match */
    bool taken[ITEMS_MAX];   /* the positional item has a value */
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

/* Can positional item i take another value? */
static bool has_room(const struct match *m, int i)
{
    const struct item *it = &m->a->grammar.item[i];
    if (is_params(it)) return params_of(m->a) != NULL;
    return !m->taken[i] || it->repeated;
}

/* Must positional item i still get a value? */
static bool is_required(const struct match *m, int i)
{
    return in_place(&m->a->grammar.item[i]) && !m->a->grammar.item[i].optional && !m->taken[i];
}

/* Does an earlier positional item that can come next take the same kind of value? Messages name that kind once. */
static bool is_repeated(const struct match *m, int i)
{
    const struct item *it = &m->a->grammar.item[i];
    for (int k = 0; k < i && it->type == ITEM_VALUE && !it->words; k++) {
        const struct item *other = &m->a->grammar.item[k];
        if (other->type == ITEM_VALUE && !other->words && other->value == it->value && has_room(m, k)) return true;
    }
    return false;
}

/* Does the line still lack a value that usually comes first? */
static bool lacks_lead(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    for (int i = 0; i < g->n; i++)
        if (g->item[i].type == ITEM_VALUE && g->item[i].value->role == KIND_LEAD) return !m->taken[i];
    return false;
}

/* Completion and messages name direct solvers only after the word `direct`. */
static bool is_offered(const struct match *m, const struct item *it)
{
    if (it->type == ITEM_PAIR) return !it->bare || !lacks_lead(m);
    const char *solver = arg(m->a, "solver");
    if (it->type != ITEM_VALUE || it->value->role != KIND_DIRECT) return true;
    return solver && registry_find(&direct_word_registry, solver);
}

/* Visit the items that may come next. After a keyword that needs a value, and before a required value, only that value
   may come next; elsewhere, keywords may come next too. */
static void expected(const struct match *m, visit_fn *visit, void *user)
{
    const struct grammar *g = &m->a->grammar;
    bool required = false;
    if (m->open) {
        visit(user, m->open, NEXT_VALUE);
        return;
    }
    for (int i = 0; i < g->n && !required; i++) {
        const struct item *it = &g->item[i];
        bool fits = in_place(it) ? has_room(m, i) && !is_repeated(m, i) : it->bare && !m->used[it->group];
        enum next next = it->type == ITEM_WORD ? NEXT_KEYWORD : it->type == ITEM_PAIR ? NEXT_BARE_VALUE : NEXT_VALUE;
        if (fits && is_offered(m, it)) visit(user, it, next);
        required = is_required(m, i);
    }
    for (int i = 0; i < g->n && !required; i++)
        if (!in_place(&g->item[i]) && !m->used[g->item[i].group]) visit(user, &g->item[i], NEXT_KEYWORD);
}

static void count_word(void *user, const char *word)
{
    ++*(int *)user;
}

/* The valid values of an item, as text: "a, b or c". */
static void message_words(struct message *t, const struct item *it)
{
    struct message list = {0};
    item_list(it, NULL, NULL, count_word, &list.of);
    item_list(it, NULL, NULL, message_choice, &list);
    message_add(t, "%s", list.text);
}

/* Messages name the value alone, not the keyword that may precede it. */
static bool is_optional_keyword(const struct item *it, enum next next)
{
    return it->bare && next == NEXT_KEYWORD;
}

/* The items that may come next, as text such as "a matrix, `using` or `force`". */
static void name_item(void *user, const struct item *it, enum next next)
{
    struct message *t = user;
    if (is_optional_keyword(it, next)) return;
    if (next == NEXT_KEYWORD) {
        message_item(t, it->word);
        return;
    }
    if (!message_next(t)) return;
    if (it->words)
        message_words(t, it);
    else
        message_add(t, "%s", it->value->what);
}

/* Collects the items that may come next: their names, for a suggestion, and their number. */
struct offer {
    const struct match *m;
    struct suggest *to;
    const struct item *value; /* the last item whose value may come next; NULL if only keywords may come next */
    const struct item *word;  /* the last keyword; NULL if only values may come next */
    int items;
};

static void offer_item(void *user, const struct item *it, enum next next)
{
    struct offer *o = user;
    o->items += !is_optional_keyword(it, next);
    if (next != NEXT_KEYWORD)
        o->value = it;
    else
        o->word = it;
    if (next == NEXT_KEYWORD)
        suggest_offer(o->to, it->word);
    else
        item_list(it, o->m->a->session, o->m->a, suggest_offer, o->to);
}

/* Report a missing word, for example "a matrix is missing after `use`". */
static void say_missing(const struct match *m, struct message *t)
{
    expected(m, name_item, t);
    message_add(t, " is missing after ");
    message_quote(t, m->w->w[m->next - 1].text);
}

/* The keyword whose value the next word could be, such as `on` for a device; NULL if there is none or more than one. */
static const struct item *pair_of_value(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    const struct item *found = NULL;
    for (int i = 0; i < g->n; i++) {
        const struct item *it = &g->item[i];
        if (it->type != ITEM_PAIR || m->used[it->group] || !item_has_list(it)) continue;
        if (it->value->role != KIND_PLAIN || !item_value(it, m->a->session, m->w->w[m->next].text)) continue;
        if (found) return NULL;
        found = it;
    }
    return found;
}

/* The kind of value that the word belongs to, other than that of k: for example, csr-vector is "a kernel". NULL if the
   word belongs to no other kind. */
static const char *what_else(const struct kind *k, const char *text)
{
    for (const struct kind *other = kinds; other->name; other++)
        if (other->of && !(k && !strcmp(other->what, k->what)) && registry_find(other->of, text)) return other->what;
    return NULL;
}

/* One kind of value may follow: "`Z` after `use` is not a matrix (did you mean `B`?); one of A, B". */
static void say_wrong_value(const struct match *m, const struct offer *o, struct message *t)
{
    const struct kind *k = o->value->words ? NULL : o->value->value;
    const char *why = k && k->refuses ? k->refuses(m->w->w[m->next].text) : NULL;
    if (why) {
        message_add(t, " %s", why);
        return;
    }
    message_add(t, " is not ");
    expected(m, name_item, t);
    message_near(t, o->to);
    const char *else_is = o->value->words || *o->to->best ? NULL : what_else(o->value->value, m->w->w[m->next].text);
    if (else_is) message_add(t, ", but %s", else_is);
    if (!o->value->words) message_choices(t, m->a->session, m->a, o->value->value);
}

/* Say where the parameter of a format goes: "`block` after `bench` is unknown: it is a parameter of bsr; name one
   format before it". Returns false if no format has the parameter. */
static bool say_param(const struct match *m, const char *text, struct message *t)
{
    const struct grammar *g = &m->a->grammar;
    struct message owners = {0};
    bool takes = false;
    for (int i = 0; formats[i]; i++)
        if (param_index(formats[i]->params, text) >= 0) message_list(&owners, formats[i]->name);
    for (int i = 0; i < g->n; i++) takes |= is_params(&g->item[i]);
    if (!owners.items) return false;
    message_add(t, " is unknown: it is a parameter of %s; ", owners.text);
    if (takes)
        message_add(t, "name one format before it");
    else
        message_add(t, "`convert` and `whatif` take it after the format");
    return true;
}

enum { NEXT_MAX = 6 }; /* what may follow, in one message */

/* Several words may follow: "`onn` after `cpu` is unknown: did you mean `on`? Use `on`, `reps` or `force`". A message
   lists all of them, or the first NEXT_MAX of more than NEXT_MAX + 1. */
static void say_unknown(const struct match *m, const struct offer *o, struct message *t)
{
    const struct item *pair = pair_of_value(m);
    const char *text = m->w->w[m->next].text;
    if (pair) {
        message_add(t, " needs a keyword: write `%s %s`", pair->word, text);
        return;
    }
    if (say_param(m, text, t)) return;
    const char *is = *o->to->best ? NULL : what_else(NULL, text);
    message_add(t, " is %s", is ? is : "unknown");
    if (*o->to->best) message_add(t, ": did you mean `%s`?", o->to->best);
    if (*o->to->best && o->items == 1) return;
    message_add(t, *o->to->best ? " Use " : "; use ");
    if (o->items > NEXT_MAX + 1) t->most = NEXT_MAX;
    expected(m, name_item, t);
    if (t->most) message_add(t, "; `help %s` shows all", m->a->command->name);
}

/* Report a wrong word: first the fault, then the words that would be right. */
static void say_wrong(const struct match *m, const struct offer *o, struct message *t)
{
    message_quote(t, m->w->w[m->next].text);
    if (!o->items) {
        message_add(t, " cannot follow ");
        message_quote(t, m->w->w[m->next - 1].text);
        message_add(t, "; nothing can");
        return;
    }
    message_add(t, " after ");
    message_quote(t, m->w->w[m->next - 1].text);
    if (o->items == 1 && o->value)
        say_wrong_value(m, o, t);
    else
        say_unknown(m, o, t);
}

bool is_option(const char *word)
{
    return !strncmp(word, "--", 2) && word[2];
}

bool refuse_option(const char *word, struct err *e)
{
    struct message t = {0};
    message_quote(&t, word);
    message_add(&t,
                " is for the start of warpspy, as in `warpspy --json FILE`; here, `COMMAND > FILE.json` and `COMMAND "
                "> FILE.csv` write JSON and CSV");
    return fail(e, E_USAGE, "%s", t.text);
}

/* Did the word before the next one become a plain value only because it is no value of the optional item before that
   plain value? For example, in `set devcie cpu`, `devcie` is not an option, and so became the value. */
static bool is_wrong_before(const struct match *m, const struct offer *o)
{
    const struct grammar *g = &m->a->grammar;
    if (o->items != 1 || !o->value || !in_place(o->value) || m->next < 2) return false;
    const struct item *plain = o->value + 1;
    return plain < g->item + g->n && in_place(plain) && plain->type == ITEM_VALUE && !plain->words &&
           plain->value->role == KIND_PLAIN && m->taken[plain - g->item] &&
           m->a->v[m->a->n - 1].value == m->w->w[m->next - 1].text;
}

/* Report that the next word is wrong, or that a word is missing. */
static bool unexpected(const struct match *m, struct err *e)
{
    bool missing = m->next >= m->w->n;
    struct suggest near = suggest_for(missing ? "" : m->w->w[m->next].text);
    struct offer o = {.m = m, .to = &near};
    struct message t = {0};
    expected(m, offer_item, &o);
    t.of = o.items;
    if (!missing && is_wrong_before(m, &o)) {
        struct match before = *m;
        before.next--;
        return unexpected(&before, e);
    }
    if (!missing && !*near.best && is_option(m->w->w[m->next].text)) return refuse_option(m->w->w[m->next].text, e);
    if (missing) {
        say_missing(m, &t);
        if (o.value && o.items <= 1 && !o.value->words) message_choices(&t, m->a->session, m->a, o.value->value);
    } else if (o.items == 1 && o.word && o.word->type == ITEM_WORD) {
        message_add(&t, "the word `%s` is missing before ", o.word->word);
        message_quote(&t, m->w->w[m->next].text);
    } else {
        say_wrong(m, &o, &t);
    }
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
    const char *text = m->w->w[m->next].text, *value = item_value(it, m->a->session, text);
    if (!m->lenient && !value) return unexpected(m, e);
    store(m, it->key, value ? value : text);
    m->used[it->group] = true;
    m->open = NULL;
    m->next++;
    return true;
}

/* Is the text the name of a matrix that begins like a number, such as 1138_bus? */
static bool is_matrix_like_number(const struct match *m, const char *text)
{
    const struct session *s = m->a->session;
    if (!s || !like_number(text) || is_real(text, NULL)) return false;
    return kind_value(kind_find("MATRIX", strlen("MATRIX")), s, text) != NULL;
}

/* Is the next word the name of a parameter, or does it look like a number? A word that is the name of a matrix does not
   count as a number. */
static bool is_param(const struct match *m)
{
    const struct word *w = &m->w->w[m->next];
    if (is_matrix_like_number(m, w->text)) return false;
    return like_number(w->text) || (!w->quoted && param_index(params_of(m->a), w->text) >= 0);
}

static bool accepts(const struct match *m, const struct item *it)
{
    const char *text = m->w->w[m->next].text;
    if (it->type == ITEM_WORD) return !strcmp(it->word, text);
    if (is_params(it)) return is_param(m);
    return item_value(it, m->a->session, text) != NULL;
}

/* Join the remaining words into one, separated by single blanks. */
static void join_rest(struct match *m)
{
    for (int i = m->next; i + 1 < m->w->n; i++) m->w->w[i].text[strlen(m->w->w[i].text)] = ' ';
    m->w->n = m->next + 1;
}

/* Take the next word as the value of positional item i; the command gets `text` as that value. */
static void take_place(struct match *m, int i, const char *text)
{
    const struct item *it = &m->a->grammar.item[i];
    if (it->type == ITEM_VALUE && it->value->role == KIND_REST) join_rest(m);
    m->taken[i] = true;
    m->next++;
    store(m, it->key, text);
    if (!is_params(it) || like_number(text)) return;
    bool known = param_index(params_of(m->a), text) >= 0;
    bool value = m->next < m->w->n && (like_number(m->w->w[m->next].text) || (known && !keyword(m)));
    store(m, it->key, value ? m->w->w[m->next++].text : "");
}

/* The first positional item that accepts the next word, or -1. Optional items may be skipped and given later, and they
   may precede a required value, but not a required word. */
static int place_of_word(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    bool required = false;
    for (int i = 0; i < g->n; i++) {
        const struct item *it = &g->item[i];
        if (!in_place(it) || !has_room(m, i)) continue;
        if (required && it->type == ITEM_WORD) return -1;
        if ((!required || it->optional) && accepts(m, it)) return i;
        if (it->type == ITEM_WORD) return -1;
        required |= is_required(m, i);
    }
    return -1;
}

/* The pair whose keyword may be left out and whose kind accepts the next word, or NULL. */
static const struct item *bare_pair(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    for (int i = 0; i < g->n; i++)
        if (g->item[i].bare && !m->used[g->item[i].group] && accepts(m, &g->item[i])) return &g->item[i];
    return NULL;
}

/* The first positional item that may take any word, or -1. In completion, this is the first item that may come next.
   Otherwise, it is the item that takes parameters, because the command itself reports parameters that do not exist. */
static int place_of_unknown(const struct match *m)
{
    const struct grammar *g = &m->a->grammar;
    const struct word *w = &m->w->w[m->next];
    bool first = true, before_number = !w->quoted && m->next + 1 < m->w->n && like_number(w[1].text);
    for (int i = 0; i < g->n; i++) {
        if (!in_place(&g->item[i]) || !has_room(m, i)) continue;
        if (is_params(&g->item[i]) ? first || before_number : m->lenient) return i;
        first = false;
    }
    return -1;
}

/* ---- abbreviations ---- */

/* Is the text another name of the keyword? */
static bool is_alias(const struct item *it, const char *text)
{
    const struct keyword *k = keyword_find(it->word);
    return k && has_word(k->aliases, text);
}

static void offer_params(const struct match *m, give_fn *give, void *user)
{
    for (int i = 0; i < m->a->grammar.n; i++)
        if (is_params(&m->a->grammar.item[i]) && params_of(m->a))
            for (const struct param *p = params_of(m->a); p->name; p++) give(user, p->name);
}

static void offer_keywords(const struct match *m, give_fn *give, void *user)
{
    const struct grammar *g = &m->a->grammar;
    for (int i = 0; i < g->n; i++) {
        const struct item *it = &g->item[i];
        const struct keyword *k = keyword_find(it->word);
        if (!in_place(it) && !m->used[it->group] && !(k && k->in_full)) give(user, it->word);
    }
}

static bool refuse_ambiguous(const struct match *m, int n, struct err *e)
{
    const char *text = m->w->w[m->next].text;
    struct message t = {.of = n};
    struct begins x = {text, message_item, &t};
    message_quote(&t, text);
    message_add(&t, " could be ");
    offer_params(m, give_beginning, &x);
    offer_keywords(m, give_beginning, &x);
    return fail(e, E_USAGE, "%s; type more letters", t.text);
}

enum taken { TAKEN, NOT_TAKEN, REFUSED };

/* Take the next word if it is an abbreviation or another name of a keyword or parameter. */
static enum taken match_short(struct match *m, struct err *e)
{
    const struct grammar *g = &m->a->grammar;
    const struct word *w = &m->w->w[m->next];
    struct abbreviation x = {.typed = w->text};
    if (w->quoted) return NOT_TAKEN;
    offer_params(m, abbreviation_offer, &x);
    offer_keywords(m, abbreviation_offer, &x);
    for (int i = 0; i < g->n; i++) {
        const struct item *it = &g->item[i];
        if (in_place(it) || m->used[it->group] || !(is_alias(it, w->text) || (x.n == 1 && it->word == x.word)))
            continue;
        return take_keyword(m, it, e) ? TAKEN : REFUSED;
    }
    if (x.n > 1) return refuse_ambiguous(m, x.n, e), REFUSED;
    for (int i = 0; i < g->n && x.n; i++)
        if (is_params(&g->item[i])) return take_place(m, i, x.word), TAKEN;
    return NOT_TAKEN;
}

/* Find the item of the grammar whose value is the next word. */
static bool match_place(struct match *m, struct err *e)
{
    const char *text = m->w->w[m->next].text;
    int at = place_of_word(m);
    const struct item *pair = at < 0 ? bare_pair(m) : NULL;
    if (pair) return take_value(m, pair, e);
    enum taken taken = at < 0 ? match_short(m, e) : NOT_TAKEN;
    if (taken != NOT_TAKEN) return taken == TAKEN;
    if (at < 0) at = place_of_unknown(m);
    if (at < 0) return unexpected(m, e);
    const struct item *it = &m->a->grammar.item[at];
    const char *value = it->type == ITEM_VALUE && !is_params(it) ? item_value(it, m->a->session, text) : NULL;
    take_place(m, at, value ? value : text);
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
    if (m->open) return unexpected(m, e);
    for (int i = 0; i < m->a->grammar.n; i++)
        if (is_required(m, i)) return unexpected(m, e);
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
