/* Parts of a graph with few edges between them, by Scotch. */
#include "base/shared.h"
#include "graph_parts.h"
#include "partition.h"

#include <stddef.h>

typedef void scotch_graph; /* opaque, allocated by the library */
typedef void scotch_strategy;
typedef void scotch_context;

enum { STRATEGY_DEFAULT = 0, OPTION_DETERMINISTIC = 0, OPTION_FIXED_SEED = 1 }; /* of scotch.h */

static struct {
    int (*num_size)(void);
    scotch_graph *(*graph_new)(void);
    int (*graph_init)(scotch_graph *);
    int (*graph_build)(scotch_graph *, int base, int n, const int *begin, const int *end, const int *weight,
                       const int *label, int edges, const int *adj, const int *edge_weight);
    int (*part)(scotch_graph *, int parts, scotch_strategy *, int *owner);
    scotch_strategy *(*strategy_new)(void);
    int (*strategy_init)(scotch_strategy *);
    int (*strategy_build)(scotch_strategy *, int flags, int parts, double imbalance);
    scotch_context *(*context_new)(void);
    int (*context_init)(scotch_context *);
    int (*context_option)(scotch_context *, int option, int value);
    int (*context_threads)(scotch_context *, int threads, const int *cores);
    int (*context_graph)(scotch_context *, const scotch_graph *, scotch_graph *bound);
} scotch;

static const struct shared_function functions[] = {{"SCOTCH_numSizeof", &scotch.num_size},
                                                   {"SCOTCH_graphAlloc", &scotch.graph_new},
                                                   {"SCOTCH_graphInit", &scotch.graph_init},
                                                   {"SCOTCH_graphBuild", &scotch.graph_build},
                                                   {"SCOTCH_graphPart", &scotch.part},
                                                   {"SCOTCH_stratAlloc", &scotch.strategy_new},
                                                   {"SCOTCH_stratInit", &scotch.strategy_init},
                                                   {"SCOTCH_stratGraphMapBuild", &scotch.strategy_build},
                                                   {"SCOTCH_contextAlloc", &scotch.context_new},
                                                   {"SCOTCH_contextInit", &scotch.context_init},
                                                   {"SCOTCH_contextOptionSetNum", &scotch.context_option},
                                                   {"SCOTCH_contextThreadSpawn", &scotch.context_threads},
                                                   {"SCOTCH_contextBindGraph", &scotch.context_graph},
                                                   {0}};

static bool is_32_bit(void)
{
    return scotch.num_size() == sizeof(int);
}

struct shared_library partition_scotch = {
    .file = "libscotch-7.0.so", .package = "libscotch-7.0", .functions = functions, .is_compatible = is_32_bit};

/* A context makes the result the same in every run. It has one thread: in its deterministic mode, Scotch 7.0.3 returns
   another partition for each number of threads. The child process ends after this function, and its memory with it. */
static bool work(void *p)
{
    struct graph_parts *q = p;
    scotch_graph *g = scotch.graph_new(), *bound = scotch.graph_new();
    scotch_strategy *strategy = scotch.strategy_new();
    scotch_context *context = scotch.context_new();
    if (!g || !bound || !strategy || !context) return false;
    return !scotch.graph_init(g) && !scotch.graph_init(bound) && !scotch.strategy_init(strategy) &&
           !scotch.context_init(context) && !scotch.context_option(context, OPTION_DETERMINISTIC, 1) &&
           !scotch.context_option(context, OPTION_FIXED_SEED, 1) && !scotch.context_threads(context, 1, NULL) &&
           !scotch.graph_build(g, 0, q->g.n, q->g.ptr, q->g.ptr + 1, q->weight, NULL, q->g.ptr[q->g.n], q->g.adj,
                               NULL) &&
           !scotch.strategy_build(strategy, STRATEGY_DEFAULT, q->parts, PARTS_IMBALANCE) &&
           !scotch.context_graph(context, g, bound) && !scotch.part(bound, q->parts, strategy, q->owner);
}

static bool divide(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e)
{
    return shared_load(&partition_scotch, "scotch", e) && graph_divide(P, A, owner, "scotch", work, w, e);
}

const struct way way_scotch = {
    .name = "scotch",
    .about = "few edges between the parts of the graph, and equal numbers of nonzeros within 3% where Scotch can",
    .source = "SCOTCH_graphPart of Scotch 7; Pellegrini and Roman 1996",
    .by_owner = true,
    .divide = divide,
};
