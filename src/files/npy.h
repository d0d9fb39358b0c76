/* .npy, NumPy's format of one array: its header, and the items that the header describes.
   Format: https://numpy.org/neps/nep-0001-npy-format.html */
#ifndef NPY_H
#define NPY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    NPY_DIMENSIONS = 3, /* maximum number of axes of an array */
    NPY_HEADER = 128    /* size of a header that npy_header writes */
};

struct npy {
    char kind; /* f float, i integer, u unsigned, b boolean, c complex, S bytes, U text with 4 bytes per letter */
    int size;  /* bytes per item */
    bool swap; /* the byte order of the items is the opposite of this machine's */
    bool fortran;
    int dims;
    int64_t dim[NPY_DIMENSIONS]; /* length of each axis */
    int64_t n;                   /* number of items: the product of the axis lengths */
};

/* Read the Python dictionary of a header. Returns false unless the header states a known type, order and shape. */
bool npy_parse(const char *dict, struct npy *a);
/* Is this an array of integers that npy_integer can read? */
bool npy_is_integer(const struct npy *a);
/* The integer item at p, in this machine's byte order. */
int64_t npy_integer(const struct npy *a, const char *p);
/* Are these numbers of 16 bytes, or pairs of them? NumPy's longdouble is the 80-bit format of x87 on x86, and quadruple
   precision on other machines; the header does not say which. */
bool npy_is_x87(const struct npy *a);
/* Are n items, in this machine's byte order, all valid in the format of x87? Quadruple numbers that are nearly all
   numbers in use are not. */
bool npy_all_x87(const struct npy *a, const char *items, int64_t n);
/* Does the x87 item at p lose digits as a double? */
bool npy_x87_is_rounded(const struct npy *a, const char *p);
/* Convert n items to this machine's byte order. */
void npy_to_native(const struct npy *a, char *items, int64_t n);
/* Write the header of an array; the header has NPY_HEADER bytes. type is, for example, "f8" or "|S3"; shape is, for
   example, "5," or "". fortran: columns, not rows, follow one another. */
void npy_header(char header[NPY_HEADER], const char *type, const char *shape, bool fortran);

#endif
