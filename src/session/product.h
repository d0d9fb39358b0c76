/* The stored forms of the matrices of the session, and their copies on devices. session_mat (session.h) makes the
   copies. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/stored.h"
#include "machine/mat.h"

struct csr;
struct device;
struct err;
struct format;
struct kernel;
struct matrix;
struct session;

struct product {
    struct stored S;                /* packed by a device, S may lack its long arrays on the host */
    const struct csr *csr;          /* the matrix that is stored */
    int64_t requested[PARAMS_MAX];  /* the parameters before they were resolved */
    double prep_us;                 /* time to pack S, in us */
    const struct device *packed_on; /* NULL: the host */
    struct mat mat[4];              /* copies on devices */
    double put_us[4];               /* time to make each copy, in us */
    int nmats;
    /* A stored form of A that also serves as a stored form of A^T lends its arrays, here and on devices. */
    struct product *lender;   /* owns the arrays; NULL: this product does */
    struct product *borrower; /* uses the arrays of this product; NULL: none */
    struct product *next;
};

void product_free(struct product *p);
/* Free the copies on d (NULL: on every device), and on devices of which d is a member, that no holding uses, because
   the memory is needed or the device is lost. */
void device_copies_drop(struct session *s, const struct device *d);

/* The stored form that a command asks for. */
struct form {
    struct matrix *matrix;
    const struct format *format;
    enum precision real;         /* the precision */
    int64_t param[PARAMS_MAX];   /* of the format: as given, or the defaults; the format resolves them when it plans */
    bool force;                  /* accept any amount of padding */
    struct device *packer;       /* packs the form from its copy of the csr, if it can; NULL: the host packs it */
    const struct kernel *kernel; /* that reads the form; NULL: none is chosen */
    bool given;                  /* with a kernel: param was given; otherwise kernel_params chooses the parameters, */
    int multiprocessors;         /* to suit a GPU with so many; 0: no GPU */
    bool there;                  /* only `packer` reads the arrays: the host may lack the long ones */
};
/* m in format f, packed by the host. param: PARAMS_MAX values; NULL: the defaults. */
struct form form_of(struct matrix *m, const struct format *f, const int64_t *param, enum precision real);
/* m as kernel k reads it, packed by the host; param NULL: with the parameters that kernel_params chooses. */
struct form form_for(struct matrix *m, const struct kernel *k, const int64_t *param, enum precision real,
                     int multiprocessors);
/* The form w for products on d: a GPU packs it and need not copy the long arrays to the host. The emulator is slow, and
   the tables of lessons show the host's packing time, so the host packs for the emulator and in lessons. */
struct form form_near(struct form w, struct device *d);
/* The stored form that w asks for, made before or now; its matrix owns it. The host packs it if w.packer has no packer
   for the format or too little memory. NULL: the format does not fit the matrix, w.kernel does not multiply in the
   precision or does not fit the form, memory is short, or the user cancelled. */
struct product *session_product(struct session *s, struct form w, struct err *e);
/* Would session_product return at once, because the form was made before with the same parameters? */
bool session_is_packed(struct form w);
/* Print a note if values of A, which the user knows by this name, become 0 in this precision. */
void session_say_vanishing(struct session *s, const char *name, const struct csr *A, enum precision real);

#endif
