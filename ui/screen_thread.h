/* The screen thread. While a command runs on the main thread, the screen thread handles keys and draws. It holds the
   screen lock (base/screen_lock.h) meanwhile, and the main thread holds it while it changes what the screen thread
   reads, so that neither sees an unfinished change. */
#ifndef SCREEN_THREAD_H
#define SCREEN_THREAD_H

#include <stdbool.h>

struct session;

/* What the screen thread handles: nothing, the full screen, or the prompt. */
enum beside { BESIDE_NOTHING, BESIDE_SCREEN, BESIDE_PROMPT };

/* How the screen thread serves the full screen or the prompt. All calls hold the screen lock. */
struct beside_duty {
    void (*begin)(struct session *s); /* called on the main thread; NULL: nothing to do */
    void (*end)(void);                /* called on the main thread; NULL: nothing to do */
    void (*drop)(void);               /* forget the text typed so far; NULL: nothing to do */
    bool (*serve)(
        struct session *s); /* handle keys and draw; returns true if it wants to be called again immediately */
};
void beside_duty_is(enum beside what, const struct beside_duty *duty);

/* Let the screen thread handle `what` from now on, if there is a real terminal. Returns what the thread handled before.
   Called by the main thread. */
enum beside beside_serve(struct session *s, enum beside what);
enum beside beside_served(void);

/* Lines that the user types while a command runs; they run after the command. beside_queue takes ownership of the line
   and returns false if too many lines wait. beside_next_line returns the oldest line, to be released with mem_free;
   NULL: none. */
bool beside_queue(char *line);
char *beside_next_line(void);
int beside_lines(void);
/* Was Ctrl-C pressed? If so, clear the interrupt flag and, like a shell, drop the lines typed ahead and the
   unfinished line. */
bool beside_interrupted(void);

/* Keys for the running work itself. The main thread handles them between two steps of the work. -1: no key. */
void beside_post(int key);
int beside_next_key(void);
/* Called by the main thread: let the screen thread work for up to 20 ms, or until a signal or a posted key arrives. */
void beside_wait(void);

#endif
