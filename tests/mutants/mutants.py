#!/usr/bin/env python3
"""mutants.py BUILD OBJ [WORD...]: plant faults one at a time in a copy of the tree, and report which ones the tests find.

The faults are in tests/mutants/*.txt, one file per room. A fault is a paragraph:

    src/base/text.c            the source
    - return count == 1;       these lines of it, which occur once, without their indentation,
    + return count <= 1;       become these
    : text units:plural_*      the tests that should fail: a test, or a test and a pattern of names
    = reason                   only if the fault changes nothing that a test could see: it is not planted

Only faults with one of the WORDs in their list's name or source are planted. BUILD is a build without CUDA whose
objects lie below OBJ; `make mutants` makes it.
  --jobs N   copies of the tree in which faults are planted side by side (default: one per core)
  --every N  plant only every Nth fault
  --check    only check that each fault can be planted
  --trust    do not first run the tests without a fault, as after `make check`
  --hollow   instead of the lists: each suite against a product whose function that the suite calls most returns at once
Prints a line per fault: killed, by which tests; SURVIVED; or NOT BUILT. Fails unless at least 95 of 100 are killed and
all were built.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
LISTS = TOP / "tests" / "mutants"
WANTED = 0.95
LONGEST_S = 600  # a run of the tests that takes longer has found the fault


class Mutant(typing.NamedTuple):
    where: str  # list and line
    source: str
    old: tuple  # lines
    new: tuple
    tests: tuple
    equivalent: str


def parse(path):
    """The faults of one list."""
    found, marks, start = [], None, 0
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if marks:
                found.append(Mutant(f"{path.stem}:{start}", source, tuple(marks["-"]), tuple(marks["+"]),
                                    tuple(" ".join(marks[":"]).split()), " ".join(marks["="])))
            marks = None
        elif marks is None:
            source, start, marks = line.strip(), number, {mark: [] for mark in "-+:="}
        elif line[0] in marks:
            marks[line[0]].append(line[1:].strip())
        else:
            sys.exit(f"{path}:{number}: a line of a fault begins with - + : or =")
    return found


def place(lines, old):
    """The index in `lines` at which `old` begins; an error unless it is there once."""
    stripped = [line.strip() for line in lines]
    at = [i for i in range(len(lines)) if tuple(stripped[i:i + len(old)]) == old]
    if len(at) != 1:
        raise ValueError(f"occurs {len(at)} times: {old[0] if old else 'no line'}")
    return at[0]


def planted(mutant, top):
    """The text of the source with the fault."""
    lines = (top / mutant.source).read_text().splitlines(keepends=True)
    i = place(lines, mutant.old)
    indent = re.match(r"\s*", lines[i]).group()
    return "".join(lines[:i] + [f"{indent}{line}\n" for line in mutant.new] + lines[i + len(mutant.old):])


def problem(mutant):
    """Why the fault cannot be planted; None if it can."""
    if not (TOP / mutant.source).is_file():
        return "no such source"
    if not mutant.tests and not mutant.equivalent:
        return "names no tests"
    try:
        planted(mutant, TOP)
    except ValueError as error:
        return str(error)
    return None


# ---- each suite against a product whose function returns at once ----

DEFINITION = re.compile(r"^((?:const |struct |enum |unsigned )*\w+[ *]+)(\w+)\((?:[^;{]*)\)\n\{\n", re.M)


def definitions():
    """The public functions of the product: name -> (source, match of DEFINITION)."""
    found = {}
    for path in sorted([*TOP.glob("src/*/*.c"), *TOP.glob("gpu/*.c"), *TOP.glob("ui/*.c"), *TOP.glob("ui/views/*.c")]):
        for match in DEFINITION.finditer(path.read_text()):
            if not match[1].startswith("static"):
                found[match[2]] = (path.relative_to(TOP).as_posix(), match)
    return found


def hollows():
    """For each suite, the public function that it calls most and other suites least, made to return at once, as if all
    were well."""
    defined = definitions()
    calls = {path.stem.removeprefix("test_"): collections.Counter(re.findall(r"\b(\w+)\(", path.read_text()))
             for path in sorted(TOP.glob("tests/unit/test_*.c"))}
    suites = collections.Counter(name for counts in calls.values() for name in counts)
    found = []
    for suite, counts in calls.items():
        own = [name for name in counts if name in defined and not re.search(r"_(free|new|init|close|hooks?|fail_at)$", name)]
        if not own:
            continue
        source, match = defined[max(own, key=lambda name: counts[name] / suites[name] ** 2)]
        head = tuple(line.strip() for line in match[0].splitlines())
        kind = match[1].strip()
        value = {"void": "return;", "bool": "return true;"}.get(kind, f"return ({kind}){{0}};")
        found.append(Mutant(f"hollow:{suite}", source, head, (*head, value), (suite,), ""))
    return found


# ---- copies of the tree ----

def runs_alone(test):
    """Is it a suite that does not start the program?"""
    path = TOP / "tests" / "unit" / f"test_{test.partition(':')[0]}.c"
    return path.is_file() and "find_warpspy" not in path.read_text()


class Tree:
    """A copy of the tree and of its objects, in which one fault is planted at a time."""

    def __init__(self, folder, build, obj):
        self.top = pathlib.Path(folder)
        self.build, self.obj = build, obj
        for name in subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True,
                                   text=True).stdout.split("\0"):
            if name and (TOP / name).is_file():
                self.copy(name)
        for objects in {build, obj}:
            for path in (TOP / objects).rglob("*"):
                name = path.relative_to(TOP / objects)
                if path.is_file() and name.parts[0] not in ("cuda", "asan", "fuzz") and path.suffix != ".a":
                    self.copy(os.path.join(objects, name))

    def copy(self, name):
        to = self.top / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, to)

    def make(self, tests=None):
        """Build what these tests run; by default all."""
        target = f"{self.build}/tests/unit_tests" if tests and all(runs_alone(name) for name in tests) else "tests"
        return subprocess.run(["make", "-s", "--no-print-directory", target, "CUDA=0", f"BUILD={self.build}",
                               f"OBJ={self.obj}"], cwd=self.top, capture_output=True, text=True)

    def failing(self, tests, jobs=1):
        """The test programs that fail, of which `jobs` run side by side."""
        env = dict(os.environ, OMP_NUM_THREADS="2")
        with subprocess.Popen(["tests/run.py", self.build, "--jobs", str(jobs), *tests], cwd=self.top, env=env, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as run:
            try:
                log, _ = run.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                return ["time"]
        ran = re.findall(r"^(\w+): (\d+) passed, (\d+) failed", log, re.M)
        if not ran:
            sys.exit(log)
        return [name.removeprefix("test_") for name, passed, failed in ran
                if failed != "0" or (passed == "0" and "\nskip" not in log)]

    def run(self, mutant):
        """Plant the fault, build, and test: (verdict, seconds)."""
        start = time.monotonic()
        source = self.top / mutant.source
        whole = source.read_text()
        source.write_text(planted(mutant, self.top))
        built = self.make(mutant.tests)
        failing = [] if built.returncode else self.failing(mutant.tests)
        source.write_text(whole)
        verdict = "NOT BUILT" if built.returncode else f"killed by {' '.join(failing)}" if failing else "SURVIVED"
        return verdict, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("obj")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("--hollow", action="store_true")
    options = parser.parse_intermixed_args()
    mutants = hollows() if options.hollow else [m for p in sorted(LISTS.glob("*.txt")) for m in parse(p)]
    mutants = [m for m in mutants if not options.words or any(w in m.source or w in m.where for w in options.words)]
    wrong = [(m, why) for m in mutants if (why := problem(m))]
    for m, why in wrong:
        print(f"{m.where} {m.source}: {why}")
    if wrong or options.check:
        print(f"{len(mutants)} faults, {len(wrong)} cannot be planted")
        sys.exit(len(wrong) > 0)
    same = [m for m in mutants if m.equivalent]
    mutants = [m for m in mutants if not m.equivalent][::options.every]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        sys.exit(run_all(mutants, same, options, folder))


def run_all(mutants, same, options, folder):
    start = time.monotonic()
    trees = queue.Queue()
    for i in range(min(options.jobs, len(mutants))):
        trees.put(Tree(f"{folder}/{i}", options.build, options.obj))
    first = trees.get()
    built = first.make()
    if built.returncode:
        sys.exit(f"the tree without a fault does not build:\n{built.stderr}")
    checks = mutants and not options.hollow and not options.trust
    failing = first.failing(sorted({t for m in mutants for t in m.tests}), options.jobs) if checks else []
    if failing:
        sys.exit(f"these tests fail without a fault: {' '.join(failing)}")
    if checks:
        print(f"the tests pass without a fault, {time.monotonic() - start:.0f} s", flush=True)
    trees.put(first)

    def run(mutant):
        tree = trees.get()
        try:
            return mutant, *tree.run(mutant)
        finally:
            trees.put(tree)

    verdicts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, m) for m in mutants]):
            m, verdict, seconds = done.result()
            verdicts[verdict.split()[0]] += 1
            print(f"{verdict}, {seconds:.0f} s  {m.where} {m.source}\n    - {m.old[0]}\n    + {m.new[0]}"
                  if not verdict.startswith("killed") else f"{verdict}, {seconds:.0f} s  {m.where} {m.source}", flush=True)
    for m in same:
        print(f"equivalent  {m.where} {m.source}: {m.equivalent}")
    killed, survived, broken = verdicts["killed"], verdicts["SURVIVED"], verdicts["NOT"]
    print(f"{killed} killed, {survived} survived, {broken} not built, {len(same)} equivalent, "
          f"{time.monotonic() - start:.0f} s")
    return broken > 0 or killed < WANTED * (killed + survived)


if __name__ == "__main__":
    main()
