/* The tape of a multiprocessor (microscope/tape.h) as bytes: the head, then for each block its head, and for each warp
   the number of its moments and the moments. */
#include "base/mem.h"
#include "lab_job.h"
#include "microscope/tape.h"

#include <string.h>

struct tape_head {
    int64_t n, moments;
    int64_t cut;
};
struct block_head {
    int64_t block, launch, nwarps;
};
enum { WARPS_MAX = 64 };

/* ---- to bytes ---- */

static char *put(char *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static char *put_block(char *to, const struct block_tape *b)
{
    const struct block_head head = {b->block, b->launch, b->nwarps};
    to = put(to, &head, sizeof head);
    for (int k = 0; k < b->nwarps; k++) {
        to = put(to, &b->warp[k].n, sizeof b->warp[k].n);
        if (b->warp[k].n) to = put(to, b->warp[k].moment, (size_t)b->warp[k].n * sizeof *b->warp[k].moment);
    }
    return to;
}

char *lab_tape_pack(const struct tape *t, uint64_t *bytes, struct err *e)
{
    const struct tape_head head = {t->n, t->moments, t->cut};
    *bytes = sizeof head;
    for (int b = 0; b < t->n; b++) {
        *bytes += sizeof(struct block_head);
        for (int k = 0; k < t->block[b].nwarps; k++)
            *bytes += sizeof(int64_t) + (uint64_t)t->block[b].warp[k].n * sizeof(struct moment);
    }
    char *out = mem_new((int64_t)*bytes, 1, "the order of warps", e), *to = out;
    if (!out) return NULL;
    to = put(to, &head, sizeof head);
    for (int b = 0; b < t->n; b++) to = put_block(to, &t->block[b]);
    return out;
}

/* ---- from bytes ---- */

struct reading {
    const char *at;
    uint64_t left;
};

static bool take(struct reading *r, void *to, uint64_t n)
{
    if (r->left < n) return false;
    if (n) memcpy(to, r->at, n);
    r->at += n, r->left -= n;
    return true;
}

static bool take_warp(struct reading *r, struct warp_tape *w, struct err *e)
{
    int64_t n;
    if (!take(r, &n, sizeof n) || n < 0 || (uint64_t)n > r->left / sizeof *w->moment) return false;
    w->moment = n ? mem_new(n, sizeof *w->moment, "the order of a warp", e) : NULL;
    if (n && !w->moment) return false;
    w->n = w->room = n;
    return take(r, w->moment, (uint64_t)n * sizeof *w->moment);
}

static bool take_block(struct reading *r, struct block_tape *b, struct err *e)
{
    struct block_head head;
    if (!take(r, &head, sizeof head) || head.nwarps < 0 || head.nwarps > WARPS_MAX) return false;
    *b = (struct block_tape){.block = head.block, .launch = (int)head.launch};
    b->warp = mem_zero(head.nwarps, sizeof *b->warp, "the order of a block", e);
    if (!b->warp) return false;
    b->nwarps = (int)head.nwarps;
    for (int k = 0; k < b->nwarps; k++)
        if (!take_warp(r, &b->warp[k], e)) return false;
    return true;
}

bool lab_tape_unpack(const char *from, uint64_t bytes, struct tape *t, struct err *e)
{
    struct reading r = {from, bytes};
    struct tape_head head;
    if (!take(&r, &head, sizeof head) || head.n < 0 || head.n > TAPE_BLOCKS) return false;
    t->block = mem_zero(head.n, sizeof *t->block, "the order of blocks", e);
    if (!t->block) return false;
    t->room = (int)head.n;
    t->moments = head.moments;
    t->cut = head.cut;
    for (; t->n < head.n; t->n++)
        if (!take_block(&r, &t->block[t->n], e)) return t->n++, false; /* tape_free frees what there is of it */
    return true;
}
