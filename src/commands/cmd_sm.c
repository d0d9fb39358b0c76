/* sm: the warps of one multiprocessor over time, at several occupancies. */
#include "advice/sm_lives.h"
#include "base/err.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

/* Without a name: the traced kernel, or csr-scalar. */
static const struct kernel *kernel_of(const struct session *s, const struct args *a)
{
    if (arg(a, "kernel")) return kernel_find(arg(a, "kernel"));
    return s->trace && s->trace->kernel ? s->trace->kernel : kernel_find("csr-scalar");
}

static bool run_sm(struct session *s, const struct args *a, struct err *e)
{
    int64_t warps;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !arg_within(a, "warps", 0, 1, SM_WARPS, &warps, e)) return false;
    if (!sm_begin(s, m, kernel_of(s, a), arg_precision(a), (int)warps, e)) return false;
    if (view_is_asked(s, a)) return s->front->show(s, "sm", true, e);
    out_sm(s, s->sm);
    return true;
}

const struct command command_sm = {
    .name = "sm",
    .grammar = "[MATRIX] [[kernel] KERNEL] [warps N] [view] [f32|f64]",
    .about = "show what the warps of one multiprocessor do over time, and why occupancy matters",
    .help =
        "The emulator records the warps of the blocks that one multiprocessor gets. A simulation then replays them\n"
        "with the latencies and rates of the cost model: at each time, a warp is ready to issue, does arithmetic,\n"
        "waits for memory or at a barrier, or has finished. Everything is predicted. There is one row per\n"
        "occupancy: with more warps, some warp is ready more often while others wait. `warps N` chooses an\n"
        "occupancy, at most 64. Without a kernel, sm takes the traced one, or csr-scalar. `view sm` draws the\n"
        "warps over time; its keys ( and ) change the occupancy.\n"
        "    sm csr-scalar; view sm\n"
        "    sm A kernel csr-vector warps 16; export sm a.svg",
    .rows = (const struct row_kind *const[]){&row_sm, NULL},
    .run = run_sm,
};
