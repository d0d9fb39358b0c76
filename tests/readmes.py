#!/usr/bin/env python3
"""readmes.py: check that the sources which the README of a room names exist, in the room or elsewhere in the product.

A name with capital letters, such as fmt_NAME.c, stands for several files or for one to write."""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = {"cmd_norm.c"}  # files that a README tells its reader to write
NAME = re.compile(r"(?<![\w/*.-])[a-z0-9_/]+\.(?:c|h|cu|cc|def)\b")


def tracked(*roots: str) -> list[str]:
    return subprocess.check_output(["git", "ls-files", *roots], cwd=TOP, text=True).split()


def main() -> int:
    product, everything = tracked("src", "gpu", "ui"), tracked()
    missing = []
    for readme in (f for f in tracked("src", "gpu", "ui", "tests") if f.endswith("README.md")):
        near = everything if readme.startswith("tests") else product
        for name in sorted(set(NAME.findall((TOP / readme).read_text())) - EXAMPLES):
            known = everything if "/" in name else near
            if not any(f == name or f.endswith("/" + name) for f in known):
                missing.append(f"{readme} names {name}, which does not exist")
    print("\n".join(missing) or "readmes: all sources that they name exist")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
