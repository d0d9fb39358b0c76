/* Every kind of matrix file: bit-identical round trips, files of other programs, damaged files, failing allocations.
   tests/files holds small files written by other programs: *.npz by scipy.sparse.save_npz of SciPy 1.10.1 (the same 5 x
   4 matrix in each format, and other types); level5.mat (compressed), plain5.mat (uncompressed) and none.mat (without a
   sparse variable) by scipy.io.savemat, and level4.mat by that of SciPy 1.17.1; level73.mat by libmatio; *.h5ad and
   *.h5 by h5py 3.16, laid out as anndata 0.12, 10x and MATLAB do; *.rb by RBwrite of SuiteSparse's RBio 5.12; scipy.hb
   by scipy.io.hb_write; those of PETSc and hypre are described in test_petsc_files.c and test_hypre_files.c. */
#include "base/loop.h"
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/npy.h"
#include "files/sides.h"
#include "formats/format.h"
#include "kits/collection.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "session/command.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLES "tests/files/"

static bool load_part(const char *path, const char *part, struct csr *A, struct load_info *info, struct err *e)
{
    bool ok = file_load(path, part, NULL, A, info, e);
    if (ok && !csr_check(A, e)) fail_msg("%s: %s", path, e->text);
    if (!ok) assert_true(!A->rowptr && !A->col && !A->val && e->code && e->text[0]);
    return ok;
}

static void load_well(const char *path, struct csr *A, struct load_info *info)
{
    struct err e = {0};
    if (!load_part(path, NULL, A, info, &e)) fail_msg("%s: %s", e.where, e.text);
}

static void assert_refused(const char *path, enum code code, const char *says)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (load_part(path, NULL, &A, &info, &e)) fail_msg("%s: loaded, expected \"%s\"", path, says);
    if (e.code != code || !strstr(e.text, says))
        fail_msg("%s: expected %d \"%s\", got %d \"%s\"", path, (int)code, says, (int)e.code, e.text);
    assert_non_null(strstr(e.where, strrchr(path, '/') + 1));
}

static void assert_shown(const char *path, const char *part, const char *shown)
{
    char out[2048];
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!load_part(path, part, &A, &info, &e)) fail_msg("%s: %s: %s", path, e.where, e.text);
    show_matrix(&A, out, sizeof out);
    if (strcmp(out, shown)) fail_msg("%s: expected \"%s\", got \"%s\"", path, shown, out);
    csr_free(&A);
}

/* ---- round trips ---- */

static const char *const written[] = {"a.wsb", "a.npz", "a.mat", "a.petsc", "a.mtx", "a.mtx.gz"};

static void assert_returns(const struct csr *A, const char *name, bool payload)
{
    struct csr B;
    struct load_info info;
    struct err e = {0};
    const char *path = scratch_path(name);
    if (!file_save(path, true, A, NULL, "a test", NULL, &e)) fail_msg("%s: %s", e.where, e.text);
    load_well(path, &B, &info);
    if (payload && !csr_equal(A, &B)) fail_msg("%s: another matrix came back", name);
    assert_int_equal(info.nnz_stored, A->nnz);
    assert_string_equal(info.field, A->imag ? "complex" : "real");
    assert_string_equal(info.symmetry, "general");
    assert_string_equal(info.file, path);
    csr_free(&B);
}

TEST(every_shape_round_trips)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5);
        for (int i = 0; i < COUNT(written); i++) assert_returns(&A, written[i], true);
        csr_free(&A);
    }
}

/* Binary files keep every bit of a double, including the bits of a NaN. */
TEST(every_value_round_trips)
{
    static const uint64_t bits[] = {
        0x7ff8000000000000, 0xfff8000000001234, 0x7ff0000000000000, 0xfff0000000000000, 0x8000000000000000, 0, 1,
        0x800fffffffffffff, 0x7fefffffffffffff, 0x3ff0000000000001};
    for (int complex_values = 0; complex_values < 2; complex_values++) {
        struct csr A;
        assert_true(csr_new(&A, 1, COUNT(bits), COUNT(bits), complex_values, NULL));
        A.rowptr[1] = COUNT(bits);
        for (int k = 0; k < COUNT(bits); k++) {
            A.col[k] = k;
            memcpy(&A.val[k], &bits[k], sizeof *bits);
            if (A.imag) memcpy(&A.imag[k], &bits[COUNT(bits) - 1 - k], sizeof *bits);
        }
        assert_returns(&A, "bits.wsb", true);
        assert_returns(&A, "bits.npz", true);
        assert_returns(&A, "bits.petsc", true);
        assert_returns(&A, "bits.mat", true);
        assert_returns(&A, "bits.mtx", false); /* text files have only one kind of NaN */
        csr_free(&A);
    }
}

/* The file has more than one chunk of the reader, so that threads share the work. */
TEST(large_files_round_trip)
{
    struct csr A;
    assert_true(csr_new(&A, 100, 1000000, 9000000, false, NULL));
    for (int r = 0; r < 100; r++) A.rowptr[r + 1] = (r + 1) * 90000;
    for (int k = 0; k < A.nnz; k++) {
        A.col[k] = k % 90000 * 11;
        A.val[k] = k * 0.1;
    }
    assert_returns(&A, "large.wsb", true);
    assert_returns(&A, "large.npz", true);
    assert_returns(&A, "large.petsc", true);
    assert_returns(&A, "large.mat", true);
    csr_free(&A);
    scratch_remove();
}

/* Complex values are written in pieces of 1024. */
TEST(many_complex_values_round_trip)
{
    enum { N = 5000 };
    struct csr A;
    assert_true(csr_new(&A, 1, N, N, true, NULL));
    A.rowptr[1] = N;
    for (int k = 0; k < N; k++) {
        A.col[k] = k;
        A.val[k] = k + 1;
        A.imag[k] = -0.5 * k;
    }
    for (int i = 0; i < COUNT(written); i++) assert_returns(&A, written[i], true);
    csr_free(&A);
}

TEST(wsb_keeps_what_load_found)
{
    struct csr A, B;
    struct load_info info, again;
    struct err e = {0};
    load_well(SAMPLES "symmetric.rb", &A, &info);
    info.duplicates = 3;
    info.explicit_zeros = 5;
    file_note(&info, "one");
    file_note(&info, "two");
    assert_true(file_save(scratch_path("k.wsb"), true, &A, &info, NULL, NULL, &e));
    load_well(scratch_path("k.wsb"), &B, &again);
    assert_true(csr_equal(&A, &B));
    assert_string_equal(again.field, "real");
    assert_string_equal(again.symmetry, "symmetric");
    assert_int_equal(again.nnz_stored, 4);
    assert_int_equal(again.duplicates, 3);
    assert_int_equal(again.explicit_zeros, 5);
    assert_int_equal(again.nwarnings, 1);
    assert_string_equal(again.warning[0], "a copy of " SAMPLES "symmetric.rb, which was read with 2 notes");
    csr_free(&A);
    csr_free(&B);
}

TEST(the_whole_collection_round_trips)
{
    const char *dir;
    char path[1024], line[4096];
    FILE *f = collection_index("files of the whole collection", &dir);
    if (!f) return;
    for (int n = 0; fgets(line, sizeof line, f); n++) {
        struct csr A;
        struct load_info info;
        snprintf(path, sizeof path, "%s/%.*s.mtx.gz", dir, (int)strcspn(line, "\t"), line);
        if (!n) continue;
        load_well(path, &A, &info);
        for (int i = 0; i < 3; i++) assert_returns(&A, written[i], true);
        csr_free(&A);
    }
    fclose(f);
}

/* ---- files of other programs ---- */

static const char sevens[] = "5x4: 1 1 1.5; 1 4 -2; 2 3 3; 3 1 0.1; 4 2 7; 4 4 1e-300; 5 4 0.5";
static const char five[] = "5x4: 1 1 1.5; 1 4 -2; 2 3 3; 3 1 0.1; 4 2 7; 4 4 1e-300; 5 4 nan";

TEST(files_of_other_programs_load)
{
    static const struct {
        const char *path, *part, *shown;
    } table[] = {
        {SAMPLES "csr.npz", NULL, five},
        {SAMPLES "csc.npz", NULL, five},
        {SAMPLES "coo.npz", NULL, five},
        {SAMPLES "bsr.npz", NULL, five},
        {SAMPLES "dia.npz", NULL, "5x4: 1 1 1.5; 1 4 -2; 2 3 3; 3 1 0.1; 4 2 7; 4 4 1e-300; 5 4 9"},
        {SAMPLES "int.npz", NULL, "2x2: 1 1 1; 2 2 -3"},
        {SAMPLES "truth.npz", NULL, "2x2: 1 1 1; 2 2 1"},
        {SAMPLES "complex.npz", NULL, "2x2: 1 1 1 2; 2 2 -0 -3"},
        {SAMPLES "big_endian.npz", NULL, "2x2: 1 1 1.5; 2 2 2.25"},
        {SAMPLES "level5.mat", NULL, five},
        {SAMPLES "level5.mat", "Problem.A", "5x4: 1 1 3; 1 4 -4; 2 3 6; 3 1 0.2; 4 2 14; 4 4 2e-300; 5 4 nan"},
        {SAMPLES "level5.mat", "Problem.Zeros", five},
        {SAMPLES "plain5.mat", "L", "5x4: 1 1 1; 1 4 1; 2 3 1; 3 1 1; 4 2 1; 4 4 1; 5 4 1"},
        {SAMPLES "level73.mat", NULL, sevens},
        {SAMPLES "level73.mat", "Z", "5x4: 1 1 1.5 1; 1 4 -2 5; 2 3 3 4; 3 1 0.1 2; 4 2 7 3; 4 4 1e-300 6; 5 4 0.5 7"},
        {SAMPLES "level4.mat", NULL, sevens},
        {SAMPLES "level4.mat", "Z", "5x4: 1 1 1.5 1; 1 4 -2 5; 2 3 3 4; 3 1 0.1 2; 4 2 7 3; 4 4 1e-300 6; 5 4 0.5 7"},
        {SAMPLES "level4.mat", "None", "3x5:"},
        {SAMPLES "anndata.h5ad", NULL, sevens},
        {SAMPLES "anndata.h5ad", "layers/counts", "5x4: 1 1 3; 1 4 -4; 2 3 6; 3 1 0.2; 4 2 14; 4 4 2e-300; 5 4 1"},
        {SAMPLES "anndata.h5ad", "layers/truth", "5x4: 1 1 1; 1 4 1; 2 3 1; 3 1 1; 4 2 1; 4 4 1; 5 4 1"},
        {SAMPLES "anndata.h5ad", "layers/wide",
         "5x4: 1 1 9007199254740992; 1 4 1; 2 3 2; 3 1 3; 4 2 4; 4 4 5; 5 4 -1152921504606846976"},
        {SAMPLES "tenx.h5", NULL, "5x4: 1 1 15; 1 4 -20; 2 3 30; 3 1 1; 4 2 70; 4 4 0; 5 4 5"},
        {SAMPLES "matlab.h5", NULL, "5x4: 1 1 1; 1 4 1; 2 3 1; 3 1 1; 4 2 1; 4 4 1; 5 4 1"},
        {SAMPLES "matlab.h5", "None", "3x5:"},
        {SAMPLES "matlab.h5", "Problem.A", sevens},
        {SAMPLES "matlab.h5", "Z", "5x4: 1 1 1.5 1; 1 4 -2 5; 2 3 3 4; 3 1 0.1 2; 4 2 7 3; 4 4 1e-300 6; 5 4 0.5 7"},
        {SAMPLES "real.rb", NULL, "4x4: 1 1 1.5; 1 4 1e+10; 2 2 3; 3 1 -0.1; 3 3 1e-300; 4 4 7"},
        {SAMPLES "symmetric.rb", NULL, "3x3: 1 1 4; 1 2 -1; 2 1 -1; 2 2 4; 3 3 0.3333333333333333"},
        {SAMPLES "pattern.rb", NULL, "2x2: 1 2 1; 2 1 1"},
        {SAMPLES "complex.rb", NULL, "2x2: 1 2 2.5 -4; 2 1 1 3"},
        {SAMPLES "scipy.hb", NULL, "3x3: 1 1 4; 1 2 -1; 2 1 -1; 2 2 4; 2 3 -1; 3 2 -1; 3 3 4.25"},
    };
    for (int i = 0; i < COUNT(table); i++) assert_shown(table[i].path, table[i].part, table[i].shown);
}

TEST(fields_and_variables_are_reported)
{
    static const struct {
        const char *path, *field, *symmetry, *note;
    } table[] = {
        {SAMPLES "int.npz", "integer", "general", NULL},
        {SAMPLES "truth.npz", "pattern", "general", NULL},
        {SAMPLES "complex.npz", "complex", "general", NULL},
        {SAMPLES "symmetric.rb", "real", "symmetric", NULL},
        {SAMPLES "pattern.rb", "pattern", "symmetric", NULL},
        {SAMPLES "level5.mat", "real", "general",
         "read A, the first of 3 sparse variables: A, Problem.A, Problem.Zeros"},
        {SAMPLES "tenx.h5", "real", "general", "read matrix, the only sparse variable"},
    };
    struct csr A;
    struct load_info info;
    struct err e = {0};
    for (int i = 0; i < COUNT(table); i++) {
        load_well(table[i].path, &A, &info);
        assert_string_equal(info.field, table[i].field);
        assert_string_equal(info.symmetry, table[i].symmetry);
        assert_int_equal(info.nwarnings, !table[i].note ? 0
                                         : strstr(table[i].path, "level5.mat")
                                             ? 2
                                             : 1); /* the A of level5.mat holds inf and NaN */
        if (table[i].note) assert_string_equal(info.warning[0], table[i].note);
        csr_free(&A);
    }
    assert_true(load_part(SAMPLES "plain5.mat", "L", &A, &info, &e));
    assert_string_equal(info.field, "pattern"); /* the variable is logical */
    csr_free(&A);
    assert_true(load_part(SAMPLES "level73.mat", "Z", &A, &info, &e));
    assert_string_equal(info.field, "complex");
    csr_free(&A);
    assert_false(load_part(SAMPLES "level5.mat", "Q", &A, &info, &e));
    assert_string_equal(e.text, "no sparse variable \"Q\"; the file has A, Problem.A, Problem.Zeros");
    err_clear(&e);
    assert_false(load_part(SAMPLES "csr.npz", "Q", &A, &info, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_refused(SAMPLES "none.mat", E_INPUT, "the file has no sparse variable");
    assert_refused(SAMPLES "dense.h5ad", E_INPUT,
                   "X is a dense array; choose a sparse matrix with `variable`: layers/counts");
    assert_true(load_part(SAMPLES "anndata.h5ad", "layers/wide", &A, &info, &e));
    assert_string_equal(info.warning[0], "2 integers beyond 2^53 were rounded");
    csr_free(&A);
    assert_true(load_part(SAMPLES "anndata.h5ad", "layers/truth", &A, &info, &e));
    assert_string_equal(info.field, "pattern");
    csr_free(&A);
}

static const char *copy_of(const char *sample, const char *name)
{
    size_t n;
    char *data = read_whole(sample, &n);
    const char *path = write_file(name, data, n);
    mem_free(data);
    return path;
}

TEST(the_kind_is_detected_from_content)
{
    size_t n;
    assert_shown(copy_of(SAMPLES "csr.npz", "npz.mtx"), NULL, five);
    assert_shown(copy_of(SAMPLES "level5.mat", "mat.wsb"), NULL, five);
    assert_shown(copy_of(SAMPLES "pattern.rb", "rb.npz"), NULL, "2x2: 1 2 1; 2 1 1");
    assert_shown(write_file("mtx.mat", "%%MatrixMarket matrix array real general\n1 1\n5\n", 47), NULL, "1x1: 1 1 5");
    char *data = read_whole(SAMPLES "pattern.rb", &n);
    const struct member rb = {"x.rb", data, n};
    assert_shown(pack_file("rb.gz", ARCHIVE_FILTER_GZIP, false, &rb, 1), NULL, "2x2: 1 2 1; 2 1 1");
    const struct member both[] = {{"p/README", "hello", 5}, {"p/p.rb", data, n}, {"p/p_b.mtx", "?", 1}};
    assert_shown(pack_file("p.tar.gz", ARCHIVE_FILTER_GZIP, true, both, 3), NULL, "2x2: 1 2 1; 2 1 1");
    mem_free(data);
    data = read_whole(SAMPLES "csr.npz", &n);
    const struct member npz = {"x.npz", data, n};
    assert_refused(pack_file("npz.gz", ARCHIVE_FILTER_GZIP, false, &npz, 1), E_INPUT,
                   "a compressed SciPy .npz file cannot be read; unpack it first");
    mem_free(data);
    assert_refused(write_file("text.rb", "hello\nworld\n", 12), E_INPUT, "no banner");
    assert_refused(scratch_path("missing.wsb"), E_IO, "No such file");
    assert_refused(write_file("empty.npz", "", 0), E_INPUT, "empty");
}

/* Files that are something else, or that hold no matrix: the error says what they are, and the cure. */
TEST(files_without_a_matrix_are_named)
{
    static const struct {
        const char *path, *text; /* text: the content of the file at `path` in the scratch folder; NULL: a sample */
        size_t n;
        const char *says;
    } table[] = {
        {SAMPLES "vec.petsc", NULL, 0,
         "the file has a PETSc vector of length 5, but no matrix; load the matrix, and give "
         "this file after `rhs` or `b`"},
        {SAMPLES "is.petsc", NULL, 0, "the file has PETSc objects, but no matrix; write the matrix with MatView"},
        {SAMPLES "parts_b.IJ.00000", NULL, 0,
         "the file has a hypre vector of length 5, but no matrix; load the matrix"},
        {SAMPLES "none.mat", NULL, 0, "no sparse variable"},
        {"x.npy", "\x93NUMPY\1\0v\0", 10,
         "this is a dense NumPy array (.npy), not a sparse matrix; convert it in Python"},
        {"x.h5", "\x89HDF\r\n\x1a\n\0\0", 10, "the HDF5 file cannot be read: the file is truncated or corrupt"},
        {"x.bin", "\x01\x02\xfe", 3, "this is a binary file of an unknown kind; `help load` lists the kinds"},
        {"x.txt", "hello\n", 6, "no banner: the file must begin with"},
    };
    for (int i = 0; i < COUNT(table); i++)
        assert_refused(table[i].text ? write_file(table[i].path, table[i].text, table[i].n) : table[i].path, E_INPUT,
                       table[i].says);
    const struct member pdf = {"x.pdf", "%PDF-1.7\n", 9}, noise = {"x", "\x01\x02\xfe", 3};
    assert_refused(pack_file("pdf.gz", ARCHIVE_FILTER_GZIP, false, &pdf, 1), E_INPUT, "not a matrix file but a PDF");
    assert_refused(pack_file("x.xz", ARCHIVE_FILTER_XZ, false, &noise, 1), E_INPUT, "a binary file of an unknown kind");
    assert_refused(pack_file("x.bz2", ARCHIVE_FILTER_BZIP2, false, &noise, 1), E_INPUT, "a binary file of an unknown");
    size_t n;
    char *data = read_whole(SAMPLES "system.petsc", &n);
    const struct member system = {"s.petsc", data, n};
    assert_refused(pack_file("s.petsc.gz", ARCHIVE_FILTER_GZIP, false, &system, 1), E_INPUT,
                   "a compressed PETSc binary file cannot be read; unpack it first");
    mem_free(data);
    assert_refused("tests/files", E_IO, "this is a directory; give the name of a file in it");
}

/* ---- damage ---- */

static bool same_or_refused(const char *path, const struct csr *right, bool exact)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!load_part(path, NULL, &A, &info, &e)) return true;
    bool same = csr_equal(&A, right);
    csr_free(&A);
    return same || !exact;
}

/* Truncate the file at every `step`th length and flip one bit in every `step`th byte: the result is a message, or the
   right matrix. Kinds without checksums (exact == false) may give a different valid matrix. */
static void harm(const char *path, const char *name, int64_t step, bool exact)
{
    struct csr right;
    struct load_info info;
    size_t n;
    load_well(path, &right, &info);
    char *data = read_whole(path, &n);
    for (int64_t k = 0; k < (int64_t)n; k += step)
        if (!same_or_refused(write_file(name, data, (size_t)k), &right, exact))
            fail_msg("%s: cut at %lld, another matrix was read", path, (long long)k);
    for (int64_t k = 0; k < (int64_t)n; k += step) {
        data[k] ^= (char)(1 << k % 8);
        if (!same_or_refused(write_file(name, data, n), &right, exact))
            fail_msg("%s: byte %lld changed, another matrix was read", path, (long long)k);
        data[k] ^= (char)(1 << k % 8);
    }
    mem_free(data);
    csr_free(&right);
}

TEST(damage_never_crashes)
{
    static const struct {
        const char *name;
        int64_t step;
        bool exact;
    } table[] = {
        {"csr.npz", 1, false},       {"coo.npz", 1, false},        {"bsr.npz", 1, false},
        {"dia.npz", 1, false},       {"complex.npz", 1, false},    {"real.rb", 1, false},
        {"symmetric.rb", 1, false},  {"complex.rb", 1, false},     {"scipy.hb", 1, false},
        {"pattern.rb", 1, false},    {"level5.mat", 7, true},      {"plain5.mat", 1, false},
        {"level4.mat", 1, false},    {"anndata.h5ad", 97, false},  {"tenx.h5", 29, false},
        {"level73.mat", 211, false}, {"system.petsc", 1, false},   {"wide_complex.petsc", 1, false},
        {"dense.petsc", 1, false},   {"parts.IJ.00000", 1, false},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char path[64];
        snprintf(path, sizeof path, SAMPLES "%s", table[i].name);
        harm(path, table[i].name, table[i].step, table[i].exact);
    }
}

/* Offsets in the header of a .wsb file. */
enum {
    AT_ORDER = 8,
    AT_VERSION = 12,
    AT_ROWS = 16,
    AT_COLS = 24,
    AT_NNZ = 32,
    AT_COMPLEX = 64,
    AT_FIELD = 72,
    AT_SUM = 632,
    AT_HEAD_SUM = 640
};

/* In files of our own format, every flipped bit is detected, except in the padding of a page. */
TEST(damage_of_our_own_files_is_found)
{
    struct csr A, B;
    struct load_info info;
    struct err e = {0};
    size_t n;
    load_well(SAMPLES "complex.npz", &A, &info);
    const char *path = scratch_path("own.wsb");
    assert_true(file_save(path, true, &A, &info, NULL, NULL, &e));
    char *data = read_whole(path, &n);
    for (size_t k = 0; k < n; k++) assert_refused(write_file("cut.wsb", data, k), E_INPUT, "");
    int passed = 0;
    for (size_t k = 0; k < n; k++) {
        data[k] ^= 16;
        struct err why = {0};
        if (load_part(write_file("bit.wsb", data, n), NULL, &B, &info, &why)) {
            assert_true(csr_equal(&A, &B) && k >= AT_HEAD_SUM + 8);
            csr_free(&B);
            passed++;
        }
        data[k] ^= 16;
    }
    assert_int_equal(passed, (4096 - AT_HEAD_SUM - 8) + (64 - 12) + (64 - 8) + 2 * (64 - 16));
    mem_free(data);
    csr_free(&A);
}

/* ---- .wsb headers with wrong contents and correct checksums ---- */

static uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9ddfea08eb382d69u;
    return h << 29 | h >> 35;
}

/* The checksum of n bytes, computed slowly, as the description of the format defines it. */
static uint64_t described_sum(const char *p, size_t n)
{
    uint64_t h[4] = {1, 2, 3, 4};
    for (size_t word = 0; word < (n + 31) / 32 * 4; word++) {
        uint64_t w = 0;
        if (word * 8 < n) memcpy(&w, p + word * 8, n - word * 8 < 8 ? n - word * 8 : 8);
        h[word % 4] = stir(h[word % 4], w);
    }
    return stir(stir(stir(stir(h[0], h[1]), h[2]), h[3]), n);
}

TEST(false_headers_are_refused)
{
    static const struct {
        int at, bytes;
        int64_t value;
        enum code code;
        const char *says;
    } table[] = {
        {AT_ORDER, 4, 0x04030201, E_INPUT, "byte order"},
        {AT_VERSION, 4, 2, E_INPUT, ".wsb file of version 2, but only version 1 can be read"},
        {AT_ROWS, 8, 1000000000, E_INPUT, "it is truncated"},
        {AT_ROWS, 8, -1, E_INPUT, "none of them may be negative"},
        {AT_ROWS, 8, INT64_MAX, E_LIMIT, "are too many"},
        {AT_COLS, 8, 1, E_INPUT, "not a valid matrix"},
        {AT_NNZ, 8, 1000000000, E_INPUT, "it is truncated"},
        {AT_NNZ, 8, INT64_MAX, E_LIMIT, "are too many"},
        {AT_NNZ, 8, 0, E_INPUT, "bytes, but a matrix of"},
        {AT_COMPLEX, 4, 7, E_INPUT, "text that warpspy does not write"},
        {AT_FIELD, 4, 0x41414141, E_INPUT, "text that warpspy does not write"},
        {AT_SUM, 8, 1, E_INPUT, "the checksum of the arrays is"},
    };
    struct csr A;
    struct load_info info;
    size_t n;
    load_well(SAMPLES "csr.npz", &A, &info);
    assert_true(file_save(scratch_path("true.wsb"), true, &A, &info, NULL, NULL, NULL));
    char *good = read_whole(scratch_path("true.wsb"), &n), *bad = mem_new((int64_t)n, 1, "a copy", NULL);
    uint64_t sum = described_sum(good, AT_HEAD_SUM);
    assert_memory_equal(good + AT_HEAD_SUM, &sum, sizeof sum);
    for (int i = 0; i < COUNT(table); i++) {
        memcpy(bad, good, n);
        memcpy(bad + table[i].at, &table[i].value, (size_t)table[i].bytes);
        sum = described_sum(bad, AT_HEAD_SUM);
        memcpy(bad + AT_HEAD_SUM, &sum, sizeof sum);
        int64_t before = mem_count();
        assert_refused(write_file("lie.wsb", bad, n), table[i].code, table[i].says);
        if (strstr(table[i].says, "truncated"))
            assert_true(mem_count() - before < 4); /* only the stream was allocated */
    }
    memcpy(bad, good, n);
    bad[AT_ROWS] ^= 1;
    assert_refused(write_file("lie.wsb", bad, n), E_INPUT, "the checksum of the header is wrong");
    mem_free(good);
    mem_free(bad);
    csr_free(&A);
}

/* ---- .npz made by hand ---- */

enum { MEMBERS = 8 };
struct npy_member {
    const char *name, *type, *shape; /* a type that begins with F: the items are in Fortran order */
    const void *data;
    size_t n;
};

/* Unlike npy_header, in any byte order. */
static void write_head(char head[NPY_HEADER + 1], const char *type, const char *shape, bool fortran)
{
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    memset(head + 10, ' ', 118);
    int k = snprintf(head + 10, 119, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s)}", type,
                     fortran ? "True" : "False", shape);
    head[10 + k] = ' ';
}

static const char *zip_of(const char *name, const struct npy_member *m)
{
    const char *path = scratch_path(name);
    struct archive *a = archive_write_new();
    archive_write_set_format_zip(a);
    archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    for (; m->name; m++) {
        char head[NPY_HEADER + 1];
        struct archive_entry *entry = archive_entry_new();
        write_head(head, m->type + (*m->type == 'F'), m->shape, *m->type == 'F');
        archive_entry_set_pathname(entry, m->name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_size(entry, (int64_t)(128 + m->n));
        assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
        archive_write_data(a, head, 128);
        archive_write_data(a, m->data, m->n);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return path;
}

static const int64_t two_by_three[] = {2, 3};
static const double values[] = {1, 2, 3};
#define SHAPE                                      \
    {                                              \
        "shape.npy", "<i8", "2,", two_by_three, 16 \
    }
#define CSR                               \
    {                                     \
        "format.npy", "|S3", "", "csr", 3 \
    }
#define COO                               \
    {                                     \
        "format.npy", "|S3", "", "coo", 3 \
    }
#define DATA                                \
    {                                       \
        "data.npy", "<f8", "3,", values, 24 \
    }

#define GCXS                                                        \
    {                                                               \
        "format.npy", "<U4", "", "g\0\0\0c\0\0\0x\0\0\0s\0\0\0", 16 \
    }
#define FILL                                     \
    {                                            \
        "fill_value.npy", "<f8", "", &nothing, 8 \
    }
static const double nothing = 0;

TEST(hostile_npz_is_refused)
{
    static const int32_t ptr[] = {0, 2, 3}, falling[] = {0, 3, 2}, beyond[] = {0, 2, 9}, one[] = {1, 2, 3};
    static const int32_t idx[] = {0, 2, 1}, far[] = {0, 3, 1}, below[] = {0, -1, 1};
    static const int64_t wide[] = {0, 1ll << 40, 1}, large[] = {1ll << 40, 3}, negative[] = {-2, 3};
    static const int64_t cube[] = {2, 2, 2};
    static const double zero_and_one[] = {0, 1};
    static const struct {
        enum code code;
        const char *says;
        struct npy_member m[MEMBERS];
    } table[] = {
        {E_INPUT, "no format", {SHAPE, DATA}},
        {E_INPUT, "a ZIP archive without arrays", {{"a.mtx", "<i4", "3,", ptr, 12}}},
        {E_INPUT, "no shape", {CSR, DATA}},
        {E_INPUT, "no data", {CSR, SHAPE}},
        {E_INPUT, "needs rows + 1 pointers", {CSR, SHAPE, DATA}},
        {E_INPUT, "as many indices as values", {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", ptr, 12}}},
        {E_INPUT, "unknown format \"xyz\"", {{"format.npy", "|S3", "", "xyz", 3}, SHAPE, DATA}},
        {E_INPUT,
         "the pointers decrease",
         {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", falling, 12}, {"indices.npy", "<i4", "3,", idx, 12}}},
        {E_INPUT,
         "but there are 3 entries",
         {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", beyond, 12}, {"indices.npy", "<i4", "3,", idx, 12}}},
        {E_INPUT,
         "instead of 0",
         {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", one, 12}, {"indices.npy", "<i4", "3,", idx, 12}}},
        {E_INPUT,
         "entry 1: column index 3 is outside 0 .. 2",
         {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", ptr, 12}, {"indices.npy", "<i4", "3,", far, 12}}},
        {E_INPUT,
         "entry 1: column index -1 is outside",
         {CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", ptr, 12}, {"indices.npy", "<i4", "3,", below, 12}}},
        {E_LIMIT,
         "array indices.npy holds 1099511627776, which does not fit in 32 bits",
         {CSR, SHAPE, DATA, {"indices.npy", "<i8", "3,", wide, 24}}},
        {E_MEMORY, "more than the available memory", {CSR, DATA, {"shape.npy", "<i8", "2,", large, 16}}},
        {E_INPUT, "none of them may be negative", {CSR, DATA, {"shape.npy", "<i8", "2,", negative, 16}}},
        {E_INPUT, "rows and columns", {CSR, DATA, {"shape.npy", "<i8", "0,", large, 0}}},
        {E_INPUT,
         "the array has 3 dimensions, but a matrix has 2; in Python, use A.reshape((rows, columns))",
         {CSR, DATA, {"shape.npy", "<i8", "3,", cube, 24}}},
        {E_INPUT, "does not hold the", {CSR, SHAPE, {"data.npy", "<f8", "4,", values, 24}}},
        {E_INPUT, "does not hold the", {CSR, SHAPE, {"data.npy", "<f8", "99999999999999,", values, 24}}},
        {E_INPUT, "type, order and shape", {CSR, SHAPE, {"data.npy", "<f8", "99999999999999999999,", values, 24}}},
        {E_INPUT, "type, order and shape", {CSR, SHAPE, {"data.npy", "<O8", "3,", values, 24}}},
        {E_INPUT,
         "quadruple precision; in Python, convert the matrix with A.astype(\"f8\")",
         {CSR, SHAPE, {"data.npy", "<f16", "1,", "\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\xff\x3f", 16}}},
        {E_INPUT, "not type f12", {CSR, SHAPE, {"data.npy", "<f12", "2,", values, 24}}},
        {E_INPUT,
         "the elements that are not stored are 2, not 0 (fill_value of PyData sparse)",
         {COO, SHAPE, DATA, {"fill_value.npy", "<f8", "", values + 1, 8}}},
        {E_INPUT,
         "the elements that are not stored are 1, not 0",
         {COO, SHAPE, DATA, {"fill_value.npy", "<c16", "", zero_and_one, 16}}},
        {E_INPUT, "two coordinates of each value", {COO, SHAPE, DATA, {"coords.npy", "<i4", "1, 3", idx, 12}}},
        {E_INPUT, "row and column indices", {COO, SHAPE, DATA, {"coords.npy", "<i4", "2, 1", idx, 8}}},
        {E_INPUT, "twice", {COO, {"row.npy", "<i4", "3,", idx, 12}, {"coords.npy", "<i4", "1, 3", idx, 12}}},
        {E_INPUT, "not type f8", {CSR, SHAPE, {"indices.npy", "<f8", "3,", values, 24}}},
        {E_INPUT, "twice", {CSR, SHAPE, DATA, DATA}},
        {E_INPUT, "as many row and column indices", {COO, SHAPE, DATA}},
        {E_INPUT, "three-dimensional data", {{"format.npy", "|S3", "", "bsr", 3}, SHAPE, DATA}},
        {E_INPUT, "as many offsets", {{"format.npy", "|S3", "", "dia", 3}, SHAPE, DATA}},
    };
    for (int i = 0; i < COUNT(table); i++)
        assert_refused(zip_of("hostile.npz", table[i].m), table[i].code, table[i].says);
}

TEST(unsorted_entries_are_sorted)
{
    static const int32_t ptr[] = {0, 3, 3}, idx[] = {2, 0, 2};
    static const int64_t row[] = {1, 1, 0}, col[] = {2, 2, 0};
    static const struct npy_member csr[] = {
        CSR, SHAPE, DATA, {"indptr.npy", "<i4", "3,", ptr, 12}, {"indices.npy", "<i4", "3,", idx, 12}, {0}};
    static const struct npy_member coo[] = {{"format.npy", "<U3", "", "c\0\0\0o\0\0\0o\0\0\0", 12},
                                            SHAPE,
                                            DATA,
                                            {"row.npy", "<i8", "3,", row, 24},
                                            {"col.npy", "<i8", "3,", col, 24},
                                            {0}};
    struct csr A;
    struct load_info info;
    assert_shown(zip_of("csr.npz", csr), NULL, "2x3: 1 1 2; 1 3 4");
    assert_shown(zip_of("coo.npz", coo), NULL, "2x3: 1 1 3; 2 3 3");
    load_well(scratch_path("csr.npz"), &A, &info);
    assert_int_equal(info.duplicates, 1);
    assert_int_equal(info.nnz_stored, 3);
    csr_free(&A);
}

/* A 1 x 2 matrix with two values of every type, in both byte orders. */
TEST(values_of_every_type_are_read)
{
    static const struct {
        const char *type, *bytes;
        size_t n;
        const char *shown, *field, *note;
    } table[] = {
        {"<f8", "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\x08\xc0", 16, "1x2: 1 1 1.5; 1 2 -3", "real", NULL},
        {">f8", "\x3f\xf8\0\0\0\0\0\0\xc0\x08\0\0\0\0\0\0", 16, "1x2: 1 1 1.5; 1 2 -3", "real", NULL},
        {"<f4", "\0\0\xc0\x3f\0\0\x40\xc0", 8, "1x2: 1 1 1.5; 1 2 -3", "real", NULL},
        {">f4", "\x3f\xc0\0\0\xc0\x40\0\0", 8, "1x2: 1 1 1.5; 1 2 -3", "real", NULL},
        {"<c16", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\x08\xc0\0\0\0\0\0\0\xe0\x3f", 32,
         "1x2: 1 1 1 2; 1 2 -3 0.5", "complex", NULL},
        {">c16", "\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\xc0\x08\0\0\0\0\0\0\x3f\xe0\0\0\0\0\0\0", 32,
         "1x2: 1 1 1 2; 1 2 -3 0.5", "complex", NULL},
        {"<c8", "\0\0\x80\x3f\0\0\0\x40\0\0\x40\xc0\0\0\0\x3f", 16, "1x2: 1 1 1 2; 1 2 -3 0.5", "complex", NULL},
        {">c8", "\x3f\x80\0\0\x40\0\0\0\xc0\x40\0\0\x3f\0\0\0", 16, "1x2: 1 1 1 2; 1 2 -3 0.5", "complex", NULL},
        {"|i1", "\x7f\xfe", 2, "1x2: 1 1 127; 1 2 -2", "integer", NULL},
        {"|u1", "\x7f\xfe", 2, "1x2: 1 1 127; 1 2 254", "integer", NULL},
        {"<i2", "\x01\x02\xfe\xff", 4, "1x2: 1 1 513; 1 2 -2", "integer", NULL},
        {">i2", "\x02\x01\xff\xfe", 4, "1x2: 1 1 513; 1 2 -2", "integer", NULL},
        {">u2", "\x02\x01\xff\xfe", 4, "1x2: 1 1 513; 1 2 65534", "integer", NULL},
        {">i4", "\0\0\x02\x01\xff\xff\xff\xfe", 8, "1x2: 1 1 513; 1 2 -2", "integer", NULL},
        {">u4", "\0\0\x02\x01\xff\xff\xff\xfe", 8, "1x2: 1 1 513; 1 2 4294967294", "integer", NULL},
        {">i8", "\0\0\0\0\0\0\x02\x01\xff\xff\xff\xff\xff\xff\xff\xfe", 16, "1x2: 1 1 513; 1 2 -2", "integer", NULL},
        {"<i8", "\x01\0\0\0\0\0\x20\0\xff\xff\xff\xff\xff\xff\xdf\xff", 16, /* 2^53 + 1 and -(2^53 + 1) */
         "1x2: 1 1 9007199254740992; 1 2 -9007199254740992", "integer", "2 integers beyond 2^53 were rounded"},
        {">u8", "\0\x20\0\0\0\0\0\x01\0\x1f\xff\xff\xff\xff\xff\xff", 16, /* 2^53 + 1 and 2^53 - 1 */
         "1x2: 1 1 9007199254740992; 1 2 9007199254740991", "integer", "1 integer beyond 2^53 was rounded"},
        {"<f2", "\0\x3e\x01\x80", 4, "1x2: 1 1 1.5; 1 2 -5.960464477539063e-08", "real", NULL},
        {">f2", "\x3e\0\x7b\xff", 4, "1x2: 1 1 1.5; 1 2 65504", "real", NULL},
        {"<f16", "\0\0\0\0\0\0\0\xc0\xff\x3f......\0\0\0\0\0\0\0\xc0\0\xc0......", 32, "1x2: 1 1 1.5; 1 2 -3", "real",
         NULL},
        {"<f16", "\1\0\0\0\0\0\0\x80\xff\x3f......\0\0\0\0\0\0\0\x80\x01\0......", 32, /* 1 + 2^-63, 2^-16382 */
         "1x2: 1 1 1; 1 2 0", "real", "2 80-bit values were rounded"},
        {">c32",
         "......\xbf\xff\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
         "......\x40\0\x80\0\0\0\0\0\0\0......\x40\x01\x80\0\0\0\0\0\0\1",
         64, "1x2: 1 1 -1.5 0; 1 2 2 4", "complex", "1 80-bit value was rounded"},
        {"|b1", "\x01\x02", 2, "1x2: 1 1 1; 1 2 1", "pattern", NULL},
    };
    static const int64_t one_by_two[] = {1, 2};
    struct csr A;
    struct load_info info;
    for (int i = 0; i < COUNT(table); i++) {
        const struct npy_member m[] = {CSR,
                                       {"shape.npy", "<i8", "2,", one_by_two, 16},
                                       {"indptr.npy", ">i4", "2,", "\0\0\0\0\0\0\0\x02", 8},
                                       {"indices.npy", ">i8", "2,", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16},
                                       {"data.npy", table[i].type, "2,", table[i].bytes, table[i].n},
                                       {0}};
        const char *path = zip_of("types.npz", m);
        assert_shown(path, NULL, table[i].shown);
        load_well(path, &A, &info);
        assert_string_equal(info.field, table[i].field);
        assert_int_equal(info.nwarnings, table[i].note != NULL);
        if (table[i].note) assert_string_equal(info.warning[0], table[i].note);
        csr_free(&A);
    }
}

/* Coordinates in one array: SciPy's rows, and the classes COO and GCXS of PyData sparse 0.19. GCXS names the axes that
   its pointers belong to: rows, columns, or none of a row. */
TEST(rows_and_arrays_of_pydata_are_read)
{
    static const int32_t coords[] = {1, 0, 1, 2, 0, 0}, line[] = {2, 0, 1}, ptr[] = {0, 2, 3}, idx[] = {0, 2, 1};
    static const int32_t one_row[] = {0, 3};
    static const int64_t six[] = {6}, columns[] = {0, 1, 1, 3}, rows_of_columns[] = {1, 0, 1}, one[] = {1},
                         none[] = {0};
    static const struct {
        const char *shown;
        struct npy_member m[MEMBERS];
    } table[] = {
        {"2x3: 1 1 2; 2 1 3; 2 3 1", {COO, SHAPE, DATA, {"coords.npy", "<i4", "2, 3", coords, 24}, FILL}},
        {"1x6: 1 1 2; 1 2 3; 1 3 1",
         {COO, {"shape.npy", "<i8", "1,", six, 8}, DATA, {"coords.npy", "<i4", "1, 3", line, 12}}},
        {"1x6: 1 1 1; 1 2 3; 1 3 2",
         {CSR,
          {"shape.npy", "<i8", "1,", six, 8},
          DATA,
          {"indptr.npy", "<i4", "2,", one_row, 8},
          {"indices.npy", "<i4", "3,", idx, 12}}},
        {"2x3: 1 1 1; 1 3 2; 2 2 3",
         {GCXS,
          SHAPE,
          DATA,
          {"indptr.npy", "<i4", "3,", ptr, 12},
          {"indices.npy", "<i4", "3,", idx, 12},
          {"compressed_axes.npy", "<i8", "1,", none, 8},
          FILL}},
        {"2x3: 1 3 2; 2 1 1; 2 3 3",
         {GCXS,
          SHAPE,
          DATA,
          {"indptr.npy", "<i8", "4,", columns, 32},
          {"indices.npy", "<i8", "3,", rows_of_columns, 24},
          {"compressed_axes.npy", "<i8", "1,", one, 8},
          FILL}},
        {"1x6: 1 1 1; 1 2 3; 1 3 2",
         {GCXS,
          {"shape.npy", "<i8", "1,", six, 8},
          DATA,
          {"indptr.npy", "<i4", "2,", one_row, 8},
          {"indices.npy", "<i4", "3,", idx, 12},
          {"compressed_axes.npy", "<i8", "0,", one, 0}}},
    };
    for (int i = 0; i < COUNT(table); i++) assert_shown(zip_of("pydata.npz", table[i].m), NULL, table[i].shown);
}

/* Values 1 + 11i, 2 + 12i, ..., and an array of them for each format that moves values. */
TEST(imaginary_parts_stay_with_their_entries)
{
    static const double six[] = {1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16}, some[] = {0, 2, 0, 0, 3, -1};
    static const double by_row[] = {1, 11, 3, 13, 5, 15, 2, 12, 4, 14, 6, 16};
    static const int32_t zero[] = {0}, block[] = {0, 1}, ptr[] = {0, 3, 3}, idx[] = {2, 0, 2};
    static const int32_t three[] = {0, 3}, in_order[] = {0, 1, 2};
    static const struct {
        const char *shown;
        struct npy_member m[MEMBERS];
    } table[] = {
        {"2x3: 1 1 1 11; 1 2 2 12; 1 3 3 13; 2 1 4 14; 2 2 5 15; 2 3 6 16", /* one block of 2 x 3 */
         {{"format.npy", "|S3", "", "bsr", 3},
          SHAPE,
          {"indptr.npy", "<i4", "2,", block, 8},
          {"indices.npy", "<i4", "1,", zero, 4},
          {"data.npy", "<c16", "1, 2, 3", six, 96}}},
        {"2x3: 1 1 1 11; 1 2 3 13; 1 3 5 15; 2 1 2 12; 2 2 4 14; 2 3 6 16", /* the block in Fortran order */
         {{"format.npy", "|S3", "", "bsr", 3},
          SHAPE,
          {"indptr.npy", "<i4", "2,", block, 8},
          {"indices.npy", "<i4", "1,", zero, 4},
          {"data.npy", "F<c16", "1, 2, 3", six, 96}}},
        {"2x3: 1 1 1 11; 1 2 3 13; 1 3 5 15; 2 1 2 12; 2 2 4 14; 2 3 6 16", /* three blocks of 2 x 1 in Fortran order */
         {{"format.npy", "|S3", "", "bsr", 3},
          SHAPE,
          {"indptr.npy", "<i4", "2,", three, 8},
          {"indices.npy", "<i4", "3,", in_order, 12},
          {"data.npy", "F<c16", "3, 2, 1", by_row, 96}}},
        {"2x3: 1 1 0 2", /* the diagonal; its second value is 0, its third is beyond the last row */
         {{"format.npy", "|S3", "", "dia", 3},
          SHAPE,
          {"offsets.npy", "<i4", "1,", zero, 4},
          {"data.npy", "<c16", "1, 3", some, 48}}},
        {"2x3: 1 1 2 12; 1 3 4 24", /* the first and third value are of the same entry */
         {CSR,
          SHAPE,
          {"indptr.npy", "<i4", "3,", ptr, 12},
          {"indices.npy", "<i4", "3,", idx, 12},
          {"data.npy", "<c16", "3,", six, 48}}},
    };
    for (int i = 0; i < COUNT(table); i++) assert_shown(zip_of("complex.npz", table[i].m), NULL, table[i].shown);
}

/* Rows one after another, as in C, and columns one after another, as in Fortran, are the same array. */
TEST(right_sides_of_complex_npz_are_read_by_columns)
{
    static const int32_t ptr[] = {0, 1, 2}, idx[] = {0, 1};
    static const int64_t two_by_two[] = {2, 2};
    static const double data[] = {1, 0, 1, 0}, b[] = {1, 10, 2, 20, 3, 30, 4, 40};
    static const double columns[] = {1, 10, 3, 30, 2, 20, 4, 40};
    static const struct npy_member m[] = {CSR,
                                          {"shape.npy", "<i8", "2,", two_by_two, 16},
                                          {"indptr.npy", "<i4", "3,", ptr, 12},
                                          {"indices.npy", "<i4", "2,", idx, 8},
                                          {"data.npy", "<c16", "2,", data, 32},
                                          {"b.npy", "<c16", "2, 2", b, 64},
                                          {0}};
    struct csr A;
    struct sides t;
    struct load_info info;
    struct err e = {0};
    assert_true(file_load_system(zip_of("b.npz", m), NULL, NULL, &A, &t, &info, &e));
    assert_int_equal(t.n, 2);
    assert_int_equal(t.b_each, 4);
    assert_memory_equal(t.b, columns, sizeof columns);
    csr_free(&A);
    sides_free(&t);
}

/* ---- Rutherford-Boeing, line by line ---- */

#define RB(type, sizes, formats, rest) "title\n 3 1 1 1\n" type "           " sizes "\n" formats "\n" rest

TEST(lines_of_fortran_are_read)
{
    static const struct {
        const char *text, *shown, *says; /* says: text of the error; NULL: the file loads */
    } table[] = {
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n  150  -25\n"), "2x2: 1 2 -0.25; 2 1 1.5", NULL},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (1P,2E7.1)", " 1 2 3\n 2 1\n1.5D+01 2.5   \n"), "2x2: 1 2 0.25; 2 1 15",
         NULL},
        {RB("rua", "2 2 2 0", "(3I2) (2I2) (1P2E9.1)", " 1 2 3\n 2 1\n  1.5E 02 -2.5E-01\n"), "2x2: 1 2 -0.25; 2 1 150",
         NULL},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2E5.1)", " 1 2 3\r\n 2 1\r\n15E01-25E0\r\n"), "2x2: 1 2 -2.5; 2 1 15",
         NULL},
        {RB("RZA", "2 2 1 0", "(3I2) (1I2) (1F5.2)", " 1 2 2\n 2\n 1.50\n"), "2x2: 1 2 -1.5; 2 1 1.5", NULL},
        {RB("RZA", "2 2 1 0", "(3I2) (1I2) (1F5.2)", " 1 2 2\n 1\n 1.50\n"), NULL, "must be 0"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2E5.3)", " 1 2 3\n 2 1\n 15E0-25E2\n"), "2x2: 1 2 -2.5; 2 1 0.015", NULL},
        {RB("CZA", "2 2 1 0", "(3I2) (1I2) (2F5.2)", " 1 2 2\n 2\n 1.50 2.50\n"), "2x2: 1 2 -1.5 -2.5; 2 1 1.5 2.5",
         NULL},
        {RB("CZA", "2 2 1 0", "(3I2) (1I2) (2F5.2)", " 1 2 2\n 1\n 0.00 2.50\n"), NULL, "must be 0"},
        {RB("CSA", "2 2 1 0", "(3I2) (1I2) (2F5.2)", " 1 2 2\n 2\n 1.50 2.50\n"), "2x2: 1 2 1.5 2.5; 2 1 1.5 2.5",
         NULL},
        {"title\n 4 1 1 1 0\nPUA            2 2 1 0\n(3I2) (1I2)\n 1 2 2\n 2\n", "2x2: 2 1 1", NULL},
        {"title\n 5 1 1 1 1\nRUA            2 2 1 0\n(3I2) (1I2) (1F5.2) (2F5.2)\nF   1 0\n 1 2 2\n 2\n 1.50\n 1.0 "
         "2.0\n",
         "2x2: 2 1 1.5", NULL},
        {RB("CHA", "2 2 1 0", "(3I2) (1I2) (2F5.2)", " 1 2 2\n 2\n 1.50 2.50\n"), "2x2: 1 2 1.5 -2.5; 2 1 1.5 2.5",
         NULL},
        {RB("RSA", "2 3 1 0", "(4I2) (1I2) (1F5.2)", " 1 2 2 2\n 2\n 1.50\n"), NULL, "must be square"},
        {RB("RSA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n 1.50 1.50\n"), NULL, "holds both"},
        {RB("PRA", "1 2 2 0", "(3I2) (2I2)", " 1 2 3\n 1 1\n"), "1x2: 1 1 1; 1 2 1", NULL},
        {RB("RUA", "2 2 2 0", "(3I2) (2X2) (2F5.2)", " 1 2 3\n 2 1\n 1.50 1.50\n"), NULL, "the format of the indices"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2)", " 1 2 3\n 2 1\n 1.50 1.50\n"), NULL, "the format of the values"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 3\n 1.50 1.50\n"), NULL,
         "row index 2 is outside 0 .. 1"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 0\n 1.50 1.50\n"), NULL,
         "found \" 2 0\" instead of a row index"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 3 2\n 2 1\n 1.50 1.50\n"), NULL,
         "the column pointers end with 2 instead of 3"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n 1.50\n"), NULL,
         "found \"the end of the line\" instead of a value"},
        {RB("RUA", "2 2 2 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n 1.50 1.x0\n"), NULL,
         "found \"1.x0\" instead of a value"},
        {RB("RUA", "2 2 999999999 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n 1.50 1.50\n"), NULL,
         "the file is truncated"},
        {RB("RUA", "2 2 9999999999 0", "(3I2) (2I2) (2F5.2)", " 1 2 3\n 2 1\n 1.50 1.50\n"), NULL, "32-bit"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        const char *path = write_file("t.rb", table[i].text, strlen(table[i].text));
        struct csr A;
        struct load_info info;
        struct err e = {0};
        if (!table[i].says)
            assert_shown(path, NULL, table[i].shown);
        else if (load_part(path, NULL, &A, &info, &e) || !strstr(e.text, table[i].says))
            fail_msg("%d: expected \"%s\", got \"%s\"", i, table[i].says, e.text);
    }
}

/* ---- failing allocations, cancelling, names ---- */

struct trip {
    const char *from, *to;
};

static bool go(const void *user, struct err *e)
{
    const struct trip *t = user;
    struct csr A;
    struct load_info info;
    bool ok = file_load(t->from, NULL, NULL, &A, &info, e);
    if (ok && t->to) ok = file_save(t->to, true, &A, &info, "a test", NULL, e);
    csr_free(&A);
    return ok;
}

TEST(every_failing_allocation_is_reported)
{
    static const char *const samples[] = {"csr.npz",
                                          "csc.npz",
                                          "coo.npz",
                                          "bsr.npz",
                                          "dia.npz",
                                          "complex.npz",
                                          "real.rb",
                                          "level5.mat",
                                          "symmetric.rb",
                                          "system.petsc",
                                          "wide_complex.petsc",
                                          "dense.petsc",
                                          "parts.IJ.00000"};
    scratch_remove();
    for (int i = 0; i < COUNT(samples); i++)
        for (int k = 0; k < 4; k++) {
            char path[64];
            snprintf(path, sizeof path, SAMPLES "%s", samples[i]);
            struct trip t = {path, scratch_path(written[k])};
            assert_true(fail_each(go, &t) > 2);
            t = (struct trip){t.to, NULL};
            assert_true(fail_each(go, &t) > 2);
        }
    assert_int_equal(scratch_files(), 4); /* no partly written file remains */
}

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done <= total || total == 0);
    return --*(int *)w->user > 0;
}

TEST(every_load_and_save_can_be_cancelled)
{
    static const char *const names[] = {"c.wsb",      "c.npz",       "c.mat",        "c.petsc",
                                        "c.IJ.00000", "level73.mat", "symmetric.rb", "coo.npz"};
    struct csr A = shape_csr(&shapes[12], 1), B;
    struct load_info info;
    for (int i = 0; i < COUNT(names); i++) {
        int calls = 1;
        struct watch w = {.tick = stop_at, .user = &calls};
        struct err e = {0};
        const char *path = scratch_path(names[i]);
        if (i >= 5) {
            char sample[64];
            snprintf(sample, sizeof sample, SAMPLES "%s", names[i]);
            path = copy_of(sample, names[i]);
        } else {
            assert_false(file_save(path, true, &A, NULL, NULL, &w, &e));
            assert_int_equal(e.code, E_CANCELLED);
            assert_int_not_equal(access(path, F_OK), 0);
            err_clear(&e);
            assert_true(file_save(path, true, &A, NULL, NULL, NULL, &e));
            calls = 1;
        }
        assert_false(file_load(path, NULL, &w, &B, &info, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_null(B.rowptr);
    }
    csr_free(&A);
}

/* ---- vectors as the columns of a .npy file ---- */

static const char *npy_of(const char *type, const char *shape, bool fortran, const void *items, size_t bytes)
{
    static char path[256];
    char head[NPY_HEADER + 1];
    snprintf(path, sizeof path, "%s", scratch_path("x.npy"));
    write_head(head, type, shape, fortran);
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite(head, NPY_HEADER, 1, f) == 1 && fwrite(items, 1, bytes, f) == bytes && !fclose(f));
    return path;
}

/* Element (r, c) is 10 r + c, in all types and orders. */
TEST(columns_of_npy_files)
{
    static const double f8[] = {0, 1, 10, 11, 20, 21}, f8_columns[] = {0, 10, 20, 1, 11, 21};
    static const float f4[] = {0, 1, 10, 11, 20, 21};
    static const unsigned char i4_big[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0, 20, 0, 0, 0, 21},
                               i2_big[] = {0, 0, 0, 1, 0, 10, 0, 11, 0, 20, 0, 21}, u1[] = {0, 1, 10, 11, 20, 21};
    static const struct {
        const char *type;
        bool fortran;
        const void *items;
        size_t bytes;
    } files[] = {{"<f8", false, f8, sizeof f8},         {"<f8", true, f8_columns, sizeof f8_columns},
                 {"<f4", false, f4, sizeof f4},         {">i4", false, i4_big, sizeof i4_big},
                 {">i2", false, i2_big, sizeof i2_big}, {"|u1", false, u1, sizeof u1}};
    for (int i = 0; i < COUNT(files); i++) {
        double *x = NULL;
        int64_t rows, columns;
        struct err e = {0};
        const char *path = npy_of(files[i].type, "3, 2", files[i].fortran, files[i].items, files[i].bytes);
        if (!columns_load(path, &x, &rows, &columns, &e)) fail_msg("%s: %s", files[i].type, e.text);
        assert_true(rows == 3 && columns == 2);
        for (int k = 0; k < 6; k++)
            if (x[k] != 10 * (k % 3) + k / 3) fail_msg("%s: element %d is %g", files[i].type, k, x[k]);
        mem_free(x);
    }
}

/* A file that cannot be used leaves no vectors behind. */
TEST(unusable_npy_files)
{
    static const double f8[6] = {0};
    static const struct {
        const char *type, *shape, *says;
        size_t bytes;
    } files[] = {{"<f8", "3, 2", "ends early", 40},
                 {"<f8", "3, 2", "ends early", 0},
                 {"<c4", "3, 2", "must have real numbers", 24},
                 {"<c16", "3,", "must have real numbers", 48},
                 {"<f8", "1, 2, 3", "no array of one or two axes", 48}};
    for (int i = 0; i < COUNT(files); i++) {
        double *x = NULL;
        int64_t rows, columns;
        struct err e = {0};
        assert_false(
            columns_load(npy_of(files[i].type, files[i].shape, false, f8, files[i].bytes), &x, &rows, &columns, &e));
        if (e.code != E_INPUT || !strstr(e.text, files[i].says)) fail_msg("%s: %s", files[i].says, e.text);
        assert_null(x);
    }
}

static bool shrink(struct watch *w, const char *what, int64_t done, int64_t total)
{
    if (done > 0) assert_int_equal(truncate(w->user, 4096 + 100), 0); /* the reader has already checked the size */
    return true;
}

TEST(a_file_may_shrink_while_it_is_read)
{
    static const char *const names[] = {"s.wsb", "s.npz", "s.petsc"};
    struct csr A, B;
    struct load_info info;
    A = shape_csr(&shapes[18], 1);
    for (int i = 0; i < COUNT(names); i++) {
        char path[256];
        struct err e = {0};
        snprintf(path, sizeof path, "%s", scratch_path(names[i]));
        struct watch w = {.tick = shrink, .user = path};
        assert_true(file_save(path, true, &A, NULL, NULL, NULL, &e));
        loop_check_all(true);
        assert_false(file_load(path, NULL, &w, &B, &info, &e));
        loop_check_all(false);
        assert_int_equal(e.code, E_INPUT);
        assert_non_null(strstr(e.text, i == 1 ? "truncated" : "shrank"));
        assert_null(B.rowptr);
    }
    csr_free(&A);
}

TEST(the_ending_chooses_the_kind)
{
    struct csr A = shape_csr(&shapes[4], 1);
    struct err e = {0};
    assert_true(file_save(scratch_path("UPPER.NPZ"), true, &A, NULL, NULL, NULL, &e));
    assert_shown(scratch_path("UPPER.NPZ"), NULL, "1x1: 1 1 48.375");
    assert_false(file_save(scratch_path("a.csv"), true, &A, NULL, NULL, NULL, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_non_null(strstr(e.text, ".mtx .mtx.gz"));
    err_clear(&e);
    assert_false(file_save(scratch_path("no/such/place.wsb"), true, &A, NULL, NULL, NULL, &e));
    assert_int_equal(e.code, E_IO);
    csr_free(&A);
}

TEST(inf_and_nan_are_reported_for_every_kind)
{
    static const char *const names[] = {"wild.npz", "wild.wsb", "wild.mat", "wild.petsc", "wild.IJ.00000", "wild.mtx"};
    struct csr A, B;
    assert_true(csr_from_triplets(&A, 3, 3, 3, (int[]){0, 1, 2}, (int[]){0, 2, 1}, (double[]){1, NAN, INFINITY}, NULL,
                                  NULL, NULL));
    for (int i = 0; i < COUNT(names); i++) {
        struct load_info info = {0};
        assert_true(file_save(scratch_path(names[i]), true, &A, NULL, NULL, NULL, NULL));
        assert_true(file_load(scratch_path(names[i]), NULL, NULL, &B, &info, NULL));
        assert_int_equal(info.nwarnings, 1);
        assert_non_null(
            strstr(info.warning[0], i < 5 ? "the first inf or nan is in row 1, column 2" : "values are inf or nan"));
        csr_free(&B);
    }
    csr_free(&A);
}

/* A binary file is not read from beginning to end, so it cannot be read from a pipe. */
TEST(a_binary_file_needs_more_than_a_pipe)
{
    static const char *const names[] = {"csr.npz", "level5.mat", "system.petsc", "parts.IJ.00000"};
    for (int i = 0; i < COUNT(names); i++) {
        char from[256];
        size_t n;
        snprintf(from, sizeof from, SAMPLES "%s", names[i]);
        char *data = read_whole(from, &n);
        const char *pipe = scratch_path("binary.pipe");
        assert_int_equal(mkfifo(pipe, 0600), 0);
        int keeper = open(pipe, O_RDONLY | O_NONBLOCK), to = open(pipe, O_WRONLY);
        assert_int_equal(write(to, data, n < 1024 ? n : 1024), n < 1024 ? n : 1024);
        close(to);
        assert_refused(pipe, E_INPUT, "cannot be read from a pipe; write it to a file first");
        close(keeper);
        unlink(pipe);
        mem_free(data);
    }
}

TEST(help_names_every_kind)
{
    char load[HELP_ROOM], save[HELP_ROOM];
    command_text(command_find("load"), load);
    command_text(command_find("save"), save);
    for (int i = 0; file_kinds[i]; i++) {
        char ending[16];
        for (const char *p = file_kinds[i]->endings; *p; p += strspn(p, " ")) {
            size_t n = strcspn(p, " ");
            snprintf(ending, sizeof ending, "%.*s", (int)n, p);
            if (!strstr(load, ending)) fail_msg("help load does not name %s", ending);
            if (file_kinds[i]->save && !strstr(save, ending)) fail_msg("help save does not name %s", ending);
            p += n;
        }
    }
}

TEST(commands_load_and_save_every_kind)
{
    struct talk t;
    char line[512];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/level5.mat variable Problem.A as P"));
    assert_non_null(strstr(t.out, "P: 5 x 4, 7 nonzeros"));
    snprintf(line, sizeof line, "save %s P; load %s", scratch_path("p.wsb"), scratch_path("p.wsb"));
    assert_true(talk_line(&t, line));
    assert_non_null(strstr(t.out, "p: 5 x 4, 7 nonzeros (7 in the file, real general)"));
    assert_non_null(strstr(t.err, "a copy of tests/files/level5.mat"));
    assert_false(talk_line(&t, "save tests/files/x.csv P"));
    snprintf(line, sizeof line, "save %s P", scratch_path("p.wsb"));
    talk_refuses(&t, line, "file exists; add `force` to the command to overwrite it");
    snprintf(line, sizeof line, "save %s P force", scratch_path("p.wsb"));
    assert_true(talk_line(&t, line));
    talk_close(&t);
}

SUITE(.teardown = tidy);
