/* The lines that the user typed, in this session and in earlier ones. */
#ifndef LINE_HISTORY_H
#define LINE_HISTORY_H

struct out;

void line_history_open(struct out *o); /* read the file; a file that cannot be used is one note on o */
void line_history_close(void);
void line_history_keep(const char *line); /* add a line, unless it is blank or the same as the last line */
/* The lines, from the oldest (0) to the newest. A line is valid until the next one is kept. */
int line_history_count(void);
const char *line_history_at(int i);

#endif
