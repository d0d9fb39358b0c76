#!/usr/bin/env python3
"""The programs that `save FILE recipe` writes run, and reach what warpspy reached.

scipy: with the SciPy of this Python, or one from PyPI. petsc: compiled and run where mpicc and PETSc are. cuda: compiled
by nvcc where it is, and run on the host with a stub of the CUDA libraries (tests/kits/cuda_stub).
"""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv

from harness import PROGRAM, TOP, main
from test_python import FOLDER, PYTHON, pip

WORK = tempfile.TemporaryDirectory(prefix="warpspy-recipe-")
MATRIX = "gen poisson2d 20 as A; save A.mtx force; drop A; load A.mtx"
TOL = 1e-8


def write_convection(file, points=20, factor=lambda row: 1):
    """Convection and diffusion on a grid, which is not symmetric; its rows are multiplied by factor(row)."""
    entries = []
    for y in range(points):
        for x in range(points):
            for dx, dy, value in ((0, 0, 4), (1, 0, -0.6), (-1, 0, -1.4), (0, 1, -0.9), (0, -1, -1.1)):
                if 0 <= x + dx < points and 0 <= y + dy < points:
                    row, col = y * points + x + 1, (y + dy) * points + x + dx + 1
                    entries.append(f"{row} {col} {value * factor(row)!r}")
    with open(os.path.join(WORK.name, file), "w", encoding="utf-8") as f:
        f.write(f"%%MatrixMarket matrix coordinate real general\n{points ** 2} {points ** 2} {len(entries)}\n")
        f.write("\n".join(entries) + "\n")


write_convection("B.mtx")
write_convection("U.mtx", factor=lambda row: 10.0 ** (row * 7 % 9 - 4))
GENERAL, UNEVEN = "load B.mtx", "load U.mtx"


def output(words, **more):
    done = subprocess.run(words, cwd=WORK.name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          **more)
    assert done.returncode == 0, f"{words}: {done.stdout}"
    return done.stdout


def saved(lines, file, recipe):
    """Run lines, then write the program; returns the rows of the solve and of the program."""
    text = output([PROGRAM, "--json"], input="\n".join(lines) + f"\nsave {file} recipe {recipe} force\n")
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all(row["ok"] for row in rows), text
    return [row for row in rows if row["command"] == "solve"][-1], rows[-1]


def numbers(text):
    """The iterations, None of a direct solver, and the true residual that a program printed."""
    iterations = re.search(r"^iterations (\d+)$", text, re.M)
    return iterations and int(iterations[1]), float(re.search(r"^true residual (\S+)$", text, re.M)[1])


def compare(lines, file, recipe, run, near=2, tol=TOL, same=False):
    """The program meets tol as the solve did, in as many iterations, give or take `near`; None: in any number. same:
    up to rounding, it ends with the same residual, so A, b and M are the same, too."""
    solve, row = saved(lines, file, recipe)
    iterations, residual = numbers(run(file))
    assert row["matrix_file_there"], row
    assert residual <= 1.01 * tol, f"{lines}: true residual {residual}"
    if same:
        assert abs(residual / solve["residual_true"] - 1) <= 1e-3, f"{lines}: {residual}, not {solve['residual_true']}"
    if near is not None:
        assert abs(iterations - solve["iterations"]) <= near, f"{lines}: {iterations}, not {solve['iterations']}"


@functools.lru_cache(maxsize=None)
def python():
    """A Python with SciPy 1.12 or later, or None."""
    test = "import scipy; assert tuple(map(int, scipy.__version__.split('.')[:2])) >= (1, 12)"
    if not subprocess.run([sys.executable, "-c", test], stderr=subprocess.DEVNULL).returncode:
        return sys.executable
    venv.create(FOLDER.name, with_pip=True)
    return None if pip("numpy", "scipy").returncode else PYTHON


def for_scipy(test):
    @functools.wraps(test)
    def wrapped():
        if python():
            test()
        else:
            print("skip: numpy and scipy cannot be installed from PyPI")
    return wrapped


def by_scipy(file):
    return output([python(), file])


def options_of_petsc():
    if not shutil.which("mpicc") or not shutil.which("pkg-config"):
        return None
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout.split() if done.returncode == 0 else None


def by_petsc(file):
    output(["mpicc", "-Wall", "-Werror", "-o", "petsc", file, *options_of_petsc()])
    return output(["./petsc"])


def by_stub(file):
    output(["g++", "-Wall", "-Werror", "-I" + os.path.join(TOP, "tests", "kits", "cuda_stub"), "-x", "c++", file, "-o",
            "cuda"])
    return output(["./cuda"])


@for_scipy
def test_scipy_iterates_as_warpspy():
    for solve in ("cg", "cg b avaried", "cg precond jacobi b avaried", "minres b ones", "minres precond jacobi b avaried",
                  "gmres m 20 b avaried", "cg scaled b avaried", "cg tol 1e-10"):
        compare([MATRIX, f"solve {solve} on cpu"], "a.py", "scipy", by_scipy, near=0, same=True)
    for solve in ("bicgstab", "bicgstab precond jacobi", "gmres", "bicgstab scaled"):
        compare([GENERAL, f"solve {solve} on cpu"], "a.py", "scipy", by_scipy)


@for_scipy
def test_negative_definite():
    lines = [MATRIX, "let N = -1 * A", "save N.mtx force", "load N.mtx as M"]
    compare(lines + ["solve minres precond jacobi b avaried on cpu"], "a.py", "scipy", by_scipy, near=0, same=True)
    lines.append("solve cg precond jacobi b avaried on cpu")
    compare(lines, "a.py", "scipy", by_scipy, near=0, same=True)
    compare(lines, "a.cu", "cuda", by_stub, near=0, same=True)


@for_scipy
def test_scipy_meets_tol_by_other_factors():
    for solve in ("gmres precond ilu0", "bicgstab precond ilut drop 1e-2 fill 5", "bicgstab precond ilu0"):
        compare([GENERAL, f"solve {solve} on cpu"], "a.py", "scipy", by_scipy, near=None)
    compare([MATRIX, "solve direct"], "a.py", "scipy", by_scipy, near=None)


@for_scipy
def test_scipy_scales_as_warpspy():
    """Rows of very different sizes: other scales need other iterations. tol is that of the scaled system."""
    for solve in ("bicgstab scaled", "gmres scaled", "gmres scaled precond jacobi"):
        compare([UNEVEN, f"solve {solve} on cpu"], "a.py", "scipy", by_scipy, near=3, tol=10 * TOL)


@for_scipy
def test_scipy_least_squares():
    for solve in ("lsqr", "lsmr"):
        row, _ = saved([MATRIX, f"solve {solve} on cpu tol 1e-6"], "a.py", "scipy")
        iterations, _ = numbers(by_scipy("a.py"))
        assert abs(iterations - row["iterations"]) <= 0.05 * row["iterations"] + 2, (solve, iterations)


@for_scipy
def test_scipy_reads_right_sides():
    """A file of its own, and the one in the .npz file of the matrix."""
    lines = [MATRIX, "solve cg b avaried save b.mtx force on cpu"]
    compare(lines + ["solve cg b b.mtx on cpu"], "a.py", "scipy", by_scipy)
    lines += ["load A.mtx as N rhs b.mtx", "save N.npz force", "load N.npz as M"]
    compare(lines + ["solve cg on cpu"], "a.py", "scipy", by_scipy)


def test_petsc():
    if not options_of_petsc():
        print("skip: there is no mpicc, or no PETSc")
        return
    for solve in ("cg precond jacobi b avaried", "cg precond ic0", "minres b ones", "gs", "sor"):
        compare([MATRIX, f"solve {solve} on cpu"], "a.c", "petsc", by_petsc, near=0, same=True)
    for solve in ("bicgstab precond ilu0", "gmres m 20"):
        compare([GENERAL, f"solve {solve} on cpu"], "a.c", "petsc", by_petsc)
    for solve in ("direct", "direct umfpack", "cg precond amg"):
        compare([MATRIX, f"solve {solve}"], "a.c", "petsc", by_petsc, near=None)
    lines = [MATRIX, "solve cg b avaried save b.mtx force on cpu"]
    compare(lines + ["solve cg b b.mtx on cpu"], "a.c", "petsc", by_petsc)


def test_cuda():
    for solve in ("cg b avaried", "cg precond jacobi b ones"):
        compare([MATRIX, f"solve {solve} on cpu"], "a.cu", "cuda", by_stub, near=0, same=True)
    for solve in ("bicgstab", "bicgstab precond jacobi"):
        compare([GENERAL, f"solve {solve} on cpu"], "a.cu", "cuda", by_stub)


def test_cuda_compiles():
    if not shutil.which("nvcc"):
        print("skip: there is no nvcc")
        return
    for solve in ("cg precond jacobi", "bicgstab"):
        saved([MATRIX, f"solve {solve} on cpu"], "a.cu", "cuda")
        output(["nvcc", "-c", "-Werror", "all-warnings", "-o", "a.o", "a.cu"])


def test_same_solve_same_program():
    for recipe in ("scipy", "petsc", "cuda"):
        texts = set()
        for file in ("a", "a"):
            saved([MATRIX, "solve cg on cpu"], file, recipe)
            with open(os.path.join(WORK.name, file), encoding="utf-8") as f:
                texts.add(f.read())
        assert len(texts) == 1, recipe


if __name__ == "__main__":
    raise SystemExit(main(globals()))
