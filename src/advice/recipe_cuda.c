/* A solve as a program in CUDA C++ with the products of cuSPARSE and the sums of cuBLAS. The lines of the solver see x,
   b, r = b, limit, iterations, and the functions below; those of the preconditioner see diagonal and inverse. */
#include "base/text.h"
#include "recipe.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

static const char functions[] =
    "#define OK(call) \\\n"
    "    do { \\\n"
    "        int status = (int)(call); \\\n"
    "        if (status) STOP(\"line %d: %s: status %d\", __LINE__, #call, status); \\\n"
    "    } while (0)\n"
    "\n"
    "static int n;\n"
    "static cublasHandle_t blas;\n"
    "static cusparseHandle_t sparse;\n"
    "static cusparseSpMatDescr_t A;\n"
    "static void *work; // of cuSPARSE\n"
    "static double *d;  // the diagonal of M^-1\n"
    "\n"
    "// z = M^-1 r\n"
    "static void precondition(const double *r, double *z)\n"
    "{\n"
    "    OK(cublasDdgmm(blas, CUBLAS_SIDE_LEFT, n, 1, r, n, d, 1, z, n));\n"
    "}\n"
    "\n"
    "// y = A x\n"
    "static void multiply(double *x, double *y)\n"
    "{\n"
    "    const double one = 1, zero = 0;\n"
    "    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;\n"
    "    const cusparseSpMVAlg_t any = CUSPARSE_SPMV_ALG_DEFAULT;\n"
    "    size_t bytes = 0;\n"
    "    cusparseDnVecDescr_t from, to;\n"
    "    OK(cusparseCreateDnVec(&from, n, x, CUDA_R_64F));\n"
    "    OK(cusparseCreateDnVec(&to, n, y, CUDA_R_64F));\n"
    "    if (!work) {\n"
    "        OK(cusparseSpMV_bufferSize(sparse, plain, &one, A, from, &zero, to, CUDA_R_64F, any, &bytes));\n"
    "        OK(cudaMalloc(&work, bytes + 1));\n"
    "    }\n"
    "    OK(cusparseSpMV(sparse, plain, &one, A, from, &zero, to, CUDA_R_64F, any, work));\n"
    "    OK(cusparseDestroyDnVec(from));\n"
    "    OK(cusparseDestroyDnVec(to));\n"
    "}\n"
    "\n"
    "static double dot(const double *x, const double *y)\n"
    "{\n"
    "    double sum;\n"
    "    OK(cublasDdot(blas, n, x, 1, y, 1, &sum));\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "// y = a x + y\n"
    "static void add(double a, const double *x, double *y)\n"
    "{\n"
    "    OK(cublasDaxpy(blas, n, &a, x, 1, y, 1));\n"
    "}\n"
    "\n"
    "// y = x + a y\n"
    "static void onto(const double *x, double a, double *y)\n"
    "{\n"
    "    OK(cublasDscal(blas, n, &a, y, 1));\n"
    "    add(1, x, y);\n"
    "}\n"
    "\n"
    "// A vector on the device: a copy of `from`, or zeros\n"
    "template <class T> static T *on_device(size_t n, const T *from = NULL)\n"
    "{\n"
    "    T *to;\n"
    "    OK(cudaMalloc((void **)&to, n * sizeof(T) + 1));\n"
    "    OK(from ? cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice) : cudaMemset(to, 0, n * sizeof(T)));\n"
    "    return to;\n"
    "}\n"
    "\n";

static const char start[] =
    "int main(int argc, char **argv)\n"
    "{\n"
    "    struct entries entries = read_matrix(argc > 1 ? argv[1] : file);\n"
    "    n = entries.rows;\n"
    "    if (entries.cols != n) STOP(\"A is not square\");\n"
    "\n"
    "    // From coordinates to rows (CSR)\n"
    "    std::vector<int> start(n + 1), col(entries.n);\n"
    "    std::vector<double> value(entries.n), diagonal(n), inverse(n, 1), rhs(n);\n"
    "    for (long k = 0; k < entries.n; k++) start[entries.row[k] + 1]++;\n"
    "    for (int i = 0; i < n; i++) start[i + 1] += start[i];\n"
    "    std::vector<int> next(start);\n"
    "    for (long k = 0; k < entries.n; k++) {\n"
    "        int at = next[entries.row[k]]++;\n"
    "        col[at] = entries.col[k];\n"
    "        value[at] = entries.value[k];\n"
    "        if (entries.row[k] == entries.col[k]) diagonal[entries.row[k]] += entries.value[k];\n"
    "    }\n";

static const char copies[] =
    "\n"
    "    OK(cublasCreate(&blas));\n"
    "    OK(cusparseCreate(&sparse));\n"
    "    d = on_device(n, inverse.data());\n"
    "    OK(cusparseCreateCsr(&A, n, n, entries.n, on_device(n + 1, start.data()), on_device(entries.n, col.data()),\n"
    "                         on_device(entries.n, value.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,\n"
    "                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));\n"
    "    double *x = on_device<double>(n), *b = on_device(n, rhs.data()), *r = on_device(n, rhs.data());\n"
    "    double limit = tol * sqrt(dot(b, b));\n"
    "    int iterations = 0;\n";

static const char end[] =
    "\n"
    "    // The true residual\n"
    "    multiply(x, r);\n"
    "    onto(b, -1, r);\n"
    "    printf(\"iterations %d\\ntrue residual %.3e\\n\", iterations, sqrt(dot(r, r) / dot(b, b)));\n"
    "    return 0;\n"
    "}\n";

static bool has_solver(const void *entry)
{
    return ((const struct solver *)entry)->peers.cuda;
}

static bool has_direct(const void *entry)
{
    return false;
}

static bool has_precond(const void *entry)
{
    return ((const struct precond *)entry)->peers.cuda;
}

static void write_program(const struct recipe_request *q, char *out, size_t size)
{
    recipe_c_comment(q, "the CUDA toolkit", "nvcc", "-lcusparse -lcublas", out, size);
    text_append(out, size,
                "#include <cublas_v2.h>\n#include <cuda_runtime.h>\n#include <cusparse.h>\n#include <math.h>\n"
                "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <vector>\n\n"
                "static const double tol = %.15g; // of ||b - A x|| / ||b||\nstatic const long maxit = %lld;\n",
                q->peer.tol, (long long)q->peer.maxit);
    recipe_c_input(q, out, size);
    text_append(out, size, "%s%s    right_side(&entries, rhs.data());\n", functions, start);
    if (q->pre) text_append(out, size, "%s", q->pre->peers.cuda);
    if (q->pre && q->symmetric)
        text_append(out, size,
                    "    for (int i = 0; i < n; i++) inverse[i] = fabs(inverse[i]); // M must be positive "
                    "definite\n");
    text_append(out, size, "%s\n%s%s", copies, q->solver->peers.cuda, end);
}

const struct recipe recipe_cuda = {
    .name = "cuda",
    .about = "a program in CUDA C++ that uses cuSPARSE and cuBLAS, for one GPU",
    .reads = ".mtx",
    .has_solver = has_solver,
    .has_direct = has_direct,
    .has_precond = has_precond,
    .write = write_program,
};
