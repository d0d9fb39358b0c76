/* Begins and ends the drawing of frames, for full_screen.c. */
#ifndef FULL_SCREEN_DRAW_H
#define FULL_SCREEN_DRAW_H

#include <stdbool.h>

/* Terminals show the output between these two sequences as one frame, without flicker. */
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

/* Write directly to the terminal. */
void full_screen_send(const char *bytes);
/* Called after the full screen was opened: read the capabilities that drawing needs. If `synchronized` is set, the
   terminal supports or ignores the sequences that begin and end a frame. */
void frames_begin(bool synchronized);
/* Called before the full screen is closed. */
void frames_end(void);

#endif
