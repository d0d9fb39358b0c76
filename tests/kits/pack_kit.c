/* Compare conversions on a device with the host's conversions, in memory that is not zeroed. */
#include <stdio.h>

#include "base/err.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/packer.h"
#include "pack_kit.h"
#include "shapes.h"
#include "sym_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Parameters in addition to each format's defaults. */
static const struct {
    const char *format;
    int64_t param[PARAMS_MAX];
} variants[] = {
    {"ell", {40}},
    {"sell", {32, 1}},
    {"sell", {4, 16}},
    {"sell", {33, 100}},
    {"sell", {1, 7}},
    {"sell", {64, 8192}},
    {"packed", {1, 1}},
    {"packed", {4, 16}},
    {"packed", {8, 100}},
    {"packed", {16, 0}},
    {"packed", {32, 8192}},
    {"hyb", {1}},
    {"hyb", {3}},
    {"hyb", {200}},
    {"bsr", {1}},
    {"bsr", {2}},
    {"bsr", {3}},
    {"bsr", {32}},
    {"bsell", {1, 32, 1}},
    {"bsell", {2, 32, 8192}},
    {"bsell", {3, 5, 11}},
    {"bsell", {3, 32, 1024}},
    {"bsell", {4, 1, 7}},
    {"bsell", {4, 31, 40}},
    {"strips", {1}},
    {"strips", {3}},
    {"strips", {50}},
    {"strips", {7000}},
    {"vab", {64}},
    {"vab", {1024}},
    {"hdia", {1}},
    {"hdia", {2}},
    {"hdia", {33}},
    {"hdia", {500}},
    {"sc-csr", {0}},
    {"sc-csr", {1}},
    {"sc-csr", {20}},
    {"brcsd1", {1, 64}},
    {"brcsd1", {7, 64}},
    {"brcsd1", {7, 3}},
    {"brcsd1", {32, 128}},
    {"brcsd2", {1}},
    {"brcsd2", {2}},
    {"brcsd2", {100}},
    {"hdc", {1}},
    {"hdc", {20}},
    {"hdc", {100}},
    {"drm", {1}},
    {"drm", {2}},
    {"drm", {100}},
    {"dia-adaptive", {2, 1, 10, 190, 0}},
    {"dia-adaptive", {32, 64, 10, 190, 1}},
    {"dia-adaptive", {32, 64, 10, 190, 2}},
    {"dia-adaptive", {32, 64, 10, 190, 3}},
};

/* Larger shapes are checked with real values only, and with excessive padding in one precision only: the emulator is
   slow. */
enum { SMALL_ENTRIES = 1000 };

void on_device_put(struct on_device *c, const struct csr *A, enum precision real, struct device *d)
{
    struct err e = {0};
    if (!format_pack(A, format_find("csr"), NULL, real, true, &c->S, &e) || !mat_put(&c->M, &c->S, d, &e))
        fail_msg("csr on %s: %s", d->name, e.text);
}

void on_device_free(struct on_device *c)
{
    mat_free(&c->M);
    stored_free(&c->S);
}

/* Overwrite the result, so that elements that a second run does not write are noticed. */
static void soil(struct packing *p)
{
    for (int k = 0; k < p->S.narrays; k++) {
        int64_t bytes = p->S.a[k].n * (int64_t)type_size(p->S.a[k].type);
        void *dirt = malloc((size_t)bytes + 1);
        assert_non_null(dirt);
        memset(dirt, 0xa5, (size_t)bytes);
        assert_true(p->dev->ops->put(p->dev, p->out[k], dirt, bytes, NULL));
        free(dirt);
    }
}

static void compare(const char *what, const struct stored *S, const struct stored *want)
{
    assert_memory_equal(S->param, want->param, sizeof S->param);
    assert_int_equal(S->narrays, want->narrays);
    for (int k = 0; k < S->narrays; k++) {
        const struct array *a = &S->a[k], *b = &want->a[k];
        size_t size = type_size(b->type);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        if (a->n != b->n)
            fail_msg("%s: %lld slots in %s, %lld expected", what, (long long)a->n, b->name, (long long)b->n);
        for (int64_t i = 0; memcmp(a->data, b->data, (size_t)b->n * size) && i < b->n; i++)
            if (memcmp((char *)a->data + (size_t)i * size, (char *)b->data + (size_t)i * size, size))
                fail_msg("%s: %s[%lld] is %g, %g expected", what, b->name, (long long)i, array_real(a, i),
                         array_real(b, i));
    }
}

/* The device must refuse what the host refuses. If the host's message states the free memory, the message of the device
   may differ. */
static void check_refusal(const char *what, const struct err *host, const struct err *here)
{
    if (strstr(host->text, "memory is free") && (here->code == E_LIMIT || here->code == E_MEMORY)) return;
    if (here->code != host->code) fail_msg("%s: `%s` on the host, `%s` here", what, host->text, here->text);
    assert_string_equal(here->text, host->text);
}

/* Returns whether the matrix may be stored in the format. */
static bool check_one(const char *what, const struct csr *A, const struct on_device *c, const struct format *f,
                      const int64_t *param, bool force)
{
    struct stored want, S = {0};
    struct packing *p;
    struct mat M;
    struct err host = {0}, here = {0};
    char name[160];
    snprintf(name, sizeof name, "%s as %s %lld %lld, %s on %s", what, f->name, param ? (long long)param[0] : -1,
             param ? (long long)param[1] : -1, precisions[c->S.real].name, c->M.dev->name);
    bool fits = format_pack(A, f, param, c->S.real, force, &want, &host);
    bool packed = packing_begin(&p, f, &c->M, param, force, &here);
    if (!fits) {
        check_refusal(name, &host, &here);
        return false;
    }
    if (!packed) fail_msg("%s: %s", name, here.text);
    soil(p);
    if (!packing_repeat(p, &here) || !packing_take(p, &S, &M, &here) || !mat_get(&M, &S, &here))
        fail_msg("%s: %s", name, here.text);
    packing_free(p);
    compare(name, &S, &want);
    mat_free(&M);
    stored_free(&S);
    stored_free(&want);
    return true;
}

void pack_check(const char *what, const struct csr *A, const char *device)
{
    pack_check_format(what, A, device, NULL);
}

/* A packer moves values without computing with them: of the narrow precisions, one with values of 16 bits and, for
   small matrices, one with values of 32 bits are enough. */
static bool is_checked(const struct csr *A, enum precision real)
{
    struct plan plan;
    if (!precisions[real].narrow) return true;
    bool chosen = real == P_F16_F64 || (real == P_F32_F64 && A->nnz < 500);
    return chosen && format_plan(A, format_find("csr"), NULL, real, &plan, NULL);
}

static void check_formats(const char *what, const struct csr *A, struct device *d, enum precision real,
                          const struct format *only)
{
    struct on_device c;
    /* false: formats that would take too much memory are only planned */
    bool small = A->nnz <= SMALL_ENTRIES || (A->nnz < 100000 && real == P_F64);
    on_device_put(&c, A, real, d);
    for (int i = 0; formats[i]; i++) {
        if (!packer_for(formats[i], d, real) || (only && only != formats[i])) continue;
        if (!check_one(what, A, &c, formats[i], NULL, false) && small) check_one(what, A, &c, formats[i], NULL, true);
        for (int k = 0; k < COUNT(variants); k++)
            if (!strcmp(variants[k].format, formats[i]->name))
                check_one(what, A, &c, formats[i], variants[k].param, small);
    }
    on_device_free(&c);
}

void pack_check_format(const char *what, const struct csr *A, const char *device, const struct format *only)
{
    struct device *d = device_open(device, NULL);
    assert_non_null(d);
    for (const struct precision_entry *const *p = named_precisions; *p; p++)
        if (is_checked(A, (*p)->index)) check_formats(what, A, d, (*p)->index, only);
}

/* Values that arithmetic would change, but that a copy preserves. */
static void check_values(const char *device)
{
    static const int row[] = {0, 0, 1, 1, 2, 2}, col[] = {0, 2, 0, 1, 1, 2};
    const double val[] = {NAN, -0.0, INFINITY, 0, 1e38, 5e-324};
    struct csr A;
    assert_true(csr_from_triplets(&A, 3, 3, 6, row, col, val, NULL, NULL, NULL));
    pack_check("odd values", &A, device);
    csr_free(&A);
}

void pack_check_shapes(const char *device)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 1), Z = shape_csr_complex(s, 1);
        pack_check(s->name, &A, device);
        if (!s->complex_values && A.nnz <= SMALL_ENTRIES) pack_check(s->name, &Z, device);
        csr_free(&A);
        csr_free(&Z);
    }
    check_values(device);
}

static const struct tiled {
    const char *generator;
    int64_t a, b;
} tiled[] = {{"poisson2d", 40, 33}, {"band", 700, 3}, {"random", 500, 7}, {"rmat", 9, 6}, {"dense", 63, 0}};

void pack_check_tiles(const char *device)
{
    for (int i = 0; i < COUNT(tiled); i++) {
        struct csr A = sym_made(tiled[i].generator, tiled[i].a, tiled[i].b);
        pack_check(tiled[i].generator, &A, device);
        csr_free(&A);
    }
}

void pack_check_tiles_in(const char *device, enum precision real)
{
    for (int i = 0; i < COUNT(tiled); i++) {
        struct csr A = sym_made(tiled[i].generator, tiled[i].a, tiled[i].b);
        check_formats(tiled[i].generator, &A, device_open(device, NULL), real, NULL);
        csr_free(&A);
    }
}

void pack_check_refused(const char *device)
{
    struct device *d = device_open(device, NULL);
    struct csr A = sym_made("random", 300, 9);
    struct on_device c;
    on_device_put(&c, &A, P_F64, d);
    static const struct {
        const char *format;
        int64_t param[PARAMS_MAX];
    } refused[] = {{"ell", {2}},  {"sell", {0, 1}}, {"packed", {5}}, {"packed", {0, 65537}},
                   {"hyb", {-1}}, {"bsr", {33}},    {"vab", {65}},   {"hdia", {0}}};
    for (int i = 0; i < COUNT(refused); i++) {
        const struct format *f = format_find(refused[i].format);
        struct packing *p;
        struct err host = {0}, here = {0};
        struct stored S;
        if (!packer_find(f, d)) continue;
        assert_false(format_pack(&A, f, refused[i].param, P_F64, false, &S, &host));
        assert_false(packing_begin(&p, f, &c.M, refused[i].param, false, &here));
        assert_int_equal(here.code, host.code);
        assert_string_equal(here.text, host.text);
        assert_null(p);
    }
    struct packing *p;
    struct err e = {0};
    assert_false(packing_begin(&p, format_find("csr"), &c.M, NULL, false, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    on_device_free(&c);
    csr_free(&A);
}
