/* Recognises the values that threads store in shared memory. Each thread remembers the values that it has loaded:
   entries, elements of x, and elements of shared memory. The values that it stores are compared with these: x of a
   traced product is such that a product of an entry is hardly ever equal to another one, or to a sum. */
#include "shared_places.h"
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "machine/mat.h"
#include "machine/shared_places.h"
#include "scope_run.h"

#include <math.h>
#include <string.h>

enum { NONE = -2, SEVERAL = -1 }; /* in place of a row */
/* THREADS: of a block. RECENT: loads that a thread remembers one by one. WORD: bytes for which a place is kept. */
enum { THREADS = 1024, RECENT = 64, WORD = 4, WORDS = 272 * 1024 / WORD };

/* Something that a thread has loaded. */
struct loaded {
    int32_t row, col; /* as in struct shared_place */
    double value;
};

struct thread {
    int n; /* of `recent` */
    struct loaded recent[RECENT];
    int32_t older; /* the row of the values that are no longer remembered; NONE, SEVERAL */
    bool mixed;    /* a sum may contain values that other lanes have loaded */
    bool stores;   /* the thread has stored an element that is not recognised yet */
    struct place_access store;
    int64_t record; /* of that store in `found`; -1: the thread is not traced */
};

static struct following {
    const struct scope_run *run;
    struct thread thread[THREADS];
    struct shared_place word[WORDS]; /* the meaning of each element of shared memory; `lane` is not used */
} * now;

/* The accesses of the last traced warp. */
static struct {
    struct shared_places p;
    int64_t room;
} found;

static const struct loaded unknown = {-1, -1, NAN};

double places_x(int64_t col)
{
    uint32_t hash = (uint32_t)(col + 1) * 2654435761u;
    return 1 + (double)(hash >> 12) / (1 << 20);
}

bool places_begin(const struct scope_run *run, struct err *e)
{
    mem_free(found.p.of);
    found.p = (struct shared_places){0};
    found.room = 0;
    if (!now) now = mem_zero(1, sizeof *now, "what shared memory holds", e);
    if (!now) return false;
    memset(now, 0, sizeof *now);
    now->run = run;
    for (int i = 0; i < THREADS; i++) now->thread[i].older = NONE;
    for (int i = 0; i < WORDS; i++) now->word[i] = (struct shared_place){-1, -1, -1};
    return true;
}

/* ---- records ---- */

/* The number of the new record; -1: no memory is left, and later accesses are not recorded. */
static int64_t record(unsigned thread, struct loaded place)
{
    if (found.p.n == found.room) {
        int64_t room = found.room ? 2 * found.room : 256;
        struct shared_place *more = found.p.of ? mem_resize(found.p.of, room, sizeof *more, "shared accesses", NULL)
                                               : mem_new(room, sizeof *more, "shared accesses", NULL);
        if (!more) return -1;
        found.p.of = more;
        found.room = room;
    }
    found.p.of[found.p.n] = (struct shared_place){(int32_t)(thread % LANES), place.row, place.col};
    return found.p.n++;
}

void shared_places_take(struct shared_places *out)
{
    *out = found.p;
    found.p = (struct shared_places){0};
    found.room = 0;
}

void shared_places_give(struct shared_places *p)
{
    mem_free(found.p.of);
    found.p = *p;
    found.room = p->n;
    *p = (struct shared_places){0};
}

/* ---- the values that a thread has loaded ---- */

static bool is_x(const struct loaded *l)
{
    return l->row < 0 && l->col >= 0;
}

/* The row of a sum to which l is added. */
static int32_t row_with(int32_t row, const struct loaded *l)
{
    if (is_x(l)) return row;
    return l->row < 0 || (row != NONE && row != l->row) ? SEVERAL : l->row;
}

static void remember(struct thread *t, struct loaded l)
{
    if (t->n == RECENT) {
        t->older = row_with(t->older, &t->recent[0]);
        memmove(t->recent, t->recent + 1, (RECENT - 1) * sizeof *t->recent);
        t->n--;
    }
    t->recent[t->n++] = l;
}

static void forget(struct thread *t)
{
    t->n = 0;
    t->older = NONE;
    t->mixed = false;
}

static int stored_number(const void *base)
{
    const struct mat *M = now->run->M;
    for (int k = 0; M && k < M->of->narrays; k++)
        if (M->ptr[k] == base && M->of->a[k].n > 0) return k;
    return -1;
}

/* A load from global memory: of an entry's value, or of x. */
static void load_global(struct thread *t, const struct place_access *a)
{
    const struct stored *S = now->run->M->of;
    int k = stored_number(a->base);
    for (int64_t i = a->at; i < a->at + a->elements; i++) {
        if (a->role == ROLE_X && k < 0) remember(t, (struct loaded){-1, (int32_t)i, places_x(i)});
        if (k < 0 || !stored_is_value(S, k)) continue;
        struct array values = S->a[k];
        struct place p = S->format->where(S, k, i);
        values.data = (void *)a->base;
        if (p.kind == SLOT_ENTRY) remember(t, (struct loaded){(int32_t)p.row, (int32_t)p.col, array_real(&values, i)});
    }
}

/* ---- the values that a thread stores ---- */

/* The stored number; of a complex one, the real part. */
static double number_at(const struct place_access *a)
{
    const char *p = (const char *)a->base + a->at * a->size;
    bool wide = a->size == 2 * (int)sizeof(double) || (a->size == sizeof(double) && now->run->M->of->real != P_C32);
    float narrow;
    double v;
    if (wide) return memcpy(&v, p, sizeof v), v;
    return memcpy(&narrow, p, sizeof narrow), (double)narrow;
}

static bool is_number(const struct place_access *a)
{
    return !a->integral && (a->size == 4 || a->size == 8 || a->size == 16);
}

static bool equal(double a, double b, int size)
{
    return fabs(a - b) <= (size == sizeof(float) ? 1e-6 : 1e-13) * fabs(a) || a == b;
}

/* Is v the loaded value, or its product with x? */
static bool is_of(const struct loaded *l, double v, int size)
{
    return equal(l->value, v, size) || (l->row >= 0 && l->col >= 0 && equal(l->value * places_x(l->col), v, size));
}

/* The row of all that the thread has loaded; unknown: there are several, or other lanes add to it. */
static struct loaded sum_of(const struct thread *t)
{
    struct loaded sum = unknown;
    int32_t row = t->mixed ? SEVERAL : t->older;
    for (int i = 0; i < t->n; i++) row = row_with(row, &t->recent[i]);
    if (row >= 0) sum.row = row;
    return sum;
}

/* Forget a product: the entry, and its element of x, which is the next one that was loaded with this column. */
static void forget_product(struct thread *t, int i)
{
    struct loaded l = t->recent[i];
    memmove(t->recent + i, t->recent + i + 1, (size_t)(t->n-- - i - 1) * sizeof l);
    for (int k = 0; k < t->n && l.row >= 0; k++)
        if (is_x(&t->recent[k]) && t->recent[k].col == l.col) {
            memmove(t->recent + k, t->recent + k + 1, (size_t)(t->n-- - k - 1) * sizeof l);
            return;
        }
}

static struct loaded recognise(struct thread *t)
{
    double v = is_number(&t->store) ? number_at(&t->store) : NAN;
    int size = now->run->M->of->real == P_F64 || now->run->M->of->real == P_C64 ? 8 : 4;
    if (isnan(v)) return unknown;
    for (int k = 0; k < 2 * t->n; k++) { /* entries first: 1 times an element of x is a product */
        int i = k % t->n;
        struct loaded l = t->recent[i];
        if (is_x(&l) != (k >= t->n) || !is_of(&l, v, size)) continue;
        forget_product(t, i);
        return l;
    }
    struct loaded sum = sum_of(t);
    forget(t);
    return sum;
}

/* Recognise the value that the thread has stored last: the value is in memory by now. */
static void settle(struct thread *t)
{
    if (!t->stores) return;
    t->stores = false;
    struct loaded l = recognise(t);
    for (uint64_t w = t->store.shared_at / WORD; w < (t->store.shared_at + (uint64_t)t->store.size) / WORD; w++)
        if (w < WORDS) now->word[w] = (struct shared_place){-1, l.row, l.col};
    if (t->record < 0) return;
    found.p.of[t->record].row = l.row;
    found.p.of[t->record].col = l.col;
}

/* ---- accesses ---- */

static void load_shared(struct thread *t, const struct place_access *a)
{
    uint64_t w = a->shared_at / WORD;
    struct loaded l = unknown;
    if (w < WORDS && is_number(a)) l = (struct loaded){now->word[w].row, now->word[w].col, number_at(a)};
    remember(t, l);
    if (a->traced) record(a->thread, l);
}

void places_access(const struct place_access *a)
{
    if (!now || a->thread >= THREADS) return;
    struct thread *t = &now->thread[a->thread];
    settle(t);
    if (a->kind == ACCESS_LOAD || a->kind == ACCESS_TEXTURE)
        load_global(t, a);
    else if (a->kind == ACCESS_SHARED_LOAD)
        load_shared(t, a);
    else if (a->kind == ACCESS_SHARED_STORE) {
        t->stores = true;
        t->store = *a;
        t->record = a->traced ? record(a->thread, unknown) : -1;
    } else if (a->kind == ACCESS_SHARED_ATOMIC) {
        if (a->shared_at / WORD < WORDS) now->word[a->shared_at / WORD] = (struct shared_place){-1, -1, -1};
        if (a->traced) record(a->thread, unknown);
    } else {
        forget(t); /* the sum is in global memory */
    }
}

void places_meet(unsigned thread, bool collective)
{
    if (!now || thread >= THREADS) return;
    settle(&now->thread[thread]);
    now->thread[thread].mixed |= collective;
}

void places_end(void)
{
    for (int i = 0; now && i < THREADS; i++) settle(&now->thread[i]);
    mem_free(now);
    now = NULL;
}
