/* Binds the parameters of a user's kernel by their names, and writes the launch and the entry that the file leaves
   out. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/suggest.h"
#include "base/text.h"
#include "formats/format.h"
#include "lab_scan.h"
#include "lab_source.h"
#include "matrix/csr.h"

#include <stdio.h>
#include <string.h>

enum { THREADS_DEFAULT = 256 };

/* ---- names ---- */

/* Other names for what a parameter may be. */
static const struct {
    enum role role;
    const char *names;
} array_names[] = {
    {ROLE_POINTERS, "ptr rowptr row_ptr rowPtr row_offsets rowOffsets offsets indptr row_start rows_ptr Ap ia"},
    {ROLE_COLUMNS, "col cols colidx col_idx colIdx col_ind column columns indices Aj ja"},
    {ROLE_VALUES, "val vals value values data Ax a"},
    {ROLE_ROWS, "row row_idx rowIdx row_ind rowind"},
    {ROLE_DIAGONALS, "offsets diagonals"},
};
static const struct {
    const char *names, *expression;
} numbers[] = {
    {"rows n_rows num_rows nrows numRows m n", "rows"},
    {"cols n_cols num_cols ncols numCols", "cols"},
    {"nnz n_nonzeros num_nonzeros", "nnz"},
};

/* The vectors of a launch: their names, what a kernel that writes to them or does not receives, and their lengths. */
static const struct vector {
    enum role role;
    const char *role_id, *name, *writable, *constant, *length;
} vectors[] = {
    {ROLE_X, "ROLE_X", "x", "const_cast<void *>(L->x)", "L->x", "cols"},
    {ROLE_Y, "ROLE_Y", "y", "L->y", "L->y", "rows"},
};

/* The vector that a parameter means; NULL: none. */
static const struct vector *vector_named(const struct parameter *p)
{
    for (int i = 0; i < COUNT(vectors); i++)
        if (p->pointer && !strcmp(p->name, vectors[i].name)) return &vectors[i];
    return NULL;
}

/* The arrays of a format: those of a small matrix. */
static bool arrays_of(const struct format *f, struct stored *out, struct err *e)
{
    int rowptr[] = {0, 1}, col[] = {0};
    double val[] = {1};
    const struct csr A = {.rows = 1, .cols = 1, .nnz = 1, .rowptr = rowptr, .col = col, .val = val};
    struct plan p;
    if (!format_plan(&A, f, NULL, P_F64, &p, e)) return false;
    *out = p.shape;
    return true;
}

/* The array that a parameter means; -1: none. */
static int array_named(const struct stored *S, const char *name)
{
    for (int k = 0; k < S->narrays; k++)
        if (!strcmp(S->a[k].name, name)) return k;
    for (int k = 0; k < S->narrays; k++)
        for (int i = 0; i < COUNT(array_names); i++)
            if (array_names[i].role == S->a[k].role && has_word(array_names[i].names, name)) return k;
    return -1;
}

static const char *number_named(const struct stored *S, const char *name)
{
    for (int i = 0; S->format->params[i].name; i++)
        if (!strcmp(S->format->params[i].name, name)) return S->format->params[i].name;
    for (int i = 0; i < COUNT(numbers); i++)
        if (has_word(numbers[i].names, name)) return numbers[i].expression;
    return NULL;
}

static bool is_any(const char *name, const char *words)
{
    return has_word(words, name);
}

/* ---- types ---- */

static bool is_real(const char *type)
{
    return is_any(type, "double float T U");
}

static const char *element_of(enum type t)
{
    return t == T_I32 ? "int" : t == T_I64 ? "int64_t" : t == T_U8 ? "uint8_t" : t == T_U16 ? "uint16_t" : "double";
}

/* The parameter of f that is a vector or an array of this role; NULL: there is none. */
static const struct parameter *parameter_of(const struct function *f, enum role role)
{
    for (int i = 0; i < f->nparameters; i++) {
        const struct parameter *p = &f->parameter[i];
        const struct vector *v = vector_named(p);
        if (v && v->role == role) return p;
        for (int k = 0; k < COUNT(array_names) && !v; k++)
            if (array_names[k].role == role && has_word(array_names[k].names, p->name)) return p;
    }
    return NULL;
}

static bool has_parameter(const struct function *f, const char *name)
{
    int i = 0;
    while (i < f->nparameters && strcmp(f->parameter[i].name, name) != 0) i++;
    return i < f->nparameters;
}

static bool check_array(const struct source *s, const struct function *f, const struct parameter *p,
                        const struct array *a, const char *file, struct err *e)
{
    bool real = a->type == T_F64;
    if (real ? is_real(p->type)
             : !strcmp(p->type, element_of(a->type)) || (a->type == T_I32 && !strcmp(p->type, "unsigned")))
        return true;
    return scan_fail(file, p->line, e, "%s is `%s *`, but the elements of %s in %s are %s", p->name, p->type, a->name,
                     s->of->name, real ? "the values: double, float or T" : element_of(a->type));
}

static bool unknown(const struct source *s, const struct parameter *p, const struct stored *S, const char *file,
                    struct err *e)
{
    struct message list = {0};
    for (int k = 0; p->pointer && k < S->narrays; k++) message_list(&list, S->a[k].name);
    for (int i = 0; p->pointer && i < COUNT(vectors); i++) message_list(&list, vectors[i].name);
    if (!p->pointer) {
        static const char *const names[] = {"rows", "cols", "nnz", "alpha", "beta"};
        for (int i = 0; i < COUNT(names); i++) message_list(&list, names[i]);
        for (int i = 0; s->of->params[i].name; i++) message_list(&list, s->of->params[i].name);
    }
    return scan_fail(file, p->line, e, "what is the parameter %s? for %s, %s may be: %s", p->name, s->of->name,
                     p->pointer ? "a pointer" : "a number", list.text);
}

static bool check_parameter(const struct source *s, const struct function *f, const struct parameter *p,
                            const struct stored *S, const char *file, struct err *e)
{
    const struct vector *v = vector_named(p);
    int k = p->pointer ? array_named(S, p->name) : -1;
    if (v) {
        if (!is_real(p->type))
            return scan_fail(file, p->line, e, "%s is `%s *`, but vectors are double, float or T", p->name, p->type);
        if (v->role == ROLE_Y && p->is_const)
            return scan_fail(file, p->line, e, "%s is the result, so it must not be const", p->name);
        return true;
    }
    if (k >= 0) return check_array(s, f, p, &S->a[k], file, e);
    if (p->pointer) return unknown(s, p, S, file, e);
    if (is_any(p->name, "alpha beta") || number_named(S, p->name)) return true;
    return unknown(s, p, S, file, e);
}

static bool check_function(const struct source *s, const struct function *f, const char *file, struct err *e)
{
    struct stored S;
    if (!arrays_of(s->of, &S, e)) return false;
    for (int i = 0; i < f->nparameters; i++)
        if (!check_parameter(s, f, &f->parameter[i], &S, file, e)) return false;
    const struct parameter *x = parameter_of(f, ROLE_X), *y = parameter_of(f, ROLE_Y);
    if (!y) return scan_fail(file, f->line, e, "%s has no parameter y for its result", f->name);
    if (x && strcmp(x->type, y->type) != 0)
        return scan_fail(file, f->line, e, "%s: x is `%s *`, but y is `%s *`; they must have the same type", f->name,
                         x->type, y->type);
    return true;
}

/* ---- the choice ---- */

static bool list_choices(const struct source *s, const char *file, struct err *e)
{
    struct message list = {0};
    for (int i = 0; i < s->nentries; i++) message_list(&list, s->entry[i].name);
    for (int i = 0; i < s->nfunctions && !s->nentries; i++) message_list(&list, s->function[i].name);
    int line = s->nentries ? s->entry[1].line : s->function[1].line;
    return scan_fail(file, line, e, "the file has %d kernels: %s; choose one: `try %s kernel NAME`",
                     s->nentries ? s->nentries : s->nfunctions, list.text, file);
}

static bool choose_entry(struct source *s, const char *file, const char *kernel, struct err *e)
{
    for (int i = 0; i < s->nentries; i++)
        if (!kernel || !strcmp(kernel, s->entry[i].name) || !strcmp(kernel, s->entry[i].id)) s->chosen_entry = i;
    if (s->chosen_entry < 0) return fail(e, E_USAGE, "%s has no kernel %s", file, kernel);
    return kernel || s->nentries == 1 || list_choices(s, file, e);
}

static bool choose_function(struct source *s, const char *file, const char *kernel, struct err *e)
{
    for (int i = 0; i < s->nfunctions; i++)
        if (!kernel || !strcmp(kernel, s->function[i].name)) s->chosen_function = i;
    if (s->chosen_function < 0) return fail(e, E_USAGE, "%s has no kernel %s", file, kernel);
    return kernel || s->nfunctions == 1 || list_choices(s, file, e);
}

bool source_choose(struct source *s, const char *file, const char *kernel, const char *format, struct err *e)
{
    s->chosen_entry = s->chosen_function = -1;
    if (!s->nfunctions && !s->nentries)
        return fail(e, E_USAGE, "%s has no kernel: no function begins with __global__; `try new csr-scalar` writes one",
                    file);
    if (s->nentries) return choose_entry(s, file, kernel, e);
    const char *name = format ? format : *s->format ? s->format : "csr";
    s->of = format_find(name);
    if (!s->of) return scan_fail(file, s->try_line, e, "%s is not a format; `formats` lists them", name);
    return choose_function(s, file, kernel, e) && check_function(s, &s->function[s->chosen_function], file, e);
}

/* ---- the launch ---- */

void source_symbol(const struct source *s, bool gpu, char *out, size_t size)
{
    const char *id = s->chosen_entry >= 0 ? s->entry[s->chosen_entry].id : "of_the_lab";
    snprintf(out, size, "%s_kernel_%s", gpu ? "cuda" : "emu", id);
}

/* The type of x and y, and of the values, in the launch. */
static void types_of(const struct function *f, const char **vector, const char **value)
{
    const struct parameter *y = parameter_of(f, ROLE_Y), *val = parameter_of(f, ROLE_VALUES);
    *vector = f->templates ? "T" : y->type;
    *value = f->templates > 1 ? "U" : f->templates ? "T" : val && is_real(val->type) ? val->type : y->type;
}

/* Does the function add to y by atomics, so that y must be 0 before it begins? */
static bool adds_to_y(const struct source *s, const struct function *f)
{
    return s->adds_to_y && !has_parameter(f, "beta");
}

static void write_argument(FILE *out, const struct function *f, const struct parameter *p, const struct stored *S)
{
    const char *vector, *value;
    types_of(f, &vector, &value);
    const struct vector *v = vector_named(p);
    int k = p->pointer ? array_named(S, p->name) : -1;
    if (v)
        fprintf(out, "VECTOR(\"%s\", %s, %s, %s, %s%s)", v->name, v->role_id, p->is_const ? v->constant : v->writable,
                v->length, p->is_const ? "const " : "", vector);
    else if (k >= 0)
        fprintf(out, p->is_const ? "ARRAY(L, %d, %s)" : "of_the_lab_mutable(ARRAY(L, %d, %s))", k,
                S->a[k].type == T_F64 ? value : p->type);
    else if (is_any(p->name, "alpha beta"))
        fprintf(out, "(%s)L->%s", f->templates ? vector : p->type, p->name);
    else
        fprintf(out, "(%s)%s", p->type, number_named(S, p->name));
}

static const char *entry_types(const struct function *f)
{
    const char *vector, *value;
    types_of(f, &vector, &value);
    if (f->templates > 1) return "VALUE_TYPES(of_the_lab_go), NARROW_TYPES(of_the_lab_go)";
    if (f->templates) return "VALUE_TYPES(of_the_lab_go)";
    if (!strcmp(vector, "double"))
        return !strcmp(value, "double") ? "nullptr, of_the_lab_go<>" : "nullptr, nullptr, NO_PAIRS, of_the_lab_go<>";
    return "of_the_lab_go<>";
}

/* What the launch uses: arrays as a function takes them that does not say const, and a kernel that makes y zero. */
static const char helpers[] =
    "#ifdef __CUDACC__\n"
    "template <typename T> static T *of_the_lab_mutable(const T *p) { return const_cast<T *>(p); }\n"
    "#else\n"
    "template <typename T> static simt::array<T> of_the_lab_mutable(simt::array<const T> p)\n"
    "{ return {const_cast<T *>(p.base), p.n, p.offset, p.name, p.role}; }\n"
    "#endif\n"
    "template <typename T> __global__ void zero_y(int of_the_lab_n, GPTR(T) y)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < of_the_lab_n) y[i] = T(0);\n"
    "}\n";

static void write_numbers(FILE *out, const struct format *f)
{
    fprintf(out, "    const struct stored *S = L->A->of;\n"
                 "    const int64_t rows = S->rows, cols = S->cols, nnz = S->nnz;\n"
                 "    (void)rows, (void)cols, (void)nnz;\n");
    for (int i = 0; f->params[i].name; i++)
        fprintf(out, "    const int64_t %s = S->param[%d];\n    (void)%s;\n", f->params[i].name, i, f->params[i].name);
}

static void write_zero(FILE *out, const struct function *f)
{
    const char *vector, *value;
    types_of(f, &vector, &value);
    fprintf(out,
            "    LAUNCH(L->A->dev, blocks_for(rows, 256), 256, zero_y<%s>)\n"
            "    ((int)rows, VECTOR(\"y\", ROLE_Y, L->y, rows, %s));\n",
            vector, vector);
}

/* What follows the user's text. */
static bool write_launch(FILE *out, const struct source *s, const char *name, struct err *e)
{
    const struct function *f = &s->function[s->chosen_function];
    const char *given = f->templates > 1 ? "<T, U>" : f->templates ? "<T>" : "";
    const char *space = s->dialect ? "KERNEL_SPACE" : "of_the_user";
    struct stored S;
    char threads[sizeof s->threads], blocks[sizeof s->blocks + 64];
    if (!arrays_of(s->of, &S, e)) return false;
    snprintf(threads, sizeof threads, "%d", +THREADS_DEFAULT);
    if (*s->threads) snprintf(threads, sizeof threads, "%s", s->threads);
    snprintf(blocks, sizeof blocks, "blocks_for(rows, (int)(%.200s))", threads);
    if (*s->blocks) snprintf(blocks, sizeof blocks, "%s", s->blocks);
    fprintf(out,
            "\n#line 1 \"launch\"\n#include \"base/err.h\"\n#include \"formats/fmt_%s.h\"\n%snamespace %s\n{\n"
            "template <typename T = double, typename U = T> static bool of_the_lab_go(const struct launch *L, struct "
            "err *error_of_the_lab)\n{\n",
            s->of->name, helpers, space);
    write_numbers(out, s->of);
    if (adds_to_y(s, f)) write_zero(out, f);
    fprintf(
        out,
        "#line %d \"TRY\"\n    const dim3 grid_of_the_lab((%s));\n"
        "    if (L->A->of->rows && !(grid_of_the_lab.x && grid_of_the_lab.y && grid_of_the_lab.z))\n"
        "        return fail(error_of_the_lab, E_USAGE, \"a grid of 0 blocks cannot be launched; the line TRY must \"\n"
        "                    \"give at least 1 block\");\n",
        s->try_line ? s->try_line : 1, blocks);
    fprintf(out, "#line %d \"TRY\"\n    LAUNCH_GIVEN(L->A->dev, (%s), (%s), (%s), %s%s)\n#line 1 \"launch\"\n    (",
            s->try_line ? s->try_line : 1, blocks, threads, *s->shared ? s->shared : "0", f->name, given);
    for (int i = 0; i < f->nparameters; i++) {
        fprintf(out, "%s", i ? ", " : "");
        write_argument(out, f, &f->parameter[i], &S);
    }
    fprintf(out,
            ");\n    return true;\n}\n} // namespace %s\nusing %s::of_the_lab_go;\n"
            "KERNEL_ENTRY(of_the_lab) = {.name = \"%s\", .about = \"\", .format = &format_%s, .source = \"yours\",\n"
            "    .work = \"\", .lesson = \"\", .deterministic = %s, .product_only = %s, .product = {%s}};\n",
            space, space, name, s->of->name, s->has_atomics ? "false" : "true",
            has_parameter(f, "alpha") && has_parameter(f, "beta") ? "false" : "true", entry_types(f));
    return true;
}

/* ---- the text for a compiler ---- */

/* Is this the name of one of CUDA's headers, which the dialect includes or the emulator does not have? */
static bool is_of_cuda(const char *name)
{
    return strstr(name, "cuda") || strstr(name, "device_launch");
}

/* Plain CUDA C is compiled in a namespace of its own, so that its names cannot clash with those of our headers. What it
   includes is not, so the directives come first; in the text, they become blank. */
static void move_includes(FILE *out, char *text, const char *file)
{
    for (char *p = text; (p = strstr(p, "#include")); p++) {
        size_t n = strcspn(p, "\n");
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)(n < 199 ? n : 199), p);
        char quote = p[8 + strspn(p + 8, " \t")];
        if ((p > text && p[-1] != '\n') || (quote != '"' && quote != '<')) continue; /* not one, or by a macro */
        if (!is_of_cuda(name)) fprintf(out, "#line %d \"%s\"\n%.*s\n", scan_line(text, p), file, (int)n, p);
        memset(p, ' ', n);
    }
}

static void write_text(FILE *out, const struct source *s, char *text, const char *file)
{
    if (!s->dialect) move_includes(out, text, file);
    if (!s->dialect) fprintf(out, "#undef WARP\n#undef FULL_MASK\nnamespace of_the_user\n{\n");
    fprintf(out, "#line 1 \"%s\"\n%s\n", file, text);
    if (!s->dialect) fprintf(out, "} // namespace of_the_user\n#undef WARP\n#define WARP 32\n");
}

static char *text_for(const struct source *s, const char *text, const char *file, const char *name, bool gpu,
                      struct err *e)
{
    struct memfile m;
    char *own = s->dialect || gpu ? mem_str(text, e) : plain_to_dialect(text, e);
    if (!own) return NULL;
    if (!memfile_open(&m, e)) return mem_free(own), NULL;
    if (!s->dialect) fprintf(m.file, "#include \"gpu/%s\"\n", gpu ? "dialect.h" : "emu/plain.h");
    write_text(m.file, s, own, file);
    bool ok = s->chosen_entry >= 0 || write_launch(m.file, s, name, e);
    if (gpu)
        fprintf(m.file, "\n#line 1 \"launch\"\nextern \"C\" const char *" LAB_LAUNCH_ERROR "(void)\n{\n"
                        "    cudaError_t status = cudaGetLastError();\n"
                        "    return status == cudaSuccess ? NULL : cudaGetErrorString(status);\n}\n");
    ok = memfile_close(&m, ok, e);
    char *out = ok ? mem_str(m.text, e) : NULL;
    memfile_free(&m);
    mem_free(own);
    return out;
}

char *source_for_emulator(const struct source *s, const char *text, const char *file, const char *name, struct err *e)
{
    return text_for(s, text, file, name, false, e);
}

char *source_for_gpu(const struct source *s, const char *text, const char *file, const char *name, struct err *e)
{
    return text_for(s, text, file, name, true, e);
}
