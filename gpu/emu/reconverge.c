/* Merge the notes of the lanes of a warp into requests of the warp, with divergence and reconvergence as on a GPU.

   On the emulator, lanes run one after another between two warp collectives. On a GPU, the lanes of a warp execute
   together until they diverge, and reconverge later. In each step, the lanes at one access site therefore
   execute together. The step prefers a site that no other lane of the warp will reach later. If other lanes will later
   reach every site at which a lane is now, as in a loop, the step is at the site that comes first in the source. Lanes
   that are about to start an iteration wait for lanes that are still in the previous iteration. If the
   compiled code of a kernel is known, its loops give this order instead (rounds.h). */
#include "rounds.h"
#include "scope_run.h"

#include <string.h>

/* The sites of the lanes' next notes, and the lanes at each site. */
struct heads {
    const struct lane_log *lane;
    int warp;
    bool by_rounds; /* the order is that of rounds.h */
    int n, site[LANES];
    uint32_t group[LANES]; /* the lanes at site[k] */
    bool stop;             /* a lane that has not returned has no notes left: its next access is not known yet */
};

/* Does lane k, whose next note is at this site, belong to group i? */
static bool is_in_group(const struct scope_thread *s, const struct heads *h, int i, int k, int site)
{
    enum access_kind kind = s->run->scope.site[site].kind;
    if (!h->by_rounds || kind == ACCESS_COLLECTIVE || kind == ACCESS_BARRIER) return h->site[i] == site;
    return !rounds_compare(s, h->warp, h->lane, __builtin_ctz(h->group[i]), k);
}

static void find_heads(const struct scope_thread *s, struct heads *h)
{
    h->n = 0;
    h->stop = false;
    for (int k = 0; k < LANES; k++) {
        const struct lane_log *g = &h->lane[k];
        if (g->next == g->n) {
            h->stop |= g->more;
            continue;
        }
        int site = g->r[g->next].site, i = 0;
        h->stop |= h->by_rounds && rounds_uncertain(s, h->warp, k);
        while (i < h->n && !is_in_group(s, h, i, k, site)) i++;
        if (i == h->n) {
            h->site[h->n++] = site;
            h->group[i] = 0;
        }
        h->group[i] |= 1u << k;
    }
}

/* The lanes of a group that are at a warp collective and whose masks name only lanes of the group. */
static uint32_t complete(const struct lane_log *lane, uint32_t group)
{
    uint32_t ready = 0;
    for (uint32_t left = group; left; left &= left - 1) {
        int k = __builtin_ctz(left);
        uint32_t mask = (uint32_t)lane[k].r[lane[k].next].at;
        if (!(mask & ~group)) ready |= 1u << k;
    }
    return ready;
}

/* Compares positions in the source. If the files differ, the file whose site was recorded first comes first. */
static bool before(const struct access_site *a, const struct access_site *b)
{
    if (a->file != b->file) return a < b;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Is site a a reconverge()? */
static bool marks_end(const struct scope_thread *s, int a)
{
    return s->run->scope.site[a].kind == ACCESS_RECONVERGE;
}

/* Two groups of lanes: `first` at site a and `other` at site b, which comes after a in the source. Is a lane of `other`
   still in the iteration before the iteration that `first` is about to start? This is possible only if iterations of a
   loop around b start at a. */
static bool still_in_iteration(const struct scope_thread *s, int warp, int a, uint32_t first, int b, uint32_t other)
{
    const struct access_site *site = s->run->scope.site;
    int k = __builtin_ctz(first), end = s->iteration_end[a] - 1;
    if (end < 0 || before(&site[end], &site[b])) return false;
    bool marked = marks_end(s, end); /* count iterations at the reconverge(): lanes may skip every site before it */
    int at = marked ? end : a;
    int64_t mine = (int64_t)s->visits[warp][at][k] - s->remaining[at][k];
    for (; other; other &= other - 1) {
        int o = __builtin_ctz(other);
        if ((int64_t)s->visits[warp][at][o] - s->remaining[at][o] <= mine - marked) return true;
    }
    return false;
}

/* Does group i execute before group j? */
static bool goes_first(const struct scope_thread *s, int warp, const struct heads *h, int i, int j)
{
    const struct access_site *site = s->run->scope.site;
    if (h->by_rounds)
        return rounds_compare(s, warp, h->lane, __builtin_ctz(h->group[i]), __builtin_ctz(h->group[j])) < 0;
    bool ahead = before(&site[h->site[i]], &site[h->site[j]]);
    int early = ahead ? i : j, late = ahead ? j : i;
    if (still_in_iteration(s, warp, h->site[early], h->group[early], h->site[late], h->group[late])) return !ahead;
    bool free_i = !(s->pending[h->site[i]] & ~h->group[i]), free_j = !(s->pending[h->site[j]] & ~h->group[j]);
    return free_i != free_j ? free_i : ahead;
}

/* The index of the group that executes next; -1: no group is ready. */
static int choose(const struct scope_thread *s, int warp, const struct heads *h, const uint32_t *ready)
{
    int best = -1;
    for (int i = 0; i < h->n; i++)
        if (ready[i] && (best < 0 || goes_first(s, warp, h, i, best))) best = i;
    return best;
}

/* The lanes that execute together next, and their site; 0: not certain yet. */
static uint32_t next_group(const struct scope_thread *s, int warp, const struct lane_log *lane, bool by_rounds,
                           int *site)
{
    struct heads h = {.lane = lane, .warp = warp, .by_rounds = by_rounds};
    uint32_t ready[LANES];
    find_heads(s, &h);
    if (h.stop || h.n == 0) return 0;
    for (int i = 0; i < h.n; i++) {
        enum access_kind kind = s->run->scope.site[h.site[i]].kind;
        ready[i] = kind == ACCESS_COLLECTIVE           ? complete(lane, h.group[i])
                   : kind == ACCESS_BARRIER && h.n > 1 ? 0 /* a barrier waits for the other lanes */
                                                       : h.group[i];
    }
    int i = h.n == 1 && ready[0] ? 0 : choose(s, warp, &h, ready);
    if (i < 0) return 0;
    *site = h.site[i];
    return ready[i];
}

/* A lane goes from site a to site b, and has visited b before. If b is not after a in the source, a new iteration of a
   loop starts. (A first visit to an earlier line is a call: functions stand above their callers. A later visit may be a
   call from another place, too: a reconverge() is the end of a loop with certainty, and comes first.) */
static void note_transition(struct scope_thread *s, int a, int b)
{
    const struct access_site *site = s->run->scope.site;
    int end = s->iteration_end[b] - 1;
    s->transitions[a][b / 64] |= 1ull << b % 64;
    if (before(&site[a], &site[b])) return;
    bool wins = end < 0 || (marks_end(s, a) == marks_end(s, end) ? before(&site[end], &site[a]) : marks_end(s, a));
    if (wins) s->iteration_end[b] = a + 1;
}

/* For each lane, count how often its unmerged notes visit each site. */
static void look_ahead(struct scope_thread *s, int warp, const struct lane_log *lane)
{
    memset(s->remaining, 0, (size_t)s->run->scope.nsites * sizeof s->remaining[0]);
    memset(s->pending, 0, (size_t)s->run->scope.nsites * sizeof s->pending[0]);
    for (int k = 0; k < LANES; k++) {
        int last = -1;
        for (int i = lane[k].next; i < lane[k].n; i++) {
            int site = lane[k].r[i].site;
            s->remaining[site][k]++;
            s->visits[warp][site][k]++;
            s->pending[site] |= 1u << k;
            if (last >= 0 && s->visits[warp][site][k] > 1 && !(s->transitions[last][site / 64] >> site % 64 & 1))
                note_transition(s, last, site);
            last = site;
        }
    }
}

/* Undo the visits that have not been merged; the next call counts them again. */
static void uncount_unmerged(struct scope_thread *s, int warp)
{
    for (int p = 0; p < s->run->scope.nsites; p++)
        for (int k = 0; k < LANES; k++) s->visits[warp][p][k] -= s->remaining[p][k];
}

void scope_merge(struct scope_thread *s, int64_t block, int warp, struct lane_log *lane)
{
    struct request r;
    if (s->run->full) {
        for (int k = 0; k < LANES; k++) lane[k].next = lane[k].n;
        return;
    }
    look_ahead(s, warp, lane);
    bool by_rounds = rounds_begin(s, warp, lane);
    while ((r.mask = next_group(s, warp, lane, by_rounds, &r.site))) {
        for (int k = 0; k < LANES; k++) r.at[k] = 0;
        for (uint32_t left = r.mask; left; left &= left - 1) {
            int k = __builtin_ctz(left);
            r.at[k] = lane[k].r[lane[k].next++].at;
            if (!--s->remaining[r.site][k]) s->pending[r.site] &= ~(1u << k);
        }
        if (s->run->scope.site[r.site].kind != ACCESS_RECONVERGE) scope_request(s, block, warp, &r);
        for (uint32_t left = by_rounds ? r.mask : 0; left; left &= left - 1)
            rounds_next(s, warp, lane, __builtin_ctz(left));
    }
    uncount_unmerged(s, warp);
}
