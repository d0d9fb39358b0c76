/* Reports one race per block among the accesses that races.c finds to be unordered. */
#include "races.h"
#include "simt_runner.h"

namespace simt
{

/* The race that is reported once all threads of the block wait or have returned. A race between warps replaces a race
   within a warp, because the message about a race within a warp suggests __syncwarp, which does not order the
   accesses of different warps. */
struct pending_race {
    bool found, across_warps;
    bool update; /* both threads read the element and then write it, on the same source line */
    race_access earlier;
    enum race_kind kind; /* the kind of the later access; the members below also describe the later access */
    uint64_t address;
    int64_t k;
    const char *name;
    lane *by;
    source at;
};
static pending_race pending;

static bool at_line_of(const race_access &o, source at)
{
    return o.line == static_cast<int>(at.line()) && !strcmp(o.file, at.file_name());
}

/* Record the access of the running lane. If the access races with an earlier access, keep the race. */
void check_race(enum access_kind what, const void *base, int64_t k, unsigned size, const char *name, source at)
{
    uint64_t address = reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(k) * size;
    enum race_kind kind = what == ACCESS_STORE ? RACE_WRITE : what == ACCESS_ATOMIC ? RACE_ATOMIC : RACE_READ;
    race_access o;
    if (pending.found && pending.by == now.self && pending.address == address && pending.kind == RACE_READ &&
        kind == RACE_WRITE)
        pending.update |=
            pending.earlier.kind == RACE_WRITE && at_line_of(pending.earlier, at) && pending.at.line() == at.line();
    enum race_answer answer =
        races_access(address, now.self->number, kind, at.file_name(), static_cast<int>(at.line()), &o);
    if (answer == RACE_NONE) return;
    if (answer == RACE_NO_MEMORY) found(at, "not enough memory to look for races");
    bool across = o.thread / WARP != now.self->number / WARP;
    if (pending.found && (pending.across_warps || !across)) return;
    pending = {true, across, false, o, kind, address, k, name, now.self, at};
}

/* The barrier or call that is missing between the two accesses. */
static const char *missing_of(const pending_race &t)
{
    if (t.update) return "no atomic: each thread reads it and then writes it; use atomicAdd or another atomic";
    if (t.kind == RACE_WRITE && t.earlier.kind == RACE_WRITE && at_line_of(t.earlier, t.at))
        return "no barrier in between: which value remains is undefined";
    unsigned each = m->threads / m->blocks;
    if (t.earlier.thread / each != t.by->number / each) return "no barrier in between: cluster_sync() is missing";
    return t.across_warps ? "no barrier in between: __syncthreads() is missing"
                          : "no barrier in between: the kernel relies on lockstep; __syncwarp() is missing";
}

bool report_race()
{
    static const char *const does[] = {"reads", "writes", "changes"}, *const did[] = {"read", "wrote", "changed"};
    const race_access &o = pending.earlier;
    if (!pending.found || cancelled) return false;
    bool elsewhere = strcmp(o.file, pending.at.file_name()) != 0;
    pending.found = false;
    now.self = pending.by;
    found_by(pending.at, missing_of(pending), "%s %s[%lld], which thread %u %s at %s%s%d", does[pending.kind],
             pending.name, static_cast<long long>(pending.k), o.thread, did[o.kind],
             elsewhere ? scope_file_name(o.file) : "", elsewhere ? ":" : "line ", o.line);
    return true;
}

void forget_race()
{
    pending.found = false;
}

} // namespace simt
