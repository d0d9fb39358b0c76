/* Sets the results of the session aside for a sweep, and removes what its commands add. */
#include "aside.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "holding.h"
#include "matrix.h"
#include "product.h"
#include "stale.h"

#define SWAP(a, b)              \
    do {                        \
        __typeof__(a) kept = a; \
        a = b;                  \
        b = kept;               \
    } while (0)

void results_swap(struct session *s, struct results *r)
{
    SWAP(s->runs, r->runs);
    SWAP(s->nruns, r->nruns);
    SWAP(s->runs_y0, r->runs_y0);
    SWAP(s->runs_of, r->runs_of);
    SWAP(s->solve, r->solve);
    SWAP(s->direct, r->direct);
    SWAP(s->direct_is_newer, r->direct_is_newer);
    SWAP(s->eigen, r->eigen);
    SWAP(s->race, r->race);
    SWAP(s->lu, r->lu);
    SWAP(s->trace, r->trace);
    SWAP(s->timeline, r->timeline);
    SWAP(s->roofline, r->roofline);
    SWAP(s->sm, r->sm);
}

static void note_matrix(struct aside_matrix *k, struct matrix *m)
{
    *k = (struct aside_matrix){m, m->products, m->transposed, m->equilibrated, m->reordered, m->scaling};
    m->equilibrated = m->reordered = NULL;
    m->scaling = NULL;
}

bool aside_begin(struct session *s, struct aside *a, struct err *e)
{
    int n = 0;
    for (const struct matrix *m = s->matrices; m; m = m->next) n++;
    *a = (struct aside){.explained = s->explained, .current = s->current, .numbers = s->undo.numbers, .n = n};
    a->matrix = mem_new(n, sizeof *a->matrix, "the sweep", e);
    if (!a->matrix) return false;
    SCREEN_EDIT;
    int i = 0;
    for (struct matrix *m = s->matrices; m; m = m->next) note_matrix(&a->matrix[i++], m);
    results_swap(s, &a->results);
    s->aside = a;
    s->undo.held = true;
    stale_all();
    return true;
}

/* ---- what commands have added ---- */

static void clear_matrix(const struct aside_matrix *k)
{
    struct matrix *m = k->m;
    if (m->transposed && !k->transposed) matrix_free(m->transposed); /* its forms use arrays of the forms of m */
    m->transposed = k->transposed;
    equilibrated_free(m->equilibrated);
    equilibrated_free(m->reordered);
    m->equilibrated = m->reordered = NULL;
    for (struct product *p = m->products, *next; p != k->products; p = next) {
        next = p->next;
        m->products = next;
        product_free(p);
    }
    mem_free(m->scaling);
    m->scaling = NULL;
}

void aside_clear(struct session *s)
{
    struct aside *a = s->aside;
    SCREEN_EDIT;
    holdings_drop_results(s);
    session_forget_runs(s);
    mem_free(s->timeline);
    s->timeline = NULL;
    for (struct matrix *m = s->matrices, *next; m; m = next) {
        next = m->next;
        if (m->number > a->numbers) session_drop(s, m);
    }
    for (int i = 0; i < a->n; i++) clear_matrix(&a->matrix[i]);
    s->current = a->current;
    stale_all();
}

void aside_end(struct session *s)
{
    struct aside *a = s->aside;
    SCREEN_EDIT;
    aside_clear(s);
    for (int i = 0; i < a->n; i++) {
        const struct aside_matrix *k = &a->matrix[i];
        k->m->equilibrated = k->equilibrated;
        k->m->reordered = k->reordered;
        k->m->scaling = k->scaling;
    }
    results_swap(s, &a->results);
    s->explained = a->explained;
    s->aside = NULL;
    mem_free(a->matrix);
    char command[sizeof s->undo.now.command];
    snprintf(command, sizeof command, "%s", s->undo.now.command);
    undo_begin(s, command); /* nothing has changed since */
    s->undo.held = false;
    stale_all();
}
