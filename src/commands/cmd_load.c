/* load and save: read and write matrix files. */
#include "base/clock.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "files/file.h"
#include "files/matrix_folders.h"
#include "files/matrix_market.h"
#include "files/sides.h"
#include "language/args.h"
#include "report/fields.h"
#include "save_recipe.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Print, for example, "nos3: 960 x 960, 15,844 nonzeros (8,402 in the file, real symmetric), 4.1 ms". */
static void say_loaded(struct out *o, const struct matrix *m)
{
    const struct load_info *info = &m->info;
    char rows[32], cols[32], stored[32], summed[100] = "", kept[100] = "", sides[128] = "";
    if (info->duplicates) snprintf(summed, sizeof summed, ", %s summed", how_many(info->duplicates, "duplicate").text);
    if (info->explicit_zeros) snprintf(kept, sizeof kept, ", %s", how_many(info->explicit_zeros, "explicit zero").text);
    if (m->sides.n)
        snprintf(sides, sizeof sides, ", %s%s", how_many(m->sides.n, "right side").text,
                 !m->sides.x       ? ""
                 : m->sides.n == 1 ? " and its solution"
                                   : " and their solutions");
    out_text(o, "%s: %s x %s, %s (%s in the file, %s %s)%s%s%s, %.1f ms", m->name,
             show_count(m->csr.rows, rows, sizeof rows), show_count(m->csr.cols, cols, sizeof cols),
             how_many(m->csr.nnz, "nonzero").text, show_count(info->nnz_stored, stored, sizeof stored), info->field,
             info->symmetry, summed, kept, sides, info->ms);
}

static void out_loaded(struct out *o, const struct matrix *m)
{
    const struct load_info *info = &m->info;
    const char *warning[WARNINGS_MAX];
    for (int i = 0; i < info->nwarnings; i++) warning[i] = info->warning[i];
    out_row(o);
    out_str(o, "name", NULL, m->name);
    out_str(o, "file", NULL, info->file);
    out_int(o, "rows", NULL, m->csr.rows);
    out_int(o, "cols", NULL, m->csr.cols);
    out_int(o, "nnz", NULL, m->csr.nnz);
    out_int(o, "nnz_stored", NULL, info->nnz_stored);
    out_str(o, "field", NULL, info->field);
    out_str(o, "symmetry", NULL, info->symmetry);
    out_int(o, "duplicates", NULL, info->duplicates);
    out_int(o, "explicit_zeros", NULL, info->explicit_zeros);
    out_int(o, "right_sides", NULL, m->sides.n);
    out_int(o, "solutions", NULL, m->sides.x ? m->sides.n : 0);
    out_strs(o, "warnings", info->nwarnings, warning);
    out_num(o, "time_ms", NULL, info->ms, NULL);
    say_loaded(o, m);
}

/* If there is no such file, name one that the user may have meant, or say where it was looked for. */
static void advise_file(const char *path, struct err *e)
{
    char near[4096], typed[4200], safe[300];
    if (!access(path, F_OK) || errno != ENOENT) return;
    if (file_near(path, near, sizeof near)) {
        word_join(near, typed, sizeof typed);
        err_advise(e, "did you mean `load %s`?", print_safe(typed, strlen(typed), 200, safe, sizeof safe));
    } else
        err_advise(e, "it is not in %s either", matrix_folders(near, sizeof near));
}

/* The path of the file to load: the file that the user named or, if there is none, the matrix of that name in one of
   the folders of matrices. */
static bool path_to_load(struct session *s, const char *file, char *path, size_t size, struct err *e)
{
    char found[4096], safe[300];
    const char *folder;
    if (!session_path(s, file, path, size, e)) return false;
    if (!access(path, F_OK) || errno != ENOENT || file_find_in("", path, found, sizeof found)) return true;
    if (!matrix_find(file, found, sizeof found, &folder)) return true;
    out_note(s->out, "found in %s: %s", folder, print_safe(found, strlen(found), 200, safe, sizeof safe));
    return snprintf(path, size, "%s", found) < (int)size || fail(e, E_LIMIT, "the path of %s is too long", file);
}

/* Read the right sides from a file of their own; they replace those of the matrix file. */
static bool load_sides(struct session *s, const char *file, const struct csr *A, struct sides *t, struct err *e)
{
    char path[4096];
    int64_t n;
    double *b = NULL;
    bool ok = session_path(s, file, path, sizeof path, e) && mtx_load_columns(path, A->rows, A->imag, &b, &n, e);
    if (ok) {
        sides_free(t);
        *t = sides_of_columns(A, n, b);
    }
    return ok;
}

/* The user typed `ones`: the matrix of a pattern file becomes a real matrix whose values are all 1. */
static bool make_ones_real(const char *file, struct load_info *info, struct err *e)
{
    if (!load_info_is_pattern(info))
        return fail(e, E_USAGE, "`ones` is for files without values, but %s has values", file);
    snprintf(info->field, sizeof info->field, "real");
    return true;
}

/* What the user says about a list of entries. *given: anything. */
static bool list_words(const struct args *a, struct list_words *words, bool *given, struct err *e)
{
    int64_t first;
    if (!arg_within(a, "from", -1, 0, 1, &first, e) || !arg_within(a, "rows", -1, 0, INT32_MAX, &words->rows, e) ||
        !arg_within(a, "cols", -1, 0, INT32_MAX, &words->cols, e))
        return false;
    words->first = (int)first;
    *given = first >= 0 || words->rows >= 0 || words->cols >= 0;
    return true;
}

static bool load_one(struct session *s, const char *file, const struct args *a, struct err *e)
{
    const char *part = arg(a, "variable"), *b = arg(a, "rhs"); /* b: the file of the right sides; NULL: none */
    struct csr A = {0};
    struct sides sides = {0};
    struct load_info info = {0};
    struct list_words words;
    char path[4096];
    bool listed, named = list_words(a, &words, &listed, e) && path_to_load(s, file, path, sizeof path, e);
    bool ok = named && file_load_list(path, part, listed ? &words : NULL, &s->watch, &A, &sides, &info, e);
    if (named && !ok) advise_file(path, e);
    ok = ok && (!arg_flag(a, "ones") || make_ones_real(file, &info, e)) && (!b || load_sides(s, b, &A, &sides, e)) &&
         session_add(s, arg(a, "as"), &A, &info, e);
    csr_free(&A);
    if (!ok) {
        sides_free(&sides);
        return false;
    }
    s->current->sides = sides;
    out_loaded(s->out, s->current);
    for (int i = 0; i < info.nwarnings && out_mode(s->out) != OUT_JSON; i++)
        out_note(s->out, "%s: %s", s->current->name, info.warning[i]);
    return true;
}

static bool run_load(struct session *s, const struct args *a, struct err *e)
{
    int n = arg_count(a, "file");
    const char *name = arg(a, "as");
    const char *b = arg(a, "rhs");
    if (b && n > 1)
        return fail(e, E_USAGE, "%d matrices cannot share the right side `%s`: give one file before `rhs`", n, b);
    if (name && n > 1)
        return fail(e, E_USAGE, "%d files cannot share the name `%s`: give one file before `as`", n, name);
    for (int i = 0; i < n; i++)
        if (!load_one(s, arg_at(a, "file", i), a, e)) return false;
    return true;
}

/* Will a file of this name contain the right sides: always, or because the user typed `amgx`? */
static bool writes_sides(const char *file, const struct args *a)
{
    const struct file_kind *kind = file_kind_of_path(file);
    return kind && kind->saves_sides && (!kind->sides_word || arg_flag(a, kind->sides_word));
}

/* If the user typed `amgx`: can the file contain a right side, and has m one? */
static bool amgx_applies(const char *file, const struct matrix *m, const struct args *a, struct err *e)
{
    const struct file_kind *kind = file_kind_of_path(file);
    if (!arg_flag(a, "amgx")) return true;
    if (kind && !(kind->sides_word && arg_flag(a, kind->sides_word)))
        return fail(e, E_USAGE, "`amgx` is for files that end in .mtx or .mtx.gz");
    return m->sides.n || fail(e, E_USAGE, "`amgx` writes the right side of a matrix, but %s has none", m->name);
}

/* Say what will be missing in the file before it is written. */
static void note_losses(struct out *o, const struct matrix *m, const char *file, bool sides)
{
    const struct file_kind *kind = file_kind_of_path(file);
    char text[LOSSES][LOSS_ROOM];
    int n = kind ? file_save_losses(kind, &m->sides, sides, text) : 0;
    for (int i = 0; i < n; i++) out_note(o, "%s", text[i]);
}

/* The user typed `graph`: write the graph of m. */
static bool save_graph(struct session *s, const struct matrix *m, const char *file, bool force, const char *comment,
                       int64_t *nnz, struct err *e)
{
    const struct file_kind *kind = file_kind_of_path(file);
    struct csr G = {0};
    int64_t loops;
    if (kind && !kind->graph)
        return fail(e, E_USAGE, "`graph` is for files of graphs, but %s files have values", kind->name);
    if (!file_graph_of(&m->csr, &G, &loops, e)) return false;
    bool ok = file_save(file, force, &G, NULL, comment, &s->watch, e);
    *nnz = G.nnz;
    csr_free(&G);
    if (ok) out_note(s->out, "the values and %s on the diagonal were left out", how_many(loops, "entry").text);
    return ok;
}

static bool run_save(struct session *s, const struct args *a, struct err *e)
{
    char comment[128];
    const char *file = arg(a, "file");
    bool force = arg_flag(a, "force");
    if (arg(a, "recipe")) return save_recipe(s, a, e);
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !newfile_allowed(file, force, e)) return false;
    snprintf(comment, sizeof comment, "%s, written by warpspy %s", m->name, WARPSPY_VERSION);
    int64_t nnz = m->csr.nnz;
    bool sides = m->sides.n && writes_sides(file, a);
    if (!amgx_applies(file, m, a, e)) return false;
    note_losses(s->out, m, file, sides);
    double start = now_us();
    bool saved = arg_flag(a, "graph") ? save_graph(s, m, file, force, comment, &nnz, e)
                                      : file_save_system(file, force, &m->csr, sides ? &m->sides : NULL, &m->info,
                                                         comment, &s->watch, e);
    if (!saved) return false;
    out_row(s->out);
    out_str(s->out, "name", "name", m->name);
    out_path(s->out, "file", "file", file);
    out_int(s->out, "nnz", "nonzeros", nnz);
    out_int(s->out, "right_sides", sides ? "right sides" : NULL, sides ? m->sides.n : 0);
    out_num(s->out, "time_ms", "ms", (now_us() - start) / 1000, "%.1f");
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field load_fields[] = {
    {"name", F_TEXT, "name of the matrix"},
    {"file", F_TEXT, "the file"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries, symmetry expanded and duplicates summed"},
    {"nnz_stored", F_COUNT, "entries in the file"},
    {"field", F_TEXT, "kind of values, as the file says: real, integer, pattern, complex"},
    {"symmetry", F_TEXT, "symmetry, as the file says: general, symmetric, skew-symmetric, hermitian"},
    {"duplicates", F_COUNT, "entries summed away"},
    {"explicit_zeros", F_COUNT, "stored entries whose value is 0"},
    {"right_sides", F_COUNT, "right sides in the file"},
    {"solutions", F_COUNT, "solutions in the file"},
    {"warnings", F_LIST, "deviations from the file format that were tolerated", .item = F_TEXT},
    {"time_ms", F_AMOUNT, "reading, in ms"},
    {0},
};
static const struct row_kind row_load = {"load", "a matrix read from a file", load_fields};

static const struct field save_fields[] = {
    {"name", F_TEXT, "name of the matrix"},  {"file", F_TEXT, "the file"},
    {"nnz", F_COUNT, "entries written"},     {"right_sides", F_COUNT, "right sides written"},
    {"time_ms", F_AMOUNT, "writing, in ms"}, {0},
};
static const struct row_kind row_save = {"save", "a matrix written to a file", save_fields};

static void list_loaded(char *out, size_t size)
{
    text_append(out, size, "Kinds of files, by their content, also compressed or in an archive:\n");
    file_list_kinds(false, out, size);
}

static void list_saved(char *out, size_t size)
{
    text_append(out, size, "Kinds of files, chosen by the extension:\n");
    file_list_kinds(true, out, size);
}

const struct command command_load = {
    .name = "load",
    .aliases = "open read",
    .grammar = "FILE... [as NAME] [variable WORD] [rhs FILE] [ones] [from N] [rows N] [cols N]",
    .about = "read matrices from files of many formats, also compressed or in an archive",
    .help = "Each matrix becomes the current one, named after its file or, with `as`, NAME.\n"
            "Symmetric matrices are expanded, duplicates summed, explicit zeros kept.\n"
            "`variable` names a variable of .mat or HDF5 (layers/counts of anndata), or\n"
            "counts PETSc's matrices (`variable 2`). Right sides, guesses and solutions in\n"
            "the file stay with the matrix, and `solve` uses them; `rhs` reads right sides\n"
            "from a file of their own. A pattern file has no values: products use ones; with\n"
            "`ones`, the ones are values like any others. Of a list without a header, `from`\n"
            "is the first index, 0 or 1, and `rows` and `cols` are the sizes; otherwise the\n"
            "indices decide. A name without a file, such as HB/1138_bus, is looked up in\n"
            "$WARPSPY_MATRICES, $XDG_DATA_HOME/warpspy, ~/.ssgetpy and $MATRIXDEPOT_DATA.\n"
            "    load west0479.mat as A variable Problem.A; load edges.txt from 1 rows 100\n",
    .help_more = list_loaded,
    .rows = (const struct row_kind *const[]){&row_load, NULL},
    .run = run_load,
    .sweeps = true,
    .large = true,
};

const struct command command_save = {
    .name = "save",
    .aliases = "write",
    .grammar = "FILE [MATRIX] [amgx] [graph] [recipe RECIPE] [force]",
    .about = "write a matrix to a file, in the format of its extension, or the last solve as a program",
    .help =
        "All formats preserve the values bit for bit, except the payload of NaN in .mtx. `force` replaces an existing\n"
        "file, which keeps its mode and its links. In a script or lesson, the file must be new, in the working\n"
        "folder, and not hidden, unless you allow files (see `help allow`).\n"
        "Graphs store only positive integers off the diagonal; `graph` writes the graph of any matrix whose pattern\n"
        "is symmetric, without values and diagonal. hypre's .IJ is written as one part, NAME.IJ.00000.\n"
        ".npz, .mat, .petsc, .wsb and .hb also contain the right sides and solutions of the matrix. With `amgx`, .mtx\n"
        "contains the right side and its solution after the entries, as AMGX reads them; most other programs refuse\n"
        "such a file.\n"
        "`recipe` writes the last solve, by iteration or direct, as a program that loads the matrix, solves with the\n"
        "same method, tol, m and maxit, and prints the iterations and the true residual: scipy (Python), petsc (C),\n"
        "cuda (CUDA C++: cg and bicgstab, alone or with jacobi). Preconditioners of the same name differ between\n"
        "libraries, and so do iterations. What a program cannot express is refused. It reads the file that the\n"
        "matrix came from; if that is not to be had, a note says which file to save.\n"
        "    save copy.mtx A\n"
        "    solve cg precond jacobi; save again.py recipe scipy\n",
    .help_more = list_saved,
    .rows = (const struct row_kind *const[]){&row_save, &row_recipe, NULL},
    .run = run_save,
    .large = true,
};
