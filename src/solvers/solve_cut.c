/* Ctrl-C within an iteration: the changes that the iteration has made are undone, so that the solve can continue as if
   it had not been interrupted. */
#include "base/loop.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "machine/vector_pitch.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

/* Can Ctrl-C end an iteration, which the solve then repeats? On a GPU, Ctrl-C cannot end an iteration, because the
   queued launches run to their end. A solve of several columns that Ctrl-C ends is given up. */
static bool checked(const struct solve *v)
{
    return !v->dev->ops->idle && loop_watch() && !v->columns.n;
}

static void add_part(struct solve_cut *c, int vec, int64_t bytes)
{
    c->part[c->n].vec = vec;
    c->part[c->n++].bytes = bytes;
}

static void list_parts(struct solve *v, int n, const int *list)
{
    v->cut.n = 0;
    add_part(&v->cut, -1, VEC_WORK * (int64_t)sizeof *v->scalars);
    for (int i = 0; i < n; i++) {
        int64_t bytes = v->vec_bytes[list[i]];
        add_part(&v->cut, list[i], v->solver->used_bytes ? v->solver->used_bytes(v, list[i], 0) : bytes);
    }
}

/* Memory for a copy of v->vec[vec] or, if vec is -1, of the scalars. */
static void *copy_room(struct solve *v, int vec, int64_t bytes, struct err *e)
{
    static const char what[] = "a copy of vectors";
    size_t number = vec < 0 ? 0 : v->vec_numbers[vec];
    if (number && v->n && v->dev->members)
        return solve_room(v, vectors_in(bytes, v->n * (int64_t)number), number, what, e);
    return v->dev->ops->alloc(v->dev, bytes, what, e);
}

static bool make_room(struct solve *v, struct err *e)
{
    struct solve_cut *c = &v->cut;
    for (int i = 0; i < c->n; i++) {
        if (c->part[i].bytes <= c->part[i].room) continue;
        if (c->part[i].saved) v->dev->ops->free(v->dev, c->part[i].saved);
        c->part[i].saved = copy_room(v, c->part[i].vec, c->part[i].bytes, e);
        c->part[i].room = c->part[i].saved ? c->part[i].bytes : 0;
        if (!c->part[i].saved) return false;
    }
    return true;
}

/* Part i of what the iteration changes, on the device. */
static void *part_at(struct solve *v, int i)
{
    int vec = v->cut.part[i].vec;
    return vec < 0 ? v->scalars : v->vec[vec];
}

/* Ctrl-C also ends this copy, which `get` would complete. */
static bool save_parts(struct solve *v, struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < v->cut.n; i++)
        ok = v->dev->ops->put(v->dev, v->cut.part[i].saved, part_at(v, i), v->cut.part[i].bytes, e);
    return ok;
}

/* A vector that was copied as a whole changes places with its copy, because the prompt must not wait for gigabytes. */
static bool restore_parts(struct solve *v, struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < v->cut.n; i++) {
        int vec = v->cut.part[i].vec;
        void *saved = v->cut.part[i].saved;
        int64_t bytes = v->cut.part[i].bytes;
        if (vec >= 0 && bytes == v->vec_bytes[vec]) {
            v->cut.part[i].saved = v->vec[vec];
            v->cut.part[i].room = bytes;
            v->vec[vec] = saved;
        } else {
            ok = v->dev->ops->put(v->dev, part_at(v, i), saved, bytes, e);
        }
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
    struct err full = {0};
    v->cut.copied = wanted && make_room(v, &full);
    if (full.code && full.code != E_MEMORY) return fail_at(e, full.code, full.where, "%s", full.text);
    if (v->cut.copied && !save_parts(v, e)) return false;
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
        ok = restore_parts(v, e);
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
    for (int i = 0; i < CUT_VECTORS; i++) {
        if (v->cut.part[i].saved) v->dev->ops->free(v->dev, v->cut.part[i].saved);
        v->cut.part[i].saved = NULL;
        v->cut.part[i].room = 0;
    }
}
