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
/* Convert n items to this machine's byte order. */
void npy_to_native(const struct npy *a, char *items, int64_t n);
/* Write the header of an array; the header has NPY_HEADER bytes. type is, for example, "f8" or "|S3"; shape is, for
   example, "5," or "". fortran: columns, not rows, follow one another. */
void npy_header(char header[NPY_HEADER], const char *type, const char *shape, bool fortran);

#endif
