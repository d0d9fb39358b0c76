/* Matrices on regular grids: the Poisson equation in one to three dimensions, convection and diffusion, and finite
   elements. */
#include "gen.h"
#include "random.h"

#include <string.h>

/* ---- boxes: each point is coupled to its neighbours along the axes; x varies fastest ---- */

struct box {
    int64_t n[3];                         /* points along x, y and z */
    double diagonal, before[3], after[3]; /* the entries of the neighbours along each axis */
};

static int64_t box_length(const void *of, int64_t i)
{
    const struct box *b = of;
    int64_t length = 1;
    for (int k = 0; k < 3; i /= b->n[k++]) length += (i % b->n[k] > 0) + (i % b->n[k] < b->n[k] - 1);
    return length;
}

static void box_row(const void *of, int64_t i, struct csr *A, int64_t at)
{
    const struct box *b = of;
    int64_t step[3] = {1, b->n[0], b->n[0] * b->n[1]}, place[3];
    for (int k = 0; k < 3; k++) place[k] = i / step[k] % b->n[k];
    for (int k = 2; k >= 0; k--)
        if (place[k] > 0) gen_put(A, &at, i - step[k], b->before[k]);
    gen_put(A, &at, i, b->diagonal);
    for (int k = 0; k < 3; k++)
        if (place[k] < b->n[k] - 1) gen_put(A, &at, i + step[k], b->after[k]);
}

static struct row_source *rows_of(const struct generator *g, const struct box *b, struct err *e)
{
    static const struct row_maker maker = {box_length, box_row};
    int64_t n = b->n[0] * b->n[1] * b->n[2];
    if (!csr_limits_any(n, n, 0, e)) return NULL;
    struct row_source *s =
        row_source_new(g->name, n, n, gen_axis_pairs(b->n[0], b->n[1], b->n[2]), &maker, b, sizeof *b, e);
    if (s) s->symmetric = !memcmp(b->before, b->after, sizeof b->before);
    return s;
}

/* The Poisson equation in 1, 2 or 3 dimensions. */
static struct row_source *laplace(const struct generator *g, int64_t nx, int64_t ny, int64_t nz, int dimensions,
                                  struct err *e)
{
    struct box b = {{nx, ny, nz}, 2 * dimensions, {-1, -1, -1}, {-1, -1, -1}};
    return rows_of(g, &b, e);
}

static struct row_source *rows_chain(const int64_t *p, uint64_t seed, struct err *e)
{
    const struct generator *g = &generator_chain;
    return gen_params(g, p, e) ? laplace(g, p[0], 1, 1, 1, e) : NULL;
}

/* Convection and diffusion by central differences, times h^2: a wind along both axes, whose cell Peclet number is 2 w.
 */
static struct row_source *rows_convection(const int64_t *p, uint64_t seed, struct err *e)
{
    const struct generator *g = &generator_convection;
    double w = (double)p[2] / 100;
    struct box b = {{p[0], p[1] ? p[1] : p[0], 1}, 4, {-1 - w, -1 - w, 0}, {-1 + w, -1 + w, 0}};
    return gen_params(g, p, e) ? rows_of(g, &b, e) : NULL;
}

static struct row_source *rows_poisson2d(const int64_t *p, uint64_t seed, struct err *e)
{
    const struct generator *g = &generator_poisson2d;
    return gen_params(g, p, e) ? laplace(g, p[0], p[1] ? p[1] : p[0], 1, 2, e) : NULL;
}

static struct row_source *rows_poisson3d(const int64_t *p, uint64_t seed, struct err *e)
{
    const struct generator *g = &generator_poisson3d;
    return gen_params(g, p, e) ? laplace(g, p[0], p[1] ? p[1] : p[0], p[2] ? p[2] : p[0], 3, e) : NULL;
}

static bool make_poisson2d(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_poisson2d(p, seed, e), w, out, e);
}

static bool make_poisson3d(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_poisson3d(p, seed, e), w, out, e);
}

static bool make_chain(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_chain(p, seed, e), w, out, e);
}

static bool make_convection(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_convection(p, seed, e), w, out, e);
}

/* ---- fem: nodes with 3 unknowns each, coupled to the 8 nodes around them by -w M, M = [8 1 1; 1 8 1; 1 1 8] / 8 ----
   Each edge has a random weight w in (0, 1], a multiple of 1/1024, so that sums are exact. The diagonal block of a node
   is M times the sum of the weights of its edges; edges that would leave the grid have weight 1, which models a
   Dirichlet boundary. The matrix is the Kronecker product of a grounded weighted Laplacian and M: symmetric positive
   definite. */

enum { DOF = 3 };

/* The weight of the edge between nodes a and b, in either direction. */
static double edge_weight(uint64_t seed, int64_t a, int64_t b)
{
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    uint64_t state = gen_stream(seed, low << 32 | high);
    return (double)(1 + (random_next(&state) & 1023)) / 1024;
}

struct stencil {
    int n;
    int64_t node[9]; /* ascending */
    double weight[9];
};

/* Node (x, y) and the nodes around it, each with the factor by which M is multiplied. */
static void stencil_at(int64_t nx, int64_t ny, int64_t x, int64_t y, uint64_t seed, struct stencil *s)
{
    int64_t centre = y * nx + x;
    double sum = 0;
    int self = 0;
    s->n = 0;
    for (int64_t v = y - 1; v <= y + 1; v++)
        for (int64_t u = x - 1; u <= x + 1; u++) {
            bool inside = u >= 0 && u < nx && v >= 0 && v < ny;
            int64_t node = v * nx + u;
            double weight = !inside ? 1 : node == centre ? 0 : edge_weight(seed, centre, node);
            sum += weight;
            if (!inside) continue;
            if (node == centre) self = s->n;
            s->node[s->n] = node;
            s->weight[s->n++] = -weight;
        }
    s->weight[self] = sum;
}

static bool make_fem(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    int64_t nx = p[0], ny = p[1] ? p[1] : p[0], at = 0;
    if (!gen_params(&generator_fem, p, e) || !csr_limits(DOF * nx * ny, DOF * nx * ny, 0, e)) return false;
    int64_t n = DOF * nx * ny, nnz = DOF * DOF * gen_near_pairs(nx) * gen_near_pairs(ny);
    if (!csr_new(out, n, n, nnz, false, e)) return false;
    for (int64_t i = 0; i < nx * ny; i++) {
        struct stencil s;
        if (!gen_tick(w, &generator_fem, i, nx * ny, out, e)) return false;
        stencil_at(nx, ny, i % nx, i / nx, seed, &s);
        for (int row = 0; row < DOF; row++) {
            for (int k = 0; k < DOF * s.n; k++)
                gen_put(out, &at, DOF * s.node[k / DOF] + k % DOF, s.weight[k / DOF] * (k % DOF == row ? 1 : 0.125));
            out->rowptr[DOF * i + row + 1] = (int)at;
        }
    }
    return true;
}

const struct generator generator_poisson2d = {
    .name = "poisson2d",
    .aliases = "laplace2d",
    .about = "5-point Laplacian of a grid: 4 on the diagonal, -1 for each neighbour",
    .usage = "poisson2d NX [NY]",
    .params = {{"nx", 100, 1, INT32_MAX, "points per line of the grid"}, {"ny", 0, 0, INT32_MAX, "lines; 0: nx"}},
    .make = make_poisson2d,
    .rows = rows_poisson2d,
};

const struct generator generator_poisson3d = {
    .name = "poisson3d",
    .aliases = "laplace3d",
    .about = "7-point Laplacian of a grid: 6 on the diagonal, -1 for each neighbour",
    .usage = "poisson3d NX [NY NZ]",
    .params = {{"nx", 30, 1, 1 << 20, "points per line of the grid"},
               {"ny", 0, 0, 1 << 20, "lines per layer; 0: nx"},
               {"nz", 0, 0, 1 << 20, "layers; 0: nx"}},
    .make = make_poisson3d,
    .rows = rows_poisson3d,
};

const struct generator generator_chain = {
    .name = "chain",
    .aliases = "laplace1d poisson1d",
    .about = "3-point Laplacian of a line: 2 on the diagonal, -1 for each neighbour",
    .usage = "chain N",
    .params = {{"n", 1000, 1, INT32_MAX, "points"}},
    .make = make_chain,
    .rows = rows_chain,
};

const struct generator generator_convection = {
    .name = "convection",
    .about = "convection and diffusion on a grid: 4, -1 - w before and -1 + w after each point, w = W / 100",
    .usage = "convection NX [NY] [W%]",
    .params = {{"nx", 100, 1, INT32_MAX, "points per line of the grid"},
               {"ny", 0, 0, INT32_MAX, "lines; 0: nx"},
               {"wind", 50, 0, 10000, "half the cell Peclet number in percent; above 100, the spectrum is complex"}},
    .make = make_convection,
    .rows = rows_convection,
};

const struct generator generator_fem = {
    .name = "fem",
    .about = "finite elements: 9-point stencil, 3 unknowns per node, 3 x 3 blocks, symmetric positive definite",
    .usage = "fem NX [NY]",
    .params = {{"nx", 40, 1, 1 << 30, "nodes per line of the grid"}, {"ny", 0, 0, 1 << 30, "lines; 0: nx"}},
    .make = make_fem,
};
