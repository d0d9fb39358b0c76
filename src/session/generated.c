/* Generates matrices in parts. */
#include "generated.h"
#include "base/err.h"
#include "base/suggest.h"
#include "formats/format.h"
#include "in_parts.h"
#include "machine/device.h"
#include "matrix.h"
#include "matrix/gen.h"
#include "product.h"
#include "session.h"

static bool can_be_parted(const struct generator *g, const struct device *d, struct err *e)
{
    struct message list = {0};
    for (int i = 0; generators[i]; i++)
        if (generators[i]->rows) message_list(&list, generators[i]->name);
    if (!g->rows)
        return fail(e, E_UNSUPPORTED, "%s makes whole matrices only; these generate in parts: %s", g->name, list.text);
    return d->members || fail(e, E_UNSUPPORTED,
                              "%s is one device; a matrix is generated in parts on several, such as cuda:0+1 or emu*2; "
                              "leave out `on` to generate it whole",
                              d->name);
}

bool session_add_in_parts(struct session *s, const char *name, const struct generator *g, const int64_t *param,
                          uint64_t seed, const struct load_info *info, struct device *d, struct err *e)
{
    struct matrix *before = s->current;
    struct row_source *rows = can_be_parted(g, d, e) ? g->rows(param, seed, e) : NULL;
    if (!rows) return false;
    struct csr A = csr_of_source(rows);
    if (!session_add(s, name, &A, info, e)) return csr_free(&A), false;
    struct matrix *m = s->current;
    m->parts_on = d;
    struct product *p = session_product(s, form_of(m, format_native(&m->csr), NULL, P_F64), e);
    if (p && session_mat(s, p, d, e)) return true;
    session_drop(s, m);
    session_use(s, before);
    return false;
}
