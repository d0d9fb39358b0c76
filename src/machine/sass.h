/* The machine code of a kernel's function (SASS), read from the listing of nvdisasm, and what the code shows: loops,
   loads in flight, unrolling, registers in use. Implemented by sass.c, sass_words.c, sass_flow.c,
   sass_live.c, sass_parameter.c and sass_facts.c. */
#ifndef SASS_H
#define SASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "compiled.h"

C_BEGIN

struct err;
struct watch;

/* The memory that an instruction accesses. */
enum sass_space { SASS_NONE, SASS_GLOBAL, SASS_TEXTURE, SASS_SHARED, SASS_LOCAL, SASS_CONSTANT, SASS_SPACES };
extern const char *const sass_space_names[SASS_SPACES]; /* "", "global", ... */

enum { SASS_REGISTERS = 256, SASS_WORDS = SASS_REGISTERS / 64 };
struct sass_set { /* of the registers R0 to R254 */
    uint64_t bits[SASS_WORDS];
};
static inline bool sass_has(const struct sass_set *s, int r)
{
    return s->bits[r / 64] >> r % 64 & 1;
}

/* The texts belong to the struct sass; those of a part that is missing are "". */
struct sass_instruction {
    int address;           /* bytes from the beginning of the function */
    const char *text;      /* the whole instruction: "@P0 LDG.E.64 R2, desc[UR4][R2.64+0x8]" */
    const char *predicate; /* "@P0", "@!UP1" */
    const char *opcode;    /* "LDG" */
    const char *modifiers; /* ".E.64" */
    const char *operands;  /* "R2, desc[UR4][R2.64+0x8]" */
    const char *file;      /* name of the source file, without its folder; NULL: unknown */
    int line;              /* in that file; 0: unknown */
    enum instruction_class kind;
    enum sass_space space;
    bool reads, writes; /* memory: an atomic does both */
    int bytes;          /* per lane, that are read or written; 0: no memory */
    int parameter; /* global memory: of the kernel's parameter from which its address comes, the bytes between the first
                      parameter and this one; -1: not known */
    const char *cache;         /* policy of the caches: "read-only", "evict first"; "" */
    int target;                /* index of the instruction to which it may branch; -1: none */
    struct sass_set used, set; /* registers that it reads, and that it writes */

    /* facts */
    bool unreachable; /* it only fills the space after the end */
    bool diverged;    /* only a warp that has diverged (BRA.DIV) comes here */
    int block;
    int loop;        /* innermost loop; -1: none */
    int live;        /* registers whose value is needed when the instruction starts */
    int outstanding; /* global loads that were issued and not waited for, this one included; 0 outside of loops */
    int depth;       /* a load in an innermost loop: on how many loads, one after another, its address depends */
};

/* Instructions first to last; only the first can be branched to, and only the last may branch. */
struct sass_block {
    int first, last;
    int loop; /* the innermost loop; -1: none */
};

/* A loop: the blocks from which its header can be reached again without leaving the header's region. */
struct sass_loop {
    int header;      /* block */
    int first, last; /* the lowest and the highest instruction */
    int parent;      /* the smallest loop around it; -1: none */
    bool innermost;
    int instructions; /* without those of loops inside */
    int loads;        /* from global memory or through textures, loops inside included; also: */
    int load_bytes;   /* bytes that these loads read per lane */
    int depth;        /* the most loads that wait for each other in a round: 2 for x[col[j]]; innermost loops only */
    int in_flight;    /* the most loads that were issued before one of their registers is used; innermost loops only */
    int unrolled;     /* copies of the loop's source in its body, 1: not unrolled; innermost loops only */
};

/* A source line, with the instructions that come from it. */
struct sass_source {
    const char *file;
    int line;
    int instructions, in_hot;           /* in_hot: of these, in the hot loop */
    int loads, loads_before, loads_hot; /* global loads, of these at lower addresses than the hot loop, and in it */
    bool hoisted; /* part of the hot loop's source, but its loads are done once, before the loop */
};

struct sass {
    char architecture[16]; /* "sm_90"; "": the listing does not say */
    int n;
    struct sass_instruction *at;
    int nblocks;
    struct sass_block *block;
    int nloops;
    struct sass_loop *loop;
    int nsources;
    struct sass_source *source; /* by file and line */
    int hot;                    /* the innermost loop with most global loads; -1: no loop loads */
    int counts[INSTRUCTION_CLASSES];
    int live_max;  /* registers */
    int registers; /* the highest register of an instruction + 1 */
    int spill_loads, spill_stores;
    int outside;  /* instructions outside of the hot loop, without those of diverged warps */
    int diverged; /* those of diverged warps */
    int chain;    /* the most global loads and atomics of which each needs the result of the one before */
    char *pool;
};

/* Read the function `symbol` (NULL: the first one) of the text that `nvdisasm -gi -c` prints. is_source(file) says
   whether a file, named without its folder, belongs to the kernel: an instruction of inlined functions gets the
   innermost line in such a file, otherwise the outermost line; NULL: all files belong. E_USAGE: no such function,
   E_MEMORY, E_CANCELLED. */
bool sass_read(struct sass *s, const char *text, const char *symbol, bool (*is_source)(const char *file),
               struct watch *w, struct err *e);
void sass_free(struct sass *s);

/* The loop contains the instruction. */
bool sass_in_loop(const struct sass *s, int loop, int instruction);
bool sass_same_line(const struct sass_instruction *a, const struct sass_instruction *b);
/* The source line of an instruction; NULL: unknown. */
const struct sass_source *sass_source_of(const struct sass *s, int instruction);
int sass_instructions(const struct sass *s); /* without those that only fill the space after the end (NOP) */
/* Instructions of the hot loop per round of the loop in the source; 0: no hot loop. */
double sass_per_round(const struct sass *s);

C_END
#endif
