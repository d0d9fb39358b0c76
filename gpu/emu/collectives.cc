/* Shared memory, barriers and warp collectives of the emulator. */
#include "races.h"
#include "simt_runner.h"

namespace simt
{

const char *const collective_names[COLLECTIVES] = {"__syncwarp",      "__ballot_sync",    "__any_sync",
                                                   "__all_sync",      "__shfl_down_sync", "__shfl_up_sync",
                                                   "__shfl_xor_sync", "__shfl_sync"};

/* Elements that no thread has written are NaN, so that a read of such an element is noticed: the first thread of the
   block that declares an array fills it. */
static void fill(unsigned from, unsigned end)
{
    memset(now.self->shared + from, 0xff, end - from);
}

unsigned shared_bytes(unsigned bytes, const void *declaration, const char *name, source here)
{
    declared_arrays &d = m->declared[now.self->member];
    for (unsigned k = 0; k < d.n; k++)
        if (d.of[k].declaration == declaration) return d.of[k].at;
    unsigned at = d.used, end = at + (bytes + 15) / 16 * 16;
    if (end > SHARED_PLAIN)
        found(here, "%s brings the block's shared memory to %u bytes; the maximum is %d", name, end, +SHARED_PLAIN);
    if (d.n == DECLARED_MAX)
        found(here, "%s is one array too many in shared memory; the maximum is %d", name, +DECLARED_MAX);
    fill(at, end);
    d.of[d.n++] = {declaration, at};
    d.used = end;
    return at;
}

unsigned given_bytes(unsigned bytes, const char *name, source here)
{
    if (bytes > now.given)
        found(here, "%s needs %u bytes of shared memory; the launch gives %u", name, bytes, now.given);
    unsigned &given = m->declared[now.self->member].given;
    if (bytes > given) {
        fill(SHARED_PLAIN + given, SHARED_PLAIN + bytes);
        given = bytes;
    }
    return SHARED_PLAIN;
}

void barrier(enum wait what, source at)
{
    if (now.watched) note_meeting(ACCESS_BARRIER, nullptr, 0, at);
    now.self->wait = what;
    now.self->at = at;
    give_way();
}

const char *why_gone(const lane *l, int k)
{
    return warp_start(l) + static_cast<unsigned>(k) >= m->threads ? "the block does not have" : "has returned";
}

static void check_mask(const lane *l)
{
    const collective_call &x = l->x;
    const char *name = collective_names[x.what];
    unsigned gone = x.mask & m->warps[l->number / WARP].gone;
    if (!(x.mask >> in_warp(l) & 1))
        found(x.at, "%s: the mask %08x does not name the calling lane %u", name, x.mask, in_warp(l));
    if (x.from >= 0 && !(x.mask >> x.from & 1))
        found(x.at, "%s: lane %u reads lane %d, which the mask %08x does not name", name, in_warp(l), x.from, x.mask);
    if (gone)
        found(x.at, "%s: the mask %08x names lane %d, which %s", name, x.mask, __builtin_ctz(gone),
              why_gone(l, __builtin_ctz(gone)));
}

/* The index of the entry of `open` that lane l joins: the entry of the same warp collective, or a new entry. At least
   one lane waits in each used entry, and a lane waits in at most one entry, so there is always a free entry. */
static int meeting_of(warp &w, const lane *l)
{
    const collective_call &x = l->x;
    for (unsigned left = w.used; left; left &= left - 1) {
        const meeting &o = w.open[__builtin_ctz(left)];
        if (x.mask == o.mask && x.what == o.what && same_line(x.at, o.at)) return __builtin_ctz(left);
    }
    int k = __builtin_ctz(~w.used);
    w.used |= 1u << k;
    w.open[k] = {x.mask, x.at, x.what, 0};
    return k;
}

/* All lanes of l's mask have arrived: give each lane its result and let it run. */
static void complete(const lane *l)
{
    unsigned start = warp_start(l), ballot = 0;
    shuffled value[WARP];
    for (unsigned left = l->x.mask; left; left &= left - 1) {
        int k = __builtin_ctz(left);
        const collective_call &x = m->f[start + static_cast<unsigned>(k)].l.x;
        value[k] = x.value;
        if (x.vote) ballot |= 1u << k;
    }
    for (unsigned left = l->x.mask; left; left &= left - 1) {
        lane &o = m->f[start + static_cast<unsigned>(__builtin_ctz(left))].l;
        o.x.ballot = ballot;
        if (o.x.from >= 0) o.x.value = value[o.x.from];
        o.wait = RUNS;
    }
    if (settings.races) races_meet(l->number / WARP, l->x.mask, l->x.what == SYNC_WARP);
}

void join_collective()
{
    lane *l = now.self;
    warp &w = m->warps[l->number / WARP];
    check_mask(l);
    if (now.watched) note_meeting(ACCESS_COLLECTIVE, collective_names[l->x.what], l->x.mask, l->x.at);
    int k = meeting_of(w, l);
    meeting &o = w.open[k];
    o.arrived |= 1u << in_warp(l);
    l->wait = AT_COLLECTIVE;
    l->at = l->x.at;
    if (o.arrived != o.mask) return give_way();
    w.used &= ~(1u << k);
    complete(l);
}

} // namespace simt
