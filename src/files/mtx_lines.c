/* Cut a stream into blocks of whole lines; LF, CRLF or a lone CR ends a line. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream.h"
#include "mtx.h"

#include <string.h>

enum { SENTINEL = 8, COMMENT_KEPT = 1 << 16, LINE_MAX = 1 << 26, QUIET_MAX = 1 << 29, EOF_BYTE = 0x1a };
static int64_t quiet_most = QUIET_MAX;

void lines_quiet(int64_t most)
{
    quiet_most = most ? most : QUIET_MAX;
}

/* A small packed file may contain any number of blank lines and comments. Reading all of them could take minutes. */
static bool entries_are_near(const struct lines *l, struct err *e)
{
    int64_t entry = __atomic_load_n(&l->streamed_at_entry, __ATOMIC_RELAXED);
    if (stream_size(l->stream) >= 0 || l->streamed - entry <= quiet_most) return true;
    return fail(e, E_LIMIT,
                "more than %lld MiB of unpacked text hold no entry; this is probably not a Matrix Market file",
                (long long)(quiet_most >> 20));
}

/* Make room for n bytes and for the line end that follows them. */
static bool grow(char **s, int64_t *room, int64_t n, struct err *e)
{
    if (*s && n + SENTINEL <= *room) return true;
    int64_t wanted = n + SENTINEL > 2 * *room ? n + SENTINEL : 2 * *room;
    char *p = mem_resize(*s, wanted, 1, "text of the file", e);
    if (!p) return false;
    *s = p;
    *room = wanted;
    return true;
}

/* Deliver up to n bytes: first the kept bytes, then bytes of the stream. Returns their number: 0 at the end, -1 on
   failure. */
static int64_t feed(struct lines *l, char *to, int64_t n, struct err *e)
{
    int64_t kept = l->n - l->at, got = kept < n ? kept : n;
    if (kept) {
        memcpy(to, l->kept + l->at, (size_t)got);
        l->at += got;
        return got;
    }
    if (l->ended) return 0;
    got = stream_read(l->stream, to, n, e);
    l->ended = got == 0;
    l->streamed += got > 0 ? got : 0;
    return got;
}

bool lines_back(struct lines *l, const char *s, int64_t n, struct err *e)
{
    if (!n) return true;
    if (n > l->at) {
        int64_t kept = l->n - l->at;
        if (!grow(&l->kept, &l->room, n + kept, e)) return false;
        memmove(l->kept + n, l->kept + l->at, (size_t)kept);
        l->at = n;
        l->n = n + kept;
    }
    l->at -= n;
    memcpy(l->kept + l->at, s, (size_t)n);
    return true;
}

/* The number of bytes up to and including the last line end in [from, n), or 0. A CR that is the last byte does not
   count, since it may begin a CRLF. */
static int64_t last_end(const char *s, int64_t from, int64_t n)
{
    const char *lf = memrchr(s + from, '\n', (size_t)(n - from));
    int64_t after = lf ? lf - s + 1 : from;
    const char *cr = n - 1 > after ? memrchr(s + after, '\r', (size_t)(n - 1 - after)) : NULL;
    return cr ? cr - s + 1 : lf ? after : 0;
}

static bool is_comment(const char *s)
{
    return *skip_blanks(s) == '%';
}

static void strip_eof_byte(struct lines *l, struct text *t)
{
    while (t->n && t->s[t->n - 1] == EOF_BYTE) t->n--, l->eof_byte = true;
}

/* The text in t is part of one long line: shorten a comment, and refuse any other line that is too long. */
static bool hold_back(struct text *t, struct err *e)
{
    t->s[t->n] = '\n';
    if (is_comment(t->s) && t->n > COMMENT_KEPT && t->s[t->n - 1] != '\r') t->n = COMMENT_KEPT;
    return t->n <= LINE_MAX ||
           fail(e, E_LIMIT, "the line is longer than 64 MiB; this is probably not a Matrix Market file");
}

static bool long_line_goes_on(const struct lines *l, struct err *e)
{
    int64_t done, total;
    stream_progress(l->stream, &done, &total);
    struct loop check = loop_of("reading", total);
    return loop_check(&check, done) || loop_end(&check, e);
}

bool lines_next(struct lines *l, struct text *t, struct err *e)
{
    int64_t cut = 0, got = 1;
    t->n = 0;
    while (!cut && got) {
        if (!grow(&t->s, &t->room, t->n + l->block, e)) return false;
        if (t->n && !long_line_goes_on(l, e)) return false;
        got = feed(l, t->s + t->n, l->block, e);
        if (got < 0 || !entries_are_near(l, e)) return false;
        int64_t from = t->n ? t->n - 1 : 0;
        t->n += got;
        cut = got ? last_end(t->s, from, t->n) : t->n;
        if (!cut && !hold_back(t, e)) return false;
    }
    if (!got)
        strip_eof_byte(l, t);
    else if (!lines_back(l, t->s + cut, t->n - cut, e))
        return false;
    else
        t->n = cut;
    t->s[t->n] = '\n';
    return true;
}

int64_t lines_left(const struct lines *l)
{
    int64_t size = stream_size(l->stream);
    return size < 0 ? INT64_MAX : size - l->streamed + l->n - l->at;
}

void lines_free(struct lines *l)
{
    mem_free(l->kept);
    memset(l, 0, sizeof *l);
}

void text_free(struct text *t)
{
    mem_free(t->s);
    memset(t, 0, sizeof *t);
}
