/* The counts of a part, which the command `partition` and the view parts print. */
#ifndef CMD_PARTITION_H
#define CMD_PARTITION_H

struct out;
struct part_counts;
struct row_kind;

/* Print the counts as columns of a table. */
void out_part_counts(struct out *o, const struct part_counts *c);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_part_counts;

#endif
