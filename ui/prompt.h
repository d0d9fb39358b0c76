/* The prompt and the line at the bottom of the explorer, both by readline. */
#ifndef PROMPT_H
#define PROMPT_H

#include <stdbool.h>

struct session;

void prompt_open(struct session *s); /* history, completion */
void prompt_close(struct session *s);
/* A line (release with mem_free), or NULL at the end of input. */
char *prompt_line(struct session *s);
/* The answer to a question, while a command works; NULL after Ctrl-C too. */
char *prompt_ask(struct session *s, const char *prompt);

/* The line at the bottom of the explorer: readline without its own screen. */
enum line { LINE_ON, LINE_DONE, LINE_LEFT };
bool line_open(struct session *s);
enum line line_key(int key);
char *line_taken(void); /* after LINE_DONE; release with mem_free */
/* What is typed, behind what readline puts before it, and the words it could go on with. */
struct line_shown {
    const char *before, *text;
    int point; /* bytes of text before the cursor */
    char *const *word;
    int words;
};
struct line_shown line_shown(void);

#endif
