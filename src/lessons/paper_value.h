/* The numbers of ours in the tables of lessons: quantities, and how each number is found. */
#ifndef PAPER_VALUE_H
#define PAPER_VALUE_H

#include <stdbool.h>

struct err;
struct matrix;
struct papers;
struct quantity;
struct session;

/* One number, and where it comes from. The texts of a ratio or a mean join the texts of its parts by " / ". */
struct paper_value {
    double value;     /* NaN: none */
    double spread;    /* half the interquartile range, as a share of the value; 0 if counted; NaN: not known */
    char how[48];     /* "counted", "measured" or "predicted" */
    char device[160]; /* the device that measured it, or the GPU that it was predicted for; empty: counted */
    char kernel[128]; /* the kernel that it is a time of; empty: none */
};

/* The quantity of this name, such as "us". Fails with a list of all quantities. */
const struct quantity *quantity_find(const char *name, struct err *e);
const char *quantity_format(const struct quantity *q); /* for printf */

/* Find the number of a row. `matrix`: the name of a matrix, or mean, highest or lowest for all matrices of the lesson,
   or (NAME) for a matrix that the session may lack. For like-NAME, a matrix of the session whose name begins with NAME
   answers in place of the lesson's, if there is one. `of`: one name, or "a / b" for the ratio of the quantity of a to
   the quantity of b; for counts of a format, its parameters may follow its name, as in "brcsd1 min 32 piece 128". A
   kernel runs on the device that it is made for: a host kernel on cpu, another kernel on the session's GPU. Without a
   GPU, the time of a GPU kernel is predicted by the cost model, and so are the iterations of solvers and lu-paper
   (paper_predicted.h). No other kernel ever answers.
   Fails with E_UNSUPPORTED, E_LIMIT or E_MEMORY if there is no number. */
bool paper_find(struct session *s, struct papers *p, const char *matrix, const char *of, const struct quantity *q,
                struct paper_value *out, struct err *e);
/* Print where the numbers of the table come from. The measurements stay, for the next table. */
void paper_sources(struct session *s, struct papers *p);
/* Drop all measurements. */
void paper_forget(struct papers *p);

#endif
