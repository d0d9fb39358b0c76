/* The table of holdings. A holding is dropped with its matrix or device, and updated when a stored matrix moves. */
#include "holding.h"
#include "aside.h"
#include "base/screen_lock.h"
#include "matrix.h"
#include "session.h"

#define HOLDING(id) extern const struct holding holding_##id;
#include "holdings.def"
#undef HOLDING
#define HOLDING(id) &holding_##id,
static const struct holding *const holdings[] = {
#include "holdings.def"
};
#undef HOLDING

void holdings_drop_all(struct session *s)
{
    for (int i = 0; i < COUNT(holdings); i++) holdings[i]->drop(s);
}

void holdings_drop_results(struct session *s)
{
    for (int i = 0; i < COUNT(holdings); i++)
        if (!holdings[i]->apart) holdings[i]->drop(s);
}

static bool belongs_to(const struct session *s, const struct holding *h, const struct matrix *m)
{
    return !h->apart && h->belongs_to(s, m);
}

void holdings_drop_of(struct session *s, const struct matrix *m)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->pauses && belongs_to(s, h, m) && h->is_paused(s)) out_note(s->out, "%s %s ends", h->pauses, m->name);
    }
    for (int i = 0; i < COUNT(holdings); i++)
        if (belongs_to(s, holdings[i], m)) holdings[i]->drop(s);
}

static bool is_running(const struct session *s, const struct holding *h)
{
    return h->is_running && h->is_running(s);
}

static void drop_on(struct session *s, const struct device *d)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->is_on && h->is_on(s, d) && !is_running(s, h)) h->drop(s);
    }
}

static void drop_using(struct session *s, const struct mat *M)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->uses && h->uses(s, M) && !is_running(s, h)) h->drop(s);
    }
}

static bool uses(const struct session *s, const struct mat *M)
{
    for (int i = 0; i < COUNT(holdings); i++)
        if (holdings[i]->uses && holdings[i]->uses(s, M)) return true;
    return false;
}

static void moved(struct session *s, const struct mat *from, struct mat *to)
{
    for (int i = 0; i < COUNT(holdings); i++)
        if (holdings[i]->moved) holdings[i]->moved(s, from, to);
}

/* ---- the results that a sweep has set aside are holdings, too ---- */

static void exchange(struct session *s)
{
    if (s->aside) results_swap(s, &s->aside->results);
}

void holdings_drop_on(struct session *s, const struct device *d)
{
    SCREEN_EDIT;
    drop_on(s, d);
    exchange(s);
    if (s->aside) drop_on(s, d);
    exchange(s);
}

void holdings_drop_using(struct session *s, const struct mat *M)
{
    SCREEN_EDIT;
    drop_using(s, M);
    exchange(s);
    if (s->aside) drop_using(s, M);
    exchange(s);
}

bool holdings_use(struct session *s, const struct mat *M)
{
    SCREEN_EDIT;
    bool now = uses(s, M);
    exchange(s);
    bool before = s->aside && uses(s, M);
    exchange(s);
    return now || before;
}

void holdings_moved(struct session *s, const struct mat *from, struct mat *to)
{
    SCREEN_EDIT;
    moved(s, from, to);
    exchange(s);
    if (s->aside) moved(s, from, to);
    exchange(s);
}
