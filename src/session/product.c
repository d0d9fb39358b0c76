/* The arrays of a stored matrix that a device packed: the host gets the long ones only when it needs them. */
#include "product.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "machine/packer.h"

static bool is_complete(const struct stored *S)
{
    for (int k = 0; !S->made && k < S->narrays; k++)
        if (!S->a[k].data) return false;
    return true;
}

/* Packing gives the same bits on the host as on a device. */
static bool pack_again(struct product *p, struct err *e)
{
    struct stored again;
    if (!format_pack(p->csr, p->S.format, p->requested, p->S.real, true, &again, e)) return false;
    for (int k = 0; k < again.narrays; k++) {
        if (p->S.a[k].data) continue;
        p->S.a[k].data = again.a[k].data;
        again.a[k].data = NULL;
    }
    stored_free(&again);
    return true;
}

bool product_complete(struct product *p, struct err *e)
{
    if (is_complete(&p->S)) return true;
    bool gave = screen_lock_give();
    bool ok = p->nmats ? mat_get(&p->mat[0], &p->S, e) : pack_again(p, e);
    screen_lock_back(gave);
    return ok;
}
