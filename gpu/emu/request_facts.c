/* The bytes that a request accesses, and its cost: the position in the matrix of an element; sectors, padding,
   contended atomics, bank conflicts. */
#include "formats/format.h"
#include "machine/microscope.h"

struct place scope_element(const struct scope *s, int a, int64_t i)
{
    struct place none = {SLOT_POINTER, -1, -1};
    const struct scope_array *array = a < 0 ? NULL : &s->array[a];
    if (!array || array->shared || i < 0 || i >= array->n) return none;
    if (array->stored >= 0) return s->of->format->where(s->of, array->stored, i);
    if (array->role == ROLE_SQUARE) return (struct place){SLOT_ENTRY, i % s->rows, i / s->rows};
    if (array->role == ROLE_X) return (struct place){SLOT_POINTER, -1, i};
    if (array->role == ROLE_Y) return (struct place){SLOT_POINTER, i, -1};
    return none;
}

/* List the addresses that the active lanes access, in the order of the lanes. Returns their number. */
static int addresses_of(const struct scope_array *a, const struct request *r, uint64_t *address)
{
    int n = 0;
    for (uint32_t left = r->mask; left; left &= left - 1)
        address[n++] = a->base + (uint64_t)r->at[__builtin_ctz(left)] * (uint64_t)a->size;
    return n;
}

/* ascends: the addresses ascend, and so does the list: a smaller sector ends the search. */
static void add_sector(struct request_facts *f, uint64_t sector, bool ascends)
{
    for (int k = f->nsectors - 1; k >= 0 && !(ascends && f->sector[k] < sector); k--)
        if (f->sector[k] == sector) return;
    f->sector[f->nsectors++] = sector;
}

/* Does address[k] differ from all addresses before it? */
static bool is_new(const uint64_t *address, int k, bool ascends)
{
    if (k == 0) return true;
    if (ascends) return address[k] != address[k - 1];
    for (int j = 0; j < k; j++)
        if (address[j] == address[k]) return false;
    return true;
}

static bool ascending(const uint64_t *address, int n)
{
    for (int k = 1; k < n; k++)
        if (address[k] < address[k - 1]) return false;
    return true;
}

/* Atomics of several lanes at one address are serialised, and each requests the sector again. List the sector once for
   each of these lanes, until the list is full. Returns the number of sectors listed. */
static int atomic_sectors(const uint64_t *address, int n, uint64_t *sector, int distinct)
{
    int turns[LANES], most[2 * LANES] = {0}, end = distinct;
    for (int k = 0; k < n; k++) {
        int s = 0;
        turns[k] = 1;
        for (int j = 0; j < k; j++) turns[k] += address[j] == address[k];
        while (sector[s] != address[k] / SECTOR) s++;
        if (turns[k] > most[s]) most[s] = turns[k];
    }
    for (int s = 0; s < distinct; s++)
        for (int t = 1; t < most[s] && end < 2 * LANES; t++) sector[end++] = sector[s];
    return end;
}

static void global_facts(const struct scope *s, const struct access_site *p, const struct request *r,
                         struct request_facts *f)
{
    const struct scope_array *a = &s->array[p->array];
    bool pads = a->stored >= 0 && !s->of->format->raw;
    uint64_t address[LANES];
    int n = addresses_of(a, r, address), distinct = 0, size = a->size * p->elements;
    bool ascends = ascending(address, n);
    for (int k = 0; k < n; k++) {
        uint64_t first = address[k] / SECTOR, last = (address[k] + (uint64_t)size - 1) / SECTOR;
        for (uint64_t sector = first; sector <= last; sector++) add_sector(f, sector, ascends);
        if (!is_new(address, k, ascends)) continue;
        distinct++;
        int64_t element = (int64_t)((address[k] - a->base) / (uint64_t)a->size);
        for (int i = 0; pads && i < p->elements; i++)
            if (scope_element(s, p->array, element + i).kind == SLOT_PADDING) f->padding += a->size;
    }
    f->bytes = distinct * size;
    if (p->kind != ACCESS_ATOMIC) return;
    f->contended = n - distinct;
    if (f->contended && !a->integral) f->nsectors = atomic_sectors(address, n, f->sector, f->nsectors);
}

/* The wavefronts of one access. A wavefront serves 32 words of 4 bytes, one per bank; lanes that access the same word
   share it. Accesses of 8 bytes are made by one half of the warp at a time. */
static int bank_wavefronts(const uint64_t *address, int n)
{
    int most = 0, load[BANKS] = {0};
    for (int k = 0; k < n; k++) {
        uint64_t word = address[k] / 4;
        bool seen = false;
        for (int j = 0; j < k && !seen; j++) seen = address[j] / 4 == word;
        if (!seen && ++load[word % BANKS] > most) most = load[word % BANKS];
    }
    return most;
}

static void shared_facts(const struct scope *s, const struct access_site *p, const struct request *r,
                         struct request_facts *f)
{
    const struct scope_array *a = &s->array[p->array];
    uint64_t address[LANES], word[LANES];
    int words = a->size > 4 ? a->size / 4 : 1, part = LANES / (words > 4 ? 4 : words);
    (void)addresses_of(a, r, address);
    for (int lane = 0; lane < LANES; lane += part) {
        uint32_t mask = part == LANES ? r->mask : r->mask >> lane & ((1u << part) - 1);
        int n = 0, before = __builtin_popcount(lane ? r->mask & ((1u << lane) - 1) : 0);
        if (!mask) continue;
        for (int w = 0; w < words && n < LANES; w++)
            for (int k = 0; k < __builtin_popcount(mask) && n < LANES; k++)
                word[n++] = address[before + k] + (uint64_t)w * 4;
        f->wavefronts += bank_wavefronts(word, n);
        f->wavefronts_least++;
    }
    f->bytes = f->lanes * a->size;
}

void facts_of(const struct scope *s, const struct request *r, struct request_facts *f)
{
    const struct access_site *p = &s->site[r->site];
    f->lanes = __builtin_popcount(r->mask);
    f->nsectors = f->bytes = f->padding = f->wavefronts = f->wavefronts_least = f->contended = 0;
    if (accesses_global(p->kind)) global_facts(s, p, r, f);
    if (accesses_shared(p->kind)) shared_facts(s, p, r, f);
}
