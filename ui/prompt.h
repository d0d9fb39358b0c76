/* The prompt and the explorer's command line; both use readline. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>

struct session;

void prompt_open(struct session *s); /* loads the history and sets up completion */
void prompt_close(struct session *s);
/* Read a line (release it with mem_free); NULL at the end of input. */
char *prompt_line(struct session *s);
/* Begin the next prompt with this text, as if the user had typed it. */
void prompt_offer(const char *text);
/* Ask a question while a command runs; NULL at the end of input or after Ctrl-C. */
char *prompt_ask(struct session *s, const char *prompt);
/* Show `text` until a key is pressed. Returns false if the key was q, Ctrl-C or Ctrl-D. */
bool prompt_pause(struct session *s, const char *text);

/* The prompt while a command runs: the text that the user types is shown below the output, and lines wait until the
   command has ended. beside.c calls these functions; prompt_beside handles keys and shows the progress. */
void prompt_beside_open(struct session *s);
void prompt_beside_close(void);
void prompt_beside_drop(void); /* drop the text typed so far */
bool prompt_has_typed(void);   /* after prompt_beside_close: was the beginning of a line typed? */
bool prompt_beside(struct session *s);
void prompt_beside_hide(void); /* remove the line from the terminal, because other text follows */

/* The explorer's command line: readline edits it and draws nothing. */
enum line { LINE_ON, LINE_DONE, LINE_LEFT };
bool line_open(struct session *s);
enum line line_key(int key);
void line_insert(const char *text); /* as if the user had typed it */
char *line_taken(void);             /* after LINE_DONE; release with mem_free */
/* The line that the user has typed so far: readline's prompt, the text, and its possible completions. */
struct line_shown {
    const char *before, *text;
    int point; /* bytes of text before the cursor */
    char *const *word;
    int words;
};
struct line_shown line_shown(void);

#endif
