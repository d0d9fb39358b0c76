/* Text files without a banner: graphs of METIS, Chaco and Scotch, and lists of triplets. The matrices are worked out by
   hand from the formats' descriptions. The graph of seven vertices is figure 3 of METIS's manual. */
#include "base/available.h"
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_folders.h"
#include "files/plain.h"
#include "files/sides.h"
#include "kits/collection.h"
#include "kits/mtx_kit.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct list_words no_words = {-1, -1, -1};

static bool load_text(const char *name, const char *text, size_t n, const struct list_words *words, struct csr *A,
                      struct load_info *info, struct err *e)
{
    struct sides sides;
    bool given = words && (words->rows >= 0 || words->cols >= 0 || words->first >= 0);
    bool ok = file_load_list(write_file(name, text, n), NULL, given ? words : NULL, NULL, A, &sides, info, e);
    sides_free(&sides);
    if (ok && !csr_check(A, e)) fail_msg("%s: %s", name, e->text);
    if (!ok) assert_true(!A->rowptr && !A->col && !A->val && e->code && e->text[0]);
    return ok;
}

/* ---- files that are read ---- */

#define SEVEN "5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n"
#define SEVEN_SHOWN                                                                              \
    "7x7: 1 2 1; 1 3 1; 1 5 1; 2 1 1; 2 3 1; 2 4 1; 3 1 1; 3 2 1; 3 4 1; 3 5 1; 4 2 1; 4 3 1; 4" \
    " 6 1; 4 7 1; 5 1 1; 5 3 1; 5 6 1; 6 4 1; 6 5 1; 6 7 1; 7 4 1; 7 6 1"
#define TWO "2x2: 1 2 1; 2 1 1"
#define WEIGHTED "3x3: 1 2 4; 2 1 4; 2 3 7; 3 2 7"

static const struct good {
    const char *name, *file, *text;
    struct list_words words;
    const char *shown; /* by show_matrix, whose indices start at 1 */
    const char *field, *symmetry;
    const char *note; /* part of a note; NULL: there are none */
} good[] = {
    {"metis", "a.graph", "7 11\n" SEVEN, {-1, -1, -1}, SEVEN_SHOWN, "pattern", "symmetric", NULL},
    {"metis_by_content",
     "a.txt",
     "% one\n\n7 11 0\n%two\n" SEVEN,
     {-1, -1, -1},
     SEVEN_SHOWN,
     "pattern",
     "symmetric",
     NULL},
    {"metis_crlf", "a.graph", "2 1\r\n2\r\n1\r\n", {-1, -1, -1}, TWO, "pattern", "symmetric", NULL},
    {"metis_edge_weights",
     "a.graph",
     "3 2 1\n2 4\n1 4 3 7\n2 7\n",
     {-1, -1, -1},
     WEIGHTED,
     "integer",
     "symmetric",
     NULL},
    {"metis_001", "a.graph", "3 2 001\n2 4\n1 4 3 7\n2 7\n", {-1, -1, -1}, WEIGHTED, "integer", "symmetric", NULL},
    {"metis_fractions",
     "a.graph",
     "2 1 1\n2 0.5\n1 0.5\n",
     {-1, -1, -1},
     "2x2: 1 2 0.5; 2 1 0.5",
     "real",
     "symmetric",
     NULL},
    {"metis_vertex_weights",
     "a.graph",
     "2 1 10\n9 2\n8 1\n",
     {-1, -1, -1},
     TWO,
     "pattern",
     "symmetric",
     "1 weight per vertex is not part of the matrix"},
    {"metis_several_weights",
     "a.graph",
     "2 1 011 3\n9 9 9 2 5\n8 8 8 1 5\n",
     {-1, -1, -1},
     "2x2: 1 2 5; 2 1 5",
     "integer",
     "symmetric",
     "3 weights per vertex are not"},
    {"metis_sizes",
     "a.graph",
     "3 2 100\n5 2\n1 1 3\n1 2\n",
     {-1, -1, -1},
     "3x3: 1 2 1; 2 1 1; 2 3 1; 3 2 1",
     "pattern",
     "symmetric",
     "the sizes of the vertices are not part"},
    {"chaco_numbers",
     "a.graph",
     "3 2 100\n1 2\n2 1 3\n3 2\n",
     {-1, -1, -1},
     "3x3: 1 2 1; 2 1 1; 2 3 1; 3 2 1",
     "pattern",
     "symmetric",
     NULL},
    {"metis_isolated", "a.graph", "4 1\n\n3\n2\n\n", {-1, -1, -1}, "4x4: 2 3 1; 3 2 1", "pattern", "symmetric", NULL},
    {"metis_no_last_end", "a.graph", "2 1\n2\n1", {-1, -1, -1}, TWO, "pattern", "symmetric", NULL},
    /* all lines have two numbers, and each edge stands at both ends */
    {"metis_cycle",
     "a.graph",
     "4 4\n2 4\n1 3\n2 4\n1 3\n",
     {-1, -1, -1},
     "4x4: 1 2 1; 1 4 1; 2 1 1; 2 3 1; 3 2 1; 3 4 1; 4 1 1; 4 3 1",
     "pattern",
     "symmetric",
     NULL},
    {"scotch",
     "a.grf",
     "0\n3\t4\n0\t000\n1\t1\n2\t0\t2\n1\t1\n",
     {-1, -1, -1},
     "3x3: 1 2 1; 2 1 1; 2 3 1; 3 2 1",
     "pattern",
     "symmetric",
     NULL},
    {"scotch_from_1", "a.txt", "0\n2 2\n1 000\n1 2\n1 1\n", {-1, -1, -1}, TWO, "pattern", "symmetric", NULL},
    {"scotch_weights",
     "a.src",
     "0\n3 4\n0 011\n9 1 4 1\n9 2 4 0 7 2\n9 1 7 1\n",
     {-1, -1, -1},
     WEIGHTED,
     "integer",
     "symmetric",
     "the weights of the vertices"},
    {"scotch_lines", "a.grf", "0\n2 2\n0 000\n1\n1\n1 0", {-1, -1, -1}, TWO, "pattern", "symmetric", NULL},

    {"csparse",
     "t1",
     "2 2 3.0\n1 0 3.1\n0 2 3.25\n",
     {-1, -1, -1},
     "3x3: 1 3 3.25; 2 1 3.1; 3 3 3",
     "real",
     "general",
     "counted from 0 (0 occurs): 3 x 3 by its largest indices"},
    {"from_1",
     "a.txt",
     "1 1 5\n3 2 -1.5\n",
     {-1, -1, -1},
     "3x2: 1 1 5; 3 2 -1.5",
     "real",
     "general",
     "counted from 1 (0 does not occur): 3 x 2"},
    {"said_from_0",
     "a.txt",
     "1 1 5\n3 2 -1.5\n",
     {-1, -1, 0},
     "4x3: 2 2 5; 4 3 -1.5",
     "real",
     "general",
     "counted from 0: 4 x 3"},
    {"said_from_1_and_sizes", "a.txt", "1 1 5\n3 2 -1.5\n", {4, 5, 1}, "4x5: 1 1 5; 3 2 -1.5", "real", "general", NULL},
    {"said_columns", "a.txt", "1 1 5\n3 2 -1.5\n", {-1, 3, -1}, "3x3: 1 1 5; 3 2 -1.5", "real", "general", "3 x 3"},
    {"edges",
     "a.txt",
     "# Directed graph\r\n# FromNodeId\tToNodeId\n0\t3\n0\t1\n# more\n1\t3\n",
     {-1, -1, -1},
     "4x4: 1 2 1; 1 4 1; 2 4 1",
     "pattern",
     "general",
     "4 x 4, square by its largest index"},
    {"duplicates",
     "a.txt",
     "1 1 5\n1 1 2\n2 1 1\n",
     {-1, -1, -1},
     "2x1: 1 1 7; 2 1 1",
     "real",
     "general",
     "counted from 1"},
    {"complex", "a.txt", "1 1 5 -1\n2 2 0 2\n", {-1, -1, -1}, "2x2: 1 1 5 -1; 2 2 0 2", "complex", "general", "2 x 2"},
    {"real_indices",
     "a.dat",
     "   1.0000000e+00   2.0000000e+00   3.5e+00\n 2.0e0 1 1\n",
     {-1, -1, -1},
     "2x2: 1 2 3.5; 2 1 1",
     "real",
     "general",
     "2 x 2"},
    {"table",
     "a.csv",
     "row,col,value\n0,1,2.5\n1, 0 ,-1\n",
     {-1, -1, -1},
     "2x2: 1 2 2.5; 2 1 -1",
     "real",
     "general",
     "2 x 2"},
    {"table_of_edges",
     "a.csv",
     "Source;Target\n0;1\n2;0\n",
     {-1, -1, -1},
     "3x3: 1 2 1; 3 1 1",
     "pattern",
     "general",
     "3 x 3"},
    {"table_without_header",
     "a.csv",
     "1,2,2.5\n2,1,-1",
     {-1, -1, -1},
     "2x2: 1 2 2.5; 2 1 -1",
     "real",
     "general",
     "2 x 2"},
    {"byte_order_mark",
     "a.csv",
     "\xef\xbb\xbfi,j,v\n1,2,2.5\n2,1,-1",
     {-1, -1, -1},
     "2x2: 1 2 2.5; 2 1 -1",
     "real",
     "general",
     "2 x 2"},
    {"frostt", "a.tns", "# order 2\n1 1 1.0\n2 3 4.0\n", {-1, -1, -1}, "2x3: 1 1 1; 2 3 4", "real", "general", "2 x 3"},
    {"cholmod",
     "a.tri",
     "3 4 2\n1 1 5\n3 2 -1.5\n",
     {-1, -1, -1},
     "3x4: 1 1 5; 3 2 -1.5",
     "real",
     "general",
     "counted from 1 (0 does not occur): 3 x 4"},
    {"cholmod_from_0",
     "a.tri",
     "% x\n3 4 2 0\n0 1 5\n2 3 -1.5\n",
     {-1, -1, -1},
     "3x4: 1 2 5; 3 4 -1.5",
     "real",
     "general",
     "counted from 0"},
    {"cholmod_lower",
     "a.tri",
     "2 2 3 -1\n1 1 5\n2 1 3\n1 2 9\n",
     {-1, -1, -1},
     "2x2: 1 1 5; 1 2 3; 2 1 3",
     "real",
     "symmetric",
     "1 entry above the diagonal left out"},
    {"cholmod_upper_hermitian",
     "up.tri",
     "2 2 2 1\n1 1  1. 0.\n1 2  2. -1.\n",
     {-1, -1, -1},
     "2x2: 1 1 1 0; 1 2 2 -1; 2 1 2 1",
     "complex",
     "hermitian",
     "counted from 1"},
    {"cholmod_pattern",
     "a.tri",
     "2 2 2 1\n1 1\n1 2\n",
     {-1, -1, -1},
     "2x2: 1 1 1; 1 2 1; 2 1 1",
     "pattern",
     "symmetric",
     "counted from 1"},
    {"cholmod_empty", "a.tri", "3 4 0\n", {-1, -1, -1}, "3x4:", "real", "general", "3 x 4"},
    {"superlu",
     "a.txt",
     "3 2\n1 1 5\n3 2 -1.5\n",
     {-1, -1, -1},
     "3x3: 1 1 5; 3 2 -1.5",
     "real",
     "general",
     "counted from 1"},
    {"column_beyond_a_size", "a.txt", "2 1 5\n1 2 6\n", {-1, -1, -1}, "2x2: 1 2 6; 2 1 5", "real", "general", "2 x 2"},
    {"size_line_is_an_entry",
     "a.txt",
     "3 3 2\n1 1 5\n3 2 4\n",
     {3, 3, -1},
     "3x3: 1 1 5; 3 2 4; 3 3 2",
     "real",
     "general",
     "counted from 1"},
    {"octave",
     "a.txt",
     "# Created by Octave 8.4.0\n# name: A\n# type: sparse matrix\n# nnz: 2\n# rows: 3\n# columns: 2\n2 1 5\n3 2 "
     "-1.5\n\n\n",
     {-1, -1, -1},
     "3x2: 2 1 5; 3 2 -1.5",
     "real",
     "general",
     NULL},
    {"octave_complex",
     "a.txt",
     "# name: A\n# type: sparse complex matrix\n# nnz: 1\n# rows: 1\n# columns: 2\n1 2 (0.5,-2)\n",
     {-1, -1, -1},
     "1x2: 1 2 0.5 -2",
     "complex",
     "general",
     NULL},
    {"octave_first_of_two",
     "a.txt",
     "# name: A\n# type: sparse matrix\n# nnz: 1\n# rows: 1\n# columns: 1\n1 1 2\n\n\n# name: b\n# type: scalar\n7\n",
     {-1, -1, -1},
     "1x1: 1 1 2",
     "real",
     "general",
     NULL},
};

TEST_OF_EACH(is_read, good)
{
    const struct good *g = *state;
    char out[2048];
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!load_text(g->file, g->text, strlen(g->text), &g->words, &A, &info, &e)) fail_msg("%s: %s", e.where, e.text);
    show_matrix(&A, out, sizeof out);
    assert_string_equal(out, g->shown);
    assert_string_equal(info.field, g->field);
    assert_string_equal(info.symmetry, g->symmetry);
    bool noted = false;
    for (int i = 0; i < info.nwarnings; i++) noted |= g->note && strstr(info.warning[i], g->note);
    if (g->note && !noted) fail_msg("no note \"%s\" but \"%s\"", g->note, info.nwarnings ? info.warning[0] : "");
    if (!g->note) assert_int_equal(info.nwarnings, 0);
    csr_free(&A);
}

/* ---- files that are refused ---- */

static const struct wrong {
    const char *name, *file, *text;
    struct list_words words;
    int line; /* 0: the error names the file only */
    const char *says;
} wrong[] = {
    {"one_sided",
     "a.graph",
     "3 2\n2 3\n1\n\n",
     {-1, -1, -1},
     2,
     "vertex 1 lists vertex 3, but line 4, of vertex 3, does not list"},
    {"one_sided_after_comment", "a.graph", "3 2\n%\n2 3\n1\n%\n\n", {-1, -1, -1}, 3, "but line 6, of vertex 3,"},
    {"weights_differ", "a.graph", "2 1 1\n2 4\n1 5\n", {-1, -1, -1}, 2, "has weight 4 here and weight 5 in line 3"},
    {"too_few_edges",
     "a.graph",
     "3 3\n2 3\n1\n1\n",
     {-1, -1, -1},
     1,
     "declares 3 edges, which are listed at both ends, but the "
     "vertices list 4 neighbours and not 6"},
    {"too_many_edges",
     "a.graph",
     "3 1\n2 3\n1\n1\n",
     {-1, -1, -1},
     3,
     "one neighbour too many: line 1 declares 1 edge"},
    {"too_few_vertices", "a.graph", "4 2\n2 3\n1\n1\n", {-1, -1, -1}, 4, "ends after 3 of 4 vertices"},
    {"too_many_vertices",
     "a.graph",
     "2 1\n2\n1\n\n1\n",
     {-1, -1, -1},
     5,
     "one line too many: line 1 declares 2 vertices"},
    {"loop", "a.graph", "3 2\n2 1\n1 3 2\n2\n", {-1, -1, -1}, 2, "vertex 1 lists itself"},
    {"twice", "a.graph", "3 3\n2 2 3\n1 1\n1\n", {-1, -1, -1}, 2, "vertex 1 lists vertex 2 twice"},
    {"outside", "a.graph", "3 2\n2 4\n1 3 2\n2\n", {-1, -1, -1}, 2, "vertex 4, which is outside 1 .. 3"},
    {"zero", "a.graph", "3 2\n2 0\n1 3 2\n2\n", {-1, -1, -1}, 2, "vertex 0, which is outside 1 .. 3"},
    {"text", "a.graph", "3 2\n2 x\n1 3 2\n2\n", {-1, -1, -1}, 2, "a neighbour is text that is not an integer: \"x\""},
    {"weight_missing", "a.graph", "3 2 1\n2 4\n1 4 3\n2 7\n", {-1, -1, -1}, 3, "the line ends before the weight"},
    {"vertex_weight_missing",
     "a.graph",
     "3 1 10\n1 2\n1 1\n\n",
     {-1, -1, -1},
     4,
     "the line ends before a weight of the vertex"},
    {"cannot_fit", "a.graph", "300000 200000\n2 4\n1 4 3\n2\n", {-1, -1, -1}, 1, "do not fit in the"},
    {"scotch_cut", "a.grf", "0\n3 4\n0 000\n1 1\n2 0 2\n", {-1, -1, -1}, 5, "the file ends before a vertex"},
    {"scotch_more", "a.grf", "0\n2 2\n0 000\n1 1\n1 0\n1 0\n", {-1, -1, -1}, 6, "goes on after its last vertex"},
    {"scotch_base", "a.grf", "0\n2 2\n7 000\n1 1\n1 0\n", {-1, -1, -1}, 3, "the first vertex is 7"},
    {"scotch_one_sided", "a.grf", "0\n3 2\n0 000\n1 1\n1 2\n0\n", {-1, -1, -1}, 4, "does not list vertex 0"},
    {"ragged", "a.txt", "0 1 2.5\n1 1\n", {-1, -1, -1}, 2, "the line ends before its value; all lines of a list"},
    {"more", "a.txt", "0 1\n1 1\n1 2 3\n", {-1, -1, -1}, 3, "the line goes on after 2 numbers with \"3\""},
    {"word", "a.txt", "0 1 2\n1 1 x\n", {-1, -1, -1}, 2, "\"x\" is not a decimal number"},
    {"empty_field",
     "a.csv",
     "0,1,2\n1,,2\n",
     {-1, -1, -1},
     2,
     "the column index is text that is not an integer: \",2\""},
    {"negative", "a.txt", "0 1 2\n-1 1 3\n", {-1, -1, -1}, 2, "row -1 is outside"},
    {"fraction",
     "a.txt",
     "0 1 2\n1.5 1 3\n",
     {-1, -1, -1},
     2,
     "the row index is a number that is not an integer: \"1.5\""},
    {"said_from_1", "a.txt", "1 1 2.5\n0 1 3\n", {-1, -1, 1}, 2, "row 0 is outside 1 .."},
    {"beyond_rows", "a.txt", "1 1 2\n3 1 3\n", {2, -1, 1}, 2, "row 3 is outside 1 .. 2"},
    {"beyond_rows_from_0",
     "a.txt",
     "# x\n0 1 2\n2 1 3\n",
     {2, -1, -1},
     3,
     "row 2 is outside 0 .. 1, as indices start at 0"},
    {"cholmod_cut",
     "a.tri",
     "3 3 3\n1 1 5\n3 2 -1.5\n",
     {-1, -1, -1},
     1,
     "declares 3 entries, but the file ends at line 3"},
    {"cholmod_lies",
     "a.tri",
     "3 3 300000\n1 1 5\n3 2 -1.5\n",
     {-1, -1, -1},
     1,
     "300000 entries, but the 15 bytes that follow"},
    {"cholmod_both_bases", "a.tri", "3 3 2\n0 1 5\n3 2 -1.5\n", {-1, -1, -1}, 3, "row 3 is outside 0 .. 2"},
    {"hermitian_diagonal",
     "a.tri",
     "2 2 2 1\n1 1 1 0\n2 2 2 -1\n",
     {-1, -1, -1},
     3,
     "diagonal of a hermitian matrix must be real"},
    {"half_of_a_rectangle", "a.tri", "2 3 1 1\n1 1 1\n", {-1, -1, -1}, 0, "must be square"},
    {"tensor", "a.tns", "1 1 1 1.0\n2 3 1 4.0\n", {-1, -1, -1}, 0, "a tensor of order 3"},
    {"octave_dense",
     "a.txt",
     "# name: A\n# type: matrix\n# rows: 1\n# columns: 2\n 1 2\n",
     {-1, -1, -1},
     0,
     "not sparse but \"matrix\""},
    {"octave_cut",
     "a.txt",
     "# name: A\n# type: sparse matrix\n# nnz: 2\n# rows: 1\n# columns: 2\n1 2 3\n",
     {-1, -1, -1},
     5,
     "declares 2 entries, but the file ends at line 6"},
    {"words_for_a_graph", "a.graph", "7 11\n" SEVEN, {-1, -1, 1}, 0, "`from`, `rows` and `cols` are for lists"},
};

TEST_OF_EACH(is_refused, wrong)
{
    const struct wrong *g = *state;
    char place[64];
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (load_text(g->file, g->text, strlen(g->text), &g->words, &A, &info, &e)) fail_msg("loaded");
    if (!strstr(e.text, g->says)) fail_msg("expected \"%s\", got \"%s\"", g->says, e.text);
    snprintf(place, sizeof place, g->line ? "%s:%d" : "%s", g->file, g->line);
    const char *at = strstr(e.where, g->file);
    assert_non_null(at);
    assert_string_equal(at, place);
}

/* ---- the rules ---- */

static const struct rule {
    const char *name, *text;
    enum plain_kind kind;
} rules[] = {
    {"nothing", "", PLAIN_NONE},
    {"only_comments", "# a\n% b\n", PLAIN_NONE},
    {"words", "hello world\n", PLAIN_NONE},
    {"banner", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", PLAIN_NONE},
    {"banner_in_other_case", "%matrixmarket matrix coordinate real general\n1 1 1\n1 1 1\n", PLAIN_NONE},
    {"vector", "1.5\n2.5\n", PLAIN_NONE},
    {"vector_from_0", "0\n1\n", PLAIN_NONE},
    {"five_numbers", "1 2 3 4 5\n1 2 3 4 5\n", PLAIN_NONE},
    {"scotch", "0\n2 2\n0 000\n1 1\n1 0\n", PLAIN_SCOTCH},
    {"metis", "2 1\n2\n1\n", PLAIN_METIS},
    {"cycle", "3 3\n2 3\n1 3\n1 2\n", PLAIN_METIS},
    {"edges_like_a_cycle", "4 4\n2 4\n1 3\n2 4\n1 2\n", PLAIN_TRIPLETS},
    {"edges_with_a_loop_first", "4 4\n2 1\n3 1\n4 2\n", PLAIN_TRIPLETS},
    {"edges_that_agree_but_for_the_counts", "4 2\n2 3\n1 3\n1 2\n", PLAIN_TRIPLETS},
    {"one_edge", "2 1\n", PLAIN_TRIPLETS},
    {"weighted_pair", "2 1 1\n2 5\n1 5\n", PLAIN_METIS},
    {"stripped_market", "2 2 2\n1 1 5\n2 2 5\n", PLAIN_TRIPLETS},
    {"ten_entries", "3 3 2\n1 1\n2 2\n", PLAIN_TRIPLETS},
    {"fmt_of_other_digits", "3 2 2\n2\n1 3\n2\n", PLAIN_TRIPLETS},
    {"too_many_edges_for_a_graph", "2 2\n2\n1 2 2\n", PLAIN_TRIPLETS},
    {"octave", "# name: A\n# type: sparse matrix\n", PLAIN_OCTAVE},
};

TEST_OF_EACH(is_told_apart, rules)
{
    const struct rule *r = *state;
    struct plain t;
    plain_look(r->text, (int64_t)strlen(r->text), true, &t);
    assert_int_equal(t.kind, r->kind);
}

/* A graph and a list that are longer than what is looked at; all lines of the graph have two numbers. */
TEST(long_files_are_told_apart)
{
    enum { N = 20000, ROOM = N * 16 };
    char *text = mem_new(ROOM, 1, "text", NULL);
    for (int cycle = 0; cycle < 2; cycle++) {
        struct csr A;
        struct load_info info;
        struct err e = {0};
        size_t n = (size_t)snprintf(text, ROOM, "%d %d\n", N, N);
        for (int v = 1; v <= N; v++)
            n += (size_t)snprintf(text + n, ROOM - n, "%d %d\n", cycle ? (v + N - 2) % N + 1 : v, v % N + 1);
        if (!load_text("long.txt", text, n, &no_words, &A, &info, &e)) fail_msg("%s: %s", e.where, e.text);
        assert_string_equal(info.symmetry, cycle ? "symmetric" : "general");
        assert_int_equal(A.rows, N);
        assert_int_equal(A.nnz, cycle ? 2 * N : N + 1);
        csr_free(&A);
    }
    mem_free(text);
}

/* ---- damaged files ---- */

static const char *const whole[] = {
    "7 11\n" SEVEN,
    "3 2 011 2\n9 9 2 4\n9 9 1 4 3 7\n8 8 2 7\n",
    "0\n3 4\n0 011\n9 1 4 1\n9 2 4 0 7 2\n9 1 7 1\n",
    "3 4 3 1\n1 1 5 0\n1 2 -1.5 2\n2 3 1e3 -7\n",
    "# a\n0\t3\n0\t1\n1\t3\n",
    "i,j,v\n0,1,2.5\n1,0,-1\n",
    "# name: A\n# type: sparse matrix\n# nnz: 2\n# rows: 3\n# columns: 2\n2 1 5\n3 2 -1.5\n",
};

/* A damaged file gives an error with its place, or a valid matrix (a flipped digit may be another valid file). Indices
   may become large, so memory is bounded. */
static void load_damaged(const char *text, size_t n)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (load_text("damaged", text, n, &no_words, &A, &info, &e))
        csr_free(&A);
    else
        assert_non_null(strstr(e.where, "damaged"));
}

TEST(every_truncation_is_read_or_refused)
{
    memory_pretend(1 << 26);
    for (int i = 0; i < COUNT(whole); i++)
        for (size_t n = 0; n <= strlen(whole[i]); n++) load_damaged(whole[i], n);
    memory_pretend(0);
}

TEST(flipped_bits_are_read_or_refused)
{
    uint64_t random = 1;
    char text[256];
    memory_pretend(1 << 26);
    for (int i = 0; i < COUNT(whole); i++)
        for (int k = 0; k < 1000; k++) {
            size_t n = strlen(whole[i]);
            memcpy(text, whole[i], n);
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[(random >> 33) % n] ^= (char)(1 << (random >> 60) % 8);
            load_damaged(text, n);
        }
    memory_pretend(0);
}

/* A graph that is cut anywhere is refused, except where the cut only takes a line end. */
TEST(a_cut_graph_is_refused)
{
    const char *text = whole[0];
    for (size_t n = 10; n + 2 < strlen(text); n++) {
        struct csr A;
        struct load_info info;
        struct err e = {0};
        if (load_text("cut.graph", text, n, &no_words, &A, &info, &e)) fail_msg("%zu bytes were read", n);
    }
}

/* ---- saving ---- */

static const char *save_text(const struct csr *A, const char *name, struct err *e)
{
    size_t n;
    static char text[1024];
    if (!file_save(scratch_path(name), true, A, NULL, "x", NULL, e)) return NULL;
    char *data = read_whole(scratch_path(name), &n);
    snprintf(text, sizeof text, "%.*s", (int)n, data);
    mem_free(data);
    return text;
}

static struct csr matrix_of(int64_t rows, int n, const int *row, const int *col, const double *val)
{
    struct csr A;
    assert_true(csr_from_triplets(&A, rows, rows, n, row, col, val, NULL, NULL, NULL));
    return A;
}

TEST(graphs_are_written)
{
    static const int row[] = {0, 1, 1, 3}, col[] = {1, 0, 3, 1};
    struct csr A = matrix_of(4, 4, row, col, (double[]){4, 4, 7, 7}),
               B = matrix_of(4, 4, row, col, (double[]){1, 1, 1, 1});
    assert_string_equal(save_text(&A, "a.graph", NULL), "% x\n4 2 001\n2 4\n1 4 4 7\n\n2 7\n");
    assert_string_equal(save_text(&B, "b.graph", NULL), "% x\n4 2\n2\n1 4\n\n2\n");
    assert_string_equal(save_text(&A, "a.grf", NULL), "0\n4 4\n0 010\n1 4 1\n2 4 0 7 3\n0\n1 7 1\n");
    assert_string_equal(save_text(&B, "b.grf", NULL), "0\n4 4\n0 000\n1 1\n2 0 3\n0\n1 1\n");
    csr_free(&A);
    csr_free(&B);
}

TEST(what_a_graph_would_lose_is_refused)
{
    static const struct {
        int row[2], col[2];
        double val[2];
        const char *says;
    } table[] = {
        {{0, 0}, {0, 1}, {1, 1}, "a graph has no loops, but the matrix has a diagonal entry in row 0; append `graph`"},
        {{0, 1}, {1, 2}, {1, 1}, "entry 0 1 has no mirror image; `symmetrize` the matrix first"},
        {{0, 1}, {1, 0}, {1, 2}, "entry 0 1 is 1, and its mirror image is 2; append `graph`"},
        {{0, 1}, {1, 0}, {0.5, 0.5}, "positive integers, but a value is 0.5; append `graph`"},
        {{0, 1}, {1, 0}, {-1, -1}, "positive integers, but a value is -1"},
        {{0, 1}, {1, 0}, {0, 0}, "positive integers, but a value is 0"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct err e = {0};
        struct csr A = matrix_of(3, 2, table[i].row, table[i].col, table[i].val);
        assert_null(save_text(&A, "a.graph", &e));
        if (!strstr(e.text, table[i].says)) fail_msg("\"%s\", not \"%s\"", e.text, table[i].says);
        csr_free(&A);
    }
    struct err e = {0};
    struct csr A = matrix_of(3, 0, NULL, NULL, NULL);
    assert_null(save_text(&A, "a.graph", &e));
    assert_non_null(strstr(e.text, "METIS accepts no graph without edges; save it as .grf"));
    csr_free(&A);
}

TEST(the_graph_of_a_matrix_has_neither_values_nor_diagonal)
{
    struct csr G, A = matrix_of(2, 4, (int[]){0, 0, 1, 1}, (int[]){0, 1, 0, 1}, (double[]){9, -2, 3.5, 0});
    char out[256];
    int64_t loops;
    assert_true(file_graph_of(&A, &G, &loops, NULL));
    show_matrix(&G, out, sizeof out);
    assert_string_equal(out, "2x2: 1 2 1; 2 1 1");
    assert_int_equal(loops, 2);
    csr_free(&A);
    csr_free(&G);
}

/* ---- names ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    return remove(path);
}

static void make_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

TEST(matrices_are_found_by_their_names)
{
    static const struct {
        const char *file, *name; /* ssgetpy packed and unpacked; MatrixDepot; a flat folder */
    } table[] = {
        {"MM/HB/p1.tar.gz", "HB/p1"}, {"MM/HB/p1.tar.gz", "p1"},    {"MM/HB/p2/p2.mtx", "HB/p2"},
        {"MM/HB/p2/p2.mtx", "p2"},    {"uf/HB/p3/p3.mtx", "HB/p3"}, {"mm/Bai/p4/p4.mtx.gz", "Bai/p4"},
        {"HB/p5.tar.gz", "HB/p5"},    {"HB/p6/p6.mtx", "p6"},       {"p7.mtx.gz", "p7"},
        {"p7.mtx.gz", "p7.mtx.gz"},   {"MAT/HB/p8.mat", "HB/p8"},   {"p9.graph", "p9"},
        {"p10/p10.rb", "p10"},
    };
    char root[256], home[256], found[4096], expected[512];
    const char *folder;
    snprintf(root, sizeof root, "%s", mkdtemp(strcpy(home, "/tmp/warpspy-folders-XXXXXX")));
    for (int i = 0; i < COUNT(table); i++) make_file(root, table[i].file);
    char *before = getenv("WARPSPY_MATRICES") ? mem_str(getenv("WARPSPY_MATRICES"), NULL) : NULL;
    setenv("WARPSPY_MATRICES", root, 1);
    for (int i = 0; i < COUNT(table); i++) {
        snprintf(expected, sizeof expected, "%s/%s", root, table[i].file);
        if (!matrix_find(table[i].name, found, sizeof found, &folder)) fail_msg("%s is not found", table[i].name);
        assert_string_equal(strrchr(found, '/'), strrchr(expected, '/'));
        assert_string_equal(folder, "$WARPSPY_MATRICES");
    }
    assert_false(matrix_find("HB/p7", found, sizeof found, &folder));
    assert_false(matrix_find("../p7", found, sizeof found, &folder));
    assert_false(matrix_find("", found, sizeof found, &folder));
    unsetenv("WARPSPY_MATRICES");
    setenv("XDG_DATA_HOME", root, 1);
    make_file(root, "warpspy/matrices/q1.mtx");
    make_file(root, "warpspy/q2.mtx");
    assert_true(matrix_find("q1", found, sizeof found, &folder));
    assert_string_equal(folder, "$XDG_DATA_HOME/warpspy/matrices");
    assert_true(matrix_find("q2", found, sizeof found, &folder));
    assert_string_equal(folder, "$XDG_DATA_HOME/warpspy");
    unsetenv("XDG_DATA_HOME");
    if (before) setenv("WARPSPY_MATRICES", before, 1);
    mem_free(before);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- the collection ---- */

/* Does the output of a program that checks graphs contain the words? -1: the program is not installed. */
static int agrees(const char *program, const char *path, const char *words)
{
    char line[512];
    bool found = false;
    snprintf(line, sizeof line, "command -v %s >/dev/null || exit 9; %s %s 2>&1", program, program, path);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) found |= strstr(line, words) != NULL;
    return WEXITSTATUS(pclose(f)) == 9 ? -1 : found;
}

/* Save the graph of a matrix in both formats, read it back, and let METIS and Scotch check it. Returns false if the
   matrix is no graph. */
static bool check_graph(const char *path, int *checked)
{
    static const struct {
        const char *name, *program, *words;
    } table[] = {{"g.graph", "graphchk", "The format of the graph is correct"}, {"g.grf", "gtst", "Edge\tnbr="}};
    struct csr A, G, B;
    struct load_info info;
    int64_t loops;
    assert_true(file_load(path, NULL, NULL, &A, &info, NULL));
    bool symmetric = !strcmp(info.symmetry, "symmetric");
    assert_true(file_graph_of(&A, &G, &loops, NULL));
    for (int i = 0; i < COUNT(table) && symmetric && G.nnz; i++) {
        struct err e = {0};
        const char *at = scratch_path(table[i].name);
        if (!file_save(at, true, &G, NULL, path, NULL, &e)) fail_msg("%s: %s", path, e.text);
        if (!file_load(at, NULL, NULL, &B, &info, &e)) fail_msg("%s: %s: %s", path, e.where, e.text);
        if (!csr_equal(&G, &B)) fail_msg("%s: another graph came back from %s", path, table[i].name);
        csr_free(&B);
        int accepted = agrees(table[i].program, at, table[i].words);
        if (!accepted) fail_msg("%s: %s refuses the graph", path, table[i].program);
        *checked += accepted > 0;
    }
    bool graph = symmetric && G.nnz;
    csr_free(&A);
    csr_free(&G);
    return graph;
}

TEST(graphs_of_the_collection_return)
{
    enum { GRAPHS = 40, BYTES = 200000 };
    char line[4096], path[8192];
    const char *folder;
    struct stat st;
    int n = 0, checked = 0;
    FILE *f = collection_index("the graphs of the collection", &folder);
    if (!f) return;
    while (n < GRAPHS && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\t\n")] = 0;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, line);
        if (!stat(path, &st) && st.st_size < BYTES) n += check_graph(path, &checked);
    }
    fclose(f);
    assert_int_equal(n, GRAPHS);
    if (checked < 2 * GRAPHS) print_message("skip: graphchk (metis) or gtst (scotch) is not installed\n");
}

SUITE(.teardown = tidy);
