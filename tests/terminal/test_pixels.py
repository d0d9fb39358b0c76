"""Pictures of pixels: the terminal is asked what it can show, and the pictures that arrive are decoded and compared with
the picture that screendump writes. Terminals that never answer, or answer nonsense, show text, and no key is lost."""
import base64
import os
import re
import struct
import subprocess
import sys
import time
import zlib

from harness import PROGRAM, main
from terminal_kit import RIGHT, Session

CELL_W, CELL_H = 10, 20
GROUND = (0x10, 0x14, 0x18)
STRING = re.compile(rb"\x1b[_P][^\x1b]*\x1b\\")
QUESTION = re.compile(rb"\x1b\[c|\x1b\[16t|\x1b_G[^\x1b]*a=q[^\x1b]*\x1b\\")

SIXEL = {b"c": "\x1b[?62;4;22c", b"t": f"\x1b[6;{CELL_H};{CELL_W}t"}
KITTY = {b"c": "\x1b[?62;22c", b"t": SIXEL[b"t"], b"G": "\x1b_Gi=1;OK\x1b\\"}
PLAIN = {b"c": "\x1b[?1;2c"}
SILENT = {}


class Pixels(Session):
    """A terminal that answers questions, and keeps pictures apart from text."""

    def __init__(self, args, answers, **env):
        self.answers = answers
        self.asked = []
        self.rest = b""
        super().__init__(args, **env)

    def answer(self, question):
        kind = b"c" if question == b"\x1b[c" else b"t" if question.endswith(b"t") else b"G"
        self.asked.append(kind)
        if kind in self.answers:
            self.child.send(self.answers[kind])

    def pump(self, seconds=0.05):
        before = len(self.raw)
        feed, self.stream.feed = self.stream.feed, lambda data: None
        try:
            came = super().pump(seconds)
        finally:
            self.stream.feed = feed
        data = self.rest + self.raw[before:]
        for question in QUESTION.findall(data):
            self.answer(question)
        whole = STRING.sub(b"", QUESTION.sub(b"", data))
        start = min((at for at in (whole.find(b"\x1b_"), whole.find(b"\x1bP")) if at >= 0), default=len(whole))
        if whole.endswith(b"\x1b"):
            start = min(start, len(whole) - 1)
        self.rest = whole[start:]
        if start:
            feed(whole[:start])
        return came

    def pictures(self, mark=0):
        """The pictures since `mark` as (x, y, picture), where picture is a list of lines of RGB triples or None."""
        found, cursor, data, head = [], (0, 0), b"", {}
        tokens = rb"\x1b\[(\d+);(\d+)H|\x1b_G([^;\x1b]*);?([^\x1b]*)\x1b\\|\x1bP([^\x1b]*)\x1b\\"
        for m in re.finditer(tokens, self.raw[mark:]):
            if m.group(1):
                cursor = int(m.group(2)) - 1, int(m.group(1)) - 1
            elif m.group(5) is not None:
                found.append((*cursor, sixel(m.group(5))))
            else:
                keys = dict(part.split(b"=") for part in m.group(3).split(b",") if part)
                if keys.get(b"a") in (b"d", b"q"):
                    continue
                if keys.get(b"a") == b"T":
                    head, data = keys, b""
                data += m.group(4)
                if keys.get(b"m") == b"0":
                    found.append((*cursor, kitty(head, data)))
        return found


def kitty(head, data):
    w, h = int(head[b"s"]), int(head[b"v"])
    assert head[b"f"] == b"32" and head[b"o"] == b"z" and head[b"q"] == b"2", head
    assert (int(head[b"c"]) * CELL_W, int(head[b"r"]) * CELL_H) == (w, h), head
    rgba = zlib.decompress(base64.b64decode(data, validate=True))
    assert len(rgba) == 4 * w * h
    return [[tuple(rgba[4 * (y * w + x):][:3]) if rgba[4 * (y * w + x) + 3] else None for x in range(w)]
            for y in range(h)]


def sixel(text):
    """Decode sixels; every byte must be a part of the language."""
    head, body = text.split(b"q", 1)
    assert re.fullmatch(rb"[0-9;]*", head), head
    w, h = map(int, re.match(rb"\"1;1;(\d+);(\d+)", body).groups())
    picture = [[None] * w for _ in range(h)]
    colours, colour, x, y = {}, 0, 0, 0
    for m in re.finditer(rb"\"[0-9;]*|#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([?-~])|([$-])|(\s)|(.)", body):
        number, red, green, blue, count, repeated, one, move, _, wrong = m.groups()
        assert not wrong, wrong
        if number:
            colour = int(number)
            if red:
                colours[colour] = tuple(round(int(c) * 255 / 100) for c in (red, green, blue))
        elif move == b"$":
            x = 0
        elif move == b"-":
            x, y = 0, y + 6
        elif repeated or one:
            bits = (repeated or one)[0] - 63
            for x in range(x, x + int(count or 1)):
                for k in range(6):
                    if bits >> k & 1:
                        picture[y + k][x] = colours[colour]
            x += 1
    return picture


def png(path):
    """The lines of RGB triples of a PNG that cairo wrote."""
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + n]
        if kind == b"IHDR":
            w, h, depth, colour = struct.unpack(">IIBB", part[:10])
        if kind == b"IDAT":
            packed += part
        at += n + 12
    assert (depth, colour) == (8, 2), (depth, colour)
    raw, before, lines = zlib.decompress(packed), bytearray(3 * w), []
    for y in range(h):
        how, line = raw[y * (3 * w + 1)], bytearray(raw[y * (3 * w + 1) + 1:(y + 1) * (3 * w + 1)])
        for i in range(3 * w):
            a, b, c = line[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[how]) & 255
        before = line
        lines.append([tuple(line[3 * x:3 * x + 3]) for x in range(w)])
    return lines


def near(a, b):
    return all(abs(x - y) <= 3 for x, y in zip(a, b))


def same_as_dump(s, x0, y0, picture):
    """Does screendump show the picture at its cells? Cells with text are left out."""
    name = os.path.join(s.home, "dump.png")
    cells = list(s.screen.display)
    s.keys(f":screendump {name} force\r")
    s.wait(f"file  {name}")
    dump, drawn = png(name), 0
    for y, line in enumerate(picture):
        for x, colour in enumerate(line):
            if cells[y0 + y // CELL_H][x0 + x // CELL_W] != " ":
                continue
            drawn += colour is not None
            shown = dump[y0 * CELL_H + y][x0 * CELL_W + x]
            assert near(colour or GROUND, shown), (x, y, colour, shown)
    assert drawn > 100, drawn


def opened(answers, args="samples/1138_bus.mtx", **env):
    s = Pixels(args, answers, rows=24, cols=80, **env)
    s.wait("]> ")
    return s


def view(s, command="view spy"):
    s.line(command)
    s.wait("q leave")
    s.settle()


def leaves(s):
    s.keys("q")
    s.wait("]> ")
    s.line("quit")
    s.restored()
    s.close()


def shows_pictures(answers, start):
    s = opened(answers)
    view(s)
    s.wait_for(s.pictures, "a picture")
    x, y, picture = s.pictures()[-1]
    assert len(picture) % CELL_H == 0 and len(picture[0]) % CELL_W == 0
    same_as_dump(s, x, y, picture)
    mark = len(s.raw)
    s.keys(RIGHT)
    s.wait("columns")
    assert start not in s.raw[mark:], "the cursor moved: the picture was sent again"
    mark = len(s.raw)
    s.keys("+")
    assert s.raw[mark:].count(start) >= 1, "the picture was not sent after a zoom"
    mark = len(s.raw)
    s.keys("?")
    s.wait("any key to return")
    assert start not in s.raw[mark:]
    assert "columns" not in s.text()
    s.keys("x")
    mark = len(s.raw)
    s.keys(":set pixels off\r")
    assert start not in s.raw[mark:]
    assert any("\u2800" <= c <= "\u28ff" for c in s.text()), "text does not replace the picture"
    mark = len(s.raw)
    s.keys(":set pixels auto\r")
    assert start in s.raw[mark:]
    return s


def test_kitty():
    s = shows_pictures(KITTY, b"\x1b_Ga=T")
    mark = len(s.raw)
    leaves(s)
    assert b"\x1b_Ga=d" in s.raw[mark:], "pictures are left behind"


def test_sixel():
    leaves(shows_pictures(SIXEL, b"\x1bP"))


def test_plots_in_panes():
    s = Pixels("samples/1138_bus.mtx", KITTY, rows=50, cols=160)
    s.wait("]> ")
    s.line("solve cg on cpu")
    s.wait("]> ")
    view(s, "view all")
    places = {(x > 75, y > 22): picture for x, y, picture in s.pictures()}
    assert {(False, False), (False, True), (True, True)} <= set(places), places.keys()
    x, y, picture = [p for p in s.pictures() if p[0] > 75 and p[1] > 22][-1]
    same_as_dump(s, x, y, picture)
    # A larger pane for the focus: other sizes, so pictures are deleted and sent again.
    mark = len(s.raw)
    s.keys(">")
    s.settle()
    assert b"a=d,d=I" in s.raw[mark:] and b"a=T" in s.raw[mark:]
    mark = len(s.raw)
    s.keys(":help\r")
    assert b"a=T" not in s.raw[mark:] and b"a=d" in s.raw[mark:], "a picture would cover the output"
    s.keys("q")
    s.screen.resize(40, 130)
    s.child.setwinsize(40, 130)
    s.settle()
    assert b"\x1b[16t" in s.raw[mark:]
    s.wait("[1 spy]")
    leaves(s)


def test_a_vt100_is_not_asked_for_kitty():
    s = opened(PLAIN)
    view(s)
    assert s.asked[:1] == [b"c"] and b"G" not in s.asked and not s.pictures()
    leaves(s)


def test_a_silent_terminal():
    """No answer ever comes: text is shown, keys work from the first one on, and leaving does not wait."""
    s = opened(SILENT)
    s.child.send("view spy\r" + RIGHT + RIGHT + RIGHT)
    s.wait("q leave")
    s.wait_for(lambda: re.search(r"columns [1-9]", s.text()), "the picture after the keys")
    assert not s.pictures() and s.asked == [b"c"]
    began = time.time()
    leaves(s)
    assert time.time() - began < 10


def test_nonsense():
    """Half answers, unknown answers and long ones, with keys before, between and after."""
    for nonsense in ("\x1b[?", "\x1b[?62;4", "\x1b[999;999;999x", "\x1b_Gi=1", "\x1b_" + "z" * 300, "\x1b[6;0;0t",
                     "\x1b[?c", "\x1b[?1;2;c", "\x1b[6;;t"):
        s = opened({b"c": nonsense})
        view(s)
        s.wait_for(lambda: s.asked, "a question")  # which this terminal answers when it sees it
        s.keys(RIGHT, RIGHT)
        s.wait_for(lambda: re.search(r"columns ([1-9]\d*)", s.text()), f"another column after {nonsense!r}")
        s.keys("3")
        s.wait("[3 layout]")
        assert not s.pictures()
        leaves(s)


def test_keys_between_answers():
    """Each answer comes with keys around it, while a pane is shown and while a command is typed."""
    s = opened({b"c": RIGHT + "\x1b[?62;4c" + RIGHT, b"t": RIGHT + SIXEL[b"t"] + RIGHT})
    view(s)
    s.wait_for(s.pictures, "a picture")  # the second answer is read after the first frame
    assert int(re.search(r"columns (\d+)", s.text()).group(1)) > 0, "a key was lost"
    leaves(s)
    s = opened({b"c": ":sta\x1b[?62;4c", b"t": SIXEL[b"t"] + "ts"})
    s.child.send("view spy\r")
    s.wait(":stats:sta")  # the second CSI c brings its keys, too
    s.wait_for(s.pictures, "a picture")
    assert "62;4" not in s.text(), s.text()
    s.keys("\x03")
    leaves(s)


def test_a_pipe_sees_no_escape():
    out = subprocess.run([PROGRAM, "-c", "gen poisson2d 9; set pixels kitty; keys '+' view spy; screendump; set pixels auto"],
                         capture_output=True, check=True).stdout
    assert b"\x1b" not in out and b"spy" in out


if __name__ == "__main__":
    sys.exit(main(globals()))
