/* The session, its output, commands and solvers: what a command's file needs. */
#ifndef SESSION_H
#define SESSION_H

#include "device.h"
#include "random.h"
#include "registry.h"
#include "log.h"
#include "undo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- out.c: what commands say; text, JSON lines or CSV from the same calls ---- */

enum out_mode { OUT_TEXT, OUT_JSON, OUT_CSV };
struct out;
struct out *out_new(FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void out_free(struct out *o);
enum out_mode out_mode(const struct out *o);
FILE *out_file(const struct out *o);
/* What is said goes to two more files too, NULL: not: rows as JSON lines; text, errors with it, as into a pipe. */
void out_listen(struct out *o, FILE *rows, FILE *text);
FILE *out_listener(const struct out *o); /* of text; for who draws on out_file by hand */
int out_columns(const struct out *o);    /* of the terminal that text goes to; 0: it goes elsewhere */
/* What would be text becomes HTML: tables and paragraphs. */
void out_html(struct out *o);
/* Called by dispatch around each command; out_end prints what is pending (aligned in text), and in JSON
   mode an {"command":..., "ok":true} line if the command printed no row. */
void out_begin(struct out *o, const char *command);
bool out_end(struct out *o, struct err *e);
void out_error(struct out *o, const struct err *why); /* to messages; in JSON mode a line with ok:false */
/* A row: a JSON object, a CSV line, a line of the text table. heading NULL: not shown in text. A command
   whose rows all come alone (out_record) is printed in text as "heading  value" lines. */
void out_row(struct out *o);
void out_record(struct out *o);
void out_keep(struct out *o, const char *heading); /* of the rows so far: the column that a narrow terminal shows yet */
void out_str(struct out *o, const char *key, const char *heading, const char *value); /* value NULL = null */
void out_int(struct out *o, const char *key, const char *heading, int64_t value);
void out_int_if(struct out *o, const char *key, const char *heading, bool known, int64_t value); /* else null, "-" */
void out_bytes(struct out *o, const char *key, const char *heading, int64_t value); /* in text as "1.23 MB" */
void out_num(struct out *o, const char *key, const char *heading, double value, const char *fmt); /* NaN = null, "-" */
/* Microseconds; in text as "417.25 us", "12.34 ms" or "1.50 s". */
void out_time(struct out *o, const char *key, const char *heading, double us);
void out_bool(struct out *o, const char *key, const char *heading, bool value);
void out_nums(struct out *o, const char *key, int64_t n, const double *values);  /* JSON only */
void out_strs(struct out *o, const char *key, int n, const char *const *values); /* JSON only */
/* Words with a blank between them; in JSON an array of them. */
void out_words(struct out *o, const char *key, const char *heading, const char *words);
/* An array of objects, JSON only: an empty one; then for each object out_within, false: no JSON is made, and its keys
   by the functions above, which print nothing meanwhile. out_without: the keys that follow are the row's again. */
void out_list(struct out *o, const char *key);
bool out_within(struct out *o, const char *key);
void out_without(struct out *o);
void out_text(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a line of prose, text mode only */
/* Lines of prose: on a terminal those that begin without a blank flow together. */
void out_prose(struct out *o, const char *text);
void out_note(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a warning or remark, to messages */
void out_progress(struct out *o,
                  const char *text);    /* a line on the terminal, replaced by the next, gone before other output */
void out_progress_clear(struct out *o); /* before writing to out_file by hand */

/* ---- mtx.c: Matrix Market ---- */

enum { WARNINGS_MAX = 16 };
struct load_info {
    char file[512];
    char field[16], symmetry[16], object[16]; /* as the banner says: real, integer, pattern, complex; ... */
    int64_t nnz_stored;                       /* entries in the file */
    int64_t duplicates, explicit_zeros;       /* summed away; kept (after summing) */
    int64_t text_bytes,
        text_ns; /* of a Matrix Market file, which has lines: its size, and when it was written; else 0 */
    int nwarnings;
    char warning[WARNINGS_MAX][200];
    double ms;
};
bool mtx_load(const char *path, struct watch *w, struct csr *A, struct load_info *info, struct err *e);
bool mtx_save(const char *path, const struct csr *A, const char *comment, struct watch *w, struct err *e);
/* One vector: an n x 1 matrix, or n numbers; exactly n values. */
bool mtx_load_vector(const char *path, int64_t n, double *x, struct err *e);
/* Tests: bytes that a block of text aims at, and threads; 0 = the usual. */
void mtx_hooks(int64_t block, int threads);

/* ---- stats.c, density.c: numbers only ---- */

struct stats {
    int64_t row_min, row_max, empty_rows, bandwidth, diagonals, explicit_zeros, longest[8];
    int nlongest; /* rows by length, longest first, smaller number first among equals */
    double row_mean, row_median, row_std;
    bool pattern_symmetric, value_symmetric;
    int64_t zero_diagonal;       /* rows (of a square matrix) whose diagonal is missing or 0 */
    int64_t dominant_rows;       /* a_ii != 0, |a_ii| >= sum of the others */
    double value_min, value_max; /* of the values; 0 when there are none */
};
bool stats_of(const struct csr *A, struct watch *w, struct stats *out, struct err *e);
struct histogram {
    int n;            /* bins in use, at most 64 */
    bool log;         /* bins grow by powers of two */
    int64_t from[65]; /* bin k holds lengths from[k] .. from[k+1]-1 */
    int64_t count[64];
    int64_t most;
};
void histogram_of(const struct csr *A, int bins, struct histogram *out);
struct window {
    int64_t row0, row1, col0, col1;
}; /* half open */
/* cells[y*w + x] += entries of A in that cell: row r falls in y = floor((r-row0)*h / (row1-row0)), exactly, so
   cell y begins at row row0 + ceil(y*(row1-row0) / h); columns likewise. Every entry of the window is in exactly
   one cell; a window may reach beyond A. Parallel; 10^7 nonzeros well under 60 ms on two cores. */
bool density_of(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct watch *watch,
                struct err *e);

/* ---- gen.c ---- */

struct generator {
    const char *name, *about, *usage;    /* usage: "poisson2d NX [NY]" */
    struct param params[PARAMS_MAX + 1]; /* positional, integers */
    /* Any seed will do. w may be NULL. */
    bool (*make)(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e);
};
extern const struct generator *const generators[]; /* ended by NULL */
extern const struct registry generator_registry;
const struct generator *generator_find(const char *name);

/* ---- session.c ---- */

struct product { /* a matrix in a format, and where it was put */
    struct stored S;
    int64_t asked[PARAMS_MAX]; /* the parameters before they were resolved */
    double prep_us;
    const struct device *packed_on; /* NULL: the host */
    struct mat mat[4];
    double put_us[4];
    int nmats;
    struct product *next;
};
struct matrix {
    char name[64];
    struct csr csr;
    struct load_info info;
    struct stats stats;
    bool has_stats;
    bool lesson;    /* a lesson made it; the next one drops it */
    int64_t number; /* of all that were added, from 1 */
    int index;      /* in the list when it was dropped; for undo */
    struct product *products;
    struct matrix *next;
};

enum { OPTIONS_MAX = 8 };

struct solve;    /* solver.h */
struct lu_steps; /* lu.h */
struct race;     /* race.h */
struct tracing;  /* tracing.h */
struct front;
struct session {
    struct matrix *matrices, *current;
    struct device *dev; /* NULL: the default, opened when first used */
    struct out *out;
    struct watch watch;
    struct front *front; /* the screen, NULL in tests without one */
    struct run *runs;    /* of the last bench or spmv, sorted by time */
    int nruns;
    struct matrix *runs_of; /* the matrix they belong to */
    struct solve *solve;    /* the solve that goes on or went last */
    struct race *race;      /* that goes on or went last */
    struct lu_steps *lu;    /* the factorisation that is stepped through, NULL: none */
    struct tracing *trace;  /* the warp that is looked at, NULL: none */
    bool plain, batch, quit;
    bool interactive;    /* stdin and stdout are terminals */
    bool terminal;       /* messages go to one: show progress */
    int depth;           /* of nested `source` */
    struct device *used; /* by the last command; looked at when one fails */
    double began_us;     /* when the command that runs began */
    double shown_us;     /* when its progress was shown last */
    const char *script;  /* the file commands come from, NULL at the prompt; and its line */
    int64_t script_line;
    struct command_log log; /* of the commands that succeeded */
    const char *folder;     /* of the lesson that runs, which names the files it reads from there; NULL outside */
    struct undo undo;
    struct record *record;        /* the commands are written there, NULL: they are not */
    char option[OPTIONS_MAX][24]; /* values that were set, empty: the usual ones; options.h */
    bool single;                  /* fp32 where a command names no precision */
    int nested;                   /* commands that run within one another */
    int64_t ran;                  /* commands so far that were not refused */
};

/* What becomes of a solve or race after its turn at the screen: it stops, goes on, or stays paused for the prompt. */
enum turn { TURN_STOP, TURN_ON, TURN_LEAVE };

/* What the terminal side gives to commands; set by main, NULL members are skipped. */
struct front {
    /* Draw view `name` as text to out_file (full == false) or run it full screen. */
    bool (*show)(struct session *s, const char *name, bool full, struct err *e);
    /* Called between slices of a solve: draw the live line, or the screen if it is paused or was asked for by
       show(s, "solve", true) while it runs; read keys. */
    enum turn (*live)(struct session *s);
    /* Called between steps of other long work that the view `name` shows: draw it on the whole screen once the work has
       taken a while, read keys. A line of progress is left to the caller. */
    enum turn (*live_view)(struct session *s, const char *name);
    /* Show what is typed, for a command of the shell, or not. */
    void (*echo)(struct session *s, bool on);
    /* Called by dispatch before a command's output or error: take the progress line or live screen away. */
    void (*calm)(struct session *s);
    /* Ask at the terminal: the line that was typed, to be released with mem_free; NULL: Ctrl-C or the end of input. */
    char *(*ask)(struct session *s, const char *prompt);
    /* The options colours or ascii were set; NULL members are skipped. */
    void (*restyle)(struct session *s);
    int width, height;            /* of text output; 80 x 24 when not a terminal */
    bool ascii;                   /* no braille, no boxes */
    bool covered;                 /* a full screen is open: no line of progress */
    const struct registry *views; /* may be NULL */
    /* What one of them shows, and its keys. */
    void (*about_view)(const char *name, const char **about, const char **keys);
};

/* ui/loop.c; declared here because main.c is the only caller */
bool ui_attach(struct session *s, struct err *e); /* fills s->front */
void ui_detach(struct session *s);
int ui_run(struct session *s); /* the prompt until quit; exit status */

bool session_new(struct session *s, FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void session_free(struct session *s);
/* Free the formats that m was converted to; and m itself, which is in no list. */
void products_free(struct matrix *m);
void matrix_free(struct matrix *m);
struct matrix *session_matrix(struct session *s, const char *name, struct err *e); /* NULL name: the current one */
/* Take over A and info under a name (made unique from the file's if name is NULL); becomes current. */
bool session_add(struct session *s, const char *name, struct csr *A, const struct load_info *info, struct err *e);
bool session_drop(struct session *s, struct matrix *m);
/* The path of a file to read: in a lesson one that is not absolute begins at the lesson's own folder. */
bool session_path(const struct session *s, const char *file, char *path, size_t size, struct err *e);
struct device *session_device(struct session *s, const char *name,
                              struct err *e); /* NULL name: the chosen or default one */
const struct stats *session_stats(struct session *s, struct matrix *m, struct err *e);
/* The matrix packed, from the cache or new; param NULL = usual. */
struct product *session_product(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                enum type real, bool force, struct err *e);
/* The same, new ones packed by d from the matrix in csr, which is put there; on the host where d has no packer for f or
   too little memory. What d packed lies there, and has been copied to the host. */
struct product *session_product_on(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                   enum type real, bool force, struct device *d, struct err *e);
struct mat *session_mat(struct session *s, struct product *p, struct device *d, struct err *e);
void session_device_lost(struct session *s, struct device *d); /* drop its mats, try a reset, say so */
/* Ctrl-C sets a flag that the session's tick reads; `once`: a second one ends the program. */
void session_catch_interrupt(bool once);
bool session_take_interrupt(void); /* true if it was set; clears it */

/* ---- command.c: grammar, dispatch, completion, help ---- */

struct args;
/* A command is one entry at the end of its file and one line in commands.def.
   grammar: space separated. UPPER = a value of that kind, in its place; lower = a word that must be there;
   [..] optional; [key KIND] an optional pair, in any order; [word] an optional flag; A... one or more.
   Kinds: MATRIX FORMAT KERNEL DEVICE SOLVER RACER COMMAND VIEW GENERATOR FILE NAME N (integer) R (real) WORD TEXT
   (the rest of the line). Kind PARAMS: key-value pairs of integers, checked by the command. */
struct command {
    const char *name, *about; /* about: one line */
    const char *grammar;
    const char *help; /* a few lines, with an example */
    bool (*run)(struct session *s, const struct args *a, struct err *e);
};
extern const struct command *const commands[]; /* ended by NULL */
extern const struct registry command_registry;
const struct command *command_find(const char *name);
/* Value of a positional (by its kind, lower case: "matrix", "format", second one "matrix2") or of a key; NULL if
 * absent. */
const char *arg(const struct args *a, const char *key);
bool arg_flag(const struct args *a, const char *word);
int64_t arg_int(const struct args *a, const char *key, int64_t otherwise);
double arg_real(const struct args *a, const char *key, double otherwise);
int arg_count(const struct args *a, const char *key); /* of a repeated kind */
const char *arg_at(const struct args *a, const char *key, int i);
/* Resolve PARAMS against a format's or generator's list into v[PARAMS_MAX] (the usual ones where not given). */
bool arg_params(const struct args *a, const struct param *list, int64_t *v, struct err *e);
enum type arg_precision(const struct args *a); /* flags f32 / f64; T_F64 when neither */

/* Run one line: commands separated by ';', # comments, quotes, !shell. False if any failed; the error was
   already said through out_error. */
bool run_line(struct session *s, const char *line);
bool run_file(struct session *s, FILE *f, const char *name); /* stops at the first failure in batch */
/* Completions of the word that ends at `line[pos]`, one per call to `give`. */
void complete(struct session *s, const char *line, size_t pos, void (*give)(void *user, const char *word), void *user);

#ifdef __cplusplus
}
#endif
#endif
