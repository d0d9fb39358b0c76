/* warpspy-ranks: started by warpspy on several processes through mpiexec, it holds a matrix in PETSc, multiplies and
   solves with it, and answers in JSON. src/ranks/protocol.h describes the commands. */
#include "ranks/protocol.h"
#include "ranks_program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- files ---- */

/* The files that rank 0 removes at the end: warpspy, which wrote them, may have been killed. */
static const char *const file_names[] = {RANKS_MATRIX, RANKS_X, RANKS_B, RANKS_Y, ""};
enum { FILES = sizeof file_names / sizeof *file_names };
static char file_path[FILES][PETSC_MAX_PATH_LEN]; /* empty on the other ranks; the last is the folder */

static void name_files(const struct worker *w)
{
    for (int i = 0; i < FILES && !w->rank; i++)
        snprintf(file_path[i], sizeof file_path[i], "%s/%s", w->folder, file_names[i]);
}

static void remove_files(void)
{
    for (int i = 0; i < FILES - 1; i++) unlink(file_path[i]);
    rmdir(file_path[FILES - 1]);
}

/* The launcher has ended, or ends the ranks. */
static void terminate(int n)
{
    remove_files();
    _exit(1);
}

/* ---- errors ---- */

static char error_text[800];

/* Keep the message of the first error instead of printing it. */
static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n,
                                 PetscErrorType type, const char *text, void *user)
{
    if (type == PETSC_ERROR_INITIAL) snprintf(error_text, sizeof error_text, "%s: %s", function, text ? text : "");
    return n;
}

/* An error that only other ranks met is reported too. */
static void answer_error(const struct worker *w, PetscErrorCode why)
{
    char text[900];
    int mine = error_text[0] ? w->rank : w->ranks, first = mine;
    (void)MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, w->comm);
    if (first < w->ranks) (void)MPI_Bcast(error_text, sizeof error_text, MPI_CHAR, first, w->comm);
    if (!error_text[0]) snprintf(error_text, sizeof error_text, "PETSc failed with error %d", (int)why);
    answer(w, "{\"type\":\"error\",\"rank\":%d,\"text\":\"%s\"}", first < w->ranks ? first : 0,
           quoted(error_text, text, sizeof text));
    error_text[0] = 0;
}

/* ---- commands ---- */

/* The greeting: each rank, then the program. */
static void greet(const struct worker *w)
{
    char version[64], text[200], host[MPI_MAX_PROCESSOR_NAME + 16] = "";
    int length, pid = (int)getpid();
    PetscInt major, minor, subminor;
    MPI_Get_processor_name(host, &length);
    for (int r = 0; r < w->ranks; r++) {
        if (w->rank && w->rank == r) (void)MPI_Send(host, sizeof host, MPI_CHAR, 0, 0, w->comm);
        if (w->rank && w->rank == r) (void)MPI_Send(&pid, 1, MPI_INT, 0, 0, w->comm);
        if (w->rank) continue;
        if (r) (void)MPI_Recv(host, sizeof host, MPI_CHAR, r, 0, w->comm, MPI_STATUS_IGNORE);
        if (r) (void)MPI_Recv(&pid, 1, MPI_INT, r, 0, w->comm, MPI_STATUS_IGNORE);
        answer(w, "{\"type\":\"rank\",\"rank\":%d,\"host\":\"%s\",\"pid\":%d}", r, quoted(host, text, sizeof text),
               pid);
    }
    PetscGetVersionNumber(&major, &minor, &subminor, NULL);
    snprintf(version, sizeof version, "%d.%d.%d", (int)major, (int)minor, (int)subminor);
    answer(w,
           "{\"type\":\"hello\",\"protocol\":%d,\"petsc\":\"%s\",\"ranks\":%d,\"index_bytes\":%d,\"scalar_bytes\":%d}",
           RANKS_PROTOCOL, version, w->ranks, (int)sizeof(PetscInt), (int)sizeof(PetscScalar));
    answer_flush(w);
}

/* Run one command on all ranks. */
static void obey(struct worker *w, const char *line)
{
    PetscErrorCode why = 0;
    if (!strcmp(line, "quit"))
        w->over = true;
    else if (!strcmp(line, "load"))
        why = matrix_load(w);
    else if (!strncmp(line, "multiply ", 9))
        why = matrix_multiply(w, atoll(line + 9));
    else if (!strncmp(line, "solve ", 6))
        why = solve(w, line + 6);
    else if (!strcmp(line, "log"))
        why = events_answer(w);
    /* `stop`, `pause` and `go` may arrive after the end of a solve. */
    if (why) answer_error(w, why);
    answer_flush(w);
}

static void serve(struct worker *w)
{
    static char line[INPUT_MAX];
    /* Only rank 0 knows of the end of the input, which may come during a solve. */
    for (bool goes = true; goes; goes = strcmp(line, "quit") != 0) {
        const char *next = w->rank ? "" : input_line(w, true);
        snprintf(line, sizeof line, "%s", next ? next : "quit");
        tell_line(w, line);
        obey(w, line);
    }
}

static PetscErrorCode set_up(struct worker *w)
{
    static const char *const names[] = {"load", "product", "set-up", "solve"};
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetAll(NULL, &w->base_options));
    PetscCall(PetscLogDefaultBegin());
    for (int i = 0; i < PHASES; i++) PetscCall(PetscLogStageRegister(names[i], &w->stage[i]));
    PetscCall(PetscPushErrorHandler(keep_error, NULL));
    PetscFunctionReturn(0);
}

enum { END_S = 10 };

int main(int argc, char **argv)
{
    struct worker w = {.folder = argc > 1 ? argv[1] : ""};
    signal(SIGTERM, terminate);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* no rank outlives its launcher */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || argv[1][0] != '/') {
        fprintf(stderr, "warpspy-ranks is started by warpspy: type `ranks 4` there\n");
        return 2;
    }
    if (PetscOptionsSetValue(NULL, "-no_signal_handler", "1") || PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    MPI_Comm_dup(PETSC_COMM_WORLD, &w.comm);
    MPI_Comm_rank(w.comm, &w.rank);
    MPI_Comm_size(w.comm, &w.ranks);
    if (!w.rank) setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    name_files(&w);
    if (set_up(&w)) return 1;
    greet(&w);
    serve(&w);
    remove_files();
    alarm(END_S); /* MPI may wait for a rank that is gone */
    MatDestroy(&w.A);
    PetscFree(w.base_options);
    MPI_Comm_free(&w.comm);
    return PetscFinalize() ? 1 : 0;
}
