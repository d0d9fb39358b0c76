/* Matrices that a library reads in a child process. The file of the library, such as file_mat.c, contains the code of
   the child; matrix_library.c starts the child and receives the matrix. */
#ifndef MATRIX_LIBRARY_H
#define MATRIX_LIBRARY_H

#include "base/err.h"
#include "file.h"
#include "variables.h"

/* The data in the pipe begin with this header. If the header reports no error, int32 pointers, int32 indices and double
   values follow it, then the values of b and of x, column by column: first all real parts, then the imaginary parts. */
struct child_matrix {
    int32_t code; /* E_NONE, or an error whose message is in names.all */
    int32_t complex_values, logical;
    int32_t by_rows;       /* the pointers are those of rows, not of columns */
    int32_t wide_integers; /* the values were integers of 64 bits */
    int32_t names_one;     /* name the matrix that is read in a note, even if there is no other */
    int64_t rows, cols, nnz;
    struct {
        int64_t rows, cols; /* 0: the file does not contain it */
        int32_t complex_values;
    } side[SIDES];
    struct variable_names names;
};

/* ---- the child process: these functions do not return once the parent has gone ---- */

bool child_send(int fd, const void *data, size_t n);
/* Send n numbers of `bytes` bytes each as doubles. */
bool child_send_numbers(int fd, const char *p, int64_t n, file_number *number, size_t bytes);
/* Send an error to the parent and exit. */
_Noreturn void child_give_up(int fd, enum code code, const char *text);
/* The same if no matrix is chosen. */
_Noreturn void child_give_up_choice(int fd, const struct variable_names *names);

/* ---- the parent process ---- */

struct matrix_library {
    const char *name; /* "libmatio" */
    const char *noun; /* what the file contains: "sparse variable" */
    /* Send the matrix of the file, or call child_give_up; must not return. `part` may be NULL. */
    void (*child)(int fd, const char *path, const char *part);
};
bool matrix_library_load(const struct matrix_library *lib, struct source *s, struct watch *w, struct csr *A,
                         struct load_info *info, struct err *e);

#endif
