/* Ctrl-C and the progress of long commands. */
#include "progress.h"
#include "base/clock.h"
#include "base/screen_lock.h"
#include "front.h"
#include "report/output.h"
#include "session.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { PROGRESS_EVERY_US = 100000 };

/* ---- Ctrl-C ---- */

static atomic_bool interrupted; /* lock-free, so that the signal handler may set it */

static void on_interrupt(int signal_number)
{
    atomic_store(&interrupted, true);
}

void session_catch_interrupt(bool once)
{
    struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = once ? (int)SA_RESETHAND : 0};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
}

bool session_take_interrupt(void)
{
    return atomic_exchange(&interrupted, false);
}

void session_interrupt(void)
{
    atomic_store(&interrupted, true);
}

bool session_interrupted(void)
{
    return atomic_load(&interrupted);
}

/* ---- progress ---- */

void progress_begin(struct progress *p)
{
    double now = steady_us();
    SCREEN_EDIT;
    *p = (struct progress){.command_us = now, .shown_us = now};
}

static void note_progress(struct progress *p, const char *what, int64_t done, int64_t total, double now)
{
    if (strncmp(p->what, what, sizeof p->what - 1) != 0 || total != p->total || done < p->done) {
        snprintf(p->what, sizeof p->what, "%.63s", what);
        p->began_us = now;
        p->done_before = done;
    }
    p->done = done;
    p->total = total;
    p->reported_us = now;
}

void session_progress(const struct session *s, char *out, size_t size)
{
    const struct progress *p = &s->progress;
    double part = p->total > 0 ? (double)p->done / (double)p->total : 0, took = p->reported_us - p->began_us;
    double left = took * (double)(p->total - p->done) / (double)(p->done - p->done_before) / 1e6;
    int n = 0;
    *out = 0;
    if (!*p->what) return;
    if (p->total > 0)
        n = snprintf(out, size, "%.50s %3.0f%%", p->what, 100 * part);
    else
        n = snprintf(out, size, p->done ? "%.50s %lld" : "%.50s", p->what, (long long)p->done);
    if (p->total > 0 && p->done > p->done_before && took > QUIET_US && n < (int)size)
        snprintf(out + n, size - (size_t)n, left < 100 ? ", %.1f s left" : ", %.0f s left", left);
}

/* Store the progress, and show it on a terminal if the command has run for a while. Returns false if the user pressed
   Ctrl-C. */
static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct session *s = w->user;
    double now = steady_us();
    struct progress *p = &s->progress;
    SCREEN_EDIT;
    bool line = (s->terminal || s->served) && !(s->front && s->front->covered);
    if (*what) note_progress(p, what, done, total, now);
    if (line && now - p->command_us > QUIET_US && now - p->shown_us > PROGRESS_EVERY_US) {
        char text[100];
        session_progress(s, text, sizeof text);
        out_progress(s->out, text);
        p->shown_us = now;
    }
    return !session_interrupted();
}

struct watch session_watch(struct session *s)
{
    return (struct watch){tick, s};
}
