/* Adds a matrix that a command derived from another matrix to the session. */
#include "derived.h"
#include "args.h"
#include "matrix.h"
#include "session.h"

bool session_add_derived(struct session *s, const struct args *a, const struct matrix *of, const char *ending,
                         struct csr *A, double us, struct err *e)
{
    struct load_info info = {.object = "matrix", .symmetry = "general", .nnz_stored = A->nnz, .ms = us / 1000};
    snprintf(info.field, sizeof info.field, "%s", A->imag ? "complex" : "real");
    snprintf(info.file, sizeof info.file, "%s-%s", of->name, ending);
    if (!session_add(s, arg(a, "as"), A, &info, e)) return false;
    snprintf(s->current->info.file, sizeof info.file, "%s", of->name);
    return true;
}
