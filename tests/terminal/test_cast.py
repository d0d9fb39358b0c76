#!/usr/bin/env python3
"""Recordings of the screen (`record cast`): they parse, play to the golden screens, and hold what a terminal showed."""
import json
import os
import signal
import subprocess
import tempfile

from harness import PROGRAM, TOP, main
from terminal_kit import COLS, DOWN, ROWS, Screen, Stream, at_prompt, quits

GOLDEN = os.path.join(TOP, "tests", "golden")


def parse(text):
    """The header and the events of a recording; times must not go back."""
    lines = text.splitlines()
    header, events = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    assert header["version"] == 2 and header["width"] > 0 and header["height"] > 0, header
    assert all(len(event) == 3 and event[1] in "or" and isinstance(event[2], str) for event in events)
    times = [event[0] for event in events]
    assert times == sorted(times) and all(t >= 0 for t in times), times
    return header, events


def play(text):
    """The last screen of a recording, as lines without trailing blanks."""
    header, events = parse(text)
    screen = Screen(header["width"], header["height"])
    stream = Stream(screen)
    for _, kind, data in events:
        if kind == "r":
            width, height = map(int, data.split("x"))
            screen.resize(height, width)
        else:
            stream.feed(data.encode())
    return [line.rstrip() for line in screen.display]


def run_script(lines):
    """Run commands in a folder that is the top of the checkout; {cast} is the recording. Returns its text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.cast")
        done = subprocess.run([PROGRAM, "-c", lines.format(cast=path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=TOP, text=True)
        assert done.returncode == 0, done.stdout
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read(), done.stdout


# ---- keys ----

SPY = ("gen poisson2d 20; record cast {cast}; keys view spy size 80x24 colours 256 Right Down; record off; "
       "screendump")


def test_keys_play_to_the_last_screen():
    for keys in ("Right Down", "Tab Tab Down", "':stats' Enter", "+ + + + + + + Down Tab ?", "Size:60x20 Tab Size:100x30 +"):
        text, printed = run_script("gen poisson2d 20; record cast {cast}; keys " + keys + "; record off; screendump")
        screen = "\n".join(play(text)).rstrip("\n")
        shown = printed[printed.index(" 1 spy") if " 1 spy" in printed else printed.index("[1 spy]"):].rstrip("\n")
        assert screen == "\n".join(line.rstrip() for line in shown.split("\n")), (keys, screen, shown)


def test_keys_play_to_the_golden_screen():
    text, _ = run_script("load samples/thesis4.mtx; record cast {cast}; keys ':nonsense' Enter view spy; record off")
    with open(os.path.join(GOLDEN, "explore_error.txt"), encoding="utf-8") as file:
        assert "\n".join(play(text)).rstrip("\n") == file.read().rstrip("\n")


def test_the_same_script_gives_the_same_file():
    assert run_script(SPY)[0] == run_script(SPY)[0]


def test_times_are_those_of_a_typist():
    """A screen comes 0.08 s after a letter and 0.5 s after another key; `keys` rests for 1.5 s after its last key."""
    letter, other, rest = 0.08, 0.5, 1.5
    text, _ = run_script("gen poisson2d 20; record cast {cast}; keys Tab ':s~' Space '9' Backspace Esc; "
                         "keys" + 20 * " Tab" + "; record off")
    pauses = [other, letter, letter, letter, other, letter, other, other, rest + other] + 19 * [other]
    expected = [sum(pauses[:k]) for k in range(len(pauses) + 1)]
    times = [event[0] for event in parse(text)[1]]
    assert len(times) == len(expected) and max(abs(a - b) for a, b in zip(times, expected)) < 1e-6, (times, expected)


def test_an_empty_recording_is_valid():
    text, _ = run_script("record cast {cast}; gen poisson2d 5; record off")
    assert parse(text)[1] == []


def test_both_recordings_at_once():
    with tempfile.TemporaryDirectory() as folder:
        line = (f"record {folder}/a.wsp cast {folder}/a.cast; gen poisson2d 5; keys Tab; record; record off; "
                f"replay {folder}/a.wsp")
        done = subprocess.run([PROGRAM, "--json", "-c", line], stdout=subprocess.PIPE, text=True)
        rows = [json.loads(row) for row in done.stdout.splitlines()]
        states = [(row["state"], row["commands"] is None) for row in rows if "state" in row]
        assert done.returncode == 0 and states == [("goes on", False), ("goes on", True), ("ended", False), ("ended", True)]


def test_errors():
    for line, part in (("record cast /no/such/a.cast", "cannot write"), ("record off", "nothing is being recorded"),
                       ("record cast {f}; record cast {f}", "already recording the screen"),
                       ("record cast {f}; record off; record cast {f}", "exists already"),
                       ("record cast {f} off", "not both")):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, "-c", line.format(f=folder + "/a.cast")], stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and part in done.stderr, (line, done.stderr)


# ---- a terminal ----

def content(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def begin(folder):
    """Record commands and a view in a terminal; return the session and the path of the recording."""
    path = os.path.join(folder, "live.cast")
    s = at_prompt()
    s.line(f"clear; record cast {path}; gen poisson2d 20; stats")
    s.wait("largest value")
    s.line("view rows")
    s.wait("rows counted from 0")
    s.settle()
    return s, path


def test_a_terminal():
    with tempfile.TemporaryDirectory() as folder:
        s, path = begin(folder)
        s.keys("\t", DOWN)
        s.wait("[3 layout]")
        assert play(content(path)) == s.text().split("\n")
        s.keys("q")
        s.line("version")
        s.wait("warpspy 0")
        s.line("record off")
        s.wait("events")
        s.line("list")
        s.wait("nonzeros")
        header, events = parse(content(path))
        assert (header["width"], header["height"]) == (COLS, ROWS) and header["timestamp"] > 1e9
        everything = "".join(event[2] for event in events)
        assert len(events) > 5 and "largest value" in everything and "\r\n" in everything
        assert "list" not in everything[everything.index("record off"):]
        quits(s)


def test_a_view_refuses_to_begin():
    """The recording would lack what the full screen already shows."""
    with tempfile.TemporaryDirectory() as folder:
        s = at_prompt()
        s.line("gen poisson2d 20")
        s.line("view spy")
        s.wait("[1 spy]")
        s.keys(":")
        s.line(f"record cast {folder}/live.cast")
        s.wait("begins at the prompt")
        assert not os.path.exists(f"{folder}/live.cast")
        s.keys("q", "q")  # the message, then the view
        quits(s)


def test_a_change_of_size():
    with tempfile.TemporaryDirectory() as folder:
        s, path = begin(folder)
        s.screen.resize(30, 100)
        s.child.setwinsize(30, 100)
        s.wait_for(lambda: any(len(line) > 85 for line in s.text().split("\n")))
        s.settle()
        assert [event[2] for event in parse(content(path))[1] if event[1] == "r"] == ["100x30"]
        assert play(content(path)) == s.text().split("\n")
        s.keys("q")
        quits(s)


def test_ctrl_c_and_a_shell_command_while_recording():
    with tempfile.TemporaryDirectory() as folder:
        s, path = begin(folder)
        s.keys("q")
        s.line("gen poisson3d 30; solve jacobi tol 1e-30 maxit 100000000")
        s.wait("iteration")
        s.child.send("\x03")
        s.wait("stopped by the user")
        s.line("!echo from the sh''ell")
        s.wait("from the shell")
        s.line("record off")
        s.wait("events")
        everything = "".join(event[2] for event in parse(content(path))[1])
        assert "from the shell" in everything and "stopped by the user" in everything
        quits(s)


def test_a_kill_while_recording():
    for sig in (signal.SIGKILL, signal.SIGTERM):
        with tempfile.TemporaryDirectory() as folder:
            s, path = begin(folder)
            os.kill(s.pid(), sig)
            s.restored()
            s.close()
            everything = "".join(event[2] for event in parse(content(path))[1])
            assert "rows counted from 0" in everything


def test_quit_while_recording():
    with tempfile.TemporaryDirectory() as folder:
        s, path = begin(folder)
        s.keys("q")
        quits(s)
        assert "quit" in "".join(event[2] for event in parse(content(path))[1])


if __name__ == "__main__":
    raise SystemExit(main(globals()))
