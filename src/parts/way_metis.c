/* Parts of a graph with few edges between them, by METIS. */
#include "base/shared.h"
#include "graph_parts.h"
#include "partition.h"

#include <stddef.h>
#include <stdint.h>

enum { METIS_OPTIONS = 40, METIS_GOOD = 1 };

static struct {
    int (*options)(void *options);
    int (*kway)(int *n, int *constraints, int *ptr, int *adj, int *weight, int *size, int *edge_weight, int *parts,
                float *targets, float *imbalance, int *options, int *cut, int *owner);
} metis;

static const struct shared_function functions[] = {
    {"METIS_SetDefaultOptions", &metis.options}, {"METIS_PartGraphKway", &metis.kway}, {0}};

/* The width of METIS's integers is a build option, which shows only in the number of bytes that METIS writes. */
static bool is_32_bit(void)
{
    int64_t options[METIS_OPTIONS] = {0};
    metis.options(options);
    return options[METIS_OPTIONS - 1] == 0;
}

struct shared_library partition_metis = {
    .file = "libmetis.so.5", .package = "libmetis5", .functions = functions, .is_compatible = is_32_bit};

static bool work(void *p)
{
    struct graph_parts *q = p;
    int one = 1, cut, options[METIS_OPTIONS];
    float imbalance = (float)(1 + PARTS_IMBALANCE);
    metis.options(options);
    return metis.kway(&q->g.n, &one, q->g.ptr, q->g.adj, q->weight, NULL, NULL, &q->parts, NULL, &imbalance, options,
                      &cut, q->owner) == METIS_GOOD;
}

static bool divide(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e)
{
    return shared_load(&partition_metis, "metis", e) && graph_divide(P, A, owner, "metis", work, w, e);
}

const struct way way_metis = {
    .name = "metis",
    .about = "few edges between the parts of the graph, and equal numbers of nonzeros within 3% where METIS can",
    .source = "METIS_PartGraphKway; Karypis and Kumar 1998",
    .by_owner = true,
    .divide = divide,
};
