/* A folder of the test's own for the file in which `set` and `alias` save. */
#include "config_home.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char config_folder[64], config_file[128];

int config_home_make(void **state)
{
    strcpy(config_folder, "/tmp/warpspy-test-XXXXXX");
    if (!mkdtemp(config_folder)) return -1;
    snprintf(config_file, sizeof config_file, "%s/warpspy/config", config_folder);
    return setenv("XDG_CONFIG_HOME", config_folder, 1);
}

/* A test may have made a folder in place of the file, and taken away the right to write. */
int config_home_remove(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/warpspy", config_folder);
    chmod(path, 0700);
    unlink(config_file);
    rmdir(config_file);
    rmdir(path);
    return rmdir(config_folder);
}
