/* The matrix: read in parallel, its partition as PETSc has it, and timed products. */
#include "ranks/protocol.h"
#include "ranks_program.h"

#include <stdlib.h>
#include <string.h>

/* ---- the partition ---- */

/* The columns that this rank needs from other ranks, by PETSc's own map: garray lists the columns of the block outside
   the diagonal block. */
struct halo {
    Mat inside, outside; /* outside NULL: there is one rank */
    const PetscInt *column;
    PetscInt n;
};

static PetscErrorCode halo_of(const struct worker *w, struct halo *h)
{
    PetscBool many;
    PetscFunctionBeginUser;
    *h = (struct halo){.inside = w->A};
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)w->A, MATMPIAIJ, &many));
    if (!many) PetscFunctionReturn(0);
    PetscCall(MatMPIAIJGetSeqAIJ(w->A, &h->inside, &h->outside, &h->column));
    PetscCall(MatGetSize(h->outside, NULL, &h->n));
    PetscFunctionReturn(0);
}

static PetscErrorCode nonzeros(Mat M, PetscLogDouble *n)
{
    MatInfo info;
    PetscFunctionBeginUser;
    *n = 0;
    if (!M) PetscFunctionReturn(0);
    PetscCall(MatGetInfo(M, MAT_LOCAL, &info));
    *n = info.nz_used;
    PetscFunctionReturn(0);
}

/* Append the owners of the halo, in ascending order, to the text: [owner, columns] for each. */
static size_t add_owners(const struct halo *h, const PetscInt *from, char *text, size_t at)
{
    int owner = 0;
    for (PetscInt i = 0, n; i < h->n; i += n) {
        while (h->column[i] >= from[owner + 1]) owner++;
        for (n = 1; i + n < h->n && h->column[i + n] < from[owner + 1];) n++;
        at += (size_t)sprintf(text + at, "%s[%d,%lld]", i ? "," : "", owner, (long long)n);
    }
    return at;
}

/* This rank's line. The caller frees it. */
static PetscErrorCode part_text(const struct worker *w, char **out)
{
    struct halo h;
    PetscInt from, to;
    const PetscInt *columns;
    PetscLogDouble inside, outside;
    PetscFunctionBeginUser;
    PetscCall(halo_of(w, &h));
    PetscCall(MatGetOwnershipRange(w->A, &from, &to));
    PetscCall(MatGetOwnershipRangesColumn(w->A, &columns));
    PetscCall(nonzeros(h.inside, &inside));
    PetscCall(nonzeros(h.outside, &outside));
    char *text = malloc(400 + 40 * (size_t)w->ranks);
    PetscCheck(text, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the partition");
    size_t n = (size_t)sprintf(text,
                               "{\"type\":\"part\",\"rank\":%d,\"first\":%lld,\"rows\":%lld,\"inside\":%.0f,"
                               "\"outside\":%.0f,\"halo\":%lld,\"from\":[",
                               w->rank, (long long)from, (long long)(to - from), inside, outside, (long long)h.n);
    n = add_owners(&h, columns, text, n);
    strcpy(text + n, "]}");
    *out = text;
    PetscFunctionReturn(0);
}

/* One line per rank, in order. */
static PetscErrorCode answer_parts(const struct worker *w)
{
    char *text = NULL;
    PetscFunctionBeginUser;
    PetscCall(part_text(w, &text));
    if (w->rank)
        PetscCallMPI(MPI_Send(text, (int)strlen(text) + 1, MPI_CHAR, 0, 1, w->comm));
    else
        answer(w, "%s", text);
    free(text);
    for (int r = 1; r < w->ranks && !w->rank; r++) {
        MPI_Status status;
        int length;
        PetscCallMPI(MPI_Probe(r, 1, w->comm, &status));
        PetscCallMPI(MPI_Get_count(&status, MPI_CHAR, &length));
        char *other = malloc((size_t)length);
        PetscCheck(other, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the partition");
        PetscCallMPI(MPI_Recv(other, length, MPI_CHAR, r, 1, w->comm, MPI_STATUS_IGNORE));
        answer(w, "%s", other);
        free(other);
    }
    PetscFunctionReturn(0);
}

/* ---- reading ---- */

static PetscErrorCode load(struct worker *w)
{
    PetscViewer file;
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&w->A));
    PetscCall(MatCreate(w->comm, &w->A));
    PetscCall(MatSetType(w->A, MATAIJ));
    PetscCall(MatSetFromOptions(w->A));
    PetscCall(file_open(w, RANKS_MATRIX, FILE_MODE_READ, &file));
    PetscCall(MatLoad(w->A, file));
    PetscCall(PetscViewerDestroy(&file));
    PetscFunctionReturn(0);
}

/* A matrix that was read in part is dropped. */
PetscErrorCode matrix_load(struct worker *w)
{
    PetscInt rows, cols;
    PetscFunctionBeginUser;
    PetscCall(events_begin(w, PHASE_LOAD));
    double start = seconds();
    PetscCall(PetscLogStagePush(w->stage[PHASE_LOAD]));
    PetscErrorCode why = load(w);
    PetscCall(PetscLogStagePop());
    if (why) MatDestroy(&w->A);
    if (why) PetscFunctionReturn(why);
    double us = 1e6 * (seconds() - start);
    PetscCall(answer_parts(w));
    PetscCall(MatGetSize(w->A, &rows, &cols));
    answer(w, "{\"type\":\"loaded\",\"rows\":%lld,\"cols\":%lld,\"us\":%.3f}", (long long)rows, (long long)cols, us);
    PetscFunctionReturn(0);
}

/* ---- products ---- */

enum { REPS_MIN = 10, REPS_MAX = 2000 };
static const double warm_up_s = 0.05, measure_s = 0.3;

/* y = A x between two barriers; *s receives the time of the slowest rank, on rank 0. */
static PetscErrorCode timed(const struct worker *w, Vec x, Vec y, double *s)
{
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Barrier(w->comm));
    double start = seconds();
    PetscCall(MatMult(w->A, x, y));
    double own = seconds() - start;
    PetscCallMPI(MPI_Reduce(&own, s, 1, MPI_DOUBLE, MPI_MAX, 0, w->comm));
    PetscFunctionReturn(0);
}

/* Multiply for a while; choose from the rate how many products to time. */
static PetscErrorCode warm_up(const struct worker *w, Vec x, Vec y, long long *reps)
{
    double s, start = seconds();
    long long n[2] = {0, *reps};
    PetscFunctionBeginUser;
    for (long long i = 1; !n[0]; i++) {
        PetscCall(timed(w, x, y, &s));
        double each = (seconds() - start) / (double)i;
        n[0] = each * (double)i > warm_up_s;
        if (!*reps) n[1] = (long long)(measure_s / each);
        tell_all(w, n, 2);
    }
    if (!*reps) *reps = n[1] < REPS_MIN ? REPS_MIN : n[1] > REPS_MAX ? REPS_MAX : n[1];
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(struct worker *w, Vec x, Vec y, long long reps)
{
    double s;
    PetscFunctionBeginUser;
    PetscCall(warm_up(w, x, y, &reps));
    if (!w->rank) printf("{\"type\":\"product\",\"us\":[");
    for (long long i = 0; i < reps; i++) {
        PetscCall(timed(w, x, y, &s));
        if (!w->rank) printf("%s%.3f", i ? "," : "", 1e6 * s);
    }
    PetscFunctionReturn(0);
}

PetscErrorCode matrix_multiply(struct worker *w, long long reps)
{
    Vec x, y;
    PetscViewer file;
    PetscFunctionBeginUser;
    PetscCheck(w->A, w->comm, PETSC_ERR_ORDER, "no matrix was loaded");
    PetscCall(MatCreateVecs(w->A, &x, &y));
    PetscCall(file_open(w, RANKS_X, FILE_MODE_READ, &file));
    PetscCall(VecLoad(x, file));
    PetscCall(PetscViewerDestroy(&file));
    PetscCall(events_begin(w, PHASE_PRODUCT));
    PetscCall(PetscLogStagePush(w->stage[PHASE_PRODUCT]));
    PetscCall(multiply(w, x, y, reps));
    PetscCall(PetscLogStagePop());
    PetscCall(file_open(w, RANKS_Y, FILE_MODE_WRITE, &file));
    PetscCall(VecView(y, file));
    PetscCall(PetscViewerDestroy(&file));
    answer(w, "]}");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}
