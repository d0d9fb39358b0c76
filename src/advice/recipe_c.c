/* What the programs of `save FILE recipe` in C and C++ share: they read a Matrix Market file, and make b. */
#include "base/text.h"
#include "recipe.h"
#include "session/matrix.h"

static const char reader[] =
    "#define STOP(...) (fprintf(stderr, __VA_ARGS__), fputc('\\n', stderr), exit(1))\n"
    "\n"
    "struct entries {\n"
    "    int rows, cols;\n"
    "    long n;\n"
    "    int *row, *col;\n"
    "    double *value;\n"
    "};\n"
    "\n"
    "// Reads a Matrix Market file of real numbers or of a pattern, general or symmetric; symmetric ones are "
    "expanded.\n"
    "static struct entries read_matrix(const char *path)\n"
    "{\n"
    "    struct entries A = {0, 0, 0, NULL, NULL, NULL};\n"
    "    char line[1024], form[64], field[64], symmetry[64];\n"
    "    long stored = 0;\n"
    "    FILE *f = fopen(path, \"r\");\n"
    "    if (!f || !fgets(line, sizeof line, f) ||\n"
    "        sscanf(line, \"%%%%MatrixMarket matrix %63s %63s %63s\", form, field, symmetry) != 3)\n"
    "        STOP(\"%s: no Matrix Market file\", path);\n"
    "    int array = !strcmp(form, \"array\"), pattern = !strcmp(field, \"pattern\");\n"
    "    int symmetric = !strcmp(symmetry, \"symmetric\") && !array;\n"
    "    if (!strcmp(field, \"complex\") || (!symmetric && strcmp(symmetry, \"general\")))\n"
    "        STOP(\"%s: %s %s %s, which this program does not read\", path, form, field, symmetry);\n"
    "    while (fgets(line, sizeof line, f) && line[0] == '%') continue;\n"
    "    if (sscanf(line, \"%d %d %ld\", &A.rows, &A.cols, &stored) != 3 - array) STOP(\"%s: no sizes\", path);\n"
    "    if (array) stored = (long)A.rows * A.cols;\n"
    "    A.row = (int *)malloc(2 * stored * sizeof(int) + 1);\n"
    "    A.col = (int *)malloc(2 * stored * sizeof(int) + 1);\n"
    "    A.value = (double *)malloc(2 * stored * sizeof(double) + 1);\n"
    "    if (!A.row || !A.col || !A.value) STOP(\"not enough memory\");\n"
    "    for (long k = 0; k < stored; k++) {\n"
    "        int i = array ? k % A.rows + 1 : 0, j = array ? k / A.rows + 1 : 0;\n"
    "        double a = 1;\n"
    "        if ((!array && fscanf(f, \"%d %d\", &i, &j) != 2) || (!pattern && fscanf(f, \"%lf\", &a) != 1) || i < 1 "
    "|| i > A.rows ||\n"
    "            j < 1 || j > A.cols)\n"
    "            STOP(\"%s: entry %ld is not readable\", path, k + 1);\n"
    "        for (int twice = 0; twice <= (symmetric && i != j); twice++, A.n++) {\n"
    "            A.row[A.n] = (twice ? j : i) - 1;\n"
    "            A.col[A.n] = (twice ? i : j) - 1;\n"
    "            A.value[A.n] = a;\n"
    "        }\n"
    "    }\n"
    "    fclose(f);\n"
    "    return A;\n"
    "}\n";

void recipe_c_comment(const struct recipe_request *q, const char *needs, const char *compiler, const char *libraries,
                      char *out, size_t size)
{
    text_append(out, size,
                "// Solves A x = b as warpspy did: %s.\n"
                "// warpspy: %s.\n"
                "// Needs %s:\n"
                "//     %s -o recipe %s %s\n"
                "//     ./recipe [FILE.mtx]\n",
                q->method, q->reached, needs, compiler, q->program, libraries);
    if (!q->there) text_append(out, size, "// In warpspy, `save %s %s` writes the matrix.\n", q->file, q->m->name);
}

void recipe_c_input(const struct recipe_request *q, char *out, size_t size)
{
    text_append(out, size, "static const char file[] = \"%s\"; // of A\n", q->file);
    if (q->b_file)
        text_append(out, size, "static const char b_file[] = \"%s\";\nstatic const int b_column = %lld;\n", q->b_file,
                    (long long)q->b_column);
    text_append(out, size, "\n%s\n%s\n", reader, q->right->c);
}
