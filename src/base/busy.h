/* How much of the machine other programs use while something is measured. */
#ifndef BUSY_H
#define BUSY_H

/* Clock readings, in us. */
struct busy {
    double wall_us; /* time on the monotonic clock */
    double all_us;  /* processor time that all programs have used since the machine started */
    double own_us;  /* processor time that this process has used */
};

/* `root` is empty except in tests, which pass a folder that contains `proc/stat`. */
struct busy busy_now(const char *root);
/* How many processors other programs used on average between the readings `from` and `to`; NaN if the machine does not
   report it. */
double busy_others(const struct busy *from, const struct busy *to);

#endif
