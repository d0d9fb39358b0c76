/* Load the Matrix Market file at a path; the result is a matrix and notes. */
#include <stdio.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/stream.h"
#include "base/threads.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "matrix_market.h"
#include "mtx.h"

#include <omp.h>
#include <string.h>

static int64_t hook_block;
static int hook_threads;

void mtx_hooks(int64_t block, int threads)
{
    hook_block = block;
    hook_threads = threads;
}

static int64_t count_zeros(const struct csr *A)
{
    struct loop l = loop_of("counting zeros", A->nnz);
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++)
            n += A->val[k] == 0 && (!A->imag || A->imag[k] == 0);
    return n;
}

static void describe(const struct head *h, const struct csr *A, struct load_info *info)
{
    snprintf(info->object, sizeof info->object, "%s", h->object);
    snprintf(info->field, sizeof info->field, "%s", h->field_word);
    snprintf(info->symmetry, sizeof info->symmetry, "%s", h->symmetry_word);
    info->nnz_stored = h->entries;
    info->explicit_zeros = count_zeros(A);
}

int64_t mtx_block(void)
{
    return hook_block ? hook_block : MTX_BLOCK;
}

static bool load_body(struct body *b, struct head *h, struct csr *A, int64_t *last_line, struct notes *t,
                      struct load_info *info, struct err *e)
{
    b->threads = hook_threads ? hook_threads : h->entries > THREADS_FROM ? omp_get_max_threads() : 1;
    body_parse(b);
    if (h->list && h->list->entries < 0 && !b->fault.why.code) h->entries = b->delivered;
    bool ok = body_judge(b, t, e) && (!h->list || list_settle(b, h, info, e)) && body_build(b, A, &info->duplicates, e);
    *last_line = body_lines(b);
    body_free(b);
    if (b->lines->eof_byte) note(t, NOTE_EOF_BYTE, 0);
    if (stream_garbage(b->lines->stream)) note(t, NOTE_GARBAGE, 0);
    t->n[NOTE_DUPLICATE] = info->duplicates;
    return ok;
}

static bool load_sections(const struct body *b, int64_t last_line, struct csr *A, struct sides *sides,
                          struct load_info *info, struct err *e)
{
    struct sections t = {0};
    bool ok = sections_read(&t, b->lines, b->head, b->path, last_line, b->watch, e) &&
              sections_apply(&t, b->head, A, sides, info, e);
    sections_free(&t);
    return ok;
}

bool mtx_load_entries(struct lines *l, struct head *h, const char *path, struct watch *w, struct csr *A,
                      struct sides *sides, struct notes *t, struct load_info *info, struct err *e)
{
    int64_t last_line;
    struct body body = {.head = h, .path = path, .lines = l, .watch = w};
    if (!load_body(&body, h, A, &last_line, t, info, e)) return false;
    bool ok = !h->amgx.numbers || load_sections(&body, last_line, A, sides, info, e);
    if (h->list) t->n[NOTE_COMMENT] = 0; /* a comment may stand anywhere */
    if (ok) graphblas_apply(h, A, info);
    if (ok) describe(h, A, info);
    if (ok) notes_show(t, info);
    if (ok && loop_tick("counting zeros", 0, 0, e)) return true;
    csr_free(A);
    return false;
}

bool mtx_load_stream(struct stream *stream, const char *begin, int64_t n, const char *path, struct watch *w,
                     struct csr *A, struct sides *sides, struct load_info *info, struct err *e)
{
    struct head head = {0};
    struct notes notes = {0};
    struct lines lines = {.stream = stream, .block = mtx_block(), .streamed = n};
    bool ok = lines_back(&lines, begin, n, e) && head_read(&lines, path, w, &head, &notes, e) &&
              mtx_load_entries(&lines, &head, path, w, A, sides, &notes, info, e);
    lines_free(&lines);
    return ok;
}

bool mtx_load(const char *path, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct load_info unused;
    struct sides sides = {0};
    double start = now_us();
    if (!info) info = &unused;
    memset(info, 0, sizeof *info);
    memset(A, 0, sizeof *A);
    struct watch *before = loop_watch();
    if (before != w) loop_enter(w);
    struct stream *stream = stream_open(path, e);
    bool ok = stream && mtx_load_stream(stream, NULL, 0, path, w, A, &sides, info, e);
    sides_free(&sides);
    stream_close(stream);
    if (before != w) loop_enter(before);
    if (!ok) return false;
    snprintf(info->file, sizeof info->file, "%s", path);
    info->ms = (now_us() - start) / 1000;
    return true;
}
