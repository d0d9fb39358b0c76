/* unit_tests SUITE [TEST]: run the tests of unit/test_SUITE.c, or those that match TEST, in which * stands for any
   text. Without arguments, list the suites. */
#include "kits/test.h"
#include "machine/device.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

/* The linker names both ends of a section. */
extern const struct test *const __start_tests[], *const __stop_tests[];
extern const struct suite *const __start_suites[], *const __stop_suites[];

bool find_warpspy(char *path)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0) return false;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    strcpy(strrchr(path, '/'), "/warpspy");
    return !access(path, X_OK);
}

/* Is `file` the source of the suite? */
static bool is_of(const char *file, const char *suite)
{
    const char *name = strrchr(file, '/') + 1 + strlen("test_");
    size_t n = strlen(suite);
    return !strncmp(name, suite, n) && !strcmp(name + n, ".c");
}

static const struct suite *find_suite(const char *name)
{
    static const struct suite plain = {0};
    for (const struct suite *const *p = __start_suites; p < __stop_suites; p++)
        if (is_of((*p)->file, name)) return *p;
    return &plain;
}

static int by_line(const void *a, const void *b)
{
    const struct test *const *x = a, *const *y = b;
    int files = strcmp((*x)->file, (*y)->file);
    return files ? files : (*x)->line - (*y)->line;
}

/* All tests, by file and line. */
static const struct test **sorted(size_t *n)
{
    *n = (size_t)(__stop_tests - __start_tests);
    const struct test **all = malloc(*n * sizeof *all);
    if (!all) abort();
    memcpy(all, __start_tests, *n * sizeof *all);
    qsort(all, *n, sizeof *all, by_line);
    return all;
}

static struct CMUnitTest entry(const struct test *t, size_t row, const struct suite *s)
{
    void *data = t->data ? (char *)t->data + row * t->size : NULL;
    return (struct CMUnitTest){t->size ? *(const char **)data : t->name, t->run, s->before, s->after, data};
}

static int run(const char *name, const struct suite *s)
{
    size_t n, most = 0, count = 0;
    const struct test **all = sorted(&n);
    for (size_t i = 0; i < n; i++) most += all[i]->count;
    struct CMUnitTest *tests = calloc(most, sizeof *tests);
    if (!tests) abort();
    for (size_t i = 0; i < n; i++)
        for (size_t row = 0; is_of(all[i]->file, name) && row < all[i]->count; row++)
            tests[count++] = entry(all[i], row, s);
    int failed = count ? _cmocka_run_group_tests(name, tests, count, s->setup, s->teardown) : -1;
    if (!count) fprintf(stderr, "unit_tests: there is no suite `%s`: the suites are tests/unit/test_SUITE.c\n", name);
    free(tests);
    free(all);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "unit_tests: no suite is named: unit_tests SUITE [TEST]\n"), 2;
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("WARPSPY_NVCC", "off", 1); /* results shall not depend on nvcc being there; tests of nvcc unset it */
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    const struct suite *s = find_suite(argv[1]);
    int failed = s->run ? s->run() : run(argv[1], s);
    devices_close();
    return failed;
}
