/* The memories of a GPU and of this host, side by side. */
#ifndef MEMORIES_H
#define MEMORIES_H

#include <stdbool.h>

struct err;
struct machine;
struct row_kind;
struct session;

enum memory_side { MEMORY_HOST, MEMORY_GPU, MEMORY_SIDES };
enum { MEMORIES_MAX = 12 };

struct memory {
    enum memory_side side;
    const char *name;
    const char *of;      /* whose it is: "multiprocessor", "GPU", "core", "host" */
    double count;        /* of these; NaN: not known */
    double bytes;        /* of one of them; NaN: not known */
    double gbs;          /* reads, all of them together; NaN: not known */
    const char *gbs_how; /* "measured", "scaled"; NULL without gbs */
    double latency_ns;   /* of a load; NaN: not known */
    const char *about;   /* what it is for */
};

/* From the memory that is nearest to the arithmetic to the farthest, first those of the host. */
struct memories {
    char gpu[64], host[64]; /* names */
    int sms, threads;       /* multiprocessors; threads that each of them holds */
    double fp32_gflops;     /* of the GPU */
    int cores;              /* threads that the host runs at a time */
    int n;
    struct memory of[MEMORIES_MAX];
};

/* The host, as the system reports it: the threads that it runs at a time, and bytes; 0: not known. */
struct host_memories {
    int threads;
    double l1, l2, l3, memory;
};
/* Report this host from now on instead of the one that the system reports; NULL: the latter again. */
void memories_replace_host(const struct host_memories *host);

/* Those of the GPU for which the session predicts times; fails if its ceilings cannot be measured. */
bool memories_of(struct session *s, struct memories *out, struct err *e);
/* Those of g; the host's as the system reports them, and its bandwidths if `ceilings` measured them. */
void memories_list(const struct machine *g, struct memories *out);
/* Print a row for each memory. */
void out_memories(struct session *s, const struct memories *m);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_memory;

#endif
