/* The predicted time on several GPUs: the formulas, the limits, one figure that is known, and the commands. */
#include "base/base.h"
#include "base/precision.h"
#include "base/registry.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "microscope/link.h"
#include "microscope/model.h"
#include "microscope/scaling.h"
#include "parts/partition.h"
#include "session/matrix.h"
#include "session/parting.h"

#include <math.h>

static struct csr made(const char *generator, int64_t a, int64_t b, int64_t c)
{
    struct csr A;
    struct err e = {0};
    const int64_t param[PARAMS_MAX] = {a, b, c};
    if (!generator_find(generator)->make(param, 7, NULL, &A, &e)) fail_msg("%s: %s", generator, e.text);
    return A;
}

static struct scaling begun(const struct csr *A, const char *link, const char *kernel, enum precision real)
{
    struct machine on = machine_of(NULL);
    struct err e = {0};
    struct scaling c = {.link = link_find(link), .way = way_find("nnz"), .kernel = kernel_find(kernel), .real = real};
    assert_non_null(c.kernel);
    if (!scaling_begin(&c, A, &on, NULL, &e)) fail_msg("%s", e.text);
    return c;
}

static void add(struct scaling *c, const struct csr *A, int parts)
{
    struct machine on = machine_of(NULL);
    struct err e = {0};
    if (!scaling_add(c, A, parts, &on, NULL, &e)) fail_msg("%d parts: %s", parts, e.text);
}

/* ---- links ---- */

TEST(test_links)
{
    for (const struct link *l = links; l->name; l++) {
        assert_true(l->hop_us > 0 && l->gbs > 0 && l->start_us >= 0 && *l->source && *l->about);
        assert_true(link_items_gbs(l) > 0 && link_items_gbs(l) <= l->gbs);
        assert_true(fabs(link_exchange_us(l, 1e6) - link_exchange_us(l, 0) - 1e6 / (link_items_gbs(l) * 1e3)) < 1e-9);
        assert_true(link_reduce_us(l, 1) == 0);
        assert_true(fabs(link_reduce_us(l, 8) - link_reduce_us(l, 2) - 2 * l->hop_us) < 1e-9);
        assert_true(fabs(link_reduce_us(l, 5) - link_reduce_us(l, 8)) < 1e-9);
    }
    /* what was measured on two H200 */
    assert_true(fabs(link_reduce_us(link_find("nccl"), 2) - 14) < 1);
    assert_true(fabs(link_exchange_us(link_find("nccl"), 1048576) - 15.5) < 3);
    assert_true(fabs(2 * link_find("nvlink")->hop_us - 1.2) < 1e-9);
}

/* ---- points ---- */

/* The parts of a time add up, and the point of one GPU is the time without any exchange. */
/* `whatif parts` takes the link that `ceilings` measured between GPUs, and names it so. */
TEST(test_measured_link)
{
    struct talk t;
    struct device *d = device_open("emu*2", NULL);
    assert_non_null(d);
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 60 as A; device emu", "");
    talk_refuses(&t, "whatif parts 2 link measured", "no link was measured; `ceilings on cuda:0+1` measures");
    d->link = (struct link_ceilings){true, false, 3, 200, 350, 1.5};
    talk_says(&t, "whatif parts 2",
              "measured (between the members of emu*2): start 0 us + hop 0.75 us + bytes / 230 GB/s for listed items");
    talk_says(&t, "whatif parts 2", "a flag there and back takes 1.5 us; a copy of 256 MiB runs at 350 GB/s");
    talk_says(&t, "whatif parts 2 link nccl", "nccl (NCCL");
    d->link.flag_us = NAN; /* no access to each other's memory */
    talk_says(&t, "whatif parts 2 link measured", "hop 3 us");
    d->link.one_gpu = true; /* not a link between GPUs, so only if it is asked for */
    talk_says(&t, "whatif parts 2", "nvlink (NVLink 4");
    talk_says(&t, "whatif parts 2 link measured", "which are one GPU: no link");
    talk_refuses(&t, "ceilings on emu*2", "emu*2 models accesses, not time; measure cpu or cuda:0+1");
    d->link = (struct link_ceilings){0};
    talk_close(&t);
}

TEST(test_sums)
{
    struct csr A = made("poisson2d", 200, 150, 0);
    struct scaling c = begun(&A, "ib", "csr-scalar", P_F64);
    static const int parts[] = {1, 2, 7, 64};
    for (int i = 0; i < COUNT(parts); i++) add(&c, &A, parts[i]);
    assert_int_equal(c.n, COUNT(parts));
    assert_true(scaling_gain(&c, 0) == 1 && scaling_cg_gain(&c, 0) == 1);
    assert_int_equal(c.point[0].halo, 0);
    for (int i = 0; i < c.n; i++) {
        const struct scaling_point *p = &c.point[i];
        assert_int_equal(p->parts, parts[i]);
        assert_true(fabs(p->spmv_us - fmax(p->inside_us + p->wire_us + p->memory_us, p->exchange_us) - p->outside_us) <
                    1e-9);
        assert_true(fabs(p->cg_us - p->spmv_us - p->vectors_us - p->reduce_us) < 1e-9);
        assert_true(i == 0 || (p->exchange_us > 0 && p->outside_us > 0 && p->reduce_us > 0));
    }
    assert_int_equal(c.point[1].halo, 400); /* one line of 200 points each way */
    assert_int_equal(c.point[1].halo_most, 200);
    csr_free(&A);
}

/* Two halves of a 200 x 150 grid send each other a line of 200 items of 8 bytes. Each reads
   the list of the items and the sectors of x that hold them, and stores what arrives. One iteration of cg reads or
   writes 9 vectors of 15000 elements in two passes, from L2. */
TEST(test_bytes_in_memory)
{
    struct csr A = made("poisson2d", 200, 150, 0);
    struct scaling c = begun(&A, "ib", "csr-scalar", P_F64);
    struct machine on = machine_of(NULL);
    add(&c, &A, 2);
    const struct scaling_point *p = &c.point[0];
    double bytes = 200 * 4 + 200 * 32 + 200 * 8;
    assert_float_equal(p->memory_us, bytes / (on.c.read_gbs * 1e3), 1e-9);
    assert_float_equal(p->wire_us, 200 * 8 / (50 * 1e3), 1e-9);
    assert_float_equal(p->exchange_us, on.c.launch_us + 0.6 + p->wire_us + p->memory_us, 1e-9);
    assert_float_equal(p->vectors_us, 2 * 1.3 + 9 * 15000 * 8 / (on.c.cache_gbs * 1e3), 1e-9);
    assert_float_equal(p->reduce_us, 2 * 0.6, 1e-9);
    csr_free(&A);
}

/* Nothing is exchanged between blocks that are not coupled, so all GPUs are used fully but for the launches. */
TEST(test_blocks)
{
    enum { N = 1 << 21 };
    struct csr A;
    assert_true(csr_new(&A, N, N, N, false, NULL));
    for (int i = 0; i < N; i++) {
        A.rowptr[i + 1] = i + 1;
        A.col[i] = i;
        A.val[i] = 2;
    }
    struct scaling c = begun(&A, "nccl", "csr-scalar", P_F64);
    add(&c, &A, 4);
    assert_int_equal(c.point[0].halo, 0);
    assert_true(c.point[0].exchange_us == 0 && c.point[0].outside_us == 0);
    double gain = scaling_gain(&c, 0);
    if (gain < 2 || gain > 4) fail_msg("4 GPUs gain %g", gain);
    csr_free(&A);
}

/* poisson3d 128 on 8 GPUs gains at most about 2.5 times over NCCL, because an exchange takes at least 14 us, and the
   local product follows it; stores to the memory of other GPUs gain more. The limits allow for the model's error on the
   local products. */
TEST(test_poisson3d)
{
    struct csr A = made("poisson3d", 128, 128, 128);
    struct scaling nccl = begun(&A, "nccl", "csr-ends", P_F64), nvlink = nccl;
    add(&nccl, &A, 8);
    double gain = scaling_gain(&nccl, 0);
    if (gain < 1.6 || gain > 2.6) fail_msg("NCCL: %g times", gain);
    assert_int_equal(nccl.point[0].spmv_limit, LIMIT_LATENCY);
    assert_int_equal(nccl.point[0].halo_most, 2 * 128 * 128);
    nvlink.link = link_find("nvlink");
    add(&nvlink, &A, 8);
    if (scaling_gain(&nvlink, 0) < 1.25 * gain) fail_msg("NVLink: %g times", scaling_gain(&nvlink, 0));
    assert_int_equal(nvlink.point[0].spmv_limit, LIMIT_LOCAL);
    csr_free(&A);
}

/* A random matrix needs nearly all of x everywhere: bytes are the limit of a slow link, and values of half the size
   take less time. */
TEST(test_bytes)
{
    struct csr A = made("random", 400000, 5, 0);
    struct scaling c = begun(&A, "ib", "csr-scalar", P_F64), f = begun(&A, "ib", "csr-scalar", P_F32);
    add(&c, &A, 4);
    add(&f, &A, 4);
    assert_int_equal(c.point[0].spmv_limit, LIMIT_BYTES);
    double bytes = 8 * (double)c.point[0].halo_most / 50e3;
    assert_true(c.point[0].exchange_us >= bytes && c.point[0].exchange_us < bytes + 15);
    assert_true(f.point[0].exchange_us < 0.6 * c.point[0].exchange_us);
    csr_free(&A);
}

TEST(test_rectangular)
{
    struct csr A = made("random", 3000, 5, 0);
    A.cols++;
    struct scaling c = begun(&A, "pcie", "csr-scalar", P_F64);
    add(&c, &A, 3);
    assert_true(isnan(c.point[0].cg_us) && isnan(scaling_cg_gain(&c, 0)));
    assert_true(isfinite(scaling_gain(&c, 0)));
    csr_free(&A);
}

/* ---- commands ---- */

TEST(test_commands)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 60 as A", "A");
    talk_says(&t, "whatif parts 4 1 2 4 link nccl", "More GPUs do not pay");
    const struct scaling *c = t.s.current->scaling;
    assert_non_null(c);
    assert_int_equal(c->n, 3);
    assert_int_equal(c->point[2].parts, 4);
    assert_string_equal(c->way->name, "bytes");
    talk_says(&t, "whatif parts 2 link ib", "lower bounds");
    talk_says(&t, "whatif parts 16 link nvlink", "at most 8 GPUs by nvlink");
    talk_says(&t, "partition 3 rows", "by rows");
    talk_says(&t, "whatif parts 2 of A format ell f32", "rows divided by rows");
    assert_string_equal(t.s.current->scaling->kernel->format->name, "ell");
    assert_int_equal(t.s.current->scaling->real, T_F32);
    talk_says(&t, "whatif parts 2 by nnz", "rows divided by nnz");
    talk_refuses(&t, "whatif parts 0", "give numbers from 1 to 3600");
    talk_refuses(&t, "whatif parts 3601", "give numbers from 1 to 3600");
    talk_refuses(&t, "whatif parts reorder rcm", "does not take reorder");
    talk_refuses(&t, "whatif link nccl", "for `whatif parts`");
    talk_refuses(&t, "whatif parts link wire", "wire");
    talk_says(&t, "whatif parts", "16");
    talk_close(&t);
}

/* `partition` keeps the parts with the matrix, and `as` makes a matrix sorted by part with the same parts. */
TEST(test_partition)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 30 20 as A", "A");
    talk_refuses(&t, "partition", "the number of parts is missing");
    talk_refuses(&t, "partition 0", "1");
    talk_refuses(&t, "partition 4 quarters", "quarters");
    talk_refuses(&t, "spy by owner", "use `partition 8`");
    talk_says(&t, "partition 4 rows", "90 of the 1,150 edges");
    assert_int_equal(t.s.current->parting->x.parts, 4);
    talk_says(&t, "partition", "4 parts of A by rows");
    talk_says(&t, "partition A 100", "least");
    talk_says(&t, "partition A 3 rows as P", "3 parts of P");
    assert_string_equal(t.s.current->name, "P");
    assert_true(csr_equal(&t.s.current->csr, &t.s.matrices->csr));
    talk_says(&t, "use A; partition", "3 parts of A by rows");
    talk_says(&t, "gen random 300 6 as R; extract 0 200 R as W; partition 4", "4 parts of W by nnz");
    talk_refuses(&t, "partition 4 metis", "metis");
    talk_says(&t, "help scotch; help nnz; help nccl", "SCOTCH_graphPart");
    talk_close(&t);
}

/* Rows of P come from one part after the other, and the counts of the parts do not change. */
TEST(test_sorted)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 40 as A", "A");
    if (!talk_line(&t, "partition 4 metis as P")) {
        talk_close(&t);
        skip();
    }
    const struct parting *p = t.s.current->parting;
    const struct matrix *A = t.s.matrices;
    while (strcmp(A->name, "A") != 0) A = A->next;
    assert_non_null(p);
    assert_null(p->P.order);
    assert_int_equal(p->x.halo, A->parting->x.halo);
    assert_int_equal(p->x.edge_cut, A->parting->x.edge_cut);
    assert_int_not_equal(p->x.edge_cut, 0);
    for (int k = 0; k < 4; k++) assert_memory_equal(&p->x.part[k], &A->parting->x.part[k], sizeof p->x.part[k]);
    talk_close(&t);
}
