#!/usr/bin/env python3
"""Check every line of --json against the schema of its command, which `help COMMAND schema` prints.

The program makes the schemas (JSON Schema 2020-12) from the tables of keys beside the code that prints them, see
src/report/fields.h. A new command or view needs a paragraph in tests/schemas.txt: the lines by which all its keys are seen.
The checks:

  - Each of these lines is run by `warpspy --json -c LINE` in the top folder ({tmp} is an empty folder). Every line that
    any command prints, and every JSON file left in {tmp}, must be valid. The command of the paragraph must succeed at
    least once and fail at least once. The numbers of every view are exported.
  - Objects are closed, all their keys are required (a missing value is null), and every key has a description.
  - Every key occurs with a value, and with null if it may be null. Exempt are keys with "x-on": "cuda" (or "terminal"),
    which occur only there, and null for keys with "x-null-on": "Ctrl-C" (or "no memory").
"""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

from harness import PROGRAM, TOP, main

LINES = os.path.join(TOP, "tests", "schemas.txt")
NO_COMMANDS = {"!", "warpspy"}  # "command" of shell lines, and of lines that cannot be parsed
SILENT = "use"  # a command that prints no rows of its own, only that it was done, or errors


# ---- schemas ----

def run(line, folder):
    if "lesson review" in line:  # of what somebody has answered before
        os.makedirs(f"{folder}/warpspy/lessons", exist_ok=True)
        shutil.copy(f"{TOP}/tests/files/handin.txt", f"{folder}/warpspy/lessons/looks")
    env = {**os.environ, "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([PROGRAM, "--json", "-c", line.replace("{tmp}", folder)], cwd=TOP, env=env, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"`{line}` ends with status {done.returncode}: {done.stderr}"
    return done.stdout.splitlines()


def without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), f"twice in one object: {sorted(key for key in keys if keys.count(key) > 1)}"
    return dict(pairs)


@functools.lru_cache(maxsize=None)
def commands():
    return sorted(json.loads(line)["name"] for line in run("help", "/nonexistent"))


@functools.lru_cache(maxsize=None)
def views():
    """The views; rows that `export` writes have the name of a view as their command."""
    with open(os.path.join(TOP, "ui", "views", "views.def"), encoding="ascii") as file:
        return re.findall(r"^VIEW\((\w+)\)", file.read(), re.M)


def names():
    return sorted({*commands(), *views()})


@functools.lru_cache(maxsize=None)
def schemas():
    """The schema of each command and view, as the program prints it."""
    rows = [json.loads(line) for line in run("; ".join(f"help {name} schema" for name in names()), "/nonexistent")]
    return {row["of"]: json.loads(row["schema"], object_pairs_hook=without_duplicates) for row in rows}


SAME = {}


def resolved(schema, name):
    """The schema with its parts instead of references to them. Equal schemas are one object: statistics add up."""
    parts = [resolved(schemas()[name]["$defs"][part["$ref"].split("/")[-1]], name) for part in schema.get("allOf", [])]
    whole = {**schema, "allOf": parts} if parts else schema
    return SAME.setdefault(json.dumps(whole), whole)


@functools.lru_cache(maxsize=None)
def kinds(command):
    """The kinds of lines that a command may print, as pairs of schema and validator."""
    name = SILENT if command in NO_COMMANDS else command
    branches = [resolved(branch, name) for branch in schemas()[name]["oneOf"]]
    return [(branch, jsonschema.Draft202012Validator(branch)) for branch in branches]


def objects(schema, path):
    """Every schema of an object, with its path."""
    if isinstance(schema, dict):
        if "properties" in schema or "allOf" in schema:
            yield path, schema
        for key, value in schema.items():
            yield from objects(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from objects(value, f"{path}/{i}")


# ---- lines ----

@functools.lru_cache(maxsize=None)
def paragraphs():
    """The lines of each command."""
    lines, name = {}, None
    with open(LINES, encoding="ascii") as file:
        for line in file:
            if line.startswith("    "):
                lines[name].append(line.strip())
            elif line.strip() and not line.startswith("#"):
                name = line.strip()
                assert name not in lines, f"two paragraphs of {name}"
                lines[name] = []
    return lines


class Checker:
    def __init__(self):
        self.seen = {}  # id of a property's schema -> the kinds of values seen (value, null)
        self.lines = 0
        self.outcomes = {}  # command -> the values of ok seen
        self.wrong = []

    def check(self, line, source):
        self.lines += 1
        row = json.loads(line)
        command = row["command"]
        self.outcomes.setdefault(command, set()).add(row["ok"])
        if command not in NO_COMMANDS and command not in schemas():
            self.wrong.append(f"`{source}`: {command} has no schema")
            return
        branches = kinds(command)
        fits = [branch for branch, validator in branches if validator.is_valid(row)]
        if len(fits) != 1:
            self.wrong.append(f"`{source}`: {len(fits)} kinds of {command} fit {line[:300]}\n    {self.why(branches, row)}")
        for branch in fits:
            self.mark(branch, row)

    @staticmethod
    def why(branches, row):
        """The validation errors of the closest kind of line."""
        lists = [list(validator.iter_errors(row)) for _, validator in branches]
        best = min(lists, key=lambda errors: (any("command" in e.path or "ok" in e.path or "kind" in e.path
                                                  for e in errors), len(errors)))
        return "; ".join(f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in best[:4])

    def mark(self, schema, value):
        for part in schema.get("allOf", []):
            self.mark(part, value)
        if isinstance(value, dict):
            for key, of in schema.get("properties", {}).items():
                if key in value:
                    self.seen.setdefault(id(of), set()).add("null" if value[key] is None else "value")
                    self.mark(of, value[key])
        if isinstance(value, list) and "items" in schema:
            for item in value:
                self.mark(schema["items"], item)


@functools.lru_cache(maxsize=None)
def all_lines():
    """Run all lines of all commands once; all tests share the result."""
    checker = Checker()
    for name, lines in paragraphs().items():
        with tempfile.TemporaryDirectory() as folder:
            for line in lines:
                for said in run(line, folder):
                    checker.check(said, line)
            for file in sorted(name for name in os.listdir(folder) if name.endswith(".json")):
                with open(os.path.join(folder, file), encoding="utf-8") as exported:
                    for row in json.load(exported):
                        checker.check(json.dumps(row), file + " of " + name)
    return checker


# ---- tests ----

def test_every_view_is_exported():
    lines = "".join(line for of in paragraphs().values() for line in of)
    missing = [name for name in views() if not re.search(rf"export {name} {{tmp}}/\w+\.json", lines)]
    assert not missing, missing


def test_every_command_has_lines_and_all_lines_a_command():
    assert sorted(paragraphs()) == names(), f"without lines or a command: {sorted(set(paragraphs()) ^ set(names()))}"
    assert sorted(schemas()) == names()


def test_schemas_are_valid_closed_and_described():
    wrong = []
    for name, schema in schemas().items():
        jsonschema.Draft202012Validator.check_schema(schema)
        for branch in schema["oneOf"]:
            if branch.get("unevaluatedProperties") is not False:
                wrong.append(f"{name}: {branch} is not closed")
        for path, of in objects(schema, name):
            properties = of.get("properties", {})
            is_part = path.count("/") == 2 and "/$defs/" in path
            if not is_part and of.get("unevaluatedProperties", of.get("additionalProperties")) is not False:
                wrong.append(f"{path} is not closed")
            if sorted(of.get("required", [])) != sorted(properties):
                wrong.append(f"{path}: required are not its keys: {sorted(set(of.get('required', [])) ^ set(properties))}")
            for key, value in properties.items():
                if not ("const" in value or value.get("description")):
                    wrong.append(f"{path}: {key} has no description")
    assert not wrong, "\n".join(wrong)


def keys_of(schema):
    """The keys of a kind of line, with those of its parts."""
    return [key for part in schema.get("allOf", []) for key in keys_of(part)] + list(schema.get("properties", {}))


def test_a_kind_of_line_describes_each_key_once():
    wrong = []
    for name in names():
        for branch, _ in kinds(name):
            keys = keys_of(branch)
            wrong += [f"{name}: {key}" for key in sorted(set(keys)) if keys.count(key) > 1]
    assert not wrong, "\n".join(wrong)


def test_every_line_is_valid():
    checker = all_lines()
    assert not checker.wrong, f"{len(checker.wrong)} of {checker.lines} lines\n" + "\n".join(checker.wrong[:20])
    assert checker.lines > 500, checker.lines


def test_every_command_succeeds_once_and_fails_once():
    outcomes = all_lines().outcomes
    missing = [f"{name}: no line with ok {str(ok).lower()}" for name in commands() for ok in (True, False)
               if ok not in outcomes.get(name, ()) and (not ok or len(kinds(name)) > 1)]
    assert not missing, "\n".join(missing)


def unseen(schema, path, seen, done):
    """The keys below a schema that never had a value, or were never null although they may be."""
    if id(schema) in done or schema.get("x-on"):
        return
    done.add(id(schema))
    for part in schema.get("allOf", []):
        yield from unseen(part, path, seen, done)
    for key, of in schema.get("properties", {}).items():
        had = seen.get(id(of), set())
        may = {"null"} if of.get("type") == "null" else {"value"}
        if "x-null-on" not in of and ("null" in of.get("type", []) or None in of.get("enum", [])):
            may.add("null")
        if not of.get("x-on") and may - had:
            yield f"{path}.{key} is never {' or '.join(sorted(may - had)).replace('value', 'anything but null')}"
        yield from unseen(of, f"{path}.{key}", seen, done)
    if isinstance(schema.get("items"), dict):
        yield from unseen(schema["items"], path + "[]", seen, done)


def test_every_key_is_seen():
    checker, done = all_lines(), set()
    missing = []
    for name in names():
        for i, (branch, _) in enumerate(kinds(name)):
            missing += unseen(branch, f"{name}[{i}]", checker.seen, done)
    assert not missing, "\n".join(missing)


def test_invalid_lines_are_refused():
    """The check can fail: a superfluous key, a missing key, a value of the wrong type."""
    row = json.loads([line for line in run("gen poisson2d 3; stats", "/nonexistent") if '"stats"' in line][0])
    for change in ({"more": 1}, {"rows": "9"}, {"rows": -1}, {"matrix": None}):
        checker = Checker()
        checker.check(json.dumps({**row, **change}), "stats")
        assert len(checker.wrong) == 1, change
    for key in row:
        checker = Checker()
        less = {other: value for other, value in row.items() if other != key}
        if key not in ("command", "ok"):
            checker.check(json.dumps(less), "stats")
            assert len(checker.wrong) == 1, key


if __name__ == "__main__":
    sys.exit(main(globals()))
