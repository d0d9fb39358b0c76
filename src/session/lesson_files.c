/* Lessons and puzzles by name: the files NAME.txt in the subfolders samples/lessons and lessons, or samples/puzzles and
   puzzles, of each data folder. A lesson in samples/lessons reads the sample matrices in the folder above it. */
#include "lesson_files.h"
#include "base/base.h"
#include "base/data_folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LESSON_NAME_MAX = 63 };
static const char ending[] = ".txt";
enum { PLACES = 2 };
static const char *const inside[][PLACES] = {
    [LIBRARY_LESSONS] = {"samples/lessons", "lessons"},
    [LIBRARY_PUZZLES] = {"samples/puzzles", "puzzles"},
};

/* Write the path of folder i of the library, or an empty string if the folder does not exist. Returns false after the
   last folder. */
static bool library_folder(enum library l, int i, char *out, size_t size)
{
    char data[PATH_MAX];
    if (!data_folder(i / PLACES, data, sizeof data)) return false;
    bool fits = *data && snprintf(out, size, "%s/%s", data, inside[l][i % PLACES]) < (int)size;
    if (!fits) *out = 0;
    return true;
}

static bool is_file(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

bool library_find(enum library l, const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];
    if (!*name || strlen(name) > LESSON_NAME_MAX || strchr(name, '/')) return false;
    for (int i = 0; library_folder(l, i, folder, sizeof folder); i++)
        if (*folder && snprintf(path, size, "%s/%s.txt", folder, name) < (int)size && is_file(path)) return true;
    return false;
}

static void visit_file(enum library l, const char *folder, const char *file, library_visit *visit, void *user)
{
    char name[LESSON_NAME_MAX + 1], path[PATH_MAX], found[PATH_MAX];
    size_t n = strlen(file) - strlen(ending);
    if (n > LESSON_NAME_MAX || snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) return;
    snprintf(name, sizeof name, "%.*s", (int)n, file);
    if (library_find(l, name, found, sizeof found) && !strcmp(found, path)) visit(user, name, path);
}

static int is_text(const struct dirent *f)
{
    size_t n = strlen(f->d_name), tail = strlen(ending);
    return *f->d_name != '.' && n > tail && !strcmp(f->d_name + n - tail, ending);
}

/* Was the folder searched before, under the same path? */
static bool is_repeated(enum library l, int i, const char *folder)
{
    char earlier[PATH_MAX];
    for (int k = 0; k < i && library_folder(l, k, earlier, sizeof earlier); k++)
        if (!strcmp(earlier, folder)) return true;
    return false;
}

void library_each(enum library l, library_visit *visit, void *user)
{
    char folder[PATH_MAX];
    struct dirent **file;
    for (int i = 0; library_folder(l, i, folder, sizeof folder); i++) {
        int n = *folder && !is_repeated(l, i, folder) ? scandir(folder, &file, is_text, alphasort) : -1;
        for (int k = 0; k < n; k++) {
            visit_file(l, folder, file[k]->d_name, visit, user);
            free(file[k]);
        }
        if (n >= 0) free(file);
    }
}

struct names {
    give_fn *give;
    void *user;
};

static void give_name(void *user, const char *name, const char *path)
{
    const struct names *to = user;
    to->give(to->user, name);
}

void library_list(enum library l, give_fn *give, void *user)
{
    library_each(l, give_name, &(struct names){give, user});
}
