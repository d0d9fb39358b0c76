/* Machine code: instructions of a listing, loops, loads in flight, unrolling, hoisted loads and live registers, with
   listings whose answers are counted by hand. */
#include "base/err.h"
#include "kits/test.h"
#include "machine/sass.h"

#include <stdio.h>
#include <string.h>

#define SECTION(name) "//--------------------- .text." name "          --------------------------\n"
#define FUNCTION(name) SECTION(name) ".text." name ":\n"
#define AT(line) "\t//## File \"/src/kernels/k.cu\", line " #line "\n"
#define INLINED(header, line, from)                                                                         \
    "\t//## File \"/src/kernels/" header "\", line " #line " inlined at \"/src/kernels/k.cu\", line " #from \
    "\n" AT(from)

static struct sass read_listing(const char *text, const char *symbol, bool (*is_source)(const char *))
{
    struct err e = {0};
    struct sass s;
    if (!sass_read(&s, text, symbol, is_source, NULL, &e)) fail_msg("%s", e.text);
    return s;
}

/* A loop over x[col[j]] that is unrolled twice; p is loaded before the loop, on the loop's line. */
static const char gather[] =
    "\t.target\tsm_90\n" FUNCTION("other") AT(1) "        /*0000*/                   EXIT ;\n" FUNCTION("gather") AT(
        2) "        /*0000*/                   S2R R0, SR_TID.X ;\n"
           "        /*0010*/                   LDC.64 R2, c[0x0][0x210] ;\n"
           "        /*0020*/                   LDC.64 R6, c[0x0][0x218] ;\n" AT(
               4) "        /*0030*/                   LDG.E.CONSTANT R1, desc[UR4][R6.64] ;\n"
                  "        /*0040*/                   CS2R R8, SRZ ;\n"
                  ".L_x_1:\n" AT(5) "        /*0050*/                   LDG.E.CONSTANT R4, desc[UR4][R2.64] ;\n"
                                    "        /*0060*/                   LDG.E.CONSTANT R5, desc[UR4][R2.64+0x80] ;\n"
                                    "        /*0070*/                   IMAD.WIDE R10, R4, 0x8, R6 ;\n"
                                    "        /*0080*/                   LDG.E.64 R10, desc[UR4][R10.64] ;\n"
                                    "        /*0090*/                   IMAD.WIDE R12, R5, 0x8, R6 ;\n"
                                    "        /*00a0*/                   LDG.E.64 R12, desc[UR4][R12.64] ;\n" AT(
                                        4) "        /*00b0*/                   IADD3 R0, R0, 0x2, RZ ;\n"
                                           "        /*00c0*/                   ISETP.GE.AND P0, PT, R0, R1, PT "
                                           ";\n" AT(5) "        /*00d0*/                   DADD R8, R8, R10 ;\n"
                                                       "        /*00e0*/                   DADD R8, R8, R12 ;\n" AT(
                                                           4) "        /*00f0*/              @!P0 BRA `(.L_x_1) "
                                                              ";\n" AT(6) "        /*0100*/                   "
                                                                          "STG.E.64 desc[UR4][R6.64+0x8], R8 ;\n"
                                                                          "        /*0110*/                   EXIT "
                                                                          ";\n"
                                                                          ".L_x_2:\n"
                                                                          "        /*0120*/                   BRA "
                                                                          "`(.L_x_2);\n"
                                                                          "        /*0130*/                   NOP;\n"
                                                                          "        /*0140*/                   NOP;\n";

TEST(test_words)
{
    struct sass s = read_listing(gather, "gather", NULL);
    const struct sass_instruction *i = &s.at[6];
    assert_string_equal(s.architecture, "sm_90");
    assert_int_equal(s.n, 19); /* without NOP */
    assert_int_equal(i->address, 0x60);
    assert_string_equal(i->text, "LDG.E.CONSTANT R5, desc[UR4][R2.64+0x80]");
    assert_string_equal(i->opcode, "LDG");
    assert_string_equal(i->modifiers, ".E.CONSTANT");
    assert_string_equal(i->operands, "R5, desc[UR4][R2.64+0x80]");
    assert_string_equal(i->cache, "read-only");
    assert_string_equal(i->file, "k.cu");
    assert_int_equal(i->line, 5);
    assert_int_equal(i->bytes, 4);
    assert_true(i->space == SASS_GLOBAL && i->reads && !i->writes && i->kind == INSTRUCTION_LOAD);
    assert_string_equal(s.at[15].predicate, "@!P0");
    assert_int_equal(s.at[15].target, 5);
    assert_int_equal(s.at[16].bytes, 8);
    assert_true(s.at[16].writes && !s.at[16].reads);
    assert_true(sass_has(&i->used, 2) && sass_has(&i->used, 3) && !sass_has(&i->used, 4) && sass_has(&i->set, 5));
    sass_free(&s);
}

TEST(test_loop)
{
    struct sass s = read_listing(gather, "gather", NULL);
    assert_int_equal(s.nloops, 1); /* the branch to itself at the end is unreachable */
    assert_int_equal(s.hot, 0);
    const struct sass_loop *l = &s.loop[0];
    assert_int_equal(l->first, 5);
    assert_int_equal(l->last, 15);
    assert_int_equal(l->instructions, 11);
    assert_int_equal(l->loads, 4);
    assert_int_equal(l->load_bytes, 24);
    assert_int_equal(l->depth, 2);
    assert_int_equal(l->in_flight, 2);
    assert_int_equal(l->unrolled, 2);
    assert_float_equal(sass_per_round(&s), 5.5, 0);
    sass_free(&s);
}

/* The last branch and what follows fill the cache line. The chain: col, then x. */
/* Pointers of the kernel in registers and uniform registers; a pointer that was loaded, and one of two arrays. */
static const char pointers[] = "\t.target\tsm_90\n" FUNCTION("pointers")
    AT(1) "        /*0000*/                   S2R R0, SR_TID.X ;\n"
          "        /*0010*/                   LDC.64 R2, c[0x0][0x218] ;\n"
          "        /*0020*/                   ULDC.64 UR4, c[0x0][0x208] ;\n"
          "        /*0030*/                   ULDC.64 UR6, c[0x0][0x220] ;\n"
          "        /*0040*/                   LDC R9, c[0x0][0x210] ;\n"
          "        /*0050*/                   IMAD.WIDE R4, R9, 0x8, R2 ;\n"
          "        /*0060*/                   LDG.E.64 R6, desc[UR4][R4.64] ;\n"
          "        /*0070*/                   LDG.E R8, desc[UR4][R6.64] ;\n"
          "        /*0080*/                   LEA R10, P0, R0, UR6, 0x3 ;\n"
          "        /*0090*/                   LEA.HI.X R11, R0, UR7, R3, 0x3, P0 ;\n"
          "        /*00a0*/                   STG.E.64 desc[UR4][R2.64+UR6], R6 ;\n"
          "        /*00b0*/                   IADD3 R12, P0, R0, UR6, RZ ;\n"
          "        /*00c0*/                   IADD3.X R13, RZ, UR7, RZ, P0, !PT ;\n"
          "        /*00d0*/                   STG.E.64 desc[UR4][R12.64], R6 ;\n"
          "        /*00e0*/                   EXIT ;\n";

TEST(addresses_come_from_parameters)
{
    struct sass s = read_listing(gather, "gather", NULL);
    assert_int_equal(s.at[3].parameter, 8);
    assert_int_equal(s.at[5].parameter, 0);
    assert_int_equal(s.at[8].parameter, 8); /* x[col[j]] is of x, not of col */
    assert_int_equal(s.at[16].parameter, 8);
    sass_free(&s);
    s = read_listing(pointers, "pointers", NULL);
    assert_int_equal(s.at[6].parameter, 8);
    assert_int_equal(s.at[7].parameter, -1);
    assert_int_equal(s.at[10].parameter, -1);
    assert_int_equal(s.at[13].parameter, 16);
    assert_int_equal(s.at[0].parameter, -1);
    sass_free(&s);
}

TEST(test_function)
{
    struct sass s = read_listing(gather, "gather", NULL);
    assert_true(s.at[18].unreachable && !s.at[18].diverged && !s.at[17].unreachable);
    assert_int_equal(s.outside, 7);
    assert_int_equal(s.chain, 2);
    assert_int_equal(s.counts[INSTRUCTION_LOAD], 5);
    assert_int_equal(sass_instructions(&s), 19);
    sass_free(&s);
}

/* Under P0 or under !P0, one value is loaded: one load is in flight. */
TEST(test_alternatives)
{
    static const char text[] = FUNCTION("f") ".L_1:\n"
                                             "        /*0000*/               @P0 LDG.E.EF R4, desc[UR4][R2.64] ;\n"
                                             "        /*0010*/              @!P0 LDG.E R4, desc[UR4][R2.64] ;\n"
                                             "        /*0020*/                   LDG.E R5, desc[UR4][R2.64+0x4] ;\n"
                                             "        /*0030*/                   FADD R6, R4, R5 ;\n"
                                             "        /*0040*/               @P1 BRA `(.L_1) ;\n"
                                             "        /*0050*/                   EXIT ;\n";
    struct sass s = read_listing(text, NULL, NULL);
    assert_int_equal(s.loop[0].in_flight, 2);
    assert_string_equal(s.at[0].cache, "evict first");
    sass_free(&s);
}

/* R0 to R3, R6 to R9 live through the loop; the pairs R10 and R12 are added to R8. */
TEST(test_live)
{
    struct sass s = read_listing(gather, "gather", NULL);
    assert_int_equal(s.at[5].live, 8);
    assert_int_equal(s.at[10].live, 12);
    assert_int_equal(s.at[14].live, 10);
    assert_int_equal(s.at[16].live, 4);
    assert_int_equal(s.at[17].live, 0);
    assert_int_equal(s.live_max, 12);
    assert_int_equal(s.registers, 14);
    sass_free(&s);
}

TEST(test_sources)
{
    struct sass s = read_listing(gather, "gather", NULL);
    const struct sass_source *before = sass_source_of(&s, 3), *in = sass_source_of(&s, 5);
    assert_int_equal(s.nsources, 4);
    assert_true(before->hoisted && before->line == 4 && before->loads == 1 && before->loads_before == 1);
    assert_true(!in->hoisted && in->loads_hot == 4 && in->loads_before == 0 && in->in_hot == 8);
    sass_free(&s);
}

/* The first round was peeled off the loop: its load is not moved out of the loop. */
TEST(test_peeled)
{
    static const char text[] =
        FUNCTION("f") AT(7) "        /*0000*/                   LDG.E R4, desc[UR4][R2.64] ;\n"
                            ".L_1:\n"
                            "        /*0010*/                   LDG.E R4, desc[UR4][R2.64+0x4] ;\n"
                            "        /*0020*/               @P1 BRA `(.L_1) ;\n"
                            "        /*0030*/                   EXIT ;\n";
    struct sass s = read_listing(text, NULL, NULL);
    const struct sass_source *p = sass_source_of(&s, 0);
    assert_true(!p->hoisted && p->loads_before == 1 && p->loads_hot == 1 && p->loads == 2);
    sass_free(&s);
}

/* The functions of a listing are told apart by their whole symbols, and the first one is the default. */
TEST(test_symbols)
{
    struct err e = {0};
    struct sass s = read_listing(gather, NULL, NULL);
    assert_int_equal(s.n, 1);
    sass_free(&s);
    assert_false(sass_read(&s, gather, "gath", NULL, NULL, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_string_equal(e.text, "the machine code has no function gath");
    assert_false(sass_read(&s, "", NULL, NULL, NULL, NULL));
    err_clear(&e);
    assert_false(sass_read(&s, FUNCTION("empty"), NULL, NULL, NULL, &e));
    assert_int_equal(e.code, E_INPUT);
}

static bool no_header(const char *file)
{
    return strcmp(file, "dialect.h") != 0;
}

/* An inlined function's instruction gets the innermost line that counts as the kernel's source. */
TEST(test_inlined)
{
    static const char text[] = FUNCTION("f")
        INLINED("dialect.h", 419, 29) "        /*0000*/                   STG.E desc[UR4][R2.64], R0 ;\n" INLINED(
            "rows.h", 36, 30) "        /*0010*/                   LDG.E R0, desc[UR4][R2.64] ;\n"
                              "        /*0020*/                   EXIT ;\n";
    struct sass s = read_listing(text, "f", no_header);
    assert_string_equal(s.at[0].file, "k.cu");
    assert_int_equal(s.at[0].line, 29);
    assert_string_equal(s.at[1].file, "rows.h");
    assert_int_equal(s.at[2].line, 36);
    sass_free(&s);
    s = read_listing(text, "f", NULL);
    assert_int_equal(s.at[0].line, 419);
    sass_free(&s);
}

/* What R4 gets under @P0 and is used under @P0 only is not needed before, unless P0 changes in between. */
TEST(test_predicated)
{
    static const char same[] = FUNCTION("f") "        /*0000*/               @P0 LDG.E R4, desc[UR4][R2.64] ;\n"
                                             "        /*0010*/               @P0 IADD3 R5, R4, 0x1, RZ ;\n"
                                             "        /*0020*/                   EXIT ;\n";
    static const char changed[] = FUNCTION("f") "        /*0000*/               @P0 LDG.E R4, desc[UR4][R2.64] ;\n"
                                                "        /*0010*/                   ISETP.GE.AND P0, PT, R2, RZ, PT ;\n"
                                                "        /*0020*/               @P0 STG.E desc[UR4][R2.64], R4 ;\n"
                                                "        /*0030*/                   EXIT ;\n";
    static const char always[] = FUNCTION("f") "        /*0000*/               @P0 LDG.E R4, desc[UR4][R2.64] ;\n"
                                               "        /*0010*/                   IADD3 R5, R4, 0x1, RZ ;\n"
                                               "        /*0020*/               @P0 IADD3 R6, R4, 0x1, RZ ;\n"
                                               "        /*0030*/                   EXIT ;\n";
    struct sass s = read_listing(same, NULL, NULL);
    assert_int_equal(s.at[0].live, 2);
    assert_int_equal(s.at[1].live, 1);
    sass_free(&s);
    s = read_listing(changed, NULL, NULL);
    assert_int_equal(s.at[0].live, 3);
    sass_free(&s);
    s = read_listing(always, NULL, NULL);
    assert_int_equal(s.at[0].live, 3);
    sass_free(&s);
}

/* The loop over rows contains the loop over entries. What a diverged warp does, out of line, is no part of a loop. */
TEST(test_nested)
{
    static const char text[] =
        FUNCTION("f") ".L_1:\n"
                      "        /*0000*/                   ATOMG.E.ADD.STRONG.GPU PT, R5, desc[UR6][R4.64], R7 ;\n"
                      ".L_2:\n"
                      "        /*0010*/                   LDG.E.64.SYS R8, [R2] ;\n"
                      "        /*0020*/              @!P0 BRA `(.L_2) ;\n"
                      "        /*0030*/                   BRA.DIV UR4, `(.L_3) ;\n"
                      "        /*0040*/                   STL.64 [R1], R8 ;\n"
                      ".L_4:\n"
                      "        /*0050*/               @P1 BRA `(.L_1) ;\n"
                      "        /*0060*/                   EXIT ;\n"
                      ".L_3:\n"
                      "        /*0070*/                   LDL R9, [R1] ;\n"
                      "        /*0080*/                   BRA `(.L_4) ;\n";
    struct sass s = read_listing(text, NULL, NULL);
    assert_int_equal(s.nloops, 2);
    assert_int_equal(s.hot, 1);
    assert_true(s.loop[1].innermost && !s.loop[0].innermost && s.loop[1].parent == 0 && s.loop[0].parent == -1);
    assert_true(sass_in_loop(&s, 0, 1) && sass_in_loop(&s, 1, 1) && !sass_in_loop(&s, 1, 0) && !sass_in_loop(&s, 0, 7));
    assert_int_equal(s.loop[0].instructions, 4); /* without the two of the loop inside */
    assert_int_equal(s.loop[0].loads, 1);
    assert_true(s.at[7].diverged && s.at[8].diverged && !s.at[6].diverged);
    assert_int_equal(s.diverged, 2);
    assert_int_equal(s.outside, 5);
    assert_int_equal(s.spill_loads, 1);
    assert_int_equal(s.spill_stores, 1);
    assert_true(sass_has(&s.at[0].set, 5) && !sass_has(&s.at[0].set, 6) && sass_has(&s.at[0].used, 7));
    assert_true(sass_has(&s.at[1].used, 3)); /* .E: a 64-bit address, although sm_75 does not write R2.64 */
    assert_true(s.at[0].reads && s.at[0].writes && s.at[0].kind == INSTRUCTION_ATOMIC);
    sass_free(&s);
}

static const struct operands_of {
    const char *name; /* an instruction */
    const char *used, *set;
} operands[] = {
    {"DFMA R8, R4, R6.reuse, -R8", "4 5 6 7 8 9", "8 9"},
    {"IMAD.WIDE.U32 R2, P0, R3, R4, R6", "3 4 6 7", "2 3"},
    {"IADD3 R24, P5, R25, 0x80, RZ", "25", "24"},
    {"LOP3.LUT P0, R3, R4, 0x1f, RZ, 0xc0, !PT", "4", "3"},
    {"LOP3.LUT P0, RZ, R4, 0x1f, RZ, 0xc0, !PT", "4", ""},
    {"SHFL.DOWN PT, R5, R15, 0x10, 0x1f", "15", "5"},
    {"TLD.LZ RZ, R6, R9, UR4, 0x0, 1D, 0x3", "9", "6 7"},
    {"TLD.LZ R22, R18, R4, UR4, 0x0, 1D", "4", "18 19 22 23"},
    {"STS.128 [R4+0x10], R8", "4 8 9 10 11", ""},
    {"LDS.64 R4, [R2+UR4]", "2", "4 5"},
    {"F2F.F64.F32 R4, R2", "2", "4 5"},
    {"F2F.F32.F64 R4, R2", "2 3", "4"},
    {"I2F.F64 R4, R2", "2", "4 5"},
    {"CS2R R14, SRZ", "", "14 15"},
    {"STG.E.64 desc[UR4][R2.64+R6], R8", "2 3 6 8 9", ""},
    {"RED.E.ADD.F64.RN.STRONG.GPU desc[UR4][R2.64], R8", "2 3 8 9", ""},
    {"DSETP.NEU.AND P0, PT, R2, UR4, PT", "2 3", ""},
    {"BRA UP0, `(.L_1)", "", ""},
};

static void check_set(const char *text, const char *of, const struct sass_set *set, const char *wanted)
{
    char found[200] = "";
    for (int r = 0; r < SASS_REGISTERS; r++)
        if (sass_has(set, r))
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d", *found ? " " : "", r);
    if (strcmp(found, wanted)) fail_msg("%s %s %s, not %s", text, of, found, wanted);
}

TEST_OF_EACH(test_operands, operands)
{
    const struct operands_of *o = *state;
    char text[400];
    snprintf(text, sizeof text, "%s.L_1:\n        /*0000*/   %s ;\n        /*0010*/   EXIT ;\n", FUNCTION("f"),
             o->name);
    struct sass s = read_listing(text, NULL, NULL);
    check_set(o->name, "uses", &s.at[0].used, o->used);
    check_set(o->name, "sets", &s.at[0].set, o->set);
    sass_free(&s);
}
