"""The full-screen explorer in a pseudo terminal: panes, commands, mouse, sizes, and every way to end.

WARPSPY_STORM sets the number of sizes in the resize storm (test_keys.c tests 10,000 sizes without a terminal).
WARPSPY_TOGETHER sets how many tests run at the same time; most of their time is waiting.
"""
import functools
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback

from harness import PROGRAM, missing_program, report, selected
from terminal_kit import DOWN, RIGHT, UP, Session, at_prompt, guards_of, is_over, mode, quits

BUSY = os.path.join(os.path.dirname(PROGRAM), "tests", "terminal", "busy_command")
VIEWS = re.findall(r"VIEW\((\w+)\)", open("ui/views/views.def").read())


def explorer(args="-v samples/thesis4.mtx", pane="[1 spy]", **env):
    s = Session(args, **env)
    s.wait(pane)
    s.wait("q leave")
    return s


def leaves(s, key="q"):
    s.keys(key)
    s.restored()
    s.close()


def resize(s, rows, cols):
    s.screen.resize(rows, cols)
    s.child.setwinsize(rows, cols)


def click(s, x, y, button=0):
    """Click cell (x, y), counted from 0."""
    s.keys(f"\x1b[<{button};{x + 1};{y + 1}M", f"\x1b[<{button};{x + 1};{y + 1}m")


def writes(s):
    """The number of write calls of the program so far."""
    return int(re.search(r"syscw: (\d+)", open(f"/proc/{s.pid()}/io").read()).group(1))


def test_a_frame_is_written_at_once():
    """Each write wakes the terminal. The second opening of the screen differs from the first one."""
    s = at_prompt("samples/thesis4.mtx", rows=50, cols=160)
    for _ in range(2):
        s.line("view spy")
        s.wait("q leave")
        s.settle()
        for wanted in "any key to return", "[1 spy]":
            before = writes(s)
            s.keys("?")
            s.wait(wanted)
            assert 0 < writes(s) - before <= 2, writes(s) - before
        s.keys("q")
        s.wait("]> ")
    quits(s)


def test_panes_keep_their_place():
    s = explorer()
    s.keys(RIGHT)
    s.wait("row 0, column 1: 7")
    s.keys("\t")
    s.wait("[2 rows]")
    s.keys("\x1b[Z", "\x1b[Z")
    s.wait("[5 solve]")
    s.keys("3")
    s.wait("[3 layout]")
    s.keys("f", "1")
    s.wait("row 0, column 1: 7")
    s.keys("3")
    s.wait("csc")
    leaves(s)


def test_a_file_behind_v():
    s = explorer("-v samples/thesis4.mtx")
    s.wait("4 x 4, 9 nnz")
    leaves(s)
    s = explorer("-v rows samples/thesis4.mtx", "[2 rows]")
    leaves(s)


def test_commands():
    s = explorer()
    s.keys(":")
    s.keys("gen pois", "\t", "2d 9 as nine", "\r")
    s.wait("81 x 81, 369 nnz")
    s.keys("q")
    s.keys(":", UP)
    s.wait(":gen poisson2d 9 as nine")
    s.keys("\x1b")
    s.wait("q leave")
    s.keys(":gen ", "\t", "\t")
    s.wait("poisson3d")
    s.keys("\x03")
    s.keys(":nonsense\r")
    s.wait("nonsense: there is no such command")
    s.keys(DOWN)
    s.wait_for(lambda: "no such command" not in s.text(), "no error any more")
    s.keys(":use thesis4; quit\r")
    s.restored()
    assert "gen poisson2d 9 as nine" in open(os.path.join(s.home, "warpspy", "history")).read()
    s.close()


def test_command_line_edits():
    s = explorer()
    s.keys(":", *"stats", "\x01", "#", "\x05", "\x7f", "\x7f", "\x1bb", "x")
    s.wait(":#xsta")
    s.keys("\x05", "\x15", "\x7f")  # the line is empty, then closed
    s.wait("q leave")
    s.keys(":", "\x12", *"thesis", "\x03")  # Ctrl-C ends the history search and closes the line
    s.wait("q leave")
    s.keys(":", "é", "\r")
    s.wait("no such command")
    leaves(s)


def test_keys_of_the_terminal_at_the_command_line():
    """Test both modes of the cursor keys, and keys that panes do not use."""
    for home, end, delete in ("\x1bOH", "\x1bOF", "\x1b[3~"), ("\x1b[H", "\x1b[F", "\x1b[3~"):
        s = explorer()
        s.keys(":", *"tats", home, "s", home, delete, "#", end, "!")
        s.wait(":#tats!")
        s.keys("\x1bOD", "\x1b[D", "?", "\x1b")
        s.wait("row 0, column 0: 1")
        leaves(s)


def test_a_burst_of_keys():
    """Clicks, keys and unknown sequences arrive at once, and are handled in order."""
    s = explorer()
    s.child.send("\x1b[<0;13;6M\x1b[<0;13;6m\x1b[15;7~\x1bOC\x1b[99~\x1b[B")
    s.wait("row 2, column 2: 3")
    s.child.send("\x1b[<65;11;6M" * 3 + "\t")
    s.wait("[2 rows]")
    leaves(s)


def test_output_scrolls():
    s = explorer()
    s.keys(":help\r")
    s.wait("Matrices")
    s.wait("1-22 of ")
    s.wait("/ search")
    s.keys("/", "q: bench:", "\x1b", "/", "bandwidth", "\r")
    s.wait("found in line")
    s.keys("G")
    s.wait_for(lambda: "Matrices" not in s.text(), "the end of what was said")
    s.keys("g")
    s.wait("Matrices")
    s.keys("x")
    s.wait("row 0, column 0: 1")
    leaves(s)


def test_the_prompt_is_restored():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view")
    s.wait("[1 spy]")
    s.keys(":list\r", "q", "q")
    s.wait("thesis4 [")
    s.keys("versio", "\t")
    s.wait("> version")
    s.keys("\r")
    s.wait("built with CUDA")
    quits(s)


def test_shell_in_panes():
    s = explorer()
    mark = len(s.raw)
    s.keys(":!stty -a | grep -c ' icanon iexten echo '; echo sh''ell\r")
    s.wait("shell")
    s.wait("Press Enter to return")
    assert re.search("1\r\nshell", s.output_since(mark)), s.said(mark)
    s.keys("\r")
    s.wait("row 0, column 0: 1")
    leaves(s)


def test_a_line_typed_in_the_panes_of_a_script_goes_to_the_shell():
    with tempfile.NamedTemporaryFile("w", suffix=".ws") as script:
        script.write("load samples/thesis4.mtx\nview spy\n!echo by the script\n")
        script.flush()
        s = Session(f"--device cpu -f {script.name}")
        s.wait("[1 spy]")
        s.keys(":!echo sh''ell\r")
        s.wait("shell")
        s.wait("Press Enter to return")
        s.keys("\r")
        s.wait("row 0, column 0: 1")
        s.keys("q")
        s.wait("a script may not run shell commands")
        s.restored()
        s.close()


def test_solve_in_panes():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    s.keys(":gen poisson2d 20\r", "q", ":solve cg step\r")
    s.wait("paused")
    s.keys("s", "1", "2", "n")
    s.wait("iteration 13 ")
    s.keys("\t")
    s.wait("[1 spy]")
    s.keys("5", "s")
    s.wait("iteration 14 ")
    s.keys(":change tol 1e-4\r", "j")
    s.wait("iteration 14 ")
    s.keys("G")
    s.wait("converged")
    leaves(s)


def test_quitting_keeps_a_paused_solve():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve cg step view")
    s.wait("paused")
    s.keys("q")
    s.wait("paused at iteration 0")
    s.line("view rows")
    s.wait("[2 rows]")
    s.keys("5", "4", "s")
    s.wait("iteration 4 ")
    s.keys("q")
    s.wait("paused at iteration 4")
    quits(s)


def test_long_solve_gets_its_pane():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    s.keys(":gen poisson2d 300\r", ":solve jacobi tol 0 maxit 100000000 force\r")
    s.wait("[5 solve]")
    s.wait("running")
    s.keys("x")
    s.wait("stopped by the user")
    s.keys("q", "q")
    s.restored()
    s.close()


def test_race_in_panes():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    s.keys(":gen poisson2d 300\r", ":race jacobi cg tol 0 maxit 100000000 force\r")
    s.wait("6 race]")
    s.keys("1")
    s.wait("[1 spy]")
    s.wait("6 race")
    s.wait("race jacobi cg")
    s.keys("6")
    s.wait("running")
    s.keys("q")
    s.wait("paused after")
    s.restored()
    s.close()


def runs_long(s):
    """Run a command that takes many seconds on the emulator."""
    s.keys(":gen poisson2d 1500\r")
    s.wait("2,250,000")
    s.keys("q", ":spmv kernel csr-vector on emu\r")
    s.wait("Ctrl-C stops it")


def test_panes_switch_while_a_command_runs():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    runs_long(s)
    s.keys("\t")
    s.wait("[2 rows]")
    s.wait("Ctrl-C stops it")
    s.keys("1", RIGHT, "?")
    s.wait("press any key to return")
    s.keys("?", "q")
    s.wait("then this key leaves")
    s.keys("\x03")
    s.wait("cancelled")
    leaves(s)


def test_a_step_leads_to_its_machine_code():
    """The key i of the trace turns to the code of the traced instance, which follows the steps of the trace."""
    s = explorer("--device cpu -v samples/thesis4.mtx")
    s.keys(":")
    s.line("trace csr-light-vector view")
    s.wait("[7 trace]")
    s.keys("s", "s", "s", "s", "i")  # the fifth step loads val, in csr_rows.h
    s.wait("[17 sass]")
    s.wait("light_vector<double")
    s.wait("csr_rows.h:36")
    s.keys("7", "b", "b", "i")  # the third step loads ptr
    s.wait("k_csr_light.cu:27")
    s.keys("r")
    s.wait("on to text or line")
    s.line("dfma")
    s.wait("DFMA")
    leaves(s)


def test_a_pane_that_must_be_computed_is_shown_after_the_command():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    runs_long(s)
    s.keys("3")
    s.wait_for(lambda: "[3 layout]" in s.text() or "layout will be shown when" in s.text(), "layout")
    s.keys("\x03")
    s.wait("[3 layout]")
    leaves(s)


def within(s, seconds, condition, what):
    """Check that the screen meets the condition within that time."""
    start = time.time()
    s.wait_for(condition, what)
    assert time.time() - start < seconds, f"{what} came after {time.time() - start:.2f} s"


def test_keys_act_while_a_command_only_computes():
    """A command that never reports progress delays neither keys nor the command line."""
    s = Session(program=BUSY)
    s.wait("]> ")
    s.line("load samples/thesis4.mtx; view spy")
    s.wait("q leave")
    s.line(":busy seconds 3")
    s.wait("busy seconds 3")
    time.sleep(0.5)
    start = time.time()
    s.child.send("?")
    within(s, 0.5, lambda: "any key to return" in s.text(), "the help")
    s.child.send(" ")
    within(s, 0.5, lambda: "any key to return" not in s.text(), "the view")
    s.child.send(RIGHT)
    within(s, 0.5, lambda: "row 0, column 1: 7" in s.text(), "the cursor")
    s.child.send("\t")
    within(s, 0.5, lambda: "[2 rows]" in s.text(), "the next pane")
    s.child.send(":list")
    within(s, 0.5, lambda: ":list" in s.text(), "the command line")
    assert time.time() - start < 2 and "no more" not in s.text(), "the command ended too early for this test"
    s.child.send("\x7f" * 5)
    s.wait("busy no more")
    s.keys("q")
    s.wait("]> ")
    quits(s)


def test_lines_wait_for_the_command():
    s = explorer("--device cpu -v samples/thesis4.mtx")
    runs_long(s)
    s.keys(":version\r")
    s.wait("1 line waiting for")
    s.keys(":stats\r")
    s.wait("2 lines waiting for")
    s.keys("\x03")
    s.wait("cancelled")
    s.settle()
    assert "built with" not in s.text(), s.text()
    s.keys(":solve jacobi tol 0 maxit 100000000 force on cpu\r")
    s.wait("log scale")
    s.keys("\t")
    s.wait("[1 spy]")
    s.keys(":version\r")
    s.wait("built with")
    s.keys("q", "5")
    s.wait("running")
    s.keys("x")
    s.wait("stopped by the user")
    leaves(s)


def test_drop_in_panes():
    s = at_prompt("samples/thesis4.mtx")
    s.line("gen poisson2d 5 as five; view spy thesis4")
    s.wait("[1 spy]")
    s.keys("3", "\r", ":drop all\r")
    s.wait("there is no matrix to show")
    s.keys("1", RIGHT, "5", "q")
    s.wait("warpspy [")
    s.line("list; view spy")
    s.wait("no matrix to show")
    quits(s)


def test_mouse():
    s = explorer()
    assert mode(s.raw, 1006)
    click(s, 12, 5)
    s.wait("row 1, column 1: 2")
    click(s, 10, 0)
    s.wait("[2 rows]")
    click(s, 10, 6)
    s.wait("rows of length 3: 2")
    click(s, 10, 5)
    s.wait("rows of length 2: 0 1 3")
    click(s, 10, 5, 65)
    s.wait("rows of length 3: 2")
    s.keys("m")
    s.wait("the mouse is off")
    assert mode(s.raw, 1006) is False
    s.keys("1")
    s.wait("[1 spy]")
    click(s, 10, 0)  # a report sent just before the mouse was turned off
    s.keys("m")
    s.wait("the mouse is on")
    assert "[1 spy]" in s.text() and mode(s.raw, 1006)
    s.keys(":gen poisson2d 30 as large\r", "q")
    s.wait("899")
    for button in 66, 67, 128, 32, 2:  # unused buttons, which must not delay later input
        click(s, 20, 10, button)
    s.keys("?")
    s.wait("press any key to return")
    s.keys("x")
    click(s, 20, 10, 64)
    s.wait_for(lambda: not re.search("^ *0│", s.text(), re.M), "a part without the first row")
    click(s, 20, 10, 65)
    s.wait_for(lambda: re.search("^ *0│", s.text(), re.M), "the first row")
    s.keys("\x1b[<0;1", ";1M", "\x1b[<99;99;99M")  # split into pieces, or incomplete
    leaves(s)


def test_terminals_without_a_mouse():
    s = explorer(TERM="vt100")
    s.keys("m", "\t")
    s.wait("[2 rows]")
    assert mode(s.raw, 1006) is None and mode(s.raw, 1000) is None and mode(s.raw, 2026) is None
    leaves(s)


def cpu_ticks(pid):
    return sum(int(x) for x in open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[11:13])


def test_idle_costs_nothing():
    s = explorer("-v samples/thesis4.mtx", OMP_WAIT_POLICY="passive")
    for view in range(1, 6):
        s.keys(str(view))
        s.settle()
        pid, mark = s.pid(), len(s.raw)
        before = cpu_ticks(pid)
        end = time.time() + 1
        while time.time() < end:
            s.pump(0.1)
        assert s.raw[mark:] == b"", s.raw[mark:]
        assert cpu_ticks(pid) == before, f"{cpu_ticks(pid) - before} ticks of CPU time while idle in pane {view}"
    leaves(s)


def test_a_frame_that_changes_nothing_is_not_sent():
    s = explorer()
    s.settle()
    mark = len(s.raw)
    s.keys("g")
    assert s.raw[mark:] == b"", s.raw[mark:]
    s.keys(RIGHT)
    s.wait_for(lambda: s.raw[mark:].startswith(b"\x1b[?2026h") and s.raw[mark:].endswith(b"\x1b[?2026l"), "one frame")
    leaves(s)


def test_small_screens():
    s = explorer()
    resize(s, 4, 19)
    s.wait("too small")
    resize(s, 10, 40)
    s.wait("Tab pane")
    s.keys("\t")
    s.wait("rows of length 2: 0 1 3")
    leaves(s)


def test_resize_storm():
    sizes, chance = int(os.environ.get("WARPSPY_STORM", "150")), random.Random(6)
    s = explorer(ASAN_OPTIONS="detect_leaks=0")
    s.keys(":gen rmat 12 8 seed 3\r", "q", ":race cg jacobi maxit 20 force\r", "q")
    s.child.delaybeforesend = None
    pid = s.pid()
    # Leave each command line again, so that nothing typed here runs.
    keys = ["\t", "\x1b[Z", "?", RIGHT, DOWN, "+", "-", "g", ":hel", "\t", "\t", "\x15\x7f", "t", "f", "a", "\x1b[6~", "\x1b[F",
            ":stats\r", "\x1b[<0;9;7M", "\x1b[<64;30;8M", "/3", "\x7f", "\r", "n"]
    for i in range(sizes):
        small = chance.random() < 0.3
        resize(s, chance.randint(1, 8 if small else 120), chance.randint(1, 25 if small else 300))
        s.child.send(chance.choice(keys))
        if i % 3 == 0:
            while s.pump(0.002):
                pass
        if i % 50 == 0:
            os.kill(pid, 0)
    s.settle(5)
    resize(s, 24, 80)
    s.settle(5)
    if "shell$" in s.text() or not os.path.exists(f"/proc/{pid}"):
        raise AssertionError("the program has ended\n" + s.raw[-3000:].decode(errors="replace"))
    os.kill(pid, signal.SIGTERM)
    s.wait("shell$ ")
    assert b"ERROR: AddressSanitizer" not in s.raw and b"runtime error" not in s.raw
    s.close()


def ended(s):
    """Check that the shell is back, with its screen, mouse, cursor and terminal modes restored, and still works."""
    s.wait("shell$ ")
    s.settle(0.4)
    tail = s.raw[s.mark:]
    assert b"\x1b[?1049h" in tail, "never entered"
    for number in 1049, 1000, 1006:
        assert mode(tail, number) is False, f"mode {number} is not off"
    assert mode(tail, 25), "no cursor"
    s.screen.reset()
    s.has_modes()
    s.screen.reset()


def every_ending(view):
    s = Session("--version")
    s.wait("warpspy 0")
    s.child.sendline("ulimit -c 0")
    for name in "TERM", "HUP", "INT", "QUIT", "SEGV", "ABRT", "BUS", "KILL":
        s.screen.reset()
        s.start(f"--device cpu -v {view} samples/thesis4.mtx")
        s.wait("q leave")
        os.kill(s.pid(), getattr(signal, "SIG" + name))
        try:
            ended(s)
        except AssertionError as e:
            raise AssertionError(f"{name} in {view}: {e}") from e
    s.close()


def test_killed_on_a_command_line_or_in_a_solve():
    for keys in (":gen ",), (":gen poisson2d 300\r", ":solve jacobi tol 0 maxit 100000000 force\r"):
        for name in "KILL", "TERM", "SEGV":
            s = explorer("--device cpu -v samples/thesis4.mtx")
            s.keys(*keys)
            os.kill(s.pid(), getattr(signal, "SIG" + name))
            ended(s)
            s.close()


def test_the_guard_process_sleeps_and_ends():
    s = explorer("-v samples/thesis4.mtx")
    s.wait_for(lambda: guards_of(s), "a guard process")  # a thread starts it beside the prompt
    s.settle()
    guards = guards_of(s)
    assert len(guards) == 1, guards
    before = cpu_ticks(guards[0])
    s.keys("\t", "\t")
    assert cpu_ticks(guards[0]) == before
    s.keys("q")
    s.restored()
    s.wait_for(lambda: is_over(guards[0]), "the end of the guardian")
    s.close()


def stop_and_go_on(view):
    s = explorer(f"--device cpu -v {view} samples/thesis4.mtx", view + "]")
    s.child.send("\x1a")
    s.wait("shell$ ")
    s.wait_for(lambda: mode(s.raw, 1006) is False, "the mouse off")
    s.settle()
    resize(s, 30, 100)
    s.screen.reset()
    s.child.sendline("fg")
    s.wait_for(lambda: "q leave" in s.screen.display[29], "the bottom line")
    s.wait(view + "]")
    leaves(s)


for each in VIEWS:
    globals()[f"test_every_ending_of_{each}"] = functools.partial(every_ending, each)
    globals()[f"test_stop_and_go_on_in_{each}_at_another_size"] = functools.partial(stop_and_go_on, each)


def outcome(name):
    """Run one test, in its own process; return its name and its traceback, or None if it passed."""
    try:
        globals()[name]()
    except Exception:
        return name, traceback.format_exc()
    return name, None


def together():
    """harness.main with several tests at the same time; the longest start first."""
    tests = sorted(selected(globals()), key=lambda n: not ("ending" in n or "storm" in n or "idle" in n or "killed" in n))
    failed = 0
    with multiprocessing.get_context("fork").Pool(int(os.environ.get("WARPSPY_TOGETHER", "6")), maxtasksperchild=1) as pool:
        for name, what in pool.imap_unordered(outcome, tests):
            print(what + f"[  FAILED  ] {name}" if what else f"[       OK ] {name}", flush=True)
            failed += what is not None
    return report(len(tests) - failed, failed)


if __name__ == "__main__":
    sys.exit(missing_program() or together())
