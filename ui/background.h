/* Is the terminal's background dark or light? The terminal is asked once (OSC 11), and nothing waits for its answer:
   the prompt and the full screen take the answer out of the keys when it comes. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <stdbool.h>

enum theme_choice { THEME_AUTO, THEME_DARK, THEME_LIGHT };
/* The user's choice. For THEME_AUTO, the theme follows the answer or, without an answer, COLORFGBG. */
void background_choose(enum theme_choice choice);
/* Ask the terminal if its answer can matter and it has not been asked yet. The terminal is in raw mode or about to be.
 */
void background_ask(void);
/* Is an answer expected that has not come? */
bool background_is_awaited(void);
/* Use an answer, such as "11;rgb:ffff/ffff/ffff". Returns true if the theme has changed. */
bool background_answer(const char *text);
/* Called before the terminal is left: an answer that is still on its way would become text in the shell. */
void background_end(void);

#endif
