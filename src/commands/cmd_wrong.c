/* wrong: runs kernels that break a rule on purpose, and shows the emulator's report and the correct kernels. */
#include "base/err.h"
#include "language/args.h"
#include "machine/microscope.h"
#include "machine/wrong.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/session.h"

static void list_rules(struct out *o)
{
    for (const struct wrong_rule *r = wrong_rules; r->name; r++) {
        out_row(o);
        out_str(o, "rule", "rule", r->name);
        out_str(o, "says", "what it says", r->rule);
        out_str(o, "task", NULL, r->task);
    }
    out_text(o, "`wrong RULE` runs a kernel that breaks the rule, and shows what the emulator finds.");
}

/* Print the source of a kernel, with a mark at line `marked`, or without a mark if `marked` is 0. */
static void show_kernel(struct out *o, const char *kernel, int marked)
{
    int first, last, length;
    if (!wrong_lines(kernel, &first, &last)) return;
    for (int n = first; n <= last; n++) {
        const char *line = kernel_source_line("k_wrong.cu", n, &length);
        out_text(o, "  %s%4d  %.*s", n == marked ? ">" : " ", n, length, line);
    }
}

static void show_finding(struct out *o, const struct err *e, const struct emu_finding *f)
{
    out_text(o, "Found at %s: %s", e->where, f->thread);
    out_text(o, "%s%s", f->what, f->missing ? "," : ".");
    if (f->missing) out_text(o, "with %s.", f->missing);
}

static void out_finding(struct out *o, const struct wrong_rule *r, const struct err *found,
                        const struct emu_finding *finding, bool right_passes)
{
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "Rule: %s.", r->rule);
        out_text(o, "Task: %s.", r->task);
        out_text(o, " ");
        show_kernel(o, r->wrong, finding->line);
        out_text(o, " ");
        show_finding(o, found, finding);
        out_text(o, " ");
        out_prose(o, r->why);
        out_text(o, " ");
        out_text(o, "The correct kernel, in which the emulator finds no error:");
        show_kernel(o, r->right, 0);
        return;
    }
    out_record(o);
    out_str(o, "rule", NULL, r->name);
    out_str(o, "says", NULL, r->rule);
    out_str(o, "task", NULL, r->task);
    out_str(o, "kernel", NULL, r->wrong);
    out_str(o, "where", NULL, found->where);
    out_int(o, "line", NULL, finding->line);
    out_str(o, "finding", NULL, found->text);
    out_str(o, "right", NULL, r->right);
    out_bool(o, "right_passes", NULL, right_passes);
}

static bool run_wrong(struct session *s, const struct args *a, struct err *e)
{
    if (!arg(a, "rule")) return list_rules(s->out), true;
    const struct wrong_rule *r = wrong_find(arg(a, "rule"));
    struct err found = {0};
    struct emu_finding finding;
    bool result;
    if (!session_device(s, "emu", e)) return false;
    if (wrong_run(r, true, &result, &finding, &found))
        return fail(e, E_INTERNAL, "%s breaks a rule, but the emulator found no error", r->wrong);
    if (found.code != E_DEVICE) return fail(e, found.code, "%s", found.text);
    if (!wrong_run(r, false, &result, NULL, e)) return false;
    if (!result) return fail(e, E_INTERNAL, "%s gave a wrong result", r->right);
    out_finding(s->out, r, &found, &finding, result);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field wrong_rule_fields[] = {
    {"rule", F_TEXT, "its name"},
    {"says", F_TEXT, "the rule: what a kernel must do"},
    {"task", F_TEXT, "what the kernels for it compute"},
    {0},
};
static const struct row_kind row_wrong_rule = {"rule", "a rule", wrong_rule_fields};

static const struct field wrong_finding_fields[] = {
    {"rule", F_TEXT, "its name"},
    {"says", F_TEXT, "the rule: what a kernel must do"},
    {"task", F_TEXT, "what both kernels compute"},
    {"kernel", F_TEXT, "the kernel that breaks the rule"},
    {"where", F_TEXT, "file:line at which the fault was found"},
    {"line", F_COUNT, "that line", .min = 1},
    {"finding", F_TEXT, "the fault: block, threads, element"},
    {"right", F_TEXT, "the kernel that keeps the rule"},
    {"right_passes", F_BOOLEAN, "whether the emulator found no fault in this kernel and its result is right"},
    {0},
};
static const struct row_kind row_wrong_finding = {"finding", "the kernel that breaks a rule", wrong_finding_fields};

const struct command command_wrong = {
    .name = "wrong",
    .grammar = "[RULE]",
    .about = "kernels that break a rule on purpose: what the emulator finds, and the correct versions",
    .help = "`wrong` alone lists the rules. `wrong RULE` runs a kernel that breaks the rule on the emulator, and\n"
            "shows its source, the line and threads of the error, what a GPU might do, and the correct kernel. The\n"
            "kernels are also checked for races. In a race, two threads of a block access an element, at least one of\n"
            "them writes, and they are not separated by __syncthreads() or, within a warp, by __syncwarp().\n"
            "    wrong; wrong lockstep",
    .rows = (const struct row_kind *const[]){&row_wrong_rule, &row_wrong_finding, NULL},
    .run = run_wrong,
};
