/* Kernels for the emulator's own tests. */
#ifndef EMU_KERNELS_H
#define EMU_KERNELS_H

#include "../gpu/emu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Run the kernel called `name` on 256 ints; findings are left for emu_sync. */
void emu_test_run(const char *name, int *y);
/* The number of the first source line of the kernels that holds `text`, 0 if there is none. */
int emu_test_line(const char *text);

#ifdef __cplusplus
}
#endif
#endif
