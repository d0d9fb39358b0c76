"""A session: one `warpspy --serve`, its requests and replies, and matrices in and out."""
import html
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import weakref

from .errors import Cancelled, Crashed, Error, Note
from .program import find_program
from .records import Plot, Records, with_numbers

PROTOCOL = 1
PLAIN_WORD = re.compile(r"[A-Za-z0-9_+\-.,/:=@%^*]+")
END_WAIT = 2  # seconds that the program may take to end


def as_word(value):
    """A value as one word of a command line, in quotes if it needs them."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if "\n" in text or "\r" in text:
        raise ValueError("a word of a command cannot hold a line break")
    if PLAIN_WORD.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_line(command, words, pairs):
    """A command line: its words, then `key value` for each pair; True stands for a flag, None and False for nothing."""
    line = [command, *map(as_word, words)]
    for key, value in pairs.items():
        if value is None or value is False:
            continue
        line.append(key.rstrip("_"))
        if value is not True:
            line += map(as_word, value if isinstance(value, (list, tuple)) else [value])
    return " ".join(line)


def level_of_user():
    """The stacklevel, for the function that calls this one, of the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals["__name__"].startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    return level


def end_process(child, errors):
    """Let the program end by closing its input; kill it if it does not."""
    for stream in (child.stdin, child.stdout):
        try:
            stream.close()
        except OSError:  # what was buffered cannot be written any more
            pass
    try:
        child.wait(END_WAIT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    errors.close()


class Session:
    """A running warpspy. Every command is a method: spy.solve("cg", tol=1e-10) runs `solve cg tol 1e-10`."""

    def __init__(self, *files, device=None, program=None, progress=None, allow=("files", "shell")):
        """Start the program and load the files. progress(text, done, total) is called during long work.

        allow names what command lines may do: "files" lets them write any file that you may write, "shell" lets them run
        shell commands and includes files. Your Python code can do both anyway, so both are allowed by default. Pass
        allow=() if lines that you did not write reach run(): they may then write new files in the working folder only,
        none of them hidden, and plot() is refused, because it writes a temporary file.
        """
        self._lock = threading.RLock()
        self._program = program or find_program()
        self._options = ["--device", device] if device else []
        self._options += [word for permission in ([allow] if isinstance(allow, str) else allow) for word in ("--allow", permission)]
        self._ids = itertools.count(1)
        self._progress = progress
        self._running = None
        self._end_of_command = None  # the last reply to the running command
        self._child = None
        self._closed = False
        self._start()
        for file in files:
            self.load(file)

    # ---- the process ----

    def _start(self):
        errors = tempfile.TemporaryFile()
        self._child = subprocess.Popen([self._program, "--serve", *self._options], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=errors,
                                       start_new_session=True)  # Ctrl-C must not reach the program
        self._errors, self._unread = errors, bytearray()
        self._end = weakref.finalize(self, end_process, self._child, errors)
        ready = self._read("the start").get("ready", {})
        if ready.get("protocol") != PROTOCOL:
            self.close()
            raise Error(f"{self._program} speaks protocol {ready.get('protocol')}; this module needs {PROTOCOL}")
        self.version = ready["version"]
        self._numbers = frozenset(ready["numbers"])  # the keys of numbers that may be words

    def _last_words(self):
        """The last line that the program wrote to its standard error."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _crashed(self, line):
        """The exception for a program that has ended; the next command starts it again."""
        child = self._child
        try:
            status = child.wait(END_WAIT)
        except subprocess.TimeoutExpired:
            child.kill()
            status = child.wait()
        how = f"by signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"with status {status}"
        said = self._last_words()
        self._end()
        self._child = None
        return Crashed(f"warpspy ended {how} during {line}" + (f": {said}" if said else "") +
                       "; the next command starts a new session, without matrices", "crashed", line)

    def close(self):
        """End the program. No command can follow."""
        self._closed = True
        if self._child:
            self._end()
            self._child = None

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    # ---- requests ----

    def _send(self, **request):
        self._child.stdin.write(json.dumps(request).encode() + b"\n")
        self._child.stdin.flush()

    def _read(self, line):
        """The next reply. Ctrl-C may come at any time, so what was read of a reply stays in self._unread."""
        seen = 0
        while (end := self._unread.find(b"\n", seen)) < 0:
            seen = len(self._unread)
            more = os.read(self._child.stdout.fileno(), 1 << 16)
            if not more:
                raise self._crashed(line)
            self._unread += more
        reply = json.loads(bytes(self._unread[:end]))
        if "end" in reply and reply["id"] == self._running:
            self._end_of_command = reply
        del self._unread[:end + 1]
        return reply

    def cancel(self):
        """Cancel the running command; for other threads."""
        running = self._running
        if running is not None:
            self._send(id=-1, cancel=running)

    def _take(self, number, line, records, text):
        """Read one reply to a request, and keep it or show it."""
        reply = self._read(line)
        if reply["id"] != number:  # the end of a cancel request
            return
        if "record" in reply:
            records.append(with_numbers(reply["record"], self._numbers))
        elif "text" in reply:
            text.append(reply["text"])
        elif "note" in reply:
            warnings.warn(reply["note"], Note, stacklevel=level_of_user())
        elif "progress" in reply and self._progress:
            now = reply["progress"]
            self._progress(now["text"], now["done"], now["total"])

    def _take_all(self, number, line, records, text):
        """Take the replies to a request, and return its end. Ctrl-C, which may come at any time, cancels the command, as
        does an exception of the function that shows the progress; it is raised after the end of the command. A second
        Ctrl-C is raised at once."""
        interrupt = None
        while self._end_of_command is None:
            try:
                while self._end_of_command is None:  # in the try: between two replies, Ctrl-C may come as well
                    self._take(number, line, records, text)
            except (Crashed, json.JSONDecodeError):
                raise
            except BaseException as why:
                ctrl_c = isinstance(why, KeyboardInterrupt)
                if ctrl_c and isinstance(interrupt, KeyboardInterrupt):
                    raise
                if interrupt is None:
                    self.cancel()
                if interrupt is None or ctrl_c:
                    interrupt = why
        self._running = None
        if interrupt:
            raise interrupt
        return self._end_of_command["end"]

    def _request(self, line, form):
        """Run a command line; return its records and its lines of text."""
        if self._closed:
            raise Error("the session is closed", "usage", line)
        if "\n" in line or "\r" in line:
            raise ValueError("a command line cannot hold a line break; call run once per line")
        if self._child is None:
            self._start()
        records, text, number = Records(), [], next(self._ids)
        self._running, self._end_of_command = number, None
        try:
            self._send(id=number, run=line, **{"as": form})
        except BrokenPipeError:
            raise self._crashed(line) from None
        end = self._take_all(number, line, records, text)
        if end["ok"]:
            return records, text
        failed = Cancelled if end["kind"] == "cancelled" else Error
        where = f"{end['where']}: " if end["where"] else ""
        raise failed(where + end["error"], end["kind"], line, [r for r in records if r["ok"]])

    def run(self, line):
        """Run a command line; return the records that --json would print."""
        with self._lock:
            return self._request(line, "json")[0]

    def text(self, line):
        """Run a command line; return the text that it prints."""
        with self._lock:
            return "\n".join(self._request(line, "text")[1])

    def __getattr__(self, name):
        """A method for each command of the program."""
        if name.startswith("_"):
            raise AttributeError(name)

        def command(*words, **pairs):
            return self.run(as_line(name, words, pairs))
        command.__name__ = name
        command.__doc__ = f"Run the command `{name}`; spy.text('help {name}') explains it."
        return command

    # ---- matrices and vectors ----

    def load(self, what, name=None, b=None, **pairs):
        """Load a file, or a matrix of SciPy or numpy with an optional right side b; return the name of the matrix."""
        if isinstance(what, (str, os.PathLike)):
            return self.run(as_line("load", [what], {"as": name, **pairs}))[-1]["name"]
        with tempfile.TemporaryDirectory(prefix="warpspy-") as folder:
            file = os.path.join(folder, f"{name or 'matrix'}.npz")
            write_npz(file, what, b)
            return self.run(as_line("load", [file], {"as": name or "matrix", **pairs}))[-1]["name"]

    def matrix(self, name=None):
        """A matrix of the session, as a SciPy csr matrix."""
        import scipy.sparse
        with tempfile.TemporaryDirectory(prefix="warpspy-") as folder:
            file = os.path.join(folder, "matrix.npz")
            self.run(as_line("save", [file] + ([name] if name else []), {}))
            return scipy.sparse.load_npz(file).tocsr()

    def vector(self, what="x"):
        """x, b or r of the last solve, or y of the last spmv, as a numpy array."""
        import numpy
        with tempfile.TemporaryDirectory(prefix="warpspy-") as folder:
            file = os.path.join(folder, "vector.csv")
            self.run(f"print {what} > {as_word(file)}")
            table = numpy.genfromtxt(file, delimiter=",", names=True, usecols=("value", "imag"))
        return table["value"] + 1j * table["imag"] if table["imag"].any() else table["value"].copy()

    # ---- notebooks ----

    def plot(self, view, matrix=None, size=None, light=False):
        """A view as a picture; a notebook shows it."""
        with tempfile.TemporaryDirectory(prefix="warpspy-") as folder:
            file = os.path.join(folder, "plot.svg")
            words = [view, file] + ([matrix] if matrix else [])
            self.run(as_line("export", words, {"size": size, "light": light}))
            with open(file, encoding="utf-8") as picture:
                return Plot(picture.read())

    def _repr_html_(self):
        if self._closed:
            return "<p>a closed warpspy session</p>"
        return f"<p>warpspy {html.escape(self.version)}</p>" + self.run("list")._repr_html_()


def write_npz(file, matrix, b=None):
    """Write a matrix of SciPy or numpy in SciPy's format, uncompressed, with right sides if given."""
    import numpy
    more = {} if b is None else {"b": numpy.asarray(b)}
    if hasattr(matrix, "tocsr"):
        csr = matrix.tocsr()
        arrays = {"format": b"csr", "indptr": csr.indptr, "indices": csr.indices, "data": csr.data}
        shape = csr.shape
    else:
        dense = numpy.asarray(matrix)
        if dense.ndim != 2:
            raise TypeError("a matrix must have two dimensions, or a method tocsr() as SciPy's matrices have")
        row, col = numpy.nonzero(dense)
        arrays = {"format": b"coo", "row": row, "col": col, "data": dense[row, col]}
        shape = dense.shape
    numpy.savez(file, shape=numpy.asarray(shape), **arrays, **more)
