/* The session owns the matrices and their stored forms. */
#include "session.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "command.h"
#include "equilibrated.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "holding.h"
#include "in_parts.h"
#include "large_matrix.h"
#include "machine/device.h"
#include "machine/packer.h"
#include "matrix.h"
#include "matrix_name.h"
#include "product.h"
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

static void forget_runs(struct session *s)
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
    if (s->runs_of == m || (s->runs_of && s->runs_of->transpose_of == m)) forget_runs(s);
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

struct matrix *session_matrix_of(const struct session *s, const struct csr *A)
{
    struct matrix *m = s->matrices;
    while (m && &m->csr != A && !(m->equilibrated && &m->equilibrated->m->csr == A)) m = m->next;
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
    if (name && find(s, name))
        return fail(e, E_USAGE, "a matrix is called %s already; `drop %s` first or choose another name", name, name);
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

/* ---- products ---- */

static struct product *cached(struct matrix *m, const struct stored *shape)
{
    for (struct product *p = m->products; p; p = p->next)
        if (p->S.format == shape->format && p->S.real == shape->real &&
            !memcmp(p->S.param, shape->param, sizeof shape->param))
            return p;
    return NULL;
}

/* The stored matrix that an earlier request with the same parameters made, so that format_plan need not be called
   again. */
static struct product *requested_before(struct matrix *m, const struct stored *shape)
{
    for (struct product *p = m->products; p; p = p->next)
        if (p->S.format == shape->format && p->S.real == shape->real &&
            !memcmp(p->requested, shape->param, sizeof shape->param))
            return p;
    return NULL;
}

/* The type of the values of m in the precision `real`. */
static enum type stored_type(const struct matrix *m, enum type real)
{
    return type_of_values(real, m->csr.imag != NULL);
}

bool session_is_packed(struct matrix *m, const struct format *f, const int64_t *param, enum type real)
{
    struct stored request = {.format = f, .real = stored_type(m, real)};
    if (!format_params(f, param, &request, NULL)) return false;
    const struct product *p = requested_before(m, &request);
    return p && product_is_complete(p);
}

/* May m, which is the transpose of a matrix, use the arrays of that matrix in another format? */
static bool can_borrow(const struct matrix *m, const struct format *f)
{
    return m->transpose_of && f->transposed;
}

void session_say_vanishing(struct session *s, const char *name, const struct csr *A, enum type real)
{
    struct vanishing v;
    if (!format_vanishing(A, real, &v)) return;
    out_note(s->out, "%s of %s %s below %s's smallest number, %.2g, and %s 0; use f64, or `scale` the matrix first",
             how_many(v.values, "value").text, name, v.values == 1 ? "is" : "are", type_name(v.stored), v.smallest,
             v.values == 1 ? "becomes" : "become");
}

/* Say once, not for each format. */
static void say_vanishing(struct session *s, const struct matrix *m, enum type real)
{
    for (const struct product *p = m->products; p; p = p->next)
        if (p->S.real == stored_type(m, real)) return;
    session_say_vanishing(s, m->name, &m->csr, real);
}

/* Make a product of m from the arrays of a product of the matrix whose transpose m is. */
static struct product *borrow(struct session *s, struct matrix *m, const struct format *f, enum type real,
                              struct err *e)
{
    struct plan plan;
    struct product *lender = session_product(s, (struct matrix *)m->transpose_of, f->transposed, NULL, real, false, e);
    if (!lender || !format_plan(&m->csr, f, NULL, real, &plan, e)) return NULL;
    struct product *p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    p->S = plan.shape;
    for (int k = 0; k < p->S.narrays; k++) p->S.a[k].data = lender->S.a[k].data;
    p->lender = lender;
    lender->borrower = p;
    return product_keep(m, p);
}

struct product *session_product(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                enum type real, bool force, struct err *e)
{
    struct stored request = {.format = f, .real = stored_type(m, real)};
    struct plan plan;
    if (!format_params(f, param, &request, e)) return NULL;
    struct product *p = requested_before(m, &request);
    if (p) return product_complete(p, e) ? p : NULL;
    if (matrix_in_parts(m)) return in_parts_product(m, f, real, e);
    if (can_borrow(m, f)) return borrow(s, m, f, real, e);
    double start = now_us();
    if (!format_plan(&m->csr, f, param, real, &plan, e)) return NULL;
    double plan_us = now_us() - start;
    if ((p = cached(m, &plan.shape))) return product_complete(p, e) ? p : NULL;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    start = now_us();
    if (!format_pack_plan(&m->csr, &plan, force, &p->S, e)) return mem_free(p), NULL;
    p->prep_us = plan_us + now_us() - start;
    say_vanishing(s, m, real);
    memcpy(p->requested, request.param, sizeof p->requested);
    p->csr = &m->csr;
    return product_keep(m, p);
}

/* Turn the result of the conversion w, whose first run took `us`, into a product (a stored matrix) of m, unless m has
   the same product already. */
static struct product *take_over(struct matrix *m, struct packing *w, double us, struct err *e)
{
    struct product *p = cached(m, &w->S);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p || !packing_take(w, &p->S, &p->mat[0], e)) return mem_free(p), NULL;
    p->nmats = 1;
    p->csr = &m->csr;
    if (!mat_get_layout(&p->mat[0], &p->S, e)) return product_free(p), NULL;
    memcpy(p->requested, w->given.param, sizeof p->requested);
    p->prep_us = us;
    p->packed_on = w->dev;
    return product_keep(m, p);
}

static struct product *pack_there(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                  enum type real, bool force, struct device *d, struct err *e)
{
    struct packing *w;
    struct err why = {0};
    struct product *p = session_product(s, m, &format_csr, NULL, real, false, e);
    struct mat *A = p ? session_mat(s, p, d, &why) : NULL;
    if (p && !A) return fail(e, why.code == E_LIMIT ? E_MEMORY : why.code, "%s", why.text), NULL;
    double start = now_us();
    if (!A || !packing_begin(&w, f, A, param, force, e)) return NULL;
    p = take_over(m, w, now_us() - start, e);
    packing_free(w);
    return p;
}

struct product *session_product_there(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                      enum type real, bool force, struct device *d, struct err *e)
{
    struct err why = {0};
    struct stored request = {.format = f, .real = stored_type(m, real)};
    if (!format_params(f, param, &request, e)) return NULL;
    struct product *p = requested_before(m, &request);
    if (p) return p;
    if (packer_for(f, d, real) && !can_borrow(m, f) && !csr_is_large(&m->csr) && !matrix_in_parts(m)) {
        p = pack_there(s, m, f, param, real, force, d, &why);
        if (p) return p;
        if (why.code != E_MEMORY) return fail(e, why.code, "%s", why.text), NULL;
    }
    return session_product(s, m, f, param, real, force, e);
}

struct product *session_product_on(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                   enum type real, bool force, struct device *d, struct err *e)
{
    struct product *p = session_product_there(s, m, f, param, real, force, d, e);
    return p && product_complete(p, e) ? p : NULL;
}
