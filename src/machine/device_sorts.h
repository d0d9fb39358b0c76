/* The sorts of devices there can be, whether this machine has them or not. */
#ifndef DEVICE_SORTS_H
#define DEVICE_SORTS_H

extern const struct registry device_sort_registry;

#endif
