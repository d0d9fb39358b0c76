/* Read arrays of binary numbers with all threads: see raw.h. */
#include "raw.h"
#include "base/err.h"
#include "base/loop.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, LARGE = 1 << 24 };

int64_t read_at(int fd, char *to, int64_t n, int64_t at)
{
    int64_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, to + got, (size_t)(n - got), at + got);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return r < 0 ? -1 : got;
        got += r;
    }
    return got;
}

void hint_large(void *data, int64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)data + page - 1) / page * page,
              end = ((uintptr_t)data + (uintptr_t)bytes) / page * page;
    if (bytes > LARGE && begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

bool raw_open(struct raw *r, const char *path, const char *where, bool big_endian, struct err *e)
{
    struct stat st;
    *r = (struct raw){.where = where, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .big_endian = big_endian};
    if (r->fd < 0 || fstat(r->fd, &st)) return fail_at(e, E_IO, where, "cannot open the file: %s", strerror(errno));
    r->size = st.st_size;
    return true;
}

void raw_close(struct raw *r)
{
    if (r->fd >= 0) close(r->fd);
    r->fd = -1;
}

bool raw_has(const struct raw *r, int64_t at, int64_t n, int bytes, int64_t *end)
{
    int64_t length;
    return n >= 0 && !__builtin_mul_overflow(n, bytes, &length) && !__builtin_add_overflow(at, length, end) &&
           *end <= r->size;
}

/* ---- conversions of one piece: n numbers, or n pairs ---- */

static uint32_t word4(const struct raw *r, const char *at)
{
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return r->big_endian ? be32toh(bits) : le32toh(bits);
}

static uint64_t word8(const struct raw *r, const char *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return r->big_endian ? be64toh(bits) : le64toh(bits);
}

static double real4(const struct raw *r, const char *at)
{
    uint32_t bits = word4(r, at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double real8(const struct raw *r, const char *at)
{
    uint64_t bits = word8(r, at);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int64_t integer_of(const struct raw *r, const char *at, int bytes)
{
    return bytes == 4 ? (int32_t)word4(r, at) : (int64_t)word8(r, at);
}

/* The numbers of an array that has been asked for. */
struct array_at {
    int64_t at, n;
    int bytes;  /* of one number */
    int parts;  /* numbers of an item: 2 for pairs */
    int *index; /* NULL: the numbers are doubles */
    double *real, *imag;
};

/* Convert items [from, from + n) of the array. Returns false if an integer does not fit. */
static bool convert(const struct raw *r, const struct array_at *a, const char *p, int64_t from, int64_t n)
{
    bool fits = true;
    double *re = a->real, *im = a->imag;
    if (a->index && a->bytes == 4)
        for (int64_t k = 0; k < n; k++) a->index[from + k] = (int)word4(r, p + 4 * k);
    else if (a->index)
        for (int64_t k = 0; k < n; k++) {
            int64_t v = (int64_t)word8(r, p + 8 * k);
            fits &= v >= INT_MIN && v <= INT_MAX;
            a->index[from + k] = (int)v;
        }
    else if (im && a->bytes == 8)
        for (int64_t k = 0; k < n; k++) re[from + k] = real8(r, p + 16 * k), im[from + k] = real8(r, p + 16 * k + 8);
    else if (im)
        for (int64_t k = 0; k < n; k++) re[from + k] = real4(r, p + 8 * k), im[from + k] = real4(r, p + 8 * k + 4);
    else if (a->bytes == 8)
        for (int64_t k = 0; k < n; k++) re[from + k] = real8(r, p + 8 * k);
    else
        for (int64_t k = 0; k < n; k++) re[from + k] = real4(r, p + 4 * k);
    return fits;
}

/* ---- reading ---- */

enum fault { FINE, NOT_READ, TOO_SHORT, TOO_LARGE };

static enum fault read_piece(const struct raw *r, const struct array_at *a, int64_t from, int64_t n)
{
    char piece[PIECE];
    int64_t item = a->bytes * a->parts, got = read_at(r->fd, piece, n * item, a->at + from * item);
    if (got < n * item) return got < 0 ? NOT_READ : TOO_SHORT;
    return convert(r, a, piece, from, n) ? FINE : TOO_LARGE;
}

static bool read_array(struct raw *r, const struct array_at *a, struct err *e)
{
    int64_t each = PIECE / (a->bytes * a->parts), pieces = (a->n + each - 1) / each;
    int worst = FINE;
    struct loop l = loop_of("reading", r->size);
#pragma omp parallel for schedule(dynamic, 4) reduction(max : worst) if (pieces > 1)
    for (int64_t i = 0; i < pieces; i++) {
        if (!loop_check(&l, a->at + i * PIECE)) continue;
        enum fault f = read_piece(r, a, i * each, a->n - i * each < each ? a->n - i * each : each);
        if ((int)f > worst) worst = f;
    }
    if (!loop_end(&l, e)) return false;
    if (worst == NOT_READ) return fail_at(e, E_IO, r->where, "cannot read the file");
    if (worst == TOO_SHORT) return fail_at(e, E_INPUT, r->where, "the file shrank while it was read");
    return worst == FINE || fail_at(e, E_LIMIT, r->where, "an index of the file does not fit in 32 bits");
}

bool raw_integer(struct raw *r, int64_t at, int bytes, int64_t *value, struct err *e)
{
    char word[8];
    if (read_at(r->fd, word, bytes, at) != bytes) return fail_at(e, E_IO, r->where, "cannot read the file");
    *value = integer_of(r, word, bytes);
    return true;
}

bool raw_integers(struct raw *r, int64_t at, int64_t n, int bytes, int *to, struct err *e)
{
    return read_array(r, &(struct array_at){.at = at, .n = n, .bytes = bytes, .parts = 1, .index = to}, e);
}

bool raw_doubles(struct raw *r, int64_t at, int64_t n, int bytes, double *to, double *imag, struct err *e)
{
    int parts = imag ? 2 : 1;
    return read_array(r, &(struct array_at){.at = at, .n = n, .bytes = bytes, .parts = parts, .real = to, .imag = imag},
                      e);
}
