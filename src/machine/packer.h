/* Packing on a device: converts a CSR matrix on a device to another format on the same device. The arrays equal those
   that format_pack makes on the host, bit for bit. Implemented by packer.c, except for packer_find, which
   gpu/packers/packers.c implements. */
#ifndef PACKER_H
#define PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"
#include "formats/stored.h"

C_BEGIN

struct device;
struct mat;
struct packing;
struct tools;

/* A packer consists of one file, gpu/packers/p_FORMAT.cu, which ends with this entry, and one line in
   gpu/packers/packers.def. */
struct packer {
    const struct format *format;
    const char *about; /* how the work is distributed over threads */
    /* On the device, compute the counts on which the array sizes depend. Read the counts back, and list the arrays of
       p->S with the format's NAME_sizes. Data left in the work buffers stays available to the functions below. */
    bool (*plan)(struct packing *p, struct err *e);
    /* By the type of stored values: queue the launches that write p->out. The launches must write every slot, because
       p->out is not zeroed beforehand. NULL: the host packs such values. */
    bool (*pack[STORED_TYPES])(struct packing *p, struct err *e);
};

/* Work buffers on the device, by purpose. The buffers are kept from one run to the next. */
enum room {
    ROOM_CUT,  /* int: where tiles begin (gpu/kernels/tiles.h) */
    ROOM_AT,   /* int64: counts, then their exclusive prefix sums */
    ROOM_TEMP, /* temporary memory of the tools (tools.h) */
    ROOM_KEY,  /* ROOM_KEY .. ROOM_PAYLOAD2: key-value pairs to be sorted, and space for the sorted pairs */
    ROOM_KEY2,
    ROOM_PAYLOAD,
    ROOM_PAYLOAD2,
    ROOM_BAND,   /* int: where the keys of each band begin (gpu/packers/openers.h) */
    ROOM_NUMBER, /* int: the keys of all bands */
    ROOM_BASE,   /* int: where bands begin in a second order */
    ROOM_FOUND,  /* a few numbers that the host reads back */
    ROOM_MORE,   /* int64: a second array of counts */
    ROOMS
};

/* A conversion in progress. Only packers use the fields. */
struct packing {
    const struct packer *packer;
    const struct mat *A; /* csr, on dev */
    struct device *dev;
    const struct tools *tools;
    int64_t rows, cols, nnz, tiles;
    struct stored given; /* the chosen parameters */
    struct stored S;     /* the planned result, whose arrays have no data */
    void *out[ARRAYS_MAX];
    struct {
        void *p;
        int64_t bytes;
    } room[ROOMS];
    /* data kept between plan and pack */
    int64_t found; /* number of keys or diagonals */
    int sorted;    /* the index of the set of pairs with the sorted result */
    void *state;   /* the packer's data on the host; see packing_state */
    void (*state_release)(void *state);
};

/* Queue the launches of packer k for the type of p's values. */
bool packer_fill(const struct packer *k, struct packing *p, struct err *e);
/* The packer for format f on device d. NULL if there is none; in that case, f is packed on the host. */
const struct packer *packer_find(const struct format *f, const struct device *d);

/* The packer for f on d, if it packs values of this precision; otherwise NULL. */
const struct packer *packer_for(const struct format *f, const struct device *d, enum precision real);

/* Plan, allocate and pack. Refuses the same matrices as format_pack. The matrix A has the format csr, is on a device,
   and must outlive p. `param` has PARAMS_MAX values, or is NULL for the defaults. Fails with E_MEMORY if the result
   does not fit in the device's memory, and with E_UNSUPPORTED if there is no packer. On failure, *p is NULL. */
bool packing_begin(struct packing **p, const struct format *f, const struct mat *A, const int64_t *param, bool force,
                   struct err *e);
/* For timing: plan and pack again into the same memory, and wait for the device. */
bool packing_repeat(struct packing *p, struct err *e);
/* *us receives the median time of `reps` calls of packing_repeat in microseconds. The time is measured on the host, so
   it includes the copies to the host that `plan` makes. */
bool packing_time(struct packing *p, int reps, double *us, struct err *e);
/* Move the result out of p: S lists the arrays without host data, and M owns the device memory of the arrays and refers
   to S. */
bool packing_take(struct packing *p, struct stored *S, struct mat *M, struct err *e);
void packing_free(struct packing *p);
/* Copy the arrays of M that S has no data of to the host. S must be *M->of, and owns them also after a failure.
   mat_get_layout leaves out the long arrays, those of values and columns. */
bool mat_get(const struct mat *M, struct stored *S, struct err *e);
bool mat_get_layout(const struct mat *M, struct stored *S, struct err *e);

/* The cost of a conversion in `us` microseconds, if the times of one SpMV are csr_us with CSR and own_us with the
   format. The first function expresses the cost in SpMVs with CSR. The second function returns the number of SpMVs
   after which the conversion has paid off. This number is infinite if the format is not faster. */
double conversion_spmvs(double us, double csr_us);
double conversion_pays_after(double us, double csr_us, double own_us);

/* ---- for packers ---- */

/* Work buffer r, with space for at least n items of `size` bytes. If the buffer has to grow, its contents are lost.
   NULL on failure. */
void *packing_room(struct packing *p, enum room r, int64_t n, size_t size, struct err *e);
/* Wait for all launches, then copy to the host. */
bool packing_read(struct packing *p, void *to, const void *from, int64_t bytes, struct err *e);
/* Replace the n counts at[0 .. n-1] in work buffer `at` (ROOM_AT or ROOM_MORE) by their exclusive prefix sums. at[n]
   becomes the total. If `sum` is not NULL, *sum also receives the total. */
bool packing_exclusive_scan(struct packing *p, enum room at, int64_t n, int64_t *sum, struct err *e);
/* Sort the n pairs in ROOM_KEY and ROOM_PAYLOAD by the bits [from, bits) of the keys (see tools.h). p->sorted
   becomes 0 if the result is in ROOM_KEY and ROOM_PAYLOAD, 1 if it is in ROOM_KEY2 and ROOM_PAYLOAD2. */
bool packing_sort(struct packing *p, int64_t n, int from, int bits, struct err *e);
/* Return p->state, which is the packer's data on the host between plan and pack. The first call allocates and clears
   the state. `release` frees the memory to which the state's fields point; NULL: nothing to free. */
void *packing_state(struct packing *p, size_t bytes, void (*release)(void *state), struct err *e);
/* Allocate the work buffers for n pairs and their sorted copies. */
bool packing_pairs(struct packing *p, int64_t n, struct err *e);

C_END
#endif
