/* Prints runs of kernels: their times, the load balance of diagonal formats, and the total time of kernels that prepare
   data on the device before the first SpMV. */
#include "output_run.h"
#include "base/busy.h"
#include "base/text.h"
#include "formats/format.h"
#include "formats/measures.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "report/fields.h"
#include "report/output.h"
#include "spmv.h"

#include <math.h>
#include <unistd.h>

/* The machine counts as busy if other programs use at least this many processors. */
static const double BUSY_FROM = 0.25;

/* ---- measures ---- */

double total_us(const struct run *r)
{
    return r->ready_us + r->us;
}

/* (2 operands - less) / time */
static double operations_rate(const struct run *r, int64_t less)
{
    struct measures m;
    if (!format_measures(r->of, &m, NULL)) return NAN;
    return fmax(0, type_flops(precisions[r->of->real].vector) * (double)m.operands - (double)less) / r->us / 1000;
}

double padded_gflops(const struct run *r)
{
    return operations_rate(r, 0);
}

double padded_gflops_less_rows(const struct run *r)
{
    return operations_rate(r, type_parts(precisions[r->of->real].vector) * r->of->rows);
}

void out_measures(struct out *o, const struct measures *m)
{
    out_num(o, "operands", NULL, m ? (double)m->operands : NAN, NULL);
    out_num(o, "pieces", NULL, m ? (double)m->pieces : NAN, NULL);
    out_num(o, "variance", NULL, m ? m->variance : NAN, NULL);
}

void out_measures_text(struct out *o, const struct measures *m)
{
    out_int(o, NULL, "zero padding", m->padding);
    out_int(o, NULL, "operands", m->operands);
    out_int(o, NULL, "pieces", m->pieces);
    out_rank(o, COLUMN_DETAIL);
    out_num(o, NULL, "variance", m->variance, "%.4g");
    out_rank(o, COLUMN_NORMAL);
}

/* Name both readings of the formula by which the paper counts operations. */
static void say_padded(struct out *o)
{
    out_prose(o, "Diagonal formats. The DRM paper counts the padding as work. Its eq. 18 has two\n"
                 "readings for P operands, N rows and the time t: padded GFLOP/s is 2 P / t, and\n"
                 "-N is (2 P - N) / t, as the first product of a row needs no addition.");
}

void out_diagonals(struct out *o, const struct run *r, int n)
{
    bool first = true;
    struct measures m;
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        if (!format_measures(r[i].of, &m, NULL)) continue;
        if (first) say_padded(o);
        first = false;
        out_row(o);
        out_str(o, NULL, "kernel", r[i].kernel->name);
        out_measures_text(o, &m);
        out_num(o, NULL, "GFLOP/s", r[i].gflops, "%.2f");
        out_num(o, NULL, "padded GFLOP/s", padded_gflops(&r[i]), "%.2f");
        out_num(o, NULL, "-N", padded_gflops_less_rows(&r[i]), "%.2f");
    }
}

void out_prepared(struct out *o, const struct run *r, int n)
{
    bool first = true;
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        if (!(r[i].ready_us > 0) || !isfinite(r[i].us)) continue;
        if (first)
            out_text(o, "Kernels that prepare data on the device; total is the time of the preparation and one SpMV:");
        first = false;
        out_row(o);
        out_str(o, NULL, "kernel", r[i].kernel->name);
        out_num(o, NULL, "prepared us", r[i].ready_us, "%.2f");
        out_bytes(o, NULL, "memory", r[i].ready_bytes);
        out_num(o, NULL, "us", r[i].us, "%.2f");
        out_num(o, NULL, "total us", total_us(&r[i]), "%.2f");
    }
}

/* ---- runs ---- */

/* Is run i the first one of its format and parameters? Runs of one format share the copy of the matrix. */
static bool first_of(const struct run *r, int i)
{
    for (int k = 0; k < i; k++)
        if (r[k].of == r[i].of) return false;
    return true;
}

void out_copied(struct out *o, const struct run *r, int n)
{
    bool first = true;
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        if (!isfinite(r[i].put_gbs) || !first_of(r, i)) continue;
        if (first) out_text(o, "Matrices that were copied to %s; the rate is that of the copy alone:", r[i].dev->name);
        first = false;
        out_row(o);
        out_str(o, NULL, "format", r[i].of->format->name);
        out_bytes(o, NULL, "size", stored_bytes(r[i].of));
        out_num(o, NULL, "allocated and copied us", r[i].put_us, "%.2f");
        out_num(o, NULL, "GB/s", r[i].put_gbs, "%.2f");
    }
}

/* A record shows the unit after each value; a table shows it in the column heading. column NULL: leave the value out of
   the table. */
static void put_time(struct out *o, const char *key, const char *record, const char *column, double us, bool long_form)
{
    if (long_form)
        out_time(o, key, record, us);
    else
        out_num(o, key, column, us, "%.2f");
}

/* A percentage above 100 says nothing about the use of the memory's bandwidth, so text shows ">100", and JSON and CSV
   show null. */
static void out_ceiling(struct out *o, double share, bool shown)
{
    if (share > 1 && shown && out_mode(o) == OUT_TEXT)
        out_num(o, NULL, "ceiling %", 100, ">%.0f");
    else
        out_num(o, "ceiling_percent", shown ? "ceiling %" : NULL, share > 0 && share <= 1 ? 100 * share : NAN, "%.0f");
}

/* A kernel that is faster than its bound shows that the ceilings were measured too low. */
static bool bound_is_broken(const struct run *r)
{
    return r->bound && r->bound_us > r->us;
}

static void out_bound(struct out *o, const struct run *r, bool long_form)
{
    static const char *const names[] = {[BY_BYTES] = "bytes", [BY_GATHERS] = "gathers", [BY_LAUNCH] = "launch"};
    bool known = r->bound && !bound_is_broken(r);
    put_time(o, "bound_us", known ? "bound" : NULL, "bound us", known ? r->bound_us : NAN, long_form);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "bound_by", long_form && !known ? NULL : "bound by", names[known ? r->bound : BY_NOTHING]);
    out_rank(o, COLUMN_NORMAL);
}

/* In text, a record shows the operation only if it is not A x. */
static void out_operation(struct out *o, const struct run *r, bool long_form)
{
    char text[160];
    bool chosen = r->transposed || r->alpha != 1 || r->beta != 0;
    if (chosen && long_form)
        out_str(o, NULL, "y", operation_text(r->transposed, r->alpha, r->beta, r->y0, text, sizeof text));
    out_num(o, "alpha", NULL, r->alpha, NULL);
    out_num(o, "beta", NULL, r->beta, NULL);
    out_str(o, "y0", NULL, *r->y0 ? r->y0 : NULL);
}

/* Does the run compute A' x from the arrays of A? */
static bool reads_arrays_of_A(const struct run *r)
{
    return r->transposed && r->of->format->transposed;
}

/* What it takes to have A' stored; text shows it only in the records of A' x. */
static void out_transposed(struct out *o, const struct run *r, bool long_form)
{
    bool shown = long_form && r->transposed && !reads_arrays_of_A(r);
    out_bool(o, "transposed", NULL, r->transposed);
    if (long_form && reads_arrays_of_A(r)) out_str(o, NULL, "A' stored", "no, the kernel reads the csr of A");
    if (shown) out_bytes(o, NULL, "A' stored", r->transpose_bytes);
    out_num(o, "transpose_bytes", NULL, r->transposed ? (double)r->transpose_bytes : NAN, NULL);
    out_time(o, "transpose_us", shown ? "transposed in" : NULL, r->transposed ? r->transpose_us : NAN);
    if (shown && isfinite(r->us)) out_num(o, NULL, "that is products", r->transpose_us / r->us, "%.1f");
}

void out_transposing(struct out *o, const struct matrix *m, const struct run *r, int n)
{
    double fastest = INFINITY;
    char us[32];
    if (!m->transpose_of) return;
    for (int i = 0; i < n; i++)
        if (!reads_arrays_of_A(&r[i]) && r[i].us < fastest) fastest = r[i].us;
    for (int i = 0; i < n; i++)
        if (reads_arrays_of_A(&r[i]) && first_of(r, i))
            out_text(o, "The %s of A' has the arrays of the %s of A: A' takes no memory, and A is not transposed.",
                     r[i].of->format->name, r[i].of->format->transposed->name);
    show_us(m->transpose_us, us, sizeof us);
    if (isfinite(fastest))
        out_text(o,
                 "Other formats store A' beside A. Transposing took %s on %s, as long as %.1f of the fastest products.",
                 us, m->transposed_on->name, m->transpose_us / fastest);
}

/* The minimum traffic, and its share per nonzero, which shows what a smaller type of the values saves. */
static void out_traffic(struct out *o, const struct run *r, enum run_form form)
{
    static const char *const heading[] = {NULL, "bytes per nonzero", "bytes/nnz"};
    out_rank(o, COLUMN_DETAIL);
    out_bytes(o, "bytes", form == RUN_BY_PRECISION ? NULL : "bytes", r->bytes);
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "bytes_per_nonzero", heading[form], r->of->nnz ? (double)r->bytes / (double)r->of->nnz : NAN, "%.2f");
}

/* The time in a chain of products, beside that of a product alone. */
static void out_chain(struct out *o, const struct run *r)
{
    bool asked = r->chain_us != 0;
    out_num(o, "chain_us", asked ? "in a chain us" : NULL, asked ? r->chain_us : NAN, "%.2f");
    out_str(o, "chain_reason", NULL, *r->chain_why ? r->chain_why : NULL);
}

static void out_times(struct out *o, const struct run *r, enum run_form form)
{
    bool long_form = form == RUN_RECORD;
    out_rank(o, COLUMN_ANSWER);
    put_time(o, "time_us", "time", "us", r->us, long_form);
    if (!long_form) out_chain(o, r);
    out_rank(o, COLUMN_DETAIL);
    put_time(o, "spread_us", "+-", form == RUN_ROW ? "+-" : NULL, r->reps > 1 ? r->spread_us : NAN, long_form);
    out_rank(o, COLUMN_NORMAL);
    put_time(o, "first_us", "first, cold", NULL, r->first_us, long_form);
    bool emulated = r->dev->kind == DEV_EMU && out_mode(o) == OUT_TEXT; /* text shows no time that the emulator took */
    put_time(o, "prep_us", "prep", form == RUN_ROW ? "prep us" : NULL, r->prep_us - (emulated ? r->ready_us : 0),
             long_form);
    out_str(o, "packed_on", long_form && r->packed_on ? "packed on" : NULL, r->packed_on ? r->packed_on->name : "host");
    put_time(o, "ready_us", r->ready_us > 0 && !emulated ? "of that on the device" : NULL, NULL, r->ready_us,
             long_form);
    out_bytes(o, "ready_bytes", long_form && r->ready_us > 0 && !emulated ? "memory for it" : NULL, r->ready_bytes);
    put_time(o, "copy_us", "copy", NULL, r->put_us, long_form);
    out_num(o, "copy_gbs", long_form && isfinite(r->put_gbs) ? "copied at GB/s" : NULL, r->put_gbs, "%.2f");
    put_time(o, "total_us", "total", NULL, total_us(r), long_form);
    out_traffic(o, r, form);
    out_num(o, "gbs", "GB/s", r->gbs, "%.2f");
    out_ceiling(o, r->share, form != RUN_BY_PRECISION);
    out_bound(o, r, long_form);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "gflops", form == RUN_BY_PRECISION ? NULL : "GFLOP/s", r->gflops, "%.2f");
}

static void out_diagonal_keys(struct out *o, const struct run *r, bool shown)
{
    struct measures m;
    bool diagonals = format_measures(r->of, &m, NULL);
    out_measures(o, diagonals ? &m : NULL);
    if (diagonals && shown) out_measures_text(o, &m);
    out_num(o, "gflops_padded", diagonals && shown ? "padded GFLOP/s" : NULL, padded_gflops(r), "%.2f");
    out_num(o, "gflops_padded_less_rows", diagonals && shown ? "padded GFLOP/s -N" : NULL, padded_gflops_less_rows(r),
            "%.2f");
}

/* Of the members that were timed alone, the fastest; -1: none was. */
static int fastest_alone(const struct run *r)
{
    int best = -1;
    for (int i = 0; i < COUNT(r->alone); i++)
        if (r->alone[i].dev && r->alone[i].us > 0 && (best < 0 || r->alone[i].us < r->alone[best].us)) best = i;
    return best;
}

/* The SpMV on several members, compared with one alone. */
static void out_members(struct out *o, const struct run *r, bool long_form)
{
    int best = fastest_alone(r), other = r->members && r->alone[1].dev ? 1 - best : -1;
    bool on = r->members, timed = on && best >= 0;
    double gain = timed ? r->alone[best].us / r->us : NAN;
    out_int(o, "members", on && long_form ? "members" : NULL, on ? r->members : 1);
    if (on)
        out_bytes(o, "halo_bytes", "halo", r->halo_bytes);
    else
        out_num(o, "halo_bytes", NULL, NAN, NULL);
    out_str(o, "alone_on", timed && long_form ? "fastest alone" : NULL, timed ? r->alone[best].dev->name : NULL);
    put_time(o, "alone_us", timed ? "its time" : NULL, timed ? "alone us" : NULL, timed ? r->alone[best].us : NAN,
             long_form);
    out_str(o, "other_on", other >= 0 && long_form ? "the other alone" : NULL,
            other >= 0 ? r->alone[other].dev->name : NULL);
    put_time(o, "other_us", other >= 0 ? "its time" : NULL, NULL, other >= 0 ? r->alone[other].us : NAN, long_form);
    out_num(o, "speedup", timed ? "speed-up" : NULL, gain, "%.2f");
    out_num(o, "efficiency_percent", timed ? "efficiency %" : NULL, on ? 100 * gain / r->members : NAN, "%.0f");
}

/* Say when several members are slower than one. */
static void out_gain(struct out *o, const struct run *r, int n)
{
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        int best = r[i].members ? fastest_alone(&r[i]) : -1;
        char alone[32], together[32];
        if (best < 0 || r[i].alone[best].us >= r[i].us) continue;
        show_us(r[i].alone[best].us, alone, sizeof alone);
        show_us(r[i].us, together, sizeof together);
        out_text(o, "%s on %s does not pay: %s alone takes %s, its members together take %s.", r[i].kernel->name,
                 r[i].dev->name, r[i].alone[best].dev->name, alone, together);
        return;
    }
}

void out_run(struct out *o, const struct matrix *m, const struct run *r, enum run_form form)
{
    bool long_form = form == RUN_RECORD;
    if (m->transpose_of) m = m->transpose_of;
    out_str(o, "matrix", long_form ? "matrix" : NULL, m->name);
    out_int(o, "rows", NULL, m->csr.rows);
    out_int(o, "cols", NULL, m->csr.cols);
    out_int(o, "nnz", NULL, m->csr.nnz);
    out_str(o, "format", form == RUN_BY_PRECISION ? NULL : "format", r->kernel->format->name);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "kernel", "kernel", r->kernel->name);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, "library", long_form && r->library ? "library" : NULL, r->library);
    out_str(o, "device", long_form ? "device" : NULL, r->dev->name);
    out_str(o, "precision", form == RUN_ROW ? NULL : "precision", precision_of(&m->csr, r->real));
    out_operation(o, r, long_form);
    out_transposed(o, r, long_form);
    out_times(o, r, form);
    out_rank(o, form == RUN_BY_PRECISION ? COLUMN_ANSWER : COLUMN_DETAIL);
    out_num(o, "error", "error", r->error.relative, "%.1e");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "error_of_bound", long_form ? "worst error / bound" : NULL, r->error.worst, "%.3f");
    out_int(o, "reps", long_form && r->reps ? "repetitions" : NULL, r->reps);
    out_bool(o, "deterministic", long_form ? "deterministic" : NULL, r->kernel->deterministic);
    out_members(o, r, long_form);
    out_diagonal_keys(o, r, long_form);
}

void out_fitting(struct out *o, const char *why_not)
{
    out_bool(o, "fits", NULL, !why_not);
    out_str(o, "reason", NULL, why_not);
}

void out_remarks(struct out *o, const struct run *r, int n)
{
    bool cached = false, wild = false, there = false, once = false, broken = false;
    for (int i = 0; i < n; i++) {
        broken |= bound_is_broken(&r[i]);
        cached |= r[i].share > 1;
        once |= r[i].reps == 1 && r[i].dev->kind != DEV_EMU;
        wild |= isnan(r[i].error.relative);
        there |= r[i].packed_on && r[i].packed_on->kind == DEV_CUDA;
    }
    for (int i = 0; i < n; i++)
        if (r[i].library && n > 1) {
            out_text(o, "The kernels cusparse-* are those of %s.", r[i].library);
            break;
        }
    for (int i = 0; i < n; i++)
        if (r[i].kernel->remote) out_text(o, "%s is %s.", r[i].kernel->name, r[i].kernel->about);
    if (n && r->dev->kind == DEV_EMU)
        out_text(o, "The emulator models accesses, not time: results are checked, but nothing is timed.");
    if (there)
        out_text(o, "Packed on the GPU from its csr: prep is the time of the first packing, with memory allocation.");
    if (n && precisions[r->real].is_complex)
        out_text(o, "GFLOP/s counts 8 operations per entry: 4 multiplications and 4 additions of real numbers.");
    out_gain(o, r, n);
    if (wild) out_text(o, "The product has NaN or inf where the reference has them, so there is no relative error.");
    if (once) out_text(o, "One repetition: there is no spread.");
    if (cached)
        out_text(o,
                 "Above 100 %%: the matrix stays in the cache, which is faster than the memory that sets the ceiling.");
    if (broken)
        out_text(o, "A bound above the time is left out: the ceilings were measured while the machine was busy.");
}

void out_busy(struct out *o, const struct busy *from, const char *means)
{
    struct busy now = busy_now("");
    double others = busy_others(from, &now);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (others <= BUSY_FROM) return;
    out_text(o, "The machine is busy: other programs use %.1f of %ld processors.", others, processors);
    out_text(o, "%s", means);
}

/* ---- the keys of the rows ---- */

static const struct field run_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"rows", F_COUNT, "rows of the matrix"},
    {"cols", F_COUNT, "columns of the matrix"},
    {"nnz", F_COUNT, "stored entries of the matrix"},
    {"format", F_TEXT, "storage format"},
    {"kernel", F_TEXT, "kernel"},
    {"library", F_TEXT | OR_NULL, "the library of the kernel and its version; null: a kernel of this program",
     .on = "cuda"},
    {"device", F_TEXT, "the device used"},
    {.include = &row_precision},
    {"transposed", F_BOOLEAN, "whether the product is A' x; rows and cols are those of A"},
    {"transpose_bytes", F_COUNT | OR_NULL,
     "memory that A' takes beside A; 0: the kernel reads the csr of A; null for A x"},
    {"transpose_us", F_AMOUNT | OR_NULL, "time to transpose A, in us; 0: the kernel reads the csr of A; null for A x"},
    {"alpha", F_NUMBER, "factor of A x in y = alpha A x + beta y0"},
    {"beta", F_NUMBER, "factor of y0 in y = alpha A x + beta y0"},
    {"y0", F_TEXT | OR_NULL,
     "the y before the SpMV: zero, ones, random or a file; null if beta is 0, so that y0 is not read"},
    {"time_us", F_AMOUNT | OR_NULL, "median of the repetitions, in us; null on emu, which has no time"},
    {"spread_us", F_AMOUNT | OR_NULL, "half the interquartile range, in us; null for one repetition"},
    {"first_us", F_AMOUNT | OR_NULL, "time of the first SpMV, with cold caches, in us; null on emu"},
    {"prep_us", F_AMOUNT, "time of packing and of the kernel's preparation on the device, in us"},
    {"members", F_COUNT, "devices that share the rows; 1: an ordinary device", .min = 1},
    {"halo_bytes", F_COUNT | OR_NULL,
     "bytes of x that the members send to each other in one SpMV; null for an ordinary device"},
    {"alone_on", F_TEXT | OR_NULL, "the member that is fastest alone; null: none was timed", .on = "cuda"},
    {"alone_us", F_AMOUNT | OR_NULL, "its time for the whole SpMV, in us", .on = "cuda"},
    {"other_on", F_TEXT | OR_NULL, "a member of another kind; null: none", .on = "cuda"},
    {"other_us", F_AMOUNT | OR_NULL, "its time for the whole SpMV, in us", .on = "cuda"},
    {"speedup", F_AMOUNT | OR_NULL, "alone_us / time_us", .on = "cuda"},
    {"efficiency_percent", F_AMOUNT | OR_NULL, "100 speedup / members", .on = "cuda"},
    {"packed_on", F_TEXT, "device that packed the matrix, or host"},
    {"ready_us", F_AMOUNT, "the part of prep_us spent on preparation on the device, in us"},
    {"ready_bytes", F_COUNT, "memory on the device that the kernel keeps beside the matrix, in bytes"},
    {"copy_us", F_AMOUNT, "copying to the device, in us"},
    {"copy_gbs", F_AMOUNT | OR_NULL,
     "rate of that copy without allocation, in GB/s; null if nothing was copied, and on cpu and emu", .on = "cuda"},
    {"total_us", F_AMOUNT | OR_NULL, "ready_us plus the time of one SpMV, in us; null on emu"},
    {"bytes", F_COUNT, "minimum number of bytes that an SpMV moves"},
    {"bytes_per_nonzero", F_AMOUNT | OR_NULL, "bytes / nnz; null: there are no nonzeros"},
    {"gbs", F_AMOUNT | OR_NULL, "bytes / time_us, in GB/s; null on emu"},
    {"ceiling_percent", F_AMOUNT | OR_NULL,
     "gbs as a percentage of the measured streaming read bandwidth; null if that was not measured, or if gbs exceeds "
     "it because the matrix stays in the cache",
     .max = 100},
    {"bound_us", F_AMOUNT | OR_NULL,
     "the time below which the kernel cannot be at the measured ceilings, in us; null if they were not measured, if it "
     "exceeds time_us because they were measured on a busy machine, and on emu"},
    {"bound_by", F_TEXT | OR_NULL,
     "what takes that time: moving the bytes, gathering x, or a launch; null if bound_us is null",
     .words = "bytes, gathers, launch"},
    {"gflops", F_AMOUNT | OR_NULL, "2 nnz / time_us, in GFLOP/s; null on emu"},
    {"error", F_AMOUNT | OR_NAN | OR_NULL,
     "relative 2-norm of the difference from the reference; \"inf\" if only the reference is 0; null if the result has "
     "NaN or inf"},
    {"error_of_bound", F_AMOUNT | OR_NAN, "largest error of a row divided by its rounding-error bound"},
    {"reps", F_COUNT, "repetitions; 0 on emu, where the result is checked once"},
    {"deterministic", F_BOOLEAN, "the same bits every run"},
    {0},
};
const struct row_kind row_run = {"run", "a product, checked and timed", run_fields};

static const struct field measures_fields[] = {
    {"operands", F_COUNT | OR_NULL,
     "operands of an SpMV, padding included, for a format of diagonals; null for other formats"},
    {"pieces", F_COUNT | OR_NULL,
     "number of pieces that thread blocks process, for a format of diagonals; null for other formats"},
    {"variance", F_AMOUNT | OR_NULL, "variance of the operands over the pieces; null for other formats"},
    {0},
};
const struct row_kind row_diagonals = {"measures", "the work of a format of diagonals", measures_fields};
