/* The keys common to all views: answers to questions, row numbers, help, and the shared cursor. */
#include "ui/explore.h"
#include "ui/screen.h"
#include "ui/screen_private.h"
#include "ui/term.h"

#include <string.h>

/* Is the cursor of v somewhere else than the shared cursor, and can it move there? */
static bool can_follow(struct session *s, const struct view *v)
{
    const struct screen *sc = screen_of(s);
    const struct view_state *st = screen_view_state(s, v);
    int64_t row = -1, col = -1;
    if (!v->at || !v->go || !s->current || !view_has_matrix(v, s, NULL) || sc->cursor_of != s->current) return false;
    if (sc->cursor_row >= st->rows || sc->cursor_col >= st->cols) return false;
    if (!v->at(s, st, &row, &col) || row != sc->cursor_row) return true;
    return col >= 0 && sc->cursor_col >= 0 && col != sc->cursor_col;
}

/* Returns false if the view has no place for the cursor; its message then says why. */
static bool follow(struct session *s, const struct view *v)
{
    const struct screen *sc = screen_of(s);
    struct view_state *st = screen_view_state(s, v);
    if (v->go(s, st, sc->cursor_row, sc->cursor_col)) return true;
    return sc->cursor_col >= 0 && v->go(s, st, sc->cursor_row, -1);
}

void cursor_follow(struct session *s, const struct view *v)
{
    struct view_state *st = screen_view_state(s, v);
    char before[sizeof st->message];
    if (!can_follow(s, v)) return;
    memcpy(before, st->message, sizeof before);
    follow(s, v);
    memcpy(st->message, before,
           sizeof before); /* drop the message of `go`, because the user did not request this move */
}

bool cursor_follow_beside(struct session *s, const struct view *v)
{
    struct view_state *st = screen_view_state(s, v);
    bool spoke = st->message[0];
    if (st->typing) return false;
    st->message[0] = 0;
    if (!can_follow(s, v)) return spoke;
    if (follow(s, v)) st->message[0] = 0;
    return true;
}

/* Move the cursors of the other visible panes to the shared cursor. */
static void move_others(struct session *s, const struct view *by)
{
    const struct view *shown[PANES_MAX];
    if (!screen_explorer(s)->on) return;
    for (int i = 0, n = explorer_visible(s, shown); i < n; i++)
        if (shown[i] != by && explorer_is_valid(s, shown[i]) && cursor_follow_beside(s, shown[i]))
            explorer_stale(s, shown[i]);
}

void cursor_publish(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    int64_t row = -1, col = -1;
    if (!v->at || !s->current || !view_has_matrix(v, s, NULL) || !v->at(s, screen_view_state(s, v), &row, &col)) return;
    if (col >= 0 || sc->cursor_of != s->current) sc->cursor_col = col;
    sc->cursor_row = row;
    sc->cursor_of = s->current;
    move_others(s, v);
}

/* Go to the typed "ROW [COLUMN]", or show why that is impossible. */
static void go_there(struct session *s, const struct view *v, struct view_state *st)
{
    long long row = -1, col = -1;
    char end;
    int n = sscanf(st->typed, "%lld %lld %c", &row, &col, &end);
    st->message[0] = 0;
    if (n < 1 || n > 2)
        snprintf(st->message, sizeof st->message,
                 "this is not a row number; type a row and optionally a column, such as 12 7");
    else if (row < 0 || row >= st->rows || (n == 2 && (col < 0 || col >= st->cols)))
        snprintf(st->message, sizeof st->message, "outside the matrix: rows are 0 to %lld, columns 0 to %lld",
                 (long long)st->rows - 1, (long long)st->cols - 1);
    else if (!v->go(s, st, row, n == 2 ? col : -1) && !st->message[0])
        snprintf(st->message, sizeof st->message, "nothing is stored there");
}

/* Can the key be part of a row number, or of an answer? */
static bool can_type(const struct view_state *st, int key)
{
    return st->question[0] ? key > ' ' && key < 0x7f : (key >= '0' && key <= '9') || key == ' ';
}

/* Handle a key while the user types a line. */
static void take_line(struct session *s, const struct view *v, struct view_state *st, int key)
{
    size_t n = strlen(st->typed);
    if (can_type(st, key) && n + 1 < sizeof st->typed) {
        st->typed[n] = (char)key;
        st->typed[n + 1] = 0;
    } else if ((key == 0x7f || key == '\b') && n) {
        st->typed[n - 1] = 0;
    } else if (key == UI_ENTER || key == UI_ESC || key == UI_INTERRUPT) {
        st->typing = false;
        if (key == UI_ENTER && n) st->question[0] ? v->answer(s, st) : go_there(s, v, st);
    }
}

static bool has_work(const struct session *s, const struct view *v)
{
    return v->is_running && v->is_running(s);
}

/* The key x never leaves a view, so it does no harm if the user presses it just after the work has ended. */
static void say_nothing_runs(struct view_state *st)
{
    snprintf(st->message, sizeof st->message, "nothing runs in this view that x could stop; q leaves");
}

bool view_key(struct session *s, const struct view *v, int key)
{
    struct view_state *st = screen_view_state(s, v);
    if (st->typing) return take_line(s, v, st, key), cursor_publish(s, v), true;
    if (key == '?') return st->help = !st->help, true;
    if (st->help && key != UI_RESIZE && key >= 0) return st->help = false, true;
    if (key == 'q' || key == UI_ESC || key == UI_INTERRUPT) return false;
    if (key >= 0 && key != UI_RESIZE) st->message[0] = 0;
    if (key == 'x' && !has_work(s, v)) return say_nothing_runs(st), true;
    st->typing = v->go && (key == '/');
    st->typed[0] = st->question[0] = 0;
    if (v->key && !st->typing) v->key(s, st, key);
    cursor_publish(s, v);
    return true;
}
