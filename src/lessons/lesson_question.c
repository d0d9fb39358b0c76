/* A question of a lesson: asks it at a terminal, finds its answer, judges what the reader typed, and keeps the
   score. */
#include "base/err.h"
#include "session/front.h"
#include "lesson.h"
#include "base/mem.h"
#include "session/session.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- the parts of a question ---- */

void question_free(struct question *q)
{
    mem_free(q->given);
    memset(q, 0, sizeof *q);
}

/* "  a  the longest row" */
static bool is_choice(const char *text)
{
    size_t n = strspn(text, " ");
    return n > 1 && islower((unsigned char)text[n]) && text[n + 1] == ' ';
}

bool question_add(struct question *q, const char *text, struct err *e)
{
    if (is_choice(text)) {
        if (q->nchoices == CHOICES_MOST) return fail(e, E_LIMIT, "a question has at most %d choices", CHOICES_MOST);
        snprintf(q->choice[q->nchoices++], sizeof q->choice[0], "%s", text + strspn(text, " "));
        return true;
    }
    text += strspn(text, " \t");
    size_t n = strlen(text);
    if (q->n + n + 2 > sizeof q->text)
        return fail(e, E_LIMIT, "the question is too long: at most %d bytes", QUESTION_MOST - 2);
    q->n += (size_t)snprintf(q->text + q->n, sizeof q->text - q->n, "%s%s", q->n && n ? " " : "", text);
    return true;
}

/* The choice that begins with this letter, or NULL. */
static const char *choice_of(const struct question *q, const char *letter)
{
    for (int i = 0; i < q->nchoices; i++)
        if (q->choice[i][0] == letter[0] && !letter[1]) return q->choice[i];
    return NULL;
}

bool question_answer(struct question *q, const char *text, int64_t line, struct err *e)
{
    if (q->nanswers == ANSWERS_MOST) return fail(e, E_LIMIT, "a question has at most %d answers", ANSWERS_MOST);
    struct answer *a = &q->answer[q->nanswers];
    char shown[64];
    if (!answer_read(a, text, e)) return false;
    a->line = line;
    q->nanswers++;
    answer_show(a, shown, sizeof shown);
    bool letter = !a->of && !a->number && q->nchoices && !shown[1];
    if (!letter || choice_of(q, shown)) return true;
    return fail(e, E_INPUT, "`%s` is not one of the question's choices", shown);
}

bool question_needs_it(const struct question *q)
{
    for (int i = 0; i < q->nanswers; i++)
        if (q->answer[i].of && !strcmp(q->answer[i].of, "it")) return true;
    return false;
}

/* ---- asking ---- */

/* Whether all answers are numbers. If all answers are numbers, typed text that is not a number is a typing error, not a
   wrong answer. */
static bool wants_number(const struct question *q)
{
    bool any = false;
    for (int i = 0; i < q->nanswers; i++) {
        const struct answer *a = &q->answer[i];
        bool number = a->number || (a->of && !isnan(a->slack));
        if (!number) return false;
        any = true;
    }
    return any;
}

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t")];
}

static bool can_ask(const struct session *s)
{
    const struct front *f = s->front;
    return s->interactive && f && f->ask && !f->covered && out_mode(s->out) == OUT_TEXT;
}

void question_ask(struct session *s, struct question *q, struct score *n)
{
    double number;
    const char *prompt = !q->nanswers ? "think, then Enter> " : question_needs_it(q) ? "your guess> " : "answer> ";
    q->asked = true;
    if (!can_ask(s)) return;
    if (!n->hinted) out_text(s->out, "(Press Enter to see the answer, Ctrl-C to quit the lesson.)");
    n->hinted = true;
    for (;;) {
        mem_free(q->given);
        q->given = s->front->ask(s, prompt);
        n->left = !q->given;
        if (n->left || is_blank(q->given) || !wants_number(q) || answer_number(q->given, &number)) return;
        out_text(s->out, "Type a number, or press Enter to see the answer.");
    }
}

/* ---- finding the answer ---- */

static bool compute(struct session *s, struct answer *a, struct capture *it, struct err *e)
{
    struct capture output = {0};
    bool is_it = !strcmp(a->of, "it");
    if (is_it && !it) return fail(e, E_INPUT, "an answer `of it` needs a command below the question");
    bool ok = is_it || capture_quietly(s, a->of, &output, e);
    cJSON *rows = ok ? capture_rows(is_it ? it : &output, e) : NULL;
    ok = rows && answer_compute(a, rows, e);
    cJSON_Delete(rows);
    capture_free(&output);
    return ok;
}

/* Check that the written answer is still true. */
static bool check(const struct question *q, struct err *e, int64_t *line)
{
    for (int i = 0; i < q->nanswers; i++)
        for (int j = 0; j < q->nanswers; j++) {
            const struct answer *a = &q->answer[i], *b = &q->answer[j];
            char text[256], found[256];
            if (a->of || !b->of || b->unknown || answer_agrees(a, b)) continue;
            *line = a->line;
            return fail(e, E_INPUT, "the answer is written as %s, but the program computes %s",
                        answer_show(a, text, sizeof text), answer_show(b, found, sizeof found));
        }
    return true;
}

static bool find_answer(struct session *s, struct question *q, struct capture *it, struct err *e)
{
    int64_t line = q->line;
    bool ok = true;
    for (int i = 0; i < q->nanswers && ok; i++) {
        line = q->answer[i].line;
        ok = !q->answer[i].of || compute(s, &q->answer[i], it, e);
    }
    ok = ok && check(q, e, &line);
    if (!ok && !*e->where) snprintf(e->where, sizeof e->where, "%.200s:%lld", s->script, (long long)line);
    return ok;
}

/* The answer that is shown: the computed answer if the question has one, otherwise its first answer. */
static const struct answer *shown_answer(const struct question *q)
{
    for (int i = 0; i < q->nanswers; i++)
        if (q->answer[i].of) return &q->answer[i];
    return q->nanswers ? &q->answer[0] : NULL;
}

/* ---- judging ---- */

static enum outcome judge(const struct question *q)
{
    if (!q->nanswers) return THOUGHT;
    if (shown_answer(q)->unknown) return UNKNOWN;
    if (!q->given) return SHOWN;
    if (is_blank(q->given)) return SKIPPED;
    for (int i = 0; i < q->nanswers; i++)
        if (answer_takes(&q->answer[i], q->given)) return RIGHT;
    return WRONG;
}

/* Compare a typed number with the answer. Writes, for example, " You said 60, which is 2.1 times the answer." to out;
   the result is "Close", "Far off", ... */
static const char *distance(double given, double value, char *out, size_t size)
{
    double ratio = given / value;
    if (given == value) return *out = 0, "Right";
    if (!(ratio > 0) || !isfinite(ratio)) {
        snprintf(out, size, " You said %.6g, which is %.4g too %s.", given, fabs(given - value),
                 given > value ? "much" : "little");
        return "Far off";
    }
    if (ratio > 0.5 && ratio < 2)
        snprintf(out, size, " You said %.6g, %.2g%% %s.", given, 100 * fabs(ratio - 1), ratio > 1 ? "more" : "less");
    else if (ratio >= 2)
        snprintf(out, size, " You said %.6g, which is %.3g times the answer.", given, ratio);
    else
        snprintf(out, size, " You said %.6g; the answer is %.3g times as much.", given, 1 / ratio);
    return fabs(ratio - 1) <= 0.1 ? "Close" : ratio >= 0.5 && ratio <= 2 ? "Not quite" : "Far off";
}

static void say(struct session *s, const struct question *q, enum outcome v)
{
    static const char *const heads[] = {
        [RIGHT] = "Right: ", [WRONG] = "Wrong: it is ", [SKIPPED] = "It is ", [SHOWN] = "Answer: "};
    const struct answer *a = shown_answer(q);
    char text[256], off[128] = "";
    double given;
    if (v == UNKNOWN) out_text(s->out, "The answer is not known on this device.");
    if (v == UNKNOWN || v == THOUGHT) return;
    answer_show(a, text, sizeof text);
    const char *choice = a->number ? NULL : choice_of(q, text), *near = NULL;
    if (v <= WRONG && a->number && answer_number(q->given, &given)) near = distance(given, a->value, off, sizeof off);
    if (v == WRONG && near)
        out_text(s->out, "%s: it is %s.%s", near, text, off);
    else
        out_text(s->out, "%s%s.%s", heads[v], choice ? choice : text, off);
}

/* JSON and CSV. */
static void say_row(struct session *s, const struct question *q, enum outcome v)
{
    static const char *const names[] = {"right", "wrong", "skipped", "shown", "unknown", "thought"};
    const struct answer *a = shown_answer(q);
    const char *choice[CHOICES_MOST];
    char text[256];
    bool known = a && !a->unknown;
    for (int i = 0; i < q->nchoices; i++) choice[i] = q->choice[i];
    if (out_mode(s->out) == OUT_TEXT) return;
    out_row(s->out);
    out_str(s->out, "kind", NULL, "question");
    out_str(s->out, "file", NULL, s->script);
    out_int(s->out, "line", NULL, q->line);
    out_str(s->out, "question", NULL, q->text);
    out_strs(s->out, "choices", q->nchoices, choice);
    out_str(s->out, "answer", NULL, known ? answer_show(a, text, sizeof text) : NULL);
    out_num(s->out, "value", NULL, known && a->number ? a->value : NAN, NULL);
    out_str(s->out, "verdict", NULL, names[v]);
}

bool question_settle(struct session *s, struct question *q, struct capture *it, struct score *n, struct err *e)
{
    if (q->settled) return true;
    q->settled = true;
    if (!find_answer(s, q, it, e)) return false;
    if (!q->asked) question_ask(s, q, n);
    if (n->left) return true;
    enum outcome v = judge(q);
    n->questions++;
    n->of[v]++;
    say(s, q, v);
    say_row(s, q, v);
    return out_end(s->out, e);
}

/* ---- at the end ---- */

static void say_score(struct out *o, const struct score *n)
{
    char unknown[64] = "";
    int asked = n->of[RIGHT] + n->of[WRONG] + n->of[SKIPPED];
    if (n->of[UNKNOWN]) snprintf(unknown, sizeof unknown, ", %d without an answer on this device", n->of[UNKNOWN]);
    out_text(o, "%s", n->left ? "You left the lesson; its matrices remain." : "");
    if (asked)
        out_text(o, "Questions: %d right, %d wrong, %d skipped%s.", n->of[RIGHT], n->of[WRONG], n->of[SKIPPED],
                 unknown);
    else if (n->of[SHOWN])
        out_text(o, "Questions: %d%s. At a terminal, the questions are interactive.", n->of[SHOWN] + n->of[UNKNOWN],
                 unknown);
}

void score_say(struct session *s, const struct score *n)
{
    if (!n->questions && !n->left) return;
    say_score(s->out, n);
    if (out_mode(s->out) == OUT_TEXT) return;
    out_row(s->out);
    out_str(s->out, "kind", NULL, "score");
    out_str(s->out, "file", NULL, s->script);
    out_int(s->out, "questions", NULL, n->questions - n->of[THOUGHT]);
    out_int(s->out, "right", NULL, n->of[RIGHT]);
    out_int(s->out, "wrong", NULL, n->of[WRONG]);
    out_int(s->out, "skipped", NULL, n->of[SKIPPED]);
    out_int(s->out, "shown", NULL, n->of[SHOWN]);
    out_int(s->out, "unknown", NULL, n->of[UNKNOWN]);
}
