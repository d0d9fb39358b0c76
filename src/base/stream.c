/* Open a file, detect from its first bytes how it is packed, and deliver its unpacked bytes. */
#include "stream.h"
#include "err.h"
#include "gunzip.h"
#include "loop.h"
#include "mem.h"
#include "text.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SNIFF = 512, PIECE = 1 << 16, WAIT_MS = 2 };
enum packing { PLAIN, GZIP, XZ, ZSTD, BZIP2, TAR };

struct stream {
    const char *path;
    int fd;
    int64_t size;     /* size of the file in bytes; 0 for a pipe */
    int64_t done;     /* number of bytes read so far; accessed atomically */
    struct loop loop; /* ends at Ctrl-C */
    /* `keeping` is set until the packing is known: the bytes of a pipe, which cannot be read again, are kept */
    bool pipe, keeping;
    char *kept; /* bytes [at, nkept) are delivered next */
    int64_t at, nkept, room;
    enum packing packing;    /* how the outermost layer is packed */
    struct gunzip *gunzip;   /* unpacks gzip; NULL if the file is not gzip */
    struct archive *archive; /* reads from gunzip or from the file; NULL if not needed */
    struct err below;        /* why the layer below libarchive failed */
    const char *out;         /* nout bytes from libarchive that are not delivered yet; `gap` zeros precede them */
    size_t nout;
    int64_t gap;       /* number of zeros that a sparse file omits here */
    bool garbage;      /* bytes follow the compressed data */
    int64_t given;     /* number of bytes of the entry delivered so far */
    struct err fault;  /* a fault, which is reported after the bytes that precede it */
    char piece[PIECE]; /* input buffer of libarchive */
};

static enum packing packing_of(const char *s, int64_t n)
{
    static const struct {
        enum packing packing;
        int64_t at, len;
        const char *magic;
    } table[] = {
        {GZIP, 0, 2, "\x1f\x8b"},
        {XZ, 0, 6,
         "\xfd"
         "7zXZ\0"},
        {ZSTD, 0, 4, "\x28\xb5\x2f\xfd"},
        {BZIP2, 0, 3, "BZh"},
        {TAR, 257, 5, "ustar"},
    };
    for (int i = 0; i < COUNT(table); i++)
        if (n >= table[i].at + table[i].len && !memcmp(s + table[i].at, table[i].magic, (size_t)table[i].len))
            return table[i].packing;
    return PLAIN;
}

static bool goes_on(struct stream *s, struct err *e)
{
    return loop_check(&s->loop, s->done) || loop_end(&s->loop, e);
}

/* Wait until the pipe has bytes or its writer has closed it. */
static bool pipe_wait(struct stream *s, struct err *e)
{
    struct pollfd in = {.fd = s->fd, .events = POLLIN};
    while (poll(&in, 1, WAIT_MS) <= 0)
        if (!goes_on(s, e)) return false;
    return true;
}

static bool keep(struct stream *s, const char *from, int64_t n, struct err *e)
{
    if (s->nkept + n > s->room) {
        char *more = mem_resize(s->kept, 2 * (s->nkept + n), 1, "the start of a pipe", e);
        if (!more) return false;
        s->kept = more;
        s->room = 2 * (s->nkept + n);
    }
    memcpy(s->kept + s->nkept, from, (size_t)n);
    s->at = s->nkept += n;
    return true;
}

static int64_t take_kept(struct stream *s, char *to, int64_t n)
{
    int64_t left = s->nkept - s->at, got = left < n ? left : n;
    memcpy(to, s->kept + s->at, (size_t)got);
    s->at += got;
    return got;
}

static int64_t file_read(void *user, char *to, int64_t n, struct err *e)
{
    struct stream *s = user;
    int64_t got = s->at < s->nkept ? take_kept(s, to, n) : 0, old = got;
    while (got < n) {
        ssize_t r = read(s->fd, to + got, (size_t)(n - got));
        if (r < 0 && errno == EINTR) continue;
        if (r < 0 && errno == EAGAIN && s->pipe) {
            if (!pipe_wait(s, e)) return -1;
            continue;
        }
        if (r < 0 && !got) {
            fail(e, E_IO, "cannot read the file: %s", strerror(errno));
            return -1;
        }
        if (r <= 0) break;
        got += r;
    }
    if (s->keeping && got > old && !keep(s, to + old, got - old, e)) return -1;
    __atomic_fetch_add(&s->done, got, __ATOMIC_RELAXED);
    return got;
}

static bool refuse_kind(const char *where, mode_t mode, struct err *e)
{
    const char *kind = S_ISDIR(mode)    ? "a directory; give the name of a file in it"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return fail_at(e, E_IO, where, "this is %s", kind);
}

/* Open the file without blocking: a blocking open of a pipe would wait for the writer, and Ctrl-C would not end that
   wait. */
static bool file_open(struct stream *s, const char *where, struct err *e)
{
    struct stat st;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 && errno == ENXIO) return refuse_kind(where, S_IFSOCK, e);
    if (s->fd < 0 || fstat(s->fd, &st)) return fail_at(e, E_IO, where, "cannot open the file: %s", strerror(errno));
    s->pipe = s->keeping = S_ISFIFO(st.st_mode);
    if (s->pipe) return pipe_wait(s, e);
    if (!S_ISREG(st.st_mode)) return refuse_kind(where, st.st_mode, e);
    s->size = s->loop.total = st.st_size;
    return true;
}

static int64_t below_read(struct stream *s, char *to, int64_t n, struct err *e)
{
    return s->gunzip ? gunzip_read(s->gunzip, to, n, e) : file_read(s, to, n, e);
}

static bool rewind_below(struct stream *s, struct err *e)
{
    s->done = 0;
    if (s->gunzip) gunzip_rewind(s->gunzip);
    s->at = 0;
    return s->pipe || lseek(s->fd, 0, SEEK_SET) == 0 || fail(e, E_IO, "cannot seek in the file: %s", strerror(errno));
}

static bool sniff(struct stream *s, enum packing *packing, struct err *e)
{
    char head[SNIFF];
    int64_t got = 0, r = 1;
    while (got < SNIFF && r > 0) {
        r = below_read(s, head + got, SNIFF - got, e);
        got += r > 0 ? r : 0;
    }
    if (r < 0 && !got) return false;
    if (r < 0 && e) err_clear(e); /* the next read reports the fault again, after the bytes that precede the fault */
    *packing = packing_of(head, got);
    return rewind_below(s, e);
}

static la_ssize_t give_piece(struct archive *a, void *user, const void **piece)
{
    struct stream *s = user;
    int64_t got = below_read(s, s->piece, PIECE, &s->below);
    if (got < 0) archive_set_error(a, ARCHIVE_FATAL, "%s", s->below.text);
    *piece = s->piece;
    return got;
}

static bool archive_fail(struct stream *s, struct err *e)
{
    const char *why = archive_error_string(s->archive);
    char text[256];
    if (s->below.code) return fail(e, s->below.code, "%s", s->below.text);
    why = why ? print_safe(why, strlen(why), 200, text, sizeof text) : "no details";
    if (archive_errno(s->archive) == ENOMEM)
        return fail(e, E_MEMORY, "out of memory for the compressed file (%s)", why);
    return fail(e, E_INPUT, "the %s is damaged (%s): it is truncated or corrupt; download it again",
                s->packing == TAR ? "archive" : "compressed file", why);
}

/* Open libarchive, or reopen it, at the beginning of the layer below. */
static bool archive_start(struct stream *s, struct err *e)
{
    archive_read_free(s->archive);
    s->archive = archive_read_new();
    if (!s->archive) return fail(e, E_MEMORY, "out of memory: libarchive could not be started");
    archive_read_support_filter_xz(s->archive);
    archive_read_support_filter_zstd(s->archive);
    archive_read_support_filter_bzip2(s->archive);
    archive_read_support_filter_gzip(s->archive);
    archive_read_support_format_tar(s->archive);
    archive_read_support_format_raw(s->archive);
    archive_read_support_format_empty(s->archive);
    if (!rewind_below(s, e)) return false;
    return archive_read_open(s->archive, s, NULL, give_piece, NULL) == ARCHIVE_OK || archive_fail(s, e);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The extension of a file name if it is .mtx or .rb, or NULL. */
static const char *matrix_ending(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot > name && (!strcasecmp(dot, ".mtx") || !strcasecmp(dot, ".rb")) ? dot : NULL;
}

/* Is the member a file beside a matrix in which macOS keeps its attributes, such as ._bus.mtx? */
static bool is_shadow(const char *name)
{
    return !strncmp(base_name(name), "._", 2);
}

/* Are the names of the folder and of the member equal, as for NAME/NAME.mtx? */
static bool named_like_folder(const char *name)
{
    const char *base = base_name(name), *folder = base - (base > name);
    size_t n = (size_t)(matrix_ending(name) - base);
    while (folder > name && folder[-1] != '/') folder--;
    return base > name && (size_t)(base - 1 - folder) == n && !strncmp(folder, base, n);
}

/* Are the names of the member and of the archive equal without their extensions, as for NAME.mtx in NAME.tar.gz? */
static bool named_like(const char *name, const char *archive)
{
    size_t n = (size_t)(matrix_ending(name) - base_name(name));
    archive = base_name(archive);
    return !strncmp(base_name(name), archive, n) && (archive[n] == '.' || !archive[n]);
}

struct choice {
    int found;       /* number of matrices found so far */
    int best;        /* index of the chosen entry, or -1 if none is chosen */
    int index;       /* index of the current entry */
    bool sure;       /* the name of `best` matches the archive */
    int like_folder; /* number of matrices with the name of their folder; for a pipe, which gives the archive no name */
    char list[320];
};

static void consider(struct choice *c, const char *name, const struct stream *s)
{
    char safe[80];
    if (!matrix_ending(name) || is_shadow(name)) return;
    size_t used = strlen(c->list);
    print_safe(name, strlen(name), 60, safe, sizeof safe);
    snprintf(c->list + used, sizeof c->list - used, "%s%s", c->found ? ", " : "", safe);
    c->sure = named_like(name, s->path);
    bool better = s->pipe && named_like_folder(name) && !c->like_folder++;
    if (!c->found++ || c->sure || better) c->best = c->index;
}

static bool choose(struct stream *s, struct choice *c, struct err *e)
{
    struct archive_entry *entry;
    int r = ARCHIVE_OK;
    for (c->index = 0;
         !c->sure && (r = archive_read_next_header(s->archive, &entry)) >= ARCHIVE_WARN && r != ARCHIVE_EOF;
         c->index++) {
        const char *name = archive_entry_pathname(entry);
        if (name && archive_entry_filetype(entry) == AE_IFREG) consider(c, name, s);
    }
    if (r < ARCHIVE_WARN) return archive_fail(s, e);
    if (!c->found) return fail(e, E_INPUT, "the archive holds no .mtx or .rb file");
    return c->found == 1 || c->sure || c->like_folder == 1 ||
           fail(e, E_INPUT,
                "the archive holds %d .mtx or .rb files, and none has the archive's name: %s; unpack the file that you "
                "want",
                c->found, c->list);
}

static bool archive_open_entry(struct stream *s, struct err *e)
{
    struct choice c = {.best = -1};
    struct archive_entry *entry;
    if (!archive_start(s, e)) return false;
    int r = archive_read_next_header(s->archive, &entry);
    if (r == ARCHIVE_EOF) return true;
    if (r < ARCHIVE_WARN) return archive_fail(s, e);
    if (archive_filter_count(s->archive) > 2)
        return fail(e, E_INPUT, "the file is compressed twice; unpack it once first");
    if (archive_format(s->archive) == ARCHIVE_FORMAT_RAW) return true;
    if (!archive_start(s, e) || !choose(s, &c, e) || !archive_start(s, e)) return false;
    for (int i = 0; i <= c.best; i++)
        if (archive_read_next_header(s->archive, &entry) < ARCHIVE_WARN) return archive_fail(s, e);
    return true;
}

static bool unpack(struct stream *s, struct err *e)
{
    enum packing inner = PLAIN;
    if (!sniff(s, &s->packing, e)) return false;
    if (s->packing == PLAIN) return true;
    if (s->packing != GZIP) return archive_open_entry(s, e);
    s->gunzip = gunzip_new(file_read, s, e);
    if (!s->gunzip || !sniff(s, &inner, e)) return false;
    if (inner == TAR) return archive_open_entry(s, e);
    return inner == PLAIN || fail(e, E_INPUT, "the file is compressed twice; unpack it once first");
}

struct stream *stream_open(const char *path, struct err *e)
{
    char where[256];
    struct err why = {0};
    struct stream *s = mem_zero(1, sizeof *s, "a file reader", e);
    if (!s) return NULL;
    print_safe(path, strlen(path), 200, where, sizeof where);
    s->path = path;
    s->loop = loop_of("reading", 0);
    bool ok = file_open(s, where, e) && unpack(s, &why);
    s->keeping = false;
    if (ok) return s;
    if (why.code) fail_at(e, why.code, where, "%s", why.text);
    stream_close(s);
    return NULL;
}

void stream_close(struct stream *s)
{
    if (!s) return;
    archive_read_free(s->archive);
    gunzip_free(s->gunzip);
    if (s->fd >= 0) close(s->fd);
    mem_free(s->kept);
    mem_free(s);
}

/* Do bytes follow the compressed data? libarchive ends a bzip2 file without a fault at bytes that are not bzip2. */
static bool has_rest(struct stream *s)
{
    char byte;
    return archive_filter_bytes(s->archive, -1) < __atomic_load_n(&s->done, __ATOMIC_RELAXED) ||
           below_read(s, &byte, 1, NULL) > 0;
}

/* Get the next piece of the entry from libarchive. Returns false at the end of the entry, or on a fault, which is
   recorded in s->fault. archive_read_data is not used, since it drops the bytes before a fault. */
static bool next_piece(struct stream *s)
{
    const void *out = NULL;
    la_int64_t at = s->given;
    if (s->fault.code) return false;
    int r = archive_read_data_block(s->archive, &out, &s->nout, &at);
    s->out = out;
    s->gap = at > s->given ? at - s->given : 0;
    if (r == ARCHIVE_EOF && s->packing == BZIP2) s->garbage |= has_rest(s);
    if (r == ARCHIVE_OK || r == ARCHIVE_EOF) return r == ARCHIVE_OK || s->gap;
    s->nout = 0;
    s->gap = 0;
    return archive_fail(s, &s->fault);
}

/* Deliver up to n bytes of the current piece. */
static int64_t take_piece(struct stream *s, char *to, int64_t n)
{
    int64_t zeros = s->gap < n ? s->gap : n, bytes = (int64_t)s->nout < n - zeros ? (int64_t)s->nout : n - zeros;
    if (zeros) memset(to, 0, (size_t)zeros);
    if (bytes) {
        memcpy(to + zeros, s->out, (size_t)bytes);
        s->out += bytes;
    }
    s->gap -= zeros;
    s->nout -= (size_t)bytes;
    s->given += zeros + bytes;
    return zeros + bytes;
}

int64_t stream_read(struct stream *s, char *to, int64_t n, struct err *e)
{
    int64_t got = 0;
    if (!loop_end(&s->loop, e)) return -1;
    if (!s->archive) return below_read(s, to, n, e);
    do got += take_piece(s, to + got, n - got);
    while (got < n && next_piece(s));
    if (got || !s->fault.code) return got;
    fail(e, s->fault.code, "%s", s->fault.text);
    return -1;
}

int64_t stream_size(const struct stream *s)
{
    return s->packing == PLAIN && !s->pipe ? s->size : -1;
}

bool stream_is_pipe(const struct stream *s)
{
    return s->pipe;
}

void stream_stop(struct stream *s)
{
    __atomic_store_n(&s->loop.stopped, true, __ATOMIC_RELAXED);
}

void stream_progress(const struct stream *s, int64_t *done, int64_t *total)
{
    *done = __atomic_load_n(&s->done, __ATOMIC_RELAXED);
    *total = s->size;
}

bool stream_garbage(const struct stream *s)
{
    return s->garbage || (s->gunzip && gunzip_garbage(s->gunzip));
}
