/* Temporary files, and matrices as text. */
#include "mtx_kit.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "matrix/csr.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64];

const char *scratch_path(const char *name)
{
    static struct path {
        struct path *next;
        char text[256];
    } * first;
    char text[256];
    if (!dir[0]) {
        snprintf(dir, sizeof dir, "/tmp/warpspy-mtx-XXXXXX");
        assert_non_null(mkdtemp(dir));
    }
    snprintf(text, sizeof text, "%s/%s", dir, name);
    struct path *path = first;
    while (path && strcmp(path->text, text)) path = path->next;
    if (path) return path->text;
    assert_non_null(path = malloc(sizeof *path));
    path->next = first;
    strcpy(path->text, text);
    return (first = path)->text;
}

static int each_file(bool removed)
{
    int n = 0;
    DIR *d = dir[0] ? opendir(dir) : NULL;
    for (struct dirent *f; d && (f = readdir(d));) {
        if (f->d_name[0] == '.') continue;
        n++;
        if (removed) unlink(scratch_path(f->d_name));
    }
    if (d) closedir(d);
    return n;
}

int scratch_files(void)
{
    return each_file(false);
}

void scratch_remove(void)
{
    each_file(true);
    if (dir[0]) rmdir(dir);
    dir[0] = 0;
}

int tidy(void **state)
{
    scratch_remove();
    return 0;
}

const char *write_file(const char *name, const void *data, size_t n)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

char *read_whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *data = mem_new((int64_t)*n, 1, "a file", NULL);
    assert_int_equal(fread(data, 1, *n, f), *n);
    fclose(f);
    return data;
}

const char *pack_file(const char *name, int filter, bool tar, const struct member *m, int n)
{
    const char *path = scratch_path(name);
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
    assert_int_equal(tar ? archive_write_set_format_ustar(a) : archive_write_set_format_raw(a), ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    for (int i = 0; i < n; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, m[i].name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (int64_t)m[i].n);
        assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
        assert_int_equal(archive_write_data(a, m[i].data, m[i].n), m[i].n);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return path;
}

static size_t add_value(char *out, double v)
{
    out[0] = ' ';
    return 1 + number_print(v, out + 1);
}

void show_matrix(const struct csr *A, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%lldx%lld:", (long long)A->rows, (long long)A->cols);
    for (int64_t row = 0; row < A->rows; row++)
        for (int k = A->rowptr[row]; k < A->rowptr[row + 1] && at + 120 < size; k++) {
            at += (size_t)snprintf(out + at, size - at, "%s %lld %d", k ? ";" : "", (long long)row + 1, A->col[k] + 1);
            at += add_value(out + at, A->val[k]);
            if (A->imag) at += add_value(out + at, A->imag[k]);
            out[at] = 0;
        }
}

void show_load(const char *path, char *out, size_t size)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!mtx_load(path, NULL, &A, &info, &e)) {
        const char *colon = strrchr(e.where, ':');
        snprintf(out, size, "%d %s: %s", (int)e.code, colon ? colon + 1 : "", e.text);
        assert_null(A.rowptr);
        return;
    }
    if (!csr_check(&A, &e)) fail_msg("%s", e.text);
    show_matrix(&A, out, size);
    for (int i = 0; i < info.nwarnings; i++) {
        size_t at = strlen(out);
        snprintf(out + at, size - at, " | %s", info.warning[i]);
    }
    csr_free(&A);
}
