/* Ctrl-C within an iteration: the changes that the iteration has made are undone, so that the solve can continue as if
   it had not been interrupted. */
#include "base/loop.h"
#include "base/mem.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "machine/vec_ops.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <string.h>

/* Can Ctrl-C end an iteration? On a GPU, Ctrl-C cannot end an iteration, because the queued launches run to their
   end. */
static bool checked(const struct solve *v)
{
    return !v->dev->ops->idle && loop_watch();
}

static void add_part(struct solve_cut *c, void *p, int64_t bytes)
{
    c->part[c->n].p = p;
    c->part[c->n++].bytes = bytes;
}

static void list_parts(struct solve *v, int n, const int *list)
{
    v->cut.n = 0;
    add_part(&v->cut, v->scalars, VEC_WORK * (int64_t)sizeof *v->scalars);
    for (int i = 0; i < n; i++) {
        int64_t bytes = v->vec_bytes[list[i]];
        add_part(&v->cut, v->vec[list[i]], v->solver->used_bytes ? v->solver->used_bytes(v, list[i], 0) : bytes);
    }
}

static bool make_room(struct solve_cut *c)
{
    int64_t bytes = 0;
    for (int i = 0; i < c->n; i++) bytes += c->part[i].bytes;
    if (bytes <= c->room) return true;
    mem_free(c->data);
    c->data = mem_new(bytes, 1, "a copy of vectors", NULL);
    c->room = c->data ? bytes : 0;
    return c->data != NULL;
}

static bool copy_parts(struct solve *v, bool save, struct err *e)
{
    char *at = v->cut.data;
    const struct device_ops *ops = v->dev->ops;
    bool ok = true;
    for (int i = 0; ok && i < v->cut.n; i++) {
        int64_t bytes = v->cut.part[i].bytes;
        ok = save ? ops->get(v->dev, at, v->cut.part[i].p, bytes, e) : ops->put(v->dev, v->cut.part[i].p, at, bytes, e);
        at += bytes;
    }
    return ok;
}

bool cut_hold(struct solve *v, int n, const int *list, bool copy, struct err *e)
{
    if (!checked(v)) return true;
    const struct err *why = &v->time.error;
    if (!loop_unbroken(v->solver->name, e)) return false;
    if (why->code) return fail_at(e, why->code, why->where, "%s", why->text);
    list_parts(v, n, list);
    v->cut.known = v->live.record[LIVE_KNOWN];
    bool wanted = v->dev->kind == DEV_EMU || (copy && loop_worth(v->matrix.csr->nnz));
    v->cut.copied = wanted && make_room(&v->cut);
    if (v->cut.copied && !copy_parts(v, true, e)) return false;
    if (!v->cut.copied) v->cut.watch = loop_enter(NULL);
    return v->cut.holding = true;
}

bool cut_release(struct solve *v, int stage, struct err *e)
{
    if (v->cut.holding && v->cut.copied && !loop_unbroken(v->solver->name, e)) return false;
    if (v->cut.holding && !v->cut.copied) loop_enter(v->cut.watch);
    v->cut.holding = false;
    v->cut.stage = stage;
    return true;
}

/* If Ctrl-C ended launches on the emulator, the next sync reports that as an error: clear this error. */
static bool clear_device(struct solve *v, struct err *e)
{
    struct err why = {0};
    if (v->dev->ops->sync(v->dev, &why) || why.code == E_CANCELLED) return true;
    return fail_at(e, why.code, why.where, "%s", why.text);
}

bool cut_undo(struct solve *v, struct err *e)
{
    struct watch *own = loop_enter(NULL), *w = v->cut.holding && !v->cut.copied ? v->cut.watch : own;
    bool ok = clear_device(v, e);
    if (v->time.error.code == E_CANCELLED) err_clear(&v->time.error);
    v->time.in_phase = NULL;
    if (ok && v->cut.holding && v->cut.copied) {
        ok = copy_parts(v, false, e);
        v->live.record[LIVE_KNOWN] = v->cut.known;
        v->live.record[LIVE_DONE] = RUNNING;
    }
    ok = ok && solve_set(v, S_TICKET, 0, e);
    if (ok && v->pre.made && v->pre.method->restore) ok = v->pre.method->restore(v, e);
    v->cut.holding = false;
    loop_enter(w);
    return ok;
}

void cut_free(struct solve *v)
{
    mem_free(v->cut.data);
    v->cut.data = NULL;
    v->cut.room = 0;
}
