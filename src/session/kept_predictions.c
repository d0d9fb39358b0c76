/* The predictions that a matrix keeps, by GPU and precision. */
#include "kept_predictions.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "microscope/modeled.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 4 }; /* GPUs and precisions for which a matrix keeps predictions */

void predictions_free(struct predictions *p)
{
    mem_free(p->k);
    mem_free(p->slow);
    mem_free(p->no);
    *p = (struct predictions){0};
}

bool predictions_new(struct predictions *p, struct err *e)
{
    int n = registry_count(&kernel_registry);
    *p = (struct predictions){.k = mem_new(n, sizeof *p->k, "the predictions", e)};
    p->slow = p->k ? mem_new(n, sizeof *p->slow, "the predictions", e) : NULL;
    p->no = p->slow ? mem_new(n, sizeof *p->no, "the predictions", e) : NULL;
    if (!p->no) predictions_free(p);
    return p->no != NULL;
}

void kept_predictions_free(struct kept_predictions *p)
{
    for (struct kept_predictions *next; p; p = next) {
        next = p->next;
        predictions_free(&p->p);
        mem_free(p->orders);
        mem_free(p);
    }
}

static bool is_for(const struct kept_predictions *p, enum precision real, const struct machine *g)
{
    return p->real == real && p->on.sms == g->sms && !strcmp(p->on.name, g->name) &&
           !memcmp(&p->on.c, &g->c, sizeof g->c) && !memcmp(&p->on.is, &g->is, sizeof g->is);
}

/* Those for this GPU and precision, which become the first of the list; NULL: none. */
static struct kept_predictions *find(struct matrix *m, enum precision real, const struct machine *g)
{
    for (struct kept_predictions **at = &m->predictions; *at; at = &(*at)->next) {
        struct kept_predictions *p = *at;
        if (!is_for(p, real, g)) continue;
        *at = p->next;
        p->next = m->predictions;
        return m->predictions = p;
    }
    return NULL;
}

static void forget_oldest(struct matrix *m)
{
    int n = 1;
    for (struct kept_predictions *p = m->predictions; p; p = p->next)
        if (n++ == KEPT_MAX) {
            kept_predictions_free(p->next);
            p->next = NULL;
        }
}

struct kept_predictions *kept_predictions_for(struct matrix *m, enum precision real, const struct machine *g,
                                              struct err *e)
{
    struct kept_predictions *p = find(m, real, g);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "the predictions", e);
    if (!p || !predictions_new(&p->p, e)) return mem_free(p), NULL;
    p->on = *g;
    p->real = real;
    p->p.real = precision_of_values(real, m->csr.imag != NULL);
    p->next = m->predictions;
    m->predictions = p;
    forget_oldest(m);
    return p;
}

struct modeled *predictions_find(const struct predictions *p, const struct kernel *k)
{
    for (int i = 0; i < p->n; i++)
        if (p->k[i].kernel == k) return &p->k[i];
    return NULL;
}

bool predictions_refused(const struct predictions *p, const struct kernel *k)
{
    for (int i = 0; i < p->nno; i++)
        if (p->no[i].kernel == k) return true;
    return false;
}

/* Users' kernels may change, and are not kept. */
bool prediction_can_be_kept(const struct kernel *k)
{
    return !k->remote;
}

const struct modeled *prediction_kept(const struct matrix *m, const struct kernel *k, enum precision real,
                                      const struct machine *g)
{
    const struct kept_predictions *p = m->predictions;
    while (p && !is_for(p, real, g)) p = p->next;
    return p && prediction_can_be_kept(k) ? predictions_find(&p->p, k) : NULL;
}

void predictions_put(struct predictions *p, const struct modeled *k)
{
    struct modeled *before = predictions_find(p, k->kernel);
    int slow = 0;
    *(before ? before : &p->k[p->n++]) = *k;
    for (int i = 0; i < p->nslow; i++)
        if (p->slow[i].kernel != k->kernel) p->slow[slow++] = p->slow[i];
    p->nslow = slow;
    qsort(p->k, (size_t)p->n, sizeof *p->k, modeled_by_time);
}

void predictions_put_slow(struct predictions *p, const struct kernel *k, double least_us)
{
    int i = 0;
    while (i < p->nslow && p->slow[i].kernel != k) i++;
    p->slow[i] = (struct slow_kernel){k, least_us};
    if (i == p->nslow) p->nslow++;
}

void prediction_keep(struct matrix *m, const struct modeled *k, enum precision real, const struct machine *g)
{
    struct kept_predictions *p = prediction_can_be_kept(k->kernel) ? kept_predictions_for(m, real, g, NULL) : NULL;
    if (p) predictions_put(&p->p, k);
}
