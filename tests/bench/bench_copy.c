/* Measures copies between ordinary host memory and cuda:0, directly and through page-locked buffers (`set pinned`), for
   arrays of 1 to 256 MB: the median time and the rate in each direction. Usage: bench_copy [MB], where MB is the
   largest size. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "machine/device.h"
#include "machine/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MB = 1 << 20, REPS = 9, MB_MAX = 256 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of a copy in us; negative after a failure. The first copy is not counted: it allocates the
   page-locked buffers. */
static double median_us(struct device *d, char *there, char *here, int64_t bytes, bool back, struct err *e)
{
    double us[REPS + 1];
    for (int i = 0; i <= REPS; i++) {
        struct copied *total = back ? &d->got : &d->put, before = *total;
        if (!(back ? d->ops->get(d, here, there, bytes, e) : d->ops->put(d, there, here, bytes, e))) return -1;
        us[i] = copied_since(total, &before).us;
    }
    qsort(us + 1, REPS, sizeof *us, ascending);
    return us[1 + REPS / 2];
}

static bool bench_size(struct device *d, char *there, char *here, int64_t bytes, struct err *e)
{
    double us[2][2];
    for (int locked = 0; locked < 2; locked++)
        for (int back = 0; back < 2; back++) {
            transfer_page_locked(locked);
            us[locked][back] = median_us(d, there, here, bytes, back, e);
            if (us[locked][back] < 0) return false;
        }
    printf("%6lld", (long long)(bytes / MB));
    for (int back = 0; back < 2; back++)
        printf(" %12.1f %12.2f %12.1f %12.2f %8.2f", us[0][back], (double)bytes / us[0][back] / 1000, us[1][back],
               (double)bytes / us[1][back] / 1000, us[0][back] / us[1][back]);
    printf("\n");
    return true;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    int64_t most = (argc > 1 ? atoll(argv[1]) : MB_MAX) * MB;
    if (!device_count(DEV_CUDA)) {
        printf("skip copies: there is no GPU\n");
        return 0;
    }
    struct device *d = device_open("cuda:0", &e);
    char *here = mem_new(most, 1, "an array to copy", &e);
    char *there = d ? d->ops->alloc(d, most, "an array to copy", &e) : NULL;
    bool ok = here && there;
    if (ok) {
        memset(here, 1, (size_t)most);
        printf("copies to and from %s: %s\n", d->name, d->about);
        printf("%6s %12s %12s %12s %12s %8s %12s %12s %12s %12s %8s\n", "MB", "in, direct", "GB/s", "in, locked",
               "GB/s", "faster", "out, direct", "GB/s", "out, locked", "GB/s", "faster");
    }
    for (int64_t bytes = MB; ok && bytes <= most; bytes *= 2) ok = bench_size(d, there, here, bytes, &e);
    if (!ok) fprintf(stderr, "bench_copy: %s\n", e.text);
    mem_free(here);
    if (there) d->ops->free(d, there);
    devices_close();
    return !ok;
}
