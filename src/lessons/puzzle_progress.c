/* The user's progress in the puzzles, as a text file in the user's state folder: the puzzle that was shown last, and a
   line per puzzle. */
#include "base/err.h"
#include "base/folder_lock.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xdg.h"
#include "language/run_lines.h"
#include "puzzle.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char first_line[] = "warpspy puzzles 1";

static bool progress_path(char *path, size_t size)
{
    return xdg_path("XDG_STATE_HOME", ".local/state", "warpspy/puzzles", path, size);
}

static void take_line(struct progress_list *l, const char *line)
{
    struct puzzle_progress one = {0};
    int solved, shown;
    if (sscanf(line, "current %63[^\n]", l->current) == 1 || l->n == PUZZLES_MAX) return;
    if (sscanf(line, "puzzle %19s %19s %d %d %d %d %63[^\n]", one.sum, one.last, &one.failed, &one.hints, &solved,
               &shown, one.name) != 7)
        return; /* a line of a later version */
    one.solved = solved, one.shown = shown;
    if (one.failed < 0 || one.hints < 0 || one.hints > HINTS_MAX) return;
    l->of[l->n++] = one;
}

void progress_load(struct progress_list *l)
{
    char path[PATH_MAX], line[LINE_LIMIT + 2];
    struct err e = {0};
    *l = (struct progress_list){0};
    FILE *f = progress_path(path, sizeof path) ? fopen(path, "r") : NULL;
    bool ours = f && line_next(f, line, &e) == GOT_LINE && !strcmp(line, first_line);
    while (ours && line_next(f, line, &e) == GOT_LINE) take_line(l, line);
    if (f) fclose(f);
}

static void put_all(FILE *f, const struct progress_list *l)
{
    fprintf(f, "%s\n", first_line);
    if (*l->current) fprintf(f, "current %s\n", l->current);
    for (int i = 0; i < l->n; i++) {
        const struct puzzle_progress *p = &l->of[i];
        fprintf(f, "puzzle %s %s %d %d %d %d %s\n", p->sum, p->last, p->failed, p->hints, p->solved, p->shown, p->name);
    }
}

/* Replace the entry of this puzzle, or add it. */
static void put_one(struct progress_list *l, const struct puzzle_progress *mine)
{
    int i = 0;
    while (i < l->n && strcmp(l->of[i].name, mine->name)) i++;
    if (!*mine->name || i == PUZZLES_MAX) return;
    l->of[i] = *mine;
    if (i == l->n) l->n++;
}

static bool write_list(const struct progress_list *l, const char *path, struct err *e)
{
    struct memfile m = {0};
    struct newfile f;
    bool ok = memfile_open(&m, e);
    if (ok) put_all(m.file, l);
    ok = memfile_close(&m, ok, e);
    if (ok) {
        ok = newfile_open_own(&f, path, true, e) && newfile_write(&f, m.text, (int64_t)m.n, e);
        ok = newfile_close(&f, ok, e);
    }
    memfile_free(&m);
    return ok;
}

bool progress_save(const char *current, const struct puzzle_progress *mine, struct err *e)
{
    char path[PATH_MAX];
    int lock;
    if (!progress_path(path, sizeof path)) return fail(e, E_IO, "the folder for your progress is not known: set HOME");
    if (!xdg_make_folders(path)) return fail_at(e, E_IO, path, "cannot create the folder: %s", strerror(errno));
    struct progress_list *now = mem_new(1, sizeof *now, "the progress in the puzzles", e);
    bool ok = now && folder_lock(path, &lock, e);
    if (ok) {
        progress_load(now); /* with what other sessions have added */
        snprintf(now->current, sizeof now->current, "%s", current);
        put_one(now, mine);
        ok = write_list(now, path, e);
        folder_unlock(lock);
    }
    mem_free(now);
    return ok;
}

struct puzzle_progress *progress_of(struct progress_list *l, const struct puzzle *p)
{
    struct puzzle_progress *one = l->of;
    while (one < l->of + l->n && strcmp(one->name, p->name)) one++;
    bool found = one < l->of + l->n;
    if (found && !strcmp(one->sum, p->sum)) return one;
    if (!found && l->n == PUZZLES_MAX) return NULL;
    if (!found) l->n++;
    *one = (struct puzzle_progress){.last = "-"};
    snprintf(one->name, sizeof one->name, "%s", p->name);
    snprintf(one->sum, sizeof one->sum, "%s", p->sum);
    return one;
}
