/* The ways in which the members of a device send to each other where launches cannot store into the memory of other
   members: copies between devices, or through the host. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "multi.h"

/* A way that is wanted but not possible becomes the next one that is. */
enum transport transport_of(const struct device *d)
{
    const struct multi *m = multi_of(d);
    enum transport wanted = transport_wanted();
    if (wanted <= m->best) return m->best;
    if (wanted == TRANSPORT_NCCL && multi_nccl_fits(m)) return TRANSPORT_NCCL;
    return wanted == TRANSPORT_COPY && multi_all_carry(m) ? TRANSPORT_COPY : TRANSPORT_HOST;
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

static bool through_host(struct multi *m, const struct member_copy *c, struct err *e)
{
    struct device *here = m->member[c->from], *there = m->member[c->to];
    return staging(m, c->bytes, e) && here->ops->get(here, m->staging, c->source, c->bytes, e) &&
           there->ops->put(there, c->target, m->staging, c->bytes, e);
}

static bool between_devices(struct multi *m, const struct member_copy *c, struct err *e)
{
    struct device *there = m->member[c->to];
    return there->ops->carry(there, c->target, m->member[c->from], c->source, c->bytes, e);
}

/* The copies of an exchange, at most one for each pair of members. */
struct copies {
    int n;
    struct member_copy of[MEMBERS_MAX * MEMBERS_MAX];
};

static void add_copy(struct copies *all, struct member_copy c)
{
    if (c.bytes) all->of[all->n++] = c;
}

static bool copy_all(struct device *d, const struct copies *all, struct err *e)
{
    struct multi *m = multi_of(d);
    enum transport way = transport_of(d);
    if (way == TRANSPORT_NCCL) return !all->n || multi_nccl_copy(m, all->n, all->of, e);
    for (int i = 0; i < all->n; i++)
        if (!(way == TRANSPORT_COPY ? between_devices : through_host)(m, &all->of[i], e)) return false;
    return true;
}

bool multi_sums_move(struct device *d, unsigned epoch, struct err *e)
{
    struct multi *m = multi_of(d);
    struct copies all;
    if (transport_of(d) == TRANSPORT_PEER) return true;
    all.n = 0;
    for (int a = 0; a < m->n; a++)
        for (int b = 0; b < m->n; b++) {
            int64_t at = mail_slot(m->n, epoch, a) * MAIL_WORDS, bytes = MAIL_MAX * MAIL_WORDS * sizeof(mail_word);
            if (a != b) add_copy(&all, (struct member_copy){a, b, m->seat[a].box + at, m->seat[b].box + at, bytes});
        }
    return copy_all(d, &all, e);
}

bool multi_halo_move(struct pieces *p, int64_t size, struct err *e)
{
    struct copies all;
    if (transport_of(p->dev) == TRANSPORT_PEER) return true;
    all.n = 0;
    for (int a = 0; a < p->n; a++) {
        const struct piece *of = &p->piece[a];
        for (int t = 0; t < of->targets; t++) {
            int b = of->target[t];
            add_copy(&all, (struct member_copy){a, b, (char *)of->packed + of->first[t] * size,
                                                (char *)p->piece[b].in[p->epoch % 2] + of->halo_at[t] * size,
                                                (of->first[t + 1] - of->first[t]) * size});
        }
    }
    return copy_all(p->dev, &all, e);
}
