/* The roofline: its roofs, its points, and names in the picture that do not cover one another. */
#include "advice/roofline.h"
#include "base/mem.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/canvas.h"
#include "ui/views/view_roofline.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

TEST(test_roofs)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30; roofline"));
    const struct roofline *r = t.s.roofline;
    assert_non_null(r);
    assert_true(r->n > 20 && !r->here);
    assert_true(roof_rate(r, ROOF_MEMORY) < roof_rate(r, ROOF_L2) && roof_rate(r, ROOF_L2) < roof_rate(r, ROOF_L1));
    assert_string_equal(roof_name(r, ROOF_COMPUTE), "fp64");
    for (int k = 0; k < ROOFS; k++) {
        double ridge = roof_rate(r, ROOF_COMPUTE) / roof_rate(r, (enum roof)k);
        assert_true(roof_at(r, (enum roof)k, 100 * ridge) == roof_rate(r, ROOF_COMPUTE));
        if (k != ROOF_COMPUTE)
            assert_true(fabs(roof_at(r, (enum roof)k, 0.1) - 0.1 * roof_rate(r, (enum roof)k)) < 1e-6);
    }
    assert_true(talk_line(&t, "roofline f32"));
    assert_string_equal(roof_name(t.s.roofline, ROOF_COMPUTE), "fp32");
    assert_true(roof_rate(t.s.roofline, ROOF_COMPUTE) > 60000);
    talk_close(&t);
}

TEST(test_points)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 100; roofline"));
    const struct roofline *r = t.s.roofline;
    double nnz = (double)t.s.current->csr.nnz, last = 0;
    for (int i = 0; i < r->n; i++) {
        const struct roof_point *p = &r->point[i];
        assert_true(p->flops == 2 * nnz && isnan(p->measured_us) && p->bound);
        assert_true(point_us(p) >= last);
        last = point_us(p);
        assert_true(fabs(point_gflops(p) * point_us(p) * 1000 / p->flops - 1) < 1e-12);
        for (int by = 0; by < ROOF_BYTES; by++) assert_true(point_intensity(p, (enum roof_bytes)by) > 0);
        /* No kernel computes more than L1 can deliver. */
        assert_true(point_gflops(p) < roof_at(r, ROOF_L1, point_intensity(p, BYTES_L1)));
    }
    assert_true(talk_line(&t, "drop all"));
    assert_null(t.s.roofline);
    assert_false(talk_line(&t, "roofline"));
    talk_close(&t);
}

/* How often `name` is on the canvas as a whole word. */
static int times_shown(const struct canvas *c, const char *name)
{
    int found = 0, n = (int)strlen(name);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x + n <= c->w; x++) {
            const struct cell *k = &c->cell[y * c->w + x];
            int i = 0;
            while (i < n && k[i].glyph == (uint32_t)name[i]) i++;
            bool before = x && k[-1].glyph < 0x7f && (isalnum((int)k[-1].glyph) || k[-1].glyph == '-');
            bool after = x + n < c->w && k[n].glyph < 0x7f && (isalnum((int)k[n].glyph) || k[n].glyph == '-');
            found += i == n && !before && !after;
        }
    return found;
}

/* Every name that was drawn is readable: nothing was drawn over it. */
TEST(test_names_do_not_overlap)
{
    static const int sizes[][2] = {{80, 24}, {160, 50}, {40, 10}, {30, 8}};
    struct talk t;
    struct canvas c;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 60; roofline"));
    const struct roofline *r = t.s.roofline;
    for (int i = 0; i < COUNT(sizes); i++) {
        struct roof_plot p = {2, 1, sizes[i][0] - 3, sizes[i][1] - 2, -1.6, 0.2, 0, 3, BYTES_MIN};
        int inside, shown = 0;
        assert_true(canvas_new(&c, sizes[i][0], sizes[i][1], false, NULL));
        int names = roof_draw_points(&c, &p, r, 0, &inside);
        for (int k = 0; k < r->n; k++) shown += times_shown(&c, r->point[k].kernel->name);
        assert_int_equal(shown, names);
        assert_true(names >= (sizes[i][0] >= 80 ? 8 : 1) && inside == r->n);
        canvas_free(&c);
    }
    talk_close(&t);
}
