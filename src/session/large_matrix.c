/* Large matrices: which commands take them, and the refusal of the others. */
#include "large_matrix.h"
#include "base/suggest.h"
#include "base/text.h"
#include "command.h"
#include "matrix.h"

#include <string.h>

/* Append the commands that take a large matrix as an argument. */
static void list_commands(struct message *t)
{
    for (int i = 0; commands[i]; i++)
        if (commands[i]->large && strstr(commands[i]->grammar, "MATRIX"))
            message_add(t, "%s%s", t->items++ ? ", " : "", commands[i]->name);
}

bool large_allowed(const struct matrix *m, bool takes_large, const char *what, struct err *e)
{
    if (takes_large || !csr_is_large(&m->csr)) return true;
    struct message list = {0};
    const struct csr *A = &m->csr;
    bool rows = A->rows > csr_most_small();
    char most[32];
    list_commands(&list);
    return fail(e, E_LIMIT, "%s has %s, but `%s` takes at most %s; these take more: %s", m->name,
                rows ? how_many(A->rows, "row").text : how_many(A->nnz, "nonzero").text, what,
                show_count(csr_most_small(), most, sizeof most), list.text);
}
