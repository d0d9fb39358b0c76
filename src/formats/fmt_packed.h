/* packed: the table entry, the arrays, and the functions that plan on the host and on a device. */
#ifndef FMT_PACKED_H
#define FMT_PACKED_H

#include "base/array.h"
#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_packed;

enum {
    PACKED_PERM,  /* uint16: where a position's row lies in its sorting window; no elements if rows are not sorted */
    PACKED_SLICE, /* int32: four numbers for each slice, see below */
    PACKED_COL16, /* uint16: columns of the narrow slices, minus base */
    PACKED_COL32, /* int32: columns of the wide slices */
    PACKED_CODE,  /* uint8: index into val for each slot; no elements if val has one value, or a value per slot */
    PACKED_VAL
}; /* param 0: C, 1: sigma */

/* The numbers of a slice, which a warp loads at once: its first slots in col16 and in col32 (one of them has no slots
   of the slice), the number of steps, and the column from which col16 counts, or -1 if the slice is wide. */
enum { PACKED_AT16, PACKED_AT32, PACKED_STEPS, PACKED_BASE, PACKED_HEAD };

enum {
    PACKED_LANES = 32,  /* lanes of a slice: 32 / C lanes for each of its C rows */
    PACKED_GROUP16 = 8, /* steps of a narrow slice whose columns lie together: 16 bytes for each lane */
    PACKED_GROUP32 = 4, /* the same for a wide slice */
    PACKED_CODES = 256, /* maximum number of distinct values with codes */
    PACKED_PLACES = 1024,
    PACKED_SPAN = 65535, /* maximum number of columns from the first to the last column of a narrow slice */
    PACKED_PAD16 = 65535 /* column of padding in col16; -1 in col32 */
};

/* Neighbouring steps of a slice that are stored together: positions 32*first .. 32*(first + width) - 1 of the slice are
   `width` neighbouring positions of each lane. */
struct packed_group {
    int64_t first, width;
};

/* The group of a step in a slice of `steps` steps: groups of 8 (narrow) or 4 (wide), then smaller ones. The width is a
   power of two, so a mask rounds down to a multiple of the width without a division. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline struct packed_group
    packed_group_of(int64_t steps, int64_t step, bool wide)
{
    struct packed_group g;
    g.width = wide ? PACKED_GROUP32 : PACKED_GROUP16;
    while (step >= (steps & -g.width)) g.width /= 2;
    g.first = step & -g.width;
    return g;
}

/* The sizes on which the arrays depend. */
struct packed_counts {
    int64_t slots16, slots32; /* slots of the narrow and of the wide slices */
    int64_t values;           /* number of distinct values; PACKED_CODES + 1: more than PACKED_CODES */
};

/* The bits of a value as it is stored; the imaginary part of a real value is 0. */
struct packed_bits {
    uint64_t re, im;
};

/* A set of values, with open addressing. at: 1 + the index in `value`, or 0 for a free place. */
struct packed_dictionary {
    int64_t n; /* PACKED_CODES + 1: there were more values than fit */
    struct packed_bits value[PACKED_CODES];
    short at[PACKED_PLACES];
};

/* Element i of an array of this type, and the reverse. */
struct packed_bits packed_get(enum type stored, const void *data, int64_t i);
void packed_put(enum type stored, void *data, int64_t i, struct packed_bits v);
/* Add v, if it is new. False if the dictionary is full. */
bool packed_add(struct packed_dictionary *d, struct packed_bits v);
/* Sort the values: by the bits of the imaginary part, then by those of the real part, as unsigned numbers. */
void packed_sort(struct packed_dictionary *d);

/* Resolve C, and check C and sigma. If sigma is 0, it remains 0: packed_sorts resolves it. */
bool packed_shape(struct stored *S, struct err *e);
/* Is it worth sorting the rows by length, if sorting reduces the number of slots like this? There are never fewer slots
   than nonzeros: if packed_sorts(slots, nnz) is false, there is no need to sort. */
bool packed_sorts(int64_t slots_natural, int64_t slots_sorted);
enum { PACKED_WINDOW = 1024 }; /* the sigma of rows that are sorted by default */
/* List the arrays. Fails if the format cannot store this many slots. */
bool packed_sizes(struct stored *S, const struct packed_counts *n, struct err *e);

C_END
#endif
