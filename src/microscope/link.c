/* The table of links between GPUs. */
#include "link.h"
#include "base/registry.h"

#include <math.h>
#include <stddef.h>

const struct link links[] = {
#define LINK(id, about, start, hop, gbs, most, measured, source) {#id, about, start, hop, gbs, most, measured, source},
#include "links.def"
#undef LINK
    {0}};
const struct registry link_registry = {.entries = links, .size = sizeof *links};

const struct link *link_find(const char *name)
{
    return registry_find(&link_registry, name);
}

const char *link_origin(const struct link *l)
{
    return l->measured ? "measured" : "specification";
}

double link_exchange_us(const struct link *l, double bytes)
{
    return l->start_us + l->hop_us + bytes / (l->gbs * 1e3);
}

double link_reduce_us(const struct link *l, int parts)
{
    return parts > 1 ? l->start_us + ceil(log2(parts)) * l->hop_us : 0;
}
