/* The kinds of devices that warpspy supports, whether or not this machine has them, with a description for `help`. */
#ifndef DEVICE_SORTS_H
#define DEVICE_SORTS_H

extern const struct registry device_sort_registry;

#endif
