/* The values of a sweep, and the line that runs with each. */
#include "base/base.h"
#include "base/err.h"
#include "base/numeral.h"
#include "base/text.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A value that misses the end of the range by rounding errors only belongs to the range. */
static const double ROUNDING = 1e-9;
/* Values grow by factors if the largest is at least this many times the smallest. */
static const double GROWN = 4;

/* ---- values ---- */

static bool add_value(struct sweep *v, const char *text, size_t n, struct err *e)
{
    struct sweep_value *to = &v->value[v->planned];
    if (v->planned == SWEEP_VALUES)
        return fail(e, E_LIMIT, "these are more than %d values; give a larger `step` or `times`", +SWEEP_VALUES);
    if (!n || n >= sizeof to->text)
        return fail(e, E_USAGE, "a value of the list is %s; write values and commas, such as 8,16,32",
                    n ? "too long" : "empty");
    *to = (struct sweep_value){.number = NAN};
    snprintf(to->text, sizeof to->text, "%.*s", (int)n, text);
    if (!is_real(to->text, &to->number)) to->number = NAN;
    v->numbers &= isfinite(to->number);
    v->planned++;
    return true;
}

static bool add_number(struct sweep *v, double x, struct err *e)
{
    char text[40];
    int n = x == floor(x) && fabs(x) < 1e15 ? snprintf(text, sizeof text, "%.0f", x)
                                            : snprintf(text, sizeof text, "%.10g", x);
    return add_value(v, text, (size_t)n, e);
}

static bool read_list(struct sweep *v, const char *list, double step, double times, struct err *e)
{
    if (isfinite(step) || isfinite(times))
        return fail(e, E_USAGE, "a list of values has no `step` or `times`; write a range such as 8..64");
    for (;; list++) {
        size_t n = strcspn(list, ",");
        if (!add_value(v, list, n, e)) return false;
        list += n;
        if (!*list) return true;
    }
}

static bool add_range(struct sweep *v, double from, double to, double step, double times, struct err *e)
{
    bool grows = isfinite(times);
    double slack = ROUNDING * fmax(fabs(from), fabs(to));
    for (int i = 0; i <= SWEEP_VALUES; i++) {
        double x = grows ? from * pow(times, i) : from + i * step;
        if (from <= to ? x > to + slack : x < to - slack) return true;
        if (!add_number(v, fabs(x) < slack ? 0 : x, e)) return false;
    }
    return true;
}

static bool read_range(struct sweep *v, const char *span, const char *dots, double step, double times, struct err *e)
{
    char first[48], safe[80];
    double from, to;
    snprintf(first, sizeof first, "%.*s", (int)(dots - span), span);
    if (!is_real(first, &from) || !is_real(dots + 2, &to))
        return fail(e, E_USAGE, "`%s` is not a range; write two numbers, such as 1..64",
                    print_safe(span, strlen(span), 40, safe, sizeof safe));
    if (isfinite(step) && isfinite(times)) return fail(e, E_USAGE, "a range has a `step` or `times`, not both");
    if (!isfinite(step) && !isfinite(times)) step = from <= to ? 1 : -1;
    if (isfinite(times) && (!(from > 0) || !(to > 0)))
        return fail(e, E_USAGE, "with `times`, both ends of the range must be above 0");
    if (isfinite(step) ? (from < to && !(step > 0)) || (from > to && !(step < 0))
                       : !(times > 0) || (from < to && !(times > 1)) || (from > to && !(times < 1)))
        return fail(e, E_USAGE, "%s %g does not lead from %s to %s", isfinite(step) ? "step" : "times",
                    isfinite(step) ? step : times, first, dots + 2);
    return add_range(v, from, to, step, times, e);
}

bool sweep_grows(const struct sweep *v)
{
    double least = INFINITY, most = 0, longest = 0;
    for (int i = 0; i < v->planned; i++) {
        least = fmin(least, v->value[i].number);
        most = fmax(most, v->value[i].number);
        if (i) longest = fmax(longest, fabs(v->value[i].number - v->value[i - 1].number));
    }
    /* Equal steps have the same length; of factors, the longest step is a large part of the range. */
    return v->planned > 2 && least > 0 && most >= GROWN * least && longest * (v->planned - 1) > 1.2 * (most - least);
}

bool sweep_read_values(struct sweep *v, const char *span, double step, double times, struct err *e)
{
    const char *dots = strstr(span, "..");
    v->planned = 0;
    v->numbers = true;
    if (!(dots ? read_range(v, span, dots, step, times, e) : read_list(v, span, step, times, e))) return false;
    v->log = v->numbers && (isfinite(times) || sweep_grows(v));
    return true;
}

/* ---- the line ---- */

/* The next word of the line that is the parameter; NULL: none. */
static const char *next_place(const char *line, const char *parameter)
{
    size_t n = strlen(parameter);
    for (const char *at = line; (at = strstr(at, parameter)); at++) {
        bool begins = at == line || strchr(" \t;", at[-1]), ends = !at[n] || strchr(" \t;", at[n]);
        if (begins && ends) return at;
    }
    return NULL;
}

bool sweep_put(const struct sweep *v, enum sweep_place place, const char *value, char out[SWEEP_LINE], struct err *e)
{
    size_t n = 0, width = strlen(v->parameter);
    const char *from = v->line;
    for (const char *at; place != PLACE_END && n < SWEEP_LINE && (at = next_place(from, v->parameter));) {
        n += (size_t)snprintf(out + n, SWEEP_LINE - n, "%.*s%s%s%s", (int)(at - from), from,
                              place == PLACE_KEYWORD ? v->parameter : "", place == PLACE_KEYWORD ? " " : "", value);
        from = at + width;
    }
    if (n < SWEEP_LINE && place == PLACE_END)
        n += (size_t)snprintf(out + n, SWEEP_LINE - n, "%s %s %s", from, v->parameter, value);
    else if (n < SWEEP_LINE)
        n += (size_t)snprintf(out + n, SWEEP_LINE - n, "%s", from);
    return n < SWEEP_LINE || fail(e, E_LIMIT, "the command is too long: at most %d bytes", SWEEP_LINE - 1);
}
