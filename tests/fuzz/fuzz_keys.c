/* Press random keys in the explorer, run after run, each in a process of its own: fuzz_keys [seconds N] [seed N] [keys
   N]. With a seed it repeats that one run; without one it continues for the given time and reports the seeds that
   failed and its speed. Build it with AddressSanitizer: `make fuzz-keys`. */
#include "kits/keys_kit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONG_S = 20, STUCK_S = 60 };

/* Functions of the sanitizers, if the program was built with one. */
extern void __sanitizer_set_death_callback(void (*tell)(void)) __attribute__((weak));

static void on_death(int sig)
{
    random_keys_print();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* A long computation, such as LU of a large matrix, must end at Ctrl-C: a minute without another key is a failure. */
static void on_alarm(int sig)
{
    static int64_t seen = -1;
    static int times;
    times = keys_pressed == seen ? times + 1 : 0;
    seen = keys_pressed;
    if (times > STUCK_S / LONG_S) on_death(sig);
    alarm(LONG_S);
    raise(SIGINT);
}

static void one(uint64_t seed, int64_t keys)
{
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(random_keys_print);
    signal(SIGABRT, on_death);
    signal(SIGALRM, on_alarm);
    if (!__sanitizer_set_death_callback) signal(SIGSEGV, on_death);
    alarm(LONG_S);
    random_keys(seed, keys);
    alarm(0);
}

/* *keys: how many keys were pressed. Returns false if the run failed. */
static bool in_a_process(uint64_t seed, int64_t keys, int64_t *pressed)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (!child) {
        one(seed, keys);
        *pressed = keys_pressed;
        exit(0);
    }
    waitpid(child, &status, 0);
    if (!status) return true;
    fprintf(stderr, "FAILED: seed %llu, status %d\n", (unsigned long long)seed, status);
    return false;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    long long limit = 600, seed = -1, keys = 500;
    for (int i = 1; i + 1 < argc; i += 2) {
        long long value = atoll(argv[i + 1]);
        if (!strcmp(argv[i], "seconds")) limit = value;
        if (!strcmp(argv[i], "seed")) seed = value;
        if (!strcmp(argv[i], "keys")) keys = value;
    }
    random_keys_begin();
    if (seed >= 0) {
        one((uint64_t)seed, keys);
        random_keys_print();
        return random_keys_end(), 0;
    }
    int64_t *pressed = mmap(NULL, sizeof *pressed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long long runs = 0, failed = 0, all = 0, first = (long long)time(NULL) * 1000;
    double begin = seconds();
    for (; pressed != MAP_FAILED && seconds() - begin < (double)limit; runs++) {
        *pressed = 0;
        failed += !in_a_process((uint64_t)(first + runs), keys, pressed);
        all += *pressed;
    }
    double took = seconds() - begin;
    printf("%lld runs from seed %lld, %lld keys, %.0f keys/s, %lld failed\n", runs, first, all, (double)all / took,
           failed);
    random_keys_end();
    return failed || !runs;
}
