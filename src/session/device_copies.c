/* Copies of stored matrices on devices: makes them, and frees those that no command uses when memory is needed. */
#include "device_copies.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "equilibrated.h"
#include "formats/format.h"
#include "holding.h"
#include "machine/device.h"
#include "machine/member_rows.h"
#include "matrix.h"
#include "product.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

/* Free mat i of p, which is one copy of the stored matrix on a device, and the mat of the borrower of p that uses its
   arrays. The last mat moves into the place of mat i, and the pointers to the moved mat are updated. */
static void remove_mat(struct session *s, struct product *p, int i)
{
    struct product *b = p->borrower;
    SCREEN_EDIT;
    for (int k = b ? b->nmats : 0; k-- > 0;)
        if (b->mat[k].dev == p->mat[i].dev) remove_mat(s, b, k);
    int last = p->nmats - 1;
    holdings_drop_using(s, &p->mat[i]);
    holdings_moved(s, &p->mat[last], &p->mat[i]);
    product_free_mat(p, i);
    p->mat[i] = p->mat[last];
    p->put_us[i] = p->put_us[last];
    p->nmats--;
}

static void drop_matrix_from(struct session *s, struct matrix *m, const struct device *d)
{
    if (m->transposed) drop_matrix_from(s, m->transposed, d);
    if (m->equilibrated) drop_matrix_from(s, m->equilibrated->m, d);
    if (m->reordered) drop_matrix_from(s, m->reordered->m, d);
    for (struct product *p = m->products; p; p = p->next)
        for (int i = p->nmats; i-- > 0;)
            if ((!d || device_has(p->mat[i].dev, d)) && !holdings_use(s, &p->mat[i])) remove_mat(s, p, i);
}

void device_copies_drop(struct session *s, const struct device *d)
{
    for (struct matrix *m = s->matrices; m; m = m->next) drop_matrix_from(s, m, d);
}

/* Make sure that S fits in the free memory of d. If S does not fit, free the mats on d that are not in use. */
static bool make_room(struct session *s, struct device *d, const struct stored *S, struct err *e)
{
    int64_t free_bytes = 0, total = 0, need = d->ops->plain ? stored_own_bytes(S) : stored_bytes(S);
    char a[32], b[32];
    if (!d->ops->memory(d, &free_bytes, &total, e)) return false;
    if (need <= free_bytes) return true;
    device_copies_drop(s, d);
    if (!d->ops->memory(d, &free_bytes, &total, e)) return false;
    if (need <= free_bytes) return true;
    char more[80] = "";
    if (d->kind == DEV_CUDA && free_bytes > 0) {
        long long members = (need + free_bytes - 1) / free_bytes * (d->members ? d->members : 1);
        snprintf(more, sizeof more, "; about %lld such GPUs together hold it (`help devices`)", members);
    }
    return fail(e, E_LIMIT, "%s needs %s on %s, which has %s free; try f32, another format or another device%s",
                S->format->name, show_bytes((double)need, a, sizeof a), d->name,
                show_bytes((double)free_bytes, b, sizeof b), more);
}

/* Make M, a copy of S on the device of `lent`, from the arrays of `lent`. */
static bool mat_lend(struct mat *M, const struct stored *S, const struct mat *lent, struct err *e)
{
    *M = (struct mat){.of = S, .dev = lent->dev};
    M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
    if (M->scratch) memcpy(M->ptr, lent->ptr, sizeof M->ptr);
    return M->scratch != NULL;
}

struct mat *session_mat(struct session *s, struct product *p, struct device *d, struct err *e)
{
    for (int i = 0; i < p->nmats; i++)
        if (p->mat[i].dev == d) return &p->mat[i];
    if (p->S.made && !d->members) {
        fail(e, E_UNSUPPORTED, "%s has no members to share a matrix that was generated in parts", d->name);
        return NULL;
    }
    /* The members of a device divide the rows of A, so their parts do not serve A^T. */
    bool lends = p->lender && !d->members;
    struct mat *lent = lends ? session_mat(s, p->lender, d, e) : NULL;
    if (lends ? !lent : !make_room(s, d, &p->S, e)) return NULL;
    if (!lends && !product_complete(p, e)) return NULL;
    if (p->nmats == COUNT(p->mat)) remove_mat(s, p, 0);
    struct mat *M = &p->mat[p->nmats];
    double start = now_us();
    bool ok = lent ? mat_lend(M, &p->S, lent, e) : mat_put(M, &p->S, d, e);
    p->put_us[p->nmats] = now_us() - start;
    if (!ok) return NULL;
    p->nmats++;
    return M;
}
