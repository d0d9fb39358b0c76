/* The stored forms of the matrices of the session: finds the one that a command asks for, or makes it. */
#ifndef STORED_FORMS_H
#define STORED_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "formats/stored.h"

struct csr;
struct device;
struct err;
struct format;
struct kernel;
struct matrix;
struct product;
struct session;

/* The stored form that a command asks for. */
struct form {
    struct matrix *matrix;
    const struct format *format;
    enum type real;              /* the precision */
    int64_t param[PARAMS_MAX];   /* of the format: as given, or the defaults; the format resolves them when it plans */
    bool force;                  /* accept any amount of padding */
    struct device *packer;       /* packs the form from its copy of the csr, if it can; NULL: the host packs it */
    const struct kernel *kernel; /* that reads the form; NULL: none is chosen */
    bool there; /* only `packer` reads the arrays: the host may lack the long ones (product_complete) */
};
/* m in format f, packed by the host. param: PARAMS_MAX values; NULL: the defaults. */
struct form form_of(struct matrix *m, const struct format *f, const int64_t *param, enum type real);
/* m as kernel k reads it, packed by the host, with the parameters that kernel_params chooses. */
struct form form_for(struct matrix *m, const struct kernel *k, const int64_t *param, enum type real,
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
void session_say_vanishing(struct session *s, const char *name, const struct csr *A, enum type real);

#endif
