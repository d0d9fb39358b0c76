/* The meaning of the colours of the picture: the share of nonzeros, the signs, the largest |a|, or the owners. */
#include "base/err.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "view_spy.h"
#include "view_state.h"

#include <stdio.h>
#include <string.h>

const char *const spy_by_names[SPY_BYS + 1] = {"count", "sign", "magnitude", "owner", NULL};

bool spy_by_find(const char *name, enum spy_by *out)
{
    for (int i = 0; i < SPY_BYS; i++)
        if (!strcmp(name, spy_by_names[i])) return *out = (enum spy_by)i, true;
    return false;
}

bool spy_by_fits(const struct matrix *m, enum spy_by by, struct err *e)
{
    if (by == SPY_OWNER && !m->parting) return fail(e, E_UNSUPPORTED, "%s", parting_missing);
    if (by != SPY_SIGN) return true;
    if (m->csr.imag) return fail(e, E_UNSUPPORTED, "complex values have no sign; try `spy by magnitude`");
    if (strcmp(m->info.field, "pattern") != 0) return true;
    return fail(e, E_UNSUPPORTED, "a pattern matrix has no values and no signs; try `spy by count`");
}

enum spy_by spy_by_of(const struct matrix *m, const struct spy_state *spy)
{
    return spy_by_fits(m, spy->by, NULL) ? spy->by : SPY_COUNT;
}

void spy_by_next(const struct matrix *m, struct view_state *st)
{
    struct spy_state *spy = st->own;
    struct err e = {0};
    spy->by = (spy_by_of(m, spy) + 1) % SPY_BYS;
    if (spy->by == SPY_OWNER && !m->parting) spy->by = SPY_COUNT;
    if (spy_by_fits(m, spy->by, &e)) return;
    snprintf(st->message, sizeof st->message, "%.110s", e.text);
    spy->by = (spy->by + 1) % SPY_BYS;
}

/* ---- sets of signs ---- */

/* How each set of signs is shown. Zeros and NaN matter only in a cell that has no other values. */
static const struct {
    const char *name;
    char letter;
    enum style style;
} looks[] = {
    [0] = {"none", '0', ST_DIM},
    [SIGN_PLUS] = {"positive", '+', ST_ROW},
    [SIGN_MINUS] = {"negative", '-', ST_ROW + 1},
    [SIGN_PLUS | SIGN_MINUS] = {"mixed", '*', ST_ROW + 2},
};

uint8_t spy_signed(uint8_t signs)
{
    return signs & (SIGN_PLUS | SIGN_MINUS);
}

const char *spy_signs_name(uint8_t signs)
{
    return looks[spy_signed(signs)].name;
}

char spy_signs_letter(uint8_t signs)
{
    return looks[spy_signed(signs)].letter;
}

enum style spy_signs_style(uint8_t signs)
{
    return looks[spy_signed(signs)].style;
}

/* ---- owners ---- */

static uint8_t mark_owner(const void *user, int64_t row, int64_t col)
{
    const struct partition *P = user;
    int owner = partition_owner(P, row);
    int64_t at = partition_position(P, col);
    bool inside = at >= P->first_col[owner] && at < P->first_col[owner + 1];
    return (uint8_t)(inside ? 1 << owner % SPY_OWNERS : SPY_OUTSIDE);
}

struct cell_marker spy_marker(const struct matrix *m, enum spy_by by)
{
    return by == SPY_OWNER && m->parting ? (struct cell_marker){mark_owner, &m->parting->P} : (struct cell_marker){0};
}

const char *spy_owners_title(const struct matrix *m)
{
    static char modulo[32];
    snprintf(modulo, sizeof modulo, "parts modulo %d: ", SPY_OWNERS);
    return m->parting && m->parting->P.parts > SPY_OWNERS ? modulo : "parts ";
}

/* The colour of the only part in these marks; -1: several parts; SPY_OWNERS: none, all entries are outside. */
static int owner_of(uint8_t marks)
{
    unsigned own = marks & (SPY_OUTSIDE - 1U);
    if (!own) return SPY_OWNERS;
    return own & (own - 1) ? -1 : __builtin_ctz(own);
}

enum style spy_owners_style(uint8_t marks)
{
    int k = owner_of(marks);
    return k < 0 ? ST_DIM : k == SPY_OWNERS ? ST_BOLD : (enum style)(ST_ROW + k);
}

char spy_owners_letter(uint8_t marks)
{
    int k = owner_of(marks);
    return k < 0 ? '+' : k == SPY_OWNERS ? '*' : (char)('0' + k);
}
