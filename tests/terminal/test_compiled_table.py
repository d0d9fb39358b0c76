#!/usr/bin/python3
"""The table gpu/kernels/compiled.def says what the objects of this build hold.

Skipped in a build without CUDA and with another nvcc than the table's. The registers and memory of all functions are
compared; instructions need cuobjdump, and only those in small objects are compared: all would take half a minute.
"""
import pathlib
import re
import sys

from harness import PROGRAM, TOP, main

sys.path.insert(0, f"{TOP}/gpu/kernels")
import compiled  # noqa: E402

BUILD = pathlib.Path(PROGRAM).parent
SMALL = 250_000  # bytes of an object


def committed():
    """The release and architecture of the table, and {name: numbers}."""
    text = compiled.TABLE.read_text()
    release, arch = re.search(r'^COMPILER\("(.*)", "(.*)"\)$', text, re.M).groups()
    lines = re.findall(r'^COMPILED\("(.*)", ([\d, ]+)\)$', text, re.M)
    return release, arch, {name: tuple(map(int, numbers.split(", "))) for name, numbers in lines}


def test_the_names_that_the_script_shortens():
    assert compiled.instance("void cuda_::dia<cplx<double>, 3, int const*>(unsigned int, int const*)") == (
        "dia<cplx<double>, 3, int const*>")
    assert compiled.instance("cuda_::merge_starts(int, long)") == "merge_starts"
    assert compiled.instance("void cuda_::f<cuda_::g<cuda_::h<float> >, (cuda_::kind)1>(cuda_::g<int>)") == (
        "f<g<h<float>>, (kind)1>")


def test_classes_of_instructions():
    sass = """\t\tFunction : f
        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
        /*0010*/               @P0 LDG.E.64.CONSTANT R2, desc[UR4][R8.64] ; /* 0x0 */
        /*0020*/              @!P1 DFMA R4, R2, R4, R6 ;     /* 0x0 */
        /*0030*/                   MUFU.RCP64H R4, R2 ;      /* 0x0 */
        /*0040*/                   IMAD.MOV.U32 R4, RZ, RZ, R2 ; /* 0x0 */
        /*0050*/                   NOP;                      /* 0x0 */
"""
    found = {label: n for label, n in compiled.instructions(sass)["f"].items() if n}
    assert found == {"loads": 1, "fp64": 2, "other": 2}, found


def objects():
    """What read_objects returns, or None, with the reason printed, if the objects cannot be compared with the table."""
    release, arch, _ = committed()
    try:
        own = compiled.compiler(BUILD)
        if own != release:
            raise compiled.Skip(f"the table is that of nvcc {release}, and this is nvcc {own}")
        usage, code, own_arch = compiled.read_objects(BUILD)
        if own_arch != arch:
            raise compiled.Skip(f"the table is for {arch}, and the objects are for {own_arch}")
    except compiled.Skip as reason:
        print(f"skip the comparison with the objects: {reason}")
        return None
    return usage, code


def test_registers_and_memory_are_those_of_the_objects():
    _, _, table = committed()
    found = objects()
    if not found:
        return
    usage, code = found
    assert set(usage) == set(table), f"run `make compiled-table`: {sorted(set(usage) ^ set(table))}"
    for name, numbers in usage.items():
        assert table[name][:3] == numbers, f"{name}: run `make compiled-table`"
        # an instruction takes 16 bytes; at the end, a few that do nothing fill the code up to 128 bytes
        assert 0 <= code[name] // 16 - sum(table[name][3:]) < 32, f"{name}: run `make compiled-table`"


def test_instructions_are_those_of_the_objects():
    _, _, table = committed()
    if not objects():
        return
    try:
        counts = compiled.read_instructions(BUILD, SMALL)
    except compiled.Skip as reason:
        print(f"skip the instructions: {reason}")
        return
    assert len(counts) > 100
    for name, numbers in counts.items():
        assert table[name][3:] == numbers, f"{name}: run `make compiled-table`"


if __name__ == "__main__":
    sys.exit(main(globals()))
