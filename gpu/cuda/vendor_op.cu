/* cuSPARSE's newer SpMV functions as entries of the table of kernels: SpMVOp (12.9), which computes z = alpha A x +
   beta y by a plan, and SpMVGeneric. A library without them refuses the kernels. */
#include "base/mem.h"
#include "cusparse_library.h"
#include "formats/fmt_csr.h"
#include "formats/stored.h"
#include "gpu/dialect.h"
#include "machine/kernel.h"
#include "machine/mat.h"

/* ---- what both have: the operands, z apart from y ---- */

struct operands {
    cusparseConstDnVecDescr_t x, y;
    cusparseDnVecDescr_t y_out, z; /* y_out: y as the functions that plan expect it */
};

/* z is the y of the launch, and y is a copy of it: the library does not allow that both are the same vector. */
static bool operands_new(const struct cusparse *sp, const struct launch *L, void *copy, struct operands *v,
                         struct err *e)
{
    const struct stored *S = L->A->of;
    SP(cusparseCreateConstDnVec(&v->x, S->cols, L->x, cusparse_type(S)));
    SP(cusparseCreateConstDnVec(&v->y, S->rows, copy, cusparse_type(S)));
    SP(cusparseCreateDnVec(&v->y_out, S->rows, copy, cusparse_type(S)));
    SP(cusparseCreateDnVec(&v->z, S->rows, L->y, cusparse_type(S)));
    return true;
}

static void operands_free(const struct cusparse *sp, struct operands *v)
{
    if (v->x) sp->cusparseDestroyDnVec(v->x);
    if (v->y) sp->cusparseDestroyDnVec(v->y);
    if (v->y_out) sp->cusparseDestroyDnVec(v->y_out);
    if (v->z) sp->cusparseDestroyDnVec(v->z);
}

static int64_t bytes_of_y(const struct launch *L)
{
    return L->A->of->rows * (int64_t)type_size(precisions[L->A->of->real].vector);
}

static bool copy_y(const struct launch *L, void *copy, struct err *e)
{
    if (L->beta == 0) return true;
    cudaError_t failed = cudaMemcpyAsync(copy, L->y, (size_t)bytes_of_y(L), cudaMemcpyDeviceToDevice,
                                         static_cast<cudaStream_t>(L->A->dev->stream));
    return failed == cudaSuccess || fail(e, E_DEVICE, "cudaMemcpyAsync: %s", cudaGetErrorString(failed));
}

/* ---- a plan: what the library keeps for one matrix ---- */

struct plan {
    const struct cusparse *sp; /* made all that follows */
    cusparseConstSpMatDescr_t A;
    void *descriptor, *compiled; /* compiled: of SpMVOp only */
    void *workspace, *y;
    int64_t bytes; /* of both */
    struct operands planned;
};

static void *keep(const struct launch *L, struct plan *p, size_t bytes, const char *what, struct err *e)
{
    void *kept = L->A->dev->ops->alloc(L->A->dev, bytes ? (int64_t)bytes : 1, what, e);
    p->bytes += kept ? (int64_t)bytes : 0;
    return kept;
}

static const char *title_of(uint64_t note)
{
    return ((const struct plan *)note)->sp->title;
}

static int64_t workspace(uint64_t note)
{
    return ((const struct plan *)note)->bytes;
}

/* Begin a plan in *L->note: the matrix, the copy of y and the operands. NULL: the reason is in *e. */
static struct plan *plan_new(const struct launch *L, struct err *e)
{
    const struct cusparse *sp = cusparse_use(e);
    struct plan *p = sp ? (struct plan *)mem_zero(1, sizeof *p, "cuSPARSE's plan", e) : nullptr;
    if (!p) return nullptr;
    *L->note = (uint64_t)p;
    p->sp = sp;
    p->y = keep(L, p, (size_t)bytes_of_y(L), "cuSPARSE's copy of y", e);
    return p->y && cusparse_describe_csr(sp, L->A, &p->A, e) && operands_new(sp, L, p->y, &p->planned, e) ? p : nullptr;
}

static void plan_free(struct device *d, struct plan *p)
{
    if (p->A) p->sp->cusparseDestroySpMat(p->A);
    operands_free(p->sp, &p->planned);
    if (p->workspace) d->ops->free(d, p->workspace);
    if (p->y) d->ops->free(d, p->y);
    mem_free(p);
}

/* For `fits`: has the library this function? An older one refuses every matrix. */
static bool library_has(bool present, const struct cusparse *sp, const char *function, struct err *e)
{
    return present || fail(e, E_UNSUPPORTED, "%s (%s) has no %s; `set cusparse PATH` chooses a newer library",
                           sp->title, sp->path, function);
}

/* ---- SpMVOp ---- */

static bool op_accepts(const struct stored *S, struct err *e)
{
    const struct cusparse *sp = cusparse_accepts(S, e) ? cusparse_use(e) : nullptr;
    if (!sp || !library_has(sp->cusparseSpMVOp_ != nullptr, sp, "SpMVOp", e)) return false;
    return !precisions[S->real].is_complex ||
           fail(e, E_UNSUPPORTED, "SpMVOp of %s multiplies real matrices only; use another kernel", sp->title);
}

static void op_release(struct device *d, uint64_t note)
{
    struct plan *p = (struct plan *)note;
    if (p->compiled) p->sp->cusparseSpMVOp_destroyPlan_(p->compiled);
    if (p->descriptor) p->sp->cusparseSpMVOp_destroyDescr_(p->descriptor);
    plan_free(d, p);
}

template <int ALGORITHM> static bool op_prepare(const struct launch *L, struct err *e)
{
    struct plan *p = plan_new(L, e);
    if (!p) return false;
    const struct cusparse *sp = p->sp;
    const struct operands *v = &p->planned;
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    cudaDataType type = cusparse_type(L->A->of);
    cusparseHandle_t handle;
    size_t bytes = 0;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP_NEWER(cusparseSpMVOp_bufferSize, (handle, plain, p->A, v->x, v->y_out, v->z, type, ALGORITHM, &bytes));
    if (!(p->workspace = keep(L, p, bytes, "cuSPARSE's workspace", e))) return false;
    SP_NEWER(cusparseSpMVOp_createDescr,
             (handle, &p->descriptor, plain, p->A, v->x, v->y_out, v->z, type, ALGORITHM, p->workspace));
    SP_NEWER(cusparseSpMVOp_createPlan, (handle, p->descriptor, &p->compiled, nullptr, 0));
    return true;
}

template <typename T>
static bool op_multiply(const struct plan *p, const struct launch *L, const struct operands *v, struct err *e)
{
    const struct cusparse *sp = p->sp;
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    if (!cusparse_handle(sp, L->A->dev, &handle, e) || !copy_y(L, p->y, e)) return false;
    SP_NEWER(cusparseSpMVOp, (handle, p->compiled, &f.alpha, &f.beta, v->x, v->y, v->z));
    return true;
}

typedef bool multiply_fn(const struct plan *p, const struct launch *L, const struct operands *v, struct err *e);

template <multiply_fn *MULTIPLY> static bool run_planned(const struct launch *L, struct err *e)
{
    const struct plan *p = (const struct plan *)*L->note;
    struct operands v = {};
    bool ok = operands_new(p->sp, L, p->y, &v, e) && MULTIPLY(p, L, &v, e);
    operands_free(p->sp, &v);
    return ok;
}

template <typename T> static bool op_run(const struct launch *L, struct err *e)
{
    return run_planned<op_multiply<T>>(L, e);
}

/* ---- SpMVGeneric ---- */

static bool generic_accepts(const struct stored *S, struct err *e)
{
    const struct cusparse *sp = cusparse_accepts(S, e) ? cusparse_use(e) : nullptr;
    return sp && library_has(sp->cusparseSpMVGeneric_ != nullptr, sp, "SpMVGeneric", e);
}

enum { SET_OPERATION, SET_ALGORITHM, SET_BUFFER }; /* as cusparseSpMVDescrSetParam numbers them */

static void generic_release(struct device *d, uint64_t note)
{
    struct plan *p = (struct plan *)note;
    if (p->descriptor) p->sp->cusparseSpMV_destroyDescr_(p->descriptor);
    plan_free(d, p);
}

template <typename T> static bool generic_analyse(struct plan *p, const struct launch *L, struct err *e)
{
    const struct cusparse *sp = p->sp;
    const struct operands *v = &p->planned;
    factors<T> f = {(T)1, (T)0};
    cudaDataType type = cusparse_type(L->A->of);
    cusparseHandle_t handle;
    size_t bytes = 0;
    if (!cusparse_handle(sp, L->A->dev, &handle, e)) return false;
    SP_NEWER(cusparseSpMVGeneric_bufferSize,
             (handle, &f.alpha, p->A, v->x, &f.beta, v->y, v->z, type, p->descriptor, &bytes));
    if (!(p->workspace = keep(L, p, bytes, "cuSPARSE's workspace", e))) return false;
    SP_NEWER(cusparseSpMVDescrSetParam, (p->descriptor, SET_BUFFER, &p->workspace, sizeof p->workspace));
    SP_NEWER(cusparseSpMVGeneric_preprocess, (handle, &f.alpha, p->A, v->x, &f.beta, v->y, v->z, type, p->descriptor));
    return true;
}

static bool generic_prepare(const struct launch *L, struct err *e)
{
    static bool (*const analyse[])(struct plan *, const struct launch *, struct err *) = {
        generic_analyse<float>, generic_analyse<double>, generic_analyse<cplx<float>>, generic_analyse<cplx<double>>};
    cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_CSR_ALG1;
    struct plan *p = plan_new(L, e);
    if (!p) return false;
    const struct cusparse *sp = p->sp;
    SP_NEWER(cusparseSpMV_createDescr, (&p->descriptor));
    SP_NEWER(cusparseSpMVDescrSetParam, (p->descriptor, SET_OPERATION, &plain, sizeof plain));
    SP_NEWER(cusparseSpMVDescrSetParam, (p->descriptor, SET_ALGORITHM, &algorithm, sizeof algorithm));
    return analyse[L->A->of->real](p, L, e);
}

template <typename T>
static bool generic_multiply(const struct plan *p, const struct launch *L, const struct operands *v, struct err *e)
{
    const struct cusparse *sp = p->sp;
    factors<T> f = {(T)L->alpha, (T)L->beta};
    cusparseHandle_t handle;
    if (!cusparse_handle(sp, L->A->dev, &handle, e) || !copy_y(L, p->y, e)) return false;
    SP_NEWER(cusparseSpMVGeneric,
             (handle, &f.alpha, p->A, v->x, &f.beta, v->y, v->z, cusparse_type(L->A->of), p->descriptor));
    return true;
}

template <typename T> static bool generic_run(const struct launch *L, struct err *e)
{
    return run_planned<generic_multiply<T>>(L, e);
}

/* ---- the kernels ---- */

#define OP_LESSON                                                                                         \
    "A plan is made once per matrix; the first one of a session takes up to 45 ms, because the library\n" \
    "compiles for it. It multiplies real matrices.\n"

#define PLANNED(id, name_, about_, lesson_, same, fits_, prepare_, release_, run_)                                  \
    CUSPARSE_KERNEL(id, name_, csr, about_, lesson_, same, .fits = fits_, .prepare = prepare_, .release = release_, \
                    .workspace = workspace, .product = {VALUE_TYPES(run_)})

PLANNED(cusparse_op1, "cusparse-op1", "cuSPARSE's SpMVOp, algorithm 1 (from 12.9 on)",
        OP_LESSON "Its workspace is about as large as 1.6 bytes per entry.\n", true, op_accepts, op_prepare<1>,
        op_release, op_run)
PLANNED(cusparse_op2, "cusparse-op2", "cuSPARSE's SpMVOp, algorithm 2, with its own copy of the matrix (from 12.9 on)",
        OP_LESSON "Its workspace has a copy of the matrix in a layout of its own, about 13 bytes per entry.\n", true,
        op_accepts, op_prepare<2>, op_release, op_run)
PLANNED(cusparse_generic, "cusparse-generic", "cuSPARSE's SpMVGeneric, CSR algorithm 1 (from 12.9 on)",
        "It is as fast as CSR algorithm 1 with preprocessing, and its order of additions is not fixed.\n", false,
        generic_accepts, generic_prepare, generic_release, generic_run)
