"""Writes what was measured into docs/performance.md, between markers, and leaves the rest of the page alone."""

import harness

PAGE = harness.ROOT / "docs" / "performance.md"
PICTURE = harness.ROOT / "docs" / "performance.svg"


def replace_part(name, text):
    """Puts `text` between the page's markers of that name."""
    begin, end = f"<!-- {name}: written by the tool -->\n", f"<!-- {name}: end -->\n"
    page = PAGE.read_text()
    if page.count(begin) != 1 or page.count(end) != 1:
        harness.stop(f"{PAGE} has no place for what was measured: {begin.strip()} … {end.strip()}")
    before, rest = page.split(begin)
    PAGE.write_text(before + begin + text.strip("\n") + "\n" + end + rest.split(end)[1])


def table(header, rows, words=1):
    """A Markdown table whose first columns are words, the others numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---" * words + "|---:" * (len(header) - words) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def plain(markdown_rows):
    """The same for a terminal: rows of cells, in columns."""
    widths = [max(map(len, column)) for column in zip(*markdown_rows)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:]))
        for row in markdown_rows)
