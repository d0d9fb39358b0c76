/* The tables of the solvers' passes, chosen by the kind of device, the type of an element, and who adds the sums. */
#include "machine/passes.h"
#include "base/err.h"
#include "multi/multi.h"

#include <string.h>

#ifdef HAVE_CUDA
#define ON_CUDA(id) &cuda_vec_passes_##id
#else
#define ON_CUDA(id) NULL
#endif

#define PASSES(id) extern const struct pass_tables cpu_vec_passes_##id, emu_vec_passes_##id, cuda_vec_passes_##id;
#include "machine/passes.def"
#undef PASSES

#define PASSES(id)                      \
    const struct passes passes_##id = { \
        #id, {[DEV_CPU] = &cpu_vec_passes_##id, [DEV_EMU] = &emu_vec_passes_##id, [DEV_CUDA] = ON_CUDA(id)}};
#include "machine/passes.def"
#undef PASSES

/* Names are compared by their addresses first: the linker merges equal strings. An iteration of a small system on the
   host takes less than a microsecond, in which a pass is found several times. */
static const struct pass *named(const struct pass *table, const char *name)
{
    for (const struct pass *p = table; p && p->name; p++)
        if (p->name == name) return p;
    for (const struct pass *p = table; p && p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

const struct pass *pass_find(const struct passes *p, const struct device *d, enum type type, enum pass_sums sums,
                             const char *name)
{
    const struct pass_tables *t = p->on[d->kind];
    return t ? named(t->by[sums][type], name) : NULL;
}

/* Members send each other the sums that the host adds on other devices. */
static const struct pass *found(const struct passes *p, const char *name, const struct pass_call *c)
{
    if (c->d->members) return pass_find(p, c->d->member[0], c->type, SUMS_BY_HOST, name);
    return pass_find(p, c->d, c->type, c->sums, name);
}

bool pass_run(const struct passes *p, const char *name, const struct pass_call *c, struct err *e)
{
    const struct pass *pass = found(p, name, c);
    if (!pass)
        return fail(e, E_INTERNAL, "%s has no pass %s of %s in %s", c->d->name, name, p->name, type_name(c->type));
    if (pass->vectors != c->vectors || pass->numbers != c->numbers)
        return fail(e, E_INTERNAL, "the pass %s of %s takes %d vectors and %d numbers, not %d and %d", name, p->name,
                    pass->vectors, pass->numbers, c->vectors, c->numbers);
    if (c->d->members)
        multi_pass(p, name, c);
    else
        pass->run(c);
    return true;
}
