/* The table of holdings. A holding is dropped with its matrix or device, and updated when a stored matrix moves. */
#include "holding.h"
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

void holdings_drop_of(struct session *s, const struct matrix *m)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->pauses && h->belongs_to(s, m) && h->is_paused(s)) out_note(s->out, "%s %s ends", h->pauses, m->name);
    }
    for (int i = 0; i < COUNT(holdings); i++)
        if (holdings[i]->belongs_to(s, m)) holdings[i]->drop(s);
}

static bool is_running(const struct session *s, const struct holding *h)
{
    return h->is_running && h->is_running(s);
}

void holdings_drop_on(struct session *s, const struct device *d)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->is_on && h->is_on(s, d) && !is_running(s, h)) h->drop(s);
    }
}

void holdings_drop_using(struct session *s, const struct mat *M)
{
    for (int i = 0; i < COUNT(holdings); i++) {
        const struct holding *h = holdings[i];
        if (h->uses && h->uses(s, M) && !is_running(s, h)) h->drop(s);
    }
}

bool holdings_use(const struct session *s, const struct mat *M)
{
    for (int i = 0; i < COUNT(holdings); i++)
        if (holdings[i]->uses && holdings[i]->uses(s, M)) return true;
    return false;
}

void holdings_moved(struct session *s, const struct mat *from, struct mat *to)
{
    for (int i = 0; i < COUNT(holdings); i++)
        if (holdings[i]->moved) holdings[i]->moved(s, from, to);
}
