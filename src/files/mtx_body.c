/* Parse the entries of a Matrix Market file on all cores. Only one thread at a time cuts a block of whole lines from
   the text; this suffices, because copying text is many times faster than parsing it. Each thread parses one
   block after another into the same arrays, so that these arrays stay in the thread's cache. The thread then copies the
   entries, in the order of the file, to the arrays of the whole file. */
#include "base/mem.h"
#include "base/stream.h"
#include "base/watch.h"
#include "mtx.h"
#include "plain.h"

#include <omp.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { MEMORY_EVERY = 256, MEMORY_MIN = 1 << 28, UNSURE = 1 << 16, WAIT_NS = 1000000, SECOND_NS = 1000000000 };

bool entries_new(struct entries *t, const struct head *h, int64_t room, struct err *e)
{
    const char *what = "entries of the file";
    *t = (struct entries){.room = room};
    bool ok = (h->array || ((t->row = mem_new(room, sizeof *t->row, what, e)) &&
                            (t->col = mem_new(room, sizeof *t->col, what, e)))) &&
              (h->values < 1 || (t->val = mem_new(room, sizeof *t->val, what, e))) &&
              (h->values < 2 || (t->imag = mem_new(room, sizeof *t->imag, what, e)));
    if (!ok) entries_free(t);
    return ok;
}

void entries_free(struct entries *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
    mem_free(t->imag);
    memset(t, 0, sizeof *t);
}

/* The array p with room for n elements; p itself, and *ok = false, if memory is too short. NULL stays NULL. */
static void *resized(void *p, int64_t n, size_t size, bool *ok, struct err *e)
{
    void *more = p && *ok ? mem_resize(p, n, size, "entries of the file", e) : NULL;
    if (p && !more) *ok = false;
    return more ? more : p;
}

/* The pages of a large array move without a copy. */
static bool entries_resize(struct entries *t, int64_t room, struct err *e)
{
    bool ok = true;
    t->row = resized(t->row, room, sizeof *t->row, &ok, e);
    t->col = resized(t->col, room, sizeof *t->col, &ok, e);
    t->val = resized(t->val, room, sizeof *t->val, &ok, e);
    t->imag = resized(t->imag, room, sizeof *t->imag, &ok, e);
    if (ok) t->room = room;
    return ok;
}

/* Copy items [0, n) of `from` to items [at, at + n) of `to`. */
static void entries_copy(const struct entries *from, int64_t n, struct entries *to, int64_t at)
{
    size_t indices = (size_t)n * sizeof *to->row, values = (size_t)n * sizeof *to->val;
    if (to->row) memcpy(to->row + at, from->row, indices);
    if (to->col) memcpy(to->col + at, from->col, indices);
    if (to->val) memcpy(to->val + at, from->val, values);
    if (to->imag) memcpy(to->imag + at, from->imag, values);
}

/* ---- bands of rows ---- */

int band_shift(const struct head *h)
{
    int shift = 0;
    while (h->rows > (int64_t)BANDS << shift) shift++;
    return shift;
}

/* If the rows of a block are not in order, count its entries per band. The entries are then delivered by bands, so that
   mtx_build.c finds the entries of a band next to each other. Small blocks are not sorted, because sorting them would
   not save time; those of a list are not, because its number of rows is not known yet. */
static bool block_bands(struct block *k, const struct head *h, const struct entries *t, struct err *e)
{
    int shift = band_shift(h);
    bool few = h->array || h->vector || k->n < BANDS;
    if (few || h->list || h->symmetry != GENERAL || ascends(t->row, k->n)) return true;
    if (!(k->band = mem_zero(BANDS + 1, sizeof *k->band, "a block of the file", e))) return false;
    for (int64_t i = 0; i < k->n; i++) k->band[(t->row[i] >> shift) + 1]++;
    for (int s = 0; s < BANDS; s++) k->band[s + 1] += k->band[s];
    return true;
}

/* Like entries_copy, but sorts the entries by bands; the entries of a band stay in the order of the file. */
static void entries_deal(const struct entries *from, const struct block *k, int shift, struct entries *to, int64_t at)
{
    int64_t place[BANDS];
    for (int s = 0; s < BANDS; s++) place[s] = at + k->band[s];
    for (int64_t i = 0; i < k->n; i++) {
        int64_t p = place[from->row[i] >> shift]++;
        to->row[p] = from->row[i];
        to->col[p] = from->col[i];
        if (to->val) to->val[p] = from->val[i];
        if (to->imag) to->imag[p] = from->imag[i];
    }
}

/* The buffers of one thread. */
struct buffers {
    struct text text;
    struct entries entries;
};

static bool buffers_room(struct buffers *d, const struct head *h, struct err *e)
{
    /* each number has at least one digit and a blank or line end */
    int64_t most = d->text.n / (2 * (h->indices + h->values)) + 1;
    if (d->entries.room >= most) return true;
    entries_free(&d->entries);
    return entries_new(&d->entries, h, most, e);
}

static void buffers_free(struct buffers *d)
{
    text_free(&d->text);
    entries_free(&d->entries);
}

static bool block_parse(struct block *k, const struct head *h, struct buffers *d, struct err *e)
{
    if (h->list) plain_blanks(d->text.s, d->text.n);
    return buffers_room(d, h, e) && lines_parse(k, h, &d->text, &d->entries, e) && block_bands(k, h, &d->entries, e);
}

void block_free(struct block *k)
{
    mem_free(k->gap);
    mem_free(k->band);
    k->gap = NULL;
    k->band = NULL;
    k->ngaps = 0;
}

void body_free(struct body *b)
{
    for (struct block *k = b->first, *next; k; k = next) {
        next = k->next;
        block_free(k);
        mem_free(k);
    }
    b->first = b->last = NULL;
    entries_free(&b->all);
}

/* Stop all threads, including a thread that waits for the stream. */
static void halt(struct body *b)
{
#pragma omp atomic write
    b->stop = true;
    stream_stop(b->lines->stream);
}

/* Stop all threads and keep the earliest fault; a fault that is not in a particular line counts as the earliest. */
static void fault(struct body *b, struct block *k, const struct err *why)
{
    if (why->code == E_MEMORY || why->code == E_CANCELLED) k = NULL;
#pragma omp critical(mtx_fault)
    {
        struct fault *f = &b->fault;
        if (!f->why.code || (f->block && (!k || k->seq < f->block->seq)))
            *f = (struct fault){.block = k, .line = k ? k->lines : 0, .why = *why};
        halt(b);
    }
}

static bool stopped(struct body *b)
{
    bool stop;
#pragma omp atomic read
    stop = b->stop;
    return stop;
}

/* Unpacked text may be far longer than the file, so check from time to time that enough memory is left. */
static bool enough_memory(const struct body *b, struct err *e)
{
    if (!b->last || (b->last->seq + 1) % MEMORY_EVERY || mem_available() > MEMORY_MIN) return true;
    return fail(e, E_MEMORY, "out of memory after %lld MiB of text; drop a matrix or choose a smaller one",
                (long long)(b->lines->streamed >> 20));
}

/* The next block of the file, or NULL at the end of the file or after a fault. */
static struct block *block_next(struct body *b, struct text *t)
{
    struct err why = {0};
    struct block *k =
        stopped(b) || !enough_memory(b, &why) ? NULL : mem_zero(1, sizeof *k, "a block of the file", &why);
    if (!k) {
        if (why.code) fault(b, NULL, &why);
        return NULL;
    }
    k->seq = b->last ? b->last->seq + 1 : 0;
    b->last = *(b->last ? &b->last->next : &b->first) = k;
    bool ok = lines_next(b->lines, t, &why);
    if (ok && (b->head->amgx.numbers || (b->head->list && b->head->list->stops)))
        ok = sections_cut(b->lines, t, &b->lines_left, &why);
    k->streamed = b->lines->streamed;
    if (ok && t->n) return k;
    k->lines = 1; /* report the fault at the first line of this block */
    if (!ok && !stopped(b)) fault(b, k, &why);
    k->lines = 0;
    return NULL;
}

static bool tick(struct body *b)
{
    struct err why = {0};
    int64_t done, total;
    if (omp_get_thread_num() != 0) return true;
    stream_progress(b->lines->stream, &done, &total);
    if (watch_tick(b->watch, "reading", done, total, &why)) return true;
    fault(b, NULL, &why);
    return false;
}

/* ---- delivery ---- */

static int64_t next_turn(struct body *b)
{
    int64_t turn;
#pragma omp atomic read acquire
    turn = b->turn;
    return turn;
}

/* Make room for a total of n entries. If the length of the file cannot confirm the size line, the arrays grow as
   entries arrive. Only the thread that delivers the next block calls this function. The calling thread waits for the
   threads that are still copying. */
static bool all_room(struct body *b, int64_t n, struct err *e)
{
    int copying = 1;
    if (n <= b->all.room) return true;
    while (copying) {
#pragma omp atomic read acquire
        copying = b->delivering;
        if (copying) sched_yield();
    }
    int64_t room = 2 * n < b->head->entries ? 2 * n : b->head->entries;
    return entries_resize(&b->all, room, e);
}

/* Called for the blocks in the order of the file. Returns how many of the block's entries to store: at most as many as
   the size line still allows. *at receives the index in b->all at which to store them. If the block has more entries
   than that, reading stops. */
static int64_t take_turn(struct body *b, struct block *k, int64_t *at)
{
    struct err why = {0};
    int64_t left = b->head->entries - b->delivered, n = k->n < left ? k->n : left;
    if (k->n > left) halt(b);
    if (n) __atomic_store_n(&b->lines->streamed_at_entry, k->streamed, __ATOMIC_RELAXED);
    if (!all_room(b, b->delivered + n, &why)) {
        fault(b, NULL, &why);
        n = 0;
    }
    *at = b->delivered;
    b->delivered += n;
    return n;
}

static void deliver(struct body *b, struct block *k, const struct entries *from)
{
    int64_t at;
    while (next_turn(b) != k->seq) sched_yield();
    int64_t n = take_turn(b, k, &at);
#pragma omp atomic update
    b->delivering++;
#pragma omp atomic write release
    b->turn = k->seq + 1;
    if (k->band && n == k->n) /* if n < k->n, there was a fault, and no entry will be used */
        entries_deal(from, k, band_shift(b->head), &b->all, at);
    else if (n)
        entries_copy(from, n, &b->all, at);
#pragma omp atomic update release
    b->delivering--;
}

/* Only the first thread checks for Ctrl-C, even while another thread reads or waits for a pipe. */
static bool lock_reader(struct body *b)
{
    if (omp_get_thread_num() != 0) return pthread_mutex_lock(&b->reader) == 0;
    struct timespec until;
    do {
        if (!tick(b)) return false;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
    } while (pthread_mutex_clocklock(&b->reader, CLOCK_MONOTONIC, &until));
    return true;
}

static void work(struct body *b)
{
    struct buffers d = {0};
    struct block *k = NULL;
    do {
        struct err why = {0};
        if (!lock_reader(b)) break;
        k = block_next(b, &d.text);
        pthread_mutex_unlock(&b->reader);
        if (k && !block_parse(k, b->head, &d, &why)) fault(b, k, &why);
        if (k) deliver(b, k, &d.entries);
    } while (k);
    buffers_free(&d);
}

void body_parse(struct body *b)
{
    struct err why = {0};
    /* the number of entries, if it is known, was compared with the length of the file */
    const struct list *list = b->head->list;
    bool confirmed = stream_size(b->lines->stream) >= 0 && (!list || list->entries >= 0);
    b->lines_left = b->head->entries;
    int64_t n = b->head->entries, room = confirmed || n < UNSURE ? n : UNSURE;
    if (!entries_new(&b->all, b->head, room, &why)) {
        fault(b, NULL, &why);
        return;
    }
    pthread_mutex_init(&b->reader, NULL);
#pragma omp parallel num_threads(b->threads)
    work(b);
    pthread_mutex_destroy(&b->reader);
    bool shrinks = !b->fault.why.code && b->delivered && b->delivered < b->all.room;
    if (shrinks && !entries_resize(&b->all, b->delivered, &why)) fault(b, NULL, &why);
}
