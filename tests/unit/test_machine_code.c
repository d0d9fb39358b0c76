/* Where machine code comes from: cubins within a file, names of symbols, stored listings, and which of a kernel's
   functions is shown. */
#include "base/base.h"
#include "base/err.h"
#include "base/watch.h"
#include "kits/test.h"
#include "lab/machine_code.h"
#include "machine/cubin.h"
#include "machine/kernel.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* ---- a cubin that is made by hand ---- */

enum { EM_CUDA_GPU = 190, SECTIONS = 8, BYTES = 4096 };
static const char names[] =
    "\0.shstrtab\0.strtab\0.symtab\0.text.first\0.text.second\0.nv.info\0.nv.shared.second\0.nv.shared.reserved.0";
static const char strings[] = "\0first\0second";

struct made {
    unsigned char bytes[BYTES];
    size_t n;
    int sections;
};

static unsigned offset_in(const char *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i += strlen(texts + i) + 1)
        if (!strcmp(texts + i, text)) return (unsigned)i;
    fail_msg("%s is missing", text);
    return 0;
}

static void add_section(struct made *m, const char *name, unsigned type, const void *data, size_t n)
{
    Elf64_Shdr s = {.sh_name = offset_in(names, sizeof names, name), .sh_type = type, .sh_offset = m->n, .sh_size = n};
    if (data) memcpy(m->bytes + m->n, data, n), m->n += n;
    memcpy(m->bytes + sizeof(Elf64_Ehdr) + (size_t)m->sections++ * sizeof s, &s, sizeof s);
}

/* sm_90: two functions of 32 and 64 bytes; the second has 24 registers, 2048 bytes of shared memory, 16 of local. */
static struct made make_cubin(unsigned flags, unsigned abi, bool reserves)
{
    static const unsigned char code[64];
    static const uint32_t info[] = {4 | 0x2f << 8 | 8 << 16, 2, 24, 4 | 0x11 << 8 | 8 << 16, 2, 16,
                                    4 | 0x2f << 8 | 8 << 16, 1, 10};
    Elf64_Sym symbols[3] = {{0}, {.st_info = STT_FUNC}, {.st_info = STT_FUNC}};
    symbols[1].st_name = offset_in(strings, sizeof strings, "first");
    symbols[2].st_name = offset_in(strings, sizeof strings, "second");
    struct made m = {.n = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr)};
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3}, .e_machine = EM_CUDA_GPU, .e_flags = flags};
    h.e_ident[EI_ABIVERSION] = (unsigned char)abi;
    h.e_shoff = sizeof h, h.e_shnum = SECTIONS, h.e_shstrndx = 0;
    memcpy(m.bytes, &h, sizeof h);
    add_section(&m, ".shstrtab", SHT_STRTAB, names, sizeof names);
    add_section(&m, ".strtab", SHT_STRTAB, strings, sizeof strings);
    add_section(&m, ".symtab", SHT_SYMTAB, symbols, sizeof symbols);
    add_section(&m, ".text.first", SHT_PROGBITS, code, 32);
    add_section(&m, ".nv.info", SHT_PROGBITS, info, sizeof info);
    add_section(&m, ".text.second", SHT_PROGBITS, code, 64);
    add_section(&m, ".nv.shared.second", SHT_NOBITS, NULL, 3072);
    add_section(&m, reserves ? ".nv.shared.reserved.0" : ".nv.info", SHT_NOBITS, NULL, 0);
    return m;
}

TEST(test_cubin)
{
    struct made m = make_cubin(90, 7, true);
    unsigned char file[BYTES + 200] = "host code, " ELFMAG " and more";
    struct cubin c;
    size_t at = 0, size;
    char architecture[16];
    int section = 0;
    memcpy(file + 100, m.bytes, m.n);
    assert_true(cubin_next(file, 100 + m.n + 50, &at, &c)); /* the text \177ELF before it is no cubin */
    assert_ptr_equal(c.bytes, file + 100);
    assert_int_equal(c.n, m.n);
    cubin_architecture(&c, architecture);
    assert_string_equal(architecture, "sm_90");
    assert_string_equal(cubin_symbol(&c, &section, &size), "first");
    assert_int_equal(size, 32);
    assert_string_equal(cubin_symbol(&c, &section, &size), "second");
    assert_int_equal(size, 64);
    assert_null(cubin_symbol(&c, &section, &size));
    struct cubin_function f = cubin_function_of(&c, "second");
    assert_int_equal(f.index, 2);
    assert_int_equal(f.registers, 24);
    assert_int_equal(f.shared_bytes, 2048); /* 1024 belong to the system */
    assert_int_equal(f.local_bytes, 16);
    f = cubin_function_of(&c, "first");
    assert_true(f.index == 1 && f.registers == 10 && f.shared_bytes == 0 && f.local_bytes == 0);
    assert_int_equal(cubin_function_of(&c, "third").index, -1);
    assert_false(cubin_next(file, 100 + m.n + 50, &at, &c));
}

/* Newer files have the architecture elsewhere, and older ones reserve no shared memory. */
TEST(test_architectures)
{
    struct made m = make_cubin(100 << 8 | 2, 8, true);
    char architecture[16];
    cubin_architecture(&(struct cubin){m.bytes, m.n}, architecture);
    assert_string_equal(architecture, "sm_100");
    m = make_cubin(75, 7, false);
    assert_int_equal(cubin_function_of(&(struct cubin){m.bytes, m.n}, "second").shared_bytes, 3072);
}

/* A file that ends early is read without a step outside of it; ASan watches. */
TEST(test_damaged)
{
    struct made m = make_cubin(90, 7, true);
    for (size_t n = 0; n < m.n; n += 7) {
        unsigned char *copy = malloc(n + 1);
        struct cubin c;
        size_t at = 0, size;
        memcpy(copy, m.bytes, n);
        for (int section = 0; cubin_next(copy, n, &at, &c);)
            while (cubin_symbol(&c, &section, &size)) cubin_function_of(&c, "second");
        free(copy);
    }
}

TEST(test_symbols)
{
    char name[96], few[8];
    assert_true(symbol_instance("_ZN5cuda_10csr_vectorIddEEviPKiS2_PKT0_T_PKS5_S5_PS5_", name, sizeof name));
    assert_string_equal(name, "csr_vector<double, double>");
    assert_true(symbol_instance("_ZN5cuda_12light_vectorIdLi8ENS_7textureIdEEEEviPiPKiS5_PKT_S6_T1_S6_PS6_", name,
                                sizeof name));
    assert_string_equal(name, "light_vector<double, 8, texture<double>>");
    assert_false(symbol_instance("_ZN5cuda_10csr_vectorIddEEviPKiS2_PKT0_T_PKS5_S5_PS5_", few, sizeof few));
    assert_false(symbol_instance("main", name, sizeof name));
    assert_false(symbol_instance("_Z5otheri", name, sizeof name));
}

/* ---- stored listings ---- */

static struct machine_code stored(const char *kernel, const char *architecture, int instance)
{
    struct err e = {0};
    struct machine_code c;
    struct machine_code_request r = {
        .kernel = kernel_find(kernel), .real = P_F64, .architecture = architecture, .instance = instance};
    if (!machine_code_read(&r, &c, NULL, &e)) fail_msg("%s for %s: %s", kernel, architecture, e.text);
    return c;
}

/* A warp of csr-vector loads ptr, then in the loop col and val, then x: three loads that wait for each other. In
   csr-light-vector, an atomic comes first. */
TEST(test_chains)
{
    static const char *const architectures[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
    for (int i = 0; i < COUNT(architectures); i++) {
        struct machine_code c = stored("csr-vector", architectures[i], 0);
        const struct sass_loop *l = &c.sass.loop[c.sass.hot];
        assert_string_equal(c.sass.architecture, architectures[i]);
        if (!strcmp(c.origin, "stored listing")) assert_string_equal(c.compiler, "nvcc 13.0");
        assert_string_equal(c.function, "csr_vector<double, double>");
        assert_int_equal(c.sass.chain, 3);
        assert_int_equal(c.sass.counts[INSTRUCTION_COLLECTIVE], 10);
        assert_true(l->loads == 3 && l->load_bytes == 20 && l->depth == 2 && l->unrolled == 1 && l->in_flight == 2);
        assert_true(c.sass.live_max <= c.registers && c.sass.registers <= c.registers);
        machine_code_free(&c);
        c = stored("csr-light-vector", architectures[i], 0);
        assert_int_equal(c.sass.chain, 4);
        assert_true(c.sass.counts[INSTRUCTION_ATOMIC] == 1 && c.instances == 6);
        assert_string_equal(c.function, "light_vector<double, 32, double const*>");
        machine_code_free(&c);
    }
}

/* Every instance of every kernel, on every architecture, has at most the registers that the file says. */
TEST(test_all_stored)
{
    static const char *const architectures[] = {"sm_75", "sm_90", "sm_120"};
    int read = 0;
    for (int i = 0; i < COUNT(architectures); i++)
        for (int k = 0; kernels[k]; k++) {
            if (!kernels[k]->functions[0].name || kernels[k]->remote) continue;
            struct machine_code c = stored(kernels[k]->name, architectures[i], 0);
            if (c.sass.registers > c.registers || c.sass.live_max > c.registers)
                fail_msg("%s on %s: %d registers of %d, %d live", c.function, architectures[i], c.sass.registers,
                         c.registers, c.sass.live_max);
            if (c.sass.nsources < 2) fail_msg("%s on %s: no source lines", c.function, architectures[i]);
            machine_code_free(&c);
            read++;
        }
    assert_true(read > 60);
}

TEST(test_requests)
{
    struct err e = {0};
    struct machine_code c = stored("csr-cusp", "sm_80", 2);
    assert_string_equal(c.function, "csr_cusp<double, double, 4>");
    assert_true(c.instance == 2 && c.instances == 10);
    machine_code_free(&c);
    struct machine_code_request r = {.kernel = kernel_find("csr-cusp"), .real = P_F64, .architecture = "sm_80"};
    r.function = "csr_cusp_ahead<double, double, 8>";
    assert_true(machine_code_read(&r, &c, NULL, &e));
    assert_string_equal(c.function, r.function);
    machine_code_free(&c);
    r.instance = 11, r.function = NULL;
    assert_false(machine_code_read(&r, &c, NULL, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_string_equal(e.text, "`instance 11` is outside 1 .. 10");
    err_clear(&e);
    r.kernel = kernel_find("csr-serial");
    assert_false(machine_code_read(&r, &c, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    err_clear(&e);
    if (machine_code_has_nvdisasm()) return;
    r = (struct machine_code_request){.kernel = kernel_find("csr-cusp"), .real = P_F32, .architecture = "sm_80"};
    assert_false(machine_code_read(&r, &c, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
}

/* A line's instruction is its access in the hot loop, rather than one before it. */
TEST(test_lines)
{
    struct machine_code c = stored("csr-vector", "sm_90", 0);
    int at = machine_code_at_line(&c, "k_csr.cu", 38);
    assert_true(c.sass.at[at].loop == c.sass.hot && c.sass.at[at].space == SASS_GLOBAL);
    at = machine_code_at_line(&c, "k_csr.cu", 40);
    assert_true(c.sass.at[at].space == SASS_GLOBAL && c.sass.at[at].line == 40);
    assert_int_equal(machine_code_at_line(&c, "k_csr.cu", 1), -1);
    assert_int_equal(machine_code_at_line(&c, "k_ell.cu", 38), -1);
    machine_code_free(&c);
    assert_true(machine_code_is_source("k_csr.cu") && machine_code_is_source("csr_rows.h"));
    assert_false(machine_code_is_source("dialect.h") || machine_code_is_source("device_functions.h"));
}

static bool cancel(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return false;
}

TEST(test_cancelled)
{
    struct err e = {0};
    struct machine_code c;
    struct watch w = {cancel, NULL};
    struct machine_code_request r = {.kernel = kernel_find("csr-vector"), .real = P_F64, .architecture = "sm_80"};
    assert_false(machine_code_read(&r, &c, &w, &e));
    assert_int_equal(e.code, E_CANCELLED);
}
