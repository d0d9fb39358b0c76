/* explain: what costs a kernel time, in plain words with numbers, and what would help; most important first. */
#include "cmd.h"
#include "modeled.h"

static void out_finding(struct out *o, const struct modeled *k, const struct finding *f, int rank)
{
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%d. %s, %.2f us of %.2f: %s.", rank, f->cause, f->us, k->time.us, f->text);
        out_text(o, "   Remedy: %s.", f->remedy);
        return;
    }
    out_row(o);
    out_str(o, "kind", NULL, "finding");
    out_str(o, "kernel", NULL, k->kernel->name);
    out_int(o, "rank", NULL, rank);
    out_str(o, "cause", NULL, f->cause);
    out_num(o, "us", NULL, f->us, NULL);
    out_num(o, "of_us", NULL, k->time.us, NULL);
    out_str(o, "text", NULL, f->text);
    out_str(o, "remedy", NULL, f->remedy);
}

static void say(struct session *s, const struct matrix *m, const struct modeled *k)
{
    struct finding f[FINDINGS_MOST];
    int n = findings_of(k, &m->csr, f);
    if (out_mode(s->out) == OUT_TEXT)
        out_text(s->out, "%s on %s, %s: %.2f us predicted, bound by %s", k->kernel->name, m->name, type_name(k->real),
                 k->time.us, bound_names[k->time.bound]);
    else {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "prediction");
        out_modeled(s, m, k);
    }
    for (int i = 0; i < n; i++) out_finding(s->out, k, &f[i], i + 1);
    out_text(s->out, "The time of each cause is what the model predicts less without it; they overlap.");
    modeled_remarks(s->out, &k->on, k->work.sampled);
}

static bool run_explain(struct session *s, const struct args *a, struct err *e)
{
    return modeled_command(s, a, say, e);
}

const struct command command_explain = {
    .name = "explain",
    .grammar = "KERNEL [PARAMS] [of MATRIX] [f32|f64]",
    .about = "what costs a kernel time, in plain words with numbers, and what would help",
    .help =
        "The kernel is watched on the emulator, and its time on a GPU predicted with and without each cause:\n"
        "padding, long rows, unequal blocks, idle lanes, loads far apart, the gather of x, atomics, bank conflicts,\n"
        "launches, waits for loads that need one another, bytes. What makes a difference of 3% is told, the most\n"
        "expensive first. Parameters are those of the kernel's format.\n"
        "    explain csr-scalar; explain ell of A f32",
    .run = run_explain,
};
