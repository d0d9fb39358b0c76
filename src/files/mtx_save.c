/* Write a Matrix Market file: coordinate, general, with the shortest decimals that read back exactly. The file is
   written completely or not at all. */
#include "matrix/csr.h"
#include "base/err.h"
#include "matrix_market.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/number.h"
#include "base/text.h"
#include "base/watch.h"

#include <archive.h>
#include <archive_entry.h>
#include <lpsolve/mmio.h>
#include <string.h>

enum { BUFFER = 1 << 20, LINE_ROOM = 2 * 12 + 2 * (NUMBER_ROOM + 1), TICK_EVERY = 1 << 15 };

struct writer {
    struct newfile file;
    struct archive *archive; /* gzip, or NULL */
    char *text;
    int64_t n;
};

static bool flush(struct writer *w, struct err *e)
{
    bool ok = w->archive ? archive_write_data(w->archive, w->text, (size_t)w->n) == w->n ||
                               newfile_fail(&w->file, "write the file", archive_errno(w->archive), e)
                         : newfile_write(&w->file, w->text, w->n, e);
    w->n = 0;
    return ok;
}

static bool start_gzip(struct writer *w, struct err *e)
{
    struct archive_entry *entry = archive_entry_new();
    struct archive *a = w->archive = archive_write_new();
    bool ok = entry && a;
    if (ok) {
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_pathname(entry, "matrix.mtx");
        ok = archive_write_add_filter_gzip(a) == ARCHIVE_OK && archive_write_set_format_raw(a) == ARCHIVE_OK &&
             archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
             archive_write_open_fd(a, w->file.fd) == ARCHIVE_OK && archive_write_header(a, entry) == ARCHIVE_OK;
    }
    archive_entry_free(entry);
    return ok || fail_at(e, E_IO, w->file.where, "cannot write gzip: %s",
                         a && archive_error_string(a) ? archive_error_string(a) : "out of memory");
}

static bool ends_in_gz(const char *path)
{
    size_t n = strlen(path);
    return n >= 3 && !strcmp(path + n - 3, ".gz");
}

static bool writer_open(struct writer *w, const char *path, struct err *e)
{
    if (!newfile_open(&w->file, path, e)) return false;
    w->text = mem_new(BUFFER, 1, "text to write", e);
    return w->text && (!ends_in_gz(w->file.target) || start_gzip(w, e));
}

static bool writer_close(struct writer *w, bool ok, struct err *e)
{
    if (w->archive && archive_write_close(w->archive) != ARCHIVE_OK && ok)
        ok = newfile_fail(&w->file, "write the file", archive_errno(w->archive), e);
    archive_write_free(w->archive);
    mem_free(w->text);
    return newfile_close(&w->file, ok, e);
}

static void put_text(struct writer *w, const char *s, size_t n)
{
    memcpy(w->text + w->n, s, n);
    w->n += (int64_t)n;
}

static void put_integer(struct writer *w, int64_t v)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    put_text(w, digits + at, sizeof digits - at);
}

static void put_value(struct writer *w, double v)
{
    w->text[w->n++] = ' ';
    w->n += (int64_t)number_print(v, w->text + w->n);
}

/* Write each line of the comment, made safe to print. Lines are cut after 240 bytes. */
static bool put_comment(struct writer *w, const char *comment, struct err *e)
{
    char safe[1024];
    for (const char *p = comment; p && *p;) {
        size_t n = strcspn(p, "\r\n");
        print_safe(p, n, 240, safe, sizeof safe);
        put_text(w, "% ", 2);
        put_text(w, safe, strlen(safe));
        put_text(w, "\n", 1);
        if (w->n > BUFFER - 2 * (int64_t)sizeof safe && !flush(w, e)) return false;
        p += n + (p[n] == '\r' && p[n + 1] == '\n') + (p[n] != 0);
    }
    return true;
}

static int write_banner(FILE *f, const struct csr *A)
{
    MM_typecode code = {'M', 'C', A->imag ? 'C' : 'R', 'G'}; /* matrix, coordinate, field, general */
    return mm_write_banner(f, code);
}

static int write_size(FILE *f, const struct csr *A)
{
    /* csr_limits has checked that the sizes fit in int */
    return mm_write_mtx_crd_size(f, (int)A->rows, (int)A->cols, (int)A->nnz);
}

/* Write a line of text that mmio composes. */
static bool put_line(struct writer *w, int (*write)(FILE *f, const struct csr *A), const struct csr *A, struct err *e)
{
    char line[MM_MAX_LINE_LENGTH] = "";
    FILE *f = fmemopen(line, sizeof line, "w");
    bool ok = f && !write(f, A);
    if (f) ok &= !fclose(f);
    put_text(w, line, strlen(line));
    return ok || fail_at(e, E_IO, w->file.where, "mmio could not write the banner or the size line");
}

static bool put_head(struct writer *w, const struct csr *A, const char *comment, struct err *e)
{
    return put_line(w, write_banner, A, e) && put_comment(w, comment, e) && put_line(w, write_size, A, e);
}

static void put_entry(struct writer *w, const struct csr *A, int64_t row, int64_t k)
{
    put_integer(w, row + 1);
    put_text(w, " ", 1);
    put_integer(w, A->col[k] + (int64_t)1);
    put_value(w, A->val[k]);
    if (A->imag) put_value(w, A->imag[k]);
    put_text(w, "\n", 1);
}

static bool put_entries(struct writer *w, const struct csr *A, struct watch *watch, struct err *e)
{
    for (int64_t row = 0, k = 0; row < A->rows; row++)
        for (; k < A->rowptr[row + 1]; k++) {
            if (k % TICK_EVERY == 0 && !watch_tick(watch, "writing", k, A->nnz, e)) return false;
            put_entry(w, A, row, k);
            if (w->n > BUFFER - LINE_ROOM && !flush(w, e)) return false;
        }
    return flush(w, e);
}

bool mtx_save(const char *path, const struct csr *A, const char *comment, struct watch *w, struct err *e)
{
    struct writer out = {.n = 0};
    bool ok = writer_open(&out, path, e) && put_head(&out, A, comment, e) && put_entries(&out, A, w, e);
    return writer_close(&out, ok, e);
}
