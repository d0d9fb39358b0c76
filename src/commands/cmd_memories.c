/* memories: the memories of a GPU and of this host, side by side. */
#include "advice/memories.h"
#include "language/args.h"
#include "language/requests.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

static bool run_memories(struct session *s, const struct args *a, struct err *e)
{
    struct memories m;
    if (view_is_asked(s, a)) return s->front->show(s, "memories", true, e);
    if (!memories_of(s, &m, e)) return false;
    out_memories(s, &m);
    return true;
}

const struct command command_memories = {
    .name = "memories",
    .grammar = "[view]",
    .about = "the memories of a GPU and of this host, side by side: sizes, bandwidths, latencies",
    .help = "A row for each memory, from the one nearest to the arithmetic to the farthest. The GPU is that of the\n"
            "session, or an NVIDIA H200 if there is none; `set gpu v100` chooses another. `view memories` draws both\n"
            "sides, and `export memories FILE` makes a picture of them.\n"
            "    memories; set gpu v100; export memories v100.svg",
    .rows = (const struct row_kind *const[]){&row_memory, NULL},
    .run = run_memories,
};
