/* Which eigenvalues of an operator a search wants first. */
#ifndef WANTED_H
#define WANTED_H

/* LARGEST, SMALLEST: real part; FARTHEST: modulus; NEAREST: to `target` */
enum wanted_end { WANTED_LARGEST, WANTED_SMALLEST, WANTED_FARTHEST, WANTED_NEAREST };

struct wanted {
    enum wanted_end end;
    double target;
};

/* The position of the value re + i im in the wanted order: smaller is better. A conjugate has the same rank. */
double wanted_rank(const struct wanted *w, double re, double im);

#endif
