/* Stencils on regular grids with random values, as a discretization of variable coefficients gives them. */
#include "base/err.h"
#include "gen.h"
#include "random.h"

#include <stddef.h>

/* A node is coupled to the nodes at most one step away along each axis, and along at most `axes` axes at once:
   5 points: 2 dimensions, 1 axis; 9: 2, 2; 7: 3, 1; 27: 3, 3. */
struct shape {
    int points, dimensions, axes;
};

enum { POINTS_MAX = 27 };
static const struct shape shapes[] = {{5, 2, 1}, {9, 2, 2}, {7, 3, 1}, {POINTS_MAX, 3, 3}};

struct grid {
    const struct shape *shape;
    int64_t nx, ny, nz; /* nodes along each axis; x varies fastest */
    int64_t unknowns;   /* per node */
    uint64_t seed;
};

static const struct shape *shape_of(int64_t points)
{
    for (int i = 0; i < COUNT(shapes); i++)
        if (shapes[i].points == points) return &shapes[i];
    return NULL;
}

/* Write the neighbours of node (x, y, z), with the node itself, in ascending order; return their number. */
static int neighbours(const struct grid *g, int64_t x, int64_t y, int64_t z, int64_t *node)
{
    int n = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int64_t u = x + dx, v = y + dy, t = z + dz;
                if ((dx != 0) + (dy != 0) + (dz != 0) > g->shape->axes) continue;
                if (u < 0 || v < 0 || t < 0 || u >= g->nx || v >= g->ny || t >= g->nz) continue;
                node[n++] = (t * g->ny + v) * g->nx + u;
            }
    return n;
}

/* The same for row r. */
static int neighbours_of_row(const struct grid *g, int64_t r, int64_t *node)
{
    int64_t i = r / g->unknowns;
    return neighbours(g, i % g->nx, i / g->nx % g->ny, i / (g->nx * g->ny), node);
}

static int64_t stencil_length(const void *of, int64_t r)
{
    const struct grid *g = of;
    int64_t node[POINTS_MAX];
    return neighbours_of_row(g, r, node) * g->unknowns;
}

/* Write row r: random values in (-1.1, -0.1] beside the diagonal, and a diagonal that exceeds their sum by 2 %. */
static void stencil_row(const void *of, int64_t r, struct csr *A, int64_t at)
{
    const struct grid *g = of;
    int64_t node[POINTS_MAX], diagonal = 0, n = neighbours_of_row(g, r, node) * g->unknowns;
    uint64_t state = gen_stream(g->seed, (uint64_t)r);
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t col = node[k / g->unknowns] * g->unknowns + k % g->unknowns;
        double value = -0.6 - 0.5 * random_unit(&state);
        if (col == r) diagonal = at;
        if (col != r) sum -= value;
        gen_put(A, &at, col, value);
    }
    A->val[diagonal] = 1.02 * sum + 0.01;
}

static int64_t couplings(const struct grid *g)
{
    int64_t nx = g->nx, ny = g->ny, nz = g->nz;
    if (g->shape->axes == 1) return gen_axis_pairs(nx, ny, nz);
    return gen_near_pairs(nx) * gen_near_pairs(ny) * gen_near_pairs(nz);
}

static bool grid_of(const int64_t *p, uint64_t seed, struct grid *g, struct err *e)
{
    const struct shape *s = shape_of(p[0]);
    if (!s)
        return fail(e, E_USAGE, "%lld points is not a stencil of this generator; use 5, 7, 9 or 27", (long long)p[0]);
    if (s->dimensions == 2 && p[3] > 1)
        return fail(e, E_USAGE, "the stencil of %d points has no third dimension; leave out nz, or use 7 or 27 points",
                    s->points);
    int64_t nx = p[1], ny = p[2] ? p[2] : nx, nz = s->dimensions == 2 ? 1 : p[3] ? p[3] : nx;
    *g = (struct grid){s, nx, ny, nz, p[4], seed};
    return true;
}

static struct row_source *rows_stencil(const int64_t *p, uint64_t seed, struct err *e)
{
    static const struct row_maker maker = {stencil_length, stencil_row};
    const struct generator *own = &generator_stencil;
    struct grid g = {0};
    if (!gen_params(own, p, e) || !grid_of(p, seed, &g, e)) return NULL;
    int64_t nodes = g.nx * g.ny * g.nz, n = nodes * g.unknowns;
    if (!csr_limits_any(nodes, nodes, 0, e) || !csr_limits_any(n, n, 0, e)) return NULL;
    return row_source_new(own->name, n, n, couplings(&g) * g.unknowns * g.unknowns, &maker, &g, sizeof g, e);
}

static bool make_stencil(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_stencil(p, seed, e), w, out, e);
}

const struct generator generator_stencil = {
    .name = "stencil",
    .about = "a stencil of 5, 7, 9 or 27 points with random values, not symmetric, several unknowns per node",
    .usage = "stencil POINTS NX [NY NZ] [unknowns U]",
    .params = {{"points", 27, 5, 27, "5 and 9: two dimensions; 7 and 27: three"},
               {"nx", 20, 1, 1 << 20, "nodes per line of the grid"},
               {"ny", 0, 0, 1 << 20, "lines per layer; 0: nx"},
               {"nz", 0, 0, 1 << 20, "layers; 0: nx, or one layer in two dimensions"},
               {"unknowns", 1, 1, 16, "unknowns per node; each node gives dense blocks of this size"}},
    .make = make_stencil,
    .rows = rows_stencil,
};
