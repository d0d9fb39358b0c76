/* The load of the machine, from /proc/stat and the clock of the process. */
#include "busy.h"
#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The fields of the line "cpu": user, nice, system, idle, iowait, irq, softirq, steal. */
enum { FIELDS = 8, IDLE = 3, IOWAIT = 4, STAT_PATH = 4096 };

static double all_us(const char *root)
{
    char path[STAT_PATH];
    double ticks[FIELDS] = {0}, sum = 0;
    snprintf(path, sizeof path, "%.4000s/proc/stat", root);
    FILE *f = fopen(path, "re");
    if (!f) return NAN;
    int n = fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4],
                   &ticks[5], &ticks[6], &ticks[7]);
    fclose(f);
    for (int i = 0; i < n; i++) sum += i == IDLE || i == IOWAIT ? 0 : ticks[i];
    return n > IDLE ? sum * 1e6 / (double)sysconf(_SC_CLK_TCK) : NAN;
}

struct busy busy_now(const char *root)
{
    return (struct busy){steady_us(), all_us(root), clock_read_us(CLOCK_PROCESS_CPUTIME_ID)};
}

double busy_others(const struct busy *from, const struct busy *to)
{
    double wall = to->wall_us - from->wall_us, others = to->all_us - from->all_us - (to->own_us - from->own_us);
    if (!(wall > 0) || isnan(others)) return NAN;
    return others > 0 ? others / wall : 0;
}
