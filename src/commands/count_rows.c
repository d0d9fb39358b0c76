/* The keys of the rows that `count` prints. */
#include "count_rows.h"
#include "report/fields.h"

#include <stddef.h>

static const struct field count_arrays_fields[] = {
    {"name", F_TEXT, "name of the array"},
    {"elements", F_COUNT, "number of elements of the array"},
    {"element_bytes", F_COUNT, "size of an element, in bytes"},
    {"requests", F_COUNT, "requests to this array"},
    {"lanes", F_COUNT, "sum of the active lanes of these requests"},
    {"sectors", F_COUNT, "sectors of 32 bytes that these requests fetch"},
    {"bytes_useful", F_COUNT, "bytes that lanes use"},
    {"bytes_padding", F_COUNT, "bytes of padding"},
    {"sectors_again", F_COUNT, "sectors that the same warp had fetched before"},
    {"contended", F_COUNT, "lanes that wait for another lane at the same address"},
    {0},
};
static const struct field count_shared_arrays_fields[] = {
    {"name", F_TEXT, "name of the array"},
    {"requests", F_COUNT, "requests to this array"},
    {"turns", F_COUNT, "wavefronts of these requests"},
    {"turns_least", F_COUNT, "wavefronts if there were no bank conflicts"},
    {0},
};
static const struct field count_lines_fields[] = {
    {"file", F_TEXT, "file of the kernel's source"},
    {"line", F_COUNT, "line of the source file, from 1"},
    {"touch", F_TEXT, "the kind of access of the line"},
    {"array", F_TEXT | OR_NULL, "the array; null: the line accesses no array"},
    {"requests", F_COUNT, "requests of this line"},
    {"lanes", F_COUNT, "sum of the active lanes of these requests"},
    {"sectors", F_COUNT, "sectors of 32 bytes that these requests fetch"},
    {"bytes_useful", F_COUNT, "bytes that lanes use"},
    {"bytes_padding", F_COUNT, "bytes of padding"},
    {"sectors_again", F_COUNT, "sectors that the same warp had fetched before"},
    {"contended", F_COUNT, "lanes that wait for another lane at the same address"},
    {"turns", F_COUNT, "wavefronts of shared memory"},
    {"turns_least", F_COUNT, "wavefronts if there were no bank conflicts"},
    {"source", F_TEXT, "the line itself"},
    {0},
};
static const struct field count_fields[] = {
    {"kernel", F_TEXT, "kernel"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"launches", F_COUNT, "launches of one SpMV"},
    {"blocks", F_COUNT, "blocks of all launches"},
    {"blocks_seen", F_COUNT,
     "blocks whose accesses were counted; if they are fewer than all blocks, the counts are estimates"},
    {"rows_seen", F_COUNT,
     "rows of the matrix that the kernel ran on; if they are fewer than all rows, the counts are estimates"},
    {"error_percent", F_AMOUNT | OR_NULL,
     "error of the sectors at 95 % certainty, in per cent; 0 where every block was counted"},
    {"warps", F_COUNT, "warps of all blocks"},
    {"steps", F_COUNT, "steps that all warps took together"},
    {"active_mean", F_AMOUNT, "mean number of active lanes per step, of 32"},
    {"longest_warp", F_AMOUNT | OR_NULL, "steps of the longest warp divided by the mean; null: nothing to compare"},
    {"largest_block", F_AMOUNT | OR_NULL, "steps of the largest block divided by the mean; null: nothing to compare"},
    {"busy_percent", F_AMOUNT | OR_NULL,
     "percentage of warps that still run while their block runs; null: nothing to compare"},
    {"sectors", F_COUNT, "sectors of 32 bytes that requests to global memory fetch"},
    {"bytes_asked", F_COUNT, "bytes of these sectors"},
    {"bytes_useful", F_COUNT, "the part of these bytes that lanes use"},
    {"bytes_padding", F_COUNT, "the part of these bytes that is padding"},
    {"bytes_again", F_COUNT, "the part of these bytes in sectors that the same warp had fetched before"},
    {"useful_percent", F_AMOUNT, "bytes_useful as a percentage of bytes_asked"},
    {"padding_percent", F_AMOUNT, "bytes_padding as a percentage of bytes_asked"},
    {"again_percent", F_AMOUNT, "bytes_again as a percentage of bytes_asked"},
    {"gather_sectors", F_AMOUNT | OR_NULL, "sectors of x per nonzero; null without nonzeros"},
    {"load_requests", F_COUNT, "requests that load from global memory"},
    {"load_sectors", F_COUNT, "sectors that these requests fetch"},
    {"texture_requests", F_COUNT, "requests through a texture"},
    {"texture_sectors", F_COUNT, "sectors that these requests fetch"},
    {"store_requests", F_COUNT, "requests that store to global memory"},
    {"store_sectors", F_COUNT, "sectors that these requests fetch"},
    {"atomic_requests", F_COUNT, "atomic requests to global memory"},
    {"atomic_sectors", F_COUNT, "sectors that these requests fetch"},
    {"atomics_contended", F_COUNT, "lanes that wait for another lane at the same address"},
    {"shared_requests", F_COUNT, "requests of shared memory"},
    {"shared_turns", F_COUNT, "wavefronts of these requests"},
    {"shared_turns_least", F_COUNT, "wavefronts if there were no bank conflicts"},
    {"emulation_us", F_AMOUNT, "the emulation, in us"},
    {"accesses", F_COUNT, "accesses of lanes that were counted"},
    {"arrays", F_LIST, "the counts of each array of global memory", .item = F_OBJECT, .of = count_arrays_fields},
    {"shared_arrays", F_LIST, "the counts of each array of shared memory", .item = F_OBJECT,
     .of = count_shared_arrays_fields},
    {"lines", F_LIST | OR_NULL, "the counts of each source line; null without the word `lines`", .item = F_OBJECT,
     .of = count_lines_fields},
    {"fits", F_TRUE, "true"},
    {"reason", F_NULL, "why the format does not fit; always null here, since it fits"},
    {0},
};
static const struct row_kind row_count = {"count", "what a kernel asks of memory", count_fields};

static const struct field count_refusal_fields[] = {
    {"kernel", F_TEXT, "kernel"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {"fits", F_FALSE, "false"},
    {"reason", F_TEXT, "why the format does not fit"},
    {0},
};
static const struct row_kind row_count_refusal = {"refusal", "a kernel that does not fit, and why",
                                                  count_refusal_fields};

const struct row_kind *const count_row_kinds[] = {
    &row_count,
    &row_count_refusal,
    NULL,
};
