/* The kinds of devices that warpspy supports, whether or not this machine has them, with a description for `help`. */
#ifndef DEVICE_SORTS_H
#define DEVICE_SORTS_H

/* The word for the processes of PETSc, which are no device of the registry of devices. */
extern const char device_ranks[];
extern const struct registry device_sort_registry;

#endif
