/* Storage formats: what a format's file provides, and what is then done once for all of them. */
#ifndef FORMAT_H
#define FORMAT_H

#include "registry.h"
#include "warpspy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct param {
    const char *name; /* NULL ends the list */
    int64_t usual;    /* default; 0 may mean "chosen from the matrix" and is resolved by plan */
    int64_t min, max;
    const char *about;
};

/* A format is one file, fmt_NAME.c, ending with this entry, and one line in formats.def. */
struct format {
    const char *name, *about, *source;
    struct param params[PARAMS_MAX + 1];
    bool zeros_fade;  /* a stored explicit zero cannot be told from padding (DIA, BSR, dense) */
    bool raw;         /* has no padding by construction */
    bool interchange; /* it is the form that matrices are kept in: no conversion to pay for */
    bool spills;      /* by default it pads rows only as far as that saves bytes, and stores the rest without padding */
    int value;        /* index of the array that holds the values; -1 when there are several (see values) */
    int values[3];    /* with value == -1: the indices of the value arrays, ended by -1 */
    /* Resolve S->param and list the arrays (name, type, n; no data): exact sizes, before anything is
       allocated. May use O(rows + cols + nnz) time and temporary memory of O(rows + cols). */
    bool (*plan)(const struct csr *A, struct stored *S, struct err *e);
    /* Fill the arrays, which are allocated and zeroed. */
    bool (*pack)(const struct csr *A, struct stored *S, struct err *e);
    /* What slot i of array k is. Any slot of any array, 0 <= i < S->a[k].n. Padding has no column; it names
       the row that reads it, or -1. */
    struct place (*where)(const struct stored *S, int k, int64_t i);
    /* Formats of diagonals: the operands of piece k, by which the balance of work is measured (see struct measures);
       false when there are no more than k pieces. NULL for other formats. */
    bool (*piece)(const struct stored *S, int64_t k, int64_t *operands);
    /* Change the parameters from the usual ones to those for a GPU with so many multiprocessors; NULL: nothing to. */
    void (*suit)(int multiprocessors, int64_t *param);
};

extern const struct format *const formats[]; /* ended by NULL, in the order of formats.def */
extern const struct registry format_registry;
const struct format *format_find(const char *name);

struct plan {
    struct stored shape; /* arrays without data, params resolved */
    int64_t bytes;       /* of all arrays */
    int64_t slots;       /* places for values */
    int64_t padding;     /* slots - nnz */
};

/* What follows from the arrays' lengths. */
struct plan plan_of(const struct stored *shape);
/* S->param from param (PARAMS_MAX values, or NULL for the usual ones), which must be within their bounds. */
bool format_params(const struct format *f, const int64_t *param, struct stored *S, struct err *e);
/* Sizes of A in format f before any allocation. param: PARAMS_MAX values, or NULL for the usual ones. */
bool format_plan(const struct csr *A, const struct format *f, const int64_t *param, enum type real, struct plan *out,
                 struct err *e);
/* Refuse (E_LIMIT, with the estimate, naming `force`) when the plan would waste memory: padding above
   20 slots a nonzero and 64 MB, or more than the memory there is; force obeys up to the memory limit. */
bool format_allow(const struct plan *p, int64_t memory, bool force, struct err *e);
/* plan + allow + allocate + pack. A complex matrix is refused by name. */
bool format_pack(const struct csr *A, const struct format *f, const int64_t *param, enum type real, bool force,
                 struct stored *out, struct err *e);
/* The exact matrix back (values as stored: fp32 packs give rounded values), by way of `where`. */
bool format_unpack(const struct stored *S, struct csr *out, struct err *e);
int64_t stored_bytes(const struct stored *S);
int64_t stored_slots(const struct stored *S);
void stored_free(struct stored *S);
/* "width 3, sigma 32": the parameters it was stored with. Returns out. */
const char *stored_params(const struct stored *S, char *out, size_t size);
bool stored_is_value(const struct stored *S, int k); /* array k holds values */

/* How well a format of diagonals stores a matrix, as Wang et al. 2024 measure it: operands are the stored values,
   padding included, since all of them take part in the product (definition 3); the balance of work is the variance
   of the operands over the pieces that thread blocks process (eq. 13, which divides by the number of pieces). The
   paper's pieces are DRM's sub-blocks, and, with equal variances of HDIA and BRCSD-II at one block size, their
   blocks; BRCSD-I's are its blocks cut down to 64 rows. DIA and HDC it leaves uncut and unmeasured: here their
   pieces are DIA_ROWS rows. Our kernels give a thread block one piece, but of HDIA and BRCSD-II, whose pieces are no
   more than a warp's work as a rule, 128 rows: four hacks or blocks of 32. */
struct measures {
    int64_t padding, operands, pieces; /* padding = operands - nnz */
    double variance;                   /* 0 where there are no pieces */
};
/* E_UNSUPPORTED where the format stores no diagonals. */
bool format_measures(const struct stored *S, struct measures *out, struct err *e);

/* Entries below which threads cost more than they bring. */
enum { THREADS_FROM = 1 << 14 };

/* for fmt_*.c: append an array to the plan; write value v to slot i in S->real */
void plan_array(struct stored *S, const char *name, enum role role, enum type type, int64_t n);
void put_real(struct array *a, int64_t i, double v);
void put_reals(struct array *a, const double *v); /* the whole array, a->n values */
void put_ints(struct array *a, const int *v);     /* likewise, for T_I32 */
/* The s of 0 <= s < n with ptr[s] <= i < ptr[s+1]: the row, column or slice that holds slot i. */
int64_t span_of(const int *ptr, int64_t n, int64_t i);
int64_t span_of_wide(const int64_t *ptr, int64_t n, int64_t i);
/* For formats whose zeros fade: slot i of value array k is an entry if it is inside the matrix and not 0. */
struct place place_of_value(const struct stored *S, int k, int64_t i, int64_t row, int64_t col);

/* The last step of a plan, on the host or on a device: resolve what is left of S->param, list the arrays, refuse what
   the format cannot hold. From the entries of the longest row; those that overflow the ELL part, whose width is
   resolved; diagonals, blocks, pieces, slots in all. */
bool ell_sizes(struct stored *S, int64_t longest, struct err *e);
void hyb_sizes(struct stored *S, int64_t over);
void dia_sizes(struct stored *S, int64_t diagonals);
bool sell_sizes(struct stored *S, int64_t slots, struct err *e);
void bsr_sizes(struct stored *S, int64_t blocks);
void hdia_sizes(struct stored *S, int64_t diagonals);
bool vab_sizes(struct stored *S, int64_t pieces, struct err *e);
void hdc_sizes(struct stored *S, int64_t diagonals, int64_t rest);
int64_t hdc_least(const struct stored *S); /* entries of a diagonal that is stored whole */
bool brcsd2_sizes(struct stored *S, int64_t records, int64_t diagonals, struct err *e);

/* fmt_ell.c, shared with HYB: the first `width` entries of each row, element k of row i at k*rows + i. */
int64_t longest_row(const struct csr *A);
void ell_put(const struct csr *A, int64_t width, struct array *col, struct array *val);
struct place ell_where(const struct stored *S, const struct array *col, int64_t i);

/* Array positions, known to the format's file and to its kernels. */
enum { COO_ROW, COO_COL, COO_VAL };
enum { CSR_PTR, CSR_COL, CSR_VAL };
enum { CSC_PTR, CSC_ROW, CSC_VAL };
enum { ELL_COL, ELL_VAL };                                    /* param 0: width */
enum { SELL_PERM, SELL_PTR, SELL_COL, SELL_VAL };             /* param 0: C, 1: sigma */
enum { HYB_ELL_COL, HYB_ELL_VAL, HYB_ROW, HYB_COL, HYB_VAL }; /* param 0: width */
enum { DIA_OFFSETS, DIA_DATA };
enum { BSR_PTR, BSR_COL, BSR_VAL }; /* param 0: block size */
enum { DENSE_VAL };
enum { SCCSR_LENGTH, SCCSR_ROW_INDEX, SCCSR_VAL, SCCSR_COL_IND, SCCSR_ROW_PTR, SCCSR_SEGMENT }; /* param 0: nw */
enum { VAB_VAL, VAB_COL, VAB_ROW_PIECE };                                                 /* param 0: threads a block */
enum { HDIA_HACKOFFSETS, HDIA_OFFSETS, HDIA_DATA };                                       /* param 0: hack */
enum { BRCSD1_OFFSETS, BRCSD1_DATA, BRCSD1_PTR, BRCSD1_START, BRCSD1_BLOCK, BRCSD1_ROW }; /* param 0: min */
enum { BRCSD2_OFFSETS, BRCSD2_DATA, BRCSD2_PTR, BRCSD2_DNUM };                            /* param 0: nrows */
enum { HDC_OFFSETS, HDC_DATA, HDC_PTR, HDC_COL, HDC_VAL };                                /* param 0: fill, in % */
enum { DRM_DNUM, DRM_INDEX, DRM_BLO, DRM_OFF, DRM_VAL };                                  /* param 0: nrows */

/* DIA-Adaptive has the arrays of its choice at their positions, and nrows at param 0: the kernels of all three fit. */
enum { ADAPTIVE_DATA = 1 };
enum { ADAPTIVE_NROWS, ADAPTIVE_MIN, ADAPTIVE_DIA_PERCENT, ADAPTIVE_BRCSD1_PERCENT, ADAPTIVE_AS }; /* params */
enum { ADAPTIVE_DIA = 1, ADAPTIVE_BRCSD1, ADAPTIVE_BRCSD2 };  /* what ADAPTIVE_AS is once resolved */
const struct format *adaptive_choice(const struct stored *S); /* dia, brcsd1 or brcsd2 */

/* Sizes that the papers fix. */
enum { SCCSR_SEGMENTS = 4 };                                /* segment g folds 32 >> g rows into one */
enum { VAB_PIECE = 4 };                                     /* elements a thread */
enum { DIA_ROWS = 128, BRCSD1_ROWS = 64, DRM_ROWS = 1024 }; /* rows that a thread block takes, at most; DIA's is ours */

/* SC-CSR: rows of each segment by length alone, which become the segments' once too small ones have moved on. */
struct sccsr_segment {
    int64_t c;           /* rows folded into one */
    int64_t rows, first; /* how many sorted rows it has, and from which on */
    int64_t n, sc;       /* likewise SC-rows */
    int64_t place;       /* of its first row in row_index */
};
struct sccsr_layout {
    struct sccsr_segment segment[SCCSR_SEGMENTS];
    int64_t places, n; /* rows with the fillers, SC-rows */
};
void sccsr_lay(int64_t rows[SCCSR_SEGMENTS], int64_t nw, struct sccsr_layout *L);
bool sccsr_sizes(struct stored *S, const struct sccsr_layout *L, int64_t slots, struct err *e);

/* DRM: n segments of nrows rows, of which those before each have before[] diagonals, arranged and merged; to be freed.
 */
struct drm_layout {
    int64_t segments, subblocks;
    int *dnum;        /* by position */
    int *index, *blo; /* blo has room for a sub-block a segment */
};
bool drm_lay(const int *before, int64_t n, int64_t nrows, struct drm_layout *L, struct err *e);
void drm_layout_free(struct drm_layout *L);
void drm_sizes(struct stored *S, const struct drm_layout *L);

/* BRCSD-I: n blocks from rows start[b] on, with dnum[b] diagonals before each. */
struct brcsd1_numbers {
    int64_t blocks, records, slots, pieces;
};
struct brcsd1_pointers {
    int *ptr;
    int64_t *start;
    int *block, *row;
};
/* Rows where cuts may be, ascending, none before 1: the start rows of blocks of at least min rows, ended by the number
   of rows, go to start[n + 2]; how many blocks there are. */
int64_t brcsd1_starts(int64_t n, const int *cut, int64_t rows, int64_t min, int *start);
struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum);
bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e);
void brcsd1_point(int64_t n, const int *start, const int *dnum, const struct brcsd1_pointers *to);

/* DIA-Adaptive: S as one of its formats, with that format's parameter; is its padding below so many % of the entries?
 */
struct stored adaptive_as(const struct stored *S, int64_t as);
bool adaptive_pads_less(const struct stored *S, int64_t percent);

#ifdef __cplusplus
}
#endif
#endif
