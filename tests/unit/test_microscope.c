/* The microscope: counts compared with counts made by hand and by other code, and invariants of all kernels. */
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "kits/emu_kernels.h"
#include "kits/kernel_loops.h"
#include "kits/shapes.h"
#include "kits/stored_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { SLOTS = 1 << 14 };
static struct device *emu;
static struct counts counted, again;

/* A stored matrix on the emulator. */
struct subject {
    struct csr A;
    struct stored S;
    struct mat M;
};

static bool subject_new(struct subject *s, struct csr A, const char *format, enum precision real)
{
    struct err e = {0};
    struct plan p;
    const struct format *f = format_find(format);
    int64_t param[PARAMS_MAX] = {0};
    for (int i = 0; i < PARAMS_MAX && f->params[i].name; i++) param[i] = f->params[i].default_value;
    *s = (struct subject){.A = A};
    if (!format_plan(&A, f, param, real, &p, &e) || p.slots > SLOTS * 16) return false;
    if (!format_pack(&A, f, param, real, false, &s->S, &e)) {
        if (e.code != E_LIMIT) fail_msg("%s: %s", format, e.text);
        return false;
    }
    assert_true(mat_put(&s->M, &s->S, emu, &e));
    return true;
}

static void subject_free(struct subject *s)
{
    mat_free(&s->M);
    stored_free(&s->S);
    csr_free(&s->A);
}

static void count_or_fail(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                          struct counts *c)
{
    struct err e = {0};
    if (!count_kernel(k, M, sample, sink, NULL, c, &e)) fail_msg("%s: %s %s", k->name, e.where, e.text);
}

/* ---- by hand ---- */

struct by_hand {
    const char *kernel, *array;
    enum access_kind touch;
    enum precision real;
    int64_t requests, lanes, sectors, contended;
};

/* thesis4: rows of 2, 2, 3 and 2 entries in columns 0 1 | 1 2 | 0 2 3 | 1 3. */
static const struct by_hand of_thesis4[] = {
    /* The kernel makes two requests for ptr, each by 4 lanes. The steps read entries 0 2 4 7, then 1 3 5 8, then 6. */
    {"csr-scalar", "ptr", ACCESS_LOAD, P_F64, 2, 8, 2, 0},
    {"csr-scalar", "val", ACCESS_LOAD, P_F64, 3, 9, 6, 0},
    {"csr-scalar", "col", ACCESS_LOAD, P_F64, 3, 9, 4, 0},
    {"csr-scalar", "x", ACCESS_LOAD, P_F64, 3, 9, 3, 0},
    {"csr-scalar", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    {"csr-scalar", "val", ACCESS_LOAD, P_F32, 3, 9, 4, 0},
    {"csr-scalar", "col", ACCESS_LOAD, P_F32, 3, 9, 4, 0},
    {"csr-scalar", "y", ACCESS_STORE, P_F32, 1, 4, 1, 0},
    /* A warp takes one row, and all its lanes read ptr; entries 7 and 8 lie in two sectors. */
    {"csr-vector", "ptr", ACCESS_LOAD, P_F64, 8, 256, 8, 0},
    {"csr-vector", "val", ACCESS_LOAD, P_F64, 4, 9, 5, 0},
    {"csr-vector", "col", ACCESS_LOAD, P_F64, 4, 9, 5, 0},
    {"csr-vector", "x", ACCESS_LOAD, P_F64, 4, 9, 4, 0},
    {"csr-vector", "y", ACCESS_STORE, P_F64, 4, 4, 4, 0},
    {"csr-vector", "val", ACCESS_LOAD, P_F32, 4, 9, 5, 0},
    /* 3 slots per row; each lane stops at its first padding slot. The three requests for col are coalesced and read 4
       slots each. In the third request, only one slot holds an entry, so val and x are read by 4, 4 and 1 lanes. */
    {"ell", "col", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"ell", "val", ACCESS_LOAD, P_F64, 3, 9, 3, 0},
    {"ell", "x", ACCESS_LOAD, P_F64, 3, 9, 3, 0},
    {"ell", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    {"ell", "val", ACCESS_LOAD, P_F32, 3, 9, 3, 0},
    /* All 12 slots are read and multiplied; the column of the 3 padding slots is taken as 0. */
    {"ell-padded", "col", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"ell-padded", "val", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"ell-padded", "x", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"ell-padded", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    /* Offsets -2, 0 and 1: all lanes read the offset, and one value each; columns outside the matrix are not read. */
    {"dia-paper", "offsets", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"dia-paper", "data", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"dia-paper", "x", ACCESS_LOAD, P_F64, 3, 9, 3, 0},
    {"dia-paper", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    /* One segment: its threads read the bounds, then as in dia-paper. */
    {"drm-paper", "drm_val", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"drm-paper", "x", ACCESS_LOAD, P_F64, 3, 9, 3, 0},
    {"hdia-paper", "hdi_data", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"brcsd1-paper", "brcsd1_data", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    {"brcsd2-paper", "brcsd2_data", ACCESS_LOAD, P_F64, 3, 12, 3, 0},
    /* Width 2: one entry overflows. One atomic per row, and one for the overflow; the stores of y scale it. */
    {"hyb-atomic", "ell_val", ACCESS_LOAD, P_F64, 2, 8, 2, 0},
    {"hyb-atomic", "val", ACCESS_LOAD, P_F64, 1, 1, 1, 0},
    {"hyb-atomic", "y", ACCESS_ATOMIC, P_F64, 2, 5, 2, 0},
    {"hyb-atomic", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    {"hyb", "y", ACCESS_ATOMIC, P_F64, 1, 1, 1, 0},
    {"hyb-ordered", "y", ACCESS_ATOMIC, P_F64, 0, 0, 0, 0},
    /* Row 0 is the first and row 3 the last of the only warp: carries. Rows 1 and 2 are stored by lanes 3 and 6. */
    {"coo-ordered", "carry", ACCESS_STORE, P_F64, 2, 2, 2, 0},
    {"coo-ordered", "y", ACCESS_ATOMIC, P_F64, 0, 0, 0, 0},
    {"coo-ordered", "val", ACCESS_LOAD, P_F64, 1, 9, 3, 0},
    /* 2 threads per row: all entries but the third of row 2, number 7 of the columns, are read in the first step. */
    {"csc-ordered", "from", ACCESS_LOAD, P_F64, 2, 9, 3, 0},
    {"csc-ordered", "val", ACCESS_LOAD, P_F64, 2, 9, 4, 0},
    {"csc-ordered", "y", ACCESS_ATOMIC, P_F64, 0, 0, 0, 0},
    {"csc-ordered", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
    /* 9 / 4 = 2 threads per row: the first step reads all entries but the third of row 2. */
    {"csr-cusp", "val", ACCESS_LOAD, P_F64, 2, 9, 4, 0},
    {"csr-light-vector", "x", ACCESS_LOAD, P_F64, 2, 9, 2, 0},
    {"csr-light-vector-texture", "x", ACCESS_TEXTURE, P_F64, 2, 9, 2, 0},
    {"csr-light-vector-texture", "x", ACCESS_LOAD, P_F64, 0, 0, 0, 0},
    {"csr-light-warp-texture", "x", ACCESS_TEXTURE, P_F64, 2, 9, 2, 0},
    {"csr-light-warp-texture", "val", ACCESS_LOAD, P_F64, 2, 9, 4, 0},
    /* Each of 9 lanes processes one entry. The 9 loads of an array read 36 or 72 bytes, and the 9 atomics go to 4 rows.
     */
    {"coo-atomic", "row", ACCESS_LOAD, P_F64, 1, 9, 2, 0},
    {"coo-atomic", "val", ACCESS_LOAD, P_F64, 1, 9, 3, 0},
    {"coo-atomic", "val", ACCESS_LOAD, P_F32, 1, 9, 2, 0},
    {"coo-atomic", "x", ACCESS_LOAD, P_F64, 1, 9, 1, 0},
    {"coo-atomic", "y", ACCESS_ATOMIC, P_F64, 1, 9, 3, 5}, /* 3 atomics to row 2 are serialised */
    {"coo-atomic", "y", ACCESS_STORE, P_F64, 1, 4, 1, 0},
};

/* A full 40 x 40 matrix: a row has 320 bytes in fp64, and begins at the start of a sector. */
static const struct by_hand of_dense[] = {
    {"csr-scalar", "val", ACCESS_LOAD, P_F64, 80, 1600, 1600, 0}, /* each lane reads its own sector */
    {"csr-scalar", "x", ACCESS_LOAD, P_F64, 80, 1600, 80, 0},     /* all lanes read the same element of x */
    {"csr-vector", "val", ACCESS_LOAD, P_F64, 80, 1600, 400, 0},  /* requests of 8 sectors, then of 2 sectors */
    {"csr-vector", "col", ACCESS_LOAD, P_F64, 80, 1600, 200, 0},  /* requests of 4 sectors, then of 1 sector */
    {"csr-vector", "val", ACCESS_LOAD, P_F32, 80, 1600, 200, 0},
    {"ell", "val", ACCESS_LOAD, P_F64, 80, 1600, 400, 0},
    {"ell", "x", ACCESS_LOAD, P_F64, 80, 1600, 80, 0},
};

/* A matrix of 64 rows: row 0 and row 40 have one entry, and row 41 has two entries. */
static const struct by_hand of_empty_rows[] = {
    {"csr-scalar", "ptr", ACCESS_LOAD, P_F64, 4, 128, 18, 0}, /* 128 bytes lie in 4 or 5 sectors */
    {"csr-scalar", "val", ACCESS_LOAD, P_F64, 3, 4, 3, 0},    {"csr-scalar", "y", ACCESS_STORE, P_F64, 2, 64, 16, 0},
    {"csr-scalar", "y", ACCESS_STORE, P_F32, 2, 64, 8, 0},    {"csr-vector", "y", ACCESS_STORE, P_F64, 64, 64, 64, 0},
    {"csr-vector", "val", ACCESS_LOAD, P_F64, 3, 4, 3, 0},
};

static void hold(const struct csr *A, const struct by_hand *list, int n)
{
    for (int i = 0; i < n; i++) {
        const struct by_hand *h = &list[i];
        const struct kernel *k = kernel_find(h->kernel);
        struct subject s;
        struct csr copy;
        assert_true(csr_copy(&copy, A, NULL));
        assert_true(subject_new(&s, copy, k->format->name, h->real));
        count_or_fail(k, &s.M, 0, NULL, &counted);
        int a = 0;
        while (a < counted.scope.narrays && strcmp(counted.scope.array[a].name, h->array)) a++;
        struct tally t = counts_of(&counted, h->touch, a, -1);
        if (a == counted.scope.narrays || t.requests != h->requests || t.lanes != h->lanes || t.sectors != h->sectors ||
            t.contended != h->contended)
            fail_msg("%s, %s of %s, %s: %lld requests, %lld lanes, %lld sectors, %lld contended", h->kernel,
                     access_names[h->touch], h->array, precisions[h->real].name, (long long)t.requests,
                     (long long)t.lanes, (long long)t.sectors, (long long)t.contended);
        assert_true(counts_error(&counted) == 0);
        subject_free(&s);
    }
}

TEST(test_by_hand)
{
    int full[40], few[64] = {0};
    struct csr A = thesis4();
    hold(&A, of_thesis4, COUNT(of_thesis4));
    csr_free(&A);
    for (int i = 0; i < 40; i++) full[i] = 40;
    A = ragged(40, full);
    hold(&A, of_dense, COUNT(of_dense));
    csr_free(&A);
    few[0] = few[40] = 1, few[41] = 2;
    A = ragged(64, few);
    hold(&A, of_empty_rows, COUNT(of_empty_rows));
    csr_free(&A);
}

/* Atomics of several lanes at one address: floating-point additions are serialised, and request the sector once per
   lane; additions of integers are merged by the compiler, so the warp requests each sector once. */
TEST(contended_atomics_by_hand)
{
    static const struct {
        int lanes, per_address; /* neighbouring lanes share an address */
        int64_t step;           /* elements from one address to the next */
        int contended, sectors, merged;
    } cases[] = {
        {32, 32, 1, 31, 32, 1}, {32, 1, 1, 0, 8, 8},    {32, 1, 4, 0, 32, 32}, {8, 4, 1, 6, 4, 1}, {8, 4, 4, 6, 8, 2},
        {32, 16, 4, 30, 32, 2}, {31, 16, 4, 29, 31, 2}, {1, 1, 1, 0, 1, 1},    {2, 2, 1, 1, 2, 1},
    };
    for (int i = 0; i < COUNT(cases); i++)
        for (int integral = 0; integral < 2; integral++) {
            struct scope *s = calloc(1, sizeof *s);
            struct request r = {0};
            struct request_facts f;
            assert_non_null(s);
            s->array[0] = (struct scope_array){.name = "y", .stored = -1, .integral = integral, .n = 1000, .size = 8};
            s->site[0] = (struct access_site){.kind = ACCESS_ATOMIC, .elements = 1};
            for (int l = 0; l < cases[i].lanes; l++) {
                r.mask |= 1u << l;
                r.at[l] = l / cases[i].per_address * cases[i].step;
            }
            facts_of(s, &r, &f);
            int distinct = (cases[i].lanes + cases[i].per_address - 1) / cases[i].per_address;
            if (f.contended != cases[i].contended || f.bytes != 8 * distinct ||
                f.nsectors != (integral ? cases[i].merged : cases[i].sectors))
                fail_msg("case %d, %s: %d contended, %d sectors, %d bytes", i, integral ? "integers" : "reals",
                         f.contended, f.nsectors, f.bytes);
            free(s);
        }
}

/* csr-scalar on thesis4: one of the 4 warps makes all 12 requests, with 39 lane accesses in total. */
TEST(test_steps_by_hand)
{
    struct subject s;
    assert_true(subject_new(&s, thesis4(), "csr", P_F64));
    count_or_fail(kernel_find("csr-scalar"), &s.M, 0, NULL, &counted);
    const struct launch_counts *l = &counted.launch[0];
    assert_int_equal(counted.scope.nlaunches, 1);
    assert_int_equal(l->warps, 4);
    assert_int_equal(l->steps, 12);
    assert_int_equal(l->active, 39);
    assert_int_equal(l->longest_warp, 12);
    assert_int_equal(l->longest_block, 12);
    assert_int_equal(l->sectors_most, 16);
    assert_int_equal(counted.accesses, 39);
    subject_free(&s);
}

/* ---- invariants of all kernels ---- */

enum { BITS = 1 << 21 };
struct coverage {
    const struct subject *s;
    const char *kernel;
    unsigned char *slot[ARRAYS_MAX], *row; /* slot: 1 if it was read; row: 1 if it was written */
    int64_t requests;
    int bad;
};

static void look(void *user, const struct scope *sc, int64_t block, int warp, const struct request *r,
                 const struct request_facts *f)
{
    struct coverage *v = user;
    const struct access_site *p = &sc->site[r->site];
    v->requests++;
    v->bad += f->lanes != __builtin_popcount(r->mask) || f->lanes == 0;
    if (p->array < 0) return;
    const struct scope_array *a = &sc->array[p->array];
    if (accesses_shared(p->kind)) v->bad += f->wavefronts < f->wavefronts_least || f->wavefronts_least < 1;
    if (!accesses_global(p->kind)) return;
    v->bad += f->nsectors * SECTOR < f->bytes || f->nsectors > f->lanes * p->elements || f->nsectors < 1;
    v->bad += f->padding > f->bytes || f->bytes > f->lanes * p->elements * a->size ||
              (f->contended && p->kind != ACCESS_ATOMIC);
    for (uint32_t left = r->mask; left; left &= left - 1) {
        int64_t at = r->at[__builtin_ctz(left)];
        bool writes = p->kind == ACCESS_STORE || p->kind == ACCESS_ATOMIC;
        v->bad += at < 0 || at + p->elements > a->n;
        if (!writes && a->stored >= 0) memset(&v->slot[a->stored][at], 1, (size_t)p->elements);
        if (writes && !strcmp(a->name, "y")) v->row[at] = 1;
    }
}

/* Each entry of the matrix is in a slot that was read, and each row was written. */
static void check_coverage(const struct coverage *v, const struct kernel *k, const char *name)
{
    const struct stored *S = &v->s->S;
    bool by_host = !strcmp(k->name, "sc-csr-host-order"); /* in this kernel the host restores the order of y */
    for (int64_t i = 0; i < S->rows && !by_host; i++)
        if (!v->row[i]) fail_msg("%s of %s: row %lld was not written", k->name, name, (long long)i);
    for (int a = 0; a < S->narrays; a++)
        for (int64_t i = 0; i < S->a[a].n && !k->reads; i++)
            if (S->a[a].type == precisions[S->real].stored && S->format->where(S, a, i).kind == SLOT_ENTRY &&
                !v->slot[a][i])
                fail_msg("%s of %s: %s[%lld] was not read", k->name, name, S->a[a].name, (long long)i);
}

/* How often a sector was refetched depends on the order of the blocks. */
static void same_counts(const struct counts *a, const struct counts *b, const char *kernel, const char *what)
{
    if (a->scope.nsites != b->scope.nsites || a->scope.nlaunches != b->scope.nlaunches)
        fail_msg("%s, %s: not the same places", kernel, what);
    int64_t agains = 0;
    for (int p = 0; p < a->scope.nsites; p++) {
        struct tally x = a->by_site[p], y = b->by_site[p];
        agains += x.refetched - y.refetched;
        x.refetched = y.refetched = 0;
        if (memcmp(&x, &y, sizeof x))
            fail_msg("%s, %s: not the same at %s:%d, %s: %lld and %lld requests, %lld and %lld sectors", kernel, what,
                     a->scope.site[p].file, a->scope.site[p].line, access_names[a->scope.site[p].kind],
                     (long long)x.requests, (long long)y.requests, (long long)x.sectors, (long long)y.sectors);
    }
    for (int l = 0; l < a->scope.nlaunches; l++)
        if (memcmp(&a->launch[l], &b->launch[l], sizeof a->launch[l])) fail_msg("%s, %s: launch %d", kernel, what, l);
    if (agains || a->accesses != b->accesses) fail_msg("%s, %s: not the same in all", kernel, what);
}

static void check_one(const struct subject *s, const struct kernel *k, const char *name)
{
    static unsigned char marks[ARRAYS_MAX + 1][BITS];
    struct coverage v = {.s = s, .kernel = k->name, .row = marks[ARRAYS_MAX]};
    struct scope_sink sink = {look, NULL, &v};
    assert_true(s->S.rows <= BITS);
    memset(marks[ARRAYS_MAX], 0, (size_t)s->S.rows);
    for (int a = 0; a < s->S.narrays; a++) {
        assert_true(s->S.a[a].n <= BITS);
        v.slot[a] = marks[a];
        memset(marks[a], 0, (size_t)s->S.a[a].n);
    }
    count_or_fail(k, &s->M, 0, &sink, &counted);
    int64_t requests = 0;
    for (int p = 0; p < counted.scope.nsites; p++) requests += counted.by_site[p].requests;
    if (v.bad || requests != v.requests) fail_msg("%s of %s: %d requests are odd", k->name, name, v.bad);
    check_coverage(&v, k, name);
    count_or_fail(k, &s->M, INT32_MAX, NULL, &again);
    same_counts(&counted, &again, k->name, "watched from outside");
    assert_true(counts_error(&again) == 0);
    if (!k->deterministic || k->shares) return;
    emu_order(77);
    count_or_fail(k, &s->M, 0, NULL, &again);
    emu_order(0);
    same_counts(&counted, &again, k->name, "in another order of lanes");
}

static void each_kernel(void (*check)(const struct subject *, const struct kernel *, const char *),
                        const struct shape *shape, enum precision real)
{
    for (int i = 0; kernels[i]; i++) {
        struct subject s;
        if (!kernel_runs_on(kernels[i], emu)) continue;
        bool takes = subject_new(&s, shape_csr(shape, 11), kernels[i]->format->name, real);
        if (takes && (!kernels[i]->fits || kernels[i]->fits(&s.S, NULL))) check(&s, kernels[i], shape->name);
        subject_free(&s);
    }
}

TEST(test_all_kernels)
{
    for (const struct shape *shape = shapes; shape->name; shape++) {
        each_kernel(check_one, shape, P_F64);
        each_kernel(check_one, shape, P_F32);
    }
}

static void check_threads(const struct subject *s, const struct kernel *k, const char *name)
{
    omp_set_num_threads(1);
    count_or_fail(k, &s->M, 0, NULL, &counted);
    omp_set_num_threads(4);
    count_or_fail(k, &s->M, 0, NULL, &again);
    same_counts(&counted, &again, k->name, "by four threads");
}

TEST(test_threads)
{
    static const struct shape wide = {.name = "9000 rows", .rows = 9000, .cols = 500, .entries = 50000, .long_row = 3};
    int threads = omp_get_max_threads();
    each_kernel(check_threads, &wide, P_F64);
    omp_set_num_threads(threads);
}

/* ---- long rows and divergence ---- */

/* The number of sectors that up to 32 lanes access, counted in a different way: from a list of these sectors. */
static int64_t sectors_at(int n, const int64_t *at, int size)
{
    int64_t list[LANES];
    int found = 0;
    for (int k = 0; k < n; k++) {
        int64_t sector = at[k] * size / SECTOR;
        int j = 0;
        while (j < found && list[j] != sector) j++;
        if (j == found) list[found++] = sector;
    }
    return found;
}

static struct tally loads_of(const char *array)
{
    for (int a = 0; a < counted.scope.narrays; a++)
        if (!strcmp(counted.scope.array[a].name, array)) return counts_of(&counted, ACCESS_LOAD, a, -1);
    return (struct tally){0};
}

/* One row per thread: step j is executed by lanes whose rows are longer than j. */
TEST(test_long_rows)
{
    int length[70];
    struct subject s;
    for (int i = 0; i < 70; i++) length[i] = i % 7 ? i % 5 * 3 : 900 * (i / 7);
    length[3] = 100000, length[40] = 2049, length[41] = 0;
    assert_true(subject_new(&s, ragged(70, length), "csr", P_F64));
    count_or_fail(kernel_find("csr-scalar"), &s.M, 0, NULL, &counted);
    int64_t requests = 0, sectors = 0;
    for (int first = 0; first < 70; first += LANES)
        for (int j = 0;; j++) {
            int64_t at[LANES];
            int n = 0;
            for (int i = first; i < 70 && i < first + LANES; i++)
                if (length[i] > j) at[n++] = s.A.rowptr[i] + j;
            if (n == 0) break;
            requests++;
            sectors += sectors_at(n, at, 8);
        }
    struct tally t = loads_of("val");
    assert_int_equal(t.lanes, s.A.nnz);
    assert_int_equal(t.requests, requests);
    assert_int_equal(t.sectors, sectors);
    assert_int_equal(loads_of("x").requests, requests);
    subject_free(&s);
}

/* Two nested loops; the inner length differs by lane and round. The lanes of a round stay together, and diverge only at
   odd columns. */
TEST(test_nested_loops)
{
    enum { ROWS = 64, WIDE = 60 };
    uint64_t seed = 5;
    int row[ROWS * 9], col[ROWS * 9], n = 0;
    double val[ROWS * 9];
    struct csr A;
    struct subject s;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0, rounds = (int)(random_next(&seed) % 9); k < rounds; k++, n++) {
            row[n] = i;
            col[n] = k * 6 + (int)(random_next(&seed) % 6);
            val[n] = 1;
        }
    row[n] = ROWS - 1, col[n] = WIDE - 1, val[n++] = 1;
    assert_true(csr_from_triplets(&A, ROWS, WIDE, n, row, col, val, NULL, NULL, NULL));
    assert_true(subject_new(&s, A, "csr", P_F64));
    count_or_fail(&emu_test_nested, &s.M, 0, NULL, &counted);
    int64_t rounds = 0, inner = 0, odd = 0;
    for (int first = 0; first < ROWS; first += LANES)
        for (int k = 0; k < 10; k++) {
            int most = -1;
            bool any_odd = false;
            for (int i = first; i < first + LANES; i++) {
                if (csr_row_length(&A, i) <= k) continue;
                int many = A.col[A.rowptr[i] + k];
                if (many > most) most = many;
                any_odd |= many % 2 == 1;
            }
            if (most < 0) break;
            rounds++;
            inner += most;
            odd += any_odd;
        }
    assert_int_equal(loads_of("col").requests, rounds);
    assert_int_equal(loads_of("val").requests, inner);
    assert_int_equal(loads_of("x").requests, odd);
    subject_free(&s);
}

/* Three consecutive loops, in a function defined above its caller: jumping to that function does not start a new round
   of a loop. Lanes with different numbers of rounds run each of the loops together. */
TEST(test_function_above_its_caller)
{
    struct subject s;
    assert_true(subject_new(&s, shape_csr(&(struct shape){.rows = 500, .cols = 90, .entries = 2100, .long_row = -1}, 3),
                            "csr", P_F64));
    count_or_fail(kernel_find("csr-merge"), &s.M, 0, NULL, &counted);
    int64_t requests = loads_of("col").requests;
    assert_int_equal(loads_of("col").lanes, s.A.nnz);
    assert_int_equal(loads_of("val").requests, requests);
    assert_int_equal(loads_of("x").requests, requests);
    subject_free(&s);
}

/* In csr-ends, a function that stores to y is called in a loop and from two places after it, which must not look like
   rounds of a larger loop. Each lane has three rows in its 4 entries: per chunk of 32 lanes, all lanes store in the
   loop's last round, some in the two rounds before, then lanes other than the first, then the first. */
TEST(test_function_with_several_callers)
{
    enum { LANE_ROWS = 3, LANE_ENTRIES = 4, CHUNKS = 24, ROWS = CHUNKS * LANES * LANE_ROWS, STORES = 5 };
    static const int length[][LANE_ROWS] = {{1, 1, 2}, {1, 2, 1}, {2, 1, 1}};
    int row[CHUNKS * LANES * LANE_ENTRIES], col[COUNT(row)], n = 0;
    double val[COUNT(row)];
    struct csr A;
    struct subject s;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < length[i / LANE_ROWS % COUNT(length)][i % LANE_ROWS]; k++, n++)
            row[n] = i, col[n] = (i + 7 * k) % ROWS, val[n] = 1;
    assert_int_equal(n, COUNT(row));
    assert_true(csr_from_triplets(&A, ROWS, ROWS, n, row, col, val, NULL, NULL, NULL));
    assert_true(subject_new(&s, A, "csr", P_F64));
    count_or_fail(kernel_find("csr-ends"), &s.M, 0, NULL, &counted);
    assert_int_equal(counts_of(&counted, ACCESS_STORE, -1, -1).requests, STORES * CHUNKS);
    subject_free(&s);
}

/* ---- samples ---- */

TEST(test_samples)
{
    struct csr A = shape_csr(&(struct shape){.rows = 60000, .cols = 800, .entries = 200000, .long_row = -1}, 4);
    struct subject s;
    assert_true(subject_new(&s, A, "csr", P_F64));
    const struct kernel *k = kernel_find("csr-scalar");
    count_or_fail(k, &s.M, 0, NULL, &counted);
    double all = (double)counts_of(&counted, ACCESS_LOAD, -1, -1).sectors + (double)loads_of("y").sectors +
                 (double)counts_of(&counted, ACCESS_STORE, -1, -1).sectors;
    count_or_fail(k, &s.M, 40, NULL, &counted);
    double some = (double)counts_of(&counted, ACCESS_LOAD, -1, -1).sectors +
                  (double)counts_of(&counted, ACCESS_STORE, -1, -1).sectors;
    assert_int_equal(counted.scope.launch[0].blocks, 469);
    assert_in_range(counted.scope.launch[0].seen, 35, 45);
    double error = counts_error(&counted);
    assert_true(error > 0 && error < 0.05);
    assert_true(fabs(some - all) < 2 * error * all);
    count_or_fail(k, &s.M, 1, NULL, &counted);
    assert_true(isnan(counts_error(&counted)));
    subject_free(&s);
}

/* Three rows have an entry in every column. */
static struct csr with_dense_rows(int64_t n)
{
    struct csr A = {0}, B = {0};
    struct err e = {0};
    assert_true(generator_find("random")->make((int64_t[PARAMS_MAX]){n, 5, 0}, 1, NULL, &A, &e));
    assert_true(csr_new(&B, n, n, A.nnz + 3 * n, false, &e));
    B.rowptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        bool dense = i == n / 7 || i == n / 2 || i == n - 2;
        int at = B.rowptr[i];
        for (int64_t k = A.rowptr[i]; !dense && k < A.rowptr[i + 1]; k++) B.col[at] = A.col[k], B.val[at++] = 1;
        for (int64_t k = 0; dense && k < n; k++) B.col[at] = (int)k, B.val[at++] = 1;
        B.rowptr[i + 1] = at;
    }
    B.nnz = B.rowptr[n];
    csr_free(&A);
    return B;
}

static struct csr generated(const char *name, int64_t a, int64_t b)
{
    struct csr A = {0};
    struct err e = {0};
    if (!generator_find(name)->make((int64_t[PARAMS_MAX]){a, b}, 1, NULL, &A, &e)) fail_msg("%s: %s", name, e.text);
    return A;
}

struct sampled {
    double requests, sectors, lanes, steps;
};

static struct sampled totals_of(const struct kernel *k, const struct mat *M, int64_t sample)
{
    struct sampled t = {0};
    count_or_fail(k, M, sample, NULL, &counted);
    for (int kind = ACCESS_LOAD; kind <= ACCESS_TEXTURE; kind++) {
        struct tally c = counts_of(&counted, (enum access_kind)kind, -1, -1);
        t.requests += (double)c.requests, t.sectors += (double)c.sectors, t.lanes += (double)c.lanes;
    }
    for (int l = 0; l < counted.scope.nlaunches; l++) {
        const struct scope_launch *at = &counted.scope.launch[l];
        t.steps += (double)counted.launch[l].steps * (double)at->blocks / (double)at->seen;
    }
    return t;
}

static void assert_near(const char *kernel, const char *what, double some, double all)
{
    if (fabs(some - all) > 0.02 * all) fail_msg("%s: %.0f %s in a sample, %.0f in all blocks", kernel, some, what, all);
}

/* The blocks of long rows are watched in any case, so that a quarter of the blocks counts what all do. */
TEST(test_samples_with_long_rows)
{
    static const char *const names[] = {"csr-stream",   "csr-vector", "csr-scalar", "csr-cusp",
                                        "csr64-vector", "csc-vector", "bsell",      "brcsd1"};
    struct csr A[] = {generated("rmat", 16, 16), generated("circuit", 100000, 4), with_dense_rows(50000)};
    for (int m = 0; m < COUNT(A); m++)
        for (int i = 0; i < COUNT(names); i++) {
            const struct kernel *k = kernel_find(names[i]);
            struct subject s = {0};
            struct err e = {0};
            if (!format_pack(&A[m], k->format, NULL, P_F64, false, &s.S, &e)) {
                assert_true(err_is_refusal(&e)); /* too many diagonals */
                continue;
            }
            assert_true(mat_put(&s.M, &s.S, emu, &e));
            struct sampled all = totals_of(k, &s.M, 0), some = totals_of(k, &s.M, -4);
            assert_true(counted.scope.launch[0].seen < counted.scope.launch[0].blocks / 2);
            assert_near(k->name, "requests", some.requests, all.requests);
            assert_near(k->name, "sectors", some.sectors, all.sectors);
            assert_near(k->name, "lanes", some.lanes, all.lanes);
            assert_near(k->name, "steps", some.steps, all.steps);
            assert_true(counts_error(&counted) < 0.1);
            subject_free(&s);
        }
    for (int m = 0; m < COUNT(A); m++) csr_free(&A[m]);
}

/* A sector that an earlier launch requested was not fetched before in this launch: coo-atomic clears y, then adds to
   the two sectors of y, where each element gets one entry. */
TEST(test_sectors_are_new_in_each_launch)
{
    struct csr A = generated("band", 8, 0);
    struct subject s;
    assert_true(subject_new(&s, A, "coo", P_F64));
    count_or_fail(kernel_find("coo-atomic"), &s.M, 0, NULL, &counted);
    struct tally t = counts_of(&counted, ACCESS_ATOMIC, -1, -1);
    assert_int_equal(t.sectors, 2);
    assert_int_equal(t.refetched, 0);
    subject_free(&s);
}

/* A step of cg on vectors q, r, p and x of n elements. */
struct cg_step {
    int64_t n;
    double *s;
    void *v[4];
};

static bool queue_cg_step(const struct watched *of, struct err *e)
{
    const struct cg_step *c = of->user;
    struct pass_call step = {
        .d = of->dev, .type = T_F64, .n = c->n, .s = c->s, VECTORS(c->v[0], NULL, c->v[1], c->v[2], c->v[3])};
    return pass_run(&passes_cg, "step", &step, e);
}

/* On vectors that do not fit in the L2 cache, the pass goes backwards. A warp must still store 32 neighbours that fill
   two lines, whether or not the number of elements is a multiple of 32. */
TEST(test_backward_steps_store_whole_lines)
{
    for (int64_t n = 1500003; n <= 1500032; n += 29) {
        struct err e = {0};
        struct cg_step c = {.n = n};
        double s[VEC_WORK] = {[S_PQ] = 1, [S_RR] = 1, [S_LIMIT2] = INFINITY, [S_BEST] = INFINITY};
        s[S_WINDOW] = INFINITY;
        assert_non_null(c.s = emu->ops->alloc(emu, sizeof s, "scalars", &e));
        assert_true(emu->ops->put(emu, c.s, s, sizeof s, &e));
        for (int k = 0; k < 4; k++) {
            assert_non_null(c.v[k] = emu->ops->alloc(emu, n * (int64_t)sizeof(double), "a vector", &e));
            vec_ops_of(emu, T_F64)->zero(emu, n, c.v[k]);
        }
        struct watched of = {.name = "a step", .dev = emu, .rows = n, .queue = queue_cg_step, .user = &c};
        assert_true(count_launches(&of, 0, NULL, NULL, &counted, &e));
        struct tally t = {0};
        for (int a = 0; a < counted.scope.narrays; a++) {
            struct tally more = counts_of(&counted, ACCESS_STORE, a, -1);
            if (counted.scope.array[a].n != n) continue; /* scalars */
            t.requests += more.requests, t.lanes += more.lanes, t.sectors += more.sectors;
        }
        assert_int_equal(t.lanes, 3 * n);
        assert_int_equal(t.requests, 3 * ((n + LANES - 1) / LANES));
        assert_true(t.sectors <= 8 * t.requests);
        for (int k = 0; k < 4; k++) emu->ops->free(emu, c.v[k]);
        emu->ops->free(emu, c.s);
    }
}

/* Without entries outside of the diagonals, hdc needs one launch and no pointers. */
TEST(test_hdc_without_remainder)
{
    struct csr A = generated("poisson2d", 20, 20);
    const struct kernel *k = kernel_find("hdc");
    struct subject s;
    struct err e = {0};
    struct scope launches;
    assert_true(subject_new(&s, A, "hdc", P_F64));
    assert_true(launches_of_kernel(k, &s.M, NULL, &launches, &e));
    assert_int_equal(launches.nlaunches, 1);
    assert_int_equal(kernel_bytes(k, &s.S, 0), 5 * 4 + 5 * 400 * 8 + 2 * 400 * 8); /* offsets, data, x and y */
    subject_free(&s);
}

/* Padding that a kernel does not read need not move. */
TEST(test_skipped_padding_need_not_move)
{
    struct csr A = generated("circuit", 1000, 2);
    struct subject s;
    assert_true(subject_new(&s, A, "sell", P_F64));
    assert_int_equal(kernel_bytes(kernel_find("sell"), &s.S, 0),
                     stored_bytes(&s.S) - 12 * (stored_slots(&s.S) - s.S.nnz) + 2 * 1000 * 8);
    subject_free(&s);
}

/* ---- errors ---- */

/* A trace leaves its launch early. Counters that blocks share, of rows that many blocks add to, are then as before. */
TEST(test_launches_after_traces)
{
    struct csr A = {0};
    struct subject s;
    struct err e = {0};
    struct verdict v;
    struct trace t;
    assert_true(generator_find("random")->make((int64_t[PARAMS_MAX]){4, 20000, 40000}, 1, NULL, &A, &e));
    assert_true(subject_new(&s, A, "csr", P_F64));
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (!kernel_runs_on(k, emu) || !k->together || k->format != s.S.format) continue;
        struct watched of = watched_kernel(k, &s.M);
        for (int64_t block = 0; block < 3; block++) {
            if (!trace_warp(&of, -1, block, 0, NULL, &t, &e) && e.code != E_USAGE) fail_msg("%s: %s", k->name, e.text);
            trace_free(&t);
            e = (struct err){0};
            assert_true(bench_check(k, &s.A, &s.M, 1, 0, 1, NULL, &v, &e));
            if (!v.ok)
                fail_msg("%s is wrong in row %lld after a trace of block %lld", k->name, (long long)v.row,
                         (long long)block);
        }
    }
    subject_free(&s);
}

static const struct mat *failing;

static bool count_again(const void *user, struct err *e)
{
    emu_close();
    return count_kernel(user, failing, 0, NULL, NULL, &counted, e);
}

TEST(test_no_memory)
{
    struct subject s;
    assert_true(subject_new(&s, thesis4(), "csr", P_F64));
    failing = &s.M;
    assert_true(fail_each(count_again, kernel_find("csr-scalar")) >= 8);
    subject_free(&s);
}

TEST(test_findings)
{
    struct subject s;
    struct err e = {0};
    assert_true(subject_new(&s, thesis4(), "csr", P_F64));
    assert_false(count_kernel(&emu_test_outside, &s.M, 0, NULL, NULL, &counted, &e));
    assert_int_equal(e.code, E_DEVICE);
    assert_non_null(strstr(e.text, "thread 3: index 4 of x is outside the array"));
    count_or_fail(kernel_find("csr-scalar"), &s.M, 0, NULL, &counted);
    assert_int_equal(loads_of("val").lanes, 9);
    subject_free(&s);
}

/* The microscope finds rows and columns by the roles of arrays, not by their names. */
TEST(test_roles)
{
    static const struct {
        const char *name;
        enum role role;
        int64_t row, col; /* of element 2 */
    } want[] = {{"xs", ROLE_X, -1, 2}, {"x", ROLE_WORK, -1, -1}, {"ys", ROLE_Y, 2, -1}};
    struct subject s;
    assert_true(subject_new(&s, thesis4(), "csr", P_F64));
    count_or_fail(&emu_test_renamed, &s.M, 0, NULL, &counted);
    assert_int_equal(counted.scope.narrays, COUNT(want));
    for (int a = 0; a < COUNT(want); a++) {
        struct place p = scope_element(&counted.scope, a, 2);
        assert_string_equal(counted.scope.array[a].name, want[a].name);
        assert_int_equal(counted.scope.array[a].role, want[a].role);
        assert_int_equal(p.row, want[a].row);
        assert_int_equal(p.col, want[a].col);
    }
    subject_free(&s);
}

static bool stop_at_third(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return ++*(int *)w->user < 3;
}

TEST(test_cancelled)
{
    struct subject s;
    struct err e = {0};
    int ticks = 0, threads = omp_get_max_threads();
    struct watch w = {stop_at_third, &ticks};
    struct csr A = shape_csr(&(struct shape){.rows = 60000, .cols = 800, .entries = 200000, .long_row = -1}, 4);
    assert_true(subject_new(&s, A, "csr", P_F64));
    for (int n = 1; n <= 4; n += 3, ticks = 0) {
        omp_set_num_threads(n);
        err_clear(&e);
        assert_false(count_kernel(kernel_find("csr-scalar"), &s.M, 0, NULL, &w, &counted, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_int_equal(ticks, 3);
        count_or_fail(kernel_find("csr-scalar"), &s.M, 5, NULL, &counted);
    }
    omp_set_num_threads(threads);
    subject_free(&s);
}

static bool note_progress(struct watch *w, const char *what, int64_t done, int64_t total)
{
    *(bool *)w->user |= done > 0 && done < total;
    return true;
}

/* The first block of this kernel processes all rows: the progress must not stay at 0 until the end. */
TEST(test_progress_of_shared_work)
{
    struct subject s;
    bool between = false;
    struct watch w = {note_progress, &between};
    struct err e = {0};
    struct csr A = shape_csr(&(struct shape){.rows = 60000, .cols = 800, .entries = 200000, .long_row = -1}, 4);
    assert_true(subject_new(&s, A, "csr", P_F64));
    assert_true(count_kernel(kernel_find("csr-light-vector"), &s.M, 0, NULL, &w, &counted, &e));
    assert_true(between);
    subject_free(&s);
}

/* ---- the command ---- */

TEST(test_command)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "load samples/thesis4.mtx"));
    assert_true(talk_line(&t, "count csr-scalar"));
    assert_non_null(strstr(t.out, "\"warps\":4,\"steps\":12,\"active_mean\":3.25,"));
    assert_non_null(strstr(t.out, "\"load_requests\":11,\"load_sectors\":15,"));
    assert_non_null(strstr(t.out, "\"store_requests\":1,\"store_sectors\":1,\"atomic_requests\":0,"));
    assert_non_null(strstr(t.out, "{\"name\":\"val\",\"elements\":9,\"element_bytes\":8,\"requests\":3,"));
    assert_non_null(strstr(t.out, "\"lines\":null"));
    talk_says(&t, "count csr-scalar lines", "\"source\":\"int end = ptr[row + 1];\"");
    talk_says(&t, "count csr-scalar f32", "\"load_sectors\":13,");
    talk_close(&t);
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "count", "no matrix is loaded");
    talk_says(&t, "gen poisson2d 100", "poisson2d");
    talk_says(&t, "count csr-scalar sample 5", "Blocks were sampled");
    talk_says(&t, "count coo-atomic all", "are serialised; each atomic requests its sectors");
    talk_says(&t, "count coo-atomic all", "  load       1,550   32.0   12,400   8.00"); /* thousands of equal blocks */
    talk_says(&t, "count csr-light-warp sample 5", ", all"); /* a few of its blocks do all the work */
    talk_says(&t, "count", "dense: dense of 10000 x 10000 needs");
    talk_says(&t, "count csr-vector lines", "sum += __shfl_down_sync(FULL_MASK, sum, d);");
    talk_refuses(&t, "count csr-serial", "csr-serial does not run on the emulator");
    talk_refuses(&t, "count csr-scalar sample 0", "`sample 0` is too few blocks");
    talk_refuses(&t, "count csr-scalar sample 9 all", "either `sample` or `all`");
    talk_refuses(&t, "count csr-scalar of nothing", "`nothing` after `of` is not a matrix");
    talk_close(&t);
}

/* ---- bank conflicts ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* The wavefronts of csr-stream for 512 rows of `length` entries, a power of two: each thread stores every 256th product
   and then reads the products of its row, which lie `stride` slots after those of the previous row. As many lanes as
   there are slots in 128 bytes read at the same time; gcd(stride, lanes) of them use the same bank. */
static int64_t stream_wavefronts(int64_t length, enum precision real, int64_t stride)
{
    int64_t warps = 512 / 32, lanes = 128 / (int64_t)type_size(precisions[real].vector), groups = 32 / lanes;
    return warps * length * groups * (1 + gcd(stride, lanes));
}

/* The shared-memory wavefronts of a kernel; *least: without bank conflicts */
static int64_t wavefronts_of(const char *kernel, const struct mat *M, int64_t *least)
{
    count_or_fail(kernel_find(kernel), M, 0, NULL, &counted);
    int64_t sum = *least = 0;
    for (int i = 0; i < counted.scope.nsites; i++) {
        sum += counted.by_site[i].wavefronts;
        *least += counted.by_site[i].wavefronts_least;
    }
    return sum;
}

static void check_padding(int64_t length, enum precision real)
{
    struct csr A = {0};
    struct subject s;
    int64_t param[PARAMS_MAX] = {512, length}, round = 128 / (int64_t)type_size(precisions[real].vector), least;
    assert_true(generator_find("random")->make(param, 1, NULL, &A, NULL));
    assert_true(subject_new(&s, A, "csr", real));
    assert_int_equal(wavefronts_of("csr-stream", &s.M, &least), stream_wavefronts(length, real, length));
    assert_int_equal(least, stream_wavefronts(length, real, 1));
    assert_int_equal(wavefronts_of("csr-stream-padded", &s.M, &least),
                     stream_wavefronts(length, real, length < round ? 1 : length + length / round));
    assert_int_equal(least, stream_wavefronts(length, real, 1));
    subject_free(&s);
}

/* Padding removes the conflicts of rows of up to 128 bytes. Longer rows keep the conflicts of their padded stride. */
TEST(test_padding_removes_bank_conflicts)
{
    for (int64_t length = 2; length <= 64; length *= 2) check_padding(length, P_F32), check_padding(length, P_F64);
}

/* Whichever allocation fails, one line reports the failure, and the next count works. */
TEST(test_command_without_memory)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "load samples/thesis4.mtx"));
    for (int n = 1, failed = 0;; n++) {
        talk_forget(&t);
        mem_fail_at(n);
        bool ok = talk_line(&t, "count csr-stream lines");
        mem_fail_at(0);
        talk_refresh(&t);
        if (ok) {
            assert_true(failed > 20);
            break;
        }
        failed++;
        assert_non_null(strstr(t.out, "memory"));
    }
    talk_says(&t, "count csr-stream", "\"load_requests\":");
    talk_close(&t);
}

static int open_emu(void **state)
{
    emu = open_or_fail("emu");
    return 0;
}

SUITE(.setup = open_emu);
