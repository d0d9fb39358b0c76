/* Stored matrices: compute their sizes, print their parameters, free them. */
#include "stored.h"
#include "base/mem.h"
#include "format.h"

#include <stdio.h>

bool stored_is_value(const struct stored *S, int k)
{
    if (S->format->value >= 0) return k == S->format->value;
    for (const int *v = S->format->values; *v >= 0; v++)
        if (*v == k) return true;
    return false;
}

void stored_value(const struct stored *S, int k, int64_t i, double *re, double *im)
{
    if (S->format->slot_value) return S->format->slot_value(S, k, i, re, im);
    *re = array_real(&S->a[k], i);
    *im = array_imag(&S->a[k], i);
}

int64_t stored_slots(const struct stored *S)
{
    int64_t slots = 0;
    for (int k = 0; k < S->narrays; k++)
        if (stored_is_value(S, k)) slots += S->a[k].n;
    return slots;
}

/* The sum saturates, because the estimate for an unsuitable format may overflow. */
static int64_t sum_bytes(const struct stored *S, bool lent_too)
{
    int64_t sum = 0;
    for (int k = 0; k < S->narrays; k++) {
        int64_t bytes;
        if (S->a[k].lent && !lent_too) continue;
        if (__builtin_mul_overflow(S->a[k].n, (int64_t)type_size(S->a[k].type), &bytes) ||
            __builtin_add_overflow(sum, bytes, &sum))
            return INT64_MAX;
    }
    return sum;
}

int64_t stored_bytes(const struct stored *S)
{
    return sum_bytes(S, true);
}

int64_t stored_own_bytes(const struct stored *S)
{
    return S->made ? 0 : sum_bytes(S, false);
}

void stored_free(struct stored *S)
{
    for (int k = 0; k < S->narrays; k++)
        if (!S->a[k].lent) mem_free(S->a[k].data);
    *S = (struct stored){0};
}

const char *stored_params(const struct stored *S, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; S->format->params[i].name && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s %lld", i ? ", " : "", S->format->params[i].name,
                              (long long)S->param[i]);
    return out;
}
