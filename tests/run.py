#!/usr/bin/env python3
"""run.py BUILD [NAME...]: run the tests of a build side by side, each suite in its own process; the last line is "N passed, N failed".

NAME picks programs: `formats` is the suite tests/unit/test_formats.c, `gpu_lu` is gpu_lu; 'formats:every_*' only its
tests whose names match. Without a name all tests run.
  --quick   all tests except the slow ones
  --golden  the programs whose expected screens `make golden` rewrites
  --gpu     the programs that need a GPU, one at a time
  --jobs N  how many programs run at once, besides one that mostly waits (default: one per core)
A test program prints its results in cmocka's words: the lines "[  PASSED  ] N test(s)" and " N FAILED TEST(S)" are
counted.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import typing

TOP = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ["fields", "golden", "screens", "export", "readme", "predicted_times", "transcripts"]
# Programs that take more than a few seconds, slowest first. They start first, and `--quick` skips them.
SLOW = ["try", "lessons", "pack", "model", "puzzles", "pty", "lu", "schema", "races", "session", "transcripts", "predictions", "kernels",
        "row_sample", "multi", "precond", "files", "export", "solve", "in_parts", "complex", "eigs", "mtx",
        "compiled", "screens", "cut", "formats_files", "mtx_orders", "layout", "scaling", "microscope", "json", "ranks",
        "paper_arrays", "predicted_times", "interrupt", "mtx_files", "absent", "memory", "explore", "cast", "python", "system", "change"]
# Programs that mostly wait, for a screen or another process. They run one after another beside the others, so that no core
# waits with them.
WAITING = ["pty", "system", "pixels", "python", "full_screen", "cast"]
# Programs whose expectations depend on measured times run after all others, one at a time.
ALONE = ["solver_advice"]


class Program(typing.NamedTuple):
    stem: str  # of the source
    command: list

    @property
    def name(self):
        return self.stem.removeprefix("test_")


def programs_below(folder, pattern):
    return [Program(p.name, [str(p)]) for p in sorted(folder.rglob(pattern))
            if p.suffix == "" and os.access(p, os.X_OK) and p.is_file()]


def find_programs(build, options):
    if options.gpu:
        return programs_below(build / "tests", "gpu_*")
    unit_tests = build.resolve() / "tests" / "unit_tests"
    found = [Program(p.stem, [str(unit_tests), p.stem.removeprefix("test_")])
             for p in (TOP / "tests" / "unit").glob("test_*.c")]
    if not options.golden:
        python = os.environ.get("PYTHON", "/usr/bin/python3")
        found += [Program(p.stem, [python, str(p)]) for p in (TOP / "tests").rglob("test_*.py")]
    selected = options.names or (GOLDEN if options.golden else [])
    if selected:
        by_name = {p.name: p for p in found}
        for name in selected:
            if name.partition(":")[0] not in by_name:
                sys.exit(f"run.py: there is no test `{name}`")
        parts = [(by_name[n], pattern) for n, _, pattern in (name.partition(":") for name in dict.fromkeys(selected))]
        found = [Program(p.stem, p.command + ([pattern] if pattern else [])) for p, pattern in parts]
    elif options.quick:
        found = [p for p in found if p.name not in SLOW]
    order = {name: k for k, name in enumerate(SLOW)}
    return sorted(found, key=lambda p: (order.get(p.name, len(SLOW)), p.stem))


def clean_environment(build, state):
    """An environment in which no test reads or writes the user's own files."""
    env = dict(os.environ, WARPSPY_BIN=str(build / "warpspy"), LC_ALL="C.UTF-8",
               WARPSPY_NVCC="off",  # results do not depend on nvcc being there; tests of nvcc unset it
               # Waiting threads yield their core: spinning on a busy machine would take longer than the tests.
               OMP_WAIT_POLICY="passive")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HOME"):
        env[name] = state
    return env


def make_locale(folder):
    done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], capture_output=True)
    return folder if done.returncode == 0 else None


def counted(pattern, log):
    return sum(int(n) for n in re.findall(pattern, log, re.M))


def run_program(program, build, locale):
    """Run one program with a temporary state folder; return (passed, failed, text to print)."""
    with tempfile.TemporaryDirectory() as state:
        env = clean_environment(build, state)
        if locale:
            env["LOCPATH"] = locale
        start = time.monotonic()
        with subprocess.Popen(program.command, cwd=TOP, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as test:
            log = test.stdout.read().decode(errors="replace")
            _, status, used = os.wait4(test.pid, 0)
            test.returncode = os.waitstatus_to_exitcode(status)
    passed = counted(r"^\[  PASSED  \] (\d+) test", log)
    failed = counted(r"^ (\d+) FAILED TEST", log)
    if test.returncode and not failed:
        failed = 1
    lines = [f"{program.stem}: {passed} passed, {failed} failed, {time.monotonic() - start:.0f} s, "
             f"{used.ru_utime + used.ru_stime:.0f} s of processor time"]
    lines += sorted({line for line in log.splitlines() if line.startswith("skip")})
    if failed:
        lines += [line for line in log.splitlines() if not re.match(r"\[ (RUN|      OK)", line)][-60:]
        lines += [f"({program.stem} ended with status {test.returncode})"]
    return passed, failed, "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_intermixed_args()
    os.chdir(TOP)
    programs = find_programs(options.build, options)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(1 if options.gpu else options.jobs) as busy, \
            concurrent.futures.ThreadPoolExecutor(1) as waiting:
        locale = make_locale(folder)
        alone = [p for p in programs if p.name in ALONE]
        together = [(waiting if p.name in WAITING else busy).submit(run_program, p, options.build, locale)
                    for p in programs if p not in alone]
        results = itertools.chain((f.result() for f in concurrent.futures.as_completed(together)),
                                  (run_program(p, options.build, locale) for p in alone))
        for p, f, text in results:
            passed, failed = passed + p, failed + f
            print(text, flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
