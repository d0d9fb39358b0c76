"""A terminal emulator shows the frames that ncurses sends exactly as the canvas holds them: random canvases of several
sizes, on several kinds of terminals with their colours."""
import os
import re
import subprocess
import sys
import tempfile

from harness import PROGRAM, main
from terminal_kit import Screen, Stream
import pexpect

DRAW = os.path.join(os.path.dirname(PROGRAM), "tests", "terminal", "draw_frames")
# A terminfo entry with direct colours; Debian ships it in another package.
DIRECT = r"""xterm-direct|for tests,
	RGB, ccc@, colors#0x1000000, pairs#0x10000, initc@, op=\E[39;49m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,
	use=xterm-256color,
"""


def frames(seed, **env):
    """The bytes sent for each frame, and the expected picture of each as (w, h, ANSI text)."""
    name = tempfile.mktemp(dir=os.environ.get("HOME", "/tmp"))
    settings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM", "LINES", "COLUMNS")}
    child = pexpect.spawn(DRAW, [name, str(seed)], env=dict(settings, **env), dimensions=(24, 80), timeout=60)
    sent = child.read()
    child.close()
    assert child.exitstatus == 0, sent
    expected, at = [], 0
    with open(name, "rb") as f:
        for line in f:
            w, h, size = map(int, line.split())
            expected.append((w, h, f.read(size)))
    os.unlink(name)
    return sent.split(b"\a"), expected


def emulate(w, h):
    screen = Screen(w, h)
    return screen, Stream(screen)


def look(cell):
    """The visible properties of a cell; a blank has no foreground colour."""
    blank = cell.data == " "
    return (cell.data, cell.reverse) + (() if blank else (cell.fg, cell.bold))


def shows(screen, w, h, text, corner):
    wanted, stream = emulate(w, h)
    stream.feed(text.rstrip(b"\n").replace(b"\n", b"\r\n"))
    for y in range(h):
        for x in range(w if corner or y < h - 1 else w - 2):
            found, expected = look(screen.buffer[y][x]), look(wanted.buffer[y][x])
            assert found == expected, f"column {x} of line {y} of {w} x {h}: {found}, expected {expected}"


def check(seed, colours, **env):
    """Compare all frames; return the attributes that were sent. screen and tmux cannot turn off wrapping at the margin:
    ncurses inserts the last cell from one column to the left, which fails for wide glyphs, so the corner is skipped."""
    corner = not env["TERM"].startswith(("screen", "tmux"))
    sent, expected = frames(seed, **env)
    assert len(sent) == len(expected) + 1 and len(expected) > 60, (len(sent), len(expected))
    screen, stream = emulate(80, 24)
    for i, (w, h, text) in enumerate(expected):
        if (screen.columns, screen.lines) != (w, h):
            screen.resize(h, w)
        # pyte understands colour parameters separated by semicolons only.
        stream.feed(re.sub(rb"38:2::(\d+):(\d+):(\d+)", rb"38;2;\1;\2;\3", sent[i]))
        shows(screen, w, h, text, corner)
    attributes = re.findall(rb"\x1b\[([0-9;:]*)m", b"".join(sent))
    numbers = {n for a in attributes for n in re.split(rb"[;:]", a)}
    assert bool(numbers & {b"31", b"32", b"33", b"36", b"38", b"39"}) == colours, numbers
    return b" ".join(attributes)


def test_xterm_with_256_colours():
    assert b"38;5;" in check(1, True, TERM="xterm-256color")
    check(2, True, TERM="xterm-256color", COLORTERM="truecolor", TERMINFO_DIRS="/nowhere:/lib/terminfo:")


def test_direct_colours():
    folder = tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
    source = os.path.join(folder, "source")
    with open(source, "w") as f:
        f.write(DIRECT)
    if subprocess.run(["tic", "-x", "-o", folder, source], capture_output=True).returncode:
        print("skip test_direct_colours: tic does not take the entry")
        return
    assert b"38:2::" in check(3, True, TERM="xterm-direct", TERMINFO=folder)
    assert b"38:2::" in check(4, True, TERM="xterm-256color", COLORTERM="truecolor", TERMINFO=folder)


def test_terminals_with_8_colours():
    for seed, term in enumerate(("xterm", "linux", "screen", "tmux"), 5):
        assert b"38;" not in check(seed, True, TERM=term), term


def test_screen_and_tmux_with_256_colours():
    check(9, True, TERM="screen-256color")
    check(10, True, TERM="tmux-256color")


def test_no_colours():
    check(11, False, TERM="vt100")
    check(12, False, TERM="xterm-256color", NO_COLOR="1")


def test_terminals_that_cannot():
    for term, said in ("dumb", "cannot position its cursor"), ("nosuch", "no terminfo entry for TERM=nosuch; set TERM="):
        child = pexpect.spawn(DRAW, ["/dev/null", "1"], env=dict(os.environ, TERM=term), timeout=60)
        sent = child.read().decode()
        child.close()
        assert child.exitstatus == 1 and said in sent and "\x1b" not in sent, sent


if __name__ == "__main__":
    sys.exit(main(globals()))
