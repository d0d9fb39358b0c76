/* The words of a `solve` line that give the same system to another method. */
#ifndef SAME_SYSTEM_H
#define SAME_SYSTEM_H

struct solve;
struct solve_options;

/* Each member is empty or begins with a blank. */
struct solve_same {
    char device[60];   /* " on emu" */
    char host[60];     /* the same for a direct solver, which runs on cpu: empty unless the device is cpu */
    char system[160];  /* " b ones column 1 seed 2" */
    char precision[8]; /* " f32" */
    char tol[40];      /* " tol 1e-10" */
    char form[32];     /* " scaled reorder matching" */
};
struct same_words {
    char text[300];
};
/* "", " scaled", " reorder rcm" or " scaled reorder rcm": the form of the system that the solver iterates on. */
struct same_words solve_form_of(const struct solve_options *o);
struct same_words same_all(const struct solve *v);
/* Without tol, for a line that gives another tol. */
struct same_words same_but_tol(const struct solve *v);
/* Without the precision, for a line that gives another precision. */
struct same_words same_but_precision(const struct solve *v);
/* For a direct solver, which takes no tol, computes in fp64, and factors A itself. */
struct same_words same_direct(const struct solve *v);

#endif
