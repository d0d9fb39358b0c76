/* The place of a member in an operation of a device with several members: which part of the operation the member does
   now, and where the sums of the members go. The runners of passes (kernels/vec.h) read it through device.seat. */
#ifndef SEAT_H
#define SEAT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MAIL_MOST: sums that a member sends at a time; gmres has one for each column of its basis. MAIL_BLOCKS: thread blocks
   whose sums a member adds (SUM_BLOCKS). */
enum { MEMBERS_MOST = 16, MAIL_MOST = 512 };

/* An operation without sums has one stage. A pass with sums has two: first every member sends its sums to the mailbox
   of each member, then every member adds all of them in the order of the ranks, so that all get the same bits. */
struct seat {
    int rank, members;
    int stage;       /* the stage that the members do now */
    int at;          /* stages of the operation so far; each pass adds its own */
    int sums;        /* passes with sums so far */
    bool flags;      /* senders set a flag at the receiver, and receivers wait for it; if not, the host orders both */
    unsigned *count; /* on this member: with flags, the number of the last exchange of sums that it began. Launches
                        count, so that a graph that is replayed counts, too. */
    unsigned epoch;  /* without flags, the host counts: the last exchange before this operation */
    double *part;    /* on this member: the sums of its thread blocks */
    double *box;     /* on this member: its mailbox of MAIL_MOST doubles for each member, twice (see mail_slot) */
    unsigned *flag;  /* on this member: one flag for each member: the number of the last exchange that it sent */
    int *late;       /* on this member: where launches report a flag that did not come */
    int targets;     /* mailboxes that this member writes to */
    double *to[MEMBERS_MOST];
    unsigned *to_flag[MEMBERS_MOST];
};

/* The mailbox of member `rank` in exchange number `epoch`. Two exchanges use different mailboxes, because a member may
   be one exchange ahead of another. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int64_t
    mail_slot(int members, unsigned epoch, int rank)
{
    return ((int64_t)(epoch % 2) * members + rank) * MAIL_MOST;
}

/* What `late` reports. */
enum { LATE_SUMS, LATE_HALO, LATE_UNWRITTEN, LATES };

#ifdef __cplusplus
}
#endif
#endif
