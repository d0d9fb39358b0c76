/* .wsb, warpspy's own binary format: a header of one page, then the CSR arrays exactly as they are in memory.
   Large parallel reads load the arrays directly into their final memory. The file is not mapped, because the program
   would crash if a mapped file shrank.

       0 magic, byte order, version, sizes, kind, source of the matrix, checksums
    4096 rowptr [rows + 1] int32, or int64 in a large matrix (matrix/csr.h) | col [nnz] int32 | val [nnz] double | imag
   [nnz] double, if complex | the right sides, then the solutions, double, if there are any. Each array begins at a
   multiple of 64; the bytes between arrays are 0

   Checksum of the arrays: each array is cut into pieces of 1 MiB. A piece is hashed in four lanes of 64 bits; lane i
   hashes words i, i + 4, ...: h = rotl((h ^ word) * M, 29), M odd. The last group of words is padded with zeros, and
   the length is mixed in at the end. Each step is a bijection of h and of the word, so a single wrong word is always
   detected. The hashes of the pieces, in order, are then hashed by the same function. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "raw.h"
#include "sides.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096, ALIGN = 64, PIECE = 1 << 20, TURN = 16, VERSION = 1, ORDER = 0x01020304, SOURCE_ROOM = 512 };
static const char magic[8] = "\x89WSB\r\n\x1a\n";

struct wsb {
    char magic[8];
    uint32_t order, version;
    int64_t rows, cols, nnz;
    int64_t nnz_stored, duplicates, explicit_zeros;
    uint32_t complex_values, warnings; /* number of notes made while the source was read */
    char field[16], symmetry[16], object[16];
    char source[SOURCE_ROOM];
    uint64_t arrays; /* checksum of the arrays */
    uint64_t head;   /* checksum of the members before `head` */
    /* Padding in a file without right sides. If `more` is wrong, a file with right sides has another length than its
       header declares. */
    int64_t right_sides, solutions; /* number of each */
    uint64_t more;                  /* checksum of the members before `more` */
};
_Static_assert(sizeof(struct wsb) <= HEAD, "the header must fit in its page");

/* ---- checksum ---- */

static uint64_t stir(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9ddfea08eb382d69u;
    return h << 29 | h >> 35;
}

static uint64_t hash_of(const void *data, size_t n)
{
    const char *p = data;
    uint64_t h[4] = {1, 2, 3, 4}, word[4];
    size_t left = n;
    for (; left; p += left < sizeof word ? left : sizeof word, left -= left < sizeof word ? left : sizeof word) {
        if (left < sizeof word) memset(word, 0, sizeof word);
        memcpy(word, p, left < sizeof word ? left : sizeof word);
        for (int i = 0; i < 4; i++) h[i] = stir(h[i], word[i]);
    }
    return stir(stir(stir(stir(h[0], h[1]), h[2]), h[3]), n);
}

/* ---- layout of the file ---- */

struct part {
    char *data;
    int64_t at, bytes;
};
struct layout {
    int n;
    struct part part[6];
    int64_t end; /* length of the file in bytes */
};

static int64_t aligned(int64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void add_part(struct layout *l, const void *data, int64_t bytes)
{
    l->part[l->n++] = (struct part){(char *)data, l->end, bytes};
    l->end = aligned(l->end + bytes);
}

/* The file layout of a matrix of A's size, and of the right sides and solutions of *t. The arrays of A and *t may be
   NULL. */
static struct layout layout_of(const struct csr *A, bool complex_values, const struct sides *t, int64_t solutions)
{
    bool large = csr_size_is_large(A->rows, A->nnz);
    int64_t pointer = large ? sizeof *A->rowptr64 : sizeof *A->rowptr;
    struct layout l = {.end = HEAD};
    add_part(&l, large ? (void *)A->rowptr64 : (void *)A->rowptr, (A->rows + 1) * pointer);
    add_part(&l, A->col, A->nnz * (int64_t)sizeof *A->col);
    add_part(&l, A->val, A->nnz * (int64_t)sizeof *A->val);
    if (complex_values) add_part(&l, A->imag, A->nnz * (int64_t)sizeof *A->imag);
    if (t->n) add_part(&l, t->b, t->n * t->b_each * (int64_t)sizeof *t->b);
    if (solutions) add_part(&l, t->x, solutions * t->x_each * (int64_t)sizeof *t->x);
    return l;
}

static int64_t pieces_of(const struct part *p)
{
    return (p->bytes + PIECE - 1) / PIECE;
}

static int64_t piece_bytes(const struct part *p, int64_t k)
{
    return p->bytes - k * PIECE < PIECE ? p->bytes - k * PIECE : PIECE;
}

/* ---- reading ---- */

struct reader {
    struct source *s;
    struct watch *watch;
    int fd;
    int64_t done, total;
    uint64_t sum;
};

/* Read pieces [from, to) of p. Each thread hashes its piece while the piece is in the thread's cache; hash[] receives
   the hashes. A turn on a slow disk is so long that Ctrl-C must also end it between two pieces. */
static bool read_pieces(struct reader *r, const struct part *p, int64_t from, int64_t to, uint64_t *hash, struct err *e)
{
    int64_t short_by = 0;
    int why = 0;
    struct loop l = loop_of("reading", r->total);
#pragma omp parallel for schedule(dynamic, 1) reduction(max : short_by, why) if (to - from > 1)
    for (int64_t k = from; k < to; k++) {
        if (!loop_check(&l, r->done)) continue;
        int64_t n = piece_bytes(p, k), got = read_at(r->fd, p->data + k * PIECE, n, p->at + k * PIECE);
        if (got < 0)
            why = errno ? errno : EIO;
        else if (got < n)
            short_by = n - got;
        else
            hash[k - from] = hash_of(p->data + k * PIECE, (size_t)n);
    }
    if (!loop_end(&l, e)) return false;
    if (why) return fail_at(e, E_IO, r->s->where, "cannot read the file: %s", strerror(why));
    return !short_by || file_bad(r->s, e, "the file shrank while it was read");
}

static bool read_part(struct reader *r, const struct part *p, struct err *e)
{
    uint64_t hash[TURN];
    for (int64_t k = 0, n = pieces_of(p); k < n; k += TURN) {
        int64_t to = n - k < TURN ? n : k + TURN;
        if (!watch_tick(r->watch, "reading", r->done, r->total, e) || !read_pieces(r, p, k, to, hash, e)) return false;
        for (int64_t i = k; i < to; i++) r->sum = stir(r->sum, hash[i - k]), r->done += piece_bytes(p, i);
    }
    return true;
}

static bool read_arrays(struct reader *r, const struct wsb *h, struct csr *A, struct sides *t, struct err *e)
{
    struct layout l = layout_of(A, A->imag != NULL, t, h->solutions);
    r->total = l.end;
    for (int i = 0; i < l.n; i++) {
        hint_large(l.part[i].data, l.part[i].bytes);
        if (!read_part(r, &l.part[i], e)) return false;
    }
    return r->sum == h->arrays ||
           file_bad(r->s, e, "the checksum of the arrays is %016llx instead of %016llx; the file is corrupt",
                    (unsigned long long)r->sum, (unsigned long long)h->arrays);
}

/* Is s a word of lower-case letters that ends within `room` bytes? A word of this kind is safe to print. */
static bool is_word(const char *s, size_t room)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz-");
    return memchr(s, 0, room) && !s[n];
}

static bool check_head(const struct source *s, const struct wsb *h, struct err *e)
{
    if (h->order != ORDER)
        return file_bad(s, e,
                        "the .wsb file is in the byte order of another machine; save the matrix again on this machine");
    if (h->version != VERSION)
        return file_bad(s, e,
                        "this is a .wsb file of version %u, but only version %d can be read; save the matrix again",
                        h->version, VERSION);
    if (h->head != hash_of(h, offsetof(struct wsb, head)))
        return file_bad(s, e, "the checksum of the header is wrong; the file is corrupt");
    if (!is_word(h->field, sizeof h->field) || !is_word(h->symmetry, sizeof h->symmetry) ||
        !is_word(h->object, sizeof h->object) || !memchr(h->source, 0, sizeof h->source) || h->complex_values > 1)
        return file_bad(s, e, "the header holds text that warpspy does not write; the file is corrupt");
    return true;
}

/* The right sides that the header declares, without their arrays; fails if the file is too short for them. */
static bool sides_of(struct reader *r, const struct wsb *h, int64_t file_bytes, struct sides *t, struct err *e)
{
    int64_t parts = h->complex_values ? 2 : 1, n = h->right_sides, most = file_bytes / (int64_t)sizeof *t->b;
    *t = (struct sides){.b_each = parts * h->rows, .x_each = parts * h->cols};
    t->n = n;
    if (!n && !h->solutions) return true;
    bool x_fits = h->solutions == 0 || (h->solutions == n && n > 0 && t->x_each <= most / n);
    return (n > 0 && t->b_each <= most / n && x_fits) ||
           file_bad(r->s, e, "the %lld right sides and %lld solutions of the header do not fit in the file",
                    (long long)n, (long long)h->solutions);
}

/* Before anything is allocated, check that the sizes in the header agree with the length of the file. */
static bool check_size(struct reader *r, const struct wsb *h, struct sides *t, struct err *e)
{
    struct stat st;
    struct csr sizes = {.rows = h->rows, .cols = h->cols, .nnz = h->nnz};
    if (!file_sizes_any(r->s, h->rows, h->cols, h->nnz, e)) return false;
    if (fstat(r->fd, &st)) return fail_at(e, E_IO, r->s->where, "cannot read the file: %s", strerror(errno));
    if (!sides_of(r, h, st.st_size, t, e)) return false;
    int64_t end = layout_of(&sizes, h->complex_values, t, h->solutions).end;
    return end == st.st_size ||
           file_bad(r->s, e,
                    "the file has %lld bytes, but a matrix of %lld x %lld with %lld entries takes %lld bytes%s",
                    (long long)st.st_size, (long long)h->rows, (long long)h->cols, (long long)h->nnz, (long long)end,
                    st.st_size < end ? "; it is truncated" : "");
}

static void describe(const struct wsb *h, struct load_info *info)
{
    char source[160], notes[120] = "";
    memcpy(info->field, h->field, sizeof info->field);
    memcpy(info->symmetry, h->symmetry, sizeof info->symmetry);
    memcpy(info->object, h->object, sizeof info->object);
    info->nnz_stored = h->nnz_stored;
    info->duplicates = h->duplicates;
    info->explicit_zeros = h->explicit_zeros;
    if (!h->source[0]) return;
    if (h->warnings) snprintf(notes, sizeof notes, ", which was read with %s", how_many(h->warnings, "note").text);
    print_safe(h->source, strlen(h->source), 100, source, sizeof source);
    file_note(info, "a copy of %s%s", source, notes);
}

static bool sides_new(struct sides *t, bool solutions, struct err *e)
{
    if (!t->n) return true;
    t->b = mem_new(t->n * t->b_each, sizeof *t->b, "the right sides of the file", e);
    if (t->b && solutions) t->x = mem_new(t->n * t->x_each, sizeof *t->x, "the solutions of the file", e);
    return t->b && (t->x || !solutions);
}

static bool read_file(struct reader *r, struct csr *A, struct load_info *info, struct err *e)
{
    struct sides *t = r->s->sides;
    struct wsb h;
    struct err why = {0};
    if (read_at(r->fd, (char *)&h, sizeof h, 0) != (int64_t)sizeof h)
        return file_bad(r->s, e, "the file ends within its header of %d bytes; it is truncated", HEAD);
    if (h.more != hash_of(&h, offsetof(struct wsb, more))) h.right_sides = h.solutions = 0;
    if (!check_head(r->s, &h, e) || !check_size(r, &h, t, e) ||
        !csr_new_any(A, h.rows, h.cols, h.nnz, h.complex_values, e) || !sides_new(t, h.solutions, e) ||
        !read_arrays(r, &h, A, t, e))
        return false;
    if (!csr_check(A, &why)) return file_bad(r->s, e, "the arrays are not a valid matrix: %s", why.text);
    describe(&h, info);
    return true;
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct reader r = {.s = s, .watch = w, .fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (r.fd < 0) return fail_at(e, E_IO, s->where, "cannot open the file: %s", strerror(errno));
    bool ok = read_file(&r, A, info, e);
    close(r.fd);
    if (!ok) csr_free(A);
    return ok;
}

static bool recognises(const char *begin, int64_t n)
{
    return n >= (int64_t)sizeof magic && !memcmp(begin, magic, sizeof magic);
}

/* ---- writing ---- */

static bool hash_arrays(const struct layout *l, struct watch *w, uint64_t *out, struct err *e)
{
    uint64_t sum = 0, hash[TURN];
    for (int i = 0; i < l->n; i++)
        for (int64_t k = 0, n = pieces_of(&l->part[i]); k < n; k += TURN) {
            int64_t to = n - k < TURN ? n : k + TURN;
            if (!watch_tick(w, "checksum", l->part[i].at + k * PIECE, l->end, e)) return false;
#pragma omp parallel for schedule(dynamic, 1) if (to - k > 1)
            for (int64_t j = k; j < to; j++)
                hash[j - k] = hash_of(l->part[i].data + j * PIECE, (size_t)piece_bytes(&l->part[i], j));
            for (int64_t j = k; j < to; j++) sum = stir(sum, hash[j - k]);
        }
    *out = sum;
    return true;
}

static void fill_head(struct wsb *h, const struct csr *A, const struct sides *t, const struct load_info *info)
{
    memcpy(h->magic, magic, sizeof magic);
    h->order = ORDER;
    h->version = VERSION;
    h->right_sides = t->n;
    h->solutions = t->x ? t->n : 0;
    h->rows = A->rows;
    h->cols = A->cols;
    h->nnz = h->nnz_stored = A->nnz;
    h->complex_values = A->imag != NULL;
    snprintf(h->object, sizeof h->object, "%s", info && info->object[0] ? info->object : "matrix");
    snprintf(h->field, sizeof h->field, "%s", info && info->field[0] ? info->field : A->imag ? "complex" : "real");
    snprintf(h->symmetry, sizeof h->symmetry, "%s", info && info->symmetry[0] ? info->symmetry : "general");
    if (info) {
        if (info->field[0]) h->nnz_stored = info->nnz_stored;
        h->duplicates = info->duplicates;
        h->explicit_zeros = info->explicit_zeros;
        h->warnings = (uint32_t)info->nwarnings;
        snprintf(h->source, sizeof h->source, "%s", info->file);
    }
}

static bool write_part(struct newfile *f, const struct part *p, struct watch *w, int64_t total, struct err *e)
{
    static const char zeros[ALIGN];
    for (int64_t k = 0; k < pieces_of(p); k++)
        if (!watch_tick(w, "writing", p->at + k * PIECE, total, e) ||
            !newfile_write(f, p->data + k * PIECE, piece_bytes(p, k), e))
            return false;
    return newfile_write(f, zeros, aligned(p->bytes) - p->bytes, e);
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    struct newfile f;
    const struct sides none = {0}, *t = sides ? sides : &none;
    struct layout l = layout_of(A, A->imag != NULL, t, t->x ? t->n : 0);
    union {
        struct wsb head;
        char bytes[HEAD];
    } page = {.bytes = {0}};
    fill_head(&page.head, A, t, info);
    if (!hash_arrays(&l, w, &page.head.arrays, e)) return false;
    page.head.head = hash_of(&page.head, offsetof(struct wsb, head));
    if (t->n) page.head.more = hash_of(&page.head, offsetof(struct wsb, more));
    bool ok = newfile_open(&f, path, force, e) && newfile_write(&f, page.bytes, HEAD, e);
    for (int i = 0; ok && i < l.n; i++) ok = write_part(&f, &l.part[i], w, l.end, e);
    return newfile_close(&f, ok, e);
}

const struct file_kind file_wsb = {
    .name = ".wsb",
    .endings = ".wsb",
    .about = "warpspy's fast binary cache",
    .recognises = recognises,
    .large = true,
    .load = load,
    .save = save,
    .saves_sides = true,
};
