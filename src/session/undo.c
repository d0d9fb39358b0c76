/* Undo: keeps what recent commands changed. Dropped matrices are kept until their memory is needed. */
#include "undo.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "matrix.h"
#include "session.h"

#include <string.h>

/* ---- levels ---- */

static int64_t forget(struct change *c)
{
    int64_t freed = 0;
    while (c->dropped) {
        struct matrix *m = c->dropped;
        c->dropped = m->next;
        freed += matrix_bytes(m);
        matrix_free(m);
    }
    return freed;
}

/* Called when memory is needed, by any thread; with the screen lock by the screen thread, while the other thread
   changes nothing here, because it does so under the lock. Frees the oldest levels of undo, up to and including the
   newest level that keeps a matrix. These levels can no longer be undone. */
static void give_back(void *user)
{
    struct undo *u = user;
    int last = 0;
    for (int i = 0; i < u->n; i++)
        if (u->level[i].dropped) last = i + 1;
    for (int i = 0; i < last; i++) forget(&u->level[i]);
    memmove(u->level, u->level + last, (size_t)(u->n - last) * sizeof *u->level);
    u->n -= last;
    u->given |= last > 0;
    if (u->now.dropped) {
        forget(&u->now);
        u->now.gone = u->given = true;
    }
    u->bytes = 0;
}

static void update_spare(struct undo *u)
{
    mem_spare(u->bytes, give_back, u);
}

static void push(struct undo *u)
{
    if (u->n == UNDO_MAX) {
        u->bytes -= forget(&u->level[0]);
        memmove(u->level, u->level + 1, (UNDO_MAX - 1) * sizeof *u->level);
        u->n--;
    }
    u->level[u->n++] = u->now;
    update_spare(u);
}

static bool changed(const struct session *s)
{
    const struct change *c = &s->undo.now;
    bool made = false;
    for (const struct matrix *m = s->matrices; m; m = m->next) made |= m->number >= c->first;
    return made || c->dropped || s->current != c->current || (c->chose && s->dev != c->dev);
}

void undo_begin(struct session *s, const char *command)
{
    struct undo *u = &s->undo;
    SCREEN_EDIT;
    undo_end(s);
    u->now = (struct change){.first = u->numbers + 1, .current = s->current, .dev = s->dev};
    snprintf(u->now.command, sizeof u->now.command, "%s", command);
    u->open = true;
}

/* If a dropped matrix was freed because its memory was needed, neither this level nor earlier levels can be undone. */
void undo_end(struct session *s)
{
    struct undo *u = &s->undo;
    SCREEN_EDIT;
    bool kept = u->open && !u->held;
    if (kept && u->now.gone) {
        while (u->n) u->bytes -= forget(&u->level[--u->n]);
        u->bytes -= forget(&u->now);
        update_spare(u);
    } else if (kept && changed(s)) {
        u->given = false;
        push(u);
    }
    u->open = false;
    u->now = (struct change){0};
}

bool undo_keep(struct session *s, struct matrix *m, int index)
{
    struct undo *u = &s->undo;
    SCREEN_EDIT;
    if (!u->open || u->held || m->number >= u->now.first || u->now.gone) return false;
    m->index = index;
    m->next = u->now.dropped;
    u->now.dropped = m;
    u->bytes += matrix_bytes(m);
    update_spare(u);
    return true;
}

void undo_forget(struct session *s)
{
    struct undo *u = &s->undo;
    SCREEN_EDIT;
    while (u->n) forget(&u->level[--u->n]);
    forget(&u->now);
    u->bytes = 0;
    mem_spare(0, NULL, NULL);
}

/* ---- undo ---- */

bool undo_take(struct session *s, struct change *out, struct err *e)
{
    struct undo *u = &s->undo;
    u->open = false; /* undo itself is not a change */
    if (!u->n)
        return fail(e, E_USAGE,
                    u->given ? "nothing can be undone any more: the memory of dropped matrices was needed"
                             : "there is nothing to undo");
    *out = u->level[--u->n];
    return true;
}

struct matrix *undo_bring_back(struct session *s, struct change *c)
{
    struct matrix *m = c->dropped, **at = &s->matrices;
    if (m) {
        c->dropped = m->next;
        for (int i = 0; i < m->index && *at; i++) at = &(*at)->next;
        m->next = *at;
        *at = m;
        s->undo.bytes -= matrix_bytes(m);
    }
    update_spare(&s->undo);
    return m;
}
