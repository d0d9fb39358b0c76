"""What all tests of the terminal share: the program under test, and a main function that runs tests and counts them.

The last lines are those of cmocka, "[  PASSED  ] N test(s)." and " N FAILED TEST(S)", which tests/run.py adds up.
"""
import fnmatch
import os
import sys
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("WARPSPY_BIN", os.path.join(TOP, "build", "warpspy")))


def selected(names):
    """The tests among `names` (a module's globals) whose name contains the first argument, in which * stands for any
    text; without one, all tests."""
    wanted = f"*{sys.argv[1]}*" if len(sys.argv) > 1 else "*"
    return [name for name, test in names.items()
            if name.startswith("test_") and callable(test) and fnmatch.fnmatchcase(name, wanted)]


def report(passed, failed):
    """Print the counts in cmocka's words; return the exit status."""
    print(f"[  PASSED  ] {passed} test(s).")
    if failed:
        print(f" {failed} FAILED TEST(S)")
    return failed != 0


def missing_program():
    """Report a program that has not been built as one failed test; None if it is there."""
    if os.access(PROGRAM, os.X_OK):
        return None
    print(f"{PROGRAM} is missing; build it with `make`, or set WARPSPY_BIN")
    return report(0, 1)


def main(names):
    """Run the selected tests one after another; return the exit status."""
    if missing_program():
        return True
    failed = 0
    tests = selected(names)
    for name in tests:
        print(f"[ RUN      ] {name}", flush=True)
        try:
            names[name]()
            print(f"[       OK ] {name}", flush=True)
        except Exception:  # the other tests run all the same
            failed += 1
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] {name}", flush=True)
    return report(len(tests) - failed, failed)
