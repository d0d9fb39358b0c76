/* The right sides that the programs of `save FILE recipe` can make: lines of Python and of C. */
#include "recipe_rights.h"

static const char aones_c[] = "// b = A x for an x of ones\n"
                              "static void right_side(const struct entries *A, double *b)\n"
                              "{\n"
                              "    for (int i = 0; i < A->rows; i++) b[i] = 0;\n"
                              "    for (long k = 0; k < A->n; k++) b[A->row[k]] += A->value[k];\n"
                              "}\n";

static const char avaried_c[] =
    "static double varied(unsigned long long i)\n"
    "{\n"
    "    return (double)(i * (i + 1) / 2 * 40503 % 65536) / 65536;\n"
    "}\n"
    "\n"
    "// b = A x for a varied x with the mean 0\n"
    "static void right_side(const struct entries *A, double *b)\n"
    "{\n"
    "    double mean = 0;\n"
    "    for (int j = 0; j < A->cols; j++) mean += varied(j) / A->cols;\n"
    "    for (int i = 0; i < A->rows; i++) b[i] = 0;\n"
    "    for (long k = 0; k < A->n; k++) b[A->row[k]] += A->value[k] * (varied(A->col[k]) - mean);\n"
    "}\n";

static const char ones_c[] = "// b is all ones\n"
                             "static void right_side(const struct entries *A, double *b)\n"
                             "{\n"
                             "    for (int i = 0; i < A->rows; i++) b[i] = 1;\n"
                             "}\n";

static const char file_c[] =
    "// b is column b_column, counted from 0, of the file b_file.\n"
    "static void right_side(const struct entries *A, double *b)\n"
    "{\n"
    "    struct entries B = read_matrix(b_file);\n"
    "    if (B.rows != A->rows || b_column >= B.cols) STOP(\"%s: no right side of %d rows\", b_file, A->rows);\n"
    "    for (int i = 0; i < A->rows; i++) b[i] = 0;\n"
    "    for (long k = 0; k < B.n; k++)\n"
    "        if (B.col[k] == b_column) b[B.row[k]] = B.value[k];\n"
    "}\n";

const struct recipe_right recipe_rights[] = {
    {"aones", "b = A @ np.ones(A.shape[1])  # so that x is all ones\n", aones_c},
    {"avaried",
     "i = np.arange(A.shape[1], dtype=np.uint64)\n"
     "v = 40503 * (i * (i + 1) // 2) % 65536 / 65536\n"
     "b = A @ (v - v.mean())  # so that x varies, with the mean 0\n",
     avaried_c},
    {"ones", "b = np.ones(A.shape[0])\n", ones_c},
    {0},
};
const struct recipe_right recipe_right_of_file = {
    "FILE", "B = io.mmread(b_file)\nb = (B.toarray() if sparse.issparse(B) else B)[:, b_column]\n", file_c};
const struct recipe_right recipe_right_given = {
    "given", "b = np.load(file)[\"b\"].reshape(A.shape[0], -1)[:, b_column]  # it is in the file of A\n", 0};
