/* Pairs of kernels for the command `wrong`: a kernel with a deliberate bug that breaks a rule, and a correct kernel.
   These kernels run only on the emulator, as one block of N threads. The rules are listed at the end of the file. */
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

struct kernel_of_ints {
    void (*run)(GPTR(const int), GPTR(int));
    int first, last; /* the kernel's first and last line in this file, counted from 1 */
};

#define LISTED(name)                    \
    {                                   \
        name, name##_first, name##_last \
    }
#define PAIR(task, is_right)                                 \
    {                                                        \
        LISTED(task##_wrong), LISTED(task##_right), is_right \
    }

/* The kernels of each rule, in the order of wrong_rules. */
const struct {
    kernel_of_ints wrong, right;
    bool (*is_right)(const int *out);
} pairs[] = {
    PAIR(reverse, reversed), PAIR(shift, shifted),    PAIR(scale, scaled),     PAIR(sum, sum_of_20),
    PAIR(differences, ones), PAIR(tree, sum_of_warp), PAIR(total, sum_of_all), PAIR(prefix, doubled),
};

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
    {"mask", "the mask of a shuffle or vote names exactly the lanes that reach it", "the sum of 20 numbers by one warp",
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
    static int in[N], out[2 * N];
    static struct device none; /* LAUNCH takes a device; the emulator ignores it */
    const auto &p = pairs[rule - wrong_rules];
    for (int i = 0; i < N; i++) in[i] = i + 1, out[i] = out[N + i] = 0;
    emu_name(wrong ? rule->wrong : rule->right);
    emu_races(true);
    LAUNCH(&none, 1, N, (wrong ? p.wrong : p.right).run)
    (VECTOR("in", ROLE_WORK, in, N, const int), VECTOR("out", ROLE_WORK, out, 2 * N, int));
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
        const kernel_of_ints &k = wrong ? pairs[i].wrong : pairs[i].right;
        *first = k.first;
        *last = k.last;
        return true;
    }
    return false;
}
#endif
