/* Checks of conversions on every device that has packers: the arrays equal those of the host bit for bit. */
#ifndef PACK_KIT_H
#define PACK_KIT_H

#include "base/precision.h"
#include "formats/stored.h"
#include "machine/mat.h"

struct csr;
struct device;
struct format;

/* A's arrays in the format csr on a device; the caller frees them. */
struct on_device {
    struct stored S;
    struct mat M;
};
void on_device_put(struct on_device *c, const struct csr *A, enum precision real, struct device *d);
void on_device_free(struct on_device *c);

/* Check A with all packers, both precisions and several parameters. */
void pack_check(const char *what, const struct csr *A, const char *device);
/* The same for the packer of one format; NULL: all packers. */
void pack_check_format(const char *what, const struct csr *A, const char *device, const struct format *only);
/* Check all shapes, and matrices with rows that span several tiles. */
void pack_check_shapes(const char *device);
void pack_check_tiles(const char *device);
void pack_check_tiles_in(const char *device, enum precision real); /* in one precision */
void pack_check_refused(const char *device);

#endif
