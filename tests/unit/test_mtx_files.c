/* Real-world files: compressed, archived, missing and damaged files, and the whole collection. Other tests check saving
   and failing allocations. */
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/mtx.h"
#include "kits/collection.h"
#include "kits/mtx_kit.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD "%%MatrixMarket matrix coordinate real general\n"
static const char small[] = HEAD "2 2 2\n1 1 0.5\n2 2 -1\n";
static const char small_shown[] = "2x2: 1 1 0.5; 2 2 -1";
static const struct member alone = {"a.mtx", small, sizeof small - 1};

static void assert_loads(const char *path, const char *result)
{
    char out[4096];
    show_load(path, out, sizeof out);
    if (strcmp(out, result)) fail_msg("%s: expected \"%s\", got \"%s\"", path, result, out);
}

static void assert_refused(const char *path, enum code code, const char *says)
{
    char out[4096], start[16];
    show_load(path, out, sizeof out);
    snprintf(start, sizeof start, "%d ", (int)code);
    if (strncmp(out, start, strlen(start)) || !strstr(out, says))
        fail_msg("%s: expected \"%s...%s\", got \"%s\"", path, start, says, out);
}

TEST(compression_is_detected_from_content)
{
    static const struct {
        const char *name;
        int filter;
        bool tar;
    } table[] = {
        {"plain.gz", ARCHIVE_FILTER_NONE, false},   {"gzip.mtx", ARCHIVE_FILTER_GZIP, false},
        {"xz.mtx", ARCHIVE_FILTER_XZ, false},       {"zstd.mtx", ARCHIVE_FILTER_ZSTD, false},
        {"bzip2.mtx", ARCHIVE_FILTER_BZIP2, false}, {"tar.mtx", ARCHIVE_FILTER_NONE, true},
        {"tar.gz", ARCHIVE_FILTER_GZIP, true},      {"tar.xz", ARCHIVE_FILTER_XZ, true},
        {"tar.zst", ARCHIVE_FILTER_ZSTD, true},
    };
    for (int b = 0; b < 2; b++) {
        mtx_hooks(b ? 16 : 0, 0);
        for (int i = 0; i < COUNT(table); i++)
            assert_loads(pack_file(table[i].name, table[i].filter, table[i].tar, &alone, 1), small_shown);
    }
    mtx_hooks(0, 0);
}

TEST(an_archive_yields_its_only_matrix)
{
    static const char other[] = HEAD "1 1 1\n1 1 7\n";
    const struct member one[] = {{"x/README", "hello", 5}, {"x/any.mtx", small, sizeof small - 1}};
    const struct member named[] = {{"bus/bus_b.mtx", other, sizeof other - 1},
                                   {"bus/bus.mtx", small, sizeof small - 1},
                                   {"bus/bus_x.mtx", other, sizeof other - 1}};
    assert_loads(pack_file("one.tar.gz", ARCHIVE_FILTER_GZIP, true, one, 2), small_shown);
    assert_loads(pack_file("bus.tar.gz", ARCHIVE_FILTER_GZIP, true, named, 3), small_shown);
    assert_refused(
        pack_file("other.tar.gz", ARCHIVE_FILTER_GZIP, true, named, 3), E_INPUT,
        "holds 3 .mtx or .rb files, and none has the archive's name: bus/bus_b.mtx, bus/bus.mtx, bus/bus_x.mtx");
    assert_refused(pack_file("none.tar.gz", ARCHIVE_FILTER_GZIP, true, one, 1), E_INPUT, "holds no .mtx or .rb file");
}

TEST(double_compression_is_refused)
{
    size_t n;
    char *data = read_whole(pack_file("once", ARCHIVE_FILTER_GZIP, false, &alone, 1), &n);
    const struct member packed = {"a.mtx.gz", data, n};
    assert_refused(pack_file("gz.gz", ARCHIVE_FILTER_GZIP, false, &packed, 1), E_INPUT, "compressed twice");
    assert_refused(pack_file("gz.xz", ARCHIVE_FILTER_XZ, false, &packed, 1), E_INPUT, "compressed twice");
    mem_free(data);
}

/* 3,000 entries make a gzip file that is large enough to damage. */
static struct member many_entries(void)
{
    enum { LINES = 3000, ROOM = LINES * 40 };
    char *text = mem_new(ROOM, 1, "text", NULL);
    uint64_t seed = 1;
    int at = snprintf(text, ROOM, "%s%d 1 %d\n", HEAD, LINES, LINES);
    for (int i = 1; i <= LINES; i++)
        at += snprintf(text + at, (size_t)(ROOM - at), "%d 1 %.17g\n", i, random_unit(&seed));
    return (struct member){"many.mtx", text, (size_t)at};
}

TEST(damage_is_found)
{
    struct member m = many_entries();
    size_t n;
    char *z = read_whole(pack_file("good.gz", ARCHIVE_FILTER_GZIP, false, &m, 1), &n);
    const size_t ends[] = {n / 2, n - 4, n - 8, n - 1, 12, 3}, flips[] = {n - 6, n - 2, n / 2, n / 3};
    for (int i = 0; i < COUNT(ends); i++) assert_refused(write_file("cut.gz", z, ends[i]), E_INPUT, "truncated");
    for (int i = 0; i < COUNT(flips); i++) {
        z[flips[i]] ^= 1;
        assert_refused(write_file("flip.gz", z, n), E_INPUT, "");
        z[flips[i]] ^= 1;
    }
    mem_free(z);
    mem_free((char *)m.data);
}

static void garbage_is_a_warning(int filter)
{
    struct member m = many_entries();
    size_t n;
    char *z = read_whole(pack_file("good.gz", filter, false, &m, 1), &n);
    char *copy = mem_new((int64_t)n + 7, 1, "copy", NULL);
    memcpy(copy, z, n);
    memcpy(copy + n, "garbage", 7);
    static char out[1 << 18], again[1 << 18];
    show_load(write_file("garbage.gz", copy, n + 7), out, sizeof out);
    assert_non_null(strstr(out, " | bytes after the compressed data were ignored"));
    *strstr(out, " | ") = 0;
    show_load(scratch_path("good.gz"), again, sizeof again);
    assert_string_equal(out, again);
    mem_free(z);
    mem_free(copy);
    mem_free((char *)m.data);
}

TEST(garbage_after_the_data_is_a_warning)
{
    garbage_is_a_warning(ARCHIVE_FILTER_GZIP);
    garbage_is_a_warning(ARCHIVE_FILTER_BZIP2);
}

TEST(gzip_members_are_concatenated)
{
    const struct member halves[] = {{"a", small, 60}, {"b", small + 60, sizeof small - 61}};
    char both[1024];
    size_t at = 0;
    for (int i = 0; i < 2; i++) {
        size_t n;
        char *z = read_whole(pack_file("half.gz", ARCHIVE_FILTER_GZIP, false, &halves[i], 1), &n);
        memcpy(both + at, z, n);
        at += n;
        mem_free(z);
    }
    assert_loads(write_file("both.gz", both, at), small_shown);
}

TEST(truncated_tar_and_xz_are_found)
{
    static const int filters[] = {ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD};
    struct member m = many_entries();
    for (int i = 0; i < COUNT(filters); i++)
        for (int tar = 0; tar < 2; tar++) {
            size_t n;
            char *z = read_whole(pack_file("whole", filters[i], tar, &m, 1), &n);
            assert_refused(write_file("cut", z, n / 2), E_INPUT, "runcated");
            mem_free(z);
        }
    mem_free((char *)m.data);
}

/* The text before the damage is read, and it is much longer than one unpacked chunk, so the message is about the error
   in line 3 and not about the damage. An archive whose first file is a matrix is not read to its end. */
TEST(text_before_damage_is_read)
{
    static const struct {
        int filter;
        bool tar;
    } table[] = {{ARCHIVE_FILTER_GZIP, false}, {ARCHIVE_FILTER_XZ, false}, {ARCHIVE_FILTER_GZIP, true}};
    enum { TIMES = 4 };
    struct member m = many_entries();
    char *text = mem_new((int64_t)m.n * TIMES, 1, "text", NULL), out[4096];
    for (size_t i = 0; i < TIMES; i++) memcpy(text + i * m.n, m.data, m.n);
    *strchr(strchr(strchr(text, '\n') + 1, '\n') + 1, '1') = '?';
    const struct member faulty = {"a.mtx", text, m.n * TIMES};
    for (int i = 0; i < 2 * COUNT(table); i++) {
        size_t n;
        char *z = read_whole(pack_file("good", table[i / 2].filter, table[i / 2].tar, &faulty, 1), &n);
        mtx_hooks(i % 2 ? 61 : 0, 2);
        show_load(write_file("a.cut", z, n - n / 50), out, sizeof out);
        if (strncmp(out, "2 3: ", 5)) fail_msg("%d: \"%s\"", i, out);
        mem_free(z);
    }
    mtx_hooks(0, 0);
    mem_free(text);
    mem_free((char *)m.data);
}

/* Flip a bit in every byte, and truncate at every length: the result is a message, or the right matrix if the byte has
   no meaning. Without a checksum (`sums` false), a flipped bit may also give a different matrix. */
static void assert_guarded(const char *name, const char *path, bool sums)
{
    char out[4096];
    size_t n;
    char *z = read_whole(path, &n);
    for (size_t k = 0; k < n; k++) {
        z[k] ^= (char)(1 << k % 8);
        show_load(write_file("flip", z, n), out, sizeof out);
        if (sums && strncmp(out, "2 ", 2) && strncmp(out, small_shown, strlen(small_shown)))
            fail_msg("%s, byte %d: another matrix \"%s\"", name, (int)k, out);
        z[k] ^= (char)(1 << k % 8);
    }
    for (size_t k = 0; k < n; k++) {
        show_load(write_file("cut", z, k), out, sizeof out);
        if (strncmp(out, "2 ", 2) && strcmp(out, small_shown)) fail_msg("%s cut at %d: \"%s\"", name, (int)k, out);
    }
    mem_free(z);
}

TEST(damage_of_archives_is_found)
{
    static const struct {
        const char *name;
        int filter;
        bool tar, sums;
    } table[] = {
        {"gz", ARCHIVE_FILTER_GZIP, false, true},   {"xz", ARCHIVE_FILTER_XZ, false, true},
        {"bz2", ARCHIVE_FILTER_BZIP2, false, true}, {"zst", ARCHIVE_FILTER_ZSTD, false, false},
        {"tar", ARCHIVE_FILTER_NONE, true, false},  {"tar.gz", ARCHIVE_FILTER_GZIP, true, true},
        {"tar.xz", ARCHIVE_FILTER_XZ, true, true},
    };
    for (int i = 0; i < COUNT(table); i++)
        assert_guarded(table[i].name, pack_file("good", table[i].filter, table[i].tar, &alone, 1), table[i].sums);
    assert_loads("tests/fuzz/corpus/plain.mtx.zst", small_shown);
    /* The program zstd writes a checksum. */
    assert_guarded("zst with a sum", "tests/fuzz/corpus/plain.mtx.zst", true);
}

/* A tar archive with entries of any type; links have no data. */
static const char *tar_of(const char *name, const struct member *m, const unsigned *types, int n)
{
    const char *path = scratch_path(name);
    struct archive *a = archive_write_new();
    archive_write_set_format_pax_restricted(a);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    for (int i = 0; i < n; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, m[i].name);
        archive_entry_set_filetype(entry, types[i]);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (int64_t)m[i].n);
        if (types[i] == AE_IFLNK) archive_entry_set_symlink(entry, "/etc/passwd");
        assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
        if (m[i].n) assert_int_equal(archive_write_data(a, m[i].data, m[i].n), m[i].n);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return path;
}

TEST(only_files_of_an_archive_count)
{
    static const unsigned types[] = {AE_IFDIR, AE_IFLNK, AE_IFIFO, AE_IFREG, AE_IFREG, AE_IFREG};
    const struct member m[] = {{"a.mtx/", "", 0}, {"b.mtx", "", 0},      {"c.mtx", "", 0},
                               {".mtx", "x", 1},  {"d.mtx.txt", "x", 1}, {"e.MTX", small, sizeof small - 1}};
    const struct member hostile[] = {{"\x1b[2J.mtx", "", 0}, {"b.mtx", "", 0}};
    assert_loads(tar_of("links.tar", m, types, 6), small_shown);
    assert_refused(tar_of("links.tar", m, types, 5), E_INPUT, "holds no .mtx or .rb file");
    assert_refused(tar_of("empty.tar", m, types, 0), E_INPUT, "a tar archive without files");
    assert_refused(tar_of("hostile.tar", hostile, types + 3, 2), E_INPUT, "\\x1b[2J.mtx, b.mtx");
}

TEST(unreadable_files_are_named)
{
    assert_refused(scratch_path("missing.mtx"), E_IO, "No such file");
    assert_refused("/tmp", E_IO, "a directory");
    assert_refused("/dev/null", E_IO, "a device");
    assert_refused("/proc/self/mem", E_IO, "Input/output error");
    assert_refused(write_file("empty.gz", "", 0), E_INPUT, "file is empty");
    const char *secret = write_file("secret.mtx", small, sizeof small - 1);
    chmod(secret, 0);
    if (geteuid() == 0)
        printf("skip: root reads unreadable files\n");
    else
        assert_refused(secret, E_IO, "Permission denied");
}

static const char *write_bomb(const char *head, char fill, const char *tail)
{
    static char piece[1 << 20];
    const char *path = scratch_path("bomb.gz");
    gzFile f = gzopen(path, "wb1");
    memset(piece, fill, sizeof piece);
    gzputs(f, head);
    for (int i = 0; i < 256; i++) assert_int_equal(gzwrite(f, piece, sizeof piece), sizeof piece);
    gzputs(f, tail);
    assert_int_equal(gzclose(f), Z_OK);
    return path;
}

static bool stop_at_any(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return --*(int *)w->user > 0;
}

/* macOS adds ._NAME for the attributes of NAME. */
TEST(files_of_attributes_do_not_count)
{
    static const unsigned types[] = {AE_IFREG, AE_IFREG};
    const struct member m[] = {{"./._m.mtx", "\0\5\x16\7", 4}, {"./m.mtx", small, sizeof small - 1}};
    assert_loads(tar_of("dotslash.tar", m, types, 2), small_shown);
    assert_refused(tar_of("dotslash.tar", m, types, 1), E_INPUT, "holds no .mtx or .rb file");
}

/* Does the pipe have a reader that has not read what was written? */
static bool is_unread(int pipe)
{
    int n = 0;
    struct pollfd no_reader = {.fd = pipe};
    return !ioctl(pipe, FIONREAD, &n) && n && poll(&no_reader, 1, 0) == 0;
}

/* Write the bytes to a named pipe in another process; the first byte is read before the others are written. */
static pid_t pour(const char *pipe, const char *data, size_t n)
{
    pid_t child = fork();
    if (child) return child;
    int to = open(pipe, O_WRONLY);
    ssize_t first = write(to, data, 1);
    while (first == 1 && is_unread(to)) sched_yield();
    for (size_t at = 1; first == 1 && at < n;) {
        ssize_t r = write(to, data + at, n - at);
        if (r <= 0) break;
        at += (size_t)r;
    }
    _exit(0);
}

TEST(pipes_are_read)
{
    static const struct {
        int filter;
        bool tar;
    } table[] = {{ARCHIVE_FILTER_NONE, false}, {ARCHIVE_FILTER_GZIP, false}, {ARCHIVE_FILTER_XZ, false},
                 {ARCHIVE_FILTER_NONE, true},  {ARCHIVE_FILTER_GZIP, true},  {ARCHIVE_FILTER_ZSTD, true}};
    static char want[1 << 18], got[1 << 18];
    struct member m = many_entries();
    const char *pipe = scratch_path("named.pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    show_load(write_file("many.mtx", m.data, m.n), want, sizeof want);
    for (int i = 0; i < 2 * COUNT(table); i++) {
        size_t n;
        char *z = read_whole(pack_file("packed", table[i / 2].filter, table[i / 2].tar, &m, 1), &n);
        pid_t child = pour(pipe, z, n);
        mtx_hooks(i % 2 ? 4096 : 0, 3);
        show_load(pipe, got, sizeof got);
        waitpid(child, NULL, 0);
        if (strcmp(got, want)) fail_msg("%d: \"%.200s\"", i, got);
        mem_free(z);
    }
    mtx_hooks(0, 0);
    mem_free((char *)m.data);
    unlink(pipe);
}

/* The only matrix with the name of its folder is the one to read. */
TEST(an_archive_from_a_pipe_has_no_name)
{
    static const char other[] = HEAD "1 1 1\n1 1 7\n";
    const struct member m[] = {{"bus/bus_b.mtx", other, sizeof other - 1},
                               {"./bus/bus.mtx", small, sizeof small - 1},
                               {"us/bus.mtx", other, sizeof other - 1},
                               {"cow/cow.mtx", other, sizeof other - 1}};
    char got[4096];
    const char *pipe = scratch_path("archive.pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    for (int i = 3; i <= 4; i++) {
        size_t n;
        char *z = read_whole(pack_file("packed", ARCHIVE_FILTER_GZIP, true, m, i), &n);
        pid_t child = pour(pipe, z, n);
        show_load(pipe, got, sizeof got);
        waitpid(child, NULL, 0);
        if (i == 3) assert_string_equal(got, small_shown);
        if (i == 4) assert_non_null(strstr(got, "holds 4 .mtx or .rb files, and none has the archive's name"));
        mem_free(z);
    }
    unlink(pipe);
}

/* Ctrl-C ends a load that waits for a pipe to be opened for writing, or for text that is never written to the pipe. */
TEST(waiting_for_a_pipe_can_be_cancelled)
{
    static const char *const starts[] = {"", HEAD, HEAD "2 2 2\n1 1 1\n"};
    for (int i = 0; i < COUNT(starts); i++) {
        int calls = 20;
        struct csr A;
        struct err e = {0};
        struct watch w = {.tick = stop_at_any, .user = &calls};
        const char *pipe = scratch_path("silent.pipe");
        assert_int_equal(mkfifo(pipe, 0600), 0);
        int to = *starts[i] ? open(pipe, O_RDWR) : -1;
        if (to >= 0) assert_int_equal(write(to, starts[i], strlen(starts[i])), strlen(starts[i]));
        mtx_hooks(0, 3);
        assert_false(mtx_load(pipe, &w, &A, NULL, &e));
        mtx_hooks(0, 0);
        if (e.code != E_CANCELLED) fail_msg("%d: %s", i, e.text);
        if (to >= 0) close(to);
        unlink(pipe);
    }
}

/* A text without entries, however well it is compressed, is not read to its end. */
TEST(silence_is_refused)
{
    static const struct {
        const char *head;
        char fill;
    } table[] = {{HEAD, '\n'}, {"", '\n'}, {HEAD "1 1 1\n", '\r'}, {HEAD "%", 'x'}};
    char out[4096];
    lines_quiet(1 << 20);
    for (int i = 0; i < COUNT(table); i++) {
        show_load(write_bomb(table[i].head, table[i].fill, "\n1 1 1\n1 1 1\n"), out, sizeof out);
        if (*out != '5' || !strstr(out, "more than 1 MiB of unpacked text hold no entry"))
            fail_msg("%d: \"%s\"", i, out);
    }
    lines_quiet(0);
    scratch_remove();
}

TEST(a_hostile_name_is_escaped)
{
    struct err e = {0};
    struct csr A;
    assert_false(mtx_load(write_file("\x1b[2J.mtx", "x\n", 2), NULL, &A, NULL, &e));
    assert_null(strchr(e.where, '\x1b'));
    assert_non_null(strstr(e.where, "\\x1b[2J.mtx:1"));
}

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done <= total);
    return --*(int *)w->user > 0;
}

TEST(loading_can_be_cancelled)
{
    struct member m = many_entries();
    const char *path = write_file("many.mtx", m.data, m.n);
    for (int left = 1; left < 40; left += 13) {
        mtx_hooks(256, left == 1 ? 2 : 1); /* only the first of several threads checks for Ctrl-C, so the check may come
                                              late */
        int calls = left;
        struct csr A;
        struct err e = {0};
        struct watch w = {.tick = stop_at, .user = &calls};
        assert_false(mtx_load(path, &w, &A, NULL, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_null(A.rowptr);
    }
    mtx_hooks(0, 0);
    mem_free((char *)m.data);
}

/* Rows without entries take time too: the code that makes them checks for Ctrl-C. */
TEST(empty_rows_can_be_cancelled)
{
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real general\n60000000 9 2\n1 1 1\n60000000 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n60000000 9 2\n60000000 1 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n60000000 60000000 2\n1 1\n60000000 1\n",
    };
    for (int i = 0; i < COUNT(texts); i++) {
        int calls = 14;
        struct csr A;
        struct err e = {0};
        struct watch w = {.tick = stop_at_any, .user = &calls};
        assert_false(mtx_load(write_file("rows.mtx", texts[i], strlen(texts[i])), &w, &A, NULL, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_null(A.rowptr);
    }
}

TEST(every_failing_allocation_is_reported)
{
    static const char *const texts[] = {
        small,
        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n1 1 1 0\n\n1 2 3 4\n%\n3 2 5 6\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n3\n",
    };
    mtx_hooks(16, 2);
    for (int i = 0; i < COUNT(texts); i++) {
        const char *path = write_file("case.mtx", texts[i], strlen(texts[i]));
        bool loaded = false;
        for (int n = 1; n < 1000 && !loaded; n++) {
            struct csr A;
            struct err e = {0};
            mem_fail_at(n);
            loaded = mtx_load(path, NULL, &A, NULL, &e);
            mem_fail_at(0);
            if (!loaded) assert_int_equal(e.code, E_MEMORY);
            csr_free(&A);
        }
        assert_true(loaded);
    }
    mtx_hooks(0, 0);
}

TEST(a_declared_size_allocates_nothing)
{
    static const char text[] = HEAD "2147483647 2147483647 2147483647\n1 1 1\n";
    static const char small_file[] = HEAD "9 9 0\n";
    struct csr A;
    struct err e = {0};
    const char *path = write_file("case.mtx", text, sizeof text - 1);
    int64_t before = mem_count();
    assert_false(mtx_load(path, NULL, &A, NULL, &e));
    assert_int_equal(e.code, E_INPUT);
    int64_t made = mem_count() - before;
    path = write_file("case.mtx", small_file, sizeof small_file - 1);
    before = mem_count();
    assert_true(mtx_load(path, NULL, &A, NULL, NULL));
    assert_true(made < mem_count() - before); /* the reader stopped before it read the body */
    csr_free(&A);
}

/* If the size of the file does not reveal the number of entries, a wrong count is found at the end of the file, and no
   memory is allocated for the missing entries. */
TEST(a_count_in_a_compressed_file_is_not_trusted)
{
    static const char few[] = HEAD "2147483647 2147483647 2147483647\n1 1 1\n";
    static const char array[] = "%%MatrixMarket matrix array real symmetric\n65535 65535\n1\n2\n3\n";
    static const char many[] = HEAD "9 9 1\n1 1 1\n2 2 2\n";
    const struct member m[] = {
        {"a", few, sizeof few - 1}, {"a", array, sizeof array - 1}, {"a", many, sizeof many - 1}};
    static const char *const says[] = {"ends at line 3 after 1", "ends at line 5 after 3", "declares only 1"};
    for (int i = 0; i < COUNT(says); i++)
        assert_refused(pack_file("lie.gz", ARCHIVE_FILTER_GZIP, false, &m[i], 1), E_INPUT, says[i]);
}

/* Sizes beyond the limits are refused with a message about them, before memory is allocated. */
TEST(sizes_beyond_the_limits_allocate_nothing)
{
    static const char *const texts[] = {
        HEAD "2147483647 2147483647 999999999999999999\n1 1 1\n",
        HEAD "2147483648 1 1\n1 1 1\n",
        HEAD "1 9223372036854775807 1\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n2147483647 1073741824\n1\n",
        "%%MatrixMarket matrix array real skew-symmetric\n2147483647 2147483647\n1\n",
    };
    assert_refused(write_file("none.mtx", HEAD, sizeof HEAD - 1), E_INPUT, "size line");
    for (int i = 0; i < 2 * COUNT(texts); i++) {
        struct csr A;
        struct err e = {0};
        const struct member m = {"a", texts[i / 2], strlen(texts[i / 2])};
        const char *path =
            i % 2 ? pack_file("beyond", ARCHIVE_FILTER_GZIP, false, &m, 1) : write_file("beyond", m.data, m.n);
        int64_t before = mem_count();
        assert_false(mtx_load(path, NULL, &A, NULL, &e));
        assert_int_equal(e.code, E_LIMIT);
        assert_non_null(strstr(e.text, i / 2 == 1 || i / 2 == 2 ? "32-bit indices" : "are too many"));
        assert_non_null(strstr(e.where, ":2"));
        if (mem_count() - before > 6) fail_msg("%d: %d blocks of memory", i, (int)(mem_count() - before));
    }
}

/* The peak of resident memory since the last call, in MiB. */
static int peak(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %ld", &kb);
    if (f) fclose(f);
    f = fopen("/proc/self/clear_refs", "w");
    if (f) fputs("5", f);
    if (!f || fclose(f)) printf("skip: the peak of memory cannot be set back\n");
    return (int)(kb >> 10);
}

/* The compressed files are small, but their text has more than 256 MiB. */
TEST(a_compression_bomb_allocates_little)
{
    static const struct {
        const char *head, *tail, *shown;
        char fill;
        int most; /* limit in MiB */
    } table[] = {
        {HEAD "%", "\n1 1 1\n1 1 2\n", "1x1: 1 1 2", 'x', 40},
        {HEAD "1 1 1\n1 1 2\n%", "\n", "1x1: 1 1 2 |", 'x', 40},
        {HEAD "1 1 1\n", "\n1 1 2\n", "1x1: 1 1 2", '\n', 40},
        {HEAD "1 1 1\n", "\n", "5 3: the line is longer than 64 MiB", 0, 300},
        {HEAD "1 1 1\n1 1 ", "\n", "5 3: the line is longer than 64 MiB", '1', 300},
    };
    char out[4096];
    for (int i = 0; i < COUNT(table); i++) {
        const char *path = write_bomb(table[i].head, table[i].fill, table[i].tail);
        mtx_hooks(0, 2);
        peak();
        int before = peak();
        show_load(path, out, sizeof out);
        int after = peak();
        if (strncmp(out, table[i].shown, strlen(table[i].shown)) || after - before > table[i].most)
            fail_msg("%d: expected \"%s\" and %d MiB, got \"%s\" and %d", i, table[i].shown, table[i].most, out,
                     after - before);
    }
    mtx_hooks(0, 0);
    scratch_remove();
}

struct shrinking {
    const char *path;
    int64_t to;
    int calls; /* number of ticks until the file is truncated */
};

static bool shrink(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct shrinking *s = w->user;
    if (--s->calls == 0) assert_int_equal(truncate(s->path, s->to), 0);
    return true;
}

/* However much was read before the file was truncated, an incomplete matrix is refused; a matrix that had been read
   completely is loaded. */
TEST(a_file_may_shrink_while_it_is_read)
{
    static const int64_t to[] = {0, 10, 60, 5000, 30000};
    static const int threads[] = {1, 2, 7, 64};
    struct member m = many_entries();
    char name[] = "shrinks.mtx";
    for (int i = 0; i < COUNT(to) * COUNT(threads) * 2 * 3; i++) {
        bool packed = i % 2;
        const char *path = packed ? pack_file(name, ARCHIVE_FILTER_GZIP, false, &m, 1) : write_file(name, m.data, m.n);
        struct shrinking s = {path, to[i / 2 % COUNT(to)], 1 + i / 2 / COUNT(to) / COUNT(threads) * 3};
        struct watch w = {.tick = shrink, .user = &s};
        struct csr A;
        struct err e = {0};
        mtx_hooks(256, threads[i / 2 / COUNT(to) % COUNT(threads)]);
        bool ok = mtx_load(path, &w, &A, NULL, &e);
        if (ok)
            assert_true(A.nnz == 3000 && (packed || s.calls > 0 || threads[i / 2 / COUNT(to) % COUNT(threads)] > 1));
        if (!ok && e.code != E_INPUT) fail_msg("%d: %s: %s", i, e.where, e.text);
        csr_free(&A);
    }
    mtx_hooks(0, 0);
    mem_free((char *)m.data);
}

/* A megabyte of entries after the two declared entries: reading must stop soon after the declared entries. */
TEST(surplus_entries_are_not_read_to_the_end)
{
    enum { LINES = 1 << 18, LINE = 6, AT = sizeof small - 1 };
    char *text = mem_new(AT + LINES * LINE, 1, "text", NULL);
    int calls = 1000;
    struct csr A;
    struct err e = {0};
    struct watch w = {.tick = stop_at, .user = &calls};
    memcpy(text, small, AT);
    for (int64_t i = 0; i < LINES; i++) memcpy(text + AT + i * LINE, "1 1 1\n", LINE);
    mtx_hooks(1 << 12, 1);
    assert_false(mtx_load(write_file("surplus.mtx", text, AT + LINES * LINE), &w, &A, NULL, &e));
    mtx_hooks(0, 0);
    assert_non_null(strstr(e.where, ":5"));
    assert_true(calls > 990);
    mem_free(text);
}

static bool random_csr(struct csr *A, bool complex_values, int64_t rows, int64_t cols, int64_t n, struct err *e)
{
    uint64_t seed = 7;
    if (!csr_new(A, rows, cols, n, complex_values, e)) return false;
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits = random_next(&seed);
        memcpy(&A->val[k], &bits, sizeof bits);
        if (isnan(A->val[k])) A->val[k] = k % 2 ? INFINITY : -0.0;
        if (complex_values) A->imag[k] = random_unit(&seed) * 5e-324;
        A->col[k] = (int)(k % cols);
    }
    for (int64_t r = 0; r <= rows; r++) A->rowptr[r] = (int)(r * cols < n ? r * cols : n);
    return csr_check(A, e);
}

TEST(saved_matrices_round_trip)
{
    static const char *const names[] = {"saved.mtx", "saved.mtx.gz"};
    static const int64_t shapes[][3] = {{0, 0, 0}, {3, 0, 0}, {1, 1, 1}, {70, 300, 20500}, {300, 7, 2100}};
    for (int i = 0; i < COUNT(shapes) * 4; i++) {
        struct csr A, B;
        struct load_info info;
        struct err e = {0};
        const int64_t *s = shapes[i / 4];
        const char *path = scratch_path(names[i % 2]);
        assert_true(random_csr(&A, i / 2 % 2, s[0], s[1], s[2], &e));
        bool ok = mtx_save(path, true, &A, "made by a test\nof two \x1b lines", NULL, &e) &&
                  mtx_load(path, NULL, &B, &info, &e);
        if (!ok) fail_msg("%s", e.text);
        assert_true(csr_equal(&A, &B));
        assert_string_equal(info.field, A.imag ? "complex" : "real");
        csr_free(&A);
        csr_free(&B);
    }
}

/* The file is a single gzip stream and unpacks to the text of the uncompressed file, whatever the number of threads. */
TEST(a_packed_save_is_one_stream)
{
    struct csr A;
    int threads = omp_get_max_threads();
    assert_true(random_csr(&A, false, 400, 300, 100000, NULL));
    assert_true(mtx_save(scratch_path("plain.mtx"), true, &A, "two", NULL, NULL));
    size_t n, packed;
    char *text = read_whole(scratch_path("plain.mtx"), &n), *got = mem_new((int64_t)n + 1, 1, "text", NULL);
    for (int t = 1; t <= 7; t += 3) {
        omp_set_num_threads(t);
        assert_true(mtx_save(scratch_path("packed.mtx.gz"), true, &A, "two", NULL, NULL));
        char *z = read_whole(scratch_path("packed.mtx.gz"), &packed);
        z_stream s = {.next_in = (unsigned char *)z,
                      .avail_in = (unsigned)packed,
                      .next_out = (unsigned char *)got,
                      .avail_out = (unsigned)n + 1};
        assert_int_equal(inflateInit2(&s, 15 + 16), Z_OK);
        assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
        assert_int_equal(s.total_out, n);
        assert_int_equal(s.avail_in, 0);
        assert_memory_equal(got, text, n);
        inflateEnd(&s);
        mem_free(z);
    }
    omp_set_num_threads(threads);
    mem_free(text);
    mem_free(got);
    csr_free(&A);
}

/* Whichever allocation fails, and whenever the user cancels, there is a message and no file. Two threads: with more,
   the save of this matrix ends before the later calls of tick. */
TEST(a_packed_save_can_fail_anywhere)
{
    struct csr A;
    bool saved = false;
    int threads = omp_get_max_threads();
    scratch_remove();
    omp_set_num_threads(2);
    assert_true(random_csr(&A, false, 400, 300, 100000, NULL));
    const char *path = scratch_path("a.mtx.gz");
    for (int n = 1; n < 100 && !saved; n++) {
        struct err e = {0};
        mem_fail_at(n);
        saved = mtx_save(path, true, &A, NULL, NULL, &e);
        mem_fail_at(0);
        if (!saved) assert_int_equal(e.code, E_MEMORY);
        assert_int_equal(scratch_files(), saved);
    }
    assert_true(saved);
    for (int calls = 1; calls < 12; calls += 5) {
        int left = calls;
        struct err e = {0};
        struct watch w = {.tick = stop_at, .user = &left};
        assert_false(mtx_save(scratch_path("b.mtx.gz"), true, &A, NULL, &w, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_int_equal(scratch_files(), 1);
    }
    omp_set_num_threads(threads);
    csr_free(&A);
}

TEST(a_failed_save_leaves_the_old_file)
{
    struct csr A;
    struct err e = {0};
    int calls = 1;
    struct watch w = {.tick = stop_at, .user = &calls};
    scratch_remove();
    const char *path = write_file("kept.mtx", small, sizeof small - 1);
    assert_true(random_csr(&A, false, 200, 300, 60000, &e));
    assert_false(mtx_save(path, true, &A, NULL, &w, &e));
    assert_int_equal(e.code, E_CANCELLED);
    mem_fail_at(1);
    assert_false(mtx_save(path, true, &A, NULL, NULL, NULL));
    mem_fail_at(0);
    err_clear(&e);
    assert_false(mtx_save(scratch_path("no/such/place.mtx"), true, &A, NULL, NULL, &e));
    assert_int_equal(e.code, E_IO);
    assert_false(mtx_save("/tmp", true, &A, NULL, NULL, NULL));
    assert_int_equal(scratch_files(), 1);
    assert_loads(path, small_shown);
    csr_free(&A);
}

TEST(vectors_have_two_forms)
{
    static const struct {
        const char *text, *where, *says; /* says: text of the error; NULL: the vector is 1, 0, -2.5 */
    } table[] = {
        {"1\n0\n-2.5\n", NULL, NULL},
        {"# three\n\n1 0 -2.5d0", NULL, NULL},
        {"%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n", NULL, NULL},
        {"%%MatrixMarket vector coordinate real general\n3 2\n3 -2.5\n1 1\n", NULL, NULL},
        {"1\n2\n", ":2", "ends after 2 of 3 numbers"},
        {"1\n2\n3\n4\n", ":4", "more than 3 numbers"},
        {"1\n2\nx\n", ":3", "banner: \"x\""},
        {"%%MatrixMarket matrix array real general\n1 3\n1\n0\n-2.5\n", "", "the vector is 1 x 3"},
        {"%%MatrixMarket matrix array complex general\n3 1\n1 0\n0 0\n2 0\n", "", "complex"},
        {"", ":1", "file is empty"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        double x[3] = {9, 9, 9};
        struct err e = {0};
        bool ok = mtx_load_vector(write_file("x.txt", table[i].text, strlen(table[i].text)), 3, x, &e);
        if (ok == (table[i].says != NULL)) fail_msg("%s: %s", table[i].text, e.text);
        if (ok)
            assert_true(x[0] == 1 && x[1] == 0 && x[2] == -2.5);
        else if (!strstr(e.text, table[i].says) || !strstr(e.where, table[i].where))
            fail_msg("%s: %s", e.where, e.text);
    }
}

/* Complex numbers are pairs; a real matrix has imaginary parts 0. */
TEST(complex_vectors_are_pairs)
{
    static const double real[] = {1, 0, 0, 0, -2.5, 0}, whole[] = {1, 10, 0, 20, -2.5, 30};
    static const double columns[] = {1, 10, 0, 20, -2.5, 30, 4, 40, 5, 50, 0, 0};
    static const struct {
        const char *text;
        int64_t columns;
        const double *x;
    } table[] = {
        {"1 10\n0 20 -2.5\n30\n", 1, whole},
        {"%%MatrixMarket matrix array complex general\n3 1\n1 10\n0 20\n-2.5 30\n", 1, whole},
        {"%%MatrixMarket matrix coordinate complex general\n3 1 3\n3 1 -2.5 30\n1 1 1 10\n2 1 0 20\n", 1, whole},
        {"%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n", 1, real},
        {"%%MatrixMarket matrix array complex general\n3 2\n1 10\n0 20\n-2.5 30\n4 40\n5 50\n0 0\n", 2, columns},
    };
    for (int i = 0; i < COUNT(table); i++) {
        const char *path = write_file("x.txt", table[i].text, strlen(table[i].text));
        double x[6], *all;
        int64_t n;
        struct err e = {0};
        bool one = table[i].columns == 1, ok = mtx_load_complex_vector(path, 3, x, &e);
        if (ok != one) fail_msg("%s: %s", table[i].text, e.text);
        if (one) assert_memory_equal(x, table[i].x, sizeof x);
        err_clear(&e);
        if (!mtx_load_columns(path, 3, true, &all, &n, &e)) fail_msg("%s: %s", table[i].text, e.text);
        assert_int_equal(n, table[i].columns);
        assert_memory_equal(all, table[i].x, (size_t)n * sizeof x);
        mem_free(all);
    }
}

enum { NAME, ROWS, COLS, STORED, FIELD, SYMMETRY, KIND, NNZ, ZEROS, COLUMNS };

static void check_file(const char *dir, char *const *c)
{
    char path[1024], got[512], want[512];
    struct csr A;
    struct load_info info;
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s.mtx.gz", dir, c[NAME]);
    if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", e.where, e.text);
    snprintf(want, sizeof want, "%s %s %s %s %s %s %s", c[ROWS], c[COLS], c[STORED], c[FIELD], c[SYMMETRY], c[NNZ],
             c[ZEROS]);
    snprintf(got, sizeof got, "%lld %lld %lld %s %s %lld %lld", (long long)A.rows, (long long)A.cols,
             (long long)info.nnz_stored, info.field, info.symmetry, (long long)A.nnz, (long long)info.explicit_zeros);
    if (strcmp(got, want)) fail_msg("%s: expected %s, got %s", path, want, got);
    assert_int_equal(info.nwarnings, !strcmp(c[NAME], "USpowerGrid"));
    assert_int_equal(info.duplicates, 0);
    csr_free(&A);
}

TEST(the_whole_collection_loads)
{
    const char *dir;
    char line[4096];
    int n = 0;
    FILE *f = collection_index("the loading of the whole collection", &dir);
    if (!f) return;
    while (fgets(line, sizeof line, f)) {
        char *rest = line, *c[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) c[i] = strsep(&rest, "\t");
        if (n++) check_file(dir, c);
    }
    fclose(f);
    assert_true(n > 1);
}

SUITE(.teardown = tidy);
