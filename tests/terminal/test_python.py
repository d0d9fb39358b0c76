#!/usr/bin/env python3
"""Install the Python module in a fresh virtual environment, as a user would, and run what a notebook would run.

The environment needs flit_core, numpy and scipy from PyPI; without a connection, these tests print `skip`.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import venv

from harness import PROGRAM, TOP, main

PACKAGE = os.path.join(TOP, "src", "python")
FOLDER = tempfile.TemporaryDirectory(prefix="warpspy-venv-")
PYTHON = os.path.join(FOLDER.name, "bin", "python")


def pip(*words):
    return subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@functools.lru_cache(maxsize=None)
def is_installed():
    """Make the environment. False if PyPI cannot be reached; a package of ours that pip refuses is a failure."""
    venv.create(FOLDER.name, with_pip=True)
    if pip("flit_core", "numpy", "scipy").returncode:
        print("skip: numpy, scipy and flit_core cannot be installed from PyPI")
        return False
    before = git_status()
    done = pip(PACKAGE)
    assert done.returncode == 0, done.stdout
    assert git_status() == before, "pip left files in the checkout"
    return True


def git_status():
    return subprocess.run(["git", "status", "--porcelain", "--ignored", PACKAGE], stdout=subprocess.PIPE, cwd=TOP,
                          text=True).stdout


# A solve that does not end, and a progress function that lets a thread act once the solve iterates.
HEAD = """
import warpspy, os, sys, signal, threading, warnings
ENDLESS = "gen poisson3d 40; solve jacobi tol 1e-30 maxit 100000000"
def when_it_iterates(act):
    seen = []
    def progress(text, done, total):
        if "iteration" in text and not seen:
            seen.append(text)
            threading.Thread(target=act).start()
    return progress
"""


def run(text, cwd=None, **more):
    """Run Python code in the environment; its output must end with `done`. Returns the output before that."""
    code = HEAD + textwrap.dedent(text) + "\nprint('done')\n"
    env = {**os.environ, "WARPSPY": PROGRAM, "PYTHONDONTWRITEBYTECODE": "1", **more}
    done = subprocess.run([PYTHON, "-X", "dev", "-W", "error::ResourceWarning", "-c", code], env=env,
                          cwd=cwd or FOLDER.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr
    return done.stdout[:-len("done\n")]


def for_module(test):
    """A test that needs the environment."""
    @functools.wraps(test)
    def wrapped():
        if is_installed():
            test()
    return wrapped


@for_module
def test_a_notebook():
    run("""
        import numpy, scipy.sparse as sp
        def exported(line):
            spy.run(line)
            with open("plot.svg", encoding="utf-8") as picture:
                return picture.read()
        n = 400
        M = sp.random(n, n, 0.02, random_state=1, format="csr")
        M = M + M.T + 20 * sp.eye(n)
        b = numpy.arange(n, dtype=float)
        with warpspy.Session() as spy:
            A = spy.load(M, name="A", b=b)
            bench = spy.bench("csr", "ell", on="cpu")
            assert set(bench["kernel"]) == {"csr-serial", "csr-openmp", "ell-serial", "ell-openmp"}, bench
            assert (bench["time_us"] > 0).all()
            assert "<table>" in bench._repr_html_() and "csr" in bench._repr_html_()
            solve = spy.solve("cg", tol=1e-12)
            assert solve.first["converged"] and solve.first["b"] == "given"
            x = spy.vector("x")
            assert numpy.linalg.norm(M @ x - b) < 1e-10 * numpy.linalg.norm(b)
            assert abs(spy.matrix("A") - M).max() == 0
            for view in ("spy", "rows", "bench", "solve"):
                svg = spy.plot(view)._repr_svg_()
                assert svg.startswith(("<svg", "<?xml")) and "</svg>" in svg, view
            assert spy.plot("rows", light=True).svg == exported("export rows plot.svg light force") != spy.plot("rows").svg
            assert spy.plot("rows", "A", size="60x20").svg == exported("export rows plot.svg A size 60x20 force")
            assert "A" in spy._repr_html_()
            assert "nonzeros" in spy.text("stats")
    """)


@for_module
def test_matrices_of_all_kinds():
    run("""
        import numpy, scipy.sparse as sp
        with warpspy.Session() as spy:
            for k, kind in enumerate(("csr", "csc", "coo", "bsr", "dia", "lil", "dok")):
                M = sp.random(30, 40, 0.1, random_state=k).asformat(kind)
                assert abs(spy.matrix(spy.load(M)) - M).max() == 0
                spy.drop("all")
            D = numpy.array([[0, 1, 0], [2, 0, 3.5]])
            assert (spy.matrix(spy.load(D, name="D")).toarray() == D).all()
            Z = sp.csr_matrix(numpy.array([[1 + 2j, 0], [0, 3]]))
            b = numpy.array([5j, 6])
            assert abs(spy.matrix(spy.load(Z, name="Z", b=b)) - Z).max() == 0
            assert (spy.matrix("D").toarray() == D).all()  # not the matrix that was loaded last
            spy.solve("direct", "Z")
            assert numpy.abs(Z @ spy.vector("x") - b).max() < 1e-14
            spy.spmv("Z", "csr-serial")
            assert numpy.iscomplexobj(spy.vector("y"))
            try:
                spy.load(numpy.arange(3))
            except TypeError as why:
                assert "two dimensions" in str(why)
            else:
                raise AssertionError
    """)


@for_module
def test_tables_of_records():
    run("""
        import numpy
        table = warpspy.Records({"command": "x", "ok": True, "k": k, "zero": 0, "unknown": None, "text": 70 * "<",
                                 "time": None if k == 1 else 2.5} for k in range(100))
        assert table["time"][0] == 2.5 and numpy.isnan(table["time"][1]) and (table["k"] == range(100)).all()
        html = table._repr_html_()
        heads = html[:html.index("</tr>")]
        assert heads == "<table><tr><th>k</th><th>zero</th><th>text</th><th>time</th>", heads
        assert html.count("<tr>") == 61 and html.endswith("</table><p>... 40 more</p>")
        assert f"<td>{57 * '&lt;'}...</td>" in html and "<td>59</td>" in html and "<td>60</td>" not in html
        assert warpspy.Records([{"ok": True, "a": 0, "b": None}])._repr_html_() == (
            "<table><tr><th>a</th><td>0</td></tr></table>")
    """)


def rows_of(line):
    said = subprocess.run([PROGRAM, "--json", "-c", line], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(row) for row in said.splitlines()]


def keys_of_words():
    """The keys whose numbers may be the words inf, -inf or nan."""
    lines = "; ".join(f"help {command['name']} keys" for command in rows_of("help"))
    return {row["name"].split("[].")[-1] for row in rows_of(lines) if " or inf" in row["type"]}


@for_module
def test_numbers_that_are_not_finite():
    keys = keys_of_words()
    run(f"""
        import math, pathlib
        pathlib.Path("inf.mtx").write_text("%%MatrixMarket matrix coordinate real general\\n2 2 4\\n"
                                           "1 1 inf\\n1 2 -inf\\n2 1 nan\\n2 2 7\\n")
        with warnings.catch_warnings(), warpspy.Session() as spy:
            warnings.simplefilter("ignore")
            assert spy._numbers == {keys!r}, spy._numbers ^ {keys!r}
            assert spy.load("inf.mtx") == "inf"
            rows = spy.run("print 0:1 0:1")
            assert rows[0]["matrix"] == "inf" and list(rows["value"][:2]) == [math.inf, -math.inf]
            assert math.isnan(rows[2]["value"]) and rows[3]["value"] == 7
            values = next(row for row in spy.run("layout csr") if row["array"] == "val")["values"]
            assert values[:2] == [math.inf, -math.inf] and math.isnan(values[2])
            assert math.isnan(spy.run("solve gs b ones force").first["residual_true"])
            assert spy.run("spmv csr-serial on cpu reps 1").first["error"] is None
            assert math.isnan(spy.run("spmv csr-serial on cpu reps 1; print y")["value"][0])  # inf - inf
    """)


@for_module
def test_errors_carry_the_line():
    run("""
        with warpspy.Session() as spy:
            for line, kind, part in (("nonsense", "usage", "no such command"), ("load /no/such.mtx", "io", "/no/such.mtx"),
                                     ("stats", "usage", "gen poisson2d")):
                try:
                    spy.run(line)
                except warpspy.Error as why:
                    assert why.kind == kind and part in str(why) and why.line == line, (why.kind, str(why))
                else:
                    raise AssertionError(line)
            with warnings.catch_warnings(record=True) as notes:
                warnings.simplefilter("always")
                spy.run("gen random 50; solve cg maxit 1")
                spy.solve("cg", maxit=1)
            notes = [n for n in notes if n.category is warpspy.Note and "not symmetric" in str(n.message)]
            assert len(notes) == 2 and all(n.filename == "<string>" for n in notes), notes  # this code, not the module's
            try:
                spy.run("list; version; nonsense")
            except warpspy.Error as why:
                assert [r["command"] for r in why.records] == ["list", "version"], why.records
        try:
            spy.run("version")
        except warpspy.Error as why:
            assert "closed" in str(why)
    """)


@for_module
def test_a_crash_is_reported_and_the_session_starts_again():
    run("""
        with warpspy.Session(progress=when_it_iterates(lambda: os.kill(child.pid, signal.SIGABRT))) as spy:
            child = spy._child
            try:
                spy.run(ENDLESS)
            except warpspy.Crashed as why:
                assert "SIGABRT" in str(why) and "solve jacobi" in str(why), why
            else:
                raise AssertionError
            assert child.poll() is not None
            assert not spy.text("list").startswith("poisson3d")
            assert spy.gen("poisson2d", 5).first["rows"] == 25
            os.kill(spy._child.pid, signal.SIGKILL)
            spy._child.wait()
            try:
                spy.run("version")
            except warpspy.Crashed as why:
                assert "SIGKILL" in str(why)
            assert spy.gen("poisson2d", 6).first["rows"] == 36
    """)


@for_module
def test_cancel_and_interrupt():
    run("""
        with warpspy.Session(progress=when_it_iterates(lambda: spy.cancel())) as spy:
            try:
                spy.run(ENDLESS)
            except warpspy.Cancelled as why:
                assert why.kind == "cancelled"
            else:
                raise AssertionError
            assert spy.list().first["name"] == "poisson3d"  # the session and its matrix are still there
        with warpspy.Session(progress=when_it_iterates(lambda: os.kill(os.getpid(), signal.SIGINT))) as spy:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in a shell's background ignore it
            try:
                spy.run(ENDLESS)
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError
            assert spy.list().first["name"] == "poisson3d"
        def refuse(text, done, total):
            raise ValueError(text)
        with warpspy.Session(progress=refuse) as spy:  # the command ends, and then the error is raised
            try:
                spy.run(ENDLESS)
            except ValueError:
                pass
            else:
                raise AssertionError
            assert spy.gen("poisson2d", 5).first["rows"] == 25
    """)


@for_module
def test_an_interrupt_between_two_replies():
    """Ctrl-C at any line of the loop that takes replies ends the command and keeps the session."""
    run("""
        def interrupt_at(k):
            def trace(frame, event, argument):
                if frame.f_code.co_name != "_take_all":
                    return None
                if event == "line":
                    lines.append(frame.f_lineno)
                    if len(lines) == k:
                        raise KeyboardInterrupt
                return trace
            lines = []
            return trace
        with warpspy.Session() as spy:
            for k in range(3, 7):  # the loop has begun, and the first replies come
                sys.settrace(interrupt_at(k))
                try:
                    spy.run("version; version; version; version; " + ENDLESS)
                except KeyboardInterrupt:
                    pass
                else:
                    raise AssertionError(k)
                finally:
                    sys.settrace(None)
                assert spy.gen("poisson2d", k, as_="P").first["rows"] == k * k
                spy.drop("all")
    """)


@for_module
def test_no_process_is_left():
    pids = run("""
        with warpspy.Session() as spy:
            pid = spy._child.pid
        assert not os.path.exists(f"/proc/{pid}")
        spy = warpspy.Session()
        pid = spy._child.pid
        del spy
        assert not os.path.exists(f"/proc/{pid}")
        kept = warpspy.Session()  # ends with the interpreter
        print(kept._child.pid)
        if not os.fork():  # a parent that is killed
            other = warpspy.Session()
            print(other._child.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        os.wait()
    """).split()
    assert len(pids) == 2, pids
    end = time.monotonic() + 20
    while [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe")]:
        assert time.monotonic() < end, pids
        time.sleep(0.01)


@for_module
def test_finding_the_program():
    run("assert warpspy.program.find_program() == os.environ['WARPSPY']")
    run("""
        try:
            warpspy.Session()
        except FileNotFoundError as why:
            assert "WARPSPY=/no/such" in str(why)
    """, WARPSPY="/no/such")
    run("""
        try:
            warpspy.Session()
        except FileNotFoundError as why:
            assert "set WARPSPY" in str(why)
    """, WARPSPY="", PATH="/nonexistent")
    run("assert warpspy.program.find_program().endswith('found/warpspy')", WARPSPY="", PATH=linked("found"))
    checkout = os.path.join(FOLDER.name, "checkout")
    os.makedirs(os.path.join(checkout, "src", "python", "warpspy"))
    open(os.path.join(checkout, "src", "python", "warpspy", "program.py"), "w").close()
    linked(os.path.join("checkout", "build"))
    run("assert warpspy.program.find_program().endswith('checkout/build/warpspy')", cwd=os.path.join(checkout, "src"),
        WARPSPY="")


def linked(name):
    """A folder with a link to the program."""
    folder = os.path.join(FOLDER.name, name)
    os.makedirs(folder, exist_ok=True)
    os.symlink(PROGRAM, os.path.join(folder, "warpspy"))
    return folder


@for_module
def test_words():
    run(r"""
        from warpspy.session import as_line
        assert as_line("solve", ["cg"], {"tol": 1e-10, "force": True, "view": False, "b": None}) == "solve cg tol 1e-10 force"
        assert as_line("solve", ["cg"], {"maxit": 0, "tol": 0.0}) == "solve cg maxit 0 tol 0.0"
        assert as_line("load", ["a b.mtx"], {"as_": "A"}) == 'load "a b.mtx" as A'
        assert as_line("load", ['a"\\;.mtx'], {}) == r'load "a\"\\;.mtx"'
        folder = 'strange "name" \\ ; # '
        os.mkdir(folder)
        with warpspy.Session() as spy:
            spy.gen("poisson2d", 4)
            spy.save(f"{folder}/a.mtx")
            assert spy.load(f"{folder}/a.mtx", name="B") == "B"
            assert spy.list()["name"].tolist() == ["poisson2d", "B"], spy.list()
    """)


@for_module
def test_permissions():
    run("""
        os.makedirs("allow")
        with warpspy.Session() as spy:
            spy.gen("poisson2d", 4)
            spy.run("list > .allowed; !true")
            os.unlink(".allowed")
        for allow in ("files", ["files"]):
            with warpspy.Session(allow=allow) as spy:
                spy.run("version > .allowed force")
        with warpspy.Session(allow=()) as spy:
            spy.gen("poisson2d", 4)
            spy.run("list > allow/new")
            for line, why in (("list > .x", "hidden"), ("list > allow/new2; list > .allowed force", "hidden"),
                              ("!true", "shell")):
                try:
                    spy.run(line)
                    assert False, line
                except warpspy.Error as error:
                    assert why in str(error) and "--allow" in str(error), error
        assert not os.path.exists(".x")
        os.unlink(".allowed")
    """)


@for_module
def test_without_numpy():
    """numpy is needed for arrays only."""
    run("""
        sys.modules["numpy"] = None
        with warpspy.Session() as spy:
            assert spy.gen("poisson2d", 5).first["rows"] == 25
            assert spy.plot("spy").svg
            try:
                spy.vector("x")
            except ImportError:
                pass
    """)


@for_module
def test_version_is_that_of_the_program():
    run("""
        with warpspy.Session() as spy:
            assert spy.version == warpspy.__version__, (spy.version, warpspy.__version__)
    """)


if __name__ == "__main__":
    raise SystemExit(main(globals()))
