/* Graphs of a device with members: one graph for each member. A replayed graph needs no numbers from the host, because
   launches that store into each other's memory count their exchanges themselves. */
#include "base/mem.h"
#include "multi.h"

struct graphs {
    void *of[MEMBERS_MAX];
};

/* The members from `next` on have not begun to record. */
struct recording {
    struct multi *m;
    int next;
    bool (*go)(void *ctx, struct err *e);
    void *ctx;
    struct graphs *graphs;
};

/* Record on one member after another, each while those before it record; the last one queues the launches of all. */
static bool record_next(void *ctx, struct err *e)
{
    struct recording *r = ctx;
    if (r->next == r->m->n) return r->go(r->ctx, e);
    int k = r->next++;
    struct device *d = r->m->member[k];
    return (r->graphs->of[k] = d->ops->capture(d, record_next, r)) != NULL;
}

void multi_forget(struct device *d, void *graph)
{
    struct multi *m = multi_of(d);
    struct graphs *all = graph;
    for (int k = 0; all && k < m->n; k++)
        if (all->of[k]) m->member[k]->ops->forget(m->member[k], all->of[k]);
    mem_free(all);
}

static bool can_record(struct device *d)
{
    struct multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++)
        if (!m->member[k]->ops->capture) return false;
    return transport_is_peer(m);
}

void *multi_capture(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx)
{
    struct multi *m = multi_of(d);
    struct graphs *all = can_record(d) ? mem_zero(1, sizeof *all, "graphs", NULL) : NULL;
    struct recording r = {.m = m, .go = go, .ctx = ctx, .graphs = all};
    if (!all) return NULL;
    if (record_next(&r, NULL)) return all;
    multi_forget(d, all);
    return NULL;
}

bool multi_replay(struct device *d, void *graph, struct err *e)
{
    struct multi *m = multi_of(d);
    struct graphs *all = graph;
    for (int k = 0; k < m->n; k++)
        if (!m->member[k]->ops->replay(m->member[k], all->of[k], e)) return false;
    return true;
}
