/* Devices with members, such as cuda:0+1 and emu*3: opening them by name, and their memory. Vectors are divided among
   the members; any other allocation is a copy on each member. */
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/gmres_work.h"
#include "machine/sum_tree.h"
#include "machine/vector_pitch.h"
#include "multi.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- allocations ---- */

static struct block *block_of(const struct multi *m, const void *p)
{
    for (int i = 0; i < m->nblocks; i++) {
        struct block *b = &m->block[i];
        if ((const char *)p >= b->at && (const char *)p < b->at + (b->bytes > 0 ? b->bytes : 1)) return b;
    }
    return NULL;
}

const struct block *multi_block(const struct multi *m, const void *p)
{
    return block_of(m, p);
}

/* Bytes of one vector on member k. */
static int64_t own_bytes(const struct block *b, int k)
{
    return (b->first[k + 1] - b->first[k]) * b->size;
}

void *multi_part(const struct block *b, const void *p, int k)
{
    int64_t offset = (const char *)p - b->at;
    if (!b->vectors) return (char *)b->part[k] + offset;
    int64_t pitch = vector_pitch(b->first[SPLIT_MAX] * b->size), vector = pitch ? offset / pitch : 0;
    return (char *)b->part[k] + vector * vector_pitch(own_bytes(b, k));
}

bool multi_select(struct device *member, struct err *e)
{
    return !member->ops->select || member->ops->select(member, e);
}

bool multi_note_lost(struct device *d)
{
    struct multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++) d->lost |= m->member[k]->lost;
    return false;
}

static void free_parts(struct multi *m, struct block *b)
{
    for (int k = 0; k < m->n; k++)
        if (b->part[k]) m->member[k]->ops->free(m->member[k], b->part[k]);
    if (b->vectors && b->at) munmap(b->at, (size_t)(b->bytes > 0 ? b->bytes : 1));
}

static bool grow(struct multi *m, struct err *e)
{
    if (m->nblocks < m->room) return true;
    struct block *more = mem_resize(m->block, 2 * m->room + 16, sizeof *more, "the list of allocations", e);
    if (!more) return false;
    m->block = more;
    m->room = 2 * m->room + 16;
    return true;
}

static const char *part_of(const struct multi *m, int k, const char *what, char *out, size_t size)
{
    snprintf(out, size, "part %d of %d of %s", k + 1, m->n, what);
    return out;
}

/* Allocate bytes[k] on each member k, and list the block. */
static void *add_block(struct device *d, struct block *b, const int64_t *bytes, const char *what, struct err *e)
{
    struct multi *m = multi_of(d);
    char name[120];
    bool ok = grow(m, e);
    for (int k = 0; ok && k < m->n; k++) {
        struct device *of = m->member[k];
        b->part[k] = of->ops->alloc(of, bytes[k], part_of(m, k, what, name, sizeof name), e);
        ok = b->part[k] != NULL;
    }
    if (ok && !b->vectors) b->at = b->part[0];
    if (!ok) return free_parts(m, b), multi_note_lost(d), NULL;
    m->block[m->nblocks++] = *b;
    return b->at;
}

/* A range of addresses that is reserved and cannot be read or written. */
static char *reserve(int64_t bytes, const char *what, struct err *e)
{
    void *p =
        mmap(NULL, (size_t)(bytes > 0 ? bytes : 1), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) return p;
    fail(e, E_MEMORY, "no range of addresses is free for %s", what);
    return NULL;
}

void *multi_vectors(struct device *d, const int64_t *first, int64_t n, int64_t size, const char *what, struct err *e)
{
    struct multi *m = multi_of(d);
    int64_t bytes[MEMBERS_MAX];
    struct block b = {.vectors = true, .size = size, .bytes = vectors_bytes(n, first[m->n] * size)};
    memcpy(b.first, first, (size_t)(m->n + 1) * sizeof *first);
    b.first[SPLIT_MAX] = first[m->n];
    for (int k = 0; k < m->n; k++) bytes[k] = vectors_bytes(n, own_bytes(&b, k));
    b.at = reserve(b.bytes, what, e);
    return b.at ? add_block(d, &b, bytes, what, e) : NULL;
}

static void *multi_alloc(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    int64_t each[MEMBERS_MAX];
    struct block b = {.bytes = bytes};
    if (!multi_start(d, e)) return NULL;
    for (int k = 0; k < MEMBERS_MAX; k++) each[k] = bytes;
    return add_block(d, &b, each, what, e);
}

static void multi_free(struct device *d, void *p)
{
    struct multi *m = multi_of(d);
    struct block *b = p ? block_of(m, p) : NULL;
    if (!b) return;
    free_parts(m, b);
    *b = m->block[--m->nblocks];
}

/* ---- copies ---- */

/* Copies a piece of a range that one member has: `there` is its address on the member, `here` on the host. */
typedef bool move_fn(struct device *member, char *there, char *here, int64_t bytes, struct err *e);

static bool put_piece(struct device *member, char *there, char *here, int64_t bytes, struct err *e)
{
    return member->ops->put(member, there, here, bytes, e);
}

static bool get_piece(struct device *member, char *there, char *here, int64_t bytes, struct err *e)
{
    return member->ops->get(member, here, there, bytes, e);
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part of vector v that member k has, as far as it lies in the range. */
static bool move_overlap(struct multi *m, const struct block *b, int64_t v, int k, int64_t from, int64_t end,
                         char *host, move_fn *move, struct err *e)
{
    int64_t own = own_bytes(b, k), begin = v * vector_pitch(b->first[SPLIT_MAX] * b->size) + b->first[k] * b->size;
    int64_t low = most_of(begin, from), high = least_of(begin + own, end);
    if (low >= high) return true;
    char *there = (char *)b->part[k] + v * vector_pitch(own) + (low - begin);
    return move(m->member[k], there, host + (low - from), high - low, e);
}

/* Call move for each piece of the range [p, p + bytes) that one member has. */
static bool move_vectors(struct multi *m, const struct block *b, const void *p, char *host, int64_t bytes,
                         move_fn *move, struct err *e)
{
    int64_t from = (const char *)p - b->at, pitch = vector_pitch(b->first[SPLIT_MAX] * b->size);
    for (int64_t v = pitch ? from / pitch : 0; pitch && v * pitch < from + bytes; v++)
        for (int k = 0; k < m->n; k++)
            if (!move_overlap(m, b, v, k, from, from + bytes, host, move, e)) return false;
    return true;
}

/* The bytes that member k gets: those of member 0, except that an address of memory shared with the host becomes 0, so
   that member 0 alone writes to it. */
static const void *without_shared(const struct multi *m, const void *from, int64_t bytes, double *out, int64_t room)
{
    if (bytes % 8 || bytes > room * 8 || !m->shared[0]) return from;
    memcpy(out, from, (size_t)bytes);
    for (int64_t i = 0; i < bytes / 8; i++)
        for (int j = 0; j < COUNT(m->shared); j++)
            if (m->shared[j] && !memcmp(&out[i], &m->shared[j], sizeof m->shared[j])) out[i] = 0;
    return out;
}

static bool put_copies(struct multi *m, const struct block *b, const void *to, const void *from, int64_t bytes,
                       struct err *e)
{
    double own[256];
    for (int k = 0; k < m->n; k++) {
        const void *data = k ? without_shared(m, from, bytes, own, COUNT(own)) : from;
        if (!m->member[k]->ops->put(m->member[k], multi_part(b, to, k), data, bytes, e)) return false;
    }
    return true;
}

/* Copy between two allocations of the device; the memory of the members is host memory. */
static bool put_within(struct multi *m, const struct block *b, const void *to, const struct block *other,
                       const void *from, int64_t bytes, struct err *e)
{
    int64_t whole = b->vectors ? b->first[SPLIT_MAX] * b->size : 0;
    for (int k = 0; k < m->n; k++) {
        int64_t own = whole ? vectors_bytes(vectors_in(bytes, whole), own_bytes(b, k)) : bytes;
        if (!m->member[k]->ops->put(m->member[k], multi_part(b, to, k), multi_part(other, from, k), own, e))
            return false;
    }
    return true;
}

static bool multi_put(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    struct multi *m = multi_of(d);
    const struct block *b = block_of(m, to), *other = block_of(m, from);
    double start_us = now_us();
    if (!b) return fail(e, E_INTERNAL, "%s: a copy to memory that was not allocated", d->name);
    bool ok = other        ? put_within(m, b, to, other, from, bytes, e)
              : b->vectors ? move_vectors(m, b, to, (char *)from, bytes, put_piece, e)
                           : put_copies(m, b, to, from, bytes, e);
    if (!ok) return multi_note_lost(d);
    if (m->ops.idle) d->put.bytes += bytes, d->put.us += now_us() - start_us;
    return true;
}

static bool multi_get(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    struct multi *m = multi_of(d);
    const struct block *b = block_of(m, from);
    double start_us = now_us();
    if (!b) return fail(e, E_INTERNAL, "%s: a copy of memory that was not allocated", d->name);
    bool ok = b->vectors ? move_vectors(m, b, from, to, bytes, get_piece, e)
                         : m->member[0]->ops->get(m->member[0], to, multi_part(b, from, 0), bytes, e);
    if (!ok) return multi_note_lost(d);
    if (m->ops.idle) d->got.bytes += bytes, d->got.us += now_us() - start_us;
    return true;
}

static void *multi_share(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e)
{
    struct multi *m = multi_of(d);
    void *host = multi_start(d, e) ? m->member[0]->ops->share(m->member[0], bytes, what, on_device, e) : NULL;
    for (int i = 0; host && i < COUNT(m->shared); i++)
        if (!m->shared[i]) return m->shared[i] = *on_device, host;
    if (!host) return multi_note_lost(d), NULL;
    m->member[0]->ops->unshare(m->member[0], host);
    fail(e, E_LIMIT, "%s: too many solves share memory with the host at the same time; end one first", d->name);
    return NULL;
}

/* The address on a device is that of the host, except on some GPUs, where an entry stays until the device is closed. */
static void multi_unshare(struct device *d, void *host)
{
    struct multi *m = multi_of(d);
    for (int i = 0; i < COUNT(m->shared); i++)
        if (m->shared[i] == host) m->shared[i] = NULL;
    m->member[0]->ops->unshare(m->member[0], host);
}

/* ---- launches ---- */

static const char *const late_words[LATES] = {
    [LATE_SUMS] = "the sums of part %d did not arrive",
    [LATE_HALO] = "the items of x from part %d did not arrive",
    [LATE_UNWRITTEN] = "item %d of the items of x from other parts was read before it was written",
};

/* Report a flag that did not come, and forget it. */
static bool check_late(struct device *d, struct err *e)
{
    struct multi *m = multi_of(d);
    bool ok = true;
    for (int k = 0; m->ready && k < m->n; k++)
        for (int i = 0; i < LATES; i++) {
            char what[120];
            int value = m->late[k][i];
            m->late[k][i] = 0;
            if (!value || !ok) continue;
            snprintf(what, sizeof what, late_words[i], i == LATE_UNWRITTEN ? value - 1 : value);
            ok = fail(e, E_DEVICE, "%s: part %d of %d, on %s: %s", d->name, k + 1, m->n, m->member[k]->name, what);
        }
    return ok;
}

static bool multi_sync(struct device *d, struct err *e)
{
    struct multi *m = multi_of(d);
    struct err first = {0}, none = {0};
    bool ok = true;
    for (int k = 0; k < m->n; k++)
        if (!m->member[k]->ops->sync(m->member[k], ok ? &first : &none)) ok = false;
    bool on_time = check_late(d, ok ? &first : &none), went = m->pending.code == E_NONE;
    if (ok && on_time && went) return true;
    if (ok && !went) first = m->pending;
    err_clear(&m->pending);
    multi_note_lost(d);
    return fail_at(e, first.code, first.where, "%s", first.text);
}

static bool multi_idle(struct device *d)
{
    struct multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++)
        if (m->member[k]->ops->idle && !m->member[k]->ops->idle(m->member[k])) return false;
    return true;
}

/* The time to queue the launches of one member: about four, and four events. */
static const double HOLD_US = 25;

static bool mark_all(struct multi *m, int i, struct err *e)
{
    for (int k = 0; k < m->n; k++)
        if (m->member[k]->ops->mark && !m->member[k]->ops->mark(m->member[k], i, e)) return false;
    return true;
}

/* The longest time among the members between two moments. */
static double longest_between(const struct multi *m, int from, int to)
{
    double most = 0;
    for (int k = 0; k < m->n; k++)
        if (m->member[k]->ops->between) most = fmax(most, m->member[k]->ops->between(m->member[k], from, to));
    return most;
}

/* The host queues what is timed while the members are busy, so that its own speed does not count. */
static bool hold_all(struct multi *m, int reps, struct err *e)
{
    for (int k = 0; k < m->n; k++)
        if (m->concurrent && !m->member[k]->ops->hold(m->member[k], reps * m->n * HOLD_US, e)) return false;
    return true;
}

static bool time_batch(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                       struct err *e)
{
    struct multi *m = multi_of(d);
    bool queued = multi_sync(d, e) && hold_all(m, reps, e) && mark_all(m, 0, e);
    for (int i = 0; queued && i < reps; i++) queued = go(ctx, e) && mark_all(m, i + 1, e);
    if (!multi_sync(d, e) || !queued) return multi_note_lost(d);
    for (int i = 0; i < reps; i++) us[i] = longest_between(m, i, i + 1);
    return true;
}

/* Between two launches the host waits for every member only if the members have no events. */
static bool time_waiting(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                         struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < reps; i++) {
        double from = now_us();
        ok = go(ctx, e) && multi_sync(d, e);
        us[i] = now_us() - from;
    }
    return ok;
}

static bool multi_time(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                       struct err *e)
{
    struct multi *m = multi_of(d);
    bool events = true;
    for (int k = 0; k < m->n; k++) events &= m->member[k]->ops->mark != NULL;
    if (!events) return time_waiting(d, go, ctx, reps, us, e);
    for (int done = 0; done < reps; done += MARKS - 1)
        if (!time_batch(d, go, ctx, (int)least_of(reps - done, MARKS - 1), us + done, e)) return false;
    return true;
}

/* ---- the members ---- */

static bool counts_again(const struct multi *m, int k)
{
    for (int j = 0; j < k; j++)
        if (multi_one_memory(m->member[j], m->member[k])) return true;
    return false;
}

static bool multi_memory(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e)
{
    struct multi *m = multi_of(d);
    *free_bytes = *total = 0;
    for (int k = 0; k < m->n; k++) {
        int64_t left, all;
        if (counts_again(m, k)) continue;
        if (!m->member[k]->ops->memory(m->member[k], &left, &all, e)) return multi_note_lost(d);
        *free_bytes += left;
        *total += all;
    }
    return true;
}

static void give_back(struct multi *m)
{
    multi_nccl_close(m);
    for (int k = 0; k < m->n; k++) {
        struct seat *t = &m->seat[k];
        struct device *of = m->member[k];
        if (t->part) of->ops->free(of, t->part);
        if (t->box) of->ops->free(of, t->box);
        if (t->count) of->ops->free(of, t->count);
        if (m->late[k]) of->ops->unshare(of, m->late[k]);
        *t = (struct seat){0};
        m->late[k] = NULL;
    }
    m->ready = false;
}

/* A reset has released what the member had. Forget these addresses at once: others may get them before d is used
   again, and freeing them would then free what is not ours. */
void multi_member_was_reset(struct device *d, const struct device *member)
{
    struct multi *m = multi_of(d);
    for (int k = 0; k < m->n; k++) {
        if (m->member[k] != member) continue;
        m->seat[k] = (struct seat){0};
        m->late[k] = NULL;
        for (int i = 0; i < m->nblocks; i++) m->block[i].part[k] = NULL;
    }
    m->ready = false;
}

static bool multi_reset(struct device *d, struct err *e)
{
    struct multi *m = multi_of(d);
    bool ok = true;
    give_back(m);
    while (m->nblocks) multi_free(d, m->block[0].at);
    memset(m->shared, 0, sizeof m->shared);
    for (int k = 0; k < m->n; k++) {
        struct device *of = m->member[k];
        if (!of->lost) continue;
        ok &= of->ops->reset && of->ops->reset(of, ok ? e : NULL);
        device_was_reset(of);
    }
    if (ok) d->lost = false;
    return ok;
}

static void multi_close(struct device *d)
{
    struct multi *m = multi_of(d);
    give_back(m);
    while (m->nblocks) multi_free(d, m->block[0].at);
    for (int k = 0; k < m->n; k++) {
        if (!m->owned[k]) continue;
        m->member[k]->ops->close(m->member[k]);
        mem_free(m->member[k]);
    }
    mem_free(m->block);
    mem_free(m->staging);
    mem_free(m);
    d->impl = NULL;
}

/* ---- starting ---- */

static bool put_zeros(struct device *d, void *to, int64_t bytes, struct err *e)
{
    void *zeros = mem_zero(bytes, 1, "an empty mailbox", e);
    bool ok = zeros && d->ops->put(d, to, zeros, bytes, e);
    mem_free(zeros);
    return ok;
}

static bool seat_new(struct multi *m, int k, struct err *e)
{
    struct device *of = m->member[k];
    struct seat *t = &m->seat[k];
    void *late;
    int64_t sums = (int64_t)(GM_MAX + 1) * SUM_BLOCKS * (int64_t)sizeof *t->part;
    int64_t box = 2 * (int64_t)m->n * MAIL_MAX * MAIL_WORDS * (int64_t)sizeof *t->box;
    unsigned zero = 0;
    *t = (struct seat){.rank = k, .members = m->n};
    t->part = of->ops->alloc(of, sums, "the sums of thread blocks", e);
    t->box = t->part ? of->ops->alloc(of, box, "the sums of all members", e) : NULL;
    t->count = t->box ? of->ops->alloc(of, sizeof zero, "a counter of sums", e) : NULL;
    if (!t->count || !put_zeros(of, t->box, box, e) || !of->ops->put(of, t->count, &zero, sizeof zero, e)) return false;
    m->late[k] = of->ops->share(of, LATES * (int64_t)sizeof(int), "what launches report", &late, e);
    t->late = late;
    return m->late[k] != NULL;
}

static bool all_reach(struct multi *m)
{
    for (int a = 0; a < m->n; a++)
        for (int b = 0; b < m->n; b++) {
            struct device *from = m->member[a], *to = m->member[b];
            if (a == b) continue;
            bool ok = from->ops->reach ? from->ops->reach(from, to) : !to->ops->reach;
            if (!ok) return false;
        }
    return true;
}

bool multi_all_carry(const struct multi *m)
{
    for (int k = 0; k < m->n; k++)
        if (!m->member[k]->ops->carry) return false;
    return true;
}

/* Make the mailboxes. The launches of the members find them through their seats. */
bool multi_start(struct device *d, struct err *e)
{
    struct multi *m = multi_of(d);
    if (m->ready) return true;
    m->epoch = 0;
    for (int k = 0; k < m->n; k++)
        if (!seat_new(m, k, e)) return give_back(m), multi_note_lost(d);
    m->best = all_reach(m) ? TRANSPORT_PEER : multi_all_carry(m) ? TRANSPORT_COPY : TRANSPORT_HOST;
    return m->ready = true;
}

/* ---- names ---- */

/* Is the device of this name a member already? A GPU that is named again gets a stream of its own. */
static bool is_repeated(const struct multi *m, const char *name)
{
    for (int k = 0; k < m->n; k++)
        if (!strcmp(m->member[k]->name, name)) return true;
    return false;
}

static bool own_member(struct multi *m, const struct device_maker *maker, const char *name, int number, struct err *e)
{
    struct device *d = mem_zero(1, sizeof *d, "a device", e);
    if (!d) return false;
    snprintf(d->name, sizeof d->name, "%.40s[%d]", name, m->n);
    d->kind = maker->kind;
    if (!maker->make(d, number, e)) return mem_free(d), false;
    m->member[m->n] = d;
    m->owned[m->n++] = true;
    return maker->start(d, e);
}

static bool add_member(struct multi *m, const char *name, struct err *e)
{
    int number = 0;
    if (m->n == MEMBERS_MAX) return fail(e, E_LIMIT, "a device has at most %d members", +MEMBERS_MAX);
    if (!strcmp(name, "emu")) return own_member(m, &maker_emu, name, 0, e);
    struct device *d = device_open(name, e);
    if (!d) return false;
    if (d->members) return fail(e, E_USAGE, "%s has members itself; list its members instead", name);
    if (is_repeated(m, name)) {
        if (sscanf(name, "cuda:%d", &number) == 1) return own_member(m, &maker_cuda, name, number, e);
        return fail(e, E_USAGE, "%s is named twice; only a GPU may be, as in cuda:0+0, and emu*2", name);
    }
    m->member[m->n++] = d;
    return true;
}

/* "emu*3" */
static bool add_several(struct multi *m, const char *item, size_t n, struct err *e)
{
    char *end;
    long count = strtol(item + 4, &end, 10);
    if (strncmp(item, "emu*", 4) || !isdigit((unsigned char)item[4]) || end != item + n || count < 1)
        return fail(e, E_USAGE, "'%.*s' is no device; several emulated GPUs are called emu*2, emu*3, ...", (int)n,
                    item);
    if (count > MEMBERS_MAX) return fail(e, E_LIMIT, "a device has at most %d members", +MEMBERS_MAX);
    for (long k = 0; k < count; k++)
        if (!add_member(m, "emu", e)) return false;
    return true;
}

static bool add_all(struct multi *m, struct err *e)
{
    int n = maker_cuda.count(e);
    for (int k = 0; k < n; k++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", k);
        if (!add_member(m, name, e)) return false;
    }
    return n > 0;
}

/* One item of "cuda:0+1+cpu"; a bare number is one more of the kind before it. */
static bool add_item(struct multi *m, const char *item, size_t n, char *kind, size_t room, struct err *e)
{
    char name[64];
    if (memchr(item, '*', n)) return add_several(m, item, n, e);
    if (n == 8 && !strncmp(item, "cuda:all", n)) return add_all(m, e);
    bool number = n > 0 && strspn(item, "0123456789") >= n;
    if (number && !*kind)
        return fail(e, E_USAGE, "'%.*s' is no device; give its kind first, as in cuda:0+1", (int)n, item);
    snprintf(name, sizeof name, "%s%.*s", number ? kind : "", (int)n, item);
    if (!strcmp(name, "cuda")) snprintf(name, sizeof name, "cuda:0");
    char *colon = strchr(name, ':');
    if (!number) snprintf(kind, room, "%.*s", colon ? (int)(colon - name) + 1 : 0, name);
    return add_member(m, name, e);
}

static bool add_members(struct multi *m, const char *name, struct err *e)
{
    char kind[64] = "";
    for (const char *item = name;; item++) {
        size_t n = strcspn(item, "+");
        if (!n) return fail(e, E_USAGE, "'%s': a device is missing before or after a +", name);
        if (!add_item(m, item, n, kind, sizeof kind, e)) return false;
        item += n;
        if (!*item) return true;
    }
}

bool multi_is_name(const char *name)
{
    return strchr(name, '+') || strchr(name, '*') || !strcmp(name, "cuda:all");
}

/* The members of "cuda:all" are known only when it is opened, so its name lists them: cuda:0+1+2. */
static void name_of(const struct multi *m, const char *typed, char *out, size_t size)
{
    size_t at = 0;
    if (strcmp(typed, "cuda:all")) {
        snprintf(out, size, "%s", typed);
        return;
    }
    for (int k = 0; k < m->n && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", k ? "+" : "", m->member[k]->name + (k ? 5 : 0));
}

static void describe(struct device *d)
{
    static const char *const way[] = {
        [TRANSPORT_PEER] = "which store into each other's memory",
        [TRANSPORT_COPY] = "with copies between them",
        [TRANSPORT_HOST] = "with copies through the host",
    };
    const struct multi *m = multi_of(d);
    int host = 0;
    for (int i = 0; i < m->n; i++) host += m->member[i]->kind == DEV_CPU;
    if (d->kind == DEV_EMU)
        snprintf(d->about, sizeof d->about, "%d members that share the rows, %s one after another", m->n,
                 host ? "on this processor or emulated," : "emulated");
    else
        snprintf(d->about, sizeof d->about, "%d members that share the rows, %s: %.80s", m->n, way[m->best],
                 m->member[m->n - 1]->about);
}

static const struct device_ops multi_ops = {
    .alloc = multi_alloc,
    .free = multi_free,
    .put = multi_put,
    .get = multi_get,
    .sync = multi_sync,
    .time = multi_time,
    .memory = multi_memory,
    .reset = multi_reset,
    .share = multi_share,
    .unshare = multi_unshare,
    .capture = multi_capture,
    .replay = multi_replay,
    .forget = multi_forget,
    .close = multi_close,
};

/* Emulated members make the device an emulated one, which is not timed; a GPU makes it one that is. */
static void take_kind(struct device *d)
{
    struct multi *m = multi_of(d);
    d->kind = m->member[0]->kind;
    m->concurrent = true;
    for (int k = 0; k < m->n; k++) {
        enum device_kind kind = m->member[k]->kind;
        m->concurrent &= kind == DEV_CUDA;
        m->shared_gpu |= kind == DEV_CUDA && counts_again(m, k);
        m->mixed |= kind != m->member[0]->kind;
        if (kind == DEV_EMU || (kind == DEV_CUDA && d->kind != DEV_EMU)) d->kind = kind;
        if (m->member[k]->ops->idle) m->ops.idle = multi_idle;
        d->units += m->member[k]->units;
    }
}

struct device *multi_make(const char *name, struct err *e)
{
    struct device *d = mem_zero(1, sizeof *d, "a device", e);
    struct multi *m = d ? mem_zero(1, sizeof *m, "a device with members", e) : NULL;
    if (!m) return mem_free(d), NULL;
    m->ops = multi_ops;
    d->impl = m;
    d->ops = &m->ops;
    d->member = m->member;
    bool ok = strlen(name) < sizeof d->name || fail(e, E_LIMIT, "the name of the device is too long: %.40s...", name);
    ok = ok && add_members(m, name, e);
    if (ok) take_kind(d);
    ok = ok && multi_start(d, e);
    if (!ok) return multi_close(d), mem_free(d), NULL;
    d->members = m->n;
    name_of(m, name, d->name, sizeof d->name);
    describe(d);
    return d;
}
