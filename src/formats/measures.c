/* Padding and load balance of a matrix stored by diagonals. */
#include "measures.h"
#include "base/err.h"
#include "format.h"

bool format_measures(const struct stored *S, struct measures *out, struct err *e)
{
    int64_t n = 0, operands;
    double squares = 0;
    *out = (struct measures){0};
    if (!S->format->piece)
        return fail(e, E_UNSUPPORTED,
                    "%s stores no diagonals, so its load balance cannot be measured; use drm, hdia or dia",
                    S->format->name);
    for (; S->format->piece(S, n, &operands); n++) out->operands += operands;
    double mean = n ? (double)out->operands / (double)n : 0;
    for (int64_t k = 0; k < n && S->format->piece(S, k, &operands); k++)
        squares += ((double)operands - mean) * ((double)operands - mean);
    out->pieces = n;
    out->padding = out->operands - S->nnz;
    out->variance = n ? squares / (double)n : 0;
    return true;
}
