"""warpspy in a pseudo terminal behind a terminal emulator (pyte): send keys, wait for text on the screen, and check that
the terminal is restored."""
import os
import re
import subprocess
import sys
import tempfile
import termios
import time

try:
    import pexpect
    import pyte
except ImportError as missing:
    print(f"skip the tests in a pseudo terminal: {missing}")
    sys.exit(0)

from harness import PROGRAM

WAIT = float(os.environ.get("WARPSPY_PTY_WAIT", "20"))
ROWS, COLS = 24, 80


class Screen(pyte.Screen):
    """pyte's screen with REP (repeat the last character) and SU/SD (scroll), which ncurses uses if the terminfo entry has
    them. After a character in the last column the cursor stays in that column until the next character is printed."""

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:]

    def repeat(self, count=1):
        self.draw(getattr(self, "last", "") * (count or 1))

    def scroll(self, act, count):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        act(count or 1)
        self.cursor.x, self.cursor.y = x, y

    def scroll_up(self, count=1):
        self.scroll(self.delete_lines, count)

    def scroll_down(self, count=1):
        self.scroll(self.insert_lines, count)


def in_last_column(name):
    def act(self, *args, **how):
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        return getattr(pyte.Screen, name)(self, *args, **how)
    return act


for each in ("cursor_up", "cursor_down", "cursor_to_line", "cursor_forward", "erase_in_line", "erase_in_display",
             "erase_characters", "insert_characters", "delete_characters"):
    setattr(Screen, each, in_last_column(each))


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, b="repeat", S="scroll_up", T="scroll_down")
    events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


def mode(raw, number):
    """The last state of a private mode of the terminal: on (True), off (False) or never set (None)."""
    found = [last == b"h" for numbers, last in re.findall(rb"\x1b\[\?([0-9;]+)([hl])", raw)
             if str(number).encode() in numbers.split(b";")]
    return found[-1] if found else None


class Session:
    """The program, run from a shell. Afterwards the shell shows the state in which the program left the terminal."""

    def __init__(self, args="", rows=ROWS, cols=COLS, home=None, program=PROGRAM, **env):
        self.program = program
        self.screen = Screen(cols, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.home = home or tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
        settings = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", PS1="shell$ ", HOME=self.home,
                        XDG_STATE_HOME=self.home, COLORTERM="truecolor", OMP_NUM_THREADS="1")
        settings.pop("NO_COLOR", None)
        settings.update(env)
        self.child = pexpect.spawn("/bin/sh", ["-i"], env=settings, dimensions=(rows, cols), timeout=WAIT)
        self.wait("shell$ ")
        self.child.sendline("stty -g; echo mo''des")
        self.wait("modes")
        self.modes = self.stty(self.text())
        self.attributes = termios.tcgetattr(self.child.child_fd)
        self.start(args)

    def start(self, args):
        self.mark = len(self.raw)
        self.child.sendline(f"clear; {self.program} {args}")

    @staticmethod
    def stty(text):
        return re.findall(r"[0-9a-f]+(?::[0-9a-f]+){10,}", text.replace("\n", ""))[-1]

    def pump(self, seconds=0.05):
        try:
            data = self.child.read_nonblocking(65536, timeout=seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.raw += data
        self.stream.feed(data)
        return True

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def output_since(self, mark):
        """The output after position `mark`, without styles and cursor movements."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.raw[mark:].decode(errors="replace"))

    def wait_for(self, condition, what="a screen"):
        end = time.time() + WAIT
        while not condition():
            if time.time() > end:
                raise AssertionError(f"never on screen: {what!r}\n{self.text()}")
            self.pump()

    def wait(self, what):
        """Wait until the screen shows `what`. Trailing blanks of lines are ignored. pyte has no alternate screen: output
        after a view starts at the view's cursor, and may continue on the next line. A sentence may be wrapped between
        its words."""
        self.wait_for(lambda: what.rstrip() in self.text() or what in "".join(self.screen.display) or
                      what in self.words(), what)

    def words(self):
        """The words on the screen, separated by single blanks."""
        return " ".join(self.text().split())

    def settle(self, most=2):
        """Wait until no output arrives for 0.1 s, but at most `most` seconds: a running solve redraws all the time."""
        end = time.time() + most
        while self.pump(0.1) and time.time() < end:
            pass

    def keys(self, *keys):
        for key in keys:
            self.child.send(key)
            self.settle(0.5)

    def line(self, text):
        self.child.send(text + "\r")

    def pid(self):
        found = subprocess.run(["ps", "--ppid", str(self.child.pid), "-o", "pid=,comm="], capture_output=True, text=True)
        return int([x for x in found.stdout.splitlines() if "warpspy" in x][0].split()[0])

    def restored(self):
        """Check that the shell is back, with the same terminal modes, its own screen and a visible cursor."""
        self.wait("shell$ ")
        self.settle()
        tail = self.raw[self.mark:]
        assert not mode(tail, 1049), "the alternate screen was not left"
        assert mode(tail, 25) in (None, True), "the cursor was left hidden"
        self.has_modes()

    def has_modes(self):
        """Check that the terminal modes are those of the shell. After SIGKILL, the guardian process (ui/guard.c)
        restores them 0.1 s after the shell's prompt, or later on a busy machine."""
        self.wait_for(lambda: termios.tcgetattr(self.child.child_fd) == self.attributes, "the shell's terminal modes")
        self.child.sendline("clear; stty -g; echo mo''des")
        self.wait("modes")
        assert self.stty(self.text()) == self.modes, f"terminal modes differ\n{self.text()}\n{self.modes}"

    def close(self):
        self.child.close(force=True)


UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"


def at_prompt(args="", **env):
    s = Session(args, **env)
    s.wait("]> ")
    return s


def quits(s):
    s.line("quit")
    s.restored()
    s.close()


# ---- processes ----

def open_or_empty(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""


def terminal_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/fd/1")
    except OSError:
        return ""


def guards_of(s):
    """The guardians (ui/guard.c) of the session's terminal."""
    return [p for p in os.listdir("/proc") if p.isdigit() and
            open_or_empty(f"/proc/{p}/cmdline").startswith(b"warpspy-guard") and terminal_of(p) == terminal_of(s.pid())]


def is_over(pid):
    """Has the process ended? A zombie, which waits for its parent, has no command line."""
    return not open_or_empty(f"/proc/{pid}/cmdline")
