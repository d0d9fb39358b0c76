/* Records what the warps of one multiprocessor do. */
#include "tape.h"
#include "base/mem.h"
#include "model_watch.h"

static bool add_block(struct watching *v, struct tape *t, const struct block_log *b)
{
    if (t->n == t->room) {
        int room = t->room ? 2 * t->room : 16;
        struct block_tape *more = t->block ? mem_resize(t->block, room, sizeof *more, "a recording of warps", &v->err)
                                           : mem_new(room, sizeof *more, "a recording of warps", &v->err);
        if (!more) return false;
        t->block = more;
        t->room = room;
    }
    struct warp_tape *warps = mem_zero(b->nwarps, sizeof *warps, "a recording of warps", &v->err);
    if (!warps) return false;
    t->block[t->n++] = (struct block_tape){b->block, v->launch, b->nwarps, warps};
    return true;
}

void tape_begin(struct watching *v, const struct queue *q, struct warp_state *state)
{
    struct tape *t = v->tape;
    for (int b = 0; b < q->n; b++) {
        if (t->moments >= TAPE_MOMENTS || t->n >= TAPE_BLOCKS) t->cut = true;
        if (t->cut || !add_block(v, t, &q->block[b])) return;
        for (int k = 0; k < q->block[b].nwarps; k++) state++->tape = &t->block[t->n - 1].warp[k];
    }
}

void tape_add(struct watching *v, struct warp_tape *t, enum wait kind, double n)
{
    if (t->n == t->room) {
        int64_t room = t->room ? 2 * t->room : 64;
        struct moment *more = t->moment ? mem_resize(t->moment, room, sizeof *more, "a recording of warps", &v->err)
                                        : mem_new(room, sizeof *more, "a recording of warps", &v->err);
        if (!more) return;
        t->moment = more;
        t->room = room;
    }
    t->moment[t->n++] = (struct moment){.n = (float)n, .wait = (uint8_t)kind};
    v->tape->moments++;
}

void tape_free(struct tape *t)
{
    for (int b = 0; b < t->n; b++) {
        for (int k = 0; k < t->block[b].nwarps; k++) mem_free(t->block[b].warp[k].moment);
        mem_free(t->block[b].warp);
    }
    mem_free(t->block);
    *t = (struct tape){0};
}
