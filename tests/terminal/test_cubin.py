"""What nvcc makes of a kernel: the arguments of a launch are in constant memory. Skipped without nvcc and readelf.

An object for a GPU has a section .nv.constant0.KERNEL per kernel: the constant bank that a launch fills. The bank begins
with the sizes of the grid, and ends with the arguments, whose sizes are those of the kernel's parameters.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import TOP, main

# Bytes of the arguments of the kernels in k_vab.cu for double and plain loads.
POINTER, UNSIGNED, DOUBLE = 8, 4, 8
ARGUMENTS = {
    # val, col, x, partial
    "vab_piecesIdE": 4 * POINTER,
    # rows (aligned to 8 bytes), row_piece, partial, alpha, beta, y
    "vab_rowsIdPKdE": 2 * UNSIGNED + 2 * POINTER + 2 * DOUBLE + POINTER,
}


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return found if os.access(found, os.X_OK) and shutil.which("readelf") else None


def constant_banks():
    """The size of the constant bank of each kernel in k_vab.cu, in bytes, by mangled name."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = folder + "/vab.cubin"
        subprocess.run([nvcc(), "-std=c++20", "-O3", "-arch=sm_90", "-cubin", "-D_GNU_SOURCE", "-DHAVE_CUDA", "-Isrc",
                        "-I.", "-o", cubin, "gpu/kernels/k_vab.cu"], cwd=TOP, check=True, timeout=300)
        sections = subprocess.run(["readelf", "-SW", cubin], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\.nv\.constant0\.(\S+)\s+PROGBITS\s+\S+\s+\S+\s+([0-9a-f]+)", sections)
    return {name: int(size, 16) for name, size in found}


def test_arguments_are_in_constant_memory():
    if not nvcc():
        print("skip the constant bank of kernels: there is no nvcc or no readelf")
        return
    banks = constant_banks()
    head = set()
    for kernel, size in ARGUMENTS.items():
        bank = [n for name, n in banks.items() if kernel in name]
        assert len(bank) == 1, (kernel, banks)
        head.add(bank[0] - size)
    assert len(head) == 1 and head.pop() > 0, banks


if __name__ == "__main__":
    sys.exit(main(globals()))
