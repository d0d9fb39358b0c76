/* What the command sass and the view sass say of machine code. */
#ifndef SASS_ROWS_H
#define SASS_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct machine_code;
struct machine_codes;
struct out;
struct row_kind;
struct session;

/* A line of the summary: a quantity, and its value for each function. */
enum { SASS_VALUE = 64 };
struct sass_quantity {
    const char *name;
    void (*show)(const struct machine_code *c, char *out, size_t size);
    bool short_list; /* also in a short summary */
};
extern const struct sass_quantity sass_quantities[]; /* terminated by a NULL name */

/* "sm_90, nvcc 13.0, stored listing, csr_vector<double, double>" */
char *sass_title(const struct machine_code *c, char *out, size_t size);
/* What an instruction does with memory: "8 B read-only, 3 in flight", or, if brief, "8 B, 3 in flight"; "" */
char *sass_note(const struct machine_code *c, int instruction, bool brief, char *out, size_t size);
/* '#': in the hot loop, '|': in another loop, '!': only diverged warps come here, ' ' */
char sass_mark(const struct machine_code *c, int instruction);

/* Print the codes, in text with the instructions if there is one. */
void out_sass(struct session *s, const struct machine_codes *codes);
extern const struct row_kind row_sass_function, row_sass_instruction;

#endif
