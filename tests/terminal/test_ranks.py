#!/usr/bin/env python3
"""warpspy with processes of PETSc: the same answers as on cpu, PETSc's partition counted a second time, faults that each
end in one clear line, and no process or file left behind."""
import contextlib
import functools
import glob
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from harness import PROGRAM, TOP, main
from terminal_kit import at_prompt, quits

LAUNCHER = "mpiexec --oversubscribe" + (" --allow-run-as-root" if os.getuid() == 0 else "")
HOME = tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
MATRICES = os.environ.get("WARPSPY_MATRICES", "")
POINTS = 12  # a grid of POINTS x POINTS


def worker():
    """warpspy-ranks beside the program, or in PATH."""
    beside = os.path.join(os.path.dirname(PROGRAM), "warpspy-ranks")
    return beside if os.access(beside, os.X_OK) else shutil.which("warpspy-ranks")


def environment(launcher=LAUNCHER, **more):
    """A home folder of its own, in which this launcher is set."""
    home = tempfile.mkdtemp(dir=HOME)
    os.makedirs(home + "/warpspy")
    with open(home + "/warpspy/config", "w") as file:
        file.write(f"launcher {launcher}\n")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PRTE_"))}
    return dict(env, HOME=home, XDG_CONFIG_HOME=home, XDG_CACHE_HOME=home + "/cache", OMP_NUM_THREADS="1", **more)


class Program:
    """warpspy --json, driven through a pipe."""

    def __init__(self, program=PROGRAM, launcher=LAUNCHER, **more):
        self.env = environment(launcher, **more)
        self.child = subprocess.Popen([program, "--json"], cwd=TOP, env=self.env, stdin=subprocess.PIPE, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def rows(self, line):
        """What one line of commands prints. `version` marks its end."""
        self.send(line)
        self.send("version")
        out = []
        for text in self.child.stdout:
            row = json.loads(text)
            if row["command"] == "version":
                return out
            out.append(row)
        raise AssertionError(f"`{line}` ended the program")

    def last(self, line):
        rows = self.rows(line)
        assert rows and rows[-1]["ok"], f"`{line}`: {rows[-1:]}"
        return rows[-1]

    def error(self, line):
        row = self.rows(line)[-1]
        assert not row["ok"], f"`{line}` did not fail: {row}"
        return row["error"]

    def pids(self):
        """The processes of the ranks, and their launcher."""
        ranks = [row["pid"] for row in self.rows("ranks parts") if row["ok"]]
        with open(f"/proc/{ranks[0]}/stat") as file:
            return ranks + [int(file.read().rsplit(")", 1)[1].split()[1])]

    def folders(self):
        return glob.glob(self.env["XDG_CACHE_HOME"] + "/warpspy/*")

    def end(self):
        self.child.stdin.close()
        self.child.stdout.read()
        status = self.child.wait(timeout=20)
        self.child.stdout.close()
        return status


@contextlib.contextmanager
def program(ranks=0, **more):
    p = Program(**more)
    try:
        if ranks:
            p.last(f"ranks {ranks}")
        yield p
        p.end()
        assert not p.folders(), f"files were left: {p.folders()}"
    finally:
        if p.child.poll() is None:
            p.child.kill()


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def processor_time(pid):
    """Seconds that a process has computed so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begin_long(p, rank, line):
    """Begin a solve that does not end, and wait until this rank iterates; a rank that waits uses no processor."""
    before = processor_time(rank)
    p.send(line)
    end = time.monotonic() + 60
    while processor_time(rank) < before + 0.1:
        assert time.monotonic() < end, "the rank does not iterate"
        time.sleep(0.005)


def vanish(pids, seconds=10):
    end = time.monotonic() + seconds
    while any(map(alive, pids)):
        assert time.monotonic() < end, f"processes are left: {[p for p in pids if alive(p)]}"
        time.sleep(0.02)


def script(text):
    """An executable file."""
    path = tempfile.mktemp(dir=HOME)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


# ---- the same answers ----

def entries(path):
    """Rows, columns and entries (row, column) of a Matrix Market file that warpspy wrote."""
    with open(path) as file:
        lines = (line for line in file if not line.startswith("%"))
        rows, cols, _ = map(int, next(lines).split())
        return rows, cols, [tuple(int(n) - 1 for n in line.split()[:2]) for line in lines]


def expected_parts(rows, cols, where, ranks):
    """PETSc's rows: as even as possible, the larger parts first. The columns of a rank are shared alike."""
    starts = lambda n: [sum(n // ranks + (n % ranks > k) for k in range(r)) for r in range(ranks + 1)]
    row_starts, col_starts = starts(rows), starts(cols)
    owner = lambda starts, i: next(r for r in range(ranks) if starts[r] <= i < starts[r + 1])
    owner_of_row = [owner(row_starts, i) for i in range(rows)]
    owner_of_col = [owner(col_starts, j) for j in range(cols)]
    parts = [{"first_row": row_starts[r], "rows": row_starts[r + 1] - row_starts[r], "inside": 0, "outside": 0,
              "halo": [set() for _ in range(ranks)]} for r in range(ranks)]
    for i, j in where:
        part, other = parts[owner_of_row[i]], owner_of_col[j]
        part["inside" if other == owner_of_row[i] else "outside"] += 1
        if other != owner_of_row[i]:
            part["halo"][other].add(j)
    return parts


def compare_parts(got, want):
    assert len(got) == len(want)
    for r, (row, part) in enumerate(zip(got, want)):
        for key in ("first_row", "rows", "inside", "outside"):
            assert row[key] == part[key], (r, key, row, part)
        halo = [{"rank": k, "columns": len(c)} for k, c in enumerate(part["halo"]) if c]
        assert row["halo_by_owner"] == halo, (r, row, halo)
        assert row["halo"] == sum(h["columns"] for h in halo) and row["owners"] == len(halo)
        takers = [len(other["halo"][r]) for other in want]
        assert row["gives"] == sum(takers) and row["takers"] == sum(map(bool, takers))


def small_matrices():
    """Twenty real matrices, the smallest files of the collection; without it, the samples and generated ones."""
    files = sorted(glob.glob(MATRICES + "/**/*.mtx*", recursive=True), key=os.path.getsize) if MATRICES else []
    return [f"load {path}" for path in files if os.path.getsize(path) < 2e6] or \
        [f"load {path}" for path in sorted(glob.glob(TOP + "/samples/*.mtx*"))] + ["gen random 300 4 200", "gen rmat 8 8"]


def test_parts_are_those_counted_from_the_entries():
    compared = 0
    for ranks in (1, 2, 4):
        with program(ranks) as p:
            for load in small_matrices():
                if compared >= 20 * (1 + (ranks > 1) + (ranks > 2)):
                    break
                size = p.rows(load)[-1]
                if not size["ok"] or size.get("nonzeros", size.get("nnz", 0)) > 100000:
                    continue
                rows = p.rows("ranks parts")
                if not rows[-1]["ok"]:
                    assert "complex" in rows[-1]["error"] or "empty" in rows[-1]["error"], rows[-1]
                    continue
                path = tempfile.mktemp(dir=HOME, suffix=".mtx")
                p.last(f"save {path}")
                compare_parts(rows, expected_parts(*entries(path), ranks))
                os.unlink(path)
                compared += 1
    print(f"{compared} partitions compared")
    assert compared >= (60 if MATRICES else 15), compared


def test_halos_are_those_of_petsc():
    """`partition 4 rows` counts the halos that PETSc has in its garray, for 20 real matrices. PETSc gives the first ranks
    the rows that are left over, so both have the same parts only if 4 divides the number of rows."""
    if not MATRICES:
        print("skip: WARPSPY_MATRICES is not set, so there are no real matrices to divide")
        return
    compared = []
    with program(4) as p:
        for path in sorted(glob.glob(MATRICES + "/*.mtx.gz"), key=os.path.getsize):
            size = p.rows(f"load {path}")[-1]
            if not size["ok"] or size["rows"] != size["cols"] or size["rows"] % 4 or size["rows"] < 40:
                continue
            petsc = p.rows("ranks parts")
            if not petsc[-1]["ok"]:
                assert "complex" in petsc[-1]["error"], petsc[-1]
                continue
            own = p.rows("partition 4 rows")
            assert len(own) == len(petsc) == 4, path
            for ours, theirs in zip(own, petsc):
                found = [ours[key] for key in ("rows", "inside", "outside", "halo_in", "from", "halo_out", "to")]
                garray = [theirs[key] for key in ("rows", "inside", "outside", "halo", "owners", "gives", "takers")]
                assert found == garray, (path, found, garray)
            compared.append(os.path.basename(path))
            if len(compared) == 20:
                break
    print(f"halos compared with PETSc's: {', '.join(compared)}")
    assert len(compared) == 20, compared


def test_cg_has_the_history_of_cpu():
    for ranks in (1, 2, 4):
        with program(ranks) as p:
            for load in (f"gen poisson2d {POINTS}", "load samples/1138_bus.mtx*", "gen poisson3d 8"):
                if "*" in load:
                    load = "load " + glob.glob(TOP + "/" + load.split()[1])[0]
                p.rows(load)
                own = p.last("solve cg on cpu b random maxit 20 tol 1e-14")
                other = p.last("solve cg on ranks b random maxit 20 tol 1e-14")
                assert other["ranks"] == ranks and other["device"] == "ranks" and other["residual_is"] == "||r|| / ||b||"
                assert len(own["history"]) == len(other["history"]) == 21
                worst = max(abs(a - b) / a for a, b in zip(own["history"], other["history"]))
                assert worst < 1e-6, (ranks, load, worst)
                assert abs(own["residual_true"] / other["residual_true"] - 1) < 1e-5


def column(path):
    with open(path) as file:
        lines = [line for line in file if not line.startswith("%")]
    return [float(line.split()[-1]) for line in lines[1:]]


def test_x_is_that_of_cpu():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        one, two = HOME + "/one.mtx", HOME + "/two.mtx"
        p.last(f"solve cg on cpu b random tol 1e-12 save {one}")
        p.last(f"solve cg on ranks b random tol 1e-12 save {two}")
        x, y = column(one), column(two)
        error = sum((a - b) ** 2 for a, b in zip(x, y)) ** 0.5 / sum(a * a for a in x) ** 0.5
        assert error < 1e-9, error
        os.unlink(one)
        os.unlink(two)


def test_every_solver_and_preconditioner_solves():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        for solver in ("cg", "minres", "bicgstab", "gmres", "qmrcgstab"):
            row = p.last(f"solve {solver} on ranks tol 1e-10")
            assert row["converged"] and row["solver"] == solver and row["error_known"] < 1e-7, row
        for pre in ("jacobi", "gamg", "hypre", "asm", "icc", "ilu"):
            row = p.last(f"solve gmres on ranks precond {pre}")
            assert row["converged"] and row["precond"] == pre and row["precond_us"] > 0, row
        for library in ("mumps", "superlu_dist"):
            row = p.last(f"solve direct {library} on ranks")
            assert row["converged"] and row["solver"] == "direct" and row["residual_true"] < 1e-12, row
        plain = p.last("solve cg on ranks")["iterations"]
        assert p.last("solve cg on ranks precond gamg")["iterations"] < plain / 2
        assert p.last("solve on ranks")["solver"] == "cg"
        row = p.last('solve on ranks options "-ksp_type fgmres -pc_type sor"')
        assert row["solver"] == "fgmres" and row["precond"] == "sor" and row["converged"]
        row = p.last("solve cg on ranks x0 ones b ones maxit 3 tol 0")
        assert row["iterations"] == 3 and row["status"] == "iteration-limit"
        row = p.last("solve gmres on ranks m 4 tol 1e-6")
        assert "-ksp_gmres_restart 4" in row["engine_options"] and row["converged"]
        assert p.last("solve cg on ranks b zero")["reason"] == "b = 0, so x = 0"


def test_norms_guesses_and_ends():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        row = p.last("solve minres on ranks b random")
        assert row["residual_is"] == "||M^-1 r|| / ||M^-1 r0||" and row["history"][0] == 1, row["history"][:3]
        assert p.last("solve cg on ranks b aones x0 ones")["iterations"] == 0
        assert p.last("solve cg on ranks b aones x0 random")["iterations"] > 0
        row = p.rows('solve on ranks b random options "-ksp_type richardson -ksp_richardson_scale 9 -pc_type none"')[-1]
        assert row["status"] == "diverged", row
        row = p.rows("solve cg on ranks b random maxit 2")[-1]
        assert row["status"] == "iteration-limit" and row["iterations"] == 2, row


def test_a_solve_goes_step_by_step():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        assert p.last("solve cg on ranks step b random")["iteration"] == 0
        assert [row["iteration"] for row in p.rows("step 3")] == [1, 2, 3]
        assert "paused" in p.error("spmv on ranks")
        assert "cannot go back" in p.error("back") and "cannot change" in p.error("change tol 1e-3")
        row = p.last("stop")
        assert row["status"] == "stopped" and row["iterations"] == 3 and row["residual_true"] > 0
        p.last("solve cg on ranks step b random")
        assert p.last("step 2")["iteration"] == 2
        row = p.last("continue")
        assert row["converged"] and row["iterations"] > 3
        p.last("solve cg on ranks step b random")
        assert p.last("solve cg on ranks")["converged"]  # takes the place of the paused one
        p.last("solve cg on ranks step")
        assert p.last("ranks off")["running"] is False
        assert "no solve is paused" in p.error("step")


def test_the_clock_of_a_paused_solve_stands_still():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        start = time.monotonic()
        p.last("solve cg on ranks step b random")
        before = time.monotonic() - start
        time.sleep(2 * before)  # a pause longer than all the rest, however fast the machine is
        start = time.monotonic()
        p.last("step 3")
        row = p.last("stop")
        most = before + time.monotonic() - start
        assert 0 < row["time_ms"] <= 1e3 * most, (row["time_ms"], most)
        for key in ("us_per_iteration", "us_queued"):  # from the end, and from the last iteration
            assert 0 < 3 * row[key] <= 1e6 * most, (key, row[key], most)


def test_products_are_checked_and_timed():
    for ranks in (1, 2):
        with program(ranks) as p:
            p.rows("gen random 400 5 300")
            row = p.last("spmv on ranks reps 20")
            assert row["reps"] == 20 and row["time_us"] > 0 and row["error_to_bound"] <= 1 and row["ranks"] == ranks
            halo = sum(row["halo"] for row in p.rows("ranks parts"))
            assert row["halo_bytes"] == 8 * halo
            assert "MatMult" in p.error("spmv on ranks beta 2")
            events = {(e["phase"], e["event"]): e for e in p.rows("ranks log")}
            product = events["product", "MatMult"]
            products = 8 * halo * product["calls"]
            assert products <= product["bytes"] <= products + 8 * halo  # the first product also prepares the exchange
            assert events["product", "MatMult"]["calls"] > 20 and ("load", "MatLoad") in events
            p.rows(f"gen poisson2d {POINTS}")
            solved = p.last("solve cg on ranks b random")
            events = {(e["phase"], e["event"]): e for e in p.rows("ranks log")}
            assert events["solve", "MatMult"]["calls"] == solved["iterations"]
            links = sum(row["owners"] for row in p.rows("ranks parts"))
            p.last("solve cg on ranks b random maxit 3 tol 0")
            again = {(e["phase"], e["event"]): e for e in p.rows("ranks log")}
            product = again["solve", "MatMult"]  # of the last solve
            assert product["calls"] == 3 and product["messages"] == 3 * links, product
            differ = [e for e in again.values() if e["time_ms_min"] < e["time_ms_max"]]
            assert len(differ) > 3 if ranks > 1 else not differ
            assert events["solve", "KSPSolve"]["time_ms_max"] >= events["solve", "KSPSolve"]["time_ms_min"] > 0


def test_lines_have_their_schemas():
    try:
        import test_schema
    except ImportError as missing:
        print(f"skip the schemas: {missing}")
        return
    checker = test_schema.Checker()
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        for line in ("ranks", "ranks parts", "spmv on ranks", "solve cg on ranks precond gamg", "ranks log",
                     "solve direct mumps on ranks", "solve minres on ranks", "ranks 3", "ranks off"):
            for row in p.rows(line):
                checker.check(json.dumps(row), line)
    assert not checker.wrong, "\n".join(checker.wrong)


# ---- faults ----

def test_a_program_without_worker_says_how_to_get_it():
    folder = tempfile.mkdtemp(dir="/tmp")
    shutil.copy(PROGRAM, folder + "/warpspy")
    with program(program=folder + "/warpspy", PATH="/usr/bin:/bin") as p:
        assert "make ranks" in p.error("ranks 2") and "libpetsc-real-dev" in p.error("ranks 2")
    shutil.rmtree(folder)


def test_wrong_launchers_are_reported():
    cases = (
        ("no-such-launcher", "ranks 2", ["no-such-launcher", "set launcher"]),
        (script("echo 'a banner'; echo 'allocation denied' >&2; exit 3\n"), "ranks 2", ["status 3", "allocation denied"]),
        (script("echo garbage; exec sleep 60\n"), "ranks 2 wait 0.5", ["no rank has answered within 0.5 s", "garbage"]),
        (script("exec sleep 60\n"), "ranks 2 wait 0.5", ["nothing was printed"]),
        (script("echo '{\"type\":\"hello\",\"protocol\":99,\"ranks\":2}'; exec sleep 60\n"), "ranks 2",
         ["another version", "99", "make ranks"]),
        ("mpiexec -n 2", "ranks 2", ["states the number of ranks"]),
        ("mpiexec", "ranks start", ["how many ranks"]),
        ("mpiexec | cat", "ranks 2", ["not a command"]),
    )
    for launcher, line, words in cases:
        with program(launcher=launcher) as p:
            start = time.monotonic()
            error = p.error(line)
            assert time.monotonic() - start < 5, (launcher, error)
            assert all(word in error for word in words), (launcher, error)
            assert p.last("ranks")["running"] is False
            assert p.error("stats")  # the session goes on


def test_slots_and_root_are_explained():
    root = " --allow-run-as-root" if os.getuid() == 0 else ""
    with program(launcher="mpiexec --host localhost:1" + root) as p:
        error = p.error("ranks 3")
        assert "slots" in error and "--oversubscribe" in error, error
    if root:
        with program(launcher="mpiexec") as p:
            assert "--allow-run-as-root" in p.error("ranks 2")


def test_launcher_that_says_the_number():
    with program(launcher=LAUNCHER + " -n 2") as p:
        assert p.last("ranks start")["ranks"] == 2


def test_a_script_may_not_choose_the_launcher():
    path = HOME + "/bad.wsp"
    with open(path, "w") as file:
        file.write("set launcher /bin/true\n")
    with program() as p:
        assert "allow shell" in p.error(f"source {path}")


def test_a_killed_rank_is_reported_and_the_session_goes_on():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        pids = p.pids()
        os.kill(pids[1], signal.SIGKILL)
        error = p.error("spmv on ranks")
        assert "ranks have ended" in error and "signal 9" in error, error
        vanish(pids)
        assert "no ranks are running" in p.error("spmv on ranks")
        p.last("ranks 2")
        assert p.last("solve cg on ranks")["converged"]
        pids = p.pids()
        begin_long(p, pids[0], LONG)
        os.kill(pids[0], signal.SIGKILL)
        error = rest(p)["error"]
        assert "signal 9" in error, error
        vanish(pids)


LONG = "solve cg on ranks tol 0 maxit 100000000 b random options \"-ksp_type richardson -ksp_richardson_scale 1e-9\""


# One iteration with a preconditioner that is a solve without an end.
ENDLESS = "solve cg on ranks tol 0 b random options \"-ksp_type richardson -pc_type ksp -ksp_pc_type none -ksp_ksp_type " \
          "richardson -ksp_ksp_richardson_scale 1e-9 -ksp_ksp_rtol 0 -ksp_ksp_atol 0 -ksp_ksp_max_it 1000000000\""


def rest(p):
    """The last row of a line that was sent before."""
    p.send("version")
    rows = []
    for text in p.child.stdout:
        rows.append(json.loads(text))
        if rows[-1]["command"] == "version":
            return rows[-2]
    return None


def test_unknown_options_are_refused():
    with program(2) as p:
        p.rows(f"gen poisson2d {POINTS}")
        error = p.error('solve cg on ranks options "-ksp_nonsense 3"')
        assert "does not know the option -ksp_nonsense" in error, error
        assert "nonsense" in p.error('solve cg on ranks options "-pc_type nonsense"')
        assert "add `on ranks`" in p.error("solve cg precond gamg") and "add `on ranks`" in p.error("solve direct mumps")
        assert "add `on ranks`" in p.error("solve cg options \"-ksp_view\"")
        assert "gamg" in p.error("solve cg precond amg on ranks") and "mumps" in p.error("solve direct klu on ranks")
        assert "`eps`" in p.error("solve cg on ranks eps 1e-3")
        assert "does not run on ranks" in p.error("bench on ranks") and "does not run on ranks" in p.error("eigs 2 on ranks")
        assert p.last("solve cg on ranks")["converged"]


def test_matrices_that_ranks_do_not_take_are_refused():
    with program(1) as p:
        p.rows("gen random 30 4 20")
        assert "square" in p.error("solve gmres on ranks b ones")
        p.rows("load tests/files/hermitian.mtx")
        assert "complex" in p.error("spmv on ranks") and "complex" in p.error("solve cg on ranks")


def test_a_full_disk_is_reported():
    with program(2) as p:
        p.rows("gen poisson2d 100")
        old = resource.prlimit(p.child.pid, resource.RLIMIT_FSIZE, (100000, resource.RLIM_INFINITY))
        error = p.error("spmv on ranks")
        assert "needed there" in error and "XDG_CACHE_HOME" in error, error
        resource.prlimit(p.child.pid, resource.RLIMIT_FSIZE, old)
        assert p.last("spmv on ranks")["ok"]


def test_nothing_is_left_when_the_program_ends_during_a_solve():
    for how in ("quit", "terminate", "kill"):
        p = Program()
        p.last("ranks 2")
        p.rows(f"gen poisson2d {POINTS}")
        pids = p.pids()
        folder = p.folders()
        assert len(pids) == 3 and len(folder) == 1
        begin_long(p, pids[0], LONG)
        if how == "quit":
            p.child.send_signal(signal.SIGINT)  # ends the solve, and the script
            p.end()
        else:
            p.child.send_signal(signal.SIGTERM if how == "terminate" else signal.SIGKILL)
            p.child.communicate()
        vanish(pids)
        end = time.monotonic() + 5
        while p.folders() and time.monotonic() < end:
            time.sleep(0.02)
        assert not p.folders(), how


def interrupted(s):
    """Send Ctrl-C, wait for the report, and return the time until then."""
    start = time.monotonic()
    os.write(s.child.child_fd, b"\x03")  # pexpect would wait before it sends
    while "because" not in s.text() and "not kept" not in s.text():
        assert time.monotonic() < start + 20, s.text()
        s.pump(0.001)
    return time.monotonic() - start


def test_interrupt_ends_a_solve_and_keeps_the_ranks():
    """The ranks end the iteration, and the x so far is kept, unless the machine is too slow to send it at once."""
    times, kept = [], False
    s = at_prompt(XDG_CONFIG_HOME=environment()["XDG_CONFIG_HOME"])
    s.line("ranks 2; gen poisson2d 100")
    s.wait("49,600")
    while not kept and len(times) < 20:
        s.line("!clear")
        s.wait_for(lambda: "49,600" not in s.text() and "converged" not in s.text())
        s.line(LONG)
        s.wait("iteration")
        times.append(interrupted(s))
        kept = "stopped by the user" in s.text()
        s.line("solve cg on ranks precond jacobi")
        s.wait("converged")
    print("ms from Ctrl-C to the report: " + ", ".join(f"{1e3 * t:.1f}" for t in times))
    assert kept, times
    quits(s)


def test_interrupt_does_not_wait_for_the_end_of_an_iteration():
    p = Program()
    p.last("ranks 2")
    p.rows(f"gen poisson2d {POINTS}")
    pids = p.pids()
    begin_long(p, pids[0], ENDLESS)
    p.child.send_signal(signal.SIGINT)
    row = json.loads(p.child.stdout.readline())
    assert not row["ok"] and "not kept" in row["error"], row
    p.end()
    vanish(pids)


def test_a_cancelled_set_up_is_waited_for():
    s = at_prompt(XDG_CONFIG_HOME=environment()["XDG_CONFIG_HOME"])
    s.line("ranks 2; gen poisson3d 30")
    s.wait("27,000")
    s.line("solve direct mumps on ranks")
    s.wait("set-up on the ranks")
    s.child.send("\x03")
    s.wait("cancelled")
    s.line("spmv on ranks reps 1")
    s.wait_for(lambda: "worst error" in s.text() or "PETSc failed" in s.text(), "the product")
    assert "PETSc failed" not in s.text(), s.text()
    quits(s)


if __name__ == "__main__":
    if not worker() or not shutil.which("mpiexec"):
        print("skip the tests with PETSc: warpspy-ranks was not built; install PETSc and MPI, then `make ranks`")
        names = {name: test for name, test in globals().items()
                 if name == "test_a_program_without_worker_says_how_to_get_it"}
        sys.exit(main(names))
    sys.exit(main(globals()))
