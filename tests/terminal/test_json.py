"""The command line of warpspy: JSON keys and types, CSV, exit statuses, and output that cannot be written."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from harness import PROGRAM, TOP, main

THESIS = os.path.join(TOP, "samples", "thesis4.mtx")


def run(*args, text=None, **more):
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *args], input=text, stderr=subprocess.PIPE, text=True, timeout=120,
                          **({} if text is not None else {"stdin": subprocess.DEVNULL}), **more)


def rows(commands, *files):
    done = run("--json", "-c", commands, *files)
    return [json.loads(line, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
            for line in done.stdout.splitlines()]


RUN = {"matrix": str, "rows": int, "cols": int, "nnz": int, "format": str, "kernel": str, "device": str,
       "precision": str, "prep_us": float, "bytes": int, "error": float, "deterministic": bool}
TIMES = {"time_us": float, "total_us": float, "spread_us": float, "gbs": float, "gflops": float}
FIT = {"fits": bool, "bytes": int, "padding": int, "prep_us": float}
NO_DIAGONALS = {"operands": None, "pieces": None, "variance": None}
DIAGONALS = {"operands": int, "pieces": int, "variance": float}
SHAPE = {"name": str, "rows": int, "cols": int, "nnz": int}

# (command, {key of its rows: type}); None as the type means null
CONTRACT = [
    ("load {file} as A", {**SHAPE, "file": str, "nnz_stored": int, "field": str, "symmetry": str, "duplicates": int,
                          "explicit_zeros": int, "warnings": list, "time_ms": float}),
    ("gen poisson2d 3", {**SHAPE, "generator": str, "seed": int, "time_ms": float}),
    ("list", {**SHAPE, "current": bool, "bytes": int}),
    ("stats", {"rows": int, "cols": int, "nnz": int, "row_min": int, "row_mean": float, "row_median": float,
               "row_max": int, "row_std": float, "empty_rows": int, "bandwidth": int, "diagonals": int,
               "pattern_symmetric": bool, "value_symmetric": bool}),
    ("check", {"matrix": str, "rows": int, "cols": int, "nnz": int, "stopped": bool, "explicit_zeros": int,
               "pattern_symmetric": bool, "skew": float, "zero_diagonal": int, "zero_diagonal_row": None,
               "rows_strict": int, "cols_failing": int, "z_matrix": bool, "profile_lower": int, "row_p90": int,
               "col_max": int, "block": int, "block_fill": float, "norm_1": float, "norm_inf": float,
               "norm_fro": float, "value_ratio": float, "gershgorin_low": float, "structural_rank": int,
               "square_blocks": int, "strong_components": int, "weak_components": int, "fill_nnz": float,
               "positive_definite": bool, "definite_proof": str, "condition_1": float, "says": list,
               "not_run": list, "failed": list}),
    ("formats", {"name": str, "about": str, "source": str, **FIT}),
    ("kernels", {"name": str, "about": str, "source": str, "format": str, "deterministic": bool, **FIT}),
    ("convert ell", {"matrix": str, "format": str, "precision": str, "array": str, "type": str, "n": int,
                     "bytes": int, **NO_DIAGONALS}),
    ("devices", {"name": str, "about": str, "default": bool, "memory": int}),
    ("device cpu", {"name": str, "about": str}),
    ("spmv on cpu reps 2", {**RUN, **TIMES, **NO_DIAGONALS, "ready_us": float, "gflops_padded": None,
                              "gflops_padded_less_rows": None}),
    ("spmv using dia on cpu reps 2", {**RUN, **TIMES, **DIAGONALS, "gflops_padded": float,
                                        "gflops_padded_less_rows": float}),
    ("spmv on emu", {**RUN, **{key: None for key in TIMES}}),
    ("solve cg on cpu", {"solver": str, "device": str, "precision": str, "iterations": int, "converged": bool,
                         "reason": str, "residual_recursive": float, "residual_true": float, "time_ms": float,
                         "us_per_iteration": float, "history": list}),
    ("race cg gmres 2 on cpu", {"place": int, "matrix": str, "solver": str, "device": str, "precision": str,
                                "refused": None, "omega": None, "precond": None, "converged": bool,
                                "status": str, "reason": str, "iterations": int, "time_us": float,
                                "us_per_iteration": float, "residual_recursive": float, "residual_true": float,
                                "error_known": float, "history": list}),
    ("race csr-serial ell-serial on cpu reps 2", {"place": int, "kernel": str, "products": int, "best_us": float,
                                                  "time_us": float, "spread_us": float, "products_per_s": float,
                                                  "gbs": float, "gflops": float, "error": float, "refused": None}),
    ("transfer on cpu", {"device": str, "copies": bool, "reason": str}),
    ("lu on cpu f32", {"matrix": str, "method": str, "device": str, "precision": str, "rows": int, "time_us": float,
                       "spread_us": float, "gflops": float, "put_us": float, "solve_us": float, "singular": bool,
                       "det_sign": int, "det_log10": float, "growth": float, "backward_error": float,
                       "error_known": float}),
    ("lu on emu b 16", {"method": str, "b": int, "time_us": None, "gflops": None, "backward_error": float}),
    ("lu all on cpu", {"method": str, "device": str, "version": None, "time_us": float, "speedup": float}),
    ("lu step", {"column": int, "pivot_row": int, "pivot": float, "state": list}),
    ("version", {"version": str, "cuda": bool}),
    ("help spmv", {"name": str, "grammar": str, "about": str, "help": str}),
    ("use A", {}),
    ("drop A", {}),
]


def of_type(value, kind):
    if kind is None:
        return value is None
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def test_every_command_keeps_its_keys():
    commands = "; ".join(command for command, _ in CONTRACT).format(file=THESIS)
    said = rows(commands)
    for command, keys in CONTRACT:
        name = command.split()[0]
        mine = []
        while said and said[0]["command"] == name and (not mine or set(said[0]) == set(mine[0])):
            mine.append(said.pop(0))
            if name in ("spmv", "help") or command.startswith("lu on"):
                break
        assert mine, f"{command}: no line"
        for row in mine:
            assert row["ok"] is True, row
            for key, kind in keys.items():
                assert key in row and of_type(row[key], kind), f"{command}: {key} in {row}"
    assert not said, said


def test_bench_has_a_line_for_every_kernel():
    kernels = [row for row in rows("kernels") if "cpu" in row["devices"]]
    said = rows("gen poisson2d 8 as P; bench on cpu reps 2")[1:]
    assert sorted(row["kernel"] for row in said) == sorted(row["name"] for row in kernels)
    assert said[0]["kernel"] == "csr-openmp", said[0]
    fastest = [row["time_us"] for row in rows("gen poisson2d 8 as P; bench on cpu reps 2 top 5")[1:]]
    assert len(fastest) == 5 and fastest == sorted(fastest)
    for row in said:
        keys = {**RUN, **TIMES} if row["fits"] else {"kernel": str, "format": str, "reason": str}
        for key, kind in keys.items():
            assert key in row and of_type(row[key], kind), f"{key} in {row}"


def test_bench_prints_each_row_when_it_is_measured():
    p = subprocess.Popen([PROGRAM, "--json", "-c", "gen poisson2d 300 as P; bench on cpu reps 200"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = [json.loads(p.stdout.readline()) for _ in range(3)]
    p.send_signal(signal.SIGINT)
    rest = [json.loads(line) for line in p.stdout]
    p.wait()
    assert first[0]["command"] == "gen" and first[1]["kernel"] == "csr-openmp" and first[2]["kernel"], first
    assert not rest[-1]["ok"] and "cancelled" in rest[-1]["error"], rest[-1]
    assert len(rest) < 20, f"{len(rest)} rows after Ctrl-C"


def test_formats_that_do_not_fit_give_a_reason():
    said = {row["name"]: row for row in rows("gen band 20000 1; formats")[1:]}
    assert said["dense"]["fits"] is False and "force" in said["dense"]["reason"]
    assert said["csr"]["fits"] is True and said["csr"]["reason"] is None


def test_errors_are_lines():
    said = rows("load /nowhere/x.mtx")
    assert len(said) == 1
    assert said[0]["command"] == "load" and said[0]["ok"] is False
    assert said[0]["where"] == "/nowhere/x.mtx" and said[0]["error"]
    said = rows("nonsense")
    assert said[0]["ok"] is False and said[0]["where"] is None


def test_export_and_report_name_their_files():
    with tempfile.TemporaryDirectory() as folder:
        a, b, c = (os.path.join(folder, name) for name in ("a.json", "b.csv", "c.html"))
        said = rows(f"gen poisson2d 3; export spy {a}; export rows {b}; report {c}")[1:]
        assert [(row["view"], row["file"], row["kind"]) for row in said[:2]] == [("spy", a, "json"), ("rows", b, "csv")]
        assert (said[2]["matrix"], said[2]["file"], said[2]["bytes"]) == ("poisson2d", c, os.path.getsize(c))
        with open(a, encoding="utf-8") as file:
            exported = json.load(file)
        assert exported == rows("gen poisson2d 3; spy width 120 height 40")[1:]
        with open(b, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert sum(int(line["rows"]) for line in lines if line["kind"] == "bin") == 9


def test_warnings_are_in_the_row():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "twice.mtx")
        with open(path, "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 0\n")
        done = run("--json", "-c", "list", path)
        row = json.loads(done.stdout.splitlines()[0])
        assert (row["nnz"], row["nnz_stored"], row["duplicates"], row["explicit_zeros"]) == (2, 3, 1, 1)
        assert row["warnings"] and done.stderr == ""
        assert "twice: " in run("-c", "list", path).stderr


def test_csv_has_a_header_for_each_table():
    done = run("--csv", "-c", "stats; formats", THESIS)
    tables = [list(csv.reader(io.StringIO(text))) for text in done.stdout.split("\n\n")]
    assert [table[0][0] for table in tables] == ["name", "matrix", "name"]
    assert all(len(line) == len(table[0]) for table in tables for line in table)


def test_exit_statuses():
    cases = [
        (["-c", "version"], None, 0),
        (["-c", "nonsense; version"], None, 1),
        (["-c", "nonsense", "-c", "version"], None, 1),
        ([], "version\n", 0),
        ([], "nonsense\nversion\n", 1),
        ([], "version\nquit\nnonsense\n", 0),
        ([], "!exit 4\n", 1),
        (["/nowhere.mtx"], "version\n", 1),
        (["--version"], None, 0),
        (["--help"], None, 0),
        (["--nonsense"], None, 2),
        (["-c"], None, 2),
        (["--device", "gpuu", "-c", "version"], None, 2),
        (["--device", "emu", "-c", "device"], None, 0),
        (["-f", "/nowhere.ws"], None, 1),
    ]
    for args, text, status in cases:
        done = run(*args, text=text)
        assert done.returncode == status, f"{args} {text!r}: {done.returncode}, {done.stderr}"
        assert (done.stderr == "") == (status == 0), f"{args}: {done.stderr}"


def test_wrong_options_are_named_without_their_control_bytes():
    evil = "\x1b[2J\x07"
    cases = [
        (["--" + evil], "is not an option"),
        (["-" + evil], "is not an option"),
        (["--json=" + evil], "takes no value"),
        (["--device"], "`--device` needs a value after it"),
        (["-c"], "`-c` needs a value after it"),
        (["--co"], "`--co` needs a value after it"),
        (["--device", evil, "-c", "version"], "is not a device"),
        (["-f", evil], ""),
        (["-v", evil], ""),
        ([evil, "-c", "version"], ""),
    ]
    for args, part in cases:
        done = run(*args)
        assert done.returncode and part in done.stderr, f"{args}: {done.stderr!r}"
        assert all(c == "\n" or c >= " " for c in done.stderr + done.stdout), f"{args}: {done.stderr!r}"


def test_commands_stop_at_a_failure_and_lines_continue():
    assert run("-c", "nonsense; version").stdout == ""
    assert "warpspy" in run(text="nonsense\nversion\n").stdout
    with tempfile.NamedTemporaryFile("w", suffix=".ws") as script:
        script.write("version\nnonsense\nlist\n")
        script.flush()
        done = run("-f", script.name)
        assert done.returncode == 1 and done.stderr.startswith(f"nonsense: {script.name}:2: "), done.stderr


def test_data_and_messages_are_separate():
    done = run("--device", "cpu", "-c", "spmv kernel csr-scalar", THESIS)
    assert "csr-scalar" in done.stdout and "using" not in done.stdout
    assert done.stderr.startswith("spmv: csr-scalar does not run on cpu; using"), done.stderr


def test_output_that_cannot_be_written():
    with open("/dev/full", "w", encoding="ascii") as full:
        for args in (["-c", "help"], ["--json", "-c", "help"], ["--csv", "-c", "help"], ["-c", "version; version"]):
            done = run(*args, stdout=full)
            assert done.returncode == 1, args
            assert done.stderr.count("cannot write: No space left on device") == 1, done.stderr
    closed = subprocess.run(["sh", "-c", '"$0" -c help >&-', PROGRAM], stderr=subprocess.PIPE, text=True, timeout=60)
    assert closed.returncode == 1 and "cannot write" in closed.stderr


def test_a_reader_that_closes_the_pipe():
    done = subprocess.run(["sh", "-c", '"$0" -c help | head -1', PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stdout == "Matrices\n" and done.stderr == ""


def test_shell_commands_pass_through():
    assert run("-c", "!echo a; echo b # c").stdout == "a\nb\n"
    assert run("--json", "-c", "!true").stdout == '{"command":"!","ok":true}\n'


def test_shell_commands_of_scripts_are_refused():
    assert run(text="!echo a\n").stdout == "a\n"  # the input is the user's own
    with tempfile.NamedTemporaryFile("w", suffix=".ws") as script:
        script.write("!echo a\n")
        script.flush()
        done = run("-f", script.name)
        assert done.returncode == 1 and done.stdout == "", done.stdout
        assert done.stderr.startswith(f"!: {script.name}:1: a script may not run shell commands; "), done.stderr
        assert run("-c", "allow shell", "-f", script.name).stdout.endswith("\na\n")
        assert run("-c", f"source {script.name} allow shell").stdout == "a\n"


def test_waiting_threads_sleep_soon():
    def spin_count(**more):
        env = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        done = subprocess.run([PROGRAM, "-c", "quit"], env={**env, "OMP_DISPLAY_ENV": "verbose", **more},
                              capture_output=True, text=True, timeout=60)
        return re.search(r"GOMP_SPINCOUNT = '(\w+)'", done.stderr)[1]
    assert spin_count() == "1000"
    assert spin_count(OMP_WAIT_POLICY="passive") == "0"
    assert spin_count(GOMP_SPINCOUNT="77") == "77"
    assert run("-c", "!echo $GOMP_SPINCOUNT").stdout == "\n"


def test_it_starts_within_50_ms():
    import time
    best = 1.0
    for _ in range(10):
        start = time.monotonic()
        assert run("-c", "quit").returncode == 0
        best = min(best, time.monotonic() - start)
    assert best < 0.05 or "asan" in PROGRAM, f"{best * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(main(globals()))
