/* The device on which a command works: the named one, the chosen one or the default, and what is done if it is lost. */
#include "base/err.h"
#include "base/suggest.h"
#include "command.h"
#include "holding.h"
#include "in_parts.h"
#include "machine/device.h"
#include "machine/device_sorts.h"
#include "machine/member_rows.h"
#include "matrix.h"
#include "product.h"
#include "session.h"

#include <string.h>

/* The chosen device, or the default device. If a default GPU does not start, the host is used instead. */
static struct device *open_default(struct session *s, struct err *e)
{
    struct err why = {0};
    struct device *d = s->dev ? s->dev : device_default();
    if (!d) {
        fail(e, E_MEMORY, "out of memory: no device can be opened");
        return NULL;
    }
    struct device *opened = device_open(d->name, s->dev ? e : &why);
    if (opened || s->dev) return opened;
    out_note(s->out, "%s cannot be used (%s); using cpu", d->name, why.text);
    return s->dev = device_open("cpu", e);
}

static void several_refused(const struct command *c, const struct device *d, struct err *e)
{
    struct message t = {0};
    for (int i = 0; commands[i]; i++)
        if (commands[i]->several && strstr(commands[i]->grammar, "[on DEVICE]")) message_list(&t, commands[i]->name);
    const char *one = d->member[0]->name;
    fail(e, E_UNSUPPORTED,
         "`%s` runs on one device, but %s has %d members; choose one, as by `device %.*s`. These commands run on "
         "several: %s",
         c->name, d->name, d->members, (int)strcspn(one, "["), one, t.text);
}

/* Commands that work on ranks take this name before they ask for a device. */
static struct device *refuse_ranks(const struct session *s, struct err *e)
{
    fail(e, E_UNSUPPORTED,
         "%s does not run on ranks; `spmv on ranks` and `solve on ranks` do, and `ranks parts` shows "
         "the partition",
         s->command ? s->command->name : "this");
    return NULL;
}

struct device *session_device(struct session *s, const char *name, struct err *e)
{
    if (name && !strcmp(name, device_ranks)) return refuse_ranks(s, e);
    struct device *d = name ? device_open(name, e) : open_default(s, e);
    if (!d) return NULL;
    if (d->lost) session_device_lost(s, d);
    if (d->lost && !name) d = open_default(s, e);
    if (d && d->lost) {
        fail(e, E_DEVICE, "%s is lost, and its driver refuses a reset; use `device cpu`, or restart warpspy", d->name);
        return NULL;
    }
    if (d && d->members && s->command && !s->command->several) return several_refused(s->command, d, e), NULL;
    s->used = d;
    return d;
}

struct device *session_device_for(struct session *s, const struct matrix *m, const char *name, struct err *e)
{
    struct device *d = session_device(s, name || !matrix_in_parts(m) ? name : m->parts_on->name, e);
    if (!d || d->members || !matrix_in_parts(m)) return d;
    fail(e, E_UNSUPPORTED, "%s was generated in parts, and %s has no members to share them; leave out `on`, or name %s",
         m->name, d->name, m->parts_on->name);
    return NULL;
}

void session_device_lost(struct session *s, struct device *d)
{
    struct err why = {0};
    holdings_drop_on(s, d);
    device_copies_drop(s, d);
    for (int i = 0; i < d->members; i++)
        if (d->member[i]->lost) device_copies_drop(s, d->member[i]);
    d->lost = !d->ops->reset || !d->ops->reset(d, &why);
    if (!d->members) device_was_reset(d);
    if (!d->lost) {
        out_note(s->out, "%s was lost and has been reset; matrices are kept, and copied to it again when needed",
                 d->name);
        return;
    }
    if (s->dev == d || !s->dev) s->dev = device_open("cpu", NULL);
    out_note(s->out, "%s was lost and cannot be reset (%s); matrices are kept, and cpu and emu still work", d->name,
             why.text);
}
