/* puzzle: a kernel with a gap, which the user fills in, and goals that the emulator checks. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/suggest.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "language/args.h"
#include "lesson_sheet.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "microscope/model.h"
#include "puzzle.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/lesson_files.h"
#include "session/matrix.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The line that begins a file that `puzzle NAME` writes; `puzzle check FILE` finds the puzzle by it. */
static const char marker[] = "// warpspy puzzle: ";

struct playing {
    struct session *session;
    struct puzzle puzzle;
    struct progress_list progress;
    struct puzzle_progress none, *mine; /* mine: the progress in `puzzle`, or none */
    struct judged judged;
};

/* ---- progress ---- */

static void find_progress(struct playing *g)
{
    g->mine = progress_of(&g->progress, &g->puzzle);
    if (!g->mine) g->mine = &g->none;
}

/* A failure is a remark only: the puzzle works without the file. */
static void keep_progress(struct playing *g)
{
    struct err why = {0};
    snprintf(g->progress.current, sizeof g->progress.current, "%s", g->puzzle.name);
    if (!progress_save(g->progress.current, g->mine, &why))
        out_note(g->session->out, "Your progress is not kept: %s", why.text);
}

/* "solved", "2 failed, 1 hint" */
static const char *done_text(const struct puzzle_progress *p, char *out, size_t size)
{
    snprintf(out, size, "%s", p->solved ? "solved" : p->shown ? "solution seen" : "");
    if (!p->solved && !p->shown && p->failed) text_append(out, size, "%d failed", p->failed);
    if (p->hints) text_append(out, size, "%s%s", *out ? ", " : "", how_many(p->hints, "hint").text);
    return out;
}

/* ---- the list ---- */

struct listing {
    struct playing *g;
    int n, solved;
};

static bool list_one(void *user, const struct puzzle *p, struct err *e)
{
    struct listing *l = user;
    struct out *o = l->g->session->out;
    const struct puzzle_progress *mine = progress_of(&l->g->progress, p);
    char done[80];
    if (!mine) mine = &l->g->none;
    l->n++;
    l->solved += mine->solved;
    out_row(o);
    out_str(o, "kind", NULL, "puzzle");
    out_int(o, "place", "", p->place);
    out_str(o, "puzzle", "puzzle", p->name);
    out_str(o, "about", "about", p->about);
    out_str(o, "format", NULL, p->format->name);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "done", done_text(mine, done, sizeof done));
    out_bool(o, "solved", NULL, mine->solved);
    out_int(o, "failed", NULL, mine->failed);
    out_int(o, "hints", NULL, mine->hints);
    out_bool(o, "solution_shown", NULL, mine->shown);
    return true;
}

static bool list_puzzles(struct playing *g, struct err *e)
{
    struct listing l = {.g = g};
    struct err broken = {0};
    struct out *o = g->session->out;
    if (!puzzle_each(list_one, &l, &broken, e)) return false;
    if (broken.code) out_note(o, "%s: %s", broken.where, broken.text);
    if (!l.n) return fail(e, E_INPUT, "no puzzles are installed: run `make install`");
    out_text(o, "%d of %d solved. `puzzle 1` or `puzzle NAME` begins one, `puzzle check` checks your file.", l.solved,
             l.n);
    return true;
}

/* ---- which puzzle ---- */

static bool no_puzzle(const char *word, struct err *e)
{
    struct suggest near = suggest_for(word);
    struct message t = {0};
    library_list(LIBRARY_PUZZLES, suggest_offer, &near);
    message_add(&t, "there is no puzzle ");
    message_quote(&t, word);
    message_near(&t, &near);
    return fail(e, E_USAGE, "%s; `puzzle` lists the puzzles", t.text);
}

static bool open_named(struct playing *g, const char *word, struct err *e)
{
    if (!puzzle_named(word, &g->puzzle, e)) return (e && e->code) ? false : no_puzzle(word, e);
    find_progress(g);
    return true;
}

/* The puzzle that the word names; without a word, the one that was shown last. */
static bool open_puzzle(struct playing *g, const char *word, struct err *e)
{
    if (word) return open_named(g, word, e);
    if (!*g->progress.current)
        return fail(e, E_USAGE, "which puzzle? `puzzle` lists the puzzles, `puzzle 1` begins one");
    return open_named(g, g->progress.current, e);
}

/* The name in the file's first line; empty: there is none. */
static void name_in_file(const char *path, char *name, size_t size)
{
    char line[200] = "";
    FILE *f = fopen(path, "r");
    *name = 0;
    if (!f) return;
    if (fgets(line, sizeof line, f) && !strncmp(line, marker, strlen(marker)))
        snprintf(name, size, "%.*s", (int)strcspn(line + strlen(marker), ";\r\n"), line + strlen(marker));
    fclose(f);
}

/* The file to check and its puzzle, from what the user typed: a puzzle, a file, or nothing. */
static bool find_file(struct playing *g, const char *word, char *file, size_t size, struct err *e)
{
    char path[PATH_MAX], name[sizeof g->puzzle.name], stem[64];
    bool is_file = word && (strpbrk(word, "/.") || (!access(word, F_OK) && !puzzle_named(word, &g->puzzle, NULL)));
    if (!is_file) {
        if (!open_puzzle(g, word, e)) return false;
        return snprintf(file, size, "%s.cu", g->puzzle.name) < (int)size;
    }
    snprintf(file, size, "%s", word);
    if (!session_path(g->session, file, path, sizeof path, e)) return false;
    if (access(path, F_OK)) return fail_at(e, E_IO, word, "cannot open: %s", strerror(errno));
    name_in_file(path, name, sizeof name);
    if (*name) return open_named(g, name, e);
    const char *base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(base, "."), base);
    if (puzzle_named(stem, &g->puzzle, NULL)) return find_progress(g), true;
    return open_puzzle(g, NULL, e);
}

/* ---- showing a puzzle ---- */

/* The matrix is in the session, so that the user can look at it and trace kernels on it. */
static bool put_matrix(struct playing *g, struct err *e)
{
    struct session *s = g->session;
    const struct puzzle *p = &g->puzzle;
    for (const struct matrix *m = s->matrices; m; m = m->next)
        if (!strcmp(m->name, p->name)) return true;
    struct csr A = {0};
    if (!puzzle_matrix(p, &s->watch, &A, e)) return false;
    struct load_info info = {.field = "real", .symmetry = "general", .object = "matrix", .nnz_stored = A.nnz};
    snprintf(info.file, sizeof info.file, "%s", p->generator->name);
    bool ok = session_add(s, p->name, &A, &info, e);
    csr_free(&A);
    if (ok) s->current->lesson = true;
    return ok;
}

/* Write the kernel with the gap, unless the file exists. */
static bool write_kernel(struct playing *g, const char *file, bool force, bool *written, struct err *e)
{
    const struct puzzle *p = &g->puzzle;
    char path[PATH_MAX], head[200];
    struct newfile f;
    *written = false;
    if (!session_path(g->session, file, path, sizeof path, e)) return false;
    if (!force && !access(path, F_OK)) return true;
    int n = snprintf(head, sizeof head, "%s%s; `puzzle check` checks this file\n", marker, p->name);
    bool ok = newfile_open(&f, path, force, e) && newfile_write(&f, head, n, e) &&
              newfile_write(&f, p->kernel, (int64_t)strlen(p->kernel), e);
    return *written = newfile_close(&f, ok, e);
}

static void out_goal(struct out *o, const char *name, const char *about, const char *limit)
{
    out_row(o);
    out_str(o, "kind", NULL, "goal");
    out_str(o, "goal", NULL, name);
    out_str(o, "about", "goal", about);
    out_str(o, "needed", "needed", limit);
}

static void out_task(struct out *o, const struct puzzle *p, const char *file, bool written)
{
    out_record(o);
    out_str(o, "kind", NULL, "task");
    out_str(o, "puzzle", NULL, p->name);
    out_int(o, "place", NULL, p->place);
    out_str(o, "title", NULL, p->title);
    out_str(o, "text", NULL, p->prose);
    out_str(o, "matrix", NULL, p->matrix);
    out_str(o, "format", NULL, p->format->name);
    out_str(o, "file", NULL, file);
    out_bool(o, "written", NULL, written);
    out_int(o, "hints", NULL, p->nhints);
}

static void say_task(struct out *o, const struct puzzle *p)
{
    char place[24] = "";
    if (p->place) snprintf(place, sizeof place, "Puzzle %d: ", p->place);
    out_text(o, "%s%s", place, p->title);
    out_text(o, "%s", "");
    out_prose(o, p->prose);
    out_text(o, "%s", "");
}

static void say_file(struct out *o, const char *file, bool given, bool written)
{
    char safe[200];
    print_safe(file, strlen(file), 150, safe, sizeof safe);
    const char *of = given ? safe : "", *blank = given ? " " : "";
    if (written)
        out_text(o, "Fill the gap in %s, then `puzzle check%s%s`; `puzzle hint` gives a hint.", safe, blank, of);
    else
        out_text(o, "%s exists and was kept (`force` replaces it); `puzzle check%s%s` checks it.", safe, blank, of);
}

static bool show_puzzle(struct playing *g, const char *as, bool force, struct err *e)
{
    const struct puzzle *p = &g->puzzle;
    struct out *o = g->session->out;
    char limit[48], about[GOAL_BYTES], file[PATH_MAX];
    bool written;
    snprintf(file, sizeof file, "%s%s", as ? as : p->name, as ? "" : ".cu");
    if (!put_matrix(g, e) || !write_kernel(g, file, force, &written, e)) return false;
    keep_progress(g);
    if (out_mode(o) == OUT_TEXT)
        say_task(o, p);
    else
        out_task(o, p, file, written);
    out_goal(o, "right", "right result", "yes");
    out_goal(o, "races", "no race", "yes");
    for (int i = 0; i < p->ngoals; i++)
        out_goal(o, p->goal[i].of->name, goal_quantity_about(p->goal[i].of, about, sizeof about),
                 goal_limit(&p->goal[i], limit, sizeof limit));
    if (!out_flush(o, e)) return false;
    out_text(o, "Matrix: %s (gen %s), format %s.", p->name, p->matrix, p->format->name);
    say_file(o, file, as != NULL, written);
    return true;
}

/* ---- a check ---- */

static void out_result(struct out *o, const char *name, const char *about, const char *limit, bool known, bool passed,
                       const char *shown, double counted)
{
    out_row(o);
    out_str(o, "kind", NULL, "goal");
    out_str(o, "goal", NULL, name);
    out_str(o, "about", "goal", about);
    out_str(o, "needed", "needed", limit);
    if (out_mode(o) == OUT_TEXT) {
        out_str(o, NULL, "counted", known ? shown : "-");
        out_str(o, NULL, "", !known ? "not known" : passed ? "passed" : "MISSED");
        return;
    }
    out_num(o, "counted", NULL, known ? counted : NAN, NULL);
    out_bool(o, "known", NULL, known);
    out_bool(o, "passed", NULL, passed);
}

static void out_goal_result(struct out *o, const struct goal *g, const struct goal_result *r)
{
    char limit[48], shown[40], needed[80], about[GOAL_BYTES];
    if (r->known && !goal_quantity_is_integer(g->of))
        snprintf(shown, sizeof shown, "%.2f", r->counted);
    else if (r->known)
        show_count((int64_t)r->counted, shown, sizeof shown);
    snprintf(needed, sizeof needed, "%s", goal_limit(g, limit, sizeof limit));
    if (g->than && r->known) text_append(needed, sizeof needed, " (%.2f)", r->limit);
    out_result(o, g->of->name, goal_quantity_about(g->of, about, sizeof about), needed, r->known, r->passed,
               r->known ? shown : "-", r->counted);
}

static void out_results(struct out *o, const struct puzzle *p, const struct judged *j)
{
    const struct lab_report *r = &j->report;
    bool ran = j->kernel && r->ran;
    out_result(o, "right", "right result", "yes", ran, ran && r->correct, r->correct ? "yes" : "no", r->correct);
    out_result(o, "races", "no race", "yes", ran, ran && !r->race, r->race ? "no" : "yes", r->race);
    for (int i = 0; i < p->ngoals; i++) out_goal_result(o, &p->goal[i], &j->goal[i]);
    if (*j->counted_as) out_text(o, "The requests are counted %s.", j->counted_as);
}

/* The line of the user's file that is to be corrected. */
static void show_line(struct out *o, const struct lab_fault *f)
{
    char file[128], safe[300];
    int length;
    if (!f->line) return;
    snprintf(file, sizeof file, "%.*s", (int)strcspn(f->where, ":"), f->where);
    const char *line = kernel_source_line(file, f->line, &length);
    if (line) out_text(o, "  > %d  %s", f->line, print_safe(line, (size_t)length, 200, safe, sizeof safe));
}

static void out_check(struct playing *g, const char *file)
{
    const struct judged *j = &g->judged;
    const struct lab_fault *f = &j->fix;
    struct out *o = g->session->out;
    if (out_mode(o) == OUT_TEXT) return;
    out_record(o);
    out_str(o, "kind", NULL, "check");
    out_str(o, "puzzle", NULL, g->puzzle.name);
    out_str(o, "file", NULL, file);
    out_bool(o, "passed", NULL, j->passed);
    out_bool(o, "compiled", NULL, j->kernel != NULL);
    out_str(o, "missed", NULL, j->missed);
    out_str(o, "fix", NULL, *f->what ? f->what : NULL);
    out_str(o, "fix_at", NULL, *f->where ? f->where : NULL);
    out_str(o, "fix_thread", NULL, *f->thread ? f->thread : NULL);
    out_int(o, "failed", NULL, g->mine->failed);
}

struct after {
    const char *name; /* of the puzzle that was solved */
    bool passed;      /* the listing is past it */
    char next[64];
    struct playing *g;
};

static bool find_next(void *user, const struct puzzle *p, struct err *e)
{
    struct after *a = user;
    const struct puzzle_progress *mine = progress_of(&a->g->progress, p);
    if (a->passed && !*a->next && mine && !mine->solved) snprintf(a->next, sizeof a->next, "%s", p->name);
    a->passed |= !strcmp(p->name, a->name);
    return true;
}

static bool praise(struct playing *g, const char *file, struct err *e)
{
    struct after a = {.name = g->puzzle.name, .g = g};
    const struct lab_report *r = &g->judged.report;
    char us[32], safe[200];
    struct out *o = g->session->out;
    if (!out_flush(o, e) || !puzzle_each(find_next, &a, NULL, e)) return false;
    if (isnan(r->predicted_us))
        out_text(o, "Solved.");
    else
        out_text(o, "Solved. Predicted time: %s [model: %s].", show_us(r->predicted_us, us, sizeof us),
                 machine_of(NULL).name);
    bool csr = g->puzzle.format == &format_csr;
    out_text(o, "`try %s of %s%s%s` compares your kernel with the built-in ones.",
             print_safe(file, strlen(file), 150, safe, sizeof safe), g->puzzle.name, csr ? "" : " format ",
             csr ? "" : g->puzzle.format->name);
    if (*a.next) out_text(o, "Next: `puzzle %s`.", a.next);
    return true;
}

/* Count a failed check, unless the text is the one that was checked last, or the one that the puzzle gave. */
static bool count_check(struct playing *g, const char *path)
{
    char sum[20], given[20];
    struct puzzle_progress *p = g->mine;
    FILE *f = fopen(path, "r");
    if (!f) return false;
    sheet_checksum(f, sum);
    rewind(f);
    char line[300], *first = fgets(line, sizeof line, f); /* the line with the puzzle's name is not of the kernel */
    if (first && strncmp(line, marker, strlen(marker))) rewind(f);
    char rest[20];
    sheet_checksum(f, rest);
    fclose(f);
    FILE *kernel = fmemopen(g->puzzle.kernel, strlen(g->puzzle.kernel), "r");
    if (!kernel) return false;
    sheet_checksum(kernel, given);
    fclose(kernel);
    bool fresh = strcmp(sum, p->last) && strcmp(rest, given);
    snprintf(p->last, sizeof p->last, "%s", sum);
    p->failed += fresh;
    return fresh;
}

static void offer_help(const struct playing *g, bool fresh)
{
    const struct puzzle_progress *p = g->mine;
    struct out *o = g->session->out;
    int left = g->puzzle.nhints - p->hints;
    if (!fresh && !p->failed) out_text(o, "The gap is not filled yet; this does not count as a check.");
    if (left > 0)
        out_text(o, "`puzzle hint` gives a hint (%d of %d left)%s.", left, g->puzzle.nhints,
                 p->failed >= CHECKS_BEFORE_SOLUTION ? ", `puzzle solution` the solution" : "");
    else if (p->failed >= CHECKS_BEFORE_SOLUTION)
        out_text(o, "`puzzle solution` shows a solution.");
}

static bool check(struct playing *g, const char *word, struct err *e)
{
    char file[PATH_MAX], path[PATH_MAX];
    struct judged *j = &g->judged;
    struct out *o = g->session->out;
    if (!find_file(g, word, file, sizeof file, e) || !session_path(g->session, file, path, sizeof path, e))
        return false;
    if (access(path, F_OK)) return fail(e, E_IO, "there is no %s here; `puzzle %s` writes it", file, g->puzzle.name);
    if (!put_matrix(g, e) || !puzzle_judge(g->session, &g->puzzle, path, j, e)) return false;
    bool fresh = !j->passed && count_check(g, path);
    if (j->passed) g->mine->solved = true;
    keep_progress(g);
    out_check(g, file);
    if (j->kernel || out_mode(o) != OUT_TEXT) out_results(o, &g->puzzle, j);
    if (j->passed) return praise(g, file, e);
    if (!out_flush(o, e)) return false;
    offer_help(g, fresh);
    if (!j->kernel && *lab_messages())
        out_verbatim(o, lab_messages()); /* with the line of the file */
    else
        show_line(o, &j->fix);
    return fail_at(e, j->kernel ? E_NUMERIC : E_USAGE, j->fix.where, "%s%s%s", j->fix.thread,
                   *j->fix.thread ? ": " : "", j->fix.what);
}

/* ---- help ---- */

static void out_help(struct out *o, const char *kind, const struct puzzle *p, int n, const char *text)
{
    if (out_mode(o) == OUT_TEXT) return;
    out_record(o);
    out_str(o, "kind", NULL, kind);
    out_str(o, "puzzle", NULL, p->name);
    out_int_if(o, "hint", NULL, n > 0, n);
    out_int_if(o, "of", NULL, n > 0, p->nhints);
    out_str(o, "text", NULL, text);
}

static bool hint(struct playing *g, const char *word, struct err *e)
{
    if (!open_puzzle(g, word, e)) return false;
    const struct puzzle *p = &g->puzzle;
    struct puzzle_progress *mine = g->mine;
    struct out *o = g->session->out;
    if (!p->nhints) return fail(e, E_USAGE, "%s has no hints", p->name);
    bool more = mine->hints < p->nhints;
    if (more) mine->hints++;
    keep_progress(g);
    const char *text = p->hint[mine->hints - 1];
    out_help(o, "hint", p, mine->hints, text);
    out_text(o, "%s, hint %d of %d%s:", p->name, mine->hints, p->nhints, more ? "" : ", the last one, again");
    if (out_mode(o) == OUT_TEXT) out_prose(o, text);
    return true;
}

static bool solution(struct playing *g, const char *word, struct err *e)
{
    if (!open_puzzle(g, word, e)) return false;
    const struct puzzle *p = &g->puzzle;
    struct puzzle_progress *mine = g->mine;
    int left = CHECKS_BEFORE_SOLUTION - mine->failed;
    if (!mine->solved && left > 0)
        return fail(e, E_USAGE, "the solution of %s is shown after %d failed checks, and %d %s missing%s", p->name,
                    +CHECKS_BEFORE_SOLUTION, left, left == 1 ? "is" : "are",
                    mine->hints < p->nhints ? "; `puzzle hint` gives a hint" : "");
    if (!mine->solved) mine->shown = true;
    keep_progress(g);
    out_help(g->session->out, "solution", p, 0, p->solution);
    out_verbatim(g->session->out, p->solution);
    return true;
}

static bool restart(struct playing *g, const char *word, struct err *e)
{
    if (!open_puzzle(g, word, e)) return false;
    struct puzzle_progress *p = g->mine;
    p->failed = p->hints = 0;
    p->solved = p->shown = false;
    snprintf(p->last, sizeof p->last, "-");
    return true;
}

static bool play(struct playing *g, const struct args *a, struct err *e)
{
    const char *word = arg(a, "puzzle");
    bool force = arg_flag(a, "force"), again = arg_flag(a, "restart");
    int what = arg_flag(a, "check") + arg_flag(a, "hint") + arg_flag(a, "solution");
    if (what > 1 || (what && (force || again || arg(a, "as"))))
        return fail(e, E_USAGE, "only one of check, hint and solution can be given, without as, force and restart");
    if (arg_flag(a, "check")) return check(g, word, e);
    if (arg_flag(a, "hint")) return hint(g, word, e);
    if (arg_flag(a, "solution")) return solution(g, word, e);
    if (!word && !force && !again) return list_puzzles(g, e);
    if (again ? !restart(g, word, e) : !open_puzzle(g, word, e)) return false;
    return show_puzzle(g, arg(a, "as"), force, e);
}

static bool run_puzzle(struct session *s, const struct args *a, struct err *e)
{
    struct playing *g = mem_zero(1, sizeof *g, "a puzzle", e);
    if (!g) return false;
    g->session = s;
    progress_load(&g->progress);
    bool ok = play(g, a, e);
    mem_free(g);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field puzzle_fields[] = {
    {"kind", F_TEXT, "a puzzle of the list", .words = "puzzle"},
    {"place", F_COUNT, "its number; 0: none"},
    {"puzzle", F_TEXT, "name of the puzzle"},
    {"about", F_TEXT, "subject"},
    {"format", F_TEXT, "format that the kernel reads"},
    {"solved", F_BOOLEAN, "whether a check passed"},
    {"failed", F_COUNT, "failed checks, each with another text"},
    {"hints", F_COUNT, "hints that were shown"},
    {"solution_shown", F_BOOLEAN, "whether the solution was shown before a check passed"},
    {0},
};
static const struct row_kind row_puzzle = {"puzzle", "a puzzle of the list", puzzle_fields};

static const struct field puzzle_task_fields[] = {
    {"kind", F_TEXT, "the task of a puzzle", .words = "task"},
    {"puzzle", F_TEXT, "name of the puzzle"},
    {"place", F_COUNT, "its number; 0: none"},
    {"title", F_TEXT, "title"},
    {"text", F_TEXT, "what to do"},
    {"matrix", F_TEXT, "generator of the matrix, with parameters"},
    {"format", F_TEXT, "format that the kernel reads"},
    {"file", F_TEXT, "file with the kernel"},
    {"written", F_BOOLEAN, "whether the file was written now; false: it existed"},
    {"hints", F_COUNT, "number of hints"},
    {0},
};
static const struct row_kind row_puzzle_task = {"task", "the task of a puzzle", puzzle_task_fields};

static const struct field puzzle_needed_fields[] = {
    {"kind", F_TEXT, "a goal of a puzzle", .words = "goal"},
    {"goal", F_TEXT, "right, races, or the quantity that is limited"},
    {"about", F_TEXT, "the goal in words"},
    {"needed", F_TEXT, "what is needed, such as <= 600"},
    {0},
};
static const struct row_kind row_puzzle_needed = {"needed", "a goal of a puzzle", puzzle_needed_fields};

static const struct field puzzle_goal_fields[] = {
    {"kind", F_TEXT, "a goal, and what the emulator found", .words = "goal"},
    {"goal", F_TEXT, "right, races, or the quantity that is limited"},
    {"about", F_TEXT, "the goal in words"},
    {"needed", F_TEXT, "what is needed, such as <= 600"},
    {"counted", F_NUMBER | OR_NULL,
     "what was counted or predicted; for `right`, 1: yes; for `races`, the number of races reported, at most 1; null: "
     "not known"},
    {"known", F_BOOLEAN, "whether the kernel came so far that this is known"},
    {"passed", F_BOOLEAN, "whether the goal is reached"},
    {0},
};
static const struct row_kind row_puzzle_goal = {"goal", "a goal, and what the emulator found", puzzle_goal_fields};

static const struct field puzzle_check_fields[] = {
    {"kind", F_TEXT, "a check of a kernel", .words = "check"},
    {"puzzle", F_TEXT, "name of the puzzle"},
    {"file", F_TEXT, "the file"},
    {"passed", F_BOOLEAN, "whether all goals are reached"},
    {"compiled", F_BOOLEAN, "whether the file was compiled"},
    {"missed", F_TEXT | OR_NULL, "the first of compiles, ends, races, right and the goals that is missed; null: none"},
    {"fix", F_TEXT | OR_NULL, "what to correct first; null: nothing"},
    {"fix_at", F_TEXT | OR_NULL, "file and line of that; null: not known"},
    {"fix_thread", F_TEXT | OR_NULL, "block and thread; null: not known"},
    {"failed", F_COUNT, "failed checks so far"},
    {0},
};
static const struct row_kind row_puzzle_check = {"check", "a check of a kernel", puzzle_check_fields};

static const struct field puzzle_help_fields[] = {
    {"kind", F_TEXT, "a hint or the solution", .words = "hint, solution"},
    {"puzzle", F_TEXT, "name of the puzzle"},
    {"hint", F_INTEGER | OR_NULL, "number of the hint; null: the solution"},
    {"of", F_INTEGER | OR_NULL, "number of hints; null: the solution"},
    {"text", F_TEXT, "the hint, or the text of the solution"},
    {0},
};
static const struct row_kind row_puzzle_help = {"help", "a hint or the solution", puzzle_help_fields};

const struct command command_puzzle = {
    .name = "puzzle",
    .grammar = "[PUZZLE] [check] [hint] [solution] [restart] [as FILE] [force]",
    .about = "fill the gap in a kernel until it is right and cheap enough: goals, hints, and a solution",
    .help =
        "`puzzle` alone lists the puzzles and your progress. `puzzle 1`, or `puzzle` and a name, shows the task and\n"
        "the goals, makes the matrix, and writes the kernel into NAME.cu of the current folder; a file that exists\n"
        "is kept, unless `force` is given, and `as FILE` names another file. Edit the file in another terminal, or\n"
        "here by `!nano NAME.cu`. Then `puzzle check` compiles it for the emulator, as by `try`, and shows each goal\n"
        "with what the emulator counted. The error names what to correct first, with its line. `puzzle check FILE`\n"
        "checks another file.\n"
        "`puzzle hint` shows the next hint, one per call. `puzzle solution` shows a solution after three failed\n"
        "checks; a check of an unchanged file does not count. `restart` forgets your progress in a puzzle.\n"
        "After a check, the kernel can be used by the name of its file, for example in `trace NAME of NAME view`.\n"
        "A puzzle is a text file NAME.txt in samples/puzzles, or in warpspy/puzzles of $XDG_DATA_HOME, with\n"
        "    %                     a comment: the first has the place and a description\n"
        "    #                     the title\n"
        "    ~                     a hint; an empty line separates hints\n"
        "    > gen GENERATOR ...   the matrix\n"
        "    format NAME           the format of the kernel (default csr)\n"
        "    goal QUANTITY <= N    or >= N for lanes and occupancy, or `goal time < KERNEL`\n"
        "    kernel                the lines up to `end` are the file with the gap\n"
        "    solution              likewise, a file that passes\n"
        "and all other lines are prose. The quantities are sectors, requests, loads, atomics, additions, lanes,\n"
        "steps, longest, wavefronts, shared, collectives, barriers, time, compiled (requests as nvcc compiles the\n"
        "kernel, without nvcc as in the source), local (bytes of local memory, which only nvcc knows) and occupancy\n"
        "(of an H200, by threads and shared memory).\n"
        "    puzzle; puzzle 1; puzzle check; puzzle hint",
    .rows = (const struct row_kind *const[]){&row_puzzle, &row_puzzle_task, &row_puzzle_needed, &row_puzzle_goal,
                                             &row_puzzle_check, &row_puzzle_help, NULL},
    .run = run_puzzle,
};
