/* Kernels that break one rule each, beside the right ones, for the emulator alone: see the command `wrong`. Each is one
   block, on N numbers; what is to come out stands with its rule at the end. */
#ifndef __CUDACC__
#include "base/registry.h"
#include "gpu/dialect.h"
#include "gpu/emu/emu.h"
#include "machine/wrong.h"

namespace
{

enum { N = 64, ROWS = 5 };

/* ---- a barrier between writing and reading what others wrote ---- */

void reverse_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}

void reverse_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}

/* ---- a barrier before what others still read is written again ---- */

void shift_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, s, N);
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = in[threadIdx.x] + round;
        __syncthreads();
        out[round * N + threadIdx.x] = s[(threadIdx.x + 1) % N];
    }
}

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

/* ---- all threads of the block reach each barrier ---- */

void scale_wrong(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, factor, 1);
    if (threadIdx.x >= ROWS) return;
    if (threadIdx.x == 0) factor[0] = 3;
    __syncthreads();
    out[threadIdx.x] = factor[0] * in[threadIdx.x];
}

void scale_right(GPTR(const int) in, GPTR(int) out)
{
    SHARED(int, factor, 1);
    if (threadIdx.x == 0) factor[0] = 3;
    __syncthreads();
    if (threadIdx.x < ROWS) out[threadIdx.x] = factor[0] * in[threadIdx.x];
}

/* ---- a mask names the lanes that are there ---- */

void sum_wrong(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x >= 20) return;
    int v = in[threadIdx.x];
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    if (threadIdx.x == 0) out[0] = v;
}

void sum_right(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x >= WARP) return;
    int v = threadIdx.x < 20 ? in[threadIdx.x] : 0;
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    if (threadIdx.x == 0) out[0] = v;
}

/* ---- an index stays inside its array ---- */

void differences_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];
}

void differences_right(GPTR(const int) in, GPTR(int) out)
{
    if (threadIdx.x + 1 < N) out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];
}

/* ---- lanes of a warp do not go in lockstep ---- */

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

/* ---- what several threads add to is added to atomically ---- */

void total_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[0] += in[threadIdx.x];
}

void total_right(GPTR(const int) in, GPTR(int) out)
{
    atomicAdd(out + 0, in[threadIdx.x]);
}

/* ---- global memory is no other than shared memory ---- */

void prefix_wrong(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x];
    if (threadIdx.x > 0) out[N + threadIdx.x] = out[threadIdx.x - 1];
}

void prefix_right(GPTR(const int) in, GPTR(int) out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x > 0) out[N + threadIdx.x] = out[threadIdx.x - 1];
}

/* ---- what is to come out of in[i] = i + 1 ---- */

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

typedef void kernel_of_ints(GPTR(const int), GPTR(int));

/* In the order of wrong_rules. */
const struct {
    kernel_of_ints *wrong, *right;
    bool (*is_right)(const int *out);
} pairs[] = {
    {reverse_wrong, reverse_right, reversed},     {shift_wrong, shift_right, shifted},
    {scale_wrong, scale_right, scaled},           {sum_wrong, sum_right, sum_of_20},
    {differences_wrong, differences_right, ones}, {tree_wrong, tree_right, sum_of_warp},
    {total_wrong, total_right, sum_of_all},       {prefix_wrong, prefix_right, doubled},
};

} // namespace

const struct wrong_rule wrong_rules[] = {
    {"barrier", "between a write and another thread's read is a __syncthreads()",
     "64 numbers in reverse order, by way of shared memory",
     "A GPU runs the warps of a block in any order. Where the first warp reads before the second has\n"
     "written, it finds what was there before: the result changes from run to run, and mostly looks\n"
     "right.\n",
     "reverse_wrong", "reverse_right"},
    {"reuse", "what all have read is written again behind a __syncthreads()", "in two rounds, each number's neighbour",
     "There is a barrier between the write and the read, but none between that read and the write of\n"
     "the next round: a fast warp replaces what a slow one still wants to read.\n",
     "shift_wrong", "shift_right"},
    {"all-arrive", "all threads of the block reach each __syncthreads()",
     "five numbers, each times a factor from shared memory",
     "A barrier waits for all threads. Whether one that has returned counts is not defined: some\n"
     "GPUs wait for ever, others go on. Threads without work must stay until the last barrier.\n",
     "scale_wrong", "scale_right"},
    {"mask", "the mask of a shuffle or vote names just the lanes that reach it", "the sum of 20 numbers by one warp",
     "After the early return 12 of the lanes that the full mask names never come. Values read from\n"
     "them are undefined, or the warp waits for ever.\n",
     "sum_wrong", "sum_right"},
    {"range", "an index lies inside its array", "the differences of neighbours",
     "The last thread reads the element behind the last. A GPU mostly returns some number that lies\n"
     "there, and stops the program only where the memory ends.\n",
     "differences_wrong", "differences_right"},
    {"lockstep", "lanes that hand over values in memory meet at a __syncwarp()",
     "the sum of 32 numbers by one warp, in shared memory",
     "It worked while the lanes of a warp always took the same step at once. Since Volta each lane\n"
     "goes on by itself: lane 0 may read before lane 16 has written, and the compiler may keep\n"
     "values in registers.\n",
     "tree_wrong", "tree_right"},
    {"update", "what several threads change is changed by an atomic", "the sum of 64 numbers",
     "Each thread reads the sum, adds to it and writes it back. Two that read the same old sum lose\n"
     "one of the two numbers: of 64 one may be left.\n",
     "total_wrong", "total_right"},
    {"global", "global memory orders nothing by itself: __syncthreads() does",
     "twice each number, and twice the number before it",
     "Thread 32 reads what thread 31 of another warp may not have written yet. From block to block\n"
     "not even a barrier helps: that takes an atomic and a fence, or a launch of its own.\n",
     "prefix_wrong", "prefix_right"},
    {}};

const struct registry wrong_registry = {wrong_rules, sizeof *wrong_rules};

const struct wrong_rule *wrong_find(const char *name)
{
    return static_cast<const struct wrong_rule *>(registry_find(&wrong_registry, name));
}

bool wrong_run(const struct wrong_rule *rule, bool wrong, bool *result, struct err *e)
{
    static int in[N], out[2 * N];
    static struct device none; /* LAUNCH wants one; the emulator ignores it */
    const auto &p = pairs[rule - wrong_rules];
    for (int i = 0; i < N; i++) in[i] = i + 1, out[i] = out[N + i] = 0;
    emu_name(wrong ? rule->wrong : rule->right);
    emu_races(true);
    LAUNCH(&none, 1, N, wrong ? p.wrong : p.right)
    (VECTOR("in", ROLE_WORK, in, N, const int), VECTOR("out", ROLE_WORK, out, 2 * N, int));
    emu_races(false);
    emu_name(nullptr);
    *result = p.is_right(out);
    return emu_sync(e);
}

static bool begins(const char *line, int length, const char *kernel)
{
    int n = static_cast<int>(strlen(kernel));
    return length > 5 + n && !strncmp(line, "void ", 5) && !strncmp(line + 5, kernel, strlen(kernel)) &&
           line[5 + n] == '(';
}

bool wrong_lines(const char *kernel, int *first, int *last)
{
    int n = 1, length;
    const char *line;
    while ((line = kernel_source_line("k_wrong.cu", n, &length)) && !begins(line, length, kernel)) n++;
    *first = n;
    while (line && *line != '}') line = kernel_source_line("k_wrong.cu", ++n, &length);
    *last = n;
    return line != nullptr;
}
#endif
