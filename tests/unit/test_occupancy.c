/* The blocks that a multiprocessor holds, beside those of the CUDA toolkit's occupancy calculator, for every function
   of gpu/kernels on several GPUs. Skipped where the toolkit's header is missing. */
#include "base/base.h"
#include "kits/test.h"
#include "machine/compiled.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>

/* What CUDA reports of these GPUs: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static const struct gpu {
    const char *name; /* of the profile */
    int major, minor, threads;
    int shared_kb, block_kb; /* shared memory of a multiprocessor; at most of a block */
    int reserved;            /* bytes of each block's, for the system */
} gpus[] = {
    {"t4", 7, 5, 1024, 64, 64, 0},        {"a100", 8, 0, 2048, 164, 163, 1024},  {"rtx4090", 8, 9, 1536, 100, 99, 1024},
    {"h200", 9, 0, 2048, 228, 227, 1024}, {"b200", 10, 0, 2048, 228, 227, 1024},
};

enum { REGISTERS = 65536, THREADS = 1024, STATIC_KB = 48 };

static cudaOccDeviceProp properties_of(const struct gpu *g)
{
    return (cudaOccDeviceProp){.computeMajor = g->major,
                               .computeMinor = g->minor,
                               .maxThreadsPerBlock = THREADS,
                               .maxThreadsPerMultiprocessor = g->threads,
                               .regsPerBlock = REGISTERS,
                               .regsPerMultiprocessor = REGISTERS,
                               .warpSize = 32,
                               .sharedMemPerBlock = STATIC_KB * 1024,
                               .sharedMemPerMultiprocessor = (size_t)g->shared_kb * 1024,
                               .numSms = 1,
                               .sharedMemPerBlockOptin = (size_t)g->block_kb * 1024,
                               .reservedSharedMemPerBlock = (size_t)g->reserved};
}

/* The toolkit's number of blocks; 0: the launch fails. */
static int toolkit_blocks(const struct gpu *g, const struct compiled *c, int threads, int given)
{
    cudaOccDeviceProp properties = properties_of(g);
    cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccFuncAttributes f = {.maxThreadsPerBlock = THREADS,
                               .numRegs = c->registers,
                               .sharedSizeBytes = (size_t)c->shared_bytes,
                               .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                               .maxDynamicSharedSizeBytes = (size_t)given,
                               .numBlockBarriers = 1};
    cudaOccResult r = {0};
    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&r, &properties, &f, &state, threads, (size_t)given),
                     CUDA_OCC_SUCCESS);
    return r.activeBlocksPerMultiprocessor;
}

/* Returns whether such a launch is possible. */
static bool compare(const struct gpu *g, const struct machine *m, const struct compiled *c, int threads, int given)
{
    int wanted = toolkit_blocks(g, c, threads, given);
    const struct work w = {.threads = threads, .shared_bytes = c->shared_bytes + given, .registers = c->registers};
    int found = (int)model_resident(m, &w);
    if (wanted && found != wanted)
        fail_msg("%s, %s of %d threads, %d registers, %d + %d B: %d blocks, but %d by the toolkit", g->name, c->name,
                 threads, c->registers, c->shared_bytes, given, found, wanted);
    return wanted > 0;
}

static const struct compiled_column *profile(const struct gpu *g, struct machine *m)
{
    struct err e = {0};
    if (!profile_load(g->name, m, &e)) fail_msg("%s", e.text);
    const struct compiled_column *all = compiled_column(m->is.capability, &e);
    if (!all) fail_msg("%s", e.text);
    assert_int_equal(all->architecture, 10 * g->major + g->minor);
    return all;
}

/* With blocks of all sizes, and with shared memory that the launch gives. */
TEST_OF_EACH(every_function, gpus)
{
    static const int threads[] = {1, 32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024};
    static const int given[] = {0, 1, 1000, 8192, 20000, 45569, 60000};
    const struct gpu *g = *state;
    struct machine m;
    const struct compiled_column *all = profile(g, &m);
    int compared = 0;
    for (int i = 0; i < all->n; i++)
        for (int t = 0; t < COUNT(threads); t++)
            for (int k = 0; k < COUNT(given); k++) compared += compare(g, &m, &all->functions[i], threads[t], given[k]);
    assert_true(compared > 50 * all->n);
}

/* With the threads that kernels state, every launch is possible. */
TEST_OF_EACH(every_kernel, gpus)
{
    const struct gpu *g = *state;
    struct machine m;
    const struct compiled_column *all = profile(g, &m);
    for (int i = 0; kernels[i]; i++)
        for (int k = 0; k < KERNEL_FUNCTIONS && kernels[i]->functions[k].name; k++)
            for (int n = 0; n < all->n; n++) {
                const struct kernel_function *f = &kernels[i]->functions[k];
                const struct compiled *c = &all->functions[n];
                if (f->threads && compiled_matches(c, f->name) && !compare(g, &m, c, f->threads, 0))
                    fail_msg("%s cannot launch %s with %d threads on %s", kernels[i]->name, c->name, f->threads,
                             g->name);
            }
}

#else

TEST(the_calculator_is_missing)
{
    print_message("skip: cuda_occupancy.h of the CUDA toolkit is not installed\n");
}

#endif
