#!/usr/bin/env python3
"""The numbers that lessons quote from papers: the lessons, the table tests/paper_numbers.tsv, and the texts of the papers.

A paragraph of a lesson that names a paper, or a section, figure or table of a paper, may hold only numbers that the table
lists: as a number of the paper (`prose`), or as another number (`other`), with the reason why the paper need not have it.
So nobody can attribute a number to a paper without writing down where it stands there.

The texts are not part of the program. If the environment variable WARPSPY_PAPERS names a folder with thesis.txt, drm.txt,
notes.txt, lu.txt and symmetrize-patent.txt, each number, section, figure and table is also looked up there.
"""
import csv
import glob
import json
import os
import re
import subprocess
import sys

from harness import PROGRAM, TOP, main

KEYS = ["lesson", "paper", "where", "near", "number", "text", "kind"]
CLOSE = 700  # characters between a number in a paper and the word near it
OUR_OWN = {"by hand"}  # headings of tables whose numbers do not come from a paper
KINDS = ("row", "prose", "other")

# What attributes the numbers of a paragraph to a paper.
NAMES_A_PAPER = re.compile(r"(?<!-)\b(?:thesis\b(?!-)|papers?|(?:the|study) notes|patents?|authors?|Liang"
                           r"|(?:section|figure|table|chapter|equation)s? \d)", re.IGNORECASE)
LIST = r"\d+(?:\.\d+)*(?:(?:,? and|,| to) \d+(?:\.\d+)*)*"
PLACE = re.compile(rf"\b(section|figure|table|chapter|equation)s? ({LIST})", re.IGNORECASE)
# A number after one of these words is a label, or the accuracy of a guess; thesis-4-1 and c-26 are names.
LABEL = re.compile(r"\b(?:row|column|line|step|launch|lane|slot|block|iteration|word|rule|within|within a factor of)s? "
                   + LIST, re.IGNORECASE)
ITEM = re.compile(r"^ {1,3}\d+ {2,}")  # the number of an item of a list
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*")
# How a heading or a caption of the papers writes a place: in Chinese, simplified or traditional, or in English.
WRITTEN = {"section": r"(?m)^\W*{}\.?\s", "chapter": r"(?m)^\W*{}\.?\s", "figure": r"(?:图|圖|Figure)\s*{}(?![.\d])",
           "table": r"(?:表|Table)\s*{}(?![.\d])", "equation": r"(?:公式\s*|式\(){}(?![.\d])"}


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


def paragraphs_of(text):
    """The prose of a lesson, by paragraphs: also questions, hints and explanations. An indented block, such as a list,
    belongs to the paragraph before it."""
    found, open_ = [], False
    for line in text.splitlines():
        told = ITEM.sub("", line[2:] if line.startswith(("? ", "~ ", "! ")) else line)
        if not line.strip() or line.startswith(("|", ">", "%", "@", ":", "=", "#", "<", "Go on with")):
            open_ = False
        elif open_ or (line.startswith("  ") and found):
            found[-1] += " " + " ".join(told.split())
            open_ = True
        else:
            found.append(" ".join(told.split()))
            open_ = True
    return found


def prose_of(text):
    return "\n".join(paragraphs_of(text))


def covered(paragraph, phrases):
    """The positions in the paragraph that a phrase, a place or a label covers."""
    spans = [m.span() for pattern in (PLACE, LABEL) for m in pattern.finditer(paragraph)]
    spans += [(at, at + len(phrase)) for phrase in phrases for at in places(paragraph, phrase)]
    return {i for begin, end in spans for i in range(begin, end)}


def unlisted(paragraph, phrases):
    """The numbers of the paragraph that no line of the table covers."""
    if not NAMES_A_PAPER.search(paragraph):
        return []
    known = covered(paragraph, phrases)
    return [m.group() for m in NUMBER.finditer(paragraph) if m.start() not in known]


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


def test_each_line_for_prose_is_used():
    prose = {name: prose_of(text) for name, text in lesson_files().items()}
    assert all(q["kind"] in KINDS for q in quoted())
    unused = [q for q in quoted() if q["kind"] != "row" and not places(prose[q["lesson"]], q["number"])]
    assert not unused, unused


def digits(text):
    return set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d)[ ,](?=\d{3})", "", text)))


def test_a_line_says_what_the_lesson_says():
    """A phrase of a lesson has no number that its line does not find in the paper."""
    for q in quoted():
        if q["kind"] == "prose":
            assert digits(q["number"]) <= digits(q["text"]), q
        if q["kind"] == "other":
            assert len(q["where"]) > 8, f"give the reason: {q}"


def test_each_number_with_a_paper_beside_it_is_listed():
    phrases = {}
    for q in quoted():
        phrases.setdefault(q["lesson"], []).append(q["number"])
    missing = [f"{name}: {', '.join(numbers)} in `{paragraph}`" for name, text in lesson_files().items()
               for paragraph in paragraphs_of(text) if (numbers := unlisted(paragraph, phrases.get(name, [])))]
    assert not missing, "not in tests/paper_numbers.tsv:\n" + "\n".join(missing)


def test_an_unlisted_number_is_found():
    assert unlisted("The paper gives 5.2 on page 7, see figure 3 and row 4 of c-26.", ["page 7"]) == ["5.2"]
    assert not unlisted("It takes 5.2 us here.", [])


def test_ratios_follow_from_numbers_of_the_paper():
    for q in quoted():
        if q["kind"] == "row" and " / " in q["text"]:
            a, b = map(float, q["text"].split(" / "))
            decimals = len(q["number"].partition(".")[2])
            assert f"{a / b:.{decimals}f}" == q["number"], q


# "with the same number of rows and with a number of nonzeros within 3 %"; "rows are within 0.3 % of ..., entries within 7 %"
WITHIN = r"within\s+(\d+(?:\.\d+)?)\s+%"
STAND_INS = {
    "notes": (r"same\s+number\s+of\s+rows()", rf"nonzeros\s+{WITHIN}"),
    "thesis-4-1": (r"same\s+number\s+of\s+rows()", rf"nonzeros\s+{WITHIN}"),
    "thesis-4-3": (rf"rows\s+are\s+{WITHIN}", rf"entries\s+{WITHIN}"),
}


def sizes_in_tables(text):
    """Of each generated matrix, the rows and nonzeros that the tables of a lesson give for the one that it replaces."""
    found = {}
    for name, what, number in re.findall(r"^\| (like-\S+) +\| - +\| (rows|nonzeros) +\| (\d+) *\|", text, re.MULTILINE):
        found.setdefault(name, {})[what] = int(number)
    return found


def generated(line):
    """The rows and nonzeros that the program makes."""
    made = subprocess.run([PROGRAM, "--json", "-c", line], capture_output=True, text=True, check=True)
    row = json.loads(made.stdout.splitlines()[0])
    return {"rows": row["rows"], "nonzeros": row["nnz"]}


def test_stand_ins_are_as_close_as_the_lesson_says():
    for name, patterns in STAND_INS.items():
        text = lesson_files()[name]
        said = [re.search(pattern, text) for pattern in patterns]
        assert all(said), f"{name} does not say how close its matrices are"
        most = [float(m.group(1) or 0) for m in said]
        lines = dict(re.findall(r"^> (gen .*) as (like-\S+)$", text, re.MULTILINE))
        sizes = sizes_in_tables(text)
        assert len(sizes) >= 4 and set(sizes) == set(lines.values()), f"{name}: {sorted(sizes)}, {sorted(lines.values())}"
        worst = [0, 0]
        for line, matrix in lines.items():
            ours = generated(line)
            for i, what in enumerate(("rows", "nonzeros")):
                off = 100 * abs(ours[what] / sizes[matrix][what] - 1)
                assert off <= most[i], f"{name}: {matrix} has {ours[what]} {what}, which is off by {off:.2f} %"
                worst[i] = max(worst[i], off)
        assert most[1] < 2 * worst[1] + 1, f"{name}: {most[1]} % is said, {worst[1]:.2f} % is true"


def paper_texts():
    """The texts by their names; None, and a line that says so, if they are not here."""
    folder = os.environ.get("WARPSPY_PAPERS")
    if not folder:
        print("skip: WARPSPY_PAPERS does not name a folder with the texts of the papers")
        return None
    return {name: open(os.path.join(folder, f"{name}.txt"), encoding="utf-8", errors="replace").read()
            for name in {q["paper"] for q in quoted() if q["kind"] != "other"}}


def test_each_number_is_in_the_text_of_its_paper():
    texts = paper_texts()
    missing = [q for q in quoted() if texts and q["kind"] != "other"
               for number in (q["text"].split(" / ") if q["kind"] == "row" else [q["text"]])
               if not is_near(texts[q["paper"]], q["near"], number)]
    assert not missing, missing


def test_each_section_figure_and_table_is_in_a_paper_of_the_lesson():
    texts = paper_texts()
    lessons = lesson_files()
    for name in {q["lesson"] for q in quoted()} if texts else ():
        own = [texts[p] for p in {q["paper"] for q in quoted() if q["lesson"] == name and q["kind"] != "other"}]
        headings = " ".join(line for line in lessons[name].splitlines() if line.startswith(("#", "%")))
        for kind, numbers in PLACE.findall(prose_of(lessons[name]) + headings):
            for number in re.findall(r"\d+(?:\.\d+)*", numbers):
                pattern = WRITTEN[kind.lower()].format(re.escape(number))
                assert any(re.search(pattern, text) for text in own), f"{name}: {kind} {number}"


if __name__ == "__main__":
    sys.exit(main(globals()))
