#!/usr/bin/env python3
"""compiled.py FOLDER: write the table samples/compiled.txt, from the programs for GPUs in FOLDER/sm_NN.

The table has a paragraph for each function that gpu/kernels compiles for the GPU: what nvcc made of the function for
each architecture, so that a build without CUDA can show it, and the cost model knows how many blocks fit on a
multiprocessor. `make compiled-table` makes the programs and runs this one. Registers and memory are in the ELF files of
nvcc. The instructions need cuobjdump and nvdisasm of the CUDA toolkit (or of the packages nvidia-cuda-cuobjdump and
nvidia-cuda-nvdisasm of PyPI): in PATH, beside nvcc, or named by CUOBJDUMP.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = TOP / "samples/compiled.txt"
SPACE = "cuda_::"
RESERVED = ".nv.shared.reserved.0"  # a section of the shared memory that the system takes of each block
RESERVED_BYTES = 1024  # of it, which a function's own section counts, too
EM_CUDA = 190  # the machine of an ELF file for GPUs
FRAME, REGISTERS = 0x11, 0x2f  # attributes of a function: bytes of its stack, registers

# The classes of instructions, in the order of enum instruction_class (src/machine/compiled.h), with the names that
# instructions have up to the first dot. Every other instruction belongs to the last class: moves, selections,
# constants, those that do nothing.
CLASSES = {
    "loads": "LDG LD",
    "texture_loads": "TEX TLD TLD4",
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
COLUMNS = ["registers", "shared_bytes", "local_bytes", *CLASSES]  # of the table, after the architecture
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


def compiler(cubin):
    """The version of the nvcc that made a program for GPUs: "13.0.88". Those before 13 do not leave it there."""
    found = re.search(rb"Cuda compilation tools, release [\d.]+, V([\d.]+)", cubin)
    return found.group(1).decode() if found else "12 or older"


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
    at, size = of.get(".nv.info", (0, 0))  # without functions, ptxas 12 makes no such section
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
    system = RESERVED_BYTES if RESERVED in of else 0
    found = {}
    for symbol in code:
        shared = max(0, of.get(".nv.shared." + symbol, (0, 0))[1] - system)
        found[symbol] = (numbers[REGISTERS, symbol], shared, numbers.get((FRAME, symbol), 0))
    return found, code


def instructions(text):
    """{symbol: {class: number of instructions}} of cuobjdump -sass, without those that do nothing after the end. Inside
    the code, these count: for sm_103 and sm_120, four follow each fp64 instruction."""
    found, counts, idle = {}, None, 0
    for line in text.splitlines():
        if "Function : " in line:
            counts, idle = found.setdefault(line.split("Function : ")[1].strip(), dict.fromkeys(CLASSES, 0)), 0
            continue
        m = counts is not None and INSTRUCTION.match(line)
        if m and m.group(1) == "NOP":
            idle += 1
        elif m:
            counts[class_of(m.group(1), m.group(2))] += 1
            counts["other"] += idle
            idle = 0
    return found


def named(by_symbol):
    """The same by name instead of by symbol, without functions of libraries."""
    symbols = list(by_symbol)
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    names = zip(symbols, done.stdout.splitlines())
    return {instance(name): by_symbol[symbol] for symbol, name in names if SPACE in name}


class Programs:
    """What nvcc made of the functions for one architecture."""

    def __init__(self):
        self.usage, self.code = {}, {}  # by symbol: (registers, shared bytes, local bytes); bytes of code

    def add(self, cubin):
        usage, code = resources(cubin)
        self.usage.update(usage)
        self.code.update(code)

    def named(self):
        return named(self.usage), named(self.code)


def read_programs(paths):
    """{architecture: Programs} of objects of nvcc or of programs for GPUs, and the version of their nvcc."""
    found, compilers = collections.defaultdict(Programs), set()
    for path in paths:
        for cubin in cubins(path):
            found[architecture(cubin)].add(cubin)
            compilers.add(compiler(cubin))
    if len(compilers) != 1:
        raise Skip(f"the programs for GPUs are those of nvcc {' and '.join(sorted(compilers))}" if compilers else
                   "there are no programs for GPUs")
    return found, compilers.pop()


def read_instructions(paths):
    """{name: instructions of each class}, of objects for one architecture; cuobjdump disassembles them."""
    cuobjdump, counts = tool(), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(lambda path: disassembled(cuobjdump, path), paths):
            counts.update({symbol: tuple(c.values()) for symbol, c in instructions(text).items()})
    return named(counts)


def facts(folder):
    """{name: {architecture: numbers in the order of COLUMNS}}, and the version of nvcc."""
    found, compilers = collections.defaultdict(dict), set()
    for of in sorted(folder.glob("sm_*"), key=lambda path: int(path.name[3:])):
        paths = sorted(of.glob("*.cubin"))
        programs, own = read_programs(paths)
        if list(programs) != [of.name]:
            raise Skip(f"{of} holds programs for {' and '.join(sorted(programs))}")
        compilers.add(own)
        counts = read_instructions(paths)
        for name, numbers in programs[of.name].named()[0].items():
            found[name][int(of.name[3:])] = numbers + counts[name]
    if len(compilers) != 1:
        raise Skip(f"{folder} holds programs of nvcc {' and '.join(sorted(compilers)) or 'for no GPU'}")
    return found, compilers.pop()


def paragraph(name, by_architecture):
    """The lines of a function: its name, and one line for all architectures with the same numbers."""
    alike = collections.defaultdict(list)
    for arch, numbers in by_architecture.items():
        alike[numbers].append(str(arch))
    return "\n".join([name, *(f" {','.join(archs)} {' '.join(map(str, numbers))}" for numbers, archs in alike.items())])


def table(folder):
    found, own = facts(folder)
    lines = [paragraph(name, found[name]) for name in sorted(found)]
    return f"""# What nvcc made of the functions in gpu/kernels. `make compiled-table` writes this file; do not edit it.
# Below the name of a function, each line lists architectures (90: sm_90) and what is the same for all of them: registers
# per thread, bytes of shared memory per block without those that a launch gives, bytes of local memory per thread, and
# the number of instructions of each class.
compiler nvcc {own}
columns {' '.join(COLUMNS)}
""" + "\n".join(lines) + "\n"


def committed():
    """The version of nvcc of the table, and {architecture: {name: numbers}}."""
    found, own, name = collections.defaultdict(dict), "", ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("compiler nvcc "):
            own = line.split()[2]
        elif line.startswith(" "):
            archs, *numbers = line.split()
            for arch in archs.split(","):
                found[f"sm_{arch}"][name] = tuple(map(int, numbers))
        else:
            name = line
    return own, found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        TABLE.write_text(table(pathlib.Path(sys.argv[1])))
    except Skip as reason:
        sys.exit(f"compiled.py: {reason}")


if __name__ == "__main__":
    main()
