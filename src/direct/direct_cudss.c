/* L L', L D L' and L U by cuDSS 1.0, on a GPU. The library and the CUDA runtime are opened at their first use, so a
   build without CUDA contains this method, too. The declarations of the two libraries are repeated here. */
#include "base/err.h"
#include "base/mem.h"
#include "base/shared.h"
#include "direct_state.h"

#include <math.h>
#include <string.h>
#include <sys/param.h>

/* Values of the enumerations of cuDSS 1.0 (cudss_data_types.h) and of CUDA (library_types.h). */
enum { CONFIG_SOLVE_MODE = 4 };
enum { DATA_INFO = 0, DATA_LU_NNZ = 1, DATA_INERTIA = 3, DATA_MEMORY = 13, DATA_FLOPS = 26 };
enum { PHASE_ANALYSIS = 3, PHASE_FACTORIZATION = 4, PHASE_SOLVE = 1008 };
enum { MODE_NORMAL, MODE_TRANSPOSE, MODE_CONJUGATE_TRANSPOSE };
enum { TYPE_GENERAL, TYPE_SYMMETRIC, TYPE_HERMITIAN, TYPE_SPD, TYPE_HPD };
enum { VIEW_FULL, BASE_ZERO = 0, COLUMN_MAJOR = 0 };
enum { STATUS_ALLOC_FAILED = 2 };
enum { REAL_64 = 1, COMPLEX_64 = 5, INT_32 = 10, INT_64 = 24 };
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

static struct {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*threads)(void *handle, const char *library);
    int (*config_create)(void **config);
    int (*config_destroy)(void *config);
    int (*config_set)(void *config, int what, const void *value, size_t bytes);
    int (*data_create)(void *handle, void **data);
    int (*data_destroy)(void *handle, void *data);
    int (*data_get)(void *handle, void *data, int what, void *value, size_t bytes, size_t *written);
    int (*csr)(void **matrix, int64_t rows, int64_t cols, int64_t nnz, const void *start, const void *end,
               const void *col, const void *val, int offset_type, int index_type, int value_type, int type, int view,
               int base);
    int (*dense)(void **matrix, int64_t rows, int64_t cols, int64_t stride, const void *val, int value_type,
                 int layout);
    int (*matrix_destroy)(void *matrix);
    int (*execute)(void *handle, int phase, void *config, void *data, void *A, void *x, void *b);
} cudss;

static const struct shared_function cudss_functions[] = {{"cudssCreate", &cudss.create},
                                                         {"cudssDestroy", &cudss.destroy},
                                                         {"cudssSetThreadingLayer", &cudss.threads},
                                                         {"cudssConfigCreate", &cudss.config_create},
                                                         {"cudssConfigDestroy", &cudss.config_destroy},
                                                         {"cudssConfigSet", &cudss.config_set},
                                                         {"cudssDataCreate", &cudss.data_create},
                                                         {"cudssDataDestroy", &cudss.data_destroy},
                                                         {"cudssDataGet", &cudss.data_get},
                                                         {"cudssMatrixCreateCsr", &cudss.csr},
                                                         {"cudssMatrixCreateDn", &cudss.dense},
                                                         {"cudssMatrixDestroy", &cudss.matrix_destroy},
                                                         {"cudssExecute", &cudss.execute},
                                                         {0}};

static struct shared_library library = {
    .file = "libcudss.so.1", .package = "nvidia-cudss-cu13 of PyPI", .functions = cudss_functions, .of_cuda = true};

static struct {
    int (*count)(int *devices);
    int (*alloc)(void **p, size_t bytes);
    int (*release)(void *p);
    int (*copy)(void *to, const void *from, size_t bytes, int way);
    int (*room)(size_t *left, size_t *all);
    int (*sync)(void);
    const char *(*message)(int status);
} cuda;

static const struct shared_function cuda_functions[] = {
    {"cudaGetDeviceCount", &cuda.count},   {"cudaMalloc", &cuda.alloc},
    {"cudaFree", &cuda.release},           {"cudaMemcpy", &cuda.copy},
    {"cudaMemGetInfo", &cuda.room},        {"cudaDeviceSynchronize", &cuda.sync},
    {"cudaGetErrorString", &cuda.message}, {0}};

static struct shared_library runtime = {
    .file = "libcudart.so.13", .package = "nvidia-cuda-runtime of PyPI", .functions = cuda_functions, .of_cuda = true};

enum { START, COL, VAL, B, X, ARRAYS };

struct state {
    void *handle, *config, *data, *A, *b, *x; /* of the library */
    void *on_gpu[ARRAYS];
    int64_t bytes[ARRAYS];
    int type;   /* TYPE_GENERAL, ... */
    int failed; /* the row, counted from 1, at which the factorisation ended; 0: none */
};

/* ---- status ---- */

static bool called(int status, const char *what, struct err *e)
{
    if (status == STATUS_ALLOC_FAILED)
        return fail(e, E_MEMORY, "cuDSS ran out of memory on the GPU or the host in the %s", what);
    return !status || fail(e, E_DEVICE, "cuDSS failed in the %s with status %d", what, status);
}

static bool worked(int status, const char *what, struct err *e)
{
    return !status || fail(e, E_DEVICE, "the GPU failed in the %s: %s", what, cuda.message(status));
}

static bool has_gpu(struct err *e)
{
    int n = 0;
    int status = cuda.count(&n);
    if (!status && n > 0) return true;
    return fail(e, E_UNSUPPORTED, "cudss needs an NVIDIA GPU, and none was found; `solve direct` uses the host");
}

/* ---- the matrix on the GPU, by rows ---- */

static bool is_long(const struct direct_matrix *A)
{
    return A->start[A->cols] > INT32_MAX;
}

static void put_offset(void *start, bool wide, int64_t at, int64_t value)
{
    if (wide)
        ((int64_t *)start)[at] = value;
    else
        ((int32_t *)start)[at] = (int32_t)value;
}

/* Sort the entries by rows. `next` has rows + 1 items. */
static void sort_rows(const struct direct_matrix *A, int64_t *next, void *start, int32_t *col, double *val)
{
    int64_t parts = A->pairs ? 2 : 1, nnz = A->start[A->cols];
    memset(next, 0, (size_t)(A->rows + 1) * sizeof *next);
    for (int64_t k = 0; k < nnz; k++) next[A->row[k] + 1]++;
    for (int64_t i = 0; i < A->rows; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i <= A->rows; i++) put_offset(start, is_long(A), i, next[i]);
    for (int64_t j = 0; j < A->cols; j++)
        for (int64_t k = A->start[j]; k < A->start[j + 1]; k++) {
            int64_t at = next[A->row[k]]++;
            col[at] = (int32_t)j;
            memcpy(val + parts * at, A->val + parts * k, (size_t)parts * sizeof *val);
        }
}

static bool put_matrix(struct state *s, const struct direct_matrix *A, struct err *e)
{
    int64_t *next = mem_new(A->rows + 1, sizeof *next, "the rows of a matrix", e);
    void *start = next ? mem_new(s->bytes[START], 1, "the rows of a matrix", e) : NULL;
    int32_t *col = start ? mem_new(s->bytes[COL], 1, "the rows of a matrix", e) : NULL;
    double *val = col ? mem_new(s->bytes[VAL], 1, "the rows of a matrix", e) : NULL;
    if (val) sort_rows(A, next, start, col, val);
    bool ok = val != NULL;
    const void *from[] = {start, col, val};
    for (int i = START; i <= VAL && ok; i++)
        ok = worked(cuda.copy(s->on_gpu[i], from[i], (size_t)s->bytes[i], HOST_TO_DEVICE), "copy of the matrix", e);
    mem_free(next);
    mem_free(start);
    mem_free(col);
    mem_free(val);
    return ok;
}

static bool allocate(struct state *s, const struct direct_matrix *A, struct err *e)
{
    int64_t value = A->pairs ? 16 : 8, nnz = A->start[A->cols];
    int64_t bytes[ARRAYS] = {(A->rows + 1) * (is_long(A) ? 8 : 4), 4 * nnz, value * nnz, value * A->rows,
                             value * A->cols};
    memcpy(s->bytes, bytes, sizeof bytes);
    for (int i = 0; i < ARRAYS; i++)
        if (cuda.alloc(&s->on_gpu[i], (size_t)MAX(bytes[i], 1)))
            return fail(e, E_MEMORY, "the GPU has no room for a copy of the matrix; use `solve direct`");
    return true;
}

static bool describe(struct state *s, const struct direct_matrix *A, struct err *e)
{
    int value = A->pairs ? COMPLEX_64 : REAL_64, offset = is_long(A) ? INT_64 : INT_32;
    void *const *on = s->on_gpu;
    return called(cudss.csr(&s->A, A->rows, A->cols, A->start[A->cols], on[START], NULL, on[COL], on[VAL], offset,
                            INT_32, value, s->type, VIEW_FULL, BASE_ZERO),
                  "description of the matrix", e) &&
           called(cudss.dense(&s->b, A->rows, 1, A->rows, on[B], value, COLUMN_MAJOR), "description of b", e) &&
           called(cudss.dense(&s->x, A->cols, 1, A->cols, on[X], value, COLUMN_MAJOR), "description of x", e);
}

/* ---- analysis ---- */

/* Is each entry of the diagonal stored and positive? Only then can a Cholesky factorisation succeed. */
static bool is_diagonal_positive(const struct direct_matrix *A)
{
    for (int64_t j = 0; j < A->cols; j++) {
        int64_t k = A->start[j];
        while (k < A->start[j + 1] && A->row[k] != j) k++;
        if (k == A->start[j + 1] || !(A->val[A->pairs ? 2 * k : k] > 0)) return false;
    }
    return true;
}

static int first_type(const struct direct *v)
{
    if (!v->symmetric) return TYPE_GENERAL;
    if (is_diagonal_positive(&v->A)) return v->A.pairs ? TYPE_HPD : TYPE_SPD;
    return v->A.pairs ? TYPE_HERMITIAN : TYPE_SYMMETRIC;
}

static bool is_definite(const struct state *s)
{
    return s->type == TYPE_SPD || s->type == TYPE_HPD;
}

static bool execute(struct state *s, int phase, const char *what, struct err *e)
{
    return called(cudss.execute(s->handle, phase, s->config, s->data, s->A, s->x, s->b), what, e) &&
           worked(cuda.sync(), what, e);
}

/* A number that the library knows. NaN: it gives none. */
static double known(const struct state *s, int what)
{
    int64_t value = 0;
    size_t written = 0;
    bool ok = !cudss.data_get(s->handle, s->data, what, &value, sizeof value, &written) && written == sizeof value;
    return ok && value > 0 ? (double)value : NAN;
}

/* The most memory of the GPU that the factorisation needs, as the analysis predicts it. */
static double peak_bytes(const struct state *s)
{
    int64_t estimates[16] = {0};
    size_t written = 0;
    bool ok = !cudss.data_get(s->handle, s->data, DATA_MEMORY, estimates, sizeof estimates, &written);
    return ok && estimates[1] > 0 ? (double)estimates[1] : NAN;
}

static void drop_analysis(struct state *s)
{
    void *matrices[] = {s->A, s->b, s->x};
    for (int i = 0; i < COUNT(matrices); i++)
        if (matrices[i]) cudss.matrix_destroy(matrices[i]);
    if (s->data) cudss.data_destroy(s->handle, s->data);
    s->A = s->b = s->x = s->data = NULL;
}

/* Analyse A as a matrix of the type s->type. */
static bool analyse_as(struct direct *v, struct state *s, struct err *e)
{
    drop_analysis(s);
    if (!describe(s, &v->A, e) || !called(cudss.data_create(s->handle, &s->data), "analysis", e) ||
        !execute(s, PHASE_ANALYSIS, "analysis", e))
        return false;
    v->plan = (struct direct_plan){.nnz = known(s, DATA_LU_NNZ),
                                   .flops = known(s, DATA_FLOPS),
                                   .bytes = peak_bytes(s),
                                   .triangle = s->type != TYPE_GENERAL,
                                   .ordering = "chosen by cuDSS"};
    return true;
}

/* A library of the same package with which the analysis runs on several threads of the host; without it, on one. */
static bool take_threads(const char *path, void *handle)
{
    return !cudss.threads(handle, path);
}

static bool start(struct state *s, struct err *e)
{
    if (!called(cudss.create(&s->handle), "start", e) || !called(cudss.config_create(&s->config), "start", e))
        return false;
    shared_cuda_paths("libcudss_mtlayer_gomp.so.1", take_threads, s->handle);
    return true;
}

static bool analyse(struct direct *v, struct err *e)
{
    struct state *s = direct_state_new(v, sizeof *s, e);
    if (!s || !has_gpu(e) || !allocate(s, &v->A, e) || !put_matrix(s, &v->A, e)) return false;
    s->type = first_type(v);
    return start(s, e) && analyse_as(v, s, e);
}

/* ---- factorisation ---- */

static bool factorise(struct state *s, struct err *e)
{
    size_t written = 0;
    if (!execute(s, PHASE_FACTORIZATION, "factorisation", e)) return false;
    if (cudss.data_get(s->handle, s->data, DATA_INFO, &s->failed, sizeof s->failed, &written)) s->failed = 0;
    return true;
}

static void count_signs(const struct state *s, struct direct_factors *f)
{
    int signs[2];
    size_t written = 0;
    if (cudss.data_get(s->handle, s->data, DATA_INERTIA, signs, sizeof signs, &written) || written != sizeof signs)
        return;
    f->positive = signs[0];
    f->negative = signs[1];
}

static void describe_factors(const struct state *s, const struct direct_matrix *A, struct direct_factors *f)
{
    f->kind = is_definite(s) ? "L L'" : s->type == TYPE_GENERAL ? "L U" : "L D L'";
    f->nnz = known(s, DATA_LU_NNZ);
    f->flops = known(s, DATA_FLOPS);
    f->bytes = peak_bytes(s);
    if (s->failed) return;
    f->rank = A->cols;
    if (is_definite(s))
        f->positive = A->cols, f->negative = 0;
    else if (s->type != TYPE_GENERAL)
        count_signs(s, f);
}

static bool renew(struct direct *v, struct err *e)
{
    return put_matrix(v->state, &v->A, e);
}

/* A matrix that is not positive definite is factored again, with pivots of both signs. */
static bool factor(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    bool ok = factorise(s, e);
    if (ok && is_definite(s) && s->failed) {
        s->type = v->A.pairs ? TYPE_HERMITIAN : TYPE_SYMMETRIC;
        ok = analyse_as(v, s, e) && factorise(s, e);
    }
    if (!ok) return false;
    describe_factors(s, &v->A, &v->factors);
    if (s->failed) direct_unusable(v, "pivot %d is 0", s->failed);
    return true;
}

/* ---- solution ---- */

static bool solve(struct direct *v, bool conjugate, const double *b, double *x, struct err *e)
{
    struct state *s = v->state;
    int mode = !conjugate || v->symmetric ? MODE_NORMAL : v->A.pairs ? MODE_CONJUGATE_TRANSPOSE : MODE_TRANSPOSE;
    return called(cudss.config_set(s->config, CONFIG_SOLVE_MODE, &mode, sizeof mode), "substitution", e) &&
           worked(cuda.copy(s->on_gpu[B], b, (size_t)s->bytes[B], HOST_TO_DEVICE), "copy of b", e) &&
           execute(s, PHASE_SOLVE, "substitution", e) &&
           worked(cuda.copy(x, s->on_gpu[X], (size_t)s->bytes[X], DEVICE_TO_HOST), "copy of x", e);
}

static void drop(struct direct *v)
{
    struct state *s = v->state;
    drop_analysis(s);
    if (s->config) cudss.config_destroy(s->config);
    if (s->handle) cudss.destroy(s->handle);
    for (int i = 0; i < ARRAYS; i++)
        if (s->on_gpu[i]) cuda.release(s->on_gpu[i]);
}

static int64_t memory(void)
{
    size_t left = 0, all = 0;
    return cuda.room(&left, &all) ? 0 : (int64_t)left;
}

const struct direct_method direct_cudss = {
    .name = "cudss",
    .title = "cuDSS",
    .about = "sparse L L', L D L' or L U on an NVIDIA GPU, by supernodes",
    .source = "NVIDIA 2026",
    .needs = "a square matrix and a GPU",
    .when = "the factors are large and a GPU is there; only by its name",
    .library = &library,
    .also = &runtime,
    .device = "cuda:0",
    .asked = true,
    .analyse = analyse,
    .factor = factor,
    .renew = renew,
    .solve = solve,
    .drop = drop,
    .memory = memory,
    .peers = {.petsc = "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type cudss",
              .amgx = "\"solver\": \"DENSE_LU_SOLVER\"",
              .ginkgo = "\"type\": \"solver::Direct\", \"factorization\": {\"type\": \"factorization::Lu\"}"},
};
