/* Judges a user's kernel against the goals of a puzzle, and finds what the user should correct first. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "machine/remote.h"
#include "matrix/csr.h"
#include "puzzle.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A matrix of a puzzle, stored for a kernel. */
struct stored_puzzle {
    struct csr csr;
    struct stored stored;
    struct mat mat;
};

static void stored_puzzle_free(struct stored_puzzle *t)
{
    mat_free(&t->mat);
    stored_free(&t->stored);
    csr_free(&t->csr);
}

static bool store(struct session *s, const struct puzzle *p, const struct format *f, const int64_t *param,
                  struct stored_puzzle *t, struct err *e)
{
    *t = (struct stored_puzzle){0};
    struct device *emu = session_device(s, "emu", e);
    return emu && puzzle_matrix(p, &s->watch, &t->csr, e) &&
           format_pack(&t->csr, f, param, P_F64, true, &t->stored, e) && mat_put(&t->mat, &t->stored, emu, e);
}

/* ---- what to correct first ---- */

static bool is_ours(const struct err *why)
{
    return why->code == E_CANCELLED || why->code == E_MEMORY || why->code == E_INTERNAL || why->code == E_IO ||
           why->code == E_UNSUPPORTED;
}

/* A refusal of the file as what to correct first. */
static void fix_refusal(const struct err *why, struct lab_fault *fix)
{
    const char *colon = strrchr(why->where, ':');
    snprintf(fix->where, sizeof fix->where, "%.127s", why->where);
    snprintf(fix->what, sizeof fix->what, "%.399s", why->text);
    fix->line = colon ? atoi(colon + 1) : 0;
}

static int costliest_site(const struct counts *c, const struct goal_quantity *q)
{
    int worst = -1;
    for (int i = 0; q->cost && i < c->scope.nsites; i++)
        if (q->cost(c, i) > 0 && (worst < 0 || q->cost(c, i) > q->cost(c, worst))) worst = i;
    return worst;
}

static const char *how_far(const struct goal *g, const struct goal_result *r, char *out, size_t size)
{
    char counted[40], limit[48], about[GOAL_BYTES];
    goal_quantity_about(g->of, about, sizeof about);
    if (g->than)
        snprintf(out, size, "%.2f us are predicted, and %.2f us for %s", r->counted, r->limit, g->than->name);
    else if (!goal_quantity_is_integer(g->of))
        snprintf(out, size, "%s: %.2f, needed %s", about, r->counted, goal_limit(g, limit, sizeof limit));
    else
        snprintf(out, size, "%s: %s, needed %s", about, show_count((int64_t)r->counted, counted, sizeof counted),
                 goal_limit(g, limit, sizeof limit));
    return out;
}

/* The access that costs most of the quantity that the goal limits. */
static void fix_goal(const struct goal *g, const struct goal_result *r, const struct counts *c, const struct judged *of,
                     struct lab_fault *fix)
{
    int site = r->known ? costliest_site(c, g->of) : -1;
    if (!r->known) {
        goal_quantity_about(g->of, fix->what, sizeof fix->what);
        text_append(fix->what, sizeof fix->what, ": %s",
                    g->of->local ? of->no_code : "this cannot be counted for the kernel");
        return;
    }
    how_far(g, r, fix->what, sizeof fix->what);
    if (g->of->explain)
        text_append(fix->what, sizeof fix->what, "; "), g->of->explain(&of->report, fix->what, sizeof fix->what);
    if (site < 0) return;
    text_append(fix->what, sizeof fix->what, "; ");
    g->of->say(c, site, fix->what, sizeof fix->what);
    fix->line = c->scope.site[site].line;
    snprintf(fix->where, sizeof fix->where, "%.100s:%d", c->scope.site[site].file, fix->line);
}

static void fix_wrong(const struct lab_report *r, struct lab_fault *fix)
{
    snprintf(fix->what, sizeof fix->what, "the result is wrong in row %lld: y is %.6g, not %.6g%s%s",
             (long long)r->error.row, r->got, r->expected, r->reads_y ? "; " : "", r->reads_y ? reads_y_text : "");
}

/* ---- goals ---- */

/* The predicted time of the kernel that the goal names. */
static bool time_of(struct session *s, const struct puzzle *p, const struct kernel *k, double *us, struct err *e)
{
    struct stored_puzzle t;
    struct lab_report r;
    bool ok = store(s, p, k->format, k->param, &t, e) && lab_judge(k, &t.csr, &t.mat, &s->watch, &r, e);
    *us = ok ? r.predicted_us : NAN;
    stored_puzzle_free(&t);
    return ok;
}

static bool judge_goal(struct session *s, const struct puzzle *p, const struct goal *g, const struct judged *j,
                       const struct counts *c, struct goal_result *out, struct err *e)
{
    const struct lab_report *r = &j->report;
    *out = (struct goal_result){.limit = g->limit, .counted = NAN};
    if (r->counted) out->counted = g->of->local ? j->local_bytes : g->of->of(r, c);
    if (g->than && r->counted && !time_of(s, p, g->than, &out->limit, e)) return false;
    out->known = !isnan(out->counted) && !isnan(out->limit);
    out->passed = out->known && (g->of->least ? out->counted >= out->limit
                                 : g->than    ? out->counted < out->limit
                                              : out->counted <= out->limit);
    return true;
}

static bool judge_goals(struct session *s, const struct puzzle *p, const struct counts *c, struct judged *out,
                        struct err *e)
{
    const struct lab_report *r = &out->report;
    int missed = -1;
    for (int i = 0; i < p->ngoals; i++) {
        if (!judge_goal(s, p, &p->goal[i], out, c, &out->goal[i], e)) return false;
        if (!out->goal[i].passed && missed < 0) missed = i;
    }
    if (!r->ran)
        out->missed = "ends", out->fix = r->fault;
    else if (r->race)
        out->missed = "races", out->fix = r->race_at;
    else if (!r->correct)
        out->missed = "right", fix_wrong(r, &out->fix);
    else if (missed >= 0)
        out->missed = p->goal[missed].of->name, fix_goal(&p->goal[missed], &out->goal[missed], c, out, &out->fix);
    out->passed = !out->missed;
    return true;
}

/* What the goals ask of nvcc: the local memory, and how the accesses were counted. */
static bool ask_nvcc(struct session *s, const struct puzzle *p, struct judged *out, struct err *e)
{
    struct err why = {0};
    bool ok = true;
    out->local_bytes = NAN;
    for (int i = 0; i < p->ngoals && ok && out->report.counted; i++) {
        const struct goal_quantity *q = p->goal[i].of;
        if (q->as_compiled)
            snprintf(out->counted_as, sizeof out->counted_as, "%s", out->kernel->remote->counted_as(out->kernel));
        if (q->local) ok = lab_local_bytes(out->kernel, P_F64, &s->watch, &out->local_bytes, &why, e);
    }
    if (why.code) snprintf(out->no_code, sizeof out->no_code, "only nvcc knows this: %.250s", why.text);
    return ok;
}

/* Count the accesses by site, which the report does not have. */
static bool count_and_judge(struct session *s, const struct puzzle *p, const struct mat *M, struct judged *out,
                            struct err *e)
{
    struct counts *c = mem_zero(1, sizeof *c, "the counts of a kernel", e);
    struct err why = {0};
    if (!c) return false;
    bool ok = !out->report.counted || count_kernel(out->kernel, M, 0, NULL, &s->watch, c, &why);
    if (!ok && !is_ours(&why)) out->report.counted = false, ok = true;
    ok = ok ? ask_nvcc(s, p, out, e) && judge_goals(s, p, c, out, e) : fail_at(e, why.code, why.where, "%s", why.text);
    mem_free(c);
    return ok;
}

static bool fits(const struct puzzle *p, const struct kernel *k, struct err *e)
{
    if (k->format == p->format) return kernel_takes(k, P_F64, e);
    return fail(e, E_USAGE, "this kernel reads the format %s, but the puzzle is about %s", k->format->name,
                p->format->name);
}

static bool judge(struct session *s, const struct puzzle *p, const char *path, struct judged *out, struct err *e)
{
    struct lab_options options = {.format = p->format->name};
    struct stored_puzzle t = {0};
    struct err why = {0};
    out->kernel = lab_build(path, &options, &s->watch, &why);
    if (!out->kernel || !fits(p, out->kernel, &why)) {
        if (out->kernel ? why.code == E_CANCELLED : is_ours(&why))
            return fail_at(e, why.code, why.where, "%s", why.text);
        fix_refusal(&why, &out->fix);
        out->missed = "compiles";
        out->kernel = NULL;
        return true;
    }
    bool ok = store(s, p, p->format, out->kernel->param, &t, e) &&
              lab_judge(out->kernel, &t.csr, &t.mat, &s->watch, &out->report, e) &&
              count_and_judge(s, p, &t.mat, out, e);
    stored_puzzle_free(&t);
    return ok;
}

bool puzzle_judge(struct session *s, const struct puzzle *p, const char *path, struct judged *out, struct err *e)
{
    *out = (struct judged){0};
    return judge(s, p, path, out, e);
}
