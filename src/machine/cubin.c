/* Reads cubins: ELF files with a section for each function. The formats of NVIDIA's own sections are as in
   gpu/kernels/compiled.py. */
#include "cubin.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* MACHINE_CUDA: the machine of an ELF file for GPUs. FRAME, REGISTERS: attributes of a function. RESERVED: bytes of
   shared memory of each block that the system takes, if the cubin has a section for them; a function's section counts
   them, too. */
enum { MACHINE_CUDA = 190, FRAME = 0x11, REGISTERS = 0x2f, RESERVED = 1024, NUMBER_FORM = 4 };

static bool has_bytes(const struct cubin *c, uint64_t at, uint64_t n)
{
    return at <= c->n && n <= c->n - at;
}

static Elf64_Ehdr header_of(const struct cubin *c)
{
    Elf64_Ehdr h;
    memcpy(&h, c->bytes, sizeof h);
    return h;
}

static bool section_of(const struct cubin *c, int k, Elf64_Shdr *out)
{
    Elf64_Ehdr h = header_of(c);
    uint64_t at = h.e_shoff + (uint64_t)k * sizeof *out;
    if (k < 0 || k >= h.e_shnum || !has_bytes(c, at, sizeof *out)) return false;
    memcpy(out, c->bytes + at, sizeof *out);
    return out->sh_type == SHT_NOBITS || has_bytes(c, out->sh_offset, out->sh_size);
}

/* A text within a section of texts; "": there is none. */
static const char *text_in(const struct cubin *c, const Elf64_Shdr *texts, uint64_t at)
{
    if (texts->sh_type == SHT_NOBITS || at >= texts->sh_size) return "";
    const char *text = (const char *)c->bytes + texts->sh_offset + at;
    return memchr(text, 0, texts->sh_size - at) ? text : "";
}

static const char *section_name(const struct cubin *c, const Elf64_Shdr *s)
{
    Elf64_Shdr names;
    return section_of(c, header_of(c).e_shstrndx, &names) ? text_in(c, &names, s->sh_name) : "";
}

static bool find_section(const struct cubin *c, const char *prefix, const char *name, Elf64_Shdr *out)
{
    size_t n = strlen(prefix);
    for (int k = 0; section_of(c, k, out); k++) {
        const char *own = section_name(c, out);
        if (!strncmp(own, prefix, n) && !strcmp(own + n, name)) return true;
    }
    return false;
}

/* ---- the file ---- */

static size_t size_of(const struct cubin *c)
{
    Elf64_Ehdr h = header_of(c);
    Elf64_Shdr s;
    uint64_t end = h.e_shoff + (uint64_t)h.e_shnum * sizeof s,
             programs = h.e_phoff + (uint64_t)h.e_phnum * h.e_phentsize;
    if (programs > end) end = programs;
    for (int k = 0; section_of(c, k, &s); k++)
        if (s.sh_type != SHT_NOBITS && s.sh_offset + s.sh_size > end) end = s.sh_offset + s.sh_size;
    return end < c->n ? (size_t)end : c->n;
}

bool cubin_next(const void *data, size_t n, size_t *at, struct cubin *out)
{
    const unsigned char *bytes = data;
    while (*at < n) {
        const unsigned char *found = memmem(bytes + *at, n - *at, ELFMAG, SELFMAG);
        if (!found) return false;
        *out = (struct cubin){found, n - (size_t)(found - bytes)};
        *at = (size_t)(found - bytes) + SELFMAG;
        if (out->n < sizeof(Elf64_Ehdr) || header_of(out).e_machine != MACHINE_CUDA) continue;
        out->n = size_of(out);
        return true;
    }
    return false;
}

static unsigned capability_of(const struct cubin *c)
{
    Elf64_Ehdr h = header_of(c);
    return h.e_ident[EI_ABIVERSION] >= 8 ? h.e_flags >> 8 & 255 : h.e_flags & 255;
}

void cubin_architecture(const struct cubin *c, char out[16])
{
    snprintf(out, 16, "sm_%u", capability_of(c));
}

/* ---- functions ---- */

/* The number of an attribute of a function in .nv.info; 0: it has none. */
static int attribute_of(const struct cubin *c, int symbol, int attribute)
{
    Elf64_Shdr info;
    if (!find_section(c, "", ".nv.info", &info) || info.sh_type == SHT_NOBITS) return 0;
    const unsigned char *p = c->bytes + info.sh_offset, *end = p + info.sh_size;
    while (end - p >= 4) {
        uint16_t n;
        uint32_t number[2];
        memcpy(&n, p + 2, sizeof n);
        bool numbers = *p == NUMBER_FORM && n == sizeof number && end - p >= 4 + n;
        if (numbers) memcpy(number, p + 4, sizeof number);
        if (numbers && p[1] == attribute && number[0] == (uint32_t)symbol) return (int)number[1];
        p += 4 + (*p == NUMBER_FORM ? n : 0);
        if (p > end) break;
    }
    return 0;
}

static int symbol_of(const struct cubin *c, const char *name)
{
    Elf64_Shdr symbols, texts;
    if (!find_section(c, "", ".symtab", &symbols) || !find_section(c, "", ".strtab", &texts)) return -1;
    for (uint64_t k = 0; (k + 1) * sizeof(Elf64_Sym) <= symbols.sh_size; k++) {
        Elf64_Sym s;
        memcpy(&s, c->bytes + symbols.sh_offset + k * sizeof s, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && !strcmp(text_in(c, &texts, s.st_name), name)) return (int)k;
    }
    return -1;
}

static int shared_of(const struct cubin *c, const char *symbol)
{
    Elf64_Shdr s;
    uint64_t reserved = find_section(c, "", ".nv.shared.reserved.0", &s) ? RESERVED : 0;
    if (!find_section(c, ".nv.shared.", symbol, &s)) return 0;
    return s.sh_size > reserved ? (int)(s.sh_size - reserved) : 0;
}

const char *cubin_symbol(const struct cubin *c, int *section, size_t *size)
{
    static const char prefix[] = ".text.";
    Elf64_Shdr s;
    while (section_of(c, *section, &s)) {
        const char *name = section_name(c, &s);
        ++*section;
        *size = s.sh_size;
        if (!strncmp(name, prefix, sizeof prefix - 1)) return name + sizeof prefix - 1;
    }
    return NULL;
}

struct cubin_function cubin_function_of(const struct cubin *c, const char *symbol)
{
    int index = symbol_of(c, symbol);
    return (struct cubin_function){index, attribute_of(c, index, REGISTERS), shared_of(c, symbol),
                                   attribute_of(c, index, FRAME)};
}
