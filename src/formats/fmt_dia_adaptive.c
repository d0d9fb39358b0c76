/* DIA-Adaptive stores the matrix as DIA, BRCSD-I or BRCSD-II. The matrix has the arrays of the chosen format. The
   parameter `as` records the choice.

   Wang et al. 2024 say for which structures each format was made: BRCSD-I for diagonals far from the main diagonal,
   BRCSD-II for single entries and for diagonals with long gaps. They do not say by which rule Gao et al. choose. Our
   rule compares the padding of the formats:
   - DIA if its padding is below `dia` % of the entries.
   - Otherwise BRCSD-I, unless it has more than `brcsd1` % of the padding of BRCSD-II. An entry that is alone on its
     diagonal costs 63 slots of padding in a piece of 64 rows and 31 in a block of 32, so a matrix of such entries comes
     to 203 %; long runs of entries come to about 100 %. With the default of 190 %, add32 (184 %) and rw5151 (185 %)
     are stored as BRCSD-I, as in the paper. */
#include "fmt_dia_adaptive.h"
#include "fmt_brcsd1.h"
#include "fmt_brcsd2.h"
#include "fmt_dia.h"
#include "format.h"
#include "matrix/csr.h"

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
    if (as == ADAPTIVE_BRCSD1) I.param[BRCSD1_PIECE] = BRCSD1_ROWS;
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

static double padding_of(const struct stored *S)
{
    return (double)(stored_slots(S) - S->nnz);
}

bool adaptive_takes_dia(const struct stored *S)
{
    return 100 * padding_of(S) < (double)S->param[ADAPTIVE_DIA_PERCENT] * (double)S->nnz;
}

bool adaptive_takes_brcsd1(const struct stored *S, const struct stored *brcsd2)
{
    return 100 * padding_of(S) <= (double)S->param[ADAPTIVE_BRCSD1_PERCENT] * padding_of(brcsd2);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct stored brcsd2 = *S;
    if (S->param[ADAPTIVE_AS]) return plan_as(A, S, S->param[ADAPTIVE_AS], e);
    if (!plan_as(A, S, ADAPTIVE_DIA, e)) return false;
    if (adaptive_takes_dia(S)) return true;
    if (!plan_as(A, &brcsd2, ADAPTIVE_BRCSD2, e) || !plan_as(A, S, ADAPTIVE_BRCSD1, e)) return false;
    if (!adaptive_takes_brcsd1(S, &brcsd2)) *S = brcsd2;
    return true;
}

static bool candidates(const struct csr *A, const struct stored *S, struct candidate *out, int *n, struct err *e)
{
    for (*n = 0; *n + 1 < (int)(sizeof choice / sizeof *choice); ++*n) {
        struct stored one = *S;
        if (!plan_as(A, &one, *n + 1, e)) return false;
        out[*n] = (struct candidate){choice[*n + 1], stored_slots(&one) - S->nnz, *n + 1 == S->param[ADAPTIVE_AS]};
    }
    return true;
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
    .source = "Gao et al.; DRM, sec. 3.3; thresholds [ours]",
    .params = {{"nrows", 32, 1, 1024, "rows per block of BRCSD-II"},
               {"min", 64, 1, INT32_MAX, "smallest number of rows between two cuts of BRCSD-I"},
               {"dia", 10, 0, INT32_MAX, "DIA is chosen if its padding is below this % of the entries"},
               {"brcsd1", 190, 0, INT32_MAX,
                "if DIA is not chosen: BRCSD-I is chosen unless it has more than this % of the padding of BRCSD-II"},
               {"as", 0, 0, 3, "1 = DIA, 2 = BRCSD-I, 3 = BRCSD-II; 0 = chosen from the matrix"}},
    .zeros_fade = true,
    .value = ADAPTIVE_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
    .candidates = candidates,
};
