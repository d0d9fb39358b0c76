/* Commands to the ranks, and their answers: JSON objects, one a line. Lines of other kinds are what PETSc or the
   launcher prints; they are kept for the user. */
#include "base/err.h"
#include "base/text.h"
#include "base/watch.h"
#include "ranks_private.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const double look_us = 1500; /* the time between two looks at the keyboard */

/* ---- why the ranks ended ---- */

/* The line of `said` that holds `pattern`, made safe to print; NULL: there is none. */
static const char *line_with(const char *said, const char *pattern, char *out, size_t size)
{
    const char *at = strstr(said, pattern);
    if (!at) return NULL;
    while (at > said && at[-1] != '\n') at--;
    return print_safe(at, strcspn(at, "\n"), 200, out, size);
}

/* Does the line say something, other than rulers and blank lines? */
static bool tells(const char *line, size_t n)
{
    int letters = 0;
    for (size_t i = 0; i < n; i++) letters += (line[i] >= 'a' && line[i] <= 'z') || (line[i] >= 'A' && line[i] <= 'Z');
    return letters > 4;
}

static const char *first_words(const char *said, char *out, size_t size)
{
    for (; *said; said += strcspn(said, "\n"), said += *said == '\n') {
        size_t n = strcspn(said, "\n");
        if (tells(said, n)) return print_safe(said, n, 200, out, size);
    }
    return NULL;
}

/* What launchers say, and what helps. */
static const struct {
    const char *pattern, *fault, *cure;
} known[] = {
    {"not enough slots", "%s has fewer slots than ranks",
     "start fewer ranks, or allow more than there are cores: `set launcher \"mpiexec --oversubscribe\"`"},
    {"attempt to run as root", "%s does not run as root",
     "run warpspy as another user, or `set launcher \"mpiexec --allow-run-as-root\"`"},
    {"running mpiexec as root", "%s does not run as root",
     "run warpspy as another user, or `set launcher \"mpiexec --allow-run-as-root\"`"},
    {"error while loading shared libraries", "%s started warpspy-ranks on a machine that lacks one of its libraries",
     "install PETSc there"},
};

static bool fail_as_known(const struct ranks *r, struct err *e)
{
    for (int i = 0; i < COUNT(known); i++) {
        char fault[400];
        if (!strstr(r->program.said, known[i].pattern)) continue;
        snprintf(fault, sizeof fault, known[i].fault, r->launcher);
        fail(e, E_DEVICE, "%s; %s", fault, known[i].cure);
        return true;
    }
    return false;
}

/* How the launcher ended, in words. */
static void ending(int status, char *out, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(out, size, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "ended with status %d", WEXITSTATUS(status));
}

bool ranks_died(struct ranks *r, struct err *e)
{
    enum { LAST_WORDS_US = 1000000 };
    char line[256], how[120];
    const char *words;
    coprocess_end(&r->program, LAST_WORDS_US);
    ending(r->program.status, how, sizeof how);
    r->dead = true;
    if (r->n == 0 && fail_as_known(r, e)) return false;
    words = line_with(r->program.said, "exited on signal", line, sizeof line);
    if (!words) words = line_with(r->program.said, "MPI_ABORT", line, sizeof line);
    if (!words) words = first_words(r->program.said, line, sizeof line);
    if (!words && r->nprints) words = first_words(r->prints, line, sizeof line);
    char again[60] = "check the launcher: `set launcher`";
    if (r->n) snprintf(again, sizeof again, "`ranks %d` starts them again", r->n);
    return fail(e, E_DEVICE, "the ranks have ended: %s %s%s%s%s; %s", r->launcher, how, words ? ": \"" : "",
                words ? words : "", words ? "\"" : "", again);
}

/* ---- sending and receiving ---- */

bool ranks_send(struct ranks *r, const char *line, struct err *e)
{
    if (coprocess_send(&r->program, line) && coprocess_send(&r->program, "\n")) return true;
    return ranks_died(r, e);
}

void prints_forget(struct ranks *r)
{
    r->nprints = 0;
    r->prints[0] = 0;
}

static void keep_print(struct ranks *r, const char *line)
{
    size_t n = strlen(line);
    if (r->nprints + n + 2 > sizeof r->prints) return;
    memcpy(r->prints + r->nprints, line, n);
    r->nprints += n + 1;
    r->prints[r->nprints - 1] = '\n';
    r->prints[r->nprints] = 0;
}

static bool is_answer(const cJSON *a)
{
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(a, "type"));
}

cJSON *ranks_next(struct ranks *r, double us, struct err *e)
{
    char *line = coprocess_line(&r->program, us);
    if (!line) {
        if (r->program.ended) ranks_died(r, e);
        return NULL;
    }
    cJSON *a = *line == '{' ? cJSON_Parse(line) : NULL;
    if (a && is_answer(a)) return a;
    cJSON_Delete(a);
    keep_print(r, line);
    return NULL;
}

cJSON *ranks_wait(struct ranks *r, const char *what, struct watch *w, struct err *e)
{
    for (;;) {
        struct err why = {0};
        if (!watch_tick(w, what, 0, 0, e)) {
            r->busy = true;
            return NULL;
        }
        cJSON *a = ranks_next(r, look_us, &why);
        if (a) return a;
        if (why.code) return fail_at(e, why.code, why.where, "%s", why.text), NULL;
    }
}

/* ---- reading an answer ---- */

bool reply_is(const cJSON *a, const char *type)
{
    return !strcmp(reply_text(a, "type"), type);
}

bool reply_is_last(const cJSON *a)
{
    static const char *const last[] = {"loaded", "product", "solved", "logged", "error"};
    for (int i = 0; i < COUNT(last); i++)
        if (reply_is(a, last[i])) return true;
    return false;
}

double reply_number(const cJSON *a, const char *key)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(a, key);
    return cJSON_IsNumber(n) ? n->valuedouble : NAN;
}

const char *reply_text(const cJSON *a, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(a, key));
    return text ? text : "";
}

/* PETSc's messages begin with the name of a function; those of warpspy-ranks' own functions begin with a small letter.
 */
bool reply_fail(const cJSON *a, struct err *e)
{
    const char *text = reply_text(a, "text"), *option = strstr(text, "knows the option ");
    char safe[400];
    int rank = (int)reply_number(a, "rank");
    if (option) option += strlen("knows the option ");
    print_safe(option ? option : text, strlen(option ? option : text), 350, safe, sizeof safe);
    if (option)
        return fail(e, E_USAGE,
                    "PETSc does not know the option %s, or this solver and preconditioner do not use it; "
                    "`options \"-ksp_view\"` shows what is in use",
                    safe);
    return fail(e, E_DEVICE, "PETSc failed on rank %d: %s", rank, safe);
}
