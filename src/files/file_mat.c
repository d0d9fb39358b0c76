/* MATLAB's .mat files. mat_plain.c reads those of level 4, and of level 5 without compression and structures; libmatio
   reads the others of level 5, in a child process. libmatio is opened only when it is first needed, since opening it
   earlier would slow down the start of the program. */
#include "base/mem.h"
#include "base/shared.h"
#include "load_info.h"
#include "mat.h"
#include "matrix/csr.h"
#include "matrix_library.h"

#include <dlfcn.h>
#include <matio.h>
#include <string.h>
#include <unistd.h>

enum { SEND = 1 << 13 };

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

/* List a sparse variable, or a sparse field of a structure, and choose it if it is the one to read. */
static void consider(struct child_matrix *m, matvar_t *v, const char *outer, const char *part, matvar_t **chosen)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s%s%s", outer ? outer : "", outer ? "." : "", v->name ? v->name : "?");
    if (variable_chosen(&m->names, name, part)) *chosen = v;
}

/* Consider the sparse fields of a structure, such as the field A in the files of the SuiteSparse collection. If one of
   them is chosen, *outer receives the structure. */
static void consider_fields(const struct matio *lib, struct child_matrix *m, mat_t *file, matvar_t *v, const char *part,
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
static matvar_t *choose(const struct matio *lib, struct child_matrix *m, mat_t *file, const char *part,
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
        if (!child_send(fd, out, (size_t)m * sizeof *out)) return false;
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
    return child_send(fd, out, rows * sizeof *out);
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
    return parts_of(v, v->data, &re, &im) && child_send_numbers(fd, re, n, number, bytes) &&
           (!im || child_send_numbers(fd, im, n, number, bytes));
}

static bool send_sides(int fd, const matvar_t *A, matvar_t *const side[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        if (is_sendable(side[i], A, i) && !send_side(fd, side[i])) return false;
    return true;
}

static void describe_sides(struct child_matrix *m, const matvar_t *A, matvar_t *const side[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        if (!is_sendable(side[i], A, i)) continue;
        m->side[i].rows = (int64_t)side[i]->dims[0];
        m->side[i].cols = (int64_t)side[i]->dims[1];
        m->side[i].complex_values = side[i]->isComplex != 0;
    }
}

static void send_matrix(int fd, struct child_matrix *m, const matvar_t *v, matvar_t *const side[SIDES])
{
    size_t bytes = 0;
    file_number *number = number_of(v->data_type, &bytes);
    if (!number || !fits_sizes(v))
        child_give_up(fd, E_INPUT, "the arrays of the sparse variable do not match its sizes; the file is corrupt");
    const mat_sparse_t *a = v->data;
    m->rows = (int64_t)v->dims[0];
    m->cols = (int64_t)v->dims[1];
    m->nnz = a->jc[a->njc - 1];
    m->complex_values = v->isComplex && m->nnz;
    m->logical = v->isLogical;
    m->wide_integers = v->data_type == MAT_T_INT64 || v->data_type == MAT_T_UINT64;
    describe_sides(m, v, side);
    const mat_complex_split_t *parts = a->data;
    const void *re = m->complex_values ? parts->Re : a->data, *im = m->complex_values ? parts->Im : NULL;
    if (m->complex_values && (!re || !im))
        child_give_up(fd, E_INPUT, "the complex variable lacks its real or imaginary part");
    bool ok = child_send(fd, m, sizeof *m) && send_indices(fd, a->jc, m->cols + 1) && send_indices(fd, a->ir, m->nnz) &&
              child_send_numbers(fd, re, m->nnz, number, bytes) &&
              (!im || child_send_numbers(fd, im, m->nnz, number, bytes)) && send_sides(fd, v, side);
    _exit(!ok);
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

static void child(int fd, const char *path, const char *part)
{
    struct matio lib;
    struct child_matrix m = {.code = E_NONE};
    struct err e = {0};
    if (!open_matio(&lib, &e)) child_give_up(fd, e.code, e.text);
    mat_t *file = lib.open(path, 0);
    if (!file) child_give_up(fd, E_INPUT, "libmatio cannot open the file; it is truncated or corrupt");
    matvar_t *side[SIDES] = {0}, *outer = NULL, *v = choose(&lib, &m, file, part, side, &outer);
    if (!v) child_give_up_choice(fd, &m.names);
    if (outer) sides_of_structure(&lib, outer, side);
    v = sparse_part(&lib, v, m.names.name);
    if (v) send_matrix(fd, &m, v, side);
    child_give_up(fd, E_INPUT, "the variable cannot be read");
}

static const struct matrix_library matio = {"libmatio", "sparse variable", child};

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

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    bool plain = false;
    if (!mat_plain_load(s, is_level_4(s->begin, s->n), &plain, w, A, info, e)) return false;
    return plain || matrix_library_load(&matio, s, w, A, info, e);
}

static bool recognises(const char *begin, int64_t n)
{
    return (n >= MAT_HEADER && !memcmp(begin, "MATLAB", 6)) || is_level_4(begin, n);
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    return mat_save(path, force, A, sides, load_info_is_pattern(info) && values_are_ones(A), comment, w, e);
}

const struct file_kind file_mat = {
    .name = "MATLAB .mat",
    .endings = ".mat",
    .about = "MATLAB's .mat, levels 4 and 5",
    .has_parts = true,
    .recognises = recognises,
    .load = load,
    .save = save,
    .saves_sides = true,
};
