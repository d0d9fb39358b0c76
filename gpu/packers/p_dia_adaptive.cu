/* CSR to DIA-Adaptive on a device: plans DIA, and if DIA has too much padding, BRCSD-II and BRCSD-I; packs the format
   that is chosen. */
#include "formats/fmt_dia_adaptive.h"
#include "pack.h"

extern "C" const struct packer PACKER_SYMBOL(dia), PACKER_SYMBOL(brcsd1), PACKER_SYMBOL(brcsd2);

namespace KERNEL_SPACE
{

static const struct packer *packer_as(int64_t as)
{
    return as == ADAPTIVE_DIA      ? &PACKER_SYMBOL(dia)
           : as == ADAPTIVE_BRCSD1 ? &PACKER_SYMBOL(brcsd1)
                                   : &PACKER_SYMBOL(brcsd2);
}

static bool plan_as(struct packing *p, int64_t as, struct err *e)
{
    struct stored own = p->S;
    p->S = adaptive_as(&own, as);
    p->S.narrays = 0;
    bool ok = packer_as(as)->plan(p, e);
    own.narrays = p->S.narrays;
    for (int k = 0; k < own.narrays; k++) own.a[k] = p->S.a[k];
    p->S = own;
    p->S.param[ADAPTIVE_AS] = as;
    return ok;
}

/* The work areas hold the data of the format planned last, which is the format that is packed. */
static bool plan(struct packing *p, struct err *e)
{
    if (p->S.param[ADAPTIVE_AS]) return plan_as(p, p->S.param[ADAPTIVE_AS], e);
    if (!plan_as(p, ADAPTIVE_DIA, e)) return false;
    if (adaptive_takes_dia(&p->S)) return true;
    if (!plan_as(p, ADAPTIVE_BRCSD2, e)) return false;
    struct stored brcsd2 = p->S;
    if (!plan_as(p, ADAPTIVE_BRCSD1, e)) return false;
    return adaptive_takes_brcsd1(&p->S, &brcsd2) || plan_as(p, ADAPTIVE_BRCSD2, e);
}

static bool pack(struct packing *p, struct err *e)
{
    struct stored own = p->S;
    const struct packer *as = packer_as(own.param[ADAPTIVE_AS]);
    p->S = adaptive_as(&own, own.param[ADAPTIVE_AS]);
    bool ok = packer_fill(as, p, e);
    p->S = own;
    return ok;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(dia_adaptive) = {
    .format = &format_dia_adaptive,
    .about = "plans dia, brcsd2 and brcsd1 in turn and packs the one that is chosen",
    .plan = KERNEL_SPACE::plan,
    .pack = {KERNEL_SPACE::pack, KERNEL_SPACE::pack, KERNEL_SPACE::pack, KERNEL_SPACE::pack},
};
