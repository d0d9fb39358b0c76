/* The difference of two predicted times, term by term. */
#include "versus.h"
#include "modeled.h"

#include <math.h>
#include <stdlib.h>

static const char *const units[DIFFERENCES] = {
    [BOUND_LATENCY] = "dependent loads per block",
    [BOUND_LONGEST] = "steps of the longest block / mean",
    [BOUND_DRAM] = "bytes from memory",
    [BOUND_L2] = "sectors from and to L2",
    [BOUND_L1] = "lines looked up in L1",
    [BOUND_ISSUE] = "warp requests",
    [BOUND_FLOPS] = "operations",
    [BOUND_ATOMICS] = "atomics",
    [BOUND_HOT] = "atomics in one sector",
    [BOUND_LAUNCH] = "launches",
};

const char *difference_unit(enum bound term)
{
    return units[term];
}

/* ---- what the terms count ---- */

static double loads_waited_for(const struct work *w)
{
    return w->wait[WAIT_L1] + w->wait[WAIT_L2] + w->wait[WAIT_FIRST];
}

static double count_of_launch(const struct work *w, enum bound term)
{
    double mean = w->wait[WAIT_STEP] / (double)w->blocks;
    switch (term) {
    case BOUND_LATENCY:
        return loads_waited_for(w) / (double)w->blocks;
    case BOUND_LONGEST:
        return mean > 0 ? w->longest[WAIT_STEP] / mean : 0;
    case BOUND_L2:
        return w->l2_loads + w->l2_stores;
    case BOUND_L1:
        return w->lines;
    case BOUND_ISSUE:
        return w->steps;
    case BOUND_ATOMICS:
        return w->atomics;
    case BOUND_HOT:
        return w->hot;
    case BOUND_LAUNCH:
        return 1;
    default:
        return 0;
    }
}

/* Sums over the launches; of ratios, the largest. */
static double count_of(const struct modeled *k, enum bound term)
{
    double sum = 0, most = 0;
    if (term == BOUND_DRAM) return k->time.dram_bytes;
    if (term == BOUND_FLOPS) return k->work.flops;
    for (int l = 0; l < k->work.n; l++) {
        double n = k->work.launch[l].blocks ? count_of_launch(&k->work.launch[l], term) : 0;
        sum += n;
        most = fmax(most, n);
    }
    return term == BOUND_LATENCY || term == BOUND_LONGEST ? most : sum;
}

/* ---- Shapley values ---- */

/* The time with the terms of b where the bit of the term is set, and those of a elsewhere. */
static double mixed_us(const struct terms *a, const struct terms *b, unsigned from_b)
{
    struct terms t = {.n = a->n > b->n ? a->n : b->n};
    t.launch_us = (from_b >> BOUND_LAUNCH & 1 ? b : a)->launch_us;
    for (int l = 0; l < t.n; l++)
        for (int k = 0; k < BOUNDS; k++) t.us[l][k] = (from_b >> k & 1 ? b : a)->us[l][k];
    return terms_us(&t);
}

/* The share of all orders of DIFFERENCES terms in which a given set of `before` terms precedes a given term. */
static double weight(int before)
{
    return exp(lgamma(before + 1) + lgamma(DIFFERENCES - before) - lgamma(DIFFERENCES + 1));
}

static void split(const struct terms *a, const struct terms *b, double part[DIFFERENCES])
{
    static const unsigned all = 1u << DIFFERENCES;
    double us[1u << DIFFERENCES];
    for (unsigned set = 0; set < all; set++) us[set] = mixed_us(a, b, set);
    for (int k = 0; k < DIFFERENCES; k++) {
        part[k] = 0;
        for (unsigned set = 0; set < all; set++)
            if (!(set >> k & 1)) part[k] += weight(__builtin_popcount(set)) * (us[set | 1u << k] - us[set]);
    }
}

static double alone_of(const struct modeled *k, enum bound term)
{
    return term == BOUND_LAUNCH ? k->time.launch_us : k->time.bound_us[term];
}

static int larger(const void *a, const void *b)
{
    double x = fabs(((const struct difference *)a)->us), y = fabs(((const struct difference *)b)->us);
    return (x < y) - (x > y);
}

int differences_of(const struct modeled *a, const struct modeled *b, struct difference out[DIFFERENCES])
{
    struct terms of_a, of_b;
    double part[DIFFERENCES];
    int n = 0;
    model_terms(&a->work, &a->on, &of_a);
    model_terms(&b->work, &b->on, &of_b);
    split(&of_a, &of_b, part);
    for (int k = 0; k < DIFFERENCES; k++) {
        enum bound term = (enum bound)k;
        struct difference d = {
            term, part[k], {alone_of(a, term), alone_of(b, term)}, {count_of(a, term), count_of(b, term)}};
        if (d.alone[0] > 0 || d.alone[1] > 0) out[n++] = d;
    }
    qsort(out, (size_t)n, sizeof *out, larger);
    return n;
}
