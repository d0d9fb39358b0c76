/* Estimates for all blocks from the counts of the watched blocks. */
#include "machine/microscope.h"

#include <math.h>
#include <stddef.h>

void tally_add(struct tally *to, const struct tally *t, double scale)
{
    int64_t *a = (int64_t *)to;
    const int64_t *b = (const int64_t *)t;
    for (size_t k = 0; k < sizeof *t / sizeof *b; k++) a[k] += (int64_t)((double)b[k] * scale + 0.5);
}

static double scale_of(const struct scope_launch *l)
{
    return l->seen ? (double)l->blocks / (double)l->seen : 0;
}

struct tally counts_of(const struct counts *c, enum access_kind touch, int array, int launch)
{
    struct tally sum = {0};
    for (int k = 0; k < c->scope.nsites; k++) {
        const struct access_site *p = &c->scope.site[k];
        if (p->kind == touch && (array < 0 || p->array == array) && (launch < 0 || p->launch == launch))
            tally_add(&sum, &c->by_site[k], scale_of(&c->scope.launch[p->launch]));
    }
    return sum;
}

double counts_accesses(const struct counts *c)
{
    double all = 0;
    for (int l = 0; l < c->scope.nlaunches; l++) all += (double)c->launch[l].active * scale_of(&c->scope.launch[l]);
    return all;
}

double counts_error(const struct counts *c)
{
    double total = 0, variance = 0;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        double N = (double)c->scope.launch[l].blocks, n = (double)c->scope.launch[l].seen;
        const struct launch_counts *s = &c->launch[l];
        if (n < 1) continue;
        total += s->sectors_sum / n * N;
        if (n == N) continue;
        if (n < 2) return NAN;
        double mean = s->sectors_sum / n, around = (s->sectors_sum2 - n * mean * mean) / (n - 1);
        variance += N * N * (1 - n / N) * (around > 0 ? around : 0) / n;
    }
    return total > 0 ? 1.96 * sqrt(variance) / total : 0;
}
