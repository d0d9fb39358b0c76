/* spmv: runs one kernel, checks the result against the reference, and times it. */
#include "base/err.h"
#include "cmd_ranks.h"
#include "formats/fmt_csc.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"
#include "session/spmv.h"

/* Without a format or a kernel, `spmv` multiplies csr, whatever was converted: say so. */
static void say_other_form(struct session *s, const struct args *a, const struct spmv_request *w)
{
    const struct format *f = w->matrix->converted;
    if (!f || !w->kernel || w->kernel->format == f || arg(a, "using") || arg(a, "kernel")) return;
    out_note(s->out, "%s was converted to %s, but this SpMV uses %s; `spmv %s` uses %s", w->matrix->name, f->name,
             w->kernel->format->name, f->name, f->name);
}

static bool run_spmv(struct session *s, const struct args *a, struct err *e)
{
    struct spmv_operation o;
    struct spmv_request w;
    struct run r[2];
    int64_t param[PARAMS_MAX];
    if (on_ranks(a)) return run_spmv_ranks(s, a, e);
    if (!spmv_with_kernel_of(s, a, &o, param, &w, e)) return false;
    /* Without a kernel, A' x in two ways: from the csr of A, which is the csc of A', and from A' stored in csr. */
    const struct format *const way[] = {&format_csc, &format_csr};
    const int n = w.kernel ? 1 : COUNT(way);
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        if (n > 1) w.kernel = kernel_default(way[i], &w.matrix->csr, w.dev);
        ok = spmv_measure(s, &w, &r[i], e);
    }
    ok = ok && spmv_keep(s, w.matrix, r, n, &o, e);
    if (ok) say_other_form(s, a, &w);
    for (int i = 0; i < n && ok; i++) {
        out_record(s->out);
        out_run(s->out, w.matrix, &r[i], RUN_RECORD);
        out_remarks(s->out, &r[i], 1);
    }
    spmv_operation_free(&o);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field spmv_timed_fields[] = {
    {.include = &row_run},
    {.include = &row_diagonals},
    {"gflops_padded", F_AMOUNT | OR_NULL, "2 operands / time_us, in GFLOP/s; null for other formats and on emu"},
    {"gflops_padded_less_rows", F_AMOUNT | OR_NULL,
     "(2 operands - rows) / time_us, in GFLOP/s; null for other formats and on emu"},
    {0},
};
static const struct row_kind row_spmv_timed = {"timed", "a kernel, checked and timed", spmv_timed_fields};

const struct command command_spmv = {
    .name = "spmv",
    .aliases = "multiply spm",
    .grammar = "[MATRIX] [transposed] [[using] FORMAT] [PARAMS] [[kernel] KERNEL] [alpha R] [beta R] [y0 START] [on "
               "DEVICE] [reps N] [f32|f64|[precision] PRECISION] [force]",
    .about = "multiply with one kernel: check the result against the reference, then time the kernel",
    .help = "The default is the default kernel of the format (csr if no format is named, csr64 for a matrix with\n"
            "more than 2,147,483,647 rows or nonzeros) on the device. The kernel, the packing and the copying are\n"
            "timed separately. The error is ||y - y_ref|| / ||y_ref||, 2-norms, of the y below; it is 0 if both are\n"
            "0, and inf if only y_ref is. The worst row's error is compared with its rounding-error bound. Another\n"
            "check, of alpha A x + beta y0 with other factors, precedes it. Give parameters after the format.\n"
            "y = alpha A x + beta y0 for a random x; alpha is 1 and beta is 0 unless given. y0 is zero, ones, random\n"
            "(the default) or a file, and is not read if beta is 0. If beta is not 0, each timed SpMV begins with\n"
            "the y of the previous one, and bytes counts y twice. `print y` shows the result.\n"
            "With transposed, y = alpha A' x + beta y0: x has as many elements as A has rows. A kernel of csc reads\n"
            "the csr of A, which is the csc of A', by an index or atomics; every other format stores A' beside A.\n"
            "If no format is named, both are shown: csc, then csr. Complex values are not conjugated.\n"
            "A precision such as bf16-fp32 stores the values in the first type; x, y and the sums have the second.\n"
            "The error includes the rounding of the stored values, and so does its bound.\n"
            "`spmv on ranks` checks and times PETSc's product on the processes that `ranks` started.\n"
            "    spmv csr-vector on emu f32; spmv sell bf16-fp32; spmv A hyb width 2; spmv alpha 2 beta 1 y0 ones; "
            "spmv A transposed",
    .rows = (const struct row_kind *const[]){&row_spmv_timed, &row_spmv_on_ranks, NULL},
    .run = run_spmv,
    .sweeps = true,
    .large = true,
    .in_parts = true,
    .several = true,
};
