/* load and save: read and write matrix files. */
#include "base/clock.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "files/file.h"
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

/* If there is no such file, name one that the user may have meant. */
static void advise_file(const char *path, struct err *e)
{
    char near[4096], typed[4200], safe[300];
    if (!access(path, F_OK) || errno != ENOENT || !file_near(path, near, sizeof near)) return;
    word_join(near, typed, sizeof typed);
    err_advise(e, "did you mean `load %s`?", print_safe(typed, strlen(typed), 200, safe, sizeof safe));
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

static bool load_one(struct session *s, const char *file, const struct args *a, struct err *e)
{
    const char *part = arg(a, "variable"), *b = arg(a, "rhs"); /* b: the file of the right sides; NULL: none */
    struct csr A = {0};
    struct sides sides = {0};
    struct load_info info = {0};
    char path[4096];
    bool named = session_path(s, file, path, sizeof path, e);
    bool ok = named && file_load_system(path, part, &s->watch, &A, &sides, &info, e);
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

static void note_sides_left_out(struct out *o, const struct matrix *m, const char *file)
{
    const struct file_kind *kind = file_kind_of_path(file);
    out_note(o, "%s not written; %s%s%s.hb, .npz, .petsc and .wsb files hold right sides",
             m->sides.n == 1 ? "the right side was" : "the right sides were", kind->sides_word ? "`" : "",
             kind->sides_word ? kind->sides_word : "", kind->sides_word ? "` adds it in AMGX's way, and " : "");
}

/* Right sides without their guesses. */
static void note_guesses_left_out(struct out *o, const struct matrix *m, const char *file)
{
    if (!m->sides.guess || file_kind_of_path(file)->saves_guesses) return;
    out_note(o, "%s not written; .hb files hold guesses",
             m->sides.n == 1 ? "the guess of the solution was" : "the guesses of the solutions were");
}

static bool run_save(struct session *s, const struct args *a, struct err *e)
{
    char comment[128];
    const char *file = arg(a, "file");
    if (arg(a, "recipe")) return save_recipe(s, a, e);
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !newfile_allowed(file, arg_flag(a, "force"), e)) return false;
    snprintf(comment, sizeof comment, "%s, written by warpspy %s", m->name, WARPSPY_VERSION);
    bool sides = m->sides.n && writes_sides(file, a);
    if (!amgx_applies(file, m, a, e)) return false;
    double start = now_us();
    bool saved = file_save_system(file, arg_flag(a, "force"), &m->csr, sides ? &m->sides : NULL, &m->info, comment,
                                  &s->watch, e);
    if (!saved) return false;
    out_row(s->out);
    out_str(s->out, "name", "name", m->name);
    out_str(s->out, "file", "file", file);
    out_int(s->out, "nnz", "nonzeros", m->csr.nnz);
    out_int(s->out, "right_sides", sides ? "right sides" : NULL, sides ? m->sides.n : 0);
    out_num(s->out, "time_ms", "ms", (now_us() - start) / 1000, "%.1f");
    if (m->sides.n && !sides) note_sides_left_out(s->out, m, file);
    if (sides) note_guesses_left_out(s->out, m, file);
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

const struct command command_load = {
    .name = "load",
    .aliases = "open read",
    .grammar = "FILE... [as NAME] [variable WORD] [rhs FILE] [ones]",
    .about = "read matrices from files of many formats, also compressed or in an archive",
    .help =
        "The format is detected from the content, not from the name:\n"
        "    .mtx        Matrix Market, also .mtx.gz, .xz, .zst, .bz2, .tar.gz\n"
        "    .rb .hb     Rutherford-Boeing and Harwell-Boeing, also .rsa .rua .psa .pua, also compressed\n"
        "    .npz        SciPy: csr, csc, coo, bsr or dia\n"
        "    .mat        MATLAB, level 5 and 7.3: the first sparse variable or the named variable, also Problem.A\n"
        "    .petsc      PETSc's binary format (any name): the first matrix or, with `variable 2`, the second\n"
        "    .IJ         hypre, text or binary: all parts, NAME.IJ.00000, NAME.IJ.00001, ...\n"
        "    .npy        NumPy: vectors for `rhs` or `b`\n"
        "    .wsb        written by `save A.wsb`: the fastest to load\n"
        "Symmetric matrices are expanded, duplicates are summed, and explicit zeros are kept. Notes report\n"
        "deviations from the format that were accepted. Each matrix becomes the current one. The matrix is named\n"
        "after its file or, with `as`, NAME.\n"
        "Right sides, and solutions if the file holds them, stay with the matrix, and `solve` uses them: the\n"
        "sections of AMGX (a line %%AMGX rhs solution in .mtx), the arrays b and x in .npz, the variables b and x or\n"
        "Problem.b and Problem.x in .mat, those of Harwell-Boeing, whose guesses `solve x0 given` uses, and the "
        "vectors\n"
        "or dense matrices that follow the matrix in .petsc. `rhs` reads right sides from a file of their own: a "
        "Matrix\n"
        "Market array or vector of one or more columns, .npy, a vector of PETSc or hypre, an auxiliary file of\n"
        "Rutherford-Boeing, or plain numbers. Unassembled matrices of Harwell-Boeing are assembled.\n"
        "A pattern file has no values: products take its entries as ones, and `check` judges the pattern alone. With\n"
        "`ones`, the ones are values like those of any other file.\n"
        "    load samples/thesis4.mtx as A\n"
        "    load west0479.mat variable Problem.A\n"
        "    load add32.mtx rhs add32_b.mtx\n"
        "    load A.IJ rhs b.IJ",
    .rows = (const struct row_kind *const[]){&row_load, NULL},
    .run = run_load,
    .large = true,
};

const struct command command_save = {
    .name = "save",
    .aliases = "write",
    .grammar = "FILE [MATRIX] [amgx] [recipe RECIPE] [force]",
    .about = "write a matrix to a file, in the format of its extension, or the last solve as a program",
    .help =
        "All formats preserve the values bit for bit, except the payload of NaN in .mtx. `force` replaces an existing\n"
        "file, which keeps its mode and its links. In a script or lesson, the file must be new, in the working\n"
        "folder, and not hidden, unless you allow files (see `help allow`).\n"
        "    .mtx .mtx.gz    Matrix Market, coordinate general\n"
        "    .npz            SciPy, csr, for scipy.sparse.load_npz\n"
        "    .rb             Rutherford-Boeing\n"
        "    .hb             Harwell-Boeing; .rua .pua: the same; .rsa .psa: one triangle of a symmetric matrix\n"
        "    .petsc          PETSc, for MatLoad and VecLoad; complex values need a complex PETSc\n"
        "    .IJ             hypre: one part, NAME.IJ.00000, of real values\n"
        "    .wsb            a binary cache with checksums, loaded at memory speed\n"
        ".npz, .petsc, .wsb and .hb also hold the right sides and solutions of the matrix. With `amgx`, .mtx holds\n"
        "the right side "
        "and its solution after the entries, as AMGX reads them; most other programs refuse such a file.\n"
        "`recipe` writes the last solve, by iteration or direct, as a program that loads the matrix, solves with the\n"
        "same method, tol, m and maxit, and prints the iterations and the true residual: scipy (Python), petsc (C),\n"
        "cuda (CUDA C++: cg and bicgstab, alone or with jacobi). Preconditioners of the same name differ between\n"
        "libraries, and so do iterations. What a program cannot express is refused. It reads the file that the\n"
        "matrix came from; if that is not to be had, a note says which file to save.\n"
        "    save copy.mtx A\n"
        "    solve cg precond jacobi; save again.py recipe scipy",
    .rows = (const struct row_kind *const[]){&row_save, &row_recipe, NULL},
    .run = run_save,
    .large = true,
};
