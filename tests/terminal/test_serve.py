#!/usr/bin/env python3
"""Drive `warpspy --serve` as another program would: replies, cancelling, progress, bad input of any kind, and the end."""
import json
import os
import random
import signal
import socket
import stat
import subprocess
import tempfile
import time

from harness import PROGRAM, main

SLOW = "gen poisson3d 60; solve jacobi tol 1e-30 maxit 100000000"


class Server:
    """A running `warpspy --serve`, as a context manager that leaves no process behind."""

    def __init__(self, *arguments, cwd=None):
        self.child = subprocess.Popen([PROGRAM, "--serve", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, cwd=cwd)

    def __enter__(self):
        ready = self.read()
        assert ready["id"] is None and ready["ready"]["protocol"] == 1, ready
        return self

    def __exit__(self, *why):
        self.child.kill()
        self.child.wait()

    def send_bytes(self, line):
        self.child.stdin.write(line)
        self.child.stdin.flush()

    def send(self, **request):
        self.send_bytes(json.dumps(request).encode() + b"\n")

    def read(self):
        line = self.child.stdout.readline()
        assert line.endswith(b"\n"), f"the output ended with {line!r}"
        return json.loads(line)

    def answer(self):
        """The replies up to and including the next end."""
        replies = [self.read()]
        while "end" not in replies[-1]:
            replies.append(self.read())
        return replies

    def progress(self, part=""):
        """The next progress whose text holds `part`. The request that is running says it, so it has begun."""
        while True:
            reply = self.read()
            assert "end" not in reply, reply
            if "progress" in reply and part in reply["progress"]["text"]:
                return reply["progress"]

    def run(self, line, **more):
        self.send(id=1, run=line, **more)
        replies = self.answer()
        assert all(reply["id"] == 1 for reply in replies), replies
        return replies


def run_all(text, *arguments):
    """All replies to an input that ends; the program must end by itself."""
    done = subprocess.run([PROGRAM, "--serve", *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=60)
    assert done.returncode == 0, done.returncode
    return [json.loads(line) for line in done.stdout.splitlines()]


def without_times(record):
    return {key: value for key, value in record.items() if not key.endswith(("_ms", "_us"))}


# ---- replies ----

def test_records_are_those_of_json():
    lines = "gen poisson2d 20; stats; layout csr slots 0:9; formats; nonsense"
    wanted = subprocess.run([PROGRAM, "--json", "-c", lines], stdout=subprocess.PIPE).stdout
    with Server() as server:
        replies = server.run(lines)
    records = [reply["record"] for reply in replies[:-1]]
    assert len(records) > 20
    assert [without_times(r) for r in records] == [without_times(json.loads(l)) for l in wanted.splitlines()]
    end = replies[-1]["end"]
    assert not end["ok"] and end["kind"] == "usage" and end["error"] == records[-1]["error"], end


def test_text_and_csv():
    with Server() as server:
        server.run("gen poisson2d 3")
        text = [reply["text"] for reply in server.run("stats", **{"as": "text"})[:-1]]
        assert "nonzeros                  33" in text, text
        csv = [reply["text"] for reply in server.run("list", **{"as": "csv"})[:-1]]
        assert len(csv) == 2 and csv[0].startswith("name,") and csv[1].startswith("poisson2d,"), csv
        assert "record" in server.run("list")[0]
    with Server("--allow", "shell") as server:
        quoted = [reply["text"] for reply in server.run("help words | cat", **{"as": "text"})[:-1] if "text" in reply]
        assert quoted == []  # the shell's output does not disturb the protocol


def test_requests_write_new_files_here_only():
    refused = [("list > .x", "hidden"), ("record .x", "hidden"), ("list > ../x", "outside"), ("save {0}/x.mtx", "outside"),
               ("list > there force", "exist"), ("list >> there", "exist"), ("save link.mtx force", "outside"),
               ("!true", "shell"), ("list | cat", "shell"), ("allow files", "cannot allow"), ("allow shell", "cannot allow")]
    with tempfile.TemporaryDirectory() as outside, tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/there", "w") as there:
            there.write("old")
        os.symlink(f"{outside}/x", f"{folder}/link.mtx")
        with Server(cwd=folder) as server:
            server.run("gen poisson2d 3")
            for line, why in refused:
                end = server.run(line.format(outside))[-1]["end"]
                assert not end["ok"] and why in end["error"], (line, end)
                assert "start the server with `--allow " in end["error"], end
            for line in ("list > new", "list >> new", "list > new force", "save a.mtx", "export rows rows.csv"):
                assert server.run(line)[-1]["end"]["ok"], line
        assert open(f"{folder}/there").read() == "old"
        assert os.listdir(outside) == [] and sorted(os.listdir(folder)) == ["a.mtx", "link.mtx", "new", "rows.csv", "there"]
        with Server("--allow", "files", cwd=folder) as server:
            for line in ("gen poisson2d 3", "list > there force", "list > .x", f"save {outside}/y.mtx", "save link.mtx force"):
                assert server.run(line)[-1]["end"]["ok"], line
            assert "shell" in server.run("!true")[-1]["end"]["error"]
        assert sorted(os.listdir(outside)) == ["x", "y.mtx"]
        with Server("--allow", "shell", cwd=folder) as server:
            assert server.run("!true")[-1]["end"]["ok"] and server.run("list > .y")[-1]["end"]["ok"]


def test_an_unknown_permission_is_refused():
    done = subprocess.run([PROGRAM, "--serve", "--allow", "all"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 2 and "--allow needs a permission: shell or files" in done.stderr, done


def test_ids_come_back():
    ids = ["a \"quoted\" \\ id", "ä€", 0, -7, 2**53]
    requests = b"".join(json.dumps({"id": i, "run": "version"}).encode() + b"\n" for i in ids)
    replies = run_all(requests)
    assert [reply["id"] for reply in replies if "end" in reply] == ids


def test_a_long_record_is_one_line():
    with Server() as server:
        server.run("gen poisson2d 300; convert csr")
        replies = server.run("layout csr")
    arrays = [reply["record"] for reply in replies[:-1]]
    assert max(len(array["values"]) for array in arrays) == 300 * 300 * 5 - 4 * 300


def test_notes_and_progress():
    with Server() as server:
        notes = [reply["note"] for reply in server.run("gen random 50; solve cg maxit 1") if "note" in reply]
        assert any("not symmetric" in note for note in notes), notes
        server.send(id=1, run=SLOW)
        assert set(server.progress("iteration")) == {"text", "what", "done", "total"}


def test_files_are_loaded_first():
    replies = run_all(b'{"id":1,"run":"list"}\n', "samples/thesis4.mtx")
    assert replies[1]["id"] is None and replies[1]["record"]["command"] == "load"
    assert replies[2]["id"] == 1 and replies[2]["record"]["nnz"] == 9


def test_the_seconds_of_a_request():
    with Server() as server:
        began = time.monotonic()
        seconds = server.run("gen poisson3d 30; stats")[-1]["end"]["seconds"]
        assert 0 < seconds <= time.monotonic() - began


# ---- cancelling ----

def test_cancel_the_running_request():
    with Server() as server:
        server.send(id=1, run=SLOW + "; version")
        server.progress("iteration")
        server.send(id=2, cancel=1)
        first, second = server.answer(), server.answer()
        assert first[-1]["id"] == 1 and first[-1]["end"]["kind"] == "cancelled", first[-1]
        assert not any(r.get("record", {}).get("command") == "version" for r in first)
        assert second == [{"id": 2, "end": second[-1]["end"]}] and second[-1]["end"]["ok"]
        assert server.run("list")[-1]["end"]["ok"]  # the session goes on


def test_cancel_a_waiting_request():
    with Server() as server:
        server.send(id=1, run=SLOW)
        server.send(id=2, run="version")
        server.send(id=3, cancel=2)
        server.progress("iteration")
        server.send(id=4, cancel=1)
        ends = [server.answer()[-1] for _ in range(4)]
        assert [e["id"] for e in ends] == [1, 2, 3, 4]
        assert [e["end"]["kind"] for e in ends] == ["cancelled", "cancelled", None, None]


def test_only_requests_that_run_lines_are_cancelled():
    with Server() as server:
        server.send(id=1, run=SLOW)
        server.progress("iteration")
        server.send(id=2, cancel=99)  # waits, and is answered after the first
        server.send(id=3, cancel=2)
        server.send(id=4, cancel=1)
        ends = [server.answer()[-1] for _ in range(4)]
        assert [e["id"] for e in ends] == [1, 2, 3, 4]
        assert [e["end"]["kind"] for e in ends] == ["cancelled", "usage", "usage", None], ends


def test_cancel_at_once_is_never_lost():
    """The cancel request comes before the first command, after the first records, or between the commands."""
    with Server() as server:
        for i in range(20):
            server.send(id=10 + i, run="version; " * 9 + SLOW)
            for _ in range(i // 2):
                server.read()
            server.send(id=99, cancel=10 + i)
            assert server.answer()[-1]["end"]["kind"] == "cancelled"
            server.answer()


# ---- bad input ----

BAD = [b"\n", b"{}\n", b"[]\n", b"null\n", b"1\n", b'"text"\n', b"{\n", b'{"id":1}\n', b'{"id":1,"run":7}\n',
       b'{"id":1.5,"run":"stats"}\n', b'{"id":1e300,"run":"stats"}\n', b'{"id":1,"run":"stats","as":"xml"}\n',
       b'{"id":1,"run":"stats","cancel":1}\n', b'{"id":1,"cancel":{}}\n', b'{"id":1,"run":"a\\u0000b"}\n',
       b'{"id":1,"run":"a\\nb"}\n', b'{"id":1,"run":"\xff\xfe"}\n', b"\x00\x01\n", b'{"id":1,"run":"stats","x":1}\n',
       b'{"id":"' + b"x" * 500 + b'","run":"stats"}\n', b"[" * 5000 + b"\n", b"x" * 300000 + b"\n",
       b'{"id":1,"run":"' + b"y" * 20000 + b'"}\n', b'{"id":1,"run":"version"} trailing\n' * 2]


def test_bad_lines_are_answered():
    with Server() as server:
        for line in BAD[1:-1]:
            server.send_bytes(line)
            replies = server.answer()
            assert len(replies) == 1 and not replies[0]["end"]["ok"] and replies[0]["end"]["error"], (line, replies)
        assert server.run("version")[-1]["end"]["ok"]


def test_lines_of_any_length_are_answered():
    limit = 6 * 16384 + 1024
    with Server() as server:
        for n in (limit - 1, limit, limit + 1, limit + 2, 1500000, 20000000):
            for newline in (b"\n", b"\r\n"):
                server.send_bytes(b"x" * n + newline)
                end = server.answer()[-1]["end"]
                assert not end["ok"], (n, end)
                assert n <= limit or "the request is too long" in end["error"], (n, end)
        assert server.run("version")[-1]["end"]["ok"]


def test_random_bytes():
    choose = random.Random(1)
    noise = b"".join(bytes(choose.randrange(256) for _ in range(choose.randrange(200))) + b"\n" for _ in range(500))
    whole = json.dumps({"id": 1, "run": "version"}).encode()
    for _ in range(500):
        damaged = bytearray(whole)
        damaged[choose.randrange(len(whole))] = choose.randrange(256)
        noise += bytes(damaged) + b"\n"
    replies = run_all(noise + b'{"id":"last","run":"version"}')
    assert replies[-1]["id"] == "last" and replies[-1]["end"]["ok"]
    assert sum("end" in reply for reply in replies) >= 900


def test_many_requests_at_once():
    n = 5000
    replies = run_all(b"".join(b'{"id":%d,"run":"version"}\n' % i for i in range(n)))
    assert [reply["id"] for reply in replies if "end" in reply] == list(range(n))


# ---- the end ----

def test_quit_answers_what_waits():
    replies = run_all(b'{"id":1,"run":"quit"}\n{"id":2,"run":"version"}\n')
    ends = {reply["id"]: reply["end"] for reply in replies if "end" in reply}
    assert ends[1]["ok"]
    assert 2 not in ends or not ends[2]["ok"]  # it may not have been read before the end


def test_ends_with_its_reader():
    with Server() as server:
        server.send(id=1, run=SLOW)
        server.progress("iteration")
        server.child.stdout.close()
        server.child.stdin.close()
        assert server.child.wait(10) in (1, -signal.SIGPIPE)


def test_ends_with_its_input():
    with Server() as server:
        server.send(id=1, run="version")
        server.child.stdin.close()
        server.answer()
        assert server.child.stdout.read() == b"" and server.child.wait(10) == 0


def test_wrong_usage():
    for options in (["--csv"], ["-c", "list"], ["--json"]):
        done = subprocess.run([PROGRAM, "--serve", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode == 2 and b"--serve goes with" in done.stderr, options


# ---- a Unix socket ----

class SocketServer(Server):
    """A running `warpspy --serve=unix:PATH`; connect() is a client."""

    def __init__(self, path, *arguments):
        self.path = path
        self.child = subprocess.Popen([PROGRAM, f"--serve=unix:{path}", "--device", "cpu", *arguments],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def connect(self):
        client, end = socket.socket(socket.AF_UNIX), time.time() + 20
        client.settimeout(60)
        while client.connect_ex(self.path) and time.time() < end:
            time.sleep(0.01)  # the server has not begun to listen
        self.client, self.stream = client, client.makefile("rb")
        ready = self.read()
        assert ready["id"] is None and ready["ready"]["protocol"] == 1, ready

    def send_bytes(self, line):
        self.client.sendall(line)

    def read(self):
        line = self.stream.readline()
        assert line.endswith(b"\n"), f"the output ended with {line!r}"
        return json.loads(line)

    def leave(self):
        self.stream.close()
        self.client.close()


def own_folder():
    return tempfile.mkdtemp(dir=os.environ.get("HOME", "/tmp"))


def test_a_session_survives_the_clients_of_its_socket():
    path = os.path.join(own_folder(), "socket")
    with SocketServer(path) as s:
        s.connect()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        s.run("gen poisson2d 5 as kept")
        s.leave()
        s.connect()
        assert s.run("list")[0]["record"]["name"] == "kept"
        s.client.shutdown(socket.SHUT_WR)  # the end of the input: all requests are answered
        assert s.stream.read() == b""
        s.leave()
        s.connect()
        s.send(id=7, run="quit")
        assert s.answer()[-1]["end"]["ok"]
        assert s.child.wait(20) == 0
        assert not os.path.exists(path)


def test_work_of_a_client_that_leaves_is_stopped():
    path = os.path.join(own_folder(), "socket")
    with SocketServer(path) as s:
        s.connect()
        s.send(id=1, run=SLOW)
        s.progress()
        s.leave()
        s.connect()
        assert s.run("version")[-1]["end"]["ok"]


def test_a_socket_in_use_is_refused_and_a_stale_one_is_replaced():
    path = os.path.join(own_folder(), "socket")
    with SocketServer(path) as s:
        s.connect()
        second = subprocess.run([PROGRAM, f"--serve=unix:{path}"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=20)
        assert second.returncode == 1 and "another program answers at this socket" in second.stderr, second
        assert second.stderr.count("\n") == 1
        s.child.kill()
        s.child.wait()
        assert os.path.exists(path)
    with SocketServer(path) as s:
        s.connect()
        s.child.send_signal(signal.SIGTERM)
        assert s.child.wait(20) == -signal.SIGTERM
        assert not os.path.exists(path)


def test_wrong_places_of_a_socket_are_one_line():
    folder = own_folder()
    shared = os.path.join(folder, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o777)
    file = os.path.join(folder, "file")
    open(file, "w").close()
    for where, status, why in ((f"unix:{shared}/socket", 1, "writable by you alone"),
                               (f"unix:{folder}/none/socket", 1, "writable by you alone"),
                               (f"unix:{file}", 1, "is no socket"), ("unix:", 1, "has 1 to 107 bytes"),
                               ("unix:" + "x" * 108, 1, "has 1 to 107 bytes"), ("tcp:80", 2, "--serve=unix:PATH")):
        done = subprocess.run([PROGRAM, f"--serve={where}"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=20)
        assert done.returncode == status and why in done.stderr and done.stderr.count("\n") == 1, (where, done)
    assert os.path.exists(file)


if __name__ == "__main__":
    raise SystemExit(main(globals()))
