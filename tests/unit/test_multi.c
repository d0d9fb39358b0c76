/* Devices with several members, on the emulator: products, solves, and faults. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "gpu/halo.h"
#include "gpu/multi/phases.h"
#include "kits/dev_fake.h"
#include "kits/multi_kit.h"
#include "kits/nccl_fake.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "machine/vector_pitch.h"
#include "matrix/csr.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS = 1500, BUDGET = 1 << 26 };

/* ---- names ---- */

TEST(test_names)
{
    static const struct {
        const char *name, *why;
    } wrong[] = {
        {"emu*0", "is no device"},     {"emu*", "is no device"},        {"emu*x", "is no device"},
        {"emu*17", "at most 16"},      {"+emu", "a device is missing"}, {"emu++emu", "a device is missing"},
        {"cpu+cpu", "is named twice"}, {"0+1", "give its kind first"},  {"emu+nothing", "no device is called"},
    };
    struct err e = {0};
    for (int i = 0; i < COUNT(wrong); i++) {
        struct err why = {0};
        assert_null(device_open(wrong[i].name, &why));
        if (!strstr(why.text, wrong[i].why)) fail_msg("%s: %s", wrong[i].name, why.text);
    }
    struct device *d = device_open("emu*3", &e);
    assert_true(d && d->members == 3 && d->kind == DEV_EMU && device_open("emu*3", &e) == d);
    assert_true(device_open("emu*1", &e) == device_open("emu", &e));
    assert_true(device_open("cpu+emu*2", &e)->members == 3);
    assert_true(device_is_name("emu*2") && device_is_name("cpu+emu") && device_is_name("cuda:0+1"));
    assert_false(device_is_name("thesis4"));
}

/* ---- the memory of vectors ---- */

TEST(test_vectors)
{
    enum { N = 50, VECTORS = 3, PITCH = 64 }; /* 50 numbers of 8 bytes: 400 bytes, in lines of 128 bytes 512 */
    const struct shape square = {.name = "square", .rows = N, .cols = N, .entries = 200, .long_row = -1};
    struct err e = {0};
    struct csr A = shape_csr(&square, 1);
    struct stored S;
    struct mat M;
    double in[PITCH * VECTORS], out[PITCH * VECTORS] = {0};
    assert_true(format_pack(&A, format_find("csr"), NULL, P_F64, false, &S, &e));
    assert_true(mat_put(&M, &S, device_open("emu*4", &e), &e));
    double *p = mat_row_vectors(&M, VECTORS, 8, "vectors", &e);
    int64_t all = vectors_bytes(VECTORS, N * 8);
    assert_int_equal(vector_pitch(N * 8), PITCH * 8);
    assert_int_equal(all, (2 * PITCH + N) * 8);
    assert_int_equal(vectors_in(all, N * 8), VECTORS);
    assert_int_equal(vectors_bytes(1, N * 8), N * 8);
    assert_int_equal(vectors_bytes(0, N * 8), 0);
    for (int i = 0; i < VECTORS * PITCH; i++) in[i] = i + 0.5;
    assert_true(p && M.dev->ops->put(M.dev, p, in, all, &e));
    assert_true(M.dev->ops->get(M.dev, out, p, all, &e));
    for (int v = 0; v < VECTORS; v++) assert_memory_equal(in + v * PITCH, out + v * PITCH, N * 8);
    /* from the middle of vector 1 to the middle of vector 2: several members, and the end of a vector */
    assert_true(M.dev->ops->get(M.dev, out, p + PITCH + 7, 90 * 8, &e));
    assert_memory_equal(in + PITCH + 7, out, (N - 7) * 8);
    assert_memory_equal(in + 2 * PITCH, out + PITCH - 7, (90 - PITCH + 7) * 8);
    M.dev->ops->free(M.dev, p);
    struct split_member m[SPLIT_MAX];
    int64_t rows = 0, nnz = 0, halo = 0, sends = 0;
    assert_int_equal(mat_split(&M, m), 4);
    for (int k = 0; k < 4; k++)
        rows += m[k].rows, nnz += m[k].nnz + m[k].outside, halo += m[k].halo, sends += m[k].sends;
    assert_true(rows == N && nnz == A.nnz && halo == sends && mat_halo_bytes(&M) == 8 * halo);
    mat_free(&M);
    stored_free(&S);
    csr_free(&A);
}

/* Memory that a member lacks is named with the number of its part. */
TEST(test_parts_are_numbered_from_1)
{
    struct device *d = device_open("emu*2", NULL);
    struct err e = {0};
    assert_non_null(d);
    assert_null(d->ops->alloc(d, INT64_MAX / 2, "a table", &e));
    if (!strstr(e.text, "part 1 of 2 of a table")) fail_msg("%s", e.text);
}

/* ---- flags and halos ---- */

static struct csr chain;
static struct stored chain_stored;

static struct mat chain_on(const char *device)
{
    const struct shape square = {.name = "square", .rows = 40, .cols = 40, .entries = 300, .long_row = -1};
    struct err e = {0};
    struct mat M;
    chain = shape_csr(&square, 1);
    assert_true(format_pack(&chain, format_find("csr"), NULL, P_F64, false, &chain_stored, &e));
    assert_true(mat_put(&M, &chain_stored, device_open(device, &e), &e));
    return M;
}

/* A member that waits for a flag that was not set, and a halo that was not written, are found. */
TEST(test_missing)
{
    struct mat M = chain_on("emu*2");
    struct device *d = M.dev;
    struct err e = {0};
    struct product_of w;
    struct launch L = {.A = &M, .alpha = 1};
    L.x = mat_col_vectors(&M, 1, 8, "x", &e);
    L.y = mat_row_vectors(&M, 1, 8, "y", &e);
    const struct kernel *k = kernel_find("csr-scalar");
    double *x = mem_zero(chain.cols, sizeof *x, "x", &e); /* what memory contains may look like an unwritten item */
    assert_true(x && d->ops->put(d, (void *)L.x, x, chain.cols * (int64_t)sizeof *x, &e));
    mem_free(x);
    if (!kernel_launch(k, &L, &e) || !d->ops->sync(d, &e)) fail_msg("%s", e.text);
    assert_true(product_begin(&w, k, &L, &e) && product_phase(&w, SPLIT_PUSH, 0, &e));
    assert_true(product_phase(&w, SPLIT_WAIT, 0, &e));
    assert_false(d->ops->sync(d, &e));
    assert_non_null(strstr(e.text, "emu*2: part 1 of 2, on emu[0]: the items of x from part 2 did not arrive"));
    err_clear(&e);
    assert_true(product_begin(&w, k, &L, &e) && product_phase(&w, SPLIT_PUSH, 0, &e));
    w.p->piece[0].flag[1] = *w.p->piece[0].count; /* the flag comes, but the items do not */
    assert_true(product_phase(&w, SPLIT_WAIT, 0, &e));
    assert_false(d->ops->sync(d, &e));
    assert_non_null(strstr(e.text, "was read before it was written"));
    err_clear(&e);
    assert_true(kernel_launch(k, &L, &e) && d->ops->sync(d, &e));
    d->ops->free(d, (void *)L.x);
    d->ops->free(d, L.y);
    mat_free(&M);
    stored_free(&chain_stored);
    csr_free(&chain);
}

/* ---- faults ---- */

static struct fake fake;

static bool bench_on_fake(struct err *e)
{
    struct mat M;
    struct verdict v;
    struct device *d = device_open("emu+broken", e);
    bool put = d && mat_put(&M, &chain_stored, d, e);
    bool ok = put && bench_check(kernel_find("csr-scalar"), &chain, &M, 1, 0, 1, NULL, &v, e);
    if (put) mat_free(&M);
    return ok;
}

/* Each allocation and copy on one member fails in turn: one clear line, and all its memory is given back. */
TEST(test_failing_member)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    struct mat M = chain_on("emu*2");
    mat_free(&M);
    struct err e = {0};
    if (!bench_on_fake(&e)) fail_msg("%s", e.text);
    int64_t used = fake.used;
    int failures = 0;
    for (int c = 0; c < COUNT(calls); c++)
        for (int n = 1; n < 200; n++) {
            struct err why = {0};
            fake.fail_in[calls[c]] = n;
            bool ok = bench_on_fake(&why);
            fake.fail_in[calls[c]] = 0;
            if (ok) break;
            failures++;
            assert_true(why.code == E_DEVICE && strstr(why.text, "broken"));
            assert_int_equal(fake.used, used);
            device_open("emu+broken", NULL)->ops->sync(device_open("emu+broken", NULL), NULL);
        }
    assert_true(failures > 20);
    fake.budget = fake.used + 300;
    assert_false(bench_on_fake(&e));
    assert_true(e.code == E_MEMORY && strstr(e.text, "emu+broken: part 2 of 2 needs") && strstr(e.text, "on broken"));
    assert_int_equal(fake.used, used);
    fake.budget = BUDGET;
    stored_free(&chain_stored);
    csr_free(&chain);
}

/* Run a line; `said` receives the messages. */
static bool says(struct session *s, FILE *messages, const char *line, char *said, size_t size)
{
    rewind(messages);
    if (ftruncate(fileno(messages), 0)) return false;
    bool ok = run_line(s, line);
    fflush(messages);
    rewind(messages);
    said[fread(said, 1, size - 1, messages)] = 0;
    return ok;
}

TEST(test_lost_member)
{
    struct session s;
    char said[4000];
    FILE *messages = tmpfile(), *data = fopen("/dev/null", "w");
    assert_true(messages && data && session_new(&s, data, messages, OUT_TEXT, NULL));
    assert_true(run_line(&s, "gen poisson2d 12; spmv on emu+broken; solve cg on emu+broken"));
    fake.sticky = true;
    fake.fail_in[FAKE_SYNC] = 3;
    assert_false(says(&s, messages, "solve cg on emu+broken", said, sizeof said));
    assert_non_null(strstr(said, "broken"));
    assert_true(run_line(&s, "spmv on emu; solve cg on emu*2"));
    assert_true(fake.resets > 0 && !fake.dev.lost);
    assert_true(says(&s, messages, "solve cg on emu+broken", said, sizeof said));
    /* a member that other commands lost, and that was reset, has lost the parts of matrices on it, too */
    fake.fail_in[FAKE_TIME] = 1;
    assert_false(run_line(&s, "spmv on broken"));
    if (!says(&s, messages, "spmv on broken; spmv on emu+broken; solve gmres on emu+broken", said, sizeof said))
        fail_msg("%s", said);
    assert_false(says(&s, messages, "lu on emu*2", said, sizeof said));
    assert_non_null(strstr(said, "`lu` runs on one device, but emu*2 has 2 members; choose one, as by `device emu`"));
    assert_false(says(&s, messages, "solve cg precond ilu0 on emu*2", said, sizeof said));
    assert_non_null(strstr(said, "`precond jacobi` or `precond columns` does"));
    assert_false(says(&s, messages, "solve gs on emu*2", said, sizeof said));
    assert_false(says(&s, messages, "solve cg sums host on emu*2", said, sizeof said));
    assert_true(run_line(&s, "timeline on emu*3"));
    assert_true(s.timeline && s.timeline->members == 3 && !s.timeline->timed);
    for (int k = 0; k < 3; k++) assert_true(s.timeline->cell[k][SPLIT_LOCAL].sectors > 0);
    session_free(&s);
    fclose(messages);
    fclose(data);
}

/* Each of two members squares and adds its 1800 elements, which it reads from both vectors of the inner product, 4 to a
   sector; besides these, only partial sums and mail are read and stored. */
TEST(test_timeline_counts_the_sums)
{
    struct session s;
    FILE *data = tmpfile(), *messages = tmpfile();
    assert_true(data && messages && session_new(&s, data, messages, OUT_TEXT, NULL));
    assert_true(run_line(&s, "gen poisson2d 60; timeline on emu*2"));
    for (int k = 0; k < 2; k++) {
        double sectors = s.timeline->cell[k][SPLIT_SUMS].sectors;
        if (sectors < 2 * 1800 / 4 || sectors > 2 * 1800 / 4 + 300) fail_msg("%g sectors of sums", sectors);
    }
    session_free(&s);
    fclose(messages);
    fclose(data);
}

/* A way that the user asks for is taken even if a better one is possible; one that is not possible becomes the next
   one that is. The emulator reaches its members' memory, but has no copies between devices. */
TEST(test_ways_to_send_are_chosen)
{
    static const enum transport asked[] = {TRANSPORT_AUTO, TRANSPORT_PEER, TRANSPORT_COPY, TRANSPORT_HOST},
                                taken[] = {TRANSPORT_PEER, TRANSPORT_PEER, TRANSPORT_HOST, TRANSPORT_HOST};
    struct device *d = device_open("emu*2", NULL);
    assert_non_null(d);
    for (int i = 0; i < COUNT(asked); i++) {
        transport_choose(asked[i]);
        assert_int_equal(transport_of(d), taken[i]);
    }
    transport_choose(TRANSPORT_AUTO);
}

TEST(test_formats)
{
    static const char *const devices[] = {"emu*1", "emu*2", "emu*3", "emu*4", "emu*5", "cpu+emu"};
    for (int i = 0; i < COUNT(devices); i++) assert_true(check_multi_formats(devices[i], P_F64, SLOTS) > 100);
    assert_true(check_multi_formats("emu*3", P_F32, SLOTS) > 100);
    assert_true(check_multi_formats("emu*3", P_BF16_F32, SLOTS) > 20);
}

/* With the race check on, and in other orders of the lanes. */
TEST(test_races)
{
    emu_races(true);
    check_multi_formats("emu*3", P_F64, 200);
    check_multi_formats("emu*4", P_F64, 200);
    check_multi_solves("emu*4", "emu"); /* sums, halos, and the launches of each solver */
    emu_races(false);
    emu_order(77);
    check_multi_formats("emu*3", P_F64, 200);
    emu_order(0);
}

TEST(test_equal_rows)
{
    split_by("rows");
    check_multi_formats("emu*4", P_F64, SLOTS);
    split_by("bytes");
}

TEST(test_solves)
{
    check_multi_solves("emu*2", "emu");
    check_multi_solves("emu*5", "emu");
    transport_choose(TRANSPORT_HOST);
    check_multi_solves("emu*3", "emu");
    transport_choose(TRANSPORT_AUTO);
    check_multi_solves("cpu+emu", "cpu");
}

/* Two threads that add to the same element: the race check looks at the launches of gpu/multi, too. */
TEST(test_planted_race)
{
    const int row[] = {1, 1}, ptr[] = {0, 1, 2}, col[] = {0, 1};
    const double val[] = {2, 3}, halo[] = {5, 7};
    double y[4] = {0};
    struct device *d = device_open("emu", NULL);
    struct halo_add h = {.rows = 2, .nnz = 2, .items = 2, .y_rows = 4, .alpha = 1};
    struct err e = {0};
    h.row = row, h.ptr = ptr, h.col = col, h.val = val, h.halo = halo, h.y = y;
    emu_races(true);
    halo_ops_of(d, T_F64)->add(d, &h);
    assert_false(d->ops->sync(d, &e));
    emu_races(false);
    if (!strstr(e.text, "race") && !strstr(e.text, "halo_add")) fail_msg("%s", e.text);
    err_clear(&e);
    h.row = (const int[]){1, 2};
    halo_ops_of(d, T_F64)->add(d, &h);
    assert_true(d->ops->sync(d, &e) && y[2] == 21);
}

/* Is the output one line? */
static bool one_line(const char *said)
{
    const char *end = strchr(said, '\n');
    return end && !end[1];
}

/* Every call of a solve on one member fails in turn, once as an error, once as the loss of the GPU: the message names
   the member, the session goes on with its matrix, and all memory is given back. */
TEST(test_failing_solve)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    struct session s;
    char said[4000];
    int failures = 0;
    FILE *messages = tmpfile(), *data = fopen("/dev/null", "w");
    assert_true(messages && data && session_new(&s, data, messages, OUT_TEXT, NULL));
    if (!says(&s, messages, "gen poisson2d 7; solve cg on emu+broken; drop poisson2d", said, sizeof said))
        fail_msg("%s", said);
    int64_t used = fake.used;
    for (int lost = 0; lost < 2; lost++)
        for (int c = 0; c < COUNT(calls); c++)
            for (int n = 1; n < 400; n += n < 40 ? 1 : 37) {
                assert_true(run_line(&s, "gen poisson2d 7"));
                fake.sticky = lost;
                fake.fail_in[calls[c]] = n;
                bool ok = says(&s, messages, "solve cg tol 1e-10 on emu+broken", said, sizeof said);
                fake.sticky = false;
                bool came = fake.fail_in[calls[c]] == 0;
                fake.fail_in[calls[c]] = 0;
                if (came && (ok || !strstr(said, "broken") || (!lost && !one_line(said))))
                    fail_msg("call %d, number %d: %s", calls[c], n, said);
                failures += came;
                if (!says(&s, messages, "solve cg on emu+broken; spmv on emu*2; drop poisson2d", said, sizeof said))
                    fail_msg("call %d, number %d, afterwards: %s", calls[c], n, said);
                assert_true(!s.matrices && fake.used <= used);
                if (!came) break;
            }
    assert_true(failures > 60);
    session_free(&s);
    fclose(messages);
    fclose(data);
}

static bool no_access(struct device *d, struct device *other)
{
    return false;
}

/* A member whose memory others cannot reach: the device sends through the host, with the same bits. */
TEST(test_no_peer_access)
{
    static struct fake apart;
    static struct device_ops ops;
    struct err e = {0};
    struct mat M;
    struct verdict v;
    double y[2][40];
    assert_true(fake_open(&apart, "apart", "emu", BUDGET, &e));
    ops = *apart.dev.ops;
    ops.reach = no_access;
    apart.dev.ops = &ops;
    static const char *const devices[] = {"emu*2", "emu+apart"};
    for (int i = 0; i < COUNT(devices); i++) {
        M = chain_on(devices[i]);
        assert_int_equal(transport_of(M.dev), i ? TRANSPORT_HOST : TRANSPORT_PEER);
        if (!bench_check(kernel_find("csr-scalar"), &chain, &M, 1.5, -0.5, 1, y[i], &v, &e) || !v.ok)
            fail_msg("%s: %s", devices[i], e.text);
        mat_free(&M);
        stored_free(&chain_stored);
        csr_free(&chain);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
}

/* The same products and solves by NCCL. */
TEST(test_nccl)
{
    nccl_fake(true);
    transport_choose(TRANSPORT_NCCL);
    assert_int_equal(transport_of(device_open("emu*4", NULL)), TRANSPORT_NCCL);
    check_multi_formats("emu*4", P_F64, SLOTS); /* each product also by the other ways, with the same bits */
    transport_choose(TRANSPORT_NCCL);
    check_multi_solves("emu*3", "emu");
    assert_true(nccl_fake_groups() > 1000);
    assert_true(nccl_fake_open() > 0);
    devices_close();
    assert_int_equal(nccl_fake_open(), 0);
    transport_choose(TRANSPORT_AUTO);
    nccl_fake(false);
    assert_true(fake_open(&fake, "broken", "emu", BUDGET, NULL));
}

/* Each call of NCCL fails: one message, and the session goes on. */
TEST(test_failing_nccl)
{
    static const char *const calls[] = {"ncclCommInitAll", "ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd"};
    struct session s;
    char said[4000];
    FILE *messages = tmpfile(), *data = fopen("/dev/null", "w");
    assert_true(messages && data);
    nccl_fake(true);
    for (int i = 0; i < COUNT(calls); i++) {
        assert_true(session_new(&s, data, messages, OUT_TEXT, NULL));
        assert_true(run_line(&s, "gen poisson2d 7; set exchange nccl"));
        nccl_fake_fail(calls[i]);
        if (says(&s, messages, "spmv on emu*2", said, sizeof said)) fail_msg("%s: no failure", calls[i]);
        if (!strstr(said, calls[i]) || !strstr(said, "a failure that the test wants") || !one_line(said))
            fail_msg("%s: %s", calls[i], said);
        nccl_fake_fail(NULL);
        if (!says(&s, messages, "spmv on emu*2", said, sizeof said)) fail_msg("after %s: %s", calls[i], said);
        assert_true(run_line(&s, "set exchange auto"));
        session_free(&s);
        devices_close(); /* the next device connects again */
    }
    nccl_fake(false);
    fclose(messages);
    fclose(data);
    assert_true(fake_open(&fake, "broken", "emu", BUDGET, NULL));
}

static int open_fake(void **state)
{
    return fake_open(&fake, "broken", "emu", BUDGET, NULL) ? 0 : -1;
}

static int close_all(void **state)
{
    devices_close();
    return 0;
}

SUITE(.setup = open_fake, .teardown = close_all);
