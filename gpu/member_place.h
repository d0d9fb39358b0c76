/* The place of a member in an operation of a device with several members: which part of the operation the member does
   now, and where the sums of the members go. The runners of passes (kernels/vec.h) read it through device.seat. */
#ifndef GPU_MEMBER_PLACE_H
#define GPU_MEMBER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "machine/member_rows.h"

C_BEGIN

/* MAIL_MAX: sums that a member sends at a time; gmres has one for each column of its basis. */
enum { MEMBERS_MAX = SPLIT_MAX, MAIL_MAX = 512 };

/* A sum is sent as two words, each with half of the bits of the sum below the number of the exchange. A word is stored
   as a whole: a receiver that finds the number in both words has the sum, and needs no flag. */
typedef unsigned long long mail_word;
enum { MAIL_WORDS = 2 };

/* An operation without sums has one stage. A pass with sums has two: first every member sends its sums to the mailbox
   of each member, then every member adds all of them in the order of the ranks, so that all get the same bits. If the
   launches of the members run at the same time, one launch does both, and the pass has one stage. */
struct seat {
    int rank, members;
    int stage;       /* the stage that the members do now */
    int at;          /* stages of the operation so far; each pass adds its own */
    int sums;        /* passes with sums so far */
    bool peers;      /* launches store into the mailboxes of other members; if not, the host copies the sums */
    bool concurrent; /* with peers, the launches of the members run at the same time */
    bool apart;      /* concurrent, and no two members are the same GPU */
    unsigned *count; /* on this member: with peers, the number of the last exchange of sums that it began. Launches
                        count, so that a graph that is replayed counts, too. */
    unsigned epoch;  /* without peers, the host counts: the last exchange before this operation */
    double *part;    /* on this member: the sums of its thread blocks */
    mail_word *box;  /* on this member: its mailbox of MAIL_MAX sums for each member, twice (see mail_slot) */
    int *late;       /* on this member: where launches report sums that did not come */
    int targets;     /* mailboxes that this member writes to */
    mail_word *to[MEMBERS_MAX];
};

/* The first sum of member `rank` in a mailbox, in exchange number `epoch`. Two exchanges use different mailboxes,
   because a member may be one exchange ahead of another. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int64_t
    mail_slot(int members, unsigned epoch, int rank)
{
    return ((int64_t)(epoch % 2) * members + rank) * MAIL_MAX;
}

/* What `late` reports. */
enum { LATE_SUMS, LATE_HALO, LATE_UNWRITTEN, LATES };

C_END
#endif
