/* Kernels for the emulator's own tests. */
#ifndef EMU_KERNELS_H
#define EMU_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Run the kernel called `name` on 256 ints; findings are left for emu_sync. */
void emu_test_run(const char *name, int *y);
/* The number of the first source line of the kernels that holds `text`, 0 if there is none. */
int emu_test_line(const char *text);
/* For the microscope, on the rows of a csr: each thread walks its row in two loops, and loads more where a column is
   odd; one with an index outside x in its last row; one that calls x and y xs and ys, and a vector of its own x. */
extern const struct kernel emu_test_nested, emu_test_outside, emu_test_renamed;

#ifdef __cplusplus
}
#endif
#endif
