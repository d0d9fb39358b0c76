/* Matrices that were generated in parts, each on a member of a device. */
#include "in_parts.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/text.h"
#include "command.h"
#include "matrix.h"

#include <stdio.h>
#include <string.h>

/* Append the commands that take such a matrix as an argument. */
static void list_commands(struct message *t)
{
    for (int i = 0; commands[i]; i++)
        if (commands[i]->in_parts && strstr(commands[i]->grammar, "MATRIX"))
            message_add(t, "%s%s", t->items++ ? ", " : "", commands[i]->name);
}

bool in_parts_allowed(const struct matrix *m, bool takes, const char *what, struct err *e)
{
    struct message list = {0};
    if (takes || !matrix_in_parts(m)) return true;
    list_commands(&list);
    return fail(e, E_UNSUPPORTED,
                "%s was generated in parts, and the host has no copy of its entries, which `%s` needs; these commands "
                "take it: %s",
                m->name, what, list.text);
}

bool in_parts_refused(const struct matrix *m, const char *what, struct err *e)
{
    return !matrix_in_parts(m) ||
           fail(e, E_UNSUPPORTED, "%s was generated in parts, and the host has no copy of its entries, which %s",
                m->name, what);
}

bool in_parts_vectors_fit(const struct matrix *m, int n, struct err *e)
{
    if (!matrix_in_parts(m)) return true;
    const struct csr *A = &m->csr;
    int64_t each = (A->rows > A->cols ? A->rows : A->cols) * (int64_t)sizeof(double), left = mem_available();
    char need[32], have[32];
    if (n * each <= left) return true;
    return fail(e, E_MEMORY, "%d vectors of %s need %s of the host's memory, but only about %s is available", n,
                m->name, show_bytes((double)(n * each), need, sizeof need),
                show_bytes((double)left, have, sizeof have));
}
