/* TEST(name) { ... } defines a test of the suite that its file is: unit/test_NAME.c is the suite NAME. unit/main.c
   finds all tests, because the linker collects their entries in a section, and runs those of one suite in their order
   in the file. */
#ifndef TEST_H
#define TEST_H

#include "base/err.h" /* declares fail(), which is a macro of cmocka */

#include <stdbool.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A test, or one test for each of `count` rows of a table. A row begins with its test's name, and `*state` is the row;
   a test with data but without a table (size 0) finds them in `*state`. */
struct test {
    const char *file, *name;
    int line;
    CMUnitTestFunction run;
    const void *data;
    size_t size, count;
};

/* What a suite needs besides its tests. */
struct suite {
    const char *file;
    CMFixtureFunction setup, teardown; /* before its first test and after its last */
    CMFixtureFunction before, after;   /* before and after each test */
    int (*run)(void);                  /* instead of all this; returns the number of tests that failed */
};

#define IN_SECTION(kind, name)                                                                           \
    static const struct kind name##_entry;                                                               \
    static const struct kind *const name##_at __attribute__((used, section(#kind "s"))) = &name##_entry; \
    static const struct kind name##_entry

#define TEST_OF_ROWS(name, data, size, count)                                      \
    static void name(void **state);                                                \
    IN_SECTION(test, name) = {__FILE__, #name, __LINE__, name, data, size, count}; \
    static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL)
#define TEST_WITH(name, data) TEST_OF_ROWS(name, data, 0, 1)
#define TEST_OF_EACH(name, table) TEST_OF_ROWS(name, table, sizeof *(table), sizeof(table) / sizeof *(table))
#define SUITE(...) IN_SECTION(suite, suite) = {.file = __FILE__, __VA_ARGS__}

/* The path of warpspy, which lies in the folder above the tests; PATH_MAX bytes. */
bool find_warpspy(char *path);

#endif
