/* What all parts of warpspy-ranks use: answers, input, messages to the other ranks, and files. */
#include "ranks_program.h"

#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- answers ---- */

void answer(const struct worker *w, const char *fmt, ...)
{
    va_list list;
    if (w->rank || w->over) return; /* at the end of the input, nobody reads */
    va_start(list, fmt);
    vprintf(fmt, list);
    va_end(list);
    putchar('\n');
}

void answer_flush(const struct worker *w)
{
    if (!w->rank && !w->over) fflush(stdout);
}

const char *quoted(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 7 < size; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') out[n++] = '\\';
        out[n++] = c < ' ' ? ' ' : (char)c;
    }
    out[n] = 0;
    return out;
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- input ---- */

static char input[INPUT_MAX];
static size_t input_used, input_given; /* bytes read, and bytes of the line that was returned last */

char *input_line(struct worker *w, bool wait)
{
    memmove(input, input + input_given, input_used -= input_given);
    input_given = 0;
    while (!w->over) {
        char *end = memchr(input, '\n', input_used);
        if (end) {
            *end = 0;
            input_given = (size_t)(end + 1 - input);
            return input;
        }
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&p, 1, wait ? -1 : 0) <= 0) {
            if (wait) continue;
            return NULL;
        }
        ssize_t n = read(STDIN_FILENO, input + input_used, INPUT_MAX - input_used);
        if (n <= 0)
            w->over = true;
        else
            input_used += (size_t)n;
    }
    return NULL;
}

/* Yield, then sleep for longer and longer: a rank that waits for the user should leave its core to others. */
static void wait_for(MPI_Request *r)
{
    enum { YIELDS = 200, NAP_MIN_US = 50, NAP_MAX_US = 4000 };
    useconds_t nap = NAP_MIN_US;
    int done = 0;
    for (int i = 0; MPI_Test(r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; i++) {
        if (i < YIELDS) {
            sched_yield();
            continue;
        }
        usleep(nap);
        if (nap < NAP_MAX_US) nap *= 2;
    }
}

void tell_all(const struct worker *w, long long *n, int count)
{
    MPI_Request r;
    (void)MPI_Ibcast(n, count, MPI_LONG_LONG, 0, w->comm, &r);
    wait_for(&r);
}

void tell_line(const struct worker *w, char *line)
{
    MPI_Request r;
    (void)MPI_Ibcast(line, INPUT_MAX, MPI_CHAR, 0, w->comm, &r);
    wait_for(&r);
}

/* ---- files ---- */

PetscErrorCode file_open(const struct worker *w, const char *name, PetscFileMode mode, PetscViewer *file)
{
    char path[PETSC_MAX_PATH_LEN];
    PetscFunctionBeginUser;
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    PetscCall(PetscViewerCreate(w->comm, file));
    PetscCall(PetscViewerSetType(*file, PETSCVIEWERBINARY));
    PetscCall(PetscViewerBinarySetSkipInfo(*file, PETSC_TRUE));
    PetscCall(PetscViewerFileSetMode(*file, mode));
    PetscCall(PetscViewerFileSetName(*file, path));
    PetscFunctionReturn(0);
}
