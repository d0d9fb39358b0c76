#!/usr/bin/env python3
"""listings.py CUBINS [sm_XX...]: write the stored machine code of the kernels for these architectures to samples/sass.

CUBINS is the folder in which `make` compiled them, CUBINS/sm_XX/NAME.cubin.

The program shows it (`sass KERNEL`) where there is no CUDA toolkit, and for GPUs for which it was not compiled. A file
samples/sass/sm_XX.txt.xz has the functions that SpMV kernels launch for fp64, as nvdisasm prints them with source
lines, under the names of samples/compiled.txt. `make listings` runs this program. It needs nvdisasm: in PATH, beside nvcc, or named by
NVDISASM.
"""
import fnmatch
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import compiled

TOP = compiled.TOP
FOLDER = TOP / "samples/sass"
ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]
OTHER_TYPES = ("float", "fp16", "bf16", "cplx<")
CODE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
MARK = re.compile(r'\s*//## File "([^"]*)", line (\d+)')


def nvcc_path():
    found = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not found:
        raise compiled.Skip("nvcc is neither in PATH nor in /usr/local/cuda/bin")
    return found


def nvdisasm_path(nvcc):
    beside = str(pathlib.Path(nvcc).resolve().parent / "nvdisasm")
    found = os.environ.get("NVDISASM") or shutil.which("nvdisasm") or shutil.which(beside)
    if not found:
        raise compiled.Skip("nvdisasm is neither in PATH nor beside nvcc; NVDISASM may name it")
    return found


def patterns_of(source):
    """The functions that a source's kernel entries name: ["csr_cusp", "light_vector<*texture<*>>"]."""
    lists = re.findall(r"\.functions = \{(\{.*?\})\},", source.read_text(), re.S)
    return [name for part in lists for name in re.findall(r'\{"([^"]+)"', part)]


def is_wanted(name, patterns):
    if any(word in name for word in OTHER_TYPES):
        return False
    return any(fnmatch.fnmatchcase(name, p) if "<" in p else name.split("<")[0] == p for p in patterns)


def function_texts(listing):
    """{symbol: lines} of what nvdisasm prints."""
    found = {}
    for part in re.split(r"^//-+ \.text\.", listing, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        found[head.split()[0]] = re.split(r"^//-+ \.", body, flags=re.M)[0].splitlines()
    return found


def shortened(lines):
    """The same lines without what the program does not read. Labels to which nothing branches are left out."""
    code = "\n".join(line for line in lines if CODE.match(line))
    targets = set(re.findall(r"\.L_\w+|\$\S+?(?=\))", code))
    names = {label: f".L{k}" for k, label in enumerate(sorted(targets, key=lambda t: (len(t), t)))}
    out, marks = [], []
    for line in lines:
        code, mark = CODE.match(line), MARK.match(line)
        if mark:
            marks.append(f'//## File "{mark.group(1).rsplit("/", 1)[-1]}", line {mark.group(2)}')
        elif code and code.group(2) != "NOP":
            out += marks
            marks = []
            out.append(f"/*{code.group(1)}*/ " + re.sub(r"\.L_\w+", lambda m: names[m.group()], code.group(2)) + ";")
        elif line.endswith(":") and line[:-1] in names:
            out.append(names[line[:-1]] + ":")
    return out


def shared_bytes(cubin):
    """{symbol: bytes of shared memory}, without those that the system takes of each block where it has a section."""
    of = compiled.sections(cubin)
    system = 1024 if ".nv.shared.reserved.0" in of else 0
    sizes = {name.removeprefix(".nv.shared."): size for name, (_, size) in of.items() if name.startswith(".nv.shared.")}
    return {symbol: max(0, size - system) for symbol, size in sizes.items()}


def listed(name, usage, shared, lines):
    registers, _, local = usage
    head = [f"//--------------------- .text.{name} ---", f"//## {registers} registers, {shared} shared, {local} local"]
    return head + shortened(lines)


def functions_of(cubin, patterns, nvdisasm):
    """[(name, lines)] of the functions of a cubin."""
    done = subprocess.run([nvdisasm, "-gi", "-c", str(cubin)], capture_output=True, text=True, check=True)
    code = cubin.read_bytes()
    texts, usage = compiled.named(function_texts(done.stdout)), compiled.named(compiled.resources(code)[0])
    shared = compiled.named(shared_bytes(code))
    wanted = [name for name in texts if is_wanted(name, patterns)]
    return [(name, listed(name, usage[name], shared.get(name, 0), texts[name])) for name in wanted]


def sources_of(functions):
    """A line for each source of the kernels that the listing names, with its CRC-32: the program says if it has changed."""
    named = {name for _, lines in functions for line in lines for name in re.findall(r'^//## File "([^"]*)"', line)}
    paths = [path for name in sorted(named) for path in [TOP / "gpu/kernels" / name] if path.exists()]
    return [f"// source {path.name} {zlib.crc32(path.read_bytes()):08x}" for path in paths]


def write_listing(cubins, arch, nvcc, nvdisasm):
    release = re.search(r"release ([\d.]+)", subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout)
    functions = []
    for source in sorted((TOP / "gpu/kernels").glob("k_*.cu")):
        patterns = patterns_of(source)
        if patterns:
            functions += functions_of(cubins / arch / f"{source.stem}.cubin", patterns, nvdisasm)
    text = [f"// nvcc {release.group(1)}", f".target {arch}"] + sources_of(functions)
    for _, lines in sorted(functions):
        text += lines
    data = lzma.compress("\n".join(text + [""]).encode(), check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{arch}.txt.xz").write_bytes(data)
    print(f"{arch}: {len(functions)} functions, {sum(map(len, text))} bytes, {len(data)} compressed")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        nvcc = nvcc_path()
        nvdisasm = nvdisasm_path(nvcc)
        for arch in sys.argv[2:] or ARCHITECTURES:
            write_listing(pathlib.Path(sys.argv[1]), arch, nvcc, nvdisasm)
    except compiled.Skip as reason:
        sys.exit(f"listings.py: {reason}")


if __name__ == "__main__":
    main()
