/* DIA-Adaptive chooses DIA if DIA has little padding; otherwise BRCSD-I if its cuts alone
   remove the padding; otherwise BRCSD-II. The matrix has the arrays of the chosen format. The parameter `as` records
   the choice. */
#include "fmt_dia_adaptive.h"
#include "matrix/csr.h"
#include "fmt_brcsd1.h"
#include "fmt_brcsd2.h"
#include "fmt_dia.h"
#include "format.h"

static const struct format *const choice[] = {NULL, &format_dia, &format_brcsd1, &format_brcsd2};

const struct format *adaptive_choice(const struct stored *S)
{
    return choice[S->param[ADAPTIVE_AS]];
}

struct stored adaptive_as(const struct stored *S, int64_t as)
{
    struct stored I = *S;
    I.format = choice[as];
    I.param[0] = S->param[as == ADAPTIVE_BRCSD1 ? ADAPTIVE_MIN : ADAPTIVE_NROWS];
    return I;
}

static bool plan_as(const struct csr *A, struct stored *S, int64_t as, struct err *e)
{
    struct stored I = adaptive_as(S, as);
    I.narrays = 0;
    if (!I.format->plan(A, &I, e)) return false;
    S->param[ADAPTIVE_AS] = as;
    S->narrays = I.narrays;
    for (int k = 0; k < I.narrays; k++) S->a[k] = I.a[k];
    return true;
}

bool adaptive_pads_less(const struct stored *S, int64_t percent)
{
    return 100.0 * (double)(stored_slots(S) - S->nnz) < (double)percent * (double)S->nnz;
}

/* We do not know by which rule Gao et al. choose a format. Our rule uses the padding that each format would have. */
static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    if (S->param[ADAPTIVE_AS]) return plan_as(A, S, S->param[ADAPTIVE_AS], e);
    if (!plan_as(A, S, ADAPTIVE_DIA, e)) return false;
    if (adaptive_pads_less(S, S->param[ADAPTIVE_DIA_PERCENT])) return true;
    if (!plan_as(A, S, ADAPTIVE_BRCSD1, e)) return false;
    if (adaptive_pads_less(S, S->param[ADAPTIVE_BRCSD1_PERCENT])) return true;
    return plan_as(A, S, ADAPTIVE_BRCSD2, e);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct stored I = adaptive_as(S, S->param[ADAPTIVE_AS]);
    return I.format->pack(A, &I, e);
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    return adaptive_choice(S)->where(S, k, i);
}

static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    return adaptive_choice(S)->piece(S, k, operands);
}

const struct format format_dia_adaptive = {
    .name = "dia-adaptive",
    .about = "DIA, BRCSD-I or BRCSD-II, chosen by the padding that each would have",
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .params =
        {{"nrows", 32, 1, 1024, "rows per block of BRCSD-II"},
         {"min", 64, 1, INT32_MAX, "smallest number of rows in a block of BRCSD-I"},
         {"dia", 10, 0, INT32_MAX, "DIA is chosen if its padding is below this % of the entries"},
         {"brcsd1", 25, 0, INT32_MAX,
          "if DIA is not chosen: BRCSD-I is chosen if its padding is below this % of the entries, otherwise BRCSD-II"},
         {"as", 0, 0, 3, "1 = DIA, 2 = BRCSD-I, 3 = BRCSD-II; 0 = chosen from the matrix"}},
    .zeros_fade = true,
    .value = ADAPTIVE_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
