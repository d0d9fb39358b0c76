/* The palette: commands, aliases, views, topics of help and typed lines, found by a few of their letters. */
#ifndef COMMAND_PALETTE_H
#define COMMAND_PALETTE_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct err;
struct session;

enum palette_sort { PALETTE_COMMAND, PALETTE_VIEW, PALETTE_ALIAS, PALETTE_TOPIC, PALETTE_LINE };
/* A name and what it means; about may be empty. */
struct palette_item {
    enum palette_sort sort;
    char *name, *about; /* one block, owned by the palette */
};
struct palette {
    struct palette_item *item; /* NULL: the palette is closed */
    int n, room;
    struct palette_match {
        int item, score;
    } * found; /* the items that match what was typed, best first; has room for all */
    int nfound;
    int at, first, shown; /* the chosen match, the first one on the screen, and how many there are */
    char typed[80];
};

bool palette_open(struct palette *p, struct session *s, struct err *e);
void palette_close(struct palette *p); /* accepts a closed palette */
/* Draw the palette over the lower part of the canvas. */
void palette_draw(struct palette *p, struct canvas *c);
enum palette_state { PALETTE_ON, PALETTE_LEFT, PALETTE_CHOSEN };
enum palette_state palette_key(struct palette *p, int key);
/* The chosen item after PALETTE_CHOSEN. */
const struct palette_item *palette_choice(const struct palette *p);
/* Show the palette on the whole terminal, which is not in the full screen. Returns true if the user chose an item; the
   caller closes the palette in any case. */
bool palette_run(struct palette *p, struct session *s);
/* How well does what was typed match the item? Every word must be in the name, at least its letters in this order, or
   in the text about it. 0: it does not match. */
int palette_score(const char *typed, const struct palette_item *item);
/* The line for the item, and whether it runs at once (a view, a topic) or is edited first. */
void palette_line(const struct palette_item *item, char *line, size_t size, bool *runs);

#endif
