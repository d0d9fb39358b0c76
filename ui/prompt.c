/* The prompt: readline with its callback interface, and completion. */
#include "prompt.h"
#include "background.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/words.h"
#include "command_palette.h"
#include "draw.h"
#include "language/complete.h"
#include "language/options.h"
#include "language/prompt_template.h"
#include "line_history.h"
#include "osc.h"
#include "paged.h"
#include "screen_thread.h"
#include "session/session.h"
#include "stage.h"
#include "term.h"
#include "terminal_window.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <readline/readline.h>

enum { PROMPT_ROOM = 1024 };

/* Static, because readline passes no user argument to callbacks. */
static struct session *session;
static char *taken;
static bool done;

/* ---- completion ---- */

struct completions {
    char **word;
    int n, next;
};

static void give(void *user, const char *word)
{
    struct completions *w = user;
    char **more = mem_resize(w->word, w->n + 1, sizeof *more, "completions", NULL);
    if (!more) return;
    w->word = more;
    if ((more[w->n] = mem_str(word, NULL))) w->n++;
}

/* Returns one word per call; readline frees it. */
static char *next_word(const char *text, int state)
{
    static struct completions words;
    if (!state) {
        while (words.next < words.n) mem_free(words.word[words.next++]);
        mem_free(words.word);
        words = (struct completions){0};
        complete(session, rl_line_buffer, (size_t)rl_point, give, &words);
    }
    return words.next < words.n ? words.word[words.next++] : NULL;
}

static char **matches(const char *text, int start, int end)
{
    rl_attempted_completion_over = 1;
    char **found = rl_completion_matches(text, next_word);
    /* After the name of a directory, completion continues with the files of the directory. */
    size_t n = found ? strlen(found[0]) : 0;
    if (n && found[0][n - 1] == '/') rl_completion_append_character = '\0';
    return found;
}

/* ---- lines ---- */

/* A shell that runs after this program may read its line with readline too. The unused character VEOL2 marks the
   terminal modes of this program, so that the guardian does not change the modes of that shell. */
static void prepare_marked(int meta)
{
    struct termios now;
    rl_prep_terminal(meta);
    if (tcgetattr(STDIN_FILENO, &now) || now.c_lflag & ICANON) return;
    now.c_cc[VEOL2] = 0xfe;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

/* Readline 8.2 crashes if a search of the history is ended by the first key of a sequence, such as Ctrl-X. Such a key
   only ends the search, as Ctrl-J does. */
static int safe_in_search(int byte)
{
    Keymap map = rl_get_keymap();
    bool search = RL_ISSTATE(RL_STATE_ISEARCH) && byte >= 0 && byte < KEYMAP_SIZE && byte != '\033';
    return search && map[byte].type == ISKMAP ? '\n' : byte;
}

static int byte_of(FILE *f)
{
    return safe_in_search(rl_getc(f));
}

/* ---- answers of the terminal to questions of a full screen that was left meanwhile ---- */

enum { ANSWER_MS = 50 }; /* the bytes of an answer arrive together */

static void skip_to(int first, int last)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    for (int key = 0; (key < first || key > last) && poll(&in, 1, ANSWER_MS) > 0;) key = rl_read_key();
}

static int skip_attributes(int count, int key)
{
    skip_to(0x40, 0x7e);
    return 0;
}

static int take_focus_in(int count, int key)
{
    osc_take_focus(true);
    return 0;
}

static int take_focus_out(int count, int key)
{
    osc_take_focus(false);
    return 0;
}

static int skip_string(int count, int key)
{
    skip_to('\\', '\\');
    return 0;
}

static void show_prompt_again(void);

/* The answer to the question for the background's colour, up to BEL or ESC \. */
static int take_background(int count, int key)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char text[40] = "11;";
    size_t n = strlen(text);
    for (key = 0; key != '\a' && key != '\\' && poll(&in, 1, ANSWER_MS) > 0;) {
        key = rl_read_key();
        if (key > ' ' && key < 0x7f && n + 1 < sizeof text) text[n++] = (char)key, text[n] = 0;
    }
    if (background_answer(text)) show_prompt_again();
    return 0;
}

static int ask_for_palette(int count, int key);

/* Alt-x and F1, as xterm, rxvt and the Linux console send it. Keys that the user's inputrc binds stay. */
static void bind_palette(void)
{
    static const char *const keys[] = {"\\ex", "\\eOP", "\\e[11~", "\\e[[A"};
    for (int i = 0; i < COUNT(keys); i++) rl_bind_keyseq_if_unbound(keys[i], ask_for_palette);
}

static void skip_answers(void)
{
    rl_bind_keyseq("\\e]11;", take_background);
    rl_bind_keyseq("\\e[I", take_focus_in);
    rl_bind_keyseq("\\e[O", take_focus_out);
    rl_bind_keyseq("\\e[?", skip_attributes);
    rl_bind_keyseq("\\e[6;", skip_attributes);
    rl_bind_keyseq("\\e_G", skip_string);
}

void prompt_open(struct session *s)
{
    if (session) return;
    session = s;
    rl_readline_name = "warpspy";
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_attempted_completion_function = matches;
    rl_prep_term_function = prepare_marked;
    rl_getc_function = byte_of;
    rl_completer_word_break_characters = " \t\n;\"'>|";
    line_history_open(s->out);
    rl_initialize();
    rl_variable_bind("enable-bracketed-paste", "off"); /* pasted lines run like typed lines */
    skip_answers();
    bind_palette();
}

void prompt_close(struct session *s)
{
    if (!session || s != session) return;
    session = NULL;
}

static void take(char *line)
{
    taken = line;
    done = true;
    rl_callback_handler_remove();
}

/* The prompt while it is written. Text that does not fit is left out. */
struct prompt_text {
    char text[PROMPT_ROOM];
    enum style style;
    enum colours colours;
};

/* \1 and \2 mark text of zero width for readline. */
static void add_text(struct prompt_text *p, enum style style, const char *text, size_t n)
{
    char escape[32] = "", more[PROMPT_ROOM];
    if (p->colours && style != p->style) style_escape(style, p->colours, escape, sizeof escape);
    snprintf(more, sizeof more, "%s%s%s%.*s", *escape ? "\1" : "", escape, *escape ? "\2" : "", (int)n, text);
    if (strlen(p->text) + strlen(more) + 32 < sizeof p->text) strcat(p->text, more);
    p->style = style;
}

/* The last character of the template and the blank that follows are plain, the name of the matrix is a title. */
static void write_prompt(const struct session *s, char out[PROMPT_ROOM])
{
    const char *value = option_value(s, OPTION_PROMPT), *at = strcmp(value, "default") ? value : prompt_default;
    struct prompt_text p = {.style = ST_PLAIN, .colours = s->plain ? COLOURS_NONE : colours_of_env(true)};
    struct prompt_piece piece;
    while (prompt_piece_next(s, &at, &piece)) {
        size_t n = strlen(piece.text);
        bool ends = piece.part == PART_TEXT && !*at && (unsigned char)piece.text[n - 1] < 0x80;
        add_text(&p, piece.part == PART_MATRIX ? ST_TITLE : ST_DIM, piece.text, n - ends);
        if (ends) add_text(&p, ST_PLAIN, piece.text + n - 1, 1);
    }
    add_text(&p, ST_PLAIN, " ", 1);
    memcpy(out, p.text, sizeof p.text);
}

/* Static, because readline passes no user argument to callbacks. */
static bool at_prompt; /* the prompt is that of write_prompt */

static bool palette_asked;

static int ask_for_palette(int count, int key)
{
    palette_asked = at_prompt;
    return 0;
}

/* The theme has changed: show the prompt in its new colours. */
static void show_prompt_again(void)
{
    char prompt[PROMPT_ROOM];
    if (!at_prompt) return;
    write_prompt(session, prompt);
    rl_clear_visible_line();
    rl_set_prompt(prompt);
    rl_on_new_line();
    rl_redisplay();
}

/* Empty the line. If a command waits for its byte, such as the one that Ctrl-Q inserts, it gets one first: readline 8.2
   would lose the memory of that command. */
static void abandon_line(void)
{
    static rl_command_func_t *const waiting[] = {rl_quoted_insert, rl_char_search, rl_backward_char_search};
    for (int i = 0; i < COUNT(waiting); i++)
        if (rl_last_func == waiting[i] && rl_stuff_char(' ')) rl_callback_read_char();
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_replace_line("", 0);
}

static void drop_line(void)
{
    rl_echo_signal_char(SIGINT);
    abandon_line();
    rl_crlf();
    rl_on_new_line();
    rl_redisplay();
}

/* Another program has used the terminal: set the modes of readline again. */
static void prepare_again(void)
{
    rl_deprep_term_function();
    rl_prep_term_function(1);
}

static void suspend(void)
{
    rl_deprep_term_function();
    term_stop();
    rl_prep_term_function(1);
    rl_forced_update_display();
}

/* ---- a line inside the full screen ---- */

enum { PROMPT_WORDS_MAX = 200 };

/* While a line is typed, readline reads these bytes and draws nothing. Readline's own functions are saved before and
   restored afterwards. */
static struct {
    unsigned char byte[16];
    int bytes, next;
    char *word[PROMPT_WORDS_MAX];
    int words;
    FILE *nowhere;
    rl_getc_func_t *getc;
    rl_voidfunc_t *redisplay, *deprep;
    rl_vintfunc_t *prep;
    FILE *stream;
} inner;

static void draw_nothing(void) {}

static void prepare_nothing(int meta) {}

static int bytes_wait(void)
{
    return inner.next < inner.bytes || term_typed();
}

/* In the middle of a key sequence, wait for the rest of the sequence. */
static int next_byte(FILE *f)
{
    if (inner.next < inner.bytes) return safe_in_search(inner.byte[inner.next++]);
    if (!term_is_open()) return EOF;
    for (;;) {
        int key = term_key(-1);
        if (key >= 0 && key < 0x100) return safe_in_search(key);
        if (key == UI_ESC || key == UI_INTERRUPT) return '\a';
    }
}

static void forget_words(void)
{
    while (inner.words) mem_free(inner.word[--inner.words]);
}

/* match[0] is the common prefix of all matches. */
static void keep_words(char **match, int n, int longest)
{
    forget_words();
    for (int i = 1; i <= n && inner.words < PROMPT_WORDS_MAX; i++)
        if ((inner.word[inner.words] = mem_str(match[i], NULL))) inner.words++;
}

bool line_open(struct session *s)
{
    prompt_open(s);
    if (!inner.nowhere && !(inner.nowhere = fopen("/dev/null", "we"))) return false;
    inner.getc = rl_getc_function;
    inner.redisplay = rl_redisplay_function;
    inner.prep = rl_prep_term_function;
    inner.deprep = rl_deprep_term_function;
    inner.stream = rl_outstream;
    rl_getc_function = next_byte;
    rl_redisplay_function = draw_nothing;
    rl_prep_term_function = prepare_nothing;
    rl_deprep_term_function = draw_nothing;
    rl_outstream = inner.nowhere;
    rl_input_available_hook = bytes_wait;
    rl_completion_display_matches_hook = keep_words;
    rl_completion_query_items = -1;
    done = false;
    taken = NULL;
    term_bytes(true);
    rl_callback_handler_install("", take);
    return true;
}

static void line_close(void)
{
    if (!done) rl_callback_handler_remove();
    rl_getc_function = inner.getc;
    rl_redisplay_function = inner.redisplay;
    rl_prep_term_function = inner.prep;
    rl_deprep_term_function = inner.deprep;
    rl_outstream = inner.stream;
    rl_input_available_hook = NULL;
    rl_completion_display_matches_hook = NULL;
    rl_completion_query_items = 100;
    forget_words();
    term_bytes(false);
}

/* The bytes of a key. Named keys use the sequences that every terminal sends. */
static void put_bytes(int key)
{
    static const struct {
        int key;
        const char *bytes;
    } table[] = {
        {UI_UP, "\033[A"},   {UI_DOWN, "\033[B"}, {UI_RIGHT, "\033[C"}, {UI_LEFT, "\033[D"},
        {UI_HOME, "\033[H"}, {UI_END, "\033[F"},  {UI_ENTER, "\r"},     {UI_TAB, "\t"},
    };
    inner.bytes = inner.next = 0;
    if (key < 0x100) inner.byte[inner.bytes++] = (unsigned char)key;
    for (int i = 0; i < COUNT(table); i++)
        for (const char *b = table[i].bytes; table[i].key == key && *b; b++)
            inner.byte[inner.bytes++] = (unsigned char)*b;
}

enum line line_key(int key)
{
    bool rubbed_out = (key == 0x7f || key == '\b') && rl_end == 0 && !RL_ISSTATE(RL_STATE_ISEARCH);
    if (key < 0 || key == UI_RESIZE) return LINE_ON;
    if (key == UI_ESC || key == UI_INTERRUPT || rubbed_out) {
        abandon_line();
        line_close();
        return LINE_LEFT;
    }
    forget_words();
    put_bytes(key);
    while (!done && inner.next < inner.bytes) rl_callback_read_char();
    if (!done) return LINE_ON;
    line_close();
    if (taken) line_history_keep(taken);
    return taken ? LINE_DONE : LINE_LEFT;
}

void line_insert(const char *text)
{
    rl_insert_text(text);
}

char *line_taken(void)
{
    return taken;
}

struct line_shown line_shown(void)
{
    const char *before = RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_NUMERICARG) ? rl_display_prompt : "";
    return (struct line_shown){before ? before : "", rl_line_buffer ? rl_line_buffer : "", rl_point, inner.word,
                               inner.words};
}

/* ---- the prompt while a command runs ---- */

/* Static, because readline passes no user argument to callbacks. */
static struct {
    bool shown;   /* the line is on the terminal */
    bool changed; /* the progress has changed since the line was drawn */
    bool ended;   /* Ctrl-D was pressed: the prompt ends after the command */
    char progress[100];
    char *typed; /* the unfinished line, for the prompt that follows; owned */
    int point;   /* its cursor */
    struct out *out;
} waiting;

static void beside_show(void)
{
    char prompt[200];
    snprintf(prompt, sizeof prompt, "[%s%s%.0d] ", *waiting.progress ? waiting.progress : "running",
             typed_ahead_count() ? "; waiting: " : "", typed_ahead_count());
    rl_set_prompt(prompt);
    rl_redisplay_function = rl_redisplay;
    if (!waiting.shown) rl_on_new_line();
    rl_redisplay();
    waiting.shown = true;
    waiting.changed = false;
}

void prompt_beside_hide(void)
{
    SCREEN_EDIT;
    if (!waiting.shown) return;
    rl_clear_visible_line();
    fflush(rl_outstream);
    rl_redisplay_function = draw_nothing;
    waiting.shown = false;
}

static void beside_progress(const char *text)
{
    SCREEN_EDIT;
    snprintf(waiting.progress, sizeof waiting.progress, "%s", text);
    waiting.changed = true;
}

static void beside_take(char *line)
{
    if (!line) {
        waiting.ended = true;
        return;
    }
    line_history_keep(line);
    if (line[strspn(line, " \t")])
        typed_ahead_add(line);
    else
        mem_free(line);
}

void prompt_beside_open(struct session *s)
{
    waiting.progress[0] = 0;
    waiting.shown = waiting.changed = false;
    rl_redisplay_function = draw_nothing;
    term_quiet(false); /* readline draws nothing if the terminal's echo is off when readline begins */
    rl_callback_handler_install("", beside_take);
    if (waiting.typed) rl_insert_text(waiting.typed);
    mem_free(waiting.typed);
    waiting.typed = NULL;
    waiting.out = s->out;
    out_progress_by(s->out, beside_progress, prompt_beside_hide);
    term_catch_stop(true);
}

void prompt_beside_close(void)
{
    prompt_beside_hide();
    waiting.typed = rl_end ? mem_str(rl_line_buffer, NULL) : NULL;
    waiting.point = rl_point;
    rl_callback_handler_remove();
    rl_redisplay_function = rl_redisplay;
    out_progress_by(waiting.out, NULL, NULL);
    term_quiet(true);
}

bool prompt_has_typed(void)
{
    return waiting.typed;
}

/* While the prompt is open beside a command, its line is kept when it closes. */
void prompt_offer(const char *text)
{
    SCREEN_EDIT;
    if (screen_thread_serves() == SERVED_PROMPT) {
        rl_replace_line(text, 1);
        rl_point = rl_end;
        return;
    }
    mem_free(waiting.typed);
    waiting.typed = mem_str(text, NULL);
    waiting.point = (int)strlen(text);
}

void prompt_beside_drop(void)
{
    rl_replace_line("", 0);
}

static void suspend_beside(void)
{
    prompt_beside_hide();
    rl_deprep_term_function();
    term_stop();
    rl_prep_term_function(1);
}

bool prompt_beside(struct session *s)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (term_stop_pressed()) suspend_beside();
    if (term_continued()) {
        prepare_again();
        waiting.shown = false;
        waiting.changed = true;
    }
    if (term_resized()) rl_resize_terminal();
    if (paged_is_late()) prompt_beside_hide(), paged_release();
    bool typed = false;
    for (; !waiting.ended && poll(&in, 1, 0) > 0 && in.revents & POLLIN; typed = true) {
        if (!waiting.shown) beside_show();
        rl_callback_read_char();
    }
    /* in the first QUIET_US of the command, the prompt is shown only if the user types */
    bool due = now_us() - s->began_us > QUIET_US && (waiting.changed || !waiting.shown) && *waiting.progress;
    if (due || typed) beside_show();
    return false;
}

/* Show the prompt, followed by the line that was typed while a command ran, as if the user had just typed the line. */
static char *line_waiting(const char *prompt)
{
    char *line = typed_ahead_next();
    if (!line) return NULL;
    char safe[LINE_LIMIT + 1];
    for (const char *p = prompt; *p; p++)
        if (*p != '\1' && *p != '\2') putchar(*p);
    printf("%s\n", print_safe(line, strlen(line), sizeof safe - 4, safe, sizeof safe));
    fflush(stdout);
    return line;
}

static void type_again(void)
{
    if (!waiting.typed) return;
    rl_insert_text(waiting.typed);
    rl_point = waiting.point;
    rl_redisplay();
    mem_free(waiting.typed);
    waiting.typed = NULL;
}

/* ---- at the prompt ---- */

static void give_up(void)
{
    rl_echo_signal_char(SIGINT);
    abandon_line();
    rl_callback_handler_remove();
    done = true;
}

/* Show the palette in place of the prompt, then the prompt again, with the chosen line. */
static void show_palette(void)
{
    char line[LINE_LIMIT + 1];
    struct palette p;
    bool runs = false;
    palette_asked = false;
    rl_clear_visible_line();
    fflush(rl_outstream);
    rl_deprep_term_function();
    bool chosen = palette_run(&p, session);
    if (chosen) palette_line(palette_choice(&p), line, sizeof line, &runs);
    palette_close(&p);
    rl_prep_term_function(1);
    term_catch_stop(true);
    if (term_resized()) rl_resize_terminal();
    if (chosen)
        rl_begin_undo_group(), rl_delete_text(0, rl_end), rl_point = 0, rl_insert_text(line), rl_end_undo_group();
    rl_on_new_line();
    rl_redisplay();
    if (runs && !rl_stuff_char('\r')) return;
    if (runs) rl_callback_read_char();
}

/* Read a line. Returns NULL at the end of input, and, if `leaves` is set, after Ctrl-C. */
static char *read_line(const char *prompt, bool leaves)
{
    done = false;
    taken = NULL;
    term_catch_stop(true);
    rl_callback_handler_install(prompt, take);
    type_again();
    term_guard();
    while (!done) {
        enum happened what = term_wait(-1);
        if (what == H_INPUT) rl_callback_read_char();
        if (palette_asked && !done) show_palette();
        if (what == H_INTERRUPT) leaves ? give_up() : drop_line();
        if (what == H_STOP) suspend();
        if (what == H_CONTINUE) prepare_again(), rl_forced_update_display();
        if (what == H_RESIZE) rl_resize_terminal();
    }
    term_catch_stop(false);
    return taken;
}

char *prompt_line(struct session *s)
{
    char prompt[PROMPT_ROOM];
    write_prompt(s, prompt);
    window_title(s);
    if ((taken = line_waiting(prompt))) return taken;
    if (waiting.ended) return puts(""), NULL;
    at_prompt = true;
    char *line = read_line(prompt, false);
    at_prompt = false;
    if (line)
        line_history_keep(taken);
    else
        puts("");
    return taken;
}

static char **no_matches(const char *text, int start, int end)
{
    rl_attempted_completion_over = 1;
    return NULL;
}

/* An answer is not a command, so there is no completion and no history. */
char *prompt_ask(struct session *s, const char *prompt)
{
    prompt_open(s);
    fflush(stdout);
    enum served before = screen_thread_serve(s, SERVED_NOTHING);
    paged_show(s);
    bool quiet = term_quiet(false);
    rl_attempted_completion_function = no_matches;
    char *line = line_waiting(prompt); /* typed while a command ran */
    if (!line) line = read_line(prompt, true);
    rl_attempted_completion_function = matches;
    if (!line) puts("");
    term_quiet(quiet);
    screen_thread_serve(s, before);
    return line;
}

/* ---- the end of a page ---- */

/* Read the first byte of a key, and drop the other bytes that the key sends. */
static bool key_goes_on(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte, more;
    ssize_t n = read(STDIN_FILENO, &byte, 1);
    while (n == 1 && byte == '\033' && poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &more, 1) == 1) continue;
    return n == 1 && byte != 'q' && byte != 4;
}

/* Readline sets the modes of the terminal and draws the text, but reads nothing. */
static bool wait_for_key(const char *prompt)
{
    enum happened what;
    term_catch_stop(true);
    rl_callback_handler_install(prompt, take);
    while ((what = term_wait(-1)) != H_INPUT && what != H_INTERRUPT) {
        if (what == H_STOP) suspend();
        if (what == H_RESIZE) rl_resize_terminal();
    }
    bool on = what == H_INPUT && key_goes_on();
    rl_clear_visible_line();
    fflush(rl_outstream);
    rl_callback_handler_remove();
    term_catch_stop(false);
    return on;
}

bool prompt_pause(struct session *s, const char *text)
{
    char prompt[400], dim[32] = "", plain[32] = "";
    enum colours colours = s->plain ? COLOURS_NONE : colours_of_env(true);
    if (colours) {
        style_escape(ST_DIM, colours, dim, sizeof dim);
        style_escape(ST_PLAIN, colours, plain, sizeof plain);
    }
    snprintf(prompt, sizeof prompt, "\1%s\2%s\1%s\2 ", dim, text, plain);
    prompt_open(s);
    fflush(stdout);
    enum served before = screen_thread_serve(s, SERVED_NOTHING);
    paged_show(s);
    bool quiet = term_quiet(false);
    bool on = wait_for_key(prompt);
    term_quiet(quiet);
    screen_thread_serve(s, before);
    return on;
}
