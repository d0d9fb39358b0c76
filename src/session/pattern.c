/* Matrices without values: those of pattern files, whose entries count as ones where a product needs values. */
#include "pattern.h"
#include "files/load_info.h"
#include "matrix.h"
#include "report/output.h"
#include "session.h"

bool matrix_is_pattern(const struct matrix *m)
{
    return load_info_is_pattern(&m->info);
}

const char *field_after(const struct matrix *m, const struct csr *A)
{
    if (A->imag) return "complex";
    return matrix_is_pattern(m) && values_are_ones(A) ? "pattern" : "real";
}

void note_pattern(struct session *s, const struct matrix *m)
{
    if (matrix_is_pattern(m))
        out_note(s->out, "%s is a pattern: its file has no values, and each entry is taken as 1", m->name);
}
