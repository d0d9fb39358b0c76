/* The ways in which the members of a device send to each other where launches cannot store into the memory of other
   members: copies between devices, or through the host. */
#include "multi.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"

#include <string.h>

static enum transport chosen;

static const char *const names[TRANSPORTS] = {"auto", "peer", "copy", "host"};

const char *transport_name(enum transport x)
{
    return names[x];
}

void transport_choose(enum transport wanted)
{
    chosen = wanted;
}

/* A way that is wanted but not possible becomes the next one that is. */
enum transport transport_of(const struct device *d)
{
    const struct multi *m = multi_of(d);
    bool carries = true;
    for (int k = 0; k < m->n; k++) carries &= m->member[k]->ops->carry != NULL;
    if (chosen <= m->best) return m->best;
    return chosen == TRANSPORT_COPY && !carries ? TRANSPORT_HOST : chosen;
}

static bool staging(struct multi *m, int64_t bytes, struct err *e)
{
    if (bytes <= m->staging_bytes) return true;
    char *more = mem_new(bytes, 1, "items that members exchange", e);
    if (!more) return false;
    mem_free(m->staging);
    m->staging = more;
    m->staging_bytes = bytes;
    return true;
}

/* Copy from member a to member b. */
static bool move(struct device *d, int a, int b, void *to, const void *from, int64_t bytes, struct err *e)
{
    struct multi *m = multi_of(d);
    struct device *there = m->member[b], *here = m->member[a];
    if (bytes == 0) return true;
    if (transport_of(d) == TRANSPORT_COPY) return there->ops->carry(there, to, here, from, bytes, e);
    return staging(m, bytes, e) && here->ops->get(here, m->staging, from, bytes, e) &&
           there->ops->put(there, to, m->staging, bytes, e);
}

bool multi_sums_move(struct device *d, unsigned epoch, struct err *e)
{
    struct multi *m = multi_of(d);
    if (transport_of(d) == TRANSPORT_PEER) return true;
    for (int a = 0; a < m->n; a++)
        for (int b = 0; b < m->n; b++) {
            int64_t at = mail_slot(&m->seat[a], epoch, a);
            if (a != b && !move(d, a, b, m->seat[b].box + at, m->seat[a].box + at, MAIL_MOST * 8, e)) return false;
        }
    return true;
}

bool multi_halo_move(struct pieces *p, int64_t size, struct err *e)
{
    if (transport_of(p->dev) == TRANSPORT_PEER) return true;
    for (int a = 0; a < p->n; a++) {
        const struct piece *of = &p->piece[a];
        for (int t = 0; t < of->targets; t++) {
            int b = of->target[t];
            char *to = (char *)p->piece[b].in[p->epoch % 2] + of->halo_at[t] * size;
            if (!move(p->dev, a, b, to, (char *)of->packed + of->first[t] * size,
                      (of->first[t + 1] - of->first[t]) * size, e))
                return false;
        }
    }
    return true;
}
