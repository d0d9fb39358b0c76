/* What warpspy and the program warpspy-ranks (src/petsc) agree on. warpspy writes one command per line to the standard
   input of rank 0; rank 0 answers with one JSON object per line. Vectors and the matrix are files in PETSc's binary
   format in a common folder, the argument of warpspy-ranks. At the end of its input, warpspy-ranks ends, and removes
   these files and the folder.

   | command                        | answers (member "type")                                                  |
   |--------------------------------|--------------------------------------------------------------------------|
   | at the start                   | `rank` for each rank, then `hello`                                       |
   | load                           | `part` for each rank, then `loaded`                                      |
   | multiply REPS                  | `product` with the times; reads x, writes y                              |
   | solve FLAGS TOL MAXIT OPTIONS  | `begun`, `its` for batches of iterations, `solved`; reads b and x, writes x      |
   | log                            | `event` for each event of a phase, then `logged`                         |
   | quit                           | none                                                                     |

   FLAGS: 1 if x holds a starting guess, plus 2 if the solve begins paused. REPS 0: chosen by warpspy-ranks. While it
   solves, warpspy-ranks also takes `stop` (the x so far is written), `pause` (answer: `paused`) and `go N` (N
   iterations, then a pause; 0: no pause). A command that fails has the answer `error`, and warpspy-ranks takes the next
   command. */
#ifndef RANKS_PROTOCOL_H
#define RANKS_PROTOCOL_H

/* Raise this number when a command or an answer changes. */
enum { RANKS_PROTOCOL = 1 };

/* The files in the folder. */
#define RANKS_MATRIX "matrix"
#define RANKS_X "x"
#define RANKS_B "b"
#define RANKS_Y "y"

#endif
