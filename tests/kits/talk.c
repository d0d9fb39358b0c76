/* Sessions whose output is kept in memory. */
#include "talk.h"
#include "language/run_lines.h"
#include "session/front.h"
#include "ui/run.h"

void talk_open(struct talk *t, enum out_mode mode)
{
    struct err e = {0};
    memset(t, 0, sizeof *t);
    t->data = open_memstream(&t->all_out, &t->nout);
    t->messages = open_memstream(&t->all_err, &t->nerr);
    assert_true(t->data && t->messages && session_new(&t->s, t->data, t->messages, mode, &e));
    t->s.batch = true;
}

void talk_close(struct talk *t)
{
    session_free(&t->s);
    fclose(t->data);
    fclose(t->messages);
    free(t->all_out);
    free(t->all_err);
}

void talk_open_screen(struct talk *t)
{
    struct err e = {0};
    talk_open(t, OUT_TEXT);
    assert_true(ui_attach(&t->s, &e));
    t->s.front->ascii = false;
}

void talk_close_screen(struct talk *t)
{
    ui_detach(&t->s);
    talk_close(t);
}

void talk_forget(struct talk *t)
{
    talk_refresh(t);
    t->old_out = t->nout;
    t->old_err = t->nerr;
}

void talk_refresh(struct talk *t)
{
    fflush(t->data);
    fflush(t->messages);
    t->out = t->all_out + t->old_out;
    t->err = t->all_err + t->old_err;
}

bool talk_line(struct talk *t, const char *line)
{
    talk_forget(t);
    bool ok = run_line(&t->s, line);
    talk_refresh(t);
    return ok;
}

void talk_says(struct talk *t, const char *line, const char *part)
{
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    if (!strstr(t->out, part)) fail_msg("%s: expected `%s` in: %s", line, part, t->out);
}

void talk_refuses(struct talk *t, const char *line, const char *part)
{
    talk_forget(t);
    assert_false(talk_line(t, line));
    if (!strstr(t->err, part)) fail_msg("%s: expected `%s` in: %s", line, part, t->err);
}
