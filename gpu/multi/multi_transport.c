/* The way that the user wants the members of devices to send to each other. */
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
