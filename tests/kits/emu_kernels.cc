/* Kernels for the emulator's own tests: correct kernels, and an incorrect kernel for each rule that the emulator
   checks. */
#include "emu_kernels.h"
#include "gpu/emu/emu.h"
#include "gpu/kernels/csr_rows.h"
#include "gpu/results.h"

#include <cstdio>

static struct device emu_device; /* LAUNCH takes a device, which the emulator ignores */

static __global__ void reverse_block(GPTR(int) a)
{
    SHARED(int, s, 64);
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

static __global__ void sum_warp(GPTR(const int) a, GPTR(int) out)
{
    int v = a[threadIdx.x];
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    if (threadIdx.x % WARP == 0) out[threadIdx.x / WARP] = v;
}

static __global__ void vote_odd(GPTR(int) out)
{
    unsigned odd = __ballot_sync(FULL_MASK, threadIdx.x & 1);
    int up = __shfl_up_sync(FULL_MASK, static_cast<int>(threadIdx.x), 1, 8);
    int flip = __shfl_xor_sync(FULL_MASK, static_cast<int>(threadIdx.x), 3);
    int third = __shfl_sync(FULL_MASK, static_cast<int>(threadIdx.x), 3, 8);
    out[threadIdx.x] = static_cast<int>(__popc(odd)) * 1000000 + up * 10000 + flip * 100 + third;
}

/* Half of a warp computes a sum: the mask names exactly the lanes of that half. */
static __global__ void half_sum(GPTR(int) out)
{
    if (threadIdx.x >= 16) return;
    int v = 1;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d, 16);
    if (threadIdx.x == 0) out[0] = v;
}

static __global__ void fill_3d(GPTR(int) out)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    atomicAdd(out + (block * blockDim.x * blockDim.y * blockDim.z + t), 1);
}

/* A race that the emulator does not report: the result depends on the order of the threads. */
static __global__ void last_one_wins(GPTR(int) out)
{
    out[0] = static_cast<int>(threadIdx.x);
}

static __global__ void read_outside(GPTR(const int) a, GPTR(int) out)
{
    out[threadIdx.x] = a[threadIdx.x + 1];
}
static __global__ void write_before(GPTR(int) out)
{
    out[static_cast<int>(threadIdx.x) - 1] = 1;
}
static __global__ void atomic_outside(GPTR(int) out)
{
    atomicAdd(out + 1000, 1);
}
static __global__ void wait_for_later(GPTR(int) out)
{
    if (blockIdx.x == 0) out[0] = missing<int>();
    while (is_missing(peek(out, 0))) wait_for_blocks();
}
static __global__ void shared_outside(GPTR(int) out)
{
    SHARED(int, s, 8);
    s[threadIdx.x] = 1;
    out[0] = 1;
}
static __global__ void barrier_after_return(GPTR(int) out)
{
    if (threadIdx.x == 5) return;
    __syncthreads();
    out[0] = 1;
}
static __global__ void barrier_two_lines(GPTR(int) out)
{
    if (threadIdx.x < 7)
        __syncthreads();
    else
        __syncthreads();
    out[0] = 1;
}
static __global__ void mask_after_return(GPTR(int) out)
{
    if (threadIdx.x >= 20) return;
    out[threadIdx.x] = __shfl_down_sync(FULL_MASK, 1, 1);
}
static __global__ void mask_without_me(GPTR(int) out)
{
    out[threadIdx.x] = __shfl_sync(0xfffffffeu, 1, 1);
}
static __global__ void read_unnamed(GPTR(int) out)
{
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);
}
static __global__ void others_elsewhere(GPTR(int) out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_sync(FULL_MASK, 1, 0);
    else
        __syncthreads();
}
static __global__ void shared_too_much(GPTR(int) out)
{
    SHARED(double, s, 7000);
    out[0] = static_cast<int>(s[0]);
}
/* Adds v to the elements that the earlier calls for this T have left in shared memory. */
template <typename T> static __device__ T shared_sum(T v)
{
    SHARED(T, sum, 1024);
    if (!(sum[threadIdx.x] >= 0)) sum[threadIdx.x] = 0; /* unwritten: -1 or NaN */
    return sum[threadIdx.x] += v;
}
/* A function that is called many times has one array; each of its instances has an array of its own. */
static __global__ void shared_again(GPTR(int) out)
{
    int sum = 0;
    double other = 0;
    for (int k = 1; k <= 100; k++) {
        sum = shared_sum<int>(k);
        if (k % 2) other = shared_sum<double>(k);
    }
    out[threadIdx.x] = sum + static_cast<int>(other);
}
static __global__ void given_too_little(GPTR(int) out)
{
    SHARED_GIVEN(double, s, 7001);
    out[0] = static_cast<int>(s[0]);
}
/* More than 48 KB of given shared memory, beside 256 bytes of its own. */
static __global__ void reverse_given(GPTR(int) out)
{
    SHARED(int, own, 64);
    SHARED_GIVEN(int, s, 14000);
    own[threadIdx.x] = 1;
    s[13999 - static_cast<int>(threadIdx.x)] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[13936 + static_cast<int>(threadIdx.x)] + s[0] + own[threadIdx.x];
}
/* Blocks of a cluster: block b writes its part of y to its shared memory, and reads the part of the block opposite. */
static __global__ void reverse_cluster(GPTR(int) out)
{
    SHARED(int, s, 32);
    int last = static_cast<int>(blockDim.x) - 1, i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    s[last - static_cast<int>(threadIdx.x)] = out[i];
    __syncthreads();
    if (blockIdx.x == 1) __syncthreads(); /* barriers of one block leave the other blocks alone */
    cluster_sync();
    out[i] = in_block(s, gridDim.x - 1 - blockIdx.x)[static_cast<int>(threadIdx.x)];
    cluster_sync();
}
/* Two faults: a barrier of the block orders nothing between blocks. */
static __global__ void cluster_too_early(GPTR(int) out)
{
    SHARED(int, s, 32);
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = in_block(s, 3 - blockIdx.x)[threadIdx.x];
}
static __global__ void cluster_reuse(GPTR(int) out)
{
    SHARED(int, s, 32);
    s[threadIdx.x] = out[blockIdx.x * blockDim.x + threadIdx.x];
    cluster_sync();
    int v = in_block(s, 3 - blockIdx.x)[threadIdx.x];
    __syncthreads();
    s[threadIdx.x] = v;
}
static __global__ void cluster_after_return(GPTR(int) out)
{
    if (blockIdx.x == 2) return;
    cluster_sync();
    out[0] = 1;
}
static __global__ void cluster_and_block(GPTR(int) out)
{
    if (threadIdx.x < 7)
        cluster_sync();
    else
        __syncthreads();
    out[0] = 1;
}
static __global__ void outside_cluster(GPTR(int) out)
{
    SHARED(int, s, 32);
    in_block(s, 4)[0] = 1;
    out[0] = 1;
}
static __global__ void shared_unwritten(GPTR(int) out)
{
    SHARED(int, s, 4);
    out[0] = s[1];
}

/* The column is outside x; the line that reads x is in the header of the CSR kernels. */
static __global__ void outside_in_header(GPTR(const int) col, GPTR(const double) val, GPTR(const double) x)
{
    emu_::vector_sum<double, 32>(static_cast<int>(threadIdx.x), 0, 1, col, val, x);
}

enum { N = 256 };
static int a[N];

static simt::array<int> out_of(int *y)
{
    return VECTOR("y", ROLE_WORK, y, N, int);
}

void emu_test_read(int *y, int64_t times)
{
    simt::array<int> in = out_of(y);
    for (int64_t i = 0; i < times; i++) in.load(i % N, HERE);
}

void emu_test_run(const char *name, int *y)
{
    static const struct {
        const char *name;
        unsigned threads;
        void (*kernel)(simt::array<int>);
    } plain[] = {
        {"vote_odd", 32, vote_odd},
        {"half_sum", 32, half_sum},
        {"last_one_wins", 64, last_one_wins},
        {"write_before", 32, write_before},
        {"atomic_outside", 1, atomic_outside},
        {"shared_outside", 32, shared_outside},
        {"wait_for_later", 32, wait_for_later},
        {"barrier_after_return", 64, barrier_after_return},
        {"barrier_two_lines", 64, barrier_two_lines},
        {"mask_after_return", 32, mask_after_return},
        {"mask_without_me", 32, mask_without_me},
        {"read_unnamed", 32, read_unnamed},
        {"others_elsewhere", 32, others_elsewhere},
        {"shared_too_much", 1, shared_too_much},
        {"shared_unwritten", 1, shared_unwritten},
        {"shared_again", 64, shared_again},
        {"block_too_big", 1025, vote_odd},
        {"mask_beyond_block", 20, vote_odd},
    };
    for (int k = 0; k < N; k++) a[k] = k, y[k] = 0;
    emu_name(name);
    for (const auto &p : plain)
        if (!strcmp(p.name, name)) LAUNCH(&emu_device, 1, p.threads, p.kernel)(out_of(y));
    if (!strcmp(name, "reverse_block")) {
        memcpy(y, a, sizeof a);
        LAUNCH(&emu_device, 1, 64, reverse_block)(out_of(y));
    }
    if (!strcmp(name, "given_too_little")) LAUNCH_GIVEN(&emu_device, 1, 1, 56000, given_too_little)(out_of(y));
    if (!strcmp(name, "reverse_given")) {
        memcpy(y, a, sizeof a);
        LAUNCH_GIVEN(&emu_device, 1, 64, 56000, reverse_given)(out_of(y));
    }
    static const struct {
        const char *name;
        void (*kernel)(simt::array<int>);
    } clusters[] = {
        {"reverse_cluster", reverse_cluster},     {"cluster_too_early", cluster_too_early},
        {"cluster_reuse", cluster_reuse},         {"cluster_after_return", cluster_after_return},
        {"cluster_and_block", cluster_and_block}, {"outside_cluster", outside_cluster},
    };
    for (const auto &c : clusters)
        if (!strcmp(c.name, name)) {
            memcpy(y, a, sizeof a);
            LAUNCH_CLUSTER(&emu_device, 4, 32, 0, c.kernel)(out_of(y));
        }
    if (!strcmp(name, "sum_warp"))
        LAUNCH(&emu_device, 1, 128, sum_warp)(VECTOR("a", ROLE_WORK, a, N, const int), out_of(y));
    if (!strcmp(name, "fill_3d")) LAUNCH(&emu_device, dim3(2, 2, 2), dim3(4, 4, 2), fill_3d)(out_of(y));
    if (!strcmp(name, "empty_grid"))
        LAUNCH(&emu_device, 0, 32, read_outside)(VECTOR("a", ROLE_WORK, a, 32, const int), out_of(y));
    if (!strcmp(name, "read_outside"))
        LAUNCH(&emu_device, 1, 32, read_outside)(VECTOR("a", ROLE_WORK, a, 32, const int), out_of(y));
    double one = 1;
    if (!strcmp(name, "outside_in_header")) LAUNCH(&emu_device, 1, 32, outside_in_header)
    (VECTOR("col", ROLE_WORK, a + 1, 1, const int), VECTOR("val", ROLE_WORK, &one, 1, const double),
     VECTOR("x", ROLE_WORK, &one, 1, const double));
    emu_name(nullptr);
}

/* ---- kernels for the microscope ---- */

/* Row r takes one round per entry. In round k the kernel reads col[k], then the first col[k] elements of val, then x[0]
   if col[k] is odd. */
static __global__ void nested(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const double) val,
                              GPTR(const double) x, GPTR(double) y)
{
    int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows) return;
    double sum = 0;
    int end = ptr[row + 1];
    for (int k = ptr[row]; k < end; k++) {
        int many = col[k];
        for (int i = 0; i < many; i++) sum += val[i];
        if (many % 2) sum += x[0];
    }
    y[row] = sum;
}

static __global__ void outside(int rows, GPTR(const double) x, GPTR(double) y)
{
    int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row < rows) y[row] = x[row == rows - 1 ? rows : 0];
}

/* A kernel in which x and y have other names, and another vector has the name x. */
static __global__ void renamed(int rows, GPTR(const double) xs, GPTR(double) own, GPTR(double) ys)
{
    int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows) return;
    own[row] = xs[row];
    ys[row] = own[row];
}

template <typename T> static simt::array<const T> array_of(const struct launch *L, int k)
{
    return ARRAY(L, k, T);
}

static bool launch_nested(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, 64), 64, nested)
    (static_cast<int>(S->rows), array_of<int>(L, CSR_PTR), array_of<int>(L, CSR_COL), array_of<double>(L, CSR_VAL),
     VECTOR("x", ROLE_X, L->x, S->cols, const double), VECTOR("y", ROLE_Y, L->y, S->rows, double));
    return true;
}

static bool launch_outside(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, 64), 64, outside)
    (static_cast<int>(S->rows), VECTOR("x", ROLE_X, L->x, S->cols, const double),
     VECTOR("y", ROLE_Y, L->y, S->rows, double));
    return true;
}

static bool launch_renamed(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, 64), 64, renamed)
    (static_cast<int>(S->rows), VECTOR("xs", ROLE_X, L->x, S->cols, const double),
     VECTOR("x", ROLE_WORK, L->scratch, S->rows, double), VECTOR("ys", ROLE_Y, L->y, S->rows, double));
    return true;
}

static int64_t value_per_row(const struct mat *M)
{
    return M->of->rows * static_cast<int64_t>(sizeof(double));
}

const struct kernel emu_test_nested = {
    .name = "nested", .format = &format_csr, .deterministic = true, .product = {nullptr, launch_nested}};
const struct kernel emu_test_outside = {
    .name = "outside", .format = &format_csr, .deterministic = true, .product = {nullptr, launch_outside}};
const struct kernel emu_test_renamed = {.name = "renamed",
                                        .format = &format_csr,
                                        .deterministic = true,
                                        .scratch = value_per_row,
                                        .product = {nullptr, launch_renamed}};

int emu_test_vector(int64_t rows, int64_t nnz)
{
    return 2 << emu_::vector_choice(rows, nnz);
}

int emu_test_line(const char *text)
{
    FILE *f = fopen(__FILE__, "r");
    char line[256];
    int number = 0, found = 0;
    while (f && fgets(line, sizeof line, f) && !found) {
        number++;
        if (strstr(line, text)) found = number;
    }
    if (f) fclose(f);
    return found;
}
