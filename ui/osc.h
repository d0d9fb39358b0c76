/* OSC sequences: does the terminal read them, and what has it reported? */
#ifndef OSC_H
#define OSC_H

#include <stdbool.h>

/* Does the terminal read OSC sequences? Consoles without them would print them. */
bool osc_is_understood(void);
/* Reports: the window has lost the focus; the terminal has a clipboard. */
void osc_take_focus(bool here);
bool osc_is_away(void);
void osc_take_clipboard(void);
bool osc_has_clipboard(void);

#endif
