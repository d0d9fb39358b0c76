/* How members can send to each other: the way that the user wants, and whether they share a memory. */
#include "multi.h"

static enum transport wanted;

static const char *const names[TRANSPORTS] = {"auto", "peer", "copy", "nccl", "host"};

const char *transport_name(enum transport x)
{
    return names[x];
}

void transport_choose(enum transport chosen)
{
    wanted = chosen;
}

enum transport transport_wanted(void)
{
    return wanted;
}

bool transport_is_peer(const struct multi *m)
{
    return m->best == TRANSPORT_PEER && wanted <= TRANSPORT_PEER;
}

bool multi_one_memory(const struct device *a, const struct device *b)
{
    if (a->kind != DEV_CUDA || b->kind != DEV_CUDA) return a->kind != DEV_CUDA && b->kind != DEV_CUDA;
    return a->number == b->number;
}
