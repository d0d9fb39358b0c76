"""Finding the program."""
import os
import pathlib
import shutil


def checkouts():
    """Folders that may be a checkout: those above this module, and those above the current folder."""
    for start in (pathlib.Path(__file__).resolve().parent, pathlib.Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / "src" / "python" / "warpspy" / "program.py").is_file():
                yield folder


def find_program():
    """The path of warpspy: from $WARPSPY, else built in a checkout, else from PATH."""
    given = os.environ.get("WARPSPY")
    if given:
        if shutil.which(given):
            return shutil.which(given)
        raise FileNotFoundError(f"WARPSPY={given} is not a program")
    for folder in checkouts():
        if os.access(folder / "build" / "warpspy", os.X_OK):
            return str(folder / "build" / "warpspy")
    if shutil.which("warpspy"):
        return shutil.which("warpspy")
    raise FileNotFoundError("warpspy was not found: set WARPSPY to its path, run `make` in a checkout and stay in it, "
                            "or put it into PATH")
