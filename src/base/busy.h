/* How much of the machine other programs use while something is measured. */
#ifndef BUSY_H
#define BUSY_H

/* The processor time that all programs have used since the machine started, and that this process has used, in us. */
struct busy {
    double wall_us, all_us, own_us;
};

/* root is empty except in tests, which pass a folder that contains `proc/stat`. */
struct busy busy_now(const char *root);
/* How many processors other programs used on average between two such times; NaN if the machine does not tell. */
double busy_others(const struct busy *from, const struct busy *to);

#endif
