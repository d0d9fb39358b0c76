/* Lanes to warps: what lanes noted one after another, put together to the requests of their warp.

   Between two exchanges lanes run one after another on the emulator. On a GPU those of a warp go together as long as
   they do the same, and those that went apart meet again where their ways do. So each step of a warp is made of the
   lanes that are at one place which no other lane of the warp still comes to. Where that is true of no place, as in a
   loop, it is those at the first of them in the source; but those at the beginning of a round wait for lanes that are
   still in the round before. */
#include "scope_run.h"

#include <string.h>

/* Lanes by the places they are at. */
struct heads {
    int n, site[LANES];
    uint32_t group[LANES]; /* the lanes at place[k] */
    bool stop;             /* a lane that is not done has no notes left: what it does next is not known */
};

static void find_heads(const struct lane_log *lane, struct heads *h)
{
    h->n = 0;
    h->stop = false;
    for (int k = 0; k < LANES; k++) {
        const struct lane_log *g = &lane[k];
        if (g->next == g->n) {
            h->stop |= g->more;
            continue;
        }
        int place = g->r[g->next].site, i = 0;
        while (i < h->n && h->site[i] != place) i++;
        if (i == h->n) {
            h->site[h->n++] = place;
            h->group[i] = 0;
        }
        h->group[i] |= 1u << k;
    }
}

/* Of the lanes at an exchange, those whose partners are all there. */
static uint32_t met(const struct lane_log *lane, uint32_t group)
{
    uint32_t ready = 0;
    for (uint32_t left = group; left; left &= left - 1) {
        int k = __builtin_ctz(left);
        uint32_t mask = (uint32_t)lane[k].r[lane[k].next].at;
        if (!(mask & ~group)) ready |= 1u << k;
    }
    return ready;
}

/* Order in the source; of two files the one of which a place was met first. */
static bool before(const struct access_site *a, const struct access_site *b)
{
    if (a->file != b->file) return a < b;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Of two groups, one at place a, the other at b behind it in the source: is a lane of the other still in the round
   before that which the first is about to begin? It is if a is where the rounds of a loop begin that b is in. */
static bool still_in_round(const struct scope_thread *s, int warp, int a, uint32_t first, int b, uint32_t other)
{
    const struct access_site *place = s->run->scope.site;
    int k = __builtin_ctz(first), end = s->round_end[a] - 1;
    if (end < 0 || before(&place[end], &place[b])) return false;
    bool told = place[end].kind == ACCESS_RECONVERGE; /* rounds are counted there, as lanes may skip all before it */
    int at = told ? end : a;
    int64_t mine = (int64_t)s->visits[warp][at][k] - s->left[at][k];
    for (; other; other &= other - 1) {
        int o = __builtin_ctz(other);
        if ((int64_t)s->visits[warp][at][o] - s->left[at][o] <= mine - told) return true;
    }
    return false;
}

/* Does group i go before group j? */
static bool goes_first(const struct scope_thread *s, int warp, const struct heads *h, int i, int j)
{
    const struct access_site *place = s->run->scope.site;
    bool ahead = before(&place[h->site[i]], &place[h->site[j]]);
    int early = ahead ? i : j, late = ahead ? j : i;
    if (still_in_round(s, warp, h->site[early], h->group[early], h->site[late], h->group[late])) return !ahead;
    bool free_i = !(s->will[h->site[i]] & ~h->group[i]), free_j = !(s->will[h->site[j]] & ~h->group[j]);
    return free_i != free_j ? free_i : ahead;
}

/* Which of the places goes on. */
static int choose(const struct scope_thread *s, int warp, const struct heads *h, const uint32_t *ready)
{
    int best = -1;
    for (int i = 0; i < h->n; i++)
        if (ready[i] && (best < 0 || goes_first(s, warp, h, i, best))) best = i;
    return best;
}

/* The lanes that go together next, and their place; 0: none is certain. */
static uint32_t next_group(const struct scope_thread *s, int warp, const struct lane_log *lane, int *place)
{
    struct heads h;
    uint32_t ready[LANES];
    find_heads(lane, &h);
    if (h.stop || h.n == 0) return 0;
    for (int i = 0; i < h.n; i++) {
        enum access_kind touch = s->run->scope.site[h.site[i]].kind;
        ready[i] = touch == ACCESS_COLLECTIVE           ? met(lane, h.group[i])
                   : touch == ACCESS_BARRIER && h.n > 1 ? 0 /* the block waits there for all */
                                                        : h.group[i];
    }
    int i = h.n == 1 && ready[0] ? 0 : choose(s, warp, &h, ready);
    if (i < 0) return 0;
    *place = h.site[i];
    return ready[i];
}

/* A lane goes from place a to b, where it was before; if b is not behind a in the source, that is a new round of some
   loop. (One that was never there is called: functions stand above those that call them.) */
static void note_way(struct scope_thread *s, int a, int b)
{
    const struct access_site *place = s->run->scope.site;
    s->went[a][b / 64] |= 1ull << b % 64;
    if (before(&place[a], &place[b])) return;
    if (!s->round_end[b] || before(&place[s->round_end[b] - 1], &place[a])) s->round_end[b] = a + 1;
}

static void foresee(struct scope_thread *s, int warp, const struct lane_log *lane)
{
    memset(s->left, 0, (size_t)s->run->scope.nsites * sizeof s->left[0]);
    memset(s->will, 0, (size_t)s->run->scope.nsites * sizeof s->will[0]);
    for (int k = 0; k < LANES; k++) {
        int last = -1;
        for (int i = lane[k].next; i < lane[k].n; i++) {
            int place = lane[k].r[i].site;
            s->left[place][k]++;
            s->visits[warp][place][k]++;
            s->will[place] |= 1u << k;
            if (last >= 0 && s->visits[warp][place][k] > 1 && !(s->went[last][place / 64] >> place % 64 & 1))
                note_way(s, last, place);
            last = place;
        }
    }
}

/* What is left was not visited yet. */
static void look_back(struct scope_thread *s, int warp)
{
    for (int p = 0; p < s->run->scope.nsites; p++)
        for (int k = 0; k < LANES; k++) s->visits[warp][p][k] -= s->left[p][k];
}

void scope_merge(struct scope_thread *s, int64_t block, int warp, struct lane_log *lane)
{
    struct request r;
    if (s->run->full) {
        for (int k = 0; k < LANES; k++) lane[k].next = lane[k].n;
        return;
    }
    foresee(s, warp, lane);
    while ((r.mask = next_group(s, warp, lane, &r.site))) {
        for (int k = 0; k < LANES; k++) r.at[k] = 0;
        for (uint32_t left = r.mask; left; left &= left - 1) {
            int k = __builtin_ctz(left);
            r.at[k] = lane[k].r[lane[k].next++].at;
            if (!--s->left[r.site][k]) s->will[r.site] &= ~(1u << k);
        }
        if (s->run->scope.site[r.site].kind != ACCESS_RECONVERGE) scope_request(s, block, warp, &r);
    }
    look_back(s, warp);
}
