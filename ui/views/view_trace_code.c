/* The source around the current step, with its access marked. */
#include "microscope/tracing.h"
#include "ui/draw.h"
#include "view_trace.h"

#include <stdlib.h>
#include <string.h>

static bool in_name(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || (ch >= '0' && ch <= '9');
}

/* The column, counted from 0, of the occurrence of `name` that is followed by an index and is nearest to `place`; -1:
   there is none. */
static int name_in(const char *text, int length, const char *name, int place)
{
    int best = -1, n = (int)strlen(name);
    for (int i = 0; n && i + n < length; i++) {
        bool whole = (i == 0 || !in_name(text[i - 1])) && text[i + n] == '[';
        if (!whole || strncmp(text + i, name, (size_t)n)) continue;
        if (best < 0 || abs(i + n - place) < abs(best + n - place)) best = i;
    }
    return best;
}

/* The part of the line that is the access: returns its column, and sets *n to its length. The part is the name of the
   array, if the line contains it. Otherwise, it is the end of that name, because kernels of several formats share one
   source (col for ell_col). Otherwise, it is the name that ends at `column`. */
static int access_in(const char *text, int length, const char *array, int column, int *n)
{
    int place = column - 1 < length ? column - 1 : length - 1, at = name_in(text, length, array, place);
    const char *end = strrchr(array, '_');
    *n = (int)strlen(array);
    if (at < 0 && end) at = name_in(text, length, end + 1, place), *n = (int)strlen(end + 1);
    if (at >= 0) return at;
    at = place;
    while (at > 0 && in_name(text[at - 1]) && !in_name(text[place])) at--;
    *n = place - at;
    return at;
}

/* Draw one of the source lines around the current line, without its first `shift` characters. */
static void draw_source_line(struct canvas *c, const struct access_site *p, const char *array, int line, int shift,
                             int y)
{
    int length = 0, room = c->w - NUMBER;
    bool here = line == p->line;
    const char *text = line > 0 ? kernel_source_line(p->file, line, &length) : NULL;
    if (!text) return;
    canvas_put(c, 0, y, ST_BOLD, here ? '>' : ' ');
    canvas_text(c, 1, y, here ? ST_BOLD : ST_DIM, "%5d", line);
    if (length > shift)
        canvas_text(c, NUMBER, y, here ? ST_BOLD : ST_DIM, "%.*s", clamp(length - shift, 0, room), text + shift);
    if (!here) return;
    int n, at = access_in(text, length, array, p->column, &n);
    for (int i = 0; i < n; i++)
        if (at + i >= shift) canvas_style(c, NUMBER + at + i - shift, y, ST_CURSOR);
}

/* Draw, for example, "csr_scalar in k_csr.cu" at the right of the first line that has room. */
static void draw_origin(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    char text[128];
    int n = snprintf(text, sizeof text, "%s in %s", tracing_function(v), tracing_site(v, v->at)->file);
    for (int i = 0; i < f->source; i++) {
        const struct cell *line = &c->cell[(y + i) * c->w];
        int end = c->w;
        while (end > 0 && line[end - 1].glyph == ' ') end--;
        if (end + n + 3 > c->w) continue;
        draw_right(c, c->w - 1, y + i, ST_AXIS, text);
        return;
    }
}

int trace_view_source(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    const struct access_site *p = tracing_site(v, v->at);
    int room = c->w - NUMBER, end = p->column + 12, shift = end > room ? end - room : 0, length = 0;
    const char *text = kernel_source_line(p->file, p->line, &length);
    if (length <= room) shift = 0;
    if (f->source == 1 && !shift && text && c->w < NARROW) shift = (int)strspn(text, " ");
    for (int i = 0; i < f->source; i++)
        draw_source_line(c, p, tracing_array(v, v->at), p->line - f->source / 2 + i, shift, y + i);
    if (f->source > 1 && y + f->source <= c->h) draw_origin(c, f, y);
    return y + f->source;
}
