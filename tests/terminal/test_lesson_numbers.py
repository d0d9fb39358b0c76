#!/usr/bin/env python3
"""The numbers that lessons quote from papers: the lessons, the table tests/paper_numbers.tsv, and the texts of the papers.

The texts are not part of the program. If the environment variable WARPSPY_PAPERS names a folder with thesis.txt, drm.txt,
notes.txt and lu.txt, each number is also looked up there.
"""
import csv
import glob
import os
import re
import sys

from harness import TOP, main

KEYS = ["lesson", "paper", "where", "near", "number", "text", "kind"]
CLOSE = 700  # characters between a number in a paper and the word near it
OUR_OWN = {"by hand"}  # headings of tables whose numbers do not come from a paper


def quoted():
    with open(os.path.join(TOP, "tests", "paper_numbers.tsv"), encoding="utf-8") as f:
        lines = [line for line in f if not line.startswith("#")]
    table = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert table and list(table[0]) == KEYS, f"the columns are {', '.join(table[0])}"
    return table


def lesson_files():
    return {os.path.basename(path)[:-4]: open(path, encoding="utf-8").read()
            for path in sorted(glob.glob(os.path.join(TOP, "samples", "lessons", "*.txt")))}


def rows_of(text):
    """The numbers in the papers' column of all tables of a lesson."""
    found, heading = [], None
    for line in text.splitlines():
        if line.startswith("%"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells and heading and heading not in OUR_OWN and cells[3] != "-":
            found.append(cells[3])
        heading = (heading or cells[3]) if cells else None
    return found


def prose_of(text):
    return " ".join(line for line in text.splitlines() if not line.startswith(("|", ">", "%")))


def places(text, number):
    """Where the text has this number, not as a part of a longer number; blanks may differ."""
    digits = re.escape(number).replace(r"\ ", r"\s*")
    return [m.start() for m in re.finditer(rf"(?<![\d.]){digits}(?!\d|\.\d)", text)]


def is_near(text, word, number):
    words = [m.start() for m in re.finditer(re.escape(word), text)]
    return any(abs(at - word_at) < CLOSE for at in places(text, number) for word_at in words)


def test_each_number_of_a_lesson_has_its_place_in_a_paper():
    """Each number in a table has a line, and each line of kind `row` has a number in a table."""
    rows = {(q["lesson"], q["number"]) for q in quoted() if q["kind"] == "row"}
    found = {(name, number) for name, text in lesson_files().items() for number in rows_of(text)}
    assert len(found) > 150, found
    assert not found - rows, f"no line in tests/paper_numbers.tsv for {sorted(found - rows)}"
    assert not rows - found, f"no row of a lesson for {sorted(rows - found)}"


def test_each_number_of_the_prose_is_there():
    lessons = lesson_files()
    prose = [q for q in quoted() if q["kind"] == "prose"]
    assert prose and all(q["kind"] in ("row", "prose") for q in quoted())
    for q in prose:
        assert places(prose_of(lessons[q["lesson"]]), q["number"]), q


def test_ratios_follow_from_numbers_of_the_paper():
    for q in quoted():
        if q["kind"] == "row" and " / " in q["text"]:
            a, b = map(float, q["text"].split(" / "))
            decimals = len(q["number"].partition(".")[2])
            assert f"{a / b:.{decimals}f}" == q["number"], q


def test_each_number_is_in_the_text_of_its_paper():
    folder = os.environ.get("WARPSPY_PAPERS")
    if not folder:
        print("skip: WARPSPY_PAPERS does not name a folder with the texts of the papers")
        return
    texts = {name: open(os.path.join(folder, f"{name}.txt"), encoding="utf-8").read()
             for name in {q["paper"] for q in quoted()}}
    missing = [q for q in quoted() for number in (q["text"].split(" / ") if q["kind"] == "row" else [q["text"]])
               if not is_near(texts[q["paper"]], q["near"], number)]
    assert not missing, missing


if __name__ == "__main__":
    sys.exit(main(globals()))
