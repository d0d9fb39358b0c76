/* The parts of warpspy-ranks, a program that PETSc's users run on many processes: the matrix and its partition,
   products, solves and the events that PETSc logs. */
#ifndef RANKS_PROGRAM_H
#define RANKS_PROGRAM_H

#include <petscksp.h>
#include <stdbool.h>

/* The phases of which PETSc logs the events separately. */
enum phase { PHASE_LOAD, PHASE_PRODUCT, PHASE_SET_UP, PHASE_SOLVE, PHASES };

struct worker {
    MPI_Comm comm;
    PetscMPIInt rank, ranks;
    const char *folder;
    char *base_options; /* of the environment and of the user's files, to which those of a solve are added */
    PetscLogStage stage[PHASES];
    Mat A;     /* NULL: none was loaded */
    bool over; /* the input has ended, or rank 0 has read `quit` */
};

/* ---- talk.c: input and answers ---- */

enum { INPUT_MAX = 1 << 16 }; /* bytes of a line of the input */

/* Print an answer. Only rank 0 prints. */
void answer(const struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void answer_flush(const struct worker *w);
/* Copy text to out[size] so that it can stand between the quotes of a JSON string. Returns out. */
const char *quoted(const char *text, char *out, size_t size);
/* The next line of the input, on rank 0: NULL if there is none yet, or, with `wait`, at the end of the input. At the
   end, w->over is set. The line is valid until the next call. */
char *input_line(struct worker *w, bool wait);
/* Send n integers of rank 0 to all ranks. Ranks that wait long sleep meanwhile. */
void tell_all(const struct worker *w, long long *n, int count);
/* Send a line of rank 0, line[INPUT_MAX], to all ranks. */
void tell_line(const struct worker *w, char *line);
/* A file of the folder, opened to read or write. */
PetscErrorCode file_open(const struct worker *w, const char *name, PetscFileMode mode, PetscViewer *file);
double seconds(void);

/* ---- matrix.c ---- */

PetscErrorCode matrix_load(struct worker *w);
PetscErrorCode matrix_multiply(struct worker *w, long long reps);

/* ---- solve.c ---- */

/* line: FLAGS TOL MAXIT OPTIONS */
PetscErrorCode solve(struct worker *w, const char *line);

/* ---- events.c ---- */

/* Forget the events of a phase, which begins again. */
PetscErrorCode events_begin(struct worker *w, enum phase phase);
PetscErrorCode events_answer(struct worker *w);

#endif
