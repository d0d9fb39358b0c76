/* The predicted times of all kernels on a spread of matrices and GPUs: tests/golden/predictions.tsv, which `make
   golden` rewrites. A change of the model's constants, of its terms or of what it counts shows in the diff of this
   table. */
#include "base/base.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "kits/golden_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"
#include "microscope/modeled.h"
#include "session/matrix.h"

static const char *const gpus[] = {"h200", "a100", "t4", "rtx4090"};

static const struct {
    const char *line; /* makes the matrix */
    enum precision real;
    const char *kernels; /* NULL: all */
} matrices[] = {
    {"load samples/thesis4.mtx", P_F64, NULL},
    {"gen circuit 300 1", P_F64, NULL}, /* one long row, one long column */
    {"gen rmat 7 6 seed 3", P_F64, NULL},
    {"gen rmat 7 6 seed 3", P_F32, NULL},
    {"gen random 12 100 3000", P_F64, NULL}, /* wide */
    {"gen random 2 600 1200", P_F32, NULL},  /* a few blocks, which are long */
    {"gen brokendiag 400 5", P_F64, NULL},
    {"gen band 400 2", P_F32, NULL},
    {"gen poisson2d 20", P_F64, NULL},
    {"gen fem 8", P_F64, NULL},
    {"gen stencil 5 8 8 0 3", P_F64, NULL}, /* 3 x 3 blocks */
    /* more than the L2 of a T4; a sample of its blocks is watched */
    {"gen poisson2d 230", P_F64, "coo-atomic csr-scalar csr-vector csr-stream csr-light-vector csr-ends sell packed"},
};

/* The kernels whose causes are listed, on the first GPU. */
static const char explained[] = "coo-atomic csr-scalar csr-stream-padded ell";

/* The two tables that are written. */
struct tables {
    FILE *times, *findings;
};

/* One line for each cause: the matrix, the precision, the kernel, the cause, its part of the time in us, and the text.
 */
static void write_findings(FILE *to, const struct csr *A, const char *name, const struct modeled *m)
{
    struct finding f[FINDINGS_MAX];
    int n = findings_of(m, A, f);
    for (int i = 0; i < n; i++)
        fprintf(to, "%s\t%s\t%s\t%s\t%.4g\t%s\n", name, precisions[m->real].name, m->kernel->name, f[i].cause, f[i].us,
                f[i].text);
}

/* One line: the matrix, the precision, the kernel, and its time in us on each GPU, or - if it does not fit. */
static void write_times(const struct tables *to, const struct csr *A, const char *name, enum precision real,
                        const struct kernel *k, const struct machine *on, struct packed packed[COUNT(gpus)])
{
    struct modeled *m = mem_new(1, sizeof *m, "a prediction", NULL);
    assert_non_null(m);
    fprintf(to->times, "%s\t%s\t%s", name, precisions[real].name, k->name);
    for (int i = 0; i < COUNT(gpus); i++) {
        struct err e = {0};
        bool ok = modeled_csr(A, k, NULL, real, &on[i], NULL, &packed[i], m, &e);
        if (!ok && !err_is_refusal(&e)) fail_msg("%s, %s: %s", name, k->name, e.text);
        fprintf(to->times, ok ? "\t%.4g" : "\t-", m->time.us);
        if (ok && i == 0 && has_word(explained, k->name)) write_findings(to->findings, A, name, m);
    }
    fprintf(to->times, "\n");
    mem_free(m);
}

static void write_matrix(const struct tables *to, struct talk *t, int i, const struct machine *on)
{
    struct packed packed[COUNT(gpus)] = {0};
    struct err e = {0};
    if (!talk_line(t, matrices[i].line)) fail_msg("%s: %s", matrices[i].line, t->err);
    const struct matrix *m = session_matrix(&t->s, NULL, &e);
    for (int k = 0; kernels[k]; k++)
        if (modeled_can(kernels[k], &m->csr, NULL) &&
            (!matrices[i].kernels || has_word(matrices[i].kernels, kernels[k]->name)))
            write_times(to, &m->csr, strchr(matrices[i].line, ' ') + 1, matrices[i].real, kernels[k], on, packed);
    for (int g = 0; g < COUNT(gpus); g++) packed_free(&packed[g]);
}

static void write_tables(const struct tables *to)
{
    struct talk t;
    struct err e = {0};
    struct machine on[COUNT(gpus)];
    fprintf(to->findings, "matrix\tprecision\tkernel\tcause\tus\ttext\n");
    fprintf(to->times, "matrix\tprecision\tkernel");
    for (int g = 0; g < COUNT(gpus); g++) {
        if (!profile_load(gpus[g], &on[g], &e)) fail_msg("%s", e.text);
        fprintf(to->times, "\t%s", gpus[g]);
    }
    fprintf(to->times, "\n");
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(matrices); i++) write_matrix(to, &t, i, on);
    talk_close(&t);
}

TEST(predictions_are_those_of_the_tables)
{
    char *text[2] = {0};
    size_t size[2];
    struct tables to = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    assert_true(to.times && to.findings);
    write_tables(&to);
    fclose(to.times);
    fclose(to.findings);
    bool times = golden_same("tests/golden/predictions.tsv", text[0]);
    bool findings = golden_same("tests/golden/findings.tsv", text[1]);
    assert_true(times && findings);
    free(text[0]);
    free(text[1]);
}
