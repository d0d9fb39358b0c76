/* The table of the solvers of which a launch does many iterations, by one cluster of thread blocks, and the size of the
   clusters of a device. The kernels are in k_NAME_cluster.cu. */
#include "cluster.h"

#define CLUSTER(solver) extern "C" const struct cluster_kernel VEC_SYMBOL(cluster_##solver);
#include "machine/clusters.def"
#undef CLUSTER

namespace KERNEL_SPACE
{

#ifdef __CUDACC__
__global__ void __launch_bounds__(CLUSTER_THREADS, 1) cluster_probe() {}

/* Can the GPU run a cluster of this many blocks with all their shared memory? */
static bool runs(int blocks)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int clusters = 0;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)blocks, 1, 1};
    config.gridDim = (unsigned)blocks;
    config.blockDim = CLUSTER_THREADS;
    config.dynamicSmemBytes = SHARED_GIVEN_MAX;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaFuncSetAttribute(cluster_probe, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_GIVEN_MAX);
    cudaFuncSetAttribute(cluster_probe, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    bool known = cudaOccupancyMaxActiveClusters(&clusters, cluster_probe, &config) == cudaSuccess;
    cudaGetLastError();
    return known && clusters > 0;
}

static int blocks(struct device *)
{
    int most = cluster_blocks() > 1 ? cluster_blocks() : 0;
    while (most > 0 && !runs(most)) most /= 2;
    return most;
}
enum { THREADS = CLUSTER_THREADS };
#else
static int blocks(struct device *)
{
    return cluster_blocks();
}
enum { THREADS = 256 };
#endif

} // namespace KERNEL_SPACE

#define CLUSTER(solver) .solver = &VEC_SYMBOL(cluster_##solver),
extern "C" const struct cluster_ops VEC_SYMBOL(cluster);
const struct cluster_ops VEC_SYMBOL(cluster) = {
    .blocks = KERNEL_SPACE::blocks,
    .threads = KERNEL_SPACE::THREADS,
    .bytes = SHARED_GIVEN_MAX,
#include "machine/clusters.def"
};
#undef CLUSTER
