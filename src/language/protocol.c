/* --serve. A second thread reads the requests, so that a request can be cancelled while it runs; the main thread runs
   them one after another and writes all replies. */
#include "protocol.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/words.h"
#include "report/fields.h"
#include "run_lines.h"
#include "serve_socket.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char *const protocol_help =
    "`warpspy --serve` reads requests from standard input and writes replies to standard output, so that editors,\n"
    "notebooks and other programs can drive one session. Each request and each reply is one line with one JSON "
    "object.\n"
    "\n"
    "Requests; the id is a string or an integer of your choice:\n"
    "    {\"id\": 1, \"run\": \"gen poisson2d 40; stats\"}   run a command line\n"
    "    {\"id\": 2, \"run\": \"stats\", \"as\": \"text\"}       its output as json (the default), text or csv\n"
    "    {\"id\": 3, \"cancel\": 1}                        cancel request 1, which waits or runs\n"
    "\n"
    "The first reply is {\"id\": null, \"ready\": {\"program\": \"warpspy\", \"version\": ..., \"protocol\": 1, "
    "\"numbers\": [...]}};\n"
    "numbers are the keys of records whose numbers may be words, because they are not finite. Then,\n"
    "for each request in order, come any number of the first four lines, and exactly one end:\n"
    "    {\"id\": 1, \"record\": {...}}    a line that --json prints\n"
    "    {\"id\": 2, \"text\": \"...\"}      a line of text or CSV\n"
    "    {\"id\": 1, \"note\": \"...\"}      a remark or warning\n"
    "    {\"id\": 1, \"progress\": {\"text\": ..., \"what\": ..., \"done\": ..., \"total\": ...}}   of long work\n"
    "    {\"id\": 1, \"end\": {\"ok\": true, \"seconds\": 0.012, \"error\": null, \"kind\": null, \"where\": null}}\n"
    "\n"
    "If a command fails, ok is false, error is the message, and kind is usage, input, io, memory, limit, unsupported,\n"
    "numeric, device, cancelled or internal; the rest of the line is not run, and the session goes on. A cancel "
    "request\n"
    "takes effect at once and has an end of its own; it does not stop a shell command. A line that is not a request "
    "gets\n"
    "an end with ok false, and with id null if its id cannot be read. Ignore keys that you do not know. In records, "
    "null\n"
    "is what is not known, and a number that is not finite is one of the strings \"inf\", \"-inf\" and \"nan\".\n"
    "`help COMMAND keys` explains the keys of a command's records; `help COMMAND schema` is their JSON Schema.\n"
    "\n"
    "The program ends when its input ends and all requests are answered, at `quit`, or when nobody reads the replies.\n"
    "`warpspy --serve=unix:PATH` answers at a Unix socket instead, one client after another, as with `nc -U PATH`: "
    "the\n"
    "session stays when a client leaves, and ends at `quit` or with the program. The next client waits until the one\n"
    "before has left. The folder of PATH must be yours alone; the socket has mode 0600 and is removed at the end.\n"
    "Shell commands and libraries print to standard error. Ctrl-C ends the program. Files on the command line are "
    "loaded\n"
    "first, with id null.\n"
    "Requests may write new files in the working folder only, none of them hidden, and run no shell commands, unless "
    "the\n"
    "server was started with `--allow files` or `--allow shell` (see `help allow`).\n";

/* REQUEST_LIMIT: bytes of a request, whose command line may be written in \u escapes. WAIT_MAX: requests that wait; no
   more input is read until one of them has run. */
enum {
    REQUEST_LIMIT = 6 * LINE_LIMIT + 1024,
    WAIT_MAX = 1000,
    ID_MAX = 200,
    AGAIN_MS = 20,
    OUT_ROOM = 1 << 16,
    NUMBER_KEYS_MAX = 200
};
static const double ID_LARGEST = 9007199254740992.0; /* 2^53: larger integers have no exact double */

struct request {
    struct request *next;
    char id[2 * ID_MAX];       /* as JSON */
    char line[LINE_LIMIT + 2]; /* the command line; empty: none */
    enum out_mode as;
    bool cancels;   /* a cancel request */
    bool cancelled; /* another request has cancelled this one */
    struct err err; /* why the request cannot be run */
};

/* A stream whose lines become replies. */
struct channel {
    FILE *file;
    const char *key; /* the key of lines of text */
    bool json;       /* lines that begin with { are records */
    bool open;       /* a line was begun */
    bool quoted;     /* the open line is text */
};

static struct {
    int listener; /* the socket at which clients arrive, one after another; 0: standard input and output are used */
    const struct registry *views;
    int in, out;
    struct channel data, messages;
    char id[2 * ID_MAX]; /* id of the current request, as JSON */
    char text[OUT_ROOM]; /* replies that are not written yet */
    size_t n;
    bool failed; /* a reply could not be written */
    struct session *session;
    pthread_t reader;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t more;
    struct request *first, **last, *now;
    int waiting;
    bool ended; /* no more requests will come */
    bool gone;  /* nobody reads the replies */
} p;

/* ---- replies ---- */

/* A client may leave without reading all replies. */
static ssize_t write_reply(const char *text, size_t n)
{
    return p.listener ? send(p.out, text, n, MSG_NOSIGNAL) : write(p.out, text, n);
}

static bool send_out(void)
{
    for (size_t at = 0; at < p.n && !p.failed;) {
        ssize_t n = write_reply(p.text + at, p.n - at);
        if (n > 0) at += (size_t)n;
        if (n < 0 && errno != EINTR) p.failed = true;
    }
    p.n = 0;
    return !p.failed;
}

static void put(const char *text, size_t n)
{
    while (n && !p.failed) {
        size_t room = OUT_ROOM - p.n, some = n < room ? n : room;
        memcpy(p.text + p.n, text, some);
        p.n += some;
        text += some;
        n -= some;
        if (p.n == OUT_ROOM) send_out();
    }
}

static void puts_out(const char *text)
{
    put(text, strlen(text));
}

/* Put text inside a JSON string. cJSON escapes pieces of the text and allocates nothing, so that there is a reply even
   if memory has run out. */
static void put_escaped(const char *text, size_t n)
{
    enum { PIECE = 512, ESCAPED = 6 }; /* a byte becomes at most \u and four digits */
    char piece[PIECE + 1], quoted[ESCAPED * PIECE + 16];
    for (size_t some; n; text += some, n -= some) {
        some = n < PIECE ? n : PIECE;
        memcpy(piece, text, some);
        piece[some] = 0;
        cJSON_PrintPreallocated(&(cJSON){.type = cJSON_String, .valuestring = piece}, quoted, sizeof quoted, false);
        put(quoted + 1, strlen(quoted) - 2);
    }
}

static void put_string(const char *text)
{
    if (!text || !*text) {
        puts_out("null");
        return;
    }
    put("\"", 1);
    put_escaped(text, strlen(text));
    put("\"", 1);
}

static void begin_reply(const char *key)
{
    puts_out("{\"id\":");
    puts_out(p.id);
    puts_out(",\"");
    puts_out(key);
    puts_out("\":");
}

static void end_reply(void)
{
    puts_out("}\n");
}

static void end_line(struct channel *c)
{
    if (!c->open) return;
    if (c->quoted) put("\"", 1);
    end_reply();
    c->open = false;
}

static void begin_line(struct channel *c, char first)
{
    c->open = true;
    c->quoted = !c->json || first != '{';
    begin_reply(c->quoted ? c->key : "record");
    if (c->quoted) put("\"", 1);
}

/* The write function of both streams. A line of a record may be longer than memory has room for, so each part is
   passed on as it comes. */
static ssize_t write_lines(void *user, const char *text, size_t n)
{
    struct channel *c = user;
    if (c == &p.messages && p.data.open) return write(STDERR_FILENO, text, n); /* a record must not be torn apart */
    for (size_t at = 0; at < n; at++) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        if (!c->open) begin_line(c, text[at]);
        (c->quoted ? put_escaped : put)(text + at, length);
        at += length;
        if (end) end_line(c);
    }
    return send_out() || p.listener ? (ssize_t)n : (errno = EPIPE, 0); /* the session survives a client that has left */
}

/* A JSON integer, or null if it is not known. */
static void put_count(const char *key, bool known, int64_t n)
{
    char text[64];
    int length = known ? snprintf(text, sizeof text, ",\"%s\":%lld", key, (long long)n)
                       : snprintf(text, sizeof text, ",\"%s\":null", key);
    put(text, (size_t)length);
}

/* Progress is left out while a record is being written, because its line has not ended yet. */
static void show_progress(const char *text)
{
    char counted[100];
    const struct progress *now = &p.session->progress;
    session_progress(p.session, counted, sizeof counted);
    bool is_counted = !strcmp(counted, text); /* a solve writes its own text */
    if (p.data.open) return;
    begin_reply("progress");
    puts_out("{\"text\":");
    put_string(text);
    puts_out(",\"what\":");
    put_string(is_counted ? now->what : NULL);
    put_count("done", is_counted, now->done);
    put_count("total", is_counted && now->total > 0, now->total);
    puts_out("}");
    end_reply();
    send_out();
}

static void clear_progress(void) {}

/* Keys of numbers that may be the words "inf", "-inf" or "nan". */
struct number_keys {
    const char *key[NUMBER_KEYS_MAX];
    int n;
};

static void add_number(void *user, const struct field *d, const char *path)
{
    struct number_keys *keys = user;
    int i = 0;
    if (!((d->kind | d->item) & (OR_INF | OR_NAN))) return;
    while (i < keys->n && strcmp(keys->key[i], d->key)) i++;
    if (i == keys->n && i < NUMBER_KEYS_MAX) keys->key[keys->n++] = d->key;
}

static void add_numbers(struct number_keys *keys, const struct row_kind *const *rows)
{
    for (; rows && *rows; rows++) rows_each(*rows, add_number, keys);
}

static void put_number_keys(const struct registry *views)
{
    struct number_keys keys = {.n = 0};
    const struct named *v;
    for (int i = 0; commands[i]; i++) add_numbers(&keys, commands[i]->rows);
    for (int i = 0; (v = registry_at(views, i)); i++) add_numbers(&keys, ((const struct view_entry *)v)->rows);
    for (int i = 0; i < keys.n; i++) {
        puts_out(i ? "," : "");
        put_string(keys.key[i]);
    }
}

static void reply_ready(const struct registry *views)
{
    char text[128];
    begin_reply("ready");
    snprintf(text, sizeof text, "{\"program\":\"warpspy\",\"version\":\"%s\",\"protocol\":%d,\"numbers\":[",
             WARPSPY_VERSION, PROTOCOL_VERSION);
    puts_out(text);
    put_number_keys(views);
    puts_out("]}");
    end_reply();
    send_out();
}

static void reply_end(const struct err *e, bool ok, double seconds)
{
    char text[2 * sizeof e->text], where[2 * sizeof e->where], number[80];
    print_safe(e->text, strlen(e->text), sizeof e->text - 1, text, sizeof text);
    print_safe(e->where, strlen(e->where), sizeof e->where - 1, where, sizeof where);
    begin_reply("end");
    snprintf(number, sizeof number, "{\"ok\":%s,\"seconds\":%.6f,\"error\":", ok ? "true" : "false", seconds);
    puts_out(number);
    put_string(ok ? NULL : *text ? text : "the command failed");
    puts_out(",\"kind\":");
    put_string(ok ? NULL : err_kind(e->code ? e->code : E_INTERNAL));
    puts_out(",\"where\":");
    put_string(ok ? NULL : where);
    puts_out("}");
    end_reply();
    send_out();
}

/* ---- reading a request ---- */

static bool is_utf8(const char *text, size_t n)
{
    uint32_t point;
    for (size_t at = 0; at < n;) {
        int length = utf8_decode(text + at, n - at, &point);
        if (!length) return false;
        at += (size_t)length;
    }
    return true;
}

/* The id as JSON. Returns false if it is neither a short string nor an integer. */
static bool read_id(const cJSON *id, char out[2 * ID_MAX])
{
    if (cJSON_IsNumber(id) && id->valuedouble == trunc(id->valuedouble) && fabs(id->valuedouble) <= ID_LARGEST)
        return snprintf(out, 2 * ID_MAX, "%.0f", id->valuedouble), true;
    return cJSON_IsString(id) && strlen(id->valuestring) <= ID_MAX / 6 &&
           cJSON_PrintPreallocated((cJSON *)id, out, 2 * ID_MAX, false);
}

static bool read_as(const cJSON *as, enum out_mode *mode, struct err *e)
{
    static const char *const names[] = {[OUT_TEXT] = "text", [OUT_JSON] = "json", [OUT_CSV] = "csv"};
    *mode = OUT_JSON;
    if (!as) return true;
    for (int i = 0; cJSON_IsString(as) && i < COUNT(names); i++)
        if (!strcmp(as->valuestring, names[i])) return *mode = (enum out_mode)i, true;
    return fail(e, E_USAGE, "`as` must be \"json\", \"text\" or \"csv\"");
}

static bool read_line(const cJSON *run, char *line, struct err *e)
{
    if (!cJSON_IsString(run)) return fail(e, E_USAGE, "`run` must be a string, a command line");
    if (strlen(run->valuestring) > LINE_LIMIT)
        return fail(e, E_LIMIT, "the command line is too long: at most %d bytes; split it", LINE_LIMIT);
    if (strpbrk(run->valuestring, "\r\n"))
        return fail(e, E_USAGE, "the command line holds a line break; send one request per line");
    strcpy(line, run->valuestring);
    return true;
}

/* Mark the requests with this id as cancelled. The lock is held. */
static bool cancel(const char *id)
{
    bool found = p.now && !strcmp(p.now->id, id);
    if (found) p.now->cancelled = true;
    for (struct request *r = p.first; r; r = r->next)
        if (!r->cancels && !strcmp(r->id, id)) r->cancelled = found = true;
    return found;
}

static bool read_cancel(const cJSON *id, struct err *e)
{
    char text[2 * ID_MAX];
    if (!read_id(id, text)) return fail(e, E_USAGE, "`cancel` must be the id of a request");
    pthread_mutex_lock(&p.lock);
    bool found = cancel(text);
    pthread_mutex_unlock(&p.lock);
    return found || fail(e, E_USAGE, "no request with this id waits or runs");
}

static bool has_only_known_keys(const cJSON *j, struct err *e)
{
    char safe[100];
    for (const cJSON *one = j->child; one; one = one->next)
        if (!has_word("id run as cancel", one->string))
            return fail(e, E_USAGE, "there is no key \"%s\" in a request; see `help serve`",
                        print_safe(one->string, strlen(one->string), 40, safe, sizeof safe));
    return true;
}

static bool read_request(const cJSON *j, struct request *r, struct err *e)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(j, "id"), *run = cJSON_GetObjectItemCaseSensitive(j, "run"),
                *stop = cJSON_GetObjectItemCaseSensitive(j, "cancel");
    if (!cJSON_IsObject(j)) return fail(e, E_USAGE, "a request is a JSON object; see `help serve`");
    if (!read_id(id, r->id))
        return strcpy(r->id, "null"), fail(e, E_USAGE, "a request needs an id: an integer or a short string");
    if (!has_only_known_keys(j, e)) return false;
    if (!run == !stop) return fail(e, E_USAGE, "a request needs either `run` or `cancel`; see `help serve`");
    if ((r->cancels = stop != NULL)) return read_cancel(stop, e);
    return read_as(cJSON_GetObjectItemCaseSensitive(j, "as"), &r->as, e) && read_line(run, r->line, e);
}

static bool read_text(const char *text, size_t n, struct request *r, struct err *e)
{
    if (n > REQUEST_LIMIT) return fail(e, E_LIMIT, "the request is too long: at most %d bytes", REQUEST_LIMIT);
    if (memchr(text, 0, n) || memmem(text, n, "\\u0000", 6)) return fail(e, E_INPUT, "the request contains a NUL byte");
    if (!is_utf8(text, n)) return fail(e, E_INPUT, "the request is not valid UTF-8");
    cJSON *j = cJSON_ParseWithLength(text, n);
    bool ok = j ? read_request(j, r, e) : fail(e, E_INPUT, "the line is not valid JSON; see `help serve`");
    cJSON_Delete(j);
    return ok;
}

/* No more requests will come. */
static void end_requests(bool gone)
{
    pthread_mutex_lock(&p.lock);
    p.ended = true;
    p.gone |= gone;
    pthread_cond_signal(&p.more);
    pthread_mutex_unlock(&p.lock);
}

/* Queue the request that this line holds; a line that holds none is answered in its turn. */
static void take_line(const char *text, size_t n)
{
    if (n && text[n - 1] == '\r') n--;
    bool blank = n <= REQUEST_LIMIT && strspn(text, " \t") >= n;
    if (blank) return;
    struct request *r = mem_zero(1, sizeof *r, "a request", NULL);
    if (!r) {
        end_requests(false); /* without memory for a request, no answer can be promised */
        return;
    }
    strcpy(r->id, "null");
    read_text(text, n, r, &r->err);
    pthread_mutex_lock(&p.lock);
    *p.last = r;
    p.last = &r->next;
    p.waiting++;
    pthread_cond_signal(&p.more);
    pthread_mutex_unlock(&p.lock);
}

/* ---- the thread that reads ---- */

/* How long the thread may sleep, in ms; -1: for ever. A running command that was cancelled is interrupted again and
   again, because each command of a line clears the interrupt when it begins. */
static int patience(bool *full)
{
    pthread_mutex_lock(&p.lock);
    bool stops = p.now && (p.now->cancelled || p.gone);
    if (stops) session_interrupt();
    *full = p.waiting >= WAIT_MAX;
    pthread_mutex_unlock(&p.lock);
    return stops || *full ? AGAIN_MS : -1;
}

/* The bytes of the line that is being read. If it is too long, `n` ends at REQUEST_LIMIT + 1, and the bytes are
   dropped. */
struct incoming {
    char text[REQUEST_LIMIT + 1];
    size_t n;
};

static void take_bytes(struct incoming *l, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (l->n < REQUEST_LIMIT) l->text[l->n] = bytes[i];
            if (l->n <= REQUEST_LIMIT) l->n++;
            continue;
        }
        l->text[l->n < REQUEST_LIMIT ? l->n : REQUEST_LIMIT] = 0;
        take_line(l->text, l->n);
        l->n = 0;
    }
}

/* Returns false at the end of the input. */
static bool read_some(struct incoming *l)
{
    char bytes[4096];
    ssize_t n = read(p.in, bytes, sizeof bytes);
    if (n > 0) take_bytes(l, bytes, (size_t)n);
    if (n == 0 && l->n) take_bytes(l, "\n", 1);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Sleep until there is input, the reader of the replies has ended, or the time is over. The thread can be ended only
   here. */
static void wait_for(struct pollfd *fd, int ms)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    int n = poll(fd, 2, ms);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    if (n <= 0) fd[0].revents = fd[1].revents = 0;
}

static void *read_requests(void *user)
{
    static struct incoming l;
    bool full, open = true;
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    for (;;) {
        int ms = patience(&full);
        struct pollfd fd[2] = {{open && !full ? p.in : -1, POLLIN, 0}, {p.out, 0, 0}};
        wait_for(fd, ms);
        if (open && fd[0].revents && !(open = read_some(&l))) end_requests(false);
        if (fd[1].revents & (POLLERR | POLLNVAL | POLLHUP)) break;
    }
    end_requests(true);
    for (;;) {
        struct pollfd none[2] = {{-1, 0, 0}, {-1, 0, 0}};
        wait_for(none, patience(&full));
    }
    return user;
}

/* ---- answering ---- */

/* The next request, which then is the current one. NULL: the input has ended, nobody reads the replies, or, after
   `quit`, no request waits. */
static struct request *next_request(bool quit)
{
    pthread_mutex_lock(&p.lock);
    while (!p.first && !p.ended && !quit) pthread_cond_wait(&p.more, &p.lock);
    struct request *r = p.gone ? NULL : p.first;
    if (r) {
        p.first = r->next;
        if (!p.first) p.last = &p.first;
        p.waiting--;
        p.now = r;
    }
    pthread_mutex_unlock(&p.lock);
    return r;
}

static void end_request(struct request *r)
{
    pthread_mutex_lock(&p.lock);
    p.now = NULL;
    pthread_mutex_unlock(&p.lock);
    session_take_interrupt(); /* a cancel that came after the last command */
    mem_free(r);
}

static bool run_request(struct session *s, const struct request *r, struct err *e)
{
    p.data.json = r->as == OUT_JSON;
    out_set_mode(s->out, r->as);
    out_failure_clear(s->out);
    bool ok = run_line(s, r->line);
    fflush(p.data.file);
    fflush(p.messages.file);
    end_line(&p.data);
    end_line(&p.messages);
    *e = *out_failure(s->out);
    return ok;
}

static void answer(struct session *s, const struct request *r)
{
    struct err e = r->err;
    double began = now_us();
    strcpy(p.id, r->id);
    bool ok = !e.code;
    if (ok && r->cancelled) ok = fail(&e, E_CANCELLED, "cancelled before it ran");
    if (ok && s->quit) ok = fail(&e, E_USAGE, "not run: an earlier request ended the session");
    if (ok && !r->cancels) ok = run_request(s, r, &e);
    reply_end(&e, ok, (now_us() - began) / 1e6);
}

/* Answer the requests of one client. Returns false if there is no thread to read them. */
static bool serve(struct session *s)
{
    struct request *r;
    if (pthread_create(&p.reader, NULL, read_requests, NULL)) return false;
    while (!p.failed && (r = next_request(s->quit))) {
        answer(s, r);
        end_request(r);
    }
    pthread_cancel(p.reader);
    pthread_join(p.reader, NULL);
    return true;
}

static void drop_requests(void)
{
    for (struct request *r = p.first, *next; r; r = next) next = r->next, mem_free(r);
    p.first = NULL;
    p.last = &p.first;
    p.waiting = 0;
}

/* The client has left: forget its requests, and wait for the next one. */
static bool next_client(void)
{
    if (p.in >= 0) close(p.in);
    drop_requests();
    session_take_interrupt();
    p.failed = p.ended = p.gone = p.data.open = p.messages.open = false;
    p.n = 0;
    strcpy(p.id, "null");
    p.in = p.out = serve_socket_accept(p.listener);
    if (p.in < 0) return false;
    reply_ready(p.views);
    return true;
}

bool protocol_run(struct session *s)
{
    struct lines outer;
    lines_begin(s, "a client of --serve", NULL, &outer, NULL);
    bool ok = serve(s);
    while (ok && p.listener && !s->quit) ok = next_client() && serve(s);
    lines_end(s, &outer);
    return ok && (p.listener || (!p.failed && !p.gone));
}

bool protocol_begin(struct session *s, const struct registry *views)
{
    p.session = s;
    p.views = views;
    s->served = true;
    out_progress_by(s->out, show_progress, clear_progress);
    if (p.listener) return next_client();
    reply_ready(views);
    return true;
}

/* ---- the streams ---- */

static bool open_channel(struct channel *c, const char *key, bool json)
{
    *c = (struct channel){.key = key, .json = json};
    c->file = fopencookie(c, "w", (cookie_io_functions_t){.write = write_lines});
    return c->file && !setvbuf(c->file, NULL, _IOFBF, OUT_ROOM);
}

/* Move a descriptor out of the way of what this process or its children do with descriptors 0 and 1. */
static int move(int fd, int instead)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return moved >= 0 && dup2(instead, fd) >= 0 ? moved : -1;
}

static bool open_streams(struct err *e)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    p.in = nothing < 0 ? -1 : move(STDIN_FILENO, nothing);
    p.out = move(STDOUT_FILENO, STDERR_FILENO);
    if (nothing >= 0) close(nothing);
    return (p.in >= 0 && p.out >= 0) || fail(e, E_IO, "--serve cannot take over standard input and output");
}

bool protocol_open(const char *path, struct err *e)
{
    p.last = &p.first;
    p.in = p.out = -1;
    strcpy(p.id, "null");
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.more, NULL);
    if (!(path ? serve_socket_open(path, &p.listener, e) : open_streams(e))) return false;
    if (open_channel(&p.data, "text", true) && open_channel(&p.messages, "note", false)) return true;
    return fail(e, E_MEMORY, "out of memory: --serve needs buffers for its replies");
}

FILE *protocol_data(void)
{
    return p.data.file;
}

FILE *protocol_messages(void)
{
    return p.messages.file;
}

void protocol_close(void)
{
    if (p.data.file) fclose(p.data.file);
    if (p.messages.file) fclose(p.messages.file);
    drop_requests();
    if (p.in > 2) close(p.in);
    if (p.out > 2 && p.out != p.in) close(p.out);
    if (p.listener) serve_socket_close(p.listener);
    memset(&p, 0, sizeof p);
}
