/* Prints how many digits of a solution are correct. */
#include "output_trust.h"
#include "base/text.h"
#include "output.h"
#include "solvers/trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Are the digits shown beside the error in x, because they follow from it? */
static bool shows_digits(const struct trust *t)
{
    return t->digits > 0 && t->from && !strcmp(t->from, "known");
}

void out_trust(struct out *o, const struct trust *t, bool met)
{
    char text[400];
    out_int_if(o, "digits", NULL, t->digits >= 0, t->digits);
    out_str(o, "digits_from", NULL, t->digits >= 0 ? t->from : NULL);
    out_num(o, "digits_error", NULL, t->error, NULL);
    out_str(o, "digits_because", NULL, t->why);
    if (out_mode(o) == OUT_TEXT && !shows_digits(t))
        out_str(o, NULL, "digits of x", trust_text(t, met, text, sizeof text));
}

void out_error_in_x(struct out *o, bool known, double error, const struct trust *t)
{
    char fmt[128] = "%.3e";
    if (shows_digits(t)) snprintf(fmt, sizeof fmt, "%%.3e: %s of x", how_many(t->digits, "correct digit").text);
    out_num(o, "error_known", known ? "error in x" : NULL, known ? error : NAN, fmt);
}
