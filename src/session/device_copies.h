/* Copies of stored matrices on devices. session_mat (session.h) makes them. */
#ifndef DEVICE_COPIES_H
#define DEVICE_COPIES_H

struct device;
struct session;

/* Free the copies on d (NULL: on every device), and on devices of which d is a member, that no holding uses, because the memory is needed or
   the device is lost. */
void device_copies_drop(struct session *s, const struct device *d);

#endif
