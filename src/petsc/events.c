/* The events that PETSc logs, as -log_view prints them: per phase and event, the largest and the smallest value of all
   ranks. */
#include "ranks_program.h"

#include <stdlib.h>
#include <string.h>

/* What an event has, as doubles, so that one reduction takes them all. */
enum { CALLS, TIME, FLOPS, MESSAGES, BYTES, REDUCTIONS, VALUES };
struct event {
    PetscLogDouble value[VALUES];
};
/* The values of each phase when it began. */
static struct {
    struct event *at;
    int n;
} begun[PHASES];

/* The number of events that PETSc knows. */
static PetscErrorCode count_events(int *n)
{
    PetscFunctionBeginUser;
#if PETSC_VERSION_GE(3, 20, 0)
    PetscLogState state;
    PetscInt count;
    PetscCall(PetscLogGetState(&state));
    PetscCall(PetscLogStateGetNumEvents(state, &count));
    *n = (int)count;
#else
    PetscStageLog log;
    PetscCall(PetscLogGetStageLog(&log));
    *n = log->eventLog->numEvents;
#endif
    PetscFunctionReturn(0);
}

static PetscErrorCode event_name(int i, const char **name)
{
    PetscFunctionBeginUser;
#if PETSC_VERSION_GE(3, 20, 0)
    PetscCall(PetscLogEventGetName(i, name));
#else
    PetscStageLog log;
    PetscCall(PetscLogGetStageLog(&log));
    *name = log->eventLog->eventInfo[i].name;
#endif
    PetscFunctionReturn(0);
}

/* The values of n events of a phase, since the start of the program. */
static PetscErrorCode read_events(const struct worker *w, enum phase phase, struct event *to, int n)
{
    PetscFunctionBeginUser;
    for (int i = 0; i < n; i++) {
        PetscEventPerfInfo p;
        PetscCall(PetscLogEventGetPerfInfo(w->stage[phase], i, &p));
        to[i] = (struct event){{p.count, p.time, p.flops, p.numMessages, p.messageLength, p.numReductions}};
    }
    PetscFunctionReturn(0);
}

PetscErrorCode events_begin(struct worker *w, enum phase phase)
{
    int n;
    PetscFunctionBeginUser;
    PetscCall(count_events(&n));
    struct event *more = realloc(begun[phase].at, ((size_t)n + 1) * sizeof *more);
    PetscCheck(more, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the events");
    begun[phase].at = more;
    begun[phase].n = n;
    PetscCall(read_events(w, phase, more, n));
    PetscFunctionReturn(0);
}

static PetscErrorCode answer_event(const struct worker *w, enum phase phase, int i, const struct event *most,
                                   const struct event *least, const struct event *sum)
{
    static const char *const phases[] = {"load", "product", "set-up", "solve"};
    char text[200];
    const char *name = "";
    PetscFunctionBeginUser;
    PetscCall(event_name(i, &name));
    /* PETSc counts each message twice, where it is sent and where it is received; -log_view halves the sums too */
    answer(w,
           "{\"type\":\"event\",\"phase\":\"%s\",\"event\":\"%s\",\"calls\":%.0f,\"time_max\":%.9g,\"time_min\":%.9g,"
           "\"flops_max\":%.9g,\"flops_min\":%.9g,\"flops\":%.9g,\"messages\":%.0f,\"bytes\":%.0f,\"reductions\":%.0f}",
           phases[phase], quoted(name, text, sizeof text), most->value[CALLS], most->value[TIME], least->value[TIME],
           most->value[FLOPS], least->value[FLOPS], sum->value[FLOPS], sum->value[MESSAGES] / 2, sum->value[BYTES] / 2,
           most->value[REDUCTIONS]);
    PetscFunctionReturn(0);
}

/* The events of a phase since it began last. own, most, least and sum have room for n events. */
static PetscErrorCode answer_phase(const struct worker *w, enum phase phase, int n, struct event *own)
{
    struct event *most = own + n, *least = most + n, *sum = least + n;
    PetscFunctionBeginUser;
    PetscCall(read_events(w, phase, own, n));
    for (int i = 0; i < begun[phase].n && i < n; i++)
        for (int k = 0; k < VALUES; k++) own[i].value[k] -= begun[phase].at[i].value[k];
    PetscCallMPI(MPI_Reduce(own, most, n * VALUES, MPI_DOUBLE, MPI_MAX, 0, w->comm));
    PetscCallMPI(MPI_Reduce(own, least, n * VALUES, MPI_DOUBLE, MPI_MIN, 0, w->comm));
    PetscCallMPI(MPI_Reduce(own, sum, n * VALUES, MPI_DOUBLE, MPI_SUM, 0, w->comm));
    for (int i = 0; i < n && !w->rank; i++)
        if (most[i].value[CALLS] > 0) PetscCall(answer_event(w, phase, i, most + i, least + i, sum + i));
    PetscFunctionReturn(0);
}

PetscErrorCode events_answer(struct worker *w)
{
    int own, n;
    PetscFunctionBeginUser;
    PetscCall(count_events(&own));
    PetscCallMPI(MPI_Allreduce(&own, &n, 1, MPI_INT, MPI_MIN, w->comm));
    struct event *room = calloc(4 * (size_t)n, sizeof *room);
    PetscCheck(room, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the events");
    for (int i = 0; i < PHASES; i++) PetscCall(answer_phase(w, (enum phase)i, n, room));
    free(room);
    answer(w, "{\"type\":\"logged\"}");
    PetscFunctionReturn(0);
}
