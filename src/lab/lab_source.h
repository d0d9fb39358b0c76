/* What a user's file declares: its kernels, found without a compiler, and the text that the compiler gets. */
#ifndef LAB_SOURCE_H
#define LAB_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct format;

enum { PARAMETERS_MAX = 24, FUNCTIONS_MAX = 16, ENTRIES_MAX = 64 };

/* A parameter of a __global__ function. */
struct parameter {
    char name[48], type[64]; /* the type without const, pointers and GPTR: "double", "T" */
    bool pointer, is_const;
    int line;
};
struct function {
    char name[64];
    int line;
    int templates; /* parameters of its template: 0, 1 (T) or 2 (T and U) */
    int nparameters;
    struct parameter parameter[PARAMETERS_MAX];
};
/* An entry that the file itself makes by KERNEL_ENTRY. */
struct entry_text {
    char id[64];   /* csr_scalar */
    char name[64]; /* csr-scalar; empty: not found */
    int line;
};
struct source {
    bool dialect;                /* the file includes gpu/dialect.h, so it is compiled as it is */
    bool has_atomics, adds_to_y; /* atomics; such as atomicAdd(&y[row], ...) */
    int nfunctions, nentries;
    struct function function[FUNCTIONS_MAX];
    struct entry_text entry[ENTRIES_MAX];
    /* TRY(format, blocks, threads, bytes of shared memory), in the code or in a comment; empty: not given */
    char format[32], blocks[256], threads[256], shared[256];
    int try_line;
    /* chosen by source_choose: one of the two */
    int chosen_function, chosen_entry; /* -1: the other */
    const struct format *of;
};

/* Read what the text declares. `file` is its name, for messages. */
bool source_read(struct source *s, const char *text, const char *file, struct err *e);
/* Choose the kernel called `kernel` (NULL: the only one) for the format (NULL: the one of the file, else csr), and bind
   its parameters. */
bool source_choose(struct source *s, const char *file, const char *kernel, const char *format, struct err *e);
/* The text for g++ and for nvcc, which the caller frees with mem_free. name: the kernel's name. */
char *source_for_emulator(const struct source *s, const char *text, const char *file, const char *name, struct err *e);
char *source_for_gpu(const struct source *s, const char *text, const char *file, const char *name, struct err *e);
/* In a GPU's shared object: const char *f(void), the error of the last launch, or NULL. */
#define LAB_LAUNCH_ERROR "launch_error_of_the_lab"
/* The symbol of the kernel's entry in the shared object, for the emulator or the GPU. */
void source_symbol(const struct source *s, bool gpu, char *out, size_t size);

/* Plain CUDA C as the dialect, for the emulator (lab_plain.c). The caller frees it. */
char *plain_to_dialect(const char *text, struct err *e);
/* The text with comments, strings and directives replaced by blanks; lines stay where they are. */
char *source_blank(const char *text, struct err *e);

#endif
