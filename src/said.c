/* The commands of a session that succeeded, kept as they were typed, for who asks how something came about. */
#include "session.h"

#include <string.h>

enum { SAID_MOST = 1 << 18 };

/* The older half of a long list goes. */
static void forget_half(struct session *s)
{
    char *half = memchr(s->said + s->nsaid / 2, '\n', s->nsaid - s->nsaid / 2);
    if (!half) return;
    s->nsaid -= (size_t)(half + 1 - s->said);
    memmove(s->said, half + 1, s->nsaid + 1);
    s->said_cut = true;
}

void said_add(struct session *s, const char *typed)
{
    size_t n = strcspn(typed, "\n");
    char *more = mem_resize(s->said, (int64_t)(s->nsaid + n + 2), 1, "the list of commands", NULL);
    if (!more) { /* the command itself went well */
        s->said_cut = true;
        return;
    }
    s->said = more;
    memcpy(s->said + s->nsaid, typed, n);
    s->nsaid += n + 1;
    s->said[s->nsaid - 1] = '\n';
    s->said[s->nsaid] = 0;
    if (s->nsaid > SAID_MOST) forget_half(s);
}
