#include "cudss_fake.h"

#include "base/shared.h"
#include "direct/direct.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As cudss_data_types.h and library_types.h number them. */
enum { GENERAL, SYMMETRIC, HERMITIAN, SPD, HPD };
enum { OK, INVALID = 3, NOT_SUPPORTED = 4 };
enum { ANALYSIS = 3, FACTORIZATION = 4, SOLVE = 1008 };
enum { NORMAL, TRANSPOSE, CONJUGATE_TRANSPOSE };

struct matrix {
    int64_t rows, cols, nnz;
    const void *start;
    const int32_t *col;
    void *val;
    bool long_offsets, pairs, sparse;
    int type;
};

/* The factors are those of the dense matrix, L U with row exchanges; `order` are the rows. */
struct data {
    int64_t n;
    int phase, info, positive, negative;
    complex double *lu;
    int64_t *order;
    bool pairs;
};

struct config {
    int mode;
};

static struct {
    int gpus, n, status;
    int64_t room, used, objects;
    const char *fails;
} fake = {.gpus = 1, .room = INT64_C(1) << 40};

/* ---- the CUDA runtime ---- */

static bool fails(const char *call, int *status)
{
    if (!fake.fails || strncmp(call, fake.fails, strlen(fake.fails)) || --fake.n > 0) return false;
    *status = fake.status;
    return true;
}

/* Every function begins with CALL: it fails if the test asks for that. */
#define CALL            \
    int status_of_call; \
    if (fails(__func__, &status_of_call)) return status_of_call

static int cudaGetDeviceCount_(int *n)
{
    CALL;
    *n = fake.gpus;
    return fake.gpus ? OK : 100;
}

static int cudaMalloc_(void **p, size_t bytes)
{
    CALL;
    if (fake.used + (int64_t)bytes > fake.room) return 2;
    size_t *block = malloc(bytes + 16);
    block[0] = bytes;
    fake.used += (int64_t)bytes;
    *p = block + 2;
    return OK;
}

static int cudaFree_(void *p)
{
    size_t *block = (size_t *)p - 2;
    fake.used -= (int64_t)block[0];
    free(block);
    return OK;
}

static int cudaMemcpy_(void *to, const void *from, size_t bytes, int way)
{
    CALL;
    size_t *block = way == 1 ? (size_t *)to - 2 : (size_t *)(uintptr_t)from - 2;
    if ((way != 1 && way != 2) || bytes > block[0]) return 1;
    memcpy(to, from, bytes);
    return OK;
}

static int cudaMemGetInfo_(size_t *left, size_t *all)
{
    CALL;
    *left = (size_t)(fake.room - fake.used);
    *all = (size_t)fake.room;
    return OK;
}

static int cudaDeviceSynchronize_(void)
{
    CALL;
    return OK;
}

static const char *cudaGetErrorString_(int status)
{
    return status == 2 ? "out of memory" : "invalid argument";
}

/* ---- objects ---- */

static void *object(size_t size)
{
    fake.objects++;
    return calloc(1, size);
}

static int destroy(void *p)
{
    fake.objects--;
    free(p);
    return OK;
}

static int cudssCreate_(void **handle)
{
    CALL;
    *handle = object(1);
    return OK;
}

static int cudssDestroy_(void *handle)
{
    return destroy(handle);
}

static int cudssSetThreadingLayer_(void *handle, const char *library)
{
    CALL;
    return handle && strstr(library, "libcudss_mtlayer_gomp.so.1") ? OK : INVALID;
}

static int cudssConfigCreate_(void **config)
{
    CALL;
    *config = object(sizeof(struct config));
    return OK;
}

static int cudssConfigDestroy_(void *config)
{
    return destroy(config);
}

static int cudssConfigSet_(void *config, int what, const void *value, size_t bytes)
{
    CALL;
    if (what != 4 || bytes != sizeof(int)) return INVALID;
    ((struct config *)config)->mode = *(const int *)value;
    return OK;
}

static int cudssDataCreate_(void *handle, void **data)
{
    CALL;
    if (!handle) return INVALID;
    *data = object(sizeof(struct data));
    return OK;
}

static int cudssDataDestroy_(void *handle, void *data)
{
    struct data *d = data;
    free(d->lu);
    free(d->order);
    return handle ? destroy(data) : INVALID;
}

static int give(const void *from, size_t size, void *value, size_t bytes, size_t *written)
{
    if (bytes < size) return INVALID;
    memcpy(value, from, size);
    *written = size;
    return OK;
}

static int cudssDataGet_(void *handle, void *data, int what, void *value, size_t bytes, size_t *written)
{
    struct data *d = data;
    int64_t nnz = d->n * d->n, flops = (2 * d->n * d->n * d->n / 3 + 1) * (d->pairs ? 4 : 1);
    int64_t size = (d->pairs ? 16 : 8) * nnz, estimates[16] = {size, 2 * size};
    int signs[2] = {d->positive, d->negative};
    CALL;
    if (!handle || d->phase < ANALYSIS) return INVALID;
    switch (what) {
    case 0:
        return give(&d->info, sizeof d->info, value, bytes, written);
    case 1:
        return give(&nnz, sizeof nnz, value, bytes, written);
    case 3:
        return give(signs, sizeof signs, value, bytes, written);
    case 13:
        return give(estimates, sizeof estimates, value, bytes, written);
    case 26:
        return give(&flops, sizeof flops, value, bytes, written);
    default:
        return NOT_SUPPORTED;
    }
}

static int64_t start_of(const struct matrix *A, int64_t i)
{
    return A->long_offsets ? ((const int64_t *)A->start)[i] : ((const int32_t *)A->start)[i];
}

static int cudssMatrixCreateCsr_(void **matrix, int64_t rows, int64_t cols, int64_t nnz, const void *start,
                                 const void *end, const void *col, const void *val, int offset_type, int index_type,
                                 int value_type, int type, int view, int base)
{
    CALL;
    if (rows != cols || end || index_type != 10 || (offset_type != 10 && offset_type != 24) || view || base ||
        (value_type != 1 && value_type != 5))
        return INVALID;
    struct matrix *A = *matrix = object(sizeof *A);
    *A = (struct matrix){rows, cols, nnz, start, col, (void *)(uintptr_t)val, offset_type == 24, value_type == 5,
                         true, type};
    if (start_of(A, 0) != 0 || start_of(A, rows) != nnz) return INVALID;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = start_of(A, i); k < start_of(A, i + 1); k++)
            if (A->col[k] < 0 || A->col[k] >= cols || (k > start_of(A, i) && A->col[k] <= A->col[k - 1]))
                return INVALID;
    return OK;
}

static int cudssMatrixCreateDn_(void **matrix, int64_t rows, int64_t cols, int64_t stride, const void *val,
                                int value_type, int layout)
{
    CALL;
    if (cols != 1 || stride != rows || layout || (value_type != 1 && value_type != 5)) return INVALID;
    struct matrix *x = *matrix = object(sizeof *x);
    *x = (struct matrix){.rows = rows, .cols = cols, .val = (void *)(uintptr_t)val, .pairs = value_type == 5};
    return OK;
}

static int cudssMatrixDestroy_(void *matrix)
{
    return destroy(matrix);
}

/* ---- the phases ---- */

static complex double value_of(const struct matrix *A, int64_t k)
{
    const double *val = A->val;
    return A->pairs ? CMPLX(val[2 * k], val[2 * k + 1]) : val[k];
}

static void fill(const struct matrix *A, complex double *dense)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = start_of(A, i); k < start_of(A, i + 1); k++) dense[i * A->cols + A->col[k]] = value_of(A, k);
}

/* Is the dense matrix its own (conjugate) transpose? */
static bool is_symmetric(int64_t n, const complex double *a, bool conjugate)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            if (a[i * n + j] != (conjugate ? conj(a[j * n + i]) : a[j * n + i])) return false;
    return true;
}

static int64_t pivot_row(const complex double *a, int64_t n, int64_t j)
{
    int64_t at = j;
    for (int64_t i = j + 1; i < n; i++)
        if (cabs(a[i * n + j]) > cabs(a[at * n + j])) at = i;
    return at;
}

static void swap_rows(struct data *d, int64_t i, int64_t j)
{
    int64_t row = d->order[i];
    d->order[i] = d->order[j];
    d->order[j] = row;
    for (int64_t c = 0; c < d->n; c++) {
        complex double a = d->lu[i * d->n + c];
        d->lu[i * d->n + c] = d->lu[j * d->n + c];
        d->lu[j * d->n + c] = a;
    }
}

/* `exchange`: rows; otherwise the pivots are those of L D L'. Ends at a pivot of 0, or at one that is not positive if
   `definite` is set. */
static void factorise(struct data *d, bool exchange, bool definite)
{
    complex double *a = d->lu;
    int64_t n = d->n;
    d->info = d->positive = d->negative = 0;
    for (int64_t j = 0; j < n && !d->info; j++) {
        if (exchange) swap_rows(d, j, pivot_row(a, n, j));
        complex double pivot = a[j * n + j];
        if (pivot == 0 || (definite && !(creal(pivot) > 0))) d->info = (int)j + 1;
        d->positive += creal(pivot) > 0;
        d->negative += creal(pivot) < 0;
        for (int64_t i = j + 1; i < n && !d->info; i++) {
            complex double l = a[i * n + j] /= pivot;
            for (int64_t c = j + 1; c < n && l != 0; c++) a[i * n + c] -= l * a[j * n + c];
        }
    }
}

/* Fails if the values are not those of the type. */
static int start_factors(struct data *d, const struct matrix *A)
{
    bool symmetric = A->type != GENERAL, conjugate = A->type == HERMITIAN || A->type == HPD;
    d->lu = realloc(d->lu, (size_t)(d->n * d->n) * sizeof *d->lu);
    d->order = realloc(d->order, (size_t)d->n * sizeof *d->order);
    memset(d->lu, 0, (size_t)(d->n * d->n) * sizeof *d->lu);
    for (int64_t i = 0; i < d->n; i++) d->order[i] = i;
    fill(A, d->lu);
    return symmetric && !is_symmetric(d->n, d->lu, conjugate) ? INVALID : OK;
}

static complex double get(const struct matrix *x, int64_t i)
{
    return value_of(x, i);
}

static void put(struct matrix *x, int64_t i, complex double value)
{
    double *val = x->val;
    if (!x->pairs) val[i] = creal(value);
    if (x->pairs) val[2 * i] = creal(value), val[2 * i + 1] = cimag(value);
}

/* y = A^-1 y by P A = L U */
static void substitute(const struct data *d, const complex double *b, complex double *y)
{
    int64_t n = d->n;
    for (int64_t i = 0; i < n; i++) {
        y[i] = b[d->order[i]];
        for (int64_t j = 0; j < i; j++) y[i] -= d->lu[i * n + j] * y[j];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; j++) y[i] -= d->lu[i * n + j] * y[j];
        y[i] /= d->lu[i * n + i];
    }
}

/* y = A^-T b: U^T L^T P y = b */
static void substitute_transposed(const struct data *d, complex double *b, complex double *y)
{
    int64_t n = d->n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) b[i] -= d->lu[j * n + i] * b[j];
        b[i] /= d->lu[i * n + i];
    }
    for (int64_t i = n; i-- > 0;)
        for (int64_t j = i + 1; j < n; j++) b[i] -= d->lu[j * n + i] * b[j];
    for (int64_t i = 0; i < n; i++) y[d->order[i]] = b[i];
}

static void find_x(const struct data *d, int mode, const struct matrix *b, struct matrix *x)
{
    complex double *from = malloc((size_t)(2 * d->n + 1) * sizeof *from), *y = from + d->n;
    bool conjugate = mode == CONJUGATE_TRANSPOSE;
    for (int64_t i = 0; i < d->n; i++) from[i] = conjugate ? conj(get(b, i)) : get(b, i);
    if (mode == NORMAL)
        substitute(d, from, y);
    else
        substitute_transposed(d, from, y);
    for (int64_t i = 0; i < d->n; i++) put(x, i, conjugate ? conj(y[i]) : y[i]);
    free(from);
}

static int cudssExecute_(void *handle, int phase, void *config, void *data, void *A_, void *x, void *b)
{
    struct data *d = data;
    const struct matrix *A = A_;
    CALL;
    if (!handle || !config || !A->sparse) return INVALID;
    if (phase == ANALYSIS) {
        d->phase = phase;
        d->n = A->rows;
        d->pairs = A->pairs;
        return OK;
    }
    if (phase == FACTORIZATION && d->phase >= ANALYSIS) {
        d->phase = phase;
        int status = start_factors(d, A);
        if (!status) factorise(d, A->type == GENERAL, A->type == SPD || A->type == HPD);
        return status;
    }
    if (phase != SOLVE || d->phase < FACTORIZATION || d->info) return INVALID;
    find_x(d, ((struct config *)config)->mode, b, x);
    return OK;
}

/* ---- in place of the libraries ---- */

#define FUNCTION(name) \
    {                  \
#name, name##_ \
    }
static const struct {
    const char *name;
    void *at;
} functions[] = {FUNCTION(cudaGetDeviceCount),
                 FUNCTION(cudaMalloc),
                 FUNCTION(cudaFree),
                 FUNCTION(cudaMemcpy),
                 FUNCTION(cudaMemGetInfo),
                 FUNCTION(cudaDeviceSynchronize),
                 FUNCTION(cudaGetErrorString),
                 FUNCTION(cudssCreate),
                 FUNCTION(cudssDestroy),
                 FUNCTION(cudssConfigCreate),
                 FUNCTION(cudssConfigDestroy),
                 FUNCTION(cudssConfigSet),
                 FUNCTION(cudssDataCreate),
                 FUNCTION(cudssDataDestroy),
                 FUNCTION(cudssDataGet),
                 FUNCTION(cudssMatrixCreateCsr),
                 FUNCTION(cudssMatrixCreateDn),
                 FUNCTION(cudssMatrixDestroy),
                 FUNCTION(cudssExecute),
                 FUNCTION(cudssSetThreadingLayer)};

static void replace(struct shared_library *l)
{
    for (const struct shared_function *f = l->functions; f->name; f++)
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            if (!strcmp(functions[i].name, f->name)) *(void **)f->to = functions[i].at;
    l->handle = &fake;
    l->tried = l->file;
}

void cudss_fake(void)
{
    const struct direct_method *m = direct_find("cudss");
    replace(m->library);
    replace(m->also);
}

void cudss_fake_fail(const char *call, int n, int status)
{
    fake.fails = call;
    fake.n = n;
    fake.status = status;
}

void cudss_fake_gpus(int n)
{
    fake.gpus = n;
}

void cudss_fake_room(int64_t bytes)
{
    fake.room = bytes;
}

int64_t cudss_fake_used(void)
{
    return fake.used + fake.objects;
}
