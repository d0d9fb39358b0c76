"""warpspy in a pseudo terminal: the prompt, keys, resizing, Ctrl-C, Ctrl-Z, and the terminal restored after every exit."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

from harness import PROGRAM, main
from terminal_kit import RIGHT, Session, UP, at_prompt, guards_of, is_over, quits


def test_prompt_names_matrix_and_device():
    s = at_prompt("--device cpu samples/thesis4.mtx")
    s.wait("thesis4 [cpu]> ")
    s.line("gen poisson2d 10 as grid")
    s.wait("grid [cpu]> ")
    quits(s)


def test_end_of_input_ends():
    s = at_prompt()
    s.child.send("\x04")
    s.restored()
    s.close()


def test_interrupt_drops_the_line():
    s = at_prompt()
    s.keys("nonsense", "\x03")
    s.line("version")
    s.wait("warpspy")
    assert "no such command" not in s.text(), s.text()
    quits(s)


def test_history_is_kept():
    s = at_prompt()
    s.line("gen poisson2d 7 as seventh")
    s.wait("seventh [")
    home = s.home
    quits(s)
    assert "seventh" in open(os.path.join(home, "warpspy", "history")).read()
    s = at_prompt(home=home)
    s.keys(UP, UP)
    s.wait("gen poisson2d 7 as seventh")
    s.keys("\x03")
    quits(s)


def test_unwritable_history_is_one_warning():
    s = at_prompt(XDG_STATE_HOME="/proc/nowhere")
    assert s.words().count("cannot write /proc/nowhere") == 1, s.text()
    s.line("gen poisson2d 5 as still")
    s.wait("still [")
    quits(s)


def test_other_things_in_place_of_the_history_are_one_warning():
    for make in (os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir):
        home = tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
        os.mkdir(os.path.join(home, "warpspy"))
        make(os.path.join(home, "warpspy", "history"))
        s = at_prompt(home=home)
        assert s.words().count("the history of commands is not saved") == 1, s.text()
        s.line("gen poisson2d 5 as still")
        s.wait("still [")
        quits(s)


def test_only_the_end_of_a_huge_history_is_read():
    home = tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
    file = os.path.join(home, "warpspy", "history")
    os.mkdir(os.path.dirname(file))
    with open(file, "wb") as history:
        history.truncate(1 << 34)  # 16 GiB without any block
        history.seek(0, os.SEEK_END)
        history.write(b"\ngen poisson2d 7 as seventh\nversion\n")
    s = at_prompt(home=home)
    s.keys(UP, UP)
    s.wait("gen poisson2d 7 as seventh")
    s.keys("\x03")
    quits(s)
    kept = open(file).read().splitlines()
    assert kept == ["gen poisson2d 7 as seventh", "version", "quit"], kept


def test_completion():
    s = at_prompt()
    s.keys("gen pois", "\t", "\t", "\t")
    s.wait("poisson2d")
    s.wait("poisson3d")
    s.keys("\x03")
    quits(s)


def test_completion_of_eigs_and_why():
    s = at_prompt("samples/1138_bus.mtx")
    s.keys("eigs ", "\t", "\t")
    s.wait("smallest")
    assert "1138_bus" in s.text() and "csr-vector" not in s.text() and "sell" not in s.text(), s.text()
    s.keys("\x15", "why ", "\t", "\t")
    s.wait("stagnates")
    assert "csr-vector" not in s.text(), s.text()
    s.keys("\x03")
    quits(s)


def test_options_can_be_copied():
    s = at_prompt()
    s.line("gen poisson2d 12; advise solver options petsc precond ic0")
    s.wait("-ksp_max_it 10000")
    s.wait("poisson2d [")
    assert re.search(r"-ksp_type \S.*-ksp_rtol 1e-08 -ksp_atol 0 -ksp_max_it 10000 *", "".join(s.screen.display)), s.text()
    rows = [row for row in s.screen.display if row.startswith("-ksp_type")]
    assert len(rows[0].rstrip()) == s.screen.columns, s.text()  # no line break at a blank
    quits(s)


def test_keys_in_views():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view spy")
    s.wait("q leave")
    s.wait("row 0, column 0: 1")
    s.keys(RIGHT)
    s.wait("row 0, column 1: 7")
    s.keys("\x1bOB")
    s.wait("row 1, column 1: 2")
    s.keys("?")
    s.wait("press any key to return")
    s.keys("x", "q")
    s.wait("thesis4 [")
    s.line("view layout")
    s.wait("f next format")
    s.keys("f")
    s.wait("csc")
    s.keys("\x1b")
    s.wait("thesis4 [")
    quits(s)


def test_every_view_opens_and_leaves():
    s = at_prompt("samples/thesis4.mtx")
    for view in "spy", "rows", "layout", "bench", "solve":
        s.line("view " + view)
        s.wait("? help")
        s.keys("q")
        s.wait("thesis4 [")
    quits(s)


def test_zoom():
    s = at_prompt()
    s.line("gen poisson2d 30")
    s.wait("poisson2d [")
    s.line("view spy")
    s.wait("q leave")
    s.wait("899")
    s.keys(*"++++++++")
    s.wait("row 0, column 0: 4")
    s.keys("g")
    s.wait("899")
    s.keys("q")
    quits(s)


def test_resize_of_a_view():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view rows")
    s.wait("q leave")
    s.screen.resize(12, 50)
    s.child.setwinsize(12, 50)
    s.settle()
    s.wait_for(lambda: s.screen.display[11].strip().startswith("? help"))
    s.screen.resize(40, 100)
    s.child.setwinsize(40, 100)
    s.settle()
    s.wait_for(lambda: s.screen.display[39].strip().startswith("? help"))
    s.keys("q")
    quits(s)


def test_tiny_terminal():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view spy")
    s.wait("q leave")
    for rows, cols in (3, 5), (1, 1), (2, 200), (24, 80):
        s.screen.resize(rows, cols)
        s.child.setwinsize(rows, cols)
        s.settle()
    s.wait("column 0")
    s.keys("q")
    quits(s)


def test_interrupt_of_a_long_command():
    s = at_prompt()
    s.line("gen poisson2d 900; solve jacobi tol 1e-30 maxit 100000000 force")
    s.wait("residual ")
    s.child.send("\x03")
    s.wait("poisson2d [")
    s.line("list")
    s.wait("810,000")
    quits(s)


def test_solve_by_steps():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve cg step view")
    s.wait("paused")
    s.keys("s", "s")
    s.wait("iteration 2 ")
    s.keys("n")
    s.wait("iteration 12 ")
    s.keys(" ")
    s.wait("converged")
    s.keys("q")
    s.wait("true residual")
    quits(s)


def test_solve_step_stays_at_the_prompt():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve cg step")
    s.wait("paused: `step 5`")
    s.line("s 3")
    s.wait("        3  ")
    s.line("c")
    s.wait("converged")
    quits(s)


def paused_solve():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve cg step view")
    s.wait("paused")
    s.keys("n")
    s.wait("iteration 10 ")
    return s


def test_paused_solve_is_left_and_goes_on():
    s = paused_solve()
    s.keys("q")
    s.wait("paused at iteration 10: `step 5`")
    s.line("step 2")
    s.wait("12  ")
    s.line("view solve")
    s.wait("iteration 12 ")
    s.keys("s")
    s.wait("iteration 13 ")
    s.keys("\x1b")
    s.wait("paused at iteration 13")
    s.line("continue")
    s.wait("converged")
    s.line("step")
    s.wait("no solve is paused")
    quits(s)


def test_a_new_solve_has_no_note_of_the_previous_one():
    s = paused_solve()
    s.keys(" ")
    s.wait("converged")
    s.keys("s")
    s.wait("this solve has ended")
    s.keys("q")
    s.wait("true residual")
    s.line("solve cg step view")
    s.wait("paused")
    s.settle()
    assert "this solve has ended" not in s.text()
    s.keys("q")
    s.wait("paused at iteration 0")
    quits(s)


def test_keys_go_back_and_forward():
    s = paused_solve()
    s.keys("b")
    s.wait("iteration 9 ")
    s.keys("s", "s")
    s.wait("iteration 11 ")
    s.keys("1", "2", "n")
    s.wait("iteration 23 ")
    s.keys("B")
    s.wait("iteration 13 ")
    s.keys("2", "0")
    s.wait("20: s does that many steps, b goes back that many")
    s.keys("b")
    s.wait("iteration 0 ")
    s.keys("b")
    s.wait("there is nothing before iteration 0")
    s.keys("x")
    s.wait("stopped by the user")
    quits(s)


def test_keys_change_a_solve():
    s = paused_solve()
    s.keys("T", "1", "e", "x", "\x7f", "-", "3")
    s.wait("new tolerance for ||r|| / ||b||: 1e-3_")
    s.keys("\r")
    s.wait("tol is 0.001 now")
    s.keys("T", "9", "\x1b")
    s.wait("q leave")
    s.keys("T", "-", "1", "\r")
    s.wait("give 0 or more")
    s.keys("o")
    s.wait("cg has no omega")
    s.keys("p", *"sunshine", "\r")
    s.wait("there is no preconditioner")
    s.keys("p", *"jacobi", "\r")
    s.wait("restarted from x at iteration 10")
    s.keys("3", "s")
    s.wait("iteration 13 ")
    s.wait("Ritz values of M^-1 A")
    s.keys("b", "b", "b", "b")
    s.wait("there is nothing before iteration 10")
    s.keys("G")
    s.wait("converged")
    s.keys("q")
    s.wait("true residual")
    quits(s)


def test_no_progress_on_a_screen():
    s = at_prompt("--device cpu", rows=40)  # the result is longer than 24 lines
    s.line("gen poisson2d 300; solve cg view tol 0 maxit 100000000 force")
    s.wait_for(lambda: re.search(r"\btime ([5-9]\d\d ms|[\d.]+ s)\b", s.text()), "work that is long enough to show progress")
    mark = len(s.raw)
    s.keys("p", *"ic0", "\r")
    s.wait("restarted from x")
    assert b"\ric0" not in s.raw[mark:], s.raw[mark:]
    s.keys("x")
    s.wait("stopped by the user")
    quits(s)


def test_notes_of_a_solve_are_printed_after_its_screen():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve cg tol 0 maxit 300 view")
    s.wait("stopped at the limit")
    s.keys("q")
    s.wait("error in x")
    raw = bytes(s.raw)
    assert raw.rindex(b"\x1b[?1049l") < raw.rindex(b"at the end, they are"), raw
    quits(s)


def test_ritz_values_restart_with_a_change():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 20; solve gmres m 10 step view")
    s.wait("paused")
    s.keys("n")
    s.wait("Ritz values of A ")
    s.keys("p", *"ilu0", "\r")
    s.wait("restarted from x at iteration 10")
    assert "Ritz" not in s.text(), s.text()
    s.keys("5", "s")
    s.wait("Ritz values of A M^-1")
    s.keys("x")
    s.wait("stopped by the user")
    quits(s)


def test_commands_go_back_and_change():
    s = paused_solve()
    s.keys("q")
    s.wait("paused at iteration 10")
    s.line("back 4; change tol 1e-12 precond jacobi")
    s.wait("restarted from x at iteration 6")
    s.line("view solve")
    s.wait("iteration 6 ")
    s.keys("M")
    s.wait("cg does not restart")
    s.keys("q")
    s.line("continue")
    s.wait("tol 1.00e-12")
    quits(s)


# A solve that never ends.
ENDLESS = "tol 0 maxit 100000000 force"


def test_interrupt_of_every_solver():
    s = at_prompt("--device cpu")
    listed = subprocess.run([PROGRAM, "--json", "-c", "solvers"], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in listed.splitlines()]
    names = [row["name"] for row in rows if row.get("kind") == "solver"]
    assert "cg" in names and "gmres" in names, names
    s.line("gen poisson2d 700 as large")
    s.wait("large [")
    s.child.delaybeforesend = None  # pexpect's default is 50 ms
    for name in names:
        s.line(f"solve {name} {ENDLESS}")
        s.wait(f"{name}: iteration ")
        mark, begin = len(s.raw), time.time()
        s.child.send("\x03")
        s.wait_for(lambda: "large [cpu]> " in s.output_since(mark), "large [cpu]>")
        took, said = time.time() - begin, s.output_since(mark)
        assert "stopped by the user" in said and "true residual" in said and "x is kept" in said, said
        assert took < 1, f"{name}: Ctrl-C took {took:.3f} s"
        print(f"{name}: back at the prompt {1000 * took:.0f} ms after Ctrl-C")
        s.settle()
        s.line("!clear")
        s.settle()
    quits(s)


def test_paused_solve_is_stopped():
    s = paused_solve()
    s.keys("x")
    s.wait("stopped by the user")
    s.line("continue")
    s.wait("no solve is paused")
    quits(s)


def test_running_solve_is_left_and_waits():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 300; solve jacobi view tol 1e-30 maxit 100000000 force")
    s.wait("running")
    s.keys("q")
    s.wait("paused at iteration ")
    s.line("list")
    s.wait("90,000")
    s.line("continue")
    s.wait("jacobi: iteration ")
    s.keys("\x03")
    s.wait("stopped by the user")
    s.wait("poisson2d [")
    assert "^C" not in s.text(), s.text()
    quits(s)


def test_race_is_watched():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 300; race jacobi wjacobi 0.5 tol 1e-30 maxit 100000000 force")
    s.wait("by time, log scale")
    s.wait("running")
    s.child.send("t")  # without settling: this screen is always redrawn
    s.wait("by iteration, log scale")
    s.keys("x")
    s.wait("wjacobi 0.5  stopped")
    s.line("view race")
    s.wait("B wjacobi 0.5")
    s.keys("q")
    quits(s)


def back_at_prompt(s, sent, prompt, most):
    """Send a key to a screen that is always redrawn; return the output up to the prompt, which must come in time."""
    mark, begin = len(s.raw), time.time()
    s.child.send(sent)
    s.wait_for(lambda: prompt in s.output_since(mark), prompt)
    took, said = time.time() - begin, s.output_since(mark)
    assert took < most, f"{sent!r} took {took:.3f} s"
    print(f"back at the prompt {1000 * took:.0f} ms after {sent!r}")
    s.settle()
    return said


def test_race_is_left_and_waits():
    s = at_prompt("--device cpu")
    s.child.delaybeforesend = None  # pexpect's default is 50 ms
    s.line("gen poisson2d 300 as large")
    s.wait("large [")
    race = "race jacobi cg bicgstab gmres 30 tol 0 maxit 100000000 force"
    s.line(race)
    s.wait("log scale")
    said = " ".join(back_at_prompt(s, "q", "large [cpu]> ", 0.5).split())
    assert "all solvers together): `continue`, `view race` or `stop`" in said, said
    s.line("view race")
    s.wait("paused")
    s.wait("continue at the prompt resumes")
    s.keys("q")
    s.line("continue")
    s.wait("x stop all")
    assert "paused after" in back_at_prompt(s, "q", "large [cpu]> ", 0.5)
    s.line("stop")
    s.wait("#  solver")
    s.line("continue")
    s.wait("no solve is paused")
    s.line("!clear")
    s.line(race)
    s.wait("log scale")
    assert "#  solver" in back_at_prompt(s, "\x03", "large [cpu]> ", 0.5)
    s.line("!clear")
    s.line("race csr-serial csr-openmp reps 1000000")
    s.wait("SpMVs in equal time")
    said = " ".join(back_at_prompt(s, "q", "large [cpu]> ", 0.5).split())
    assert "all kernels together): `continue`" in said, said
    s.line("drop large")
    s.wait("the paused race on large ends")
    s.settle()
    quits(s)


def test_race_stays_at_its_end():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 150; race jacobi cg gmres 7 maxit 9000")
    s.wait("log scale")
    s.wait("iteration-limit")
    s.wait_for(lambda: "x stop all" not in s.text(), "the end of all")
    s.keys("q")
    s.wait("limit of 9,000 iterations")
    s.line("race csr-serial csr-openmp")
    s.wait("SpMVs in equal time")
    s.settle()
    s.keys("q")
    s.wait("products/s")
    quits(s)


def test_typing_ahead():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 300; solve jacobi tol 1e-30 maxit 100000000 force")
    s.wait("residual ")
    s.keys("\x03")
    s.wait("stopped by the user")
    s.line("solve jacobi maxit 3000 force")
    s.wait("iteration")
    s.child.send("version\rlist a")
    s.wait("waiting: 1] list a")
    s.wait("]> version")
    s.wait("built with CUDA")
    s.wait("]> list a")
    s.keys("\x03")
    quits(s)


def test_typing_while_a_command_only_computes():
    """A command that never reports progress does not delay what the user types."""
    s = Session(program=os.path.join(os.path.dirname(PROGRAM), "tests", "terminal", "busy_command"))
    s.wait("]> ")
    s.line("busy seconds 3")
    time.sleep(0.5)
    start = time.time()
    s.child.send("version\rlist a")
    s.wait("waiting: 1] list a")
    assert time.time() - start < 0.5, f"the line came after {time.time() - start:.2f} s"
    s.wait("busy no more")
    s.wait("]> version")
    s.wait("]> list a")
    s.keys("\x03")
    quits(s)


def test_go_to_a_row():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view spy")
    s.wait("q leave")
    s.keys("/", "9")
    s.wait("counted from 0: 9_")
    s.keys("\x7f", "1", " ", "1", "\r")
    s.wait("row 1, column 1: 2")
    s.keys("/", "7", "\r")
    s.wait("rows are 0 to 3")
    s.keys("q")
    quits(s)


ASKING = """> gen poisson2d 16 as grid
? How many rows?
= rows of stats grid
! Sixteen by sixteen.
? Which is wide?
?   a  the web
= a
? How many iterations?
= iterations of it
> solve cg grid
@ *converged*
! That was all.
"""


def test_a_lesson_asks():
    s = at_prompt("--device cpu")
    with open(os.path.join(s.home, "ask.txt"), "w") as f:
        f.write(ASKING)
    s.line(f"lesson {s.home}/ask.txt")
    s.wait("Question 1 of 3:")
    s.wait("(`show` shows the answer, Ctrl-C quits the lesson.)")
    s.wait("answer>")
    s.line("many")
    s.wait("Type a number")
    s.keys("2", "5", "5", "\x7f", "6", "\r")  # the editing keys of the prompt work here
    s.wait("Right: 256.")
    s.wait("Sixteen by sixteen.")
    s.keys("\t", "b", "\r")  # there is nothing to complete
    s.wait("Not b.")
    s.wait("second try>")
    s.line("c")
    s.wait("Wrong: it is a  the web.")
    s.wait("your guess>")
    s.line("")
    s.wait("Type a number, or `show` to see the answer.")
    s.line("show")
    s.wait("Enter: go on")
    s.keys(" ")
    s.wait("It is 29.")
    s.wait("Questions: 1 right, 1 wrong, 1 skipped.")
    s.wait("Your name (Enter: ")
    s.keys("\x03")
    s.wait("grid [cpu]> ")
    s.line(f"lesson {s.home}/ask.txt")
    s.wait_for(lambda: s.text().rstrip().endswith("answer>"))
    s.keys("1", "\x03")
    s.wait("You left the lesson; its matrices remain.")
    s.line("list")
    s.wait("*  grid")
    s.line(f"lesson {s.home}/ask.txt")
    s.wait_for(lambda: s.text().rstrip().endswith("answer>"))
    s.keys("\x04")
    s.wait_for(lambda: s.text().rstrip().endswith("grid [cpu]>"))
    s.line("!cat $XDG_STATE_HOME/warpspy/history")
    s.wait_for(lambda: s.text().rstrip().endswith("grid [cpu]>"))
    assert "\n256\n" not in s.text() and "\nmany\n" not in s.text(), s.text()
    quits(s)


# A lesson whose first question has more than a page of output below it.
PAGED = ("# Pages\n" + "".join(f"Paragraph {k} of the text.\n\n" for k in range(8)) +
         "? How many points has the grid?\n= 9\n= rows[matrix=P] of it\n~ Three by three.\n"
         "> gen poisson2d 3 as P\n> stats P\n! So it is.\n\n? And its neighbours?\n= 4\n\nThe end.\n")


def test_a_lesson_waits_for_its_reader():
    """Pages end at the height of the terminal and show the question; the lesson goes on where it was left."""
    s = Session("--device cpu", rows=12, cols=60)
    s.wait("]> ")
    with open(os.path.join(s.home, "paged.txt"), "w") as f:
        f.write(PAGED)
    s.line(f"lesson {s.home}/paged.txt")
    s.wait("paged   Enter: go on  q: leave")
    assert "Paragraph 0" in s.text() and "Paragraph 5" not in s.text(), s.text()
    s.keys(" ")
    s.wait("Question 1 of 2: How many points has the grid?")
    s.wait("your guess>")
    s.line("8")
    s.wait("Not 8: that is too small.")
    s.wait("Hint: Three by three.")
    assert "How many points" in s.text() and "gen poisson2d" not in s.text(), s.text()
    s.line("9")
    s.wait("Question 1 of 2   Enter: go on  q: leave")
    assert "How many points" in s.text(), s.text()  # the question is kept in sight
    s.keys("\r")
    s.wait("Enter: go on")
    assert "Question 1 of 2: How many points has the grid?" in s.text(), s.text()
    s.keys("\r")
    s.wait("Right: 9.")
    s.wait("Question 2 of 2: And its neighbours?")
    s.keys("\x03")
    s.wait("You left the lesson; its matrices remain.")
    s.line("!clear")
    s.line(f"lesson {s.home}/paged.txt")
    s.wait("You left this lesson after question 1 of 2;")
    s.wait("Question 2 of 2: And its neighbours?")
    assert "Paragraph" not in s.text(), s.text()
    s.line("4")
    s.wait("The end.")
    s.wait("Questions: 2 right, 1 of them on the second try, 0 wrong, 0 skipped.")
    s.wait("Your name (Enter: ")
    s.line("Ada L.")
    s.wait("File (Enter: paged-ada-l.txt)> ")
    s.line(f"{s.home}/ada.txt")
    s.wait("Written to")
    s.line(f"lesson --check {s.home}/ada.txt")
    s.wait("Ada L.")
    s.wait("space next")  # 17 lines on a screen of 12
    s.keys("q")
    s.wait("P [cpu]> ")
    s.line("!clear")
    s.line(f"lesson {s.home}/paged.txt")
    s.wait("Enter: go on  q: leave")
    s.keys("q")
    s.wait("You left the lesson")
    quits(s)


def test_keys_typed_before_a_question_are_part_of_the_answer():
    """The second key of `12` at the end of a page arrives while a command runs: the question shows it."""
    s = Session("--device cpu", rows=40, cols=60)
    s.wait("]> ")
    with open(os.path.join(s.home, "early.txt"), "w") as f:
        f.write("".join(f"Paragraph {k}.\n\n" for k in range(22)) + "> gen poisson2d 400 as P\n> check P only band\n\n"
                "? How many points?\n= 27\n")
    s.line(f"lesson {s.home}/early.txt")
    s.wait("Enter: go on  q: leave")
    s.keys("12")
    s.wait("answer> 2")
    s.line("7")
    s.wait("Right: 27.")
    s.wait("Your name")
    s.keys("\x03")
    quits(s)


def test_lines_as_wide_as_the_screen_take_one_row_of_a_page():
    s = at_prompt()
    with open(os.path.join(s.home, "wide.txt"), "w") as file:
        file.writelines(f" line {i:02}".ljust(80, ".") + "\n" for i in range(60))
    s.line(f"lesson {s.home}/wide.txt")
    s.wait("Enter: go on")
    text = s.text()
    assert "line 20" in text and "line 24" not in text, text  # the last row is for the prompt
    s.child.send("q")
    s.wait("You left the lesson")
    quits(s)


def test_a_lesson_in_a_pipe_does_not_wait():
    home = tempfile.mkdtemp()
    with open(os.path.join(home, "paged.txt"), "w") as f:
        f.write(PAGED)
    r = subprocess.run([PROGRAM, "--device", "cpu", "-c", f"lesson {home}/paged.txt"], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, env=dict(os.environ, XDG_STATE_HOME=home), timeout=60)
    assert r.returncode == 0 and "The end." in r.stdout and "Enter:" not in r.stdout, r
    assert not os.path.exists(os.path.join(home, "warpspy", "lessons")), "a pipe keeps no answers"
    shutil.rmtree(home)


def test_a_lesson_on_a_small_terminal():
    """Expected text of a picture is found even if the screen shows only part of it."""
    s = Session("--device cpu", rows=12, cols=40)
    s.wait("]> ")
    with open(os.path.join(s.home, "small.txt"), "w") as f:
        f.write("> gen band 60 20 as band\n> rows band\n"
                "@ longest: row 20 (41), row 21 (41), row 22 (41), row 23 (41), row 24 (41)\n"
                "This prose is filled to the width of a terminal of forty columns.\n")
    s.line(f"lesson {s.home}/small.txt")
    s.wait("small   Enter: go on  q: leave")
    s.keys("\r")
    s.wait("longest: row 20 (41)")
    s.keys("\r")
    s.wait("This prose is filled to the width of a\nterminal of forty columns.")
    assert "row 24" not in s.text()
    quits(s)


def test_greeting():
    s = at_prompt("--device cpu")
    s.wait("on cpu; begin with `help`, `lesson looks` or `load FILE`")
    quits(s)
    s = at_prompt("samples/thesis4.mtx")
    s.wait("next: `check` judges thesis4, `view` draws it")
    s.wait("`solve` chooses a solver; `help` lists all")
    assert "begin with" not in s.text(), s.text()
    s.line("gen poisson2d 3")
    s.wait("poisson2d")
    assert s.text().count("next:") == 1, s.text()
    quits(s)
    s = at_prompt("tests/files/sides.npz")
    s.wait("`solve` uses its right side")
    quits(s)


def stops_and_goes_on(open_view):
    s = at_prompt("samples/thesis4.mtx")
    if open_view:
        s.line("view spy")
        s.wait("q leave")
    s.child.send("\x1a")
    s.wait("shell$ ")
    s.settle()
    s.child.sendline("clear; stty -g; echo mo''des")
    s.wait("modes")
    assert s.stty(s.text()) == s.modes, "terminal modes differ while stopped"
    s.child.sendline("fg")
    if open_view:
        s.wait("q leave")
        s.keys(RIGHT)
        s.wait("column 1: 7")
        s.keys("q")
    s.settle()
    s.line("")
    s.wait("thesis4 [")
    quits(s)


def test_stop_at_the_prompt():
    stops_and_goes_on(False)


def test_stop_in_a_view():
    stops_and_goes_on(True)


def test_stop_in_a_command():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 300; solve jacobi tol 1e-30 maxit 100000000 force")
    s.wait("residual ")
    s.child.send("\x1a")
    s.wait("shell$ ")
    s.settle()
    s.child.sendline("clear; stty -g; echo mo''des")
    s.wait("modes")
    assert s.stty(s.text()) == s.modes, "terminal modes differ while stopped"
    s.child.sendline("clear; fg")
    s.wait("residual ")
    s.keys("typed", "\x03")
    s.wait("stopped by the user")
    assert "typed" not in s.text(), s.text()
    quits(s)


def test_shell_escape():
    s = at_prompt()
    s.line("!stty -a | grep -c ' icanon iexten echo '; echo sh''ell")
    s.wait("shell")
    assert re.search(r"^1$", s.text(), re.M), s.text()
    quits(s)


def test_output_goes_to_a_shell_command():
    s = at_prompt()
    s.line("version | sed s/^/piped-/")
    s.wait("piped-warpspy")
    s.line("version | sh -c 'read line; printf as%s ked > /dev/tty; read key < /dev/tty; echo got $key'")
    s.wait("asked")
    s.line("answer")
    s.wait("got answer")
    s.line("version | sleep 60")
    s.settle()
    s.keys("\x03")
    s.wait("version: cancelled")
    s.line("formats > kept.txt; !wc -l kept.txt; rm kept.txt")
    s.wait("kept.txt")
    quits(s)


def test_a_table_for_a_pager_fits_the_terminal():
    if not shutil.which("less"):
        return
    s = at_prompt()
    s.line("gen poisson2d 4; kernels | less +G")
    s.wait("hidden (")
    s.keys("q")
    s.line("clear; kernels | tail -1")
    s.wait("drm-openmp")
    s.settle()
    assert "hidden (" not in s.text(), s.text()
    quits(s)


def test_long_output_is_paged():
    s = at_prompt()
    s.line("help")
    s.wait("1-23 of ")
    s.wait("space next")
    assert "Matrices" in s.text(), s.text()
    s.keys(" ")
    s.wait("24-46 of ")
    s.keys("/", "spmv", "\r")
    s.wait("found in line")
    s.wait("spmv       multiply")
    s.keys("N")
    s.wait("`spmv` is not above")
    s.child.setwinsize(30, 100)
    s.screen.resize(30, 100)
    s.wait("-")
    s.settle()
    s.keys("g")
    s.wait("1-29 of ")
    mark = len(s.raw)
    s.keys("q")
    s.wait("not shown")
    s.wait("[cpu]> ")
    said = s.output_since(mark)
    assert "spy        draw" in said and "load       read" not in said, said
    s.line("version")
    s.wait("built with CUDA")
    quits(s)


def test_ctrl_c_leaves_the_pager():
    s = at_prompt()
    s.line("help")
    s.wait("space next")
    s.keys("\x03")
    s.line("version")
    s.wait("built with CUDA")
    quits(s)


def test_ctrl_c_in_a_command_drops_what_the_pager_would_show():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 700 as P; print rows 0: P all")  # prints for many seconds
    s.wait("(column: value)")
    s.keys("\x03")
    s.wait("not shown")
    s.wait("P [cpu]> ")
    assert "space next" not in s.text(), s.text()
    quits(s)


def test_a_key_sequence_ends_a_search_of_the_history():
    s = at_prompt()
    s.line("version")
    s.wait("built with CUDA")
    s.keys("\x12", "ver", "\x18", "c")  # Ctrl-R, Ctrl-X
    s.keys("\x03")
    s.line("gen poisson2d 9")
    s.wait("poisson2d [cpu]>")
    s.line("view spy")
    s.wait("leave")
    s.keys(":", "\x12", "ver", "\x18", "c", "\x1b")
    s.settle()
    s.keys("q")
    s.wait("poisson2d [cpu]>")
    quits(s)


def test_output_that_fits_is_not_paged():
    s = at_prompt()
    s.line("devices; version; set pager; gen poisson2d 9; spy; set colours")  # each of them fits
    s.wait("COLORTERM")
    s.wait("[cpu]> ")
    assert "space next" not in s.text(), s.text()
    quits(s)


def test_the_output_of_a_script_is_not_held():
    s = at_prompt("--device cpu")
    with open(s.home + "/long.ws", "w") as f:
        f.write("help\ngen poisson2d 500 as P\nsolve jacobi maxit 1000000 tol 1e-14\n")
    s.line(f"source {s.home}/long.ws")
    s.wait("exit status is 1")  # the end of `help` is there while the solve runs
    assert "space next" not in s.text(), s.text()
    s.wait("iteration")
    s.keys("\x03")
    s.wait("P [cpu]> ")
    quits(s)


def test_the_pager_is_chosen():
    s = at_prompt(XDG_CONFIG_HOME="", WARPSPY_PAGER="sed s/^/ours-/", PAGER="sed s/^/usual-/")
    s.line("set pager off")
    s.line("help")
    s.wait("exit status is 1")
    s.wait("[cpu]> ")
    s.line("set pager env")
    s.line("help help")
    s.wait("[cpu]> ")
    s.line("help")
    s.wait("ours-")
    s.wait("[cpu]> ")
    s.line("set pager 'sed s/^/mine-/'")
    s.line("help")
    s.wait("mine-")
    s.line("set pager on")
    s.line("help")
    s.wait("space next")
    s.keys("q")
    quits(s)


def test_each_command_is_paged_before_the_next():
    s = at_prompt()
    s.line("help; version")
    s.wait("space next")
    s.keys("q")
    s.wait("not shown")
    s.wait("built with CUDA")
    s.line("help; !echo from the shell")
    s.wait("space next")
    s.keys("q")
    s.wait("from the shell")
    quits(s)


def test_wrapped_lines_of_a_numbered_cause_are_indented():
    s = Session("--device cpu", rows=40, cols=60)
    s.wait("]> ")
    s.line("gen poisson2d 20; explain csr-scalar")
    s.wait("Each time shows")
    lines = s.text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    assert len(lines[first]) > 40 and lines[first + 1].startswith("   "), s.text()
    quits(s)


def test_lines_typed_ahead_are_not_keys_of_the_pager():
    s = at_prompt()
    s.child.send("help\rversion\r")
    s.wait("built with CUDA")
    assert "space next" not in s.text(), s.text()
    quits(s)


def test_a_begun_line_is_not_a_key_of_the_pager():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 200 as P; solve jacobi tol 1e-30 maxit 3000 force; help")
    s.wait("residual ")
    s.keys("versi")
    s.wait("P [cpu]> versi")
    assert "space next" not in s.text(), s.text()
    s.keys("on\r")
    s.wait("built with CUDA")
    quits(s)


def test_last_shows_a_page_again_that_was_left():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 4; spy")
    s.wait("poisson2d [cpu]> ")
    s.line("help")
    s.wait("space next")
    s.keys("q")
    s.wait("not shown; `last` shows all)")
    s.line("version")
    s.wait("built with CUDA")
    mark = len(s.raw)
    s.line("last")
    s.wait_for(lambda: "1-23 of" in s.output_since(mark))
    assert "Matrices" in s.output_since(mark), s.text()
    s.keys("q")
    s.wait("[cpu]> ")
    mark = len(s.raw)
    s.line("last size 40x10")
    s.wait_for(lambda: "16 x 16" in s.output_since(mark))
    assert "1-23 of" not in s.output_since(mark), s.text()
    s.line("last")
    s.wait("poisson2d [cpu]> ")
    assert "1-23 of" not in s.output_since(mark), s.text()
    mark = len(s.raw)
    s.line("last output")
    s.wait_for(lambda: "1-23 of" in s.output_since(mark))
    s.keys("q")
    s.wait("poisson2d [cpu]> ")
    s.line("view spy")
    s.wait("q leave")
    s.line(":help help")
    s.wait("q close")
    s.keys("q")
    s.line(":last output")
    s.wait("list all commands, or")
    s.keys("q", "q")
    quits(s)


QUESTION = b"\x1b]11;?\x1b\\"


# The title in both themes, in 24 bits or, if terminfo has no direct colours, as one of 256.
ON_DARK, ON_LIGHT = (rb"38[;:]2[;:]+135[;:]215[;:]255m|38;5;117m", rb"38[;:]2[;:]+0[;:]95[;:]135m|38;5;24m")


def test_the_theme_follows_the_background():
    s = at_prompt("--device cpu", XDG_CONFIG_HOME=tempfile.mkdtemp(dir=os.environ.get("HOME")))  # `set` is kept there
    assert s.raw.count(QUESTION) == 1
    mark = len(s.raw)
    s.keys("\x1b]11;rgb:ffff/ffff/dddd\x1b\\")
    s.wait_for(lambda: re.search(ON_LIGHT, s.raw[mark:]), "the prompt in the colours for white")
    s.keys("version\r")
    s.wait("built with CUDA")
    s.keys("load samples/thesis4.mtx; view spy\r")
    s.wait("q leave")
    assert not re.search(ON_DARK, s.raw[mark:])
    assert s.raw.count(QUESTION) == 1, "the terminal is asked once"
    s.keys(":set theme dark\r")
    s.wait("q leave")
    s.settle()
    mark = len(s.raw)
    s.keys("2", "1")
    assert re.search(ON_DARK, s.raw[mark:]), "the title in the colours for black"
    s.keys("q")
    assert "rgb" not in s.text(), s.text()
    quits(s)


def test_an_answer_never_becomes_text():
    s = Session("--device cpu -v samples/thesis4.mtx")  # the answer comes to the full screen, and ends in BEL
    s.wait("q leave")
    mark = len(s.raw)
    s.keys("\x1b]11;rgb:fafa/fafa/fafa\x07")
    s.wait_for(lambda: re.search(ON_LIGHT, s.raw[mark:]), "the frame in the colours for white")
    s.keys(":", "ver", "\x1b]11;rgb:ff/ff/ff\x1b\\", "sion\r")
    s.wait("q close" if "q close" in s.text() else "built with CUDA")
    assert "rgb" not in s.text(), s.text()
    s.keys("q", "q")
    s.restored()
    s.close()
    s = Session("--device cpu")  # the program ends before the answer
    s.wait_for(lambda: QUESTION in s.raw)
    s.child.send("\x04")
    s.child.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
    s.restored()
    assert "rgb" not in s.output_since(0), s.text()
    s.close()


def test_no_question_without_a_reason():
    for args, env in (("--device cpu --plain", {}), ("--device cpu", {"TERM": "linux"}),
                      ("--device cpu", {"NO_COLOR": "1"})):
        s = at_prompt(args, **env)
        assert QUESTION not in s.raw, (args, env)
        quits(s)
    s = Session("--device cpu -c version | cat")
    s.wait("built with CUDA")
    assert QUESTION not in s.raw
    s.restored()
    s.close()


def test_the_environment_may_name_the_background():
    s = at_prompt("--device cpu", COLORFGBG="0;15")
    assert re.search(ON_LIGHT, s.raw)
    quits(s)


def dies(sig, view):
    s = at_prompt("samples/thesis4.mtx")
    if view:
        s.line("view spy")
        s.wait("q leave")
    os.kill(s.pid(), sig)
    s.restored()
    s.child.sendline("clear")
    s.close()


def test_killed_in_a_view():
    dies(signal.SIGTERM, True)


def test_killed_at_the_prompt():
    dies(signal.SIGTERM, False)


def test_killed_without_warning_at_the_prompt():
    dies(signal.SIGKILL, False)


def test_killed_without_warning_in_a_command():
    s = at_prompt("--device cpu")
    s.line("gen poisson2d 300; solve jacobi tol 1e-30 maxit 100000000 force")
    s.wait("residual ")
    os.kill(s.pid(), signal.SIGKILL)
    s.restored()
    s.close()


def test_killed_under_a_shell_that_edits_lines_itself():
    """The guardian must not undo the modes of the shell's own readline."""
    s = Session("--version")
    s.wait("warpspy")
    s.child.sendline("exec bash --norc")
    s.settle()
    s.start("samples/thesis4.mtx")
    s.wait("]> ")
    s.wait_for(lambda: guards_of(s), "a guardian")
    guards = guards_of(s)
    os.kill(s.pid(), signal.SIGKILL)
    s.wait("shell$ ")
    s.wait_for(lambda: all(map(is_over, guards)), "the end of the guardian")
    assert not termios.tcgetattr(s.child.child_fd)[3] & termios.ICANON, "the shell's modes were undone"
    s.child.send("echo mo''rx\x7fe\r")
    s.wait("\nmore")
    s.close()


def resumes(s, shown):
    """Stop the program by a signal that it cannot handle, use the terminal, and continue: `shown` is drawn again."""
    os.kill(s.pid(), signal.SIGSTOP)
    s.wait("shell$ ")
    s.child.send("stty sane; clear\n")
    s.settle()
    assert shown not in s.text(), s.text()
    s.child.send("fg\n")
    s.wait(shown)


def test_stopped_without_warning_at_the_prompt():
    s = at_prompt("samples/thesis4.mtx")
    s.keys("stat")
    resumes(s, "thesis4 [cpu]> stat")
    s.line("s")
    s.wait("nonzeros")
    quits(s)


def test_stopped_without_warning_in_a_view():
    s = at_prompt("samples/thesis4.mtx")
    s.line("view spy")
    s.wait("q leave")
    resumes(s, "q leave")
    s.keys("\t")
    s.wait("[2 rows]")
    s.keys("q")
    quits(s)


def test_unknown_terminal_keeps_the_prompt():
    s = Session("-v samples/thesis4.mtx", TERM="nosuch-kitty")
    s.wait("no terminfo entry for TERM=nosuch-kitty; set TERM=xterm-256color")
    s.wait("[cpu]> ")
    s.line("stats")
    s.wait("nonzeros")
    s.line("quit")
    s.wait("shell$ ")
    s.close()


def test_crash_in_a_view():
    dies(signal.SIGSEGV, True)


def test_view_from_the_command_line():
    s = Session("-v spy samples/thesis4.mtx")
    s.wait("q leave")
    s.keys("q")
    s.restored()
    s.close()


def test_dumb_terminal_has_text_only():
    s = at_prompt("samples/thesis4.mtx", TERM="dumb")
    s.line("view spy")
    s.wait("cannot position its cursor")
    s.line("spy")
    s.wait("spy")
    assert b"\x1b[" not in s.raw[s.mark:].split(b"[H")[-1].replace(b"\x1b[?2004", b""), s.raw
    s.line("quit")
    s.wait("shell$ ")
    s.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
