/* Sparse matrices in HDF5 files, read by libhdf5 in a child process:
     MATLAB 7.3   a group with the attribute MATLAB_sparse (the number of rows), columns: jc, ir, data
     anndata      a group with the attribute shape and encoding-type csr_matrix or csc_matrix: indptr, indices, data
     10x          a group with the dataset shape, columns: indptr, indices, data
   Formats: MathWorks "MAT-File Format"; anndata.readthedocs.io, on-disk format; 10x Genomics, HDF5 feature-barcode
   matrix. */
#include "base/mem.h"
#include "hdf5_api.h"
#include "matrix_library.h"

#include <stdio.h>

#include <string.h>
#include <unistd.h>

enum { DEPTH = 4, LINKS = 10000, SLICE = 1 << 17, NAME = 64 };

struct reader {
    struct hdf5 h;
    int fd;
    const char *part;
    struct child_matrix m;
    hid matrix; /* the chosen group; 0: none */
    hid around; /* the group that contains it, with b and x; 0: none */
    int links;  /* visited so far; a group may contain itself */
};

/* A library does not read what a newer one wrote for itself alone. */
static _Noreturn void corrupt(const struct reader *r, const char *what)
{
    char text[NAMES_ROOM];
    const unsigned *v = r->h.release;
    snprintf(text, sizeof text, "%s cannot be read: the file is truncated or corrupt, or newer than libhdf5 %u.%u.%u",
             what, v[0], v[1], v[2]);
    child_give_up(r->fd, E_INPUT, text);
}

/* ---- attributes and datasets ---- */

static hid open_in(const struct reader *r, hid group, const char *name, enum hdf5_kind kind)
{
    hid object = r->h.link_exists(group, name, 0) > 0 ? r->h.open_object(group, name, 0) : -1;
    if (object < 0 || r->h.kind(object) == (int)kind) return object;
    r->h.close_object(object);
    return -1;
}

/* The text of an attribute; empty if there is none. */
static void text_of(const struct reader *r, hid object, const char *name, char *out, size_t size)
{
    const struct hdf5 *h = &r->h;
    out[0] = 0;
    if (h->attribute_exists(object, name) <= 0) return;
    hid a = h->open_attribute(object, name, 0), type = a < 0 ? -1 : h->attribute_type(a);
    char fixed[256] = "", *text = NULL;
    if (type < 0) return;
    if (h->is_variable_text(type) > 0 ? h->read_attribute(a, type, &text) < 0
                                      : h->type_size(type) >= sizeof fixed || h->read_attribute(a, type, fixed) < 0)
        return;
    snprintf(out, size, "%s", text ? text : fixed);
}

/* Read an attribute of n integers. */
static bool integers_of(const struct reader *r, hid object, const char *name, int n, int64_t *out)
{
    const struct hdf5 *h = &r->h;
    hsize length[2] = {1, 1};
    if (h->attribute_exists(object, name) <= 0) return false;
    hid a = h->open_attribute(object, name, 0), space = a < 0 ? -1 : h->attribute_space(a);
    if (space < 0 || h->axes(space) > 1 || h->lengths(space, length, NULL) < 0 || length[0] != (hsize)n) return false;
    return h->read_attribute(a, *h->native_long, out) >= 0;
}

/* The length of a dataset with one axis, or the number of elements with two; -1: neither. */
static int64_t items_of(const struct reader *r, hid set, hsize length[2])
{
    hid space = r->h.dataset_space(set);
    length[0] = 0;
    length[1] = 1;
    int axes = space < 0 ? -1 : r->h.axes(space);
    if (axes < 1 || axes > 2 || r->h.lengths(space, length, NULL) < 0) return -1;
    if (length[0] > INT32_MAX || length[1] > INT32_MAX) return -1;
    return (int64_t)(length[0] * length[1]);
}

/* Read items [from, from + n) of a dataset with one axis. */
static bool read_slice(const struct reader *r, hid set, hid type, hsize from, hsize n, void *to)
{
    const struct hdf5 *h = &r->h;
    hid file = h->dataset_space(set), memory = h->new_space(1, &n, NULL);
    return file >= 0 && memory >= 0 && h->select(file, 0, &from, NULL, &n, NULL) >= 0 &&
           h->read_dataset(set, type, memory, file, 0, to) >= 0;
}

static bool read_integers(const struct reader *r, hid set, int64_t from, int64_t n, int64_t *to)
{
    return read_slice(r, set, *r->h.native_long, (hsize)from, (hsize)n, to);
}

/* Send integers as int32; what does not fit becomes -1, which the parent refuses. */
static void send_integers(const struct reader *r, hid set, int64_t n, const char *what)
{
    static int64_t in[SLICE];
    static int32_t out[SLICE];
    for (int64_t k = 0; k < n; k += SLICE) {
        int64_t m = n - k < SLICE ? n - k : SLICE;
        if (!read_integers(r, set, k, m, in)) corrupt(r, what);
        for (int64_t i = 0; i < m; i++) out[i] = in[i] < 0 || in[i] > INT32_MAX ? -1 : (int32_t)in[i];
        if (!child_send(r->fd, out, (size_t)m * sizeof *out)) _exit(1);
    }
}

/* ---- numbers ---- */

/* The names of the parts of a complex number: MATLAB's, and those of h5py. */
static const char *const parts[2][2] = {{"real", "imag"}, {"r", "i"}};

/* Which names do the parts of the complex numbers in `set` have? -1: the numbers are not complex. */
static int complex_names(const struct reader *r, hid set)
{
    hid type = r->h.dataset_type(set);
    for (int i = 0; i < 2; i++)
        if (type >= 0 && r->h.type_class(type) == HDF5_COMPOUND && r->h.member_index(type, parts[i][0]) >= 0 &&
            r->h.member_index(type, parts[i][1]) >= 0)
            return i;
    return -1;
}

static bool is_numeric(const struct reader *r, hid set)
{
    hid type = r->h.dataset_type(set);
    int class = type < 0 ? -1 : r->h.type_class(type);
    return class == HDF5_INTEGER || class == HDF5_FLOAT || class == HDF5_ENUM || complex_names(r, set) >= 0;
}

static bool is_wide(const struct reader *r, hid set)
{
    hid type = r->h.dataset_type(set);
    return r->h.type_class(type) == HDF5_INTEGER && r->h.type_size(type) == 8;
}

/* The type in memory that makes HDF5 read one part of complex numbers, or all of real numbers, as doubles. */
static hid type_of_part(const struct reader *r, hid set, int part)
{
    int names = complex_names(r, set);
    if (names < 0) return *r->h.native_double;
    hid type = r->h.new_type(HDF5_COMPOUND, sizeof(double));
    if (type < 0 || r->h.add_member(type, parts[names][part], 0, *r->h.native_double) < 0)
        corrupt(r, "the values of the matrix");
    return type;
}

static void send_numbers(const struct reader *r, hid set, int64_t n, int part)
{
    static double out[SLICE];
    hid type = type_of_part(r, set, part);
    for (int64_t k = 0; k < n; k += SLICE) {
        int64_t m = n - k < SLICE ? n - k : SLICE;
        if (!read_slice(r, set, type, (hsize)k, (hsize)m, out)) corrupt(r, "the values of the matrix");
        if (!child_send(r->fd, out, (size_t)m * sizeof *out)) _exit(1);
    }
}

/* ---- the three ways to store a matrix ---- */

struct layout {
    const char *pointers, *indices;
    bool by_rows;
    int64_t rows, cols; /* cols: -1: as many as pointers, less one */
};

/* anndata's attributes, with the names that versions before 0.7 used. */
static bool is_anndata(const struct reader *r, hid group, struct layout *l)
{
    char kind[NAME];
    int64_t shape[2];
    text_of(r, group, "encoding-type", kind, sizeof kind);
    if (!kind[0]) text_of(r, group, "h5sparse_format", kind, sizeof kind);
    if (strncmp(kind, "csr", 3) && strncmp(kind, "csc", 3)) return false;
    if (!integers_of(r, group, "shape", 2, shape) && !integers_of(r, group, "h5sparse_shape", 2, shape)) return false;
    *l = (struct layout){"indptr", "indices", kind[2] == 'r', shape[0], shape[1]};
    return true;
}

static bool is_matlab(const struct reader *r, hid group, struct layout *l)
{
    int64_t rows;
    if (!integers_of(r, group, "MATLAB_sparse", 1, &rows)) return false;
    *l = (struct layout){"jc", "ir", false, rows, -1};
    return true;
}

static bool is_10x(const struct reader *r, hid group, struct layout *l)
{
    int64_t shape[2];
    hsize length[2];
    hid set = open_in(r, group, "shape", HDF5_DATASET);
    if (set < 0 || items_of(r, set, length) != 2 || !read_integers(r, set, 0, 2, shape)) return false;
    *l = (struct layout){"indptr", "indices", false, shape[0], shape[1]};
    return open_in(r, group, "indptr", HDF5_DATASET) >= 0 && open_in(r, group, "indices", HDF5_DATASET) >= 0;
}

static bool is_sparse(const struct reader *r, hid group, struct layout *l)
{
    return is_matlab(r, group, l) || is_anndata(r, group, l) || is_10x(r, group, l);
}

/* ---- the groups of the file ---- */

/* MATLAB's names of the fields of a structure have a dot, HDF5's paths a slash. Returns false if the name is too long.
 */
static bool name_in(const struct reader *r, hid group, const char *outer, const char *name, char out[NAME_ROOM])
{
    bool matlab = r->h.attribute_exists(group, "MATLAB_class") > 0;
    return snprintf(out, NAME_ROOM, "%s%s%s", outer, !*outer ? "" : matlab ? "." : "/", name) < NAME_ROOM;
}

/* List the sparse matrices in a group and in its groups. HDF5 sorts names, so that anndata's X precedes layers and raw.
   Names that begin with # are MATLAB's own. */
static void visit(struct reader *r, hid group, const char *outer, int depth)
{
    struct hdf5_group_info info;
    struct layout l;
    if (r->h.group_info(group, &info) < 0) corrupt(r, "the groups of the file");
    for (hsize i = 0; i < info.links && r->links < LINKS; i++, r->links++) {
        char link[NAME_ROOM], name[NAME_ROOM];
        if (r->h.link_name(group, ".", 0, 0, i, link, sizeof link, 0) < 0 || link[0] == '#') continue;
        hid inner = open_in(r, group, link, HDF5_GROUP);
        if (inner < 0 || !name_in(r, group, outer, link, name)) continue;
        if (!is_sparse(r, inner, &l)) {
            if (depth < DEPTH) visit(r, inner, name, depth + 1);
        } else if (variable_chosen(&r->m.names, name, r->part)) {
            r->matrix = inner;
            r->around = group;
            continue;
        }
        if (inner != r->around) r->h.close_object(inner);
    }
}

/* ---- right sides and solutions, MATLAB's alone: their axes are stored last first ---- */

/* The datasets b and x beside the matrix, or -1. */
static hid side_of(const struct reader *r, int i, hsize length[2])
{
    hid set =
        r->h.attribute_exists(r->matrix, "MATLAB_sparse") > 0 ? open_in(r, r->around, side_names[i], HDF5_DATASET) : -1;
    if (set < 0 || !is_numeric(r, set) || r->h.attribute_exists(set, "MATLAB_empty") > 0) return -1;
    return items_of(r, set, length) > 0 ? set : -1;
}

static void describe_sides(struct reader *r)
{
    for (int i = 0; i < SIDES; i++) {
        hsize length[2];
        hid set = side_of(r, i, length);
        if (set < 0) continue;
        r->m.side[i].rows = (int64_t)length[1];
        r->m.side[i].cols = (int64_t)length[0];
        r->m.side[i].complex_values = complex_names(r, set) >= 0;
    }
}

static void send_side(const struct reader *r, hid set, int64_t n)
{
    double *out = mem_new(n, sizeof *out, "right sides", NULL);
    int n_parts = complex_names(r, set) >= 0 ? 2 : 1;
    for (int part = 0; part < n_parts; part++)
        if (!out || r->h.read_dataset(set, type_of_part(r, set, part), 0, 0, 0, out) < 0 ||
            !child_send(r->fd, out, (size_t)n * sizeof *out))
            _exit(1);
    mem_free(out);
}

static void send_sides(const struct reader *r)
{
    hsize length[2];
    for (int i = 0; i < SIDES; i++) {
        hid set = side_of(r, i, length);
        if (set >= 0) send_side(r, set, (int64_t)(length[0] * length[1]));
    }
}

/* ---- the matrix ---- */

/* A matrix without nonzeros may lack the datasets of indices and values. */
static void describe(struct reader *r, const struct layout *l, hid ptr, hid idx, hid data)
{
    hsize length[2];
    int64_t pointers = items_of(r, ptr, length), last = 0;
    char class[NAME];
    if (pointers < 1 || !read_integers(r, ptr, pointers - 1, 1, &last)) corrupt(r, "the pointers of the matrix");
    r->m.rows = l->rows;
    r->m.cols = l->cols < 0 ? pointers - 1 : l->cols;
    r->m.nnz = last;
    r->m.by_rows = l->by_rows;
    r->m.names_one = r->h.attribute_exists(r->matrix, "MATLAB_sparse") <= 0;
    if ((l->by_rows ? r->m.rows : r->m.cols) != pointers - 1 || last < 0)
        child_give_up(r->fd, E_INPUT, "the pointers of the sparse group do not match its shape; the file is corrupt");
    if (!last) return;
    if (data < 0 || idx < 0 || items_of(r, idx, length) < last || items_of(r, data, length) < last ||
        !is_numeric(r, data))
        corrupt(r, "the arrays of the matrix");
    text_of(r, r->matrix, "MATLAB_class", class, sizeof class);
    r->m.complex_values = complex_names(r, data) >= 0;
    r->m.logical = !strcmp(class, "logical") || r->h.type_class(r->h.dataset_type(data)) == HDF5_ENUM;
    r->m.wide_integers = is_wide(r, data);
}

static void send_matrix(struct reader *r)
{
    struct layout l;
    if (!is_sparse(r, r->matrix, &l)) corrupt(r, "the group of the matrix");
    hid ptr = open_in(r, r->matrix, l.pointers, HDF5_DATASET), idx = open_in(r, r->matrix, l.indices, HDF5_DATASET);
    hid data = open_in(r, r->matrix, "data", HDF5_DATASET);
    if (ptr < 0) corrupt(r, "the pointers of the matrix");
    describe(r, &l, ptr, idx, data);
    describe_sides(r);
    if (!child_send(r->fd, &r->m, sizeof r->m)) _exit(1);
    send_integers(r, ptr, (l.by_rows ? r->m.rows : r->m.cols) + 1, "the pointers of the matrix");
    send_integers(r, idx, r->m.nnz, "the indices of the matrix");
    for (int part = 0; part <= r->m.complex_values; part++) send_numbers(r, data, r->m.nnz, part);
    send_sides(r);
    _exit(0);
}

/* anndata's X may be dense: the user then has to choose another matrix. */
static void refuse_dense_x(const struct reader *r, hid root)
{
    char text[NAMES_ROOM + 128];
    if (r->part || open_in(r, root, "X", HDF5_DATASET) < 0 || open_in(r, root, "obs", HDF5_GROUP) < 0) return;
    snprintf(text, sizeof text, "X is a dense array; %s%s",
             r->m.names.found ? "choose a sparse matrix with `variable`: " : "the file has no sparse matrix",
             r->m.names.all);
    child_give_up(r->fd, E_INPUT, text);
}

static void child(int fd, const char *path, const char *part)
{
    struct reader r = {.fd = fd, .part = part};
    struct err e = {0};
    if (!hdf5_open(&r.h, &e)) child_give_up(fd, e.code, e.text);
    hid file = r.h.open_file(path, 0, 0), root = file < 0 ? -1 : r.h.open_object(file, "/", 0);
    if (root < 0) corrupt(&r, "the HDF5 file");
    visit(&r, root, "", 0);
    refuse_dense_x(&r, root);
    if (!r.matrix) child_give_up_choice(fd, &r.m.names);
    send_matrix(&r);
}

static const struct matrix_library hdf5 = {"libhdf5", "sparse variable", child};

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    return matrix_library_load(&hdf5, s, w, A, info, e);
}

/* MATLAB's files begin with 512 bytes of its own, whose version is 0x0200. */
static bool recognises(const char *begin, int64_t n)
{
    return (n >= 8 && !memcmp(begin, "\x89HDF\r\n\x1a\n", 8)) ||
           (n >= 128 && !memcmp(begin, "MATLAB", 6) && !memcmp(begin + 124, "\0\2IM", 4));
}

const struct file_kind file_hdf5 = {
    .name = "HDF5",
    .endings = ".h5ad .h5",
    .about = "HDF5 of MATLAB 7.3, anndata or 10x",
    .has_parts = true,
    .recognises = recognises,
    .load = load,
};
