/* Packing on a device: a CSR matrix that lies there becomes another format there, its arrays equal, bit for bit, to
   those that format_pack makes on the host. */
#ifndef PACKER_H
#define PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;
struct mat;
struct packing;
struct tools;

/* A packer is one file, gpu/p_FORMAT.cu, ending with this entry, and one line in gpu/packers.def. */
struct packer {
    const struct format *format;
    const char *about; /* how the work is dealt out */
    /* Find on the device what the sizes hang on, read that back, list the arrays of p->S by the format's *_sizes. What
       is kept in rooms is there for pack. */
    bool (*plan)(struct packing *p, struct err *e);
    /* Queue what fills every slot of p->out, which is not zeroed before. */
    bool (*f32)(struct packing *p, struct err *e);
    bool (*f64)(struct packing *p, struct err *e);
};

/* Memory of the device beside the matrix and the result, by use; it stays from one run to the next. */
enum room {
    ROOM_CUT,  /* where tiles begin (gpu/tiles.h) */
    ROOM_AT,   /* int64: counts, then places */
    ROOM_TEMP, /* of the tools */
    ROOM_KEY,  /* these four: pairs for a sort */
    ROOM_KEY2,
    ROOM_WITH,
    ROOM_WITH2,
    ROOM_BAND,   /* int: where the keys of bands begin (gpu/openers.h) */
    ROOM_NUMBER, /* int: the keys */
    ROOM_BASE,   /* int: where bands begin in another order */
    ROOM_FOUND,  /* a few numbers on their way to the host */
    ROOM_MORE,   /* int64: a second row of counts */
    ROOMS
};

/* A conversion; fields are for packers. */
struct packing {
    const struct packer *packer;
    const struct mat *A; /* csr, on dev */
    struct device *dev;
    const struct tools *tools;
    int64_t rows, cols, nnz, tiles;
    struct stored asked, S; /* parameters as asked for; as planned: arrays without data */
    void *out[ARRAYS_MAX];
    struct {
        void *p;
        int64_t bytes;
    } room[ROOMS];
    /* Kept from plan to pack: a number; which of the two pairs holds the result of a sort; the packer's own state. */
    int64_t found;
    int sorted;
    void *own; /* see packing_own */
    void (*own_release)(void *own);
};

/* The packer of f that runs on d, or NULL: then f is packed on the host. */
const struct packer *packer_find(const struct format *f, const struct device *d);

/* Plan, refuse as format_pack does, allocate and pack; E_MEMORY where the device has no room for the result. A: a
   matrix in the format csr on a device, which must outlive p; param: PARAMS_MAX values, or NULL for the defaults.
   E_UNSUPPORTED where there is no packer. On failure *p is NULL. */
bool packing_begin(struct packing **p, const struct format *f, const struct mat *A, const int64_t *param, bool force,
                   struct err *e);
/* Plan and pack once more, into the same memory, and wait: for timing. */
bool packing_again(struct packing *p, struct err *e);
/* The median time of `reps` such runs in microseconds, as the host sees it: with the numbers that are read back. */
bool packing_time(struct packing *p, int reps, double *us, struct err *e);
/* Hand over what was packed: S without data, M its arrays on the device, which refers to S. p keeps none of it. */
bool packing_take(struct packing *p, struct stored *S, struct mat *M, struct err *e);
void packing_free(struct packing *p);
/* Bring the arrays of M to the host: fills in S = M->of. On failure S is without data. */
bool mat_get(const struct mat *M, struct stored *S, struct err *e);

/* What a conversion of so many us costs, where a product takes csr_us in CSR and own_us in the format: in products with
   CSR; and after how many products it has paid for itself, infinite where the format is not faster. */
double conversion_spmvs(double us, double csr_us);
double conversion_pays_after(double us, double csr_us, double own_us);

/* ---- for packers ---- */

/* n items of a room; what it held is lost where it was smaller. NULL on failure. */
void *packing_room(struct packing *p, enum room r, int64_t n, size_t size, struct err *e);
/* Wait, then copy to the host. */
bool packing_read(struct packing *p, void *to, const void *from, int64_t bytes, struct err *e);
/* at[0 .. n] in ROOM_AT or ROOM_MORE: the counts of n items become places, at[n] is their sum, which goes to *sum
   unless that is NULL. */
bool packing_exclusive_scan(struct packing *p, enum room at, int64_t n, int64_t *sum, struct err *e);
/* n pairs in the rooms for them are sorted, see tools.h; p->sorted says which of the two to use. */
bool packing_sort(struct packing *p, int64_t n, int from, int bits, struct err *e);
/* p->own: state that the packer keeps on the host from plan to pack. The first call allocates and clears it. release
   frees what it points to; NULL: nothing. */
void *packing_own(struct packing *p, size_t bytes, void (*release)(void *own), struct err *e);
/* Room for n pairs. */
bool packing_pairs(struct packing *p, int64_t n, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
