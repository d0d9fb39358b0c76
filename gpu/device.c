/* The registry of devices: it lists the kinds, opens a device by name, chooses the default device and closes all
   devices. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "dev.h"
#include "machine/member_rows.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct device_maker *const makers[] = {&maker_cpu, &maker_emu, &maker_cuda};

enum { DEVICES_MAX = 64, NUMBER_MAX = 999 };

static struct {
    struct device *device;
    bool owned; /* the device was opened by name, not passed to device_register, so the registry closes and frees it */
} known[DEVICES_MAX];
static int nknown;

/* The thread that runs commands opens devices; the screen thread completes their names. Opening one device may open
   others. */
static pthread_mutex_t known_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

const struct device_maker *device_maker_of(const struct device *d)
{
    for (int i = 0; i < COUNT(makers) && !d->members; i++)
        if (makers[i]->kind == d->kind) return makers[i];
    return NULL;
}

static int index_of(const char *name)
{
    for (int i = 0; i < nknown; i++)
        if (!strcmp(known[i].device->name, name)) return i;
    return -1;
}

static bool remember(struct device *d, bool owned)
{
    if (nknown == DEVICES_MAX || index_of(d->name) >= 0) return false;
    known[nknown].device = d;
    known[nknown++].owned = owned;
    return true;
}

bool device_register(struct device *d)
{
    pthread_mutex_lock(&known_lock);
    bool is_new = remember(d, false);
    pthread_mutex_unlock(&known_lock);
    return is_new;
}

/* Is `name` a device of this kind? If so, *number receives the number of the device: "cpu", "cuda" = "cuda:0",
   "cuda:3". */
static bool named(const struct device_maker *m, const char *name, int *number)
{
    size_t n = strlen(m->name);
    *number = 0;
    if (strncmp(name, m->name, n)) return false;
    if (!name[n]) return true;
    if (!m->numbered || name[n] != ':' || !isdigit((unsigned char)name[n + 1])) return false;
    char *end;
    long value = strtol(name + n + 1, &end, 10);
    *number = value > NUMBER_MAX ? NUMBER_MAX : (int)value;
    return !*end;
}

static struct device *made(const struct device_maker *m, int number, struct err *e)
{
    char name[sizeof((struct device *)0)->name];
    snprintf(name, sizeof name, m->numbered ? "%s:%d" : "%s", m->name, number);
    int old = index_of(name);
    if (old >= 0) return known[old].device;
    struct device *d = mem_zero(1, sizeof *d, "a device", e);
    if (!d) return NULL;
    snprintf(d->name, sizeof d->name, "%s", name);
    d->kind = m->kind;
    if (m->make(d, number, e) && remember(d, true)) return d;
    fail(e, E_LIMIT, "%s: %d devices are open already", name, nknown);
    mem_free(d);
    return NULL;
}

/* "cpu, emu, cuda:0 to cuda:3" */
static const char *list_of_devices(char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < COUNT(makers) && at < size; i++) {
        int n = makers[i]->count(NULL);
        const char *comma = at ? ", " : "", *name = makers[i]->name;
        if (n > 0 && !makers[i]->numbered) at += (size_t)snprintf(out + at, size - at, "%s%s", comma, name);
        if (n > 0 && makers[i]->numbered) at += (size_t)snprintf(out + at, size - at, "%s%s:0", comma, name);
        if (n > 1 && at < size) at += (size_t)snprintf(out + at, size - at, " to %s:%d", name, n - 1);
    }
    return out;
}

static struct device *refuse(const char *name, struct err *e)
{
    char shown[64], list[128];
    fail(e, E_DEVICE, "no device is called '%s'; this machine has %s",
         print_safe(name, strlen(name), 32, shown, sizeof shown), list_of_devices(list, sizeof list));
    return NULL;
}

/* A list of one member stands for that member. */
static struct device *alone(struct device *d, struct err *e)
{
    char name[sizeof d->name];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(d->member[0]->name, "["), d->member[0]->name);
    d->ops->close(d);
    mem_free(d);
    return device_open(name, e);
}

static struct device *open_made(const struct device_maker *m, const char *name, int number, struct err *e)
{
    int count = m->count(e);
    if (!count) return NULL;
    if (number >= count) return refuse(name, e);
    struct device *d = made(m, number, e);
    return d && m->start(d, e) ? d : NULL;
}

/* A device with members, whose name may list them in another way than the name that was typed. */
static struct device *open_members(const char *name, struct err *e)
{
    int old = index_of(name);
    if (old >= 0) return known[old].device;
    struct device *d = multi_make(name, e);
    if (!d) return NULL;
    if (d->members == 1) return alone(d, e);
    old = index_of(d->name);
    if (old < 0 && remember(d, true)) return d;
    if (old < 0) fail(e, E_LIMIT, "%s: %d devices are open already", name, nknown);
    d->ops->close(d);
    mem_free(d);
    return old < 0 ? NULL : known[old].device;
}

static struct device *open_named(const char *name, struct err *e)
{
    int old = index_of(name), number;
    if (old >= 0 && !known[old].owned) return known[old].device;
    if (multi_is_name(name)) return open_members(name, e);
    for (int i = 0; i < COUNT(makers); i++)
        if (named(makers[i], name, &number)) return open_made(makers[i], name, number, e);
    return refuse(name, e);
}

struct device *device_open(const char *name, struct err *e)
{
    pthread_mutex_lock(&known_lock);
    struct device *d = open_named(name, e);
    pthread_mutex_unlock(&known_lock);
    return d;
}

bool device_is_name(const char *text)
{
    for (int i = 0; i < COUNT(makers); i++) {
        size_t n = strlen(makers[i]->name);
        if (strncmp(text, makers[i]->name, n)) continue;
        if (text[n] == '+' || text[n] == '*' || !text[n] || (makers[i]->numbered && text[n] == ':')) return true;
    }
    pthread_mutex_lock(&known_lock);
    bool is_known = index_of(text) >= 0;
    pthread_mutex_unlock(&known_lock);
    return is_known;
}

const struct device *device_with_links(bool apart)
{
    for (int i = 0; i < nknown; i++)
        if (known[i].device->link.measured && !(apart && known[i].device->link.one_gpu)) return known[i].device;
    return NULL;
}

struct device *device_default(void)
{
    const struct device_maker *m = maker_cuda.likely() ? &maker_cuda : &maker_cpu;
    pthread_mutex_lock(&known_lock);
    struct device *d = made(m, 0, NULL);
    pthread_mutex_unlock(&known_lock);
    return d;
}

struct copied copied_since(const struct copied *total, const struct copied *before)
{
    return (struct copied){total->bytes - before->bytes, total->us - before->us};
}

double copied_gbs(const struct copied *c)
{
    return c->bytes > 0 ? (double)c->bytes / c->us / 1000 : NAN;
}

int device_count(enum device_kind kind)
{
    for (int i = 0; i < COUNT(makers); i++)
        if (makers[i]->kind == kind) return makers[i]->count(NULL);
    return 0;
}

/* ---- sums of thread blocks ---- */

bool device_sums_grow(struct device *d, int64_t n, struct err *e)
{
    struct block_sums *sums = &d->sums, more = {.room = n, .users = sums->users};
    if (n <= sums->room) return true;
    more.host = d->ops->share(d, n * (int64_t)sizeof *more.host, "the sums of thread blocks", &more.on_device, e);
    if (!more.host) return false;
    if (sums->host) d->ops->unshare(d, sums->host);
    *sums = more;
    return true;
}

bool device_sums_take(struct device *d, int64_t n, struct err *e)
{
    if (!device_sums_grow(d, n, e)) return false;
    d->sums.users++;
    return true;
}

void device_sums_give(struct device *d)
{
    if (--d->sums.users > 0) return;
    d->ops->unshare(d, d->sums.host);
    d->sums = (struct block_sums){0};
}

void device_was_reset(const struct device *d)
{
    for (int i = 0; i < nknown; i++) {
        struct device *of = known[i].device;
        if (of == d || !device_has(of, d)) continue;
        of->lost = true;
        multi_member_was_reset(of, d);
    }
}

void devices_close(void)
{
    while (nknown > 0) {
        struct device *d = known[--nknown].device;
        d->ops->close(d);
        if (known[nknown].owned) mem_free(d);
    }
}
