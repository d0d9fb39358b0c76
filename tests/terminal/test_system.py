"""warpspy and its environment: kinds of terminals, readline's inputrc, saved options, output that cannot be written, the
end of input, the manual page, completions, and the files of `make install`."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from harness import PROGRAM, main
from terminal_kit import RIGHT, WAIT, Session, at_prompt, is_over, pexpect, quits

HOME = tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))
ENV = dict(os.environ, HOME=HOME, XDG_CONFIG_HOME=HOME + "/config", XDG_STATE_HOME=HOME + "/state", LC_ALL="C.UTF-8")


def run(*args, **more):
    settings = dict(capture_output=True, text=True, env=ENV, timeout=60)
    settings.update(more)
    return subprocess.run([PROGRAM, *args], **settings)


def config(text):
    os.makedirs(HOME + "/config/warpspy", exist_ok=True)
    with open(HOME + "/config/warpspy/config", "w") as f:
        f.write(text)


# ---- terminals ----

BASIC, CUBE, ALL = rb"\x1b\[([017];)*(3[1-7]|9[0-7])m", rb"38;5;", rb"38;2;"
BRIGHT = rb"\x1b\[([017];)*9[0-7]m"
EVERY = {"basic": BASIC, "bright": BRIGHT, "cube": CUBE, "all": ALL}


def colours_seen(raw):
    return {name for name, pattern in EVERY.items() if re.search(pattern, raw)}


# Whether each terminal gets these colours, an alternate screen, mouse reports, and characters beyond ASCII.
TERMINALS = {
    "xterm": ({"basic", "bright"}, True, True, True),
    "xterm-256color": ({"cube"}, True, True, True),
    "screen": ({"basic", "bright"}, True, True, True),
    "screen-256color": ({"cube"}, True, True, True),
    "tmux": ({"basic", "bright"}, True, True, True),
    "tmux-256color": ({"cube"}, True, True, True),
    "linux": ({"basic"}, False, True, False),
    "vt100": (set(), False, False, False),
}


def drive(term, **env):
    """Print text, open a view, move in it, leave it, and run another command."""
    s = at_prompt("samples/thesis4.mtx", TERM=term, **env)
    s.mark = len(s.raw)
    s.line("gen band 400 6 1 as band; spy")
    s.wait("band [")
    s.line("use thesis4; view spy")
    s.wait("row 0, column 0: 1")
    s.keys(RIGHT if term in ("linux", "xterm") else "\x1bOC")
    s.wait("row 0, column 1: 7")
    s.keys("q")
    s.line("version")
    s.wait("built with CUDA")
    raw = s.raw[s.mark:]
    quits(s)
    return raw


def test_each_terminal_gets_only_what_it_supports():
    for term, (colours, alternate, mouse, letters) in TERMINALS.items():
        raw = drive(term, COLORTERM="")
        assert colours_seen(raw) == colours, (term, colours_seen(raw))
        assert (b"\x1b[?1049h" in raw) == alternate, term
        assert bool(re.search(rb"\x1b\[\?(1006;)?1000h", raw)) == mouse, term
        assert any(c >= 0x80 for c in raw) == letters, term
        if term == "vt100":
            assert not re.search(rb"\x1b\[\?(1006|2004|2026|25|12)", raw), raw


def test_colorterm_and_no_color():
    for term, env, colours in (("xterm-256color", {"COLORTERM": "truecolor"}, {"all"}),
                               ("xterm", {"COLORTERM": "24bit"}, {"all"}),
                               ("screen-256color", {"COLORTERM": "truecolor"}, {"cube"}),
                               ("xterm-256color", {"COLORTERM": "truecolor", "NO_COLOR": "1"}, set()),
                               ("xterm-256color", {"COLORTERM": "", "NO_COLOR": ""}, {"cube"})):
        seen = colours_seen(drive(term, **env))
        # Output at the prompt has direct colours; the full screen has them only if there is a terminfo entry for them.
        assert "all" in seen if "all" in colours else seen == colours, (term, env, seen)


def test_dumb_terminal_gets_no_escape():
    s = at_prompt("samples/thesis4.mtx", TERM="dumb")
    s.line("spy; view spy")
    s.wait("cannot position its cursor")
    s.line("version")
    s.wait("built with CUDA")
    raw = s.raw[s.mark:]
    assert b"\x1b" not in raw.replace(b"\x1b[H\x1b[J", b""), raw
    s.line("quit")
    s.wait("shell$ ")
    s.close()


def test_locale_without_utf8_has_ascii():
    raw = drive("xterm", COLORTERM="", LC_ALL="C")
    assert not any(c >= 0x80 for c in raw), raw


# ---- saved options ----

def test_options_of_the_file_are_used():
    home = tempfile.mkdtemp(dir=HOME)
    os.makedirs(home + "/warpspy")
    with open(home + "/warpspy/config", "w") as f:
        f.write("# mine\ncolours 16\nascii on\nmouse off\ndevice emu\n")
    raw = drive("xterm-256color", XDG_CONFIG_HOME=home, NO_COLOR="1")
    assert colours_seen(raw) == {"basic", "bright"}, colours_seen(raw)
    assert b"?1000h" not in raw and not any(c >= 0x80 for c in raw), raw
    s = at_prompt(XDG_CONFIG_HOME=home)
    s.wait("warpspy [emu]> ")
    s.line("set colours none")
    s.settle()
    mark = len(s.raw)
    s.line("gen poisson2d 9; spy")
    s.wait("poisson2d [")
    assert not colours_seen(s.raw[mark:]), s.raw[mark:]
    quits(s)
    assert "colours none\n" in open(home + "/warpspy/config").read()
    s = at_prompt("--device cpu", XDG_CONFIG_HOME=home)
    s.wait("[cpu]> ")
    quits(s)


def test_colours_set_in_the_explorer_are_seen_at_once():
    home = tempfile.mkdtemp(dir=HOME)
    s = at_prompt("samples/thesis4.mtx", XDG_CONFIG_HOME=home)
    s.line("view spy")
    s.wait("q leave")
    s.keys(":", *"set colours none")
    mark = len(s.raw)
    s.keys("\r")
    s.settle()
    s.wait("row 0, column 0: 1")
    frames = s.raw[mark:].split(b"\x1b[?2026h")
    assert len(frames) > 1 and "thesis4" in s.text() and not colours_seen(frames[-1]), frames
    s.keys("q")
    s.settle()
    quits(s)


def test_plain_overrides_kept_options():
    home = tempfile.mkdtemp(dir=HOME)
    os.makedirs(home + "/warpspy")
    with open(home + "/warpspy/config", "w") as f:
        f.write("colours true\nascii off\n")
    s = at_prompt("--plain samples/thesis4.mtx", XDG_CONFIG_HOME=home)
    mark = len(s.raw)
    s.line("spy")
    s.wait("3|")
    raw = s.raw[mark:]
    assert not colours_seen(raw) and not any(c >= 0x80 for c in raw), raw
    quits(s)


def test_a_broken_file_is_one_warning_and_no_failure():
    config("colours 16\n\ncolurs 3\nascii perhaps\n")
    try:
        r = run("-c", "version")
        assert r.returncode == 0 and r.stdout.startswith("warpspy"), r
        assert r.stderr.count("\n") == 1 and "/warpspy/config:3: " in r.stderr and "1 more line" in r.stderr, r.stderr
        config("precision f32\n")
        r = run("-c", "gen poisson2d 5; formats")
        assert "fp32" in r.stdout and not r.stderr, r
    finally:
        os.remove(HOME + "/config/warpspy/config")


def test_start_is_quick():
    """Start with a file that sets all options; take the best of many runs, because the machine may be busy.
    Sanitizers start slowly; bench_screen measures the start."""
    config("device cpu\nprecision f32\ncolours 16\nascii on\nmouse off\n")
    best = min(timed(run, "-c", "quit") for _ in range(20))
    os.remove(HOME + "/config/warpspy/config")
    print(f"started and ended in {1000 * best:.1f} ms")
    assert best < (0.5 if "ASAN_OPTIONS" in os.environ else 0.05), best


def timed(f, *args, **more):
    begin = time.time()
    f(*args, **more)
    return time.time() - begin


# ---- readline ----

def test_inputrc_conditions_apply():
    path = os.path.join(HOME, "inputrc")
    with open(path, "w") as f:
        f.write('$if warpspy\n"\\C-t": "version\\n"\n$else\n"\\C-t": "quit\\n"\n$endif\nset bell-style none\n')
    s = at_prompt(INPUTRC=path)
    s.keys("\x14")
    s.wait("built with CUDA")
    quits(s)


def test_history_is_in_the_state_directory():
    home = tempfile.mkdtemp(dir=HOME)
    s = at_prompt(home=home, XDG_STATE_HOME="")
    s.line("gen poisson2d 6 as sixth")
    s.wait("sixth [")
    quits(s)
    assert "sixth" in open(home + "/.local/state/warpspy/history").read()
    assert os.stat(home + "/.local/state/warpspy/history").st_mode & 0o077 == 0
    s = at_prompt(home=home, XDG_STATE_HOME=home + "/own")
    s.line("version")
    s.wait("built with CUDA")
    quits(s)
    assert "version" in open(home + "/own/warpspy/history").read()


# ---- output that cannot be written ----

WRITERS = (["--version"], ["--help"], ["--man"], ["--completion", "bash"], ["--completion", "zsh"],
           *[["-c", c, "samples/thesis4.mtx"] for c in ("version", "list", "help", "spy", "rows", "layout csr", "stats", "set",
                                                        "spmv on cpu reps 1", "source /dev/stdin", "undo")],
           ["--json", "-c", "list"], ["--csv", "-c", "formats", "samples/thesis4.mtx"], ["samples/thesis4.mtx"])


def fails_once(args, r):
    assert r.returncode == 1, (args, r.returncode)
    assert r.stderr.count("\n") == 1, (args, r.stderr)
    assert "write" in r.stderr, (args, r.stderr)


def test_full_output_is_an_error():
    for args in WRITERS:
        with open("/dev/full", "w") as full:
            fails_once(args, run(*args, stdout=full, capture_output=False, stderr=subprocess.PIPE, input="version\nlist\n"))


def test_closed_output_is_an_error():
    for args in WRITERS:
        fails_once(args, run(*args, preexec_fn=lambda: os.close(1), stdout=None, capture_output=False,
                             stderr=subprocess.PIPE, input="version\nlist\n"))


def test_a_closed_pipe_ends_the_program():
    p = subprocess.Popen([PROGRAM, "-c", "gen poisson2d 60; layout csr; help", "-c", "help"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=ENV)
    p.stdout.close()
    p.stderr.read()
    assert p.wait(20) != 0, p.returncode


# ---- the end of input ----

def test_end_of_input_in_a_pipe():
    best = []
    for _ in range(5):
        p = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        p.stdin.write(b"version\n")
        p.stdin.flush()
        p.stdout.read(1)
        begin = time.time()
        p.stdin.close()
        assert p.wait(20) == 0
        best.append(time.time() - begin)
        p.stdout.close(), p.stderr.close()
    print(f"ended {1000 * min(best):.1f} ms after the pipe")
    assert min(best) < 0.1, best


def test_closed_input_ends():
    r = run("samples/thesis4.mtx", preexec_fn=lambda: os.close(0))
    assert r.returncode in (0, 1) and r.stdout.startswith("thesis4"), r


def quickest(f, enough):
    """The least of up to ten results of f, which a busy machine makes longer; ends at the first below `enough`."""
    best = f()
    for _ in range(9):
        best = best if best < enough else min(best, f())
    return best


def test_end_of_input_at_the_prompt():
    def took():
        s = at_prompt()
        s.child.delaybeforesend = None
        begin, mark = time.time(), len(s.raw)
        s.child.send("\x04")
        s.wait_for(lambda: b"shell$ " in s.raw[mark:], "shell$")
        end = time.time()
        s.close()
        return end - begin
    best = quickest(took, 0.15)
    print(f"back in the shell {1000 * best:.0f} ms after Ctrl-D")
    assert best < 0.15, best  # terminal_kit polls every 50 ms


def hangs_up(keys):
    """The terminal disappears, and no shell sends SIGHUP; the program ends by itself. Returns the seconds it takes."""
    s = at_prompt("samples/thesis4.mtx")
    if keys:
        s.line(keys)
        s.wait("q leave")
    pid = s.pid()
    begin = time.time()
    os.close(s.child.fileno())
    while not is_over(pid):
        assert time.time() - begin < WAIT, "still there after its terminal went"
        time.sleep(0.005)
    return time.time() - begin


def ends_soon(keys):
    best = quickest(lambda: hangs_up(keys), 0.5)
    print(f"ended {1000 * best:.0f} ms after its terminal")
    assert best < 0.5, best


def test_hangup_at_the_prompt():
    ends_soon("")


def test_hangup_in_a_view():
    ends_soon("view spy")


# ---- the manual page, completions, make install ----

def listed():
    rows = [json.loads(line) for line in run("--json", "-c", "help").stdout.splitlines()]
    return [row["name"] for row in rows if "grammar" in row]


def test_manual_page():
    page = run("--man").stdout
    names = listed()
    assert len(names) > 40 and "undo" in names, names
    for name in names + ["--device", "--completion", "NO_COLOR", "INPUTRC", "colours"]:
        assert "\n\\fB" + name.replace("-", "\\-") + "\\fR" in page, name
    assert not re.search(r"^'", page, re.M)
    if shutil.which("groff"):
        r = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=page, capture_output=True, text=True)
        assert r.returncode == 0 and not r.stderr, r.stderr
    else:
        print("skip groff: not here")
    if shutil.which("mandoc"):
        r = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=page, capture_output=True, text=True)
        assert r.returncode == 0, r.stdout


def bash_offers(script, *words):
    line = " ".join(words)
    code = (f"source {script}; COMP_WORDS=({line!s} ); COMP_WORDS[{len(words) - 1}]='{words[-1]}'; COMP_CWORD={len(words) - 1}; "
            "_warpspy; printf '%s\\n' \"${COMPREPLY[@]}\"")
    r = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert not r.stderr, r.stderr
    return r.stdout.split("\n")[:-1]


def test_bash_completion():
    path = HOME + "/complete.bash"
    with open(path, "w") as f:
        f.write(run("--completion", "bash").stdout)
    assert bash_offers(path, "warpspy", "--pl") == ["--plain"]
    assert bash_offers(path, "warpspy", "-c", "undo") == ["undo"]
    assert "samples/thesis4.mtx" in bash_offers(path, "warpspy", "-v", "samples/th")
    assert bash_offers(path, "warpspy", "-v", "lay") == ["layout"]
    assert bash_offers(path, "warpspy", "--device", "e") == ["emu"]
    assert bash_offers(path, "warpspy", "samples/thesis") == ["samples/thesis4.mtx"]
    os.makedirs(HOME + "/a b", exist_ok=True)
    assert bash_offers(path, "warpspy", HOME + "/a") == [HOME + "/a b"]
    for flag in re.findall(r"^  (-\S+)", run("--help").stdout, re.M):
        assert flag in bash_offers(path, "warpspy", "-"), flag


def test_zsh_completion():
    text = run("--completion", "zsh").stdout
    assert text.startswith("#compdef warpspy\n")
    for flag in re.findall(r"^  (-\S+)", run("--help").stdout, re.M):
        assert re.search(r"^    '\*?" + flag + r"[+=]?\[", text, re.M), flag
    if not shutil.which("zsh"):
        print("skip zsh: not here")
        return
    folder = tempfile.mkdtemp(dir=HOME)
    with open(folder + "/_warpspy", "w") as f:
        f.write(text)
    os.symlink(PROGRAM, folder + "/warpspy")
    z = pexpect.spawn("zsh", ["-f", "-i"], env=dict(ENV, TERM="xterm", PATH=folder + ":" + ENV["PATH"]),
                               dimensions=(40, 120), timeout=20)
    z.sendline(f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '; unsetopt BEEP")
    z.expect_exact("ready> ")
    z.send("warpspy --pl\t")
    z.expect_exact("ain")
    z.send("\x15warpspy -v lay\t")
    z.expect_exact("out")
    z.send("\x15warpspy samples/thes\t")
    z.expect_exact("is4.mtx")
    z.send("\x15warpspy --completion=z\t")
    z.expect_exact("sh")
    z.close(force=True)


def test_another_shell_has_no_completion():
    r = run("--completion", "fish")
    assert r.returncode == 2 and "bash or zsh" in r.stderr and not r.stdout, r


def test_install_and_uninstall():
    build = os.path.dirname(PROGRAM)
    folder = tempfile.mkdtemp(dir=HOME)
    make = ["make", "-s", "PREFIX=/usr", "DESTDIR=" + folder, "BUILD=" + build, "CUDA=0", "-o", "all"]
    subprocess.run([*make, "install"], check=True, capture_output=True)
    files = {os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names}
    for f in ("usr/bin/warpspy", "usr/share/man/man1/warpspy.1", "usr/share/bash-completion/completions/warpspy",
              "usr/share/zsh/site-functions/_warpspy", "usr/share/warpspy/samples/thesis4.mtx",
              "usr/share/warpspy/samples/lessons/drm.txt"):
        assert f in files, f
    r = subprocess.run([folder + "/usr/bin/warpspy", "-c", "stats", folder + "/usr/share/warpspy/samples/thesis4.mtx"],
                       capture_output=True, text=True, env=ENV)
    assert r.returncode == 0 and not r.stderr, r
    help_of = [folder + "/usr/bin/warpspy", "-c", "set gpu t4; help csr-vector; gen poisson2d 4; predict csr-vector"]
    r = subprocess.run(help_of, capture_output=True, text=True, env=ENV, cwd=folder)
    assert r.returncode == 0 and "Compiled for sm_75" in r.stdout, r
    os.remove(folder + "/usr/share/warpspy/samples/compiled.txt")
    r = subprocess.run(help_of, capture_output=True, text=True, env=ENV, cwd=folder)
    assert r.returncode == 0 and "Compiled for" not in r.stdout and "registers not known" in r.stdout, r
    assert "table of compiled functions, samples/compiled.txt, is not installed" in r.stdout, r
    r = subprocess.run([folder + "/usr/bin/warpspy", "-c", "gen poisson2d 4; try " + os.path.abspath("tests/files/try/right.cu")],
                       capture_output=True, text=True, env=ENV, cwd=folder)
    assert r.returncode == 0 and "right, within" in r.stdout, r  # compiled with the installed headers
    subprocess.run([*make, "uninstall"], check=True, capture_output=True)
    left = [os.path.join(d, f) for d, _, names in os.walk(folder) for f in names]
    assert not left, left


def installed(folder):
    """The package of `make deb`, and its files in a folder; the program there finds its lessons beside itself."""
    build = os.path.dirname(PROGRAM)
    done = subprocess.run(["make", "-s", "DEB_FOLDER=" + folder, "BUILD=" + build, "CUDA=0", "-o", "all", "deb"],
                          check=True, capture_output=True, text=True, env=dict(ENV, DPKG_DEB_COMPRESSOR_TYPE="none"))
    package = done.stdout.strip().splitlines()[-1]
    root = os.path.join(folder, "root")
    subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    return package, root


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()


def owner(library):
    """The package that a library belongs to."""
    path = os.path.realpath(library)
    for name in (path, path.removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


def test_the_package_has_all_that_a_lesson_needs():
    """Installed into a folder, with another home and another working directory: from `lesson` to the hand-in file."""
    if not shutil.which("dpkg-deb"):
        print("skip make deb: there is no dpkg-deb")
        return
    folder = tempfile.mkdtemp(dir=HOME)
    package, root = installed(folder)
    assert field(package, "Version") and field(package, "Architecture") != "all"
    depends = {re.sub(r"[ (].*", "", d.strip()) for d in field(package, "Depends").split(",")}
    program = root + "/usr/bin/warpspy"
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", program], check=True,
                                                            capture_output=True, text=True).stdout)
    paths = dict(re.findall(r"(\S+) => (/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout))
    missing = [n for n in needed if n in paths and owner(paths[n]) not in depends | {None}]
    assert not missing and "libc6" in depends, (missing, depends)
    for f in ("man/man1/warpspy.1.gz", "doc/warpspy/copyright", "bash-completion/completions/warpspy",
              "zsh/vendor-completions/_warpspy", "warpspy/samples/1138_bus.mtx"):
        assert os.path.exists(f"{root}/usr/share/{f}"), f
    env = dict(os.environ, HOME=folder, LC_ALL="C.UTF-8", XDG_DATA_DIRS="/nowhere")
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        env.pop(name, None)
    r = subprocess.run([program, "--device", "cpu", "--json", "-c", "lesson; lesson looks"], cwd="/", env=env,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    rows = [json.loads(line) for line in r.stdout.splitlines()]
    files = {row["file"] for row in rows if row.get("kind") == "question"}
    assert r.returncode == 0 and sum(row.get("kind") == "lesson" for row in rows) >= 15, r
    assert files == {root + "/usr/share/warpspy/samples/lessons/looks.txt"}, files
    s = Session("--device cpu", program=f"cd {folder}; {program}", home=folder, XDG_DATA_DIRS="/nowhere",
                XDG_DATA_HOME="", XDG_STATE_HOME="")
    s.wait("warpspy [cpu]> ")
    s.line("lesson races")
    do_lesson(s, ["32", "3", "2", "5", "b"])
    s.line("Ada Lovelace")
    s.wait("File (Enter: races-ada-lovelace.txt)")
    s.line("")
    s.wait("4 right of 4, 1 of them on the second try")
    s.line("lesson")
    s.wait("races           4 right of 4")
    s.keys("q")  # the list has more lines than the screen
    quits(s)
    r = subprocess.run([program, "-c", "lesson --check races-ada-lovelace.txt"], cwd=folder, env=env,
                       capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and "Ada Lovelace" in r.stdout and "same as here" in r.stdout, r


def do_lesson(s, answers):
    """Turn the pages of a lesson and answer its questions, up to its end."""
    def last_line():
        return next((line for line in reversed(s.text().splitlines()) if line), "")
    while "Your name" not in last_line():
        s.wait_for(lambda: re.search(r"(q: leave|answer>|guess>|try>|Your name.*>)$", last_line()))
        s.settle(0.3)
        if last_line().endswith("q: leave"):
            s.keys("\r")
        elif "Your name" not in last_line():
            s.keys(answers.pop(0), "\r")
    assert not answers, answers


if __name__ == "__main__":
    status = main(globals())
    shutil.rmtree(HOME, ignore_errors=True)
    sys.exit(status)
