/* Axes of pictures: ticks at round numbers, no closer than asked. */
#include "base/base.h"
#include "kits/test.h"
#include "ui/figure.h"

#include <math.h>

static const struct {
    struct ruler ruler;
    int most, n;
    double tick[12];
} cases[] = {
    {{RULER_EVEN, 0, 100, "%"}, 5, 6, {0, 20, 40, 60, 80, 100}},
    {{RULER_EVEN, 0, 1, NULL}, 5, 6, {0, 0.2, 0.4, 0.6, 0.8, 1}},
    {{RULER_EVEN, 0, 3, NULL}, 10, 7, {0, 0.5, 1, 1.5, 2, 2.5, 3}},
    {{RULER_EVEN, 13, 87, NULL}, 4, 4, {20, 40, 60, 80}},
    {{RULER_EVEN, 0, 0.003, NULL}, 3, 4, {0, 0.001, 0.002, 0.003}},
    {{RULER_EVEN, 0, 0.3, NULL}, 3, 4, {0, 0.1, 0.2, 0.3}}, /* 3 * 0.1 is more than 0.3, by rounding */
    {{RULER_WHOLE, 0, 3, NULL}, 10, 4, {0, 1, 2, 3}},
    {{RULER_WHOLE, 0, 1, NULL}, 10, 2, {0, 1}},
    {{RULER_WHOLE, 0, 1200, NULL}, 3, 3, {0, 500, 1000}},
    {{RULER_LOG, 1e-2, 1e1, NULL}, 10, 4, {1e-2, 1e-1, 1, 1e1}},
    {{RULER_LOG, 1e-8, 1e2, NULL}, 4, 4, {1e-8, 1e-5, 1e-2, 1e1}},
    {{RULER_LOG, 0.5, 200, NULL}, 9, 3, {1, 10, 100}},
    {{RULER_LOG1, 0, 1000, NULL}, 10, 5, {0, 1, 10, 100, 1000}},
    {{RULER_LOG1, 0, 5000, NULL}, 3, 3, {0, 1, 100}},
    {{RULER_EVEN, 5, 5, NULL}, 4, 1, {5}},
};

TEST(ticks_are_round_numbers)
{
    for (int i = 0; i < COUNT(cases); i++) {
        double tick[TICKS_MAX];
        int n = ruler_ticks(&cases[i].ruler, cases[i].most, tick);
        if (n != cases[i].n) fail_msg("case %d: %d ticks, the last at %g", i, n, tick[n - 1]);
        for (int k = 0; k < n; k++)
            if (fabs(tick[k] - cases[i].tick[k]) > 1e-12 * fabs(tick[n - 1]))
                fail_msg("case %d: tick %d is at %g", i, k, tick[k]);
    }
}

/* Where a value is between the ends, as a share; beyond the ends, at the ends. */
TEST(values_have_their_place)
{
    static const struct {
        struct ruler ruler;
        double value, share;
    } places[] = {
        {{RULER_EVEN, 0, 50, NULL}, 10, 0.2},     {{RULER_EVEN, 10, 50, NULL}, 20, 0.25},
        {{RULER_EVEN, 0, 50, NULL}, 60, 1},       {{RULER_EVEN, 0, 50, NULL}, -1, 0},
        {{RULER_LOG, 1e-4, 1, NULL}, 1e-3, 0.25}, {{RULER_LOG, 1, 100, NULL}, 10, 0.5},
        {{RULER_LOG1, 0, 999, NULL}, 0, 0},       {{RULER_LOG1, 0, 999, NULL}, 9, 1.0 / 3},
        {{RULER_LOG1, 0, 999, NULL}, 999, 1},     {{RULER_EVEN, 3, 3, NULL}, 3, 1},
    };
    for (int i = 0; i < COUNT(places); i++)
        if (fabs(ruler_at(&places[i].ruler, places[i].value) - places[i].share) > 1e-12)
            fail_msg("case %d: %g", i, ruler_at(&places[i].ruler, places[i].value));
}
