#!/usr/bin/env python3
"""compiled.py BUILD: write the table gpu/kernels/compiled.def, from the objects that nvcc made in BUILD.

The table has a line for each function that gpu/kernels compiles for the GPU: what nvcc made of the function, so that a
build without CUDA can show it, and the cost model knows how many blocks fit on a multiprocessor. `make compiled-table`
runs this program. Registers and memory are in the objects' ELF files. The instructions need cuobjdump and nvdisasm of
the CUDA toolkit (or of the packages nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm of PyPI): in PATH, beside nvcc, or
named by CUOBJDUMP.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = TOP / "gpu/kernels/compiled.def"
SPACE = "cuda_::"
RESERVED = 1024  # bytes of shared memory that the system takes of each block, since sm_80; the section counts them
EM_CUDA = 190  # the machine of an ELF file for GPUs
FRAME, REGISTERS = 0x11, 0x2f  # attributes of a function: bytes of its stack, registers

# The classes of instructions, in the order of enum instruction_class (src/machine/compiled.h), with the names that
# instructions have up to the first dot. Every other instruction belongs to the last class: moves, selections, constants.
CLASSES = {
    "loads": "LDG LD",
    "texture": "TEX TLD TLD4",
    "stores": "STG ST",
    "atomics": "ATOMG ATOM REDG RED",
    "shared": "LDS STS ATOMS",
    "local": "LDL STL",
    "fp64": "DADD DMUL DFMA DSETP DMNMX DMMA",
    "fp32": "FADD FMUL FFMA FSETP FMNMX FCHK MUFU",
    "collectives": "SHFL VOTE VOTEU MATCH REDUX",
    "barriers": "BAR WARPSYNC UCGABAR_ARV UCGABAR_WAIT",
    "conversions": "F2F F2I I2F I2FP F2FP",
    "integer": "IMAD IADD3 ISETP LEA LOP3 SHF VIADD VIMNMX VIMNMX3 VIADDMNMX IABS POPC FLO BREV BMSK SGXT IMNMX "
               "UIADD3 UIMAD UISETP ULEA ULOP3 USHF UFLO UPOPC",
    "branches": "BRA BRX BSSY BSYNC BREAK CALL RET EXIT YIELD",
    "other": "",
}
CLASS_OF = {name: label for label, names in CLASSES.items() for name in names.split()}
INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ +)?([A-Z0-9_]+)((?:\.[A-Za-z0-9_]+)*)")


class Skip(Exception):
    """The table cannot be made or compared here, and why."""


def tool():
    """The path of cuobjdump, with the folder where it finds nvdisasm."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    beside = str(pathlib.Path(nvcc).resolve().parent / "cuobjdump")
    found = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump") or shutil.which(beside)
    if not found:
        raise Skip("cuobjdump of the CUDA toolkit is neither in PATH nor beside nvcc; CUOBJDUMP may name it")
    return found


def disassembled(cuobjdump, path):
    env = dict(os.environ, PATH=f"{pathlib.Path(cuobjdump).parent}:{os.environ['PATH']}")
    done = subprocess.run([cuobjdump, "-sass", str(path)], env=env, capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"cuobjdump -sass {path}: {done.stderr.strip()}")
    return done.stdout


def compiler(build):
    """The release of the nvcc that made the objects: "13.0"."""
    flags = build / "cuda/flags"
    if not flags.exists():
        raise Skip(f"{build} has no objects of nvcc: it was built without CUDA")
    done = subprocess.run([flags.read_text().split()[0], "--version"], capture_output=True, text=True)
    return re.search(r"release ([\d.]+)", done.stdout).group(1)


def class_of(name, modifiers):
    if name == "MUFU" and "64H" in modifiers:  # the first digits of an fp64 reciprocal or root
        return "fp64"
    if name == "IMAD" and modifiers.startswith(".MOV"):
        return "other"
    return CLASS_OF.get(name, "other")


def instance(demangled):
    """The name of a function: "csr_stream<double, float, stream_plain>" of what c++filt prints."""
    depth = 0
    for end, c in enumerate(demangled):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            break
    else:
        end = len(demangled)
    name = demangled[demangled.index(SPACE):end]
    return name.replace(SPACE, "").replace("> >", ">>").replace("> >", ">>")


def cubins(path):
    """The programs for GPUs in an object of nvcc: ELF files in its section of fat binaries."""
    data = path.read_bytes()
    starts = [m.start() for m in re.finditer(b"\x7fELF", data)]
    return [data[at:] for at in starts if struct.unpack_from("<H", data, at + 18)[0] == EM_CUDA]


def architecture(cubin):
    abi, flags = cubin[8], struct.unpack_from("<I", cubin, 48)[0]
    return f"sm_{flags >> 8 & 255 if abi >= 8 else flags & 255}"


def sections(cubin):
    """{name: (offset, size)}"""
    table, size, n, names = struct.unpack_from("<Q10xHHH", cubin, 40)
    heads = [struct.unpack_from("<IIQQQQ", cubin, table + i * size) for i in range(n)]
    return {text_at(cubin, heads[names][4] + head[0]): (head[4], head[5]) for head in heads}


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def attributes(cubin, of):
    """(attribute, symbol, value) of the section .nv.info, for the attributes of functions that have a number."""
    at, size = of[".nv.info"]
    end = at + size
    while at < end:
        form, attribute, n = struct.unpack_from("<BBH", cubin, at)
        if form == 4 and n == 8:
            symbol, value = struct.unpack_from("<II", cubin, at + 4)
            name = struct.unpack_from("<I", cubin, of[".symtab"][0] + 24 * symbol)[0]
            yield attribute, text_at(cubin, of[".strtab"][0] + name), value
        at += 4 + (n if form == 4 else 0)


def resources(cubin):
    """{symbol: (registers, shared bytes, local bytes)}, and {symbol: bytes of code}"""
    of = sections(cubin)
    numbers = {(attribute, symbol): value for attribute, symbol, value in attributes(cubin, of)}
    code = {name.removeprefix(".text."): size for name, (_, size) in of.items() if name.startswith(".text.")}
    found = {}
    for symbol in code:
        shared = max(0, of.get(".nv.shared." + symbol, (0, 0))[1] - RESERVED)
        found[symbol] = (numbers[REGISTERS, symbol], shared, numbers.get((FRAME, symbol), 0))
    return found, code


def instructions(text):
    """{symbol: {class: number of instructions}} of cuobjdump -sass, without what follows the end for alignment."""
    found, counts = {}, None
    for line in text.splitlines():
        if "Function : " in line:
            counts = found.setdefault(line.split("Function : ")[1].strip(), dict.fromkeys(CLASSES, 0))
            continue
        m = counts is not None and INSTRUCTION.match(line)
        if m and m.group(1) != "NOP":
            counts[class_of(m.group(1), m.group(2))] += 1
    return found


def named(by_symbol):
    """The same by name instead of by symbol, without functions of libraries."""
    symbols = list(by_symbol)
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    names = zip(symbols, done.stdout.splitlines())
    return {instance(name): by_symbol[symbol] for symbol, name in names if SPACE in name}


def read_objects(build):
    """{name: (registers, shared bytes, local bytes)}, {name: bytes of code}, and the architecture."""
    usage, code, archs = {}, {}, set()
    for path in sorted((build / "cuda/kernels").glob("*.o")):
        for cubin in cubins(path):
            own, own_code = resources(cubin)
            usage.update(own)
            code.update(own_code)
            archs.add(architecture(cubin))
    if len(archs) != 1:
        raise Skip(f"the objects hold code for {', '.join(sorted(archs)) or 'no GPU'}: the table is for one architecture")
    return named(usage), named(code), archs.pop()


def read_instructions(build, size_most=None):
    """{name: instructions of each class}, of objects of at most size_most bytes; cuobjdump disassembles them."""
    cuobjdump, counts = tool(), {}
    for path in sorted((build / "cuda/kernels").glob("*.o")):
        if size_most is None or path.stat().st_size <= size_most:
            counts.update({f: tuple(c.values()) for f, c in instructions(disassembled(cuobjdump, path)).items()})
    return named(counts)


def table(build):
    usage, _, arch = read_objects(build)
    counts = read_instructions(build)
    lines = [f'COMPILED("{name}", {", ".join(map(str, usage[name] + counts[name]))})' for name in sorted(usage)]
    return f"""/* What nvcc made of the functions in gpu/kernels. `make compiled-table` writes this file; do not edit it.
   COMPILER(release, architecture). COMPILED(function, registers per thread, bytes of shared memory per block without
   those that a launch gives, bytes of local memory per thread, and the number of instructions of each class, in the
   order of enum instruction_class). */
COMPILER("{compiler(build)}", "{arch}")
""" + "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        TABLE.write_text(table(pathlib.Path(sys.argv[1])))
    except Skip as reason:
        sys.exit(f"compiled.py: {reason}")


if __name__ == "__main__":
    main()
