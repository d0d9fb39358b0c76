/* What the lanes of a watched launch note, and the races that are found by it. */
#include "simt_runner.h"
#include "races.h"

namespace simt
{

/* Room for what lanes note, where the launch is watched. */
bool make_notes()
{
    if (m->notes) return true;
    m->notes = static_cast<scope_record *>(
        mem_new(static_cast<int64_t>(BLOCK_MOST) * SCOPE_LOG, sizeof *m->notes, "the notes of lanes", &m->err));
    for (int k = 0; m->notes && k < BLOCK_MOST; k++) m->log[k].r = m->notes + static_cast<int64_t>(k) * SCOPE_LOG;
    return m->notes != nullptr;
}

static void note(scope_touch t, int64_t at, source from)
{
    lane *l = now.self;
    if (!m->watch || !scope_wants_warp(given.scope, static_cast<int>(l->number / WARP))) return;
    scope_log &log = m->log[l->number];
    if (log.n == SCOPE_LOG) {
        l->wait = LOG_FULL;
        give_way();
    }
    t.file = from.file_name();
    t.unroll = l->unroll;
    t.line = static_cast<int>(from.line());
    t.column = static_cast<int>(from.column());
    log.r[log.n++] = {scope_place_of(m->watch, &t), at};
}

/* What lanes do to each other, not to memory. */
void note_meeting(enum touch what, const char *name, unsigned mask, source from)
{
    scope_touch t = {};
    t.touch = what;
    t.name = name;
    note(t, mask, from);
}

/* The race of the block that is told once all its threads wait or are done: one between warps rather than one within a
   warp, which a __syncwarp would seem to mend. */
struct race_told {
    bool any, across, update; /* update: the reader goes on to write what another read and wrote at that line */
    race_seen of;             /* the earlier touch */
    enum race_kind kind;
    uint64_t address;
    int64_t k;
    const char *name;
    lane *by;
    source at;
};
static race_told told;

static bool at_line_of(const race_seen &o, source at)
{
    return o.line == static_cast<int>(at.line()) && !strcmp(o.file, at.file_name());
}

/* Is there an earlier touch of the element by another thread of the block that nothing orders before this one? */
static void look_for_race(enum touch what, const void *base, int64_t k, unsigned size, const char *name, source at)
{
    uint64_t address = reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(k) * size;
    enum race_kind kind = what == TOUCH_STORE ? RACE_WRITE : what == TOUCH_ATOMIC ? RACE_ATOMIC : RACE_READ;
    race_seen o;
    if (told.any && told.by == now.self && told.address == address && told.kind == RACE_READ && kind == RACE_WRITE)
        told.update |= told.of.kind == RACE_WRITE && at_line_of(told.of, at) && told.at.line() == at.line();
    enum race_answer answer =
        races_touch(address, now.self->number, kind, at.file_name(), static_cast<int>(at.line()), &o);
    if (answer == RACE_NONE) return;
    if (answer == RACE_NO_MEMORY) found(at, "no memory to look for races");
    bool across = o.thread / WARP != now.self->number / WARP;
    if (told.any && (told.across || !across)) return;
    told = {true, across, false, o, kind, address, k, name, now.self, at};
}

/* What orders the two of a race, or would. */
static const char *missing_of(const race_told &t)
{
    if (t.update) return "no atomic: each reads it and then writes it, an atomicAdd or the like is missing";
    if (t.kind == RACE_WRITE && t.of.kind == RACE_WRITE && at_line_of(t.of, t.at))
        return "no barrier between: whose value stays is chance";
    return t.across ? "no barrier between: __syncthreads() is missing"
                    : "no barrier between: lockstep is relied on, __syncwarp() is missing";
}

/* True: there was a race, and the block ends. */
bool tell_race()
{
    static const char *const does[] = {"reads", "writes", "changes"}, *const did[] = {"read", "wrote", "changed"};
    const race_seen &o = told.of;
    if (!told.any || halt) return false;
    bool elsewhere = strcmp(o.file, told.at.file_name()) != 0;
    told.any = false;
    now.self = told.by;
    found_by(told.at, "%s %s[%lld], which thread %u %s at %s%s%d, with %s", does[told.kind], told.name,
             static_cast<long long>(told.k), o.thread, did[o.kind], elsewhere ? scope_file_name(o.file) : "",
             elsewhere ? ":" : "line ", o.line, missing_of(told));
    return true;
}

void await_others()
{
    if (!m->watch) return;
    now.self->wait = AT_ATOMIC;
    give_way();
}

void touch(enum touch what, const void *base, int64_t k, int64_t n, unsigned size, bool integral, const char *name,
           enum role role, source at)
{
    static const enum touch in_shared[] = {TOUCH_SHARED_LOAD, TOUCH_SHARED_STORE, TOUCH_SHARED_ATOMIC};
    if (given.races) look_for_race(what, base, k, size, name, at);
    const char *p = static_cast<const char *>(base);
    bool shared = p >= now.shared && p < now.shared + SHARED_MOST;
    scope_touch t = {};
    t.touch = shared ? in_shared[what] : what;
    t.shared = shared;
    t.integral = integral;
    t.size = static_cast<int>(size);
    t.base = shared ? static_cast<uint64_t>(p - now.shared) : reinterpret_cast<uint64_t>(base);
    t.n = n;
    t.name = name;
    t.role = role;
    note(t, k, at);
}

void rejoin(source at)
{
    note_meeting(TOUCH_REJOIN, nullptr, 0, at);
}

/* Put the notes of a warp together, as far as may be, and make room for more. */
static void merge_warp(unsigned w)
{
    scope_log *log = &m->log[w * WARP];
    for (unsigned k = 0; k < WARP; k++) {
        unsigned number = w * WARP + k;
        log[k].more = number < m->threads && m->f[number].l.wait == LOG_FULL;
    }
    scope_merge(m->watch, m->block, static_cast<int>(w), log);
    for (unsigned k = 0; k < WARP; k++) {
        scope_log &g = log[k];
        memmove(g.r, g.r + g.next, static_cast<size_t>(g.n - g.next) * sizeof *g.r);
        g.n -= g.next;
        g.next = 0;
        if (g.more && g.n < SCOPE_LOG) m->f[w * WARP + k].l.wait = RUNS;
    }
}

void forget_race()
{
    told.any = false;
}

/* Lanes whose notes are full go on once these were put together; false: there are none. */
bool make_room()
{
    bool any = false;
    for (unsigned k = 0; k < m->threads && m->watch && !m->broken; k++)
        if (m->f[k].l.wait == LOG_FULL) {
            merge_warp(k / WARP);
            tick();
            any = true;
        }
    return any;
}

/* All lanes that can run have: those that wait with an atomic do it, in their order. */
bool let_atomics()
{
    bool any = false;
    for (unsigned k = 0; k < m->threads && m->watch; k++)
        if (m->f[k].l.wait == AT_ATOMIC) {
            m->f[k].l.wait = RUNS;
            any = true;
        }
    return any;
}

void end_watch()
{
    unsigned warps = (m->threads + WARP - 1) / WARP;
    for (unsigned w = 0; w < warps && !m->broken; w++)
        if (scope_wants_warp(given.scope, static_cast<int>(w))) {
            merge_warp(w);
            tick();
        }
    if (!m->broken) scope_block_end(m->watch, m->block, static_cast<int>(warps));
}

} // namespace simt
