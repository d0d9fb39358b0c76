/* Report card: is a matrix singular, and what proves it? A factorisation in fp64 proves nothing: its pivots may be 0,
   or not be 0, because of rounding errors. */
#include "base/mem.h"
#include "card.h"
#include "card_exact.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

/* The longest search for a proof; and the longest one if A is far from singular, so that nobody waits for it. */
static const double LONG_US = 2e6, SHORT_US = 5e4;
/* Of a column ordering, on one core. */
static const double ORDERING_US_PER_ENTRY = 0.5;
/* The least condition number at which a matrix is near a singular one. */
static const double NEAR = 1e12;

static void prove(struct card *c, bool singular, const char *proof)
{
    if (c->facts->proof) return;
    c->facts->singular = singular;
    c->facts->regular = !singular;
    c->facts->proof = proof;
}

void card_prove_singular(struct card *c, const char *proof)
{
    prove(c, true, proof);
}

void card_prove_regular(struct card *c, const char *proof)
{
    prove(c, false, proof);
}

bool card_dominance(struct card *c, struct err *e)
{
    c->facts->has_dominance = c->facts->has_dominance || dominant_of(c->A, &c->facts->dominance, e);
    return c->facts->has_dominance;
}

/* Do all columns sum to 0? The rows of a symmetric matrix have been tried. */
static bool columns_sum_to_0(struct card *c, bool *all, struct err *e)
{
    struct csr T = {0};
    *all = false;
    if (c->has_symmetry && c->symmetry.values) return true;
    bool ok = csr_transpose(&T, c->A, e) && rows_sum_to_0(&T, all, e);
    csr_free(&T);
    return ok;
}

static bool by_sums(struct card *c, struct err *e)
{
    bool all;
    if (!rows_sum_to_0(c->A, &all, e)) return false;
    if (all) card_prove_singular(c, "row sums");
    if (all) return true;
    if (!columns_sum_to_0(c, &all, e)) return false;
    if (all) card_prove_singular(c, "column sums");
    return true;
}

/* Complex matrices are left out: the square root of -1 is not a number modulo every prime. */
static bool by_determinant(struct card *c, double limit_us, struct err *e)
{
    enum card_exact found;
    if (c->A->imag || ORDERING_US_PER_ENTRY * (double)c->A->nnz > limit_us) return true;
    if (!card_exact(c, limit_us, &found, e)) return false;
    if (found == CARD_EXACT_SINGULAR) card_prove_singular(c, "determinant");
    if (found == CARD_EXACT_REGULAR) card_prove_regular(c, "determinant");
    return true;
}

bool card_regularity(struct card *c, bool near, struct err *e)
{
    double limit_us = fmin(near ? LONG_US : SHORT_US, fmin(c->left_us, card_time_left(c)));
    if (c->facts->proof || c->looked_long || (c->looked_for_proof && !near)) return true;
    c->looked_for_proof = true;
    c->looked_long = near;
    if (c->facts->positive_discs || c->facts->negative_discs) card_prove_regular(c, "gershgorin");
    if (!c->facts->proof && !card_dominance(c, e)) return false;
    if (c->facts->dominance == DOMINANT_CHAINED) card_prove_regular(c, "dominance");
    if (!c->facts->proof && near && !by_sums(c, e)) return false;
    return c->facts->proof || by_determinant(c, limit_us, e);
}

static const struct {
    const char *proof, *text;
} proofs[] = {
    {"empty row", "yes: a row has no entry"},
    {"structural rank", "yes, for any values: structural rank"},
    {"row sums", "yes: A times the vector of ones is exactly 0"},
    {"column sums", "yes: each column sums to exactly 0"},
    {"definite", "no: A is definite"},
    {"gershgorin", "no: all Gershgorin discs lie on one side of 0"},
    {"dominance", "no: dominant rows, chained to strict ones"},
    {"determinant", NULL},
};

static const char *text_of(const struct card *c)
{
    if (!c->facts->proof) return "not known: no proof was found within the time limit";
    for (int i = 0; i < (int)(sizeof proofs / sizeof *proofs); i++)
        if (proofs[i].text && !strcmp(c->facts->proof, proofs[i].proof)) return proofs[i].text;
    return c->facts->singular ? "yes: the determinant is exactly 0"
                              : "no: the determinant is not 0, in exact arithmetic";
}

/* Do other lines say it, or does nobody wonder? */
static bool is_quiet(const struct card *c)
{
    if (c->facts->singular) return true; /* the verdict does, under `problems` */
    return !c->facts->regular || c->facts->equilibrated < NEAR || c->facts->definite == DEFINITE_POSITIVE ||
           c->facts->definite == DEFINITE_NEGATIVE;
}

/* Is A singular up to rounding errors, or does the user ask for this line alone? */
static bool is_near(const struct card *c)
{
    return c->facts->equilibrated >= NEAR || card_row(c, "condition")->state == CARD_LEFT;
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    if (!c->pattern && !card_regularity(c, is_near(c), e)) return false;
    if (c->facts->proof) card_set(r, "singular", c->facts->singular);
    if (c->facts->proof) card_word(r, "singular_proof", c->facts->proof);
    r->quiet = is_quiet(c);
    card_say(r, "%s", text_of(c));
    return true;
}

const struct card_line card_line_singular = {
    .name = "singular",
    .about =
        "is the matrix singular? Proved by its structure, dominant rows, definiteness, rows or columns that sum to "
        "exactly 0, or its determinant modulo primes near 2^62, without rounding errors",
    .keys = {{"singular", CARD_BOOL}, {"singular_proof", CARD_TEXT}},
    .square = true,
    .finite = true,
    .run = run,
};
