/* The keys of the rows that `help` prints. */
#include "help_rows.h"
#include "help_keys.h"
#include "help_words.h"
#include "microscope/model.h"
#include "report/fields.h"

#include <stddef.h>

static const struct field help_command_fields[] = {
    {"kind", F_TEXT, "a command", .words = "command"},
    {"name", F_TEXT, "its name"},
    {"group", F_TEXT, "the group of commands"},
    {"grammar", F_TEXT, "its arguments"},
    {"about", F_TEXT, "what it does"},
    {"help", F_TEXT, "the full help text, with an example"},
    {0},
};
static const struct row_kind row_help_command = {"command", "a command", help_command_fields};

static const struct field help_format_fields[] = {
    {"kind", F_TEXT, "a storage format", .words = "format"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {"source", F_TEXT, "where it is published"},
    {"kernels", F_LIST, "kernels that work on it", .item = F_TEXT},
    {0},
};
static const struct row_kind row_help_format = {"format", "a storage format", help_format_fields};

static const struct field help_kernel_functions_fields[] = {
    {"name", F_TEXT, "function, with its template arguments"},
    {"registers", F_COUNT, "registers per thread", .min = 1},
    {"shared_bytes", F_COUNT, "bytes of shared memory per block, without those that the launch gives"},
    {"local_bytes", F_COUNT, "bytes of local memory per thread"},
    {"threads_per_block", F_COUNT | OR_NULL, "null: the launch decides", .min = 1},
    {"blocks_per_sm", F_AMOUNT | OR_NULL, "blocks that a multiprocessor can hold at a time; null: the launch decides",
     .min = 1},
    {"occupancy_percent", F_AMOUNT | OR_NULL,
     "percentage of its warps that a multiprocessor can hold; null: the launch decides", .max = 100},
    {"limited_by", F_TEXT | OR_NULL, "what limits the number of blocks; null: the launch decides",
     .names = residency_limit_names, .name_count = RESIDENCY_LIMITS},
    {"instructions", F_COUNT, "number of machine instructions, of all classes", .min = 1},
    {"loads", F_COUNT, "number of instructions: loads from global memory"},
    {"texture_loads", F_COUNT, "number of instructions: loads through textures"},
    {"stores", F_COUNT, "number of instructions: stores to global memory"},
    {"atomics", F_COUNT, "number of instructions: atomics in global memory"},
    {"shared", F_COUNT, "number of instructions: loads, stores and atomics in shared memory"},
    {"local", F_COUNT, "number of instructions: loads and stores of values that have no registers"},
    {"fp64", F_COUNT, "number of instructions: arithmetic in fp64"},
    {"fp32", F_COUNT, "number of instructions: arithmetic in fp32"},
    {"collectives", F_COUNT, "number of instructions: shuffles, votes and other collectives of a warp"},
    {"barriers", F_COUNT, "number of instructions: barriers, of blocks or of warps"},
    {"conversions", F_COUNT, "number of instructions: conversions between types of numbers"},
    {"integer", F_COUNT, "number of instructions: arithmetic with integers, mostly addresses"},
    {"branches", F_COUNT, "number of instructions: branches, calls and the like"},
    {"other", F_COUNT, "number of instructions: other instructions: moves, selections, constants"},
    {0},
};
static const struct field help_kernel_fields[] = {
    {"kind", F_TEXT, "a kernel", .words = "kernel"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "strengths and weaknesses of the kernel"},
    {"format", F_TEXT, "storage format it works on"},
    {"work", F_TEXT, "what one thread does"},
    {"source", F_TEXT, "where it is published"},
    {"deterministic", F_BOOLEAN, "the same bits every run"},
    {"lesson", F_TEXT, "how it works"},
    {"compiled_by", F_TEXT | OR_NULL, "compiler of the functions; null: not a kernel for GPUs, or no table"},
    {"compiled_for", F_TEXT | OR_NULL, "architecture of the machine code: that of `machine`, or the nearest older one"},
    {"machine", F_TEXT | OR_NULL, "GPU whose multiprocessors hold the blocks"},
    {"functions", F_LIST, "the functions that it launches, one per template instance, in each precision",
     .item = F_OBJECT, .of = help_kernel_functions_fields},
    {0},
};
static const struct row_kind row_help_kernel = {"kernel", "a kernel", help_kernel_fields};

static const struct field help_solver_fields[] = {
    {"kind", F_TEXT, "a solver", .words = "solver"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"needs", F_TEXT, "what it needs of a matrix"},
    {"when", F_TEXT, "when to use it"},
    {"cost", F_TEXT, "the work per iteration and the number of vectors"},
    {"matrix", F_TEXT | OR_NULL, "the current matrix; null: there is no matrix that suits the solver"},
    {"bytes_per_iteration", F_AMOUNT | OR_NULL,
     "minimum bytes per iteration with this matrix in fp64, for m = 30; null: there is no matrix that suits the "
     "solver"},
    {"precond", F_BOOLEAN, "whether it takes a preconditioner"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_help_solver = {"solver", "a solver", help_solver_fields};

static const struct field help_direct_fields[] = {
    {"kind", F_TEXT, "a direct solver", .words = "direct"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"needs", F_TEXT, "what it needs of a matrix"},
    {"when", F_TEXT, "when to use it"},
    {"library", F_TEXT | OR_NULL, "file name of its library; null: one of several"},
    {"package", F_TEXT | OR_NULL, "Debian package of its library; null: one of several"},
    {"source", F_TEXT | OR_NULL, "where it is published; null: one of several"},
    {0},
};
static const struct row_kind row_help_direct = {"direct", "a direct solver", help_direct_fields};

static const struct field help_precond_fields[] = {
    {"kind", F_TEXT, "a preconditioner", .words = "precond"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"needs", F_TEXT, "what it needs of a matrix"},
    {"cg", F_BOOLEAN, "whether cg accepts the preconditioner"},
    {"blocks", F_BOOLEAN, "whether it has blocks, whose size may be chosen"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_help_precond = {"precond", "a preconditioner", help_precond_fields};

static const struct field help_on_ranks_fields[] = {
    {"kind", F_TEXT, "a preconditioner or a direct solver on ranks", .words = "rank_precond, rank_direct"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {"options", F_TEXT, "options of PETSc that select it"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_help_on_ranks = {"on_ranks", "a preconditioner or a direct solver on ranks",
                                                  help_on_ranks_fields};

static const struct field help_lu_method_fields[] = {
    {"kind", F_TEXT, "a method of LU", .words = "method"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"source", F_TEXT, "where it is published"},
    {"devices", F_LIST, "devices it runs on", .item = F_TEXT},
    {"lesson", F_TEXT, "how it works"},
    {0},
};
static const struct row_kind row_help_lu_method = {"lu_method", "a method of LU", help_lu_method_fields};

static const struct field help_generator_fields[] = {
    {"kind", F_TEXT, "a generator", .words = "generator"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it makes"},
    {"usage", F_TEXT, "its parameters"},
    {0},
};
static const struct row_kind row_help_generator = {"generator", "a generator", help_generator_fields};

static const struct field help_view_fields[] = {
    {"kind", F_TEXT, "a view", .words = "view"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it shows"},
    {"keys", F_TEXT, "its keys"},
    {0},
};
static const struct row_kind row_help_view = {"view", "a view", help_view_fields};

static const struct field help_way_fields[] = {
    {"kind", F_TEXT, "a way to divide a matrix into parts", .words = "way"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"source", F_TEXT, "the rule, or where it is published"},
    {0},
};
static const struct row_kind row_help_way = {"way", "a way to divide a matrix into parts", help_way_fields};

static const struct field help_link_fields[] = {
    {"kind", F_TEXT, "a link between GPUs", .words = "link"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {"start_us", F_AMOUNT, "time of an exchange in software, in us"},
    {"hop_us", F_AMOUNT, "time from one GPU to another, in us"},
    {"gbs", F_AMOUNT, "bandwidth of one GPU in one direction, in GB/s"},
    {"known_by", F_TEXT, "where the numbers come from", .words = "measured, specification"},
    {"source", F_TEXT, "the measurement or the specification"},
    {0},
};
static const struct row_kind row_help_link = {"link", "a link between GPUs", help_link_fields};

static const struct field help_ordering_fields[] = {
    {"kind", F_TEXT, "an ordering", .words = "ordering"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_help_ordering = {"ordering", "an ordering", help_ordering_fields};

static const struct field help_sym_method_fields[] = {
    {"kind", F_TEXT, "a method of symmetrize", .words = "symmetrize"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_help_sym_method = {"sym_method", "a method of symmetrize", help_sym_method_fields};

static const struct field help_sym_mode_fields[] = {
    {"kind", F_TEXT, "a mode of symmetrize", .words = "mode"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {0},
};
static const struct row_kind row_help_sym_mode = {"sym_mode", "a mode of symmetrize", help_sym_mode_fields};

static const struct field help_option_fields[] = {
    {"kind", F_TEXT, "an option of the program", .words = "option"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {"values", F_LIST, "values to choose from", .item = F_TEXT},
    {"usual", F_TEXT, "the default"},
    {0},
};
static const struct row_kind row_help_option = {"option", "an option of the program", help_option_fields};

static const struct field help_permission_fields[] = {
    {"kind", F_TEXT, "what `allow` can allow", .words = "permission"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what the permission allows"},
    {0},
};
static const struct row_kind row_help_permission = {"permission", "what `allow` can allow", help_permission_fields};

static const struct field help_device_fields[] = {
    {"kind", F_TEXT, "a kind of device", .words = "device"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {0},
};
static const struct row_kind row_help_device = {"device", "a kind of device", help_device_fields};

static const struct field help_card_line_fields[] = {
    {"kind", F_TEXT, "a line of `check`", .words = "line"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {"costly", F_BOOLEAN, "whether the line runs on large matrices only on request"},
    {"square", F_BOOLEAN, "whether the line applies to square matrices only"},
    {0},
};
static const struct row_kind row_help_card_line = {"card_line", "a line of `check`", help_card_line_fields};

static const struct field help_text_fields[] = {
    {"kind", F_TEXT, "the lines of --serve, or the language of the kernels", .words = "protocol, dialect"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it is"},
    {0},
};
static const struct row_kind row_help_text = {"text", "`help serve` or `help dialect`", help_text_fields};

static const struct field help_source_fields[] = {
    {"kind", F_TEXT, "a publication that describes formats, kernels or solvers", .words = "source"},
    {"name", F_TEXT, "its short name"},
    {"work", F_TEXT, "its authors, title and year"},
    {0},
};
static const struct row_kind row_help_source = {"source", "a publication that describes formats, kernels or solvers",
                                                help_source_fields};

const struct row_kind *const help_row_kinds[] = {
    &row_help_command,  &row_help_format,     &row_help_kernel,    &row_help_solver,     &row_help_direct,
    &row_help_precond,  &row_help_on_ranks,   &row_help_lu_method, &row_help_generator,  &row_help_view,
    &row_help_ordering, &row_help_way,        &row_help_link,      &row_help_sym_method, &row_help_sym_mode,
    &row_help_option,   &row_help_permission, &row_help_device,    &row_help_card_line,  &row_help_source,
    &row_help_text,     &row_help_word,       &row_help_key,       &row_help_schema,     NULL,
};
