#!/usr/bin/env python3
"""Check every line of --json against the schema of its command: tests/schemas/NAME.json, JSON Schema 2020-12.

A new command NEW needs one file. Draft it from the output of some command lines:

    WARPSPY_BIN=build/warpspy tests/terminal/test_schema.py --draft NEW 'gen poisson2d 4; NEW' 'NEW nonsense' > tests/schemas/NEW.json

Then describe each key with its unit, add limits where possible (enum, const, minimum), and correct the types in which
null is missing or superfluous. Kinds of rows are alternatives of "oneOf"; common.json holds what several commands share.
The checks:

  - Each of "x-lines" is run by `warpspy --json -c LINE` in the top folder ({tmp} is an empty folder). Every line that any
    command prints, and every JSON file left in {tmp}, must be valid. NEW must succeed at least once and fail at least once.
  - Objects are closed, all their keys are required (a missing value is null), and every key has a description.
  - Every key occurs with a value, and with null if it may be null. Exempt are keys with "x-on": "cuda" (or "terminal"),
    which occur only there.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

from harness import PROGRAM, TOP, main

SCHEMAS = os.path.join(TOP, "tests", "schemas")
NO_COMMANDS = {"!", "warpspy"}  # "command" of shell lines, and of lines that cannot be parsed


# ---- schemas ----

@functools.lru_cache(maxsize=None)
def read(name):
    with open(os.path.join(SCHEMAS, name), encoding="ascii") as file:
        return json.load(file)


@functools.lru_cache(maxsize=None)
def target(name, pointer):
    """The schema NAME.json#/a/b with its references resolved: always the same object, so that its statistics add up."""
    schema = read(name)
    for key in pointer.split("/")[1:]:
        schema = schema[key]
    return resolved(schema, name)


def resolved(schema, name):
    if isinstance(schema, list):
        return [resolved(item, name) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: resolved(value, name) for key, value in schema.items() if key not in ("$ref", "$defs")}
    if "$ref" in schema:
        file, pointer = schema["$ref"].split("#")
        out["allOf"] = out.get("allOf", []) + [target(file or name, pointer)]
    return out


@functools.lru_cache(maxsize=None)
def kinds(command):
    """The kinds of lines that a command may print, as pairs of schema and validator."""
    if command in NO_COMMANDS:
        branches = [target("common.json", "/$defs/done"), target("common.json", "/$defs/error")]
    else:
        branches = [resolved(branch, command + ".json") for branch in read(command + ".json")["oneOf"]]
    return [(branch, jsonschema.Draft202012Validator(branch)) for branch in branches]


def names():
    return sorted(name[:-5] for name in os.listdir(SCHEMAS) if name != "common.json")


def objects(schema, name, path=""):
    """Every schema of an object in a file, with its path."""
    if isinstance(schema, dict):
        if "properties" in schema or "allOf" in schema:
            yield f"{name}#{path}", schema
        for key, value in schema.items():
            yield from objects(value, name, f"{path}/{key}")
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from objects(value, name, f"{path}/{i}")


# ---- lines ----

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
        try:
            branches = kinds(command)
        except FileNotFoundError:
            self.wrong.append(f"`{source}`: {command} has no schema")
            return
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


def run(line, folder):
    env = {**os.environ, "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([PROGRAM, "--json", "-c", line.replace("{tmp}", folder)], cwd=TOP, env=env, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"`{line}` ends with status {done.returncode}: {done.stderr}"
    return done.stdout.splitlines()


@functools.lru_cache(maxsize=None)
def all_lines():
    """Run all lines of all schemas once; all tests share the result."""
    checker = Checker()
    for name in names():
        with tempfile.TemporaryDirectory() as folder:
            for line in read(name + ".json")["x-lines"]:
                for said in run(line, folder):
                    checker.check(said, line)
            for file in sorted(name for name in os.listdir(folder) if name.endswith(".json")):
                with open(os.path.join(folder, file), encoding="utf-8") as exported:
                    for row in json.load(exported):
                        checker.check(json.dumps(row), file + " of " + name)
    return checker


# ---- tests ----

def test_every_command_has_a_schema_and_every_schema_a_command():
    registry = [json.loads(line) for line in run("help", "/nonexistent")]
    commands = sorted(row["name"] for row in registry)
    assert commands == names(), f"without a schema or a command: {sorted(set(commands) ^ set(names()))}"


def test_schemas_are_valid_closed_and_described():
    wrong = []
    for file in sorted(os.listdir(SCHEMAS)):
        schema = read(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        for path, of in objects(schema, file):
            properties = of.get("properties", {})
            part = of.get("x-part")
            if not part and of.get("unevaluatedProperties", of.get("additionalProperties")) is not False:
                wrong.append(f"{path} is not closed")
            if sorted(of.get("required", [])) != sorted(properties):
                wrong.append(f"{path}: required are not its keys: {sorted(set(of.get('required', [])) ^ set(properties))}")
            for key, value in properties.items():
                if not ("$ref" in value or "const" in value or value.get("description")):
                    wrong.append(f"{path}: {key} has no description")
    assert not wrong, "\n".join(wrong)


def test_every_line_is_valid():
    checker = all_lines()
    assert not checker.wrong, f"{len(checker.wrong)} of {checker.lines} lines\n" + "\n".join(checker.wrong[:20])
    assert checker.lines > 500, checker.lines


def test_every_command_succeeds_once_and_fails_once():
    outcomes = all_lines().outcomes
    missing = [f"{name}: no line with ok {str(ok).lower()}" for name in names() for ok in (True, False)
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
        if "null" in of.get("type", []) or None in of.get("enum", []):
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


# ---- drafts ----

def type_of(value):
    if value is None:
        return "null"
    return {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}[type(value)]


def draft_of(values):
    types = sorted({type_of(value) for value in values if value is not None})
    if "number" in types and "integer" in types:
        types.remove("integer")
    schema = {}
    if "array" in types:
        schema["items"] = draft_of([item for value in values if isinstance(value, list) for item in value])
    if "object" in types:
        schema.update(draft_object([value for value in values if isinstance(value, dict)]))
    if any(value is None for value in values):
        types.append("null")
    schema["type"] = types[0] if len(types) == 1 else types
    return dict(reversed(list(schema.items())))


def draft_object(rows):
    keys = list(rows[0])
    return {"properties": {key: {**draft_of([row[key] for row in rows]), "description": ""} for key in keys},
            "required": keys, "unevaluatedProperties": False}


def draft(name, lines):
    with tempfile.TemporaryDirectory() as folder:
        rows = [json.loads(said) for line in lines for said in run(line, folder)]
    groups = {}
    for row in rows:
        if row["command"] == name and row["ok"] and len(row) > 2:
            groups.setdefault((tuple(row), row.get("kind")), []).append({key: row[key] for key in list(row)[2:]})
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name + ".json", "title": "",
              "x-lines": lines, "oneOf": [], "$defs": {}}
    for i, group in enumerate(groups.values()):
        schema["oneOf"].append({"$ref": f"#/$defs/row{i or ''}"})
        schema["$defs"][f"row{i or ''}"] = {"allOf": [{"$ref": "common.json#/$defs/said"}], **draft_object(group)}
    if any(row["command"] == name and row["ok"] and len(row) == 2 for row in rows):
        schema["oneOf"].append({"$ref": "common.json#/$defs/done"})
    schema["oneOf"].append({"$ref": "common.json#/$defs/error"})
    return schema


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draft"]:
        print(json.dumps(draft(sys.argv[2], sys.argv[3:]), indent=2))
        sys.exit(0)
    sys.exit(main(globals()))
