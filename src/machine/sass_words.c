/* What the words of an instruction mean: its class, its memory access, and the registers that it uses and sets. */
#include "sass_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const sass_space_names[SASS_SPACES] = {"", "global", "texture", "shared", "local", "constant"};

static bool is_among(const char *word, size_t n, const char *words)
{
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t k = strcspn(p, " ");
        if (k == n && !strncmp(p, word, n)) return true;
        p += k;
    }
    return false;
}

bool sass_is(const struct sass_instruction *i, const char *opcodes)
{
    return is_among(i->opcode, strlen(i->opcode), opcodes);
}

/* ---- classes: as in gpu/kernels/compiled.py ---- */

static const char *const class_words[INSTRUCTION_CLASSES] = {
    [INSTRUCTION_LOAD] = "LDG LD",
    [INSTRUCTION_TEXTURE] = "TEX TLD TLD4",
    [INSTRUCTION_STORE] = "STG ST",
    [INSTRUCTION_ATOMIC] = "ATOMG ATOM REDG RED",
    [INSTRUCTION_SHARED] = "LDS STS ATOMS",
    [INSTRUCTION_LOCAL] = "LDL STL",
    [INSTRUCTION_FP64] = "DADD DMUL DFMA DSETP DMNMX DMMA",
    [INSTRUCTION_FP32] = "FADD FMUL FFMA FSETP FMNMX FCHK MUFU",
    [INSTRUCTION_COLLECTIVE] = "SHFL VOTE VOTEU MATCH REDUX",
    [INSTRUCTION_BARRIER] = "BAR WARPSYNC UCGABAR_ARV UCGABAR_WAIT",
    [INSTRUCTION_CONVERSION] = "F2F F2I I2F I2FP F2FP",
    [INSTRUCTION_INTEGER] = "IMAD IADD3 ISETP LEA LOP3 SHF VIADD VIMNMX VIMNMX3 VIADDMNMX IABS POPC FLO BREV BMSK SGXT "
                            "IMNMX UIADD3 UIMAD UISETP ULEA ULOP3 USHF UFLO UPOPC",
    [INSTRUCTION_BRANCH] = "BRA BRX BSSY BSYNC BREAK CALL RET EXIT YIELD",
    [INSTRUCTION_OTHER] = "",
};

/* Is the word among the modifiers ".E.64"? */
static bool has_modifier(const struct sass_instruction *i, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strchr(i->modifiers, '.'); p; p = strchr(p + 1, '.'))
        if (!strncmp(p + 1, word, n) && (p[n + 1] == 0 || p[n + 1] == '.')) return true;
    return false;
}

static enum instruction_class class_of(const struct sass_instruction *i)
{
    if (sass_is(i, "MUFU") && strstr(i->modifiers, "64H")) return INSTRUCTION_FP64; /* first digits of a reciprocal */
    if (sass_is(i, "IMAD") && !strncmp(i->modifiers, ".MOV", 4)) return INSTRUCTION_OTHER;
    for (int k = 0; k < INSTRUCTION_CLASSES; k++)
        if (sass_is(i, class_words[k])) return k;
    return INSTRUCTION_OTHER;
}

/* ---- memory ---- */

static const struct memory_word {
    const char *opcodes;
    enum sass_space space;
    bool reads, writes;
} memory_words[] = {
    {"LDG LD LDGSTS", SASS_GLOBAL, true, false},
    {"STG ST", SASS_GLOBAL, false, true},
    {"ATOMG ATOM REDG RED", SASS_GLOBAL, true, true},
    {"TEX TLD TLD4", SASS_TEXTURE, true, false},
    {"LDS LDSM", SASS_SHARED, true, false},
    {"STS STSM", SASS_SHARED, false, true},
    {"ATOMS", SASS_SHARED, true, true},
    {"LDL", SASS_LOCAL, true, false},
    {"STL", SASS_LOCAL, false, true},
    {"LDC LDCU ULDC", SASS_CONSTANT, true, false},
};

static const struct cache_word {
    const char *modifier, *word;
} cache_words[] = {
    {"CONSTANT", "read-only"}, {"EF", "evict first"}, {"EL", "evict last"},   {"LU", "last use"},
    {"EU", "evict unchanged"}, {"NA", "no allocate"}, {"STRONG", "coherent"}, {"MMIO", "uncached"},
};

/* Components that a texture load returns, as bits. They follow the coordinates: "1D, 0x3". */
static unsigned texture_mask(const struct sass_instruction *i)
{
    const char *last = strrchr(i->operands, ',');
    return last && !strncmp(last, ", 0x", 4) ? (unsigned)strtoul(last + 2, NULL, 16) & 15 : 15;
}

static int bits_of(unsigned v)
{
    int n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}

static int access_bytes(const struct sass_instruction *i)
{
    static const struct {
        const char *modifier;
        int bytes;
    } widths[] = {{"256", 32}, {"128", 16}, {"64", 8}, {"F64", 8}, {"U8", 1}, {"S8", 1}, {"U16", 2}, {"S16", 2}};
    if (i->space == SASS_TEXTURE) return 4 * bits_of(texture_mask(i));
    for (int k = 0; k < COUNT(widths); k++)
        if (has_modifier(i, widths[k].modifier)) return widths[k].bytes;
    return 4;
}

static void decode_memory(struct sass_instruction *i)
{
    i->cache = "";
    for (int k = 0; k < COUNT(memory_words); k++) {
        const struct memory_word *m = &memory_words[k];
        if (sass_is(i, m->opcodes)) i->space = m->space, i->reads = m->reads, i->writes = m->writes;
    }
    if (!i->space) return;
    i->bytes = access_bytes(i);
    for (int k = 0; k < COUNT(cache_words) && i->space == SASS_GLOBAL && !(i->reads && i->writes); k++)
        if (has_modifier(i, cache_words[k].modifier)) {
            i->cache = cache_words[k].word;
            return;
        }
}

bool sass_loads(const struct sass_instruction *i)
{
    return i->reads && !i->writes && (i->space == SASS_GLOBAL || i->space == SASS_TEXTURE);
}

/* ---- registers ---- */

enum { OPERANDS_MAX = 16 };
struct operand {
    const char *text;
    size_t length;
    int r;        /* register; -1: none */
    bool address; /* in brackets */
    bool plain;   /* begins with its register, as a destination does; RZ as well */
    bool wide;    /* "R2.64" */
    bool narrow;  /* "R2.U32" */
};

/* The register at or after p: "R12", not that of "UR4" or "SR_TID". */
static const char *find_register(const char *from, const char *p, const char *end)
{
    for (; p < end; p++) {
        bool begins = p == from || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        if (begins && *p == 'R' && p + 1 < end && isdigit((unsigned char)p[1])) return p;
    }
    return NULL;
}

static struct operand read_operand(const char *text, size_t length)
{
    const char *end = text + length, *at = find_register(text, text, end);
    struct operand o = {.text = text, .length = length, .r = -1};
    o.plain = at == text || (length >= 2 && !strncmp(text, "RZ", 2));
    o.address = memchr(text, '[', length) != NULL;
    if (!at) return o;
    char *rest;
    o.r = (int)strtol(at + 1, &rest, 10);
    if (o.r >= SASS_REGISTERS - 1) o.r = -1;
    o.wide = !strncmp(rest, ".64", 3);
    o.narrow = !strncmp(rest, ".U32", 4);
    return o;
}

/* Split "R2, desc[UR4][R2.64+0x8], !P0" at its commas. */
static int read_operands(const char *text, struct operand *out)
{
    int n = 0;
    while (*text && n < OPERANDS_MAX) {
        const char *end = text;
        for (int depth = 0; *end && (*end != ',' || depth); end++) depth += (*end == '[') - (*end == ']');
        out[n++] = read_operand(text, (size_t)(end - text));
        text = end + (*end == ',');
        text += strspn(text, " ");
    }
    return n;
}

static bool is_predicate(const struct operand *o)
{
    const char *p = o->text + (*o->text == 'U');
    return *p == 'P' && (isdigit((unsigned char)p[1]) || p[1] == 'T');
}

static void add_registers(struct sass_set *s, int r, int n)
{
    for (int k = r; r >= 0 && k < r + n && k < SASS_REGISTERS - 1; k++) s->bits[k / 64] |= 1ull << k % 64;
}

/* Instructions without a destination among R0 to R254, although a register may come first. */
static const char no_result[] = "STG ST RED REDG STS STSM STL LDGSTS BRA BRX JMP JMX CALL RET BAR WARPSYNC NANOSLEEP "
                                "R2P EXIT CCTL BSSY BSYNC BREAK DEPBAR ERRBAR MEMBAR KILL";
/* Instructions whose first operand may be a predicate, and the second one the destination. */
static const char predicate_first[] = "SHFL ATOMG ATOM LOP3 MATCH";
static const char pairs[] = "DADD DMUL DFMA DSETP DMNMX FADD2 FMUL2 FFMA2";

/* The operands that are destinations: first *from, then *n. */
static void find_results(const struct sass_instruction *i, const struct operand *o, int n, int *from, int *count)
{
    *from = n > 1 && is_predicate(&o[0]) && sass_is(i, predicate_first);
    *count = *from < n && o[*from].plain && !o[*from].address && !sass_is(i, no_result);
    if (*count && i->space == SASS_TEXTURE && n > 1) *count = 2;
}

/* Registers of a destination. `which`: the second one of a texture load gets the first two components. */
static int result_width(const struct sass_instruction *i, int which)
{
    bool integers = has_modifier(i, "S64") || has_modifier(i, "U64");
    if (i->space == SASS_TEXTURE) return bits_of(texture_mask(i) & (which ? 3 : 12));
    if (i->space) return i->bytes > 4 ? i->bytes / 4 : 1;
    if (sass_is(i, "DMMA")) return 4;
    if (sass_is(i, pairs) || sass_is(i, "LEPC")) return 2;
    if (sass_is(i, "IMAD UIMAD")) return has_modifier(i, "WIDE") ? 2 : 1;
    if (sass_is(i, "CS2R")) return has_modifier(i, "32") ? 1 : 2;
    if (sass_is(i, "F2F")) return strncmp(i->modifiers, ".F64", 4) ? 1 : 2;
    if (sass_is(i, "F2I")) return integers ? 2 : 1;
    if (sass_is(i, "I2F FRND")) return has_modifier(i, "F64") ? 2 : 1;
    return sass_is(i, "IADD MOV SEL LEA") && has_modifier(i, "64") ? 2 : 1;
}

static int address_width(const struct sass_instruction *i, const struct operand *o)
{
    if (i->space != SASS_GLOBAL || o->narrow) return o->wide ? 2 : 1;
    bool shared_half = sass_is(i, "LDGSTS") && *o->text == '['; /* the destination, in shared memory */
    return o->wide || (has_modifier(i, "E") && !shared_half) ? 2 : 1;
}

static int source_width(const struct sass_instruction *i, const struct operand *o, bool last)
{
    bool integers = has_modifier(i, "S64") || has_modifier(i, "U64");
    if (o->address) return address_width(i, o);
    if (i->writes) return i->bytes > 4 ? i->bytes / 4 : 1;
    if (i->space) return 1;
    if (sass_is(i, "DMMA")) return last ? 4 : 2;
    if (sass_is(i, pairs) || sass_is(i, "RET")) return 2;
    if (sass_is(i, "IMAD")) return last && has_modifier(i, "WIDE") ? 2 : 1;
    if (sass_is(i, "F2F")) return strstr(i->modifiers + (*i->modifiers != 0), ".F64") ? 2 : 1;
    if (sass_is(i, "F2I FRND")) return has_modifier(i, "F64") ? 2 : 1;
    if (sass_is(i, "I2F")) return integers ? 2 : 1;
    return (sass_is(i, "IADD MOV SEL LEA") && has_modifier(i, "64")) || o->wide ? 2 : 1;
}

/* An address may have two registers: "[R2.64+R6]". */
static void use_operand(struct sass_instruction *i, const struct operand *o, bool last)
{
    const char *end = o->text + o->length, *p = find_register(o->text, o->text, end);
    if (!p || o->r < 0) return;
    add_registers(&i->used, o->r, source_width(i, o, last));
    p = o->address ? find_register(o->text, p + 1, end) : NULL;
    if (p) add_registers(&i->used, atoi(p + 1), 1);
}

/* The last operand that is no predicate. */
static int last_value(const struct operand *o, int n)
{
    while (n > 0 && (is_predicate(&o[n - 1]) || *o[n - 1].text == '!')) n--;
    return n - 1;
}

static void decode_registers(struct sass_instruction *i)
{
    struct operand o[OPERANDS_MAX];
    int n = read_operands(i->operands, o), from, count, last = last_value(o, n);
    find_results(i, o, n, &from, &count);
    for (int k = 0; k < n; k++) {
        bool result = k >= from && k < from + count;
        if (result)
            add_registers(&i->set, o[k].r, result_width(i, k - from));
        else
            use_operand(i, &o[k], k == last);
    }
}

unsigned sass_predicates_set(const struct sass_instruction *i)
{
    struct operand o[OPERANDS_MAX];
    int n = read_operands(i->operands, o), at = n > 0 && o[0].plain;
    int end = sass_is(i, "VOTE VOTEU") ? 1 : at + 2;
    unsigned set = 0;
    for (; at < n && at < end && is_predicate(&o[at]); at++)
        if (*o[at].text == 'P' && o[at].text[1] != 'T') set |= 1u << (o[at].text[1] - '0');
    return set;
}

bool sass_ends_path(const struct sass_instruction *i)
{
    const char *first = i->operands + (*i->operands == '!');
    bool uniform = !strncmp(first, "UP", 2) && isdigit((unsigned char)first[2]); /* "BRA UP0, ..." has a condition */
    return !uniform && (sass_is(i, "EXIT RET BRX JMX KILL") || (sass_is(i, "BRA JMP") && !has_modifier(i, "DIV")));
}

void sass_decode(struct sass_instruction *i)
{
    i->kind = class_of(i);
    decode_memory(i);
    decode_registers(i);
}
