/* The ranks of a session: they hold one matrix at a time, and do one thing at a time. */
#include "session_ranks.h"
#include "base/err.h"
#include "base/screen_lock.h"
#include "matrix.h"
#include "ranks/ranks.h"
#include "ranks/ranks_solve.h"
#include "session.h"
#include "session_solve.h"

struct ranks *session_swap_ranks(struct session *s, struct ranks *r)
{
    struct ranks *before = s->ranks;
    SCREEN_EDIT;
    s->ranks = r;
    return before;
}

void session_end_ranks(struct session *s)
{
    bool paused = ranks_run(s->solve);
    if (!s->ranks) return;
    ranks_forget_solve(s->solve);
    if (paused) {
        out_note(s->out, "the paused solve on ranks has ended");
        session_drop_solve(s);
    }
    ranks_end(session_swap_ranks(s, NULL));
}

bool session_ranks_failed(struct session *s)
{
    if (s->ranks && s->ranks->dead) session_end_ranks(s);
    return false;
}

struct ranks *session_ranks(struct session *s, struct matrix *m, struct err *e)
{
    if (!s->ranks)
        fail(e, E_USAGE, "no ranks are running; `ranks 4` starts 4");
    else if (ranks_run(s->solve))
        fail(e, E_USAGE, "a solve on the ranks is paused; `continue` or `stop` comes first");
    else if (m ? ranks_load(s->ranks, &m->csr, m->number, &s->watch, e) : ranks_ready(s->ranks, &s->watch, e))
        return s->ranks;
    else
        session_ranks_failed(s);
    return NULL;
}
