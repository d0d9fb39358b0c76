/* A question of a lesson: asks it at a terminal, finds its answer, judges what the reader typed, and keeps the
   score. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "lesson.h"
#include "session/front.h"
#include "session/session.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- the parts of a question ---- */

void question_free(struct question *q)
{
    for (int i = 0; i < q->tries; i++) mem_free(q->given[i]);
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
        if (q->nchoices == CHOICES_MAX) return fail(e, E_LIMIT, "a question has at most %d choices", CHOICES_MAX);
        snprintf(q->choice[q->nchoices++], sizeof q->choice[0], "%s", text + strspn(text, " "));
        return true;
    }
    text += strspn(text, " \t");
    size_t n = strlen(text);
    if (q->n + n + 2 > sizeof q->text)
        return fail(e, E_LIMIT, "the question is too long: at most %d bytes", QUESTION_MAX - 2);
    q->n += (size_t)snprintf(q->text + q->n, sizeof q->text - q->n, "%s%s", q->n && n ? " " : "", text);
    return true;
}

bool question_hint(struct question *q, const char *text, struct err *e)
{
    size_t n = strlen(q->hint);
    text += strspn(text, " \t");
    int more = snprintf(q->hint + n, sizeof q->hint - n, "%s%s", n ? " " : "", text);
    return n + (size_t)more < sizeof q->hint ||
           fail(e, E_LIMIT, "the hint is too long: at most %d bytes", HINT_MAX - 1);
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
    if (q->nanswers == ANSWERS_MAX) return fail(e, E_LIMIT, "a question has at most %d answers", ANSWERS_MAX);
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

bool question_runs_commands(const struct question *q)
{
    for (int i = 0; i < q->nanswers; i++)
        if (q->answer[i].of && strcmp(q->answer[i].of, "it")) return true;
    return false;
}

/* ---- finding the answer ---- */

static bool compute(struct session *s, struct answer *a, struct capture *it, struct err *e)
{
    struct capture output = {0};
    bool is_it = !strcmp(a->of, "it");
    if (is_it && !it) return fail(e, E_INPUT, "an answer `of it` needs a command below the question, or a table");
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

bool question_find(struct session *s, struct question *q, struct capture *it, struct err *e)
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

/* The answer that is shown: the computed answer if the question has one, otherwise the first answer of the question. */
static const struct answer *shown_answer(const struct question *q)
{
    for (int i = 0; i < q->nanswers; i++)
        if (q->answer[i].of) return &q->answer[i];
    return q->nanswers ? &q->answer[0] : NULL;
}

/* ---- judging ---- */

static const char *last_given(const struct question *q)
{
    return q->tries ? q->given[q->tries - 1] : NULL;
}

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t")];
}

static bool is_right(const struct question *q, const char *given)
{
    for (int i = 0; i < q->nanswers; i++)
        if (answer_takes(&q->answer[i], given)) return true;
    return false;
}

/* Without an answer, the first try skips the question; the second try counts as a wrong answer. */
static enum outcome judge(const struct question *q)
{
    if (!q->nanswers) return THOUGHT;
    if (shown_answer(q)->unknown) return UNKNOWN;
    if (!q->tries) return SHOWN;
    if (q->tries == 1 && is_blank(q->given[0])) return SKIPPED;
    return is_right(q, last_given(q)) ? RIGHT : WRONG;
}

/* ---- asking ---- */

/* Whether all answers are numbers. If all answers are numbers, typed text that is not a number is a typing error, not a
   wrong answer. */
static bool wants_number(const struct question *q)
{
    for (int i = 0; i < q->nanswers; i++)
        if (!q->answer[i].number) return false;
    return q->nanswers > 0;
}

bool question_can_ask(const struct session *s)
{
    const struct front *f = s->front;
    return s->interactive && f && f->ask && !f->covered && out_mode(s->out) == OUT_TEXT && !out_is_redirected(s->out);
}

/* Is the ratio a typical factor between two units, such as 1000 or 1024? */
static bool off_by_unit(double ratio)
{
    static const double factors[] = {8, 100, 1000, 1024, 1e6, 1048576, 1e9};
    for (int i = 0; i < COUNT(factors); i++)
        if (fabs(ratio / factors[i] - 1) < 0.02 || fabs(ratio * factors[i] - 1) < 0.02) return true;
    return false;
}

/* What is wrong with the answer: "250 is too small". */
static void say_fault(struct session *s, const struct question *q, const char *given)
{
    const struct answer *a = shown_answer(q);
    double v;
    if (!a->number || !answer_number(given, &v)) {
        const char *choice = choice_of(q, given + strspn(given, " "));
        out_text(s->out, "Not %s.", choice ? choice : given);
        return;
    }
    const char *which = v > a->value ? "large" : "small";
    bool unit = off_by_unit(v / a->value);
    out_text(s->out, "Not %.6g: that is too %s.%s", v, which, unit ? " Check the unit." : "");
}

/* Is this a command that ends the program? In a question, it leaves the lesson instead. */
static bool wants_to_leave(const char *line)
{
    return !strcmp(line, "quit") || !strcmp(line, "exit");
}

/* Is the line an answer, or `show`, which becomes an empty answer? Enter alone is neither, because it may have been
   meant for a page of text; at a question without answers, it goes on. */
static bool is_answer(const struct question *q, char *line)
{
    double number;
    if (!q->nanswers) return true;
    if (!strcmp(line, "show")) return *line = 0, true;
    return !is_blank(line) && (!wants_number(q) || answer_number(line, &number));
}

/* Read an answer. Returns false if the reader left. */
static bool read_answer(struct session *s, struct question *q, const char *prompt, int *lines)
{
    for (;; ++*lines) {
        char *line = s->front->ask(s, prompt);
        ++*lines;
        if (!line) return false;
        if (wants_to_leave(line)) return mem_free(line), false;
        if (is_answer(q, line)) return q->given[q->tries++] = line, true;
        mem_free(line);
        out_text(s->out, "Type %s, or `show` to see the answer.",
                 wants_number(q) ? "a number"
                 : q->nchoices   ? "a letter"
                                 : "an answer");
    }
}

static int lines_of(const struct session *s, const char *text)
{
    int columns = out_columns(s->out);
    return columns ? text_width(text) / columns + 1 : 1;
}

/* A wrong answer deserves a second try, unless the right answer is not known on this device. */
static bool deserves_hint(const struct question *q)
{
    return q->nanswers && !shown_answer(q)->unknown && !is_blank(last_given(q)) && !is_right(q, last_given(q));
}

int question_ask(struct session *s, struct question *q, struct score *n)
{
    const char *prompt = !q->nanswers ? "think, then Enter> " : question_needs_it(q) ? "your guess> " : "answer> ";
    int lines = 0;
    if (!n->hinted) out_text(s->out, "(`show` shows the answer, Ctrl-C quits the lesson.)"), lines++;
    n->hinted = true;
    n->left = !read_answer(s, q, prompt, &lines);
    if (n->left || !deserves_hint(q)) return lines;
    say_fault(s, q, last_given(q));
    if (*q->hint) out_text(s->out, "Hint: %s", q->hint);
    lines += 1 + (*q->hint ? lines_of(s, q->hint) : 0);
    n->left = !read_answer(s, q, "second try> ", &lines);
    return lines;
}

/* ---- the result ---- */

/* Compare a typed number with the answer. Writes, for example, " You said 60, which is 2.1 times the answer." to out,
   and returns "Close", "Far off", ... */
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
    if (v <= WRONG && a->number && answer_number(last_given(q), &given))
        near = distance(given, a->value, off, sizeof off);
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
    const char *choice[CHOICES_MAX];
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

void score_add(struct score *n, enum outcome v, int tries)
{
    n->questions++;
    n->of[v]++;
    n->second += v == RIGHT && tries > 1;
}

void question_say(struct session *s, struct question *q, struct score *n)
{
    q->outcome = judge(q);
    score_add(n, q->outcome, q->tries);
    say(s, q, q->outcome);
    say_row(s, q, q->outcome);
}

void question_reply(const struct question *q, struct reply *r)
{
    const struct answer *a = shown_answer(q);
    *r = (struct reply){.outcome = q->outcome, .tries = q->tries};
    snprintf(r->asked, sizeof r->asked, "%.*s", (int)sizeof r->asked - 1, q->text);
    for (int i = 0; i < q->tries; i++) snprintf(r->said[i], sizeof r->said[i], "%s", q->given[i]);
    if (a && !a->unknown) answer_show(a, r->answer, sizeof r->answer);
}

/* ---- at the end ---- */

static void say_score(struct out *o, const struct score *n)
{
    char unknown[64] = "", open[32] = "", second[48] = "";
    if (n->second) snprintf(second, sizeof second, ", %d of them on the second try", n->second);
    int asked = n->of[RIGHT] + n->of[WRONG] + n->of[SKIPPED];
    if (n->of[UNKNOWN]) snprintf(unknown, sizeof unknown, ", %d without an answer on this device", n->of[UNKNOWN]);
    if (n->of[THOUGHT]) snprintf(open, sizeof open, ", %d to think about", n->of[THOUGHT]);
    out_text(o, "%s", n->left ? "You left the lesson; its matrices remain." : "");
    if (asked)
        out_text(o, "Questions: %d right%s, %d wrong, %d skipped%s%s.", n->of[RIGHT], second, n->of[WRONG],
                 n->of[SKIPPED], unknown, open);
    else if (n->of[SHOWN])
        out_text(o, "Questions: %d%s%s. At a terminal, the questions are interactive.", n->questions, unknown, open);
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
