/* Checks of the format packed, on the host and on devices. */
#ifndef PACKED_KIT_H
#define PACKED_KIT_H

/* Run all checks with the kernels and the packers of these devices, whose names are terminated by NULL. Returns the
   number of failed tests. */
int packed_tests(const char *const *devices);

#endif
