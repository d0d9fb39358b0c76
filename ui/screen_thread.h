/* The screen thread. While a command runs on the main thread, the screen thread handles keys and draws. It holds the
   screen lock (base/screen_lock.h) meanwhile, and the main thread holds it while it changes data that the screen thread
   reads, so that neither sees an unfinished change. */
#ifndef SCREEN_THREAD_H
#define SCREEN_THREAD_H

#include <stdbool.h>

struct session;

/* Does the screen thread serve nothing, the full screen, or the prompt? */
enum served { SERVED_NOTHING, SERVED_SCREEN, SERVED_PROMPT };

/* How the screen thread serves the full screen or the prompt. All calls hold the screen lock. */
struct screen_duty {
    void (*begin)(struct session *s); /* called on the main thread; NULL: nothing to do */
    void (*end)(void);                /* called on the main thread; NULL: nothing to do */
    void (*drop)(void);               /* forget the text typed so far; NULL: nothing to do */
    /* Handle keys and draw. Returns true if it wants to be called again immediately. */
    bool (*serve)(struct session *s);
};
void screen_thread_set_duty(enum served what, const struct screen_duty *duty);

/* Let the screen thread serve `what` from now on, if there is a real terminal. Returns the value before. Called by
   the main thread. */
enum served screen_thread_serve(struct session *s, enum served what);
enum served screen_thread_serves(void); /* the value now */

/* Lines that the user types while a command runs; they run after the command. typed_ahead_add takes ownership of the
   line and returns false if too many lines wait. typed_ahead_next returns the oldest line, to be released with
   mem_free; NULL: none. */
bool typed_ahead_add(char *line);
char *typed_ahead_next(void);
int typed_ahead_count(void);
/* Was Ctrl-C pressed? If so, clear the interrupt flag and, like a shell, drop the lines typed ahead and the
   unfinished line. */
bool work_interrupted(void);

/* Keys for the running work itself. The main thread handles them between two steps of the work. -1: no key. */
void work_key_post(int key);
int work_key_next(void);
/* Called by the main thread: let the screen thread work for up to 20 ms, or until a signal or a posted key arrives. */
void screen_thread_wait(void);

#endif
