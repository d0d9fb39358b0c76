/* .npy files: read and write headers; read items of any integer type. */
#include "npy.h"
#include "file.h"

#include <stdio.h>
#include <string.h>

static bool is_little_endian(void)
{
    static const uint16_t one = 1;
    return *(const uint8_t *)&one;
}

/* ---- headers ---- */

/* The text after the colon that follows the key, or NULL. */
static const char *value_of(const char *dict, const char *key)
{
    const char *p = strstr(dict, key);
    if (!p) return NULL;
    p += strlen(key);
    while (*p == ' ') p++;
    if (*p++ != ':') return NULL;
    while (*p == ' ') p++;
    return p;
}

static bool parse_type(const char *p, struct npy *a)
{
    bool little = is_little_endian();
    if (!p || *p++ != '\'') return false;
    if (!*p || !strchr("<>|=", *p)) return false;
    a->swap = (*p == '>' && little) || (*p == '<' && !little);
    a->kind = p[1];
    a->size = 0;
    for (p += a->kind ? 2 : 1; *p >= '0' && *p <= '9' && a->size < 1000; p++) a->size = a->size * 10 + *p - '0';
    if (a->kind == 'U') a->size *= 4;
    return a->kind && *p == '\'' && a->size > 0 && strchr("fiubcSU", a->kind);
}

static bool parse_shape(const char *p, struct npy *a)
{
    if (!p || *p++ != '(') return false;
    a->n = 1;
    for (a->dims = 0; *p != ')';) {
        int64_t v = 0;
        if (*p < '0' || *p > '9' || a->dims == NPY_DIMENSIONS) return false;
        for (; *p >= '0' && *p <= '9'; p++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v)) return false;
        if (__builtin_mul_overflow(a->n, v, &a->n)) return false;
        a->dim[a->dims++] = v;
        if (*p == 'L') p++;
        while (*p == ' ' || *p == ',') p++;
    }
    return true;
}

bool npy_parse(const char *dict, struct npy *a)
{
    const char *order = value_of(dict, "'fortran_order'");
    a->fortran = order && !strncmp(order, "True", 4);
    return order && parse_type(value_of(dict, "'descr'"), a) && parse_shape(value_of(dict, "'shape'"), a);
}

void npy_header(char header[NPY_HEADER], const char *type, const char *shape, bool fortran)
{
    char order = type[0] == '|' ? '|' : is_little_endian() ? '<' : '>';
    memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
    int n = 10 + snprintf(header + 10, NPY_HEADER - 10, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s), }",
                          order, type + (order == '|'), fortran ? "True" : "False", shape);
    memset(header + n, ' ', (size_t)(NPY_HEADER - n));
    header[NPY_HEADER - 1] = '\n';
}

/* ---- items ---- */

int64_t npy_integer(const struct npy *a, const char *p)
{
    int64_t v = 0;
    int32_t v4;
    if (a->size == 8) return memcpy(&v, p, 8), v;
    if (a->size == 4 && a->kind == 'i') return memcpy(&v4, p, 4), v4;
    return (int64_t)file_number_of(a->kind, a->size)(p);
}

bool npy_is_integer(const struct npy *a)
{
    return (a->kind == 'i' || a->kind == 'u') && file_number_of(a->kind, a->size);
}

bool npy_is_x87(const struct npy *a)
{
    return (a->kind == 'f' && a->size == 16) || (a->kind == 'c' && a->size == 32);
}

/* The highest bit of a mantissa is stored, and set unless the exponent is 0. A quadruple number has its exponent in the
   padding of x87, and the last digits of its mantissa, often zeros, in all other bytes. */
static bool is_x87(const char *p)
{
    uint64_t mantissa, top = 0, padding = 0;
    memcpy(&mantissa, p, 8);
    memcpy(&top, p + 8, 2);
    memcpy(&padding, p + 10, 6);
    if (!mantissa && !top) return !padding;
    return !(top & 0x7fff) == !(mantissa >> 63);
}

bool npy_all_x87(const struct npy *a, const char *items, int64_t n)
{
    for (int64_t k = 0; k < n * a->size / 16; k++)
        if (!is_x87(items + 16 * k)) return false;
    return true;
}

/* The 64 bits of the mantissa are 11 more than a double's, and the exponent may exceed a double's, too. */
static bool is_rounded(const char *p)
{
    uint64_t mantissa;
    uint16_t top;
    memcpy(&mantissa, p, 8);
    memcpy(&top, p + 8, 2);
    int exponent = (top & 0x7fff) - 16383;
    return (mantissa & 0x7ff) || (exponent > 1023 && exponent < 16384) || (mantissa && exponent < -1022);
}

bool npy_x87_is_rounded(const struct npy *a, const char *p)
{
    return is_rounded(p) || (a->kind == 'c' && is_rounded(p + 16));
}

static void swap_bytes(char *p, int64_t n, int size)
{
    for (int64_t k = 0; k < n; k++, p += size)
        for (int a = 0, b = size - 1; a < b; a++, b--) {
            char c = p[a];
            p[a] = p[b];
            p[b] = c;
        }
}

void npy_to_native(const struct npy *a, char *items, int64_t n)
{
    int part = a->kind == 'c' ? a->size / 2 : a->size; /* swap the parts of a complex item separately */
    if (a->swap) swap_bytes(items, n * (a->size / part), part);
}
