/* The template of `set prompt`: text with fields such as {matrix}. */
#include "prompt_template.h"
#include "base/err.h"
#include "base/suggest.h"
#include "base/text.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "session/session.h"

#include <string.h>

const char prompt_default[] = "{matrix} [{device}]>";

static void write_matrix(const struct session *s, char out[PROMPT_PIECE])
{
    const char *name = s->current ? s->current->name : "warpspy";
    print_safe(name, strlen(name), 30, out, PROMPT_PIECE);
}

static void write_device(const struct session *s, char out[PROMPT_PIECE])
{
    const struct device *d = s->dev ? s->dev : device_default();
    snprintf(out, PROMPT_PIECE, "%s", d ? d->name : "no device");
}

static void write_time(const struct session *s, char out[PROMPT_PIECE])
{
    if (s->took_us > 0)
        show_us(s->took_us, out, PROMPT_PIECE);
    else
        snprintf(out, PROMPT_PIECE, "-");
}

static const struct field_of_prompt {
    const char *name;
    enum prompt_part part;
    void (*write)(const struct session *s, char out[PROMPT_PIECE]);
} fields[] = {
    {"matrix", PART_MATRIX, write_matrix},
    {"device", PART_FIELD, write_device},
    {"time", PART_FIELD, write_time},
};

/* The field that begins at the { `at`; *n receives its length. NULL: there is no such field. */
static const struct field_of_prompt *field_at(const char *at, size_t *n)
{
    *n = strcspn(at, "}");
    if (!at[*n]) return NULL;
    ++*n;
    for (int i = 0; i < COUNT(fields); i++)
        if (strlen(fields[i].name) == *n - 2 && !strncmp(fields[i].name, at + 1, *n - 2)) return &fields[i];
    return NULL;
}

bool prompt_template_check(const char *text, struct err *e)
{
    size_t n;
    for (const char *at = strchr(text, '{'); at; at = strchr(at + n, '{')) {
        if (field_at(at, &n)) continue;
        char name[64];
        struct message t = {0};
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
        message_quote(&t, name);
        message_add(&t, " is not a field of the prompt; one of ");
        for (int i = 0; i < COUNT(fields); i++) message_add(&t, "%s{%s}", i ? ", " : "", fields[i].name);
        return fail(e, E_USAGE, "%s", t.text);
    }
    return true;
}

bool prompt_piece_next(const struct session *s, const char **at, struct prompt_piece *out)
{
    size_t n;
    const struct field_of_prompt *f = **at == '{' ? field_at(*at, &n) : NULL;
    if (!**at) return false;
    out->part = f ? f->part : PART_TEXT;
    if (f) {
        f->write(s, out->text);
    } else {
        n = 1 + strcspn(*at + 1, "{");
        if (n > PROMPT_PIECE / 4 - 1) n = PROMPT_PIECE / 4 - 1;
        while (n > 1 && ((*at)[n] & 0xc0) == 0x80) n--; /* do not cut a character */
        print_safe(*at, n, n, out->text, sizeof out->text);
    }
    *at += n;
    return true;
}
