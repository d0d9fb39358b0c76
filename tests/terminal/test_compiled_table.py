#!/usr/bin/python3
"""The table samples/compiled.txt says what nvcc makes of the kernels.

Skipped in a build without CUDA and with another nvcc than the table's. The registers and memory of all functions are
compared for the architectures for which this build has objects, and two files are compiled for every architecture.
Instructions need cuobjdump, and only those in small objects are compared: all would take half a minute.
"""
import functools
import pathlib
import subprocess
import sys
import tempfile

from harness import PROGRAM, TOP, main

sys.path.insert(0, f"{TOP}/gpu/kernels")
import compiled  # noqa: E402

BUILD = pathlib.Path(PROGRAM).parent
SMALL = 300_000  # bytes of an object
COMPILED_HERE = ["k_dense.cu", "k_lu_gemm.cu"]  # they compile fast; without and with shared memory


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
        /*0060*/                   EXIT ;                    /* 0x0 */
        /*0070*/                   NOP;                      /* 0x0 */
"""
    found = {label: n for label, n in compiled.instructions(sass)["f"].items() if n}
    assert found == {"loads": 1, "fp64": 2, "branches": 1, "other": 3}, found


@functools.cache
def skip(reason):
    """Print a reason, once."""
    print(f"skip the comparison with nvcc: {reason}")


def objects():
    """The objects of nvcc in this build."""
    return sorted((BUILD / "cuda/kernels").glob("*.o"))


def programs(paths):
    """What read_programs finds by architecture, or None, with the reason printed, if the table is that of another nvcc."""
    wanted, _ = compiled.committed()
    try:
        found, own = compiled.read_programs(paths)
        if own != wanted:
            raise compiled.Skip(f"the table is that of nvcc {wanted}, and this is nvcc {own}")
        return found
    except compiled.Skip as reason:
        return skip(str(reason))


def compare(arch, of, complete):
    """Compare Programs with the table's column. complete: with all functions of it."""
    table = compiled.committed()[1].get(arch)
    if not table:
        return skip(f"the table has no column for {arch}")
    usage, code = of.named()
    assert usage and set(usage) <= set(table), f"run `make compiled-table`: {sorted(set(usage) - set(table))}"
    assert not complete or set(usage) == set(table), f"run `make compiled-table`: {sorted(set(table) - set(usage))}"
    for name, numbers in usage.items():
        assert table[name][:3] == numbers, f"{name}, {arch}: run `make compiled-table`"
        # an instruction takes 16 bytes; at the end, 8 or fewer that do nothing, and others that fill the last 128 bytes
        assert 0 <= code[name] // 16 - sum(table[name][3:]) < 16, f"{name}, {arch}: run `make compiled-table`"
    return None


def compare_instructions(arch, paths):
    """The number of functions that were compared; 0, with the reason printed, without cuobjdump."""
    table = compiled.committed()[1][arch]
    try:
        counts = compiled.read_instructions(paths)
    except compiled.Skip as reason:
        return skip(f"instructions: {reason}") or 0
    for name, numbers in counts.items():
        assert table[name][3:] == numbers, f"{name}, {arch}: run `make compiled-table`"
    return len(counts)


def test_the_table_has_the_same_functions_for_all_architectures():
    _, table = compiled.committed()
    assert list(table) == [f"sm_{a}" for a in (75, 80, 86, 89, 90, 100, 103, 120)], list(table)
    for arch, functions in table.items():
        assert set(functions) == set(table["sm_90"]), arch


def test_registers_and_memory_are_those_of_the_objects():
    for arch, of in (programs(objects()) or {}).items():
        compare(arch, of, complete=True)


def test_instructions_are_those_of_the_objects():
    found = programs(objects())
    if found and len(found) == 1 and list(found)[0] in compiled.committed()[1]:
        compared = compare_instructions(list(found)[0], [p for p in objects() if p.stat().st_size <= SMALL])
        assert compared == 0 or compared > 100


def test_two_files_for_every_architecture():
    flags = BUILD / "cuda/flags"
    if not flags.exists():
        return skip(f"{BUILD} was built without CUDA")
    command = flags.read_text().split(" -gencode")[0].split()
    for arch in compiled.committed()[1]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{source}.cubin" for source in COMPILED_HERE]
            for source, path in zip(COMPILED_HERE, paths):
                done = subprocess.run([*command, f"-arch={arch}", "-cubin", "-o", path, f"gpu/kernels/{source}"], cwd=TOP,
                                      capture_output=True, text=True)
                if done.returncode:
                    return skip(f"this nvcc does not compile for {arch}: {done.stderr.strip().splitlines()[-1]}")
            found = programs(paths)
            if not found:
                return None
            compare(arch, found[arch], complete=False)
            compare_instructions(arch, paths)
    return None


if __name__ == "__main__":
    sys.exit(main(globals()))
