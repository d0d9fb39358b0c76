/* Undo: restores what recent commands changed. Dropped matrices are kept until their memory is needed. */
#include "undo.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/device.h"
#include "matrix.h"
#include "session.h"

#include <string.h>

static int64_t bytes_of(const struct matrix *m)
{
    return csr_memory(&m->csr) + sides_memory(&m->sides);
}

/* ---- levels ---- */

static int64_t forget(struct change *c)
{
    int64_t freed = 0;
    while (c->dropped) {
        struct matrix *m = c->dropped;
        c->dropped = m->next;
        freed += bytes_of(m);
        matrix_free(m);
    }
    return freed;
}

/* Called when memory is needed. Frees the oldest levels of undo, up to and including the newest level that keeps a
   matrix. These levels can no longer be undone. */
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
    undo_end(s);
    u->now = (struct change){.first = u->numbers + 1, .current = s->current, .dev = s->dev};
    snprintf(u->now.command, sizeof u->now.command, "%s", command);
    u->open = true;
}

/* If a dropped matrix was freed because its memory was needed, neither this level nor earlier levels can be undone. */
void undo_end(struct session *s)
{
    struct undo *u = &s->undo;
    if (u->open && u->now.gone) {
        while (u->n) u->bytes -= forget(&u->level[--u->n]);
        u->bytes -= forget(&u->now);
        update_spare(u);
    } else if (u->open && changed(s)) {
        u->given = false;
        push(u);
    }
    u->open = false;
    u->now = (struct change){0};
}

bool undo_keep(struct session *s, struct matrix *m, int index)
{
    struct undo *u = &s->undo;
    if (!u->open || m->number >= u->now.first || u->now.gone) return false;
    products_free(m);
    m->index = index;
    m->next = u->now.dropped;
    u->now.dropped = m;
    u->bytes += bytes_of(m);
    update_spare(u);
    return true;
}

void undo_forget(struct session *s)
{
    struct undo *u = &s->undo;
    while (u->n) forget(&u->level[--u->n]);
    forget(&u->now);
    u->bytes = 0;
    mem_spare(0, NULL, NULL);
}

/* ---- undo ---- */

static void out_change(struct session *s, const char *what, const char *name, const char *text, int64_t bytes)
{
    out_row(s->out);
    out_str(s->out, "change", NULL, what);
    out_str(s->out, "name", NULL, name);
    if (bytes)
        out_bytes(s->out, "bytes", NULL, bytes);
    else
        out_str(s->out, "bytes", NULL, NULL);
    out_text(s->out, "%s %s", name, text);
}

static void remove_made(struct session *s, const struct change *c)
{
    for (struct matrix *m = s->matrices, *next; m; m = next) {
        char name[sizeof m->name];
        next = m->next;
        if (m->number < c->first) continue;
        snprintf(name, sizeof name, "%s", m->name);
        session_drop(s, m);
        out_change(s, "removed", name, "was removed", 0);
    }
}

static void bring_back(struct session *s, struct change *c)
{
    while (c->dropped) {
        struct matrix *m = c->dropped, **at = &s->matrices;
        char size[32], text[64];
        c->dropped = m->next;
        for (int i = 0; i < m->index && *at; i++) at = &(*at)->next;
        m->next = *at;
        *at = m;
        s->undo.bytes -= bytes_of(m);
        snprintf(text, sizeof text, "is back, %s", show_bytes((double)bytes_of(m), size, sizeof size));
        out_change(s, "returned", m->name, text, bytes_of(m));
    }
}

static bool nothing(const struct undo *u, struct err *e)
{
    return fail(e, E_USAGE,
                u->given ? "nothing can be undone any more: the memory of dropped matrices was needed"
                         : "there is nothing to undo");
}

bool undo_last(struct session *s, struct err *e)
{
    struct undo *u = &s->undo;
    u->open = false; /* undo itself is not a change */
    if (!u->n) return nothing(u, e);
    struct change c = u->level[--u->n];
    struct matrix *before = s->current;
    out_text(s->out, "undone: %s", c.command);
    out_row(s->out);
    out_str(s->out, "change", NULL, "undone");
    out_str(s->out, "name", NULL, c.command);
    out_str(s->out, "bytes", NULL, NULL);
    remove_made(s, &c);
    bring_back(s, &c);
    update_spare(u);
    s->current = c.current;
    if (s->current && s->current != before) out_change(s, "current", s->current->name, "is the current matrix", 0);
    if (c.chose && s->dev != c.dev) {
        s->dev = c.dev;
        const struct device *d = s->dev ? s->dev : device_default();
        out_change(s, "device", d ? d->name : "no device", "is the device in use", 0);
    }
    return true;
}
