/* The memory of a job, which the session and the process with the kernel share: the stored matrix, x, y and numbers. */
#include "base/err.h"
#include "base/loop.h"
#include "formats/format.h"
#include "lab_private.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "microscope/tape.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory that a kernel and the emulator may use besides the matrix. */
static const int64_t MEMORY_MAX = (int64_t)3 << 30;
enum { COMPARED = 1 << 20 }; /* bytes compared at a time */

struct layout {
    int64_t end;
    struct job *job; /* NULL: only find the offsets */
};

/* Room for n bytes, which are copied if the memory is there. */
static int64_t lay(struct layout *l, const void *from, int64_t n)
{
    int64_t at = (l->end + JOB_ALIGN - 1) / JOB_ALIGN * JOB_ALIGN;
    if (!from) return 0;
    l->end = at + n;
    if (l->job) loop_copy((char *)l->job + at, from, n, "", NULL);
    return at;
}

static void lay_matrix(struct layout *l, struct job *j, const struct lab_request *r)
{
    const struct stored *S = r->M->of;
    int64_t size = (int64_t)type_size(precisions[S->real].vector);
    snprintf(j->format, sizeof j->format, "%s", S->format->name);
    j->rows = S->rows, j->cols = S->cols, j->nnz = S->nnz, j->real = S->real, j->narrays = S->narrays;
    memcpy(j->param, S->param, sizeof j->param);
    for (int k = 0; k < S->narrays; k++) {
        const struct array *a = &S->a[k];
        j->a[k] = (struct job_array){.role = a->role, .type = a->type, .n = a->n};
        snprintf(j->a[k].name, sizeof j->a[k].name, "%s", a->name);
        j->a[k].at = lay(l, a->data, a->n * (int64_t)type_size(a->type));
    }
    j->x = lay(l, r->x, S->cols * size);
    j->y = lay(l, r->y, S->rows * size);
}

static void lay_csr(struct layout *l, struct job *j, const struct csr *A)
{
    j->rowptr = lay(l, A->rowptr, (A->rows + 1) * (int64_t)sizeof *A->rowptr);
    j->rowptr64 = lay(l, A->rowptr64, (A->rows + 1) * (int64_t)sizeof *A->rowptr64);
    j->col = lay(l, A->col, A->nnz * (int64_t)sizeof *A->col);
    j->val = lay(l, A->val, A->nnz * (int64_t)sizeof *A->val);
    j->imag = lay(l, A->imag, A->nnz * (int64_t)sizeof *A->imag);
}

static void fill(struct layout *l, struct job *j, const struct lab_kernel *k, const struct lab_request *r)
{
    *j = (struct job){.version = WARPSPY_VERSION,
                      .op = r->op,
                      .alpha = r->alpha,
                      .beta = r->beta,
                      .races = r->races,
                      .reps = r->reps,
                      .launch = r->launch,
                      .warp = r->warp,
                      .block = r->block,
                      .sample = r->sample,
                      .memory = MEMORY_MAX};
    if (r->machine) j->machine = *r->machine;
    j->coded = r->code != NULL;
    if (r->code) j->code = *r->code;
    j->tape = r->tape != NULL;
    j->at_once = r->tape ? r->tape->at_once : 0;
    j->on_gpu = r->M && r->M->dev->kind == DEV_CUDA;
    snprintf(j->device, sizeof j->device, "%s", r->M ? r->M->dev->name : "");
    source_symbol(&k->source, j->on_gpu, j->symbol, sizeof j->symbol);
    snprintf(j->name, sizeof j->name, "%s", k->name);
    if (r->M) lay_matrix(l, j, r);
    if (r->M) j->memory += 4 * stored_bytes(r->M->of);
    if (r->A) lay_csr(l, j, r->A);
}

struct job *lab_job_new(const struct lab_kernel *k, const struct lab_request *r, int *fd, int64_t *bytes, struct err *e)
{
    struct job draft;
    struct layout l = {.end = sizeof draft};
    fill(&l, &draft, k, r);
    *bytes = l.end + JOB_ALIGN;
    *fd = lab_memory("a kernel's process", *bytes, e);
    if (*fd < 0) return NULL;
    struct job *j = mmap(NULL, (size_t)*bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (j == MAP_FAILED) {
        close(*fd);
        fail(e, E_MEMORY, "not enough memory for a kernel's process");
        return NULL;
    }
    l = (struct layout){.end = sizeof draft, .job = j};
    fill(&l, j, k, r);
    if (loop_unbroken(k->name, e)) return j;
    munmap(j, (size_t)*bytes);
    close(*fd);
    return NULL;
}

/* ---- another launch with the same matrix ---- */

static bool same_bytes(const void *a, const void *b, int64_t bytes)
{
    struct loop l = loop_of("", bytes);
    for (int64_t at = 0; at < bytes; at += COMPARED) {
        int64_t n = bytes - at < COMPARED ? bytes - at : COMPARED;
        if (!loop_check(&l, at) || memcmp((const char *)a + at, (const char *)b + at, (size_t)n)) return false;
    }
    return true;
}

static bool same_array(const struct job *j, const struct job_array *a, const struct array *b)
{
    return a->n == b->n && a->type == b->type && a->role == b->role && (a->at != 0) == (b->data != NULL) &&
           (!a->at || same_bytes((const char *)j + a->at, b->data, a->n * (int64_t)type_size(a->type)));
}

bool lab_job_same(const struct job *j, const struct lab_request *r)
{
    const struct stored *S = r->M ? r->M->of : NULL;
    if (!S || r->op != OP_LAUNCH || j->op != OP_LAUNCH || strcmp(j->device, r->M->dev->name) ||
        strcmp(j->format, S->format->name) || j->rows != S->rows || j->cols != S->cols || j->nnz != S->nnz ||
        j->real != S->real || j->narrays != S->narrays || memcmp(j->param, S->param, sizeof j->param))
        return false;
    for (int k = 0; k < S->narrays; k++)
        if (!same_array(j, &j->a[k], &S->a[k])) return false;
    return true;
}

bool lab_job_again(struct job *j, const struct lab_request *r, struct err *e)
{
    int64_t size = (int64_t)type_size(precisions[j->real].vector);
    j->alpha = r->alpha, j->beta = r->beta, j->races = r->races;
    return loop_copy((char *)j + j->x, r->x, j->cols * size, "", e) &&
           loop_copy((char *)j + j->y, r->y, j->rows * size, "", e);
}
