/* A matrix of the session: its values, where they came from, its statistics and its stored forms. */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/csr.h"
#include "files/load_info.h"
#include "matrix/stats.h"

struct product;

struct matrix {
    char name[64];
    struct csr csr;
    struct load_info info;
    struct stats stats;
    bool has_stats;
    bool lesson;    /* a lesson made this matrix, so the next lesson drops it */
    int64_t number; /* serial number of the matrix in the session, counted from 1 */
    int index;      /* position in the list before the matrix was dropped; for undo */
    struct product *products;
    struct matrix *next;
};

#endif
