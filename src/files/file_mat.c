/* MATLAB's .mat files of versions 5 and 7.3, read by libmatio. libmatio uses HDF5. Both libraries are opened
   only when they are first needed, since opening them earlier would slow down the start of the program. The libraries
   run in a child process, because they crash on some damaged files, print to the terminal, cannot be cancelled, and
   allocate as much memory as a file requests. The child process sends the matrix to the program through a pipe. */
#include "base/err.h"
#include "base/mem.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "sides.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <matio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES_ROOM = 400, NAME_ROOM = 128, WAIT_MS = 10, SEND = 1 << 13 };

/* The right sides b and the solutions x, which a file may contain beside the matrix. */
enum { SIDE_B, SIDE_X, SIDES };

/* The data in the pipe begin with this header. If the header reports no error, int32 pointers, int32 indices and double
   values follow it, then the values of b and of x, column by column: first all real parts, then the imaginary parts. */
struct message {
    int32_t code; /* E_NONE, or an error whose message is in text */
    int32_t complex_values, logical;
    int64_t rows, cols, nnz;
    int64_t found; /* number of sparse variables */
    struct {
        int64_t rows, cols; /* 0: the file does not contain it */
        int32_t complex_values;
    } side[SIDES];
    char name[NAME_ROOM];  /* name of the variable that is read */
    char text[NAMES_ROOM]; /* names of all sparse variables, or the error message */
};

/* ---- the child process ---- */

struct matio {
    mat_t *(*open)(const char *, int);
    int (*close)(mat_t *);
    matvar_t *(*next_info)(mat_t *);
    int (*read_all)(mat_t *, matvar_t *);
    void (*free)(matvar_t *);
    matvar_t *(*field)(matvar_t *, const char *, size_t);
    char *const *(*fieldnames)(const matvar_t *);
    unsigned (*fields)(matvar_t *);
};

static bool open_matio(struct matio *m, struct err *e)
{
    static const char *const names[] = {"libmatio.so.11", "libmatio.so.13", "libmatio.so.12", "libmatio.so"};
    const struct {
        const char *name;
        void *to;
    } table[] = {
        {"Mat_Open", &m->open},
        {"Mat_Close", &m->close},
        {"Mat_VarReadNextInfo", &m->next_info},
        {"Mat_VarReadDataAll", &m->read_all},
        {"Mat_VarFree", &m->free},
        {"Mat_VarGetStructFieldByName", &m->field},
        {"Mat_VarGetStructFieldnames", &m->fieldnames},
        {"Mat_VarGetNumberOfFields", &m->fields},
    };
    void *lib = shared_open(COUNT(names), names, e), *symbol;
    for (int i = 0; lib && i < COUNT(table); i++) {
        if (!(symbol = dlsym(lib, table[i].name)))
            return fail(e, E_UNSUPPORTED, "this libmatio has no function %s; install libmatio11 or convert the file",
                        table[i].name);
        memcpy(table[i].to, &symbol, sizeof symbol);
    }
    if (lib) return true;
    return fail(e, E_UNSUPPORTED,
                ".mat files need libmatio, which is not installed; install libmatio11 or convert the file");
}

static bool send_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t r = write(fd, p, n);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return false;
        p += r;
        n -= (size_t)r;
    }
    return true;
}

/* Send an error to the parent and exit. */
static _Noreturn void give_up(int fd, enum code code, const char *text)
{
    struct message m = {.code = (int32_t)code};
    snprintf(m.text, sizeof m.text, "%s", text);
    send_all(fd, &m, sizeof m);
    _exit(1);
}

/* List a sparse variable, or a sparse field of a structure. Choose the variable if none is chosen yet and `part` is
   NULL or equals its name. */
static void consider(struct message *m, matvar_t *v, const char *outer, const char *part, matvar_t **chosen)
{
    char name[NAME_ROOM];
    size_t used = strlen(m->text);
    snprintf(name, sizeof name, "%s%s%s", outer ? outer : "", outer ? "." : "", v->name ? v->name : "?");
    if (used + strlen(name) + 8 < sizeof m->text)
        snprintf(m->text + used, sizeof m->text - used, "%s%s", m->found ? ", " : "", name);
    m->found++;
    if (*chosen || (part && strcmp(part, name))) return;
    *chosen = v;
    memcpy(m->name, name, sizeof name);
}

/* Consider the sparse fields of a structure, such as the field A in the files of the SuiteSparse collection. If one of
   them is chosen, *outer receives the structure. */
static void consider_fields(const struct matio *lib, struct message *m, mat_t *file, matvar_t *v, const char *part,
                            matvar_t **chosen, matvar_t **outer)
{
    if (lib->read_all(file, v)) return;
    char *const *names = lib->fieldnames(v);
    for (unsigned i = 0, n = lib->fields(v); names && i < n; i++) {
        matvar_t *f = lib->field(v, names[i], 0);
        const matvar_t *before = *chosen;
        if (f && f->class_type == MAT_C_SPARSE) consider(m, f, v->name, part, chosen);
        if (*chosen != before) *outer = v;
    }
}

static bool is_numeric(const matvar_t *v)
{
    return v->class_type == MAT_C_SPARSE || (v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64);
}

/* The names of right sides and solutions. B and X are often other matrices, so their case matters. */
static const char *const side_names[SIDES] = {"b", "x"};

/* Keep the variable v, which is not part of a structure, if its name is that of right sides or solutions. */
static bool keep_side(const struct matio *lib, mat_t *file, matvar_t *v, matvar_t *side[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        bool named = v->name && !strcmp(v->name, side_names[i]);
        if (!named || side[i] || !is_numeric(v)) continue;
        if (v->class_type != MAT_C_SPARSE && lib->read_all(file, v)) return false;
        side[i] = v;
        return true;
    }
    return false;
}

/* Find the variable to read and load its data. Returns NULL if there is no such variable. All other variables are
   freed, except for right sides and solutions, which `side` receives, and the structure of the variable, which *outer
   receives. */
static matvar_t *choose(const struct matio *lib, struct message *m, mat_t *file, const char *part,
                        matvar_t *side[SIDES], matvar_t **outer)
{
    matvar_t *chosen = NULL;
    for (matvar_t *v; (v = lib->next_info(file));) {
        matvar_t *before = chosen;
        bool kept = false;
        if (v->class_type == MAT_C_SPARSE) {
            consider(m, v, NULL, part, &chosen);
            kept = chosen != v && keep_side(lib, file, v, side);
            if ((kept || chosen == v) && lib->read_all(file, v)) v->data = NULL;
        } else if (v->class_type == MAT_C_STRUCT)
            consider_fields(lib, m, file, v, part, &chosen, outer);
        else
            kept = keep_side(lib, file, v, side);
        if (chosen == before && !kept) lib->free(v);
    }
    return chosen;
}

static file_number *number_of(enum matio_types type, size_t *bytes)
{
    static const struct {
        enum matio_types type;
        char kind;
        int bytes;
    } table[] = {
        {MAT_T_DOUBLE, 'f', 8}, {MAT_T_SINGLE, 'f', 4}, {MAT_T_INT8, 'i', 1},  {MAT_T_UINT8, 'u', 1},
        {MAT_T_INT16, 'i', 2},  {MAT_T_UINT16, 'u', 2}, {MAT_T_INT32, 'i', 4}, {MAT_T_UINT32, 'u', 4},
        {MAT_T_INT64, 'i', 8},  {MAT_T_UINT64, 'u', 8},
    };
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].type == type) {
            *bytes = (size_t)table[i].bytes;
            return file_number_of(table[i].kind, table[i].bytes);
        }
    return NULL;
}

static bool send_indices(int fd, const mat_uint32_t *p, int64_t n)
{
    int32_t out[SEND];
    for (int64_t k = 0; k < n;) {
        int64_t m = n - k < SEND ? n - k : SEND;
        for (int64_t i = 0; i < m; i++) out[i] = p[k + i] > INT32_MAX ? -1 : (int32_t)p[k + i];
        if (!send_all(fd, out, (size_t)m * sizeof *out)) return false;
        k += m;
    }
    return true;
}

static bool send_values(int fd, const char *p, int64_t n, file_number *number, size_t bytes)
{
    double out[SEND];
    for (int64_t k = 0; k < n;) {
        int64_t m = n - k < SEND ? n - k : SEND;
        for (int64_t i = 0; i < m; i++) out[i] = number(p + (size_t)(k + i) * bytes);
        if (!send_all(fd, out, (size_t)m * sizeof *out)) return false;
        k += m;
    }
    return true;
}

/* Do the arrays that libmatio read for v have the lengths that the sizes of v require? */
static bool fits_sizes(const matvar_t *v)
{
    const mat_sparse_t *a = v->data;
    if (!a || v->rank != 2 || !a->jc || v->dims[0] > INT32_MAX || v->dims[1] > INT32_MAX - 1) return false;
    if (a->njc != v->dims[1] + 1) return false;
    mat_uint32_t n = a->jc[a->njc - 1];
    return n <= a->nir && n <= a->ndata && (n == 0 || (a->ir && a->data));
}

/* ---- right sides and solutions ---- */

/* The real and imaginary parts of the values of v. */
static bool parts_of(const matvar_t *v, const void *data, const char **re, const char **im)
{
    const mat_complex_split_t *parts = data;
    *re = v->isComplex && parts ? parts->Re : data;
    *im = v->isComplex && parts ? parts->Im : NULL;
    return *re && (*im || !v->isComplex);
}

/* Is v an array of numbers that can be sent? A square sparse b of the size of A is the second matrix of a pencil (A,
 * B). */
static bool is_sendable(const matvar_t *v, const matvar_t *A, int side)
{
    size_t bytes;
    const char *re, *im;
    if (!v || !v->data || v->rank != 2 || !is_numeric(v) || !number_of(v->data_type, &bytes)) return false;
    if (!v->dims[0] || !v->dims[1] || v->dims[0] > INT32_MAX || v->dims[1] > INT32_MAX) return false;
    bool square = v->dims[0] == v->dims[1] && v->dims[0] > 1, pencil = v->dims[1] == A->dims[1] && square;
    if (v->class_type == MAT_C_SPARSE)
        return fits_sizes(v) && !(side == SIDE_B && pencil) &&
               (v->isComplex == 0 || ((const mat_sparse_t *)v->data)->ndata == 0 ||
                parts_of(v, ((const mat_sparse_t *)v->data)->data, &re, &im));
    return parts_of(v, v->data, &re, &im);
}

/* Send one column of a sparse array. `out` has room for it. */
static bool send_sparse_column(int fd, const mat_sparse_t *a, size_t c, const char *p, file_number *number,
                               size_t bytes, double *out, size_t rows)
{
    memset(out, 0, rows * sizeof *out);
    for (mat_uint32_t k = a->jc[c]; k < a->jc[c + 1] && k < a->nir && k < a->ndata; k++)
        if (a->ir[k] < rows) out[a->ir[k]] += number(p + k * bytes);
    return send_all(fd, out, rows * sizeof *out);
}

static bool send_sparse(int fd, const matvar_t *v, bool imaginary, file_number *number, size_t bytes)
{
    const char *re = NULL, *im = NULL;
    const mat_sparse_t *a = v->data;
    double *out = mem_new((int64_t)v->dims[0], sizeof *out, "a column", NULL);
    bool ok = out && (!a->ndata || parts_of(v, a->data, &re, &im));
    for (size_t c = 0; ok && c < v->dims[1]; c++)
        ok = send_sparse_column(fd, a, c, imaginary ? im : re, number, bytes, out, v->dims[0]);
    mem_free(out);
    return ok;
}

static bool send_side(int fd, const matvar_t *v)
{
    size_t bytes = 0;
    const char *re = NULL, *im = NULL;
    file_number *number = number_of(v->data_type, &bytes);
    int64_t n = (int64_t)v->dims[0] * (int64_t)v->dims[1];
    if (v->class_type == MAT_C_SPARSE)
        return send_sparse(fd, v, false, number, bytes) && (!v->isComplex || send_sparse(fd, v, true, number, bytes));
    return parts_of(v, v->data, &re, &im) && send_values(fd, re, n, number, bytes) &&
           (!im || send_values(fd, im, n, number, bytes));
}

static bool send_sides(int fd, const matvar_t *A, matvar_t *const side[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        if (is_sendable(side[i], A, i) && !send_side(fd, side[i])) return false;
    return true;
}

static void describe_sides(struct message *m, const matvar_t *A, matvar_t *const side[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        if (!is_sendable(side[i], A, i)) continue;
        m->side[i].rows = (int64_t)side[i]->dims[0];
        m->side[i].cols = (int64_t)side[i]->dims[1];
        m->side[i].complex_values = side[i]->isComplex != 0;
    }
}

static _Noreturn void send_matrix(int fd, struct message *m, const matvar_t *v, matvar_t *const side[SIDES])
{
    size_t bytes = 0;
    file_number *number = number_of(v->data_type, &bytes);
    if (!number || !fits_sizes(v))
        give_up(fd, E_INPUT, "the arrays of the sparse variable do not match its sizes; the file is corrupt");
    const mat_sparse_t *a = v->data;
    m->rows = (int64_t)v->dims[0];
    m->cols = (int64_t)v->dims[1];
    m->nnz = a->jc[a->njc - 1];
    m->complex_values = v->isComplex && m->nnz;
    m->logical = v->isLogical;
    describe_sides(m, v, side);
    const mat_complex_split_t *parts = a->data;
    const void *re = m->complex_values ? parts->Re : a->data, *im = m->complex_values ? parts->Im : NULL;
    if (m->complex_values && (!re || !im))
        give_up(fd, E_INPUT, "the complex variable lacks its real or imaginary part");
    bool ok = send_all(fd, m, sizeof *m) && send_indices(fd, a->jc, m->cols + 1) && send_indices(fd, a->ir, m->nnz) &&
              send_values(fd, re, m->nnz, number, bytes) && (!im || send_values(fd, im, m->nnz, number, bytes)) &&
              send_sides(fd, v, side);
    _exit(!ok);
}

/* Limit the child to the memory that is available now, so that only the child fails if it needs more. */
static void limit_memory(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    bool ok = f && fscanf(f, "%*s %*s %*s %*s %*s %lld", &pages) == 1;
    if (f) fclose(f);
    struct rlimit limit = {.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)mem_available()};
    limit.rlim_max = limit.rlim_cur;
    if (ok) setrlimit(RLIMIT_DATA, &limit);
}

/* Return v if it is sparse; if v is a structure, return the field whose name is the last part of `name`, or NULL if
   there is no such field. */
static matvar_t *sparse_part(const struct matio *lib, matvar_t *v, const char *name)
{
    if (v->class_type == MAT_C_SPARSE) return v;
    const char *dot = strrchr(name, '.');
    return dot ? lib->field(v, dot + 1, 0) : NULL;
}

/* The right sides and solutions beside a matrix in the structure v. */
static void sides_of_structure(const struct matio *lib, matvar_t *v, matvar_t *side[SIDES])
{
    for (int i = 0; i < SIDES; i++) side[i] = lib->field(v, side_names[i], 0);
}

static _Noreturn void child(int fd, const char *path, const char *part)
{
    struct matio lib;
    struct message m = {.code = E_NONE};
    char text[NAMES_ROOM + NAME_ROOM + 128];
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i < 3; i++) dup2(null, i);
    signal(SIGINT, SIG_IGN);
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (int i = 0; i < COUNT(crashes); i++) signal(crashes[i], SIG_DFL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    limit_memory();
    struct err e = {0};
    if (!open_matio(&lib, &e)) give_up(fd, e.code, e.text);
    mat_t *file = lib.open(path, 0);
    if (!file) give_up(fd, E_INPUT, "libmatio cannot open the file; it is truncated or corrupt");
    matvar_t *side[SIDES] = {0}, *outer = NULL, *v = choose(&lib, &m, file, part, side, &outer);
    if (!m.found) give_up(fd, E_INPUT, "the file has no sparse variable");
    if (v) {
        if (outer) sides_of_structure(&lib, outer, side);
        v = sparse_part(&lib, v, m.name);
        if (v) send_matrix(fd, &m, v, side);
        give_up(fd, E_INPUT, "the variable cannot be read");
    }
    snprintf(text, sizeof text, "%s", m.text);
    give_up(fd, E_USAGE, text);
}

/* ---- the parent process ---- */

struct mat_reader {
    struct source *s;
    struct watch *watch;
    int fd;
    int64_t done;  /* number of bytes received so far */
    int64_t total; /* total number of bytes, or 0 until it is known */
};

/* Receive exactly n bytes. Waits in short steps so that the user can cancel. */
static bool receive(struct mat_reader *r, void *to, int64_t n, struct err *e)
{
    for (int64_t got = 0; got < n;) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        if (!watch_tick(r->watch, "reading", r->total ? r->done : 0, r->total, e)) return false;
        if (poll(&p, 1, WAIT_MS) <= 0) continue;
        int64_t most = n - got < 1 << 20 ? n - got : 1 << 20;
        ssize_t k = read(r->fd, (char *)to + got, (size_t)most);
        if (k < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (k <= 0) return file_bad(r->s, e, "libmatio cannot read the file; it is corrupt");
        got += k;
        r->done += k;
    }
    return true;
}

static bool refuse(const struct source *s, const struct message *m, struct err *e)
{
    char text[NAMES_ROOM * 2], part[NAME_ROOM * 4];
    print_safe(m->text, strlen(m->text), 300, text, sizeof text);
    if (m->code == E_UNSUPPORTED) return fail_at(e, E_UNSUPPORTED, s->where, "%s", text);
    if (m->code == E_USAGE)
        return fail_at(e, E_USAGE, s->where, "no sparse variable \"%s\"; the file has %s",
                       print_safe(s->part, strlen(s->part), 60, part, sizeof part), text);
    return file_bad(s, e, "%s", text);
}

static bool receive_arrays(struct mat_reader *r, const struct message *m, struct csr *C, struct err *e)
{
    if (!file_sizes(r->s, m->rows, m->cols, m->nnz, e) || !csr_new(C, m->cols, m->rows, m->nnz, m->complex_values, e))
        return false;
    r->done = 0;
    r->total = (m->cols + 1) * 4 + m->nnz * (m->complex_values ? 20 : 12);
    return receive(r, C->rowptr, (m->cols + 1) * 4, e) && receive(r, C->col, m->nnz * 4, e) &&
           receive(r, C->val, m->nnz * 8, e) && (!C->imag || receive(r, C->imag, m->nnz * 8, e));
}

static bool receive_side(struct mat_reader *r, const struct message *m, int i, struct dense_array *d, struct err *e)
{
    int64_t rows = m->side[i].rows, cols = m->side[i].cols, n = rows * cols;
    if (!rows) return true;
    if (!dense_array_new(d, rows, cols, m->side[i].complex_values, e)) return false;
    r->done = 0;
    r->total = n * (d->imag ? 16 : 8);
    return receive(r, d->val, n * 8, e) && (!d->imag || receive(r, d->imag, n * 8, e));
}

/* A sparse array of right sides may be too large to be stored densely. */
static bool has_memory(const struct message *m, struct load_info *info)
{
    double need = 0;
    for (int i = 0; i < SIDES; i++)
        need += (double)m->side[i].rows * (double)m->side[i].cols * (m->side[i].complex_values ? 32 : 16);
    if (need < (double)mem_available()) return true;
    file_note(info, "b is %lld x %lld, too large for the memory: b was left out", (long long)m->side[SIDE_B].rows,
              (long long)m->side[SIDE_B].cols);
    return false;
}

static bool read_sides(struct mat_reader *r, const struct message *m, const struct csr *A, struct load_info *info,
                       struct err *e)
{
    struct dense_array side[SIDES] = {{0}};
    bool ok = !has_memory(m, info) ||
              (receive_side(r, m, SIDE_B, &side[SIDE_B], e) && receive_side(r, m, SIDE_X, &side[SIDE_X], e) &&
               sides_fill(r->s->sides, A, &side[SIDE_B], &side[SIDE_X], info, e));
    for (int i = 0; i < SIDES; i++) dense_array_free(&side[i]);
    return ok;
}

static bool read_pipe(struct mat_reader *r, struct csr *A, struct load_info *info, struct err *e)
{
    struct message m;
    struct csr C = {0};
    char names[NAMES_ROOM * 2], name[NAME_ROOM * 4];
    if (!receive(r, &m, sizeof m, e)) return false;
    m.text[sizeof m.text - 1] = m.name[sizeof m.name - 1] = 0;
    if (m.code) return refuse(r->s, &m, e);
    if (!receive_arrays(r, &m, &C, e)) {
        csr_free(&C);
        return false;
    }
    print_safe(m.name, strlen(m.name), 60, name, sizeof name);
    if (m.found > 1 && !r->s->part)
        file_note(info, "read %s, the first of %lld sparse variables: %s", name, (long long)m.found,
                  print_safe(m.text, strlen(m.text), 80, names, sizeof names));
    snprintf(info->field, sizeof info->field, "%s", m.logical ? "pattern" : m.complex_values ? "complex" : "real");
    if (!file_finish(r->s, &C, true, MIRROR_NOT, r->watch, A, info, e)) return false;
    if (read_sides(r, &m, A, info, e)) return true;
    csr_free(A);
    return false;
}

static bool isalpha_ascii(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A file of version 4 has no file header, but begins with the header of a matrix: five 32-bit integers. The first
   integer is 1000 times the byte order + 10 times the precision + the type, where the type is 0 (full), 1 (text) or 2
   (sparse). The last integer is the length of the name, which follows it. */
static bool is_level_4(const char *begin, int64_t n)
{
    uint32_t head[5];
    if (n < (int64_t)sizeof head + 2) return false;
    memcpy(head, begin, sizeof head);
    bool turned = head[0] > 5000;
    for (int i = 0; turned && i < 5; i++) head[i] = __builtin_bswap32(head[i]);
    uint32_t type = head[0] % 10, precision = head[0] / 10 % 10, zero = head[0] / 100 % 10, order = head[0] / 1000;
    const char *name = begin + sizeof head;
    return type <= 2 && precision <= 5 && !zero && order <= 1 && head[1] < 1u << 31 && head[2] < 1u << 31 &&
           head[3] <= 1 && head[4] > 1 && head[4] <= 64 && n >= (int64_t)(sizeof head + head[4]) &&
           strnlen(name, head[4]) == head[4] - 1 && isalpha_ascii(*name);
}

static bool is_hdf5(const char *begin, int64_t n)
{
    return n >= 8 && !memcmp(begin, "\x89HDF\r\n\x1a\n", 8);
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    int ends[2];
    if (is_hdf5(s->begin, s->n)) /* MATLAB puts a header of 512 bytes before its HDF5 */
        return file_bad(s, e,
                        "this is an HDF5 file that MATLAB did not write; in Python, read its arrays with h5py and "
                        "write the matrix with scipy.sparse.save_npz");
    if (is_level_4(s->begin, s->n))
        return file_bad(
            s, e,
            "this is a .mat file of version 4, but only versions 5 and 7.3 can be read; in MATLAB or Octave, "
            "load the file and run `save -v7 NEW.mat`; in Python, use scipy.io.loadmat and savemat");
    if (pipe2(ends, O_CLOEXEC))
        return fail_at(e, E_IO, s->where, "cannot create a pipe to libmatio: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1], s->path, s->part);
    }
    close(ends[1]);
    struct mat_reader r = {.s = s, .watch = w, .fd = ends[0]};
    bool ok = pid > 0 ? read_pipe(&r, A, info, e)
                      : fail_at(e, E_IO, s->where, "cannot start a process for libmatio: %s", strerror(errno));
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    return ok;
}

static bool recognises(const char *begin, int64_t n)
{
    return (n >= 128 && !memcmp(begin, "MATLAB", 6)) || is_hdf5(begin, n) || is_level_4(begin, n);
}

const struct file_kind file_mat = {
    .name = "MATLAB .mat",
    .endings = ".mat",
    .about = "MATLAB's .mat, versions 5 and 7.3, read by libmatio",
    .has_parts = true,
    .recognises = recognises,
    .load = load,
};
