/* A stored matrix of the session: frees it, and gets the arrays that a device packed when the host needs them. */
#include "product.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "machine/packer.h"
#include "matrix.h"
#include "stale.h"

#include <string.h>

struct product *product_keep(struct matrix *m, struct product *p)
{
    SCREEN_EDIT;
    p->next = m->products;
    return m->products = p;
}

bool product_is_complete(const struct product *p)
{
    for (int k = 0; !p->S.made && k < p->S.narrays; k++)
        if (!p->S.a[k].data) return false;
    return true;
}

/* Pack p again by the plan that it was packed by, and move the arrays that `whole` lacks to it. Packing gives the same
   bits on the host as on a device. */
static bool pack_again(const struct product *p, struct stored *whole, struct err *e)
{
    struct stored again;
    struct plan plan = plan_of(&p->S);
    for (int k = 0; k < plan.shape.narrays; k++) plan.shape.a[k].data = NULL;
    if (!format_pack_plan(p->csr, &plan, true, &again, e)) return false;
    for (int k = 0; k < again.narrays; k++) {
        if (whole->a[k].data) continue;
        whole->a[k].data = again.a[k].data;
        again.a[k].data = NULL;
    }
    stored_free(&again);
    return true;
}

bool product_complete(struct product *p, struct err *e)
{
    if (product_is_complete(p)) return true;
    struct stored whole = p->S;
    bool ok = p->nmats ? mat_get(&p->mat[0], &whole, e) : pack_again(p, &whole, e);
    SCREEN_EDIT;
    p->S = whole; /* with the arrays that it got, also after a failure */
    return ok;
}

void product_free_mat(struct product *p, int i)
{
    if (p->lender) memset(p->mat[i].ptr, 0, sizeof p->mat[i].ptr);
    mat_free(&p->mat[i]);
}

void product_free(struct product *p)
{
    stale_all();
    for (int i = 0; i < p->nmats; i++) product_free_mat(p, i);
    if (p->lender)
        p->lender->borrower = NULL;
    else
        stored_free(&p->S);
    mem_free(p);
}
