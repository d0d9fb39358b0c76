/* Pairs of kernels for the command `wrong`: a kernel with a deliberate bug that breaks a rule, and a correct kernel.
   These kernels run only on the emulator, as one block of threads. The rules are listed at the end of the file. */
#ifndef __CUDACC__
#include "base/registry.h"
#include "gpu/dialect.h"
#include "gpu/emu/emu.h"
#include "machine/wrong.h"

namespace
{

enum { N = 64, ROWS = 5 };

/* Placed on the lines before and after a kernel, these macros record its first and last line. */
#define FIRST_LINE(kernel) constexpr int kernel##_first = __LINE__ + 1
#define LAST_LINE(kernel) constexpr int kernel##_last = __LINE__ - 1

/* ---- a barrier between a write and another thread's read ---- */

FIRST_LINE(reverse_wrong);
void reverse_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
LAST_LINE(reverse_wrong);

FIRST_LINE(reverse_right);
void reverse_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
LAST_LINE(reverse_right);

/* ---- a barrier between a read and another thread's next write ---- */

FIRST_LINE(shift_wrong);
void shift_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = in[threadIdx.x] + round;
        __syncthreads();
        out[round * N + threadIdx.x] = s[(threadIdx.x + 1) % N];
    }
}
LAST_LINE(shift_wrong);

FIRST_LINE(shift_right);
void shift_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = in[threadIdx.x] + round;
        __syncthreads();
        out[round * N + threadIdx.x] = s[(threadIdx.x + 1) % N];
        __syncthreads();
    }
}
LAST_LINE(shift_right);

/* ---- all threads of the block reach each barrier ---- */

FIRST_LINE(scale_wrong);
void scale_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, factor, 1);
    if (threadIdx.x >= ROWS) return;
    if (threadIdx.x == 0) factor[0] = 3;
    __syncthreads();
    out[threadIdx.x] = factor[0] * in[threadIdx.x];
}
LAST_LINE(scale_wrong);

FIRST_LINE(scale_right);
void scale_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, factor, 1);
    if (threadIdx.x == 0) factor[0] = 3;
    __syncthreads();
    if (threadIdx.x < ROWS) out[threadIdx.x] = factor[0] * in[threadIdx.x];
}
LAST_LINE(scale_right);

/* ---- a mask names exactly the lanes that take part ---- */

FIRST_LINE(sum_wrong);
void sum_wrong(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x >= 20) return;
    int v = in[threadIdx.x];
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    if (threadIdx.x == 0) out[0] = v;
}
LAST_LINE(sum_wrong);

FIRST_LINE(sum_right);
void sum_right(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x >= WARP) return;
    int v = threadIdx.x < 20 ? in[threadIdx.x] : 0;
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    if (threadIdx.x == 0) out[0] = v;
}
LAST_LINE(sum_right);

/* ---- an index stays inside its array ---- */

FIRST_LINE(differences_wrong);
void differences_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];
}
LAST_LINE(differences_wrong);

FIRST_LINE(differences_right);
void differences_right(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x + 1 < N) out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];
}
LAST_LINE(differences_right);

/* ---- the lanes of a warp do not run in lockstep ---- */

FIRST_LINE(tree_wrong);
void tree_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, WARP);
    int lane = static_cast<int>(threadIdx.x);
    if (lane >= WARP) return;
    s[lane] = in[lane];
    for (int d = WARP / 2; d > 0; d /= 2)
        if (lane < d) s[lane] += s[lane + d];
    if (lane == 0) out[0] = s[0];
}
LAST_LINE(tree_wrong);

FIRST_LINE(tree_right);
void tree_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, WARP);
    int lane = static_cast<int>(threadIdx.x);
    if (lane >= WARP) return;
    s[lane] = in[lane];
    __syncwarp();
    for (int d = WARP / 2; d > 0; d /= 2) {
        if (lane < d) s[lane] += s[lane + d];
        __syncwarp();
    }
    if (lane == 0) out[0] = s[0];
}
LAST_LINE(tree_right);

/* ---- the same in a published kernel: the inner product of two vectors, by blocks of 128 threads (THESIS 3.3.2) ----
 */

enum { INNER = 128 };

/* The algorithm as printed: the array of shared memory is not volatile, and the last warp has no barriers. */
FIRST_LINE(innerPro_128);
void innerPro_128(GPTR(const float) v, GPTR(const float) w, GPTR(float) mres)
{
    SHARED(float, r_s, INNER);
    int tid = static_cast<int>(threadIdx.x);
    INDEX tid_in_grid = blockIdx.x * blockDim.x + threadIdx.x;
    r_s[tid] = v[tid_in_grid] * w[tid_in_grid];
    __syncthreads();
    if (tid < 64) r_s[tid] += r_s[tid + 64];
    __syncthreads();
    if (tid < 32) {
        r_s[tid] += r_s[tid + 32];
        if (tid < 16) r_s[tid] += r_s[tid + 16];
        if (tid < 8) r_s[tid] += r_s[tid + 8];
        if (tid < 4) r_s[tid] += r_s[tid + 4];
        if (tid < 2) r_s[tid] += r_s[tid + 2];
        if (tid < 1) mres[blockIdx.x] = r_s[0] + r_s[1];
    }
}
LAST_LINE(innerPro_128);

FIRST_LINE(innerPro_128_right);
void innerPro_128_right(GPTR(const float) v, GPTR(const float) w, GPTR(float) mres)
{
    SHARED(float, r_s, INNER);
    int tid = static_cast<int>(threadIdx.x);
    INDEX tid_in_grid = blockIdx.x * blockDim.x + threadIdx.x;
    r_s[tid] = v[tid_in_grid] * w[tid_in_grid];
    __syncthreads();
    if (tid < 64) r_s[tid] += r_s[tid + 64];
    __syncthreads();
    if (tid < 32) {
        r_s[tid] += r_s[tid + 32];
        for (int d = 16; d > 1; d /= 2) {
            __syncwarp();
            if (tid < d) r_s[tid] += r_s[tid + d];
        }
        __syncwarp();
        if (tid < 1) mres[blockIdx.x] = r_s[0] + r_s[1];
    }
}
LAST_LINE(innerPro_128_right);

/* ---- several threads may add to one variable only with atomics ---- */

FIRST_LINE(total_wrong);
void total_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[0] += in[threadIdx.x];
}
LAST_LINE(total_wrong);

FIRST_LINE(total_right);
void total_right(GPTR(const int) in, GPTR(int) out)
{
    atomicAdd(out + 0, in[threadIdx.x]);
}
LAST_LINE(total_right);

/* ---- global memory needs barriers, like shared memory ---- */

FIRST_LINE(prefix_wrong);
void prefix_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x];
    if (threadIdx.x > 0) out[N + threadIdx.x] = out[threadIdx.x - 1];
}
LAST_LINE(prefix_wrong);

FIRST_LINE(prefix_right);
void prefix_right(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0) out[N + threadIdx.x] = out[threadIdx.x - 1];
}
LAST_LINE(prefix_right);

/* ---- the expected results for in[i] = i + 1 ---- */

bool reversed(const int *out)
{
    for (int i = 0; i < N; i++)
        if (out[i] != N - i) return false;
    return true;
}

bool shifted(const int *out)
{
    for (int i = 0; i < 2 * N; i++)
        if (out[i] != (i % N + 1) % N + 1 + i / N) return false;
    return true;
}

bool scaled(const int *out)
{
    for (int i = 0; i < N; i++)
        if (out[i] != (i < ROWS ? 3 * (i + 1) : 0)) return false;
    return true;
}

bool sum_of_20(const int *out)
{
    return out[0] == 20 * 21 / 2;
}

bool sum_of_warp(const int *out)
{
    return out[0] == WARP * (WARP + 1) / 2;
}

bool sum_of_all(const int *out)
{
    return out[0] == N * (N + 1) / 2;
}

bool ones(const int *out)
{
    for (int i = 0; i < N; i++)
        if (out[i] != (i < N - 1)) return false;
    return true;
}

bool doubled(const int *out)
{
    for (int i = 1; i < N; i++)
        if (out[i] != 2 * (i + 1) || out[N + i] != 2 * i) return false;
    return true;
}

/* out[0] is the inner product of v and w with v[i] = w[i] = i + 1: 1 + 4 + 9 + ... */
bool inner_product(const int *out)
{
    return out[0] == INNER * (INNER + 1) * (2 * INNER + 1) / 6;
}

using kernel_of_ints = void (*)(GPTR(const int), GPTR(int));
using kernel_of_floats = void (*)(GPTR(const float), GPTR(const float), GPTR(float));

struct kernel_lines {
    int first, last; /* the kernel's first and last line in this file, counted from 1 */
};

#define LINES(kernel)                 \
    {                                 \
        kernel##_first, kernel##_last \
    }
#define PAIR(task, is_right)                                                              \
    {                                                                                     \
        LINES(task##_wrong), LINES(task##_right), is_right, {task##_wrong, task##_right}, \
        {                                                                                 \
            NULL, NULL                                                                    \
        }                                                                                 \
    }

/* The kernels of each rule, in the order of wrong_rules. A rule has kernels of ints or kernels of floats. */
const struct {
    kernel_lines wrong, right;
    bool (*is_right)(const int *out);
    kernel_of_ints ints[2]; /* the wrong and the right kernel */
    kernel_of_floats floats[2];
} pairs[] = {
    PAIR(reverse, reversed),
    PAIR(shift, shifted),
    PAIR(scale, scaled),
    PAIR(sum, sum_of_20),
    PAIR(differences, ones),
    PAIR(tree, sum_of_warp),
    {LINES(innerPro_128), LINES(innerPro_128_right), inner_product, {NULL, NULL}, {innerPro_128, innerPro_128_right}},
    PAIR(total, sum_of_all),
    PAIR(prefix, doubled),
};

struct device none; /* LAUNCH takes a device; the emulator ignores it */

/* out[0..2N-1] = the result of a kernel for in[i] = i + 1 */
void run_ints(kernel_of_ints kernel, int *out)
{
    static int in[N];
    for (int i = 0; i < N; i++) in[i] = i + 1;
    LAUNCH(&none, 1, N, kernel)
    (VECTOR("in", ROLE_WORK, in, N, const int), VECTOR("out", ROLE_WORK, out, 2 * N, int));
}

/* out[0] = the result of a kernel for v[i] = w[i] = i + 1; the result is an integer that a float represents exactly */
void run_floats(kernel_of_floats kernel, int *out)
{
    static float v[INNER], w[INNER], mres[1];
    for (int i = 0; i < INNER; i++) v[i] = w[i] = static_cast<float>(i + 1);
    mres[0] = 0;
    LAUNCH(&none, 1, INNER, kernel)
    (VECTOR("v", ROLE_WORK, v, INNER, const float), VECTOR("w", ROLE_WORK, w, INNER, const float),
     VECTOR("mres", ROLE_WORK, mres, 1, float));
    out[0] = static_cast<int>(mres[0]);
}

} // namespace

const struct wrong_rule wrong_rules[] = {
    {"barrier", "a __syncthreads() separates a write from other threads' reads",
     "reverses 64 numbers through shared memory",
     "A GPU runs the warps of a block in any order. If the first warp reads before the second has written,\n"
     "it reads the old contents: the result varies from run to run, and is usually right.\n",
     "reverse_wrong", "reverse_right"},
    {"reuse", "a __syncthreads() separates reads from the next writes", "shifts 64 numbers by one place, in two rounds",
     "There is a barrier between the write and the read, but none between that read and the write of the\n"
     "next round: a fast warp overwrites values that a slow warp has not read yet.\n",
     "shift_wrong", "shift_right"},
    {"all-arrive", "all threads of the block reach each __syncthreads()",
     "multiplies five numbers by a factor from shared memory",
     "A barrier waits for all threads of the block. If some have returned, the behaviour is undefined:\n"
     "some GPUs hang, others continue. Threads without work must stay until the last barrier.\n",
     "scale_wrong", "scale_right"},
    {"mask", "a shuffle's or vote's mask names exactly the lanes that reach it", "the sum of 20 numbers by one warp",
     "After the early return, 12 of the lanes that the full mask names never arrive. Values read from\n"
     "them are undefined, or the warp hangs.\n",
     "sum_wrong", "sum_right"},
    {"range", "an index lies inside its array", "the differences of neighbouring numbers",
     "The last thread reads one element past the end. A GPU usually returns whatever is stored there,\n"
     "and reports an error only if the address is outside all allocations.\n",
     "differences_wrong", "differences_right"},
    {"lockstep", "lanes that share data in memory need a __syncwarp()",
     "the sum of 32 numbers by one warp, in shared memory",
     "This kernel worked while the lanes of a warp ran in lockstep. Since Volta, each lane may advance on\n"
     "its own: lane 0 may read before lane 16 has written, and the compiler may keep values in registers.\n",
     "tree_wrong", "tree_right"},
    {"innerPro_128", "the last warp of a reduction needs __syncwarp() as well",
     "the inner product of 128 numbers by one block",
     "This kernel was printed in 2012 (Liang, sec. 3.3.2). Its last 32 threads add without a barrier: they\n"
     "are one warp, and the lanes of a warp ran in lockstep. Since Volta (2017), each lane has a program\n"
     "counter of its own: lane 0 may read r_s[16] before lane 16 has written it. r_s is not volatile either, so a "
     "compiler may\n"
     "keep sums in registers. A __syncwarp() in each round repairs both: it\n"
     "orders the accesses of its lanes.\n",
     "innerPro_128", "innerPro_128_right"},
    {"update", "threads that change the same variable use atomics", "the sum of 64 numbers",
     "Each thread reads the sum, adds to it and writes it back. If two threads read the same old sum, one\n"
     "of their additions is lost; in the worst case, only one of 64 additions remains.\n",
     "total_wrong", "total_right"},
    {"global", "global memory needs a __syncthreads() too", "doubles numbers, then shifts the results by one",
     "Thread 32 reads a value that thread 31, in another warp, may not have written yet. Between blocks,\n"
     "a barrier does not help: use an atomic and a fence, or a second launch.\n",
     "prefix_wrong", "prefix_right"},
    {}};

const struct registry wrong_registry = {.entries = wrong_rules, .size = sizeof *wrong_rules};

const struct wrong_rule *wrong_find(const char *name)
{
    return static_cast<const struct wrong_rule *>(registry_find(&wrong_registry, name));
}

bool wrong_run(const struct wrong_rule *rule, bool wrong, bool *result, struct emu_finding *finding, struct err *e)
{
    static int out[2 * N];
    const auto &p = pairs[rule - wrong_rules];
    memset(out, 0, sizeof out);
    emu_name(wrong ? rule->wrong : rule->right);
    emu_races(true);
    if (p.ints[!wrong]) run_ints(p.ints[!wrong], out);
    if (p.floats[!wrong]) run_floats(p.floats[!wrong], out);
    emu_races(false);
    emu_name(nullptr);
    *result = p.is_right(out);
    if (finding) emu_last_finding(finding);
    return emu_sync(e);
}

bool wrong_lines(const char *kernel, int *first, int *last)
{
    for (int i = 0; wrong_rules[i].name; i++) {
        bool wrong = !strcmp(kernel, wrong_rules[i].wrong);
        if (!wrong && strcmp(kernel, wrong_rules[i].right) != 0) continue;
        const kernel_lines &k = wrong ? pairs[i].wrong : pairs[i].right;
        *first = k.first;
        *last = k.last;
        return true;
    }
    return false;
}
#endif
