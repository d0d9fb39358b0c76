/* Which method suits a matrix, by what is known of it: one table, from which `check` takes its verdict, and a solve
   that failed takes what to try next. Times are not considered: `advise solver` measures them. */
#ifndef RULES_H
#define RULES_H

struct csr;
struct facts;

struct rule {
    unsigned traits;     /* the rule fits a matrix that has all of these: bits, in rules.c */
    const char *solver;  /* NULL: no solver by iteration suits */
    const char *pre;     /* the preconditioner that suits; NULL: none */
    const char *because; /* why, after "solve SOLVER A: "; NULL: there is no solver */
    const char *verdict; /* what `check` says */
};

/* Reasons that do not depend on the facts: a symmetric matrix suits minres, any matrix ilu0, gmres is steady,
   a matching fills the
   diagonal, and schur takes saddle points apart. */
extern const char because_symmetric[], because_any[], because_never_grows[], because_filled[], because_saddle[];
/* The first rule that fits A and its facts; the last one fits every matrix. */
const struct rule *rule_for(const struct facts *f, const struct csr *A);

#endif
