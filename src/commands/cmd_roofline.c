/* roofline: all kernels of a matrix below the limits of a GPU. */
#include "advice/roofline.h"
#include "base/err.h"
#include "language/args.h"
#include "language/requests.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

static bool run_roofline(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !roofline_begin(s, m, arg_precision(a), e)) return false;
    if (view_is_asked(s, a)) return s->front->show(s, "roofline", true, e);
    out_roofline(s, s->roofline);
    return true;
}

const struct command command_roofline = {
    .name = "roofline",
    .grammar = "[MATRIX] [view] [f32|f64]",
    .about = "show all kernels of a matrix below the limits of a GPU: memory, L2, L1 and arithmetic",
    .help =
        "A kernel that moves B bytes for F operations cannot be faster than F / B times a bandwidth, nor than the\n"
        "arithmetic. The emulator runs every kernel whose format fits, and the model predicts its time; times that\n"
        "`bench` measured on this GPU take precedence. The limits are those that `ceilings` measures, or the\n"
        "model's constants if there is no GPU. `view roofline` and `export roofline FILE` draw the roofs and the\n"
        "kernels with logarithmic axes.\n"
        "    roofline; view roofline\n"
        "    roofline A f32; export roofline a.svg",
    .rows = (const struct row_kind *const[]){&row_roofline, NULL},
    .run = run_roofline,
};
