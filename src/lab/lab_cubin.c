/* Reads cubins: the sections of code, and the attributes of functions in .nv.info. */
#include "lab_cubin.h"
#include "base/err.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* The machine of an ELF file for GPUs; attributes: bytes of the stack of a function, registers of a thread; the form of
   an attribute that is a number of bytes; what the system takes of a block's shared memory since sm_80. */
enum { GPU_MACHINE = 190, FRAME = 0x11, REGISTERS = 0x2f, SIZED = 4, RESERVED = 1024, RESERVED_SINCE = 80 };

struct reading {
    const char *bytes;
    int64_t n;
    Elf64_Ehdr head;
    Elf64_Shdr names; /* of sections */
};

static bool get(const struct reading *r, uint64_t at, void *to, uint64_t size)
{
    if (at > (uint64_t)r->n || size > (uint64_t)r->n - at) return false;
    memcpy(to, r->bytes + at, size);
    return true;
}

static bool get_section(const struct reading *r, int k, Elf64_Shdr *s)
{
    return k < r->head.e_shnum && get(r, r->head.e_shoff + (uint64_t)k * sizeof *s, s, sizeof *s) &&
           (s->sh_type == SHT_NOBITS ||
            (s->sh_offset <= (uint64_t)r->n && s->sh_size <= (uint64_t)r->n - s->sh_offset));
}

/* A text of a table of texts; "": it has no end. */
static const char *text_at(const struct reading *r, const Elf64_Shdr *table, uint32_t at)
{
    const char *from = r->bytes + table->sh_offset;
    if (at >= table->sh_size || !memchr(from + at, 0, table->sh_size - at)) return "";
    return from + at;
}

static bool find_section(const struct reading *r, const char *name, Elf64_Shdr *s)
{
    for (int k = 0; get_section(r, k, s); k++)
        if (!strcmp(text_at(r, &r->names, s->sh_name), name)) return true;
    return false;
}

static struct cubin_function *function_called(struct cubin *c, const char *symbol)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->of[i].symbol, symbol)) return &c->of[i];
    return NULL;
}

static void read_code(const struct reading *r, struct cubin *out)
{
    static const char prefix[] = ".text.";
    Elf64_Shdr s, shared;
    char name[sizeof out->of[0].symbol + 16];
    for (int k = 0; get_section(r, k, &s) && out->n < CUBIN_FUNCTIONS; k++) {
        const char *section = text_at(r, &r->names, s.sh_name);
        struct cubin_function *f = &out->of[out->n];
        if (strncmp(section, prefix, sizeof prefix - 1)) continue;
        *f = (struct cubin_function){.code_bytes = (int)s.sh_size};
        snprintf(f->symbol, sizeof f->symbol, "%s", section + sizeof prefix - 1);
        snprintf(name, sizeof name, ".nv.shared.%s", f->symbol);
        int reserved = out->capability >= RESERVED_SINCE ? RESERVED : 0;
        if (find_section(r, name, &shared) && (int)shared.sh_size > reserved)
            f->shared_bytes = (int)shared.sh_size - reserved;
        out->n++;
    }
}

/* An attribute: its form, its kind, the bytes that follow; here the number of a symbol, and a value. */
static void read_attributes(const struct reading *r, struct cubin *out)
{
    Elf64_Shdr info, symbols, texts;
    if (!find_section(r, ".nv.info", &info) || !find_section(r, ".symtab", &symbols) ||
        !find_section(r, ".strtab", &texts))
        return;
    for (uint64_t at = 0; at + 4 <= info.sh_size;) {
        unsigned char form[2];
        uint16_t size;
        uint32_t value[2];
        Elf64_Sym symbol;
        if (!get(r, info.sh_offset + at, form, 2) || !get(r, info.sh_offset + at + 2, &size, 2)) return;
        if (form[0] == SIZED && size == sizeof value && get(r, info.sh_offset + at + 4, value, sizeof value) &&
            value[0] < symbols.sh_size / sizeof symbol &&
            get(r, symbols.sh_offset + value[0] * sizeof symbol, &symbol, sizeof symbol)) {
            struct cubin_function *f = function_called(out, text_at(r, &texts, symbol.st_name));
            if (f && form[1] == REGISTERS) f->registers = (int)value[1];
            if (f && form[1] == FRAME) f->local_bytes = (int)value[1];
        }
        at += 4 + (form[0] == SIZED ? size : 0);
    }
}

bool cubin_read(const char *bytes, int64_t n, struct cubin *out, struct err *e)
{
    struct reading r = {.bytes = bytes, .n = n};
    *out = (struct cubin){0};
    if (!get(&r, 0, &r.head, sizeof r.head) || memcmp(r.head.e_ident, ELFMAG, SELFMAG) ||
        r.head.e_ident[EI_CLASS] != ELFCLASS64 || r.head.e_machine != GPU_MACHINE ||
        r.head.e_shentsize != sizeof(Elf64_Shdr) || !get_section(&r, r.head.e_shstrndx, &r.names))
        return fail(e, E_INPUT, "what nvcc wrote is not a program for a GPU");
    bool newer = r.head.e_ident[EI_ABIVERSION] >= 8;
    out->capability = (int)(newer ? r.head.e_flags >> 8 & 255 : r.head.e_flags & 255);
    read_code(&r, out);
    read_attributes(&r, out);
    return true;
}
