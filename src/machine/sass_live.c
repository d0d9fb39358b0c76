/* The registers whose values are needed at each instruction. */
#include "base/mem.h"
#include "sass_private.h"

#include <stdlib.h>
#include <string.h>

/* While a block is walked from its end: the needed registers, and for each the only predicate under which it is
   needed. A load under @P0 ends the need of what @P0 uses, although it does not always write its register. */
struct need {
    struct sass_set live;
    signed char under[SASS_REGISTERS]; /* 0: always; 1 + n: @Pn; -1 - n: @!Pn */
};

static int guard_of(const struct sass_instruction *i)
{
    const char *p = i->predicate + (*i->predicate == '@'), *name = p + (*p == '!');
    if (*name != 'P' || name[1] == 'T') return 0;
    int n = 1 + atoi(name + 1);
    return *p == '!' ? -n : n;
}

static void forget_predicates(struct need *n, unsigned set)
{
    for (int r = 0; set && r < SASS_REGISTERS; r++)
        if (n->under[r] && set >> (abs(n->under[r]) - 1) & 1) n->under[r] = 0;
}

static void step_back(struct need *n, const struct sass_instruction *i)
{
    int guard = guard_of(i);
    bool always = !*i->predicate;
    forget_predicates(n, sass_predicates_set(i));
    for (int r = 0; r < SASS_REGISTERS; r++) {
        uint64_t bit = 1ull << r % 64, *word = &n->live.bits[r / 64];
        if (sass_has(&i->set, r) && (always || (guard && n->under[r] == guard))) *word &= ~bit;
        if (!sass_has(&i->used, r)) continue;
        if (!(*word & bit))
            n->under[r] = (signed char)guard;
        else if (n->under[r] != guard)
            n->under[r] = 0;
        *word |= bit;
    }
}

static int size_of(const struct sass_set *s)
{
    int n = 0;
    for (int k = 0; k < SASS_WORDS; k++) n += __builtin_popcountll(s->bits[k]);
    return n;
}

/* Returns true if the needs at the block's beginning have changed. */
static bool walk_block(struct sass *s, const struct sass_flow *f, int b, struct sass_set *begin)
{
    struct need n = {0};
    for (int i = f->first[b]; i < f->first[b + 1]; i++)
        for (int k = 0; k < SASS_WORDS; k++) n.live.bits[k] |= begin[f->to[i]].bits[k];
    for (int i = s->block[b].last; i >= s->block[b].first; i--) {
        step_back(&n, &s->at[i]);
        s->at[i].live = size_of(&n.live);
    }
    bool changed = memcmp(&begin[b], &n.live, sizeof n.live) != 0;
    begin[b] = n.live;
    return changed;
}

bool sass_find_live(struct sass *s, const struct sass_targets *t, struct err *e)
{
    struct sass_flow f = {0};
    struct sass_set *begin = mem_zero(s->nblocks + 1, sizeof *begin, "the registers of machine code", e);
    bool ok = begin && sass_all_edges(s, t, &f, e);
    for (bool changed = ok; changed;) {
        changed = false;
        for (int b = s->nblocks - 1; b >= 0; b--) changed |= walk_block(s, &f, b, begin);
    }
    for (int i = 0; ok && i < s->n; i++)
        if (s->at[i].live > s->live_max) s->live_max = s->at[i].live;
    mem_free(begin);
    mem_free(f.first);
    return ok;
}
