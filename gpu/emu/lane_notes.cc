/* The notes that the lanes of a watched block make of their accesses, and the decision on when to merge the notes into
   requests. */
#include "races.h"
#include "shared_places.h"
#include "simt_runner.h"

namespace simt
{

/* The notes of one lane begin a cache line further than a power of two after those of the lane before: otherwise, the
   first notes of all lanes would fall into the same cache set. */
enum { LOG_STRIDE = SCOPE_LOG + 4 };

bool make_notes()
{
    if (m->notes) return true;
    m->notes = static_cast<lane_note *>(
        mem_new(static_cast<int64_t>(BLOCK_MAX) * LOG_STRIDE, sizeof *m->notes, "the notes of lanes", &m->err));
    for (int k = 0; m->notes && k < BLOCK_MAX; k++) m->log[k].r = m->notes + static_cast<int64_t>(k) * LOG_STRIDE;
    return m->notes != nullptr;
}

/* at: the element, or the mask of a collective. A lane whose log is full waits until its notes are merged. */
static void note(lane_access &t, int64_t at, source from)
{
    lane *l = now.self;
    if (!m->watch || !scope_watches_warp(settings.scope, static_cast<int>(l->number / WARP))) return;
    lane_log &log = m->log[l->number];
    if (log.n == SCOPE_LOG) {
        l->wait = LOG_FULL;
        give_way();
    }
    t.file = from.file_name();
    t.unroll = l->unroll;
    t.line = static_cast<int>(from.line());
    t.column = static_cast<int>(from.column());
    log.r[log.n++] = {access_site_of(m->watch, &t), at};
}

/* Is the running lane one of a traced block, whose shared memory is followed? */
static bool follows()
{
    return m->watch && scope_traces(settings.scope);
}

void note_meeting(enum access_kind what, const char *name, unsigned mask, source from)
{
    lane_access t = {};
    t.kind = what;
    t.name = name;
    note(t, mask, from);
    if (follows()) places_meet(now.self->number, what == ACCESS_COLLECTIVE);
}

void wait_before_atomic()
{
    if (!m->watch) return;
    now.self->wait = AT_ATOMIC;
    give_way();
}

void note_access(enum access_kind what, const void *base, int64_t k, int64_t n, unsigned size, int elements,
                 bool integral, bool once, const char *name, enum role role, source at)
{
    static const enum access_kind in_shared[] = {ACCESS_SHARED_LOAD, ACCESS_SHARED_STORE, ACCESS_SHARED_ATOMIC};
    for (int i = 0; settings.races && i < elements; i++) check_race(what, base, k + i, size, name, at);
    const char *p = static_cast<const char *>(base);
    bool shared = p >= now.shared && p < now.shared + SHARED_MAX;
    lane_access t = {};
    t.kind = shared ? in_shared[what] : what;
    t.shared = shared;
    t.integral = integral;
    t.once = once;
    t.size = static_cast<int>(size);
    t.elements = elements;
    t.base = shared ? static_cast<uint64_t>(p - now.shared) : reinterpret_cast<uint64_t>(base);
    t.n = n;
    t.name = name;
    t.role = role;
    note(t, k, at);
    if (!follows()) return;
    place_access a = {};
    a.kind = t.kind;
    a.role = role;
    a.thread = now.self->number;
    a.traced = scope_watches_warp(settings.scope, static_cast<int>(a.thread / WARP));
    a.integral = integral;
    a.size = t.size;
    a.elements = elements;
    a.at = k;
    a.n = n;
    a.base = base;
    a.shared_at = shared ? t.base + static_cast<uint64_t>(k) * size : 0;
    places_access(&a);
}

void reconverge(source at)
{
    note_meeting(ACCESS_RECONVERGE, nullptr, 0, at);
}

/* Merge the notes of a warp as far as their order is certain, and make room for more notes. */
static void merge_warp(unsigned w)
{
    lane_log *log = &m->log[w * WARP];
    for (unsigned k = 0; k < WARP; k++) {
        unsigned number = w * WARP + k;
        log[k].more = number < m->threads && m->f[number].l.wait == LOG_FULL;
    }
    scope_merge(m->watch, m->block, static_cast<int>(w), log);
    for (unsigned k = 0; k < WARP; k++) {
        lane_log &g = log[k];
        memmove(g.r, g.r + g.next, static_cast<size_t>(g.n - g.next) * sizeof *g.r);
        g.n -= g.next;
        g.next = 0;
        if (g.more && g.n < SCOPE_LOG) m->f[w * WARP + k].l.wait = RUNS;
    }
}

static bool is_full(unsigned w)
{
    for (unsigned k = w * WARP; k < m->threads && k < (w + 1) * WARP; k++)
        if (m->f[k].l.wait == LOG_FULL) return true;
    return false;
}

/* Each warp is merged once: then, a lane that has room again must run before it is known what it does next. */
bool make_room()
{
    bool any = false;
    for (unsigned w = 0; w * WARP < m->threads && m->watch && !m->broken; w++)
        if (is_full(w)) {
            merge_warp(w);
            check_cancel();
            any = true;
        }
    return any;
}

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

void end_of_notes()
{
    unsigned warps = (m->threads + WARP - 1) / WARP;
    for (unsigned w = 0; w < warps && !m->broken; w++)
        if (scope_watches_warp(settings.scope, static_cast<int>(w))) {
            merge_warp(w);
            check_cancel();
        }
    if (!m->broken) scope_block_end(m->watch, m->block, static_cast<int>(warps));
}

} // namespace simt
