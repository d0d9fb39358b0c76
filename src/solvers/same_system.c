/* The words of a `solve` line that give the same system to another method. */
#include "same_system.h"
#include "base/base.h"
#include "machine/device.h"
#include "matrix/reorder.h"
#include "solve.h"

#include <stdio.h>

static struct same_words join(const char *a, const char *b, const char *c, const char *d, const char *f)
{
    struct same_words w;
    snprintf(w.text, sizeof w.text, "%s%s%s%s%s", a, b, c, d, f);
    return w;
}

struct same_words solve_form_of(const struct solve_options *o)
{
    const struct ordering *r = o->reorder;
    return join(o->scaled ? " scaled" : "", r ? " reorder " : "", r ? r->name : "", "", "");
}

struct same_words same_all(const struct solve *v)
{
    return join(v->same.device, v->same.system, v->same.tol, v->same.precision, v->same.form);
}

struct same_words same_but_tol(const struct solve *v)
{
    return join(v->same.device, v->same.system, v->same.precision, v->same.form, "");
}

struct same_words same_but_precision(const struct solve *v)
{
    return join(v->same.device, v->same.system, v->same.tol, v->same.form, "");
}

struct same_words same_direct(const struct solve *v)
{
    return join(v->same.host, v->same.system, *v->same.precision ? " f64" : "", "", "");
}
