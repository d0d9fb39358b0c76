/* Linear elasticity on a block of n x n x n nodes that is fixed around it: trilinear finite elements on a sheared grid
   with steps of 1, Lame's constants lambda = mu = E. E is a random number of each element. Symmetric positive definite.

   The 3 x 3 block of the corners i and j of an element is

       K = lambda T + mu T' + mu trace(T) I,   T = J S J',   S_ab = integral of d/da phi_i d/db phi_j

   with the hat functions phi of the element before it is sheared, and the inverse transposed J of the shear. Without
   the shear, most blocks would have zeros. */
#include "gen.h"
#include "random.h"
#include "row_source.h"

#include <stddef.h>
#include <string.h>

enum { UNKNOWNS = 3, AROUND = 27, CORNERS = 8 };
static const double J[3][3] = {{1, 0.375, 0.125}, {0, 1, 0.25}, {0, 0, 1}};

struct block {
    int64_t n;          /* nodes along each axis; x varies fastest */
    bool by_components; /* unknown u of node v is row u n^3 + v; otherwise 3 v + u */
    int64_t contrast;   /* E is from 1 to 1 + contrast */
    uint64_t seed;
    double K[CORNERS][CORNERS][UNKNOWNS][UNKNOWNS]; /* for E = 1; bit a of a corner is its place along axis a */
};

/* S_ab for the corners i and j: a product of integrals along the axes. */
static double integral(int i, int j, int a, int b)
{
    double product = 1;
    for (int axis = 0; axis < 3; axis++) {
        int p = i >> axis & 1, q = j >> axis & 1;
        if (a == b && axis == a)
            product *= p == q ? 1 : -1;
        else if (axis == a)
            product *= p ? 0.5 : -0.5;
        else if (axis == b)
            product *= q ? 0.5 : -0.5;
        else
            product *= p == q ? 1 / 3. : 1 / 6.;
    }
    return product;
}

static void block_of(int i, int j, double K[UNKNOWNS][UNKNOWNS])
{
    double T[3][3] = {{0}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) T[r][c] += J[r][a] * J[c][b] * integral(i, j, a, b);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) K[r][c] = T[r][c] + T[c][r] + (r == c ? T[0][0] + T[1][1] + T[2][2] : 0);
}

/* Symmetric to the last bit. */
static void blocks_of_element(struct block *g)
{
    for (int i = 0; i < CORNERS; i++)
        for (int j = i; j < CORNERS; j++) {
            block_of(i, j, g->K[i][j]);
            for (int k = 0; k < UNKNOWNS * UNKNOWNS; k++)
                g->K[j][i][k % UNKNOWNS][k / UNKNOWNS] = g->K[i][j][k / UNKNOWNS][k % UNKNOWNS];
        }
}

/* E of the 8 elements around node v; bit a of the index is set for those beyond v along axis a. */
static void moduli(const struct block *g, int64_t v, double E[CORNERS])
{
    int64_t n = g->n, elements = n + 1;
    for (int k = 0; k < CORNERS; k++) {
        int64_t x = v % n + (k & 1), y = v / n % n + (k >> 1 & 1), z = v / (n * n) + (k >> 2);
        uint64_t state = gen_stream(g->seed, (uint64_t)((z * elements + y) * elements + x));
        E[k] = g->contrast ? 1 + (double)g->contrast * (0.5 + 0.5 * random_unit(&state)) : 1;
    }
}

/* Row u of the block of a node and its neighbour d, added up over the elements that have both. */
static void add_elements(const struct block *g, const double E[CORNERS], const int d[3], int u, double row[UNKNOWNS])
{
    memset(row, 0, UNKNOWNS * sizeof *row);
    for (int k = 0; k < CORNERS; k++) {
        int i = CORNERS - 1 - k, j = 0; /* the corners of the node and of its neighbour */
        bool shared = true;
        for (int axis = 0; axis < 3; axis++) {
            int at = (i >> axis & 1) + d[axis];
            shared &= at == 0 || at == 1;
            j |= (at & 1) << axis;
        }
        for (int c = 0; shared && c < UNKNOWNS; c++) row[c] += E[k] * g->K[i][j][u][c];
    }
}

static void neighbour(int k, int d[3])
{
    d[0] = k % 3 - 1;
    d[1] = k / 3 % 3 - 1;
    d[2] = k / 9 - 1;
}

/* The nodes around node v, with v itself, ascending; at[i] is the index of node[i] for `neighbour`. Returns their
   number. */
static int nodes_around(const struct block *g, int64_t v, int64_t *node, int *at)
{
    int64_t n = g->n, x = v % n, y = v / n % n, z = v / (n * n);
    int count = 0;
    for (int k = 0; k < AROUND; k++) {
        int d[3];
        neighbour(k, d);
        int64_t to[] = {x + d[0], y + d[1], z + d[2]};
        if (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= n || to[1] >= n || to[2] >= n) continue;
        node[count] = (to[2] * n + to[1]) * n + to[0];
        at[count++] = k;
    }
    return count;
}

static int64_t node_of(const struct block *g, int64_t row)
{
    return g->by_components ? row % (g->n * g->n * g->n) : row / UNKNOWNS;
}

static int64_t elastic_length(const void *of, int64_t row)
{
    int64_t node[AROUND];
    int at[AROUND];
    return UNKNOWNS * nodes_around(of, node_of(of, row), node, at);
}

static void elastic_row(const void *of, int64_t row, struct csr *A, int64_t to)
{
    const struct block *g = of;
    int64_t nodes = g->n * g->n * g->n, node[AROUND], v = node_of(g, row);
    int at[AROUND], u = (int)(g->by_components ? row / nodes : row % UNKNOWNS), count = nodes_around(g, v, node, at);
    double E[CORNERS], value[AROUND][UNKNOWNS];
    moduli(g, v, E);
    for (int i = 0; i < count; i++) {
        int d[3];
        neighbour(at[i], d);
        add_elements(g, E, d, u, value[i]);
    }
    for (int k = 0; k < UNKNOWNS * count; k++) {
        int i = g->by_components ? k % count : k / UNKNOWNS, c = g->by_components ? k / count : k % UNKNOWNS;
        gen_put(A, &to, g->by_components ? c * nodes + node[i] : UNKNOWNS * node[i] + c, value[i][c]);
    }
}

static struct row_source *rows_elasticity(const int64_t *p, uint64_t seed, struct err *e)
{
    static const struct row_maker maker = {elastic_length, elastic_row};
    const struct generator *g = &generator_elasticity;
    struct block b = {.n = p[0], .by_components = p[1], .contrast = p[2], .seed = seed};
    if (!gen_params(g, p, e)) return NULL;
    blocks_of_element(&b);
    int64_t n = b.n, pairs = gen_near_pairs(n), rows = UNKNOWNS * n * n * n;
    if (!csr_limits_any(rows, rows, 0, e)) return NULL;
    struct row_source *s =
        row_source_new(g->name, rows, rows, UNKNOWNS * UNKNOWNS * pairs * pairs * pairs, &maker, &b, sizeof b, e);
    if (s) s->symmetric = true;
    return s;
}

static bool make_elasticity(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_elasticity(p, seed, e), w, out, e);
}

const struct generator generator_elasticity = {
    .name = "elasticity",
    .about = "linear elasticity of a block of N^3 nodes: 3 unknowns per node, symmetric positive definite",
    .usage = "elasticity N [components 1] [contrast N]",
    .params = {{"n", 10, 1, 1 << 16, "nodes along each axis"},
               {"components", 0, 0, 1, "0: numbered node by node; 1: component after component"},
               {"contrast", 1, 0, 1 << 20, "the stiffness of elements is random, from 1 to 1 + contrast"}},
    .make = make_elasticity,
    .rows = rows_elasticity,
};
