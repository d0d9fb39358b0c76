/* The folders in which `load` looks for a matrix by its name. A folder may be laid out as the SuiteSparse collection is
   by ssgetpy (MM/HB/1138_bus.tar.gz, or unpacked MM/HB/1138_bus/1138_bus.mtx) or by MatrixDepot (uf/HB/1138_bus/...),
   and the group, HB, may be left out of the name. */
#include "matrix_folders.h"
#include "base/text.h"
#include "base/xdg.h"
#include "file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder, from a variable of the environment, or below the folder that XDG's variable or the home folder states. */
static const struct {
    const char *shown, *variable;
    const char *otherwise; /* below the home folder, if the variable is not set; NULL: the folder does not exist then */
    const char *below;
} folders[] = {
    {"$WARPSPY_MATRICES", "WARPSPY_MATRICES", NULL, ""},
    {"$XDG_DATA_HOME/warpspy/matrices", "XDG_DATA_HOME", ".local/share", "warpspy/matrices"},
    {"$XDG_DATA_HOME/warpspy", "XDG_DATA_HOME", ".local/share", "warpspy"},
    {"~/.ssgetpy", "SSGETPY_HOME", ".ssgetpy", ""},
    {"$MATRIXDEPOT_DATA", "MATRIXDEPOT_DATA", NULL, ""},
};
static const char *const layouts[] = {"", "MM/", "mm/", "uf/", "RB/", "rb/", "MAT/", "mat/"};

static bool folder_path(int i, char *out, size_t size)
{
    const char *given = getenv(folders[i].variable);
    if (folders[i].otherwise) return xdg_path(folders[i].variable, folders[i].otherwise, folders[i].below, out, size);
    return given && *given && snprintf(out, size, "%s", given) < (int)size;
}

/* Look in `folder` for NAME with an extension, and for NAME/NAME with one. */
static bool find_in(const char *folder, const char *name, char *out, size_t size)
{
    char nested[PATH_MAX];
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    int n = snprintf(nested, sizeof nested, "%s/%s", name, base);
    return file_find_in(folder, name, out, size) || (n < (int)sizeof nested && file_find_in(folder, nested, out, size));
}

/* Look in each folder of a group. */
static bool find_in_groups(const char *folder, const char *name, char *out, size_t size)
{
    char group[PATH_MAX];
    bool found = false;
    DIR *d = opendir(folder);
    for (struct dirent *f; d && !found && (f = readdir(d));) {
        if (*f->d_name == '.' || (f->d_type != DT_DIR && f->d_type != DT_LNK && f->d_type != DT_UNKNOWN)) continue;
        int n = snprintf(group, sizeof group, "%s%s/", folder, f->d_name);
        found = n < (int)sizeof group && find_in(group, name, out, size);
    }
    if (d) closedir(d);
    return found;
}

static bool find_below(const char *root, const char *name, char *out, size_t size)
{
    char folder[PATH_MAX];
    for (int i = 0; i < COUNT(layouts); i++) {
        int n = snprintf(folder, sizeof folder, "%s/%s", root, layouts[i]);
        if (n >= (int)sizeof folder || access(folder, X_OK)) continue;
        if (find_in(folder, name, out, size)) return true;
        if (!strchr(name, '/') && find_in_groups(folder, name, out, size)) return true;
    }
    return false;
}

bool matrix_find(const char *name, char *out, size_t size, const char **folder)
{
    char root[PATH_MAX];
    bool hidden = !*name || *name == '/' || *name == '.' || strstr(name, "/.");
    for (int i = 0; !hidden && i < COUNT(folders); i++) {
        *folder = folders[i].shown;
        if (folder_path(i, root, sizeof root) && find_below(root, name, out, size)) return true;
    }
    return false;
}

const char *matrix_folders(char *out, size_t size)
{
    *out = 0;
    for (int i = 0; i < COUNT(folders); i++) text_append(out, size, "%s%s", i ? ", " : "", folders[i].shown);
    return out;
}
