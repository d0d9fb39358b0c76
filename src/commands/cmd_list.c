/* list, use and drop: the matrices of the session. */
#include "base/err.h"
#include "base/precision.h"
#include "formats/format.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"

#include <string.h>

static int64_t bytes_of(const struct matrix *m)
{
    int64_t bytes = csr_memory(&m->csr) + sides_memory(&m->sides);
    for (const struct product *p = m->products; p; p = p->next) bytes += p->lender ? 0 : stored_own_bytes(&p->S);
    return bytes + (m->transposed ? bytes_of(m->transposed) : 0);
}

/* The stored formats, the oldest last, for example "csr ell/fp32 csr/bf16-fp32". */
static const char *formats_of(const struct matrix *m, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (const struct product *p = m->products; p && n < size; p = p->next) {
        bool narrow = precisions[p->S.real].narrow, fp64 = !narrow && precisions[p->S.real].part == T_F64;
        n += (size_t)snprintf(out + n, size - n, "%s%s%s%s", n ? " " : "", p->S.format->name, fp64 ? "" : "/",
                              fp64     ? ""
                              : narrow ? precisions[p->S.real].name
                                       : "fp32");
    }
    return out;
}

/* The column `right sides` appears only if a matrix has right sides of its own. */
static bool any_sides(const struct session *s)
{
    for (const struct matrix *m = s->matrices; m; m = m->next)
        if (m->sides.n) return true;
    return false;
}

static void out_listed(struct session *s, const struct matrix *m)
{
    struct out *o = s->out;
    char held[256];
    out_row(o);
    out_str(o, NULL, "", m == s->current ? "*" : "");
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "name", "name", m->name);
    out_rank(o, COLUMN_NORMAL);
    out_bool(o, "current", NULL, m == s->current);
    out_int(o, "rows", "rows", m->csr.rows);
    out_int(o, "cols", "cols", m->csr.cols);
    out_int(o, "nnz", "nonzeros", m->csr.nnz);
    out_str(o, "field", "field", m->info.field);
    out_bytes(o, "bytes", "memory", bytes_of(m));
    out_words(o, "formats", "converted to", formats_of(m, held, sizeof held));
    out_rank(o, COLUMN_DETAIL);
    out_int(o, "right_sides", any_sides(s) ? "right sides" : NULL, m->sides.n);
    out_int(o, "solutions", NULL, m->sides.x ? m->sides.n : 0);
    out_str(o, "file", "from", m->info.file);
}

static bool run_list(struct session *s, const struct args *a, struct err *e)
{
    if (!s->matrices) out_text(s->out, "no matrix is loaded; use `load FILE` or `gen poisson2d 100`");
    for (const struct matrix *m = s->matrices; m; m = m->next) out_listed(s, m);
    return true;
}

static bool run_use(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    session_use(s, m);
    return true;
}

/* The same name may be given twice, so look up each name again. */
static bool run_drop(struct session *s, const struct args *a, struct err *e)
{
    if (arg_flag(a, "all") == (arg_count(a, "matrix") > 0))
        return fail(e, E_USAGE, "drop which matrices? name them, or `all`; `list` shows them");
    while (arg_flag(a, "all") && s->matrices) session_drop(s, s->matrices);
    for (int i = 0; i < arg_count(a, "matrix"); i++) {
        struct matrix *m = session_matrix(s, arg_at(a, "matrix", i), e);
        if (!m) return false;
        session_drop(s, m);
    }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field list_fields[] = {
    {"name", F_TEXT, "name of the matrix"},
    {"current", F_BOOLEAN, "whether commands use it if they name none"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"field", F_TEXT, "kind of values: real, integer, pattern, complex"},
    {"bytes", F_COUNT, "host memory of the matrix and of its stored forms, in bytes"},
    {"formats", F_LIST, "formats in which the matrix is stored, the newest first; /fp32: in single precision",
     .item = F_TEXT},
    {"right_sides", F_COUNT, "right sides from its file"},
    {"solutions", F_COUNT, "solutions from its file"},
    {"file", F_TEXT, "file, generator or matrix from which it was made"},
    {0},
};
static const struct row_kind row_list = {"list", "a matrix of the session", list_fields};

const struct command command_list = {
    .name = "list",
    .aliases = "ls l whos",
    .grammar = "",
    .about = "list the matrices and their memory; the current matrix is marked",
    .help = "The memory is the host memory of the matrix and of all formats that it was converted to. If a\n"
            "matrix has right sides from its file, a column shows how many.\n"
            "    list",
    .rows = (const struct row_kind *const[]){&row_list, &row_done, NULL},
    .run = run_list,
    .large = true,
    .in_parts = true,
};

const struct command command_use = {
    .name = "use",
    .aliases = "select",
    .grammar = "MATRIX",
    .about = "make a matrix the current one",
    .help = "Commands work on the current matrix if no matrix is named.\n"
            "    use A",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_use,
    .large = true,
    .in_parts = true,
};

const struct command command_drop = {
    .name = "drop",
    .aliases = "rm delete",
    .grammar = "[MATRIX...] [all]",
    .about = "remove matrices and everything derived from them",
    .help = "Frees the memory on every device and all formats. The oldest remaining matrix becomes current. `undo`\n"
            "can bring the matrix itself back while memory allows.\n"
            "    drop A B; drop all",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_drop,
    .large = true,
    .in_parts = true,
};
