/* Transcripts: every command, typed as in tests/golden/transcripts, prints what the file holds, word by word.
   WARPSPY_GOLDEN=write rewrites the files; review them as a diff. */
#include "kits/test.h"
#include "kits/transcript_kit.h"
#include "lab/lab.h"
#include "machine/device.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>

TEST(commands_print_what_the_transcripts_say)
{
    const char *only = getenv("WARPSPY_TRANSCRIPT"); /* the name of one file, without .txt */
    char pattern[200];
    glob_t files;
    bool same = true;
    snprintf(pattern, sizeof pattern, "tests/golden/transcripts/%s.txt", only ? only : "*");
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) same &= transcript_same(files.gl_pathv[i]);
    globfree(&files);
    assert_true(same);
}

/* `try` runs a kernel in a process of the program. */
static int begin(void **state)
{
    static char warpspy[PATH_MAX];
    assert_true(find_warpspy(warpspy));
    lab_set_program(warpspy);
    return transcript_begin(state);
}

static int end(void **state)
{
    devices_close();
    return transcript_end(state);
}

SUITE(.setup = begin, .teardown = end);
