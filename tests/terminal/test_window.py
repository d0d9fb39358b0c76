"""The window of the terminal: title, clipboard, links, notifications; the palette, edit and the template at the prompt.
Some tests run the program in tmux, a second terminal emulator, where it is installed."""
import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import PROGRAM, main
from terminal_kit import Session, at_prompt, quits

KEPT, BACK = b"\x1b[22;2t", b"\x1b[23;2t"
FOCUS_ON, FOCUS_OFF = b"\x1b[?1004h", b"\x1b[?1004l"


def own_folder():
    return tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))


def prompt(args="--device cpu", **env):
    return at_prompt(args, XDG_CONFIG_HOME=own_folder(), **env)


def titles(raw):
    return re.findall(rb"\x1b\]2;([^\x1b]*)\x1b\\", raw)


# ---- the title ----

def test_the_title_names_the_matrix_and_is_given_back():
    s = prompt()
    s.line("gen poisson2d 5 as grid; version")
    s.wait("grid [cpu]> ")
    s.line("version")
    s.wait("grid [cpu]> ")
    quits(s)
    assert titles(s.raw) == [b"warpspy", b"warpspy - grid"], titles(s.raw)
    assert s.raw.count(KEPT) == s.raw.count(BACK) == 1
    assert s.raw.index(KEPT) < s.raw.index(b"\x1b]2;") < s.raw.index(BACK)


def test_set_title_off_gives_it_back_at_once():
    s = prompt()
    s.line("set title off; gen poisson2d 5 as grid")
    s.wait("grid [cpu]> ")
    assert titles(s.raw) == [b"warpspy"] and s.raw.count(BACK) == 1
    s.line("set title on")
    s.wait_for(lambda: titles(s.raw)[-1] == b"warpspy - grid")
    quits(s)
    assert s.raw.count(KEPT) == s.raw.count(BACK) == 2


def test_the_title_is_given_back_when_the_program_dies():
    for sig in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        s = prompt()
        s.settle()
        os.kill(s.pid(), sig)
        s.restored()
        s.wait_for(lambda: BACK in s.raw, f"the title after signal {sig}")
        assert sig != signal.SIGTERM or FOCUS_ON not in s.raw.split(FOCUS_OFF)[-1]
        s.close()


def test_ctrl_z_gives_the_title_back_meanwhile():
    s = prompt()
    s.line("gen poisson2d 5 as grid")
    s.wait("grid [cpu]> ")
    s.keys("\x1a")
    s.wait("shell$ ")
    assert s.raw.count(BACK) == 1
    s.child.sendline("fg")
    s.wait_for(lambda: s.raw.count(KEPT) == 2)
    assert titles(s.raw)[-1] == b"warpspy - grid"
    quits(s)
    assert s.raw.count(BACK) == 2


def test_nothing_is_sent_to_pipes_files_and_plain_terminals():
    env = {**os.environ, "KITTY_WINDOW_ID": "1", "XDG_CONFIG_HOME": own_folder()}
    file = os.path.join(own_folder(), "a.mtx")
    lines = f"set links on; set clipboard on; gen poisson2d 5; save {file}; stats"
    done = subprocess.run([PROGRAM, "-c", lines], env=env, capture_output=True, check=True)
    assert b"\x1b" not in done.stdout + done.stderr
    done = subprocess.run([PROGRAM, "-c", "copy"], env=env, capture_output=True)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1 and b"\x1b" not in done.stdout + done.stderr
    for args, more in (("--device cpu --plain", {}), ("--device cpu", {"TERM": "linux"})):
        s = prompt(args, **more)
        s.line(f"gen poisson2d 5; save {file} force")
        s.wait("nonzeros   ms")
        quits(s)
        assert not re.search(rb"\x1b\](2|8|52|9|777);|\x1b\[\?1004h|\x1b\[22;2t", s.raw), args


# ---- the clipboard ----

def copied(s):
    found = re.findall(rb"\x1b\]52;c;([^\x1b]*)\x1b\\", s.raw)
    return [base64.b64decode(text).decode() for text in found]


def test_copy_sends_the_output_of_the_line_before():
    s = prompt()
    s.line("set clipboard on; version")
    s.wait("built with CUDA")
    s.line("copy")
    s.wait_for(lambda: len(copied(s)) == 1)
    assert re.match(r"warpspy +[0-9.]+\nbuilt with CUDA +(yes|no)\n$", copied(s)[0]), copied(s)
    s.line("copy")
    s.wait_for(lambda: len(copied(s)) == 2)
    assert copied(s)[0] == copied(s)[1]
    s.line("set clipboard off")
    s.line("copy")
    s.wait("the option clipboard is off")
    quits(s)


def test_y_copies_the_pane():
    s = Session("--device cpu -v samples/thesis4.mtx", XDG_CONFIG_HOME=own_folder())
    s.wait("q leave")
    s.line(":set clipboard on")
    s.settle()
    s.keys("2")
    s.wait("[2 rows]")
    s.keys("y")
    s.wait("copied")
    assert "rows counted from 0" in copied(s)[-1] and "q leave" not in copied(s)[-1] and "\x1b" not in copied(s)[-1]
    s.keys("q")
    s.restored()
    s.close()


def test_a_long_text_is_refused():
    s = prompt()
    s.line("set clipboard on; set pager off; gen random 3000 3 3; print rows 0:2999 all")
    s.wait("random [cpu]> ")
    s.line("copy")
    s.wait("too long for the clipboard of a terminal")
    assert not copied(s)
    quits(s)


# ---- links ----

def test_written_files_are_links_on_known_terminals():
    folder = own_folder()
    for env, linked in (({"KITTY_WINDOW_ID": "1"}, True), ({"VTE_VERSION": "7000"}, True), ({}, False),
                        ({"VTE_VERSION": "4200"}, False), ({"KITTY_WINDOW_ID": "1", "TMUX": "x"}, False)):
        s = prompt(**env)
        s.line(f"gen poisson2d 5; save {folder}/a%b.mtx force")
        s.wait("nonzeros   ms")
        s.settle()
        assert (f"{folder}/a%25b.mtx\x1b\\".encode() in s.raw) == linked, env
        assert s.raw.count(b"\x1b]8;;\x1b\\") == linked
        quits(s)


# ---- notifications ----



def test_long_work_notifies_a_window_that_is_away():
    for setting, expected in (("osc777", rb"\x1b\]777;notify;warpspy;solve has ended after [0-9.]+ s\x1b\\\x07"),
                              ("off", None)):
        s = prompt()
        s.line(f"set notify {setting}; gen poisson2d 5 as grid")
        s.wait("grid [cpu]> ")
        mark = len(s.raw)
        s.line("gen poisson2d 300; solve jacobi tol 1e-30 maxit 100000000 on cpu")
        if not expected:
            s.settle()
            assert FOCUS_ON not in s.raw[mark:]
            s.keys("\x03")
            quits(s)
            continue
        s.wait_for(lambda: FOCUS_ON in s.raw[mark:])
        s.child.send("\x1b[O")
        end = time.time() + 10.5
        while time.time() < end:
            s.pump(0.2)
        s.child.send("\x03")
        s.wait_for(lambda: re.search(expected, s.raw[mark:]), "a notification")
        assert "[O" not in s.text(), s.text()
        quits(s)
        assert s.raw.rindex(FOCUS_OFF) > s.raw.rindex(FOCUS_ON)


def test_short_work_and_a_window_that_is_there_are_quiet():
    s = prompt()
    mark = len(s.raw)
    s.line("gen poisson2d 300; solve jacobi tol 1e-30 maxit 100000000 on cpu")
    s.wait_for(lambda: FOCUS_ON in s.raw[mark:])
    s.keys("\x1b[O", "\x03")
    s.wait("poisson2d [cpu]> ")
    s.keys("\x1b[I", "\x1b[O")
    s.settle()
    assert b"\x1b]9;" not in s.raw and "[I" not in s.text() and "[O" not in s.text(), s.text()
    quits(s)


# ---- the prompt ----

def test_the_palette_at_the_prompt():
    s = prompt()
    s.line("gen poisson2d 5 as grid")
    s.wait("grid [cpu]> ")
    s.keys("begun", "\x1bx")
    s.wait("Enter choose")
    s.keys("\x1b")
    s.wait("grid [cpu]> begun")
    s.keys("\x15", "\x1bOP", "poisson2d as")
    s.wait("1 of")
    s.keys("\r")
    s.wait("grid [cpu]> gen poisson2d 5 as grid")
    s.keys("\x15", "\x1bx", "gmres", "\r")
    s.wait("when to use it")
    s.keys("\x1bx", "\x03")
    s.wait("grid [cpu]> ")
    quits(s)


def test_edit_offers_what_the_editor_saved():
    s = prompt(EDITOR="sed -i s/5/6/", VISUAL="")
    s.line("gen poisson2d 5 as grid")
    s.wait("grid [cpu]> ")
    s.line("edit")
    s.wait("gen poisson2d 6 as grid")
    s.keys("\x15")
    s.line("edit nowhere/k.cu")
    s.wait("ended with status")
    folder = own_folder()
    open(f"{folder}/k.cu", "w").close()
    s.line(f"edit {folder}/k.cu")
    s.wait(f"try {folder}/k.cu")
    s.keys("\x03")
    quits(s)
    s = prompt(VISUAL="no-such-editor -x", EDITOR="true")
    s.line("version")
    s.wait("built with")
    s.line("edit")
    s.wait("cannot run `no-such-editor`: No such file or directory")
    quits(s)
    done = subprocess.run([PROGRAM, "-c", "edit"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "needs a terminal" in done.stderr


def test_the_prompt_has_the_fields_of_its_template():
    s = prompt()
    s.line('set prompt "{matrix} on {device} after {time}>"')
    s.wait("warpspy on cpu after ")
    s.line("gen poisson2d 5 as grid")
    s.wait("grid on cpu after ")
    assert re.search(r"grid on cpu after [0-9.]+ (us|ms)>", s.words()), s.text()
    s.line("set prompt default")
    s.wait("grid [cpu]> ")
    quits(s)


def test_history_lists_typed_lines():
    s = prompt()
    s.line("gen poisson2d 5 as grid")
    s.line("version")
    s.line("history poisson")
    s.wait("1  gen poisson2d 5 as grid")
    s.line("alias hh = history; hh ver")
    s.wait("2  version")
    home = s.home
    quits(s)
    s = at_prompt("--device cpu", home=home)
    s.line("history grid")
    s.wait("1  gen poisson2d 5 as grid")
    quits(s)


# ---- in tmux ----

class Tmux:
    """The program in a server of tmux of its own."""

    def __init__(self, width=80, height=24):
        self.folder = own_folder()
        self.socket = os.path.join(self.folder, "tmux")
        env = {"XDG_CONFIG_HOME": self.folder, "XDG_STATE_HOME": self.folder, "LC_ALL": "C.UTF-8", "HOME": self.folder}
        words = " ".join(f"{name}={value}" for name, value in env.items())
        self("new-session", "-d", "-x", str(width), "-y", str(height), f"env {words} {PROGRAM} --device cpu; sleep 99")
        self("set", "-g", "set-clipboard", "on")
        self("set", "-g", "focus-events", "on")

    def __call__(self, *words):
        done = subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, *words], capture_output=True, text=True)
        return done.stdout

    def wait(self, text):
        end = time.time() + 20
        while text.rstrip() not in self("capture-pane", "-p"):
            assert time.time() < end, f"never on screen: {text}\n{self('capture-pane', '-p')}"
            time.sleep(0.05)

    def gone(self, text):
        end = time.time() + 20
        while text in self("capture-pane", "-p"):
            assert time.time() < end, f"still on screen: {text}"
            time.sleep(0.05)

    def line(self, text):
        self("send-keys", "-l", text)
        self("send-keys", "Enter")

    def close(self):
        self("kill-server")


def in_tmux(test):
    if not shutil.which("tmux"):
        print("skip: tmux is missing")
        return
    for width, height in ((80, 24), (200, 60)):
        t = Tmux(width, height)
        try:
            t.wait("[cpu]> ")
            test(t, width)
        finally:
            t.close()


def test_tmux_has_the_title_and_the_clipboard():
    def check(t, width):
        t.line("gen poisson2d 5 as grid; set clipboard on")
        t.wait("grid [cpu]> ")
        assert t("display", "-p", "#{pane_title}").strip() == "warpspy - grid"
        t.line("version")
        t.wait("built with CUDA")
        t.line("copy")
        t.wait("of output")
        assert t("show-buffer").startswith("warpspy"), t("show-buffer")
        t.line("quit")
        end = time.time() + 10
        while t("display", "-p", "#{pane_title}").startswith("warpspy") and time.time() < end:
            time.sleep(0.05)
        assert not t("display", "-p", "#{pane_title}").startswith("warpspy")
    in_tmux(check)


def test_tmux_shows_the_palette():
    def check(t, width):
        t.line("gen poisson2d 5 as grid")
        t.wait("grid [cpu]> ")
        t("send-keys", "M-x")
        t.wait(" palette ")
        assert len(t("capture-pane", "-p").split("\n")[-2]) <= width
        t("send-keys", "roofl")
        t.wait("> roofl")
        t("send-keys", "Escape")
        t.gone(" palette ")
        t.line("view spy")
        t.wait("q leave")
        t("send-keys", "F1")
        t.wait(" palette ")
        t("send-keys", "Escape")
        t.gone(" palette ")
        t.wait("q leave")
    in_tmux(check)


if __name__ == "__main__":
    sys.exit(main(globals()))
