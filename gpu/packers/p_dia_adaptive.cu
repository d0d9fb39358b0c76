/* CSR to DIA-Adaptive on a device: plans the candidate formats in turn until one of them has little padding, then packs
   that format. */
#include "pack.h"
#include "formats/fmt_dia_adaptive.h"

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

/* The format planned last is the format that is packed, so the work areas hold its data. */
static bool plan(struct packing *p, struct err *e)
{
    const int64_t *param = p->S.param;
    if (param[ADAPTIVE_AS]) return plan_as(p, param[ADAPTIVE_AS], e);
    if (!plan_as(p, ADAPTIVE_DIA, e)) return false;
    if (adaptive_pads_less(&p->S, param[ADAPTIVE_DIA_PERCENT])) return true;
    if (!plan_as(p, ADAPTIVE_BRCSD1, e)) return false;
    return adaptive_pads_less(&p->S, param[ADAPTIVE_BRCSD1_PERCENT]) || plan_as(p, ADAPTIVE_BRCSD2, e);
}

static bool pack(struct packing *p, struct err *e)
{
    struct stored own = p->S;
    const struct packer *as = packer_as(own.param[ADAPTIVE_AS]);
    p->S = adaptive_as(&own, own.param[ADAPTIVE_AS]);
    bool ok = own.real == T_F32 ? as->f32(p, e) : as->f64(p, e);
    p->S = own;
    return ok;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(dia_adaptive) = {
    .format = &format_dia_adaptive,
    .about = "plans dia, brcsd1 and brcsd2 in turn and packs the first with little padding",
    .plan = KERNEL_SPACE::plan,
    .f32 = KERNEL_SPACE::pack,
    .f64 = KERNEL_SPACE::pack,
};
