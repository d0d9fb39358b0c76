/* Copies between the members of a device by NCCL, which also connects GPUs that cannot reach each other's memory. The
   library is opened at its first use. The sums of the members are copied and then added in the order of the members,
   because NCCL's own reductions would add in an order of their own. */
#include "base/base.h"
#include "base/err.h"
#include "base/shared.h"
#include "multi.h"

#include <stddef.h>

enum { NCCL_BYTES = 0, NCCL_SUCCESS = 0 }; /* of nccl.h: ncclInt8, ncclSuccess */

static struct nccl_calls found;
static const struct nccl_calls *replaced;

static const struct shared_function functions[] = {
    {"ncclCommInitAll", &found.init_all},
    {"ncclCommAbort", &found.abort},
    {"ncclGroupStart", &found.group_start},
    {"ncclGroupEnd", &found.group_end},
    {"ncclSend", &found.send},
    {"ncclRecv", &found.receive},
    {"ncclGetErrorString", &found.error},
    {NULL},
};
static struct shared_library library = {.file = "libnccl.so.2",
                                        .package = "libnccl2, or add the library's folder to LD_LIBRARY_PATH",
                                        .functions = functions};

void multi_nccl_replace(const struct nccl_calls *calls)
{
    replaced = calls;
}

static const struct nccl_calls *calls(struct err *e)
{
    if (replaced) return replaced;
    return shared_load(&library, "the exchange by NCCL", e) ? &found : NULL;
}

bool multi_nccl_found(struct err *e)
{
    return calls(e) != NULL;
}

bool multi_nccl_fits(const struct multi *m)
{
    for (int b = 0; b < m->n && !replaced; b++) {
        if (m->member[b]->kind != DEV_CUDA) return false;
        for (int a = 0; a < b; a++)
            if (multi_one_memory(m->member[a], m->member[b])) return false;
    }
    return true;
}

static bool succeeds(const struct nccl_calls *c, int result, const char *call, struct err *e)
{
    return result == NCCL_SUCCESS || fail(e, E_DEVICE, "%s: %s", call, c->error(result));
}

static bool connect(struct multi *m, const struct nccl_calls *c, struct err *e)
{
    int gpu[MEMBERS_MAX];
    if (m->comm[0]) return true;
    for (int k = 0; k < m->n; k++) gpu[k] = m->member[k]->number;
    return succeeds(c, c->init_all(m->comm, m->n, gpu), "ncclCommInitAll", e);
}

static bool queue(const struct multi *m, const struct nccl_calls *c, const struct member_copy *p, struct err *e)
{
    size_t bytes = (size_t)p->bytes;
    void *here = m->member[p->from]->stream, *there = m->member[p->to]->stream;
    return succeeds(c, c->send(p->source, bytes, NCCL_BYTES, p->to, m->comm[p->from], here), "ncclSend", e) &&
           succeeds(c, c->receive(p->target, bytes, NCCL_BYTES, p->from, m->comm[p->to], there), "ncclRecv", e);
}

bool multi_nccl_copy(struct multi *m, int n, const struct member_copy *copy, struct err *e)
{
    const struct nccl_calls *c = calls(e);
    if (!c || !connect(m, c, e) || !succeeds(c, c->group_start(), "ncclGroupStart", e)) return false;
    bool ok = true;
    for (int i = 0; i < n && ok; i++) ok = queue(m, c, &copy[i], e);
    /* the group ends also after a failure, whose error then stays */
    return succeeds(c, c->group_end(), "ncclGroupEnd", ok ? e : NULL) && ok;
}

void multi_nccl_close(struct multi *m)
{
    const struct nccl_calls *c = m->comm[0] ? calls(NULL) : NULL;
    for (int k = 0; k < m->n; k++) {
        if (c && m->comm[k]) c->abort(m->comm[k]);
        m->comm[k] = NULL;
    }
}
