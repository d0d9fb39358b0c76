/* A folder of the test's own for the file in which `set` and `alias` save. */
#ifndef CONFIG_HOME_H
#define CONFIG_HOME_H

/* Its path, and that of the file; the file and the folder `warpspy` around it are made by who writes them. */
extern char config_folder[64], config_file[128];

/* A suite's setup and teardown. The teardown fails if something else is left in the folder. */
int config_home_make(void **state);
int config_home_remove(void **state);

#endif
