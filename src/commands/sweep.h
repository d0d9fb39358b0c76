/* A sweep: a command that ran with several values of a word, and the numbers that it printed. */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>

struct err;
struct row_kind;
struct session;

enum { SWEEP_VALUES = 256, SWEEP_SERIES = 64, SWEEP_MEASURES = 8, SWEEP_LINE = 1024 };

struct sweep_value {
    char text[48];
    double number; /* NaN: a word */
    char why[200]; /* why the command failed with this value; empty: it did not */
};
/* How numbers came about. */
enum sweep_how { SWEEP_COMPUTED, SWEEP_MEASURED, SWEEP_PREDICTED };
extern const char *const sweep_how_names[];
/* A number that the command prints. */
struct sweep_measure {
    char key[40]; /* of the command's JSON */
    char name[48];
    const char *unit;   /* "us"; empty: none */
    enum sweep_how how; /* at the first value that has the number */
    char on[80];        /* the device, or the GPU of the prediction; empty: none */
};
struct sweep {
    char parameter[32], line[SWEEP_LINE];
    char matrix[64]; /* of the numbers, at the first value; empty: none */
    bool numbers;    /* all values are numbers */
    bool log;        /* and grow by factors */
    int planned, n;  /* values, and how many of them ran */
    struct sweep_value *value;
    char label[16]; /* key that tells the series apart, such as "kernel"; empty: there is one series */
    int nseries;
    char series[SWEEP_SERIES][48];
    int nmeasures;
    struct sweep_measure measure[SWEEP_MEASURES];
    double *cell; /* see sweep_cell; NaN: none */
};
/* A number of value i, series k. */
double *sweep_cell(const struct sweep *v, int i, int k, int measure);

/* Read the values: FROM..TO with a step or a factor (NaN: not given), or words separated by commas. */
bool sweep_read_values(struct sweep *v, const char *span, double step, double times, struct err *e);
/* Do the values, two or more, grow by similar factors rather than steps? */
bool sweep_grows(const struct sweep *v);

/* How a value enters the line: in place of the words that are the parameter, after such a word, which is a keyword, or
   with the parameter at the end. */
enum sweep_place { PLACE_WORD, PLACE_KEYWORD, PLACE_END };
/* The line with a value. Fails if it is too long. */
bool sweep_put(const struct sweep *v, enum sweep_place place, const char *value, char out[SWEEP_LINE], struct err *e);

/* Run the line with each value, and replace s->sweep; the session is otherwise unchanged. `show` names the numbers, as
   keys separated by commas; NULL: the main ones. On failure, s->sweep is unchanged, unless Ctrl-C ended the sweep after
   the first value: then it has the values so far. */
bool sweep_begin(struct session *s, struct sweep *v, const char *show, struct err *e);
void sweep_free(struct sweep *v); /* accepts NULL */
/* Print the table of the sweep. */
void out_sweep(struct session *s, const struct sweep *v);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_sweep;

#endif
