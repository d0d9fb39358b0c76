/* Print the formats among which a format chose, with the padding that each of them would have. */
#include "output_candidates.h"
#include "base/text.h"
#include "output.h"
#include "report/fields.h"

#include <string.h>

bool candidates_of(const struct csr *A, const struct stored *S, struct candidates *out, struct err *e)
{
    *out = (struct candidates){0};
    return !S->format->candidates || S->format->candidates(A, S, out->at, &out->n, e);
}

void out_candidates(struct out *o, const struct candidates *c)
{
    static const char key[] = "candidates";
    out_list(o, key);
    for (int i = 0; i < c->n && out_within(o, key); i++) {
        out_str(o, "format", NULL, c->at[i].format->name);
        out_int(o, "padding", NULL, c->at[i].padding);
        out_bool(o, "chosen", NULL, c->at[i].chosen);
        out_without(o);
    }
}

void say_candidates(struct out *o, const struct stored *S, const struct candidates *c)
{
    char all[64 * CANDIDATES_MAX] = "", one[32];
    const char *chosen = "";
    for (int i = 0; i < c->n; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s %s", n ? ", " : "", c->at[i].format->name,
                 show_count(c->at[i].padding, one, sizeof one));
        if (c->at[i].chosen) chosen = c->at[i].format->name;
    }
    if (c->n) out_text(o, "%s uses %s. Slots of padding: %s", S->format->name, chosen, all);
}

/* ---- the keys of the rows ---- */

static const struct field candidates_candidates_fields[] = {
    {"format", F_TEXT, "a format that could have been chosen"},
    {"padding", F_COUNT, "slots without an entry in that format"},
    {"chosen", F_BOOLEAN, "whether the matrix is stored in that format"},
    {0},
};
static const struct field candidates_fields[] = {
    {"candidates", F_LIST, "the formats among which the format chose; empty if the format makes no choice",
     .item = F_OBJECT, .of = candidates_candidates_fields},
    {0},
};
const struct row_kind row_candidates = {"candidates", "the formats among which a format chose", candidates_fields};
