/* Keeps the tables of the last lesson. */
#include "paper_tables.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "session/holding.h"
#include "session/session.h"

#include <stdio.h>

static void drop(struct session *s)
{
    struct paper_tables *t = s->tables;
    SCREEN_EDIT;
    s->tables = NULL;
    for (int i = 0; t && i < t->n; i++) mem_free(t->table[i].row);
    if (t) mem_free(t->table);
    mem_free(t);
}

const struct holding holding_tables = {.drop = drop, .apart = true};

bool paper_tables_begin(struct session *s, const char *lesson, struct err *e)
{
    struct paper_tables *t = mem_zero(1, sizeof *t, "the tables of a lesson", e);
    SCREEN_EDIT;
    drop(s);
    s->tables = t;
    if (t) snprintf(t->lesson, sizeof t->lesson, "%s", lesson);
    return t != NULL;
}

bool paper_tables_open(struct session *s, const char *title, const char *gpu, struct err *e)
{
    struct paper_tables *t = s->tables;
    if (!t) return true;
    SCREEN_EDIT;
    struct paper_table *all = mem_resize(t->table, t->n + 1, sizeof *all, "the tables of a lesson", e);
    if (!all) return false;
    t->table = all;
    struct paper_table *one = &all[t->n++];
    *one = (struct paper_table){.line = s->script_line};
    snprintf(one->title, sizeof one->title, "%s", title);
    snprintf(one->gpu, sizeof one->gpu, "%s", gpu);
    return true;
}

bool paper_tables_add(struct session *s, const struct paper_row *row, struct err *e)
{
    struct paper_tables *t = s->tables;
    if (!t || !t->n) return true;
    SCREEN_EDIT;
    struct paper_table *one = &t->table[t->n - 1];
    struct paper_row *all = mem_resize(one->row, one->n + 1, sizeof *all, "the tables of a lesson", e);
    if (!all) return false;
    one->row = all;
    all[one->n++] = *row;
    return true;
}
