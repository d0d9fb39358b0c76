/* What a compiler made of a user's kernel, as far as it changes what the emulator counts: registers, and accesses of
   the source that the compiled code does less often, because the compiler hoisted them out of a loop or merged them,
   and the order in which the lanes of a warp go through the rounds of unrolled loops. src/lab finds them;
   gpu/emu/elide.c and gpu/emu/rounds.c apply them. */
#ifndef AS_COMPILED_H
#define AS_COMPILED_H

#include <stdbool.h>

#include "base/base.h"
#include "microscope.h"

C_BEGIN

enum { ELISIONS_MAX = 96, COMPILED_FUNCTIONS = 16, COMPILED_LOOPS = 48, LOOP_STAGES = 12, TWINS_MAX = 48 };

/* A part of a file's text, from its first position to the one before its end, both counted from 1. Empty if end_line
   is 0. */
struct text_part {
    int line, column, end_line, end_column;
};
static inline bool text_part_has(const struct text_part *p, int line, int column)
{
    bool before = line < p->line || (line == p->line && column < p->column);
    return !before && (line < p->end_line || (line == p->end_line && column < p->end_column));
}

/* Accesses that the compiled code elides: of this kind, of `bytes` bytes per lane, that are written in this part of the
   file, in the function with this number. */
struct elision {
    int function;
    struct text_part part;
    enum access_kind kind;
    int bytes;
    /* merged: the code has no such access, so a value that the lane has loaded or stored is there already (bytes 0: of
       any number of bytes). Otherwise the access is done once each time that a lane enters `loop` (if that is empty:
       once per thread), and the emulator elides the requests in which every lane repeats its address. */
    bool merged;
    struct text_part loop;
    bool after_stores; /* it is done again after a store or an atomic of the warp */
    bool invariant;    /* not merged, and the code has it in no round of the loop around it in the source */
};

/* Is site p of a launch of this function one of these accesses? */
static inline bool elision_is_of(const struct elision *e, int function, const struct scope *s,
                                 const struct access_site *p)
{
    return e->function == function && e->kind == p->kind && p->array >= 0 &&
           (!e->bytes || e->bytes == p->elements * s->array[p->array].size) &&
           text_part_has(&e->part, p->line, p->column);
}

/* Accesses of which the compiled code has several in a round of their loop, because it unrolled the loop: their loads
   are in flight together. */
struct unrolling {
    int function;
    struct text_part part;
    enum access_kind kind;
    int n;
};

/* Code that does `rounds` rounds of a loop of the source, one after another: as long as the lane has that many left if
   it repeats, otherwise once. */
struct loop_stage {
    int rounds;
    bool repeats;
};

/* A loop of the source that this function contains or calls. Its stages are in the order of the code, and the lanes of
   a warp reconverge after each one. A stage before one with more rounds does as many as do not fill the later ones. */
struct compiled_loop {
    int function;
    struct text_part part;
    int nstages; /* 0: the lanes go through it round by round */
    struct loop_stage stage[LOOP_STAGES];
};

/* Loads of one element that are written in two parts of the file, as in both branches of an `if`; the code has one. */
struct twin {
    int function;
    struct text_part part, other;
};

struct as_compiled {
    char file[64]; /* name of the user's file, as sites give it */
    int nfunctions;
    struct {
        char name[64];         /* as struct scope_launch.function */
        int registers;         /* of a thread; 0: not known */
        struct text_part body; /* of a __global__ function */
    } function[COMPILED_FUNCTIONS];
    int n;
    struct elision of[ELISIONS_MAX];
    int nunrolled;
    struct unrolling unrolled[ELISIONS_MAX];
    /* an outer loop before those inside; 0 or -1: not known, so that reconvergence is guessed from the accesses */
    int nloops;
    struct compiled_loop loop[COMPILED_LOOPS];
    int ntwins;
    struct twin twin[TWINS_MAX];
};

/* The rounds that a lane with `left` rounds left does in stage k of l. */
int64_t loop_stage_rounds(const struct compiled_loop *l, int k, int64_t left);

/* Later launches are counted as this code does them; NULL: as the source says. Traces are always as in the source. */
void emu_count_as(const struct as_compiled *c);

C_END
#endif
