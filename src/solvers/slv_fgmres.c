/* Flexible GMRES(m) (Saad 1993): gmres that stores M^-1 times each vector of its basis, so that M may be another one in
   each iteration. Without a preconditioner, it is gmres. */
#include "machine/gmres_work.h"
#include "solve_state.h"
#include "solver.h"

const struct solver solver_fgmres = {
    .name = "fgmres",
    .about = "gmres for preconditioners that vary or are rounded: it stores M^-1 times each direction",
    .source = "Saad 1993",
    .needs = "a square matrix, and memory for 2 m + 3 vectors",
    .advice = "a larger m may help (see `help change`), or another preconditioner",
    .cost = "as gmres, but with memory for 2 m + 3 vectors; M^-1 is applied once per iteration, and not at the end",
    .when =
        "with a preconditioner that is applied in fp32 on a GPU, such as amg, or schur with amg. With others it needs "
        "the iterations of gmres, and more memory",
    .vectors = 1,
    .window = 100,
    .window_per_row = 1,
    .window_most = GM_MAX,
    .flexible = true,
    .restarts = true,
    .used_bytes = gmres_used_bytes,
    .arnoldi = true,
    .publish = gmres_publish,
    .products_only = true,
    .several = true,
    .complex_steps = true,
    .products = 1,
    .bytes = gmres_bytes,
    .init = gmres_init,
    .step = gmres_step,
    .settle = gmres_settle,
    .finish = gmres_finish,
    .finish_bytes = gmres_finish_bytes,
    .explain = gmres_explain,
    .peers = {.petsc = "-ksp_type fgmres",
              .hypre = "FlexGMRES",
              .amgx = "\"solver\": \"FGMRES\"",
              .ginkgo = "\"type\": \"solver::Gmres\", \"flexible\": true"},
};
