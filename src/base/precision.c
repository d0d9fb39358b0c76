/* The table of precisions. */
#include "precision.h"
#include "half.h"
#include "registry.h"

#include <float.h>
#include <stddef.h>

const struct precision_entry precisions[PRECISIONS] = {
    [P_F32] = {"fp32", "values, x, y and sums in fp32", "f32", P_F32, T_F32, T_F32, T_F32, false, false},
    [P_F64] = {"fp64", "values, x, y and sums in fp64", "f64", P_F64, T_F64, T_F64, T_F64, false, false},
    [P_C32] = {"complex fp32", NULL, NULL, P_C32, T_C32, T_C32, T_F32, true, false},
    [P_C64] = {"complex fp64", NULL, NULL, P_C64, T_C64, T_C64, T_F64, true, false},
    [P_F32_F64] = {"fp32-fp64", "values stored in fp32; x, y and sums in fp64", "f32-f64", P_F32_F64, T_F32, T_F64,
                   T_F64, false, true},
    [P_F16_F32] = {"fp16-fp32", "values stored in fp16 (11 bits, at most 65504); x, y and sums in fp32", "f16-f32",
                   P_F16_F32, T_F16, T_F32, T_F32, false, true},
    [P_BF16_F32] = {"bf16-fp32", "values stored in bf16 (8 bits, the range of fp32); x, y and sums in fp32", "bf16-f32",
                    P_BF16_F32, T_BF16, T_F32, T_F32, false, true},
    [P_F16_F64] = {"fp16-fp64", "values stored in fp16 (11 bits, at most 65504); x, y and sums in fp64", "f16-f64",
                   P_F16_F64, T_F16, T_F64, T_F64, false, true},
    [P_BF16_F64] = {"bf16-fp64", "values stored in bf16 (8 bits, the range of fp32); x, y and sums in fp64", "bf16-f64",
                    P_BF16_F64, T_BF16, T_F64, T_F64, false, true},
};

const struct precision_entry *const named_precisions[] = {
    &precisions[P_F64],      &precisions[P_F32],     &precisions[P_F32_F64],  &precisions[P_F16_F32],
    &precisions[P_BF16_F32], &precisions[P_F16_F64], &precisions[P_BF16_F64], NULL,
};

const struct registry precision_registry = {named_precisions, 0, offsetof(struct precision_entry, aliases)};

const struct precision_entry *precision_find(const char *name)
{
    return registry_find(&precision_registry, name);
}

enum precision precision_of_values(enum precision p, bool complex_values)
{
    if (precisions[p].narrow) return p;
    bool single = precisions[p].part == T_F32;
    return complex_values ? single ? P_C32 : P_C64 : single ? P_F32 : P_F64;
}

enum precision precision_of_type(enum type t)
{
    _Static_assert((int)P_F32 == (int)T_F32 && (int)P_C64 == (int)T_C64, "a type is the index of its precision");
    return (enum precision)t;
}

double type_most(enum type t)
{
    return t == T_F16 ? 65504 : t == T_BF16 ? 0x1.fep127 : t == T_F32 ? (double)FLT_MAX : DBL_MAX;
}

double type_rounded(enum type t, double v)
{
    switch (t) {
    case T_F16:
        return (double)fp16_value(fp16_of(v));
    case T_BF16:
        return (double)bf16_value(bf16_of(v));
    case T_F32:
        return (double)(float)v;
    default:
        return v;
    }
}
