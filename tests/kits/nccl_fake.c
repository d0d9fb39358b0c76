#include "nccl_fake.h"

#include <string.h>

enum { MAX = 2 * MEMBERS_MAX * MEMBERS_MAX, FAILED = 3 };

/* A member's end of the connections. */
struct end {
    int rank, gpu;
    bool open;
};

static struct {
    struct end end[MEMBERS_MAX];
    int members, groups;
    bool in_group;
    const char *fails;
    int n;
    struct half {
        bool sends;
        const void *from;
        void *to;
        size_t bytes;
        int own, peer;
    } half[MAX];
} fake;

static int result_of(const char *call, bool good)
{
    return fake.fails && !strncmp(fake.fails, call, strlen(fake.fails)) ? FAILED : good ? 0 : FAILED + 1;
}

static int init_all(void **comm, int n, const int *gpu)
{
    int result = result_of("ncclCommInitAll", n <= MEMBERS_MAX);
    if (result) return result;
    fake.members = n;
    for (int k = 0; k < n; k++) {
        fake.end[k] = (struct end){k, gpu[k], true};
        comm[k] = &fake.end[k];
    }
    return 0;
}

static int abort_one(void *comm)
{
    ((struct end *)comm)->open = false;
    return 0;
}

static int group_start(void)
{
    int result = result_of("ncclGroupStart", !fake.in_group);
    fake.in_group = !result;
    fake.n = 0;
    return result;
}

static int add(struct half h, const struct end *own, int type)
{
    bool good =
        fake.in_group && own->open && fake.n < MAX && type == 0 && h.bytes > 0 && h.peer >= 0 && h.peer < fake.members;
    h.own = own->rank;
    if (good) fake.half[fake.n++] = h;
    return result_of(h.sends ? "ncclSend" : "ncclRecv", good);
}

static int send(const void *from, size_t bytes, int type, int peer, void *comm, void *stream)
{
    return add((struct half){.sends = true, .from = from, .bytes = bytes, .peer = peer}, comm, type);
}

static int receive(void *to, size_t bytes, int type, int peer, void *comm, void *stream)
{
    return add((struct half){.to = to, .bytes = bytes, .peer = peer}, comm, type);
}

/* Each receive takes the first send that is left for it. */
static bool deliver(const struct half *h)
{
    for (int i = 0; i < fake.n; i++) {
        struct half *s = &fake.half[i];
        if (!s->sends || !s->from || s->own != h->peer || s->peer != h->own) continue;
        if (s->bytes != h->bytes) return false;
        memcpy(h->to, s->from, h->bytes);
        s->from = NULL;
        return true;
    }
    return false;
}

static int group_end(void)
{
    int result = result_of("ncclGroupEnd", fake.in_group);
    fake.in_group = false;
    bool good = true;
    for (int i = 0; i < fake.n && !result; i++)
        if (!fake.half[i].sends) good &= deliver(&fake.half[i]);
    for (int i = 0; i < fake.n && !result; i++) good &= !fake.half[i].sends || !fake.half[i].from;
    fake.groups += !result && good;
    return result ? result : good ? 0 : FAILED + 1;
}

static const char *error(int result)
{
    return result == FAILED ? "a failure that the test wants" : "a wrong call";
}

void nccl_fake(bool on)
{
    static const struct nccl_calls calls = {.init_all = init_all,
                                            .abort = abort_one,
                                            .group_start = group_start,
                                            .group_end = group_end,
                                            .send = send,
                                            .receive = receive,
                                            .error = error};
    multi_nccl_replace(on ? &calls : NULL);
}

int nccl_fake_groups(void)
{
    return fake.groups;
}

int nccl_fake_open(void)
{
    int n = 0;
    for (int k = 0; k < MEMBERS_MAX; k++) n += fake.end[k].open;
    return n;
}

void nccl_fake_fail(const char *call)
{
    fake.fails = call;
}
