"""What commands return, and how a notebook shows it."""
import html
import math
import pathlib

ROWS_SHOWN = 60
# JSON has no infinity and no NaN: the program writes them as words
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def with_numbers(record, keys):
    """A record whose numbers are all floats or None: "inf", "-inf" and "nan" are read under those keys."""
    for key in keys.intersection(record):
        value = record[key]
        if isinstance(value, str):
            record[key] = WORDS.get(value, value)
        elif isinstance(value, list):
            record[key] = [WORDS.get(item, item) if isinstance(item, str) else item for item in value]
    return record


def shown(value):
    """A value as text for a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Records(list):
    """The records of a command: a list of dicts. records["key"] is a column, as a numpy array."""

    @property
    def first(self):
        """The first record; an error if there is none."""
        if not self:
            raise LookupError("the command printed no record")
        return self[0]

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        import numpy
        column = [record[key] for record in self if key in record]
        if not column:
            raise KeyError(key)
        if all(value is None or isinstance(value, (int, float)) for value in column) and None in column:
            return numpy.array([numpy.nan if value is None else value for value in column], dtype=float)
        return numpy.array(column)

    def _repr_html_(self):
        """A table of the records, without the columns that are empty everywhere."""
        keys = list(dict.fromkeys(key for record in self for key in record if key not in ("command", "ok")))
        keys = [key for key in keys if any(record.get(key) is not None for record in self)]
        if len(self) == 1:
            rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(shown(self[0][key]))}</td></tr>"
                           for key in keys)
            return f"<table>{rows}</table>"
        head = "".join(f"<th>{html.escape(key)}</th>" for key in keys)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(shown(record.get(key)))}</td>" for key in keys) + "</tr>"
                       for record in self[:ROWS_SHOWN])
        more = f"<p>... {len(self) - ROWS_SHOWN} more</p>" if len(self) > ROWS_SHOWN else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


class Plot:
    """A picture that the program exported."""

    def __init__(self, svg):
        self.svg = svg

    def save(self, path):
        """Write the picture to a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self):
        return self.svg
