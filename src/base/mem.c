/* Memory allocation, aligned like device memory. Tests can make the nth allocation fail. */
#include "mem.h"
#include "available.h"
#include "detached.h"
#include "err.h"
#include "loop.h"
#include "text.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* LAZY_FROM: freeing a block of at least this many bytes is slow. LONG_ZERO: Ctrl-C can end the clearing of a block of
   at least this many bytes. PIECE: freeing this many bytes takes about 1 ms. PROMPT_US: after this time, the prompt of
   the next command is usually there. HUGE_FROM: a block of at least this many bytes is compared with the available
   memory before it is allocated. HUGE_MAX: at most this many such blocks are remembered. SAMPLE: one page in so many
   bytes is asked whether it is in memory. WIDE_FROM: the system may use pages of 2 MB for a block of at least this many
   bytes, so that 512 times fewer pages have to be made when it is written. */
enum { ALIGN = 256, SPARE_SHARE = 2, LAZY_FROM = 1 << 20, LONG_ZERO = 1 << 23, PIECE = 1 << 23, PROMPT_US = 20000 };
enum { HUGE_FROM = 1 << 28, HUGE_MAX = 64, SAMPLE = 1 << 22, WIDE_FROM = 1 << 23 };

static atomic_llong made;    /* allocations since start */
static atomic_llong failing; /* number of the allocation that will fail; 0: none */

/* The reserve is memory that is freed as soon as anything else needs it. */
static struct {
    atomic_llong bytes;
    void (*give)(void *user);
    void *user;
} spare;
static atomic_flag giving = ATOMIC_FLAG_INIT;

void mem_spare(int64_t bytes, void (*give)(void *user), void *user)
{
    spare.give = give;
    spare.user = user;
    spare.bytes = bytes;
}

bool mem_take_spare(void)
{
    if (!spare.bytes || atomic_flag_test_and_set(&giving)) return false;
    bool there = spare.bytes > 0;
    spare.bytes = 0;
    if (there) spare.give(spare.user);
    atomic_flag_clear(&giving);
    return there;
}

void mem_fail_at(int64_t nth)
{
    failing = nth ? made + nth : 0;
}

int64_t mem_count(void)
{
    return made;
}

/* Compute the size of n items in bytes, rounded up to the alignment. Returns false if the size exceeds the address
   space. */
static bool size_of(int64_t n, size_t size, size_t *bytes)
{
    size_t product;
    if (n < 0 || __builtin_mul_overflow((size_t)n, size, &product) || product > (size_t)PTRDIFF_MAX - ALIGN)
        return false;
    *bytes = product ? (product + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    return true;
}

/* ---- huge blocks ---- */

/* Linux grants a block before it has memory for it, and ends the process later, when the block is written and memory
   runs out. So huge blocks are compared with the available memory, less the pages that were granted but not written
   yet. */
static struct {
    pthread_mutex_t lock;
    struct huge {
        char *p;
        size_t bytes;
    } block[HUGE_MAX];
} huge = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replace the block `old` in the list by a new one. If `old` is NULL, the block is added; if p is NULL, it is removed.
   If the list is full, a new block is not remembered. */
static void huge_replace(const void *old, void *p, size_t bytes)
{
    pthread_mutex_lock(&huge.lock);
    for (int i = 0; i < HUGE_MAX; i++)
        if (huge.block[i].p == old) {
            huge.block[i] = (struct huge){p, bytes};
            break;
        }
    pthread_mutex_unlock(&huge.lock);
}

/* An estimate of the bytes of a block that have no page in memory yet. */
static int64_t unwritten(const struct huge *h)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = ((uintptr_t)h->p + page - 1) / page * page;
    int64_t bytes = 0;
    for (uintptr_t end = (uintptr_t)h->p + h->bytes; h->p && at + page <= end; at += SAMPLE) {
        unsigned char there = 1;
        if (!mincore((void *)at, page, &there) && !(there & 1)) bytes += SAMPLE;
    }
    return bytes;
}

static int64_t all_unwritten(void)
{
    int64_t bytes = 0;
    pthread_mutex_lock(&huge.lock);
    for (int i = 0; i < HUGE_MAX; i++) bytes += unwritten(&huge.block[i]);
    pthread_mutex_unlock(&huge.lock);
    return bytes;
}

static int64_t unpromised(void)
{
    int64_t left = mem_available() - all_unwritten();
    return left > 0 ? left : 0;
}

static bool huge_fits(size_t bytes)
{
    return bytes < HUGE_FROM || (int64_t)bytes <= unpromised() || (mem_take_spare() && (int64_t)bytes <= unpromised());
}

static void *refuse(int64_t n, size_t size, const char *what, struct err *e)
{
    char need[32], have[32];
    fail(e, E_MEMORY,
         "out of memory: %s needs %s, but only about %s is available; drop a matrix or choose a smaller one", what,
         show_bytes((double)n * (double)size, need, sizeof need), show_bytes((double)unpromised(), have, sizeof have));
    return NULL;
}

static bool due_to_fail(void)
{
    return ++made == failing;
}

/* Let the system use wide pages for the whole pages of a new block. Where it cannot, the block is as good. */
static void allow_wide_pages(void *p, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)p + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)p + bytes) / page * page;
    madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *mem_new(int64_t n, size_t size, const char *what, struct err *e)
{
    size_t bytes;
    void *p = NULL;
    if (!due_to_fail() && size_of(n, size, &bytes) && huge_fits(bytes)) {
        p = aligned_alloc(ALIGN, bytes);
        if (!p && mem_take_spare()) p = aligned_alloc(ALIGN, bytes);
        if (p && bytes >= HUGE_FROM) huge_replace(NULL, p, bytes);
        if (p && bytes >= WIDE_FROM) allow_wide_pages(p, bytes);
    }
    return p ? p : refuse(n, size, what, e);
}

void *mem_zero(int64_t n, size_t size, const char *what, struct err *e)
{
    void *p = mem_new(n, size, what, e);
    if (p && (size_t)n * size < LONG_ZERO) return memset(p, 0, (size_t)n * size);
    if (!p || loop_zero(p, n * (int64_t)size, what, e)) return p;
    mem_free(p);
    return NULL;
}

void *mem_resize(void *p, int64_t n, size_t size, const char *what, struct err *e)
{
    size_t bytes, old = p ? malloc_usable_size(p) : 0;
    void *q = NULL;
    if (!due_to_fail() && size_of(n, size, &bytes)) {
        if (old >= HUGE_FROM) huge_replace(p, NULL, 0);
        q = realloc(p, bytes);
        if (!q && mem_take_spare()) q = realloc(p, bytes);
        void *left = q ? q : p;
        if ((q ? bytes : old) >= HUGE_FROM) huge_replace(NULL, left, q ? bytes : old);
    }
    return q ? q : refuse(n, size, what, e);
}

char *mem_str(const char *text, struct err *e)
{
    size_t n = strlen(text) + 1;
    char *p = mem_new((int64_t)n, 1, "a name", e);
    return p ? memcpy(p, text, n) : NULL;
}

/* ---- freeing ---- */

/* A block that waits to be freed; the link to the next block is in its own memory. */
struct waiting {
    struct waiting *next;
};

static _Thread_local struct {
    bool on;
    struct waiting *first;
} lazy;

static bool (*urgent)(void);

void mem_lazy_if(bool (*wanted)(void))
{
    urgent = wanted;
}

static bool is_lazy(void)
{
    if (!lazy.on && urgent && loop_watch()) lazy.on = urgent();
    return lazy.on;
}

/* Return the pages of a block to the system piece by piece, until Ctrl-C leaves the other pages to another thread. The
   first page stays, because the link is in it. Short pieces also let other threads allocate in between: the system
   frees pages under a lock. */
static void release_pages(void *p)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)p, end = begin + malloc_usable_size(p);
    begin = (begin + sizeof(struct waiting) + page - 1) / page * page;
    for (; begin + PIECE <= end && !is_lazy(); begin += PIECE) madvise((void *)begin, PIECE, MADV_DONTNEED);
}

static void *free_all(void *first)
{
    for (struct waiting *w = first, *next; w; w = next) {
        next = w->next;
        release_pages(w);
        free(w);
    }
    return NULL;
}

/* On a busy machine, this thread would compete with the thread that is about to show the prompt. */
static void *free_later(void *first)
{
    usleep(PROMPT_US);
    return free_all(first);
}

void mem_lazy(bool on)
{
    if (on && lazy.on) return;
    struct waiting *first = lazy.first;
    lazy.on = on;
    lazy.first = NULL;
    if (first && !detached_start(free_later, first)) free_all(first);
}

void mem_free(void *p)
{
    size_t bytes = p ? malloc_usable_size(p) : 0;
    bool large = bytes >= LAZY_FROM;
    if (bytes >= HUGE_FROM) huge_replace(p, NULL, 0);
    if (large) release_pages(p);
    if (!large || !is_lazy()) {
        free(p);
        return;
    }
    struct waiting *w = p;
    w->next = lazy.first;
    lazy.first = w;
}

/* Free the reserve when it exceeds half of the available memory, so that the reserve never makes an allocation fail or
   slows work down. */
int64_t mem_available(void)
{
    int64_t bytes = memory_available("");
    if (bytes / SPARE_SHARE >= spare.bytes || !mem_take_spare()) return bytes;
    return memory_available("");
}
