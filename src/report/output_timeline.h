/* Prints timelines of devices with several members. */
#ifndef OUTPUT_TIMELINE_H
#define OUTPUT_TIMELINE_H

struct out;
struct row_kind;
struct timeline;

/* One row for each member, then remarks. */
void out_timeline(struct out *o, const struct timeline *t);
/* The rows alone. */
void out_timeline_rows(struct out *o, const struct timeline *t);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_timeline;

#endif
