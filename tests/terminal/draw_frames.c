/* Draw random canvases on the terminal, for test_full_screen.py. Usage: draw_frames FILE SEED. Before each frame, its
   size and the canvas as ANSI text are written to FILE; after it, a bell is written to stdout. */
#include "base/err.h"
#include "matrix/random.h"
#include "ui/term.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ROUNDS = 8, WIDE = 0x6f22 };

static uint64_t seed;

static int below(int n)
{
    return (int)(random_next(&seed) % (uint64_t)n);
}

/* Draw a patch: text, noise in few or many styles, blanks in any style, or wide glyphs. */
static void scribble(struct canvas *c)
{
    int x0 = below(c->w), y0 = below(c->h), w = 1 + below(c->w), h = 1 + below(4);
    int kind = below(7), styles = 1 + below(ST_COUNT), base = below(ST_COUNT);
    for (int y = y0; y < y0 + h && y < c->h; y++)
        for (int x = x0; x < x0 + w && x < c->w; x++) {
            enum style st = (enum style)((base + below(styles)) % ST_COUNT);
            if (kind == 5 && (x - x0) % 2 == 0 && x + 1 < c->w) {
                canvas_put(c, x, y, st, WIDE);
                canvas_put(c, x + 1, y, st, 0);
            } else if (kind != 5) {
                canvas_put(c, x, y, st, kind < 2 ? 0x2800u + (unsigned)below(256) : kind < 4 ? 'a' : ' ');
            }
        }
}

/* Replace half of a wide glyph whose other half was overwritten by another glyph. */
static void mend(struct canvas *c)
{
    for (int i = 0; i < c->w * c->h; i++) {
        bool last = i % c->w + 1 == c->w;
        if (c->cell[i].glyph == WIDE && (last || c->cell[i + 1].glyph)) c->cell[i].glyph = '?';
        if (!c->cell[i].glyph && (i % c->w == 0 || c->cell[i - 1].glyph != WIDE)) c->cell[i].glyph = '?';
        if (!c->cell[i].glyph) c->cell[i].style = c->cell[i - 1].style;
    }
}

static void show(struct canvas *c, FILE *f)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) exit(1);
    c->colours = term_colours();
    canvas_print_ansi(c, memory, c->colours);
    fclose(memory);
    fprintf(f, "%d %d %zu\n%s", c->w, c->h, size, text);
    free(text);
    term_draw(c);
    if (write(STDOUT_FILENO, "\a", 1) != 1) exit(1);
}

/* Draw frames of one size; halfway, leave the full screen and enter it again. */
static bool draw_size(int w, int h, FILE *f)
{
    struct winsize size = {.ws_col = (unsigned short)w, .ws_row = (unsigned short)h};
    struct canvas c;
    ioctl(STDOUT_FILENO, TIOCSWINSZ, &size);
    if (!canvas_new(&c, w, h, false, NULL)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        for (int n = below(8); n >= 0; n--) scribble(&c);
        if (below(5) == 0) canvas_clear(&c);
        canvas_style(&c, below(c.w), below(c.h), ST_CURSOR);
        mend(&c);
        if (round == ROUNDS / 2) {
            term_close();
            if (!term_open(NULL)) return false;
        }
        show(&c, f);
    }
    canvas_free(&c);
    return true;
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{80, 24}, {1, 1}, {300, 70}, {2, 9}, {129, 3}, {33, 12}, {600, 5}, {80, 24}};
    struct err e = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    FILE *f = argc > 2 ? fopen(argv[1], "we") : NULL;
    if (!f) return fputs("draw_frames FILE SEED\n", stderr), 1;
    seed = strtoull(argv[2], NULL, 10);
    if (!term_open(&e)) return fprintf(stderr, "%s\n", e.text), 1;
    for (int i = 0; i < COUNT(sizes); i++)
        if (!draw_size(sizes[i][0], sizes[i][1], f)) return 1;
    term_close();
    return fclose(f) != 0;
}
