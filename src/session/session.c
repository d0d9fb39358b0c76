/* The list of matrices that the session owns. */
#include "session.h"
#include "alias.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "command.h"
#include "equilibrated.h"
#include "holding.h"
#include "in_parts.h"
#include "large_matrix.h"
#include "matrix.h"
#include "matrix_name.h"
#include "ranks/ranks.h"
#include "record.h"
#include "stale.h"

#include <string.h>
#include <unistd.h>

bool session_new(struct session *s, FILE *data, FILE *messages, enum out_mode mode, struct err *e)
{
    memset(s, 0, sizeof *s);
    s->out = out_new(data, messages, mode, e);
    s->watch = session_watch(s);
    mem_lazy_if(session_interrupted); /* the prompt appears at once, while another thread frees large blocks */
    s->terminal = isatty(fileno(messages));
    return s->out != NULL;
}

/* ---- matrices ---- */

void session_forget_runs(struct session *s)
{
    mem_free(s->runs);
    mem_free(s->runs_y0);
    s->runs = NULL;
    s->runs_y0 = NULL;
    s->nruns = 0;
    s->runs_of = NULL;
}

/* Take m, which `*at` points to, out of the list. */
static void take_out(struct session *s, struct matrix *m, struct matrix **at)
{
    SCREEN_EDIT;
    holdings_drop_of(s, m);
    if (s->runs_of == m || (s->runs_of && s->runs_of->transpose_of == m)) session_forget_runs(s);
    *at = m->next;
    if (s->current == m) s->current = s->matrices;
    stale_all();
}

bool session_drop(struct session *s, struct matrix *m)
{
    struct matrix **at = &s->matrices;
    int index = 0;
    for (; *at && *at != m; index++) at = &(*at)->next;
    if (!*at) return false;
    take_out(s, m, at);
    products_free(m);
    if (!undo_keep(s, m, index)) matrix_free(m);
    return true;
}

void session_free(struct session *s)
{
    holdings_drop_all(s);
    ranks_end(s->ranks);
    s->ranks = NULL;
    undo_forget(s);
    record_end(s);
    s->undo.open = false;
    while (s->matrices) session_drop(s, s->matrices);
    aliases_free(s);
    mem_free(s->log.text);
    mem_free(s->gpu);
    mem_free(s->timeline);
    out_free(s->out);
    memset(s, 0, sizeof *s);
}

static struct matrix *find(const struct session *s, const char *name)
{
    struct matrix *m = s->matrices;
    while (m && strcmp(m->name, name)) m = m->next;
    return m;
}

bool session_takes(const struct session *s, const struct matrix *m, struct err *e)
{
    const struct command *c = s->command;
    if (matrix_in_parts(m)) return in_parts_allowed(m, c && c->in_parts, c ? c->name : "warpspy", e);
    return large_allowed(m, c && c->large, c ? c->name : "warpspy", e);
}

static bool is_form(const struct equilibrated *q, const struct csr *A)
{
    return q && &q->m->csr == A;
}

struct matrix *session_matrix_of(const struct session *s, const struct csr *A)
{
    struct matrix *m = s->matrices;
    while (m && &m->csr != A && !is_form(m->equilibrated, A) && !is_form(m->reordered, A)) m = m->next;
    return m;
}

struct matrix *session_matrix(struct session *s, const char *name, struct err *e)
{
    struct matrix *m = name ? find(s, name) : s->current;
    if (m) return session_takes(s, m, e) ? m : NULL;
    if (name)
        fail(e, E_USAGE, "no matrix is called %s; `list` shows all matrices", name);
    else
        fail(e, E_USAGE, "no matrix is loaded; use `load FILE` or `gen poisson2d 100`");
    return NULL;
}

bool session_name_is_free(const struct session *s, const char *name, struct err *e)
{
    return !find(s, name) ||
           fail(e, E_USAGE, "a matrix is called %s already; `drop %s` first or choose another name", name, name);
}

static void unique_name(const struct session *s, const char *file, char out[64])
{
    char base[57]; /* at most 52 bytes, with a leading m */
    name_of_file(file, base, sizeof base - 6);
    snprintf(out, 64, "%s", base);
    for (int i = 2; find(s, out); i++) snprintf(out, 64, "%.52s-%d", base, i);
}

static void append(struct session *s, struct matrix *m)
{
    struct matrix **end = &s->matrices;
    SCREEN_EDIT;
    while (*end) end = &(*end)->next;
    *end = s->current = m;
}

bool session_add(struct session *s, const char *name, struct csr *A, const struct load_info *info, struct err *e)
{
    const char *why = name ? name_refuses(name) : NULL;
    if (name && !name_is_plain(name))
        return fail(e, E_USAGE, "%s is not a name: names have only letters, digits and _ . + -", name);
    if (why) return fail(e, E_USAGE, "%s %s", name, why);
    if (name && !session_name_is_free(s, name, e)) return false;
    struct matrix *m = mem_zero(1, sizeof *m, "a matrix", e);
    if (!m) return false;
    if (name)
        snprintf(m->name, sizeof m->name, "%s", name);
    else
        unique_name(s, info->file, m->name);
    m->csr = *A;
    m->info = *info;
    m->lesson = s->folder != NULL;
    m->number = ++s->undo.numbers;
    *A = (struct csr){0};
    append(s, m);
    return true;
}

void session_use(struct session *s, struct matrix *m)
{
    SCREEN_EDIT;
    s->current = m;
}

bool session_path(const struct session *s, const char *file, char *path, size_t size, struct err *e)
{
    bool beside = s->folder && *file != '/';
    int n = snprintf(path, size, "%s%s%s", beside ? s->folder : "", beside ? "/" : "", file);
    return n < (int)size || fail(e, E_LIMIT, "the path has %d bytes: at most %zu are allowed", n, size - 1);
}

const struct stats *session_stats(struct session *s, struct matrix *m, struct err *e)
{
    if (m->has_stats) return &m->stats;
    struct stats stats;
    if (!stats_of(&m->csr, &s->watch, &stats, e)) return NULL;
    m->stats = stats;
    m->has_stats = true;
    m->facts.symmetry = stats.symmetry;
    m->facts.has_symmetry = true;
    return &m->stats;
}
