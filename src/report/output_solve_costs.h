/* Prints what a solve cost; parts of the result that out_solve prints. */
#ifndef OUTPUT_SOLVE_COSTS_H
#define OUTPUT_SOLVE_COSTS_H

struct out;
struct solve;

/* Print the preconditioner, what it cost, and how many iterations it must save; the keys are null without one. */
void out_solve_precond(struct out *o, const struct solve *v);
/* Print the times and the bytes of the iterations, of the copies and of the phases. */
void out_solve_costs(struct out *o, const struct solve *v);

#endif
