/* The predicted times of the ways of machine/transfer.h, for a GPU that is not here. */
#ifndef TRANSFER_MODEL_H
#define TRANSFER_MODEL_H

#include <stdbool.h>

struct err;
struct link;
struct machine;
struct transfer;
struct transfer_plan;

/* The three stages of each piece, in us. */
struct stages {
    double in, run, back;
};
/* The time of n equal pieces. Each stage works on one piece at a time, in the order of the pieces, and a piece begins
   when the piece before it in its stream has ended. */
double transfer_stages_us(struct stages each, int n, int streams);

/* Predict each way on g, to which `link` leads; p->dev is the emulator, and p->ops and p->reps are not used. Copies
   from page-locked memory take the latency and the bandwidth of the link, at which all streams take turns; SpMVs take
   what the cost model predicts for the piece in the middle, but those in several streams together not less than SpMVs
   with the whole matrix. Copies from pageable memory depend on the host: their times are NaN, and so is pin_us; spreads
   are NaN, reps 0. Fails with E_CANCELLED, E_MEMORY, or the errors of modeled_csr. */
bool transfer_predict(const struct transfer_plan *p, const struct link *link, const struct machine *g,
                      struct transfer *out, struct err *e);

#endif
