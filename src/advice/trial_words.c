/* What is said about the candidates of `advise solver`. */
#include "base/base.h"
#include "base/text.h"
#include "card/card.h"
#include "solver_advice.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>

struct block_text {
    char text[32];
};

/* " block 3", or "" */
static struct block_text block_text(const struct trial *t)
{
    struct block_text b = {""};
    if (t->pre_block) snprintf(b.text, sizeof b.text, " block %lld", (long long)t->pre_block);
    return b;
}

struct trial_name trial_name(const struct trial *t)
{
    struct trial_name n;
    if (!t->solver)
        snprintf(n.text, sizeof n.text, t->method ? "direct (%s)" : "direct", t->method);
    else
        snprintf(n.text, sizeof n.text, "%s%s%s%s", t->solver->name, t->pre ? ", " : "", t->pre ? t->pre->name : "",
                 block_text(t).text);
    return n;
}

struct trial_words trial_words(const struct trial *t, const char *matrix, const struct solve_options *o)
{
    struct trial_words w;
    snprintf(w.text, sizeof w.text, "%s %s%s%s%s%s", t->solver ? t->solver->name : "direct", matrix,
             t->pre ? " precond " : "", t->pre ? t->pre->name : "", block_text(t).text,
             t->solver ? solve_form_of(o).text : "");
    return w;
}

struct span_text needs_text(const struct trial *t)
{
    struct span_text s = {"-"};
    if (isnan(t->needs.low)) return s;
    if (!isfinite(t->needs.high))
        snprintf(s.text, sizeof s.text, "not yet known");
    else if (t->needs.low == t->needs.high)
        snprintf(s.text, sizeof s.text, "%s", card_count((int64_t)t->needs.low).text);
    else
        snprintf(s.text, sizeof s.text, "%s to %s", card_count((int64_t)t->needs.low).text,
                 card_count((int64_t)fmin(t->needs.high, 9e15)).text);
    return s;
}

/* Two digits. */
static int digits_after_point(double x)
{
    return x >= 9.95 ? 0 : x >= 0.995 ? 1 : 2;
}

/* "1.2 to 3.4 ms": in the unit of the longer time. */
struct span_text time_text(const struct trial *t)
{
    static const struct {
        double us;
        const char *name;
    } units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "us"}};
    struct span_text s = {"-"};
    if (isnan(t->us.low)) return s;
    if (!isfinite(t->us.high)) {
        snprintf(s.text, sizeof s.text, "not yet known");
        return s;
    }
    int i = 0;
    while (i < COUNT(units) - 1 && t->us.high < units[i].us) i++;
    double low = t->us.low / units[i].us, high = t->us.high / units[i].us;
    snprintf(s.text, sizeof s.text, "%.*f to %.*f %s", digits_after_point(low), low, digits_after_point(high), high,
             units[i].name);
    return s;
}

/* "cg converged in 45 iterations and 1.2 ms", "cg, ic0 needs 2,000 to 3,100 iterations and 3.4 to 9.0 s", "direct takes
   2.0 to 15 ms". */
struct effort {
    char text[360];
};
static struct effort effort_of(const struct trial *t)
{
    struct effort c = {""};
    char time[32], name[80];
    snprintf(name, sizeof name, "%s", trial_name(t).text);
    show_us(isfinite(t->guess_us) ? t->guess_us : 0, time, sizeof time);
    if (t->solver && t->state == TRIAL_CONVERGED)
        snprintf(c.text, sizeof c.text, "%s converged in %s and %s", name, how_many(t->iterations, "iteration").text,
                 time);
    else if (t->solver && trial_is_known(t))
        snprintf(c.text, sizeof c.text, "%s needs %s iterations and %s", name, needs_text(t).text, time_text(t).text);
    else if (t->solver)
        snprintf(c.text, sizeof c.text, "%s reached a residual of %.1e in %s, and how many it needs is not yet known",
                 name, t->residual, how_many(t->iterations, "iteration").text);
    else if (t->state == TRIAL_CONVERGED)
        snprintf(c.text, sizeof c.text, "%s took %s", name, time);
    else if (trial_is_known(t))
        snprintf(c.text, sizeof c.text, "%s takes %s by its plan", name, time_text(t).text);
    else
        snprintf(c.text, sizeof c.text, "how long %s takes is not yet known", name);
    return c;
}

static bool some_open(const struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->at[i].state == TRIAL_OPEN || a->at[i].state == TRIAL_NONE) return true;
    return false;
}

/* The best candidate of the other sort: iterative if the taken one is direct, and vice versa. */
static const struct trial *rival(const struct solver_advice *a)
{
    for (int i = 1; i < a->n; i++)
        if (!a->at[i].solver != !a->at[0].solver && !a->at[i].accurate && trial_is_hopeful(&a->at[i]) &&
            trial_is_known(&a->at[i]))
            return &a->at[i];
    return NULL;
}

static void explain_none(const struct solver_advice *a, char *out, size_t size)
{
    const struct trial *t = a->n ? &a->at[0] : NULL;
    if (a->trivial)
        text_append(out, size, "%s, so no method does an iteration, and none is better than another",
                    a->zero ? "b = 0 and x = 0" : "x0 solves the system");
    else if (a->stopped)
        text_append(out, size, "no method had converged or come near it before Ctrl-C");
    else if (some_open(a))
        text_append(out, size, "no trial shows that its method converges");
    else
        text_append(out, size, "no method is known to solve this system%s%s", t && *t->why ? ": " : "",
                    t ? t->why : "");
}

void solver_explain(struct solver_advice *a)
{
    char *out = a->because;
    size_t size = sizeof a->because;
    const struct trial *t = &a->at[0], *other = a->taken < 0 ? NULL : rival(a);
    if (a->taken < 0)
        explain_none(a, out, size);
    else if (t->accurate)
        text_append(out, size, "no method met tol; %s", t->why);
    else if (other)
        text_append(out, size, "%s; %s", effort_of(t).text, effort_of(other).text);
    else
        text_append(out, size, "%s%s%s", effort_of(t).text, t->solver ? "" : "; no iterative method ",
                    t->solver      ? ""
                    : some_open(a) ? "showed that it is faster"
                                   : "converged");
}
