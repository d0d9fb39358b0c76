/* Arguments: commands read the matched words of their line through these functions. */
#include "args.h"
#include "base/numeral.h"
#include "base/precision.h"
#include "base/suggest.h"
#include "formats/format.h"
#include "grammar.h"
#include "session/session.h"

#include <string.h>

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

const char *arg_any(const struct args *a, const char *const *keys, int n)
{
    while (n > 0 && !arg(a, keys[n - 1])) n--;
    return n > 0 ? keys[n - 1] : NULL;
}

int64_t arg_int(const struct args *a, const char *key, int64_t otherwise)
{
    const char *text = arg(a, key);
    if (text) is_integer(text, &otherwise);
    return otherwise;
}

bool arg_within(const struct args *a, const char *key, int64_t otherwise, int64_t least, int64_t most, int64_t *out,
                struct err *e)
{
    *out = arg_int(a, key, otherwise);
    if (!arg(a, key) || (*out >= least && *out <= most)) return true;
    return fail(e, E_USAGE, "`%s %lld` is outside %lld .. %lld", key, (long long)*out, (long long)least,
                (long long)most);
}

double arg_real(const struct args *a, const char *key, double otherwise)
{
    const char *text = arg(a, key);
    if (text) is_real(text, &otherwise);
    return otherwise;
}

enum precision arg_precision(const struct args *a)
{
    const struct precision_entry *named = arg(a, "precision") ? precision_find(arg(a, "precision")) : NULL;
    if (named) return named->index;
    if (arg_flag(a, "f32")) return P_F32;
    return a->session && a->session->single && !arg_flag(a, "f64") ? P_F32 : P_F64;
}

static void offer_params(const struct param *list, give_fn *give, void *user)
{
    for (const struct param *p = list; p && p->name; p++) give(user, p->name);
}

/* Offer the keywords that the line does not contain yet. */
static void offer_keywords(const struct args *a, give_fn *give, void *user)
{
    for (int i = 0; i < a->grammar.n; i++) {
        const struct item *it = &a->grammar.item[i];
        if ((it->type == ITEM_PAIR || it->type == ITEM_FLAG) && !arg(a, it->key)) give(user, it->word);
    }
}

static bool unknown_param(const struct args *a, const struct param *list, const char *name, struct err *e)
{
    struct suggest near = suggest_for(name);
    struct message choices = {0}, keywords = {0}, t = {0};
    offer_params(list, suggest_offer, &near);
    offer_keywords(a, suggest_offer, &near);
    offer_params(list, message_list, &choices);
    offer_keywords(a, message_list, &keywords);
    message_quote(&t, name);
    message_add(&t, " is not a parameter");
    message_near(&t, &near);
    if (choices.items)
        message_add(&t, "; one of %s", choices.text);
    else
        message_add(&t, "; there are none here");
    if (keywords.items) message_add(&t, choices.items ? ", or a keyword: %s" : ", but keywords: %s", keywords.text);
    return fail(e, E_USAGE, "%s", t.text);
}

static bool set_param(const struct param *p, const char *text, int64_t *v, struct err *e)
{
    if (is_integer(text, v) && *v >= p->min && *v <= p->max) return true;
    struct message t = {0};
    if (*text) {
        message_quote(&t, text);
        message_add(&t, " is not a value of %s (%s)", p->name, p->about);
    } else {
        message_add(&t, "%s (%s) has no value", p->name, p->about);
    }
    message_add(&t, ": give an integer from %lld to %lld", (long long)p->min, (long long)p->max);
    return fail(e, E_USAGE, "%s", t.text);
}

int param_index(const struct param *list, const char *name)
{
    for (int i = 0; list && list[i].name; i++)
        if (!strcmp(list[i].name, name)) return i;
    return -1;
}

bool arg_params(const struct args *a, const struct param *list, int64_t *v, struct err *e)
{
    int n = 0;  /* number of parameters */
    int at = 0; /* index of the next parameter without a name */
    bool given[PARAMS_MAX] = {false};
    const char *text;
    for (int i = 0; i < PARAMS_MAX; i++) v[i] = 0;
    for (; list && list[n].name; n++) v[n] = list[n].default_value;
    for (int i = 0; (text = arg_at(a, "params", i)); i++) {
        int k = at;
        if (!like_number(text)) {
            k = param_index(list, text);
            if (k < 0) return unknown_param(a, list, text, e);
            text = arg_at(a, "params", ++i);
        }
        if (k >= n) return fail(e, E_USAGE, "too many parameters: `%s` is one too many", text);
        if (given[k]) return fail(e, E_USAGE, "`%s` is given twice", list[k].name);
        given[k] = true;
        if (!set_param(&list[k], text, &v[k], e)) return false;
        at = k + 1;
    }
    return true;
}
