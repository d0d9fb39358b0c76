/* sass: the machine code that the compiler made of a kernel, and what it shows; two kernels are compared. */
#include "cmd_sass.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "lab/machine_code.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "report/fields.h"
#include "sass_rows.h"
#include "session/command.h"
#include "session/front.h"
#include "session/holding.h"
#include "session/session.h"

#include <string.h>

static void free_codes(struct machine_codes *codes)
{
    for (int k = 0; codes && k < codes->n; k++) machine_code_free(&codes->of[k]);
    mem_free(codes);
}

static void keep(struct session *s, struct machine_codes *codes)
{
    SCREEN_EDIT;
    free_codes(s->sass);
    s->sass = codes;
}

/* The function that the traced launch runs, if the kernel is the traced one. */
static const char *traced_function(const struct session *s, const struct kernel *k)
{
    const struct tracing *v = s->trace;
    const char *name = v && v->kernel == k ? v->t.scope.launch[v->t.launch].instance : "";
    return *name ? name : NULL;
}

static const struct kernel *kernel_of(const struct session *s, const struct args *a, const char *key)
{
    if (arg(a, key)) return kernel_find(arg(a, key));
    return s->trace && s->trace->kernel ? s->trace->kernel : kernel_find("csr-vector");
}

static bool add_code(struct session *s, const struct machine_code_request *r, struct machine_codes *codes,
                     struct err *e)
{
    if (!machine_code_read(r, &codes->of[codes->n], &s->watch, e)) return false;
    codes->n++;
    return true;
}

bool sass_begin(struct session *s, const struct kernel *k, enum precision real, struct err *e)
{
    struct machine_codes *codes = mem_zero(1, sizeof *codes, "machine code", e);
    struct machine_code_request r = {.kernel = k, .real = real, .function = traced_function(s, k)};
    if (!codes || !add_code(s, &r, codes, e)) return free_codes(codes), false;
    keep(s, codes);
    return true;
}

bool sass_keeps(const struct session *s, const struct kernel *k)
{
    for (int i = 0; s->sass && i < s->sass->n; i++)
        if (!strcmp(s->sass->of[i].kernel, k->name)) return true;
    return false;
}

void sass_drop(struct session *s)
{
    keep(s, NULL);
}

static bool read_code(struct session *s, const struct args *a, const struct kernel *k, struct machine_codes *codes,
                      struct err *e)
{
    int64_t instance;
    if (!arg_within(a, "instance", 0, 1, INT32_MAX, &instance, e)) return false;
    struct machine_code_request r = {.kernel = k,
                                     .real = arg_precision(a),
                                     .architecture = arg(a, "for"),
                                     .function = arg(a, "instance") ? NULL : traced_function(s, k),
                                     .instance = (int)instance};
    return add_code(s, &r, codes, e);
}

static bool run_sass(struct session *s, const struct args *a, struct err *e)
{
    struct machine_codes *codes = mem_zero(1, sizeof *codes, "machine code", e);
    bool ok = codes && read_code(s, a, kernel_of(s, a, "kernel"), codes, e) &&
              (!arg(a, "kernel2") || read_code(s, a, kernel_of(s, a, "kernel2"), codes, e));
    if (!ok) return free_codes(codes), false;
    keep(s, codes);
    if (view_is_asked(s, a)) return s->front->show(s, "sass", true, e);
    out_sass(s, s->sass);
    return true;
}

const struct command command_sass = {
    .name = "sass",
    .grammar = "[GPU_KERNEL] [GPU_KERNEL] [instance N] [for sm_75|sm_80|sm_90|sm_100|sm_120] "
               "[f32|f64|[precision] PRECISION] [view]",
    .about = "the machine code that nvcc made of a kernel: loops, loads in flight, unrolling, registers",
    .help =
        "A summary, then each source line with the instructions that come from it. The hot loop (#) is the innermost\n"
        "loop with most global loads. Loads in flight: issued before the result of one of them is used. Unrolled:\n"
        "copies of the loop's source in one round. One after another: loads that need each other's results, such as\n"
        "col and x[col[k]]. Memory chain: the same for the whole function, with atomics. Moved before it: loads of\n"
        "the loop's source that the compiler does once. Live: registers whose values are needed.\n"
        "With two kernels, the summaries stand side by side, * marks what differs. `instance N` chooses among the\n"
        "instances of a function template; the default is the traced one (`trace`), else the one for long rows.\n"
        "A build with CUDA lists its own code if nvdisasm of the CUDA toolkit is installed. Otherwise, listings are\n"
        "stored for fp64; in the source tree, nvcc compiles the others. `view sass` scrolls and searches, and marks\n"
        "the line of the traced step.\n"
        "    sass csr-vector; sass csr-light-vector csr-vector\n"
        "    sass csr-cusp instance 2 for sm_80; view sass",
    .rows = (const struct row_kind *const[]){&row_sass_function, &row_sass_instruction, NULL},
    .run = run_sass,
};

/* ---- what the session keeps ---- */

/* The code does not depend on a matrix. */
static bool is_of(const struct session *s, const struct matrix *m)
{
    return false;
}

const struct holding holding_sass = {.drop = sass_drop, .belongs_to = is_of};
