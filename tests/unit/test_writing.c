/* The files that scripts, lessons, recordings and `keys` may write: new files in the working folder, and nothing else
   until the user allows files. */
#include "base/base.h"
#include "base/mem.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/run_lines.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static const char old_text[] = "old text\n";
static char before[PATH_MAX], work[PATH_MAX];

/* The commands that write a file; %s is its path without the ending. */
static const struct writer {
    const char *line, *ending;
    bool takes_force;
} writers[] = {
    {"list > %s", "", true},
    {"list >> %s", "", false},
    {"record %s", "", false},
    {"record cast %s", "", false},
    {"save %s", ".mtx", true},
    {"save %s", ".mtx.gz", true},
    {"save %s", ".npz", true},
    {"save %s", ".wsb", true},
    {"export rows %s", ".csv", true},
    {"export spy %s", ".svg", true},
    {"report %s", ".html", true},
    {"solve cg save %s", ".mtx", true},
    {"solve cholmod save %s", ".mtx", true},
    {"eigs 1 save %s", ".mtx", true},
    {"try new csr-scalar as %s", ".cu", true},
    {"screendump %s", ".txt", true},
};

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_old(const char *path)
{
    size_t n;
    char *text = read_whole(path, &n);
    assert_int_equal(n, sizeof old_text - 1);
    assert_memory_equal(text, old_text, n);
    mem_free(text);
}

static bool exists(const char *path)
{
    struct stat st;
    return !lstat(path, &st);
}

static void begin(struct talk *t)
{
    talk_open_screen(t);
    t->s.batch = false;
    talk_says(t, "gen poisson2d 4 as A", "");
    talk_says(t, "spy", "");
}

static const char *with_ending(const char *path, const struct writer *w)
{
    static char full[PATH_MAX + 32];
    snprintf(full, sizeof full, "%s%s", path, w->ending);
    return full;
}

/* Run the writer of `path` as a script; `path` has no ending. */
static bool script(struct talk *t, const struct writer *w, const char *path, bool force)
{
    char line[PATH_MAX + 100];
    snprintf(line, sizeof line, w->line, with_ending(path, w));
    strcat(line, force && w->takes_force ? " force\n" : "\n");
    put("script.wsp", line);
    bool ok = talk_line(t, "source script.wsp");
    if (strstr(w->line, "record")) run_line(&t->s, "record off");
    talk_refresh(t);
    return ok;
}

static void refused(struct talk *t, const struct writer *w, const char *path, bool force, const char *why)
{
    char cure[] = "; if you trust it, type `allow files` and repeat the command\n";
    bool ok = script(t, w, path, force);
    if (ok || !strstr(t->err, why) || !strstr(t->err, cure)) fail_msg("%s %s: %d, %s", w->line, path, ok, t->err);
}

TEST(a_script_writes_new_files_here)
{
    struct talk t;
    begin(&t);
    assert_int_equal(mkdir("sub", 0777), 0);
    for (int i = 0; i < COUNT(writers); i++)
        for (int k = 0; k < 3; k++) {
            const char *const names[] = {"new", "sub/new", work};
            char path[PATH_MAX + 8];
            snprintf(path, sizeof path, "%s%s", names[k], k == 2 ? "/absolute" : "");
            if (!script(&t, &writers[i], path, false)) fail_msg("%s: %s", writers[i].line, t.err);
            struct stat st;
            assert_int_equal(lstat(with_ending(path, &writers[i]), &st), 0);
            assert_true(S_ISREG(st.st_mode) && st.st_size > 0);
            unlink(with_ending(path, &writers[i]));
        }
    assert_int_equal(rmdir("sub"), 0);
    talk_close_screen(&t);
}

TEST(a_script_writes_no_hidden_file)
{
    static const char *const hidden[] = {".profile", "./.x", "..x", ".config/x", "sub/.x", "sub/../.x"};
    struct talk t;
    begin(&t);
    mkdir(".config", 0777);
    mkdir("sub", 0777);
    for (int i = 0; i < COUNT(writers); i++)
        for (int k = 0; k < COUNT(hidden); k++) {
            refused(&t, &writers[i], hidden[k], true, "a script may not write hidden files (/");
            assert_false(exists(with_ending(hidden[k], &writers[i])));
        }
    assert_int_equal(rmdir(".config") + rmdir("sub"), 0);
    talk_close_screen(&t);
}

TEST(a_script_writes_nothing_outside)
{
    struct talk t;
    char sibling[PATH_MAX + 8];
    begin(&t);
    snprintf(sibling, sizeof sibling, "%s-2", work); /* begins like the working folder */
    assert_int_equal(mkdir(sibling, 0777), 0);
    strcat(sibling, "/x");
    for (int i = 0; i < COUNT(writers); i++) {
        refused(&t, &writers[i], "../x", true, "a script may not write files outside the working folder (/");
        refused(&t, &writers[i], sibling, true, "a script may not write files outside the working folder (/");
        assert_false(exists(with_ending("../x", &writers[i])) || exists(with_ending(sibling, &writers[i])));
    }
    *strrchr(sibling, '/') = 0;
    assert_int_equal(rmdir(sibling), 0);
    talk_close_screen(&t);
}

TEST(a_script_changes_no_file_that_exists)
{
    struct talk t;
    begin(&t);
    for (int i = 0; i < COUNT(writers); i++)
        for (int force = 0; force < 2; force++) {
            put(with_ending("there", &writers[i]), old_text);
            refused(&t, &writers[i], "there", force, "a script may not change files that exist (/");
            assert_old(with_ending("there", &writers[i]));
            unlink(with_ending("there", &writers[i]));
        }
    talk_close_screen(&t);
}

/* The name of a link says nothing about the file that is written. */
TEST(links_are_followed_first)
{
    struct talk t;
    begin(&t);
    mkdir("../outside", 0777);
    assert_int_equal(symlink("../outside", "folder"), 0);
    for (int i = 0; i < COUNT(writers); i++) {
        const struct writer *w = &writers[i];
        static const struct {
            const char *to, *why;
            bool there;
        } links[] = {{".hidden", "hidden files", false},
                     {".hidden", "hidden files", true},
                     {"../outside/x", "files outside", false},
                     {"../outside/x", "files outside", true},
                     {"there", "files that exist", true}};
        for (int k = 0; k < COUNT(links); k++) {
            char to[64];
            snprintf(to, sizeof to, "%s%s", links[k].to, w->ending);
            if (links[k].there) put(to, old_text);
            assert_int_equal(symlink(to, with_ending("second", w)), 0);
            char second[32];
            snprintf(second, sizeof second, "second%s", w->ending);
            assert_int_equal(symlink(second, with_ending("link", w)), 0);
            refused(&t, w, "link", true, links[k].why);
            if (links[k].there) assert_old(to);
            assert_int_equal(exists(to), links[k].there);
            unlink(to);
            unlink(second);
            unlink(with_ending("link", w));
        }
        refused(&t, w, "folder/x", true, "files outside");
        assert_false(exists(with_ending("folder/x", w)));
    }
    unlink("folder");
    assert_int_equal(rmdir("../outside"), 0);
    talk_close_screen(&t);
}

TEST(the_user_may_allow_files)
{
    struct talk t;
    char line[PATH_MAX];
    begin(&t);
    for (int i = 0; i < COUNT(writers); i++) {
        const struct writer *w = &writers[i];
        if (!w->takes_force) continue;
        put(with_ending("there", w), old_text);
        snprintf(line, sizeof line, w->line, with_ending("there", w));
        assert_false(talk_line(&t, line)); /* the user, too, must type force */
        if (!strstr(t.err, "file exists; add `force` to the command to overwrite it\n"))
            fail_msg("%s: %s", line, t.err);
        assert_old(with_ending("there", w));
        talk_says(&t, "allow files", "files  yes");
        assert_false(script(&t, w, "there", false));
        assert_old(with_ending("there", w));
        assert_true(script(&t, w, "there", true));
        talk_says(&t, "allow files off", "files  no");
        put(with_ending("there", w), old_text);
        refused(&t, w, "there", true, "files that exist");
        assert_true(talk_line(&t, "source script.wsp allow files"));
        put(with_ending("there", w), old_text);
        assert_true(talk_line(&t, "source script.wsp allow shell")); /* the shell can write any file */
        unlink(with_ending("there", w));
    }
    talk_close_screen(&t);
}

TEST(the_shell_includes_files)
{
    struct talk t;
    begin(&t);
    talk_says(&t, "allow", "files  no");
    talk_says(&t, "allow shell", "files  yes");
    talk_refuses(&t, "allow files off", "type `allow shell off` first");
    talk_says(&t, "allow shell off", "files  no");
    talk_says(&t, "allow files", "shell  no");
    put("script.wsp", "list > .x\n!true\n");
    talk_refuses(&t, "source script.wsp", "may not run shell commands");
    assert_int_equal(unlink(".x"), 0);
    put("script.wsp", "allow files\n");
    talk_says(&t, "allow files off", "files  no");
    talk_refuses(&t, "source script.wsp", "a script cannot allow files; if you trust it, type `allow files`");
    talk_close_screen(&t);
}

/* A script may go on with the files that it has made, until somebody else changes them. */
TEST(a_script_goes_on_with_its_own_files)
{
    struct talk t;
    begin(&t);
    put("script.wsp", "list >> table\nlist >> table\nversion > one; stats > one force; save a.mtx; save a.mtx force\n");
    if (!talk_line(&t, "source script.wsp")) fail_msg("%s", t.err);
    put("script.wsp", "list >> table\n");
    assert_true(talk_line(&t, "source script.wsp"));
    put("table", old_text);
    talk_refuses(&t, "source script.wsp", "may not change files that exist");
    assert_old("table");
    put("script.wsp", "save a.mtx force\n");
    assert_int_equal(link("a.mtx", "b.mtx"), 0);
    talk_refuses(&t, "source script.wsp", "may not change files that exist");
    talk_close_screen(&t);
    assert_int_equal(unlink("table") + unlink("one") + unlink("a.mtx") + unlink("b.mtx"), 0);
}

/* Nothing is kept of what is written to the null device. */
TEST(a_script_may_write_to_nowhere)
{
    struct talk t;
    begin(&t);
    put("script.wsp", "list > /dev/null; list >> /dev/null\n");
    assert_true(talk_line(&t, "source script.wsp"));
    put("script.wsp", "list > /dev/full\n");
    talk_refuses(&t, "source script.wsp", "outside the working folder");
    talk_close_screen(&t);
}

TEST(the_rule_holds_for_all_lines_that_nobody_typed)
{
    static const struct {
        const char *text, *line, *who;
    } foreign[] = {{"list > .x\n", "source script.wsp", "a script"},
                   {"list > .x\n", "replay script.wsp", "a recording"},
                   {"source inner.wsp\n", "source script.wsp", "a script"},
                   {"> list > .x\n", "lesson ./script.wsp", "a lesson"},
                   {"> source inner.wsp\n", "lesson ./script.wsp", "a script"}};
    struct talk t;
    char why[100];
    begin(&t);
    put("inner.wsp", "save .x.mtx force\n");
    for (int i = 0; i < COUNT(foreign); i++) {
        put("script.wsp", foreign[i].text);
        snprintf(why, sizeof why, "%s may not write hidden files (%.50s", foreign[i].who, work);
        talk_refuses(&t, foreign[i].line, why);
        assert_false(exists(".x") || exists(".x.mtx"));
    }
    talk_says(&t, "keys \"':list > .x' Enter\" view spy size 150x30", "");
    talk_says(&t, "screendump", "`keys` may not write hidden files");
    assert_false(exists(".x"));
    talk_says(&t, "list > .x", "");
    assert_int_equal(unlink(".x"), 0);
    talk_close_screen(&t);
    unlink("inner.wsp");
}

/* The number of files in a folder. */
static int files_in(const char *folder)
{
    int n = -2; /* . and .. */
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

TEST(a_refused_line_leaves_nothing)
{
    struct talk t;
    int open_files = 0;
    begin(&t);
    put("there", old_text);
    for (int twice = 0; twice < 2; twice++) {
        for (int i = 0; i < COUNT(writers); i++) {
            refused(&t, &writers[i], ".x", false, "hidden files");
            script(&t, &writers[i], "no/such/folder/x", false);
            if (!strstr(t.err, "no such directory")) fail_msg("%s: %s", writers[i].line, t.err);
            script(&t, &writers[i], "new", false);
            unlink(with_ending("new", &writers[i]));
        }
        if (!twice) open_files = files_in("/proc/self/fd");
    }
    assert_int_equal(files_in("/proc/self/fd"), open_files);
    assert_int_equal(files_in("."), 2); /* the script is the other */
    unlink("there");
    talk_close_screen(&t);
}

static int in_a_folder(void **state)
{
    const char *path = scratch_path("work");
    return !getcwd(before, sizeof before) || mkdir(path, 0777) || chdir(path) || !getcwd(work, sizeof work);
}

static int out_of_it(void **state)
{
    unlink("script.wsp");
    if (chdir(before) || rmdir(work)) return -1;
    return tidy(state);
}

SUITE(.setup = in_a_folder, .teardown = out_of_it);
