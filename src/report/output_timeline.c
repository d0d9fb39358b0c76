/* Prints timelines: one row for each member of the device, with its share of the matrix and its phases. */
#include "output_timeline.h"
#include "base/precision.h"
#include "fields.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "output.h"

#include <math.h>
#include <stdio.h>

/* The key of a number of a phase: "push_us". */
static void out_phase(struct out *o, const struct timeline *t, int k, enum split_phase f)
{
    const struct timeline_cell *c = &t->cell[k][f];
    const char *name = split_phase_name(f);
    char from[32], us[32], sectors[32];
    snprintf(from, sizeof from, "%s_from_us", name);
    snprintf(us, sizeof us, "%s_us", name);
    snprintf(sectors, sizeof sectors, "%s_sectors", name);
    out_num(o, from, NULL, c->from, NULL);
    out_num(o, us, t->timed ? name : NULL, c->to - c->from, "%.2f");
    out_num(o, sectors, t->timed ? NULL : name, c->sectors, "%.0f");
}

void out_timeline_rows(struct out *o, const struct timeline *t)
{
    for (int k = 0; k < t->members; k++) {
        const struct split_member *m = &t->member[k];
        out_row(o);
        out_str(o, "matrix", NULL, t->matrix);
        out_str(o, "format", NULL, t->kernel->format->name);
        out_str(o, "kernel", NULL, t->kernel->name);
        out_str(o, "device", NULL, t->dev->name);
        out_str(o, "precision", NULL, precisions[t->real].name);
        out_str(o, "exchange", NULL, transport_name(t->transport));
        out_rank(o, COLUMN_ANSWER);
        out_int(o, "member", "member", k);
        out_str(o, "on", "on", m->dev->name);
        out_rank(o, COLUMN_NORMAL);
        out_int(o, "rows", "rows", m->rows);
        out_int(o, "nnz", "nonzeros", m->nnz + m->outside);
        out_int(o, "nnz_outside", "in others' columns", m->outside);
        out_int(o, "halo", "halo", m->halo);
        out_int(o, "sends", NULL, m->sends);
        out_int(o, "neighbours", NULL, m->neighbours);
        out_int(o, "bytes", NULL, m->bytes);
        out_rank(o, COLUMN_ANSWER);
        for (enum split_phase f = 0; f < SPLIT_PHASES; f++) out_phase(o, t, k, f);
    }
}

void out_timeline(struct out *o, const struct timeline *t)
{
    out_text(o, "%s, %s, %s on %s, exchange %s; each phase in %s", t->matrix, t->kernel->name, precisions[t->real].name,
             t->dev->name, transport_name(t->transport), t->timed ? "us" : "sectors of 32 bytes");
    out_timeline_rows(o, t);
    if (t->timed)
        out_text(o, "From the first beginning to the last end: %.2f us, measured by events.", t->us);
    else
        out_text(o, "The emulator models accesses, not time: the phases are counted in sectors, not timed.");
}

/* ---- the keys of the rows ---- */

/* The keys of a phase of a product. */
#define PHASE_FIELDS(name)                                                                                         \
    {name "_from_us", F_NUMBER | OR_NULL, "when `" name "` began, in us since the first phase began; null on emu", \
     .on = "cuda"},                                                                                                \
        {name "_us", F_AMOUNT | OR_NULL, "time of `" name "`, in us; null on emu", .on = "cuda"},                  \
    {                                                                                                              \
        name "_sectors", F_AMOUNT | OR_NULL,                                                                       \
            "sectors of 32 bytes that the launches of `" name "` read and wrote; null on GPUs", .on = "cuda"       \
    }

static const struct field timeline_fields[] = {
    {"matrix", F_TEXT, "the matrix"},
    {"format", F_TEXT, "storage format of the entries in a member's own columns"},
    {"kernel", F_TEXT, "kernel that multiplies them"},
    {"device", F_TEXT, "the device with the members"},
    {.include = &row_precision},
    {"exchange", F_TEXT, "how the members send to each other", .words = "peer, copy, host"},
    {"member", F_COUNT, "number of the member, from 0"},
    {"on", F_TEXT, "the member"},
    {"rows", F_COUNT, "its rows"},
    {"nnz", F_COUNT, "its entries"},
    {"nnz_outside", F_COUNT, "its entries in columns that other members own"},
    {"halo", F_COUNT, "elements of x that it receives"},
    {"sends", F_COUNT, "elements of x that it sends"},
    {"neighbours", F_COUNT, "members with which it exchanges elements or flags"},
    {"bytes", F_COUNT, "memory of its part, in bytes"},
    PHASE_FIELDS("push"),
    PHASE_FIELDS("local"),
    PHASE_FIELDS("wait"),
    PHASE_FIELDS("outside"),
    PHASE_FIELDS("sums"),
    {0},
};
const struct row_kind row_timeline = {"timeline", "what each member of a device does in one SpMV", timeline_fields};
