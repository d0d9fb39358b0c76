/* cuSPARSE as the files of this room use it: the library that is in use, its functions, and a handle per device. */
#ifndef CUSPARSE_LIBRARY_H
#define CUSPARSE_LIBRARY_H

#include "base/err.h"
#include "library.h"

#include <cusparse.h>
#include <string.h>

struct device;
struct mat;
struct stored;

/* The functions of version 12.6, all of which the program needs. */
#define CUSPARSE_FUNCTIONS(F)          \
    F(cusparseCreate)                  \
    F(cusparseDestroy)                 \
    F(cusparseSetStream)               \
    F(cusparseGetErrorString)          \
    F(cusparseGetProperty)             \
    F(cusparseCreateConstCsr)          \
    F(cusparseCreateConstCoo)          \
    F(cusparseCreateConstSlicedEll)    \
    F(cusparseCreateConstBsr)          \
    F(cusparseDestroySpMat)            \
    F(cusparseCreateConstDnVec)        \
    F(cusparseCreateDnVec)             \
    F(cusparseDestroyDnVec)            \
    F(cusparseSpMV)                    \
    F(cusparseSpMV_bufferSize)         \
    F(cusparseSpMV_preprocess)         \
    F(cusparseCreateConstDnMat)        \
    F(cusparseCreateDnMat)             \
    F(cusparseDestroyDnMat)            \
    F(cusparseSpMM)                    \
    F(cusparseSpMM_bufferSize)         \
    F(cusparseSpMM_preprocess)         \
    F(cusparseCreateMatDescr)          \
    F(cusparseDestroyMatDescr)         \
    F(cusparseCsr2cscEx2)              \
    F(cusparseCsr2cscEx2_bufferSize)   \
    F(cusparseDcsrgeam2_bufferSizeExt) \
    F(cusparseXcsrgeam2Nnz)            \
    F(cusparseDcsrgeam2)

/* Functions that newer versions have, declared here because the program may be built with an older toolkit. A function
   that the library lacks is NULL. Source: cusparse.h of version 12.9.4. */
typedef cusparseStatus_t spmvop_size_fn(cusparseHandle_t, cusparseOperation_t, cusparseConstSpMatDescr_t A,
                                        cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cusparseDnVecDescr_t z,
                                        cudaDataType, int algorithm, size_t *bytes);
typedef cusparseStatus_t spmvop_describe_fn(cusparseHandle_t, void **descriptor, cusparseOperation_t,
                                            cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t x,
                                            cusparseDnVecDescr_t y, cusparseDnVecDescr_t z, cudaDataType, int algorithm,
                                            void *buffer);
typedef cusparseStatus_t spmvop_plan_fn(cusparseHandle_t, void *descriptor, void **plan, const void *code,
                                        size_t code_bytes);
typedef cusparseStatus_t spmvop_run_fn(cusparseHandle_t, void *plan, const void *alpha, const void *beta,
                                       cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                                       cusparseDnVecDescr_t z);
typedef cusparseStatus_t cusparse_end_fn(void *);
typedef cusparseStatus_t spmv_begin_fn(void **descriptor);
typedef cusparseStatus_t spmv_set_fn(void *descriptor, int what, void *value, size_t bytes);
typedef cusparseStatus_t generic_fn(cusparseHandle_t, const void *alpha, cusparseConstSpMatDescr_t A,
                                    cusparseConstDnVecDescr_t x, const void *beta, cusparseConstDnVecDescr_t y,
                                    cusparseDnVecDescr_t z, cudaDataType, void *descriptor);
typedef cusparseStatus_t generic_size_fn(cusparseHandle_t, const void *alpha, cusparseConstSpMatDescr_t A,
                                         cusparseConstDnVecDescr_t x, const void *beta, cusparseConstDnVecDescr_t y,
                                         cusparseDnVecDescr_t z, cudaDataType, void *descriptor, size_t *bytes);
#define CUSPARSE_NEWER_FUNCTIONS(F)                    \
    F(cusparseSpMVOp_bufferSize, spmvop_size_fn)       \
    F(cusparseSpMVOp_createDescr, spmvop_describe_fn)  \
    F(cusparseSpMVOp_destroyDescr, cusparse_end_fn)    \
    F(cusparseSpMVOp_createPlan, spmvop_plan_fn)       \
    F(cusparseSpMVOp_destroyPlan, cusparse_end_fn)     \
    F(cusparseSpMVOp, spmvop_run_fn)                   \
    F(cusparseSpMV_createDescr, spmv_begin_fn)         \
    F(cusparseSpMV_destroyDescr, cusparse_end_fn)      \
    F(cusparseSpMVDescrSetParam, spmv_set_fn)          \
    F(cusparseSpMVGeneric_bufferSize, generic_size_fn) \
    F(cusparseSpMVGeneric_preprocess, generic_fn)      \
    F(cusparseSpMVGeneric, generic_fn)

/* One library. What it creates lives until its caller destroys it by the functions of the same library. */
struct cusparse {
    void *opened; /* as dlopen returned it; NULL: not opened */
    int version;  /* 1000 major + 100 minor + patch, as in CUSPARSE_VERSION */
    char title[32], path[PATH_MAX];
#define F(name) decltype(&::name) name;
    CUSPARSE_FUNCTIONS(F)
#undef F
#define F(name, type) type *name##_;
    CUSPARSE_NEWER_FUNCTIONS(F)
#undef F
};

/* The library in use, opened if none is; NULL: none can be opened. */
const struct cusparse *cusparse_use(struct err *e);
/* The handle of this library for d, whose calls queue their launches on the stream of d. */
bool cusparse_handle(const struct cusparse *sp, const struct device *d, cusparseHandle_t *handle, struct err *e);
cudaDataType cusparse_type(const struct stored *S);
bool cusparse_describe_csr(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e);
/* For `fits` of its kernels: the library accepts only matrices with entries. */
bool cusparse_accepts(const struct stored *S, struct err *e);

/* Call a function of the library `sp`, a variable at the place of the call; leave the caller if the call fails. */
#define SP(call) SP_AS(#call, sp->call)
#define SP_NEWER(name, arguments) SP_AS(#name, sp->name##_ arguments)
#define SP_AS(text, call)                                                                        \
    do {                                                                                         \
        cusparseStatus_t status = (call);                                                        \
        if (status != CUSPARSE_STATUS_SUCCESS)                                                   \
            return fail(e, E_DEVICE, "%.*s of %s: %s", (int)strcspn(text, "("), text, sp->title, \
                        sp->cusparseGetErrorString(status));                                     \
    } while (0)

/* An entry of the table of kernels, with further members after `same`. Its file has title_of, which finds the library
   in the launch's note. The library's source is closed, so the lessons rely on its manual and on measurements. */
#define CLOSED "The source is closed: the kernel cannot be traced, only timed.\n"
#define CUSPARSE_KERNEL(id, name_, of, about_, lesson_, same, ...)            \
    extern "C" const struct kernel cuda_kernel_##id;                          \
    const struct kernel cuda_kernel_##id = {.name = name_,                    \
                                            .about = about_,                  \
                                            .format = &format_##of,           \
                                            .source = "cuSPARSE",             \
                                            .work = "as the library chooses", \
                                            .lesson = CLOSED lesson_,         \
                                            .deterministic = same,            \
                                            .vendor = true,                   \
                                            .library = title_of,              \
                                            __VA_ARGS__};

/* Factors in the type of the values, because the library reads them by address. */
template <typename T> struct factors {
    T alpha, beta;
};

#endif
