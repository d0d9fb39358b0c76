/* Colours with different meanings are distinguishable in every palette, even for readers who lack one of the three
   kinds of cones. The steps of density differ in lightness. The other colours that must differ are those of good,
   warning and bad, of the two curves of a plot, and of neighbouring rows of a layout. */
#include "kits/test.h"
#include "ui/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Linear RGB as seen by a dichromat, from G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A physiologically-based
   model for simulation of color vision deficiency, IEEE Transactions on Visualization and Computer Graphics 15 (6),
   2009, severity 1.0. */
static const struct eye {
    const char *name;
    double m[3][3];
} eyes[] = {
    {"full vision", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {"protanopia", {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {"deuteranopia",
     {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {"tritanopia", {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
};

/* The 16 colours of xterm and of the Linux console; other terminals use similar colours. */
static const uint32_t xterm16[] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
                                   0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
static const uint32_t linux16[] = {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa,
                                   0x555555, 0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff};

static const struct palette {
    const char *name;
    enum colours colours;
    const uint32_t *sixteen;
    double step; /* minimum difference of lightness between two densities */
    bool light;  /* on a light background, where denser is darker */
} palettes[] = {
    {"24 bit", COLOURS_24BIT, NULL, 3, false},
    {"256", COLOURS_256, NULL, 1, false},
    {"16, xterm", COLOURS_16, xterm16, -0.01, false},
    {"16, console", COLOURS_16, linux16, -0.01, false},
    {"8, xterm", COLOURS_8, xterm16, -0.01, false},
    {"8, console", COLOURS_8, linux16, -0.01, false},
    {"24 bit, light", COLOURS_24BIT, NULL, 3, true},
    {"256, light", COLOURS_256, NULL, 1, true},
    {"16, xterm, light", COLOURS_16, xterm16, -0.01, true},
    {"8, xterm, light", COLOURS_8, xterm16, -0.01, true},
};

/* The minimum CIE colour difference. A difference of 2.3 is just noticeable between adjacent colours, but the
   characters to compare are not adjacent. */
static const double APART = 15;

/* ---- colours as sent ---- */

static uint32_t cube(int i)
{
    static const uint32_t level[] = {0, 95, 135, 175, 215, 255};
    i -= 16;
    return level[i / 36] << 16 | level[i / 6 % 6] << 8 | level[i % 6];
}

/* The colour, parsed from the bytes sent to a terminal whose default colour is light grey, or black on white. */
static uint32_t sent(enum style st, const struct palette *p, bool *bold)
{
    char text[80];
    uint32_t rgb = p->light ? 0x1a1a1a : 0xd8d8d8;
    theme_choose(p->light);
    style_escape(st, p->colours, text, sizeof text);
    theme_choose(false);
    *bold = false;
    for (char *t = text + 2; *t && *t != 'm'; t += *t == ';') {
        int code = (int)strtol(t, &t, 10), r, g, b;
        if (code == 1) *bold = true;
        if (code >= 30 && code <= 37) rgb = p->sixteen[code - 30];
        if (code >= 90 && code <= 97) rgb = p->sixteen[code - 82];
        if (code == 38 && sscanf(t, ";5;%d", &r) == 1) return cube(r);
        if (code == 38 && sscanf(t, ";2;%d;%d;%d", &r, &g, &b) == 3) return (uint32_t)(r << 16 | g << 8 | b);
    }
    return rgb;
}

/* ---- colours as seen ---- */

struct lab {
    double l, a, b;
};

static double linear(uint32_t v)
{
    double x = v / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double root(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* Convert sRGB with white point D65 to CIE L*a*b*. */
static struct lab seen(uint32_t rgb, const struct eye *eye)
{
    static const double xyz[3][3] = {
        {0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}};
    static const double white[] = {0.95047, 1, 1.08883};
    double in[] = {linear(rgb >> 16), linear(rgb >> 8 & 255), linear(rgb & 255)}, v[3] = {0}, f[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) v[i] += eye->m[i][k] * in[k];
        v[i] = fmin(1, fmax(0, v[i]));
    }
    for (int i = 0; i < 3; i++) f[i] = root((xyz[i][0] * v[0] + xyz[i][1] * v[1] + xyz[i][2] * v[2]) / white[i]);
    return (struct lab){116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

static double apart(enum style a, enum style b, const struct palette *p, const struct eye *eye)
{
    bool bold_a, bold_b;
    struct lab x = seen(sent(a, p, &bold_a), eye), y = seen(sent(b, p, &bold_b), eye);
    if (bold_a != bold_b) return INFINITY;
    return sqrt((x.l - y.l) * (x.l - y.l) + (x.a - y.a) * (x.a - y.a) + (x.b - y.b) * (x.b - y.b));
}

/* ---- tests ---- */

static int too_near(const char *what, enum style a, enum style b)
{
    int wrong = 0;
    for (int p = 0; p < COUNT(palettes); p++)
        for (int i = 0; i < COUNT(eyes); i++) {
            double d = apart(a, b, &palettes[p], &eyes[i]);
            if (d >= APART) continue;
            print_message("%s, %s: %s are only %.1f apart\n", palettes[p].name, eyes[i].name, what, d);
            wrong++;
        }
    return wrong;
}

TEST(good_warning_and_bad)
{
    int wrong = too_near("good and warning", ST_GOOD, ST_WARN) + too_near("good and bad", ST_GOOD, ST_BAD) +
                too_near("warning and bad", ST_WARN, ST_BAD);
    assert_int_equal(wrong, 0);
}

TEST(the_curves_of_a_plot)
{
    assert_int_equal(too_near("the curves", ST_PLOT_A, ST_PLOT_B), 0);
}

TEST(neighbouring_rows)
{
    int wrong = 0;
    for (int k = 0; k < ROW_COLOURS; k++) {
        char what[40];
        int next = (k + 1) % ROW_COLOURS;
        snprintf(what, sizeof what, "rows %d and %d", k, next);
        wrong += too_near(what, (enum style)(ST_ROW + k), (enum style)(ST_ROW + next));
    }
    assert_int_equal(wrong, 0);
}

TEST(denser_is_further_from_the_background)
{
    int wrong = 0;
    for (int p = 0; p < COUNT(palettes); p++)
        for (int i = 0; i < COUNT(eyes); i++)
            for (int k = 1; k < RAMP_STEPS; k++) {
                bool bold;
                double a = seen(sent((enum style)(ST_RAMP + k - 1), &palettes[p], &bold), &eyes[i]).l;
                double b = seen(sent((enum style)(ST_RAMP + k), &palettes[p], &bold), &eyes[i]).l;
                if ((palettes[p].light ? a - b : b - a) >= palettes[p].step) continue;
                print_message("%s, %s: step %d has lightness %.1f, the one before %.1f\n", palettes[p].name,
                              eyes[i].name, k, b, a);
                wrong++;
            }
    assert_int_equal(wrong, 0);
}

/* The lightest and darkest densities differ clearly, even if neighbouring steps share a colour. */
TEST(the_densest_is_much_lighter)
{
    for (int p = 0; p < COUNT(palettes); p++)
        for (int i = 0; i < COUNT(eyes); i++) {
            bool bold;
            double from = seen(sent(ST_RAMP, &palettes[p], &bold), &eyes[i]).l;
            double to = seen(sent((enum style)(ST_RAMP + RAMP_STEPS - 1), &palettes[p], &bold), &eyes[i]).l;
            if ((palettes[p].light ? from - to : to - from) < 35)
                fail_msg("%s, %s: from %.1f to %.1f", palettes[p].name, eyes[i].name, from, to);
        }
}

/* On white, every colour can be read or, for a dot of the sparsest density, seen. */
TEST(colours_are_visible_on_white)
{
    for (int st = 0; st < ST_COUNT; st++) {
        uint32_t rgb = style_rgb((enum style)st, true);
        double l = rgb ? seen(rgb, &eyes[0]).l : 0, most = st >= ST_RAMP && st < ST_RAMP + 3 ? 75 : 60;
        if (l > most) fail_msg("style %d has lightness %.1f", st, l);
    }
}

/* The simulation matches the publication: red and green of equal lightness look the same to a dichromat. */
TEST(the_simulation_confuses_red_and_green)
{
    struct lab red = seen(0xb06a30, &eyes[2]), green = seen(0x7c8430, &eyes[2]);
    struct lab r = seen(0xb06a30, &eyes[0]), g = seen(0x7c8430, &eyes[0]);
    double full = hypot(r.a - g.a, r.b - g.b), less = hypot(red.a - green.a, red.b - green.b);
    assert_true(full > 30 && less < 12);
    struct lab grey = seen(0x808080, &eyes[1]);
    assert_true(fabs(grey.a) < 1 && fabs(grey.b) < 1 && fabs(grey.l - 53.6) < 0.5);
}
