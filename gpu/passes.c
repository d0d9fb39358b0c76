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

#define PASSES(id)                             \
    static const struct passes passes_##id = { \
        #id, {[DEV_CPU] = &cpu_vec_passes_##id, [DEV_EMU] = &emu_vec_passes_##id, [DEV_CUDA] = ON_CUDA(id)}};
#include "machine/passes.def"
#undef PASSES

#define PASSES(id) &passes_##id,
const struct passes *const passes[] = {
#include "machine/passes.def"
    NULL};
#undef PASSES

/* Without a call for most names: an iteration of a small system on the host takes less than a microsecond. */
static inline bool same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

const struct pass *pass_find(const struct passes *p, const struct device *d, enum type type, bool host_sums,
                             const char *name)
{
    const struct pass_tables *t = p->on[d->kind];
    const struct pass *table = t ? (host_sums ? t->sums_on_host : t->sums_on_device)[type] : NULL;
    for (; table && table->name; table++)
        if (same(table->name, name)) return table;
    return NULL;
}

/* Members send each other the sums that the host adds on other devices. */
static const struct pass *found(const struct passes *p, const char *name, const struct pass_call *c)
{
    if (c->d->members) return pass_find(p, c->d->member[0], c->type, true, name);
    return pass_find(p, c->d, c->type, c->host_sums, name);
}

bool pass_run(const struct passes *const *among, const char *of, const char *name, const struct pass_call *c,
              struct err *e)
{
    while (*among && !same((*among)->name, of)) among++;
    const struct pass *pass = *among ? found(*among, name, c) : NULL;
    if (!pass) return fail(e, E_INTERNAL, "%s has no pass %s of %s in %s", c->d->name, name, of, type_name(c->type));
    if (pass->vectors != c->vectors || pass->numbers != c->numbers)
        return fail(e, E_INTERNAL, "the pass %s of %s takes %d vectors and %d numbers, not %d and %d", name, of,
                    pass->vectors, pass->numbers, c->vectors, c->numbers);
    if (c->d->members)
        multi_pass(*among, name, c);
    else
        pass->run(c);
    return true;
}
