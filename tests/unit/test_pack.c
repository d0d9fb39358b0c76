/* Conversions on the emulator: every packer with every shape, every precision, several parameters and several thread
   orders, compared bit for bit with the host's arrays. Other tests check refusals, failing allocations and failing
   calls. */
#include "base/loop.h"
#include "base/watch.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "kits/dev_fake.h"
#include "kits/pack_kit.h"
#include "kits/shapes.h"
#include "kits/sym_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/packer.h"
#include "session/matrix.h"
#include "session/product.h"

#include <math.h>

TEST(test_shapes)
{
    pack_check_shapes("emu");
}

TEST(test_tiles)
{
    pack_check_tiles("emu");
}

/* The result does not depend on the order of the threads between two barriers. In every precision, a packer's threads
   move the values to the same places. */
TEST(test_order)
{
    for (uint64_t seed = 1; seed < 3; seed++) {
        emu_order(seed);
        pack_check_tiles_in("emu", P_F64);
    }
    emu_order(0);
}

TEST(test_refused)
{
    pack_check_refused("emu");
}

/* Excessive padding is refused before anything is allocated, and accepted with `force`. */
TEST(test_explosion)
{
    static const struct shape arrow = {
        .rows = 40000, .cols = 40000, .entries = 40000, .long_row = 7, .name = "a full row"};
    struct csr A = shape_csr(&arrow, 1);
    struct on_device c;
    struct packing *p;
    on_device_put(&c, &A, P_F32, device_open("emu", NULL));
    for (int i = 0; formats[i]; i++) {
        struct err host = {0}, here = {0};
        struct stored S;
        if (!packer_find(formats[i], c.M.dev)) continue;
        if (format_pack(&A, formats[i], NULL, P_F32, false, &S, &host)) {
            stored_free(&S);
            continue;
        }
        assert_false(packing_begin(&p, formats[i], &c.M, NULL, false, &here));
        if (strstr(host.text, "memory is free")) continue; /* this machine's memory */
        assert_int_equal(here.code, E_LIMIT);
        assert_string_equal(here.text, host.text);
    }
    on_device_free(&c);
    csr_free(&A);
}

static const struct format *failing;

static bool go(const void *user, struct err *e)
{
    struct packing *p;
    struct stored S = {0};
    struct mat M;
    if (!packing_begin(&p, failing, user, NULL, true, e)) return false;
    bool taken = packing_take(p, &S, &M, e);
    packing_free(p);
    if (!taken) return false;
    bool got = mat_get(&M, &S, e);
    mat_free(&M);
    stored_free(&S);
    return got;
}

TEST(test_allocations)
{
    struct csr A = sym_made("random", 60, 4);
    struct on_device c;
    on_device_put(&c, &A, P_F64, device_open("emu", NULL));
    for (int i = 0; formats[i]; i++) {
        failing = formats[i];
        if (packer_find(failing, c.M.dev)) assert_true(fail_each(go, &c.M) > 4);
    }
    on_device_free(&c);
    csr_free(&A);
}

static struct fake fake;

/* Each call to the device fails in turn: the failure is reported, and all memory on the device is released. */
TEST(test_failing_calls)
{
    struct csr A = sym_made("random", 60, 4);
    struct on_device c;
    assert_true(fake_open(&fake, "fake", "emu", 1 << 28, NULL));
    on_device_put(&c, &A, P_F32, &fake.dev);
    int before = fake.nblocks;
    for (int i = 0; formats[i]; i++)
        for (int call = 0; call < FAKE_CALLS && packer_find(formats[i], &fake.dev); call++) {
            bool done = false;
            failing = formats[i];
            for (int n = 1; !done; n++) {
                struct err e = {0};
                fake.fail_in[call] = n;
                done = go(&c.M, &e);
                assert_true(done || e.text[0]);
                assert_int_equal(fake.nblocks, before);
                assert_true(n < 200);
            }
            fake.fail_in[call] = 0;
        }
    on_device_free(&c);
    csr_free(&A);
}

/* A conversion that does not fit on the device is refused, and the message states the size of the conversion. */
TEST(test_memory)
{
    struct csr A = sym_made("random", 3000, 12);
    struct on_device c;
    struct packing *p;
    struct err e = {0};
    fake.budget = 1 << 28;
    on_device_put(&c, &A, P_F64, &fake.dev);
    int before = fake.nblocks;
    fake.budget = fake.used + 300000;
    assert_false(packing_begin(&p, format_find("ell"), &c.M, NULL, false, &e));
    assert_int_equal(e.code, E_MEMORY);
    assert_non_null(strstr(e.text, "of memory is free"));
    assert_int_equal(fake.nblocks, before);
    on_device_free(&c);
    csr_free(&A);
}

/* ---- the session and the command ---- */

/* The form, packed by d, with all arrays on the host. */
static struct product *packed_on(struct session *s, struct form w, struct device *d, struct err *e)
{
    w.packer = d;
    return session_product(s, w, e);
}

/* The session keeps a matrix packed on emu and returns it for any device, whether the parameters are given or left to
   their defaults. A matrix packed on cpu is also returned for emu. */
TEST(test_session)
{
    struct talk t;
    struct err e = {0};
    const struct format *f = format_find("ell");
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as A"));
    struct matrix *m = t.s.current;
    struct device *emu = device_open("emu", NULL), *cpu = device_open("cpu", NULL);
    struct product *p = packed_on(&t.s, form_of(m, f, NULL, P_F64), emu, &e);
    assert_non_null(p);
    assert_ptr_equal(p->packed_on, emu);
    assert_int_equal(p->nmats, 1);
    assert_ptr_equal(session_mat(&t.s, p, emu, &e), &p->mat[0]);
    const int64_t width[PARAMS_MAX] = {5};
    assert_ptr_equal(session_product(&t.s, form_of(m, f, NULL, P_F64), &e), p);
    assert_ptr_equal(session_product(&t.s, form_of(m, f, width, P_F64), &e), p);
    assert_ptr_equal(packed_on(&t.s, form_of(m, f, width, P_F64), emu, &e), p);
    struct product *q = packed_on(&t.s, form_of(m, f, NULL, P_F32), cpu, &e);
    assert_true(q && !q->packed_on && q != p);
    assert_ptr_equal(packed_on(&t.s, form_of(m, f, NULL, P_F32), emu, &e), q);
    talk_close(&t);
}

/* If the device has too little memory for the conversion, or even for csr, the host packs the matrix. */
TEST(test_host_instead)
{
    struct talk t;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 3000 12 as A"));
    fake.budget = fake.used + 12 * t.s.current->csr.nnz + 50000; /* enough memory for csr and little more */
    struct product *p = packed_on(&t.s, form_of(t.s.current, format_find("csc"), NULL, P_F64), &fake.dev, &e);
    assert_non_null(p);
    assert_null(p->packed_on);
    assert_int_equal(p->nmats, 0);
    assert_true(talk_line(&t, "drop A; gen random 3000 12 as A"));
    fake.budget = fake.used + 1000; /* not enough memory even for csr */
    p = packed_on(&t.s, form_of(t.s.current, format_find("csc"), NULL, P_F64), &fake.dev, &e);
    assert_true(p && !p->packed_on);
    talk_close(&t);
    fake.budget = 1 << 28;
}

TEST(test_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 60 4 as A"));
    talk_says(&t, "convert ell on emu", "packed on emu\nThe emulator models accesses");
    talk_says(&t, "spmv using ell on emu", "packed on");
    talk_says(&t, "convert ell on cpu", "the host packs it in");
    assert_non_null(strstr(t.out, "one SpMV on the device"));
    assert_true(strstr(t.out, "the conversion pays for itself after") ||
                strstr(t.out, "the conversion never pays for itself"));
    talk_says(&t, "convert sell C 4 sigma 8 of A on emu f32", "(C 4, sigma 8), fp32");
    talk_says(&t, "convert csr on cpu", "the host packs it in");
    assert_null(strstr(t.out, "pays for itself"));
    talk_refuses(&t, "convert ell width 1 on emu", "less than the longest row");
    talk_refuses(&t, "convert ell on", "device");
    talk_close(&t);
}

/* Returns true for the first `left` ticks, then cancels the work. */
static bool few_ticks(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

/* Convert by the packer of c's device, or on the host if there is no packer. The caller frees *S. */
static bool convert(const struct format *f, const struct csr *A, const struct on_device *c, struct stored *S,
                    struct err *e)
{
    struct packing *p;
    struct mat M = {0};
    *S = (struct stored){0};
    if (!packer_find(f, c->M.dev)) return format_pack(A, f, NULL, P_F64, true, S, e);
    if (!packing_begin(&p, f, &c->M, NULL, true, e)) return false;
    bool ok = packing_take(p, S, &M, e) && mat_get(&M, S, e);
    if (M.dev) mat_free(&M);
    packing_free(p);
    return ok;
}

/* Ctrl-C ends every conversion at every point where the conversion checks for Ctrl-C. */
TEST(test_cancelled)
{
    static const char *const on[] = {"cpu", "emu"};
    static const struct shape shape = {.rows = 90, .cols = 80, .entries = 400, .name = "to be cancelled"};
    struct csr A = shape_csr(&shape, 1);
    struct on_device c;
    loop_check_all(true);
    for (int d = 0; d < COUNT(on); d++) {
        on_device_put(&c, &A, P_F64, device_open(on[d], NULL));
        for (int i = 0; formats[i]; i++) {
            bool ok = false;
            int ticks = 0;
            for (; !ok && ticks < 5000; ticks += 1 + ticks / 3) {
                struct err e = {0};
                struct stored S;
                int left = ticks;
                struct watch w = {few_ticks, &left};
                loop_enter(&w);
                ok = convert(formats[i], &A, &c, &S, &e);
                loop_enter(NULL);
                if (!ok && e.code != E_CANCELLED) fail_msg("%s on %s: %s", formats[i]->name, on[d], e.text);
                stored_free(&S);
            }
            if (!ok || ticks < 2) fail_msg("%s on %s: %d ticks", formats[i]->name, on[d], ticks);
        }
        on_device_free(&c);
    }
    loop_check_all(false);
    csr_free(&A);
}

TEST(test_json)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen random 60 4 as A"));
    talk_says(&t, "convert ell on cpu", "\"conversion_on\":\"host\"");
    static const char *const keys[] = {"packed_on",  "pack_us", "copy_us",          "csr_spmv_us",
                                       "spmv_us\":", "pays\":", "conversion_spmvs", "pays_after"};
    for (int i = 0; i < COUNT(keys); i++)
        if (!strstr(t.out, keys[i])) fail_msg("no %s in %s", keys[i], t.out);
    talk_says(&t, "convert dia on emu", "\"packed_on\":\"emu\",\"prep_us\":null");
    talk_close(&t);
}

TEST(test_worth)
{
    assert_true(conversion_spmvs(300, 20) == 15);
    assert_true(conversion_pays_after(300, 20, 10) == 30);
    assert_true(conversion_pays_after(301, 20, 10) == 31);
    assert_true(isinf(conversion_pays_after(300, 20, 20)));
    assert_true(isnan(conversion_pays_after(300, 20, NAN)));
}
