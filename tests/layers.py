#!/usr/bin/env python3
"""layers.py BUILD...: check that every room uses only itself and the rooms before it.

A room is a folder of sources. The check is made twice: by the #include lines, and by the undefined symbols of the
objects in the BUILD folders (`nm`), because a prototype can reach upwards without an #include. Two exceptions, by design:
- src/machine declares what gpu/ implements, so a room that may use src/machine may link to gpu/.
- a registry's table (a file that includes a .def list) names every entry of its list.

No files of one room may use each other in a circle. src/README.md shows which room uses which; --graph writes it anew.
"""
import collections
import pathlib
import re
import subprocess
import sys

# Each room, and the rooms that it may use besides itself.
SRC = ["base", "matrix", "parts", "formats", "machine", "files", "solvers", "ranks", "petsc", "direct", "eigen", "lu",
       "card", "microscope", "report", "session", "advice", "language", "lab", "lessons",
       "commands"]
BESIDE = {("lessons", "commands")}  # rooms that must not use each other
SCREEN_OR_GPU = re.compile(r"(n?curses|ncursesw|readline|term|cuda|cusparse|cublas|cusolver)")
GRAPH = pathlib.Path("src/README.md")


def room_of(path):
    """The room of a source file: "src/base", "gpu", "ui", or "main" for src/main.c."""
    parts = path.parts
    if path.name == "main.c":
        return "main"
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def allowed(user, used):
    """May a file of room `user` use one of room `used`?"""
    if user == used or user == "main":
        return True
    if user == "ui":
        return used != "main"
    if user == "gpu":
        return used.startswith("src/") and SRC.index(used[4:]) <= SRC.index("machine")
    if not used.startswith("src/"):
        return False
    here, there = SRC.index(user[4:]), SRC.index(used[4:])
    return there < here and (SRC[there], SRC[here]) not in BESIDE


def find_header(source, name):
    for folder in (source.parent, pathlib.Path("src"), pathlib.Path(".")):
        if (folder / name).exists():
            return pathlib.Path(*(folder / name).resolve().relative_to(pathlib.Path.cwd()).parts)
    return None


def check_includes(files):
    """The #include lines that name a room out of order, or a header of the screen or GPU outside ui/ and gpu/."""
    for source in files:
        room = room_of(source)
        for number, line in enumerate(source.read_text().splitlines(), 1):
            m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not m:
                continue
            where = f"{source}:{number}"
            if m[1] == "<":
                if room.startswith("src/") and SCREEN_OR_GPU.match(m[2]):
                    yield f"{where}: {room} includes <{m[2]}>"
                if room == "gpu" and re.match(r"n?curses|readline|term", m[2]):
                    yield f"{where}: gpu includes <{m[2]}>"
                continue
            if m[2].endswith(".def"):  # the table of a registry
                continue
            header = find_header(source, m[2])
            if header and not allowed(room, room_of(header)):
                yield f"{where}: {room} includes {header} of {room_of(header)}"


def source_of(below):
    """The source of an object by its path below a build, or None."""
    top = below.parts[0]
    if top in ("emu", "cuda") and len(below.parts) > 1:  # gpu/kernels/k_x.cu, built twice
        sources = [pathlib.Path("gpu", *below.parts[1:]).with_suffix(".cu")]
    elif top in ("src", "gpu", "ui"):
        sources = [below.with_suffix(".c"), below.with_suffix(".cc")]
    else:
        return None
    return next((p for p in sources if p.exists()), None)


def symbols(builds):
    """For each object: its source, the symbols it defines, and its undefined symbols."""
    out = {}
    for build, obj in ((b, o) for b in builds for o in sorted(b.rglob("*.o"))):
        source = source_of(obj.relative_to(build))
        if source:
            out[str(obj)] = (source, set(), set())
    # One process for all objects; each line is "OBJECT: NAME KIND ...", and -g leaves out static names.
    text = subprocess.run(["nm", "-gPA", *out], capture_output=True, text=True, check=True).stdout if out else ""
    for line in text.splitlines():
        obj, words = line.split(": ", 1)
        name, kind = words.split()[:2]
        _, defined, undefined = out[obj]
        if kind in "Uwv":
            undefined.add(name)
        elif kind.isupper():
            defined.add(name)
    return list(out.values())


def check_symbols(objects):
    """The symbols used across rooms out of order, and which files of a room use each other."""
    home = {}
    for source, defined, _ in objects:
        for name in defined:
            home.setdefault(name, source)
    machine = " ".join(p.read_text() for p in pathlib.Path("src/machine").glob("*.h"))
    declared = set(re.findall(r"\b[A-Za-z_]\w*", machine))
    # #define PASSES(id) ... passes_##id; before a list declares one name for each entry.
    for macro, prefix, entries in re.findall(r'#define (\w+)\(id\) .*\b(\w+_)##id;\n#include "(\w+\.def)"', machine):
        names = re.findall(rf"^{macro}\((\w+)\)", pathlib.Path("src/machine", entries).read_text(), re.M)
        declared |= {prefix + name for name in names}
    wrong, uses = [], collections.defaultdict(set)
    for source, _, undefined in objects:
        table = re.search(r'#include "[^"]*\.def"', source.read_text())
        for name in sorted(undefined & home.keys()):
            there = home[name]
            if room_of(there) == room_of(source) and there.parent == source.parent and there != source:
                if not table:
                    uses[source].add(there)
            if table or allowed(room_of(source), room_of(there)):
                continue
            if room_of(there) == "gpu" and name in declared and allowed(room_of(source), "src/machine"):
                continue
            wrong.append(f"{source}: uses {name} from {there} of {room_of(there)}")
    return wrong, uses


def cycles(uses):
    """Cycles: groups of files of one room that all use each other (strongly connected components, by Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(uses.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = []
            while not group or group[-1] != v:
                group.append(stack.pop())
            found.append(sorted(group))

    sys.setrecursionlimit(10000)
    for v in sorted(uses):
        if v not in index:
            visit(v)
    return [g for g in found if len(g) > 1]


def graph(files, objects):
    """A line per room: the rooms that it uses, by #include or by symbol."""
    home = {name: room_of(source) for source, defined, _ in objects for name in defined}
    uses = collections.defaultdict(set)
    for source in files:
        names = re.findall(r'#\s*include\s*"([^"]+)"', source.read_text())
        headers = [find_header(source, name) for name in names if not name.endswith(".def")]
        uses[room_of(source)] |= {room_of(h) for h in headers if h}
    for source, _, undefined in objects:
        if not re.search(r'#include "[^"]*\.def"', source.read_text()):
            uses[room_of(source)] |= {home[name] for name in undefined & home.keys()}
    rooms = [f"src/{name}" for name in SRC] + ["gpu", "ui"]
    wide = max(len(short(room)) for room in rooms)
    return "".join(f"    {short(room):{wide}}  {' '.join(short(u) for u in rooms if u in uses[room] - {room})}".rstrip() + "\n"
                   for room in rooms)


def short(room):
    return room.removeprefix("src/")


def check_graph(new, write):
    """Is the graph in src/README.md, its only indented lines, that of the sources?"""
    text = GRAPH.read_text()
    old = "".join(re.findall(r"^    .*\n", text, re.M))
    if old == new:
        return []
    if write:
        GRAPH.write_text(text.replace(old, new))
        return []
    return [f"{GRAPH} shows another graph: `tests/layers.py --graph BUILD` writes it"]


def main():
    builds = [pathlib.Path(b) for b in sys.argv[1:] if b != "--graph"] or [pathlib.Path("build")]
    files = [p for top in ("src", "gpu", "ui") for p in sorted(pathlib.Path(top).rglob("*")) if
             p.suffix in (".c", ".cc", ".cu", ".h")]
    wrong = list(check_includes(files))
    objects = symbols(builds)
    if not objects:
        sys.exit(f"layers: no objects in {' '.join(map(str, builds))}: run make first")
    by_symbol, uses = check_symbols(objects)
    wrong += by_symbol
    wrong += [f"a cycle of {len(g)} files: " + " ".join(map(str, g)) for g in cycles(uses)]
    wrong += check_graph(graph(files, objects), "--graph" in sys.argv)
    for line in wrong:
        print(line)
    print(f"layers: {len(files)} files by #include, {len(objects)} objects by symbol: {len(wrong)} out of order")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
