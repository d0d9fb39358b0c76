/* The machine code of kernels' functions, and where it comes from: this program, as nvdisasm of the CUDA toolkit lists
   it, or the listings that are stored with the samples. */
#ifndef MACHINE_CODE_H
#define MACHINE_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/precision.h"
#include "machine/sass.h"

struct err;
struct kernel;
struct watch;

enum { FUNCTION_NAME = 96 };

/* What to show. */
struct machine_code_request {
    const struct kernel *kernel;
    enum precision real;
    const char *architecture; /* "sm_90"; NULL: that of this program, or of the reference */
    const char *function;     /* "csr_cusp<double, double, 8>"; NULL: as `instance` says */
    int instance; /* among those that the kernel may launch, from 1; 0: the last one of its first function */
};

struct machine_code {
    char kernel[64];
    enum precision real;
    char function[FUNCTION_NAME]; /* as in machine/compiled.h */
    char compiler[32];            /* "nvcc 13.0"; "": not known */
    const char *origin;           /* "this program", "stored listing", "compiled now" */
    bool changed;                 /* the sources have changed since the listing was made: its lines may be wrong */
    int registers, shared_bytes, local_bytes;
    int instance, instances; /* this one, from 1, and how many functions the kernel may launch in the precision */
    struct sass sass;
};
/* Two kernels are compared. */
struct machine_codes {
    int n;
    struct machine_code of[2];
};

/* E_UNSUPPORTED: the kernel has no machine code, or none is at hand for the precision and architecture. E_USAGE: there
   is no such instance. E_CANCELLED. */
bool machine_code_read(const struct machine_code_request *r, struct machine_code *out, struct watch *w, struct err *e);
void machine_code_free(struct machine_code *c);
/* The list of a cubin's functions, or of the one whose symbol is given (not NULL), as `nvdisasm -gi -c` prints it, for
   the caller to free with mem_free; NULL: an error. */
char *machine_code_disassemble(const void *cubin, size_t n, const char *symbol, struct watch *w, struct err *e);
/* Is the program nvdisasm installed? */
bool machine_code_has_nvdisasm(void);
/* Does the file, named without its folder, count as source of kernels? (see sass_read) */
bool machine_code_is_source(const char *file);

/* The instruction to show for a line of the source: the first global load or store of the line, in the hot loop if the
   line is in it; otherwise, its first instruction; -1: the line has no instruction. */
int machine_code_at_line(const struct machine_code *c, const char *file, int line);

#endif
