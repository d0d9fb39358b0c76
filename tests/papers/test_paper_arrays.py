#!/usr/bin/env python3
"""Compare every array of the papers' formats with a second implementation, paper_formats.py, slot by slot.

The matrices are samples, `gen walk 101` (rw5151), and odd shapes. Each is written to a file or read from samples/ by
this program too, so that the comparison does not depend on the reader of warpspy either.
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "terminal"))

import paper_formats as paper  # noqa: E402
from harness import PROGRAM, main  # noqa: E402
from paper_formats import Matrix  # noqa: E402


# ---- matrices ----

def read_sample(name):
    """A real Matrix Market file in coordinate form."""
    path = os.path.join(TOP, "samples", name)
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        symmetric = "symmetric" in file.readline()
        lines = [line.split() for line in file if line.strip() and not line.startswith("%")]
    m, n, _ = map(int, lines[0])
    entries = {(int(i) - 1, int(j) - 1): float(value) for i, j, value in lines[1:]}
    if symmetric:
        entries.update({(j, i): value for (i, j), value in entries.items()})
    return Matrix(m, n, entries)


def walk(m):
    """The Markov chain of a random walk on a triangular grid with m points per side."""
    entries, k = {}, 0
    for j in range(1, m + 1):
        width = m - j + 1
        for i in range(1, width + 1):
            steps = i + j - 2
            back, forth = steps / (2 * (m - 1)), (m - 1 - steps) / (2 * (m - 1))
            if i < width:
                entries[k, k + (2 if i == width - 1 else 1)] = forth
                entries[k, k + width] = forth
            if i > 1:
                entries[k, k - 1] = 2 * back if j == 1 else back
            if j > 1:
                entries[k, k - width] = 2 * back if i == 1 else back
            k += 1
    return Matrix(k, k, entries)


def scattered(m, n, lengths, seed):
    """Row i has lengths[i % len(lengths)] entries in random columns; every ninth value is a stored zero."""
    source, entries = random.Random(seed), {}
    for i in range(m):
        for j in source.sample(range(n), min(n, lengths[i % len(lengths)])):
            entries[i, j] = 0.0 if len(entries) % 9 == 8 else source.uniform(-2, 2)
    return Matrix(m, n, entries)


def broken_diagonals(n):
    """Diagonals of which every second stretch of 50 rows is missing, two long offsets, and a few single entries."""
    entries = {(i, i): i + 1.0 for i in range(n)}
    for d in (-n // 2, -3, 1, n // 3):
        entries.update({(i, i + d): d + i / 7 for i in range(n) if 0 <= i + d < n and i // 50 % 2 == 0})
    entries.update({(i, (7 * i + 3) % n): 0.5 for i in range(0, n, 41)})
    return Matrix(n, n, entries)


def dense_row(n):
    entries = {(i, i): 1.0 + i for i in range(n)}
    entries.update({(n // 2, j): 2.0 + j for j in range(n)})
    return Matrix(n, n, entries)


MATRICES = {
    "thesis4": lambda: read_sample("thesis4.mtx"),
    "diag6": lambda: read_sample("diag6.mtx"),
    "dw256A": lambda: read_sample("dw256A.mtx.gz"),
    "add32": lambda: read_sample("add32.mtx.gz"),
    "rw5151": lambda: walk(101),
    "empty_rows": lambda: scattered(77, 77, [0, 3, 0, 0, 9, 1, 0], 1),
    "one_row": lambda: scattered(1, 100, [40], 2),
    "one_column": lambda: scattered(100, 1, [1, 0, 1], 3),
    "one": lambda: Matrix(1, 1, {(0, 0): 3.0}),
    "no_entries": lambda: Matrix(70, 40, {}),
    "dense_row": lambda: dense_row(131),
    "wide": lambda: scattered(90, 301, [4, 0, 7, 35, 1], 4),
    "tall": lambda: scattered(333, 50, [1, 2, 12, 0, 20], 5),
    "many_lengths": lambda: scattered(500, 600, [1, 5, 8, 15, 16, 31, 32, 60, 2, 2], 6),
    "broken_diagonals": lambda: broken_diagonals(1003),
}

# Format, parameters of the command, and the arrays expected.
FORMATS = [
    ("coo", "", paper.coo),
    ("csr", "", paper.csr),
    ("csc", "", paper.csc),
    ("ell", "", paper.ell),
    ("hyb", "", paper.hyb),
    ("hyb", "width 2", lambda A: paper.hyb(A, 2)),
    ("bsr", "block 2", lambda A: paper.bsr(A, 2)),
    ("bsr", "block 4", lambda A: paper.bsr(A, 4)),
    ("sc-csr", "nw 1", lambda A: paper.sc_csr(A, 1)),
    ("sc-csr", "nw 3", lambda A: paper.sc_csr(A, 3)),
    ("sc-csr", "nw 480", lambda A: paper.sc_csr(A, 480)),  # GTX 295
    ("vab", "block 64", lambda A: paper.vab(A, 64)),
    ("vab", "block 256", lambda A: paper.vab(A, 256)),
    ("dia", "", paper.dia),
    ("hdia", "hack 32", lambda A: paper.hdia(A, 32)),
    ("hdia", "hack 7", lambda A: paper.hdia(A, 7)),
    ("brcsd1", "min 64", lambda A: paper.brcsd1(A, 64)),
    ("brcsd1", "min 5", lambda A: paper.brcsd1(A, 5)),
    ("brcsd1", "min 32 piece 128", lambda A: paper.brcsd1(A, 32, 128)),
    ("brcsd1", "min 5 piece 3", lambda A: paper.brcsd1(A, 5, 3)),
    ("brcsd2", "nrows 32", lambda A: paper.brcsd2(A, 32)),
    ("brcsd2", "nrows 5", lambda A: paper.brcsd2(A, 5)),
    ("dia-adaptive", "", paper.dia_adaptive),
    ("dia-adaptive", "brcsd1 100", lambda A: paper.dia_adaptive(A, times=100)),
    ("hdc", "fill 50", lambda A: paper.hdc(A, 50)),
    ("hdc", "fill 10", lambda A: paper.hdc(A, 10)),
]
DRM_ROWS = [32, 8, 3]
CHUNK = 2000000  # slots per command, so that the 18.7 million slots of add32 as DIA need little memory


# ---- the program's arrays ----

def write_matrix(A, path):
    with open(path, "w", encoding="ascii") as file:
        print(f"%%MatrixMarket matrix coordinate real general\n{A.m} {A.n} {A.nnz}", file=file)
        for i, j, value in A.entries():
            print(i + 1, j + 1, repr(float(value)), file=file)


class Program:
    """warpspy in JSON mode, which answers one line of commands after another."""

    def __init__(self, path):
        self.process = subprocess.Popen([PROGRAM, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=TOP)
        assert self.ask(f"load {path}")[0]["ok"], f"{path} cannot be loaded"

    def ask(self, line):
        """The rows that the line prints; `list` prints the row after them."""
        self.process.stdin.write(f"{line}\nlist\n".encode())
        self.process.stdin.flush()
        rows = []
        while not rows or rows[-1]["command"] != "list":
            rows.append(json.loads(self.process.stdout.readline()))
        return rows[:-1]

    def arrays(self, command):
        rows = self.ask(command)
        assert rows and rows[0]["ok"], f"{command}: {rows}"
        for row in rows:
            assert row["shown"] == len(row["values"]) == len(row["rows"])
        return {row["array"]: row for row in rows}

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait() == 0


# ---- comparing ----

def first_difference(have, want):
    return next(k for k, (a, b) in enumerate(zip(have, want)) if a != b)


def same(what, have, want, first=0):
    """The elements of an array from `first` on."""
    if have != want:
        k = first_difference(have, want)
        raise AssertionError(f"{what}[{first + k}] is {have[k]}, {want[k]} expected")


def compare(command, program, want):
    """Every array, in chunks if there are many slots. The program has no array that is not expected."""
    longest = max(map(len, want.values()))
    for first in range(0, max(longest, 1), CHUNK):
        part = f" slots {first}:{min(first + CHUNK, longest) - 1}" if longest > CHUNK else ""
        have = program.arrays(command + part)
        assert list(have) == list(want), f"{command}: arrays {list(have)}, {list(want)} expected"
        for array, row in have.items():
            what = f"{command}: {array}"
            assert row["slots"] == len(want[array]), f"{what} has {row['slots']} slots, not {len(want[array])}"
            same(what, row["values"], want[array][first:first + CHUNK], first)


def compare_drm(A, program, nrows):
    command = f"layout drm nrows {nrows}"
    have = {name: row["values"] for name, row in program.arrays(command).items()}
    paper.check_drm(A, nrows, have["drm_index"], have["drm_blo"])
    for array, want in paper.drm(A, nrows, have["drm_index"]).items():
        assert len(have[array]) == len(want), f"{command}: {array} has {len(have[array])} slots, not {len(want)}"
        same(f"{command}: {array}", have[array], want)


def check_matrix(A):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "A.mtx")
        write_matrix(A, path)
        program = Program(path)
        program.ask("convert dia force")  # DIA of add32 is refused without `force`
        for name, parameters, arrays in FORMATS:
            compare(f"layout {name} {parameters}".strip(), program, arrays(A))
        for nrows in DRM_ROWS:
            compare_drm(A, program, nrows)
        program.close()


for matrix, make in MATRICES.items():
    globals()[f"test_{matrix}"] = lambda make=make: check_matrix(make())


def test_every_format_of_the_papers_is_compared():
    compared = {name for name, _, _ in FORMATS} | {"drm"}
    known = {row["name"] for row in json_rows("formats")}
    ours = {"sell", "packed", "bsell", "strips", "dense", "csr64"}  # the formats of no paper
    assert compared == known - ours, f"{compared ^ (known - ours)}"


def test_the_figures_of_the_papers():
    """The second implementation gives the arrays that the papers print."""
    A, B = read_sample("thesis4.mtx"), read_sample("diag6.mtx")
    assert paper.coo(A) == {"row": [0, 0, 1, 1, 2, 2, 2, 3, 3], "col": [0, 1, 1, 2, 0, 2, 3, 1, 3],
                            "val": [1, 7, 2, 8, 5, 3, 9, 6, 4]}  # THESIS fig. 2.1
    assert paper.dia(A) == {"offsets": [-2, 0, 1], "data": [0, 0, 5, 6, 1, 2, 3, 4, 7, 8, 9, 0]}  # fig. 2.2
    assert paper.csr(A)["ptr"] == [0, 2, 4, 7, 9]  # fig. 2.3
    assert paper.dia(B)["offsets"] == [-3, 0, 1, 3]  # DRM fig. 1
    assert paper.hdia(B, 2)["hackOffsets"] == [0, 3, 6, 8]  # DRM fig. 2
    assert paper.brcsd1(B, 2)["brcsd1_offsets"] == [0, 0, 1, 3, 3, -3, 0, 1]  # DRM fig. 3
    assert paper.brcsd2(B, 2)["brcsd2_offsets"] == [2, 0, 1, 3, 1, -3, 0]  # DRM fig. 4
    assert paper.merged_operands([8, 6, 4, 2]) == [10, 10]  # DRM fig. 7


def test_the_walk_is_generated():
    """`gen walk` makes the entries that this program makes, in the same order and with the same bits."""
    for m in (2, 3, 31, 101):
        row = {row["array"]: row["values"] for row in json_rows(f"gen walk {m}; layout csr") if "array" in row}
        for array, want in paper.csr(walk(m)).items():
            same(f"gen walk {m}: {array}", row[array], want)


def json_rows(commands):
    done = subprocess.run([PROGRAM, "--json", "-c", commands], stdout=subprocess.PIPE, cwd=TOP, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main(globals()))
