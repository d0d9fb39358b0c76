/* The table of links between GPUs. */
#include "link.h"
#include "base/registry.h"
#include "gpu_profile.h"
#include "machine/device.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct link links[] = {
#define LINK(id, about, start, hop, gbs, most, beside, measured, source) \
    {#id, about, start, hop, gbs, most, beside, measured, source},
#include "links.def"
#undef LINK
    {0}};
const struct registry link_registry = {.entries = links, .size = sizeof *links};

const struct link *link_find(const char *name)
{
    return registry_find(&link_registry, name);
}

const char link_measured[] = "measured";

/* A message takes one way of a flag; without access to the memory of other GPUs, a small copy. */
static void describe(const struct link_ceilings *c, int members, struct measured_link *out)
{
    bool flags = isfinite(c->flag_us);
    size_t n = strlen(out->source);
    if (flags)
        snprintf(out->source + n, sizeof out->source - n,
                 ": a flag there and back takes %.3g us; a copy of 256 MiB runs at %.0f GB/s", c->flag_us, c->far_gbs);
    else
        snprintf(out->source + n, sizeof out->source - n,
                 ": a copy of 8 bytes takes %.3g us, one of 256 MiB runs at %.0f GB/s", c->copy_us, c->far_gbs);
    out->link = (struct link){.name = link_measured,
                              .about = out->about,
                              .hop_us = flags ? c->flag_us / 2 : c->copy_us,
                              .gbs = c->far_gbs,
                              .most = members,
                              .beside = flags,
                              .measured = true,
                              .source = out->source};
}

void link_of_device(const struct device *d, struct measured_link *out)
{
    snprintf(out->about, sizeof out->about, "between the members of %.64s%s", d->name,
             d->link.one_gpu ? ", which are one GPU: no link" : "");
    snprintf(out->source, sizeof out->source, "by `ceilings on %.64s`", d->name);
    describe(&d->link, d->members, out);
}

void link_of_profile(const struct machine *g, struct measured_link *out)
{
    snprintf(out->about, sizeof out->about, "between %d GPUs of the profile %s", g->linked, g->name);
    snprintf(out->source, sizeof out->source, "by `ceilings`, in the profile");
    describe(&g->link, g->linked, out);
}

const char *link_origin(const struct link *l)
{
    return l->measured ? "measured" : "specification";
}

/* A launch that gathers listed items and stores them in the memory of other GPUs does not reach the bandwidth of a
   copy: beside the local products of circuit 20000000 8, pushes of 34 to 39 MB took 148 to 229 us on four H200s. */
static const double PUSH_GBS = 230;

double link_items_gbs(const struct link *l)
{
    return l->beside ? fmin(l->gbs, PUSH_GBS) : l->gbs;
}

double link_exchange_us(const struct link *l, double bytes)
{
    return l->start_us + l->hop_us + bytes / (link_items_gbs(l) * 1e3);
}

double link_reduce_us(const struct link *l, int parts)
{
    return parts > 1 ? l->start_us + ceil(log2(parts)) * l->hop_us : 0;
}
